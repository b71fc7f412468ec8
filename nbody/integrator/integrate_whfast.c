/* integrate_whfast.c - Wisdom & Holman's (1991) symplectic steps for a star with planets, on the
 * host: Kepler motion of each planet about a focus, and kicks by all other forces.
 *
 *   slots of a plane     0: body 1 ... n - 2: body n - 1, n - 1: centre of mass
 *   planes               a (inertial), v, then relative x, v, and their rounding errors
 *
 *   begin                transform, correct, drift dt/2
 *   step                 kick dt, drift dt
 *   synchronize (copy)   drift -dt/2, undo the correction, transform back
 *
 * Between steps the state is thus half a step ahead, and results are computed from a copy: neither
 * the ends of calls nor queries change it. Changes are added with compensation (kepler.c).
 *
 * Jacobi coordinates: body i relative to the centre of mass of bodies 0 to i - 1, about a focus of
 * the mass of bodies 0 to i. The kick is by all pairs except (0, 1), without the force from the
 * focus on bodies from 2 on. Democratic heliocentric coordinates (heliocentric.c): about a focus of
 * the star's mass. The kick is by the pairs of planets, between two jumps by the star's recoil.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/heliocentric.h"
#include "nbody/integrator/host_lanes.h"
#include "nbody/integrator/stepping.h"

EMBEDDED(source, "nbody/integrator/integrate_leapfrog.cl", nbody_integrator_integrate_leapfrog_cl);

/* Planes of the state after acceleration and velocity, and of the scratch memory. */
enum { WH_STATE = 6, WH_STATE_PLANES = 12 };
enum { WH_FOCUS, WH_RATIO, WH_GM, WH_E2, WH_FORCE, WH_COPY = WH_FORCE + 3 };
enum { WH_SCRATCH = WH_COPY + WH_STATE_PLANES };

struct wh {
    const struct host_bodies *b;
    struct kepler_orbits o;
    const double *ratio;   /* Jacobi: G m of body i / G m of bodies 0 to i */
    double *force;         /* accelerations of the slots */
    struct heliocentric h; /* total 0: Jacobi coordinates */
};

static double *wh_scratch(const struct host_bodies *b, size_t plane)
{
    return b->scratch + plane * b->stride;
}

/* `state` has WH_STATE_PLANES planes. */
static struct wh wh_open(const struct host_bodies *b, double *state)
{
    const size_t three = 3 * b->stride;
    struct wh w = {.b = b,
                   .o = {.n = b->n,
                         .stride = b->stride,
                         .gm = wh_scratch(b, WH_FOCUS),
                         .x = state,
                         .v = state + three,
                         .lost_x = state + 2 * three,
                         .lost_v = state + 3 * three},
                   .ratio = wh_scratch(b, WH_RATIO),
                   .force = wh_scratch(b, WH_FORCE)};
    if (b->whfast->coordinates == NBODY_HELIOCENTRIC)
        w.h = (struct heliocentric){.orbits = w.o,
                                    .gm = b->gm,
                                    .slot_gm = wh_scratch(b, WH_GM),
                                    .e2 = wh_scratch(b, WH_E2),
                                    .total = w.ratio[0],
                                    .force = w.force};
    return w;
}

static void whfast_prepare(const struct host_bodies *b)
{
    const bool heliocentric = b->whfast->coordinates == NBODY_HELIOCENTRIC;
    double *const focus = wh_scratch(b, WH_FOCUS), *const ratio = wh_scratch(b, WH_RATIO),
                  *const gm = wh_scratch(b, WH_GM), *const e2 = wh_scratch(b, WH_E2),
                  inside = b->gm[0];
    memset(focus, 0, b->stride * sizeof *focus);
    memset(gm, 0, b->stride * sizeof *gm);
    for (size_t i = 1; i < b->n; i++) {
        inside += b->gm[i];
        ratio[i] = b->gm[i] / inside;
        focus[i - 1] = heliocentric ? b->gm[0] : inside;
        gm[i - 1] = b->gm[i];
    }
    ratio[0] = inside;
    for (size_t k = 0; k < b->stride; k++)
        e2[k] = k + 1 < b->n ? b->e2[k + 1] : 1;
}

/* ---- Transformations of one coordinate: `own` of bodies, `slot` of slots. -------------------- */

static void jacobi_from_inertial(const struct wh *w, const double *own, double *slot)
{
    double centre = own[0];
    for (size_t i = 1; i < w->b->n; i++) {
        slot[i - 1] = own[i] - centre;
        centre += w->ratio[i] * slot[i - 1];
    }
    slot[w->b->n - 1] = centre;
}

static void inertial_from_jacobi(const struct wh *w, const double *slot, double centre, double *own)
{
    for (size_t i = w->b->n - 1; i > 0; i--) {
        centre -= w->ratio[i] * slot[i - 1];
        own[i] = slot[i - 1] + centre;
    }
    own[0] = centre;
}

