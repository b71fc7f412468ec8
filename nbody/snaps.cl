/* snaps.cl - accelerations and their first and second time derivatives, the sum that hermite6
 * needs.
 *
 * Groups, stretches and slots: pairs.cl; arguments as those of `jerks` in direct.cl, and acce[j] =
 * {ax, ay, az, unused}, everybody's accelerations. Planes 0-2, 3-5 and 6-8 of each slot. With d, v
 * and a the differences of positions, velocities and accelerations, alpha = d v / r^2 and beta =
 * (v^2 + d a) / r^2 + alpha^2, a pair gives A = G m d / r^3, J = G m v / r^3 - 3 alpha A and S = G
 * m a / r^3 - 6 alpha J - 3 beta A (Nitadori & Makino 2008, New Astronomy 13, 498).
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL /* the host puts it in front, and root.cl before */
#include "pairs.cl"
#endif

#define LOOK_ALL(n, off)                                                                           \
    do {                                                                                           \
        LOOK(next, posm, n, off);                                                                  \
        LOOK(vnext, velo, n, off);                                                                 \
        LOOK(anext, acce, n, off);                                                                 \
    } while (0)

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void snaps(
    global const real4 *restrict posm, global const real4 *restrict velo,
    global const real4 *restrict acce, global real *restrict partial, uint first, uint rows,
    uint top, uint stretch, uint from, uint until, uint end, real eps2, real zero)
{
    vec at[ITEMS][9]; /* x y z, their derivatives, and those of these */
    UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 3; c++)
    {
        at[k][c] = load_component(posm + first + ROW(k), c);
        at[k][c + 3] = load_component(velo + first + ROW(k), c);
        at[k][c + 6] = load_component(acce + first + ROW(k), c);
    }
    TILE_OF(real4, tile);
    TILE_OF(real4, vtile);
    TILE_OF(real4, atile);
    JOINT_OF(real, joint);
    real4 next[NEXT], vnext[NEXT], anext[NEXT];
    EACH_STRETCH(n)
    {
        vec total[9][ITEMS];
        UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 9; c++) total[c][k] =
            (vec)C(0);
        FETCH_FIRST(n, LOOK_ALL);
        EACH_BLOCK(block, n)
        {
            vec sum[ITEMS][9];
            UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 9; c++)
                sum[k][c] = (vec)C(0);
            EACH_TILE(off, block, n)
            {
                const uint j = START(n) + off;
                FETCH(n, off, LOOK_ALL, {
                    TAKE(tile, next);
                    TAKE(vtile, vnext);
                    TAKE(atile, anext);
                });
                if (HAS(n, j)) {
#pragma unroll UNROLL
                    for (uint t = 0; t < TILE; t++) {
                        const real4 b = FETCHED(tile, posm, j, t), v = FETCHED(vtile, velo, j, t),
                                    a = FETCHED(atile, acce, j, t);
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
        STORE(real, partial + SLOT(n) * 9 * rows, total, 9, n, joint)
    }
}
