/* mma.cl - C = alpha op(A) op(B) + beta C in double precision on NVIDIA's tensor cores.
 *
 *   mma.sync.m16n8k8 multiplies 16 x 8 by 8 x 8. With g = lane / 4 and t = lane % 4 a lane holds (PTX ISA,
 *   fragments of mma.m16n8k8 with .f64)
 *       a0 = A[g][t]   a1 = A[g + 8][t]   a2 = A[g][t + 4]   a3 = A[g + 8][t + 4]
 *       b0 = B[t][g]   b1 = B[t + 4][g]
 *       c0 = C[g][2t]  c1 = C[g][2t + 1]  c2 = C[g + 8][2t]  c3 = C[g + 8][2t + 1]
 *   A slice lies in local memory as its operand does in memory, so that 16 bytes can be copied at once, but
 *   permuted, so that the 16 lanes that are served together read 16 different pairs of banks:
 *       k innermost:  [BK / 8][i][8], the 16-byte word w of row i at w ^ (i & 2)
 *       i innermost:  [BK][i], element i of row k at i ^ (k & 3) * 4
 *   Loads of 16 bytes, with rows and depth renumbered for them, were measured to be 15 % slower (H200).
 *
 * For the tiles, the pipeline and the knobs see tile.cl, which comes before this file.
 * SPDX-License-Identifier: MIT
 */
#define RUN 2
#ifndef MATMUL_TILE
#define DOUBLES
#include "tile.cl"
#endif

/* ---- Slices. ----------------------------------------------------------------------------------- */

#define SLICE_A (BK * BM)
#define SLICE_B (BK * BN)
#define STEP_A (WIDE_A ? 2 : 1) /* elements that one copy brings */
#define STEP_B (WIDE_B ? 2 : 1)
#define COPIES_A (BK * BM / STEP_A / THREADS) /* of one item */
#define COPIES_B (BK * BN / STEP_B / THREADS)
#define COPIES (COPIES_A + COPIES_B)

static int place_of(int k, int i, int along_k, int span)
{
    return along_k ? ((k >> 3) * span + i) * 8 + (((k & 7) >> 1 ^ (i & 2)) << 1 | (k & 1))
                   : k * span + (i ^ (k & 3) << 2);
}

/* Which element copy w of a slice starts at. */
static int copy_k(int w, int along_k, int step, int span)
{
    return along_k ? w % (BK / step) * step : w / (span / step);
}

static int copy_i(int w, int along_k, int step, int span)
{
    return along_k ? w / (BK / step) : w % (span / step) * step;
}

/* Where an item's copies come from and go to. `exist`: how many i exist in this tile; copies beyond repeat
 * the last one, and what comes of them is never stored. */
static void plan_copies(int *offset, int *place, int copies, int step, int along_k, int span, int ld, int exist,
                        int thread)
{
#pragma unroll
    for (int c = 0; c < copies; c++) {
        const int w = thread + c * THREADS, k = copy_k(w, along_k, step, span);
        const int i = copy_i(w, along_k, step, span), from = min(i, along_k ? exist - 1 : (exist - 1) / step * step);
        place[c] = place_of(k, i, along_k, span);
        offset[c] = along_k ? from * ld + k : k * ld + from;
    }
}

/* ---- Fragments. -------------------------------------------------------------------------------- */

#define ROWS (WM / 16) /* fragments down a warp's part of C; an even number */
#define COLS (WN / 8)  /* and across */

/* a0, a1, a2, a3 of fragment row r, in step k of a slice. */
static void fill_a(double *av, __local const double *at, int k, int r, int wm, int lane)
{
    const int g = lane >> 2, t = lane & 3;
#pragma unroll
    for (int e = 0; e < 4; e++)
        av[e] = at[place_of(k + e / 2 * 4 + t, wm + r * 16 + e % 2 * 8 + g, !TRANS_A, BM)];
}

/* b0, b1 of fragment column c. */
static void fill_b(double *bv, __local const double *bt, int k, int c, int wn, int lane)
{
    const int g = lane >> 2, t = lane & 3;
#pragma unroll
    for (int e = 0; e < 2; e++)
        bv[e] = bt[place_of(k + e * 4 + t, wn + c * 8 + g, TRANS_B, BN)];
}

