/* gas_job.h - what the files of `stdcl gas` share.
 *
 *   cmd_gas.c     the options, and the order in which things happen
 *   gas_input.c   velocities from files
 *   gas_output.c  the histogram of speeds as table and plot
 *   gas_report.c  the report as text or JSON
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_GAS_JOB_H
#define STDCL_CLI_GAS_JOB_H

#include "window.h"

#include "stdcl/gas.h"

struct gas_job {
    /* From the command line. */
    struct cli_common common;
    uint64_t n, seed;
    int species; /* in gas_species_list; -1: reduced units */
    double temperature, mass, volume, boltzmann;
    const char *input, *dataset, *shape;
    bool fused, stored;
    int source, method, precision, accumulator; /* as in stdcl/gas.h */
    int repeat, bins;
    struct cli_strings histogram;
    struct cli_window window;

    /* Results, and what is needed meanwhile. */
    void *velocity; /* read: of this rank, rows of three floats, or of doubles if precision is
                       ARRAYS_DOUBLE */
    size_t rows;    /* of them */
    CLCONTEXT *context;
    gas *gas;
    struct cli_progress progress;
    int passes_done; /* over all molecules: to draw, to add up, to count */
    int sums;        /* that the window was told of */
    uint64_t *count; /* of its bins; NULL: not counted yet */
    struct gas_energy energy;
    double seconds; /* of the sum */
};

/* Whether a call of the engine failed because Ctrl-C ended it, on any rank; all ranks ask. */
static inline bool gas_job_stopped(void)
{
    return clerrno == ECANCELED && cli_ranks_interrupted(false);
}

/* All return an exit status, after printing what is wrong. */

/* gas_input.c: reads job->input, which sets n and precision; hands it to the gas; frees it. */
int gas_input_read(struct gas_job *job);
int gas_input_give(struct gas_job *job);
void gas_input_free(struct gas_job *job);

/* gas_output.c: checks names before anything is computed; writes the files. */
int gas_output_plan(const struct gas_job *job);
int gas_output_finish(const struct gas_job *job);

/* gas_view.c: opens the window, if one is wanted; after a sum; the last picture. */
int gas_view_open(struct gas_job *job);
int gas_view_visit(struct gas_job *job);
int gas_view_end(struct gas_job *job);

/* gas_report.c */
int gas_job_report(const struct gas_job *job);

#endif
