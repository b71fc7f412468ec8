/* scan_host.c - prefix sums and sums on the host, for one instruction set.
 *
 * CMakeLists.txt compiles this file once for each instruction set: SCAN_HOST is the name of its
 * functions, and VECTOR_BYTES the width of its vectors.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/scan_host_threads.h"

#define INLINE static inline __attribute__((always_inline))

#ifdef __clang__
#define SHUFFLE(mask, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(mask, a, b, ...) __builtin_shuffle(a, b, (mask){__VA_ARGS__})
#endif

/* Locality of prefetches: past the first-level cache, whose lines are in use. */
enum { SECOND_LEVEL_CACHE = 2 };

/* Non-temporal stores: past the caches, without reading the lines before. */
#ifdef __SSE2__
#include <immintrin.h>
#if VECTOR_BYTES == 64
#define STREAM(p, v) _mm512_stream_si512((__m512i *)(void *)(p), (__m512i)(v))
#elif VECTOR_BYTES == 32
#define STREAM(p, v) _mm256_stream_si256((__m256i *)(void *)(p), (__m256i)(v))
#else
#define STREAM(p, v) _mm_stream_si128((__m128i *)(void *)(p), (__m128i)(v))
#endif
#define STREAM_END() _mm_sfence()
#else
#define STREAM(p, v) __builtin_memcpy(p, &(v), sizeof(v))
#define STREAM_END() (void)0
#endif

enum { VECTORS = 64 / VECTOR_BYTES }; /* of a line */

#define NAME(x) scan_32_##x
#define NUMBER uint32_t
#define INDEX uint32_t
#define MEMBER whole
#define FLOATING 0
#define LANES (VECTOR_BYTES / 4)
#include "arrays/scan_host.h"

#define NAME(x) scan_64_##x
#define NUMBER uint64_t
#define INDEX uint64_t
#define MEMBER whole
#define FLOATING 0
#define LANES (VECTOR_BYTES / 8)
#include "arrays/scan_host.h"

#define NAME(x) scan_float_##x
#define NUMBER float
#define INDEX uint32_t
#define MEMBER real
#define FLOATING 1
#define LANES (VECTOR_BYTES / 4)
#include "arrays/scan_host.h"

#define NAME(x) scan_double_##x
#define NUMBER double
#define INDEX uint64_t
#define MEMBER real
#define FLOATING 1
#define LANES (VECTOR_BYTES / 8)
#include "arrays/scan_host.h"

const struct scan_host SCAN_HOST = {
    {scan_32_scan, scan_64_scan, scan_float_scan, scan_double_scan},
    {scan_32_sum, scan_64_sum, scan_float_sum, scan_double_sum},
};
