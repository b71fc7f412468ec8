/* mma.cl - C = alpha op(A) op(B) + beta C in double precision on NVIDIA's tensor cores.
 *
 *   mma.sync.m16n8k8 multiplies 16 x 8 by 8 x 8. With g = lane / 4 and t = lane % 4 a lane holds
 *   (PTX ISA, fragments of mma.m16n8k8 with .f64)
 *       a0 = A[g][t]   a1 = A[g + 8][t]   a2 = A[g][t + 4]   a3 = A[g + 8][t + 4]
 *       b0 = B[t][g]   b1 = B[t + 4][g]
 *       c0 = C[g][2t]  c1 = C[g][2t + 1]  c2 = C[g + 8][2t]  c3 = C[g + 8][2t + 1]
 *
 *   The file follows the data: slices (from global to local memory), fragments (from local memory
 * to registers), the pipeline (the order of copies and products), the product.
 *
 * For tiles, split-K and knobs see tile.cl, which precedes this file.
 * SPDX-License-Identifier: MIT
 */
#define RUN 2
#ifndef MATMUL_TILE
#define DOUBLES
#include "tile.cl"
#endif

/* ---- Slices: from global to local memory. ---------------------------------------------------- */

#define SLICE_A (BK * BM)
#define SLICE_B (BK * BN)
#ifndef EDGE
/* 1: rows and columns that do not exist are not fetched; TAIL is then 1. */
#define EDGE 0
#endif
#define NEVER (1 << 30) /* deeper than any slice */
#ifndef PARTIAL
/* 0: K is even, so that both elements of a copy along k exist, or neither. */
#define PARTIAL 1
#endif
#define STEP_A (WIDE_A ? 2 : 1) /* elements of one copy */
#define STEP_B (WIDE_B ? 2 : 1)
#define COPIES_A (BK * BM / STEP_A / THREADS) /* copies of an item */
#define COPIES_B (BK * BN / STEP_B / THREADS)
#define COPIES (COPIES_A + COPIES_B)

/* Offset of element (k, i) of a slice in local memory; i counts rows of A or columns of B, and
 * there are `span` of them. A slice keeps its operand's layout, so that 16 bytes can be copied at
 * once, but permuted (swizzled), so that the 16 lanes that are served together read 16 different
 * pairs of banks:
 *
 *     k contiguous    [BK / 8][i][8]    of the four 16-byte words of a row, w is at w ^ (i & 2)
 *     i contiguous    [BK][i]           element i of row k is at i ^ (k & 3) * 4
 *
 * Example: element k = 5, i = 6 of a slice with 128 rows:
 *
 *     k contiguous    row 6 starts at 6 * 8 = 48; k = 5 is the second element of word 2, which is
 *                     at 2 ^ 2 = 0: 48 + 0 * 2 + 1 = 49
 *     i contiguous    row 5 starts at 5 * 128 = 640; i = 6 is at 6 ^ 4 = 2: 640 + 2 = 642
 *
 * Loads of 16 bytes, with rows and depth renumbered for them, were 15 % slower (H200). */
static int slice_offset(int k, int i, int along_k, int span)
{
    return along_k ? ((k >> 3) * span + i) * 8 + (((k & 7) >> 1 ^ (i & 2)) << 1 | (k & 1))
                   : k * span + (i ^ (k & 3) << 2);
}

/* Compute the source and the place of copy w of a slice. Return the depth in the slice where it
 * starts. `exist`: number of i that exist in this tile; `before`: 1 if there is a previous tile. */
static int copy_plan(int w, int along_k, int step, int span, int ld, int exist, int before,
                     int *offset, int *place)
{
    const int k = along_k ? w % (BK / step) * step : w / (span / step);
    const int i = along_k ? w / (BK / step) : w % (span / step) * step;
    const int from = existing_index(i, along_k ? 1 : step, span, exist, before);
    *place = slice_offset(k, i, along_k, span);
    *offset = along_k ? from * ld + k : k * ld + from;
    return k;
}

/* Plan all copies of an item. deep[]: the depth where each starts. Places at constant distances
 * cost no registers. */
