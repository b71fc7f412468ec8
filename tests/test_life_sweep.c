/* test_life_sweep.c - rules as data: sweeps against the scalar reference, rule by rule; refusals.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include "stdcl/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = LIFE_SWEEP_SIDE, SOUPS = 3, GENERATIONS = 150, SEED = 11 };
static const double density = 0.375;

/* Soup n: columns of the cells that life_soup puts on a wide grid. */
static void take_soups(uint64_t soup[SOUPS][SIDE])
{
    struct life_cells cells;
    life *lf = life_create(&(struct life_options){
        .engine = LIFE_REFERENCE, .width = (size_t)SIDE * SOUPS, .height = SIDE});
    ready(lf);
    works(life_soup(lf, density, SEED));
    works(life_cells_alloc(&cells, (size_t)SIDE * SOUPS, SIDE));
    works(life_get(lf, 0, 0, &cells));
    for (size_t n = 0; n < SOUPS; n++)
        for (size_t y = 0; y < SIDE; y++)
            soup[n][y] = cells.word[y * cells.stride + n];
    life_cells_free(&cells);
    life_free(lf);
}

static void take_cells(life *lf, uint64_t rows[SIDE])
{
    works(life_get(lf, 0, 0, &(struct life_cells){SIDE, SIDE, 1, rows}));
}

/* Run a soup with the engine `reference`, and add it to the result. */
static void add_soup(const struct life_rule *rule, uint64_t rows[SIDE], struct life_sweep_result *r)
{
    uint64_t mark[SIDE], next[SIDE], population = 0, changed = 0;
    unsigned period = 0;
    char text[24];
    life *lf = life_create(&(struct life_options){.engine = LIFE_REFERENCE,
                                                  .width = SIDE,
                                                  .height = SIDE,
                                                  .rule = life_rule_string(rule, text)});
    ready(lf);
    works(life_put(lf, 0, 0, &(struct life_cells){SIDE, SIDE, 1, rows}));
    works(life_step(lf, GENERATIONS));
    take_cells(lf, mark);
    for (unsigned i = 1; i <= LIFE_SWEEP_PERIOD && !period; i++) {
        works(life_step(lf, 1));
        take_cells(lf, next);
        for (int y = 0; y < SIDE && i == 1; y++) {
            population += (uint64_t)__builtin_popcountll(mark[y]);
            changed += (uint64_t)__builtin_popcountll(mark[y] ^ next[y]);
        }
        period = memcmp(mark, next, sizeof mark) == 0 ? i : 0;
    }
    life_free(lf);
    r->density += (double)population / (SOUPS * SIDE * SIDE);
    r->activity += (double)changed / (SOUPS * SIDE * SIDE);
    r->extinct += population == 0 && period == 1;
    r->settled += period > 0;
    r->period = period > r->period ? period : r->period;
}

static void sweep_equals_reference(void **unused)
{
    static const char *const named[] = {"B3/S23",
                                        "B36/S23",
                                        "B2/S",
                                        "B/S012345678",
                                        "B1357/S1357",
                                        "B3678/S34678",
                                        "B/S",
                                        "B0/S",
                                        "B3/S012345678",
                                        "B0123478/S01234678",
                                        "B8/S8",
                                        "B1/S1",
                                        "B012345678/S012345678",
                                        "B45678/S2345"};
    enum { NAMED = sizeof named / sizeof *named, RULES = NAMED + 20 };
    struct life_rule rule[RULES];
    struct life_sweep_result have[RULES];
    uint64_t soup[SOUPS][SIDE];
    unsigned kinds = 0;
    (void)unused;
    for (size_t i = 0; i < NAMED; i++)
        works(life_rule_parse(named[i], &rule[i]));
    for (unsigned i = NAMED; i < RULES; i++)
        rule[i] = (struct life_rule){i * 7919 >> 3 & 0x1ff, i * 104729 >> 5 & 0x1ff};
    take_soups(soup);
    works(life_sweep(
        &(struct life_sweep_options){
            .soups = SOUPS, .density = density, .seed = SEED, .generations = GENERATIONS},
        rule, RULES, have));
    for (size_t i = 0; i < RULES; i++) {
        struct life_sweep_result want = {.period = 0};
        char text[24];
        for (int n = 0; n < SOUPS; n++)
            add_soup(&rule[i], soup[n], &want);
        if (fabs(have[i].density - want.density) > 1e-12 ||
            fabs(have[i].activity - want.activity) > 1e-12 || have[i].extinct != want.extinct ||
            have[i].settled != want.settled || have[i].period != want.period)
            fail_msg("%s: density %g, activity %g, %u extinct, %u settled, period %u, not %g, %g, "
                     "%u, %u, %u",
                     life_rule_string(&rule[i], text), have[i].density, have[i].activity,
                     have[i].extinct, have[i].settled, have[i].period, want.density, want.activity,
                     want.extinct, want.settled, want.period);
        kinds |= want.extinct == SOUPS ? 1 : want.settled < SOUPS ? 2 : want.period > 1 ? 4 : 8;
    }
    assert_int_equal(kinds, 15); /* the rules have results of all kinds */
}

static int cancel_sweep(void *arg, double fraction)
{
    (void)arg;
    return fraction > 0;
}

static void sweep_refuses(void **unused)
{
    const struct life_rule rule = {1 << 3, 1 << 2 | 1 << 3}, wrong = {1 << 9, 0};
    struct life_sweep_result result;
    (void)unused;
    works(life_sweep(NULL, NULL, 0, NULL));
    fails(EINVAL, life_sweep(NULL, NULL, 1, &result));
    fails(EINVAL, life_sweep(NULL, &rule, 1, NULL));
    fails(EINVAL, life_sweep(NULL, &wrong, 1, &result));
    fails(EINVAL, life_sweep(&(struct life_sweep_options){.soups = 1 << 20}, &rule, 1, &result));
    fails(EINVAL, life_sweep(&(struct life_sweep_options){.density = 2}, &rule, 1, &result));
    fails(EINVAL, life_sweep(&(struct life_sweep_options){.reserved = {1}}, &rule, 1, &result));
    fails(ECANCELED,
          life_sweep(&(struct life_sweep_options){.progress = cancel_sweep}, &rule, 1, &result));
}

static void sweep_classes_follow_results(void **unused)
{
    (void)unused;
    assert_string_equal(
        life_sweep_class(&(struct life_sweep_result){.extinct = 4, .settled = 4}, 4), "extinct");
    assert_string_equal(
        life_sweep_class(&(struct life_sweep_result){.extinct = 1, .settled = 4, .period = 1}, 4),
        "still");
    assert_string_equal(life_sweep_class(&(struct life_sweep_result){.settled = 4, .period = 6}, 4),
                        "periodic");
    assert_string_equal(life_sweep_class(&(struct life_sweep_result){.settled = 3, .period = 1}, 4),
                        "active");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweep_equals_reference),
        cmocka_unit_test(sweep_refuses),
        cmocka_unit_test(sweep_classes_follow_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
