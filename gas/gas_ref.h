/* gas_ref.h - scalar reference of the velocities. Devices must draw equal bits. The reference of
 * sums is arrays/arrays_ref.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_GAS_REF_H
#define STDCL_GAS_REF_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Return the velocity of molecule i in units of sqrt(k_B T / m), as every device draws it. */
void gas_ref_velocity(uint64_t seed, uint64_t i, float v[3]);

#ifdef __cplusplus
}
#endif
#endif
