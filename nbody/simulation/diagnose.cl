/* diagnose.cl - sums over the bodies of a device: energies, momentum, angular momentum.
 *
 *   sums[block][9]: kinetic, potential, px, py, pz, Lx, Ly, Lz, virial, with G m in place of m
 *
 * The virial is the potential energy between bodies plus sum m x a in external fields and by added
 * forces. `added` holds the potential of each body, then x a (added_forces.cl).
 *
 * A group adds a block of SUM_BLOCK bodies in local memory, in an order that does not depend on the
 * group's size. Sums are doubles. Without doubles (or with NO_FP64) a sum is a pair of floats
 * {value, rounding error}, which holds 48 bits (Knuth's two-sum), and the host adds the two.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_STEP_CL /* prepended by the host, with external_field.cl */
#include "../integrator/step.cl"
#include "../force/external_field.cl"
#endif
#ifndef SUM_GROUP
#define SUM_GROUP 64 /* work-items per group, a power of two from 8 up */
#endif
#define SUM_BLOCK 64 /* bodies per block; as in engine.h */
#define TERMS 9      /* as SUM_TERMS in engine.h */

#if (defined(cl_khr_fp64) || defined(__opencl_c_fp64)) && !defined(NO_FP64)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double wide; /* type of sums */
typedef double term; /* type of terms */
static inline wide wide_add(wide a, wide b)
{
    return a + b;
}
static inline wide to_wide(term t)
{
    return t;
}
#else
typedef float2 wide;
typedef float term;
static inline wide wide_add(wide a, wide b)
{
    const float s = a.x + b.x, t = s - a.x;
    const float e = (a.x - (s - t)) + (b.x - t) + (a.y + b.y);
    const float r = s + e;
    return (wide)(r, e - (r - s));
}
static inline wide to_wide(term t)
{
    return (wide)(t, 0.0f);
}
#endif

/* velocities are planes 3-5 of `state`. phi: partial sums of `potentials`, without fields; the
 * factor 1/2 counts each pair once. */
kernel __attribute__((reqd_work_group_size(SUM_GROUP, 1, 1))) void diagnose(
    global const real4 *posm, global const real *state, global const real *phi, uint first,
    uint rows, uint count, uint npartial, global const real *fields, uint nfields,
    global const real *added, uint nadded, global wide *sums)
{
    local wide part[TERMS][SUM_BLOCK];
    const uint lid = get_local_id(0), block = get_group_id(0);
    for (uint at = lid; at < SUM_BLOCK; at += SUM_GROUP) {
        const size_t i = (size_t)block * SUM_BLOCK + at;
        for (int k = 0; k < TERMS; k++)
            part[k][at] = to_wide(0);
        if (i >= count)
            continue;
        const real4 b = posm[first + i];
        global const real *vel = state + 3 * (size_t)rows + i;
        const term m = b.w, x = b.x, y = b.y, z = b.z;
        const term vx = vel[0], vy = vel[rows], vz = vel[2 * (size_t)rows];
        const real p = partial_total(phi, i, rows, 0, 1, npartial);
        real xa;
        real outer = field_potential(fields, nfields, b, &xa);
        if (nadded) {
            outer += added[i];
            xa += added[rows + i];
        }
        part[0][at] = to_wide(m * (vx * vx + vy * vy + vz * vz) / 2);
        part[1][at] = to_wide(m * (term)p / 2 + m * (term)outer);
        part[2][at] = to_wide(m * vx);
        part[3][at] = to_wide(m * vy);
        part[4][at] = to_wide(m * vz);
        part[5][at] = to_wide(m * (y * vz - z * vy));
        part[6][at] = to_wide(m * (z * vx - x * vz));
        part[7][at] = to_wide(m * (x * vy - y * vx));
        part[8][at] = to_wide(m * (term)p / 2 + m * (term)xa);
    }
    for (uint half_ = SUM_BLOCK / 2; half_ > 0; half_ /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint at = lid; at < half_; at += SUM_GROUP)
            for (int k = 0; k < TERMS; k++)
                part[k][at] = wide_add(part[k][at], part[k][at + half_]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = lid; k < TERMS; k += SUM_GROUP)
        sums[block * TERMS + k] = part[k][0];
}
