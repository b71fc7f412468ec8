/* timestep_criterion.cl - criterion of adaptive time steps (adaptive.c): the rate at which
 * surrounding bodies change a body's motion.
 *
 * For body i it is the sum over j != i of G (m_i + m_j) / (r^2 + eps2)^3/2, the square of a
 * frequency; for two bodies, the frequency of their circular orbit. Pairs with r2 equal to `zero`
 * are left out, as in `potentials`. The loop, chunks and partial sums: pairs.cl.
 * Other criteria: block_steps.cl, rungs.cl.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL /* prepended by the host, after root.cl */
#include "pairs.cl"
#endif

#define CRITERION_SUM                                                                              \
    ((struct pair_sum){.arrays = 1, .planes = 1, .target_mass = true, .one_block = true})

INLINED void add_pair(const struct pairs *p, const struct target *t, const struct source *b,
                      vec *acc)
{
    const struct separation d = separate(p, t, b);
    const ivec none = IVEC(t->self == (ivec)(integer)b->self) | IVEC(d.r2 == (vec)p->zero);
    const vec w = inverse_root(d.r2);
    acc[0] += select((b->in[0].w + t->mass) * w * (w * w), (vec)C(0), none);
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void timestep_criterion(
    global const real4 *restrict posm, global real *restrict partial, uint first, uint rows,
    uint top, uint chunk, uint from, uint until, uint end, real eps2, real zero)
{
    TILE_BUFFER(tile, 1);
    REDUCE_BUFFER(reduce);
    struct pairs p = {partial, first, rows, top, chunk, from, until, end, eps2, zero};
    p.sum = CRITERION_SUM, p.tile = tile, p.reduce = reduce;
    sum_pairs(posm, 0, 0, &p);
}
