/* gas_ref.h - sums in the fixed order, in plain C: slow, and easy to check against gas/order.h.
 *
 * What the devices compute must equal these, bit for bit.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_GAS_REF_H
#define STDCL_GAS_REF_H

#include "stdcl/gas.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sums of n terms of arrays of one type, in GAS_WIDE double precision or compensated. */
double gas_ref_sum(enum gas_type type, enum gas_accumulator accumulator, const void *x, size_t n);
double gas_ref_dot(enum gas_type type, enum gas_accumulator accumulator, const void *x, const void *y,
                   size_t n);
/* Of x^2 + y^2 + z^2. */
double gas_ref_energy(enum gas_type type, enum gas_accumulator accumulator, const void *x, const void *y,
                      const void *z, size_t n);
/* Of (x - mean)^2. */
double gas_ref_deviations(enum gas_type type, enum gas_accumulator accumulator, const void *x, size_t n,
                          double mean);

/* The velocity of molecule i in units of sqrt(k_B T / m), as every device draws it. */
void gas_ref_velocity(uint64_t seed, uint64_t i, float v[3]);

#ifdef __cplusplus
}
#endif
#endif
