/* test_life_larger_than_life.c - Larger than Life: written rules, engines against the
 * definition, rejected options.
 *
 * The definition: the number of cells in state 1 up to R columns and rows away (K. M. Evans,
 * "Larger than Life: digital creatures in a family of two-dimensional cellular automata", 2001;
 * the notations are those of Golly's help).
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include "formats/life.h"
#include "life/internal.h"
#include "stdcl/cell_list.h"
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
        {"R3,C2,S0,7-12,27,B8,12,20-27,N2", "R3,C0,S0,7-12,27,B8,12,20-27,N2", 2},
        {"r2,c3,s4-6,5-9,1,b7,8,9,nm", "R2,C3,S1,4-9,B7-9", 3}, /* joined as by bgolly 5 */
        {"R1,C0,S,B2", "R1,C0,S,B2", 2},
        {"R2,C0,S,B,N#", "R2,C0,S,B,N#", 2},
        {"R2,C0,M0,S1..2,B3..4,N*", "R2,C0,M0,S1..2,B3..4,N*", 2},
        {"R2,C0,S1,B1-3,N@89189fL", "R2,C0,S1,B1-3,N@89189FL", 2},
        {"R1,C3,S1,B3-5,NW8234f1323,01a", "R1,C3,S1,B3-5,NW8234F1323,01A", 3},
        {"R250,C0,S1,B3,NL", "R250,C0,S1,B3,NL", 2},
    };
    static const char *const bad[][2] = {
        {"R5", "write Larger than Life as"},
        {"R5,C0,M1,S34..58,B34..45", "write Larger"},
        {"R5,C0,M1,S34..58,B34..45,NX", "from 0 to 21"},
        {"R5,C0,M1,S34..58,B34..45,NQ", "write Larger"},
        {"R5,C0,S34..58,B34-45,NM", "write Larger"},
        {"R5,C0,S34-58,B34-45,N", "write Larger"},
        {"R5,C0,S34-58", "write Larger"},
        {"R5,C0,S34-58,B34-,NM", "write Larger"},
        {"R5,C0,S34-58,B34-121", "from 0 to 120"},
        {"R5,C0,S34-58,B45-34", "first number is the least"},
        {"R251,C0,S3,B3,NL", "the range, R, is 1 to 250"},
        {"R51,C0,S3,B3,NG", "the range, R, is 1 to 50"},
        {"R1,C0,S3,B3,NW12345678", "NW needs 9 hexadecimal digits, or 18, and not 8"},
        {"R1,C0,S3,B3,NW12345678g", "write Larger"},
        {"R1,C0,S3,B37,NW123456781", "from 0 to 29"},
        {"R1,C3,S3,B3,NW123456781,01", "write Larger"},
        {"R1,C3,S3,B3,NW123456781,101", "the weight of state 0 is 0"},
        {"R2,C0,S3,B3,N@89189", "N@ needs 6 hexadecimal digits, and not 5"},
        {"R2,C0,S3,B9,N@891891", "from 0 to 8"},
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

/* Population of a soup after three generations, by the scalar reference. */
static uint64_t ltl_population(const char *rule)
{
    uint64_t population = 0;
    life *lf = life_create(
        &(struct life_options){.engine = LIFE_REFERENCE, .width = 70, .height = 60, .rule = rule});
    ready(lf);
    works(life_soup(lf, 0.5, 3));
    works(life_step(lf, 3));
    works(life_population(lf, &population));
    life_free(lf);
    return population;
}

/* A rule of a thousand characters with equal weights is one of thirty; a rule that is too long is
 * refused, although its beginning is a rule. */
static void ltl_rules_may_be_long(void **unused)
{
    enum { SIDE = 31 };
    char text[4000], normal[LIFE_RULE_TEXT];
    int used = snprintf(text, sizeof text, "R15,C2,S300-480,B400-470,NW");
    (void)unused;
    for (int i = 0; i < SIDE * SIDE; i++)
        text[used++] = i == SIDE * SIDE / 2 ? '0' : '1';
    text[used] = '\0';
    assert_int_equal(ltl_population(text), ltl_population("R15,C2,S300-480,B400-470,NM"));
    used = snprintf(text, sizeof text, "R500,C2,S5,B");
    for (int i = 0; i < 200; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "%d-%d,", 100000 + 3 * i,
                         100001 + 3 * i);
    snprintf(text + used, sizeof text - (size_t)used, "900000");
    assert_int_equal(life_rule_normal(text, normal), -1);
    contains(clerror(), "too long");
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
    {"R7,C0,M0,S30..52,B36..50,NN", 7, 2, 0, {30, 52}, {36, 50}, 'N', 61, 43, LIFE_PLANE},
    {"R15,C4,M1,S120..200,B110..180,NN", 15, 4, 1, {120, 200}, {110, 180}, 'N', 90, 75, LIFE_TORUS},
    {"R3,C256,M0,S8..14,B9..15,NC", 3, 256, 0, {8, 14}, {9, 15}, 'C', 70, 19, LIFE_PLANE},
    {"R6,C0,M1,S57..90,B50..56,NC", 6, 2, 1, {57, 90}, {50, 56}, 'C', 45, 40, LIFE_TORUS},
    {"R2,C0,M1,S0..25,B1..6,NM", 2, 2, 1, {0, 25}, {1, 6}, 'M', 40, 40, LIFE_PLANE},
    /* large enough for several threads in plain C */
    {"R1,C0,M0,S2..3,B3..3,NM", 1, 2, 0, {2, 3}, {3, 3}, 'M', 800, 700, LIFE_TORUS},
    {"R1,C4,M1,S2..4,B2..3,NN", 1, 4, 1, {2, 4}, {2, 3}, 'N', 800, 700, LIFE_PLANE},
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
    /* large ranges: one generation, with few cells, since the definition is slow */
    const int generations = w->range > 6 ? 1 : 7;
    const size_t every = w->range > 100 ? 499 : w->range > 6 ? 31 : 1;
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
            check_ltl_world(&worlds[i], (enum life_engine)e);
}

/* Compare a square rule in plain C, with `middle`: the cell itself counts. */
static void check_ltl_square(unsigned range, unsigned states, bool middle,
                             const unsigned survival[2], const unsigned birth[2])
{
    char rule[80];
    const struct world w = {.rule = rule,
                            .range = (int)range,
                            .states = (int)states,
                            .middle = middle,
                            .survival = {survival[0], survival[1]},
                            .birth = {birth[0], birth[1]},
                            .shape = 'M',
                            .width = 2 * range + 37,
                            .height = 2 * range + 5,
                            .bounds = middle ? LIFE_PLANE : LIFE_TORUS};
    snprintf(rule, sizeof rule, "R%u,C%u,M%d,S%u..%u,B%u..%u,NM", range, states, middle,
             survival[0], survival[1], birth[0], birth[1]);
    check_ltl_world(&w, LIFE_REFERENCE);
}

/* Plain C adds up squares of different ranges in different ways. From R8 to R15 it adds bytes that
 * saturate if the rule tells no counts above 253 apart. */
static void ltl_squares_match_definition(void **unused)
{
    static const unsigned ranges[] = {4, 7, 8, 10, 11, 15, 16, 31, 127};
    (void)unused;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        for (unsigned states = 2; states <= 4; states += 2) {
            const unsigned range = ranges[i], all = (2 * range + 1) * (2 * range + 1);
            /* on either side of the expected count: half of the cells are alive, or 0.417 */
            const unsigned mean = states == 2 ? all / 2 : all * 5 / 12;
            check_ltl_square(range, states, i % 2, (const unsigned[]){0, mean},
                             (const unsigned[]){mean, all - 1});
            if (range > 7 && range < 16)
                check_ltl_square(range, states, i % 2, (const unsigned[]){mean / 2, 253},
                                 (const unsigned[]){mean / 2, mean < 250 ? mean : 250});
        }
}

/* Neighbourhoods of range 2, as drawn in Golly's help: the cells that count around the middle. Of
 * triangles those around a cell whose column and row have an even sum. */
static const struct {
    const char *shape, *row[5];
} drawings[] = {
    {"M", {"ooooo", "ooooo", "oo.oo", "ooooo", "ooooo"}},
    {"N", {"  o  ", " ooo ", "oo.oo", " ooo ", "  o  "}},
    {"C", {" ooo ", "ooooo", "oo.oo", "ooooo", " ooo "}},
    {"2", {"  o  ", " ooo ", "oo.oo", " ooo ", "  o  "}},
    {"B", {" o o ", "o o o", " o.o ", "o o o", " o o "}},
    {"D", {"o o o", " o o ", "o . o", " o o ", "o o o"}},
    {"+", {"  o  ", "  o  ", "oo.oo", "  o  ", "  o  "}},
    {"X", {"o   o", " o o ", "  .  ", " o o ", "o   o"}},
    {"*", {"o o o", " ooo ", "oo.oo", " ooo ", "o o o"}},
    {"#", {" o o ", "ooooo", " o.o ", "ooooo", " o o "}},
    {"H", {"ooo  ", "oooo ", "oo.oo", " oooo", "  ooo"}},
    {"A", {"o o  ", " oo  ", "oo.oo", "  oo ", "  o o"}},
    {"3", {"  o  ", "  o  ", "oo.  ", "   o ", "    o"}},
    {"G", {"ooooo", "ooooo", "oo.oo", "ooooo", "ooooo"}},
    {"L", {" ooooooo ", "ooooooooo", "oooo.oooo", " ooooooo ", "  ooooo  "}},
    {"@891891", {"o   o", "  o  ", " o.o ", "  o  ", "o   o"}},
    {"@891892", {"o   o", "  o  ", " o.o ", "  o  ", "o  o "}},
    {"@891892L", {"o   o", "  o  ", " o.o ", "  o  ", "o  o "}},
};

/* A cell that is born with any neighbour shows whether a lone cell is one. */
static bool ltl_feels(const char *rule, enum life_engine engine, long x, long y, int dx, int dy)
{
    unsigned char one = 1, born;
    life *lf = life_create(&(struct life_options){
        .engine = engine, .rule = rule, .width = 24, .height = 20, .bounds = LIFE_PLANE});
    ready(lf);
    works(life_put_states(lf, x + dx, y + dy, 1, 1, &one));
    works(life_step(lf, 1));
    works(life_get_states(lf, x, y, 1, 1, &born));
    life_free(lf);
    return born;
}

static void ltl_neighbourhoods_match_drawings(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof drawings / sizeof *drawings; i++) {
        const int columns = (int)strlen(drawings[i].row[0]) / 2;
        const bool triangles = strchr(drawings[i].shape, 'L');
        char rule[60];
        snprintf(rule, sizeof rule, "R2,C0,S,B1-%s,N%s", *drawings[i].shape == 'G' ? "9" : "2",
                 drawings[i].shape);
        for (int dy = -2; dy <= 2; dy++)
            for (int dx = -columns; dx <= columns; dx++)
                for (int odd = 0; odd < 2; odd++) {
                    const int row = triangles && odd ? -dy : dy;
                    const bool is = drawings[i].row[row + 2][dx + columns] == 'o',
                               middle = !dx && !dy;
                    if (!middle && ltl_feels(rule, LIFE_REFERENCE, 10 + odd, 8, dx, dy) != is)
                        fail_msg("%s: %d,%d %s", rule, dx, dy, is ? "counts not" : "counts");
                }
    }
}

