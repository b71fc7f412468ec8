/* The N-body engine against its scalar reference: every kernel, many N, both precisions, all
 * shapes.
 *
 * Runs on the available devices, and partly again on two (test_nbody_on_two), where several
 * devices are compared with one. Single-precision inputs are rounded to floats first, so that
 * the comparison tests the engine's arithmetic. Orbits and conservation laws are in
 * test_nbody_physics.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/reference/nbody_ref.h"
#include "core/args.h"

#include "builds_once.h"
#include "check.h"
#include "deep.h"

#include <float.h>
#include <math.h>

enum { MOST = 4097 };
static double mass[MOST], pos[MOST][3], vel[MOST][3];
static double acc[MOST][3], phi[MOST], acc_ref[MOST][3], phi_ref[MOST], pull[MOST];
static double pos1[MOST][3], vel1[MOST][3], pos2[MOST][3], vel2[MOST][3];

static const size_t sizes[] = {1, 2, 3, 63, 64, 65, 1000, 2049};

/* A GPU shape small enough for PoCL: local tiles, several items a group, splits of unequal
 * length. */
#define GPU_SHAPE                                                                                  \
    "group=32 width=1 items=2 tile=32 local=1 unroll=4 block=64 groups_per_unit=1000 group_1d=16"

typedef const double (*rows)[3];

/* volatile: gcc 12 drops the rounding when it vectorises a loop of such conversions. */
static double rounded_to_float(double x)
{
    volatile float f = (float)x;
    return (double)f;
}

/* Unequal masses, since equal masses use a separate kernel (nbody_equal_masses_match_reference). */
static void make_nbody_bodies(size_t n, int floats)
{
    works(nbody_initial(NBODY_PLUMMER, n, 7, mass, pos, vel));
    for (size_t i = 0; i < n; i++)
        mass[i] *= 1 + 0.3 * (double)(i % 4);
    for (size_t i = 0; i < n && floats; i++) {
        mass[i] = rounded_to_float(mass[i]);
        for (int c = 0; c < 3; c++) {
            pos[i][c] = rounded_to_float(pos[i][c]);
            vel[i][c] = rounded_to_float(vel[i][c]);
        }
    }
}

/* Every integrator, as `i`. */
#define EACH_INTEGRATOR(i)                                                                         \
    enum nbody_integrator i = (enum nbody_integrator)0;                                            \
    nbody_integrator_describe(i);                                                                  \
    i = (enum nbody_integrator)(i + 1)

/* True for leapfrog, the default, and for every third of the other integrators. whfast and
 * trace, which have no softening, have tests of their own. */
static bool is_sampled_case(enum nbody_integrator i, size_t variant)
{
    if (i == NBODY_WHFAST || i == NBODY_TRACE)
        return false;
    return i == NBODY_LEAPFROG || sampled((size_t)i + variant, 3);
}

/* True if the case is slow: ias15 needs at least fifty sums a step, in plain C. */
static bool is_slow_case(enum nbody_integrator i, size_t n)
{
    return i == NBODY_IAS15 && n > 65;
}

