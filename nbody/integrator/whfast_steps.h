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
 * The includer defines WH_NUMBER, the number of a body: double, or a vector with one system per
 * lane; and WH_CONSTANT, the storage of a table of constants.
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
    bool heliocentric;
    int corrector; /* entry of wh_correctors; -1: none */
#ifndef __OPENCL_VERSION__
    const struct host_bodies *b;
#endif
};

/* Move all slots along their conics; apply the forces other than the foci's. */
static void wh_drift(const struct wh *w, double dt);
static void wh_kick(const struct wh *w, double dt);

/* Compute focus and ratio (Jacobi: G m of body i / G m of bodies 0 to i; [0]: of all). */
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

/* Sum of G m times the slots of all planets. */
static WH_NUMBER heliocentric_sum(const struct wh *w, const WH_NUMBER *slot)
{
    WH_NUMBER sum = w->gm[1] * slot[0];
    for (size_t i = 2; i < w->n; i++)
        sum += w->gm[i] * slot[i - 1];
    return sum;
}

/* Of positions from the star, of velocities from the centre of mass. */
static void heliocentric_from_inertial(const struct wh *w, const WH_NUMBER *own, bool position,
                                       WH_NUMBER *slot)
{
    WH_NUMBER centre = w->gm[0] * own[0];
    for (size_t i = 1; i < w->n; i++)
        centre += w->gm[i] * own[i];
    centre /= w->ratio[0];
    for (size_t i = 1; i < w->n; i++)
        slot[i - 1] = own[i] - (position ? own[0] : centre);
    slot[w->n - 1] = centre;
}

static void inertial_from_heliocentric(const struct wh *w, const WH_NUMBER *slot, bool position,
                                       WH_NUMBER *own)
{
    const WH_NUMBER centre = slot[w->n - 1], sum = heliocentric_sum(w, slot);
    own[0] = centre - sum / (position ? w->ratio[0] : w->gm[0]);
    for (size_t i = 1; i < w->n; i++)
        own[i] = slot[i - 1] + (position ? own[0] : centre);
}

static void wh_from_inertial(const struct wh *w)
{
    const size_t m = w->stride;
    for (size_t k = 0; k < 3 * m; k++)
        w->lost_x[k] = w->lost_v[k] = 0;
    for (size_t c = 0; c < 3; c++) {
        if (w->heliocentric) {
            heliocentric_from_inertial(w, w->own_x + c * m, true, w->x + c * m);
            heliocentric_from_inertial(w, w->own_v + c * m, false, w->v + c * m);
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
            inertial_from_heliocentric(w, x, true, w->own_x + c * m);
            inertial_from_heliocentric(w, v, false, w->own_v + c * m);
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

/* Apply the corrector (direction 1) or its inverse (-1), whose terms come in reverse order. */
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

/* ---- Steps. ---------------------------------------------------------------------------------- */

static void wh_begin(const struct wh *w, double dt)
{
    wh_from_inertial(w);
    wh_correct(w, dt, 1);
    wh_drift(w, dt / 2);
}

static void wh_steps(const struct wh *w, double dt, size_t steps)
{
    for (; steps > 0; steps--) {
        wh_kick(w, dt);
        wh_drift(w, dt);
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
        wh_begin(w, dt);
        wh_kick(w, dt);
        wh_drift(w, dt / 2);
        wh_correct(w, dt, -1);
        wh_to_inertial(w);
    }
}

#endif
