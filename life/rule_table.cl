/* rule_table.cl - rules of any number of states that look at the nearest neighbours, a byte a cell:
 * a work-item computes one.
 *
 *   PLACES   the rule is a tree (transitions.h): the state of the first of these places of the
 *            block of nine chooses a branch, and so on
 *   TABLE    the rule is of Generations: bits by the block's live cells (family.c), 32 a number
 *
 *      0 1 2
 *      3 4 5     the block, and its places
 *      6 7 8
 *
 * SPDX-License-Identifier: MIT
 */

#ifndef STATES
#define STATES 3
#endif
#ifndef BOUNDS
#define BOUNDS 0 /* 0: a torus; 1: a plane; 2: edges joined otherwise */
#endif
#ifndef EMPTY
#define EMPTY 0 /* what becomes of a dead cell among dead ones */
#endif
#if !defined(PLACES) && !defined(TABLE)
#define PLACES 1, 3, 5, 7, 4
#define ROOT 0
#endif

#ifndef LIFE_JOINED_H
#include "topology.h"
#endif
#ifndef LIFE_COUNT_BYTES_H
#include "count_bytes.h"
#endif

#ifdef PLACES
__constant uchar places[] = {PLACES};
#else
__constant uint table[16] = {TABLE};
#endif

/* The state of a place, also beyond the edges. */
static uint state_at(__global const uchar *cells, long x, long y, const int width, const int height,
                     const ulong pitch, const int how, const long shift)
{
    if (x < 0 || y < 0 || x >= width || y >= height) {
        if (BOUNDS == 1)
            return 0;
        if (BOUNDS == 2) {
            joined_cell(how, shift, width, height, &x, &y);
        } else {
            x = around(x, width);
            y = around(y, height);
        }
    }
    return cells[(ulong)y * pitch + (ulong)x];
}

static uint next_state(const uint *block, __global const uint *branch)
{
#ifdef PLACES
    uint at = ROOT;
    for (int i = 0; i < (int)sizeof(places); i++)
        at = branch[at + block[places[i]]];
    return at;
#else
    uint live = 0;
    for (int i = 0; i < 9; i++)
        live |= (uint)(block[i] == 1) << i;
    const uint next = table[live / 32] >> live % 32 & 1;
    return block[4] > 1 ? (block[4] + 1) % STATES : next ? 1 : block[4] ? 2 : 0;
#endif
}

__kernel void life_near(__global const uchar *from, __global uchar *to, __global const uint *branch,
                        const int first, const int width, const int height, const ulong pitch,
                        const int how, const long shift)
{
    const int x = (int)get_global_id(0), y = first + (int)get_global_id(1);
    uint block[9], any = 0;
    if (x >= width || y >= height)
        return;
    for (int i = 0; i < 9; i++) {
        block[i] = state_at(from, (long)x + i % 3 - 1, (long)y + i / 3 - 1, width, height, pitch,
                            how, shift);
        any |= block[i];
    }
    to[(ulong)y * pitch + (ulong)x] = (uchar)(any ? next_state(block, branch) : EMPTY);
}
