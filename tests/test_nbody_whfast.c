/* Wisdom & Holman's steps of planets: compared with Kepler's equation, with ias15, with
 * extrapolation in long double, and with the errors that REBOUND's WHFast has in the same run.
 * SPDX-License-Identifier: MIT
 */
#include "builds_once.h"
#include "nbody_engine.h"

#include "core/args.h"
#include "nbody/integrator/host_state.h"
#include "nbody/reference/nbody_ref.h"

/* Kepler's motion once more, without vector instructions. */
#define HOST_LANES_PLAIN
#define nbody_kepler_drift plain_kepler_drift
#define nbody_kepler_kick plain_kepler_kick
#include "nbody/integrator/kepler.c"
#undef nbody_kepler_drift
#undef nbody_kepler_kick
void nbody_kepler_drift(const struct kepler_orbits *o, double dt);

#define PI 3.14159265358979323846

enum { MOST = 64 };
static const double GAUSS = 0.00029591220828559115;
static double mass[MOST], pos[MOST][3], vel[MOST][3];
static double pos1[MOST][3], vel1[MOST][3], pos2[MOST][3], vel2[MOST][3];

/* The Sun and the eight planets of data/solar.tab, in au, days and solar masses. */
static const double solar[9][7] = {
    {1, -0.0071364587728, -0.0027957256400, 0.0002061359029, 0.000005378460714, -0.000007406919441,
     -0.000000094334424},
    {1.660136794807e-07, -0.1372299625728, -0.4500833704400, -0.0243922423971, 0.021371775360714,
     -0.006455391219441, -0.002487960934424},
    {2.447838338979e-06, -0.7254387435728, -0.0354502067400, 0.0412203836029, 0.000803500660714,
     -0.020302625419441, -0.000323549534424},
    {3.003489685741e-06, -0.1842717809675, 0.9644459203710, 0.0002022406984, -0.017202245853867,
     -0.003166193004184, 0.000000011814125},
    {3.227151444151e-07, 1.3835794622272, -0.0162117194400, -0.0342616677971, 0.000676874560714,
     0.015179841280559, 0.000301560065576},
    {9.547919153664e-04, 3.9940400348272, 2.9357812967600, -0.1015787411971, -0.004562936539286,
     0.006435798080559, 0.000075486665576},
    {2.858859805861e-04, 6.3992708585272, 6.5671954281600, -0.3688698142971, -0.004286974339286,
     0.003882907780559, 0.000102854665576},
    {4.366244042129e-05, 14.4247232675272, -13.7371082418400, -0.2379341417971, 0.002683482360714,
     0.002665291080559, -0.000024865634424},
    {5.151389019024e-05, 16.8049172779272, -24.9945550032400, 0.1274308600029, 0.002584652260714,
     0.001769494380559, -0.000096002334424}};

static void whfast_load_planets(void)
{
    for (size_t i = 0; i < COUNT_OF(solar); i++) {
        mass[i] = solar[i][0];
        memcpy(pos[i], &solar[i][1], sizeof pos[i]);
        memcpy(vel[i], &solar[i][4], sizeof vel[i]);
    }
}

