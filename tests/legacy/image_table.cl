/* image_table.cl - a matrix times a vector, each term weighted by a table that is an image. */
/* SPDX-License-Identifier: MIT */
const sampler_t sampler =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;

__kernel void matvecmult_table_kern(uint n, __global float *aa, __global float *b,
                                    __global float *c, __read_only image2d_t table)
{
    int i = get_global_id(0);
    float tmp = 0.0f;
    for (int j = 0; j < n; j++) {
        float4 w = read_imagef(table, sampler, (int2)(i % 24, j % 24));
        tmp += w.x * aa[i * n + j] * b[j];
    }
    c[i] = tmp;
}
