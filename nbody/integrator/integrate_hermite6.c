/* integrate_hermite6.c - Hermite's 6th-order scheme, one evaluation a step (Nitadori & Makino
 * 2008).
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/host_lanes.h"
#include "nbody/integrator/stepping.h"

EMBEDDED(source, "nbody/integrator/integrate_hermite6.cl", nbody_integrator_integrate_hermite6_cl);

enum { HERMITE6, SYNCHRONIZE };

static int hermite6_update(struct nbody *nb, struct nbody_device *p, cl_uint count,
                           const struct update *u)
{
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows;
    return nbody_device_launch_1d(nb, p, nb->integration.update[HERMITE6], p->count, 3,
                                  ARGS(nb->particles.posm, nb->particles.velo, nb->particles.acce,
                                       p->state, p->force.partial, first, rows, count,
                                       p->force.npartial, u->phases, REAL(nb, nbody_engine_dt(nb)),
                                       p->bad, u->step));
}

static int hermite6_start_synchronize(struct nbody *nb, struct nbody_device *p)
{
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, count = (cl_uint)p->count;
    return nbody_device_launch_1d(nb, p, nb->integration.update[SYNCHRONIZE], p->count, 3,
                                  ARGS(nb->particles.posm, nb->particles.velo, nb->particles.acce,
                                       p->state, first, rows, count));
}

/* A coordinate and its derivatives. */
enum { X, V, A, J, S, K, DERIVATIVES };

static void hermite6_predict(double h, const double *d, double *to)
{
    to[X] = d[X] + h * (d[V] + h / 2 * (d[A] + h / 3 * (d[J] + h / 4 * (d[S] + h / 5 * d[K]))));
    to[V] = d[V] + h * (d[A] + h / 2 * (d[J] + h / 3 * (d[S] + h / 4 * d[K])));
    to[A] = d[A] + h * (d[J] + h / 2 * (d[S] + h / 3 * d[K]));
}

/* Correct d with the new a, j, s: v and x by Hermite's formulas, the third derivative of a by the
 * fifth-degree polynomial through both ends. */
static void hermite6_correct(double h, double *d, double a, double j, double s)
{
    const double v =
        d[V] + h / 2 * (d[A] + a) - h * h / 10 * (j - d[J]) + h * h * h / 120 * (d[S] + s);
    d[X] += h / 2 * (d[V] + v) - h * h / 10 * (a - d[A]) + h * h * h / 120 * (d[J] + j);
    d[K] = (60 * (a - d[A]) - h * (24 * d[J] + 36 * j) - h * h * (3 * d[S] - 9 * s)) / (h * h * h);
    d[V] = v;
    d[A] = a;
    d[J] = j;
    d[S] = s;
}

static void hermite6_reference(const struct nbody_ref_system *s, double dt, size_t steps, double *x,
                               double *v, double *work)
{
    const size_t m = 3 * s->n;
    double *const own = calloc((DERIVATIVES + 6) * m, sizeof *own),
                  *to[6]; /* `work` is too small */
    double(*d)[DERIVATIVES] = (double(*)[DERIVATIVES])own;
    (void)work;
    for (size_t k = 0; own && k < 6; k++)
        to[k] = own + (DERIVATIVES + k) * m; /* predicted x, v, a; then a, j, s there */
    if (!own)
        return;
    for (int k = 0; k < 2; k++) { /* snaps need the accelerations of all bodies */
        nbody_ref_snaps(s, x, v, to[2], to[3], to[4], to[5]);
        memcpy(to[2], to[3], m * sizeof *x);
    }
    for (size_t i = 0; i < m; i++) {
        const double start[DERIVATIVES] = {x[i], v[i], to[3][i], to[4][i], to[5][i], 0};
        memcpy(d[i], start, sizeof start);
    }
    while (steps-- > 0) {
        for (size_t i = 0; i < m; i++) {
            double p[3];
            hermite6_predict(dt, d[i], p);
            for (int k = X; k <= A; k++)
                to[k][i] = p[k];
        }
        nbody_ref_snaps(s, to[0], to[1], to[2], to[3], to[4], to[5]);
        for (size_t i = 0; i < m; i++)
            hermite6_correct(dt, d[i], to[3][i], to[4][i], to[5][i]);
    }
    for (size_t i = 0; i < m; i++) {
        x[i] = d[i][X];
        v[i] = d[i][V];
    }
    free(own);
}

/* ---- Few bodies on the host. ----------------------------------------------------------------- */

/* Planes of the state after the positions: derivatives of the acceleration; and of the scratch
 * memory. */
enum { H6_JERK = 9, H6_SNAP = 12, H6_CRACKLE = 15 };
enum { H6_XP = 0, H6_VP = 3, H6_AP = 6, H6_A1 = 9, H6_J1 = 12, H6_S1 = 15, H6_SCRATCH = 18 };

