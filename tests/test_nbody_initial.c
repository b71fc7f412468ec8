/* Initial conditions: equal bits everywhere, and the distributions of the papers.
 *
 * Random draws have fixed seeds, so a statistical test either always passes or never does. Its
 * bounds fail for at most one seed in a thousand.
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "nbody/initial/galaxy.h"
#include "nbody/reference/nbody_ref.h"
#include "nbody/initial/sphere.h"

struct bodies {
    size_t n;
    double *mass;
    double (*pos)[3], (*vel)[3];
};

static struct bodies make_model(enum nbody_model model, size_t n, uint64_t seed)
{
    struct bodies b = {n, malloc(n * sizeof *b.mass), malloc(n * sizeof *b.pos),
                       malloc(n * sizeof *b.vel)};
    assert_true(b.mass && b.pos && b.vel);
    assert_int_equal(nbody_initial(model, n, seed, b.mass, b.pos, b.vel), 0);
    return b;
}

static void free_model(struct bodies *b)
{
    free(b->mass);
    free(b->pos);
    free(b->vel);
}

static struct nbody_diagnostics diagnose_model(const struct bodies *b, double eps)
{
    struct nbody_diagnostics d;
    nbody_ref_diagnose(b->n, 1, eps, b->mass, (const double(*)[3])b->pos,
                       (const double(*)[3])b->vel, &d);
    return d;
}

static double dot_product(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double length_of_vector(const double a[3])
{
    return sqrt(dot_product(a, a));
}

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.12g instead of %.12g, which is more than %.3g off", value, expected, tolerance);
}

/* ---- The same bits on every machine. --------------------------------------------------------- */

/* FNV-1a over the bits of the numbers, byte by byte from the lowest. */
static uint64_t hash_model_bytes(uint64_t h, const double *x, size_t count)
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

static uint64_t model_checksum(enum nbody_model model, size_t n, uint64_t seed)
{
    struct bodies b = make_model(model, n, seed);
    uint64_t h = hash_model_bytes(UINT64_C(0xcbf29ce484222325), b.mass, n);
    h = hash_model_bytes(h, b.pos[0], 3 * n);
    h = hash_model_bytes(h, b.vel[0], 3 * n);
    free_model(&b);
    return h;
}

