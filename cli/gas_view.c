/* gas_view.c - the view of `stdcl gas`: a histogram of speeds with Maxwell's distribution, and a
 * plot of energies.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "device.h"
#include "interrupt.h"
#include "alloc.h"
#include "message.h"
#include "gas_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const double TOP = 6; /* as in histogram files */

int gas_view_open(struct gas_job *job)
{
    char title[160], n[32];
    if (!job->window.wanted && !job->window.record)
        return CLI_DONE;
    char *device = cli_devices_name(job->context);
    const bool si = job->species >= 0;
    const char *const energy = si ? "J" : "";
    const char *const columns[] = {"sum",  "",       "mean energy",     energy, "expected energy",
                                   energy, "off by", "standard errors", NULL};
    cli_window_number(n, job->n);
    snprintf(title, sizeof title, "%s molecules%s%s at T = %g%s", n, si ? " of " : "",
             si ? gas_species_list()[job->species].formula : "", job->temperature, si ? " K" : "");
    const char *const facts[] = {
        "molecules", n, "device", device, "velocities", job->stored ? "stored" : "drawn and summed",
        NULL};
    struct view_options about = {.program = "gas",
                                 .title = title,
                                 .step = "sum",
                                 .time = "sum",
                                 .can = VIEW_CAN_PAUSE | VIEW_CAN_STEP | VIEW_CAN_QUIT,
                                 .facts = facts,
                                 .rows = columns,
                                 .bars = {.quantity = "speed",
                                          .unit = si ? "m/s" : "",
                                          .counted = "molecules",
                                          .model = "Maxwell"}};
    const int status = cli_window_open(&job->window, &about);
    free(device);
    return status;
}

/* Count once: the molecules are equal in every sum. */
static int count_speeds(struct gas_job *job, double top)
{
    if (job->count)
        return CLI_DONE;
    job->count = cli_alloc((size_t)job->bins + 1, sizeof *job->count);
    if (gas_histogram(job->gas, top, (unsigned)job->bins, job->count) == 0)
        return CLI_DONE;
    return gas_job_stopped() ? cli_interrupt_status(CLI_FAILED) : cli_failed_call(NULL);
}

static int show_histogram(void *arg, int last)
{
    struct gas_job *job = arg;
    const double top = TOP * sqrt(job->boltzmann * job->temperature / job->mass),
                 width = top / job->bins;
    const int status = count_speeds(job, top);
    if (status != CLI_DONE)
        return status;
    double *expected = cli_alloc((size_t)job->bins + 1, sizeof *expected), below = 0;
    for (int i = 0; i <= job->bins; i++) {
        const double next = i == job->bins ? 1
                                           : gas_speed_cdf((i + 1) * width, job->temperature,
                                                           job->mass, job->boltzmann);
        expected[i] = (next - below) * (double)job->n;
        below = next;
    }
    const uint64_t sums = (uint64_t)job->sums;
    view_show_bars(job->window.view, (struct view_moment){(double)sums, sums, last},
                   (uint32_t)job->bins, top, job->count, expected);
    free(expected);
    return CLI_DONE;
}

int gas_view_visit(struct gas_job *job)
{
    const struct gas_energy *e = &job->energy;
    if (!job->window.open)
        return CLI_DONE;
    view_add_row(job->window.view,
                 (const double[]){++job->sums, e->mean_energy, e->expected, e->sigmas});
    return cli_window_visit(&job->window, (uint64_t)job->sums, (double)job->sums / job->repeat,
                            show_histogram, job);
}

int gas_view_end(struct gas_job *job)
{
    return cli_window_end(&job->window, "all sums are done", show_histogram, job);
}

int gas_view_stay(struct gas_job *job)
{
    return cli_window_stay(&job->window, show_histogram, job);
}
