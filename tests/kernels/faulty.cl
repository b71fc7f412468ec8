/* faulty.cl - kernels with errors that no device reports; test_check_program names their lines.
 * SPDX-License-Identifier: MIT */
kernel void past_the_end(global int *x, global const int *y)
{
    const int i = get_global_id(0);
    x[i + 1] = y[i];
}

kernel void race(global int *x, global const int *y)
{
    x[0] = y[get_global_id(0)];
}

kernel void unwritten(global int *x, global const int *y)
{
    int sum;
    if (y[0] > 0)
        sum = y[1];
    x[get_global_id(0)] = sum;
}

kernel void no_fault(global int *x, global const int *y)
{
    local int tile[4];
    tile[get_local_id(0)] = y[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    x[get_global_id(0)] = tile[3 - get_local_id(0)];
}
