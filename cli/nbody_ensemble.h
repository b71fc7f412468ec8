/* nbody_ensemble.h - a run of `stdcl nbody --ensemble`: many planetary systems at once.
 *
 *   nbody_ensemble.c           the plan and the run
 *   nbody_ensemble_systems.c   systems from copies or files; the systems chosen by --systems
 *   nbody_ensemble_output.c    tables, snapshots and the bodies at the end
 *   nbody_ensemble_kept.c      outputs so far in checkpoints
 *   nbody_ensemble_view.c      the view
 *   nbody_ensemble_report.c    the report
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_ENSEMBLE_H
#define STDCL_CLI_NBODY_ENSEMBLE_H

#include "nbody_job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A table over time. Its rows are kept for checkpoints. */
struct ensemble_table {
    struct csv csv;
    bool named; /* the last column is the name of the row's body */
    size_t n;   /* rows kept, of the other columns */
    double *row;
};

/* Tables over time that have the last rows of a system that has ended. A resumed run may begin the
 * table of orbits, with --diag. */
enum ensemble_row { ROW_OF_ENERGIES = 1, ROW_OF_ORBITS = 2 };

struct ensemble {
    struct nbody_job *job;
    nbody_ensemble *engine;
    size_t systems, bodies; /* per system */
    double *mass, *radius;  /* of all systems, concatenated; radius NULL without --collide */
    char **names;           /* metadata `names` of each file of systems; NULL: none has names */
    size_t files;           /* of systems; 1 for copies */
    /* First all systems, concatenated; from ensemble_choose on those of --systems, as of the last
     * ensemble_fetch. A body that has merged has mass 0, and the rest of the body that absorbed it,
     * also its identifier. */
    struct particles bodies_out;
    size_t chosen_n, *chosen; /* indices of the systems of --systems, ascending */
    uint8_t *ended; /* by chosen system: tables with its last rows, of enum ensemble_row */
    struct nbody_system *system; /* chosen, as of the last ensemble_fetch */
    struct ensemble_table energies, orbits;
    size_t batch;              /* steps between visits of the view */
    double took;               /* seconds of the last batch */
    size_t last_row;           /* step of the last rows; SIZE_MAX: none */
    struct nbody_chaos *chaos; /* as system, with --megno; else NULL */
    double *before, *after;    /* initial energies; relative energy errors */
    struct nbody_system *all;  /* at the end */
    size_t chaotic;            /* systems with a MEGNO above 4, twice the limit of regular motion */
    struct nbody_system_event *event; /* at the end; NULL: none */
    size_t events;
    size_t wrong; /* systems with a non-finite energy */
    size_t worst;
    double median;
};

/* Functions that return int return an exit status, after printing a message. */

/* nbody_ensemble_systems.c. create: read or copy all systems. choose: keep those of --systems in
 * e->bodies_out. */
cli_reader nbody_read_systems; /* of --systems, for the table of options */
int ensemble_create(struct ensemble *e);
int ensemble_choose(struct ensemble *e);
int ensemble_fetch(struct ensemble *e); /* download the chosen systems */

/* Copy the name of a body of a system, from the system's file; false: it has none. */
bool ensemble_body_name(const struct ensemble *e, size_t system, size_t body,
                        char name[PARTICLES_NAME_SIZE]);

/* True for a body that has merged, of those in bodies_out. */
static inline bool ensemble_is_merged(const struct ensemble *e, size_t i)
{
    return e->bodies_out.id[i] != e->chosen[i / e->bodies] * e->bodies + i % e->bodies + 1;
}

/* nbody_ensemble_output.c. plan: check the names of all files; open: begin tables; next: step of
 * the next output after `step`; visit: write the outputs that are due, and at the end the last rows
 * and snapshot; finish: complete all files. */
int ensemble_output_plan(struct ensemble *e);
int ensemble_output_open(struct ensemble *e);
size_t ensemble_output_next(const struct ensemble *e, size_t step);
int ensemble_output_visit(struct ensemble *e, bool end);
void ensemble_output_finish(struct ensemble *e);
void ensemble_output_cut_short(struct ensemble *e); /* as nbody_output_cut_short */
void ensemble_output_discard(struct ensemble *e);

/* nbody_ensemble_kept.c. The state of the outputs in a checkpoint, of `bytes` bytes. restore: write
 * the rows of the resumed run again. */
size_t ensemble_table_numbers(const struct ensemble_table *table); /* columns without the name */
size_t ensemble_kept_bytes(const struct ensemble *e);
void ensemble_kept_save(const struct ensemble *e, char *to);
int ensemble_kept_restore(struct ensemble *e, const char *from, size_t bytes);
int ensemble_table_add(struct ensemble *e, struct ensemble_table *table, const double *row);

/* nbody_ensemble_view.c. open: open the view, if wanted; batch: number of steps from `step` to the
 * next visit; visit: between batches; end: the last frame. */
int ensemble_view_open(struct ensemble *e);
size_t ensemble_view_batch(struct ensemble *e, size_t step);
int ensemble_view_visit(struct ensemble *e);
int ensemble_view_end(struct ensemble *e);
int ensemble_view_stay(struct ensemble *e);

/* nbody_ensemble_report.c. judge: find e->after to e->median and the events. */
int ensemble_judge(struct ensemble *e);
int ensemble_report(const struct ensemble *e);

#endif
