/* small_kernel.c - small products on the host, for one instruction set.
 *
 * CMakeLists.txt compiles this file once for each instruction set: SMALL_KERNELS is the name of its
 * kernels, and VECTOR_BYTES the width of vectors.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/small.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#if VECTOR_BYTES > 16
#include <immintrin.h>
#endif

#define INLINE static inline __attribute__((always_inline))

/* Rows of a micro tile and of dot products. A micro tile's sums, vectors of B and a broadcast
 * number fill the registers: 32 with AVX-512, else 16. */
#if VECTOR_BYTES == 64
#define SMALL_ROWS 13
#define DOT_ROWS 8
#define EACH_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13)
#else
#define SMALL_ROWS 6
#define DOT_ROWS 4
#define EACH_ROWS(X) X(1) X(2) X(3) X(4) X(5) X(6)
#endif

/* ---- Single precision. ----------------------------------------------------------------------- */

#define NAME(x) single_##x
#define T float
#define LANES (VECTOR_BYTES / 4)
#if VECTOR_BYTES == 64
#define FMAS _mm512_fmadd_ps
#define MASK_TYPE __mmask16
#define MASK(count) ((MASK_TYPE)((1U << (count)) - 1))
#define LOAD_PART(p, mask) ((single_vec)_mm512_maskz_loadu_ps(mask, p))
#define STORE_PART(p, mask, v) _mm512_mask_storeu_ps(p, mask, v)
#define FMA fmaf
#define INDEX int32_t
#define PERMUTE2(a, index, b) ((single_vec)_mm512_permutex2var_ps(a, _mm512_load_si512(index), b))
#define PAIR(p) pair_of_singles(p)
#define PAIR_BOTH 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23
#define PAIR_EVEN 0, 2, 4, 6, 8, 10, 12, 14
#define PAIR_ODD 1, 3, 5, 7, 9, 11, 13, 15

/* A vector of equal pairs of the numbers at p. */
INLINE __m512 pair_of_singles(const float *p)
{
    long long bits;
    memcpy(&bits, p, sizeof bits);
    return _mm512_castsi512_ps(_mm512_set1_epi64(bits));
}
#elif VECTOR_BYTES == 32
#define FMAS _mm256_fmadd_ps
#define MASK_TYPE __m256i
#define MASK(count)                                                                                \
    _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7))
#define LOAD_PART(p, mask) ((single_vec)_mm256_maskload_ps(p, mask))
#define STORE_PART(p, mask, v) _mm256_maskstore_ps(p, mask, v)
#endif
#include "matmul/small_kernel.h"

/* ---- Double precision. ----------------------------------------------------------------------- */

#define NAME(x) double_##x
#define T double
#define LANES (VECTOR_BYTES / 8)
#if VECTOR_BYTES == 64
#define FMAS _mm512_fmadd_pd
#define MASK_TYPE __mmask8
#define MASK(count) ((MASK_TYPE)((1U << (count)) - 1))
#define LOAD_PART(p, mask) ((double_vec)_mm512_maskz_loadu_pd(mask, p))
#define STORE_PART(p, mask, v) _mm512_mask_storeu_pd(p, mask, v)
#define FMA fma
#define INDEX int64_t
#define PERMUTE2(a, index, b) ((double_vec)_mm512_permutex2var_pd(a, _mm512_load_si512(index), b))
#elif VECTOR_BYTES == 32
#define FMAS _mm256_fmadd_pd
#define MASK_TYPE __m256i
#define MASK(count)                                                                                \
    _mm256_cmpgt_epi64(_mm256_set1_epi64x((long long)(count)), _mm256_setr_epi64x(0, 1, 2, 3))
#define LOAD_PART(p, mask) ((double_vec)_mm256_maskload_pd(p, mask))
#define STORE_PART(p, mask, v) _mm256_maskstore_pd(p, mask, v)
#endif
#include "matmul/small_kernel.h"

const struct small_kernels SMALL_KERNELS = {
    .rows_max = SMALL_ROWS,
    .dot_rows = DOT_ROWS,
    .of = {[MATMUL_SINGLE] = {.tiles = single_part,
                              .dots = single_dots,
                              .wide = single_wides,
#if VECTOR_BYTES == 64
                              .flat = single_flats,
                              .pairs = single_pairs,
#endif
                              .lanes = VECTOR_BYTES / sizeof(float)},
           [MATMUL_DOUBLE] = {.tiles = double_part,
                              .dots = double_dots,
                              .wide = double_wides,
#if VECTOR_BYTES == 64
                              .flat = double_flats,
#endif
                              .lanes = VECTOR_BYTES / sizeof(double)}},
};
