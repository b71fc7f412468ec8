/* Initial conditions: the same bits everywhere, and the distributions that the papers ask for.
 *
 * Random draws have fixed seeds, so that a statistical test either always passes or never does; its
 * bounds are those that one seed in a thousand or fewer would break.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nbody/nbody_ref.h"

struct bodies {
    size_t n;
    double *mass;
    double (*pos)[3], (*vel)[3];
};

static struct bodies make(enum nbody_model model, size_t n, uint64_t seed)
{
    struct bodies b = {n, malloc(n * sizeof *b.mass), malloc(n * sizeof *b.pos), malloc(n * sizeof *b.vel)};
    assert_true(b.mass && b.pos && b.vel);
    assert_int_equal(nbody_initial(model, n, seed, b.mass, b.pos, b.vel), 0);
    return b;
}

static void drop(struct bodies *b)
{
    free(b->mass);
    free(b->pos);
    free(b->vel);
}

static struct nbody_diagnostics diagnose(const struct bodies *b, double eps)
{
    struct nbody_diagnostics d;
    nbody_ref_diagnose(b->n, 1, eps, b->mass, (const double(*)[3])b->pos, (const double(*)[3])b->vel, &d);
    return d;
}

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double length(const double a[3])
{
    return sqrt(dot(a, a));
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.12g instead of %.12g, which is more than %.3g off", value, expected, tolerance);
}

/* ---- The same bits on every machine. ---------------------------------------------------------- */

/* FNV-1a over the bits of the numbers, byte by byte from the lowest. */
static uint64_t hash(uint64_t h, const double *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        for (int byte = 0; byte < 8; byte++) {
            h ^= (bits >> (8 * byte)) & 0xff;
            h *= UINT64_C(0x100000001b3);
        }
    }
    return h;
}

static uint64_t checksum(enum nbody_model model, size_t n, uint64_t seed)
{
    struct bodies b = make(model, n, seed);
    uint64_t h = hash(UINT64_C(0xcbf29ce484222325), b.mass, n);
    h = hash(h, b.pos[0], 3 * n);
    h = hash(h, b.vel[0], 3 * n);
    drop(&b);
    return h;
}

