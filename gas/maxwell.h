/* maxwell.h - velocities of the Maxwell-Boltzmann distribution, with equal bits on every device.
 *
 * The three velocity components of molecule i come from one Philox block, counter i, by the
 * Box-Muller transformation (1958, doi:10.1214/aoms/1177706645): two pairs of words make four
 * normal variates, and three are used. Logarithm, square root, sine and cosine are polynomials and
 * Newton steps of integer operations, conversions and explicit multiplications, additions and fused
 * multiply-adds, which IEEE 754 rounds in one way only. So the host, CPU devices and GPUs draw the
 * same velocities, scalar or in vectors. The error of each function is below 2 ulp.
 *
 * Included from C, from OpenCL C for scalars, or for vectors of 2, 4, 8 or 16 with MW_WIDTH set.
 * The types mw_uint, mw_int and mw_float have that width.
 * SPDX-License-Identifier: MIT
 */
#ifndef GAS_MAXWELL_H
#define GAS_MAXWELL_H

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#pragma OPENCL FP_CONTRACT OFF
#define MW_CAT_(a, b) a##b
#define MW_CAT(a, b) MW_CAT_(a, b)
#if defined(MW_WIDTH) && MW_WIDTH > 1
#define MW_TYPE(t) MW_CAT(t, MW_WIDTH)
#if MW_WIDTH == 2
#define MW_LONGS ulong
#elif MW_WIDTH == 4
#define MW_LONGS ulong2
#elif MW_WIDTH == 8
#define MW_LONGS ulong4
#else
#define MW_LONGS ulong8
#endif
#define MW_AS_LONGS(v) MW_CAT(as_, MW_LONGS)(v)
#else
#define MW_TYPE(t) t
#endif
typedef MW_TYPE(uint) mw_uint;
typedef MW_TYPE(int) mw_int;
typedef MW_TYPE(float) mw_float;
#define MW_FMA(a, b, c) fma((mw_float)(a), (mw_float)(b), (mw_float)(c))
#define MW_FLOAT_OF_UINT(v) MW_CAT(convert_, MW_TYPE(float))(v)
#define MW_FLOAT_OF_INT(v) MW_CAT(convert_, MW_TYPE(float))(v)
#define MW_BITS(v) MW_CAT(as_, MW_TYPE(uint))(v)
#define MW_SIGNED(v) MW_CAT(as_, MW_TYPE(int))(v)
#define MW_REAL(v) MW_CAT(as_, MW_TYPE(float))(v)
#else
#include <math.h>
#include <stdint.h>
#include <string.h>
typedef uint32_t mw_uint;
typedef int32_t mw_int;
typedef float mw_float;
#define MW_FMA(a, b, c) fmaf(a, b, c)
#define MW_FLOAT_OF_UINT(v) ((float)(v))
#define MW_FLOAT_OF_INT(v) ((float)(v))
static inline uint32_t mw_bits(float v)
{
    uint32_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}
static inline float mw_real(uint32_t u)
{
    float v;
    memcpy(&v, &u, sizeof v);
    return v;
}
#define MW_BITS(v) mw_bits(v)
#define MW_SIGNED(v) ((int32_t)(v))
#define MW_REAL(v) mw_real(v)
#endif

/* Philox4x32-10 of the counters (x, y, z, w), as in stdcl/philox.h but for any width. */
#if defined(MW_LONGS)
/* CPUs multiply 32 bits to 64 in lanes of 64 bits, and have no other instruction for the high
 * word. So each number has a lane of 64 bits here, even ones in one vector and odd ones in
 * another. The bits above the number's 32 are ignored. */
