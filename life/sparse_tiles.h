/* sparse_tiles.h - tiles of a plane without edges, for the host and for sparse.cl alike.
 *
 * A tile has 48 x 48 cells of its own. Row r is a word, cells in bits 8 to 55, so that eight cells
 * of the tiles to the left and right fit beside them. The tiles around one have numbers:
 *
 *      0 1 2
 *      3   4      the opposite of d is 7 - d
 *      5 6 7
 *
 * Tile 0 is empty, and stands for every tile that there is not. A table finds tiles by their place,
 * in steps of a tile from the middle.
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
    SPARSE_HALO =
        8, /* the cells around a tile that a pass needs: it goes so many generations at most */
    SPARSE_NEAR = 8
};

/* Words of `control`. Lists and marks are two, of the present pass and of the next, by turns. */
enum {
    SPARSE_COUNT,     /* and the one after it: tiles in each list */
    SPARSE_WANTS = 2, /* tiles that need neighbours which there are not */
    SPARSE_USED,      /* tiles, the empty one included */
    SPARSE_TURN,      /* which cells, list and marks are the present ones */
    SPARSE_STOP,      /* why no pass can follow: see below */
    SPARSE_PASSES,    /* done since the host has set this to 0 */
    SPARSE_WORK,      /* tiles computed in them */
    SPARSE_CONTROL
};
enum { SPARSE_GO, SPARSE_FULL, SPARSE_FAR };

/* Tiles lie at most so many from the middle. */
#define SPARSE_FARTHEST 0x7ffffff0

#ifdef __OPENCL_C_VERSION__
typedef ulong sparse_word;
#else
typedef uint64_t sparse_word;
#endif

/* In arrays of `capacity` tiles. */
struct sparse_pool {
    SPARSE_MEMORY sparse_word *cells[2]; /* SPARSE_SIDE rows of each tile */
    SPARSE_MEMORY int *near;             /* SPARSE_NEAR tiles around each */
    SPARSE_MEMORY int *place;            /* x, y */
    SPARSE_MEMORY int *mark;             /* of each list: the tile is there */
    SPARSE_MEMORY int *list;             /* two, one behind the other */
    SPARSE_MEMORY int *want, *missing;   /* a list of tiles; of each of them the neighbours that are
                                            wanted, bits by number */
    SPARSE_MEMORY int *table;            /* mask + 1 entries, a power of two; 0: free */
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

/* The entry of the table that has a tile, or is free for it (mixed by the finalizer of MurmurHash3,
 * A. Appleby). */
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

/* Puts a tile on a list, once; for one item alone. */
static inline void sparse_wake(const struct sparse_pool *p, int tile, int list)
{
    SPARSE_MEMORY int *marked = p->mark + 2 * tile + list;
    if (!*marked)
        p->list[list * p->capacity + p->control[SPARSE_COUNT + list]++] = tile;
    *marked = 1;
}

/* A tile at a place, where there may be none yet, on a list. */
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
    for (int d = 0; d < SPARSE_NEAR; d++) {
        const int other = p->table[sparse_entry(p, x + sparse_dx(d), y + sparse_dy(d))];
        p->near[SPARSE_NEAR * tile + d] = other;
        if (other)
            p->near[SPARSE_NEAR * other + SPARSE_NEAR - 1 - d] = tile;
    }
    sparse_wake(p, tile, list);
    return tile;
}

/* Makes the tiles that are wanted, for a list. Those for which there is no room, or no place, stay
 * wanted. */
static inline void sparse_settle(const struct sparse_pool *p, int list)
{
    int left = 0;
    for (int i = 0; i < p->control[SPARSE_WANTS]; i++) {
        const int tile = p->want[i];
        int stop = SPARSE_GO;
        for (int d = 0; d < SPARSE_NEAR && !stop; d++) {
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
            p->want[left++] = tile;
        }
    }
    p->control[SPARSE_WANTS] = left;
}

#endif
