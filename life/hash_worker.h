/* hash_worker.h - state of a thread of HashLife.
 * SPDX-License-Identifier: MIT
 */
#ifndef LIFE_HASH_WORKER_H
#define LIFE_HASH_WORKER_H

#include "life/hash_pool.h"

#include <pthread.h>
#include <stdbool.h>

/* Nodes of one level whose results a thread computes together (hash_result.c). */
enum { BATCH = 64, WANTED_MOST = 9 * BATCH };
struct batch {
    unsigned own, deferred; /* wanted squares: `own` at the front, and at the end `deferred`, which
                            another thread has begun */
    unsigned n;             /* items in use */
    square_t wanted[WANTED_MOST], result[WANTED_MOST];
    struct item {
        square_t square;
        unsigned at, left; /* index in `wanted`; bit mask of unknown results among the nine or four
                              it needs */
        struct {
            square_t wanted[9], result[9], four[4]; /* one level lower; two; two */
        } need;
    } item[BATCH];
};

/* Next states of the 2 x 2 cells in the middle of 4 x 4 cells, under a rule file's tree: an entry
 * of a cache (hash_states.c). Zeros are a valid entry: empty space stays empty. */
enum { STATES_BLOCKS = 4096 };
struct states_block {
    uint64_t upper, lower; /* two rows each */
    uint32_t next;
};

/* State of a thread. Squares in its batches and on its stack survive collections. */
enum { STACK = 32 * NODE_LEVELS };
struct worker {
    struct hashlife *h;
    uint8_t id;       /* id, from 1 on */
    bool reverse;     /* process wanted squares from the last to the first */
    unsigned items;   /* begun since the last poll */
    uint64_t results; /* of nodes, computed since the plane was created */
    bool (*poll)(struct worker *w);
    pthread_t thread;
    struct spare {
        square_t first; /* free list of entries reserved for this thread */
        unsigned n;
    } nodes, leaves;
    _Alignas(64) square_t part[BATCH][5][4]; /* parts of the nodes to find */
    uint32_t place[BATCH][5]; /* their hashes; cut to the size of the table when they are used,
                                 since it may grow */
    struct batch batch[NODE_LEVELS]; /* by level */
    size_t depth;
    struct stacked {
        square_t square;
        int level;
    } stack[STACK];
    struct states_block block[STATES_BLOCKS];
};

#endif
