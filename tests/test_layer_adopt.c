/* test_layer_adopt.c - a program that has its own OpenCL context, queues, buffers and host memory
 * launches kernels on them, and keeps all of them.
 *
 * Results are read with OpenCL's own calls, and references counted by the driver.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "files.h"

#include <sys/mman.h>

enum { N = 1000, MOST = 8 };

static clndrange_t all_items = clndrange_init1d(0, N, 0);

/* The program's own objects: one context with a queue per device. */
static struct {
    cl_context context;
    cl_uint n;
    cl_device_id device[MOST];
    cl_command_queue queue[MOST];
} own;

/* All devices of the first one's platform. */
static void collect_devices(void)
{
    cl_platform_id first = NULL, platform = NULL;
    clGetDeviceInfo(clgetdevice(stddev, 0), CL_DEVICE_PLATFORM, sizeof first, &first, NULL);
    for (cl_uint i = 0; i < clgetndev(stddev) && own.n < MOST; i++) {
        const cl_device_id id = clgetdevice(stddev, i);
        clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
        if (platform == first)
            own.device[own.n++] = id;
    }
}

static int adopt_setup(void **state)
{
    cl_int err = CL_SUCCESS;
    if (!stddev || files_create(state) != 0)
        return setup_done(false);
    collect_devices();
    own.context = clCreateContext(NULL, own.n, own.device, NULL, NULL, &err);
    for (cl_uint i = 0; i < own.n && err == CL_SUCCESS; i++)
        own.queue[i] = clCreateCommandQueue(own.context, own.device[i], 0, &err);
    return setup_done(err == CL_SUCCESS);
}

static int adopt_teardown(void **state)
{
    for (cl_uint i = 0; i < own.n; i++)
        clReleaseCommandQueue(own.queue[i]);
    clReleaseContext(own.context);
    return files_remove(state);
}

static CLCONTEXT *adopted(void)
{
    CLCONTEXT *cp = clcontext_adopt(own.context, own.n, own.queue);
    ready(cp);
    return cp;
}

static cl_kernel adopt_kernel(CLCONTEXT *cp, const char *name)
{
    void *program = clsopen(cp,
                            "kernel void scale(global float *x, float a)"
                            " { x[get_global_id(0)] *= a; }\n"
                            "kernel void sum(global const float *x, global float *y)"
                            " { y[get_global_id(0)] += x[get_global_id(0)]; }\n"
                            "kernel void paint(write_only image2d_t image) {"
                            " int2 at = (int2)(get_global_id(0), get_global_id(1));"
                            " write_imagef(image, at, (float4)(at.x, at.y, 3, 4)); }\n",
                            CLLD_NOW);
    ready(program);
    cl_kernel krn = clsym(cp, program, name, 0);
    ready(krn);
    return krn;
}

static cl_mem raw_buffer(const float *values)
{
    cl_int err;
    cl_mem buffer = clCreateBuffer(own.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                                   N * sizeof *values, (void *)(uintptr_t)values, &err);
    assert_int_equal(err, CL_SUCCESS);
    return buffer;
}

/* Number of references to an object of the program. */
static cl_uint references_of_buffer(cl_mem buffer)
{
    cl_uint count = 0;
    assert_int_equal(clGetMemObjectInfo(buffer, CL_MEM_REFERENCE_COUNT, sizeof count, &count, NULL),
                     0);
    return count;
}

static cl_uint references_of_context(void)
{
    cl_uint count = 0;
    assert_int_equal(
        clGetContextInfo(own.context, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL), 0);
    return count;
}

static cl_uint references_of_queue(void)
{
    cl_uint count = 0;
    assert_int_equal(
        clGetCommandQueueInfo(own.queue[0], CL_QUEUE_REFERENCE_COUNT, sizeof count, &count, NULL),
        0);
    return count;
}

/* Wait until an expression holds: drivers release their own references some time after a command is
 * complete. The test's time limit is the bound. */
#define settles(holds)                                                                             \
    do {                                                                                           \
        while (!(holds))                                                                           \
            usleep(1000);                                                                          \
    } while (0)

static void read_raw(cl_command_queue queue, cl_mem buffer, float *values)
{
    assert_int_equal(
        clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, N * sizeof *values, values, 0, NULL, NULL),
        CL_SUCCESS);
}

static void number_values(float *values, float first)
{
    for (int i = 0; i < N; i++)
        values[i] = first + (float)i;
}

/* ---- Contexts. ---- */

static void test_adopt_context_uses_its_objects(void **state)
{
    (void)state;
    CLCONTEXT *cp = adopted();
    assert_int_equal(clgetndev(cp), own.n);
    for (cl_uint i = 0; i < own.n; i++) {
        assert_ptr_equal(clgetclcontext(cp, i), own.context);
        assert_ptr_equal(clgetqueue(cp, i), own.queue[i]);
        assert_ptr_equal(clgetdevice(cp, i), own.device[i]);
    }
    fails(ENOTSUP, clprofile(cp, 1));
    works(clcontext_destroy(cp));
}

