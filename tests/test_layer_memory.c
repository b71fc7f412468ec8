/* test_layer_memory.c - allocations: clmalloc and its flags, clmrealloc, clfree, attach and
 * detach, and queries about a pointer.
 *
 * Copies between host and devices are in test_layer_sync.c, images in test_layer_image.c.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include <unistd.h>

static CLCONTEXT *cp;

enum { N = 1024 };

static int memory_setup(void **state)
{
    (void)state;
    cp = stddev;
    return setup_done(cp);
}

/* Run add(x, value) over N ints on a device and copy the result to the host. */
static void add_and_fetch(cl_uint dev, int *x, int value)
{
    clndrange_t ndr = clndrange_init1d(0, N, 64);
    started(clforka(cp, dev, basic_kernel(cp, "add"), &ndr, CL_EVENT_NOWAIT, x, value));
    done(clmsync(cp, dev, x, CL_MEM_HOST));
}

static bool aligned(const void *p)
{
    return (uintptr_t)p % (uintptr_t)sysconf(_SC_PAGESIZE) == 0;
}

/* ---- clmalloc. ---- */

static void test_malloc_gives_zeroed_pages(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 3, 4095, 4096, 4097, 1000000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        unsigned char *p = clmalloc(cp, sizes[s], 0);
        ready(p);
        assert_true(aligned(p));
        for (size_t i = 0; i < sizes[s]; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xa5, sizes[s]);
        assert_int_equal(clsizeofmem(p), sizes[s]);
        works(clfree(p));
    }
}

/* The pages of a freed block may be reused; they must be zero again. */
static void test_malloc_zeroes_reused_memory(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        unsigned char *p = clmalloc(cp, 20000, 0);
        ready(p);
        for (size_t i = 0; i < 20000; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, 20000);
        works(clfree(p));
    }
}

static void test_malloc_size_0_is_unique(void **state)
{
    (void)state;
    void *a = clmalloc(cp, 0, 0), *b = clmalloc(cp, 0, 0);
    ready(a);
    ready(b);
    assert_ptr_not_equal(a, b);
    clerrno = 0;
    assert_int_equal(clsizeofmem(a), 0);
    assert_int_equal(clerrno, 0); /* known, and of size 0 */
    assert_ptr_equal(clmemptr(cp, a), a);
    done(clmsync(cp, 0, a, CL_MEM_DEVICE));
    done(clmsync(cp, 0, a, CL_MEM_HOST));
    works(clfree(a));
    works(clfree(b));
}

static void test_malloc_refuses_what_cannot_be_held(void **state)
{
    (void)state;
    static const size_t sizes[] = {SIZE_MAX,     SIZE_MAX - 1, SIZE_MAX - 4096,
                                   SIZE_MAX / 2, SIZE_MAX / 4, (size_t)1 << 46};
    static const int flags[] = {0, CL_MEM_ZEROCOPY, CL_MEM_DEVONLY, CL_MEM_DETACHED,
                                CL_MEM_IMAGE2D};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
            /* A detached block has no devices; the host decides whether 64 TiB fit. */
            if (flags[f] == CL_MEM_DETACHED && s == 5)
                continue;
            fails_null(ENOMEM, clmalloc(cp, sizes[s], flags[f]));
        }
    check_forget();
    assert_null(clmalloc(cp, (size_t)1 << 46, 0));
    const char *sentence = clerror();
    assert_non_null(sentence);
    assert_non_null(strpbrk(sentence, "0123456789")); /* how much was asked for */
}

/* An allocation beyond a device's limit is reported as such, at the latest when the device's
 * buffer is created. */
static void test_a_block_too_large_for_a_buffer(void **state)
{
    (void)state;
    cl_ulong largest = 0;
    clGetDeviceInfo(clgetdevice(cp, 0), CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest,
                    NULL);
    char *x = clmalloc(cp, (size_t)largest + 4096, 0);
    if (x) {
        check_forget();
        if (clmsync(cp, 0, x, CL_MEM_DEVICE) ==
            NO_EVENT) /* some devices give more than they promise */
            assert_int_equal(clerrno, ENOMEM);
        works(clfree(x));
    } else {
        assert_int_equal(clerrno, ENOMEM);
    }
}