/* Computed on x86-64 by gcc and clang, at -O0 and at -O3 with AVX-512, and the same on 64-bit ARM. */
static void golden_checksums(void **state)
{
    static const struct {
        enum nbody_model model;
        size_t n;
        uint64_t seed, checksum;
    } golden[] = {
        {NBODY_PLUMMER, 1000, 1, UINT64_C(0x7a6a66266b103499)},
        {NBODY_PLUMMER, 1000, UINT64_C(0x123456789abcdef0), UINT64_C(0x098548775f2e4792)},
        {NBODY_UNIFORM, 1000, 1, UINT64_C(0xea88f54a22b7b123)},
        {NBODY_COLD, 1000, 1, UINT64_C(0xce5e0ec530326fef)},
        {NBODY_COLLISION, 1000, 1, UINT64_C(0x2e757524901e3f40)},
        {NBODY_COLLISION, 16384, 7, UINT64_C(0x64e0e9633da705c6)},
        {NBODY_FIGURE8, 3, 1, UINT64_C(0xa8ef52f7d28021ae)},
        {NBODY_PYTHAGOREAN, 3, 1, UINT64_C(0x52f0ba42afc509d1)},
    };
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        uint64_t c = checksum(golden[i].model, golden[i].n, golden[i].seed);
        if (c != golden[i].checksum) {
            print_error("case %zu: checksum 0x%016llx\n", i, (unsigned long long)c);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void seeds_differ(void **state)
{
    (void)state;
    assert_true(checksum(NBODY_PLUMMER, 100, 1) != checksum(NBODY_PLUMMER, 100, 2));
    assert_true(checksum(NBODY_PLUMMER, 100, 1) != checksum(NBODY_PLUMMER, 100, UINT64_C(1) << 32 | 1));
}

/* ---- Any number of bodies, names, errors. ----------------------------------------------------- */

static void any_number_of_bodies(void **state)
{
    static const enum nbody_model models[] = {NBODY_PLUMMER, NBODY_UNIFORM, NBODY_COLD, NBODY_COLLISION};
    static const size_t sizes[] = {1, 2, 3, 4, 5, 6, 7, 63, 64, 65, 1000, 4097};
    (void)state;
    for (int m = 0; m < 4; m++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct bodies b = make(models[m], sizes[s], 3);
            double total = 0, x[3] = {0, 0, 0}, v[3] = {0, 0, 0};
            for (size_t i = 0; i < b.n; i++) {
                assert_true(b.mass[i] > 0);
                total += b.mass[i];
                for (int k = 0; k < 3; k++) {
                    assert_true(isfinite(b.pos[i][k]) && isfinite(b.vel[i][k]));
                    x[k] += b.mass[i] * b.pos[i][k];
                    v[k] += b.mass[i] * b.vel[i][k];
                }
            }
            assert_near(total, models[m] == NBODY_COLLISION && b.n > 1 ? 2 : 1, 1e-12);
            assert_near(length(x), 0, 1e-13);
            assert_near(length(v), 0, 1e-13);
            drop(&b);
        }
}

static void names(void **state)
{
    (void)state;
    assert_int_equal(nbody_model_by_name("plummer"), NBODY_PLUMMER);
    assert_int_equal(nbody_model_by_name("uniform"), NBODY_UNIFORM);
    assert_int_equal(nbody_model_by_name("cold"), NBODY_COLD);
    assert_int_equal(nbody_model_by_name("collision"), NBODY_COLLISION);
    assert_int_equal(nbody_model_by_name("figure8"), NBODY_FIGURE8);
    assert_int_equal(nbody_model_by_name("pythagorean"), NBODY_PYTHAGOREAN);
    assert_int_equal(nbody_model_bodies(NBODY_PLUMMER), 0);
    assert_int_equal(nbody_model_bodies(NBODY_FIGURE8), 3);
    assert_int_equal(nbody_model_bodies(NBODY_PYTHAGOREAN), 3);
}

static void refusals(void **state)
{
    double m[4], x[4][3], v[4][3];
    (void)state;
    assert_int_equal(nbody_model_by_name("plumber"), -1);
    assert_int_equal(clerrno, EINVAL);
    assert_non_null(strstr(clerror(), "plumber"));
    assert_int_equal(nbody_model_by_name(NULL), -1);
    assert_int_equal(nbody_initial(NBODY_PLUMMER, 0, 1, m, x, v), -1);
    assert_int_equal(clerrno, EINVAL);
    assert_int_equal(nbody_initial(NBODY_FIGURE8, 4, 1, m, x, v), -1);
    assert_int_equal(clerrno, EINVAL);
    assert_non_null(strstr(clerror(), "figure8 has 3 bodies, not 4"));
    assert_int_equal(nbody_initial(NBODY_PYTHAGOREAN, 2, 1, m, x, v), -1);
    assert_int_equal(nbody_initial((enum nbody_model)99, 4, 1, m, x, v), -1);
    assert_int_equal(clerrno, EINVAL);
}

/* ---- Distributions. --------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Kolmogorov-Smirnov: the largest distance between the sample and a cumulative distribution, times
 * sqrt(n), exceeds 1.95 for one sample in a thousand. Sorts u, which holds the distribution's values
 * at the sample, so that they should be uniform in 0..1. */
static void assert_uniform(double *u, size_t n)
{
    double worst = 0;
    qsort(u, n, sizeof *u, ascending);
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fmax((double)(i + 1) / (double)n - u[i], u[i] - (double)i / (double)n));
    assert_near(worst * sqrt((double)n), 0, 1.95);
}

/* The radii that hold 10, 50 and 90 per cent of the bodies. */
static void lagrange_radii(const struct bodies *b, double r[3])
{
    double *all = malloc(b->n * sizeof *all);
    for (size_t i = 0; i < b->n; i++)
        all[i] = length(b->pos[i]);
    qsort(all, b->n, sizeof *all, ascending);
    r[0] = all[b->n / 10];
    r[1] = all[b->n / 2];
    r[2] = all[b->n * 9 / 10];
    free(all);
}

/* Published: 0.309, 0.769, 2.184 and 2K/|U| = 1, E = -1/4. The bounds are 4 standard deviations. */
static void plummer_sphere(void **state)
{
    struct bodies b = make(NBODY_PLUMMER, 16384, 1);
    struct nbody_diagnostics d = diagnose(&b, 0);
    double r[3];
    (void)state;
    lagrange_radii(&b, r);
    assert_near(r[0], 0.309, 0.009);
    assert_near(r[1], 0.769, 0.025);
    assert_near(r[2], 2.184, 0.12);
    assert_near(d.virial_ratio, 1, 0.02);
    assert_near(d.total, -0.25, 0.006);
    drop(&b);
}

/* The share of bodies with a speed under q escape speeds: the integral of q^2 (1 - q^2)^(7/2), by
 * Simpson's rule, over that up to 1, which is 7 pi / 512. */
static double slower(double q)
{
    double sum = 0, h = q / 200;
    for (int i = 0; i <= 200; i++) {
        double x = i * h, f = x * x * pow(1 - x * x, 3.5);
        sum += f * (i == 0 || i == 200 ? 1 : i % 2 ? 4 : 2);
    }
    return sum * h / 3 / (7 * acos(-1) / 512);
}

static void plummer_distributions(void **state)
{
    struct bodies b = make(NBODY_PLUMMER, 8192, 5);
    double a = 3 * acos(-1) / 16, *radius = malloc(b.n * sizeof *radius),
           *speed = malloc(b.n * sizeof *speed), *polar = malloc(b.n * sizeof *polar),
           *angle = malloc(b.n * sizeof *angle);
    (void)state;
    for (size_t i = 0; i < b.n; i++) {
        double r = length(b.pos[i]), s = r / sqrt(r * r + a * a);
        radius[i] = s * s * s / 0.999;
        speed[i] = slower(fmin(1, length(b.vel[i]) / sqrt(2 / sqrt(r * r + a * a))));
        polar[i] = (b.vel[i][2] / length(b.vel[i]) + 1) / 2;
        angle[i] = (dot(b.pos[i], b.vel[i]) / (r * length(b.vel[i])) + 1) / 2; /* isotropy */
    }
    assert_uniform(radius, b.n);
    assert_uniform(speed, b.n);
    assert_uniform(polar, b.n);
    assert_uniform(angle, b.n);
    free(radius);
    free(speed);
    free(polar);
    free(angle);
    drop(&b);
}

static void uniform_sphere(void **state)
{
    struct bodies b = make(NBODY_UNIFORM, 8192, 2);
    struct nbody_diagnostics d = diagnose(&b, 0);
    double *u = malloc(b.n * sizeof *u);
    (void)state;
    for (size_t i = 0; i < b.n; i++)
        u[i] = fmin(1, pow(length(b.pos[i]) / 1.2, 3));
    assert_uniform(u, b.n);
    assert_near(d.virial_ratio, 1, 0.03);
    assert_near(d.total, -0.25, 0.01);
    free(u);
    drop(&b);
}

static void cold_sphere(void **state)
{
    struct bodies b = make(NBODY_COLD, 8192, 2);
    struct nbody_diagnostics d = diagnose(&b, 0);
    double *u = malloc(b.n * sizeof *u);
    (void)state;
    for (size_t i = 0; i < b.n; i++)
        u[i] = fmin(1, pow(length(b.pos[i]), 3));
    assert_uniform(u, b.n);
    assert_true(d.kinetic == 0);
    assert_near(d.potential, -0.6, 0.01);
    free(u);
    drop(&b);
}

static void standard_units(void **state)
{
    struct bodies b = make(NBODY_PLUMMER, 1000, 9);
    struct nbody_diagnostics d = diagnose(&b, 0);
    (void)state;
    assert_true(fabs(d.total + 0.25) > 1e-4); /* or the test says nothing */
    nbody_initial_scale(b.n, d.kinetic, d.potential, b.pos, b.vel);
    d = diagnose(&b, 0);
    assert_near(d.kinetic, 0.25, 1e-13);
    assert_near(d.potential, -0.5, 1e-13);
    drop(&b);

    b = make(NBODY_COLD, 100, 9);
    d = diagnose(&b, 0);
    nbody_initial_scale(b.n, d.kinetic, d.potential, b.pos, b.vel);
    d = diagnose(&b, 0);
    assert_true(d.kinetic == 0);
    assert_near(d.potential, -0.5, 1e-13);
    drop(&b);
}

/* ---- The galaxies. ---------------------------------------------------------------------------- */

/* Bodies first .. first + n in the frame of their centre of mass, which goes to x and v. */
static struct bodies part(const struct bodies *b, size_t first, size_t n, double x[3], double v[3])
{
    struct bodies p = {n, b->mass + first, b->pos + first, b->vel + first};
    double total = 0;
    for (int k = 0; k < 3; k++)
        x[k] = v[k] = 0;
    for (size_t i = 0; i < n; i++) {
        total += p.mass[i];
        for (int k = 0; k < 3; k++) {
            x[k] += p.mass[i] * p.pos[i][k];
            v[k] += p.mass[i] * p.vel[i][k];
        }
    }
    for (int k = 0; k < 3; k++) {
        x[k] /= total;
        v[k] /= total;
    }
    for (size_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            p.pos[i][k] -= x[k];
            p.vel[i][k] -= v[k];
        }
    return p;
}

/* Two points of mass 1 with the galaxies' places and velocities are on a parabola: energy 0, and
 * angular momentum h with h^2 = 2 G M pericentre. Each galaxy is in virial equilibrium, and turns
 * about an axis that is 16.3 and 53.1 degrees from that of the orbit. */
static void galaxies_meet(void **state)
{
    static const double tilt[2] = {0.96, 0.6};
    struct bodies b = make(NBODY_COLLISION, 8192, 1);
    double x[2][3], v[2][3], d[3], w[3];
    (void)state;
    for (int g = 0; g < 2; g++) {
        struct bodies galaxy = part(&b, (size_t)g * 4096, 4096, x[g], v[g]);
        struct nbody_diagnostics e = diagnose(&galaxy, 0.05);
        assert_near(e.virial_ratio, 1, 0.04);
        assert_near(e.angular_momentum[2] / length(e.angular_momentum), tilt[g], 0.01);
        assert_true(length(e.angular_momentum) > 0.45); /* most of what cold rotation would have */
    }
    for (int k = 0; k < 3; k++) {
        d[k] = x[1][k] - x[0][k];
        w[k] = v[1][k] - v[0][k];
    }
    double h = d[0] * w[1] - d[1] * w[0];
    assert_near(length(d), 10, 1e-12);
    assert_near(dot(w, w) / 2 - 2 / length(d), 0, 1e-13);
    assert_near(h * h / 4, 2.5, 1e-12);
    assert_true(h > 0);
    assert_true(dot(d, w) < 0); /* they approach */
    drop(&b);
}

/* ---- Three bodies: the published energies. ---------------------------------------------------- */

static void three_bodies(void **state)
{
    struct bodies b = make(NBODY_FIGURE8, 3, 0);
    struct nbody_diagnostics d = diagnose(&b, 0);
    (void)state;
    assert_near(d.total, -1.287141991766, 5e-13);
    assert_near(length(d.momentum), 0, 1e-15);
    assert_near(length(d.angular_momentum), 0, 1e-8);
    drop(&b);

    b = make(NBODY_PYTHAGOREAN, 3, 0);
    d = diagnose(&b, 0);
    assert_near(d.total, -769.0 / 60, 1e-14);
    drop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_checksums),
        cmocka_unit_test(seeds_differ),
        cmocka_unit_test(any_number_of_bodies),
        cmocka_unit_test(names),
        cmocka_unit_test(refusals),
        cmocka_unit_test(plummer_sphere),
        cmocka_unit_test(plummer_distributions),
        cmocka_unit_test(uniform_sphere),
        cmocka_unit_test(cold_sphere),
        cmocka_unit_test(standard_units),
        cmocka_unit_test(galaxies_meet),
        cmocka_unit_test(three_bodies),
    };
    return cmocka_run_group_tests_name("nbody initial conditions", tests, NULL, NULL);
}
