/* integrate_hermite4.c - Hermite's 4th-order scheme, one evaluation a step (Makino & Aarseth 1992).
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/stepping.h"

EMBEDDED(source, "nbody/integrator/integrate_hermite4.cl", nbody_integrator_integrate_hermite4_cl);

enum { HERMITE4, SYNCHRONIZE };

static int hermite4_update(struct nbody *nb, struct nbody_device *p, cl_uint count,
                           const struct update *u)
{
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows;
    return nbody_device_launch_1d(nb, p, nb->integration.update[HERMITE4], p->count, 3,
                                  ARGS(nb->particles.posm, nb->particles.velo, p->state,
                                       p->force.partial, first, rows, count, p->force.npartial,
                                       u->phases, REAL(nb, nbody_engine_dt(nb)), p->bad, u->step));
}

static int hermite4_start_synchronize(struct nbody *nb, struct nbody_device *p)
{
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, count = (cl_uint)p->count;
    return nbody_device_launch_1d(
        nb, p, nb->integration.update[SYNCHRONIZE], p->count, 3,
        ARGS(nb->particles.posm, nb->particles.velo, p->state, first, rows, count));
}

static void hermite4_reference(const struct nbody_ref_system *s, double dt, size_t steps, double *x,
                               double *v, double *work)
{
    const size_t m = 3 * s->n;
    double *a = work, *j = a + m, *a1 = j + m, *j1 = a1 + m;
    nbody_ref_jerks(s, x, v, a, j);
    while (steps-- > 0) {
        for (size_t i = 0; i < m; i++) {
            x[i] += dt * (v[i] + dt / 2 * (a[i] + dt / 3 * j[i]));
            v[i] += dt * (a[i] + dt / 2 * j[i]);
        }
        nbody_ref_jerks(s, x, v, a1, j1);
        for (size_t i = 0; i < m; i++) {
            double a2 = (-6 * (a[i] - a1[i]) - dt * (4 * j[i] + 2 * j1[i])) / (dt * dt);
            double a3 = (12 * (a[i] - a1[i]) + 6 * dt * (j[i] + j1[i])) / (dt * dt * dt);
            x[i] += dt * dt * dt * dt / 24 * (a2 + dt / 5 * a3);
            v[i] += dt * dt * dt / 6 * (a2 + dt / 4 * a3);
            a[i] = a1[i];
            j[i] = j1[i];
        }
    }
}

const struct integrator nbody_integrate_hermite4 = {
    .info =
        {.name = "hermite4",
         .about =
             "of 4th order, from forces and their time derivatives: for few bodies and precise orbits",
         .order = 4,
         .derivatives = 1},
    .source = &source,
    .kernels = {[HERMITE4] = "hermite4", [SYNCHRONIZE] = "hermite4_synchronize"},
    .sum = JERKS,
    .planes = 12,
    .keeps_sums = true,
    .block_steps = true,
    .begin = nbody_integrate_begin,
    .update = hermite4_update,
    .synchronize = hermite4_start_synchronize,
    .reference = hermite4_reference,
};
