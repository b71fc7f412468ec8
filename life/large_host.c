/* large_host.c - Larger than Life in plain C: the engine "reference" under these rules.
 *
 * A cell is a byte. A generation computes a box: the nonzero cells, and the cells that have one of
 * them in their neighbourhood. Rows are loops over counts of one, two or four bytes, which
 * compilers vectorize (large_host.h). A square is summed by columns, from row to row, and then
 * along the row by sums of 1, 2, 4 ... columns. A diamond is advanced from row to row by its edges,
 * each the difference of two sums along diagonals. Other neighbourhoods are lists of runs of equal
 * weight in a row, each the difference of two prefix sums.
 *
 * The scalar definition is in larger_than_life.c; tests compare the two.
 * SPDX-License-Identifier: MIT
 */
#include "life/cells.h"
#include "life/counting.h"
#include "life/engine.h"
#include "life/large_rule.h"
#include "life/vectors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Columns left ... right - 1 and rows top ... bottom - 1; empty if left = right. */
struct large_box {
    size_t left, top, right, bottom;
};

struct large_host {
    struct life_large rule;
    enum large_inverted how;
    int total;
    size_t columns, reach; /* of the neighbourhood to either side, and up and down */
    bool diamond;
    struct large_run *run; /* NULL: a square, or a diamond */
    size_t runs, odd_runs; /* around even cells, and the following ones around odd cells */
    unsigned count_bytes;
    unsigned char weight[256]; /* of a state */
    unsigned char *cells[2];   /* present and next generation: cells[now], cells[!now] */
    int now;
    struct large_box box[2];    /* the nonzero cells of each, or more */
    struct large_box image_box; /* of the packed rows */
    struct life_cells image;    /* packed rows for the caller, plane after plane */
    /* Scratch memory of rows: cells' weights; counts; the rule's answers. */
    unsigned char *value[2], *born, *stays;
    void *count, *work[2];
    void *sums;      /* of columns; of runs: 2 reach + 1 rows of prefix sums, `stride` apart; of a
                        diamond: diamond_rows() pairs of rows of diagonal sums */
    bool *row_lives; /* true if a row of prefix sums is not 0 throughout */
    size_t stride;
};

/* Cells that a generation computes. */
struct large_area {
    const life *lf;
    size_t x, y, width, height;
    bool inverted, next_inverted; /* how the cells are stored */
};

/* Rows of diagonal sums: from two above a diamond around a row to its last one. */
static long diamond_rows(const struct large_host *h)
{
    return 2 * (long)h->reach + 3;
}

static size_t wrapped(long i, size_t n)
{
    return (size_t)((i % (long)n + (long)n) % (long)n);
}

/* Read the weights of the cells of row y, from `columns` before the area to `columns` after it. */
static void large_values(const struct large_host *h, const struct large_area *a, long y,
                         unsigned char *value)
{
    const size_t width = a->lf->width, height = a->lf->height, n = a->width + 2 * h->columns;
    const bool torus = a->lf->bounds == LIFE_TORUS;
    const unsigned char *row = h->cells[h->now] + wrapped(y, height) * width;
    if (!torus && (y < 0 || y >= (long)height)) {
        memset(value, 0, n);
        return;
    }
    long x = (long)a->x - (long)h->columns;
    for (size_t done = 0, some; done < n; done += some, x += (long)some) {
        const bool inside = x >= 0 && x < (long)width;
        const size_t from = wrapped(x, width), left = n - done;
        some = inside || torus ? width - from : x < 0 ? (size_t)-x : left;
        some = some < left ? some : left;
        if (inside || torus)
            memcpy(value + done, row + from, some);
        else
            memset(value + done, 0, some);
    }
    if (h->rule.states > 2)
        for (size_t i = 0; i < n; i++)
            value[i] = h->weight[value[i]];
}

#define T uint8_t
#define NAME(x) large8_##x
#include "life/large_host.h"
#define T uint16_t
#define NAME(x) large16_##x
#include "life/large_host.h"
#define T uint32_t
#define NAME(x) large32_##x
#include "life/large_host.h"

/* ---- Create and free. ------------------------------------------------------------------------ */

static void large_host_free(life *lf)
{
    struct large_host *h = lf->state;
    if (!h)
        return;
    void *const all[] = {h->run,      h->cells[0], h->cells[1], h->value[0],
                         h->value[1], h->born,     h->stays,    h->count,
                         h->work[0],  h->work[1],  h->sums,     h->row_lives};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    life_cells_free(&h->image);
    free(h);
    lf->state = NULL;
}