/* Snaps need the accelerations of all bodies, which the first evaluation computes. */
static void hermite6_few_begin(const struct host_bodies *b, double dt)
{
    const size_t m = b->stride;
    double *const w = b->scratch + H6_AP * m;
    (void)dt;
    memset(w, 0, 3 * m * sizeof *w);
    memset(b->planes + H6_CRACKLE * m, 0, 3 * m * sizeof *w);
    for (int k = 0; k < 2; k++) {
        nbody_host_derive(b, &(struct host_derivatives){.x = b->x,
                                                        .v = b->v,
                                                        .w = w,
                                                        .a = b->a,
                                                        .jerk = b->planes + H6_JERK * m,
                                                        .snap = b->planes + H6_SNAP * m});
        memcpy(w, b->a, 3 * m * sizeof *w);
    }
}

CLONES static void hermite6_few_predict(const struct host_bodies *b, double h)
{
    const size_t m = b->stride;
    for (size_t k = 0; k < 3 * m; k += HOST_LANES) {
        const lanes x = LOAD(b->x + k), v = LOAD(b->v + k), a = LOAD(b->a + k),
                    j = LOAD(b->planes + H6_JERK * m + k), s = LOAD(b->planes + H6_SNAP * m + k),
                    c = LOAD(b->planes + H6_CRACKLE * m + k);
        STORE(b->scratch + H6_XP * m + k,
              x + h * (v + h / 2 * (a + h / 3 * (j + h / 4 * (s + h / 5 * c)))));
        STORE(b->scratch + H6_VP * m + k, v + h * (a + h / 2 * (j + h / 3 * (s + h / 4 * c))));
        STORE(b->scratch + H6_AP * m + k, a + h * (j + h / 2 * (s + h / 3 * c)));
    }
}

/* As the kernel hermite6. */
CLONES static void hermite6_few_correct(const struct host_bodies *b, double h)
{
    const size_t m = b->stride;
    const double half = h / 2;
    for (size_t k = 0; k < 3 * m; k += HOST_LANES) {
        double *const jerk = b->planes + H6_JERK * m + k, *const snap = jerk + 3 * m,
                      *const crackle = snap + 3 * m;
        const lanes a0 = LOAD(b->a + k), j0 = LOAD(jerk), s0 = LOAD(snap), v0 = LOAD(b->v + k),
                    a = LOAD(b->scratch + H6_A1 * m + k), j = LOAD(b->scratch + H6_J1 * m + k),
                    s = LOAD(b->scratch + H6_S1 * m + k);
        const lanes v = v0 + half * ((a0 + a) - h / 5 * ((j - j0) - h / 12 * (s0 + s)));
        const lanes am = a - a0, jp = half * (j + j0), jm = half * (j - j0),
                    sp = half * half * (s + s0), sm = half * half * (s - s0);
        const lanes f3 = (-5 * am + 5 * jp - sm) / 8, f4 = (sp - jm) / 16,
                    f5 = (3 * am - 3 * jp + sm) / 16;
        STORE(b->x + k, LOAD(b->x + k) + half * ((v0 + v) - h / 5 * (am - h / 12 * (j0 + j))));
        STORE(b->v + k, v);
        STORE(b->a + k, a);
        STORE(jerk, j);
        STORE(snap, s);
        STORE(crackle, (6 * f3 + 24 * f4 + 60 * f5) / (half * half * half));
    }
}

static void hermite6_few_steps(const struct host_bodies *b, double dt, size_t steps)
{
    const size_t m = b->stride;
    const struct host_derivatives d = {.x = b->scratch + H6_XP * m,
                                       .v = b->scratch + H6_VP * m,
                                       .w = b->scratch + H6_AP * m,
                                       .a = b->scratch + H6_A1 * m,
                                       .jerk = b->scratch + H6_J1 * m,
                                       .snap = b->scratch + H6_S1 * m};
    for (; steps > 0; steps--) {
        hermite6_few_predict(b, dt);
        nbody_host_derive(b, &d);
        hermite6_few_correct(b, dt);
    }
}

static const struct host_scheme hermite6_few = {
    .scratch = H6_SCRATCH, .begin = hermite6_few_begin, .steps = hermite6_few_steps};

const struct integrator nbody_integrate_hermite6 = {
    .info =
        {.name = "hermite6",
         .about =
             "of 6th order, from forces and two time derivatives: for few bodies and very precise orbits",
         .order = 6,
         .derivatives = 2},
    .source = &source,
    .kernels = {[HERMITE6] = "hermite6", [SYNCHRONIZE] = "hermite6_synchronize"},
    .sum = SNAPS,
    .planes = 18,
    .keeps_sums = true,
    .begin = nbody_integrate_begin,
    .update = hermite6_update,
    .synchronize = hermite6_start_synchronize,
    .few = &hermite6_few,
    .reference = hermite6_reference,
};
