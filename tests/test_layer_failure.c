/* test_layer_failure.c - commands that fail on the device, and rejected commands: every failure
 * reaches the next wait, once, and an unread failure survives what the library tries internally.
 *
 * failing.h makes commands fail. In addition, clBuildProgram can fail here as NVIDIA's does when
 * a kernel without arguments is built with -cl-kernel-arg-info, and clRetainEvent can fail.
 * SPDX-License-Identifier: MIT
 */
#include "failing.h"

#include "core/untracked.h"

static CLCONTEXT *cp;
static int *x;

enum { N = 64 };
static clndrange_t all = clndrange_init1d(0, N, 0);

/* ---- A compiler that fails when it is asked to. ---- */

static bool no_argument_info; /* the compiler cannot make it */
static int builds;            /* calls of the compiler so far */

cl_int clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices,
                      const char *options, void (*notify)(cl_program, void *), void *data)
{
    cl_int (*real)(cl_program, cl_uint, const cl_device_id *, const char *,
                   void (*)(cl_program, void *), void *);
    *(void **)&real = dlsym(RTLD_NEXT, "clBuildProgram");
    builds++;
    const bool refused = no_argument_info && strstr(options, "-cl-kernel-arg-info");
    return refused ? CL_BUILD_PROGRAM_FAILURE : real(program, n, devices, options, notify, data);
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what,
                             size_t size, void *value, size_t *got)
{
    static const char log[] = "ptxas application ptx input, line 9; fatal";
    cl_int (*real)(cl_program, cl_device_id, cl_program_build_info, size_t, void *, size_t *);
    *(void **)&real = dlsym(RTLD_NEXT, "clGetProgramBuildInfo");
    if (!no_argument_info || what != CL_PROGRAM_BUILD_LOG)
        return real(program, device, what, size, value, got);
    if (got)
        *got = sizeof log;
    if (value)
        memcpy(value, log, size < sizeof log ? size : sizeof log);
    return CL_SUCCESS;
}

static cl_int no_kernels; /* the error with which kernels are refused */

cl_kernel clCreateKernel(cl_program program, const char *name, cl_int *err)
{
    cl_kernel (*real)(cl_program, const char *, cl_int *);
    *(void **)&real = dlsym(RTLD_NEXT, "clCreateKernel");
    if (no_kernels)
        *err = no_kernels;
    return no_kernels ? NULL : real(program, name, err);
}

static bool no_references;

cl_int clRetainEvent(cl_event ev)
{
    cl_int (*real)(cl_event);
    *(void **)&real = dlsym(RTLD_NEXT, "clRetainEvent");
    return no_references ? CL_OUT_OF_HOST_MEMORY : real(ev);
}

static bool waits_say_nothing; /* true: only a command's own status reports its failure */

cl_int clWaitForEvents(cl_uint n, const cl_event *ev)
{
    cl_int (*real)(cl_uint, const cl_event *);
    *(void **)&real = dlsym(RTLD_NEXT, "clWaitForEvents");
    const cl_int err = real(n, ev);
    return waits_say_nothing ? CL_SUCCESS : err;
}

static bool asked_in_vain; /* the UUID of a device that does not report one was queried */

cl_int clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t size, void *value, size_t *got)
{
    cl_int (*real)(cl_device_id, cl_device_info, size_t, void *, size_t *);
    *(void **)&real = dlsym(RTLD_NEXT, "clGetDeviceInfo");
    char extensions[8192] = "";
    if (what == 0x106A &&
        (real(id, CL_DEVICE_EXTENSIONS, sizeof extensions, extensions, NULL) != CL_SUCCESS ||
         !strstr(extensions, "cl_khr_device_uuid")))
        asked_in_vain = true;
    return real(id, what, size, value, got);
}

/* ---- Started commands. ---- */

/* Before the first test no standard context exists. */
static int failure_setup(void **state)
{
    (void)state;
    cp = stddev;
    x = clmalloc(cp, N * sizeof *x, 0);
    return setup_done(x);
}

static int failure_teardown(void **state)
{
    (void)state;
    return clfree(x);
}

static cl_event launch_failing(int flags)
{
    return clforka(cp, 0, basic_kernel(cp, "fill"), &all, flags, x, 1);
}
static cl_event sync_block_to(int flags)
{
    return clmsync(cp, 0, x, CL_MEM_DEVICE | flags);
}

