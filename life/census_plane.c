/* census_plane.c - cells and tiles of the plane of a soup (census_plane.h).
 * SPDX-License-Identifier: MIT
 */
#include "life/census_plane.h"

#include <stdlib.h>
#include <string.h>

bool census_plane_make(struct census_plane *p)
{
    memset(p, 0, sizeof *p);
    p->dirty = &p->tiles[0];
    p->dirty_next = &p->tiles[1];
    bool made = true;
    for (int i = 0; i < PLANE_COPIES; i++) {
        p->copy[i] = calloc((size_t)PLANE_STRIPS * PLANE_STRIDE, sizeof *p->copy[i]);
        made &= p->copy[i] != NULL;
    }
    for (int i = 0; i < 2; i++) {
        p->batch[i] = calloc(PLANE_BATCH + 2 * PLANE_PAD, sizeof *p->batch[i]);
        made &= p->batch[i] != NULL;
    }
    return made;
}

void census_plane_free(struct census_plane *p)
{
    for (int i = 0; i < PLANE_COPIES; i++)
        free(p->copy[i]);
    free(p->batch[0]);
    free(p->batch[1]);
    *p = (struct census_plane){.half = 0};
}

/* ---- Tiles. ---------------------------------------------------------------------------------- */

/* Call for each used tile: `body` with the offset of its first word as `at`. */
#define FOR_USED_TILES(p, at, body)                                                                \
    for (int strip = (p)->strip_low; strip <= (p)->strip_high; strip++)                            \
        for (int m = (p)->mask_low; m <= (p)->mask_high; m++)                                      \
            for (uint64_t used = (p)->used[strip][m]; used; used &= used - 1) {                    \
                const size_t at = (size_t)strip * PLANE_STRIDE +                                   \
                                  (size_t)(64 * m + __builtin_ctzll(used)) * PLANE_TILE;           \
                body;                                                                              \
            }

static void tile_set(plane_tiles *tiles, int strip, int tile)
{
    (*tiles)[strip][tile / 64] |= (uint64_t)1 << tile % 64;
}

void census_plane_clear(struct census_plane *p, int half)
{
    const size_t size = PLANE_TILE * sizeof(uint32_t);
    FOR_USED_TILES(p, at, for (int i = 0; i < PLANE_COPIES; i++) memset(p->copy[i] + at, 0, size))
    memset(p->used, 0, sizeof p->used);
    memset(p->tiles, 0, sizeof p->tiles);
    p->busy[0] = p->busy[1] = 0;
    census_plane_box(p, half);
}

void census_plane_box(struct census_plane *p, int half)
{
    p->half = half;
    p->strip_low = (PLANE_X - half + PLANE_STEP - 1) / PLANE_COLUMNS;
    p->strip_high = (PLANE_X + half - PLANE_STEP) / PLANE_COLUMNS;
    p->tile_low = (PLANE_Y - half + PLANE_STEP - 1) / PLANE_TILE;
    p->tile_high = (PLANE_Y + half - PLANE_STEP) / PLANE_TILE;
    p->mask_low = (p->tile_low - 1) / 64;
    p->mask_high = (p->tile_high + 1) / 64;
    p->touched = false;
}

/* Make a tile dirty, with its neighbours. */
static void tile_wake(struct census_plane *p, int strip, int tile)
{
    for (int s = strip - 1; s <= strip + 1; s++) {
        if (s == 0 || s == PLANE_STRIPS - 1)
            continue; /* always dead; a step would read beyond the plane */
        for (int t = tile - 1; t <= tile + 1; t++)
            tile_set(p->dirty, s, t);
        p->busy[s / 64] |= (uint64_t)1 << s % 64;
    }
}

void census_plane_wake(struct census_plane *p){
    FOR_USED_TILES(p, at, tile_wake(p, strip, (int)(at % PLANE_STRIDE / PLANE_TILE)))}

/* ---- Cells. ---------------------------------------------------------------------------------- */

uint64_t census_plane_row(const struct census_plane *p, enum plane_copy copy, int x, int y)
{
    const int column = x + PLANE_X, row = y + PLANE_Y;
    uint64_t cells = 0;
    if (row < 0 || row >= PLANE_ROWS)
        return 0;
    int strip = column < 0 ? 0 : column / PLANE_COLUMNS;
    for (int at = strip * PLANE_COLUMNS - column; at < 64 && strip < PLANE_STRIPS;
         at += PLANE_COLUMNS, strip++) {
        const uint64_t word =
            p->copy[copy][(size_t)strip * PLANE_STRIDE + (size_t)row] >> PLANE_STEP;
        cells |= at < 0 ? word >> -at : word << at;
    }
    return cells;
}

/* How plane_change changes cells. */
enum change { MAKE_ALIVE, MAKE_DEAD, REMOVE };