/* Neighbourhoods of triangular cells as drawn in LifeViewer's source, around a cell whose edge is
 * above, and rules in both notations. */
static void ltl_triangles_match_drawings(void **unused)
{
    static const struct {
        const char *letters, *row[3];
    } shapes[] = {{"L", {"ooooo", "oo.oo", " ooo "}},  {"LV", {"oo oo", "o . o", " ooo "}},
                  {"LE", {"  o  ", " o.o ", "     "}}, {"LO", {" o o ", "o . o", " o o "}},
                  {"LI", {"o o o", " o.o ", "  o  "}}, {"LB", {" ooo ", "oo.oo", " o o "}},
                  {"LR", {"o   o", "  .  ", "  o  "}}};
    static const struct {
        const char *text, *normal;
    } good[] = {{"B45/S456L", "R1,C0,S4-6,B4-5,NL"},
                {"s0xz_b4yl", "R1,C0,S0,10,12,B4,11,NL"},
                {"45/456/4L", "R1,C4,S4-5,B4-6,NL"},
                {"B2/S/G3LE", "R2,C3,S,B2,N@011800L"},
                {"/2LE", "R2,C0,S,B2,N@011800L"}};
    static const char *const bad[] = {"B4/S4LE",  "B7/S0LO", "Bx/S0LB",     "B4/B5L",
                                      "4/5/6/7L", "B4/S5/L", "B4/S5|B4/S6L"};
    char normal[LIFE_RULE_TEXT];
    (void)unused;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int dy = -2; dy <= 2; dy++)
            for (int dx = -3; dx <= 3; dx++)
                for (int odd = 0; odd < 2 && (dx || dy); odd++) {
                    char rule[20];
                    const int row = odd ? -dy : dy;
                    const bool is =
                        abs(row) < 2 && abs(dx) < 3 && shapes[i].row[row + 1][dx + 2] == 'o';
                    snprintf(rule, sizeof rule, "B1/S%s", shapes[i].letters);
                    if (ltl_feels(rule, LIFE_REFERENCE, 10 + odd, 8, dx, dy) != is)
                        fail_msg("%s: %d,%d %s", rule, dx, dy, is ? "counts not" : "counts");
                }
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        works(life_rule_normal(good[i].text, normal));
        assert_string_equal(normal, good[i].normal);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        fails(EINVAL, life_rule_normal(bad[i], normal));
}

