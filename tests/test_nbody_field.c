/* External fields: orbits of known shape and period, energies, the scalar reference, every
 * integrator, both methods, and rejected options.
 * SPDX-License-Identifier: MIT
 */
#include "nbody_engine.h"

#include "nbody/reference/nbody_ref.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

enum { MOST = 2048 };
static double mass[MOST], pos[MOST][3], vel[MOST][3], pos1[MOST][3], vel1[MOST][3], acc[MOST][3],
    phi[MOST];

static const struct nbody_field three[] = {{NBODY_FIELD_PLUMMER, 2, 0.5},
                                           {NBODY_FIELD_LOGARITHMIC, 0.75, 1.5},
                                           {NBODY_FIELD_POINT, 0.25, 0}};

static nbody *field_engine(struct nbody_options o, size_t n)
{
    nbody *nb = nbody_create(&o, n, mass, (const double(*)[3])pos, (const double(*)[3])vel);
    ready(nb);
    return nb;
}

/* One massless body at x = 1, with this transverse speed. */
static void one(double speed)
{
    memset(pos, 0, sizeof *pos);
    memset(vel, 0, sizeof *vel);
    mass[0] = 0;
    pos[0][0] = 1;
    vel[0][1] = speed;
}

/* Return the position of a massless body after a time. */
static void step_in_field(struct nbody_field field, double G, enum nbody_integrator integrator,
                          double t, size_t steps)
{
    nbody *nb = field_engine((struct nbody_options){.integrator = integrator,
                                                    .precision = NBODY_DOUBLE,
                                                    .dt = t / (double)steps,
                                                    .G = G,
                                                    .fields = &field,
                                                    .nfields = 1},
                             1);
    works(nbody_step(nb, steps));
    works(nbody_state(nb, pos1, vel1));
    nbody_free(nb);
}

/* ---- Known values. --------------------------------------------------------------------------- */

/* Kepler: an ellipse of eccentricity 0.5, G M = 3. After half a period the body is at its
 * apocentre, after a period back. */
static void field_point_gives_kepler_orbit(void **state)
{
    (void)state;
    const double period = 2 * PI / sqrt(3) * pow(2, 1.5);
    one(sqrt(3 * 1.5));
    step_in_field((struct nbody_field){.kind = NBODY_FIELD_POINT, .strength = 1.5}, 2, NBODY_IAS15,
                  period / 2, 4);
    assert_true(fabs(pos1[0][0] + 3) < 1e-12 && fabs(pos1[0][1]) < 1e-12);
    step_in_field((struct nbody_field){.kind = NBODY_FIELD_POINT, .strength = 1.5}, 2, NBODY_IAS15,
                  period, 4);
    assert_true(largest_difference(1, pos, pos1) < 1e-12);
}

/* Circles: v^2 = G M r^2 / (r^2 + a^2)^3/2, and v^2 = v0^2 r^2 / (r^2 + c^2). */
static void field_circular_orbits_have_known_speed(void **state)
{
    (void)state;
    const double plummer = sqrt(2 / pow(1.25, 1.5)), logarithmic = 0.75 / sqrt(1 + 2.25);
    one(plummer);
    step_in_field(three[0], 1, NBODY_HERMITE4, 2 * PI / plummer, 2000);
    assert_true(largest_difference(1, pos, pos1) < 1e-9);
    one(logarithmic);
    step_in_field(three[1], 1, NBODY_HERMITE4, 2 * PI / logarithmic, 2000);
    assert_true(largest_difference(1, pos, pos1) < 1e-9);
}

/* The acceleration is minus the gradient of the potential; the header has the formulas. */
static void field_acceleration_is_gradient(void **state)
{
    (void)state;
    const double h = 1e-4;
    enum { PLACES = 20 };
    for (size_t i = 0; i < PLACES; i++)
        for (int at = 0; at < 7; at++) {
            const size_t b = 7 * i + (size_t)at;
            mass[b] = 0;
            for (int k = 0; k < 3; k++)
                pos[b][k] = sin(1.3 * (double)i + 2.1 * k + 0.2) * (0.2 + 0.2 * (double)i);
            if (at)
                pos[b][(at - 1) / 2] += at % 2 ? h : -h;
        }
    for (size_t f = 0; f < 3; f++) {
        nbody *nb = field_engine(
            (struct nbody_options){
                .precision = NBODY_DOUBLE, .dt = 1, .fields = three + f, .nfields = 1},
            7 * PLACES);
        works(nbody_forces(nb, acc, phi));
        nbody_free(nb);
        for (size_t i = 0; i < PLACES; i++) {
            const double *x = pos[7 * i], r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
            const double right[] = {-2 / sqrt(r2 + 0.25), 0.5 * 0.75 * 0.75 * log(1 + r2 / 2.25),
                                    -0.25 / sqrt(r2)};
            assert_true(fabs(phi[7 * i] - right[f]) < 1e-14 * (1 + fabs(right[f])));
            for (int k = 0; k < 3; k++) {
                const double slope =
                    (phi[7 * i + 1 + 2 * (size_t)k] - phi[7 * i + 2 + 2 * (size_t)k]) / (2 * h);
                assert_true(fabs(acc[7 * i][k] + slope) < 1e-4 * (1 + fabs(slope)));
            }
        }
    }
}

