/* ensemble_ias15.cl - many planetary systems at once, one per work-item: IAS15, Gauss-Radau steps
 * of 15th order and adaptive length (Everhart 1985; Rein & Spiegel 2015, MNRAS 446, 1424), for
 * close encounters.
 *
 *   state[c * systems + i]    component c of system i: for each body, including the star, 3 of the
 *                             position and 3 of the velocity, relative to the centre of mass
 *   gm[c * systems + i]       G m: the star, then the planets
 *   record                    ensemble_watch.cl
 *   tangent[c * systems + i]  with MEGNO, component c of system i: 3 numbers of each body's tangent
 *                             position, then 3 of its velocity, then WH_SUMS sums
 *
 * The host puts ensemble_lanes.cl and tangent_sums.h in front with MEGNO. A step of dt is divided
 * into adaptive steps, per system, and starts from positions and velocities alone. The scheme is
 * explained in integrate_ias15.c, its scalar reference. If a system's steps vanish in a collision,
 * its state becomes NAN.
 * SPDX-License-Identifier: MIT
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#ifndef MEGNO
#define MEGNO 0 /* 1: follow a tangent vector, after tangent_sums.h */
#endif
#ifndef PLANETS
#define PLANETS 2 /* per system */
#endif
#ifndef WATCH
#define WATCH 0 /* 1: after ensemble_watch.cl */
#define MERGE 0
#define BODIES (PLANETS + 1)
#endif
#define OWN (3 * BODIES)
#define M (OWN + MEGNO * OWN) /* numbers of bodies, and of a tangent vector after them */
#define PLACES 7
#define ITERATIONS 12
#define ETA 0.1751 /* constants as in integrate_ias15.c */
#define LAST_TERM 1e-6
#define SHORTER 0.25
#define LONGER 4.
#define CONVERGED 1e-11
#define VANISHED 1e-18

/* Nodes as fractions of the step: zeros of a Radau polynomial. */
constant double place[PLACES + 1] = {0,
                                     0.0562625605369221464656521910318,
                                     0.180240691736892364987579942780,
                                     0.352624717113169637373907769648,
                                     0.547153626330555383001448554766,
                                     0.734210177215410531523210605558,
                                     0.885320946839095768090359771030,
                                     0.977520613561287501891174488626};

/* c[j]: coefficients of (h - h1) ... (h - hj), which convert g to b. */
struct system {
    double gm[BODIES], strength[BODIES], x[M], v[M], lost_x[M], lost_v[M], a0[M], a[M], off[M],
        b[PLACES][M], g[PLACES][M], c[PLACES][PLACES];
#if MEGNO
    double sums[WH_SUMS];
#endif
#if WATCH
    struct watch watch;
    double begin; /* time of the current step of dt, since creation */
#endif
};

/* True unless the body has merged into another one. */
static bool ias15_has(const struct system *s, int b)
{
#if MERGE
    return watch_has(&s->watch, b);
#else
    return true;
#endif
}

static void ias15_find_c(struct system *s)
{
    for (int j = 0; j < PLACES; j++)
        for (int k = 0; k < PLACES; k++)
            s->c[j][k] = j == 0 && k == 0;
    for (int j = 1; j < PLACES; j++)
        for (int k = 0; k <= j; k++)
            s->c[j][k] = (k > 0 ? s->c[j - 1][k - 1] : 0) - (k < j ? place[j] * s->c[j - 1][k] : 0);
}

/* Component c of the vector from body p to body q, at the positions x + off. */
static double ias15_between(const struct system *s, int p, int q, int c)
{
    return (s->x[3 * q + c] - s->x[3 * p + c]) + (s->off[3 * q + c] - s->off[3 * p + c]);
}

#if MEGNO
/* Compute the accelerations of the tangent vector, the derivative of the bodies' along it: a pair
 * has (t - 3 d (d t) / r^2) / r^3, with distance d and the tangent vector's distance t. */
static void ias15_accelerate_tangent(const struct system *s, double *a)
{
    for (int p = 1; p < BODIES; p++)
        for (int q = 0; q < p; q++) {
            double d[3], t[3], r2 = 0, dt = 0;
            for (int c = 0; c < 3; c++) {
                d[c] = ias15_between(s, p, q, c);
                t[c] = ias15_between(s, p, q, OWN + c);
                r2 = fma(d[c], d[c], r2);
                dt = fma(d[c], t[c], dt);
            }
            const double r3 = r2 * sqrt(r2);
            for (int c = 0; c < 3; c++) {
                const double f = (t[c] - 3 * dt / r2 * d[c]) / r3;
                a[OWN + 3 * p + c] += s->gm[q] * f;
                a[OWN + 3 * q + c] -= s->gm[p] * f;
            }
        }
}
#endif

