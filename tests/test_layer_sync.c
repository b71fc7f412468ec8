/* test_layer_sync.c - copies between the host's and the devices' images of a block: clmsync,
 * clmsyncn, clmcopy, and the flags CL_MEM_NOFORCE, CL_MEM_ZEROCOPY and CL_MEM_DEVONLY.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "gate.h"

static CLCONTEXT *cp;

enum { N = 1000 };
static clndrange_t all = clndrange_init1d(0, N, 0);

static int sync_setup(void **state)
{
    (void)state;
    cp = stddev;
    return setup_done(cp);
}

static int *new_sync_block(int flags)
{
    int *x = clmalloc(cp, N * sizeof *x, flags);
    ready(x);
    return x;
}

static void set_host(int *x, int value)
{
    for (int i = 0; i < N; i++)
        x[i] = value;
}

/* Fail unless every element of the host's image is `value`. */
#define host_is(x, value)                                                                          \
    do {                                                                                           \
        for (int i_ = 0; i_ < N; i_++)                                                             \
            assert_int_equal((x)[i_], value);                                                      \
    } while (0)

static void fill_on(cl_uint dev, int *x, int value)
{
    done(clforka(cp, dev, basic_kernel(cp, "fill"), &all, CL_EVENT_WAIT, x, value));
}

static void add_on(cl_uint dev, int *x, int value)
{
    done(clforka(cp, dev, basic_kernel(cp, "add"), &all, CL_EVENT_WAIT, x, value));
}

/* True for a CPU. Oclgrind reports a CPU too, but tracks the host's writes to its memory: the
 * layer copies there. */
static bool device_is_cpu(cl_uint dev)
{
    cl_device_type type = 0;
    char name[256] = "";
    clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_TYPE, sizeof type, &type, NULL);
    clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_NAME, sizeof name, name, NULL);
    return (type & CL_DEVICE_TYPE_CPU) && !strstr(name, "Oclgrind");
}

/* ---- Two images. ---- */

static void test_images_are_distinct(void **state)
{
    (void)state;
    int *x = new_sync_block(0);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        set_host(x, 1);
        done(clmsync(cp, dev, x, CL_MEM_DEVICE));
        set_host(x, 2); /* the device keeps 1 */
        add_on(dev, x, 10);
        host_is(x, 2); /* the host sees nothing of it */
        done(clmsync(cp, dev, x, CL_MEM_HOST));
        host_is(x, 11);
    }
    works(clfree(x));
}

/* A program may change its array while a kernel uses the device's copy. */
static void test_host_is_free_while_a_kernel_runs(void **state)
{
    (void)state;
    cl_uint *x = clmalloc(cp, 64 * sizeof *x, 0);
    ready(x);
    clndrange_t ndr = clndrange_init1d(0, 64, 64);
    for (cl_uint i = 0; i < 64; i++)
        x[i] = i;
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    started(clforka(cp, 0, basic_kernel(cp, "slow"), &ndr, CL_EVENT_NOWAIT, x, 1000000));
    for (int round = 0; round < 1000; round++)
        for (cl_uint i = 0; i < 64; i++)
            x[i] = 12345;
    done(clwait(cp, 0, CL_ALL_EVENT));
    for (cl_uint i = 0; i < 64; i++)
        assert_int_equal(x[i], 12345);
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    for (cl_uint i = 0; i < 64; i += 9)
        assert_int_equal(x[i], slow_reference(i, 1000000));
    works(clfree(x));
}

/* A program that copies a block to several devices has an image on each. */
static void test_devices_have_images_of_their_own(void **state)
{
    (void)state;
    static const int flags[] = {0, CL_MEM_DEVONLY, CL_MEM_PER_DEVICE};
    int *to = new_sync_block(0), *x = NULL;
    for (size_t f = 0; f < 3; f++) {
        x = clmalloc(cp, N * sizeof *x, flags[f]);
        ready(x);
        for (cl_uint dev = 0; dev < 2 && f == 0; dev++)
            done(clmsync(cp, dev, x, CL_MEM_DEVICE));
        fill_on(0, x, 100);
        fill_on(1, x, 200);
        for (cl_uint dev = 0; dev < 2; dev++) {
            if (f != 1)
                done(clmsync(cp, dev, x, CL_MEM_HOST));
            else
                done(clmcopy(cp, dev, x, to, CL_EVENT_WAIT));
            if (f == 1)
                done(clmsync(cp, dev, to, CL_MEM_HOST));
            host_is(f == 1 ? to : x, dev ? 200 : 100);
        }
        works(clfree(x));
    }
    works(clfree(to));
}

