/* test_life_larger_than_life.c - Larger than Life: written rules, engines against the
 * definition, rejected options.
 *
 * The definition: the number of cells in state 1 up to R columns and rows away (K. M. Evans,
 * "Larger than Life: digital creatures in a family of two-dimensional cellular automata", 2001;
 * the notation is that of Golly's help).
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include "formats/life.h"
#include "life/internal.h"
#include "stdcl/census.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void ltl_rules_have_canonical_form(void **unused)
{
    static const struct {
        const char *text, *normal;
        int states;
    } good[] = {
        {"R5,C0,M1,S34..58,B34..45,NM", "R5,C0,M1,S34..58,B34..45,NM", 2},
        {"5,34,45,34,58", "R5,C0,M1,S34..58,B34..45,NM", 2},
        {"r1, c2, m0, s2..3, b3..3, nm", "R1,C0,M0,S2..3,B3..3,NM", 2},
        {"R10,C255,M1,S2..3,B3..3,NC", "R10,C255,M1,S2..3,B3..3,NC", 255},
        {"R2,C3,M0,S0..12,B12..12,NN", "R2,C3,M0,S0..12,B12..12,NN", 3},
        {"R500,C256,M1,S0..1002001,B1002001..1002001,NM",
         "R500,C256,M1,S0..1002001,B1002001..1002001,NM", 256},
    };
    static const char *const bad[][2] = {
        {"R5", "write Larger than Life as"},
        {"R5,C0,M1,S34..58,B34..45", "write Larger"},
        {"R5,C0,M1,S34..58,B34..45,NX", "write Larger"},
        {"R5,C0,M1,S34..58,B34..45,NMM", "write Larger"},
        {"R5,C0,M1,S34-58,B34..45,NM", "write Larger"},
        {"R0,C0,M1,S1..1,B1..1,NM", "the range, R, is 1 to 500"},
        {"R501,C0,M1,S1..1,B1..1,NM", "the range"},
        {"R5,C257,M1,S34..58,B34..45,NM", "up to 256 states"},
        {"R5,C0,M2,S34..58,B34..45,NM", "M is 1"},
        {"R5,C0,M1,S58..34,B34..45,NM", "first number is the least"},
        {"R5,C0,M1,S34..58,B46..45,NM", "first number is the least"},
        {"R5,C0,M1,S34..122,B34..45,NM", "counts go from 0 to 121"},
        {"R5,C0,M0,S34..121,B34..45,NM", "from 0 to 120"},
        {"R2,C0,M0,S3..4,B13..13,NN", "from 0 to 12"},
        {"R3,C0,M1,S1..1,B38..38,NC", "from 0 to 37"},
        {"R99999999999,C0,M1,S1..1,B1..1,NM", "write Larger"},
        {"5,34,45,34", "write Larger"},
        {"5,34,45,34,58,1", "write Larger"},
    };
    char normal[LIFE_RULE_TEXT];
    (void)unused;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        works(life_rule_normal(good[i].text, normal));
        assert_string_equal(normal, good[i].normal);
        assert_int_equal(life_rule_states(normal), good[i].states);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        fails(EINVAL, life_rule_normal(bad[i][0], normal));
        assert_int_equal(life_rule_normal(bad[i][0], normal), -1);
        contains(clerror(), bad[i][1]);
    }
}

static const struct world {
    const char *rule;
    int range, states, middle;
    unsigned survival[2], birth[2];
    char shape;
    size_t width, height;
    enum life_bounds bounds;
} worlds[] = {
    {"R5,C0,M1,S34..58,B34..45,NM", 5, 2, 1, {34, 58}, {34, 45}, 'M', 101, 57, LIFE_TORUS},
    {"R1,C0,M0,S2..3,B3..3,NM", 1, 2, 0, {2, 3}, {3, 3}, 'M', 65, 33, LIFE_PLANE},
    {"R3,C4,M0,S9..20,B11..18,NM", 3, 4, 0, {9, 20}, {11, 18}, 'M', 131, 40, LIFE_PLANE},
    {"R2,C5,M1,S4..7,B4..6,NN", 2, 5, 1, {4, 7}, {4, 6}, 'N', 64, 50, LIFE_TORUS},
    {"R4,C0,M0,S12..22,B13..17,NN", 4, 2, 0, {12, 22}, {13, 17}, 'N', 8, 77, LIFE_TORUS},
    {"R3,C256,M0,S8..14,B9..15,NC", 3, 256, 0, {8, 14}, {9, 15}, 'C', 70, 19, LIFE_PLANE},
    {"R6,C0,M1,S57..90,B50..56,NC", 6, 2, 1, {57, 90}, {50, 56}, 'C', 45, 40, LIFE_TORUS},
    {"R2,C0,M1,S0..25,B0..6,NM", 2, 2, 1, {0, 25}, {0, 6}, 'M', 40, 40, LIFE_PLANE},
    {"R130,C3,M1,S20000..40000,B20000..36000,NM",
     130,
     3,
     1,
     {20000, 40000},
     {20000, 36000},
     'M',
     300,
     262,
     LIFE_TORUS},
};

/* True if a cell at dx, dy is a neighbour. */
static bool ltl_is_neighbour(const struct world *w, int dx, int dy)
{
    return w->shape == 'M' ||
           (w->shape == 'N' ? abs(dx) + abs(dy) <= w->range : hypot(dx, dy) < w->range + 0.5);
}

