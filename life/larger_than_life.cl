/* larger_than_life.cl - rules of the family Larger than Life: the number of live cells (state 1)
 * within RANGE columns and ROWS_AWAY rows decides.
 *
 * A cell is a byte; rows have `pitch` bytes. A generation is two launches:
 *
 *   sums     prefix sums of each row, from RANGE cells before the row to RANGE cells after it:
 *            entry i counts the live cells among the first i, modulo 2^16. The number of live
 *            cells from x - w to x + w is sums[x + RANGE + w + 1] - sums[x + RANGE - w].
 *   cells    a work-item has COLUMNS adjacent cells and walks down ROWS rows. For a square
 *            neighbourhood it adds the entering row and subtracts the leaving one. For other
 *            shapes it adds up all rows, each with its half width, or all runs.
 *
 * A run is four shorts: rows away, first and last column away, weight. RUNS of them precede the
 * sums in memory; for triangles RUNS_ODD more, for cells with an odd sum of column and row.
 *
 * SPDX-License-Identifier: MIT
 */

#ifndef RANGE
#define RANGE 5
#endif
#ifndef ROWS_AWAY
#define ROWS_AWAY RANGE
#endif
#ifndef STATES
#define STATES 2
#endif
#ifndef MIDDLE
#define MIDDLE 1 /* the cell itself counts */
#endif
#ifndef BIRTH /* 1 for the counts with which a dead cell becomes alive; a live cell survives */
#define BIRTH(c) within(c, 34, 45)
#define SURVIVAL(c) within(c, 34, 58)
#endif
#ifndef INVERTED /* 1: cells are stored inverted, 2: in odd generations; TOTAL: greatest count */
#define INVERTED 0
#define TOTAL 0
#endif
#ifndef COLUMNS
#define COLUMNS 4
#define ROWS 16
#endif
#ifndef ITEMS
#define ITEMS 64 /* that sum a row, a power of two; 1 suits CPUs */
#endif
#ifndef LIFE_COUNT_BYTES_H
#include "count_bytes.h"
#endif
#ifdef HALF /* not for squares: half width of the row 0, 1, ... RANGE rows away */
__constant ushort half_of[RANGE + 1] = {HALF};
#endif
#ifdef STATE_WEIGHTS
__constant uchar weight_of[STATES] = {STATE_WEIGHTS};
#endif
#ifdef RUNS
#define RUN_ENTRIES (4 * (RUNS + RUNS_ODD))
#else
#define RUN_ENTRIES 0
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define VECTOR(type) JOIN(type, COLUMNS)
#define LOAD JOIN(vload, COLUMNS)
#define STORE JOIN(vstore, COLUMNS)
#define BYTES VECTOR(uchar)
#ifdef RUNS
#define COUNT int
#elif RANGE > 127 /* more than 2^16 neighbours */
#define COUNT uint
#else
#define COUNT ushort
#endif
#define COUNTS VECTOR(COUNT)
#define TO_COUNTS JOIN(convert_, COUNTS)

/* What a cell counts: 1 if it is alive, or the weight of its state. */
static ushort large_live(const uchar state)
{
#ifdef STATE_WEIGHTS
    return weight_of[state];
#else
    return state == 1;
#endif
}

/* What entry i of a row's sums adds. */
static ushort large_entry(__global const uchar *row, const int i, const int width, const int torus)
{
    const int x = i - RANGE;
    if (i >= width + 2 * RANGE || (!torus && (x < 0 || x >= width)))
        return 0;
    return large_live(row[x < 0 ? x + width : x < width ? x : x - width]);
}

/* What each of 16 entries from i on adds. */
static ushort16 large_sixteen(__global const uchar *row, const int i, const int width,
                              const int torus)
{
    ushort one[16];
#ifndef STATE_WEIGHTS
    if (i >= RANGE && i + 16 <= width + RANGE)
        return convert_ushort16(-(vload16(0, row + i - RANGE) == (uchar16)(1)));
#endif
    for (int k = 0; k < 16; k++)
        one[k] = large_entry(row, i + k, width, torus);
    return vload16(0, one);
}

