/* fused.cl - the energy of a gas that is never stored: velocities are drawn, squared and added up.
 *
 * Molecules are numbered, and molecule i is element i in the order of order.h. partial[g] becomes the sum
 * of v^2 of block first + g, with velocities in units of sqrt(k_B T / m).
 *
 * The host puts order.h and maxwell.h in front (kernels.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_ORDER_H
#include "../arrays/order.h"
#endif
#ifndef GAS_MAXWELL_H
#define MW_WIDTH WIDTH
#include "maxwell.h"
#endif

#if WIDTH == 1
#define LANE_NUMBERS 0u
#elif WIDTH == 2
#define LANE_NUMBERS (uint2)(0, 1)
#elif WIDTH == 4
#define LANE_NUMBERS (uint4)(0, 1, 2, 3)
#elif WIDTH == 8
#define LANE_NUMBERS (uint8)(0, 1, 2, 3, 4, 5, 6, 7)
#else
#define LANE_NUMBERS (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#endif

/* Adds v^2 to s, of molecules here ... here + WIDTH - 1, as far as there are such. `here` is a multiple of WIDTH,
 * so that the high word is the same in a vector. */
void add_molecules(sums *s, ulong here, ulong n, uint k0, uint k1)
{
    const mw_uint low = (mw_uint)((uint)here) + LANE_NUMBERS, high = (mw_uint)((uint)(here >> 32));
    mw_float x, y, z;
    mw_velocity(low, high, k0, k1, &x, &y, &z);
#if WIDTH > 1
    if (here + WIDTH > n) { /* molecules beyond n are at rest */
        const mw_uint exist = MW_CAT(as_, MW_TYPE(uint))(low < (mw_uint)((uint)n));
        x = MW_REAL(MW_BITS(x) & exist), y = MW_REAL(MW_BITS(y) & exist), z = MW_REAL(MW_BITS(z) & exist);
    }
#endif
    add_squares(s, CONVERT(WIDE, x), CONVERT(WIDE, y), CONVERT(WIDE, z));
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
fused(__global sum *partial, ulong first, ulong n, uint k0, uint k1)
{
    __local sum part[PARTS];
    const ulong block = first + get_group_id(0);
    for (int round = 0; round < ROUNDS; round++) {
        const ulong base = ELEMENT_OF(block, round);
        sums s[VECTORS];
        for (int v = 0; v < VECTORS; v++)
            s[v].value = 0;
#if PAIRED
        for (int v = 0; v < VECTORS; v++)
            s[v].error = 0;
#endif
        for (int row = 0; row < ROWS; row++)
            for (int v = 0; v < VECTORS; v++) {
                const ulong here = base + (ulong)(row * LANES + v * WIDTH);
                if (here < n)
                    add_molecules(&s[v], here, n, k0, k1);
            }
        part[PLACE_OF(round)] = fold(s);
    }
    join_parts(part);
    if (get_local_id(0) == 0)
        partial[get_group_id(0)] = part[0];
}
