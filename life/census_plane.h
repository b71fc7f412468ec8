/* census_plane.h - the plane of one soup on the host: tiles of bits. Only changing tiles are
 * computed.
 *
 * The plane is cut into strips of 24 columns. A row of a strip is a word of 32 bits: its 24 cells,
 * with 4 dead bits on either side for copies of the neighbouring strips' cells during a step. The
 * words of a strip are consecutive, so a vector holds rows. Eight rows of a strip are a tile.
 *
 *        strip s        strip s+1                        word of a row
 *     +------------+------------+               +----+------------------------+----+
 *     |   tile     |            | 8 rows        |  4 | 24 cells, west to east  |  4 |
 *     +------------+------------+               +----+------------------------+----+
 *     |   tile     |            |             bit 0                               31
 *
 * A step is four generations. It computes the dirty tiles: tiles that changed during the previous
 * step, and the neighbours that their changed cells reach within four generations. All other tiles
 * are equal before and after a step: still lifes, and oscillators of period 2 and 4.
 * A plane without dirty tiles is therefore periodic.
 *
 * Coordinates are relative to the middle of the plane. The box is a square around the middle, as in
 * census.cl: all cells beyond its edges, `half` cells away, are dead.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_CENSUS_PLANE_H
#define LIFE_CENSUS_PLANE_H

#include "life/circuit_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PLANE_STEP = 4,     /* generations of a step, and dead bits on either side of a word */
    PLANE_COLUMNS = 24, /* of a strip */
    PLANE_TILE = 8,     /* rows of a tile */
    PLANE_HALF = 1024,  /* of the largest box */
    PLANE_STRIPS = 89,  /* the first and the last are always dead */
    PLANE_ROWS = 2560,
    PLANE_STRIDE = PLANE_ROWS + 16, /* words between strips; an odd number of cache lines */
    PLANE_MASKS = PLANE_ROWS / (64 * PLANE_TILE), /* of 64 tiles each, in a strip */
    PLANE_X = PLANE_STRIPS / 2 * PLANE_COLUMNS + PLANE_COLUMNS / 2,
    PLANE_Y = PLANE_ROWS / 2, /* the middle: column and row */
    PLANE_BATCH = 2048,       /* rows that are computed together */
    PLANE_PAD = 16            /* rows around a batch: a vector */
};
#define PLANE_CELLS (((UINT32_C(1) << PLANE_COLUMNS) - 1) << PLANE_STEP) /* of a word */

/* Which of the plane's copies: the present, the step's result, and two for the caller. */
enum plane_copy { PLANE_NOW, PLANE_NEXT, PLANE_MARK, PLANE_EVER, PLANE_COPIES };

typedef uint64_t plane_tiles[PLANE_STRIPS][PLANE_MASKS]; /* a bit for each tile */

struct census_plane {
    uint32_t *copy[PLANE_COPIES];    /* of PLANE_STRIPS * PLANE_STRIDE words */
    plane_tiles *dirty, *dirty_next; /* tiles of this step and of the next one */
    plane_tiles tiles[2], used;      /* used: tiles that may have been alive */
    uint64_t busy[2];                /* strips with dirty tiles, a bit each */
    int half;
    /* Tiles with cells near an edge are the tiles of these strips, and those outside. */
    int strip_low, strip_high, tile_low, tile_high;
    int mask_low, mask_high; /* masks with tiles of the box and their neighbours */
    bool touched;            /* a cell in such a tile has changed since it was last cleared */
    uint32_t *batch[2];      /* of PLANE_BATCH rows and two pads */
};

/* The next states of cells. Outer-totalistic rules: a cell of a block with t live cells, itself
 * included, lives next if next[t][alive] is all ones. Other rules have a circuit. */
struct plane_rule {
    bool life; /* B3/S23 */
    uint32_t next[10][2];
    const struct circuit_code *code; /* NULL: the rule is outer-totalistic */
    circuit_rows *rows;              /* evaluates `code` */
};

bool census_plane_make(struct census_plane *p);
void census_plane_free(struct census_plane *p);

/* Kill all cells, and set the box. */
void census_plane_clear(struct census_plane *p, int half);
void census_plane_box(struct census_plane *p, int half);

/* Return 64 cells of a row from column x on. */
uint64_t census_plane_row(const struct census_plane *p, enum plane_copy copy, int x, int y);

/* Set `cells` of a row alive in the present, or dead, from column x on. census_plane_remove does
 * not make tiles dirty. */
void census_plane_put(struct census_plane *p, int x, int y, uint64_t cells);
void census_plane_kill(struct census_plane *p, int x, int y, uint64_t cells);
void census_plane_remove(struct census_plane *p, enum plane_copy copy, int x, int y,
                         uint64_t cells);

/* Find a live cell of a copy, in tiles from *strip on, which is advanced. */
bool census_plane_find(const struct census_plane *p, enum plane_copy copy, int *strip, int *x,
                       int *y);

/* Make all used tiles dirty, for steps of another number of generations. */
void census_plane_wake(struct census_plane *p);

/* Copy the present; compare it with a copy; add its live cells to a copy. */
void census_plane_save(struct census_plane *p, enum plane_copy to);
bool census_plane_equals(const struct census_plane *p, enum plane_copy copy);
void census_plane_unite(struct census_plane *p, enum plane_copy with);

/* Find a live cell within four cells of the box's edge, among cells that have just changed. */
bool census_plane_touches(const struct census_plane *p, int *x, int *y);

/* Compute 1 or 4 generations of the dirty tiles. Return false if no tile is dirty afterwards. Call
 * census_plane_wake between steps of different lengths. */
typedef bool plane_step(struct census_plane *p, const struct plane_rule *rule, int generations);
plane_step census_plane_step_any, census_plane_step_avx2, census_plane_step_avx512;

#endif
