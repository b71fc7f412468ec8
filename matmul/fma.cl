/* fma.cl - C = alpha op(A) op(B) + beta C by fused multiply-adds: register tiles fed from local
 * memory.
 *
 *   A lane computes WM/8 x WN/4 elements of its warp's WM x WN, in blocks of 4 x 4. The 32 lanes
 *   form a grid of 8 x 4:
 *
 *          n -->     0..3   4..7  8..11  12..15 | 16..19 ...
 *        m  0..3   lane 0      1      2      3       0   ...
 *        |  4..7   lane 4      5      6      7       4   ...
 *        v   ...                                              after 32 rows lane 0 again
 *
 *   A slice is [k][i] in local memory, with padded rows, however the operand is stored. An operand
 *   that is contiguous along k is transposed by its copies, element by element.
 *
 * For tiles, pipeline and knobs see tile.cl, which precedes this file.
 * SPDX-License-Identifier: MIT
 */
#ifndef MATMUL_TILE
#include "tile.cl"
#endif

/* Position of a lane in the grid of 8 x 4. With 1 and 2, lanes whose loads are served together are
 * closer to each other, which is faster on some devices. */
#ifndef LANE_LAYOUT
#define LANE_LAYOUT 0
#endif
#if LANE_LAYOUT == 0
#define LANE_M(lane) ((lane) >> 2)
#define LANE_N(lane) ((lane)&3)
#elif LANE_LAYOUT == 1
#define LANE_M(lane) ((lane) >> 1 & 7)
#define LANE_N(lane) (((lane)&16) >> 3 | ((lane)&1))
#else
#define LANE_M(lane) ((lane)&7)
#define LANE_N(lane) ((lane) >> 3)
#endif

#ifndef COPY_FIRST
/* 1: with PREFETCH, copies start before registers are filled from the next slice */
#define COPY_FIRST 0
#endif
#ifndef ORDER
#define ORDER 0 /* order of the multiply-adds of a step: see multiply_step */
#endif

/* ---- Slices: from global to local memory. ---------------------------------------------------- */

#define STEP_A (TRANS_A && WIDE_A ? 16 / SIZE : 1) /* elements of one copy */
#define STEP_B (!TRANS_B && WIDE_B ? 16 / SIZE : 1)
#define COPIES_A (BK * BM / STEP_A / THREADS) /* copies of an item */
#define COPIES_B (BK * BN / STEP_B / THREADS)

/* Where an operand is contiguous along k, 8 k of a row are copied by K_LANES neighbouring items,
 * at least K_LANES_MIN: a whole sector of memory. With fewer than 8 lanes each item makes a run of
 * copies from one address, and copies come from more rows at a time. The padding of slices keeps
 * them in different banks. */
#ifndef K_LANES_MIN
#define K_LANES_MIN 8
#endif
#define K_LANES_OF(copies)                                                                         \
    ((copies) % 4 == 0 && K_LANES_MIN < 4 ? 2 : (copies) % 2 == 0 && K_LANES_MIN < 8 ? 4 : 8)
#define K_LANES_A K_LANES_OF(COPIES_A)
#define K_LANES_B K_LANES_OF(COPIES_B)
#define RUN_A (TRANS_A ? 1 : 8 / K_LANES_A) /* copies of a run */
#define RUN_B (TRANS_B ? 8 / K_LANES_B : 1)
#define PAD_OF(lanes) (128 / SIZE / (lanes) > 4 ? 128 / SIZE / (lanes) : 4)
#define ROW_A (BM + (TRANS_A ? 4 : PAD_OF(K_LANES_A))) /* stride of k in a slice */
#define ROW_B (BN + (TRANS_B ? PAD_OF(K_LANES_B) : 4))
#define SLICE_A (BK * ROW_A)
#define SLICE_B (BK * ROW_B)

/* First element of run w of a slice, as k and i. For example, contiguous along k with 2 lanes, run
 * 13 of a slice of 128 rows is k = 1, 3, 5, 7 of i = 6; run 256 + 13 is 8 steps deeper. */
