/* scan.cl - prefix sums of an array of unsigned integers: three launches, two reads and one write
 * of each element; or of few, one.
 *
 *     x       | share 0 | share 1 | share 2 |
 *     carry   |    s0   |    s1   |    s2   |        1. scan_sums: each group adds up its share
 *     carry   |    0    |    s0   | s0 + s1 |        2. scan_carry: one group scans those, the
 *             total falls out
 *     sums    | 0 x0 .. | s0 ...  |                  3. scan_write: each group scans its share,
 *             from its carry on
 *
 *     sums    | 0 x0 .. |                            or scan_few: one group scans all
 *
 * Tiles and shares: tiles.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_TILES_H
#include "tiles.h"
#endif

SCAN_GROUP(NUMBER)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan_sums(
    __global NUMBER *carry, __global const NUMBER *x, uint most, int counted,
    __global const uint *count)
{
    __local NUMBER room[2 * GROUP];
    const uint n = number_of(most, counted, count), shares = shares_of(n, get_num_groups(0)),
               g = get_group_id(0);
    if (g >= shares)
        return;
    const uint end = share_start(n, shares, g + 1);
    NUMBER sum = 0, all;
    uint i = share_start(n, shares, g) + get_local_id(0);
    for (; i + (ITEMS - 1) * GROUP < end; i += TILE)
#pragma unroll
        for (uint k = 0; k < ITEMS; k++)
            sum += x[i + k * GROUP];
    for (; i < end; i += GROUP)
        sum += x[i];
    scan_NUMBER(room, sum, &all);
    if (get_local_id(0) == 0)
        carry[g] = all;
}

/* One group. `groups` is how many the other two have. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan_carry(
    __global NUMBER *carry, uint groups, __global NUMBER *total, int wanted, uint most, int counted,
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

#if GROUP == 1
/* Elements first ... end - 1, from the sum of those before them on. Returns that of those before
 * `end`. */
NUMBER write_share(__global NUMBER *sums, __global const NUMBER *x, NUMBER before, uint first,
                   uint end)
{
    for (uint i = first; i < end; i++) {
        const NUMBER own = x[i];
        sums[i] = before;
        before += own;
    }
    return before;
}
#else
/* The same, tile by tile. Items load and store side by side, and add up ITEMS neighbours each: the
 * tile changes hands in local memory. An odd ITEMS keeps neighbouring items in different banks. */
NUMBER write_share(__global NUMBER *sums, __global const NUMBER *x, NUMBER before, uint first,
                   uint end, __local NUMBER *tile, __local NUMBER *room)
{
    const uint item = get_local_id(0);
    for (; first < end; first += TILE) {
        NUMBER own[ITEMS], sum = 0, all;
#pragma unroll
        for (uint k = 0; k < ITEMS; k++) {
            const uint p = k * GROUP + item;
            tile[p] = first + p < end ? x[first + p] : 0;
        }
        JOIN_GROUP();
#pragma unroll
        for (uint k = 0; k < ITEMS; k++)
            sum += own[k] = READ(NUMBER, tile[item * ITEMS + k]);
        sum = before + scan_NUMBER(room, sum, &all);
#pragma unroll
        for (uint k = 0; k < ITEMS; k++) {
            tile[item * ITEMS + k] = sum;
            sum += own[k];
        }
        before += all;
        JOIN_GROUP();
#pragma unroll
        for (uint k = 0; k < ITEMS;
             k++) { /* the places that this item fills for the next tile, too */
            const uint p = k * GROUP + item;
            if (first + p < end)
                sums[first + p] = tile[p];
        }
    }
    return before;
}
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan_write(
    __global NUMBER *sums, __global const NUMBER *x, __global const NUMBER *carry, uint most,
    int counted, __global const uint *count)
{
#if GROUP > 1
    __local NUMBER tile[TILE], room[2 * GROUP];
#endif
    const uint n = number_of(most, counted, count), shares = shares_of(n, get_num_groups(0)),
               g = get_group_id(0);
    if (g >= shares)
        return;
    const uint first = share_start(n, shares, g), end = share_start(n, shares, g + 1);
#if GROUP > 1
    write_share(sums, x, carry[g], first, end, tile, room);
#else
    write_share(sums, x, carry[g], first, end);
#endif
}

/* One group. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan_few(
    __global NUMBER *sums, __global const NUMBER *x, __global NUMBER *total, int wanted, uint most,
    int counted, __global const uint *count)
{
    const uint n = number_of(most, counted, count);
#if GROUP > 1
    __local NUMBER tile[TILE], room[2 * GROUP];
    const NUMBER all = write_share(sums, x, 0, 0, n, tile, room);
#else
    const NUMBER all = write_share(sums, x, 0, 0, n);
#endif
    if (wanted && get_local_id(0) == 0)
        *total = all;
}
