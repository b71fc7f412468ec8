/* test_layer_event.c - events of clfork and clmsync and their ownership, clwait, clwaitev and
 * clflush; and that hundreds of thousands of launches keep memory flat.
 * SPDX-License-Identifier: MIT
 */
#include "gate.h"
#include "leak_count.h"

#include "core/untracked.h"

static CLCONTEXT *cp;
static int *x;
static cl_uint *s; /* for the kernel `slow` */

enum { N = 256, SLOW = 16, ROUNDS = 4000000 };
static clndrange_t all = clndrange_init1d(0, N, 0), few = clndrange_init1d(0, SLOW, 0);

static int event_setup(void **state)
{
    (void)state;
    cp = stddev;
    x = clmalloc(cp, N * sizeof *x, 0);
    s = clmalloc(cp, SLOW * sizeof *s, 0);
    for (cl_uint dev = 0; x && s && dev < clgetndev(cp);
         dev++) { /* devices have their own images and do not wait for each other */
        clmsync(cp, dev, x, CL_MEM_DEVICE);
        clmsync(cp, dev, s, CL_MEM_DEVICE);
    }
    return setup_done(x && s);
}

static int event_teardown(void **state)
{
    (void)state;
    return clfree(x) | clfree(s);
}

static cl_event event_fill(cl_uint dev, int value, int flags)
{
    return clforka(cp, dev, basic_kernel(cp, "fill"), &all, flags, x, value);
}

static cl_event event_slow(cl_uint dev, int flags)
{
    return clforka(cp, dev, basic_kernel(cp, "slow"), &few, flags, s, (int)ROUNDS);
}

/* Check that the call returns 0, or the event for clwaitev, and drops `dropped` references to an
 * event. */
#define changes(ev, dropped, call)                                                                 \
    do {                                                                                           \
        const long before_ = leak_count_references(ev);                                            \
        const cl_event result_ = call;                                                             \
        check_that(result_ == NULL || result_ == (ev), #call, "returned another thing", __FILE__,  \
                   __LINE__);                                                                      \
        assert_int_equal(leak_count_references(ev) + (dropped), before_);                          \
    } while (0)
#define releases(ev, call) changes(ev, 1, call)
#define keeps(ev, call) changes(ev, 0, call)

/* Return a kernel's event, owned by the library and retained here for later inspection. */
static cl_event held(cl_event ev)
{
    started(ev);
    assert_int_equal(clRetainEvent(ev), CL_SUCCESS);
    return ev;
}

/* ---- Flags of clfork and clmsync. ---- */

static void test_wait_blocks(void **state)
{
    (void)state;
    static const int flags[] = {CL_EVENT_WAIT, 0, CL_EVENT_WAIT | CL_EVENT_RELEASE};
    struct opening gate;
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
        for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
            gate_open_soon(&gate, cp, dev);
            done(clmsync(cp, dev, s, CL_MEM_DEVICE | flags[f]));
            assert_true(gate_was_open(&gate));
            gate_open_soon(&gate, cp, dev);
            done(event_fill(dev, 1, flags[f]));
            assert_true(gate_was_open(&gate));
        }
    s[0] = 1;
    done(clmsync(cp, 0, s, CL_MEM_DEVICE));
    done(event_slow(0, CL_EVENT_WAIT));
    done(clmsync(cp, 0, s, CL_MEM_HOST));
    assert_int_equal(s[0], slow_reference(1, ROUNDS));
}

/* Fail unless a call refused this flag and named flags that it takes. */
static void flag_was_refused(int flag, bool failed, const char *takes)
{
    char number[16];
    snprintf(number, sizeof number, "0x%x", (unsigned)flag);
    assert_true(failed);
    assert_int_equal(clerrno, EINVAL);
    const char *sentence = clerror();
    contains(sentence, number);
    contains(sentence, takes);
}

