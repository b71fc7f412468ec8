/* life_tiles.c - sparse cells of an unbounded plane: tiles of 64 x 64 cells in a hash table.
 * SPDX-License-Identifier: MIT
 */
#include "formats/life_format.h"

#include "stdcl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 64 };

static size_t tiles_hash(long long x, long long y)
{
    uint64_t h = ((uint64_t)x * 0x9e3779b97f4a7c15u) ^ ((uint64_t)y * 0xff51afd7ed558ccdu);
    return (size_t)(h ^ h >> 29);
}

static size_t tiles_place_of(const struct life_tiles *t, long long x, long long y)
{
    size_t at = tiles_hash(x, y) & (t->places - 1);
    while (t->place[at] && (t->tile[t->place[at] - 1].x != x || t->tile[t->place[at] - 1].y != y))
        at = (at + 1) & (t->places - 1);
    return at;
}

static size_t tile_bytes(const struct life_tiles *t)
{
    return sizeof *t->tile + (t->states ? TILE * TILE : 0);
}

static bool tiles_grow(struct life_tiles *t)
{
    const size_t room = t->n ? 2 * t->n : 64, each = tile_bytes(t) + 4 * sizeof *t->place;
    struct life_tile *tile =
        (double)room * (double)each <= t->most ? realloc(t->tile, room * sizeof *tile) : NULL;
    t->tile = tile ? tile : t->tile;
    free(t->place);
    t->places = 4 * room;
    t->place = tile ? calloc(t->places, sizeof *t->place) : NULL;
    t->full = !t->place;
    for (size_t i = 0; i < t->n && t->place; i++)
        t->place[tiles_place_of(t, tile[i].x, tile[i].y)] = (uint32_t)(i + 1);
    return !t->full;
}

/* The tile at a position; NULL: out of memory. */
static struct life_tile *tiles_tile_at(struct life_tiles *t, long long x, long long y)
{
    if (t->full || (4 * t->n >= t->places && !tiles_grow(t)))
        return NULL;
    const size_t at = tiles_place_of(t, x, y);
    if (!t->place[at]) {
        t->tile[t->n] = (struct life_tile){.x = x, .y = y};
        if (t->states && !(t->tile[t->n].state = calloc(TILE, TILE))) {
            t->full = true;
            return NULL;
        }
        t->place[at] = (uint32_t)++t->n;
    }
    return &t->tile[t->place[at] - 1];
}

/* A run that needs more memory than allowed is refused at once, not after minutes. */
void life_tiles_run(struct life_tiles *t, long long x, long long y, long long n, unsigned state)
{
    if ((double)n / TILE * (double)tile_bytes(t) > t->most)
        t->full = true;
    while (n > 0) {
        const long long in = x & 63, here = 64 - in < n ? 64 - in : n;
        struct life_tile *tile = tiles_tile_at(t, x - in, y - (y & 63));
        if (!tile)
            return;
        tile->row[y & 63] |= (here < 64 ? ((uint64_t)1 << here) - 1 : ~(uint64_t)0) << in;
        if (tile->state)
            memset(tile->state + (y & 63) * TILE + in, (int)state, (size_t)here);
        x += here;
        n -= here;
    }
}

void life_tiles_free(struct life_tiles *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->tile[i].state);
    free(t->tile);
    free(t->place);
    *t = (struct life_tiles){.n = 0};
}
