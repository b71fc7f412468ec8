/* handle.h - checks the handle given to a public function: NULL is what a failed create returns.
 *
 *   if (no_handle(nb, __func__))
 *       return -1;
 *
 * Each public function of an engine begins with this. It returns -1, NULL, 0, or "" for a text.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_HANDLE_H
#define CORE_HANDLE_H

#include <errno.h>
#include <stdbool.h>

#include "stdcl.h"

static inline bool no_handle(const void *handle, const char *call)
{
    return !handle &&
           clerror_set(EINVAL, "%s: the handle is NULL; the call that should have made it failed",
                       call) != 0;
}

#endif
