/* integrate_hermite4.c - Hermite's 4th-order scheme, one evaluation a step (Makino & Aarseth 1992).
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/host_lanes.h"
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

/* ---- Few bodies on the host. ----------------------------------------------------------------- */

/* Planes of the state after the positions, and of the scratch memory. */
enum { H4_JERK = 9, H4_WANTED = 12 };
enum { H4_XP = 0, H4_VP = 3, H4_A1 = 6, H4_J1 = 9, H4_SCRATCH = 12 };

static void hermite4_few_begin(const struct host_bodies *b, double dt)
{
    (void)dt;
    nbody_host_derive(
        b, &(struct host_derivatives){
               .x = b->x, .v = b->v, .a = b->a, .jerk = b->planes + H4_JERK * b->stride});
}

CLONES static void hermite4_few_predict(const struct host_bodies *b, double h)
{
    const size_t m = b->stride;
    for (size_t k = 0; k < 3 * m; k += HOST_LANES) {
        const lanes x = LOAD(b->x + k), v = LOAD(b->v + k), a = LOAD(b->a + k),
                    j = LOAD(b->planes + H4_JERK * m + k);
        STORE(b->scratch + H4_XP * m + k, x + h * (v + h / 2 * (a + h / 3 * j)));
        STORE(b->scratch + H4_VP * m + k, v + h * (a + h / 2 * j));
    }
}

CLONES static void hermite4_few_correct(const struct host_bodies *b, double h)
{
    const size_t m = b->stride;
    for (size_t k = 0; k < 3 * m; k += HOST_LANES) {
        double *const jerk = b->planes + H4_JERK * m + k;
        const lanes a0 = LOAD(b->a + k), j0 = LOAD(jerk), a = LOAD(b->scratch + H4_A1 * m + k),
                    j = LOAD(b->scratch + H4_J1 * m + k), s2 = -6 * (a0 - a) - h * (4 * j0 + 2 * j),
                    s3 = 12 * (a0 - a) + 6 * h * (j0 + j);
        STORE(b->x + k, LOAD(b->scratch + H4_XP * m + k) + h * h * (s2 / 24 + s3 / 120));
        STORE(b->v + k, LOAD(b->scratch + H4_VP * m + k) + h * (s2 / 6 + s3 / 24));
        STORE(b->a + k, a);
        STORE(jerk, j);
        STORE(b->scratch + H4_XP * m + k, s2 + s3); /* h^2 and h^3 times the derivatives of j at */
        STORE(b->scratch + H4_VP * m + k, s3);      /* the end, for the next step */
    }
}

/* Length of the vector of body i in three planes. */
static double hermite4_few_size(const struct host_bodies *b, const double *plane, size_t i)
{
    const double x = plane[i], y = plane[b->stride + i], z = plane[2 * b->stride + i];
    return sqrt(x * x + (y * y + z * z));
}

/* Steps that the bodies want next, by Aarseth's criterion: at most twice the last one. */
static void hermite4_few_want(const struct host_bodies *b, double h)
{
    const size_t m = b->stride;
    for (size_t i = 0; i < b->n; i++) {
        const double a = hermite4_few_size(b, b->a, i),
                     j = fabs(h) * hermite4_few_size(b, b->planes + H4_JERK * m, i),
                     s2 = hermite4_few_size(b, b->scratch + H4_XP * m, i),
                     s3 = hermite4_few_size(b, b->scratch + H4_VP * m, i), over = a * s2 + j * j,
                     under = j * s3 + s2 * s2;
        const double want = under > 0 ? sqrt(b->eta * (over / under)) : 2;
        b->planes[H4_WANTED * m + i] = fabs(h) * (want > 2 ? 2 : want);
    }
}

static void hermite4_few_steps(const struct host_bodies *b, double dt, size_t steps)
{
    const size_t m = b->stride;
    const struct host_derivatives d = {.x = b->scratch + H4_XP * m,
                                       .v = b->scratch + H4_VP * m,
                                       .a = b->scratch + H4_A1 * m,
                                       .jerk = b->scratch + H4_J1 * m};
    for (; steps > 0; steps--) {
        hermite4_few_predict(b, dt);
        nbody_host_derive(b, &d);
        hermite4_few_correct(b, dt);
        if (b->eta > 0)
            hermite4_few_want(b, dt);
    }
}

/* A body that has made no step wants eta^1/2 / 10 of |a| / |jerk|, at most 2^-10 of the longest
 * step (as block_levels in block_steps.cl). */
static double hermite4_few_first(const struct host_bodies *b, double longest, size_t i)
{
    const double a = hermite4_few_size(b, b->a, i),
                 j = hermite4_few_size(b, b->planes + H4_JERK * b->stride, i),
                 least = longest * 0x1p-30;
    if (j > 0)
        return fmin(fmax(sqrt(b->eta) / 10 * a / j, least), longest / 1024);
    return a > 0 ? least : longest;
}

static double hermite4_few_wanted(const struct host_bodies *b, double longest)
{
    const double *const wanted = b->planes + H4_WANTED * b->stride;
    double least = longest;
    for (size_t i = 0; i < b->n; i++) {
        const double want = wanted[i] > 0 ? wanted[i] : hermite4_few_first(b, longest, i);
        least = want >= least ? least : want; /* NaN counts */
    }
    return least;
}

static const struct host_scheme hermite4_few = {.scratch = H4_SCRATCH,
                                                .begin = hermite4_few_begin,
                                                .steps = hermite4_few_steps,
                                                .wanted = hermite4_few_wanted};

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
    .few = &hermite4_few,
    .reference = hermite4_reference,
};