static int run_k(int w, int lanes, int along_k, int step, int span)
{
    return along_k ? w % lanes + w / (lanes * span) * 8 : w / (span / step);
}

static int run_i(int w, int lanes, int along_k, int step, int span)
{
    return along_k ? w / lanes % span : w % (span / step) * step;
}

/* Distance in a slice from an item's first run to its run r; 0 if it is not the same for all
 * items. */
static int run_stride(int r, int lanes, int along_k, int step, int span, int row)
{
    const int w = r * THREADS,
              block = along_k ? lanes * span : span / step; /* runs of 8 k, or of one k */
    if (along_k && block % THREADS == 0)
        return w % block / lanes + w / block * 8 * row;
    return THREADS % block == 0 ? w / block * (along_k ? 8 : 1) * row : 0;
}

/* Compute the addresses of an item's runs in memory and their places in a slice. `exist`: number
 * of i that exist in this tile; `before`: 1 if there is a previous tile. Places at constant
 * distances cost no registers. */
static void plan_runs(__global const T **address, __global const T *first, int *place, int runs,
                      int lanes, int along_k, int step, int span, int row, int ld, int exist,
                      int before, int thread)
{
#pragma unroll
    for (int r = 0; r < runs; r++) {
        const int w = thread + r * THREADS, k = run_k(w, lanes, along_k, step, span);
        const int i = run_i(w, lanes, along_k, step, span),
                  from = existing_index(i, step, span, exist, before);
        const int on = run_stride(r, lanes, along_k, step, span, row);
        place[r] = r && on ? place[0] + on : k * row + i;
        address[r] = first + (along_k ? from * ld + k : k * ld + from);
    }
}

/* Make one copy. With `brief` only `left` of the depth exists from its first element on, possibly
 * none, and the rest becomes 0; otherwise everything exists. `other`: a valid address. */
static void copy_run(__local T *to, __global const T *from, __global const T *other, int step,
                     int along_k, int brief, int left)
{
    int exist = step;
    if (brief)
        exist = along_k ? clamp(left, 0, step) : left > 0 ? step : 0;
    copy_elements(to, brief && !exist ? other : from, step, exist);
}

/* ---- A step: from local memory to registers, and its product. -------------------------------- */

#define TM (WM / 8)
#define TN (WN / 4)
#define OWN (TM * TN / K_GROUPS) /* sums that an item stores */
typedef CAT(T, 4) T4;

/* PoCL 7.0 and 7.1 read local memory again after a barrier, when other items have written to it
 * (tests/drivers/reread.cl), unless it is volatile. */
#ifdef __CPU__
#define READ_ONCE volatile
#else
#define READ_ONCE
#endif

/* Load an item's TM numbers of A and TN of B, four at a time: blocks of 4 are 32 rows, or 16
 * columns, apart (see the drawing above). a0, b0: the first ones of this step. */
static void fill_registers(T *av, T *bv, __local const T *a0, __local const T *b0)
{
#pragma unroll
    for (int r = 0; r < TM; r += 4) {
        const T4 v = *(READ_ONCE __local const T4 *)(a0 + r * 8);
        av[r] = v.s0, av[r + 1] = v.s1, av[r + 2] = v.s2, av[r + 3] = v.s3;
    }
#pragma unroll
    for (int r = 0; r < TN; r += 4) {
        const T4 v = *(READ_ONCE __local const T4 *)(b0 + r * 4);
        bv[r] = v.s0, bv[r + 1] = v.s1, bv[r + 2] = v.s2, bv[r + 3] = v.s3;
    }
}

/* Multiply back and forth: an operand that was just read is reused. ORDER 0: row by row; 1: four
 * rows at a time, column by column; 2: eight columns at a time, row by row. */
static void multiply_step(T *sum, const T *av, const T *bv)
{
#if ORDER == 0
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int q = 0; q < TN; q++) {
            const int j = i & 1 ? TN - 1 - q : q;
            sum[i * TN + j] = fma(av[i], bv[j], sum[i * TN + j]);
        }
