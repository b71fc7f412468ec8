/* test_life_identify.c - patterns with published period, motion, growth and ash (LifeWiki), and
 * refusals of life_identify.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include "formats/life.h"
#include "life/engine.h"
#include "life/identify.h"
#include "life/internal.h"
#include "stdcl/identify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static life *identify_plane(const char *rule, const char *text)
{
    struct life_pattern p;
    life *lf = life_create(&(struct life_options){.rule = rule, .bounds = LIFE_UNBOUNDED});
    ready(lf);
    works(life_pattern_read_memory("pattern", text, strlen(text), &p));
    if (p.state)
        works(life_put_states(lf, 1000, -77, p.columns, p.rows, p.state));
    else if (p.word)
        works(life_put(lf, 1000, -77, &(struct life_cells){p.columns, p.rows, p.stride, p.word}));
    life_pattern_free(&p);
    return lf;
}

static struct life_identity *identify_text(const char *rule, const char *text, uint64_t limit)
{
    life *lf = identify_plane(rule, text);
    struct life_identity *id = life_identify(lf, limit);
    ready(id);
    life_free(lf);
    return id;
}

static const char gun[] = "x = 36, y = 9\n24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$"
                          "2o8bo3bob2o4bobo$10bo5bo7bo$11bo3bo$12b2o!";

static void identify_knows_published_patterns(void **unused)
{
    static const struct {
        const char *rule, *text;
        enum life_kind kind;
        int period, dx, dy, growth, least, most;
        double heat;
        const char *symmetry, *code;
    } known[] = {
        {"B3/S23", "x = 2, y = 2\n2o$2o!", LIFE_STILL, 1, 0, 0, 0, 4, 4, 0, "D8", "xs4_33"},
        {"B3/S23", "x = 3, y = 1\n3o!", LIFE_OSCILLATOR, 2, 0, 0, 0, 3, 3, 4, "D4+", "xp2_7"},
        {"B3/S23", "x = 3, y = 3\nbo$2bo$3o!", LIFE_SPACESHIP, 4, 1, 1, 0, 5, 5, 4, "C1",
         "xq4_153"},
        {"B3/S23", "x = 5, y = 4\nb4o$o3bo$4bo$o2bo!", LIFE_SPACESHIP, 4, 2, 0, 0, 9, 12, 11, "C1",
         "xq4_6frc"},
        {"B3/S23", "x = 10, y = 1\n10o!", LIFE_OSCILLATOR, 15, 0, 0, 0, 12, 40, 22.4, "D4+",
         "xp15_4r4z4r4"},
        {"B3/S23", "x = 1, y = 1\no!", LIFE_EXTINCT, 0, 0, 0, 0, 0, 0, 0, "", NULL},
        {"B3/S23", gun, LIFE_GUN, 30, 0, 0, 5, -1, -1, -1, "", NULL},
        /* The block-laying switch engine leaves eight blocks in 288 generations. */
        {"B3/S23", "x = 8, y = 6\n6bo$4bob2o$4bobo$4bo$2bo$obo!", LIFE_PUFFER, 288, 24, 24, 32, -1,
         -1, -1, "", NULL},
        {"125/35/5", "x = 3, y = 3\nb2o$o$b2o!", LIFE_SPACESHIP, 11, 1, 0, 0, 5, 10, 45. / 11,
         "D2+", "xq11_255"},
        /* Brian's Brain: a ship of two live and two dying cells has a code of two planes. */
        {"/2/3", "x = 2, y = 4, rule = /2/3\n2A$2B!", LIFE_SPACESHIP, 1, 0, 1, 0, 4, 4, 6, "D2+",
         "xq1_03_3"},
        /* Life with all states inverted: a glider of dead cells, stored as live ones. */
        {"B0123478/S01234678", "x = 3, y = 3\nbo$2bo$3o!", LIFE_SPACESHIP, 4, 1, 1, 0, 5, 5, 4,
         "C1", NULL},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct life_identity *id = identify_text(known[i].rule, known[i].text, 20000);
        const char *text = known[i].text;
        if (id->kind != known[i].kind)
            fail_msg("%s is a %s, not a %s", text, life_kind_name(id->kind),
                     life_kind_name(known[i].kind));
        if (id->period != (uint64_t)known[i].period || id->growth != (uint64_t)known[i].growth)
            fail_msg("%s has period %llu and growth %llu", text, (unsigned long long)id->period,
                     (unsigned long long)id->growth);
        if (llabs(id->dx) != known[i].dx || llabs(id->dy) != known[i].dy)
            fail_msg("%s moves by %lld,%lld", text, id->dx, id->dy);
        if (known[i].least >= 0 &&
            (id->least != (uint64_t)known[i].least || id->most != (uint64_t)known[i].most ||
             id->heat != known[i].heat))
            fail_msg("%s has %llu to %llu cells and heat %g", text, (unsigned long long)id->least,
                     (unsigned long long)id->most, id->heat);
        assert_string_equal(id->symmetry, known[i].symmetry);
        if ((id->code != NULL) != (known[i].code != NULL) ||
            (id->code && strcmp(id->code, known[i].code) != 0))
            fail_msg("%s is %s", text, id->code ? id->code : "(no code)");
        life_identity_free(id);
    }
}