#define MW_LOW 0xFFFFFFFFul
#define MW_MERGE(even, odd) MW_BITS(((even)&MW_LOW) | ((odd) << 32))
static inline void mw_philox(mw_uint *x, mw_uint *y, mw_uint *z, mw_uint *w, unsigned k0,
                             unsigned k1)
{
    MW_LONGS x0 = MW_AS_LONGS(*x), y0 = MW_AS_LONGS(*y), z0 = MW_AS_LONGS(*z), w0 = MW_AS_LONGS(*w);
    MW_LONGS x1 = x0 >> 32, y1 = y0 >> 32, z1 = z0 >> 32, w1 = w0 >> 32;
#pragma unroll
    for (int round = 0; round < 10; round++) {
        const MW_LONGS a0 = (z0 & MW_LOW) * 0xCD9E8D57ul, c0 = (x0 & MW_LOW) * 0xD2511F53ul;
        const MW_LONGS a1 = (z1 & MW_LOW) * 0xCD9E8D57ul, c1 = (x1 & MW_LOW) * 0xD2511F53ul;
        x0 = (a0 >> 32) ^ y0 ^ (ulong)k0, y0 = a0, z0 = (c0 >> 32) ^ w0 ^ (ulong)k1, w0 = c0;
        x1 = (a1 >> 32) ^ y1 ^ (ulong)k0, y1 = a1, z1 = (c1 >> 32) ^ w1 ^ (ulong)k1, w1 = c1;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    *x = MW_MERGE(x0, x1), *y = MW_MERGE(y0, y1), *z = MW_MERGE(z0, z1), *w = MW_MERGE(w0, w1);
}
#else
/* High and low words of a * m. */
static inline void mw_multiply(unsigned m, mw_uint a, mw_uint *high, mw_uint *low)
{
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
    *high = mul_hi(a, (mw_uint)m);
    *low = a * m;
#else
    const uint64_t product = (uint64_t)a * m;
    *high = (uint32_t)(product >> 32);
    *low = (uint32_t)product;
#endif
}

static inline void mw_philox(mw_uint *x, mw_uint *y, mw_uint *z, mw_uint *w, unsigned k0,
                             unsigned k1)
{
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#pragma unroll
#endif
    for (int round = 0; round < 10; round++) {
        mw_uint a, b, c, d;
        mw_multiply(0xCD9E8D57u, *z, &a, &b);
        mw_multiply(0xD2511F53u, *x, &c, &d);
        *x = a ^ *y ^ k0, *y = b, *z = c ^ *w ^ k1, *w = d;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
}
#endif

/* -2 ln u for u = (bits + 1/2) 2^-32, rounded. u is m 2^k with m in [sqrt(1/2), sqrt(2)), and ln m
 * is a polynomial in m - 1 (Cephes logf, S. L. Moshier). */
static inline mw_float mw_minus_two_log(mw_uint bits)
{
    mw_float u = MW_FMA(MW_FLOAT_OF_UINT(bits), 2.3283064365386963e-10f, 1.1641532182693481e-10f);
    /* Relative to sqrt(1/2): the exponent field counts from there. */
    mw_uint scaled = MW_BITS(u) - 0x3F3504F3u;
    mw_float k = MW_FLOAT_OF_INT(MW_SIGNED(scaled) >> 23);
    mw_float f = MW_REAL((scaled & 0x007FFFFFu) + 0x3F3504F3u) - 1.0f;
    mw_float p = MW_FMA(7.0376836292e-2f, f, -1.1514610310e-1f);
    p = MW_FMA(p, f, 1.1676998740e-1f);
    p = MW_FMA(p, f, -1.2420140846e-1f);
    p = MW_FMA(p, f, 1.4249322787e-1f);
    p = MW_FMA(p, f, -1.6668057665e-1f);
    p = MW_FMA(p, f, 2.0000714765e-1f);
    p = MW_FMA(p, f, -2.4999993993e-1f);
    p = MW_FMA(p, f, 3.3333331174e-1f);
    mw_float square = f * f;
    mw_float tail = MW_FMA(p, square * f, k * -2.12194440e-4f);
    tail = MW_FMA(square, -0.5f, tail);
    return -2.0f * MW_FMA(k, 0.693359375f, f + tail);
}

/* Square root of s >= 0: Newton's iteration for 1 / sqrt(s) from a bit-level first guess, and one
 * step for the root itself. s = 0 gives 0. */
static inline mw_float mw_sqrt(mw_float s)
{
    mw_float y = MW_REAL(0x5F375A86u - (MW_BITS(s) >> 1)), half_s = 0.5f * s;
    y = y * MW_FMA(-(half_s * y), y, 1.5f);
    y = y * MW_FMA(-(half_s * y), y, 1.5f);
    y = y * MW_FMA(-(half_s * y), y, 1.5f);
    mw_float r = s * y;
    return MW_FMA(0.5f * y, MW_FMA(-r, r, s), r);
}

/* Cosine and sine of 2 pi (bits 2^-32), each without its sign. The angle is the nearest multiple
 * of a quarter turn plus a remainder within an eighth of a turn; polynomials of Cephes sinf. */
static inline void mw_cos_sin_unsigned(mw_uint bits, mw_float *cosine, mw_float *sine)
{
    mw_uint turned = bits + 0x20000000u;
    mw_float x = MW_FLOAT_OF_INT(MW_SIGNED(bits - (turned & 0xC0000000u))) *
                 1.4629180792671596e-9f; /* 2 pi 2^-32 */
    mw_float z = x * x;
    mw_float s = MW_FMA(MW_FMA(-1.9515295891e-4f, z, 8.3321608736e-3f), z, -1.6666654611e-1f);
    s = MW_FMA(s, z * x, x);
    mw_float c =
        MW_FMA(MW_FMA(2.443315711809948e-5f, z, -1.388731625493765e-3f), z, 4.166664568298827e-2f);
    c = MW_FMA(c, z * z, MW_FMA(z, -0.5f, 1.0f));
    mw_int odd = MW_SIGNED(turned << 1); /* odd quarters swap the two: vectors select by the sign */
    *cosine = odd < 0 ? s : c;
    *sine = odd < 0 ? c : s;
}

/* mw_cos_sin_unsigned with the signs, which follow from the quarter, 0 to 3. */
static inline void mw_cos_sin(mw_uint bits, mw_float *cosine, mw_float *sine)
{
    mw_uint turned = bits + 0x20000000u;
    mw_cos_sin_unsigned(bits, cosine, sine);
    *cosine = MW_REAL(MW_BITS(*cosine) ^ ((turned + 0x40000000u) & 0x80000000u));
    *sine = MW_REAL(MW_BITS(*sine) ^ (turned & 0x80000000u));
}

/* The velocity of molecule low + 2^32 high in units of sqrt(k_B T / m): three independent standard
 * normal variates. */
static inline void mw_velocity(mw_uint low, mw_uint high, unsigned k0, unsigned k1, mw_float *vx,
                               mw_float *vy, mw_float *vz)
{
    mw_uint x = low, y = high, z = low & 0u, w = z;
    mw_float c, s;
    mw_philox(&x, &y, &z, &w, k0, k1);
    mw_float r = mw_sqrt(mw_minus_two_log(x));
    mw_cos_sin(y, &c, &s);
    *vx = r * c;
    *vy = r * s;
    r = mw_sqrt(mw_minus_two_log(z));
    mw_cos_sin(w, &c, &s);
    *vz = r * c;
}

#endif
