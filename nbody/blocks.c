/* blocks.c - many bodies, block by block, by as many threads as there are processors; see blocks.h.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/blocks.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MOST_THREADS = 256 };

struct crew {
    size_t n, blocks;
    atomic_size_t next; /* the first block that nobody has taken */
    void (*work)(void *arg, size_t block, size_t first, size_t end);
    void *arg;
};

size_t nbody_blocks(size_t n)
{
    return n / BODIES_OF_A_BLOCK + (n % BODIES_OF_A_BLOCK > 0);
}

static void *take_blocks(void *crew_)
{
    struct crew *crew = crew_;
    size_t block;
    while ((block = atomic_fetch_add(&crew->next, 1)) < crew->blocks) {
        const size_t first = block * BODIES_OF_A_BLOCK, rest = crew->n - first;
        crew->work(crew->arg, block, first, first + (rest < BODIES_OF_A_BLOCK ? rest : BODIES_OF_A_BLOCK));
    }
    return NULL;
}

/* Processors that this process may use. */
static size_t processors(void)
{
    cpu_set_t set;
    const int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count < 1 ? 1 : count < MOST_THREADS ? (size_t)count : MOST_THREADS;
}

void nbody_each_block(size_t n, void (*work)(void *arg, size_t block, size_t first, size_t end), void *arg)
{
    struct crew crew = {n, nbody_blocks(n), 0, work, arg};
    const size_t wanted = processors() < crew.blocks ? processors() : crew.blocks;
    pthread_t thread[MOST_THREADS];
    size_t started = 0;
    while (started + 1 < wanted && pthread_create(&thread[started], NULL, take_blocks, &crew) == 0)
        started++; /* with fewer threads it only takes longer */
    take_blocks(&crew);
    for (size_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}
