/* threads.c - transport between threads of one process: for tests, where sanitizers see every rank
 * and every message can be late. A world of one rank uses it too.
 *
 * As in MPI, the n-th send from one rank to another with a tag matches the n-th receive, whatever
 * else is in flight. Receive buffers in flight do not overlap. Half of the sends, at random, are
 * buffered and complete at once; the others complete when the receiver has the data.
 *
 * Orders of arrival, to try every one of them: a rank is idle when it has polled one transfer
 * IDLE_POLLS times without success since its last post or completion. When all ranks are idle and
 * no rank has a completed transfer left to notice, one message arrives. A rank that is descheduled
 * between two polls is not idle, so the others wait for it.
 * SPDX-License-Identifier: MIT
 */
#include "world/internal.h"
#include "world/threads.h"

#include "core/clock.h"

#include <stdio.h>

struct channel { /* messages between two ranks with one tag */
    struct channel *next;
    int from, to, tag;
    uint64_t sent, wanted;
};

struct message {
    struct message *next;
    struct channel *channel;
    uint64_t number, due; /* due: arrival time in nanoseconds */
    const char *bytes;
    char *copy;
    size_t size;
    bool is_send;         /* false: a receive */
    bool taken, reported; /* a send: received; its completion was reported. With both it is freed */
    bool arrived;         /* a receive, in an order: may complete */
    uint64_t
        epoch; /* of its rank at the last unsuccessful poll; `polls`: their number since then */
    unsigned polls;
    void *into;
};

enum { IDLE_POLLS = 12, LOW_PRIORITY_POLLS = 3 }; /* request.c polls low-priority requests rarely */

struct member {     /* a rank, in an order */
    uint64_t epoch; /* number of its posts and completions */
    bool idle, gone;
};

struct threads {
    pthread_mutex_t lock;
    int size;
    struct orders *orders; /* NULL: messages arrive at random times */
    struct member *member;
    uint64_t stuck; /* time since when no message could arrive; 0: one can */
    unsigned delay; /* maximum, microseconds */
    uint64_t random;
    bool dead;
    struct channel *channels;
    struct message *messages;
};

struct endpoint { /* state of one rank's transport */
    struct threads *threads;
    int rank;
    bool alone; /* owns `threads` */
};

/* ---- Messages; with the lock. ---------------------------------------------------------------- */

static uint64_t delay_draw(struct threads *t)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return t->random >> 33;
}

static struct channel *channel_find(struct threads *t, int from, int to, int tag)
{
    for (struct channel *k = t->channels; k; k = k->next)
        if (k->from == from && k->to == to && k->tag == tag)
            return k;
    struct channel *k = calloc(1, sizeof *k);
    if (k) {
        *k = (struct channel){.next = t->channels, .from = from, .to = to, .tag = tag};
        t->channels = k;
    }
    return k;
}

static void message_free(struct threads *t, struct message *m)
{
    struct message **at = &t->messages;
    while (*at && *at != m)
        at = &(*at)->next;
    if (*at)
        *at = m->next;
    free(m->copy);
    free(m);
}

static struct message *message_find_sent(const struct threads *t, const struct message *wanted)
{
    for (struct message *m = t->messages; m; m = m->next)
        if (m->is_send && m->channel == wanted->channel && m->number == wanted->number)
            return m;
    return NULL;
}

/* A rank makes progress: it is not idle. */
static void rank_wake(struct threads *t, int rank)
{
    t->member[rank].epoch++;
    t->member[rank].idle = false;
    t->stuck = 0;
}

static bool send_is_buffered(struct threads *t, uint64_t number)
{
    const int copies = t->orders ? t->orders->copies : (int)(delay_draw(t) % 2);
    return copies == 2 ? number % 2 == 1 : copies == 1;
}

/* True if a receive of a rank would write to the bytes of another one, which MPI does not allow. */
static bool receive_overlaps(const struct threads *t, const struct message *model, int rank)
{
    const char *into = model->into;
    for (const struct message *m = t->messages; m && into; m = m->next) {
        const char *other = m->into;
        if (other && m->channel->to == rank && into < other + m->size && other < into + model->size)
            return true;
    }
    return false;
}

static int message_post(struct endpoint *p, const struct message *model, int from, int to, int tag,
                        struct transport_request *r, char *why)
{
    struct threads *t = p->threads;
    pthread_mutex_lock(&t->lock);
    struct message *m = calloc(1, sizeof *m);
    struct channel *channel = channel_find(t, from, to, tag);
    const bool overlaps = receive_overlaps(t, model, to);
    if (m && channel && !t->dead && !overlaps) {
        *m = *model;
        m->channel = channel;
        m->number = m->is_send ? channel->sent++ : channel->wanted++;
        m->due = t->delay ? ns_now() + delay_draw(t) % (1000u * (uint64_t)t->delay) : 0;
        if (m->is_send && send_is_buffered(t, m->number) &&
            (m->copy = malloc(m->size ? m->size : 1)))
            m->bytes = memcpy(m->copy, m->bytes, m->size);
        rank_wake(t, p->rank);
        m->next = t->messages;
        t->messages = m;
        r->handle[0] = (uintptr_t)m;
        pthread_mutex_unlock(&t->lock);
        return 0;
    }
    snprintf(why, TRANSPORT_WHY, "%s",
             t->dead    ? TRANSPORT_ENDED
             : overlaps ? "receive buffers overlap"
                        : "out of memory");
    pthread_mutex_unlock(&t->lock);
    free(m);
    return -1;
}

