/* world.c - a world is made of a transport, and left.
 * SPDX-License-Identifier: MIT
 */
#include "world/internal.h"

#include "core/clock.h"
#include "core/reserved.h"

#include <stdio.h>
#include <unistd.h>

static const double PATIENCE_SECONDS = 600;

/* ---- Made. -------------------------------------------------------------------------------- */

int timeout_read(double *seconds)
{
    const char *text = getenv("STDCL_TIMEOUT");
    char *end = NULL;
    const double wish = text && *text ? seconds_read(text, &end) : PATIENCE_SECONDS;
    const bool good = !end || (end != text && !*end && wish > 0);
    *seconds = good ? wish : PATIENCE_SECONDS;
    return good
               ? 0
               : clerror_set(
                     EINVAL,
                     "world_join: STDCL_TIMEOUT is \"%s\"; give a number of seconds above 0", text);
}

static int count_hosts(const stdcl_world *w)
{
    int n = 0;
    for (int r = 0; r < w->size; r++) {
        int first = 0;
        while (strcmp(w->host[first], w->host[r]) != 0)
            first++;
        n += first == r;
    }
    return n;
}

static int find_hosts(stdcl_world *w, const char *name)
{
    char mine[HOST_BYTES] = "";
    w->host = calloc((size_t)w->size, sizeof *w->host);
    w->waited = calloc((size_t)w->size, sizeof *w->waited);
    if (!w->host || !w->waited)
        return clerror_set(ENOMEM, "world_join: no memory for %d ranks", w->size);
    if (name)
        snprintf(mine, sizeof mine, "%s", name);
    else
        gethostname(mine, sizeof mine - 1);
    if (world_gather(w, mine, sizeof mine, w->host) != 0)
        return -1;
    w->hosts = count_hosts(w);
    return 0;
}

/* Locks, and a condition that waits by a clock that never steps back. */
static void make_locks(stdcl_world *w)
{
    pthread_condattr_t by_clock;
    pthread_condattr_init(&by_clock);
    pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &by_clock);
    pthread_condattr_destroy(&by_clock);
    pthread_mutex_init(&w->lock, NULL);
}

/* Called after mail has moved. */
static void watch(stdcl_world *w)
{
    notify_poll(w);
    finalize_poll(w);
}

/* `together`: all ranks do so. */
static void destroy(stdcl_world *w, bool together)
{
    progress_thread_stop(w);
    w->watch = NULL;
    if (together)
        notify_finish(w);
    notify_free(w);
    finalize_free(w);
    request_drop_all(w);
    w->by->leave(w->state);
    request_free_detached(w->held);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w->host);
    free(w->waited);
    free(w);
}

stdcl_world *world_make(const struct transport *by, void *state, int rank, int size,
                        bool background, const char *carrier, const char *host,
                        const struct world_options *options)
{
    stdcl_world *w = calloc(1, sizeof *w);
    if (!w) {
        by->leave(state);
        clerror_set(ENOMEM, "world_join: no memory");
        return NULL;
    }
    *w = (stdcl_world){.by = by,
                       .state = state,
                       .rank = rank,
                       .size = size,
                       .background = background && size > 1,
                       .awaited = -1};
    (void)timeout_read(
        &w->patience); /* what is wrong with it all ranks hear when they have joined */
    if (options)
        w->options = *options;
    snprintf(w->carrier, sizeof w->carrier, "%s", carrier);
    make_locks(w);
    int status =
        find_hosts(w, host) == 0 && finalize_start(w) == 0 && notify_start(w) == 0 ? 0 : -1;
    w->watch = watch;
    if (status != 0 || progress_thread_start(w) != 0) {
        destroy(w, false);
        return NULL;
    }
    return w;
}

/* ---- Left. -------------------------------------------------------------------------------- */

int world_leave(stdcl_world *w)
{
    if (!w)
        return 0;
    const bool together = finalize_finish(w, 0, NULL);
    destroy(w, together);
    return together ? 0 : clerror_set(EPROTO, "world_leave: the job was broken off");
}

void world_abort(stdcl_world *w, int status, const char *sentence)
{
    if (!w)
        return;
    if (w->size == 1 && w->options.ended && sentence)
        w->options.ended(w->options.arg, sentence);
    destroy(w, finalize_finish(w, status ? status : 1, sentence));
}