static nbody *make_nbody(struct nbody_options o, size_t n)
{
    if (!o.ctx)
        o.ctx = stddev;
    if (o.dt == 0)
        o.dt = 1.0 / 256;
    builds_unoptimised = o.shape || o.integrator != NBODY_LEAPFROG;
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

static double body_distance(size_t n, double (*a)[3], double (*b)[3])
{
    double worst = 0;
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            worst = fabs(a[i][c] - b[i][c]) <= worst ? worst : fabs(a[i][c] - b[i][c]);
    return worst;
}

#define below(value, limit) check_error_below((value), (limit), #value, __LINE__)
static void check_error_below(double value, double limit, const char *what, int line)
{
    if (!(value <= limit)) {
        print_error("%s is %.3g, more than %.3g\n", what, value, limit);
        _fail(__FILE__, line);
    }
}

/* ---- Forces, potentials. --------------------------------------------------------------------- */

/* The reference accelerations, and as scale of a body's rounding error the acceleration if all
 * contributions had one direction. */
static void reference(size_t n, double G, double eps)
{
    nbody_ref_forces(n, G, eps, mass, (rows)pos, acc_ref, phi_ref);
    for (size_t i = 0; i < n; i++) {
        pull[i] = n == 1;
        for (size_t j = 0; j < n; j++) {
            double r2 = eps * eps;
            for (int c = 0; c < 3; c++)
                r2 += (pos[j][c] - pos[i][c]) * (pos[j][c] - pos[i][c]);
            pull[i] += j != i && r2 > 0 ? G * mass[j] / r2 : 0;
        }
    }
}

/* Check an engine's accelerations and potentials: the error of the worst body and of all. An
 * integrator without a fused sum-and-step kernel (taylor) builds one kernel less. */
static void forces_case(struct nbody_options o, size_t n, double tolerance)
{
    nbody *nb = make_nbody(o, n);
    double worst = 0, worst_phi = 0, square = 0, square_ref = 0;
    works(nbody_forces(nb, acc, phi));
    for (size_t i = 0; i < n; i++) {
        double e = 0;
        for (int c = 0; c < 3; c++) {
            e += (acc[i][c] - acc_ref[i][c]) * (acc[i][c] - acc_ref[i][c]);
            square_ref += acc_ref[i][c] * acc_ref[i][c];
        }
        square += e;
        worst = sqrt(e) / pull[i] <= worst ? worst : sqrt(e) / pull[i];
        const double p = fabs(phi[i] - phi_ref[i]) / (n > 1 ? -phi_ref[i] : 1);
        worst_phi = p <= worst_phi ? worst_phi : p;
    }
    if (!(worst <= tolerance && worst_phi <= tolerance))
        print_error("n = %zu, eps = %g, %s\n", n, o.eps, nbody_shape(nb, 0));
    below(worst, tolerance);
    below(worst_phi, tolerance);
    below(sqrt(square), tolerance * sqrt(square_ref));
    nbody_free(nb);
}

static bool is_deep; /* argument `widths` */

/* Accelerations come from the kernel `forces`, or from `jerks` if a step needs derivatives: one
 * integrator each is enough. */
static int sums_like_one_before(enum nbody_integrator integrator)
{
    for (int i = 0; i < (int)integrator; i++)
        if (nbody_integrator_describe((enum nbody_integrator)i)->derivatives ==
            nbody_integrator_describe(integrator)->derivatives)
            return 1;
    return 0;
}

static void forces_all(enum nbody_precision precision, double tolerance)
{
    for (size_t k = 0; k < COUNT_OF(sizes); k++) {
        make_nbody_bodies(sizes[k], precision == NBODY_SINGLE);
        const bool uniform =
            sizes[k] ==
            1; /* integrators with kernels of their own; if not deep, one with derivatives */
        for (int softened = 0; softened < 2; softened++) {
            struct nbody_options o = {.precision = precision, .eps = 0.05 * softened};
            reference(sizes[k], 1, o.eps);
            for (int gpu = 0; gpu < 2; gpu++)
                for (EACH_INTEGRATOR(i)) {
                    if (sums_like_one_before(i))
                        continue;
                    if (uniform && !is_deep && nbody_integrator_describe(i)->derivatives > 0 &&
                        (gpu || precision == NBODY_DOUBLE))
                        continue;
                    if (!sampled((size_t)(softened + 2 * gpu) + (size_t)i, 5) ||
                        (sizes[k] > 65 && !sampled(k + (size_t)i, 2)))
                        continue;
                    o.integrator = i;
                    o.shape = gpu ? GPU_SHAPE : NULL;
                    forces_case(o, sizes[k], tolerance);
                }
        }
    }
}

static void nbody_single_forces_match_reference(void **state)
{
    (void)state;
    forces_all(NBODY_SINGLE, 1e-6);
}

static void nbody_double_forces_match_reference(void **state)
{
    (void)state;
    forces_all(NBODY_DOUBLE, 1e-14);
}

/* True if a vector width has its own r^-1 code: rsqrt() is one function for all widths,
 * native_rsqrt() one for floats, and the hardware estimates have one for each kind of vector. */
static bool is_of_its_own(int width, int rsqrt, int precision)
{
    if (precision == NBODY_DOUBLE)
        return rsqrt == 0 || (rsqrt == 2 && (width == 1 || width == 8));
    return rsqrt == 0 || (rsqrt == 1 && (width == 1 || width == 16)) || (rsqrt == 2 && width != 2);
}

/* Hardware estimates of r^-1 and the portable ones, at every vector width. If not deep, only the
 * scalar and the widest: nbody_width_4_matches_reference and other tests cover the widths
 * between. */
static void nbody_vector_widths_match_reference(void **state)
{
    static const int widths[] = {1, 16, 2, 4, 8};
    char shape[128];
    (void)state;
    make_nbody_bodies(300, 1);
    reference(300, 1, 0.01);
    for (size_t w = 0; w < (is_deep ? COUNT_OF(widths) : 2); w++)
        for (int rsqrt = 0; rsqrt <= 2; rsqrt++)
            for (int precision = NBODY_SINGLE; precision <= NBODY_DOUBLE; precision++) {
                if (!is_of_its_own(widths[w], rsqrt, precision))
                    continue;
                snprintf(shape, sizeof shape, "width=%d items=1 unroll=1 rsqrt=%d", widths[w],
                         rsqrt);
                forces_case((struct nbody_options){.precision = (enum nbody_precision)precision,
                                                   .eps = 0.01,
                                                   .integrator = NBODY_TAYLOR,
                                                   .shape = shape},
                            300, precision == NBODY_SINGLE ? 1e-6 : 1e-14);
            }
}

static void nbody_equal_masses_match_reference(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(sizes); k++) {
        make_nbody_bodies(sizes[k], 1);
        for (size_t i = 0; i < sizes[k]; i++)
            mass[i] = 1.0 / 1024;
        reference(sizes[k], 1, 0);
        forces_case((struct nbody_options){.integrator = NBODY_TAYLOR}, sizes[k], 1e-6);
        forces_case((struct nbody_options){.precision = NBODY_DOUBLE, .integrator = NBODY_TAYLOR},
                    sizes[k], 1e-14);
        forces_case(
            (struct nbody_options){.integrator = NBODY_TAYLOR, .shape = GPU_SHAPE " rsqrt=0"},
            sizes[k], 1e-6);
    }
}

static void nbody_width_4_matches_reference(void **state)
{
    (void)state;
    make_nbody_bodies(1000, 1);
    reference(1000, 1, 0.05);
    forces_case(
        (struct nbody_options){.eps = 0.05, .integrator = NBODY_TAYLOR, .shape = "width=4 rsqrt=0"},
        1000, 2e-6);
    reference(1000, 1, 0);
    forces_case(
        (struct nbody_options){.eps = 0, .integrator = NBODY_TAYLOR, .shape = "width=4 rsqrt=2"},
        1000, 2e-6);
}

