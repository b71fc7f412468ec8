/* integrate_leapfrog.cl - kick-drift-kick.
 *
 * closing and opening: the length of the step that ends here, and of the one that begins. The two
 * half kicks between two drifts are rounded one by one, so that a result does not depend on where a
 * burst ends. `partial` may be `state`, with one slot.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_STEP_CL /* the host puts it in front */
#include "step.cl"
#endif

/* A sum that is still on its way; its row comes later, by leapfrog_rows. As in domain.cl. */
static inline bool is_late(number sum)
{
#if defined(DOUBLE) || defined(MIXED)
    return as_ulong(sum) == 0x7ff80000decade00UL;
#else
    return as_uint(sum) == 0x7fdecadeu;
#endif
}

/* Component c of row i, of which x is where it was and then where it is. */
static inline void leapfrog_component(number *x, global number *state, global const number *partial,
                                      uint rows, uint slots, uint phases, number closing,
                                      number opening, global int *bad, int step, size_t i, size_t c)
{
    global number *acc = state + c * rows + i, *vel = acc + 3 * (size_t)rows;
    if (phases & SUM && is_late(partial[c * (size_t)rows + i]))
        return;
    if (phases & SUM)
        *acc = joined(partial, i, rows, c, 3, slots);
    const number a = *acc;
    number v = *vel;
    if (phases & FINISH) {
        v = fma(closing / 2, a, v);
        check(v, bad, step);
    }
    if (phases & BEGIN) {
        v = fma(opening / 2, a, v);
        *x = fma(opening, v, *x);
        check(*x, bad, step + 1);
    }
    *vel = v;
}

/* All of a row: where it is goes to memory as a whole, since devices fetch and store whole
 * sectors. */
static inline void leapfrog_row(global number4 *posm, global number *state,
                                global const number *partial, uint first, uint rows, uint slots,
                                uint phases, number closing, number opening, global int *bad,
                                int step, size_t i)
{
    const number4 p = posm[first + i];
    number x = p.x, y = p.y, z = p.z;
    leapfrog_component(&x, state, partial, rows, slots, phases, closing, opening, bad, step, i, 0);
    leapfrog_component(&y, state, partial, rows, slots, phases, closing, opening, bad, step, i, 1);
    leapfrog_component(&z, state, partial, rows, slots, phases, closing, opening, bad, step, i, 2);
    if (phases & BEGIN)
        posm[first + i] = (number4)(x, y, z, p.w);
}

/* A work-item has a row, or, of few bodies whose sums have many slots, a component of it. */
kernel void leapfrog(global number4 *posm, global number *state, global const number *partial,
                     uint first, uint rows, uint count, uint slots, uint phases, number closing,
                     number opening, global int *bad, int step)
{
    const size_t i = get_global_id(0), c = get_global_id(1);
    if (i >= count || *bad < 0)
        return;
    if (get_global_size(1) == 1) {
        leapfrog_row(posm, state, partial, first, rows, slots, phases, closing, opening, bad, step,
                     i);
        return;
    }
    number x = COMPONENT(posm, first + i, c);
    leapfrog_component(&x, state, partial, rows, slots, phases, closing, opening, bad, step, i, c);
    if (phases & BEGIN)
        COMPONENT(posm, first + i, c) = x;
}

/* The same for n bodies of the list, from number `from` on. */
kernel void leapfrog_rows(global number4 *posm, global number *state, global const number *partial,
                          uint first, uint rows, uint count, uint slots, uint phases,
                          number closing, number opening, global int *bad, int step,
                          global const uint *list, uint from, uint n)
{
    if (get_global_id(0) >= n || *bad < 0)
        return;
    const uint i = list[from + get_global_id(0)] - first;
    if (i < count)
        leapfrog_row(posm, state, partial, first, rows, slots, phases, closing, opening, bad, step,
                     i);
}

/* For a kernel that sums over pairs: the same at its end. Others still read `posm` then, so bodies
 * go to another array, masses too, by a number of its own: `.w =` may write all four, three of
 * which are other work-items'. */
#define STEP_PARAMETERS                                                                            \
    global number4 *moved, global number *state, uint count, uint phases, number closing,          \
        number opening, global int *bad, int step
#define STEP(i, c)                                                                                 \
    do {                                                                                           \
        if ((i) < count && *bad >= 0) {                                                            \
            number x_ = COMPONENT(posm, first + (i), c);                                           \
            leapfrog_component(&x_, state, partial, rows, 1, phases, closing, opening, bad, step,  \
                               i, c);                                                              \
            if (phases & BEGIN)                                                                    \
                COMPONENT(moved, first + (i), c) = x_;                                             \
        }                                                                                          \
        if ((c) == 0 && (i) < count)                                                               \
            COMPONENT(moved, first + (i), 3) = COMPONENT(posm, first + (i), 3);                    \
    } while (0)
