/* ensemble_ias15.cl - many planetary systems at once, a work-item each: Gauss-Radau steps of 15th
 * order that choose their own length (Everhart 1985; Rein & Spiegel 2015, MNRAS 446, 1424), for
 * close encounters and orbits to rounding.
 *
 *   state[c * systems + i]    component c of system i: for each body, the star too, 3 coordinates
 *   and 3 of velocity from where its
 *                             centre of mass is and how that moves
 *   gm[c * systems + i]       G m: the star, then the planets
 *
 * A step of dt is made of as many steps as each system takes, and begins anew from positions and
 * velocities alone. The plain-C twin, where the scheme is told, is integrate_ias15.c. A system
 * whose steps vanish, since two of its bodies meet, is NAN from then on.
 * SPDX-License-Identifier: MIT
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#ifndef PLANETS
#define PLANETS 2 /* of a system */
#endif
#define BODIES (PLANETS + 1)
#define M (3 * BODIES)
#define PLACES 7
#define ITERATIONS 12
#define ROUNDING 1e-16 /* changes of b that are none */

/* Where accelerations are known, as parts of a step: zeros of a Radau polynomial. */
constant double place[PLACES + 1] = {0,
                                     0.0562625605369221464656521910318,
                                     0.180240691736892364987579942780,
                                     0.352624717113169637373907769648,
                                     0.547153626330555383001448554766,
                                     0.734210177215410531523210605558,
                                     0.885320946839095768090359771030,
                                     0.977520613561287501891174488626};

/* c[j]: the coefficients of (h - h1) ... (h - hj), by which b follows from g. */
struct system {
    double gm[BODIES], x[M], v[M], lost_x[M], lost_v[M], a0[M], a[M], at[M], b[PLACES][M],
        g[PLACES][M], c[PLACES][PLACES];
};

static void find_c(struct system *s)
{
    for (int j = 0; j < PLACES; j++)
        for (int k = 0; k < PLACES; k++)
            s->c[j][k] = j == 0 && k == 0;
    for (int j = 1; j < PLACES; j++)
        for (int k = 0; k <= j; k++)
            s->c[j][k] = (k > 0 ? s->c[j - 1][k - 1] : 0) - (k < j ? place[j] * s->c[j - 1][k] : 0);
}

static void pulls(const struct system *s, const double *x, double *a)
{
    for (int k = 0; k < M; k++)
        a[k] = 0;
    for (int p = 1; p < BODIES; p++)
        for (int q = 0; q < p; q++) {
            const double dx = x[3 * q] - x[3 * p], dy = x[3 * q + 1] - x[3 * p + 1],
                         dz = x[3 * q + 2] - x[3 * p + 2];
            const double r2 = fma(dx, dx, fma(dy, dy, dz * dz)), r3 = r2 * sqrt(r2),
                         to = s->gm[q] / r3, from = -s->gm[p] / r3;
            a[3 * p] = fma(to, dx, a[3 * p]), a[3 * p + 1] = fma(to, dy, a[3 * p + 1]),
                  a[3 * p + 2] = fma(to, dz, a[3 * p + 2]);
            a[3 * q] = fma(from, dx, a[3 * q]), a[3 * q + 1] = fma(from, dy, a[3 * q + 1]),
                  a[3 * q + 2] = fma(from, dz, a[3 * q + 2]);
        }
}

static double largest(const double *x)
{
    double most = 0;
    for (int k = 0; k < M; k++)
        most = fabs(x[k]) <= most ? most : fabs(x[k]); /* NaN counts */
    return most;
}

static void add(double *x, double *lost, double y)
{
    const double sum = *x + (y + *lost);
    *lost = (y + *lost) - (sum - *x);
    *x = sum;
}

static double shift(const struct system *s, int k, double h, double T)
{
    double sum = 0;
    for (int j = PLACES - 1; j >= 0; j--)
        sum = (sum + s->b[j][k] / ((j + 2) * (j + 3))) * h;
    return (sum + s->a0[k] / 2) * (h * T) * (h * T);
}

static double take(struct system *s, int n)
{
    double most = 0;
    for (int k = 0; k < M; k++) {
        double g = (s->a[k] - s->a0[k]) / place[n];
        for (int j = 1; j < n; j++)
            g = (g - s->g[j - 1][k]) / (place[n] - place[j]);
        const double change = g - s->g[n - 1][k];
        s->g[n - 1][k] = g;
        for (int j = 0; j < n; j++)
            s->b[j][k] += change * s->c[n - 1][j];
        most = fmax(most, fabs(change));
    }
    return most;
}