static void test_malloc_refuses_bad_calls(void **state)
{
    (void)state;
    fails_null(EINVAL, clmalloc(NULL, 100, 0));
    fails_null(EINVAL, clmalloc(NULL, 100, CL_MEM_ZEROCOPY));
    fails_null(EINVAL, clmalloc(cp, 100, CL_MEM_ZEROCOPY | CL_MEM_DEVONLY));
    static const int of_copies[] = {CL_MEM_NOFORCE, CL_MEM_HOST, CL_MEM_DEVICE};
    for (size_t f = 0; f < sizeof of_copies / sizeof *of_copies; f++) {
        fails_null(EINVAL, clmalloc(cp, 100, of_copies[f]));
        fails_null(EINVAL, clmrealloc(cp, NULL, 100, of_copies[f]));
    }
    char own[64];
    assert_null(clmalloc_from(cp, own, sizeof own, CL_MEM_NOFORCE));
    const char *sentence = clerror();
    contains(sentence, "clmalloc_from: 0x2000 is no flag of this call");
    assert_null(strstr(sentence, "CL_MEM_SVM"));
    assert_null(strstr(sentence, "CL_MEM_DEVONLY"));
}

static void test_malloc_accepts_historic_flags(void **state)
{
    (void)state;
    static const int flags[] = {CL_MEM_RO, CL_MEM_WO, CL_MEM_RW, CL_MEM_NOCOPY};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        int *x = clmalloc(cp, N * sizeof *x, flags[f]);
        ready(x);
        x[N - 1] = 1;
        done(clmsync(cp, 0, x, CL_MEM_DEVICE));
        add_and_fetch(0, x, 41);
        assert_int_equal(x[N - 1], 42);
        works(clfree(x));
    }
}

/* ---- Asking about pointers. ---- */

static void test_interior_pointers_are_found(void **state)
{
    (void)state;
    char *p = clmalloc(cp, 10000, 0);
    ready(p);
    assert_ptr_equal(clmemptr(cp, p), p);
    assert_ptr_equal(clmemptr(cp, p + 9999), p);
    assert_ptr_equal(clmemptr(NULL, p + 77), p);
    assert_int_equal(clsizeofmem(p + 9999), 10000);
    works(clfree(p));
}

static void test_foreign_pointers_are_not_found(void **state)
{
    (void)state;
    int on_stack = 0;
    char *p = clmalloc(cp, 10000, 0);
    ready(p);
    void *foreign[] = {NULL, &on_stack, &cp, p - 1, p + 10000};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        fails_null(EFAULT, clmemptr(cp, foreign[i]));
        fails_null(EFAULT, clmemptr(NULL, foreign[i]));
        fails_0(EFAULT, clsizeofmem(foreign[i]));
    }
    works(clfree(p));
    fails_null(EFAULT, clmemptr(NULL, p));
}

static void test_memptr_minds_the_context(void **state)
{
    (void)state;
    cl_device_id first = clgetdevice(cp, 0);
    CLCONTEXT *other = clcontext_create_from(&first, 1);
    ready(other);
    char *p = clmalloc(other, 100, 0), *detached = clmalloc(NULL, 100, CL_MEM_DETACHED);
    ready(p);
    ready(detached);
    assert_ptr_equal(clmemptr(other, p + 1), p);
    fails_null(EFAULT, clmemptr(cp, p + 1));
    assert_ptr_equal(clmemptr(NULL, p + 1), p);
    fails_null(EFAULT, clmemptr(cp, detached));
    assert_ptr_equal(clmemptr(NULL, detached + 99), detached);
    fails_event(ANY_ERROR, clmsync(cp, 0, p, CL_MEM_DEVICE));
    works(clfree(detached));
    works(clfree(p));
    works(clcontext_destroy(other));
}

/* Many blocks, created and freed in random order, each found from its first, last and middle
 * byte. */
static void test_many_blocks(void **state)
{
    (void)state;
    enum { BLOCKS = 600 };
    static char *p[BLOCKS];
    static size_t size[BLOCKS];
    uint32_t random = 1;
    for (int step = 0; step < 6 * BLOCKS; step++) {
        random = random * 1664525u + 1013904223u;
        size_t i = (random >> 8) % BLOCKS;
        if (p[i]) {
            assert_ptr_equal(clmemptr(cp, p[i] + size[i] - 1), p[i]);
            assert_int_equal(p[i][size[i] - 1], (char)i);
            works(clfree(p[i]));
            p[i] = NULL;
        } else {
            size[i] = 1 + (random >> 10) % 9000;
            p[i] = clmalloc(cp, size[i], 0);
            ready(p[i]);
            p[i][size[i] - 1] = (char)i;
        }
        size_t k = (random >> 20) % BLOCKS;
        if (p[k]) {
            assert_ptr_equal(clmemptr(NULL, p[k] + size[k] / 2), p[k]);
            assert_int_equal(clsizeofmem(p[k] + size[k] / 2), size[k]);
        }
    }
    for (size_t i = 0; i < BLOCKS; i++)
        works(clfree(p[i]));
}

