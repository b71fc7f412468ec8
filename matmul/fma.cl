/* fma.cl - C = alpha op(A) op(B) + beta C by fused multiply-adds: register tiles fed from local memory.
 *
 *   A lane computes WM/8 x WN/4 elements of its warp's WM x WN, in blocks of 4 x 4; the 32 lanes stand 8 x 4:
 *
 *          n -->     0..3   4..7  8..11  12..15 | 16..19 ...
 *        m  0..3   lane 0      1      2      3       0   ...
 *        |  4..7   lane 4      5      6      7       4   ...      and so on for 32 rows, then lane 0 again
 *
 *   Slices lie as [k][i] in local memory, with rows padded by 4, whichever way the operand is stored. An operand whose k is
 *   innermost in memory is transposed on the way, element by element.
 *
 * For the tiles, the pipeline and the knobs see tile.cl, which comes before this file.
 * SPDX-License-Identifier: MIT
 */
#ifndef MATMUL_TILE
#include "tile.cl"
#endif

/* Where a lane stands in the 8 x 4. Lanes whose loads are served together are closer to each other with 1 and 2, which
 * is faster on some devices. */
#ifndef LANES
#define LANES 0
#endif
#if LANES == 0
#define LANE_M(lane) ((lane) >> 2)
#define LANE_N(lane) ((lane) & 3)
#elif LANES == 1
#define LANE_M(lane) ((lane) >> 1 & 7)
#define LANE_N(lane) (((lane) & 16) >> 3 | ((lane) & 1))
#else
#define LANE_M(lane) ((lane) & 7)
#define LANE_N(lane) ((lane) >> 3)
#endif

/* ---- Slices: from memory to local memory. ------------------------------------------------------ */

#define PAD 4
#define SLICE_A (BK * (BM + PAD))
#define SLICE_B (BK * (BN + PAD))
#define STEP_A (TRANS_A && WIDE_A ? 16 / SIZE : 1) /* elements that one copy brings */
#define STEP_B (!TRANS_B && WIDE_B ? 16 / SIZE : 1)
#define COPIES_A (BK * BM / STEP_A / THREADS) /* of one item */
#define COPIES_B (BK * BN / STEP_B / THREADS)

/* Which element copy w of a slice starts at. Where i is innermost in memory, neighbouring copies are neighbours along i.
 * Where k is, 8 of them take 8 k of one i, which is a whole sector of memory; the padding keeps them in different banks.
 * Copy 13 of a slice of 128 rows, for example, is k = 5 of i = 1; copy 1024 + 13 is 8 steps deeper. */
static int copy_k(int w, int along_k, int step, int span)
{
    return along_k ? w % 8 + w / (8 * span) * 8 : w / (span / step);
}

static int copy_i(int w, int along_k, int step, int span)
{
    return along_k ? w / 8 % span : w % (span / step) * step;
}

/* Where an item's copies come from and go to. `exist`: how many i exist in this tile. Copies of others repeat the last
 * one, and what is computed from them is never stored. */
static void plan_copies(int *offset, int *place, int copies, int step, int along_k, int span, int ld, int exist,
                        int thread)
{
#pragma unroll
    for (int c = 0; c < copies; c++) {
        const int w = thread + c * THREADS, k = copy_k(w, along_k, step, span);
        const int i = copy_i(w, along_k, step, span), from = min(i, (exist - 1) / step * step);
        place[c] = k * (span + PAD) + i;
        offset[c] = along_k ? from * ld + k : k * ld + from;
    }
}

/* One copy. `left`: of the depth, from its first element on. With `tail` that may be too little, and what does not exist
 * becomes 0; otherwise nobody looks. */
static void copy_part(__local T *to, __global const T *from, int offset, int place, int step, int along_k,
                      int tail, int left)
{
    int exist = step;
    if (tail)
        exist = along_k ? clamp(left, 0, step) : left > 0 ? step : 0;
    copy(to + place, tail && !exist ? from : from + offset, step, exist);
}

/* ---- A step: from local memory to registers, and its product. ----------------------------------- */

#define TM (WM / 8)
#define TN (WN / 4)
typedef CAT(T, 4) T4;

/* An item's TM numbers of A and TN of B at depth k of a slice, four at a time: blocks of 4 are 32 rows, or 16 columns,
 * apart (see the drawing above). */
