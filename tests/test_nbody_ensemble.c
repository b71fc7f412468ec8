/* Ensembles of planetary systems: Kepler's motion against Kepler's equation, steps against a
 * scalar reference and an integrator of high order, order 2, energies, ias15 in close encounters
 * and to rounding, equal bits for every division into calls, and rejected options.
 * SPDX-License-Identifier: MIT
 */
#include "close_pairs.h"
#include "nbody_engine.h"

#include "nbody/reference/nbody_ref.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { MOST = 64, BODIES = 9 };
static double mass[MOST * BODIES], pos[MOST * BODIES][3], vel[MOST * BODIES][3],
    pos1[MOST * BODIES][3], vel1[MOST * BODIES][3], pos2[MOST * BODIES][3], vel2[MOST * BODIES][3];

static nbody_ensemble *make_ensemble(double dt, double G, size_t systems, size_t bodies)
{
    nbody_ensemble *e =
        nbody_ensemble_create(&(struct nbody_ensemble_options){.dt = dt, .G = G}, systems, bodies,
                              mass, (const double(*)[3])pos, (const double(*)[3])vel);
    ready(e);
    return e;
}

/* A star with planets of about the order and masses of the Sun's; each system has other phases.
 * G = 1, au, a year is 2 pi. */
static void planets(size_t systems, double heavier)
{
    static const double a[] = {0.387, 0.723, 1, 1.524, 5.203, 9.537, 19.19, 30.07},
                        m[] = {1.66e-7, 2.45e-6, 3.0e-6,  3.2e-7,
                               9.55e-4, 2.86e-4, 4.37e-5, 5.15e-5},
                        e[] = {0.206, 0.007, 0.017, 0.093, 0.048, 0.054, 0.047, 0.009};
    for (size_t s = 0; s < systems; s++) {
        const size_t star = s * BODIES;
        mass[star] = 1;
        memset(pos[star], 0, sizeof *pos);
        memset(vel[star], 0, sizeof *vel);
        pos[star][2] = 1e-3;
        vel[star][0] = 1e-3;
        for (size_t p = 0; p < 8; p++) {
            const size_t b = star + 1 + p;
            const double tilt = 0.03 * (double)(p + 1), turn = 2.4 * (double)p + 0.7 * (double)s,
                         r = a[p] * (1 - e[p]), v = sqrt((1 + e[p]) / r);
            const double x[3] = {r * cos(turn), r * sin(turn), 0},
                         u[3] = {-v * sin(turn), v * cos(turn), 0};
            mass[b] = heavier * m[p];
            pos[b][0] = x[0], pos[b][1] = x[1] * cos(tilt), pos[b][2] = x[1] * sin(tilt) + 1e-3;
            vel[b][0] = u[0] + 1e-3, vel[b][1] = u[1] * cos(tilt), vel[b][2] = u[1] * sin(tilt);
        }
    }
}

/* ---- Kepler. --------------------------------------------------------------------------------- */

/* One massless planet: a step of any length is exact. Ellipses up to e = 0.99, a hyperbola, and
 * the parabola between. */