static void test_adopt_context_leaves_its_objects(void **state)
{
    (void)state;
    const cl_uint context = references_of_context(), queue = references_of_queue();
    CLCONTEXT *cp = adopted();
    float *x = clmalloc(cp, N * sizeof *x, 0);
    ready(x);
    number_values(x, 0);
    done(clmsync(cp, 0, x, CL_MEM_DEVICE));
    done(clforka(cp, 0, adopt_kernel(cp, "scale"), &all_items, CL_EVENT_WAIT, x, 2.0f));
    works(clcontext_destroy(cp));
    settles(references_of_context() <= context && references_of_queue() <= queue);
    assert_int_equal(references_of_context(), context);
    assert_int_equal(references_of_queue(), queue);
}

static void test_adopt_context_refuses_bad_queues(void **state)
{
    (void)state;
    cl_int err;
    cl_context other = clCreateContext(NULL, 1, own.device, NULL, NULL, &err);
    cl_command_queue foreign = clCreateCommandQueue(other, own.device[0], 0, &err), none = NULL;
    fails_null(EINVAL, clcontext_adopt(NULL, own.n, own.queue));
    fails_null(EINVAL, clcontext_adopt(own.context, 0, own.queue));
    fails_null(EINVAL, clcontext_adopt(own.context, 1, NULL));
    fails_null(EINVAL, clcontext_adopt(own.context, 1, &none));
    assert_null(clcontext_adopt(own.context, 1, &foreign));
    contains(clerror(), "queue 0 belongs to another OpenCL context");
    cl_command_queue disordered = clCreateCommandQueue(
        own.context, own.device[0], CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &err);
    if (disordered) {
        assert_null(clcontext_adopt(own.context, 1, &disordered));
        contains(clerror(), "runs its commands out of order");
        clReleaseCommandQueue(disordered);
    }
    clReleaseCommandQueue(foreign);
    clReleaseContext(other);
}

/* ---- Buffers. ---- */

/* Raw commands before and after the launches, on the same queues, without waiting in between. */
static void test_adopt_buffer_between_raw_commands(void **state)
{
    (void)state;
    CLCONTEXT *cp = adopted();
    cl_kernel scale = adopt_kernel(cp, "scale");
    for (cl_uint dev = 0; dev < own.n; dev++) {
        float values[N], result[N];
        number_values(values, 0);
        cl_mem buffer = raw_buffer(values);
        number_values(values, 5);
        assert_int_equal(clEnqueueWriteBuffer(own.queue[dev], buffer, CL_FALSE, 0, sizeof values,
                                              values, 0, NULL, NULL),
                         CL_SUCCESS);
        float *x = clmem_adopt(cp, dev, buffer);
        ready(x);
        assert_int_equal(clsizeofmem(x), sizeof values);
        assert_ptr_equal(clgetbuffer(cp, dev, x), buffer);
        started(clforka(cp, dev, scale, &all_items, CL_EVENT_NOWAIT, x, 3.0f));
        read_raw(own.queue[dev], buffer, result);
        for (int i = 0; i < N; i++)
            assert_true(result[i] == 3.0f * (5.0f + (float)i));
        done(clmsync(cp, dev, x, CL_MEM_HOST));
        assert_memory_equal(x, result, sizeof result);
        x[7] = -1;
        done(clmsync(cp, dev, x, CL_MEM_DEVICE));
        read_raw(own.queue[dev], buffer, result);
        assert_true(result[7] == -1.0f);
        done(clwait(cp, dev, CL_ALL_EVENT));
        works(clfree(x));
        settles(references_of_buffer(buffer) <= 1);
        read_raw(own.queue[dev], buffer, result);
        assert_true(result[7] == -1.0f);
        clReleaseMemObject(buffer);
    }
    works(clcontext_destroy(cp));
}

/* A block of clmalloc and a pointer into an adopted one are arguments as any other. Destroying the
 * context frees the block and not the buffer. */
static void test_adopt_buffer_with_other_blocks(void **state)
{
    (void)state;
    CLCONTEXT *cp = adopted();
    const cl_uint last = own.n - 1;
    float values[N], result[N];
    number_values(values, 1);
    cl_mem buffer = raw_buffer(values);
    float *x = clmem_adopt(cp, 0, buffer), *y = clmalloc(cp, N * sizeof *y, 0);
    ready(x);
    ready(y);
    number_values(y, 10);
    done(clmsync(cp, last, y, CL_MEM_DEVICE));
    /* On another device than the buffer's: its data are copied there first. */
    done(clforka(cp, last, adopt_kernel(cp, "sum"), &all_items, CL_EVENT_WAIT, x, y));
    done(clmsync(cp, last, y, CL_MEM_HOST));
    for (int i = 0; i < N; i++)
        assert_true(y[i] == 11.0f + 2.0f * (float)i);
    done(clforka(cp, 0, adopt_kernel(cp, "scale"), &all_items, CL_EVENT_WAIT, x, 2.0f));
    works(clcontext_destroy(cp));
    fails(EFAULT, clfree(x));
    settles(references_of_buffer(buffer) <= 1);
    read_raw(own.queue[0], buffer, result);
    assert_true(result[0] == 2.0f && result[N - 1] == 2.0f * N);
    clReleaseMemObject(buffer);
}