#elif ORDER == 1
#pragma unroll
    for (int top = 0; top < TM; top += 4)
#pragma unroll
        for (int p = 0; p < TN; p++)
#pragma unroll
            for (int q = 0; q < 4; q++) {
                const int j = top & 4 ? TN - 1 - p : p, i = top + (p & 1 ? 3 - q : q);
                sum[i * TN + j] = fma(av[i], bv[j], sum[i * TN + j]);
            }
#else
    const int wide = TN < 8 ? TN : 8;
#pragma unroll
    for (int left = 0; left < TN; left += wide)
#pragma unroll
        for (int p = 0; p < TM; p++)
#pragma unroll
            for (int q = 0; q < wide; q++) {
                const int i = left & 8 ? TM - 1 - p : p, j = left + (p & 1 ? wide - 1 - q : q);
                sum[i * TN + j] = fma(av[i], bv[j], sum[i * TN + j]);
            }
#endif
}

/* ---- The pipeline: the order of copies and products. ----------------------------------------- */

/* The copies of an item, for every slice. */
struct slice_loader {
    __global const T *a[COPIES_A / RUN_A],
        *b[COPIES_B / RUN_B]; /* addresses of the next slice's runs */
    int place_a[COPIES_A / RUN_A], place_b[COPIES_B / RUN_B]; /* their places in a slot */
    __global const T *other_a, *other_b;                      /* valid addresses */
    size_t advance_a, advance_b;                              /* from one slice to the next */
    /* left: depth from the next slice on; a multiple of BK after the first. */
    int thread, left;
};

/* Start this item's copies of the next slice, into the slot at as and bs, and advance to the slice
 * after it. Only with `late` there may be no next slice. If the depth is no multiple of BK, the
 * first slice is the short one, `brief`, of depth `deep`: all copies of the loop are then whole. */
static INLINE void load_slice(struct slice_loader *f, __local T *as, __local T *bs, int late,
                              int brief, int deep)
{
    if (!late || f->left > 0) {
        __local T *to = opaque_pointer(as + f->place_a[0]);
#pragma unroll
        for (int r = 0; r < COPIES_A / RUN_A; r++)
#pragma unroll
            for (int q = 0; q < RUN_A; q++)
                copy_run(to + (f->place_a[r] - f->place_a[0]) + q * K_LANES_A * ROW_A,
                         f->a[r] + q * K_LANES_A, f->other_a, STEP_A, !TRANS_A, brief,
                         deep - q * K_LANES_A -
                             run_k(f->thread + r * THREADS, K_LANES_A, !TRANS_A, STEP_A, BM));
        to = opaque_pointer(bs + f->place_b[0]);
#pragma unroll
        for (int r = 0; r < COPIES_B / RUN_B; r++)
#pragma unroll
            for (int q = 0; q < RUN_B; q++)
                copy_run(to + (f->place_b[r] - f->place_b[0]) + q * K_LANES_B * ROW_B,
                         f->b[r] + q * K_LANES_B, f->other_b, STEP_B, TRANS_B, brief,
                         deep - q * K_LANES_B -
                             run_k(f->thread + r * THREADS, K_LANES_B, TRANS_B, STEP_B, BN));
    }
    COMMIT();
#pragma unroll
    for (int r = 0; r < COPIES_A / RUN_A; r++)
        f->a[r] = advance_pointer(f->a[r], brief ? f->advance_a / BK * deep : f->advance_a);
#pragma unroll
    for (int r = 0; r < COPIES_B / RUN_B; r++)
        f->b[r] = advance_pointer(f->b[r], brief ? f->advance_b / BK * deep : f->advance_b);
    f->left -= deep;
}

/* Block until all items have read this slice, so that its slot may be filled again, and the next
 * slice is there. */