/* ---- clfree. ---- */

static void test_free_refuses_foreign_pointers(void **state)
{
    (void)state;
    int on_stack = 0;
    works(clfree(NULL));
    fails(EFAULT, clfree(&on_stack));
    char *p = clmalloc(cp, 10000, 0);
    ready(p);
    fails(EFAULT, clfree(p + 4096)); /* free takes only the pointer of clmalloc */
    p[5000] = 1;                     /* and the block is still there */
    assert_int_equal(clsizeofmem(p), 10000);
    works(clfree(p));
    fails(EFAULT, clfree(p));
}

enum { ROUNDS = 12000000 }; /* some 40 ms of the kernel `slow` */

/* Launch `slow` on x and return an event owned by the caller. */
static cl_event start_slow(void *x)
{
    clndrange_t ndr = clndrange_init1d(0, 16, 16);
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    return started(clforka(cp, 0, basic_kernel(cp, "slow"), &ndr, CL_EVENT_NOWAIT | CL_EVENT_OWN, x,
                           (int)ROUNDS));
}

static void test_free_waits_for_work_in_flight(void **state)
{
    (void)state;
    static const int flags[] = {0, CL_MEM_ZEROCOPY};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        cl_uint *x = clmalloc(cp, 4096, flags[f]);
        ready(x);
        cl_event running = start_slow(x);
        works(clfree(x));
        assert_int_equal(event_status(running), CL_COMPLETE);
        clReleaseEvent(running);
    }
    done(clwait(cp, 0, CL_ALL_EVENT));
}

static void test_free_waits_for_a_copy_in_flight(void **state)
{
    (void)state;
    size_t size = (size_t)64 << 20;
    char *x = clmalloc(cp, size, 0);
    ready(x);
    memset(x, 1, size);
    cl_event copying = started(clmsync(cp, 0, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT | CL_EVENT_OWN));
    works(clfree(x));
    assert_int_equal(event_status(copying), CL_COMPLETE);
    clReleaseEvent(copying);
    done(clwait(cp, 0, CL_ALL_EVENT));
}

/* ---- clmrealloc. ---- */

static void test_realloc_keeps_host_bytes(void **state)
{
    (void)state;
    int *x = clmrealloc(cp, NULL, N * sizeof *x, 0);
    ready(x);
    for (int i = 0; i < N; i++)
        x[i] = i;
    static const size_t counts[] = {100 * N, N / 2, N + 1, 1, N};
    size_t kept = N;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        x = clmrealloc(cp, x, counts[c] * sizeof *x, 0);
        ready(x);
        assert_true(aligned(x));
        assert_int_equal(clsizeofmem(x), counts[c] * sizeof *x);
        kept = kept < counts[c] ? kept : counts[c];
        for (size_t i = 0; i < kept; i++)
            assert_int_equal(x[i], i);
        x[counts[c] - 1] = (int)counts[c] - 1;
    }
    for (int i = 0; i < N; i++)
        x[i] = i;
    done(clmsync(cp, 0, x, CL_MEM_DEVICE)); /* the devices follow the new size */
    add_and_fetch(0, x, 1);
    for (int i = 0; i < N; i++)
        assert_int_equal(x[i], i + 1);
    works(clfree(x));
}

static void test_realloc_failure_leaves_the_block(void **state)
{
    (void)state;
    int *x = clmalloc(cp, N * sizeof *x, 0), on_stack = 0;
    ready(x);
    for (int i = 0; i < N; i++)
        x[i] = i;
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    fails_null(ENOMEM, clmrealloc(cp, x, SIZE_MAX - 100, 0));
    fails_null(ENOMEM, clmrealloc(cp, x, (size_t)1 << 46, 0));
    fails_null(EFAULT, clmrealloc(cp, &on_stack, 100, 0));
    assert_int_equal(clsizeofmem(x), N * sizeof *x);
    add_and_fetch(0, x, 5); /* the device's image too is as it was */
    for (int i = 0; i < N; i++)
        assert_int_equal(x[i], i + 5);
    works(clfree(x));
}

