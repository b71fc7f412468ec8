/* test_nbody_structure.c - two-body orbits against Kepler's equation, neighbours against an
 * exhaustive search, and known properties of Plummer's sphere.
 * SPDX-License-Identifier: MIT
 */
#include "files.h"
#include "nbody_engine.h"

#include "nbody/structure/neighbours.h"
#include "stdcl/nbody.h"

#include <math.h>
#include <stdlib.h>

enum { N = 8192 };
static double mass[N], pos[N][3], vel[N][3], phi[N];

static void structure_near(double value, double expected, double error)
{
    if (!(fabs(value - expected) <= error))
        fail_msg("%.15g is not within %g of %.15g", value, error, expected);
}

/* Compute position and velocity from elements, by rotating an orbit in its own plane (Murray &
 * Dermott 1999, section 2.8). */
static void place_binary(double gm, const struct nbody_elements *o, double x[3], double v[3])
{
    const double a = o->semi_major, e = o->eccentricity, n = sqrt(gm / fabs(a * a * a));
    double E = o->mean_anomaly;
    for (int i = 0; i < 100; i++)
        E -= e < 1 ? (E - e * sin(E) - o->mean_anomaly) / (1 - e * cos(E))
                   : (e * sinh(E) - E - o->mean_anomaly) / (e * cosh(E) - 1);
    const double c = e < 1 ? cos(E) : cosh(E), s = e < 1 ? sin(E) : sinh(E),
                 b = fabs(a) * sqrt(fabs(1 - e * e));
    const double rate = n / fabs(1 - e * c), sign = e < 1 ? 1 : -1;
    const double own[2][2] = {{a * (c - e), b * s}, {-sign * a * s * rate, b * c * rate}};
    const double cn = cos(o->node), sn = sin(o->node), cp = cos(o->pericentre),
                 sp = sin(o->pericentre), ci = cos(o->inclination), si = sin(o->inclination);
    const double turn[3][2] = {{cn * cp - sn * sp * ci, -cn * sp - sn * cp * ci},
                               {sn * cp + cn * sp * ci, -sn * sp + cn * cp * ci},
                               {sp * si, cp * si}};
    for (int k = 0; k < 3; k++) {
        x[k] = turn[k][0] * own[0][0] + turn[k][1] * own[0][1];
        v[k] = turn[k][0] * own[1][0] + turn[k][1] * own[1][1];
    }
}

static void structure_finds_orbital_elements(void **unused)
{
    static const struct nbody_elements cases[] = {
        {1, 0.5, 0.4, 1, 2, 3, 0},  {2.5, 0.01, 3, 6, 5, 0.1, 0}, {0.3, 0.99, 1.5, 0.2, 6, 6, 0},
        {5, 0, 0.7, 2, 0, 1, 0},    {5, 0.3, 0, 0, 4, 2, 0},      {1, 0, 0, 0, 0, 2.5, 0},
        {-2, 1.5, 0.4, 1, 2, 3, 0}, {-0.1, 6, 2, 4, 1, -5, 0},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct nbody_elements *o = &cases[i];
        double x[3], v[3];
        place_binary(7, o, x, v);
        double y[3], w[3];
        works(nbody_orbit_state(7, o, y, w));
        for (int k = 0; k < 3; k++) {
            structure_near(y[k], x[k], 1e-12 * fabs(o->semi_major));
            structure_near(w[k], v[k], 1e-12 * fabs(v[0]) + 1e-12 * fabs(v[1]) + 1e-13);
        }
        const struct nbody_elements found = nbody_find_elements(7, x, v);
        structure_near(found.semi_major, o->semi_major, 1e-11 * fabs(o->semi_major));
        structure_near(found.eccentricity, o->eccentricity, 1e-12 * (1 + o->eccentricity));
        structure_near(found.inclination, o->inclination, 1e-7);
        structure_near(found.node, o->node, 1e-11);
        structure_near(found.pericentre, o->pericentre, 1e-10);
        structure_near(found.mean_anomaly, o->mean_anomaly, 1e-9);
        if (o->eccentricity < 1)
            structure_near(found.period, 2 * acos(-1) * sqrt(pow(o->semi_major, 3) / 7),
                           1e-10 * found.period);
        else
            assert_true(isinf(found.period));
    }
    const double line[3] = {1, 2, 3}, nowhere[3] = {0};
    assert_true(isnan(nbody_find_elements(1, nowhere, line).semi_major));
    assert_true(isnan(nbody_find_elements(0, line, line).semi_major));
}

