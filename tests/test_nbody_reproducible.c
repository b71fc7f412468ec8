/* Bitwise reproducible direct sums: on one, two and three devices, with any number of
 * work-groups, batches of any length, queries in between, and repeated.
 *
 * Each run is compared with a run on one device in which every group sums over all bodies. On
 * one device, and again on two (test_nbody_reproducible_on_two).
 * SPDX-License-Identifier: MIT
 */
#include "builds_once.h"
#include "check.h"
#include "deep.h"

#include "core/args.h"
#include "stdcl/nbody.h"

enum { MOST = 1800, STEPS = 5 };
static double mass[MOST], pos[MOST][3], vel[MOST][3];

/* All results of an engine after some steps. */
struct answers {
    double pos[MOST][3], vel[MOST][3], acc[MOST][3], phi[MOST];
    struct nbody_diagnostics d;
};
static struct answers right, found;
static const char *more = ""; /* words of all shapes */

typedef const double (*rows)[3];

/* Configuration of a run. */
struct run {
    const char *shape;
    unsigned devices;
    const double *shares;
    size_t burst;
    bool asked;
};

enum { DEVICES = 3 };
static CLCONTEXT *devices[DEVICES + 1]; /* [n]: n devices of one model, some of them repeated */

static int open_bits_devices(void **state)
{
    cl_device_id id[DEVICES];
    cl_uint like[64], count = 0;
    struct cldev_info info[64];
    (void)state;
    if (setenv("STDCL_SLICE", "1000", 1) !=
        0) /* on slow machines, too, no sum is cut, and steps are one launch */
        return -1;
    if (!stddev || clgetndev(stddev) > 64 || clgetdevinfo(stddev, info) != 0)
        return setup_done(false);
    for (cl_uint d = 0; d < clgetndev(stddev); d++)
        if (strcmp(info[d].dev_name, info[0].dev_name) == 0)
            like[count++] = d;
    for (unsigned d = 0; d < DEVICES; d++)
        id[d] = clgetdevice(stddev, like[d % count]);
    for (unsigned n = 1; n <= DEVICES; n++)
        if (!(devices[n] = clcontext_create_from(id, n)))
            return setup_done(false);
    return 0;
}

static int close_bits_devices(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= DEVICES; n++)
        clcontext_destroy(devices[n]);
    return 0;
}

static void bits_answer(struct nbody_options o, size_t n, const struct run *r, struct answers *a)
{
    struct nbody_diagnostics d;
    char shape[256];
    snprintf(shape, sizeof shape, "%s%s", r->shape, more);
    o.ctx = devices[r->devices];
    o.eps = 0.02;
    o.dt = 1. / 64;
    o.shape = shape;
    o.shares = r->shares;
    o.burst = r->burst;
    builds_unoptimised = o.precision == NBODY_DOUBLE || o.integrator != NBODY_LEAPFROG;
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    for (int s = 0; s < STEPS; s += r->asked ? 1 : STEPS) {
        if (r->asked)
            works(nbody_diagnose(nb, &d));
        works(nbody_step(nb, r->asked ? 1 : STEPS));
        if (r->asked)
            works(nbody_forces(nb, a->acc, NULL));
    }
    works(nbody_state(nb, a->pos, a->vel));
    works(nbody_forces(nb, a->acc, a->phi));
    works(nbody_diagnose(nb, &a->d));
    nbody_free(nb);
}

static void make_bits_bodies(size_t n, bool equal)
{
    works(nbody_initial(NBODY_PLUMMER, n, 3, mass, pos, vel));
    for (size_t i = 0; i < n && !equal; i++)
        mass[i] *= 1 + 0.3 * (double)(i % 4);
}