static nbody *whfast_engine(size_t n, double dt, struct nbody_whfast_options options)
{
    nbody *nb = nbody_create(&(struct nbody_options){.ctx = stddev,
                                                     .integrator = NBODY_WHFAST,
                                                     .precision = NBODY_DOUBLE,
                                                     .G = GAUSS,
                                                     .dt = dt,
                                                     .whfast = options},
                             n, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

/* Energy in long double, so that rounding does not hide errors of 1e-15. */
static long double whfast_energy(size_t n, double (*x)[3], double (*v)[3])
{
    long double sum = 0;
    for (size_t i = 0; i < n; i++) {
        for (int c = 0; c < 3; c++)
            sum += mass[i] * (long double)v[i][c] * v[i][c] / 2;
        for (size_t j = 0; j < i; j++) {
            long double r2 = 0;
            for (int c = 0; c < 3; c++)
                r2 += ((long double)x[i][c] - x[j][c]) * ((long double)x[i][c] - x[j][c]);
            sum -= GAUSS * (long double)mass[i] * mass[j] / sqrtl(r2);
        }
    }
    return sum;
}

/* Distance of body i from body 0 in pos1, compared with pos2. */
static double whfast_off(size_t i)
{
    double r2 = 0;
    for (int c = 0; c < 3; c++)
        r2 += pow(pos1[i][c] - pos1[0][c] - (pos2[i][c] - pos2[0][c]), 2);
    return sqrt(r2);
}

static void whfast_run_ias15(size_t n, double years)
{
    nbody *nb = nbody_create(&(struct nbody_options){.ctx = stddev,
                                                     .integrator = NBODY_IAS15,
                                                     .precision = NBODY_DOUBLE,
                                                     .G = GAUSS,
                                                     .dt = years / 100},
                             n, mass, (rows)pos, (rows)vel);
    ready(nb);
    works(nbody_step(nb, 100));
    works(nbody_state(nb, pos2, vel2));
    nbody_free(nb);
}

/* 100 years in steps of 4 days. With its corrector of order 17 REBOUND has an energy error of 6e-13
 * here, and Mercury is 2e-8 au from its place by IAS15. */
static void whfast_planets_match_ias15(void **state)
{
    static const struct {
        struct nbody_whfast_options options;
        double energy, mercury;
    } of[] = {{{.corrector = -1}, 1e-9, 2e-6},
              {{.corrector = 3}, 6e-12, 1e-7},
              {{.corrector = 5}, 8e-13, 2e-8},
              {{.corrector = 7}, 6e-13, 2e-8},
              {{.corrector = 11}, 6e-13, 2e-8},
              {{.corrector = 0}, 6e-13, 2e-8},
              {{.coordinates = NBODY_HELIOCENTRIC}, 3e-8, 2e-3}};
    (void)state;
    whfast_load_planets();
    whfast_run_ias15(9, 9131 * 4);
    const long double before = whfast_energy(9, pos, vel);
    assert_true(fabsl(whfast_energy(9, pos2, vel2) / before - 1) < 1e-14L);
    for (size_t k = 0; k < COUNT_OF(of); k++) {
        nbody *nb = whfast_engine(9, 4, of[k].options);
        double worst = 0;
        for (int part = 0; part < 23; part++) {
            works(nbody_step(nb, 397));
            works(nbody_state(nb, pos1, vel1));
            worst = fmax(worst, fabs((double)(whfast_energy(9, pos1, vel1) / before - 1)));
        }
        assert_int_equal(nbody_steps(nb), 9131);
        assert_true(worst < of[k].energy && whfast_off(1) < of[k].mercury);
        nbody_free(nb);
    }
}

/* Half the step makes a quarter of the error of positions. */
static void whfast_is_of_second_order(void **state)
{
    static const struct nbody_whfast_options options[] = {{.corrector = -1},
                                                          {.coordinates = NBODY_HELIOCENTRIC}};
    (void)state;
    whfast_load_planets();
    whfast_run_ias15(9, 1600);
    for (size_t k = 0; k < COUNT_OF(options); k++) {
        double off[2];
        for (size_t i = 0; i < 2; i++) {
            nbody *nb = whfast_engine(9, i ? 0.5 : 1, options[k]);
            works(nbody_step(nb, i ? 3200 : 1600));
            works(nbody_state(nb, pos1, NULL));
            off[i] = whfast_off(2);
            nbody_free(nb);
        }
        assert_true(fabs(off[0] / off[1] - 4) < 0.1);
    }
}

/* Steps of any length and sign are exact for two bodies of any orbit, far from the origin too. */
static void whfast_two_bodies_follow_kepler(void **state)
{
    static const double eccentricity[] = {0, 0.5, 0.9, 0.99, 1.5};
    (void)state;
    for (size_t k = 0; k < 2 * COUNT_OF(eccentricity); k++) {
        const double e = eccentricity[k / 2], gm = GAUSS * 1.25, v = sqrt(gm * (1 + e)),
                     dt = k % 2 ? -40 : 7;
        memset(pos, 0, sizeof pos);
        memset(vel, 0, sizeof vel);
        mass[0] = 1;
        mass[1] = 0.25;
        pos[0][0] = 1000;
        pos[1][0] = 1001;
        vel[1][1] = 0.6 * v;
        vel[1][2] = 0.8 * v;
        double x[3] = {1, 0, 0}, w[3] = {0, 0.6 * v, 0.8 * v};
        for (int step = 0; step < 50; step++)
            nbody_ref_kepler(gm, dt, x, w);
        nbody *nb = whfast_engine(2, dt, (struct nbody_whfast_options){.safe = e > 0.6});
        works(nbody_step(nb, 50));
        works(nbody_state(nb, pos1, vel1));
        for (int c = 0; c < 3; c++) {
            const double off = pos1[1][c] - pos1[0][c] - x[c];
            assert_true(fabs(off) < (e > 0.95 && e < 1 ? 1e-8 : 1e-10));
        }
        nbody_free(nb);
    }
}

/* Kepler's motion in all lanes, from a thousandth of the time scale to many periods. */
static void whfast_kepler_matches_reference(void **state)
{
    static double x[2][24], v[2][24], lost[4][24], gm[8];
    uint64_t seed = 1;
    (void)state;
    for (int trial = 0; trial < 4000; trial++) {
        double number[8][4], x0[8][3], v0[8][3];
        for (int k = 0; k < 32; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            number[k / 4][k % 4] = (double)(seed >> 11) * 0x1p-53;
        }
        const double dt = pow(10, 4 * number[0][0] - 3) * (trial % 2 ? 1 : -1);
        for (size_t i = 0; i < 8; i++) {
            const double e = number[i][1] * (i == 7 ? 3 : 0.98), q = 0.3 + number[i][2];
            gm[i] = i == 6 ? 0 : 0.5 + number[i][3];
            const double w = sqrt(fmax(gm[i], 0.1) * (1 + e) / q);
            const double at[3] = {q, 0, 0}, with[3] = {0, 0.6 * w, 0.8 * w};
            memcpy(x0[i], at, sizeof at);
            memcpy(v0[i], with, sizeof with);
            if (i != 6)
                nbody_ref_kepler(gm[i], 10 * number[i][0], x0[i], v0[i]);
            for (size_t c = 0; c < 3; c++) {
                x[0][c * 8 + i] = x[1][c * 8 + i] = x0[i][c];
                v[0][c * 8 + i] = v[1][c * 8 + i] = v0[i][c];
            }
        }
        memset(lost, 0, sizeof lost);
        nbody_kepler_drift(
            &(struct kepler_orbits){8, 8, gm, x[0], v[0], lost[0], lost[1], NULL, NULL}, dt);
        plain_kepler_drift(
            &(struct kepler_orbits){8, 8, gm, x[1], v[1], lost[2], lost[3], NULL, NULL}, dt);
        assert_memory_equal(x[0], x[1], sizeof x[0]);
        assert_memory_equal(v[0], v[1], sizeof v[0]);
        assert_memory_equal(lost[0], lost[2], 2 * sizeof lost[0]);
        for (size_t i = 0; i < 8; i++) {
            double off = 0, size = 0;
            if (i != 6)
                nbody_ref_kepler(gm[i], dt, x0[i], v0[i]);
            for (size_t c = 0; c < 3; c++) {
                const double right = i == 6 ? x0[i][c] + dt * v0[i][c] : x0[i][c];
                off += pow(x[0][c * 8 + i] - right, 2);
                size += right * right;
            }
            assert_true(sqrt(off / size) < 1e-12 * (1 + fabs(dt)));
        }
    }
}

/* A circle has equal bits alone and beside an ellipse, which needs more iterations. */
static void whfast_orbits_are_independent(void **state)
{
    static const double gm[2][8] = {{1, 1}, {1}};
    static double x[2][24], v[2][24], lost[2][48];
    (void)state;
    for (int k = 0; k < 2; k++) {
        x[k][0] = x[k][1] = v[k][8] = 1;
        v[k][9] = 0.3;
        for (int step = 1; step <= 1000; step++)
            nbody_kepler_drift(
                &(struct kepler_orbits){8, 8, gm[k], x[k], v[k], lost[k], lost[k] + 24, NULL, NULL},
                1e-3 * step);
    }
    for (size_t c = 0; c < 3; c++)
        assert_true(x[0][8 * c] == x[1][8 * c] && v[0][8 * c] == v[1][8 * c]);
}

static long double kepler_energy(const struct kepler_orbits *o, size_t i)
{
    long double r2 = 0, v2 = 0;
    for (size_t c = 0; c < 3; c++) {
        const size_t k = c * o->stride + i;
        const long double x = (long double)o->x[k] + o->lost_x[k],
                          v = (long double)o->v[k] + o->lost_v[k];
        r2 += x * x;
        v2 += v * v;
    }
    return v2 / 2 - o->gm[i] / sqrtl(r2);
}

/* Rounding errors are a random walk: two million steps of a ninetieth of an orbit change energies
 * by some 1e-14. A series that added small terms last made a trend of 2e-13. */
static void whfast_rounding_has_no_trend(void **state)
{
    static double x[24], v[24], lost[48], gm[8];
    const struct kepler_orbits o = {8, 8, gm, x, v, lost, lost + 24, NULL, NULL};
    long double before[8];
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        const double e = 0.03 * (double)(i + 1), a = 1 + 0.1 * (double)i, q = a * (1 - e);
        gm[i] = 1 + 0.01 * (double)i;
        x[i] = q;
        v[8 + i] = 0.8 * sqrt(gm[i] * (1 + e) / q);
        v[16 + i] = 0.6 * sqrt(gm[i] * (1 + e) / q);
        before[i] = kepler_energy(&o, i);
    }
    for (int step = 0; step < 2000000; step++)
        nbody_kepler_drift(&o, 0.07);
    for (size_t i = 0; i < 8; i++)
        assert_true(fabsl(kepler_energy(&o, i) / before[i] - 1) < 7e-14L);
}

/* A test particle moves as a body of tiny mass would, in any place of the list, and does not
 * act. */
static void whfast_test_particles_do_not_act(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        const struct nbody_whfast_options options = {.coordinates =
                                                         k ? NBODY_HELIOCENTRIC : NBODY_JACOBI};
        whfast_load_planets();
        mass[3] = mass[4] = 0;
        whfast_run_ias15(9, 365);
        nbody *nb = whfast_engine(9, 0.5, options);
        works(nbody_step(nb, 730));
        works(nbody_state(nb, pos1, vel1));
        assert_true(whfast_off(3) < (k ? 2e-6 : 1e-8) && whfast_off(4) < (k ? 2e-6 : 1e-8));
        nbody_free(nb);
        memcpy(pos2, pos1, sizeof pos2);
        pos[3][0] += 0.1; /* others do not notice */
        nb = whfast_engine(9, 0.5, options);
        works(nbody_step(nb, 730));
        works(nbody_state(nb, pos1, vel1));
        for (size_t i = 0; i < 9; i++)
            assert_true(i == 3 || whfast_off(i) < 1e-13);
        nbody_free(nb);
    }
}