/* Jerks are observed through one Hermite step, whose prediction uses them. */
static void nbody_jerks_match_reference(void **state)
{
    (void)state;
    for (size_t k = 1; k < COUNT_OF(sizes); k++) {
        const size_t n = sizes[k];
        make_nbody_bodies(n, 0);
        memcpy(pos1, pos, sizeof pos1);
        memcpy(vel1, vel, sizeof vel1);
        works(nbody_ref_run(NBODY_HERMITE4, n, 1, 0.05, 0.125, 1, mass, pos1, vel1));
        nbody *nb = make_nbody(
            (struct nbody_options){
                .integrator = NBODY_HERMITE4, .precision = NBODY_DOUBLE, .eps = 0.05, .dt = 0.125},
            n);
        works(nbody_step(nb, 1));
        works(nbody_state(nb, pos2, vel2));
        below(body_distance(n, pos1, pos2), 1e-13);
        below(body_distance(n, vel1, vel2), 1e-13);
        nbody_free(nb);
    }
}

/* ---- Integrators. ---------------------------------------------------------------------------- */

/* The table names each integrator by its constant, describes it, and the document lists all. */
static void nbody_integrators_are_documented(void **state)
{
    static char page[1 << 16];
    FILE *fp = fopen("../docs/nbody.md", "r");
    size_t count = 0;
    (void)state;
    assert_non_null(fp);
    page[fread(page, 1, sizeof page - 1, fp)] = 0;
    fclose(fp);
    for (EACH_INTEGRATOR(i), count++) {
        const struct nbody_integrator_info *info = nbody_integrator_describe(i);
        char row[128];
        snprintf(row, sizeof row, "| `%s` | %d |", info->name, info->order);
        contains(page, row);
        assert_true(strlen(info->about) > 10 && info->order > 0 && info->derivatives >= 0);
    }
    assert_true(count > NBODY_TAYLOR);
    assert_string_equal(nbody_integrator_describe(NBODY_LEAPFROG)->name, "leapfrog");
    assert_string_equal(nbody_integrator_describe(NBODY_HERMITE4)->name, "hermite4");
    assert_string_equal(nbody_integrator_describe(NBODY_TAYLOR)->name, "taylor");
    assert_null(nbody_integrator_describe((enum nbody_integrator)count));
    assert_null(nbody_integrator_describe((enum nbody_integrator) - 1));
    assert_int_equal(nbody_ref_run((enum nbody_integrator)count, 1, 1, 0, 1, 1, mass, pos, vel),
                     -1);
}

/* ---- Steps. ---------------------------------------------------------------------------------- */

static void steps_case(struct nbody_options o, size_t n, double tolerance)
{
    const size_t steps = n < 100 ? 16 : 3;
    o.eps = 0.1;
    o.G = 1.5;
    o.dt = 1.0 / 128;
    nbody *nb = make_nbody(o, n);
    memcpy(pos1, pos, sizeof pos1);
    memcpy(vel1, vel, sizeof vel1);
    works(nbody_ref_run(o.integrator, n, o.G, o.eps, o.dt, steps, mass, pos1, vel1));
    works(nbody_step(nb, steps));
    works(nbody_state(nb, pos2, vel2));
    below(body_distance(n, pos1, pos2), tolerance);
    below(body_distance(n, vel1, vel2), tolerance);
    assert_true(nbody_time(nb) == o.dt * (double)steps);
    assert_int_equal(nbody_steps(nb), steps);
    assert_int_equal(nbody_bodies(nb), n);
    assert_true(nbody_interactions(nb) ==
                    (double)(steps * n * n) * (o.integrator == NBODY_YOSHIDA4 ? 3 : 1) ||
                o.integrator == NBODY_IAS15); /* which takes as many steps as it needs */
    nbody_free(nb);
}

static void nbody_steps_match_reference(void **state)
{
    (void)state;
    for (size_t k = 0; k + 1 < COUNT_OF(sizes); k++)
        for (EACH_INTEGRATOR(integrator)) {
            if (is_slow_case(integrator, sizes[k]))
                continue;
            make_nbody_bodies(sizes[k], 0);
            if (is_sampled_case(integrator, 1))
                steps_case(
                    (struct nbody_options){.integrator = integrator, .precision = NBODY_DOUBLE},
                    sizes[k], 1e-12);
            if (is_sampled_case(integrator, 2))
                steps_case((struct nbody_options){.integrator = integrator,
                                                  .precision = NBODY_DOUBLE,
                                                  .shape = GPU_SHAPE},
                           sizes[k], 1e-12);
            if (!is_sampled_case(integrator, 0))
                continue;
            make_nbody_bodies(sizes[k], 1);
            for (size_t j = 0; j < sizes[k];
                 j++) /* far bodies have coarse positions: leave them out */
                for (int c = 0; c < 3; c++)
                    pos[j][c] = fmod(pos[j][c], 2);
            steps_case((struct nbody_options){.integrator = integrator}, sizes[k], 5e-6);
        }
}

/* Fixed equal shares: measured shares of unlike devices may differ between engines, and the last
 * bits with them. */
static const double equal_shares[64] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};

/* The boundaries of batches and calls change no bit. */
static void nbody_batches_give_equal_bits(void **state)
{
    (void)state;
    for (EACH_INTEGRATOR(i)) {
        struct nbody_options o = {.integrator = i, .eps = 0.1, .shares = equal_shares};
        if (!is_sampled_case(i, 0))
            continue;
        make_nbody_bodies(100, 0);
        nbody *whole = make_nbody(o, 100);
        o.burst = 3;
        nbody *parts = make_nbody(o, 100);
        works(nbody_step(whole, 11));
        for (int k = 0; k < 3; k++)
            works(nbody_step(parts, k == 0 ? 1 : 5));
        works(nbody_state(whole, pos1, vel1));
        works(nbody_state(parts, pos2, vel2));
        assert_memory_equal(pos1, pos2, 100 * sizeof *pos1);
        assert_memory_equal(vel1, vel2, 100 * sizeof *vel1);
        nbody_free(whole);
        nbody_free(parts);
    }
}

