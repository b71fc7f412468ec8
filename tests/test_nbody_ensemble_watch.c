/* Ensembles of planetary systems that end or merge bodies: times of contacts and escapes against
 * closed forms, conserved quantities of mergers, equal bits of systems without events, saved
 * states, and rejected options.
 * SPDX-License-Identifier: MIT
 */
#include "nbody_engine.h"

#include "nbody/reference/nbody_ref.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { SYSTEMS = 5, BODIES = 4, ALL = SYSTEMS * BODIES };
static double mass[ALL], pos[ALL][3], vel[ALL][3], radius[ALL], mass1[ALL], pos1[ALL][3],
    vel1[ALL][3], pos2[ALL][3], vel2[ALL][3];

static void watch_clear(void)
{
    memset(mass, 0, sizeof mass);
    memset(pos, 0, sizeof pos);
    memset(vel, 0, sizeof vel);
    memset(radius, 0, sizeof radius);
}

static void watch_put(size_t i, double m, double x, double y, double vx, double vy)
{
    mass[i] = m;
    pos[i][0] = x, pos[i][1] = y, pos[i][2] = 0;
    vel[i][0] = vx, vel[i][1] = vy, vel[i][2] = 0;
}

/* A massless planet on a circle of radius a about a star of mass 1, at an angle. */
static void watch_circle(size_t i, double m, double a, double angle)
{
    const double v = sqrt(1 / a);
    watch_put(i, m, a * cos(angle), a * sin(angle), -v * sin(angle), v * cos(angle));
}

static nbody_ensemble *watch_ensemble(enum nbody_integrator integrator, double dt, size_t systems,
                                      size_t bodies)
{
    nbody_ensemble *e =
        nbody_ensemble_create(&(struct nbody_ensemble_options){.dt = dt, .integrator = integrator},
                              systems, bodies, mass, (rows)pos, (rows)vel);
    ready(e);
    return e;
}

static void watch_set(nbody_ensemble *e, double distance, int merge)
{
    works(nbody_ensemble_watch(e, &(struct nbody_ensemble_watch_options){.stop_distance = distance,
                                                                         .radius = radius,
                                                                         .merge = merge}));
}

/* Return the only event of a system. */
static struct nbody_system_event watch_event(nbody_ensemble *e, size_t system)
{
    struct nbody_system_event *event;
    size_t n;
    works(nbody_ensemble_events(e, 1, &system, &event, &n));
    assert_true(n == 1 && event->system == system);
    const struct nbody_system_event found = *event;
    free(event);
    return found;
}

/* ---- Contacts that end a system. ------------------------------------------------------------- */

/* A planet that falls from rest at 1 reaches R at sqrt(1 / 2) (sqrt(R (1 - R)) + acos sqrt R). The
 * second system's planet has no radius and does not fall. */
static void watch_fall_ends_at_surface(void **state)
{
    (void)state;
    const double R = 0.04, right = sqrt(0.5) * (sqrt(R * (1 - R)) + acos(sqrt(R)));
    watch_clear();
    watch_put(0, 1, 0, 0, 0, 0);
    watch_put(1, 0, 1, 0, 0, 0);
    watch_put(2, 1, 0, 0, 0, 0);
    watch_put(3, 0, 1, 0, 0, 1);
    radius[0] = 0.03, radius[1] = 0.01;
    nbody_ensemble *e = watch_ensemble(NBODY_IAS15, PI, 2, 2);
    watch_set(e, 0, 0);
    works(nbody_ensemble_step(e, 2));
    struct nbody_system s[2];
    works(nbody_ensemble_systems(e, 2, NULL, s));
    works(nbody_ensemble_state(e, pos1, vel1));
    const struct nbody_system_event event = watch_event(e, 0);
    nbody_ensemble_free(e);
    assert_true(s[0].status == NBODY_SYSTEM_CONTACT && s[1].status == NBODY_SYSTEM_RUNS);
    assert_true(event.first == 0 && event.second == 1);
    if (!(fabs(event.time - right) < 1e-12 && fabs(s[0].time - right) < 1e-12))
        fail_msg("contact at %.17g, right %.17g", event.time, right);
    assert_true(fabs(pos1[1][0] - pos1[0][0] - R) < 1e-11);
    assert_true(fabs(vel1[1][0] + sqrt(2 / R - 2)) < 1e-10);
    assert_true(fabs(s[1].time - 2 * PI) < 1e-12 && fabs(pos1[3][0] - 1) < 1e-12);
}

