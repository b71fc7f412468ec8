/* test_hashlife.c - HashLife against plain C, against published values, and against itself with
 * little memory and with several threads.
 *
 * The glider moves one cell in four generations. Gosper's gun has 36 cells and emits a glider of
 * 5 every 30 generations. The R-pentomino has 116 cells at generation 1,103, and six of its
 * gliders escape; the acorn has 633 at 5,206.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "deep.h"

#include "formats/life.h"
#include "life/hash_leaf.h"
#include "life/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static const char glider[] = "x = 3, y = 3\nbo$2bo$3o!";
static const char r_pentomino[] = "x = 3, y = 3\nb2o$2o$bo!";
static const char acorn[] = "x = 7, y = 3\nbo$3bo$2o2b3o!";
static const char gun[] =
    "x = 36, y = 9\n24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$2o8bo3bob2o4bobo$"
    "10bo5bo7bo$11bo3bo$12b2o!";

/* By Hartmut Holzwart, 1998, with parts by Al Hensel, David Bell and Tim Coe. It fills half the
 * plane. */
static const char spacefiller[] =
    "x = 49, y = 26, rule = B3/S23\n"
    "20b3o3b3o$19bobbo3bobbo$4o18bo3bo18b4o$o3bo17bo3bo17bo3bo$o8bo12bo3bo12bo8bo$bobbobboobbo25bobboobbobbo$6bo5bo7b3o3b3o7bo5bo$6bo5bo8"
    "bo5bo8bo5bo$6bo5bo8b7o8bo5bo$bobbobboobbobboo4bo7bo4boobbobboobbobbo$o8bo3boo4b11o4boo3bo8bo$o3bo9boo17boo9bo3bo$4o11b19o11b4o$16bob"
    "o11bobo$19b11o$19bo9bo$20b9o$24bo$20b3o3b3o$22bo3bo$$21b3ob3o$21b3ob3o$20bobooboobo$20b3o3b3o$21bo5bo!";

/* By Helmut Postl, 1997: a puffer that leaves a switch engine every 80 generations, each of
 * which leaves blocks. */
static const char breeder[] =
    "x = 85, y = 164, rule = B3/S23\n"
    "58boo5b4o$56booboo3bo3bo$56b4o8bo$57boo5bobbo$$52boo9bo$50b5o8b3o$50boo4bo5bo3bo$50boo5b5o4bo$52boo4b4oboboo$55b3oboo3bo$61bobo$24bo"
    "o$22booboo14bo$22b4o13boo24b4o$23boo15boo22bo3bo$18bo28b4o17bo$11boo6boo25bo3bo13bobbo$7b4oboo12bo23bo$7b6o11boo20bobbo9boo$8b4o13bo"
    "obboo24b4oboo$29bobo23b6o$29bo26b4o5b4o$11bo52bo3bo$9boo30boo25bo$10boo29bobo11bobo9bo$41bo22boo$54boo$54boo6boo3boo$54bo7bob3oboo$5"
    "4boo7b6o$64b4o3$54b6o$53bo5bo$59bo$6bo46bo4bo$4bobo48boo$5boo4$58boo$49b4o4b4o$48bo3bo4booboo$52bo6boo$48bobbo3$56boo$56bobo$56boboo"
    "$57boo$57bo$$15b4o$14bo3bo39boo$18bo38b4o$14bobbo22boo15booboo$39b4o16boo$39booboo$41boo$48b6o$47bo5bo$53bo4boo$47bo4bo4b4o$49boo6bo"
    "oboo$59boo$17boo$16b4o32bo$16booboo30b6o$18boo30bo3b8o$51boo8bo$52b3o6bo$53boo5bo$57boo$47b4o$46b6o$46b4oboo$50boo5$26boo$24booboo$2"
    "4b4o$25boo3$70b4o$69b6o$69b4oboo$73boo$27bo$27boo$26bobo$79b6o$75b4o5bo$63bobo9boobo5bo$63boo10boobbo3bo$64bo16bo$81boo$80b4o$80boob"
    "oo$82boo$71b6o$70bo5bo$63boo11bo$62b4o4bo4bo$62booboo5boo7boo$64boo14b4o$80booboo$38b4o17boo21boo$37bo3bo16boo$41bo$37bobbo16boo$79b"
    "oo$73b3o3bobo$70b3o6boboo$70bo9boo$70b3o7bo3$48b4o29boo$47b6o19b4o4b4o$47b4oboo17bo3bo4booboo$51boo22bo6boo$71bobbo$$53bo$8bo42bo3bo"
    "b6o$8boo40b3o3bo5bo$7bobo40bo5bo5bo$38bobo9boboo3bo3bo$38boo11b3o5bo$39bo19boo$58b4o$26bobo29booboo$26boo32boo$27bo21b6o$48bo5bo$b6o"
    "34boo11bo$o5bo33b4o4bo4bo$6bo33booboo5boo7boo$o4bo25boo9boo14b4o$bboo27bobo24booboo$16b4o11bo28boo$15bo3bo$19bo$15bobbo29boo$47bobbo"
    "$42b3o13boo$41bobbo8bo5boo$41booboo3bo3bo4boo$49bo4bo3bo$51bo$$59boo$50b4o4b4o$49bo3bo4booboo$53bo6boo$49bobbo!";

