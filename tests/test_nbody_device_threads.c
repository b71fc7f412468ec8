/* test_nbody_device_threads.c - the launcher threads of several GPUs (device_threads.c), tested
 * without a GPU: the file is included with replaced queries of the device type and the number of
 * processors.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/tree_domain.h"

static cl_uint cpu; /* number of the device that is a CPU */
static cl_device_id device_number(CLCONTEXT *cp, cl_uint dev)
{
    (void)cp;
    return (cl_device_id)(uintptr_t)dev;
}

static cl_int all_but_one_are_gpus(cl_device_id id, cl_device_info what, size_t size, void *value,
                                   size_t *written)
{
    (void)what, (void)size, (void)written;
    *(cl_device_type *)value = (uintptr_t)id == cpu ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU;
    return CL_SUCCESS;
}

#include "core/parallel_for.h"

static size_t processors;
static size_t as_many_as_processors(size_t n)
{
    return n < processors ? n : processors;
}

#define clgetdevice device_number
#define clGetDeviceInfo all_but_one_are_gpus
#define parallel_for_threads as_many_as_processors
#include "nbody/domain/device_threads.c"

#include "check.h"

enum { SHARES = 5, CPU_AT = 1, NONE_AT = 2, CALLS = 3000 };
static struct nbody_device share[SHARES];
static struct tree tree[SHARES];
static struct domains parts;
static struct nbody nb = {.ndev = SHARES, .device = share, .domain.tree = &parts};
static size_t sum[SHARES];
static pthread_t by[SHARES];
static cl_uint arg; /* of the launch functions */

static int note_device_call(struct nbody *n, struct nbody_device *p)
{
    assert_ptr_equal(n, &nb);
    sum[p - share] += arg;
    by[p - share] = pthread_self();
    return 0;
}

static int refuse_one(struct nbody *n, struct nbody_device *p)
{
    (void)n;
    return (cl_uint)(p - share) == arg ? clerror_set(ENOMEM, "share %u has none", arg) : 0;
}

static int device_threads_setup_for(size_t given, cl_uint cpu_at)
{
    processors = given;
    cpu = cpu_at;
    nb.ctx = stddev;
    memset(sum, 0, sizeof sum);
    for (size_t k = 0; k < SHARES; k++) {
        share[k].dev = (cl_uint)k;
        share[k].force.tree = k == NONE_AT ? NULL : &tree[k];
    }
    return nbody_device_threads_open(&nb);
}

static int device_threads_setup(void **state)
{
    (void)state;
    return device_threads_setup_for(SHARES, NONE_AT);
}

static int device_threads_setup_one_cpu(void **state)
{
    (void)state;
    return device_threads_setup_for(1, NONE_AT);
}

static int device_threads_setup_with_cpu(void **state)
{
    (void)state;
    return device_threads_setup_for(SHARES, CPU_AT);
}

static int device_threads_teardown(void **state)
{
    (void)state;
    nbody_device_threads_free(&nb);
    nbody_device_threads_free(&nb); /* which is not an error */
    return 0;
}

/* The writes of a call are visible when it returns. */
static void call_often(void)
{
    size_t all = 0;
    for (arg = 1; arg <= CALLS; arg++) {
        works(nbody_device_threads_all(&nb, note_device_call));
        all += arg;
        for (size_t k = 0; k < SHARES; k++)
            assert_int_equal(sum[k], k == NONE_AT ? 0 : all);
    }
}

static void device_threads_call_each_device_once(void **state)
{
    (void)state;
    call_often();
}

/* With one processor the caller launches on all devices. */
static void device_threads_caller_takes_all(void **state)
{
    (void)state;
    call_often();
    for (size_t k = 0; k < SHARES; k++)
        assert_true(k == NONE_AT || pthread_equal(by[k], pthread_self()));
}

static atomic_int launches;

/* Wait for a launch on a second device to begin. */
static int wait_for_second(struct nbody *n, struct nbody_device *p)
{
    (void)n, (void)p;
    const double begun = seconds_now();
    atomic_fetch_add(&launches, 1);
    while (atomic_load(&launches) < 2 && seconds_now() - begun < 60)
        sched_yield();
    return atomic_load(&launches) < 2 ? clerror_set(ETIME, "no second launch in 60 s") : 0;
}

static void device_threads_launch_at_the_same_time(void **state)
{
    (void)state;
    for (int call = 0; call < 10; call++) {
        atomic_store(&launches, 0);
        works(nbody_device_threads_all(&nb, wait_for_second));
        assert_int_equal(atomic_load(&launches), SHARES - 1);
    }
}

/* A CPU among the devices leaves the GPUs their threads, and the caller launches on the CPU. */
static int gpus_wait_for_second(struct nbody *n, struct nbody_device *p)
{
    by[p - share] = pthread_self();
    return p->dev == CPU_AT ? 0 : wait_for_second(n, p);
}

static void device_threads_caller_takes_cpu(void **state)
{
    (void)state;
    atomic_store(&launches, 0);
    works(nbody_device_threads_all(&nb, gpus_wait_for_second));
    assert_int_equal(atomic_load(&launches), SHARES - 2);
    assert_true(pthread_equal(by[CPU_AT], pthread_self()));
}

/* Errors belong to a thread: the caller receives the error of any thread. */
static void device_threads_report_error(void **state)
{
    (void)state;
    for (arg = 0; arg < SHARES; arg++) {
        if (arg == NONE_AT)
            continue;
        assert_int_equal(nbody_device_threads_all(&nb, refuse_one), -1);
        assert_int_equal(clerrno, ENOMEM);
        char text[32];
        snprintf(text, sizeof text, "share %u has none", arg);
        contains(clerror(), text);
    }
    works(nbody_device_threads_all(&nb, refuse_one));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(device_threads_call_each_device_once, device_threads_setup,
                                        device_threads_teardown),
        cmocka_unit_test_setup_teardown(device_threads_caller_takes_all,
                                        device_threads_setup_one_cpu, device_threads_teardown),
        cmocka_unit_test_setup_teardown(device_threads_launch_at_the_same_time,
                                        device_threads_setup, device_threads_teardown),
        cmocka_unit_test_setup_teardown(device_threads_caller_takes_cpu,
                                        device_threads_setup_with_cpu, device_threads_teardown),
        cmocka_unit_test_setup_teardown(device_threads_report_error, device_threads_setup,
                                        device_threads_teardown),
        cmocka_unit_test_setup_teardown(device_threads_report_error, device_threads_setup_one_cpu,
                                        device_threads_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