/* Compute a generation of each `every`-th cell only; the remaining cells take the engine's
 * result. */
static void ltl_reference_step(const struct world *w, unsigned char *now, long every)
{
    const long width = (long)w->width, height = (long)w->height;
    unsigned char *next = malloc(w->width * w->height);
    ready(next);
    for (long y = 0; y < height; y++)
        for (long x = 0; x < width; x++) {
            const unsigned char state = now[y * width + x];
            unsigned count = 0;
            next[y * width + x] = state;
            if ((y * width + x) % every)
                continue;
            for (int dy = -w->range; dy <= w->range; dy++)
                for (int dx = -w->range; dx <= w->range; dx++) {
                    const long u = (x + dx + width) % width, v = (y + dy + height) % height;
                    const bool there = w->bounds == LIFE_TORUS || (u == x + dx && v == y + dy);
                    count += there && ltl_is_neighbour(w, dx, dy) && (w->middle || dx || dy) &&
                             now[v * width + u] == 1;
                }
            const unsigned *s = state ? w->survival : w->birth;
            const bool lives = count >= s[0] && count <= s[1];
            next[y * width + x] = (unsigned char)(state == 0   ? lives
                                                  : state == 1 ? (lives           ? 1
                                                                  : w->states > 2 ? 2
                                                                                  : 0)
                                                               : (state + 1) % w->states);
        }
    memcpy(now, next, w->width * w->height);
    free(next);
}

static void check_ltl_world(const struct world *w, enum life_engine engine)
{
    const size_t n = w->width * w->height;
    const int generations =
        w->range > 100 ? 1
                       : 7; /* large ranges: one, with few cells, since the definition is slow */
    const size_t every = w->range > 100 ? 499 : 1;
    unsigned char *right = malloc(n), *got = malloc(n);
    struct life_sample sample[2];
    uint64_t population = 0;
    ready(right);
    ready(got);
    life *lf = life_create(&(struct life_options){.engine = engine,
                                                  .rule = w->rule,
                                                  .width = w->width,
                                                  .height = w->height,
                                                  .bounds = w->bounds});
    ready(lf);
    assert_int_equal(life_states(lf), w->states);
    assert_int_equal(life_neighbourhood_range(lf), w->range);
    for (size_t i = 0; i < n; i++) {
        const uint64_t r = life_mix(i + 1);
        right[i] = (unsigned char)(r % 3 ? r >> 8 & 1 : (r >> 8) % (unsigned)w->states);
    }
    works(life_put_states(lf, 0, 0, w->width, w->height, right));
    works(life_get_states(lf, 0, 0, w->width, w->height, got));
    assert_memory_equal(got, right, n);
    if (generations > 2)
        works(life_step(lf, (uint64_t)generations - 2));
    works(life_trace(lf, generations > 2 ? 2 : 1, sample));
    for (int g = 0; g < generations; g++)
        ltl_reference_step(w, right, (long)every);
    works(life_get_states(lf, 0, 0, w->width, w->height, got));
    for (size_t i = 0; i < n; i++) {
        if (i % every == 0 && got[i] != right[i])
            fail_msg("%s: cell %zu,%zu is %d, not %d", w->rule, i % w->width, i / w->width, got[i],
                     right[i]);
        population += got[i] != 0;
    }
    assert_int_equal(sample[generations > 2].population, population);
    if (population == 0 || population == n)
        fail_msg("%s: after %d generations all cells are the same, which shows little", w->rule,
                 generations);
    free(right);
    free(got);
    life_free(lf);
}

