/* ensemble_whfast.cl - many planetary systems at once, WIDTH per work-item: the steps of whfast
 * (whfast_steps.h), with the bits of a single run on the host (integrate_whfast.c, its scalar
 * reference). The host puts ensemble_lanes.cl, kepler_solver.h, heliocentric_slots.h,
 * tangent_sums.h and whfast_steps.h in front.
 *
 *   state[c * systems + i]    component c of system i: for each body, including the star, 3 of the
 *                             position and 3 of the velocity, inertial
 *   slots[c * systems + i]    component c of system i: planes of relative x, v and their rounding
 *                             errors, 3 BODIES each; with MEGNO also of the tangent vector, then
 *                             WH_SUMS sums; half a step ahead, unless SAFE
 *   gm[c * systems + i]       G m: the star, then the planets
 *   record                    ensemble_watch.cl, which the host puts in front of watched kernels
 *
 * Watched systems end, but their bodies do not merge. Slots are corrected and half a step ahead, so
 * that states for the watch cost a step or, with a corrector, several. A watched kernel therefore
 * looks at states without the correction, which is of the order of the planets' masses, and
 * computes the exact ones where something may happen.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_ENSEMBLE_LANES_CL /* prepended by the host */
#include "ensemble_lanes.cl"
#endif
#ifndef STDCL_NBODY_KEPLER_SOLVER_H
#include "../integrator/kepler_solver.h"
#endif
#ifndef STDCL_NBODY_HELIOCENTRIC_SLOTS_H
#include "../integrator/heliocentric_slots.h"
#endif
#ifndef STDCL_NBODY_TANGENT_SUMS_H
#include "../integrator/tangent_sums.h"
#endif
#ifndef STDCL_NBODY_WHFAST_STEPS_H
#include "../integrator/whfast_steps.h"
#endif
#ifndef PLANETS
#define PLANETS 2 /* per system */
#endif
#ifndef HELIOCENTRIC
#define HELIOCENTRIC 0 /* 1: democratic heliocentric coordinates; 0: Jacobi coordinates */
#endif
#ifndef CORRECTOR
#define CORRECTOR -1 /* entry of wh_correctors; -1: none */
#endif
#ifndef SAFE
#define SAFE 0 /* 1: begin each step from inertial positions and velocities */
#endif
#ifndef MEGNO
#define MEGNO 0 /* 1: follow a tangent vector */
#endif
#ifndef WATCH
#define WATCH 0 /* 1: after ensemble_watch.cl, with WIDTH 1 and MERGE 0 */
#endif
#define BODIES (PLANETS + 1)
#define M (3 * BODIES)
#define PARTS 8                             /* lanes of a sum on the host */
#define INTERACTING (BODIES - HELIOCENTRIC) /* bodies of a kick, and the first i of its pairs */
#define FIRST_ROW (2 - HELIOCENTRIC)
#if WIDTH == 1 /* partial sums in registers; lanes gain nothing */
#define UNROLLED _Pragma("unroll")
#else
#define UNROLLED
#endif

struct whfast_numbers {
    lanes gm[BODIES], focus[BODIES], ratio[BODIES], own_x[M], own_v[M], x[M], v[M], lost_x[M],
        lost_v[M], a[M], force[M];
#if MEGNO
    lanes tx[M], tv[M], sums[WH_SUMS];
#endif
};

/* ---- Parts of a step. ------------------------------------------------------------------------ */

/* Compute the changes of the x and v of a slot, and move its tangent vector. */
static inline void wh_drift_planet(const struct wh *w, int s, double dt, const lanes *x,
                                   const lanes *v, lanes *dx, lanes *dv)
{
    struct orbit_lanes k;
    struct stumpff_lanes g;
    struct kepler_factors f;
    kepler_follow(&w->focus[s], dt, x, v, &k, &g);
    kepler_find_factors(&w->focus[s], &k, &g, &f);
    kepler_change(&f, x, v, dx, dv);
#if MEGNO
    lanes tx[3], tv[3];
    for (int c = 0; w->tx && c < 3; c++) {
        tx[c] = w->tx[c * BODIES + s];
        tv[c] = w->tv[c * BODIES + s];
    }
    if (w->tx)
        kepler_tangent(&w->focus[s], dt, &k, &g, &f, x, v, tx, tv);
    for (int c = 0; w->tx && c < 3; c++) {
        w->tx[c * BODIES + s] = tx[c];
        w->tv[c * BODIES + s] = tv[c];
    }
#endif
}

