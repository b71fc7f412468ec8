/* Ranks as threads of one process: messages and their order, division of devices, and
 * termination of a job. Messages are delayed at random, and half of them are not copied before
 * the receiver needs them.
 * SPDX-License-Identifier: MIT
 */
#include "ranks.h"

#include "core/clock.h"
#include "core/outfile.h"

#include "stdcl/philox.h"

#include <limits.h>
#include <signal.h>
#include <unistd.h>

static uint32_t world_word(size_t i, uint32_t key)
{
    return philox4x32_10((philox4){(uint32_t)i, 0, 0, 0}, key, 0).x;
}

#define WRONG(...) clerror_set(EPROTO, __VA_ARGS__)

/* ---- Mail. ----------------------------------------------------------------------------------- */

enum { MAILS = 12, WORDS = 3000 };

/* Every rank sends messages of several sizes with two tags to every rank, itself included; all
 * are in flight at once. Receives are posted in another order than sends, but equal for each
 * tag. */
static int everybody_to_everybody(struct rank_run *r)
{
    const size_t pairs = (size_t)r->size * MAILS;
    uint32_t *out = malloc(pairs * WORDS * 4), *in = calloc(pairs * WORDS, 4);
    world_request **mail = calloc(2 * pairs, sizeof *mail);
    size_t n = 0;
    int status = 0;
    for (int peer = 0; peer < r->size; peer++)
        for (size_t k = 0; k < MAILS; k++) {
            uint32_t *p = out + ((size_t)peer * MAILS + k) * WORDS;
            for (size_t i = 0; i < WORDS; i++)
                p[i] = world_word(i, (uint32_t)(r->rank * 10000 + peer * 100) + (uint32_t)k);
            mail[n++] = world_send(r->world, peer, k % 3 == 0, p, k * WORDS * 4 / MAILS);
        }
    for (int peer = r->size - 1; peer >= 0; peer--)
        for (size_t tag = 0; tag < 2; tag++)
            for (size_t k = 0; k < MAILS; k++)
                if ((k % 3 == 0) == (tag == 1))
                    mail[n++] = world_receive(r->world, peer, (int)tag,
                                              in + ((size_t)peer * MAILS + k) * WORDS,
                                              k * WORDS * 4 / MAILS);
    if (world_wait(r->world, mail, n) != 0)
        status = -1;
    for (int peer = 0; peer < r->size && status == 0; peer++)
        for (size_t k = 0; k < MAILS && status == 0; k++)
            for (size_t i = 0; i < WORDS && status == 0; i++) {
                const uint32_t got = in[((size_t)peer * MAILS + k) * WORDS + i];
                const uint32_t right =
                    i < k * WORDS / MAILS
                        ? world_word(i, (uint32_t)(peer * 10000 + r->rank * 100) + (uint32_t)k)
                        : 0;
                if (got != right)
                    status = WRONG("word %zu of mail %zu from rank %d is %u, not %u", i, k, peer,
                                   got, right);
            }
    free(out), free(in), free(mail);
    return status;
}

static void world_messages_arrive(void **state)
{
    (void)state;
    for (int size = 1; size <= 8; size += size == 3 ? 2 : size == 5 ? 3 : 1)
        for (unsigned way = 0; way < 4; way++)
            ranks_work(size, everybody_to_everybody,
                       (struct ranks_how){.delay = way % 2 ? 3000 : 0,
                                          .seed = 7 * (unsigned)size + way,
                                          .polled = way >= 2});
}

/* A long message moves although no rank waits for it. */
static int moves_by_itself(struct rank_run *r)
{
    int sent = 42, got = 0;
    world_request *mail = r->rank == 0 ? world_send(r->world, 1, 5, &sent, sizeof sent)
                                       : world_receive(r->world, 0, 5, &got, sizeof got);
    for (bool done = false; !done; sched_yield()) { /* it would stay so for ever */
        pthread_mutex_lock(&r->world->lock);
        done = mail->done == mail->pieces;
        pthread_mutex_unlock(&r->world->lock);
    }
    if (!world_test(r->world, mail) || world_wait(r->world, &mail, 1) != 0)
        return -1;
    return r->rank == 0 || got == 42 ? 0 : WRONG("%d", got);
}

static void world_messages_move_in_background(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 4; seed++)
        ranks_work(2, moves_by_itself, (struct ranks_how){.delay = 2000, .seed = seed});
}

/* Rank 1 sends when rank 0 waits for it: the wait time is counted for rank 0 only. */
static _Atomic(stdcl_world *) who_waits;

static int one_waits(struct rank_run *r)
{
    int word = 0;
    if (r->rank == 0) {
        const double before = world_wait_time(r->world, 1), other = world_wait_time(r->world, 2);
        world_request *mail = world_receive(r->world, 1, 5, &word, sizeof word);
        atomic_store(&who_waits, r->world);
        if (world_wait(r->world, &mail, 1) != 0)
            return -1;
        return world_wait_time(r->world, 1) > before && world_wait_time(r->world, 2) == other &&
                       world_wait_time(r->world, 3) == 0
                   ? 0
                   : WRONG("waited %g s for rank 1 after %g s, %g s for rank 2",
                           world_wait_time(r->world, 1), before, world_wait_time(r->world, 2));
    }
    for (bool waits = r->rank > 1; !waits; sched_yield()) {
        stdcl_world *first = atomic_load(&who_waits);
        if (!first)
            continue;
        pthread_mutex_lock(&first->lock);
        waits = first->waiting > 0;
        pthread_mutex_unlock(&first->lock);
    }
    world_request *mail = r->rank == 1 ? world_send(r->world, 0, 5, &word, sizeof word) : NULL;
    return r->rank == 1 ? world_wait(r->world, &mail, 1) : 0;
}

static void world_wait_time_is_counted(void **state)
{
    (void)state;
    for (int polled = 0; polled < 2; polled++) {
        atomic_store(&who_waits, NULL);
        ranks_work(3, one_waits, (struct ranks_how){.polled = polled});
    }
}

