/* test_life_rule_table.c - rule files: tables against the definition, trees, every engine,
 * unbounded planes, rejected files.
 *
 * The definition is implemented here again, as simply as possible: transitions in order, each
 * rotated, mirrored or permuted in all ways, each word a state or a variable that keeps its
 * first value (Golly's help, "File formats").
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include "life/hash.h"
#include "life/internal.h"
#include "life/isa.h"
#include "life/rule_program.h"
#include "life/transitions.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static life_transitions *rule_of_table(const char *text)
{
    life_transitions *t = life_transitions_read("a.rule", text, strlen(text));
    ready(t);
    return t;
}

/* ---- Tables, by the definition. -------------------------------------------------------------- */

enum { MOST = 12 };

/* A table in this test's notation: variables a to d are sets of states, a bit each; transitions
 * have one character a word; a dot is any state. */
static const struct table {
    const char *neighbourhood, *symmetries;
    int neighbours, states;
    unsigned variable[4];
    const char *transition[MOST];
} tables[] = {
    {"Moore", "none", 8, 3, {6, 3, 7, 0}, {"0a0000b0.2", "1aa.....01", "2b.......0", "a....0...0"}},
    {"Moore", "rotate4", 8, 3, {6, 3, 7, 0}, {"01a000b001", "1ab2.....a", "2.1..a...a"}},
    {"Moore", "rotate8", 8, 3, {6, 5, 7, 0}, {"01a0000..1", "12a......a", "2...1....0"}},
    {"Moore", "rotate4reflect", 8, 3, {6, 5, 7, 0}, {"012000.001", "11a2.....2", "2.12.....0"}},
    {"Moore", "rotate8reflect", 8, 3, {6, 5, 7, 0}, {"0120000..1", "11a2.....2", "2...1a0..0"}},
    {"Moore", "reflect_horizontal", 8, 3, {6, 5, 7, 0}, {"0..12...02", "1.2.0....2", "2.....10.1"}},
    {"Moore",
     "permute",
     8,
     3,
     {6, 5, 7, 0},
     {"0111.....1", "1000aaaab2", "1222.....0", "2a11b....a"}},
    {"vonNeumann", "none", 4, 4, {6, 9, 15, 12}, {"0a0bd1", "1..2.3", "a.dd.a", "3....0"}},
    {"vonNeumann", "rotate4", 4, 4, {6, 9, 15, 12}, {"0a0bd1", "1a.2.a", "a.dd.a", "3....0"}},
    {"vonNeumann", "rotate4reflect", 4, 4, {6, 9, 15, 12}, {"012..3", "1ab2.a", "3.aa.2"}},
    {"vonNeumann",
     "reflect_horizontal",
     4,
     4,
     {6, 9, 15, 12},
     {"0.1.d1", "1.a.02", "2.3a.a", "30...0"}},
    {"vonNeumann", "permute", 4, 4, {6, 9, 15, 12}, {"01a..1", "1aa.02", "22dd13", "3....0"}},
    {"hexagonal", "none", 6, 3, {6, 5, 7, 0}, {"01.2...1", "1aa...02", "2....0.0"}},
    {"hexagonal", "rotate2", 6, 3, {6, 5, 7, 0}, {"01.2...1", "1aa...02", "2....0.0"}},
    {"hexagonal", "rotate3", 6, 3, {6, 5, 7, 0}, {"01.2...1", "1aa...02", "2....0.0"}},
    {"hexagonal", "rotate6", 6, 3, {6, 5, 7, 0}, {"01.2...1", "1aa...02", "2....0.0"}},
    {"hexagonal", "rotate6reflect", 6, 3, {6, 5, 7, 0}, {"01.2...1", "112...02", "2..0a0.0"}},
    {"oneDimensional", "none", 2, 3, {6, 5, 7, 0}, {"01.1", "1ab2", "2.00"}},
    {"oneDimensional", "reflect", 2, 3, {6, 5, 7, 0}, {"01.1", "1ab2", "2.01"}},
    {"oneDimensional", "permute", 2, 3, {6, 5, 7, 0}, {"01.1", "1ab2", "2.01"}},
};
static const char *const variables = "abcd";

/* The table as text of a file: words with commas, with blanks and comments between. */
static life_transitions *written(const struct table *t)
{
    char text[6000];
    int n = sprintf(
        text,
        "@RULE Test\nfor people\n@TABLE\n# words\nn_states:%d\nneighborhood:%s\nsymmetries:%s\n",
        t->states, t->neighbourhood, t->symmetries);
    for (int v = 0; v < 4 && t->variable[v]; v++) {
        n += sprintf(text + n, "var %c = {", variables[v]);
        for (int s = 0, first = 1; s < t->states; s++)
            if (t->variable[v] >> s & 1) {
                n += sprintf(text + n, first ? "%d" : ", %d", s);
                first = 0;
            }
        n += sprintf(text + n, "}\n");
    }
    for (int i = 0; i < 10; i++) {
        n += sprintf(text + n, "var any%d={0", i);
        for (int s = 1; s < t->states; s++)
            n += sprintf(text + n, ",%d%s", s, s + 1 < t->states ? "" : "}\n");
    }
    for (int i = 0; i < MOST && t->transition[i]; i++)
        for (const char *p = t->transition[i]; *p; p++)
            n += *p == '.' ? sprintf(text + n, "any%d,", (int)(p - t->transition[i]))
                           : sprintf(text + n, p[1] ? "%c," : "%c  # one\n\n", *p);
    return rule_of_table(text);
}

/* True if a word fits a state. `was`: values of the variables, -1 not yet bound. */
static bool transition_fits(const struct table *t, char word, int state, int was[4])
{
    const char *v = strchr(variables, word);
    if (word == '.')
        return true;
    if (!v)
        return word - '0' == state;
    int *now = &was[v - variables];
    if (!(t->variable[v - variables] >> state & 1) || (*now >= 0 && *now != state))
        return false;
    *now = state;
    return true;
}

