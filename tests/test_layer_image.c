/* test_layer_image.c - image allocations: the historic sequence (allocate detached, shape with
 * clmctl, attach, sync, pass to a kernel), in both directions between host and device.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

static CLCONTEXT *cp;
static void *program;

/* Odd sizes, so that a row padded by the device would show. */
enum { W = 37, H = 21 };
static clndrange_t pixels = clndrange_init2d(0, W, 0, 0, H, 0);

static int image_setup(void **state)
{
    (void)state;
    cp = stddev;
    if (!cp)
        return setup_done(false);
    program = clopen(cp, "kernels/image.cl", CLLD_NOW);
    return setup_done(program);
}

static cl_kernel image_kernel(const char *name)
{
    cl_kernel krn = clsym(cp, program, name, 0);
    ready(krn);
    return krn;
}

static bool has_images(cl_uint dev)
{
    cl_bool supported = CL_FALSE;
    clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_IMAGE_SUPPORT, sizeof supported, &supported,
                    NULL);
    return supported;
}

/* Skip the test on devices without images. */
#define need_images()                                                                              \
    do {                                                                                           \
        for (cl_uint d_ = 0; d_ < clgetndev(cp); d_++)                                             \
            if (!has_images(d_)) {                                                                 \
                print_message("needs images\n");                                                   \
                skip();                                                                            \
            }                                                                                      \
    } while (0)

static cl_float4 *new_table(const cl_image_format *format)
{
    cl_float4 *table = clmalloc(cp, W * H * sizeof *table, CL_MEM_DETACHED);
    ready(table);
    assert_true(clmctl(table, CL_MCTL_SET_IMAGE2D, (int)W, (int)H, format) >= 0);
    works(clmattach(cp, table));
    return table;
}

static void number_pixels(cl_float4 *table, float base)
{
    for (int i = 0; i < W * H; i++)
        table[i] = (cl_float4){{base + (float)i, (float)i / 4, -(float)i, 1}};
}

