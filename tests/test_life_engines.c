/* test_life_engines.c - every engine and every shape of the packed kernels against plain C, cell
 * by cell.
 *
 * Sizes are edge cases: 1, a word less one, a whole number of words, a word and one, and random
 * ones; torus and plane; rules with and without B0. A fixed seed gives the same cases on every
 * run.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "deep.h"
#include "stdcl/life.h"

#include "life/internal.h"
#include "life/persistent.h"

#include <stdlib.h>
#include <string.h>

static uint64_t random_state = 1;

static uint64_t draw_life_cells(uint64_t n)
{
    random_state += 0x9e3779b97f4a7c15u;
    return life_mix(random_state) % n;
}

/* ---- A grid in plain C beside the engine. ---------------------------------------------------- */

static void life_reference_steps(struct life_cells *cells, const struct life_rule *rule,
                                 enum life_bounds bounds, unsigned generations)
{
    const size_t n = cells->width * cells->height;
    unsigned char *now = malloc(n), *next = malloc(n);
    for (size_t i = 0; i < n; i++)
        now[i] = (unsigned char)life_cells_at(cells, i % cells->width, i / cells->width);
    for (unsigned g = 0; g < generations; g++) {
        life_ref_rows(rule, bounds, cells->width, cells->height, 0, cells->height, now, next);
        unsigned char *t = now;
        now = next;
        next = t;
    }
    memset(cells->word, 0, cells->stride * cells->height * sizeof *cells->word);
    for (size_t i = 0; i < n; i++)
        cells->word[i / cells->width * cells->stride + i % cells->width / 64] |=
            (uint64_t)now[i] << i % cells->width % 64;
    free(now);
    free(next);
}

static void fill_life_cells(struct life_cells *cells)
{
    for (size_t y = 0; y < cells->height; y++)
        for (size_t x = 0; x < cells->width; x++)
            cells->word[y * cells->stride + x / 64] |= draw_life_cells(2) << x % 64;
}

static uint64_t plain_population(const struct life_cells *cells)
{
    uint64_t n = 0;
    for (size_t y = 0; y < cells->height; y++)
        for (size_t x = 0; x < cells->width; x++)
            n += (uint64_t)life_cells_at(cells, x, y);
    return n;
}

/* Print the first cell that differs, and fail. */
static void compare_life_cells(const struct life_cells *got, const struct life_cells *want,
                               const char *what)
{
    for (size_t y = 0; y < want->height; y++)
        for (size_t x = 0; x < want->width; x++)
            if (life_cells_at(got, x, y) != life_cells_at(want, x, y))
                fail_msg("%s: cell %zu,%zu is %d", what, x, y, life_cells_at(got, x, y));
    assert_memory_equal(got->word, want->word, want->stride * want->height * sizeof *want->word);
}

/* ---- One case. ------------------------------------------------------------------------------- */

struct grid {
    enum life_engine engine;
    const char *shape;
    size_t width, height;
    enum life_bounds bounds;
    struct life_rule rule;
    unsigned generations;
};

static void check_grid(const struct grid *c)
{
    char rule[24], what[300];
    struct life_cells start, got;
    struct life_options options = {.engine = c->engine,
                                   .width = c->width,
                                   .height = c->height,
                                   .bounds = c->bounds,
                                   .rule = life_rule_string(&c->rule, rule),
                                   .shape = c->shape};
    snprintf(what, sizeof what, "%s %s %zu x %zu %s %s, %u generations",
             life_engine_name(c->engine), c->shape ? c->shape : "", c->width, c->height,
             c->bounds == LIFE_PLANE ? "plane" : "torus", rule, c->generations);
    works(life_cells_alloc(&start, c->width, c->height));
    works(life_cells_alloc(&got, c->width, c->height));
    fill_life_cells(&start);
    life *lf = life_create(&options);
    if (!lf)
        fail_msg("%s: %s", what, clerror());
    works(life_put(lf, 0, 0, &start));
    works(life_step(lf, c->generations));
    works(life_get(lf, 0, 0, &got));
    life_reference_steps(&start, &c->rule, c->bounds, c->generations);
    compare_life_cells(&got, &start, what);
    uint64_t population;
    works(life_population(lf, &population));
    assert_int_equal(population, plain_population(&start));
    /* Again, from the device's state. */
    works(life_step(lf, 3));
    works(life_get(lf, 0, 0, &got));
    life_reference_steps(&start, &c->rule, c->bounds, 3);
    compare_life_cells(&got, &start, what);
    assert_int_equal(life_generation(lf), c->generations + 3);
    life_free(lf);
    life_cells_free(&start);
    life_cells_free(&got);
}

static const size_t sides[] = {1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 130};

/* Every rule and bound is a program to build, so the engines share a few rules and the shapes one;
 * test_life_rule.c tests the logic chains of many rules. Chains of 3, 2, 5 and 6 steps; two rules
 * have B0. */
static const char *const rules[] = {"B3/S23", "B3678/S34678", "B0147/S1358", "B028/S0124"};

static struct life_rule one_of_shapes(unsigned n)
{
    struct life_rule rule;
    works(life_rule_parse(rules[draw_life_cells(n)], &rule));
    return rule;
}