/* Radial motion has eccentricity 1. On the ellipse r = a (1 - cos E) and t = (a^3 / gm)^1/2 (E -
 * sin E); on the hyperbola, whose a is negative, likewise with cosh and sinh. The pericentre lies
 * opposite to the body. */
static void structure_finds_elements_of_radial_orbits(void **unused)
{
    static const double gm = 7, line[][3] = {{1, 0, 0},
                                             {-0.6, -0.8, 0},
                                             {1 / 3., 2 / 3., 2 / 3.},
                                             {-2 / 3., 1 / 3., -2 / 3.},
                                             {0, 0, 1},
                                             {0, 0, -1}},
                        anomaly[] = {1e-2, 0.3, 2, 3.14159265358979323846, 5, 6.2};
    (void)unused;
    for (size_t d = 0; d < sizeof line / sizeof *line; d++)
        for (size_t k = 0; k < 12; k++) {
            const bool bound = k < 6;
            const double *u = line[d], a = bound ? 2.5 : -2.5, E = anomaly[k % 6] - (bound ? 0 : 3),
                         n = sqrt(gm / 15.625), half = bound ? sin(E / 2) : sinh(E / 2),
                         r = 2 * fabs(a) * half * half, out = bound ? sin(E) : sinh(E),
                         speed = n * 6.25 * out / r;
            double x[3], v[3];
            for (int c = 0; c < 3; c++) {
                x[c] = r * u[c];
                v[c] = speed * u[c];
            }
            for (int bent = 0; bent < 2; bent++) { /* 1: nearly radial */
                const struct nbody_elements o = nbody_find_elements(gm, x, v);
                const double p = o.pericentre,
                             to[3] = {
                                 cos(o.node) * cos(p) - sin(o.node) * sin(p) * cos(o.inclination),
                                 sin(o.node) * cos(p) + cos(o.node) * sin(p) * cos(o.inclination),
                                 sin(p) * sin(o.inclination)};
                structure_near(o.semi_major, a, 1e-7);
                structure_near(o.eccentricity, 1, 1e-12);
                structure_near(o.mean_anomaly, bound ? E - sin(E) : sinh(E) - E, 1e-7);
                for (int c = 0; c < 3; c++)
                    structure_near(to[c], -u[c], bent ? 1e-5 : 1e-12);
                if (bound)
                    structure_near(o.period, 2 * acos(-1) / n, 1e-6);
                else
                    assert_true(isinf(o.period));
                v[0] += 1e-9 * u[1] - 1e-9 * u[2];
                v[1] += 1e-9 * u[2] - 1e-9 * u[0];
                v[2] += 1e-9 * u[0] - 1e-9 * u[1];
            }
        }
    const double at[3] = {0, 3, 0}, rest[3] = {0}, escape[3] = {0, sqrt(2 * gm / 3), 0};
    structure_near(nbody_find_elements(gm, at, rest).semi_major, 1.5, 1e-15);
    structure_near(nbody_find_elements(gm, at, rest).mean_anomaly, acos(-1), 1e-15);
    assert_true(fabs(nbody_find_elements(gm, at, escape).semi_major) > 1e14);
}

/* The pericentre, where distance and speed have closed forms, and orbits close to a parabola and a
 * line, through Kepler's equation: E - e sin E = M. */
