/* direct_mixed.cl - accelerations from positions in double precision, with interactions in single.
 *
 *   posm[j] = {x, y, z, G m}, doubles   ->   {x, y, z, G m} and {x', y', z', -}, floats
 *
 * A coordinate relative to the system's centre is a float plus a second float with the remainder:
 * 48 bits. The difference of two coordinates is (x_j - x_i) + (x'_j - x'_i). The first term is
 * exact for neighbouring bodies. Interactions are therefore accurate to single precision even
 * between bodies 1e-8 of the system's size apart, wherever the system lies. This takes six
 * additions more than the 13 instructions of an interaction in single precision. Sums over blocks
 * are added in double.
 *
 * With CLUSTER the bodies are sorted along a curve (hilbert_order.c), and CLUSTER consecutive
 * bodies are neighbours:
 *
 *        ( cluster )    . . . . . . .       coordinates are relative to the middle c of the target
 *       (     c-R-> )   . piece of 32 .     cluster. A piece of 32 bodies, none nearer to c than
 *        (         )    . . . . . . .       3/2 R, is far: its coordinates are at most five times
 *                                           its distances, and it needs no second floats
 *
 * Which pieces are far depends on positions only, not on launch parameters: the bodies of a group
 * belong to one cluster.
 *
 * Groups, chunks and partial sums: pairs.cl. Scalar reference: nbody_ref_forces in nbody_ref.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL /* prepended by the host, after root.cl */
#include "pairs.cl"
#endif
#ifdef __FAST_RELAXED_MATH__
#error "direct_mixed.cl: not with -cl-fast-relaxed-math: it undoes differences of pairs of floats"
#endif
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#if WIDTH == 1
typedef double wide;
#define WIDEN(v) ((double)(v))
#else
typedef PASTE(double, WIDTH) wide;
#define WIDEN(v) PASTE(convert_double, WIDTH)(v)
#endif

/* The two floats of a coordinate. */
#define HIGH(x) ((float)(x))
#define LOW(x) ((float)((x) - (double)HIGH(x)))

/* Convert a body to two vectors of floats. */
static inline void split_body(double4 b, double4 centre, float4 *high, float4 *low)
{
    const double4 d = b - centre;
    *high = convert_float4(d);
    *low = convert_float4(d - convert_double4(*high));
}

/* Load component c of WIDTH consecutive bodies. */
static inline void load_split(global const double4 *p, int c, double centre, vec *high, vec *low)
{
    for (int lane = 0; lane < WIDTH; lane++) {
        const double x = LOAD_COHERENT((global const double *)(p + lane) + c) - centre;
        ((float *)high)[lane] = HIGH(x);
        ((float *)low)[lane] = LOW(x);
    }
}

/* ---- Near and far. --------------------------------------------------------------------------- */

#ifndef CLUSTER
#define CLUSTER 0 /* bodies per cluster, a multiple of GROUP_BODIES; 0: all are near */
#endif
#if CLUSTER
#define PIECE 32 /* a divisor of TILE */
#define INTO(c) p##c
#define IS_NEAR(h) ((h).x * (h).x + (h).y * (h).y + (h).z * (h).z < border)
#else
#define PIECE TILE
#define INTO(c) a##c
#define IS_NEAR(h) 1
#endif

#if CLUSTER && LOCAL
/* Flags of pieces with a near body, double-buffered: this tile, next tile. */
#define PIECES (J_SPLIT * TILE / PIECE)
#define FLAGS_OF(name) local int name[2 * PIECES]
#define FLAG(turn, t) flags[(turn)*PIECES + (t) / PIECE]
#define MARK(h, t)                                                                                 \
    if (IS_NEAR(h))                                                                                \
    FLAG(turn, t) = 1
#define EACH_PIECE(i) for (uint i = get_local_id(0); i < PIECES; i += GROUP)
#define CLEAR(turn) EACH_PIECE(i_) flags[(turn)*PIECES + i_] = 0
#else
#define FLAGS_OF(name) local int *const name = 0
#define MARK(h, t) ((void)0)
#define CLEAR(turn) ((void)0)
#endif

#if CLUSTER && GROUP > 1
#define BOUNDS_OF(name) local int name[7]
#else
#define BOUNDS_OF(name) local int *const name = 0
#endif

#if CLUSTER
/* Map floats to integers of the same order, and back. */
static inline int ordered_bits(float x)
{
    return as_int(x) ^ ((as_int(x) >> 31) & 0x7fffffff);
}
static inline float from_ordered_bits(int r)
{
    return as_float(r ^ ((r >> 31) & 0x7fffffff));
}