static void test_recipe(void **state)
{
    (void)state;
    need_images();
    cl_image_format rgba_float = {CL_RGBA, CL_FLOAT};
    const cl_image_format *formats[] = {NULL, &rgba_float}; /* NULL means RGBA float */
    for (int f = 0; f < 2; f++) {
        cl_float4 *table = new_table(formats[f]);
        cl_float4 *out = clmalloc(cp, W * H * sizeof *out, 0);
        ready(out);
        for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
            number_pixels(table, 1000.0f * (float)dev);
            started(clmsync(cp, dev, table, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
            assert_int_equal(clarg_set_global(image_kernel("unpack"), 0, table), 0);
            assert_int_equal(clarg_set_global(cp, image_kernel("unpack"), 1, out), 0);
            started(clfork(cp, dev, image_kernel("unpack"), &pixels, CL_EVENT_NOWAIT));
            started(clmsync(cp, dev, out, CL_MEM_HOST | CL_EVENT_NOWAIT));
            done(clwait(cp, dev, CL_ALL_EVENT));
            assert_memory_equal(out, table, W * H * sizeof *out);
            memset(out, 0, W * H * sizeof *out);
        }
        works(clfree(table));
        works(clfree(out));
    }
}

static void test_flag_of_clmalloc(void **state)
{
    (void)state;
    need_images();
    cl_float4 *table = clmalloc(cp, W * H * sizeof *table, CL_MEM_IMAGE2D);
    int *out = clmalloc(cp, 2 * sizeof *out, 0);
    ready(table);
    ready(out);
    clndrange_t one = clndrange_init1d(0, 1, 1);
    fails_event(EINVAL, clforka(cp, 0, image_kernel("shape"), &one, CL_EVENT_WAIT, table,
                                out)); /* no shape */
    assert_true(clmctl(table, CL_MCTL_SET_IMAGE2D, (int)W, (int)H, NULL) >= 0);
    done(clmsync(cp, 0, table, CL_MEM_DEVICE));
    done(clforka(cp, 0, image_kernel("shape"), &one, CL_EVENT_WAIT, table, out));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    assert_int_equal(out[0], W);
    assert_int_equal(out[1], H);
    works(clfree(table));
    works(clfree(out));
}

static void test_bytes_as_pixels(void **state)
{
    (void)state;
    need_images();
    cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    unsigned char *table = clmalloc(cp, 4 * W * H, CL_MEM_DETACHED);
    cl_uint4 *out = clmalloc(cp, W * H * sizeof *out, 0);
    ready(table);
    ready(out);
    assert_true(clmctl(table, CL_MCTL_SET_IMAGE2D, (int)W, (int)H, &format) >= 0);
    works(clmattach(cp, table));
    for (int i = 0; i < 4 * W * H; i++)
        table[i] = (unsigned char)(i * 7);
    done(clmsync(cp, 0, table, CL_MEM_DEVICE));
    done(clforka(cp, 0, image_kernel("unpack_u"), &pixels, CL_EVENT_WAIT, table, out));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    for (int i = 0; i < 4 * W * H; i++)
        assert_int_equal(out[i / 4].s[i % 4], table[i]);
    works(clfree(table));
    works(clfree(out));
}

/* ---- Images of other kinds. ---- */

enum { D = 5 };

static const struct {
    const char *kernel;
    cl_image_desc shape;
} kinds[] = {
    {"unpack_1d", {.image_type = CL_MEM_OBJECT_IMAGE1D, .image_width = W}},
    {"unpack_1d_array",
     {.image_type = CL_MEM_OBJECT_IMAGE1D_ARRAY, .image_width = W, .image_array_size = H}},
    {"unpack", {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = W, .image_height = H}},
    {"unpack_2d_array",
     {.image_type = CL_MEM_OBJECT_IMAGE2D_ARRAY,
      .image_width = W,
      .image_height = H,
      .image_array_size = D}},
    {"unpack_3d",
     {.image_type = CL_MEM_OBJECT_IMAGE3D, .image_width = W, .image_height = H, .image_depth = D}},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The index space of a shape's pixels, with `bytes` of RGBA float. */
static clndrange_t space_of(const cl_image_desc *s, size_t *bytes)
{
    const bool line = s->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    const size_t h = line ? s->image_array_size : s->image_height ? s->image_height : 1;
    const size_t d = line ? 1 : s->image_depth + s->image_array_size;
    *bytes = s->image_width * h * (d ? d : 1) * sizeof(cl_float4);
    return (clndrange_t)clndrange_init3d(0, s->image_width, 0, 0, h, 0, 0, d ? d : 1, 0);
}

static cl_float4 *new_image(const cl_image_desc *shape, size_t bytes)
{
    cl_float4 *image = clmalloc(cp, bytes, CL_MEM_IMAGE);
    ready(image);
    works(clmctl(image, CL_MCTL_SET_IMAGE, shape, (const cl_image_format *)NULL));
    for (size_t i = 0; i < bytes / sizeof *image; i++)
        image[i] = (cl_float4){{(float)i, (float)i / 4, -(float)i, 1}};
    return image;
}

/* To every device and through the kernel; from device to device; and back to the host. */
static void test_images_of_every_kind(void **state)
{
    (void)state;
    need_images();
    const cl_uint last = clgetndev(cp) - 1;
    for (int i = 0; i < KINDS; i++) {
        size_t bytes;
        clndrange_t space = space_of(&kinds[i].shape, &bytes);
        cl_float4 *image = new_image(&kinds[i].shape, bytes), *copy = clmalloc(cp, bytes, 0);
        ready(copy);
        memcpy(copy, image, bytes);
        done(clmsync(cp, 0, image, CL_MEM_DEVICE));
        memset(image, 0, bytes);
        cl_float4 *out = clmalloc(cp, bytes, 0);
        ready(out);
        done(clforka(cp, last, image_kernel(kinds[i].kernel), &space, CL_EVENT_WAIT, image, out));
        done(clmsync(cp, last, out, CL_MEM_HOST));
        assert_memory_equal(out, copy, bytes);
        done(clmsync(cp, 0, image, CL_MEM_HOST));
        assert_memory_equal(image, copy, bytes);
        memset(out, 0, bytes);
        done(clmcopy(cp, 0, image, out, CL_EVENT_WAIT));
        done(clmsync(cp, 0, out, CL_MEM_HOST));
        assert_memory_equal(out, copy, bytes);
        works(clfree(image));
        works(clfree(copy));
        works(clfree(out));
    }
}

static void test_kernel_writes_an_image_array(void **state)
{
    (void)state;
    need_images();
    size_t bytes;
    clndrange_t space = space_of(&kinds[3].shape, &bytes);
    cl_float4 *image = new_image(&kinds[3].shape, bytes);
    done(clforka(cp, 0, image_kernel("paint_2d_array"), &space, CL_EVENT_WAIT, image));
    done(clmsync(cp, 0, image, CL_MEM_HOST));
    for (int i = 0; i < W * H * D; i++) {
        const cl_float4 p = image[i];
        assert_true(p.s[0] == (float)(i % W) && p.s[1] == (float)(i / W % H));
        assert_true(p.s[2] == (float)(i / W / H) && p.s[3] == 2.0f);
    }
    works(clfree(image));
}

static void test_images_of_another_kind_are_refused(void **state)
{
    (void)state;
    need_images();
    for (int i = 0; i < KINDS; i++) {
        size_t bytes;
        clndrange_t space = space_of(&kinds[i].shape, &bytes);
        cl_float4 *image = new_image(&kinds[i].shape, bytes), *out = clmalloc(cp, bytes, 0);
        ready(out);
        for (int k = 0; k < KINDS; k++)
            if (k != i)
                fails_event(EINVAL, clforka(cp, 0, image_kernel(kinds[k].kernel), &space,
                                            CL_EVENT_WAIT, image, out));
        works(clfree(image));
        works(clfree(out));
    }
}

static void test_bad_shapes_of_other_kinds(void **state)
{
    (void)state;
    need_images();
    size_t bytes;
    space_of(&kinds[4].shape, &bytes);
    cl_float4 *image = clmalloc(cp, bytes, CL_MEM_IMAGE);
    ready(image);
    for (int i = 0; i < 7; i++) {
        cl_image_desc s = kinds[4].shape;
        s.image_depth = i == 0 ? D + 1 : i == 1 ? 0 : i == 2 ? SIZE_MAX / 2 : s.image_depth;
        s.image_type = i == 3 ? CL_MEM_OBJECT_BUFFER : s.image_type;
        s.image_row_pitch = i == 4 ? 16 * W : 0;
        s.num_samples = i == 5;
        fails(EINVAL,
              clmctl(image, CL_MCTL_SET_IMAGE, i == 6 ? NULL : &s, (const cl_image_format *)NULL));
    }
    works(clmctl(image, CL_MCTL_SET_IMAGE, &kinds[4].shape, (const cl_image_format *)NULL));
    works(clfree(image));
}

/* ---- Samplers. ---- */

/* One sampler serves every device, and may be changed between launches. */
static void test_sampler_of_every_device(void **state)
{
    (void)state;
    need_images();
    cl_float4 *table = new_table(NULL), *out = clmalloc(cp, sizeof *out, 0);
    void *sampler = clmalloc(cp, 0, CL_MEM_SAMPLER);
    ready(out);
    ready(sampler);
    number_pixels(table, 0);
    clndrange_t one = clndrange_init1d(0, 1, 1);
    const cl_kernel sample = image_kernel("sample");
    const cl_float2 corner = {{0.999f, 0.999f}}, outside = {{-3, 2}};
    const cl_float4 border = {{0, 0, 0, 0}};
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        done(clmsync(cp, dev, table, CL_MEM_DEVICE));
        works(clmctl(sampler, CL_MCTL_SET_SAMPLER, 1, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST));
        done(clforka(cp, dev, sample, &one, CL_EVENT_WAIT, table, sampler, corner, out));
        done(clmsync(cp, dev, out, CL_MEM_HOST));
        assert_memory_equal(out, &table[W * H - 1], sizeof *out);
        works(clmctl(sampler, CL_MCTL_SET_SAMPLER, 0, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST));
        done(clforka(cp, dev, sample, &one, CL_EVENT_WAIT, table, sampler, outside, out));
        done(clmsync(cp, dev, out, CL_MEM_HOST));
        assert_memory_equal(out, &border, sizeof *out);
    }
    works(clfree(sampler));
    works(clfree(table));
    works(clfree(out));
}

static void test_samplers_are_no_memory(void **state)
{
    (void)state;
    need_images();
    cl_float4 *table = new_table(NULL), *out = clmalloc(cp, W * H * sizeof *out, 0);
    void *sampler = clmalloc(cp, 0, CL_MEM_SAMPLER);
    ready(out);
    ready(sampler);
    clndrange_t one = clndrange_init1d(0, 1, 1);
    const cl_float2 corner = {{0, 0}};
    const cl_kernel sample = image_kernel("sample"), unpack = image_kernel("unpack");
    fails_event(EINVAL, clforka(cp, 0, sample, &one, CL_EVENT_WAIT, table, out, corner, out));
    fails_event(EINVAL, clforka(cp, 0, sample, &one, CL_EVENT_WAIT, sampler, sampler, corner, out));
    fails_event(EINVAL, clforka(cp, 0, unpack, &pixels, CL_EVENT_WAIT, table, sampler));
    fails_event(EINVAL, clmsync(cp, 0, sampler, CL_MEM_DEVICE));
    fails_null(EINVAL, clgetbuffer(cp, 0, sampler));
    fails(EINVAL, clmctl(out, CL_MCTL_SET_SAMPLER, 1, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST));
    fails(EINVAL, clmctl(sampler, CL_MCTL_SET_SAMPLER, 0, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST));
    fails(EINVAL, clmctl(sampler, CL_MCTL_SET_SAMPLER, 1, 7, CL_FILTER_NEAREST));
    fails(EINVAL, clmctl(sampler, CL_MCTL_SET_SAMPLER, 1, CL_ADDRESS_CLAMP, 7));
    fails_null(EINVAL, clmalloc(cp, 0, CL_MEM_SAMPLER | CL_MEM_IMAGE));
    works(clfree(sampler));
    works(clfree(table));
    works(clfree(out));
}

/* A sampler created by the program with OpenCL is passed as it is. */
static void test_sampler_as_argument(void **state)
{
    (void)state;
    need_images();
    cl_float4 *table = new_table(NULL), *out = clmalloc(cp, sizeof *out, 0);
    ready(out);
    number_pixels(table, 0);
    clndrange_t one = clndrange_init1d(0, 1, 1);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        cl_int err = CL_SUCCESS;
        cl_sampler sampler = clCreateSampler(clgetclcontext(cp, dev), CL_TRUE,
                                             CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST, &err);
        assert_int_equal(err, CL_SUCCESS);
        done(clmsync(cp, dev, table, CL_MEM_DEVICE));
        cl_float2 corner = {{0.999f, 0.999f}}; /* normalized: the last pixel */
        done(clforka(cp, dev, image_kernel("sample"), &one, CL_EVENT_WAIT, table, sampler, corner,
                     out));
        done(clmsync(cp, dev, out, CL_MEM_HOST));
        assert_memory_equal(out, &table[W * H - 1], sizeof *out);
        clReleaseSampler(sampler);
    }
    works(clfree(table));
    works(clfree(out));
}