/* Bytes of a count; the counts of a rule differ modulo 2^(8 bytes). */
static unsigned bytes_of_counts(const struct life_large *l)
{
    const int most = large_most(l), least = large_least(l);
    const unsigned span = (unsigned)(most - least) + 1;
    return span < UINT8_MAX ? 1 : span < UINT16_MAX ? 2 : 4;
}

/* A diamond of up to this range takes longer by its edges than by its runs. */
enum { FEW_RUNS = 3 };

static int large_host_take_rule(struct large_host *h, const struct life_family *rule)
{
    const char *why;
    large_rule_read(rule->text, &h->rule, &why);
    h->how = large_inversion(&h->rule);
    h->total = large_total(&h->rule);
    h->columns = large_columns(&h->rule);
    h->reach = h->rule.range;
    h->count_bytes = bytes_of_counts(&h->rule);
    for (unsigned i = 0; i < h->rule.states; i++)
        h->weight[i] = (unsigned char)large_state_weight(&h->rule, i);
    h->diamond = h->rule.shape == 'N' && h->reach > FEW_RUNS;
    if (h->rule.shape == 'M' || h->diamond)
        return 0;
    h->runs = large_runs(&h->rule, false, NULL);
    h->odd_runs = large_has_parity(&h->rule) ? large_runs(&h->rule, true, NULL) : 0;
    h->run = calloc(h->runs + h->odd_runs + 1, sizeof *h->run);
    if (!h->run)
        return -1;
    large_runs(&h->rule, false, h->run);
    if (h->odd_runs)
        large_runs(&h->rule, true, h->run + h->runs);
    return 0;
}

static int large_host_allocate(life *lf, struct large_host *h)
{
    const size_t n = lf->width + 2 * h->columns + 1, rows = 2 * h->reach + 1, c = h->count_bytes,
                 cells = lf->width * lf->height;
    const double bytes = 2 * (double)lf->width * (double)lf->height;
    if (bytes > life_host_memory())
        return clerror_set(ENOMEM, "life: the engine reference needs %.4g MB for %zu x %zu cells",
                           bytes / 1e6, lf->width, lf->height);
    h->stride = h->diamond ? n + 1 : n; /* with an entry before the row, and one after it */
    void *const all[] = {h->cells[0] = calloc(cells, 1),
                         h->cells[1] = calloc(cells, 1),
                         h->value[0] = calloc(n, 1),
                         h->value[1] = calloc(n, 1),
                         h->born = calloc(n, 1),
                         h->stays = calloc(n, 1),
                         h->count = calloc(n, c),
                         h->work[0] = calloc(n, c),
                         h->work[1] = calloc(n, c),
                         h->sums = calloc(h->diamond ? 2 * (size_t)diamond_rows(h) * h->stride
                                          : h->run   ? n * rows
                                                     : n,
                                          c),
                         h->row_lives = calloc(rows, sizeof *h->row_lives)};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!all[i])
            return clerror_set(ENOMEM, "life: out of memory for %zu x %zu cells", lf->width,
                               lf->height);
    return life_cells_alloc(&h->image, lf->width, lf->height * life_planes_of(lf));
}

static int large_host_create(life *lf, const struct life_options *options)
{
    (void)options;
    struct large_host *h = lf->state = calloc(1, sizeof *h);
    if (!h)
        return clerror_set(ENOMEM, "life: out of memory for an engine");
    int status = large_host_take_rule(h, &lf->rule);
    if (status < 0)
        clerror_set(ENOMEM, "life: out of memory for an engine");
    if (status == 0)
        status = large_host_allocate(lf, h);
    if (status < 0)
        large_host_free(lf);
    return status;
}

/* ---- Cells in and out. ----------------------------------------------------------------------- */

static uint64_t *large_host_plane(life *lf, unsigned plane, size_t y)
{
    struct large_host *h = lf->state;
    return h->image.word + (plane * lf->height + y) * h->image.stride;
}

static uint64_t *large_host_row(life *lf, size_t y)
{
    return large_host_plane(lf, 0, y);
}

/* Extend a box by cells x ... end - 1 of row y. */
static void box_extend(struct large_box *b, size_t x, size_t end, size_t y)
{
    if (b->left == b->right) {
        *b = (struct large_box){x, y, end, y + 1};
        return;
    }
    b->left = x < b->left ? x : b->left;
    b->right = end > b->right ? end : b->right;
    b->top = y < b->top ? y : b->top;
    b->bottom = y + 1 > b->bottom ? y + 1 : b->bottom;
}

