/* ias15: orbits to rounding, close encounters, the Pythagorean problem to its end.
 *
 * What it finds is compared with Kepler's equation, with an extrapolation method in long double,
 * and with what is published.
 * SPDX-License-Identifier: MIT
 */
#include "nbody_engine.h"

#include "nbody/nbody_ref.h"

#include <math.h>

#define PI 3.14159265358979323846

enum { MOST = 100 };
static double mass[MOST], pos[MOST][3], vel[MOST][3], pos1[MOST][3], vel1[MOST][3], pos2[MOST][3],
    vel2[MOST][3];

static enum nbody_precision precision; /* the best that the device has */

static nbody *engine(struct nbody_options o, size_t n)
{
    o.ctx = stddev;
    o.integrator = NBODY_IAS15;
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

/* Masses 1 and 2 on an ellipse of semi-major axis 1, at the pericentre. */
static double ellipse(double e)
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

/* Ten orbits and 0.37 of one, in steps of a tenth of an orbit, however eccentric. */
static void kepler(void **state)
{
    static const double eccentricity[] = {0, 0.5, 0.9, 0.99};
    (void)state;
    for (int k = 0; k < 4; k++) {
        const double e = eccentricity[k], anomaly = 0.37 * 2 * PI, period = ellipse(e);
        double E = PI;
        for (int i = 0; i < 60; i++)
            E -= (E - e * sin(E) - anomaly) / (1 - e * cos(E));
        nbody *nb = engine((struct nbody_options){.precision = precision, .dt = period / 10}, 2);
        const double before = energy(nb);
        works(nbody_step(nb, 103));
        works(nbody_set_dt(nb, 0.07 * period));
        works(nbody_step(nb, 1));
        works(nbody_state(nb, pos1, vel1));
        const double off = hypot(pos1[0][0] - pos1[1][0] - (cos(E) - e),
                                 pos1[0][1] - pos1[1][1] - sqrt(1 - e * e) * sin(E));
        if (precision == NBODY_DOUBLE) {
            assert_true(off < (e > 0.95 ? 1e-9 : 1e-11));
            assert_true(fabs(energy(nb) / before - 1) < (e > 0.95 ? 1e-12 : 2e-14));
        }
        nbody_free(nb);
    }
}

/* Burrau's problem: bodies of mass 3, 4, 5. At t = 40 as extrapolation in long double finds it, to
 * 1e-6; by t = 70 the lightest has left for good, and the two others are a pair (Szebehely & Peters
 * 1967). Energy is kept all the way. */
static void pythagorean(void **state)
{
    (void)state;
    if (precision != NBODY_DOUBLE)
        skip();
    works(nbody_initial(NBODY_PYTHAGOREAN, 3, 0, mass, pos, vel));
    memcpy(pos2, pos, sizeof pos2);
    memcpy(vel2, vel, sizeof vel2);
    works(nbody_ref_exact(3, 1, 0, 40, 1e-16, mass, pos2, vel2));
    nbody *nb = engine((struct nbody_options){.precision = precision, .dt = 10}, 3);
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
    assert_true(fabs(energy(nb) / (-769. / 60) - 1) < 1e-10);
    /* The single body against the pair: apart, receding, and faster than it could be and stay. */
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

/* Where calls end, and questions in between, change no bit, in any precision; and a run goes
 * back. */
static void calls(void **state)
{
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, 20, 3, mass, pos, vel));
    for (int p = NBODY_SINGLE; p <= NBODY_DOUBLE; p++) {
        if (p == NBODY_DOUBLE && precision != NBODY_DOUBLE)
            continue;
        const struct nbody_options o = {
            .precision = (enum nbody_precision)p, .dt = 0.125, .eps = 0.01};
        nbody *whole = engine(o, 20), *parts = engine(o, 20);
        works(nbody_step(whole, 6));
        for (int k = 0; k < 3; k++) {
            (void)energy(parts);
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

static void stops(void **state)
{
    double share = 0.5;
    (void)state;
    works(nbody_initial(NBODY_PLUMMER, 20, 3, mass, pos, vel));
    nbody *nb = engine(
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
    nb = engine((struct nbody_options){.precision = precision, .dt = 0.125, .eps = 0.01}, 20);
    works(nbody_step(nb, 10));
    works(nbody_state(nb, pos2, vel2));
    assert_memory_equal(pos1, pos2, 20 * sizeof *pos1);
    nbody_free(nb);
}

/* Two bodies that fall into each other are named, and the state is that before the step. */
static void collision(void **state)
{
    (void)state;
    memset(pos, 0, sizeof pos);
    memset(vel, 0, sizeof vel);
    mass[0] = mass[1] = mass[2] = 1;
    pos[0][0] = 50;
    pos[1][0] = 1;
    nbody *nb = engine((struct nbody_options){.precision = precision, .dt = 0.5}, 3);
    works(nbody_step(nb, 1));
    works(nbody_state(nb, pos1, vel1));
    assert_int_equal(nbody_step(nb, 10), -1);
    assert_int_equal(clerrno, EDOM);
    assert_non_null(
        strstr(clerror(), "bodies 1 and 2 (from 0 on) come so close that steps vanish"));
    assert_true(nbody_steps(nb) < 3);
    works(nbody_state(nb, pos2, vel2));
    assert_true(pos2[1][0] > pos2[2][0]);
    nbody_free(nb);
}

static void refused(void **state)
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(kepler),    cmocka_unit_test(pythagorean),
                                       cmocka_unit_test(calls),     cmocka_unit_test(stops),
                                       cmocka_unit_test(collision), cmocka_unit_test(refused)};
    struct cldev_info info[64];
    if (!stddev || clgetndev(stddev) > 64 || clgetdevinfo(stddev, info) != 0)
        return 1;
    precision = NBODY_DOUBLE;
    for (cl_uint d = 0; d < clgetndev(stddev); d++)
        if (!info[d].dev_pref_vec_double)
            precision = NBODY_SINGLE;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
