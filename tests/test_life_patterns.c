/* test_life_patterns.c - well-known patterns, and the engine's functions besides stepping.
 *
 * Published values: the R-pentomino has 116 live cells at generation 1,103, the acorn 633 at
 * 5,206, Gosper's gun 41, 86 and 536 at 30, 300 and 3,000; a glider goes once round a torus of
 * 64 in 256 generations.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "deep.h"
#include "stdcl/life.h"

#include "formats/life.h"
#include "life/internal.h"

#include <math.h>
#include <stdlib.h>

static const char r_pentomino[] = "x = 3, y = 3\nb2o$2o$bo!";
static const char acorn[] = "x = 7, y = 3\nbo$3bo$2o2b3o!";
static const char glider[] = "x = 3, y = 3\nbo$2bo$3o!";
static const char gun[] =
    "x = 36, y = 9\n24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$2o8bo3bob2o4bobo$"
    "10bo5bo7bo$11bo3bo$12b2o!";

static life *create_life_grid(enum life_engine engine, enum life_bounds bounds, const char *rule,
                              size_t width, size_t height)
{
    life *lf = life_create(&(struct life_options){
        .engine = engine, .width = width, .height = height, .bounds = bounds, .rule = rule});
    ready(lf);
    return lf;
}

static void put_pattern(life *lf, const char *rle, long long x, long long y)
{
    struct life_pattern p;
    works(life_pattern_read_memory("pattern", rle, strlen(rle), &p));
    works(life_put(lf, x + (long long)p.left, y + (long long)p.top,
                   &(struct life_cells){p.columns, p.rows, p.stride, p.word}));
    life_pattern_free(&p);
}

static uint64_t life_grid_population(life *lf)
{
    uint64_t n = 0;
    works(life_population(lf, &n));
    return n;
}

static const enum life_engine engines[] = {LIFE_PACKED, LIFE_LOCAL, LIFE_GLOBAL};

/* On planes large enough that nothing returns from an edge: a glider moves a cell in four
 * generations. */
static void life_methuselahs_have_known_populations(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        if (engines[i] != LIFE_PACKED && !sampled(i, 2))
            continue;
        life *lf = create_life_grid(engines[i], LIFE_PLANE, NULL, 640, 640);
        put_pattern(lf, r_pentomino, 320, 320);
        assert_int_equal(life_grid_population(lf), 5);
        works(life_step(lf, 1103));
        assert_int_equal(life_grid_population(lf), 116);
        life_free(lf);
    }
    life *lf = create_life_grid(LIFE_PACKED, LIFE_PLANE, NULL, 2700, 2700);
    put_pattern(lf, acorn, 1350, 1350);
    works(life_step(lf, 5206));
    assert_int_equal(life_grid_population(lf), 633);
    life_free(lf);
}

static void life_gosper_gun_fires(void **state)
{
    (void)state;
    life *lf = create_life_grid(LIFE_PACKED, LIFE_PLANE, NULL, 1000, 1000);
    put_pattern(lf, gun, 100, 100);
    assert_int_equal(life_grid_population(lf), 36);
    works(life_step(lf, 30));
    assert_int_equal(life_grid_population(lf), 41);
    works(life_step(lf, 270));
    assert_int_equal(life_grid_population(lf), 86);
    works(life_step(lf, 2700));
    assert_int_equal(life_grid_population(lf), 536);
    life_free(lf);
    lf = create_life_grid(LIFE_REFERENCE, LIFE_PLANE, NULL, 160, 160);
    put_pattern(lf, gun, 10, 10);
    works(life_step(lf, 300));
    assert_int_equal(life_grid_population(lf), 86);
    life_free(lf);
}