static void put_identified(life *lf, long long x, long long y, const char *text)
{
    struct life_pattern p;
    works(life_pattern_read_memory("pattern", text, strlen(text), &p));
    works(life_put(lf, x, y, &(struct life_cells){p.columns, p.rows, p.stride, p.word}));
    life_pattern_free(&p);
}

static struct life_identity *expect_kind_within(life *lf, uint64_t limit, enum life_kind kind,
                                                uint64_t period, uint64_t growth)
{
    struct life_identity *id = life_identify(lf, limit);
    ready(id);
    assert_string_equal(life_kind_name(id->kind), life_kind_name(kind));
    assert_int_equal(id->period, period);
    assert_int_equal(id->growth, growth);
    life_free(lf);
    return id;
}

static struct life_identity *expect_kind(life *lf, enum life_kind kind, uint64_t period,
                                         uint64_t growth)
{
    return expect_kind_within(lf, 20000, kind, period, growth);
}

static void expect_identity(life *lf, enum life_kind kind, uint64_t period, uint64_t growth)
{
    life_identity_free(expect_kind(lf, kind, period, growth));
}

/* A pattern that moves and emits `count` objects of one code in a period. */
static void expect_emitter(life *lf, enum life_kind kind, uint64_t period, uint64_t growth, int dx,
                           int dy, const char *code, uint64_t count)
{
    struct life_identity *id = expect_kind(lf, kind, period, growth);
    assert_int_equal(llabs(id->dx), dx);
    assert_int_equal(llabs(id->dy), dy);
    assert_int_equal(id->objects, 1);
    assert_string_equal(id->object[0].code, code);
    assert_int_equal(id->object[0].count, count);
    life_identity_free(id);
}

/* The stream of a gun grows for 1,600 generations, until it reaches an eater. */
static void identify_looks_ahead_of_growth(void **unused)
{
    (void)unused;
    life *lf = identify_plane("B3/S23", gun);
    put_identified(lf, 1000 + 444, -77 + 430, "x = 4, y = 4\n2o$obo$2bo$2b2o!");
    expect_identity(lf, LIFE_OSCILLATOR, 30, 0);
}

/* The space rake has period 20 and leaves a glider. Its beginning is in a box with a block 3,000
 * columns away, which it does not leave for thousands of generations. */
static void identify_knows_rake_in_large_box(void **unused)
{
    static const char rake[] =
        "x = 22, y = 19\n11b2o5b4o$9b2ob2o3bo3bo$9b4o8bo$10b2o5bo2bo2$8bo$7b2o8b2o$6bo9bo2bo$"
        "7b5o4bo2bo$8b4o3b2ob2o$11bo4b2o4$18b4o$o2bo13bo3bo$4bo16bo$o3bo12bo2bo$b4o!";
    (void)unused;
    life *lf = identify_plane("B3/S23", rake);
    put_identified(lf, -2000, -77, "x = 2, y = 2\n2o$2o!");
    expect_emitter(lf, LIFE_RAKE, 20, 5, 10, 0, "xq4_153", 1);
}

/* Gosper's gun emits a glider in 30 generations, the block-laying switch engine eight blocks in
 * 288, in which it moves by 24 cells diagonally. */
static void identify_knows_what_is_emitted(void **unused)
{
    (void)unused;
    expect_emitter(identify_plane("B3/S23", gun), LIFE_GUN, 30, 5, 0, 0, "xq4_153", 1);
    expect_emitter(identify_plane("B3/S23", "x = 8, y = 6\n6bo$4bob2o$4bobo$4bo$2bo$obo!"),
                   LIFE_PUFFER, 288, 32, 24, 24, "xs4_33", 8);
    /* D. Collazo's puffer of oscillators, none of whose cells is always alive */
    expect_emitter(identify_plane("B3-ej6e/S234i",
                                  "x = 15, y = 40\n9b3o$9bobo$11b2o21$13b2o$11bobo$"
                                  "11b3o12$2b2o$obo$3o!"),
                   LIFE_PUFFER, 360, 57, 80, 0, "xp80_759", 5);
}

/* D. Collazo's rotating gun with 14 barrels: all cells near it are equal after 1016 generations.
 * After 508 the ships at a side of the box look like an engine that moves. */
static void identify_prefers_standing_engine(void **unused)
{
    (void)unused;
    expect_identity(
        identify_plane("B2-ac3ai/S1c2-n3-aky4a", "x = 4, y = 6\n3o$ob2o$ob2o$2bo$3bo$2b2o!"),
        LIFE_GUN, 1016, 325);
}

/* A cell moves to the right every other generation and leaves a cell, above and below which there
 * are cells in every other generation. The population grows by 1 in a period from even generations,
 * by 3 from odd ones, and its mean by 2. */
