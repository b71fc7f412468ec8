/* reserved.h - reserved words at the end of a struct of options, by which it can grow: all must be
 * 0 until a later version uses them.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_RESERVED_H
#define STDCL_RESERVED_H

#include "stdcl.h"

/* count: number of reserved words. */
static inline int reserved_check_some(const char *call, const uintptr_t *reserved, int count)
{
    for (int i = 0; i < count; i++)
        if (reserved[i] != 0)
            return clerror_set(
                EINVAL,
                "%s: reserved[%d] of the options is not 0; set all members to 0 first, as "
                "an initializer does, then those that you need",
                call, i);
    return 0;
}

static inline int reserved_check(const char *call, const uintptr_t reserved[8])
{
    return reserved_check_some(call, reserved, 8);
}

#endif