/* Computed on x86-64 by gcc and clang, at -O0 and at -O3 with AVX-512; equal on 64-bit ARM. */
static void initial_checksums_are_golden(void **state)
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
        {NBODY_HERNQUIST, 1000, 1, UINT64_C(0x4f9db9a7b99071f4)},
        {NBODY_GALAXY, 1000, 1, UINT64_C(0xd1b8d812b4452bc0)},
        {NBODY_COLLISION, 1000, 1, UINT64_C(0x626810182bb86e11)},
        {NBODY_COLLISION, 16384, 7, UINT64_C(0x775cdf4a07c1fbba)},
        {NBODY_FIGURE8, 3, 1, UINT64_C(0xa8ef52f7d28021ae)},
        {NBODY_PYTHAGOREAN, 3, 1, UINT64_C(0x52f0ba42afc509d1)},
    };
    int wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        uint64_t c = model_checksum(golden[i].model, golden[i].n, golden[i].seed);
        if (c != golden[i].checksum) {
            print_error("case %zu: checksum 0x%016llx\n", i, (unsigned long long)c);
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

static void initial_seeds_differ(void **state)
{
    (void)state;
    assert_true(model_checksum(NBODY_PLUMMER, 100, 1) != model_checksum(NBODY_PLUMMER, 100, 2));
    assert_true(model_checksum(NBODY_PLUMMER, 100, 1) !=
                model_checksum(NBODY_PLUMMER, 100, UINT64_C(1) << 32 | 1));
}

/* ---- Any number of bodies, names, errors. ---------------------------------------------------- */

static void initial_models_take_any_count(void **state)
{
    static const struct {
        enum nbody_model model;
        double mass;
    } models[] = {{NBODY_PLUMMER, 1}, {NBODY_HERNQUIST, 1},     {NBODY_UNIFORM, 1},
                  {NBODY_COLD, 1},    {NBODY_GALAXY, 20.0 / 3}, {NBODY_COLLISION, 40.0 / 3}};
    static const size_t sizes[] = {1, 2, 3, 4, 7, 63, 64, 65, 4097};
    (void)state;
    for (size_t m = 0; m < sizeof models / sizeof *models; m++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct bodies b = make_model(models[m].model, sizes[s], 3);
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
            assert_near(total,
                        models[m].mass / (models[m].model == NBODY_COLLISION && b.n == 1 ? 2 : 1),
                        1e-11);
            assert_near(length_of_vector(x), 0, 1e-12);
            assert_near(length_of_vector(v), 0, 1e-12);
            free_model(&b);
        }
}

static void initial_model_names_are_known(void **state)
{
    (void)state;
    assert_int_equal(nbody_model_by_name("plummer"), NBODY_PLUMMER);
    assert_int_equal(nbody_model_by_name("uniform"), NBODY_UNIFORM);
    assert_int_equal(nbody_model_by_name("cold"), NBODY_COLD);
    assert_int_equal(nbody_model_by_name("collision"), NBODY_COLLISION);
    assert_int_equal(nbody_model_by_name("figure8"), NBODY_FIGURE8);
    assert_int_equal(nbody_model_by_name("pythagorean"), NBODY_PYTHAGOREAN);
    assert_int_equal(nbody_model_by_name("hernquist"), NBODY_HERNQUIST);
    assert_int_equal(nbody_model_by_name("galaxy"), NBODY_GALAXY);
    assert_int_equal(nbody_model_bodies(NBODY_PLUMMER), 0);
    assert_int_equal(nbody_model_bodies(NBODY_FIGURE8), 3);
    assert_int_equal(nbody_model_bodies(NBODY_PYTHAGOREAN), 3);
}

static void initial_rejects_bad_calls(void **state)
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

/* ---- Distributions. -------------------------------------------------------------------------- */

static int ascending_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Kolmogorov-Smirnov: the largest distance between the sample and a cumulative distribution,
 * times sqrt(n), exceeds 1.95 for one sample in a thousand. `u` holds the distribution's values
 * at the sample, which should be uniform in 0..1; it is sorted. */
static void assert_uniform(double *u, size_t n)
{
    double worst = 0;
    qsort(u, n, sizeof *u, ascending_values);
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fmax((double)(i + 1) / (double)n - u[i], u[i] - (double)i / (double)n));
    assert_near(worst * sqrt((double)n), 0, 1.95);
}

/* Radii that contain 10, 50 and 90 per cent of the bodies. */
static void lagrange_radii(const struct bodies *b, double r[3])
{
    double *all = malloc(b->n * sizeof *all);
    for (size_t i = 0; i < b->n; i++)
        all[i] = length_of_vector(b->pos[i]);
    qsort(all, b->n, sizeof *all, ascending_values);
    r[0] = all[b->n / 10];
    r[1] = all[b->n / 2];
    r[2] = all[b->n * 9 / 10];
    free(all);
}

/* Published: 0.309, 0.769, 2.184 and 2K/|U| = 1, E = -1/4. The bounds are 4 standard deviations. */
static void initial_plummer_radii_match_published(void **state)
{
    struct bodies b = make_model(NBODY_PLUMMER, 16384, 1);
    struct nbody_diagnostics d = diagnose_model(&b, 0);
    double r[3];
    (void)state;
    lagrange_radii(&b, r);
    assert_near(r[0], 0.309, 0.009);
    assert_near(r[1], 0.769, 0.025);
    assert_near(r[2], 2.184, 0.12);
    assert_near(d.virial_ratio, 1, 0.02);
    assert_near(d.total, -0.25, 0.006);
    free_model(&b);
}

/* Fraction of bodies slower than q escape speeds: the integral of q^2 (1 - q^2)^(7/2), by
 * Simpson's rule, divided by its value up to 1, 7 pi / 512. */
