/* nbody_shares.c - how many bodies each rank moves, by how fast it was.
 *
 * Devices of one model get equal shares, and yet one may be slower than another by some per cent: then all wait for it. A rank is at work
 * while it does not wait for others. After some seconds, and again after twice as many, ranks tell each other how long that was; where a
 * division by their speeds gains more than it costs, the engine is made anew with it, and goes on from the same state. Direct sums have the same
 * bits in any division.
 * SPDX-License-Identifier: MIT
 */
#include "nbody_job.h"

#include <math.h>
#include <stdlib.h>

static const double FIRST_SECONDS = 5, LEAST_GAIN = 0.03, COST_SECONDS = 2;

/* A rank since shares were looked at last. */
struct work {
    double bodies, busy; /* seconds */
};

static double waited(void)
{
    double seconds = 0;
    for (int r = 0; r < world_size(cli_world); r++)
        seconds += world_waited(cli_world, r);
    return seconds;
}

static double own_bodies(const struct nbody_job *job)
{
    double bodies = 0;
    for (unsigned dev = 0; dev < clgetndev(job->context); dev++)
        bodies += (double)nbody_share(job->engine, dev);
    return bodies;
}

void nbody_shares_begin(struct nbody_job *job)
{
    job->shares.seconds = job->seconds;
    job->shares.waited = waited();
    job->shares.step = nbody_steps(job->engine);
    if (!(job->shares.next > 0))
        job->shares.next = FIRST_SECONDS;
}

/* Which part of a step's time a division by speed would save: all take as long as the slowest. */
static double gain_of(const struct work *each, int ranks)
{
    double longest = 0, speed = 0, bodies = 0;
    for (int r = 0; r < ranks; r++) {
        if (!(each[r].busy > 0) || !(each[r].bodies > 0))
            return 0;
        longest = fmax(longest, each[r].busy);
        speed += each[r].bodies / each[r].busy;
        bodies += each[r].bodies;
    }
    return 1 - bodies / speed / longest;
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
    int status = state ? 0 : clerror_set(ENOMEM, "not enough memory to divide %zu bodies anew", job->n);
    status = world_agree(cli_world, status);
    if (status == 0)
        status = nbody_save(job->engine, state);
    for (unsigned dev = 0; dev < devices; dev++)
        shares[dev] = part * (own > 0 ? (double)nbody_share(job->engine, dev) / own : 1 / (double)devices);
    if (status == 0) {
        nbody_checkpoint_wait(job);
        nbody_free(job->engine);
        options.shares = shares;
        options.method = NBODY_DIRECT;
        options.shape = job->shares.shape;
        job->engine = nbody_create(&options, job->n, job->bodies.mass, (const double(*)[3])job->bodies.pos, (const double(*)[3])job->bodies.vel);
        status = job->engine ? nbody_load(job->engine, state, bytes) : -1;
    }
    free(shares);
    free(state);
    return status == 0 ? CLI_DONE : cli_failed_call(NULL);
}

static void explain(const struct nbody_job *job, const struct work *each, int ranks, double gain)
{
    int least = 0, most = 0;
    for (int r = 1; r < ranks; r++) {
        least = each[r].bodies / each[r].busy < each[least].bodies / each[least].busy ? r : least;
        most = each[r].bodies / each[r].busy > each[most].bodies / each[most].busy ? r : most;
    }
    if (!job->common.explain || !cli_ranks_first())
        return;
    cli_line_wipe();
    fprintf(stderr, "from step %zu on bodies are divided by how fast ranks were, which saves %.1f %%: a body of rank %d on %s takes %.2f times as long as one of rank %d on %s\n",
            nbody_steps(job->engine), 100 * gain, least, world_host(cli_world, least),
            each[least].busy / each[least].bodies / (each[most].busy / each[most].bodies), most, world_host(cli_world, most));
}

/* For tests: other shares after every burst, whatever was measured. */
static bool forced(void)
{
    return getenv("STDCL_DIVIDE_ANEW") != NULL;
}

/* Whether a look is due, by the clock of rank 0. */
static int due(const struct nbody_job *job, bool *is)
{
    *is = forced() || job->seconds - job->shares.seconds > job->shares.next;
    return world_broadcast(cli_world, 0, is, sizeof *is);
}

int nbody_shares_visit(struct nbody_job *job)
{
    const int ranks = world_size(cli_world);
    bool is = false;
    if (ranks == 1 || nbody_method(job->engine) != NBODY_DIRECT || nbody_steps(job->engine) >= job->total)
        return CLI_DONE;
    if (due(job, &is) != 0)
        return cli_failed_call(NULL);
    if (!is)
        return CLI_DONE;
    struct work own = {own_bodies(job), job->seconds - job->shares.seconds - (waited() - job->shares.waited)}, *each = cli_alloc((size_t)ranks, sizeof own);
    int status = CLI_DONE;
    if (world_gather(cli_world, &own, sizeof own, each) != 0) {
        status = cli_failed_call(NULL);
    } else {
        const size_t steps = nbody_steps(job->engine);
        double gain = gain_of(each, ranks), left = (job->seconds - job->shares.seconds) * (double)(job->total - steps) / (double)(steps - job->shares.step + 1);
        double speed = own.busy > 0 ? own.bodies / own.busy : 1;
        if (forced())
            speed = 1 + (double)(((size_t)world_rank(cli_world) + steps) % 3);
        bool anew = forced() || (gain > LEAST_GAIN && gain * left > COST_SECONDS);
        if (world_broadcast(cli_world, 0, &anew, sizeof anew) != 0)
            status = cli_failed_call(NULL);
        else if (anew)
            status = divide(job, speed);
        if (status == CLI_DONE && anew && gain > 0)
            explain(job, each, ranks, gain);
        job->shares.next *= 2;
        nbody_shares_begin(job);
    }
    free(each);
    return status;
}