/* ---- The reference. -------------------------------------------------------------------------- */

static void field_cluster(size_t n)
{
    works(nbody_initial(NBODY_PLUMMER, n, 5, mass, pos, vel));
    for (size_t i = 0; i < n; i++)
        mass[i] *= i % 4 ? 1 : 0; /* some are test particles */
}

/* Every integrator, in double precision, against its scalar reference. */
static void field_integrators_match_reference(void **state)
{
    (void)state;
    enum { N = 40 };
    const struct nbody_integrator_info *info;
    field_cluster(N);
    for (int i = 0; (info = nbody_integrator_describe((enum nbody_integrator)i)); i++) {
        const struct nbody_ref_system s = {N, 2, 0.125, mass, three, 3, NULL, NULL};
        if (integrates_planets((enum nbody_integrator)i)) /* test_nbody_whfast.c */
            continue;
        nbody *nb = field_engine((struct nbody_options){.integrator = (enum nbody_integrator)i,
                                                        .precision = NBODY_DOUBLE,
                                                        .G = 2,
                                                        .eps = 0.125,
                                                        .dt = 1. / 128,
                                                        .fields = three,
                                                        .nfields = 3},
                                 N);
        memcpy(pos1, pos, N * sizeof *pos);
        memcpy(vel1, vel, N * sizeof *vel);
        works(nbody_ref_run_in(&s, (enum nbody_integrator)i, 1. / 128, 8, pos1, vel1));
        works(nbody_step(nb, 8));
        works(nbody_state(nb, acc, NULL));
        if (!(largest_difference(N, acc, pos1) < 1e-12))
            fail_msg("%s is %g off", info->name, largest_difference(N, acc, pos1));
        nbody_free(nb);
    }
}

/* Single precision, several source chunks, both methods: accelerations match the reference, the
 * force check agrees, energies match. */
static void field_methods_match_reference(void **state)
{
    (void)state;
    const struct nbody_ref_system s = {MOST, 1, 0.05, mass, three, 3, NULL, NULL};
    field_cluster(MOST);
    nbody_ref_accelerations(&s, pos[0], acc[0]);
    struct nbody_diagnostics right, d;
    nbody_ref_diagnose(MOST, 1, 0.05, mass, (const double(*)[3])pos, (const double(*)[3])vel,
                       &right);
    double virial = right.potential;
    for (size_t i = 0; i < MOST; i++) {
        double a[3] = {0};
        right.potential += mass[i] * nbody_ref_field(&s, pos[i], NULL, a, NULL);
        virial += mass[i] * (a[0] * pos[i][0] + a[1] * pos[i][1] + a[2] * pos[i][2]);
    }
    for (int tree = 0; tree < 2; tree++) {
        struct nbody_force_errors errors;
        nbody *nb = field_engine((struct nbody_options){.eps = 0.05,
                                                        .dt = 1. / 256,
                                                        .fields = three,
                                                        .nfields = 3,
                                                        .method = tree ? NBODY_TREE : NBODY_DIRECT},
                                 MOST);
        works(nbody_diagnose(nb, &d));
        assert_true(fabs(d.potential - right.potential) <
                    (tree ? 1e-3 : 1e-6) * fabs(right.potential));
        assert_true(fabs(d.virial_ratio + 2 * right.kinetic / virial) < (tree ? 1e-3 : 2e-6));
        works(nbody_forces(nb, pos1, phi));
        assert_true(largest_difference(MOST, pos1, acc) < (tree ? 0.02 : 2e-5));
        works(nbody_check_forces(nb, MOST, 1, &errors));
        if (!(errors.p99 < (tree ? 1e-3 : 5e-6)))
            fail_msg("method %d: p99 %g", tree, errors.p99);
        nbody_free(nb);
    }
}

/* Both methods conserve the energy; without the point mass, which would need short steps nearby. */
static void field_energy_is_conserved(void **state)
{
    (void)state;
    struct nbody_diagnostics start, end;
    field_cluster(MOST);
    for (int tree = 0; tree < 2; tree++) {
        nbody *nb = field_engine((struct nbody_options){.eps = 0.05,
                                                        .dt = 1. / 256,
                                                        .fields = three,
                                                        .nfields = 2,
                                                        .method = tree ? NBODY_TREE : NBODY_DIRECT},
                                 MOST);
        works(nbody_diagnose(nb, &start));
        works(nbody_step(nb, 64));
        works(nbody_diagnose(nb, &end));
        if (!(fabs(end.total - start.total) < 2e-5 * fabs(start.total)))
            fail_msg("method %d: energy %g off", tree, end.total / start.total - 1);
        nbody_free(nb);
    }
}

