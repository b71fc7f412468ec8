/* fused.cl - the energy of a gas that is never stored: velocities are drawn, squared and added up.
 *
 *   Molecules are numbered. A block of GROUP x ITEMS x WIDTH consecutive ones belongs to a work-group, and its
 *   sum of v^2 to one number of partial[]. Item t draws vectors t, t + GROUP, ... of the block and adds them up
 *   in double; then the group adds its items pairwise. The order is a function of the shape alone, so every
 *   run gives the same bits, and blocks may be dealt out to any number of devices.
 */
#ifndef GROUP
#define GROUP 256 /* a power of two; 1 on CPUs */
#endif
#ifndef ITEMS
#define ITEMS 64 /* vectors that an item draws */
#endif
#ifndef WIDTH
#define WIDTH 1 /* molecules of a vector: 1 on GPUs, 8 or 16 on CPUs */
#endif
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#define MW_WIDTH WIDTH
#include "gas/maxwell.h"

#if WIDTH == 1
#define LANES 0u
#define DOUBLES double
#define TO_DOUBLE(v) (double)(v)
#define ADD_LANES(v) (v)
#elif WIDTH == 8
#define LANES (uint8)(0, 1, 2, 3, 4, 5, 6, 7)
#define DOUBLES double8
#define TO_DOUBLE(v) convert_double8(v)
#define ADD_LANES(v) add_lanes8(v)
#else
#define LANES (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define DOUBLES double16
#define TO_DOUBLE(v) convert_double16(v)
#define ADD_LANES(v) add_lanes8((v).lo + (v).hi)
#endif

double add_lanes8(double8 v)
{
    double4 four = v.lo + v.hi;
    double2 two = four.lo + four.hi;
    return two.x + two.y;
}

/* Adds v^2 of the molecules from `here` on that exist. `here` is a multiple of WIDTH, so that the high word
 * is the same in a vector. */
DOUBLES squares(ulong here, ulong n, uint k0, uint k1)
{
    mw_uint low = (mw_uint)((uint)here) + LANES, high = (mw_uint)((uint)(here >> 32));
    mw_float x, y, z;
    mw_velocity(low, high, k0, k1, &x, &y, &z);
#if WIDTH > 1
    if (here + WIDTH > n) { /* the last vector: molecules beyond n are at rest */
        mw_uint exist = MW_CAT(as_, MW_TYPE(uint))(low < (mw_uint)((uint)n));
        x = MW_REAL(MW_BITS(x) & exist), y = MW_REAL(MW_BITS(y) & exist), z = MW_REAL(MW_BITS(z) & exist);
    }
#endif
    DOUBLES dx = TO_DOUBLE(x), dy = TO_DOUBLE(y), dz = TO_DOUBLE(z);
    return fma(dx, dx, fma(dy, dy, dz * dz));
}

/* Sums of v^2 of blocks first, first + 1, ... (one a work-group) of a gas of n molecules into partial[]. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
gas_fused(__global double *partial, ulong first, ulong n, uint k0, uint k1)
{
    const ulong base = (first + get_group_id(0)) * (GROUP * ITEMS * WIDTH) + get_local_id(0) * WIDTH;
    DOUBLES sum = 0;
    for (int i = 0; i < ITEMS; i++) {
        const ulong here = base + (ulong)i * (GROUP * WIDTH);
        if (here < n)
            sum += squares(here, n, k0, k1);
    }
#if GROUP > 1
    __local double part[GROUP];
    part[get_local_id(0)] = ADD_LANES(sum);
    for (int apart = GROUP / 2; apart > 0; apart /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if ((int)get_local_id(0) < apart)
            part[get_local_id(0)] += part[get_local_id(0) + apart];
    }
    if (get_local_id(0) == 0)
        partial[get_group_id(0)] = part[0];
#else
    partial[get_group_id(0)] = ADD_LANES(sum);
#endif
}
