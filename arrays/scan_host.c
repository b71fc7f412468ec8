/* scan_host.c - prefix sums and sums of integers on the host, for one instruction set.
 *
 * CMakeLists.txt compiles this file once for each instruction set: SCAN_HOST is the name of its
 * functions, and VECTOR_BYTES the width of vectors.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/scan_host_threads.h"

#define INLINE static inline __attribute__((always_inline))

#ifdef __clang__
#define SHUFFLE(vec, a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(vec, a, b, ...) __builtin_shuffle(a, b, (vec){__VA_ARGS__})
#endif

#define NAME(x) scan_32_##x
#define NUMBER uint32_t
#define LANES (VECTOR_BYTES / 4)
#include "arrays/scan_host.h"

#define NAME(x) scan_64_##x
#define NUMBER uint64_t
#define LANES (VECTOR_BYTES / 8)
#include "arrays/scan_host.h"

const struct scan_host SCAN_HOST = {{scan_32_scan, scan_64_scan}, {scan_32_sum, scan_64_sum}};
