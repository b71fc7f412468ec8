/* nbody_output.h - outputs of `stdcl nbody`: tables, pictures, snapshots, the view, the report.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_OUTPUT_H
#define STDCL_CLI_NBODY_OUTPUT_H

#include "nbody_job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct json_t;

/* One line of the table of energies. */
enum { NBODY_ENERGY_COLUMNS = 11, NBODY_COLUMNS = 14 }; /* with --megno all */
struct nbody_row {
    double value[NBODY_COLUMNS];
};

/* Functions that return int return an exit status, after printing a message. */

/* nbody_output.c */
int nbody_output_plan(struct nbody_job *job); /* classify and check the file names before the run */
int nbody_output_open(struct nbody_job *job); /* open the table */
int nbody_output_row(struct nbody_job *job,
                     const struct nbody_diagnostics *d); /* add a row to all tables */
bool nbody_output_lacks_row(
    const struct nbody_job *job);               /* true if a table has no row of the current time */
int nbody_output_frame(struct nbody_job *job);  /* draw the current bodies */
int nbody_output_finish(struct nbody_job *job); /* write the final outputs */
void nbody_output_discard(struct nbody_job *job); /* discard incomplete outputs */
/* After a failure in the run: complete tables and films with the rows and frames so far, unless
 * this run has made no step: then older files stay. Not collective. */
void nbody_output_cut_short(struct nbody_job *job);
size_t nbody_output_interval(const struct nbody_job *job); /* steps between rows of tables */

int nbody_output_again(struct nbody_job *job,
                       const struct nbody_row *row); /* add a row of the resumed run */

/* nbody_view.c. open: open the view, if wanted; visit: between batches; end: the last frame;
 * row: pass on energies that are known anyway. */
int nbody_view_open(struct nbody_job *job);
int nbody_view_visit(struct nbody_job *job);
size_t nbody_view_piece(const struct nbody_job *job,
                        size_t batch); /* steps until the next point of the viewers' trails */
void nbody_view_row(struct nbody_job *job, const struct nbody_diagnostics *d);
int nbody_view_end(struct nbody_job *job);
int nbody_view_stay(struct nbody_job *job);
void nbody_view_free(struct nbody_job *job);

/* nbody_series.c. release: free positions and velocities until nbody_bodies_fetch, if this rank has
 * a slice of the bodies and the tree computes their forces. Without a slice, options may need them;
 * direct sums pass them to another engine (nbody_balance.c). */
void nbody_bodies_release(struct nbody_job *job);
int nbody_bodies_fetch(
    struct nbody_job *job); /* download the current bodies to job->bodies, with metadata */
int nbody_bodies_write(struct nbody_job *job, const struct particles *b, size_t step,
                       struct cli_output *o); /* write bodies of this step to the output */
int nbody_series_add(struct nbody_job *job,
                     const char *pattern); /* add a name of -o that is a series */
int nbody_series_plan(
    const struct nbody_job *job); /* check times and disk space, after nbody_job_choose */
size_t nbody_series_next(
    const struct nbody_job *job); /* step of the next snapshot; SIZE_MAX: none */
void nbody_series_resume(struct nbody_job *job,
                         size_t step);         /* make the next snapshot due after this step */
int nbody_series_write(struct nbody_job *job); /* write a snapshot and the index */
/* Write these bodies as the next snapshot of each series. After a failure a series gets no more
 * snapshots, job->outputs keeps the status, and the run continues. Collective. */
void nbody_series_write_bodies(struct nbody_job *job, const struct particles *b, size_t step);
bool nbody_series_lacks(const struct nbody_job *job,
                        size_t step); /* true if no snapshot is of this step */
/* Write the last snapshot, if not yet written; keep an older series if the run was interrupted
 * `at_start`. */
int nbody_series_end(struct nbody_job *job, bool at_start);
void nbody_series_report(const struct nbody_job *job, FILE *fp);
void nbody_series_free(struct nbody_job *job);

/* nbody_report.c. units: add the object "units" to a report with --json. */
int nbody_job_report(struct nbody_job *job);
void nbody_report_units(const struct nbody_job *job, struct json_t *report);

#endif
