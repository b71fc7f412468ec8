/* select_host.h - compaction by flags and of runs, and sums of runs, on the host, for CPU devices.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_SELECT_HOST_H
#define ARRAYS_SELECT_HOST_H

#include "stdcl/arrays.h"

#include <stddef.h>

struct thread_pool;

/* As struct arrays_select_job, for n elements; flags NULL: first elements of runs. */
struct select_host_job {
    const void *x;
    const unsigned char *flags;
    void *out;
    size_t bytes, n; /* bytes per element: 4 or 8 */
};

/* As struct arrays_by_key_job, for n elements. */
struct by_key_host_job {
    const void *keys, *values;
    void *unique, *sums;
    size_t bytes, n; /* bytes per key: 4 or 8 */
    enum arrays_type type;
};

/* Write the elements in `out`, or the keys and sums of runs, and return their number. *pool:
 * threads, created when they are first needed. The kernels give equal results. */
size_t arrays_select_host(struct thread_pool **pool, const struct select_host_job *job);
size_t arrays_by_key_host(struct thread_pool **pool, const struct by_key_host_job *job);

#endif