/* Each call refuses every bit that it does not take, and has started nothing. */
static void test_unknown_flags_are_refused(void **state)
{
    (void)state;
    const int wait = CL_EVENT_WAIT | CL_EVENT_NOWAIT | CL_EVENT_RELEASE | CL_EVENT_NORELEASE |
                     CL_ALL_EVENT,
              command = wait | CL_EVENT_OWN | CL_EVENT_CHECKED | CL_EVENT_SIDE_QUEUE |
                        CL_EVENT_BARRIER | CL_EVENT_UNTRACKED,
              launch = command | CL_EVENT_UNCOUNTED,
              copy = command | CL_MEM_HOST | CL_MEM_DEVICE | CL_MEM_NOFORCE;
    int *y = clmalloc(cp, N * sizeof *y, 0);
    ready(y);
    const cl_event ev = started(event_fill(0, 7, CL_EVENT_WAIT | CL_EVENT_NORELEASE));
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    for (int i = 0; i < 31; i++) {
        const int flag = 1 << i;
        if (flag & ~launch) {
            flag_was_refused(flag, event_fill(0, 8, flag) == NO_EVENT, "CL_EVENT_SIDE_QUEUE");
            flag_was_refused(flag, clfork(cp, 0, basic_kernel(cp, "fill"), &all, flag) == NO_EVENT,
                             "clfork: ");
        }
        if (flag & ~copy) {
            flag_was_refused(flag, clmsync(cp, 0, x, CL_MEM_HOST | flag) == NO_EVENT,
                             "CL_MEM_NOFORCE");
            flag_was_refused(flag, clmsyncn(cp, 0, x, 4, CL_MEM_HOST | flag) == NO_EVENT,
                             "clmsyncn: ");
        }
        if (flag & ~command)
            flag_was_refused(flag, clmcopy(cp, 0, x, y, flag) == NO_EVENT, "clmcopy: ");
        if (flag & ~wait) {
            flag_was_refused(flag, clwait(cp, 0, flag) == NO_EVENT, "CL_MEM_EVENT");
            flag_was_refused(flag, clwaitev(cp, 0, ev, flag) == NO_EVENT, "CL_EVENT_NORELEASE");
            flag_was_refused(flag, clflush(cp, 0, flag) == -1, "clflush: ");
        }
    }
    const int both = CL_EVENT_WAIT | CL_EVENT_NOWAIT | CL_EVENT_CHECKED;
    fails_event(EINVAL, event_fill(0, 8, both));
    fails_event(EINVAL, clmsync(cp, 0, x, CL_MEM_HOST | both));
    fails_event(EINVAL, clwait(cp, 0, CL_EVENT_WAIT | CL_EVENT_NOWAIT));
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    assert_int_equal(x[0], 7);
    clReleaseEvent(ev);
    works(clfree(y));
}

/* A refused launch that would not have waited is reported by the next wait. */
static void test_refused_flags_fail_the_next_wait(void **state)
{
    (void)state;
    assert_true(event_fill(0, 8, CL_EVENT_NOWAIT | CL_MEM_HOST) == NO_EVENT);
    fails_event(EINVAL, clwait(cp, 0, CL_ALL_EVENT));
    done(clwait(cp, 0, CL_ALL_EVENT));
}

static void test_nowait_returns_at_once(void **state)
{
    (void)state;
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        cl_event gate = gate_close(cp, dev);
        cl_event a = held(event_fill(dev, 1, CL_EVENT_NOWAIT));
        cl_event b = held(clmsync(cp, dev, x, CL_MEM_HOST | CL_EVENT_NOWAIT));
        assert_int_not_equal(event_status(a), CL_COMPLETE);
        assert_int_not_equal(event_status(b), CL_COMPLETE);
        gate_open(gate);
        done(clwait(cp, dev, CL_ALL_EVENT));
        clReleaseEvent(a);
        clReleaseEvent(b);
    }
}

