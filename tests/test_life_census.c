/* test_life_census.c - the census: names of objects against Catagolue's, separation of objects,
 * a generation against plain C, and the ash of soups against HashLife, which runs them on an
 * unbounded plane.
 *
 * The codes are those of conwaylife.com/wiki.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include "formats/life.h"
#include "life/census.h"
#include "life/internal.h"
#include "life/isa.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct census_rule life_rule;

static uint64_t state = 1;

static uint64_t draw_census_cells(void)
{
    return life_mix(state += 0x9e3779b97f4a7c15u);
}

/* Read the cells of an apgcode or a pattern into a patch, rotated and mirrored by `way`. */
static void read_patch(const char *text, unsigned way, uint64_t patch[CENSUS_PATCH])
{
    struct life_pattern p;
    works(life_pattern_read_memory("pattern", text, strlen(text), &p));
    memset(patch, 0, CENSUS_PATCH * sizeof *patch);
    for (size_t y = 0; y < p.rows; y++)
        for (size_t x = 0; x < p.columns; x++) {
            const size_t u = way & 1 ? p.columns - 1 - x : x, v = way & 2 ? p.rows - 1 - y : y;
            if (p.word[v * p.stride + u / 64] >> u % 64 & 1)
                patch[(way & 4 ? x : y) + 12] |= (uint64_t)1 << ((way & 4 ? y : x) + 9);
        }
    life_pattern_free(&p);
}

/* ---- Names. ---------------------------------------------------------------------------------- */

static const struct {
    const char *code;
    unsigned period;
    int far, near; /* of its motion: the larger and the smaller component */
} catalogue[] = {
    {"xs4_33", 1, 0, 0},
    {"xs4_252", 1, 0, 0},
    {"xs5_253", 1, 0, 0},
    {"xs6_356", 1, 0, 0},
    {"xs6_696", 1, 0, 0},
    {"xs7_2596", 1, 0, 0},
    {"xs8_6996", 1, 0, 0},
    {"xs7_178c", 1, 0, 0},
    {"xs7_25ac", 1, 0, 0},
    {"xs6_39c", 1, 0, 0},
    {"xs12_g8o653z11", 1, 0, 0},
    {"xs18_rhe0ehr", 1, 0, 0},
    {"xs14_g88m952z121", 1, 0, 0},
    {"xp2_7", 2, 0, 0},
    {"xp2_7e", 2, 0, 0},
    {"xp2_318c", 2, 0, 0},
    {"xp3_co9nas0san9oczgoldlo0oldlogz1047210127401", 3, 0, 0},
    {"xp15_4r4z4r4", 15, 0, 0},
    {"xq4_153", 4, 1, 1},
    {"xq4_6frc", 4, 2, 0},
    {"xq4_27dee6", 4, 2, 0},
    {"xq4_27deee6", 4, 2, 0},
};

static void census_names_match_catagolue(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof catalogue / sizeof *catalogue; i++)
        for (unsigned way = 0; way < 8; way++) {
            uint64_t patch[CENSUS_PATCH], next[CENSUS_PATCH];
            struct census_motion m;
            char name[CENSUS_NAME];
            read_patch(catalogue[i].code, way, patch);
            for (unsigned phase = 0; phase < way % catalogue[i].period; phase++) {
                census_step(&life_rule, 1, patch, next);
                memcpy(patch, next, sizeof patch);
            }
            assert_int_equal(census_name(&life_rule, patch, 60, &m, name), 0);
            assert_string_equal(name, catalogue[i].code);
            assert_int_equal(m.period, catalogue[i].period);
            const int dx = abs(m.dx), dy = abs(m.dy);
            assert_int_equal(dx > dy ? dx : dy, catalogue[i].far);
            assert_int_equal(dx > dy ? dy : dx, catalogue[i].near);
        }
}

/* Write a rule as Golly's MAP: a bit for each block, north-west first. `next` has the block with
 * north-west as bit 0, south-east as bit 8. */
static const char *map_of(bool (*next)(unsigned block))
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static char text[100] = "MAP";
    unsigned digit[86] = {0};
    for (unsigned i = 0; i < 512; i++) {
        unsigned block = 0;
        for (unsigned k = 0; k < 9; k++)
            block |= (i >> (8 - k) & 1) << k;
        digit[i / 6] |= (unsigned)next(block) << (5 - i % 6);
    }
    for (size_t i = 0; i < 86; i++)
        text[3 + i] = digits[digit[i]];
    return text;
}

/* A cell stays with a neighbour to the west, the east or the north. */
static bool lies_or_hangs(unsigned block)
{
    return block & 1u << 4 && block & (1u << 1 | 1u << 3 | 1u << 5);
}

static void check_name(const struct census_rule *rule, const char *pattern, const char *code)
{
    uint64_t patch[CENSUS_PATCH];
    struct census_motion m;
    char name[CENSUS_NAME];
    read_patch(pattern, 0, patch);
    assert_int_equal(census_name(rule, patch, 60, &m, name), 0);
    assert_string_equal(name, code);
}