/* The value of a, if it occurs more than once: Golly tries its lowest state first, in all
 * orders. -1: any. */
static int bound = -1;

/* Match the cell and its neighbours, in a table's order, against one order of a transition;
 * return the new state, or -1. */
static int against(const struct table *t, const char *transition, const int *order,
                   const int *state)
{
    int was[4] = {bound, -1, -1, -1};
    if (!transition_fits(t, transition[0], state[0], was))
        return -1;
    for (int i = 0; i < t->neighbours; i++)
        if (!transition_fits(t, transition[1 + order[i]], state[1 + i], was))
            return -1;
    const char out = transition[1 + t->neighbours];
    return isdigit((unsigned char)out) ? out - '0' : was[strchr(variables, out) - variables];
}

/* Try all orders of the words from k on; `used` has a bit for each word placed. */
static int permuted(const struct table *t, const char *transition, unsigned used, int k,
                    const int *state, const int was[4])
{
    const char out = transition[1 + t->neighbours];
    if (k == t->neighbours)
        return isdigit((unsigned char)out) ? out - '0' : was[strchr(variables, out) - variables];
    for (int i = 0; i < t->neighbours; i++) {
        int now[4];
        memcpy(now, was, sizeof now);
        const int found = used >> i & 1 || !transition_fits(t, transition[1 + i], state[1 + k], now)
                              ? -1
                              : permuted(t, transition, used | 1u << i, k + 1, state, now);
        if (found >= 0)
            return found;
    }
    return -1;
}

static int turned_neighbours(const struct table *t, const char *transition, const int *state)
{
    const int n = t->neighbours,
              number = atoi(t->symmetries + strcspn(t->symmetries, "0123456789"));
    const int turns = strcmp(t->symmetries, "reflect") == 0 ? 2 : number ? number : 1;
    const bool mirror = strcmp(t->symmetries, "reflect") != 0 && strstr(t->symmetries, "reflect");
    int order[8];
    int was[4] = {bound, -1, -1, -1};
    if (strcmp(t->symmetries, "permute") == 0)
        return transition_fits(t, transition[0], state[0], was)
                   ? permuted(t, transition, 0, 0, state, was)
                   : -1;
    for (int m = 0; m <= mirror; m++)
        for (int turn = 0; turn < turns; turn++) {
            for (int i = 0; i < n; i++)
                order[i] = ((m ? n - i : i) + turn * n / turns) % n;
            const int out = against(t, transition, order, state);
            if (out >= 0)
                return out;
        }
    return -1;
}

static int table_by_definition(const struct table *t, const unsigned char block[9])
{
    static const int eight[] = {1, 2, 5, 8, 7, 6, 3, 0}, six[] = {1, 5, 8, 7, 3, 0},
                     four[] = {1, 5, 7, 3}, two[] = {3, 5};
    const int *place = t->neighbours == 8   ? eight
                       : t->neighbours == 6 ? six
                       : t->neighbours == 4 ? four
                                            : two;
    int state[9] = {block[4]};
    for (int i = 0; i < t->neighbours; i++)
        state[1 + i] = block[place[i]];
    for (int i = 0; i < MOST && t->transition[i]; i++) {
        const char *first = strchr(t->transition[i], 'a');
        const bool twice = first && strchr(first + 1, 'a');
        for (bound = twice ? 0 : -1; bound < (twice ? t->states : 0); bound++) {
            const int out = turned_neighbours(t, t->transition[i], state);
            if (out >= 0)
                return out;
        }
    }
    return block[4];
}

enum { WIDTH = 40, HEIGHT = 31 };

static void fill_states(unsigned char *cells, unsigned states, uint64_t seed)
{
    for (size_t i = 0; i < WIDTH * HEIGHT; i++)
        cells[i] =
            (unsigned char)(life_mix(i + seed * 0x9e3779b97f4a7c15u + 1) % 1009 % (states + 2));
    for (size_t i = 0; i < WIDTH * HEIGHT; i++)
        cells[i] = cells[i] >= states ? 0 : cells[i];
}

/* One generation on a torus. */
static void rule_tables_match_definition(void **unused)
{
    unsigned char cells[WIDTH * HEIGHT], right[WIDTH * HEIGHT], got[WIDTH * HEIGHT];
    (void)unused;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        const struct table *t = &tables[i];
        life_transitions *rule = written(t);
        assert_int_equal(life_transitions_states(rule), t->states);
        life *lf = life_create(&(struct life_options){
            .engine = LIFE_REFERENCE, .transitions = rule, .width = WIDTH, .height = HEIGHT});
        ready(lf);
        fill_states(cells, (unsigned)t->states, i);
        size_t changed = 0;
        for (int at = 0; at < WIDTH * HEIGHT; at++) {
            unsigned char block[9];
            for (int k = 0; k < 9; k++)
                block[k] = cells[(at / WIDTH + k / 3 - 1 + HEIGHT) % HEIGHT * WIDTH +
                                 (at % WIDTH + k % 3 - 1 + WIDTH) % WIDTH];
            right[at] = (unsigned char)table_by_definition(t, block);
            changed += right[at] != cells[at];
        }
        if (changed < 20)
            fail_msg("%s %s: %zu cells change, which shows little", t->neighbourhood, t->symmetries,
                     changed);
        works(life_put_states(lf, 0, 0, WIDTH, HEIGHT, cells));
        works(life_step(lf, 1));
        works(life_get_states(lf, 0, 0, WIDTH, HEIGHT, got));
        for (int at = 0; at < WIDTH * HEIGHT; at++)
            if (got[at] != right[at])
                fail_msg("%s %s: cell %d,%d becomes %d, not %d", t->neighbourhood, t->symmetries,
                         at % WIDTH, at / WIDTH, got[at], right[at]);
        life_free(lf);
        life_transitions_free(rule);
    }
}

