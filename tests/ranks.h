/* ranks.h - run a function in ranks that are threads of one process. Errors are collected and
 * checked after all ranks have returned, since cmocka's assertions belong in the main thread.
 * SPDX-License-Identifier: MIT
 */
#ifndef RANKS_H
#define RANKS_H

#include "check.h"

#include "world/internal.h"
#include "world/threads.h"

#include <stdatomic.h>
#include <stdio.h>

enum { MOST_RANKS = 8 };

struct rank_run { /* state of one rank */
    stdcl_world *world;
    struct threads *threads;
    const char *host;
    const struct world_options *options;
    bool polled;
    int rank, size;
    /* Return 0, or -1 with clerror(). Leaves the world itself if `leaves`. */
    int (*run)(struct rank_run *r);
    bool leaves;
    void *arg;
    atomic_int *failed; /* 1 + the rank that failed first and aborted the remaining ranks; NULL: a
                           failure aborts no rank */
    int status;
    char sentence[2000];
};

static inline void *rank_thread(void *run)
{
    struct rank_run *r = run;
    r->world = world_of_threads(r->threads, r->rank, r->host, r->polled, r->options);
    r->status = r->world ? r->run(r) : -1;
    const char *sentence = r->status != 0 ? clerror() : NULL;
    snprintf(r->sentence, sizeof r->sentence, "%s", sentence ? sentence : "");
    int nobody = 0;
    if (r->status != 0 && r->failed &&
        atomic_compare_exchange_strong(r->failed, &nobody, r->rank + 1))
        threads_stop(r->threads);
    if (r->world && !r->leaves)
        world_leave(r->world);
    return NULL;
}

/* How ranks run; zero means default. */
struct ranks_how {
    unsigned delay, seed;
    bool polled, leaves;
    atomic_int *failed;
    const char *const *hosts; /* NULL: one host */
    const struct world_options *options;
    struct orders *orders; /* arrival order of messages, or NULL */
    int what;              /* mail that does: ORDER_USER, ... */
    void *arg;
};

/* Run `run` in `size` ranks; runs[] receives each rank's error. */
static inline void ranks_run(int size, int (*run)(struct rank_run *r), struct ranks_how how,
                             struct rank_run *runs)
{
    pthread_t thread[MOST_RANKS];
    struct threads *threads = threads_create(size, how.delay, how.seed);
    if (how.orders)
        threads_order(threads, how.orders);
    for (int r = 0; r < size; r++) {
        runs[r] = (struct rank_run){.threads = threads,
                                    .host = how.hosts ? how.hosts[r] : "host",
                                    .options = how.options,
                                    .polled = how.polled || how.orders,
                                    .rank = r,
                                    .size = size,
                                    .run = run,
                                    .leaves = how.leaves,
                                    .failed = how.failed,
                                    .arg = how.arg};
        assert_int_equal(pthread_create(&thread[r], NULL, rank_thread, &runs[r]), 0);
    }
    for (int r = 0; r < size; r++)
        pthread_join(thread[r], NULL);
    threads_free(threads);
}

/* Run `run` in `size` ranks. Fail with the first rank's error unless all succeed. */
static inline void ranks_work(int size, int (*run)(struct rank_run *r), struct ranks_how how)
{
    struct rank_run runs[MOST_RANKS];
    atomic_int failed = 0;
    how.failed = &failed;
    ranks_run(size, run, how, runs);
    if (failed)
        fail_msg("rank %d of %d: %s", failed - 1, size, runs[failed - 1].sentence);
}

/* Run in every possible arrival order of messages, at most `most` of them, or in `most` random
 * orders if `seed` is not 0; with sends copied at once, not copied, and alternately. All runs
 * must succeed, with equal results if `alike`. Return the number of distinct arrival orders of
 * the caller's own messages. */
static inline size_t ranks_in_every_order(int size, int (*run)(struct rank_run *r),
                                          struct ranks_how how, unsigned most, uint64_t seed,
                                          bool alike)
{
    size_t seen = 0;
    struct orders *orders = calloc(1, sizeof *orders);
    uint64_t *sequence = calloc(3 * (size_t)most, sizeof *sequence);
    assert_true(orders && sequence);
    how.orders = orders;
    for (int copies = 0; copies < 3; copies++) {
        unsigned count = 0;
        *orders = (struct orders){.copies = copies,
                                  .random = seed + (seed ? (uint64_t)copies : 0),
                                  .what = how.what,
                                  .timeout = 60};
        do {
            size_t k = 0;
            ranks_work(size, run, how);
            assert_false(alike && orders->diverged);
            while (k < seen && sequence[k] != orders->sequence)
                k++;
            sequence[k] = orders->sequence;
            seen += k == seen;
            orders->planned = 0;
        } while (++count < most && (seed || orders_next(orders)));
    }
    free(orders);
    free(sequence);
    return seen;
}

#endif