/* Massless planets on circles of radii 1 and 1.2, the outer one ahead: their distance falls to R
 * when the angle between them is acos((1 + 1.44 - R^2) / 2.4). */
static void watch_circles_touch_on_time(void **state)
{
    static const enum nbody_integrator by[] = {0, NBODY_IAS15, NBODY_WHFAST};
    static const double limit[] = {4e-6, 1e-12, 4e-6};
    (void)state;
    const double R = 0.25, apart = 0.9, rate = 1 - pow(1.2, -1.5),
                 right = (apart - acos((1 + 1.44 - R * R) / 2.4)) / rate;
    for (int k = 0; k < 3; k++) {
        watch_clear();
        watch_put(0, 1, 0, 0, 0, 0);
        watch_circle(1, 0, 1, 0);
        watch_circle(2, 0, 1.2, apart);
        radius[1] = 0.1, radius[2] = 0.15;
        const double dt = by[k] == NBODY_IAS15 ? 1 : 0.125;
        nbody_ensemble *e = watch_ensemble(by[k], dt, 1, 3);
        watch_set(e, 0, 0);
        works(nbody_ensemble_step(e, (size_t)(10 / dt)));
        struct nbody_system s;
        works(nbody_ensemble_systems(e, 1, NULL, &s));
        const struct nbody_system_event event = watch_event(e, 0);
        nbody_ensemble_free(e);
        assert_true(s.status == NBODY_SYSTEM_CONTACT && event.first == 1 && event.second == 2);
        if (!(fabs(event.time - right) < limit[k]))
            fail_msg("contact at %.17g, right %.17g", event.time, right);
        assert_true(s.time >= event.time && s.time <= event.time + dt);
    }
}

/* Planets on circles of radii 1 and 1.01 run against each other: they touch within a step, and are
 * many radii apart at both ends. */
static void watch_finds_fast_encounters(void **state)
{
    enum { PHASES = 6 };
    const double R = 0.02, rate = 1 + pow(1.01, -1.5),
                 touch = acos((1 + 1.01 * 1.01 - R * R) / 2.02);
    (void)state;
    watch_clear();
    for (size_t s = 0; s < PHASES; s++) {
        const double apart = 1 + 0.04 * (double)s;
        watch_put(3 * s, 1, 0, 0, 0, 0);
        watch_circle(3 * s + 1, 0, 1, 0);
        watch_circle(3 * s + 2, 0, 1.01, apart);
        vel[3 * s + 2][0] *= -1, vel[3 * s + 2][1] *= -1;
        radius[3 * s + 1] = R / 4, radius[3 * s + 2] = 3 * R / 4;
    }
    nbody_ensemble *e = watch_ensemble(0, 0.125, PHASES, 3);
    watch_set(e, 0, 0);
    works(nbody_ensemble_step(e, 8));
    for (size_t s = 0; s < PHASES; s++) {
        const double right = (1 + 0.04 * (double)s - touch) / rate,
                     off = watch_event(e, s).time - right;
        if (!(fabs(off) < 1e-5))
            fail_msg("phase %zu: contact %g off", s, off);
    }
    nbody_ensemble_free(e);
}

/* ---- Mergers. -------------------------------------------------------------------------------- */

static void watch_sums(size_t bodies, const double *m, double (*x)[3], double (*v)[3],
                       double sum[7])
{
    memset(sum, 0, 7 * sizeof *sum);
    for (size_t b = 0; b < bodies; b++)
        for (int c = 0; c < 3 && !isnan(x[b][c]); c++) {
            sum[0] += c == 0 ? m[b] : 0;
            sum[1 + c] += m[b] * x[b][c];
            sum[4 + c] += m[b] * v[b][c];
        }
}

/* Two planets merge, then the star absorbs the third: mass, centre of mass, momentum and volume
 * stay, and the energy with the part that mergers removed. */
