/* select.cl - compaction: keep the elements of an array that have a mark, in order.
 *
 *     x         | 5  5  2  2  2  9 |
 *     marks     | 1  0  1  0  0  1 |     1. mark_flags or mark_heads (runs of equal elements)
 *     place     | 0  1  1  2  2  2 |     2. prefix sums of the marks, in place: scan.cl; total 3
 *     out       | 5  2  9 |              3. gather_marked: x[i] goes to out[place[i]] if the next
 *     offsets   | 0  2  5  6 |              place is another one; gather_offsets: i itself, and n
 *
 * With LOOK_BACK, one launch, one read of each element and each flag: select_once. Each tile counts
 * its marks, collects its marked elements in local memory, learns the number of marks before it
 * (lookback.h) and writes the elements side by side.
 *
 * Chunks and tiles: tiles.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_TILES_H
#include "tiles.h"
#define SUM uint
#define FROM uchar
#include "lookback.h"
#endif

#ifndef HEADS
#define HEADS 0 /* 1: first elements of runs are marked, and FROM is NUMBER */
#endif

#if LOOK_BACK

/* ---- One launch. ----------------------------------------------------------------------------- */

#if HEADS
bool is_kept(__global const NUMBER *x, ulong i)
{
    return i == 0 || x[i] != x[i - 1];
}
#else
bool is_kept(__global const uchar *flags, ulong i)
{
    return flags[i] != 0;
}
#endif

/* See lookback.h. */
uint sum_of_tile(__global const FROM *from, uint t)
{
    uint sum = 0;
    for (uint i = 0; i < TILE; i++)
        sum += is_kept(from, (ulong)t * TILE + i);
    return sum;
}

/* PLACE(k): the place in the tile of this item's element k. A mark is bit k of the item's `marks`.
 * count_marks returns the number of earlier marks in the tile, before the warp's or the item's
 * first element, and sets *all to the number of marks in the tile. room: 2 GROUP numbers. */
#ifdef __NV_CL_C_VERSION
/* A warp has 32 ITEMS consecutive elements, 32 for each k. */
#define PLACE(k) (get_local_id(0) / 32 * (32 * ITEMS) + (k)*32 + get_local_id(0) % 32)

INLINE uint count_marks(uint marks, __local uint *room, uint *all)
{
    const uint item = get_local_id(0), warp = item / 32;
    uint mine = popcount(marks), before = 0, sum = 0;
#pragma unroll
    for (uint apart = 1; apart < 32; apart *= 2)
        mine += warp_exchange(mine, apart);
    if (item % 32 == 0)
        room[warp] = mine;
    GROUP_BARRIER();
    for (uint w = 0; w < GROUP / 32; w++) {
        const uint of_warp = room[w];
        before += w < warp ? of_warp : 0;
        sum += of_warp;
    }
    *all = sum;
    return before;
}

/* Collect own[k] of all marks, in order. `before`: marks before the warp's first element. */
INLINE void collect(__local NUMBER *kept, const NUMBER *own, uint marks, uint before)
{
    const uint earlier = (1u << get_local_id(0) % 32) - 1;
#pragma unroll
    for (uint k = 0; k < ITEMS; k++) {
        const uint row = warp_ballot(marks >> k & 1);
        if (marks >> k & 1)
            kept[before + popcount(row & earlier)] = own[k];
        before += popcount(row);
    }
}
#else
SCAN_GROUP(uint)
#define PLACE(k) (get_local_id(0) * ITEMS + (k))

INLINE uint count_marks(uint marks, __local uint *room, uint *all)
{
    return scan_uint(room, popcount(marks), all);
}

INLINE void collect(__local NUMBER *kept, const NUMBER *own, uint marks, uint before)
{
    for (uint k = 0; k < ITEMS; k++)
        if (marks >> k & 1)
            kept[before++] = own[k];
}
#endif

#if HEADS
/* Return the element before element k of the item, which is number i. All items of a warp call it
 * together. inside: there is such an element. */
INLINE NUMBER element_before(const NUMBER *own, uint k, __global const NUMBER *x, uint i,
                             bool inside)
{
    const bool first = k == 0 && i > 0 && inside;
#ifdef __NV_CL_C_VERSION
    const uint lane = get_local_id(0) % 32;
    const NUMBER before = warp_take(k && lane == 31 ? own[k - 1] : own[k], (lane + 31) % 32);
    return k || lane ? before : first ? x[i - 1] : 0;
#else
    return first ? x[i - 1] : k ? own[k - 1] : 0;
#endif
}
#endif

/* Load the item's elements of a tile and return their marks. full: the tile is; a constant, so that
 * full tiles need no comparisons. */
INLINE uint load_tile_marked(NUMBER *own, __global const NUMBER *x, __global const FROM *from,
                             uint first, uint n, bool full)
{
    uint marks = 0;
#pragma unroll
    for (uint k = 0; k < ITEMS; k++)
        own[k] = full || first + PLACE(k) < n ? LOAD(x[first + PLACE(k)]) : 0;
#pragma unroll
    for (uint k = 0; k < ITEMS; k++) {
        const uint i = first + PLACE(k);
        const bool inside = full || i < n;
#if HEADS
        const NUMBER before = element_before(own, k, x, i, inside);
        marks |= (uint)(inside && (own[k] != before || i == 0)) << k;
#else
        marks |= (inside ? (uint)is_kept(from, i) : 0) << k;
#endif
    }
    return marks;
}

