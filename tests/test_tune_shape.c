/* test_tune_shape.c - shapes: parsing, choice of the entry, invalid entries in engines, and the
 * timer of measurements.
 * SPDX-License-Identifier: MIT
 */
#include "files.h"

#include <stddef.h>
#include <stdcl/arrays.h>
#include <stdcl/gas.h>
#include <stdcl/life.h>
#include <stdcl/matmul.h>
#include <stdcl/nbody.h>

struct shape {
    int guard, group, width, depth, guard_behind;
};
enum { WIDE = 1, DEEP = 2 };
static const struct cltune_key keys[] = {
    {"group", offsetof(struct shape, group), 1, 64, 8, 0},
    {"width", offsetof(struct shape, width), -2, 16, 1, WIDE},
    {"depth", offsetof(struct shape, depth), 0, 1 << 20, 3, DEEP},
    {0}};

/* Give each test a cache folder of its own. */
static int use_empty_cache(void **unused)
{
    static int number;
    char folder[64];
    (void)unused;
    snprintf(folder, sizeof folder, "cache%d", number++);
    clerrno = 0;
    clerror();
    return setenv("XDG_CACHE_HOME", in_folder(folder), 1) | mkdir(in_folder(folder), 0755);
}

static int choose_entry(const struct cltune_rules *rules, const char *words, struct shape *shape,
                        struct cltune_row *row)
{
    *shape = (struct shape){.guard = -77, .guard_behind = -77};
    const int status = cltune_choose(rules, stddev, 0, "made.up", 1000, words, shape, row);
    assert_int_equal(shape->guard, -77);
    assert_int_equal(shape->guard_behind, -77);
    return status;
}

/* ---- Words. ---------------------------------------------------------------------------------- */

static void shape_words_are_parsed(void **unused)
{
    (void)unused;
    static const struct {
        const char *words;
        int group, width, depth;
    } rows[] = {{NULL, 8, 1, 3},
                {"", 8, 1, 3},
                {" \t ", 8, 1, 3},
                {"group=64", 64, 1, 3},
                {"  group=1\twidth=16  depth=1048576 ", 1, 16, 1 << 20},
                {"width=-2 width=4", 8, 4, 3},
                {"depth=0 depth=+7 group=007", 7, 1, 7}};
    const struct cltune_rules rules = {.name = "made", .keys = keys};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct shape s;
        struct cltune_row row;
        char line[64];
        works(choose_entry(&rules, rows[i].words, &s, &row));
        assert_true(s.group == rows[i].group && s.width == rows[i].width &&
                    s.depth == rows[i].depth);
        snprintf(line, sizeof line, "group=%d width=%d depth=%d", s.group, s.width, s.depth);
        assert_string_equal(row.shape, line);
    }
}

static void shape_bad_words_are_rejected(void **unused)
{
    (void)unused;
    static const char *const rows[][2] = {
        {"grope=3",
         "made: shape: \"grope=3\" is not KEY=NUMBER with one of the keys group width depth"},
        {"group", "\"group\" is not KEY=NUMBER"},
        {"grou=1", "\"grou=1\" is not KEY=NUMBER"},
        {"groups=1", "\"groups=1\" is not KEY=NUMBER"},
        {"=1", "\"=1\" is not KEY=NUMBER"},
        {"width=3 , depth=3", "\",\" is not KEY=NUMBER"},
        {"group=", "made: shape: \"group=\": the number must be 1 to 64"},
        {"group= 3", "\"group=\": the number must be 1 to 64"},
        {"group=0", "\"group=0\": the number must be 1 to 64"},
        {"depth=1 group=65 width=1", "\"group=65\": the number must be 1 to 64"},
        {"width=-3", "\"width=-3\": the number must be -2 to 16"},
        {"group=4x", "\"group=4x\": the number"},
        {"group=4.0", "\"group=4.0\": the number"},
        {"group=99999999999999999999", "\"group=99999999999999999999\": the number"},
    };
    const struct cltune_rules rules = {.name = "made", .keys = keys};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct shape s;
        struct cltune_row row;
        fails(EINVAL, choose_entry(&rules, rows[i][0], &s, &row));
        assert_int_equal(choose_entry(&rules, rows[i][0], &s, &row), -1);
        contains(clerror(), rows[i][1]);
    }
}