/* Names take only orientations that the rule has: 8, 12 of a hexagonal rule, or fewer. */
static void census_names_follow_symmetries_of_the_rule(void **unused)
{
    static const char *const dominoes[] = {"x = 2, y = 1\n2o!", "x = 1, y = 2\no$o!",
                                           "x = 2, y = 2\no$bo!"};
    struct census_rule hexagonal, lying;
    (void)unused;
    assert_int_equal(life_rule.ways, 8);
    works(census_rule_make(&hexagonal, "B/S1H"));
    assert_int_equal(hexagonal.ways, 12);
    for (size_t i = 0; i < 3; i++) /* the three directions in which hexagons are neighbours */
        check_name(&hexagonal, dominoes[i], "xs2_3");
    works(census_rule_make(&lying, map_of(lies_or_hangs)));
    assert_int_equal(lying.ways, 2);
    check_name(&lying, "x = 3, y = 2\n3o$2bo!", "xs4_113"); /* 17 after a quarter turn */
    check_name(&lying, "x = 3, y = 2\n3o$o!", "xs4_113");
}

static void census_dying_pattern_has_no_name(void **unused)
{
    uint64_t patch[CENSUS_PATCH];
    struct census_motion m;
    char name[CENSUS_NAME];
    (void)unused;
    read_patch("x = 3, y = 1\n2o!", 0, patch);
    assert_int_equal(census_name(&life_rule, patch, 60, &m, name), -1);
    read_patch("x = 7, y = 3\nbo$3bo$2o2b3o!", 0, patch); /* the acorn outgrows a patch */
    assert_int_equal(census_name(&life_rule, patch, 10000, &m, name), -1);
}

/* ---- Objects told apart. --------------------------------------------------------------------- */

static const struct {
    const char *pattern, *code;
    uint64_t count;
} ashes[] = {
    {"x = 5, y = 2\n2ob2o$2ob2o!", "xs4_33",
     2}, /* side by side: cells between have four neighbours */
    {"x = 9, y = 9\n4bo$4bo$4bo2$3o3b3o2$4bo$4bo$4bo!", "xp2_7", 4}, /* a traffic light */
    {"xs12_g8o653z11", "xs12_g8o653z11", 1},             /* two ships, tied by a corner */
    {"xs18_rhe0ehr", "xs18_rhe0ehr", 1},                 /* two halves, neither stable alone */
    {"x = 4, y = 5\no2bo$4o2$4o$o2bo!", "xs12_raar", 1}, /* table on table */
    {"xp2_318c", "xp2_318c", 1},                         /* two blocks alternately */
    {"x = 9, y = 4\n2o5b2o$2o5b2o2$3bo!", NULL, 0},      /* a cell that dies */
};

static void census_ash_is_separated(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof ashes / sizeof *ashes; i++)
        for (unsigned way = 0; way < 8; way++) {
            struct census_sorter sorter;
            uint64_t patch[CENSUS_PATCH];
            works(census_sorter_make(&sorter, &life_rule));
            read_patch(ashes[i].pattern, way, patch);
            assert_int_equal(census_sort(&sorter, 1, patch, 60), ashes[i].code != NULL);
            if (ashes[i].code) {
                census_soup_counts(&sorter, 7);
                assert_int_equal(sorter.objects, 1);
                assert_string_equal(sorter.object[0].name, ashes[i].code);
                assert_int_equal(sorter.object[0].count, ashes[i].count);
                assert_int_equal(sorter.object[0].first, 7);
            } else {
                census_soup_forgotten(&sorter);
            }
            census_sorter_free(&sorter);
        }
}

/* An oscillator and a domino that nearly touch: the same objects in whichever phase they are
 * seen. */
static void census_objects_do_not_depend_on_phase(void **unused)
{
    enum { PHASES = 6 };
    uint64_t patch[CENSUS_PATCH], next[CENSUS_PATCH];
    struct census_rule rule;
    (void)unused;
    works(census_rule_make(&rule, "B2-a/S12"));
    read_patch("x = 9, y = 7\n7bo$3b3obo2$3obob3o3$4bo!", 0, patch);
    struct {
        char name[CENSUS_NAME];
        uint64_t count;
    } first[2] = {{.count = 0}};
    size_t objects = 0;
    for (int phase = 0; phase < PHASES; phase++) {
        struct census_sorter sorter;
        works(census_sorter_make(&sorter, &rule));
        assert_true(census_sort(&sorter, 1, patch, 60));
        census_soup_counts(&sorter, 0);
        assert_in_range(sorter.objects, 1, 2);
        if (phase == 0)
            objects = sorter.objects;
        assert_int_equal(sorter.objects, objects);
        for (size_t i = 0; i < objects; i++) {
            const struct census_object *o = &sorter.object[i];
            if (phase == 0) {
                strcpy(first[i].name, o->name);
                first[i].count = o->count;
            }
            assert_string_equal(o->name, first[i].name);
            assert_int_equal(o->count, first[i].count);
        }
        census_sorter_free(&sorter);
        census_step(&rule, 1, patch, next);
        memcpy(patch, next, sizeof patch);
    }
}

