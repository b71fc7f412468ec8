/* whfast_steps.h - coordinates, correctors and order of the parts of Wisdom & Holman's (1991)
 * symplectic steps; the parts follow in integrate_whfast.c and ensemble_whfast.cl. C and OpenCL C
 * compile this file.
 *
 *   slots of a plane     0: body 1 ... n - 2: body n - 1, n - 1: centre of mass
 *
 *   begin                transform, correct, drift dt/2
 *   step                 kick dt, drift dt
 *   synchronize (copy)   drift -dt/2, undo the correction, transform back
 *
 * Between steps the state is thus half a step ahead, and results are computed from a copy: neither
 * the ends of calls nor queries change it. Changes are added with compensation (kepler_solver.h).
 *
 * Jacobi coordinates: body i relative to the centre of mass of bodies 0 to i - 1, about a focus of
 * the mass of bodies 0 to i. The kick is by all pairs except (0, 1), without the force from the
 * focus on bodies from 2 on. Democratic heliocentric coordinates (Duncan, Levison & Lee 1998):
 * positions from the star, velocities from the centre of mass, about a focus of the star's mass.
 * The kick is by the pairs of planets, between two jumps by the star's recoil.
 *
 * A tangent vector is the derivative of the slots by the initial ones along a direction. Steps move
 * it by the derivatives of their parts, and add its growth up (wh_record).
 *
 * The includer includes heliocentric_slots.h and tangent_sums.h before, and defines WH_NUMBER, the
 * number of a body: double, or a vector with one system per lane; WH_SELECT(which, a, b); and
 * WH_CONSTANT, the storage of a table of constants.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_WHFAST_STEPS_H
#define STDCL_NBODY_WHFAST_STEPS_H

/* Three planes of `stride` numbers each per coordinate array. */
struct wh {
    size_t n, stride;
    WH_NUMBER *own_x, *own_v;            /* bodies: inertial */
    WH_NUMBER *x, *v, *lost_x, *lost_v;  /* slots: relative; rounding errors */
    const WH_NUMBER *gm, *focus, *ratio; /* G m of bodies; wh_find_masses */
    WH_NUMBER *a, *force;                /* accelerations of bodies and of slots */
    WH_NUMBER *tx, *tv;                  /* tangent vector of the slots; 0: none */
    WH_NUMBER *sums;                     /* WH_SUMS numbers, sum_stride apart */
    size_t sum_stride;
    bool heliocentric;
    int corrector; /* entry of wh_correctors; -1: none */
#ifndef __OPENCL_VERSION__
    const struct host_bodies *b;
#endif
};

/* Move all slots along their conics; apply the forces other than the foci's. */
static void wh_drift(const struct wh *w, double dt);
static void wh_kick(const struct wh *w, double dt);

/* Compute focus, and ratio: G m of body i / G m of bodies 0 to i. ratio[0] is the total G m. */
static void wh_find_masses(size_t n, bool heliocentric, const WH_NUMBER *gm, WH_NUMBER *focus,
                           WH_NUMBER *ratio)
{
    WH_NUMBER inside = gm[0];
    for (size_t i = 1; i < n; i++) {
        inside += gm[i];
        ratio[i] = gm[i] / inside;
        focus[i - 1] = heliocentric ? gm[0] : inside;
    }
    ratio[0] = inside;
    focus[n - 1] = 0;
}

/* ---- Transformations of one coordinate: `own` of bodies, `slot` of slots. -------------------- */

static void jacobi_from_inertial(const struct wh *w, const WH_NUMBER *own, WH_NUMBER *slot)
{
    WH_NUMBER centre = own[0];
    for (size_t i = 1; i < w->n; i++) {
        slot[i - 1] = own[i] - centre;
        centre += w->ratio[i] * slot[i - 1];
    }
    slot[w->n - 1] = centre;
}

