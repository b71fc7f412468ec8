/* image.cl - kernels that read and write two-dimensional images. */
/* SPDX-License-Identifier: MIT */

__constant sampler_t nearest =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

/* out[y * width + x] = the pixel there */
__kernel void unpack(__read_only image2d_t image, __global float4 *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    out[y * (int)get_global_size(0) + x] = read_imagef(image, nearest, (int2)(x, y));
}

/* The same for an image of unsigned integers. */
__kernel void unpack_u(__read_only image2d_t image, __global uint4 *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    out[y * (int)get_global_size(0) + x] = read_imageui(image, nearest, (int2)(x, y));
}

/* out[0] = the pixel at coordinates that the given sampler understands */
__kernel void sample(__read_only image2d_t image, sampler_t sampler, float2 at,
                     __global float4 *out)
{
    out[0] = read_imagef(image, sampler, at);
}

/* out = { width, height } */
__kernel void shape(__read_only image2d_t image, __global int *out)
{
    out[0] = get_image_width(image);
    out[1] = get_image_height(image);
}

/* pixel (x, y) = (x, y, 10 x + y, 1) */
__kernel void paint(__write_only image2d_t image)
{
    int x = get_global_id(0), y = get_global_id(1);
    write_imagef(image, (int2)(x, y), (float4)(x, y, 10 * x + y, 1));
}

/* out[x] = the pixel of a 1-D image; of element y of an array, out[y * width + x] */
__kernel void unpack_1d(__read_only image1d_t image, __global float4 *out)
{
    int x = get_global_id(0);
    out[x] = read_imagef(image, nearest, x);
}

__kernel void unpack_1d_array(__read_only image1d_array_t image, __global float4 *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    out[y * (int)get_global_size(0) + x] = read_imagef(image, nearest, (int2)(x, y));
}

/* out[(z * height + y) * width + x] = the pixel of element or plane z */
__kernel void unpack_2d_array(__read_only image2d_array_t image, __global float4 *out)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    out[(z * (int)get_global_size(1) + y) * (int)get_global_size(0) + x] =
        read_imagef(image, nearest, (int4)(x, y, z, 0));
}

__kernel void unpack_3d(__read_only image3d_t image, __global float4 *out)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    out[(z * (int)get_global_size(1) + y) * (int)get_global_size(0) + x] =
        read_imagef(image, nearest, (int4)(x, y, z, 0));
}

/* pixel (x, y) of element z = (x, y, z, 2) */
__kernel void paint_2d_array(__write_only image2d_array_t image)
{
    int x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    write_imagef(image, (int4)(x, y, z, 0), (float4)(x, y, z, 2));
}
