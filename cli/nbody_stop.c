/* nbody_stop.c - stop conditions, which end a run early; all outputs are still written.
 *
 * Distances and energies are checked after the same steps in every run, so that a run always
 * stops at the same step; the time limit is checked after every batch and within long steps. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "message.h"
#include "ranks.h"
#include "nbody_bodies.h"
#include "nbody_run.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdio.h>

static const size_t CHECKS = 1000; /* checks of distances and energies in a run without a table */

size_t nbody_stop_next(const struct nbody_job *job, size_t step)
{
    const size_t every = job->every ? job->every : job->total / CHECKS + 1;
    return job->stop_distance > 0 || job->stop_energy > 0 ? step + (every - step % every)
                                                          : SIZE_MAX;
}

/* Find the body farthest from the centre of mass, and its distance. */
static size_t find_farthest(const struct particles *b, double *distance)
{
    double mass = 0, centre[3] = {0};
    size_t body = 0;
    for (size_t i = 0; i < b->n; i++) {
        mass += b->mass[i];
        for (int k = 0; k < 3; k++)
            centre[k] += b->mass[i] * b->pos[i][k];
    }
    *distance = 0;
    for (size_t i = 0; i < b->n && mass > 0; i++) {
        const double x = b->pos[i][0] - centre[0] / mass, y = b->pos[i][1] - centre[1] / mass,
                     z = b->pos[i][2] - centre[2] / mass, r = sqrt(x * x + y * y + z * z);
        body = r > *distance ? i : body;
        *distance = fmax(*distance, r);
    }
    return body;
}

static int check_distance(struct nbody_job *job)
{
    double distance;
    if (nbody_state(job->engine, job->bodies.pos, NULL) < 0)
        return cli_failed_call(NULL);
    const size_t body = find_farthest(&job->bodies, &distance);
    if (distance > job->stop_distance)
        snprintf(job->stopped, sizeof job->stopped,
                 "body %zu is %.6g from the centre of mass, beyond --stop-distance %g", body + 1,
                 distance, job->stop_distance);
    return CLI_DONE;
}

static int check_energy(struct nbody_job *job)
{
    struct nbody_diagnostics d;
    if (nbody_job_energies(job, &d) < 0)
        return nbody_job_stopped() ? CLI_DONE : cli_failed_call(NULL);
    const double error = fabs((d.total + job->energy_lost - job->start.total) / job->start.total);
    if (error > job->stop_energy) {
        snprintf(job->stopped, sizeof job->stopped,
                 "the relative energy error is %.2g, above --stop-energy %g", error,
                 job->stop_energy);
        job->failed = true;
    }
    return CLI_DONE;
}

int nbody_stop_visit(struct nbody_job *job, size_t before, size_t step)
{
    const bool due = step < job->total && nbody_stop_next(job, before) == step;
    int status;
    if (due && job->stop_distance > 0 && (status = check_distance(job)) != CLI_DONE)
        return status;
    if (due && job->stop_energy > 0 && !*job->stopped && (status = check_energy(job)) != CLI_DONE)
        return status;
    char late = nbody_job_late(job);
    const bool asks = job->time_limit > 0 && !*job->stopped && step < job->total;
    if (asks && world_broadcast(cli_world, 0, &late, sizeof late) != 0)
        return cli_failed_call(NULL);
    if (asks && late)
        snprintf(job->stopped, sizeof job->stopped, "the --time-limit of %.3g s has passed",
                 job->time_limit);
    return CLI_DONE;
}
