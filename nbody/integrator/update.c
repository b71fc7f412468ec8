/* update.c - launch the integrator's kernels between sums over pairs, on all devices.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/integrator.h"

#include "core/grid_barrier.h"

int nbody_update_all(struct nbody *nb, cl_uint phases, int step)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count && (nb->integrator->update(nb, p, (cl_uint)p->count, phases, step) != 0 ||
                         clflush(nb->ctx, p->dev, 0) != 0))
            return -1;
    return 0;
}

/* Start-up test of multi-step launches: run the kernel with all its groups, which only pass the
 * grid barrier, and discard it if a group times out. -1 on error. */
static int update_test_barrier(struct nbody *nb, struct nbody_device *p)
{
    p->bad[BARRIER_WORD] = 0;
    nb->fused_steps = 4;
    int status = clmsync(nb->ctx, p->dev, p->bad, CL_MEM_DEVICE) == (cl_event)-1 ? -1 : 0;
    if (status == 0)
        status = nb->integrator->update(nb, p, 0, FUSED, 0);
    if (status == 0)
        status = nbody_device_download(nb, p, p->bad, BAD_WORDS * sizeof *p->bad);
    nb->fused_steps = 0;
    if ((cl_uint)p->bad[BARRIER_WORD] & GRID_BARRIER_TIMEOUT)
        p->multi_step_kernel = NULL;
    return status;
}

/* These launches sum over no source bodies and move none. All devices get their launches before
 * the first wait, because drivers compile in parallel. */
int nbody_integrate_warm_up(struct nbody *nb)
{
    int status = 0;
    nb->flags = CL_EVENT_NOWAIT | CL_EVENT_UNCOUNTED;
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        if (p->count && ((nb->kernel == NBODY_TUNED && nb->method == NBODY_DIRECT &&
                          nbody_forces_warm_up(nb, p) != 0) ||
                         (p->fused_kernel && nb->integrator->update(nb, p, 0, FUSED, 0) != 0) ||
                         nb->integrator->update(nb, p, 0, 0, 0) != 0 ||
                         (p->multi_step_kernel && update_test_barrier(nb, p) != 0) ||
                         clflush(nb->ctx, p->dev, 0) != 0))
            status = -1;
    nb->flags = CL_EVENT_NOWAIT;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count && clwait(nb->ctx, p->dev, CL_KERNEL_EVENT) == (cl_event)-1)
            status = -1;
    return status;
}

int nbody_integrate_synchronize(struct nbody *nb)
{
    if (!integrator_predicts(nb) || nb->synchronized)
        return 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count && nb->integrator->synchronize(nb, p) != 0)
            return -1;
    nb->synchronized = true;
    nb->positions_current = false;
    return 0;
}

/* Second derivatives depend on the accelerations of all bodies, which the first sum has computed.
 */
static int update_sum_again(struct nbody *nb)
{
    nb->synchronized = false;
    if (nbody_integrate_synchronize(nb) != 0 || nbody_forces_evaluate(nb, nb->integrator->sum) != 0)
        return -1;
    return nbody_update_all(nb, REDUCE, 0);
}

int nbody_integrate_init_forces(struct nbody *nb)
{
    if (nb->forces_valid)
        return 0;
    if (nbody_integrate_synchronize(nb) != 0 ||
        nbody_forces_evaluate(nb, nb->integrator->sum) != 0 || nbody_update_all(nb, REDUCE, 0) != 0)
        return -1;
    if (nbody_forces_sum(nb)->accelerations && update_sum_again(nb) != 0)
        return -1;
    nb->forces_valid = true;
    return 0;
}

int nbody_integrate_begin(struct nbody *nb)
{
    nb->stage =
        integrator_stages(nb) - 1; /* the last stage of a step precedes the first of the next */
    if (nbody_integrate_init_forces(nb) != 0 || nbody_update_all(nb, KICK_DRIFT, 0) != 0)
        return -1;
    nb->positions_current = false;
    return 0;
}
