/* threads.c - ranks that are threads of one process: for tests, since sanitizers see all of them,
 * and every message can be late; and one of them is a world alone.
 *
 * As MPI has it, the n-th send of a rank to another with a tag meets the n-th receive there,
 * whatever else is under way. Half of the sends, by chance, copy the bytes and are done at once;
 * the others are done when the receiver has them.
 *
 * Orders, to try all in which mail can arrive: a rank is idle when it has looked at one piece of
 * mail LOOKS times in vain since it last posted any or noticed that some had arrived. When all are
 * idle and nothing is there that one of them has yet to notice, and not before, one piece arrives:
 * a rank that is held back between two looks is waited for.
 * SPDX-License-Identifier: MIT
 */
#include "world/internal.h"

#include "core/clock.h"

#include <stdio.h>

struct key { /* between two ranks, for one tag */
    struct key *next;
    int from, to, tag;
    uint64_t sent, wanted;
};

struct message {
    struct message *next;
    struct key *key;
    uint64_t number, due; /* due: in nanoseconds of the clock */
    const char *bytes;
    char *copy;
    size_t size;
    bool is_send; /* else a receive */
    bool taken,
        known;    /* a send: the receiver has it; the sender knows that it is done. Then it goes */
    bool arrived; /* a receive, in an order: it may have it */
    uint64_t epoch; /* of its rank, when it was last looked at in vain, `looks` times */
    unsigned looks;
    void *into;
};

enum { LOOKS = 12, LOOKS_OF_STANDING = 3 }; /* request.c looks at that once in a while */

struct member {     /* a rank, in an order */
    uint64_t epoch; /* how often it has posted or noticed mail */
    bool idle, gone;
};

struct threads {
    pthread_mutex_t lock;
    int size;
    struct orders *orders; /* or NULL: by chance and time */
    struct member *member;
    uint64_t stuck; /* since when nothing could arrive; 0: it can */
    unsigned delay; /* microseconds at most */
    uint64_t random;
    bool dead;
    struct key *keys;
    struct message *messages;
};

struct place { /* of a rank */
    struct threads *threads;
    int rank;
    bool alone; /* the threads are its own */
};

/* ---- Messages; with the lock. ---------------------------------------------------------------- */

static uint64_t draw(struct threads *t)
{
    t->random = t->random * 6364136223846793005u + 1442695040888963407u;
    return t->random >> 33;
}

static struct key *find_key(struct threads *t, int from, int to, int tag)
{
    for (struct key *k = t->keys; k; k = k->next)
        if (k->from == from && k->to == to && k->tag == tag)
            return k;
    struct key *k = calloc(1, sizeof *k);
    if (k) {
        *k = (struct key){.next = t->keys, .from = from, .to = to, .tag = tag};
        t->keys = k;
    }
    return k;
}

static void forget(struct threads *t, struct message *m)
{
    struct message **at = &t->messages;
    while (*at && *at != m)
        at = &(*at)->next;
    if (*at)
        *at = m->next;
    free(m->copy);
    free(m);
}

static struct message *find_sent(const struct threads *t, const struct message *wanted)
{
    for (struct message *m = t->messages; m; m = m->next)
        if (m->is_send && m->key == wanted->key && m->number == wanted->number)
            return m;
    return NULL;
}

/* A rank goes on. */
static void stir(struct threads *t, int rank)
{
    t->member[rank].epoch++;
    t->member[rank].idle = false;
    t->stuck = 0;
}

static bool copied(struct threads *t, uint64_t number)
{
    const int copies = t->orders ? t->orders->copies : (int)(draw(t) % 2);
    return copies == 2 ? number % 2 == 1 : copies == 1;
}