static void test_library_owns_nowait_events(void **state)
{
    (void)state;
    cl_event a = held(event_slow(0, CL_EVENT_NOWAIT));
    cl_event b = held(clmsync(cp, 0, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    works(clflush(cp, 0, 0));
    releases(a, clwait(cp, 0, CL_KERNEL_EVENT));
    releases(b, clwait(cp, 0, CL_MEM_EVENT));
    keeps(a, clwait(cp, 0, CL_ALL_EVENT)); /* once */
    keeps(b, clwait(cp, 0, CL_ALL_EVENT));
    clReleaseEvent(a);
    clReleaseEvent(b);
}

static void test_norelease_gives_the_event_away(void **state)
{
    (void)state;
    static const int flags[] = {CL_EVENT_WAIT | CL_EVENT_NORELEASE, CL_EVENT_NOWAIT | CL_EVENT_OWN,
                                CL_EVENT_NORELEASE};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        bool blocking = !(flags[f] & CL_EVENT_NOWAIT);
        cl_event ev[2] = {started(event_slow(0, flags[f])),
                          started(clmsync(cp, 0, x, CL_MEM_DEVICE | flags[f]))};
        for (int i = 0; i < 2; i++)
            if (blocking)
                assert_int_equal(event_status(ev[i]), CL_COMPLETE);
        works(clflush(cp, 0, 0));
        if (blocking)
            keeps(ev[0], clwait(cp, 0, CL_ALL_EVENT)); /* it is ours alone */
        else
            releases(ev[0], clwait(cp, 0, CL_ALL_EVENT)); /* ours, besides the library's */
        for (int round = 0; round < 100; round++)         /* later work does not touch them */
            done(event_fill(0, round, CL_EVENT_WAIT));
        for (int i = 0; i < 2; i++) {
            assert_int_equal(clWaitForEvents(1, &ev[i]), CL_SUCCESS);
            assert_int_equal(event_status(ev[i]), CL_COMPLETE);
            assert_int_equal(clReleaseEvent(ev[i]), CL_SUCCESS);
        }
    }
}

static void test_copy_is_an_event_too(void **state)
{
    (void)state;
    int *y = clmalloc(cp, N * sizeof *y, 0);
    ready(y);
    done(event_fill(0, 3, 0));
    done(clmcopy(cp, 0, x, y, 0));
    done(clmcopy(cp, 0, x, y, CL_EVENT_WAIT));
    started(clmcopy(cp, 0, x, y, CL_EVENT_NOWAIT));
    done(clwait(cp, 0, CL_MEM_EVENT));
    cl_event ev = started(clmcopy(cp, 0, x, y, CL_EVENT_WAIT | CL_EVENT_NORELEASE));
    assert_int_equal(event_status(ev), CL_COMPLETE);
    clReleaseEvent(ev);
    done(clmsync(cp, 0, y, CL_MEM_HOST));
    assert_int_equal(y[N - 1], 3);
    works(clfree(y));
}

/* ---- clwait. ---- */

static void test_wait_for_kernels_and_memory(void **state)
{
    (void)state;
    static const int kinds[] = {CL_KERNEL_EVENT, CL_MEM_EVENT, CL_ALL_EVENT, 0,
                                CL_KERNEL_EVENT | CL_MEM_EVENT | CL_EVENT_RELEASE};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
            cl_event a = held(event_slow(dev, CL_EVENT_NOWAIT));
            cl_event b = held(clmsync(cp, dev, s, CL_MEM_HOST | CL_EVENT_NOWAIT));
            done(clwait(cp, dev, kinds[k]));
            assert_int_equal(event_status(a),
                             CL_COMPLETE); /* a copy waits for the kernel before it */
            if (kinds[k] != CL_KERNEL_EVENT)
                assert_int_equal(event_status(b), CL_COMPLETE);
            done(clwait(cp, dev, CL_ALL_EVENT));
            clReleaseEvent(a);
            clReleaseEvent(b);
        }
}

/* The events of the kind not waited for stay listed. */
static void test_wait_forgets_what_it_waited_for(void **state)
{
    (void)state;
    cl_event a = held(event_fill(0, 1, CL_EVENT_NOWAIT));
    cl_event b = held(clmsync(cp, 0, x, CL_MEM_HOST | CL_EVENT_NOWAIT));
    works(clflush(cp, 0, 0));
    keeps(b, clwait(cp, 0, CL_KERNEL_EVENT));
    releases(b, clwait(cp, 0, CL_MEM_EVENT));
    clReleaseEvent(a);
    a = held(event_fill(0, 1, CL_EVENT_NOWAIT));
    works(clflush(cp, 0, 0));
    keeps(a, clwait(cp, 0, CL_MEM_EVENT));
    releases(a, clwait(cp, 0, CL_KERNEL_EVENT));
    clReleaseEvent(a);
    clReleaseEvent(b);
}

static void test_wait_for_nothing(void **state)
{
    (void)state;
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        done(clwait(cp, dev, CL_ALL_EVENT | CL_EVENT_NOWAIT));
        cl_event gate = gate_close(cp, dev);
        cl_event a = held(event_fill(dev, 1, CL_EVENT_NOWAIT)),
                 b = held(clmsync(cp, dev, x, CL_MEM_HOST | CL_EVENT_NOWAIT));
        keeps(a, clwait(cp, dev, CL_ALL_EVENT | CL_EVENT_NOWAIT));
        gate_open(gate);
        assert_int_equal(clWaitForEvents(1, &b), CL_SUCCESS);
        assert_int_equal(clWaitForEvents(1, &a), CL_SUCCESS);
        releases(a, clwait(cp, dev, CL_KERNEL_EVENT | CL_EVENT_NOWAIT));
        releases(b, clwait(cp, dev, CL_EVENT_NOWAIT));
        clReleaseEvent(a);
        clReleaseEvent(b);
    }
}

/* ---- Further queues. ---- */