static void ensemble_one_planet_follows_kepler(void **state)
{
    (void)state;
    static const double speed[] = {1, 1.1, 0.9, 1.3, 0.5, 1.40, 1.4142135623730951, 1.6, 3, 0.15};
    enum { ORBITS = sizeof speed / sizeof *speed };
    memset(mass, 0, sizeof mass);
    memset(pos, 0, sizeof pos);
    memset(vel, 0, sizeof vel);
    for (size_t s = 0; s < ORBITS; s++) {
        mass[2 * s] = 1;
        pos[2 * s + 1][0] = 0.8, pos[2 * s + 1][1] = 0.6;
        vel[2 * s + 1][1] = -0.6 * speed[s], vel[2 * s + 1][0] = 0.48 * speed[s],
                    vel[2 * s + 1][2] = 0.64 * speed[s];
    }
    for (int k = 0; k < 4; k++) {
        const double dt = (const double[]){0.01, 0.3, 2.5, -1}[k];
        nbody_ensemble *e = make_ensemble(dt, 1, ORBITS, 2);
        works(nbody_ensemble_step(e, 4));
        works(nbody_ensemble_state(e, pos1, vel1));
        for (size_t s = 0; s < ORBITS; s++) {
            memcpy(pos2, pos[2 * s + 1], sizeof *pos);
            memcpy(vel2, vel[2 * s + 1], sizeof *vel);
            if (s != 6) /* the parabola, which the other formulas do not have */
                nbody_ref_kepler(1, 4 * dt, pos2[0], vel2[0]);
            const double off = largest_difference(1, pos2, pos1 + 2 * s + 1);
            if (s != 6 && !(off < 2e-13 * (1 + fabs(dt)) * (s == 9 ? 1e4 : 1)))
                fail_msg("speed %g, step %g: %g off", speed[s], dt, off);
        }
        double x[3], v[3]; /* energy and angular momentum of the parabola */
        memcpy(x, pos1[13], sizeof x);
        memcpy(v, vel1[13], sizeof v);
        const double r = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]),
                     vv = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
        assert_true(fabs(vv / 2 - 1 / r) < 1e-14);
        nbody_ensemble_free(e);
    }
}

/* Halfway around an ellipse of eccentricity 0.6 a body is at its apocentre: known without a
 * solver. */
static void ensemble_planet_reaches_apocentre(void **state)
{
    (void)state;
    mass[0] = 2, mass[1] = 0;
    memset(pos, 0, 2 * sizeof *pos);
    memset(vel, 0, 2 * sizeof *vel);
    pos[1][0] = 1, vel[1][1] = sqrt(2 * 3 * 1.6);
    const double half = PI * sqrt(pow(2.5, 3) / 6);
    nbody_ensemble *e = make_ensemble(half / 16, 3, 1, 2);
    works(nbody_ensemble_step(e, 16));
    works(nbody_ensemble_state(e, pos1, vel1));
    assert_true(fabs(pos1[1][0] + 4) < 1e-13 && fabs(pos1[1][1]) < 1e-13);
    nbody_ensemble_free(e);
}

/* ---- Planets. -------------------------------------------------------------------------------- */

static void ensemble_steps_match_reference(void **state)
{
    (void)state;
    planets(MOST, 10);
    nbody_ensemble *e = make_ensemble(0.05, 1, MOST, BODIES);
    works(nbody_ensemble_step(e, 200));
    works(nbody_ensemble_state(e, pos1, vel1));
    assert_true(nbody_ensemble_steps(e) == 200 && fabs(nbody_ensemble_time(e) - 10) < 1e-12);
    nbody_ensemble_free(e);
    for (size_t s = 0; s < MOST; s += 9) {
        works(nbody_ref_ensemble(BODIES, 1, 0.05, 200, mass + s * BODIES, pos + s * BODIES,
                                 vel + s * BODIES));
        const double off = largest_difference(BODIES, pos + s * BODIES, pos1 + s * BODIES),
                     moved = largest_difference(BODIES, vel + s * BODIES, vel1 + s * BODIES);
        if (!(off < 2e-12 && moved < 2e-12))
            fail_msg("system %zu: positions %g, velocities %g off", s, off, moved);
    }
}

/* Return the distance of the planets from the result of an integrator of high order. */
static double ensemble_error_of_step(double dt, double t)
{
    planets(1, 1);
    memcpy(pos2, pos, BODIES * sizeof *pos);
    memcpy(vel2, vel, BODIES * sizeof *vel);
    works(nbody_ref_exact(BODIES, 1, 0, t, 1e-13, mass, pos2, vel2));
    nbody_ensemble *e = make_ensemble(dt, 1, 1, BODIES);
    works(nbody_ensemble_step(e, (size_t)(t / dt + 0.5)));
    works(nbody_ensemble_state(e, pos1, NULL));
    nbody_ensemble_free(e);
    return largest_difference(BODIES, pos1, pos2);
}

