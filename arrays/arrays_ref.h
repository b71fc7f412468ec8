/* arrays_ref.h - scalar reference of the fixed-order reduction (fixed_reduce.h), prefix sums and
 * sorting: slow, and easy to check. Devices must give equal bits.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_ARRAYS_REF_H
#define STDCL_ARRAYS_REF_H

#include "stdcl/arrays.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An accumulator of the reference: ARRAYS_COMPENSATED on devices without double precision, where
 * products of floats are pairs of floats, too. */
enum { ARRAYS_REF_FLOAT_PAIRS = ARRAYS_COMPENSATED + 1 };

/* Return the sum of n terms of arrays of one type, in ARRAYS_WIDE double precision or compensated:
 * of x, and of x y. */
double arrays_ref_sum(enum arrays_type type, enum arrays_accumulator accumulator, const void *x,
                      size_t n);
double arrays_ref_dot(enum arrays_type type, enum arrays_accumulator accumulator, const void *x,
                      const void *y, size_t n);
/* Return the sum of x^2 + y^2 + z^2. */
double arrays_ref_squares(enum arrays_type type, enum arrays_accumulator accumulator, const void *x,
                          const void *y, const void *z, size_t n);
/* Return the sum of (x - mean)^2. */
double arrays_ref_deviations(enum arrays_type type, enum arrays_accumulator accumulator,
                             const void *x, size_t n, double mean);

/* Compute sums[i] = x[0] + ... + x[i - 1] of n unsigned integers of 4 or 8 bytes, modulo 2^32 or
 * 2^64; sums may be x. Return the sum of all. */
uint64_t arrays_ref_scan(int bytes, const void *x, void *sums, size_t n);

/* Sort n keys of 4 or 8 bytes by their lowest `bits` bits, stably, and values (may be NULL) with
 * them. `work` has room for n keys followed by n values. */
void arrays_ref_sort(int bytes, int bits, void *keys, uint32_t *values, size_t n, void *work);

#ifdef __cplusplus
}
#endif
#endif
