/* mixed.cl - accelerations from positions in double precision, with pulls in single; and of many bodies in single precision.
 *
 *   posm[j] = {x, y, z, G m}, doubles   ->   {x, y, z, G m} and {x', y', z', -}, floats
 *
 * A coordinate, counted from the system's centre, is a float and what that leaves out, in another float: 48 bits. The
 * difference of two is (x_j - x_i) + (x'_j - x'_i), whose first term is exact for bodies near each other. So pulls are right to
 * single precision also between bodies 1e-8 of the system's size apart, and wherever the system lies. That takes six
 * additions more than the 13 instructions of a pull in single precision. Sums over blocks are added in double.
 *
 * With CLUSTER many bodies lie along a curve (order.c), and the CLUSTER bodies whose numbers follow each other are near each other:
 *
 *        ( cluster )    . . . . . . .          coordinates are counted from the middle of the cluster that is pulled. PIECE bodies
 *       (     c-R-> )   . piece of 32 .        none of which is nearer to c than 3/2 R are far: R and their coordinates are at most five
 *        (         )    . . . . . . .          times their distances, and so they do without the second floats
 *
 * What is far depends on the places of bodies alone, not on how kernels are launched: a group's rows are of one cluster.
 * Without MIXED positions are floats, and near bodies pull as in direct.cl.
 *
 * With EXPANDED the squares of far bodies' distances are multiplied out, and masses are in their scale: with q = 1 / m_j^2
 *
 *   r^2 / m_j^2 = q (x_j^2 + eps^2) + q x_i^2 - 2 q x_i x_j        4 instructions for six, where a body brings {-2 q x_j, q (x_j^2 + eps^2)} and q
 *   s = (m_j / r)^3,  sum of m_j (x_j - x_i) / r^3 = sum of s q x_j - x_i sum of s q       6 for six, s included
 *
 * 11 instructions for 13. Bodies nearer than 2 R are near then, so that what cancels is at most nine times r^2.
 *
 * Groups, stretches and slots: pairs.cl. The plain-C twin is nbody_ref_forces in nbody_ref.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_PAIRS_CL /* the host puts it in front, and root.cl before */
#include "pairs.cl"
#endif
#ifdef __FAST_RELAXED_MATH__
#error "mixed.cl: not with -cl-fast-relaxed-math, which undoes differences of pairs of floats"
#endif
#ifdef MIXED
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double total;
typedef double4 total4;
#else
typedef float total;
typedef float4 total4;
#endif
#define TOTAL(x) ((total)(x))

#ifndef MIXED
typedef vec wide;
#define WIDEN(v) (v)
#elif WIDTH == 1
typedef double wide;
#define WIDEN(v) ((double)(v))
#else
typedef PASTE(double, WIDTH) wide;
#define WIDEN(v) PASTE(convert_double, WIDTH)(v)
#endif

/* A coordinate from the centre as a float, and what that leaves out; in single precision, where it is. */
#define HIGH(x, centre) ((float)((x) - (centre)))
#ifdef MIXED
#define LOW(x, centre) ((float)(((x) - (centre)) - (double)HIGH(x, centre)))
#define BETWEEN(b, l, x, xl) (((b) - (x)) + ((l) - (xl)))
#else
#define LOW(x, centre) (x)
#define BETWEEN(b, l, x, xl) ((l) - (xl))
#endif

/* A body as two vectors of floats. */
static inline void split(total4 b, total4 centre, float4 *high, float4 *low)
{
    *high = (float4)(HIGH(b.x, centre.x), HIGH(b.y, centre.y), HIGH(b.z, centre.z), (float)b.w);
    *low = (float4)(LOW(b.x, centre.x), LOW(b.y, centre.y), LOW(b.z, centre.z), 0);
}

/* Component c of WIDTH bodies that follow each other. */
static inline void load_split(global const total4 *p, int c, total centre, vec *high, vec *low)
{
    for (int lane = 0; lane < WIDTH; lane++) {
        const total x = ((global const total *)(p + lane))[c];
        ((float *)high)[lane] = HIGH(x, centre);
        ((float *)low)[lane] = LOW(x, centre);
    }
}

/* ---- Near and far. ---------------------------------------------------------------------------- */

#ifndef CLUSTER
#define CLUSTER 0 /* bodies of a cluster, a multiple of ROWS; 0: all bodies are near */
#endif
#ifndef EXPANDED
#define EXPANDED 0 /* 1: with CLUSTER, far bodies pull by expanded squares */
#endif
#ifndef BORDER
#define BORDER (EXPANDED ? 4.0f : 2.25f)
#endif
#if CLUSTER
#define PIECE 32 /* TILE is a multiple of it */
#define INTO(c) p##c
#define IS_NEAR(h) ((h).x * (h).x + (h).y * (h).y + (h).z * (h).z < border)
#else
#define PIECE TILE
#define INTO(c) a##c
#define IS_NEAR(h) 1
#endif

