/* large_field.c - Larger than Life in plain C: a generation.
 *
 * A cell is a byte. Each row knows the columns that have nonzero cells, and a generation computes
 * the columns within the neighbourhood's reach of them. Rows are loops over counts of one, two or
 * four bytes, which compilers vectorize (large_rows.h). A square is summed by columns, from row to
 * row, and then along the row by sums of 1, 2, 4 ... columns; the last loop adds up to four of
 * these and decides. Other neighbourhoods are lists of runs of equal weight in a row, each the
 * difference of two prefix sums.
 *
 * Threads compute bands of rows. The scalar definition is in larger_than_life.c; tests compare the
 * two.
 * SPDX-License-Identifier: MIT
 */
#include "life/cells.h"
#include "life/large_field.h"
#include "life/vectors.h"
#include "stdcl.h"

#include "core/round.h"
#include "core/thread_pool.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A row that neighbourhoods contain: its values, from the margin on. */
struct large_row {
    const unsigned char *value;
    struct large_extent extent;
};

/* The part of a row that is computed: n cells from column `first` on, whole blocks. */
struct large_part {
    size_t first, n;
    const unsigned char *value, *from;
    unsigned char *to, *to_value;
};

static struct large_row large_no_row(const struct large_field *f)
{
    return (struct large_row){f->no_cells, {0, 0}};
}

/* Row y, on a torus modulo its height. */
static struct large_row large_row_at(const struct large_field *f, long y)
{
    const struct large_cells *g = &f->gen[f->now];
    const long height = (long)f->height;
    if (y < 0 || y >= height) {
        if (!f->torus)
            return large_no_row(f);
        y = (y % height + height) % height;
    }
    return (struct large_row){g->value + (size_t)y * f->stride, g->extent[y]};
}

static size_t large_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static struct large_extent large_extent_join(struct large_extent a, struct large_extent b)
{
    if (a.first == a.end)
        return b;
    if (b.first == b.end)
        return a;
    return (struct large_extent){a.first < b.first ? a.first : b.first,
                                 a.end > b.end ? a.end : b.end};
}

/* True if a cell without nonzero neighbours may become nonzero. */
static bool empty_comes_alive(const struct large_field *f)
{
    return f->rule.states > 2 && large_counts_have(&f->rule.birth, 0);
}

/* Set the cells of an extent of row y of a generation to 0, and on a torus the margins. */
static void large_row_clear(const struct large_field *f, int gen, size_t y)
{
    const struct large_cells *g = &f->gen[gen];
    const struct large_extent e = g->extent[y];
    unsigned char *const rows[] = {g->state + y * f->stride, g->value + y * f->stride};
    if (e.first == e.end)
        return;
    for (int i = 0; i < (g->value == g->state ? 1 : 2); i++)
        if (f->torus)
            memset(rows[i], 0, f->stride);
        else
            memset(rows[i] + f->margin + e.first, 0, e.end - e.first);
    g->extent[y] = (struct large_extent){0, 0};
}

/* Columns of rows first ... end - 1 that can become nonzero. */
static struct large_extent large_extent_reached(const struct large_field *f, long first, long end)
{
    struct large_extent e = {0, 0};
    const size_t width = round_up(f->width, LARGE_BLOCK);
    for (long y = first - (long)f->reach; y < end + (long)f->reach; y++)
        e = large_extent_join(e, large_row_at(f, y).extent);
    if (empty_comes_alive(f))
        return (struct large_extent){0, width};
    if (e.first == e.end)
        return e;
    const bool left = e.first < f->columns, right = f->width - f->columns < e.end;
    if (f->torus && (left || right))
        return (struct large_extent){0, width};
    e.first = left ? 0 : (e.first - f->columns) / LARGE_BLOCK * LARGE_BLOCK;
    e.end = right ? width : round_up(e.end + f->columns, LARGE_BLOCK);
    return e;
}

/* The part of row y to compute. The remainder of the next generation's row becomes 0. */
static struct large_part large_row_begin(const struct large_field *f, size_t y)
{
    const struct large_extent e = f->reached[y / LARGE_ROWS], old = f->gen[!f->now].extent[y];
    const size_t at = y * f->stride + f->margin + e.first;
    if (old.first < e.first || old.end > e.end)
        large_row_clear(f, !f->now, y);
    return (struct large_part){.first = e.first,
                               .n = e.end - e.first,
                               .value = f->gen[f->now].value + at,
                               .from = f->gen[f->now].state + at,
                               .to = f->gen[!f->now].state + at,
                               .to_value = f->gen[!f->now].value + at};
}

