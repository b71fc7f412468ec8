/* integrate_leapfrog.c - kick-drift-kick leapfrog, the default integrator.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/host.h"
#include "nbody/integrator/stepping.h"

EMBEDDED(source, "nbody/integrator/integrate_leapfrog.cl", nbody_integrator_integrate_leapfrog_cl);

int nbody_leapfrog_update(struct nbody *nb, struct nbody_device *p, cl_uint count,
                          const struct update *u, double closing_dt, double opening_dt)
{
    const cl_uint first = nbody_posm_first(p), rows = (cl_uint)p->rows;
    if (u->phases & FUSED)
        return nbody_forces_step(nb, p, count > 0, u,
                                 ARGS(nb->particles.moved, p->state, count, u->phases,
                                      REAL(nb, closing_dt), REAL(nb, opening_dt), p->bad, u->step));
    return nbody_device_launch_1d(
        nb, p, nb->integration.update[0], p->count, p->force.npartial > 1 ? 3 : 1,
        ARGS(nbody_posm(nb, p), p->state, p->force.partial, first, rows, count, p->force.npartial,
             u->phases, REAL(nb, closing_dt), REAL(nb, opening_dt), p->bad, u->step));
}

static int leapfrog_update(struct nbody *nb, struct nbody_device *p, cl_uint count,
                           const struct update *u)
{
    const double dt = nbody_engine_dt(nb);
    return nbody_leapfrog_update(nb, p, count, u, dt, dt);
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

static void leapfrog_few_steps(const struct host_bodies *b, double dt, size_t steps)
{
    while (steps-- > 0)
        nbody_host_leapfrog(b, dt);
}

static const struct host_scheme leapfrog_few = {.begin = nbody_host_begin,
                                                .steps = leapfrog_few_steps};

const struct integrator nbody_integrate_leapfrog = {
    .info = {.name = "leapfrog",
             .about = "of 2nd order and symplectic: the error of the energy stays bounded",
             .order = 2},
    .source = &source,
    .kernels = {"leapfrog"},
    .sum = FORCES,
    .fuses = true,
    .rungs = true,
    .added = ADDED_OF_VELOCITY,
    .planes = 6,
    .begin = nbody_integrate_begin,
    .update = leapfrog_update,
    .few = &leapfrog_few,
    .reference = leapfrog_reference,
};