/* Queries between steps change no bit. */
static void nbody_queries_change_no_bit(void **state)
{
    struct nbody_diagnostics d;
    (void)state;
    for (EACH_INTEGRATOR(i)) {
        struct nbody_options o = {.integrator = i, .eps = 0.1, .shares = equal_shares};
        if (!is_sampled_case(i, 0))
            continue;
        make_nbody_bodies(100, 0);
        nbody *left_alone = make_nbody(o, 100), *asked = make_nbody(o, 100);
        works(nbody_step(left_alone, 6));
        for (int k = 0; k < 3; k++) {
            works(nbody_diagnose(asked, &d));
            works(nbody_step(asked, 2));
            works(nbody_forces(asked, acc, phi));
            works(nbody_state(asked, pos2, NULL));
        }
        works(nbody_state(left_alone, pos1, vel1));
        works(nbody_state(asked, pos2, vel2));
        assert_memory_equal(pos1, pos2, 100 * sizeof *pos1);
        assert_memory_equal(vel1, vel2, 100 * sizeof *vel1);
        nbody_free(left_alone);
        nbody_free(asked);
    }
}

/* Samples of some bodies in any order, as pictures need them, equal the whole state, rounded. */
static void nbody_samples_are_rounded_state(void **state)
{
    static const enum nbody_integrator of[] = {NBODY_LEAPFROG, NBODY_HERMITE4, NBODY_IAS15};
    static const uint32_t which[] = {64, 0, 63, 7, 7, 32};
    enum { N = 65, SOME = sizeof which / sizeof *which };
    float some[SOME][3], speeds[SOME][3], all[N][3];
    (void)state;
    make_nbody_bodies(N, 0);
    for (int k = 0; k < 6; k++) {
        nbody *nb =
            make_nbody((struct nbody_options){.integrator = of[k / 2],
                                              .eps = 0.1,
                                              .dt = 0.01,
                                              .precision = k % 2 ? NBODY_DOUBLE : NBODY_SINGLE},
                       N);
        works(nbody_step(nb, 3));
        works(nbody_state(nb, pos1, vel1));
        works(nbody_positions(nb, SOME, which, some, speeds));
        works(nbody_positions(nb, N, NULL, all, NULL));
        for (int c = 0; c < 3; c++) {
            for (size_t i = 0; i < SOME; i++)
                assert_true(some[i][c] == (float)pos1[which[i]][c] &&
                            speeds[i][c] == (float)vel1[which[i]][c]);
            for (size_t i = 0; i < N; i++)
                assert_true(all[i][c] == (float)pos1[i][c]);
        }
        works(nbody_positions(nb, 0, NULL, NULL, NULL));
        for (int again = 0; again < 3; again++) { /* the same ones later, without and with others in
                                                     between, and the first of them */
            works(nbody_step(nb, 1));
            works(nbody_state(nb, pos1, vel1));
            if (again == 1)
                works(nbody_positions(nb, N, NULL, all, NULL));
            const size_t count = again == 2 ? SOME - 2 : SOME;
            works(nbody_positions(nb, count, which, some, speeds));
            for (size_t i = 0; i < 3 * count; i++)
                assert_true(some[i / 3][i % 3] == (float)pos1[which[i / 3]][i % 3] &&
                            speeds[i / 3][i % 3] == (float)vel1[which[i / 3]][i % 3]);
        }
        fails(EINVAL, nbody_positions(nb, 1, (const uint32_t[]){N}, some, NULL));
        fails(EINVAL, nbody_positions(nb, N + 1, NULL, all, NULL));
        nbody_free(nb);
    }
}

/* Leapfrog is time reversible: stepping back with -dt restores the state up to rounding. */
static void nbody_leapfrog_runs_backwards(void **state)
{
    (void)state;
    make_nbody_bodies(65, 0);
    nbody *nb = make_nbody((struct nbody_options){.precision = NBODY_DOUBLE, .eps = 0.1}, 65);
    works(nbody_step(nb, 20));
    works(nbody_set_dt(nb, -1.0 / 256));
    works(nbody_step(nb, 20));
    works(nbody_state(nb, pos1, vel1));
    below(body_distance(65, pos, pos1), 1e-13);
    below(body_distance(65, vel, vel1), 1e-13);
    below(fabs(nbody_time(nb)), 1e-15);
    fails(EINVAL, nbody_set_dt(nb, 0));
    fails(EINVAL, nbody_set_dt(nb, NAN));
    nbody_free(nb);
}

/* ---- Units, special bodies. ------------------------------------------------------------------ */

/* Lengths, times and masses scaled by powers of two give results scaled by powers of two, even
 * where single precision could not hold r^3 or m. */
static void nbody_units_change_no_digit(void **state)
{
    const int length = 90, time = 70, weight = 110;
    (void)state;
    make_nbody_bodies(64, 0);
    nbody *nb = make_nbody((struct nbody_options){.eps = 0.125, .dt = 0.0625}, 64);
    works(nbody_step(nb, 5));
    works(nbody_state(nb, pos1, vel1));
    nbody_free(nb);
    for (size_t i = 0; i < 64; i++) {
        mass[i] = ldexp(mass[i], weight);
        for (int c = 0; c < 3; c++) {
            pos[i][c] = ldexp(pos[i][c], length);
            vel[i][c] = ldexp(vel[i][c], length - time);
        }
    }
    nb = make_nbody((struct nbody_options){.G = ldexp(1, 3 * length - 2 * time - weight),
                                           .eps = ldexp(0.125, length),
                                           .dt = ldexp(0.0625, time)},
                    64);
    works(nbody_step(nb, 5));
    works(nbody_state(nb, pos2, vel2));
    nbody_free(nb);
    for (size_t i = 0; i < 64; i++)
        for (int c = 0; c < 3; c++) {
            assert_true(pos2[i][c] == ldexp(pos1[i][c], length));
            assert_true(vel2[i][c] == ldexp(vel1[i][c], length - time));
        }
}