/* True if a block has a nonzero cell. */
static bool block_lives(const unsigned char *cells)
{
    uint64_t word[LARGE_BLOCK / 8], any = 0;
    memcpy(word, cells, sizeof word);
    for (int i = 0; i < LARGE_BLOCK / 8; i++)
        any |= word[i];
    return any;
}

/* After states of columns first ... end - 1 of row y were written: clear the padding, find the
 * nonzero blocks, and on a torus copy the margins. */
static void large_row_close(const struct large_field *f, int gen, size_t y, size_t first,
                            size_t end)
{
    const struct large_cells *g = &f->gen[gen];
    unsigned char *const rows[] = {g->state + y * f->stride + f->margin,
                                   g->value + y * f->stride + f->margin};
    const int all = g->value == g->state ? 1 : 2;
    for (int i = 0; i < all && end > f->width; i++)
        memset(rows[i] + f->width, 0, end - f->width);
    while (first < end && !block_lives(rows[0] + first))
        first += LARGE_BLOCK;
    while (first < end && !block_lives(rows[0] + end - LARGE_BLOCK))
        end -= LARGE_BLOCK;
    g->extent[y] = first < end ? (struct large_extent){first, end} : (struct large_extent){0, 0};
    for (int i = 0; i < all && f->torus; i++) {
        memcpy(rows[i] - f->columns, rows[i] + f->width - f->columns, f->columns);
        memcpy(rows[i] + f->width, rows[i], f->columns);
    }
}

/* Look up the weights of n states. */
static void large_row_values(const struct large_field *f, const unsigned char *state,
                             unsigned char *value, size_t n)
{
    if (value != state)
        for (size_t x = 0; x < n; x++)
            value[x] = f->weight[state[x]];
}

static void large_row_end(const struct large_field *f, size_t y, const struct large_part *p)
{
    if (!p->n)
        return;
    if (!f->simple || f->rule.state_digits)
        large_row_values(f, p->to, p->to_value, p->n);
    large_row_close(f, !f->now, y, p->first, p->first + p->n);
}

/* Next states of n cells of two states. */
LIFE_VECTORS static void next_of_two(const struct large_decision *d,
                                     const unsigned char *restrict born,
                                     const unsigned char *restrict stays,
                                     const unsigned char *restrict from, unsigned char *restrict to,
                                     size_t n)
{
    const unsigned char inverted = d->inverted, next_inverted = d->next_inverted;
    for (size_t b = 0; b < n; b += LARGE_BLOCK)
        for (size_t x = b; x < b + LARGE_BLOCK; x++) { /* without branches, for vectors */
            const unsigned char alive = from[x] ^ inverted, dead = alive ^ 1;
            to[x] = (unsigned char)((alive & stays[x]) | (dead & born[x])) ^ next_inverted;
        }
}

/* Next states of n cells of more than two. */
LIFE_VECTORS static void next_of_more(const struct large_decision *d,
                                      const unsigned char *restrict born,
                                      const unsigned char *restrict stays,
                                      const struct large_part *p)
{
    const unsigned char last = d->last;
    const unsigned char *const from = p->from;
    unsigned char *restrict const to = p->to;
    for (size_t b = 0; b < p->n; b += LARGE_BLOCK)
        for (size_t x = b; x < b + LARGE_BLOCK; x++) {
            const unsigned char state = from[x], birth = born[x], stay = stays[x],
                                older = state == last ? 0 : (unsigned char)(state + 1),
                                alive = stay ? 1 : older, young = state ? alive : birth;
            to[x] = state > 1 ? older : young;
        }
}

/* Sum eight values, at most 15 each; before[k] is the sum of the first k. The product of eight
 * bytes and eight ones has the sums of 1 to 8 bytes. */
static unsigned large_prefix_eight(const unsigned char *value, unsigned char before[8])
{
    uint64_t eight;
    memcpy(&eight, value, sizeof eight);
    const uint64_t sums = le64toh(eight) * 0x0101010101010101u, less = htole64(sums << 8);
    memcpy(before, &less, sizeof less);
    return (unsigned)(sums >> 56);
}

