/* select_host.c - compaction by flags and of runs, and sums of runs, on the host.
 *
 * Threads take blocks in order (block_chain.h): each counts the elements of its block that are
 * kept, learns how many are kept in all blocks before, and writes its own:
 *
 *     x       | block 0 | block 1 | block 2 |
 *     kept         3         1         2          counted, while the block comes into the cache
 *     out     | 0 0 0 | 1 | 2 2 |
 *
 * Every element is written to a buffer, and the place advances if the element is kept: no branch
 * depends on the flags. A run is summed by the thread that has its first element.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/select_host.h"

#include "arrays/block_chain.h"
#include "arrays/segments_host.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    BLOCK_BYTES = 1 << 17,   /* of x: a block stays in a core's second-level cache */
    BUFFERED = 1024,         /* elements of the buffer */
    THREADS_COUNT = 1 << 17, /* least number of elements for threads */
};

struct select_chain {
    const struct select_host_job *job;
    const struct by_key_host_job *runs; /* NULL: elements are kept; else runs are summed */
    size_t each, carry; /* elements of a block; number kept in all blocks that have passed it on */
    struct block_chain chain;
};

/* In the functions below `bytes` is 4 or 8 and a constant, after inlining. */

INLINE bool is_kept(const struct select_host_job *job, size_t bytes, size_t i)
{
    if (job->flags)
        return job->flags[i] != 0;
    if (bytes == 4)
        return ((const uint32_t *)job->x)[i] != ((const uint32_t *)job->x)[i - 1];
    return ((const uint64_t *)job->x)[i] != ((const uint64_t *)job->x)[i - 1];
}

/* Return how many of the elements from ... end - 1 are kept. */
INLINE size_t count_kept(const struct select_host_job *job, size_t bytes, size_t from, size_t end)
{
    size_t kept = 0;
    if (job->flags) {
        for (size_t i = from; i < end; i++)
            kept += job->flags[i] != 0;
        return kept;
    }
    kept = from == 0 && end > 0; /* nothing is before the first element */
    for (size_t i = from ? from : 1; i < end; i++)
        kept += is_kept(job, bytes, i);
    return kept;
}

/* Write the kept elements of from ... end - 1 and return their number. */
INLINE size_t keep(const struct select_host_job *job, size_t bytes, size_t from, size_t end,
                   char *out)
{
    _Alignas(64) char buffer[BUFFERED * sizeof(uint64_t)];
    const char *const x = job->x;
    size_t kept = 0;
    for (size_t stop; from < end; from = stop) {
        size_t k = 0, i = from;
        stop = end - from < BUFFERED ? end : from + BUFFERED;
        if (i == 0 && !job->flags) {
            memcpy(buffer, x, bytes);
            k = i = 1;
        }
        for (; i < stop; i++) {
            memcpy(buffer + k * bytes, x + i * bytes, bytes);
            k += is_kept(job, bytes, i);
        }
        memcpy(out + kept * bytes, buffer, k * bytes);
        kept += k;
    }
    return kept;
}

/* Return the end of the run that begins at `first`. */
INLINE size_t run_end(const void *keys, size_t bytes, size_t first, size_t n)
{
    size_t end = first + 1;
    if (bytes == 4)
        while (end < n && ((const uint32_t *)keys)[end] == ((const uint32_t *)keys)[first])
            end++;
    else
        while (end < n && ((const uint64_t *)keys)[end] == ((const uint64_t *)keys)[first])
            end++;
    return end;
}

/* Write the runs that begin in from ... end - 1, as run `before` and later ones; return their
 * number. */
INLINE size_t sum_runs(const struct by_key_host_job *job, size_t bytes, size_t from, size_t end,
                       size_t before)
{
    const char *const keys = job->keys;
    size_t runs = 0, i = from;
    if (from > 0)
        i = run_end(keys, bytes, from - 1, end); /* the rest of an earlier run */
    for (size_t next; i < end; i = next, runs++) {
        next = run_end(keys, bytes, i, job->n);
        memcpy((char *)job->unique + (before + runs) * bytes, keys + i * bytes, bytes);
        arrays_segment_sum(job->type, job->values, job->n, i, next, job->sums, before + runs);
    }
    return runs;
}

INLINE size_t select_write(const struct select_chain *c, size_t bytes, size_t from, size_t end,
                           size_t before)
{
    if (c->runs)
        return sum_runs(c->runs, bytes, from, end, before);
    return keep(c->job, bytes, from, end, (char *)c->job->out + before * bytes);
}

INLINE void select_blocks(struct select_chain *c, size_t bytes)
{
    const size_t n = c->job->n;
    for (size_t block; (block = block_chain_take(&c->chain)) < c->chain.blocks;) {
        const size_t from = block * c->each, end = n - from < c->each ? n : from + c->each;
        if (c->chain.blocks == 1) {
            c->carry = select_write(c, bytes, from, end, 0);
            return;
        }
        const size_t kept = count_kept(c->job, bytes, from, end);
        block_chain_wait(&c->chain, block);
        const size_t before = c->carry;
        c->carry += kept;
        block_chain_pass(&c->chain, block);
        select_write(c, bytes, from, end, before);
    }
}

static void select_blocks_of(void *chain, size_t part)
{
    struct select_chain *c = chain;
    (void)part;
    if (c->job->bytes == 4)
        select_blocks(c, 4);
    else
        select_blocks(c, 8);
}

static size_t select_run_host(struct thread_pool **pool, struct select_chain *c)
{
    const size_t n = c->job->n;
    struct thread_pool *const team = block_chain_threads(pool, n >= THREADS_COUNT);
    c->each = team ? BLOCK_BYTES / c->job->bytes : n;
    c->chain.blocks = n ? (n + c->each - 1) / c->each : 0;
    block_chain_run(team, select_blocks_of, c);
    return c->carry;
}

size_t arrays_select_host(struct thread_pool **pool, const struct select_host_job *job)
{
    struct select_chain c = {.job = job};
    return select_run_host(pool, &c);
}

size_t arrays_by_key_host(struct thread_pool **pool, const struct by_key_host_job *job)
{
    const struct select_host_job heads = {.x = job->keys, .bytes = job->bytes, .n = job->n};
    struct select_chain c = {.job = &heads, .runs = job};
    return select_run_host(pool, &c);
}
