/* batch.c - a batch: steps of one length, enqueued without waiting for results.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/stepping.h"
#include "nbody/force/tree.h"

#include "core/grid_barrier.h"

#include <limits.h>

/* Enqueue sum number `sum` of a batch and the update u after it. An integrator with `begin` moves
 * bodies to where the next sum is evaluated, so not after the last sum; one without `begin` moves
 * them at the end of each step. With fused launches this call makes u->fused_steps steps, the last
 * of them number u->step. */
static int batch_run_stage(struct nbody *nb, size_t sum, bool last, struct update *u)
{
    const bool begins = nb->integrator->begin != NULL, fused = u->fused_steps > 0;
    const cl_uint phases = last || !begins ? REDUCE | KICK_CLOSE : REDUCE | KICK_CLOSE | KICK_DRIFT;
    u->phases = fused ? FUSED | phases : phases;
    if (!fused && nbody_forces_evaluate(nb, nb->integrator->sum, (int)sum) != 0)
        return -1;
    if (nbody_update_all(nb, u) != 0)
        return -1;
    const size_t steps_of_launch = fused ? u->fused_steps : 1,
                 moves = steps_of_launch - !(phases & KICK_DRIFT);
    if (fused && moves % 2)
        nbody_particles_swap(nb);
    u->barriers += (cl_uint)steps_of_launch - 1;
    nb->integration.evaluations += (double)steps_of_launch;
    if (!last || !begins)
        nbody_particles_moved(nb);
    return 0;
}

/* Enqueue the sums of a batch from index `from` on, with their updates. */
static int batch_run_stages(struct nbody *nb, size_t from, size_t steps)
{
    const size_t each = (size_t)integrator_stages(nb), all = steps * each;
    struct update u = {0};
    size_t steps_of_launch = 1;
    for (size_t sum = from; sum < all; sum += steps_of_launch) {
        u.step = (int)(sum / each) + 1;
        u.stage = (int)(sum % each);
        u.fused_steps = nbody_forces_steps_that_fit(nb, all - sum);
        steps_of_launch = u.fused_steps > 1 ? u.fused_steps : 1;
        if (batch_run_stage(nb, sum, sum + steps_of_launch == all, &u) != 0)
            return -1;
    }
    return 0;
}

/* Clear (CL_MEM_DEVICE) or download (CL_MEM_HOST) the first bad step of every device. Return the
 * smallest, INT_MAX if there is none, -1 on error, or less if a buffer of the tree overflowed
 * (tree.cl). Downloading waits for all commands. */
static int batch_bad_step(struct nbody *nb, int direction)
{
    int first = INT_MAX;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        if (!p->rows)
            continue;
        if (direction == CL_MEM_HOST
                ? nbody_device_download(nb, p, p->bad, BAD_WORDS * sizeof *p->bad) != 0
                : nbody_device_write_bad(nb, p, INT_MAX) != 0)
            return -1;
        if (direction == CL_MEM_HOST && (cl_uint)p->bad[BARRIER_WORD] & GRID_BARRIER_TIMEOUT)
            return clerror_set(
                EIO,
                "nbody_step: device %u: work-groups of a multi-step launch timed out waiting for each other (is another "
                "program using the device?); the state is inconsistent: restart, or resume from a checkpoint",
                p->dev);
        first = *p->bad < first ? *p->bad : first;
    }
    return first;
}

/* Continue a batch after a buffer of the tree overflowed in the sum `from`; later kernels
 * did nothing. Grows the buffers first. */
static int batch_resume(struct nbody *nb, size_t steps, size_t from)
{
    nb->integration.evaluations -= (double)(steps * (size_t)integrator_stages(nb) - from);
    if (nbody_tree_check(nb) < 0 || batch_bad_step(nb, CL_MEM_DEVICE) < 0 ||
        batch_run_stages(nb, from, steps) != 0)
        return -1;
    return batch_bad_step(nb, CL_MEM_HOST);
}

int nbody_integrate_batch(struct nbody *nb, size_t steps)
{
    const struct integrator *integrator = nb->integrator;
    if (batch_bad_step(nb, CL_MEM_DEVICE) < 0 || (integrator->begin && integrator->begin(nb) != 0))
        return -1;
    nb->integration.valid.forces_valid = integrator->begin != NULL;
    nb->integration.valid.synchronized = false;
    int bad = batch_run_stages(nb, 0, steps) == 0 ? batch_bad_step(nb, CL_MEM_HOST) : -1;
    while (bad < -1)
        bad = batch_resume(nb, steps, (size_t)(bad - INT_MIN));
    return bad;
}
