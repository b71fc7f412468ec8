/* block_chain.h - threads of the host take the blocks of an array in order. Each block passes the
 * sum of all elements so far on to the next block.
 *
 *   struct thread_pool *team = block_chain_threads(&pool, large);   NULL: the caller alone
 *   block_chain_run(team, work, arg);           work(arg, 0) in each thread, with a loop such as:
 *     while ((block = block_chain_take(&c)) < c.blocks) {
 *         ...                                   sums the block
 *         block_chain_wait(&c, block);          the sum before the block is known, and ours to read
 *         ...                                   adds the block's sum to it
 *         block_chain_pass(&c, block);          for the next block
 *         ...                                   writes the results of the block
 *     }
 *
 * A thread waits for earlier blocks only, so the one with the earliest block never waits.
 * SPDX-License-Identifier: MIT
 */
#ifndef ARRAYS_BLOCK_CHAIN_H
#define ARRAYS_BLOCK_CHAIN_H

#include "core/thread_pool.h"

struct block_chain {
    size_t blocks;
    _Alignas(64) atomic_size_t taken; /* number of taken blocks */
    _Alignas(64) atomic_size_t turn;  /* number of blocks that have passed on */
};

/* Take the next block; c->blocks or more: none is left. */
static inline size_t block_chain_take(struct block_chain *c)
{
    return atomic_fetch_add(&c->taken, 1);
}

/* Wait until all earlier blocks have passed on. */
static inline void block_chain_wait(struct block_chain *c, size_t block)
{
    for (int i = 1; atomic_load_explicit(&c->turn, memory_order_acquire) != block; i++)
        if (i % 64 == 0)
            sched_yield();
        else
            thread_pool_spin();
}

static inline void block_chain_pass(struct block_chain *c, size_t block)
{
    atomic_store_explicit(&c->turn, block + 1, memory_order_release);
}

/* Return the threads for a large array, created when they are first needed; NULL: none. */
static inline struct thread_pool *block_chain_threads(struct thread_pool **pool, bool large)
{
    if (large && !*pool)
        *pool = thread_pool_create(THREAD_POOL_MOST);
    return large && *pool && (*pool)->threads ? *pool : NULL;
}

static inline void block_chain_run(struct thread_pool *team, void (*work)(void *arg, size_t part),
                                   void *arg)
{
    if (team)
        thread_pool_for(team, team->threads + 1, true, work, arg);
    else
        work(arg, 0);
}

#endif