static void identify_knows_growth_that_depends_on_phase(void **unused)
{
    static const char text[] = "@RULE Phases\n@TABLE\nn_states:6\nneighborhood:vonNeumann\n"
                               "symmetries:none\nvar a={0,1,2,3,4,5}\nvar b=a\nvar c=a\nvar d=a\n"
                               "1,a,b,c,d,5\n5,a,b,c,d,2\n3,a,b,c,d,0\n0,a,b,c,5,1\n0,a,b,2,d,3\n"
                               "0,2,b,c,d,3\n";
    life_transitions *phases = life_transitions_read("phases", text, strlen(text));
    (void)unused;
    ready(phases);
    life *lf = life_create(&(struct life_options){.transitions = phases, .bounds = LIFE_UNBOUNDED});
    ready(lf);
    works(life_put_states(lf, 5, 7, 1, 1, &(const unsigned char){1}));
    struct life_identity *id = expect_kind(lf, LIFE_PUFFER, 2, 2);
    assert_true(id->dx == 1 && id->dy == 0);
    life_identity_free(id);
    life_transitions_free(phases);
}

/* M. Riley's breeder of 38 cells creates switch engines. It is known early, when it has some
 * thousand cells. Its population equals the one of a plane that runs as far. */
static void identify_looks_ahead_of_quadratic_growth(void **unused)
{
    static const char breeder[] =
        "x = 135, y = 41\n131b4o$130bo3bo$134bo$133bo3$130b2o$130bobo$132bo$130b3o5$131b4o$130bo3bo"
        "$134bo$133bo9$94b4o$93bo3bo$97bo$96bo8$b4o$o3bo$4bo$3bo!";
    (void)unused;
    life *lf = identify_plane("B3/S23", breeder);
    struct life_identity *id = life_identify(lf, 2000);
    uint64_t population;
    ready(id);
    assert_string_equal(life_kind_name(id->kind), "quadratic growth");
    life_free(lf);
    lf = identify_plane("B3/S23", breeder);
    works(life_step(lf, id->generation));
    works(life_population(lf, &population));
    assert_int_equal(id->most, population);
    life_free(lf);
    life_identity_free(id);
}

/* Two guns 15 generations apart: the population grows by 5 cells in 15 generations, the guns have
 * period 30. */
static void identify_has_period_of_cells(void **unused)
{
    (void)unused;
    life *lf = identify_plane("B3/S23", gun);
    works(life_step(lf, 15));
    put_identified(lf, -2000, -77, gun);
    expect_identity(lf, LIFE_GUN, 30, 10);
}

/* A glider's trail in LifeHistory grows by a cell in a generation; the glider has period 4. */
static void identify_has_period_of_trail(void **unused)
{
    life_transitions *transitions = life_transitions_named("LifeHistory");
    (void)unused;
    ready(transitions);
    life *lf =
        life_create(&(struct life_options){.transitions = transitions, .bounds = LIFE_UNBOUNDED});
    ready(lf);
    put_identified(lf, 0, 0, "x = 3, y = 3\nbo$2bo$3o!");
    expect_identity(lf, LIFE_PUFFER, 4, 4);
    life_transitions_free(transitions);
}

/* A front of Brian's Brain becomes longer, and nothing leaves it. B1357/S1357 replicates a cell to
 * more cells than are identified. */
static void identify_leaves_unsettled(void **unused)
{
    (void)unused;
    expect_identity(identify_plane("/2/3", "x = 2, y = 2\nbo$2o!"), LIFE_UNSETTLED, 1, 2);
    struct life_identity *id = identify_text("B1357/S1357", "x = 1, y = 1\no!", 20000);
    assert_int_equal(id->kind, LIFE_UNSETTLED);
    assert_int_equal(id->generation, 1022);
    assert_int_equal(id->most, 437248); /* by the engine sparse; then 1,746,944 */
    life_identity_free(id);
    /* Some cells fill a growing square. */
    id = identify_text("B12/S2", "x = 7, y = 5\n2o$2bo$$4bo$5b2o!", 20000);
    assert_string_equal(life_kind_name(id->kind), "quadratic growth");
    assert_true(id->most >= 1 << 17 && id->most < 1 << 19);
    life_identity_free(id);
    life *lf = life_create(&(struct life_options){.bounds = LIFE_UNBOUNDED});
    ready(lf);
    struct life_cells cells;
    works(life_cells_alloc(&cells, 1025, 1024));
    for (size_t i = 0; i < cells.height * cells.stride; i++)
        cells.word[i] = ~(uint64_t)0;
    works(life_put(lf, 0, 0, &cells));
    life_cells_free(&cells);
    fails_null(ERANGE, life_identify(lf, 10));
    life_free(lf);
}

/* A soup of 700 x 700 cells that changes everywhere and grows slowly: HashLife saves no work, so
 * the search ends long before the limit. */
static void identify_leaves_large_soup(void **unused)
{
    (void)unused;
    struct life_cells cells;
    life *lf = life_create(&(struct life_options){.rule = "B34/S34", .bounds = LIFE_UNBOUNDED});
    ready(lf);
    works(life_cells_alloc(&cells, 704, 700));
    for (size_t i = 0; i < cells.height * cells.stride; i++)
        cells.word[i] = life_mix(i);
    works(life_put(lf, 0, 0, &cells));
    life_cells_free(&cells);
    struct life_identity *id = life_identify(lf, 20000);
    ready(id);
    assert_int_equal(id->kind, LIFE_UNSETTLED);
    assert_in_range(id->generation, 50, 1000);
    assert_true(id->most > 1 << 17 && id->most < 1 << 20);
    life_identity_free(id);
    life_free(lf);
}