static life *create_hashlife(const char *rule, size_t memory, unsigned threads)
{
    life *h = life_create(&(struct life_options){.engine = LIFE_HASHLIFE,
                                                 .bounds = LIFE_UNBOUNDED,
                                                 .rule = rule,
                                                 .memory = memory,
                                                 .threads = threads});
    ready(h);
    return h;
}

static struct hashlife *tree_of_life(const life *lf)
{
    return lf->state;
}

static life *hashlife_holding(const char *rle)
{
    struct life_pattern p;
    life *h = create_hashlife(NULL, 0, 1);
    works(life_pattern_read_memory("pattern", rle, strlen(rle), &p));
    works(life_put(h, (long long)p.left, (long long)p.top,
                   &(struct life_cells){p.columns, p.rows, p.stride, p.word}));
    life_pattern_free(&p);
    return h;
}

static const char *hashlife_population_text(life *h)
{
    static char text[48];
    struct life_number n;
    works(life_population_exact(h, &n));
    return life_number_string(n, text);
}

/* ---- Against plain C. ------------------------------------------------------------------------ */

static uint64_t state = 1;

static uint64_t draw_in_hashlife(void)
{
    return life_mix(state += 0x9e3779b97f4a7c15u);
}

/* Random cells in the middle of a torus too large for them to go round. With B0 the surrounding
 * cells are alive in odd generations, or always if the rule has S8; HashLife then stores all
 * cells inverted. */
enum { SIDE = 80, MOST = 70, GRID = SIDE + 2 * MOST };

/* Make a new plane, which uses the widest set, compute leaves by one of this CPU's instruction
 * sets. */
static void use_instruction_set(struct hashlife *h, const struct life_isa *isa)
{
    if (isa == h->isa)
        return;
    h->isa = isa;
    for (int i = 0; i < 2 && !isa->lookups_bits && !h->lf->rule.counts; i++) {
        struct life_table table = {{0}};
        for (unsigned block = 0; block < 512; block++) {
            unsigned column[3] = {0}; /* left, own, right */
            for (unsigned cell = 0; cell < 9; cell++)
                column[cell % 3] |= (block >> cell & 1) << cell / 3;
            if (h->columns[i].next[column[0] | column[1] << 3] >> column[2] & 1)
                table.on[block / 64] |= (uint64_t)1 << block % 64;
        }
        assert_non_null(h->middle[i] = malloc(1 << 16));
        hash_leaf_table(&table, h->middle[i]);
    }
}

static void compare_hashlife_with_reference(const char *text, size_t width, size_t height,
                                            unsigned generations, long long x, long long y,
                                            const struct life_isa *isa)
{
    struct life_family rule;
    struct life_cells cells, back;
    unsigned char *now = calloc(GRID * GRID, 1), *next = calloc(GRID * GRID, 1);
    assert_true(now && next && width <= SIDE && height <= SIDE && generations <= MOST);
    works(life_family_parse(text, &rule));
    const bool birth = life_table_next(&rule.table, 0);
    const unsigned inverted = birth && life_table_next(&rule.table, 511),
                   inverted_then = inverted || (birth && generations % 2);
    memset(now, (int)inverted, GRID * GRID);
    works(life_cells_alloc(&cells, width, height));
    works(life_cells_alloc(&back, GRID, GRID));
    for (size_t i = 0; i < height; i++)
        for (size_t j = 0; j < width; j++)
            if (draw_in_hashlife() % 3 == 0) {
                cells.word[i * cells.stride + j / 64] |= (uint64_t)1 << j % 64;
                now[(i + MOST) * GRID + j + MOST] = !inverted;
            }
    life *h = create_hashlife(text, 0, 1);
    use_instruction_set(tree_of_life(h), isa);
    works(life_put(h, x, y, &cells));
    works(life_step(h, generations));
    assert_true(life_generation(h) == generations);
    for (unsigned g = 0; g < generations; g++) {
        life_ref_family_rows(&rule, 0, LIFE_TORUS, GRID, GRID, 0, GRID, now, next);
        unsigned char *old = now;
        now = next;
        next = old;
    }
    works(life_get(h, x - MOST, y - MOST, &back));
    uint64_t alive = 0;
    for (size_t i = 0; i < GRID; i++)
        for (size_t j = 0; j < GRID; j++) {
            const unsigned cell = now[i * GRID + j] ^ inverted_then;
            alive += cell;
            if ((unsigned)life_cells_at(&back, j, i) != cell)
                fail_msg(
                    "%s, %zu x %zu cells at (%lld, %lld), %s: cell (%zu, %zu) is wrong after %u generations",
                    text, width, height, x, y, isa->name, j, i, generations);
        }
    char want[24];
    snprintf(want, sizeof want, "%llu", (unsigned long long)alive);
    assert_string_equal(hashlife_population_text(h), want);
    life_free(h);
    life_cells_free(&cells);
    life_cells_free(&back);
    free(now);
    free(next);
}

