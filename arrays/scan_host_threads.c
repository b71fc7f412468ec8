/* scan_host_threads.c - prefix sums on the host: division among threads.
 *
 * One thread reads and writes each number once. Several threads read each number twice, the second
 * time from the cache, a block of some parts for each thread at a time:
 *
 *     x       | part 0 | part 1 | part 2 | part 3 |   1. threads sum the parts
 *     carry   |   s    |  s+s0  | ...             |   2. the caller scans the sums
 *     sums    | s ...  | s+s0 ...                 |   3. threads scan the parts
 * SPDX-License-Identifier: MIT
 */
#include "arrays/scan_host_threads.h"

#include "core/thread_pool.h"

enum {
    PART_BYTES = 1 << 18,    /* of x: some parts fit a core's second-level cache */
    PARTS_EACH = 2,          /* parts of a block for each thread */
    THREADS_BYTES = 1 << 24, /* arrays from this size on are divided among threads */
    PARTS_MAX = PARTS_EACH * (THREAD_POOL_MOST + 1),
};

const struct scan_host *arrays_scan_host(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return &arrays_scan_host_avx512;
    if (__builtin_cpu_supports("avx2"))
        return &arrays_scan_host_avx2;
#endif
    return &arrays_scan_host_any;
}

/* A block of parts. */
struct scan_block {
    const struct scan_host *host;
    int kind; /* index by size of number */
    bool inclusive;
    char *sums;
    const char *x;
    size_t bytes, n, each; /* of a number; numbers of the block and of a part */
    uint64_t carry[PARTS_MAX];
};

static size_t part_length(const struct scan_block *b, size_t part)
{
    const size_t left = b->n - part * b->each;
    return left < b->each ? left : b->each;
}

static void sum_part(void *block_, size_t part)
{
    struct scan_block *b = block_;
    b->carry[part] = b->host->sum[b->kind](b->x + part * b->each * b->bytes, part_length(b, part));
}

static void scan_part(void *block_, size_t part)
{
    struct scan_block *b = block_;
    const size_t at = part * b->each * b->bytes;
    b->host->scan[b->kind](b->inclusive, b->sums + at, b->x + at, part_length(b, part),
                           b->carry[part]);
}

/* Scan a block and return `before` plus its sum. */
static uint64_t scan_block(struct scan_block *b, struct thread_pool *pool, uint64_t before)
{
    const size_t parts = (b->n + b->each - 1) / b->each;
    thread_pool_for(pool, parts, true, sum_part, b);
    for (size_t i = 0; i < parts; i++) {
        const uint64_t own = b->carry[i];
        b->carry[i] = before;
        before += own;
    }
    thread_pool_for(pool, parts, true, scan_part, b);
    return before;
}

uint64_t arrays_scan_host_threads(const struct scan_host *host, struct thread_pool **pool,
                                  int bytes, bool inclusive, void *sums, const void *x, size_t n)
{
    const size_t all = n * (size_t)bytes;
    struct scan_block b = {.host = host,
                           .kind = bytes == 8,
                           .inclusive = inclusive,
                           .bytes = (size_t)bytes,
                           .each = PART_BYTES / (size_t)bytes};
    uint64_t before = 0;
    if (all >= THREADS_BYTES && !*pool)
        *pool = thread_pool_create(THREAD_POOL_MOST);
    if (all < THREADS_BYTES || !*pool || (*pool)->threads == 0)
        return host->scan[b.kind](inclusive, sums, x, n, 0);
    const size_t most = b.each * PARTS_EACH * ((*pool)->threads + 1);
    for (size_t i = 0; i < n; i += b.n) {
        b.n = n - i < most ? n - i : most;
        b.sums = (char *)sums + i * b.bytes;
        b.x = (const char *)x + i * b.bytes;
        before = scan_block(&b, *pool, before);
    }
    return before;
}