static void ensemble_error_is_second_order(void **state)
{
    (void)state;
    const double long_steps = ensemble_error_of_step(0.02, 6.4),
                 half = ensemble_error_of_step(0.01, 6.4);
    if (!(fabs(long_steps / half - 4) < 0.3 && half < 4e-6))
        fail_msg("errors %g and %g", long_steps, half);
}

/* The state after a year agrees with ias15, another method on the host; 200 years conserve the
 * energy. */
static void ensemble_matches_ias15(void **state)
{
    (void)state;
    double before[MOST], after[MOST];
    planets(4, 1);
    nbody *nb = nbody_create(
        &(struct nbody_options){.integrator = NBODY_IAS15, .precision = NBODY_DOUBLE, .dt = 6.25},
        BODIES, mass, (const double(*)[3])pos, (const double(*)[3])vel);
    ready(nb);
    works(nbody_step(nb, 1));
    works(nbody_state(nb, pos2, NULL));
    nbody_free(nb);
    nbody_ensemble *e = make_ensemble(6.25 / 1024, 1, 4, BODIES);
    works(nbody_ensemble_energies(e, before));
    works(nbody_ensemble_step(e, 1024));
    works(nbody_ensemble_state(e, pos1, NULL));
    assert_true(largest_difference(BODIES, pos1, pos2) < 2e-6);
    nbody_ensemble_free(e);
    struct nbody_diagnostics d;
    nbody_ref_diagnose(BODIES, 1, 0, mass, (const double(*)[3])pos, (const double(*)[3])vel, &d);
    assert_true(fabs(before[0] / d.total - 1) < 1e-13);
    e = make_ensemble(0.07, 1, 4, BODIES); /* a 22nd of Mercury's period */
    works(nbody_ensemble_step(e, 20000));
    works(nbody_ensemble_energies(e, after));
    for (size_t s = 0; s < 4; s++)
        if (!(fabs(after[s] / before[s] - 1) < 1e-8))
            fail_msg("system %zu: energy %g off", s, after[s] / before[s] - 1);
    nbody_ensemble_free(e);
}

/* A system has equal bits alone and among others, in one call and in several. */
static void ensemble_bits_are_reproducible(void **state)
{
    (void)state;
    planets(MOST, 3);
    nbody_ensemble *all = make_ensemble(0.05, 1, MOST, BODIES);
    works(nbody_ensemble_step(all, 100));
    works(nbody_ensemble_state(all, pos1, vel1));
    nbody_ensemble_free(all);
    memmove(mass, mass + 41 * BODIES, BODIES * sizeof *mass);
    memmove(pos, pos + 41 * BODIES, BODIES * sizeof *pos);
    memmove(vel, vel + 41 * BODIES, BODIES * sizeof *vel);
    nbody_ensemble *one = make_ensemble(0.05, 1, 1, BODIES);
    for (size_t k = 1; k <= 4; k++)
        works(nbody_ensemble_step(one, 10 * k));
    works(nbody_ensemble_state(one, pos2, vel2));
    nbody_ensemble_free(one);
    assert_memory_equal(pos2, pos1 + 41 * BODIES, BODIES * sizeof *pos);
    assert_memory_equal(vel2, vel1 + 41 * BODIES, BODIES * sizeof *vel);
}

/* ---- By whfast. ------------------------------------------------------------------------------ */

enum { WHFAST_SYSTEMS = 11 }; /* not a multiple of a vector */

static nbody_ensemble *by_whfast(double dt, size_t systems, struct nbody_whfast_options options,
                                 int megno)
{
    nbody_ensemble *e = nbody_ensemble_create(
        &(struct nbody_ensemble_options){
            .ctx = stddev, .dt = dt, .integrator = NBODY_WHFAST, .whfast = options, .megno = megno},
        systems, BODIES, mass, (const double(*)[3])pos, (const double(*)[3])vel);
    ready(e);
    return e;
}