static void hashlife_matches_reference(void **unused)
{
    (void)unused;
    static const char *const rules[] = {
        "B3/S23",        "B36/S23", "B2/S",        "B3678/S34678",       "B1357/S1357",
        "B3/S012345678", "B03/S23", "B013568/S01", "B0123478/S01234678", "B2-a/S12",
        "B3-ej6e/S234i", "B2/S34H", "B2/S013V",    "B02ci/S13-k",        "B01c/S8",
        "B2o/S2m34H"};
    unsigned sets = 0;
    while (life_isa(sets))
        sets++;
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        for (unsigned g = 0; g < 9 || g < 4 * sets; g++)
            compare_hashlife_with_reference(
                rules[r], 1 + draw_in_hashlife() % SIDE, 1 + draw_in_hashlife() % SIDE,
                g < 5 ? g : (unsigned)(draw_in_hashlife() % MOST),
                (long long)(draw_in_hashlife() % 1000) - 500,
                (long long)(draw_in_hashlife() % 1000) - 500, life_isa((g + g / sets) % sets));
    compare_hashlife_with_reference("B3/S23", SIDE, SIDE, MOST, (1LL << 61) - 7, -(1LL << 61) + 3,
                                    life_isa(0));
    compare_hashlife_with_reference("B3/S23", 1, 1, 1, -1, -1, life_isa(0));
}

/* Two rules that alternate match the scalar reference, which gets each generation's own rule. The
 * first rule may have B0, and the first generation may be odd. */
static void hashlife_alternates_rules(void **unused)
{
    enum { N = 96, DRAWN = 40, GENERATIONS = 11 };
    static const char *const pairs[][2] = {{"B3/S23", "B36/S125"},
                                           {"B3/S1237", "B2/S"},
                                           {"B03/S23", "B/S12345"},
                                           {"B2o/S2m34H", "B2-a/S12"},
                                           {"3/2/4", "23/3/4"}};
    (void)unused;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (uint64_t start = 0; start < 2; start++) {
            static unsigned char cells[2][N * N], back[N * N];
            struct life_family part[2];
            char both[64];
            snprintf(both, sizeof both, "%s|%s", pairs[i][0], pairs[i][1]);
            for (int k = 0; k < 2; k++)
                works(life_family_parse(pairs[i][k], &part[k]));
            const bool b0 = part[0].b0;
            memset(cells[0], b0 && start, sizeof cells[0]); /* the odd background is alive */
            for (size_t k = 0; k < DRAWN * DRAWN; k++)
                cells[0][(k / DRAWN + N / 3) * N + k % DRAWN + N / 3] =
                    (unsigned char)(draw_in_hashlife() % part[0].states);
            life *h = create_hashlife(both, 0, 1);
            for (size_t k = 0; k < N * N; k++)
                back[k] = cells[0][k] ^ (b0 && start);
            works(life_put_states(h, 0, 0, N, N, back));
            works(life_set_generation(h, start));
            works(life_step(h, GENERATIONS));
            works(life_get_states(h, 0, 0, N, N, back));
            life_free(h);
            for (uint64_t g = 0; g < GENERATIONS; g++)
                life_ref_family_rows(&part[(start + g) & 1], 0, LIFE_TORUS, N, N, 0, N,
                                     cells[g & 1], cells[!(g & 1)]);
            const bool inverted = b0 && (start + GENERATIONS) % 2;
            for (size_t k = 0; k < N * N; k++)
                if (back[k] != (cells[GENERATIONS & 1][k] ^ inverted))
                    fail_msg("%s from generation %d: cell %zu,%zu is %d", both, (int)start, k % N,
                             k / N, back[k]);
        }
    fails(ENOTSUP,
          life_create(&(struct life_options){.bounds = LIFE_UNBOUNDED, .rule = "B3/S23|B03/S23"})
              ? 0
              : -1);
}