/* Kinds of bounds. Each is a program to build for each rule, so only the first rule, and one with
 * B0, have both. */
enum { BOTH = -1 };

static enum life_bounds some_bounds(const struct life_rule *rule)
{
    const bool both = rule->birth == 1 << 3 || rule->birth == (1 << 0 | 1 << 2 | 1 << 8);
    return both && draw_life_cells(2) ? LIFE_PLANE : LIFE_TORUS;
}

static void check_life_engine(enum life_engine engine, const char *shape, int cases, unsigned kinds,
                              int bounds)
{
    for (int i = 0; i < cases; i++) {
        struct grid c = {.engine = engine, .shape = shape, .rule = one_of_shapes(kinds)};
        const size_t n = sizeof sides / sizeof *sides;
        c.width = i % 3 ? sides[draw_life_cells(n)] : 1 + draw_life_cells(300);
        c.height = i % 5 ? sides[draw_life_cells(n)] : 1 + draw_life_cells(200);
        c.bounds = bounds == BOTH ? some_bounds(&c.rule) : (enum life_bounds)bounds;
        c.generations = (unsigned)draw_life_cells(i % 7 ? 20 : 100);
        check_grid(&c);
    }
}

/* ---- The tests. ------------------------------------------------------------------------------ */

static void life_reference_engine_matches(void **state)
{
    (void)state, check_life_engine(LIFE_REFERENCE, NULL, 12, 4, BOTH);
}
static void life_global_engine_matches(void **state)
{
    (void)state, check_life_engine(LIFE_GLOBAL, NULL, 16, 2, BOTH);
}
static void life_local_engine_matches(void **state)
{
    (void)state, check_life_engine(LIFE_LOCAL, NULL, 16, 2, BOTH);
}
static void life_packed_engine_matches(void **state)
{
    (void)state, check_life_engine(LIFE_PACKED, NULL, 40, 4, BOTH);
}

static void cells_after(const struct life_options *o, unsigned generations,
                        struct life_cells *cells)
{
    life *lf = life_create(o);
    if (!lf)
        fail_msg("%s %s: %s", life_engine_name(o->engine), o->rule, clerror());
    works(life_soup(lf, 0.4, 5));
    works(life_step(lf, generations));
    works(life_cells_alloc(cells, o->width, o->height));
    works(life_get(lf, 0, 0, cells));
    assert_string_equal(life_rule_text(lf), o->rule);
    life_free(lf);
}

/* Isotropic non-totalistic rules on every engine, against plain C. Hexagonal neighbourhoods have
 * no mirror symmetry, so left, right, above and below are told apart. */
static void life_isotropic_rules_match_reference(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        enum life_bounds bounds;
        size_t width, height;
    } grids[] = {{"B2-a/S12", LIFE_TORUS, 97, 40}, {"B024/S13H", LIFE_PLANE, 130, 45}};
    static const struct {
        enum life_engine engine;
        const char *shape;
    } engines[] = {{LIFE_PACKED, NULL},
                   {LIFE_PACKED, "tile=1 warps=2 rows=3 generations=2"},
                   {LIFE_GLOBAL, NULL},
                   {LIFE_LOCAL, NULL}};
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++) {
        struct life_cells want, got;
        struct life_options o = {.engine = LIFE_REFERENCE,
                                 .rule = grids[g].rule,
                                 .bounds = grids[g].bounds,
                                 .width = grids[g].width,
                                 .height = grids[g].height};
        cells_after(&o, 21, &want);
        for (size_t e = 0; e < sizeof engines / sizeof *engines; e++) {
            o.engine = engines[e].engine;
            o.shape = engines[e].shape;
            cells_after(&o, 21, &got);
            compare_life_cells(&got, &want, o.rule);
            life_cells_free(&got);
        }
        life_cells_free(&want);
    }
}

/* Bands, chunks of the width, vectors of all lengths, the portable logic and the AVX-512 one. The
 * shapes have a torus and a plane alternately; life_packed_engine_matches has both, with every
 * rule. */
static void life_row_shapes_match_reference(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "tile=0 generations=1",
        "tile=0 ternary=0 funnel=0 generations=7 block=3",
        "tile=0 lanes=4 block=5 generations=64",
        "tile=0 lanes=2 span=3 block=8 bands=3 generations=16",
        "tile=0 lanes=8 span=4 bands=2 funnel=0 generations=64",
        "tile=0 passes=1 generations=6 bands=2",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (sampled(i / 2, 3))
            check_life_engine(LIFE_PACKED, shapes[i], 8, 1, i % 2 ? LIFE_PLANE : LIFE_TORUS);
}

/* A shape that a device cannot run correctly is rejected. */
static void life_impossible_shapes_are_rejected(void **state)
{
    (void)state;
    struct life_options options = {.width = 64, .height = 64, .shape = "tile=1 passes=2"};
    fails_null(EINVAL, life_create(&options));
    fails_null(EINVAL, life_create(NULL));
    options.shape = "tile=0 passes=2";
    life *lf = life_create(&options);
    if (!lf)
        contains(clerror(), "passes=1"); /* the way out; rows_shapes has it */
    life_free(lf);
}

