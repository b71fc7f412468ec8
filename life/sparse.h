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
#include "life/family.h"
#include "life/sparse_tiles.h"
#include "stdcl/sparse.h"

enum { SPARSE_DEVICE = 0 };

enum sparse_newer { SPARSE_IN_SYNC, SPARSE_HOST_NEWER, SPARSE_DEVICE_NEWER };

struct life_sparse {
    CLCONTEXT *ctx;
    struct life_family rule;
    struct sparse_pool pool; /* the host's image */
    size_t max_tiles;        /* limit by memory */
    size_t memory;           /* bytes of max_tiles */
    enum sparse_newer newer; /* `control` is in sync after every call */
    bool all_active; /* all tiles must be computed; else sleeping tiles repeat after `period`
                        generations */
    unsigned period;
    uint64_t generation, launches, computed;
    void *program;
    cl_kernel pass, passes, create, activate, count; /* passes: NULL except on CPUs */
    size_t items, group, counters; /* sizes of `pass`; of `activate` and `count` */
    uint64_t *sums;
    struct pace pace; /* in tiles computed */
    int (*progress)(void *arg, double fraction);
    void *arg;
};

/* Return 0, or -1 for the event that stands for a failure. */
static inline int sparse_status(cl_event event)
{
    return event == (cl_event)-1 ? -1 : 0;
}

/* sparse_pool.c. Bytes of a tile in all arrays; create an empty pool; free it; download the cells
 * (`all`: all arrays) or upload all arrays; grow or compact the pool for the requested tiles
 * (ENOMEM, ERANGE). */
size_t sparse_tile_bytes(void);
int sparse_pool_make(life_sparse *s);
void sparse_pool_free(life_sparse *s);
int sparse_to_host(life_sparse *s, bool all);
int sparse_to_device(life_sparse *s);
int sparse_make_room(life_sparse *s);

/* Column or row of the tile that has a cell. */
static inline long long sparse_tile_of(long long cell)
{
    return cell >= 0 ? cell / SPARSE_SIDE : -((-1 - cell) / SPARSE_SIDE) - 1;
}

/* The current rows of a tile. */
static inline const uint64_t *sparse_rows(const life_sparse *s, int tile)
{
    return s->pool.cells[s->pool.control[SPARSE_CURRENT]] + (size_t)tile * SPARSE_SIDE;
}

#endif
