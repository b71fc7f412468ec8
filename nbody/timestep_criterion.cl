/* timestep_criterion.cl - how fast the bodies around a body change its motion: what steps that all
 * share are chosen by (adaptive.c).
 *
 * Groups, stretches and slots: pairs.cl. Of body i it is the sum over j != i of G (m_i + m_j) /
 * (r^2 + eps2)^3/2, one plane a slot: the square of a frequency, for two bodies that of their
 * circular orbit. A pair with r2 equal to `zero` is left out, as in `potentials`.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL /* the host puts it in front, and root.cl before */
#include "pairs.cl"
#endif

#define LOOK_POSM(n, off) LOOK(next, posm, n, off)

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void tides(
    global const real4 *restrict posm, global real *restrict partial, uint first, uint rows,
    uint top, uint stretch, uint from, uint until, uint end, real eps2, real zero)
{
    vec x[ITEMS], y[ITEMS], z[ITEMS], m[ITEMS];
    ivec self[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++)
    {
        x[k] = load_component(posm + first + ROW(k), 0);
        y[k] = load_component(posm + first + ROW(k), 1);
        z[k] = load_component(posm + first + ROW(k), 2);
        m[k] = load_component(posm + first + ROW(k), 3);
        for (int lane = 0; lane < WIDTH; lane++)
            ((integer *)&self[k])[lane] = first + ROW(k) + lane;
    }
    TILE_OF(real4, tile);
    JOINT_OF(real, joint);
    real4 next[NEXT];
    EACH_STRETCH(n)
    {
        vec sum[1][ITEMS];
        UNROLLED for (int k = 0; k < ITEMS; k++) sum[0][k] = (vec)C(0);
        FETCH_FIRST(n, LOOK_POSM);
        for (uint off = 0; off < LENGTH(n); off += TILE) {
            const uint j = START(n) + off;
            FETCH(n, off, LOOK_POSM, TAKE(tile, next));
            if (HAS(n, j)) {
#pragma unroll UNROLL
                for (uint t = 0; t < TILE; t++) {
                    const real4 b = FETCHED(tile, posm, j, t);
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
        STORE(real, partial + SLOT(n) * rows, sum, 1, n, joint)
    }
}
