/* test_life_sweep.c - rules as data: sweeps against single runs of the engine `reference`, rule by
 * rule; slices of launches; refusals.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "deep.h"

#include "life/counting.h"
#include "stdcl/sweep.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { SIDE = LIFE_SWEEP_SIDE, CELLS = SIDE * SIDE, SOUPS = 3, SEED = 11 };
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

/* Read the states of all cells. */
static void take_states(life *lf, unsigned states, unsigned char state[CELLS])
{
    uint64_t rows[SIDE];
    if (states > 2) {
        works(life_get_states(lf, 0, 0, SIDE, SIDE, state));
        return;
    }
    works(life_get(lf, 0, 0, &(struct life_cells){SIDE, SIDE, 1, rows}));
    for (int i = 0; i < CELLS; i++)
        state[i] = rows[i / SIDE] >> i % SIDE & 1;
}

/* Run a soup with the engine `reference`, and add it to the result of some soups. */
static void add_soup(const char *rule, unsigned soups, uint32_t generations, uint64_t rows[SIDE],
                     struct life_sweep_result *r)
{
    static unsigned char mark[CELLS], next[CELLS];
    const unsigned states = (unsigned)life_rule_states(rule);
    unsigned population = 0, changed = 0, period = 0;
    life *lf = life_create(&(struct life_options){
        .engine = LIFE_REFERENCE, .width = SIDE, .height = SIDE, .rule = rule});
    ready(lf);
    works(life_put(lf, 0, 0, &(struct life_cells){SIDE, SIDE, 1, rows}));
    works(life_step(lf, generations));
    take_states(lf, states, mark);
    for (unsigned t = 1; t <= LIFE_SWEEP_PERIOD && !period; t++) {
        works(life_step(lf, 1));
        take_states(lf, states, next);
        for (int i = 0; i < CELLS && t == 1; i++) {
            population += mark[i] != 0;
            changed += mark[i] != next[i];
        }
        period = memcmp(mark, next, sizeof mark) == 0 ? t : 0;
    }
    life_free(lf);
    r->density += (double)population / (soups * CELLS);
    r->activity += (double)changed / (soups * CELLS);
    r->soups++;
    r->extinct += population == 0 && period == 1;
    r->settled += period > 0;
    r->period = period > r->period ? period : r->period;
}

static void check_equal(const char *rule, const struct life_sweep_result *have,
                        const struct life_sweep_result *want)
{
    if (fabs(have->density - want->density) > 1e-12 ||
        fabs(have->activity - want->activity) > 1e-12 || have->soups != want->soups ||
        have->extinct != want->extinct || have->settled != want->settled ||
        have->period != want->period)
        fail_msg("%s: density %g, activity %g, %u soups, %u extinct, %u settled, period %u, not "
                 "%g, %g, %u, %u, %u, %u",
                 rule, have->density, have->activity, have->soups, have->extinct, have->settled,
                 have->period, want->density, want->activity, want->soups, want->extinct,
                 want->settled, want->period);
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
                                        "B45678/S2345",
                                        "B2-a/S12",
                                        "B3/S2-i34q",
                                        "B2/S34H",
                                        "B2/S013V",
                                        "W110",
                                        "B01c/S1e",
                                        "/2/3",
                                        "345/2/4",
                                        "23/3/256",
                                        "0345/0/9"};
    enum { NAMED = sizeof named / sizeof *named, RULES = NAMED + 20, GENERATIONS = 150 };
    static char text[RULES][24];
    const char *rule[RULES];
    struct life_sweep_result have[RULES];
    uint64_t soup[SOUPS][SIDE];
    unsigned kinds = 0;
    (void)unused;
    for (unsigned i = 0; i < RULES; i++) {
        const struct life_rule counts = {i * 7919 >> 3 & 0x1ff, i * 104729 >> 5 & 0x1ff};
        rule[i] = i < NAMED ? named[i] : life_rule_string(&counts, text[i]);
    }
    take_soups(soup);
    works(life_sweep(
        &(struct life_sweep_options){
            .soups = SOUPS, .density = density, .seed = SEED, .generations = GENERATIONS},
        rule, RULES, have));
    for (size_t i = 0; i < RULES; i++) {
        struct life_sweep_result want = {.period = 0};
        for (int n = 0; n < SOUPS; n++)
            add_soup(rule[i], SOUPS, GENERATIONS, soup[n], &want);
        check_equal(rule[i], &have[i], &want);
        kinds |= want.extinct == SOUPS ? 1 : want.settled < SOUPS ? 2 : want.period > 1 ? 4 : 8;
    }
    assert_int_equal(kinds, 15); /* the rules have results of all kinds */
}