static void test_beside_may_wait(void **state)
{
    (void)state;
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        done(event_fill(dev, 3, 0));
        cl_event gate = gate_close(cp, dev);
        cl_event a = held(event_fill(dev, 7, CL_EVENT_NOWAIT | CL_EVENT_SIDE_QUEUE));
        cl_event b = held(clmsync(cp, dev, x, CL_MEM_HOST | CL_EVENT_NOWAIT | CL_EVENT_SIDE_QUEUE));
        works(clflush(cp, dev, 0));
        cl_event after =
            held(event_fill(dev, 9, CL_EVENT_NOWAIT | CL_EVENT_SIDE_QUEUE | CL_EVENT_BARRIER));
        works(clflush(cp, dev, 0));
        assert_int_not_equal(event_status(after), CL_COMPLETE);
        gate_open(gate);
        done(clwait(cp, dev, CL_ALL_EVENT));
        assert_int_equal(event_status(after), CL_COMPLETE);
        assert_int_equal(x[N - 1], 7);
        clReleaseEvent(a);
        clReleaseEvent(b);
        clReleaseEvent(after);
        done(clmsync(cp, dev, x, CL_MEM_HOST));
        assert_int_equal(x[N - 1], 9);
    }
}

static void test_after_what_is_beside(void **state)
{
    (void)state;
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        s[0] = 1;
        done(clmsync(cp, dev, s, CL_MEM_DEVICE));
        started(event_slow(dev, CL_EVENT_NOWAIT | CL_EVENT_SIDE_QUEUE));
        done(clmsync(cp, dev, s, CL_MEM_HOST | CL_EVENT_BARRIER));
        assert_int_equal(s[0], slow_reference(1, ROUNDS));
        started(event_slow(dev, CL_EVENT_NOWAIT | CL_EVENT_SIDE_QUEUE));
        cl_event ev = held(clmsync(cp, dev, s,
                                   CL_MEM_DEVICE | CL_EVENT_NOWAIT |
                                       CL_EVENT_BARRIER)); /* the kernel's result is overwritten */
        done(clwait(cp, dev, CL_ALL_EVENT));
        assert_int_equal(event_status(ev), CL_COMPLETE);
        clReleaseEvent(ev);
        done(clmsync(cp, dev, s, CL_MEM_HOST));
        assert_int_equal(s[0], slow_reference(1, ROUNDS));
    }
}

/* Copies to and from the device overlap unless the program orders them. */
static void test_copies_both_ways(void **state)
{
    (void)state;
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        done(event_fill(dev, 5, 0));
        done(clmsync(cp, dev, x, CL_MEM_HOST | CL_EVENT_SIDE_QUEUE));
        assert_int_equal(x[0], 5);
        x[0] = 6;
        started(clmsync(cp, dev, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT | CL_EVENT_SIDE_QUEUE));
        cl_event ev = held(clmsync(cp, dev, x, CL_MEM_HOST | CL_EVENT_NOWAIT | CL_EVENT_BARRIER));
        done(clwait(cp, dev, CL_ALL_EVENT));
        assert_int_equal(event_status(ev), CL_COMPLETE);
        clReleaseEvent(ev);
        assert_int_equal(x[0], 6);
        assert_int_equal(x[N - 1], 5);
    }
}

/* With CL_EVENT_NOWAIT the library owns the event, with or without CL_EVENT_NORELEASE: historic
 * programs passed both flags and left the event to clwait. */
static void test_nowait_leaves_nothing_to_release(void **state)
{
    (void)state;
    done(clwait(cp, 0, CL_ALL_EVENT));
    const long before = leak_count_events();
    started(event_fill(0, 1, CL_EVENT_NOWAIT | CL_EVENT_NORELEASE));
    started(clmsync(cp, 0, x, CL_MEM_HOST | CL_EVENT_NOWAIT | CL_EVENT_NORELEASE));
    assert_int_equal(leak_count_events(), before + 2);
    done(clwait(cp, 0, CL_ALL_EVENT));
    assert_int_equal(leak_count_events(), before);
}

/* With CL_EVENT_NORELEASE the library's reference passes to the caller, once. If the caller
 * already has one, the library's is released. */
static void test_wait_hands_events_over(void **state)
{
    (void)state;
    static const int flags[] = {CL_EVENT_NORELEASE, CL_ALL_EVENT | CL_EVENT_NORELEASE};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        cl_event a = held(event_fill(0, 1, CL_EVENT_NOWAIT));
        cl_event b = held(clmsync(cp, 0, x, CL_MEM_HOST | CL_EVENT_NOWAIT));
        cl_event both = held(event_fill(0, 1, CL_EVENT_NOWAIT | CL_EVENT_OWN));
        works(clflush(cp, 0, 0));
        const long of_a = leak_count_references(a), of_b = leak_count_references(b);
        releases(both, clwait(cp, 0, flags[f]));
        done(clwait(cp, 0, CL_ALL_EVENT)); /* has nothing left to release */
        assert_int_equal(leak_count_references(a), of_a);
        assert_int_equal(leak_count_references(b), of_b);
        for (int i = 0; i < 2; i++) { /* from clwait or clfork, and from held() */
            assert_int_equal(clReleaseEvent(a), CL_SUCCESS);
            assert_int_equal(clReleaseEvent(b), CL_SUCCESS);
            assert_int_equal(clReleaseEvent(both), CL_SUCCESS);
        }
    }
}