static void life_glider_circles_torus(void **state)
{
    (void)state;
    for (int e = LIFE_PACKED; e <= LIFE_REFERENCE; e++) {
        struct life_cells before, after;
        life *lf = create_life_grid((enum life_engine)e, LIFE_TORUS, NULL, 64, 64);
        put_pattern(lf, glider, 62, 63); /* across both edges */
        works(life_cells_alloc(&before, 64, 64));
        works(life_cells_alloc(&after, 64, 64));
        works(life_get(lf, 0, 0, &before));
        works(life_step(lf, 255));
        works(life_get(lf, 0, 0, &after));
        assert_memory_not_equal(before.word, after.word, 64 * 8);
        works(life_step(lf, 1));
        works(life_get(lf, 0, 0, &after));
        assert_memory_equal(before.word, after.word, 64 * 8);
        life_cells_free(&before);
        life_cells_free(&after);
        life_free(lf);
    }
}

/* B1357/S1357 is addition modulo 2: after 2^n generations there are eight copies of the start,
 * 2^n apart. */
static void life_replicator_copies(void **state)
{
    (void)state;
    life *lf = create_life_grid(LIFE_PACKED, LIFE_PLANE, "replicator", 200, 200);
    put_pattern(lf, "o!", 100, 100);
    works(life_step(lf, 32));
    assert_int_equal(life_grid_population(lf), 8);
    works(life_step(lf, 1));
    assert_int_equal(life_grid_population(lf), 64);
    life_free(lf);
}

/* B0: an empty torus becomes fully alive, and dies with B0/S; on a plane nothing is born beyond
 * the edge. */
static void life_b0_rules_invert_background(void **state)
{
    (void)state;
    for (int e = LIFE_PACKED; e <= LIFE_REFERENCE; e++) {
        life *lf = create_life_grid((enum life_engine)e, LIFE_TORUS, "B0/S", 70, 9);
        works(life_step(lf, 1));
        assert_int_equal(life_grid_population(lf), 70 * 9);
        works(life_step(lf, 1));
        assert_int_equal(life_grid_population(lf), 0);
        life_free(lf);
        lf = create_life_grid((enum life_engine)e, LIFE_PLANE, "B0/S3", 70, 9);
        works(life_step(lf, 2)); /* all alive, corners have three neighbours */
        assert_int_equal(life_grid_population(lf), 4);
        life_free(lf);
    }
}

static int stop_at_40(void *arg, const struct life_sample *s)
{
    (void)arg;
    return s->generation == 40;
}

static void life_until_stable_finds_period(void **state)
{
    (void)state;
    uint64_t period, generation;
    /* An R-pentomino and its gliders on a torus: compare with a search in plain C, state by
     * state. */
    for (int e = LIFE_PACKED; e <= LIFE_REFERENCE; e++) {
        life *lf = create_life_grid((enum life_engine)e, LIFE_TORUS, NULL, 40, 40);
        put_pattern(lf, r_pentomino, 20, 20);
        works(life_until_stable(lf, 100000, &period, &generation, NULL, NULL));
        static uint64_t expected_period, expected_generation, expected_population;
        if (e == LIFE_PACKED) {
            expected_period = period;
            expected_generation = generation;
            expected_population = life_grid_population(lf);
            assert_true(period > 0);
        }
        assert_int_equal(period, expected_period);
        assert_int_equal(generation, expected_generation);
        assert_int_equal(life_generation(lf), generation + period);
        assert_int_equal(life_grid_population(lf), expected_population);
        life_free(lf);
    }
    life *lf = create_life_grid(LIFE_PACKED, LIFE_TORUS, NULL, 16, 16);
    put_pattern(lf, glider, 3, 3);
    works(life_until_stable(lf, 1000, &period, &generation, NULL, NULL));
    assert_int_equal(period, 64); /* the longest that is looked for */
    assert_int_equal(generation, 0);
    assert_int_equal(life_generation(lf), 64);
    works(life_clear(lf));
    put_pattern(lf, glider, 3, 3);
    for (period = 0; period == 0;) /* in several calls: earlier states are remembered */
        works(life_until_stable(lf, 7, &period, &generation, NULL, NULL));
    assert_int_equal(period, 64);
    assert_int_equal(generation, 0);
    assert_int_equal(life_generation(lf), 64);
    put_pattern(lf, "o!", 12, 12); /* a change forgets earlier states */
    works(life_until_stable(lf, 1, &period, &generation, NULL, NULL));
    assert_int_equal(period, 0);
    works(life_clear(lf));
    put_pattern(lf, "3o!", 3, 3);
    works(life_step(lf, 7));
    works(life_until_stable(lf, 1000, &period, &generation, NULL, NULL));
    assert_int_equal(period, 2);
    assert_int_equal(generation, 7);
    assert_int_equal(life_generation(lf), 9);
    life_free(lf);
    lf = create_life_grid(LIFE_PACKED, LIFE_PLANE, NULL, 100, 100);
    put_pattern(lf, gun, 10, 10);
    works(life_until_stable(lf, 50, &period, &generation, stop_at_40, NULL));
    assert_int_equal(period, 0);
    life_free(lf);
}