/* ---- Random rules. --------------------------------------------------------------------------- */

static uint64_t drawn;

static unsigned draw_below(unsigned n)
{
    return (unsigned)(life_mix(drawn += 0x9e3779b97f4a7c15u) >> 33) % n;
}

/* Write counts and letters of an isotropic rule: 1 to 7 neighbours. */
static char *put_random_counts(char *p)
{
    static const char *const letters[8] = {
        "", "ce", "ceaikn", "ceaiknjqry", "ceaiknjqrytwz", "ceaiknjqry", "ceaikn", "ce"};
    for (unsigned count = 1; count < 8; count++) {
        if (draw_below(2))
            continue;
        *p++ = (char)('0' + count);
        for (const char *l = letters[count]; *l; l++)
            if (draw_below(3) == 0)
                *p++ = *l;
    }
    return p;
}

static void put_random_rule(unsigned kind, char text[LIFE_RULE_TEXT])
{
    static const char base64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *p = text;
    if (kind % 3 == 0) {
        p += sprintf(p, "MAP");
        for (int i = 0; i < 86; i++)
            *p++ = base64[draw_below(64)];
    } else {
        *p++ = 'B';
        p = put_random_counts(p);
        p += sprintf(p, "/S");
        p = put_random_counts(p);
    }
    *p = '\0';
    if (kind % 2)
        sprintf(p, kind % 3 ? "/C%u" : "/%u", 3 + draw_below(kind % 8 == 1 ? 254 : 10));
}

/* 516 rules: isotropic, MAP, and Generations of both, against single runs: a fifth of them, or all
 * in `make test-deep`. */
static void sweep_random_rules_equal_single_runs(void **unused)
{
    enum { RULES = 516, GENERATIONS = 30 };
    static char text[RULES][LIFE_RULE_TEXT];
    static const char *rule[RULES];
    static struct life_sweep_result have[RULES];
    uint64_t soup[SOUPS][SIDE];
    (void)unused;
    for (unsigned i = 0; i < RULES; i++) {
        put_random_rule(i, text[i]);
        rule[i] = text[i];
    }
    take_soups(soup);
    works(life_sweep(
        &(struct life_sweep_options){
            .soups = 1, .density = density, .seed = SEED, .generations = GENERATIONS},
        rule, RULES, have));
    for (size_t i = 0; i < RULES; i++)
        if (sampled(i, 5)) {
            struct life_sweep_result want = {.period = 0};
            add_soup(rule[i], 1, GENERATIONS, soup[0], &want);
            check_equal(rule[i], &have[i], &want);
        }
}

/* ---- Slices. --------------------------------------------------------------------------------- */

static const char *const mixed[] = {"B3/S23", "B2-a/S12", "B/S", "B36/S23", "345/2/4", "B2/S"};
enum { MIXED = sizeof mixed / sizeof *mixed };

/* Launches of one generation each have the same results. */
static void sweep_slices_change_nothing(void **unused)
{
    const struct life_sweep_options options = {.soups = 5, .generations = 50};
    struct life_sweep_result whole[MIXED], sliced[MIXED];
    const char *slice = getenv("STDCL_SLICE");
    (void)unused;
    setenv("STDCL_SLICE", "100", 1);
    works(life_sweep(&options, mixed, MIXED, whole));
    setenv("STDCL_SLICE", "1e-9", 1);
    works(life_sweep(&options, mixed, MIXED, sliced));
    if (slice)
        setenv("STDCL_SLICE", slice, 1);
    else
        unsetenv("STDCL_SLICE");
    for (size_t i = 0; i < MIXED; i++)
        check_equal(mixed[i], &sliced[i], &whole[i]);
}

