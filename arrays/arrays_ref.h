/* arrays_ref.h - sums in the fixed order, in plain C: slow, and easy to check against arrays/order.h.
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
double arrays_ref_sum(enum arrays_type type, enum arrays_accumulator accumulator, const void *x, size_t n);
double arrays_ref_dot(enum arrays_type type, enum arrays_accumulator accumulator, const void *x,
                      const void *y, size_t n);
/* Of x^2 + y^2 + z^2. */
double arrays_ref_squares(enum arrays_type type, enum arrays_accumulator accumulator, const void *x,
                          const void *y, const void *z, size_t n);
/* Of (x - mean)^2. */
double arrays_ref_deviations(enum arrays_type type, enum arrays_accumulator accumulator, const void *x,
                             size_t n, double mean);

#ifdef __cplusplus
}
#endif
#endif
