/* fused.cl - the energy of a gas that is never stored: velocities are drawn, squared and summed.
 *
 * Molecule i is element i in the order of fixed_reduce.h. partial[g] becomes the sum of v^2 of
 * block first + g, with velocities in units of sqrt(k_B T / m).
 *
 * The host puts fixed_reduce.h and maxwell.h before this file (kernels.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_FIXED_REDUCE_H
#include "../arrays/fixed_reduce.h"
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

#if WIDTH == 1
#define EXISTING(at, n) ((at) < (n) ? 0xFFFFFFFFu : 0u)
#else
#define EXISTING(at, n)                                                                            \
    ((at) < (n)                                                                                    \
         ? MW_CAT(as_, MW_TYPE(uint))((mw_uint)((uint)(at)) + LANE_NUMBERS < (mw_uint)((uint)(n))) \
         : (mw_uint)(0))
#endif
#define OF_ROWS _Pragma("unroll") for (int u = 0; u < UNROLL; u++)

/* Add v^2 to s, of molecules here ... here + WIDTH - 1 and of the same lanes in UNROLL rows, as
 * far as they exist. `here` is a multiple of WIDTH, so that the high word is equal in a vector.
 * Each step is done for all rows: it is a chain of dependent operations, and other rows fill the
 * latency. Signs of velocities do not matter. */
__attribute__((always_inline)) void add_molecules(sums *s, ulong here, ulong n, uint k0, uint k1)
{
    mw_uint x[UNROLL], y[UNROLL], z[UNROLL], w[UNROLL];
    mw_float r[UNROLL], t[UNROLL], cosine[UNROLL], sine[UNROLL], other[UNROLL], unused;
    OF_ROWS
    {
        const ulong at = here + (ulong)(u * LANES);
        x[u] = (mw_uint)((uint)at) + LANE_NUMBERS, y[u] = (mw_uint)((uint)(at >> 32));
        z[u] = w[u] = (mw_uint)(0);
        mw_philox(&x[u], &y[u], &z[u], &w[u], k0, k1);
    }
    OF_ROWS r[u] = mw_minus_two_log(x[u]), t[u] = mw_minus_two_log(z[u]);
    OF_ROWS r[u] = mw_sqrt(r[u]), t[u] = mw_sqrt(t[u]);
    OF_ROWS
    {
        mw_cos_sin_unsigned(y[u], &cosine[u], &sine[u]);
        mw_cos_sin_unsigned(w[u], &other[u], &unused);
        cosine[u] *= r[u], sine[u] *= r[u], other[u] *= t[u];
    }
    if (here + (UNROLL - 1) * LANES + WIDTH > n) /* molecules past n are at rest */
        OF_ROWS
        {
            const ulong at = here + (ulong)(u * LANES);
            const mw_uint exist = EXISTING(at, n);
            cosine[u] = MW_REAL(MW_BITS(cosine[u]) & exist),
            sine[u] = MW_REAL(MW_BITS(sine[u]) & exist);
            other[u] = MW_REAL(MW_BITS(other[u]) & exist);
        }
    OF_ROWS add_squares(s, CONVERT(WIDE, cosine[u]), CONVERT(WIDE, sine[u]),
                        CONVERT(WIDE, other[u]));
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void fused(__global sum *partial,
                                                                       ulong first, ulong n,
                                                                       uint k0, uint k1)
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
        for (int row = 0; row < ROWS; row += UNROLL)
            for (int v = 0; v < VECTORS; v++) {
                const ulong here = base + (ulong)(row * LANES + v * WIDTH);
                if (here < n)
                    add_molecules(&s[v], here, n, k0, k1);
            }
        part[PART_OF(round)] = join_lanes(s);
    }
    join_group(part);
    if (get_local_id(0) == 0)
        partial[get_group_id(0)] = part[0];
}
