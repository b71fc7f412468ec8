/* nbody_history.h - structure of a system over time: --structure, --plot, --elements.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_HISTORY_H
#define STDCL_CLI_NBODY_HISTORY_H

#include "options.h"

#include "stdcl/nbody.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct nbody_job;

/* Mass fractions of the Lagrangian radii of --structure. */
enum { NBODY_FRACTIONS = 32 };
struct nbody_fractions {
    size_t n;
    double value[NBODY_FRACTIONS];
};

/* Structure of the system over time, see nbody_history.c. */
struct nbody_history {
    size_t columns, n;
    double *value; /* n rows of `columns` numbers */
    char *text;    /* one line per row; `bytes` in all */
    size_t bytes;
};

/* Functions that return int return an exit status, after printing a message. */

cli_reader nbody_read_fractions;
int nbody_history_plan(struct nbody_job *job); /* check the file names */
bool nbody_history_wanted(const struct nbody_job *job);
bool nbody_history_lacks_row(const struct nbody_job *job,
                             double time); /* true if wanted, and the last row is older */
int nbody_structure_find(
    const struct nbody_job *job, const double *potential, size_t shells, struct nbody_shell *shell,
    struct nbody_structure *s); /* for the bodies fetched last; -1 with clerrno */
int nbody_history_row(struct nbody_job *job, const struct nbody_diagnostics *d);
void nbody_history_finish(struct nbody_job *job, bool at_start);

/* After a failure in the run: write the tables with the rows so far. Not collective. */
void nbody_history_cut_short(struct nbody_job *job);
void nbody_history_report(const struct nbody_job *job, FILE *fp);
void nbody_history_free(struct nbody_job *job);

#endif
