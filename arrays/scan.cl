/* scan.cl - prefix sums of an array of unsigned integers: three launches, two reads and one write of each element.
 *
 *     x       | share 0 | share 1 | share 2 |
 *     carry   |    s0   |    s1   |    s2   |        1. scan_sums: each group adds up its share
 *     carry   |    0    |    s0   | s0 + s1 |        2. scan_carry: one group scans those, the total falls out
 *     sums    | 0 x0 .. | s0 ...  |                  3. scan_write: each group scans its share, from its carry on
 *
 * Tiles and shares: tiles.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_TILES_H
#include "tiles.h"
#endif

SCAN_GROUP(NUMBER)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
scan_sums(__global NUMBER *carry, __global const NUMBER *x, uint most, int counted, __global const uint *count)
{
    __local NUMBER room[2 * GROUP];
    const uint n = number_of(most, counted, count), shares = shares_of(n, get_num_groups(0)), g = get_group_id(0);
    if (g >= shares)
        return;
    const uint end = share_start(n, shares, g + 1);
    NUMBER sum = 0, all;
    for (uint i = share_start(n, shares, g) + get_local_id(0); i < end; i += GROUP)
        sum += x[i];
    scan_NUMBER(room, sum, &all);
    if (get_local_id(0) == 0)
        carry[g] = all;
}

/* One group. `groups` is how many the other two have. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
scan_carry(__global NUMBER *carry, uint groups, __global NUMBER *total, int wanted, uint most, int counted,
           __global const uint *count)
{
    __local NUMBER room[2 * GROUP];
    const uint shares = shares_of(number_of(most, counted, count), groups);
    NUMBER before = 0, all;
    for (uint first = 0; first < shares; first += GROUP) {
        const uint g = first + get_local_id(0);
        const NUMBER sum = scan_NUMBER(room, g < shares ? carry[g] : 0, &all);
        if (g < shares)
            carry[g] = before + sum;
        before += all;
    }
    if (wanted && get_local_id(0) == 0)
        *total = before;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
scan_write(__global NUMBER *sums, __global const NUMBER *x, __global const NUMBER *carry, uint most, int counted,
           __global const uint *count)
{
    __local NUMBER room[2 * GROUP];
    const uint n = number_of(most, counted, count), shares = shares_of(n, get_num_groups(0)), g = get_group_id(0);
    if (g >= shares)
        return;
    const uint end = share_start(n, shares, g + 1);
    NUMBER before = carry[g], all;
    for (uint tile = share_start(n, shares, g); tile < end; tile += TILE) {
        const uint first = tile + get_local_id(0) * ITEMS;
        NUMBER own[ITEMS], sum = 0;
        for (uint k = 0; k < ITEMS; k++) {
            own[k] = first + k < end ? x[first + k] : 0;
            sum += own[k];
        }
        sum = before + scan_NUMBER(room, sum, &all);
        for (uint k = 0; k < ITEMS; k++) {
            if (first + k < end)
                sums[first + k] = sum;
            sum += own[k];
        }
        before += all;
    }
}
