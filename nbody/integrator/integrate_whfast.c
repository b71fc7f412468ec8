/* integrate_whfast.c - Wisdom & Holman's (1991) symplectic steps for a star with planets, on the
 * host: Kepler motion of each planet about a focus, and kicks by all other forces. The order of
 * these parts and the layout of planes are in whfast_steps.h.
 *
 *   planes               a (inertial), v, then relative x, v, and their rounding errors; for MEGNO
 *                        the tangent vector, and a plane per sum, the first number of the plane
 *
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/heliocentric.h"
#include "nbody/integrator/host_lanes.h"
#include "nbody/integrator/host_state.h"
#include "nbody/integrator/kepler.h"
#include "nbody/integrator/stepping.h"

#define WH_NUMBER double
#define WH_CONSTANT static const
#define WH_SELECT(which, a, b) ((which) ? (a) : (b))
#include "nbody/integrator/heliocentric_slots.h"
#include "nbody/integrator/tangent_sums.h"
#include "nbody/integrator/whfast_steps.h"

EMBEDDED(source, "nbody/integrator/integrate_leapfrog.cl", nbody_integrator_integrate_leapfrog_cl);

/* Planes of the state after acceleration and velocity, and of the scratch memory. */
enum { WH_STATE = 6, WH_STATE_PLANES = 12, WH_TANGENT = WH_STATE + WH_STATE_PLANES };
_Static_assert(NBODY_TANGENT_PLANES == 6 + WH_SUMS, "planes of a tangent vector");
enum { WH_FOCUS, WH_RATIO, WH_GM, WH_E2, WH_FORCE, WH_COPY = WH_FORCE + 3 };
enum { WH_SCRATCH = WH_COPY + WH_STATE_PLANES };

static double *wh_scratch(const struct host_bodies *b, size_t plane)
{
    return b->scratch + plane * b->stride;
}

int nbody_whfast_corrector(const struct nbody_whfast_options *o)
{
    const int order = o->corrector || o->coordinates == NBODY_HELIOCENTRIC ? o->corrector : 17;
    for (int k = 0; k < WH_CORRECTORS; k++)
        if (wh_correctors[k].order == order)
            return k;
    return -1;
}

/* Without the tangent vector. `state` has WH_STATE_PLANES planes. */
static struct wh wh_open(const struct host_bodies *b, double *state)
{
    const size_t three = 3 * b->stride;
    return (struct wh){.n = b->n,
                       .stride = b->stride,
                       .own_x = b->x,
                       .own_v = b->v,
                       .x = state,
                       .v = state + three,
                       .lost_x = state + 2 * three,
                       .lost_v = state + 3 * three,
                       .gm = b->gm,
                       .focus = wh_scratch(b, WH_FOCUS),
                       .ratio = wh_scratch(b, WH_RATIO),
                       .a = b->a,
                       .force = wh_scratch(b, WH_FORCE),
                       .heliocentric = b->whfast->coordinates == NBODY_HELIOCENTRIC,
                       .corrector = nbody_whfast_corrector(b->whfast),
                       .b = b};
}

/* As wh_open of the planes, with the tangent vector if there is one. */
static struct wh wh_open_all(const struct host_bodies *b)
{
    struct wh w = wh_open(b, b->planes + WH_STATE * b->stride);
    if (b->megno) {
        w.tx = b->planes + WH_TANGENT * b->stride;
        w.tv = w.tx + 3 * b->stride;
        w.sums = w.tx + 6 * b->stride;
        w.sum_stride = b->stride;
    }
    return w;
}

static void whfast_prepare(const struct host_bodies *b)
{
    double *const focus = wh_scratch(b, WH_FOCUS), *const gm = wh_scratch(b, WH_GM),
                  *const e2 = wh_scratch(b, WH_E2);
    memset(focus, 0, b->stride * sizeof *focus);
    memset(gm, 0, b->stride * sizeof *gm);
    wh_find_masses(b->n, b->whfast->coordinates == NBODY_HELIOCENTRIC, b->gm, focus,
                   wh_scratch(b, WH_RATIO));
    for (size_t i = 1; i < b->n; i++)
        gm[i - 1] = b->gm[i];
    for (size_t k = 0; k < b->stride; k++)
        e2[k] = k + 1 < b->n ? b->e2[k + 1] : 1;
}

/* ---- Parts of a step. ------------------------------------------------------------------------ */