/* A field acts on star and planets: half the step makes a quarter of the error. */
static void whfast_field_acts(void **state)
{
    static const struct nbody_field field = {NBODY_FIELD_PLUMMER, 0.01, 3};
    double off[2];
    (void)state;
    whfast_load_planets();
    const struct nbody_ref_system s = {9, GAUSS, 0, mass, &field, 1, NULL, NULL};
    memcpy(pos2, pos, sizeof pos2);
    memcpy(vel2, vel, sizeof vel2);
    works(nbody_ref_exact_in(&s, 400, 1e-15, pos2, vel2));
    for (size_t i = 0; i < 2; i++) {
        nbody *nb = nbody_create(&(struct nbody_options){.ctx = stddev,
                                                         .integrator = NBODY_WHFAST,
                                                         .precision = NBODY_DOUBLE,
                                                         .G = GAUSS,
                                                         .dt = i ? 0.5 : 1,
                                                         .whfast = {.corrector = -1},
                                                         .fields = &field,
                                                         .nfields = 1},
                                 9, mass, (rows)pos, (rows)vel);
        ready(nb);
        works(nbody_step(nb, i ? 800 : 400));
        works(nbody_state(nb, pos1, NULL));
        off[i] = largest_difference(9, pos1, pos2);
        nbody_free(nb);
    }
    assert_true(off[0] < 1e-4 && fabs(off[0] / off[1] - 4) < 0.2);
}

