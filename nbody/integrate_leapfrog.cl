/* integrate_leapfrog.cl - kick-drift-kick.
 *
 * closing and opening: the length of the step that ends here, and of the one that begins. The two half kicks between two drifts are rounded one by one, so that a result does not depend on
 * where a burst ends. `partial` may be `state`, with one slot.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_STEP_CL /* the host puts it in front */
#include "step.cl"
#endif

kernel void leapfrog(global real4 *posm, global real *state, global const real *partial, uint first,
                     uint rows, uint count, uint slots, uint phases, real closing, real opening,
                     global int *bad, int step)
{
    const size_t i = get_global_id(0), c = get_global_id(1);
    if (i >= count || *bad < 0) return;
    global real *acc = state + c * rows + i, *vel = acc + 3 * (size_t)rows;
    if (phases & SUM) *acc = joined(partial, i, rows, c, 3, slots);
    const real a = *acc;
    real v = *vel;
    if (phases & FINISH) {
        v = fma(closing / 2, a, v);
        check(v, bad, step);
    }
    if (phases & BEGIN) {
        v = fma(opening / 2, a, v);
        const real x = fma(opening, v, COMPONENT(posm, first + i, c));
        COMPONENT(posm, first + i, c) = x;
        check(x, bad, step + 1);
    }
    *vel = v;
}