/* ---- Trees. ---------------------------------------------------------------------------------- */

/* Three states: the sum of the cell and its four neighbours, modulo 3. */
static const char sum[] =
    "@RULE Sum\n@TREE\n# comment\nnum_states=3\nnum_neighbors=4\nnum_nodes=13\n"
    "1 0 1 2\n1 1 2 0\n1 2 0 1\n2 0 1 2\n2 1 2 0\n2 2 0 1\n3 3 4 5\n3 4 5 3\n3 5 3 4\n4 6 7 8\n4 7 8 6\n4 8 6 7\n5 9 10 11\n"
    "@COLORS\n1 255 128 0 orange\n2 0 0 255\n";

static void rule_tree_matches_sum(void **unused)
{
    unsigned char cells[WIDTH * HEIGHT], got[WIDTH * HEIGHT];
    (void)unused;
    life_transitions *rule = rule_of_table(sum);
    assert_string_equal(life_transitions_name(rule), "Sum");
    assert_memory_equal(life_transitions_colour(rule, 0),
                        ((unsigned char[]){0, 0, 0, 255, 128, 0, 0, 0, 255}), 9);
    life *lf =
        life_create(&(struct life_options){.transitions = rule, .width = WIDTH, .height = HEIGHT});
    ready(lf);
    assert_string_equal(life_rule_text(lf), "Sum");
    fill_states(cells, 3, 5);
    works(life_put_states(lf, 0, 0, WIDTH, HEIGHT, cells));
    works(life_step(lf, 1));
    works(life_get_states(lf, 0, 0, WIDTH, HEIGHT, got));
    for (int at = 0; at < WIDTH * HEIGHT; at++) {
        const int x = at % WIDTH, y = at / WIDTH;
        const int total = cells[at] + cells[y * WIDTH + (x + 1) % WIDTH] +
                          cells[y * WIDTH + (x + WIDTH - 1) % WIDTH] +
                          cells[(y + 1) % HEIGHT * WIDTH + x] +
                          cells[(y + HEIGHT - 1) % HEIGHT * WIDTH + x];
        assert_int_equal(got[at], total % 3);
    }
    life_free(lf);
    life_transitions_free(rule);
}

/* ---- Engines. -------------------------------------------------------------------------------- */

static life_transitions *wire_world(void)
{
    return rule_of_table(
        "@RULE WireWorld\n@TABLE\nn_states:4\nneighborhood:Moore\nsymmetries:permute\nvar a={0,1,2,3}\nvar a2=a\nvar a3={a}\nvar a4={a}\n"
        "var a5={a}\nvar a6={a}\nvar a7={a}\nvar a8={a}\nvar i={0,2,3}\nvar i2={i}\nvar i3={i}\nvar i4={i}\nvar i5={i}\nvar i6={i}\n"
        "1,a,a2,a3,a4,a5,a6,a7,a8,2\n2,a,a2,a3,a4,a5,a6,a7,a8,3\n3,1,i,i2,i3,i4,i5,i6,a,1\n@COLORS\n255 0 0 255 255 0\n");
}

static void check_same_states(life *lf, const unsigned char *start, const unsigned char *right,
                              uint64_t generations)
{
    unsigned char got[WIDTH * HEIGHT];
    ready(lf);
    works(life_put_states(lf, 0, 0, WIDTH, HEIGHT, start));
    works(life_step(lf, generations));
    works(life_get_states(lf, 0, 0, WIDTH, HEIGHT, got));
    assert_memory_equal(got, right, sizeof got);
    life_free(lf);
}

/* Rule files and Generations on every kind of grid, on the device and in plain C. */
static void rule_tables_grids_match_reference(void **unused)
{
    static const char *const grids[] = {"T40,31",  "P40,31",    "T40+5,31", "T40,31-2",
                                        "K40*,31", "K40,31*+1", "C40,31"};
    unsigned char start[WIDTH * HEIGHT], right[WIDTH * HEIGHT];
    life_transitions *rule = wire_world();
    (void)unused;
    for (size_t i = 0; i < sizeof grids / sizeof *grids; i++)
        for (int file = 0; file < 2; file++) {
            struct life_options o = {.engine = LIFE_REFERENCE,
                                     .grid = grids[i],
                                     .transitions = file ? rule : NULL,
                                     .rule = file ? NULL : "345/2/4"};
            life *lf = life_create(&o);
            ready(lf);
            fill_states(start, 4, i + 50);
            works(life_put_states(lf, 0, 0, WIDTH, HEIGHT, start));
            works(life_step(lf, 21));
            works(life_get_states(lf, 0, 0, WIDTH, HEIGHT, right));
            life_free(lf);
            assert_int_not_equal(memcmp(start, right, sizeof right), 0);
            o.engine = LIFE_PACKED;
            check_same_states(life_create(&o), start, right, 21);
        }
    life_transitions_free(rule);
}

/* ---- Planes without edges. ------------------------------------------------------------------- */

static int copy_table_states(void *to, const unsigned char state[4])
{
    uint32_t square;
    return life_tree_add_states(to, state, &square);
}

static int copy_table_square(void *to, int level, const uint32_t part[4])
{
    uint32_t square;
    return life_tree_add_square(to, level, part, &square);
}

