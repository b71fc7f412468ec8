/* pack.cl - packing of unaligned operands, and C = beta C.
 *
 *   matmul_pack copies two matrices, in one launch, from rows of any length at any place to rows of
 *   `to_ld` elements, with zeros past the end of a row and in rows past the last:
 *
 *        from:  . . . . . . .           to:  . . . . . . . 0
 *               . . . . . . .                . . . . . . . 0       to_rows >= rows, to_ld >= cols
 *                                            0 0 0 0 0 0 0 0
 *   It takes O(n^2) time before a product of O(n^3), whose copies of 16 bytes need aligned rows.
 *
 *   matmul_scale computes C = beta C, the product for alpha = 0 or k = 0.
 * SPDX-License-Identifier: MIT
 */
#ifdef DOUBLES
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define T double
#else
#define T float
#endif
/* Rows of the result that an item fills: several reads are in flight. */
#define PACK_ROWS 4

static void pack_rows(__global const T *from, ulong at, ulong ld, int rows, int cols,
                      __global T *to, ulong to_at, int to_rows, int to_ld, int group)
{
    const int across = (to_ld + (int)get_local_size(0) - 1) / (int)get_local_size(0);
    const int j = group % across * (int)get_local_size(0) + (int)get_local_id(0);
    const int i0 = group / across * PACK_ROWS;
    T x[PACK_ROWS];
    if (j >= to_ld)
        return;
#pragma unroll
    for (int r = 0; r < PACK_ROWS; r++)
        x[r] = i0 + r < rows && j < cols ? from[at + (ulong)(i0 + r) * ld + j] : (T)0;
#pragma unroll
    for (int r = 0; r < PACK_ROWS; r++)
        if (i0 + r < to_rows)
            to[to_at + (ulong)(i0 + r) * to_ld + j] = x[r];
}

/* Groups below `groups_a` pack A, the others B. */
__kernel void matmul_pack(int groups_a, __global const T *a, ulong a0, ulong lda, int rows_a,
                          int cols_a, ulong to_a, int to_rows_a, int to_lda, __global const T *b,
                          ulong b0, ulong ldb, int rows_b, int cols_b, ulong to_b, int to_rows_b,
                          int to_ldb, __global T *to)
{
    const int group = (int)get_group_id(0);
    if (group < groups_a)
        pack_rows(a, a0, lda, rows_a, cols_a, to, to_a, to_rows_a, to_lda, group);
    else
        pack_rows(b, b0, ldb, rows_b, cols_b, to, to_b, to_rows_b, to_ldb, group - groups_a);
}

__kernel void matmul_scale(int n, T beta, __global T *c, ulong c0, ulong ldc)
{
    const ulong at = c0 + get_global_id(1) * ldc + get_global_id(0);
    if (get_global_id(0) < (size_t)n)
        c[at] = beta == 0 ? (T)0 : beta * c[at];
}
