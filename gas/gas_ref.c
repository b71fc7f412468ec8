/* gas_ref.c - scalar reference of the velocities.
 * SPDX-License-Identifier: MIT
 */
#include "gas/gas_ref.h"

#include "gas/maxwell.h"

void gas_ref_velocity(uint64_t seed, uint64_t i, float v[3])
{
    mw_velocity((uint32_t)i, (uint32_t)(i >> 32), (uint32_t)seed, (uint32_t)(seed >> 32), &v[0],
                &v[1], &v[2]);
}
