/* reduce_host.c - host SIMD reduction of a block, in the order of fixed_reduce.h, for one
 * instruction set.
 *
 * CMakeLists.txt compiles this file once for each instruction set: REDUCE_HOST is the name of its
 * function, and VECTOR_BYTES the width of vectors. Each operation is rounded by itself, as in the
 * kernels, so that all instruction sets give the same bits.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/internal.h"

#include <math.h>
#if VECTOR_BYTES > 16
#include <immintrin.h>
#endif

enum { STRIP = BLOCK_LANES * BLOCK_ROWS, PREFETCH_BYTES = 4096 };

/* x != x finds NaN; the templates also compile it for integers. */
#pragma GCC diagnostic ignored "-Wtautological-compare"
#define INLINE static inline __attribute__((always_inline))
#define BIT(op) (1 << (op))
#define ABOUT_MEAN (BIT(OP_DEVIATIONS) | BIT(OP_OFFSETS))
#define ARITHMETIC (BIT(OP_SUM) | BIT(OP_DOT) | BIT(OP_SQUARES) | ABOUT_MEAN)
#define EXTREMES (BIT(OP_MIN) | BIT(OP_MAX))

/* ---- Intrinsics. ----------------------------------------------------------------------------- */

/* Conversions of whole vectors and fused multiply-adds: gcc 12 splits them into scalars. */
#if VECTOR_BYTES == 64
#define FLOATS_IN_DOUBLES(x) _mm512_cvtps_pd(_mm256_loadu_ps(x))
#define FLOATS_ADDED(a, b) _mm512_fmadd_pd(_mm512_set1_pd(1), b, a)
#define INTS_IN_DOUBLES(x) _mm512_cvtepi32_pd(_mm256_loadu_si256((const void *)(x)))
#define LONGS_IN_DOUBLES(v) _mm512_cvtepi64_pd((__m512i)(v))
#define INTS_IN_LONGS(x) _mm512_cvtepi32_epi64(_mm256_loadu_si256((const void *)(x)))
#elif VECTOR_BYTES == 32
#define FLOATS_IN_DOUBLES(x) _mm256_cvtps_pd(_mm_loadu_ps(x))
#define FLOATS_ADDED(a, b) _mm256_fmadd_pd(_mm256_set1_pd(1), b, a)
#define INTS_IN_DOUBLES(x) _mm256_cvtepi32_pd(_mm_loadu_si128((const void *)(x)))
#define INTS_IN_LONGS(x) _mm256_cvtepi32_epi64(_mm_loadu_si128((const void *)(x)))
#endif

/* ---- Floats and doubles. --------------------------------------------------------------------- */

#define NAME(x) float_in_double_##x
#define ELEMENT float
#define WIDE double
#define PAIRED 0
#define FMA(a, b, c) ((a) * (b) + (c)) /* products of floats are exact in doubles */
#define FMAS FMA
#ifdef FLOATS_IN_DOUBLES
#define FETCH FLOATS_IN_DOUBLES
#define ADDS FLOATS_ADDED
#endif
#define LOW -INFINITY
#define HIGH INFINITY
#define OPERATIONS ARITHMETIC
#include "arrays/reduce_host.h"

#define NAME(x) float_in_double_pair_##x
#define ELEMENT float
#define WIDE double
#define PAIRED 1
#define FMA fma
#if VECTOR_BYTES == 64
#define FMAS _mm512_fmadd_pd
#elif VECTOR_BYTES == 32
#define FMAS _mm256_fmadd_pd
#endif
#ifdef FLOATS_IN_DOUBLES
#define FETCH FLOATS_IN_DOUBLES
#endif
#define LOW -INFINITY
#define HIGH INFINITY
#define OPERATIONS (ARITHMETIC & ~BIT(OP_SUM))
#include "arrays/reduce_host.h"

#define NAME(x) double_##x
#define ELEMENT double
#define WIDE double
#define PAIRED 0
#define FMA fma
#if VECTOR_BYTES == 64
#define FMAS _mm512_fmadd_pd
#elif VECTOR_BYTES == 32
#define FMAS _mm256_fmadd_pd
#endif
#define LOW -INFINITY
#define HIGH INFINITY
#define OPERATIONS (ARITHMETIC | EXTREMES)
#include "arrays/reduce_host.h"

#define NAME(x) double_pair_##x
#define ELEMENT double
#define WIDE double
#define PAIRED 1
#define FMA fma
#if VECTOR_BYTES == 64
#define FMAS _mm512_fmadd_pd
#elif VECTOR_BYTES == 32
#define FMAS _mm256_fmadd_pd
#endif
#define LOW -INFINITY
#define HIGH INFINITY
#define OPERATIONS ARITHMETIC
#include "arrays/reduce_host.h"