/* Squares count their cells: across the axes, of one cell, and beyond the occupied plane. */
static void hashlife_squares_count_cells(void **unused)
{
    enum { AROUND = 160 };
    (void)unused;
    struct life_cells cells, all;
    works(life_cells_alloc(&cells, SIDE, SIDE));
    works(life_cells_alloc(&all, 2 * AROUND, 2 * AROUND));
    for (size_t k = 0; k < SIDE * cells.stride; k++)
        cells.word[k] = draw_in_hashlife() & draw_in_hashlife();
    life *h = create_hashlife(NULL, 0, 1);
    works(life_put(h, -37, -21, &cells));
    works(life_step(h, 5));
    works(life_get(h, -AROUND, -AROUND, &all));
    for (unsigned zoom = 0; zoom <= 60; zoom++) {
        const long long side = 1LL << zoom, n = zoom < 6 ? 2 * AROUND >> zoom : 2,
                        first = -(n / 2) * side;
        static uint64_t live[4 * AROUND * AROUND], want[4 * AROUND * AROUND];
        memset(want, 0, sizeof want);
        works(life_density(h, first, first, (size_t)n, (size_t)n, zoom, live));
        for (long long y = -AROUND; y < AROUND; y++)
            for (long long x = -AROUND; x < AROUND; x++)
                if (life_cells_at(&all, (size_t)(x + AROUND), (size_t)(y + AROUND)))
                    want[((y - first) >> zoom) * n + ((x - first) >> zoom)]++;
        assert_memory_equal(live, want, (size_t)(n * n) * sizeof *live);
    }
    uint64_t one[4];
    works(life_density(h, 8, -16, 2, 2, 3, one)); /* a part of it */
    for (size_t k = 0; k < 4; k++) {
        uint64_t n = 0;
        for (size_t c = 0; c < 64; c++)
            n += (uint64_t)life_cells_at(&all, AROUND + 8 + 8 * (k % 2) + c % 8,
                                         AROUND - 16 + 8 * (k / 2) + c / 8);
        assert_true(one[k] == n);
    }
    assert_int_equal(life_density(h, 4, 0, 1, 1, 3, one), -1);
    assert_int_equal(clerrno, EINVAL);
    assert_int_equal(life_density(h, 0, 0, 1, 1, 61, one), -1);
    life_free(h);
    life_cells_free(&cells);
    life_cells_free(&all);
}

/* ---- Known lives. ---------------------------------------------------------------------------- */

static void hashlife_methuselahs_have_known_populations(void **unused)
{
    (void)unused;
    life *h = hashlife_holding(r_pentomino);
    works(life_step(h, 1103));
    assert_string_equal(hashlife_population_text(h), "116");
    works(life_step(h, (uint64_t)1 << 40)); /* nothing is lost: it is an endless plane */
    assert_string_equal(hashlife_population_text(h), "116");
    life_free(h);
    h = hashlife_holding(acorn);
    works(life_step(h, 5206));
    assert_string_equal(hashlife_population_text(h), "633");
    life_free(h);
}

static void hashlife_glider_flies_2_63_generations(void **unused)
{
    (void)unused;
    char text[48];
    struct life_box box;
    life *h = hashlife_holding(glider);
    works(life_step(h, (uint64_t)1 << 63));
    works(life_step(h, (uint64_t)1 << 62));
    assert_string_equal(hashlife_population_text(h), "5");
    assert_int_equal(life_bounding_box(h, &box), 1);
    assert_string_equal(life_number_string(box.left, text), "3458764513820540928"); /* 3 * 2^60 */
    assert_string_equal(life_number_string(box.bottom, text), "3458764513820540931");
    fails(ERANGE, life_step(h, (uint64_t)1 << 62));
    assert_true(life_generation(h) == (uint64_t)3 << 62);
    life_free(h);
}

/* 36 + 5 * 2^58 cells of a gun that has fired 2^58 times. */
static void hashlife_gun_population_is_known(void **unused)
{
    (void)unused;
    life *h = hashlife_holding(gun);
    works(life_step(h, 30));
    assert_string_equal(hashlife_population_text(h), "41");
    works(life_step(h, 30 * (((uint64_t)1 << 58) - 1)));
    assert_string_equal(hashlife_population_text(h), "1441151880758558756");
    life_free(h);
}

/* Golly's file of the spacefiller gives its population for every generation t: ((t + 17)^2 + c)
 * / 4, with one of four values of c. */