#if CLUSTER && LOCAL
/* Whether pieces have a near body: those of this tile, and room for those of the next. */
#define PIECES (DEEP * TILE / PIECE)
#define FLAGS_OF(name) local int name[2 * PIECES]
#define FLAG(turn, t) flags[(turn) * PIECES + (t) / PIECE]
#define MARK(h, t) if (IS_NEAR(h)) FLAG(turn, t) = 1
#define EACH_PIECE(i) for (uint i = get_local_id(0); i < PIECES; i += GROUP)
#define CLEAR(turn) EACH_PIECE(i_) flags[(turn) * PIECES + i_] = 0
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
/* Numbers that are in the order of floats, and back. */
static inline int rank_of(float x) { return as_int(x) ^ ((as_int(x) >> 31) & 0x7fffffff); }
static inline float of_rank(int r) { return as_float(r ^ ((r >> 31) & 0x7fffffff)); }

/* The largest of what all items of the group have. */
static inline int largest(int own, local int *all)
{
#if GROUP > 1
    atomic_max(all, own);
    barrier(CLK_LOCAL_MEM_FENCE);
    return *all;
#else
    return own;
#endif
}

/* The middle of the cluster of `row`, and 9/4 R^2; of n bodies in all. Largest and smallest numbers are the same in whatever order
 * they are found. */
static inline INLINED total4 find_cluster(global const total4 *restrict posm, uint row, uint n, total4 centre, local int *bounds,
                                           float *border)
{
    const uint begin = row / CLUSTER * CLUSTER, stop = min(begin + CLUSTER, n);
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY}, far = 0, middle[3];
#if GROUP > 1
    for (uint i = get_local_id(0); i < 7; i += GROUP) bounds[i] = INT_MIN;
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    for (uint i = begin + get_local_id(0); i < stop; i += GROUP) {
        const float4 p = convert_float4(posm[i] - centre);
        low[0] = fmin(low[0], p.x), low[1] = fmin(low[1], p.y), low[2] = fmin(low[2], p.z);
        high[0] = fmax(high[0], p.x), high[1] = fmax(high[1], p.y), high[2] = fmax(high[2], p.z);
    }
    for (int c = 0; c < 3; c++) {
        const float least = -of_rank(largest(rank_of(-low[c]), bounds + c)), most = of_rank(largest(rank_of(high[c]), bounds + 3 + c));
        middle[c] = begin < stop ? 0.5f * least + 0.5f * most : 0.0f;
    }
    const total4 m = centre + (total4)(middle[0], middle[1], middle[2], 0);
    for (uint i = begin + get_local_id(0); i < stop; i += GROUP) {
        const float4 p = convert_float4(posm[i] - m);
        far = fmax(far, p.x * p.x + p.y * p.y + p.z * p.z);
    }
    *border = BORDER * of_rank(largest(rank_of(far), bounds + 6));
    return m;
}
#endif

#if EXPANDED
/* A far body x with mass m as {-2 q x, q (x^2 + eps^2)} and q = 1 / m^2, in lengths of which the largest are about 1; bodies without
 * mass are too far away to be felt. */
#ifdef MIXED
#define LENGTH_UNIT 0x1p-24f
#else
#define LENGTH_UNIT 1.0f
#endif
#define PULL_UNIT (LENGTH_UNIT * LENGTH_UNIT)
static inline float expand(float4 h, float eps2, float4 *away)
{
    const float4 u = h * LENGTH_UNIT;
    const float q = UNIFORM ? 1.0f : h.w > 0x1p-40f ? 1 / (h.w * h.w) : 0.0f;
    const float square = u.x * u.x + u.y * u.y + u.z * u.z + eps2 * PULL_UNIT;
    *away = (float4)(-2 * q * u.x, -2 * q * u.y, -2 * q * u.z, UNIFORM || q > 0 ? q * square : 0x1p100f);
    return q;
}
#define EXPANDED_OF(away, squares) TILE_OF(float4, away); TILE_OF(float, squares)
#else
#define EXPANDED_OF(away, squares) local float4 *const away = 0; local float *const squares = 0
#endif

#define LOOK_POSM(n, off) LOOK(next, posm, n, off)
#define TAKE_SPLIT                                                        \
    do {                                                                  \
        CLEAR(!turn);                                                     \
        EACH_NEXT(u_, t_) {                                               \
            float4 h_, l_;                                                \
            split(next[u_], centre, &h_, &l_);                            \
            highs[t_] = h_, lows[t_] = l_;                                \
            EXPAND_TO(t_, h_);                                            \
            MARK(h_, t_);                                                 \
        }                                                                 \
    } while (0)