/* A kernel replaced by $STDCL_KERNEL_PATH gets the rule too. */
static void life_kernel_files_get_rule(void **state)
{
    (void)state;
    const struct life_rule highlife = {1 << 3 | 1 << 6, 1 << 2 | 1 << 3};
    setenv("STDCL_KERNEL_PATH", "..", 1);
    check_grid(&(struct grid){LIFE_PACKED, "tile=0", 70, 50, LIFE_TORUS, highlife, 40});
    check_grid(&(struct grid){LIFE_PACKED, "tile=1 words=1 rows=2 warps=3 generations=2", 70, 50,
                              LIFE_TORUS, highlife, 40});
    unsetenv("STDCL_KERNEL_PATH");
}

/* ---- The check that benchmarks and searches for shapes make. --------------------------------- */

static const struct life_backend *honest;

static int lazy_step(life *lf, uint64_t generations)
{
    return honest->step(lf, generations - 1);
}

/* Verification passes, and fails for an engine that skips a generation. */
static void check_verify(size_t width, size_t height, enum life_bounds bounds)
{
    life *lf =
        life_create(&(struct life_options){.width = width, .height = height, .bounds = bounds});
    ready(lf);
    works(life_soup(lf, 0.5, 1));
    works(life_verify(lf));
    honest = lf->backend;
    struct life_backend lazy = *honest;
    lazy.step = lazy_step;
    lf->backend = &lazy;
    fails(EDOM, life_verify(lf));
    lf->backend = honest;
    life_free(lf);
}

/* Grids with windows on both axes, on one of them, and none; the narrow ones are far longer than a
 * window. */
static void life_verify_detects_wrong_cells(void **state)
{
    (void)state;
    check_verify(700, 300, LIFE_TORUS);
    check_verify(700, 300, LIFE_PLANE);
    check_verify(3, 100000, LIFE_TORUS);
    check_verify(100000, 3, LIFE_PLANE);
    check_verify(100, 259, LIFE_PLANE);
}

/* The kernel for GPUs, as far as this device accepts its instructions. */
static void life_tile_shapes_match_reference(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        "tile=1 words=1 rows=3 warps=5 generations=4",
        "tile=1 words=2 rows=4 warps=4 generations=7",
        "tile=1 words=4 rows=3 warps=1 generations=1",
        "tile=1 items=8 words=1 rows=2 warps=2 generations=3",
        "tile=1 items=4 words=2 rows=3 warps=3 generations=9",
        "tile=1 items=16 words=1 rows=3 warps=2 generations=5",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (sampled(i, 6))
            check_life_engine(LIFE_PACKED, shapes[i], 8, 1, i % 2 ? LIFE_PLANE : LIFE_TORUS);
}

/* Widths that are periods of a tile wrap inside it: 1024 = 32 items of a word. */
static void life_tile_wide_torus_wraps_inside(void **state)
{
    (void)state;
    static const size_t widths[] = {1024, 512, 64, 1};
    for (size_t i = 0; i < 4; i++)
        check_grid(&(struct grid){LIFE_PACKED, "tile=1 words=1 rows=4 warps=4 generations=4",
                                  widths[i], 40 + i, LIFE_TORUS, one_of_shapes(1), 11});
}

/* ---- A torus that stays in registers. -------------------------------------------------------- */

#define PERSISTENT "tile=1 rows=4 warps=4 generations=4 persistent=1"

/* Compute units of the default device. */
static cl_uint units_of_first(void)
{
    struct cldev_info info[64];
    life *lf = life_create(&(struct life_options){.width = 64, .height = 32});
    ready(lf);
    assert_in_range(clgetndev(lf->ctx), 1, 64);
    works(clgetdevinfo(lf->ctx, info));
    life_free(lf);
    return info[0].dev_max_core;
}

/* The persistent kernel runs on one device. Drivers without acquire and release across work-groups,
 * such as rusticl on llvmpipe, do not run it. */
static void skip_unless_persistent(void)
{
    life *lf = life_create(&(struct life_options){.width = 64, .height = 32, .shape = PERSISTENT});
    ready(lf);
    const bool ordered = !strstr(life_explain(lf, 0), "does not order memory");
    const unsigned devices = life_devices(lf);
    life_free(lf);
    if (devices > 1) {
        print_message("the grid is divided among %u devices\n", devices);
        skip();
    }
    if (!ordered) {
        print_message("the device does not order memory between work-groups\n");
        skip();
    }
}

/* Grids of one tile, which is its own neighbour eight times, and of one tile per compute unit: all
 * tiles must run at once. */