static void test_adopt_image(void **state)
{
    (void)state;
    enum { W = 37, H = 21 };
    cl_bool supported = CL_FALSE;
    cl_int err;
    clGetDeviceInfo(own.device[0], CL_DEVICE_IMAGE_SUPPORT, sizeof supported, &supported, NULL);
    if (!supported) {
        print_message("needs images\n");
        skip();
    }
    const cl_image_format format = {CL_RGBA, CL_FLOAT};
    const cl_image_desc desc = {
        .image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = W, .image_height = H};
    cl_mem image = clCreateImage(own.context, CL_MEM_READ_WRITE, &format, &desc, NULL, &err);
    assert_int_equal(err, CL_SUCCESS);
    CLCONTEXT *cp = adopted();
    cl_float4 *pixels = clmem_adopt(cp, 0, image);
    ready(pixels);
    assert_int_equal(clsizeofmem(pixels), W * H * sizeof *pixels);
    clndrange_t area = clndrange_init2d(0, W, 0, 0, H, 0);
    started(clforka(cp, 0, adopt_kernel(cp, "paint"), &area, CL_EVENT_NOWAIT, pixels));
    started(clmsync(cp, 0, pixels, CL_MEM_HOST | CL_EVENT_NOWAIT));
    done(clwait(cp, 0, CL_ALL_EVENT));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            assert_true(pixels[y * W + x].s[0] == (float)x && pixels[y * W + x].s[1] == (float)y);
    works(clcontext_destroy(cp));
    settles(references_of_buffer(image) <= 1);
    clReleaseMemObject(image);
}

/* What raw commands wrote into an array of images reaches the host region, plane after plane. */
static void test_adopt_image_array(void **state)
{
    (void)state;
    enum { W = 7, H = 5, D = 3 };
    cl_bool supported = CL_FALSE;
    cl_int err;
    unsigned char values[D][H][W];
    clGetDeviceInfo(own.device[0], CL_DEVICE_IMAGE_SUPPORT, sizeof supported, &supported, NULL);
    if (!supported) {
        print_message("needs images\n");
        skip();
    }
    for (int i = 0; i < W * H * D; i++)
        (&values[0][0][0])[i] = (unsigned char)(2 * i + 1);
    const cl_image_format format = {CL_R, CL_UNSIGNED_INT8};
    const cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY,
                                .image_width = W,
                                .image_height = H,
                                .image_array_size = D};
    cl_mem image = clCreateImage(own.context, CL_MEM_READ_WRITE, &format, &desc, NULL, &err);
    assert_int_equal(err, CL_SUCCESS);
    const size_t origin[3] = {0, 0, 0}, region[3] = {W, H, D};
    assert_int_equal(clEnqueueWriteImage(own.queue[0], image, CL_TRUE, origin, region, 0, 0, values,
                                         0, NULL, NULL),
                     CL_SUCCESS);
    CLCONTEXT *cp = adopted();
    unsigned char *pixels = clmem_adopt(cp, 0, image);
    ready(pixels);
    assert_int_equal(clsizeofmem(pixels), sizeof values);
    done(clmsync(cp, 0, pixels, CL_MEM_HOST));
    assert_memory_equal(pixels, values, sizeof values);
    works(clcontext_destroy(cp));
    clReleaseMemObject(image);
}

static void test_adopt_buffer_refuses_bad_calls(void **state)
{
    (void)state;
    CLCONTEXT *cp = adopted();
    float values[N];
    number_values(values, 0);
    cl_mem buffer = raw_buffer(values);
    fails_null(EINVAL, clmem_adopt(NULL, 0, buffer));
    fails_null(EINVAL, clmem_adopt(cp, own.n, buffer));
    fails_null(EINVAL, clmem_adopt(cp, 0, NULL));
    assert_null(clmem_adopt(stddev, 0, buffer));
    contains(clerror(), "belongs to another OpenCL context");
    float *x = clmem_adopt(cp, 0, buffer);
    ready(x);
    fails_null(EEXIST, clmem_adopt(cp, 0, buffer));
    fails(EINVAL, clmdetach(x));
    fails_null(EINVAL, clmrealloc(cp, x, 2 * sizeof values, 0));
    works(clfree(x));
    works(clcontext_destroy(cp));
    settles(references_of_buffer(buffer) <= 1);
    clReleaseMemObject(buffer);
}

