/* integrate_taylor.c - the first-order scheme of the classic OpenCL tutorial, for comparison.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"
#include "nbody/integrator/host.h"

EMBEDDED(source, "nbody/integrator/integrate_taylor.cl", nbody_integrator_integrate_taylor_cl);

static const double taylor_ends[] = {0};

static int taylor_update(struct nbody *nb, struct nbody_device *p, cl_uint count,
                         const struct update *u)
{
    const cl_uint first = nbody_posm_first(p), rows = (cl_uint)p->rows;
    return nbody_device_launch_1d(nb, p, nb->integration.update[0], p->count, 3,
                                  ARGS(nbody_posm(nb, p), p->state, p->force.partial, first, rows,
                                       count, p->force.npartial, u->phases,
                                       REAL(nb, nbody_engine_dt(nb)), p->bad, u->step));
}

static void taylor_reference(const struct nbody_ref_system *s, double dt, size_t steps, double *x,
                             double *v, double *work)
{
    const size_t m = 3 * s->n;
    double *a = work;
    while (steps-- > 0) {
        nbody_ref_accelerations(s, x, a);
        nbody_ref_add(m, x, dt, v);
        nbody_ref_add(m, x, dt * dt / 2, a);
        nbody_ref_add(m, v, dt, a);
    }
}

static void taylor_few_steps(const struct host_bodies *b, double dt, size_t steps)
{
    while (steps-- > 0) {
        for (size_t k = 0; k < 3 * b->stride; k++) {
            b->x[k] += b->v[k] * dt + b->a[k] * (dt * dt / 2);
            b->v[k] += b->a[k] * dt;
        }
        nbody_host_added_move(b, dt);
        nbody_host_accelerate(b);
    }
}

static const struct host_scheme taylor_few = {.begin = nbody_host_begin, .steps = taylor_few_steps};

const struct integrator nbody_integrate_taylor = {
    .info = {.name = "taylor",
             .about =
                 "of 1st order, the scheme of the classic OpenCL tutorial: for comparison only",
             .order = 1},
    .source = &source,
    .kernels = {"taylor"},
    .sum = FORCES,
    .added = ADDED_OF_VELOCITY,
    .ends = taylor_ends,
    .planes = 6,
    .update = taylor_update,
    .few = &taylor_few,
    .reference = taylor_reference,
};