/* Wolfram's rule 4 adds an equal row in each generation. HashLife confirms the growth up to 2^21
 * cells, which is more than are compared. 4,000 columns have more than 2^20 cells while the cells
 * that never change are counted. */
static void identify_knows_growth_to_many_cells(void **unused)
{
    char columns[9000] = "x = 8000, y = 1\n";
    (void)unused;
    expect_identity(identify_plane("W4", "x = 1, y = 1\no!"), LIFE_PUFFER, 1, 1);
    for (int i = 0; i < 4000; i++)
        strcat(columns, "ob");
    strcat(columns, "!");
    struct life_identity *id = identify_text("W4", columns, 258);
    assert_int_equal(id->kind, LIFE_UNSETTLED);
    assert_true(id->generation == 258 && id->most == 259 * 4000 && id->period == 0);
    life_identity_free(id);
}

/* Write a rule whose states change in three cycles: 1 to 25, 26 to 52 and 53 to 80. */
static life_transitions *rule_of_three_cycles(void)
{
    static const int first[] = {1, 26, 53, 81};
    static char text[20000] = "@RULE Cycles\n@TABLE\nn_states:81\nneighborhood:vonNeumann\n"
                              "symmetries:none\nvar a={0";
    for (int s = 1; s < 81; s++)
        sprintf(text + strlen(text), ",%d", s);
    strcat(text, "}\nvar b=a\nvar c=a\nvar d=a\n");
    for (int cycle = 0; cycle < 3; cycle++)
        for (int s = first[cycle]; s < first[cycle + 1]; s++)
            sprintf(text + strlen(text), "%d,a,b,c,d,%d\n", s,
                    s + 1 < first[cycle + 1] ? s + 1 : first[cycle]);
    life_transitions *t = life_transitions_read("cycles", text, strlen(text));
    ready(t);
    return t;
}

/* Three cells of periods 25, 27 and 28 far apart: 25 * 27 * 28 generations. */
static void identify_knows_long_periods(void **unused)
{
    life_transitions *cycles = rule_of_three_cycles();
    (void)unused;
    life *lf = life_create(&(struct life_options){.transitions = cycles, .bounds = LIFE_UNBOUNDED});
    ready(lf);
    for (int i = 0; i < 3; i++)
        works(life_put_states(lf, 1000 * i, 7, 1, 1, &(const unsigned char[]){1, 26, 53}[i]));
    struct life_identity *id = life_identify(lf, 80000);
    ready(id);
    assert_int_equal(id->kind, LIFE_OSCILLATOR);
    assert_int_equal(id->period, 25 * 27 * 28);
    assert_true(id->least == 3 && id->most == 3 && id->mean == 3 && id->heat == 3);
    life_identity_free(id);
    life_free(lf);
    life_transitions_free(cycles);
}

/* The ash of the R-pentomino: 8 blocks, 6 gliders, 4 beehives, 4 blinkers, a boat, a loaf and a
 * ship, 116 cells. */
static void identify_separates_ash(void **unused)
{
    static const struct {
        const char *code;
        uint64_t count;
    } ash[] = {{"xs4_33", 8},  {"xq4_153", 6}, {"xp2_7", 4},   {"xs6_696", 4},
               {"xs5_253", 1}, {"xs6_356", 1}, {"xs7_2596", 1}};
    (void)unused;
    struct life_identity *id = identify_text("B3/S23", "x = 3, y = 3\nb2o$2o$bo!", 0);
    assert_int_equal(id->kind, LIFE_OBJECTS);
    assert_int_equal(id->most, 116);
    assert_int_equal(id->objects, sizeof ash / sizeof *ash);
    for (size_t i = 0; i < id->objects; i++) {
        assert_string_equal(id->object[i].code, ash[i].code);
        assert_int_equal(id->object[i].count, ash[i].count);
    }
    life_identity_free(id);
}

/* Two gliders that will meet are not objects that move apart. Head on, offset by one, they
 * annihilate. */
static void identify_waits_for_collisions(void **unused)
{
    static const char text[] = "x = 703, y = 703\nbo$2bo$3o698$700b3o$700bo$701bo!";
    (void)unused;
    struct life_identity *id = identify_text("B3/S23", text, 1000);
    assert_int_equal(id->kind, LIFE_UNSETTLED);
    assert_int_equal(id->most, 10);
    life_identity_free(id);
    id = identify_text("B3/S23", text, 20000);
    assert_int_not_equal(id->kind, LIFE_UNSETTLED);
    if (id->kind == LIFE_OBJECTS && id->objects == 1)
        assert_string_not_equal(id->object[0].code, "xq4_153");
    life_identity_free(id);
}

/* The R-pentomino needs 1,103 generations. */
static void identify_stops_at_limit(void **unused)
{
    (void)unused;
    struct life_identity *id = identify_text("B3/S23", "x = 3, y = 3\nb2o$2o$bo!", 1000);
    assert_int_equal(id->kind, LIFE_UNSETTLED);
    assert_int_equal(id->generation, 1000);
    assert_int_equal(id->period, 0);
    assert_int_equal(id->objects, 0);
    life_identity_free(id);
}

/* ---- Groups that never influence each other. ------------------------------------------------- */