static void fill(T *av, T *bv, __local const T *at, __local const T *bt, int k, int wm, int wn, int lane)
{
    __local const T *a0 = at + k * (BM + PAD) + wm + LANE_M(lane) * 4;
    __local const T *b0 = bt + k * (BN + PAD) + wn + LANE_N(lane) * 4;
#pragma unroll
    for (int r = 0; r < TM; r += 4) {
        const T4 v = *(__local const T4 *)(a0 + r * 8);
        av[r] = v.s0, av[r + 1] = v.s1, av[r + 2] = v.s2, av[r + 3] = v.s3;
    }
#pragma unroll
    for (int r = 0; r < TN; r += 4) {
        const T4 v = *(__local const T4 *)(b0 + r * 4);
        bv[r] = v.s0, bv[r + 1] = v.s1, bv[r + 2] = v.s2, bv[r + 3] = v.s3;
    }
}

static void multiply(T *sum, const T *av, const T *bv)
{
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int q = 0; q < TN; q++) {
            const int j = i & 1 ? TN - 1 - q : q; /* back and forth: an operand that was just read is at hand */
            sum[i * TN + j] = fma(av[i], bv[j], sum[i * TN + j]);
        }
}

/* ---- The pipeline: what is done when. ----------------------------------------------------------- */

#define INLINE __attribute__((always_inline)) /* what their pointers point to are registers then */

/* What an item brings of every slice, and which slice is next. */
struct feed {
    __global const T *a, *b;                  /* where the next slice begins in memory */
    size_t advance_a, advance_b;              /* from one slice to the next */
    int offset_a[COPIES_A], place_a[COPIES_A]; /* plan_copies */
    int offset_b[COPIES_B], place_b[COPIES_B];
    int thread, depth, slices;
    int fed, slot; /* the next slice's number, and the slot that it goes to */
};

/* Begins this item's copies of the next slice and moves on to the one after it. Only with `late` may that slice be short,
 * or not exist at all. */
static INLINE void feed(struct feed *f, __local T *as, __local T *bs, int late)
{
    if (!late || f->fed < f->slices) {
#pragma unroll
        for (int q = 0; q < COPIES_A; q++)
            copy_part(as + f->slot * SLICE_A, f->a, f->offset_a[q], f->place_a[q], STEP_A, !TRANS_A, TAIL && late,
                      f->depth - f->fed * BK - copy_k(f->thread + q * THREADS, !TRANS_A, STEP_A, BM));
#pragma unroll
        for (int q = 0; q < COPIES_B; q++)
            copy_part(bs + f->slot * SLICE_B, f->b, f->offset_b[q], f->place_b[q], STEP_B, TRANS_B, TAIL && late,
                      f->depth - f->fed * BK - copy_k(f->thread + q * THREADS, TRANS_B, STEP_B, BN));
    }
    COMMIT();
    f->a += f->advance_a;
    f->b += f->advance_b;
    f->fed++;
    f->slot = f->slot + 1 < STAGES ? f->slot + 1 : 0;
}

