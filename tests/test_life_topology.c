/* test_life_topology.c - bounded grids whose edges are not joined as a torus's: their names, the
 * cells beyond their edges as Golly's help draws them, and all engines against plain C.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include "life/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void topology_names_round_trip(void **unused)
{
    static const struct {
        const char *text, *grid;
        enum life_bounds bounds;
        size_t width, height;
    } good[] = {
        {"T30,20", "T30,20", LIFE_TORUS, 30, 20},
        {"t7", "T7,7", LIFE_TORUS, 7, 7},
        {"P5,6", "P5,6", LIFE_PLANE, 5, 6},
        {"T30+5,20", "T30+5,20", LIFE_JOINED, 30, 20},
        {"T30,20-2", "T30,20-2", LIFE_JOINED, 30, 20},
        {"T30-62,20", "T30-2,20", LIFE_JOINED, 30, 20},
        {"T30+60,20", "T30,20", LIFE_TORUS, 30, 20},
        {"K30*,20", "K30*,20", LIFE_JOINED, 30, 20},
        {"K30,20*", "K30,20*", LIFE_JOINED, 30, 20},
        {"k30,20", "K30,20*", LIFE_JOINED, 30, 20},
        {"K30*+1,20", "K30*+1,20", LIFE_JOINED, 30, 20},
        {"K30*-4,20", "K30*+1,20", LIFE_JOINED, 30, 20},
        {"K31*+1,20", "K31*,20", LIFE_JOINED, 31, 20},
        {"K30,20*+3", "K30,20*+1", LIFE_JOINED, 30, 20},
        {"C30,20", "C30,20", LIFE_JOINED, 30, 20},
        {"S30", "S30", LIFE_JOINED, 30, 30},
    };
    static const char *const bad[] = {"",
                                      "Q3",
                                      "T",
                                      "T0",
                                      "T3,0",
                                      "T3,",
                                      "T3*,4",
                                      "T3+,4",
                                      "T3+1,4+1",
                                      "P3+1,4",
                                      "K3*,4*",
                                      "K3+1,4",
                                      "K3*,4+1",
                                      "C3+1,4",
                                      "C3,4*",
                                      "S3,4",
                                      "S3+1",
                                      "T3,4x",
                                      "T99999999999999999999,3",
                                      "K4*+1+1,3"};
    char text[120], grid[LIFE_GRID_TEXT];
    enum life_bounds bounds;
    size_t width, height;
    (void)unused;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(text, sizeof text, "B3/S23:%s", good[i].text);
        works(life_grid_split(text, grid, &bounds, &width, &height));
        assert_string_equal(text, "B3/S23");
        assert_string_equal(grid, good[i].grid);
        assert_true(bounds == good[i].bounds && width == good[i].width && height == good[i].height);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "B3/S23:%s", bad[i]);
        fails(EINVAL, life_grid_split(text, grid, &bounds, &width, &height));
        assert_string_equal(text + 7, bad[i]);
    }
    strcpy(text, "B3/S23");
    works(life_grid_split(text, grid, &bounds, &width, &height));
    assert_true(width == 0 && !*grid);
}

/* The grids of Golly's help, "Bounded Grids", with the cells beyond their edges; cells are A, B,
 * C ... row by row. The two Klein bottles with a shift are as Golly computes them
 * (test_life_golly.c); the drawings shift them the other way. */
