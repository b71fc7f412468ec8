/* TRACE: whfast and ias15 in one. Compared with whfast where planets stay apart, with ias15 and
 * conserved quantities in encounters, with Kepler's equation, and with its own way back.
 * SPDX-License-Identifier: MIT
 */
#include "builds_once.h"
#include "nbody_engine.h"

#include "core/args.h"
#include "nbody/reference/nbody_ref.h"

#define PI 3.14159265358979323846

enum { MOST = 64 };
static double mass[MOST], pos[MOST][3], vel[MOST][3];
static double pos1[MOST][3], vel1[MOST][3], pos2[MOST][3], vel2[MOST][3];

static nbody *trace_engine_of(struct nbody_options o, size_t n)
{
    o.ctx = stddev;
    o.precision = NBODY_DOUBLE;
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

static nbody *trace_engine(size_t n, double dt)
{
    return trace_engine_of((struct nbody_options){.integrator = NBODY_TRACE, .dt = dt}, n);
}

static void trace_put(size_t i, double m, double x, double y, double vx, double vy)
{
    mass[i] = m;
    memcpy(pos[i], (double[3]){x, y, 0}, sizeof pos[i]);
    memcpy(vel[i], (double[3]){vx, vy, 0}, sizeof vel[i]);
}

/* Put the centre of mass to rest in the origin. */
static void trace_centre(size_t n)
{
    double all = 0, x[3] = {0}, v[3] = {0};
    for (size_t i = 0; i < n; i++) {
        all += mass[i];
        for (int c = 0; c < 3; c++) {
            x[c] += mass[i] * pos[i][c];
            v[c] += mass[i] * vel[i][c];
        }
    }
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            pos[i][c] -= x[c] / all;
            vel[i][c] -= v[c] / all;
        }
}

/* Three planets on crossing orbits about a star of mass 1, with many encounters. */
static void trace_put_crossing(void)
{
    trace_put(0, 1, 0, 0, 0, 0);
    trace_put(1, 1e-3, 1, 0, 0, 1);
    trace_put(2, 1e-3, -1.02, 0.1, 0.05, -0.99);
    trace_put(3, 1e-4, 0, 1.3, -0.87, 0);
    vel[3][2] = 0.01;
    trace_centre(4);
}

/* Energy in long double, so that rounding does not hide errors of 1e-15. */
static long double trace_energy(size_t n, double (*x)[3], double (*v)[3])
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++) {
        for (int c = 0; c < 3; c++)
            sum += mass[i] * (long double)v[i][c] * v[i][c] / 2;
        for (size_t j = 0; j < i; j++) {
            long double r2 = 0;
            for (int c = 0; c < 3; c++)
                r2 += ((long double)x[i][c] - x[j][c]) * ((long double)x[i][c] - x[j][c]);
            sum -= (long double)mass[i] * mass[j] / sqrtl(r2);
        }
    }
    return sum;
}

/* Return the largest relative energy error of `parts` times; the engine is freed. */
static double trace_worst_energy(nbody *nb, size_t n, int parts, size_t steps)
{
    const long double before = trace_energy(n, pos, vel);
    double worst = 0;
    for (int k = 0; k < parts; k++) {
        works(nbody_step(nb, steps));
        works(nbody_state(nb, pos1, vel1));
        worst = fmax(worst, fabs((double)(trace_energy(n, pos1, vel1) / before - 1)));
    }
    nbody_free(nb);
    return worst;
}

/* Planets that stay apart: the errors are those of whfast in the same coordinates. Its step begins
 * with half a motion instead of half a kick, so errors at the end of a step differ in phase. */