static void shape_prints_own_keys_only(void **unused)
{
    (void)unused;
    struct cltune_rules rules = {.name = "made", .keys = keys, .kind = WIDE};
    const struct shape s = {.group = 1, .width = 2, .depth = 3};
    char text[64], small[8];
    cltune_print(&rules, &s, text, sizeof text);
    assert_string_equal(text, "group=1 width=2");
    rules.kind = DEEP;
    cltune_print(&rules, &s, text, sizeof text);
    assert_string_equal(text, "group=1 depth=3");
    cltune_print(&rules, &s, small, sizeof small);
    assert_string_equal(small, "group=1");
}

/* ---- The choice. ----------------------------------------------------------------------------- */

struct device {
    int most_group, asked[2]; /* how often `fit` was asked about the caller's, and a row's */
};

static void shape_defaults_apply(void *shape, void *device)
{
    (void)device;
    ((struct shape *)shape)->depth = 5;
}

static int shape_fits(void *shape, int stored, void *device)
{
    struct shape *s = shape;
    struct device *d = device;
    d->asked[stored]++;
    if (stored && s->width > 8)
        s->width = 8;
    return s->group <= d->most_group ? 0 : clerror_set(EDOM, "made: group=%d", s->group);
}

static void shape_later_word_wins(void **unused)
{
    (void)unused;
    struct device device = {.most_group = 32};
    const struct cltune_rules rules = {.name = "made",
                                       .keys = keys,
                                       .defaults = shape_defaults_apply,
                                       .fit = shape_fits,
                                       .arg = &device};
    struct shape s;
    struct cltune_row row;
    works(choose_entry(&rules, NULL, &s, &row));
    assert_string_equal(row.shape, "group=8 width=1 depth=5");
    contains(row.source, "no row");
    assert_int_equal(device.asked[1], 0); /* there is none */
    works(cltune_store(stddev, 0, "made.up", 1000, "group=16 width=9", 1, "items/s"));
    works(choose_entry(&rules, NULL, &s, &row));
    assert_string_equal(row.shape, "group=16 width=8 depth=5");
    contains(row.source, "measured on this device and driver");
    assert_int_equal(device.asked[1], 1);
    works(cltune_store(stddev, 0, "made.up", 1000, "weight=2 group=16 width=7", 1,
                       "items/s")); /* keys of the past */
    works(choose_entry(&rules, NULL, &s, &row));
    assert_string_equal(row.shape, "group=16 width=7 depth=5");
    works(cltune_store(stddev, 0, "made.up", 1000, "group=16 width=9", 1, "items/s"));
    works(choose_entry(&rules, "width=9 depth=1", &s, &row)); /* which is the caller's to say */
    assert_string_equal(row.shape, "group=16 width=9 depth=1");
    contains(row.source, "measured on this device and driver; then the caller's words");
    fails(EDOM, choose_entry(&rules, "group=33", &s, &row));
}

/* Entries rejected by their words, a range or `fit` leave no error, and keep an older one. */
static void shape_bad_entry_leaves_defaults(void **unused)
{
    (void)unused;
    static const char *const rows[] = {"group=65", "weight=2 group=0", "group=33 depth=9",
                                       "group=-1"};
    struct device device = {.most_group = 32};
    const struct cltune_rules rules = {.name = "made",
                                       .keys = keys,
                                       .defaults = shape_defaults_apply,
                                       .fit = shape_fits,
                                       .arg = &device};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct shape s;
        struct cltune_row row;
        works(cltune_store(stddev, 0, "made.up", 1000, rows[i], 1, "items/s"));
        clerrno = 0;
        works(choose_entry(&rules, "width=2", &s, &row));
        assert_string_equal(row.shape, "group=8 width=2 depth=5");
        assert_string_equal(
            row.source, "made.up: the stored row does not fit the device, a modest one; then the "
                        "caller's words");
        assert_int_equal(clerrno, 0);
        assert_null(clerror());
        clerror_set(ERANGE, "an older failure");
        works(choose_entry(&rules, NULL, &s, &row));
        assert_int_equal(clerrno, ERANGE);
        assert_string_equal(clerror(), "an older failure");
    }
}