static double plummer_fraction_slower(double q)
{
    double sum = 0, h = q / 200;
    for (int i = 0; i <= 200; i++) {
        double x = i * h, f = x * x * pow(1 - x * x, 3.5);
        sum += f * (i == 0 || i == 200 ? 1 : i % 2 ? 4 : 2);
    }
    return sum * h / 3 / (7 * acos(-1) / 512);
}

static void initial_plummer_distributions_fit(void **state)
{
    struct bodies b = make_model(NBODY_PLUMMER, 8192, 5);
    double a = 3 * acos(-1) / 16, *radius = malloc(b.n * sizeof *radius),
           *speed = malloc(b.n * sizeof *speed), *polar = malloc(b.n * sizeof *polar),
           *angle = malloc(b.n * sizeof *angle);
    (void)state;
    for (size_t i = 0; i < b.n; i++) {
        double r = length_of_vector(b.pos[i]), s = r / sqrt(r * r + a * a);
        radius[i] = s * s * s / 0.999;
        speed[i] = plummer_fraction_slower(
            fmin(1, length_of_vector(b.vel[i]) / sqrt(2 / sqrt(r * r + a * a))));
        polar[i] = (b.vel[i][2] / length_of_vector(b.vel[i]) + 1) / 2;
        angle[i] = (dot_product(b.pos[i], b.vel[i]) / (r * length_of_vector(b.vel[i])) + 1) /
                   2; /* isotropy */
    }
    assert_uniform(radius, b.n);
    assert_uniform(speed, b.n);
    assert_uniform(polar, b.n);
    assert_uniform(angle, b.n);
    free(radius);
    free(speed);
    free(polar);
    free(angle);
    free_model(&b);
}

static void initial_uniform_sphere_fits(void **state)
{
    struct bodies b = make_model(NBODY_UNIFORM, 8192, 2);
    struct nbody_diagnostics d = diagnose_model(&b, 0);
    double *u = malloc(b.n * sizeof *u);
    (void)state;
    for (size_t i = 0; i < b.n; i++)
        u[i] = fmin(1, pow(length_of_vector(b.pos[i]) / 1.2, 3));
    assert_uniform(u, b.n);
    assert_near(d.virial_ratio, 1, 0.03);
    assert_near(d.total, -0.25, 0.01);
    free(u);
    free_model(&b);
}

static void initial_cold_sphere_fits(void **state)
{
    struct bodies b = make_model(NBODY_COLD, 8192, 2);
    struct nbody_diagnostics d = diagnose_model(&b, 0);
    double *u = malloc(b.n * sizeof *u);
    (void)state;
    for (size_t i = 0; i < b.n; i++)
        u[i] = fmin(1, pow(length_of_vector(b.pos[i]), 3));
    assert_uniform(u, b.n);
    assert_true(d.kinetic == 0);
    assert_near(d.potential, -0.6, 0.01);
    free(u);
    free_model(&b);
}

static void initial_standard_units_are_scaled(void **state)
{
    struct bodies b = make_model(NBODY_PLUMMER, 1000, 9);
    struct nbody_diagnostics d = diagnose_model(&b, 0);
    (void)state;
    assert_true(fabs(d.total + 0.25) > 1e-4); /* or the test says nothing */
    nbody_initial_scale(b.n, d.kinetic, d.potential, b.pos, b.vel);
    d = diagnose_model(&b, 0);
    assert_near(d.kinetic, 0.25, 1e-13);
    assert_near(d.potential, -0.5, 1e-13);
    free_model(&b);

    b = make_model(NBODY_COLD, 100, 9);
    d = diagnose_model(&b, 0);
    nbody_initial_scale(b.n, d.kinetic, d.potential, b.pos, b.vel);
    d = diagnose_model(&b, 0);
    assert_true(d.kinetic == 0);
    assert_near(d.potential, -0.5, 1e-13);
    free_model(&b);
}

/* ---- Hernquist's sphere. --------------------------------------------------------------------- */

static const double scale = 0.340068,
                    sphere = 1 / 0.99; /* the scale a, and the mass of a whole sphere */

