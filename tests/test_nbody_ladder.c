/* The kernels of the ladder against plain C: many N, both precisions, with and without softening,
 * and steps.
 *
 * One device, the first. Single-precision inputs are rounded to floats first, so that what is
 * compared is the kernels' arithmetic.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/nbody_ref.h"

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
#define COUNT(a) (sizeof(a) / sizeof *(a))

typedef const double (*rows)[3];

static CLCONTEXT *one; /* a context of the first device alone */

static int open_one(void **state)
{
    (void)state;
    const cl_device_id id = clgetdevice(stddev, 0);
    one = clcontext_create_from(&id, 1);
    return setup_done(one);
}

static int close_one(void **state)
{
    (void)state;
    clcontext_destroy(one);
    return 0;
}

static bool has_doubles(void)
{
    struct cldev_info info;
    works(clgetdevinfo(one, &info));
    return info.dev_pref_vec_double > 0;
}

/* volatile: gcc 12 drops the rounding when it vectorises a loop of such conversions. */
static double rounded(double x, enum nbody_precision precision)
{
    volatile float f = (float)x;
    return precision == NBODY_SINGLE ? (double)f : x;
}

/* Unequal masses, one of them 0, and two bodies in one place: they pull each other by nothing. */
static void make(size_t n, enum nbody_precision precision)
{
    works(nbody_initial(NBODY_PLUMMER, n, 7, mass, pos, vel));
    for (size_t i = 0; i < n; i++)
        mass[i] *= 1 + 0.3 * (double)(i % 4);
    if (n >= 64) {
        mass[40] = 0;
        memcpy(pos[50], pos[10], sizeof pos[50]);
    }
    for (size_t i = 0; i < n; i++) {
        mass[i] = rounded(mass[i], precision);
        for (int c = 0; c < 3; c++) {
            pos[i][c] = rounded(pos[i][c], precision);
            vel[i][c] = rounded(vel[i][c], precision);
        }
    }
}

static nbody *engine(enum nbody_kernel kernel, enum nbody_precision precision, double eps, size_t n)
{
    struct nbody_options o = {
        .ctx = one, .kernel = kernel, .precision = precision, .eps = eps, .dt = 1. / 64};
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

/* rms of the difference over rms of b; the plain rms of the difference when b is 0. */
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

static void below(double value, double limit, enum nbody_kernel kernel, size_t n, double eps)
{
    if (!(value <= limit)) {
        print_error("kernel %d, n = %zu, eps = %g: %.3g, more than %.3g\n", (int)kernel, n, eps,
                    value, limit);
        fail();
    }
}

/* ---- Forces. --------------------------------------------------------------------------------- */

static void check_forces(enum nbody_precision precision, size_t n, double eps)
{
    const double unit = precision == NBODY_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;
    nbody_ref_forces(n, 1, eps, mass, (rows)pos, acc_ref, phi_ref);
    for (size_t k = 0; k < COUNT(kernels); k++) {
        nbody *nb = engine(kernels[k], precision, eps, n);
        memset(acc, 0xff, sizeof acc); /* NaN: what is not written shows */
        works(nbody_forces(nb, acc, phi));
        below(difference(n, acc, acc_ref), 8 * unit, kernels[k], n, eps);
        for (size_t i = 0; i < n; i++)
            below(fabs(phi[i] - phi_ref[i]), 32 * unit * fabs(phi_ref[i]), kernels[k], n, eps);
        nbody_free(nb);
    }
}

static void check_all(enum nbody_precision precision)
{
    builds_unoptimised =
        precision == NBODY_DOUBLE; /* the command's tests have the others as well */
    for (size_t k = 0; k < COUNT(sizes); k++) {
        make(sizes[k], precision);
        check_forces(precision, sizes[k], 0.05);
        check_forces(precision, sizes[k], 0);
    }
}

static void forces_single(void **state)
{
    (void)state;
    check_all(NBODY_SINGLE);
}

static void forces_double(void **state)
{
    (void)state;
    if (!has_doubles())
        skip();
    check_all(NBODY_DOUBLE);
}

/* Several launches, as short as they can be: one group each. */
static void forces_in_pieces(void **state)
{
    (void)state;
    make(MOST, NBODY_SINGLE);
    nbody_ref_forces(MOST, 1, 0.05, mass, (rows)pos, acc_ref, NULL);
    for (size_t k = 1; k < COUNT(kernels); k++) {
        struct nbody_options o = {
            .ctx = one, .kernel = kernels[k], .eps = 0.05, .dt = 1, .shape = "flat=128"};
        assert_int_equal(setenv("STDCL_SLICE", "1e-12", 1), 0);
        nbody *nb = nbody_create(&o, MOST, mass, (rows)pos, (rows)vel);
        assert_int_equal(unsetenv("STDCL_SLICE"), 0);
        ready(nb);
        works(nbody_forces(nb, acc, NULL));
        below(difference(MOST, acc, acc_ref), 1e-6, kernels[k], MOST, 0.05);
        nbody_free(nb);
    }
}

/* ---- Steps. ---------------------------------------------------------------------------------- */

/* Twenty steps in two bursts, with a look at the forces between, against plain C. */
static void check_steps(enum nbody_kernel kernel, enum nbody_integrator integrator)
{
    enum { N = 65, STEPS = 20 };
    const enum nbody_precision precision = has_doubles() ? NBODY_DOUBLE : NBODY_SINGLE;
    const double tolerance = precision == NBODY_DOUBLE ? 1e-12 : 1e-4;
    struct nbody_options o = {.ctx = one,
                              .kernel = kernel,
                              .integrator = integrator,
                              .precision = precision,
                              .eps = 0.1,
                              .dt = 1. / 64};
    double seconds = -1;
    make(N, precision);
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
    below(difference(N, pos2, pos1), tolerance, kernel, N, 0.1);
    below(difference(N, vel2, vel1), tolerance, kernel, N, 0.1);
    nbody_free(nb);
}

static void steps(void **state)
{
    (void)state;
    for (size_t k = 0; k < COUNT(kernels); k++) {
        check_steps(kernels[k], NBODY_LEAPFROG);
        check_steps(kernels[k], NBODY_TAYLOR);
    }
}

/* ---- What the ladder cannot do. -------------------------------------------------------------- */

static void refusals(void **state)
{
    (void)state;
    make(3, NBODY_SINGLE);
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
        cmocka_unit_test(forces_single),    cmocka_unit_test(forces_double),
        cmocka_unit_test(forces_in_pieces), cmocka_unit_test(steps),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, open_one, close_one);
}