/* A historic idiom: each round releases the event that clwait returned. */
static void test_handed_over_events_released_in_a_loop(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        cl_event ev = started(event_fill(0, round, CL_EVENT_NOWAIT));
        done(clwait(cp, 0, CL_KERNEL_EVENT | CL_EVENT_NORELEASE));
        assert_int_equal(event_status(ev), CL_COMPLETE);
        assert_int_equal(clReleaseEvent(ev), CL_SUCCESS);
    }
}

static void test_wait_without_work_or_device(void **state)
{
    (void)state;
    for (int flags = 0; flags <= CL_ALL_EVENT; flags += CL_KERNEL_EVENT) {
        done(clwait(cp, 0, flags));
        done(clwait(cp, clgetndev(cp), flags));
        done(clwait(cp, 12345, flags));
        done(clwait(NULL, 0, flags));
    }
}

/* A program without a device, of which every call fails, and which checks clwait alone. */
static void test_wait_reports_commands_without_context(void **state)
{
    (void)state;
    CLCONTEXT *none = NULL;
    const int flags = CL_MEM_DEVICE | CL_EVENT_NOWAIT;
    fails_event(EINVAL, clmsync(none, 0, NULL, flags | CL_EVENT_CHECKED));
    done(clwait(none, 0, CL_ALL_EVENT));
    fails_event(EINVAL, clmsync(none, 0, NULL, flags));
    fails_event(EINVAL, clforka(none, 0, (cl_kernel)NULL, clrange1(1), CL_EVENT_NOWAIT, 2.0f));
    done(clwait(cp, 0, CL_ALL_EVENT)); /* another context */
    assert_true(clwait(none, 0, CL_ALL_EVENT) == NO_EVENT);
    assert_int_equal(clerrno, EINVAL);
    assert_non_null(strstr(clerror(), "clmsync: the context is NULL"));
    done(clwait(none, 0, CL_ALL_EVENT));
    fails_event(EINVAL, clexec(none, 0, clrange1(1), fill, 1));
    fails_event(EINVAL, clwaitev(none, 0, NO_EVENT, 0));
    done(clwait(none, 0, CL_ALL_EVENT));
    fails_event(EINVAL, clwaitev(none, 0, NO_EVENT, 0));
    fails_event(EINVAL, clwaitev(cp, clgetndev(cp), NO_EVENT, 0));
}

static void wait_says(const char *sentence)
{
    assert_true(clwait(cp, 0, CL_ALL_EVENT) == NO_EVENT);
    const char *said = clerror();
    if (!strstr(said, sentence))
        fail_msg("'%s' instead of '%s'", said, sentence);
    done(clwait(cp, 0, CL_ALL_EVENT));
}

/* The first failure is the cause: a copy's or a kernel's, or an allocation's before both. */
static void test_wait_reports_first_refusal(void **state)
{
    (void)state;
    const int flags = CL_MEM_DEVICE | CL_EVENT_NOWAIT;
    fails_event(EFAULT, clmsync(cp, 0, NULL, flags));
    fails_event(ENOENT, clexec(cp, 0, clrange1(1), no_such_kernel, 1));
    wait_says("clmsync: the pointer is NULL; check what clmalloc returned");
    fails_event(ENOENT, clexec(cp, 0, clrange1(1), no_such_kernel, 1));
    fails_event(EFAULT, clmsync(cp, 0, NULL, flags));
    wait_says("clexec: there is no kernel \"no_such_kernel\" (clexec takes a kernel's name; for a "
              "cl_kernel use clforka); there are: ");
    int *none = clmalloc(cp, (size_t)1 << 60, 0);
    assert_true(clmsync(cp, 0, none, flags) == NO_EVENT);
    assert_true(clexec(cp, 0, clrange1(1), no_such_kernel, none) == NO_EVENT);
    wait_says("clmsync: the pointer is NULL; before, clmalloc: ");
}