static void solve(struct system *s, double T)
{
    double before = INFINITY;
    for (int i = 0; i < ITERATIONS; i++) {
        double change = 0;
        for (int n = 1; n <= PLACES; n++) {
            for (int k = 0; k < M; k++)
                s->at[k] =
                    s->x[k] + (place[n] * T * s->v[k] + (shift(s, k, place[n], T) + s->lost_x[k]));
            pulls(s, s->at, s->a);
            change = take(s, n);
        }
        change /= largest(s->a);
        if (change < ROUNDING || (i > 1 && change >= before))
            return;
        before = change;
    }
}

/* The length that would have been right: the last term 1e-9 of the largest acceleration. */
static double better(const struct system *s, double T)
{
    const double last = largest(s->b[PLACES - 1]), all = largest(s->a);
    if (!isfinite(last) || !isfinite(all))
        return NAN;
    return last > 0 && all > 0 ? T * fmin(pow(1e-9 * all / last, 1. / 7), 4.) : 4 * T;
}

static void advance(struct system *s, double T)
{
    for (int k = 0; k < M; k++) {
        double kick = 0;
        for (int j = PLACES - 1; j >= 0; j--)
            kick += s->b[j][k] / (j + 2);
        add(&s->x[k], &s->lost_x[k], T * s->v[k] + (T * s->lost_v[k] + shift(s, k, 1, T)));
        add(&s->v[k], &s->lost_v[k], T * (s->a0[k] + kick));
    }
}

static void predict(struct system *s, double ratio)
{
    for (int k = 0; k < M; k++) {
        double power = 1;
        for (int i = 0; i < PLACES; i++) {
            double sum = 0, binomial = 1; /* (j + 1 over i + 1) */
            for (int j = i; j < PLACES; j++) {
                sum += binomial * s->b[j][k];
                binomial *= (double)(j + 2) / (j + 1 - i);
            }
            s->b[i][k] = (power *= ratio) * sum;
        }
        for (int j = PLACES - 1; j >= 0; j--) {
            s->g[j][k] = s->b[j][k];
            for (int i = j + 1; i < PLACES; i++)
                s->g[j][k] -= s->c[i][j] * s->g[i][k];
        }
    }
}

static void forget(struct system *s)
{
    for (int j = 0; j < PLACES; j++)
        for (int k = 0; k < M; k++)
            s->b[j][k] = s->g[j][k] = 0;
}

/* Advances by the time t; false where steps vanish. */
static bool run(struct system *s, double t)
{
    double done = 0, T = t;
    for (int k = 0; k < M; k++)
        s->lost_x[k] = s->lost_v[k] = 0;
    forget(s);
    while (fabs(done) < fabs(t)) {
        const bool last = fabs(T) >= fabs(t - done);
        const double step = last ? t - done : T;
        pulls(s, s->x, s->a0);
        solve(s, step);
        T = better(s, step);
        if (!(fabs(T) >= 1e-15 * fabs(t)))
            return false;
        if (fabs(T) < 0.25 * fabs(step)) {
            forget(s);
            continue;
        }
        advance(s, step);
        done = last ? t : done + step;
        predict(s, T / step);
    }
    return true;
}

kernel void ensemble(global double *state, global const double *gms, uint systems, double h,
                     uint steps)
{
    const size_t i = get_global_id(0), n = systems;
    if (i >= n)
        return;
    struct system s;
    bool good = true;
    find_c(&s);
    for (int b = 0; b < BODIES; b++) {
        s.gm[b] = gms[b * n + i];
        for (int c = 0; c < 3; c++) {
            s.x[3 * b + c] = state[(6 * b + c) * n + i];
            s.v[3 * b + c] = state[(6 * b + 3 + c) * n + i];
        }
    }
    for (uint k = 0; k < steps && good; k++)
        good = run(&s, h);
    for (int b = 0; b < BODIES; b++)
        for (int c = 0; c < 3; c++) {
            state[(6 * b + c) * n + i] = good ? s.x[3 * b + c] : NAN;
            state[(6 * b + 3 + c) * n + i] = good ? s.v[3 * b + c] : NAN;
        }
}