#if EXPANDED
#define EXPAND_TO(t, h)                              \
    do {                                             \
        float4 away_;                                \
        squares[t] = expand(h, eps2, &away_);        \
        away[t] = away_;                             \
    } while (0)
#else
#define EXPAND_TO(t, h) ((void)0)
#endif

#define PULL(k, dx, dy, dz, m)                                                       \
    do {                                                                             \
        const vec r2_ = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, (vec)eps2)));            \
        const vec s_ = inverse_cube(r2_, UNIFORM ? C(1) : (m));                      \
        INTO(x)[k] = FMA(s_, dx, INTO(x)[k]);                                        \
        INTO(y)[k] = FMA(s_, dy, INTO(y)[k]);                                        \
        INTO(z)[k] = FMA(s_, dz, INTO(z)[k]);                                        \
    } while (0)

static inline INLINED void add_pulls(global const total4 *restrict posm, global total *partial, uint first, uint rows,
                                     uint top, uint stretch, uint from, uint until, uint end, float eps2, uint bodies,
                                     total4 centre, local float4 *highs, local float4 *lows, local total *joint, local int *flags,
                                     local int *bounds, local float4 *away, local float *squares)
{
#if CLUSTER
    float border;
    centre = find_cluster(posm, first + FIRST_ROW, bodies, centre, bounds, &border);
#endif
    vec x[ITEMS], y[ITEMS], z[ITEMS], xl[ITEMS], yl[ITEMS], zl[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++) {
        load_split(posm + first + ROW(k), 0, centre.x, &x[k], &xl[k]);
        load_split(posm + first + ROW(k), 1, centre.y, &y[k], &yl[k]);
        load_split(posm + first + ROW(k), 2, centre.z, &z[k], &zl[k]);
    }
#if EXPANDED
    vec ux[ITEMS], uy[ITEMS], uz[ITEMS], u2[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++) {
        ux[k] = x[k] * LENGTH_UNIT, uy[k] = y[k] * LENGTH_UNIT, uz[k] = z[k] * LENGTH_UNIT;
        u2[k] = ux[k] * ux[k] + uy[k] * uy[k] + uz[k] * uz[k];
    }
#endif
    total4 next[NEXT];
    uint turn = 0;
    CLEAR(turn);
    EACH_STRETCH(n) {
        wide sum[3][ITEMS];
        UNROLLED for (int k = 0; k < ITEMS; k++) sum[0][k] = sum[1][k] = sum[2][k] = (wide)(0);
        FETCH_FIRST(n, LOOK_POSM);
        EACH_BLOCK(block, n) {
            vec ax[ITEMS], ay[ITEMS], az[ITEMS];
            UNROLLED for (int k = 0; k < ITEMS; k++) ax[k] = ay[k] = az[k] = (vec)C(0);
            EACH_TILE(off, block, n) {
                const uint j = START(n) + off;
                FETCH(n, off, LOOK_POSM, TAKE_SPLIT);
                for (uint p = 0; HAS(n, j) && p < TILE; p += PIECE) {
#if !LOCAL /* then bodies are split before: what the loop reads of a body goes to all lanes by the way */
                    float4 highs_[PIECE], lows_[PIECE];
                    int near = !CLUSTER;
                    for (uint t = 0; t < PIECE; t++) {
                        split(posm[j + p + t], centre, &highs_[t], &lows_[t]);
                        near |= IS_NEAR(highs_[t]);
                    }
#define HIGHS(t) highs_[t]
#define LOWS(t) lows_[t]
#else
#define HIGHS(t) FETCHED(highs, posm, j, p + (t))
#define LOWS(t) FETCHED(lows, posm, j, p + (t))
#if CLUSTER
                    const int near = FLAG(turn, DEPTH * TILE + p);
#else
                    const int near = 1;
#endif
#endif
#if CLUSTER /* bodies that follow each other pull alike: their sums grow fast, and would lose digits over a block */
                    vec px[ITEMS], py[ITEMS], pz[ITEMS];
                    UNROLLED for (int k = 0; k < ITEMS; k++) px[k] = py[k] = pz[k] = (vec)C(0);
#endif
                    if (near) {
#pragma unroll UNROLL
                        for (uint t = 0; t < PIECE; t++) {
                            const float4 b = HIGHS(t), l = LOWS(t);
                            UNROLLED for (int k = 0; k < ITEMS; k++) {
                                const vec dx = BETWEEN(b.x, l.x, x[k], xl[k]), dy = BETWEEN(b.y, l.y, y[k], yl[k]),
                                          dz = BETWEEN(b.z, l.z, z[k], zl[k]);
                                PULL(k, dx, dy, dz, b.w);
                            }
                        }
                    } else {
#if EXPANDED
                        vec ps[ITEMS];
                        UNROLLED for (int k = 0; k < ITEMS; k++) ps[k] = (vec)C(0);
#if !LOCAL
                        float4 away_[PIECE];
                        float squares_[PIECE];
                        for (uint t = 0; t < PIECE; t++) squares_[t] = expand(highs_[t], eps2, &away_[t]);
#define AWAY(t) away_[t]
#define SQUARE(t) squares_[t]
#else
#define AWAY(t) FETCHED(away, posm, j, p + (t))
#define SQUARE(t) FETCHED(squares, posm, j, p + (t))
#endif
#pragma unroll UNROLL
                        for (uint t = 0; t < PIECE; t++) {
                            const float4 b = AWAY(t);
                            const float q = UNIFORM ? 1.0f : SQUARE(t);
                            UNROLLED for (int k = 0; k < ITEMS; k++) {
                                const vec base = UNIFORM ? u2[k] + b.w : FMA((vec)q, u2[k], (vec)b.w);
                                const vec r2 = FMA((vec)b.x, ux[k], FMA((vec)b.y, uy[k], FMA((vec)b.z, uz[k], base)));
                                const vec s = inverse_cube(r2, C(1));
                                px[k] = FMA(s, (vec)b.x, px[k]);
                                py[k] = FMA(s, (vec)b.y, py[k]);
                                pz[k] = FMA(s, (vec)b.z, pz[k]);
                                ps[k] = UNIFORM ? ps[k] + s : FMA(s, (vec)q, ps[k]);
                            }
                        }
                        UNROLLED for (int k = 0; k < ITEMS; k++) { /* s (x_j - x_i) */
                            px[k] = PULL_UNIT * FMA((vec)-0.5f, px[k], -ps[k] * ux[k]);
                            py[k] = PULL_UNIT * FMA((vec)-0.5f, py[k], -ps[k] * uy[k]);
                            pz[k] = PULL_UNIT * FMA((vec)-0.5f, pz[k], -ps[k] * uz[k]);
                        }
#else
#pragma unroll UNROLL
                        for (uint t = 0; t < PIECE; t++) {
                            const float4 b = HIGHS(t);
                            UNROLLED for (int k = 0; k < ITEMS; k++) {
                                const vec dx = b.x - x[k], dy = b.y - y[k], dz = b.z - z[k];
                                PULL(k, dx, dy, dz, b.w);
                            }
                        }
#endif
                    }
#if CLUSTER
                    UNROLLED for (int k = 0; k < ITEMS; k++) ax[k] += px[k], ay[k] += py[k], az[k] += pz[k];
#endif
                }
                turn = !turn;
            }
            UNROLLED for (int k = 0; k < ITEMS; k++) sum[0][k] += WIDEN(ax[k]), sum[1][k] += WIDEN(ay[k]), sum[2][k] += WIDEN(az[k]);
        }
        const total m = UNIFORM ? posm[first].w : 1;
        UNROLLED for (int k = 0; UNIFORM && k < ITEMS; k++) sum[0][k] *= m, sum[1][k] *= m, sum[2][k] *= m;
        STORE(total, partial + SLOT(n) * 3 * rows, sum, 3, n, joint)
    }
}