static void test_realloc_waits_for_work_in_flight(void **state)
{
    (void)state;
    cl_uint *x = clmalloc(cp, 4096, 0);
    ready(x);
    cl_event running = start_slow(x);
    x = clmrealloc(cp, x, 100000, 0);
    ready(x);
    assert_int_equal(event_status(running), CL_COMPLETE);
    clReleaseEvent(running);
    done(clwait(cp, 0, CL_ALL_EVENT));
    works(clfree(x));
}

/* The flags of the old block stay; others are refused. */
static void test_realloc_keeps_flags(void **state)
{
    (void)state;
    static const int flags[] = {CL_MEM_ZEROCOPY, CL_MEM_DEVONLY, CL_MEM_DETACHED};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        char *x = clmalloc(cp, 1000, flags[f]);
        ready(x);
        fails_null(EINVAL, clmrealloc(cp, x, 50000, CL_MEM_PER_DEVICE | flags[f]));
        fails_null(EINVAL, clmrealloc(cp, x, 50000, 0x20000000));
        x = clmrealloc(flags[f] & CL_MEM_DETACHED ? NULL : cp, x, 40000, 0);
        ready(x);
        x = clmrealloc(flags[f] & CL_MEM_DETACHED ? NULL : cp, x, 50000, flags[f] | CL_MEM_NOCOPY);
        ready(x);
        assert_int_equal(clmctl(x, CL_MCTL_GET_STATUS) & flags[f], flags[f]);
        assert_int_equal(clsizeofmem(x + 49999), 50000);
        works(clfree(x));
    }
}

static void test_realloc_attaches_and_detaches(void **state)
{
    (void)state;
    int *x = clmalloc(cp, N * sizeof *x, 0);
    ready(x);
    for (int i = 0; i < N; i++)
        x[i] = i;
    x = clmrealloc(cp, x, 2 * N * sizeof *x, CL_MEM_DETACHED);
    ready(x);
    assert_true(clmctl(x, CL_MCTL_GET_STATUS) & CL_MEM_DETACHED);
    x = clmrealloc(NULL, x, N * sizeof *x, 0); /* stays as it is */
    ready(x);
    assert_true(clmctl(x, CL_MCTL_GET_STATUS) & CL_MEM_DETACHED);
    x = clmrealloc(cp, x, N * sizeof *x, 0);
    ready(x);
    assert_false(clmctl(x, CL_MCTL_GET_STATUS) & CL_MEM_DETACHED);
    add_and_fetch(0, x, 5); /* the device sees the host's data */
    for (int i = 0; i < N; i++)
        assert_int_equal(x[i], i + 5);
    works(clfree(x));
}

/* ---- Attach and detach. ---- */

/* A device's first use copies the host's data; later uses do not. */
static void test_attach_copies_to_the_devices(void **state)
{
    (void)state;
    static const int flags[] = {CL_MEM_DETACHED, CL_MEM_DETACHED | CL_MEM_ZEROCOPY};
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++)
        for (size_t f = 0; f < 2; f++) {
            int *x = clmalloc(NULL, N * sizeof *x, flags[f]);
            ready(x);
            for (int i = 0; i < N; i++)
                x[i] = i;
            works(clmattach(cp, x));
            add_and_fetch(dev, x, 100);
            for (int i = 0; i < N; i++)
                assert_int_equal(x[i], i + 100);
            works(clmdetach(x));
            x[3] = -1000;
            works(clmattach(cp, x));
            add_and_fetch(dev, x, 1);
            assert_int_equal(x[3], -999);
            works(clfree(x));
        }
}

static void test_attach_and_detach(void **state)
{
    (void)state;
    int *x = clmalloc(NULL, N * sizeof *x, CL_MEM_DETACHED);
    ready(x);
    for (int i = 0; i < N; i++)
        x[i] = i;
    assert_true(clmctl(x, CL_MCTL_GET_STATUS) & CL_MEM_DETACHED);
    fails_event(ANY_ERROR, clmsync(cp, 0, x, CL_MEM_DEVICE)); /* not the context's yet */
    fails(EINVAL, clmdetach(x));
    for (int round = 1; round <= 3; round++) {
        works(clmattach(cp, x));
        assert_false(clmctl(x, CL_MCTL_GET_STATUS) & CL_MEM_DETACHED);
        assert_ptr_equal(clmemptr(cp, x + 1), x);
        fails(EINVAL, clmattach(cp, x));
        done(clmsync(cp, 0, x, CL_MEM_DEVICE));
        add_and_fetch(0, x, 10);
        works(clmdetach(x));
        assert_true(clmctl(x, CL_MCTL_GET_STATUS) & CL_MEM_DETACHED);
        fails(EINVAL, clmdetach(x));
        for (int i = 0; i < N; i++) /* the host's bytes stay */
            assert_int_equal(x[i], i + 10 * round);
    }
    works(clfree(x)); /* a detached block is freed as any other */
}