/* Ships of equal velocity are objects of their own, as in Catagolue. */
static void census_parallel_ships_are_separated(void **unused)
{
    (void)unused;
    for (unsigned way = 0; way < 8; way++) {
        struct census_sorter sorter;
        uint64_t patch[CENSUS_PATCH] = {0}, glider[CENSUS_PATCH];
        works(census_sorter_make(&sorter, &life_rule));
        read_patch("xq4_153", way, glider);
        for (int y = 12; y < 20; y++) {
            patch[y + 12] |= glider[y] << 15;
            patch[y + 17] |= glider[y] << 15;
        }
        assert_true(census_add(&sorter, patch));
        census_soup_counts(&sorter, 0);
        assert_int_equal(sorter.objects, 1);
        assert_string_equal(sorter.object[0].name, "xq4_153");
        assert_int_equal(sorter.object[0].count, 2);
        census_sorter_free(&sorter);
    }
}

/* ---- A generation. --------------------------------------------------------------------------- */

static void census_generation_matches_reference(void **unused)
{
    static const char *const rules[] = {"B3/S23", "B36/S125", "B2-a/S12", "B2/S34H"};
    enum { MOST = 128 };
    static unsigned char from[MOST * MOST], to[MOST * MOST];
    static uint64_t box[2 * MOST], next[2 * MOST];
    (void)unused;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (size_t words = 1; words <= 2; words++) {
            struct census_rule rule;
            const size_t side = 64 * words;
            works(census_rule_make(&rule, rules[i]));
            for (size_t k = 0; k < side * words; k++)
                box[k] = k % 3 ? draw_census_cells() & draw_census_cells() : 0;
            for (size_t k = 0; k < side * side; k++)
                from[k] =
                    (unsigned char)census_cell(1, words, box, (int)(k % side), (int)(k / side));
            census_step(&rule, words, box, next);
            life_ref_family_rows(&rule.family, 0, LIFE_PLANE, side, side, 0, side, from, to);
            for (size_t k = 0; k < side * side; k++)
                assert_int_equal(census_cell(1, words, next, (int)(k % side), (int)(k / side)),
                                 to[k]);
        }
}

/* Under Generations, with counters of up to eight planes. */
static void census_states_match_reference(void **unused)
{
    static const char *const rules[] = {"/2/3", "345/2/4", "125/35/5", "23/36/256", "013/2/9V"};
    enum { MOST = 128, WORDS = 2 * MOST * CENSUS_PLANES };
    static unsigned char from[MOST * MOST], to[MOST * MOST];
    static uint64_t box[WORDS], next[WORDS], right[WORDS];
    (void)unused;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        for (size_t words = 1; words <= 2; words++) {
            struct census_rule rule;
            const size_t side = 64 * words;
            works(census_rule_make(&rule, rules[i]));
            memset(box, 0, sizeof box);
            memset(right, 0, sizeof right);
            for (size_t k = 0; k < side * side; k++) {
                const uint64_t r = draw_census_cells();
                from[k] = (unsigned char)(r & 1 ? (r >> 1) % rule.states : r >> 9 & 1);
                census_set_state(&rule, words, box, k % side, k / side, from[k]);
            }
            life_ref_family_rows(&rule.family, 0, LIFE_PLANE, side, side, 0, side, from, to);
            for (size_t k = 0; k < side * side; k++)
                census_set_state(&rule, words, right, k % side, k / side, to[k]);
            census_step(&rule, words, box, next);
            assert_memory_equal(next, right, census_bytes(&rule, words));
        }
}

/* ---- The plane of the host. ------------------------------------------------------------------ */

enum { PLANE_SIDE = 256, PLANE_SOUP = 100 };

static unsigned char plane_cell(const struct census_plane *p, size_t k)
{
    const int x = (int)(k % PLANE_SIDE) - PLANE_SIDE / 2,
              y = (int)(k / PLANE_SIDE) - PLANE_SIDE / 2;
    return census_plane_row(p, PLANE_NOW, x, y) & 1;
}

/* Compare steps of a soup with the reference. */
static void check_plane(plane_step *step, const char *text, int steps, int generations)
{
    static unsigned char from[PLANE_SIDE * PLANE_SIDE], to[PLANE_SIDE * PLANE_SIDE];
    struct census_plane p;
    struct census_rule rule;
    works(census_rule_make(&rule, text));
    const struct plane_rule next = census_plane_rule(&rule);
    assert_true(census_plane_make(&p));
    census_plane_clear(&p, PLANE_SIDE / 2);
    for (int y = 0; y < PLANE_SOUP; y++) {
        census_plane_put(&p, -PLANE_SOUP / 2, y - PLANE_SOUP / 2, draw_census_cells());
        census_plane_put(&p, 64 - PLANE_SOUP / 2, y - PLANE_SOUP / 2, draw_census_cells() >> 28);
    }
    for (size_t k = 0; k < sizeof from; k++)
        from[k] = plane_cell(&p, k);
    for (int i = 0; i < steps; i++) {
        step(&p, &next, generations);
        for (int g = 0; g < generations; g++) {
            life_ref_family_rows(&rule.family, 0, LIFE_PLANE, PLANE_SIDE, PLANE_SIDE, 0, PLANE_SIDE,
                                 from, to);
            memcpy(from, to, sizeof from);
        }
        for (size_t k = 0; k < sizeof from; k++)
            assert_int_equal(plane_cell(&p, k), from[k]);
        if (i == steps / 2)
            census_plane_wake(&p); /* changes nothing */
    }
    census_plane_free(&p);
}