/* Rules of every way in which the kernel counts; with B0 in both forms. */
static const char *const compared[] = {
    "R3,C0,S5-9,B4-7,N+",
    "R4,C3,S7-9,B5-7,NX",
    "R2,C0,S4-9,B5-7,N*",
    "R3,C0,S4-9,B5-7,11-12,N#",
    "R3,C0,S0,7-12,15,B8,12,14-20,N2",
    "R2,C0,S4-7,9-12,B4,11-12,NB",
    "R5,C0,S20-30,B22-29,ND",
    "R3,C0,S10-18,B11-17,NH",
    "R3,C0,S4-9,B5-7,NA",
    "R4,C0,S3-6,B4-5,N3",
    "R2,C6,S9-16,B10-15,NL",
    "R9,C0,S1-255,B1-255,NL",
    "R3,C0,S60-120,B64-110,NG",
    "R2,C0,M1,S20..40,B22..36,NG",
    "R2,C0,S2-5,B2-3,N@F91892L",
    "R1,C0,S4-9,B5-8,NW1234f1323L",
    "R1,C0,S20-60,B25-50,NW0810080a850a081008",
    "R1,C4,S4-19,B5-18,NW123401323,012A",
    "R2,C0,S9-14,B0-1,11-13",
    "R2,C0,S9-14,24,B0-1,11-13",
    "R2,C0,M1,S0..25,B0..6,NM",
    "R3,C0,S5-9,36,B0,8-20,NH",
    "R2,C0,S6-12,B0,10-15,NC",
    "R2,C0,S8-20,B0,12-20,NL",
    "R1,C0,S4-9,B0,5-8,NW1234f1323",
};

static void ltl_step_states(const char *rule, enum life_engine engine, enum life_bounds bounds,
                            unsigned char *cells, size_t width, size_t height)
{
    life *lf = life_create(&(struct life_options){
        .engine = engine, .rule = rule, .width = width, .height = height, .bounds = bounds});
    struct life_sample last[2];
    ready(lf);
    works(life_set_generation(lf, 3));
    works(life_put_states(lf, 0, 0, width, height, cells));
    works(life_step(lf, 2));
    works(life_trace(lf, 2, last));
    works(life_step(lf, 1));
    works(life_get_states(lf, 0, 0, width, height, cells));
    life_free(lf);
}