INLINE uint load_marked(NUMBER *own, __global const NUMBER *x, __global const FROM *from,
                        uint first, uint n)
{
    return first + TILE <= n ? load_tile_marked(own, x, from, first, n, true)
                             : load_tile_marked(own, x, from, first, n, false);
}

#define WRITE_KEPT(to, nkept)                                                                      \
    for (uint i = get_local_id(0); i < (nkept); i += GROUP)                                        \
        (to)[before + i] = kept[i];

/* One group for each tile of `most` elements, at least one. start: first elements of out, x,
 * total and from, the flags or x. words: see scan_once. offsets: of the marked elements, then n; if
 * wanted. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void select_once(
    __global NUMBER *out, __global const NUMBER *x, __global const FROM *from, uint4 start,
    volatile __global ulong *words, uint epoch, __global uint *total, __global uint *offsets,
    int wanted, uint most, int counted, __global const uint *count)
{
    __local NUMBER kept[TILE];
    __local uint room[2 * GROUP], ticket;
    __local struct window window;
    volatile __global uint *counters = (volatile __global uint *)words;
    const uint n = element_count(most, counted, count), tiles = (n + (TILE - 1)) / TILE,
               t = take_ticket(&counters[epoch & 1], &ticket), first = t * TILE,
               item = get_local_id(0);
    words += 2;
    out += start.x;
    x += start.y;
    from += start.w;
    if (t == 0 && item == 0) {
        counters[~epoch & 1] = 0; /* for the next launch */
        if (n == 0)
            total[start.z] = 0;
        if (n == 0 && wanted)
            offsets[0] = 0;
    }
    if (t >= tiles)
        return;
    NUMBER own[ITEMS];
    uint all;
    const uint marks = load_marked(own, x, from, first, n),
               in_tile = count_marks(marks, room, &all);
    if (item == 0)
        store_word(words, t, epoch, t ? OWN : PREFIX, all);
    collect(kept, own, marks, in_tile);
    GROUP_BARRIER();
    const uint before = t ? sum_before(words, t, epoch, from, &window) : 0;
    if (item == 0 && t)
        store_word(words, t, epoch, PREFIX, before + all);
    if (item == 0 && t == tiles - 1) {
        total[start.z] = before + all;
        if (wanted)
            offsets[before + all] = n;
    }
    WRITE_KEPT(out, all)
#ifndef __CPU__ /* PoCL 3.1 then runs the last loop for all items (tests/drivers/exits.cl) */
    if (!wanted)
        return;
#endif
    GROUP_BARRIER();
#pragma unroll
    for (uint k = 0; k < ITEMS; k++)
        own[k] = first + PLACE(k);
    collect(kept, own, marks, in_tile);
    GROUP_BARRIER();
    WRITE_KEPT(offsets, wanted ? all : 0)
}

#else
/* ---- Marks, their prefix sums, and a gather. ------------------------------------------------- */

/* Loop over the group's chunk of n elements. */
#define EACH_ELEMENT(i, n)                                                                         \
    const uint groups = chunk_count(n, get_num_groups(0)), group = get_group_id(0);                \
    if (group >= groups)                                                                           \
        return;                                                                                    \
    const uint end = chunk_start(n, groups, group + 1);                                            \
    for (uint i = chunk_start(n, groups, group) + get_local_id(0); i < end; i += GROUP)

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void mark_flags(
    __global uint *marks, __global const uchar *flags, uint start, uint most, int counted,
    __global const uint *count)
{
    const uint n = element_count(most, counted, count);
    EACH_ELEMENT(i, n)
    marks[i] = flags[start + i] != 0;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void mark_heads(
    __global uint *marks, __global const NUMBER *x, uint start, uint most, int counted,
    __global const uint *count)
{
    const uint n = element_count(most, counted, count);
    x += start;
    EACH_ELEMENT(i, n)
    marks[i] = i == 0 || x[i] != x[i - 1];
}

/* True if element i of n has a mark. */
bool is_marked(__global const uint *place, uint total, uint i, uint n)
{
    return place[i] != (i + 1 < n ? place[i + 1] : total);
}

/* start: first elements of out, x and total. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void gather_marked(
    __global NUMBER *out, __global const NUMBER *x, uint4 start, __global const uint *place,
    __global const uint *total, uint most, int counted, __global const uint *count)
{
    const uint n = element_count(most, counted, count), all = total[start.z];
    out += start.x;
    x += start.y;
    EACH_ELEMENT(i, n)
    if (is_marked(place, all, i, n))
        out[place[i]] = x[i];
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void gather_offsets(
    __global uint *offsets, uint4 start, __global const uint *place, __global const uint *total,
    uint most, int counted, __global const uint *count)
{
    const uint n = element_count(most, counted, count), all = total[start.z];
    if (get_global_id(0) == 0)
        offsets[all] = n;
    EACH_ELEMENT(i, n)
    if (is_marked(place, all, i, n))
        offsets[place[i]] = i;
}
#endif