/* Every kind of steps has the bits of a single run on the host, in one call and in several, with a
 * query, saved and loaded, also after the time step has changed. MEGNO agrees to rounding. A planet
 * is a test particle; one system has orbits of high eccentricity. */
static void ensemble_whfast_has_bits_of_single_runs(void **state)
{
    static const struct nbody_whfast_options options[] = {{.corrector = 0},
                                                          {.coordinates = NBODY_HELIOCENTRIC},
                                                          {.corrector = 3, .safe = 1},
                                                          {.corrector = -1}};
    (void)state;
    planets(WHFAST_SYSTEMS, 10);
    for (size_t s = 0; s < WHFAST_SYSTEMS; s++)
        mass[s * BODIES + 3] = 0;
    for (int c = 0; c < 3; c++)
        vel[4 * BODIES + 1][c] *= 0.2;
    for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
        const int megno = k < 2;
        struct nbody_chaos chaos[WHFAST_SYSTEMS], one;
        nbody_ensemble *e = by_whfast(0.05, WHFAST_SYSTEMS, options[k], megno);
        works(nbody_ensemble_step(e, 60));
        works(nbody_ensemble_state(e, pos1, NULL));
        const size_t size = nbody_ensemble_save_bytes(e);
        char *bytes = malloc(size);
        assert_non_null(bytes);
        works(nbody_ensemble_save(e, bytes));
        nbody_ensemble_free(e);
        e = by_whfast(0.05, WHFAST_SYSTEMS, options[k], megno);
        works(nbody_ensemble_load(e, bytes, size));
        works(nbody_ensemble_step(e, 40));
        works(nbody_ensemble_set_dt(e, 0.017));
        works(nbody_ensemble_step(e, 5));
        assert_true(fabs(nbody_ensemble_time(e) - 5.085) < 1e-14);
        works(nbody_ensemble_state(e, pos1, vel1));
        if (megno)
            works(nbody_ensemble_find_chaos(e, WHFAST_SYSTEMS, NULL, chaos));
        else
            fails(EINVAL, nbody_ensemble_find_chaos(e, WHFAST_SYSTEMS, NULL, chaos));
        nbody_ensemble_free(e);
        free(bytes);
        for (size_t s = 0; s < WHFAST_SYSTEMS; s++) {
            const size_t star = s * BODIES;
            nbody *nb = nbody_create(&(struct nbody_options){.ctx = stddev,
                                                             .integrator = NBODY_WHFAST,
                                                             .precision = NBODY_DOUBLE,
                                                             .dt = 0.05,
                                                             .megno = megno,
                                                             .whfast = options[k]},
                                     BODIES, mass + star, (const double(*)[3])pos + star,
                                     (const double(*)[3])vel + star);
            ready(nb);
            works(nbody_step(nb, 100));
            works(nbody_set_dt(nb, 0.017));
            works(nbody_step(nb, 5));
            works(nbody_state(nb, pos2, vel2));
            if (megno) {
                works(nbody_find_chaos(nb, &one));
                const double off = fabs(one.megno - chaos[s].megno) +
                                   fabs(one.megno_now - chaos[s].megno_now) +
                                   fabs(one.lyapunov - chaos[s].lyapunov);
                if (!(off < 1e-9 && fabs(one.time - chaos[s].time) < 1e-12))
                    fail_msg("options %zu, system %zu: %g %g, %g %g, %g %g, %g %g", k, s, one.megno,
                             chaos[s].megno, one.megno_now, chaos[s].megno_now, one.lyapunov,
                             chaos[s].lyapunov, one.time, chaos[s].time);
            }
            nbody_free(nb);
            for (size_t b = 0; b < BODIES; b++)
                for (int c = 0; c < 3; c++)
                    if (!(pos1[star + b][c] == pos2[b][c] && vel1[star + b][c] == vel2[b][c]))
                        fail_msg("options %zu, system %zu, body %zu: %.17g and %.17g", k, s, b,
                                 pos1[star + b][c], pos2[b][c]);
        }
    }
}

