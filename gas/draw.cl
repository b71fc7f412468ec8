/* draw.cl - velocities into memory, and histograms of speeds.
 *
 * Velocities are three planes x, y, z of REAL numbers, in units of sqrt(k_B T / m) or, if the
 * caller set them, in the caller's. A group has the 32768 molecules of a block.
 *
 * The host puts fixed_reduce.h and maxwell.h before this file (kernels.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_FIXED_REDUCE_H
#include "../arrays/fixed_reduce.h"
#endif
#ifndef GAS_MAXWELL_H
#define MW_WIDTH WIDTH
#include "maxwell.h"
#endif
#ifndef REAL
#define REAL float
#endif
#ifndef STORED
#define STORED 0 /* histogram: 1 reads the planes, 0 draws again */
#endif
typedef VECTOR(REAL) reals;

#if WIDTH == 1
#define LANE_NUMBERS 0u
#elif WIDTH == 2
#define LANE_NUMBERS (uint2)(0, 1)
#elif WIDTH == 4
#define LANE_NUMBERS (uint4)(0, 1, 2, 3)
#elif WIDTH == 8
#define LANE_NUMBERS (uint8)(0, 1, 2, 3, 4, 5, 6, 7)
#else
#define LANE_NUMBERS (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#endif

/* Loop over the vectors of an item in a group's block. */
#define FOR_VECTORS(here, block)                                                                   \
    for (ulong here = (block)*BLOCK + get_local_id(0) * WIDTH; here < ((block) + 1) * BLOCK;       \
         here += GROUP * WIDTH)

/* Draw molecules begin ... begin + n - 1. Planes have room for whole vectors, so
 * the last one may be written past n. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void draw(
    ulong first, ulong n, ulong begin, __global REAL *px, __global REAL *py, __global REAL *pz,
    uint k0, uint k1)
{
    FOR_VECTORS(here, first + get_group_id(0))
    {
        if (here >= n)
            break;
        mw_float x, y, z;
        const ulong number = begin + here;
        mw_velocity((mw_uint)((uint)number) + LANE_NUMBERS, (mw_uint)((uint)(number >> 32)), k0, k1,
                    &x, &y, &z);
        *(__global reals *)(px + here) = CONVERT(REAL, x);
        *(__global reals *)(py + here) = CONVERT(REAL, y);
        *(__global reals *)(pz + here) = CONVERT(REAL, z);
    }
}

/* Add to count[b] the number of speeds in [b, b + 1) / scale, and to count[bins] the number
 * beyond; `own` has room for bins + 1 counts of a group. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void histogram(
    ulong first, ulong n, __global const REAL *px, __global const REAL *py, __global const REAL *pz,
    uint k0, uint k1, float scale, uint bins, __global uint *count, __local uint *own)
{
    for (uint b = (uint)get_local_id(0); b <= bins; b += GROUP)
        own[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    FOR_VECTORS(here, first + get_group_id(0))
    {
        if (here >= n)
            break;
        mw_float x, y, z;
#if STORED
        x = CONVERT(float, *(__global const reals *)(px + here));
        y = CONVERT(float, *(__global const reals *)(py + here));
        z = CONVERT(float, *(__global const reals *)(pz + here));
#else
        mw_velocity((mw_uint)((uint)here) + LANE_NUMBERS, (mw_uint)((uint)(here >> 32)), k0, k1, &x,
                    &y, &z);
#endif
        const mw_float speed = mw_sqrt(fma(x, x, fma(y, y, z * z)));
        const mw_uint bin =
            min(GLUE(GLUE(convert_, VECTOR(uint)), _sat)(speed * scale), (mw_uint)bins);
#if WIDTH == 1
        atomic_inc(&own[bin]);
#else
        uint lane[WIDTH];
        GLUE(vstore, WIDTH)(bin, 0, lane);
        for (int l = 0; l < WIDTH; l++)
            if (here + l < n)
                atomic_inc(&own[lane[l]]);
#endif
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = (uint)get_local_id(0); b <= bins; b += GROUP)
        if (own[b])
            atomic_add(&count[b], own[b]);
}