/* Set the cells of a box to 0, which then is empty. */
static void large_host_clear(const life *lf, unsigned char *cells, struct large_box *b)
{
    for (size_t y = b->top; y < b->bottom; y++)
        memset(cells + y * lf->width + b->left, 0, b->right - b->left);
    *b = (struct large_box){0};
}

static int large_host_upload(life *lf)
{
    struct large_host *h = lf->state;
    unsigned char *cells = h->cells[h->now];
    struct large_box *b = &h->box[h->now];
    large_host_clear(lf, cells, b);
    for (size_t y = 0; y < lf->height; y++)
        for (size_t i = 0; i < lf->words; i++) {
            const size_t x = 64 * i, n = lf->width - x < 64 ? lf->width - x : 64;
            uint64_t any = 0;
            for (unsigned k = 0; k < life_planes_of(lf); k++)
                any |= large_host_plane(lf, k, y)[i];
            if (!any)
                continue;
            life_states_of_planes(lf, x, y, n, cells + y * lf->width + x);
            box_extend(b, x, x + n, y);
        }
    h->image_box = *b;
    return 0;
}

static int large_host_download(life *lf)
{
    struct large_host *h = lf->state;
    const struct large_box *b = &h->box[h->now], *old = &h->image_box;
    for (unsigned k = 0; k < life_planes_of(lf); k++)
        for (size_t y = old->top; y < old->bottom; y++)
            memset(large_host_plane(lf, k, y), 0, lf->words * sizeof(uint64_t));
    for (size_t y = b->top; y < b->bottom; y++)
        life_states_to_planes(lf, b->left, y, b->right - b->left,
                              h->cells[h->now] + y * lf->width + b->left);
    h->image_box = *b;
    return 0;
}

/* ---- A generation. --------------------------------------------------------------------------- */

/* Extend an axis of n cells from first ... end - 1 by `reach`. An area that would leave a torus
 * is the whole axis. */
static void reach_axis(bool torus, size_t n, size_t reach, size_t *first, size_t *end)
{
    const bool before = *first < reach, after = n - *end < reach;
    if (torus && (before || after)) {
        *first = 0;
        *end = n;
        return;
    }
    *first = before ? 0 : *first - reach;
    *end = after ? n : *end + reach;
}

/* True if a cell without nonzero neighbours may become nonzero. */
static bool empty_comes_alive(const struct large_host *h)
{
    return h->rule.states > 2 && large_counts_have(&h->rule.birth, 0);
}

static struct large_area area_of(const life *lf)
{
    const struct large_host *h = lf->state;
    const bool torus = lf->bounds == LIFE_TORUS;
    struct large_box b = h->box[h->now];
    if (empty_comes_alive(h))
        b = (struct large_box){0, 0, lf->width, lf->height};
    if (b.left < b.right) {
        reach_axis(torus, lf->width, h->columns, &b.left, &b.right);
        reach_axis(torus, lf->height, h->reach, &b.top, &b.bottom);
    }
    const uint64_t now = life_now(lf);
    return (struct large_area){.lf = lf,
                               .x = b.left,
                               .y = b.top,
                               .width = b.right - b.left,
                               .height = b.bottom - b.top,
                               .inverted = large_is_inverted(h->how, now),
                               .next_inverted = large_is_inverted(h->how, now + 1)};
}

/* Next states of n cells of two states. */
LIFE_VECTORS static void next_of_two(const struct large_area *a, const unsigned char *restrict born,
                                     const unsigned char *restrict stays,
                                     const unsigned char *restrict from, unsigned char *restrict to,
                                     size_t n)
{
    const unsigned char inverted = a->inverted, next_inverted = a->next_inverted;
    for (size_t x = 0; x < n; x++) { /* without branches, for vectors */
        const unsigned char alive = from[x] ^ inverted, dead = alive ^ 1;
        to[x] = (unsigned char)((alive & stays[x]) | (dead & born[x])) ^ next_inverted;
    }
}

/* Next states of n cells of more than two. */
LIFE_VECTORS static void next_of_more(unsigned states, const unsigned char *restrict born,
                                      const unsigned char *restrict stays,
                                      const unsigned char *restrict from,
                                      unsigned char *restrict to, size_t n)
{
    const unsigned char last = (unsigned char)(states - 1);
    for (size_t x = 0; x < n; x++) {
        const unsigned char state = from[x], birth = born[x], stay = stays[x],
                            older = state == last ? 0 : (unsigned char)(state + 1),
                            alive = stay ? 1 : older, young = state ? alive : birth;
        to[x] = state > 1 ? older : young;
    }
}