/* Compute the accelerations a at the positions x + off, and in s->strength the sums of the forces'
 * magnitudes. */
static void ias15_accelerate(struct system *s, double *a)
{
    for (int k = 0; k < M; k++)
        a[k] = 0;
    for (int p = 0; p < BODIES; p++)
        s->strength[p] = 0;
    for (int p = 1; p < BODIES; p++)
        for (int q = 0; q < p; q++) {
            if (!ias15_has(s, p) || !ias15_has(s, q))
                continue;
            const double dx = ias15_between(s, p, q, 0), dy = ias15_between(s, p, q, 1),
                         dz = ias15_between(s, p, q, 2);
            const double r2 = fma(dx, dx, fma(dy, dy, dz * dz)), r = sqrt(r2), r3 = r2 * r,
                         to = s->gm[q] / r3, from = -s->gm[p] / r3;
            a[3 * p] = fma(to, dx, a[3 * p]), a[3 * p + 1] = fma(to, dy, a[3 * p + 1]),
                  a[3 * p + 2] = fma(to, dz, a[3 * p + 2]);
            a[3 * q] = fma(from, dx, a[3 * q]), a[3 * q + 1] = fma(from, dy, a[3 * q + 1]),
                  a[3 * q + 2] = fma(from, dz, a[3 * q + 2]);
            s->strength[p] = fma(to, r, s->strength[p]);
            s->strength[q] = fma(-from, r, s->strength[q]);
        }
#if MEGNO
    ias15_accelerate_tangent(s, a);
#endif
}

/* Compute the first and second time derivatives of the accelerations a0 at the begin of the step
 * into b[0] and b[1]. With d, u and w the differences of positions, velocities and accelerations,
 * alpha = d.u / r^2 and beta = (u.u + d.w) / r^2 + alpha^2, they are sums of m / r^3 times u - 3
 * alpha d, and w - 6 alpha (u - 3 alpha d) - 3 beta d (Nitadori & Makino 2008). */
static void ias15_derive(struct system *s)
{
    for (int k = 0; k < M; k++)
        s->b[0][k] = s->b[1][k] = 0;
    for (int p = 1; p < BODIES; p++)
        for (int q = 0; q < p; q++) {
            double d[3], u[3], w[3], r2 = 0, du = 0, uu = 0, dw = 0;
            if (!ias15_has(s, p) || !ias15_has(s, q))
                continue;
            for (int c = 0; c < 3; c++) {
                d[c] = ias15_between(s, p, q, c);
                u[c] = s->v[3 * q + c] - s->v[3 * p + c];
                w[c] = s->a0[3 * q + c] - s->a0[3 * p + c];
                r2 = fma(d[c], d[c], r2);
                du = fma(d[c], u[c], du);
                uu = fma(u[c], u[c], uu);
                dw = fma(d[c], w[c], dw);
            }
            const double r3 = r2 * sqrt(r2), alpha = du / r2, beta = (uu + dw) / r2 + alpha * alpha;
            for (int c = 0; c < 3; c++) {
                const double first = u[c] - 3 * alpha * d[c],
                             second = w[c] - 6 * alpha * first - 3 * beta * d[c];
                s->b[0][3 * p + c] += s->gm[q] / r3 * first;
                s->b[0][3 * q + c] -= s->gm[p] / r3 * first;
                s->b[1][3 * p + c] += s->gm[q] / r3 * second;
                s->b[1][3 * q + c] -= s->gm[p] / r3 * second;
            }
        }
}

static double ias15_max_abs(const double *x)
{
    double most = 0;
    for (int k = 0; k < OWN; k++)
        most = fabs(x[k]) <= most ? most : fabs(x[k]); /* NaN counts */
    return most;
}

static void ias15_add_compensated(double *x, double *lost, double y)
{
    const double sum = *x + (y + *lost);
    *lost = (y + *lost) - (sum - *x);
    *x = sum;
}

