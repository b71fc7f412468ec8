/* mixed.cl - accelerations from positions in double precision, with pulls in single.
 *
 *   posm[j] = {x, y, z, G m}, doubles   ->   {x, y, z, G m} and {x', y', z', -}, floats
 *
 * A coordinate, counted from the system's centre, is a float and what that leaves out, in another
 * float: 48 bits. The difference of two is (x_j - x_i) + (x'_j - x'_i), whose first term is exact
 * for bodies near each other. So pulls are right to single precision also between bodies 1e-8 of
 * the system's size apart, and wherever the system lies. That takes six additions more than the 13
 * instructions of a pull in single precision. Sums over blocks are added in double.
 *
 * With CLUSTER many bodies lie along a curve (hilbert_sort.c), and the CLUSTER bodies whose numbers
 * follow each other are near each other:
 *
 *        ( cluster )    . . . . . . .          coordinates are counted from the middle of the
 *        cluster that is pulled. PIECE bodies
 *       (     c-R-> )   . piece of 32 .        none of which is nearer to c than 3/2 R are far: R
 *             and their coordinates are at most five
 *        (         )    . . . . . . .          times their distances, and so they do without the
 *                  second floats
 *
 * What is far depends on the places of bodies alone, not on how kernels are launched: a group's
 * rows are of one cluster.
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
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

#if WIDTH == 1
typedef double wide;
#define WIDEN(v) ((double)(v))
#else
typedef PASTE(double, WIDTH) wide;
#define WIDEN(v) PASTE(convert_double, WIDTH)(v)
#endif

/* The floats of a coordinate. */
#define HIGH(x) ((float)(x))
#define LOW(x) ((float)((x) - (double)HIGH(x)))

/* A body as two vectors of floats. */
static inline void split(double4 b, double4 centre, float4 *high, float4 *low)
{
    const double4 d = b - centre;
    *high = convert_float4(d);
    *low = convert_float4(d - convert_double4(*high));
}

/* Component c of WIDTH bodies that follow each other. */
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
#define CLUSTER 0 /* bodies of a cluster, a multiple of ROWS; 0: all bodies are near */
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
/* Numbers that are in the order of floats, and back. */
static inline int rank_of(float x)
{
    return as_int(x) ^ ((as_int(x) >> 31) & 0x7fffffff);
}
static inline float of_rank(int r)
{
    return as_float(r ^ ((r >> 31) & 0x7fffffff));
}

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

/* The middle of the cluster of `row`, and 9/4 R^2; of n bodies in all. Largest and smallest numbers
 * are the same in whatever order they are found. */
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
        const float least = -of_rank(largest(rank_of(-low[c]), bounds + c)),
                    most = of_rank(largest(rank_of(high[c]), bounds + 3 + c));
        middle[c] = begin < stop ? 0.5f * least + 0.5f * most : 0.0f;
    }
    const double4 m = centre + (double4)(middle[0], middle[1], middle[2], 0);
    for (uint i = begin + get_local_id(0); i < stop; i += GROUP) {
        const float4 p = convert_float4(LOAD_COHERENT(posm + i) - m);
        far = fmax(far, p.x * p.x + p.y * p.y + p.z * p.z);
    }
    *border = 2.25f * of_rank(largest(rank_of(far), bounds + 6));
    return m;
}
#endif