/* All have read the last of this slice, so that its slot may be filled again, and the next slice is there. */
static INLINE void next_slice(void)
{
    AWAIT(STAGES - 2);
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* What an item multiplies: its place in the tile, and registers for two steps. */
struct step {
    int wm, wn, lane;
    T a[2][TM], b[2][TN];
};

static INLINE void fill_step(struct step *r, int set, __local const T *as, __local const T *bs, int slot, int k)
{
    fill(r->a[set], r->b[set], as + slot * SLICE_A, bs + slot * SLICE_B, k, r->wm, r->wn, r->lane);
}

/* A slice is BK steps. With AHEAD the registers of the next step are filled before this one is multiplied, from two sets
 * that take turns:
 *
 *     step        0          1          ...   BK - 2        BK - 1
 *     next_slice                                            before the fill
 *     fill        step 1     step 2           step BK - 1   step 0 of the next slice
 *     feed                                                  behind the fill, into the slot of this slice
 *     multiply    step 0     step 1           step BK - 2   step BK - 1
 *
 * `here`: the slot of this slice. Returns that of the next. */
static INLINE int multiply_slice(T *sum, struct step *r, struct feed *f, __local T *as, __local T *bs, int here, int late)
{
    const int next = here + 1 < STAGES ? here + 1 : 0;
#if AHEAD
#pragma unroll
    for (int step = 0; step < BK - 1; step++) {
        fill_step(r, (step + 1) & 1, as, bs, here, step + 1);
        multiply(sum, r->a[step & 1], r->b[step & 1]);
    }
    next_slice();
    fill_step(r, 0, as, bs, next, 0);
    feed(f, as, bs, late);
    multiply(sum, r->a[1], r->b[1]); /* BK is even */
#else
#pragma unroll
    for (int step = 0; step < BK; step++) {
        fill_step(r, 0, as, bs, here, step);
        multiply(sum, r->a[0], r->b[0]);
    }
    next_slice();
    feed(f, as, bs, late);
#endif
    return next;
}

/* ---- The product. ------------------------------------------------------------------------------ */

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void
matmul_fma(int m, int n, int k, T alpha, __global const T *restrict a, ulong a0, int lda,
           __global const T *restrict b, ulong b0, int ldb, T beta, __global T *c, ulong c0, int ldc, int whole,
           int splits, __global T *partial, ulong partial0, __global uint *counter STEP_ARGS)
{
    __local T as[STAGES * SLICE_A] __attribute__((aligned(128)));
    __local T bs[STAGES * SLICE_B] __attribute__((aligned(128)));

    int group = (int)(get_global_id(0) / THREADS);
#if BATCH
    const ulong product = enter_product(&group, m, n);
    a0 += product * step_a, b0 += product * step_b, c0 += product * step_c;
#endif
    const struct work work = work_of(group, k, whole, splits);
    const int2 corner = tile_corner(work.tile, m, n);
    const int row = corner.x, col = corner.y;
    const int thread = (int)get_local_id(0), lane = thread & 31, warp = thread >> 5;
    const int wm = warp / (BN / WN) * WM, wn = warp % (BN / WN) * WN;

    struct feed f;
    f.a = a + a0 + (TRANS_A ? (size_t)work.k0 * lda + row : (size_t)row * lda + work.k0);
    f.b = b + b0 + (TRANS_B ? (size_t)col * ldb + work.k0 : (size_t)work.k0 * ldb + col);
    f.advance_a = TRANS_A ? (size_t)BK * lda : BK;
    f.advance_b = TRANS_B ? BK : (size_t)BK * ldb;
    f.thread = thread;
    f.depth = work.k1 - work.k0;
    f.slices = (f.depth + BK - 1) / BK;
    f.fed = f.slot = 0;
    plan_copies(f.offset_a, f.place_a, COPIES_A, STEP_A, !TRANS_A, BM, lda, m - row, thread);
    plan_copies(f.offset_b, f.place_b, COPIES_B, STEP_B, TRANS_B, BN, ldb, n - col, thread);

    T sum[TM * TN];
#pragma unroll
    for (int r = 0; r < TM * TN; r++)
        sum[r] = 0;

    /* The first slices are on their way, and the first one of them has arrived. */
    for (int first = 0; first < STAGES; first++)
        feed(&f, as, bs, 1);
    AWAIT(STAGES - 1);
    barrier(CLK_LOCAL_MEM_FENCE);

    struct step r;
    r.wm = wm, r.wn = wn, r.lane = lane;
    if (AHEAD)
        fill_step(&r, 0, as, bs, 0, 0);
    int here = 0, s = 0; /* the slot that is multiplied; the number of the slice that lies there */
    for (; f.fed + 1 < f.slices; s++)
        here = multiply_slice(sum, &r, &f, as, bs, here, 0);
    for (; s < f.slices; s++)
        here = multiply_slice(sum, &r, &f, as, bs, here, 1);

    if (SPLIT && work.parts > 1 && !join_parts(work, sum, TM * TN, partial + partial0, counter, (__local uint *)as, thread))
        return;
#pragma unroll
    for (int i = 0; i < TM; i++)
#pragma unroll
        for (int j = 0; j < TN; j += RUN) {
            const int y = row + wm + i / 4 * 32 + LANE_M(lane) * 4 + i % 4;
            const int x = col + wn + j / 4 * 16 + LANE_N(lane) * 4;
            const T *s = sum + i * TN + j;
            if (y < m && x < n)
                store_run(c + c0 + (size_t)y * ldc + x, (run_t)(s[0], s[1], s[2], s[3]), alpha, beta, n - x);
        }
}