/* No iteration of the following loop writes what another reads. */
#if defined __clang__
#define LARGE_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define LARGE_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* The sum of two bytes, 255 if it is greater; two instructions of vectors. */
static inline uint8_t large_saturating_sum(uint8_t a, uint8_t b)
{
    const uint8_t room = (uint8_t)~b;
    return (uint8_t)((a < room ? a : room) + b);
}

#define S uint8_t
#define T uint8_t
#define NAME(x) large8_##x
#define PLUS(a, b) (T)((a) + (b))
#include "life/large_rows.h"
#define S uint8_t
#define T uint8_t
#define NAME(x) large8_saturating_##x
#define PLUS(a, b) large_saturating_sum(a, b)
#include "life/large_rows.h"
#define S uint8_t
#define T uint16_t
#define NAME(x) large8_16_##x
#define PLUS(a, b) (T)((a) + (b))
#include "life/large_rows.h"
#define S uint16_t
#define T uint16_t
#define NAME(x) large16_##x
#define PLUS(a, b) (T)((a) + (b))
#include "life/large_rows.h"
#define S uint32_t
#define T uint32_t
#define NAME(x) large32_##x
#define PLUS(a, b) (T)((a) + (b))
#include "life/large_rows.h"

/* ---- Create and free. ------------------------------------------------------------------------ */

/* Bytes of a count; the counts of a rule differ modulo 2^(8 bytes), and one value is none. */
static unsigned bytes_of_counts(const struct life_large *l)
{
    const int most = large_most(l), least = large_least(l);
    const unsigned span = (unsigned)(most - least) + 1;
    return span < UINT8_MAX ? 1 : span < UINT16_MAX ? 2 : 4;
}

static int large_field_take_runs(struct large_field *f)
{
    if (f->rule.shape == 'M')
        return 0;
    f->runs = large_runs(&f->rule, false, NULL);
    f->odd_runs = large_has_parity(&f->rule) ? large_runs(&f->rule, true, NULL) : 0;
    f->run = calloc(f->runs + f->odd_runs + 1, sizeof *f->run);
    if (!f->run)
        return clerror_set(ENOMEM, "life: out of memory for an engine");
    large_runs(&f->rule, false, f->run);
    if (f->odd_runs)
        large_runs(&f->rule, true, f->run + f->runs);
    return 0;
}

/* An interval as least count and number of counts after it; without one, a count that is none. */
static struct large_interval interval_of(const struct large_counts *counts, int none)
{
    return counts->n ? (struct large_interval){counts->of[0].least,
                                               counts->of[0].most - counts->of[0].least}
                     : (struct large_interval){none, 0};
}

int large_field_open(struct large_field *f, const char *rule, unsigned threads)
{
    const char *why;
    large_rule_read(rule, &f->rule, &why);
    f->how = large_inversion(&f->rule);
    f->total = large_total(&f->rule);
    f->columns = large_columns(&f->rule);
    f->reach = f->rule.range;
    f->margin = round_up(f->columns, LARGE_BLOCK);
    f->count_bytes = bytes_of_counts(&f->rule);
    f->simple = f->rule.birth.n <= 1 && f->rule.survival.n <= 1;
    f->threads = (unsigned)parallel_for_threads(
        threads && threads < THREAD_POOL_MOST ? threads : THREAD_POOL_MOST);
    for (unsigned i = 0; i < f->rule.states; i++)
        f->weight[i] = (unsigned char)large_state_weight(&f->rule, i);
    const int none = large_most(&f->rule) + 1;
    f->decision = (struct large_decision){.birth = interval_of(&f->rule.birth, none),
                                          .stay = interval_of(&f->rule.survival, none),
                                          .last = (unsigned char)(f->rule.states - 1)};
    if (f->rule.shape == 'M' && !f->rule.middle)
        f->decision.middle = 255;
    return large_field_take_runs(f);
}

/* True if a state and its weight differ. */
static bool has_values(const struct large_field *f)
{
    return f->rule.states > 2 || f->rule.state_digits;
}

static size_t stride_of(const struct large_field *f, size_t width)
{
    return 2 * f->margin + round_up(width, LARGE_BLOCK) + LARGE_BLOCK;
}