/* ---- By ias15. ------------------------------------------------------------------------------- */

static nbody_ensemble *by_ias15_with(double dt, size_t systems, size_t bodies, int megno)
{
    nbody_ensemble *e = nbody_ensemble_create(
        &(struct nbody_ensemble_options){.dt = dt, .integrator = NBODY_IAS15, .megno = megno},
        systems, bodies, mass, (const double(*)[3])pos, (const double(*)[3])vel);
    ready(e);
    return e;
}

static nbody_ensemble *by_ias15(double dt, size_t systems, size_t bodies)
{
    return by_ias15_with(dt, systems, bodies, 0);
}

/* Find the chaos of a system by a single run on the host. */
static struct nbody_chaos chaos_alone(size_t star, double dt, size_t steps)
{
    struct nbody_chaos chaos;
    nbody *nb = nbody_create(&(struct nbody_options){.ctx = stddev,
                                                     .integrator = NBODY_IAS15,
                                                     .precision = NBODY_DOUBLE,
                                                     .dt = dt,
                                                     .megno = 1},
                             BODIES, mass + star, (const double(*)[3])pos + star,
                             (const double(*)[3])vel + star);
    ready(nb);
    works(nbody_step(nb, steps));
    works(nbody_find_chaos(nb, &chaos));
    nbody_free(nb);
    return chaos;
}

/* MEGNO and the Lyapunov exponent of ias15 agree with single runs, watched or not, saved and
 * loaded, with a moving centre of mass. */
static void ensemble_ias15_finds_chaos_of_single_runs(void **state)
{
    enum { STEPS = 24, CHAOTIC = 4 };
    struct nbody_chaos chaos[CHAOTIC];
    (void)state;
    planets(CHAOTIC, 10);
    for (int watched = 0; watched < 2; watched++) {
        nbody_ensemble *e = by_ias15_with(3, CHAOTIC, BODIES, 1),
                       *f = by_ias15_with(3, CHAOTIC, BODIES, 1);
        const struct nbody_ensemble_watch_options watch = {.stop_distance = watched ? 1e3 : 0};
        works(nbody_ensemble_watch(e, &watch));
        works(nbody_ensemble_watch(f, &watch));
        works(nbody_ensemble_step(e, STEPS / 2));
        const size_t size = nbody_ensemble_save_bytes(e);
        char *bytes = malloc(size);
        assert_non_null(bytes);
        works(nbody_ensemble_save(e, bytes));
        works(nbody_ensemble_load(f, bytes, size));
        works(nbody_ensemble_step(f, STEPS / 2));
        works(nbody_ensemble_find_chaos(f, CHAOTIC, NULL, chaos));
        for (size_t s = 0; s < CHAOTIC; s++) {
            const struct nbody_chaos one = chaos_alone(s * BODIES, 3, STEPS);
            if (!(fabs(one.megno - chaos[s].megno) + fabs(one.megno_now - chaos[s].megno_now) +
                          fabs(one.lyapunov - chaos[s].lyapunov) <
                      1e-8 &&
                  fabs(one.time - chaos[s].time) < 1e-12))
                fail_msg("system %zu: %g %g, %g %g, %g %g, %g %g", s, one.megno, chaos[s].megno,
                         one.megno_now, chaos[s].megno_now, one.lyapunov, chaos[s].lyapunov,
                         one.time, chaos[s].time);
        }
        free(bytes);
        nbody_ensemble_free(e);
        nbody_ensemble_free(f);
    }
    nbody_ensemble *e = by_ias15_with(3, CHAOTIC, BODIES, 1);
    const struct nbody_ensemble_watch_options contacts = {.radius = pos1[0]};
    memset(pos1, 0, sizeof pos1);
    assert_true(nbody_ensemble_watch(e, &contacts) == -1 && clerrno == ENOTSUP);
    nbody_ensemble_free(e);
}

