/* Launches of many steps, whose work-groups meet after each: the same bits as a launch for each
 * step, and errors where groups wait in vain.
 *
 * There are as many groups as a device with few compute units has of them at work at once; with
 * more groups a CPU refuses, and steps are launches.
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

static int open_device(void **state)
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

static int close_device(void **state)
{
    clcontext_destroy(ctx);
    return files_remove(state);
}

/* A shape whose groups have 64 rows. */
static const char *const shapes[] = {
    "group=1 width=4 items=16 tile=16 local=0 block=128 rsqrt=0 fill=1 flat=8",
    "group=64 deep=4 width=1 items=4 tile=16 local=1 ahead=1 block=128 rsqrt=0 fill=1 flat=8",
};
enum { ROWS = 64 };

static nbody *engine(const char *shape, size_t meet, size_t n, struct nbody_options o)
{
    char words[256];
    snprintf(words, sizeof words, "%s meet=%zu", shape, meet);
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

static void ask(nbody *nb, struct answers *a)
{
    memset(a, 0, sizeof *a);
    works(nbody_state(nb, a->pos, a->vel));
    works(nbody_forces(nb, a->acc, NULL));
    works(nbody_diagnose(nb, &a->d));
}

/* How many launches of a kernel there were. */
static size_t launches(const char *kernel)
{
    struct clprofile_row line[32];
    const size_t count = clprofile_rows(ctx, line, 32);
    size_t all = 0;
    for (size_t r = 0; r < count && r < 32; r++)
        if (strcmp(line[r].name, kernel) == 0)
            all += line[r].count;
    return all;
}

/* Steps in calls of some; and the launches of many steps that these should be, with bursts of so
 * many. */
static void same(const char *shape, size_t groups, struct nbody_options o, size_t call,
                 size_t expected)
{
    static struct answers right, found;
    const size_t n = ROWS * groups - 3;
    nbody *one = engine(shape, 0, n, o), *many = engine(shape, groups, n, o);
    works(clprofile(ctx, 1));
    works(clprofile_reset(ctx));
    for (size_t s = 0; s < STEPS; s += call) {
        works(nbody_step(one, call < STEPS - s ? call : STEPS - s));
        works(nbody_step(many, call < STEPS - s ? call : STEPS - s));
    }
    assert_int_equal(launches("forces_steps"), expected);
    works(clprofile(ctx, 0));
    ask(one, &right);
    ask(many, &found);
    assert_memory_equal(&right, &found, sizeof right);
    assert_true(nbody_time(one) == nbody_time(many));
    nbody_free(one);
    nbody_free(many);
}

/* So many groups as there surely are at work at once, and few, as a thread that spins keeps others
 * from working where processors are busy. */
static size_t few(void)
{
    return units < 2 ? units : 2;
}

/* Drivers without acquire and release across work-groups, such as rusticl on llvmpipe, make every
 * step by a launch. */
static void skip_unless_groups_meet(void)
{
    struct cldev_info info[64];
    works(clgetdevinfo(ctx, info));
    if (!grid_barrier_options(ctx, 0, &info[0])) {
        print_message("the device does not order memory between work-groups\n");
        skip();
    }
}

static void bits(void **state)
{
    (void)state;
    skip_unless_groups_meet();
    if (units <= 4) /* where four groups of single items are enough for a group to have all sums */
        same(shapes[0], units, (struct nbody_options){0}, STEPS, 1);
    same(shapes[1], few(), (struct nbody_options){0}, STEPS, 1);
    same(shapes[1], few(), (struct nbody_options){0}, 2, 2); /* 2, 2 and 1 */
    same(shapes[1], few(), (struct nbody_options){.burst = 3}, STEPS, 2);
    same(shapes[1], few(), (struct nbody_options){.burst = 1}, STEPS, 0);
    same(shapes[1], few(), (struct nbody_options){.precision = NBODY_MIXED}, STEPS, 1);
}

/* More groups than a CPU has threads wait for each other in vain, which the trial finds. */
static void refused(void **state)
{
    (void)state;
    if (units > 8)
        return;
    same(shapes[1], MOST / ROWS, (struct nbody_options){0}, STEPS, 0);
}

/* The step in which numbers are no longer finite is told by its number. */
static void overflow(void **state)
{
    char text[2][256];
    (void)state;
    for (int meet = 0; meet < 2; meet++) {
        nbody *nb = engine(shapes[1], (size_t)meet, ROWS, (struct nbody_options){.dt = 1e38});
        fails(EDOM, nbody_step(nb, 100));
        snprintf(text[meet], sizeof text[meet], "%s", clerror());
        nbody_free(nb);
    }
    assert_string_equal(text[0], text[1]);
}

/* A group that waits in vain in a launch that moves bodies: an error, and no result. */
static void in_vain(void **state)
{
    (void)state;
    skip_unless_groups_meet();
    nbody *nb = engine(shapes[1], few(), ROWS * few(), (struct nbody_options){0});
    assert_non_null(nb->device[0].steps);
    if (few() > 1) {
        nb->device[0].patience = 0;
        for (int tries = 0; tries < 100 && nbody_step(nb, 200) == 0; tries++)
            ;
        assert_int_equal(clerrno, EIO);
        assert_non_null(strstr(clerror(), "waited in vain"));
    }
    nbody_free(nb);
}

/* Where groups of such a row do not meet, the row of the sum is taken. */
static void refused_row(void **state)
{
    char words[256];
    (void)state;
    if (units > 8)
        return;
    snprintf(words, sizeof words, "%s meet=%d", shapes[1], MOST / ROWS);
    works(cltune_store(ctx, 0, "nbody.many.single", MOST, words, 1, "items/s"));
    works(nbody_initial(NBODY_PLUMMER, MOST, 3, mass, pos, vel));
    nbody *nb = nbody_create(&(struct nbody_options){.ctx = ctx, .dt = 1. / 64}, MOST, mass,
                             (rows)pos, (rows)vel);
    ready(nb);
    assert_null(nb->device[0].steps);
    contains(nb->device[0].row.source, "nbody.direct.single");
    works(nbody_step(nb, 2));
    nbody_free(nb);
}

/* A row for launches of many steps is taken where the engine makes such, and one of meet=0 is
 * none. */
static void row(void **state)
{
    const struct {
        struct nbody_options o;
        bool taken;
    } each[] = {{{0}, true}, {{.integrator = NBODY_YOSHIDA4}, false}};
    const size_t n = ROWS * few();
    char words[256];
    (void)state;
    skip_unless_groups_meet();
    for (size_t meet = 0; meet <= few(); meet += few()) {
        snprintf(words, sizeof words, "%s meet=%zu", shapes[1], meet);
        works(cltune_store(ctx, 0, "nbody.many.single", n, words, 1, "items/s"));
        for (size_t k = 0; k < sizeof each / sizeof *each; k++) {
            struct nbody_options o = each[k].o;
            o.ctx = ctx;
            o.dt = 1. / 64;
            works(nbody_initial(NBODY_PLUMMER, n, 3, mass, pos, vel));
            nbody *nb = nbody_create(&o, n, mass, (rows)pos, (rows)vel);
            ready(nb);
            assert_int_equal(nb->device[0].steps != NULL, meet > 0 && each[k].taken);
            nbody_free(nb);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits),     cmocka_unit_test(refused),
                                       cmocka_unit_test(overflow), cmocka_unit_test(in_vain),
                                       cmocka_unit_test(row),      cmocka_unit_test(refused_row)};
    return cmocka_run_group_tests(tests, open_device, close_device);
}
