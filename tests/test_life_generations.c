/* test_life_generations.c - rules of more than two states: their names, engines against the
 * definition, states in and out, files.
 *
 * Generations: a cell of state 1 that does not survive passes through states 2 ... n - 1 to 0,
 * and counts as dead meanwhile (M. Wojtowicz's MCell; Golly's help, "Generations").
 * SPDX-License-Identifier: MIT
 */
#include "files.h"

#include "formats/life.h"
#include "life/internal.h"
#include "stdcl/census.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void generations_rules_have_canonical_form(void **unused)
{
    static const struct {
        const char *text, *normal;
        int states;
    } good[] = {
        {"345/2/4", "345/2/4", 4}, {"B2/S345/C4", "345/2/4", 4},  {"b2/s345/4", "345/2/4", 4},
        {"/2/3", "/2/3", 3},       {"brain", "/2/3", 3},          {"013/2/4V", "013/2/4V", 4},
        {"34/2/5h", "34/2/5H", 5}, {"23/3/256", "23/3/256", 256}, {"23/3/2", "B3/S23", 2},
        {"23/3", "B3/S23", 2},
    };
    static const char *const bad[] = {"345/2/",    "345/2/1", "345/2/257", "345/2/4X", "349/2/4",
                                      "345/2/4/5", "5/2/4V",  "345/2/x",   "MAP/2/3"};
    char normal[LIFE_RULE_TEXT];
    (void)unused;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        works(life_rule_normal(good[i].text, normal));
        assert_string_equal(normal, good[i].normal);
        assert_int_equal(life_rule_states(good[i].text), good[i].states);
        works(life_rule_normal(normal, normal)); /* and that is read again */
        assert_string_equal(normal, good[i].normal);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        fails(EINVAL, life_rule_states(bad[i]));
}

/* One generation by the definition; `near` has the neighbours, as bits of dx, dy in the rows of
 * a block. */
static void generations_reference_step(unsigned birth, unsigned survival, unsigned states,
                                       unsigned near, bool torus, size_t width, size_t height,
                                       unsigned char *now)
{
    unsigned char *next = malloc(width * height);
    ready(next);
    for (size_t i = 0; i < width * height; i++) {
        unsigned count = 0;
        for (int k = 0; k < 9; k++) {
            long x = (long)(i % width) + k % 3 - 1, y = (long)(i / width) + k / 3 - 1;
            const bool inside = x >= 0 && y >= 0 && x < (long)width && y < (long)height;
            x = (x + (long)width) % (long)width;
            y = (y + (long)height) % (long)height;
            count +=
                (near >> k & 1) && (inside || torus) && now[(size_t)y * width + (size_t)x] == 1;
        }
        next[i] = (unsigned char)(now[i] == 0   ? birth >> count & 1
                                  : now[i] == 1 ? (survival >> count & 1 ? 1u : 2u)
                                                : now[i] + 1u);
        next[i] = next[i] == states ? 0 : next[i];
    }
    memcpy(now, next, width * height);
    free(next);
}

enum { ALL = 0x1ef, CROSS = 0xaa, HEXAGON = 0x1ab };

static const struct world {
    const char *rule;
    unsigned birth, survival, states, near;
    size_t width, height;
    enum life_bounds bounds;
} worlds[] = {
    {"345/2/4", 1 << 2, 1 << 3 | 1 << 4 | 1 << 5, 4, ALL, 100, 37, LIFE_TORUS},
    {"/2/3", 1 << 2, 0, 3, ALL, 64, 20, LIFE_TORUS},
    {"23/3/256", 1 << 3, 1 << 2 | 1 << 3, 256, ALL, 65, 30, LIFE_PLANE},
    {"1456/2356/16", 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6, 1 << 1 | 1 << 4 | 1 << 5 | 1 << 6, 16, ALL,
     1, 5, LIFE_TORUS},
    {"0/1/9", 1 << 1, 1, 9, ALL, 3, 1, LIFE_PLANE},
    {"013/2/4V", 1 << 2, 1 | 1 << 1 | 1 << 3, 4, CROSS, 130, 9, LIFE_TORUS},
    {"34/2/5H", 1 << 2, 1 << 3 | 1 << 4, 5, HEXAGON, 40, 40, LIFE_PLANE},
};