/* Advance by the scalar reference: generations 3 ... 7, as ltl_step_states. */
static void ltl_step_scalar(const char *rule, enum life_bounds bounds, unsigned char *cells,
                            size_t width, size_t height)
{
    struct life_family family;
    unsigned char *next = malloc(width * height);
    ready(next);
    works(life_family_parse(rule, &family));
    for (uint64_t g = 3; g < 8; g++) {
        life_ref_family_rows(&family, g, bounds, width, height, 0, height, cells, next);
        memcpy(cells, next, width * height);
    }
    free(next);
}

static void ltl_kernel_matches_reference(void **unused)
{
    enum { W = 75, H = 42 };
    unsigned char cells[2][W * H];
    (void)unused;
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++)
        for (int bounds = LIFE_TORUS; bounds <= LIFE_PLANE; bounds++) {
            const unsigned states = (unsigned)life_rule_states(compared[i]);
            size_t live = 0;
            for (size_t k = 0; k < W * H; k++) {
                const uint64_t r = life_mix(k + 77);
                cells[0][k] = (unsigned char)(r % 3 ? r >> 8 & 1 : (r >> 8) % states);
            }
            memcpy(cells[1], cells[0], W * H);
            ltl_step_scalar(compared[i], (enum life_bounds)bounds, cells[0], W, H);
            ltl_step_states(compared[i], LIFE_PACKED, (enum life_bounds)bounds, cells[1], W, H);
            for (size_t k = 0; k < W * H; k++) {
                if (cells[0][k] != cells[1][k])
                    fail_msg("%s: cell %zu,%zu is %d, not %d", compared[i], k % W, k / W,
                             cells[1][k], cells[0][k]);
                live += cells[0][k] != 0;
            }
            if (live == 0 || live == W * H)
                fail_msg("%s: all cells are the same", compared[i]);
        }
}

/* Plain C computes only the box around the nonzero cells: here a patch in one place of a grid, over
 * edges and corners, which grows or dies. */
static void ltl_box_matches_reference(void **unused)
{
    enum { W = 61, H = 47, SIDE = 9 };
    static const char *const further[] = {"R2,C4,S1-3,B0,5-9", "R3,C0,M1,S0..0,B40..45,NM",
                                          "R2,C0,M1,S1..25,B2..25,NM",
                                          "R5,C0,M1,S34..58,B34..45,NM"};
    const size_t rules = sizeof compared / sizeof *compared, all = rules + 4;
    static const size_t corner[][2] = {{26, 19}, {0, 0}, {W - SIDE, 20}, {23, H - SIDE}};
    unsigned char cells[2][W * H];
    (void)unused;
    for (size_t i = 0; i < all * 4 * 2; i++) {
        const char *rule = i / 8 < rules ? compared[i / 8] : further[i / 8 - rules];
        const size_t *at = corner[i / 2 % 4];
        const enum life_bounds bounds = i % 2 ? LIFE_PLANE : LIFE_TORUS;
        const unsigned states = (unsigned)life_rule_states(rule);
        memset(cells, 0, sizeof cells);
        for (size_t k = 0; k < SIDE * SIDE; k++)
            cells[0][(at[1] + k / SIDE) * W + at[0] + k % SIDE] =
                (unsigned char)(life_mix(k + i) % 7 ? life_mix(k + i) >> 9 & 1
                                                    : (life_mix(k + i) >> 9) % states);
        memcpy(cells[1], cells[0], W * H);
        ltl_step_scalar(rule, bounds, cells[0], W, H);
        ltl_step_states(rule, LIFE_REFERENCE, bounds, cells[1], W, H);
        for (size_t k = 0; k < W * H; k++)
            if (cells[0][k] != cells[1][k])
                fail_msg("%s: patch at %zu,%zu: cell %zu,%zu is %d, not %d", rule, at[0], at[1],
                         k % W, k / W, cells[1][k], cells[0][k]);
    }
}

/* Cells that are put between two steps replace all that the engine has kept of them. */
static void ltl_cells_can_be_put_between_steps(void **unused)
{
    enum { W = 64, H = 64 };
    unsigned char cells[2][W * H];
    uint64_t population;
    (void)unused;
    life *lf = life_create(&(struct life_options){.engine = LIFE_REFERENCE,
                                                  .rule = compared[0],
                                                  .width = W,
                                                  .height = H,
                                                  .bounds = LIFE_PLANE});
    ready(lf);
    for (size_t k = 0; k < W * H; k++)
        cells[0][k] = k / W < 20 && life_mix(k) & 1;
    works(life_put_states(lf, 0, 0, W, H, cells[0]));
    works(life_step(lf, 2));
    memset(cells[0], 0, W * H);
    works(life_put_states(lf, 0, 0, W, H, cells[0]));
    works(life_population(lf, &population));
    assert_int_equal(population, 0);
    cells[0][40 * W + 50] = 1;
    works(life_put_states(lf, 50, 40, 1, 1, &cells[0][40 * W + 50]));
    works(life_get_states(lf, 0, 0, W, H, cells[1]));
    assert_memory_equal(cells[1], cells[0], W * H);
    works(life_step(lf, 0));
    works(life_population(lf, &population));
    assert_int_equal(population, 1);
    life_free(lf);
}

