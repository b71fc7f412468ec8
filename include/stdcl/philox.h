/* stdcl/philox.h - Philox4x32-10, a counter-based random generator, and uniform, integer, normal
 * and exponential deviates from its bits, for C, C++ and OpenCL C.
 *
 * A counter-based generator is a function, not a sequence: random block number c of stream k is
 * philox4x32_10(c, k), at any time, in any order, on any device. Work-items therefore need no state
 * and no skipping ahead, and results do not depend on how work is divided. The same file serves
 * host code and kernels, so that both draw the same numbers.
 *
 * J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2,
 * 3", SC'11, doi:10.1145/2063384.2063405. It passes TestU01's BigCrush; it is not a cipher.
 *
 *   philox4 bits = philox4x32_10((philox4){i, step, 0, 0}, seed, 0);      in a kernel: (uint4)(...)
 *   philox_float4 v = philox_normal_float4(bits);          four normals; philox_normal_double2: two
 *
 * Use a bit for one deviate only. All deviates have equal bits on the host and on every device:
 * they are computed by operations that IEEE 754 and OpenCL round in one way, and by no function of
 * a library except fma and, for doubles, sqrt (C programs link with -lm). Options that give up IEEE
 * rules void this: -ffast-math, -cl-fast-relaxed-math, -cl-unsafe-math-optimizations,
 * -cl-single-precision-constant. OpenCL C needs cl_khr_fp64 for the functions of doubles.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_PHILOX_H
#define STDCL_PHILOX_H

/* Four 32-bit words x, y, z, w: a counter, or a block of random bits. */
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define PHILOX_OPENCL 1
typedef uint philox_u32;
typedef ulong philox_u64;
typedef long philox_s64;
typedef uint4 philox4;
typedef float4 philox_float4;
#else
#define PHILOX_OPENCL 0
#include <math.h>
#include <stdint.h>
#include <string.h>
typedef uint32_t philox_u32;
typedef uint64_t philox_u64;
typedef int64_t philox_s64;
typedef struct philox4 {
    philox_u32 x, y, z, w;
} philox4;
typedef struct philox_float4 {
    float x, y, z, w;
} philox_float4;
typedef struct philox_double2 {
    double x, y;
} philox_double2;
#endif
#if !PHILOX_OPENCL || defined(cl_khr_fp64) || defined(__opencl_c_fp64)
#define PHILOX_DOUBLES 1
#else
#define PHILOX_DOUBLES 0
#endif
#if PHILOX_OPENCL && PHILOX_DOUBLES
typedef double2 philox_double2;
#endif

/* The high 32 bits of the 64-bit product. */
static inline philox_u32 philox_mulhi(philox_u32 a, philox_u32 b)
{
#if PHILOX_OPENCL
    return mul_hi(a, b);
#else
    return (philox_u32)(((uint64_t)a * b) >> 32);
#endif
}

/* The random block of counter c in the stream of the key (k0, k1): 128 bits, all of them good.
 * Different keys give independent streams; every key may use all 2^128 counters. */
static inline philox4 philox4x32_10(philox4 c, philox_u32 k0, philox_u32 k1)
{
    for (int round = 0; round < 10; round++) {
        const philox_u32 m0 = 0xD2511F53u, m1 = 0xCD9E8D57u; /* the paper's multipliers */
        philox4 d;
        d.x = philox_mulhi(m1, c.z) ^ c.y ^ k0;
        d.y = m1 * c.z;
        d.z = philox_mulhi(m0, c.x) ^ c.w ^ k1;
        d.w = m0 * c.x;
        c = d;
        k0 += 0x9E3779B9u; /* golden ratio */
        k1 += 0xBB67AE85u; /* sqrt(3) - 1 */
    }
    return c;
}

/* ---- Uniform. -------------------------------------------------------------------------------- */

/* Uniform in [0, 1), a multiple of 2^-24: exact in single precision on every device. 1 minus it is
 * uniform in (0, 1]. */
static inline float philox_float(philox_u32 bits)
{
    return (float)(bits >> 8) * 5.9604644775390625e-8f;
}

/* Uniform in the open interval (0, 1), an odd multiple of 2^-24, from 23 bits: never 0 or 1, so
 * that logarithms and divisions are safe, and symmetric about 1/2. */
static inline float philox_float_open(philox_u32 bits)
{
    return ((float)(bits >> 9) + 0.5f) * 1.1920928955078125e-7f;
}