static void test_attach_refuses_bad_calls(void **state)
{
    (void)state;
    int on_stack = 0;
    fails(EFAULT, clmattach(cp, &on_stack));
    fails(EFAULT, clmattach(cp, NULL));
    fails(EFAULT, clmdetach(&on_stack));
    fails(EFAULT, clmdetach(NULL));
    void *x = clmalloc(cp, 100, CL_MEM_DETACHED);
    ready(x);
    fails(EINVAL, clmattach(NULL, x));
    works(clfree(x));
}

/* A block moves from context to context through the host. */
static void test_attach_to_another_context(void **state)
{
    (void)state;
    cl_device_id last = clgetdevice(cp, clgetndev(cp) - 1);
    CLCONTEXT *other = clcontext_create_from(&last, 1);
    ready(other);
    int *x = clmalloc(cp, N * sizeof *x, 0);
    ready(x);
    fails(EINVAL, clmattach(other, x));
    for (int i = 0; i < N; i++)
        x[i] = i;
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    add_and_fetch(0, x, 1);
    works(clmdetach(x));
    works(clmattach(other, x));

    void *program = clopen(other, BASIC_CL, CLLD_NOW);
    ready(program);
    cl_kernel add = clsym(other, program, "add", 0);
    ready(add);
    clndrange_t ndr = clndrange_init1d(0, N, 64);
    done(clmsync(other, 0, x, CL_MEM_DEVICE));
    done(clforka(other, 0, add, &ndr, CL_EVENT_WAIT, x, 100));
    done(clmsync(other, 0, x, CL_MEM_HOST));
    for (int i = 0; i < N; i++)
        assert_int_equal(x[i], i + 101);
    works(clcontext_destroy(other)); /* frees x, which is still attached */
    fails(EFAULT, clfree(x));
}

static void test_detach_waits_for_work_in_flight(void **state)
{
    (void)state;
    cl_uint *x = clmalloc(cp, 4096, 0);
    ready(x);
    cl_event running = start_slow(x);
    works(clmdetach(x));
    assert_int_equal(event_status(running), CL_COMPLETE);
    clReleaseEvent(running);
    done(clwait(cp, 0, CL_ALL_EVENT));
    works(clfree(x));
}

/* ---- clmctl. ---- */

static int call_clmctl_va(void *ptr, int op, ...)
{
    va_list ap;
    va_start(ap, op);
    int result = clmctl_va(ptr, op, ap);
    va_end(ap);
    return result;
}

static void test_ctl_status(void **state)
{
    (void)state;
    static const int flags[] = {CL_MEM_ZEROCOPY, CL_MEM_DEVONLY, CL_MEM_IMAGE2D, CL_MEM_DETACHED};
    for (size_t f = 0; f < sizeof flags / sizeof *flags; f++) {
        char *x = clmalloc(cp, 100, flags[f]);
        ready(x);
        int mask = flags[0] | flags[1] | flags[2] | flags[3];
        assert_int_equal(clmctl(x, CL_MCTL_GET_STATUS) & mask, flags[f]);
        assert_int_equal(clmctl(x + 99, CL_MCTL_GET_STATUS) & mask, flags[f]);
        assert_int_equal(call_clmctl_va(x, CL_MCTL_GET_STATUS) & mask, flags[f]);
        works(clfree(x));
    }
}

