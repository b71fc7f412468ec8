/* segments.cl - sums of the segments of an array; histograms.
 *
 *     x         | a b c | d | | e f ... |        offsets   0 3 4 4 ...
 *     sums        a+b+c   d  0   e+f+...
 *
 * The order of additions in a segment is fixed: lane l of 64 adds every 64th element from the l-th
 * on, and the lanes are joined pairwise, neighbours first. Floats are added in doubles, if the
 * device has them; integers wrap around.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_TILES_H
#include "tiles.h"
#endif

#if defined(cl_khr_fp64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#pragma OPENCL FP_CONTRACT OFF

#ifndef REAL
#define REAL 1 /* 0: integers */
#endif
#ifndef WIDE /* type of sums */
#if defined(cl_khr_fp64)
#define WIDE double
#else
#define WIDE float
#endif
#endif

#define LANES 64
#if GROUP < LANES
#define TEAM GROUP /* items that share a segment */
#else
#define TEAM LANES
#endif
#define TEAMS (GROUP / TEAM)

/* Add the elements begin ... end - 1 of x by lanes. */
void add_lanes(__local WIDE *part, __global const NUMBER *x, uint begin, uint end, uint item)
{
#if GROUP == 1
    for (uint l = 0; l < LANES; l++)
        part[l] = 0;
    for (uint i = begin; i < end; i++)
        part[(i - begin) % LANES] += (WIDE)x[i];
#else
    for (uint l = item; l < LANES; l += TEAM) {
        WIDE sum = 0;
        for (uint i = begin + l; i < end; i += LANES)
            sum += (WIDE)x[i];
        part[l] = sum;
    }
#endif
}

/* start: first elements of sums, x and offsets. Segments end at n at most. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void segment_sums(
    __global NUMBER *sums, __global const NUMBER *x, __global const uint *offsets, uint4 start,
    uint n, uint most, int counted, __global const uint *count)
{
    __local WIDE lanes[TEAMS * LANES];
    const uint segments = element_count(most, counted, count), item = get_local_id(0) % TEAM,
               team = get_local_id(0) / TEAM;
    __local WIDE *part = lanes + team * LANES;
    sums += start.x;
    x += start.y;
    offsets += start.z;
    for (uint first = get_group_id(0) * TEAMS; first < segments;
         first += get_num_groups(0) * TEAMS) {
        const uint segment = first + team;
        const uint end = segment < segments ? min(offsets[segment + 1], n) : 0;
        const uint begin = segment < segments ? min(offsets[segment], end) : 0;
        add_lanes(part, x, begin, end, item);
        for (uint apart = 1; apart < LANES; apart *= 2) {
            GROUP_BARRIER();
            for (uint l = item * 2 * apart; l < LANES; l += TEAM * 2 * apart)
                part[l] += part[l + apart];
        }
        if (item == 0 && segment < segments)
            sums[segment] = (NUMBER)part[0];
        GROUP_BARRIER();
    }
}

/* ---- Histograms. ----------------------------------------------------------------------------- */

#define LOCAL_BINS 2048

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void clear_bins(__global uint *bins,
                                                                            uint start, uint nbins)
{
    for (uint b = get_global_id(0); b < nbins; b += get_global_size(0))
        bins[start + b] = 0;
}

/* The bin of v; nbins if v is outside [lower, upper). */
#if REAL
uint bin_of(NUMBER v, NUMBER lower, NUMBER upper, NUMBER scale, uint nbins)
{
    return v >= lower && v < upper ? min((uint)((v - lower) * scale), nbins - 1) : nbins;
}
#else
uint bin_of(NUMBER v, long lower, long upper, long scale, uint nbins)
{
    return (long)v >= lower && (long)v < upper
               ? (uint)((ulong)((long)v - lower) * nbins / (ulong)(upper - lower))
               : nbins;
}
#endif
#if REAL
#define BOUND NUMBER
#else
#define BOUND long
#endif

/* start: first elements of bins and x. Groups count in local memory if the bins fit. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void count_bins(
    __global uint *bins, __global const NUMBER *x, uint2 start, BOUND lower, BOUND upper,
    BOUND scale, uint nbins, uint most, int counted, __global const uint *count)
{
    __local uint own[LOCAL_BINS];
    const uint n = element_count(most, counted, count), chunks = chunk_count(n, get_num_groups(0)),
               g = get_group_id(0);
    if (g >= chunks)
        return;
    const bool fits = nbins <= LOCAL_BINS;
    bins += start.x;
    x += start.y;
    for (uint b = get_local_id(0); fits && b < nbins; b += GROUP)
        own[b] = 0;
    GROUP_BARRIER();
    const uint end = chunk_start(n, chunks, g + 1);
    for (uint i = chunk_start(n, chunks, g) + get_local_id(0); i < end; i += GROUP) {
        const uint b = bin_of(x[i], lower, upper, scale, nbins);
        if (b < nbins && fits)
            atomic_inc(&own[b]);
        else if (b < nbins)
            atomic_inc(&bins[b]);
    }
    GROUP_BARRIER();
    for (uint b = get_local_id(0); fits && b < nbins; b += GROUP)
        if (own[b])
            atomic_add(&bins[b], own[b]);
}
