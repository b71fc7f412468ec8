/* local.cl - Life with a work-group's cells in local memory, so that each is read from global
 * memory once.
 *
 * The grid is the padded one of global.cl, whose kernels fill the ghosts. A group of GROUP_X x
 * GROUP_Y items first copies its cells and a halo one cell wide to local memory:
 *
 *      +-----------------+
 *      | h h h h h h h h |     GROUP_X + 2 cells wide, GROUP_Y + 2 high. There are more cells than
 *      | h +-----------+ h |   items: every item copies one cell, then the one GROUP_X * GROUP_Y
 *      | h |   cells   | h |   further on, until all are copied.
 *      | h +-----------+ h |
 *      | h h h h h h h h |     After the barrier a cell's nine reads are cheap.
 *      +-----------------+
 *
 * SPDX-License-Identifier: MIT
 */

#ifndef GROUP_X
#define GROUP_X 32
#endif
#ifndef GROUP_Y
#define GROUP_Y 8
#endif
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

#define TILE_X (GROUP_X + 2)
#define TILE_Y (GROUP_Y + 2)

/* A work-item has a cell; items beyond the grid help to copy. */
__attribute__((reqd_work_group_size(GROUP_X, GROUP_Y, 1))) __kernel void life_local(
    __global const int *from, __global int *to, int width, int height)
{
    __local int tile[TILE_Y * TILE_X];
    const int lx = (int)get_local_id(0), ly = (int)get_local_id(1);
    const long left = (long)get_group_id(0) * GROUP_X,
               top = (long)get_global_id(1) - ly; /* a launch may begin at any group */
    const long pitch = width + 2;

    for (int i = ly * GROUP_X + lx; i < TILE_X * TILE_Y; i += GROUP_X * GROUP_Y) {
        const long x = left + i % TILE_X, y = top + i / TILE_X;
        tile[i] = x < pitch && y < height + 2 ? from[y * pitch + x] : 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    const long x = left + lx + 1, y = top + ly + 1;
    if (x > width || y > height)
        return;
    __local const int *c = tile + (ly + 1) * TILE_X + lx + 1;
#ifdef TABLE
    int block = 0;
    for (int k = 0; k < 9; k++)
        block |= c[(k / 3 - 1) * TILE_X + k % 3 - 1] << k;
    to[y * pitch + x] = (int)(table[block / 32] >> block % 32 & 1);
#else
    const int neighbours = c[-TILE_X - 1] + c[-TILE_X] + c[-TILE_X + 1] + c[-1] + c[1] +
                           c[TILE_X - 1] + c[TILE_X] + c[TILE_X + 1];
    to[y * pitch + x] = ((*c ? SURVIVAL : BIRTH) >> neighbours) & 1;
#endif
}
