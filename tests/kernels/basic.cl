/* basic.cl - the kernels that most of the layer's tests launch; one work-item per element of x. */
/* SPDX-License-Identifier: MIT */

__kernel void nothing(void)
{
}

__kernel void fill(__global int *x, int value)
{
    x[get_global_id(0)] = value;
}

__kernel void add(__global int *x, int value)
{
    x[get_global_id(0)] += value;
}

__kernel void copy(__global const int *from, __global int *to)
{
    to[get_global_id(0)] = from[get_global_id(0)];
}

/* y = y + a x */
__kernel void axpy(float a, __global const float *x, __global float *y)
{
    y[get_global_id(0)] += a * x[get_global_id(0)];
}

/* Slow enough for a test to observe: each round depends on the previous one, and no compiler can
 * fold several into one. */
__kernel void slow(__global uint *x, int rounds)
{
    uint v = x[get_global_id(0)];
    for (int r = 0; r < rounds; r++) {
        v = v * 1664525u + 1013904223u;
        v ^= v >> 15;
    }
    x[get_global_id(0)] = v;
}

/* Reverses each work-group's part of x through local memory. */
__kernel void reverse(__global int *x, __local int *tile)
{
    size_t i = get_local_id(0), n = get_local_size(0);
    tile[i] = x[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] = tile[n - 1 - i];
}

/* Write 100 z + 10 y + x of the work-item's position in the grid, without its offset. */
__kernel void where(__global int *out)
{
    size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
    size_t i = x - get_global_offset(0);
    i += (y - get_global_offset(1)) * get_global_size(0);
    i += (z - get_global_offset(2)) * get_global_size(0) * get_global_size(1);
    out[i] = (int)(100 * z + 10 * y + x);
}

/* out[0] = local sizes as 10000 z + 100 y + x. */
__kernel void groups(__global int *out)
{
    if (get_global_id(0) + get_global_id(1) + get_global_id(2) == 0)
        out[0] = (int)(10000 * get_local_size(2) + 100 * get_local_size(1) + get_local_size(0));
}
