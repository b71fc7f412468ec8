/* scan_host_threads.h - prefix sums on the host, for CPU devices.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_SCAN_HOST_THREADS_H
#define ARRAYS_SCAN_HOST_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread_pool;

/* Functions for one set of instructions, each for numbers of 4 and of 8 bytes. */
struct scan_host {
    /* Prefix sums of n numbers, plus `before`. Return `before` plus the sum of all. sums may be
     * x. */
    uint64_t (*scan[2])(bool inclusive, void *sums, const void *x, size_t n, uint64_t before);
    uint64_t (*sum[2])(const void *x, size_t n);
};

/* In vectors of any processor, of AVX2, or of AVX-512 (scan_host.c). */
extern const struct scan_host arrays_scan_host_any, arrays_scan_host_avx2, arrays_scan_host_avx512;

/* Return the functions for the widest vectors of this processor. */
const struct scan_host *arrays_scan_host(void);

/* Write the prefix sums of n numbers of `bytes` bytes and return their sum. *pool: threads, created
 * when they are first needed. */
uint64_t arrays_scan_host_threads(const struct scan_host *host, struct thread_pool **pool,
                                  int bytes, bool inclusive, void *sums, const void *x, size_t n);

#endif