static void wh_drift(const struct wh *w, double dt)
{
    for (int s = 0; s < BODIES; s++) {
        lanes x[3], v[3], dx[3], dv[3];
        for (int c = 0; c < 3; c++) {
            x[c] = w->x[c * BODIES + s];
            v[c] = w->v[c * BODIES + s];
            dx[c] = dt * v[c];
            dv[c] = 0;
        }
        if (s < PLANETS) /* the centre of mass moves in a straight line */
            wh_drift_planet(w, s, dt, x, v, dx, dv);
        for (int c = 0; c < 3; c++) {
            const int k = c * BODIES + s;
            lanes_add_compensated(&w->x[k], &w->lost_x[k], &dx[c]);
            lanes_add_compensated(&w->v[k], &w->lost_v[k], &dv[c]);
        }
    }
}

/* Add the accelerations by pairs in the order of nbody_host_add_pairs: a body's sum over j has
 * PARTS parts. */
static inline void wh_add_pairs(const lanes *x, const lanes *gm, lanes *a)
{
    UNROLLED for (int i = FIRST_ROW; i < INTERACTING; i++)
    {
        lanes sum[3][PARTS];
        for (int c = 0; c < 3; c++)
            for (int p = 0; p < PARTS; p++)
                sum[c][p] = 0;
        UNROLLED for (int j = 0; j < i; j++)
        {
            lanes d[3], r2 = 0;
            for (int c = 2; c >= 0; c--) {
                d[c] = x[c * BODIES + j] - x[c * BODIES + i];
                r2 = d[c] * d[c] + r2;
            }
            lanes r = r2;
            lanes_root(&r);
            const lanes f = 1 / (r2 * r), to_i = f * gm[j], to_j = f * gm[i];
            for (int c = 0; c < 3; c++) {
                sum[c][j % PARTS] += to_i * d[c];
                a[c * BODIES + j] -= to_j * d[c];
            }
        }
        for (int c = 0; c < 3; c++)
            a[c * BODIES + i] += ((sum[c][0] + sum[c][4]) + (sum[c][2] + sum[c][6])) +
                                 ((sum[c][1] + sum[c][5]) + (sum[c][3] + sum[c][7]));
    }
}

/* Subtract the force from the focus on bodies from 2 on, which Kepler's motion contains. */
static inline void wh_subtract_focus(const struct wh *w)
{
    for (int s = 1; s < PLANETS; s++) {
        const lanes x = w->x[s], y = w->x[BODIES + s], z = w->x[2 * BODIES + s],
                    r2 = x * x + (y * y + z * z);
        lanes r = r2;
        lanes_root(&r);
        const lanes f = w->focus[s] / (r2 * r);
        w->force[s] += f * x;
        w->force[BODIES + s] += f * y;
        w->force[2 * BODIES + s] += f * z;
    }
}

/* Positions are relative to the centre of mass. */
static inline void wh_jacobi_force(const struct wh *w)
{
    for (int c = 0; c < 3; c++)
        inertial_from_jacobi(w, w->x + c * BODIES, LANES(0), w->own_x + c * BODIES);
    for (int k = 0; k < M; k++)
        w->a[k] = 0;
    wh_add_pairs(w->own_x, w->gm, w->a);
    for (int c = 0; c < 3; c++)
        jacobi_from_inertial(w, w->a + c * BODIES, w->force + c * BODIES);
    wh_subtract_focus(w);
}

static inline void wh_heliocentric_force(const struct wh *w)
{
    for (int k = 0; k < M; k++)
        w->force[k] = 0;
    wh_add_pairs(w->x, w->gm + 1, w->force);
}

/* Move the planets by the star's recoil. */
static inline void wh_jump(const struct wh *w, double dt)
{
    for (int c = 0; c < 3; c++) {
        const lanes change = dt * (heliocentric_sum(w->n, w->gm, w->v + c * BODIES) / w->gm[0]);
        for (int s = 0; s < PLANETS; s++)
            lanes_add_compensated(&w->x[c * BODIES + s], &w->lost_x[c * BODIES + s], &change);
    }
}

static void wh_kick(const struct wh *w, double dt)
{
    if (w->heliocentric) {
        wh_jump(w, dt / 2);
        wh_heliocentric_force(w);
    } else {
        wh_jacobi_force(w);
    }
    for (int k = 0; k < M; k++) {
        const lanes change = dt * w->force[k];
        if (k % BODIES < PLANETS)
            lanes_add_compensated(&w->v[k], &w->lost_v[k], &change);
    }
#if MEGNO
    if (w->tx)
        wh_tangent_kick(w, dt);
#endif
    if (w->heliocentric)
        wh_jump(w, dt / 2);
}

/* ---- Kernels. -------------------------------------------------------------------------------- */

