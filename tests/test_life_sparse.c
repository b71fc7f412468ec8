/* test_life_sparse.c - the engine "sparse" against plain C on random cells under many rules, and
 * against HashLife on guns, methuselahs and soups.
 *
 * The R-pentomino has 116 cells at generation 1,103, and six of its gliders escape; the acorn
 * has 633 at 5,206. A glider moves one cell in four generations. Tiles have 48 x 48 cells, a
 * pass eight generations. Likely errors of such an engine: cells across corners of tiles, steps
 * that are not multiples of eight, and waking of sleeping tiles.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "deep.h"

#include "formats/life.h"
#include "life/internal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

static const char glider[] = "x = 3, y = 3\nbo$2bo$3o!";
static const char r_pentomino[] = "x = 3, y = 3\nb2o$2o$bo!";
static const char acorn[] = "x = 7, y = 3\nbo$3bo$2o2b3o!";
static const char gun[] =
    "x = 36, y = 9\n24bo$22bobo$12b2o6b2o12b2o$11bo3bo4b2o12b2o$2o8bo5bo3b2o$2o8bo3bob2o4bobo$"
    "10bo5bo7bo$11bo3bo$12b2o!";
static const long long FARTHEST = 48LL * 0x7ffffff0;

static life *create_sparse(const char *rule, size_t memory)
{
    life *s = life_create(&(struct life_options){
        .engine = LIFE_SPARSE, .bounds = LIFE_UNBOUNDED, .rule = rule, .memory = memory});
    ready(s);
    return s;
}

static void put_in_sparse(life *s, life *h, const char *rle, long long x, long long y)
{
    struct life_pattern p;
    works(life_pattern_read_memory("pattern", rle, strlen(rle), &p));
    const struct life_cells cells = {p.columns, p.rows, p.stride, p.word};
    works(life_put(s, x + (long long)p.left, y + (long long)p.top, &cells));
    if (h)
        works(life_put(h, x + (long long)p.left, y + (long long)p.top, &cells));
    life_pattern_free(&p);
}

static life *sparse_holding(const char *rle)
{
    life *s = create_sparse(NULL, 0);
    put_in_sparse(s, NULL, rle, 0, 0);
    return s;
}

static uint64_t sparse_population(life *s)
{
    uint64_t n = 0;
    works(life_population(s, &n));
    return n;
}

/* ---- Against plain C. ------------------------------------------------------------------------ */

static uint64_t state = 1;

static uint64_t draw_in_sparse(void)
{
    return life_mix(state += 0x9e3779b97f4a7c15u);
}

enum { SIDE = 110, MOST = 60, GRID = SIDE + 2 * MOST };

static void check_sparse_agrees(life *s, long long x, long long y, const unsigned char *now,
                                const char *what)
{
    struct life_cells back;
    uint64_t alive = 0;
    works(life_cells_alloc(&back, GRID, GRID));
    memset(back.word, 255, back.stride * GRID * sizeof *back.word); /* all cells are overwritten */
    works(life_get(s, x - MOST, y - MOST, &back));
    for (size_t i = 0; i < GRID; i++)
        for (size_t j = 0; j < GRID; j++) {
            alive += now[i * GRID + j];
            if (life_cells_at(&back, j, i) != now[i * GRID + j])
                fail_msg("%s at (%lld, %lld): cell (%zu, %zu) is wrong at generation %llu", what, x,
                         y, j, i, (unsigned long long)life_generation(s));
        }
    assert_true(sparse_population(s) == alive);
    life_cells_free(&back);
}

/* Random cells in the middle of a torus too large for them to go round, in steps of several
 * generations. */
static void compare_sparse_with_reference(const char *text, size_t width, size_t height,
                                          long long x, long long y)
{
    struct life_family rule;
    struct life_cells cells;
    unsigned char *now = calloc(GRID * GRID, 1), *next = calloc(GRID * GRID, 1);
    assert_true(now && next && width <= SIDE && height <= SIDE);
    works(life_family_parse(text, &rule));
    works(life_cells_alloc(&cells, width, height));
    for (size_t i = 0; i < height; i++)
        for (size_t j = 0; j < width; j++)
            if (draw_in_sparse() % 3 == 0) {
                cells.word[i * cells.stride + j / 64] |= (uint64_t)1 << j % 64;
                now[(i + MOST) * GRID + j + MOST] = 1;
            }
    life *s = create_sparse(text, 0);
    works(life_put(s, x, y, &cells));
    for (unsigned g = 0, step; g < MOST; g += step) {
        step = draw_in_sparse() % 3 ? 8 * (1 + (unsigned)(draw_in_sparse() % 3))
                                    : 1 + (unsigned)(draw_in_sparse() % 13);
        step = step < MOST - g ? step : MOST - g;
        works(life_step(s, step));
        assert_true(life_generation(s) == g + step);
        for (unsigned i = 0; i < step; i++) {
            life_ref_family_rows(&rule, 0, LIFE_TORUS, GRID, GRID, 0, GRID, now, next);
            unsigned char *old = now;
            now = next;
            next = old;
        }
        check_sparse_agrees(s, x, y, now, text);
    }
    life_free(s);
    life_cells_free(&cells);
    free(now);
    free(next);
}

