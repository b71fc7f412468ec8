/* thread_pool.h - a crew that stays: parts of work that takes less time than starting threads does.
 *
 *   struct team *team = thread_pool_create(most);          threads start at once, and wait
 *   thread_pool_for(team, parts, wakes, work, arg);       as parallel_for (core/parallel_for.h)
 *   thread_pool_free(team);
 *
 * Threads look for more work for THREAD_POOL_SPIN_SECONDS seconds after the last, and sleep then.
 * The caller works too, and waits for nobody who has not begun a part: so work never takes longer
 * than it would alone, but for waking those who sleep. They are woken for work that takes long
 * (`wakes`), or if THREAD_POOL_WAKE_AFTER works have followed each other. Threads that are woken
 * keep off the processor of the caller, who goes on working: the scheduler would put some of them
 * there, beside an idle one. Each thread begins with a share of its own, the same in each work of
 * as many parts, so that what it has read is in its processor's cache the next time; then it takes
 * the last parts of others' shares. One thread at a time calls thread_pool_for of a team.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CORE_TEAM_H
#define STDCL_CORE_TEAM_H

#include "core/clock.h"
#include "core/parallel_for.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define THREAD_POOL_SPIN_SECONDS 1e-4

enum { THREAD_POOL_MOST = 16, THREAD_POOL_WAKE_AFTER = 16 };

/* The parts of a share that nobody has taken: from the low half on, up to the high half. */
struct thread_pool_queue {
    _Alignas(64) atomic_ullong parts;
};

/* What a thread is told. */
struct thread_pool_slot {
    struct team *team;
    size_t share;
};

struct team {
    struct thread_pool_queue
        share[THREAD_POOL_MOST]; /* the caller's is behind those of the threads */
    _Alignas(64) void (*work)(void *arg, size_t part);
    void *arg;
    atomic_bool working; /* there may be parts that nobody has taken; what stands above is as it
                            should be */
    _Alignas(64) atomic_long done; /* parts that are finished */
    _Alignas(64) atomic_int sleeping;
    atomic_bool ending;
    pthread_mutex_t lock; /* of those who sleep */
    pthread_cond_t wake;
    double ended; /* when the last work was done */
    int follows;  /* works before it that followed each other */
    int avoided;  /* the processor that threads keep off; -1: none */
    size_t threads;
    pthread_t thread[THREAD_POOL_MOST];
    struct thread_pool_slot place[THREAD_POOL_MOST];
};

/* Takes a part: the first of one's own share, the last of another's. */
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

/* Does what parts there are, of all shares; false if there was none. */
static inline bool thread_pool_run(struct team *team, size_t mine)
{
    const size_t shares = team->threads + 1;
    long count = 0;
    for (size_t i = 0; i < shares; i++)
        for (size_t part; thread_pool_take(&team->share[(mine + i) % shares], i == 0, &part);
             count++)
            team->work(team->arg, part);
    if (count > 0)
        atomic_fetch_add(&team->done, count);
    return count > 0;
}

/* While one looks again and again: the processor is to take its time. */
static inline void thread_pool_spin(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline void thread_pool_sleep(struct team *team)
{
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->sleeping, 1);
    while (!atomic_load(&team->working) && !atomic_load(&team->ending))
        pthread_cond_wait(&team->wake, &team->lock);
    atomic_fetch_sub(&team->sleeping, 1);
    pthread_mutex_unlock(&team->lock);
}

static inline void *thread_pool_worker(void *place_)
{
    const struct thread_pool_slot *place = place_;
    struct team *team = place->team;
    double since = seconds_now(); /* without work */
    for (unsigned i = 1; !atomic_load(&team->ending); i++)
        if (atomic_load(&team->working) && thread_pool_run(team, place->share)) {
            since = seconds_now();
        } else if (i % 64 == 0 && seconds_now() - since > THREAD_POOL_SPIN_SECONDS) {
            thread_pool_sleep(team);
            since = seconds_now();
        } else {
            thread_pool_spin();
        }
    return NULL;
}

/* As many threads as this process may use processors, `most` of them at most, and the caller is
 * one; NULL if there is no memory. */
static inline struct team *thread_pool_create(size_t most)
{
    const size_t bytes = (sizeof(struct team) + 63) / 64 * 64;
    struct team *team = aligned_alloc(64, bytes);
    const size_t wanted = parallel_for_threads(most < THREAD_POOL_MOST ? most : THREAD_POOL_MOST);
    if (!team)
        return NULL;
    memset(team, 0, bytes);
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->wake, NULL);
    team->avoided = -1;
    size_t n = 0;
    for (bool started = true; started && n + 1 < wanted; n += started) {
        team->place[n] = (struct thread_pool_slot){team, n};
        started = pthread_create(&team->thread[n], NULL, thread_pool_worker, &team->place[n]) == 0;
    }
    team->threads = n;
    return team;
}

/* Threads may run where the caller may, but not where it does now. */
static inline void thread_pool_pin(struct team *team)
{
    const int here = sched_getcpu();
    cpu_set_t set;
    if (here < 0 || here == team->avoided || sched_getaffinity(0, sizeof set, &set) != 0)
        return;
    CPU_CLR((size_t)here, &set);
    for (size_t i = 0; i < team->threads && CPU_COUNT(&set) > 0; i++)
        pthread_setaffinity_np(team->thread[i], sizeof set, &set);
    team->avoided = here;
}

static inline void thread_pool_wake(struct team *team)
{
    pthread_mutex_lock(&team->lock);
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->lock);
}

/* Calls work(arg, part) for every part from 0 to parts - 1, each once, in any order and by several
 * threads; returns when all are done. wakes: it takes longer than a thread needs to wake up, some
 * 20 us. */
static inline void thread_pool_for(struct team *team, size_t parts, bool wakes,
                                   void (*work)(void *arg, size_t part), void *arg)
{
    const unsigned long long shares = team->threads + 1, n = parts;
    team->work = work;
    team->arg = arg;
    atomic_store(&team->done, 0);
    for (unsigned long long i = 0; i < shares; i++)
        atomic_store(&team->share[i].parts, n * i / shares | n * (i + 1) / shares << 32);
    atomic_store(&team->working, true);
    team->follows = seconds_now() - team->ended < THREAD_POOL_SPIN_SECONDS
                        ? team->follows + (team->follows < THREAD_POOL_WAKE_AFTER)
                        : 0;
    if (atomic_load(&team->sleeping) > 0 && (wakes || team->follows >= THREAD_POOL_WAKE_AFTER)) {
        thread_pool_pin(team);
        thread_pool_wake(team);
    }
    thread_pool_run(team, team->threads);
    for (int i = 1; atomic_load(&team->done) < (long)parts; i++)
        if (i % 64 == 0)
            sched_yield();
        else
            thread_pool_spin();
    atomic_store(&team->working, false);
    team->ended = seconds_now();
}

static inline void thread_pool_free(struct team *team)
{
    if (!team)
        return;
    atomic_store(&team->ending, true);
    thread_pool_wake(team);
    for (size_t i = 0; i < team->threads; i++)
        pthread_join(team->thread[i], NULL);
    pthread_cond_destroy(&team->wake);
    pthread_mutex_destroy(&team->lock);
    free(team);
}

#endif