/* Other units give equal digits: lengths in metres and masses in kilogrammes fit single
 * precision. */
static void field_units_change_no_digit(void **state)
{
    (void)state;
    const double length = ldexp(1, 60), m = ldexp(1, 150);
    const struct nbody_field big = {NBODY_FIELD_PLUMMER, 2 * m, 0.5 * length};
    field_cluster(64);
    for (int scaled = 0; scaled < 2; scaled++) {
        for (size_t i = 0; scaled && i < 64; i++) {
            mass[i] *= m;
            for (int k = 0; k < 3; k++) {
                pos[i][k] *= length;
                vel[i][k] *= ldexp(1, 45);
            }
        }
        nbody *nb =
            field_engine((struct nbody_options){.dt = scaled ? 1. / 64 * ldexp(1, 15) : 1. / 64,
                                                .eps = scaled ? 0.125 * length : 0.125,
                                                .fields = scaled ? &big : three,
                                                .nfields = 1},
                         64);
        works(nbody_step(nb, 16));
        works(nbody_state(nb, scaled ? pos1 : acc, NULL));
        nbody_free(nb);
    }
    for (size_t i = 0; i < 64; i++)
        for (int k = 0; k < 3; k++)
            assert_true(pos1[i][k] == acc[i][k] * length);
}

static void field_rejects_bad_options(void **state)
{
    (void)state;
    const struct nbody_field bad[] = {
        {(enum nbody_field_kind)9, 1, 1}, {NBODY_FIELD_POINT, 0, 0},
        {NBODY_FIELD_POINT, NAN, 0},      {NBODY_FIELD_PLUMMER, 1, 0},
        {NBODY_FIELD_LOGARITHMIC, -1, 1}, {NBODY_FIELD_LOGARITHMIC, 1, INFINITY}};
    one(1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        fails_null(EINVAL,
                   nbody_create(&(struct nbody_options){.dt = 1, .fields = bad + i, .nfields = 1},
                                1, mass, (const double(*)[3])pos, (const double(*)[3])vel));
    fails_null(EINVAL, nbody_create(&(struct nbody_options){.dt = 1, .nfields = 1}, 1, mass,
                                    (const double(*)[3])pos, (const double(*)[3])vel));
    fails_null(EINVAL,
               nbody_create(&(struct nbody_options){.dt = 1, .fields = three, .nfields = 65}, 1,
                            mass, (const double(*)[3])pos, (const double(*)[3])vel));
}

/* Bodies fall into a point. The message names no pair where there is one body, and else the field
 * before the closest pair. */
static void field_point_stops_fall(void **state)
{
    static const struct nbody_options how[] = {
        {.integrator = NBODY_IAS15},
        {.integrator = NBODY_LEAPFROG, .stepping = NBODY_ADAPTIVE},
        {.integrator = NBODY_HERMITE4, .stepping = NBODY_ADAPTIVE}};
    const struct nbody_field field = {NBODY_FIELD_POINT, 2, 0};
    (void)state;
    for (size_t k = 0; k < 6; k++) {
        struct nbody_options o = how[k / 2];
        const size_t n = 1 + k % 2;
        one(0);
        memset(pos[1], 0, sizeof pos[1]);
        memset(vel[1], 0, sizeof vel[1]);
        mass[1] = 0;
        pos[1][2] = 7;
        o.precision = NBODY_DOUBLE;
        o.place = NBODY_ON_HOST;
        o.dt = 2;
        o.fields = &field;
        o.nfields = 1;
        nbody *nb = field_engine(o, n);
        assert_int_equal(nbody_step(nb, 1), -1);
        assert_int_equal(clerrno, EDOM);
        const char *const said = clerror();
        if (!strstr(said, "field") || (n == 1 && strstr(said, "bodies")))
            fail_msg("%zu: %s", k, said);
        nbody_free(nb);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(field_point_gives_kepler_orbit),
        cmocka_unit_test(field_circular_orbits_have_known_speed),
        cmocka_unit_test(field_acceleration_is_gradient),
        cmocka_unit_test(field_integrators_match_reference),
        cmocka_unit_test(field_methods_match_reference),
        cmocka_unit_test(field_energy_is_conserved),
        cmocka_unit_test(field_units_change_no_digit),
        cmocka_unit_test(field_point_stops_fall),
        cmocka_unit_test(field_rejects_bad_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
