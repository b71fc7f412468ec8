/* integrate_hermite6.cl - Hermite's 6th-order scheme, PEC (Nitadori & Makino 2008, New Astronomy
 * 13, 498).
 *
 *   state              acceleration, velocity, position, and three derivatives of the acceleration:
 *                      corrected values
 *   posm, velo, acce   predicted positions, velocities and accelerations, at which sums over pairs
 *                      are evaluated
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_STEP_CL /* prepended by the host */
#include "step.cl"
#endif

kernel void hermite6(global real4 *posm, global real4 *velo, global real4 *acce, global real *state,
                     global const real *partial, uint first, uint rows, uint count, uint npartial,
                     uint phases, real dt, global int *bad, int step)
{
    const size_t i = get_global_id(0), c = get_global_id(1), plane = 3 * (size_t)rows;
    if (i >= count)
        return;
    global real *acc = state + c * rows + i, *vel = acc + plane, *pos = vel + plane,
                *jrk = pos + plane, *snp = jrk + plane, *crk = snp + plane;
    real a = *acc, v = *vel, x = *pos, j = *jrk, s = *snp, k = *crk;
    if (phases & REDUCE) {
        const real a0 = a, j0 = j, s0 = s, v0 = v;
        a = *acc = partial_total(partial, i, rows, c, 9, npartial);
        j = *jrk = partial_total(partial, i, rows, c + 3, 9, npartial);
        s = *snp = partial_total(partial, i, rows, c + 6, 9, npartial);
        if (phases & KICK_CLOSE) {
            const real h = dt, hh = h / 2;
            v = v0 + hh * ((a0 + a) - h / 5 * ((j - j0) - h / 12 * (s0 + s)));
            x = x + hh * ((v0 + v) - h / 5 * ((a - a0) - h / 12 * (j0 + j)));
            /* Third derivative at the end of the polynomial through both ends, from sums and
             * differences in units of half a step. */
            const real am = a - a0, jp = hh * (j + j0), jm = hh * (j - j0), sp = hh * hh * (s + s0),
                       sm = hh * hh * (s - s0);
            const real f3 = (C(-5) * am + C(5) * jp - sm) / 8, f4 = (sp - jm) / 16,
                       f5 = (C(3) * am - C(3) * jp + sm) / 16;
            k = (C(6) * f3 + C(24) * f4 + C(60) * f5) / (hh * hh * hh);
            *pos = x;
            *vel = v;
            *crk = k;
            check_finite(x, bad, step);
            check_finite(v, bad, step);
        }
    }
    if (phases & KICK_DRIFT) {
        COMPONENT(posm, first + i, c) =
            x + dt * fma(dt / 2, fma(dt / 3, fma(dt / 4, fma(dt / 5, k, s), j), a), v);
        COMPONENT(velo, first + i, c) = v + dt * fma(dt / 2, fma(dt / 3, fma(dt / 4, k, s), j), a);
        COMPONENT(acce, first + i, c) = a + dt * fma(dt / 2, fma(dt / 3, k, s), j);
    }
}

/* Copy the corrected values to posm, velo and acce. */
kernel void hermite6_synchronize(global real4 *posm, global real4 *velo, global real4 *acce,
                                 global const real *state, uint first, uint rows, uint count)
{
    const size_t i = get_global_id(0), c = get_global_id(1), plane = 3 * (size_t)rows;
    if (i >= count)
        return;
    COMPONENT(posm, first + i, c) = state[2 * plane + c * rows + i];
    COMPONENT(velo, first + i, c) = state[plane + c * rows + i];
    COMPONENT(acce, first + i, c) = state[c * rows + i];
}
