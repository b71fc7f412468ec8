/* threads.h - ranks as threads of one process: for tests, and for a world of one rank.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_WORLD_THREADS_H
#define STDCL_WORLD_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "stdcl/world.h"

/* Ranks as threads of one process. Each rank calls world_of_threads with the same `threads`,
 * created for `size` ranks. delay: every message is late by a random time of up to `delay`
 * microseconds, drawn with `seed`. polled: no progress thread. */
struct threads;
struct threads *threads_create(int size, unsigned delay, unsigned seed);
void threads_free(struct threads *threads);
/* Let every transfer fail from now on, as if a rank had died. */
void threads_stop(struct threads *threads);

/* An order of arrival, one message after another: a message arrives only when no rank can continue
 * without one. If several messages could arrive next, choice[k] selects one of of[k]. The first
 * `planned` choices are given; later ones are the first, or random if `random` is not 0. Ranks
 * poll. Sends are buffered: always (1), never (0) or alternately (2). */
enum { ORDERS_MOST = 4096 };
struct orders {
    uint64_t random;
    int copies, planned, made;
    enum {
        ORDER_USER,
        ORDER_COLLECTIVE,
        ORDER_ALL
    } what; /* which messages are ordered: the callers'; also of collectives; or all. The rest
               arrive at once */
    unsigned short choice[ORDERS_MOST], of[ORDERS_MOST];
    uint64_t sequence; /* hash of the arrival order of callers' messages */
    bool diverged;     /* a planned choice had another number of messages: the program is not
                          deterministic */
    bool stuck; /* deadlock: all ranks waited for `timeout` seconds and no message could arrive */
    double timeout;
};
void threads_order(struct threads *threads, struct orders *orders);
/* Plan the order after the one that was run; false after the last. */
bool orders_next(struct orders *orders);

stdcl_world *world_of_threads(struct threads *threads, int rank, const char *host, bool polled,
                              const struct world_options *options);

#endif