static void trace_without_encounters_is_whfast(void **state)
{
    static const struct nbody_options by[] = {
        {.integrator = NBODY_TRACE},
        {.integrator = NBODY_WHFAST, .whfast = {.coordinates = NBODY_HELIOCENTRIC}},
        {.integrator = NBODY_IAS15}};
    double end[3][MOST][3], energy[3];
    (void)state;
    trace_put(0, 1, 0, 0, 0, 0);
    for (size_t i = 1; i < 9; i++) {
        const double a = 0.4 * pow(1.7, (double)i - 1), w = 2.4 * (double)i, v = sqrt(1 / a);
        trace_put(i, i == 5 ? 1e-3 : 1e-5, a * cos(w), a * sin(w), -v * sin(w), v * cos(w));
    }
    trace_centre(9);
    for (size_t k = 0; k < 3; k++) {
        struct nbody_options o = by[k];
        o.dt = 0.05;
        energy[k] = trace_worst_energy(trace_engine_of(o, 9), 9, 40, 300);
        memcpy(end[k], pos1, sizeof pos1);
    }
    const double off[2] = {largest_difference(9, end[0], end[2]),
                           largest_difference(9, end[1], end[2])};
    print_message("energy %.2g, whfast %.2g; place %.2g, whfast %.2g\n", energy[0], energy[1],
                  off[0], off[1]);
    assert_true(energy[0] > energy[1] / 4 && energy[0] < 4 * energy[1] && energy[1] < 1e-5);
    assert_true(off[0] < 4 * off[1]);
}

/* Many encounters: the energy error stays bounded, while whfast loses the planets. A larger
 * critical distance gives smaller errors. */
static void trace_resolves_encounters(void **state)
{
    static const struct {
        struct nbody_options by;
        double least, most;
    } of[] = {{{.integrator = NBODY_TRACE}, 1e-7, 1e-4},
              {{.integrator = NBODY_TRACE, .trace = {.hill = 100}}, 1e-9, 2e-5},
              {{.integrator = NBODY_WHFAST, .whfast = {.coordinates = NBODY_HELIOCENTRIC}},
               1e-2,
               INFINITY}};
    (void)state;
    trace_put_crossing();
    for (size_t k = 0; k < COUNT_OF(of); k++) {
        struct nbody_options o = of[k].by;
        o.dt = 0.1;
        const double worst = trace_worst_energy(trace_engine_of(o, 4), 4, 100, 100);
        print_message("%.2g\n", worst);
        assert_true(worst > of[k].least && worst < of[k].most);
    }
}

/* A run forth and back ends where it began, but for rounding that encounters magnify. Without
 * repeated steps the difference is 0.05. */
static void trace_is_reversible(void **state)
{
    (void)state;
    trace_put_crossing();
    nbody *nb = trace_engine(4, 0.1);
    works(nbody_step(nb, 400));
    works(nbody_set_dt(nb, -0.1));
    works(nbody_step(nb, 400));
    works(nbody_state(nb, pos1, vel1));
    print_message("%.2g\n", largest_difference(4, pos, pos1));
    assert_true(largest_difference(4, pos, pos1) < 1e-6);
    nbody_free(nb);
}

/* The restricted problem of three bodies: a test particle that changes between orbits inside and
 * outside of the planet's (a chaotic exchange orbit, after Wisdom 2017, MNRAS 464, 2350) has a
 * constant of Jacobi, E - n L, in the frame of the planet's circular orbit. */
static double trace_jacobi(double (*x)[3], double (*v)[3], double rate)
{
    double kinetic = 0, potential = 0;
    for (int c = 0; c < 3; c++)
        kinetic += v[2][c] * v[2][c] / 2;
    for (size_t i = 0; i < 2; i++)
        potential -= mass[i] / hypot(x[2][0] - x[i][0], x[2][1] - x[i][1]);
    return kinetic + potential - rate * (x[2][0] * v[2][1] - x[2][1] * v[2][0]);
}

