/* team.h - a crew that stays: parts of work that takes less time than starting threads does.
 *
 *   struct team *team = team_create(most);          threads start at once, and wait
 *   team_work(team, parts, wakes, work, arg);       as crew_work (core/crew.h)
 *   team_free(team);
 *
 * Threads look for more work for TEAM_LOOKS seconds after the last, and sleep then. The caller
 * works too, and waits for nobody who has not begun a part: so work never takes longer than it
 * would alone, but for waking those who sleep. They are woken for work that takes long (`wakes`),
 * or if TEAM_FOLLOWS works have followed each other. Threads that are woken keep off the processor
 * of the caller, who goes on working: the scheduler would put some of them there, beside an idle
 * one. Each thread begins with a share of its own, the same in each work of as many parts, so that
 * what it has read is in its processor's cache the next time; then it takes the last parts of
 * others' shares. One thread at a time calls team_work of a team.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CORE_TEAM_H
#define STDCL_CORE_TEAM_H

#include "core/clock.h"
#include "core/crew.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TEAM_LOOKS 1e-4

enum { TEAM_MOST = 16, TEAM_FOLLOWS = 16 };

/* The parts of a share that nobody has taken: from the low half on, up to the high half. */
struct team_share {
    _Alignas(64) atomic_ullong parts;
};

/* What a thread is told. */
struct team_place {
    struct team *team;
    size_t share;
};

struct team {
    struct team_share share[TEAM_MOST]; /* the caller's is behind those of the threads */
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
    pthread_t thread[TEAM_MOST];
    struct team_place place[TEAM_MOST];
};

/* Takes a part: the first of one's own share, the last of another's. */
static inline bool team_take(struct team_share *share, bool own, size_t *part)
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
static inline bool team_do(struct team *team, size_t mine)
{
    const size_t shares = team->threads + 1;
    long count = 0;
    for (size_t i = 0; i < shares; i++)
        for (size_t part; team_take(&team->share[(mine + i) % shares], i == 0, &part); count++)
            team->work(team->arg, part);
    if (count > 0)
        atomic_fetch_add(&team->done, count);
    return count > 0;
}

/* While one looks again and again: the processor is to take its time. */
static inline void team_pause(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline void team_sleep(struct team *team)
{
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->sleeping, 1);
    while (!atomic_load(&team->working) && !atomic_load(&team->ending))
        pthread_cond_wait(&team->wake, &team->lock);
    atomic_fetch_sub(&team->sleeping, 1);
    pthread_mutex_unlock(&team->lock);
}

static inline void *team_member(void *place_)
{
    const struct team_place *place = place_;
    struct team *team = place->team;
    double since = seconds_now(); /* without work */
    for (unsigned i = 1; !atomic_load(&team->ending); i++)
        if (atomic_load(&team->working) && team_do(team, place->share)) {
            since = seconds_now();
        } else if (i % 64 == 0 && seconds_now() - since > TEAM_LOOKS) {
            team_sleep(team);
            since = seconds_now();
        } else {
            team_pause();
        }
    return NULL;
}

/* As many threads as this process may use processors, `most` of them at most, and the caller is
 * one; NULL if there is no memory. */
static inline struct team *team_create(size_t most)
{
    const size_t bytes = (sizeof(struct team) + 63) / 64 * 64;
    struct team *team = aligned_alloc(64, bytes);
    const size_t wanted = crew_size(most < TEAM_MOST ? most : TEAM_MOST);
    if (!team)
        return NULL;
    memset(team, 0, bytes);
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->wake, NULL);
    team->avoided = -1;
    size_t n = 0;
    for (bool started = true; started && n + 1 < wanted; n += started) {
        team->place[n] = (struct team_place){team, n};
        started = pthread_create(&team->thread[n], NULL, team_member, &team->place[n]) == 0;
    }
    team->threads = n;
    return team;
}

/* Threads may run where the caller may, but not where it does now. */
static inline void team_avoid(struct team *team)
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

static inline void team_wake(struct team *team)
{
    pthread_mutex_lock(&team->lock);
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->lock);
}

/* Calls work(arg, part) for every part from 0 to parts - 1, each once, in any order and by several
 * threads; returns when all are done. wakes: it takes longer than a thread needs to wake up, some
 * 20 us. */
static inline void team_work(struct team *team, size_t parts, bool wakes,
                             void (*work)(void *arg, size_t part), void *arg)
{
    const unsigned long long shares = team->threads + 1, n = parts;
    team->work = work;
    team->arg = arg;
    atomic_store(&team->done, 0);
    for (unsigned long long i = 0; i < shares; i++)
        atomic_store(&team->share[i].parts, n * i / shares | n * (i + 1) / shares << 32);
    atomic_store(&team->working, true);
    team->follows = seconds_now() - team->ended < TEAM_LOOKS
                        ? team->follows + (team->follows < TEAM_FOLLOWS)
                        : 0;
    if (atomic_load(&team->sleeping) > 0 && (wakes || team->follows >= TEAM_FOLLOWS)) {
        team_avoid(team);
        team_wake(team);
    }
    team_do(team, team->threads);
    for (int i = 1; atomic_load(&team->done) < (long)parts; i++)
        if (i % 64 == 0)
            sched_yield();
        else
            team_pause();
    atomic_store(&team->working, false);
    team->ended = seconds_now();
}

static inline void team_free(struct team *team)
{
    if (!team)
        return;
    atomic_store(&team->ending, true);
    team_wake(team);
    for (size_t i = 0; i < team->threads; i++)
        pthread_join(team->thread[i], NULL);
    pthread_cond_destroy(&team->wake);
    pthread_mutex_destroy(&team->lock);
    free(team);
}

#endif
