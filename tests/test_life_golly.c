/* test_life_golly.c - our files in Golly's command line program bgolly, and its files here.
 *
 * Both programs must reach equal populations from the same file, HashLife also on an unbounded
 * plane. bgolly supports torus and plane, and reads macrocell files with its algorithm HashLife.
 * SPDX-License-Identifier: MIT
 */
#include "files.h"
#include "deep.h"
#include "stdcl/life.h"

#include "core/outfile.h"
#include "formats/life.h"

#include <stdlib.h>
#include <unistd.h>

static bool there_is_bgolly(void)
{
    return system("command -v bgolly >/dev/null 2>&1") == 0;
}

/* Return the last population that bgolly prints, after `generations`: lines "1,000: 649". */
static uint64_t by_golly(const char *options, unsigned generations, const char *file)
{
    char command[2 * PATH_MAX], line[300];
    uint64_t population = UINT64_MAX;
    snprintf(command, sizeof command, "bgolly %s -m %u '%s' 2>&1", options, generations, file);
    FILE *fp = popen(command, "r");
    ready(fp);
    while (fgets(line, sizeof line, fp)) {
        const char *colon = strchr(line, ':');
        if (line[0] < '0' || line[0] > '9' || !colon)
            continue;
        population = 0;
        for (const char *c = colon; *c; c++)
            if (*c >= '0' && *c <= '9')
                population = population * 10 + (uint64_t)(*c - '0');
    }
    pclose(fp);
    return population;
}

/* Load the live cells of a file into the grid that its rule names, at Golly's position. */
static life *golly_population_from_file(const char *file)
{
    struct life_pattern p;
    enum life_bounds bounds;
    size_t width, height;
    char rule[LIFE_RULE_TEXT + 512], grid[LIFE_GRID_TEXT];
    works(life_pattern_read(file, &p));
    snprintf(rule, sizeof rule, "%s:%s", p.rule, p.bounds);
    works(life_grid_split(rule, grid, &bounds, &width, &height));
    assert_true(width > 0);
    life *lf = life_create(&(struct life_options){.grid = grid, .rule = rule});
    ready(lf);
    const long long left =
        p.placed ? p.x + (long long)(width / 2) : (long long)((width - p.width) / 2);
    const long long top =
        p.placed ? p.y + (long long)(height / 2) : (long long)((height - p.height) / 2);
    if (p.word)
        works(life_put(lf, left + (long long)p.left, top + (long long)p.top,
                       &(struct life_cells){p.columns, p.rows, p.stride, p.word}));
    life_pattern_free(&p);
    return lf;
}

static void to_file(life *lf, const char *rule, const char *bounds, const char *file)
{
    struct life_cells c;
    works(life_cells_alloc(&c, life_width(lf), life_height(lf)));
    works(life_get(lf, 0, 0, &c));
    struct life_pattern p = {.width = c.width,
                             .height = c.height,
                             .columns = c.width,
                             .rows = c.height,
                             .stride = c.stride,
                             .word = c.word,
                             .placed = true,
                             .x = -(long long)(c.width / 2),
                             .y = -(long long)(c.height / 2)};
    snprintf(p.rule, sizeof p.rule, "%s", rule);
    snprintf(p.bounds, sizeof p.bounds, "%s", bounds);
    works(life_pattern_write(file, &p, NULL));
    life_cells_free(&c);
}

static uint64_t golly_population(life *lf)
{
    uint64_t n = 0;
    works(life_population(lf, &n));
    return n;
}

static const struct world {
    const char *rule, *bounds;
} worlds[] = {{"B3/S23", "T100,70"},      {"B3/S23", "P131,64"},    {"B36/S23", "T64,33"},
              {"B3678/S34678", "P50,99"}, {"B3/S23", "T40+7,31"},   {"B36/S23", "T31,40-3"},
              {"B3/S23", "K30*,41"},      {"B36/S23", "K30*+1,41"}, {"B3/S23", "K41,30*"},
              {"B2-a/S12", "K41,30*+1"},  {"B3/S23", "C45,30"},     {"B3/S23", "S50"}};

