/* baseline.cl - the baseline kernels: one work-item for each element (NAIVE), then square tiles in
 * local memory (BLOCKED).
 *
 *   Both compute C = alpha op(A) op(B) + beta C. Element (i, x) of op(A) is at a0 + i * a_row +
 *   x * a_col, element (x, j) of op(B) at b0 + x * b_row + j * b_col. A transposed operand has its
 *   strides exchanged.
 * SPDX-License-Identifier: MIT
 */
#ifdef DOUBLES
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define T double
#else
#define T float
#endif

static T scaled_result(T sum, T alpha, T beta, __global const T *c)
{
    return beta == 0 ? alpha * sum : alpha * sum + beta * *c;
}

/* Each item reads a row of op(A) and a column of op(B) from global memory: 2 k reads for k
 * multiply-adds. */
__kernel void matmul_naive(int m, int n, int k, T alpha, __global const T *a, ulong a0, ulong a_row,
                           ulong a_col, __global const T *b, ulong b0, ulong b_row, ulong b_col,
                           T beta, __global T *c, ulong c0, ulong ldc)
{
    const int j = (int)get_global_id(0), i = (int)get_global_id(1);
    if (i >= m || j >= n)
        return;
    T sum = 0;
    for (int x = 0; x < k; x++)
        sum += a[a0 + i * a_row + x * a_col] * b[b0 + x * b_row + j * b_col];
    c += c0 + i * ldc + j;
    *c = scaled_result(sum, alpha, beta, c);
}

/* A group of block x block items computes a block of C. It copies one block of each operand into
 * local memory, where `block` items read each number: an item reads 2 k / block numbers from global
 * memory.
 *
 *      at[y][x] = op(A)[row + y][s + x]          bt[x][y] = op(B)[s + y][col + x]
 *
 * B's block is stored transposed, so that the inner loop runs along rows of both. The host
 * allocates the local memory, block * block elements for each operand, since the size of a block is
 * known at run time only. */
__kernel void matmul_blocked(int m, int n, int k, T alpha, __global const T *a, ulong a0,
                             ulong a_row, ulong a_col, __global const T *b, ulong b0, ulong b_row,
                             ulong b_col, T beta, __global T *c, ulong c0, ulong ldc, __local T *at,
                             __local T *bt)
{
    const int block = (int)get_local_size(0), x = (int)get_local_id(0), y = (int)get_local_id(1);
    const int i = (int)get_global_id(1), j = (int)get_global_id(0);
    T sum = 0;
    for (int s = 0; s < k; s += block) {
        at[y * block + x] = i < m && s + x < k ? a[a0 + i * a_row + (s + x) * a_col] : (T)0;
        bt[x * block + y] = j < n && s + y < k ? b[b0 + (s + y) * b_row + j * b_col] : (T)0;
        barrier(CLK_LOCAL_MEM_FENCE); /* both blocks are complete */
        for (int z = 0; z < block; z++)
            sum += at[y * block + z] * bt[x * block + z];
        barrier(CLK_LOCAL_MEM_FENCE); /* all items have read them */
    }
    if (i < m && j < n) {
        c += c0 + i * ldc + j;
        *c = scaled_result(sum, alpha, beta, c);
    }
}