static void plan_copies(int *offset, int *place, int *deep, int copies, int step, int along_k,
                        int span, int ld, int exist, int before, int thread)
{
    const int across = along_k ? BK / step : span / step; /* copies of one row of the slice */
    const int apart = THREADS % across == 0 && THREADS / across % 4 == 0
                          ? THREADS / across * (along_k ? 8 : span)
                          : 0;
#pragma unroll
    for (int c = 0; c < copies; c++) {
        deep[c] = copy_plan(thread + c * THREADS, along_k, step, span, ld, exist, before,
                            offset + c, place + c);
        deep[c] =
            c && THREADS % across == 0 ? deep[0] + (along_k ? 0 : c * (THREADS / across)) : deep[c];
#if EDGE
        const int w = thread + c * THREADS;
        if ((along_k ? w / (BK / step) : w % (span / step) * step) >= exist)
            deep[c] = NEVER;
#endif
        place[c] = c && apart ? place[0] + c * apart : place[c];
    }
}

/* Make all copies of an item, of a slice that may be short: `left` is the remaining depth, and
 * elements past it become 0. */
static void copy_short(__local double *slot, __global const double *slice, int copies, int step,
                       int along_k, int span, int ld, int exist, int before, int left, int thread)
{
#pragma unroll 1
    for (int c = 0; c < copies; c++) {
        int offset, place;
        const int k = copy_plan(thread + c * THREADS, along_k, step, span, ld, exist, before,
                                &offset, &place);
        const int valid = along_k ? clamp(left - k, 0, step) : left > k ? step : 0;
        copy_elements(slot + place, valid ? slice + offset : slice, step, valid);
    }
}

/* Instruction for a copy of 16 bytes. A cache sector has 32. If rows start in the middle of a
 * sector, neighbouring slices need halves of it: the first-level cache saves a second fetch. If
 * they do not, bypassing that cache is faster. An H200 reached 38 TFLOP/s for 1,022 without it and
 * 43 with it; for 1,000 x 1,002 x 1,000, where only B is so aligned, 47 and 43. */
#ifndef ALIGN_16
/* 1: with WIDE_A and WIDE_B, some rows of A and of B do not start at multiples of 32 bytes */
#define ALIGN_16 0
#endif
#if !ALIGN_16
#define COPY_16 "cp.async.cg.shared.global"
#elif PTX >= 90
#define COPY_16 "cp.async.ca.shared.global.L2::128B"
#else
#define COPY_16 "cp.async.ca.shared.global"
#endif

/* Make one copy, if more than `before` is left of the depth. If slices may be short (TAIL),
 * missing elements become 0; with `partial` one of two may exist. Predicates decide: a branch
 * would keep the compiler from interleaving copies and products. */
static void copy_whole(__local double *to, __global const double *from, int step, int partial,
                       int left, int before)
{
#if ASYNC
    const uint place = (uint)(size_t)to;
    if (TAIL && partial)
        __asm volatile(COPY_16 " [%0], [%1], 16, %2;" ::"r"(place), "l"(from),
                       "r"(clamp(left - before, 0, 2) * 8));
    else if (TAIL && step == 2)
        __asm volatile("{ .reg .pred p; setp.le.s32 p, %2, %3; " COPY_16
                       " [%0], [%1], 16, p; }" ::"r"(place),
                       "l"(from), "r"(left), "r"(before));
    else if (TAIL)
        __asm volatile(
            "{ .reg .pred p; setp.le.s32 p, %2, %3; cp.async.ca.shared.global [%0], [%1], 8, p; }" ::
                "r"(place),
            "l"(from), "r"(left), "r"(before));
    else if (step == 2)
        __asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p " COPY_16
                       " [%0], [%1], 16; }" ::"r"(place),
                       "l"(from), "r"((int)(left > before)));
    else
        __asm volatile(
            "{ .reg .pred p; setp.ne.s32 p, %2, 0; @p cp.async.ca.shared.global [%0], [%1], 8; }" ::
                "r"(place),
            "l"(from), "r"((int)(left > before)));
#endif
}

/* Return x, in a register from here on. NVIDIA's compiler would reload a kernel parameter for
 * every slice, into a register that a product still reads. */
static int kept_in_register(int x)
{
#if PTX
    __asm volatile("shfl.sync.idx.b32 %0, %0, 0, 31, 0xffffffff;" : "+r"(x));
#endif
    return x;
}

/* An operand, as an item's copies need it. */
struct source {
    __global const double *first; /* start of this tile's first slice */
    /* ld: leading dimension; exist, before: see copy_plan; advance: stride of slices. */
    int ld, exist, before, advance;
};

