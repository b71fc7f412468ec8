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
 * the last one, and what comes of them is never stored. Places a constant apart cost no registers. */
static void plan_copies(int *offset, int *place, int copies, int step, int along_k, int span, int ld, int exist,
                        int thread)
{
    const int across = along_k ? BK / step : span / step; /* copies of one row of the slice */
    const int apart = THREADS % across == 0 && THREADS / across % 4 == 0 ? THREADS / across * (along_k ? 8 : span) : 0;
#pragma unroll
    for (int c = 0; c < copies; c++) {
        const int w = thread + c * THREADS, k = copy_k(w, along_k, step, span);
        const int i = copy_i(w, along_k, step, span), from = min(i, along_k ? exist - 1 : (exist - 1) / step * step);
        place[c] = c && apart ? place[0] + c * apart : place_of(k, i, along_k, span);
        offset[c] = along_k ? from * ld + k : k * ld + from;
    }
}

/* ---- Fragments. -------------------------------------------------------------------------------- */

#define ROWS (WM / 16) /* fragments down a warp's part of C; an even number */
#define COLS (WN / 8)  /* and across */

/* A lane reads from two places in a slice and at constant distances from them: with k innermost they differ
 * by 4 in k, otherwise by 8 in i, which is what the permutation turns about. */
static int base_of(int which, int along_k, int span, int from, int lane)
{
    const int g = lane >> 2, t = lane & 3;
    return along_k ? place_of(which * 4 + t, from + g, 1, span) : place_of(t, from + which * 8 + g, 0, span);
}

/* What lane (g, t) holds of k = step * 8 + quad * 4 + t and i = eighth * 8 + g, counted from the warp's own. */
static double element(__local const double *base0, __local const double *base1, int step, int quad, int eighth,
                      int along_k, int span)
{
    return along_k ? (quad ? base1 : base0)[(step * span + eighth * 8) * 8]
                   : (eighth % 2 ? base1 : base0)[(step * 8 + quad * 4) * span + eighth / 2 * 16];
}

/* a0, a1, a2, a3 of fragment row r, in a step of a slice. */
static void fill_a(double *av, __local const double *base0, __local const double *base1, int step, int r)
{
#pragma unroll
    for (int e = 0; e < 4; e++)
        av[e] = element(base0, base1, step, e / 2, 2 * r + e % 2, !TRANS_A, BM);
}

