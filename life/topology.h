/* topology.h - the cell that a place beyond an edge stands for, on topologies other than the torus;
 * for the host (grid.c) and for kernels.
 *
 *   topology   enum life_topology of grid.h
 *   shift      cells by which the edge is shifted
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_TOPOLOGY_H
#define LIFE_TOPOLOGY_H

#ifndef __OPENCL_C_VERSION__
#include <stdbool.h>
#endif

enum { ROWS_SHIFTED, COLUMNS_SHIFTED, ROWS_TWISTED, COLUMNS_TWISTED, CROSS, SPHERE };

/* a modulo n, not negative. */
static long wrap_coordinate(const long a, const long n)
{
    const long r = a % n;
    return r < 0 ? r + n : r;
}

/* Map a place beyond an edge to the cell it stands for. On a cross-surface and a sphere the place
 * must be adjacent to the edge. */
static void topology_cell(const int topology, const long shift, const long width, const long height,
                          long *x, long *y)
{
    const bool beside = *x < 0 || *x >= width, over = *y < 0 || *y >= height;
    const long u = *x, v = *y;
    if (topology == ROWS_SHIFTED || topology == ROWS_TWISTED) {
        for (; *y < 0; *y += height)
            *x = topology == ROWS_TWISTED ? width - 1 - shift - *x : *x - shift;
        for (; *y >= height; *y -= height)
            *x = topology == ROWS_TWISTED ? width - 1 - shift - *x : *x + shift;
        *x = wrap_coordinate(*x, width);
    } else if (topology == COLUMNS_SHIFTED || topology == COLUMNS_TWISTED) {
        for (; *x < 0; *x += width)
            *y = topology == COLUMNS_TWISTED ? height - 1 - shift - *y : *y - shift;
        for (; *x >= width; *x -= width)
            *y = topology == COLUMNS_TWISTED ? height - 1 - shift - *y : *y + shift;
        *y = wrap_coordinate(*y, height);
    } else if (beside && over) { /* a corner is its own neighbour */
        *x = u < 0 ? 0 : width - 1;
        *y = v < 0 ? 0 : height - 1;
    } else if (beside) {
        *x = topology == SPHERE ? v : u < 0 ? width - 1 : 0;
        *y = topology == SPHERE ? (u < 0 ? 0 : height - 1) : height - 1 - v;
    } else if (over) {
        *x = topology == SPHERE ? (v < 0 ? 0 : width - 1) : width - 1 - u;
        *y = topology == SPHERE ? u : v < 0 ? height - 1 : 0;
    }
}

#endif