static void test_wait_for_one_device_only(void **state)
{
    (void)state;
    cl_event gate = gate_close(cp, 1);
    cl_event ev = started(event_fill(1, 1, CL_EVENT_NOWAIT | CL_EVENT_OWN));
    works(clflush(cp, 1, 0));
    started(event_fill(0, 1, CL_EVENT_NOWAIT));
    done(clwait(cp, 0, CL_ALL_EVENT));
    assert_int_not_equal(event_status(ev), CL_COMPLETE);
    gate_open(gate);
    done(clwait(cp, 1, CL_ALL_EVENT));
    assert_int_equal(event_status(ev), CL_COMPLETE);
    clReleaseEvent(ev);
}

/* ---- clwaitev and clflush. ---- */

static void test_waitev_of_library_events(void **state)
{
    (void)state;
    cl_event first = held(event_slow(0, CL_EVENT_NOWAIT)),
             second = held(event_slow(0, CL_EVENT_NOWAIT));
    cl_event third = held(clmsync(cp, 0, s, CL_MEM_HOST | CL_EVENT_NOWAIT));
    assert_ptr_equal(clwaitev(cp, 0, second, CL_EVENT_NORELEASE), second);
    assert_int_equal(event_status(first), CL_COMPLETE); /* in order */
    assert_int_equal(event_status(second), CL_COMPLETE);
    keeps(second, clwaitev(cp, 0, second, CL_EVENT_NORELEASE)); /* handed over already */
    keeps(second, clwaitev(cp, 0, second, 0));
    releases(second, clwaitev(cp, 0, second, CL_EVENT_RELEASE));
    releases(third, clwaitev(cp, 0, third, CL_EVENT_WAIT));
    releases(first, clwait(cp, 0, CL_ALL_EVENT)); /* the lists lost their middle and end only */
    keeps(second, clwait(cp, 0, CL_ALL_EVENT));
    clReleaseEvent(first);
    clReleaseEvent(second);
    clReleaseEvent(third);
}

static void test_waitev_of_our_events(void **state)
{
    (void)state;
    cl_event ev = started(event_slow(0, CL_EVENT_WAIT | CL_EVENT_NORELEASE));
    keeps(ev, clwaitev(cp, 0, ev, 0)); /* still ours */
    keeps(ev, clwaitev(cp, 0, ev, CL_EVENT_NORELEASE));
    clRetainEvent(ev);
    releases(ev, clwaitev(cp, 0, ev, CL_EVENT_RELEASE));
    clReleaseEvent(ev);
    ev = held(event_slow(0, CL_EVENT_NOWAIT | CL_EVENT_OWN));
    works(clflush(cp, 0, 0));
    changes(ev, 2,
            clwaitev(cp, 0, ev,
                     CL_EVENT_RELEASE)); /* the library's reference and ours; held() has one */
    clReleaseEvent(ev);
    ev = started(event_slow(0, CL_EVENT_NOWAIT | CL_EVENT_OWN));
    works(clflush(cp, 0, 0));
    releases(ev, clwaitev(cp, 0, ev, CL_EVENT_NORELEASE)); /* the library's; it was ours before */
    keeps(ev, clwait(cp, 0, CL_ALL_EVENT));
    assert_int_equal(clReleaseEvent(ev), CL_SUCCESS);
    ev = started(event_slow(0, CL_EVENT_NOWAIT | CL_EVENT_OWN));
    assert_ptr_equal(clwaitev(cp, 0, ev, 0), ev);
    assert_int_equal(event_status(ev), CL_COMPLETE);
    done(clwait(cp, 0, CL_ALL_EVENT));
    assert_int_equal(clReleaseEvent(ev), CL_SUCCESS);
    done(clwaitev(cp, 0, NULL, 0)); /* the result of a blocking clfork: complete */
    fails_event(EINVAL, clwaitev(cp, 0, NO_EVENT, 0)); /* the result of a failed clfork */
}

static void test_flush(void **state)
{
    (void)state;
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        cl_event ev = started(event_fill(dev, 1, CL_EVENT_NOWAIT | CL_EVENT_OWN));
        works(clflush(cp, dev, 0));
        while (event_status(ev) != CL_COMPLETE) /* a hang ends by the test's time limit */
            usleep(1000);
        clReleaseEvent(ev);
    }
    fails(EINVAL, clflush(cp, clgetndev(cp), 0));
    fails(EINVAL, clflush(NULL, 0, 0));
}

/* ---- Programs. ---- */