/* Remaining depth from the slice on that is copied next; with TAIL also from this item's first
 * copy of each operand on. */
struct left {
    int slice, a, b;
};

/* Return the remaining depth one slice further on. With TAIL each number stays in its own
 * register: the compiler would compute it in registers that it must wait for. */
static struct left next_slice_left(struct left x)
{
    x.slice -= BK;
#if TAIL && PTX
    __asm volatile("sub.s32 %0, %0, %2; sub.s32 %1, %1, %2;" : "+r"(x.a), "+r"(x.b) : "n"(BK));
#else
    x.a -= BK, x.b -= BK;
#endif
    return x;
}

/* Start copy q of a slice. The first COPIES_A copies are of A, the others of B. */
static void start_slice_copy(int q, struct left left, __local double *slot_a, const int *place_a,
                             const int *deep_a, __global const double *const *from_a,
                             __local double *slot_b, const int *place_b, const int *deep_b,
                             __global const double *const *from_b)
{
    const int p = q - COPIES_A;
    if (q < COPIES_A)
        copy_whole(slot_a + place_a[q], from_a[q], STEP_A, PARTIAL && WIDE_A && !TRANS_A,
                   TAIL ? left.a : left.slice, TAIL ? deep_a[q] - deep_a[0] : 0);
    else
        copy_whole(slot_b + place_b[p], from_b[p], STEP_B, PARTIAL && WIDE_B && TRANS_B,
                   TAIL ? left.b : left.slice, TAIL ? deep_b[p] - deep_b[0] : 0);
}

/* Finish a slice, whose copies have been started (without cp.async: make them), commit the batch,
 * and advance the pointers to the next slice. After the last slice the pointers still advance, but
 * nothing is read. Returns the remaining depth. */
static struct left end_copies(struct source a, __local double *slot_a,
                              __global const double **from_a, struct source b,
                              __local double *slot_b, __global const double **from_b, int depth,
                              struct left left, int thread)
{
#if !ASYNC
    const size_t at = (size_t)(depth - left.slice);
    copy_short(slot_a,
               a.first + (left.slice <= 0 ? 0
                          : TRANS_A       ? at * a.ld
                                          : at),
               COPIES_A, STEP_A, !TRANS_A, BM, a.ld, a.exist, a.before, left.slice, thread);
    copy_short(slot_b,
               b.first + (left.slice <= 0 ? 0
                          : TRANS_B       ? at
                                          : at * b.ld),
               COPIES_B, STEP_B, TRANS_B, BN, b.ld, b.exist, b.before, left.slice, thread);
#endif
    COMMIT();
#pragma unroll
    for (int q = 0; q < COPIES_A; q++)
        from_a[q] += a.advance;
#pragma unroll
    for (int q = 0; q < COPIES_B; q++)
        from_b[q] += b.advance;
    return next_slice_left(left);
}

/* ---- Fragments: from local memory to registers. ---------------------------------------------- */

#define ROWS (WM / 16)                     /* fragments down a warp's part of C; an even number */
#define COLS (WN / 8)                      /* fragments across */
#define FRAGMENTS (ROWS * COLS / K_GROUPS) /* fragments that a warp set stores */
#define ACROSS (COLS < FRAGMENTS ? COLS : FRAGMENTS) /* of them side by side */

/* Offset of a lane's base in a slice. The distance from one element of a lane to another is a
 * compile-time constant, equal in all lanes, with one exception: the permutation. With k
 * contiguous, k + 4 is two words further on in some lanes and two words back in others; with i
 * contiguous, i + 8 is 8 elements further on or back. So a lane has two bases: `which` = 1 is the
 * base for k + 4, or for i + 8. `from`: the warp's first row or column. */
static int base_of(int which, int along_k, int span, int from, int lane)
{
    const int g = lane >> 2, t = lane & 3;
    return along_k ? slice_offset(which * 4 + t, from + g, 1, span)
                   : slice_offset(t, from + which * 8 + g, 0, span);
}