/* Each of these crashed the driver, or was taken for what it is not. */
static void test_other_objects_are_refused(void **state)
{
    (void)state;
    need_images();
    cl_int err = CL_SUCCESS;
    clndrange_t one = clndrange_init1d(0, 1, 1);
    cl_float4 *table = new_table(NULL), *block = clmalloc(cp, W * H * sizeof *block, 0);
    ready(block);
    cl_kernel unpack = image_kernel("unpack"), sample = image_kernel("sample");
    cl_sampler sampler = clCreateSampler(clgetclcontext(cp, 0), CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE,
                                         CL_FILTER_NEAREST, &err);
    assert_int_equal(err, CL_SUCCESS);
    cl_mem buffer = clgetbuffer(cp, 0, block), image = clgetbuffer(cp, 0, table);
    cl_float2 corner = {{0, 0}};
    fails_event(EINVAL, clforka(cp, 0, unpack, &pixels, CL_EVENT_WAIT, block, block));
    fails_event(EINVAL, clforka(cp, 0, unpack, &pixels, CL_EVENT_WAIT, (void *)0, block));
    fails_event(EINVAL, clforka(cp, 0, unpack, &pixels, CL_EVENT_WAIT, table, table));
    fails_event(EINVAL, clforka(cp, 0, unpack, &pixels, CL_EVENT_WAIT, buffer, block));
    fails_event(EINVAL, clforka(cp, 0, unpack, &pixels, CL_EVENT_WAIT, image, image));
    fails_event(EINVAL, clforka(cp, 0, unpack, &pixels, CL_EVENT_WAIT, sampler, block));
    fails_event(EINVAL, clforka(cp, 0, sample, &one, CL_EVENT_WAIT, table, image, corner, block));
    fails_event(EINVAL, clforka(cp, 0, sample, &one, CL_EVENT_WAIT, table, block, corner, block));
    fails_event(EINVAL, clforka(cp, 0, sample, &one, CL_EVENT_WAIT, table, 7ul, corner, block));
    assert_true(clSetKernelArg(unpack, 0, sizeof buffer, &buffer) == CL_INVALID_ARG_VALUE);
    contains(clerror(), "image2d_t");
    assert_true(clSetKernelArg(sample, 1, sizeof buffer, &buffer) != CL_SUCCESS);
    contains(clerror(), "sampler_t");
    assert_int_equal(clarg_set_global(unpack, 0, block), 0);
    fails_event(EINVAL, clfork(cp, 0, unpack, &pixels, CL_EVENT_WAIT));
    number_pixels(table, 0);
    done(clmsync(cp, 0, table, CL_MEM_DEVICE));
    done(clforka(cp, 0, unpack, &pixels, CL_EVENT_WAIT, image, buffer)); /* as declared */
    done(clmsync(cp, 0, block, CL_MEM_HOST));
    assert_memory_equal(block, table, W * H * sizeof *block);
    clReleaseSampler(sampler);
    works(clfree(table));
    works(clfree(block));
}

