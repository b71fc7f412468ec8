/* integrate_taylor.cl - x += v dt + a dt^2 / 2, v += a dt, with the acceleration at the old
 * position.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_STEP_CL /* prepended by the host */
#include "step.cl"
#endif

kernel void taylor(global real4 *posm, global real *state, global const real *partial, uint first,
                   uint rows, uint count, uint npartial, uint phases, real dt, global int *bad,
                   int step)
{
    const size_t i = get_global_id(0), c = get_global_id(1);
    if (i >= count || *bad < 0)
        return;
    global real *acc = state + c * rows + i, *vel = acc + 3 * (size_t)rows;
    if (phases & REDUCE)
        *acc = partial_total(partial, i, rows, c, 3, npartial);
    if (!(phases & KICK_CLOSE))
        return;
    const real a = *acc, v = *vel;
    const real x = COMPONENT(posm, first + i, c) + dt * fma(dt / 2, a, v);
    *vel = fma(dt, a, v);
    COMPONENT(posm, first + i, c) = x;
    check_finite(x, bad, step);
    check_finite(*vel, bad, step);
}