static void life_persistent_grids_match_reference(void **state)
{
    (void)state;
    skip_unless_persistent();
    static const struct {
        const char *shape;
        size_t width, height, tiles;
    } grids[] = {{PERSISTENT, 64, 32, 1},
                 {PERSISTENT " persistent_rows=3", 64, 64, 1},
                 {PERSISTENT, 64, 64, 2},
                 {PERSISTENT, 128, 32, 2},
                 {PERSISTENT " persistent_words=5 persistent_rows=2", 128, 64, 2},
                 {PERSISTENT, 128, 64, 4},
                 {PERSISTENT " persistent_rows=3", 64, 192, 3}};
    static const unsigned generations[] = {
        1,  15, 16, 17,
        32, 33, 34, 50}; /* on a busy machine items wait for others that are not at work */
    const cl_uint units = units_of_first();
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        if (grids[i].tiles <= units && sampled(i, 3)) {
            struct grid c = {LIFE_PACKED,
                             grids[i].shape,
                             grids[i].width,
                             grids[i].height,
                             LIFE_TORUS,
                             one_of_shapes(2),
                             generations[draw_life_cells(8)]};
            life *lf = life_create(
                &(struct life_options){.width = c.width, .height = c.height, .shape = c.shape});
            ready(lf);
            contains(life_explain(lf, 0), "persistent in ");
            life_free(lf);
            check_grid(&c);
        }
}

static void life_persistent_rules_match_reference(void **state)
{
    (void)state;
    struct life_cells want, got;
    struct life_options o = {
        .engine = LIFE_REFERENCE, .rule = "B2-a/S12", .width = 64, .height = 32};
    cells_after(&o, 53, &want);
    o.engine = LIFE_PACKED;
    o.shape = PERSISTENT;
    cells_after(&o, 53, &got);
    compare_life_cells(&got, &want, o.rule);
    life_cells_free(&got);
    life_cells_free(&want);
}

/* Tori that cannot be persistent are computed by launches of tiles. */
static void life_persistent_falls_back_to_tiles(void **state)
{
    (void)state;
    static const struct {
        size_t width, height;
        enum life_bounds bounds;
    } grids[] = {{65, 32, LIFE_TORUS},
                 {64, 33, LIFE_TORUS},
                 {64, 32, LIFE_PLANE},
                 {64 * 101, 32 * 101, LIFE_TORUS}}; /* too many tiles: 101 is prime */
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        life *lf = life_create(&(struct life_options){.width = grids[i].width,
                                                      .height = grids[i].height,
                                                      .bounds = grids[i].bounds,
                                                      .shape = PERSISTENT});
        ready(lf);
        contains(life_explain(lf, 0), "not persistent");
        life_free(lf);
    }
    check_grid(&(struct grid){LIFE_PACKED, PERSISTENT, 65, 33, LIFE_TORUS, one_of_shapes(1), 40});
}

/* A tile that never arrives, as when a device does not schedule a group: a timeout error. */
static void life_persistent_timeout_is_an_error(void **state)
{
    (void)state;
    skip_unless_persistent();
    if (units_of_first() < 2)
        return;
    life *lf = life_create(
        &(struct life_options){.width = 64,
                               .height = 64,
                               .shape = PERSISTENT " persistent_warps=1"}); /* a group is a tile */
    ready(lf);
    struct packed *p = lf->state;
    assert_non_null(p->persistent);
    works(life_step(lf, 40));
    p->persistent->tiles = 1;
    p->persistent->max_polls = 5000;
    works(life_step(lf, 16)); /* no tile waits */
    assert_int_equal(life_step(lf, 17), -1);
    assert_int_equal(clerrno, EIO);
    contains(clerror(), "persistent=0");
    life_free(lf);
}

/* Wide enough for several columns of tiles with the default shape. */
static void life_wide_and_tall_grids_match_reference(void **state)
{
    (void)state;
    check_grid(
        &(struct grid){LIFE_PACKED, "tile=0 span=10", 20000, 3, LIFE_TORUS, one_of_shapes(1), 70});
    check_grid(&(struct grid){LIFE_PACKED, NULL, 40000, 5, LIFE_PLANE, one_of_shapes(1), 40});
    check_grid(&(struct grid){LIFE_PACKED, NULL, 3, 20000, LIFE_TORUS, one_of_shapes(1), 70});
    check_grid(&(struct grid){LIFE_PACKED, NULL, 700, 300, LIFE_TORUS, one_of_shapes(1), 150});
}

/* On all devices: some generations, a query, and more generations. */
static void check_devices(const char *shape, size_t width, size_t height, enum life_bounds bounds)
{
    static const unsigned steps[] = {30, 1, 2, 11, 9};
    struct life_cells start, got;
    struct life_rule rule = one_of_shapes(1);
    struct life_sample sample;
    char text[24], what[200];
    struct life_options options = {.ctx = stddev,
                                   .width = width,
                                   .height = height,
                                   .bounds = bounds,
                                   .rule = life_rule_string(&rule, text),
                                   .shape = shape};
    works(life_cells_alloc(&start, width, height));
    works(life_cells_alloc(&got, width, height));
    fill_life_cells(&start);
    life *lf = life_create(&options);
    ready(lf);
    works(life_put(lf, 0, 0, &start));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        snprintf(what, sizeof what, "%s %zu x %zu %s, step %zu", shape ? shape : "default", width,
                 height, bounds == LIFE_PLANE ? "plane" : "torus", i);
        if (steps[i] == 1)
            works(life_trace(lf, 1, &sample));
        else
            works(life_step(lf, steps[i]));
        life_reference_steps(&start, &rule, bounds, steps[i]);
        works(life_measure(lf, &sample));
        assert_int_equal(sample.population, plain_population(&start));
        if (i % 2 == 0) { /* the others leave the cells on the devices */
            works(life_get(lf, 0, 0, &got));
            compare_life_cells(&got, &start, what);
        }
    }
    life_free(lf);
    life_cells_free(&start);
    life_cells_free(&got);
}