static void check_golly_world(const struct world *w, const char *suffix, const char *options)
{
    char ours[100], theirs[300];
    life *lf = life_create(&(struct life_options){.grid = w->bounds, .rule = w->rule});
    ready(lf);
    works(life_soup(lf, 0, 11));
    snprintf(ours, sizeof ours, "ours%s", suffix);
    to_file(lf, w->rule, w->bounds, in_folder(ours));
    assert_int_equal(by_golly(options, 0, in_folder(ours)), golly_population(lf));
    works(life_step(lf, 300));
    assert_int_equal(by_golly(options, 300, in_folder(ours)), golly_population(lf));

    /* The other direction: generation 120 as Golly saved it, and 180 more here. */
    snprintf(theirs, sizeof theirs, "theirs%s", suffix);
    char with_output[PATH_MAX];
    snprintf(with_output, sizeof with_output, "%s -o '%s'", options, in_folder(theirs));
    const uint64_t at_120 = by_golly(with_output, 120, in_folder(ours));
    life *again = golly_population_from_file(in_folder(theirs));
    assert_int_equal(golly_population(again), at_120);
    /* bgolly's RLE does not record the position of its cells; on a torus that makes no
     * difference. */
    if (life_bounds_of(lf) == LIFE_TORUS || strcmp(suffix, ".mc") == 0) {
        works(life_step(again, 180));
        assert_int_equal(golly_population(again), golly_population(lf));
    }
    life_free(again);
    life_free(lf);
}

static void golly_rle_both_ways_agrees(void **state)
{
    (void)state;
    if (!there_is_bgolly())
        skip();
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++)
        check_golly_world(&worlds[i], ".rle", "");
}

/* A soup after some generations, when all states occur, as a file; both programs continue from
 * it. */
/* Write a grid's cells to a file in the folder. */
static void write_grid(life *lf, const char *rule, const char *bounds, const char *name)
{
    const size_t width = life_width(lf), height = life_height(lf);
    struct life_cells c;
    works(life_cells_alloc(&c, width, height));
    works(life_get(lf, 0, 0, &c));
    struct life_pattern p = {.width = width,
                             .height = height,
                             .columns = width,
                             .rows = height,
                             .stride = c.stride,
                             .word = c.word,
                             .states = 2,
                             .placed = true,
                             .x = -(long long)(width / 2),
                             .y = -(long long)(height / 2)};
    snprintf(p.rule, sizeof p.rule, "%s", rule);
    snprintf(p.bounds, sizeof p.bounds, "%s", bounds);
    works(life_pattern_write(in_folder(name), &p, NULL));
    life_cells_free(&c);
}

static void golly_generations_both_ways_agree(void **state)
{
    static const struct world many[] = {{"345/2/4", "T60,41"},     {"/2/3", "P70,30"},
                                        {"2367/3457/5", "T31,64"}, {"23/3/200", "T40,40"},
                                        {"013/2/4V", "T50,33"},    {"34/2/5H", "P40,50"}};
    (void)state;
    if (!there_is_bgolly())
        skip();
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        life *lf =
            life_create(&(struct life_options){.grid = many[i].bounds, .rule = many[i].rule});
        ready(lf);
        const size_t width = life_width(lf), height = life_height(lf);
        unsigned char *cells = malloc(width * height);
        uint64_t *word = calloc((width + 63) / 64 * height, sizeof *word);
        ready(cells);
        ready(word);
        works(life_soup(lf, 0.3, 5));
        works(life_step(lf, 9));
        works(life_get_states(lf, 0, 0, width, height, cells));
        struct life_pattern p = {.width = width,
                                 .height = height,
                                 .columns = width,
                                 .rows = height,
                                 .stride = (width + 63) / 64,
                                 .word = word,
                                 .states = life_states(lf),
                                 .state = cells,
                                 .placed = true,
                                 .x = -(long long)(width / 2),
                                 .y = -(long long)(height / 2)},
                            q;
        snprintf(p.rule, sizeof p.rule, "%s", many[i].rule);
        snprintf(p.bounds, sizeof p.bounds, "%s", many[i].bounds);
        works(life_pattern_write(in_folder("many.rle"), &p, NULL));
        works(life_pattern_write(in_folder("many.mc"), &p, NULL));
        assert_int_equal(by_golly("-a Generations", 0, in_folder("many.rle")),
                         golly_population(lf));
        works(life_step(lf, 50));
        assert_int_equal(by_golly("-a Generations", 50, in_folder("many.rle")),
                         golly_population(lf));
        assert_int_equal(by_golly("-a Generations", 50, in_folder("many.mc")),
                         golly_population(lf));
        char with_output[PATH_MAX + 40];
        snprintf(with_output, sizeof with_output, "-a Generations -o '%s'",
                 in_folder(i % 2 ? "theirs.rle" : "theirs.mc"));
        by_golly(with_output, 20, in_folder("many.rle"));
        works(life_pattern_read(in_folder(i % 2 ? "theirs.rle" : "theirs.mc"), &q));
        assert_string_equal(q.rule, many[i].rule);
        if (q.state && (life_bounds_of(lf) == LIFE_TORUS ||
                        i % 2 == 0)) { /* their RLE does not say where its cells are */
            const long long x = i % 2 ? 0 : q.x + (long long)q.left + (long long)(width / 2),
                            y = i % 2 ? 0 : q.y + (long long)q.top + (long long)(height / 2);
            works(life_clear(lf));
            works(life_put_states(lf, x, y, q.columns, q.rows, q.state));
            works(life_step(lf, 30));
            assert_int_equal(by_golly("-a Generations", 50, in_folder("many.rle")),
                             golly_population(lf));
        }
        life_pattern_free(&q);
        free(cells);
        free(word);
        life_free(lf);
    }
}

