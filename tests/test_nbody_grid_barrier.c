/* Launches of many steps: work-groups synchronise after each step by a grid barrier: bits
 * equal to one launch per step, and errors if groups time out.
 *
 * A device with few compute units runs this number of groups at once. With more groups a
 * CPU rejects the shape, and each step is a launch.
 * SPDX-License-Identifier: MIT
 */
#include "builds_once.h"
#include "files.h"

#include "core/grid_barrier.h"
#include "nbody/engine.h"

#include <math.h>

enum { MOST = 1024, STEPS = 5 };
static double mass[MOST], pos[MOST][3], vel[MOST][3];
static unsigned units;
static CLCONTEXT *ctx;

typedef const double (*rows)[3];

static int open_barrier_device(void **state)
{
    struct cldev_info info[64];
    const cl_device_id id = stddev ? clgetdevice(stddev, 0) : NULL;
    if (setenv("STDCL_SLICE", "1000", 1) != 0) /* no burst is cut, however slow the machine */
        return -1;
    if (!id || clgetdevinfo(stddev, info) != 0 || !(ctx = clcontext_create_from(&id, 1)))
        return setup_done(false);
    units = info[0].dev_max_core;
    return files_create(state) == 0 ? setenv("XDG_CACHE_HOME", in_folder(""), 1)
                                    : -1; /* rows of its own */
}

static int close_barrier_device(void **state)
{
    clcontext_destroy(ctx);
    return files_remove(state);
}

/* A shape with 64 bodies per group. */
static const char *const shapes[] = {
    "group=1 width=4 items=16 tile=16 local=0 block=128 rsqrt=0 groups_per_unit=1 group_1d=8",
    "group=64 j_split=4 width=1 items=4 tile=16 local=1 prefetch=1 block=128 rsqrt=0 groups_per_unit=1 group_1d=8",
};
enum { ROWS = 64 };

static nbody *barrier_engine(const char *shape, size_t meet, size_t n, struct nbody_options o)
{
    char words[256];
    snprintf(words, sizeof words, "%s fused_groups=%zu", shape, meet);
    o.ctx = ctx;
    o.eps = 0.02;
    o.dt = o.dt ? o.dt : 1. / 64;
    o.shape = words;
    works(nbody_initial(NBODY_PLUMMER, n, 3, mass, pos, vel));
    nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
    ready(nb);
    return nb;
}

struct answers {
    double pos[MOST][3], vel[MOST][3], acc[MOST][3];
    struct nbody_diagnostics d;
};

static void ask_state(nbody *nb, struct answers *a)
{
    memset(a, 0, sizeof *a);
    works(nbody_state(nb, a->pos, a->vel));
    works(nbody_forces(nb, a->acc, NULL));
    works(nbody_diagnose(nb, &a->d));
}

/* Return the number of launches of a kernel. */
static size_t count_launches_of(const char *kernel)
{
    struct clprofile_row line[32];
    const size_t count = clprofile_rows(ctx, line, 32);
    size_t all = 0;
    for (size_t r = 0; r < count && r < 32; r++)
        if (strcmp(line[r].name, kernel) == 0)
            all += line[r].count;
    return all;
}

/* Compare calls of several steps, and the number of multi-step launches they should make, with
 * batches of given length. */
static void check_barrier_bits(const char *shape, size_t groups, struct nbody_options o,
                               size_t call, size_t expected)
{
    static struct answers right, found;
    const size_t n = ROWS * groups - 3;
    nbody *one = barrier_engine(shape, 0, n, o), *many = barrier_engine(shape, groups, n, o);
    works(clprofile(ctx, 1));
    works(clprofile_reset(ctx));
    for (size_t s = 0; s < STEPS; s += call) {
        works(nbody_step(one, call < STEPS - s ? call : STEPS - s));
        works(nbody_step(many, call < STEPS - s ? call : STEPS - s));
    }
    assert_int_equal(count_launches_of("forces_steps"), expected);
    works(clprofile(ctx, 0));
    ask_state(one, &right);
    ask_state(many, &found);
    assert_memory_equal(&right, &found, sizeof right);
    assert_true(nbody_time(one) == nbody_time(many));
    nbody_free(one);
    nbody_free(many);
}

/* A number of groups that certainly run at once. Few, since a spinning thread keeps others from
 * running on busy processors. */
static size_t few_groups(void)
{
    return units < 2 ? units : 2;
}

/* Drivers without acquire and release across work-groups, such as rusticl on llvmpipe, make
 * every step by a launch. */
static void skip_unless_grid_barrier(void)
{
    struct cldev_info info[64];
    works(clgetdevinfo(ctx, info));
    if (!grid_barrier_options(ctx, 0, &info[0])) {
        print_message("the device does not order memory between work-groups\n");
        skip();
    }
}