static size_t processors;

/* Replaces libc's, for parallel_for: if `processors` is not 0, the process has this number. */
int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
    memset(set, 0, size);
    for (size_t i = 0; i < processors; i++)
        CPU_SET_S(i, size, set);
    return processors || syscall(SYS_sched_getaffinity, pid, size, set) >= 0 ? 0 : -1;
}

/* A rule alone would take weeks on any device. The call returns soon, without a result of the rule,
 * also if one soup leaves all threads but one without work. */
static int cancel_soon(void *calls, double fraction)
{
    assert_true(fraction < 1e-3);
    return ++*(int *)calls > 2;
}

static void sweep_is_cancelled_within_a_rule(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < 6; i++) {
        struct life_sweep_result result;
        int calls = 0;
        processors = i < 2 ? 0 : 8;
        fails(ECANCELED,
              life_sweep(&(struct life_sweep_options){.soups = i < 2 ? 1 << 16 : 1,
                                                      .generations = UINT32_MAX,
                                                      .progress = cancel_soon,
                                                      .arg = &calls},
                         (const char *const[]){i == 1 ? "B1357/S1357" : "B2-a34-a/S23-a4-c"}, 1,
                         &result));
        processors = 0;
        assert_int_equal(calls, 3);
        assert_int_equal(result.soups, 0);
    }
}

static int cancel_sweep(void *arg, double fraction)
{
    (void)arg;
    return fraction > 0;
}

static void sweep_refuses(void **unused)
{
    const char *const rule[] = {"B3/S23"}, *const wrong[] = {"B3/S23", "B9/S"},
                      *const large[] = {"R2,C0,M1,S2..3,B3..3,NM"}, *const none[] = {NULL};
    struct life_sweep_result result[2];
    (void)unused;
    works(life_sweep(NULL, NULL, 0, NULL));
    fails(EINVAL, life_sweep(NULL, NULL, 1, result));
    fails(EINVAL, life_sweep(NULL, rule, 1, NULL));
    fails(EINVAL, life_sweep(NULL, wrong, 2, result));
    assert_int_equal(result[0].soups, 0);
    assert_int_equal(life_sweep(NULL, large, 1, result), -1);
    contains(clerror(), "is Larger than Life");
    fails(EINVAL, life_sweep(NULL, none, 1, result));
    fails(EINVAL, life_sweep(&(struct life_sweep_options){.soups = 1 << 20}, rule, 1, result));
    fails(EINVAL, life_sweep(&(struct life_sweep_options){.density = 2}, rule, 1, result));
    fails(EINVAL, life_sweep(&(struct life_sweep_options){.reserved = {1}}, rule, 1, result));
    fails(ECANCELED,
          life_sweep(&(struct life_sweep_options){.progress = cancel_sweep}, rule, 1, result));
}

static void sweep_classes_follow_results(void **unused)
{
    (void)unused;
    assert_string_equal(
        life_sweep_class(&(struct life_sweep_result){.soups = 4, .extinct = 4, .settled = 4}),
        "extinct");
    assert_string_equal(life_sweep_class(&(struct life_sweep_result){
                            .soups = 4, .extinct = 1, .settled = 4, .period = 1}),
                        "still");
    assert_string_equal(
        life_sweep_class(&(struct life_sweep_result){.soups = 4, .settled = 4, .period = 6}),
        "periodic");
    assert_string_equal(
        life_sweep_class(&(struct life_sweep_result){.soups = 4, .settled = 3, .period = 1}),
        "active");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweep_equals_reference),
        cmocka_unit_test(sweep_random_rules_equal_single_runs),
        cmocka_unit_test(sweep_slices_change_nothing),
        cmocka_unit_test(sweep_is_cancelled_within_a_rule),
        cmocka_unit_test(sweep_refuses),
        cmocka_unit_test(sweep_classes_follow_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
