/* diagnose.cl - sums over the bodies of a device: energies, momentum, angular momentum.
 *
 *   sums[block][8]: kinetic, potential, px, py, pz, Lx, Ly, Lz, with G m in place of m
 *
 * A group takes a block of SUM_BLOCK bodies and adds them in local memory, in an order that does not depend on its size. Sums are double; where there is none (or NO_FP64 asks for it) a sum is a pair of floats
 * {value, rounding error}, which holds 48 bits (Knuth's two-sum), and the host adds the two.
 * SPDX-License-Identifier: MIT
 */
#pragma OPENCL FP_CONTRACT OFF
#ifndef SUM_GROUP
#define SUM_GROUP 64 /* work-items of a group, a power of two from 8 up */
#endif
#define SUM_BLOCK 64 /* bodies of a block; as engine.h has it */
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

/* vel: the engine's `state`, whose planes 3-5 are velocities. phi: what `potentials` left, one plane a slot; the factor
 * 1/2 counts each pair once. */
kernel __attribute__((reqd_work_group_size(SUM_GROUP, 1, 1))) void diagnose(
    global const real4 *posm, global const real *state, global const real *phi, uint first, uint rows,
    uint count, uint slots, global wide *sums)
{
    local wide part[8][SUM_BLOCK];
    const uint lid = get_local_id(0), block = get_group_id(0);
    for (uint at = lid; at < SUM_BLOCK; at += SUM_GROUP) {
        const size_t i = (size_t)block * SUM_BLOCK + at;
        for (int k = 0; k < 8; k++) part[k][at] = widen(0);
        if (i >= count) continue;
        const real4 b = posm[first + i];
        global const real *vel = state + 3 * (size_t)rows + i;
        const term m = b.w, x = b.x, y = b.y, z = b.z;
        const term vx = vel[0], vy = vel[rows], vz = vel[2 * (size_t)rows];
        real p = phi[i];
        for (uint s = 1; s < slots; s++) p += phi[s * (size_t)rows + i];
        part[0][at] = widen(m * (vx * vx + vy * vy + vz * vz) / 2);
        part[1][at] = widen(m * (term)p / 2);
        part[2][at] = widen(m * vx);
        part[3][at] = widen(m * vy);
        part[4][at] = widen(m * vz);
        part[5][at] = widen(m * (y * vz - z * vy));
        part[6][at] = widen(m * (z * vx - x * vz));
        part[7][at] = widen(m * (x * vy - y * vx));
    }
    for (uint half_ = SUM_BLOCK / 2; half_ > 0; half_ /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint at = lid; at < half_; at += SUM_GROUP)
            for (int k = 0; k < 8; k++) part[k][at] = plus(part[k][at], part[k][at + half_]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < 8) sums[block * 8 + lid] = part[lid][0];
}