static void grid_barrier_steps_give_equal_bits(void **state)
{
    (void)state;
    skip_unless_grid_barrier();
    if (units <= 4) /* if four groups of single items are enough for a group to have all sums */
        check_barrier_bits(shapes[0], units, (struct nbody_options){0}, STEPS, 1);
    check_barrier_bits(shapes[1], few_groups(), (struct nbody_options){0}, STEPS, 1);
    check_barrier_bits(shapes[1], few_groups(), (struct nbody_options){0}, 2, 2); /* 2, 2 and 1 */
    check_barrier_bits(shapes[1], few_groups(), (struct nbody_options){.burst = 3}, STEPS, 2);
    check_barrier_bits(shapes[1], few_groups(), (struct nbody_options){.burst = 1}, STEPS, 0);
    check_barrier_bits(shapes[1], few_groups(), (struct nbody_options){.precision = NBODY_MIXED},
                       STEPS, 1);
}

/* More groups than a CPU has threads time out at the barrier, which the start-up trial detects. */
static void grid_barrier_rejects_too_many_groups(void **state)
{
    (void)state;
    if (units > 8)
        return;
    check_barrier_bits(shapes[1], MOST / ROWS, (struct nbody_options){0}, STEPS, 0);
}

/* The error names the number of the step with non-finite results. */
static void grid_barrier_overflow_names_step(void **state)
{
    char text[2][256];
    (void)state;
    for (int meet = 0; meet < 2; meet++) {
        nbody *nb =
            barrier_engine(shapes[1], (size_t)meet, ROWS, (struct nbody_options){.dt = 1e38});
        fails(EDOM, nbody_step(nb, 100));
        snprintf(text[meet], sizeof text[meet], "%s", clerror());
        nbody_free(nb);
    }
    assert_string_equal(text[0], text[1]);
}

/* A group that times out in a launch that moves bodies is an error; there is no result. */
static void grid_barrier_timeout_is_an_error(void **state)
{
    (void)state;
    skip_unless_grid_barrier();
    nbody *nb =
        barrier_engine(shapes[1], few_groups(), ROWS * few_groups(), (struct nbody_options){0});
    assert_non_null(nb->device[0].force.multi_step_kernel);
    if (few_groups() > 1) {
        nb->device[0].max_polls = 0;
        for (int tries = 0; tries < 100 && nbody_step(nb, 200) == 0; tries++)
            ;
        assert_int_equal(clerrno, EIO);
        assert_non_null(strstr(clerror(), "timed out waiting"));
    }
    nbody_free(nb);
}

/* If the groups of a multi-step entry fail the trial, the single-step entry is used. */
static void grid_barrier_failure_falls_back(void **state)
{
    char words[256];
    (void)state;
    if (units > 8)
        return;
    snprintf(words, sizeof words, "%s fused_groups=%d", shapes[1], MOST / ROWS);
    works(cltune_store(ctx, 0, "nbody.many.single", MOST, words, 1, "items/s"));
    works(nbody_initial(NBODY_PLUMMER, MOST, 3, mass, pos, vel));
    nbody *nb = nbody_create(&(struct nbody_options){.ctx = ctx, .dt = 1. / 64}, MOST, mass,
                             (rows)pos, (rows)vel);
    ready(nb);
    assert_null(nb->device[0].force.multi_step_kernel);
    contains(nb->device[0].tuning.source, "nbody.direct.single");
    works(nbody_step(nb, 2));
    nbody_free(nb);
}

/* A row for launches of many steps is taken where the engine makes such, and one of fused_groups=0
 * is none. */
static void grid_barrier_uses_multi_step_entry(void **state)
{
    const struct {
        struct nbody_options o;
        bool taken;
    } each[] = {{{0}, true}, {{.integrator = NBODY_YOSHIDA4}, false}};
    const size_t n = ROWS * few_groups();
    char words[256];
    (void)state;
    skip_unless_grid_barrier();
    for (size_t meet = 0; meet <= few_groups(); meet += few_groups()) {
        snprintf(words, sizeof words, "%s fused_groups=%zu", shapes[1], meet);
        works(cltune_store(ctx, 0, "nbody.many.single", n, words, 1, "items/s"));
        for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
            struct nbody_options o = each[k].o;
            o.ctx = ctx;
            o.dt = 1. / 64;
            works(nbody_initial(NBODY_PLUMMER, n, 3, mass, pos, vel));
            nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
            ready(nb);
            assert_int_equal(nb->device[0].force.multi_step_kernel != NULL,
                             meet > 0 && each[k].taken);
            nbody_free(nb);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(grid_barrier_steps_give_equal_bits),
                                       cmocka_unit_test(grid_barrier_rejects_too_many_groups),
                                       cmocka_unit_test(grid_barrier_overflow_names_step),
                                       cmocka_unit_test(grid_barrier_timeout_is_an_error),
                                       cmocka_unit_test(grid_barrier_uses_multi_step_entry),
                                       cmocka_unit_test(grid_barrier_failure_falls_back)};
    return cmocka_run_group_tests(tests, open_barrier_device, close_barrier_device);
}
