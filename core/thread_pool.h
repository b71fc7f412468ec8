/* thread_pool.h - a thread pool for loops that take less time than starting threads.
 *
 *   struct thread_pool *pool = thread_pool_create(most);   threads start at once and wait
 *   thread_pool_for(pool, parts, wakes, work, arg);        as parallel_for (core/parallel_for.h)
 *   thread_pool_free(pool);
 *
 * Threads spin for THREAD_POOL_SPIN_SECONDS after a loop, then sleep. The caller works too and
 * never waits for a thread that has not begun a part, so a loop takes at most the time it would
 * take alone plus the time to wake threads. Sleeping threads are woken for long loops (`wakes`) or
 * after THREAD_POOL_WAKE_AFTER loops in close succession. Woken threads avoid the caller's
 * processor, where the scheduler would otherwise place some of them beside an idle one. Each thread
 * begins with its own range of parts, the same in each loop of the same length, so that its data is
 * in its processor's cache; then it steals the last parts of other ranges. One thread at a time
 * calls thread_pool_for.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CORE_THREAD_POOL_H
#define STDCL_CORE_THREAD_POOL_H

#include "core/clock.h"
#include "core/parallel_for.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define THREAD_POOL_SPIN_SECONDS 1e-4

enum { THREAD_POOL_MOST = 16, THREAD_POOL_WAKE_AFTER = 16 };

/* The untaken parts of a range: first in the low half, end in the high half. */
struct thread_pool_queue {
    _Alignas(64) atomic_ullong parts;
};

/* Argument of a thread. */
struct thread_pool_slot {
    struct thread_pool *pool;
    size_t share;
};

struct thread_pool {
    struct thread_pool_queue share[THREAD_POOL_MOST]; /* the last range is the caller's */
    _Alignas(64) void (*work)(void *arg, size_t part);
    void *arg;
    atomic_bool working;           /* there may be untaken parts; the members above are valid */
    _Alignas(64) atomic_long done; /* number of finished parts */
    _Alignas(64) atomic_int sleeping;
    atomic_bool ending;
    pthread_mutex_t lock; /* for sleeping threads */
    pthread_cond_t wake;
    double ended;  /* time of the last loop's end */
    int follows;   /* number of loops in close succession */
    int avoided;   /* processor that threads avoid; -1: none */
    pid_t process; /* that created the pool: a forked child has none of the threads */
    size_t threads;
    pthread_t thread[THREAD_POOL_MOST];
    struct thread_pool_slot place[THREAD_POOL_MOST];
};

/* Take a part: the first of the own range, the last of another. */
static inline bool thread_pool_take(struct thread_pool_queue *share, bool own, size_t *part)
{
    unsigned long long parts = atomic_load(&share->parts);
    for (;;) {
        const unsigned long long first = parts & 0xFFFFFFFF, end = parts >> 32;
        if (first >= end)
            return false;
        *part = (size_t)(own ? first : end - 1);
        if (atomic_compare_exchange_weak(&share->parts, &parts,
                                         own ? parts + 1 : parts - (1ULL << 32)))
            return true;
    }
}

/* Run parts of all ranges; false if there was none. */
static inline bool thread_pool_run(struct thread_pool *pool, size_t mine)
{
    const size_t shares = pool->threads + 1;
    long count = 0;
    for (size_t i = 0; i < shares; i++)
        for (size_t part; thread_pool_take(&pool->share[(mine + i) % shares], i == 0, &part);
             count++)
            pool->work(pool->arg, part);
    if (count > 0)
        atomic_fetch_add(&pool->done, count);
    return count > 0;
}

/* Hint to the processor inside a spin loop. */
static inline void thread_pool_spin(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline void thread_pool_sleep(struct thread_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleeping, 1);
    while (!atomic_load(&pool->working) && !atomic_load(&pool->ending))
        pthread_cond_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleeping, 1);
    pthread_mutex_unlock(&pool->lock);
}

