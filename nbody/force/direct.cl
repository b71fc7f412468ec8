/* direct.cl - sums over all pairs: accelerations, potentials, jerks.
 *
 * The loop, chunks and partial sums: pairs.cl; what a pair adds: root.cl. posm[j] = {x, y, z, G m};
 * padding has G m = 0 and is so far away that r^-3 is 0 (which UNIFORM relies on). eps2 > 0, also
 * without softening: it is then so small that it only changes interactions of bodies less than 5e-9
 * apart, and the self-interaction is finite times zero. Sums run over BLOCK bodies before they are
 * added to the total, so that rounding errors grow with BLOCK + N / BLOCK instead of N. Scalar
 * reference: nbody_ref_forces in nbody_ref.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL /* prepended by the host, after root.cl */
#include "pairs.cl"
#endif

/* ---- The sums. ------------------------------------------------------------------------------- */

enum { FORCES, POTENTIALS, JERKS };
#define FORCE_SUM ((struct pair_sum){.kind = FORCES, .arrays = 1, .planes = 3, .equal_mass = true})
#define POTENTIAL_SUM ((struct pair_sum){.kind = POTENTIALS, .arrays = 1, .planes = 1})
#define JERK_SUM ((struct pair_sum){.kind = JERKS, .arrays = 2, .planes = 6})

/* phi -= G m_j / r, unless j is the target itself. Pairs with r2 equal to `zero` are left out:
 * without softening zero is eps2, which excludes bodies at one place; with softening zero is
 * negative, and all pairs count. */
INLINED void add_potential(struct separation d, real mass, real zero, ivec is_self, vec *acc)
{
    acc[0] -= select(mass * inverse_root(d.r2), (vec)C(0), is_self | IVEC(d.r2 == (vec)zero));
}

INLINED void add_pair(const struct pairs *p, const struct target *t, const struct source *b,
                      vec *acc)
{
    const struct separation d = separate(p, t, b);
    const real m = b->in[0].w;
    const real4 v = b->in[1]; /* only for jerks */
    if (p->sum.kind == FORCES)
        add_force(d, m, acc);
    else if (p->sum.kind == POTENTIALS)
        add_potential(d, m, p->zero, IVEC(t->self == (ivec)(integer)b->self), acc);
    else
        add_jerk(d, v.x - t->at[3], v.y - t->at[4], v.z - t->at[5], m, p->zero, acc);
}

/* ---- Kernels. ----------------------------------------------------------------------------------
 * The parameters are members of `struct pairs`. */

#ifdef SOFTENED
#define SOFTENING_PARAMETER , global const real *restrict soft
#define SOFT soft
#else
#define SOFTENING_PARAMETER
#define SOFT 0
#endif

#ifndef POTENTIALS_ONLY /* with mixed precision, direct_mixed.cl has the forces */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces(
    global const real4 *restrict posm, global real *restrict partial, uint first, uint rows,
    uint top, uint chunk, uint from, uint until, uint end, real eps2 SOFTENING_PARAMETER)
{
    TILE_BUFFER(tile, 1);
    REDUCE_BUFFER(reduce);
    struct pairs p = {partial, first, rows, top, chunk, from, until, end, eps2};
    p.sum = FORCE_SUM, p.soft = SOFT, p.tile = tile, p.reduce = reduce;
    sum_pairs(posm, 0, 0, &p);
}

#ifdef UPDATE_PARAMETERS
/* Fused sum and update; `partial` has one sum per body. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces_step(
    global const real4 *restrict posm, global real *partial, uint first, uint rows, uint top,
    uint chunk, uint from, uint until, uint end, real eps2, UPDATE_PARAMETERS)
{
    TILE_BUFFER(tile, 1);
    REDUCE_BUFFER(reduce);
    struct pairs p = {partial, first, rows, top, chunk, from, until, end, eps2};
    p.sum = FORCE_SUM, p.tile = tile, p.reduce = reduce;
    sum_pairs(posm, 0, 0, &p);
    update_group(posm, &p, UPDATE_ARGUMENTS);
}

#if FUSED_STEPS
/* Several fused steps. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces_steps(
    global real4 *posm, global real *partial, uint first, uint rows, uint top, uint chunk,
    uint from, uint until, uint end, real eps2, UPDATE_PARAMETERS, MULTI_STEP_PARAMETERS)
{
    TILE_BUFFER(tile, 1);
    REDUCE_BUFFER(reduce);
    local uint passed;
    const uint last = phases;
    for (uint left = steps; left > 0; left--, step++) {
        phases = left > 1 ? INNER_PHASES : last;
        struct pairs p = {partial, first, rows, top, chunk, from, until, end, eps2};
        p.sum = FORCE_SUM, p.tile = tile, p.reduce = reduce;
        sum_pairs(posm, 0, 0, &p);
        update_group(posm, &p, UPDATE_ARGUMENTS);
        if (left > 1) {
            if (!pass_barrier(bad, ++barrier_count, max_polls, &passed))
                left = 1;
            global real4 *const was = posm;
            posm = moved, moved = was;
        }
    }
}
#endif
#endif
#endif

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void potentials(
    global const real4 *restrict posm, global real *restrict partial, uint first, uint rows,
    uint top, uint chunk, uint from, uint until, uint end, real eps2, real zero SOFTENING_PARAMETER)
{
    TILE_BUFFER(tile, 1);
    REDUCE_BUFFER(reduce);
    struct pairs p = {partial, first, rows, top, chunk, from, until, end, eps2, zero};
    p.sum = POTENTIAL_SUM, p.soft = SOFT, p.tile = tile, p.reduce = reduce;
    sum_pairs(posm, 0, 0, &p);
}

#ifdef VELOCITIES /* for integrators that need jerks */
/* Accelerations and jerks, components 0-2 and 3-5. velo[j] = {vx, vy, vz, unused}. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void jerks(
    global const real4 *restrict posm, global const real4 *restrict velo,
    global real *restrict partial, uint first, uint rows, uint top, uint chunk, uint from,
    uint until, uint end, real eps2, real zero SOFTENING_PARAMETER)
{
    TILE_BUFFER(tile, 2);
    REDUCE_BUFFER(reduce);
    struct pairs p = {partial, first, rows, top, chunk, from, until, end, eps2, zero};
    p.sum = JERK_SUM, p.soft = SOFT, p.tile = tile, p.reduce = reduce;
    sum_pairs(posm, velo, 0, &p);
}
#endif
