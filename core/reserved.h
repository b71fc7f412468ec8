/* reserved.h - the words at the end of a struct of options, by which it can grow: all must be 0 until a later
 * version gives them a meaning.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_RESERVED_H
#define STDCL_RESERVED_H

#include "stdcl.h"

static inline int reserved_check(const char *call, const uintptr_t reserved[8])
{
    for (int i = 0; i < 8; i++)
        if (reserved[i] != 0)
            return clerror_set(EINVAL,
                               "%s: reserved[%d] of the options is not 0; set all members to 0 first, as "
                               "an initializer does, then those that you need",
                               call, i);
    return 0;
}

#endif
