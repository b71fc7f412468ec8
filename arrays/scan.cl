/* scan.cl - prefix sums of an array of numbers, exclusive or INCLUSIVE: three launches, two reads
 * and one write of each element; for a few tiles, one launch.
 *
 *     x       | chunk 0 | chunk 1 | chunk 2 |
 *     carry   |    s0   |    s1   |    s2   |   1. scan_sums: each group sums its chunk
 *     carry   |    0    |    s0   | s0 + s1 |   2. scan_carry: one group scans the sums: total
 *     sums    | 0 x0 .. | s0 ...  |             3. scan_write: each group scans its chunk
 *
 *     sums    | 0 x0 .. |                       or scan_few: one group scans the whole array
 *
 * With LOOK_BACK, where groups may wait for earlier ones, one launch, one read and one write:
 * scan_once (lookback.h).
 *
 * Tiles and chunks: tiles.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_TILES_H
#include "tiles.h"
#define SUM NUMBER
#define FROM NUMBER
#include "lookback.h"
#endif

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#ifndef INCLUSIVE
#define INCLUSIVE 0 /* 1: the sum of an element includes it */
#endif

SCAN_GROUP(NUMBER)

#if GROUP > 1
/* Items load and store elements of a tile side by side, and each sums ITEMS neighbours: the tile is
 * transposed through local memory. An odd ITEMS avoids bank conflicts. */
INLINE void load_tile(NUMBER *own, __global const NUMBER *x, uint t, uint n)
{
    const uint first = t * TILE + get_local_id(0);
    if ((ulong)(t + 1) * TILE <= n)
#pragma unroll
        for (uint k = 0; k < ITEMS; k++)
            own[k] = LOAD(x[first + k * GROUP]);
    else
#pragma unroll
        for (uint k = 0; k < ITEMS; k++)
            own[k] = (ulong)t * TILE + get_local_id(0) + k * GROUP < n ? x[first + k * GROUP] : 0;
}
INLINE void spread_tile(__local NUMBER *tile, const NUMBER *own)
{
#pragma unroll
    for (uint k = 0; k < ITEMS; k++)
        tile[k * GROUP + get_local_id(0)] = own[k];
    GROUP_BARRIER();
}

/* Set own[] to the item's neighbours and *all to the sum of the tile; return the sum of the tile's
 * elements before them. */
INLINE NUMBER scan_tile(__local const NUMBER *tile, NUMBER *own, __local NUMBER *room, NUMBER *all)
{
    NUMBER sum = 0;
#pragma unroll
    for (uint k = 0; k < ITEMS; k++)
        sum += own[k] = READ(NUMBER, tile[get_local_id(0) * ITEMS + k]);
    return scan_NUMBER(room, sum, all);
}

/* Store the prefix sums of the tile's elements; `before`: that of the item's first. */
INLINE void store_tile(__global NUMBER *sums, __local NUMBER *tile, const NUMBER *own,
                       NUMBER before, uint first, uint end)
{
#pragma unroll
    for (uint k = 0; k < ITEMS; k++) {
        tile[get_local_id(0) * ITEMS + k] = INCLUSIVE ? before + own[k] : before;
        before += own[k];
    }
    GROUP_BARRIER();
    const uint item = get_local_id(0); /* the same places that this item loads for another tile */
#pragma unroll
    for (uint k = 0; k < ITEMS; k++)
        if (first + k * GROUP + item < end)
            STORE(sums[first + k * GROUP + item], tile[k * GROUP + item]);
}
#endif

#if LOOK_BACK

/* ---- One launch. ----------------------------------------------------------------------------- */

/* See lookback.h. Also in place, the elements of a tile are overwritten only after its prefix was
 * stored. */
NUMBER sum_of_tile(__global const NUMBER *x, uint t)
{
    NUMBER sum = 0;
    for (uint i = 0; i < TILE; i++)
        sum += x[(ulong)t * TILE + i];
    return sum;
}