static void trace_keeps_constant_of_jacobi(void **state)
{
    const double mu = 9.53e-4, star = 1 - mu, period = 2 * PI;
    size_t exchanges = 0;
    bool outside = false;
    double worst = 0, nearest = 1;
    (void)state;
    trace_put(0, star, -mu, 0, 0, -mu);
    trace_put(1, mu, star, 0, 0, star);
    trace_put(2, 0, 0.85, 0, 0, 1.091);
    nbody *nb = trace_engine(3, 8 * period / 4332.6);
    const double before = trace_jacobi(pos, vel, 1);
    for (int k = 0; k < 1500; k++) {
        works(nbody_step(nb, 40));
        works(nbody_state(nb, pos1, vel1));
        worst = fmax(worst, fabs(trace_jacobi(pos1, vel1, 1) / before - 1));
        nearest = fmin(nearest, hypot(pos1[2][0] - pos1[1][0], pos1[2][1] - pos1[1][1]));
        const double r = hypot(pos1[2][0] - pos1[0][0], pos1[2][1] - pos1[0][1]);
        double v2 = 0;
        for (int c = 0; c < 3; c++)
            v2 += pow(vel1[2][c] - vel1[0][c], 2);
        const bool now = 1 / (2 / r - v2 / star) > 1;
        exchanges += now != outside;
        outside = now;
    }
    print_message("%.2g, %zu exchanges, nearest %.2g\n", worst, exchanges, nearest);
    assert_true(worst < 1e-5 && exchanges > 2);
    nbody_free(nb);
}

/* A planet of eccentricity 0.98 and a giant outside: at the pericentre the star's recoil is no
 * small part of the motion, and whfast in these coordinates fails. */
static void trace_resolves_pericentres(void **state)
{
    double energy[2];
    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const double e = 0.98, far = 1 + e;
        trace_put(0, 1, 0, 0, 0, 0);
        trace_put(1, 1e-3, far, 0, 0, sqrt((1 - e) / (1 + e)));
        trace_put(2, 1e-3, 0, -6, sqrt(1. / 6), 0);
        trace_centre(3);
        energy[k] = trace_worst_energy(
            trace_engine_of((struct nbody_options){.integrator = k ? NBODY_WHFAST : NBODY_TRACE,
                                                   .dt = 0.05,
                                                   .whfast = {.coordinates = NBODY_HELIOCENTRIC}},
                            3),
            3, 50, 100);
    }
    print_message("%.2g, whfast %.2g\n", energy[0], energy[1]);
    assert_true(energy[0] < 1e-3 && energy[1] > 1);
}

/* Two bodies follow Kepler's equation, also where ias15 takes over. */
static void trace_two_bodies_follow_kepler(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) {
        const double e = k == 0 ? 0.1 : k == 1 ? 0.9 : 0.999, m = k == 2 ? 0 : 1e-12;
        trace_put(0, 1, 0, 0, 0, 0);
        trace_put(1, m, 1 + e, 0, 0, sqrt((1 - e) / (1 + e)));
        memcpy(pos2, pos, sizeof pos);
        memcpy(vel2, vel, sizeof vel);
        nbody *nb = trace_engine(2, 0.1);
        works(nbody_step(nb, 1234));
        works(nbody_state(nb, pos1, vel1));
        nbody_ref_kepler(1 + m, 123.4, pos2[1], vel2[1]);
        for (int c = 0; c < 3; c++)
            assert_true(fabs(pos1[1][c] - pos1[0][c] - pos2[1][c]) < 2e-10);
        nbody_free(nb);
    }
}

/* Test particles in encounters and at pericentres change the planets by rounding only, and follow
 * ias15. */