static void ltl_engines_match_definition(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        for (int e = LIFE_PACKED; e <= LIFE_REFERENCE; e += LIFE_REFERENCE - LIFE_PACKED)
            if (worlds[i].range < 100 || e == LIFE_PACKED)
                check_ltl_world(&worlds[i], (enum life_engine)e);
}

/* Slices of minimal length. */
static void ltl_slices_give_same_cells(void **unused)
{
    (void)unused;
    assert_int_equal(setenv("STDCL_SLICE", "1e-9", 1), 0);
    check_ltl_world(&worlds[0], LIFE_PACKED);
    check_ltl_world(&worlds[3], LIFE_PACKED);
    assert_int_equal(unsetenv("STDCL_SLICE"), 0);
}

/* R1, NM without the middle is Life. */
static void ltl_range_1_is_life(void **unused)
{
    uint64_t population[2];
    (void)unused;
    for (int i = 0; i < 2; i++) {
        life *lf = life_create(&(struct life_options){
            .rule = i ? "B3/S23" : "R1,C0,M0,S2..3,B3..3,NM", .width = 200, .height = 130});
        ready(lf);
        works(life_soup(lf, 0.4, 7));
        works(life_step(lf, 200));
        works(life_population(lf, &population[i]));
        life_free(lf);
    }
    assert_int_equal(population[0], population[1]);
}

/* Kellie Evans's oscillator, from Golly's Bosco.mcl: period 166. */
static void ltl_bosco_has_period_166(void **unused)
{
    static const char text[] =
        "x = 12, y = 11, rule = R5,C0,M1,S34..58,B34..45,NM\n"
        "6bo$4b5o$2b5ob2o$b5o3b2o$b4o5bo$4o5b3o$b4o3b3o$b5ob4o$2b8o$3b7o$4b5o!";
    struct life_pattern p;
    struct life_cells before, after;
    (void)unused;
    works(life_pattern_read_memory("bosco", text, strlen(text), &p));
    life *lf = life_create(&(struct life_options){.rule = p.rule, .width = 100, .height = 100});
    ready(lf);
    works(life_put(lf, 44, 44, &(struct life_cells){p.columns, p.rows, p.stride, p.word}));
    works(life_cells_alloc(&before, 100, 100));
    works(life_cells_alloc(&after, 100, 100));
    works(life_get(lf, 0, 0, &before));
    works(life_step(lf, 83));
    works(life_get(lf, 0, 0, &after));
    assert_int_not_equal(memcmp(before.word, after.word, 200 * sizeof *after.word), 0);
    works(life_step(lf, 83));
    works(life_get(lf, 0, 0, &after));
    assert_memory_equal(before.word, after.word, 200 * sizeof *after.word);
    life_cells_free(&before);
    life_cells_free(&after);
    life_pattern_free(&p);
    life_free(lf);
}

static void ltl_rejects_bad_options(void **unused)
{
    static const char rule[] = "R5,C0,M1,S34..58,B34..45,NM";
    (void)unused;
    fails_null(EINVAL, life_create(&(struct life_options){.rule = rule, .width = 9, .height = 50}));
    assert_null(life_create(&(struct life_options){.rule = rule, .width = 9, .height = 50}));
    contains(clerror(), "a side of a grid has at least 10 cells, twice the range, and not 9 x 50");
    fails_null(ENOTSUP, life_create(&(struct life_options){
                            .rule = rule, .width = 50, .height = 50, .engine = LIFE_GLOBAL}));
    fails_null(ENOTSUP, life_create(&(struct life_options){.rule = rule, .grid = "S50"}));
    fails_null(ENOTSUP, life_create(&(struct life_options){
                            .engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED, .rule = rule}));
    fails_null(EINVAL, life_census_create(&(struct life_census_options){.rule = rule}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ltl_rules_have_canonical_form),
        cmocka_unit_test(ltl_engines_match_definition),
        cmocka_unit_test(ltl_slices_give_same_cells),
        cmocka_unit_test(ltl_range_1_is_life),
        cmocka_unit_test(ltl_bosco_has_period_166),
        cmocka_unit_test(ltl_rejects_bad_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
