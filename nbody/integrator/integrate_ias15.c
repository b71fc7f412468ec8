/* integrate_ias15.c - IAS15: Gauss-Radau steps of 15th order and adaptive length (Everhart 1985;
 * Rein & Spiegel 2015, MNRAS 446, 1424), in double precision on the host, for few bodies.
 *
 * Over a step of length T the acceleration is a0 + b1 h + b2 h^2 + ... + b7 h^7 with h = time / T.
 * It is evaluated at h = 0 and at the seven Gauss-Radau nodes, at positions that follow from
 * integrating the polynomial twice. The coefficients b are therefore found by iteration to
 * convergence. If the last term is too large, the step is repeated with a shorter length.
 *
 * A step dt of the engine is divided into these adaptive steps and starts from positions and
 * velocities alone, so that results depend neither on where calls end nor on earlier steps.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/stepping.h"

#include <math.h>

EMBEDDED(source, "nbody/integrator/integrate_leapfrog.cl", nbody_integrator_integrate_leapfrog_cl);

enum { PLACES = 7, ITERATIONS = 12 };

/* Nodes as fractions of the step: zeros of a Radau polynomial. */
static const double place[PLACES + 1] = {0,
                                         0.0562625605369221464656521910318,
                                         0.180240691736892364987579942780,
                                         0.352624717113169637373907769648,
                                         0.547153626330555383001448554766,
                                         0.734210177215410531523210605558,
                                         0.885320946839095768090359771030,
                                         0.977520613561287501891174488626};

static const double ACCURACY = 1e-9;  /* last term relative to the largest acceleration */
static const double SHORTER = 0.25;   /* repeat a step if the next would be shorter by this */
static const double ROUNDING = 1e-16; /* relative change of b at convergence */

/* Working memory of a step; arrays of m = 3 n numbers. */
struct radau {
    const struct nbody_ref_system *s;
    size_t m;
    double *x, *v, *lost_x, *lost_v; /* state; rounding errors of its sums (Kahan) */
    double *a0, *a, *at;             /* acceleration at begin and at a node; positions there */
    double *b[PLACES], *g[PLACES];   /* polynomial coefficients; divided differences */
    double c[PLACES][PLACES];        /* b[k] = sum over j >= k of c[j][k] g[j] */
    double evaluations;
};

enum { ARRAYS = 5 + 2 * PLACES }; /* without x and v */

/* c[j] holds the coefficients of (h - h1) ... (h - hj), since a = a0 + g0 h + g1 h (h - h1) + ...
 */
static void radau_find_c(struct radau *r)
{
    memset(r->c, 0, sizeof r->c);
    r->c[0][0] = 1;
    for (int j = 1; j < PLACES; j++)
        for (int k = 0; k <= j; k++)
            r->c[j][k] = (k > 0 ? r->c[j - 1][k - 1] : 0) - (k < j ? place[j] * r->c[j - 1][k] : 0);
}

static void radau_open(struct radau *r, const struct nbody_ref_system *s, double *x, double *v,
                       double *memory)
{
    double **const each[] = {&r->lost_x, &r->lost_v, &r->a0, &r->a, &r->at};
    *r = (struct radau){.s = s, .m = 3 * s->n, .x = x, .v = v};
    for (size_t i = 0; i < COUNT_OF(each); i++, memory += r->m)
        *each[i] = memory;
    for (int k = 0; k < PLACES; k++, memory += 2 * r->m) {
        r->b[k] = memory;
        r->g[k] = memory + r->m;
    }
    radau_find_c(r);
}

static void radau_accelerate(struct radau *r, const double *x, double *a)
{
    nbody_ref_accelerations(r->s, x, a);
    r->evaluations++;
}

static double radau_max_abs(size_t m, const double *x)
{
    double most = 0;
    for (size_t i = 0; i < m; i++)
        most = fabs(x[i]) <= most ? most : fabs(x[i]); /* NaN counts */
    return most;
}

/* Kahan summation: x += y, with the rounding error carried in *lost. */
static void radau_add_compensated(double *x, double *lost, double y)
{
    const double sum = *x + (y + *lost);
    *lost = (y + *lost) - (sum - *x);
    *x = sum;
}

/* Displacement over a fraction h of a step T, beyond v h T: (a0 / 2 + b1 h / 6 + ... + b7 h^7 /
 * 72) (h T)^2. */
static double radau_displacement(const struct radau *r, size_t i, double h, double T)
{
    double sum = 0;
    for (int k = PLACES - 1; k >= 0; k--)
        sum = (sum + r->b[k][i] / ((k + 2) * (k + 3))) * h;
    return (sum + r->a0[i] / 2) * (h * T) * (h * T);
}

/* Update g[n - 1] from the acceleration at node n by divided differences, and b from it. Return
 * the largest change of b7. */
static double radau_refine(struct radau *r, int n)
{
    double most = 0;
    for (size_t i = 0; i < r->m; i++) {
        double g = (r->a[i] - r->a0[i]) / place[n];
        for (int k = 1; k < n; k++)
            g = (g - r->g[k - 1][i]) / (place[n] - place[k]);
        const double change = g - r->g[n - 1][i];
        r->g[n - 1][i] = g;
        for (int k = 0; k < n; k++)
            r->b[k][i] += change * r->c[n - 1][k];
        most = fmax(most, fabs(change));
    }
    return most;
}