static int wrong_calls(struct rank_run *r)
{
    char byte = 0;
    if (world_send(r->world, 2, 0, &byte, 1) || clerrno != EINVAL)
        return WRONG("rank 2 of 2 was sent to");
    if (world_receive(r->world, -1, 0, &byte, 1) || clerrno != EINVAL)
        return WRONG("rank -1 was received from");
    if (world_receive(r->world, 0, 10000, &byte, 1) || clerrno != EINVAL)
        return WRONG("tag 10000 was taken");
    if (world_broadcast(r->world, 2, &byte, 1) != -1 || clerrno != EINVAL)
        return WRONG("rank 2 of 2 was a root");
    return 0;
}

static void world_rejects_bad_calls(void **state)
{
    (void)state;
    ranks_work(2, wrong_calls, (struct ranks_how){0});
}

/* ---- Together. ------------------------------------------------------------------------------- */

struct span { /* of ranks, joined in order */
    int32_t first, last;
    char text[64]; /* "((01)(23))" */
};

static void join_spans(void *a, const void *b, void *arg)
{
    struct span *one = a;
    const struct span *two = b;
    char text[64];
    if (one->last + 1 != two->first)
        ++*(int *)arg;
    snprintf(text, sizeof text, "(%.30s%.30s)", one->text, two->text);
    memcpy(one->text, text, sizeof text);
    one->last = two->last;
}

static int check_together(struct rank_run *r)
{
    static const char *const order[] = {"",        "0",          "(01)",
                                        "((01)2)", "((01)(23))", "(((01)(23))4)",
                                        "",        "",           "(((01)(23))((45)(67)))"};
    for (int root = 0; root < r->size; root++) {
        uint32_t bytes[100];
        for (size_t i = 0; i < 100; i++)
            bytes[i] = r->rank == root ? world_word(i, (uint32_t)root) : 0;
        if (world_broadcast(r->world, root, bytes, sizeof bytes) != 0)
            return -1;
        for (size_t i = 0; i < 100; i++)
            if (bytes[i] != world_word(i, (uint32_t)root))
                return WRONG("word %zu of root %d is %u", i, root, bytes[i]);
    }
    uint32_t mine[3] = {world_word(0, (uint32_t)r->rank), world_word(1, (uint32_t)r->rank),
                        world_word(2, (uint32_t)r->rank)},
             all[3 * MOST_RANKS];
    if (world_gather(r->world, mine, sizeof mine, all) != 0)
        return -1;
    for (int k = 0; k < 3 * r->size; k++)
        if (all[k] != world_word((size_t)k % 3, (uint32_t)k / 3))
            return WRONG("gathered word %d is %u", k, all[k]);
    struct span span = {.first = r->rank, .last = r->rank};
    int gaps = 0;
    snprintf(span.text, sizeof span.text, "%d", r->rank);
    if (world_reduce(r->world, &span, sizeof span, join_spans, &gaps) != 0)
        return -1;
    if (gaps || strcmp(span.text, order[r->size]) != 0)
        return WRONG("joined as %s, with %d gaps", span.text, gaps);
    uint64_t numbers[2] = {(uint64_t)r->rank, 1};
    if (world_add(r->world, numbers, 2) != 0 || world_barrier(r->world) != 0)
        return -1;
    if (numbers[0] != (uint64_t)(r->size * (r->size - 1) / 2) || numbers[1] != (uint64_t)r->size)
        return WRONG("added up %llu", (unsigned long long)numbers[0]);
    return 0;
}

static void world_collectives_match(void **state)
{
    (void)state;
    for (int size = 1; size <= 8; size += size == 3 ? 2 : size == 5 ? 3 : 1)
        for (unsigned way = 0; way < 3; way++)
            ranks_work(size, check_together,
                       (struct ranks_how){.delay = way ? 500 : 0, .seed = way, .polled = way == 2});
}

/* No rank leaves a barrier before all have entered. */
static int in_order(struct rank_run *r)
{
    static int come;
    for (int round = 1; round <= 5; round++) {
        __atomic_add_fetch(&come, 1, __ATOMIC_SEQ_CST);
        if (world_barrier(r->world) != 0)
            return -1;
        if (__atomic_load_n(&come, __ATOMIC_SEQ_CST) < round * r->size)
            return WRONG("round %d: only %d had come", round, come);
        if (world_barrier(r->world) != 0)
            return -1;
    }
    return 0;
}

static void world_barrier_holds(void **state)
{
    (void)state;
    ranks_work(5, in_order, (struct ranks_how){.delay = 500, .seed = 3});
}

/* If ranks fail, all receive the status of the lowest failing rank. */
static int one_fails(struct rank_run *r)
{
    const int which = *(const int *)r->arg;
    const int status = r->rank >= which && r->rank < which + 2
                           ? clerror_set(ENOSPC, "the disk of %d is full", r->rank)
                           : 0;
    if (world_reduce_status(r->world, 0) != 0)
        return WRONG("nobody failed, but one was told: %s", clerror());
    char right[100];
    snprintf(right, sizeof right, "rank %d on host: the disk of %d is full", which, which);
    if (world_reduce_status(r->world, status) != -1 || clerrno != ENOSPC ||
        strcmp(clerror(), right) != 0)
        return WRONG("clerrno %d, %s", clerrno, clerror());
    if (world_reduce_status(r->world, clerror_set(EINVAL, "all are wrong")) != -1 ||
        strcmp(clerror(), "all are wrong") != 0)
        return WRONG("alike: %s", clerror());
    return 0;
}

static void world_status_is_reduced(void **state)
{
    (void)state;
    for (int which = 0; which < 5; which++)
        ranks_work(5, one_fails, (struct ranks_how){.arg = &which});
}

static int different(struct rank_run *r)
{
    char text[20];
    snprintf(text, sizeof text, "--dt 0.0%d", r->rank == 3 ? 2 : 1);
    if (world_check_equal(r->world, "the words", "same") != 0)
        return -1;
    if (world_check_equal(r->world, "the words", text) != -1 || clerrno != EINVAL)
        return WRONG("clerrno %d", clerrno);
    const char *right =
        "rank 3 on host: it has the words '--dt 0.02', rank 0 on host has '--dt 0.01'";
    return strcmp(clerror(), right) == 0 ? 0 : WRONG("%s", clerror());
}

