/* forces.c - forces and potentials in the caller's units; time of a sum.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "core/clock.h"
#include "core/handle.h"
#include "nbody/particles/body_blocks.h"

struct collecting {
    const struct nbody *nb;
    const struct nbody_device *p;
    const void *total;
    cl_uint wanted;
    double factor, *out; /* begins with row `base` */
    size_t base;
};

static void forces_collect_block(void *collecting, size_t block, size_t first, size_t end)
{
    const struct collecting *k = collecting;
    (void)block;
    for (size_t i = first; i < end; i++)
        for (cl_uint c = 0; c < k->wanted; c++)
            k->out[(k->p->first + i - k->base) * k->wanted + c] =
                k->factor * nbody_real_get(k->nb, k->total, c * k->p->rows + i);
}

int nbody_forces_collect(struct nbody *nb, struct nbody_device *p, void *from, cl_uint npartial,
                         cl_uint planes, cl_uint wanted, double factor, double *out)
{
    const cl_uint rows = (cl_uint)p->rows;
    void *total = clmalloc(nb->ctx, planes * p->rows * nb->real, CL_MEM_ZEROCOPY);
    int status = total ? nbody_device_launch_1d(nb, p, nb->integration.reduce, p->rows, planes,
                                                ARGS(from, total, rows, npartial))
                       : -1;
    if (status == 0)
        status = nbody_device_download(nb, p, total, planes * p->rows * nb->real);
    if (status == 0)
        nbody_each_block(
            p->count, forces_collect_block,
            &(struct collecting){nb, p, total, wanted, factor, out, nbody_ranks_own_first(nb)});
    clfree(total);
    return status;
}

/* An integrator that predicts has sums at predicted positions in `state`; they are evaluated again
 * at the current positions. */
static int forces_start_accelerations(struct nbody *nb)
{
    return integrator_predicts(nb) ? nbody_forces_evaluate(nb, nb->integrator->sum, -1)
                                   : nbody_integrate_init_forces(nb);
}

static int forces_collect_accelerations(struct nbody *nb, struct nbody_device *p, double *out)
{
    const double factor = nbody_units_factor(&nb->units, 1, -2);
    if (integrator_predicts(nb))
        return nbody_forces_collect(nb, p, p->force.partial, p->force.npartial,
                                    nbody_forces_sum(nb)->planes, 3, factor, out);
    return nbody_forces_collect(nb, p, p->state, 1, 3, 3, factor, out);
}

/* Collect accelerations, or potentials, of this rank's rows. */
static int forces_collect_rows(struct nbody *nb, bool acc, double *rows)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        if (!p->rows)
            continue;
        const int status = acc ? forces_collect_accelerations(nb, p, rows)
                               : nbody_forces_collect(nb, p, p->force.phi, p->force.npartial, 1, 1,
                                                      nbody_units_factor(&nb->units, 2, -2), rows);
        if (status != 0)
            return -1;
    }
    return 0;
}

/* Collective. */
static int forces_copy(struct nbody *nb, bool acc, double *out)
{
    const size_t numbers = acc ? 3 : 1;
    double *const rows = nbody_particles_rows(nb, numbers, out);
    const int status = rows ? forces_collect_rows(nb, acc, rows) : -1;
    return nbody_particles_return(nb, status, numbers, rows, out);
}

int nbody_forces(nbody *nb, double (*acc)[3], double *potential)
{
    if (no_handle(nb, __func__))
        return -1;
    if (nbody_runs_on_host(nb))
        return nbody_host_forces(nb, acc, potential);
    nbody_progress_begin(nb, "nbody_forces",
                         (acc ? nbody_forces_work(nb, nb->integrator->sum) : 0) +
                             (potential ? nbody_forces_work(nb, POTENTIALS) : 0));
    if (nbody_integrate_synchronize(nb) != 0)
        return -1;
    if (acc && (forces_start_accelerations(nb) != 0 || forces_copy(nb, true, acc[0]) != 0))
        return -1;
    if (potential && nbody_forces_evaluate(nb, POTENTIALS, -1) != 0)
        return -1;
    return potential ? forces_copy(nb, false, potential) : 0;
}

static int forces_wait_all(struct nbody *nb)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && nbody_device_wait(nb, p) != 0)
            return -1;
    return 0;
}

int nbody_time_forces(nbody *nb, size_t times, double *seconds)
{
    if (no_handle(nb, __func__) || nbody_need_device(nb, "nbody_time_forces") != 0)
        return -1;
    nbody_progress_begin(nb, "nbody_time_forces",
                         (double)times * nbody_forces_work(nb, nb->integrator->sum));
    if (nbody_simulation_open_sums(nb) != 0 || nbody_integrate_init_forces(nb) != 0 ||
        forces_wait_all(nb) != 0)
        return -1;
    const double start = seconds_now();
    for (size_t k = 0; k < times; k++)
        if (nbody_forces_evaluate(nb, nb->integrator->sum, -1) != 0)
            return -1;
    if (forces_wait_all(nb) != 0)
        return -1;
    *seconds = seconds_now() - start;
    return 0;
}
