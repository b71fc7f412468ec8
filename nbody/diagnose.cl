/* diagnose.cl - sums over the bodies of a device: energies, momentum, angular momentum.
 *
 *   sums[group][8]: kinetic, potential, px, py, pz, Lx, Ly, Lz, with G m in place of m
 *
 * Every item strides through the rows, then a group adds its items in local memory, always in the same
 * order. Sums are double; where there is none (or NO_FP64 asks for it) a sum is a pair of floats
 * {value, rounding error}, which holds 48 bits (Knuth's two-sum), and the host adds the two.
 * SPDX-License-Identifier: MIT
 */
#ifndef SUM_GROUP
#define SUM_GROUP 64 /* work-items of a group, a power of two */
#endif
#ifdef __FAST_RELAXED_MATH__
#error "diagnose.cl: not with -cl-fast-relaxed-math, which undoes sums in pairs of floats"
#endif
#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double4 real4;
#else
typedef float real;
typedef float4 real4;
#endif

#if (defined(cl_khr_fp64) || defined(__opencl_c_fp64)) && !defined(NO_FP64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double wide; /* what is added */
typedef double term; /* what terms are computed in */
static inline wide plus(wide a, wide b) { return a + b; }
static inline wide widen(term t) { return t; }
#else
typedef float2 wide;
typedef float term;
static inline wide plus(wide a, wide b)
{
    const float s = a.x + b.x, t = s - a.x;
    const float e = (a.x - (s - t)) + (b.x - t) + (a.y + b.y);
    const float r = s + e;
    return (wide)(r, e - (r - s));
}
static inline wide widen(term t) { return (wide)(t, 0.0f); }
#endif

/* vel: the engine's `state`, whose planes 3-5 are velocities. phi: the planes that `potentials` left,
 * one a split; the factor 1/2 counts each pair once. */
kernel __attribute__((reqd_work_group_size(SUM_GROUP, 1, 1))) void diagnose(
    global const real4 *posm, global const real *state, global const real *phi, uint first, uint rows,
    uint count, uint splits, global wide *sums)
{
    local wide part[8][SUM_GROUP];
    const uint lid = get_local_id(0);
    wide sum[8];
    for (int k = 0; k < 8; k++) sum[k] = widen(0);
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0)) {
        const real4 b = posm[first + i];
        global const real *vel = state + 3 * (size_t)rows + i;
        const term m = b.w, x = b.x, y = b.y, z = b.z;
        const term vx = vel[0], vy = vel[rows], vz = vel[2 * (size_t)rows];
        term p = 0;
        for (uint s = 0; s < splits; s++) p += phi[s * (size_t)rows + i];
        sum[0] = plus(sum[0], widen(m * (vx * vx + vy * vy + vz * vz) / 2));
        sum[1] = plus(sum[1], widen(m * p / 2));
        sum[2] = plus(sum[2], widen(m * vx));
        sum[3] = plus(sum[3], widen(m * vy));
        sum[4] = plus(sum[4], widen(m * vz));
        sum[5] = plus(sum[5], widen(m * (y * vz - z * vy)));
        sum[6] = plus(sum[6], widen(m * (z * vx - x * vz)));
        sum[7] = plus(sum[7], widen(m * (x * vy - y * vx)));
    }
    for (int k = 0; k < 8; k++) part[k][lid] = sum[k];
    for (uint half_ = SUM_GROUP / 2; half_ > 0; half_ /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < half_)
            for (int k = 0; k < 8; k++) part[k][lid] = plus(part[k][lid], part[k][lid + half_]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < 8) sums[get_group_id(0) * 8 + lid] = part[lid][0];
}
