/* large.cl - rules of the family Larger than Life: of the cells up to RANGE columns and rows away, how many live (state 1)?
 *
 * A byte a cell, rows of `pitch` bytes. A generation is two launches:
 *
 *   sums     of each row: entry i is how many of the first i cells live, beginning RANGE cells before the row and ending RANGE cells behind it,
 *            in 16 bits that may turn over. So the live cells from x - w to x + w are sums[x + RANGE + w + 1] - sums[x + RANGE - w].
 *   cells    a work-item has COLUMNS cells side by side and walks down ROWS rows. Of a square, it adds the row that comes in and takes
 *            away the one that goes out; of other shapes it adds up all rows, each with its width.
 *
 * SPDX-License-Identifier: MIT
 */

#ifndef RANGE
#define RANGE 5
#endif
#ifndef STATES
#define STATES 2
#endif
#ifndef MIDDLE
#define MIDDLE 1 /* the cell itself counts */
#endif
#ifndef BIRTH /* the least and the most */
#define BIRTH 34, 45
#define SURVIVAL 34, 58
#endif
#ifndef COLUMNS
#define COLUMNS 4
#define ROWS 16
#endif
#ifndef ITEMS
#define ITEMS 64 /* that add up a row; 1 suits CPUs */
#endif
#ifdef HALF /* other shapes than the square: how many columns to either side count, 0, 1, ... RANGE rows away */
__constant ushort half_of[RANGE + 1] = {HALF};
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define VECTOR(type) JOIN(type, COLUMNS)
#define LOAD JOIN(vload, COLUMNS)
#define STORE JOIN(vstore, COLUMNS)
#define BYTES VECTOR(uchar)
#if RANGE > 127 /* more than 2^16 neighbours */
#define COUNT uint
#else
#define COUNT ushort
#endif
#define COUNTS VECTOR(COUNT)
#define TO_COUNTS JOIN(convert_, COUNTS)

__kernel void life_large_sums(__global const uchar *cells, __global ushort *sums, const int width, const ulong pitch, const ulong stride, const int torus)
{
    const size_t y = get_group_id(0);
    const int item = (int)get_local_id(0), n = width + 2 * RANGE, length = (n + ITEMS - 1) / ITEMS;
    const int start = item * length < n ? item * length : n, end = start + length < n ? start + length : n;
    __global const uchar *row = cells + y * pitch;
    __global ushort *out = sums + y * stride;
    ushort sum = 0;
#define LIVES(i) ((i) < RANGE ? torus && row[(i) - RANGE + width] == 1 : (i) - RANGE < width ? row[(i) - RANGE] == 1 : torus && row[(i) - RANGE - width] == 1)
#if ITEMS > 1
    __local ushort part[ITEMS];
    for (int i = start; i < end; i++)
        sum += LIVES(i);
    part[item] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = 0;
    for (int k = 0; k < item; k++)
        sum += part[k];
#endif
    for (int i = start; i < end; i++) {
        out[i] = sum;
        sum += LIVES(i);
    }
    if (start < n && end == n)
        out[n] = sum;
}

/* The live cells of row y, around the edges, up to w columns to either side of each of the COLUMNS cells from x on. */
static COUNTS of_row(__global const ushort *sums, const int x, int y, const int w, const int height, const ulong stride, const int torus)
{
    if (y < 0 || y >= height) {
        if (!torus)
            return (COUNTS)(0);
        y += y < 0 ? height : -height;
    }
    __global const ushort *row = sums + (size_t)y * stride + x;
    return TO_COUNTS(LOAD(0, row + RANGE + w + 1) - LOAD(0, row + RANGE - w));
}

static COUNTS around(__global const ushort *sums, const int x, const int y, const int height, const ulong stride, const int torus)
{
    COUNTS sum = 0;
    for (int dy = -RANGE; dy <= RANGE; dy++)
#ifdef HALF
        sum += of_row(sums, x, y + dy, half_of[dy < 0 ? -dy : dy], height, stride, torus);
#else
        sum += of_row(sums, x, y + dy, RANGE, height, stride, torus);
#endif
    return sum;
}

/* 1 where the count is one of these, else 0. */
static COUNTS within(const COUNTS count, const COUNT least, const COUNT most)
{
    return select((COUNTS)(0), (COUNTS)(1), count >= (COUNTS)(least) && count <= (COUNTS)(most));
}

static COUNTS next_state(const COUNTS state, const COUNTS around)
{
    const COUNTS alive = select((COUNTS)(0), (COUNTS)(1), state == (COUNTS)(1));
    const COUNTS count = MIDDLE ? around : around - alive;
    const COUNTS stays = within(count, SURVIVAL);
    COUNTS next = select(within(count, BIRTH), STATES > 2 ? (COUNT)2 - stays : stays, state == (COUNTS)(1));
#if STATES > 2
    next = select(next, state + (COUNT)1, state > (COUNTS)(1));
    next = select(next, (COUNTS)(0), state == (COUNTS)(STATES - 1));
#endif
    return next;
}

/* Rows from `first` on; get_global_id(1) counts bands of ROWS rows. */
__kernel void life_large(__global const uchar *from, __global uchar *to, __global const ushort *sums, const int first, const int width, const int height,
                         const ulong pitch, const ulong stride, const int torus)
{
    const int x = (int)get_global_id(0) * COLUMNS, start = first + (int)get_global_id(1) * ROWS;
    const int end = start + ROWS < height ? start + ROWS : height;
    if (x >= width || start >= height)
        return;
#ifndef HALF
    COUNTS count = around(sums, x, start, height, stride, torus);
#endif
    for (int y = start; y < end; y++) {
#ifdef HALF
        const COUNTS count = around(sums, x, y, height, stride, torus);
#endif
        const size_t at = (size_t)y * pitch + (size_t)x;
        const COUNTS next = next_state(TO_COUNTS(LOAD(0, from + at)), count);
        STORE(JOIN(convert_, BYTES)(next), 0, to + at);
#ifndef HALF
        if (y + 1 < end)
            count += of_row(sums, x, y + RANGE + 1, RANGE, height, stride, torus) - of_row(sums, x, y - RANGE, RANGE, height, stride, torus);
#endif
    }
}

/* As life_mix of internal.h. */
static ulong mix(ulong z)
{
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ z >> 27) * 0x94d049bb133111ebul;
    return z ^ z >> 31;
}

/* sums[slot + item] = how many cells are in a state that is not 0, and a hash, of each get_global_size(0)-th cell. */
__kernel void life_count_bytes(__global const uchar *cells, const ulong width, const ulong height, const ulong pitch, __global ulong2 *sums, const ulong slot)
{
    ulong2 mine = (ulong2)(0, 0);
    for (ulong i = get_global_id(0); i < width * height; i += get_global_size(0)) {
        const ulong state = cells[i / width * pitch + i % width];
        mine.x += state != 0;
        mine.y += state ? mix(state + (i + 1) * 0x9e3779b97f4a7c15ul) : 0;
    }
    sums[slot + get_global_id(0)] = mine;
}