/* A buffered send is complete; its message stays until it is received. */
static int message_test_send(struct threads *t, struct message *m)
{
    if (!m->taken && !m->copy)
        return 0;
    m->reported = true;
    if (m->taken)
        message_free(t, m);
    return 1;
}

static bool is_termination_message(const struct message *m)
{
    return m->channel->tag == TAG_REPORT || m->channel->tag == TAG_LEAVE ||
           m->channel->tag == TAG_NOTIFY;
}

/* True if the order decides when this message arrives. */
static bool message_is_ordered(const struct threads *t, const struct message *m)
{
    return t->orders && (m->channel->tag < TAG_CALLERS ||
                         (m->channel->tag == TAG_COLLECTIVE ? ORDER_COLLECTIVE : ORDER_ALL) <=
                             (int)t->orders->what);
}

static int message_test_receive(struct threads *t, struct message *m, char *why)
{
    struct message *sent = message_find_sent(t, m);
    if (!sent || sent->taken || (message_is_ordered(t, m) && !m->arrived) ||
        (sent->due && ns_now() < sent->due))
        return 0;
    if (sent->size != m->size) {
        snprintf(why, TRANSPORT_WHY, "rank %d sent %zu bytes with tag %d, and rank %d wants %zu",
                 m->channel->from, sent->size, m->channel->tag, m->channel->to, m->size);
        return -1;
    }
    memcpy(m->into, sent->bytes, m->size);
    sent->taken = true;
    rank_wake(t, m->channel->from); /* the sender has a completion to notice */
    if (sent->reported)
        message_free(t, sent);
    message_free(t, m);
    return 1;
}

/* ---- Orders; with the lock. ------------------------------------------------------------------ */

static int message_compare(const void *a_, const void *b_)
{
    const struct message *a = *(struct message *const *)a_, *b = *(struct message *const *)b_;
    const int64_t by[] = {a->channel->from - b->channel->from, a->channel->to - b->channel->to,
                          a->channel->tag - b->channel->tag,
                          (int64_t)a->number - (int64_t)b->number};
    for (int i = 0; i < 4; i++)
        if (by[i])
            return by[i] < 0 ? -1 : 1;
    return 0;
}

/* Receives that could complete next, in a reproducible order. */
static size_t messages_ready(const struct threads *t, struct message **ready, size_t most)
{
    size_t n = 0;
    for (struct message *m = t->messages; m && n < most; m = m->next)
        if (!m->is_send && !m->arrived && message_is_ordered(t, m) && message_find_sent(t, m))
            ready[n++] = m;
    qsort(ready, n, sizeof *ready, message_compare);
    return n;
}

static size_t order_choose(struct orders *o, size_t n)
{
    const int k = o->made;
    if (n == 1 || k == ORDERS_MOST)
        return 0;
    if (k < o->planned && o->of[k] != n)
        o->diverged = true;
    if (k >= o->planned || o->choice[k] >= n) {
        o->random = o->random * 6364136223846793005u + (o->random ? 1442695040888963407u : 0);
        o->choice[k] = (unsigned short)((o->random >> 33) % n);
    }
    o->of[k] = (unsigned short)n;
    return o->choice[o->made++];
}

static void order_hash(struct orders *o, const struct message *m)
{
    const uint64_t what[] = {(uint64_t)m->channel->from, (uint64_t)m->channel->to,
                             (uint64_t)m->channel->tag, m->number};
    for (int i = 0; i < 4 && m->channel->tag < TAG_CALLERS; i++)
        o->sequence = (o->sequence ^ (what[i] + 1)) * 1099511628211u;
}

/* All ranks wait: let one message arrive. */
static void deliver_next(struct threads *t)
{
    enum { MOST = 1024 };
    struct message *ready[MOST];
    const size_t n = messages_ready(t, ready, MOST);
    if (n > 0) {
        struct message *m = ready[order_choose(t->orders, n)];
        m->arrived = true;
        order_hash(t->orders, m);
        rank_wake(t, m->channel->to);
    } else if (!t->stuck) {
        t->stuck = ns_now();
    } else if (1e-9 * (double)(ns_now() - t->stuck) > t->orders->timeout) {
        t->orders->stuck = t->dead = true;
    }
}

/* True if a rank has a completed transfer that its next poll will notice. */
static bool has_unnoticed_messages(const struct threads *t)
{
    for (struct message *m = t->messages; m; m = m->next) {
        if (t->member[m->is_send ? m->channel->from : m->channel->to].gone)
            continue;
        const struct message *sent = m->is_send ? NULL : message_find_sent(t, m);
        if (m->is_send ? !m->reported && (m->taken || m->copy)
                       : sent && !sent->taken && (m->arrived || !message_is_ordered(t, m)))
            return true;
    }
    return false;
}

