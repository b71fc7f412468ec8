/* ensemble.cl - many planetary systems at once, one per work-item: Wisdom & Holman's (1991) steps
 * in democratic heliocentric coordinates (Duncan, Levison & Lee 1998, AJ 116, 2067).
 *
 *   state[c * systems + i]    component c of system i: for each planet 3 of the position from the
 *                             star, then 3 of the velocity from the centre of mass
 *   gm[c * systems + i]       G m: the star, then the planets
 *   record                    ensemble_watch.cl
 *
 * A step of h: half a kick by the other planets, half a jump of all by -h (sum m v) / (star's m),
 * Kepler's motion about the star, then jump and kick in reverse order. Half kicks are rounded one
 * by one, so that bits do not depend on where a launch ends. Scalar reference: nbody_ref_ensemble.
 * SPDX-License-Identifier: MIT
 */
#pragma OPENCL FP_CONTRACT OFF
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#ifndef PLANETS
#define PLANETS 2 /* per system */
#endif
#ifndef WATCH
#define WATCH 0 /* 1: after ensemble_watch.cl */
#endif
#define ALL(p) _Pragma("unroll") for (int p = 0; p < PLANETS; p++)
#if WATCH && MERGE
#define EACH(p) ALL(p) if (o->has >> p & 1)
#define HAS(p) (o->has >> p & 1)
#else
#define EACH(p) ALL(p)
#define HAS(p) true
#endif

struct orbiting {
    double x[PLANETS], y[PLANETS], z[PLANETS], vx[PLANETS], vy[PLANETS], vz[PLANETS];
#if WATCH && MERGE
    uint has; /* bit p: planet p has not merged into another body */
#endif
};

/* ---- Kepler's motion. ---------------------------------------------------------------------------
 * Universal variable s with ds = dt / r; Stumpff functions c_k(z) = 1/k! - z/(k + 2)! + ... of z
 * = beta s^2 and G_k = s^k c_k (Stiefel & Scheifele 1971; Rein & Tamayo 2015, MNRAS 452, 376). */

/* Compute G1, G2, G3; return G0. */
static inline double stumpff(double beta, double s, double *G1, double *G2, double *G3)
{
    double z = beta * s * s;
    int quarters = 0;
    for (; fabs(z) > 0.125; quarters++)
        z *= 0.25;
    double c3 = fma(-z, 1. / 6227020800, 1. / 39916800),
           c2 = fma(-z, 1. / 87178291200, 1. / 479001600);
    c3 = fma(-z, c3, 1. / 362880), c2 = fma(-z, c2, 1. / 3628800);
    c3 = fma(-z, c3, 1. / 5040), c2 = fma(-z, c2, 1. / 40320);
    c3 = fma(-z, c3, 1. / 120), c2 = fma(-z, c2, 1. / 720);
    c3 = fma(-z, c3, 1. / 6), c2 = fma(-z, fma(-z, c2, 1. / 24), 0.5);
    double c1 = fma(-z, c3, 1.), c0 = fma(-z, c2, 1.);
    for (; quarters > 0; quarters--) {
        c3 = (c2 + c0 * c3) / 4;
        c2 = c1 * c1 / 2;
        c1 = c0 * c1;
        c0 = fma(2 * c0, c0, -1.);
    }
    *G1 = s * c1;
    *G2 = s * s * c2;
    *G3 = s * s * s * c3;
    return c0;
}

/* Move along a conic for the time h. */
static inline void planet_drift(double gm, double h, double *x, double *y, double *z, double *vx,
                                double *vy, double *vz)
{
    const double r2 = fma(*x, *x, fma(*y, *y, *z * *z)), one_r = rsqrt(r2), r = r2 * one_r;
    const double v2 = fma(*vx, *vx, fma(*vy, *vy, *vz * *vz)),
                 eta = fma(*x, *vx, fma(*y, *vy, *z * *vz));
    const double beta = fma(2 * gm, one_r, -v2), zeta = fma(-beta, r, gm);
    /* h = r s + eta G2 + zeta G3: start from its inverse as a series, then Halley's method with a
     * bracket. */
    const double X = h * one_r, u = 0.5 * eta * one_r;
    const double series = fma(X * X, fma(2 * u, u, -zeta * one_r / 6), fma(-u, X, 1.));
    double s = X * (series > 0.5 && series < 2 ? series : 1), low = -INFINITY, high = INFINITY, G1,
           G2, G3;
    for (int k = 0; k < 100; k++) {
        const double G0 = stumpff(beta, s, &G1, &G2, &G3);
        const double f = fma(r, s, fma(eta, G2, fma(zeta, G3, -h)));
        const double now = fma(eta, G1, fma(zeta, G2, r)), slope = fma(eta, G0, zeta * G1);
        if (f > 0)
            high = s;
        else
            low = s;
        double next = s - 2 * f * now / fma(2 * now, now, -f * slope);
        if (!(next >= low && next <= high))
            next = isinf(high) ? 2 * s : isinf(low) ? 2 * s : 0.5 * (low + high);
        const double change = fabs(next - s);
        s = next;
        if (!(change > 1e-7 * fabs(s)))
            break; /* the error is its cube */
    }
    (void)stumpff(beta, s, &G1, &G2, &G3);
    const double now = fma(eta, G1, fma(zeta, G2, r));
    const double f = -gm * G2 * one_r, g = fma(-gm, G3, h), ft = -gm * G1 * one_r / now,
                 gt = -gm * G2 / now;
    const double ox = *x, oy = *y, oz = *z;
    *x = ox + fma(f, ox, g * *vx);
    *y = oy + fma(f, oy, g * *vy);
    *z = oz + fma(f, oz, g * *vz);
    *vx = *vx + fma(ft, ox, gt * *vx);
    *vy = *vy + fma(ft, oy, gt * *vy);
    *vz = *vz + fma(ft, oz, gt * *vz);
}

