/* notify.c - one-to-all notification at any time, such as the number of a signal.
 *
 * A rank forwards the first number that it receives, from a neighbour in the binomial tree of
 * collect.c or from world_notify, to its other neighbours. The receives are posted in world_join.
 * Before ranks leave, each has sent one number to every neighbour, 0 if there was none, so that
 * every receive is matched.
 * SPDX-License-Identifier: MIT
 */
#include "world/internal.h"

struct neighbour {
    int rank;
    int32_t in, out;
    struct world_request *incoming, *outgoing;
};

/* ---- Not collective. ------------------------------------------------------------------------- */

/* One atomic store: signal handlers call this. */
void world_notify(stdcl_world *w, int number)
{
    int none = 0;
    if (w && number)
        atomic_compare_exchange_strong(&w->notified, &none, number);
}

int world_notified(stdcl_world *w)
{
    return w ? atomic_load(&w->notified) : 0;
}

/* ---- Passed on. ------------------------------------------------------------------------------ */

/* Send the number to each neighbour not yet notified. If allocation fails, notify_finish sends it.
 */
static void notify_neighbours(stdcl_world *w, int number)
{
    for (int i = 0; i < w->neighbours; i++) {
        struct neighbour *n = &w->neighbour[i];
        if (n->outgoing)
            continue;
        n->out = number;
        n->outgoing = request_post(w, true, n->rank, TAG_NOTIFY, &n->out, sizeof n->out, true);
    }
}

/* Any thread calls this after requests were progressed; one of them forwards the number. */
void notify_poll(stdcl_world *w)
{
    pthread_mutex_lock(&w->lock);
    for (int i = 0; i < w->neighbours; i++)
        if (w->neighbour[i].incoming->done)
            world_notify(w, w->neighbour[i].in);
    const int number = world_notified(w);
    const bool first = number && !w->forwarded;
    w->forwarded |= first;
    pthread_mutex_unlock(&w->lock);
    if (first)
        notify_neighbours(w, number);
}

/* ---- From the first to the last. ------------------------------------------------------------- */

static int notify_receive_from(stdcl_world *w, int rank)
{
    struct neighbour *n = &w->neighbour[w->neighbours];
    n->rank = rank;
    n->incoming = request_post(w, false, rank, TAG_NOTIFY, &n->in, sizeof n->in, true);
    w->neighbours += n->incoming != NULL;
    return n->incoming ? 0 : -1;
}

int notify_start(stdcl_world *w)
{
    enum { MOST = 33 }; /* a parent, and a child for each bit of a rank */
    int status = 0, step = 1;
    if (w->size == 1)
        return 0;
    if (!(w->neighbour = calloc(MOST, sizeof *w->neighbour)))
        return clerror_set(ENOMEM, "world_join: out of memory");
    for (; step < w->size && w->rank % (2 * step) == 0 && status == 0; step *= 2)
        if (w->rank + step < w->size)
            status = notify_receive_from(w, w->rank + step);
    return w->rank > 0 && status == 0 ? notify_receive_from(w, w->rank - step) : status;
}

/* Collective, after the last poll. */
void notify_finish(stdcl_world *w)
{
    notify_neighbours(w, world_notified(w));
    for (int i = 0; i < w->neighbours; i++) {
        struct neighbour *n = &w->neighbour[i];
        if (request_wait_until(w, n->incoming, w->timeout) == 0 && n->outgoing)
            request_wait_until(w, n->outgoing, w->timeout);
    }
}

void notify_free(stdcl_world *w)
{
    for (int i = 0; i < w->neighbours; i++) {
        request_drop(w, w->neighbour[i].incoming);
        request_drop(w, w->neighbour[i].outgoing);
    }
    free(w->neighbour);
}