/* Return the maximum over the items of the group. */
static inline int group_max(int own, local int *all)
{
#if GROUP > 1
    atomic_max(all, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    return *all;
#else
    return own;
#endif
}

/* Return the middle of the cluster that contains body `row`; *border: 9/4 R^2. n: number of
 * bodies. Minimum and maximum do not depend on the order of evaluation. */
static inline INLINED double4 find_cluster(global const double4 *restrict posm, uint row, uint n,
                                           double4 centre, local int *bounds, float *border)
{
    const uint begin = row / CLUSTER * CLUSTER, stop = min(begin + CLUSTER, n);
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY},
          far = 0, middle[3];
#if GROUP > 1
    for (uint i = get_local_id(0); i < 7; i += GROUP)
        bounds[i] = INT_MIN;
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (uint i = begin + get_local_id(0); i < stop; i += GROUP) {
        const float4 p = convert_float4(LOAD_COHERENT(posm + i) - centre);
        low[0] = fmin(low[0], p.x), low[1] = fmin(low[1], p.y), low[2] = fmin(low[2], p.z);
        high[0] = fmax(high[0], p.x), high[1] = fmax(high[1], p.y), high[2] = fmax(high[2], p.z);
    }
    for (int c = 0; c < 3; c++) {
        const float least = -from_ordered_bits(group_max(ordered_bits(-low[c]), bounds + c)),
                    most = from_ordered_bits(group_max(ordered_bits(high[c]), bounds + 3 + c));
        middle[c] = begin < stop ? 0.5f * least + 0.5f * most : 0.0f;
    }
    const double4 m = centre + (double4)(middle[0], middle[1], middle[2], 0);
    for (uint i = begin + get_local_id(0); i < stop; i += GROUP) {
        const float4 p = convert_float4(LOAD_COHERENT(posm + i) - m);
        far = fmax(far, p.x * p.x + p.y * p.y + p.z * p.z);
    }
    *border = 2.25f * from_ordered_bits(group_max(ordered_bits(far), bounds + 6));
    return m;
}
#endif

#define LOAD_POSM(n, off) LOAD_NEXT(next, posm, n, off)
#define STORE_SPLIT                                                                                \
    do {                                                                                           \
        CLEAR(!turn);                                                                              \
        EACH_NEXT(u_, t_)                                                                          \
        {                                                                                          \
            float4 h_, l_;                                                                         \
            split_body(next[u_], centre, &h_, &l_);                                                \
            highs[t_] = h_, lows[t_] = l_;                                                         \
            MARK(h_, t_);                                                                          \
        }                                                                                          \
    } while (0)

#define PULL(k, dx, dy, dz, m)                                                                     \
    do {                                                                                           \
        const vec r2_ = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, (vec)eps2)));                          \
        const vec s_ = inverse_cube(r2_, UNIFORM ? C(1) : (m));                                    \
        INTO(x)[k] = FMA(s_, dx, INTO(x)[k]);                                                      \
        INTO(y)[k] = FMA(s_, dy, INTO(y)[k]);                                                      \
        INTO(z)[k] = FMA(s_, dz, INTO(z)[k]);                                                      \
    } while (0)