/* A table of 512 random bits, but for the first: none is a symmetry. */
static const char map_rule[] =
    "MAPFcxNBzXH0Rm1gh4jN0cZ2vLkPq7sTyUoWaEiYbGfCzDnXvQ8wRt5u3yK6pJhLgSd9"
    "FoMeAqVrB1iUcx/E+kTzA";

/* For every set of instructions of this processor. B2/S starts in every cell, B3/S23 leaves tiles
 * that are not computed. */
static void census_plane_matches_reference(void **unused)
{
    static const char *const rules[] = {"B3/S23",   "B36/S125", "B2/S",     "B35678/S5678",
                                        "B2-a/S12", "B2/S34H",  "B2/S013V", map_rule};
    (void)unused;
    for (unsigned i = 0; life_isa(i); i++)
        for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
            check_plane(life_isa(i)->plane_step, rules[r], r ? 5 : 16, PLANE_STEP);
            check_plane(life_isa(i)->plane_step, rules[r], 3, 1);
        }
}

/* A plane without dirty tiles is periodic: still lifes and a blinker. A pulsar stays dirty. */
static void census_plane_knows_periodic_tiles(void **unused)
{
    const struct plane_rule next = census_plane_rule(&life_rule);
    struct census_plane p;
    (void)unused;
    assert_true(census_plane_make(&p));
    census_plane_clear(&p, 64);
    census_plane_put(&p, -30, 0, 7);
    census_plane_put(&p, 20, 3, 3);
    census_plane_put(&p, 20, 4, 3);
    assert_false(life_isa(0)->plane_step(&p, &next, PLANE_STEP));
    assert_int_equal(census_plane_row(&p, PLANE_NOW, -30, 0), 7);
    census_plane_wake(&p);
    assert_true(life_isa(0)->plane_step(&p, &next, 1));
    assert_int_equal(census_plane_row(&p, PLANE_NOW, -30, 0), 2);
    uint64_t patch[CENSUS_PATCH];
    read_patch("xp3_co9nas0san9oczgoldlo0oldlogz1047210127401", 0, patch);
    census_plane_clear(&p, 64);
    for (int y = 0; y < CENSUS_PATCH; y++)
        census_plane_put(&p, -32, y - 32, patch[y]);
    for (int i = 0; i < 30; i++)
        assert_true(life_isa(0)->plane_step(&p, &next, PLANE_STEP));
    for (int y = 0; y < CENSUS_PATCH; y++)
        assert_int_equal(census_plane_row(&p, PLANE_NOW, -32, y - 32), patch[y]);
    census_plane_free(&p);
}

/* Fly a glider from (x, y) outwards on the largest plane until it touches the edge, and compare its
 * cells in every step; then remove it. A step of four generations moves it by (dx, dy). */
static void check_outbound_glider(plane_step *step, const uint64_t glider[3], int x, int y, int dx,
                                  int dy)
{
    const struct plane_rule next = census_plane_rule(&life_rule);
    struct census_plane p;
    int strip = 0, found_x, found_y, steps = 0;
    assert_true(census_plane_make(&p));
    census_plane_clear(&p, PLANE_HALF);
    for (int j = 0; j < 3; j++)
        census_plane_put(&p, x, y + j, glider[j]);
    while (!census_plane_touches(&p, &found_x, &found_y)) {
        assert_true(steps++ < 64 && step(&p, &next, PLANE_STEP));
        for (int j = -30; j < 34; j++)
            assert_int_equal(
                census_plane_row(&p, PLANE_NOW, x + steps * dx - 30, y + steps * dy + j),
                j >= 0 && j < 3 ? glider[j] << 30 : 0);
    }
    assert_true(p.touched && steps > 8);
    const int across = abs(2 * found_x + 1) / 2, down = abs(2 * found_y + 1) / 2;
    assert_int_equal(across > down ? across : down, PLANE_HALF - CENSUS_EDGE);
    for (int j = 0; j < 3; j++)
        census_plane_kill(&p, x + steps * dx, y + steps * dy + j, glider[j]);
    assert_false(census_plane_find(&p, PLANE_NOW, &strip, &found_x, &found_y));
    assert_false(step(&p, &next, PLANE_STEP));
    census_plane_free(&p);
}

