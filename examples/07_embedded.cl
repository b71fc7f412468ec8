/* 07_embedded.cl - the kernels embedded in 07_embedded.c's executable. */
/* SPDX-License-Identifier: MIT */

__kernel void ramp(__global float *x, float slope)
{
    x[get_global_id(0)] = slope * (float)get_global_id(0);
}

__kernel void negate(__global float *x)
{
    x[get_global_id(0)] = -x[get_global_id(0)];
}
