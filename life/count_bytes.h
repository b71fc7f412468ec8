/* count_bytes.h - precedes kernels with a byte a cell: population and hash.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_COUNT_BYTES_H
#define LIFE_COUNT_BYTES_H

#ifndef LIFE_MIX_H
#include "mix.h"
#endif

/* sums[slot + item] = (population, hash) of every get_global_size(0)-th of n bytes; a byte counts
 * if it is not 0. Padding after a row's end is 0. */
__kernel void life_count_bytes(__global const uchar *cells, const ulong n, __global ulong2 *sums,
                               const ulong slot)
{
    ulong2 mine = (ulong2)(0, 0);
    for (ulong i = get_global_id(0); i < n; i += get_global_size(0)) {
        const ulong state = cells[i];
        mine.x += state != 0;
        mine.y += state ? mix64(state + (i + 1) * 0x9e3779b97f4a7c15ul) : 0;
    }
    sums[slot + get_global_id(0)] = mine;
}

#endif
