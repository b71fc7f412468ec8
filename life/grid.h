/* grid.h - bounded grids and their topologies (grid.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_GRID_H
#define LIFE_GRID_H

#include "stdcl/life.h"

/* How edges are identified where bounds are LIFE_JOINED; topology.h has the same numbers. SHIFTED
 * and TWISTED name the pair of edges that is shifted or reversed; the other pair is joined as on a
 * torus. A cross-surface reverses both pairs. A sphere joins the top row with the left column and
 * the bottom row with the right column. */
enum life_topology {
    LIFE_ROWS_SHIFTED,
    LIFE_COLUMNS_SHIFTED,
    LIFE_ROWS_TWISTED,
    LIFE_COLUMNS_TWISTED,
    LIFE_CROSS,
    LIFE_SPHERE
};
struct life_grid {
    size_t width, height;
    enum life_bounds bounds;
    enum life_topology topology;
    /* Shift in cells: of the row beyond the top to the left, or of the column beyond the left edge
     * upwards; 0 or 1 with a twist. */
    long shift;
};

/* Read and write a grid in Golly's notation, such as "T100,50" or "K30*+1,20". Reading fails with
 * EINVAL. */
int life_grid_read(const char *text, struct life_grid *grid);
void life_grid_write(const struct life_grid *grid, char text[LIFE_GRID_TEXT]);

/* Map a place beyond an edge to the cell it stands for, by topology.h. */
void life_topology_cell(const struct life_grid *grid, long *x, long *y);

/* All ones in the bits of a packed row's last word that are cells. */
static inline uint64_t life_last_mask(size_t width)
{
    return width % 64 ? ((uint64_t)1 << width % 64) - 1 : ~(uint64_t)0;
}

#endif