enum {
    BANDS_A_THREAD = 4,       /* so that one that waits for a processor has little left */
    LEAST_OF_BANDS = 1 << 19, /* cells that are worth threads */
    LEAST_HEIGHTS = 4,        /* of a band of squares, in heights of the neighbourhood */
    LEAST_ROWS = 64           /* of a band of runs */
};

/* Least rows of a band. Each band first sums the 2 reach rows above its own, which other bands sum
 * too. */
static size_t least_of_band(const struct large_field *f)
{
    return f->run ? LEAST_ROWS : LEAST_HEIGHTS * (2 * f->reach + 1);
}

/* Number of bands for some rows on `threads` threads. */
static size_t bands_for(const struct large_field *f, size_t threads, size_t rows)
{
    const size_t bands = threads * (f->run ? 1 : BANDS_A_THREAD),
                 most = large_smaller(bands, rows / least_of_band(f));
    return threads < 2 || most < 2 ? 1 : f->most_bands ? large_smaller(most, f->most_bands) : most;
}

double large_field_bytes(const struct large_field *f, size_t width, size_t height)
{
    const double stride = (double)stride_of(f, width), sums = f->run ? 2. * (double)f->reach : 0;
    return (has_values(f) ? 4 : 2) * stride * (double)height +
           stride * f->count_bytes * (sums + LARGE_TERMS) *
               (double)bands_for(f, f->threads, height);
}

static void large_work_free(struct large_work *w)
{
    void *const all[] = {w->sums, w->row_lives, w->count, w->zeros, w->born, w->stays};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    for (size_t i = 0; i < LARGE_TERMS; i++)
        free(w->spare[i]);
}

/* Allocate scratch memory for rows of the field; arrays are read up to two blocks after a row. */
static bool large_work_allocate(const struct large_field *f, struct large_work *w)
{
    const size_t rows = 2 * f->reach + 1, c = f->count_bytes;
    w->stride = f->stride + 2 * LARGE_BLOCK;
    bool works = (w->sums = calloc(w->stride * (f->run ? rows : 1), c)) &&
                 (w->row_lives = calloc(rows, sizeof *w->row_lives)) &&
                 (w->count = calloc(w->stride, c)) && (w->zeros = calloc(w->stride, c)) &&
                 (w->born = calloc(w->stride, 1)) && (w->stays = calloc(w->stride, 1));
    for (size_t i = 0, step = 1; step <= 2 * rows && i < LARGE_TERMS; i++, step *= 2)
        works = works && (w->spare[i] = calloc(w->stride, c));
    return works;
}

/* Make scratch memory for up to n bands, at least one. */
static int large_field_prepare(struct large_field *f, size_t n)
{
    if (f->works >= n)
        return 0;
    struct large_work *more = realloc(f->work, n * sizeof *more);
    if (more) {
        f->work = more;
        for (; f->works < n; f->works++) {
            f->work[f->works] = (struct large_work){.stride = 0};
            if (large_work_allocate(f, &f->work[f->works]))
                continue;
            large_work_free(&f->work[f->works]);
            break;
        }
    }
    return f->works ? 0
                    : clerror_set(ENOMEM, "life: out of memory for rows of %zu cells", f->width);
}

int large_field_allocate(struct large_field *f, size_t width, size_t height, bool torus)
{
    f->width = width;
    f->height = height;
    f->torus = torus;
    f->stride = stride_of(f, width);
    if (large_field_bytes(f, width, height) > life_host_memory())
        f->most_bands = 1;
    const double bytes = large_field_bytes(f, width, height);
    bool works = bytes <= life_host_memory() && (f->no_cells = calloc(f->stride, 1)) &&
                 (f->reached = calloc(divide_up(height, LARGE_ROWS), sizeof *f->reached));
    for (int i = 0; i < 2 && works; i++) {
        struct large_cells *g = &f->gen[i];
        g->state = calloc(height * f->stride, 1);
        g->value = has_values(f) ? calloc(height * f->stride, 1) : g->state;
        g->extent = calloc(height, sizeof *g->extent);
        works = g->state && g->value && g->extent;
    }
    return works ? large_field_prepare(f, 1)
                 : clerror_set(ENOMEM,
                               "life: plain C needs %.4g MB for %zu x %zu cells of Larger "
                               "than Life, and there is not enough memory",
                               bytes / 1e6, width, height);
}