/* Neither call boundaries nor queries nor a saved state change a bit, and a run can go back. */
static void whfast_call_boundaries_change_no_bit(void **state)
{
    static const struct nbody_whfast_options options[] = {
        {.corrector = 0}, {.coordinates = NBODY_HELIOCENTRIC}, {.safe = 1}};
    (void)state;
    whfast_load_planets();
    for (size_t k = 0; k < COUNT_OF(options); k++) {
        nbody *whole = whfast_engine(9, 4, options[k]), *parts = whfast_engine(9, 4, options[k]),
              *loaded = whfast_engine(9, 4, options[k]);
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
        assert_memory_equal(pos1, pos2, 9 * sizeof *pos1);
        assert_memory_equal(vel1, vel2, 9 * sizeof *vel1);
        assert_int_equal(nbody_place(loaded), NBODY_ON_HOST);
        works(nbody_set_dt(loaded, -4));
        works(nbody_step(loaded, 300));
        works(nbody_state(loaded, pos2, NULL));
        assert_true(largest_difference(9, pos, pos2) < 1e-11);
        nbody_free(whole);
        nbody_free(parts);
        nbody_free(loaded);
    }
}

/* ---- Chaos. ---------------------------------------------------------------------------------- */

/* The derivative of Kepler's motion is the limit of differences between the reference's motions,
 * for ellipses, hyperbolas, several periods and straight lines. */
