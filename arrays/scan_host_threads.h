/* scan_host_threads.h - prefix sums on the host, for CPU devices.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_SCAN_HOST_THREADS_H
#define ARRAYS_SCAN_HOST_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread_pool;

/* A sum. whole: sum of integers modulo 2^64; with integers of 4 bytes only the lower 32 bits count.
 * real: sum of doubles or floats; floats are added in float within a block and in double between
 * blocks. */
union scan_number {
    uint64_t whole;
    double real;
};

/* Consecutive numbers that one thread scans. */
struct scan_block {
    bool inclusive;
    bool stream; /* write past the caches; `sums` is then a multiple of 64 bytes */
    void *sums;
    const void *x; /* may be `sums` */
    size_t n;
    const void *next;         /* memory of n numbers to be prefetched; x: nothing */
    union scan_number before; /* input: the sum of all earlier numbers; output: and of these */
};

/* Functions for one set of instructions. Index: SCAN_HOST_KINDS. */
enum { SCAN_HOST_32, SCAN_HOST_64, SCAN_HOST_FLOAT, SCAN_HOST_DOUBLE, SCAN_HOST_KINDS };
struct scan_host {
    void (*scan[SCAN_HOST_KINDS])(struct scan_block *b);
    union scan_number (*sum[SCAN_HOST_KINDS])(const void *x, size_t n);
};

/* In vectors of any processor, of AVX2, or of AVX-512 (scan_host.c). */
extern const struct scan_host arrays_scan_host_any, arrays_scan_host_avx2, arrays_scan_host_avx512;

/* Return the functions for the widest vectors of this processor. */
const struct scan_host *arrays_scan_host(void);

/* Prefix sums of n numbers. `sums` may be x. */
struct scan_host_job {
    int kind;
    bool inclusive;
    void *sums;
    const void *x;
    size_t n;
};

/* Write the prefix sums and return the sum of all numbers. *pool: threads, created when they are
 * first needed. The result does not depend on the number of threads. */
union scan_number arrays_scan_host_threads(const struct scan_host *host, struct thread_pool **pool,
                                           const struct scan_host_job *job);

#endif