/* fork NOWAIT, sync NOWAIT, one wait. */
static void test_queues_are_in_order(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++)
        for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
            x[0] = -1;
            x[N - 1] = round;
            started(clmsync(cp, dev, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
            started(clforka(cp, dev, basic_kernel(cp, "add"), &all, CL_EVENT_NOWAIT, x, 5));
            started(clforka(cp, dev, basic_kernel(cp, "add"), &all, CL_EVENT_NOWAIT, x, 6));
            started(clmsync(cp, dev, x, CL_MEM_HOST | CL_EVENT_NOWAIT));
            done(clwait(cp, dev, CL_ALL_EVENT));
            assert_int_equal(x[0], 10);
            assert_int_equal(x[N - 1], round + 11);
        }
}

/* Untracked launches: fewer and more than may follow each other without an event. */
static void test_bare_launches_are_waited_for(void **state)
{
    (void)state;
    static const int counts[] = {1, 10, 200};
    struct opening gate;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
            int with_event = 0;
            x[N - 1] = 0;
            done(clmsync(cp, dev, x, CL_MEM_DEVICE));
            gate_open_soon(&gate, cp, dev);
            for (int i = 0; i < counts[c]; i++) {
                const cl_event ev =
                    clforka(cp, dev, basic_kernel(cp, "add"), &all,
                            CL_EVENT_NOWAIT | CL_EVENT_CHECKED | CL_EVENT_UNTRACKED, x, 1);
                assert_ptr_not_equal(ev, (cl_event)-1);
                with_event += ev != NULL;
            }
            done(clwait(cp, dev, CL_KERNEL_EVENT));
            assert_true(gate_was_open(&gate));
            assert_int_equal(with_event, counts[c] / 65);
            done(clmsync(cp, dev, x, CL_MEM_HOST));
            assert_int_equal(x[N - 1], counts[c]);
        }
}

/* A waiting launch is tracked, and so is a launch whose event is requested. */
static void test_bare_launches_that_are_none(void **state)
{
    (void)state;
    struct opening gate;
    gate_open_soon(&gate, cp, 0);
    done(event_fill(0, 1, CL_EVENT_WAIT | CL_EVENT_UNTRACKED));
    assert_true(gate_was_open(&gate));
    cl_event ev = started(event_fill(0, 1, CL_EVENT_NOWAIT | CL_EVENT_UNTRACKED | CL_EVENT_OWN));
    releases(ev, clwait(cp, 0, CL_ALL_EVENT));
    assert_int_equal(clReleaseEvent(ev), CL_SUCCESS);
}

/* ---- Memory: what the layer holds, counted by leak_count.c. ---- */

static void collect_all(void)
{
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++)
        done(clwait(cp, dev, CL_ALL_EVENT));
}

/* Call launch(0 .. n - 1). After each, the layer holds at most `most` events more than at first,
 * and after the first tenth at most `bytes` bytes more than then. */
static void stays_flat(const char *what, int n, void (*launch)(int i), long most, long bytes)
{
    long first_events = leak_count_events(), first_bytes = 0, peak_events = 0, peak_bytes = 0;
    for (int i = 0; i < n; i++) {
        launch(i);
        if (i == n / 10)
            first_bytes = peak_bytes = leak_count_bytes(); /* may be negative: texts of errors */
        peak_events = leak_count_events() - first_events > peak_events
                          ? leak_count_events() - first_events
                          : peak_events;
        peak_bytes =
            i > n / 10 && leak_count_bytes() > peak_bytes ? leak_count_bytes() : peak_bytes;
    }
    collect_all();
    if (peak_events > most || peak_bytes - first_bytes > bytes ||
        leak_count_events() != first_events)
        fail_msg("%s: %ld events and %ld bytes more after %d launches, %ld events at the end", what,
                 peak_events, peak_bytes - first_bytes, n, leak_count_events() - first_events);
}

static clndrange_t single = clndrange_init1d(0, 1, 1);
static cl_kernel nothing;

static void launch_waiting(int i)
{
    (void)i;
    started(clfork(cp, 0, nothing, &single, CL_EVENT_NOWAIT));
    done(clwait(cp, 0, CL_ALL_EVENT));
}

static void launch_bare_waiting(int i)
{
    (void)i;
    assert_ptr_not_equal(
        clfork(cp, 0, nothing, &single, CL_EVENT_NOWAIT | CL_EVENT_CHECKED | CL_EVENT_UNTRACKED),
        (cl_event)-1);
    done(clwait(cp, 0, CL_ALL_EVENT));
}

/* The marker's event belongs to the library only. */
static void launch_bare_norelease(int i)
{
    (void)i;
    assert_ptr_not_equal(
        clfork(cp, 0, nothing, &single, CL_EVENT_NOWAIT | CL_EVENT_CHECKED | CL_EVENT_UNTRACKED),
        (cl_event)-1);
    done(clwait(cp, 0, CL_ALL_EVENT | CL_EVENT_NORELEASE));
}