static inline struct wh whfast_of(struct whfast_numbers *s)
{
    return (struct wh)
    {
        .n = BODIES, .stride = BODIES, .own_x = s->own_x, .own_v = s->own_v, .x = s->x, .v = s->v,
        .lost_x = s->lost_x, .lost_v = s->lost_v, .gm = s->gm, .focus = s->focus, .ratio = s->ratio,
        .a = s->a, .force = s->force,
#if MEGNO
        .tx = s->tx, .tv = s->tv, .sums = s->sums, .sum_stride = 1,
#endif
        .heliocentric = HELIOCENTRIC, .corrector = CORRECTOR
    };
}

static inline struct wh whfast_open(struct whfast_numbers *s, global const double *gms, size_t n,
                                    size_t left)
{
    for (int b = 0; b < BODIES; b++)
        s->gm[b] = lanes_load(gms + b * n, left);
    wh_find_masses(BODIES, HELIOCENTRIC, s->gm, s->focus, s->ratio);
    return whfast_of(s);
}

static inline void whfast_load_state(struct whfast_numbers *s, global const double *state, size_t n,
                                     size_t left)
{
    for (int b = 0; b < BODIES; b++)
        for (int c = 0; c < 3; c++) {
            s->own_x[c * BODIES + b] = lanes_load(state + (6 * b + c) * n, left);
            s->own_v[c * BODIES + b] = lanes_load(state + (6 * b + 3 + c) * n, left);
        }
}

static inline void whfast_store_state(const struct whfast_numbers *s, global double *state,
                                      size_t n, size_t left)
{
    for (int b = 0; b < BODIES; b++)
        for (int c = 0; c < 3; c++) {
            lanes_store(state + (6 * b + c) * n, left, s->own_x[c * BODIES + b]);
            lanes_store(state + (6 * b + 3 + c) * n, left, s->own_v[c * BODIES + b]);
        }
}

static inline void whfast_load_slots(struct whfast_numbers *s, global const double *slots, size_t n,
                                     size_t left)
{
    for (int k = 0; k < M; k++) {
        s->x[k] = lanes_load(slots + k * n, left);
        s->v[k] = lanes_load(slots + (M + k) * n, left);
        s->lost_x[k] = lanes_load(slots + (2 * M + k) * n, left);
        s->lost_v[k] = lanes_load(slots + (3 * M + k) * n, left);
#if MEGNO
        s->tx[k] = lanes_load(slots + (4 * M + k) * n, left);
        s->tv[k] = lanes_load(slots + (5 * M + k) * n, left);
#endif
    }
#if MEGNO
    for (int k = 0; k < WH_SUMS; k++)
        s->sums[k] = lanes_load(slots + (6 * M + k) * n, left);
#endif
}

static inline void whfast_store_slots(const struct whfast_numbers *s, global double *slots,
                                      size_t n, size_t left)
{
    for (int k = 0; k < M; k++) {
        lanes_store(slots + k * n, left, s->x[k]);
        lanes_store(slots + (M + k) * n, left, s->v[k]);
        lanes_store(slots + (2 * M + k) * n, left, s->lost_x[k]);
        lanes_store(slots + (3 * M + k) * n, left, s->lost_v[k]);
#if MEGNO
        lanes_store(slots + (4 * M + k) * n, left, s->tx[k]);
        lanes_store(slots + (5 * M + k) * n, left, s->tv[k]);
#endif
    }
#if MEGNO
    for (int k = 0; k < WH_SUMS; k++)
        lanes_store(slots + (6 * M + k) * n, left, s->sums[k]);
#endif
}

/* Compute the slots from the state. started: keep the tangent vector, `ahead` of the state. */
kernel void ensemble_whfast_begin(global const double *state, global double *slots,
                                  global const double *gms, uint systems, double h, uint started,
                                  double ahead)
{
    const size_t i = WIDTH * get_global_id(0), n = systems;
    if (i >= n)
        return;
    struct whfast_numbers s;
    const struct wh w = whfast_open(&s, gms + i, n, n - i);
    if (started)
        whfast_load_slots(&s, slots + i, n, n - i);
    whfast_load_state(&s, state + i, n, n - i);
    wh_begin(&w, h, started, ahead);
    whfast_store_slots(&s, slots + i, n, n - i);
}

#if !WATCH
/* Advance the slots by `steps` steps of h; with SAFE `own` is the state, otherwise the slots. */
kernel void ensemble_whfast(global double *own, global const double *gms, uint systems, double h,
                            uint steps)
{
    const size_t i = WIDTH * get_global_id(0), n = systems;
    if (i >= n)
        return;
    struct whfast_numbers s;
    const struct wh w = whfast_open(&s, gms + i, n, n - i);
#if SAFE
    whfast_load_state(&s, own + i, n, n - i);
    wh_safe_steps(&w, h, steps);
    whfast_store_state(&s, own + i, n, n - i);
#else
    whfast_load_slots(&s, own + i, n, n - i);
    wh_steps(&w, h, steps);
    whfast_store_slots(&s, own + i, n, n - i);
#endif
}
#else

