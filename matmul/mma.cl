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

/* Where copy w of a slice comes from and goes to, and how deep in the slice it starts. `exist`: how many i exist in
 * this tile; copies beyond repeat the last one, and what comes of them is never stored. */
static int copy_plan(int w, int along_k, int step, int span, int ld, int exist, int *offset, int *place)
{
    const int k = along_k ? w % (BK / step) * step : w / (span / step);
    const int i = along_k ? w / (BK / step) : w % (span / step) * step;
    const int from = min(i, along_k ? exist - 1 : (exist - 1) / step * step);
    *place = place_of(k, i, along_k, span);
    *offset = along_k ? from * ld + k : k * ld + from;
    return k;
}

/* All copies of an item. Places a constant apart cost no registers. */
static void plan_copies(int *offset, int *place, int copies, int step, int along_k, int span, int ld, int exist,
                        int thread)
{
    const int across = along_k ? BK / step : span / step; /* copies of one row of the slice */
    const int apart = THREADS % across == 0 && THREADS / across % 4 == 0 ? THREADS / across * (along_k ? 8 : span) : 0;
#pragma unroll
    for (int c = 0; c < copies; c++) {
        copy_plan(thread + c * THREADS, along_k, step, span, ld, exist, offset + c, place + c);
        place[c] = c && apart ? place[0] + c * apart : place[c];
    }
}

/* An item's copies of a slice that may be short, where `left` is left of the depth: what does not exist becomes 0. */
static void copy_short(__local double *slot, __global const double *slice, int copies, int step, int along_k, int span,
                       int ld, int exist, int left, int thread)
{
#pragma unroll 1
    for (int c = 0; c < copies; c++) {
        int offset, place;
        const int k = copy_plan(thread + c * THREADS, along_k, step, span, ld, exist, &offset, &place);
        const int valid = along_k ? clamp(left - k, 0, step) : left > k ? step : 0;
        copy(slot + place, valid ? slice + offset : slice, step, valid);
    }
}

/* One copy if its slice is whole, and none otherwise: with a predicate, since a branch would keep the compiler from
 * mixing copies and products. */
static void copy_whole(__local double *to, __global const double *from, int step, int whole)
{
#if ASYNC
    const uint place = (uint)(size_t)to;
    if (step == 2)
        __asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16; }"
                       ::"r"(place), "l"(from), "r"(whole));
    else
        __asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p cp.async.ca.shared.global [%0], [%1], 8; }"
                       ::"r"(place), "l"(from), "r"(whole));
#endif
}

/* A number that stays in a register: NVIDIA's compiler would fetch what comes from a parameter again in every
 * slice, into a register that a product still reads. */