/* ---- Unbounded planes. ----------------------------------------------------------------------- */

static life *ltl_plane(const char *rule)
{
    life *lf = life_create(&(struct life_options){.bounds = LIFE_UNBOUNDED, .rule = rule});
    ready(lf);
    assert_int_equal(life_engine_of(lf), LIFE_REFERENCE);
    return lf;
}

struct ltl_rectangle {
    const unsigned char *cells;
    long long x, y; /* of its first cell */
    size_t width, height, seen;
};

static int ltl_see_run(void *arg, long long x, long long y, uint64_t n, unsigned state)
{
    struct ltl_rectangle *r = arg;
    for (uint64_t k = 0; k < n; k++)
        assert_int_equal(r->cells[(size_t)(y - r->y) * r->width + (size_t)(x - r->x) + k], state);
    r->seen += n;
    return 0;
}

/* Compare every function that looks at a plane with a rectangle that has all nonzero cells. */
static void ltl_check_plane(life *lf, const struct ltl_rectangle *right)
{
    const size_t width = right->width, height = right->height, n = width * height;
    unsigned char *got = malloc(n);
    size_t live = 0, left = width, top = height, end = 0, bottom = 0;
    struct ltl_rectangle walked = *right;
    struct life_cells zoomed;
    struct life_box box;
    uint64_t population, count[4];
    ready(got);
    works(life_get_states(lf, right->x, right->y, width, height, got));
    for (size_t i = 0; i < n; i++) {
        if (got[i] != right->cells[i])
            fail_msg("%s: cell %zu,%zu is %d, not %d", life_rule_text(lf), i % width, i / width,
                     got[i], right->cells[i]);
        if (!got[i])
            continue;
        live++;
        left = i % width < left ? i % width : left;
        end = i % width + 1 > end ? i % width + 1 : end;
        top = i / width < top ? i / width : top;
        bottom = i / width + 1;
    }
    works(life_population(lf, &population));
    assert_int_equal(population, live);
    works(life_walk_runs(lf, ltl_see_run, &walked));
    assert_int_equal(walked.seen, live);
    assert_int_equal(life_bounding_box(lf, &box), live > 0);
    if (live) {
        assert_int_equal(box.left.low, right->x + (long long)left);
        assert_int_equal(box.top.low, right->y + (long long)top);
        assert_int_equal(box.right.low, right->x + (long long)end);
        assert_int_equal(box.bottom.low, right->y + (long long)bottom);
    }
    works(life_density(lf, right->x, right->y, 2, 2, 9, count));
    assert_int_equal(count[0] + count[1] + count[2] + count[3], live);
    works(life_cells_alloc(&zoomed, width / 4 + 2, height / 4 + 2));
    works(
        life_get_zoomed(lf, 2, (right->x + 1000) / 4 - 250, (right->y + 1000) / 4 - 250, &zoomed));
    for (size_t i = 0; i < n; i++)
        if (got[i])
            assert_int_equal(life_cells_at(&zoomed,
                                           (size_t)((right->x + (long long)(i % width) + 1000) / 4 -
                                                    (right->x + 1000) / 4),
                                           (size_t)((right->y + (long long)(i / width) + 1000) / 4 -
                                                    (right->y + 1000) / 4)),
                             1);
    life_cells_free(&zoomed);
    free(got);
}

/* Compare a patch with the same patch on a plane with edges, which it does not reach. */
static void ltl_planes_match_reference(void **unused)
{
    enum { SIDE = 12, GENERATIONS = 3 };
    static const long long corner[][2] = {{-7, -2}, {100, -300}, {-51, 64}};
    (void)unused;
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
        struct life_family family;
        works(life_family_parse(compared[i], &family));
        const size_t margin = GENERATIONS * family.range, side = SIDE + 2 * margin;
        unsigned char *cells = calloc(side * side, 1), *next = malloc(side * side);
        ready(cells);
        ready(next);
        for (size_t k = 0; k < SIDE * SIDE; k++)
            cells[(margin + k / SIDE) * side + margin + k % SIDE] =
                (unsigned char)(life_mix(k + i) % 5 ? life_mix(k + i) >> 9 & 1
                                                    : (life_mix(k + i) >> 9) % family.states);
        life *lf = ltl_plane(compared[i]);
        /* with an even sum in files, whose row is y + 1, so that the same triangles have an edge
         * above */
        const long long y = corner[i % 3][1],
                        x = corner[i % 3][0] + ((corner[i % 3][0] + y + 1) & 1);
        const struct ltl_rectangle at = {cells, x, y, side, side, 0};
        works(life_put_states(lf, at.x, at.y, side, side, cells));
        works(life_set_generation(lf, 3));
        for (uint64_t g = 3; g < 3 + GENERATIONS; g++) {
            works(life_step(lf, 1));
            life_ref_family_rows(&family, g, LIFE_PLANE, side, side, 0, side, cells, next);
            memcpy(cells, next, side * side);
            ltl_check_plane(lf, &at);
        }
        assert_int_equal(life_generation(lf), 3 + GENERATIONS);
        life_free(lf);
        free(cells);
        free(next);
    }
}