static double ias15_displacement(const struct system *s, int k, double h, double T)
{
    double sum = 0;
    for (int j = PLACES - 1; j >= 0; j--)
        sum = (sum + s->b[j][k] / ((j + 2) * (j + 3))) * h;
    return (sum + s->a0[k] / 2) * (h * T) * (h * T);
}

static double ias15_refine(struct system *s, int n)
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
        most = k < OWN ? fmax(most, fabs(change)) : most;
    }
    return most;
}

static void ias15_solve(struct system *s, double T)
{
    double before = INFINITY;
    for (int i = 0; i < ITERATIONS; i++) {
        double change = 0;
        for (int n = 1; n <= PLACES; n++) {
            for (int k = 0; k < M; k++)
                s->off[k] = place[n] * T * (s->v[k] + s->lost_v[k]) +
                            (ias15_displacement(s, k, place[n], T) + s->lost_x[k]);
            ias15_accelerate(s, s->a);
            change = ias15_refine(s, n);
        }
        change /= ias15_max_abs(s->a);
        if (change < CONVERGED || (i > 1 && change >= before))
            return;
        before = change;
    }
}

static double ias15_length(const double *v)
{
    return sqrt(fma(v[0], v[0], fma(v[1], v[1], v[2] * v[2])));
}

/* Step that a body needs: A, |a'| and |a''|. Infinite without forces. */
static double ias15_body_length(double strength, double first, double second)
{
    return strength > 0 ? ETA * sqrt(2 / fma(first, first, strength * second)) * strength
                        : INFINITY;
}

/* Return the length of the first step. */
static double ias15_first_length(struct system *s)
{
    double T = INFINITY;
    ias15_derive(s);
    for (int p = 0; p < BODIES; p++)
        T = fmin(T, ias15_body_length(s->strength[p], ias15_length(s->b[0] + 3 * p),
                                      ias15_length(s->b[1] + 3 * p)));
    return T;
}

/* Return the length of the next step, at most LONGER |T|. NAN if the forces are not finite. */
static double ias15_next_length(const struct system *s, double T)
{
    double next = LONGER * fabs(T);
    for (int p = 0; p < BODIES; p++) {
        double first[3], second[3];
        for (int c = 0; c < 3; c++) {
            first[c] = second[c] = 0;
            for (int j = 0; j < PLACES; j++) {
                first[c] += (j + 1) * s->b[j][3 * p + c];
                second[c] += (j + 1) * j * s->b[j][3 * p + c];
            }
        }
        const double A = s->strength[p], b7 = ias15_length(s->b[PLACES - 1] + 3 * p),
                     length =
                         ias15_body_length(A, ias15_length(first), ias15_length(second)) * fabs(T);
        if (!isfinite(A) || !isfinite(b7) || isnan(length))
            return NAN;
        next = fmin(next, length);
        if (b7 > LAST_TERM * A)
            next = fmin(next, fabs(T) * pow(LAST_TERM * A / b7, 1. / 7));
    }
    return next;
}

static void ias15_advance(struct system *s, double T)
{
    for (int k = 0; k < M; k++) {
        double kick = 0;
        for (int j = PLACES - 1; j >= 0; j--)
            kick += s->b[j][k] / (j + 2);
        ias15_add_compensated(&s->x[k], &s->lost_x[k],
                              T * s->v[k] + (T * s->lost_v[k] + ias15_displacement(s, k, 1, T)));
        ias15_add_compensated(&s->v[k], &s->lost_v[k], T * (s->a0[k] + kick));
    }
}

static void ias15_predict(struct system *s, double ratio)
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

static void ias15_reset(struct system *s)
{
    for (int j = 0; j < PLACES; j++)
        for (int k = 0; k < M; k++)
            s->b[j][k] = s->g[j][k] = 0;
}

/* Start a step at the current positions. */
static void ias15_begin(struct system *s)
{
    for (int k = 0; k < M; k++)
        s->off[k] = s->lost_x[k];
    ias15_accelerate(s, s->a0);
}

#if WATCH && CONTACTS
/* Advance by the fraction h of a step. */
static void ias15_advance_part(struct system *s, double T, double h)
{
    for (int k = 0; k < M; k++) {
        double kick = 0;
        for (int j = PLACES - 1; j >= 0; j--)
            kick = (kick + s->b[j][k] / (j + 2)) * h;
        ias15_add_compensated(&s->x[k], &s->lost_x[k],
                              h * T * s->v[k] +
                                  (h * T * s->lost_v[k] + ias15_displacement(s, k, h, T)));
        ias15_add_compensated(&s->v[k], &s->lost_v[k], h * T * (s->a0[k] + kick));
    }
}

