/* small_kernel.c - small products on the host, for one instruction set.
 *
 * CMakeLists.txt compiles this file once for each instruction set: SMALL_KERNELS is the name of its
 * kernels, and VECTOR_BYTES the width of vectors.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/small.h"

#include <stdint.h>
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
    .vector_bytes = VECTOR_BYTES,
    .dot_rows = DOT_ROWS,
    .tiles_single = single_part,
    .tiles_double = double_part,
    .dots_single = single_dots,
    .dots_double = double_dots,
};