/* A plane copied square by square is equal and evolves equally. */
static void check_squares(life *h, const struct life_options *o)
{
    struct life_box box;
    life *copy = life_create(o);
    int level;
    uint32_t last;
    ready(copy);
    works(life_tree_walk(h, &level, NULL, copy_table_states, copy_table_square, copy));
    works(life_tree_add_bits(copy, 0, &last));
    works(life_tree_set(copy, last - 1, 40));
    assert_true(life_generation(copy) == 40);
    for (int turn = 0; turn < 2; turn++) {
        static unsigned char want[300 * 300], got[300 * 300];
        works(life_get_states(h, -150, -150, 300, 300, want));
        works(life_get_states(copy, -150, -150, 300, 300, got));
        assert_memory_equal(got, want, sizeof want);
        works(life_step(h, 9));
        works(life_step(copy, 9));
    }
    for (int small = 1; small <= 6; small++) { /* a cell at the corner of the south-eastern quarter,
                                                  in squares of small levels */
        uint32_t square, part[4] = {0, 0, 0, 0};
        works(life_tree_add_states(copy, (const unsigned char[]){small > 1, 0, 0, small == 1},
                                   &square));
        for (int l = 2; l <= small; l++) {
            part[l == small ? 3 : 0] = square;
            works(life_tree_add_square(copy, l, part, &square));
            part[0] = 0;
        }
        works(life_tree_set(copy, square, 0));
        assert_int_equal(life_bounding_box(copy, &box), 1);
        assert_true(box.left.low == 0 && box.top.low == 0 && box.right.low == 1 &&
                    box.bottom.low == 1);
    }
    for (int large = 3; large <= 5;
         large++) { /* squares of 8 x 8 bits, with cells (1, 0) and (0, 2), are of state 1 here */
        uint32_t square, part[4] = {0, 0, 0, 0};
        unsigned char got[9];
        works(life_tree_add_bits(copy, 1 << 1 | 1 << 16, &square));
        for (int l = 4; l <= large; l++) {
            part[l == large ? 3 : 0] = square;
            works(life_tree_add_square(copy, l, part, &square));
            part[0] = 0;
        }
        works(life_tree_set(copy, square, 0));
        works(life_get_states(copy, large == 3 ? -4 : 0, large == 3 ? -4 : 0, 3, 3, got));
        assert_memory_equal(got, ((unsigned char[]){0, 1, 0, 0, 0, 0, 1, 0, 0}), sizeof got);
    }
    life_free(copy);
}

/* Compare with a plane whose edges are too far for anything to reach. True if HashLife has come to
 * look up states. */
static bool check_table_plane(const char *rule, const life_transitions *transitions,
                              unsigned states, const uint64_t *bursts, size_t memory)
{
    enum { MARGIN = 120, WIDE = WIDTH + 2 * MARGIN, HIGH = HEIGHT + 2 * MARGIN };
    static unsigned char right[WIDE * HIGH], got[WIDE * HIGH];
    unsigned char start[WIDTH * HEIGHT];
    struct life_number population;
    struct life_box box;
    uint64_t alive = 0;
    life *lf = life_create(&(struct life_options){.engine = LIFE_REFERENCE,
                                                  .rule = rule,
                                                  .transitions = transitions,
                                                  .width = WIDE,
                                                  .height = HIGH,
                                                  .bounds = LIFE_PLANE});
    const struct life_options options = {.engine = LIFE_HASHLIFE,
                                         .bounds = LIFE_UNBOUNDED,
                                         .rule = rule,
                                         .transitions = transitions,
                                         .memory = memory,
                                         .threads = 2};
    life *h = life_create(&options);
    ready(lf);
    ready(h);
    assert_int_equal(life_states(h), states);
    fill_states(start, states, 77);
    works(life_put_states(lf, MARGIN, MARGIN, WIDTH, HEIGHT, start));
    works(life_put_states(h, -20, -7, WIDTH, HEIGHT, start));
    for (; *bursts; bursts++) {
        works(life_step(lf, *bursts));
        works(life_step(h, *bursts));
    }
    works(life_get_states(lf, 0, 0, WIDE, HIGH, right));
    works(life_get_states(h, -20 - MARGIN, -7 - MARGIN, WIDE, HIGH, got));
    assert_memory_equal(got, right, sizeof right);
    works(life_population_exact(h, &population));
    for (size_t i = 0; i < sizeof right; i++)
        alive += right[i] != 0;
    assert_int_equal(population.low, alive);
    assert_int_equal(life_bounding_box(h, &box), alive > 0);
    if (!alive && rule)
        fail_msg("%s: nothing lives, which shows little", rule);
    struct life_cells bits;
    works(life_cells_alloc(&bits, WIDE, HIGH));
    works(life_get(h, -20 - MARGIN, -7 - MARGIN, &bits));
    for (size_t i = 0; i < WIDE * HIGH; i++)
        assert_int_equal(life_cells_at(&bits, i % WIDE, i / WIDE), right[i] != 0);
    uint64_t live[9 * 8]; /* 32 cells a square */
    works(life_density(h, -160, -128, 9, 8, 5, live));
    life_cells_free(&bits);
    check_squares(h, &options);
    const bool looks_up = ((const struct hashlife *)h->state)->lookups.levels > 0;
    life_free(h);
    life_free(lf);
    return looks_up;
}

static void rule_tables_planes_match_reference(void **unused)
{
    static const uint64_t bursts[] = {1, 2, 13, 32, 0};
    life_transitions *wire = wire_world(), *three = rule_of_table(sum);
    (void)unused;
    check_table_plane("345/2/4", NULL, 4, bursts, 0);
    check_table_plane("/2/3", NULL, 3, bursts, 0);
    check_table_plane("23/36/200", NULL, 200, bursts, 0);
    check_table_plane("013/2/4V", NULL, 4, bursts, 0);
    check_table_plane("13/2/5H", NULL, 5, bursts, 0);
    assert_int_equal(check_table_plane(NULL, wire, 4, bursts, 0),
                     life_isa(0)->lookups_states != NULL);
    check_table_plane(NULL, three, 3, bursts, 0);
    check_table_plane("23/36/9", NULL, 9, bursts,
                      (size_t)16 << 20); /* so little that squares are thrown away */
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        life_transitions *rule = written(&tables[i]);
        check_table_plane(NULL, rule, (unsigned)tables[i].states, (const uint64_t[]){9, 0}, 0);
        life_transitions_free(rule);
    }
    life_transitions_free(wire);
    life_transitions_free(three);
}