static void plane_change(struct census_plane *p, enum plane_copy copy, int x, int y, uint64_t cells,
                         enum change change)
{
    const int column = x + PLANE_X, row = y + PLANE_Y;
    int strip = column / PLANE_COLUMNS;
    for (int at = strip * PLANE_COLUMNS - column; at < 64; at += PLANE_COLUMNS, strip++) {
        const uint64_t bits = at < 0 ? cells << -at : cells >> at;
        const uint32_t here = (uint32_t)(bits << PLANE_STEP) & PLANE_CELLS;
        if (!here)
            continue;
        uint32_t *word = p->copy[copy] + (size_t)strip * PLANE_STRIDE + (size_t)row;
        *word = change == MAKE_ALIVE ? *word | here : *word & ~here;
        if (change == REMOVE)
            continue;
        tile_set(&p->used, strip, row / PLANE_TILE);
        tile_wake(p, strip, row / PLANE_TILE);
    }
}

void census_plane_put(struct census_plane *p, int x, int y, uint64_t cells)
{
    plane_change(p, PLANE_NOW, x, y, cells, MAKE_ALIVE);
}

void census_plane_kill(struct census_plane *p, int x, int y, uint64_t cells)
{
    plane_change(p, PLANE_NOW, x, y, cells, MAKE_DEAD);
}

void census_plane_remove(struct census_plane *p, enum plane_copy copy, int x, int y, uint64_t cells)
{
    plane_change(p, copy, x, y, cells, REMOVE);
}

bool census_plane_find(const struct census_plane *p, enum plane_copy copy, int *strip, int *x,
                       int *y)
{
    for (*strip = *strip > p->strip_low ? *strip : p->strip_low; *strip <= p->strip_high; ++*strip)
        for (int m = p->mask_low; m <= p->mask_high; m++)
            for (uint64_t used = p->used[*strip][m]; used; used &= used - 1) {
                const int tile = 64 * m + __builtin_ctzll(used);
                const uint32_t *word =
                    p->copy[copy] + (size_t)*strip * PLANE_STRIDE + (size_t)(tile * PLANE_TILE);
                for (int i = 0; i < PLANE_TILE; i++)
                    if (word[i]) {
                        *x = *strip * PLANE_COLUMNS - PLANE_X + __builtin_ctz(word[i]) - PLANE_STEP;
                        *y = tile * PLANE_TILE + i - PLANE_Y;
                        return true;
                    }
            }
    return false;
}

/* Columns of a strip that are near the western or the eastern edge. */
static uint32_t edge_columns(const struct census_plane *p, int strip)
{
    const int x = strip * PLANE_COLUMNS - PLANE_X, west = PLANE_STEP - p->half - x,
              east = p->half - PLANE_STEP - x;
    const uint32_t all = PLANE_CELLS >> PLANE_STEP,
                   near_west = west <= 0               ? 0
                               : west >= PLANE_COLUMNS ? all
                                                       : all >> (PLANE_COLUMNS - west),
                   near_east = east <= 0               ? all
                               : east >= PLANE_COLUMNS ? 0
                                                       : all >> east << east;
    return (near_west | near_east) << PLANE_STEP;
}

/* Find a live cell near the edge in a tile. */
static bool tile_touches(const struct census_plane *p, int strip, int tile, int *x, int *y)
{
    const uint32_t columns = edge_columns(p, strip);
    for (int row = tile * PLANE_TILE; row < (tile + 1) * PLANE_TILE; row++) {
        const int inside = p->half - PLANE_STEP;
        const bool outer = row - PLANE_Y < -inside || row - PLANE_Y >= inside;
        const uint32_t live = p->copy[PLANE_NOW][(size_t)strip * PLANE_STRIDE + (size_t)row] &
                              (outer ? PLANE_CELLS : columns);
        if (!live)
            continue;
        *x = strip * PLANE_COLUMNS - PLANE_X + __builtin_ctz(live) - PLANE_STEP;
        *y = row - PLANE_Y;
        return true;
    }
    return false;
}

bool census_plane_touches(const struct census_plane *p, int *x, int *y)
{
    for (int strip = p->strip_low; strip <= p->strip_high; strip++) {
        const bool side = strip <= p->strip_low || strip >= p->strip_high;
        for (int m = p->mask_low; m <= p->mask_high && p->busy[strip / 64] >> strip % 64 & 1; m++)
            for (uint64_t dirty = (*p->dirty)[strip][m]; dirty; dirty &= dirty - 1) {
                const int tile = 64 * m + __builtin_ctzll(dirty);
                if ((side || tile <= p->tile_low || tile >= p->tile_high) &&
                    tile_touches(p, strip, tile, x, y))
                    return true;
            }
    }
    return false;
}

/* ---- Copies. --------------------------------------------------------------------------------- */

void census_plane_save(struct census_plane *p, enum plane_copy to)
{
    const size_t size = PLANE_TILE * sizeof(uint32_t);
    FOR_USED_TILES(p, at, memcpy(p->copy[to] + at, p->copy[PLANE_NOW] + at, size))
}

bool census_plane_equals(const struct census_plane *p, enum plane_copy copy)
{
    const size_t size = PLANE_TILE * sizeof(uint32_t);
    FOR_USED_TILES(p, at,
                   if (memcmp(p->copy[copy] + at, p->copy[PLANE_NOW] + at, size) != 0) return false)
    return true;
}

void census_plane_unite(struct census_plane *p, enum plane_copy with)
{
    FOR_USED_TILES(p, at,
                   for (size_t i = at; i < at + PLANE_TILE; i++) p->copy[with][i] |=
                   p->copy[PLANE_NOW][i])
}