/* ---- A step. --------------------------------------------------------------------------------- */

/* Mutual accelerations of the planets. */
static inline void planets_accelerate(const struct orbiting *o, const double *gm, double *ax,
                                      double *ay, double *az)
{
    ALL(p) ax[p] = ay[p] = az[p] = 0;
    EACH(p)
    {
        _Pragma("unroll") for (int q = 0; q < p; q++) if (HAS(q))
        {
            const double dx = o->x[q] - o->x[p], dy = o->y[q] - o->y[p], dz = o->z[q] - o->z[p];
            const double w = rsqrt(fma(dx, dx, fma(dy, dy, dz * dz))), www = w * w * w;
            const double to = gm[q] * www, from = -gm[p] * www;
            ax[p] = fma(to, dx, ax[p]), ay[p] = fma(to, dy, ay[p]), az[p] = fma(to, dz, az[p]);
            ax[q] = fma(from, dx, ax[q]), ay[q] = fma(from, dy, ay[q]),
            az[q] = fma(from, dz, az[q]);
        }
    }
}

static inline void planets_kick(struct orbiting *o, double h, const double *ax, const double *ay,
                                const double *az)
{
    EACH(p)
    o->vx[p] = fma(h, ax[p], o->vx[p]), o->vy[p] = fma(h, ay[p], o->vy[p]),
    o->vz[p] = fma(h, az[p], o->vz[p]);
}

/* Velocity of the star, times -1: the planets' momentum over the star's mass. */
static inline void planets_recoil(const struct orbiting *o, const double *part, double *px,
                                  double *py, double *pz)
{
    *px = *py = *pz = 0;
    EACH(p)
    *px = fma(part[p], o->vx[p], *px), *py = fma(part[p], o->vy[p], *py),
    *pz = fma(part[p], o->vz[p], *pz);
}

/* Move all planets by the star's velocity for the time h. */
static inline void planets_jump(struct orbiting *o, const double *part, double h)
{
    double px, py, pz;
    planets_recoil(o, part, &px, &py, &pz);
    EACH(p)
    o->x[p] = fma(h, px, o->x[p]), o->y[p] = fma(h, py, o->y[p]), o->z[p] = fma(h, pz, o->z[p]);
}

/* A step of h. ax, ay, az: accelerations at its begin, then at its end. */
static inline void planets_step(struct orbiting *o, double star, const double *gm,
                                const double *part, double h, double *ax, double *ay, double *az)
{
    planets_kick(o, h / 2, ax, ay, az);
    planets_jump(o, part, h / 2);
    EACH(p) planet_drift(star, h, &o->x[p], &o->y[p], &o->z[p], &o->vx[p], &o->vy[p], &o->vz[p]);
    planets_jump(o, part, h / 2);
    planets_accelerate(o, gm, ax, ay, az);
    planets_kick(o, h / 2, ax, ay, az);
}

static inline void planets_load(struct orbiting *o, global const double *state, size_t n, size_t i)
{
    ALL(p)
    {
        global const double *at = state + 6 * (size_t)p * n + i;
        o->x[p] = at[0], o->y[p] = at[n], o->z[p] = at[2 * n];
        o->vx[p] = at[3 * n], o->vy[p] = at[4 * n], o->vz[p] = at[5 * n];
    }
}