/* ---- What is refused. ------------------------------------------------------------------------ */

#define HEADS "@RULE R\n@TABLE\nn_states:3\nneighborhood:vonNeumann\nsymmetries:none\n"

/* ---- Tables of bytes. ------------------------------------------------------------------------ */

/* The next state is the sum of the cell and its neighbours modulo *arg, weighted by place.
 * The tree is small in any order. */
static uint32_t weighted_add(const void *arg, unsigned cell, uint32_t summary, int i,
                             unsigned state)
{
    const uint32_t modulus = *(const uint32_t *)arg;
    return (summary + (i ? 0 : cell) + (uint32_t)(1 + i % 3) * state) % modulus;
}

static unsigned weighted_next(const void *arg, unsigned cell, uint32_t summary)
{
    (void)arg, (void)cell;
    return summary;
}

/* The next state is the number of neighbours that equal the neighbour four places before, modulo 4.
 * The tree is small only if it examines the neighbours in these pairs. */
static uint32_t paired_add(const void *arg, unsigned cell, uint32_t summary, int i, unsigned state)
{
    const uint32_t digit = state % 4, count = summary / 256, before = summary % 256;
    (void)arg, (void)cell;
    if (i < 4)
        return before * 4 + digit;
    static const uint32_t place[4] = {64, 16, 4, 1};
    const uint32_t rest = before % place[i - 4];
    return (count + (before / place[i - 4] == digit)) % 4 * 256 + rest;
}

static unsigned paired_next(const void *arg, unsigned cell, uint32_t summary)
{
    (void)arg, (void)cell;
    return summary / 256;
}

/* Every instruction set advances random states as the tree says. */
static void check_lookups_of(const life_transitions *t, int most)
{
    enum { N = 16 };
    struct life_lookups lookups;
    life_lookups_make(t, &lookups);
    assert_int_equal(lookups.levels, t->places);
    for (int d = 0; d < lookups.levels; d++)
        assert_true(lookups.level[d].branches <= most);
    for (unsigned set = 0; life_isa(set) && life_isa(set)->lookups_states; set++)
        for (int generations = 0; generations <= 4; generations++) {
            unsigned char cell[N * N], now[N * N], then[N * N];
            for (int i = 0; i < N * N; i++)
                cell[i] = now[i] =
                    (unsigned char)(life_mix((uint64_t)(i + 256 * generations) + 1) % t->states);
            life_isa(set)->lookups_states(&lookups, cell, generations);
            for (int g = 0; g < generations; g++, memcpy(now, then, sizeof now))
                for (int i = 0; i < N * N; i++) {
                    unsigned char block[9] = {0};
                    const int x = i % N, y = i / N;
                    for (int j = 0; j < 9 && x > 0 && y > 0 && x < N - 1 && y < N - 1; j++)
                        block[j] = now[i + (j / 3 - 1) * N + j % 3 - 1];
                    then[i] = life_transit(t, block);
                }
            for (int y = generations; y < N - generations; y++)
                assert_memory_equal(cell + y * N + generations, now + y * N + generations,
                                    (size_t)(N - 2 * generations));
        }
}

static void rule_trees_become_tables(void **unused)
{
    static const unsigned char colour[256][3];
    static const struct {
        unsigned states, modulus;
        int neighbours, most;
    } sums[] = {{2, 2, 8, 16},    {3, 3, 8, 16},    {5, 5, 4, 32},  {7, 7, 6, 64},
                {11, 11, 8, 128}, {16, 15, 8, 256}, {29, 5, 4, 32}, {200, 6, 8, 64}};
    (void)unused;
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        const uint32_t modulus = sums[i].modulus;
        life_transitions *t =
            rule_program_build(&(struct rule_program){.arg = &modulus,
                                                      .states = sums[i].states,
                                                      .neighbours = sums[i].neighbours,
                                                      .colour = colour,
                                                      .add = weighted_add,
                                                      .next = weighted_next},
                               "sums");
        ready(t);
        check_lookups_of(t, sums[i].most);
        life_transitions_free(t);
    }
}

/* The levels of a tree that is too large in the rule's order are exchanged. A tree that is large in
 * any order has no tables. */
static void rule_trees_are_sifted(void **unused)
{
    static const unsigned char colour[256][3];
    struct life_lookups lookups;
    (void)unused;
    life_transitions *t = rule_program_build(
        &(struct rule_program){
            .states = 4, .neighbours = 8, .colour = colour, .add = paired_add, .next = paired_next},
        "pairs");
    ready(t);
    check_lookups_of(t, 256);
    life_transitions_free(t);
    const uint32_t modulus = 97;
    t = rule_program_build(&(struct rule_program){.arg = &modulus,
                                                  .states = 97,
                                                  .neighbours = 8,
                                                  .colour = colour,
                                                  .add = weighted_add,
                                                  .next = weighted_next},
                           "sums");
    ready(t);
    life_lookups_make(t, &lookups);
    assert_int_equal(lookups.levels, 0);
    life_transitions_free(t);
}