/* In all directions, at the corners and in the middle of the edges. */
static void census_largest_plane_holds_ships_at_the_edge(void **unused)
{
    enum { FAR = PLANE_HALF - 40 };
    plane_step *step[2] = {census_plane_step_any, life_isa(0)->plane_step};
    (void)unused;
    for (unsigned way = 0; way < 16; way++) {
        uint64_t patch[CENSUS_PATCH], glider[3];
        struct census_rectangle r;
        struct census_motion m;
        read_patch("xq4_153", way % 8, patch);
        assert_int_equal(census_name(&life_rule, patch, 60, &m, NULL), 0);
        assert_true(census_bounds(1, 1, patch, &r));
        for (int j = 0; j < 3; j++)
            glider[j] = patch[r.top + j] >> r.left;
        check_outbound_glider(step[way / 8], glider, m.dx * FAR, m.dy * FAR, m.dx, m.dy);
        check_outbound_glider(step[way / 8], glider, m.dx * FAR, 7, m.dx, m.dy);
        check_outbound_glider(step[way / 8], glider, -5, m.dy * FAR, m.dx, m.dy);
    }
}

/* A block-laying switch engine reaches the edge of the largest box. HashLife says where its
 * foremost cell is then. */
static void census_switch_engine_outgrows_the_largest_plane(void **unused)
{
    enum { STRIP = PLANE_STEP, LENGTH = 2 * PLANE_HALF };
    const uint64_t row[5] = {0x17, 0x01, 0x18, 0x16, 0x15};
    const struct census_soup soup = {5, 5, row, 100000, NULL, NULL};
    struct census_sorter sorter;
    struct life_cells edge;
    uint64_t generations, cells[5], at_edge = 0;
    (void)unused;
    works(census_sorter_make(&sorter, &life_rule));
    struct census_host *host = census_host_create(&life_rule);
    ready(host);
    assert_int_equal(census_host_soup(host, &sorter, &soup, &generations), CENSUS_UNDECIDED);
    census_soup_forgotten(&sorter);
    assert_in_range(generations, 11000, 13000); /* 8 cells in 96 generations */
    life *h = life_create(&(struct life_options){
        .engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED, .memory = (size_t)1 << 28});
    ready(h);
    memcpy(cells, row, sizeof cells);
    works(life_put(h, -2, -2, &(struct life_cells){5, 5, 1, cells}));
    works(life_step(h, generations));
    works(life_cells_alloc(&edge, STRIP, LENGTH));
    for (int side = 0; side < 2; side++) {
        works(life_get(h, side ? PLANE_HALF - STRIP : -PLANE_HALF, -PLANE_HALF, &edge));
        for (size_t i = 0; i < LENGTH; i++)
            at_edge += edge.word[i * edge.stride] != 0;
    }
    life_cells_free(&edge);
    works(life_cells_alloc(&edge, LENGTH, STRIP));
    for (int side = 0; side < 2; side++) {
        works(life_get(h, -PLANE_HALF, side ? PLANE_HALF - STRIP : -PLANE_HALF, &edge));
        for (size_t i = 0; i < STRIP * edge.stride; i++)
            at_edge += edge.word[i] != 0;
    }
    assert_in_range(at_edge, 1, 16);
    life_cells_free(&edge);
    life_free(h);
    census_host_free(host);
    census_sorter_free(&sorter);
}

/* ---- Ships that meet. ------------------------------------------------------------------------ */

/* True if two gliders collide that fly up, the left one to the right and the other to the left,
 * `apart` columns apart, the second `late` generations later. */
static bool gliders_meet(int apart, uint64_t late)
{
    struct census_ship ship[2] = {
        {.at = 100, .x = 0, .y = -32, .width = 3, .height = 3, .motion = {4, 1, -1}},
        {.at = 100 + late, .x = apart, .y = -32, .width = 3, .height = 3, .motion = {4, -1, -1}}};
    return census_ships_meet(&(struct census_ships){2, 2, ship});
}

static void census_colliding_ships_are_found(void **unused)
{
    (void)unused;
    assert_true(gliders_meet(40, 0));
    assert_true(gliders_meet(41, 12));
    assert_false(gliders_meet(40, 60));
    assert_false(gliders_meet(-40, 0));
}

/* True if a glider at (x, 0) that flies east and south is put back into a box of 128 x 128. */
static bool glider_returns(int x)
{
    static uint64_t box[256];
    struct census_ship ship = {
        .at = 100, .x = x, .width = 3, .height = 3, .motion = {4, 1, 1}, .row = {{2, 4, 7}}};
    struct census_ships ships = {1, 1, &ship};
    uint64_t cells = 0;
    memset(box, 0, sizeof box);
    census_ships_return(&life_rule, &ships, 2, box, 108); /* by two cells on */
    for (size_t i = 0; i < 256; i++)
        cells += (uint64_t)__builtin_popcountll(box[i]);
    assert_int_equal(cells, ships.n ? 0 : 5);
    return !ships.n;
}

