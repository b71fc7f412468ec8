/* integrate_hermite4.cl - Hermite's 4th-order scheme, PEC (Makino & Aarseth 1992).
 *
 *   state        acceleration, velocity, position, jerk: corrected values
 *   posm, velo   predicted positions and velocities, at which sums over pairs are evaluated
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_STEP_CL /* prepended by the host */
#include "step.cl"
#endif

kernel void hermite4(global real4 *posm, global real4 *velo, global real *state,
                     global const real *partial, uint first, uint rows, uint count, uint npartial,
                     uint phases, real dt, global int *bad, int step)
{
    const size_t i = get_global_id(0), c = get_global_id(1), plane = 3 * (size_t)rows;
    if (i >= count)
        return;
    global real *acc = state + c * rows + i, *vel = acc + plane, *pos = vel + plane,
                *jrk = pos + plane;
    real a = *acc, j = *jrk, x = *pos, v = *vel;
    if (phases & REDUCE) {
        const real a0 = a, j0 = j;
        a = *acc = partial_total(partial, i, rows, c, 6, npartial);
        j = *jrk = partial_total(partial, i, rows, c + 3, 6, npartial);
        if (phases & KICK_CLOSE) { /* s2 = dt^2 a(2), s3 = dt^3 a(3) */
            const real s2 = C(-6) * (a0 - a) - dt * (C(4) * j0 + C(2) * j);
            const real s3 = C(12) * (a0 - a) + C(6) * dt * (j0 + j);
            x = COMPONENT(posm, first + i, c) + dt * dt * (s2 / 24 + s3 / 120);
            v = COMPONENT(velo, first + i, c) + dt * (s2 / 6 + s3 / 24);
            *pos = x;
            *vel = v;
            check_finite(x, bad, step);
            check_finite(v, bad, step);
        }
    }
    if (phases & KICK_DRIFT) {
        COMPONENT(posm, first + i, c) = x + dt * fma(dt / 2, fma(dt / 3, j, a), v);
        COMPONENT(velo, first + i, c) = v + dt * fma(dt / 2, j, a);
    }
}

/* Copy the corrected values to posm and velo. */
kernel void hermite4_synchronize(global real4 *posm, global real4 *velo, global const real *state,
                                 uint first, uint rows, uint count)
{
    const size_t i = get_global_id(0), c = get_global_id(1), plane = 3 * (size_t)rows;
    if (i >= count)
        return;
    COMPONENT(posm, first + i, c) = state[2 * plane + c * rows + i];
    COMPONENT(velo, first + i, c) = state[plane + c * rows + i];
}