static void golly_larger_than_life_agrees(void **state)
{
    static const struct world many[] = {{"R5,C0,M1,S34..58,B34..45,NM", "T100,61"},
                                        {"R2,C4,M0,S4..9,B5..8,NN", "P70,30"},
                                        {"R3,C0,M0,S9..14,B10..13,NC", "T31,64"},
                                        {"R4,C255,M1,S20..40,B25..34,NM", "P40,90"},
                                        {"R8,C0,M0,S60..110,B60..80,NN", "T70,70"}};
    (void)state;
    if (!there_is_bgolly())
        skip();
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        life *lf =
            life_create(&(struct life_options){.grid = many[i].bounds, .rule = many[i].rule});
        ready(lf);
        works(life_soup(lf, 0.45, 6));
        write_grid(lf, many[i].rule, many[i].bounds, "large.rle");
        for (unsigned g = 0; g <= 24; g += 8) {
            const uint64_t golly = by_golly("-a 'Larger than Life'", g, in_folder("large.rle"));
            if (golly != golly_population(lf))
                fail_msg("%s: %llu cells here, %llu by bgolly", many[i].rule,
                         (unsigned long long)golly_population(lf), (unsigned long long)golly);
            works(life_step(lf, 8));
        }
        life_free(lf);
    }
}

/* Read a pattern without a grid onto a plane; NULL: it has a grid, or there is no such file. */
static life *plane_of_file(const char *file)
{
    struct life_pattern p;
    if (access(file, R_OK) != 0)
        return NULL;
    works(life_pattern_read(file, &p));
    life *lf = p.bounds[0]
                   ? NULL
                   : life_create(&(struct life_options){.bounds = LIFE_UNBOUNDED, .rule = p.rule});
    if (lf && p.state)
        works(life_put_states(lf, (long long)p.left, (long long)p.top, p.columns, p.rows, p.state));
    else if (lf)
        works(life_put(lf, (long long)p.left, (long long)p.top,
                       &(struct life_cells){p.columns, p.rows, p.stride, p.word}));
    life_pattern_free(&p);
    return lf;
}

/* Populations on unbounded planes, of soups and of Golly's own patterns. */
static void golly_larger_than_life_planes_agree(void **state)
{
    static const char *const rules[] = {"R5,C0,M1,S34..58,B34..45,NM", "R2,C4,M0,S4..9,B5..8,NN",
                                        "R3,C0,M0,S9..14,B8..13,NC",
                                        "R10,C0,M1,S123..212,B123..170,NM",
                                        "R4,C255,M1,S20..40,B25..34,NM"},
                             folder[] = "/usr/share/golly/Patterns/Larger-than-Life/",
                             *const own[] = {"Butterfly.rle", "Jitterbug.rle", "SlowShip.rle",
                                             "SoldierBugs.rle", "R100-alien-bug.rle"};
    const size_t soups = sizeof rules / sizeof *rules, all = soups + sizeof own / sizeof *own;
    (void)state;
    if (!there_is_bgolly())
        skip();
    for (size_t i = 0; i < all; i++) {
        char file[PATH_MAX];
        if (i < soups) {
            life *grid = life_create(&(struct life_options){
                .engine = LIFE_REFERENCE, .width = 70, .height = 40, .rule = rules[i]});
            ready(grid);
            works(life_soup(grid, 0.45, 6 + i));
            write_grid(grid, rules[i], "", "large.rle");
            life_free(grid);
        }
        snprintf(file, sizeof file, "%s%s", i < soups ? "" : folder,
                 i < soups ? in_folder("large.rle") : own[i - soups]);
        life *lf = plane_of_file(file);
        for (unsigned g = 0; lf && g <= 40; g += 20) {
            const uint64_t golly = by_golly("-a 'Larger than Life'", g, file);
            if (golly != golly_population(lf))
                fail_msg("%s, %s: %llu cells here, %llu by bgolly", file, life_rule_text(lf),
                         (unsigned long long)golly_population(lf), (unsigned long long)golly);
            works(life_step(lf, 20));
        }
        life_free(lf);
    }
}