static void life_devices_give_same_cells(void **state)
{
    (void)state;
    static const char *const shapes[] = {
        NULL,
        "tile=0 generations=4 bands=3",
        "tile=0 generations=5 span=3 lanes=2 bands=8",
        "tile=1 rows=3 warps=4 generations=3",
    };
    for (size_t s = 0; s < 4; s++)
        for (int i = 0; i < 8 && (s == 0 || sampled(s, 3)); i++)
            check_devices(shapes[s], 1 + draw_life_cells(200), 1 + draw_life_cells(160),
                          draw_life_cells(2) ? LIFE_PLANE : LIFE_TORUS);
}

/* Tall enough that bands overlap by rows for several launches; with one device there is no
 * overlap. */
static void life_devices_overlapping_bands_agree(void **state)
{
    (void)state;
    if (clgetndev(stddev) == 1)
        return; /* test_life_engines_on_two does not */
    static const char *const shapes[] = {"tile=0 generations=3 exchange=3",
                                         "tile=0 generations=2 exchange=9 span=3",
                                         "tile=1 rows=3 warps=4 generations=3 exchange=2"};
    for (size_t s = 0; s < 3; s++)
        for (int plane = 0; plane < 2; plane++)
            check_devices(shapes[s], 60 + draw_life_cells(200), 2400 + draw_life_cells(100),
                          plane ? LIFE_PLANE : LIFE_TORUS);
}

/* ---- Pieces. --------------------------------------------------------------------------------- */

static const char *const pieces_of[] = {"tile=0 generations=4 bands=3",
                                        "tile=1 rows=3 warps=4 generations=3"};

/* Launches of minimal length, as on a slow device, compute equal cells. */
static void life_slices_give_same_cells(void **state)
{
    (void)state;
    assert_int_equal(setenv("STDCL_SLICE", "1e-12", 1), 0);
    for (int s = 0; s < 2; s++)
        for (int plane = 0; plane < 2; plane++)
            check_devices(pieces_of[s], 150, 160, plane ? LIFE_PLANE : LIFE_TORUS);
    check_grid(&(struct grid){LIFE_LOCAL, NULL, 150, 100, LIFE_TORUS, one_of_shapes(1), 9});
    check_grid(&(struct grid){LIFE_GLOBAL, NULL, 150, 100, LIFE_PLANE, one_of_shapes(1), 9});
    check_grid(&(struct grid){LIFE_PACKED, NULL, 700, 300, LIFE_TORUS, one_of_shapes(1), 40});
    assert_int_equal(unsetenv("STDCL_SLICE"), 0);
}

static int end_life_after(void *calls, double share)
{
    assert_true(share >= 0 && share <= 1);
    return --*(int *)calls == 0;
}

/* Cancelled at the nth call: the engine reports the number of complete generations. */
/* Parts of the grid, and counts of squares, read from the devices, equal those of the whole grid.
 */
static void check_life_views(enum life_engine engine, size_t width, size_t height,
                             enum life_bounds bounds)
{
    life *lf = life_create(&(struct life_options){
        .engine = engine, .width = width, .height = height, .bounds = bounds});
    struct life_cells all, part;
    uint64_t count[4096];
    static const struct {
        long long x, y;
        unsigned zoom;
        size_t w, h;
    } of[] = {{0, 0, 0, 7, 5}, {3, 2, 1, 9, 4}, {5, 1, 3, 3, 2}, {-70, -9, 2, 11, 6}};
    assert_non_null(lf);
    assert_int_equal(life_soup(lf, 0.4, 3), 0);
    assert_int_equal(life_cells_alloc(&all, width, height), 0);
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        const size_t side = (size_t)1 << of[k].zoom;
        const bool inside = of[k].x >= 0;
        if (bounds == LIFE_PLANE && !inside)
            continue;
        assert_int_equal(life_step(lf, 1), 0);
        assert_int_equal(life_cells_alloc(&part, of[k].w * side, of[k].h * side), 0);
        assert_int_equal(life_get(lf, of[k].x, of[k].y, &part),
                         0); /* first, while the host has old cells */
        assert_int_equal(life_density(lf, of[k].x, of[k].y, of[k].w, of[k].h, of[k].zoom, count),
                         0);
        assert_int_equal(life_get(lf, 0, 0, &all), 0);
        for (size_t j = 0; j < of[k].h; j++)
            for (size_t i = 0; i < of[k].w; i++) {
                uint32_t live = 0;
                for (size_t c = 0; c < side * side; c++) {
                    const size_t dx = i * side + c % side, dy = j * side + c / side;
                    const int cell =
                        life_cells_at(&all,
                                      (size_t)(((long long)width * 8 + of[k].x + (long long)dx) %
                                               (long long)width),
                                      (size_t)(((long long)height * 8 + of[k].y + (long long)dy) %
                                               (long long)height));
                    assert_int_equal(life_cells_at(&part, dx, dy), cell);
                    live += (uint32_t)cell;
                }
                assert_int_equal(count[j * of[k].w + i], live);
            }
        life_cells_free(&part);
    }
    uint64_t population, sum = 0; /* all squares of all of it, also those that are cut */
    const size_t w = (width + 15) / 16, h = (height + 15) / 16;
    assert_int_equal(life_density(lf, 0, 0, w, h, 4, count), 0);
    for (size_t i = 0; i < w * h; i++)
        sum += count[i];
    assert_int_equal(life_population(lf, &population), 0);
    assert_int_equal(sum, population);
    assert_int_equal(life_density(lf, 0, 0, w + 1, h, 4, count), -1);
    assert_int_equal(life_density(lf, 0, 0, 1, 1, 16, count), -1);
    life_cells_free(&all);
    life_free(lf);
}