/* Hernquist (1990), equation 17, up to a factor: q^2 = - a energy / G M. */
static double hernquist_f(double q)
{
    const double p = 1 - q * q;
    if (q < 0.02 || p <= 0) /* too few bodies to count, and differences of nearly equal numbers */
        return 0;
    return (3 * asin(q) + q * sqrt(p) * (1 - 2 * q * q) * (8 * q * q * q * q - 8 * q * q - 3)) /
           pow(p, 2.5);
}

/* Fraction of bodies at radius r that are slower than v. */
static double hernquist_slower(double r, double v)
{
    enum { STEPS = 100 };
    const double depth = sphere / (r + scale), escape = sqrt(2 * depth);
    double sum[2] = {0};
    for (int part = 0; part < 2; part++) {
        const double h = (part ? escape : fmin(v, escape)) / STEPS;
        for (int i = 1; i <= STEPS; i++) {
            const double w = (i - 0.5) * h;
            sum[part] += h * w * w * hernquist_f(sqrt((depth - w * w / 2) * scale / sphere));
        }
    }
    return sum[0] / sum[1];
}

/* Hernquist (1990), equation 10: the squared dispersion along one axis. */
static double hernquist_dispersion(double r)
{
    const double x = r / scale, y = 1 + x;
    return sphere / (12 * scale) *
           (12 * x * y * y * y * log(y / x) - x / y * (25 + x * (52 + x * (42 + 12 * x))));
}

/* A sphere about the origin. nbody_initial moves the centre of mass there, which a few distant
 * bodies determine. */
static struct bodies make_sphere(size_t n)
{
    const struct sphere_density density = {sphere, scale, 0};
    double total[SPHERE_NODES + 1];
    struct sphere *tables = malloc(sizeof *tables);
    struct bodies b = make_model(NBODY_COLD, n, 1);
    assert_non_null(tables);
    sphere_mass(&density, total);
    sphere_make(tables, &density, total);
    for (size_t i = 0; i < n; i++) {
        struct stream s = draw_stream(5, NBODY_HERNQUIST, i);
        sphere_body(tables, 0.99, &s, b.pos[i], b.vel[i]);
    }
    free(tables);
    return b;
}

/* Fail unless the model is the sphere, translated. */
static void assert_moved(const struct bodies *a, const struct bodies *b)
{
    for (size_t i = 0; i < a->n; i++)
        for (int k = 0; k < 3; k++) {
            assert_near(b->pos[i][k] - a->pos[i][k], b->pos[0][k] - a->pos[0][k], 1e-12);
            assert_near(b->vel[i][k] - a->vel[i][k], b->vel[0][k] - a->vel[0][k], 1e-12);
        }
}

static void initial_hernquist_distributions_fit(void **state)
{
    enum { SHELLS = 8 };
    struct bodies b = make_sphere(8192), model = make_model(NBODY_HERNQUIST, 8192, 5);
    double *radius = malloc(b.n * sizeof *radius), *speed = malloc(b.n * sizeof *speed),
           *angle = malloc(b.n * sizeof *angle), found[SHELLS] = {0}, expected[SHELLS] = {0};
    (void)state;
    assert_moved(&b, &model);
    free_model(&model);
    for (size_t i = 0; i < b.n; i++) {
        const double r = length_of_vector(b.pos[i]), v = length_of_vector(b.vel[i]),
                     part = r / (r + scale);
        radius[i] = fmin(1, part * part / 0.99);
        const int shell = (int)fmin(SHELLS - 1, SHELLS * radius[i]);
        speed[i] = hernquist_slower(r, v);
        angle[i] = (dot_product(b.pos[i], b.vel[i]) / (r * v) + 1) / 2; /* isotropy */
        found[shell] += v * v / 3;
        expected[shell] += hernquist_dispersion(r);
    }
    assert_uniform(radius, b.n);
    assert_uniform(speed, b.n);
    assert_uniform(angle, b.n);
    for (int k = 0; k < SHELLS;
         k++) /* each is a mean over 1024 bodies with three degrees of freedom */
        assert_near(found[k] / expected[k], 1, 0.11);
    free(radius);
    free(speed);
    free(angle);
    free_model(&b);
}