/* The inverse of the length unit exceeds a double. */
static void nbody_tiny_lengths_keep_digits(void **state)
{
    (void)state;
    make_nbody_bodies(64, 0);
    for (size_t i = 0; i < 64; i++)
        for (int c = 0; c < 3; c++) {
            pos[i][c] = ldexp(rint(ldexp(pos[i][c], 20)), -1060);
            vel[i][c] = ldexp((float)vel[i][c], 500);
        }
    nbody *nb = make_nbody((struct nbody_options){.dt = DBL_MIN}, 64);
    works(nbody_state(nb, pos1, vel1));
    assert_memory_equal(pos1, pos, 64 * sizeof *pos);
    assert_memory_equal(vel1, vel, 64 * sizeof *vel);
    nbody_free(nb);
}

/* Bodies without mass, so close that their unit of G m is no double, keep a mass of 0. */
static void nbody_massless_bodies_stay_finite(void **state)
{
    (void)state;
    make_nbody_bodies(64, 0);
    for (size_t i = 0; i < 64; i++) {
        mass[i] = 0;
        for (int c = 0; c < 3; c++) {
            pos[i][c] = ldexp((float)pos[i][c], -700);
            vel[i][c] = 0;
        }
    }
    nbody *nb = make_nbody((struct nbody_options){.dt = DBL_MIN}, 64);
    works(nbody_step(nb, 2));
    works(nbody_state(nb, pos1, vel1));
    assert_memory_equal(pos1, pos, 64 * sizeof *pos);
    nbody_free(nb);
}

/* Bodies 1 and 2 coincide without softening, body 3 has no mass: all stay finite, and body 0 is
 * attracted by both. */
static void nbody_coincident_bodies_stay_finite(void **state)
{
    (void)state;
    for (int precision = NBODY_SINGLE; precision <= NBODY_DOUBLE; precision++)
        for (EACH_INTEGRATOR(i)) {
            if (!is_sampled_case(i, (size_t)precision))
                continue;
            memset(vel, 0, 4 * sizeof *vel);
            for (int k = 0; k < 4; k++) {
                mass[k] = k == 3 ? 0 : 2;
                pos[k][0] = k == 0 ? 0 : k == 3 ? -1 : 1;
                pos[k][1] = pos[k][2] = 0;
            }
            vel[1][1] = 0.5;
            nbody *nb =
                make_nbody((struct nbody_options){.precision = (enum nbody_precision)precision,
                                                  .integrator = i},
                           4);
            works(nbody_forces(nb, acc, phi));
            assert_true(fabs(acc[0][0] - 4) < 1e-6 && fabs(acc[1][0] + 2) < 1e-6 &&
                        fabs(acc[2][0] + 2) < 1e-6);
            assert_true(fabs(acc[3][0] - 3) < 1e-6);
            assert_true(fabs(phi[0] + 4) < 1e-6 && fabs(phi[1] + 2) < 1e-6 &&
                        fabs(phi[3] + 4) < 1e-6);
            if (i != NBODY_IAS15) /* which says that its steps vanish */
                works(nbody_step(nb, 1));
            nbody_free(nb);
        }
}

/* With softening, coincident bodies have a potential and no force. */
static void nbody_coincident_softened_bodies_have_no_force(void **state)
{
    (void)state;
    memset(pos, 0, 2 * sizeof *pos);
    memset(vel, 0, 2 * sizeof *vel);
    mass[0] = mass[1] = 1;
    nbody *nb = make_nbody((struct nbody_options){.eps = 0.5}, 2);
    works(nbody_forces(nb, acc, phi));
    assert_true(phi[0] == -2 && phi[1] == -2);
    assert_true(acc[0][0] == 0 && acc[1][2] == 0);
    nbody_free(nb);
}

/* Lengths and times have units of 2 (from the largest position, 1, and the largest mass, 1), so
 * a body's x = 1/2 + 1e37 * 5 k leaves the range of floats in step 7. rsqrt=0, since the
 * correction of an estimate overflows earlier, with r^2. */
static void nbody_overflow_names_body_and_step(void **state)
{
    (void)state;
    make_nbody_bodies(1, 0);
    mass[0] = pos[0][0] = 1;
    pos[0][1] = pos[0][2] = vel[0][1] = vel[0][2] = 0;
    vel[0][0] = 1e37;
    for (int i = NBODY_LEAPFROG; i <= NBODY_TAYLOR; i += NBODY_TAYLOR)
        for (size_t burst = 0; burst <= 3; burst += 3) {
            const struct nbody_options o = {.dt = 10,
                                            .integrator = (enum nbody_integrator)i,
                                            .burst = burst,
                                            .shape = "rsqrt=0"};
            nbody *nb = make_nbody(o, 1);
            works(nbody_step(nb, 4));
            fails(EDOM, nbody_step(nb, 10));
            nbody_free(nb);
            nb = make_nbody(o, 1);
            assert_int_equal(nbody_step(nb, 10), -1);
            contains(clerror(), "in step 7 (time 70)");
            nbody_free(nb);
        }
    nbody *nb = make_nbody((struct nbody_options){.dt = 1e30, .integrator = NBODY_HERMITE4}, 1);
    assert_int_equal(nbody_step(nb, 3), -1);
    contains(clerror(), "in step 1");
    nbody_free(nb);
}

/* ---- Diagnostics. ---------------------------------------------------------------------------- */