/* Relative path of a pair over the step T, for watch_first. */
static void ias15_path(const struct system *s, int p, int q, double T, double (*c)[3])
{
    for (int a = 0; a < 3; a++) {
        const int i = 3 * p + a, j = 3 * q + a;
        c[0][a] = s->x[j] - s->x[i];
        c[1][a] = T * (s->v[j] - s->v[i]);
        c[2][a] = T * T * (s->a0[j] - s->a0[i]) / 2;
        for (int k = 0; k < PLACES; k++)
            c[k + 3][a] = T * T * (s->b[k][j] - s->b[k][i]) / ((k + 2) * (k + 3));
    }
}

/* First contact of any pair in the step T, as a fraction of it; 2 if there is none. */
static double ias15_contact(const struct system *s, double T, int *first, int *second)
{
    double earliest = 2, c[PLACES + 3][3];
    for (int q = 1; q < BODIES; q++)
        for (int p = 0; p < q; p++) {
            const double R = s->watch.radius[p] + s->watch.radius[q];
            if (!(R > 0) || !ias15_has(s, p) || !ias15_has(s, q))
                continue;
            ias15_path(s, p, q, T, c);
            const double at = watch_first(PLACES + 3, (const double(*)[3])c, R);
            *first = at < earliest ? p : *first;
            *second = at < earliest ? q : *second;
            earliest = fmin(earliest, at);
        }
    return earliest;
}

/* If bodies touch in the step T, which begins `done` after s->begin: advance to the contact, let
 * them merge or end the system, and return the part of the step done; else return 2. */
static double ias15_touch(struct system *s, double T, double done)
{
    int first = 0, second = 0;
    const double part = ias15_contact(s, T, &first, &second);
    if (part > 1)
        return 2;
    ias15_advance_part(s, T, part);
    watch_touch(&s->watch, s->begin + fma(part, T, done), first, second, s->gm, s->x, s->v);
    for (int c = 0; c < 3; c++) {
        s->lost_x[3 * first + c] = s->lost_v[3 * first + c] = 0;
        s->lost_x[3 * second + c] = s->lost_v[3 * second + c] = 0;
    }
    return part;
}
#endif

/* True unless a body is so far from the centre of mass that the system ends, at s->begin + done. */
static bool ias15_inside(struct system *s, double done)
{
#if WATCH
    watch_inside(&s->watch, s->begin + done, s->gm, s->x);
    return watch_runs(&s->watch);
#else
    return true;
#endif
}

/* Advance by the time t, or until the system ends; false if steps vanish. */
static bool ias15_run(struct system *s, double t)
{
    double done = 0, lost = 0, longest = 0;
    for (int k = 0; k < M; k++)
        s->lost_x[k] = s->lost_v[k] = 0;
    ias15_begin(s);
    double T = ias15_first_length(s);
    ias15_reset(s);
    for (;;) {
        const bool last = T >= fabs(t - done);
        const double step = last ? t - done : copysign(T, t);
        longest = fmax(longest, fabs(step));
        if (!(T >= VANISHED * longest))
            return false;
        ias15_solve(s, step);
        T = ias15_next_length(s, step);
        if (isnan(T))
            return false;
        if (T < SHORTER * fabs(step)) {
            ias15_reset(s);
            continue;
        }
#if WATCH && CONTACTS
        const double part = ias15_touch(s, step, done);
        if (part <= 1) {
            ias15_add_compensated(&done, &lost, part * step);
            if (!watch_runs(&s->watch) || fabs(t - done) <= VANISHED * fabs(t))
                return true;
            ias15_begin(s);
            T = ias15_first_length(s);
            ias15_reset(s);
            continue;
        }
#endif
        ias15_advance(s, step);
        if (last) {
            ias15_inside(s, t);
            return true;
        }
        ias15_add_compensated(&done, &lost, step);
        if (!ias15_inside(s, done))
            return true;
        ias15_predict(s, T / fabs(step));
        ias15_begin(s);
    }
}

