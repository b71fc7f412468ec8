/* Launches that fail on the device: the call that needs their results reports the failure, and
 * the engine can still be freed. A kernel's failure is known only after its launch, so every
 * call must wait and check before it returns numbers.
 * SPDX-License-Identifier: MIT
 */
#include "failing.h"
#include "nbody_engine.h"

#include "nbody/force/tree.h"

#include <string.h>

enum { N = 100, MANY = 20000 };
static double mass[N], pos[N][3], vel[N][3], acc[N][3], phi[N];

static nbody *failure_engine(enum nbody_integrator integrator)
{
    const double shares[64] = {1, 1, 1, 1};
    const bool planets = integrates_planets(integrator); /* needs doubles, without softening */
    const struct nbody_options o = {.ctx = stddev,
                                    .integrator = integrator,
                                    .precision = planets ? NBODY_DOUBLE : NBODY_SINGLE,
                                    .dt = 1. / 256,
                                    .eps = planets ? 0 : 0.1,
                                    .shares = shares};
    works(nbody_initial(NBODY_PLUMMER, N, 1, mass, pos, vel));
    nbody *nb = nbody_create(&o, N, mass, (const double(*)[3])pos, (const double(*)[3])vel);
    ready(nb);
    works(nbody_step(nb, 1)); /* from a state that is not settled */
    return nb;
}

static int failure_step(nbody *nb)
{
    return nbody_step(nb, 2);
}

static int failure_diagnose(nbody *nb)
{
    struct nbody_diagnostics d;
    return nbody_diagnose(nb, &d);
}

static int failure_forces(nbody *nb)
{
    return nbody_forces(nb, acc, phi);
}

static int failure_measure(nbody *nb)
{
    double seconds;
    return nbody_time_forces(nb, 2, &seconds);
}

/* Run `call` with its launch number `k` (from 0) failing. Return whether it makes that many
 * launches. */
static int fails_at(enum nbody_integrator integrator, int (*call)(nbody *nb), int k)
{
    nbody *nb = failure_engine(integrator);
    healthy = k;
    const int status = call(nb);
    const int failed = healthy < 0; /* the count is used up */
    healthy = -1;
    if (status != (failed ? -1 : 0))
        fail_msg("%s returned %d where its launch or copy %d %s; clerror: %s",
                 nbody_integrator_describe(integrator)->name, status, k,
                 failed ? "failed" : "did not fail", clerror());
    if (failed)
        assert_true(oclerrno < 0);
    nbody_free(nb);
    return failed;
}

static void nbody_failed_launch_is_reported(void **state)
{
    static int (*const calls[])(nbody *) = {failure_step, failure_diagnose, failure_forces,
                                            failure_measure};
    (void)state;
    for (int i = 0; nbody_integrator_describe((enum nbody_integrator)i); i++)
        for (size_t c = 0; c < sizeof calls / sizeof *calls; c++) {
            int k = 0;
            if (integrates_planets((enum nbody_integrator)i) && !context_has_doubles())
                continue;
            while (fails_at((enum nbody_integrator)i, calls[c], k))
                k++;
            assert_true(k >= 2 ||
                        ((i == NBODY_IAS15 || integrates_planets((enum nbody_integrator)i)) &&
                         calls[c] != failure_measure)); /* they launch nothing */
        }
}

/* ---- A device with little memory. ------------------------------------------------------------ */

static cl_ulong memory;   /* memory size that devices report; 0: the true size */
static cl_device_id only; /* the device that reports it; NULL: all */

cl_int clGetDeviceInfo(cl_device_id device, cl_device_info name, size_t size, void *value,
                       size_t *wrote)
{
    cl_int (*real)(cl_device_id, cl_device_info, size_t, void *, size_t *);
    *(void **)&real = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    const cl_int err = real(device, name, size, value, wrote);
    if (memory && (!only || device == only) && name == CL_DEVICE_GLOBAL_MEM_SIZE &&
        err == CL_SUCCESS && value)
        memcpy(value, &memory, sizeof memory);
    return err;
}

/* Create a tree engine on a device that reports `bytes` of memory; leaves adapt to the memory. */
static nbody *tree_with(size_t bytes)
{
    static const double first[64] = {1};
    static double many_mass[MANY], many_pos[MANY][3], many_vel[MANY][3];
    works(nbody_initial(NBODY_PLUMMER, MANY, 1, many_mass, many_pos, many_vel));
    memory = bytes * MANY;
    nbody *nb =
        nbody_create(&(struct nbody_options){.ctx = stddev,
                                             .dt = 1. / 256,
                                             .method = NBODY_TREE,
                                             .shape = "leaf=0",
                                             .shares = first},
                     MANY, many_mass, (const double(*)[3])many_pos, (const double(*)[3])many_vel);
    memory = 0;
    return nb;
}

