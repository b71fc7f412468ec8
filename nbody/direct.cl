/* direct.cl - the sums over all pairs: accelerations, their derivatives, potentials.
 *
 * Groups, stretches and slots: pairs.cl. With STEP, which an integrator's file in front defines,
 * the group that has all sums of its rows also ends their step and begins the next. posm[j] = {x,
 * y, z, G m}; bodies that pad the array have G m = 0 and are so far away that r^-3 is 0 (which
 * UNIFORM relies on). Sums run over BLOCK bodies before they are added to the total, so that
 * rounding errors grow with BLOCK + N / BLOCK instead of N. The plain-C twin is nbody_ref_forces in
 * nbody_ref.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL /* the host puts it in front, and root.cl before */
#include "pairs.cl"
#endif

/* ---- Softening. ------------------------------------------------------------------------------
 * With SOFTENED bodies have softenings of their own, half their squares in soft[j]; eps2 is then
 * not looked at. */

#ifdef SOFTENED
#define SOFTENINGS , global const real *restrict soft
#define THE_SOFTENINGS , soft
#define LOAD_SOFTENINGS                                                                            \
    vec own_soft[ITEMS];                                                                           \
    UNROLLED for (int k = 0; k < ITEMS; k++) own_soft[k] = load_numbers(soft + first + ROW(k));
#define EPS2(k, j) (own_soft[k] + soft[j])
static inline vec load_numbers(global const real *p)
{
    vec v;
    for (int lane = 0; lane < WIDTH; lane++)
        ((real *)&v)[lane] = p[lane];
    return v;
}
#else
#define SOFTENINGS
#define THE_SOFTENINGS
#define LOAD_SOFTENINGS
#define EPS2(k, j) ((vec)eps2)
#endif

/* ---- Kernels. --------------------------------------------------------------------------------
 * first: the index in posm of row 0; rows: the length of a plane of `partial`; top: the first row
 * of this launch, which has as many as there are groups for; stretch, from, until, end: pairs.cl;
 * eps2 > 0, also when the softening is zero: so small then that it changes only pulls between
 * bodies less than 5e-9 apart, and a body's pull on itself is finite times zero. */

#define LOOK_POSM(n, off) LOOK(next, posm, n, off)

static inline INLINED void add_pulls(global const real4 *restrict posm, global real *partial,
                                     uint first, uint rows, uint top, uint stretch, uint from,
                                     uint until, uint end, real eps2, local real4 *tile,
                                     local real *joint SOFTENINGS)
{
    vec x[ITEMS], y[ITEMS], z[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++)
    {
        x[k] = load_component(posm + first + ROW(k), 0);
        y[k] = load_component(posm + first + ROW(k), 1);
        z[k] = load_component(posm + first + ROW(k), 2);
    }
    LOAD_SOFTENINGS
    real4 next[NEXT];
    EACH_STRETCH(n)
    {
        vec sum[3][ITEMS];
        UNROLLED for (int k = 0; k < ITEMS; k++) sum[0][k] = sum[1][k] = sum[2][k] = (vec)C(0);
        FETCH_FIRST(n, LOOK_POSM);
        EACH_BLOCK(block, n)
        {
            vec ax[ITEMS], ay[ITEMS], az[ITEMS];
            UNROLLED for (int k = 0; k < ITEMS; k++) ax[k] = ay[k] = az[k] = (vec)C(0);
            EACH_TILE(off, block, n)
            {
                const uint j = START(n) + off;
                FETCH(n, off, LOOK_POSM, TAKE(tile, next));
                if (HAS(n, j)) {
#pragma unroll UNROLL
                    for (uint t = 0; t < TILE; t++) {
                        const real4 b = FETCHED(tile, posm, j, t);
                        UNROLLED for (int k = 0; k < ITEMS; k++)
                        {
                            const vec dx = b.x - x[k], dy = b.y - y[k], dz = b.z - z[k];
                            const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, EPS2(k, j + t))));
                            const vec s = inverse_cube(r2, UNIFORM ? C(1) : b.w);
                            ax[k] = FMA(s, dx, ax[k]);
                            ay[k] = FMA(s, dy, ay[k]);
                            az[k] = FMA(s, dz, az[k]);
                        }
                    }
                }
            }
            UNROLLED for (int k = 0; k < ITEMS; k++) sum[0][k] += ax[k], sum[1][k] += ay[k],
                sum[2][k] += az[k];
        }
        UNROLLED for (int k = 0; k < ITEMS; k++)
        {
            const vec m = UNIFORM ? load_component(posm + first + ROW(k), 3) : (vec)C(1);
            sum[0][k] *= m, sum[1][k] *= m, sum[2][k] *= m;
        }
        STORE(real, partial + SLOT(n) * 3 * rows, sum, 3, n, joint)
    }
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces(
    global const real4 *restrict posm, global real *restrict partial, uint first, uint rows,
    uint top, uint stretch, uint from, uint until, uint end, real eps2 SOFTENINGS)
{
    TILE_OF(real4, tile);
    JOINT_OF(real, joint);
    add_pulls(posm, partial, first, rows, top, stretch, from, until, end, eps2, tile,
              joint THE_SOFTENINGS);
}