/* Rows of 200 cells under a random table, by every instruction set and cell by cell. */
static void rule_columns_match_table(void **unused)
{
    enum { COLUMNS = 200 };
    struct life_table rule;
    unsigned char code[COLUMNS + 2], next[COLUMNS];
    (void)unused;
    for (uint64_t i = 0; i < 8; i++)
        rule.on[i] = life_mix(i + 1);
    for (uint64_t i = 0; i < COLUMNS + 2; i++)
        code[i] = life_mix(i + 100) % 8;
    const struct life_columns columns = life_columns_of(&rule);
    for (unsigned set = 0; life_isa(set); set++) {
        if (!life_isa(set)->lookups_row)
            continue;
        const size_t n = life_isa(set)->lookups_row(&columns, code + 1, COLUMNS, next);
        assert_true(n > COLUMNS - 64);
        for (size_t x = 0; x < n; x++) {
            unsigned block = 0;
            for (unsigned j = 0; j < 9; j++)
                block |= (code[x + j % 3] >> j / 3 & 1u) << j;
            assert_int_equal(next[x], life_table_next(&rule, block));
        }
    }
}

static void rule_tables_reject_bad_files(void **unused)
{
    static const char *const bad[][2] = {
        {"", "line 1: a rule's file begins with @RULE"},
        {"@RULE\n", "begins with @RULE"},
        {"@RULE a b\n", "no blanks"},
        {"@RULE R\nhello\n", "has no @TABLE and no @TREE"},
        {"@RULE R\n@TABLE\n", "a table has n_states:"},
        {"@RULE R\n@TABLE\nn_states:257\n", "line 3: n_states is 2 to 256"},
        {"@RULE R\n@TABLE\nn_states:3\nneighborhood:Margolus\n",
         "line 4: the neighborhood is Moore"},
        {"@RULE R\n@TABLE\nn_states:3\nneighborhood:hexagonal\nsymmetries:rotate4\n",
         "line 5: symmetries of hexagonal are none, rotate2"},
        {"@RULE R\n@TABLE\nn_states:3\n0,0,0,0,0,0\n", "line 4: first there should be"},
        {HEADS "0,0,0,0,1\n", "line 6: a transition has 6 states"},
        {HEADS "00000\n", "line 6: a transition has 6 states"},
        {HEADS "0,0,0,0,0,0,0\n", "a transition has 6 states"},
        {HEADS "0,0,0,0,0,3\n", "'3' is no state; there are 0 to 2"},
        {HEADS "0,0,x,0,0,1\n", "'x' is no state and no variable"},
        {HEADS "var x={1,2\n", "a variable is written"},
        {HEADS "var x=\n", "a variable is written"},
        {HEADS "var x=1}\n", "a variable is written"},
        {HEADS "var x=y\n", "'y' is no state and no variable"},
        {HEADS "var x={1,2}\nvar x={1}\n", "line 7: the variable 'x' is there already"},
        {HEADS "var x={1,2}\n0,0,0,0,0,x\n", "a variable that does not stand before"},
        {"@RULE R\n@TREE\nnum_states=1\n", "line 3: num_states is 2 to 256"},
        {"@RULE R\n@TREE\nnum_states=2\nnum_neighbors=5\n", "num_neighbors is 4 or 8"},
        {"@RULE R\n@TREE\nnum_states=2\nnum_neighbors=4\nnum_nodes=9999\n1 0 1\n",
         "there are not 9999 nodes"},
        {"@RULE R\n@TREE\nnum_states=2\nnum_neighbors=4\nnum_nodes=1\n1 0 2\n", "2 is no state"},
        {"@RULE R\n@TREE\nnum_states=2\nnum_neighbors=4\nnum_nodes=2\n1 0 1\n3 0 0\n",
         "0 is no node of the level below that stands before node 1"},
        {"@RULE R\n@TREE\nnum_states=2\nnum_neighbors=4\nnum_nodes=2\n1 0 1\n2 0 1\n",
         "1 is no node of the level below"},
        {"@RULE R\n@TREE\nnum_states=2\nnum_neighbors=4\nnum_nodes=2\n1 0 1\n2 0 0\n",
         "the last node has level 2, and should have 5"},
        {"@RULE R\n@TREE\nnum_states=2\nnum_neighbors=4\nnum_nodes=2\n1 0 1\n2 0\n",
         "node 1 should have 2 branches"},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_null(life_transitions_read("bad.rule", bad[i][0], strlen(bad[i][0])));
        assert_int_equal(clerrno, EINVAL);
        const char *sentence = clerror();
        contains(sentence, "bad.rule: ");
        contains(sentence, bad[i][1]);
    }
}

static void rule_tables_reject_bad_options(void **unused)
{
    (void)unused;
    life_transitions
        *rule = rule_of_table(sum),
        *births = rule_of_table(
            "@RULE B\n@TABLE\nn_states:2\nneighborhood:vonNeumann\nsymmetries:none\n000001\n");
    fails_null(EINVAL, life_create(&(struct life_options){
                           .transitions = rule, .rule = "B3/S23", .width = 9, .height = 9}));
    fails_null(ENOTSUP, life_create(&(struct life_options){
                            .transitions = rule, .width = 9, .height = 9, .engine = LIFE_GLOBAL}));
    assert_null(life_create(&(struct life_options){
        .transitions = births, .width = 9, .height = 9, .engine = LIFE_LOCAL}));
    assert_int_equal(clerrno, ENOTSUP);
    contains(
        clerror(),
        "the rule B is of a file, which the engine local does not compute; use the engine packed or reference");
    fails_null(ENOTSUP,
               life_create(&(struct life_options){
                   .engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED, .transitions = births}));
    fails_null(ENOTSUP, life_create(&(struct life_options){
                            .engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED, .rule = "3/0/4"}));
    life *h = life_create(&(struct life_options){
        .engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED, .transitions = rule});
    uint32_t square;
    ready(h);
    fails(EINVAL, life_tree_add_states(h, (const unsigned char[]){0, 0, 3, 0}, &square));
    fails(EINVAL, life_put_states(h, 0, 0, 1, 1, (const unsigned char[]){3}));
    life_free(h);
    h = life_create(&(struct life_options){.engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED});
    ready(h);
    fails(EINVAL, life_tree_add_states(h, (const unsigned char[]){2, 0, 0, 0}, &square));
    life_free(h);
    life_transitions_free(rule);
    life_transitions_free(births);
}

