/* sparse_tiles.h - tiles of an unbounded plane, for the host and for sparse.cl.
 *
 * A tile has 48 x 48 cells of its own. Row r is a word with its cells in bits 8 to 55, which
 * leaves room for eight cells of the tiles to the left and right. Neighbours of a tile are
 * numbered:
 *
 *      0 1 2
 *      3   4      the opposite of d is 7 - d
 *      5 6 7
 *
 * Tile 0 is empty, and stands for every missing tile. A hash table finds tiles by their place, in
 * units of a tile from the middle.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_SPARSE_TILES_H
#define LIFE_SPARSE_TILES_H

#ifdef __OPENCL_C_VERSION__
#define SPARSE_MEMORY __global
#else
#include <stddef.h>
#include <stdint.h>
#define SPARSE_MEMORY
#endif

enum {
    SPARSE_SIDE = 48,
    SPARSE_HALO = 8, /* halo of a tile, and generations of a pass */
    SPARSE_NEIGHBOURS = 8
};

/* Words of `control`. Lists and marks are double-buffered, for the current pass and the next. */
enum {
    SPARSE_COUNT,        /* two words: tiles in each list */
    SPARSE_REQUESTS = 2, /* tiles that request missing neighbours */
    SPARSE_USED,         /* tiles, including the empty one */
    SPARSE_CURRENT,      /* index of the current cells, list and marks */
    SPARSE_STOP,         /* reason why no pass can follow: see below */
    SPARSE_PASSES,       /* passes done since the host reset it */
    SPARSE_WORK,         /* tiles computed in these passes */
    SPARSE_CONTROL
};
enum { SPARSE_GO, SPARSE_FULL, SPARSE_FAR };

/* Greatest distance of a tile from the middle. */
#define SPARSE_FARTHEST 0x7ffffff0

#ifdef __OPENCL_C_VERSION__
typedef ulong sparse_word;
#else
typedef uint64_t sparse_word;
#endif

/* Arrays of `capacity` tiles. */
struct sparse_pool {
    SPARSE_MEMORY sparse_word *cells[2]; /* SPARSE_SIDE rows of each tile */
    SPARSE_MEMORY int *neighbour;        /* SPARSE_NEIGHBOURS tiles around each */
    SPARSE_MEMORY int *place;            /* x, y */
    SPARSE_MEMORY int *mark;             /* for each list: 1 if the tile is on it */
    SPARSE_MEMORY int *list;             /* two lists, contiguous */
    SPARSE_MEMORY int *request,
        *missing; /* a list of tiles; for each tile the neighbours it requests, a bit each */
    SPARSE_MEMORY int *table; /* mask + 1 entries, a power of two; 0: free */
    SPARSE_MEMORY int *control;
    int capacity;
    unsigned mask;
};

static inline int sparse_dx(int d)
{
    return d < 3 ? d - 1 : d < 5 ? 2 * d - 7 : d - 6;
}

static inline int sparse_dy(int d)
{
    return d < 3 ? -1 : d < 5 ? 0 : 1;
}

/* The entry of the table that has a tile, or is free for it. The hash ends with the finalizer of
 * MurmurHash3 (A. Appleby). */
static inline unsigned sparse_entry(const struct sparse_pool *p, int x, int y)
{
    unsigned at = (unsigned)x * 0x9e3779b1u ^ (unsigned)y * 0x85ebca77u;
    at = (at ^ at >> 16) * 0x85ebca6bu;
    at = (at ^ at >> 13) * 0xc2b2ae35u;
    at = (at ^ at >> 16) & p->mask;
    for (int tile; (tile = p->table[at]) != 0; at = (at + 1) & p->mask)
        if (p->place[2 * tile] == x && p->place[2 * tile + 1] == y)
            break;
    return at;
}

/* Put a tile on a list, once. Not thread-safe. */
static inline void sparse_activate(const struct sparse_pool *p, int tile, int list)
{
    SPARSE_MEMORY int *marked = p->mark + 2 * tile + list;
    if (!*marked)
        p->list[list * p->capacity + p->control[SPARSE_COUNT + list]++] = tile;
    *marked = 1;
}

/* Find or create the tile at a place, and put it on a list. */
static inline int sparse_make(const struct sparse_pool *p, int x, int y, int list)
{
    const unsigned entry = sparse_entry(p, x, y);
    if (p->table[entry])
        return p->table[entry];
    const int tile = p->control[SPARSE_USED]++;
    p->table[entry] = tile;
    p->place[2 * tile] = x;
    p->place[2 * tile + 1] = y;
    p->mark[2 * tile] = p->mark[2 * tile + 1] = 0;
    for (size_t i = (size_t)tile * SPARSE_SIDE; i < ((size_t)tile + 1) * SPARSE_SIDE; i++)
        p->cells[0][i] = p->cells[1][i] = 0;
    for (int d = 0; d < SPARSE_NEIGHBOURS; d++) {
        const int other = p->table[sparse_entry(p, x + sparse_dx(d), y + sparse_dy(d))];
        p->neighbour[SPARSE_NEIGHBOURS * tile + d] = other;
        if (other)
            p->neighbour[SPARSE_NEIGHBOURS * other + SPARSE_NEIGHBOURS - 1 - d] = tile;
    }
    sparse_activate(p, tile, list);
    return tile;
}

/* Create the requested tiles and put them on a list. Requests that cannot be met, for lack of room
 * or beyond the plane, remain. */
static inline void sparse_create_requested(const struct sparse_pool *p, int list)
{
    int left = 0;
    for (int i = 0; i < p->control[SPARSE_REQUESTS]; i++) {
        const int tile = p->request[i];
        int stop = SPARSE_GO;
        for (int d = 0; d < SPARSE_NEIGHBOURS && !stop; d++) {
            const int x = p->place[2 * tile] + sparse_dx(d),
                      y = p->place[2 * tile + 1] + sparse_dy(d);
            if (!(p->missing[tile] >> d & 1))
                continue;
            stop = x < -SPARSE_FARTHEST || x > SPARSE_FARTHEST || y < -SPARSE_FARTHEST ||
                           y > SPARSE_FARTHEST
                       ? SPARSE_FAR
                   : p->control[SPARSE_USED] == p->capacity ? SPARSE_FULL
                                                            : SPARSE_GO;
            if (!stop)
                sparse_make(p, x, y, list);
        }
        if (stop) {
            p->control[SPARSE_STOP] = stop;
            p->request[left++] = tile;
        }
    }
    p->control[SPARSE_REQUESTS] = left;
}

#endif