static void world_unequal_values_are_reported(void **state)
{
    (void)state;
    ranks_work(5, different, (struct ranks_how){0});
}

/* As ranks_work does: a rank that fails leaves no rank waiting for it. */
static int gives_up(struct rank_run *r)
{
    if (r->rank == 1)
        return WRONG("I have failed");
    return world_reduce_status(r->world, 0);
}

static void world_failure_ends_all_ranks(void **state)
{
    struct rank_run runs[MOST_RANKS];
    (void)state;
    for (int polled = 0; polled < 2; polled++) {
        atomic_int failed = 0;
        ranks_run(3, gives_up,
                  (struct ranks_how){.failed = &failed, .polled = polled, .delay = 300}, runs);
        assert_int_equal(failed, 2);
        assert_string_equal(runs[1].sentence, "I have failed");
        for (int r = 0; r < 3; r += 2)
            assert_true(runs[r].status != 0 && strstr(runs[r].sentence, "the job was ended"));
    }
}

/* ---- Hosts and devices. ---------------------------------------------------------------------- */

static cl_device_id device[2];

struct seen_by { /* the devices of each rank, and those it gets: "ab" are the first and the second
                  */
    int size, share;
    const char *host[4], *sees[4], *gets[4];
};

static int give_devices(struct rank_run *r)
{
    const struct seen_by *s = r->arg;
    cl_device_id ids[2];
    unsigned char mine[2] = {9, 9};
    char got[3] = "", *end = got;
    const size_t n = strlen(s->sees[r->rank]);
    for (size_t i = 0; i < n; i++)
        ids[i] = device[s->sees[r->rank][i] - 'a'];
    if (world_devices(r->world, ids, n, s->share, mine) != 0)
        return -1;
    for (size_t i = 0; i < n; i++)
        if (mine[i])
            *end++ = s->sees[r->rank][i];
    return strcmp(got, s->gets[r->rank]) == 0
               ? 0
               : WRONG("it got '%s', not '%s'", got, s->gets[r->rank]);
}

/* Two devices of different names: PoCL's own have equal names, and are distinguished by their
 * number in the list. */
