/* parallel.c - work on parts of a picture or a matrix by all processors.
 * SPDX-License-Identifier: MIT
 */
#include "formats/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

enum { MOST_THREADS = 16 };

struct range {
    void (*work)(void *job, size_t from, size_t to);
    void *job;
    size_t from, to;
};

static void *run(void *to)
{
    const struct range *r = to;
    r->work(r->job, r->from, r->to);
    return NULL;
}

static size_t count_threads(size_t n, size_t least)
{
    cpu_set_t set;
    const int processors = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1; /* that this process may use */
    const size_t useful = n / least, most = processors > MOST_THREADS ? MOST_THREADS : processors > 1 ? (size_t)processors : 1;
    return useful < 1 ? 1 : useful < most ? useful : most;
}

void parallel_ranges(size_t n, size_t least, void (*work)(void *, size_t, size_t), void *job)
{
    const size_t threads = count_threads(n, least);
    struct range range[MOST_THREADS];
    pthread_t thread[MOST_THREADS];
    bool started[MOST_THREADS] = {false};
    for (size_t t = 0; t < threads; t++) {
        range[t] = (struct range){work, job, n * t / threads, n * (t + 1) / threads};
        started[t] = t > 0 && pthread_create(&thread[t], NULL, run, &range[t]) == 0;
    }
    for (size_t t = 0; t < threads; t++)
        if (!started[t])
            run(&range[t]);
    for (size_t t = 1; t < threads; t++)
        if (started[t])
            pthread_join(thread[t], NULL);
}
