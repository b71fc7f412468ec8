/* sparse_raster.c - the engine "sparse": rectangles of its plane, squares, and the bounding box of
 * live cells, from the host's image of its tiles.
 * SPDX-License-Identifier: MIT
 */
#include "life/sparse.h"
#include "life/cells.h"

#include "core/handle.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* A rectangle of cells, such as the part of a larger one that lies in a tile. */
struct part {
    long long left, top, right, bottom;
};

static bool raster_intersects(const struct sparse *s, int tile, const struct part *whole,
                              struct part *part)
{
    const long long left = (long long)s->pool.place[2 * tile] * SPARSE_SIDE,
                    top = (long long)s->pool.place[2 * tile + 1] * SPARSE_SIDE;
    part->left = left > whole->left ? left : whole->left;
    part->top = top > whole->top ? top : whole->top;
    part->right = left + SPARSE_SIDE < whole->right ? left + SPARSE_SIDE : whole->right;
    part->bottom = top + SPARSE_SIDE < whole->bottom ? top + SPARSE_SIDE : whole->bottom;
    return part->left < part->right && part->top < part->bottom;
}

/* Columns left ... right - 1 of a row of a tile, from bit 0 on. */
static uint64_t tile_row_cells(const struct sparse *s, int tile, long long y, long long left,
                               long long right)
{
    const long long x = (long long)s->pool.place[2 * tile] * SPARSE_SIDE,
                    top = (long long)s->pool.place[2 * tile + 1] * SPARSE_SIDE;
    return sparse_rows(s, tile)[y - top] >> (left - x + SPARSE_HALO) &
           (((uint64_t)1 << (right - left)) - 1);
}

/* End of a rectangle, saturated. */
static long long raster_end(long long from, size_t n, unsigned zoom)
{
    const size_t room = (size_t)(LLONG_MAX - (from > 0 ? from : 0)) >> zoom;
    return n >= room ? LLONG_MAX : from + (long long)(n << zoom);
}

int sparse_get(life *lf, const struct life_window *w)
{
    struct sparse *s = lf->state;
    const long long x = w->x, y = w->y;
    struct life_cells *cells = w->cells;
    const struct part whole = {x, y, raster_end(x, cells->width, 0),
                               raster_end(y, cells->height, 0)};
    struct part part;
    if (sparse_to_host(s, false) < 0)
        return -1;
    for (size_t j = 0; j < cells->height; j++)
        memset(cells->word + j * cells->stride, 0, (cells->width + 63) / 64 * sizeof(uint64_t));
    for (int tile = 1; tile < s->pool.control[SPARSE_USED]; tile++)
        for (long long row = raster_intersects(s, tile, &whole, &part) ? part.top : part.bottom;
             row < part.bottom; row++) {
            const uint64_t word = tile_row_cells(s, tile, row, part.left, part.right);
            life_bits_copy(cells->word + (size_t)(row - y) * cells->stride, (size_t)(part.left - x),
                           &word, 0, (size_t)(part.right - part.left));
        }
    return 0;
}

/* Call add(arg, i, j, live) for square (i, j), once for each row of a tile with live cells in it.
 */
static int in_squares(struct sparse *s, const struct part *whole, unsigned zoom,
                      void (*add)(void *arg, size_t i, size_t j, unsigned live), void *arg)
{
    struct part part;
    if (sparse_to_host(s, false) < 0)
        return -1;
    for (int tile = 1; tile < s->pool.control[SPARSE_USED]; tile++)
        for (long long row = raster_intersects(s, tile, whole, &part) ? part.top : part.bottom;
             row < part.bottom; row++)
            for (long long from = part.left, end; from < part.right; from = end) {
                const size_t i = (size_t)(from - whole->left) >> zoom;
                const long long square = raster_end(whole->left, i + 1, zoom);
                end = square < part.right ? square : part.right;
                const uint64_t live = tile_row_cells(s, tile, row, from, end);
                if (live)
                    add(arg, i, (size_t)(row - whole->top) >> zoom,
                        (unsigned)__builtin_popcountll(live));
            }
    return 0;
}

struct counts {
    uint64_t *live;
    size_t width;
};

static void raster_count(void *counts, size_t i, size_t j, unsigned live)
{
    const struct counts *c = counts;
    c->live[j * c->width + i] += live;
}

