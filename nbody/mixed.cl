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

static inline void store_wide(global double *to, wide v, uint add)
{
    for (int lane = 0; lane < WIDTH; lane++)
        to[lane] = ((double *)&v)[lane] + (add ? to[lane] : 0);
}

/* Arguments as those of `forces` in direct.cl. */
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void forces(
    global const double4 *restrict posm, global double *restrict partial, uint first, uint rows, uint top,
    uint stretch, uint from, uint until, uint end, float eps2, double cx, double cy, double cz)
{
    vec x[ITEMS], y[ITEMS], z[ITEMS], xl[ITEMS], yl[ITEMS], zl[ITEMS];
    UNROLLED for (int k = 0; k < ITEMS; k++) {
        load_split(posm + first + ROW(k), 0, cx, &x[k], &xl[k]);
        load_split(posm + first + ROW(k), 1, cy, &y[k], &yl[k]);
        load_split(posm + first + ROW(k), 2, cz, &z[k], &zl[k]);
    }
    const double4 centre = (double4)(cx, cy, cz, 0);
#if LOCAL
    local float4 highs[TILE], lows[TILE];
#endif
    EACH_STRETCH(n) {
        const uint stop = STRETCH_END(n);
        wide sx[ITEMS], sy[ITEMS], sz[ITEMS];
        UNROLLED for (int k = 0; k < ITEMS; k++) sx[k] = sy[k] = sz[k] = (wide)(0);
        for (uint block = n * stretch; block < stop; block += BLOCK) {
            vec ax[ITEMS], ay[ITEMS], az[ITEMS];
            UNROLLED for (int k = 0; k < ITEMS; k++) ax[k] = ay[k] = az[k] = (vec)C(0);
            for (uint j = block; j < min(block + BLOCK, stop); j += TILE) {
#if LOCAL
                barrier(CLK_LOCAL_MEM_FENCE);
                for (uint t = get_local_id(0); t < TILE; t += GROUP) {
                    float4 h, l;
                    split(posm[j + t], centre, &h, &l);
                    highs[t] = h, lows[t] = l;
                }
                barrier(CLK_LOCAL_MEM_FENCE);
#endif
#pragma unroll UNROLL
                for (uint t = 0; t < TILE; t++) {
#if LOCAL
                    const float4 b = highs[t], l = lows[t];
#else
                    float4 b, l;
                    split(posm[j + t], centre, &b, &l);
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
            UNROLLED for (int k = 0; k < ITEMS; k++) sx[k] += WIDEN(ax[k]), sy[k] += WIDEN(ay[k]), sz[k] += WIDEN(az[k]);
        }
        global double *out = partial + SLOT(n) * 3 * rows;
        UNROLLED for (int k = 0; k < ITEMS; k++) {
            if (UNIFORM) {
                const double m = posm[first].w;
                sx[k] *= m, sy[k] *= m, sz[k] *= m;
            }
            store_wide(out + ROW(k), sx[k], ADD(n));
            store_wide(out + rows + ROW(k), sy[k], ADD(n));
            store_wide(out + 2 * (size_t)rows + ROW(k), sz[k], ADD(n));
        }
    }
}