static void trace_test_particles_do_not_act(void **state)
{
    (void)state;
    trace_put(0, 1, 0, 0, 0, 0);
    trace_put(1, 1e-3, 1, 0, 0, 1);
    trace_put(2, 1e-3, -2, 0, 0, -sqrt(0.5));
    trace_centre(3);
    nbody *nb = trace_engine(3, 0.1);
    works(nbody_step(nb, 60));
    works(nbody_state(nb, pos1, vel1));
    nbody_free(nb);
    trace_put(3, 0, 0.5, 1, -0.3, 0.02); /* falls past the star */
    trace_put(4, 0, 1.03, 0.02, 0, 1);   /* meets planet 1 */
    trace_put(5, 0, 1.02, -0.1, 0.1, 0.9);
    nb = trace_engine(6, 0.1);
    works(nbody_step(nb, 60));
    works(nbody_state(nb, pos2, vel2));
    nbody_free(nb);
    assert_true(largest_difference(3, pos1, pos2) < 1e-13);
    nb = trace_engine_of((struct nbody_options){.integrator = NBODY_IAS15, .dt = 6}, 6);
    works(nbody_step(nb, 1));
    works(nbody_state(nb, pos1, vel1));
    nbody_free(nb);
    for (size_t i = 3; i < 6; i++)
        print_message("%zu: %.2g\n", i, largest_difference(1, pos1 + i, pos2 + i));
    assert_true(largest_difference(3, pos1 + 3, pos2 + 3) < 1e-2);
}

/* Neither call boundaries nor queries nor a saved state change a bit. */
static void trace_call_boundaries_change_no_bit(void **state)
{
    (void)state;
    trace_put_crossing();
    nbody *whole = trace_engine(4, 0.1), *parts = trace_engine(4, 0.1),
          *loaded = trace_engine(4, 0.1);
    works(nbody_step(whole, 300));
    for (int i = 0; i < 10; i++) {
        (void)total_energy(parts);
        works(nbody_step(parts, 20));
        works(nbody_forces(parts, pos1, NULL));
    }
    const size_t size = nbody_save_bytes(parts);
    char *bytes = malloc(size);
    assert_non_null(bytes);
    works(nbody_save(parts, bytes));
    works(nbody_load(loaded, bytes, size));
    free(bytes);
    works(nbody_step(loaded, 100));
    works(nbody_state(whole, pos1, vel1));
    works(nbody_state(loaded, pos2, vel2));
    assert_memory_equal(pos1, pos2, 4 * sizeof *pos1);
    assert_memory_equal(vel1, vel2, 4 * sizeof *vel1);
    assert_int_equal(nbody_place(loaded), NBODY_ON_HOST);
    nbody_free(whole);
    nbody_free(parts);
    nbody_free(loaded);
}

/* Return the time of the first contact, of the bodies i and j. */
static double trace_first_contact(enum nbody_integrator by, const double *radius, size_t i,
                                  size_t j)
{
    nbody *nb = trace_engine_of((struct nbody_options){.integrator = by, .dt = 0.1}, 4);
    const struct nbody_contact *c = NULL;
    size_t n = 0;
    works(nbody_watch_contacts(nb, radius));
    for (int k = 0; k < 1000 && n == 0; k++) {
        works(nbody_step(nb, 10));
        c = nbody_contacts(nb, &n);
    }
    assert_true(n == 1 && c->first == i && c->second == j && c->before >= 0 && c->before <= 0.1);
    const double time = nbody_time(nb) - c->before;
    size_t whole = (size_t)(nbody_time(nb) / 0.1 + 0.5);
    assert_true(by == NBODY_IAS15 || nbody_steps(nb) == whole);
    works(nbody_step(nb, 1)); /* the pair is not reported again before it has been apart */
    (void)nbody_contacts(nb, &n);
    assert_true(n == 0);
    nbody_free(nb);
    return time;
}

/* Contacts in an encounter, along ias15's polynomials; of large bodies outside one, along cubics;
 * and with the star, at the pericentre: at the times of ias15. */
