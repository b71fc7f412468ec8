/* request.c - nonblocking requests between two ranks, and the thread that progresses them.
 *
 * MPI transfers a large message only during calls of MPI. Every call that posts or waits therefore
 * progresses all requests in flight, and a progress thread does so while no thread waits. It spins
 * while a large request is young, because such a request consists of many small parts where
 * processes cannot read each other's memory, and afterwards sleeps 0.1 ms between polls (1 ms while
 * a thread waits, 20 ms with only low-priority requests).
 * One lock is held during every call of the transport. The progress thread takes it last; otherwise
 * it would take the lock again before a waiting thread wakes up. A message above the transport's
 * limit is split into pieces that are posted together, so that they stay in order.
 * SPDX-License-Identifier: MIT
 */
#include "world/internal.h"

#include "core/clock.h"

#include <sched.h>

static const double SPIN_SECONDS = 0.01, /* waits spin this long before they sleep, and so does the
                                            progress thread after a large post */
    MIN_BANDWIDTH = 1e9,     /* bytes/s expected of large requests: how long they count as young */
    PROGRESS_SECONDS = 1e-4, /* progress between two sleeps while large requests are in flight */
    LOW_PRIORITY_SECONDS = 1e-3,  /* between two polls of low-priority requests */
    LOW_PRIORITY_MAX_PAUSE = 0.1; /* bound, in case the process was descheduled during a poll */
enum {
    LONG_BYTES = 16384,
    SLEEP_US = 50,
    PROGRESS_NS = 100000,
    POLL_NS = 1000000,
    IDLE_NS = 20000000
};

/* Take the lock ahead of the progress thread. */
static void world_lock(stdcl_world *w)
{
    atomic_fetch_add(&w->callers, 1);
    pthread_mutex_lock(&w->lock);
    atomic_fetch_sub(&w->callers, 1);
}

/* ---- Progress; with the lock. ---------------------------------------------------------------- */

static size_t request_bulk_bytes(const struct world_request *request)
{
    return request->size > LONG_BYTES && !request->low_priority ? request->size : 0;
}

/* True if large requests are in flight and were posted too recently to be complete. */
static bool bulk_is_young(const stdcl_world *w)
{
    return w->bulk_bytes &&
           seconds_now() - w->bulk_posted < SPIN_SECONDS + (double)w->bulk_bytes / MIN_BANDWIDTH;
}

static bool request_is_complete(const struct world_request *m)
{
    return m->done == m->pieces;
}

/* Stop all progress: the transport failed at this request. */
static void transport_broke(stdcl_world *w, const struct world_request *m)
{
    if (!*w->broken)
        strcpy(w->broken, "the transport failed");
    w->silent_peer = m->rank;
}

static void request_progress(stdcl_world *w, struct world_request *m)
{
    while (!request_is_complete(m) && !*w->broken) {
        const int now = w->transport->test(w->state, &m->request[m->done], w->broken);
        if (now == 0)
            return;
        m->done += now > 0;
        if (now < 0)
            transport_broke(w, m);
    }
}

static void request_unlink(stdcl_world *w, const struct world_request *request)
{
    struct world_request **at = &w->in_flight;
    while (*at && *at != request)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = request->next;
    w->urgent -= !request->low_priority;
    w->bulk_bytes -= request_bulk_bytes(request);
}

/* Complete requests leave the list; their owner still holds them. Low-priority requests, of which
 * rank 0 has several for each rank, are polled at intervals that keep their cost small. */
static void progress_all(stdcl_world *w)
{
    const double now = seconds_now();
    const bool due = now >= w->low_priority_due;
    for (struct world_request *m = w->in_flight, *next; m && !*w->broken; m = next) {
        next = m->next;
        if (m->low_priority && !due)
            continue;
        request_progress(w, m);
        if (!request_is_complete(m))
            continue;
        request_unlink(w, m);
        if (m->low_priority) {
            w->low_priority_arrived = true;
            pthread_cond_signal(&w->changed);
        }
        if (m->detached)
            free(m);
    }
    if (due) {
        const double after = seconds_now(), pause = 20 * (after - now);
        w->low_priority_due = after + LOW_PRIORITY_SECONDS +
                              (pause < LOW_PRIORITY_MAX_PAUSE ? pause : LOW_PRIORITY_MAX_PAUSE);
    }
}