/* ---- Host memory. ---- */

static void test_malloc_from_a_mapped_file(void **state)
{
    (void)state;
    float values[N];
    number_values(values, 2);
    put_bytes(in_folder("values"), values, sizeof values);
    const int fd = open(in_folder("values"), O_RDONLY);
    float *mapped = mmap(NULL, sizeof values, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    assert_true(mapped != MAP_FAILED);
    CLCONTEXT *cp = stddev;
    assert_ptr_equal(clmalloc_from(cp, mapped, sizeof values, 0), mapped);
    cl_kernel sum = adopt_kernel(cp, "sum");
    float *y = clmalloc(cp, sizeof values, 0);
    ready(y);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        memset(y, 0, sizeof values);
        done(clmsync(cp, dev, y, CL_MEM_DEVICE));
        done(clforka(cp, dev, sum, &all_items, CL_EVENT_WAIT, mapped, y)); /* no clmsync of it */
        done(clmsync(cp, dev, y, CL_MEM_HOST));
        assert_memory_equal(y, values, sizeof values);
    }
    works(clfree(y));
    works(clfree(mapped));
    assert_true(mapped[N - 1] == values[N - 1]);
    assert_int_equal(munmap(mapped, sizeof values), 0);
}

/* A CPU's kernels write the memory itself. */
static void test_malloc_from_zero_copy(void **state)
{
    (void)state;
    CLCONTEXT *cp = stddev;
    float *memory = aligned_alloc(4096, 4096 * 2), *x = memory;
    ready(memory);
    number_values(x, 0);
    assert_ptr_equal(clmalloc_from(cp, x, N * sizeof *x, CL_MEM_ZEROCOPY), x);
    done(clforka(cp, 0, adopt_kernel(cp, "scale"), &all_items, CL_EVENT_WAIT, x, 4.0f));
    done(clmsync(cp, 0, x, CL_MEM_HOST));
    for (int i = 0; i < N; i++)
        assert_true(x[i] == 4.0f * (float)i);
    works(clfree(x));
    cl_device_type type = 0;
    clGetDeviceInfo(clgetdevice(cp, 0), CL_DEVICE_TYPE, sizeof type, &type, NULL);
    if (type & CL_DEVICE_TYPE_CPU)
        fails_null(EINVAL, clmalloc_from(cp, x + 1, 64, CL_MEM_ZEROCOPY));
    free(memory);
}

static void test_malloc_from_refuses_bad_calls(void **state)
{
    (void)state;
    static char memory[8192];
    CLCONTEXT *cp = stddev;
    fails_null(EINVAL, clmalloc_from(cp, NULL, 10, 0));
    fails_null(EINVAL, clmalloc_from(cp, memory, 0, 0));
    fails_null(EINVAL, clmalloc_from(NULL, memory, 10, 0));
    fails_null(EINVAL, clmalloc_from(cp, memory, 10, CL_MEM_DEVONLY));
    fails_null(EINVAL, clmalloc_from(cp, memory, SIZE_MAX, 0));
    ready(clmalloc_from(cp, memory + 1000, 2000, 0));
    fails_null(EEXIST, clmalloc_from(cp, memory, 1001, 0));
    fails_null(EEXIST, clmalloc_from(cp, memory + 2999, 10, 0));
    fails_null(EEXIST, clmalloc_from(cp, memory + 1500, 10, 0));
    fails_null(EEXIST, clmalloc_from(cp, memory, sizeof memory, 0));
    ready(clmalloc_from(cp, memory, 1000, 0));
    ready(clmalloc_from(cp, memory + 3000, 1000, 0));
    fails_null(EINVAL, clmrealloc(cp, memory, 2000, 0));
    works(clfree(memory));
    works(clfree(memory + 1000));
    works(clfree(memory + 3000));
    fails(EFAULT, clfree(memory));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adopt_context_uses_its_objects),
        cmocka_unit_test(test_adopt_context_leaves_its_objects),
        cmocka_unit_test(test_adopt_context_refuses_bad_queues),
        cmocka_unit_test(test_adopt_buffer_between_raw_commands),
        cmocka_unit_test(test_adopt_buffer_with_other_blocks),
        cmocka_unit_test(test_adopt_image),
        cmocka_unit_test(test_adopt_image_array),
        cmocka_unit_test(test_adopt_buffer_refuses_bad_calls),
        cmocka_unit_test(test_malloc_from_a_mapped_file),
        cmocka_unit_test(test_malloc_from_zero_copy),
        cmocka_unit_test(test_malloc_from_refuses_bad_calls),
    };
    return cmocka_run_group_tests(tests, adopt_setup, adopt_teardown);
}