static void initial_hernquist_is_in_equilibrium(void **state)
{
    struct bodies b = make_model(NBODY_HERNQUIST, 8192, 1);
    struct nbody_diagnostics d = diagnose_model(&b, 0);
    (void)state;
    assert_near(d.virial_ratio, 1,
                0.07); /* 3.5 standard deviations, as other seeds and numbers show them */
    assert_near(d.total, -0.25, 0.025);
    free_model(&b);
}

/* ---- A galaxy. ------------------------------------------------------------------------------- */

enum { GALAXY = 16384, DISK = GALAXY * 45 / 100, BULGE = GALAXY * 15 / 100 };

/* Fraction of the disk's stars within R, and of the bulge's and halo's bodies within r. */
static double disk_part(double r)
{
    return (1 - (1 + r) * exp(-r)) / (1 - 11 * exp(-10.0));
}

static double bulge_part(double r)
{
    return r * r / ((r + 0.2) * (r + 0.2)) / 0.99;
}

static double halo_mass(double r)
{
    enum { STEPS = 1000 };
    double sum = 0, h = r / STEPS;
    for (int i = 0; i < STEPS; i++) {
        const double x = (i + 0.5) * h, y = x + 2;
        sum += h * x / (y * y * y * cosh(x / 10));
    }
    return sum;
}

static double halo_part(double r)
{
    static double all;
    all = all > 0 ? all : halo_mass(200);
    return halo_mass(r) / all;
}

/* A galaxy about the origin, likewise translated. */
static struct bodies make_galaxy(size_t n)
{
    struct nbody_galaxy *tables = nbody_galaxy_create();
    struct bodies b = make_model(NBODY_COLD, n, 1);
    assert_non_null(tables);
    for (size_t i = 0; i < n; i++)
        nbody_galaxy_body(tables, n, 3, NBODY_GALAXY, i, &b.mass[i], b.pos[i], b.vel[i]);
    free(tables);
    return b;
}

static void initial_galaxy_densities_fit(void **state)
{
    struct bodies b = make_galaxy(GALAXY), model = make_model(NBODY_GALAXY, GALAXY, 3);
    double *u = malloc(b.n * sizeof *u);
    (void)state;
    assert_moved(&b, &model);
    free_model(&model);
    for (size_t i = 0; i < DISK; i++)
        u[i] = fmin(1, disk_part(hypot(b.pos[i][0], b.pos[i][1])));
    assert_uniform(u, DISK);
    for (size_t i = 0; i < DISK; i++)
        u[i] = (1 + tanh(b.pos[i][2] / 0.2)) / 2;
    assert_uniform(u, DISK);
    for (size_t i = 0; i < DISK; i++)
        u[i] = 0.5 + atan2(b.pos[i][1], b.pos[i][0]) / (2 * acos(-1));
    assert_uniform(u, DISK);
    for (size_t i = 0; i < BULGE; i++)
        u[i] = fmin(1, bulge_part(length_of_vector(b.pos[DISK + i])));
    assert_uniform(u, BULGE);
    const size_t halo = b.n - DISK - BULGE;
    for (size_t i = 0; i < halo; i++)
        u[i] = halo_part(length_of_vector(b.pos[DISK + BULGE + i]));
    assert_uniform(u, halo);
    free(u);
    free_model(&b);
}

/* Modified Bessel functions by their integrals. */
static double bessel_i(int n, double y)
{
    double sum = 0;
    for (int i = 0; i < 400; i++) {
        const double t = (i + 0.5) * acos(-1) / 400;
        sum += exp(y * cos(t)) * cos(n * t) / 400;
    }
    return sum;
}

static double bessel_k(int n, double y)
{
    double sum = 0;
    for (int i = 0; i < 2000; i++)
        sum += exp(-y * cosh((i + 0.5) * 0.005)) * cosh(n * (i + 0.5) * 0.005) * 0.005;
    return sum;
}

/* Squared circular speed: Freeman (1970, ApJ 160, 811) for an exponential disk without
 * thickness, plus the spheres. */