static void watch_mergers_conserve(void **state)
{
    static const enum nbody_integrator by[] = {0, NBODY_IAS15};
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct nbody_system s;
        double before[7], after[7], energy, end, mass0[BODIES];
        watch_clear();
        watch_put(0, 1, 0, 0, 0, 0);
        watch_circle(1, 1e-5, 1, 0);
        watch_circle(2, 3e-5, 1.04, 0.25);
        watch_put(3, 2e-5, -4, 0.1, 0.3, 0);
        radius[0] = 0.2, radius[1] = radius[2] = 0.03, radius[3] = 0.01;
        memcpy(mass0, mass, sizeof mass0);
        watch_sums(BODIES, mass, pos, vel, before);
        nbody_ensemble *e = watch_ensemble(by[k], by[k] ? 1 : 1. / 64, 1, BODIES);
        watch_set(e, 0, 1);
        works(nbody_ensemble_energies(e, &energy));
        works(nbody_ensemble_step(e, by[k] ? 32 : 32 * 64));
        works(nbody_ensemble_energies(e, &end));
        works(nbody_ensemble_read(e, 1, NULL, mass1, pos1, vel1));
        works(nbody_ensemble_systems(e, 1, NULL, &s));
        struct nbody_system_event *event;
        size_t n;
        works(nbody_ensemble_events(e, 1, NULL, &event, &n));
        if (!(s.status == NBODY_SYSTEM_RUNS && s.bodies == 2 && n == 2))
            fail_msg("integrator %d: %zu bodies, %zu events", (int)by[k], s.bodies, n);
        for (size_t i = 0; i < n; i++) /* the heavier planet and the star stay */
            assert_true(event[i].first == (event[i].second == 1 ? 2 : 0));
        free(event);
        watch_sums(BODIES, mass1, pos1, vel1, after);
        for (int c = 0; c < 7; c++) {
            const double right = before[c] + (c >= 1 && c < 4 ? 32 * before[c + 3] : 0);
            if (!(fabs(after[c] - right) < 1e-13))
                fail_msg("integrator %d, sum %d: %.17g, right %.17g", (int)by[k], c, after[c],
                         right);
        }
        assert_true(isnan(pos1[1][0]) && isnan(pos1[3][0]) && mass1[1] == 0);
        assert_true(fabs(mass1[2] - 4e-5) < 1e-19 && fabs(mass1[0] - 1.00002) < 1e-15);
        if (!(fabs((end + s.energy_lost) / energy - 1) < (by[k] ? 1e-12 : 1e-5)))
            fail_msg("integrator %d: energy %.17g, at the end %.17g and %.17g lost", (int)by[k],
                     energy, end, s.energy_lost);
        nbody_ensemble_free(e);
    }
}

/* A merged system moves on like one of the merged bodies from the start of the step: two massless
 * planets that overlap merge at time 0, halfway. */
static void watch_overlap_merges_at_start(void **state)
{
    static const enum nbody_integrator by[] = {0, NBODY_IAS15};
    (void)state;
    for (int k = 0; k < 2; k++) {
        double x[3] = {1, 0, 0}, v[3] = {0, 1, 0};
        watch_clear();
        watch_put(0, 1, 0, 0, 0, 0);
        watch_put(1, 0, 0.99, 0, 0, 0.98);
        watch_put(2, 0, 1.01, 0, 0, 1.02);
        radius[1] = radius[2] = 0.02;
        nbody_ensemble *e = watch_ensemble(by[k], 0.25, 1, 3);
        watch_set(e, 0, 1);
        works(nbody_ensemble_step(e, 8));
        works(nbody_ensemble_state(e, pos1, vel1));
        const struct nbody_system_event event = watch_event(e, 0);
        nbody_ensemble_free(e);
        assert_true(event.time == 0 && event.first == 1 && event.second == 2);
        nbody_ref_kepler(1, 2, x, v);
        assert_true(fabs(pos1[1][0] - x[0]) < 1e-12 && fabs(pos1[1][1] - x[1]) < 1e-12);
        assert_true(isnan(pos1[2][0]));
    }
}

/* ---- Distance. ------------------------------------------------------------------------------- */

/* A hyperbola and an ellipse: Kepler's equation gives the first step that ends beyond the
 * distance. By ias15 the planet is beyond at the end, and was not long before. */