static void check_generations_world(const struct world *w, enum life_engine engine)
{
    const size_t n = w->width * w->height;
    unsigned char *right = malloc(n), *got = malloc(n);
    struct life_sample sample[3];
    ready(right);
    ready(got);
    life *lf = life_create(&(struct life_options){.engine = engine,
                                                  .rule = w->rule,
                                                  .width = w->width,
                                                  .height = w->height,
                                                  .bounds = w->bounds});
    ready(lf);
    assert_int_equal(life_states(lf), w->states);
    for (size_t i = 0; i < n; i++) {
        const uint64_t r = life_mix(i + 1);
        right[i] = (unsigned char)(r % 3 ? r % 2 : r / 8 % w->states);
    }
    works(life_put_states(lf, 0, 0, w->width, w->height, right));
    works(life_get_states(lf, 0, 0, w->width, w->height, got));
    assert_memory_equal(got, right, n);
    works(life_step(lf, 10));
    works(life_trace(lf, 3, sample));
    for (int g = 0; g < 13; g++)
        generations_reference_step(w->birth, w->survival, w->states, w->near,
                                   w->bounds == LIFE_TORUS, w->width, w->height, right);
    works(life_get_states(lf, 0, 0, w->width, w->height, got));
    assert_memory_equal(got, right, n);
    uint64_t population = 0;
    for (size_t i = 0; i < n; i++)
        population += right[i] != 0;
    assert_int_equal(sample[2].population, population);
    free(right);
    free(got);
    life_free(lf);
}

static void generations_engines_match_definition(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
        check_generations_world(&worlds[i], LIFE_PACKED);
        check_generations_world(&worlds[i], LIFE_REFERENCE);
    }
}

/* HashLife's plane has the cells of a grid too large for them to reach its edges. */
static void generations_hashlife_matches_grid(void **unused)
{
    enum {
        WIDTH = 40,
        HEIGHT = 33,
        STEPS = 29,
        ACROSS = WIDTH + 2 * STEPS,
        DOWN = HEIGHT + 2 * STEPS
    };
    static const char *const rules[] = {"345/2/4", "/2/3",    "23/3/256", "1456/2356/16",
                                        "0/1/9",   "34/2/5H", "12/2-a/8", "013/2/4V"};
    (void)unused;
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        unsigned char start[WIDTH * HEIGHT], plane[ACROSS * DOWN], grid[ACROSS * DOWN];
        life *h = life_create(&(struct life_options){
                 .engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED, .rule = rules[r]}),
             *g = life_create(&(struct life_options){.engine = LIFE_REFERENCE,
                                                     .bounds = LIFE_PLANE,
                                                     .width = ACROSS,
                                                     .height = DOWN,
                                                     .rule = rules[r]});
        ready(h);
        ready(g);
        for (size_t i = 0; i < sizeof start; i++) {
            const uint64_t random = life_mix(i + 1000 * r);
            start[i] = (unsigned char)(random % 3 ? 0 : random / 3 % life_states(h));
        }
        works(life_put_states(h, -7, 5, WIDTH, HEIGHT, start));
        works(life_put_states(g, STEPS, STEPS, WIDTH, HEIGHT, start));
        works(life_step(h, STEPS));
        works(life_step(g, STEPS));
        works(life_get_states(h, -7 - STEPS, 5 - STEPS, ACROSS, DOWN, plane));
        works(life_get_states(g, 0, 0, ACROSS, DOWN, grid));
        for (size_t i = 0; i < sizeof grid; i++)
            if (plane[i] != grid[i])
                fail_msg("%s: cell %zu,%zu is %d, not %d", rules[r], i % ACROSS, i / ACROSS,
                         plane[i], grid[i]);
        life_free(h);
        life_free(g);
    }
}

/* In Brian's Brain two live cells followed by two dying ones move: a ship of period 1. The torus
 * returns to its start after a number of generations equal to its width. */