/* Write the states of a torus of 64 x 64 cells as a macrocell file, which has positions. */
static void write_torus_states(const char *rule, unsigned states, unsigned char *state)
{
    uint64_t word[64] = {0};
    struct life_pattern p = {.width = 64,
                             .height = 64,
                             .columns = 64,
                             .rows = 64,
                             .stride = 1,
                             .word = word,
                             .states = states,
                             .state = state,
                             .placed = true,
                             .x = -32,
                             .y = -32,
                             .bounds = "T64,64"};
    for (size_t i = 0; i < 64 * 64; i++)
        word[i / 64] |= (uint64_t)(state[i] != 0) << i % 64;
    snprintf(p.rule, sizeof p.rule, "%s", rule);
    works(life_pattern_write(in_folder("states.mc"), &p, NULL));
}

/* Compare all cells of a torus with a macrocell file that bgolly wrote. */
static void check_torus_states(life *lf, const char *file)
{
    struct life_pattern q;
    static unsigned char ours[64 * 64], theirs[64 * 64];
    works(life_pattern_read(file, &q));
    memset(theirs, 0, sizeof theirs);
    for (size_t y = 0; y < q.rows; y++)
        for (size_t x = 0; x < q.columns; x++) {
            const long long column = q.x + (long long)(q.left + x) + 32,
                            row = q.y + (long long)(q.top + y) + 32;
            if (q.state[y * q.columns + x])
                theirs[row * 64 + column] = q.state[y * q.columns + x];
        }
    works(life_get_states(lf, 0, 0, 64, 64, ours));
    for (size_t i = 0; i < sizeof ours; i++)
        if (ours[i] != theirs[i])
            fail_msg("%s, generation %llu, column %zu, row %zu: state %d, by bgolly %d",
                     life_rule_text(lf), (unsigned long long)life_generation(lf), i % 64, i / 64,
                     ours[i], theirs[i]);
    life_pattern_free(&q);
}

/* Random cells under von Neumann's rule and its relatives; all states meet. */
static void golly_neumann_agrees(void **state)
{
    static const char *const rules[] = {"JvN29", "Nobili32", "Hutton32"};
    static const unsigned steps[] = {1, 1, 3, 20};
    static unsigned char cell[64 * 64];
    (void)state;
    if (!there_is_bgolly())
        skip();
    for (size_t r = 0; r < 3 * sizeof rules / sizeof *rules; r++) {
        life_transitions *t = life_transitions_named(rules[r % 3]);
        ready(t);
        life *lf = life_create(
            &(struct life_options){.grid = "T64,64", .transitions = t, .engine = LIFE_REFERENCE});
        ready(lf);
        for (size_t i = 0; i < sizeof cell; i++)
            cell[i] = (unsigned char)(rand() % 8 < (int)(r / 3)
                                          ? 0
                                          : (unsigned)rand() % life_transitions_states(t));
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            char options[PATH_MAX + 40];
            write_torus_states(rules[r % 3], life_transitions_states(t), cell);
            works(life_put_states(lf, 0, 0, 64, 64, cell));
            snprintf(options, sizeof options, "-a JvN -o '%s'", in_folder("theirs.mc"));
            by_golly(options, steps[i], in_folder("states.mc"));
            works(life_step(lf, steps[i]));
            check_torus_states(lf, in_folder("theirs.mc"));
            works(life_get_states(lf, 0, 0, 64, 64, cell));
        }
        life_free(lf);
        life_transitions_free(t);
    }
}

static void golly_macrocell_both_ways_agrees(void **state)
{
    (void)state;
    if (!there_is_bgolly())
        skip();
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i += i < 3 ? 1 : 4)
        check_golly_world(&worlds[i], ".mc", "-h");
}