/* s += A's fragment x B's. The portable version, which is for tests, goes by way of local memory. */
#if PTX
static void multiply(double *s, const double *av, const double *bv, __local double *exchange, int thread)
{
    __asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
                   "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+d"(s[0]), "+d"(s[1]), "+d"(s[2]), "+d"(s[3])
                   : "d"(av[0]), "d"(av[1]), "d"(av[2]), "d"(av[3]), "d"(bv[0]), "d"(bv[1]));
}
#else
static void multiply(double *s, const double *av, const double *bv, __local double *exchange, int thread)
{
    const int lane = thread & 31, g = lane >> 2, t = lane & 3;
    __local double *a = exchange + (thread >> 5) * 192, *b = a + 128; /* A [16][8], B [8][8] of this warp */
    for (int r = 0; r < 4; r++)
        a[(g + r % 2 * 8) * 8 + t + r / 2 * 4] = av[r];
    for (int r = 0; r < 2; r++)
        b[(t + r * 4) * 8 + g] = bv[r];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = 0; r < 4; r++)
        for (int k = 0; k < 8; k++)
            s[r] = fma(a[(g + r / 2 * 8) * 8 + k], b[k * 8 + 2 * t + r % 2], s[r]);
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

/* ---- The product. ------------------------------------------------------------------------------ */

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void
matmul_mma(int m, int n, int k, double alpha, __global const double *restrict a, ulong a0, int lda,
           __global const double *restrict b, ulong b0, int ldb, double beta, __global double *c, ulong c0,
           int ldc, int whole, int splits, __global double *partial, ulong partial0, __global uint *counter)
{
    __local double as[STAGES * SLICE_A] __attribute__((aligned(128)));
    __local double bs[STAGES * SLICE_B] __attribute__((aligned(128)));
#if PTX
    __local double *exchange = as; /* unused */
#else
    __local double exchange[THREADS * 6];
#endif

    const struct work work = work_of((int)get_group_id(0), k, whole, splits);
    const int2 corner = tile_corner(work.tile, m, n);
    const int row = corner.x, col = corner.y;
    const int thread = (int)get_local_id(0), lane = thread & 31, warp = thread >> 5;
    const int wm = warp / (BN / WN) * WM, wn = warp % (BN / WN) * WN;

    a += a0 + (TRANS_A ? (size_t)work.k0 * lda + row : (size_t)row * lda + work.k0);
    b += b0 + (TRANS_B ? (size_t)col * ldb + work.k0 : (size_t)work.k0 * ldb + col);
    const size_t advance_a = TRANS_A ? (size_t)BK * lda : BK, advance_b = TRANS_B ? BK : (size_t)BK * ldb;
    const int depth = work.k1 - work.k0, slices = (depth + BK - 1) / BK;

    int offset_a[COPIES_A], place_a[COPIES_A], offset_b[COPIES_B], place_b[COPIES_B];
    plan_copies(offset_a, place_a, COPIES_A, STEP_A, !TRANS_A, BM, lda, m - row, thread);
    plan_copies(offset_b, place_b, COPIES_B, STEP_B, TRANS_B, BN, ldb, n - col, thread);

    double sum[ROWS * COLS * 4];
#pragma unroll
    for (int r = 0; r < ROWS * COLS * 4; r++)
        sum[r] = 0;

    /* The next slice to ask for, and the slot it goes to. Asking does not stop at the last slice, which
     * keeps branches out of the loop; it repeats that one, and nobody reads it. */
    int asked = 0, slot = 0;
#define COPY(q)                                                                                              \
    do {                                                                                                     \
        if ((q) < COPIES_A)                                                                                  \
            copy_part(as + slot * SLICE_A, a, offset_a[q], place_a[q], STEP_A, !TRANS_A,                     \
                      depth - asked * BK - copy_k(thread + (q) * THREADS, !TRANS_A, STEP_A, BM));            \
        else                                                                                                 \
            copy_part(bs + slot * SLICE_B, b, offset_b[(q) - COPIES_A], place_b[(q) - COPIES_A], STEP_B,     \
                      TRANS_B, depth - asked * BK -                                                          \
                      copy_k(thread + ((q) - COPIES_A) * THREADS, TRANS_B, STEP_B, BN));                     \
    } while (0)
#define ASKED()                                  \
    do {                                         \
        COMMIT();                                \
        const int more = asked + 1 < slices;     \
        a += more ? advance_a : 0;               \
        b += more ? advance_b : 0;               \
        asked += more;                           \
        slot = slot + 1 < STAGES ? slot + 1 : 0; \
    } while (0)

    for (int s = 0; s < STAGES; s++) {
#pragma unroll
        for (int q = 0; q < COPIES; q++)
            COPY(q);
        ASKED();
    }
    AWAIT(STAGES - 1);
    barrier(CLK_LOCAL_MEM_FENCE);

    double av[2][4], bv[2][COLS * 2];
#pragma unroll
    for (int j = 0; j < COLS; j++)
        fill_b(bv[0] + 2 * j, bs, 0, j, wn, lane);
    fill_a(av[0], as, 0, 0, wm, lane);

    /* A is fetched one row of fragments ahead, B one step ahead, into the registers that are not in use.
     * All that is not a product stands between products, of which a tensor core takes one in 32 cycles;
     * behind the barrier in the last step, which says that everybody has read the last of this slice and
     * that the next one is there, the copies too. */
    int here = 0; /* the slot that is multiplied */
#define SLICE(odd)                                                                                           \
    do {                                                                                                     \
        const int next = here + 1 < STAGES ? here + 1 : 0;                                                   \
        _Pragma("unroll") for (int step = 0; step < BK / 8; step++)                                          \
        {                                                                                                    \
            const int now = (step + odd) & 1, last = step == BK / 8 - 1;                                     \
            __local const double *at = as + here * SLICE_A;                                                  \
            __local const double *an = as + (last ? next : here) * SLICE_A;                                  \
            __local const double *bn = bs + (last ? next : here) * SLICE_B;                                  \
            const int then = last ? 0 : (step + 1) * 8;                                                      \
            _Pragma("unroll") for (int i = 0; i < ROWS; i++)                                                 \
            {                                                                                                \
                if (i < ROWS - 1)                                                                            \
                    fill_a(av[(i + 1) & 1], at, step * 8, i + 1, wm, lane);                                  \
                if (i == ROWS - 2 && last) {                                                                 \
                    AWAIT(STAGES - 2);                                                                       \
                    barrier(CLK_LOCAL_MEM_FENCE);                                                            \
                }                                                                                            \
                _Pragma("unroll") for (int j = 0; j < COLS; j++)                                             \
                {                                                                                            \
                    const int turn = (i - (ROWS - 2)) * COLS + j; /* of the last two rows */                 \
                    multiply(sum + (i * COLS + j) * 4, av[i & 1], bv[now] + 2 * j, exchange, thread);        \
                    if (i == ROWS - 2)                                                                       \
                        fill_b(bv[now ^ 1] + 2 * j, bn, then, j, wn, lane);                                  \
                    if (i == ROWS - 1 && j == 0)                                                             \
                        fill_a(av[(i + 1) & 1], an, then, 0, wm, lane);                                      \
                    if (last && turn >= 0)                                                                   \
                        _Pragma("unroll") for (int q = turn * COPIES / (2 * COLS);                           \
                                               q < (turn + 1) * COPIES / (2 * COLS); q++) COPY(q);           \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
        ASKED();                                                                                             \
        here = next;                                                                                         \
    } while (0)

#if BK / 8 % 2 == 0
    for (int s = 0; s < slices; s++)
        SLICE(0);
#else
    for (int s = 0; s < slices; s += 2) {
        SLICE(0);
        if (s + 1 < slices)
            SLICE(1);
    }
#endif

    if (SPLIT && work.parts > 1 && !join_parts(work, sum, ROWS * COLS * 4, partial + partial0, counter, (__local uint *)as, thread))
        return;
    const int g = lane >> 2, t = lane & 3;
#pragma unroll
    for (int r = 0; r < ROWS * 2; r++) { /* row r / 2 of fragments, its upper or lower half */
        const int y = row + wm + r / 2 * 16 + r % 2 * 8 + g;
#pragma unroll
        for (int j = 0; j < COLS; j++) {
            const double *s = sum + (r / 2 * COLS + j) * 4 + r % 2 * 2;
            const int x = col + wn + j * 8 + 2 * t;
            if (y < m && x < n)
                store_run(c + c0 + (size_t)y * ldc + x, (double2)(s[0], s[1]), alpha, beta, n - x);
        }
    }
}