/* A program that gives each device a part of a block also has an image on each. */
static void test_parts_on_devices(void **state)
{
    (void)state;
    int *x = new_sync_block(0);
    clndrange_t half = clndrange_init1d(0, N / 2, 0), other = clndrange_init1d(N / 2, N / 2, 0);
    set_host(x, 1);
    for (int dev = 0; dev < 2; dev++)
        done(clmsyncn(cp, (cl_uint)dev, x + dev * N / 2, N / 2 * sizeof *x, CL_MEM_DEVICE));
    done(clforka(cp, 0, basic_kernel(cp, "add"), &half, CL_EVENT_WAIT, x, 2));
    done(clforka(cp, 1, basic_kernel(cp, "add"), &other, CL_EVENT_WAIT, x, 4));
    for (int dev = 0; dev < 2; dev++)
        done(clmsyncn(cp, (cl_uint)dev, x + dev * N / 2, N / 2 * sizeof *x, CL_MEM_HOST));
    for (int i = 0; i < N; i++)
        assert_int_equal(x[i], i < N / 2 ? 3 : 5);
    works(clfree(x));
}

/* For a block left to the library, each device sees the last device's writes. */
static void test_devices_see_one_block(void **state)
{
    (void)state;
    int *x = new_sync_block(0), *y = new_sync_block(0);
    for (int round = 0; round < 3; round++) {
        set_host(x, 10 * round);
        done(clmsync(cp, 0, x, CL_MEM_DEVICE));
        set_host(x, -1); /* the host's image is unused meanwhile */
        add_on(1, x, 1);
        add_on(0, x, 2);
        started(clforka(cp, 0, basic_kernel(cp, "add"), &all, CL_EVENT_NOWAIT, x,
                        4)); /* is waited for */
        host_is(x, -1);
        done(clmcopy(cp, 1, x, y, CL_EVENT_WAIT));
        done(clmsync(cp, 0, y, CL_MEM_HOST));
        host_is(y, 10 * round + 7);
        add_on(1, x, 8);
        done(clmsync(cp, 0, x, CL_MEM_HOST)); /* from any device */
        host_is(x, 10 * round + 15);
        set_host(x, 5);
        done(
            clmsyncn(cp, 0, x + 1, (N - 1) * sizeof *x, CL_MEM_DEVICE)); /* a part, of the newest */
        add_on(1, x, 0);
        done(clmsync(cp, 1, x, CL_MEM_HOST));
        assert_int_equal(x[0], 10 * round + 15);
        assert_int_equal(x[N - 1], 5);
    }
    works(clfree(x));
    works(clfree(y));
}

/* Explicit copies from device to device wait for no other device: one device is blocked
 * throughout. */
static void test_explicit_copies_wait_for_nothing(void **state)
{
    (void)state;
    int *x = new_sync_block(0), *y = new_sync_block(0);
    fill_on(0, x, 3);
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    done(clmsync(cp, 1, x, CL_MEM_DEVICE)); /* written by a kernel there, moved by the program */
    done(clmsync(cp, 1, y, CL_MEM_DEVICE));
    done(clmsync(cp, 0, y, CL_MEM_DEVICE));
    cl_event gate = gate_close(cp, 0);
    started(clforka(cp, 0, basic_kernel(cp, "add"), &all, CL_EVENT_NOWAIT, x, 1));
    started(clforka(cp, 0, basic_kernel(cp, "add"), &all, CL_EVENT_NOWAIT, y, 1));
    add_on(1, x, 10);
    add_on(1, y, 10);
    done(clmsync(cp, 1, x, CL_MEM_HOST));
    host_is(x, 13);
    gate_open(gate);
    done(clwait(cp, 0, CL_ALL_EVENT));
    works(clfree(x));
    works(clfree(y));
}

