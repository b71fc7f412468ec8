/* The baseline kernels against plain C: many N, both precisions, with and without softening, and
 * steps.
 *
 * Uses the first device only. Single-precision inputs are rounded to floats first, so that the
 * comparison tests the kernels' arithmetic.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/reference/nbody_ref.h"
#include "core/args.h"

#include "builds_once.h"
#include "check.h"

#include <float.h>
#include <math.h>

enum { MOST = 1500 };
static double mass[MOST], pos[MOST][3], vel[MOST][3];
static double acc[MOST][3], phi[MOST], acc_ref[MOST][3], phi_ref[MOST];
static double pos1[MOST][3], vel1[MOST][3], pos2[MOST][3], vel2[MOST][3];

static const size_t sizes[] = {1, 2, 3, 64, 65, 1000};
static const enum nbody_kernel kernels[] = {NBODY_TUNED, NBODY_NAIVE, NBODY_BRANCHLESS,
                                            NBODY_TILED};

typedef const double (*rows)[3];

static CLCONTEXT *one; /* a context of the first device alone */

static int open_baseline_device(void **state)
{
    (void)state;
    const cl_device_id id = clgetdevice(stddev, 0);
    one = clcontext_create_from(&id, 1);
    return setup_done(one);
}

static int close_baseline_device(void **state)
{
    (void)state;
    clcontext_destroy(one);
    return 0;
}

static bool baseline_has_doubles(void)
{
    struct cldev_info info;
    works(clgetdevinfo(one, &info));
    return info.dev_pref_vec_double > 0;
}

/* volatile: gcc 12 drops the rounding when it vectorises a loop of such conversions. */
static double rounded_for_baseline(double x, enum nbody_precision precision)
{
    volatile float f = (float)x;
    return precision == NBODY_SINGLE ? (double)f : x;
}

/* Unequal masses, one of them 0, and two coincident bodies: their mutual force is 0. */
static void make_baseline_bodies(size_t n, enum nbody_precision precision)
{
    works(nbody_initial(NBODY_PLUMMER, n, 7, mass, pos, vel));
    for (size_t i = 0; i < n; i++)
        mass[i] *= 1 + 0.3 * (double)(i % 4);
    if (n >= 64) {
        mass[40] = 0;
        memcpy(pos[50], pos[10], sizeof pos[50]);
    }
    for (size_t i = 0; i < n; i++) {
        mass[i] = rounded_for_baseline(mass[i], precision);
        for (int c = 0; c < 3; c++) {
            pos[i][c] = rounded_for_baseline(pos[i][c], precision);
            vel[i][c] = rounded_for_baseline(vel[i][c], precision);
        }
    }
}

static nbody *baseline_engine(enum nbody_kernel kernel, enum nbody_precision precision, double eps,
                              size_t n)
{
    struct nbody_options o = {
        .ctx = one, .kernel = kernel, .precision = precision, .eps = eps, .dt = 1. / 64};
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

/* rms of the difference over rms of b; the plain rms of the difference if b is 0. */
static double difference(size_t n, double (*a)[3], double (*b)[3])
{
    double square = 0, size = 0;
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++) {
            square += (a[i][c] - b[i][c]) * (a[i][c] - b[i][c]);
            size += b[i][c] * b[i][c];
        }
    return sqrt(square / (size > 0 ? size : 1));
}

static void check_baseline_below(double value, double limit, enum nbody_kernel kernel, size_t n,
                                 double eps)
{
    if (!(value <= limit)) {
        print_error("kernel %d, n = %zu, eps = %g: %.3g, more than %.3g\n", (int)kernel, n, eps,
                    value, limit);
        fail();
    }
}

/* ---- Forces. --------------------------------------------------------------------------------- */

static void check_baseline_forces(enum nbody_precision precision, size_t n, double eps)
{
    const double unit = precision == NBODY_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;
    nbody_ref_forces(n, 1, eps, mass, (rows)pos, acc_ref, phi_ref);
    for (size_t k = 0; k < COUNT_OF(kernels); k++) {
        nbody *nb = baseline_engine(kernels[k], precision, eps, n);
        memset(acc, 0xff, sizeof acc); /* NaN: an unwritten element shows */
        works(nbody_forces(nb, acc, phi));
        check_baseline_below(difference(n, acc, acc_ref), 8 * unit, kernels[k], n, eps);
        for (size_t i = 0; i < n; i++)
            check_baseline_below(fabs(phi[i] - phi_ref[i]), 32 * unit * fabs(phi_ref[i]),
                                 kernels[k], n, eps);
        nbody_free(nb);
    }
}

static void check_all(enum nbody_precision precision)
{
    builds_unoptimised =
        precision == NBODY_DOUBLE; /* the command's tests have the others as well */
    for (size_t k = 0; k < COUNT_OF(sizes); k++) {
        make_baseline_bodies(sizes[k], precision);
        check_baseline_forces(precision, sizes[k], 0.05);
        check_baseline_forces(precision, sizes[k], 0);
    }
}