/* Add some cells to a grid of 192 x 192, as they are after some generations of the scalar
 * reference. */
static void add_reference(const struct identify_cell *cell, size_t n, long long left, long long top,
                          uint64_t generations, struct life_cells *sum)
{
    enum { SIDE = 192, MARGIN = 60 };
    life *grid = life_create(
        &(struct life_options){.engine = LIFE_REFERENCE, .width = SIDE, .height = SIDE});
    struct life_cells cells;
    ready(grid);
    works(life_cells_alloc(&cells, SIDE, SIDE));
    for (size_t i = 0; i < n; i++) {
        const size_t x = (size_t)(cell[i].x - left + MARGIN),
                     y = (size_t)(cell[i].y - top + MARGIN);
        cells.word[y * cells.stride + x / 64] |= (uint64_t)1 << x % 64;
    }
    works(life_put(grid, 0, 0, &cells));
    works(life_step(grid, generations));
    works(life_get(grid, 0, 0, &cells));
    for (size_t i = 0; i < SIDE * cells.stride; i++)
        sum->word[i] |= cells.word[i];
    life_cells_free(&cells);
    life_free(grid);
}

/* The clusters evolve alone as they do together. */
static void expect_independent(const struct identify_clusters *c)
{
    const struct identify_cluster *first = c->cluster;
    long long left = first->left, top = first->top;
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        left = c->cluster[i].left < left ? c->cluster[i].left : left;
        top = c->cluster[i].top < top ? c->cluster[i].top : top;
        n += c->cluster[i].n;
    }
    for (uint64_t generations = 1; generations < 64; generations += 13) {
        struct life_cells alone, together;
        works(life_cells_alloc(&alone, 192, 192));
        works(life_cells_alloc(&together, 192, 192));
        for (size_t i = 0; i < c->n; i++)
            add_reference(c->cluster[i].cell, c->cluster[i].n, left, top, generations, &alone);
        add_reference(c->cell, n, left, top, generations, &together);
        assert_memory_equal(alone.word, together.word, 192 * alone.stride * sizeof *alone.word);
        life_cells_free(&alone);
        life_cells_free(&together);
    }
}

/* Separate a plane's cells into groups with these products of their periods and displacements. */
static void expect_separate(life *lf, size_t groups, uint64_t periods, long long moves)
{
    struct identify_cells now = {.n = 0};
    struct identify_parts parts = {.work = 1 << 20};
    struct identify_clusters c;
    uint64_t product = 1;
    long long moved = 1;
    works(identify_cells_take(lf, &now));
    const int separate = identify_separate(lf, &now, &parts, &c);
    if (separate != (groups > 0) || c.n != groups)
        fail_msg("status %d, and %zu groups, not %zu", separate, c.n, groups);
    for (size_t i = 0; i < c.n; i++) {
        const struct identify_motion *m = &c.cluster[i].motion;
        product *= m->period;
        moved *= llabs(m->dx) + llabs(m->dy) + 1;
    }
    assert_int_equal(product, periods);
    assert_int_equal(moved, moves);
    if (c.n)
        expect_independent(&c);
    identify_clusters_free(&c);
    identify_cells_free(&now);
}

/* Catagolue's examples: two blocks beside each other are two objects, an aircraft carrier of two
 * parts is one. A glider passes a block, or meets it. */
static void identify_separates_what_is_independent(void **unused)
{
    static const struct {
        const char *text;
        size_t groups;
        uint64_t periods;
        long long moves;
    } known[] = {
        {"x = 5, y = 2\n2ob2o$2ob2o!", 2, 1, 1},
        {"x = 4, y = 3\n2o$o2bo$2b2o!", 1, 1, 1},
        {"x = 30, y = 3\n2bo4bo$2ob4ob2o$2bo4bo7b2o$15b2o!", 2, 15, 1},
        {"x = 22, y = 22\nbo$2bo$3o17$5b2o$5b2o!", 2, 4, 3},
        {"x = 22, y = 22\nbo$2bo$3o17$20b2o$20b2o!", 0, 1, 1},
        /* A spaceship of a third of light speed is overtaken by one of half, in another lane. */
        {"x = 18, y = 60\no7b3o$2ob2obo2b2o$bo4b3o$bo3bobo2bo$bo4bo4bo$bo4bo4bo$bo3bobo2bo$"
         "bo4b3o$2ob2obo2b2o$o7b3o6$b4o$o3bo$4bo$o2bo!",
         2, 3 * 4, 2 * 3},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        life *lf = identify_plane("B3/S23", known[i].text);
        expect_separate(lf, known[i].groups, known[i].periods, known[i].moves);
        life_free(lf);
    }
}

/* The Schick engine of period 12 has sparks that die, which belong to it in every phase. */
static void identify_separates_ship_from_no_spark(void **unused)
{
    (void)unused;
    life *lf = identify_plane("B3/S23", "x = 9, y = 15\n3o3b3o$o2bobo2bo$o7bo$o7bo$bobobobo2$4bo$"
                                        "3b3o$2b2ob2o$3b3o$3b3o$3b3o$3bobo$3bobo$4bo!");
    for (int phase = 0; phase < 12; phase++) {
        expect_separate(lf, 1, 12, 7);
        works(life_step(lf, 1));
    }
    life_free(lf);
}

