/* added_forces.cl - built-in forces, and functions of the user from files, as one more partial sum;
 * the host prepends step.cl, laws.cl and the files.
 *
 *   table[0 .. LAW_NUMBERS - 1]    factors from engine units to the caller's: length, speed, mass,
 *                                  time; then from the caller's acceleration to the engine's
 *   table[LAW_NUMBERS * (k + 1)]   force k, as in laws.cl
 *   own[0 .. rows - 1]             potential of each body; own[rows ...]: position times force
 *
 * Files see the caller's units. ADDED_FILES stands for calls of their functions.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_STEP_CL /* prepended by the host */
#include "laws.cl"
#endif
#ifndef ADDED_FILES
#define ADDED_FILES(K, X, V, M, T, I, A) /* no files */
typedef real4 real3;                     /* only for editors */
#endif

/* Add the acceleration by function number k of the files. */
static inline void added_by_file(uint k, global const real *factor, real gm,
                                 PRIVATE const struct law_place *at, real a[3])
{
    real sum[3] = {0, 0, 0};
    ADDED_FILES(k, factor[0] * ((real3)(at->x[0], at->x[1], at->x[2])),
                factor[1] * ((real3)(at->v[0], at->v[1], at->v[2])), factor[2] * gm,
                factor[3] * at->time, at->i, sum)
    law_pull(a, factor[4], sum);
}

/* Velocity of row i at the time of its position; lag: time from the stored velocity to it. */
static inline void added_velocity(global const real *state, uint rows, uint i, real lag, real v[3])
{
    for (uint c = 0; c < 3; c++) {
        const real old = state[(3 + c) * (size_t)rows + i];
        v[c] = lag != 0 ? fma(lag, state[c * (size_t)rows + i], old) : old;
    }
}

/* Evaluate forces number `from` to `end` - 1 for the bodies of a device. order: body in each row,
 * with `sorted`. planes: 3: accelerations, 1: potentials. adds: add to the partial sum, else store
 * it. */
kernel void added_forces(global const real4 *posm, global const real *state,
                         global const uint *order, uint sorted, global real *out, global real *own,
                         uint posm_first, uint first, uint rows, uint count, uint n,
                         uint which_partial, uint planes, uint adds, global const real *table,
                         uint from, uint end, real time, real lag)
{
    const uint i = get_global_id(0);
    if (i >= count)
        return;
    const real4 x = posm[posm_first + i];
    const struct law_bodies bodies = {(global const real *)posm, n};
    struct law_place at = {{x.x, x.y, x.z}, {0, 0, 0}, time, {0, 0, 0}, first + i};
    real a[3] = {0, 0, 0}, potential = 0;
    added_velocity(state, rows, i, lag, at.v);
    for (uint k = from; k < end; k++) {
        global const real *const p = table + LAW_NUMBERS * (k + 1);
        if ((int)p[0] == LAW_FILE) {
            const uint row = at.i;
            at.i = sorted ? order[row] : row;
            added_by_file((uint)p[1], table, x.w, &at, a);
            at.i = row;
            continue;
        }
        if ((int)p[0] == LAW_RADIATION && p[3] > 0)
            added_velocity(state, rows, (uint)p[1] - first, lag, at.source_v);
        potential += law_add(p, &bodies, &at, a);
    }
    const real all[3] = {planes == 1 ? potential : a[0], a[1], a[2]};
    global real *const to = out + (size_t)which_partial * planes * rows + i;
    for (uint c = 0; c < planes; c++)
        to[c * (size_t)rows] = adds ? to[c * (size_t)rows] + all[c] : all[c];
    if (planes == 1) {
        own[i] = potential;
        own[rows + i] = law_dot(at.x, a);
    }
}