static inline void *thread_pool_worker(void *place_)
{
    const struct thread_pool_slot *place = place_;
    struct thread_pool *pool = place->pool;
    double since = seconds_now(); /* idle since */
    for (unsigned i = 1; !atomic_load(&pool->ending); i++)
        if (atomic_load(&pool->working) && thread_pool_run(pool, place->share)) {
            since = seconds_now();
        } else if (i % 64 == 0 && seconds_now() - since > THREAD_POOL_SPIN_SECONDS) {
            thread_pool_sleep(pool);
            since = seconds_now();
        } else {
            thread_pool_spin();
        }
    return NULL;
}

/* Create a pool with as many threads as the process has processors, at most `most`, the caller
 * included; NULL if out of memory. */
static inline struct thread_pool *thread_pool_create(size_t most)
{
    const size_t bytes = (sizeof(struct thread_pool) + 63) / 64 * 64;
    struct thread_pool *pool = aligned_alloc(64, bytes);
    const size_t wanted = parallel_for_threads(most < THREAD_POOL_MOST ? most : THREAD_POOL_MOST);
    if (!pool)
        return NULL;
    memset(pool, 0, bytes);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pool->avoided = -1;
    pool->process = getpid();
    size_t n = 0;
    for (bool started = true; started && n + 1 < wanted; n += started) {
        pool->place[n] = (struct thread_pool_slot){pool, n};
        started = pthread_create(&pool->thread[n], NULL, thread_pool_worker, &pool->place[n]) == 0;
    }
    pool->threads = n;
    return pool;
}

/* Exclude the caller's current processor from the threads' affinity. */
static inline void thread_pool_pin(struct thread_pool *pool)
{
    const int here = sched_getcpu();
    cpu_set_t set;
    if (here < 0 || here == pool->avoided || sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    CPU_CLR((size_t)here, &set);
    for (size_t i = 0; i < pool->threads && CPU_COUNT(&set) > 0; i++)
        pthread_setaffinity_np(pool->thread[i], sizeof set, &set);
    pool->avoided = here;
}

static inline void thread_pool_wake(struct thread_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

/* Call work(arg, part) for every part from 0 to parts - 1, each once, in any order, on several
 * threads. Blocks until all are done. wakes: the loop takes longer than waking a thread, about 20
 * us. */
static inline void thread_pool_for(struct thread_pool *pool, size_t parts, bool wakes,
                                   void (*work)(void *arg, size_t part), void *arg)
{
    const unsigned long long shares = pool->threads + 1, n = parts;
    pool->work = work;
    pool->arg = arg;
    atomic_store(&pool->done, 0);
    for (unsigned long long i = 0; i < shares; i++)
        atomic_store(&pool->share[i].parts, n * i / shares | n * (i + 1) / shares << 32);
    atomic_store(&pool->working, true);
    pool->follows = seconds_now() - pool->ended < THREAD_POOL_SPIN_SECONDS
                        ? pool->follows + (pool->follows < THREAD_POOL_WAKE_AFTER)
                        : 0;
    if (atomic_load(&pool->sleeping) > 0 && (wakes || pool->follows >= THREAD_POOL_WAKE_AFTER)) {
        thread_pool_pin(pool);
        thread_pool_wake(pool);
    }
    thread_pool_run(pool, pool->threads);
    for (int i = 1; atomic_load(&pool->done) < (long)parts; i++)
        if (i % 64 == 0)
            sched_yield();
        else
            thread_pool_spin();
    atomic_store(&pool->working, false);
    pool->ended = seconds_now();
}

static inline void thread_pool_free(struct thread_pool *pool)
{
    if (!pool || pool->process != getpid())
        return;
    atomic_store(&pool->ending, true);
    thread_pool_wake(pool);
    for (size_t i = 0; i < pool->threads; i++)
        pthread_join(pool->thread[i], NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

#endif