static void life_trace_counts_every_generation(void **state)
{
    (void)state;
    enum { N = 150 };
    static struct life_sample by[LIFE_ENGINES][N];
    for (int e = LIFE_PACKED; e <= LIFE_REFERENCE; e++) {
        life *lf = create_life_grid((enum life_engine)e, LIFE_TORUS, NULL, 100, 50);
        works(life_soup(lf, 0, 7));
        works(life_trace(lf, N, by[e]));
        assert_int_equal(life_generation(lf), N);
        assert_int_equal(life_grid_population(lf), by[e][N - 1].population);
        life_free(lf);
        for (int i = 0; i < N; i++) {
            assert_int_equal(by[e][i].generation, i + 1);
            assert_int_equal(by[e][i].population, by[LIFE_PACKED][i].population);
        }
    }
}

/* The default soup is rand() % 2 row by row; the other has its density, and equal cells in every
 * engine. */
static void life_soups_are_equal_on_engines(void **state)
{
    (void)state;
    struct life_cells c;
    works(life_cells_alloc(&c, 100, 37));
    life *lf = create_life_grid(LIFE_PACKED, LIFE_TORUS, NULL, 100, 37);
    works(life_soup(lf, 0, 42));
    works(life_get(lf, 0, 0, &c));
    srand(42);
    for (size_t y = 0; y < 37; y++)
        for (size_t x = 0; x < 100; x++)
            assert_int_equal(life_cells_at(&c, x, y), rand() % 2);
    fails(EINVAL, life_soup(lf, 1.5, 1));
    fails(EINVAL, life_soup(lf, -1, 1));
    fails(EINVAL, life_soup(lf, 0, (uint64_t)1 << 40));
    life_free(lf);
    lf = create_life_grid(LIFE_PACKED, LIFE_TORUS, NULL, 1000, 1000);
    static const double densities[] = {0.5, 0.3, 0.01, 1};
    for (size_t i = 0; i < 4; i++) {
        works(life_soup(lf, densities[i], 5));
        const double n = 1e6, sigma = 1000 * 0.5;
        assert_true(fabs((double)life_grid_population(lf) - n * densities[i]) <
                    (densities[i] == 1 ? 0.5 : 5 * sigma));
    }
    life_free(lf);
    life_cells_free(&c);
}