/* Extend a box by the nonzero cells among n from x on. */
static void box_extend_row(struct large_box *b, const unsigned char *row, size_t x, size_t n,
                           size_t y)
{
    size_t first = 0, end = n;
    uint64_t eight;
    while (first + 8 <= n && (memcpy(&eight, row + first, 8), !eight))
        first += 8;
    while (first < n && !row[first])
        first++;
    if (first == n)
        return;
    while (end >= 8 && (memcpy(&eight, row + end - 8, 8), !eight))
        end -= 8;
    while (!row[end - 1])
        end--;
    box_extend(b, x + first, x + end, y);
}

static void large_host_row_of(struct large_host *h, const struct large_area *a, size_t y)
{
    const size_t at = y * a->lf->width + a->x;
    const unsigned char *from = h->cells[h->now] + at;
    unsigned char *to = h->cells[!h->now] + at;
    switch (h->count_bytes) {
    case 1:
        large8_row(h, a, (long)y);
        break;
    case 2:
        large16_row(h, a, (long)y);
        break;
    default:
        large32_row(h, a, (long)y);
    }
    if (h->rule.states == 2)
        next_of_two(a, h->born, h->stays, from, to, a->width);
    else
        next_of_more(h->rule.states, h->born, h->stays, from, to, a->width);
    box_extend_row(&h->box[!h->now], to, a->x, a->width, y);
}

static void large_host_begin(struct large_host *h, const struct large_area *a)
{
    switch (h->count_bytes) {
    case 1:
        large8_begin(h, a);
        break;
    case 2:
        large16_begin(h, a);
        break;
    default:
        large32_begin(h, a);
    }
}

enum { CELLS_A_REPORT = 1 << 24 }; /* between two reports of progress */

/* True if a box has cells that an area does not overwrite. */
static bool is_outside(const struct large_box *b, const struct large_area *a)
{
    return b->left < a->x || b->top < a->y || b->right > a->x + a->width ||
           b->bottom > a->y + a->height;
}

static int large_host_generation(life *lf)
{
    struct large_host *h = lf->state;
    const struct large_area a = area_of(lf);
    if (is_outside(&h->box[!h->now], &a))
        large_host_clear(lf, h->cells[!h->now], &h->box[!h->now]);
    h->box[!h->now] = (struct large_box){0};
    if (a.width)
        large_host_begin(h, &a);
    for (size_t y = a.y, cells = 0; y < a.y + a.height; y++) {
        large_host_row_of(h, &a, y);
        cells += a.width;
        if (cells < CELLS_A_REPORT)
            continue;
        cells = 0;
        if (life_call_tell(lf, (double)(y - a.y) / (double)a.height) < 0) {
            /* the rows below still have cells of an earlier generation */
            h->box[!h->now] = (struct large_box){a.x, a.y, a.x + a.width, a.y + a.height};
            return -1;
        }
    }
    h->now = !h->now;
    lf->call.done++;
    return 0;
}

static int large_host_step(life *lf, uint64_t generations)
{
    const struct large_host *h = lf->state;
    size_t cells = 0;
    for (uint64_t g = 0; g < generations; g++) {
        const struct large_box *b = &h->box[h->now];
        if (large_host_generation(lf) < 0)
            return -1;
        cells += (b->right - b->left) * (b->bottom - b->top) + 1000;
        if (cells >= CELLS_A_REPORT && g + 1 < generations && life_call_tell(lf, 0) < 0)
            return -1;
        cells %= CELLS_A_REPORT;
    }
    return 0;
}

static void large_host_sample(const life *lf, struct life_sample *sample)
{
    const struct large_host *h = lf->state;
    const struct large_box *b = &h->box[h->now];
    sample->population = sample->hash = 0;
    for (size_t y = b->top; y < b->bottom; y++)
        for (size_t x = b->left; x < b->right; x++) {
            const size_t i = y * lf->width + x;
            const unsigned char state = h->cells[h->now][i];
            sample->population += state != 0;
            sample->hash += state ? life_mix(state + (i + 1) * 0x9e3779b97f4a7c15u) : 0;
        }
}

static int large_host_trace(life *lf, size_t n, struct life_sample *sample)
{
    if (n == 0)
        large_host_sample(lf, sample);
    for (size_t g = 0; g < n; g++) {
        if (large_host_generation(lf) < 0)
            return -1;
        large_host_sample(lf, &sample[g]);
    }
    return 0;
}

const struct life_backend life_large_host_backend = {
    .create = large_host_create,
    .free = large_host_free,
    .row = large_host_row,
    .plane = large_host_plane,
    .upload = large_host_upload,
    .download = large_host_download,
    .step = large_host_step,
    .trace = large_host_trace,
};