/* Subtract the force from the focus on bodies from 2 on, which Kepler's motion contains. */
CLONES static void wh_subtract_focus(const struct wh *w)
{
    const size_t m = w->stride;
    for (size_t i = 0; i < w->n; i += HOST_LANES) {
        const lane_numbers slot = (lane_numbers){0, 1, 2, 3, 4, 5, 6, 7} + (long long)i;
        const lanes gm = LOAD(w->focus + i), zero = {0}, x = LOAD(w->x + i), y = LOAD(w->x + m + i),
                    z = LOAD(w->x + 2 * m + i);
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

/* Pass positions, and velocities with a kick of `lag` by the last forces, to forces of the caller.
 */
static void wh_gather_added(const struct wh *w, double lag)
{
    const struct host_bodies *const b = w->b;
    const size_t m = b->stride, last = b->n - 1;
    for (size_t c = 0; b->added && c < 3; c++) {
        inertial_from_jacobi(w, w->v + c * m, w->v[c * m + last], b->v + c * m);
        if (lag != 0)
            inertial_from_jacobi(w, w->force + c * m, w->force[c * m + last], b->a + c * m);
    }
    if (b->added)
        b->added->lag = lag;
    nbody_host_added_gather(b);
}

/* Positions are relative to the centre of mass, where no field needs the place of the origin, so
 * that a distant centre costs no digits. lag: see wh_gather_added. */
static void wh_jacobi_force(const struct wh *w, double lag)
{
    const struct host_bodies *const b = w->b;
    const size_t m = b->stride, last = b->n - 1;
    const bool outer = b->nfields || b->added;
    for (size_t c = 0; c < 3; c++)
        inertial_from_jacobi(w, w->x + c * m, outer ? w->x[c * m + last] : 0, b->x + c * m);
    wh_gather_added(w, lag);
    memset(b->a, 0, 3 * m * sizeof *b->a);
    nbody_host_add_pairs(b, 2, b->a);
    nbody_host_add_fields(b, b->a);
    nbody_host_added_add(b);
    for (size_t c = 0; c < 3; c++) {
        jacobi_from_inertial(w, b->a + c * m, w->force + c * m);
        if (!outer)
            w->force[c * m + last] = 0;
    }
    wh_subtract_focus(w);
}

static struct kepler_orbits wh_orbits(const struct wh *w)
{
    return (struct kepler_orbits){.n = w->n,
                                  .stride = w->stride,
                                  .gm = w->focus,
                                  .x = w->x,
                                  .v = w->v,
                                  .lost_x = w->lost_x,
                                  .lost_v = w->lost_v,
                                  .tx = w->tx,
                                  .tv = w->tv};
}

static struct heliocentric wh_heliocentric(const struct wh *w)
{
    return (struct heliocentric){.orbits = wh_orbits(w),
                                 .gm = w->gm,
                                 .slot_gm = wh_scratch(w->b, WH_GM),
                                 .e2 = wh_scratch(w->b, WH_E2),
                                 .total = w->ratio[0],
                                 .force = w->force};
}

/* Kick by the pairs of planets, between two jumps by the star's recoil. */
static void wh_heliocentric_kick(const struct wh *w, double dt)
{
    const struct heliocentric h = wh_heliocentric(w);
    nbody_heliocentric_jump(&h, dt / 2);
    nbody_heliocentric_force(&h);
    nbody_kepler_kick(&h.orbits, dt, h.force);
    if (w->tx)
        wh_tangent_kick(w, dt);
    nbody_heliocentric_jump(&h, dt / 2);
}

/* Forces that depend on velocities are evaluated again in the middle of the kick. */
static void wh_jacobi_kick(const struct wh *w, double dt)
{
    const struct kepler_orbits o = wh_orbits(w);
    wh_jacobi_force(w, 0);
    if (w->b->added && nbody_added_need_velocities(w->b->added->nb))
        wh_jacobi_force(w, dt / 2);
    nbody_kepler_kick(&o, dt, w->force);
    if (w->tx)
        wh_tangent_kick(w, dt);
}

static void wh_kick(const struct wh *w, double dt)
{
    if (w->heliocentric)
        wh_heliocentric_kick(w, dt);
    else
        wh_jacobi_kick(w, dt);
}

static void wh_drift(const struct wh *w, double dt)
{
    const struct kepler_orbits o = wh_orbits(w);
    nbody_kepler_drift(&o, dt);
    nbody_host_added_move(w->b, dt);
}

/* ---- The scheme. ----------------------------------------------------------------------------- */

static void whfast_begin(const struct host_bodies *b, double dt)
{
    if (b->whfast->safe)
        return;
    const struct wh w = wh_open_all(b);
    const bool started = b->megno && WH_SUM(&w, WH_WEIGHT) > 0;
    wh_begin(&w, dt, started, started ? WH_SUM(&w, WH_AHEAD) : 0);
}

static void whfast_steps(const struct host_bodies *b, double dt, size_t steps)
{
    const struct wh w = wh_open_all(b);
    if (b->whfast->safe) {
        wh_safe_steps(&w, dt, steps);
        return;
    }
    nbody_host_added_move(b, dt / 2); /* between steps the slots are half a step ahead */
    wh_steps(&w, dt, steps);
}

static void whfast_synchronize(const struct host_bodies *b, double dt)
{
    if (b->whfast->safe)
        return;
    double *const copy = wh_scratch(b, WH_COPY);
    memcpy(copy, b->planes + WH_STATE * b->stride, WH_STATE_PLANES * b->stride * sizeof *copy);
    const struct wh w = wh_open(b, copy);
    nbody_host_added_move(b, dt / 2);
    wh_synchronize(&w, dt);
}

int nbody_whfast_check(const struct nbody_whfast_options *o, bool megno, const char *function)
{
    if (megno && o->safe)
        return clerror_set(EINVAL, "%s: MEGNO needs steps without safe mode", function);
    if ((unsigned)o->coordinates > NBODY_HELIOCENTRIC)
        return clerror_set(EINVAL, "%s: there are no coordinates %d", function,
                           (int)o->coordinates);
    if (o->corrector != 0 && o->corrector != -1 && nbody_whfast_corrector(o) < 0)
        return clerror_set(EINVAL,
                           "%s: there is no corrector of order %d; take 3, 5, 7, 11, 17, or -1 for "
                           "none",
                           function, o->corrector);
    return o->coordinates == NBODY_HELIOCENTRIC && o->corrector > 0
               ? clerror_set(EINVAL, "%s: correctors need NBODY_JACOBI", function)
               : 0;
}

static int whfast_check(const struct nbody *nb, double first_mass)
{
    const bool heliocentric = nb->whfast.coordinates == NBODY_HELIOCENTRIC;
    if (!(first_mass > 0))
        return clerror_set(EINVAL, "nbody_create: the integrator whfast needs a star: the mass of "
                                   "body 0 is 0; put the heaviest body first");
    if (nb->eps > 0 || nb->particles.own_eps)
        return clerror_set(EINVAL, "nbody_create: the integrator whfast has no softening, because "
                                   "it follows Kepler's orbits; set eps to 0");
    if (nbody_whfast_check(&nb->whfast, nb->megno, "nbody_create") != 0)
        return -1;
    return heliocentric && nb->nfields ? clerror_set(EINVAL, "nbody_create: the integrator whfast "
                                                             "has fields only with NBODY_JACOBI")
                                       : 0;
}

/* Norms and sums do not depend on the order of the numbers. */
static struct wh wh_of_tangent(const struct tangent *t)
{
    return (struct wh){.n = t->n + 1,
                       .stride = t->n,
                       .x = t->x,
                       .v = t->v,
                       .gm = t->sums,
                       .tx = t->tx,
                       .tv = t->tv,
                       .sums = t->sums,
                       .sum_stride = 1};
}

bool nbody_tangent_has_begun(const double *sums)
{
    return sums[WH_WEIGHT] > 0;
}

void nbody_tangent_begin(const struct tangent *t)
{
    const struct wh w = wh_of_tangent(t);
    wh_tangent_begin(&w);
}

void nbody_tangent_record(const struct tangent *t, double dt)
{
    const struct wh w = wh_of_tangent(t);
    wh_record(&w, dt);
}

struct nbody_chaos nbody_whfast_chaos(const double *sums, size_t stride)
{
    const double t = sums[WH_TIME * stride], y = sums[WH_MEGNO * stride];
    return t > 0 ? (struct nbody_chaos){.megno = sums[WH_MEAN * stride] / t,
                                        .megno_now = 2 * y / t,
                                        .lyapunov = sums[WH_GROWTH * stride] / t,
                                        .time = t}
                 : (struct nbody_chaos){.time = 0};
}

const double *nbody_whfast_sums(struct nbody *nb, size_t *stride)
{
    if (nbody_few_download(nb) != 0)
        return NULL;
    const struct host_bodies *const b = &nb->integration.few->b;
    *stride = b->stride;
    return b->planes + (WH_TANGENT + 6) * b->stride;
}

/* Only nbody_time_forces runs on devices; leapfrog's kernel reduces its sums. */
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
    .added = ADDED_OF_VELOCITY,
    .planes = WH_STATE + WH_STATE_PLANES,
    .update = whfast_update,
    .few = &whfast_few,
    .few_only = true,
    .reference = whfast_reference,
};