/* Burrau's three bodies, twice, one of them displaced and moving: close encounters, which
 * another method follows too. */
static void ensemble_close_encounters_match_ias15(void **state)
{
    (void)state;
    for (size_t s = 0; s < 2; s++) {
        works(nbody_initial(NBODY_PYTHAGOREAN, 3, 1, mass + 3 * s, pos + 3 * s, vel + 3 * s));
        for (size_t b = 3; b < 6 && s; b++)
            pos[b][0] += 3, vel[b][2] += 0.5;
    }
    nbody_ensemble *e = by_ias15(2.5, 2, 3);
    works(nbody_ensemble_step(e, 3));
    works(nbody_ensemble_step(e, 1));
    works(nbody_ensemble_state(e, pos1, vel1));
    nbody_ensemble_free(e);
    e = by_ias15(2.5, 1, 3);
    works(nbody_ensemble_step(e, 4));
    works(nbody_ensemble_state(e, pos2, vel2));
    nbody_ensemble_free(e);
    assert_memory_equal(pos1, pos2, 3 * sizeof *pos1); /* alone or not, in one call or two */
    works(nbody_ref_exact(3, 1, 0, 10, 1e-16, mass, pos, vel));
    assert_true(largest_difference(3, pos1, pos) < 1e-8);
    for (size_t b = 3; b < 6; b++) {
        pos1[b][0] -= 3;
        pos1[b][2] -= 5;
    }
    assert_true(largest_difference(3, pos1, pos1 + 3) < 1e-7);
}

/* Satellites and encounters far from the origin: steps do not vanish. */
static void ensemble_ias15_follows_close_pairs(void **state)
{
    static const double(*const body[])[7] = {low_moon, planetesimals, opposite, saddle};
    (void)state;
    for (size_t s = 0; s < 4; s++)
        close_pair_bodies(3, body[s], mass + 3 * s, pos + 3 * s, vel + 3 * s);
    nbody_ensemble *e = by_ias15(0.1, 4, 3);
    works(nbody_ensemble_step(e, 1));
    works(nbody_ensemble_state(e, pos1, vel1));
    nbody_ensemble_free(e);
    for (size_t s = 0; s < 4; s++) {
        double right[3];
        works(close_pair_exact(3, body[s], 0.1, right));
        assert_true(close_pair_error(3, (const double(*)[3])pos1 + 3 * s, right) < 1e-10);
    }
}

/* The planets' energy is conserved to rounding; bodies that collide become NAN without harm to
 * the other systems. */
static void ensemble_ias15_keeps_energy_to_rounding(void **state)
{
    double before[MOST], after[MOST];
    (void)state;
    planets(4, 1);
    nbody_ensemble *e = by_ias15(6.25, 4, BODIES);
    works(nbody_ensemble_energies(e, before));
    works(nbody_ensemble_step(e, 8));
    works(nbody_ensemble_energies(e, after));
    nbody_ensemble_free(e);
    for (size_t s = 0; s < 4; s++)
        assert_true(fabs(after[s] / before[s] - 1) < 3e-15);
    const double fall[2][3] = {{0, 0, 0}, {1, 0, 0}}, rest[2][3] = {{0}};
    memcpy(pos, fall, sizeof fall);
    memcpy(pos + 2, fall, sizeof fall);
    memcpy(vel, rest, sizeof rest);
    memcpy(vel + 2, rest, sizeof rest);
    vel[3][1] = 1;
    mass[0] = mass[2] = 1;
    mass[1] = mass[3] = 0;
    e = by_ias15(2 * PI, 2, 2);
    works(nbody_ensemble_step(e, 1));
    works(nbody_ensemble_state(e, pos1, NULL));
    nbody_ensemble_free(e);
    assert_true(isnan(pos1[1][0]));
    assert_true(fabs(pos1[3][0] - 1) < 1e-13 && fabs(pos1[3][1]) < 1e-12);
}