/* LifeHistory by its definition (conwaylife.com/wiki/OCA:LifeHistory), as a table in which
 * neighbours have no order. */
static const char life_history[] = "@RULE Definition\n@TABLE\nn_states:7\nneighborhood:Moore\n"
                                   "symmetries:permute\n"
                                   "var a={0,1,2,3,4,5,6}\nvar b=a\nvar c=a\nvar d=a\nvar e=a\n"
                                   "var f=a\nvar g=a\nvar h=a\n"
                                   "var i={0,2,4,6}\nvar j=i\nvar k=i\nvar l=i\nvar m=i\nvar n=i\n"
                                   "var o={1,3,5}\nvar p=o\nvar q=o\nvar r={3,5}\nvar s={0,1,2}\n"
                                   "6,a,b,c,d,e,f,g,h,6\n"
                                   "r,6,b,c,d,e,f,g,h,4\n1,6,b,c,d,e,f,g,h,2\n"
                                   "4,o,p,q,i,j,k,l,m,3\nr,o,p,q,i,j,k,l,m,r\n"
                                   "s,o,p,q,i,j,k,l,m,1\no,p,q,i,j,k,l,m,n,o\n"
                                   "r,a,b,c,d,e,f,g,h,4\n1,a,b,c,d,e,f,g,h,2\n";

/* Without annotations a rule with history has the live cells of the rule. */
static void check_history_of(const char *rule)
{
    char text[64];
    struct life_family plain;
    snprintf(text, sizeof text, "%sHistory", rule);
    life_transitions *t = life_transitions_named(text);
    ready(t);
    works(life_family_parse(rule, &plain));
    for (unsigned live = 0; live < 512; live++) {
        unsigned char block[9];
        for (int i = 0; i < 9; i++)
            block[i] = live >> i & 1;
        assert_int_equal(life_transit(t, block) & 1, life_table_next(&plain.table, live));
    }
    life_transitions_free(t);
}

static void life_history_follows_definition(void **unused)
{
    (void)unused;
    life_transitions *want = rule_of_table(life_history),
                     *have = life_transitions_named("LifeHistory");
    ready(have);
    assert_string_equal(life_transitions_name(have), "LifeHistory");
    assert_int_equal(life_transitions_states(have), 7);
    for (int i = 0; i < 200000; i++) {
        unsigned char block[9];
        const unsigned few = i % 3 ? 6 : 7; /* without boundaries in most blocks */
        for (int j = 0; j < 9; j++)
            block[j] = (unsigned char)((unsigned)rand() % few);
        assert_int_equal(life_transit(have, block), life_transit(want, block));
    }
    life_transitions_free(want);
    life_transitions_free(have);
    check_history_of("B36/S23");
    check_history_of("B2-a/S12");
    check_history_of("B2/S34H");
    check_history_of("WalledCities"); /* unlike W110 */
    fails_null(EINVAL, life_transitions_named("345/2/4History"));
    fails_null(EINVAL, life_transitions_named("W110History"));
    fails_null(EINVAL, life_transitions_named("B03/S23History"));
    fails_null(ENOENT, life_transitions_named("History"));
    fails_null(ENOENT, life_transitions_named("B3/S23"));
    fails_null(EINVAL, life_transitions_named("B9/S23History"));
}

/* A state that Golly 5 computes for the middle of a block of nine. */
struct golly_block {
    unsigned char block[9], next;
};

/* The births, deaths and labels that Golly's help on the algorithm Super describes, one a line. */
static void life_super_follows_definition(void **unused)
{
    static const struct golly_block cases[] = {
        /* live neighbours of one state give birth to it; others to 1, or 13 without trails */
        {{9, 9, 9, 0, 0, 0, 0, 0, 0}, 9},
        {{11, 11, 0, 0, 10, 0, 0, 0, 11}, 11},
        {{9, 9, 11, 0, 0, 0, 0, 0, 0}, 1},
        {{13, 15, 17, 0, 0, 0, 0, 0, 0}, 13},
        {{25, 25, 25, 0, 2, 0, 0, 0, 0}, 25},
        {{1, 25, 25, 0, 0, 0, 0, 0, 0}, 1},
        {{5, 25, 25, 0, 0, 0, 0, 0, 0}, 1},
        {{3, 25, 25, 0, 0, 0, 0, 0, 0}, 25}, /* marks let a state pass */
        {{3, 9, 9, 0, 0, 0, 0, 0, 0}, 1},
        {{7, 9, 9, 0, 0, 0, 0, 0, 0}, 9},
        {{7, 25, 25, 0, 0, 0, 0, 0, 0}, 13},
        {{7, 3, 25, 0, 0, 0, 0, 0, 0}, 1},
        {{7, 7, 7, 0, 0, 0, 0, 0, 0}, 13},
        {{3, 3, 3, 0, 0, 0, 0, 0, 0}, 1},
        {{9, 9, 9, 0, 4, 0, 0, 0, 0}, 3},
        {{9, 9, 9, 0, 8, 0, 0, 0, 0}, 7},
        /* deaths: trails, marks, nothing */
        {{0, 0, 0, 0, 9, 0, 0, 0, 0}, 10},
        {{0, 0, 0, 0, 11, 0, 0, 0, 0}, 12},
        {{0, 0, 0, 0, 7, 0, 0, 0, 0}, 8},
        {{0, 0, 0, 0, 5, 0, 0, 0, 0}, 4},
        {{0, 0, 0, 0, 19, 0, 0, 0, 0}, 0},
        /* a boundary kills, and clears labels */
        {{6, 1, 1, 1, 6, 0, 0, 0, 0}, 6},
        {{6, 1, 1, 0, 9, 0, 0, 0, 0}, 10},
        {{6, 1, 1, 0, 7, 0, 0, 0, 0}, 0},
        {{6, 0, 0, 0, 8, 0, 0, 0, 0}, 0},
        {{6, 0, 0, 0, 20, 0, 0, 0, 0}, 0},
        {{6, 0, 0, 0, 10, 0, 0, 0, 0}, 10},
        /* labels */
        {{0, 0, 0, 0, 14, 0, 0, 0, 0}, 0},
        {{0, 0, 0, 0, 16, 0, 0, 0, 0}, 16},
        {{0, 14, 0, 0, 16, 0, 0, 0, 0}, 14},
        {{0, 19, 0, 0, 16, 0, 0, 0, 0}, 14},
        {{0, 22, 0, 0, 18, 0, 0, 0, 0}, 22},
        {{0, 18, 0, 0, 20, 0, 0, 0, 0}, 18},
        {{0, 20, 0, 0, 22, 0, 0, 0, 0}, 20},
        {{0, 18, 0, 0, 24, 0, 0, 0, 0}, 18},
        {{0, 1, 0, 0, 24, 0, 0, 0, 0}, 18},
        {{0, 2, 0, 0, 24, 0, 0, 0, 0}, 24}};
    life_transitions *t = life_transitions_named("LifeSuper");
    (void)unused;
    ready(t);
    assert_int_equal(life_transitions_states(t), 26);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(life_transit(t, cases[i].block), cases[i].next);
    life_transitions_free(t);
}