static void rank_polled(struct threads *t, int rank, struct message *m)
{
    struct member *own = &t->member[rank];
    m->polls = m->epoch == own->epoch ? m->polls + 1 : 1;
    m->epoch = own->epoch;
    own->idle =
        own->idle || m->polls >= (is_termination_message(m) ? LOW_PRIORITY_POLLS : IDLE_POLLS);
    for (int r = 0; r < t->size; r++)
        if (!t->member[r].idle && !t->member[r].gone)
            return;
    if (!has_unnoticed_messages(t))
        deliver_next(t);
}

bool orders_next(struct orders *o)
{
    for (int k = o->made - 1; k >= 0; k--)
        if (o->choice[k] + 1 < o->of[k]) {
            o->choice[k]++;
            o->planned = k + 1;
            o->made = 0;
            return true;
        }
    return false;
}

void threads_order(struct threads *t, struct orders *orders)
{
    t->orders = orders;
    orders->made = 0;
    orders->sequence = 0;
    orders->stuck = false;
}

/* ---- The transport. -------------------------------------------------------------------------- */

static int threads_send(void *state, int rank, int tag, const void *bytes, size_t size,
                        struct transport_request *r, char *why)
{
    struct endpoint *p = state;
    const struct message model = {.is_send = true, .bytes = bytes, .size = size};
    return message_post(p, &model, p->rank, rank, tag, r, why);
}

static int threads_receive(void *state, int rank, int tag, void *bytes, size_t size,
                           struct transport_request *r, char *why)
{
    struct endpoint *p = state;
    const struct message model = {.into = bytes, .size = size};
    return message_post(p, &model, rank, p->rank, tag, r, why);
}

static int threads_test(void *state, struct transport_request *r, char *why)
{
    const struct endpoint *p = state;
    struct threads *t = p->threads;
    struct message *m = (struct message *)(uintptr_t)r->handle[0];
    pthread_mutex_lock(&t->lock);
    int status = -1;
    if (t->dead)
        snprintf(why, TRANSPORT_WHY, TRANSPORT_ENDED);
    else
        status = m->is_send ? message_test_send(t, m) : message_test_receive(t, m, why);
    if (status > 0)
        rank_wake(t, p->rank);
    else if (status == 0 && t->orders)
        rank_polled(t, p->rank, m);
    pthread_mutex_unlock(&t->lock);
    return status;
}

static int threads_cancel(void *state, struct transport_request *r)
{
    struct threads *t = ((struct endpoint *)state)->threads;
    pthread_mutex_lock(&t->lock);
    message_free(t, (struct message *)(uintptr_t)r->handle[0]);
    pthread_mutex_unlock(&t->lock);
    return 0;
}

static void threads_leave(void *state)
{
    struct endpoint *p = state;
    pthread_mutex_lock(&p->threads->lock);
    p->threads->member[p->rank].gone = true;
    pthread_mutex_unlock(&p->threads->lock);
    if (p->alone)
        threads_free(p->threads);
    free(p);
}

void threads_stop(struct threads *t)
{
    pthread_mutex_lock(&t->lock);
    t->dead = true;
    pthread_mutex_unlock(&t->lock);
}

static void threads_end(void *state, int status)
{
    (void)status;
    threads_stop(((struct endpoint *)state)->threads);
}

static const struct transport by_threads = {.abi = TRANSPORT_ABI,
                                            .names = "threads",
                                            .send = threads_send,
                                            .receive = threads_receive,
                                            .test = threads_test,
                                            .cancel = threads_cancel,
                                            .leave = threads_leave,
                                            .end = threads_end};

/* ---- Made and freed. ------------------------------------------------------------------------- */

struct threads *threads_create(int size, unsigned delay, unsigned seed)
{
    struct threads *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    *t = (struct threads){.size = size,
                          .delay = delay,
                          .random = seed,
                          .member = calloc((size_t)size, sizeof *t->member)};
    if (!t->member) {
        free(t);
        return NULL;
    }
    pthread_mutex_init(&t->lock, NULL);
    return t;
}

void threads_free(struct threads *t)
{
    if (!t)
        return;
    while (t->messages)
        message_free(t, t->messages);
    for (struct channel *k = t->channels, *next; k; k = next) {
        next = k->next;
        free(k);
    }
    pthread_mutex_destroy(&t->lock);
    free(t->member);
    free(t);
}

stdcl_world *world_of_threads(struct threads *threads, int rank, const char *host, bool polled,
                              const struct world_options *options)
{
    struct endpoint *p = calloc(1, sizeof *p);
    struct threads *t = threads ? threads : p ? threads_create(1, 0, 0) : NULL;
    if (!p || !t) {
        free(p);
        clerror_set(ENOMEM, "world_join: out of memory");
        return NULL;
    }
    *p = (struct endpoint){.threads = t, .rank = rank, .alone = !threads};
    return world_make(&by_threads, p, rank, t->size, !polled, "", host, options);
}
