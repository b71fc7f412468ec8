/* count.cl - population and hash of the cells, summed on the device; copies of rows and columns.
 *
 * A unit is a packed word or a padded cell. Work-item i takes units i, i + n, i + 2 n, ..., where
 * n is the number of items. Each group reduces its items' sums in local memory, and the host adds
 * the groups' sums. The hash is a sum and does not depend on the order of units. With several
 * devices, each counts its partition, with the places that units have in the whole grid.
 * SPDX-License-Identifier: MIT
 */

#ifndef GROUP
#define GROUP 1 /* items in a group, a power of two; 1 suits CPUs */
#endif

#ifndef LIFE_MIX_H
#include "mix.h"
#endif

/* result[group] = the sum over the group's items of (population, hash). */
static inline void count_reduce(ulong2 mine, __local ulong2 *sum, __global ulong2 *result)
{
    const int i = (int)get_local_id(0);
    sum[i] = mine;
    for (int n = GROUP / 2; n > 0; n /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < n)
            sum[i] += sum[i + n];
    }
    if (i == 0)
        result[get_group_id(0)] = sum[0];
}

/* Count words start ... start + n - 1 of a partition, the first of which is word `first` of the
 * grid. result[slot + group] is the group's sum. */
__attribute__((reqd_work_group_size(GROUP, 1, 1))) __kernel void life_count_packed(
    __global const ulong *words, ulong start, ulong n, ulong first, __global ulong2 *result,
    ulong slot)
{
    __local ulong2 sum[GROUP];
    ulong2 mine = (ulong2)(0, 0);
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        const ulong w = words[start + i];
        mine.x += popcount(w);
        mine.y += w ? mix64(w + (first + i + 1) * 0x9e3779b97f4a7c15ul) : 0;
    }
    count_reduce(mine, sum, result + slot);
}

/* Count a rank's block, which has `own` words of each of its rows. Rows are `stride` words apart
 * in the buffers and `pitch` words in the grid. */
__attribute__((reqd_work_group_size(GROUP, 1, 1))) __kernel void life_count_block(
    __global const ulong *words, ulong start, ulong rows, ulong stride, ulong own, ulong first,
    ulong pitch, __global ulong2 *result, ulong slot)
{
    __local ulong2 sum[GROUP];
    ulong2 mine = (ulong2)(0, 0);
    for (ulong i = get_global_id(0); i < rows * own; i += get_global_size(0)) {
        const ulong y = i / own, x = i % own, w = words[start + y * stride + x];
        mine.x += popcount(w);
        mine.y += w ? mix64(w + (first + y * pitch + x + 1) * 0x9e3779b97f4a7c15ul) : 0;
    }
    count_reduce(mine, sum, result + slot);
}

/* Count the padded grid of global.cl; the place of a cell is y * width + x. */
__attribute__((reqd_work_group_size(GROUP, 1, 1))) __kernel void life_count_padded(
    __global const int *grid, int width, int height, __global ulong2 *result, ulong slot)
{
    __local ulong2 sum[GROUP];
    ulong2 mine = (ulong2)(0, 0);
    const ulong n = (ulong)width * (ulong)height;
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        const ulong x = i % (ulong)width, y = i / (ulong)width;
        if (grid[(y + 1) * ((ulong)width + 2) + x + 1]) {
            mine.x++;
            mine.y += mix64(1 + (i + 1) * 0x9e3779b97f4a7c15ul);
        }
    }
    count_reduce(mine, sum, result + slot);
}

/* Copy n words from `words` + start to `to` + at: rows at the end of a partition, to or from an
 * edge buffer. */
__attribute__((reqd_work_group_size(GROUP, 1, 1))) __kernel void life_copy(
    __global const ulong *words, ulong start, ulong n, __global ulong *to, ulong at)
{
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
        to[at + i] = words[start + i];
}

/* Copy a word of each of n rows, words start, start + stride, ..., to a column (out) or from it. */
__attribute__((reqd_work_group_size(GROUP, 1, 1))) __kernel void life_columns(
    __global ulong *words, ulong start, ulong stride, ulong n, __global ulong *column, int out)
{
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0))
        if (out)
            column[i] = words[start + i * stride];
        else
            words[start + i * stride] = column[i];
}