static void generations_brain_ship_circles_torus(void **unused)
{
    static const unsigned char ship[4] = {2, 1, 2, 1};
    unsigned char all[20 * 9], later[20 * 9];
    uint64_t period, since;
    (void)unused;
    for (int e = LIFE_PACKED; e <= LIFE_REFERENCE; e += LIFE_REFERENCE - LIFE_PACKED) {
        life *lf = life_create(&(struct life_options){
            .engine = (enum life_engine)e, .rule = "brain", .width = 20, .height = 9});
        ready(lf);
        works(life_put_states(lf, 5, 4, 2, 2, ship));
        works(life_get_states(lf, 0, 0, 20, 9, all));
        works(life_until_stable(lf, 100, &period, &since, NULL, NULL));
        assert_int_equal(period, 20);
        assert_int_equal(since, 0);
        works(life_get_states(lf, 0, 0, 20, 9, later));
        assert_memory_equal(all, later, sizeof all);
        const uint64_t one = 1;
        works(
            life_put(lf, 5, 4,
                     &(struct life_cells){1, 1, 1, (uint64_t *)&one})); /* alive, no longer dying */
        works(life_get_states(lf, 5, 4, 1, 1, later));
        assert_int_equal(later[0], 1);
        works(life_clear(lf));
        works(life_get_states(lf, 0, 0, 20, 9, later));
        for (size_t i = 0; i < sizeof later; i++)
            assert_int_equal(later[i], 0);
        life_free(lf);
    }
}

/* Squares count nonzero cells, as the population does. */
static void generations_squares_count_nonzero_cells(void **unused)
{
    unsigned char all[23 * 9];
    uint64_t count[6 * 3];
    (void)unused;
    for (int e = LIFE_PACKED; e <= LIFE_REFERENCE; e += LIFE_REFERENCE - LIFE_PACKED) {
        life *lf = life_create(&(struct life_options){
            .engine = (enum life_engine)e, .rule = "345/2/5", .width = 23, .height = 9});
        ready(lf);
        works(life_soup(lf, 0.4, 7));
        works(life_step(lf, 3));
        works(life_get_states(lf, 0, 0, 23, 9, all));
        works(life_density(lf, 0, 0, 6, 3, 2, count));
        for (size_t i = 0; i < sizeof all; i++)
            count[i / 23 / 4 * 6 + i % 23 / 4] -= all[i] != 0;
        for (size_t i = 0; i < sizeof count / sizeof *count; i++)
            assert_int_equal(count[i], 0);
        life_free(lf);
    }
}

static void generations_rejects_bad_states(void **unused)
{
    const unsigned char state[2] = {0, 4};
    (void)unused;
    life *lf = life_create(&(struct life_options){.rule = "345/2/4", .width = 20, .height = 9});
    ready(lf);
    fails(EINVAL, life_put_states(lf, 0, 0, 2, 1, state));
    assert_int_equal(life_put_states(lf, 0, 0, 2, 1, state), -1);
    assert_non_null(strstr(clerror(), "cell 1,0 has state 4; rule 345/2/4 has states 0 to 3"));
    fails(EINVAL, life_put_states(lf, 19, 0, 2, 1, state));
    fails(EINVAL, life_get_states(lf, -1, 0, 1, 1, (unsigned char[1]){0}));
    life_free(lf);
    fails_null(ENOTSUP, life_create(&(struct life_options){
                            .rule = "345/2/4", .width = 20, .height = 9, .engine = LIFE_LOCAL}));
    fails_null(ENOTSUP,
               life_create(&(struct life_options){
                   .engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED, .rule = "345/02/4"}));
}

/* ---- Files. ---------------------------------------------------------------------------------- */