static void test_kernel_writes_an_image(void **state)
{
    (void)state;
    need_images();
    cl_float4 *table = new_table(NULL);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        memset(table, 0, W * H * sizeof *table);
        started(clforka(cp, dev, image_kernel("paint"), &pixels, CL_EVENT_NOWAIT, table));
        started(clmsync(cp, dev, table, CL_MEM_HOST | CL_EVENT_NOWAIT));
        done(clwait(cp, dev, CL_ALL_EVENT));
        for (int y = 0; y < H; y++)
            for (int x = 0; x < W; x++) {
                cl_float4 p = table[y * W + x];
                assert_true(p.s[0] == (float)x && p.s[1] == (float)y);
                assert_true(p.s[2] == (float)(10 * x + y) && p.s[3] == 1.0f);
            }
    }
    works(clfree(table));
}

static void test_copy_between_images(void **state)
{
    (void)state;
    need_images();
    cl_float4 *a = new_table(NULL), *b = new_table(NULL);
    number_pixels(a, 5);
    done(clmsync(cp, 0, a, CL_MEM_DEVICE));
    done(clmcopy(cp, 0, a, b, CL_EVENT_WAIT));
    done(clmsync(cp, 0, b, CL_MEM_HOST));
    assert_memory_equal(a, b, W * H * sizeof *a);
    works(clfree(a));
    works(clfree(b));
}

