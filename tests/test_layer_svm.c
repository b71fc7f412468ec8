/* test_layer_svm.c - shared virtual memory (CL_MEM_SVM): of fine grain, of coarse grain, and on
 * devices without it.
 *
 * The calls of OpenCL 2.0 are replaced (--wrap in layer.cmake). They report fewer capabilities
 * than the device has, keep account of blocks and mappings, and count what OpenCL forbids: a launch
 * while a coarse-grained block is mapped, a mapping of a mapped block, a block freed while it is
 * mapped or freed twice.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include <unistd.h>

enum { N = 1000, MOST = 64 };

static CLCONTEXT *cp;
static clndrange_t all = clndrange_init1d(0, N, 0), one = clndrange_init1d(0, 1, 1);

/* ---- The calls of OpenCL 2.0. ---- */

#define BOTH (CL_DEVICE_SVM_COARSE_GRAIN_BUFFER | CL_DEVICE_SVM_FINE_GRAIN_BUFFER)
static cl_bitfield reported = BOTH; /* capabilities that devices may report */

static struct {
    struct {
        const void *ptr;
        bool fine, mapped;
    } block[MOST];
    int blocks, maps, forbidden;
    size_t told; /* addresses that the last kernel was told */
} seen;

cl_int __real_clGetDeviceInfo(cl_device_id, cl_device_info, size_t, void *, size_t *);
void *__real_clSVMAlloc(cl_context, cl_svm_mem_flags, size_t, cl_uint);
void __real_clSVMFree(cl_context, void *);
cl_int __real_clEnqueueSVMMap(cl_command_queue, cl_bool, cl_map_flags, void *, size_t, cl_uint,
                              const cl_event *, cl_event *);
cl_int __real_clEnqueueSVMUnmap(cl_command_queue, void *, cl_uint, const cl_event *, cl_event *);
cl_int __real_clSetKernelExecInfo(cl_kernel, cl_kernel_exec_info, size_t, const void *);
cl_int __real_clEnqueueNDRangeKernel(cl_command_queue, cl_kernel, cl_uint, const size_t *,
                                     const size_t *, const size_t *, cl_uint, const cl_event *,
                                     cl_event *);
cl_int __wrap_clGetDeviceInfo(cl_device_id, cl_device_info, size_t, void *, size_t *);
void *__wrap_clSVMAlloc(cl_context, cl_svm_mem_flags, size_t, cl_uint);
void __wrap_clSVMFree(cl_context, void *);
cl_int __wrap_clEnqueueSVMMap(cl_command_queue, cl_bool, cl_map_flags, void *, size_t, cl_uint,
                              const cl_event *, cl_event *);
cl_int __wrap_clEnqueueSVMUnmap(cl_command_queue, void *, cl_uint, const cl_event *, cl_event *);
cl_int __wrap_clSetKernelExecInfo(cl_kernel, cl_kernel_exec_info, size_t, const void *);
cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue, cl_kernel, cl_uint, const size_t *,
                                     const size_t *, const size_t *, cl_uint, const cl_event *,
                                     cl_event *);

cl_int __wrap_clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t room, void *value,
                              size_t *size)
{
    cl_int err = __real_clGetDeviceInfo(id, what, room, value, size);
    if (err == CL_SUCCESS && what == CL_DEVICE_SVM_CAPABILITIES && value)
        *(cl_bitfield *)value &= reported;
    return what == CL_DEVICE_SVM_CAPABILITIES && !reported ? CL_INVALID_VALUE : err;
}

static int block_of(const void *ptr)
{
    int i = 0;
    while (i < seen.blocks && seen.block[i].ptr != ptr)
        i++;
    seen.forbidden += i == seen.blocks;
    return i < seen.blocks ? i : 0;
}

void *__wrap_clSVMAlloc(cl_context context, cl_svm_mem_flags flags, size_t size, cl_uint alignment)
{
    void *ptr = __real_clSVMAlloc(context, flags, size, alignment);
    if (ptr && seen.blocks < MOST) {
        seen.block[seen.blocks].ptr = ptr;
        seen.block[seen.blocks].mapped = false;
        seen.block[seen.blocks++].fine = flags & CL_MEM_SVM_FINE_GRAIN_BUFFER;
    }
    return ptr;
}

void __wrap_clSVMFree(cl_context context, void *ptr)
{
    const int i = block_of(ptr);
    seen.forbidden += seen.block[i].mapped;
    seen.block[i] = seen.block[--seen.blocks];
    __real_clSVMFree(context, ptr);
}