/* At the edge it would leave the box before the edge is checked, and become a block there. */
static void census_ships_at_the_edge_stay_outside(void **unused)
{
    (void)unused;
    assert_true(glider_returns(0));
    assert_true(glider_returns(64 - CENSUS_EDGE - 5));
    assert_false(glider_returns(64 - CENSUS_EDGE - 4));
    assert_false(glider_returns(64 - 5));
    assert_false(glider_returns(70));
}

/* ---- Soups. ---------------------------------------------------------------------------------- */

/* Return the final population by HashLife, on a plane. */
static uint64_t cells_in_the_end(const char *rule, uint64_t seed, uint64_t soup)
{
    struct life_cells c;
    struct life_number n;
    works(life_cells_alloc(&c, 16, 16));
    for (size_t y = 0; y < 16; y++)
        c.word[y] = life_random_word((uint64_t)1 << 31, soup, y, seed) & 0xffff;
    life *h = life_create(&(struct life_options){.engine = LIFE_HASHLIFE,
                                                 .bounds = LIFE_UNBOUNDED,
                                                 .rule = rule,
                                                 .memory = (size_t)1 << 28,
                                                 .threads = 1});
    ready(h);
    works(life_put(h, 0, 0, &c));
    works(life_step(h, 1 << 14));
    works(life_population_exact(h, &n));
    life_free(h);
    life_cells_free(&c);
    return n.low;
}

/* Return the live cells of an object if equal in every phase, else 0. */
static uint64_t census_cells_of(const char *code)
{
    return strncmp(code, "xs", 2) == 0    ? strtoull(code + 2, NULL, 10)
           : strcmp(code, "xp2_7") == 0   ? 3
           : strcmp(code, "xp2_7e") == 0  ? 6
           : strcmp(code, "xq4_153") == 0 ? 5
                                          : 0;
}

/* Compare soups one by one; return the number of soups compared. */
static int compare_soups(const char *rule, uint64_t seed, uint64_t first, int soups)
{
    int compared = 0;
    for (int i = 0; i < soups; i++) {
        uint64_t cells = 0;
        bool varies = false;
        struct life_census_totals sums;
        size_t n;
        life_census *c = life_census_create(&(struct life_census_options){
            .rule = rule, .seed = seed, .first = first + (uint64_t)i});
        ready(c);
        works(life_census_run(c, 1));
        const struct life_object *o = life_census_objects(c, &n);
        ready((void *)o);
        for (size_t k = 0; k < n; k++) {
            varies |= !census_cells_of(o[k].code);
            cells += o[k].count * census_cells_of(o[k].code);
        }
        life_census_total(c, &sums);
        assert_int_equal(sums.soups + sums.undecided, 1);
        if (!varies && sums.soups) {
            assert_int_equal(cells, cells_in_the_end(rule, seed, first + (uint64_t)i));
            compared++;
        }
        life_census_free(c);
    }
    return compared;
}

static void census_soups_match_hashlife(void **unused)
{
    (void)unused;
    assert_in_range(compare_soups("B3/S23", 1, 0, 5), 3, 5);
    assert_int_equal(compare_soups("B3/S23", 1, 596, 1), 1);   /* a ship near a larger box's edge */
    assert_int_equal(compare_soups("B3/S23", 2, 11960, 1), 1); /* ships meet, then are put back */
    assert_in_range(compare_soups("B3/S2-i34q", 1, 40, 2), 1,
                    2); /* an isotropic rule whose soups settle soon */
}

/* Objects of the soups 0 to 29 of root "stdcl", counted by apgluxe v4.2 (A. P. Goucher). */
static const struct {
    const char *symmetry;
    uint64_t kinds, objects, blocks, blinkers, gliders;
} apgluxe[] = {
    {"C1", 14, 477, 143, 139, 50},    {"C2_1", 10, 828, 246, 298, 46},
    {"C2_2", 11, 820, 242, 290, 48},  {"C2_4", 13, 840, 262, 262, 54},
    {"C4_1", 11, 749, 228, 280, 40},  {"C4_4", 11, 822, 238, 288, 28},
    {"D2_+1", 12, 476, 182, 120, 26}, {"D2_x", 14, 320, 94, 98, 16},
    {"D4_+2", 12, 932, 294, 324, 4},  {"D4_x1", 15, 466, 98, 128, 12},
    {"D4_x4", 12, 665, 214, 168, 36}, {"D8_1", 12, 539, 140, 176, 0},
    {"D8_4", 12, 624, 158, 256, 0},
};

static uint64_t count_of(const struct life_object *o, size_t n, const char *code)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(o[i].code, code) == 0)
            return o[i].count;
    return 0;
}

