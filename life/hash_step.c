/* hash_step.c - the plane some generations on, by one thread or several.
 *
 * Several threads compute the same root, as the workers of one do (hash_result.c). When the first has the root, the others leave.
 * SPDX-License-Identifier: MIT
 */
#include "life/hash.h"

#include "core/clock.h"

#include <errno.h>
#include <string.h>

/* Turns of the workers between looks at the clock, a millisecond or two. */
enum { LOOK = 1 << 11 };
static const double TELL = 0.1, /* seconds */
    ALONE = 0.1;                /* before others help: what is done sooner may be one long chain, at which they would only be in the way */

static void start_helpers(struct hashlife *h);

/* In the calling thread, now and then: lets others help, and tells the caller. */
static bool look(struct worker *w)
{
    struct hashlife *h = w->h;
    const double now = seconds_now();
    if (now - h->began >= ALONE)
        start_helpers(h);
    if (!h->progress || now - h->told < TELL)
        return true;
    h->told = now;
    if (h->progress(h->arg, h->done / h->total) == 0)
        return true;
    hash_give_up(h, ECANCELED);
    return false;
}

/* How many workers of a thread are at it. A small tree lies in caches, where one waits for nothing and several are only in each other's way; the larger it
 * is, the longer memory takes. The table tells, which changes only while all threads wait. */
static inline unsigned workers_for(const struct hashlife *h)
{
    const size_t places = h->nodes.places;
    const unsigned n = places <= 1 << 18 ? 1 : places <= 1 << 20 ? 4 : WORKERS;
    return n > h->workers_least ? n : h->workers_least;
}

/* The result of the root, by the workers of a thread in turns; false: give up. */
static bool compute(struct worker *first)
{
    const struct hashlife *h = first->h;
    enum hash_went went = HASH_ASKED;
    for (unsigned turn = 1, n = 0; went < HASH_KNOWN; turn++) {
        for (; n < workers_for(h); n++)
            hash_begin(&first[n], h->root, h->level);
        for (unsigned i = 0; i < n && went < HASH_KNOWN; i++)
            went = hash_go(&first[i]);
        for (unsigned i = 0; i < n; i++)
            hash_ask(&first[i]);
        if (went < HASH_KNOWN && ((atomic_load_explicit(&h->stop, memory_order_relaxed) && !hash_pause(first)) ||
                                  (turn % LOOK == 0 && first->number == 0 && !look(first))))
            went = HASH_LEAVES;
    }
    for (unsigned i = 0; i < WORKERS; i++)
        hash_end(&first[i]);
    return went == HASH_KNOWN;
}

/* ---- Threads. -------------------------------------------------------------------------------- */

static void *help(void *arg)
{
    struct worker *w = arg;
    struct hashlife *h = w->h;
    compute(w);
    pthread_mutex_lock(&h->lock);
    h->working--;
    pthread_cond_broadcast(&h->change);
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

static void start_helpers(struct hashlife *h)
{
    pthread_mutex_lock(&h->lock);
    while (h->helpers + 1 < h->threads && !h->leave) {
        struct worker *w = &h->worker[WORKERS * (h->helpers + 1)];
        if (pthread_create(&w->thread, NULL, help, w) != 0)
            break;
        h->working++;
        h->helpers++;
    }
    pthread_mutex_unlock(&h->lock);
}

/* The calling thread has what it wants, or nobody will: lets the others leave, and waits for that. */
static void end_helpers(struct hashlife *h)
{
    pthread_mutex_lock(&h->lock);
    h->working--;
    h->leave = true;
    atomic_store(&h->stop, 1);
    pthread_cond_broadcast(&h->change);
    pthread_mutex_unlock(&h->lock);
    for (; h->helpers > 0; h->helpers--)
        pthread_join(h->worker[WORKERS * h->helpers].thread, NULL);
    h->leave = false;
    atomic_store(&h->stop, 0);
}

int hash_step(struct hashlife *h, int k)
{
    h->error = 0;
    while (h->level < LEAF_LEVEL + 3 || h->level < k + 3 || !hash_has_room(h))
        if (hash_grow(h) < 0)
            return -1;
    hash_set_k(h, k);
    h->working = 1;
    h->began = seconds_now();
    const bool known = compute(&h->worker[0]);
    end_helpers(h);
    if (!known)
        return -1;
    h->root = atomic_load(&h->node[h->root].result);
    h->level--;
    h->generation += (uint64_t)1 << k;
    return 0;
}