static void diagnose_case(struct nbody_options o, size_t n, double tolerance)
{
    struct nbody_diagnostics d, ref;
    o.eps = 0.05;
    o.G = 2;
    make_nbody_bodies(n, o.precision == NBODY_SINGLE);
    for (size_t i = 0; i < n; i++) /* something to see in every sum */
        for (int c = 0; c < 3; c++)
            vel[i][c] += 0.25 * (c + 1);
    nbody *nb = make_nbody(o, n);
    works(nbody_diagnose(nb, &d));
    nbody_ref_diagnose(n, 2, o.eps, mass, (rows)pos, (rows)vel, &ref);
    below(fabs(d.kinetic - ref.kinetic) / ref.kinetic, tolerance);
    below(fabs(d.potential - ref.potential), n > 1 ? -tolerance * ref.potential : 0);
    below(fabs(d.virial_ratio - ref.virial_ratio), 4 * tolerance * ref.virial_ratio);
    assert_true(d.total == d.kinetic + d.potential);
    for (int c = 0; c < 3; c++) {
        below(fabs(d.momentum[c] - ref.momentum[c]), tolerance);
        below(fabs(d.angular_momentum[c] - ref.angular_momentum[c]), 2 * tolerance);
    }
    nbody_free(nb);
}

static void nbody_diagnostics_match_reference(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(sizes); k++) {
        diagnose_case((struct nbody_options){0}, sizes[k], 4e-7);
        diagnose_case((struct nbody_options){.precision = NBODY_DOUBLE}, sizes[k], 1e-12);
        diagnose_case((struct nbody_options){.integrator = NBODY_HERMITE4,
                                             .precision = NBODY_DOUBLE,
                                             .shape = GPU_SHAPE},
                      sizes[k], 1e-12);
        diagnose_case((struct nbody_options){.shape = "fp64=0"}, sizes[k], 4e-7);
    }
}

/* Sums in pairs of floats hold what floats would lose: one heavy body among light ones. */
static void nbody_float_pair_sums_hold_double(void **state)
{
    struct nbody_diagnostics wide, pairs;
    (void)state;
    make_nbody_bodies(4097, 1);
    mass[0] = 1000;
    nbody *a = make_nbody((struct nbody_options){.eps = 0.05}, 4097);
    nbody *b = make_nbody((struct nbody_options){.eps = 0.05, .shape = "fp64=0"}, 4097);
    works(nbody_diagnose(a, &wide));
    works(nbody_diagnose(b, &pairs));
    for (int c = 0; c < 3; c++)
        below(fabs(wide.momentum[c] - pairs.momentum[c]), 1e-7 * 1000 * fabs(vel[0][c]) + 1e-9);
    below(fabs(wide.kinetic - pairs.kinetic) / wide.kinetic, 1e-7);
    nbody_free(a);
    nbody_free(b);
}

/* ---- Limits. --------------------------------------------------------------------------------- */

static double limit(struct nbody_options o)
{
    nbody *nb = make_nbody(o, 8);
    const double found = nbody_peak_rate(nb);
    nbody_free(nb);
    return found;
}

/* Instructions per pair, counted by hand from nbody/README.md: all on a GPU, only
 * multiplications on a CPU. The measured rate cancels out of the ratios. */
static void nbody_peak_rate_counts_instructions(void **state)
{
    const cl_device_id id = clgetdevice(stddev, 0);
    CLCONTEXT *one = clcontext_create_from(
        &id, 1); /* the peak is the sum over devices, each with its own count */
    ready(one);
    const struct nbody_options leapfrog = {.ctx = one},
                               hermite4 = {.ctx = one, .integrator = NBODY_HERMITE4};
    struct cldev_info info[1];
    (void)state;
    works(clgetdevinfo(one, info));
    const int cpu = (info[0].dev_type & CL_DEVICE_TYPE_CPU) != 0;
    make_nbody_bodies(8, 0);
    const double general = limit(leapfrog);
    assert_true(general > 0);
    below(fabs(general / limit(hermite4) - (cpu ? 20. / 9 : 27. / 13)), 1e-12);
    for (int i = 0; i < 8; i++)
        mass[i] = 1;
    below(fabs(limit(leapfrog) / general - (cpu ? 9. / 8 : 13. / 12)), 1e-12);
    below(fabs(limit(hermite4) / general - (cpu ? 9. / 20 : 13. / 27)), 1e-12);
    clcontext_destroy(one);
}

/* A body so fast that its energy is 5e59: beyond single precision, although a double holds the
 * sum. */
static void nbody_rejects_energy_beyond_float(void **state)
{
    struct nbody_diagnostics d;
    static const char *const shapes[] = {NULL, "fp64=0"};
    (void)state;
    make_nbody_bodies(1, 0);
    mass[0] = pos[0][0] = 1;
    vel[0][0] = 1e30;
    for (int s = 0; s < 2; s++) {
        nbody *nb = make_nbody((struct nbody_options){.shape = shapes[s]}, 1);
        fails(EDOM, nbody_diagnose(nb, &d));
        assert_int_equal(nbody_diagnose(nb, &d), -1);
        contains(clerror(), "the kinetic energy is out of the range of single precision");
        nbody_free(nb);
    }
    nbody *nb = make_nbody((struct nbody_options){.precision = NBODY_DOUBLE}, 1);
    works(nbody_diagnose(nb, &d));
    below(fabs(d.kinetic / 5e59 - 1), 1e-14);
    nbody_free(nb);
}

/* ---- Memory, errors. ------------------------------------------------------------------------- */