static INLINE void next_slice(void)
{
    AWAIT(STAGES - 2);
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* Operands of an item: addresses of its first numbers in slot 0 and in the current slot, and
 * registers for two steps. */
struct step {
    __local T *first_a, *first_b, *here_a, *here_b;
    T a[2][TM], b[2][TN];
};

static INLINE void enter_slot(struct step *r, int slot)
{
    r->here_a = opaque_pointer(r->first_a + slot * SLICE_A);
    r->here_b = opaque_pointer(r->first_b + slot * SLICE_B);
}

static INLINE void fill_step(struct step *r, int set, int k)
{
    fill_registers(r->a[set], r->b[set], r->here_a + k * ROW_A, r->here_b + k * ROW_B);
}

/* A slice is K_GROUP_DEPTH steps of this warp set. With PREFETCH the registers are double-buffered:
 * those of the next step are filled before this step is multiplied.
 *
 *     step          0          1          ...   DEPTH - 2         DEPTH - 1
 *     next_slice                                                  before the fill
 *     fill          step 1     step 2           step DEPTH - 1    step 0 of the next slice
 *     load_slice                                                  after the fill (COPY_FIRST:
 *                                                                 before it), to this slice's slot
 *     multiply      step 0     step 1           step DEPTH - 2    step DEPTH - 1
 *
 * `here`: the slot of this slice. Returns the slot of the next slice. */
static INLINE int multiply_slice(T *sum, struct step *r, struct slice_loader *f, __local T *as,
                                 __local T *bs, int here, int late)
{
    const int next = here + 1 < STAGES ? here + 1 : 0;
#if PREFETCH
#pragma unroll
    for (int step = 0; step < K_GROUP_DEPTH - 1; step++) {
        fill_step(r, (step + 1) & 1, step + 1);
        multiply_step(sum, r->a[step & 1], r->b[step & 1]);
    }
    next_slice();
#if COPY_FIRST
    load_slice(f, as + here * SLICE_A, bs + here * SLICE_B, late, 0, BK);
    enter_slot(r, next);
    fill_step(r, 0, 0);
#else
    enter_slot(r, next);
    fill_step(r, 0, 0);
    load_slice(f, as + here * SLICE_A, bs + here * SLICE_B, late, 0, BK);
#endif
    multiply_step(sum, r->a[1], r->b[1]); /* K_GROUP_DEPTH is even */
#else
#pragma unroll
    for (int step = 0; step < K_GROUP_DEPTH; step++) {
        fill_step(r, 0, step);
        multiply_step(sum, r->a[0], r->b[0]);
    }
    next_slice();
    enter_slot(r, next);
    load_slice(f, as + here * SLICE_A, bs + here * SLICE_B, late, 0, BK);
#endif
    return next;
}

/* ---- The product. ---------------------------------------------------------------------------- */

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void matmul_fma(
    int m, int n, int k, T alpha, __global const T *restrict a, ulong a0, int lda,
    __global const T *restrict b, ulong b0, int ldb, T beta, __global T *c, ulong c0, int ldc,
    int whole, int splits, __global T *partial, ulong partial0, __global uint *counter STEP_ARGS)
{
    __local T slices[STAGES * (SLICE_A + SLICE_B)] __attribute__((aligned(128)));
    __local T *const as = slices, *const bs = slices + STAGES * SLICE_A;

    int group = (int)(get_global_id(0) / THREADS);
#if BATCH
    const ulong product = batch_product(&group, m, n);
    a0 += product * step_a, b0 += product * step_b, c0 += product * step_c;
#endif
    const struct tile_work work = tile_work_of(group, k, whole, splits);
    const int2 corner = tile_corner(work.tile, m, n);
    int row = corner.x, col = corner.y;
    const int thread = (int)get_local_id(0), lane = thread & 31,
              set = thread / (THREADS / K_GROUPS);
    const int warp = thread % (THREADS / K_GROUPS) >> 5;
    const int wm = warp / (BN / WN) * WM, wn = warp % (BN / WN) * WN;

    struct slice_loader f;
    f.other_a = a + a0 + (TRANS_A ? (size_t)work.k0 * lda + row : (size_t)row * lda + work.k0);
    f.other_b = b + b0 + (TRANS_B ? (size_t)col * ldb + work.k0 : (size_t)work.k0 * ldb + col);
    f.advance_a = TRANS_A ? (size_t)BK * lda : BK;
    f.advance_b = TRANS_B ? BK : (size_t)BK * ldb;
    f.thread = thread;
    f.left = work.k1 - work.k0;
    plan_runs(f.a, f.other_a, f.place_a, COPIES_A / RUN_A, K_LANES_A, !TRANS_A, STEP_A, BM, ROW_A,
              lda, m - row, row > 0, thread);
    plan_runs(f.b, f.other_b, f.place_b, COPIES_B / RUN_B, K_LANES_B, TRANS_B, STEP_B, BN, ROW_B,
              ldb, n - col, col > 0, thread);

    T sum[TM * TN];
#pragma unroll
    for (int r = 0; r < TM * TN; r++)
        sum[r] = 0;

    /* Start the copies of the first slices and wait for the first one. */
    if (TAIL)
        load_slice(&f, as, bs, 1, 1, f.left % BK ? f.left % BK : BK);
    for (int slot = TAIL; slot < STAGES; slot++)
        load_slice(&f, as + slot * SLICE_A, bs + slot * SLICE_B, 1, 0, BK);
    AWAIT(STAGES - 1);
    barrier(CLK_LOCAL_MEM_FENCE);

    struct step r;
    r.first_a = as + set * K_GROUP_DEPTH * ROW_A + wm + LANE_M(lane) * 4;
    r.first_b = bs + set * K_GROUP_DEPTH * ROW_B + wn + LANE_N(lane) * 4;
    enter_slot(&r, 0);
    if (PREFETCH)
        fill_step(&r, 0, 0);
    int here = 0; /* the slot that is multiplied */
    while (f.left > 0)
        here = multiply_slice(sum, &r, &f, as, bs, here, 0);
    while (f.left > -STAGES * BK)
        here = multiply_slice(sum, &r, &f, as, bs, here, 1);

    T own[OWN]; /* a separate array for the sums to store: faster */
    reduce_k_groups(sum, TM * TN, slices, set, thread);
#pragma unroll
    for (int r = 0; r < OWN; r++)
        own[r] = sum[r];
#if SPLIT_K == 2
    STORE_PARTIAL()
#else
    if (SPLIT_K && work.parts > 1 &&
        !splitk_reduce(work, own, OWN, partial + partial0, counter, (__local uint *)slices, thread))
        return;
#endif
#if PIECES
    __local T *const piece = slices + thread / 32 * PIECE;
    AWAIT(0); /* unread copies may still be in flight to this memory */
#pragma unroll
    for (int q = 0; q < TM / K_GROUPS; q++) {
        const int i = set * (TM / K_GROUPS) + q, y = row + wm + i / 4 * 32 + i % 4, x = col + wn;
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int j = 0; j < TN; j += 4) {
            const T *s = own + q * TN + j;
            *(__local T4 *)(piece + LANE_M(lane) * PIECE_ROW + j * 4 + LANE_N(lane) * 4) =
                (T4)(s[0], s[1], s[2], s[3]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        store_piece(c + c0 + (size_t)y * ldc + x, ldc, piece, WN, 4, m - y, n - x, alpha, beta,
                    lane);
    }
#else
#pragma unroll
    for (int q = 0; q < TM / K_GROUPS; q++)
#pragma unroll
        for (int j = 0; j < TN; j += RUN) {
            const int i = set * (TM / K_GROUPS) + q;
            const int y = row + wm + i / 4 * 32 + LANE_M(lane) * 4 + i % 4;
            const int x = col + wn + j / 4 * 16 + LANE_N(lane) * 4;
            const T *s = own + q * TN + j;
            if (y < m && x < n)
                store_run(c + c0 + (size_t)y * ldc + x, (run_t)(s[0], s[1], s[2], s[3]), alpha,
                          beta, n - x);
        }
#endif
}
