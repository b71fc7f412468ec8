/* batch.c - a burst: steps of one length that are started without waiting for results.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"
#include "nbody/tree.h"

#include "core/grid_barrier.h"

#include <limits.h>

static void swap(void **a, void **b)
{
    void *const was = *a;
    *a = *b;
    *b = was;
}

/* One sum of a step, whose positions are where forces are wanted, and what follows it. An
 * integrator with a `begin` moves bodies there, so not when no other sum follows; one without moves
 * them at the end of every step. Where launches make many steps this is the last of
 * nb->together. */
static int stage(struct nbody *nb, int number, bool last)
{
    const bool begins = nb->integrator->begin != NULL, together = nb->fused_steps > 0;
    const cl_uint phases = last || !begins ? SUM | FINISH : SUM | FINISH | BEGIN;
    if ((!together && nbody_forces_evaluate(nb, nb->integrator->sum) != 0) ||
        nbody_update_all(nb, together ? PULL | phases : phases, number) != 0 ||
        nbody_domain_update_late(nb, phases, number) != 0)
        return -1;
    const size_t some = together ? nb->fused_steps : 1, moves = some - !(phases & BEGIN);
    if (together && moves % 2)
        swap(&nb->posm, &nb->moved);
    nb->barrier_count += (cl_uint)some - 1;
    nb->evaluations += (double)some;
    if (!last || !begins)
        nb->positions_current = false;
    return 0;
}

/* The sums of a burst from number `from` on, and what follows each. */
static int stages_from(struct nbody *nb, size_t from, size_t steps)
{
    const size_t each = (size_t)stages(nb), all = steps * each;
    int status = 0;
    nb->in_batch = true;
    size_t some = 1;
    for (nb->sum = from; status == 0 && nb->sum < all; nb->sum += some) {
        nb->stage = (int)(nb->sum % each);
        nb->fused_steps = nbody_forces_steps_that_fit(nb, all - nb->sum);
        some = nb->fused_steps > 1 ? nb->fused_steps : 1;
        status = stage(nb, (int)(nb->sum / each) + 1, nb->sum + some == all);
    }
    nb->in_batch = false;
    return status;
}

/* Clears (CL_MEM_DEVICE) or fetches (CL_MEM_HOST) the number of the first bad step from every
 * device. Returns the smallest, INT_MAX when there is none, -1 after an error, or below that where
 * a tree had no room (tree.cl). Fetching waits for all that was started. */
static int bad_steps(struct nbody *nb, int direction)
{
    int first = INT_MAX;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        if (!p->rows)
            continue;
        if (direction == CL_MEM_DEVICE)
            *p->bad = INT_MAX, p->bad[MEET_PLACE] = 0;
        if (direction == CL_MEM_HOST
                ? nbody_device_download(nb, p, p->bad, BAD_WORDS * sizeof *p->bad) != 0
                : clmsync(nb->ctx, p->dev, p->bad, direction) == (cl_event)-1)
            return -1;
        if (direction == CL_MEM_HOST && (cl_uint)p->bad[MEET_PLACE] & GRID_BARRIER_TIMEOUT)
            return clerror_set(
                EIO,
                "nbody_step: work-groups of one launch waited in vain for each other, as device %u is busy otherwise; "
                "bodies have not all made the same steps. Begin again, or go on from a checkpoint, when nothing else uses it",
                p->dev);
        first = *p->bad < first ? *p->bad : first;
    }
    return first;
}

/* A tree had no room, and nothing was done since then: more room, and on from there. */
static int burst_on(struct nbody *nb, size_t steps, size_t from)
{
    nb->evaluations -= (double)(steps * (size_t)stages(nb) - from);
    if (nbody_tree_check(nb) < 0 || bad_steps(nb, CL_MEM_DEVICE) < 0 ||
        stages_from(nb, from, steps) != 0)
        return -1;
    return bad_steps(nb, CL_MEM_HOST);
}

int nbody_integrate_burst(struct nbody *nb, size_t steps)
{
    const struct integrator *integrator = nb->integrator;
    if (bad_steps(nb, CL_MEM_DEVICE) < 0 || (integrator->begin && integrator->begin(nb) != 0))
        return -1;
    nb->forces_valid = integrator->begin != NULL;
    nb->synchronized = false;
    nb->barrier_count = 0;
    int bad = stages_from(nb, 0, steps) == 0 ? bad_steps(nb, CL_MEM_HOST) : -1;
    while (bad < -1)
        bad = burst_on(nb, steps, (size_t)(bad - INT_MIN));
    return bad;
}