static void world_devices_are_divided(void **state)
{
    (void)state;
    static const struct seen_by cases[] = {
        {2, 0, {"x", "x"}, {"ab", "ab"}, {"a", "b"}},
        {1, 0, {"x"}, {"ab"}, {"ab"}},
        {2, 0, {"x", "y"}, {"ab", "ab"}, {"ab", "ab"}},
        {4, 0, {"x", "y", "x", "y"}, {"ab", "ab", "ab", "ab"}, {"a", "a", "b", "b"}},
        {3, 1, {"x", "x", "x"}, {"ab", "ab", "ab"}, {"a", "b", "a"}},
        {2, 1, {"x", "x"}, {"a", "a"}, {"a", "a"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ranks_work(cases[i].size, give_devices,
                   (struct ranks_how){.hosts = cases[i].host, .arg = (void *)(uintptr_t)&cases[i]});
    static const struct seen_by few = {3, 0, {"y", "x", "x"}, {"a", "a", "a"}, {"a", "a", "a"}};
    struct rank_run runs[MOST_RANKS];
    ranks_run(3, give_devices,
              (struct ranks_how){.hosts = few.host, .arg = (void *)(uintptr_t)&few}, runs);
    for (int r = 0; r < 3; r++)
        if (runs[r].status == 0 ||
            !strstr(runs[r].sentence, "rank 1 on x: 2 ranks on this host, and 1 device: ") ||
            !strstr(runs[r].sentence, "start fewer ranks") || !strstr(runs[r].sentence, "--share"))
            fail_msg("rank %d: %s", r, runs[r].sentence);
}

static int check_hosts(struct rank_run *r)
{
    const bool right = world_hosts(r->world) == 2 && strcmp(world_host(r->world, 0), "x") == 0 &&
                       strcmp(world_host(r->world, 2), "y") == 0 &&
                       world_rank(r->world) == r->rank && world_size(r->world) == 3;
    return right ? 0 : WRONG("%d hosts", world_hosts(r->world));
}

static void world_hosts_are_counted(void **state)
{
    (void)state;
    static const char *const hosts[] = {"x", "x", "y"};
    ranks_work(3, check_hosts, (struct ranks_how){.hosts = hosts});
    assert_int_equal(world_rank(NULL), 0);
    assert_int_equal(world_size(NULL), 1);
    assert_int_equal(world_hosts(NULL), 1);
    ready(world_host(NULL, 0));
}

/* ---- A number that one rank tells. ----------------------------------------------------------- */

/* One rank notifies all while they compute; each receives the notification without a call. In a
 * polled world it has to poll. */
static int one_tells(struct rank_run *r)
{
    const int which = *(const int *)r->arg;
    char byte = 0;
    if (world_notified(r->world) != 0)
        return WRONG("it was told %d before anybody has", world_notified(r->world));
    if (world_barrier(r->world) != 0)
        return -1;
    if (r->rank == which)
        world_notify(r->world, 15);
    world_request *mail = r->polled ? world_receive(r->world, r->rank, 3, &byte, 1) : NULL;
    while (world_notified(r->world) == 0) {
        if (r->polled)
            world_test(r->world, mail);
        sched_yield();
    }
    if (r->polled) {
        world_request *both[2] = {mail, world_send(r->world, r->rank, 3, &byte, 1)};
        if (world_wait(r->world, both, 2) != 0)
            return -1;
    }
    if (world_notified(r->world) != 15)
        return WRONG("it was told %d", world_notified(r->world));
    return 0;
}

static void world_notify_reaches_all(void **state)
{
    (void)state;
    for (int size = 1; size <= 8; size += size == 3 ? 2 : size == 5 ? 3 : 1)
        for (int which = 0; which < size; which += 1 + size / 3)
            for (int polled = 0; polled < 2; polled++)
                ranks_work(
                    size, one_tells,
                    (struct ranks_how){
                        .arg = &which, .polled = polled, .delay = 300, .seed = (unsigned)which});
}

/* All send different notifications at once, and leave. */
static int all_tell(struct rank_run *r)
{
    world_notify(r->world, 10 + r->rank);
    world_notify(r->world, 99); /* the second is not heard */
    const int told = world_notified(r->world);
    return told >= 10 && told < 10 + r->size ? 0 : WRONG("it was told %d", told);
}

static void world_notify_before_leaving_arrives(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 4; seed++)
        ranks_work(5, all_tell,
                   (struct ranks_how){.delay = 1000, .seed = seed, .polled = seed % 2});
    assert_int_equal(world_notified(NULL), 0);
    world_notify(NULL, 3);
}

/* A process delayed while it polls low-priority requests, here by 0.1 s each, polls again at once:
 * otherwise it would miss for minutes that other ranks end. */
static const struct transport *in_time;

static int test_late(void *state, struct transport_request *request, char *why)
{
    usleep(100000);
    return in_time->test(state, request, why);
}

static int is_held_back(struct rank_run *r)
{
    char byte = 0;
    double pause = 0;
    stdcl_world *w = r->world;
    if (r->rank == 0) {
        struct transport late = *w->transport;
        world_request *mail = world_receive(w, 0, 3, &byte, 1);
        in_time = w->transport;
        late.test = test_late;
        w->transport = &late;
        for (const double before = w->low_priority_due; w->low_priority_due == before;)
            world_test(w, mail);
        pause = w->low_priority_due - seconds_now();
        w->transport = in_time;
        world_request *both[2] = {mail, world_send(w, 0, 3, &byte, 1)};
        if (world_wait(w, both, 2) != 0)
            return -1;
    }
    return pause < 1 ? 0 : WRONG("it looks again after %g s", pause);
}

static void world_delayed_rank_retries(void **state)
{
    (void)state;
    ranks_work(2, is_held_back, (struct ranks_how){.polled = true});
}

/* ---- The end. -------------------------------------------------------------------------------- */

static struct {
    pthread_mutex_t lock;
    int times;
    useconds_t pause; /* duration of print_and_fail */
    bool printing;
    char sentence[2000];
} told = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void print_and_fail(void *arg, const char *sentence)
{
    (void)arg;
    pthread_mutex_lock(&told.lock);
    told.times++;
    snprintf(told.sentence, sizeof told.sentence, "%s", sentence);
    told.printing = true;
    pthread_mutex_unlock(&told.lock);
    usleep(told.pause);
    pthread_mutex_lock(&told.lock);
    told.printing = false;
    pthread_mutex_unlock(&told.lock);
}

static void wait_until_told(void)
{
    for (bool over = false; !over; usleep(1000)) {
        pthread_mutex_lock(&told.lock);
        over = told.times > 0;
        pthread_mutex_unlock(&told.lock);
    }
}

static const struct world_options telling = {.on_abort = print_and_fail};

static void check_job_ends_with(int size, int (*run)(struct rank_run *), void *arg, bool polled,
                                const char *sentence)
{
    struct rank_run runs[MOST_RANKS];
    told.times = 0;
    ranks_run(size, run,
              (struct ranks_how){
                  .leaves = true, .options = &telling, .polled = polled, .delay = 300, .arg = arg},
              runs);
    for (int r = 0; r < size; r++)
        if (runs[r].status != 0)
            fail_msg("rank %d: %s", r, runs[r].sentence);
    if (told.times != 1 || strcmp(told.sentence, sentence) != 0)
        fail_msg("told %d times, '%s', not '%s'", told.times, told.sentence, sentence);
}

static void check_job_ends(int size, int (*run)(struct rank_run *), bool polled,
                           const char *sentence)
{
    check_job_ends_with(size, run, NULL, polled, sentence);
}

/* Rank 1 fails while the other ranks wait for it: their calls fail too, in time. */
static int fails_alone(struct rank_run *r)
{
    if (r->rank == 1) {
        world_abort(r->world, 3, "a device is lost");
        return 0;
    }
    const bool heard = world_barrier(r->world) != 0;
    world_abort(r->world, 1, clerror());
    return heard ? 0 : WRONG("the barrier held");
}

/* Rank 1 refuses; rank 0 learns it and aborts at once, rank 2 only when the job has ended: the
 * message names rank 1, and no other rank. */
static int one_refuses(struct rank_run *r)
{
    const int status = r->rank == 1 ? clerror_set(EIO, "a device is lost") : 0,
              refused = world_reduce_status(r->world, status);
    if (r->rank == 2)
        wait_until_told();
    world_abort(r->world, 1, clerror());
    return refused ? 0 : WRONG("the ranks agreed");
}

static int fail_alike(struct rank_run *r)
{
    world_abort(r->world, 2, "no such option");
    return 0;
}

static int fail_differently(struct rank_run *r)
{
    world_abort(r->world, 1, r->rank == 0 ? "one" : "two");
    return 0;
}

/* Rank 1 fails with the status in `arg`, and says nothing. */
static int fails_silently(struct rank_run *r)
{
    if (r->rank == 1) {
        world_abort(r->world, *(const int *)r->arg, NULL);
        return 0;
    }
    const bool heard = world_barrier(r->world) != 0;
    world_abort(r->world, 1, clerror());
    return heard ? 0 : WRONG("the barrier held");
}

/* One of two ranks does not leave; `arg` says how the other one does. */
struct leave {
    int rank, status;
    const char *sentence;
};

static int leaves_alone(struct rank_run *r)
{
    const struct leave *how = r->arg;
    if (world_barrier(r->world) != 0 && r->rank == how->rank)
        return -1;
    r->world->timeout = 0.3;
    if (r->rank != how->rank)
        wait_until_told();
    if (how->status && r->rank == how->rank)
        world_abort(r->world, how->status, how->sentence);
    else
        return world_leave(r->world) == 0 ? WRONG("it left") : 0;
    return 0;
}

static int test_unplugged(void *state, struct transport_request *request, char *why)
{
    (void)state, (void)request;
    snprintf(why, TRANSPORT_WHY, "the cable is out");
    return -1;
}

/* The transport of one of two ranks fails. */
static int loses_transport(struct rank_run *r)
{
    static struct transport unplugged;
    const struct leave *how = r->arg;
    if (world_barrier(r->world) != 0 && r->rank == how->rank)
        return -1;
    if (r->rank == how->rank) {
        pthread_mutex_lock(&r->world->lock);
        unplugged = *r->world->transport;
        unplugged.test = test_unplugged;
        r->world->transport = &unplugged;
        pthread_mutex_unlock(&r->world->lock);
        if (world_barrier(r->world) == 0)
            return WRONG("the barrier held");
    } else
        wait_until_told();
    if (how->status && r->rank == how->rank)
        world_abort(r->world, how->status, clerror());
    else
        return world_leave(r->world) == 0 ? WRONG("it left") : 0;
    return 0;
}

/* The transport's `end`; the message must be printed before. */
static void end_printed(void *state, int status)
{
    pthread_mutex_lock(&told.lock);
    if (told.printing)
        snprintf(told.sentence, sizeof told.sentence, "aborted while it was printed");
    pthread_mutex_unlock(&told.lock);
    in_time->end(state, status);
}

/* Rank 1 fails, and rank 0's progress thread reports it. Meanwhile rank 0 fails too, its transport
 * with `arg`. */
static int fails_meanwhile(struct rank_run *r)
{
    static struct transport checked;
    stdcl_world *w = r->world;
    if (r->rank == 0) {
        pthread_mutex_lock(&w->lock);
        in_time = w->transport;
        checked = *w->transport;
        checked.end = end_printed;
        w->transport = &checked;
        pthread_mutex_unlock(&w->lock);
        wait_until_told();
    }
    if (r->rank == 0 && r->arg) {
        pthread_mutex_lock(&w->lock);
        strcpy(w->broken, "the cable is out");
        pthread_mutex_unlock(&w->lock);
    }
    world_abort(w, 3, r->rank == 0 ? "no such option" : "a device is lost");
    return 0;
}

/* Rank 0 times out at once; rank 1's report arrives at the third poll, after rank 0 has found it
 * missing. */
static const struct transport_request *late_report;
static int late_polls;

static int test_third(void *state, struct transport_request *request, char *why)
{
    int status = 0;
    if (request != late_report)
        return in_time->test(state, request, why);
    if (--late_polls > 0)
        return 0;
    while ((status = in_time->test(state, request, why)) == 0)
        sched_yield();
    return status;
}

static void poll_due(stdcl_world *w)
{
    w->low_priority_due = 0;
}

static int reports_late(struct rank_run *r)
{
    static struct transport late;
    stdcl_world *w = r->world;
    if (r->rank == 0) {
        in_time = w->transport;
        late_report = w->report_requests[1]->request;
        late_polls = INT_MAX;
        late = *w->transport;
        late.test = test_third;
        w->transport = &late;
        w->poll = poll_due;
    }
    if (world_barrier(w) != 0 && r->rank == 0)
        return -1;
    if (r->rank == 0) {
        late_polls = 3;
        w->timeout = 0;
    }
    return world_leave(w) == 0 ? WRONG("it left") : 0;
}

/* Rank 3 is silent until all is over: rank 2 waits for it, and rank 0 for rank 2. They time out
 * only after all have joined. Rank 3 sleeps before it ends: meanwhile its progress thread finds the
 * transport broken, and ThreadSanitizer reports a rank that reads this without the lock. */
static int one_is_silent(struct rank_run *r)
{
    if (world_barrier(r->world) != 0)
        return -1;
    r->world->timeout = 0.3;
    if (r->rank == 3) {
        wait_until_told();
        nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    }
    const int status = r->rank == 3 ? -1 : world_barrier(r->world);
    world_abort(r->world, 1, clerror());
    return status != 0 ? 0 : WRONG("the barrier held");
}

/* Rank 0 times out at once, and only then rank 1 sends the message: the receive buffer belongs
 * to the caller again, and stays unchanged. */
static int comes_too_late(struct rank_run *r)
{
    stdcl_world *w = r->world;
    static const int late = 6, good = 7;
    int wanted = 5, other = 0;
    char go = 0;
    if (r->rank == 1)
        return receive_blocking(w, 0, 4, &go, 1) != 0 || !world_send(w, 0, 3, &late, sizeof late) ||
                       send_blocking(w, 0, 5, &good, sizeof good) != 0
                   ? -1
                   : 0;
    w->timeout = 0;
    if (receive_blocking(w, 1, 3, &wanted, sizeof wanted) == 0 || clerrno != ETIMEDOUT)
        return WRONG("mail that was not sent has come");
    w->timeout = 60;
    if (send_blocking(w, 1, 4, &go, 1) != 0 || receive_blocking(w, 1, 5, &other, sizeof other) != 0)
        return -1;
    return wanted == 5 && other == 7 ? 0 : WRONG("%d and %d, not 5 and 7", wanted, other);
}

static void world_late_message_is_discarded(void **state)
{
    (void)state;
    for (int polled = 0; polled < 2; polled++)
        ranks_work(2, comes_too_late, (struct ranks_how){.polled = polled});
}

/* The sender's side: rank 0 times out with a send, and its buffer is overwritten and freed
 * before rank 1 receives. A short message arrives unchanged; a long one does not arrive. `arg`:
 * by world_wait, which frees the request too. */
enum { LONG_WORDS = 10000 };

static int send_for_no_time(struct rank_run *r, int tag, const uint32_t *words, size_t size)
{
    world_request *mail = r->arg ? world_send(r->world, 1, tag, words, size) : NULL;
    r->world->timeout = 0;
    const int status =
        r->arg ? world_wait(r->world, &mail, 1) : send_blocking(r->world, 1, tag, words, size);
    r->world->timeout = 60;
    return status != 0 && clerrno == ETIMEDOUT
               ? 0
               : WRONG("mail of %zu bytes that nobody wanted is done", size);
}

static int sends_too_early(struct rank_run *r)
{
    uint32_t *words = calloc(LONG_WORDS, sizeof *words), few[3] = {5, 6, 7};
    int status = send_for_no_time(r, 3, few, sizeof few) == 0 &&
                         send_for_no_time(r, 4, words, LONG_WORDS * sizeof *words) == 0
                     ? 0
                     : -1;
    memset(few, 0, sizeof few);
    free(words);
    char go = 0;
    return status == 0 ? send_blocking(r->world, 1, 5, &go, 1) : -1;
}

static int receives_late(struct rank_run *r)
{
    uint32_t *words = calloc(LONG_WORDS, sizeof *words), few[3] = {0};
    char go = 0;
    int status = receive_blocking(r->world, 0, 5, &go, 1) == 0 &&
                         receive_blocking(r->world, 0, 3, few, sizeof few) == 0
                     ? 0
                     : -1;
    if (status == 0 && (few[0] != 5 || few[1] != 6 || few[2] != 7))
        status = WRONG("%u %u %u, not 5 6 7", few[0], few[1], few[2]);
    r->world->timeout = 0;
    if (status == 0 && (receive_blocking(r->world, 0, 4, words, LONG_WORDS * sizeof *words) == 0 ||
                        clerrno != ETIMEDOUT))
        status = WRONG("what was given up has come");
    free(words);
    return status;
}

static int early_mail(struct rank_run *r)
{
    const int status = r->rank == 0 ? sends_too_early(r) : receives_late(r);
    r->world->timeout = 60;
    return status;
}

static void world_early_message_stays_with_caller(void **state)
{
    (void)state;
    for (int way = 0; way < 2; way++) {
        struct orders none_copied = {.what = ORDER_USER, .timeout = 60};
        ranks_work(2, early_mail,
                   (struct ranks_how){.orders = &none_copied, .arg = way ? "world_wait" : NULL});
    }
}

static void world_failed_job_reports_error(void **state)
{
    (void)state;
    for (int polled = 0; polled < 2; polled++) {
        check_job_ends(3, fails_alone, polled, "rank 1 on host: a device is lost");
        check_job_ends(3, one_refuses, polled, "rank 1 on host: a device is lost");
        check_job_ends(3, fail_alike, polled, "no such option");
        check_job_ends(3, fail_differently, polled, "rank 0 on host: one");
    }
}

static void world_silent_rank_times_out(void **state)
{
    (void)state;
    check_job_ends(
        4, one_is_silent, false,
        "rank 2 on host has waited 0.3 s for rank 3 on host; $STDCL_TIMEOUT is how long it may wait");
}

/* Every aborted job gives its reason once, with rank and host. */
static void world_abort_is_never_silent(void **state)
{
    (void)state;
    static int status = 3, terminated = 128 + SIGTERM, last = 128 + 64, high = 200;
    static struct leave first = {.rank = 0}, second = {.rank = 1},
                        fails = {.rank = 1, .status = 4, .sentence = "a device is lost"},
                        fails_too = {.rank = 0, .status = 4};
    for (int polled = 0; polled < 2; polled++) {
        check_job_ends_with(3, fails_silently, polled ? &terminated : &status, polled,
                            polled ? "rank 1 on host: ended by signal 15"
                                   : "rank 1 on host: ended with status 3, without a message");
        check_job_ends_with(
            2, leaves_alone, &first, polled,
            "rank 0 on host has waited 0.3 s for rank 1 on host to leave; $STDCL_TIMEOUT is how long it may wait");
        check_job_ends_with(
            2, leaves_alone, &second, true,
            "rank 1 on host has waited 0.3 s for rank 0 on host to leave; $STDCL_TIMEOUT is how long it may wait");
    }
    check_job_ends(
        2, reports_late, true,
        "rank 0 on host has waited 0 s for rank 1 on host to leave; $STDCL_TIMEOUT is how long it may wait");
    check_job_ends_with(2, fails_silently, &last, true, "rank 1 on host: ended by signal 64");
    check_job_ends_with(2, fails_silently, &high, true,
                        "rank 1 on host: ended with status 200, without a message");
    told.pause = 50000;
    for (int broken = 0; broken < 2; broken++)
        check_job_ends_with(2, fails_meanwhile, broken ? &status : NULL, false,
                            "rank 1 on host: a device is lost");
    told.pause = 0;
    /* Rank 0 has 8 s to end the job of a rank that failed. */
    check_job_ends_with(2, leaves_alone, &fails, true, "rank 1 on host: a device is lost");
    static struct leave *const each[] = {&first, &fails, &second, &fails_too};
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        char sentence[200];
        snprintf(sentence, sizeof sentence,
                 "rank %d on host cannot talk to rank %d on host any more: the cable is out",
                 each[i]->rank, 1 - each[i]->rank);
        check_job_ends_with(2, loses_transport, each[i], i % 2, sentence);
    }
}

/* The other rank never joins. */
static void world_unmade_gives_reason(void **state)
{
    static const char sentence[] =
        "rank 1 on host has waited 0.3 s for rank 0 on an unknown host; $STDCL_TIMEOUT is how long it may wait";
    struct threads *threads = threads_create(2, 0, 1);
    (void)state;
    ready(threads);
    told.times = 0;
    setenv("STDCL_TIMEOUT", "0.3", 1);
    assert_null(world_of_threads(threads, 1, "host", true, &telling));
    unsetenv("STDCL_TIMEOUT");
    assert_int_equal(clerrno, ETIMEDOUT);
    assert_string_equal(clerror(), sentence);
    assert_int_equal(told.times, 1);
    assert_string_equal(told.sentence, sentence);
    threads_free(threads);
}

/* ---- Alone. ---------------------------------------------------------------------------------- */

static void world_of_one_rank_works(void **state)
{
    (void)state;
    int rank = 9;
    assert_int_equal(world_launched(&rank), 1);
    assert_int_equal(rank, 0);
    stdcl_world *w = world_join(NULL);
    ready(w);
    assert_int_equal(world_size(w), 1);
    int sent = 7, got = 0;
    world_request *mail[2] = {world_receive(w, 0, 3, &got, sizeof got),
                              world_send(w, 0, 3, &sent, sizeof sent)};
    works(world_wait(w, mail, 2));
    assert_int_equal(got, 7);
    works(world_barrier(w));
    works(world_reduce_status(w, 0));
    works(world_leave(w));
    works(world_leave(NULL));
    struct world_options wrong = {.reserved = {1}};
    assert_null(world_join(&wrong));
    assert_int_equal(clerrno, EINVAL);
    static const char *const no_times[] = {"a while", "10s", "-1", "0", "nan"};
    for (size_t i = 0; i < sizeof no_times / sizeof *no_times; i++) {
        setenv("STDCL_TIMEOUT", no_times[i], 1);
        assert_null(world_join(NULL));
        assert_int_equal(clerrno, EINVAL);
        contains(clerror(), "give a number of seconds above 0");
    }
    unsetenv("STDCL_TIMEOUT");
}

/* Without on_abort, one rank too prints its reason. */
static void world_of_one_rank_prints_reason(void **state)
{
    char said[100] = "";
    FILE *captured = tmpfile();
    const int error = dup(STDERR_FILENO);
    (void)state;
    stdcl_world *w = world_join(NULL);
    ready(w);
    assert_non_null(captured);
    dup2(fileno(captured), STDERR_FILENO);
    world_abort(w, 3, "a device is lost");
    fflush(stderr);
    dup2(error, STDERR_FILENO);
    close(error);
    rewind(captured);
    said[fread(said, 1, sizeof said - 1, captured)] = 0;
    fclose(captured);
    assert_string_equal(said, "stdcl: a device is lost\n");
}

/* The environment variables of a launcher. */
static void world_launchers_are_recognised(void **state)
{
    (void)state;
    static const char *const variables[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                               {"PMI_SIZE", "PMI_RANK"},
                                               {"MPI_LOCALNRANKS", "MPI_LOCALRANKID"},
                                               {"FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
                                               {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        int rank = 0;
        setenv(variables[i][0], "5", 1);
        setenv(variables[i][1], "3", 1);
        assert_int_equal(world_launched(&rank), 5);
        assert_int_equal(rank, 3);
        setenv("STDCL_MPI", "/nowhere/world-x.so", 1);
        assert_null(world_join(NULL));
        assert_int_equal(clerrno, ENOENT);
        const char *sentence = clerror();
        assert_true(sentence && strstr(sentence, "/nowhere/world-x.so"));
        setenv(variables[i][0], "1", 1); /* srun -n 1 */
        assert_int_equal(world_launched(&rank), 1);
        unsetenv(variables[i][0]);
        unsetenv(variables[i][1]);
        unsetenv("STDCL_MPI");
    }
}

/* ---- Files of all ranks. --------------------------------------------------------------------- */

static int all_know(void *world, void *bytes, size_t size)
{
    return world_broadcast(world, 0, bytes, size);
}

static int agree_all(void *world, int status)
{
    return world_reduce_status(world, status);
}

/* Rank 0's callback; rank 1 sees another file of that name. */
static int other_is_there(void *world, void *bytes, size_t size)
{
    const int status = world_broadcast(world, 0, bytes, size);
    if (world_rank(world) == 1)
        ((char *)bytes)[size - 1]++;
    return status;
}

enum { BLOCK = 100, NUMBERS = 5000 };

/* Rejected on all ranks, and no file is left. */
static int begin_apart(struct rank_run *r)
{
    const struct outfile_ranks ranks = {.rank = r->rank,
                                        .ranks = r->size,
                                        .block = BLOCK,
                                        .broadcast = other_is_there,
                                        .agree = agree_all,
                                        .arg = r->world};
    struct outfile out;
    outfile_together(&ranks);
    const int opened = outfile_open(&out, r->arg);
    outfile_together(NULL);
    if (opened == 0)
        return WRONG("a file that rank 1 does not see was opened");
    const char *sentence = clerror();
    return sentence && strstr(sentence, "rank 1 on host: ") &&
                   strstr(sentence, "is another file here")
               ? 0
               : WRONG("it says '%s'", sentence ? sentence : "");
}

/* Each rank has equal bytes and writes its blocks; a rank that fails leaves no file. */
static int write_together(struct rank_run *r)
{
    const struct outfile_ranks ranks = {.rank = r->rank,
                                        .ranks = r->size,
                                        .block = BLOCK,
                                        .broadcast = all_know,
                                        .agree = agree_all,
                                        .arg = r->world};
    const bool fails = r->size == 5; /* one of them */
    struct outfile out;
    outfile_together(&ranks);
    const int opened = outfile_open(&out, r->arg);
    outfile_together(NULL);
    if (opened != 0)
        return -1;
    for (int i = 0; i < NUMBERS; i++)
        fprintf(out.fp, "%d\n", i * i);
    int status = -1;
    if (fails && r->rank == 3) {
        clerror_set(EIO, "the disk is broken");
        outfile_discard(&out);
    } else {
        status = outfile_commit(&out);
    }
    return fails ? (status == -1 ? 0 : clerror_set(EPROTO, "a file that is not whole")) : status;
}

static void check_rank_file(const char *name)
{
    FILE *fp = fopen(name, "r");
    assert_non_null(fp);
    for (int i = 0, got; i < NUMBERS; i++) {
        assert_int_equal(fscanf(fp, "%d", &got), 1);
        assert_int_equal(got, i * i);
    }
    assert_int_equal(getc(fp), '\n');
    assert_int_equal(getc(fp), EOF);
    fclose(fp);
}

/* ---- Every order. ---------------------------------------------------------------------------- */

/* Each rank sends one number to each other rank; all are in flight at once. */
static int all_at_once(struct rank_run *r)
{
    int out = 100 + r->rank, in[MOST_RANKS];
    world_request *mail[2 * MOST_RANKS];
    size_t n = 0;
    for (int peer = 0; peer < r->size; peer++)
        if (peer != r->rank) {
            mail[n++] = world_receive(r->world, peer, 1, &in[peer], sizeof out);
            mail[n++] = world_send(r->world, peer, 1, &out, sizeof out);
        }
    if (world_wait(r->world, mail, n) != 0)
        return -1;
    for (int peer = 0; peer < r->size; peer++)
        if (peer != r->rank && in[peer] != 100 + peer)
            return WRONG("rank %d sent %d", peer, in[peer]);
    return 0;
}

/* Round a ring, two numbers with one tag and one with another, and collectives meanwhile. */
static int ring_and_sums(struct rank_run *r)
{
    const int next = (r->rank + 1) % r->size, last = (r->rank + r->size - 1) % r->size;
    int out[3] = {r->rank, r->rank + 10, r->rank + 20}, in[3] = {0};
    world_request *mail[6];
    for (int k = 0; k < 3; k++) {
        mail[k] = world_send(r->world, next, k == 2, &out[k], sizeof out[k]);
        mail[3 + k] = world_receive(r->world, last, k == 2, &in[k], sizeof in[k]);
    }
    uint64_t sum = (uint64_t)r->rank + 1, right = (uint64_t)(r->size * (r->size + 1) / 2);
    int from = r->rank, all[MOST_RANKS];
    if (world_add(r->world, &sum, 1) != 0 ||
        world_broadcast(r->world, r->size - 1, &from, sizeof from) != 0 ||
        world_gather(r->world, &out[1], sizeof out[1], all) != 0 ||
        world_wait(r->world, mail, 6) != 0)
        return -1;
    for (int k = 0; k < 3; k++)
        if (in[k] != last + 10 * k)
            return WRONG("number %d is %d", k, in[k]);
    return sum == right && from == r->size - 1 && all[last] == last + 10
               ? 0
               : WRONG("sum %llu, from %d, %d", (unsigned long long)sum, from, all[last]);
}

/* Rank 1 has failed: all are notified, and continue. */
static int one_is_broken(struct rank_run *r)
{
    const int status =
        world_reduce_status(r->world, r->rank == 1 ? clerror_set(EIO, "it is broken") : 0);
    if (status == 0 || !strstr(clerror(), "it is broken"))
        return WRONG("nobody said so");
    return world_barrier(r->world);
}

/* Each rank waits for another before it sends. */
static int all_wait(struct rank_run *r)
{
    int number = 0;
    world_request *mail =
        world_receive(r->world, (r->rank + 1) % r->size, 1, &number, sizeof number);
    return world_wait(r->world, &mail, 1);
}

/* With an argument: all orders of three ranks, which takes minutes. */
static bool all_orders;

static void world_messages_arrive_in_every_order(void **state)
{
    (void)state;
    const unsigned most = all_orders ? 100 : 3;
    assert_int_equal(ranks_in_every_order(2, all_at_once, (struct ranks_how){0}, 100, 0, true), 2);
    assert_in_range(
        ranks_in_every_order(3, all_at_once, (struct ranks_how){0}, all_orders ? 800 : 5, 0, true),
        all_orders ? 720 : 5, 720);
    for (int size = 2; size <= 3; size++) {
        ranks_in_every_order(size, ring_and_sums, (struct ranks_how){.what = ORDER_COLLECTIVE},
                             most, 0, true);
        ranks_in_every_order(size, ring_and_sums, (struct ranks_how){.what = ORDER_COLLECTIVE},
                             most, 5, true);
        ranks_in_every_order(size, one_is_broken, (struct ranks_how){.what = ORDER_ALL}, most, 0,
                             false);
    }
    struct orders orders = {.timeout = 0.01};
    struct rank_run runs[MOST_RANKS];
    ranks_run(2, all_wait, (struct ranks_how){.orders = &orders}, runs);
    assert_true(orders.stuck && runs[0].status != 0 && runs[1].status != 0);
}

static void world_ranks_write_one_file(void **state)
{
    (void)state;
    static const int sizes[] = {1, 2, 3, 8, 5};
    char folder[] = "/tmp/stdcl-world-XXXXXX", name[64];
    assert_non_null(mkdtemp(folder));
    snprintf(name, sizeof name, "%s/numbers", folder);
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        ranks_work(sizes[k], write_together,
                   (struct ranks_how){.delay = 100, .seed = (unsigned)k, .arg = name});
        assert_int_equal(access(name, F_OK), sizes[k] == 5 ? -1 : 0);
        if (sizes[k] != 5)
            check_rank_file(name);
        unlink(name);
    }
    ranks_work(3, begin_apart, (struct ranks_how){.arg = name});
    assert_int_equal(rmdir(folder), 0); /* nothing else is left */
    /* Every byte has one writer. */
    for (unsigned long long at = 0; at < 1000; at += 7) {
        size_t all = 0, skip;
        for (int rank = 0; rank < 3; rank++)
            for (size_t done = 0; done < 777;) {
                const struct outfile_ranks r = {.rank = rank, .ranks = 3, .block = BLOCK};
                const size_t own = outfile_own_part(&r, at + done, 777 - done, &skip);
                all += own;
                done += skip + own;
            }
        assert_int_equal(all, 777);
    }
}

int main(int argc, char **argv)
{
    (void)argv;
    all_orders = argc > 1;
    for (cl_uint i = 0; i < 2; i++)
        device[i] = stddev ? clgetdevice(stddev, i < clgetndev(stddev) ? i : 0) : NULL;
    const struct CMUnitTest orders[] = {cmocka_unit_test(world_messages_arrive_in_every_order)};
    if (all_orders)
        return cmocka_run_group_tests(orders, NULL, NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(world_messages_arrive_in_every_order),
        cmocka_unit_test(world_ranks_write_one_file),
        cmocka_unit_test(world_messages_arrive),
        cmocka_unit_test(world_messages_move_in_background),
        cmocka_unit_test(world_rejects_bad_calls),
        cmocka_unit_test(world_collectives_match),
        cmocka_unit_test(world_barrier_holds),
        cmocka_unit_test(world_status_is_reduced),
        cmocka_unit_test(world_unequal_values_are_reported),
        cmocka_unit_test(world_devices_are_divided),
        cmocka_unit_test(world_failure_ends_all_ranks),
        cmocka_unit_test(world_hosts_are_counted),
        cmocka_unit_test(world_failed_job_reports_error),
        cmocka_unit_test(world_notify_reaches_all),
        cmocka_unit_test(world_notify_before_leaving_arrives),
        cmocka_unit_test(world_delayed_rank_retries),
        cmocka_unit_test(world_silent_rank_times_out),
        cmocka_unit_test(world_abort_is_never_silent),
        cmocka_unit_test(world_unmade_gives_reason),
        cmocka_unit_test(world_late_message_is_discarded),
        cmocka_unit_test(world_early_message_stays_with_caller),
        cmocka_unit_test(world_of_one_rank_works),
        cmocka_unit_test(world_of_one_rank_prints_reason),
        cmocka_unit_test(world_launchers_are_recognised),
        cmocka_unit_test(world_wait_time_is_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
