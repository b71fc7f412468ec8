/* gas_job.h - types and functions of `stdcl gas`.
 *
 *   cmd_gas.c     options and order of events
 *   gas_input.c   velocities from files
 *   gas_bins.c    counts of speeds, compared with Maxwell's distribution
 *   gas_figure.c  the figure of speeds, --figure
 *   gas_output.c  histogram of speeds as table and plot
 *   gas_view.c    the view in a browser
 *   gas_report.c  report as text or JSON
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_GAS_JOB_H
#define STDCL_CLI_GAS_JOB_H

#include "common.h"
#include "figures.h"
#include "progress.h"
#include "ranks.h"
#include "window.h"

#include "stdcl/gas.h"

#include <errno.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>

struct gas_job {
    /* From the command line. */
    struct cli_common common;
    uint64_t n, seed;
    int species; /* index in gas_species_list; -1: reduced units */
    double temperature, mass, volume, boltzmann;
    const char *input, *dataset, *shape;
    bool fused, stored;
    int source, method, accumulator; /* as in stdcl/gas.h */
    int precision;                   /* ARRAYS_FLOAT or ARRAYS_DOUBLE; -1: of the input */
    int repeat, bins;
    struct cli_strings histogram;
    struct cli_figures figures;
    struct cli_window window;

    /* Results and state of the run. */
    /* this rank's rows of three floats, or doubles for ARRAYS_DOUBLE */
    void *velocity;
    size_t rows; /* rows in `velocity` */
    CLCONTEXT *context;
    gas *gas;
    struct cli_progress progress;
    int passes_done; /* completed passes over all molecules: draw, sum, count */
    double done;     /* molecules of all passes at the last progress */
    int sums;        /* sums reported to the view */
    uint64_t *count; /* counts of the view's bins; NULL: not counted yet */
    struct gas_energy energy;
    double seconds; /* of the fastest sum; INFINITY: none is complete */
    int unwritten;  /* exit status of the first file that failed */
};

/* True if an interruption of any rank cancelled the failed call of the engine. Collective. */
static inline bool gas_job_stopped(void)
{
    return clerrno == ECANCELED && cli_ranks_interrupted(false);
}

/* Functions that return int return an exit status, after printing a message. */

/* gas_input.c. read: read job->input, and set n and precision; give: pass the velocities to the
 * gas; free: free them. */
int gas_input_read(struct gas_job *job);
int gas_input_give(struct gas_job *job);
void gas_input_free(struct gas_job *job);

/* gas_output.c. plan: check the names before the run; finish: write the files; the status of one
 * that fails is kept in job->unwritten. */
int gas_output_plan(const struct gas_job *job);
int gas_output_finish(struct gas_job *job);

/* gas_view.c. open: open the view, if wanted; visit: after a sum; end: the last frame. */
int gas_view_open(struct gas_job *job);
int gas_view_visit(struct gas_job *job);
int gas_view_end(struct gas_job *job);
int gas_view_stay(struct gas_job *job);

/* gas_report.c. interrupted: the report of a run that a signal ended. */
int gas_job_report(const struct gas_job *job);
void gas_job_report_interrupted(const struct gas_job *job);

#endif