static void sparse_matches_reference(void **unused)
{
    (void)unused;
    static const char *const rules[] = {"B3/S23",      "B36/S23",       "B2/S",     "B3678/S34678",
                                        "B1357/S1357", "B3/S012345678", "B2-a/S12", "B3-ej6e/S234i",
                                        "B2/S34H",     "B2/S013V",      "B1/S1",    "B3/S238"};
    for (size_t r = 0; r < sizeof rules / sizeof *rules; r++)
        if (sampled(r, 6)) /* a program is built for each */
            compare_sparse_with_reference(rules[r], 1 + draw_in_sparse() % SIDE,
                                          1 + draw_in_sparse() % SIDE,
                                          (long long)(draw_in_sparse() % 1000) - 500,
                                          (long long)(draw_in_sparse() % 1000) - 500);
    for (int i = 0; i < 6; i++)
        compare_sparse_with_reference(
            "B3/S23", 1 + draw_in_sparse() % SIDE, 1 + draw_in_sparse() % SIDE,
            (long long)(draw_in_sparse() % 200) - 100, (long long)(draw_in_sparse() % 200) - 100);
    compare_sparse_with_reference("B3/S23", SIDE, SIDE, -48 - SIDE / 2, 48 - SIDE / 2);
    compare_sparse_with_reference("B3/S23", SIDE, SIDE, FARTHEST - 48 * 20, -FARTHEST + 48 * 20);
    compare_sparse_with_reference("B3/S23", 1, 1, -1, -1);
}

/* ---- Against HashLife. ----------------------------------------------------------------------- */

static void as_hashlife(life *s, life *h, const char *what)
{
    struct life_number n;
    struct life_box box, own;
    works(life_population_exact(h, &n));
    if (n.high || n.low != sparse_population(s))
        fail_msg("%s: %llu cells, and with HashLife %llu, at generation %llu", what,
                 (unsigned long long)sparse_population(s), (unsigned long long)n.low,
                 (unsigned long long)life_generation(s));
    const int any = life_bounding_box(h, &box);
    assert_int_equal(life_bounding_box(s, &own), any);
    if (any)
        assert_memory_equal(&own, &box, sizeof box);
}

static void step_together(const char *rle, const unsigned *steps, size_t n, const char *what)
{
    life *h =
        life_create(&(struct life_options){.engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED});
    life *s = create_sparse(NULL, 0);
    ready(h);
    put_in_sparse(s, h, rle, -7, -3);
    for (size_t i = 0; i < n; i++) {
        works(life_step(h, steps[i]));
        works(life_step(s, steps[i]));
        as_hashlife(s, h, what);
    }
    life_free(h);
    life_free(s);
}

static void sparse_known_patterns_have_known_populations(void **unused)
{
    (void)unused;
    static const unsigned few[] = {1, 7, 100, 995, 1000, 1, 1, 8, 897}, many[] = {5206, 3, 2000};
    life *s = sparse_holding(r_pentomino);
    works(life_step(s, 1103));
    assert_true(sparse_population(s) == 116);
    life_free(s);
    s = sparse_holding(acorn);
    works(life_step(s, 5206));
    assert_true(sparse_population(s) == 633);
    life_free(s);
    step_together(gun, few, sizeof few / sizeof *few, "a gun");
    step_together(r_pentomino, few, sizeof few / sizeof *few, "the R-pentomino");
    step_together(acorn, many, sizeof many / sizeof *many, "the acorn");
}

/* The number of tiles needs several work-items. */
static void sparse_soup_matches_hashlife(void **unused)
{
    (void)unused;
    enum { ACROSS = 1700 };
    struct life_cells cells, own, other;
    life *h =
        life_create(&(struct life_options){.engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED});
    life *s = create_sparse(NULL, 0);
    ready(h);
    works(life_cells_alloc(&cells, ACROSS, ACROSS));
    works(life_cells_alloc(&own, ACROSS + 200, ACROSS + 200));
    works(life_cells_alloc(&other, ACROSS + 200, ACROSS + 200));
    for (size_t i = 0; i < cells.stride * ACROSS; i++)
        cells.word[i] = draw_in_sparse() & draw_in_sparse();
    works(life_put(s, -700, -800, &cells));
    works(life_put(h, -700, -800, &cells));
    for (int i = 0; i < 3; i++) {
        works(life_step(s, 24 + (unsigned)i));
        works(life_step(h, 24 + (unsigned)i));
        as_hashlife(s, h, "a soup");
        works(life_get(s, -800, -900, &own));
        works(life_get(h, -800, -900, &other));
        assert_memory_equal(own.word, other.word, own.stride * own.height * sizeof *own.word);
    }
    life_cells_free(&cells);
    life_cells_free(&own);
    life_cells_free(&other);
    life_free(h);
    life_free(s);
}