static void hashlife_spacefiller_population_is_known(void **unused)
{
    static const uint64_t c[4] = {511, 608, 563, 580},
                          at[] = {
                              0, 1, 2, 3, 4, 1001, 12346, (1u << 20) + 2, ((uint64_t)1 << 31) + 3};
    (void)unused;
    life *h = hashlife_holding(spacefiller);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        works(life_step(h, at[i] - life_generation(h)));
        assert_int_equal(strtoull(hashlife_population_text(h), NULL, 10),
                         ((at[i] + 17) * (at[i] + 17) + c[at[i] % 4]) / 4);
    }
    life_free(h);
}

/* Every 1,440 generations adds an equal number of switch engines, whose growth repeats: a
 * polynomial of the second degree, determined by three populations. */
static void hashlife_breeder_grows_quadratically(void **unused)
{
    const uint64_t begin = 3000, period = 1440, times[] = {5, 1000, 1 << 20};
    uint64_t n[3];
    (void)unused;
    life *h = hashlife_holding(breeder);
    works(life_step(h, begin));
    for (int i = 0; i < 3; i++) {
        n[i] = strtoull(hashlife_population_text(h), NULL, 10);
        works(life_step(h, period));
    }
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const uint64_t t = times[i];
        works(life_step(h, begin + t * period - life_generation(h)));
        assert_int_equal(strtoull(hashlife_population_text(h), NULL, 10),
                         n[0] + t * (n[1] - n[0]) + t * (t - 1) / 2 * (n[2] - 2 * n[1] + n[0]));
    }
    life_free(h);
}

static void hashlife_empty_plane_stays_empty(void **unused)
{
    (void)unused;
    struct life_box box;
    int level = -1;
    life *h = create_hashlife(NULL, 0, 2);
    works(life_step(h, 12345));
    assert_string_equal(hashlife_population_text(h), "0");
    assert_int_equal(life_bounding_box(h, &box), 0);
    works(life_tree_walk(h, &level, NULL, NULL, NULL, NULL));
    life_free(h);
    life_free(NULL);
}

/* Zoomed out, a square lives if one of its cells does. */
static void hashlife_zoomed_out_squares_live(void **unused)
{
    (void)unused;
    enum { W = 300, H = 200 };
    struct life_cells near, far;
    life *h = hashlife_holding(gun);
    works(life_step(h, 400));
    for (unsigned zoom = 0; zoom < 7; zoom++) {
        const long long side = 1LL << zoom, x = -2 - (long long)zoom, y = -1;
        works(life_cells_alloc(&far, W >> zoom, H >> zoom));
        works(life_cells_alloc(&near, far.width << zoom, far.height << zoom));
        works(life_get_zoomed(h, zoom, x, y, &far));
        works(life_get(h, x * side, y * side, &near));
        for (size_t j = 0; j < far.height; j++)
            for (size_t i = 0; i < far.width; i++) {
                int any = 0;
                for (size_t k = 0; k < (size_t)(side * side); k++)
                    any |= life_cells_at(&near, i * (size_t)side + k % (size_t)side,
                                         j * (size_t)side + k / (size_t)side);
                if (life_cells_at(&far, i, j) != any)
                    fail_msg("zoom %u: square %zu,%zu is %d", zoom, i, j, !any);
            }
        life_cells_free(&near);
        life_cells_free(&far);
    }
    works(life_cells_alloc(&far, 4, 4));
    works(life_get_zoomed(h, 30, -2, -2,
                          &far)); /* all of it is to the right of the middle, and below */
    assert_true(far.word[0] == 0 && far.word[1] == 0 && far.word[2] == 4 && far.word[3] == 0);
    works(life_step(h, (uint64_t)1 << 60));
    works(life_get_zoomed(h, 60, -2, -2, &far)); /* gliders all the way to the south-east */
    assert_true(far.word[0] == 0 && far.word[2] == 4);
    fails(EINVAL, life_get_zoomed(h, 61, 0, 0, &far));
    fails(EINVAL, life_get_zoomed(h, 0, 0, 0, NULL));
    life_cells_free(&far);
    life_free(h);
}

/* ---- Memory, threads. ------------------------------------------------------------------------ */

static life *hashlife_soup(size_t memory, unsigned threads, size_t side)
{
    struct life_cells cells;
    life *h = create_hashlife(NULL, memory, threads);
    works(life_cells_alloc(&cells, side, side));
    state = 7;
    for (size_t i = 0; i < cells.stride * side; i++)
        cells.word[i] = draw_in_hashlife() & draw_in_hashlife();
    works(life_put(h, 0, 0, &cells));
    life_cells_free(&cells);
    return h;
}

