/* ias15: orbits to rounding, close encounters, the Pythagorean problem to its end.
 *
 * Compared with Kepler's equation, with an extrapolation method in long double, and with
 * published results.
 * SPDX-License-Identifier: MIT
 */
#include "close_pairs.h"
#include "nbody_engine.h"

#include "nbody/reference/nbody_ref.h"

#include <math.h>

#define PI 3.14159265358979323846

enum { MOST = 100 };
static double mass[MOST], pos[MOST][3], vel[MOST][3], pos1[MOST][3], vel1[MOST][3], pos2[MOST][3],
    vel2[MOST][3];

static enum nbody_precision precision; /* the best that the device has */

static nbody *ias15_engine(struct nbody_options o, size_t n)
{
    o.ctx = stddev;
    o.integrator = NBODY_IAS15;
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

/* Put masses 1 and 2 on an ellipse of semi-major axis 1, at the pericentre; return its period. */
static double ias15_ellipse(double e)
{
    const double v = sqrt(3 * (1 + e) / (1 - e));
    memset(pos, 0, sizeof pos);
    memset(vel, 0, sizeof vel);
    mass[0] = 1;
    mass[1] = 2;
    pos[0][0] = 2 * (1 - e) / 3;
    pos[1][0] = -(1 - e) / 3;
    vel[0][1] = 2 * v / 3;
    vel[1][1] = -v / 3;
    return 2 * PI / sqrt(3);
}

/* 10.37 orbits in steps of a tenth of an orbit, for every eccentricity. */
static void ias15_kepler_is_exact_to_rounding(void **state)
{
    static const double eccentricity[] = {0, 0.5, 0.9, 0.99};
    (void)state;
    for (int k = 0; k < 4; k++) {
        const double e = eccentricity[k], anomaly = 0.37 * 2 * PI, period = ias15_ellipse(e);
        double E = PI;
        for (int i = 0; i < 60; i++)
            E -= (E - e * sin(E) - anomaly) / (1 - e * cos(E));
        nbody *nb =
            ias15_engine((struct nbody_options){.precision = precision, .dt = period / 10}, 2);
        const double before = total_energy(nb);
        works(nbody_step(nb, 103));
        works(nbody_set_dt(nb, 0.07 * period));
        works(nbody_step(nb, 1));
        works(nbody_state(nb, pos1, vel1));
        const double off = hypot(pos1[0][0] - pos1[1][0] - (cos(E) - e),
                                 pos1[0][1] - pos1[1][1] - sqrt(1 - e * e) * sin(E));
        if (precision == NBODY_DOUBLE) {
            assert_true(off < (e > 0.95 ? 1e-9 : 1e-11));
            assert_true(fabs(total_energy(nb) / before - 1) < (e > 0.95 ? 1e-12 : 2e-14));
        }
        nbody_free(nb);
    }
}

/* Burrau's problem: bodies of mass 3, 4, 5. At t = 40 the state matches extrapolation in long
 * double to 1e-6; by t = 70 the lightest body has escaped and the remaining two are a binary
 * (Szebehely & Peters 1967). Energy is conserved throughout. */
static void ias15_pythagorean_matches_extrapolation(void **state)
{
    (void)state;
    if (precision != NBODY_DOUBLE)
        skip();
    works(nbody_initial(NBODY_PYTHAGOREAN, 3, 0, mass, pos, vel));
    memcpy(pos2, pos, sizeof pos2);
    memcpy(vel2, vel, sizeof vel2);
    works(nbody_ref_exact(3, 1, 0, 40, 1e-16, mass, pos2, vel2));
    nbody *nb = ias15_engine((struct nbody_options){.precision = precision, .dt = 10}, 3);
    works(nbody_step(nb, 2));
    works(nbody_state(nb, pos1, NULL));
    assert_true(fabs(pos1[0][0] - 3.004292637) < 1e-8 &&
                fabs(pos1[0][1] - 0.511925235) < 1e-8); /* published */
    works(nbody_step(nb, 2));
    works(nbody_state(nb, pos1, vel1));
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 2; c++)
            assert_true(fabs(pos1[i][c] - pos2[i][c]) < 1e-6);
    works(nbody_step(nb, 3));
    works(nbody_state(nb, pos1, vel1));
    assert_true(fabs(total_energy(nb) / (-769. / 60) - 1) < 1e-10);
    /* The single body relative to the binary: distant, receding, and faster than the escape
     * speed. */
    double r = 0, v = 0, along = 0, pair = 0, pair_v = 0;
    for (int c = 0; c < 3; c++) {
        const double x = pos1[0][c] - (4 * pos1[1][c] + 5 * pos1[2][c]) / 9,
                     w = vel1[0][c] - (4 * vel1[1][c] + 5 * vel1[2][c]) / 9;
        r += x * x, v += w * w, along += x * w;
        pair += (pos1[1][c] - pos1[2][c]) * (pos1[1][c] - pos1[2][c]);
        pair_v += (vel1[1][c] - vel1[2][c]) * (vel1[1][c] - vel1[2][c]);
    }
    assert_true(sqrt(r) > 5 && along > 0 && v / 2 - 12 / sqrt(r) > 0);
    assert_true(sqrt(pair) < 1 && pair_v / 2 - 9 / sqrt(pair) < 0);
    nbody_free(nb);
}

