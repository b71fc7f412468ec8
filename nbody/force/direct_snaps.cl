/* direct_snaps.cl - accelerations and their first and second time derivatives, for hermite6.
 *
 * The loop, chunks and partial sums: pairs.cl. Planes 0-2, 3-5 and 6-8. acce[j] = {ax, ay, az,
 * unused} are the accelerations of all bodies. With d, v and a the differences of positions,
 * velocities and accelerations, alpha = d v / r^2 and beta = (v^2 + d a) / r^2 + alpha^2, a pair
 * contributes A = G m d / r^3, J = G m v / r^3 - 3 alpha A and S = G m a / r^3 - 6 alpha J - 3 beta
 * A (Nitadori & Makino 2008, New Astronomy 13, 498). Scalar reference: nbody_ref_snaps in
 * nbody_ref.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL /* prepended by the host, after root.cl */
#include "pairs.cl"
#endif

#define SNAP_SUM ((struct pair_sum){.arrays = 3, .planes = 9})

INLINED void add_pair(const struct pairs *p, const struct target *t, const struct source *b,
                      vec *acc)
{
    const struct separation d = separate(p, t, b);
    const real4 v = b->in[1], a = b->in[2];
    const vec vx = v.x - t->at[3], vy = v.y - t->at[4], vz = v.z - t->at[5];
    const vec ax = a.x - t->at[6], ay = a.y - t->at[7], az = a.z - t->at[8];
    const vec w = inverse_root(d.r2), ww = w * w;
    const vec s = select(b->in[0].w * w * ww, (vec)C(0), IVEC(d.r2 == (vec)p->zero));
    const vec alpha = ww * FMA(d.x, vx, FMA(d.y, vy, d.z * vz));
    const vec beta =
        FMA(alpha, alpha,
            ww * (FMA(vx, vx, FMA(vy, vy, vz * vz)) + FMA(d.x, ax, FMA(d.y, ay, d.z * az))));
    const vec alpha3 = C(-3) * alpha, alpha6 = C(-6) * alpha, beta3 = C(-3) * beta;
    const vec jx = FMA(alpha3, d.x, vx), jy = FMA(alpha3, d.y, vy), jz = FMA(alpha3, d.z, vz);
    acc[0] = FMA(s, d.x, acc[0]);
    acc[1] = FMA(s, d.y, acc[1]);
    acc[2] = FMA(s, d.z, acc[2]);
    acc[3] = FMA(s, jx, acc[3]);
    acc[4] = FMA(s, jy, acc[4]);
    acc[5] = FMA(s, jz, acc[5]);
    acc[6] = FMA(s, FMA(alpha6, jx, FMA(beta3, d.x, ax)), acc[6]);
    acc[7] = FMA(s, FMA(alpha6, jy, FMA(beta3, d.y, ay)), acc[7]);
    acc[8] = FMA(s, FMA(alpha6, jz, FMA(beta3, d.z, az)), acc[8]);
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void snaps(
    global const real4 *restrict posm, global const real4 *restrict velo,
    global const real4 *restrict acce, global real *restrict partial, uint first, uint rows,
    uint top, uint chunk, uint from, uint until, uint end, real eps2, real zero)
{
    TILE_BUFFER(tile, 3);
    REDUCE_BUFFER(reduce);
    struct pairs p = {partial, first, rows, top, chunk, from, until, end, eps2, zero};
    p.sum = SNAP_SUM, p.tile = tile, p.reduce = reduce;
    sum_pairs(posm, velo, acce, &p);
}
