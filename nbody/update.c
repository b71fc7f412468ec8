/* update.c - what integrators do between sums over pairs, on all devices.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include "core/grid_barrier.h"

int nbody_update_all(struct nbody *nb, cl_uint phases, int step)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count && (nb->integrator->visit(nb, p, (cl_uint)p->count, phases, step) != 0 ||
                         clflush(nb->ctx, p->dev, 0) != 0))
            return -1;
    return 0;
}

/* Whether groups meet, as many as move all bodies: by a launch in which they do nothing else. -1
 * after an error. */
static int try_meeting(struct nbody *nb, struct nbody_device *p)
{
    p->bad[MEET_PLACE] = 0;
    nb->fused_steps = 4;
    const int status = clmsync(nb->ctx, p->dev, p->bad, CL_MEM_DEVICE) == (cl_event)-1 ||
                               nb->integrator->visit(nb, p, 0, PULL, 0) != 0 ||
                               nbody_device_download(nb, p, p->bad, BAD_WORDS * sizeof *p->bad) != 0
                           ? -1
                           : 0;
    nb->fused_steps = 0;
    if ((cl_uint)p->bad[MEET_PLACE] & GRID_BARRIER_TIMEOUT)
        p->steps = NULL;
    return status;
}

/* No bodies attract in these launches, and none is moved. All devices get theirs before any is
 * waited for: it is their compilers that take the time. */
int nbody_integrate_warm(struct nbody *nb)
{
    int status = 0;
    nb->flags = CL_EVENT_NOWAIT | CL_EVENT_UNCOUNTED;
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        if (p->count && ((nb->kernel == NBODY_TUNED && nb->method == NBODY_DIRECT &&
                          nbody_forces_warm(nb, p) != 0) ||
                         (p->step && nb->integrator->visit(nb, p, 0, PULL, 0) != 0) ||
                         nb->integrator->visit(nb, p, 0, 0, 0) != 0 ||
                         (p->steps && try_meeting(nb, p) != 0) || clflush(nb->ctx, p->dev, 0) != 0))
            status = -1;
    nb->flags = CL_EVENT_NOWAIT;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count && clwait(nb->ctx, p->dev, CL_KERNEL_EVENT) == (cl_event)-1)
            status = -1;
    return status;
}

int nbody_integrate_synchronize(struct nbody *nb)
{
    if (!predicts(nb) || nb->synchronized)
        return 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count && nb->integrator->end(nb, p) != 0)
            return -1;
    nb->synchronized = true;
    nb->positions_current = false;
    return 0;
}

/* Second derivatives need everybody's accelerations, which the first sum found. */
static int sum_again(struct nbody *nb)
{
    nb->synchronized = false;
    return nbody_integrate_synchronize(nb) != 0 ||
                   nbody_forces_evaluate(nb, nb->integrator->sum) != 0
               ? -1
               : nbody_update_all(nb, SUM, 0);
}

int nbody_integrate_init_forces(struct nbody *nb)
{
    if (nb->forces_valid)
        return 0;
    if (nbody_integrate_synchronize(nb) != 0 ||
        nbody_forces_evaluate(nb, nb->integrator->sum) != 0 || nbody_update_all(nb, SUM, 0) != 0)
        return -1;
    if (nbody_forces_sum(nb)->accelerations && sum_again(nb) != 0)
        return -1;
    nb->forces_valid = true;
    return 0;
}

int nbody_integrate_begin(struct nbody *nb)
{
    nb->stage = stages(nb) - 1; /* after the last of a step comes the first of the next */
    if (nbody_integrate_init_forces(nb) != 0 || nbody_update_all(nb, BEGIN, 0) != 0)
        return -1;
    nb->positions_current = false;
    return 0;
}
