/* nbody_balance.c - load balancing between ranks by measured speed.
 *
 * Devices of one model get equal numbers of bodies, but one may be slower by some per cent, and
 * all others wait for it. A rank's busy time excludes waiting. After some seconds, and again
 * after twice as many, ranks exchange their busy times. If a division by speed saves more than
 * it costs, the engine is recreated with that division and loads the saved state. Direct sums
 * give the same bits for any division.
 * SPDX-License-Identifier: MIT
 */
#include "balance.h"
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "ranks.h"
#include "nbody_bodies.h"
#include "nbody_checkpoint.h"
#include "nbody_run.h"

#include <errno.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdlib.h>

static double own_bodies(const struct nbody_job *job)
{
    double bodies = 0;
    for (unsigned dev = 0; dev < clgetndev(job->context); dev++)
        bodies += (double)nbody_device_bodies(job->engine, dev);
    return bodies;
}

void nbody_balance_begin(struct nbody_job *job)
{
    cli_balance_begin(&job->balance.clock, job->seconds);
    job->balance.step = nbody_steps(job->engine);
}

/* Recreate the engine; this rank's bodies are divided among its devices in the previous
 * proportions. */
static int redivide_bodies(struct nbody_job *job, double part)
{
    const size_t bytes = nbody_save_bytes(job->engine);
    const unsigned devices = clgetndev(job->context);
    const double own = own_bodies(job);
    struct nbody_options options = nbody_job_options(job);
    void *state = malloc(bytes);
    double *shares = cli_alloc(devices, sizeof *shares);
    int status =
        state ? 0 : clerror_set(ENOMEM, "out of memory to redistribute %zu bodies", job->n);
    status = world_reduce_status(cli_world, status);
    if (status == 0)
        status = nbody_save(job->engine, state);
    for (unsigned dev = 0; dev < devices; dev++)
        shares[dev] = part * (own > 0 ? (double)nbody_device_bodies(job->engine, dev) / own
                                      : 1 / (double)devices);
    if (status == 0) {
        nbody_checkpoint_wait(job);
        nbody_free(job->engine);
        options.shares = shares;
        options.method = NBODY_DIRECT;
        options.shape = job->balance.shape;
        job->engine =
            nbody_create(&options, job->n, job->bodies.mass, (const double(*)[3])job->bodies.pos,
                         (const double(*)[3])job->bodies.vel);
        status = job->engine ? nbody_load(job->engine, state, bytes) : -1;
    }
    free(shares);
    free(state);
    return status == 0 ? CLI_DONE : cli_failed_call(NULL);
}

int nbody_balance_visit(struct nbody_job *job)
{
    const size_t steps = nbody_steps(job->engine);
    double weight;
    if (world_size(cli_world) == 1 || nbody_method(job->engine) != NBODY_DIRECT ||
        steps >= job->total)
        return CLI_DONE;
    const double left = (double)(job->total - steps) / (double)(steps - job->balance.step + 1),
                 looked = job->balance.clock.seconds;
    const struct cli_work own = {own_bodies(job),
                                 cli_balance_busy(&job->balance.clock, job->seconds)};
    if (cli_balance_update(&job->balance.clock, own, job->seconds, left,
                           job->common.explain ? "bodies" : NULL, &weight) != 0)
        return cli_failed_call(NULL);
    if (job->balance.clock.seconds != looked)
        job->balance.step = steps;
    return weight > 0 ? redivide_bodies(job, weight) : CLI_DONE;
}
