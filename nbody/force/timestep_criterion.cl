/* timestep_criterion.cl - criterion of adaptive time steps (adaptive.c): the rate at which
 * surrounding bodies change a body's motion.
 *
 * For body i it is the sum over j != i of G (m_i + m_j) / (r^2 + eps2)^3/2, the square of a
 * frequency; for two bodies, the frequency of their circular orbit. Pairs with r2 equal to `zero`
 * are left out, as in `potentials`. Groups, chunks and partial sums: pairs.cl.
 * Other criteria: block_steps.cl, rungs.cl.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL /* prepended by the host, after root.cl */
#include "pairs.cl"
#endif

#define LOAD_POSM(n, off) LOAD_NEXT(next, posm, n, off)

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void timestep_criterion(
    global const real4 *restrict posm, global real *restrict partial, uint first, uint rows,
    uint top, uint chunk, uint from, uint until, uint end, real eps2, real zero)
{
    vec x[ITEMS], y[ITEMS], z[ITEMS], m[ITEMS];
    ivec self[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++)
    {
        x[k] = load_component(posm + first + BODY(k), 0);
        y[k] = load_component(posm + first + BODY(k), 1);
        z[k] = load_component(posm + first + BODY(k), 2);
        m[k] = load_component(posm + first + BODY(k), 3);
        for (int lane = 0; lane < WIDTH; lane++)
            ((integer *)&self[k])[lane] = first + BODY(k) + lane;
    }
    TILE_BUFFER(real4, tile);
    REDUCE_BUFFER(real, reduce_buffer);
    real4 next[NEXT];
    EACH_CHUNK(n)
    {
        vec sum[1][ITEMS];
        UNROLLED for (int k = 0; k < ITEMS; k++) sum[0][k] = (vec)C(0);
        PREFETCH_FIRST(n, LOAD_POSM);
        for (uint off = 0; off < CHUNK_LENGTH(n); off += TILE) {
            const uint j = CHUNK_START(n) + off;
            LOAD_TILE(n, off, LOAD_POSM, STORE_NEXT(tile, next));
            if (CHUNK_HAS(n, j)) {
#pragma unroll UNROLL
                for (uint t = 0; t < TILE; t++) {
                    const real4 b = TILE_BODY(tile, posm, j, t);
                    UNROLLED for (int k = 0; k < ITEMS; k++)
                    {
                        const vec dx = b.x - x[k], dy = b.y - y[k], dz = b.z - z[k];
                        const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, (vec)eps2)));
                        const ivec none =
                            IVEC(self[k] == (ivec)(integer)(j + t)) | IVEC(r2 == (vec)zero);
                        const vec w = inverse_root(r2);
                        sum[0][k] += select((b.w + m[k]) * w * (w * w), (vec)C(0), none);
                    }
                }
            }
        }
        STORE(real, partial + PARTIAL(n) * rows, sum, 1, n, reduce_buffer)
    }
}