static void shape_rejects_bad_arguments(void **unused)
{
    (void)unused;
    const struct cltune_rules rules = {.name = "made", .keys = keys}, nameless = {.keys = keys},
                              keyless = {.name = "made"},
                              grown = {.name = "made", .keys = keys, .reserved = {1}};
    struct shape s;
    struct cltune_row row;
    fails(EINVAL, cltune_choose(&grown, stddev, 0, "made.up", 1, NULL, &s, &row));
    fails(EINVAL, cltune_choose(NULL, stddev, 0, "made.up", 1, NULL, &s, &row));
    fails(EINVAL, cltune_choose(&nameless, stddev, 0, "made.up", 1, NULL, &s, &row));
    fails(EINVAL, cltune_choose(&keyless, stddev, 0, "made.up", 1, NULL, &s, &row));
    fails(EINVAL, cltune_choose(&rules, stddev, 0, "made.up", 1, NULL, NULL, &row));
    fails(EINVAL, cltune_choose(&rules, stddev, 0, "made.up", 1, NULL, &s, NULL));
    fails(EINVAL, cltune_choose(&rules, stddev, clgetndev(stddev), "made.up", 1, NULL, &s, &row));
}

/* ---- The engines. ---------------------------------------------------------------------------- */

static void shape_nbody_explains_choice(char text[512])
{
    static const double mass[2] = {1, 1}, rows[2][3] = {{1, 0, 0}, {-1, 0, 0}};
    nbody *nb = nbody_create(&(struct nbody_options){.ctx = stddev, .dt = 1}, 2, mass, rows, rows);
    ready(nb);
    snprintf(text, 512, "%s", nbody_explain(nb, 0));
    nbody_free(nb);
}

static void shape_life_explains_choice(char text[512])
{
    life *lf = life_create(&(struct life_options){.ctx = stddev, .width = 256, .height = 256});
    ready(lf);
    snprintf(text, 512, "%s", life_explain(lf, 0));
    life_free(lf);
}

static void shape_matmul_explains_choice(char text[512])
{
    matmul *mm = matmul_create(&(struct matmul_options){.ctx = stddev});
    ready(mm);
    snprintf(text, 512, "%s", matmul_explain(mm, 0, 320, 320, 320));
    matmul_free(mm);
}

static void shape_gas_explains_choice(char text[512])
{
    gas *g = gas_create(&(struct gas_options){.ctx = stddev, .n = 1000});
    ready(g);
    snprintf(text, 512, "%s", gas_explain(g, 0));
    gas_free(g);
}

static void shape_arrays_explains_choice(char text[512])
{
    arrays *a = arrays_create(&(struct arrays_options){.ctx = stddev, .type = ARRAYS_FLOAT});
    float *x = clmalloc(stddev, 400, CL_MEM_ZEROCOPY);
    double sum;
    ready(a);
    ready(x);
    works(arrays_upload(a, x, 100));
    works(arrays_sum(a, x, 100, &sum));
    snprintf(text, 512, "%s", arrays_explain(a, 0));
    clfree(x);
    arrays_free(a);
}

/* An entry of another program, or one that the device cannot run. */
static void shape_engines_skip_bad_entries(void **unused)
{
    (void)unused;
    struct cldev_info info[16];
    works(clgetdevinfo(stddev, info));
    const bool cpu = info[0].dev_type & CL_DEVICE_TYPE_CPU;
    const struct {
        const char *kernel, *shape;
        void (*explained)(char text[512]);
    } engine[] = {{"nbody.direct.single", "width=5", shape_nbody_explains_choice},
                  {cpu ? "life.rows" : "life.tile", "group=3", shape_life_explains_choice},
                  {cpu ? "matmul.panels.single" : "matmul.tiles.single", cpu ? "width=3" : "wm=33",
                   shape_matmul_explains_choice},
                  {"gas.fused", "group=3", shape_gas_explains_choice},
                  {"arrays.sum.single", "width=3", shape_arrays_explains_choice}};
    for (size_t e = 0; e < sizeof engine / sizeof *engine; e++) {
        char text[512];
        works(cltune_store(stddev, 0, engine[e].kernel, 1000, engine[e].shape, 1, "items/s"));
        clerrno = 0;
        engine[e].explained(text);
        contains(text, engine[e].kernel);
        contains(text, "the stored row does not fit");
        assert_int_equal(clerrno, 0);
        assert_null(clerror());
    }
}

