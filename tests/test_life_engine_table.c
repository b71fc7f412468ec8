/* test_life_engine_table.c - the table of engines: which engine life_create chooses, what it
 * refuses, and functions that all engines have.
 *
 * The expected choices are those of life/README.md, written out here.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "stdcl/life.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char large[] = "R2,C0,M1,S3..8,B5..9,NM";

static struct life_options options_of(enum life_engine engine, enum life_bounds bounds,
                                      const char *rule)
{
    struct life_options o = {.engine = engine, .bounds = bounds, .rule = rule};
    if (bounds == LIFE_JOINED) {
        o.bounds = LIFE_TORUS;
        o.grid = "K30*,20";
    } else if (bounds != LIFE_UNBOUNDED) {
        o.width = 30;
        o.height = 20;
    }
    return o;
}

/* ---- The choice. ----------------------------------------------------------------------------- */

static void engine_choice_follows_grid_and_rule(void **unused)
{
    static const struct {
        enum life_engine asked;
        enum life_bounds bounds;
        const char *rule;
        int chosen; /* -1: ENOTSUP */
        const char *how;
    } cases[] = {
        {LIFE_AUTO, LIFE_TORUS, NULL, LIFE_PACKED, "a bit a cell, several generations"},
        {LIFE_AUTO, LIFE_PLANE, "B03/S23", LIFE_PACKED, "a bit a cell, several generations"},
        {LIFE_AUTO, LIFE_JOINED, NULL, LIFE_PACKED, "with a margin"},
        {LIFE_AUTO, LIFE_TORUS, "345/2/4", LIFE_PACKED, "bit plane"},
        {LIFE_AUTO, LIFE_JOINED, "345/2/4", LIFE_PACKED, "a byte a cell"},
        {LIFE_AUTO, LIFE_TORUS, large, LIFE_PACKED, "a byte a cell"},
        {LIFE_AUTO, LIFE_JOINED, large, -1, "is Larger than Life"},
        {LIFE_AUTO, LIFE_UNBOUNDED, NULL, LIFE_HASHLIFE, "quadtree"},
        {LIFE_AUTO, LIFE_UNBOUNDED, "345/2/4", LIFE_HASHLIFE, "quadtree"},
        {LIFE_AUTO, LIFE_UNBOUNDED, "B03/S23", LIFE_HASHLIFE, "quadtree"},
        {LIFE_AUTO, LIFE_UNBOUNDED, "345/02/4", -1, "(B0)"},
        {LIFE_AUTO, LIFE_UNBOUNDED, large, LIFE_REFERENCE, "around the live cells"},
        {LIFE_AUTO, LIFE_UNBOUNDED, "R2,C0,S9-14,B0-1,9-13", LIFE_REFERENCE, "plain C"},
        {LIFE_AUTO, LIFE_UNBOUNDED, "R2,C3,S9-14,B0-1,9-13", -1, "(B0)"},
        {LIFE_AUTO, LIFE_UNBOUNDED, "B45/S456L", LIFE_REFERENCE, "plain C"},
        {LIFE_HASHLIFE, LIFE_UNBOUNDED, large, -1, "use the engine reference"},
        {LIFE_REFERENCE, LIFE_UNBOUNDED, NULL, -1, "use the engine hashlife or sparse"},
        {LIFE_SPARSE, LIFE_UNBOUNDED, "B2-a/S12", LIFE_SPARSE, "selected"},
        {LIFE_SPARSE, LIFE_UNBOUNDED, "345/2/4", -1, "use the engine hashlife"},
        {LIFE_SPARSE, LIFE_UNBOUNDED, "B03/S23", -1, "use the engine hashlife"},
        {LIFE_SPARSE, LIFE_TORUS, NULL, -1,
         "a torus; use the engine packed, local, global or reference"},
        {LIFE_PACKED, LIFE_UNBOUNDED, NULL, -1, "use the engine hashlife or sparse"},
        {LIFE_LOCAL, LIFE_TORUS, "345/2/4", -1, "use the engine packed or reference"},
        {LIFE_GLOBAL, LIFE_JOINED, "B2-a/S12", LIFE_GLOBAL, "an int a cell"},
        {LIFE_REFERENCE, LIFE_PLANE, large, LIFE_REFERENCE, "plain C"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct life_options o = options_of(cases[i].asked, cases[i].bounds, cases[i].rule);
        const char *why = "";
        const int chosen = life_choose(&o, &why);
        if (chosen != cases[i].chosen || (chosen < 0 && clerrno != ENOTSUP) ||
            !strstr(chosen < 0 ? clerror() : why, cases[i].how))
            fail_msg("case %zu: engine %d, '%s'", i, chosen, chosen < 0 ? clerror() : why);
        if (chosen >= 0)
            continue;
        assert_null(life_create(&o));
        assert_int_equal(clerrno, ENOTSUP);
    }
}

static void engine_names_lead_back(void **unused)
{
    (void)unused;
    for (int e = 0; e < LIFE_ENGINES; e++)
        assert_int_equal(life_engine_by_name(life_engine_name((enum life_engine)e)), e);
    assert_int_equal(life_engine_by_name("golly"), -1);
    contains(clerror(), "hashlife or sparse");
}

static void engine_rejects_size_of_plane(void **unused)
{
    (void)unused;
    fails_null(EINVAL, life_create(&(struct life_options){.bounds = LIFE_UNBOUNDED, .width = 5}));
    fails_null(EINVAL, life_create(&(struct life_options){.bounds = LIFE_UNBOUNDED, .grid = "S5"}));
}

/* ---- What all engines have. ------------------------------------------------------------------ */

static const enum life_engine engines[] = {LIFE_PACKED,    LIFE_LOCAL,    LIFE_GLOBAL,
                                           LIFE_REFERENCE, LIFE_HASHLIFE, LIFE_SPARSE};
enum { MANY = sizeof engines / sizeof *engines };

static life *engine_of(enum life_engine engine)
{
    const bool plane = engine == LIFE_HASHLIFE || engine == LIFE_SPARSE;
    const struct life_options o = options_of(engine, plane ? LIFE_UNBOUNDED : LIFE_PLANE, NULL);
    life *lf = life_create(&o);
    ready(lf);
    assert_int_equal(life_engine_of(lf), engine);
    contains(life_choice(lf), "selected");
    return lf;
}

static void check_box(life *lf, uint64_t left, uint64_t top, uint64_t right, uint64_t bottom)
{
    struct life_box b;
    assert_int_equal(life_bounding_box(lf, &b), 1);
    assert_true(b.left.low == left && b.top.low == top && b.right.low == right &&
                b.bottom.low == bottom);
    assert_true(!b.left.high && !b.top.high && !b.right.high && !b.bottom.high);
}

/* A blinker: columns 7 to 9 of row 5, then column 8 of rows 4 to 6. A rectangle with its middle
 * dead replaces cells. */
static void engine_functions_agree(void **unused)
{
    (void)unused;
    uint64_t row[3] = {7, 0, 0}, population;
    struct life_number exact;
    struct life_box box;
    for (int i = 0; i < MANY; i++) {
        life *lf = engine_of(engines[i]);
        assert_int_equal(life_bounding_box(lf, &box), 0);
        works(life_put(lf, 7, 5, &(struct life_cells){3, 1, 1, row}));
        check_box(lf, 7, 5, 10, 6);
        works(life_set_generation(lf, 1000));
        works(life_step(lf, 1));
        assert_true(life_generation(lf) == 1001);
        check_box(lf, 8, 4, 9, 7);
        works(life_population(lf, &population));
        works(life_population_exact(lf, &exact));
        assert_true(population == 3 && exact.low == 3 && exact.high == 0);
        uint64_t middle = 0;
        works(life_put(lf, 8, 5, &(struct life_cells){1, 1, 1, &middle}));
        works(life_population(lf, &population));
        assert_true(population == 2);
        unsigned char state[9];
        works(life_get_states(lf, 7, 4, 3, 3, state));
        assert_memory_equal(state, ((const unsigned char[]){0, 1, 0, 0, 0, 0, 0, 1, 0}), 9);
        works(life_put_states(lf, 7, 4, 3, 3, (const unsigned char[]){0, 0, 0, 1, 1, 1, 0, 0, 0}));
        check_box(lf, 7, 5, 10, 6);
        uint64_t count[4];
        works(life_density(lf, 8, 4, 2, 2, 1, count));
        assert_true(count[0] == 2 && !count[1] && !count[2] && !count[3]);
        works(life_clear(lf));
        assert_true(life_generation(lf) == 0);
        assert_int_equal(life_bounding_box(lf, &box), 0);
        works(life_put(lf, 7, 5, &(struct life_cells){3, 1, 1, row}));
        works(life_step(lf, 2));
        check_box(lf, 7, 5, 10, 6);
        life_free(lf);
    }
}

static int never(void *arg, long long x, long long y, const uint64_t cells[48])
{
    (void)arg, (void)x, (void)y, (void)cells;
    return 1;
}

static void engine_special_functions_say_enotsup(void **unused)
{
    (void)unused;
    struct life_sample sample;
    uint32_t square;
    uint64_t word, period, at;
    struct life_cells cell = {1, 1, 1, &word};
    for (int i = 0; i < MANY; i++) {
        const bool tree = engines[i] == LIFE_HASHLIFE, tiles = engines[i] == LIFE_SPARSE;
        life *lf = engine_of(engines[i]);
        if (tree || tiles) {
            fails(ENOTSUP, life_soup(lf, 0.5, 1));
            fails(ENOTSUP, life_measure(lf, &sample));
            fails(ENOTSUP, life_trace(lf, 1, &sample));
            fails(ENOTSUP, life_until_stable(lf, 9, &period, &at, NULL, NULL));
            works(life_get_zoomed(lf, 3, 0, 0, &cell));
        } else {
            fails(ENOTSUP, life_get_zoomed(lf, 3, 0, 0, &cell));
        }
        if (!tree) {
            fails(ENOTSUP, life_tree_add_bits(lf, 1, &square));
            fails(ENOTSUP, life_tree_set(lf, 0, 0));
        }
        if (!tiles)
            fails(ENOTSUP, life_walk_tiles(lf, never, NULL));
        life_free(lf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engine_choice_follows_grid_and_rule),
        cmocka_unit_test(engine_names_lead_back),
        cmocka_unit_test(engine_rejects_size_of_plane),
        cmocka_unit_test(engine_functions_agree),
        cmocka_unit_test(engine_special_functions_say_enotsup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
