/* integrate_leapfrog.cl - kick-drift-kick leapfrog.
 *
 * closing and opening: lengths of the step that ends here and of the one that begins. The two half
 * kicks between two drifts are rounded one by one, so that results do not depend on where a batch
 * ends. `partial` may be `state` if there is one sum per body.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_STEP_CL /* prepended by the host */
#include "step.cl"
#endif

/* Update component c of body i; *x: its position before and after. */
static inline void leapfrog_component(number *x, global number *state, global const number *partial,
                                      uint rows, uint npartial, uint phases, number closing,
                                      number opening, global int *bad, int step, size_t i, size_t c)
{
    global number *acc = state + c * rows + i, *vel = acc + 3 * (size_t)rows;
    if (phases & REDUCE)
        *acc = partial_total(partial, i, rows, c, 3, npartial);
    const number a = *acc;
    number v = *vel;
    if (phases & KICK_CLOSE) {
        v = fma(closing / 2, a, v);
        check_finite(v, bad, step);
    }
    if (phases & KICK_DRIFT) {
        v = fma(opening / 2, a, v);
        *x = fma(opening, v, *x);
        check_finite(*x, bad, step + 1);
    }
    *vel = v;
}

/* Update all components of a body. Its position is written as a whole, since devices load and
 * store whole sectors. */
static inline void leapfrog_row(global number4 *posm, global number *state,
                                global const number *partial, uint first, uint rows, uint npartial,
                                uint phases, number closing, number opening, global int *bad,
                                int step, size_t i)
{
    const number4 p = posm[first + i];
    number x = p.x, y = p.y, z = p.z;
    leapfrog_component(&x, state, partial, rows, npartial, phases, closing, opening, bad, step, i,
                       0);
    leapfrog_component(&y, state, partial, rows, npartial, phases, closing, opening, bad, step, i,
                       1);
    leapfrog_component(&z, state, partial, rows, npartial, phases, closing, opening, bad, step, i,
                       2);
    if (phases & KICK_DRIFT)
        posm[first + i] = (number4)(x, y, z, p.w);
}

/* An item updates a body, or one component of it where few bodies have many partial sums. */
kernel void leapfrog(global number4 *posm, global number *state, global const number *partial,
                     uint first, uint rows, uint count, uint npartial, uint phases, number closing,
                     number opening, global int *bad, int step)
{
    const size_t i = get_global_id(0), c = get_global_id(1);
    if (i >= count || *bad < 0)
        return;
    if (get_global_size(1) == 1) {
        leapfrog_row(posm, state, partial, first, rows, npartial, phases, closing, opening, bad,
                     step, i);
        return;
    }
    number x = COMPONENT(posm, first + i, c);
    leapfrog_component(&x, state, partial, rows, npartial, phases, closing, opening, bad, step, i,
                       c);
    if (phases & KICK_DRIFT)
        COMPONENT(posm, first + i, c) = x;
}

/* The update at the end of a kernel that sums over pairs, of component c of body i. Other groups
 * still read `posm`, so bodies are written to another array, with their masses. The mass is stored
 * as a single number: `.w =` may write all four numbers, but three belong to other items. */
#define UPDATE_PARAMETERS                                                                          \
    global number4 *moved, global number *state, uint count, uint phases, number closing,          \
        number opening, global int *bad, int step
#define UPDATE_ARGUMENTS moved, state, count, phases, closing, opening, bad, step
static inline void update_component(global const number4 *posm, global const number *partial,
                                    uint first, uint rows, uint i, uint c, UPDATE_PARAMETERS)
{
    if (i >= count)
        return;
    if (*bad >= 0) {
        number x = COMPONENT(posm, first + i, c);
        leapfrog_component(&x, state, partial, rows, 1, phases, closing, opening, bad, step, i, c);
        if (phases & KICK_DRIFT)
            COMPONENT(moved, first + i, c) = x;
    }
    if (c == 0)
        COMPONENT(moved, first + i, 3) = COMPONENT(posm, first + i, 3);
}
