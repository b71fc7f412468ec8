/* topology.h - in front of kernels: the cell that a place beyond an edge stands for, where edges
 * are joined otherwise than a torus's.
 *
 *   how      what is joined, enum life_joint of internal.h, and by how much it is shifted
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_JOINED_H
#define LIFE_JOINED_H

enum { ROWS_SHIFTED, COLUMNS_SHIFTED, ROWS_TWISTED, COLUMNS_TWISTED, CROSS, SPHERE };

/* The remainder of a / n, from 0 up. */
static long around(const long a, const long n)
{
    const long r = a % n;
    return r < 0 ? r + n : r;
}

/* The cell that a place stands for; as life_joined_cell of grid.c. */
static void joined_cell(const int how, const long shift, const long width, const long height,
                        long *x, long *y)
{
    const bool beside = *x < 0 || *x >= width, over = *y < 0 || *y >= height;
    const long u = *x, v = *y;
    if (how == ROWS_SHIFTED || how == ROWS_TWISTED) {
        for (; *y < 0; *y += height)
            *x = how == ROWS_TWISTED ? width - 1 - shift - *x : *x - shift;
        for (; *y >= height; *y -= height)
            *x = how == ROWS_TWISTED ? width - 1 - shift - *x : *x + shift;
        *x = around(*x, width);
    } else if (how == COLUMNS_SHIFTED || how == COLUMNS_TWISTED) {
        for (; *x < 0; *x += width)
            *y = how == COLUMNS_TWISTED ? height - 1 - shift - *y : *y - shift;
        for (; *x >= width; *x -= width)
            *y = how == COLUMNS_TWISTED ? height - 1 - shift - *y : *y + shift;
        *y = around(*y, height);
    } else if (beside && over) { /* a corner is its own neighbour */
        *x = u < 0 ? 0 : width - 1;
        *y = v < 0 ? 0 : height - 1;
    } else if (beside) {
        *x = how == SPHERE ? v : u < 0 ? width - 1 : 0;
        *y = how == SPHERE ? (u < 0 ? 0 : height - 1) : height - 1 - v;
    } else if (over) {
        *x = how == SPHERE ? (v < 0 ? 0 : width - 1) : width - 1 - u;
        *y = how == SPHERE ? u : v < 0 ? height - 1 : 0;
    }
}

#endif