#if PHILOX_DOUBLES
/* Uniform in the open interval (0, 1), an odd multiple of 2^-53, from 52 bits: as
 * philox_float_open. */
static inline double philox_double(philox_u32 high, philox_u32 low)
{
    philox_u64 k = ((philox_u64)high << 32 | low) >> 12;
    return ((double)k + 0.5) * 2.220446049250313080847263336181640625e-16; /* 2^-52 */
}

/* Uniform in [0, 1), a multiple of 2^-53. 1 minus it is uniform in (0, 1]. */
static inline double philox_double_half_open(philox_u32 high, philox_u32 low)
{
    philox_u64 k = ((philox_u64)high << 32 | low) >> 11;
    return (double)k * 1.1102230246251565404236316680908203125e-16; /* 2^-53 */
}
#endif

/* ---- Integers. ------------------------------------------------------------------------------- */

/* The high 64 bits of the 128-bit product. */
static inline philox_u64 philox_mulhi64(philox_u64 a, philox_u64 b)
{
#if PHILOX_OPENCL
    return mul_hi(a, b);
#else
    const philox_u64 low = 0xFFFFFFFFu,
                     cross = (a >> 32) * (b & low) + ((a & low) * (b & low) >> 32),
                     other = (a & low) * (b >> 32) + (cross & low);
    return (a >> 32) * (b >> 32) + (cross >> 32) + (other >> 32);
#endif
}

/* Uniform among the integers 0 ... n - 1, without bias: each has exactly the same probability. 0
 * for n = 0. Lemire's multiplication with rejection (2019, doi:10.1145/3230636); takes the whole
 * block, since a rejected word is replaced by the next one, and a rejected block by a random block
 * of which it is the counter. A word is rejected with a probability below n / 2^32. */
static inline philox_u32 philox_below(philox4 bits, philox_u32 n)
{
    const philox_u32 rejected = n ? (0u - n) % n : 0; /* 2^32 mod n */
    for (int word = 1; bits.x * n < rejected; word++) {
        philox4 next;
        next.x = bits.y, next.y = bits.z, next.z = bits.w, next.w = bits.x;
        bits = word % 4 ? next : philox4x32_10(next, 0, 0);
    }
    return philox_mulhi(bits.x, n);
}

/* As philox_below with 64 bits, from two words at a time. */
static inline philox_u64 philox_below64(philox4 bits, philox_u64 n)
{
    const philox_u64 rejected = n ? (0u - n) % n : 0; /* 2^64 mod n */
    for (int pair = 1; ((philox_u64)bits.x << 32 | bits.y) * n < rejected; pair++) {
        philox4 next;
        next.x = bits.z, next.y = bits.w, next.z = bits.x, next.w = bits.y;
        bits = pair % 2 ? next : philox4x32_10(next, 0, 0);
    }
    return philox_mulhi64((philox_u64)bits.x << 32 | bits.y, n);
}

/* Uniform among the integers least ... most, both included, without bias; least <= most. Takes the
 * whole block: philox_int(bits, 1, 6) is a die. */
static inline int philox_int(philox4 bits, int least, int most)
{
    const philox_u32 n = (philox_u32)most - (philox_u32)least + 1; /* 0: all integers */
    return (int)((philox_u32)least + (n ? philox_below(bits, n) : bits.x));
}

/* Uniform among the 64-bit integers least ... most, both included, without bias; least <= most.
 * Takes the whole block. */
static inline philox_s64 philox_long(philox4 bits, philox_s64 least, philox_s64 most)
{
    const philox_u64 n = (philox_u64)most - (philox_u64)least + 1, all = (philox_u64)bits.x << 32;
    return (philox_s64)((philox_u64)least + (n ? philox_below64(bits, n) : (all | bits.y)));
}

/* ---- Exponential and normal, in single precision. -------------------------------------------- */

/* No sum has a product as a term, except in a fused multiply-add, so that a compiler that contracts
 * expressions finds nothing to contract. */
#if PHILOX_OPENCL
#define PHILOX_FMAF fma
#define PHILOX_BITS(v) as_uint(v)
#define PHILOX_REAL(v) as_float(v)
#else
#define PHILOX_FMAF fmaf
#define PHILOX_BITS(v) philox_bits(v)
#define PHILOX_REAL(v) philox_real(v)
static inline philox_u32 philox_bits(float v)
{
    philox_u32 bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}
static inline float philox_real(philox_u32 bits)
{
    float v;
    memcpy(&v, &bits, sizeof v);
    return v;
}
#endif

