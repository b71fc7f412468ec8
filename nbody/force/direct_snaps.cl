/* direct_snaps.cl - accelerations and their first and second time derivatives, for hermite6.
 *
 * Groups, chunks and partial sums: pairs.cl. Arguments as for `jerks` in direct.cl, and acce[j] =
 * {ax, ay, az, unused}, the accelerations of all bodies. Components 0-2, 3-5 and 6-8. With d, v and
 * a the differences of positions, velocities and accelerations, alpha = d v / r^2 and beta = (v^2 +
 * d a) / r^2 + alpha^2, a pair contributes A = G m d / r^3, J = G m v / r^3 - 3 alpha A and S = G m
 * a / r^3 - 6 alpha J - 3 beta A (Nitadori & Makino 2008, New Astronomy 13, 498). Scalar reference:
 * nbody_ref_snaps in nbody_ref.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL /* prepended by the host, after root.cl */
#include "pairs.cl"
#endif

#define LOAD_POSM_VELO_ACCE(n, off)                                                                \
    do {                                                                                           \
        LOAD_NEXT(next, posm, n, off);                                                             \
        LOAD_NEXT(vnext, velo, n, off);                                                            \
        LOAD_NEXT(anext, acce, n, off);                                                            \
    } while (0)

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void snaps(
    global const real4 *restrict posm, global const real4 *restrict velo,
    global const real4 *restrict acce, global real *restrict partial, uint first, uint rows,
    uint top, uint chunk, uint from, uint until, uint end, real eps2, real zero)
{
    vec at[ITEMS][9]; /* x y z, first and second derivatives */
    UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 3; c++)
    {
        at[k][c] = load_component(posm + first + BODY(k), c);
        at[k][c + 3] = load_component(velo + first + BODY(k), c);
        at[k][c + 6] = load_component(acce + first + BODY(k), c);
    }
    TILE_BUFFER(real4, tile);
    TILE_BUFFER(real4, vtile);
    TILE_BUFFER(real4, atile);
    REDUCE_BUFFER(real, reduce_buffer);
    real4 next[NEXT], vnext[NEXT], anext[NEXT];
    EACH_CHUNK(n)
    {
        vec total[9][ITEMS];
        UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 9; c++) total[c][k] =
            (vec)C(0);
        PREFETCH_FIRST(n, LOAD_POSM_VELO_ACCE);
        EACH_BLOCK(block, n)
        {
            vec sum[ITEMS][9];
            UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 9; c++)
                sum[k][c] = (vec)C(0);
            EACH_TILE(off, block, n)
            {
                const uint j = CHUNK_START(n) + off;
                LOAD_TILE(n, off, LOAD_POSM_VELO_ACCE, {
                    STORE_NEXT(tile, next);
                    STORE_NEXT(vtile, vnext);
                    STORE_NEXT(atile, anext);
                });
                if (CHUNK_HAS(n, j)) {
#pragma unroll UNROLL
                    for (uint t = 0; t < TILE; t++) {
                        const real4 b = TILE_BODY(tile, posm, j, t),
                                    v = TILE_BODY(vtile, velo, j, t),
                                    a = TILE_BODY(atile, acce, j, t);
                        UNROLLED for (int k = 0; k < ITEMS; k++)
                        {
                            const vec dx = b.x - at[k][0], dy = b.y - at[k][1], dz = b.z - at[k][2];
                            const vec vx = v.x - at[k][3], vy = v.y - at[k][4], vz = v.z - at[k][5];
                            const vec wx = a.x - at[k][6], wy = a.y - at[k][7], wz = a.z - at[k][8];
                            const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, (vec)eps2)));
                            const vec w = inverse_root(r2), ww = w * w;
                            const vec s = select(b.w * w * ww, (vec)C(0), IVEC(r2 == (vec)zero));
                            const vec alpha = ww * FMA(dx, vx, FMA(dy, vy, dz * vz));
                            const vec beta = FMA(alpha, alpha,
                                                 ww * (FMA(vx, vx, FMA(vy, vy, vz * vz)) +
                                                       FMA(dx, wx, FMA(dy, wy, dz * wz))));
                            const vec p = C(-3) * alpha, q = C(-6) * alpha, u = C(-3) * beta;
                            const vec jx = FMA(p, dx, vx), jy = FMA(p, dy, vy), jz = FMA(p, dz, vz);
                            sum[k][0] = FMA(s, dx, sum[k][0]);
                            sum[k][1] = FMA(s, dy, sum[k][1]);
                            sum[k][2] = FMA(s, dz, sum[k][2]);
                            sum[k][3] = FMA(s, jx, sum[k][3]);
                            sum[k][4] = FMA(s, jy, sum[k][4]);
                            sum[k][5] = FMA(s, jz, sum[k][5]);
                            sum[k][6] = FMA(s, FMA(q, jx, FMA(u, dx, wx)), sum[k][6]);
                            sum[k][7] = FMA(s, FMA(q, jy, FMA(u, dy, wy)), sum[k][7]);
                            sum[k][8] = FMA(s, FMA(q, jz, FMA(u, dz, wz)), sum[k][8]);
                        }
                    }
                }
            }
            UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 9; c++)
                total[c][k] += sum[k][c];
        }
        STORE(real, partial + PARTIAL(n) * 9 * rows, total, 9, n, reduce_buffer)
    }
}
