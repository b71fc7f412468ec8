/* direct.cl - sums over all pairs: accelerations, jerks, potentials.
 *
 * Groups, chunks and partial sums: pairs.cl. If an integrator's file before this one defines
 * UPDATE, the group that has all sums of its bodies also ends their step and begins the next.
 * posm[j] = {x, y, z, G m}; padding has G m = 0 and is so far away that r^-3 is 0 (which UNIFORM
 * relies on). Sums run over BLOCK bodies before they are added to the total, so that rounding
 * errors grow with BLOCK + N / BLOCK instead of N. Scalar reference: nbody_ref_forces in
 * nbody_ref.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL /* prepended by the host, after root.cl */
#include "pairs.cl"
#endif

/* ---- Softening. ---------------------------------------------------------------------------------
 * With SOFTENED bodies have individual softening lengths, half their squares in soft[j]; eps2 is
 * then unused. */

#ifdef SOFTENED
#define SOFTENING_PARAMETER , global const real *restrict soft
#define SOFTENING_ARGUMENT , soft
#define LOAD_SOFTENING                                                                             \
    vec own_soft[ITEMS];                                                                           \
    UNROLLED for (int k = 0; k < ITEMS; k++) own_soft[k] = load_softening(soft + first + BODY(k));
#define EPS2(k, j) (own_soft[k] + soft[j])
static inline vec load_softening(global const real *p)
{
    vec v;
    for (int lane = 0; lane < WIDTH; lane++)
        ((real *)&v)[lane] = p[lane];
    return v;
}
#else
#define SOFTENING_PARAMETER
#define SOFTENING_ARGUMENT
#define LOAD_SOFTENING
#define EPS2(k, j) ((vec)eps2)
#endif

/* ---- Kernels. -----------------------------------------------------------------------------------
 * first: index in posm of the device's first body. rows: length of a plane of `partial`. top:
 * first body of this launch, counted from `first`. chunk, from, until, end: pairs.cl. eps2 > 0,
 * also without softening: it is then so small that it only changes interactions of bodies less
 * than 5e-9 apart, and the self-interaction is finite times zero. */

#define LOAD_POSM(n, off) LOAD_NEXT(next, posm, n, off)

