/* rule_table.cl - rules with any number of states on the 3 x 3 neighbourhood: a byte a cell, a
 * cell a work-item.
 *
 *   PLACES   the rule is a tree (transitions.h): the state at the first of these places of the
 *            block chooses a branch, and so on
 *   TABLE    the rule is of Generations, or one of two that alternate: next states by the block's
 *            live cells (family.c), in words of 32 bits
 *
 *      0 1 2
 *      3 4 5     places of the block
 *      6 7 8
 *
 * SPDX-License-Identifier: MIT
 */

#ifndef STATES
#define STATES 3
#endif
#ifndef BOUNDS
#define BOUNDS 0 /* 0: torus; 1: plane; 2: another topology */
#endif
#ifndef EMPTY
#define EMPTY 0 /* next state of a dead cell among dead cells */
#endif
#if !defined(PLACES) && !defined(TABLE)
#define PLACES 1, 3, 5, 7, 4
#define ROOT 0
#endif

#ifndef LIFE_TOPOLOGY_H
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

/* State at a place, which may be beyond the edges. */
static uint table_state_at(__global const uchar *cells, long x, long y, const int width,
                           const int height, const ulong pitch, const int topology,
                           const long shift)
{
    if (x < 0 || y < 0 || x >= width || y >= height) {
        if (BOUNDS == 1)
            return 0;
        if (BOUNDS == 2) {
            topology_cell(topology, shift, width, height, &x, &y);
        } else {
            x = wrap_coordinate(x, width);
            y = wrap_coordinate(y, height);
        }
    }
    return cells[(ulong)y * pitch + (ulong)x];
}

static uint table_next_state(const uint *block, __global const uint *branch)
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
    return block[4] > 1 ? (block[4] + 1) % STATES : next ? 1 : block[4] && STATES > 2 ? 2 : 0;
#endif
}

__kernel void life_rule_table(__global const uchar *from, __global uchar *to,
                              __global const uint *branch, const int first, const int width,
                              const int height, const ulong pitch, const int topology,
                              const long shift)
{
    const int x = (int)get_global_id(0), y = first + (int)get_global_id(1);
    uint block[9], any = 0;
    if (x >= width || y >= height)
        return;
    for (int i = 0; i < 9; i++) {
        block[i] = table_state_at(from, (long)x + i % 3 - 1, (long)y + i / 3 - 1, width, height,
                                  pitch, topology, shift);
        any |= block[i];
    }
    to[(ulong)y * pitch + (ulong)x] = (uchar)(any ? table_next_state(block, branch) : EMPTY);
}