static void shape_arrays_gets(char shape[256])
{
    double sum;
    arrays *a = arrays_create(&(struct arrays_options){.ctx = stddev, .type = ARRAYS_DOUBLE});
    double *x = clmalloc(stddev, 800, CL_MEM_ZEROCOPY);
    ready(a);
    ready(x);
    works(arrays_upload(a, x, 100));
    works(arrays_sum(a, x, 100, &sum));
    snprintf(shape, 256, "%s", arrays_shape(a, 0));
    contains(arrays_explain(a, 0), "shipped for");
    clfree(x);
    arrays_free(a);
}

/* In place of a bad entry comes the shipped one, not the kernel's defaults. */
static void shape_bad_entry_gives_way_to_shipped(void **unused)
{
    (void)unused;
    char shipped[256], after[256];
    if (!have_doubles(stddev))
        skip();
    shape_arrays_gets(shipped);
    works(cltune_store(stddev, 0, "arrays.sum.double", 1000, "width=3", 1, "items/s"));
    shape_arrays_gets(after);
    assert_string_equal(after, shipped);
}

/* Fail unless three bodies, of equal masses or not, get fill=`value`. */
static void gets(const char *value, bool equal)
{
    const double mass[3] = {1, 1, equal ? 1 : 2}, pos[3][3] = {{0}, {1}, {0, 1}}, vel[3][3] = {{0}};
    nbody *nb = nbody_create(&(struct nbody_options){.ctx = stddev, .dt = 1}, 3, mass, pos, vel);
    ready(nb);
    contains(nbody_shape(nb, 0), value);
    nbody_free(nb);
}

/* Equal masses have entries of their own, if there are any; the user's precede the shipped ones. */
static void shape_equal_masses_have_entries(void **unused)
{
    (void)unused;
    works(cltune_store(stddev, 0, "nbody.direct.single", 1000, "groups_per_unit=76", 1, "items/s"));
    gets("groups_per_unit=76", true);
    gets("groups_per_unit=76", false);
    works(cltune_store(stddev, 0, "nbody.equal.single", 1000, "groups_per_unit=77", 1, "items/s"));
    gets("groups_per_unit=77", true);
    gets("groups_per_unit=76", false);
}

/* ---- The stop watch. ------------------------------------------------------------------------- */

struct clocked {
    size_t calls, n[32];
    double each; /* seconds of a run */
    size_t fails_at;
};

static int run_clocked(void *problem, size_t n)
{
    struct clocked *c = problem;
    const double end = seconds_now() + c->each * (double)n;
    c->n[c->calls++] = n;
    if (c->calls == c->fails_at)
        return clerror_set(EIO, "made: call %zu", c->calls);
    while (seconds_now() < end)
        ;
    return 0;
}

static void tune_time_repeats_until_long_enough(void **unused)
{
    (void)unused;
    struct clocked c = {.each = 1e-3};
    double seconds = 0;
    works(cltune_time(run_clocked, &c, &seconds));
    assert_true(seconds >= 1e-3); /* the requested time, or longer on a busy machine */
    assert_true(c.calls >= 2 && c.calls <= 8);
    assert_int_equal(c.n[0], 1); /* warms up */
    for (size_t i = 1; i < c.calls; i++)
        assert_int_equal(c.n[i], (size_t)1 << (i - 1));
    assert_true(seconds * (double)c.n[c.calls - 1] >= 0.05);
    for (size_t at = 1; at <= 2; at++) {
        c = (struct clocked){.each = 1e-3, .fails_at = at};
        fails(EIO, cltune_time(run_clocked, &c, &seconds));
    }
}

static int open_shape_context(void **state)
{
    return setup_done(stddev && clgetndev(stddev) <= 16) == 0 ? files_create(state) : -1;
}

int main(void)
{
#define CACHED(test) cmocka_unit_test_setup(test, use_empty_cache)
    const struct CMUnitTest tests[] = {
        CACHED(shape_words_are_parsed),
        CACHED(shape_bad_words_are_rejected),
        CACHED(shape_prints_own_keys_only),
        CACHED(shape_later_word_wins),
        CACHED(shape_bad_entry_leaves_defaults),
        CACHED(shape_rejects_bad_arguments),
        CACHED(shape_bad_entry_gives_way_to_shipped),
        CACHED(shape_engines_skip_bad_entries),
        CACHED(shape_equal_masses_have_entries),
        cmocka_unit_test(tune_time_repeats_until_long_enough),
    };
    return cmocka_run_group_tests(tests, open_shape_context, files_remove);
}