static double circular2(double r)
{
    const double y = r / 2;
    const double disk =
        2 * y * y * (bessel_i(0, y) * bessel_k(0, y) - bessel_i(1, y) * bessel_k(1, y));
    return disk + (bulge_part(r) * 0.99 / 3 + halo_part(r) * 16 / 3) / r;
}

/* In rings about 1, 2 ... 6: Toomre's Q is 1.5, and stars lag behind the circular speed by
 * Jeans's equation: v^2 - mean^2 = sigma^2 (2R - ...), a few per cent here. The disk's thickness
 * changes the speed by about as much. */
static void initial_disk_velocities_fit(void **state)
{
    const size_t n = 65536, disk = n * 45 / 100;
    struct bodies b = make_galaxy(n);
    (void)state;
    for (double middle = 1; middle < 6.5; middle++) {
        double count = 0, r2 = 0, t = 0, v2[3], kappa;
        for (size_t i = 0; i < disk; i++) {
            const double r = hypot(b.pos[i][0], b.pos[i][1]);
            if (fabs(r - middle) > 0.1)
                continue;
            const double vr = (b.pos[i][0] * b.vel[i][0] + b.pos[i][1] * b.vel[i][1]) / r;
            count++;
            r2 += vr * vr;
            t += (b.pos[i][0] * b.vel[i][1] - b.pos[i][1] * b.vel[i][0]) / r;
        }
        for (int k = 0; k < 3; k++)
            v2[k] = circular2(middle + 0.1 * (k - 1));
        kappa = sqrt(((v2[2] - v2[0]) / 0.2 + 2 * v2[1] / middle) / middle);
        const double density = exp(-middle) / (2 * acos(-1)) / (1 - 11 * exp(-10.0));
        assert_near(sqrt(r2 / count) * kappa / (3.36 * density), 1.5,
                    1.5 * (0.05 + 3 / sqrt(2 * count)));
        assert_near(t / count / sqrt(v2[1]), 0.97, 0.05);
    }
    free_model(&b);
}

/* The virial theorem for each part in the field of all: the sums of m v^2 and of -m x . a are
 * equal, across the disk and within its plane. */
static void initial_galaxy_parts_are_in_equilibrium(void **state)
{
    enum { N = 8192 };
    static const struct {
        double from, to;
        int first, last; /* axes */
        double bound;
    } parts[] = {{0, 0.45, 0, 1, 0.03},
                 {0, 0.45, 2, 2, 0.12},
                 {0.45, 0.6, 0, 2, 0.12},
                 {0.6, 1, 0, 2, 0.07}};
    struct bodies b = make_galaxy(N);
    double(*acc)[3] = malloc(N * sizeof *acc);
    (void)state;
    nbody_ref_forces(N, 1, 0.01, b.mass, (const double(*)[3])b.pos, acc, NULL);
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        double kinetic = 0, virial = 0;
        for (size_t i = (size_t)(parts[p].from * N); i < (size_t)(parts[p].to * N); i++)
            for (int k = parts[p].first; k <= parts[p].last; k++) {
                kinetic += b.mass[i] * b.vel[i][k] * b.vel[i][k];
                virial -= b.mass[i] * b.pos[i][k] * acc[i][k];
            }
        assert_near(kinetic / virial, 1, parts[p].bound);
    }
    assert_near(diagnose_model(&b, 0).virial_ratio, 1, 0.03);
    free(acc);
    free_model(&b);
}

/* One thread and many threads make equal bodies. */
static void initial_threads_give_same_bodies(void **state)
{
    static const enum nbody_model models[] = {NBODY_PLUMMER, NBODY_COLLISION};
    const size_t n = 150001;
    cpu_set_t all, one;
    size_t cpu = 0;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    for (int m = 0; m < 2; m++) {
        const uint64_t by_many = model_checksum(models[m], n, 1);
        assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
        const uint64_t by_one = model_checksum(models[m], n, 1);
        assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
        assert_true(by_one == by_many);
    }
}

/* ---- Two galaxies. --------------------------------------------------------------------------- */