void large_field_free_cells(struct large_field *f)
{
    for (int i = 0; i < 2; i++) {
        struct large_cells *g = &f->gen[i];
        if (g->value != g->state)
            free(g->value);
        free(g->state);
        free(g->extent);
        *g = (struct large_cells){.state = NULL};
    }
    for (size_t i = 0; i < f->works; i++)
        large_work_free(&f->work[i]);
    free(f->work);
    free(f->no_cells);
    free(f->reached);
    f->work = NULL;
    f->works = 0;
    f->no_cells = NULL;
    f->reached = NULL;
}

void large_field_close(struct large_field *f)
{
    large_field_free_cells(f);
    thread_pool_free(f->pool);
    free(f->run);
}

/* ---- Cells. ---------------------------------------------------------------------------------- */

void large_field_clear(struct large_field *f)
{
    struct large_cells *g = &f->gen[f->now];
    for (size_t y = g->top; y < g->bottom; y++)
        large_row_clear(f, f->now, y);
    g->top = g->bottom = 0;
}

void large_field_written(struct large_field *f, size_t y)
{
    struct large_cells *g = &f->gen[f->now];
    const size_t end = round_up(f->width, LARGE_BLOCK), at = y * f->stride + f->margin;
    large_row_values(f, g->state + at, g->value + at, f->width);
    large_row_close(f, f->now, y, 0, end);
    if (g->extent[y].first == g->extent[y].end)
        return;
    g->top = g->top == g->bottom || y < g->top ? y : g->top;
    g->bottom = y + 1 > g->bottom ? y + 1 : g->bottom;
}

/* ---- A generation. --------------------------------------------------------------------------- */

/* Rows first ... end - 1 as `parts` bands. */
struct large_bands {
    struct large_field *f;
    size_t first, end, parts;
};

/* True if the summands of a square are less than 256: up to R15. The greatest has half of the
 * greatest power of two of columns. */
static bool summands_are_bytes(const struct large_field *f)
{
    const size_t window = 2 * f->reach + 1;
    size_t step = 1;
    while (4 * step <= window)
        step *= 2;
    return !f->run && step * window <= UINT8_MAX;
}

/* True if counts may be bytes that stay at 255: the rule tells no counts above 253 apart, also
 * without the middle. An inverted count, and one that is none, may be any value. */
static bool large_saturates(const struct large_field *f)
{
    const struct large_counts *birth = &f->rule.birth, *survival = &f->rule.survival;
    return f->simple && birth->n == 1 && survival->n == 1 && birth->of[0].most < UINT8_MAX - 1 &&
           survival->of[0].most < UINT8_MAX - 1 && f->how == LARGE_PLAIN;
}

static void large_band(void *bands, size_t part)
{
    const struct large_bands *b = bands;
    const size_t rows = b->end - b->first, first = b->first + rows * part / b->parts,
                 end = b->first + rows * (part + 1) / b->parts;
    struct large_work *w = &b->f->work[part];
    if (b->f->count_bytes == 1)
        large8_rows(b->f, w, first, end);
    else if (b->f->count_bytes == 2 && summands_are_bytes(b->f) && large_saturates(b->f))
        large8_saturating_rows(b->f, w, first, end);
    else if (b->f->count_bytes == 2 && summands_are_bytes(b->f))
        large8_16_rows(b->f, w, first, end);
    else if (b->f->count_bytes == 2)
        large16_rows(b->f, w, first, end);
    else
        large32_rows(b->f, w, first, end);
}

/* Weight of a cell in LARGE_CELLS_A_REPORT: with runs one for each 32, so that the time between two
 * reports does not grow with the range. */
static size_t large_cell_cost(const struct large_field *f)
{
    return f->run ? divide_up(f->runs + f->odd_runs + 1, 32) : 1;
}

/* Number of threads for rows of `width` cells. */
static size_t threads_for(struct large_field *f, size_t rows, size_t width)
{
    if (f->threads == 1 || rows < 2 * least_of_band(f) ||
        rows * width < LEAST_OF_BANDS / large_cell_cost(f))
        return 1;
    if (!f->pool)
        f->pool = thread_pool_create(f->threads);
    return f->pool ? f->pool->threads + 1 : 1;
}