/* Leaves are larger if memory is short. If it is too short, a message says how many bodies fit, and
 * how many devices hold all. */
static void tree_adapts_to_little_memory(void **state)
{
    size_t fit, with_small, devices, percent = 0;
    (void)state;
    nbody *nb = tree_with(10000);
    ready(nb);
    assert_int_equal(nb->device[0].force.tree->leaf, TREE_LEAF);
    const size_t usual = nbody_device_bytes(nb) / MANY;
    nbody_free(nb);
    do /* drivers round blocks up, and sizes independent of the bodies are not counted there */
        nb = tree_with(usual * (99 - percent++) / 100);
    while (nb && nb->device[0].force.tree->leaf == TREE_LEAF && (nbody_free(nb), percent < 99));
    ready(nb);
    assert_int_equal(nb->device[0].force.tree->leaf, TREE_LARGE_LEAF);
    nbody_free(nb);
    assert_null(tree_with(20));
    assert_int_equal(clerrno, ENOMEM);
    const char *part = strstr(clerror(), "about ");
    assert_non_null(part);
    assert_int_equal(sscanf(part,
                            "about %zu bodies fit on 1 of these devices, or %zu with leaves of 16 "
                            "bodies, not 32; %zu devices hold all",
                            &fit, &with_small, &devices),
                     3);
    assert_true(with_small < fit && fit < MANY && fit > MANY / 20);
    assert_true(devices * fit > MANY && devices * fit < 2 * MANY);
}

/* Fail unless two steps of the tree, with the bodies divided differently over the devices, end at
 * equal positions: equal bits on devices of one model. Unlike devices round differently. A step
 * then changes a coordinate by up to 2^-24 of it, and an acceleration (here at most 33) by up to
 * the tree's accuracy, 1e-3: a body moves by 1e-3 * 33 * (2 / 256)^2 / 2 = 1e-6. Without the forces
 * of a domain typical accelerations, about 1, would be wrong by tenths: a body would move by 1e-5.
 */
static void check_equal_positions(size_t n, double (*a)[3], double (*b)[3])
{
    if (devices_are_alike())
        assert_memory_equal(a, b, n * sizeof *a);
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            assert_true(fabs(a[i][c] - b[i][c]) < 1e-6 * (1 + fabs(a[i][c])));
}

/* A device with little memory gets fewer bodies than its share, and the other device the remainder.
 * Positions after two steps are equal. */
static void tree_share_is_bounded_by_memory(void **state)
{
    enum { LARGE = 4 * MANY };
    static const double shares[2] = {1, 9};
    static double many_mass[LARGE], many_pos[LARGE][3], many_vel[LARGE][3], end[2][LARGE][3];
    const size_t bytes = 160; /* that a device is expected to need per body */
    (void)state;
    if (clgetndev(stddev) != 2)
        skip();
    works(nbody_initial(NBODY_PLUMMER, LARGE, 1, many_mass, many_pos, many_vel));
    for (int little = 0; little < 2; little++) {
        memory = little ? (cl_ulong)(0.85 * LARGE * (double)bytes) : 0;
        only = clgetdevice(stddev, 1);
        nbody *nb = nbody_create(
            &(struct nbody_options){
                .ctx = stddev, .dt = 1. / 256, .method = NBODY_TREE, .shares = shares},
            LARGE, many_mass, (const double(*)[3])many_pos, (const double(*)[3])many_vel);
        memory = 0;
        ready(nb);
        const size_t has = nbody_device_bodies(nb, 1);
        assert_int_equal(nbody_device_bodies(nb, 0) + has, LARGE);
        assert_true(little ? has < 0.86 * LARGE && has > 0.8 * LARGE : has > 0.88 * LARGE);
        works(nbody_step(nb, 2));
        works(nbody_state(nb, end[little], NULL));
        nbody_free(nb);
    }
    check_equal_positions(LARGE, end[0], end[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nbody_failed_launch_is_reported),
                                       cmocka_unit_test(tree_adapts_to_little_memory),
                                       cmocka_unit_test(tree_share_is_bounded_by_memory)};
    return cmocka_run_group_tests_name("nbody failure", tests, NULL, NULL);
}