static void compare_bits(size_t n, const struct nbody_options *o, const struct run *r)
{
    const struct {
        const char *name;
        const void *right, *found;
        size_t bytes;
    } each[] = {{"accelerations", right.acc, found.acc, n * sizeof *right.acc},
                {"potentials", right.phi, found.phi, n * sizeof *right.phi},
                {"positions", right.pos, found.pos, n * sizeof *right.pos},
                {"velocities", right.vel, found.vel, n * sizeof *right.vel},
                {"energies", &right.d, &found.d, sizeof right.d}};
    int differ = 0;
    for (size_t k = 0; k < COUNT_OF(each); k++)
        if (memcmp(each[k].right, each[k].found, each[k].bytes) != 0) {
            print_error("%s differ: %zu bodies, %s, precision %d, %u devices, burst %zu, %s\n",
                        each[k].name, n, nbody_integrator_describe(o->integrator)->name,
                        (int)o->precision, r->devices, r->burst, r->shape);
            differ++;
        }
    assert_int_equal(differ, 0);
}

/* Only `block` (order of the sums) and `rsqrt` (method of roots) determine bits; all other keys
 * may differ, `tile` up to 128. */
#define SUMS " block=128 rsqrt=0"
static const double unequal[] = {3, 1, 2}, mostly[] = {1, 20, 1};
#define PLAIN "group=1 width=4 items=4 tile=16 local=0"
static const struct run runs[] = {
    {PLAIN " groups_per_unit=1000 group_1d=8" SUMS, 1, NULL, 0,
     true}, /* a slot for each stretch; in those with groups_per_unit=1, one for all */
    {PLAIN " groups_per_unit=1" SUMS, 3, mostly, 0, true},
    {PLAIN " groups_per_unit=1000" SUMS, 3, unequal, 2, false},
    {PLAIN " groups_per_unit=1000" SUMS, 2, NULL, 0, false},
    {"group=1 width=1 items=3 tile=128 local=0 groups_per_unit=1" SUMS, 1, NULL, 2, false},
    {"group=16 width=1 items=2 tile=32 local=1 prefetch=1 groups_per_unit=1000 unroll=4" SUMS, 1,
     NULL, 1, false},
    {"group=128 width=1 items=4 tile=128 local=1 groups_per_unit=1000 unroll=32" SUMS, 1, NULL, 0,
     true}, /* a long kernel, which stays inline */
    {"group=16 j_split=4 width=1 items=4 tile=16 local=1 prefetch=1" SUMS, 1, NULL, 3,
     true}, /* 7 stretches: two rounds, one not full */
};

static void check_same_bits_in_runs(struct nbody_options o, size_t n, size_t count)
{
    const struct run plain = {PLAIN " groups_per_unit=1" SUMS, 1, NULL, 0, false};
    bits_answer(o, n, &plain, &right);
    bits_answer(o, n, &plain, &found);
    compare_bits(n, &o, &plain);
    for (size_t r = 0; r < count; r++) {
        if (r > 1 && !sampled(r, 3))
            continue;
        bits_answer(o, n, &runs[r], &found);
        compare_bits(n, &o, &runs[r]);
    }
}

static void nbody_single_bits_are_reproducible(void **state)
{
    (void)state;
    make_bits_bodies(MOST, false);
    check_same_bits_in_runs((struct nbody_options){0}, MOST, COUNT_OF(runs));
    make_bits_bodies(1000, true); /* unequal masses, multiplied last */
    check_same_bits_in_runs((struct nbody_options){0}, 1000, 1);
}

/* If groups have the complete sums of their bodies, each step but the first is one launch, and
 * otherwise two. test_nbody_grid_barrier covers multi-step launches. */
