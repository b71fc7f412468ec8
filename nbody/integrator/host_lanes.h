/* host_lanes.h - vectors of HOST_LANES numbers, for loops over few bodies on the host.
 *
 * With gcc on x86-64 a function that is declared CLONES has one copy per vector length. Copies
 * differ in speed, not in bits, as CMakeLists.txt forbids fused multiply-adds in these files.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_HOST_LANES_H
#define STDCL_NBODY_HOST_LANES_H

#include "nbody/integrator/host.h"

#include <math.h>
#include <string.h>

#if !defined(HOST_LANES_PLAIN) && defined(__x86_64__) && defined(__GNUC__) &&                      \
    !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONES
#endif
#define INLINE static inline __attribute__((always_inline))

typedef double lanes __attribute__((vector_size(64)));
typedef long long lane_numbers __attribute__((vector_size(64))); /* a comparison: -1 where true */

/* Lanes in memory, aligned to a number only. */
typedef double lanes_at __attribute__((vector_size(64), aligned(8), may_alias));

#define LOAD(from) (*(const lanes_at *)(from))
#define STORE(to, value) (*(lanes_at *)(to) = (value))

/* x in all lanes. */
#define LANES(x) ((lanes){0} + (x))

/* a where `which` is true, else b. */
#define SELECT(which, a, b)                                                                        \
    ((lanes)(((lane_numbers)(a) & (which)) | ((lane_numbers)(b) & ~(which))))

/* Replace each lane by its square root. */
INLINE void lanes_root(lanes *x)
{
    double number[HOST_LANES];
    memcpy(number, x, sizeof number);
    for (int l = 0; l < HOST_LANES; l++)
        number[l] = sqrt(number[l]);
    memcpy(x, number, sizeof number);
}

/* True if any lane is. */
INLINE int lanes_any(const lane_numbers *which)
{
    const lane_numbers w = *which;
    return ((w[0] | w[1]) | (w[2] | w[3]) | (w[4] | w[5]) | (w[6] | w[7])) != 0;
}

/* x += y, with the rounding error of the sum carried in *lost (Kahan 1965). */
INLINE void lanes_add_compensated(double *x, double *lost, const lanes *y)
{
    const lanes more = *y + LOAD(lost), sum = LOAD(x) + more;
    STORE(lost, more - (sum - LOAD(x)));
    STORE(x, sum);
}

#endif
