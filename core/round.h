/* round.h - integer division and multiples, rounded up.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_ROUND_H
#define CORE_ROUND_H

#include <stddef.h>

/* Return n / by, rounded up. */
static inline size_t divide_up(size_t n, size_t by)
{
    return (n + by - 1) / by;
}

/* Return the smallest multiple of `to` that is at least n. */
static inline size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

#endif