/* The call fails with the device command's error. */
#define reports(call)                                                                              \
    do {                                                                                           \
        CHECK_FAILS(EIO, NO_EVENT, "did not return (cl_event)-1", call, #call);                    \
        assert_int_equal(oclerrno, CL_OUT_OF_RESOURCES);                                           \
    } while (0)

/* ---- Failures that reach the next wait. ---- */

static void test_failure_before_a_success(void **state)
{
    (void)state;
    static const int waits[] = {CL_KERNEL_EVENT, CL_ALL_EVENT, 0};
    for (size_t w = 0; w < sizeof waits / sizeof *waits; w++) {
        healthy = 1;
        for (int i = 0; i < 3; i++)
            started(launch_failing(CL_EVENT_NOWAIT));
        reports(clwait(cp, 0, waits[w]));
        done(clwait(cp, 0, waits[w])); /* reported once */
    }
}

static void test_failure_told_with_norelease(void **state)
{
    (void)state;
    cl_event ev[3];
    healthy = 0;
    for (int i = 0; i < 3; i++)
        ev[i] = started(launch_failing(CL_EVENT_NOWAIT));
    reports(clwait(cp, 0, CL_KERNEL_EVENT | CL_EVENT_NORELEASE));
    done(clwait(cp, 0, CL_ALL_EVENT));
    for (int i = 0; i < 3; i++)
        assert_int_equal(clReleaseEvent(ev[i]), CL_SUCCESS);
}

static void test_failure_of_the_other_kind_stays(void **state)
{
    (void)state;
    healthy = 0;
    started(sync_block_to(CL_EVENT_NOWAIT));
    started(launch_failing(CL_EVENT_NOWAIT));
    done(clwait(cp, 0, CL_KERNEL_EVENT));
    reports(clwait(cp, 0, CL_MEM_EVENT));
    done(clwait(cp, 0, CL_ALL_EVENT));
}

/* More commands than the lists hold: the failed one was dropped long before the wait. */
static void test_failure_among_thousands(void **state)
{
    (void)state;
    healthy = 10;
    for (int i = 0; i < 10000; i++) {
        started(launch_failing(CL_EVENT_NOWAIT));
        if (i % 1000 == 0)
            clFinish(clgetqueue(cp, 0)); /* so that there is something to drop */
    }
    done(clwait(cp, 0, CL_MEM_EVENT)); /* it was no copy */
    reports(clwait(cp, 0, CL_KERNEL_EVENT));
    done(clwait(cp, 0, CL_ALL_EVENT));
}

static void test_failure_told_by_the_call_itself(void **state)
{
    (void)state;
    healthy = 0;
    reports(launch_failing(CL_EVENT_WAIT));
    healthy = 0;
    reports(sync_block_to(CL_EVENT_WAIT));
    done(clwait(cp, 0, CL_ALL_EVENT)); /* no failure is left */
    healthy = 0;
    cl_event ev = started(launch_failing(CL_EVENT_NOWAIT));
    fails_event(EIO, clwaitev(cp, 0, ev, 0));
    done(clwait(cp, 0, CL_ALL_EVENT));
}

/* A waiting call reports earlier lost failures; then they are reported. */
static void test_blocking_calls_tell_what_failed_before(void **state)
{
    (void)state;
    int *y = clmalloc(cp, N * sizeof *y, 0);
    ready(y);
    for (int call = 0; call < 7; call++) {
        healthy = 0;
        started(call % 2 ? launch_failing(CL_EVENT_NOWAIT) : sync_block_to(CL_EVENT_NOWAIT));
        cl_event ev = call == 6 ? started(launch_failing(CL_EVENT_NOWAIT)) : NULL;
        check_forget();
        assert_ptr_equal(call == 0   ? sync_block_to(CL_EVENT_WAIT)
                         : call == 1 ? clmsync(cp, 0, x, CL_MEM_HOST)
                         : call == 2 ? clmsyncn(cp, 0, x, 4, CL_MEM_HOST | CL_EVENT_WAIT)
                         : call == 3 ? clmcopy(cp, 0, x, y, CL_EVENT_WAIT)
                         : call == 4 ? launch_failing(CL_EVENT_WAIT)
                         : call == 5 ? clmsync(cp, 0, x, CL_MEM_HOST | CL_EVENT_NORELEASE)
                                     : clwaitev(cp, 0, ev, 0),
                         NO_EVENT);
        assert_int_equal(clerrno, EIO);
        assert_int_equal(oclerrno, CL_OUT_OF_RESOURCES);
        contains(clerror(), call % 2 ? ": a kernel failed on " : ": a copy failed on ");
        done(clmsync(cp, 0, x, CL_MEM_HOST));
        done(clwait(cp, 0, CL_ALL_EVENT));
    }
    works(clfree(y));
}

/* A kernel without an event fails, between others that succeed. */
static void bare_kernels_fail(void)
{
    healthy = 3;
    for (int i = 0; i < 9; i++)
        assert_ptr_not_equal(
            launch_failing(CL_EVENT_NOWAIT | CL_EVENT_CHECKED | CL_EVENT_UNTRACKED), NO_EVENT);
    assert_ptr_not_equal(unseen, NULL);
}

/* Any wait on a later command reports the failure, even where the driver reports it only through
 * a marker. */
static void test_kernels_without_events_tell(void **state)
{
    (void)state;
    int *y = clmalloc(cp, N * sizeof *y, CL_MEM_DEVONLY), *z = clmalloc(cp, N * sizeof *z, 0);
    ready(y);
    ready(z);
    for (int call = 0; call < 12; call++) {
        bare_kernels_fail();
        cl_event ev =
            call == 8    ? started(sync_block_to(CL_EVENT_NOWAIT))
            : call == 9  ? started(launch_failing(CL_EVENT_NOWAIT))
            : call == 10 ? started(clmcopy(cp, 0, x, y, CL_EVENT_NOWAIT))
            : call == 11
                ? started(launch_failing(CL_EVENT_NOWAIT | CL_EVENT_UNTRACKED | CL_EVENT_OWN))
                : NULL;
        check_forget();
        assert_ptr_equal(
            call == 0   ? clwait(cp, 0, CL_KERNEL_EVENT)
            : call == 1 ? clwait(cp, 0, CL_ALL_EVENT | CL_EVENT_NORELEASE)
            : call == 2 ? sync_block_to(CL_EVENT_WAIT)
            : call == 3 ? clmsync(cp, 0, x, CL_MEM_HOST)
            : call == 4
                ? clmsyncn(cp, 0, x, 4, CL_MEM_HOST | CL_EVENT_SIDE_QUEUE | CL_EVENT_BARRIER)
            : call == 5 ? clmsync(cp, 0, z, CL_MEM_DEVICE | CL_MEM_NOFORCE)
            : call == 6 ? clmcopy(cp, 0, x, y, CL_EVENT_WAIT)
            : call == 7 ? launch_failing(CL_EVENT_WAIT | CL_EVENT_UNTRACKED)
                        : clwaitev(cp, 0, ev, call == 11 ? CL_EVENT_RELEASE : 0),
            NO_EVENT);
        assert_int_equal(clerrno, EIO);
        assert_int_equal(oclerrno, CL_OUT_OF_RESOURCES);
        contains(clerror(), ": a kernel failed on ");
        assert_null(unseen);
        done(clmsync(cp, 0, x, CL_MEM_HOST)); /* reported once */
        done(clwait(cp, 0, CL_ALL_EVENT));
    }
    works(clfree(z));
    works(clfree(y));
}

/* The failure of untracked kernels without a marker is unknown; profiling, which begins a new
 * queue. */
static void test_kernels_without_markers(void **state)
{
    (void)state;
    bare_kernels_fail();
    no_markers = true;
    check_forget();
    assert_ptr_equal(clwait(cp, 0, CL_KERNEL_EVENT), NO_EVENT);
    no_markers = false;
    assert_int_equal(oclerrno, CL_OUT_OF_HOST_MEMORY);
    unseen = NULL;
    done(clwait(cp, 0, CL_ALL_EVENT));
    bare_kernels_fail();
    works(clprofile(cp, 1));
    started(launch_failing(CL_EVENT_NOWAIT | CL_EVENT_UNTRACKED));
    reports(clwait(cp, 0, CL_KERNEL_EVENT));
    works(clprofile(cp, 0));
    done(clwait(cp, 0, CL_ALL_EVENT));
}

/* Another device uses the block that a failed kernel should have written. */
static void test_blocks_of_failed_kernels(void **state)
{
    (void)state;
    for (int bare = 0; clgetndev(cp) > 1 && bare < 2; bare++) {
        int *y = clmalloc(cp, N * sizeof *y, 0);
        ready(y);
        healthy = 0;
        assert_ptr_not_equal(
            clforka(cp, 0, basic_kernel(cp, "fill"), &all,
                    CL_EVENT_NOWAIT | CL_EVENT_CHECKED | (bare ? CL_EVENT_UNTRACKED : 0), y, 1),
            NO_EVENT);
        reports(clforka(cp, 1, basic_kernel(cp, "fill"), &all, CL_EVENT_WAIT, y, 2));
        done(clwait(cp, 0, CL_ALL_EVENT));
        done(clforka(cp, 1, basic_kernel(cp, "fill"), &all, CL_EVENT_WAIT, y, 2));
        works(clfree(y));
    }
}

/* The events are still listed after a blocking call has checked them. */
static void test_events_outlive_blocking_calls(void **state)
{
    (void)state;
    cl_event ev = started(launch_failing(CL_EVENT_NOWAIT));
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    assert_int_equal(event_status(ev), CL_COMPLETE);
    healthy = 0;
    started(launch_failing(CL_EVENT_NOWAIT)); /* and the check continues after them */
    reports(clmsync(cp, 0, x, CL_MEM_HOST));
    assert_ptr_equal(clwaitev(cp, 0, ev, 0), ev);
    done(clwait(cp, 0, CL_ALL_EVENT));
}

static void test_freeing_loses_no_failure(void **state)
{
    (void)state;
    void *program = clsopen(cp, "kernel void f(global int *a) { a[0] = 1; }", CLLD_NOW);
    int *y = clmalloc(cp, N * sizeof *y, 0);
    ready(y);
    done(clforka(cp, 0, clsym(cp, program, "f", 0), &all, CL_EVENT_WAIT, y));
    healthy = 0;
    started(launch_failing(CL_EVENT_NOWAIT));
    works(clfree(y));
    works(clclose(cp, program));
    reports(clwait(cp, 0, CL_ALL_EVENT));
    done(clwait(cp, 0, CL_ALL_EVENT));
    const cl_device_id id = clgetdevice(cp, 0); /* and a context that ends says nothing */
    CLCONTEXT *other = clcontext_create_from(&id, 1);
    ready(other);
    y = clmalloc(other, N * sizeof *y, 0);
    healthy = 0;
    started(clmsync(other, 0, y, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    assert_int_equal((clmsync(other, 0, y, CL_EVENT_NOWAIT), clerrno),
                     EINVAL); /* refused: has a sentence to free */
    works(clcontext_destroy(other));
}

/* ---- Commands that are refused. ---- */

/* The wait fails with the call's error. */
#define retells(code, part, call)                                                                  \
    do {                                                                                           \
        check_forget();                                                                            \
        assert_ptr_equal(call, NO_EVENT);                                                          \
        assert_int_equal(clerrno, code);                                                           \
        contains(clerror(), part);                                                                 \
    } while (0)

static void test_refusals_reach_the_next_wait(void **state)
{
    (void)state;
    cl_kernel fill = basic_kernel(cp, "fill");
    int on_stack = 0;
    const char *const sentence =
        "clforka: argument 1 of kernel fill is int value; a double of 8 bytes was given";
    retells(EINVAL, sentence, clforka(cp, 0, fill, &all, CL_EVENT_NOWAIT, x, 2.0));
    started(launch_failing(CL_EVENT_NOWAIT)); /* before later commands */
    done(clwait(cp, 0, CL_MEM_EVENT));
    retells(EINVAL, sentence, clwait(cp, 0, CL_ALL_EVENT));
    done(clwait(cp, 0, CL_ALL_EVENT)); /* reported once */

    clforka(cp, 0, fill, &all, CL_EVENT_NOWAIT, x, 2.0);
    clfork(cp, 0, NULL, &all, CL_EVENT_NOWAIT);
    retells(EINVAL, sentence,
            clmsync(cp, 0, x, CL_MEM_HOST)); /* the first failure; any wait reports it */
    done(clwait(cp, 0, CL_ALL_EVENT));

    clfork(cp, 0, NULL, &all, CL_EVENT_NOWAIT);
    retells(EINVAL, "the kernel is NULL", clwait(cp, 0, CL_KERNEL_EVENT));
    clexec(cp, 0, &all, no_such_kernel, x);
    retells(ENOENT, "clexec: there is no kernel \"no_such_kernel\"",
            clwait(cp, 0, CL_KERNEL_EVENT));
    retells(EINVAL, "the index space is NULL",
            clwaitev(cp, 0, clforka(cp, 0, fill, NULL, CL_EVENT_NOWAIT, x, 1), 0));
    done(clwait(cp, 0, CL_ALL_EVENT));

    clmsync(cp, 0, &on_stack, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    done(clwait(cp, 0, CL_KERNEL_EVENT));
    retells(EFAULT, "clmsync: ", clwait(cp, 0, CL_MEM_EVENT));
    clmsyncn(cp, 0, x, (N + 1) * sizeof *x, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    retells(EINVAL, "clmsyncn: 260 bytes", clwait(cp, 0, CL_ALL_EVENT));
    clmcopy(cp, 0, x, x, CL_EVENT_NOWAIT);
    retells(EINVAL, "clmcopy: ", clwait(cp, 0, CL_MEM_EVENT));
}

/* A program that checks only clwait learns why its kernel is missing. */
static void test_wait_reports_the_program_that_did_not_build(void **state)
{
    (void)state;
    check_forget();
    assert_null(clsopen(cp, "kernel void f(global int *a) { a[0] = nonsense; }", CLLD_NOW));
    clforka(cp, 0, NULL, &all, CL_EVENT_NOWAIT, x);
    retells(EINVAL, "clforka: the kernel is NULL; before, clsopen: ", clwait(cp, 0, CL_ALL_EVENT));
    assert_null(clsopen(cp, "kernel void f(global int *a) { a[0] = nonsense; }", CLLD_NOW));
    clexec(cp, 0, &all, f, x);
    retells(ENOENT, "nonsense", clwait(cp, 0, CL_ALL_EVENT));
    assert_null(clopen(cp, "no_such_file.cl", CLLD_NOW));
    assert_non_null(clerror()); /* the caller knows: the message is not repeated */
    clfork(cp, 0, NULL, &all, CL_EVENT_NOWAIT);
    check_forget();
    assert_ptr_equal(clwait(cp, 0, CL_ALL_EVENT), NO_EVENT);
    assert_null(strstr(clerror(), "no_such_file"));
    assert_null(clsym(cp, NULL, "first_name", 0));
    assert_null(clsym(cp, NULL, "second_name", 0));
    assert_null(strstr(clerror(), "first_name"));
}

/* A blocking call is its own wait, and a checked call needs none. */
static void test_refusals_told_by_the_call_alone(void **state)
{
    (void)state;
    fails_event(EINVAL, clforka(cp, 0, basic_kernel(cp, "fill"), &all,
                                CL_EVENT_NOWAIT | CL_EVENT_CHECKED, x, 2.0));
    fails_event(EINVAL, clmcopy(cp, 0, x, x, CL_EVENT_NOWAIT | CL_EVENT_CHECKED));
    fails_event(EINVAL, clforka(cp, 0, basic_kernel(cp, "fill"), &all, CL_EVENT_WAIT, x, 2.0));
    fails_event(EINVAL, clmcopy(cp, 0, x, x, CL_EVENT_WAIT));
    done(clwait(cp, 0, CL_ALL_EVENT));
}

static void test_refusals_belong_to_their_device(void **state)
{
    (void)state;
    if (clgetndev(cp) < 2)
        return;
    clforka(cp, 1, basic_kernel(cp, "fill"), &all, CL_EVENT_NOWAIT, x, 2.0);
    done(clwait(cp, 0, CL_ALL_EVENT));
    fails_event(EINVAL, clwait(cp, 1, CL_ALL_EVENT));
}

/* A program that addresses a device that does not exist gets the error at the next wait, on any
 * device, once. */
static void test_refusals_of_absent_devices(void **state)
{
    (void)state;
    const cl_uint absent = clgetndev(cp);
    for (cl_uint wait = 0; wait < 2; wait++)
        for (int what = 0; what < 4; what++) {
            const cl_event ev =
                what == 0
                    ? clforka(cp, absent, basic_kernel(cp, "fill"), &all, CL_EVENT_NOWAIT, x, 2)
                : what == 1 ? clmsync(cp, absent, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT)
                : what == 2 ? clmsyncn(cp, absent, x, 4, CL_MEM_DEVICE | CL_EVENT_NOWAIT)
                            : clexec(cp, absent, &all, nowhere, 1);
            assert_ptr_equal(ev, NO_EVENT);
            check_forget();
            fails_event(EINVAL, clwait(cp, wait ? absent : 0, CL_KERNEL_EVENT));
            done(clwait(cp, 0, CL_ALL_EVENT));
            done(clwait(cp, absent, CL_ALL_EVENT));
        }
    fails_event(EINVAL, clforka(cp, absent, basic_kernel(cp, "fill"), &all, CL_EVENT_WAIT, x, 2));
    done(clwait(cp, 0, CL_ALL_EVENT));
}

/* Events that cannot be retained are waited for nevertheless. */
static void test_waits_without_references(void **state)
{
    (void)state;
    no_references = true;
    for (int i = 0; i < 20000; i++) /* more than the list holds before launches block */
        started(launch_failing(CL_EVENT_NOWAIT));
    cl_event ours = started(launch_failing(CL_EVENT_NOWAIT | CL_EVENT_OWN));
    assert_int_equal(event_status(ours), CL_COMPLETE);
    done(clwait(cp, 0, CL_ALL_EVENT));
    cl_event last = started(launch_failing(CL_EVENT_NOWAIT));
    done(clwait(cp, 0, CL_ALL_EVENT | CL_EVENT_NORELEASE));
    no_references = false;
    assert_int_equal(event_status(last), CL_COMPLETE);
    assert_int_equal(clReleaseEvent(ours), CL_SUCCESS);
    assert_int_equal(clReleaseEvent(last), CL_SUCCESS);
}

/* ---- Internal attempts of the library are no failure of the caller's. ---- */

static void test_uuids_are_asked_for_where_there_are_any(void **state)
{
    (void)state;
    assert_false(asked_in_vain);
}

static void test_unread_failure_outlives_standard_contexts(void **state)
{
    (void)state;
    fails_null(EINVAL, clmalloc(NULL, 16, 0)); /* reads the sentence */
    assert_null(clmalloc(NULL, 16, 0));
    CLCONTEXT *first = stdgpu; /* makes all of them, and there is no accelerator */
    (void)first;
    assert_null(stdacc);
    assert_int_equal(clerrno, EINVAL);
    contains(clerror(), "clmalloc");
    assert_null(clerror());
}

/* A driver whose waits succeed although a command failed. */
static void test_status_alone_tells(void **state)
{
    (void)state;
    waits_say_nothing = true;
    for (int wait = 0; wait < 3; wait++) {
        healthy = 0;
        if (wait == 0)
            reports(launch_failing(0));
        else if (wait == 1)
            reports(clwaitev(cp, 0, started(launch_failing(CL_EVENT_NOWAIT)), 0));
        else if (started(launch_failing(CL_EVENT_NOWAIT)))
            reports(clwait(cp, 0, CL_KERNEL_EVENT));
        done(clwait(cp, 0, CL_ALL_EVENT)); /* reported once */
    }
    waits_say_nothing = false;
}

/* A program that builds at the second attempt is built. */
/* The message "There is no kernel f; there are: f" must not occur. */
static void test_kernels_that_the_driver_does_not_make(void **state)
{
    (void)state;
    static const struct {
        cl_int error;
        int code;
    } way[] = {{CL_OUT_OF_HOST_MEMORY, ENOMEM}, {CL_INVALID_KERNEL_NAME, EIO}};
    void *program = clsopen(cp, "kernel void f(global int *a) { a[0] = 1; }", CLLD_NOW);
    ready(program);
    for (int i = 0; i < 2; i++) {
        no_kernels = way[i].error;
        cl_kernel k = clsym(cp, program, "f", CLLD_NOW);
        no_kernels = 0;
        assert_null(k);
        assert_int_equal(clerrno, way[i].code);
        contains(clerror(),
                 i ? "clsym: kernel \"f\" is in the program, and the driver does not make it"
                   : "clsym: kernel f of ");
    }
    fails_null(ENOENT, clsym(cp, program, "g", CLLD_NOW));
    ready(clsym(cp, program, "f", CLLD_NOW));
    works(clclose(cp, program));
}

static void test_second_try_of_a_build(void **state)
{
    (void)state;
    assert_null(clmalloc(NULL, 16, 0)); /* an unread failure */
    no_argument_info = true;
    void *program = clsopen(cp, "kernel void f(void) {}", CLLD_NOW);
    no_argument_info = false;
    ready(program);
    assert_int_equal(clerrno, EINVAL);
    contains(clerror(), "clmalloc");
    works(clclose(cp, program));
    fails_null(ENOEXEC, clsopen(cp, "kernel void f(void) { no such type; }", CLLD_NOW));
}

static void test_lazy_program_that_does_not_build(void **state)
{
    (void)state;
    static const char broken_source[] = "kernel void broken(global int *a) { a[0] = undeclared; }";
    void *works_too = clsopen(cp, "kernel void seven(global int *a) { a[0] = 7; }", CLLD_NOW);
    void *broken = clsopen(cp, broken_source, CLLD_LAZY);
    clndrange_t one = clndrange_init1d(0, 1, 0);
    ready(works_too);
    ready(broken);
    assert_null(clmalloc(NULL, 16, 0)); /* an unread failure */
    builds = 0;
    for (int i = 0; i < 3; i++)
        done(clexecb(cp, 0, &one, seven, x)); /* the broken program is newer */
    assert_int_equal(builds, 1);
    contains(clerror(), "clmalloc");
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    assert_int_equal(x[0], 7);

    retells(ENOEXEC, "clexec: no built program has a kernel \"eight\", and ",
            clexecb(cp, 0, &one, eight, x));
    assert_null(clsym(cp, NULL, "eight", 0));
    const char *sentence = clerror();
    contains(sentence, "clsym: no built program has a kernel \"eight\", and ");
    contains(sentence, "undeclared");
    fails_null(ENOEXEC, clsym(cp, broken, "broken", 0));
    assert_int_equal(builds, 1);

    fails(ENOEXEC, clbuild(cp, broken, NULL, 0)); /* compiles again */
    assert_int_equal(builds, 2);
    works(clbuild(cp, broken, (char[]){"-D undeclared=9"}, 0));
    ready(clsym(cp, NULL, "broken", 0));
    works(clclose(cp, broken));
    works(clclose(cp, works_too));
}

int main(void)
{
    setenv("STDACC", "1", 1);
    setenv("STDACC_PLATFORM_NAME", "no such platform", 1);
    const struct CMUnitTest first[] = {
        cmocka_unit_test(test_unread_failure_outlives_standard_contexts)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failure_before_a_success),
        cmocka_unit_test(test_failure_told_with_norelease),
        cmocka_unit_test(test_failure_of_the_other_kind_stays),
        cmocka_unit_test(test_failure_among_thousands),
        cmocka_unit_test(test_failure_told_by_the_call_itself),
        cmocka_unit_test(test_blocking_calls_tell_what_failed_before),
        cmocka_unit_test(test_kernels_without_events_tell),
        cmocka_unit_test(test_kernels_without_markers),
        cmocka_unit_test(test_blocks_of_failed_kernels),
        cmocka_unit_test(test_events_outlive_blocking_calls),
        cmocka_unit_test(test_freeing_loses_no_failure),
        cmocka_unit_test(test_refusals_reach_the_next_wait),
        cmocka_unit_test(test_wait_reports_the_program_that_did_not_build),
        cmocka_unit_test(test_refusals_told_by_the_call_alone),
        cmocka_unit_test(test_refusals_belong_to_their_device),
        cmocka_unit_test(test_refusals_of_absent_devices),
        cmocka_unit_test(test_waits_without_references),
        cmocka_unit_test(test_status_alone_tells),
        cmocka_unit_test(test_uuids_are_asked_for_where_there_are_any),
        cmocka_unit_test(test_second_try_of_a_build),
        cmocka_unit_test(test_kernels_that_the_driver_does_not_make),
        cmocka_unit_test(test_lazy_program_that_does_not_build),
    };
    int failed = cmocka_run_group_tests(first, NULL, NULL);
    return failed + cmocka_run_group_tests(tests, failure_setup, failure_teardown);
}
