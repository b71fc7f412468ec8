/* notify.c - a number that one rank tells all, at any time: that it got a signal, say.
 *
 * The first number that a rank hears, from a neighbour in the binomial tree of collect.c or from
 * world_notify, it passes on to its other neighbours. Receives for it stand from the first to the
 * last, and before ranks leave each has sent each neighbour one number, 0 if there was none: so no
 * message is left without its receive.
 * SPDX-License-Identifier: MIT
 */
#include "world/internal.h"

struct neighbour {
    int rank;
    int32_t in, out;
    struct world_request *come, *sent;
};

/* ---- Not collective. ------------------------------------------------------------------------- */

/* One store, since handlers of signals call it. */
void world_notify(stdcl_world *w, int number)
{
    int none = 0;
    if (w && number)
        atomic_compare_exchange_strong(&w->told, &none, number);
}

int world_notified(stdcl_world *w)
{
    return w ? atomic_load(&w->told) : 0;
}

/* ---- Passed on. ------------------------------------------------------------------------------ */

/* Whom nothing was sent gets the number. A message that has no memory now is posted at the end. */
static void send_all(stdcl_world *w, int number)
{
    for (int i = 0; i < w->neighbours; i++) {
        struct neighbour *n = &w->neighbour[i];
        if (n->sent)
            continue;
        n->out = number;
        n->sent = request_post(w, true, n->rank, TAG_TOLD, &n->out, sizeof n->out, true);
    }
}

/* Called after mail has moved, by any thread; one of them passes the number on. */
void notify_poll(stdcl_world *w)
{
    pthread_mutex_lock(&w->lock);
    for (int i = 0; i < w->neighbours; i++)
        if (w->neighbour[i].come->done)
            world_notify(w, w->neighbour[i].in);
    const int number = world_notified(w);
    const bool first = number && !w->passed_on;
    w->passed_on |= first;
    pthread_mutex_unlock(&w->lock);
    if (first)
        send_all(w, number);
}

/* ---- From the first to the last. ------------------------------------------------------------- */

static int expect(stdcl_world *w, int rank)
{
    struct neighbour *n = &w->neighbour[w->neighbours];
    n->rank = rank;
    n->come = request_post(w, false, rank, TAG_TOLD, &n->in, sizeof n->in, true);
    w->neighbours += n->come != NULL;
    return n->come ? 0 : -1;
}

int notify_start(stdcl_world *w)
{
    enum { MOST = 33 }; /* a parent, and a child for each bit of a rank */
    int status = 0, step = 1;
    if (w->size == 1)
        return 0;
    if (!(w->neighbour = calloc(MOST, sizeof *w->neighbour)))
        return clerror_set(ENOMEM, "world_join: no memory");
    for (; step < w->size && w->rank % (2 * step) == 0 && status == 0; step *= 2)
        if (w->rank + step < w->size)
            status = expect(w, w->rank + step);
    return w->rank > 0 && status == 0 ? expect(w, w->rank - step) : status;
}

/* Nobody else looks any more, and all ranks do this. */
void notify_finish(stdcl_world *w)
{
    send_all(w, world_notified(w));
    for (int i = 0; i < w->neighbours; i++) {
        struct neighbour *n = &w->neighbour[i];
        if (request_wait_until(w, n->come, w->patience) == 0 && n->sent)
            request_wait_until(w, n->sent, w->patience);
    }
}

void notify_free(stdcl_world *w)
{
    for (int i = 0; i < w->neighbours; i++) {
        request_drop(w, w->neighbour[i].come);
        request_drop(w, w->neighbour[i].sent);
    }
    free(w->neighbour);
}