/* At most 64 bytes per body in single precision on a device, plus work space. */
static void nbody_memory_per_body_is_bounded(void **state)
{
    static const char *const shapes[] = {"groups_per_unit=1", "", "groups_per_unit=1000",
                                         "groups_per_unit=1000000"};
    const size_t n = 200000;
    double *m = calloc(n, sizeof *m), (*x)[3] = calloc(n, sizeof *x);
    (void)state;
    ready(m);
    ready(x);
    for (size_t s = 0; s < COUNT_OF(shapes); s++) {
        nbody *nb =
            nbody_create(&(struct nbody_options){.ctx = stddev, .dt = 1, .shape = shapes[s]}, n, m,
                         (rows)x, (rows)x);
        ready(nb);
        /* No work space is needed if a device's bodies make enough groups. */
        assert_true(nbody_device_bytes(nb) <=
                    64 * n + (s || nbody_devices(nb) > 1 ? 192 << 20 : 0) + 4096);
        nbody_free(nb);
    }
    free(m);
    free(x);
}

static void create_fails(struct nbody_options o, size_t n, const char *sentence)
{
    o.ctx = stddev;
    fails_null(EINVAL, nbody_create(&o, n, mass, (rows)pos, (rows)vel));
    assert_null(nbody_create(&o, n, mass, (rows)pos, (rows)vel));
    contains(clerror(), sentence);
}

static void nbody_rejects_bad_input(void **state)
{
    const struct nbody_options good = {.dt = 1};
    struct nbody_options o;
    (void)state;
    make_nbody_bodies(3, 0);
    create_fails(good, 0, "0 bodies");
    create_fails(good, (size_t)-1, "bodies; there must be 1 to");
    create_fails((struct nbody_options){0}, 3, "time step of 0");
    create_fails((struct nbody_options){.dt = NAN}, 3, "time step of");
    create_fails((struct nbody_options){.dt = 1, .eps = -1}, 3, "softening length of -1");
    create_fails((struct nbody_options){.dt = 1, .G = INFINITY}, 3,
                 "gravitational constant of inf");
    o = good;
    o.integrator = (enum nbody_integrator)77;
    create_fails(o, 3, "integrator 77");
    o = good;
    o.shape = "grope=3";
    create_fails(o, 3, "\"grope=3\"");
    o.shape = "items=3 width=5";
    create_fails(o, 3, "width must be");
    o.shape = "items=";
    create_fails(o, 3, "\"items=\"");
    o.shape = "local=0 group=1048576"; /* with local memory, tile would have to fit group */
    create_fails(o, 3, "group=1048576");
    o.shape = "local=1 group=1 tile=1048576 block=1048576";
    create_fails(o, 3, "local memory");
    mass[2] = -1;
    create_fails(good, 3, "body 2 has the mass -1");
    mass[2] = 1;
    pos[1][2] = NAN;
    create_fails(good, 3, "body 1: position z is");
    pos[1][2] = 0;
    vel[0][0] = INFINITY;
    create_fails(good, 3, "body 0: velocity x is inf");
    vel[0][0] = 1e300;
    create_fails(good, 3, "out of range in single precision");
    vel[0][0] = 0;
    fails_null(EINVAL, nbody_create(&good, 3, NULL, (rows)pos, (rows)vel));
    fails_null(EINVAL, nbody_create(NULL, 3, mass, (rows)pos, (rows)vel)); /* without a step */
    struct nbody_options grown = good;
    refuses_reserved(grown, nbody_create(&grown, 3, mass, (rows)pos, (rows)vel));
    double shares[64] = {-1};
    o = good;
    o.shares = shares;
    create_fails(o, 3, "the share of device 0 is -1");
    shares[0] = 0;
    create_fails(o, 3, "the shares add up to 0");
    nbody_free(NULL);
}

/* Vectors of less than 16 bytes are of no use to any CPU. */
static void narrow_vectors_are_refused(const struct cltune_kernel *kernel, void *problem)
{
    static const char *const words[] = {"width=1", "width=2", "width=4"};
    const bool is_double = strstr(kernel->name, ".double") != NULL;
    struct cldev_info info[16];
    works(clgetdevinfo(stddev, info));
    for (int i = 0; i < 3 && info[0].dev_type & CL_DEVICE_TYPE_CPU; i++)
        assert_int_equal(kernel->allowed(problem, words[i]) == 0, i >= (is_double ? 1 : 2));
}

/* The search of `stdcl tune`: the known entry runs, gives the right answer, and can be timed. */
static void nbody_tuned_entry_is_runnable(void **state)
{
    size_t count = 0;
    const struct cltune_kernel *kernels = nbody_tune_kernels(&count);
    (void)state;
    assert_int_equal(count, 10);
    const cl_device_id id = clgetdevice(stddev, 0);
    CLCONTEXT *one = clcontext_create_from(&id, 1);
    ready(one);
    for (size_t k = 0; k < count; k++) {
        struct cltune_row row;
        double seconds = 0, work = 0;
        if (!sampled(k, 3))
            continue;
        works(cltune_find(stddev, 0, kernels[k].name, 300, &row));
        if (!*row.shape && kernels[k].like)
            works(cltune_find(stddev, 0, kernels[k].like, 300, &row));
        assert_true(strlen(row.shape) > 0);
        const bool tree = strstr(kernels[k].name, ".walk.") || strstr(kernels[k].name, ".cells.");
        builds_unoptimised = tree;
        void *problem = kernels[k].open(&kernels[k], one, 300);
        ready(problem);
        works(kernels[k].allowed(problem, row.shape));
        works(kernels[k].verify(problem, row.shape));
        works(kernels[k].measure(problem, row.shape, &seconds, &work));
        assert_true(seconds > 0 && work == (tree ? 300.0 : 300.0 * 300.0));
        works(kernels[k].verify(problem, row.shape));
        assert_int_not_equal(kernels[k].allowed(problem, "tile=48 block=100"), 0);
        narrow_vectors_are_refused(&kernels[k], problem);
        kernels[k].close(problem);
    }
    builds_unoptimised = false;
    works(clcontext_destroy(one));
}