static void test_noforce_of_images(void **state)
{
    (void)state;
    need_images();
    cl_float4 *table = new_table(NULL);
    done(clforka(cp, 0, image_kernel("paint"), &pixels, CL_EVENT_WAIT, table));
    done(clmsync(cp, 0, table, CL_MEM_HOST | CL_MEM_NOFORCE));
    assert_true(table[W + 1].s[2] == 11.0f);
    table[W + 1].s[2] = 0;
    done(clmsync(cp, 0, table, CL_MEM_HOST | CL_MEM_NOFORCE));
    assert_true(table[W + 1].s[2] == 0.0f);
    works(clfree(table));
}

static void test_detached_image_may_be_reshaped(void **state)
{
    (void)state;
    need_images();
    cl_float4 *table = new_table(NULL);
    number_pixels(table, 0);
    done(clmsync(cp, 0, table, CL_MEM_DEVICE));
    works(clmdetach(table));
    assert_true(clmctl(table, CL_MCTL_SET_IMAGE2D, (int)H, (int)W, NULL) >= 0); /* a new shape */
    works(clmattach(cp, table));
    int *out = clmalloc(cp, 2 * sizeof *out, 0);
    ready(out);
    clndrange_t one = clndrange_init1d(0, 1, 1);
    done(clforka(cp, 0, image_kernel("shape"), &one, CL_EVENT_WAIT, table, out));
    done(clmsync(cp, 0, out, CL_MEM_HOST));
    assert_int_equal(out[0], H);
    assert_int_equal(out[1], W);
    works(clfree(table));
    works(clfree(out));
}