static void baseline_single_forces_match_reference(void **state)
{
    (void)state;
    check_all(NBODY_SINGLE);
}

static void baseline_double_forces_match_reference(void **state)
{
    (void)state;
    if (!baseline_has_doubles())
        skip();
    check_all(NBODY_DOUBLE);
}

/* Several launches of minimal length: one group each. */
static void baseline_sliced_forces_match_reference(void **state)
{
    (void)state;
    make_baseline_bodies(MOST, NBODY_SINGLE);
    nbody_ref_forces(MOST, 1, 0.05, mass, (rows)pos, acc_ref, NULL);
    for (size_t k = 1; k < COUNT_OF(kernels); k++) {
        struct nbody_options o = {
            .ctx = one, .kernel = kernels[k], .eps = 0.05, .dt = 1, .shape = "group_1d=128"};
        assert_int_equal(setenv("STDCL_SLICE", "1e-12", 1), 0);
        nbody *nb = nbody_create(&o, MOST, mass, (rows)pos, (rows)vel);
        assert_int_equal(unsetenv("STDCL_SLICE"), 0);
        ready(nb);
        works(nbody_forces(nb, acc, NULL));
        check_baseline_below(difference(MOST, acc, acc_ref), 1e-6, kernels[k], MOST, 0.05);
        nbody_free(nb);
    }
}

/* ---- Steps. ---------------------------------------------------------------------------------- */

/* Compare twenty steps in two batches, with a force query between, with plain C. */
static void check_baseline_steps(enum nbody_kernel kernel, enum nbody_integrator integrator)
{
    enum { N = 65, STEPS = 20 };
    const enum nbody_precision precision = baseline_has_doubles() ? NBODY_DOUBLE : NBODY_SINGLE;
    const double tolerance = precision == NBODY_DOUBLE ? 1e-12 : 1e-4;
    struct nbody_options o = {.ctx = one,
                              .kernel = kernel,
                              .integrator = integrator,
                              .precision = precision,
                              .eps = 0.1,
                              .dt = 1. / 64};
    double seconds = -1;
    make_baseline_bodies(N, precision);
    memcpy(pos1, pos, sizeof pos);
    memcpy(vel1, vel, sizeof vel);
    works(nbody_ref_run(integrator, N, 1, 0.1, 1. / 64, STEPS, mass, pos1, vel1));
    nbody *nb = nbody_create(&o, N, mass, (rows)pos, (rows)vel);
    ready(nb);
    works(nbody_step(nb, STEPS / 2));
    works(nbody_forces(nb, acc, phi));
    works(nbody_time_forces(nb, 2, &seconds));
    assert_true(seconds > 0);
    works(nbody_step(nb, STEPS / 2));
    works(nbody_state(nb, pos2, vel2));
    check_baseline_below(difference(N, pos2, pos1), tolerance, kernel, N, 0.1);
    check_baseline_below(difference(N, vel2, vel1), tolerance, kernel, N, 0.1);
    nbody_free(nb);
}

static void baseline_steps_match_reference(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT_OF(kernels); k++) {
        check_baseline_steps(kernels[k], NBODY_LEAPFROG);
        check_baseline_steps(kernels[k], NBODY_TAYLOR);
    }
}

/* ---- Limits of the baselines. ---------------------------------------------------------------- */

static void baseline_rejects_bad_options(void **state)
{
    (void)state;
    make_baseline_bodies(3, NBODY_SINGLE);
    struct nbody_options o = {
        .ctx = one, .dt = 1, .kernel = NBODY_NAIVE, .integrator = NBODY_HERMITE4};
    fails_null(EINVAL, nbody_create(&o, 3, mass, (rows)pos, (rows)vel));
    o = (struct nbody_options){.ctx = one, .dt = 1, .kernel = (enum nbody_kernel)(NBODY_TILED + 1)};
    fails_null(EINVAL, nbody_create(&o, 3, mass, (rows)pos, (rows)vel));
    const cl_device_id twice[] = {clgetdevice(one, 0), clgetdevice(one, 0)};
    CLCONTEXT *two = clcontext_create_from(twice, 2);
    if (two) { /* some drivers take a device once */
        o = (struct nbody_options){.ctx = two, .dt = 1, .kernel = NBODY_TILED};
        fails_null(EINVAL, nbody_create(&o, 3, mass, (rows)pos, (rows)vel));
        clcontext_destroy(two);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(baseline_single_forces_match_reference),
        cmocka_unit_test(baseline_double_forces_match_reference),
        cmocka_unit_test(baseline_sliced_forces_match_reference),
        cmocka_unit_test(baseline_steps_match_reference),
        cmocka_unit_test(baseline_rejects_bad_options),
    };
    return cmocka_run_group_tests(tests, open_baseline_device, close_baseline_device);
}