static void life_views_match_cells(void **state)
{
    (void)state;
    for (enum life_bounds b = LIFE_TORUS; b <= LIFE_PLANE; b++) {
        check_life_views(LIFE_PACKED, 200, 90, b);
        check_life_views(LIFE_REFERENCE, 130, 70, b);
    }
    check_life_views(LIFE_PACKED, 128, 64, LIFE_TORUS);
    check_life_views(LIFE_GLOBAL, 96, 64, LIFE_TORUS);
}

static void check_life_cancelled(enum life_engine engine, const char *shape, int n)
{
    enum { SIDE = 200, MOST = 60 };
    int calls = n;
    struct life_cells start, got;
    struct life_sample sample[MOST];
    const struct life_rule rule = one_of_shapes(1);
    char text[24];
    struct life_options options = {.ctx = stddev,
                                   .engine = engine,
                                   .width = SIDE,
                                   .height = SIDE,
                                   .rule = life_rule_string(&rule, text),
                                   .shape = shape,
                                   .progress = end_life_after,
                                   .arg = &calls};
    works(life_cells_alloc(&start, SIDE, SIDE));
    works(life_cells_alloc(&got, SIDE, SIDE));
    fill_life_cells(&start);
    life *lf = life_create(&options);
    ready(lf);
    works(life_put(lf, 0, 0, &start));
    fails(ECANCELED, life_step(lf, 1000000));
    uint64_t before = life_generation(lf);
    assert_true(before < 1000);
    life_reference_steps(&start, &rule, LIFE_TORUS, (unsigned)before);
    works(life_get(lf, 0, 0, &got));
    compare_life_cells(&got, &start, "stopped");
    calls = n;
    fails(ECANCELED, life_trace(lf, MOST, sample));
    const uint64_t done = life_generation(lf) - before;
    assert_true(done < MOST);
    for (uint64_t i = 0; i < done; i++) {
        life_reference_steps(&start, &rule, LIFE_TORUS, 1);
        assert_int_equal(sample[i].generation, ++before);
        assert_int_equal(sample[i].population, plain_population(&start));
    }
    works(life_get(lf, 0, 0, &got));
    compare_life_cells(&got, &start, "stopped while traced");
    life_free(lf);
    life_cells_free(&start);
    life_cells_free(&got);
}

static void life_cancelled_step_is_resumed(void **state)
{
    (void)state;
    assert_int_equal(setenv("STDCL_SLICE", "1e-12", 1), 0);
    for (int n = 1; n < 30; n += 7) {
        check_life_cancelled(LIFE_PACKED, pieces_of[0], n);
        check_life_cancelled(LIFE_PACKED, pieces_of[1], n);
        check_life_cancelled(LIFE_LOCAL, NULL, n);
    }
    assert_int_equal(unsetenv("STDCL_SLICE"), 0);
}

/* The engine "reference" looks up rules by a table row by row, on any size, also narrower than a
 * neighbourhood. */
static void plain_c_matches_scalar_reference(void **unused)
{
    static const char *const notations[] = {"B3/S23",  "B03/S128", "B2-a/S12",
                                            "B2/S34H", "B2/S013V", "345/2/4",
                                            "/2/3",    "W110",     "34m/2o/3H"};
    static const size_t sizes[][2] = {{1, 1}, {2, 1}, {1, 3}, {3, 2}, {64, 5}, {67, 41}};
    (void)unused;
    for (size_t i = 0; i < sizeof notations / sizeof *notations * 12; i++) {
        const char *rule = notations[i / 12];
        const size_t width = sizes[i / 2 % 6][0], height = sizes[i / 2 % 6][1], n = width * height;
        const enum life_bounds bounds = i % 2 ? LIFE_PLANE : LIFE_TORUS;
        unsigned char cells[3][67 * 41];
        struct life_family family;
        works(life_family_parse(rule, &family));
        for (size_t k = 0; k < n; k++)
            cells[0][k] = (unsigned char)(height > 10 && k / width % 16 < 8 /* also dead rows */
                                              ? 0
                                              : life_mix(k + i) % family.states);
        life *lf = life_create(&(struct life_options){.engine = LIFE_REFERENCE,
                                                      .rule = rule,
                                                      .width = width,
                                                      .height = height,
                                                      .bounds = bounds});
        ready(lf);
        works(life_put_states(lf, 0, 0, width, height, cells[0]));
        works(life_step(lf, 3));
        works(life_get_states(lf, 0, 0, width, height, cells[2]));
        life_free(lf);
        for (uint64_t g = 0; g < 3; g++) {
            life_ref_family_rows(&family, g, bounds, width, height, 0, height, cells[g % 2],
                                 cells[(g + 1) % 2]);
        }
        for (size_t k = 0; k < n; k++)
            if (cells[1][k] != cells[2][k])
                fail_msg("%s on %zu x %zu: cell %zu,%zu is %d, not %d", rule, width, height,
                         k % width, k / width, cells[2][k], cells[1][k]);
    }
}