int sparse_density(life *lf, long long x, long long y, size_t width, size_t height, unsigned zoom,
                   uint64_t *live)
{
    memset(live, 0, width * height * sizeof *live);
    return in_squares(lf->state,
                      &(struct part){x, y, raster_end(x, width, zoom), raster_end(y, height, zoom)},
                      zoom, raster_count, &(struct counts){live, width});
}

static void raster_set(void *cells, size_t i, size_t j, unsigned live)
{
    const struct life_cells *c = cells;
    (void)live;
    c->word[j * c->stride + i / 64] |= (uint64_t)1 << i % 64;
}

/* Convert squares to cells, saturated. */
static long long in_cells(long long squares, unsigned zoom)
{
    const long long most = LLONG_MAX >> zoom;
    return squares > most    ? LLONG_MAX
           : squares < -most ? -LLONG_MAX
                             : squares * ((long long)1 << zoom);
}

int sparse_zoomed(life *lf, unsigned zoom, long long x, long long y, struct life_cells *cells)
{
    for (size_t j = 0; j < cells->height; j++)
        memset(cells->word + j * cells->stride, 0, (cells->width + 63) / 64 * sizeof(uint64_t));
    const struct part whole = {in_cells(x, zoom), in_cells(y, zoom),
                               in_cells(x + (long long)cells->width, zoom),
                               in_cells(y + (long long)cells->height, zoom)};
    return in_squares(lf->state, &whole, zoom, raster_set, cells);
}

/* A bounding box in cells. */
struct tiles_box {
    long long left, top, right, bottom;
};

/* Extend the box by a tile's live cells. */
static void raster_widen(const struct sparse *s, int tile, struct tiles_box *box)
{
    const long long x = (long long)s->pool.place[2 * tile] * SPARSE_SIDE - SPARSE_HALO,
                    y = (long long)s->pool.place[2 * tile + 1] * SPARSE_SIDE;
    const uint64_t *row = sparse_rows(s, tile);
    uint64_t all = 0;
    int first = SPARSE_SIDE, last = 0;
    for (int i = 0; i < SPARSE_SIDE; i++)
        if (row[i]) {
            all |= row[i];
            first = i < first ? i : first;
            last = i;
        }
    if (!all)
        return;
    const long long left = x + __builtin_ctzll(all), right = x + 64 - __builtin_clzll(all);
    box->left = left < box->left ? left : box->left;
    box->right = right > box->right ? right : box->right;
    box->top = y + first < box->top ? y + first : box->top;
    box->bottom = y + last + 1 > box->bottom ? y + last + 1 : box->bottom;
}

int sparse_bounding_box(life *lf, struct life_box *box)
{
    struct sparse *s = lf->state;
    struct tiles_box b = {LLONG_MAX, LLONG_MAX, LLONG_MIN, LLONG_MIN};
    if (sparse_to_host(s, false) < 0)
        return -1;
    for (int tile = 1; tile < s->pool.control[SPARSE_USED]; tile++)
        raster_widen(s, tile, &b);
    if (b.left >= b.right)
        return 0;
    *box = (struct life_box){life_number_of(b.left), life_number_of(b.top), life_number_of(b.right),
                             life_number_of(b.bottom)};
    return 1;
}

int life_walk_tiles(life *lf,
                    int (*tile)(void *arg, long long x, long long y, const uint64_t row[48]),
                    void *arg)
{
    if (no_handle(lf, __func__))
        return -1;
    if (lf->engine != LIFE_SPARSE)
        return clerror_set(ENOTSUP,
                           "life_walk_tiles: the engine %s has no tiles; use the engine sparse",
                           life_engine_name(lf->engine));
    struct sparse *s = lf->state;
    if (sparse_to_host(s, false) < 0)
        return -1;
    for (int t = 1; t < s->pool.control[SPARSE_USED]; t++) {
        uint64_t row[SPARSE_SIDE], any = 0;
        for (int i = 0; i < SPARSE_SIDE; i++)
            any |= row[i] = sparse_rows(s, t)[i] >> SPARSE_HALO;
        if (any && tile(arg, (long long)s->pool.place[2 * t] * SPARSE_SIDE,
                        (long long)s->pool.place[2 * t + 1] * SPARSE_SIDE, row) != 0)
            return -1;
    }
    return 0;
}