static inline INLINED void add_interactions(global const real4 *restrict posm, global real *partial,
                                            uint first, uint rows, uint top, uint chunk, uint from,
                                            uint until, uint end, real eps2, local real4 *tile,
                                            local real *reduce_buffer SOFTENING_PARAMETER)
{
    vec x[ITEMS], y[ITEMS], z[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++)
    {
        x[k] = load_component(posm + first + BODY(k), 0);
        y[k] = load_component(posm + first + BODY(k), 1);
        z[k] = load_component(posm + first + BODY(k), 2);
    }
    LOAD_SOFTENING
    real4 next[NEXT];
    EACH_CHUNK(n)
    {
        vec sum[3][ITEMS];
        UNROLLED for (int k = 0; k < ITEMS; k++) sum[0][k] = sum[1][k] = sum[2][k] = (vec)C(0);
        PREFETCH_FIRST(n, LOAD_POSM);
        EACH_BLOCK(block, n)
        {
            vec ax[ITEMS], ay[ITEMS], az[ITEMS];
            UNROLLED for (int k = 0; k < ITEMS; k++) ax[k] = ay[k] = az[k] = (vec)C(0);
            EACH_TILE(off, block, n)
            {
                const uint j = CHUNK_START(n) + off;
                LOAD_TILE(n, off, LOAD_POSM, STORE_NEXT(tile, next));
                if (CHUNK_HAS(n, j)) {
#pragma unroll UNROLL
                    for (uint t = 0; t < TILE; t++) {
                        const real4 b = TILE_BODY(tile, posm, j, t);
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
            const vec m = UNIFORM ? load_component(posm + first + BODY(k), 3) : (vec)C(1);
            sum[0][k] *= m, sum[1][k] *= m, sum[2][k] *= m;
        }
        STORE(real, partial + PARTIAL(n) * 3 * rows, sum, 3, n, reduce_buffer)
    }
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces(
    global const real4 *restrict posm, global real *restrict partial, uint first, uint rows,
    uint top, uint chunk, uint from, uint until, uint end, real eps2 SOFTENING_PARAMETER)
{
    TILE_BUFFER(real4, tile);
    REDUCE_BUFFER(real, reduce_buffer);
    add_interactions(posm, partial, first, rows, top, chunk, from, until, end, eps2, tile,
                     reduce_buffer SOFTENING_ARGUMENT);
}

#ifdef UPDATE
/* Fused sum and update; `partial` has one sum per body. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces_step(
    global const real4 *restrict posm, global real *partial, uint first, uint rows, uint top,
    uint chunk, uint from, uint until, uint end, real eps2, UPDATE_PARAMETERS)
{
    TILE_BUFFER(real4, tile);
    REDUCE_BUFFER(real, reduce_buffer);
    add_interactions(posm, partial, first, rows, top, chunk, from, until, end, eps2, tile,
                     reduce_buffer);
    EACH_BODY_OF_GROUP(i, c, 3) UPDATE(i, c);
}

#if FUSED_STEPS
/* Several fused steps. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces_steps(
    global real4 *posm, global real *partial, uint first, uint rows, uint top, uint chunk,
    uint from, uint until, uint end, real eps2, UPDATE_PARAMETERS, MULTI_STEP_PARAMETERS)
{
    TILE_BUFFER(real4, tile);
    REDUCE_BUFFER(real, reduce_buffer);
    local uint barrier_flag;
    EACH_STEP
    {
        add_interactions(posm, partial, first, rows, top, chunk, from, until, end, eps2, tile,
                         reduce_buffer);
        EACH_BODY_OF_GROUP(i, c, 3) UPDATE(i, c);
        BARRIER_AFTER_STEP(&barrier_flag)
    }
}
#endif
#endif

/* phi of each body: minus the sum over j != i of G m_j / (r^2 + eps2)^1/2. Pairs with r2 equal to
 * `zero` are left out: without softening zero is eps2, which excludes bodies at one place; with
 * softening zero is negative, and all pairs count. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void potentials(
    global const real4 *restrict posm, global real *restrict partial, uint first, uint rows,
    uint top, uint chunk, uint from, uint until, uint end, real eps2, real zero SOFTENING_PARAMETER)
{
    vec x[ITEMS], y[ITEMS], z[ITEMS];
    ivec self[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++)
    {
        x[k] = load_component(posm + first + BODY(k), 0);
        y[k] = load_component(posm + first + BODY(k), 1);
        z[k] = load_component(posm + first + BODY(k), 2);
        for (int lane = 0; lane < WIDTH; lane++)
            ((integer *)&self[k])[lane] = first + BODY(k) + lane;
    }
    TILE_BUFFER(real4, tile);
    REDUCE_BUFFER(real, reduce_buffer);
    LOAD_SOFTENING
    real4 next[NEXT];
    EACH_CHUNK(n)
    {
        vec sum[1][ITEMS];
        UNROLLED for (int k = 0; k < ITEMS; k++) sum[0][k] = (vec)C(0);
        PREFETCH_FIRST(n, LOAD_POSM);
        EACH_BLOCK(block, n)
        {
            vec phi[ITEMS];
            UNROLLED for (int k = 0; k < ITEMS; k++) phi[k] = (vec)C(0);
            EACH_TILE(off, block, n)
            {
                const uint j = CHUNK_START(n) + off;
                LOAD_TILE(n, off, LOAD_POSM, STORE_NEXT(tile, next));
                if (CHUNK_HAS(n, j)) {
#pragma unroll UNROLL
                    for (uint t = 0; t < TILE; t++) {
                        const real4 b = TILE_BODY(tile, posm, j, t);
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
        STORE(real, partial + PARTIAL(n) * rows, sum, 1, n, reduce_buffer)
    }
}

/* Accelerations and jerks, components 0-2 and 3-5. velo[j] = {vx, vy, vz, unused}. With dr = x_j -
 * x_i, dv = v_j - v_i and s = G m_j r^-3: a += s dr, jerk += s (dv - 3 (dr dv) r^-2 dr). `zero` as
 * in `potentials`. */
#ifdef VELOCITIES /* for integrators that need jerks */
#define LOAD_POSM_VELO(n, off)                                                                     \
    do {                                                                                           \
        LOAD_NEXT(next, posm, n, off);                                                             \
        LOAD_NEXT(vnext, velo, n, off);                                                            \
    } while (0)

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void jerks(
    global const real4 *restrict posm, global const real4 *restrict velo,
    global real *restrict partial, uint first, uint rows, uint top, uint chunk, uint from,
    uint until, uint end, real eps2, real zero SOFTENING_PARAMETER)
{
    vec at[ITEMS][6]; /* x y z vx vy vz */
    UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 3; c++)
    {
        at[k][c] = load_component(posm + first + BODY(k), c);
        at[k][c + 3] = load_component(velo + first + BODY(k), c);
    }
    TILE_BUFFER(real4, tile);
    TILE_BUFFER(real4, vtile);
    REDUCE_BUFFER(real, reduce_buffer);
    LOAD_SOFTENING
    real4 next[NEXT], vnext[NEXT];
    EACH_CHUNK(n)
    {
        vec total[6][ITEMS]; /* a and jerk */
        UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 6; c++) total[c][k] =
            (vec)C(0);
        PREFETCH_FIRST(n, LOAD_POSM_VELO);
        EACH_BLOCK(block, n)
        {
            vec sum[ITEMS][6];
            UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 6; c++)
                sum[k][c] = (vec)C(0);
            EACH_TILE(off, block, n)
            {
                const uint j = CHUNK_START(n) + off;
                LOAD_TILE(n, off, LOAD_POSM_VELO, {
                    STORE_NEXT(tile, next);
                    STORE_NEXT(vtile, vnext);
                });
                if (CHUNK_HAS(n, j)) {
#pragma unroll UNROLL
                    for (uint t = 0; t < TILE; t++) {
                        const real4 b = TILE_BODY(tile, posm, j, t),
                                    v = TILE_BODY(vtile, velo, j, t);
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
        STORE(real, partial + PARTIAL(n) * 6 * rows, total, 6, n, reduce_buffer)
    }
}
#endif