static void hashlife_little_memory_gives_same_cells(void **unused)
{
    (void)unused;
    char plenty[48];
    life *h = hashlife_soup((size_t)1 << 30, 1, 1536);
    works(life_step(h, 1500));
    strcpy(plenty, hashlife_population_text(h));
    assert_true(life_device_bytes(h) > (size_t)16 << 20 && life_statistics_of(h).collections == 0);
    life_free(h);
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        h = hashlife_soup((size_t)16 << 20, threads, 1536);
        tree_of_life(h)->helper_delay = 0; /* others help at once */
        for (int i = 0; i < 3; i++)
            works(life_step(h, 500));
        assert_string_equal(hashlife_population_text(h), plenty);
        assert_true(life_statistics_of(h).collections > 0 && life_device_bytes(h) <= (size_t)16
                                                                                         << 20);
        assert_true(
            tree_of_life(h)->nodes.most_places * sizeof(square_t) <=
            (size_t)4 << 20); /* or a larger memory may not suffice where a smaller one does */
        life_free(h);
    }
}

static void hashlife_too_little_memory_is_rejected(void **unused)
{
    (void)unused;
    life *h = hashlife_soup((size_t)64 << 20, 2, 8192);
    char before[48];
    strcpy(before, hashlife_population_text(h));
    fails(ENOMEM, life_step(h, 256));
    assert_true(life_generation(h) == 0);
    assert_string_equal(hashlife_population_text(h), before);
    life_free(h);
}

static void hashlife_threads_give_same_cells(void **unused)
{
    (void)unused;
    char one[48];
    struct life_box box, again;
    life *h = hashlife_soup((size_t)1 << 30, 1, 512);
    works(life_step(h, 2048));
    strcpy(one, hashlife_population_text(h));
    assert_int_equal(life_bounding_box(h, &box), 1);
    life_free(h);
    for (unsigned threads = 2; threads <= 4; threads += 2) {
        h = hashlife_soup((size_t)1 << 30, threads, 512);
        tree_of_life(h)->helper_delay = 0;
        works(life_step(h, 2048));
        assert_string_equal(hashlife_population_text(h), one);
        assert_int_equal(life_bounding_box(h, &again), 1);
        assert_memory_equal(&box, &again, sizeof box);
        life_free(h);
    }
}

static int end_hashlife_after(void *left, double fraction)
{
    assert_true(fraction >= 0 && fraction <= 1);
    return --*(int *)left < 0;
}

static void hashlife_progress_can_cancel(void **unused)
{
    (void)unused;
    int left = 1;
    struct life_cells cells;
    life *h = life_create(&(struct life_options){.engine = LIFE_HASHLIFE,
                                                 .bounds = LIFE_UNBOUNDED,
                                                 .threads = 2,
                                                 .progress = end_hashlife_after,
                                                 .arg = &left});
    ready(h);
    works(life_cells_alloc(&cells, 4096, 4096));
    for (size_t i = 0; i < cells.stride * cells.height; i++)
        cells.word[i] = draw_in_hashlife();
    works(life_put(h, 0, 0, &cells));
    life_cells_free(&cells);
    fails(ECANCELED, life_step(h, (uint64_t)1 << 62));
    life_free(h);
}

/* ---- Squares. -------------------------------------------------------------------------------- */

static int copy_leaf(void *to, uint64_t cells)
{
    uint32_t square;
    return life_tree_add_bits(to, cells, &square);
}

static int copy_hashlife_square(void *to, int level, const uint32_t part[4])
{
    uint32_t square;
    return life_tree_add_square(to, level, part, &square);
}

/* A plane copied square by square is equal and evolves equally. */
static void hashlife_copies_by_squares(void **unused)
{
    (void)unused;
    struct life_box box, again;
    int level;
    uint32_t last;
    life *a = hashlife_holding(gun), *b = create_hashlife(NULL, 0, 1);
    works(life_step(a, 1000));
    works(life_tree_walk(a, &level, copy_leaf, NULL, copy_hashlife_square, b));
    works(life_tree_add_bits(b, 0, &last));
    works(life_tree_set(b, last - 1, life_generation(a)));
    assert_true(life_generation(b) == 1000);
    works(life_step(a, 777));
    works(life_step(b, 777));
    char want[48];
    strcpy(want, hashlife_population_text(a));
    assert_string_equal(hashlife_population_text(b), want);
    assert_int_equal(life_bounding_box(a, &box), 1);
    assert_int_equal(life_bounding_box(b, &again), 1);
    assert_memory_equal(&box, &again, sizeof box);
    life_free(a);

    for (int small = 3; small <= 6; small++) { /* a cell at the corner of the south-eastern quarter,
                                                  in squares of small levels */
        uint32_t square, part[4] = {0, 0, 0, 0};
        works(life_tree_add_bits(b, small == 3 ? (uint64_t)1 << 36 : 1, &square));
        for (int l = 4; l <= small; l++) {
            part[l == small ? 3 : 0] = square;
            works(life_tree_add_square(b, l, part, &square));
            part[0] = 0;
        }
        works(life_tree_set(b, square, 0));
        assert_int_equal(life_bounding_box(b, &box), 1);
        assert_true(box.left.low == 0 && box.top.low == 0 && box.right.low == 1 &&
                    box.bottom.low == 1);
    }
    works(life_tree_set(b, 0, 0));
    assert_string_equal(hashlife_population_text(b), "0");
    life_free(b);
}