/* ---- Pairs that are close compared with their distance from the origin. ---------------------- */

static const struct close_case {
    const double (*body)[7];
    size_t n;
    double time;
    size_t steps;
    double error;       /* of the distance of the last two bodies, relative to it */
    double evaluations; /* at most */
} close_cases[] = {
    {low_moon, 3, 0.1, 1, 2e-11, 16000},     /* 16 orbits */
    {low_moon, 3, 0.1, 100, 2e-8, 25000},    /* steps shorter than the integrator's */
    {phobos, 3, 0.5, 1, 1e-10, 90000},       /* 91 orbits */
    {distant, 2, 20, 1, 2e-11, 3500},        /* 3 orbits */
    {planetesimals, 3, 0.2, 1, 1e-11, 3500}, /* 100 times their distance at the start */
    {opposite, 3, 20, 1, 1e-12, 3500},       /* 3 orbits */
    {grazing, 3, 0.003, 1, 2e-9, 9000},      /* one pericentre */
    {saddle, 3, 1, 1, 1e-14, 500},
};

/* The distance between the last two bodies. */
static void ias15_close_pairs_match_extrapolation(void **state)
{
    (void)state;
    if (precision != NBODY_DOUBLE)
        skip();
    for (size_t k = 0; k < sizeof close_cases / sizeof *close_cases; k++) {
        const struct close_case *c = &close_cases[k];
        double right[3];
        close_pair_bodies(c->n, c->body, mass, pos, vel);
        works(close_pair_exact(c->n, c->body, c->time, right));
        nbody *nb = ias15_engine(
            (struct nbody_options){.precision = precision, .dt = c->time / (double)c->steps}, c->n);
        const double before = total_energy(nb);
        works(nbody_step(nb, c->steps));
        works(nbody_state(nb, pos1, NULL));
        assert_true(close_pair_error(c->n, (rows)pos1, right) < c->error);
        assert_true(fabs(total_energy(nb) / before - 1) < 2e-14);
        assert_true(nbody_interactions(nb) / (double)(c->n * c->n) < c->evaluations);
        nbody_free(nb);
    }
}

/* Call boundaries and queries change no bit in any precision; a run can go backwards. */
static void ias15_call_boundaries_change_no_bit(void **state)
{
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, 20, 3, mass, pos, vel));
    for (int p = NBODY_SINGLE; p <= NBODY_DOUBLE; p++) {
        if (p == NBODY_DOUBLE && precision != NBODY_DOUBLE)
            continue;
        const struct nbody_options o = {
            .precision = (enum nbody_precision)p, .dt = 0.125, .eps = 0.01};
        nbody *whole = ias15_engine(o, 20), *parts = ias15_engine(o, 20);
        works(nbody_step(whole, 6));
        for (int k = 0; k < 3; k++) {
            (void)total_energy(parts);
            works(nbody_step(parts, 2));
            works(nbody_forces(parts, pos1, NULL));
        }
        works(nbody_state(whole, pos1, vel1));
        works(nbody_state(parts, pos2, vel2));
        assert_memory_equal(pos1, pos2, 20 * sizeof *pos1);
        assert_memory_equal(vel1, vel2, 20 * sizeof *vel1);
        assert_true(nbody_time(parts) == 0.75 && nbody_interactions(parts) > 6 * 400);
        works(nbody_set_dt(parts, -0.125));
        works(nbody_step(parts, 6));
        works(nbody_state(parts, pos2, vel2));
        for (int i = 0; i < 20; i++)
            for (int c = 0; c < 3; c++)
                assert_true(fabs(pos2[i][c] - pos[i][c]) < (p == NBODY_DOUBLE ? 1e-11 : 1e-3));
        nbody_free(whole);
        nbody_free(parts);
    }
}

static int stop_at(void *share, double done)
{
    return done >= *(double *)share;
}

