/* block_steps.cl - block time steps of Hermite's 4th-order scheme (Makino & Aarseth 1992),
 * scheduled on the device.
 *
 * Levels: block_levels.cl. A body's step began at `now` rounded down to its length, and all steps
 * end together with the engine's. The next time at which any step ends is one step of the deepest
 * level from now. The schedule therefore needs only the levels, and the number of bodies per level
 * (clock->count).
 *
 *   state   acceleration, velocity, position, jerk of a body at its own time; its wanted step
 *   posm    positions of all bodies, predicted for the next time; velo: velocities
 *   list    indices of the active bodies (their steps end then), in any order: sums over pairs
 *           (block_forces.cl) do not depend on it
 *
 * A block is three launches: predict, forces, correct. Blocks alternately use halves 0 and 1
 * (`turn`) of the clock's arrays. Launches after the end of the engine's step do nothing. After a
 * failed launch `active` may exceed the number of bodies, so it is clamped to the list. With
 * `shared_step` all bodies make the step of the deepest level, which is chosen again each time.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_BLOCK_LEVELS_CL /* prepended by the host */
#include "block_levels.cl"
#include "../force/external_field.cl"
#endif

/* As in block_steps.h. */
typedef struct {
    ulong now[2]; /* ticks; [turn] before and [!turn] after the block */
    ulong pulled; /* active bodies summed so far */
    uint active[2];
    uint blocks;
    int first_bad; /* first body with a vanishing step, or INT_MAX */
    uint count[DEEPEST + 1];
} block_clock;

/* Return the next time at which a step ends. */
static inline ulong block_next_time(ulong now, uint deepest, uint shared_step)
{
    ulong step = TICKS >> deepest;
    if (shared_step && now)
        step = min(step, now & (~now + 1)); /* a divisor of now */
    return min(now + step, TICKS);
}

static inline ulong block_step_start(ulong now, uint level, uint shared_step)
{
    return shared_step ? now : now & ~((TICKS >> level) - 1);
}

/* Set all levels at the beginning of a step of the engine. A body that has made no step wants
 * eta^1/2 / 10 of |a| / |jerk|, at most 2^-10 dt; a minimum step if it has no acceleration or no
 * jerk. */
kernel void block_levels(global real *state, global uint *level, global block_clock *clock,
                         uint rows, uint count, real dt, real root_eta)
{
    const size_t i = get_global_id(0), plane = rows;
    if (i >= count)
        return;
    real want = state[12 * plane + i];
    if (!(want > 0)) {
        const real a = size3(state[i], state[plane + i], state[2 * plane + i]),
                   j = size3(state[9 * plane + i], state[10 * plane + i], state[11 * plane + i]);
        const real least = fabs(dt) * C(0x1p-30), most = fabs(dt) / 1024;
        want = j > 0 ? fmin(fmax(root_eta / 10 * a / j, least), most) : a > 0 ? least : fabs(dt);
        state[12 * plane + i] = want;
    }
    level[i] = level_of(want, dt, &clock->first_bad, (int)i);
    atomic_inc(&clock->count[level[i]]);
}

