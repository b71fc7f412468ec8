/* request.c - transfers between two ranks: started, moved in the background, waited for.
 *
 * MPI moves long messages only while somebody calls it. So whoever posts or waits moves all mail
 * that is under way, and a thread does so while nobody waits: without a pause as long as a long
 * message is young, which goes in many small parts where processes cannot read each other's memory;
 * else every 100 microseconds. One lock is held over every call of the transport. The thread lets
 * all others have it first: it would else take it again before they wake up. Mail longer than a
 * transport takes at once goes in pieces, all started when it is posted, so that they stay in
 * order.
 * SPDX-License-Identifier: MIT
 */
#include "world/internal.h"

#include "core/clock.h"

#include <sched.h>

static const double
    SPIN_SECONDS =
        0.01,         /* a wait that is over soon does not sleep; nor does the mover of long mail */
    LEAST_RATE = 1e9, /* bytes a second that long mail should reach */
    STIR_SECONDS =
        1e-4, /* between two naps in the presence of long mail, which moves on at each look */
    STANDING_SECONDS = 1e-3, /* between two looks at mail that nobody waits for */
    STANDING_MOST =
        0.1; /* however long a look took: a process that is held back for a while is no slow look */
enum { LONG_BYTES = 16384, NAP_US = 50, MOVE_NS = 100000, WATCH_NS = 1000000, IDLE_NS = 20000000 };

/* The lock, before the mover. */
static void lock(stdcl_world *w)
{
    atomic_fetch_add(&w->callers, 1);
    pthread_mutex_lock(&w->lock);
    atomic_fetch_sub(&w->callers, 1);
}

/* ---- Moving; with the lock. ------------------------------------------------------------------ */

static size_t load_of(const struct world_request *mail)
{
    return mail->size > LONG_BYTES && !mail->standing ? mail->size : 0;
}

/* Long mail is under way, and was posted so short a time ago that it should not be there yet. */
static bool is_young(const stdcl_world *w)
{
    return w->load && seconds_now() - w->posted < SPIN_SECONDS + (double)w->load / LEAST_RATE;
}

static bool is_done(const struct world_request *m)
{
    return m->done == m->pieces;
}

/* From now on nothing moves. */
static void break_off(stdcl_world *w, const struct world_request *m)
{
    if (!*w->broken)
        strcpy(w->broken, "the transport failed");
    w->awaited = m->rank;
}

static void move_one(stdcl_world *w, struct world_request *m)
{
    while (!is_done(m) && !*w->broken) {
        const int now = w->by->test(w->state, &m->request[m->done], w->broken);
        if (now == 0)
            return;
        m->done += now > 0;
        if (now < 0)
            break_off(w, m);
    }
}

static void unlink_mail(stdcl_world *w, const struct world_request *mail)
{
    struct world_request **at = &w->flight;
    while (*at && *at != mail)
        at = &(*at)->next;
    if (!*at)
        return;
    *at = mail->next;
    w->hurried -= !mail->standing;
    w->load -= load_of(mail);
}

/* What is done leaves the list; whoever waits for it still has it. Standing mail, of which rank 0
 * has some for each rank, is looked at only so often that it takes a small part of the time. */
static void move_all(stdcl_world *w)
{
    const double now = seconds_now();
    const bool standing = now >= w->standing_due;
    for (struct world_request *m = w->flight, *next; m && !*w->broken; m = next) {
        next = m->next;
        if (m->standing && !standing)
            continue;
        move_one(w, m);
        if (!is_done(m))
            continue;
        unlink_mail(w, m);
        if (m->standing) {
            w->news = true;
            pthread_cond_signal(&w->changed);
        }
        if (m->forsaken)
            free(m);
    }
    if (standing) {
        const double after = seconds_now(), pause = 20 * (after - now);
        w->standing_due =
            after + STANDING_SECONDS + (pause < STANDING_MOST ? pause : STANDING_MOST);
    }
}

/* ---- In the background. ---------------------------------------------------------------------- */

static struct timespec after_ns(long ns)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += ns;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* Lets others have the lock, and looks how they are. */
static void step_back(stdcl_world *w)
{
    w->news = false;
    pthread_mutex_unlock(&w->lock);
    if (w->watch)
        w->watch(w);
    do
        sched_yield();
    while (atomic_load(&w->callers) > 0);
    pthread_mutex_lock(&w->lock);
}

/* Long mail that is old is moved for a while at a time, since a look moves little of it. */
static void stir(stdcl_world *w)
{
    const double since = seconds_now();
    do
        move_all(w);
    while (w->load && !*w->broken && atomic_load(&w->callers) == 0 &&
           seconds_now() - since < STIR_SECONDS);
}