static void ias15_cancelled_step_is_undone(void **state)
{
    double share = 0.5;
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, 20, 3, mass, pos, vel));
    nbody *nb = ias15_engine(
        (struct nbody_options){
            .precision = precision, .dt = 0.125, .eps = 0.01, .progress = stop_at, .arg = &share},
        20);
    fails(ECANCELED, nbody_step(nb, 10));
    const size_t done = nbody_steps(nb);
    assert_true(done >= 5 && done < 10);
    share = 2;
    works(nbody_step(nb, 10 - done));
    works(nbody_state(nb, pos1, vel1));
    nbody_free(nb);
    nb = ias15_engine((struct nbody_options){.precision = precision, .dt = 0.125, .eps = 0.01}, 20);
    works(nbody_step(nb, 10));
    works(nbody_state(nb, pos2, vel2));
    assert_memory_equal(pos1, pos2, 20 * sizeof *pos1);
    nbody_free(nb);
}

static int stop_within(void *calls, double done)
{
    return done > 0 && done < 1 && ++*(int *)calls == 3;
}

/* A long step is cancelled between inner steps. */
static void ias15_long_step_is_cancelled(void **state)
{
    int calls = 0;
    (void)state;
    ias15_ellipse(0);
    nbody *nb = ias15_engine(
        (struct nbody_options){
            .precision = precision, .dt = 1e9, .progress = stop_within, .arg = &calls},
        2);
    fails(ECANCELED, nbody_step(nb, 1));
    assert_true(calls == 3 && nbody_steps(nb) == 0 && nbody_time(nb) == 0);
    works(nbody_state(nb, pos1, NULL));
    assert_memory_equal(pos1, pos, 2 * sizeof *pos);
    nbody_free(nb);
}

/* The error names two colliding bodies, and the state is that before the step. */
static void ias15_collision_is_named(void **state)
{
    (void)state;
    memset(pos, 0, sizeof pos);
    memset(vel, 0, sizeof vel);
    mass[0] = mass[1] = mass[2] = 1;
    pos[0][0] = 50;
    pos[1][0] = 1;
    nbody *nb = ias15_engine((struct nbody_options){.precision = precision, .dt = 0.5}, 3);
    works(nbody_step(nb, 1));
    works(nbody_state(nb, pos1, vel1));
    assert_int_equal(nbody_step(nb, 10), -1);
    assert_int_equal(clerrno, EDOM);
    assert_non_null(
        strstr(clerror(), "bodies 1 and 2 (from 0 on) come so close that the time step vanishes"));
    assert_true(nbody_steps(nb) < 3);
    works(nbody_state(nb, pos2, vel2));
    assert_true(pos2[1][0] > pos2[2][0]);
    nbody_free(nb);
}

/* ---- Contacts. ------------------------------------------------------------------------------- */

/* Two bodies on an ellipse touch at the distance 0.8 once per orbit, at a time that follows from
 * Kepler's equation. One step of ten orbits ends at each contact; it can be saved and
 * continued within the step. */
static void ias15_contacts_follow_kepler(void **state)
{
    const double e = 0.5, R = 0.8, period = ias15_ellipse(e), E = acos((1 - R) / e),
                 first = period * (1 - (E - e * sin(E)) / (2 * PI));
    const double radius[2] = {0.3, 0.5};
    const struct nbody_contact *c;
    size_t n = 0;
    (void)state;
    if (precision != NBODY_DOUBLE)
        skip();
    pos[1][0] += 1 - e, pos[0][0] += 1 - e; /* the centre of mass does not matter */
    const struct nbody_options o = {.precision = precision, .dt = 10 * period};
    nbody *nb = ias15_engine(o, 2), *other = ias15_engine(o, 2);
    works(nbody_watch_contacts(nb, radius));
    works(nbody_watch_contacts(other, radius));
    works(nbody_step(nb, 1)); /* they overlap at the pericentre, where they start */
    c = nbody_contacts(nb, &n);
    assert_true(n == 1 && c->first == 0 && c->second == 1 && c->before <= 0);
    assert_true(nbody_time(nb) <= 0 && nbody_steps(nb) == 0);
    for (int k = 0; k < 10; k++) {
        works(nbody_step(nb, 3));
        c = nbody_contacts(nb, &n);
        works(nbody_state(nb, pos1, vel1));
        const double r = hypot(pos1[0][0] - pos1[1][0], pos1[0][1] - pos1[1][1]),
                     right = first + period * k;
        assert_true(n == 1 && nbody_steps(nb) == 0 && c->before <= 0);
        assert_true(fabs(nbody_time(nb) - right) < 1e-11 * right && fabs(r - R) < 1e-12);
        assert_true(fabs(nbody_elapsed(nb) - nbody_time(nb)) <= 0);
    }
    void *saved = malloc(nbody_save_bytes(nb));
    works(nbody_save(nb, saved));
    works(nbody_load(other, saved, nbody_save_bytes(nb)));
    free(saved);
    assert_true(fabs(nbody_time(other) - nbody_time(nb)) <= 0);
    works(nbody_step(nb, 1));
    (void)nbody_contacts(nb, &n);
    assert_true(n == 0 && nbody_steps(nb) == 1 && fabs(nbody_time(nb) - 10 * period) <= 0);
    works(nbody_step(other, 1)); /* does not know which pairs have been reported */
    works(nbody_step(other, 1));
    works(nbody_state(nb, pos1, vel1));
    works(nbody_state(other, pos2, vel2));
    for (int i = 0; i < 2; i++)
        for (int a = 0; a < 3; a++)
            assert_true(fabs(pos1[i][a] - pos2[i][a]) < 1e-10);
    works(nbody_watch_contacts(nb, NULL));
    works(nbody_step(nb, 1));
    assert_null(nbody_contacts(nb, &n));
    assert_int_equal(nbody_steps(nb), 2);
    nbody_free(nb);
    nbody_free(other);
}