/* ---- Several devices. ------------------------------------------------------------------------ */

/* Compare positions and velocities after 10 steps on all devices and on the first one alone. */
static void devices_case(struct nbody_options o, size_t n, CLCONTEXT *one, double tolerance)
{
    o.eps = 0.1;
    o.ctx = stddev;
    nbody *several = make_nbody(o, n);
    o.ctx = one;
    o.shares = NULL;
    nbody *alone = make_nbody(o, n);
    works(nbody_step(several, 10));
    works(nbody_step(alone, 10));
    works(nbody_state(several, pos1, vel1));
    works(nbody_state(alone, pos2, vel2));
    below(body_distance(n, pos1, pos2), tolerance);
    below(body_distance(n, vel1, vel2), tolerance);
    size_t owned = 0;
    for (cl_uint d = 0; d < clgetndev(stddev); d++)
        owned += nbody_device_bodies(several, d);
    assert_int_equal(owned, n);
    nbody_free(several);
    nbody_free(alone);
}

static void nbody_devices_match_reference(void **state)
{
    const double unequal[] = {3, 1}, first[] = {1, 0}, second[] = {0, 1};
    const double *const shares[] = {NULL, unequal, first, second};
    const cl_device_id id = clgetdevice(stddev, 0);
    CLCONTEXT *one = clcontext_create_from(&id, 1);
    (void)state;
    ready(one);
    assert_int_equal(clgetndev(stddev), 2);
    for (size_t k = 0; k < COUNT_OF(sizes); k++)
        for (EACH_INTEGRATOR(i)) {
            struct nbody_options o = {.integrator = i,
                                      .precision = NBODY_DOUBLE,
                                      .shares = shares[(k + (size_t)i) % COUNT_OF(shares)]};
            if (is_slow_case(i, sizes[k]) || !is_sampled_case(i, 1))
                continue;
            make_nbody_bodies(sizes[k], 0);
            devices_case(o, sizes[k], one, 1e-13);
        }
    make_nbody_bodies(1000, 0);
    struct cldev_info info[2];
    works(clgetdevinfo(stddev, info));
    nbody *nb = make_nbody((struct nbody_options){0}, 1000);
    if (strcmp(info[0].dev_name, info[1].dev_name) == 0) /* others have shares as they are fast */
        assert_true(nbody_devices(nb) == 2 && nbody_device_bodies(nb, 0) >= 488 &&
                    nbody_device_bodies(nb, 1) >= 488);
    nbody_free(nb);
    nb = make_nbody((struct nbody_options){.shares = unequal}, 1000);
    assert_int_equal(nbody_device_bodies(nb, 0), 768);
    nbody_free(nb);
    clcontext_destroy(one);
}

/* test_nbody [widths] */
int main(int argc, char **argv)
{
    const struct CMUnitTest deep[] = {cmocka_unit_test(nbody_vector_widths_match_reference),
                                      cmocka_unit_test(nbody_single_forces_match_reference),
                                      cmocka_unit_test(nbody_double_forces_match_reference)};
    is_deep = argc > 1 && strcmp(argv[1], "widths") == 0;
    if (is_deep)
        return cmocka_run_group_tests(deep, NULL, NULL);
    struct CMUnitTest on_any[] = {
        cmocka_unit_test(nbody_batches_give_equal_bits),
        cmocka_unit_test(nbody_queries_change_no_bit),
        cmocka_unit_test(nbody_coincident_bodies_stay_finite),
        cmocka_unit_test(nbody_overflow_names_body_and_step),
        cmocka_unit_test(nbody_float_pair_sums_hold_double),
        cmocka_unit_test(nbody_memory_per_body_is_bounded),
        cmocka_unit_test(nbody_rejects_bad_input),
        /* Of the following, every n-th runs. */
        cmocka_unit_test(nbody_single_forces_match_reference),
        cmocka_unit_test(nbody_samples_are_rounded_state),
        cmocka_unit_test(nbody_leapfrog_runs_backwards),
    };
    struct CMUnitTest on_one[] = {
        cmocka_unit_test(nbody_width_4_matches_reference),
        cmocka_unit_test(nbody_jerks_match_reference),
        cmocka_unit_test(nbody_units_change_no_digit),
        cmocka_unit_test(nbody_tiny_lengths_keep_digits),
        cmocka_unit_test(nbody_massless_bodies_stay_finite),
        cmocka_unit_test(nbody_coincident_softened_bodies_have_no_force),
        cmocka_unit_test(nbody_integrators_are_documented),
        cmocka_unit_test(nbody_rejects_energy_beyond_float),
        cmocka_unit_test(nbody_peak_rate_counts_instructions),
        cmocka_unit_test(nbody_diagnostics_match_reference),
        /* Of the following, every n-th runs. */
        cmocka_unit_test(nbody_steps_match_reference),
        cmocka_unit_test(nbody_vector_widths_match_reference),
        cmocka_unit_test(nbody_tuned_entry_is_runnable),
        cmocka_unit_test(nbody_double_forces_match_reference),
        cmocka_unit_test(nbody_equal_masses_match_reference),
    };
    const struct CMUnitTest on_two[] = {cmocka_unit_test(nbody_devices_match_reference)};
    int failed = sampled_run("on any devices", on_any, 7, 3, NULL, NULL);
    if (clgetndev(stddev) == 2)
        failed += cmocka_run_group_tests(on_two, NULL, NULL);
    else
        failed += sampled_run("on one device", on_one, 9, 3, NULL, NULL);
    return failed;
}
