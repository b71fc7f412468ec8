/* image.c - shapes of image blocks.
 *
 *   type       extent in pixels        host region
 *   1-D        w, 1, 1                 w pixels
 *   1-D array  w, elements, 1          one row after another, without padding
 *   2-D        w, h, 1                 likewise
 *   2-D array  w, h, elements          one 2-D image after another
 *   3-D        w, h, d                 likewise
 * SPDX-License-Identifier: MIT
 */
#include "core/memory.h"

static size_t pixel_bytes(const cl_image_format *f)
{
    size_t channels, bytes;
    switch (f->image_channel_order) {
    case CL_R:
    case CL_A:
    case CL_INTENSITY:
    case CL_LUMINANCE:
    case CL_DEPTH:
        channels = 1;
        break;
    case CL_RG:
    case CL_RA:
        channels = 2;
        break;
    case CL_RGB:
        channels = 3;
        break;
    default:
        channels = 4;
        break;
    }
    switch (f->image_channel_data_type) {
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8:
        bytes = 1;
        break;
    case CL_SNORM_INT16:
    case CL_UNORM_INT16:
    case CL_SIGNED_INT16:
    case CL_UNSIGNED_INT16:
    case CL_HALF_FLOAT:
        bytes = 2;
        break;
    case CL_UNORM_SHORT_565:
    case CL_UNORM_SHORT_555:
        return 2;
    case CL_UNORM_INT_101010:
        return 4;
    default:
        bytes = 4;
        break;
    }
    return channels * bytes;
}

bool image_region(const cl_image_desc *shape, size_t region[3])
{
    region[0] = shape->image_width;
    region[1] = region[2] = 1;
    switch (shape->image_type) {
    case CL_MEM_OBJECT_IMAGE1D:
        break;
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
        region[1] = shape->image_array_size;
        break;
    case CL_MEM_OBJECT_IMAGE2D:
        region[1] = shape->image_height;
        break;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
        region[1] = shape->image_height;
        region[2] = shape->image_array_size;
        break;
    case CL_MEM_OBJECT_IMAGE3D:
        region[1] = shape->image_height;
        region[2] = shape->image_depth;
        break;
    default:
        return false;
    }
    return region[0] && region[1] && region[2];
}

/* Compute the bytes of an image; false if they overflow. */
static bool image_bytes(const size_t region[3], const cl_image_format *format, size_t *bytes)
{
    *bytes = pixel_bytes(format);
    for (int i = 0; i < 3; i++)
        if (__builtin_mul_overflow(*bytes, region[i], bytes))
            return false;
    return true;
}

/* The members of a shape that its type uses. */
static cl_image_desc plain_shape(const cl_image_desc *shape)
{
    const cl_mem_object_type type = shape->image_type;
    const bool array = type == CL_MEM_OBJECT_IMAGE1D_ARRAY || type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    const bool line = type == CL_MEM_OBJECT_IMAGE1D || type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    return (cl_image_desc){
        .image_type = type,
        .image_width = shape->image_width,
        .image_height = line ? 0 : shape->image_height,
        .image_depth = type == CL_MEM_OBJECT_IMAGE3D ? shape->image_depth : 0,
        .image_array_size = array ? shape->image_array_size : 0,
    };
}

static int check_shape(const struct memory *m, const cl_image_desc *shape)
{
    if (m->flags & (CL_MEM_ZEROCOPY | CL_MEM_DEVONLY | CL_MEM_SAMPLER | CL_MEM_SVM))
        return fail(
            EINVAL, 0,
            "clmctl: a zero-copy, device-only or shared block or a sampler cannot become an "
            "image");
    if (!shape)
        return fail(EINVAL, 0, "clmctl: the image's description is NULL");
    if (shape->image_row_pitch || shape->image_slice_pitch || shape->num_mip_levels ||
        shape->num_samples || shape->mem_object)
        return fail(EINVAL, 0,
                    "clmctl: pitches, mip levels, samples and buffer of an image must be 0");
    return 0;
}

int image_set(struct memory *m, const cl_image_desc *shape, const cl_image_format *format)
{
    const cl_image_format f = format ? *format : (cl_image_format){CL_RGBA, CL_FLOAT};
    size_t region[3], bytes;
    if (check_shape(m, shape) != 0)
        return -1;
    if (!image_region(shape, region))
        return fail(EINVAL, 0,
                    "clmctl: an image of type 0x%x with %zu x %zu x %zu pixels; give 1-D, 2-D, 3-D "
                    "or an array of 1-D or 2-D, and extents > 0",
                    shape->image_type, region[0], region[1], region[2]);
    if (!image_bytes(region, &f, &bytes) || bytes > m->size)
        return fail(EINVAL, 0,
                    "clmctl: %zu x %zu x %zu pixels of %zu bytes do not fit the block's %zu bytes",
                    region[0], region[1], region[2], pixel_bytes(&f), m->size);
    m->flags |= CL_MEM_IMAGE;
    m->shape = plain_shape(shape);
    m->format = f;
    memory_new_epoch();
    return 0;
}

cl_int image_query(struct memory *m, cl_mem image)
{
    cl_image_desc all = {0};
    size_t element = 0, region[3];
    const struct {
        cl_image_info what;
        size_t *to;
    } asked[] = {
        {CL_IMAGE_WIDTH, &all.image_width}, {CL_IMAGE_HEIGHT, &all.image_height},
        {CL_IMAGE_DEPTH, &all.image_depth}, {CL_IMAGE_ARRAY_SIZE, &all.image_array_size},
        {CL_IMAGE_ELEMENT_SIZE, &element},
    };
    cl_int err =
        clGetMemObjectInfo(image, CL_MEM_TYPE, sizeof all.image_type, &all.image_type, NULL);
    if (err == CL_SUCCESS)
        err = clGetImageInfo(image, CL_IMAGE_FORMAT, sizeof m->format, &m->format, NULL);
    for (size_t i = 0; i < sizeof asked / sizeof *asked && err == CL_SUCCESS; i++)
        err = clGetImageInfo(image, asked[i].what, sizeof *asked[i].to, asked[i].to, NULL);
    if (err != CL_SUCCESS)
        return err;
    if (!image_region(&all, region) || region[0] * region[1] * region[2] * element != m->size)
        return CL_INVALID_IMAGE_SIZE;
    m->flags |= CL_MEM_IMAGE;
    m->shape = plain_shape(&all);
    return CL_SUCCESS;
}