/* Squares and zoomed-out views, at unaligned offsets. */
static void sparse_views_match_cells(void **unused)
{
    (void)unused;
    enum { N = 40 };
    static uint64_t own[N * N], other[N * N];
    struct life_cells near, far;
    life *h =
        life_create(&(struct life_options){.engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED});
    life *s = create_sparse(NULL, 0);
    ready(h);
    put_in_sparse(s, h, acorn, -3, -2);
    works(life_step(s, 600));
    works(life_step(h, 600));
    works(life_cells_alloc(&near, N, N));
    works(life_cells_alloc(&far, N, N));
    for (unsigned zoom = 0; zoom <= 53; zoom++) {
        const long long side = 1LL << zoom, x = -(N / 2) * side, y = -(N / 2 + 1) * side;
        works(life_density(s, x, y, N, N, zoom, own));
        works(life_density(h, x, y, N, N, zoom, other));
        assert_memory_equal(own, other, sizeof own);
        works(life_get_zoomed(s, zoom, -N / 2, -N / 2 - 1, &near));
        works(life_get_zoomed(h, zoom, -N / 2, -N / 2 - 1, &far));
        assert_memory_equal(near.word, far.word, N * sizeof *near.word);
    }
    works(life_get_zoomed(s, 60, -2, -2, &near));
    assert_true(near.word[0] == 0 && near.word[1] == 3 << 1 && near.word[2] == 3 << 1);
    fails(EINVAL, life_get_zoomed(s, 61, 0, 0, &near));
    fails(EINVAL, life_density(s, 0, 0, 1, 1, 61, own));
    life_cells_free(&near);
    life_cells_free(&far);
    life_free(h);
    life_free(s);
}

/* ---- Sleep. ---------------------------------------------------------------------------------- */

/* A block and a blinker sleep at no cost; a glider from far away wakes them. */
static void sparse_sleeping_tiles_wake(void **unused)
{
    (void)unused;
    life *h =
        life_create(&(struct life_options){.engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED});
    life *s = create_sparse(NULL, 0);
    ready(h);
    put_in_sparse(s, h, "x = 2, y = 2\n2o$2o!", 46, 47);
    put_in_sparse(s, h, "x = 3, y = 1\n3o!", 300, 300);
    works(life_step(s, (uint64_t)1 << 60));
    works(life_step(h, (uint64_t)1 << 60));
    as_hashlife(s, h, "what rests");
    const uint64_t before = life_statistics_of(s).tiles_computed;
    assert_true(before < 100);
    put_in_sparse(s, h, glider, -100, -99);
    put_in_sparse(s, h, glider, 180, 180);
    for (int i = 0; i < 12; i++) {
        works(life_step(s, 104));
        works(life_step(h, 104));
        as_hashlife(s, h, "what was asleep");
    }
    works(life_step(s, 1)); /* the blinker is another now */
    works(life_step(h, 1));
    as_hashlife(s, h, "what was asleep");
    life_free(h);
    life_free(s);
}

static void sparse_empty_plane_stays_empty(void **unused)
{
    (void)unused;
    struct life_box box;
    life *s = create_sparse(NULL, 0);
    works(life_step(s, 12345));
    assert_true(sparse_population(s) == 0 && life_generation(s) == 12345 &&
                life_statistics_of(s).tiles == 0);
    assert_int_equal(life_bounding_box(s, &box), 0);
    fails(ERANGE, life_step(s, UINT64_MAX));
    life_free(s);
    life_free(NULL);
}

/* ---- Edges and memory. ----------------------------------------------------------------------- */

/* A glider flies to the last tile of the plane, where it is still right; then the engine stops. */
static void sparse_stops_at_edge_of_plane(void **unused)
{
    (void)unused;
    struct life_box box;
    struct life_cells cell;
    const long long start = FARTHEST - 480;
    life *s = create_sparse(NULL, 0);
    put_in_sparse(s, NULL, glider, start, start);
    works(life_step(s, 4 * 400));
    assert_int_equal(life_bounding_box(s, &box), 1);
    assert_true((long long)box.left.low == start + 400 && (long long)box.bottom.low == start + 403);
    fails(ERANGE, life_step(s, 4 * 800));
    const uint64_t at = life_generation(s);
    assert_true(at > 4 * 480 && at < 4 * 600 && sparse_population(s) == 5);
    fails(ERANGE, life_step(s, 8));
    assert_true(life_generation(s) == at);
    works(life_cells_alloc(&cell, 1, 1));
    cell.word[0] = 1;
    fails(ERANGE, life_put(s, FARTHEST, 0, &cell));
    fails(ERANGE, life_put(s, 0, -FARTHEST - 1, &cell));
    works(life_put(s, -FARTHEST, FARTHEST - 1, &cell));
    works(life_get(s, -FARTHEST, FARTHEST - 1, &cell));
    assert_true(cell.word[0] == 1);
    works(life_get(s, LLONG_MAX - 1, LLONG_MIN, &cell));
    assert_true(cell.word[0] == 0);
    life_cells_free(&cell);
    life_free(s);
}

