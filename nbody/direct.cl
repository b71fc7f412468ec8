/* direct.cl - the sums over all pairs: accelerations, their derivatives, potentials.
 *
 * Groups, stretches and slots: pairs.cl. posm[j] = {x, y, z, G m}; bodies that pad the array have G m = 0 and are so far
 * away that r^-3 is 0 (which UNIFORM relies on). Sums run over BLOCK bodies before they are added to the total, so that
 * rounding errors grow with BLOCK + N / BLOCK instead of N.
 * The plain-C twin is nbody_ref_forces in nbody_ref.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL /* the host puts it in front, and root.cl before */
#include "pairs.cl"
#endif

/* ---- Softening. ------------------------------------------------------------------------------
 * With SOFTENED bodies have softenings of their own, half their squares in soft[j]; eps2 is then not looked at. */

#ifdef SOFTENED
#define SOFTENINGS , global const real *restrict soft
#define LOAD_SOFTENINGS                              \
    vec own_soft[ITEMS];                             \
    UNROLLED for (int k = 0; k < ITEMS; k++)         \
        own_soft[k] = load_numbers(soft + first + ROW(k));
#define EPS2(k, j) (own_soft[k] + soft[j])
static inline vec load_numbers(global const real *p)
{
    vec v;
    for (int lane = 0; lane < WIDTH; lane++) ((real *)&v)[lane] = p[lane];
    return v;
}
#else
#define SOFTENINGS
#define LOAD_SOFTENINGS
#define EPS2(k, j) ((vec)eps2)
#endif

/* ---- Kernels. --------------------------------------------------------------------------------
 * first: the index in posm of row 0; rows: the length of a plane of `partial`; top: the first row of this launch, which
 * has as many as there are groups for; stretch, from, until, end: pairs.cl; eps2 > 0, also when the softening is
 * zero: so small then that it changes only pulls between bodies less than 5e-9 apart, and a body's pull on itself is
 * finite times zero. */

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces(
    global const real4 *restrict posm, global real *restrict partial, uint first, uint rows, uint top,
    uint stretch, uint from, uint until, uint end, real eps2 SOFTENINGS)
{
    vec x[ITEMS], y[ITEMS], z[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++) {
        x[k] = load_component(posm + first + ROW(k), 0);
        y[k] = load_component(posm + first + ROW(k), 1);
        z[k] = load_component(posm + first + ROW(k), 2);
    }
    LOAD_SOFTENINGS
    TILE_OF(tile);
    EACH_STRETCH(n) {
        const uint stop = STRETCH_END(n);
        vec sx[ITEMS], sy[ITEMS], sz[ITEMS];
        UNROLLED for (int k = 0; k < ITEMS; k++) sx[k] = sy[k] = sz[k] = (vec)C(0);
        for (uint block = n * stretch; block < stop; block += BLOCK) {
            vec ax[ITEMS], ay[ITEMS], az[ITEMS];
            UNROLLED for (int k = 0; k < ITEMS; k++) ax[k] = ay[k] = az[k] = (vec)C(0);
            for (uint j = block; j < min(block + BLOCK, stop); j += TILE) {
                FETCH(tile, posm, j);
#pragma unroll UNROLL
                for (uint t = 0; t < TILE; t++) {
                    const real4 b = FETCHED(tile, posm, j, t);
                    UNROLLED for (int k = 0; k < ITEMS; k++) {
                        const vec dx = b.x - x[k], dy = b.y - y[k], dz = b.z - z[k];
                        const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, EPS2(k, j + t))));
                        const vec s = inverse_cube(r2, UNIFORM ? C(1) : b.w);
                        ax[k] = FMA(s, dx, ax[k]);
                        ay[k] = FMA(s, dy, ay[k]);
                        az[k] = FMA(s, dz, az[k]);
                    }
                }
            }
            UNROLLED for (int k = 0; k < ITEMS; k++) sx[k] += ax[k], sy[k] += ay[k], sz[k] += az[k];
        }
        global real *out = partial + SLOT(n) * 3 * rows;
        UNROLLED for (int k = 0; k < ITEMS; k++) {
            const vec m = UNIFORM ? load_component(posm + first + ROW(k), 3) : (vec)C(1);
            sx[k] *= m, sy[k] *= m, sz[k] *= m;
            store(out + ROW(k), sx[k], ADD(n));
            store(out + rows + ROW(k), sy[k], ADD(n));
            store(out + 2 * (size_t)rows + ROW(k), sz[k], ADD(n));
        }
    }
}