/* An eater 84 columns away stops a gun's gliders; beside them are oscillators of periods 2, 3, 5, 8
 * and 14. All together have period 840, which is found if it is at most a fourth of the limit. The
 * gliders that are in flight at first belong to no group until they reach the eater. */
static void identify_lists_objects_of_a_collection(void **unused)
{
    static const struct {
        int x, y;
        const char *text;
    } part[] = {{1084, -7, "x = 4, y = 4\n2o$obo$2bo$2b2o!"},
                {800, 0, "x = 3, y = 1\n3o!"},
                {800, 40,
                 "x = 13, y = 13\n2b3o3b3o2$o4bobo4bo$o4bobo4bo$o4bobo4bo$2b3o3b3o2$2b3o3b3o$"
                 "o4bobo4bo$o4bobo4bo$o4bobo4bo2$2b3o3b3o!"},
                {840, 0, "x = 8, y = 8\n3b2o$2bo2bo$bo4bo$o6bo$o6bo$bo4bo$2bo2bo$3b2o!"},
                {840, 40, "x = 6, y = 6\n3o$3o$3o$3b3o$3b3o$3b3o!"},
                {880, 0, "x = 7, y = 6\nb2ob2o$b2ob2o$2bobo$obobobo$obobobo$2o3b2o!"}};
    static const struct {
        const char *code;
        unsigned period;
    } wanted[] = {{"ov_p30", 30}, {"xp14_j9d0d9j", 14}, {"xp2_7", 2}, {NULL, 3}, {NULL, 5},
                  {NULL, 8}};
    (void)unused;
    for (uint64_t limit = 2000; limit <= 10000; limit += 8000) {
        life *lf = identify_plane("B3/S23", gun);
        for (size_t i = 0; i < sizeof part / sizeof *part; i++)
            put_identified(lf, part[i].x, part[i].y, part[i].text);
        struct life_identity *id =
            expect_kind_within(lf, limit, limit == 2000 ? LIFE_OBJECTS : LIFE_OSCILLATOR, 840, 0);
        assert_int_equal(id->objects, sizeof wanted / sizeof *wanted);
        for (size_t i = 0; i < id->objects; i++) {
            size_t k = 0;
            while (k < id->objects &&
                   (id->object[i].period != wanted[k].period ||
                    (wanted[k].code && strcmp(id->object[i].code, wanted[k].code))))
                k++;
            assert_true(k < id->objects);
            assert_int_equal(id->object[i].count, 1);
        }
        life_identity_free(id);
    }
}

static int cancel_identify(void *arg, double fraction)
{
    (void)arg;
    (void)fraction;
    return 1;
}

static void identify_refuses(void **unused)
{
    (void)unused;
    fails_null(EINVAL, life_identify(NULL, 1));
    life *grid =
        life_create(&(struct life_options){.engine = LIFE_REFERENCE, .width = 8, .height = 8});
    ready(grid);
    fails_null(ENOTSUP, life_identify(grid, 1));
    life_free(grid);
    struct life_pattern p;
    works(life_pattern_read_memory("gun", gun, strlen(gun), &p));
    life *lf =
        life_create(&(struct life_options){.bounds = LIFE_UNBOUNDED, .progress = cancel_identify});
    ready(lf);
    works(life_put(lf, 0, 0, &(struct life_cells){p.columns, p.rows, p.stride, p.word}));
    fails_null(ECANCELED, life_identify(lf, 0));
    life_free(lf);
    life_pattern_free(&p);
    life_identity_free(NULL);
    assert_string_equal(life_kind_name(LIFE_GUN), "gun");
    assert_string_equal(life_kind_name((enum life_kind)99), "");
}

/* Objects of Catagolue's names beside each other; a preblock, which becomes a block, is none. */
static void identify_cells_names_objects_as_they_are(void **unused)
{
    static const char text[] = "x = 38, y = 3\n2o10b3o10bo10b2o$2o24bo9bo$24b3o!";
    static const char *const wanted[] = {"xp2_7", "xq4_153", "xs4_33"};
    struct life_pattern p;
    uint64_t others = 99;
    size_t found = 0;
    (void)unused;
    works(life_pattern_read_memory("objects", text, strlen(text), &p));
    const struct life_cells cells = {p.columns, p.rows, p.stride, p.word};
    struct life_identity *id = life_identify_cells("B3/S23", &cells, &others);
    ready(id);
    for (size_t i = 0; i < id->objects; i++)
        for (size_t k = 0; k < sizeof wanted / sizeof *wanted; k++)
            found += strcmp(id->object[i].code, wanted[k]) == 0 && id->object[i].count == 1;
    assert_int_equal(found, sizeof wanted / sizeof *wanted);
    assert_int_equal(others, 1);
    life_identity_free(id);
    fails_null(EINVAL, life_identify_cells("B3/S23:T38,4", &cells, &others));
    fails_null(EINVAL, life_identify_cells("/2/3", &cells, &others));
    fails_null(EINVAL, life_identify_cells("B0/S8", &cells, &others));
    life_pattern_free(&p);
}