static void launch_blocking(int i)
{
    (void)i;
    done(clfork(cp, 0, nothing, &single, CL_EVENT_WAIT));
}

static void launch_never_waiting(int i)
{
    started(clfork(cp, (cl_uint)i % clgetndev(cp), nothing, &single, CL_EVENT_NOWAIT));
}

static void sync_never_waiting(int i)
{
    started(clmsync(cp, 0, x, (i & 1 ? CL_MEM_HOST : CL_MEM_DEVICE) | CL_EVENT_NOWAIT));
}

static void launch_with_an_event_of_ours(int i)
{
    (void)i;
    cl_event ev = started(clfork(cp, 0, nothing, &single, CL_EVENT_WAIT | CL_EVENT_NORELEASE));
    assert_int_equal(clReleaseEvent(ev), CL_SUCCESS);
}

static void launch_waiting_for_its_event(int i)
{
    (void)i;
    started(clwaitev(cp, 0, started(clfork(cp, 0, nothing, &single, CL_EVENT_NOWAIT)), 0));
}

static void test_launches_keep_memory_flat(void **state)
{
    (void)state;
    nothing = basic_kernel(cp, "nothing");
    collect_all();
    stays_flat("fork NOWAIT, wait", 5000, launch_waiting, 0, 0);
    stays_flat("fork BARE, wait", 2000, launch_bare_waiting, 0, 0);
    stays_flat("fork BARE, wait NORELEASE", 2000, launch_bare_norelease, 0, 0);
    stays_flat("fork WAIT", 5000, launch_blocking, 0, 0);
    stays_flat("fork NORELEASE, release", 5000, launch_with_an_event_of_ours, 0, 0);
}

/* A list holds 4096 complete commands and 16384 pending ones, at most twice that length. */
static void test_launches_never_waited_for_keep_memory_flat(void **state)
{
    (void)state;
    enum { ENDED = 4096 + 256, MOST = 16384, RECORD = 64 };
    nothing = basic_kernel(cp, "nothing");
    collect_all();
    const long lists = clgetndev(cp);
    stays_flat("fork NOWAIT, waitev", 50000, launch_waiting_for_its_event, 0, 2 * ENDED * RECORD);
    stays_flat("fork NOWAIT, no wait at all", (int)lists * 20000, launch_never_waiting,
               lists * MOST, lists * 2 * MOST * RECORD);
    stays_flat("sync NOWAIT, no wait at all", 20000, sync_never_waiting, MOST, 2 * MOST * RECORD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wait_blocks),
        cmocka_unit_test(test_unknown_flags_are_refused),
        cmocka_unit_test(test_refused_flags_fail_the_next_wait),
        cmocka_unit_test(test_nowait_returns_at_once),
        cmocka_unit_test(test_library_owns_nowait_events),
        cmocka_unit_test(test_norelease_gives_the_event_away),
        cmocka_unit_test(test_copy_is_an_event_too),
        cmocka_unit_test(test_wait_for_kernels_and_memory),
        cmocka_unit_test(test_wait_forgets_what_it_waited_for),
        cmocka_unit_test(test_wait_for_nothing),
        cmocka_unit_test(test_beside_may_wait),
        cmocka_unit_test(test_after_what_is_beside),
        cmocka_unit_test(test_copies_both_ways),
        cmocka_unit_test(test_nowait_leaves_nothing_to_release),
        cmocka_unit_test(test_wait_hands_events_over),
        cmocka_unit_test(test_handed_over_events_released_in_a_loop),
        cmocka_unit_test(test_wait_without_work_or_device),
        cmocka_unit_test(test_wait_reports_commands_without_context),
        cmocka_unit_test(test_wait_reports_first_refusal),
        cmocka_unit_test(test_waitev_of_library_events),
        cmocka_unit_test(test_waitev_of_our_events),
        cmocka_unit_test(test_flush),
        cmocka_unit_test(test_queues_are_in_order),
        cmocka_unit_test(test_bare_launches_are_waited_for),
        cmocka_unit_test(test_bare_launches_that_are_none),
        cmocka_unit_test(test_launches_keep_memory_flat),
        cmocka_unit_test(test_launches_never_waited_for_keep_memory_flat),
    };
    const struct CMUnitTest on_two[] = {
        cmocka_unit_test(test_wait_for_one_device_only),
    };
    int failed = cmocka_run_group_tests(tests, event_setup, event_teardown);
    if (clgetndev(stddev) > 1)
        failed += cmocka_run_group_tests(on_two, event_setup, event_teardown);
    return failed;
}