/* ---- Refused, and stopped. ------------------------------------------------------------------- */

static nbody_ensemble *make_ensemble_with(double dt, size_t systems, size_t bodies)
{
    return nbody_ensemble_create(&(struct nbody_ensemble_options){.dt = dt}, systems, bodies, mass,
                                 (const double(*)[3])pos, (const double(*)[3])vel);
}

static int stop_ensemble(void *arg, double fraction)
{
    (void)fraction;
    return ++*(int *)arg == 2;
}

static void ensemble_rejects_bad_options(void **state)
{
    (void)state;
    planets(2, 1);
    fails_null(EINVAL, make_ensemble_with(0, 2, BODIES));
    fails_null(EINVAL, make_ensemble_with(NAN, 2, BODIES));
    fails_null(EINVAL, make_ensemble_with(1, 0, BODIES));
    fails_null(EINVAL, make_ensemble_with(1, 2, 1));
    fails_null(EINVAL, make_ensemble_with(1, 2, 17));
    mass[BODIES] = 0; /* a star without mass */
    fails_null(EINVAL, make_ensemble_with(1, 2, BODIES));
    mass[BODIES] = 1;
    vel[4][1] = INFINITY;
    fails_null(EINVAL, make_ensemble_with(1, 2, BODIES));
    planets(2, 1);
    fails_null(EINVAL, nbody_ensemble_create(
                           &(struct nbody_ensemble_options){.dt = 1, .integrator = NBODY_HERMITE4},
                           2, BODIES, mass, (const double(*)[3])pos, (const double(*)[3])vel));
    fails_null(EINVAL, nbody_ensemble_create(
                           &(struct nbody_ensemble_options){
                               .dt = 1, .integrator = NBODY_WHFAST, .whfast = {.corrector = 4}},
                           2, BODIES, mass, (const double(*)[3])pos, (const double(*)[3])vel));
    fails_null(EINVAL, nbody_ensemble_create(&(struct nbody_ensemble_options){.dt = 1, .megno = 1},
                                             2, BODIES, mass, (const double(*)[3])pos,
                                             (const double(*)[3])vel));
    int calls = 0;
    nbody_ensemble *e = nbody_ensemble_create(
        &(struct nbody_ensemble_options){.dt = 0.05, .progress = stop_ensemble, .arg = &calls}, 2,
        BODIES, mass, (const double(*)[3])pos, (const double(*)[3])vel);
    ready(e);
    fails(ECANCELED, nbody_ensemble_step(e, (size_t)1 << 40));
    assert_true(calls == 2 && nbody_ensemble_steps(e) > 0);
    fails(EINVAL, nbody_ensemble_set_dt(e, 0));
    fails(EINVAL, nbody_ensemble_set_dt(e, NAN));
    nbody_ensemble_free(e);
    nbody_ensemble_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ensemble_one_planet_follows_kepler),
        cmocka_unit_test(ensemble_planet_reaches_apocentre),
        cmocka_unit_test(ensemble_steps_match_reference),
        cmocka_unit_test(ensemble_error_is_second_order),
        cmocka_unit_test(ensemble_matches_ias15),
        cmocka_unit_test(ensemble_bits_are_reproducible),
        cmocka_unit_test(ensemble_whfast_has_bits_of_single_runs),
        cmocka_unit_test(ensemble_ias15_finds_chaos_of_single_runs),
        cmocka_unit_test(ensemble_close_encounters_match_ias15),
        cmocka_unit_test(ensemble_ias15_follows_close_pairs),
        cmocka_unit_test(ensemble_ias15_keeps_energy_to_rounding),
        cmocka_unit_test(ensemble_rejects_bad_options),
    };
    setenv("STDCL_SLICE", "0.05", 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
