/* mixed.cl - accelerations from positions in double precision, with pulls in single.
 *
 *   posm[j] = {x, y, z, G m}, doubles   ->   {x, y, z, G m} and {x', y', z', -}, floats
 *
 * A coordinate, counted from the system's centre, is a float and what that leaves out, in another float: 48 bits. The
 * difference of two is (x_j - x_i) + (x'_j - x'_i), whose first term is exact for bodies near each other. So pulls are right to
 * single precision also between bodies 1e-8 of the system's size apart, and wherever the system lies. That takes six
 * additions more than the 13 instructions of a pull in single precision. Sums over blocks are added in double.
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
        const double x = ((global const double *)(p + lane))[c] - centre;
        ((float *)high)[lane] = HIGH(x);
        ((float *)low)[lane] = LOW(x);
    }
}

#define LOOK_POSM(n, off) LOOK(next, posm, n, off)
#if TENSOR
typedef part own_coordinate;
typedef uint4 tile_body;
#define OWN(x) own_part(x)
#define TILES PARTS_OF(highs); PARTS_OF(lows); MASSES_OF(mass); store_ones(highs); store_ones(lows)
#define PUT(t, h, l) store_parts(highs, t, h), store_parts(lows, t, l), STORE_MASS(mass, t, (h).w)
#else
typedef vec own_coordinate;
typedef float4 tile_body;
#define OWN(x) (x)
#define TILES TILE_OF(float4, highs); TILE_OF(float4, lows); local float2 *const mass = 0
#define PUT(t, h, l) highs[t] = h, lows[t] = l
#endif
#define TAKE_SPLIT EACH_NEXT(u_, t_) { float4 h_, l_; split(next[u_], centre, &h_, &l_); PUT(t_, h_, l_); }

/* The pull of a body of mass m at a distance, on a row. */
static inline INLINED void pull(vec dx, vec dy, vec dz, float eps2, float m, vec *ax, vec *ay, vec *az)
{
    const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, (vec)eps2)));
    const vec s = inverse_cube(r2, UNIFORM ? C(1) : m);
    *ax = FMA(s, dx, *ax);
    *ay = FMA(s, dy, *ay);
    *az = FMA(s, dz, *az);
}

static inline INLINED void add_pulls(global const double4 *restrict posm, global double *partial, uint first, uint rows,
                                     uint top, uint stretch, uint from, uint until, uint end, float eps2, double4 centre,
                                     local tile_body *highs, local tile_body *lows, local float2 *mass, local double *joint)
{
    const double from_centre[3] = {centre.x, centre.y, centre.z};
    own_coordinate x[3][ITEMS], xl[3][ITEMS];
    UNROLLED for (int c = 0; c < 3; c++) UNROLLED for (int k = 0; k < ITEMS; k++) {
        vec high, low;
        load_split(posm + first + ROW(k), c, from_centre[c], &high, &low);
        x[c][k] = OWN(high), xl[c][k] = OWN(low);
    }
    double4 next[NEXT];
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
                if (HAS(n, j)) {
#if !LOCAL /* then a tile is split before, as FETCH does: what the loop reads of a body goes to all lanes by the way */
                    float4 highs_[TILE], lows_[TILE];
                    for (uint t = 0; t < TILE; t++) split(posm[j + t], centre, &highs_[t], &lows_[t]);
#endif
#if TENSOR
#pragma unroll UNROLL
                    for (uint t = 0; t < TILE; t += 8) {
                        const struct eight b = eight_of(highs, t), l = eight_of(lows, t);
                        const float2 two = MASSES(mass, t);
                        const float m[2] = {two.x, two.y};
                        UNROLLED for (int k = 0; k < ITEMS; k += 2) {
                            float d[3][4], low[3][4];
                            UNROLLED for (int c = 0; c < 3; c++) {
                                differences(d[c], x[c] + k, &b, c);
                                differences(low[c], xl[c] + k, &l, c);
                            }
                            UNROLLED for (int e = 0; e < 4; e++) {
                                const int r = ROW_OF(k, e);
                                pull(d[0][e] + low[0][e], d[1][e] + low[1][e], d[2][e] + low[2][e], eps2, m[BODY_OF_TWO(e)],
                                     &ax[r], &ay[r], &az[r]);
                            }
                        }
                    }
#else
#pragma unroll UNROLL
                    for (uint t = 0; t < TILE; t++) {
#if LOCAL
                        const float4 b = FETCHED(highs, posm, j, t), l = FETCHED(lows, posm, j, t);
#else
                        const float4 b = highs_[t], l = lows_[t];
#endif
                        UNROLLED for (int k = 0; k < ITEMS; k++)
                            pull((b.x - x[0][k]) + (l.x - xl[0][k]), (b.y - x[1][k]) + (l.y - xl[1][k]),
                                 (b.z - x[2][k]) + (l.z - xl[2][k]), eps2, b.w, &ax[k], &ay[k], &az[k]);
                    }
#endif
                }
            }
            UNROLLED for (int k = 0; k < ITEMS; k++) sum[0][k] += WIDEN(ax[k]), sum[1][k] += WIDEN(ay[k]), sum[2][k] += WIDEN(az[k]);
        }
        const double m = UNIFORM ? posm[first].w : 1;
        UNROLLED for (int k = 0; UNIFORM && k < ITEMS; k++) sum[0][k] *= m, sum[1][k] *= m, sum[2][k] *= m;
        STORE(double, partial + SLOT(n) * 3 * rows, sum, 3, n, joint)
    }
}

/* Arguments as those of `forces` and `forces_step` in direct.cl. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces(
    global const double4 *restrict posm, global double *restrict partial, uint first, uint rows, uint top,
    uint stretch, uint from, uint until, uint end, float eps2, double cx, double cy, double cz)
{
    TILES;
    JOINT_OF(double, joint);
    add_pulls(posm, partial, first, rows, top, stretch, from, until, end, eps2, (double4)(cx, cy, cz, 0), highs, lows, mass, joint);
}

#ifdef STEP
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces_step(
    global const double4 *restrict posm, global double *partial, uint first, uint rows, uint top,
    uint stretch, uint from, uint until, uint end, float eps2, double cx, double cy, double cz, STEP_PARAMETERS)
{
    TILES;
    JOINT_OF(double, joint);
    add_pulls(posm, partial, first, rows, top, stretch, from, until, end, eps2, (double4)(cx, cy, cz, 0), highs, lows, mass, joint);
    EACH_OF_GROUP(i, c, 3) STEP(i, c);
}
#endif