static const struct {
    const char *grid, *drawing;
} drawings[] = {
    {"T4+1,3", "KLIJKL"
               "DABCDA"
               "HEFGHE"
               "LIJKLI"
               "ABCDAB"},
    {"T4,3+1", "HIJKLA"
               "LABCDE"
               "DEFGHI"
               "HIJKLA"
               "LABCDE"},
    {"K4*,3", "ILKJIL"
              "DABCDA"
              "HEFGHE"
              "LIJKLI"
              "ADCBAD"},
    {"K4,3*", "DIJKLA"
              "LABCDI"
              "HEFGHE"
              "DIJKLA"
              "LABCDI"},
    {"K4*+1,3", "LKJILK"
                "DABCDA"
                "HEFGHE"
                "LIJKLI"
                "DCBADC"},
    {"K3,4*+1", "LJKLJ"
                "IABCG"
                "FDEFD"
                "CGHIA"
                "LJKLJ"
                "IABCG"},
    {"C4,3", "ALKJID"
             "LABCDI"
             "HEFGHE"
             "DIJKLA"
             "IDCBAL"},
    {"S3", "AADGC"
           "AABCG"
           "BDEFH"
           "CGHII"
           "GCFII"},
};

static void topology_edges_match_golly(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < sizeof drawings / sizeof *drawings; i++) {
        struct life_grid g;
        works(life_grid_read(drawings[i].grid, &g));
        for (long y = -1; y <= (long)g.height; y++)
            for (long x = -1; x <= (long)g.width; x++) {
                long u = x, v = y;
                life_topology_cell(&g, &u, &v);
                assert_int_equal('A' + v * (long)g.width + u,
                                 drawings[i].drawing[(y + 1) * ((long)g.width + 2) + x + 1]);
            }
    }
}

/* Distant cells of flat surfaces: single steps lead to the same cell. */
static void topology_far_cells_match_single_steps(void **unused)
{
    static const char *const grids[] = {"T5+2,3", "T3,5-1",  "K4*,3", "K4*+1,3",
                                        "K3,4*",  "K3,6*+1", "K1*,1", "T2+1,2"};
    (void)unused;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
        struct life_grid g;
        works(life_grid_read(grids[i], &g));
        const bool columns =
            g.topology == LIFE_COLUMNS_SHIFTED || g.topology == LIFE_COLUMNS_TWISTED;
        for (long y = -14; y <= 14; y++)
            for (long x = -14; x <= 14; x++) {
                long u = x, v = y, a = columns ? y : x, b = columns ? x : y;
                const long across = (long)(columns ? g.height : g.width),
                           down = (long)(columns ? g.width : g.height);
                const bool twisted =
                    g.topology == LIFE_ROWS_TWISTED || g.topology == LIFE_COLUMNS_TWISTED;
                for (; b < 0; b += down)
                    a = twisted ? across - 1 - g.shift - a : a - g.shift;
                for (; b >= down; b -= down)
                    a = twisted ? across - 1 - g.shift - a : a + g.shift;
                while (a < 0)
                    a += across;
                life_topology_cell(&g, &u, &v);
                assert_int_equal(columns ? v : u, a % across);
                assert_int_equal(columns ? u : v, b);
            }
    }
}

/* Compare the cells after some generations, and population and hash on the way, of every engine
 * with plain C. */
static void compare_engines(const char *grid, const char *rule, unsigned generations)
{
    struct life_grid g;
    struct life_family family;
    works(life_grid_read(grid, &g));
    works(life_family_parse(rule, &family));
    const size_t n = g.width * g.height;
    unsigned char *now = malloc(n), *next = malloc(n);
    ready(now);
    ready(next);
    for (int e = LIFE_PACKED; e <= LIFE_REFERENCE; e++) {
        struct life_cells c;
        struct life_sample sample[2];
        char text[LIFE_GRID_TEXT];
        life *lf = life_create(
            &(struct life_options){.engine = (enum life_engine)e, .grid = grid, .rule = rule});
        ready(lf);
        assert_string_equal(life_grid_text(lf, text), grid);
        assert_true(life_bounds_of(lf) == g.bounds && life_width(lf) == g.width &&
                    life_height(lf) == g.height);
        works(life_soup(lf, 0.4, 3));
        works(life_cells_alloc(&c, g.width, g.height));
        works(life_get(lf, 0, 0, &c));
        for (size_t i = 0; i < n; i++)
            now[i] = (unsigned char)life_cells_at(&c, i % g.width, i / g.width);
        works(life_step(lf, generations - 2));
        works(life_trace(lf, 2, sample));
        works(life_get(lf, 0, 0, &c));
        uint64_t alive = 0;
        for (unsigned k = 0; k < generations; k++) {
            life_ref_topology_rows(&family, &g, 0, g.height, now, next);
            memcpy(now, next, n);
        }
        for (size_t i = 0; i < n; i++) {
            alive += now[i];
            if (now[i] != life_cells_at(&c, i % g.width, i / g.width))
                fail_msg("%s on %s, %s: cell %zu,%zu of generation %u", rule, grid,
                         life_engine_name((enum life_engine)e), i % g.width, i / g.width,
                         generations);
        }
        assert_int_equal(sample[1].population, alive);
        assert_int_equal(sample[1].generation, generations);
        fails(EINVAL, life_put(lf, -1, 0, &c));
        life_cells_free(&c);
        life_free(lf);
    }
    free(now);
    free(next);
}

