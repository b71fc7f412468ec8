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
#define TAKE_SPLIT EACH_NEXT(u_, t_) { float4 h_, l_; split(next[u_], centre, &h_, &l_); highs[t_] = h_, lows[t_] = l_; }

static inline INLINED void add_pulls(global const double4 *restrict posm, global double *partial, uint first, uint rows,
                                     uint top, uint stretch, uint from, uint until, uint end, float eps2, double4 centre,
                                     local float4 *highs, local float4 *lows, local double *joint)
{
    vec x[ITEMS], y[ITEMS], z[ITEMS], xl[ITEMS], yl[ITEMS], zl[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++) {
        load_split(posm + first + ROW(k), 0, centre.x, &x[k], &xl[k]);
        load_split(posm + first + ROW(k), 1, centre.y, &y[k], &yl[k]);
        load_split(posm + first + ROW(k), 2, centre.z, &z[k], &zl[k]);
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
#pragma unroll UNROLL
                    for (uint t = 0; t < TILE; t++) {
#if LOCAL
                        const float4 b = FETCHED(highs, posm, j, t), l = FETCHED(lows, posm, j, t);
#else
                        const float4 b = highs_[t], l = lows_[t];
#endif
                        UNROLLED for (int k = 0; k < ITEMS; k++) {
                            const vec dx = (b.x - x[k]) + (l.x - xl[k]), dy = (b.y - y[k]) + (l.y - yl[k]),
                                      dz = (b.z - z[k]) + (l.z - zl[k]);
                            const vec r2 = FMA(dx, dx, FMA(dy, dy, FMA(dz, dz, (vec)eps2)));
                            const vec s = inverse_cube(r2, UNIFORM ? C(1) : b.w);
                            ax[k] = FMA(s, dx, ax[k]);
                            ay[k] = FMA(s, dy, ay[k]);
                            az[k] = FMA(s, dz, az[k]);
                        }
                    }
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
    TILE_OF(float4, highs);
    TILE_OF(float4, lows);
    JOINT_OF(double, joint);
    add_pulls(posm, partial, first, rows, top, stretch, from, until, end, eps2, (double4)(cx, cy, cz, 0), highs, lows, joint);
}

#ifdef STEP
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces_step(
    global const double4 *restrict posm, global double *partial, uint first, uint rows, uint top,
    uint stretch, uint from, uint until, uint end, float eps2, double cx, double cy, double cz, STEP_PARAMETERS)
{
    TILE_OF(float4, highs);
    TILE_OF(float4, lows);
    JOINT_OF(double, joint);
    add_pulls(posm, partial, first, rows, top, stretch, from, until, end, eps2, (double4)(cx, cy, cz, 0), highs, lows, joint);
    EACH_OF_GROUP(i, c, 3) STEP(i, c);
}
#endif
