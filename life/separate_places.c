/* separate_places.c - the places where cells of groups have been alive, as tiles of 8 x 8.
 * SPDX-License-Identifier: MIT
 */
#include "life/separate.h"

#include <stdlib.h>

/* Number of the first tile at a place, or NO_TILE. */
int32_t separate_tile_first(const struct separation *s, int32_t x, int32_t y)
{
    const uint32_t first = map_get(&s->place, (uint64_t)(uint32_t)x << 32 | (uint32_t)y);
    return first == MAP_NONE ? NO_TILE : (int32_t)first;
}

static int32_t tile_add(struct separation *s, int32_t x, int32_t y, int32_t first, uint32_t member)
{
    if (s->tiles == s->tile_room) {
        const size_t room = s->tile_room ? 2 * s->tile_room : 4096;
        struct tile *more = realloc(s->tile, room * sizeof *more);
        s->no_memory |= !more;
        if (!more)
            return NO_TILE;
        s->tile = more;
        s->tile_room = room;
    }
    const int32_t number = (int32_t)s->tiles;
    if (first == NO_TILE &&
        !map_put(&s->place, (uint64_t)(uint32_t)x << 32 | (uint32_t)y, (uint32_t)number)) {
        s->no_memory = true;
        return NO_TILE;
    }
    s->tile[s->tiles++] = (struct tile){.x = x, .y = y, .next = NO_TILE, .member = member};
    if (first != NO_TILE) {
        s->tile[number].next = s->tile[first].next;
        s->tile[first].next = number;
    }
    return number;
}

static int32_t tile_find(struct separation *s, int32_t x, int32_t y, size_t root)
{
    const int32_t first = separate_tile_first(s, x, y);
    for (int32_t i = first; i != NO_TILE; i = s->tile[i].next)
        if (identify_root(s->parent, s->tile[i].member) == root)
            return i;
    return tile_add(s, x, y, first, (uint32_t)root);
}

/* Cells of a row, bit x + 2 for column x, with all cells within two columns. */
static unsigned row_widened(unsigned row)
{
    return row | row << 1 | row << 2 | row << 3 | row << 4;
}

/* True if cells of tile b are within two columns and rows of cells of tile a, which is at most one
 * place away. */
bool separate_tiles_touch(const struct tile *a, const struct tile *b)
{
    const int right = TILE_SIDE * (b->x - a->x) + SEPARATE_NEAR, down = TILE_SIDE * (b->y - a->y);
    for (int y = 0; y < TILE_SIDE; y++) {
        const unsigned row = row_widened(a->cells >> TILE_SIDE * y & 0xff),
                       seen = (right < 0 ? row << -right : row >> right) & 0xff;
        for (int v = y - SEPARATE_NEAR - down; v <= y + SEPARATE_NEAR - down && seen; v++)
            if (v >= 0 && v < TILE_SIDE && (b->cells >> TILE_SIDE * v & seen))
                return true;
    }
    return false;
}

static void group_wake(struct separation *s, size_t root)
{
    s->group[root].left_out = false;
    s->left_out--;
    s->woken[s->wakes++] = (uint32_t)root;
}

/* Wake groups that are left out and were ever within two cells of a tile's cells. */
void separate_wake_near(struct separation *s, const struct tile *at, size_t root)
{
    for (int i = 0; i < 9 && s->left_out; i++)
        for (int32_t t = separate_tile_first(s, at->x - 1 + i % 3, at->y - 1 + i / 3); t != NO_TILE;
             t = s->tile[t].next) {
            const size_t other = identify_root(s->parent, s->tile[t].member);
            if (other != root && s->group[other].left_out && separate_tiles_touch(at, &s->tile[t]))
                group_wake(s, other);
        }
}

/* Note that a cell of a group is alive. */
void separate_note_cell(struct separation *s, const struct group_cell *c)
{
    const int32_t x = c->x >> 3, y = c->y >> 3;
    const size_t root = identify_root(s->parent, c->member);
    const uint64_t bit = (uint64_t)1 << (TILE_SIDE * (c->y & 7) + (c->x & 7));
    const struct tile *t = s->last == NO_TILE ? NULL : &s->tile[s->last];
    if (!t || t->x != x || t->y != y || identify_root(s->parent, t->member) != root)
        s->last = tile_find(s, x, y, root);
    if (s->last == NO_TILE || s->tile[s->last].cells & bit)
        return;
    s->tile[s->last].cells |= bit;
    if (s->left_out)
        separate_wake_near(s, &(struct tile){.cells = bit, .x = x, .y = y}, root);
}