/* Positions and velocities of the bodies, for ensemble_watch.cl. */
static void whfast_list(const struct whfast_numbers *s, double *x, double *v)
{
    for (int b = 0; b < BODIES; b++)
        for (int c = 0; c < 3; c++) {
            x[3 * b + c] = s->own_x[c * BODIES + b];
            v[3 * b + c] = s->own_v[c * BODIES + b];
        }
}

/* Compute the state from a copy of the slots; unless `exact`, without the correction. */
static void whfast_look(const struct whfast_numbers *s, double h, bool exact, double *x, double *v)
{
    struct whfast_numbers copy = *s;
    const struct wh all = whfast_of(&copy);
    struct wh w = wh_plain(&all);
    w.corrector = exact ? w.corrector : -1;
    wh_synchronize(&w, h);
    whfast_list(&copy, x, v);
}

/* Make a step between the times `begin` and `end`, and watch it. x, v: approximate or exact state
 * before the step, then the approximate one after it. */
static void whfast_watched_step(struct watch *watch, struct whfast_numbers *s, const struct wh *w,
                                double h, double begin, double end, double *x, double *v)
{
    const struct whfast_numbers before = *s;
    double x0[M], v0[M];
    for (int k = 0; k < M; k++) {
        x0[k] = x[k];
        v0[k] = v[k];
    }
    wh_steps(w, h, 1);
    whfast_look(s, h, false, x, v);
    if (!watch_may_act(watch, h, s->gm, x0, v0, x, v))
        return;
    double exact_x[M], exact_v[M];
    whfast_look(&before, h, true, x0, v0);
    whfast_look(s, h, true, exact_x, exact_v);
    watch_step(watch, begin, end, s->gm, x0, v0, exact_x, exact_v);
}

/* As whfast_watched_step in safe mode, where the state is exact. */
static void whfast_watched_safe_step(struct watch *watch, struct whfast_numbers *s,
                                     const struct wh *w, double h, double begin, double end,
                                     double *x, double *v)
{
    double x0[M], v0[M];
    whfast_list(s, x0, v0);
    wh_safe_steps(w, h, 1);
    whfast_list(s, x, v);
    watch_step(watch, begin, end, s->gm, x0, v0, x, v);
}

kernel void ensemble_whfast_watched(global double *own, global const double *gms, uint systems,
                                    double h, uint steps, global double *record, double distance,
                                    ulong before, double base)
{
    const size_t i = get_global_id(0), n = systems;
    if (i >= n)
        return;
    struct watch watch;
    watch_open(&watch, record, n, i, distance);
    if (!watch_runs(&watch))
        return;
    struct whfast_numbers s;
    const struct wh w = whfast_open(&s, gms + i, n, 1);
    double x[M], v[M];
#if SAFE
    whfast_load_state(&s, own + i, n, 1);
    whfast_list(&s, x, v);
#else
    whfast_load_slots(&s, own + i, n, 1);
    whfast_look(&s, h, before == 0 && base == 0, x, v);
#endif
    if (before == 0 && base == 0)
        watch_overlaps(&watch, s.gm, x, v);
    for (uint k = 0; k < steps && watch_runs(&watch); k++) {
        const double begin = base + h * (double)(before + k),
                     end = base + h * (double)(before + k + 1);
#if SAFE
        whfast_watched_safe_step(&watch, &s, &w, h, begin, end, x, v);
#else
        whfast_watched_step(&watch, &s, &w, h, begin, end, x, v);
#endif
    }
#if SAFE
    whfast_store_state(&s, own + i, n, 1);
#else
    whfast_store_slots(&s, own + i, n, 1);
#endif
    watch_close(&watch);
}
#endif

/* Compute the state from the slots, which do not change. */
kernel void ensemble_whfast_synchronize(global double *state, global const double *slots,
                                        global const double *gms, uint systems, double h)
{
    const size_t i = WIDTH * get_global_id(0), n = systems;
    if (i >= n)
        return;
    struct whfast_numbers s;
    const struct wh all = whfast_open(&s, gms + i, n, n - i), w = wh_plain(&all);
    whfast_load_slots(&s, slots + i, n, n - i);
    wh_synchronize(&w, h);
    whfast_store_state(&s, state + i, n, n - i);
}
