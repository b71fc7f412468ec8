/* scan_host_threads.c - prefix sums on the host: division among threads.
 *
 * Memory is read once. A thread takes block after block. While it scans one, which is in its
 * cache, it prefetches the next one that it will scan, and then sums that one:
 *
 *     thread A   sum 0, scan 0, sum 2, scan 2, sum 4 ...
 *     thread B   sum 1, scan 1, sum 3, scan 3, sum 5 ...
 *     carry      0   s0  s0+s1  ...      from block to block, as soon as a block is summed
 *
 * The prefetches, into the second-level cache, overlap with the scan; a sum of the next block in
 * the loop that scans did not (bench/studies/cpu-scans.json). Threads write past the caches: at
 * 16 MiB and more two cores copy faster that way. One thread scans integers in one block and writes
 * through the caches.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/scan_host_threads.h"

#include "arrays/block_chain.h"

enum {
    BLOCK_BYTES = 1 << 17,   /* two blocks fit a core's second-level cache */
    THREADS_BYTES = 1 << 24, /* arrays from this size on are divided among threads */
    STREAM_ALIGN = 64,
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

/* A job in blocks. */
struct scan_chain {
    const struct scan_host *host;
    const struct scan_host_job *job;
    bool stream;
    size_t bytes, each; /* of a number; numbers of a block */
    union scan_number total;
    struct block_chain chain;
    union scan_number carry; /* the sum of all blocks that have passed it on */
};

static const char *block_start(const struct scan_chain *c, size_t block)
{
    return (const char *)c->job->x + block * c->each * c->bytes;
}

static size_t block_length(const struct scan_chain *c, size_t block)
{
    const size_t left = block < c->chain.blocks ? c->job->n - block * c->each : 0;
    return left < c->each ? left : c->each;
}

/* Return the sum of all blocks before this one; add the block's own for the next block. */
static union scan_number chain_carry(struct scan_chain *c, size_t block, union scan_number sum)
{
    block_chain_wait(&c->chain, block);
    const union scan_number before = c->carry;
    if (c->job->kind < SCAN_HOST_FLOAT)
        c->carry.whole += sum.whole;
    else
        c->carry.real += sum.real;
    block_chain_pass(&c->chain, block);
    return before;
}

/* Scan a block, given the sum of its numbers, and prefetch block `next`. */
static void chain_scan(struct scan_chain *c, size_t block, union scan_number sum, size_t next)
{
    /* the last block may be shorter */
    const size_t prefetched = next + 1 < c->chain.blocks ? next : block;
    struct scan_block b = {.inclusive = c->job->inclusive,
                           .stream = c->stream,
                           .sums = (char *)c->job->sums + block * c->each * c->bytes,
                           .x = block_start(c, block),
                           .n = block_length(c, block),
                           .next = block_start(c, prefetched),
                           .before = chain_carry(c, block, sum)};
    c->host->scan[c->job->kind](&b);
    if (block + 1 == c->chain.blocks)
        c->total = b.before;
}

static void scan_blocks(void *chain, size_t part)
{
    struct scan_chain *c = chain;
    size_t block = block_chain_take(&c->chain);
    (void)part;
    while (block < c->chain.blocks) {
        union scan_number sum = {0};
        if (c->chain.blocks > 1)
            sum = c->host->sum[c->job->kind](block_start(c, block), block_length(c, block));
        const size_t next = block_chain_take(&c->chain);
        chain_scan(c, block, sum, next);
        block = next;
    }
}

union scan_number arrays_scan_host_threads(const struct scan_host *host, struct thread_pool **pool,
                                           const struct scan_host_job *job)
{
    const size_t bytes = job->kind % 2 ? 8 : 4, size = job->n * bytes;
    struct thread_pool *const team = block_chain_threads(pool, size >= THREADS_BYTES);
    struct scan_chain c = {.host = host,
                           .job = job,
                           .bytes = bytes,
                           .each = BLOCK_BYTES / bytes,
                           .stream = team && job->sums != job->x &&
                                     (uintptr_t)job->sums % STREAM_ALIGN == 0};
    if (!team && job->kind < SCAN_HOST_FLOAT && job->n)
        c.each = job->n; /* integers by one thread: in one block */
    c.chain.blocks = (job->n + c.each - 1) / c.each;
    block_chain_run(team, scan_blocks, &c);
    return c.total;
}