/* Number of bands for rows of `width` cells. */
static size_t number_of_bands(struct large_field *f, size_t rows, size_t width)
{
    return bands_for(f, threads_for(f, rows, width), rows);
}

/* Rows between two reports: for each thread a band or more. */
static size_t rows_of_report(struct large_field *f, size_t rows, size_t width)
{
    const size_t least = least_of_band(f),
                 share = LARGE_CELLS_A_REPORT / large_cell_cost(f) / width + 1;
    return threads_for(f, rows, width) * (share > least ? share : least);
}

static void large_rows_compute(struct large_field *f, size_t first, size_t end, size_t width)
{
    struct large_bands b = {f, first, end, number_of_bands(f, end - first, width)};
    if (b.parts > 1 && large_field_prepare(f, b.parts) == 0 && f->works < b.parts)
        b.parts = f->works;
    if (b.parts > 1)
        thread_pool_for(f->pool, b.parts, true, large_band, &b);
    else
        large_band(&b, 0);
}

/* Rows that can become nonzero. */
static void reached_rows(const struct large_field *f, size_t *first, size_t *end)
{
    const struct large_cells *g = &f->gen[f->now];
    const bool before = g->top < f->reach, after = f->height - g->bottom < f->reach;
    *first = before ? 0 : g->top - f->reach;
    *end = after ? f->height : g->bottom + f->reach;
    if (empty_comes_alive(f) || (f->torus && g->top < g->bottom && (before || after))) {
        *first = 0;
        *end = f->height;
    } else if (g->top == g->bottom) {
        *first = *end = 0;
    }
}

/* Find the nonzero rows of the next generation among first ... end - 1. */
static void find_rows(struct large_field *f, size_t first, size_t end)
{
    struct large_cells *g = &f->gen[!f->now];
    while (first < end && g->extent[first].first == g->extent[first].end)
        first++;
    while (first < end && g->extent[end - 1].first == g->extent[end - 1].end)
        end--;
    g->top = first < end ? first : 0;
    g->bottom = first < end ? end : 0;
}

/* Columns that a generation computes, at most. */
static size_t widest_of(const struct large_field *f)
{
    const struct large_cells *g = &f->gen[f->now];
    struct large_extent all = {0, 0};
    for (size_t y = g->top; y < g->bottom; y++)
        all = large_extent_join(all, g->extent[y]);
    return all.end - all.first + 2 * f->columns;
}

size_t large_field_cells(const struct large_field *f)
{
    const struct large_cells *g = &f->gen[f->now];
    return widest_of(f) * (g->bottom - g->top + 2 * f->reach) * large_cell_cost(f);
}

static void large_decide(struct large_field *f, bool odd)
{
    struct large_decision *d = &f->decision;
    d->inverted = large_is_inverted(f->how, odd);
    d->next_inverted = large_is_inverted(f->how, !odd);
    d->flip = d->inverted ? ~0u : 0;
    d->plus = d->inverted ? (unsigned)f->total + 1 : 0;
}

int large_field_step(struct large_field *f, bool odd, int (*tell)(void *arg, double done),
                     void *arg)
{
    struct large_cells *next = &f->gen[!f->now];
    size_t first, end;
    reached_rows(f, &first, &end);
    large_decide(f, odd);
    for (size_t y = next->top; y < next->bottom; y++)
        if (y < first || y >= end)
            large_row_clear(f, !f->now, y);
    for (size_t i = first / LARGE_ROWS; i * LARGE_ROWS < end; i++)
        f->reached[i] = large_extent_reached(f, (long)(i * LARGE_ROWS),
                                             (long)large_smaller(f->height, (i + 1) * LARGE_ROWS));
    const size_t width = widest_of(f), rows = rows_of_report(f, end - first, width);
    for (size_t y = first; y < end; y += rows) {
        if (y > first && tell(arg, (double)(y - first) / (double)(end - first)) < 0) {
            find_rows(f, 0, f->height); /* the rows below still have an earlier generation */
            return -1;
        }
        large_rows_compute(f, y, end - y < rows ? end : y + rows, width);
    }
    find_rows(f, first, end);
    f->now = !f->now;
    return 0;
}

void large_field_undo(struct large_field *f)
{
    f->now = !f->now;
}