/* Cells of a grid and their next generations by the scalar reference. */
struct few_cells {
    const char *rule;
    struct life_grid grid;
    struct life_family family;
    unsigned char cells[2][200 * 67];
};

/* Random squares of 6 x 6 cells at random places, one in 30. */
static void few_cells_draw(struct few_cells *f, uint64_t seed)
{
    for (size_t k = 0; k < f->grid.width * f->grid.height; k++) {
        const size_t x = k % f->grid.width, y = k / f->grid.width;
        const bool square = life_mix(seed << 20 | (y / 6) << 10 | x / 6) % 30 == 0;
        f->cells[0][k] = square && life_mix(k + seed) % 2;
    }
}

static void few_cells_compare(struct few_cells *f, life *lf, unsigned generations)
{
    const size_t n = f->grid.width * f->grid.height;
    unsigned char got[200 * 67];
    struct life_sample sample;
    for (unsigned g = 1; g <= generations; g++) {
        uint64_t alive = 0;
        life_ref_topology_rows(&f->family, &f->grid, 0, f->grid.height, f->cells[0], f->cells[1]);
        memcpy(f->cells[0], f->cells[1], n);
        works(life_step(lf, 1));
        works(life_get_states(lf, 0, 0, f->grid.width, f->grid.height, got));
        works(life_measure(lf, &sample));
        for (size_t k = 0; k < n; k++) {
            alive += got[k] != 0;
            if (got[k] != f->cells[0][k])
                fail_msg("%s: cell %zu,%zu is %d, not %d, %u generations after the last change",
                         f->rule, k % f->grid.width, k / f->grid.width, got[k], f->cells[0][k], g);
        }
        assert_int_equal(sample.population, alive);
    }
}

/* The engine "reference" computes only cells near changes, on all topologies, also after the caller
 * has changed cells. */
static void plain_c_follows_few_cells(void **unused)
{
    static const char *const grids[] = {"T200,67", "P200,67", "K130*,67",
                                        "S67",     "T64,3+1", "C65,9"},
                             *const notations[] = {"B3/S23", "B2-a/S12", "345/2/4", "B03/S23",
                                                   "B2/S34H"};
    (void)unused;
    for (size_t i = 0; i < sizeof grids / sizeof *grids * sizeof notations / sizeof *notations;
         i++) {
        struct few_cells f = {.rule = notations[i % (sizeof notations / sizeof *notations)]};
        const char *grid = grids[i / (sizeof notations / sizeof *notations)];
        works(life_family_parse(f.rule, &f.family));
        works(life_grid_read(grid, &f.grid));
        life *lf = life_create(
            &(struct life_options){.engine = LIFE_REFERENCE, .rule = f.rule, .grid = grid});
        ready(lf);
        for (uint64_t seed = 0; seed < 6; seed++) {
            few_cells_draw(&f, 8 * i + seed);
            works(life_put_states(lf, 0, 0, f.grid.width, f.grid.height, f.cells[0]));
            few_cells_compare(&f, lf, 12);
        }
        life_free(lf);
    }
}

/* After a cancelled generation the engine "reference" goes on from the cells before it. */
static void plain_c_goes_on_after_cancelling(void **unused)
{
    static const struct life_options cancelled[] = {
        {.engine = LIFE_REFERENCE, .width = 2200, .height = 2200},
        {.engine = LIFE_REFERENCE,
         .rule = "R3,C2,S2-6,B3-4,7-9,NN",
         .width = 4200,
         .height = 4200,
         .threads = 1}}; /* progress is reported within a generation */
    struct life_sample sample[2];
    (void)unused;
    for (int i = 0; i < 4; i++) {
        int calls = 1 << 20;
        struct life_options options = cancelled[i / 2];
        options.progress = end_life_after;
        options.arg = &calls;
        life *lf = life_create(&options);
        ready(lf);
        works(life_soup(lf, 0.01, 3));
        works(life_step(lf, 2));
        calls = i % 2 ? 1 : calls;
        if (i % 2)
            fails(ECANCELED, life_step(lf, 3));
        calls = 1 << 20;
        works(life_step(lf, 5 - life_generation(lf)));
        works(life_measure(lf, &sample[i % 2]));
        life_free(lf);
        assert_true(i % 2 == 0 || (sample[0].population > 0 && sample[0].hash == sample[1].hash &&
                                   sample[0].population == sample[1].population));
    }
}

/* Two rules that alternate are the steps of two grids with a rule each, in plain C and on a device,
 * on all topologies; equal cells repeat only after an even number of generations. */