static void watch_escape_ends_system(void **state)
{
    enum { STEPS = 400 };
    const double dt = 0.05, limit = 6;
    double x[3] = {1, 0, 0}, v[3] = {0, 1.6, 0};
    struct nbody_system s[2];
    static const enum nbody_integrator by[] = {0, NBODY_IAS15, NBODY_WHFAST};
    size_t right = 0;
    (void)state;
    while (hypot(x[0], x[1]) <= limit) {
        nbody_ref_kepler(1, dt, x, v);
        right++;
    }
    for (int k = 0; k < 3; k++) {
        watch_clear();
        watch_put(0, 1, 0, 0, 0, 0);
        watch_put(1, 0, 1, 0, 0, 1.6);
        watch_put(2, 1, 0, 0, 0, 0);
        watch_put(3, 0, 1, 0, 0, 1.2);
        nbody_ensemble *e = watch_ensemble(by[k], k == 1 ? 20 : dt, 2, 2);
        works(nbody_ensemble_watch(e,
                                   &(struct nbody_ensemble_watch_options){.stop_distance = limit}));
        works(nbody_ensemble_step(e, k == 1 ? 1 : STEPS));
        works(nbody_ensemble_systems(e, 2, NULL, s));
        works(nbody_ensemble_state(e, pos1, vel1));
        const struct nbody_system_event event = watch_event(e, 0);
        nbody_ensemble_free(e);
        assert_true(s[0].status == NBODY_SYSTEM_ESCAPE && s[1].status == NBODY_SYSTEM_RUNS);
        assert_true(event.first == 1 && event.second == 1 && event.time == s[0].time);
        if (k != 1)
            assert_true(fabs(s[0].time - dt * (double)right) < 1e-12);
        assert_true(hypot(pos1[1][0], pos1[1][1]) > limit && s[0].time < 20);
        double y[3] = {1, 0, 0}, u[3] = {0, 1.6, 0}; /* at the time of the state */
        nbody_ref_kepler(1, s[0].time, y, u);
        assert_true(fabs(pos1[1][0] - y[0]) < 1e-11 && fabs(pos1[1][1] - y[1]) < 1e-11);
        assert_true(fabs(s[1].time - 20) < 1e-12);
    }
}

/* ---- Other systems, and saved states. -------------------------------------------------------- */

/* Systems of three planets: system 1 loses two by mergers, and system 3 ends. */
static void watch_mixed_systems(void)
{
    watch_clear();
    for (size_t s = 0; s < SYSTEMS; s++) {
        const size_t b = BODIES * s;
        watch_put(b, 1, 0.2, 0, 0.01, 0);
        for (size_t p = 1; p < BODIES; p++)
            watch_circle(b + p, 1e-5 * (double)p, 0.7 + 0.3 * (double)p, (double)(p + s));
    }
    radius[4] = 0.1;
    watch_put(5, 1e-5, 1.2, 0, 0, 0.05);
    watch_put(6, 1e-5, -0.8, 0, 0, 0.05);
    watch_put(13, 1e-9, 1.2, 0, 0, 1.8);
}

static void watch_changes_no_other_system(void **state)
{
    static const enum nbody_integrator by[] = {0, NBODY_IAS15};
    (void)state;
    for (int k = 0; k < 2; k++) {
        const double dt = by[k] ? 1 : 1. / 32;
        const size_t steps = by[k] ? 20 : 640;
        struct nbody_system s[SYSTEMS];
        watch_mixed_systems();
        nbody_ensemble *e = watch_ensemble(by[k], dt, SYSTEMS, BODIES);
        works(nbody_ensemble_step(e, steps));
        works(nbody_ensemble_state(e, pos1, vel1));
        nbody_ensemble_free(e);
        e = watch_ensemble(by[k], dt, SYSTEMS, BODIES);
        watch_set(e, 12, 1);
        works(nbody_ensemble_step(e, steps));
        works(nbody_ensemble_state(e, pos2, vel2));
        works(nbody_ensemble_systems(e, SYSTEMS, NULL, s));
        nbody_ensemble_free(e);
        assert_true(s[1].bodies == 2 && s[3].status == NBODY_SYSTEM_ESCAPE);
        for (size_t i = 0; i < SYSTEMS; i++)
            if (i != 1 && i != 3) {
                assert_true(s[i].status == NBODY_SYSTEM_RUNS && s[i].bodies == BODIES);
                assert_memory_equal(pos1 + BODIES * i, pos2 + BODIES * i, BODIES * sizeof *pos1);
                assert_memory_equal(vel1 + BODIES * i, vel2 + BODIES * i, BODIES * sizeof *vel1);
            }
    }
}

/* By whfast, make the steps of a single run until a body is farther than `limit` from the centre of
 * mass, or `most` steps. Return their number. */