static void whfast_kepler_tangent_matches_differences(void **state)
{
    static const double q[8] = {1, 1, 0.5, 0.2, 1, 1, 0.3, 1}, e[8] = {0, 0.3, 0.6, 0.9, 1.5, 0.1},
                        gm[8] = {1, 1, 1, 1, 1, 1, 0, 2}, moved[8] = {0, 2, 1, 3, 2, 5, 0, 0.1};
    (void)state;
    for (int k = 0; k < 4; k++) {
        static double x[24], v[24], lost[48], tx[24], tv[24];
        const double dt = (const double[]){0.01, 0.7, -2.5, 20}[k], h = 1e-5;
        double x0[8][3], v0[8][3], ux[8][3], uv[8][3];
        memset(lost, 0, sizeof lost);
        for (size_t i = 0; i < 8; i++) {
            const double w = sqrt(fmax(gm[i], 0.1) * (1 + e[i]) / q[i]), at[3] = {q[i], 0, 0.1},
                         with[3] = {0, 0.6 * w, 0.8 * w};
            memcpy(x0[i], at, sizeof at);
            memcpy(v0[i], with, sizeof with);
            if (gm[i] > 0)
                nbody_ref_kepler(gm[i], moved[i], x0[i], v0[i]);
            for (size_t c = 0; c < 3; c++) {
                ux[i][c] = tx[8 * c + i] = cos(1 + 3. * (double)i + (double)c);
                uv[i][c] = tv[8 * c + i] = cos(2 + 5. * (double)i + 2. * (double)c);
                x[8 * c + i] = x0[i][c];
                v[8 * c + i] = v0[i][c];
            }
        }
        nbody_kepler_drift(&(struct kepler_orbits){8, 8, gm, x, v, lost, lost + 24, tx, tv}, dt);
        for (size_t i = 0; i < 8; i++) {
            double side[2][6], off = 0, size = 0;
            for (int s = 0; s < 2; s++) {
                for (size_t c = 0; c < 3; c++) {
                    side[s][c] = x0[i][c] + (s ? h : -h) * ux[i][c];
                    side[s][3 + c] = v0[i][c] + (s ? h : -h) * uv[i][c];
                }
                if (gm[i] > 0)
                    nbody_ref_kepler(gm[i], dt, side[s], side[s] + 3);
                for (size_t c = 0; c < 3 && !(gm[i] > 0); c++)
                    side[s][c] += dt * side[s][3 + c];
            }
            for (size_t c = 0; c < 6; c++) {
                const double right = (side[1][c] - side[0][c]) / (2 * h),
                             got = c < 3 ? tx[8 * c + i] : tv[8 * (c - 3) + i];
                off += (got - right) * (got - right);
                size += right * right;
            }
            if (!(sqrt(off / size) < 1e-5))
                fail_msg("orbit %zu, dt %g: %g off", i, dt, sqrt(off / size));
        }
    }
}