cl_int __wrap_clEnqueueSVMMap(cl_command_queue queue, cl_bool block, cl_map_flags flags, void *ptr,
                              size_t size, cl_uint n, const cl_event *wait, cl_event *ev)
{
    const int i = block_of(ptr);
    seen.maps++;
    seen.forbidden += seen.block[i].mapped || seen.block[i].fine;
    seen.block[i].mapped = true;
    return __real_clEnqueueSVMMap(queue, block, flags, ptr, size, n, wait, ev);
}

cl_int __wrap_clEnqueueSVMUnmap(cl_command_queue queue, void *ptr, cl_uint n, const cl_event *wait,
                                cl_event *ev)
{
    const int i = block_of(ptr);
    seen.forbidden += !seen.block[i].mapped;
    seen.block[i].mapped = false;
    return __real_clEnqueueSVMUnmap(queue, ptr, n, wait, ev);
}

cl_int __wrap_clSetKernelExecInfo(cl_kernel krn, cl_kernel_exec_info what, size_t size,
                                  const void *value)
{
    if (what == CL_KERNEL_EXEC_INFO_SVM_PTRS)
        seen.told = size / sizeof(void *);
    return __real_clSetKernelExecInfo(krn, what, size, value);
}

/* Every launch of this test takes shared blocks. */
cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel krn, cl_uint dim,
                                     const size_t *offset, const size_t *global,
                                     const size_t *local, cl_uint n, const cl_event *wait,
                                     cl_event *ev)
{
    for (int i = 0; i < seen.blocks; i++)
        seen.forbidden += seen.block[i].mapped;
    return __real_clEnqueueNDRangeKernel(queue, krn, dim, offset, global, local, n, wait, ev);
}

/* ---- Each test runs with each capability that the first device has. ---- */

static int svm_setup(void **state)
{
    (void)state;
    cp = stddev;
    return setup_done(cp);
}

static cl_bitfield capabilities_of_first(void)
{
    cl_bitfield caps = 0;
    __real_clGetDeviceInfo(clgetdevice(cp, 0), CL_DEVICE_SVM_CAPABILITIES, sizeof caps, &caps,
                           NULL);
    return caps & BOTH;
}

/* Pretend that devices have this grain; skip if the first has it not. */
static void report(cl_bitfield grain)
{
    if ((capabilities_of_first() & grain) != grain)
        skip();
    reported = grain;
    memset(&seen, 0, sizeof seen);
}

/* Nothing forbidden happened, and all blocks were freed. */
static void nothing_is_left(void)
{
    assert_int_equal(seen.forbidden, 0);
    assert_int_equal(seen.blocks, 0);
    reported = BOTH;
}

static int *svm_block(int grain)
{
    int *x = clmalloc(cp, N * sizeof *x, CL_MEM_SVM);
    ready(x);
    assert_int_equal(clmctl(x, CL_MCTL_GET_SVM), grain);
    for (int i = 0; i < N; i++) {
        assert_int_equal(x[i], 0);
        x[i] = i;
    }
    return x;
}

/* ---- One pointer on both sides. ---- */

static void compute_in_turn(int grain)
{
    int *x = svm_block(grain);
    for (int turn = 1; turn <= 3; turn++) {
        if (turn == 2) /* the sync to the device may be left out with shared memory */
            done(clmsync(cp, 0, x, CL_MEM_DEVICE));
        started(clforka(cp, 0, basic_kernel(cp, "add"), &all, CL_EVENT_NOWAIT, x, 10));
        started(clforka(cp, 0, basic_kernel(cp, "add"), &all, CL_EVENT_NOWAIT, x, 100));
        done(clmsync(cp, 0, x, CL_MEM_HOST));
        done(clmsync(cp, 0, x, CL_MEM_HOST));
        for (int i = 0; i < N; i++) {
            assert_int_equal(x[i], i + 110);
            x[i] = i;
        }
    }
    assert_int_equal(seen.maps, grain == 1 ? 4 : 0); /* at the start and in each turn */
    works(clfree(x));
}

static void fine_grain_needs_no_copies(void **state)
{
    (void)state;
    report(BOTH);
    compute_in_turn(2);
    nothing_is_left();
}