/* Free bodies on lines touch at known times within one step, in this order. */
static void ias15_contacts_come_in_order(void **state)
{
    static const double time[] = {0.25, 0.5, 1.875};
    const double radius[5] = {0.25, 0.25, 0.5, 0.25, 0.25};
    const struct nbody_contact *c;
    size_t n;
    (void)state;
    memset(mass, 0, sizeof mass);
    memset(pos, 0, sizeof pos);
    memset(vel, 0, sizeof vel);
    pos[1][0] = 1, vel[1][0] = -1; /* meets body 0 at 0.5 */
    pos[2][0] = 3, pos[2][1] = 1;
    pos[3][0] = 3, vel[3][1] = 1;     /* meets body 2 at 0.25 */
    pos[4][1] = -4.25, vel[4][1] = 2; /* meets body 0 at 1.875 */
    nbody *nb = ias15_engine((struct nbody_options){.precision = precision, .dt = 2}, 5);
    works(nbody_watch_contacts(nb, radius));
    for (int k = 0; k < 3; k++) {
        works(nbody_step(nb, 1));
        c = nbody_contacts(nb, &n);
        assert_true(n == 1 && fabs(nbody_time(nb) - time[k]) < 1e-6);
        assert_true(c->first == (k == 0 ? 2 : 0) && c->second == (k == 0 ? 3 : k == 1 ? 1 : 4));
    }
    fails(EINVAL, nbody_set_dt(nb, 1.5)); /* 1.875 of it have passed */
    works(nbody_step(nb, 1));
    assert_true(nbody_time(nb) == 2 && nbody_steps(nb) == 1 && nbody_elapsed(nb) <= 0);
    assert_int_equal(nbody_watch_contacts(nb, (const double[]){1, 1, 1, -1, 1}), -1);
    assert_non_null(strstr(clerror(), "body 3 has the radius -1"));
    fails(EINVAL, nbody_set_elapsed(nb, -1));
    nbody_free(nb);
    nb = nbody_create(&(struct nbody_options){.ctx = stddev, .dt = 1}, 5, mass, (rows)pos,
                      (rows)vel);
    ready(nb);
    fails(ENOTSUP, nbody_watch_contacts(nb, radius));
    fails(ENOTSUP, nbody_set_elapsed(nb, 0.5));
    nbody_free(nb);
}

static void ias15_rejects_bad_options(void **state)
{
    static double m[4097], x[4097][3];
    (void)state;
    struct nbody_options o = {.ctx = stddev, .integrator = NBODY_IAS15, .dt = 1};
    assert_null(nbody_create(&o, 4097, m, (rows)x, (rows)x));
    assert_non_null(strstr(clerror(), "takes at most 4096"));
    o.method = NBODY_TREE;
    assert_null(nbody_create(&o, 4000, m, (rows)x, (rows)x));
    assert_non_null(strstr(clerror(), "without a tree"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ias15_kepler_is_exact_to_rounding),
                                       cmocka_unit_test(ias15_pythagorean_matches_extrapolation),
                                       cmocka_unit_test(ias15_close_pairs_match_extrapolation),
                                       cmocka_unit_test(ias15_call_boundaries_change_no_bit),
                                       cmocka_unit_test(ias15_cancelled_step_is_undone),
                                       cmocka_unit_test(ias15_long_step_is_cancelled),
                                       cmocka_unit_test(ias15_collision_is_named),
                                       cmocka_unit_test(ias15_contacts_follow_kepler),
                                       cmocka_unit_test(ias15_contacts_come_in_order),
                                       cmocka_unit_test(ias15_rejects_bad_options)};
    struct cldev_info info[64];
    if (!stddev || clgetndev(stddev) > 64 || clgetdevinfo(stddev, info) != 0)
        return 1;
    precision = NBODY_DOUBLE;
    for (cl_uint d = 0; d < clgetndev(stddev); d++)
        if (!info[d].dev_pref_vec_double)
            precision = NBODY_SINGLE;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