static size_t watch_steps_alone(const struct nbody_ensemble_options *o, size_t system, double limit,
                                size_t most)
{
    const size_t star = system * BODIES;
    size_t steps = 0;
    nbody *nb = nbody_create(&(struct nbody_options){.ctx = o->ctx,
                                                     .integrator = NBODY_WHFAST,
                                                     .precision = NBODY_DOUBLE,
                                                     .dt = o->dt,
                                                     .whfast = o->whfast},
                             BODIES, mass + star, (rows)pos + star, (rows)vel + star);
    ready(nb);
    for (bool inside = true; inside && steps < most; steps++) {
        works(nbody_step(nb, 1));
        works(nbody_state(nb, pos2, vel2));
        double centre[3] = {0}, all = 0;
        for (size_t b = 0; b < BODIES; b++)
            for (size_t c = 0; c < 3; c++) {
                centre[c] += mass[star + b] * pos2[b][c];
                all += c == 0 ? mass[star + b] : 0;
            }
        for (size_t b = 0; b < BODIES; b++)
            inside &= hypot(pos2[b][0] - centre[0] / all, pos2[b][1] - centre[1] / all) < limit;
    }
    nbody_free(nb);
    return steps;
}

/* Systems by whfast have the bits of single runs, and end after the step that a single run of the
 * same steps shows; contacts agree with ias15. */
static void watch_whfast_ends_like_single_runs(void **state)
{
    enum { STEPS = 640 };
    static const struct nbody_whfast_options options[] = {
        {.corrector = 17}, {.coordinates = NBODY_HELIOCENTRIC}, {.safe = 1}};
    struct nbody_system s[SYSTEMS];
    (void)state;
    watch_mixed_systems();
    nbody_ensemble *e = watch_ensemble(NBODY_IAS15, 1, SYSTEMS, BODIES);
    watch_set(e, 12, 0);
    works(nbody_ensemble_step(e, 20));
    const struct nbody_system_event contact = watch_event(e, 1), escape = watch_event(e, 3);
    nbody_ensemble_free(e);
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        const struct nbody_ensemble_options o = {
            .ctx = stddev, .dt = 1. / 32, .integrator = NBODY_WHFAST, .whfast = options[k]};
        e = nbody_ensemble_create(&o, SYSTEMS, BODIES, mass, (rows)pos, (rows)vel);
        ready(e);
        watch_set(e, 12, 0);
        works(nbody_ensemble_step(e, 100));
        works(nbody_ensemble_step(e, STEPS - 100));
        works(nbody_ensemble_systems(e, SYSTEMS, NULL, s));
        works(nbody_ensemble_state(e, pos1, vel1));
        assert_true(s[1].status == NBODY_SYSTEM_CONTACT && s[3].status == NBODY_SYSTEM_ESCAPE);
        assert_true(fabs(watch_event(e, 1).time - contact.time) < 2e-3);
        assert_true(fabs(watch_event(e, 3).time - escape.time) < 0.1);
        for (size_t i = 0; i < SYSTEMS; i++) {
            const size_t steps = (size_t)(s[i].time * 32);
            assert_int_equal(
                watch_steps_alone(&o, i, i == 3 ? 12 : INFINITY, i == 3 ? STEPS : steps), steps);
            assert_memory_equal(pos1 + i * BODIES, pos2, BODIES * sizeof *pos1);
            assert_memory_equal(vel1 + i * BODIES, vel2, BODIES * sizeof *vel1);
        }
        nbody_ensemble_free(e);
    }
}

/* A run in two parts, the second in another ensemble, gives equal bits and events. */
static void watch_saves_and_loads(void **state)
{
    static const enum nbody_integrator by[] = {0, NBODY_IAS15, NBODY_WHFAST};
    (void)state;
    for (int k = 0; k < 3; k++) {
        const double dt = by[k] == NBODY_IAS15 ? 1 : 1. / 32;
        const size_t half = by[k] == NBODY_IAS15 ? 3 : 96;
        const int merge = by[k] != NBODY_WHFAST;
        const size_t right = merge ? 3 : 2;
        struct nbody_system_event *event[2];
        size_t n[2];
        watch_mixed_systems();
        nbody_ensemble *whole = watch_ensemble(by[k], dt, SYSTEMS, BODIES),
                       *first = watch_ensemble(by[k], dt, SYSTEMS, BODIES),
                       *second = watch_ensemble(by[k], dt, SYSTEMS, BODIES);
        watch_set(whole, 12, merge);
        watch_set(first, 12, merge);
        works(nbody_ensemble_step(whole, 7 * half));
        works(nbody_ensemble_step(first, half));
        const size_t size = nbody_ensemble_save_bytes(first);
        char *saved = malloc(size);
        works(nbody_ensemble_save(first, saved));
        fails(EINVAL, nbody_ensemble_load(second, saved, size)); /* not watched */
        watch_set(second, 12, merge);
        works(nbody_ensemble_load(second, saved, size));
        works(nbody_ensemble_step(second, 6 * half));
        works(nbody_ensemble_state(whole, pos1, vel1));
        works(nbody_ensemble_state(second, pos2, vel2));
        works(nbody_ensemble_events(whole, SYSTEMS, NULL, &event[0], &n[0]));
        works(nbody_ensemble_events(second, SYSTEMS, NULL, &event[1], &n[1]));
        assert_memory_equal(pos1, pos2, sizeof pos1);
        assert_memory_equal(vel1, vel2, sizeof vel1);
        assert_true(n[0] == right && n[1] == right);
        assert_memory_equal(event[0], event[1], right * sizeof **event);
        free(event[0]);
        free(event[1]);
        free(saved);
        nbody_ensemble_free(whole);
        nbody_ensemble_free(first);
        nbody_ensemble_free(second);
    }
}

