/* baseline.cl - three kernels for the sum over all pairs, each faster than the one before: from the
 * formula taken literally to the textbooks' kernel. The next in this row is direct.cl.
 *
 *   naive        bodies, an array of structures; an item is a body i and walks along all j
 *
 *                  | pos v f mass | pos v f mass | pos v f mass | ...     of 64 bytes fetched a
 *                  body 16
 *                    j = 0 ------>  i: if (j != i) ----------->           are used; a branch at
 *                    every j
 *
 *   branchless   the same array in two loops, without a branch
 *
 *                    j < i ------>| i |--------> j > i
 *
 *   tiled        posm, {x, y, z, G m} and nothing else; a group fetches GROUP bodies at a time into
 *                local
 *                memory, each item one of them, and then every item meets them all there
 *
 *                  posm  | 0 ... GROUP-1 | GROUP ...       | ...          global memory, read once
 *                        a group
 *                        +-------v-------+
 *                  tile  | one j an item |                                local memory, read by all
 *                        items
 *                        +---------------+
 *
 * The force per unit of mass on i is the sum over j != i of G m_j d / r^3 with d = x_j - x_i and
 * r^2 = d^2 + eps^2; eps is never 0, but very small where there is no softening (forces_sum.c), so
 * that bodies at one place pull each other by 0. There may be more items than bodies: n need not be
 * a multiple of the group. Plain C, for comparison: nbody_ref_forces in nbody_ref.c.
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
#ifndef NBODY_LADDER_H /* the host puts it in front */
#include "baseline.h"
#endif

LADDER_BODY(body, real, real4);

/* ---- 1. As the formula says: m / r^3, and not for oneself. ----------------------------------- */

/* pown() takes any whole exponent, and few compilers replace it by r r r: on CPUs it costs more
 * than all the rest of the pull. */
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

/* ---- 2. Without a branch in the loop. -------------------------------------------------------- */

/* The softening is a distance along a fourth axis. (What it adds to the fourth component is not
 * used.) */
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

/* ---- 3. Each body fetched once for a whole group. -------------------------------------------- */

/* acc: planes of x, y and z, `rows` numbers each. `tile` has room for one body an item. Every item
 * must reach every barrier, so items behind the last body compute too, and their result is dropped.
 * The rest of the last tile is filled with bodies of no mass. The pull on oneself is 0, because d
 * is. */
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
        barrier(CLK_LOCAL_MEM_FENCE); /* and all items have read it */
    }
    if (i >= n)
        return;
    acc[i] = f.x;
    acc[rows + i] = f.y;
    acc[2 * (size_t)rows + i] = f.z;
}

/* ---- Between the engine's arrays and the structures. ----------------------------------------- */

/* posm and the velocities, planes 3 to 5 of state (step.cl), to structures. */
kernel void pack(global const real4 *posm, global const real *state, global struct body *bodies,
                 uint n, uint rows)
{
    const size_t i = get_global_id(0), plane = rows;
    if (i >= n)
        return;
    const real4 b = posm[i];
    bodies[i].pos = (real4)(b.x, b.y, b.z, 0);
    bodies[i].v = (real4)(state[3 * plane + i], state[4 * plane + i], state[5 * plane + i], 0);
    bodies[i].mass = b.w;
}

/* The forces in the structures to planes. */
kernel void unpack(global const struct body *bodies, global real *acc, uint n, uint rows)
{
    const size_t i = get_global_id(0), plane = rows;
    if (i >= n)
        return;
    acc[i] = bodies[i].f.x;
    acc[plane + i] = bodies[i].f.y;
    acc[2 * plane + i] = bodies[i].f.z;
}