/* ---- In the background. ---------------------------------------------------------------------- */

static struct timespec deadline_after_ns(long ns)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += ns;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* Release the lock so that other threads can take it, and call `poll`. */
static void progress_thread_yield(stdcl_world *w)
{
    w->low_priority_arrived = false;
    pthread_mutex_unlock(&w->lock);
    if (w->poll)
        w->poll(w);
    do
        sched_yield();
    while (atomic_load(&w->callers) > 0);
    pthread_mutex_lock(&w->lock);
}

/* Progress all requests; repeat for 0.1 ms while large ones are in flight, since one poll transfers
 * little of them. */
static void progress_bulk(stdcl_world *w)
{
    const double since = seconds_now();
    do
        progress_all(w);
    while (w->bulk_bytes && !*w->broken && atomic_load(&w->callers) == 0 &&
           seconds_now() - since < PROGRESS_SECONDS);
}

static void *progress_thread_main(void *world)
{
    stdcl_world *w = world;
    pthread_mutex_lock(&w->lock);
    while (!w->leaving) {
        if ((!w->in_flight && !w->low_priority_arrived) || *w->broken) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        if (w->waiting == 0) /* waiting threads progress the requests themselves */
            progress_bulk(w);
        progress_thread_yield(w);
        if (w->leaving || (w->waiting == 0 && bulk_is_young(w)))
            continue;
        const struct timespec until = deadline_after_ns(w->waiting  ? POLL_NS
                                                        : w->urgent ? PROGRESS_NS
                                                                    : IDLE_NS);
        pthread_cond_timedwait(&w->changed, &w->lock, &until);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

int progress_thread_start(stdcl_world *w)
{
    if (!w->background)
        return 0;
    if (pthread_create(&w->progress_thread, NULL, progress_thread_main, w) != 0)
        return clerror_set(EAGAIN, "world_join: no thread could be made");
    w->has_progress_thread = true;
    return 0;
}

void progress_thread_stop(stdcl_world *w)
{
    if (!w->has_progress_thread)
        return;
    world_lock(w);
    w->leaving = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->progress_thread, NULL);
    w->has_progress_thread = false;
}

/* ---- Posting requests. ----------------------------------------------------------------------- */

int request_failed_peer(stdcl_world *w, bool *broken)
{
    world_lock(w);
    const int rank = w->silent_peer;
    *broken = *w->broken;
    pthread_mutex_unlock(&w->lock);
    return rank;
}

/* Call with the lock, or after a call that held it and found the transport broken. */
int fail_broken_transport(const stdcl_world *w)
{
    return clerror_set(EPROTO, "rank %d on %s cannot talk to rank %d on %s any more: %s", w->rank,
                       world_host(w, w->rank), w->silent_peer, world_host(w, w->silent_peer),
                       w->broken);
}

/* Post all pieces. Call with the lock. */
static int request_start(stdcl_world *w, struct world_request *m)
{
    for (size_t i = 0; i < m->pieces && !*w->broken; i++) {
        const size_t at = i * TRANSPORT_PIECE, left = m->size - at,
                     now = left < TRANSPORT_PIECE ? left : TRANSPORT_PIECE;
        const int status = m->sends
                               ? w->transport->send(w->state, m->rank, m->tag, m->bytes + at, now,
                                                    &m->request[i], w->broken)
                               : w->transport->receive(w->state, m->rank, m->tag, m->bytes + at,
                                                       now, &m->request[i], w->broken);
        if (status != 0)
            transport_broke(w, m);
    }
    return *w->broken ? fail_broken_transport(w) : 0;
}

/* Allocate a request. A small send is copied, so that the transport need not cancel it after a
 * timeout. */
static struct world_request *request_alloc(bool sends, int rank, int tag, void *bytes, size_t size,
                                           bool low_priority)
{
    const size_t pieces = size ? (size + TRANSPORT_PIECE - 1) / TRANSPORT_PIECE : 1,
                 copy = sends && size <= LONG_BYTES ? size : 0;
    struct world_request *m = malloc(sizeof *m + pieces * sizeof *m->request + copy);
    if (!m) {
        clerror_set(ENOMEM, "out of memory for a message to or from rank %d", rank);
        return NULL;
    }
    *m = (struct world_request){.rank = rank,
                                .tag = tag,
                                .sends = sends,
                                .low_priority = low_priority,
                                .bytes = bytes,
                                .size = size,
                                .pieces = pieces};
    memset(m->request, 0, pieces * sizeof *m->request);
    if (copy)
        m->bytes = memcpy(&m->request[pieces], bytes, copy);
    return m;
}

struct world_request *request_post(stdcl_world *w, bool sends, int rank, int tag, void *bytes,
                                   size_t size, bool low_priority)
{
    struct world_request *m = request_alloc(sends, rank, tag, bytes, size, low_priority);
    if (!m)
        return NULL;
    world_lock(w);
    if (request_start(w, m) != 0) {
        pthread_mutex_unlock(&w->lock);
        free(m);
        return NULL;
    }
    m->next = w->in_flight;
    w->in_flight = m;
    w->urgent += !low_priority;
    w->bulk_bytes += request_bulk_bytes(m);
    if (request_bulk_bytes(m))
        w->bulk_posted = seconds_now();
    if (w->waiting == 0)
        pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return m;
}

static struct world_request *request_post_user(stdcl_world *w, bool sends, int rank, int tag,
                                               void *bytes, size_t size)
{
    if (w && rank >= 0 && rank < w->size && tag >= 0 && tag < TAG_CALLERS)
        return request_post(w, sends, rank, tag, bytes, size, false);
    clerror_set(EINVAL, "%s: rank %d of %d, tag %d; tags are 0 to %d",
                sends ? "world_send" : "world_receive", rank, world_size(w), tag, TAG_CALLERS - 1);
    return NULL;
}

world_request *world_send(stdcl_world *w, int rank, int tag, const void *bytes, size_t size)
{
    return request_post_user(w, true, rank, tag, (void *)(uintptr_t)bytes, size);
}

world_request *world_receive(stdcl_world *w, int rank, int tag, void *bytes, size_t size)
{
    return request_post_user(w, false, rank, tag, bytes, size);
}

/* ---- Waiting. -------------------------------------------------------------------------------- */

/* Progress all requests. Return 0 if this one is complete, 1 if not, -1 if the transport failed. */
static int request_poll(stdcl_world *w, const struct world_request *request)
{
    world_lock(w);
    progress_all(w);
    const int status = request_is_complete(request) ? 0 : *w->broken ? -1 : 1;
    pthread_mutex_unlock(&w->lock);
    if (w->poll && !w->background)
        w->poll(w);
    return status;
}

bool request_done(stdcl_world *w, const struct world_request *request)
{
    return request_poll(w, request) == 0;
}

int world_test(stdcl_world *w, const world_request *request)
{
    return !request || request_poll(w, request) == 0;
}

/* While a thread waits, the progress thread leaves the work to it. */
static void wait_begin(stdcl_world *w)
{
    world_lock(w);
    w->waiting++;
    pthread_mutex_unlock(&w->lock);
}

static void wait_end(stdcl_world *w, int rank, double seconds)
{
    world_lock(w);
    w->wait_time[rank] += seconds;
    if (--w->waiting == 0 && w->urgent)
        pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

double world_wait_time(stdcl_world *w, int rank)
{
    if (!w || rank < 0 || rank >= w->size)
        return 0;
    world_lock(w);
    const double seconds = w->wait_time[rank];
    pthread_mutex_unlock(&w->lock);
    return seconds;
}

static bool has_bulk(stdcl_world *w)
{
    world_lock(w);
    const bool load = w->bulk_bytes > 0;
    pthread_mutex_unlock(&w->lock);
    return load;
}

/* Yield or sleep between two polls. `waited`: seconds since the first poll; *napped: its value at
 * the last sleep. */
static void wait_pause(stdcl_world *w, double waited, double young, double *napped)
{
    if (waited < young || (waited - *napped < PROGRESS_SECONDS && has_bulk(w))) {
        sched_yield();
        return;
    }
    nanosleep(&(struct timespec){.tv_nsec = SLEEP_US * 1000}, NULL);
    *napped = waited;
}

int request_wait_until(stdcl_world *w, const struct world_request *request, double seconds)
{
    const double since = seconds_now(),
                 young = SPIN_SECONDS + (double)request_bulk_bytes(request) / MIN_BANDWIDTH;
    double napped = 0, waited = 0;
    int status = request_poll(w, request);
    if (status <= 0)
        return status;
    wait_begin(w);
    while ((status = request_poll(w, request)) > 0 && (waited = seconds_now() - since) <= seconds)
        wait_pause(w, waited, young, &napped);
    wait_end(w, request->rank, seconds_now() - since);
    return status;
}

/* Cancel the pieces of an incomplete request. Return true if the transport may still use its
 * buffer. A failed transport is not called. */
static bool request_cancel(stdcl_world *w, struct world_request *m)
{
    bool held = *w->broken && !request_is_complete(m);
    for (size_t i = m->done; i < m->pieces && !*w->broken; i++)
        held |= w->transport->cancel(w->state, &m->request[i]) != 0;
    return held;
}

/* Call with the lock. */
static void request_release(stdcl_world *w, struct world_request *m)
{
    request_unlink(w, m);
    if (request_cancel(w, m)) {
        m->next = w->detached;
        w->detached = m;
    } else
        free(m);
}

void request_drop(stdcl_world *w, struct world_request *request)
{
    if (!request)
        return;
    world_lock(w);
    if (!request_is_complete(request) && request->sends && request->size <= LONG_BYTES &&
        !*w->broken)
        request->detached = true;
    else
        request_release(w, request);
    pthread_mutex_unlock(&w->lock);
}

void request_drop_all(stdcl_world *w)
{
    world_lock(w);
    while (w->in_flight)
        request_release(w, w->in_flight);
    pthread_mutex_unlock(&w->lock);
}

void request_free_detached(struct world_request *held)
{
    for (struct world_request *next; held; held = next) {
        next = held->next;
        free(held);
    }
}

int fail_timed_out(const stdcl_world *w, int rank, double seconds, const char *what)
{
    return clerror_set(
        ETIMEDOUT,
        "rank %d on %s has waited %g s for rank %d on %s%s; $STDCL_TIMEOUT is how long it may wait",
        w->rank, world_host(w, w->rank), seconds, rank, world_host(w, rank), what);
}

/* Wait until the request completes or the timeout passes, and release it; an incomplete receive is
 * cancelled, so nothing writes to the buffer later. */
static int request_wait(stdcl_world *w, struct world_request *request)
{
    const int status = request_wait_until(w, request, w->timeout), rank = request->rank;
    request_drop(w, request);
    if (status < 0)
        return fail_broken_transport(w);
    if (status == 0)
        return 0;
    world_lock(w);
    w->silent_peer = rank;
    pthread_mutex_unlock(&w->lock);
    return fail_timed_out(w, rank, w->timeout, "");
}

/* After a failure, the remaining requests are cancelled without waiting. */
int world_wait(stdcl_world *w, world_request *const *requests, size_t n)
{
    int status = 0;
    for (size_t i = 0; i < n; i++)
        if (status != 0)
            request_drop(w, requests[i]);
        else if (!requests[i] || request_wait(w, requests[i]) != 0)
            status = -1;
    return status;
}

/* Holds the lock to stop all progress: MPI_Abort does not return. */
void transport_abort(stdcl_world *w, int status)
{
    world_lock(w);
    w->transport->end(w->state, status);
    w->aborted = true;
    pthread_mutex_unlock(&w->lock);
}

/* wait_begin comes first: a caller that waits at once need not wake the progress thread. */
static int transfer_blocking(stdcl_world *w, bool sends, int rank, int tag, void *bytes,
                             size_t size)
{
    wait_begin(w);
    struct world_request *m = request_post(w, sends, rank, tag, bytes, size, false);
    const int status = m ? request_wait(w, m) : -1;
    wait_end(w, rank, 0);
    return status;
}

int send_blocking(stdcl_world *w, int rank, int tag, const void *bytes, size_t size)
{
    return transfer_blocking(w, true, rank, tag, (void *)(uintptr_t)bytes, size);
}

int receive_blocking(stdcl_world *w, int rank, int tag, void *bytes, size_t size)
{
    return transfer_blocking(w, false, rank, tag, bytes, size);
}
