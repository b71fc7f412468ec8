/* sparse.h - what the files of the engine "sparse" share.
 *
 *   sparse_tiles.h  tiles and lists of them, as kernels know them, too
 *   sparse_pool.c   their memory: on host and device, with more room, without empty ones; cells
 *                   that are put there
 *   sparse_look.c   rectangles, squares, the box of live cells
 *   sparse.c        options, kernels, generations
 *
 * The host has an image of all of it: after a step that of the device is newer, and after cells
 * were put, the host's.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_SPARSE_H
#define LIFE_SPARSE_H

#include "life/internal.h"
#include "life/sparse_tiles.h"
#include "stdcl/sparse.h"

enum { SPARSE_DEVICE = 0 };

enum sparse_newer { SPARSE_BOTH_ALIKE, SPARSE_HOST_NEWER, SPARSE_DEVICE_NEWER };

struct life_sparse {
    CLCONTEXT *ctx;
    struct life_family rule;
    struct sparse_pool pool; /* the host's image */
    size_t most;             /* tiles that memory has room for */
    size_t memory;           /* bytes of these */
    enum sparse_newer newer; /* `control` is alike after every call */
    bool awake; /* all tiles must be computed; else those that sleep have the same cells after
                   `rest` generations */
    unsigned rest;
    uint64_t generation, launches, computed;
    void *program;
    cl_kernel pass, passes, settle, wake, count; /* passes: NULL on devices that are not CPUs */
    size_t items, group, counters;               /* of `pass`; of `wake` and `count` */
    uint64_t *sums;
    struct pace pace; /* in tiles computed */
    int (*progress)(void *arg, double fraction);
    void *arg;
};

/* 0, or -1 for the event that stands for a failure. */
static inline int sparse_status(cl_event event)
{
    return event == (cl_event)-1 ? -1 : 0;
}

/* sparse_pool.c: bytes of a tile in all arrays; an empty pool; frees it; brings cells to the host
 * (`all`: everything else, too) or everything to the device; makes room for more tiles, and those
 * that are wanted (ENOMEM, ERANGE). */
size_t sparse_tile_bytes(void);
int sparse_pool_make(life_sparse *s);
void sparse_pool_free(life_sparse *s);
int sparse_to_host(life_sparse *s, bool all);
int sparse_to_device(life_sparse *s);
int sparse_make_room(life_sparse *s);

/* The column or row of the tile that has a cell. */
static inline long long sparse_tile_of(long long cell)
{
    return cell >= 0 ? cell / SPARSE_SIDE : -((-1 - cell) / SPARSE_SIDE) - 1;
}

/* The present rows of a tile. */
static inline const uint64_t *sparse_rows(const life_sparse *s, int tile)
{
    return s->pool.cells[s->pool.control[SPARSE_TURN]] + (size_t)tile * SPARSE_SIDE;
}

#endif