static void *move_on(void *world)
{
    stdcl_world *w = world;
    pthread_mutex_lock(&w->lock);
    while (!w->leaving) {
        if ((!w->flight && !w->news) || *w->broken) {
            pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        if (w->waiting == 0) /* else they move it */
            stir(w);
        step_back(w);
        if (w->leaving || (w->waiting == 0 && is_young(w)))
            continue;
        const struct timespec until = after_ns(w->waiting   ? WATCH_NS
                                               : w->hurried ? MOVE_NS
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
    if (pthread_create(&w->mover, NULL, move_on, w) != 0)
        return clerror_set(EAGAIN, "world_join: no thread could be made");
    w->moving = true;
    return 0;
}

void progress_thread_stop(stdcl_world *w)
{
    if (!w->moving)
        return;
    lock(w);
    w->leaving = true;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->mover, NULL);
    w->moving = false;
}

/* ---- Posting. -------------------------------------------------------------------------------- */

static int broken(const stdcl_world *w)
{
    return clerror_set(EPROTO, "rank %d on %s cannot talk to rank %d on %s any more: %s", w->rank,
                       world_host(w, w->rank), w->awaited, world_host(w, w->awaited), w->broken);
}

/* Starts all pieces; with the lock. */
static int start(stdcl_world *w, struct world_request *m)
{
    for (size_t i = 0; i < m->pieces && !*w->broken; i++) {
        const size_t at = i * TRANSPORT_PIECE, left = m->size - at,
                     now = left < TRANSPORT_PIECE ? left : TRANSPORT_PIECE;
        const int status = m->sends ? w->by->send(w->state, m->rank, m->tag, m->bytes + at, now,
                                                  &m->request[i], w->broken)
                                    : w->by->receive(w->state, m->rank, m->tag, m->bytes + at, now,
                                                     &m->request[i], w->broken);
        if (status != 0)
            break_off(w, m);
    }
    return *w->broken ? broken(w) : 0;
}

/* What is sent and not long is copied behind the mail: no transport needs to take it back when
 * patience is lost. */
static struct world_request *make(bool sends, int rank, int tag, void *bytes, size_t size,
                                  bool standing)
{
    const size_t pieces = size ? (size + TRANSPORT_PIECE - 1) / TRANSPORT_PIECE : 1,
                 copy = sends && size <= LONG_BYTES ? size : 0;
    struct world_request *m = malloc(sizeof *m + pieces * sizeof *m->request + copy);
    if (!m) {
        clerror_set(ENOMEM, "no memory for a message to or from rank %d", rank);
        return NULL;
    }
    *m = (struct world_request){.rank = rank,
                                .tag = tag,
                                .sends = sends,
                                .standing = standing,
                                .bytes = bytes,
                                .size = size,
                                .pieces = pieces};
    memset(m->request, 0, pieces * sizeof *m->request);
    if (copy)
        m->bytes = memcpy(&m->request[pieces], bytes, copy);
    return m;
}

struct world_request *request_post(stdcl_world *w, bool sends, int rank, int tag, void *bytes,
                                   size_t size, bool standing)
{
    struct world_request *m = make(sends, rank, tag, bytes, size, standing);
    if (!m)
        return NULL;
    lock(w);
    if (start(w, m) != 0) {
        pthread_mutex_unlock(&w->lock);
        free(m);
        return NULL;
    }
    m->next = w->flight;
    w->flight = m;
    w->hurried += !standing;
    w->load += load_of(m);
    if (load_of(m))
        w->posted = seconds_now();
    if (w->waiting == 0)
        pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
    return m;
}

static struct world_request *post(stdcl_world *w, bool sends, int rank, int tag, void *bytes,
                                  size_t size)
{
    if (w && rank >= 0 && rank < w->size && tag >= 0 && tag < TAG_CALLERS)
        return request_post(w, sends, rank, tag, bytes, size, false);
    clerror_set(EINVAL, "%s: rank %d of %d, tag %d; tags are 0 to %d",
                sends ? "world_send" : "world_receive", rank, world_size(w), tag, TAG_CALLERS - 1);
    return NULL;
}

world_request *world_send(stdcl_world *w, int rank, int tag, const void *bytes, size_t size)
{
    return post(w, true, rank, tag, (void *)(uintptr_t)bytes, size);
}

world_request *world_receive(stdcl_world *w, int rank, int tag, void *bytes, size_t size)
{
    return post(w, false, rank, tag, bytes, size);
}

/* ---- Waiting. -------------------------------------------------------------------------------- */

/* Moves mail; 0 when this one is done, 1 when not yet, -1 when the transport is broken. */
static int look(stdcl_world *w, const struct world_request *mail)
{
    lock(w);
    move_all(w);
    const int status = is_done(mail) ? 0 : *w->broken ? -1 : 1;
    pthread_mutex_unlock(&w->lock);
    if (w->watch && !w->background)
        w->watch(w);
    return status;
}

bool request_done(stdcl_world *w, const struct world_request *mail)
{
    return look(w, mail) == 0;
}

int world_test(stdcl_world *w, const world_request *mail)
{
    return !mail || look(w, mail) == 0;
}

/* While somebody waits, the mover does not move. */
static void begin_wait(stdcl_world *w)
{
    lock(w);
    w->waiting++;
    pthread_mutex_unlock(&w->lock);
}

static void end_wait(stdcl_world *w, int rank, double seconds)
{
    lock(w);
    w->waited[rank] += seconds;
    if (--w->waiting == 0 && w->hurried)
        pthread_cond_signal(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

double world_wait_time(stdcl_world *w, int rank)
{
    if (!w || rank < 0 || rank >= w->size)
        return 0;
    lock(w);
    const double seconds = w->waited[rank];
    pthread_mutex_unlock(&w->lock);
    return seconds;
}

static bool has_load(stdcl_world *w)
{
    lock(w);
    const bool load = w->load > 0;
    pthread_mutex_unlock(&w->lock);
    return load;
}

/* Between two looks at mail: `waited` seconds since the first, the last nap at `*napped` of
 * these. */
static void rest(stdcl_world *w, double waited, double young, double *napped)
{
    if (waited < young || (waited - *napped < STIR_SECONDS && has_load(w))) {
        sched_yield();
        return;
    }
    nanosleep(&(struct timespec){.tv_nsec = NAP_US * 1000}, NULL);
    *napped = waited;
}

int request_wait_until(stdcl_world *w, const struct world_request *mail, double seconds)
{
    const double since = seconds_now(), young = SPIN_SECONDS + (double)load_of(mail) / LEAST_RATE;
    double napped = 0, waited = 0;
    int status = look(w, mail);
    if (status <= 0)
        return status;
    begin_wait(w);
    while ((status = look(w, mail)) > 0 && (waited = seconds_now() - since) <= seconds)
        rest(w, waited, young, &napped);
    end_wait(w, mail->rank, seconds_now() - since);
    return status;
}

/* Mail out of flight that is not done: whether the transport may still touch its bytes. Nothing is
 * asked of one that is broken. */
static bool is_held(stdcl_world *w, struct world_request *m)
{
    bool held = *w->broken && !is_done(m);
    for (size_t i = m->done; i < m->pieces && !*w->broken; i++)
        held |= w->by->cancel(w->state, &m->request[i]) != 0;
    return held;
}

/* With the lock. */
static void drop(stdcl_world *w, struct world_request *m)
{
    unlink_mail(w, m);
    if (is_held(w, m)) {
        m->next = w->held;
        w->held = m;
    } else
        free(m);
}

void request_drop(stdcl_world *w, struct world_request *mail)
{
    if (!mail)
        return;
    lock(w);
    if (!is_done(mail) && mail->sends && mail->size <= LONG_BYTES && !*w->broken)
        mail->forsaken = true;
    else
        drop(w, mail);
    pthread_mutex_unlock(&w->lock);
}

void request_drop_all(stdcl_world *w)
{
    lock(w);
    while (w->flight)
        drop(w, w->flight);
    pthread_mutex_unlock(&w->lock);
}

void request_free_detached(struct world_request *held)
{
    for (struct world_request *next; held; held = next) {
        next = held->next;
        free(held);
    }
}

/* What has not come in time may not come later: by then the bytes are the caller's. */
static int wait_one(stdcl_world *w, struct world_request *mail)
{
    const int status = request_wait_until(w, mail, w->patience), rank = mail->rank;
    request_drop(w, mail);
    if (status < 0)
        return broken(w);
    if (status == 0)
        return 0;
    w->awaited = rank;
    return clerror_set(
        ETIMEDOUT,
        "rank %d on %s has waited %g s for rank %d on %s; $STDCL_TIMEOUT is how long it may wait",
        w->rank, world_host(w, w->rank), w->patience, rank, world_host(w, rank));
}

/* After a failure the rest is not waited for. */
int world_wait(stdcl_world *w, world_request *const *mails, size_t n)
{
    int status = 0;
    for (size_t i = 0; i < n; i++)
        if (status != 0)
            request_drop(w, mails[i]);
        else if (!mails[i] || wait_one(w, mails[i]) != 0)
            status = -1;
    return status;
}

/* Nobody moves mail meanwhile. MPI does not come back. */
void transport_abort(stdcl_world *w, int status)
{
    lock(w);
    w->by->end(w->state, status);
    pthread_mutex_unlock(&w->lock);
}

/* Who waits at once need not wake the mover. */
static int now(stdcl_world *w, bool sends, int rank, int tag, void *bytes, size_t size)
{
    begin_wait(w);
    struct world_request *m = request_post(w, sends, rank, tag, bytes, size, false);
    const int status = m ? wait_one(w, m) : -1;
    end_wait(w, rank, 0);
    return status;
}

int send_blocking(stdcl_world *w, int rank, int tag, const void *bytes, size_t size)
{
    return now(w, true, rank, tag, (void *)(uintptr_t)bytes, size);
}

int receive_blocking(stdcl_world *w, int rank, int tag, void *bytes, size_t size)
{
    return now(w, false, rank, tag, bytes, size);
}
