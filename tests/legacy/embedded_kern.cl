/* embedded_kern.cl - becomes part of the program embedded.c. */
/* SPDX-License-Identifier: MIT */
#include <stdcl.h>

__kernel void matvecmult_kern(uint n, __global float *aa, __global float *b, __global float *c)
{
    int i = get_global_id(0);
    float tmp = 0.0f;
    for (int j = 0; j < n; j++)
        tmp += aa[i * n + j] * b[j];
    c[i] = tmp;
}

__kernel void zero_kern(__global float4 *c)
{
    c[get_global_id(0)] = __builtin_vector_float4(0.0f, 0.0f, 0.0f, 0.0f);
}