/* A group has a row: ITEMS times 16 entries at a time, 16 adjacent ones an item. Rows of sums are
 * padded to a multiple of 16 entries. */
__kernel void life_large_sums(__global const uchar *cells, __global ushort *sums, const int width,
                              const ulong pitch, const ulong stride, const int torus)
{
    const size_t y = get_group_id(0);
    const int item = (int)get_local_id(0), n = width + 2 * RANGE + 1;
    __global const uchar *row = cells + y * pitch;
    __global ushort *out = sums + RUN_ENTRIES + y * stride;
    ushort before = 0; /* sum of the row up to here */
#if ITEMS > 1
    __local ushort part[ITEMS];
#endif
    for (int first = 0; first < n; first += 16 * ITEMS) {
        const int i = first + 16 * item;
        const ushort16 live = i < n ? large_sixteen(row, i, width, torus) : (ushort16)(0);
        ushort16 sum = live;
        sum += (ushort16)(0, sum.s012, sum.s3456, sum.s789abcde);
        sum += (ushort16)(0, 0, sum.s01, sum.s2345, sum.s6789abcd);
        sum += (ushort16)((ushort4)(0), sum.s0123, sum.s456789ab);
        sum += (ushort16)((ushort8)(0), sum.s01234567);
        ushort mine = sum.sf, all = sum.sf;
#if ITEMS > 1
        for (int step = 1; step < ITEMS; step *= 2) {
            part[item] = mine;
            barrier(CLK_LOCAL_MEM_FENCE);
            mine += item >= step ? part[item - step] : 0;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        part[item] = mine;
        barrier(CLK_LOCAL_MEM_FENCE);
        all = part[ITEMS - 1];
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
        if (i < n)
            vstore16(sum - live + (ushort16)((ushort)(before + mine - sum.sf)), 0, out + i);
        before += all;
    }
}

/* Live cells of row y from `first` to `last` columns away from each of the COLUMNS cells from x on,
 * across the edges. */
static COUNTS large_span(__global const ushort *sums, const int x, int y, const int first,
                         const int last, const int height, const ulong stride, const int torus)
{
    if (y < 0 || y >= height) {
        if (!torus)
            return (COUNTS)(0);
        y += y < 0 ? height : -height;
    }
    __global const ushort *row = sums + (size_t)y * stride + x + RANGE;
    return TO_COUNTS(LOAD(0, row + last + 1) - LOAD(0, row + first));
}

#ifdef RUNS
/* Sum of the weights of n runs. */
static COUNTS large_runs(__global const short *runs, const int n, __global const ushort *sums,
                         const int x, const int y, const int height, const ulong stride,
                         const int torus)
{
    COUNTS sum = 0;
    for (int i = 0; i < n; i++) {
        const short4 run = vload4(i, runs);
        sum +=
            (COUNTS)(run.w) * large_span(sums, x, y + run.x, run.y, run.z, height, stride, torus);
    }
    return sum;
}

/* `sums` follow the runs; x is even. */
static COUNTS large_around(__global const ushort *sums, const int x, const int y, const int height,
                           const ulong stride, const int torus)
{
    __global const short *runs = (__global const short *)sums - RUN_ENTRIES;
    const COUNTS even = large_runs(runs, RUNS, sums, x, y, height, stride, torus);
#if RUNS_ODD
    const COUNTS odd = large_runs(runs + 4 * RUNS, RUNS_ODD, sums, x, y, height, stride, torus);
    int parity[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        parity[i] = (y + i) & 1;
    return select(even, odd, LOAD(0, parity) == (COUNTS)(1));
#else
    return even;
#endif
}
#else
static COUNTS large_around(__global const ushort *sums, const int x, const int y, const int height,
                           const ulong stride, const int torus)
{
    COUNTS sum = 0;
    for (int dy = -RANGE; dy <= RANGE; dy++) {
#ifdef HALF
        const int reach = half_of[dy < 0 ? -dy : dy];
#else
        const int reach = RANGE;
#endif
        sum += large_span(sums, x, y + dy, -reach, reach, height, stride, torus);
    }
    return sum;
}
#endif

/* 1 if least <= count <= most, else 0. */
static COUNTS within(const COUNTS count, const COUNT least, const COUNT most)
{
    return select((COUNTS)(0), (COUNTS)(1), count >= (COUNTS)(least) && count <= (COUNTS)(most));
}

static COUNTS large_next_state(const COUNTS state, const COUNTS around)
{
    const COUNTS alive = select((COUNTS)(0), (COUNTS)(1), state == (COUNTS)(1));
    const COUNTS count = MIDDLE ? around : around - alive;
    const COUNTS stays = SURVIVAL(count);
    COUNTS next = select(BIRTH(count), STATES > 2 ? (COUNT)2 - stays : stays, state == (COUNTS)(1));
#if STATES > 2
    next = select(next, state + (COUNT)1, state > (COUNTS)(1));
    next = select(next, (COUNTS)(0), state == (COUNTS)(STATES - 1));
#endif
    return next;
}

/* Next stored state of a cell; rules of two states may store cells inverted. */
static COUNTS large_next_stored(const COUNTS stored, const COUNTS around, const int odd)
{
#if INVERTED
    const bool inverted = INVERTED == 1 || odd, next_inverted = INVERTED == 1 || !odd;
    const COUNTS one = (COUNTS)(1);
    const COUNTS full = (COUNTS)(TOTAL + !MIDDLE); /* `around` has the middle */
    const COUNTS next =
        inverted ? large_next_state(one - stored, full - around) : large_next_state(stored, around);
    return next_inverted ? one - next : next;
#else
    return large_next_state(stored, around);
#endif
}

/* Store the first n; padding after the row's end stays 0. */
static void store_some(const BYTES next, const int n, __global uchar *to)
{
    uchar state[COLUMNS];
    STORE(next, 0, state);
    for (int i = 0; i < COLUMNS; i++)
        to[i] = i < n ? state[i] : 0;
}

/* Compute rows from `first` on; get_global_id(1) is the band of ROWS rows. `odd`: the generation
 * is. */
__kernel void life_large(__global const uchar *from, __global uchar *to,
                         __global const ushort *extra, const int first, const int width,
                         const int height, const ulong pitch, const ulong stride, const int torus,
                         const int odd)
{
    __global const ushort *sums = extra + RUN_ENTRIES;
    const int x = (int)get_global_id(0) * COLUMNS, start = first + (int)get_global_id(1) * ROWS;
    const int end = start + ROWS < height ? start + ROWS : height;
    if (x >= width || start >= height)
        return;
#if !defined(HALF) && !defined(RUNS)
    COUNTS count = large_around(sums, x, start, height, stride, torus);
#endif
    for (int y = start; y < end; y++) {
#if defined(HALF) || defined(RUNS)
        const COUNTS count = large_around(sums, x, y, height, stride, torus);
#endif
        const size_t at = (size_t)y * pitch + (size_t)x;
        const COUNTS next = large_next_stored(TO_COUNTS(LOAD(0, from + at)), count, odd);
        if (x + COLUMNS <= width)
            STORE(JOIN(convert_, BYTES)(next), 0, to + at);
        else
            store_some(JOIN(convert_, BYTES)(next), width - x, to + at);
#if !defined(HALF) && !defined(RUNS)
        if (y + 1 < end)
            count += large_span(sums, x, y + RANGE + 1, -RANGE, RANGE, height, stride, torus) -
                     large_span(sums, x, y - RANGE, -RANGE, RANGE, height, stride, torus);
#endif
    }
}
