/* test_layer_recording.c - commands recorded once and replayed: clrecord_begin, clrecord_end,
 * clrecord_replay, clrecord_set.
 *
 * Results are compared with a loop on the host.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "gate.h"
#include "leak_count.h"

#include <pthread.h>

enum { N = 1000 };

static CLCONTEXT *cp;
static clndrange_t all = clndrange_init1d(0, N, 0);
static cl_uint last; /* number of the last device */

static int recording_setup(void **state)
{
    (void)state;
    cp = stddev;
    last = cp ? clgetndev(cp) - 1 : 0;
    return setup_done(cp);
}

static int *recording_block(int value)
{
    int *x = clmalloc(cp, N * sizeof *x, 0);
    ready(x);
    for (int i = 0; i < N; i++)
        x[i] = value + i;
    return x;
}

#define holds(x, value)                                                                            \
    do {                                                                                           \
        for (int i_ = 0; i_ < N; i_++)                                                             \
            assert_int_equal((x)[i_], (value) + i_);                                               \
    } while (0)

#define records(call) check_that((call) == NULL, #call, "did not return 0", __FILE__, __LINE__)

/* Fail unless `failed` holds after a call that sets this code and a sentence with this text. */
#define refused(failed, code, text)                                                                \
    do {                                                                                           \
        check_forget();                                                                            \
        check_that((failed), #failed, "does not hold", __FILE__, __LINE__);                        \
        assert_int_equal(clerrno, code);                                                           \
        contains(clerror(), text);                                                                 \
    } while (0)

/* Record: x to the device, x += a, x += b, y = x, and y to the host. */
static void *record_two_adds(int *x, int *y, int a, int b)
{
    const cl_kernel add = basic_kernel(cp, "add"), copy = basic_kernel(cp, "copy");
    works(clrecord_begin(cp, last));
    records(clmsync(cp, last, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    records(clforka(cp, last, add, &all, CL_EVENT_NOWAIT, x, a));
    records(clforka(cp, last, add, &all, CL_EVENT_NOWAIT, x, b));
    records(clforka(cp, last, copy, &all, CL_EVENT_NOWAIT, x, y));
    records(clmsync(cp, last, y, CL_MEM_HOST | CL_EVENT_NOWAIT));
    void *recording = clrecord_end(cp, last);
    ready(recording);
    return recording;
}

/* ---- Replays. ---- */

static void replay_computes_what_the_calls_would(void **state)
{
    (void)state;
    int *x = recording_block(7), *y = recording_block(0);
    void *recording = record_two_adds(x, y, 30, 400);
    holds(y, 0); /* nothing was started */
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < N; j++)
            x[j] = i + j;
        done(clrecord_replay(cp, recording, CL_EVENT_WAIT));
        holds(y, i + 430);
    }
    works(clrecord_free(cp, recording));
    works(clfree(x));
    works(clfree(y));
}

/* The kernel's own arguments, set in between, are not those of the recording. */
static void replay_keeps_its_arguments(void **state)
{
    (void)state;
    int *x = recording_block(1), *y = recording_block(0);
    void *recording = record_two_adds(x, y, 10, 20);
    done(clforka(cp, last, basic_kernel(cp, "add"), &all, CL_EVENT_WAIT, y, 5000));
    done(clrecord_replay(cp, recording, CL_EVENT_WAIT));
    holds(y, 31);
    works(clrecord_free(cp, recording));
    works(clfree(x));
    works(clfree(y));
}

static void replay_with_new_arguments(void **state)
{
    (void)state;
    int *x = recording_block(1), *y = recording_block(0), *z = recording_block(0);
    void *recording = record_two_adds(x, y, 10, 20);
    for (int a = 100; a < 105; a++) {
        works(clrecord_set(cp, recording, 1, 1, a));
        done(clrecord_replay(cp, recording, CL_EVENT_WAIT));
        holds(y, 1 + a + 20);
    }
    works(clrecord_set(cp, recording, 3, 1, z)); /* y = x becomes z = x */
    for (int i = 0; i < N; i++)
        x[i] = 2 + i;
    done(clrecord_replay(cp, recording, CL_EVENT_WAIT));
    holds(y, 125); /* of the last replay */
    done(clmsync(cp, last, z, CL_MEM_HOST));
    holds(z, 126);
    works(clrecord_free(cp, recording));
    works(clfree(x));
    works(clfree(y));
    works(clfree(z));
}

static void refused_argument_leaves_the_old_one(void **state)
{
    (void)state;
    int *x = recording_block(1), *y = recording_block(0);
    void *recording = record_two_adds(x, y, 10, 20);
    fails(EINVAL, clrecord_set(cp, recording, 1, 1, 2.5f));  /* an int */
    fails(EINVAL, clrecord_set(cp, recording, 1, 0, 3));     /* a block */
    fails(EFAULT, clrecord_set(cp, recording, 1, 0, &last)); /* not from clmalloc */
    fails(EINVAL, clrecord_set(cp, recording, 1, 9, 3));
    refused(clrecord_set(cp, recording, 0, 0, x) == -1, EINVAL, "no kernel launch"); /* a sync */
    fails(EINVAL, clrecord_set(cp, recording, 77, 0, 3));
    fails(EINVAL, clrecord_set(cp, x, 1, 1, 3)); /* no recording */
    done(clrecord_replay(cp, recording, CL_EVENT_WAIT));
    holds(y, 31);
    works(clrecord_free(cp, recording));
    works(clfree(x));
    works(clfree(y));
}

static void local_memory_and_launch_sizes_are_recorded(void **state)
{
    (void)state;
    enum { GROUP = 10 };
    clndrange_t groups = clndrange_init1d(0, N, GROUP);
    int *x = recording_block(0);
    works(clrecord_begin(cp, last));
    records(clmsync(cp, last, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    assert_int_equal(clrecord_next(cp, last), 1);
    records(clforka(cp, last, basic_kernel(cp, "reverse"), &groups, CL_EVENT_NOWAIT, x,
                    clarg_local(GROUP * sizeof *x)));
    assert_int_equal(clrecord_next(cp, last), 2);
    records(clmsync(cp, last, x, CL_MEM_HOST | CL_EVENT_NOWAIT));
    void *recording = clrecord_end(cp, last);
    ready(recording);
    done(clrecord_replay(cp, recording, CL_EVENT_WAIT));
    for (int i = 0; i < N; i++)
        assert_int_equal(x[i], i / GROUP * GROUP + GROUP - 1 - i % GROUP);
    works(clrecord_set(cp, recording, 1, 1, clarg_local(2 * GROUP * sizeof *x)));
    done(clrecord_replay(cp, recording, CL_EVENT_WAIT));
    holds(x, 0);
    works(clrecord_free(cp, recording));
    works(clfree(x));
}

static void parts_and_device_copies_are_recorded(void **state)
{
    (void)state;
    int *x = recording_block(1), *y = recording_block(100), *z = recording_block(0);
    works(clrecord_begin(cp, last));
    records(clmsync(cp, last, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    records(clmsyncn(cp, last, y + 10, 5 * sizeof *y, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    records(clmcopy(cp, last, x, z, CL_EVENT_NOWAIT));
    records(clmsyncn(cp, last, z + 10, 5 * sizeof *z, CL_MEM_HOST | CL_EVENT_NOWAIT));
    void *recording = clrecord_end(cp, last);
    ready(recording);
    done(clrecord_replay(cp, recording, CL_EVENT_WAIT));
    for (int i = 0; i < N; i++)
        assert_int_equal(z[i], i >= 10 && i < 15 ? 1 + i : i);
    memset(y, 0, N * sizeof *y);
    done(clmsyncn(cp, last, y + 10, 5 * sizeof *y, CL_MEM_HOST));
    for (int i = 0; i < N; i++)
        assert_int_equal(y[i], i >= 10 && i < 15 ? 100 + i : 0);
    works(clrecord_free(cp, recording));
    works(clfree(x));
    works(clfree(y));
    works(clfree(z));
}

/* Many commands, of which most have no event. */
static void replay_returns_the_event_of_its_last_command(void **state)
{
    (void)state;
    enum { TIMES = 300 };
    int *x = recording_block(0);
    done(clmsync(cp, last, x, CL_MEM_DEVICE));
    works(clrecord_begin(cp, last));
    for (int i = 0; i < TIMES; i++)
        records(clforka(cp, last, basic_kernel(cp, "add"), &all, CL_EVENT_NOWAIT, x, 1));
    void *recording = clrecord_end(cp, last);
    ready(recording);
    cl_event gate = gate_close(cp, last);
    cl_event ev = started(clrecord_replay(cp, recording, CL_EVENT_NOWAIT | CL_EVENT_OWN));
    assert_int_not_equal(event_status(ev), CL_COMPLETE);
    gate_open(gate);
    assert_ptr_equal(clwaitev(cp, last, ev, 0), ev);
    assert_int_equal(event_status(ev), CL_COMPLETE);
    clReleaseEvent(ev);
    ev = started(clrecord_replay(cp, recording, CL_EVENT_NORELEASE));
    clReleaseEvent(ev);
    done(clmsync(cp, last, x, CL_MEM_HOST));
    holds(x, 2 * TIMES);
    works(clrecord_free(cp, recording));
    works(clfree(x));
}

/* ---- Blocks that are not the recorded ones any more. ---- */

static void replay_refuses_freed_blocks_and_starts_nothing(void **state)
{
    (void)state;
    int *x = recording_block(1), *y = recording_block(0);
    void *recording = record_two_adds(x, y, 10, 20);
    done(clrecord_replay(cp, recording, CL_EVENT_WAIT));
    works(clfree(y));
    int *again = recording_block(0); /* mmap mostly returns the freed address */
    for (int i = 0; i < N; i++)
        x[i] = 5 + i;
    for (int i = 0; i < 2; i++) { /* and does so each time */
        refused(clrecord_replay(cp, recording, CL_EVENT_WAIT) == NO_EVENT, EFAULT, "record again");
    }
    done(clmsync(cp, last, x, CL_MEM_HOST));
    holds(x, 31); /* neither the copy to the device nor the launches were started */
    holds(again, 0);
    works(clrecord_free(cp, recording));
    works(clfree(x));
    works(clfree(again));
}

static void replay_refuses_blocks_attached_anew(void **state)
{
    (void)state;
    int *x = recording_block(1), *y = recording_block(0);
    void *recording = record_two_adds(x, y, 10, 20);
    works(clmdetach(x));
    fails_event(EFAULT, clrecord_replay(cp, recording, CL_EVENT_WAIT));
    works(clmattach(cp, x));
    fails_event(EFAULT, clrecord_replay(cp, recording, CL_EVENT_WAIT));
    works(clrecord_free(cp, recording));
    works(clfree(x));
    works(clfree(y));
}

/* Other blocks come and go meanwhile. */
static void replay_survives_the_end_of_other_blocks_and_of_the_program(void **state)
{
    (void)state;
    int *x = recording_block(1), *y = recording_block(0);
    void *h = clsopen(cp, "kernel void half_of(global int *x) { x[get_global_id(0)] /= 2; }", 0);
    ready(h);
    works(clrecord_begin(cp, last));
    records(clmsync(cp, last, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    records(clforka(cp, last, clsym(cp, h, "half_of", 0), &all, CL_EVENT_NOWAIT, x));
    records(clmsync(cp, last, x, CL_MEM_HOST | CL_EVENT_NOWAIT));
    void *recording = clrecord_end(cp, last);
    ready(recording);
    works(clclose(cp, h));
    works(clfree(y));
    for (int i = 0; i < N; i++)
        x[i] = 2 * i;
    done(clrecord_replay(cp, recording, CL_EVENT_WAIT));
    holds(x, 0);
    works(clrecord_free(cp, recording));
    works(clfree(x));
}

/* ---- Refusals while recording. ---- */

static void waits_are_refused_while_recording(void **state)
{
    (void)state;
    const cl_kernel add = basic_kernel(cp, "add");
    int *x = recording_block(1);
    const struct {
        int what, flags;
        const char *text;
    } calls[] = {{0, 0, "NOWAIT"},
                 {0, CL_EVENT_WAIT, "NOWAIT"},
                 {0, CL_EVENT_NOWAIT | CL_EVENT_OWN, "CL_EVENT_OWN"},
                 {0, CL_EVENT_NOWAIT | CL_EVENT_SIDE_QUEUE, "CL_EVENT_SIDE_QUEUE"},
                 {1, CL_MEM_DEVICE, "NOWAIT"},
                 {1, CL_EVENT_NOWAIT, "exactly one of"},
                 {2, 0, "nothing to wait for"},
                 {3, CL_EVENT_NOWAIT, "clrecord_end first"}};
    void *other = record_two_adds(x, x, 1, 1);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const int flags = calls[i].flags;
        works(clrecord_begin(cp, last));
        records(clforka(cp, last, add, &all, CL_EVENT_NOWAIT, x, 1));
        fails_event(EINVAL, calls[i].what == 0   ? clforka(cp, last, add, &all, flags, x, 1)
                            : calls[i].what == 1 ? clmsync(cp, last, x, flags)
                            : calls[i].what == 2 ? clwait(cp, last, CL_ALL_EVENT)
                                                 : clrecord_replay(cp, other, flags));
        assert_null(clrecord_end(cp, last));
        contains(clerror(), calls[i].text); /* the sentence of the refusal */
        works(clrecord_begin(cp, last));    /* and the next one may begin */
        fails_null(EINVAL, clrecord_end(cp, last));
    }
    done(clwait(cp, last, CL_ALL_EVENT)); /* no refusal is left for the wait */
    works(clrecord_free(cp, other));
    works(clfree(x));
}

static void kernels_not_found_are_refused_while_recording(void **state)
{
    (void)state;
    const cl_kernel add = basic_kernel(cp, "add");
    int *x = recording_block(1);
    works(clrecord_begin(cp, last));
    records(clmsync(cp, last, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    refused(clexec(cp, last, &all, no_such_kernel, x) == NO_EVENT, ENOENT, "clexec: there is no");
    records(clforka(cp, last, add, &all, CL_EVENT_NOWAIT, x, 1));
    assert_null(clrecord_end(cp, last));
    contains(clerror(), "no kernel \"no_such_kernel\"");
    done(clmsync(cp, last, x, CL_MEM_DEVICE | CL_EVENT_WAIT)); /* no refusal is left for it */
    done(clforka(cp, last, add, &all, CL_EVENT_WAIT, x, 1));
    done(clwait(cp, last, CL_ALL_EVENT));
    works(clfree(x));
}

static void end_returns_the_first_refusal(void **state)
{
    (void)state;
    const cl_kernel add = basic_kernel(cp, "add");
    int *x = recording_block(1);
    works(clrecord_begin(cp, last));
    clforka(cp, last, add, &all, CL_EVENT_NOWAIT, x, 2.5f); /* results may be ignored */
    clwait(cp, last, CL_ALL_EVENT);
    assert_null(clrecord_end(cp, last));
    contains(clerror(), "float"); /* not "wait" */
    works(clfree(x));
}

static void begin_and_end_must_match(void **state)
{
    (void)state;
    fails(EINVAL, clrecord_next(cp, last));
    fails_null(EINVAL, clrecord_end(cp, last));
    fails(EINVAL, clrecord_begin(cp, last + 1));
    fails(ANY_ERROR, clrecord_begin(NULL, 0));
    works(clrecord_begin(cp, last));
    refused(clrecord_begin(cp, last) == -1, EBUSY, "this thread");
    fails_null(EINVAL, clrecord_end(cp, last));
    fails_event(EINVAL, clrecord_replay(cp, NULL, CL_EVENT_WAIT));
    fails_event(EINVAL, clrecord_replay(cp, &last, CL_EVENT_WAIT));
    fails(EINVAL, clrecord_free(cp, &last));
    works(clrecord_free(cp, NULL));
}

static void unset_arguments_and_other_contexts_are_refused(void **state)
{
    (void)state;
    cl_device_id id = clgetdevice(cp, last);
    CLCONTEXT *other = clcontext_create_from(&id, 1);
    ready(other);
    void *h = clsopen(other, "kernel void g(global int *x, int a) { x[0] = a; }", 0);
    ready(h);
    int *x = recording_block(1);
    works(clrecord_begin(cp, last));
    refused(clforka(cp, last, clsym(other, h, "g", 0), &all, CL_EVENT_NOWAIT, x, 1) == NO_EVENT,
            EINVAL, "another context");
    fails_null(EINVAL, clrecord_end(cp, last));
    works(clrecord_begin(other, 0));
    refused(clfork(other, 0, clsym(other, h, "g", 0), &all, CL_EVENT_NOWAIT) == NO_EVENT, EINVAL,
            "not set");
    works(clcontext_destroy(other)); /* also while recording */
    works(clfree(x));
}

static void unknown_flags_are_refused(void **state)
{
    (void)state;
    int *x = recording_block(7), *y = recording_block(0);
    void *recording = record_two_adds(x, y, 30, 400);
    fails_event(EINVAL, clrecord_replay(cp, recording, CL_MEM_HOST));
    fails_event(EINVAL,
                clrecord_replay(cp, recording, CL_EVENT_WAIT | CL_EVENT_NOWAIT | CL_EVENT_CHECKED));
    holds(y, 0); /* nothing was started */
    works(clrecord_free(cp, recording));
    works(clrecord_begin(cp, last));
    const cl_kernel add = basic_kernel(cp, "add");
    fails_event(EINVAL, clforka(cp, last, add, &all, CL_EVENT_NOWAIT | CL_MEM_HOST, x, 1));
    fails_null(EINVAL, clrecord_end(cp, last)); /* the recording lacks a command */
    works(clfree(x));
    works(clfree(y));
}

/* ---- Threads, contexts, profiles. ---- */

static void *compute_beside(void *x)
{
    const cl_event ev =
        clforka(cp, last, basic_kernel(cp, "add"), &all, CL_EVENT_WAIT, (int *)x, 3);
    return ev == NULL && clmsync(cp, last, x, CL_MEM_HOST) == NULL &&
                   clrecord_begin(cp, last) == -1 && clerrno == EBUSY
               ? x
               : NULL;
}

static void other_threads_go_on_while_one_records(void **state)
{
    (void)state;
    pthread_t thread;
    void *result = NULL;
    int *x = recording_block(1), *y = recording_block(1);
    done(clmsync(cp, last, y, CL_MEM_DEVICE));
    works(clrecord_begin(cp, last));
    assert_int_equal(pthread_create(&thread, NULL, compute_beside, y), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, y);
    holds(y, 4);
    records(clmsync(cp, last, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    void *recording = clrecord_end(cp, last);
    ready(recording);
    works(clrecord_free(cp, recording));
    works(clfree(x));
    works(clfree(y));
}

struct beside {
    void *recording;
    int failures;
};

static void *replay_beside(void *argument)
{
    struct beside *b = argument;
    for (int i = 0; i < 20; i++)
        b->failures += clrecord_replay(cp, b->recording, CL_EVENT_NOWAIT) == NO_EVENT ||
                       clrecord_set(cp, b->recording, 0, 1, 1) != 0;
    return NULL;
}

static void threads_replay_one_recording(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    int *x = recording_block(0);
    done(clmsync(cp, last, x, CL_MEM_DEVICE));
    works(clrecord_begin(cp, last));
    records(clforka(cp, last, basic_kernel(cp, "add"), &all, CL_EVENT_NOWAIT, x, 1));
    records(clforka(cp, last, basic_kernel(cp, "add"), &all, CL_EVENT_NOWAIT, x, 1));
    struct beside b = {clrecord_end(cp, last), 0}, each[THREADS];
    ready(b.recording);
    for (int t = 0; t < THREADS; t++) {
        each[t] = b;
        assert_int_equal(pthread_create(&thread[t], NULL, replay_beside, &each[t]), 0);
    }
    for (int t = 0; t < THREADS; t++) {
        assert_int_equal(pthread_join(thread[t], NULL), 0);
        assert_int_equal(each[t].failures, 0);
    }
    done(clmsync(cp, last, x, CL_MEM_HOST));
    holds(x, 2 * 20 * THREADS);
    works(clrecord_free(cp, b.recording));
    works(clfree(x));
}

/* Another device has the newest image of a recorded block. */
static void replay_migrates_blocks(void **state)
{
    (void)state;
    if (last == 0)
        skip();
    int *x = recording_block(0);
    done(clmsync(cp, last, x, CL_MEM_DEVICE));
    works(clrecord_begin(cp, last));
    records(clforka(cp, last, basic_kernel(cp, "add"), &all, CL_EVENT_NOWAIT, x, 1));
    void *recording = clrecord_end(cp, last);
    ready(recording);
    for (int i = 0; i < 3; i++) {
        done(clforka(cp, 0, basic_kernel(cp, "add"), &all, CL_EVENT_WAIT, x, 10));
        done(clrecord_replay(cp, recording, CL_EVENT_WAIT));
    }
    done(clmsync(cp, last, x, CL_MEM_HOST));
    holds(x, 33);
    works(clrecord_free(cp, recording));
    works(clfree(x));
}

static void profiles_count_replays(void **state)
{
    (void)state;
    cl_device_id id = clgetdevice(cp, last);
    CLCONTEXT *one = clcontext_create_from(&id, 1);
    ready(one);
    int *x = clmalloc(one, N * sizeof *x, 0);
    void *h = clsopen(one, "kernel void touch(global int *x) { x[get_global_id(0)] = 1; }", 0);
    ready(h);
    works(clrecord_begin(one, 0));
    for (int i = 0; i < 3; i++)
        records(clforka(one, 0, clsym(one, h, "touch", 0), &all, CL_EVENT_NOWAIT, x));
    void *recording = clrecord_end(one, 0);
    ready(recording);
    works(clprofile(one, 1));
    for (int i = 0; i < 5; i++)
        done(clrecord_replay(one, recording, CL_EVENT_WAIT));
    done(clrecord_replay(one, recording, CL_EVENT_WAIT | CL_EVENT_UNCOUNTED));
    struct clprofile_row row[4];
    assert_int_equal(clprofile_rows(one, row, 4), 1);
    assert_string_equal(row[0].name, "touch");
    assert_int_equal(row[0].count, 15);
    works(clcontext_destroy(one)); /* frees the recording, too */
}

static void recordings_leave_nothing(void **state)
{
    (void)state;
    int *x = recording_block(1), *y = recording_block(0);
    long bytes = 0, events = 0;
    for (int i = 0; i < 20; i++) {
        void *recording = record_two_adds(x, y, 10, 20);
        works(clrecord_set(cp, recording, 1, 1, 40 + i));
        fails(EINVAL, clrecord_set(cp, recording, 1, 1, 2.5f));
        started(clrecord_replay(cp, recording, CL_EVENT_NOWAIT));
        done(clwait(cp, last, CL_ALL_EVENT));
        works(clrecord_free(cp, recording));
        works(clrecord_begin(cp, last));
        clmsync(cp, last, x, CL_MEM_DEVICE);
        fails_null(EINVAL, clrecord_end(cp, last));
        if (i == 9) {
            bytes = leak_count_bytes();
            events = leak_count_events();
        }
    }
    assert_int_equal(leak_count_events(), events);
    assert_true(leak_count_bytes() - bytes < 1000);
    works(clfree(x));
    works(clfree(y));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replay_computes_what_the_calls_would),
        cmocka_unit_test(replay_keeps_its_arguments),
        cmocka_unit_test(replay_with_new_arguments),
        cmocka_unit_test(refused_argument_leaves_the_old_one),
        cmocka_unit_test(local_memory_and_launch_sizes_are_recorded),
        cmocka_unit_test(parts_and_device_copies_are_recorded),
        cmocka_unit_test(replay_returns_the_event_of_its_last_command),
        cmocka_unit_test(replay_refuses_freed_blocks_and_starts_nothing),
        cmocka_unit_test(replay_refuses_blocks_attached_anew),
        cmocka_unit_test(replay_survives_the_end_of_other_blocks_and_of_the_program),
        cmocka_unit_test(waits_are_refused_while_recording),
        cmocka_unit_test(kernels_not_found_are_refused_while_recording),
        cmocka_unit_test(end_returns_the_first_refusal),
        cmocka_unit_test(begin_and_end_must_match),
        cmocka_unit_test(unset_arguments_and_other_contexts_are_refused),
        cmocka_unit_test(other_threads_go_on_while_one_records),
        cmocka_unit_test(threads_replay_one_recording),
        cmocka_unit_test(replay_migrates_blocks),
        cmocka_unit_test(unknown_flags_are_refused),
        cmocka_unit_test(profiles_count_replays),
        cmocka_unit_test(recordings_leave_nothing),
    };
    return cmocka_run_group_tests(tests, recording_setup, NULL);
}
