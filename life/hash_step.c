/* hash_step.c - steps of the plane, by one thread or several.
 *
 * All threads compute the same root (hash_result.c). When the first has it, the others leave.
 * SPDX-License-Identifier: MIT
 */
#include "life/hash_nodes.h"

#include "core/clock.h"

#include <errno.h>
#include <string.h>

static const double PROGRESS_INTERVAL = 0.1; /* seconds between progress reports */

static void start_helpers(struct hashlife *h);

/* Poll of the calling thread: start helpers, report progress. */
static bool worker_poll(struct worker *w)
{
    struct hashlife *h = w->h;
    const double now = seconds_now();
    if (now - h->began >= h->helper_delay)
        start_helpers(h);
    if (!h->lf->progress || now - h->last_progress < PROGRESS_INTERVAL)
        return true;
    h->last_progress = now;
    if (life_call_tell(h->lf, 0) == 0)
        return true;
    hash_give_up(h, ECANCELED);
    return false;
}

/* ---- Threads. -------------------------------------------------------------------------------- */

static void *help(void *arg)
{
    struct worker *w = arg;
    struct hashlife *h = w->h;
    hash_result(w, NULL);
    pthread_mutex_lock(&h->lock);
    h->working--;
    pthread_cond_broadcast(&h->change);
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

static void start_helpers(struct hashlife *h)
{
    pthread_mutex_lock(&h->lock);
    while (h->helpers + 1 < h->threads && !h->abandon) {
        struct worker *w = &h->worker[h->helpers + 1];
        if (pthread_create(&w->thread, NULL, help, w) != 0)
            break;
        h->working++;
        h->helpers++;
    }
    pthread_mutex_unlock(&h->lock);
}

/* The calling thread is done: make the helpers leave, and block until they have left. */
static void end_helpers(struct hashlife *h)
{
    pthread_mutex_lock(&h->lock);
    h->working--;
    h->abandon = true;
    atomic_store(&h->stop, 1);
    pthread_cond_broadcast(&h->change);
    pthread_mutex_unlock(&h->lock);
    for (; h->helpers > 0; h->helpers--)
        pthread_join(h->worker[h->helpers].thread, NULL);
    h->abandon = false;
    atomic_store(&h->stop, 0);
}

int hash_step(struct hashlife *h, int k)
{
    h->error = 0;
    while (h->level < h->leaf_level + 3 || h->level < k + 3 || !hash_has_room(h))
        if (hash_grow(h) < 0)
            return -1;
    hash_set_k(h, k);
    h->working = 1;
    h->began = seconds_now();
    const bool known = hash_result(&h->worker[0], worker_poll);
    end_helpers(h);
    if (!known)
        return -1;
    h->root = atomic_load(&h->node[h->root].result);
    h->level--;
    h->lf->generation += (uint64_t)1 << k;
    return 0;
}