static int kept(int x)
{
#if PTX
    __asm volatile("shfl.sync.idx.b32 %0, %0, 0, 31, 0xffffffff;" : "+r"(x));
#endif
    return x;
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

/* ---- The order of things. ---------------------------------------------------------------------- */

/* A slice is BK / 8 steps of ROWS x COLS products of fragments, of which a tensor core takes one in 32 cycles. What
 * else there is to do stands between them:
 *
 *     product  0         COPIES 2 at a time, to the slot of the slice before: the barrier has freed it
 *        :               A, two rows of fragments ahead; B, one step ahead
 *     product  BARRIER   all have read the last of this slice, and the next one is there
 *        :               the first of the next slice
 *
 * The body of the loop is as many slices as bring slots and registers back to where they were, so that all
 * places are known to the compiler and nothing but pointers is computed. */
#define STEPS (BK / 8)
#define BARRIER ((STEPS * ROWS - 2) * COLS)
#define SPREAD (BARRIER < ROWS * COLS / 2 ? BARRIER : ROWS * COLS / 2) /* copies stand among so many products */
#define TURNS (STEPS * STAGES % 2 ? 2 * STAGES : STAGES)
#if PTX
#define FOR_SLICES(count) \
    for (int s = 0; s < (count);) \
        _Pragma("unroll") for (int turn = 0; turn < TURNS; turn++) \
            if (s++ < (count))
#else /* PoCL makes another copy of the body for every barrier */
#define FOR_SLICES(count) for (int s = 0, turn = 0; s < (count); s++, turn = s % TURNS)
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
    const int depth = work.k1 - work.k0, slices = (depth + BK - 1) / BK;

    int offset_a[COPIES_A], place_a[COPIES_A], offset_b[COPIES_B], place_b[COPIES_B];
    plan_copies(offset_a, place_a, COPIES_A, STEP_A, !TRANS_A, BM, lda, m - row, thread);
    plan_copies(offset_b, place_b, COPIES_B, STEP_B, TRANS_B, BN, ldb, n - col, thread);

    double sum[ROWS * COLS * 4];
#pragma unroll
    for (int r = 0; r < ROWS * COLS * 4; r++)
        sum[r] = 0;

    /* Where the next copies read. At the last slice the copies stop; the pointers go on, and nobody follows them. */
    __global const double *from_a[COPIES_A], *from_b[COPIES_B];
#pragma unroll
    for (int q = 0; q < COPIES_A; q++)
        from_a[q] = a + offset_a[q];
#pragma unroll
    for (int q = 0; q < COPIES_B; q++)
        from_b[q] = b + offset_b[q];
    const int advance_a = kept(TRANS_A ? BK * lda : BK), advance_b = kept(TRANS_B ? BK : BK * ldb);
    int left = kept(depth); /* from the slice on that is copied next */

#define COPY(q, slot)                                                                                        \
    do {                                                                                                     \
        const int whole = left >= (TAIL ? BK : 1);                                                           \
        if ((q) < COPIES_A)                                                                                  \
            copy_whole(as + (slot) * SLICE_A + place_a[q], from_a[q], STEP_A, whole);                        \
        else                                                                                                 \
            copy_whole(bs + (slot) * SLICE_B + place_b[(q) - COPIES_A], from_b[(q) - COPIES_A], STEP_B, whole); \
    } while (0)
#define COPIED(slot)                                                                                         \
    do {                                                                                                     \
        if (!ASYNC || (TAIL && left > 0 && left < BK)) {                                                     \
            const size_t at = (size_t)(depth - left);                                                        \
            copy_short(as + (slot) * SLICE_A, a + (left <= 0 ? 0 : TRANS_A ? at * lda : at), COPIES_A, STEP_A, \
                       !TRANS_A, BM, lda, m - row, left, thread);                                            \
            copy_short(bs + (slot) * SLICE_B, b + (left <= 0 ? 0 : TRANS_B ? at : at * ldb), COPIES_B, STEP_B, \
                       TRANS_B, BN, ldb, n - col, left, thread);                                             \
        }                                                                                                    \
        COMMIT();                                                                                            \
        _Pragma("unroll") for (int q = 0; q < COPIES_A; q++)                                                 \
            from_a[q] += advance_a;                                                                          \
        _Pragma("unroll") for (int q = 0; q < COPIES_B; q++)                                                 \
            from_b[q] += advance_b;                                                                          \
        left -= BK;                                                                                          \
    } while (0)

#pragma unroll
    for (int slot = 0; slot < STAGES - 1; slot++) {
#pragma unroll
        for (int q = 0; q < COPIES; q++)
            COPY(q, slot);
        COPIED(slot);
    }
    AWAIT(STAGES - 2);
    barrier(CLK_LOCAL_MEM_FENCE);

    double av[4][4], bv[2][COLS * 2]; /* rows and steps take turns in them */
    __local const double *const a0s = as + base_of(0, !TRANS_A, BM, wm, lane);
    __local const double *const a1s = as + base_of(1, !TRANS_A, BM, wm, lane);
    __local const double *const b0s = bs + base_of(0, TRANS_B, BN, wn, lane);
    __local const double *const b1s = bs + base_of(1, TRANS_B, BN, wn, lane);
#pragma unroll
    for (int j = 0; j < COLS; j++)
        fill_b(bv[0] + 2 * j, b0s, b1s, 0, j);
    fill_a(av[0], a0s, a1s, 0, 0);
    fill_a(av[1], a0s, a1s, 0, 1);

    FOR_SLICES(slices)
    {
        const int here = turn % STAGES, next = (turn + 1) % STAGES, before = (turn + STAGES - 1) % STAGES;
        if (SPREAD == 0) {
#pragma unroll
            for (int q = 0; q < COPIES; q++)
                COPY(q, before);
            COPIED(before);
        }
#pragma unroll
        for (int p = 0; p < STEPS * ROWS * COLS; p++) {
            const int j = p % COLS, i = p / COLS % ROWS, step = p / (COLS * ROWS);
            const int line = turn * STEPS * ROWS + p / COLS, ahead = p / COLS + 2; /* rows of fragments of A */
            const int b_step = (turn * STEPS + step) % 2, b_next = step + 1 < STEPS ? here : next;
            const int a_next = ahead < STEPS * ROWS ? here : next;
            if (p == BARRIER) {
                AWAIT(STAGES - 2);
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            multiply(sum + (i * COLS + j) * 4, av[line % 4], bv[b_step] + 2 * j, exchange, thread);
            if (i == ROWS - 2)
                fill_b(bv[1 - b_step] + 2 * j, b0s + b_next * SLICE_B, b1s + b_next * SLICE_B, (step + 1) % STEPS, j);
            if (j == 0)
                fill_a(av[(line + 2) % 4], a0s + a_next * SLICE_A, a1s + a_next * SLICE_A, ahead / ROWS % STEPS,
                       ahead % ROWS);
#pragma unroll
            for (int q = 0; q < COPIES; q++)
                if (p < SPREAD && p == q / 2 * 2 * SPREAD / COPIES)
                    COPY(q, before);
            if (p == SPREAD - 1)
                COPIED(before);
        }
    }

    if (SPLIT && work.parts > 1 &&
        !join_parts(work, sum, ROWS * COLS * 4, partial + partial0, counter, (__local uint *)as, thread))
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
