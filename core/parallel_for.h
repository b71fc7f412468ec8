/* parallel_for.h - a parallel loop on as many threads as the process has processors.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CORE_PARALLEL_FOR_H
#define STDCL_CORE_PARALLEL_FOR_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

enum { PARALLEL_FOR_MOST = 256 };

struct parallel_loop {
    size_t parts;
    atomic_size_t next; /* next untaken part */
    void (*work)(void *arg, size_t part);
    void *arg;
};

/* Number of processors of this process, at most `most`. */
static inline size_t parallel_for_threads(size_t most)
{
    cpu_set_t set;
    const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < 1 ? 1 : (size_t)count < most ? (size_t)count : most;
}

static inline void *parallel_for_run(void *loop_)
{
    struct parallel_loop *loop = loop_;
    size_t part;
    while ((part = atomic_fetch_add(&loop->next, 1)) < loop->parts)
        loop->work(loop->arg, part);
    return NULL;
}

/* Call work(arg, part) for every part from 0 to parts - 1, each once, in any order, on several
 * threads. Blocks until all are done. Cannot fail: with fewer threads it takes longer. */
static inline void parallel_for(size_t parts, void (*work)(void *arg, size_t part), void *arg)
{
    struct parallel_loop loop = {parts, 0, work, arg};
    const size_t wanted =
        parallel_for_threads(parts < PARALLEL_FOR_MOST ? parts : PARALLEL_FOR_MOST);
    pthread_t thread[PARALLEL_FOR_MOST];
    size_t started = 0;
    while (started + 1 < wanted &&
           pthread_create(&thread[started], NULL, parallel_for_run, &loop) == 0)
        started++;
    parallel_for_run(&loop);
    for (size_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}

#endif