static void census_symmetric_soups_match_apgluxe(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof apgluxe / sizeof *apgluxe; i++) {
        struct life_census_totals sums;
        size_t n;
        life_census *c = life_census_create(&(struct life_census_options){
            .ctx = stdcpu, .root = "stdcl", .symmetry = apgluxe[i].symmetry});
        ready(c);
        works(life_census_run(c, 30));
        const struct life_object *o = life_census_objects(c, &n);
        life_census_total(c, &sums);
        assert_int_equal(n, apgluxe[i].kinds);
        assert_int_equal(sums.objects, apgluxe[i].objects);
        assert_int_equal(count_of(o, n, "xs4_33"), apgluxe[i].blocks);
        assert_int_equal(count_of(o, n, "xp2_7"), apgluxe[i].blinkers);
        assert_int_equal(count_of(o, n, "xq4_153"), apgluxe[i].gliders);
        life_census_free(c);
    }
}

/* True if reflections map a soup to itself: left-right, top-bottom. */
static void check_reflections(const char *symmetry, bool across, bool down, size_t width,
                              size_t height)
{
    const struct life_census_options options = {.symmetry = symmetry, .width = 9, .height = 9};
    uint64_t row[CENSUS_PATCH], mirrored = 0;
    struct census_soups soups;
    works(census_soups_make(&soups, &options));
    assert_int_equal(soups.width, width);
    assert_int_equal(soups.height, height);
    census_soup_rows(&soups, 5, row);
    for (size_t y = 0; y < height; y++) {
        mirrored = 0;
        for (size_t x = 0; x < width; x++)
            mirrored |= (row[y] >> x & 1) << (width - 1 - x);
        assert_true(!across || mirrored == row[y]);
        assert_true(!down || row[y] == row[height - 1 - y]);
    }
}

static void census_soups_are_symmetric(void **unused)
{
    (void)unused;
    check_reflections("D2_+2", false, true, 9, 18);
    check_reflections("D4_+1", true, true, 17, 17);
    check_reflections("D4_+2", true, true, 18, 17);
    check_reflections("D4_+4", true, true, 18, 18);
    check_reflections("D8_1", true, true, 17, 17);
}

static void check_same_totals(const struct life_object *a, const struct life_object *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_string_equal(a[i].code, b[i].code);
        assert_int_equal(a[i].count, b[i].count);
        assert_int_equal(a[i].soup, b[i].soup);
    }
}

/* All at once, and in two parts by all devices. */
static void census_counts_are_equal_on_all_devices(void **unused)
{
    size_t n, m;
    (void)unused;
    const struct life_census_options options = {
        .seed = 5, .width = 12, .height = 10, .density = 0.4};
    life_census *once = life_census_create(&options), *parts;
    ready(once);
    works(life_census_run(once, 20));
    const struct life_object *o = life_census_objects(once, &n);
    struct life_census_options others = options;
    others.ctx = stddev;
    ready(parts = life_census_create(&others));
    works(life_census_run(parts, 13));
    works(life_census_run(parts, 7));
    const struct life_object *p = life_census_objects(parts, &m);
    assert_int_equal(n, m);
    assert_in_range(n, 4, 100);
    check_same_totals(o, p, n);
    double share = 0;
    for (size_t i = 0; i < n; i++) {
        share += o[i].share;
        assert_true(o[i].error > 0 && o[i].share_error < 1);
    }
    assert_true(share > 0.999999 && share < 1.000001);
    life_census_free(once);
    life_census_free(parts);
}

/* Soups on the host, one by one, and as the census runs them: on devices in
 * test_life_census_as_gpu. */
static void census_host_matches_devices(void **unused)
{
    static const char *const rules[] = {"B3/S23",     "B36/S23", "B38/S23",
                                        "B3/S2-i34q", "B2/S34H", "B2-a/S12"};
    enum { SOUPS = 60 };
    (void)unused;
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
        struct census_rule rule;
        struct census_sorter sorter;
        struct life_census_totals sums;
        const uint64_t first =
            r ? 0 : 580; /* soup 596 of seed 1: a glider is at the edge of a box */
        const int soups = r ? SOUPS / 6 : SOUPS;
        uint64_t generations, objects = 0;
        size_t n;
        works(census_rule_make(&rule, rules[r]));
        works(census_sorter_make(&sorter, &rule));
        struct census_host *host = census_host_create(&rule);
        ready(host);
        for (int i = 0; i < soups; i++) {
            uint64_t row[16];
            for (size_t y = 0; y < 16; y++)
                row[y] = life_random_word((uint64_t)1 << 31, first + (uint64_t)i, y, 1) & 0xffff;
            const struct census_soup soup = {16, 16, row, 100000, NULL, NULL};
            assert_int_equal(census_host_soup(host, &sorter, &soup, &generations), CENSUS_DECIDED);
            census_soup_counts(&sorter, first + (uint64_t)i);
        }
        life_census *c = life_census_create(
            &(struct life_census_options){.rule = rules[r], .seed = 1, .first = first});
        ready(c);
        works(life_census_run(c, (uint64_t)soups));
        const struct life_object *o = life_census_objects(c, &n);
        life_census_total(c, &sums);
        assert_int_equal(sums.undecided, 0);
        assert_int_equal(n, sorter.objects);
        for (size_t k = 0; k < n; k++)
            for (size_t j = 0; j < n; j++)
                if (strcmp(o[k].code, sorter.object[j].name) == 0) {
                    assert_int_equal(o[k].count, sorter.object[j].count);
                    assert_int_equal(o[k].soup, sorter.object[j].first);
                    objects += o[k].count;
                }
        assert_int_equal(objects, sums.objects);
        life_census_free(c);
        census_host_free(host);
        census_sorter_free(&sorter);
    }
}