static void generations_files_keep_states(void **unused)
{
    enum { COLUMNS = 23, ROWS = 13 };
    unsigned char state[COLUMNS * ROWS];
    struct life_pattern p = {.width = 30,
                             .height = 20,
                             .left = 3,
                             .top = 2,
                             .columns = COLUMNS,
                             .rows = ROWS,
                             .stride = 1,
                             .states = 256,
                             .state = state},
                        q;
    uint64_t word[ROWS] = {0};
    (void)unused;
    for (size_t i = 0; i < sizeof state; i++) { /* 0 to 255, and some runs; a row of dead cells; the
                                                   rectangle is full to its edges */
        state[i] = i / COLUMNS == 5 ? 0 : (unsigned char)(i < 256 ? i : i / 7 % 3);
        state[i] = i % COLUMNS == 0 && i / COLUMNS != 5        ? 9
                   : i == COLUMNS - 1 || i == sizeof state - 1 ? 255
                                                               : state[i];
        word[i / COLUMNS] |= (uint64_t)(state[i] != 0) << i % COLUMNS;
    }
    p.word = word;
    snprintf(p.rule, sizeof p.rule, "23/3/256");
    p.placed = true;
    p.x = -8;
    p.y = 5;
    for (int i = 0; i < 2; i++) {
        const char *file = in_folder(i ? "a.mc" : "a.rle");
        works(life_pattern_write(file, &p, NULL));
        works(life_pattern_read(file, &q));
        assert_true(q.columns == COLUMNS && q.rows == ROWS && q.states == 256 &&
                    q.x + (long long)q.left == -8 + 3 && q.y + (long long)q.top == 5 + 2);
        assert_true(i || (q.width == 30 && q.height == 20));
        assert_string_equal(q.rule, p.rule);
        assert_memory_equal(q.state, state, sizeof state);
        assert_memory_equal(q.word, word, sizeof word);
        life_pattern_free(&q);
    }
    fails(ENOTSUP, life_pattern_write(in_folder("a.cells"), &p, NULL));
    works(life_pattern_write_png(in_folder("a.png"), &p, 2));
}

static void generations_rle_letters_are_states(void **unused)
{
    static const char good[] = "x = 9, y = 2, rule = /2/250\n.A2X2pA.pA$ yIo!",
                      alone[] = "x = 9, y = 1, rule = /2/250\n2Xp2A!";
    static const unsigned char right[] = {1, 24, 24, 25, 25, 0, 25};
    static const char *const bad[] = {"Z!", "yP!", "zA!"};
    struct life_pattern p;
    (void)unused;
    works(life_pattern_read_memory("alone", alone, strlen(alone), &p)); /* p alone is alive */
    assert_int_equal(p.columns, 5);
    assert_memory_equal(p.state, ((const unsigned char[]){24, 24, 1, 1, 1}), 5);
    life_pattern_free(&p);
    works(life_pattern_read_memory("good", good, strlen(good), &p));
    assert_int_equal(p.columns, 8);
    assert_memory_equal(p.state + 1, right, sizeof right);
    assert_int_equal(p.state[8], 249);
    assert_int_equal(p.state[9], 1);
    assert_int_equal(p.states, 250);
    life_pattern_free(&p);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        fails(EINVAL, life_pattern_read_memory("bad", bad[i], strlen(bad[i]), &p));
}

static void generations_mcell_is_read(void **unused)
{
    static const char text[] =
        "#MCell 4.20\n#GAME Generations\n#RULE 345/2/60\n#BOARD 40x30\n#WRAP 1\n#L .A2B$3aA.bK\n";
    struct life_pattern p;
    (void)unused;
    works(life_pattern_read_memory("good", text, strlen(text), &p));
    assert_string_equal(p.rule, "345/2/60");
    assert_string_equal(p.bounds, "T40,30");
    assert_int_equal(p.states, 60);
    assert_int_equal(p.columns, 5);
    assert_memory_equal(p.state, ((const unsigned char[]){0, 1, 2, 2, 0, 25, 25, 25, 0, 59}), 10);
    life_pattern_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generations_rules_have_canonical_form),
        cmocka_unit_test(generations_engines_match_definition),
        cmocka_unit_test(generations_hashlife_matches_grid),
        cmocka_unit_test(generations_brain_ship_circles_torus),
        cmocka_unit_test(generations_squares_count_nonzero_cells),
        cmocka_unit_test(generations_rejects_bad_states),
        cmocka_unit_test(generations_files_keep_states),
        cmocka_unit_test(generations_rle_letters_are_states),
        cmocka_unit_test(generations_mcell_is_read),
    };
    return cmocka_run_group_tests(tests, files_create, files_remove);
}