/* b0, b1 of fragment column c. */
static void fill_b(double *bv, __local const double *base0, __local const double *base1, int step, int c)
{
#pragma unroll
    for (int e = 0; e < 2; e++)
        bv[e] = element(base0, base1, step, e, c, TRANS_B, BN);
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

    /* The next slice to ask for, and the slot it goes to. With a TAIL, copies that are `late` may find that there
     * is no further slice, or that the last one is shorter; the others do not look. Without, asking does not stop
     * at the last slice, which keeps branches out of the loop; it repeats that one, and nobody reads it. */
    int asked = 0, slot = 0;
#define COPY(q, late)                                                                                        \
    do {                                                                                                     \
        if (TAIL && (late) && asked >= slices)                                                               \
            ;                                                                                                \
        else if ((q) < COPIES_A)                                                                             \
            copy_part(as + slot * SLICE_A, a, offset_a[q], place_a[q], STEP_A, !TRANS_A, TAIL && (late),     \
                      depth - asked * BK - copy_k(thread + (q) * THREADS, !TRANS_A, STEP_A, BM));            \
        else                                                                                                 \
            copy_part(bs + slot * SLICE_B, b, offset_b[(q) - COPIES_A], place_b[(q) - COPIES_A], STEP_B,     \
                      TRANS_B, TAIL && (late), depth - asked * BK -                                          \
                      copy_k(thread + ((q) - COPIES_A) * THREADS, TRANS_B, STEP_B, BN));                     \
    } while (0)
#define ASKED()                                      \
    do {                                             \
        COMMIT();                                    \
        const int more = TAIL || asked + 1 < slices; \
        a += more ? advance_a : 0;                   \
        b += more ? advance_b : 0;                   \
        asked += more;                               \
        slot = slot + 1 < STAGES ? slot + 1 : 0;     \
    } while (0)

    for (int first = 0; first < STAGES; first++) {
#pragma unroll
        for (int q = 0; q < COPIES; q++)
            COPY(q, 1);
        ASKED();
    }
    AWAIT(STAGES - 1);
    barrier(CLK_LOCAL_MEM_FENCE);

    double av[2][4], bv[2][COLS * 2];
    __local const double *const a0s = as + base_of(0, !TRANS_A, BM, wm, lane);
    __local const double *const a1s = as + base_of(1, !TRANS_A, BM, wm, lane);
    __local const double *const b0s = bs + base_of(0, TRANS_B, BN, wn, lane);
    __local const double *const b1s = bs + base_of(1, TRANS_B, BN, wn, lane);
#pragma unroll
    for (int j = 0; j < COLS; j++)
        fill_b(bv[0] + 2 * j, b0s, b1s, 0, j);
    fill_a(av[0], a0s, a1s, 0, 0);

    /* A is fetched one row of fragments ahead, B one step ahead, into the registers that are not in use.
     * All that is not a product stands between products, of which a tensor core takes one in 32 cycles;
     * behind the barrier in the last step, which says that everybody has read the last of this slice and
     * that the next one is there, the copies too. */
    int here = 0, s = 0; /* the slot that is multiplied; the slice that lies there */
#define SLICE(odd, late)                                                                                     \
    do {                                                                                                     \
        const int next = here + 1 < STAGES ? here + 1 : 0;                                                   \
        _Pragma("unroll") for (int step = 0; step < BK / 8; step++)                                          \
        {                                                                                                    \
            const int now = (step + odd) & 1, last = step == BK / 8 - 1;                                     \
            const int at = here * SLICE_A, an = (last ? next : here) * SLICE_A;                              \
            const int bn = (last ? next : here) * SLICE_B, then = last ? 0 : step + 1;                       \
            _Pragma("unroll") for (int i = 0; i < ROWS; i++)                                                 \
            {                                                                                                \
                if (i < ROWS - 1)                                                                            \
                    fill_a(av[(i + 1) & 1], a0s + at, a1s + at, step, i + 1);                                \
                if (i == ROWS - 2 && last) {                                                                 \
                    AWAIT(STAGES - 2);                                                                       \
                    barrier(CLK_LOCAL_MEM_FENCE);                                                            \
                }                                                                                            \
                _Pragma("unroll") for (int j = 0; j < COLS; j++)                                             \
                {                                                                                            \
                    const int turn = (i - (ROWS - 2)) * COLS + j; /* of the last two rows */                 \
                    multiply(sum + (i * COLS + j) * 4, av[i & 1], bv[now] + 2 * j, exchange, thread);        \
                    if (i == ROWS - 2)                                                                       \
                        fill_b(bv[now ^ 1] + 2 * j, b0s + bn, b1s + bn, then, j);                            \
                    if (i == ROWS - 1 && j == 0)                                                             \
                        fill_a(av[(i + 1) & 1], a0s + an, a1s + an, then, 0);                                \
                    if (last && turn >= 0)                                                                   \
                        _Pragma("unroll") for (int q = turn * COPIES / (2 * COLS);                           \
                                               q < (turn + 1) * COPIES / (2 * COLS); q++) COPY(q, late);     \
                }                                                                                            \
            }                                                                                                \
        }                                                                                                    \
        ASKED();                                                                                             \
        here = next;                                                                                         \
    } while (0)

    /* The registers of B change places in every step, so that slices of an odd number of steps go in pairs. */
#define PAIR (BK / 8 % 2 + 1)
#if TAIL && PTX /* twice the barriers of the portable version take PoCL too long */
    for (; asked + PAIR < slices; s += PAIR) {
        SLICE(0, 0);
#if PAIR == 2
        SLICE(1, 0);
#endif
    }
#endif
    for (; s < slices; s += PAIR) {
        SLICE(0, 1);
#if PAIR == 2
        if (s + 1 < slices)
            SLICE(1, 1);
#endif
    }

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