/* Unlimited growth does not fit into 1 MiB; a glider does for ever, since the tiles it leaves
 * are freed. */
static void sparse_memory_limit_is_kept(void **unused)
{
    (void)unused;
    struct life_box box;
    life *s = create_sparse(NULL, (size_t)1 << 20);
    put_in_sparse(s, NULL, glider, 0, 0);
    works(life_step(s, 100000));
    assert_true(sparse_population(s) == 5 && life_device_bytes(s) <= (size_t)1 << 20);
    assert_int_equal(life_bounding_box(s, &box), 1);
    assert_true(box.left.low == 25000 && box.top.low == 25000);
    life_free(s);

    life *h =
        life_create(&(struct life_options){.engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED});
    ready(h);
    s = create_sparse("B3/S12345678", (size_t)1 << 20); /* grows without limit */
    put_in_sparse(s, NULL, r_pentomino, 0, 0);
    fails(ENOMEM, life_step(s, 100000));
    const uint64_t at = life_generation(s), alive = sparse_population(s);
    fails(ENOMEM, life_step(s, 8));
    assert_true(at > 100 && life_generation(s) == at && sparse_population(s) == alive);
    life_free(s);
    life_free(h);
    h = life_create(&(struct life_options){
        .engine = LIFE_HASHLIFE, .bounds = LIFE_UNBOUNDED, .rule = "B3/S12345678"});
    s = create_sparse("B3/S12345678", (size_t)16 << 20);
    put_in_sparse(s, h, r_pentomino, 0, 0);
    works(life_step(h, at));
    works(life_step(s, at));
    assert_true(sparse_population(s) == alive);
    as_hashlife(s, h, "what grows");
    life_free(s);
    life_free(h);
}

/* ---- Options. -------------------------------------------------------------------------------- */

static int end_sparse_after(void *left, double fraction)
{
    assert_true(fraction >= 0 && fraction <= 1);
    return --*(int *)left < 0;
}

static void sparse_progress_can_cancel(void **unused)
{
    (void)unused;
    int left = 2;
    life *s = life_create(&(struct life_options){.engine = LIFE_SPARSE,
                                                 .bounds = LIFE_UNBOUNDED,
                                                 .progress = end_sparse_after,
                                                 .arg = &left});
    ready(s);
    put_in_sparse(s, NULL, gun, 0, 0);
    fails(ECANCELED, life_step(s, 100000000));
    const uint64_t at = life_generation(s);
    assert_true(at > 0 && at < 100000000);
    left = 1000000;
    works(life_step(s, 240 - at % 240));
    assert_true(sparse_population(s) == 36 + 5 * (life_generation(s) / 30));
    life_free(s);
}

static void sparse_rejects_bad_calls(void **unused)
{
    (void)unused;
    static const char *const rules[] = {"B03/S23", "345/2/4", "R5,C0,M1,S34..58,B34..45,NM",
                                        "nonsense", "B0123478/S01234678"};
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        assert_null(life_create(&(struct life_options){
            .engine = LIFE_SPARSE, .bounds = LIFE_UNBOUNDED, .rule = rules[i]}));
        assert_int_equal(clerrno, strcmp(rules[i], "nonsense") ? ENOTSUP : EINVAL);
    }
    fails_null(EINVAL, life_create(&(struct life_options){
                           .engine = LIFE_SPARSE, .bounds = LIFE_UNBOUNDED, .memory = 1000}));
    fails_null(EINVAL, life_create(&(struct life_options){
                           .engine = LIFE_SPARSE, .bounds = LIFE_UNBOUNDED, .reserved = {1}}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_matches_reference),
        cmocka_unit_test(sparse_known_patterns_have_known_populations),
        cmocka_unit_test(sparse_soup_matches_hashlife),
        cmocka_unit_test(sparse_views_match_cells),
        cmocka_unit_test(sparse_sleeping_tiles_wake),
        cmocka_unit_test(sparse_empty_plane_stays_empty),
        cmocka_unit_test(sparse_stops_at_edge_of_plane),
        cmocka_unit_test(sparse_memory_limit_is_kept),
        cmocka_unit_test(sparse_progress_can_cancel),
        cmocka_unit_test(sparse_rejects_bad_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