/* Exponential with mean 1: -ln u, with u = (bits + 1/2) / 2^32, within 4 ulp; 1.2e-10 to 22.9.
 * u is (1 + f) 2^k with 1 + f in [sqrt(1/2), sqrt(2)), and ln(1 + f) = f - f^2 / 2 + f^3 p(f) with
 * a minimax polynomial. Near u = 1, f is computed from 1 - u, which has more digits. */
static inline float philox_exponential_float(philox_u32 bits)
{
    const float two_32 = 2.3283064365386962890625e-10f, middle = 1.16415321826934814453125e-10f;
    const philox_u32 low = bits < 0xB504F333u ? bits : 0xB504F333u;
    /* Relative to sqrt(1/2): the exponent field counts from there. */
    const philox_u32 scaled = PHILOX_BITS(PHILOX_FMAF((float)low, two_32, middle)) - 0x3F3504F3u;
    const float k = low == bits ? (float)((int)scaled >> 23) : 0.0f;
    const float f = low == bits ? PHILOX_REAL((scaled & 0x007FFFFFu) + 0x3F3504F3u) - 1.0f
                                : -PHILOX_FMAF((float)~bits, two_32, middle);
    float p = PHILOX_FMAF(6.7466385662555695e-2f, f, -1.1675651371479034e-1f);
    p = PHILOX_FMAF(p, f, 1.1888162791728973e-1f);
    p = PHILOX_FMAF(p, f, -1.240558922290802e-1f);
    p = PHILOX_FMAF(p, f, 1.4219552278518677e-1f);
    p = PHILOX_FMAF(p, f, -1.666799634695053e-1f);
    p = PHILOX_FMAF(p, f, 2.000211924314499e-1f);
    p = PHILOX_FMAF(p, f, -2.5000008940696716e-1f);
    p = PHILOX_FMAF(p, f, 3.333331346511841e-1f);
    p = PHILOX_FMAF(p, f, -0.5f);
    p = PHILOX_FMAF(p, f * f, k * -1.9046542e-9f); /* ln 2 less its float */
    return -PHILOX_FMAF(k, 6.931471824645996e-1f, p + f);
}

/* Square root of v > 0: Newton's iteration for 1 / sqrt(v) from a guess by its bits, and one step
 * for the root. OpenCL lets sqrt of floats be rounded in several ways. */
static inline float philox_root(float v)
{
    const float minus_half = -0.5f * v;
    float y = PHILOX_REAL(0x5F375A86u - (PHILOX_BITS(v) >> 1));
    y = y * PHILOX_FMAF(minus_half * y, y, 1.5f);
    y = y * PHILOX_FMAF(minus_half * y, y, 1.5f);
    y = y * PHILOX_FMAF(minus_half * y, y, 1.5f);
    const float root = v * y;
    return PHILOX_FMAF(0.5f * y, PHILOX_FMAF(-root, root, v), root);
}

/* The point at an angle of `turn` / 2^32 of a full turn on the circle of a radius: nearest multiple
 * of a quarter turn, and Taylor polynomials within an eighth. */
static inline philox_float4 philox_point(philox_u32 turn, float radius)
{
    const philox_u32 quarter = (turn + 0x20000000u) >> 30;
    const float x = (float)(int)(turn - (quarter << 30)) * 1.4629180792671596e-9f; /* 2 pi / 2^32 */
    const float z = x * x;
    float s = PHILOX_FMAF(2.7557319e-6f, z, -1.9841270e-4f);
    s = PHILOX_FMAF(s, z, 8.3333333e-3f);
    s = PHILOX_FMAF(s, z, -1.6666667e-1f);
    s = PHILOX_FMAF(s, z * x, x);
    float c = PHILOX_FMAF(-2.7557319e-7f, z, 2.4801587e-5f);
    c = PHILOX_FMAF(c, z, -1.3888889e-3f);
    c = PHILOX_FMAF(c, z, 4.1666667e-2f);
    c = PHILOX_FMAF(c, z * z, PHILOX_FMAF(z, -0.5f, 1.0f));
    philox_float4 p;
    p.x = radius * (quarter & 1 ? s : c) * (quarter == 1 || quarter == 2 ? -1.0f : 1.0f);
    p.y = radius * (quarter & 1 ? c : s) * (quarter >= 2 ? -1.0f : 1.0f);
    p.z = p.w = 0;
    return p;
}

