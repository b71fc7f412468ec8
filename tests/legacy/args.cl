/* args.cl - sums of one to three arrays of each type, so that a misplaced argument shows. */
/* SPDX-License-Identifier: MIT */
__kernel void test_int_kern(int k, __global int *a0, __global int *a1, __global int *b0)
{
    int i = get_global_id(0);
    b0[i] = k * a0[i] + a1[i];
}

__kernel void test_float4_kern(float4 v, float s, __global float4 *a0, __global float4 *b0)
{
    int i = get_global_id(0);
    b0[i] = s * a0[i] + v;
}

__kernel void test_local_kern(__global float *a0, __global float *b0, __local float *tmp, int n)
{
    int i = get_local_id(0);
    tmp[i] = a0[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0.0f;
    for (int j = 0; j < n; j++)
        sum += tmp[j];
    b0[get_global_id(0)] = sum;
}