static void life_rectangles_round_trip(void **state)
{
    (void)state;
    struct life_cells c, d;
    works(life_cells_alloc(&c, 70, 5));
    works(life_cells_alloc(&d, 70, 5));
    for (size_t i = 0; i < 10; i++)
        c.word[i] = life_mix(i + 1) & (i % 2 ? 63 : ~(uint64_t)0);
    life *lf = create_life_grid(LIFE_PACKED, LIFE_TORUS, NULL, 100, 6);
    static const long long at[][2] = {{0, 0}, {31, 1}, {64, 3}, {-1, -1}, {99, 5}, {1030, -600}};
    for (size_t i = 0; i < 6; i++) {
        works(life_clear(lf));
        works(life_put(lf, at[i][0], at[i][1], &c));
        works(life_get(lf, at[i][0], at[i][1], &d));
        assert_memory_equal(c.word, d.word, 10 * 8);
        uint64_t n = 0;
        for (size_t w = 0; w < 10; w++)
            n += (uint64_t)__builtin_popcountll(c.word[w]);
        assert_int_equal(life_grid_population(lf), n);
    }
    life_free(lf);
    lf = create_life_grid(LIFE_PACKED, LIFE_PLANE, NULL, 100, 6);
    works(life_put(lf, 30, 1, &c));
    fails(EINVAL, life_put(lf, 31, 1, &c));
    fails(EINVAL, life_put(lf, -1, 0, &c));
    fails(EINVAL, life_put(lf, 0, 2, &c));
    life_free(lf);
    lf = create_life_grid(LIFE_PACKED, LIFE_TORUS, NULL, 69, 6);
    fails(EINVAL, life_put(lf, 0, 0, &c));
    life_free(lf);
    life_cells_free(&c);
    life_cells_free(&d);
}

static void life_rejects_bad_options(void **state)
{
    (void)state;
    struct life_options grown = {.width = 5, .height = 5};
    refuses_reserved(grown, life_create(&grown));
    fails_null(EINVAL, life_create(&(struct life_options){.width = 0, .height = 5}));
    fails_null(EINVAL, life_create(&(struct life_options){.width = 5, .height = (size_t)-3}));
    fails_null(EINVAL,
               life_create(&(struct life_options){.width = 5, .height = 5, .rule = "B9/S"}));
    fails_null(EINVAL,
               life_create(&(struct life_options){.width = 5, .height = 5, .shape = "speed=11"}));
    fails_null(EINVAL, life_create(&(struct life_options){
                           .width = 5, .height = 5, .shape = "tile=1 generations=99"}));
    fails_null(EINVAL, life_create(&(struct life_options){
                           .width = 5, .height = 5, .engine = LIFE_ENGINES}));
    fails_null(ENOMEM, life_create(&(struct life_options){.width = 1 << 30, .height = 1 << 30}));
    fails_null(ENOMEM, life_create(&(struct life_options){
                           .width = 1 << 20, .height = 1 << 20, .engine = LIFE_LOCAL}));
    fails_null(ENOMEM, life_create(&(struct life_options){
                           .width = 1 << 30, .height = 1 << 30, .engine = LIFE_REFERENCE}));
}

/* Two bits a cell, and at most 1 % more. */
static void life_packed_memory_is_bounded(void **state)
{
    (void)state;
    life *lf = create_life_grid(LIFE_PACKED, LIFE_TORUS, NULL, 6400, 1000);
    assert_true((double)life_device_bytes(lf) <= 6400 * 1000 / 4 * 1.01);
    assert_true(life_launches(lf) == 0);
    assert_true(strstr(life_shape(lf, 0), "generations=") != NULL);
    life_free(lf);
}

int main(void)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(life_gosper_gun_fires),
        cmocka_unit_test(life_until_stable_finds_period),
        cmocka_unit_test(life_soups_are_equal_on_engines),
        cmocka_unit_test(life_trace_counts_every_generation),
        cmocka_unit_test(life_packed_memory_is_bounded),
        cmocka_unit_test(life_rectangles_round_trip),
        cmocka_unit_test(life_rejects_bad_options),
        /* Of the following, every n-th runs. */
        cmocka_unit_test(life_methuselahs_have_known_populations),
        cmocka_unit_test(life_b0_rules_invert_background),
        cmocka_unit_test(life_glider_circles_torus),
        cmocka_unit_test(life_replicator_copies),
    };
    return sampled_run("known patterns", tests, 7, 2, NULL, NULL);
}
