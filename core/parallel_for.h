/* parallel_for.h - parts of a piece of work, by as many threads as this process may use processors.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CORE_CREW_H
#define STDCL_CORE_CREW_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

enum { PARALLEL_FOR_MOST = 256 };

struct crew {
    size_t parts;
    atomic_size_t next; /* the first part that nobody has taken */
    void (*work)(void *arg, size_t part);
    void *arg;
};

/* Processors that this process may use, `most` of them at most. */
static inline size_t parallel_for_threads(size_t most)
{
    cpu_set_t set;
    const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < 1 ? 1 : (size_t)count < most ? (size_t)count : most;
}

static inline void *parallel_for_run(void *crew_)
{
    struct crew *crew = crew_;
    size_t part;
    while ((part = atomic_fetch_add(&crew->next, 1)) < crew->parts)
        crew->work(crew->arg, part);
    return NULL;
}

/* Calls work(arg, part) for every part from 0 to parts - 1, each once, in any order and by several
 * threads; returns when all are done. Cannot fail: with fewer threads it only takes longer. */
static inline void parallel_for(size_t parts, void (*work)(void *arg, size_t part), void *arg)
{
    struct crew crew = {parts, 0, work, arg};
    const size_t wanted =
        parallel_for_threads(parts < PARALLEL_FOR_MOST ? parts : PARALLEL_FOR_MOST);
    pthread_t thread[PARALLEL_FOR_MOST];
    size_t started = 0;
    while (started + 1 < wanted &&
           pthread_create(&thread[started], NULL, parallel_for_run, &crew) == 0)
        started++;
    parallel_for_run(&crew);
    for (size_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}

#endif