static void wh_from_inertial(const struct wh *w)
{
    const size_t m = w->b->stride;
    if (w->h.total > 0) {
        nbody_heliocentric_from(&w->h, w->b->x, w->b->v);
        return;
    }
    memset(w->o.lost_x, 0, 6 * m * sizeof(double));
    for (size_t c = 0; c < 3; c++) {
        jacobi_from_inertial(w, w->b->x + c * m, w->o.x + c * m);
        jacobi_from_inertial(w, w->b->v + c * m, w->o.v + c * m);
    }
}

static void wh_to_inertial(const struct wh *w)
{
    const size_t m = w->b->stride, last = w->b->n - 1;
    if (w->h.total > 0) {
        nbody_heliocentric_to(&w->h, w->b->x, w->b->v);
        return;
    }
    for (size_t c = 0; c < 3; c++) {
        const double *const slot_x = w->o.x + c * m, *const slot_v = w->o.v + c * m;
        inertial_from_jacobi(w, slot_x, slot_x[last], w->b->x + c * m);
        inertial_from_jacobi(w, slot_v, slot_v[last], w->b->v + c * m);
    }
}

/* ---- Parts of a step. ------------------------------------------------------------------------ */

/* Subtract the force from the focus on bodies from 2 on, which Kepler's motion contains. */
CLONES static void wh_subtract_focus(const struct wh *w)
{
    const size_t m = w->b->stride;
    for (size_t i = 0; i < w->b->n; i += HOST_LANES) {
        const lane_numbers slot = (lane_numbers){0, 1, 2, 3, 4, 5, 6, 7} + (long long)i;
        const lanes gm = LOAD(w->o.gm + i), zero = {0}, x = LOAD(w->o.x + i),
                    y = LOAD(w->o.x + m + i), z = LOAD(w->o.x + 2 * m + i);
        const lane_numbers used = (gm > 0) & (slot > 0);
        const lanes r2 = SELECT(used, x * x + (y * y + z * z), zero + 1);
        lanes r = r2;
        lanes_root(&r);
        const lanes f = SELECT(used, gm / (r2 * r), zero);
        *(lanes_at *)(w->force + i) += f * x;
        *(lanes_at *)(w->force + m + i) += f * y;
        *(lanes_at *)(w->force + 2 * m + i) += f * z;
    }
}

/* Positions are relative to the centre of mass, where no field needs the place of the origin, so
 * that a distant centre costs no digits. */
static void wh_jacobi_force(const struct wh *w)
{
    const struct host_bodies *const b = w->b;
    const size_t m = b->stride, last = b->n - 1;
    for (size_t c = 0; c < 3; c++)
        inertial_from_jacobi(w, w->o.x + c * m, b->nfields ? w->o.x[c * m + last] : 0,
                             b->x + c * m);
    memset(b->a, 0, 3 * m * sizeof *b->a);
    nbody_host_add_pairs(b, 2, b->a);
    nbody_host_add_fields(b, b->a);
    for (size_t c = 0; c < 3; c++) {
        jacobi_from_inertial(w, b->a + c * m, w->force + c * m);
        if (!b->nfields)
            w->force[c * m + last] = 0;
    }
    wh_subtract_focus(w);
}

static void wh_kick(const struct wh *w, double dt)
{
    if (!(w->h.total > 0)) {
        wh_jacobi_force(w);
        nbody_kepler_kick(&w->o, dt, w->force);
        return;
    }
    nbody_heliocentric_jump(&w->h, dt / 2);
    nbody_heliocentric_force(&w->h);
    nbody_kepler_kick(&w->o, dt, w->force);
    nbody_heliocentric_jump(&w->h, dt / 2);
}

static void wh_drift(const struct wh *w, double dt)
{
    nbody_kepler_drift(&w->o, dt);
}

/* ---- Symplectic correctors. ------------------------------------------------------------------ */

enum { CORRECTOR_MOST = 8 };

/* Term k of a corrector drifts by k times ALPHA steps (Wisdom 2006). To first order in the masses
 * of the planets, a step is the exact one for kicks multiplied by g(z) = (z/2) / sinh(z/2), where z
 * is dt times the derivative along the Kepler motion; the corrector of order 2 K + 1 solves the sum
 * over k of 2 b_k sinh(k ALPHA z) = (g(z) - 1) / z up to z^(2 K - 1). */