static void structure_places_bodies_on_orbits(void **unused)
{
    double x[3], v[3];
    (void)unused;
    for (int k = 0; k < 2; k++) { /* in the plane x = 0, towards z */
        const struct nbody_elements o = {.semi_major = k ? -2 : 2,
                                         .eccentricity = k ? 3 : 0.75,
                                         .inclination = acos(-1) / 2,
                                         .node = acos(-1) / 2,
                                         .pericentre = acos(-1) / 2};
        works(nbody_orbit_state(5, &o, x, v));
        const double r = k ? 4 : 0.5, speed = sqrt(5 / r * (1 + o.eccentricity));
        structure_near(x[0], 0, 1e-15);
        structure_near(x[1], 0, 1e-15);
        structure_near(x[2], r, 1e-14);
        structure_near(v[0], 0, 1e-15);
        structure_near(v[1], -speed, 1e-14);
        structure_near(v[2], 0, 1e-14);
    }
    for (double e = 0.9; e < 1 - 1e-12; e = 1 - (1 - e) / 10)
        for (int k = -40; k <= 40; k++) {
            const struct nbody_elements o = {
                .semi_major = 1, .eccentricity = e, .mean_anomaly = 0.1 * k};
            works(nbody_orbit_state(1, &o, x, v));
            const double E = atan2(x[1] / sqrt(1 - e * e), x[0] + e);
            structure_near(remainder(E - e * sin(E) - o.mean_anomaly, 2 * acos(-1)), 0, 1e-13);
        }
    const struct nbody_elements bad[] = {
        {.semi_major = 1, .eccentricity = 1},    {.semi_major = 1, .eccentricity = 2},
        {.semi_major = -1, .eccentricity = 0.5}, {.semi_major = 1, .eccentricity = -0.5},
        {.semi_major = 1, .mean_anomaly = NAN},  {.semi_major = INFINITY}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        fails_saying(EINVAL, nbody_orbit_state(1, &bad[i], x, v), "no orbit has gm 1");
    fails(EINVAL, nbody_orbit_state(0, &(struct nbody_elements){.semi_major = 1}, x, v));
    fails(EINVAL, nbody_orbit_state(1, NULL, x, v));
}

static void structure_finds_neighbours(void **unused)
{
    enum { SOME = 600 };
    static struct neighbours found[SOME];
    (void)unused;
    works(nbody_initial(NBODY_COLLISION, SOME, 1, mass, pos, vel));
    for (size_t i = 0; i < 20; i++) /* and some in one place */
        memcpy(pos[i], pos[30], sizeof *pos);
    works(neighbours_find(SOME, (rows)pos, found));
    for (size_t i = 0; i < SOME; i++) {
        double best[SOME];
        size_t n = 0;
        for (size_t k = 0; k < SOME; k++) {
            const double x = pos[i][0] - pos[k][0], y = pos[i][1] - pos[k][1],
                         z = pos[i][2] - pos[k][2], r2 = x * x + y * y + z * z;
            size_t at = n;
            if (k == i)
                continue;
            for (; at > 0 && best[at - 1] > r2; at--)
                best[at] = best[at - 1];
            best[at] = r2;
            n++;
        }
        assert_int_equal(found[i].n, NEIGHBOURS);
        for (int k = 0; k < NEIGHBOURS; k++)
            structure_near(found[i].square[k], best[k], 1e-12 * best[k]);
    }
}

/* Radii of Aarseth, Henon & Wielen 1974; isotropic; a density-weighted core of about half the
 * scale length (3 pi / 16); sampled with n bodies. */
static void structure_plummer_matches_published(void **unused)
{
    struct nbody_shell shell[] = {
        {.fraction = 0.1}, {.fraction = 0.5}, {.fraction = 0.9}, {.fraction = 1}};
    struct nbody_structure s;
    (void)unused;
    works(nbody_initial(NBODY_PLUMMER, N, 3, mass, pos, vel));
    const double scale = 3 * acos(-1) / 16;
    for (size_t i = 0; i < N; i++) {
        phi[i] = -1 / sqrt(scale * scale + pos[i][0] * pos[i][0] + pos[i][1] * pos[i][1] +
                           pos[i][2] * pos[i][2]);
        pos[i][0] += 10; /* moved, and moving */
        vel[i][1] += 5;
    }
    works(nbody_find_structure(N, 1, mass, (rows)pos, (rows)vel, phi, 4, shell, &s));
    structure_near(shell[0].radius, 0.309, 0.02);
    structure_near(shell[1].radius, 0.769, 0.025);
    structure_near(shell[2].radius, 2.184, 0.15);
    structure_near(s.half_mass_radius, shell[1].radius, 0);
    structure_near(s.centre[0], 10, 0.03);
    structure_near(s.velocity[1], 5, 0.06);
    structure_near(s.core_radius, 0.5 * scale, 0.2 * scale);
    structure_near(s.relaxation_time, 0.138 * N * pow(shell[1].radius, 1.5) / log(0.11 * N), 1e-9);
    for (int k = 0; k < 4; k++) {
        structure_near(shell[k].anisotropy, 0, 0.15);
        structure_near(shell[k].mean_mass, 1. / N, 1e-12);
    }
    structure_near(shell[0].radial, sqrt(1 / (6 * sqrt(scale * scale + 0.05))),
                   0.06);         /* sigma^2 = -phi/6 */
    assert_true(s.escapers <= 1); /* none, but for rounding of phi here */
    free(s.binary);
}

static void structure_finds_binary_and_escaper(void **unused)
{
    static const struct nbody_elements tight = {1e-4, 0.3, 0.4, 1, 2, 3, 0};
    struct nbody_structure s;
    double x[3], v[3];
    (void)unused;
    works(nbody_initial(NBODY_PLUMMER, N, 3, mass, pos, vel));
    for (size_t i = 0; i < N; i++)
        phi[i] = -1;
    place_binary(mass[17] + mass[4000], &tight, x, v);
    for (int k = 0; k < 3; k++) {
        pos[4000][k] = pos[17][k] + x[k];
        vel[4000][k] = vel[17][k] + v[k];
        pos[99][k] = 30;
        vel[99][k] = 2;
    }
    works(nbody_find_structure(N, 1, mass, (rows)pos, (rows)vel, phi, 0, NULL, &s));
    assert_true(s.binaries >= 1);
    assert_true(s.binary[0].first == 17 && s.binary[0].second == 4000);
    structure_near(s.binary[0].orbit.semi_major, 1e-4, 1e-9);
    structure_near(s.binary[0].orbit.eccentricity, 0.3, 1e-5);
    free(s.binary);
    phi[99] = -0.01;
    const size_t before = s.escapers;
    works(nbody_find_structure(N, 1, mass, (rows)pos, (rows)vel, phi, 0, NULL, &s));
    assert_int_equal(s.escapers, before);
    free(s.binary);
    works(nbody_find_structure(N, 1, mass, (rows)pos, (rows)vel, NULL, 0, NULL, &s));
    assert_int_equal(s.escapers, 0);
    free(s.binary);
}

static void structure_handles_few_bodies(void **unused)
{
    struct nbody_shell shell[] = {{.fraction = 0.5}, {.fraction = 0.4}};
    struct nbody_structure s;
    (void)unused;
    works(nbody_initial(NBODY_FIGURE8, 3, 0, mass, pos, vel));
    works(nbody_find_structure(3, 1, mass, (rows)pos, (rows)vel, NULL, 1, shell, &s));
    structure_near(s.centre[0], 0, 1e-12);
    assert_true(s.core_radius == 0);
    free(s.binary);
    works(nbody_find_structure(1, 1, mass, (rows)pos, (rows)vel, NULL, 1, shell, &s));
    assert_true(shell[0].radius == 0 && s.binaries == 0 && isnan(s.relaxation_time));
    fails_saying(EINVAL, nbody_find_structure(3, 1, mass, (rows)pos, (rows)vel, NULL, 2, shell, &s),
                 "fraction 1 is 0.4");
    mass[0] = 0;
    fails_saying(EINVAL, nbody_find_structure(1, 1, mass, (rows)pos, (rows)vel, NULL, 0, NULL, &s),
                 "there is no mass");
}

/* ---- On a device. ---------------------------------------------------------------------------- */

static void check_same_structure(double value, double other)
{
    if (!isnan(value) || !isnan(other)) /* of no bodies */
        structure_near(value, other, 1e-11 * (1 + fabs(other)));
}

/* The device and the host find equal structures. */
static void compare_structures(size_t n, double G, size_t shells, const double *potential)
{
    static const double fractions[] = {0.01, 0.1, 0.5, 0.9, 1};
    struct nbody_shell shell[2][5] = {{{0}}};
    struct nbody_structure s[2];
    for (size_t k = 0; k < 5; k++)
        shell[0][k].fraction = shell[1][k].fraction = fractions[k];
    works(
        nbody_find_structure(n, G, mass, (rows)pos, (rows)vel, potential, shells, shell[0], &s[0]));
    works(nbody_find_structure_device(stddev, 0, n, G, mass, (rows)pos, (rows)vel, potential,
                                      shells, shell[1], &s[1]));
    for (int c = 0; c < 3; c++) {
        check_same_structure(s[1].centre[c], s[0].centre[c]);
        check_same_structure(s[1].velocity[c], s[0].velocity[c]);
    }
    check_same_structure(s[1].core_radius, s[0].core_radius);
    check_same_structure(s[1].half_mass_radius, s[0].half_mass_radius);
    check_same_structure(s[1].relaxation_time, s[0].relaxation_time);
    assert_int_equal(s[1].escapers, s[0].escapers);
    assert_int_equal(s[1].binaries, s[0].binaries);
    for (size_t i = 0; i < s[0].binaries; i++)
        assert_true(s[1].binary[i].first == s[0].binary[i].first &&
                    s[1].binary[i].second == s[0].binary[i].second &&
                    s[1].binary[i].orbit.semi_major == s[0].binary[i].orbit.semi_major);
    for (size_t k = 0; k < shells; k++) {
        check_same_structure(shell[1][k].radius, shell[0][k].radius);
        check_same_structure(shell[1][k].mean_mass, shell[0][k].mean_mass);
        check_same_structure(shell[1][k].radial, shell[0][k].radial);
        check_same_structure(shell[1][k].tangential, shell[0][k].tangential);
        check_same_structure(shell[1][k].anisotropy, shell[0][k].anisotropy);
    }
    free(s[0].binary);
    free(s[1].binary);
}

/* Three bodies in three shells, all moving outwards: the remaining squares are rounding errors. */
static void structure_single_body_shells_are_isotropic(void **unused)
{
    const double x[3][3] = {{0.1, 0.2, 0.3}, {1.1, -0.7, 0.3}, {-3, 2.3, 1.9}},
                 v[3][3] = {{0.3, 0.1, 0.7}, {1.3, -0.9, 0.1}, {-0.7, 0.3, 1.1}}, m[3] = {1, 1, 1};
    struct nbody_shell shell[] = {{.fraction = 0.3}, {.fraction = 0.6}, {.fraction = 1}};
    struct nbody_structure s;
    (void)unused;
    works(nbody_find_structure(3, 1, m, x, v, NULL, 3, shell, &s));
    for (int k = 0; k < 3; k++) {
        structure_near(shell[k].radial, 0, 0);
        assert_true(isnan(shell[k].anisotropy));
        assert_true(shell[k].tangential > 0 || k == 0);
    }
    free(s.binary);
}

static void structure_device_matches_host(void **unused)
{
    struct nbody_structure s;
    (void)unused;
    if (!context_has_doubles())
        skip();
    works(nbody_initial(NBODY_PLUMMER, 3000, 5, mass, pos, vel));
    for (size_t i = 0; i < 3000; i++) {
        mass[i] *= 1 + (double)(i % 3);
        phi[i] = -0.5 - 0.1 * (double)(i % 7);
        pos[i][0] += 100;
    }
    for (size_t i = 10; i < 14;
         i++) { /* coincident; of equal mass, so that the choice of nearest does not matter */
        memcpy(pos[i], pos[200], sizeof *pos);
        mass[i] = mass[200];
    }
    pos[7][2] = 1e6; /* far from all */
    mass[8] = 0;
    pos[21][0] = pos[20][0] + 1e-5;
    pos[21][1] = pos[20][1];
    pos[21][2] = pos[20][2];
    memcpy(vel[21], vel[20], sizeof *vel);
    compare_structures(3000, 1, 5, phi);
    compare_structures(2000, 50, 0, NULL); /* many pairs are bound */
    compare_structures(1025, 1, 1, phi);
    compare_structures(17, 1, 3, phi);
    compare_structures(6, 1, 2, phi);
    compare_structures(2, 1, 2, phi);
    compare_structures(1, 1, 1, phi);
    mass[0] = 0;
    fails_saying(
        EINVAL,
        nbody_find_structure_device(stddev, 0, 1, 1, mass, (rows)pos, (rows)vel, NULL, 0, NULL, &s),
        "there is no mass");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structure_finds_orbital_elements),
        cmocka_unit_test(structure_finds_elements_of_radial_orbits),
        cmocka_unit_test(structure_places_bodies_on_orbits),
        cmocka_unit_test(structure_finds_neighbours),
        cmocka_unit_test(structure_plummer_matches_published),
        cmocka_unit_test(structure_finds_binary_and_escaper),
        cmocka_unit_test(structure_handles_few_bodies),
        cmocka_unit_test(structure_single_body_shells_are_isotropic),
        cmocka_unit_test(structure_device_matches_host),
    };
    return cmocka_run_group_tests(tests, files_create, files_remove);
}