static void nbody_step_takes_one_launch(void **state)
{
    static const struct {
        const char *shape, *kernel;
    } each[] = {
        {PLAIN " groups_per_unit=1 j_split=3" SUMS,
         "forces_step"}, /* deep does not divide the group, and is 1 */
        {"group=16 j_split=4 width=1 items=4 tile=16 local=1 prefetch=1 fused_groups=0" SUMS,
         "forces_step"},
        {PLAIN " groups_per_unit=1000" SUMS, "leapfrog"}};
    struct cldev_info info[16];
    (void)state;
    works(clgetdevinfo(devices[1], info));
    make_bits_bodies(MOST, false);
    for (size_t k = 0; k < COUNT_OF(each); k++) {
        struct clprofile_row line[16];
        size_t steps = 0;
        nbody *nb = nbody_create(
            &(struct nbody_options){
                .ctx = devices[1], .dt = 1. / 64, .eps = 0.02, .shape = each[k].shape},
            MOST, mass, (const double(*)[3])pos, (const double(*)[3])vel);
        ready(nb);
        if (k == 0 &&
            info[0].dev_max_core >
                MOST / 16) { /* these groups do not fill the device, so that it is as with k 2 */
            nbody_free(nb);
            continue;
        }
        works(nbody_step(nb, 1)); /* and the first sum */
        works(clprofile(devices[1], 1));
        works(clprofile_reset(devices[1]));
        works(nbody_step(nb, STEPS));
        const size_t count = clprofile_rows(devices[1], line, COUNT_OF(line));
        for (size_t r = 0; r < count && r < COUNT_OF(line); r++)
            if (strcmp(line[r].name, each[k].kernel) == 0)
                steps += line[r].count;
        works(clprofile(devices[1], 0));
        assert_int_equal(steps, STEPS + (k == 2)); /* leapfrog also begins the burst */
        nbody_free(nb);
    }
}

static void nbody_hermite_bits_are_reproducible(void **state)
{
    (void)state;
    make_bits_bodies(MOST, false);
    if (deep_tests())
        check_same_bits_in_runs((struct nbody_options){.integrator = NBODY_HERMITE4}, MOST, 2);
    check_same_bits_in_runs((struct nbody_options){.integrator = NBODY_HERMITE6}, MOST, 3);
}

static void nbody_double_bits_are_reproducible(void **state)
{
    struct cldev_info info[16];
    (void)state;
    works(clgetdevinfo(stddev, info));
    if (!info[0].dev_pref_vec_double)
        skip();
    make_bits_bodies(1000, false);
    if (deep_tests())
        check_same_bits_in_runs((struct nbody_options){.precision = NBODY_DOUBLE}, 1000, 2);
    check_same_bits_in_runs((struct nbody_options){.precision = NBODY_MIXED}, 1000, 2);
}

/* Bodies along a curve, in mixed precision: two spheres, so that there are near and far chunks. */
static void nbody_mixed_bits_are_reproducible(void **state)
{
    struct cldev_info info[16];
    (void)state;
    works(clgetdevinfo(stddev, info));
    if (!info[0].dev_pref_vec_double)
        skip();
    make_bits_bodies(MOST, false);
    for (size_t i = 0; i < MOST; i += 2)
        pos[i][i / 2 % 3] += 30;
    more = " cluster_min=256";
    check_same_bits_in_runs((struct nbody_options){.precision = NBODY_MIXED}, MOST, COUNT_OF(runs));
    more = "";
}

/* test_nbody_reproducible [several]: run only the tests that depend on several devices. */
int main(int argc, char **argv)
{
    const struct CMUnitTest several[] = {cmocka_unit_test(nbody_single_bits_are_reproducible),
                                         cmocka_unit_test(nbody_hermite_bits_are_reproducible),
                                         cmocka_unit_test(nbody_mixed_bits_are_reproducible)};
    const struct CMUnitTest tests[] = {cmocka_unit_test(nbody_single_bits_are_reproducible),
                                       cmocka_unit_test(nbody_step_takes_one_launch),
                                       cmocka_unit_test(nbody_hermite_bits_are_reproducible),
                                       cmocka_unit_test(nbody_double_bits_are_reproducible),
                                       cmocka_unit_test(nbody_mixed_bits_are_reproducible)};
    if (argc > 1 && strcmp(argv[1], "several") == 0)
        return cmocka_run_group_tests(several, open_bits_devices, close_bits_devices);
    return cmocka_run_group_tests(tests, open_bits_devices, close_bits_devices);
}