/* ---- Refusals, numbers. ---------------------------------------------------------------------- */

static void hashlife_rejects_bad_calls(void **unused)
{
    (void)unused;
    struct life_cells none = {.width = 1, .height = 1};
    uint32_t square, part[4] = {9, 0, 0, 0};
    fails_null(EINVAL, life_create(&(struct life_options){
                           .engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED, .rule = "B9"}));
    fails_null(EINVAL, life_create(&(struct life_options){
                           .engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED, .memory = 1000}));
    fails_null(EINVAL, life_create(&(struct life_options){
                           .engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED, .threads = 1000}));
    fails_null(EINVAL, life_create(&(struct life_options){
                           .engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED, .reserved = {0, 1}}));
    life *h = create_hashlife("B36/S23", 0, 0);
    assert_int_equal(life_rule_of(h).birth, 1 << 3 | 1 << 6);
    fails(EINVAL, life_put(h, 0, 0, &none));
    fails(EINVAL, life_get(h, 0, 0, &none));
    uint64_t word = 1;
    none = (struct life_cells){.width = 1, .height = 1, .stride = 1, .word = &word};
    fails(ERANGE, life_put(h, INT64_MAX, 0, &none));
    fails(EINVAL, life_tree_add_square(h, 3, part, &square));
    fails(EINVAL, life_tree_add_square(h, 5, part, &square));
    fails(EINVAL, life_tree_set(h, 4, 0));
    life_free(h);
}

static void hashlife_numbers_are_printed(void **unused)
{
    (void)unused;
    char text[48];
    assert_string_equal(life_number_string((struct life_number){0, 0}, text), "0");
    assert_string_equal(life_number_string((struct life_number){UINT64_MAX, -1}, text), "-1");
    assert_string_equal(life_number_string((struct life_number){0, 1}, text),
                        "18446744073709551616");
    assert_string_equal(life_number_string((struct life_number){UINT64_MAX, INT64_MAX}, text),
                        "170141183460469231731687303715884105727");
    assert_string_equal(life_number_string((struct life_number){0, INT64_MIN}, text),
                        "-170141183460469231731687303715884105728");
    assert_true(life_number_double((struct life_number){0, 1}) == 0x1p64);
    assert_true(life_number_double((struct life_number){UINT64_MAX, -1}) == -1);
}

/* ---- Live cells in rows. --------------------------------------------------------------------- */

enum { WALK_WIDTH = 150, WALK_HEIGHT = 90 };

/* Cells that a walk has passed on, and its last run. */
struct walked {
    unsigned char state[WALK_HEIGHT][WALK_WIDTH];
    long long left, top, x, y;
    uint64_t n;
    unsigned last;
    size_t runs, stop; /* stop: end the walk at this run; 0: never */
};

static int take_run(void *arg, long long x, long long y, uint64_t n, unsigned value)
{
    struct walked *w = arg;
    if (++w->runs == w->stop)
        return clerror_set(EIO, "the runs are enough");
    assert_true(n > 0 && value > 0);
    if (w->runs > 1) { /* in order, and not to be joined with the run before */
        assert_true(y > w->y || (y == w->y && x >= w->x + (long long)w->n));
        assert_true(y > w->y || x > w->x + (long long)w->n || value != w->last);
    }
    w->x = x;
    w->y = y;
    w->n = n;
    w->last = value;
    for (; n; n--, x++)
        w->state[y - w->top][x - w->left] = (unsigned char)value;
    return 0;
}

