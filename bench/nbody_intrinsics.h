/* nbody_intrinsics.h - CPU peer of direct sums: accelerations in double precision by hand-written
 * SIMD.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_BENCH_NBODY_INTRINSICS_H
#define STDCL_BENCH_NBODY_INTRINSICS_H

#include <stddef.h>

/* Return the instruction set used on this processor: "AVX-512", "AVX2", or NULL. */
const char *intrinsics_called(void);

/* Compute the accelerations of n bodies {x, y, z, G m} into acc, with `threads` threads. Return -1
 * if threads or memory fail. */
int intrinsics_forces(size_t n, double eps, const double (*posm)[4], double (*acc)[3],
                      unsigned threads);

#endif