#ifdef MIXED
#define CENTRE , double cx, double cy, double cz
#define THE_CENTRE (double4)(cx, cy, cz, 0)
#else
#define CENTRE
#define THE_CENTRE (float4)(0)
#endif

/* Arguments as those of `forces` and `forces_step` in direct.cl; bodies: how many there are in all. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces(
    global const total4 *restrict posm, global total *restrict partial, uint first, uint rows, uint top,
    uint stretch, uint from, uint until, uint end, float eps2 CENTRE, uint bodies)
{
    TILE_OF(float4, highs);
    TILE_OF(float4, lows);
    JOINT_OF(total, joint);
    FLAGS_OF(flags);
    BOUNDS_OF(bounds);
    EXPANDED_OF(away, squares);
    add_pulls(posm, partial, first, rows, top, stretch, from, until, end, eps2, bodies, THE_CENTRE, highs, lows, joint,
              flags, bounds, away, squares);
}

#ifdef STEP
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces_step(
    global const total4 *restrict posm, global total *partial, uint first, uint rows, uint top,
    uint stretch, uint from, uint until, uint end, float eps2 CENTRE, uint bodies,
    STEP_PARAMETERS)
{
    TILE_OF(float4, highs);
    TILE_OF(float4, lows);
    JOINT_OF(total, joint);
    FLAGS_OF(flags);
    BOUNDS_OF(bounds);
    EXPANDED_OF(away, squares);
    add_pulls(posm, partial, first, rows, top, stretch, from, until, end, eps2, bodies, THE_CENTRE, highs, lows, joint,
              flags, bounds, away, squares);
    EACH_OF_GROUP(i, c, 3) STEP(i, c);
}
#endif
