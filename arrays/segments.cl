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

#define SHORT 16 /* segments of at most this length are added by one item each */

/* As add_lanes and the joining of lanes, for a short segment: lanes beyond it have 0. */
INLINE WIDE add_short(__global const NUMBER *x, uint begin, uint end)
{
    WIDE lane[SHORT];
#pragma unroll
    for (uint l = 0; l < SHORT; l++)
        lane[l] = begin + l < end ? (WIDE)0 + (WIDE)x[begin + l] : 0;
#pragma unroll
    for (uint apart = 1; apart < SHORT; apart *= 2)
#pragma unroll
        for (uint l = 0; l < SHORT; l += 2 * apart)
            lane[l] += lane[l + apart];
    return lane[0];
}

/* start: first elements of sums, x and offsets. Segments end at n at most. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void segment_sums(
    __global NUMBER *sums, __global const NUMBER *x, __global const uint *offsets, uint4 start,
    uint n, uint most, int counted, __global const uint *count)
{
    __local WIDE lanes[TEAMS * LANES];
    __local uint longer[GROUP], nlonger; /* segments for teams */
    const uint segments = element_count(most, counted, count), item = get_local_id(0) % TEAM,
               team = get_local_id(0) / TEAM, groups = get_num_groups(0),
               each = clamp((segments + (groups - 1)) / groups, (uint)TEAMS, (uint)GROUP);
    __local WIDE *part = lanes + team * LANES;
    sums += start.x;
    x += start.y;
    offsets += start.z;
    for (uint first = get_group_id(0) * each; first < segments; first += groups * each) {
        if (get_local_id(0) == 0)
            nlonger = 0;
        GROUP_BARRIER();
        const uint own = first + get_local_id(0);
        if (get_local_id(0) < each && own < segments) {
            const uint end = min(offsets[own + 1], n), begin = min(offsets[own], end);
            if (end - begin <= SHORT)
                sums[own] = (NUMBER)add_short(x, begin, end);
            else
                longer[atomic_inc(&nlonger)] = own;
        }
        GROUP_BARRIER();
        const uint most_longer = READ(uint, nlonger);
        for (uint k = 0; k < most_longer; k += TEAMS) {
            const uint segment = k + team < most_longer ? longer[k + team] : segments;
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
}

/* ---- Histograms. ----------------------------------------------------------------------------- */

/* Groups count in local memory: bytes by their values, which are assigned to bins at the end;
 * numbers by their bins, if these fit. Each counter has COPIES copies, a power of two up to 32, so
 * that items rarely meet, also if all elements are equal:
 *
 *     counter     0        1        2 ...         copies of neighbours are in different banks
 *     copies   0 1 2 3  0 1 2 3  0 1 2 3
 */
#ifndef LOCAL_COUNTERS
#ifdef __NV_CL_C_VERSION
#define LOCAL_COUNTERS 8192
#else
#define LOCAL_COUNTERS 4096
#endif
#endif
#ifndef BYTES
#define BYTES 0 /* 1: elements are bytes */
#endif
#if GROUP == 1
#define MOST_COPIES 4 /* an addition to a counter waits for the last one */
#define ADD_1(counter) ((counter)++)
#else
#define MOST_COPIES 32
#define ADD_1(counter) atomic_inc(&(counter))
#endif
#define BATCH 8 /* elements of an item that are loaded at once */
/* Clearing and adding a copy takes time: it is worth it for this number of elements of the group
 * for each counter. */
#define ELEMENTS_EACH 2

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void clear_bins(__global uint *bins,
                                                                            uint start, uint nbins)
{
    for (uint b = get_global_id(0); b < nbins; b += get_global_size(0))
        bins[start + b] = 0;
}

#if REAL
#define BOUND NUMBER
#define SCALE NUMBER
#else
#define BOUND long
#define SCALE float
#endif

struct bin_range {
    BOUND lower, upper; /* of the elements that are counted */
    BOUND base, unit;   /* real numbers: the lower end in units; units of 1 */
    BOUND width, sure;  /* real numbers: units of a bin; see histogram_bounds */
    SCALE scale;        /* bins of a unit */
    uint nbins;
};

/* The bin of v; nbins if v is outside [lower, upper). */
#if REAL
/* The product with the scale gives the bin, or for an element on an edge or just above it perhaps
 * the bin before. There the comparisons decide: every device rounds each of their operations
 * correctly. `from_lower` is exact near `lower`, and the sum with `edge` far from it. */
uint bin_of(NUMBER v, struct bin_range r)
{
    if (!(v >= r.lower && v < r.upper))
        return r.nbins;
    const NUMBER x = v * r.unit, from_lower = x - r.base, estimate = from_lower * r.scale;
    const uint bin = min((uint)estimate, r.nbins - 1);
    if (estimate - (NUMBER)bin < r.sure || bin == r.nbins - 1)
        return bin;
    const NUMBER edge = (NUMBER)(bin + 1) * r.width;
    return bin + (from_lower >= edge && x >= r.base + edge);
}
#else
uint bin_of(NUMBER v, struct bin_range r)
{
    enum { MOST_ESTIMATED = 1 << 16 }; /* estimates below it are wrong by 1 at most */
    if ((long)v < r.lower || (long)v >= r.upper)
        return r.nbins;
    const ulong from_lower = (ulong)((long)v - r.lower), width = (ulong)(r.upper - r.lower);
    if (r.nbins > MOST_ESTIMATED)
        return (uint)(from_lower * r.nbins / width);
    const uint bin = (uint)((float)from_lower * r.scale);
    const long rest = (long)(from_lower * r.nbins - bin * width);
    return rest < 0 ? bin - 1 : rest >= (long)width ? bin + 1 : bin;
}
#endif

/* Count an element: in a group's counters or, if bins do not fit, in `bins`. */
INLINE void count_element(__local uint *own, volatile __global uint *bins, NUMBER v,
                          struct bin_range r, uint copies, uint copy)
{
    const uint place = BYTES ? (uint)v : bin_of(v, r);
    const bool inside = BYTES ? true : place < r.nbins;
    if (copies && inside)
        ADD_1(own[place * copies + (copy & (copies - 1))]);
    else if (inside)
        atomic_inc(&bins[place]);
}

#if BYTES
/* Count bytes from ... to - 1 of a buffer, four at once but at the ends. */
INLINE void count_chunk(__local uint *own, volatile __global uint *bins, __global const uchar *x,
                        uint from, uint to, struct bin_range r, uint copies)
{
    const uint item = get_local_id(0), head = min((from + 3) / 4 * 4, to),
               tail = max(to / 4 * 4, head), end = tail / 4;
    __global const uint *words = (__global const uint *)x;
    for (uint i = from + item; i < head; i += GROUP)
        count_element(own, bins, x[i], r, copies, item);
    for (uint i = tail + item; i < to; i += GROUP)
        count_element(own, bins, x[i], r, copies, item);
    for (uint i = head / 4 + item; i < end; i += BATCH * GROUP) {
        uint v[BATCH];
#pragma unroll
        for (uint k = 0; k < BATCH; k++)
            v[k] = i + k * GROUP < end ? words[i + k * GROUP] : 0;
#pragma unroll
        for (uint k = 0; k < BATCH; k++)
            for (uint byte = 0; byte < 4 && i + k * GROUP < end; byte++)
                count_element(own, bins, (uchar)(v[k] >> 8 * byte), r, copies, item + byte);
    }
}
#else
/* Count elements from ... to - 1 of a buffer. */
INLINE void count_chunk(__local uint *own, volatile __global uint *bins, __global const NUMBER *x,
                        uint from, uint to, struct bin_range r, uint copies)
{
    for (uint i = from + get_local_id(0); i < to; i += BATCH * GROUP) {
        NUMBER v[BATCH];
#pragma unroll
        for (uint k = 0; k < BATCH; k++)
            v[k] = i + k * GROUP < to ? x[i + k * GROUP] : 0;
#pragma unroll
        for (uint k = 0; k < BATCH; k++)
            if (i + k * GROUP < to)
                count_element(own, bins, v[k], r, copies, get_local_id(0) + k);
    }
}
#endif

/* Move the totals of all groups to the bins, in the last group that calls this, and leave 0. */
void move_totals(__global uint *bins, volatile __global uint *totals, uint nbins, uint groups,
                 __local uint *arrived)
{
    DEVICE_FENCE();
    GROUP_BARRIER();
    if (get_local_id(0) == 0)
        *arrived = atomic_inc(&totals[0]);
    GROUP_BARRIER();
    if (READ(uint, *arrived) != groups - 1)
        return;
    DEVICE_FENCE();
    for (uint b = get_local_id(0); b < nbins; b += GROUP)
        bins[b] = atomic_xchg(&totals[1 + b], 0);
    if (get_local_id(0) == 0)
        totals[0] = 0;
}

/* start: first elements of bins and x. One launch (once): groups add to totals[1 + bin], and the
 * last to finish, by the counter totals[0], writes the bins; totals are 0 before and after. Else
 * the bins are 0 before, and groups add to them. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void count_bins(
    __global uint *bins, __global const NUMBER *x, uint2 start, BOUND lower, BOUND upper,
    BOUND base, BOUND unit, BOUND scale, BOUND width, BOUND sure, uint nbins, uint most,
    int counted, __global const uint *count, volatile __global uint *totals, int once)
{
    __local uint own[LOCAL_COUNTERS], arrived;
    const uint n = element_count(most, counted, count),
               chunks = max(chunk_count(n, get_num_groups(0)), 1u), g = get_group_id(0),
               item = get_local_id(0), counters = BYTES ? 256 : nbins;
    if (g >= chunks)
        return;
    const uint own_start = chunk_start(n, chunks, g), own_end = chunk_start(n, chunks, g + 1);
    const uint worth = (own_end - own_start) / ELEMENTS_EACH;
    uint copies = MOST_COPIES;
    while (copies && counters > LOCAL_COUNTERS / copies)
        copies /= 2; /* 0: they do not fit */
    while (copies > 1 && counters > worth / copies)
        copies /= 2;
    const SCALE bins_each = REAL ? (SCALE)scale : (SCALE)nbins / (SCALE)(upper - lower);
    const struct bin_range r = {lower, upper, base, unit, width, sure, bins_each, nbins};
    bins += start.x;
    volatile __global uint *sums = once ? totals + 1 : bins;
    for (uint i = item; copies && i < counters * copies; i += GROUP)
        own[i] = 0;
    GROUP_BARRIER();
    count_chunk(own, sums, x, start.y + own_start, start.y + own_end, r, copies);
    GROUP_BARRIER();
    for (uint c = item; copies && c < counters; c += GROUP) {
        uint sum = 0;
        for (uint k = 0; k < copies; k++)
            sum += own[c * copies + ((k + item) & (copies - 1))];
        const uint bin = BYTES ? bin_of((NUMBER)c, r) : c;
        if (sum && bin < nbins)
            atomic_add(&sums[bin], sum);
    }
    if (once)
        move_totals(bins, totals, nbins, chunks, &arrived);
}