/* Golly's Jitterbug.rle, a spaceship: far from the origin, and beyond its first field. */
static void ltl_plane_follows_ship(void **unused)
{
    static const char text[] = "x = 7, y = 8, rule = R4,C0,M1,S24..38,B22..31,NM\n"
                               "b4o$o4bo$o4b2o$2o2b3o$7o$b4o$b4o$b4o!";
    enum { SIDE = 500, GENERATIONS = 600 };
    const long long far = 1000000000000;
    struct life_pattern p;
    struct life_box box;
    unsigned char *right = malloc(SIDE * SIDE);
    (void)unused;
    ready(right);
    works(life_pattern_read_memory("jitterbug", text, strlen(text), &p));
    const struct life_cells cells = {p.columns, p.rows, p.stride, p.word};
    life *grid = life_create(&(struct life_options){
        .engine = LIFE_REFERENCE, .rule = p.rule, .width = SIDE, .height = SIDE});
    life *plane = ltl_plane(p.rule);
    ready(grid);
    works(life_put(grid, SIDE / 2, SIDE / 2, &cells));
    works(life_put(plane, far + SIDE / 2, -far + SIDE / 2, &cells));
    works(life_step(grid, GENERATIONS));
    works(life_step(plane, GENERATIONS));
    works(life_get_states(grid, 0, 0, SIDE, SIDE, right));
    assert_int_equal(life_bounding_box(plane, &box), 1);
    const long long dx = (long long)box.left.low - far - SIDE / 2,
                    dy = (long long)box.top.low + far - SIDE / 2;
    assert_true(dx * dx + dy * dy > 50 * 50);
    struct ltl_rectangle r = {right, far, -far, SIDE, SIDE, 0};
    uint64_t population;
    works(life_population(plane, &population));
    works(life_walk_runs(plane, ltl_see_run, &r));
    assert_int_equal(r.seen, population);
    works(life_population(grid, &population));
    assert_int_equal(r.seen, population);
    life_pattern_free(&p);
    life_free(grid);
    life_free(plane);
    free(right);
}

/* Cells that are put later and far apart; lists of cells; a plane that becomes empty. */
static void ltl_plane_takes_cells(void **unused)
{
    static const char rule[] = "R3,C0,S4-9,B5-7,NA";
    const struct life_cell spots[] = {{-900, -70}, {5, 0}, {6, 0}, {5000, 800}};
    life *lf = ltl_plane(rule);
    uint64_t population;
    unsigned char none[25] = {0}, state;
    (void)unused;
    life_list *list = life_list_create(spots, 4);
    ready(list);
    works(life_put_list(lf, list));
    works(life_population(lf, &population));
    assert_int_equal(population, 4);
    life_list *again = life_get_list(lf);
    ready(again);
    assert_true(life_list_equal(list, again));
    works(life_put_states(lf, 4, -2, 5, 5, none));
    works(life_population(lf, &population));
    assert_int_equal(population, 2);
    works(life_get_states(lf, 5000, 800, 1, 1, &state));
    assert_int_equal(state, 1);
    works(life_step(lf, 1000));
    works(life_population(lf, &population));
    assert_int_equal(population, 0);
    assert_int_equal(life_generation(lf), 1000);
    works(life_put_list(lf, list));
    works(life_clear(lf));
    works(life_population(lf, &population));
    assert_int_equal(population, 0);
    assert_int_equal(life_generation(lf), 0);
    life_list_free(list);
    life_list_free(again);
    life_free(lf);
}

/* Squares as wide as 2^60 cells, on both sides of the origin. */
static void ltl_planes_are_seen_from_afar(void **unused)
{
    static const long long at[][2] = {{0, 0}, {-1, 0}, {-1, -1}};
    unsigned char one = 1;
    struct life_cells far;
    (void)unused;
    life *lf =
        life_create(&(struct life_options){.bounds = LIFE_UNBOUNDED, .rule = "R2,C0,S9-14,B11-13"});
    ready(lf);
    for (size_t i = 0; i < 3; i++)
        works(life_put_states(lf, at[i][0], at[i][1], 1, 1, &one));
    works(life_cells_alloc(&far, 16, 16));
    for (unsigned zoom = 0; zoom <= 60; zoom += 12) {
        works(life_get_zoomed(lf, zoom, -8, -8, &far));
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(life_cells_at(&far, (size_t)(8 + at[i][0]), (size_t)(8 + at[i][1])),
                             1);
        assert_int_equal(life_cells_at(&far, 8, 7), 0);
        works(life_get_zoomed(lf, zoom, 1LL << 62, 0, &far));
        assert_int_equal(far.word[0], 0);
    }
    life_cells_free(&far);
    life_free(lf);
}

static void ltl_planes_have_limits(void **unused)
{
    unsigned char one = 1;
    uint64_t population, before;
    (void)unused;
    const struct life_options with_b0 = {.bounds = LIFE_UNBOUNDED,
                                         .rule = "R2,C3,S9-14,B0-1,11-13"};
    fails_null(ENOTSUP, life_create(&with_b0));
    assert_null(life_create(&with_b0));
    contains(clerror(), "an empty plane becomes alive");
    life *lf = life_create(&(struct life_options){
        .bounds = LIFE_UNBOUNDED, .rule = "R2,C0,S0-24,B1-24", .memory = 1 << 18});
    ready(lf);
    works(life_put_states(lf, 0, 0, 1, 1, &one));
    for (size_t held = life_device_bytes(lf), bytes; life_step(lf, 1) == 0; held = bytes) {
        bytes = life_device_bytes(lf);
        assert_true(bytes == held || held + bytes <= 1 << 18); /* two fields at a move */
    }
    fails(ENOMEM, life_step(lf, 1000));
    assert_int_equal(life_step(lf, 1000), -1);
    contains(clerror(), "the limit is 0.2621 MB");
    before = life_generation(lf); /* a square of 4 g + 1 cells a side */
    assert_true(before > 20);
    works(life_population(lf, &population));
    assert_int_equal(population, (4 * before + 1) * (4 * before + 1));
    fails(ENOMEM,
          life_put_states(lf, 2 * (long long)before + 5, 2 * (long long)before + 5, 1, 1, &one));
    fails(ERANGE, life_put_states(lf, 1LL << 62, 0, 1, 1, &one));
    works(life_population(lf, &before));
    assert_int_equal(before, population);
    life_free(lf);
}