/* Iterate b to convergence for a step T. */
static void radau_solve(struct radau *r, double T)
{
    double before = INFINITY;
    for (int k = 0; k < ITERATIONS; k++) {
        double change = 0;
        for (int n = 1; n <= PLACES; n++) {
            for (size_t i = 0; i < r->m; i++)
                r->at[i] = r->x[i] + (place[n] * T * r->v[i] +
                                      (radau_displacement(r, i, place[n], T) + r->lost_x[i]));
            radau_accelerate(r, r->at, r->a);
            change = radau_refine(r, n);
        }
        change /= radau_max_abs(r->m, r->a);
        if (change < ROUNDING || (k > 1 && change >= before))
            return;
        before = change;
    }
}

/* Return the step length at which the last term meets ACCURACY, at most 4 T. */
static double radau_next_length(const struct radau *r, double T)
{
    const double last = radau_max_abs(r->m, r->b[PLACES - 1]), all = radau_max_abs(r->m, r->a);
    if (!(last > 0) || !(all > 0))
        return 4 * T;
    const double factor = pow(ACCURACY * all / last, 1. / 7);
    return T * fmin(factor, 4);
}

/* Advance the state to the end of the step. */
static void radau_advance(struct radau *r, double T)
{
    for (size_t i = 0; i < r->m; i++) {
        double kick = 0;
        for (int k = PLACES - 1; k >= 0; k--)
            kick += r->b[k][i] / (k + 2);
        radau_add_compensated(&r->x[i], &r->lost_x[i],
                              T * r->v[i] + (T * r->lost_v[i] + radau_displacement(r, i, 1, T)));
        radau_add_compensated(&r->v[i], &r->lost_v[i], T * (r->a0[i] + kick));
    }
}

/* Predict b of a step of `ratio` times the previous length: the same polynomial, expanded about
 * its end. */
static void radau_predict(struct radau *r, double ratio)
{
    for (size_t i = 0; i < r->m; i++) {
        double power = 1;
        for (int k = 0; k < PLACES; k++) {
            double sum = 0, binomial = 1; /* (j + 1 over k + 1) */
            for (int j = k; j < PLACES; j++) {
                sum += binomial * r->b[j][i];
                binomial *= (double)(j + 2) / (j + 1 - k);
            }
            r->b[k][i] = (power *= ratio) * sum;
        }
        for (int j = PLACES - 1; j >= 0; j--) { /* g from b, by inverting c */
            r->g[j][i] = r->b[j][i];
            for (int k = j + 1; k < PLACES; k++)
                r->g[j][i] -= r->c[k][j] * r->g[k][i];
        }
    }
}

static void radau_reset(struct radau *r)
{
    for (int k = 0; k < PLACES; k++) {
        memset(r->b[k], 0, r->m * sizeof *r->b[k]);
        memset(r->g[k], 0, r->m * sizeof *r->g[k]);
    }
}

/* Advance by the time t. */
static enum host_end radau_run(struct radau *r, double t)
{
    double done = 0, T = t;
    while (fabs(done) < fabs(t)) {
        const bool last = fabs(T) >= fabs(t - done);
        const double step = last ? t - done : T;
        radau_accelerate(r, r->x, r->a0);
        radau_solve(r, step);
        const double right = radau_next_length(r, step);
        if (!isfinite(right))
            return HOST_NOT_FINITE;
        if (fabs(right) < 1e-15 * fabs(t))
            return HOST_VANISHES;
        T = right;
        if (fabs(right) < SHORTER * fabs(step)) {
            radau_reset(r);
            continue;
        }
        radau_advance(r, step);
        done = last ? t : done + step;
        radau_predict(r, right / step);
    }
    return HOST_DONE;
}

static enum host_end ias15_step(const struct nbody_ref_system *s, double dt, double *x, double *v,
                                double *memory, double *evaluations)
{
    struct radau r;
    radau_open(&r, s, x, v, memory);
    memset(r.lost_x, 0, r.m * sizeof *r.lost_x);
    memset(r.lost_v, 0, r.m * sizeof *r.lost_v);
    radau_reset(&r);
    const enum host_end end = radau_run(&r, dt);
    *evaluations += r.evaluations;
    return end;
}

/* Queries run on the devices and use leapfrog's kernel to reduce sums. */
static int ias15_update(struct nbody *nb, struct nbody_device *p, cl_uint count,
                        const struct update *u)
{
    return nbody_leapfrog_update(nb, p, count, u, 0, 0);
}

/* An independent method: extrapolation in long double. */
static void ias15_reference(const struct nbody_ref_system *s, double dt, size_t steps, double *x,
                            double *v, double *work)
{
    (void)work;
    (void)nbody_ref_exact_in(s, dt * (double)steps, 1e-15, (double(*)[3])x, (double(*)[3])v);
}

const struct integrator nbody_integrate_ias15 = {
    .info =
        {.name = "ias15",
         .about =
             "of 15th order, on the host in double precision, and chooses its steps within a step: for few bodies, "
             "close encounters and orbits to rounding",
         .order = 15},
    .source = &source,
    .kernels = {"leapfrog"},
    .sum = FORCES,
    .planes = 6,
    .update = ias15_update,
    .host = ias15_step,
    .host_planes = ARRAYS,
    .reference = ias15_reference,
};