#ifdef __NV_CL_C_VERSION
/* Return the sum over the warp's items before this one, and set *all to that over all its items. */
NUMBER scan_warp(NUMBER mine, NUMBER *all)
{
    const uint lane = get_local_id(0) % 32;
    NUMBER sum = mine;
#pragma unroll
    for (uint apart = 1; apart < 32; apart *= 2) {
        const NUMBER earlier = warp_take(sum, (lane - apart) & 31);
        sum += lane >= apart ? earlier : 0;
    }
    *all = warp_take(sum, 31);
    return sum - mine;
}
#endif

/* As many groups as `most` elements have tiles, at least one. words: two counters of tickets, for
 * launches with odd and with even epochs, and padding; then the words of each tile. wanted: 1
 * plus the place of the total in total[], or 0. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void scan_once(
    __global NUMBER *sums, __global const NUMBER *x, uint2 start, volatile __global ulong *words,
    uint epoch, __global NUMBER *total, int wanted, uint most, int counted,
    __global const uint *count)
{
    __local NUMBER tile[TILE], room[2 * GROUP];
    __local struct window window;
    __local uint ticket;
    volatile __global uint *counters = (volatile __global uint *)words;
    const uint n = element_count(most, counted, count), tiles = (n + (TILE - 1)) / TILE,
               t = take_ticket(&counters[epoch & 1], &ticket), item = get_local_id(0);
    words += 2;
    x += start.x;
    sums += start.y;
    if (t == 0 && item == 0) {
        counters[~epoch & 1] = 0; /* for the next launch */
        if (n == 0 && wanted)
            total[wanted - 1] = 0;
    }
    if (t >= tiles)
        return;
    NUMBER own[ITEMS], all = 0;
    load_tile(own, x, t, n);
#ifdef __NV_CL_C_VERSION
    /* The tile's sum is known before neighbours are added, so that later groups wait less. As
     * functions these lines made the kernel 8 % slower. */
    NUMBER mine = 0, of_warp;
#pragma unroll
    for (uint k = 0; k < ITEMS; k++) {
        mine += own[k];
        tile[k * GROUP + item] = own[k];
    }
#pragma unroll
    for (uint apart = 1; apart < 32; apart *= 2)
        mine += warp_exchange(mine, apart);
    if (item % 32 == 0)
        room[item / 32] = mine;
    GROUP_BARRIER();
    if (item == 0) {
        for (uint w = 0; w < GROUP / 32; w++)
            all += room[w];
        store_word(words, t, epoch, t ? OWN : PREFIX, all);
    }
    mine = 0;
#pragma unroll
    for (uint k = 0; k < ITEMS; k++)
        mine += own[k] = tile[item * ITEMS + k];
    NUMBER in_tile = scan_warp(mine, &of_warp);
    if (item % 32 == 0)
        room[GROUP + item / 32] = of_warp;
    GROUP_BARRIER();
    for (uint w = 0; w < item / 32; w++)
        in_tile += room[GROUP + w];
#else
    spread_tile(tile, own);
    const NUMBER in_tile = scan_tile(tile, own, room, &all);
    if (item == 0)
        store_word(words, t, epoch, t ? OWN : PREFIX, all);
#endif
    const NUMBER before = t ? sum_before(words, t, epoch, x, &window) : 0;
    if (item == 0 && t)
        store_word(words, t, epoch, PREFIX, before + all);
    if (item == 0 && wanted && t == tiles - 1)
        total[wanted - 1] = before + all;
    store_tile(sums, tile, own, before + in_tile, t * TILE, n);
}
#else
/* ---- Three launches, or one group. ----------------------------------------------------------- */

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
        sums[i] = INCLUSIVE ? before + own : before;
        before += own;
    }
    return before;
}
#else
/* As above, tile by tile. */
NUMBER write_chunk(__global NUMBER *sums, __global const NUMBER *x, NUMBER before, uint first,
                   uint end, __local NUMBER *tile, __local NUMBER *room)
{
    for (; first < end; first += TILE) {
        NUMBER own[ITEMS], all;
        load_tile(own, x, first / TILE, end);
        spread_tile(tile, own);
        const NUMBER sum = scan_tile(tile, own, room, &all);
        store_tile(sums, tile, own, before + sum, first, end);
        before += all;
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
#endif
