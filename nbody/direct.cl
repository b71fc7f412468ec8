/* direct.cl - the sums over all pairs: accelerations, their derivatives, potentials.
 *
 *              bodies j that attract, in stretches: group_id(1)
 *            +---------------+---------------+--
 *   bodies i | group (0, 0)  | group (0, 1)  |     an item holds ITEMS vectors of WIDTH bodies i in
 *   that     +---------------+---------------+--   registers, and meets every j of its group's stretch
 *   are      | group (1, 0)  | group (1, 1)  |
 *   pulled   +---------------+---------------+--   partial[stretch][component][row]: a later kernel adds
 *            :               :               :     the stretches in order
 *
 * The order of additions depends on the number of bodies alone: where stretches begin does (forces_sum.c), each is
 * summed in blocks, in the order of bodies, and the sums of stretches are added in their order, from 0 on. Where rows
 * alone make enough groups, one group meets all stretches and adds their sums itself (`chain`): partial then has one
 * slot, and the bits are the same. Launches, devices and group sizes change nothing. For that, products and sums are
 * fused where fma is written, and nowhere else.
 *
 * posm[j] = {x, y, z, G m}; bodies that pad the array have G m = 0 and are so far away that r^-3 is 0
 * (which UNIFORM relies on). On a GPU a "vector" is one number, and a group copies TILE bodies j at a time to
 * local memory; on a CPU a group is one item, and its vectors are SIMD registers. Sums run over BLOCK bodies
 * before they are added to the total, so that rounding errors grow with BLOCK + N / BLOCK instead of N.
 * The plain-C twin is nbody_ref_forces in nbody_ref.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_ROOT_CL /* the host puts it in front */
#include "root.cl"
#endif
#ifndef GROUP
#define GROUP 1 /* work-items of a group */
#endif
#ifndef ITEMS
#define ITEMS 4 /* vectors of an item */
#endif
#ifndef TILE
#define TILE 16 /* bodies j fetched at once; with LOCAL a multiple of GROUP */
#endif
#ifndef LOCAL
#define LOCAL 0 /* 1: fetched into local memory by the whole group */
#endif
#ifndef UNROLL
#define UNROLL 1 /* of the loop over a tile */
#endif
#ifndef BLOCK
#define BLOCK 256 /* bodies j summed before they join the total; a multiple of TILE */
#endif
/* ---- Which bodies an item holds, and how a group meets the others. --------------------------- */

/* The row of the first body of vector k; a launch begins at row `top`. */
#define ROW(k) (top + ((get_group_id(0) * ITEMS + (k)) * GROUP + get_local_id(0)) * WIDTH)

/* Component c (0..3) of WIDTH bodies that follow each other. */
static inline vec load_component(global const real4 *p, int c)
{
    vec v;
    for (int lane = 0; lane < WIDTH; lane++)
        ((real *)&v)[lane] = ((global const real *)(p + lane))[c];
    return v;
}

/* Stores a vector of one component, or with `add` adds it to what an earlier launch found. */
static inline void store(global real *to, vec v, uint add)
{
    for (int lane = 0; lane < WIDTH; lane++)
        to[lane] = ((real *)&v)[lane] + (add ? to[lane] : C(0));
}

#if LOCAL
#define TILE_OF(name) local real4 name[TILE]
#define COPY_TILE(tile, source, j)                              \
    for (uint t_ = get_local_id(0); t_ < TILE; t_ += GROUP)     \
        tile[t_] = source[(j) + t_];
#define FETCH2(tile1, source1, tile2, source2, j)               \
    do {                                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                           \
        COPY_TILE(tile1, source1, j)                            \
        COPY_TILE(tile2, source2, j)                            \
        barrier(CLK_LOCAL_MEM_FENCE);                           \
    } while (0)
#define FETCH(tile, source, j)                                  \
    do {                                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                           \
        COPY_TILE(tile, source, j)                              \
        barrier(CLK_LOCAL_MEM_FENCE);                           \
    } while (0)
#define FETCHED(tile, source, j, t) tile[t]
#else
#define TILE_OF(name)
#define FETCH(tile, source, j) ((void)0)
#define FETCH2(tile1, source1, tile2, source2, j) ((void)0)
#define FETCHED(tile, source, j, t) source[(j) + (t)]
#endif

/* The stretches that a group sums: one of from .. until - 1, or with `chain` one after another. A stretch has `stretch`
 * bodies, a multiple of TILE; the last one ends with the bodies, at `end`. */
#define EACH_STRETCH(s)                                                                           \
    for (uint s = from + (uint)get_group_id(1), last_ = chain ? until : min(s + 1, until); s < last_; s++)
#define STRETCH_END(s) min((s) * stretch + stretch, end)
#define SLOT(s) (chain ? 0 : (size_t)(s))
#define ADD(s) (chain && (s) > 0)
#define UNROLLED _Pragma("unroll")

/* A comparison as select() wants it: scalar comparisons give int whatever is compared. */
#if WIDTH == 1
#define IVEC(x) ((ivec)(x))
#else
#define IVEC(x) (x)
#endif

/* ---- Kernels. --------------------------------------------------------------------------------
 * first: the index in posm of row 0; rows: the length of a plane of `partial`; top: the first row of this launch, which
 * has as many as there are groups for; stretch, from, until, end, chain: above; eps2 > 0, also when the softening is zero: so small then that it changes only
 * pulls between bodies less than 5e-9 apart, and a body's pull on itself is finite times zero. */

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces(
    global const real4 *restrict posm, global real *restrict partial, uint first, uint rows, uint top,
    uint stretch, uint from, uint until, uint end, uint chain, real eps2)
{
    vec x[ITEMS], y[ITEMS], z[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++) {
        x[k] = load_component(posm + first + ROW(k), 0);
        y[k] = load_component(posm + first + ROW(k), 1);
        z[k] = load_component(posm + first + ROW(k), 2);
    }
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
                        const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, (vec)eps2)));
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
    uint stretch, uint from, uint until, uint end, uint chain, real eps2, real zero)
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
                        const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, (vec)eps2)));
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
    uint end, uint chain, real eps2, real zero)
{
    vec at[ITEMS][6]; /* x y z vx vy vz */
    UNROLLED for (int k = 0; k < ITEMS; k++) UNROLLED for (int c = 0; c < 3; c++) {
        at[k][c] = load_component(posm + first + ROW(k), c);
        at[k][c + 3] = load_component(velo + first + ROW(k), c);
    }
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
                        const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, (vec)eps2)));
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