static const double ALPHA = 0.41833001326703777399; /* (7/40)^1/2 */
static const struct corrector {
    int order, terms;
    double b[CORRECTOR_MOST];
} correctors[] = {
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

/* Return the corrector of the options; NULL: none. */
static const struct corrector *wh_corrector(const struct nbody_whfast_options *o)
{
    const int order = o->corrector || o->coordinates == NBODY_HELIOCENTRIC ? o->corrector : 17;
    for (size_t k = 0; k < COUNT_OF(correctors); k++)
        if (correctors[k].order == order)
            return &correctors[k];
    return NULL;
}

/* Apply the corrector (direction 1) or its inverse (-1), whose terms come in reverse order. */
static void wh_correct(const struct wh *w, double dt, int direction)
{
    const struct corrector *const c = wh_corrector(w->b->whfast);
    for (int term = 0; c && term < c->terms; term++) {
        const int k = direction > 0 ? term : c->terms - 1 - term;
        const double a = direction * (k + 1) * ALPHA * dt, b = c->b[k] * dt;
        wh_drift(w, a);
        wh_kick(w, b);
        wh_drift(w, -2 * a);
        wh_kick(w, -b);
        wh_drift(w, a);
    }
}

/* ---- The scheme. ----------------------------------------------------------------------------- */

static double *wh_state(const struct host_bodies *b)
{
    return b->planes + WH_STATE * b->stride;
}

static void whfast_begin(const struct host_bodies *b, double dt)
{
    if (b->whfast->safe)
        return;
    const struct wh w = wh_open(b, wh_state(b));
    wh_from_inertial(&w);
    wh_correct(&w, dt, 1);
    wh_drift(&w, dt / 2);
}

/* A step between rounded positions and velocities. */
static void whfast_safe_step(const struct wh *w, double dt)
{
    wh_from_inertial(w);
    wh_correct(w, dt, 1);
    wh_drift(w, dt / 2);
    wh_kick(w, dt);
    wh_drift(w, dt / 2);
    wh_correct(w, dt, -1);
    wh_to_inertial(w);
}

static void whfast_steps(const struct host_bodies *b, double dt, size_t steps)
{
    const struct wh w = wh_open(b, wh_state(b));
    for (; b->whfast->safe && steps > 0; steps--)
        whfast_safe_step(&w, dt);
    for (; steps > 0; steps--) {
        wh_kick(&w, dt);
        wh_drift(&w, dt);
    }
}

static void whfast_synchronize(const struct host_bodies *b, double dt)
{
    if (b->whfast->safe)
        return;
    double *const copy = wh_scratch(b, WH_COPY);
    memcpy(copy, wh_state(b), WH_STATE_PLANES * b->stride * sizeof *copy);
    const struct wh w = wh_open(b, copy);
    wh_drift(&w, -dt / 2);
    wh_correct(&w, dt, -1);
    wh_to_inertial(&w);
}

static int whfast_check(const struct nbody *nb, double first_mass)
{
    const struct nbody_whfast_options *const o = &nb->whfast;
    const bool heliocentric = o->coordinates == NBODY_HELIOCENTRIC;
    if (!(first_mass > 0))
        return clerror_set(EINVAL, "nbody_create: the integrator whfast needs a star: the mass of "
                                   "body 0 is 0; put the heaviest body first");
    if (nb->eps > 0 || nb->particles.own_eps)
        return clerror_set(EINVAL, "nbody_create: the integrator whfast has no softening, because "
                                   "it follows Kepler's orbits; set eps to 0");
    if ((unsigned)o->coordinates > NBODY_HELIOCENTRIC)
        return clerror_set(EINVAL, "nbody_create: there are no coordinates %d",
                           (int)o->coordinates);
    if (o->corrector != 0 && o->corrector != -1 && !wh_corrector(o))
        return clerror_set(EINVAL,
                           "nbody_create: there is no corrector of order %d; take 3, 5, 7, 11, 17, "
                           "or -1 for none",
                           o->corrector);
    if (heliocentric && o->corrector > 0)
        return clerror_set(EINVAL, "nbody_create: correctors need NBODY_JACOBI");
    return heliocentric && nb->nfields ? clerror_set(EINVAL, "nbody_create: the integrator whfast "
                                                             "has fields only with NBODY_JACOBI")
                                       : 0;
}

/* Queries run on the devices and use leapfrog's kernel to reduce sums. */
static int whfast_update(struct nbody *nb, struct nbody_device *p, cl_uint count,
                         const struct update *u)
{
    return nbody_leapfrog_update(nb, p, count, u, 0, 0);
}

/* An independent method: extrapolation in long double. */
static void whfast_reference(const struct nbody_ref_system *s, double dt, size_t steps, double *x,
                             double *v, double *work)
{
    (void)work;
    (void)nbody_ref_exact_in(s, dt * (double)steps, 1e-15, (double(*)[3])x, (double(*)[3])v);
}

static const struct host_scheme whfast_few = {.scratch = WH_SCRATCH,
                                              .prepare = whfast_prepare,
                                              .begin = whfast_begin,
                                              .steps = whfast_steps,
                                              .synchronize = whfast_synchronize,
                                              .check = whfast_check};

const struct integrator nbody_integrate_whfast = {
    .info = {.name = "whfast",
             .about =
                 "of 2nd order and symplectic, with a corrector, on the host: for planets that "
                 "stay apart, over long times",
             .order = 2},
    .source = &source,
    .kernels = {"leapfrog"},
    .sum = FORCES,
    .planes = WH_STATE + WH_STATE_PLANES,
    .update = whfast_update,
    .few = &whfast_few,
    .few_only = true,
    .reference = whfast_reference,
};
