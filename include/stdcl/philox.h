/* stdcl/philox.h - Philox4x32-10, a counter-based random generator, for C, C++ and OpenCL C.
 *
 * A counter-based generator is a function, not a sequence: random block number c of stream k is
 * philox4x32_10(c, k), at any time, in any order, on any device. Work-items therefore need no state
 * and no skipping ahead, and results do not depend on how work is divided. The same file serves
 * host code and kernels, so that both draw the same numbers.
 *
 * J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers: as easy as 1, 2,
 * 3", SC'11, doi:10.1145/2063384.2063405. It passes TestU01's BigCrush; it is not a cipher.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_PHILOX_H
#define STDCL_PHILOX_H

/* Four 32-bit words x, y, z, w: a counter, or a block of random bits. */
#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define PHILOX_OPENCL 1
typedef uint philox_u32;
typedef uint4 philox4;
#else
#define PHILOX_OPENCL 0
#include <stdint.h>
typedef uint32_t philox_u32;
typedef struct philox4 {
    philox_u32 x, y, z, w;
} philox4;
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

/* Uniform in [0, 1), a multiple of 2^-24: exact in single precision on every device. */
static inline float philox_float(philox_u32 bits)
{
    return (float)(bits >> 8) * 5.9604644775390625e-8f;
}

/* Uniform in the open interval (0, 1), an odd multiple of 2^-53, from 52 bits: never 0 or 1, so
 * that logarithms and divisions are safe, and symmetric about 1/2. */
#if !PHILOX_OPENCL || defined(cl_khr_fp64) || defined(__opencl_c_fp64)
static inline double philox_double(philox_u32 high, philox_u32 low)
{
#if PHILOX_OPENCL
    ulong k = ((ulong)high << 32 | low) >> 12;
#else
    uint64_t k = ((uint64_t)high << 32 | low) >> 12;
#endif
    return ((double)k + 0.5) * 2.220446049250313080847263336181640625e-16; /* 2^-52 */
}
#endif

#endif
