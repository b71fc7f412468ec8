/* scan.cl - prefix sums (exclusive scan) of an array of unsigned integers: three launches, two
 * reads and one write of each element; for a few tiles, one launch.
 *
 *     x       | chunk 0 | chunk 1 | chunk 2 |
 *     carry   |    s0   |    s1   |    s2   |   1. scan_sums: each group sums its chunk
 *     carry   |    0    |    s0   | s0 + s1 |   2. scan_carry: one group scans the sums: total
 *     sums    | 0 x0 .. | s0 ...  |             3. scan_write: each group scans its chunk
 *
 *     sums    | 0 x0 .. |                       or scan_few: one group scans the whole array
 *
 * Tiles and chunks: tiles.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_TILES_H
#include "tiles.h"
#endif

SCAN_GROUP(NUMBER)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan_sums(
    __global NUMBER *carry, __global const NUMBER *x, uint2 start, uint most, int counted,
    __global const uint *count)
{
    __local NUMBER room[2 * GROUP];
    x += start.x;
    const uint n = element_count(most, counted, count), chunks = chunk_count(n, get_num_groups(0)),
               g = get_group_id(0);
    if (g >= chunks)
        return;
    const uint end = chunk_start(n, chunks, g + 1);
    NUMBER sum = 0, all;
    uint i = chunk_start(n, chunks, g) + get_local_id(0);
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

/* Run by one group. `groups`: number of groups of the other two kernels. wanted: 1 plus the place
 * of the total in total[], or 0. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan_carry(
    __global NUMBER *carry, uint groups, __global NUMBER *total, int wanted, uint most, int counted,
    __global const uint *count)
{
    __local NUMBER room[2 * GROUP];
    const uint chunks = chunk_count(element_count(most, counted, count), groups);
    NUMBER before = 0, all;
    for (uint first = 0; first < chunks; first += GROUP) {
        const uint g = first + get_local_id(0);
        const NUMBER sum = scan_NUMBER(room, g < chunks ? carry[g] : 0, &all);
        if (g < chunks)
            carry[g] = before + sum;
        before += all;
    }
    if (wanted && get_local_id(0) == 0)
        total[wanted - 1] = before;
}

#if GROUP == 1
/* Scan elements first ... end - 1, where `before` is the sum of all earlier ones. Return the sum
 * of all elements before `end`. */
NUMBER write_chunk(__global NUMBER *sums, __global const NUMBER *x, NUMBER before, uint first,
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
/* Scan a chunk tile by tile (see above). Items load and store side by side, and each sums ITEMS
 * neighbours: the tile is transposed through local memory. An odd ITEMS avoids bank conflicts. */
NUMBER write_chunk(__global NUMBER *sums, __global const NUMBER *x, NUMBER before, uint first,
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
        GROUP_BARRIER();
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
        GROUP_BARRIER();
#pragma unroll
        for (uint k = 0; k < ITEMS;
             k++) { /* the same places that this item loads for the next tile */
            const uint p = k * GROUP + item;
            if (first + p < end)
                sums[first + p] = tile[p];
        }
    }
    return before;
}
#endif

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan_write(
    __global NUMBER *sums, __global const NUMBER *x, uint2 start, __global const NUMBER *carry,
    uint most, int counted, __global const uint *count)
{
#if GROUP > 1
    __local NUMBER tile[TILE], room[2 * GROUP];
#endif
    x += start.x;
    sums += start.y;
    const uint n = element_count(most, counted, count), chunks = chunk_count(n, get_num_groups(0)),
               g = get_group_id(0);
    if (g >= chunks)
        return;
    const uint first = chunk_start(n, chunks, g), end = chunk_start(n, chunks, g + 1);
#if GROUP > 1
    write_chunk(sums, x, carry[g], first, end, tile, room);
#else
    write_chunk(sums, x, carry[g], first, end);
#endif
}

/* Run by one group. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan_few(
    __global NUMBER *sums, __global const NUMBER *x, uint2 start, __global NUMBER *total,
    int wanted, uint most, int counted, __global const uint *count)
{
    const uint n = element_count(most, counted, count);
    x += start.x;
    sums += start.y;
#if GROUP > 1
    __local NUMBER tile[TILE], room[2 * GROUP];
    const NUMBER all = write_chunk(sums, x, 0, 0, n, tile, room);
#else
    const NUMBER all = write_chunk(sums, x, 0, 0, n);
#endif
    if (wanted && get_local_id(0) == 0)
        total[wanted - 1] = all;
}
