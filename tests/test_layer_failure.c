/* test_layer_failure.c - commands that fail on the device: every failure reaches the next wait, once; and a failure
 * that nobody has read yet survives what the library tries by itself.
 *
 * The commands that fail are those of failing.h. Besides, clBuildProgram can fail here as NVIDIA's does when a
 * kernel without arguments is built with -cl-kernel-arg-info.
 *
 * SPDX-License-Identifier: MIT
 */
#include "failing.h"

static CLCONTEXT *cp;
static int *x;

enum { N = 64 };
static clndrange_t all = clndrange_init1d(0, N, 0);

/* ---- A compiler that fails when it is asked to. ---- */

static bool no_argument_info; /* the compiler cannot make it */

cl_int clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                      void (*notify)(cl_program, void *), void *data)
{
    cl_int (*real)(cl_program, cl_uint, const cl_device_id *, const char *, void (*)(cl_program, void *), void *);
    *(void **)&real = dlsym(RTLD_NEXT, "clBuildProgram");
    const bool refused = no_argument_info && strstr(options, "-cl-kernel-arg-info");
    return refused ? CL_BUILD_PROGRAM_FAILURE : real(program, n, devices, options, notify, data);
}

cl_int clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t size,
                             void *value, size_t *got)
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

/* ---- What is started. ---- */

/* Before the first test no standard context was made. */
static int setup(void **state)
{
    (void)state;
    cp = stddev;
    x = clmalloc(cp, N * sizeof *x, 0);
    return x ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    return clfree(x);
}

static cl_event launch(int flags) { return clforka(cp, 0, basic_kernel(cp, "fill"), &all, flags, x, 1); }
static cl_event copy(int flags) { return clmsync(cp, 0, x, CL_MEM_DEVICE | flags); }

/* The call fails as a command of the device did. */
#define reports(call)                                              \
    do {                                                           \
        fails_event(EIO, call);                                    \
        assert_int_equal(oclerrno, CL_OUT_OF_RESOURCES);           \
    } while (0)

/* ---- Failures that reach the next wait. ---- */

static void test_failure_before_a_success(void **state)
{
    (void)state;
    static const int waits[] = {CL_KERNEL_EVENT, CL_ALL_EVENT, 0};
    for (size_t w = 0; w < sizeof waits / sizeof *waits; w++) {
        healthy = 1;
        for (int i = 0; i < 3; i++)
            started(launch(CL_EVENT_NOWAIT));
        reports(clwait(cp, 0, waits[w]));
        done(clwait(cp, 0, waits[w])); /* told once */
    }
}

static void test_failure_told_with_norelease(void **state)
{
    (void)state;
    cl_event ev[3];
    healthy = 0;
    for (int i = 0; i < 3; i++)
        ev[i] = started(launch(CL_EVENT_NOWAIT));
    reports(clwait(cp, 0, CL_KERNEL_EVENT | CL_EVENT_NORELEASE));
    done(clwait(cp, 0, CL_ALL_EVENT));
    for (int i = 0; i < 3; i++)
        assert_int_equal(clReleaseEvent(ev[i]), CL_SUCCESS);
}

static void test_failure_of_the_other_kind_stays(void **state)
{
    (void)state;
    healthy = 0;
    started(copy(CL_EVENT_NOWAIT));
    started(launch(CL_EVENT_NOWAIT));
    done(clwait(cp, 0, CL_KERNEL_EVENT));
    reports(clwait(cp, 0, CL_MEM_EVENT));
    done(clwait(cp, 0, CL_ALL_EVENT));
}

/* More commands than the lists keep: the failed one has long been dropped when somebody waits. */
static void test_failure_among_thousands(void **state)
{
    (void)state;
    healthy = 10;
    for (int i = 0; i < 10000; i++) {
        started(launch(CL_EVENT_NOWAIT));
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
    reports(launch(CL_EVENT_WAIT));
    healthy = 0;
    reports(copy(CL_EVENT_WAIT));
    done(clwait(cp, 0, CL_ALL_EVENT)); /* nothing is left to tell */
    healthy = 0;
    cl_event ev = started(launch(CL_EVENT_NOWAIT));
    fails_event(EIO, clwaitev(cp, 0, ev, 0));
    done(clwait(cp, 0, CL_ALL_EVENT));
}

/* ---- What the library tries by itself is no failure of the caller's. ---- */

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

/* A program that builds at the second try builds. */
static void test_second_try_of_a_build(void **state)
{
    (void)state;
    assert_null(clmalloc(NULL, 16, 0)); /* a failure that nobody has read */
    no_argument_info = true;
    void *program = clsopen(cp, "kernel void f(void) {}", CLLD_NOW);
    no_argument_info = false;
    ready(program);
    assert_int_equal(clerrno, EINVAL);
    contains(clerror(), "clmalloc");
    works(clclose(cp, program));
    fails_null(ENOEXEC, clsopen(cp, "kernel void f(void) { no such type; }", CLLD_NOW));
}

int main(void)
{
    setenv("STDACC", "1", 1);
    setenv("STDACC_PLATFORM_NAME", "no such platform", 1);
    const struct CMUnitTest first[] = {cmocka_unit_test(test_unread_failure_outlives_standard_contexts)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failure_before_a_success),
        cmocka_unit_test(test_failure_told_with_norelease),
        cmocka_unit_test(test_failure_of_the_other_kind_stays),
        cmocka_unit_test(test_failure_among_thousands),
        cmocka_unit_test(test_failure_told_by_the_call_itself),
        cmocka_unit_test(test_second_try_of_a_build),
    };
    int failed = cmocka_run_group_tests(first, NULL, NULL);
    return failed + cmocka_run_group_tests(tests, setup, teardown);
}