static void trace_contacts_match_ias15(void **state)
{
    (void)state;
    trace_put_crossing();
    const double small[MOST] = {0, 0.03, 0.03, 0}, large[MOST] = {0, 0.15, 0, 0.2},
                 star[MOST] = {0.02, 0, 0, 0};
    const double encounter = trace_first_contact(NBODY_TRACE, small, 2, 3) -
                             trace_first_contact(NBODY_IAS15, small, 2, 3),
                 apart = trace_first_contact(NBODY_TRACE, large, 1, 3) -
                         trace_first_contact(NBODY_IAS15, large, 1, 3);
    trace_put(3, 1e-4, 0, 1.3, -0.1, 0);
    const double fall =
        trace_first_contact(NBODY_TRACE, star, 0, 3) - trace_first_contact(NBODY_IAS15, star, 0, 3);
    print_message("%.2g %.2g %.2g\n", encounter, apart, fall);
    assert_true(fabs(encounter) < 1e-3 && fabs(apart) < 1e-4 && fabs(fall) < 1e-4);
}

/* Two planets that collide head-on are named, and the state stays the one before the step. */
static void trace_collision_is_named(void **state)
{
    (void)state;
    trace_put(0, 1, 0, 0, 0, 0);
    trace_put(1, 1e-3, 100, 1, 0, 0);
    trace_put(2, 1e-3, 100, -1, 0, 0);
    nbody *nb = trace_engine(3, 10);
    for (int k = 0; k < 100 && nbody_step(nb, 1) == 0; k++)
        works(nbody_state(nb, pos1, vel1));
    assert_int_equal(clerrno, EDOM);
    assert_non_null(strstr(clerror(), "bodies 1 and 2"));
    works(nbody_state(nb, pos2, vel2));
    assert_memory_equal(pos1, pos2, 3 * sizeof *pos1);
    nbody_free(nb);
}

static void trace_rejects(struct nbody_options o, const char *words)
{
    o.ctx = stddev;
    o.integrator = NBODY_TRACE;
    o.dt = 1;
    assert_null(nbody_create(&o, 4, mass, (rows)pos, (rows)vel));
    assert_int_equal(clerrno, EINVAL);
    if (!strstr(clerror(), words))
        fail_msg("'%s' does not contain '%s'", clerror(), words);
}

static void trace_rejects_bad_options(void **state)
{
    static const struct nbody_field field = {NBODY_FIELD_POINT, 1, 0};
    const enum nbody_precision p = NBODY_DOUBLE;
    (void)state;
    trace_put_crossing();
    trace_rejects((struct nbody_options){.precision = NBODY_SINGLE}, "not support single");
    trace_rejects((struct nbody_options){.precision = p, .eps = 1}, "has no softening");
    trace_rejects((struct nbody_options){.precision = p, .fields = &field, .nfields = 1},
                  "no external fields");
    trace_rejects((struct nbody_options){.precision = p, .stepping = NBODY_ADAPTIVE},
                  "needs steps of one length");
    trace_rejects((struct nbody_options){.precision = p, .method = NBODY_TREE}, "without a tree");
    trace_rejects((struct nbody_options){.precision = p, .trace = {.hill = -1}}, "-1 Hill radii");
    trace_rejects((struct nbody_options){.precision = p, .trace = {.pericentre = NAN}},
                  "time scales");
    trace_rejects((struct nbody_options){.precision = p, .trace = {.reserved = {1}}}, "reserved");
    mass[0] = 0;
    trace_rejects((struct nbody_options){.precision = p}, "needs a star");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(trace_without_encounters_is_whfast),
                                       cmocka_unit_test(trace_resolves_encounters),
                                       cmocka_unit_test(trace_is_reversible),
                                       cmocka_unit_test(trace_keeps_constant_of_jacobi),
                                       cmocka_unit_test(trace_resolves_pericentres),
                                       cmocka_unit_test(trace_two_bodies_follow_kepler),
                                       cmocka_unit_test(trace_test_particles_do_not_act),
                                       cmocka_unit_test(trace_call_boundaries_change_no_bit),
                                       cmocka_unit_test(trace_contacts_match_ias15),
                                       cmocka_unit_test(trace_collision_is_named),
                                       cmocka_unit_test(trace_rejects_bad_options)};
    if (!context_has_doubles())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