static int post(struct place *p, const struct message *like, int from, int to, int tag,
                struct transport_request *r, char *why)
{
    struct threads *t = p->threads;
    pthread_mutex_lock(&t->lock);
    struct message *m = calloc(1, sizeof *m);
    struct key *key = find_key(t, from, to, tag);
    if (m && key && !t->dead) {
        *m = *like;
        m->key = key;
        m->number = m->is_send ? key->sent++ : key->wanted++;
        m->due = t->delay ? ns_now() + draw(t) % (1000u * (uint64_t)t->delay) : 0;
        if (m->is_send && copied(t, m->number) && (m->copy = malloc(m->size ? m->size : 1)))
            m->bytes = memcpy(m->copy, m->bytes, m->size);
        stir(t, p->rank);
        m->next = t->messages;
        t->messages = m;
        r->handle[0] = (uintptr_t)m;
        pthread_mutex_unlock(&t->lock);
        return 0;
    }
    snprintf(why, TRANSPORT_WHY, "%s", t->dead ? "the job was ended" : "no memory");
    pthread_mutex_unlock(&t->lock);
    free(m);
    return -1;
}

/* A send that was copied is done; its message stays until it is received. */
static int test_send(struct threads *t, struct message *m)
{
    if (!m->taken && !m->copy)
        return 0;
    m->known = true;
    if (m->taken)
        forget(t, m);
    return 1;
}

static bool is_of_ends(const struct message *m)
{
    return m->key->tag == TAG_NOTE || m->key->tag == TAG_GO || m->key->tag == TAG_TOLD;
}

/* Whether mail has its place in an order. */
static bool is_ordered(const struct threads *t, const struct message *m)
{
    return t->orders &&
           (m->key->tag < TAG_CALLERS ||
            (m->key->tag == TAG_COLLECTIVE ? ORDER_TOGETHER : ORDER_ENDS) <= (int)t->orders->what);
}

static int test_receive(struct threads *t, struct message *m, char *why)
{
    struct message *sent = find_sent(t, m);
    if (!sent || sent->taken || (is_ordered(t, m) && !m->arrived) ||
        (sent->due && ns_now() < sent->due))
        return 0;
    if (sent->size != m->size) {
        snprintf(why, TRANSPORT_WHY, "rank %d sent %zu bytes with tag %d, and rank %d wants %zu",
                 m->key->from, sent->size, m->key->tag, m->key->to, m->size);
        return -1;
    }
    memcpy(m->into, sent->bytes, m->size);
    sent->taken = true;
    stir(t, m->key->from); /* which is to notice it */
    if (sent->known)
        forget(t, sent);
    forget(t, m);
    return 1;
}

/* ---- Orders; with the lock. ------------------------------------------------------------------ */

static int compare(const void *a_, const void *b_)
{
    const struct message *a = *(struct message *const *)a_, *b = *(struct message *const *)b_;
    const int64_t by[] = {a->key->from - b->key->from, a->key->to - b->key->to,
                          a->key->tag - b->key->tag, (int64_t)a->number - (int64_t)b->number};
    for (int i = 0; i < 4; i++)
        if (by[i])
            return by[i] < 0 ? -1 : 1;
    return 0;
}

/* Receives that could be the next, in an order of their own. */
static size_t find_ready(const struct threads *t, struct message **ready, size_t most)
{
    size_t n = 0;
    for (struct message *m = t->messages; m && n < most; m = m->next)
        if (!m->is_send && !m->arrived && is_ordered(t, m) && find_sent(t, m))
            ready[n++] = m;
    qsort(ready, n, sizeof *ready, compare);
    return n;
}

static size_t choose(struct orders *o, size_t n)
{
    const int k = o->made;
    if (n == 1 || k == ORDERS_MOST)
        return 0;
    if (k < o->planned && o->of[k] != n)
        o->other = true;
    if (k >= o->planned || o->choice[k] >= n) {
        o->random = o->random * 6364136223846793005u + (o->random ? 1442695040888963407u : 0);
        o->choice[k] = (unsigned short)((o->random >> 33) % n);
    }
    o->of[k] = (unsigned short)n;
    return o->choice[o->made++];
}