/* Chosen systems are rows of all. */
static void watch_reads_chosen_systems(void **state)
{
    static const size_t which[] = {3, 0};
    static const size_t beyond[] = {SYSTEMS};
    (void)state;
    watch_mixed_systems();
    nbody_ensemble *e = watch_ensemble(0, 0.03, SYSTEMS, BODIES);
    works(nbody_ensemble_step(e, 10));
    works(nbody_ensemble_state(e, pos1, vel1));
    works(nbody_ensemble_read(e, 2, which, mass1, pos2, vel2));
    assert_memory_equal(pos2, pos1 + 3 * BODIES, BODIES * sizeof *pos1);
    assert_memory_equal(vel2 + BODIES, vel1, BODIES * sizeof *vel1);
    assert_true(fabs(mass1[1] - mass[3 * BODIES + 1]) < 1e-24);
    fails(EINVAL, nbody_ensemble_read(e, 1, beyond, NULL, pos2, NULL));
    fails(EINVAL, nbody_ensemble_read(e, SYSTEMS + 1, NULL, NULL, pos2, NULL));
    nbody_ensemble_free(e);
}

static void watch_rejects_bad_options(void **state)
{
    (void)state;
    watch_mixed_systems();
    nbody_ensemble *e = watch_ensemble(0, 0.03, SYSTEMS, BODIES);
    struct nbody_system_event *event;
    size_t n;
    fails(EINVAL, nbody_ensemble_watch(e, NULL));
    fails(EINVAL,
          nbody_ensemble_watch(e, &(struct nbody_ensemble_watch_options){.stop_distance = -1}));
    radius[7] = NAN;
    const struct nbody_ensemble_watch_options bad_radius = {.radius = radius};
    assert_true(nbody_ensemble_watch(e, &bad_radius) == -1 && clerrno == EINVAL);
    assert_non_null(strstr(clerror(), "system 1: body 3"));
    works(nbody_ensemble_watch(e, &(struct nbody_ensemble_watch_options){.merge = 1}));
    works(nbody_ensemble_events(e, SYSTEMS, NULL, &event, &n));
    assert_true(n == 0 && !event);
    works(nbody_ensemble_step(e, 1));
    fails(EINVAL,
          nbody_ensemble_watch(e, &(struct nbody_ensemble_watch_options){.stop_distance = 1}));
    nbody_ensemble_free(e);
    e = watch_ensemble(NBODY_WHFAST, 0.03, SYSTEMS, BODIES);
    radius[7] = 0;
    const struct nbody_ensemble_watch_options merge = {.radius = radius, .merge = 1};
    assert_true(nbody_ensemble_watch(e, &merge) == -1 && clerrno == ENOTSUP);
    nbody_ensemble_free(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watch_fall_ends_at_surface),
        cmocka_unit_test(watch_circles_touch_on_time),
        cmocka_unit_test(watch_finds_fast_encounters),
        cmocka_unit_test(watch_mergers_conserve),
        cmocka_unit_test(watch_overlap_merges_at_start),
        cmocka_unit_test(watch_escape_ends_system),
        cmocka_unit_test(watch_changes_no_other_system),
        cmocka_unit_test(watch_whfast_ends_like_single_runs),
        cmocka_unit_test(watch_saves_and_loads),
        cmocka_unit_test(watch_reads_chosen_systems),
        cmocka_unit_test(watch_rejects_bad_options),
    };
    setenv("STDCL_SLICE", "0.05", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