/* Return the element that lane (g, t) holds of k = step * 8 + quad * 4 + t and i = eighth * 8 + g,
 * counted from the warp's first row or column. Example with i contiguous, a span of 128 and `from`
 * 0: lane (g = 1, t = 2) needs step 1, quad 1, eighth 3. Its base1 is the offset of k = 2, i = 8 +
 * 1: 2 * 128 + (9 ^ 8) = 257. The element is 12 rows and 16 elements further on: 257 + 12 * 128 +
 * 16 = 1809, which equals slice_offset(14, 25) = 14 * 128 + (25 ^ 8). */
static double fragment_element(__local const double *base0, __local const double *base1, int step,
                               int quad, int eighth, int along_k, int span)
{
    return along_k ? (quad ? base1 : base0)[(step * span + eighth * 8) * 8]
                   : (eighth % 2 ? base1 : base0)[(step * 8 + quad * 4) * span + eighth / 2 * 16];
}

/* Load a0, a1, a2, a3 of fragment row r, in a step of a slice. */
static void fill_a(double *av, __local const double *base0, __local const double *base1, int step,
                   int r)
{
#pragma unroll
    for (int e = 0; e < 4; e++)
        av[e] = fragment_element(base0, base1, step, e / 2, 2 * r + e % 2, !TRANS_A, BM);
}

/* Load b0, b1 of fragment column c. */
static void fill_b(double *bv, __local const double *base0, __local const double *base1, int step,
                   int c)
{
#pragma unroll
    for (int e = 0; e < 2; e++)
        bv[e] = fragment_element(base0, base1, step, e, c, TRANS_B, BN);
}