/* Neighbours that force, count for births or for survival, and cells that stay or alternate. */
static void life_investigator_follows_definition(void **unused)
{
    static const struct golly_block cases[] = {
        {{2, 1, 1, 0, 1, 0, 0, 0, 0}, 0},    {{14, 1, 1, 0, 1, 0, 0, 0, 0}, 0},
        {{14, 0, 0, 0, 0, 0, 0, 0, 0}, 1},   {{9, 0, 0, 0, 0, 0, 0, 0, 0}, 1},
        {{4, 4, 4, 0, 0, 0, 0, 0, 0}, 1},    {{5, 4, 4, 0, 0, 0, 0, 0, 0}, 0},
        {{15, 15, 15, 0, 0, 0, 0, 0, 0}, 0}, {{15, 15, 1, 0, 0, 0, 0, 0, 0}, 1},
        {{17, 17, 17, 0, 0, 0, 0, 0, 0}, 1}, {{18, 18, 18, 0, 0, 0, 0, 0, 0}, 0},
        {{17, 17, 0, 0, 1, 0, 0, 0, 0}, 0},  {{18, 18, 0, 0, 1, 0, 0, 0, 0}, 1},
        {{0, 0, 0, 0, 6, 0, 0, 0, 0}, 7},    {{0, 0, 0, 0, 7, 0, 0, 0, 0}, 6},
        {{0, 0, 0, 0, 13, 0, 0, 0, 0}, 12},  {{0, 0, 0, 0, 20, 0, 0, 0, 0}, 19},
        {{1, 1, 1, 1, 5, 1, 1, 1, 1}, 5},    {{0, 0, 0, 0, 16, 0, 0, 0, 0}, 16}};
    life_transitions *t = life_transitions_named("b3s23investigator");
    (void)unused;
    ready(t);
    assert_string_equal(life_transitions_name(t), "LifeInvestigator");
    assert_int_equal(life_transitions_states(t), 21);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(life_transit(t, cases[i].block), cases[i].next);
    life_transitions_free(t);
}

/* Only a cell's neighbours kill it: north-east is none of a hexagon's. B0 with survival of a full
 * neighbourhood runs the rule of the inverted cells. */
static void life_annotations_follow_neighbourhood(void **unused)
{
    static const unsigned char corner[9] = {0, 0, 6, 1, 1, 1}, west[9] = {0, 0, 0, 6, 1, 1, 0, 1};
    life_transitions *hexagon = life_transitions_named("B2/S2HHistory"),
                     *inverted = life_transitions_named("B0123478/S01234678Super"),
                     *four = life_transitions_named("MAPHmlphgSuper");
    (void)unused;
    ready(hexagon);
    ready(inverted);
    ready(four);
    assert_int_equal(life_transit(hexagon, corner), 1);
    assert_int_equal(life_transit(hexagon, west), 2);
    assert_int_equal(life_transit(inverted, (const unsigned char[9]){0}), 0);
    assert_int_equal(life_transit(inverted, (const unsigned char[9]){1, 1, 1}), 1);
    assert_int_equal(life_transit(inverted, (const unsigned char[9]){1, 1}), 0);
    assert_int_equal(hexagon->places, 7);
    assert_int_equal(four->places, 5);
    life_transitions_free(hexagon);
    life_transitions_free(inverted);
    life_transitions_free(four);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(life_super_follows_definition),
        cmocka_unit_test(life_investigator_follows_definition),
        cmocka_unit_test(life_annotations_follow_neighbourhood),
        cmocka_unit_test(rule_tables_match_definition),
        cmocka_unit_test(rule_tree_matches_sum),
        cmocka_unit_test(rule_tables_grids_match_reference),
        cmocka_unit_test(rule_tables_planes_match_reference),
        cmocka_unit_test(rule_trees_become_tables),
        cmocka_unit_test(rule_trees_are_sifted),
        cmocka_unit_test(rule_columns_match_table),
        cmocka_unit_test(rule_tables_reject_bad_files),
        cmocka_unit_test(life_history_follows_definition),
        cmocka_unit_test(rule_tables_reject_bad_options),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
