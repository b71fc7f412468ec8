/* sparse.h - internals of the engine "sparse".
 *
 *   sparse_tiles.h   tiles and lists of tiles, shared with kernels
 *   sparse_pool.c    their memory on host and device: growth, compaction; writing cells
 *   sparse_raster.c  rectangles, squares, the bounding box of live cells
 *   sparse.c         options, kernels, generations
 *
 * The host has an image of the device's arrays. After a step the device's copy is newer, after
 * cells were written the host's.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_SPARSE_H
#define LIFE_SPARSE_H

#include "core/pace.h"
#include "life/engine.h"
#include "life/sparse_tiles.h"

enum { SPARSE_DEVICE = 0 };

enum sparse_newer { SPARSE_IN_SYNC, SPARSE_HOST_NEWER, SPARSE_DEVICE_NEWER };

struct sparse {
    life *lf;                /* context, rule, generation, progress */
    struct sparse_pool pool; /* the host's image */
    size_t max_tiles;        /* limit by memory */
    size_t memory;           /* bytes of max_tiles */
    enum sparse_newer newer; /* `control` is in sync after every call */
    bool all_active; /* all tiles must be computed; else sleeping tiles repeat after `period`
                        generations */
    unsigned period;
    uint64_t computed; /* tiles */
    uint64_t began;    /* generation at the start of the call */
    void *program;
    cl_kernel pass, passes, create, activate, count; /* passes: NULL except on CPUs */
    size_t items, group, counters; /* sizes of `pass`; of `activate` and `count` */
    uint64_t *sums;
    struct pace pace; /* in tiles computed */
};

/* sparse_pool.c. Bytes of a tile in all arrays; create an empty pool; free it; download the cells
 * (`all`: all arrays) or upload all arrays; grow or compact the pool for the requested tiles
 * (ENOMEM, ERANGE). */
size_t sparse_tile_bytes(void);
int sparse_pool_make(struct sparse *s);
void sparse_pool_free(struct sparse *s);
int sparse_to_host(struct sparse *s, bool all);
int sparse_to_device(struct sparse *s);
int sparse_make_room(struct sparse *s);

/* Reset to an empty pool. */
void sparse_pool_clear(struct sparse *s);

/* The functions of struct life_backend: sparse_pool.c, sparse_raster.c. */
int sparse_put(life *lf, const struct life_window *w);
int sparse_get(life *lf, const struct life_window *w);
int sparse_density(life *lf, long long x, long long y, size_t width, size_t height, unsigned zoom,
                   uint64_t *live);
int sparse_zoomed(life *lf, unsigned zoom, long long x, long long y, struct life_cells *cells);
int sparse_bounding_box(life *lf, struct life_box *box);

/* Column or row of the tile that has a cell. */
static inline long long sparse_tile_of(long long cell)
{
    return cell >= 0 ? cell / SPARSE_SIDE : -((-1 - cell) / SPARSE_SIDE) - 1;
}

/* The current rows of a tile. */
static inline const uint64_t *sparse_rows(const struct sparse *s, int tile)
{
    return s->pool.cells[s->pool.control[SPARSE_CURRENT]] + (size_t)tile * SPARSE_SIDE;
}

#endif