/* s += A's fragment x B's. The portable version, for tests, goes through local memory. */
#if PTX
static void mma_multiply(double *s, const double *av, const double *bv, __local double *exchange,
                         int thread)
{
    __asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
                   "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                   : "+d"(s[0]), "+d"(s[1]), "+d"(s[2]), "+d"(s[3])
                   : "d"(av[0]), "d"(av[1]), "d"(av[2]), "d"(av[3]), "d"(bv[0]), "d"(bv[1]));
}
#else
static void mma_multiply(double *s, const double *av, const double *bv, __local double *exchange,
                         int thread)
{
    const int lane = thread & 31, g = lane >> 2, t = lane & 3;
    __local double *a = exchange + (thread >> 5) * 192,
                   *b = a + 128; /* A [16][8], B [8][8] of this warp */
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

/* ---- The pipeline: the order of copies and products. ----------------------------------------- */

/* A slice is BK / 8 steps of ROWS x COLS products of fragments: product p is that of row p / COLS
 * and column p % COLS. A tensor core takes one product in 32 cycles, and all other work is placed
 * between products. In the shape for H200 (BK = 8, WM = 64, WN = 32: one step, four rows, four
 * columns) a slice looks like this:
 *
 *     product           0   1   2   3 | 4   5   6   7 | 8   9  10  11 |12  13  14  15
 *     row of fragments  0             | 1             | 2             | 3
 *     copies start      0,1             2,3         end        (of a later slice)
 *     A is filled       row 2           row 3           row 0           row 1
 *     B is filled                                       0   1   2   3   (columns, next slice)
 *     barrier                                         ^
 *
 * At the barrier all warps have read the last of this slice, and the next slice has arrived. What
 * follows the barrier reads from the next slice, and the copies of the next turn may write into
 * this slot:
 *
 *     slot 0    multiplied     copied into    -
 *     slot 1    -              multiplied     copied into      (STAGES = 3)
 *     slot 2    copied into    -              multiplied
 *
 * A has registers for four rows, filled two rows before they are multiplied; B has registers for
 * two steps, filled one step before. Slots and registers rotate, and are back after TURNS slices:
 * the loop is unrolled that far, so that every place is a compile-time constant and only pointers
 * are computed. */
#define STEPS (K_GROUP_DEPTH / 8)
#define PRODUCTS (STEPS * ROWS * COLS)      /* of a slice */
#define BARRIER ((STEPS * ROWS - 2) * COLS) /* the product after the barrier */
/* Products among which the copies start. */
#define SPREAD (BARRIER < ROWS * COLS / 2 ? BARRIER : ROWS * COLS / 2)
#define COPY_AT(q)                                                                                 \
    ((q) / 2 * 2 * SPREAD / COPIES) /* product after which copy q starts: two at a time */
#define TURNS (STEPS * STAGES % 2 ? 2 * STAGES : STAGES)
#if PTX
#define FOR_SLICES(count)                                                                          \
    for (int s = 0; s < (count);)                                                                  \
    _Pragma("unroll") for (int turn = 0; turn < TURNS; turn++) if (s++ < (count))
#else /* PoCL duplicates the body for every barrier */
#define FOR_SLICES(count) for (int s = 0, turn = 0; s < (count); s++, turn = s % TURNS)
#endif

/* ---- The product. ---------------------------------------------------------------------------- */

__kernel __attribute__((reqd_work_group_size(THREADS, 1, 1))) void matmul_mma(
    int m, int n, int k, double alpha, __global const double *restrict a, ulong a0, int lda,
    __global const double *restrict b, ulong b0, int ldb, double beta, __global double *c, ulong c0,
    int ldc, int whole, int splits, __global double *partial, ulong partial0,
    __global uint *counter STEP_ARGS)
{
    __local double slots[STAGES * (SLICE_A + SLICE_B)] __attribute__((aligned(128)));
    __local double *const as = slots, *const bs = slots + STAGES * SLICE_A;
#if PTX
    __local double *exchange = as; /* unused */
#else
    __local double exchange[THREADS * 6];
#endif

    /* This group's tile and part of the depth; this warp's part of the tile. */
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

    a += a0 + (TRANS_A ? (size_t)work.k0 * lda + row : (size_t)row * lda + work.k0);
    b += b0 + (TRANS_B ? (size_t)col * ldb + work.k0 : (size_t)work.k0 * ldb + col);
    const int depth = work.k1 - work.k0, slices = (depth + BK - 1) / BK;

    /* The copies of this item. */
    int offset_a[COPIES_A], place_a[COPIES_A], deep_a[COPIES_A], offset_b[COPIES_B],
        place_b[COPIES_B], deep_b[COPIES_B];
    plan_copies(offset_a, place_a, deep_a, COPIES_A, STEP_A, !TRANS_A, BM, lda, m - row, row > 0,
                thread);
    plan_copies(offset_b, place_b, deep_b, COPIES_B, STEP_B, TRANS_B, BN, ldb, n - col, col > 0,
                thread);

    double sum[ROWS * COLS * 4];
#pragma unroll
    for (int r = 0; r < ROWS * COLS * 4; r++)
        sum[r] = 0;

    __global const double *from_a[COPIES_A], *from_b[COPIES_B]; /* addresses of the next copies */
#pragma unroll
    for (int q = 0; q < COPIES_A; q++)
        from_a[q] = a + offset_a[q];
#pragma unroll
    for (int q = 0; q < COPIES_B; q++)
        from_b[q] = b + offset_b[q];
    const struct source source_a = {a, lda, m - row, row > 0,
                                    kept_in_register(TRANS_A ? BK * lda : BK)};
    const struct source source_b = {b, ldb, n - col, col > 0,
                                    kept_in_register(TRANS_B ? BK : BK * ldb)};
    const int first = kept_in_register(depth);
    struct left left = {first, first - deep_a[0], first - deep_b[0]};

/* Calls that stand in several places, for a slot. */
#define START_COPY(q, slot)                                                                        \
    start_slice_copy(q, left, as + (slot)*SLICE_A, place_a, deep_a, from_a, bs + (slot)*SLICE_B,   \
                     place_b, deep_b, from_b)
#define END_COPIES(slot)                                                                           \
    left = end_copies(source_a, as + (slot)*SLICE_A, from_a, source_b, bs + (slot)*SLICE_B,        \
                      from_b, depth, left, thread)

    /* Start the copies of the first slices and wait for the first one. */
#pragma unroll
    for (int slot = 0; slot < STAGES - 1; slot++) {
#pragma unroll
        for (int q = 0; q < COPIES; q++)
            START_COPY(q, slot);
        END_COPIES(slot);
    }
    AWAIT(STAGES - 2);
    barrier(CLK_LOCAL_MEM_FENCE);

    /* Load its first fragments. */
    double av[4][4], bv[2][COLS * 2]; /* A: four rows; B: two steps */
    __local const double *const a0s =
        as + set * K_GROUP_DEPTH * BM + base_of(0, !TRANS_A, BM, wm, lane);
    __local const double *const a1s =
        as + set * K_GROUP_DEPTH * BM + base_of(1, !TRANS_A, BM, wm, lane);
    __local const double *const b0s =
        bs + set * K_GROUP_DEPTH * BN + base_of(0, TRANS_B, BN, wn, lane);
    __local const double *const b1s =
        bs + set * K_GROUP_DEPTH * BN + base_of(1, TRANS_B, BN, wn, lane);
#pragma unroll
    for (int j = 0; j < COLS; j++)
        fill_b(bv[0] + 2 * j, b0s, b1s, 0, j);
    fill_a(av[0], a0s, a1s, 0, 0);
    fill_a(av[1], a0s, a1s, 0, 1);

    FOR_SLICES(slices)
    {
        const int here = turn % STAGES, next = (turn + 1) % STAGES,
                  before = (turn + STAGES - 1) % STAGES; /* slots */
        if (SPREAD == 0) {
#pragma unroll
            for (int q = 0; q < COPIES; q++)
                START_COPY(q, before);
            END_COPIES(before);
        }
#pragma unroll
        for (int p = 0; p < PRODUCTS; p++) {
            const int j = p % COLS, i = p / COLS % ROWS, step = p / (COLS * ROWS);
            const int line = turn * STEPS * ROWS +
                             p / COLS; /* rows of fragments so far: their registers rotate */
            /* The row of fragments that is filled during this one. */
            const int ahead = p / COLS + 2;
            const int b_step = (turn * STEPS + step) % 2, b_next = step + 1 < STEPS ? here : next;
            const int a_next = ahead < STEPS * ROWS ? here : next;
            if (p == BARRIER) {
                AWAIT(STAGES - 2);
                barrier(CLK_LOCAL_MEM_FENCE);
            }
            mma_multiply(sum + (i * COLS + j) * 4, av[line % 4], bv[b_step] + 2 * j, exchange,
                         thread);
            if (i == ROWS - 2)
                fill_b(bv[1 - b_step] + 2 * j, b0s + b_next * SLICE_B, b1s + b_next * SLICE_B,
                       (step + 1) % STEPS, j);
            if (j == 0)
                fill_a(av[(line + 2) % 4], a0s + a_next * SLICE_A, a1s + a_next * SLICE_A,
                       ahead / ROWS % STEPS, ahead % ROWS);
#pragma unroll
            for (int q = 0; q < COPIES; q++)
                if (p < SPREAD && p == COPY_AT(q))
                    START_COPY(q, before);
            if (p == SPREAD - 1)
                END_COPIES(before);
        }
    }

    reduce_k_groups(sum, FRAGMENTS * K_GROUPS * 4, slots, set, thread);
#if SPLIT_K == 2
    STORE_PARTIAL()
#else
    if (SPLIT_K && work.parts > 1 &&
        !splitk_reduce(work, sum, FRAGMENTS * 4, partial + partial0, counter, (__local uint *)slots,
                       thread))
        return;
#endif
    /* Eight rows of C at a time: the upper or the lower half of a row of fragments. */
    const int g = lane >> 2, t = lane & 3;
#if PIECES
    __local double *const piece = slots + thread / 32 * PIECE;
    AWAIT(0); /* unread copies may still be in flight to this memory */
#endif
#pragma unroll
    for (int eight = 0; eight < FRAGMENTS / ACROSS * 2; eight++) {
        const double *s = sum + eight / 2 * ACROSS * 4 + eight % 2 * 2;
        const int f = set * FRAGMENTS + eight / 2 * ACROSS,
                  y = row + wm + f / COLS * 16 + eight % 2 * 8, x = col + wn + f % COLS * 8;
#if PIECES
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
            *(__local double2 *)(piece + g * PIECE_ROW + j * 8 + 2 * t) =
                (double2)(s[j * 4], s[j * 4 + 1]);
        barrier(CLK_LOCAL_MEM_FENCE);
        store_piece(c + c0 + (size_t)y * ldc + x, ldc, piece, ACROSS * 8, 1, m - y, n - x, alpha,
                    beta, lane);
#else
#pragma unroll
        for (int j = 0; j < ACROSS; j++)
            if (y + g < m && x + j * 8 + 2 * t < n)
                store_run(c + c0 + (size_t)(y + g) * ldc + x + j * 8 + 2 * t,
                          (double2)(s[j * 4], s[j * 4 + 1]), alpha, beta, n - x - j * 8 - 2 * t);
#endif
    }
}