static inline INLINED void add_mixed_interactions(global const double4 *restrict posm,
                                                  global double *partial, uint first, uint rows,
                                                  uint top, uint chunk, uint from, uint until,
                                                  uint end, float eps2, uint bodies, double4 centre,
                                                  local float4 *highs, local float4 *lows,
                                                  local double *reduce_buffer, local int *flags,
                                                  local int *bounds)
{
#if CLUSTER
    float border;
    centre = find_cluster(posm, first + FIRST_BODY, bodies, centre, bounds, &border);
#endif
    vec x[ITEMS], y[ITEMS], z[ITEMS], xl[ITEMS], yl[ITEMS], zl[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++)
    {
        load_split(posm + first + BODY(k), 0, centre.x, &x[k], &xl[k]);
        load_split(posm + first + BODY(k), 1, centre.y, &y[k], &yl[k]);
        load_split(posm + first + BODY(k), 2, centre.z, &z[k], &zl[k]);
    }
    double4 next[NEXT];
    uint turn = 0;
    CLEAR(turn);
    EACH_CHUNK(n)
    {
        wide sum[3][ITEMS];
        UNROLLED for (int k = 0; k < ITEMS; k++) sum[0][k] = sum[1][k] = sum[2][k] = (wide)(0);
        PREFETCH_FIRST(n, LOAD_POSM);
        EACH_BLOCK(block, n)
        {
            vec ax[ITEMS], ay[ITEMS], az[ITEMS];
            UNROLLED for (int k = 0; k < ITEMS; k++) ax[k] = ay[k] = az[k] = (vec)C(0);
            EACH_TILE(off, block, n)
            {
                const uint j = CHUNK_START(n) + off;
                LOAD_TILE(n, off, LOAD_POSM, STORE_SPLIT);
                for (uint p = 0; CHUNK_HAS(n, j) && p < TILE; p += PIECE) {
#if !LOCAL /* convert before the loop: its loads of a body are then broadcast */
                    float4 highs_[PIECE], lows_[PIECE];
                    int near = !CLUSTER;
                    for (uint t = 0; t < PIECE; t++) {
                        split_body(LOAD_COHERENT(posm + j + p + t), centre, &highs_[t], &lows_[t]);
                        near |= IS_NEAR(highs_[t]);
                    }
#define HIGHS(t) highs_[t]
#define LOWS(t) lows_[t]
#else
#define HIGHS(t) TILE_BODY(highs, posm, j, p + (t))
#define LOWS(t) TILE_BODY(lows, posm, j, p + (t))
#if CLUSTER
                    const int near = FLAG(turn, SPLIT * TILE + p);
#else
                    const int near = 1;
#endif
#endif
#if CLUSTER /* neighbours exert similar forces: a block's sum would lose digits */
                    vec px[ITEMS], py[ITEMS], pz[ITEMS];
                    UNROLLED for (int k = 0; k < ITEMS; k++) px[k] = py[k] = pz[k] = (vec)C(0);
#endif
                    if (near) {
#pragma unroll UNROLL
                        for (uint t = 0; t < PIECE; t++) {
                            const float4 b = HIGHS(t), l = LOWS(t);
                            UNROLLED for (int k = 0; k < ITEMS; k++)
                            {
                                const vec dx = (b.x - x[k]) + (l.x - xl[k]),
                                          dy = (b.y - y[k]) + (l.y - yl[k]),
                                          dz = (b.z - z[k]) + (l.z - zl[k]);
                                PULL(k, dx, dy, dz, b.w);
                            }
                        }
                    } else {
#pragma unroll UNROLL
                        for (uint t = 0; t < PIECE; t++) {
                            const float4 b = HIGHS(t);
                            UNROLLED for (int k = 0; k < ITEMS; k++)
                            {
                                const vec dx = b.x - x[k], dy = b.y - y[k], dz = b.z - z[k];
                                PULL(k, dx, dy, dz, b.w);
                            }
                        }
                    }
#if CLUSTER
                    UNROLLED for (int k = 0; k < ITEMS; k++) ax[k] += px[k], ay[k] += py[k],
                        az[k] += pz[k];
#endif
                }
                turn = !turn;
            }
            UNROLLED for (int k = 0; k < ITEMS; k++) sum[0][k] += WIDEN(ax[k]),
                sum[1][k] += WIDEN(ay[k]), sum[2][k] += WIDEN(az[k]);
        }
        const double m = UNIFORM ? LOAD_COHERENT((global const double *)(posm + first) + 3) : 1;
        UNROLLED for (int k = 0; UNIFORM && k < ITEMS; k++) sum[0][k] *= m, sum[1][k] *= m,
            sum[2][k] *= m;
        STORE(double, partial + PARTIAL(n) * 3 * rows, sum, 3, n, reduce_buffer)
    }
}

/* Arguments as in `forces` and `forces_step` of direct.cl; bodies: total number of bodies. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces(
    global const double4 *restrict posm, global double *restrict partial, uint first, uint rows,
    uint top, uint chunk, uint from, uint until, uint end, float eps2, double cx, double cy,
    double cz, uint bodies)
{
    TILE_BUFFER(float4, highs);
    TILE_BUFFER(float4, lows);
    REDUCE_BUFFER(double, reduce_buffer);
    FLAGS_OF(flags);
    BOUNDS_OF(bounds);
    add_mixed_interactions(posm, partial, first, rows, top, chunk, from, until, end, eps2, bodies,
                           (double4)(cx, cy, cz, 0), highs, lows, reduce_buffer, flags, bounds);
}

#ifdef UPDATE
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces_step(
    global const double4 *restrict posm, global double *partial, uint first, uint rows, uint top,
    uint chunk, uint from, uint until, uint end, float eps2, double cx, double cy, double cz,
    uint bodies, UPDATE_PARAMETERS)
{
    TILE_BUFFER(float4, highs);
    TILE_BUFFER(float4, lows);
    REDUCE_BUFFER(double, reduce_buffer);
    FLAGS_OF(flags);
    BOUNDS_OF(bounds);
    add_mixed_interactions(posm, partial, first, rows, top, chunk, from, until, end, eps2, bodies,
                           (double4)(cx, cy, cz, 0), highs, lows, reduce_buffer, flags, bounds);
    EACH_BODY_OF_GROUP(i, c, 3) UPDATE(i, c);
}

#if FUSED_STEPS
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces_steps(
    global double4 *posm, global double *partial, uint first, uint rows, uint top, uint chunk,
    uint from, uint until, uint end, float eps2, double cx, double cy, double cz, uint bodies,
    UPDATE_PARAMETERS, MULTI_STEP_PARAMETERS)
{
    TILE_BUFFER(float4, highs);
    TILE_BUFFER(float4, lows);
    REDUCE_BUFFER(double, reduce_buffer);
    FLAGS_OF(flags);
    BOUNDS_OF(bounds);
    local uint barrier_flag;
    EACH_STEP
    {
        add_mixed_interactions(posm, partial, first, rows, top, chunk, from, until, end, eps2,
                               bodies, (double4)(cx, cy, cz, 0), highs, lows, reduce_buffer, flags,
                               bounds);
        EACH_BODY_OF_GROUP(i, c, 3) UPDATE(i, c);
        BARRIER_AFTER_STEP(&barrier_flag)
    }
}
#endif
#endif
