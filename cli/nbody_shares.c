/* nbody_shares.c - how many bodies each rank moves, by how fast it was.
 *
 * Devices of one model get equal shares, and yet one may be slower than another by some per cent:
 * then all wait for it. A rank is at work while it does not wait for others. After some seconds,
 * and again after twice as many, ranks tell each other how long that was; where a division by their
 * speeds gains more than it costs, the engine is made anew with it, and goes on from the same
 * state. Direct sums have the same bits in any division.
 * SPDX-License-Identifier: MIT
 */
#include "nbody_job.h"

#include <stdlib.h>

static double own_bodies(const struct nbody_job *job)
{
    double bodies = 0;
    for (unsigned dev = 0; dev < clgetndev(job->context); dev++)
        bodies += (double)nbody_device_bodies(job->engine, dev);
    return bodies;
}

void nbody_shares_begin(struct nbody_job *job)
{
    cli_shares_begin(&job->shares.clock, job->seconds);
    job->shares.step = nbody_steps(job->engine);
}

/* The engine anew, with this rank's part of the bodies divided among its devices as before. */
static int divide(struct nbody_job *job, double part)
{
    const size_t bytes = nbody_save_bytes(job->engine);
    const unsigned devices = clgetndev(job->context);
    const double own = own_bodies(job);
    struct nbody_options options = nbody_job_options(job);
    void *state = malloc(bytes);
    double *shares = cli_alloc(devices, sizeof *shares);
    int status =
        state ? 0 : clerror_set(ENOMEM, "not enough memory to divide %zu bodies anew", job->n);
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
        options.shape = job->shares.shape;
        job->engine =
            nbody_create(&options, job->n, job->bodies.mass, (const double(*)[3])job->bodies.pos,
                         (const double(*)[3])job->bodies.vel);
        status = job->engine ? nbody_load(job->engine, state, bytes) : -1;
    }
    free(shares);
    free(state);
    return status == 0 ? CLI_DONE : cli_failed_call(NULL);
}

int nbody_shares_visit(struct nbody_job *job)
{
    const size_t steps = nbody_steps(job->engine);
    double weight;
    if (world_size(cli_world) == 1 || nbody_method(job->engine) != NBODY_DIRECT ||
        steps >= job->total)
        return CLI_DONE;
    const double left = (double)(job->total - steps) / (double)(steps - job->shares.step + 1),
                 looked = job->shares.clock.seconds;
    const struct cli_work own = {own_bodies(job),
                                 cli_shares_busy(&job->shares.clock, job->seconds)};
    if (cli_shares_look(&job->shares.clock, own, job->seconds, left,
                        job->common.explain ? "bodies" : NULL, &weight) != 0)
        return cli_failed_call(NULL);
    if (job->shares.clock.seconds != looked)
        job->shares.step = steps;
    return weight > 0 ? divide(job, weight) : CLI_DONE;
}