static void ias15_load(struct system *s, global const double *state, global const double *gms,
                       size_t n, size_t i)
{
    ias15_find_c(s);
    for (int b = 0; b < BODIES; b++) {
        s->gm[b] = gms[b * n + i];
        for (int c = 0; c < 3; c++) {
            s->x[3 * b + c] = state[(6 * b + c) * n + i];
            s->v[3 * b + c] = state[(6 * b + 3 + c) * n + i];
        }
    }
}

static void ias15_store(const struct system *s, bool good, global double *state, size_t n, size_t i)
{
    for (int b = 0; b < BODIES; b++)
        for (int c = 0; c < 3; c++) {
            state[(6 * b + c) * n + i] = good ? s->x[3 * b + c] : NAN;
            state[(6 * b + 3 + c) * n + i] = good ? s->v[3 * b + c] : NAN;
        }
}

/* ---- Tangent vectors. ------------------------------------------------------------------------ */

#if MEGNO
static void ias15_load_tangent(struct system *s, global const double *tangent, size_t n, size_t i)
{
    for (int k = 0; k < OWN; k++) {
        s->x[OWN + k] = tangent[k * n + i];
        s->v[OWN + k] = tangent[(OWN + k) * n + i];
    }
    for (int k = 0; k < WH_SUMS; k++)
        s->sums[k] = tangent[(2 * OWN + k) * n + i];
}

static void ias15_store_tangent(const struct system *s, global double *tangent, size_t n, size_t i)
{
    for (int k = 0; k < OWN; k++) {
        tangent[k * n + i] = s->x[OWN + k];
        tangent[(OWN + k) * n + i] = s->v[OWN + k];
    }
    for (int k = 0; k < WH_SUMS; k++)
        tangent[(2 * OWN + k) * n + i] = s->sums[k];
}

/* Add the growth in a step of h to the sums. */
static void ias15_record(struct system *s, double h)
{
    double xx = 0, vv = 0;
    for (int k = OWN; k < M; k++) {
        xx = fma(s->x[k], s->x[k], xx);
        vv = fma(s->v[k], s->v[k], vv);
    }
    const double scale = tangent_add_growth(xx + s->sums[WH_WEIGHT] * vv, h, s->sums, 1);
    for (int k = OWN; k < M; k++) {
        s->x[k] *= scale;
        s->v[k] *= scale;
    }
}

#define TANGENT , global double *tangent
#define LOAD_TANGENT ias15_load_tangent(&s, tangent, n, i)
#define STORE_TANGENT ias15_store_tangent(&s, tangent, n, i)
#define RECORD(h) ias15_record(&s, h)
#else
#define TANGENT
#define LOAD_TANGENT
#define STORE_TANGENT
#define RECORD(h)
#endif

/* ---- Kernels. -------------------------------------------------------------------------------- */

#if !WATCH
kernel void ensemble_ias15(global double *state, global const double *gms, uint systems, double h,
                           uint steps TANGENT)
{
    const size_t i = get_global_id(0), n = systems;
    if (i >= n)
        return;
    struct system s;
    bool good = true;
    ias15_load(&s, state, gms, n, i);
    LOAD_TANGENT;
    for (uint k = 0; k < steps && good; k++) {
        good = ias15_run(&s, h);
        RECORD(h);
    }
    ias15_store(&s, good, state, n, i);
    STORE_TANGENT;
}
#else

kernel void ensemble_ias15_watched(global double *state, global double *gms, uint systems, double h,
                                   uint steps, global double *record, double distance, ulong before,
                                   double base TANGENT)
{
    const size_t i = get_global_id(0), n = systems;
    if (i >= n)
        return;
    struct system s;
    bool good = true;
    watch_open(&s.watch, record, n, i, distance);
    if (!watch_runs(&s.watch))
        return;
    ias15_load(&s, state, gms, n, i);
    LOAD_TANGENT;
    if (before == 0 && base == 0)
        watch_overlaps(&s.watch, s.gm, s.x, s.v);
    for (uint k = 0; k < steps && good && watch_runs(&s.watch); k++) {
        s.begin = base + h * (double)(before + k);
        good = ias15_run(&s, h);
        RECORD(watch_runs(&s.watch) ? h : s.watch.ended - s.begin);
    }
    if (!good)
        watch_end(&s.watch, FAILED, s.begin);
    ias15_store(&s, good, state, n, i);
    STORE_TANGENT;
    for (int b = 0; b < BODIES; b++)
        gms[b * n + i] = s.gm[b];
    watch_close(&s.watch);
}
#endif