/* By the definition, soup by soup. */
static void census_error_is_standard_error(void **unused)
{
    enum { SOUPS = 50 };
    struct life_census_totals sums = {.objects = 0};
    double squares = 0;
    (void)unused;
    life_census *c = life_census_create(&(struct life_census_options){.seed = 11});
    ready(c);
    for (int i = 0; i < SOUPS; i++) {
        const uint64_t before = sums.objects;
        works(life_census_run(c, 1));
        life_census_total(c, &sums);
        squares += (double)(sums.objects - before) * (double)(sums.objects - before);
    }
    const double all = (double)sums.objects, error = sqrt(squares - all * all / (double)sums.soups);
    assert_int_equal(sums.soups + sums.undecided, SOUPS);
    assert_true(error > 50 && fabs(sums.objects_error - error) < 1e-9 * error);
    life_census_free(c);
}

static int stop_at_once(void *arg, double fraction)
{
    (void)arg;
    (void)fraction;
    return 1;
}

static void census_progress_can_cancel(void **unused)
{
    struct life_census_totals sums;
    (void)unused;
    life_census *c = life_census_create(
        &(struct life_census_options){.width = 6, .height = 6, .progress = stop_at_once});
    ready(c);
    fails(ECANCELED, life_census_run(c, 1000000000));
    life_census_total(c, &sums); /* those in flight that ended soon */
    assert_in_range(sums.soups + sums.undecided, 0, 999999999);
    fails(ECANCELED, life_census_run(c, 1000000000)); /* it may go on */
    life_census_free(c);
}

static void census_rejects_bad_options(void **unused)
{
    (void)unused;
    fails_null(EINVAL, life_census_create(&(struct life_census_options){.rule = "B03/S23"}));
    fails_null(EINVAL, life_census_create(&(struct life_census_options){.rule = "23/03/4"}));
    fails_null(EINVAL, life_census_create(&(struct life_census_options){.rule = "R2,C0,S3,B3"}));
    fails_null(EINVAL, life_census_create(&(struct life_census_options){.width = 65}));
    life_census *plain = life_census_create(NULL);
    ready(plain);
    life_census_free(plain);
    fails_null(EINVAL, life_census_create(&(struct life_census_options){.density = 1.5}));
    fails_null(EINVAL, life_census_create(&(struct life_census_options){.reserved = {1}}));
    fails_null(EINVAL, life_census_create(&(struct life_census_options){.symmetry = "D9"}));
    fails_null(EINVAL, life_census_create(&(struct life_census_options){
                           .symmetry = "C4_1", .width = 8, .height = 9}));
    fails_null(EINVAL,
               life_census_create(&(struct life_census_options){.symmetry = "C2_4", .width = 33}));
    fails_null(EINVAL, life_census_create(&(struct life_census_options){.root = ""}));
    fails_null(EINVAL, life_census_create(&(struct life_census_options){.root = "r", .width = 8}));
    life_census_free(NULL);
}

static int make_rule(void **unused)
{
    (void)unused;
    return setup_done(census_rule_make(&life_rule, "B3/S23") == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(census_names_match_catagolue),
        cmocka_unit_test(census_names_follow_symmetries_of_the_rule),
        cmocka_unit_test(census_dying_pattern_has_no_name),
        cmocka_unit_test(census_ash_is_separated),
        cmocka_unit_test(census_objects_do_not_depend_on_phase),
        cmocka_unit_test(census_parallel_ships_are_separated),
        cmocka_unit_test(census_generation_matches_reference),
        cmocka_unit_test(census_states_match_reference),
        cmocka_unit_test(census_colliding_ships_are_found),
        cmocka_unit_test(census_plane_matches_reference),
        cmocka_unit_test(census_plane_knows_periodic_tiles),
        cmocka_unit_test(census_largest_plane_holds_ships_at_the_edge),
        cmocka_unit_test(census_switch_engine_outgrows_the_largest_plane),
        cmocka_unit_test(census_ships_at_the_edge_stay_outside),
        cmocka_unit_test(census_soups_match_hashlife),
        cmocka_unit_test(census_symmetric_soups_match_apgluxe),
        cmocka_unit_test(census_soups_are_symmetric),
        cmocka_unit_test(census_counts_are_equal_on_all_devices),
        cmocka_unit_test(census_host_matches_devices),
        cmocka_unit_test(census_error_is_standard_error),
        cmocka_unit_test(census_progress_can_cancel),
        cmocka_unit_test(census_rejects_bad_options),
    };
    return cmocka_run_group_tests(tests, make_rule, NULL);
}