/* Four independent normal deviates, mean 0 and variance 1, by Box and Muller's transformation
 * (1958, doi:10.1214/aoms/1177706645) of the words x, y and z, w. Each is within 4 ulp of its
 * radius of the exact transformation of its bits. The largest is 6.76, which 1 of 10^10 would
 * exceed; radii have 2^32 values, so beyond 6 standard deviations few are left: use doubles there.
 */
static inline philox_float4 philox_normal_float4(philox4 bits)
{
    const philox_float4 p = philox_point(bits.y, philox_root(2 * philox_exponential_float(bits.x)));
    const philox_float4 q = philox_point(bits.w, philox_root(2 * philox_exponential_float(bits.z)));
    philox_float4 normal;
    normal.x = p.x, normal.y = p.y, normal.z = q.x, normal.w = q.y;
    return normal;
}

/* ---- Exponential and normal, in double precision. -------------------------------------------- */

#if PHILOX_DOUBLES
/* Exponential with mean 1: -ln u, with u = philox_double(high, low), within 4 ulp; 1.1e-16 to
 * 36.7. u is (1 + f) 2^k, and ln(1 + f) = 2 artanh(f / (2 + f)) by its series. */
static inline double philox_exponential_double(philox_u32 high, philox_u32 low)
{
    double m = philox_double(high, low), k = 0;
    for (int step = 32; step > 0; step /= 2) { /* powers of two: exact */
        const double power = (double)((philox_u64)1 << step);
        if (m * power < 1.4142135623730951) {
            m *= power;
            k -= step;
        }
    }
    const double f = m - 1, s = f / (2 + f), z = s * s;
    double p = fma(1.0 / 25, z, 1.0 / 23);
    p = fma(p, z, 1.0 / 21);
    p = fma(p, z, 1.0 / 19);
    p = fma(p, z, 1.0 / 17);
    p = fma(p, z, 1.0 / 15);
    p = fma(p, z, 1.0 / 13);
    p = fma(p, z, 1.0 / 11);
    p = fma(p, z, 1.0 / 9);
    p = fma(p, z, 1.0 / 7);
    p = fma(p, z, 1.0 / 5);
    p = fma(p, z, 1.0 / 3);
    const double log_m = 2 * fma(p, z * s, s);
    return -fma(k, 0.69314718055994530942, fma(k, 2.3190468138462996e-17, log_m));
}

/* Two independent normal deviates, as philox_normal_float4: the radius from the words x and y, the
 * angle from z and w. Each is within 4 ulp of its radius. The largest is 8.57, which 1 of 10^17
 * would exceed. */
static inline philox_double2 philox_normal_double2(philox4 bits)
{
    const double radius = sqrt(2 * philox_exponential_double(bits.x, bits.y));
    const philox_u64 turn = (philox_u64)bits.z << 32 | bits.w;
    const philox_u32 quarter = (bits.z + 0x20000000u) >> 30;
    const double x = (double)(philox_s64)(turn - ((philox_u64)quarter << 62)) *
                     3.4061215800865545e-19; /* 2 pi / 2^64 */
    const double z = x * x;
    double s = fma(2.8114572543455208e-15, z, -7.6471637318198164e-13); /* 1 / 17!, 1 / 15! */
    s = fma(s, z, 1.6059043836821615e-10);
    s = fma(s, z, -2.5052108385441719e-08);
    s = fma(s, z, 2.7557319223985893e-06);
    s = fma(s, z, -1.9841269841269841e-04);
    s = fma(s, z, 8.3333333333333332e-03);
    s = fma(s, z, -1.6666666666666666e-01);
    s = fma(s, z * x, x);
    double c = fma(4.7794773323873853e-14, z, -1.1470745597729725e-11); /* 1 / 16!, 1 / 14! */
    c = fma(c, z, 2.0876756987868099e-09);
    c = fma(c, z, -2.7557319223985888e-07);
    c = fma(c, z, 2.4801587301587302e-05);
    c = fma(c, z, -1.3888888888888889e-03);
    c = fma(c, z, 4.1666666666666664e-02);
    c = fma(c, z * z, fma(z, -0.5, 1.0));
    philox_double2 p;
    p.x = radius * (quarter & 1 ? s : c) * (quarter == 1 || quarter == 2 ? -1.0 : 1.0);
    p.y = radius * (quarter & 1 ? c : s) * (quarter >= 2 ? -1.0 : 1.0);
    return p;
}
#endif

#endif