static void coarse_grain_maps_and_unmaps(void **state)
{
    (void)state;
    report(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
    compute_in_turn(1);
    nothing_is_left();
}

static void *svm_block_of_none(void)
{
    return svm_block(0);
}

/* Call a function, and keep what it prints to stderr. */
static void *printed_by(void *(*call)(void), char *text, size_t room)
{
    FILE *file = tmpfile();
    const int saved = dup(STDERR_FILENO);
    ready(file);
    dup2(fileno(file), STDERR_FILENO);
    void *result = call();
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    text[fread(text, 1, room - 1, file)] = 0;
    fclose(file);
    return result;
}

/* The usual order of syncs works without shared virtual memory, too. */
static void devices_without_it_copy(void **state)
{
    (void)state;
    report(0);
    char text[400];
    setenv("STDCL_DEBUG", "1", 1);
    int *x = printed_by(svm_block_of_none, text, sizeof text);
    unsetenv("STDCL_DEBUG");
    contains(text, "no shared virtual memory");
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    done(clforka(cp, 0, basic_kernel(cp, "add"), &all, CL_EVENT_WAIT, x, 10));
    for (int i = 0; i < N; i++)
        assert_int_equal(x[i], i);
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    for (int i = 0; i < N; i++)
        assert_int_equal(x[i], i + 10);
    works(clfree(x));
    nothing_is_left();
}

/* Buffers cannot start there. */
static void pointers_at_any_offset(void **state)
{
    (void)state;
    const cl_bitfield grain[] = {BOTH, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER};
    for (int g = 0; g < 2; g++) {
        report(grain[g]);
        int *x = svm_block(2 - g);
        clndrange_t three = clndrange_init1d(0, 3, 0);
        done(clforka(cp, 0, basic_kernel(cp, "add"), &three, CL_EVENT_WAIT, x + 7, 1000));
        done(clmsync(cp, 0, x, CL_MEM_HOST));
        for (int i = 0; i < N; i++)
            assert_int_equal(x[i], i >= 7 && i < 10 ? i + 1000 : i);
        works(clfree(x));
        nothing_is_left();
    }
}

/* ---- Pointers in blocks. ---- */

struct node {
    struct node *next;
    int value;
};

static const char list_source[] =
    "struct node { global struct node *next; int value; };\n"
    "kernel void walk(global struct node *first, global int *sum) {\n"
    "  int s = 0;\n"
    "  for (global struct node *p = first; p; p = p->next) { s += p->value; p->value = -s; }\n"
    "  *sum = s;\n"
    "}\n";

/* A list through two blocks, of which the kernel gets the first only. */
static void kernels_follow_pointers(void **state)
{
    (void)state;
    const cl_bitfield grain[] = {BOTH, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER};
    void *h = clsopen(cp, list_source, CLLD_NOW);
    ready(h);
    for (int g = 0; g < 2; g++) {
        report(grain[g]);
        struct node *a = clmalloc(cp, 10 * sizeof *a, CL_MEM_SVM);
        int *sum = svm_block(2 - g);
        ready(a);
        done(clforka(cp, 0, clsym(cp, h, "walk", 0), &one, CL_EVENT_WAIT, (void *)a, sum));
        assert_int_equal(seen.told, 2);
        struct node *b = clmalloc(cp, 10 * sizeof *b, CL_MEM_SVM); /* after the kernel was bound */
        ready(b);
        done(clmsync(cp, 0, a, CL_MEM_HOST));
        for (int i = 0; i < 10; i++) {
            a[i] = (struct node){&b[i], 1 << i};
            b[i] = (struct node){i < 9 ? &a[i + 1] : NULL, 1 << (i + 10)};
        }
        done(clforka(cp, 0, clsym(cp, h, "walk", 0), &one, CL_EVENT_WAIT, (void *)a, sum));
        assert_int_equal(seen.told, 3);
        done(clmsync(cp, 0, sum, CL_MEM_HOST));
        done(clmsync(cp, 0, b, CL_MEM_HOST));
        assert_int_equal(*sum, (1 << 20) - 1);
        assert_int_equal(b[9].value, -*sum);
        works(clfree(b));
        works(clfree(a));
        works(clfree(sum));
        nothing_is_left();
    }
    works(clclose(cp, h));
}

/* ---- With other calls. ---- */

static void copies_recordings_and_other_devices(void **state)
{
    (void)state;
    const cl_bitfield grain[] = {BOTH, CL_DEVICE_SVM_COARSE_GRAIN_BUFFER};
    const cl_uint last = clgetndev(cp) - 1;
    for (int g = 0; g < 2; g++) {
        report(grain[g]);
        int *x = svm_block(2 - g), *y = svm_block(2 - g), *z = clmalloc(cp, N * sizeof *z, 0);
        ready(z);
        done(clmcopy(cp, 0, x, z, CL_EVENT_WAIT));
        done(clmsync(cp, 0, z, CL_MEM_HOST));
        assert_memory_equal(z, x, N * sizeof *z);
        works(clrecord_begin(cp, 0));
        done(clforka(cp, 0, basic_kernel(cp, "add"), &all, CL_EVENT_NOWAIT, y, 5));
        done(clmsync(cp, 0, y, CL_MEM_HOST | CL_EVENT_NOWAIT));
        void *recording = clrecord_end(cp, 0);
        ready(recording);
        for (int i = 1; i <= 3; i++) {
            done(clrecord_replay(cp, recording, CL_EVENT_WAIT));
            assert_int_equal(y[N - 1], N - 1 + 5 * i);
        }
        works(clrecord_free(cp, recording));
        if (last > 0) { /* which has an image of its own */
            done(clforka(cp, 0, basic_kernel(cp, "add"), &all, CL_EVENT_WAIT, x, 1));
            done(clmsync(cp, last, x, CL_MEM_DEVICE));
            done(clmsync(cp, last, x, CL_MEM_HOST));
            assert_int_equal(x[N - 1], N);
        }
        works(clfree(z));
        works(clfree(y));
        works(clfree(x));
        nothing_is_left();
    }
}

static void resizing_keeps_the_data(void **state)
{
    (void)state;
    report(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
    int *x = svm_block(1);
    done(clforka(cp, 0, basic_kernel(cp, "add"), &all, CL_EVENT_WAIT, x, 1));
    int *more = clmrealloc(cp, x, 2 * N * sizeof *x, 0);
    ready(more);
    assert_int_equal(clmctl(more, CL_MCTL_GET_SVM), 1);
    for (int i = 0; i < N; i++)
        assert_int_equal(more[i], i + 1);
    works(clfree(more));
    nothing_is_left();
}

static void what_cannot_be_shared_is_refused(void **state)
{
    (void)state;
    static int own[64];
    report(BOTH);
    fails_null(EINVAL, clmalloc(NULL, 64, CL_MEM_SVM));
    fails_null(EINVAL, clmalloc(cp, 64, CL_MEM_SVM | CL_MEM_DETACHED));
    fails_null(EINVAL, clmalloc(cp, 64, CL_MEM_SVM | CL_MEM_ZEROCOPY));
    fails_null(EINVAL, clmalloc(cp, 64, CL_MEM_SVM | CL_MEM_IMAGE));
    fails_null(EINVAL, clmalloc_from(cp, own, sizeof own, CL_MEM_SVM));
    fails_null(ENOMEM, clmalloc(cp, SIZE_MAX / 4, CL_MEM_SVM));
    int *x = svm_block(2);
    fails(EINVAL, clmdetach(x));
    fails(EINVAL, clmctl(x, CL_MCTL_SET_IMAGE2D, 10, 10, NULL));
    fails(EINVAL, clmattach(cp, x));
    works(clfree(x));
    nothing_is_left();
}

static void contexts_free_their_shared_blocks(void **state)
{
    (void)state;
    report(CL_DEVICE_SVM_COARSE_GRAIN_BUFFER);
    cl_device_id id = clgetdevice(cp, 0);
    CLCONTEXT *own = clcontext_create_from(&id, 1);
    ready(own);
    ready(clmalloc(own, 1000, CL_MEM_SVM));
    ready(clmalloc(own, 0, CL_MEM_SVM));
    works(clcontext_destroy(own));
    nothing_is_left();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fine_grain_needs_no_copies),
        cmocka_unit_test(coarse_grain_maps_and_unmaps),
        cmocka_unit_test(devices_without_it_copy),
        cmocka_unit_test(pointers_at_any_offset),
        cmocka_unit_test(kernels_follow_pointers),
        cmocka_unit_test(copies_recordings_and_other_devices),
        cmocka_unit_test(resizing_keeps_the_data),
        cmocka_unit_test(what_cannot_be_shared_is_refused),
        cmocka_unit_test(contexts_free_their_shared_blocks),
    };
    return cmocka_run_group_tests(tests, svm_setup, NULL);
}
