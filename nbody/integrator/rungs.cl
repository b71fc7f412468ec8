/* rungs.cl - block time steps with the tree, kick-drift-kick.
 *
 *   for each time at which any body's step ends:
 *     rung_drift    opening half kicks of bodies whose steps begin now, then drift of all bodies
 *     (the tree of all bodies)
 *     rung_mark     mark[k] = 1 if the step of body k of the tree's order ends; the host scans it
 *     rung_gather   these bodies, in this order -> target, with their |a| and storage indices
 *     (walks for them)
 *     rung_kick     their closing half kicks, and their next steps
 *
 *   state   acceleration and velocity; posm: positions
 *
 * A step is (2 eta eps / |a|)^1/2, the time that the acceleration takes to move a body from rest by
 * eta eps. A longer step begins only at a multiple of its length.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_BLOCK_LEVELS_CL /* prepended by the host */
#include "block_levels.cl"
#include "../force/external_field.cl"
#endif

/* As in rungs.c. */
typedef struct {
    int first_bad; /* first body with a vanishing step, or INT_MAX */
    int bad;       /* below INT_MAX if a number is not finite */
    uint count[DEEPEST + 1];
} rung_clock;

static inline bool rung_ends(uint level, ulong time)
{
    return (time & ((TICKS >> level) - 1)) == 0;
}

static inline real rung_wanted_step(real a, real want2, real dt)
{
    return a > 0 ? sqrt(want2 / a) : fabs(dt);
}

/* Set all levels at the beginning of a step of the engine. want2 = 2 eta eps. */
kernel void rung_levels(global const real *state, global uint *level, global rung_clock *clock,
                        uint rows, uint count, real dt, real want2)
{
    const size_t i = get_global_id(0), plane = rows;
    if (i >= count)
        return;
    const real a = size3(state[i], state[plane + i], state[2 * plane + i]);
    level[i] = level_of(rung_wanted_step(a, want2, dt), dt, &clock->first_bad, (int)i);
    atomic_inc(&clock->count[level[i]]);
}

kernel void rung_drift(global real4 *posm, global real *state, global const uint *level,
                       global rung_clock *clock, uint first, uint rows, uint count, ulong now,
                       ulong next, real dt)
{
    const size_t i = get_global_id(0), c = get_global_id(1);
    if (i >= count)
        return;
    global real *vel = state + (3 + c) * (size_t)rows + i;
    real v = *vel;
    if (rung_ends(level[i], now))
        *vel = v = fma(ldexp(dt, -(int)level[i]) / 2, state[c * (size_t)rows + i], v);
    const real x = fma((real)(next - now) * ldexp(dt, -DEEPEST), v, COMPONENT(posm, first + i, c));
    COMPONENT(posm, first + i, c) = x;
    check_finite(x, &clock->bad, 1);
}

kernel void rung_mark(global const uint *order, global const uint *level, uint first, uint n,
                      ulong next, global uint *mark)
{
    const size_t k = get_global_id(0);
    if (k < n)
        mark[k] = rung_ends(level[order[k] - first], next);
}

/* place: the scanned marks. */
kernel void rung_gather(global const uint *order, global const uint *level,
                        global const real4 *body, global const real *a_old_sorted, uint first,
                        uint n, ulong next, global const uint *place, global real4 *target,
                        global real *target_a_old, global uint *row)
{
    const size_t k = get_global_id(0);
    if (k >= n || !rung_ends(level[order[k] - first], next))
        return;
    target[place[k]] = body[k];
    target_a_old[place[k]] = a_old_sorted[k];
    row[place[k]] = order[k] - first;
}

/* forces[k] = {a, |a|} of body row[k], k < active. Clears the walks' list of deferred groups. */
kernel void rung_kick(global const real4 *posm, global real *state, global const real4 *forces,
                      global const uint *row, uint active, global uint *level,
                      global rung_clock *clock, global real *a_old, global uint *deferred,
                      uint first, uint rows, ulong next, real dt, real want2,
                      global const real *fields, uint nfields)
{
    const size_t k = get_global_id(0), plane = rows;
    if (k == 0)
        deferred[0] = deferred[1] = deferred[2] = 0;
    if (k >= active)
        return;
    const uint i = row[k], old = level[i];
    const real4 p = forces[k];
    real4 f, unused;
    (void)field_pull(fields, nfields, posm[first + i], (real4)(0), &f, &unused);
    const real a[3] = {p.x + f.x, p.y + f.y, p.z + f.z}, half_ = ldexp(dt, -(int)old) / 2;
    a_old[first + i] = p.w;
    for (uint c = 0; c < 3; c++) {
        const real v = fma(half_, a[c], state[(3 + c) * plane + i]);
        state[c * plane + i] = a[c];
        state[(3 + c) * plane + i] = v;
        check_finite(v, &clock->bad, 1);
    }
    uint deeper = level_of(rung_wanted_step(size3(a[0], a[1], a[2]), want2, dt), dt,
                           &clock->first_bad, (int)i);
    while (deeper < old && !rung_ends(deeper, next))
        deeper++;
    if (deeper == old)
        return;
    atomic_dec(&clock->count[old]);
    atomic_inc(&clock->count[deeper]);
    level[i] = deeper;
}