static void test_ctl_device_number(void **state)
{
    (void)state;
    cl_uint last = clgetndev(cp) - 1;
    int *x = clmalloc(cp, N * sizeof *x, 0);
    ready(x);
    assert_int_equal(clmctl(x, CL_MCTL_GET_DEVNUM), -1); /* the host has it */
    done(clmsync(cp, last, x, CL_MEM_DEVICE));
    assert_int_equal(clmctl(x, CL_MCTL_GET_DEVNUM), last);
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    assert_int_equal(clmctl(x, CL_MCTL_GET_DEVNUM), 0);
    clndrange_t ndr = clndrange_init1d(0, N, 64);
    done(clforka(cp, last, basic_kernel(cp, "fill"), &ndr, CL_EVENT_WAIT, x, 1));
    assert_int_equal(clmctl(x, CL_MCTL_GET_DEVNUM), last);
    done(clmsync(cp, last, x, CL_MEM_HOST));
    assert_int_equal(clmctl(x, CL_MCTL_GET_DEVNUM), -1);
    assert_true(clmctl(x, CL_MCTL_SET_DEVNUM, 0) >= 0);
    assert_int_equal(clmctl(x, CL_MCTL_GET_DEVNUM), 0);
    assert_true(call_clmctl_va(x, CL_MCTL_SET_DEVNUM, (int)last) >= 0);
    assert_int_equal(call_clmctl_va(x, CL_MCTL_GET_DEVNUM), last);
    works(clfree(x));
}

static void test_ctl_refuses_bad_calls(void **state)
{
    (void)state;
    int on_stack = 0;
    void *x = clmalloc(cp, 100, 0);
    ready(x);
    fails(EFAULT, clmctl(&on_stack, CL_MCTL_GET_STATUS));
    fails(EFAULT, clmctl(NULL, CL_MCTL_GET_STATUS));
    fails(EFAULT, call_clmctl_va(&on_stack, CL_MCTL_SET_DEVNUM, 0));
    fails(EINVAL, clmctl(x, 0));
    fails(EINVAL, clmctl(x, 99));
    fails(EINVAL, clmctl(x, -1));
    works(clfree(x));
}

static cl_mem_flags buffer_flags(cl_mem buffer)
{
    cl_mem_flags flags = 0;
    assert_int_equal(clGetMemObjectInfo(buffer, CL_MEM_FLAGS, sizeof flags, &flags, NULL),
                     CL_SUCCESS);
    return flags;
}

static void test_ctl_user_flags_reach_the_buffer(void **state)
{
    (void)state;
    int *x = clmalloc(cp, N * sizeof *x, 0), *plain = clmalloc(cp, N * sizeof *x, 0);
    ready(x);
    ready(plain);
    assert_true(clmctl(x, CL_MCTL_SET_USRFLAGS, (int)(CL_MEM_READ_ONLY | CL_MEM_HOST_READ_ONLY)) >=
                0);
    assert_true(clmctl(x, CL_MCTL_CLR_USRFLAGS, (int)CL_MEM_HOST_READ_ONLY) >= 0);
    cl_mem buffer = clgetbuffer(cp, 0, x);
    ready(buffer);
    assert_true(buffer_flags(buffer) & CL_MEM_READ_ONLY);
    assert_false(buffer_flags(buffer) & CL_MEM_READ_WRITE);
    assert_false(buffer_flags(buffer) & CL_MEM_HOST_READ_ONLY);
    assert_false(buffer_flags(clgetbuffer(cp, 0, plain)) & CL_MEM_READ_ONLY);
    x = clmrealloc(cp, x, 100000, 0); /* keeps them */
    ready(x);
    assert_true(buffer_flags(clgetbuffer(cp, 0, x)) & CL_MEM_READ_ONLY);
    fails(EBUSY, clmctl(x, CL_MCTL_SET_USRFLAGS, (int)CL_MEM_WRITE_ONLY));
    fails(EBUSY, clmctl(x, CL_MCTL_CLR_USRFLAGS, (int)CL_MEM_READ_ONLY));
    works(clfree(x));
    works(clfree(plain));
}

/* ---- The OpenCL buffer underneath. ---- */

static void test_getbuffer_is_the_block(void **state)
{
    (void)state;
    int *x = clmalloc(cp, N * sizeof *x, 0), direct[N], on_stack = 0;
    ready(x);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        cl_mem buffer = clgetbuffer(cp, dev, x);
        ready(buffer);
        clndrange_t ndr = clndrange_init1d(0, N, 64);
        done(clforka(cp, dev, basic_kernel(cp, "fill"), &ndr, CL_EVENT_WAIT, x, 7 + (int)dev));
        assert_int_equal(clEnqueueReadBuffer(clgetqueue(cp, dev), buffer, CL_TRUE, 0, sizeof direct,
                                             direct, 0, NULL, NULL),
                         CL_SUCCESS);
        for (int i = 0; i < N; i++)
            assert_int_equal(direct[i], 7 + (int)dev);
        cl_context context = NULL;
        assert_int_equal(clGetMemObjectInfo(buffer, CL_MEM_CONTEXT, sizeof context, &context, NULL),
                         CL_SUCCESS);
        assert_ptr_equal(context, clgetclcontext(cp, dev));
    }
    fails_null(ANY_ERROR, clgetbuffer(cp, clgetndev(cp), x));
    fails_null(ANY_ERROR, clgetbuffer(cp, 0, &on_stack));
    fails_null(ANY_ERROR, clgetbuffer(NULL, 0, x));
    works(clfree(x));
}