/* Three cells under B1/S fill a patch of the census before they are known to be no spaceship. */
static void identify_cells_finds_no_object_that_explodes(void **unused)
{
    static const char text[] = "x = 2, y = 2\n2o$o!";
    struct life_pattern p;
    uint64_t others = 99;
    (void)unused;
    works(life_pattern_read_memory("corner", text, strlen(text), &p));
    const struct life_cells cells = {p.columns, p.rows, p.stride, p.word};
    struct life_identity *id = life_identify_cells("B1/S", &cells, &others);
    ready(id);
    assert_int_equal(id->objects, 0);
    assert_int_equal(others, 1);
    life_identity_free(id);
    life_pattern_free(&p);
}

/* A block, a blinker, a glider and a line around a torus of 40 x 32 have the same names wherever
 * the torus' edges cut them. */
static void identify_cells_crosses_edges_of_a_torus(void **unused)
{
    static const struct {
        int x, y;
    } live[] = {{2, 2},  {3, 2},   {2, 3},   {3, 3},   {20, 4},  {21, 4},
                {22, 4}, {11, 20}, {12, 21}, {10, 22}, {11, 22}, {12, 22}};
    enum { WIDTH = 40, HEIGHT = 32, LINE = 12 };
    (void)unused;
    for (int dx = 0; dx < WIDTH; dx++) {
        uint64_t word[HEIGHT] = {0}, others = 99;
        const int dy = 13 * dx % HEIGHT;
        for (size_t i = 0; i < sizeof live / sizeof *live; i++)
            word[(live[i].y + dy) % HEIGHT] |= (uint64_t)1 << (live[i].x + dx) % WIDTH;
        word[(LINE + dy) % HEIGHT] = ((uint64_t)1 << WIDTH) - 1;
        const struct life_cells cells = {WIDTH, HEIGHT, 1, word};
        struct life_identity *id = life_identify_cells("B3/S23:T40,32", &cells, &others);
        ready(id);
        assert_int_equal(id->objects, 3);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(id->object[i].count, 1);
        assert_string_equal(id->object[0].code, "xp2_7");
        assert_string_equal(id->object[1].code, "xq4_153");
        assert_string_equal(id->object[2].code, "xs4_33");
        assert_int_equal(others, 1);
        life_identity_free(id);
    }
}

/* ---- Patterns that die late. ----------------------------------------------------------------- */

/* A glider and a block at (x, x + 1) annihilate after about 4 x generations, in which the search
 * jumps. */
static void identify_sees_late_extinction(void **unused)
{
    static const unsigned char block[4] = {1, 1, 1, 1};
    static const long long far[] = {9000, 10000, 15000, 20000, 24900};
    (void)unused;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        life *lf = identify_plane(NULL, "x = 3, y = 3\nbo$2bo$3o!"); /* at 1000, -77 */
        works(life_put_states(lf, 1000 + far[i], -77 + far[i] + 1, 2, 2, block));
        struct life_identity *id = life_identify(lf, 100000);
        ready(id);
        assert_int_equal(id->kind, LIFE_EXTINCT);
        assert_in_range(id->generation, 4 * far[i] - 40, 100000);
        assert_int_equal(id->most, 0);
        assert_int_equal(id->period, 0);
        life_identity_free(id);
        life_free(lf);
    }
}

/* ---- Cancelling. ----------------------------------------------------------------------------- */

static int cancel_all(void *calls, double fraction)
{
    (void)fraction;
    ++*(int *)calls;
    return 1;
}

/* A separation into objects is cancelled while its generations are computed, and between groups
 * that are named. */
static void identify_is_cancelled_in_a_separation(void **unused)
{
    struct life_pattern p;
    struct identify_cells now = {.n = 0};
    struct identify_parts parts = {.work = 1 << 22};
    struct identify_clusters c;
    struct life_identity id = {.kind = LIFE_UNSETTLED};
    int calls = 0;
    (void)unused;
    life *lf = life_create(
        &(struct life_options){.bounds = LIFE_UNBOUNDED, .progress = cancel_all, .arg = &calls});
    ready(lf);
    works(life_pattern_read_memory("gun", gun, strlen(gun), &p));
    works(life_put(lf, 0, 0, &(struct life_cells){p.columns, p.rows, p.stride, p.word}));
    life_pattern_free(&p);
    works(identify_cells_take(lf, &now));
    fails(ECANCELED, identify_separate(lf, &now, &parts, &c));
    assert_int_equal(calls, 1);
    assert_int_equal(c.n, 0);
    parts = (struct identify_parts){.work = 1 << 22, .near = true};
    fails(ECANCELED, identify_objects(lf, &now, &parts, &id));
    assert_int_equal(calls, 2);
    assert_int_equal(id.objects, 0);
    identify_cells_free(&now);
    life_free(lf);
}

/* ---- Pairs. ---------------------------------------------------------------------------------- */

/* Pairs of clusters that are seen: a bit each. */
struct seen_pairs {
    unsigned char *meeting;
    size_t n, pairs;
};

static bool note_pair(void *seen, size_t a, size_t b, enum identify_meeting meeting)
{
    struct seen_pairs *s = seen;
    s->meeting[(a < b ? a : b) * s->n + (a < b ? b : a)] = (unsigned char)meeting;
    s->pairs++;
    return true;
}

