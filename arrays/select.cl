/* select.cl - compaction: keep the elements of an array that have a mark, in order.
 *
 *     x         | 5  5  2  2  2  9 |
 *     marks     | 1  0  1  0  0  1 |     1. mark_flags or mark_heads (runs of equal elements)
 *     place     | 0  1  1  2  2  2 |     2. prefix sums of the marks, in place: scan.cl; total 3
 *     out       | 5  2  9 |              3. gather_marked: x[i] goes to out[place[i]] if the next
 *     offsets   | 0  2  5  6 |              place is another one; gather_offsets: i itself, and n
 *
 * Chunks and tiles: tiles.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_TILES_H
#include "tiles.h"
#endif

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