/* ---- Regions of planes. ---------------------------------------------------------------------- */

static const char jitterbug[] = "x = 7, y = 8, rule = R4,C0,M1,S24..38,B22..31,NM\n"
                                "b4o$o4bo$o4b2o$2o2b3o$7o$b4o$b4o$b4o!";
static const char jitterbug_rule[] = "R4,C0,M1,S24..38,B22..31,NM";

/* Put the ship at a place, mirrored if its columns or rows are to be reversed. */
static void put_jitterbug(life *lf, long long x, long long y, bool across, bool down)
{
    struct life_pattern p;
    unsigned char cells[8][7];
    works(life_pattern_read_memory("jitterbug", jitterbug, strlen(jitterbug), &p));
    for (size_t j = 0; j < 8; j++)
        for (size_t i = 0; i < 7; i++)
            cells[down ? 7 - j : j][across ? 6 - i : i] = p.word[j * p.stride] >> i & 1;
    works(life_put_states(lf, x, y, 7, 8, &cells[0][0]));
    life_pattern_free(&p);
}

/* Compare the middle of a plane with a grid, which has all its cells. */
static void check_like_grid(life *plane, life *grid, size_t side)
{
    unsigned char *cells = malloc(side * side);
    ready(cells);
    works(life_get_states(grid, 0, 0, side, side, cells));
    ltl_check_plane(plane, &(const struct ltl_rectangle){cells, -(long long)side / 2,
                                                         -(long long)side / 2, side, side, 0});
    free(cells);
}

/* Two ships 10^6 columns and rows apart take the memory of two ships. */
static void ltl_far_cells_take_little_memory(void **unused)
{
    enum { FAR = 1000000, GENERATIONS = 300 };
    unsigned char near[200 * 200], far[200 * 200];
    struct life_box box;
    uint64_t population, both;
    (void)unused;
    life *one = ltl_plane(jitterbug_rule);
    life *two = life_create(&(struct life_options){
        .bounds = LIFE_UNBOUNDED, .rule = jitterbug_rule, .memory = (size_t)4 << 20});
    ready(two);
    put_jitterbug(one, 0, 0, false, false);
    put_jitterbug(two, 0, 0, false, false);
    put_jitterbug(two, FAR, -FAR, false, false);
    works(life_step(one, GENERATIONS));
    works(life_step(two, GENERATIONS));
    works(life_get_states(one, -100, -100, 200, 200, near));
    for (int i = 0; i < 2; i++) {
        works(life_get_states(two, i ? FAR - 100 : -100, i ? -FAR - 100 : -100, 200, 200, far));
        assert_memory_equal(far, near, sizeof near);
    }
    works(life_population(one, &population));
    works(life_population(two, &both));
    assert_int_equal(both, 2 * population);
    assert_int_equal(life_bounding_box(two, &box), 1);
    assert_in_range(box.right.low - box.left.low, FAR, FAR + 20);
    assert_true(life_device_bytes(two) <= 2 * life_device_bytes(one));
    life_free(one);
    life_free(two);
}

/* Ships that meet, ships that part, and clusters of random cells, as on a grid. */
static void ltl_regions_join_and_part(void **unused)
{
    enum { SIDE = 1200, GENERATIONS = 400, EVERY = 40 };
    (void)unused;
    life *plane = ltl_plane(jitterbug_rule);
    life *grid = life_create(&(struct life_options){.engine = LIFE_REFERENCE,
                                                    .rule = jitterbug_rule,
                                                    .bounds = LIFE_PLANE,
                                                    .width = SIDE,
                                                    .height = SIDE});
    ready(grid);
    for (int i = 0; i < 8; i++) { /* four near the middle, four that come from outside */
        const long long off = i < 4 ? 12 : 150, x = i & 1 ? off : -off, y = i & 2 ? off : -off;
        put_jitterbug(plane, x, y, i & 1, i & 2);
        put_jitterbug(grid, x + SIDE / 2, y + SIDE / 2, i & 1, i & 2);
    }
    for (int i = 0; i < 30; i++) {
        const uint64_t r = life_mix((uint64_t)i);
        const long long x = (long long)(r % 800) - 400, y = (long long)(r >> 20) % 800 - 400;
        unsigned char cells[16 * 16];
        for (size_t k = 0; k < sizeof cells; k++)
            cells[k] = life_mix(r + k) % 5 < 2;
        works(life_put_states(plane, x, y, 16, 16, cells));
        works(life_put_states(grid, x + SIDE / 2, y + SIDE / 2, 16, 16, cells));
    }
    for (int g = 0; g < GENERATIONS; g += EVERY) {
        check_like_grid(plane, grid, SIDE);
        works(life_step(plane, EVERY));
        works(life_step(grid, EVERY));
    }
    life_free(plane);
    life_free(grid);
}

