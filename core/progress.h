/* progress.h - report the progress of a call to its caller, who may cancel the call.
 *
 * An options struct has `progress`, called in the calling thread now and then; it returns nonzero
 * to cancel. Engines either report a fraction of the work or a number of elements.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_PROGRESS_H
#define CORE_PROGRESS_H

#include "stdcl.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

/* Report that `done` of `total` units of work are done, as a fraction of at most 1, 0 if total is
 * 0. True if the caller cancels; false if there is no progress function. */
static inline bool progress_cancels(int (*progress)(void *arg, double fraction), void *arg,
                                    double done, double total)
{
    const double fraction = total > 0 ? done / total : 0;
    return progress && progress(arg, fraction < 1 ? fraction : 1) != 0;
}

/* Set ECANCELED in the name of `call` and return -1. */
static inline int progress_cancelled(const char *call)
{
    return clerror_set(ECANCELED, "%s: stopped before the end", call);
}

/* Report that `done` elements are done. Return 0 to go on, or -1 with ECANCELED if the caller
 * cancels; after the last element (`last`) there is nothing left to cancel. The message says of how
 * many `elements`, n in all. */
static inline int progress_count(int (*progress)(void *arg, uint64_t done), void *arg,
                                 uint64_t done, bool last, const char *call, uint64_t n,
                                 const char *elements)
{
    if (!progress || progress(arg, done) == 0 || last)
        return 0;
    return clerror_set(ECANCELED, "%s: stopped after %llu of %llu %s", call,
                       (unsigned long long)done, (unsigned long long)n, elements);
}

#endif