/* phi of every row: minus the sum over j != i of G m_j / (r^2 + eps2)^1/2, one plane a slot. A pair
 * with r2 equal to `zero` is left out: without softening zero is eps2, and bodies at one place do not
 * count; with softening zero is negative, and all pairs count. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void potentials(
    global const real4 *restrict posm, global real *restrict partial, uint first, uint rows, uint top,
    uint stretch, uint from, uint until, uint end, real eps2, real zero SOFTENINGS)
{
    vec x[ITEMS], y[ITEMS], z[ITEMS];
    ivec self[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++) {
        x[k] = load_component(posm + first + ROW(k), 0);
        y[k] = load_component(posm + first + ROW(k), 1);
        z[k] = load_component(posm + first + ROW(k), 2);
        for (int lane = 0; lane < WIDTH; lane++)
            ((integer *)&self[k])[lane] = first + ROW(k) + lane;
    }
    LOAD_SOFTENINGS
    TILE_OF(tile);
    EACH_STRETCH(n) {
        const uint stop = STRETCH_END(n);
        vec sum[ITEMS];
        UNROLLED for (int k = 0; k < ITEMS; k++) sum[k] = (vec)C(0);
        for (uint block = n * stretch; block < stop; block += BLOCK) {
            vec phi[ITEMS];
            UNROLLED for (int k = 0; k < ITEMS; k++) phi[k] = (vec)C(0);
            for (uint j = block; j < min(block + BLOCK, stop); j += TILE) {
                FETCH(tile, posm, j);
#pragma unroll UNROLL
                for (uint t = 0; t < TILE; t++) {
                    const real4 b = FETCHED(tile, posm, j, t);
                    UNROLLED for (int k = 0; k < ITEMS; k++) {
                        const vec dx = b.x - x[k], dy = b.y - y[k], dz = b.z - z[k];
                        const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, EPS2(k, j + t))));
                        const ivec none = IVEC(self[k] == (ivec)(integer)(j + t)) | IVEC(r2 == (vec)zero);
                        phi[k] -= select(b.w * inverse_root(r2), (vec)C(0), none);
                    }
                }
            }
            UNROLLED for (int k = 0; k < ITEMS; k++) sum[k] += phi[k];
        }
        UNROLLED for (int k = 0; k < ITEMS; k++)
            store(partial + SLOT(n) * rows + ROW(k), sum[k], ADD(n));
    }
}

/* Accelerations and their time derivatives, planes 0-2 and 3-5 of each slot; velocities beside the
 * positions, velo[j] = {vx, vy, vz, unused}. With dr = x_j - x_i, dv = v_j - v_i, s = G m_j r^-3:
 * a += s dr, jerk += s (dv - 3 (dr dv) r^-2 dr). `zero` as above. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void jerks(
    global const real4 *restrict posm, global const real4 *restrict velo,
    global real *restrict partial, uint first, uint rows, uint top, uint stretch, uint from, uint until,
    uint end, real eps2, real zero SOFTENINGS)
{
    vec at[ITEMS][6]; /* x y z vx vy vz */
    UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 3; c++) {
        at[k][c] = load_component(posm + first + ROW(k), c);
        at[k][c + 3] = load_component(velo + first + ROW(k), c);
    }
    LOAD_SOFTENINGS
    TILE_OF(tile);
    TILE_OF(vtile);
    EACH_STRETCH(n) {
        const uint stop = STRETCH_END(n);
        vec total[ITEMS][6]; /* a and jerk */
        UNROLLED for (int k = 0; k < ITEMS; k++)
            UNROLLED for (int c = 0; c < 6; c++) total[k][c] = (vec)C(0);
        for (uint block = n * stretch; block < stop; block += BLOCK) {
            vec sum[ITEMS][6];
            UNROLLED for (int k = 0; k < ITEMS; k++)
                UNROLLED for (int c = 0; c < 6; c++) sum[k][c] = (vec)C(0);
            for (uint j = block; j < min(block + BLOCK, stop); j += TILE) {
                FETCH2(tile, posm, vtile, velo, j);
#pragma unroll UNROLL
                for (uint t = 0; t < TILE; t++) {
                    const real4 b = FETCHED(tile, posm, j, t), v = FETCHED(vtile, velo, j, t);
                    UNROLLED for (int k = 0; k < ITEMS; k++) {
                        const vec dx = b.x - at[k][0], dy = b.y - at[k][1], dz = b.z - at[k][2];
                        const vec dvx = v.x - at[k][3], dvy = v.y - at[k][4], dvz = v.z - at[k][5];
                        const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, EPS2(k, j + t))));
                        const vec w = inverse_root(r2), ww = w * w;
                        const vec s = select(b.w * w * ww, (vec)C(0), IVEC(r2 == (vec)zero));
                        const vec q = C(-3) * ww * FMA(dx, dvx, FMA(dy, dvy, dz * dvz));
                        sum[k][0] = FMA(s, dx, sum[k][0]);
                        sum[k][1] = FMA(s, dy, sum[k][1]);
                        sum[k][2] = FMA(s, dz, sum[k][2]);
                        sum[k][3] = FMA(s, FMA(q, dx, dvx), sum[k][3]);
                        sum[k][4] = FMA(s, FMA(q, dy, dvy), sum[k][4]);
                        sum[k][5] = FMA(s, FMA(q, dz, dvz), sum[k][5]);
                    }
                }
            }
            UNROLLED for (int k = 0; k < ITEMS; k++)
                UNROLLED for (int c = 0; c < 6; c++) total[k][c] += sum[k][c];
        }
        global real *out = partial + SLOT(n) * 6 * rows;
        UNROLLED for (int k = 0; k < ITEMS; k++)
            UNROLLED for (int c = 0; c < 6; c++) store(out + c * (size_t)rows + ROW(k), total[k][c], ADD(n));
    }
}