static void inertial_from_jacobi(const struct wh *w, const WH_NUMBER *slot, WH_NUMBER centre,
                                 WH_NUMBER *own)
{
    for (size_t i = w->n - 1; i > 0; i--) {
        centre -= w->ratio[i] * slot[i - 1];
        own[i] = slot[i - 1] + centre;
    }
    own[0] = centre;
}

static void wh_from_inertial(const struct wh *w)
{
    const size_t m = w->stride;
    for (size_t k = 0; k < 3 * m; k++)
        w->lost_x[k] = w->lost_v[k] = 0;
    for (size_t c = 0; c < 3; c++) {
        if (w->heliocentric) {
            heliocentric_from_inertial(w->n, w->gm, w->ratio[0], w->own_x + c * m, true,
                                       w->x + c * m);
            heliocentric_from_inertial(w->n, w->gm, w->ratio[0], w->own_v + c * m, false,
                                       w->v + c * m);
        } else {
            jacobi_from_inertial(w, w->own_x + c * m, w->x + c * m);
            jacobi_from_inertial(w, w->own_v + c * m, w->v + c * m);
        }
    }
}

static void wh_to_inertial(const struct wh *w)
{
    const size_t m = w->stride, last = w->n - 1;
    for (size_t c = 0; c < 3; c++) {
        const WH_NUMBER *const x = w->x + c * m, *const v = w->v + c * m;
        if (w->heliocentric) {
            inertial_from_heliocentric(w->n, w->gm, w->ratio[0], x, true, w->own_x + c * m);
            inertial_from_heliocentric(w->n, w->gm, w->ratio[0], v, false, w->own_v + c * m);
        } else {
            inertial_from_jacobi(w, x, x[last], w->own_x + c * m);
            inertial_from_jacobi(w, v, v[last], w->own_v + c * m);
        }
    }
}

/* ---- Symplectic correctors. ------------------------------------------------------------------ */

#define WH_CORRECTORS 5
#define WH_CORRECTOR_TERMS 8

/* Term k of a corrector drifts by k times WH_ALPHA = (7/40)^1/2 steps (Wisdom 2006). To first order
 * in the masses of the planets, a step is the exact one for kicks multiplied by g(z) = (z/2) /
 * sinh(z/2), where z is dt times the derivative along the Kepler motion; the corrector of order 2 K
 * + 1 solves the sum over k of 2 b_k sinh(k alpha z) = (g(z) - 1) / z up to z^(2 K - 1). */
#define WH_ALPHA 0.41833001326703777399
struct wh_corrector {
    int order, terms;
    double b[WH_CORRECTOR_TERMS];
};

WH_CONSTANT struct wh_corrector wh_correctors[WH_CORRECTORS] = {
    {3, 1, {-0.049801192055599734998}},
    {5, 2, {-0.083001986759332891664, 0.0166003973518665783329}},
    {7, 3, {-0.107928798186254997443, 0.0365418464934042629561, -0.004985362285384421155}},
    {11,
     5,
     {-0.145186789497685477348, 0.0762432273625773010172, -0.024618157184039892635,
      0.0046974430584590708376, -0.000407231592957093026}},
    {17,
     8,
     {-0.186112207542851917183, 0.1303857271527557873165, -0.064844397729427160587,
      0.0241435216446845821248, -0.006626515413876131131, 0.0012719996615163531796,
      -0.000152872710455871476, 0.0000086694830946747160}}};

/* Apply the corrector (direction 1), or its inverse (-1) with the terms in reverse order. */
static void wh_correct(const struct wh *w, double dt, int direction)
{
    const int terms = w->corrector < 0 ? 0 : wh_correctors[w->corrector].terms;
    for (int term = 0; term < terms; term++) {
        const int k = direction > 0 ? term : terms - 1 - term;
        const double a = direction * (k + 1) * WH_ALPHA * dt,
                     b = wh_correctors[w->corrector].b[k] * dt;
        wh_drift(w, a);
        wh_kick(w, b);
        wh_drift(w, -2 * a);
        wh_kick(w, -b);
        wh_drift(w, a);
    }
}

