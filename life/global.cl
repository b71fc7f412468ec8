/* global.cl - Life as one would first write it: an int per cell, neighbours read from global
 * memory.
 *
 * The grid has a border of ghosts, one cell wide, so that no cell has to check for the edge. For a
 * 4 x 2 torus (letters are cells, the rest are ghosts):
 *
 *      h | e f g h | e         Before each generation, ghost rows are copied from the opposite
 *      --+---------+--         rows, then ghost columns, with the corners, from the opposite
 *      d | a b c d | a         columns. On a plane the ghosts stay 0.
 *      h | e f g h | e
 *      --+---------+--         Cell (x, y), both from 0, is at grid[(y + 1) * pitch + x + 1],
 *      d | a b c d | a         where pitch = width + 2.
 *
 * This is the version to read first, and the baseline of every comparison.
 * SPDX-License-Identifier: MIT
 */

/* The rule: bit n is the next state of a dead (live) cell with n live neighbours. */
#ifndef BIRTH
#define BIRTH 0x008
#endif
#ifndef SURVIVAL
#define SURVIVAL 0x00c
#endif
#ifdef TABLE /* the rule is a table of the 512 blocks of nine cells: bit i is the next state, the  \
                top left cell in the lowest bit of i */
__constant uint table[16] = TABLE;
#endif

/* A work-item has a column, without the ghost columns. */
__kernel void life_ghost_rows(__global int *grid, int width, int height)
{
    const int x = (int)get_global_id(0) + 1;
    const long pitch = width + 2;
    if (x > width)
        return;
    grid[x] = grid[height * pitch + x];
    grid[(height + 1) * pitch + x] = grid[pitch + x];
}

/* A work-item has a row, including the ghost rows, which sets the corners. */
__kernel void life_ghost_columns(__global int *grid, int width, int height)
{
    const long y = (long)get_global_id(0), pitch = width + 2;
    if (y > height + 1)
        return;
    grid[y * pitch] = grid[y * pitch + width];
    grid[y * pitch + width + 1] = grid[y * pitch + 1];
}

/* A work-item has a cell. */
__kernel void life_global(__global const int *from, __global int *to, int width, int height)
{
    const long x = (long)get_global_id(0) + 1, y = (long)get_global_id(1) + 1;
    const long pitch = width + 2, i = y * pitch + x;
    if (x > width || y > height)
        return;
#ifdef TABLE
    int block = 0;
    for (int k = 0; k < 9; k++)
        block |= from[i + (k / 3 - 1) * pitch + k % 3 - 1] << k;
    to[i] = (int)(table[block / 32] >> block % 32 & 1);
#else
    const int neighbours = from[i - pitch - 1] + from[i - pitch] + from[i - pitch + 1] +
                           from[i - 1] + from[i + 1] + from[i + pitch - 1] + from[i + pitch] +
                           from[i + pitch + 1];
    to[i] = ((from[i] ? SURVIVAL : BIRTH) >> neighbours) & 1;
#endif
}
