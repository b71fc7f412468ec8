/* density.c - number of live cells in each square of a rectangle: on the devices, or on the host
 * for engines without a kernel for it.
 * SPDX-License-Identifier: MIT
 */
#include "life/engine.h"

#include "core/handle.h"

#include <errno.h>
#include <string.h>

enum { MOST_ZOOM = 15, PLANE_ZOOM = 60 }; /* a square of a grid then has 2^30 cells */

/* Cells across n squares from `at` on; 0: none. */
static size_t density_side(size_t cells, bool around, size_t at, size_t n, unsigned zoom)
{
    const size_t room = around ? cells : cells - at;
    return n > room >> zoom ? room : n << zoom;
}

static int density_place(const life *lf, long long x, long long y, struct life_raster *q)
{
    const bool around = lf->bounds == LIFE_TORUS;
    const long long width = (long long)lf->width, height = (long long)lf->height;
    if (!around && (x < 0 || y < 0 || x >= width || y >= height))
        return clerror_set(EINVAL,
                           "life_density: %lld,%lld lies outside a plane of %zu x %zu cells", x, y,
                           lf->width, lf->height);
    q->x = (size_t)((x % width + width) % width);
    q->y = (size_t)((y % height + height) % height);
    q->across = density_side(lf->width, around, q->x, q->width, q->zoom);
    q->down = density_side(lf->height, around, q->y, q->height, q->zoom);
    const size_t most_width = (q->across + ((size_t)1 << q->zoom) - 1) >> q->zoom,
                 most_height = (q->down + ((size_t)1 << q->zoom) - 1) >> q->zoom;
    if (q->width == 0 || q->height == 0 || q->width > most_width || q->height > most_height)
        return clerror_set(
            EINVAL, "life_density: %zu x %zu squares of 2^%u cells do not fit a grid of %zu x %zu",
            q->width, q->height, q->zoom, lf->width, lf->height);
    return 0;
}

/* Count the nonzero cells of row y that this rank has. */
static void count_row(life *lf, const struct life_raster *q, size_t y, uint64_t *count)
{
    const uint64_t *row[LIFE_PLANES_MAX];
    for (unsigned k = 0; k < life_planes_of(lf); k++)
        row[k] = life_plane_row(lf, k, y);
    for (size_t i = 0; i < q->across; i++) {
        const size_t c = (q->x + i) % lf->width, word = c / 64 - lf->from;
        uint64_t live = 0;
        for (unsigned k = 0; k < life_planes_of(lf) && word < lf->own; k++)
            live |= row[k][word];
        count[i >> q->zoom] += live >> c % 64 & 1;
    }
}

static int density_on_host(life *lf, const struct life_raster *q, uint64_t *count)
{
    if (life_to_host(lf) < 0)
        return -1;
    for (size_t j = 0; j < q->down; j++) {
        const size_t y = (q->y + j) % lf->height;
        if (life_has_row(lf, y))
            count_row(lf, q, y, count + (j >> q->zoom) * q->width);
    }
    return 0;
}

/* Add the counts of two ranks. */
static void density_add(void *a, const void *b, void *n)
{
    for (size_t k = 0; k < *(const size_t *)n; k++)
        ((uint64_t *)a)[k] += ((const uint64_t *)b)[k];
}

int life_density(life *lf, long long x, long long y, size_t width, size_t height, unsigned zoom,
                 uint64_t *count)
{
    if (no_handle(lf, __func__))
        return -1;
    struct life_raster q = {.width = width, .height = height, .zoom = zoom};
    const unsigned most = lf->backend->density ? PLANE_ZOOM : MOST_ZOOM;
    if (zoom > most)
        return clerror_set(EINVAL,
                           "life_density: squares of 2^%u cells a side are too large; at most 2^%u",
                           zoom, most);
    if (lf->backend->density)
        return lf->backend->density(lf, x, y, width, height, zoom, count);
    if (density_place(lf, x, y, &q) < 0)
        return -1;
    memset(count, 0, width * height * sizeof *count);
    size_t n = width * height;
    if (!lf->backend->squares || life_in_blocks(lf)) {
        if (density_on_host(lf, &q, count) < 0)
            return -1;
    } else if (life_to_device(lf) < 0 || lf->backend->squares(lf, &q, count) < 0) {
        return -1;
    }
    return world_reduce(lf->world, count, n * sizeof *count, density_add, &n);
}