/* ---- Tangent vectors. ------------------------------------------------------------------------ */

#define WH_SUM(w, k) (w)->sums[(k) * (w)->sum_stride]

/* Sum of the squares of the coordinates of all planets. */
static WH_NUMBER wh_square(const struct wh *w, const WH_NUMBER *x)
{
    WH_NUMBER sum = x[0] * x[0];
    for (size_t k = 1; k < 3 * w->stride; k++)
        if (k % w->stride + 1 < w->n)
            sum += x[k] * x[k];
    return sum;
}

static WH_NUMBER wh_tangent_norm2(const struct wh *w)
{
    return wh_square(w, w->tx) + WH_SUM(w, WH_WEIGHT) * wh_square(w, w->tv);
}

/* Begin with fractions of multiples of the golden ratio, scaled as the coordinates are. */
static void wh_tangent_begin(const struct wh *w)
{
    const WH_NUMBER weight = wh_square(w, w->x) / wh_square(w, w->v), speed = 1 / sqrt(weight);
    for (size_t k = 0; k < 3 * w->stride; k++) {
        const bool planet = k % w->stride + 1 < w->n;
        const double turn = (double)(k % w->stride * 3 + k / w->stride) * 2,
                     a = (turn + 1) * 0.6180339887498949, b = (turn + 2) * 0.6180339887498949;
        w->tx[k] = planet ? a - floor(a) - 0.5 : 0;
        w->tv[k] = (planet ? b - floor(b) - 0.5 : 0) * speed;
    }
    for (size_t k = 0; k < WH_SUMS; k++)
        WH_SUM(w, k) = 0;
    WH_SUM(w, WH_WEIGHT) = weight;
    WH_SUM(w, WH_NORM2) = wh_tangent_norm2(w);
}

/* Compute the force of a unit of G m at the distance d, differentiated along t. */
static void wh_tangent_force(const WH_NUMBER *d, const WH_NUMBER *t, WH_NUMBER *f)
{
    const WH_NUMBER r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2], w = 1 / (r2 * sqrt(r2)),
                    q = 3 * (d[0] * t[0] + d[1] * t[1] + d[2] * t[2]) / r2;
    for (int c = 0; c < 3; c++)
        f[c] = w * (t[c] - q * d[c]);
}

/* Add the tangent's accelerations by pairs of n bodies, i > j with i >= row. */
static void wh_tangent_pairs(const struct wh *w, size_t n, size_t row, const WH_NUMBER *x,
                             const WH_NUMBER *tx, const WH_NUMBER *gm, WH_NUMBER *a)
{
    const size_t m = w->stride;
    for (size_t i = row; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            WH_NUMBER d[3], t[3], f[3];
            for (size_t c = 0; c < 3; c++) {
                d[c] = x[c * m + j] - x[c * m + i];
                t[c] = tx[c * m + j] - tx[c * m + i];
            }
            wh_tangent_force(d, t, f);
            for (size_t c = 0; c < 3; c++) {
                a[c * m + i] += gm[j] * f[c];
                a[c * m + j] -= gm[i] * f[c];
            }
        }
}

/* Compute `force` on the tangent vector at the positions own_x of the last kick. Overwrites a and
 * own_v. */
static void wh_tangent_jacobi(const struct wh *w)
{
    const size_t m = w->stride;
    for (size_t k = 0; k < 3 * m; k++)
        w->a[k] = 0;
    for (size_t c = 0; c < 3; c++)
        inertial_from_jacobi(w, w->tx + c * m, w->a[0], w->own_v + c * m);
    wh_tangent_pairs(w, w->n, 2, w->own_x, w->own_v, w->gm, w->a);
    for (size_t c = 0; c < 3; c++)
        jacobi_from_inertial(w, w->a + c * m, w->force + c * m);
    for (size_t s = 1; s + 1 < w->n; s++) {
        const WH_NUMBER d[3] = {w->x[s], w->x[m + s], w->x[2 * m + s]},
                        t[3] = {w->tx[s], w->tx[m + s], w->tx[2 * m + s]};
        WH_NUMBER f[3];
        wh_tangent_force(d, t, f);
        for (size_t c = 0; c < 3; c++)
            w->force[c * m + s] += w->focus[s] * f[c];
    }
}

