/* world.c - creating and destroying a world on a transport.
 * SPDX-License-Identifier: MIT
 */
#include "world/internal.h"

#include "core/clock.h"
#include "core/reserved.h"

#include <stdio.h>
#include <unistd.h>

static const double DEFAULT_TIMEOUT_SECONDS = 600;

/* ---- Made. -------------------------------------------------------------------------------- */

int timeout_read(double *seconds)
{
    const char *text = getenv("STDCL_TIMEOUT");
    char *end = NULL;
    const double wish = text && *text ? seconds_read(text, &end) : DEFAULT_TIMEOUT_SECONDS;
    const bool good = !end || (end != text && !*end && wish > 0);
    *seconds = good ? wish : DEFAULT_TIMEOUT_SECONDS;
    return good
               ? 0
               : clerror_set(
                     EINVAL,
                     "world_join: STDCL_TIMEOUT is \"%s\"; give a number of seconds above 0", text);
}

static int world_count_hosts(const stdcl_world *w)
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

static int world_gather_hosts(stdcl_world *w, const char *name)
{
    char mine[HOST_BYTES] = "";
    w->host = calloc((size_t)w->size, sizeof *w->host);
    w->wait_time = calloc((size_t)w->size, sizeof *w->wait_time);
    if (!w->host || !w->wait_time)
        return clerror_set(ENOMEM, "world_join: out of memory for %d ranks", w->size);
    if (name)
        snprintf(mine, sizeof mine, "%s", name);
    else
        gethostname(mine, sizeof mine - 1);
    if (world_gather(w, mine, sizeof mine, w->host) != 0)
        return -1;
    w->hosts = world_count_hosts(w);
    return 0;
}

/* The default on_abort: MPI_Abort ends the process, so its caller cannot print the reason. */
static void abort_print(void *arg, const char *message)
{
    (void)arg;
    fprintf(stderr, "stdcl: %s\n", message);
}

struct world_options options_with_defaults(const struct world_options *options)
{
    struct world_options own = options ? *options : (struct world_options){.on_abort = NULL};
    if (!own.on_abort)
        own.on_abort = abort_print;
    return own;
}

/* The condition waits by a monotonic clock. */
static void world_init_locks(stdcl_world *w)
{
    pthread_condattr_t by_clock;
    pthread_condattr_init(&by_clock);
    pthread_condattr_setclock(&by_clock, CLOCK_MONOTONIC);
    pthread_cond_init(&w->changed, &by_clock);
    pthread_condattr_destroy(&by_clock);
    pthread_mutex_init(&w->lock, NULL);
}

/* Called after requests were progressed. */
static void world_poll(stdcl_world *w)
{
    notify_poll(w);
    finalize_poll(w);
}

/* together: all ranks destroy the world, so notifications can be completed. */
static void world_destroy(stdcl_world *w, bool together)
{
    progress_thread_stop(w);
    w->poll = NULL;
    if (together)
        notify_finish(w);
    notify_free(w);
    finalize_free(w);
    request_drop_all(w);
    w->transport->leave(w->state);
    request_free_detached(w->detached);
    pthread_cond_destroy(&w->changed);
    pthread_mutex_destroy(&w->lock);
    free(w->host);
    free(w->wait_time);
    free(w);
}

stdcl_world *world_make(const struct transport *by, void *state, int rank, int size,
                        bool background, const char *transport_name, const char *host,
                        const struct world_options *options)
{
    stdcl_world *w = calloc(1, sizeof *w);
    if (!w) {
        by->leave(state);
        clerror_set(ENOMEM, "world_join: out of memory");
        return NULL;
    }
    *w = (stdcl_world){.transport = by,
                       .state = state,
                       .rank = rank,
                       .size = size,
                       .background = background && size > 1,
                       .silent_peer = -1};
    (void)timeout_read(
        &w->timeout); /* an invalid value is reported by check_agreement, on all ranks */
    w->options = options_with_defaults(options);
    snprintf(w->transport_name, sizeof w->transport_name, "%s", transport_name);
    world_init_locks(w);
    int status =
        world_gather_hosts(w, host) == 0 && finalize_start(w) == 0 && notify_start(w) == 0 ? 0 : -1;
    w->poll = world_poll;
    if (status != 0 || progress_thread_start(w) != 0) {
        if (size > 1) /* `leave` alone would wait for the other ranks */
            finalize_unmade(w);
        world_destroy(w, false);
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
    world_destroy(w, together);
    return together ? 0 : clerror_set(EPROTO, "world_leave: the job was broken off");
}

void world_abort(stdcl_world *w, int status, const char *message)
{
    if (!w)
        return;
    if (w->size == 1 && message)
        w->options.on_abort(w->options.arg, message);
    world_destroy(w, finalize_finish(w, status ? status : 1, message));
}