#ifdef STEP
/* `partial` has one slot. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces_step(
    global const real4 *restrict posm, global real *partial, uint first, uint rows, uint top,
    uint stretch, uint from, uint until, uint end, real eps2, STEP_PARAMETERS)
{
    TILE_OF(real4, tile);
    JOINT_OF(real, joint);
    add_pulls(posm, partial, first, rows, top, stretch, from, until, end, eps2, tile, joint);
    EACH_OF_GROUP(i, c, 3) STEP(i, c);
}

#if MEETS
/* Several of them. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces_steps(
    global real4 *posm, global real *partial, uint first, uint rows, uint top, uint stretch,
    uint from, uint until, uint end, real eps2, STEP_PARAMETERS, STEPS_PARAMETERS)
{
    TILE_OF(real4, tile);
    JOINT_OF(real, joint);
    local uint told;
    EACH_STEP
    {
        add_pulls(posm, partial, first, rows, top, stretch, from, until, end, eps2, tile, joint);
        EACH_OF_GROUP(i, c, 3) STEP(i, c);
        MEET_AFTER(&told)
    }
}
#endif
#endif

/* phi of every row: minus the sum over j != i of G m_j / (r^2 + eps2)^1/2, one plane a slot. A pair
 * with r2 equal to `zero` is left out: without softening zero is eps2, and bodies at one place do
 * not count; with softening zero is negative, and all pairs count. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void potentials(
    global const real4 *restrict posm, global real *restrict partial, uint first, uint rows,
    uint top, uint stretch, uint from, uint until, uint end, real eps2, real zero SOFTENINGS)
{
    vec x[ITEMS], y[ITEMS], z[ITEMS];
    ivec self[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++)
    {
        x[k] = load_component(posm + first + ROW(k), 0);
        y[k] = load_component(posm + first + ROW(k), 1);
        z[k] = load_component(posm + first + ROW(k), 2);
        for (int lane = 0; lane < WIDTH; lane++)
            ((integer *)&self[k])[lane] = first + ROW(k) + lane;
    }
    TILE_OF(real4, tile);
    JOINT_OF(real, joint);
    LOAD_SOFTENINGS
    real4 next[NEXT];
    EACH_STRETCH(n)
    {
        vec sum[1][ITEMS];
        UNROLLED for (int k = 0; k < ITEMS; k++) sum[0][k] = (vec)C(0);
        FETCH_FIRST(n, LOOK_POSM);
        EACH_BLOCK(block, n)
        {
            vec phi[ITEMS];
            UNROLLED for (int k = 0; k < ITEMS; k++) phi[k] = (vec)C(0);
            EACH_TILE(off, block, n)
            {
                const uint j = START(n) + off;
                FETCH(n, off, LOOK_POSM, TAKE(tile, next));
                if (HAS(n, j)) {
#pragma unroll UNROLL
                    for (uint t = 0; t < TILE; t++) {
                        const real4 b = FETCHED(tile, posm, j, t);
                        UNROLLED for (int k = 0; k < ITEMS; k++)
                        {
                            const vec dx = b.x - x[k], dy = b.y - y[k], dz = b.z - z[k];
                            const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, EPS2(k, j + t))));
                            const ivec none =
                                IVEC(self[k] == (ivec)(integer)(j + t)) | IVEC(r2 == (vec)zero);
                            phi[k] -= select(b.w * inverse_root(r2), (vec)C(0), none);
                        }
                    }
                }
            }
            UNROLLED for (int k = 0; k < ITEMS; k++) sum[0][k] += phi[k];
        }
        STORE(real, partial + SLOT(n) * rows, sum, 1, n, joint)
    }
}

/* Accelerations and their time derivatives, planes 0-2 and 3-5 of each slot; velocities beside the
 * positions, velo[j] = {vx, vy, vz, unused}. With dr = x_j - x_i, dv = v_j - v_i, s = G m_j r^-3:
 * a += s dr, jerk += s (dv - 3 (dr dv) r^-2 dr). `zero` as above. */
#ifdef VELOCITIES /* the integrator needs it */
#define LOOK_BOTH(n, off)                                                                          \
    do {                                                                                           \
        LOOK(next, posm, n, off);                                                                  \
        LOOK(vnext, velo, n, off);                                                                 \
    } while (0)

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void jerks(
    global const real4 *restrict posm, global const real4 *restrict velo,
    global real *restrict partial, uint first, uint rows, uint top, uint stretch, uint from,
    uint until, uint end, real eps2, real zero SOFTENINGS)
{
    vec at[ITEMS][6]; /* x y z vx vy vz */
    UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 3; c++)
    {
        at[k][c] = load_component(posm + first + ROW(k), c);
        at[k][c + 3] = load_component(velo + first + ROW(k), c);
    }
    TILE_OF(real4, tile);
    TILE_OF(real4, vtile);
    JOINT_OF(real, joint);
    LOAD_SOFTENINGS
    real4 next[NEXT], vnext[NEXT];
    EACH_STRETCH(n)
    {
        vec total[6][ITEMS]; /* a and jerk */
        UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 6; c++) total[c][k] =
            (vec)C(0);
        FETCH_FIRST(n, LOOK_BOTH);
        EACH_BLOCK(block, n)
        {
            vec sum[ITEMS][6];
            UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 6; c++)
                sum[k][c] = (vec)C(0);
            EACH_TILE(off, block, n)
            {
                const uint j = START(n) + off;
                FETCH(n, off, LOOK_BOTH, {
                    TAKE(tile, next);
                    TAKE(vtile, vnext);
                });
                if (HAS(n, j)) {
#pragma unroll UNROLL
                    for (uint t = 0; t < TILE; t++) {
                        const real4 b = FETCHED(tile, posm, j, t), v = FETCHED(vtile, velo, j, t);
                        UNROLLED for (int k = 0; k < ITEMS; k++)
                        {
                            const vec dx = b.x - at[k][0], dy = b.y - at[k][1], dz = b.z - at[k][2];
                            const vec dvx = v.x - at[k][3], dvy = v.y - at[k][4],
                                      dvz = v.z - at[k][5];
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
            }
            UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 6; c++)
                total[c][k] += sum[k][c];
        }
        STORE(real, partial + SLOT(n) * 6 * rows, total, 6, n, joint)
    }
}
#endif