static void topology_engines_match_reference(void **unused)
{
    static const char *const grids[] = {"T70+9,33", "T33,70-3", "K130*,20", "K30,20*+1",
                                        "C65,40",   "S70",      "K1*,5",    "C1,1"};
    (void)unused;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        compare_engines(grids[i],
                        i % 3 == 1 ? "B2-a/S12"
                        : i % 3    ? "B36/S125"
                                   : "B3/S23",
                        i < 6 ? 45 : 5);
}

/* A glider that leaves a Klein bottle at the top returns mirrored. */
static void topology_klein_glider_is_mirrored(void **unused)
{
    static const uint64_t rows[3] = {2, 4, 7}; /* to the south-east */
    struct life_cells glider = {3, 3, 1, (uint64_t *)rows}, c;
    (void)unused;
    life *lf = life_create(&(struct life_options){.grid = "K40*,40"});
    ready(lf);
    works(life_put(lf, 10, 30, &glider));
    works(life_step(lf, 4 * 40)); /* its column is 10 + 40 = 10 of the turned grid, where it flies
                                     to the south-west */
    works(life_cells_alloc(&c, 40, 40));
    works(life_get(lf, 0, 0, &c));
    for (size_t y = 0; y < 40; y++)
        assert_int_equal(c.word[y], y == 30   ? (uint64_t)1 << 28
                                    : y == 31 ? (uint64_t)1 << 27
                                    : y == 32 ? (uint64_t)7 << 27
                                              : 0);
    life_cells_free(&c);
    life_free(lf);
}

static int stop_topology_run(void *arg, double fraction)
{
    (void)arg;
    (void)fraction;
    return 1;
}

static void topology_rejects_bad_options(void **unused)
{
    (void)unused;
    fails_null(EINVAL, life_create(&(struct life_options){.grid = "K40*,40", .width = 40}));
    fails_null(EINVAL,
               life_create(&(struct life_options){.grid = "K40*,40", .bounds = LIFE_PLANE}));
    fails_null(EINVAL, life_create(&(struct life_options){.grid = "X40"}));
    fails_null(EINVAL, life_create(&(struct life_options){
                           .width = 40, .height = 40, .bounds = LIFE_JOINED}));
    fails_null(EINVAL, life_create(&(struct life_options){.grid = "T2000000000,2"}));
    life *lf = life_create(&(struct life_options){.grid = "S20", .progress = stop_topology_run});
    ready(lf);
    fails(ECANCELED, life_step(lf, 1000000));
    assert_in_range(life_generation(lf), 1, 999999);
    life_free(lf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(topology_names_round_trip),
        cmocka_unit_test(topology_edges_match_golly),
        cmocka_unit_test(topology_far_cells_match_single_steps),
        cmocka_unit_test(topology_engines_match_reference),
        cmocka_unit_test(topology_klein_glider_is_mirrored),
        cmocka_unit_test(topology_rejects_bad_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
