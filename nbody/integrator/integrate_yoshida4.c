/* integrate_yoshida4.c - 4th-order composition of three leapfrog steps (Yoshida 1990, Phys. Lett. A
 * 150, 262).
 *
 * The steps are w1, w0 and w1 times dt, with 2 w1 + w0 = 1 and 2 w1^3 + w0^3 = 0, so that third-
 * order errors cancel. The middle step goes back in time. The kernels are leapfrog's.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/host.h"
#include "nbody/integrator/stepping.h"

EMBEDDED(source, "nbody/integrator/integrate_leapfrog.cl", nbody_integrator_integrate_leapfrog_cl);

enum { STAGES = 3 };
static const double weight[STAGES] = {1.3512071919596578, -1.7024143839193153, 1.3512071919596578};

static const double yoshida4_ends[STAGES] = {1.3512071919596578, -0.3512071919596575, 1};

static int yoshida4_update(struct nbody *nb, struct nbody_device *p, cl_uint count,
                           const struct update *u)
{
    const double dt = nbody_engine_dt(nb);
    return nbody_leapfrog_update(nb, p, count, u, weight[u->stage] * dt,
                                 weight[(u->stage + 1) % STAGES] * dt);
}

static void yoshida4_reference(const struct nbody_ref_system *s, double dt, size_t steps, double *x,
                               double *v, double *work)
{
    const size_t m = 3 * s->n;
    double *a = work;
    nbody_ref_accelerations(s, x, a);
    for (size_t k = 0; k < STAGES * steps; k++) {
        nbody_ref_add(m, v, weight[k % STAGES] * dt / 2, a);
        nbody_ref_add(m, x, weight[k % STAGES] * dt, v);
        nbody_ref_accelerations(s, x, a);
        nbody_ref_add(m, v, weight[k % STAGES] * dt / 2, a);
    }
}

static void yoshida4_few_steps(const struct host_bodies *b, double dt, size_t steps)
{
    for (size_t k = 0; k < STAGES * steps; k++)
        nbody_host_leapfrog(b, weight[k % STAGES] * dt);
}

static const struct host_scheme yoshida4_few = {.begin = nbody_host_begin,
                                                .steps = yoshida4_few_steps};

const struct integrator nbody_integrate_yoshida4 = {
    .info =
        {.name = "yoshida4",
         .about =
             "of 4th order and symplectic, three evaluations a step: for precise orbits over long times",
         .order = 4},
    .source = &source,
    .kernels = {"leapfrog"},
    .sum = FORCES,
    .stages = STAGES,
    .fuses = true,
    .added = ADDED_OF_POSITION,
    .ends = yoshida4_ends,
    .planes = 6,
    .begin = nbody_integrate_begin,
    .update = yoshida4_update,
    .few = &yoshida4_few,
    .reference = yoshida4_reference,
};