/* A pair of ships that fly apart is divided: its memory does not grow with their distance. */
static void ltl_parting_ships_are_divided(void **unused)
{
    size_t bytes[3];
    uint64_t population;
    struct life_box box;
    (void)unused;
    life *lf = ltl_plane(jitterbug_rule);
    put_jitterbug(lf, -20, -20, false, false);
    put_jitterbug(lf, 20, 20, true, true);
    for (int i = 0; i < 3; i++) {
        works(life_step(lf, 4000));
        bytes[i] = life_device_bytes(lf);
    }
    works(life_population(lf, &population));
    assert_true(population > 0);
    assert_int_equal(life_bounding_box(lf, &box), 1);
    assert_true(box.bottom.low - box.top.low > 1000 || box.right.low - box.left.low > 1000);
    assert_true(bytes[2] < 2 * bytes[0]);
    life_free(lf);
}

/* Cells that spread 2^60 columns to the left move from region to region. */
static void ltl_regions_move_far_left(void **unused)
{
    enum { SIDE = 300, GENERATIONS = 70 };
    static unsigned char cells[2][SIDE * SIDE];
    const long long far[2] = {0, 1LL << 60};
    (void)unused;
    for (int i = 0; i < 2; i++) {
        life *lf = ltl_plane("R2,C0,S0-11,B1-9,NM");
        const unsigned char one = 1;
        works(life_put_states(lf, -far[i], far[i], 1, 1, &one));
        const size_t bytes = life_device_bytes(lf);
        works(life_step(lf, GENERATIONS));
        assert_true(life_device_bytes(lf) > bytes);
        works(life_get_states(lf, -far[i] - SIDE / 2, far[i] - SIDE / 2, SIDE, SIDE, cells[i]));
        life_free(lf);
    }
    assert_memory_equal(cells[0], cells[1], sizeof cells[0]);
    assert_int_equal(cells[0][SIDE / 2 * SIDE + SIDE / 2 - 2 * GENERATIONS], 1);
}

static int cancel_report(void *calls, double fraction)
{
    (void)fraction;
    return --*(int *)calls == 0;
}

/* Cancel report number `calls` of a generation of lines far apart, and compute it again. */
static void check_cancelled_regions(int lines, size_t length, int calls)
{
    enum { LONGEST = 3000, FAR = 1000000 };
    static unsigned char line[LONGEST];
    uint64_t before, after;
    life *lf = life_create(&(struct life_options){.bounds = LIFE_UNBOUNDED,
                                                  .rule = "R200,C0,S1-9,B1-9,NC",
                                                  .threads = 1,
                                                  .progress = cancel_report,
                                                  .arg = &calls});
    ready(lf);
    memset(line, 1, sizeof line);
    for (long long i = 0; i < lines; i++)
        works(life_put_states(lf, i * FAR, i * FAR, length, 1, line));
    life_list *cells = life_get_list(lf);
    works(life_population(lf, &before));
    fails(ECANCELED, life_step(lf, 1));
    assert_int_equal(calls, 0);
    assert_int_equal(life_generation(lf), 0);
    works(life_population(lf, &after));
    assert_int_equal(after, before);
    life_list *again = life_get_list(lf);
    assert_true(life_list_equal(cells, again));
    works(life_step(lf, 1));
    works(life_population(lf, &after));
    assert_true(after > before);
    life_list_free(cells);
    life_list_free(again);
    life_free(lf);
}

/* A call that is cancelled in the second region, or between regions that are too small for reports
 * of their own, leaves all of them as they were. */
static void ltl_cancelled_regions_stay(void **unused)
{
    (void)unused;
    check_cancelled_regions(2, 3000, 3);
    check_cancelled_regions(4, 1000, 1);
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
        cmocka_unit_test(ltl_rules_may_be_long),
        cmocka_unit_test(ltl_engines_match_definition),
        cmocka_unit_test(ltl_squares_match_definition),
        cmocka_unit_test(ltl_neighbourhoods_match_drawings),
        cmocka_unit_test(ltl_triangles_match_drawings),
        cmocka_unit_test(ltl_kernel_matches_reference),
        cmocka_unit_test(ltl_box_matches_reference),
        cmocka_unit_test(ltl_cells_can_be_put_between_steps),
        cmocka_unit_test(ltl_planes_match_reference),
        cmocka_unit_test(ltl_plane_follows_ship),
        cmocka_unit_test(ltl_plane_takes_cells),
        cmocka_unit_test(ltl_planes_are_seen_from_afar),
        cmocka_unit_test(ltl_planes_have_limits),
        cmocka_unit_test(ltl_far_cells_take_little_memory),
        cmocka_unit_test(ltl_regions_join_and_part),
        cmocka_unit_test(ltl_parting_ships_are_divided),
        cmocka_unit_test(ltl_regions_move_far_left),
        cmocka_unit_test(ltl_cancelled_regions_stay),
        cmocka_unit_test(ltl_slices_give_same_cells),
        cmocka_unit_test(ltl_range_1_is_life),
        cmocka_unit_test(ltl_bosco_has_period_166),
        cmocka_unit_test(ltl_rejects_bad_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
