/* baseline.cl - three kernels for the sum over all pairs, each faster than the previous one: from
 * the formula taken literally to the textbook kernel. direct.cl is the next step.
 *
 *   naive        bodies, an array of structures; an item is a body i and loops over all j
 *
 *                  | pos v f mass | pos v f mass | ...      of 64 bytes loaded per body 16 are used
 *                    j = 0 ------>  i: if (j != i) ----->   and every j costs a branch
 *
 *   branchless   the same array in two loops, without a branch
 *
 *                    j < i ------>| i |--------> j > i
 *
 *   tiled        posm, {x, y, z, G m} only; a group loads GROUP bodies at a time into local memory,
 *                one per item, and then every item interacts with all of them
 *
 *                  posm  | 0 ... GROUP-1 | GROUP ...    | ...     global memory, read once
 *                        +-------v-------+
 *                  tile  | one j an item |                        local memory, read by all items
 *                        +---------------+
 *
 * The force per unit of mass on i is the sum over j != i of G m_j d / r^3 with d = x_j - x_i and
 * r^2 = d^2 + eps^2. eps is never 0, but has a tiny minimum (sums.c), so that two bodies at
 * one place do not interact. There may be more items than bodies: n need not be a multiple of the
 * group. Scalar reference: nbody_ref_forces in nbody_ref.c.
 * SPDX-License-Identifier: MIT
 */
#ifdef DOUBLE
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double real;
typedef double4 real4;
#else
typedef float real;
typedef float4 real4;
#endif
#ifndef NBODY_BASELINE_H /* prepended by the host */
#include "baseline.h"
#endif

BASELINE_BODY(body, real, real4);

/* ---- 1. naive: m / r^3, except for the body itself. ------------------------------------------ */

/* pown() takes any integer exponent, and few compilers replace it by r r r. On CPUs it costs more
 * than the rest of the interaction. */
kernel void naive(global struct body *bodies, uint n, real eps)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    real4 f = 0;
    for (uint j = 0; j < n; j++) {
        if (j == i)
            continue;
        const real4 d = bodies[j].pos - bodies[i].pos;
        const real r = sqrt(d.x * d.x + d.y * d.y + d.z * d.z + eps * eps);
        f += bodies[j].mass / pown(r, 3) * d;
    }
    bodies[i].f = f;
}

/* ---- 2. branchless: no branch in the loop. --------------------------------------------------- */

/* The softening is a distance along a fourth axis. Its contribution to the fourth component of the
 * result is not used. */
static inline real4 pull(real4 at, real4 other, real mass, real eps)
{
    other.w = eps;
    const real r = distance(at, other);
    return mass / (r * r * r) * (other - at);
}

kernel void branchless(global struct body *bodies, uint n, real eps)
{
    const uint i = get_global_id(0);
    if (i >= n)
        return;
    const real4 at = bodies[i].pos;
    real4 f = 0;
    for (uint j = 0; j < i; j++)
        f += pull(at, bodies[j].pos, bodies[j].mass, eps);
    for (uint j = i + 1; j < n; j++)
        f += pull(at, bodies[j].pos, bodies[j].mass, eps);
    bodies[i].f = f;
}

/* ---- 3. tiled: each body loaded once per group. ---------------------------------------------- */

/* acc: planes of x, y and z, `rows` numbers each. tile: room for one body per item. Every item
 * must reach every barrier, so items beyond the last body compute too and discard their result.
 * The last tile is filled with bodies of no mass. The self-interaction is 0 because d is. */
kernel void tiled(global const real4 *posm, global real *acc, local real4 *tile, uint n, uint rows,
                  real eps)
{
    const uint i = get_global_id(0), item = get_local_id(0), group = get_local_size(0);
    const real4 at = posm[min(i, n - 1)];
    real4 f = 0;
    for (uint first = 0; first < n; first += group) {
        tile[item] = first + item < n ? posm[first + item] : (real4)(0);
        barrier(CLK_LOCAL_MEM_FENCE); /* the tile is complete */
        for (uint t = 0; t < group; t++) {
            const real4 d = tile[t] - at;
            const real r2 = d.x * d.x + d.y * d.y + d.z * d.z + eps * eps;
            const real w = rsqrt(r2);
            f += tile[t].w * w * w * w * d;
        }
        barrier(CLK_LOCAL_MEM_FENCE); /* all items have read the tile */
    }
    if (i >= n)
        return;
    acc[i] = f.x;
    acc[rows + i] = f.y;
    acc[2 * (size_t)rows + i] = f.z;
}

/* ---- Between the engine's arrays and the structures. ----------------------------------------- */

/* Copy posm and the velocities, planes 3 to 5 of state (step.cl), to structures. */
kernel void baseline_pack(global const real4 *posm, global const real *state,
                          global struct body *bodies, uint n, uint rows)
{
    const size_t i = get_global_id(0), plane = rows;
    if (i >= n)
        return;
    const real4 b = posm[i];
    bodies[i].pos = (real4)(b.x, b.y, b.z, 0);
    bodies[i].v = (real4)(state[3 * plane + i], state[4 * plane + i], state[5 * plane + i], 0);
    bodies[i].mass = b.w;
}

/* Copy the forces in the structures to planes. */
kernel void baseline_unpack(global const struct body *bodies, global real *acc, uint n, uint rows)
{
    const size_t i = get_global_id(0), plane = rows;
    if (i >= n)
        return;
    acc[i] = bodies[i].f.x;
    acc[plane + i] = bodies[i].f.y;
    acc[2 * plane + i] = bodies[i].f.z;
}