static inline void planets_store(const struct orbiting *o, global double *state, size_t n, size_t i)
{
    ALL(p)
    {
        global double *at = state + 6 * (size_t)p * n + i;
        at[0] = o->x[p], at[n] = o->y[p], at[2 * n] = o->z[p];
        at[3 * n] = o->vx[p], at[4 * n] = o->vy[p], at[5 * n] = o->vz[p];
    }
}

/* ---- Kernels. -------------------------------------------------------------------------------- */

#if !WATCH
kernel void ensemble_wisdom_holman(global double *state, global const double *gms, uint systems,
                                   double h, uint steps)
{
    const size_t i = get_global_id(0), n = systems;
    if (i >= n)
        return;
    struct orbiting o;
    const double star = gms[i];
    double gm[PLANETS], part[PLANETS], ax[PLANETS], ay[PLANETS], az[PLANETS];
    planets_load(&o, state, n, i);
    ALL(p)
    {
        gm[p] = gms[(p + 1) * n + i];
        part[p] = gm[p] / star;
    }
    planets_accelerate(&o, gm, ax, ay, az);
    for (uint k = 0; k < steps; k++)
        planets_step(&o, star, gm, part, h, ax, ay, az);
    planets_store(&o, state, n, i);
}
#else

/* All bodies for ensemble_watch.cl: the star in the origin, the centre of mass at rest. */
static void planets_to_bodies(const struct orbiting *o, const double *part, double *x, double *v)
{
    double px, py, pz;
    planets_recoil(o, part, &px, &py, &pz);
    x[0] = x[1] = x[2] = 0;
    v[0] = -px, v[1] = -py, v[2] = -pz;
    ALL(p)
    {
        x[3 * p + 3] = o->x[p], x[3 * p + 4] = o->y[p], x[3 * p + 5] = o->z[p];
        v[3 * p + 3] = o->vx[p], v[3 * p + 4] = o->vy[p], v[3 * p + 5] = o->vz[p];
    }
}

/* The planets after bodies have merged. */
static void planets_from_bodies(struct orbiting *o, const double *x, const double *v)
{
    EACH(p)
    {
        o->x[p] = x[3 * p + 3] - x[0], o->y[p] = x[3 * p + 4] - x[1], o->z[p] = x[3 * p + 5] - x[2];
        o->vx[p] = v[3 * p + 3], o->vy[p] = v[3 * p + 4], o->vz[p] = v[3 * p + 5];
    }
}

/* Masses that steps use, from G m of all bodies, and which planets exist. */
static void planets_take_masses(struct orbiting *o, const struct watch *w, const double *all,
                                double *gm, double *part)
{
#if MERGE
    o->has = 0;
    ALL(p) o->has |= watch_has(w, p + 1) ? 1u << p : 0;
#endif
    ALL(p)
    {
        gm[p] = all[p + 1];
        part[p] = gm[p] / all[0];
    }
}

kernel void ensemble_wisdom_holman_watched(global double *state, global double *gms, uint systems,
                                           double h, uint steps, global double *record,
                                           double distance, ulong before, double base)
{
    const size_t i = get_global_id(0), n = systems;
    if (i >= n)
        return;
    struct watch w;
    watch_open(&w, record, n, i, distance);
    if (!watch_runs(&w))
        return;
    struct orbiting o;
    double all[BODIES], gm[PLANETS], part[PLANETS], ax[PLANETS], ay[PLANETS], az[PLANETS],
        x0[3 * BODIES], v0[3 * BODIES], x[3 * BODIES], v[3 * BODIES];
    for (int b = 0; b < BODIES; b++)
        all[b] = gms[b * n + i];
    planets_load(&o, state, n, i);
    planets_take_masses(&o, &w, all, gm, part);
    planets_to_bodies(&o, part, x, v);
    if (before == 0 && base == 0)
        watch_overlaps(&w, all, x, v);
    int events = -1; /* after the last look at masses */
    for (uint k = 0; k < steps && watch_runs(&w); k++) {
        if (events != w.events) {
            events = w.events;
            planets_take_masses(&o, &w, all, gm, part);
            planets_from_bodies(&o, x, v);
            planets_accelerate(&o, gm, ax, ay, az);
        }
        planets_to_bodies(&o, part, x0, v0);
        planets_step(&o, all[0], gm, part, h, ax, ay, az);
        planets_to_bodies(&o, part, x, v);
        const double begin = base + h * (double)(before + k),
                     end = base + h * (double)(before + k + 1);
        watch_step(&w, begin, end, all, x0, v0, x, v);
    }
    planets_take_masses(&o, &w, all, gm, part);
    planets_from_bodies(&o, x, v);
    planets_store(&o, state, n, i);
    for (int b = 0; b < BODIES; b++)
        gms[b * n + i] = all[b];
    watch_close(&w);
}
#endif
