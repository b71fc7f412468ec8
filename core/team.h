/* team.h - a crew that stays: parts of work that takes less time than starting threads does.
 *
 *   struct team *team = team_create(most);          threads start at once, and wait
 *   team_work(team, parts, work, arg);              as crew_work (core/crew.h)
 *   team_free(team);
 *
 * Threads look for more work for TEAM_LOOKS seconds after the last, giving way to others, and sleep then. The caller works too, and
 * waits for nobody who has not begun a part: so work never takes longer than it would alone, but for waking those who sleep.
 * One thread at a time calls team_work of a team.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CORE_TEAM_H
#define STDCL_CORE_TEAM_H

#include "core/clock.h"
#include "core/crew.h"

#include <stdbool.h>
#include <stdlib.h>

#define TEAM_LOOKS 1e-4

enum { TEAM_MOST = 16, TEAM_WAKES_FROM = 4 }; /* fewer parts are done before a thread that sleeps has woken up */

struct team {
    void (*work)(void *arg, size_t part);
    void *arg;
    atomic_long left;     /* parts that nobody has taken; none if it is not positive */
    atomic_long done;     /* parts that are finished */
    atomic_int sleeping;
    atomic_bool ending;
    pthread_mutex_t lock; /* of those who sleep */
    pthread_cond_t wake;
    size_t threads;
    pthread_t thread[TEAM_MOST];
};

static inline void team_take(struct team *team)
{
    long left;
    while (atomic_load(&team->left) > 0 && (left = atomic_fetch_sub(&team->left, 1)) > 0) {
        team->work(team->arg, (size_t)left - 1);
        atomic_fetch_add(&team->done, 1);
    }
}

/* Until there is work, or none will come. */
static inline void team_look(struct team *team)
{
    const double until = seconds_now() + TEAM_LOOKS;
    while (seconds_now() < until) {
        for (int i = 0; i < 64; i++)
            if (atomic_load(&team->left) > 0 || atomic_load(&team->ending))
                return;
        sched_yield();
    }
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->sleeping, 1);
    while (atomic_load(&team->left) <= 0 && !atomic_load(&team->ending))
        pthread_cond_wait(&team->wake, &team->lock);
    atomic_fetch_sub(&team->sleeping, 1);
    pthread_mutex_unlock(&team->lock);
}

static inline void *team_member(void *team)
{
    while (!atomic_load(&((struct team *)team)->ending)) {
        team_take(team);
        team_look(team);
    }
    return NULL;
}

/* As many threads as this process may use processors, `most` of them at most, and the caller is one; NULL if there is no memory. */
static inline struct team *team_create(size_t most)
{
    struct team *team = calloc(1, sizeof *team);
    const size_t wanted = crew_size(most < TEAM_MOST ? most : TEAM_MOST);
    if (!team)
        return NULL;
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->wake, NULL);
    while (team->threads + 1 < wanted && pthread_create(&team->thread[team->threads], NULL, team_member, team) == 0)
        team->threads++;
    return team;
}

static inline void team_wake(struct team *team)
{
    pthread_mutex_lock(&team->lock);
    pthread_cond_broadcast(&team->wake);
    pthread_mutex_unlock(&team->lock);
}

/* Calls work(arg, part) for every part from 0 to parts - 1, each once, in any order and by several threads; returns when all are
 * done. */
static inline void team_work(struct team *team, size_t parts, void (*work)(void *arg, size_t part), void *arg)
{
    team->work = work;
    team->arg = arg;
    atomic_store(&team->done, 0);
    atomic_store(&team->left, (long)parts);
    if (parts >= TEAM_WAKES_FROM && atomic_load(&team->sleeping) > 0)
        team_wake(team);
    team_take(team);
    for (int i = 0; atomic_load(&team->done) < (long)parts; i++)
        if (i % 64 == 63)
            sched_yield();
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