/* Walk over random cells of a rule, and compare with the cells that were put there. */
static void check_walk(const char *rule, unsigned states, unsigned sparse)
{
    static struct walked w;
    static unsigned char cells[WALK_HEIGHT][WALK_WIDTH];
    life *h = create_hashlife(rule, 0, 1);
    memset(&w, 0, sizeof w);
    w.left = -70;
    w.top = -33;
    for (size_t y = 0; y < WALK_HEIGHT; y++)
        for (size_t x = 0; x < WALK_WIDTH; x++)
            cells[y][x] = (unsigned char)(draw_in_hashlife() % sparse
                                              ? 0
                                              : 1 + draw_in_hashlife() % (states - 1));
    works(life_put_states(h, w.left, w.top, WALK_WIDTH, WALK_HEIGHT, cells[0]));
    works(life_walk_runs(h, take_run, &w));
    assert_memory_equal(w.state, cells, sizeof cells);
    const size_t runs = w.runs;
    w.runs = 0;
    w.stop = runs / 2;
    fails(EIO, life_walk_runs(h, take_run, &w));
    assert_int_equal(w.runs, runs / 2);
    life_free(h);
}

static void hashlife_walks_runs(void **unused)
{
    (void)unused;
    for (unsigned sparse = 1; sparse <= 300; sparse *= 3) {
        check_walk("B3/S23", 2, sparse + 1);
        check_walk("345/2/4", 4, sparse);
    }
    /* Two cells far apart, and a cell too far. */
    static struct walked w;
    uint64_t one = 1;
    const struct life_cells cell = {1, 1, 1, &one};
    life *h = create_hashlife(NULL, 0, 1);
    works(life_walk_runs(h, take_run, &w));
    assert_int_equal(w.runs, 0);
    works(life_put(h, -((long long)1 << 61), -((long long)1 << 61), &cell));
    w.left = w.top = -((long long)1 << 61);
    works(life_walk_runs(h, take_run, &w));
    assert_true(w.runs == 1 && w.x == w.left && w.y == w.top);
    works(life_put(h, (long long)1 << 61, (long long)1 << 61, &cell));
    w.runs = 0;
    w.stop = 2;
    fails(EIO, life_walk_runs(h, take_run, &w));
    life_free(h);
}

/* A plane of 2^level x 2^level live cells has a population of 4^level. */
static void hashlife_counts_planes_full_of_cells(void **unused)
{
    static const struct {
        int level;
        const char *population;
    } full[] = {{31, "4611686018427387904"},
                {32, "18446744073709551616"},
                {63, "85070591730234615865843651857942052864"},
                {64, "340282366920938463463374607431768211456"},
                {120, "176684706477838432958329750074291851582748389687"
                      "5618958121606201292619776"}};
    (void)unused;
    for (size_t i = 0; i < sizeof full / sizeof *full; i++) {
        char text[LIFE_POPULATION_TEXT];
        struct life_number exact;
        uint64_t number;
        uint32_t square;
        life *h = create_hashlife(NULL, 0, 1);
        works(life_tree_add_bits(h, ~(uint64_t)0, &square));
        for (int level = 4; level <= full[i].level; level++)
            works(life_tree_add_square(
                h, level, (const uint32_t[4]){square, square, square, square}, &square));
        works(life_tree_set(h, square, 0));
        works(life_population_text(h, text));
        assert_string_equal(text, full[i].population);
        assert_int_equal(life_population(h, &number), full[i].level < 32 ? 0 : -1);
        assert_int_equal(life_population_exact(h, &exact), full[i].level < 64 ? 0 : -1);
        if (full[i].level >= 64)
            assert_int_equal(clerrno, ERANGE);
        life_free(h);
    }
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[] = {
        cmocka_unit_test(hashlife_walks_runs),
        cmocka_unit_test(hashlife_counts_planes_full_of_cells),
        cmocka_unit_test(hashlife_squares_count_cells),
        cmocka_unit_test(hashlife_methuselahs_have_known_populations),
        cmocka_unit_test(hashlife_glider_flies_2_63_generations),
        cmocka_unit_test(hashlife_gun_population_is_known),
        cmocka_unit_test(hashlife_spacefiller_population_is_known),
        cmocka_unit_test(hashlife_breeder_grows_quadratically),
        cmocka_unit_test(hashlife_empty_plane_stays_empty),
        cmocka_unit_test(hashlife_threads_give_same_cells),
        cmocka_unit_test(hashlife_too_little_memory_is_rejected),
        cmocka_unit_test(hashlife_progress_can_cancel),
        cmocka_unit_test(hashlife_copies_by_squares),
        cmocka_unit_test(hashlife_zoomed_out_squares_live),
        cmocka_unit_test(hashlife_rejects_bad_calls),
        cmocka_unit_test(hashlife_numbers_are_printed),
        /* Of the following, every n-th runs. */
        cmocka_unit_test(hashlife_matches_reference),
        cmocka_unit_test(hashlife_alternates_rules),
        cmocka_unit_test(hashlife_little_memory_gives_same_cells),
    };
    if (argc > 1)
        cmocka_set_test_filter(argv[1]);
    return sampled_run("hashlife", tests, 14, 2, NULL, NULL);
}
