/* life_run.h - runs of `stdcl life`: choice of the engine, main loop, comparison, census.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_LIFE_RUN_H
#define STDCL_CLI_LIFE_RUN_H

#include "options.h"

#include "life_job.h"
#include "ranks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdcl.h>

/* Functions that return int return an exit status, after printing a message. */

/* cmd_life.c. work: the whole run, once the options are known. close: free the job and return
 * the exit status. */
int life_job_work(struct life_job *job);
int life_job_close(struct life_job *job, int status);

/* life_devices.c: open the devices if `needed`, do the work of a census or a sweep, which writes
 * its tables and its report, and print the profile. */
int life_job_on_devices(struct life_job *job, bool needed, int (*work)(void *arg), void *arg);

/* life_choice.c. begin: choose the engine by the options (NULL: not options of `stdcl life`).
 * end: read the pattern and complete the choice. */
void life_choice_begin(struct life_job *job, const struct cli_option *options);
int life_choice_end(struct life_job *job);

/* Replace packed by plain C for a small run, or for a rule without a kernel. Call it once size and
 * generations are known. */
void life_choice_small(struct life_job *job);

/* life_run.c: the main loop. An interruption is no failure. */
int life_job_run(struct life_job *job);

/* life_progress.c. progress: the engine's callback. stopped: True if it cancelled the failed
 * call. */
int life_job_progress(void *job, double fraction);
static inline bool life_job_stopped(void)
{
    return clerrno == ECANCELED && cli_ranks_interrupted(false);
}

/* life_balance.c: load balancing between ranks; begin before the first batch, visit after each.
 * Collective. */
void life_balance_begin(struct life_job *job);
int life_balance_visit(struct life_job *job);

/* life_census.c: check the options of a census; run it, including the report. */
int life_census_check(const struct life_job *job);
int life_census_run_job(struct life_job *job);

/* The common name of an object of B3/S23, such as "block" for xs4_33; NULL: it has none. */
const char *life_object_name(const struct life_job *job, const char *code);

/* life_identify.c: identify the pattern of the plane, and report. */
enum { IDENTIFY_GENERATIONS = 100000 };
int life_identify_job(struct life_job *job);

/* life_sweep.c: check and complete the options of a sweep; run it, including the report. */
int life_sweep_check(struct life_job *job);
int life_sweep_job(struct life_job *job);

/* life_compare.c: run --compare, including the report. */
int life_job_compare(struct life_job *job);

#endif