static void test_exchange_between_devices_through_the_host(void **state)
{
    (void)state;
    int *a = new_sync_block(0), *b = new_sync_block(0);
    for (int round = 0; round < 20; round++) {
        clndrange_t ndr = clndrange_init1d(0, N, 0);
        cl_kernel fill = basic_kernel(cp, "fill"), add = basic_kernel(cp, "add");
        started(clforka(cp, 0, fill, &ndr, CL_EVENT_NOWAIT, a, round));
        started(clforka(cp, 1, fill, &ndr, CL_EVENT_NOWAIT, b, 100 + round));
        started(clmsync(cp, 0, a, CL_MEM_HOST | CL_EVENT_NOWAIT));
        started(clmsync(cp, 1, b, CL_MEM_HOST | CL_EVENT_NOWAIT));
        works(clflush(cp, 0, 0));
        works(clflush(cp, 1, 0));
        done(clwait(cp, 0, CL_ALL_EVENT));
        done(clwait(cp, 1, CL_ALL_EVENT));
        started(clmsync(cp, 0, b, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
        started(clmsync(cp, 1, a, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
        started(clforka(cp, 0, add, &ndr, CL_EVENT_NOWAIT, b, 1));
        started(clforka(cp, 1, add, &ndr, CL_EVENT_NOWAIT, a, 2));
        done(clmsync(cp, 0, b, CL_MEM_HOST));
        done(clmsync(cp, 1, a, CL_MEM_HOST));
        host_is(b, 101 + round);
        host_is(a, 2 + round);
    }
    works(clfree(a));
    works(clfree(b));
}

static void test_sync_takes_interior_pointers(void **state)
{
    (void)state;
    int *x = new_sync_block(0);
    set_host(x, 5);
    done(clmsync(cp, 0, x + N / 2, CL_MEM_DEVICE)); /* the whole block */
    add_on(0, x, 1);
    done(clmsync(cp, 0, x + N - 1, CL_MEM_HOST));
    host_is(x, 6);
    works(clfree(x));
}

static void test_sync_large_blocks(void **state)
{
    (void)state;
    size_t n = (size_t)48 << 20, count = n / sizeof(int);
    int *x = clmalloc(cp, n, 0), *y = clmalloc(cp, n, 0);
    ready(x);
    ready(y);
    for (size_t i = 0; i < count; i++)
        x[i] = (int)(i * 2654435761u >> 3);
    clndrange_t ndr = clndrange_init1d(0, count, 0);
    started(clmsync(cp, 0, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    started(clforka(cp, 0, basic_kernel(cp, "copy"), &ndr, CL_EVENT_NOWAIT, x, y));
    started(clmsync(cp, 0, y, CL_MEM_HOST | CL_EVENT_NOWAIT));
    done(clwait(cp, 0, CL_ALL_EVENT));
    assert_memory_equal(x, y, n);
    works(clfree(x));
    works(clfree(y));
}

static void test_sync_refuses_bad_calls(void **state)
{
    (void)state;
    int *x = new_sync_block(0), on_stack = 0;
    fails_event(EINVAL, clmsync(cp, 0, x, 0));
    fails_event(EINVAL, clmsync(cp, 0, x, CL_EVENT_NOWAIT));
    fails_event(EINVAL, clwait(cp, 0, CL_MEM_EVENT));
    fails_event(EINVAL, clmsync(cp, 0, x, CL_MEM_HOST | CL_MEM_DEVICE));
    fails_event(EINVAL, clmsync(cp, clgetndev(cp), x, CL_MEM_DEVICE));
    fails_event(EINVAL, clmsync(cp, 0xffffffffu, x, CL_MEM_HOST));
    fails_event(EINVAL, clmsync(NULL, 0, x, CL_MEM_DEVICE));
    fails_event(EFAULT, clmsync(cp, 0, &on_stack, CL_MEM_DEVICE));
    fails_event(EFAULT, clmsync(cp, 0, NULL, CL_MEM_HOST));
    works(clfree(x));
    fails_event(EFAULT, clmsync(cp, 0, x, CL_MEM_DEVICE));
}

/* ---- Parts of a block: clmsyncn. ---- */

static void test_syncn_copies_its_range_only(void **state)
{
    (void)state;
    int *x = new_sync_block(0);
    set_host(x, 1);
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    set_host(x, 2);
    done(clmsyncn(cp, 0, x + 100, 50 * sizeof *x, CL_MEM_DEVICE));
    set_host(x, 0);
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    for (int i = 0; i < N; i++)
        assert_int_equal(x[i], i >= 100 && i < 150 ? 2 : 1);
    set_host(x, 0);
    done(clmsyncn(cp, 0, x + N - 7, 7 * sizeof *x, CL_MEM_HOST));
    started(clmsyncn(cp, 0, x + 149, sizeof *x, CL_MEM_HOST | CL_EVENT_NOWAIT));
    done(clwait(cp, 0, CL_MEM_EVENT));
    for (int i = 0; i < N; i++)
        assert_int_equal(x[i], i >= N - 7 ? 1 : i == 149 ? 2 : 0);
    char *bytes = (char *)x; /* any byte may begin it */
    done(clmsyncn(cp, 0, bytes + 1, 2, CL_MEM_HOST));
    works(clfree(x));
}

static void test_syncn_refuses_ranges_outside(void **state)
{
    (void)state;
    int *x = new_sync_block(0), on_stack = 0;
    size_t size = N * sizeof *x;
    done(clmsyncn(cp, 0, x, size, CL_MEM_DEVICE));
    fails_event(EINVAL, clmsyncn(cp, 0, x, size + 1, CL_MEM_DEVICE));
    fails_event(EINVAL, clmsyncn(cp, 0, x + 1, size, CL_MEM_DEVICE));
    fails_event(EINVAL, clmsyncn(cp, 0, x + N - 1, 5, CL_MEM_HOST));
    fails_event(EINVAL, clmsyncn(cp, 0, x + 1, SIZE_MAX, CL_MEM_HOST));
    fails_event(EINVAL, clmsyncn(cp, 0, x + 1, SIZE_MAX - 3, CL_MEM_HOST));
    fails_event(EINVAL, clmsyncn(cp, 0, x, 4, 0));
    fails_event(EINVAL, clmsyncn(cp, 0, x, 4, CL_MEM_HOST | CL_MEM_DEVICE));
    fails_event(EINVAL, clmsyncn(cp, clgetndev(cp), x, 4, CL_MEM_HOST));
    fails_event(EFAULT, clmsyncn(cp, 0, &on_stack, 4, CL_MEM_HOST));
    works(clfree(x));
}

/* ---- CL_MEM_NOFORCE. ---- */

static void test_noforce_copies_to_a_device_without_an_image(void **state)
{
    (void)state;
    int *x = new_sync_block(0);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        set_host(x, 7);
        done(clmsync(cp, dev, x, CL_MEM_DEVICE | CL_MEM_NOFORCE));
        set_host(x, 0);
        done(clmsync(cp, dev, x, CL_MEM_HOST));
        host_is(x, 7);
    }
    works(clfree(x));
}

static void test_noforce_skips_what_is_current(void **state)
{
    (void)state;
    int *x = new_sync_block(0);
    set_host(x, 1);
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    set_host(x, 2); /* announced by nothing: both sides count as current */
    done(clmsync(cp, 0, x, CL_MEM_DEVICE | CL_MEM_NOFORCE));
    done(clmsync(cp, 0, x, CL_MEM_HOST | CL_MEM_NOFORCE));
    host_is(x, 2);
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    host_is(x, 1);
    works(clfree(x));
}

static void test_noforce_copies_after_a_kernel(void **state)
{
    (void)state;
    int *x = new_sync_block(0);
    set_host(x, 1);
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    add_on(0, x, 10);
    set_host(x, 0);
    done(clmsync(cp, 0, x, CL_MEM_HOST | CL_MEM_NOFORCE));
    host_is(x, 11);
    set_host(x, 5);
    done(clmsync(cp, 0, x, CL_MEM_HOST | CL_MEM_NOFORCE)); /* current since the last one */
    host_is(x, 5);
    works(clfree(x));
}

/* A skipped sync returns what clmsync promises. */
static void test_noforce_returns_as_clmsync_does(void **state)
{
    (void)state;
    int *x = new_sync_block(0);
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    started(clmsync(cp, 0, x, CL_MEM_DEVICE | CL_MEM_NOFORCE | CL_EVENT_NOWAIT));
    cl_event ev =
        started(clmsync(cp, 0, x, CL_MEM_DEVICE | CL_MEM_NOFORCE | CL_EVENT_NOWAIT | CL_EVENT_OWN));
    done(clwait(cp, 0, CL_ALL_EVENT));
    assert_int_equal(event_status(ev), CL_COMPLETE);
    assert_int_equal(clReleaseEvent(ev), CL_SUCCESS);
    works(clfree(x));
}

static void test_noforce_knows_the_other_device(void **state)
{
    (void)state;
    int *x = new_sync_block(0);
    set_host(x, 1);
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    done(clmsync(cp, 1, x, CL_MEM_DEVICE));
    add_on(0, x, 10); /* makes host and device 1 stale */
    done(clmsync(cp, 0, x, CL_MEM_HOST | CL_MEM_NOFORCE));
    host_is(x, 11);
    done(clmsync(cp, 1, x, CL_MEM_DEVICE | CL_MEM_NOFORCE));
    add_on(1, x, 100);
    done(clmsync(cp, 1, x, CL_MEM_HOST | CL_MEM_NOFORCE));
    host_is(x, 111);
    set_host(x, 0);
    done(clmsync(cp, 1, x, CL_MEM_DEVICE | CL_MEM_NOFORCE)); /* 1 is current, nothing is copied */
    done(clmsync(cp, 1, x, CL_MEM_HOST));
    host_is(x, 111);
    works(clfree(x));
}

/* Copying a part does not make the whole block current. */
static void test_noforce_minds_parts(void **state)
{
    (void)state;
    int *x = new_sync_block(0);
    set_host(x, 1);
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    add_on(0, x, 10);
    done(clmsyncn(cp, 0, x, 4 * sizeof *x, CL_MEM_HOST));
    assert_int_equal(x[3], 11);
    assert_int_equal(x[4], 1);
    done(clmsync(cp, 0, x, CL_MEM_HOST | CL_MEM_NOFORCE));
    host_is(x, 11);
    works(clfree(x));
}

static void test_mark_clean(void **state)
{
    (void)state;
    int *x = new_sync_block(0);
    set_host(x, 1);
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    add_on(0, x, 10);
    assert_true(clmctl(x, CL_MCTL_MARK_CLEAN) >= 0);
    done(clmsync(cp, 0, x, CL_MEM_HOST | CL_MEM_NOFORCE));
    host_is(x, 1);
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    host_is(x, 11);
    works(clfree(x));
}

static void test_copy_makes_the_host_stale(void **state)
{
    (void)state;
    int *x = new_sync_block(0), *y = new_sync_block(0);
    set_host(x, 3);
    set_host(y, 4);
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    done(clmsync(cp, 0, y, CL_MEM_DEVICE));
    done(clmcopy(cp, 0, x, y, CL_EVENT_WAIT));
    done(clmsync(cp, 0, y, CL_MEM_HOST | CL_MEM_NOFORCE));
    host_is(y, 3);
    works(clfree(x));
    works(clfree(y));
}

/* ---- clmcopy. ---- */

static void test_copy_on_the_device(void **state)
{
    (void)state;
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        int *x = new_sync_block(0), *y = clmalloc(cp, 2 * N * sizeof *y, 0);
        ready(y);
        set_host(x, 1);
        for (int i = 0; i < 2 * N; i++)
            y[i] = 2;
        done(clmsync(cp, dev, x, CL_MEM_DEVICE));
        done(clmsync(cp, dev, y, CL_MEM_DEVICE));
        set_host(x, 50); /* the device's image is copied */
        started(clmcopy(cp, dev, x, y, CL_EVENT_NOWAIT));
        done(clwait(cp, dev, CL_MEM_EVENT));
        for (int i = 0; i < 2 * N; i++)
            assert_int_equal(y[i], 2);
        done(clmsync(cp, dev, y, CL_MEM_HOST));
        for (int i = 0; i < 2 * N; i++)
            assert_int_equal(y[i], i < N ? 1 : 2);
        works(clfree(x));
        works(clfree(y));
    }
}

static void test_copy_refuses_bad_calls(void **state)
{
    (void)state;
    int *x = new_sync_block(0), *small = clmalloc(cp, N * sizeof *x - 1, 0), on_stack = 0;
    ready(small);
    fails_event(EINVAL, clmcopy(cp, 0, x, small, CL_EVENT_WAIT));
    fails_event(EFAULT, clmcopy(cp, 0, x, &on_stack, CL_EVENT_WAIT));
    fails_event(EFAULT, clmcopy(cp, 0, &on_stack, x, CL_EVENT_WAIT));
    fails_event(EINVAL, clmcopy(cp, clgetndev(cp), small, x, CL_EVENT_WAIT));
    fails_event(EINVAL, clmcopy(NULL, 0, small, x, CL_EVENT_WAIT));
    works(clfree(x));
    works(clfree(small));
}

/* ---- CL_MEM_ZEROCOPY. ---- */

static void test_zerocopy_is_one_image_on_cpus(void **state)
{
    (void)state;
    if (!device_is_cpu(0))
        skip();
    int *x = new_sync_block(CL_MEM_ZEROCOPY);
    for (cl_uint dev = 0; dev < clgetndev(cp) && device_is_cpu(dev); dev++) {
        set_host(x, 1);
        add_on(dev, x, 10); /* no sync in either direction */
        host_is(x, 11);
        started(clmsync(cp, dev, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
        started(clforka(cp, dev, basic_kernel(cp, "add"), &all, CL_EVENT_NOWAIT, x, 100));
        started(clmsync(cp, dev, x, CL_MEM_HOST | CL_EVENT_NOWAIT));
        done(clwait(cp, dev, CL_ALL_EVENT));
        host_is(x, 111);
        void *host_ptr = NULL;
        assert_int_equal(clGetMemObjectInfo(clgetbuffer(cp, dev, x), CL_MEM_HOST_PTR,
                                            sizeof host_ptr, &host_ptr, NULL),
                         CL_SUCCESS);
        assert_ptr_equal(host_ptr, x);
    }
    works(clfree(x));
}

/* The same program text is right with and without the flag, on every device. */
static void test_zerocopy_program_is_portable(void **state)
{
    (void)state;
    static const int flags[] = {0, CL_MEM_ZEROCOPY};
    for (size_t f = 0; f < 2; f++)
        for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
            int *x = new_sync_block(flags[f]);
            for (int round = 1; round <= 5; round++) {
                set_host(x, round);
                started(clmsync(cp, dev, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
                started(clforka(cp, dev, basic_kernel(cp, "add"), &all, CL_EVENT_NOWAIT, x, round));
                done(clmsync(cp, dev, x, CL_MEM_HOST));
                host_is(x, 2 * round);
                done(clmsyncn(cp, dev, x + 1, 8, CL_MEM_HOST));
                host_is(x, 2 * round);
            }
            works(clfree(x));
        }
}

static void test_zerocopy_copies_by_clmcopy(void **state)
{
    (void)state;
    int *x = new_sync_block(CL_MEM_ZEROCOPY), *y = new_sync_block(0);
    set_host(x, 9);
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    done(clmcopy(cp, 0, x, y, CL_EVENT_WAIT));
    done(clmsync(cp, 0, y, CL_MEM_HOST));
    host_is(y, 9);
    set_host(y, 4);
    done(clmsync(cp, 0, y, CL_MEM_DEVICE));
    done(clmcopy(cp, 0, y, x, CL_EVENT_WAIT));
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    host_is(x, 4);
    works(clfree(x));
    works(clfree(y));
}

/* ---- CL_MEM_DEVONLY. ---- */

static void test_devonly_is_device_memory(void **state)
{
    (void)state;
    int *scratch = new_sync_block(CL_MEM_DEVONLY), *x = new_sync_block(0);
    assert_int_equal(clsizeofmem(scratch), N * sizeof *scratch);
    assert_ptr_equal(clmemptr(cp, scratch + 5), scratch);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        fill_on(dev, scratch, 40 + (int)dev);
        add_on(dev, scratch, 2);
        done(clforka(cp, dev, basic_kernel(cp, "copy"), &all, CL_EVENT_WAIT, scratch, x));
        done(clmsync(cp, dev, x, CL_MEM_HOST));
        host_is(x, 42 + (int)dev);
        set_host(x, 0);
        done(clmcopy(cp, dev, scratch, x, CL_EVENT_WAIT));
        done(clmsync(cp, dev, x, CL_MEM_HOST));
        host_is(x, 42 + (int)dev);
        set_host(x, 6);
        done(clmsync(cp, dev, x, CL_MEM_DEVICE));
        done(clmcopy(cp, dev, x, scratch, CL_EVENT_WAIT));
        add_on(dev, scratch, 1);
        done(clmcopy(cp, dev, scratch, x, CL_EVENT_WAIT));
        done(clmsync(cp, dev, x, CL_MEM_HOST));
        host_is(x, 7);
    }
    works(clfree(scratch));
    works(clfree(x));
}

static void test_devonly_has_no_host_side(void **state)
{
    (void)state;
    int *scratch = new_sync_block(CL_MEM_DEVONLY);
    fails_event(EINVAL, clmsync(cp, 0, scratch, CL_MEM_DEVICE));
    fails_event(EINVAL, clmsync(cp, 0, scratch, CL_MEM_HOST));
    fails_event(EINVAL, clmsync(cp, 0, scratch, CL_MEM_HOST | CL_MEM_NOFORCE));
    fails_event(EINVAL, clmsyncn(cp, 0, scratch, 4, CL_MEM_HOST));
    works(clfree(scratch));
    fails(EFAULT, clfree(scratch));
}

/* Two blocks without host memory have distinct address ranges. */
static void test_devonly_addresses_do_not_meet(void **state)
{
    (void)state;
    char *a = clmalloc(cp, 1 << 20, CL_MEM_DEVONLY), *b = clmalloc(cp, 1 << 20, CL_MEM_DEVONLY);
    ready(a);
    ready(b);
    assert_true(a + (1 << 20) <= b || b + (1 << 20) <= a);
    assert_ptr_equal(clmemptr(cp, a + (1 << 20) - 1), a);
    assert_ptr_equal(clmemptr(cp, b + (1 << 20) - 1), b);
    works(clfree(a));
    works(clfree(b));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_images_are_distinct),
        cmocka_unit_test(test_host_is_free_while_a_kernel_runs),
        cmocka_unit_test(test_sync_takes_interior_pointers),
        cmocka_unit_test(test_sync_large_blocks),
        cmocka_unit_test(test_sync_refuses_bad_calls),
        cmocka_unit_test(test_syncn_copies_its_range_only),
        cmocka_unit_test(test_syncn_refuses_ranges_outside),
        cmocka_unit_test(test_noforce_copies_to_a_device_without_an_image),
        cmocka_unit_test(test_noforce_skips_what_is_current),
        cmocka_unit_test(test_noforce_copies_after_a_kernel),
        cmocka_unit_test(test_noforce_returns_as_clmsync_does),
        cmocka_unit_test(test_noforce_minds_parts),
        cmocka_unit_test(test_mark_clean),
        cmocka_unit_test(test_copy_makes_the_host_stale),
        cmocka_unit_test(test_copy_on_the_device),
        cmocka_unit_test(test_copy_refuses_bad_calls),
        cmocka_unit_test(test_zerocopy_is_one_image_on_cpus),
        cmocka_unit_test(test_zerocopy_program_is_portable),
        cmocka_unit_test(test_zerocopy_copies_by_clmcopy),
        cmocka_unit_test(test_devonly_is_device_memory),
        cmocka_unit_test(test_devonly_has_no_host_side),
        cmocka_unit_test(test_devonly_addresses_do_not_meet),
    };
    const struct CMUnitTest on_two[] = {
        cmocka_unit_test(test_devices_have_images_of_their_own),
        cmocka_unit_test(test_parts_on_devices),
        cmocka_unit_test(test_devices_see_one_block),
        cmocka_unit_test(test_explicit_copies_wait_for_nothing),
        cmocka_unit_test(test_exchange_between_devices_through_the_host),
        cmocka_unit_test(test_noforce_knows_the_other_device),
    };
    int failed = cmocka_run_group_tests(tests, sync_setup, NULL);
    if (clgetndev(stddev) > 1)
        failed += cmocka_run_group_tests(on_two, sync_setup, NULL);
    return failed;
}
