/* sort_host.h - a stable radix sort on the host, for CPU devices.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_SORT_HOST_H
#define ARRAYS_SORT_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread_pool;

/* A sort: arrays as in struct arrays_sort_job. */
struct sort_host {
    void *keys, *values;           /* n each; values: NULL if value_bytes is 0 */
    size_t key_bytes, value_bytes; /* 4 or 8; value_bytes may be 0 */
    size_t n;                      /* 0 to 2^31 */
    int order;                     /* enum arrays_order */
    bool descending;
    int first_bit, bits;
};

/* Bytes of the workspace of a sort. */
size_t arrays_sort_host_workspace(const struct sort_host *sort);

/* Sort. work: the workspace, aligned to 64 bytes. *pool: threads, created when they are first
 * needed. */
void arrays_sort_host(const struct sort_host *sort, struct thread_pool **pool, void *work);

#endif