static void rules_alternate_on_grids(void **unused)
{
    enum { W = 81, H = 17 };
    static const char *const grids[] = {"T81,17", "P81,17", "K81*,17", "T81+3,17"};
    static const char *const pairs[][2] = {
        {"B3/S23", "B2/S"}, {"B03/S23", "B3/S12345"}, {"B2/S34H", "B2o/S3H"}, {"3/2/5", "23/36/5"}};
    (void)unused;
    for (size_t i = 0; i < 32; i++) {
        const char *const *pair = pairs[i / 8], *grid = grids[i / 2 % 4];
        const bool device = i % 2;
        if (device && !deep_tests() && (i / 8 + i / 2 % 4) % 2 == 0)
            continue; /* fewer kernels to compile */
        unsigned char cells[W * H], both[W * H];
        char rule[60];
        snprintf(rule, sizeof rule, "%s|%s", pair[0], pair[1]);
        life *lf = life_create(&(struct life_options){
            .engine = device ? LIFE_PACKED : LIFE_REFERENCE, .rule = rule, .grid = grid});
        ready(lf);
        assert_string_equal(life_rule_text(lf), rule);
        for (size_t k = 0; k < W * H; k++)
            cells[k] = (unsigned char)(life_mix(k + i) % life_states(lf));
        works(life_put_states(lf, 0, 0, W, H, cells));
        works(life_step(lf, 2));
        works(life_step(lf, 3));
        works(life_get_states(lf, 0, 0, W, H, both));
        life_free(lf);
        for (int g = 0; g < 5; g++) {
            life *one = life_create(&(struct life_options){
                .engine = LIFE_REFERENCE, .rule = pair[g % 2], .grid = grid});
            ready(one);
            works(life_put_states(one, 0, 0, W, H, cells));
            works(life_step(one, 1));
            works(life_get_states(one, 0, 0, W, H, cells));
            life_free(one);
        }
        assert_memory_equal(both, cells, sizeof cells);
    }
    /* A block, which is still under both rules, repeats with period 2. */
    uint64_t period, generation;
    struct life_cells block = {2, 2, 1, (uint64_t[]){3, 3}};
    life *lf = life_create(
        &(struct life_options){.engine = LIFE_REFERENCE, .rule = "B3/S23|B3/S234", .grid = "T20"});
    ready(lf);
    works(life_put(lf, 4, 4, &block));
    works(life_until_stable(lf, 100, &period, &generation, NULL, NULL));
    assert_int_equal(period, 2);
    life_free(lf);
    assert_null(life_create(
        &(struct life_options){.engine = LIFE_LOCAL, .rule = "B3/S23|B2/S", .grid = "T20"}));
    assert_non_null(strstr(clerror(), "use the engine packed or reference"));
}

/* With an argument, only tests that differ with two devices. */
int main(int argc, char **argv)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(life_devices_give_same_cells),
        cmocka_unit_test(life_devices_overlapping_bands_agree),
        cmocka_unit_test(life_reference_engine_matches),
        cmocka_unit_test(plain_c_matches_scalar_reference),
        cmocka_unit_test(plain_c_follows_few_cells),
        cmocka_unit_test(plain_c_goes_on_after_cancelling),
        cmocka_unit_test(rules_alternate_on_grids),
        cmocka_unit_test(life_tile_wide_torus_wraps_inside),
        cmocka_unit_test(life_impossible_shapes_are_rejected),
        cmocka_unit_test(life_cancelled_step_is_resumed),
        cmocka_unit_test(life_views_match_cells),
        /* Of the following, every n-th runs. */
        cmocka_unit_test(life_packed_engine_matches),
        cmocka_unit_test(life_isotropic_rules_match_reference),
        cmocka_unit_test(life_slices_give_same_cells),
        cmocka_unit_test(life_wide_and_tall_grids_match_reference),
        cmocka_unit_test(life_verify_detects_wrong_cells),
        cmocka_unit_test(life_kernel_files_get_rule),
        cmocka_unit_test(life_persistent_grids_match_reference),
        cmocka_unit_test(life_persistent_rules_match_reference),
        cmocka_unit_test(life_persistent_falls_back_to_tiles),
        cmocka_unit_test(life_persistent_timeout_is_an_error),
        cmocka_unit_test(life_tile_shapes_match_reference),
        cmocka_unit_test(life_global_engine_matches),
        cmocka_unit_test(life_row_shapes_match_reference),
        cmocka_unit_test(life_local_engine_matches),
    };
    const struct CMUnitTest several[] = {cmocka_unit_test(life_packed_engine_matches),
                                         cmocka_unit_test(life_isotropic_rules_match_reference),
                                         cmocka_unit_test(life_devices_give_same_cells),
                                         cmocka_unit_test(life_slices_give_same_cells),
                                         cmocka_unit_test(life_cancelled_step_is_resumed),
                                         cmocka_unit_test(life_views_match_cells),
                                         cmocka_unit_test(life_devices_overlapping_bands_agree)};
    (void)argv;
    return argc > 1 ? cmocka_run_group_tests(several, NULL, NULL)
                    : sampled_run("engines", tests, 7, 3, NULL, NULL);
}