static void wh_tangent_heliocentric(const struct wh *w)
{
    for (size_t k = 0; k < 3 * w->stride; k++)
        w->force[k] = 0;
    wh_tangent_pairs(w, w->n - 1, 1, w->x, w->tx, w->gm + 1, w->force);
}

static void wh_tangent_jump(const struct wh *w, double dt)
{
    const size_t m = w->stride;
    for (size_t c = 0; c < 3; c++) {
        const WH_NUMBER step = dt * (heliocentric_sum(w->n, w->gm, w->tv + c * m) / w->gm[0]);
        for (size_t s = 0; s + 1 < w->n; s++)
            w->tx[c * m + s] += step;
    }
}

/* Kick the tangent vector; wh_kick calls this after its kick, before its second jump. */
static void wh_tangent_kick(const struct wh *w, double dt)
{
    if (w->heliocentric) {
        wh_tangent_jump(w, dt / 2);
        wh_tangent_heliocentric(w);
    } else {
        wh_tangent_jacobi(w);
    }
    for (size_t k = 0; k < 3 * w->stride; k++)
        if (k % w->stride + 1 < w->n)
            w->tv[k] += dt * w->force[k];
    if (w->heliocentric)
        wh_tangent_jump(w, dt / 2);
}

/* Add the growth of a step to the sums. Scale the tangent vector before it overflows. */
static void wh_record(const struct wh *w, double dt)
{
    const WH_NUMBER scale = tangent_add_growth(wh_tangent_norm2(w), dt, w->sums, w->sum_stride);
    for (size_t k = 0; k < 3 * w->stride; k++) {
        w->tx[k] *= scale;
        w->tv[k] *= scale;
    }
}

/* ---- Steps. ---------------------------------------------------------------------------------- */

/* Return w without its tangent vector. */
static struct wh wh_plain(const struct wh *w)
{
    struct wh plain = *w;
    plain.tx = plain.tv = 0;
    return plain;
}

/* Drift to dt/2 ahead, with a tangent vector that was ahead by another time. */
static void wh_tangent_resume(const struct wh *w, double dt, double ahead)
{
    const struct wh plain = wh_plain(w);
    wh_drift(&plain, ahead);
    wh_drift(w, dt / 2 - ahead);
}

/* started: the tangent vector, `ahead` of a state, is kept. */
static void wh_begin(const struct wh *w, double dt, bool started, double ahead)
{
    const struct wh plain = wh_plain(w);
    wh_from_inertial(w);
    wh_correct(&plain, dt, 1);
    if (started)
        wh_tangent_resume(w, dt, ahead);
    else
        wh_drift(&plain, dt / 2);
    if (w->tx && !started)
        wh_tangent_begin(w);
    if (w->tx)
        WH_SUM(w, WH_AHEAD) = dt / 2;
}

static void wh_steps(const struct wh *w, double dt, size_t steps)
{
    for (; steps > 0; steps--) {
        wh_kick(w, dt);
        wh_drift(w, dt);
        if (w->tx)
            wh_record(w, dt);
    }
}

static void wh_synchronize(const struct wh *w, double dt)
{
    wh_drift(w, -dt / 2);
    wh_correct(w, dt, -1);
    wh_to_inertial(w);
}

/* Steps between rounded positions and velocities. */
static void wh_safe_steps(const struct wh *w, double dt, size_t steps)
{
    for (; steps > 0; steps--) {
        wh_begin(w, dt, false, 0);
        wh_kick(w, dt);
        wh_drift(w, dt / 2);
        wh_correct(w, dt, -1);
        wh_to_inertial(w);
    }
}

#endif