static void test_bad_shapes(void **state)
{
    (void)state;
    need_images();
    cl_float4 *table = clmalloc(cp, W * H * sizeof *table, CL_MEM_DETACHED);
    ready(table);
    int on_stack = 0;
    fails(EINVAL, clmctl(table, CL_MCTL_SET_IMAGE2D, W + 1, (int)H, NULL)); /* does not fit */
    fails(EINVAL, clmctl(table, CL_MCTL_SET_IMAGE2D, 0, (int)H, NULL));
    fails(EINVAL, clmctl(table, CL_MCTL_SET_IMAGE2D, (int)W, -1, NULL));
    fails(EINVAL, clmctl(table, CL_MCTL_SET_IMAGE2D, 0x7fffffff, 0x7fffffff, NULL));
    fails(EFAULT, clmctl(&on_stack, CL_MCTL_SET_IMAGE2D, (int)W, (int)H, NULL));
    works(clmattach(cp, table));
    assert_true(clmctl(table, CL_MCTL_SET_IMAGE2D, (int)W, (int)H, NULL) >= 0);
    done(clmsync(cp, 0, table, CL_MEM_DEVICE));
    fails(EBUSY, clmctl(table, CL_MCTL_SET_IMAGE2D, (int)H, (int)W, NULL)); /* a device holds it */
    fails(EINVAL, clarg_set_pointer(image_kernel("unpack"), 0, table + 8)); /* starts inside */
    works(clfree(table));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recipe),
        cmocka_unit_test(test_flag_of_clmalloc),
        cmocka_unit_test(test_bytes_as_pixels),
        cmocka_unit_test(test_images_of_every_kind),
        cmocka_unit_test(test_kernel_writes_an_image_array),
        cmocka_unit_test(test_images_of_another_kind_are_refused),
        cmocka_unit_test(test_bad_shapes_of_other_kinds),
        cmocka_unit_test(test_sampler_of_every_device),
        cmocka_unit_test(test_samplers_are_no_memory),
        cmocka_unit_test(test_sampler_as_argument),
        cmocka_unit_test(test_other_objects_are_refused),
        cmocka_unit_test(test_kernel_writes_an_image),
        cmocka_unit_test(test_copy_between_images),
        cmocka_unit_test(test_noforce_of_images),
        cmocka_unit_test(test_detached_image_may_be_reshaped),
        cmocka_unit_test(test_bad_shapes),
    };
    return cmocka_run_group_tests(tests, image_setup, NULL);
}