static nbody *whfast_with_megno(size_t n, double dt, enum nbody_coordinates coordinates)
{
    nbody *nb = nbody_create(&(struct nbody_options){.ctx = stddev,
                                                     .integrator = NBODY_WHFAST,
                                                     .precision = NBODY_DOUBLE,
                                                     .G = GAUSS,
                                                     .dt = dt,
                                                     .megno = 1,
                                                     .whfast = {.coordinates = coordinates}},
                             n, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

/* Steps move the tangent vector by the limit of differences between two orbits: whole steps, so
 * that all their parts count, with heavy planets. */
static void whfast_tangent_matches_shadow_orbit(void **state)
{
    enum { N = 9, STEPS = 500, SLOTS = 6, TANGENT = 18 };
    (void)state;
    for (int k = 0; k < 2; k++) {
        double off = 0, size = 0, h = 1e-8;
        whfast_load_planets();
        for (size_t i = 1; i < N; i++)
            mass[i] *= 10;
        nbody *nb = whfast_with_megno(N, 1, k ? NBODY_HELIOCENTRIC : NBODY_JACOBI),
              *shadow = whfast_with_megno(N, 1, k ? NBODY_HELIOCENTRIC : NBODY_JACOBI);
        works(nbody_step(nb, 1));
        works(nbody_step(shadow, 1));
        const struct host_bodies *const a = &nb->integration.few->b, *const b = &shadow->integration
                                                                                     .few->b;
        for (size_t i = 0; i < 6 * a->stride; i++)
            b->planes[SLOTS * a->stride + i] += h * a->planes[TANGENT * a->stride + i];
        works(nbody_step(nb, STEPS));
        works(nbody_step(shadow, STEPS));
        for (size_t i = 0; i < 6 * a->stride; i++) {
            const double t = a->planes[TANGENT * a->stride + i],
                         d = (b->planes[SLOTS * a->stride + i] - a->planes[SLOTS * a->stride + i]) /
                             h;
            off += (t - d) * (t - d);
            size += t * t;
        }
        if (!(sqrt(off / size) < 1e-4))
            fail_msg("coordinates %d: %g off, of %g", k, sqrt(off), sqrt(size));
        nbody_free(nb);
        nbody_free(shadow);
    }
}

/* Jupiter, and a Saturn moved to a = 9.58, e = 0.05 (regular) or a = 7.3, e = 0.1 (chaotic), about
 * the centre of mass; G = 1. */
static const double two_planets[2][3][7] = {
    {{1, -0.0010297466962315672, -0.005207583509082926, 0, 0.00038222427438021952,
      -0.00022024197271098523, 0},
     {0.00095399999999999999, 3.2686875409788225, 3.7697878598801347, 0, -0.33686405519976825,
      0.30762952765304041, 0},
     {0.00028499999999999999, -7.3283551503937883, 5.6533540026571165, 0, -0.21352970427944062,
      -0.25697051463163273, 0}},
    {{1, -0.0015858075869368967, -0.004778162864801626, 0, 0.00039664183299585571,
      -0.00020906336998996109, 0},
     {0.00095399999999999999, 3.2681314800881172, 3.7702172805244158, 0, -0.33684963764115261,
      0.30764070625576145, 0},
     {0.00028499999999999999, -5.3754029651479538, 4.1451774708116975, 0, -0.26416589012700392,
      -0.2962311009755626, 0}}};

static void whfast_load_two_planets(int k)
{
    for (size_t i = 0; i < 3; i++) {
        mass[i] = two_planets[k][i][0];
        memcpy(pos[i], &two_planets[k][i][1], sizeof pos[i]);
        memcpy(vel[i], &two_planets[k][i][4], sizeof vel[i]);
    }
}

static nbody *whfast_two_planets(int k, struct nbody_whfast_options options)
{
    whfast_load_two_planets(k);
    nbody *nb = nbody_create(&(struct nbody_options){.ctx = stddev,
                                                     .integrator = NBODY_WHFAST,
                                                     .precision = NBODY_DOUBLE,
                                                     .dt = PI / 10,
                                                     .megno = 1,
                                                     .whfast = options},
                             3, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

static nbody *whfast_ias15_engine(double dt, int megno)
{
    nbody *nb = nbody_create(&(struct nbody_options){.ctx = stddev,
                                                     .integrator = NBODY_IAS15,
                                                     .precision = NBODY_DOUBLE,
                                                     .dt = dt,
                                                     .megno = megno},
                             3, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

/* The tangent vector of ias15 is the limit of differences between two orbits. */
static void whfast_ias15_tangent_matches_shadow_orbit(void **state)
{
    enum { N = 3 };
    const double h = 1e-8;
    double t[2 * N][3], sums[16], off = 0, size = 0;
    (void)state;
    whfast_load_two_planets(1);
    nbody *nb = whfast_ias15_engine(30, 1);
    const double length = nbody_units_factor(&nb->units, 1, 0),
                 speed = nbody_units_factor(&nb->units, 1, -1);
    for (int end = 0; end < 2; end++) {
        works(nbody_step(nb, end ? 20 : 1));
        works(nbody_state(nb, pos1, vel1));
        works(nbody_host_tangent_sums(nb, sums)); /* downloads the planes */
        const struct nbody_device *const p = nb->device;
        for (size_t i = 0; i < N; i++)
            for (size_t c = 0; c < 3; c++) {
                const double *const plane = (const double *)p->state + 6 * p->rows + i;
                t[i][c] = length * plane[c * p->rows];
                t[N + i][c] = speed * plane[(3 + c) * p->rows];
                if (!end) {
                    pos[i][c] = pos1[i][c] + h * t[i][c];
                    vel[i][c] = vel1[i][c] + h * t[N + i][c];
                }
            }
    }
    nbody *shadow = whfast_ias15_engine(30, 0);
    works(nbody_step(shadow, 20));
    works(nbody_state(shadow, pos2, vel2));
    for (size_t i = 0; i < N; i++)
        for (size_t c = 0; c < 3; c++) {
            const double dx = (pos2[i][c] - pos1[i][c]) / h, dv = (vel2[i][c] - vel1[i][c]) / h;
            off += pow(dx - t[i][c], 2) + pow(dv - t[N + i][c], 2);
            size += dx * dx + dv * dv;
        }
    if (!(sqrt(off / size) < 1e-4 && size > 1))
        fail_msg("%g off, of %g", sqrt(off), sqrt(size));
    nbody_free(nb);
    nbody_free(shadow);
}

/* MEGNO by ias15: 2 for regular motion. For chaotic motion whfast has 6.7, REBOUND 7.3 and 7.6 with
 * other tangent vectors. */
static void whfast_ias15_has_equal_megno(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct nbody_chaos c;
        whfast_load_two_planets(k);
        nbody *nb = whfast_ias15_engine(40 * PI, 1);
        works(nbody_step(nb, k ? 100 : 300));
        works(nbody_find_chaos(nb, &c));
        if (!(fabs(c.megno - (k ? 7 : 2)) < (k ? 1.5 : 0.15)))
            fail_msg("planets %d: MEGNO %g, %g", k, c.megno, c.megno_now);
        assert_true(fabs(c.time / (40 * PI * (k ? 100 : 300)) - 1) < 1e-9);
        nbody_free(nb);
    }
}

/* Regular motion has a MEGNO of 2, in both coordinates. */
static void whfast_regular_motion_has_megno_2(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        struct nbody_chaos c;
        nbody *nb = whfast_two_planets(
            0, (struct nbody_whfast_options){.coordinates = k ? NBODY_HELIOCENTRIC : NBODY_JACOBI});
        works(nbody_step(nb, 200000));
        works(nbody_find_chaos(nb, &c));
        assert_true(fabs(c.megno - 2) < 0.02 && fabs(c.megno_now - 2) < 0.3);
        assert_true(c.lyapunov < 2e-4 && fabs(c.time / 20000 / PI - 1) < 1e-9);
        nbody_free(nb);
    }
}

/* Chaotic motion: 7.33 and 7.59 are REBOUND's means with two tangent vectors, by WHFast without
 * corrector, after 2000 years. Later the mean is lyapunov t / 2 and MEGNO lyapunov t. */
static void whfast_chaotic_motion_has_growing_megno(void **state)
{
    struct nbody_chaos c;
    (void)state;
    nbody *nb = whfast_two_planets(1, (struct nbody_whfast_options){.corrector = -1});
    works(nbody_step(nb, 40000));
    works(nbody_find_chaos(nb, &c));
    assert_true(fabs(c.megno - 7.46) < 0.6);
    works(nbody_step(nb, 260000));
    works(nbody_find_chaos(nb, &c));
    const double grown = c.lyapunov * c.time;
    assert_true(grown > 60 && fabs(c.megno / grown - 0.5) < 0.15);
    assert_true(fabs(c.megno_now / grown - 1) < 0.2);
    nbody_free(nb);
}

/* Neither queries, nor saving and loading, nor another step lose the tangent vector. */
static void whfast_megno_continues(void **state)
{
    struct nbody_chaos c[3];
    (void)state;
    for (int k = 0; k < 3; k++) {
        nbody *nb = whfast_two_planets(1, (struct nbody_whfast_options){.corrector = 0});
        works(nbody_step(nb, 10000));
        if (k == 1) {
            const size_t size = nbody_save_bytes(nb);
            char *bytes = malloc(size);
            assert_non_null(bytes);
            works(nbody_find_chaos(nb, &c[0]));
            works(nbody_save(nb, bytes));
            nbody_free(nb);
            nb = whfast_two_planets(1, (struct nbody_whfast_options){.corrector = 0});
            works(nbody_load(nb, bytes, size));
            free(bytes);
        }
        if (k == 2) {
            works(nbody_set_dt(nb, PI / 20));
            works(nbody_step(nb, 20000));
        } else {
            works(nbody_step(nb, 10000));
        }
        works(nbody_find_chaos(nb, &c[k]));
        nbody_free(nb);
        if (k == 0)
            c[2] = c[0];
        if (k == 1)
            assert_memory_equal(&c[1], &c[2], sizeof *c);
    }
    assert_true(fabs(c[2].time / c[1].time - 1) < 1e-9);
    if (!(fabs(c[2].megno - c[1].megno) < 0.1 && fabs(c[2].megno_now - c[1].megno_now) < 0.3))
        fail_msg("%g %g, %g %g", c[1].megno, c[1].megno_now, c[2].megno, c[2].megno_now);
}

static void whfast_rejects(struct nbody_options o, size_t n, const char *words)
{
    o.ctx = stddev;
    o.integrator = NBODY_WHFAST;
    o.dt = 1;
    assert_null(nbody_create(&o, n, mass, (rows)pos, (rows)vel));
    assert_int_equal(clerrno, EINVAL);
    if (!strstr(clerror(), words))
        fail_msg("'%s' does not contain '%s'", clerror(), words);
}

static void whfast_rejects_bad_options(void **state)
{
    static const struct nbody_field field = {NBODY_FIELD_POINT, 1, 0};
    const enum nbody_precision p = NBODY_DOUBLE;
    (void)state;
    whfast_load_planets();
    whfast_rejects((struct nbody_options){.precision = NBODY_SINGLE}, 9,
                   "computes on the host, which does not support single precision");
    whfast_rejects((struct nbody_options){.precision = p, .eps = 1}, 9, "has no softening");
    whfast_rejects((struct nbody_options){.precision = p, .whfast = {.corrector = 4}}, 9,
                   "no corrector of order 4");
    whfast_rejects(
        (struct nbody_options){.precision = p,
                               .whfast = {.coordinates = NBODY_HELIOCENTRIC, .corrector = 17}},
        9, "correctors need NBODY_JACOBI");
    whfast_rejects((struct nbody_options){.precision = p,
                                          .whfast = {.coordinates = NBODY_HELIOCENTRIC},
                                          .fields = &field,
                                          .nfields = 1},
                   9, "fields only with NBODY_JACOBI");
    whfast_rejects((struct nbody_options){.precision = p, .stepping = NBODY_ADAPTIVE}, 9,
                   "needs steps of one length");
    whfast_rejects((struct nbody_options){.precision = p, .method = NBODY_TREE}, 9,
                   "without a tree");
    whfast_rejects((struct nbody_options){.precision = p, .whfast = {.coordinates = 7}}, 9,
                   "no coordinates 7");
    whfast_rejects((struct nbody_options){.precision = p, .megno = 1, .whfast = {.safe = 1}}, 9,
                   "without safe mode");
    whfast_rejects(
        (struct nbody_options){.precision = p, .megno = 1, .fields = &field, .nfields = 1}, 9,
        "MEGNO supports no fields");
    assert_null(nbody_create(&(struct nbody_options){.ctx = stddev, .dt = 1, .megno = 1}, 9, mass,
                             (rows)pos, (rows)vel));
    assert_non_null(strstr(clerror(), "MEGNO needs the integrator NBODY_WHFAST"));
    struct nbody_chaos chaos;
    nbody *plain = whfast_engine(9, 1, (struct nbody_whfast_options){.safe = 0});
    fails(EINVAL, nbody_find_chaos(plain, &chaos));
    nbody_free(plain);
    mass[0] = 0;
    whfast_rejects((struct nbody_options){.precision = p}, 9, "needs a star");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whfast_planets_match_ias15),
                                       cmocka_unit_test(whfast_is_of_second_order),
                                       cmocka_unit_test(whfast_two_bodies_follow_kepler),
                                       cmocka_unit_test(whfast_kepler_matches_reference),
                                       cmocka_unit_test(whfast_orbits_are_independent),
                                       cmocka_unit_test(whfast_rounding_has_no_trend),
                                       cmocka_unit_test(whfast_test_particles_do_not_act),
                                       cmocka_unit_test(whfast_field_acts),
                                       cmocka_unit_test(whfast_call_boundaries_change_no_bit),
                                       cmocka_unit_test(whfast_kepler_tangent_matches_differences),
                                       cmocka_unit_test(whfast_tangent_matches_shadow_orbit),
                                       cmocka_unit_test(whfast_regular_motion_has_megno_2),
                                       cmocka_unit_test(whfast_chaotic_motion_has_growing_megno),
                                       cmocka_unit_test(whfast_megno_continues),
                                       cmocka_unit_test(whfast_ias15_tangent_matches_shadow_orbit),
                                       cmocka_unit_test(whfast_ias15_has_equal_megno),
                                       cmocka_unit_test(whfast_rejects_bad_options)};
    if (!context_has_doubles())
        return 77;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