#define NAME(x) float_pair_##x
#define ELEMENT float
#define WIDE float
#define PAIRED 1
#define FMA fmaf
#if VECTOR_BYTES == 64
#define FMAS _mm512_fmadd_ps
#elif VECTOR_BYTES == 32
#define FMAS _mm256_fmadd_ps
#endif
#define LOW -INFINITY
#define HIGH INFINITY
#define OPERATIONS ARITHMETIC
#include "arrays/reduce_host.h"

#define NAME(x) float_##x
#define ELEMENT float
#define WIDE float
#define PAIRED 0
#define LOW -INFINITY
#define HIGH INFINITY
#define OPERATIONS EXTREMES
#include "arrays/reduce_host.h"

/* ---- Integers. ------------------------------------------------------------------------------- */

/* Deviations of integers. */
#define NAME(x) int_in_double_##x
#define ELEMENT int32_t
#define WIDE double
#define PAIRED 0
#ifdef INTS_IN_DOUBLES
#define FETCH INTS_IN_DOUBLES
#endif
#define LOW -INFINITY
#define HIGH INFINITY
#define OPERATIONS ABOUT_MEAN
#include "arrays/reduce_host.h"

#define NAME(x) long_in_double_##x
#define ELEMENT int64_t
#define WIDE double
#define PAIRED 0
#ifdef LONGS_IN_DOUBLES
#define LONGS LONGS_IN_DOUBLES
#else
#define LONGS(v) __builtin_convertvector(v, long_in_double_wides)
#endif
#define LOW -INFINITY
#define HIGH INFINITY
#define OPERATIONS ABOUT_MEAN
#include "arrays/reduce_host.h"

#define NAME(x) int_##x
#define ELEMENT int32_t
#define WIDE int32_t
#define PAIRED 0
#define LOW INT32_MIN
#define HIGH INT32_MAX
#define OPERATIONS EXTREMES
#include "arrays/reduce_host.h"

#define NAME(x) int_in_long_##x
#define ELEMENT int32_t
#define WIDE int64_t
#define PAIRED 0
#ifdef INTS_IN_LONGS
#define FETCH INTS_IN_LONGS
#endif
#define LOW INT64_MIN
#define HIGH INT64_MAX
#define OPERATIONS BIT(OP_SUM)
#include "arrays/reduce_host.h"

#define NAME(x) long_halves_##x
#define ELEMENT int64_t
#define WIDE int64_t
#define PAIRED 2
#define LOW INT64_MIN
#define HIGH INT64_MAX
#define OPERATIONS BIT(OP_SUM)
#include "arrays/reduce_host.h"

#define NAME(x) long_##x
#define ELEMENT int64_t
#define WIDE int64_t
#define PAIRED 0
#define LOW INT64_MIN
#define HIGH INT64_MAX
#define OPERATIONS EXTREMES
#include "arrays/reduce_host.h"

/* ---- Choice by type. ------------------------------------------------------------------------- */

reduce_host_block *REDUCE_HOST(enum arrays_type type, struct arrays_partial kind)
{
    static const struct {
        enum arrays_type type;
        struct arrays_partial kind;
        reduce_host_block *work;
    } all[] = {
        {ARRAYS_FLOAT, {WIDE_DOUBLE, JOIN_ADD}, float_in_double_block},
        {ARRAYS_FLOAT, {WIDE_FLOAT, JOIN_PAIRS}, float_pair_block},
        {ARRAYS_FLOAT, {WIDE_DOUBLE, JOIN_PAIRS}, float_in_double_pair_block},
        {ARRAYS_FLOAT, {WIDE_FLOAT, JOIN_MIN}, float_block},
        {ARRAYS_FLOAT, {WIDE_FLOAT, JOIN_MAX}, float_block},
        {ARRAYS_DOUBLE, {WIDE_DOUBLE, JOIN_ADD}, double_block},
        {ARRAYS_DOUBLE, {WIDE_DOUBLE, JOIN_PAIRS}, double_pair_block},
        {ARRAYS_DOUBLE, {WIDE_DOUBLE, JOIN_MIN}, double_block},
        {ARRAYS_DOUBLE, {WIDE_DOUBLE, JOIN_MAX}, double_block},
        {ARRAYS_INT, {WIDE_LONG, JOIN_ADD}, int_in_long_block},
        {ARRAYS_INT, {WIDE_DOUBLE, JOIN_ADD}, int_in_double_block},
        {ARRAYS_INT, {WIDE_INT, JOIN_MIN}, int_block},
        {ARRAYS_INT, {WIDE_INT, JOIN_MAX}, int_block},
        {ARRAYS_LONG, {WIDE_LONG, JOIN_HALVES}, long_halves_block},
        {ARRAYS_LONG, {WIDE_DOUBLE, JOIN_ADD}, long_in_double_block},
        {ARRAYS_LONG, {WIDE_LONG, JOIN_MIN}, long_block},
        {ARRAYS_LONG, {WIDE_LONG, JOIN_MAX}, long_block},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].type == type && all[i].kind.wide == kind.wide && all[i].kind.join == kind.join)
            return all[i].work;
    return NULL;
}
