/* nbody_intrinsics.h - the peer of direct sums on CPUs: accelerations in double precision by
 * hand-written SIMD.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_BENCH_NBODY_INTRINSICS_H
#define STDCL_BENCH_NBODY_INTRINSICS_H

#include <stddef.h>

/* What this processor has of it: "AVX-512", "AVX2", or NULL. */
const char *intrinsics_called(void);

/* The accelerations of n bodies {x, y, z, G m} in acc, by so many threads. -1 where threads or
 * memory fail. */
int intrinsics_forces(size_t n, double eps, const double (*posm)[4], double (*acc)[3],
                      unsigned threads);

#endif