#define LOOK_POSM(n, off) LOOK(next, posm, n, off)
#define TAKE_SPLIT                                                                                 \
    do {                                                                                           \
        CLEAR(!turn);                                                                              \
        EACH_NEXT(u_, t_)                                                                          \
        {                                                                                          \
            float4 h_, l_;                                                                         \
            split(next[u_], centre, &h_, &l_);                                                     \
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

static inline INLINED void add_pulls(global const double4 *restrict posm, global double *partial,
                                     uint first, uint rows, uint top, uint stretch, uint from,
                                     uint until, uint end, float eps2, uint bodies, double4 centre,
                                     local float4 *highs, local float4 *lows, local double *joint,
                                     local int *flags, local int *bounds)
{
#if CLUSTER
    float border;
    centre = find_cluster(posm, first + FIRST_ROW, bodies, centre, bounds, &border);
#endif
    vec x[ITEMS], y[ITEMS], z[ITEMS], xl[ITEMS], yl[ITEMS], zl[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++)
    {
        load_split(posm + first + ROW(k), 0, centre.x, &x[k], &xl[k]);
        load_split(posm + first + ROW(k), 1, centre.y, &y[k], &yl[k]);
        load_split(posm + first + ROW(k), 2, centre.z, &z[k], &zl[k]);
    }
    double4 next[NEXT];
    uint turn = 0;
    CLEAR(turn);
    EACH_STRETCH(n)
    {
        wide sum[3][ITEMS];
        UNROLLED for (int k = 0; k < ITEMS; k++) sum[0][k] = sum[1][k] = sum[2][k] = (wide)(0);
        FETCH_FIRST(n, LOOK_POSM);
        EACH_BLOCK(block, n)
        {
            vec ax[ITEMS], ay[ITEMS], az[ITEMS];
            UNROLLED for (int k = 0; k < ITEMS; k++) ax[k] = ay[k] = az[k] = (vec)C(0);
            EACH_TILE(off, block, n)
            {
                const uint j = START(n) + off;
                FETCH(n, off, LOOK_POSM, TAKE_SPLIT);
                for (uint p = 0; HAS(n, j) && p < TILE; p += PIECE) {
#if !LOCAL /* then bodies are split before: what the loop reads of a body goes to all lanes by the \
              way */
                    float4 highs_[PIECE], lows_[PIECE];
                    int near = !CLUSTER;
                    for (uint t = 0; t < PIECE; t++) {
                        split(LOAD_COHERENT(posm + j + p + t), centre, &highs_[t], &lows_[t]);
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
#if CLUSTER /* bodies that follow each other pull alike: their sums grow fast, and would lose      \
               digits over a block */
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
        STORE(double, partial + SLOT(n) * 3 * rows, sum, 3, n, joint)
    }
}

/* Arguments as those of `forces` and `forces_step` in direct.cl; bodies: how many there are in
 * all. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces(
    global const double4 *restrict posm, global double *restrict partial, uint first, uint rows,
    uint top, uint stretch, uint from, uint until, uint end, float eps2, double cx, double cy,
    double cz, uint bodies)
{
    TILE_OF(float4, highs);
    TILE_OF(float4, lows);
    JOINT_OF(double, joint);
    FLAGS_OF(flags);
    BOUNDS_OF(bounds);
    add_pulls(posm, partial, first, rows, top, stretch, from, until, end, eps2, bodies,
              (double4)(cx, cy, cz, 0), highs, lows, joint, flags, bounds);
}

#ifdef STEP
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces_step(
    global const double4 *restrict posm, global double *partial, uint first, uint rows, uint top,
    uint stretch, uint from, uint until, uint end, float eps2, double cx, double cy, double cz,
    uint bodies, STEP_PARAMETERS)
{
    TILE_OF(float4, highs);
    TILE_OF(float4, lows);
    JOINT_OF(double, joint);
    FLAGS_OF(flags);
    BOUNDS_OF(bounds);
    add_pulls(posm, partial, first, rows, top, stretch, from, until, end, eps2, bodies,
              (double4)(cx, cy, cz, 0), highs, lows, joint, flags, bounds);
    EACH_OF_GROUP(i, c, 3) STEP(i, c);
}

#if MEETS
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces_steps(
    global double4 *posm, global double *partial, uint first, uint rows, uint top, uint stretch,
    uint from, uint until, uint end, float eps2, double cx, double cy, double cz, uint bodies,
    STEP_PARAMETERS, STEPS_PARAMETERS)
{
    TILE_OF(float4, highs);
    TILE_OF(float4, lows);
    JOINT_OF(double, joint);
    FLAGS_OF(flags);
    BOUNDS_OF(bounds);
    local uint told;
    EACH_STEP
    {
        add_pulls(posm, partial, first, rows, top, stretch, from, until, end, eps2, bodies,
                  (double4)(cx, cy, cz, 0), highs, lows, joint, flags, bounds);
        EACH_OF_GROUP(i, c, 3) STEP(i, c);
        MEET_AFTER(&told)
    }
}
#endif
#endif
