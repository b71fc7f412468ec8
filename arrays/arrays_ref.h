/* arrays_ref.h - sums in the fixed order, prefix sums and sorting, in plain C: slow, and easy to
 * check against arrays/fixed_reduce.h.
 *
 * What the devices compute must equal these, bit for bit.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_ARRAYS_REF_H
#define STDCL_ARRAYS_REF_H

#include "stdcl/arrays.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums of n terms of arrays of one type, in ARRAYS_WIDE double precision or compensated. */
double arrays_ref_sum(enum arrays_type type, enum arrays_accumulator accumulator, const void *x,
                      size_t n);
double arrays_ref_dot(enum arrays_type type, enum arrays_accumulator accumulator, const void *x,
                      const void *y, size_t n);
/* Of x^2 + y^2 + z^2. */
double arrays_ref_squares(enum arrays_type type, enum arrays_accumulator accumulator, const void *x,
                          const void *y, const void *z, size_t n);
/* Of (x - mean)^2. */
double arrays_ref_deviations(enum arrays_type type, enum arrays_accumulator accumulator,
                             const void *x, size_t n, double mean);

/* sums[i] = x[0] + ... + x[i - 1] of n unsigned integers of 4 or 8 bytes, modulo 2^32 or 2^64; sums
 * may be x. Returns the sum of all. */
uint64_t arrays_ref_scan(int bytes, const void *x, void *sums, size_t n);

/* Sorts n keys of 4 or 8 bytes by their lowest `bits` bits, stable, and values (may be NULL) along
 * with them. `work` has room for as many keys, and then for as many values. */
void arrays_ref_sort(int bytes, int bits, void *keys, uint32_t *values, size_t n, void *work);

#ifdef __cplusplus
}
#endif
#endif