/* ---- The historic OpenGL calls. ---- */

static void test_gl_is_not_supported(void **state)
{
    (void)state;
    int *x = clmalloc(cp, N * sizeof *x, 0);
    ready(x);
    fails_null(ENOTSUP, clglmalloc(cp, 1, 0, 0, CL_MEM_GLBUF));
    fails_event(ENOTSUP, clglmsync(cp, 0, x, CL_MEM_DEVICE));
    works(clfree(x));
}

/* True if at least one device of the context gives the block a buffer. */
static bool has_buffer(void *block)
{
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++)
        if (clgetbuffer(cp, dev, block))
            return true;
    return false;
}

/* A block that no device can hold is refused by clmalloc, not by the first sync. */
static void test_more_than_the_largest_buffer(void **state)
{
    (void)state;
    static const int flags[] = {0, CL_MEM_DEVONLY, CL_MEM_PER_DEVICE};
    cl_ulong largest = 0, memory = 0;
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        cl_ulong one = 0, all = 0;
        clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof one, &one, NULL);
        clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_GLOBAL_MEM_SIZE, sizeof all, &all, NULL);
        largest = one > largest ? one : largest;
        memory = all > memory ? all : memory;
    }
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        for (size_t size = largest + 4096; size <= memory; size = size / 2 * 3) {
            void *block = clmalloc(cp, size, flags[i]);
            if (block)
                assert_true(has_buffer(block)); /* a driver that allocates more than it reports */
            else
                assert_int_equal(clerrno, ENOMEM);
            works(clfree(block));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_more_than_the_largest_buffer),
        cmocka_unit_test(test_malloc_gives_zeroed_pages),
        cmocka_unit_test(test_malloc_zeroes_reused_memory),
        cmocka_unit_test(test_malloc_size_0_is_unique),
        cmocka_unit_test(test_malloc_refuses_what_cannot_be_held),
        cmocka_unit_test(test_a_block_too_large_for_a_buffer),
        cmocka_unit_test(test_malloc_refuses_bad_calls),
        cmocka_unit_test(test_malloc_accepts_historic_flags),
        cmocka_unit_test(test_interior_pointers_are_found),
        cmocka_unit_test(test_foreign_pointers_are_not_found),
        cmocka_unit_test(test_memptr_minds_the_context),
        cmocka_unit_test(test_many_blocks),
        cmocka_unit_test(test_free_refuses_foreign_pointers),
        cmocka_unit_test(test_free_waits_for_work_in_flight),
        cmocka_unit_test(test_free_waits_for_a_copy_in_flight),
        cmocka_unit_test(test_realloc_keeps_host_bytes),
        cmocka_unit_test(test_realloc_failure_leaves_the_block),
        cmocka_unit_test(test_realloc_waits_for_work_in_flight),
        cmocka_unit_test(test_realloc_keeps_flags),
        cmocka_unit_test(test_realloc_attaches_and_detaches),
        cmocka_unit_test(test_attach_copies_to_the_devices),
        cmocka_unit_test(test_attach_and_detach),
        cmocka_unit_test(test_attach_refuses_bad_calls),
        cmocka_unit_test(test_attach_to_another_context),
        cmocka_unit_test(test_detach_waits_for_work_in_flight),
        cmocka_unit_test(test_ctl_status),
        cmocka_unit_test(test_ctl_device_number),
        cmocka_unit_test(test_ctl_refuses_bad_calls),
        cmocka_unit_test(test_ctl_user_flags_reach_the_buffer),
        cmocka_unit_test(test_getbuffer_is_the_block),
        cmocka_unit_test(test_gl_is_not_supported),
    };
    return cmocka_run_group_tests(tests, memory_setup, NULL);
}