static void note(struct orders *o, const struct message *m)
{
    const uint64_t what[] = {(uint64_t)m->key->from, (uint64_t)m->key->to, (uint64_t)m->key->tag,
                             m->number};
    for (int i = 0; i < 4 && m->key->tag < TAG_CALLERS; i++)
        o->sequence = (o->sequence ^ (what[i] + 1)) * 1099511628211u;
}

/* All ranks wait: one piece of mail arrives. */
static void deliver_one(struct threads *t)
{
    enum { MOST = 1024 };
    struct message *ready[MOST];
    const size_t n = find_ready(t, ready, MOST);
    if (n > 0) {
        struct message *m = ready[choose(t->orders, n)];
        m->arrived = true;
        note(t->orders, m);
        stir(t, m->key->to);
    } else if (!t->stuck) {
        t->stuck = ns_now();
    } else if (1e-9 * (double)(ns_now() - t->stuck) > t->orders->patience) {
        t->orders->stuck = t->dead = true;
    }
}

/* Something has come, or gone, that its rank notices at its next look. */
static bool has_news(const struct threads *t)
{
    for (struct message *m = t->messages; m; m = m->next) {
        if (t->member[m->is_send ? m->key->from : m->key->to].gone)
            continue;
        const struct message *sent = m->is_send ? NULL : find_sent(t, m);
        if (m->is_send ? !m->known && (m->taken || m->copy)
                       : sent && !sent->taken && (m->arrived || !is_ordered(t, m)))
            return true;
    }
    return false;
}

static void looked_in_vain(struct threads *t, int rank, struct message *m)
{
    struct member *own = &t->member[rank];
    m->looks = m->epoch == own->epoch ? m->looks + 1 : 1;
    m->epoch = own->epoch;
    own->idle = own->idle || m->looks >= (is_of_ends(m) ? LOOKS_OF_STANDING : LOOKS);
    for (int r = 0; r < t->size; r++)
        if (!t->member[r].idle && !t->member[r].gone)
            return;
    if (!has_news(t))
        deliver_one(t);
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
    struct place *p = state;
    const struct message like = {.is_send = true, .bytes = bytes, .size = size};
    return post(p, &like, p->rank, rank, tag, r, why);
}

static int threads_receive(void *state, int rank, int tag, void *bytes, size_t size,
                           struct transport_request *r, char *why)
{
    struct place *p = state;
    const struct message like = {.into = bytes, .size = size};
    return post(p, &like, rank, p->rank, tag, r, why);
}

static int threads_test(void *state, struct transport_request *r, char *why)
{
    const struct place *p = state;
    struct threads *t = p->threads;
    struct message *m = (struct message *)(uintptr_t)r->handle[0];
    pthread_mutex_lock(&t->lock);
    int status = -1;
    if (t->dead)
        snprintf(why, TRANSPORT_WHY, "the job was ended");
    else
        status = m->is_send ? test_send(t, m) : test_receive(t, m, why);
    if (status > 0)
        stir(t, p->rank);
    else if (status == 0 && t->orders)
        looked_in_vain(t, p->rank, m);
    pthread_mutex_unlock(&t->lock);
    return status;
}

static int threads_cancel(void *state, struct transport_request *r)
{
    struct threads *t = ((struct place *)state)->threads;
    pthread_mutex_lock(&t->lock);
    forget(t, (struct message *)(uintptr_t)r->handle[0]);
    pthread_mutex_unlock(&t->lock);
    return 0;
}

static void threads_leave(void *state)
{
    struct place *p = state;
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
    threads_stop(((struct place *)state)->threads);
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
        forget(t, t->messages);
    for (struct key *k = t->keys, *next; k; k = next) {
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
    struct place *p = calloc(1, sizeof *p);
    struct threads *t = threads ? threads : p ? threads_create(1, 0, 0) : NULL;
    if (!p || !t) {
        free(p);
        clerror_set(ENOMEM, "world_join: no memory");
        return NULL;
    }
    *p = (struct place){.threads = t, .rank = rank, .alone = !threads};
    return world_make(&by_threads, p, rank, t->size, !polled, "", host, options);
}
