/* integrate_leapfrog.c - kick-drift-kick leapfrog, the default integrator.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/integrator.h"

EMBEDDED(source, "nbody/integrator/integrate_leapfrog.cl", nbody_integrator_integrate_leapfrog_cl);

int nbody_leapfrog_update(struct nbody *nb, struct nbody_device *p, cl_uint count, cl_uint phases,
                          int step, double closing_dt, double opening_dt)
{
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows;
    if (phases & FUSED)
        return nbody_forces_step(nb, p, count > 0,
                                 ARGS(nb->moved, p->state, count, phases, REAL(nb, closing_dt),
                                      REAL(nb, opening_dt), p->bad, step));
    return p->late.list
               ? nbody_device_launch_1d(nb, p, p->update[1], p->late.n, 1,
                                        ARGS(nb->posm, p->state, p->partial, first, rows, count,
                                             p->npartial, phases, REAL(nb, closing_dt),
                                             REAL(nb, opening_dt), p->bad, step, p->late.list,
                                             p->late.from, p->late.n))
               : nbody_device_launch_1d(nb, p, p->update[0], p->count, p->npartial > 1 ? 3 : 1,
                                        ARGS(nb->posm, p->state, p->partial, first, rows, count,
                                             p->npartial, phases, REAL(nb, closing_dt),
                                             REAL(nb, opening_dt), p->bad, step));
}

static int leapfrog_update(struct nbody *nb, struct nbody_device *p, cl_uint count, cl_uint phases,
                           int step)
{
    const double dt = nb->dt * nbody_units_factor(&nb->units, 0, -1);
    return nbody_leapfrog_update(nb, p, count, phases, step, dt, dt);
}

static void leapfrog_reference(const struct nbody_ref_system *s, double dt, size_t steps, double *x,
                               double *v, double *work)
{
    const size_t m = 3 * s->n;
    double *a = work;
    nbody_ref_accelerations(s, x, a);
    while (steps-- > 0) {
        nbody_ref_add(m, v, dt / 2, a);
        nbody_ref_add(m, x, dt, v);
        nbody_ref_accelerations(s, x, a);
        nbody_ref_add(m, v, dt / 2, a);
    }
}

const struct integrator nbody_integrate_leapfrog = {
    .info = {.name = "leapfrog",
             .about = "of 2nd order and symplectic: the error of the energy stays bounded",
             .order = 2},
    .source = &source,
    .kernels = {"leapfrog", "leapfrog_rows"},
    .late = true,
    .sum = FORCES,
    .fuses = true,
    .rungs = true,
    .planes = 6,
    .begin = nbody_integrate_begin,
    .update = leapfrog_update,
    .reference = leapfrog_reference,
};
