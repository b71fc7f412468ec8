/* threads.c - ranks that are threads of one process: for tests, since sanitizers see all of them, and every message can be
 * late; and one of them is a world alone.
 *
 * As MPI has it, the n-th send of a rank to another with a tag meets the n-th receive there, whatever else is under way. Half of the sends,
 * by chance, copy the bytes and are done at once; the others are done when the receiver has them.
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
    bool taken, known; /* a send: the receiver has it; the sender knows that it is done. Then it goes */
    void *into;
};

struct threads {
    pthread_mutex_t lock;
    int size;
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

/* ---- Messages; with the lock. ----------------------------------------------------------------- */

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

static int post(struct place *p, const struct message *like, int from, int to, int tag, struct transport_request *r, char *why)
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
        if (m->is_send && draw(t) % 2 && (m->copy = malloc(m->size ? m->size : 1)))
            m->bytes = memcpy(m->copy, m->bytes, m->size);
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

static int test_receive(struct threads *t, struct message *m, char *why)
{
    struct message *sent = find_sent(t, m);
    if (!sent || sent->taken || (sent->due && ns_now() < sent->due))
        return 0;
    if (sent->size != m->size) {
        snprintf(why, TRANSPORT_WHY, "rank %d sent %zu bytes with tag %d, and rank %d wants %zu", m->key->from, sent->size, m->key->tag,
                 m->key->to, m->size);
        return -1;
    }
    memcpy(m->into, sent->bytes, m->size);
    sent->taken = true;
    if (sent->known)
        forget(t, sent);
    forget(t, m);
    return 1;
}

/* ---- The transport. --------------------------------------------------------------------------- */

static int threads_send(void *state, int rank, int tag, const void *bytes, size_t size, struct transport_request *r, char *why)
{
    struct place *p = state;
    const struct message like = {.is_send = true, .bytes = bytes, .size = size};
    return post(p, &like, p->rank, rank, tag, r, why);
}

static int threads_receive(void *state, int rank, int tag, void *bytes, size_t size, struct transport_request *r, char *why)
{
    struct place *p = state;
    const struct message like = {.into = bytes, .size = size};
    return post(p, &like, rank, p->rank, tag, r, why);
}

static int threads_test(void *state, struct transport_request *r, char *why)
{
    struct threads *t = ((struct place *)state)->threads;
    struct message *m = (struct message *)(uintptr_t)r->handle[0];
    pthread_mutex_lock(&t->lock);
    int status = -1;
    if (t->dead)
        snprintf(why, TRANSPORT_WHY, "the job was ended");
    else
        status = m->is_send ? test_send(t, m) : test_receive(t, m, why);
    pthread_mutex_unlock(&t->lock);
    return status;
}

static void threads_cancel(void *state, struct transport_request *r)
{
    struct threads *t = ((struct place *)state)->threads;
    pthread_mutex_lock(&t->lock);
    forget(t, (struct message *)(uintptr_t)r->handle[0]);
    pthread_mutex_unlock(&t->lock);
}

static void threads_leave(void *state)
{
    struct place *p = state;
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

/* ---- Made and freed. -------------------------------------------------------------------------- */

struct threads *threads_create(int size, unsigned delay, unsigned seed)
{
    struct threads *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    *t = (struct threads){.size = size, .delay = delay, .random = seed};
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
    free(t);
}

stdcl_world *world_of_threads(struct threads *threads, int rank, const char *host, bool polled, const struct world_options *options)
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