/* Return bodies first .. first + n in the frame of their centre of mass, whose position and
 * velocity go to x and v. */
static struct bodies galaxy_part(const struct bodies *b, size_t first, size_t n, double x[3],
                                 double v[3])
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

/* Two points with the galaxies' masses, positions and velocities are on a parabola: energy 0,
 * and angular momentum h with h^2 = 2 G M pericentre. Each galaxy is in virial equilibrium, and
 * its disk's axis is at 16.3 and 53.1 degrees from the orbit's. */
static void initial_galaxies_meet_on_parabola(void **state)
{
    static const double tilt[2] = {0.96, 0.6};
    struct bodies b = make_model(NBODY_COLLISION, 8192, 1);
    double x[2][3], v[2][3], d[3], w[3];
    (void)state;
    for (int g = 0; g < 2; g++) {
        struct bodies galaxy = galaxy_part(&b, (size_t)g * 4096, 4096, x[g], v[g]);
        assert_near(diagnose_model(&galaxy, 0.05).virial_ratio, 1, 0.05);
        galaxy.n = 1843; /* the disk */
        struct nbody_diagnostics e = diagnose_model(&galaxy, 0.05);
        assert_near(e.angular_momentum[2] / length_of_vector(e.angular_momentum), tilt[g], 0.01);
        assert_near(length_of_vector(e.angular_momentum), 2.15,
                    0.1); /* the integral of R v over the disk */
    }
    for (int k = 0; k < 3; k++) {
        d[k] = x[1][k] - x[0][k];
        w[k] = v[1][k] - v[0][k];
    }
    double h = d[0] * w[1] - d[1] * w[0];
    assert_near(length_of_vector(d), 20, 1e-11);
    assert_near(dot_product(w, w) / 2 - 40.0 / 3 / length_of_vector(d), 0, 1e-11);
    assert_near(h * h / (2 * 40.0 / 3), 2.5, 1e-11);
    assert_true(h > 0);
    assert_true(dot_product(d, w) < 0); /* they approach */
    free_model(&b);
}

/* ---- Three bodies: the published energies. --------------------------------------------------- */

static void initial_three_bodies_match_published(void **state)
{
    struct bodies b = make_model(NBODY_FIGURE8, 3, 0);
    struct nbody_diagnostics d = diagnose_model(&b, 0);
    (void)state;
    assert_near(d.total, -1.287141991766, 5e-13);
    assert_near(length_of_vector(d.momentum), 0, 1e-15);
    assert_near(length_of_vector(d.angular_momentum), 0, 1e-8);
    free_model(&b);

    b = make_model(NBODY_PYTHAGOREAN, 3, 0);
    d = diagnose_model(&b, 0);
    assert_near(d.total, -769.0 / 60, 1e-14);
    free_model(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(initial_checksums_are_golden),
        cmocka_unit_test(initial_seeds_differ),
        cmocka_unit_test(initial_models_take_any_count),
        cmocka_unit_test(initial_model_names_are_known),
        cmocka_unit_test(initial_rejects_bad_calls),
        cmocka_unit_test(initial_plummer_radii_match_published),
        cmocka_unit_test(initial_plummer_distributions_fit),
        cmocka_unit_test(initial_uniform_sphere_fits),
        cmocka_unit_test(initial_cold_sphere_fits),
        cmocka_unit_test(initial_standard_units_are_scaled),
        cmocka_unit_test(initial_hernquist_is_in_equilibrium),
        cmocka_unit_test(initial_hernquist_distributions_fit),
        cmocka_unit_test(initial_galaxy_densities_fit),
        cmocka_unit_test(initial_disk_velocities_fit),
        cmocka_unit_test(initial_galaxy_parts_are_in_equilibrium),
        cmocka_unit_test(initial_threads_give_same_bodies),
        cmocka_unit_test(initial_galaxies_meet_on_parabola),
        cmocka_unit_test(initial_three_bodies_match_published),
    };
    return cmocka_run_group_tests_name("nbody initial conditions", tests, NULL, NULL);
}