/* Predict all bodies at the next time and list the active ones. */
kernel void block_predict(global real4 *posm, global real4 *velo, global const real *state,
                          global const uint *level, global uint *list, global block_clock *clock,
                          uint first, uint rows, uint count, real tick, uint turn, uint shared_step)
{
    local uint deepest, found, base;
    const size_t i = get_global_id(0), plane = rows;
    const ulong now = clock->now[turn];
    if (get_local_id(0) == 0) {
        deepest = DEEPEST;
        while (deepest > 0 && clock->count[deepest] == 0)
            deepest--;
        found = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong next = block_next_time(now, deepest, shared_step);
    const bool moves = i < count && now < TICKS;
    const ulong began = moves ? block_step_start(now, level[i], shared_step) : 0;
    const bool ends = moves && (shared_step || next - began == TICKS >> level[i]);
    const uint place = ends ? atomic_inc(&found) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        base = found ? atomic_add(&clock->active[turn], found) : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (ends && base + place < rows)
        list[base + place] = i;
    if (moves) {
        const real t = (real)(next - began) * tick;
        for (uint c = 0; c < 3; c++) {
            const real a = state[c * plane + i], v = state[(3 + c) * plane + i],
                       x = state[(6 + c) * plane + i], j = state[(9 + c) * plane + i];
            COMPONENT(posm, first + i, c) = x + t * fma(t / 2, fma(t / 3, j, a), v);
            COMPONENT(velo, first + i, c) = v + t * fma(t / 2, j, a);
        }
    }
    if (i == 0) {
        clock->now[!turn] = next;
        clock->active[!turn] = 0;
        clock->blocks += now < TICKS;
    }
}

/* Correct the active bodies by their sums over pairs, and choose their next steps by Aarseth's
 * criterion, (eta (|a| |a2| + |j|^2) / (|j| |a3| + |a2|^2))^1/2 with derivatives at the end: at
 * most twice the previous step, and longer only where a longer step may begin. */
kernel void block_correct(global real4 *posm, global real4 *velo, global real *state,
                          global const real *partial, global uint *level, global const uint *list,
                          global block_clock *clock, uint first, uint rows, real tick,
                          uint max_partial, uint npartial, real eta, uint turn, uint shared_step,
                          global const real *fields, uint nfields, global int *bad, int step)
{
    const size_t k = get_global_id(0), plane = rows;
    const uint active = min(clock->active[turn], rows);
    if (k >= active)
        return;
    const ulong now = clock->now[turn], next = clock->now[!turn];
    const size_t i = list[k];
    const ulong length = next - block_step_start(now, level[i], shared_step);
    const real h = (real)length * tick;
    const bool all_chunks = active > max_partial; /* as in block_forces.cl */
    real a1[3], j1[3], s2[3], s3[3];              /* at the end; h^2 a2 and h^3 a3 there */
    real4 field[2];
    (void)field_pull(fields, nfields, posm[first + i], velo[first + i], &field[0], &field[1]);
    for (uint c = 0; c < 3; c++) {
        global real *acc = state + c * plane + i, *vel = acc + 3 * plane, *pos = acc + 6 * plane,
                    *jrk = acc + 9 * plane;
        const real a0 = *acc, j0 = *jrk;
        a1[c] = partial_total(partial, k, all_chunks ? rows : max_partial, c, 6,
                              all_chunks ? 1 : npartial) +
                ((real *)&field[0])[c];
        j1[c] = partial_total(partial, k, all_chunks ? rows : max_partial, c + 3, 6,
                              all_chunks ? 1 : npartial) +
                ((real *)&field[1])[c];
        s2[c] = C(-6) * (a0 - a1[c]) - h * (C(4) * j0 + C(2) * j1[c]);
        s3[c] = C(12) * (a0 - a1[c]) + C(6) * h * (j0 + j1[c]);
        const real x = COMPONENT(posm, first + i, c) + h * h * (s2[c] / 24 + s3[c] / 120),
                   v = COMPONENT(velo, first + i, c) + h * (s2[c] / 6 + s3[c] / 24);
        *acc = a1[c], *jrk = j1[c], *pos = x, *vel = v;
        check_finite(x, bad, step);
        check_finite(v, bad, step);
        s2[c] += s3[c];
    }
    const real a = size3(a1[0], a1[1], a1[2]), j = fabs(h) * size3(j1[0], j1[1], j1[2]),
               b = size3(s2[0], s2[1], s2[2]), d = size3(s3[0], s3[1], s3[2]);
    const real over = fma(a, b, j * j), under = fma(j, d, b * b);
    real want = 2 * fabs(h);
    if (under > 0)
        want = fmin(want, fabs(h) * sqrt(eta * (over / under)));
    state[12 * plane + i] = want;
    uint deeper = level_of(want, (real)TICKS * tick, &clock->first_bad, (int)i);
    if (!shared_step && deeper < level[i]) /* by one level, since want <= 2 h */
        deeper = level[i] - (next & (2 * length - 1) ? 0 : 1);
    if (deeper != level[i]) {
        atomic_dec(&clock->count[level[i]]);
        atomic_inc(&clock->count[deeper]);
        level[i] = deeper;
    }
    if (k == 0)
        clock->pulled += active;
}