static bool count_pair(void *pairs, size_t a, size_t b, enum identify_meeting meeting)
{
    (void)a, (void)b, (void)meeting;
    ++*(size_t *)pairs;
    return true;
}

static struct identify_cluster cluster_at(long long x, long long y, long long dx, long long dy)
{
    return (struct identify_cluster){.n = 5,
                                     .left = x,
                                     .top = y,
                                     .right = x + 2,
                                     .bottom = y + 2,
                                     .motion = {dx || dy ? 4 : 1, dx, dy}};
}

/* All pairs are seen that one test after the other finds. */
static void identify_sees_all_pairs(void **unused)
{
    enum { MOST = 150, DRAWN = 60 };
    static unsigned char meeting[MOST * MOST];
    size_t beside = 0, meets = 0;
    uint64_t r = 0;
    (void)unused;
    for (size_t draw = 0; draw < DRAWN; draw++) {
        struct identify_cluster c[MOST];
        struct seen_pairs seen = {.meeting = meeting, .n = life_mix(++r) % MOST};
        const uint64_t side = 20 + life_mix(++r) % (draw % 2 ? 3000 : 200);
        size_t pairs = 0;
        memset(meeting, IDENTIFY_APART, sizeof meeting);
        for (size_t i = 0; i < seen.n; i++) {
            const uint64_t x = life_mix(++r) % side, y = life_mix(++r) % side, way = life_mix(++r);
            c[i] = cluster_at((long long)x - 500, (long long)y, (long long)(way % 3) - 1,
                              (long long)(way / 3 % 3) - 1);
        }
        assert_int_equal(identify_pairs_see(c, seen.n, 2, note_pair, &seen), 1);
        for (size_t i = 0; i < seen.n; i++)
            for (size_t k = i + 1; k < seen.n; k++) {
                const bool stand = c[i].motion.period == 1 && c[k].motion.period == 1;
                const enum identify_meeting way =
                    stand ? IDENTIFY_APART : identify_clusters_meet(&c[i], &c[k], 2);
                assert_int_equal(meeting[i * seen.n + k], way);
                pairs += way != IDENTIFY_APART;
                beside += way == IDENTIFY_BESIDE;
                meets += way == IDENTIFY_MEET;
            }
        assert_int_equal(seen.pairs, pairs);
    }
    assert_true(beside > 100 && meets > 100);
}

/* Few pairs are tested: 2^18 clusters have 3 x 10^10 pairs. */
static void identify_sees_few_of_many_pairs(void **unused)
{
    enum { SIDE = 512 };
    size_t pairs = 0;
    struct identify_cluster *c = malloc((SIDE * SIDE + 1) * sizeof *c);
    (void)unused;
    assert_non_null(c);
    const clock_t began = clock(); /* processor time */
    for (long long i = 0; i < SIDE * SIDE; i++)
        c[i] = cluster_at(i % SIDE * 12, i / SIDE * 12, 1, 1);
    c[SIDE * SIDE] = cluster_at(12 * SIDE + 500, 12 * SIDE + 500, -1, -1);
    assert_int_equal(identify_pairs_see(c, SIDE * SIDE, 2, count_pair, &pairs), 1);
    assert_int_equal(pairs, 0);
    assert_int_equal(identify_pairs_see(c, SIDE * SIDE + 1, 2, count_pair, &pairs), 1);
    assert_in_range(pairs, SIDE, 3 * SIDE);                       /* along a diagonal */
    assert_true((double)(clock() - began) / CLOCKS_PER_SEC < 60); /* all pairs take minutes */
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identify_knows_published_patterns),
        cmocka_unit_test(identify_looks_ahead_of_growth),
        cmocka_unit_test(identify_knows_rake_in_large_box),
        cmocka_unit_test(identify_knows_what_is_emitted),
        cmocka_unit_test(identify_prefers_standing_engine),
        cmocka_unit_test(identify_knows_growth_that_depends_on_phase),
        cmocka_unit_test(identify_looks_ahead_of_quadratic_growth),
        cmocka_unit_test(identify_has_period_of_cells),
        cmocka_unit_test(identify_has_period_of_trail),
        cmocka_unit_test(identify_leaves_unsettled),
        cmocka_unit_test(identify_leaves_large_soup),
        cmocka_unit_test(identify_knows_growth_to_many_cells),
        cmocka_unit_test(identify_knows_long_periods),
        cmocka_unit_test(identify_separates_ash),
        cmocka_unit_test(identify_separates_what_is_independent),
        cmocka_unit_test(identify_separates_ship_from_no_spark),
        cmocka_unit_test(identify_lists_objects_of_a_collection),
        cmocka_unit_test(identify_waits_for_collisions),
        cmocka_unit_test(identify_sees_late_extinction),
        cmocka_unit_test(identify_is_cancelled_in_a_separation),
        cmocka_unit_test(identify_sees_all_pairs),
        cmocka_unit_test(identify_sees_few_of_many_pairs),
        cmocka_unit_test(identify_stops_at_limit),
        cmocka_unit_test(identify_refuses),
        cmocka_unit_test(identify_cells_names_objects_as_they_are),
        cmocka_unit_test(identify_cells_finds_no_object_that_explodes),
        cmocka_unit_test(identify_cells_crosses_edges_of_a_torus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
