/* update.c - launch the integrator's kernels between sums over pairs, on all devices.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/stepping.h"

#include "core/grid_barrier.h"

#include <limits.h>

EMBEDDED(step, "nbody/integrator/step.cl", nbody_integrator_step_cl);

int nbody_integrator_open(struct nbody *nb)
{
    const struct embedded *const before = &step;
    struct integration *const in = &nb->integration;
    in->program = embedded_open(nb->ctx, nbody_has_doubles(nb) ? "-D DOUBLE" : "",
                                nb->integrator->source, 1, &before);
    in->reduce = in->program ? clsym(nb->ctx, in->program, "reduce_partials", 0) : NULL;
    if (!in->reduce)
        return -1;
    for (int k = 0; k < UPDATE_KERNELS && nb->integrator->kernels[k]; k++)
        if (!(in->update[k] = clsym(nb->ctx, in->program, nb->integrator->kernels[k], 0)))
            return -1;
    return 0;
}

void nbody_integrator_free(struct nbody *nb)
{
    for (cl_uint d = 0; nb->device && d < nb->ndev; d++)
        free(nb->device[d].integration.saved);
    if (nb->integration.program)
        clclose(nb->ctx, nb->integration.program);
}

int nbody_update_all(struct nbody *nb, const struct update *u)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count && (nb->integrator->update(nb, p, (cl_uint)p->count, u) != 0 ||
                         clflush(nb->ctx, p->dev, 0) != 0))
            return -1;
    return 0;
}

/* Start-up test of multi-step launches: run the kernel with all its groups, which only pass the
 * grid barrier, and discard it if a group times out. -1 on error. */
static int update_test_barrier(struct nbody *nb, struct nbody_device *p)
{
    int status = nbody_device_write_bad(nb, p, INT_MAX);
    if (status == 0)
        status =
            nb->integrator->update(nb, p, 0, &(struct update){.phases = FUSED, .fused_steps = 4});
    if (status == 0)
        status = nbody_device_download(nb, p, p->bad, BAD_WORDS * sizeof *p->bad);
    if ((cl_uint)p->bad[BARRIER_WORD] & GRID_BARRIER_TIMEOUT)
        nbody_forces_disable_multi_step(p);
    return status;
}

/* These launches sum over no source bodies and move none. All devices get their launches before
 * the first wait, because drivers compile in parallel. */
int nbody_integrate_warm_up(struct nbody *nb)
{
    int status = 0;
    nbody_device_count_launches(nb, false);
    for (struct nbody_device *p = nb->device; status == 0 && p < nb->device + nb->ndev; p++)
        if (p->count &&
            ((nb->kernel == NBODY_TUNED && nb->method == NBODY_DIRECT &&
              nbody_forces_warm_up(nb, p) != 0) ||
             (p->force.fused_kernel &&
              nb->integrator->update(nb, p, 0, &(struct update){.phases = FUSED}) != 0) ||
             nb->integrator->update(nb, p, 0, &(struct update){0}) != 0 ||
             (p->force.multi_step_kernel && update_test_barrier(nb, p) != 0) ||
             clflush(nb->ctx, p->dev, 0) != 0))
            status = -1;
    nbody_device_count_launches(nb, true);
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count && clwait(nb->ctx, p->dev, CL_KERNEL_EVENT) == (cl_event)-1)
            status = -1;
    return status;
}

int nbody_integrate_synchronize(struct nbody *nb)
{
    if (nbody_host_flush(nb) != 0)
        return -1;
    if (!integrator_predicts(nb) || nb->integration.valid.synchronized)
        return 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count && nb->integrator->synchronize(nb, p) != 0)
            return -1;
    nb->integration.valid.synchronized = true;
    nbody_particles_moved(nb);
    return 0;
}

/* Second derivatives depend on the accelerations of all bodies, which the first sum has computed.
 */
static int update_sum_again(struct nbody *nb)
{
    nb->integration.valid.synchronized = false;
    if (nbody_integrate_synchronize(nb) != 0 ||
        nbody_forces_evaluate(nb, nb->integrator->sum, -1) != 0)
        return -1;
    return nbody_update_all(nb, &(struct update){.phases = REDUCE});
}

int nbody_integrate_init_forces(struct nbody *nb)
{
    if (nbody_host_flush(nb) != 0)
        return -1;
    if (nb->integration.valid.forces_valid)
        return 0;
    if (nbody_integrate_synchronize(nb) != 0 ||
        nbody_forces_evaluate(nb, nb->integrator->sum, -1) != 0 ||
        nbody_update_all(nb, &(struct update){.phases = REDUCE}) != 0)
        return -1;
    if (nbody_forces_sum(nb)->accelerations && update_sum_again(nb) != 0)
        return -1;
    nb->integration.valid.forces_valid = true;
    return 0;
}

int nbody_integrate_restart(struct nbody *nb)
{
    if (nbody_integrate_synchronize(nb) != 0)
        return -1;
    nb->integration.valid = (struct sum_validity){.synchronized = true};
    return 0;
}

int nbody_integrate_begin(struct nbody *nb)
{
    /* the last stage of a step precedes the first of the next */
    const struct update u = {.phases = KICK_DRIFT, .stage = integrator_stages(nb) - 1};
    if (nbody_integrate_init_forces(nb) != 0 || nbody_update_all(nb, &u) != 0)
        return -1;
    nbody_particles_moved(nb);
    return 0;
}
