/* nbody_run.h - runs of `stdcl nbody`: the main loop, comparisons, ensembles.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_RUN_H
#define STDCL_CLI_NBODY_RUN_H

#include "nbody_job.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Functions that return int return an exit status, after printing a message. */

/* nbody_steps.c */
int nbody_steps_begin(
    struct nbody_job *job); /* warn about rounding; keep the bodies for --check-step */
int nbody_steps_check(struct nbody_job *job); /* rerun at half the step, with --check-step */
void nbody_steps_text(const struct nbody_job *job, FILE *fp); /* result as a line */
struct json_t *nbody_steps_json(const struct nbody_job *job); /* result as an object; NULL: none */
void nbody_steps_free(struct nbody_job *job);

/* nbody_run.c: the main loop. An interruption is no failure; it leaves the energy at the end
 * NAN. */
int nbody_job_run(struct nbody_job *job);
struct nbody_diagnostics nbody_not_diagnosed(double time); /* all sums NAN */

/* nbody_progress.c. begin: announce the engine's next phase; progress: the engine's callback. */
int nbody_job_progress(void *job, double fraction);
bool nbody_job_late(const struct nbody_job *job); /* rank 0: --time-limit has passed */
bool nbody_job_stopped(void); /* true if nbody_job_progress cancelled the failed call */
void nbody_job_begin(struct nbody_job *job, const char *name, double from, double to);

/* nbody_stop.c */
size_t nbody_stop_next(const struct nbody_job *job,
                       size_t step); /* next step to check; SIZE_MAX: none */
int nbody_stop_visit(struct nbody_job *job, size_t before,
                     size_t step); /* after a batch: set job->stopped */

/* nbody_balance.c: load balancing between ranks; begin before the first batch, visit after each.
 * Collective. */
void nbody_balance_begin(struct nbody_job *job);
int nbody_balance_visit(struct nbody_job *job);

/* nbody_ensemble.c: run --ensemble; needs job->context. */
int nbody_job_ensemble(struct nbody_job *job);

/* nbody_compare.c: sum forces with every kernel and print the table; needs job->context.
 * CLI_FAILED if a kernel is wrong. */
int nbody_job_compare(struct nbody_job *job);

#endif