/* ---- HashLife. ------------------------------------------------------------------------------- */

static life *golly_plane(const char *rule)
{
    struct life_cells c;
    uint64_t bits = 1;
    life *h = life_create(
        &(struct life_options){.engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED, .rule = rule});
    ready(h);
    works(life_cells_alloc(&c, 130, 90));
    for (size_t i = 0; i < c.stride * c.height; i++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u;
        c.word[i] = (bits >> 11 & bits >> 7) & (i % c.stride == 2 ? 3 : UINT64_MAX);
    }
    works(life_put(h, -40, -50, &c));
    life_cells_free(&c);
    return h;
}

static int write_golly_leaf(void *out, uint64_t cells)
{
    life_squares_write(out, &(struct life_square){.level = 3, .bits = true, .cells = cells});
    return 0;
}

static int write_golly_square(void *out, int level, const uint32_t part[4])
{
    life_squares_write(
        out, &(struct life_square){.level = level, .part = {part[0], part[1], part[2], part[3]}});
    return 0;
}

/* Compare the cells of a plane with the engine sparse. */
static void check_sparse(life *h, const char *rule, uint64_t generations, uint64_t golly)
{
    struct life_cells c;
    uint64_t n = 0;
    life *s = life_create(
        &(struct life_options){.engine = LIFE_SPARSE, .bounds = LIFE_UNBOUNDED, .rule = rule});
    ready(s);
    works(life_cells_alloc(&c, 130, 90));
    works(life_get(h, -40, -50, &c));
    works(life_put(s, -40, -50, &c));
    works(life_step(s, generations));
    works(life_population(s, &n));
    if (golly != n)
        fail_msg("%s: %llu cells by sparse, %llu by bgolly", rule, (unsigned long long)n,
                 (unsigned long long)golly);
    life_cells_free(&c);
    life_free(s);
}

static void golly_planes_agree(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        uint64_t generations;
    } runs[] = {{"B3/S23", 10007},
                {"B36/S23", 10007},
                {"B3678/S34678", 10007},
                {"B368/S245", 10007},
                {"B35678/S5678", 10007},
                {"B2-a/S12", 301},
                {"B3-ej6e/S234i", 3000},
                {"B2ein3cijn4cnrwy5cnq6e/S1c2-ai3acny4anqy5c6ek8", 301},
                {"B4ceaiknjqrytwz5ry/S4-cw5qy3n", 301},
                {"B2/S34H", 301},
                {"B2/S013V", 301},
                {"W110", 150}};
    if (!there_is_bgolly())
        skip();
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        struct outfile out;
        struct life_number n;
        char options[60];
        int level;
        life *h = golly_plane(runs[i].rule), *start = golly_plane(runs[i].rule);
        const char *file = in_folder(i % 2 ? "plane.mc.gz" : "plane.mc");
        FILE *plain = life_squares_open(&out, file, runs[i].rule, 0);
        assert_non_null(plain);
        works(life_squares_close(
            &out, plain,
            life_tree_walk(h, &level, write_golly_leaf, NULL, write_golly_square, &out)));
        works(life_step(h, runs[i].generations));
        works(life_population_exact(h, &n));
        assert_int_equal(n.high, 0);
        snprintf(options, sizeof options, "-h -i %llu", (unsigned long long)runs[i].generations);
        const uint64_t golly = by_golly(options, (unsigned)runs[i].generations, file);
        if (golly != n.low)
            fail_msg("%s: %llu cells here, %llu by bgolly", runs[i].rule, (unsigned long long)n.low,
                     (unsigned long long)golly);
        if (i == 0 || sampled(i, 5)) /* a program is built for each */
            check_sparse(start, runs[i].rule, runs[i].generations, golly);
        life_free(h);
        life_free(start);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golly_rle_both_ways_agrees),
                                       cmocka_unit_test(golly_generations_both_ways_agree),
                                       cmocka_unit_test(golly_larger_than_life_agrees),
                                       cmocka_unit_test(golly_larger_than_life_planes_agree),
                                       cmocka_unit_test(golly_neumann_agrees),
                                       cmocka_unit_test(golly_macrocell_both_ways_agrees),
                                       cmocka_unit_test(golly_planes_agree)};
    return cmocka_run_group_tests(tests, files_create, files_remove);
}
