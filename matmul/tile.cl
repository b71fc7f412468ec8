/* tile.cl - the common part of fma.cl and mma.cl: C in tiles, operands in slices.
 *
 *   C is cut into tiles of BM x BN, one for each work-group. A group is warps of 32 items, and a
 *   warp computes WM x WN of the tile. op(A) and op(B) are cut along the depth into slices of BK.
 *   Local memory has STAGES slots, each for a slice of both:
 *
 *               BN
 *         +-----------+            time -->   s            s + 1        s + 2
 *         | WN  |     |
 *         |WM 0 |  1  |            slot 0     multiplied   copied into  copied into
 *     BM  |-----+-----|            slot 1     arriving     multiplied   copied into
 *         |  2  |  3  |            slot 2     arriving     arriving     multiplied
 *         |     |     |
 *         +-----------+
 *
 *   A slot is refilled as soon as all warps have read its slice for the last time. With cp.async
 *   (ASYNC) a warp only requests the bytes and goes on multiplying while they arrive.
 *
 *   If tiles do not fill the device evenly, K of the last tiles is split: `splits` groups multiply
 * a part of the depth each and store their sums in `partial`. The last-arriving groups reduce them
 *   as a tree, or a separate kernel does, always in the same order.
 *
 * Host code puts this file after last_group.cl and before the two; read from a folder, they include
 * it.
 * SPDX-License-Identifier: MIT
 */
#ifndef MATMUL_TILE
#define MATMUL_TILE
#ifndef MATMUL_LAST_GROUP
#include "last_group.cl"
#endif

#ifdef DOUBLES
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define T double
#define SIZE 8
#else
#define T float
#define SIZE 4
#endif
#ifndef BM
#define BM 128
#endif
#ifndef BN
#define BN 128
#endif
#ifndef BK
#define BK 8 /* a multiple of 8 */
#endif
#ifndef WM
#define WM 64
#endif
#ifndef WN
#define WN 32
#endif
#ifndef STAGES
#define STAGES 3 /* at least 2 */
#endif
#ifndef TRANS_A
#define TRANS_A 0 /* 1: A is stored K x M */
#endif
#ifndef TRANS_B
#define TRANS_B 0 /* 1: B is stored N x K */
#endif
#ifndef WIDE_A
/* 1: rows of A start at multiples of 16 bytes, so that 16 can be copied at once */
#define WIDE_A 0
#endif
#ifndef WIDE_B
#define WIDE_B 0
#endif
#ifndef WIDE_C
#define WIDE_C 0
#endif
#ifndef TAIL
#define TAIL 1 /* 0: K is a multiple of BK */
#endif
#ifndef PREFETCH
/* 1: the next step's registers are filled during this one; 0: fewer registers */
#define PREFETCH 1
#endif
#ifndef SWIZZLE
#define SWIZZLE 8 /* rows of tiles in a band, for reuse in the cache */
#endif
#ifndef SPLIT_K
/* 1: the groups of a split tile reduce its partials; 2: matmul_splitk_reduce does; 0: no tile is
 * split, which leaves more registers */
#define SPLIT_K 1
#endif
#ifndef EDGES
#define EDGES 1 /* 0: M is a multiple of BM, and N of BN */
#endif
#ifndef BATCH
#define BATCH 0 /* 1: many products; their groups are numbered consecutively */
#endif
#if !defined(ASYNC) || !PTX
#undef ASYNC
#define ASYNC 0 /* 1: cp.async, by PTX, from compute capability 8 on */
#endif

#ifndef K_GROUPS
/* 2 or 4: sets of warps in a group; each set multiplies its part of every slice (sliced K) */
#define K_GROUPS 1
#endif
#define K_GROUP_DEPTH (BK / K_GROUPS) /* depth of a slice for one warp set */

#define THREADS ((BM / WM) * (BN / WN) * 32 * K_GROUPS)
/* Arrays of an item, passed by pointer, stay in registers. */
#define INLINE __attribute__((always_inline))
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)

/* ---- From global to local memory. ------------------------------------------------------------ */

/* Copy the first `valid` of `step` elements and set the others to 0. */
static void copy_elements(__local T *to, __global const T *from, int step, int valid)
{
#if ASYNC
    uint place = (uint)(size_t)to;
    int bytes = valid * SIZE;
    if (step * SIZE == 16)
        __asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(from),
                       "r"(bytes));
    else if (step * SIZE == 8)
        __asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(place), "l"(from),
                       "r"(bytes));
    else
        __asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(place), "l"(from),
                       "r"(bytes));
#else
    for (int e = 0; e < step; e++)
        to[e] = e < valid ? from[e] : (T)0;
#endif
}

/* Return p, as an address that the compiler knows nothing about: places at constant distances from
 * it then cost no instruction. Otherwise the compiler computes each address again. */
static __local T *opaque_pointer(__local T *p)
{
#if PTX
    uint place = (uint)(size_t)p;
    __asm volatile("mov.b32 %0, %0;" : "+r"(place));
    return (__local T *)(size_t)place;
#else
    return p;
#endif
}

/* Return p + by, in its own pair of registers. */
static __global const T *advance_pointer(__global const T *p, size_t by)
{
#if PTX
    ulong address = (ulong)p, bytes = by * SIZE;
    __asm volatile("add.s64 %0, %0, %1;" : "+l"(address) : "l"(bytes));
    return (__global const T *)address;
#else
    return p + by;
#endif
}

/* COMMIT ends a batch of copies; AWAIT(n) blocks until all but the last n batches have arrived. */
#if ASYNC
#define COMMIT() __asm volatile("cp.async.commit_group;" ::: "memory")
#define AWAIT(n) __asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#else
#define COMMIT()
#define AWAIT(n)
#endif

/* Return the row of A, or column of B, that a copy for index i of a tile fetches, in steps of
 * `step`. The first `exist` exist. For others a row of the previous tile is fetched, if there is
 * one, and never stored. If all fetched the last row, all groups at an edge would request one
 * address, which took twice the time. */
static int existing_index(int i, int step, int span, int exist, int before)
{
    const int last = (exist - 1) / step * step;
#if EDGES
    return i <= last ? i : before ? i - span : last;
#else
    /* Equals i; without the call NVIDIA's compiler makes a slower loop. */
    return min(i, last);
#endif
}

/* ---- Tile and part of the depth of a group. -------------------------------------------------- */

/* Return the first row and column of a tile (swizzle). Tiles are numbered down the columns of bands
 * of SWIZZLE rows of tiles, so that concurrent groups share rows of A and columns of B. With
 * SWIZZLE 2 and 3 x 3 tiles:
 *
 *     0  2  4     tile 3 is in band 0, column 3 / 2 = 1, row 3 % 2 = 1
 *     1  3  5
 *     6  7  8     the last band has the remaining rows */
static int2 tile_corner(int tile, int m, int n)
{
    const int tiles_m = (m + BM - 1) / BM, tiles_n = (n + BN - 1) / BN;
    const int band = tile / (SWIZZLE * tiles_n) * SWIZZLE;
    const int high = min(SWIZZLE, tiles_m - band), rest = tile - band * tiles_n;
    return (int2)((band + rest % high) * BM, rest / high * BN);
}

/* In a batch, operand X of product p starts step_x elements after that of product p - 1. */
#if BATCH
#define STEP_ARGS , ulong step_a, ulong step_b, ulong step_c
#else
#define STEP_ARGS
#endif

/* Return the product of a batch that a group works for, and change the group's number to the one
 * within the product. */
static ulong batch_product(int *group, int m, int n)
{
    const int tiles = (m + BM - 1) / BM * ((n + BN - 1) / BN), product = *group / tiles;
    *group -= product * tiles;
    return (ulong)product;
}

/* A group's work: its tile, and its part of the depth, k0 ... k1 - 1. */
struct tile_work {
    int tile, shared; /* shared: index among the split tiles, or -1 */
    int part, parts, k0, k1;
};

/* The first `whole` groups have a tile each, the others a part of one. Example with k = 4096, BK =
 * 8, whole = 128 and splits = 4: group 133 has part (133 - 128) % 4 = 1 of tile 128 + 5 / 4 = 129,
 * depth 1024 to 2048. */
static struct tile_work tile_work_of(int group, int k, int whole, int splits)
{
    struct tile_work w = {group, -1, 0, 1, 0, k};
    if (SPLIT_K && group >= whole) {
        const int span = ((k + BK - 1) / BK + splits - 1) / splits * BK;
        w.shared = (group - whole) / splits;
        w.tile = whole + w.shared;
        w.part = (group - whole) % splits;
        w.parts = splits;
        w.k0 = min(k, w.part * span);
        w.k1 = min(k, w.k0 + span);
    }
    return w;
}

#ifndef REDUCE_FANIN
#define REDUCE_FANIN 4 /* partials that a group adds at a time, at least 4 */
#endif
/* Partials in flight of an item of matmul_splitk_reduce. */
#define PARTS_IN_FLIGHT 8

/* Store a group's sums, or the sums of a level, as number `slot` of a tile. The layout is
 * [slot][register][item]. */
static INLINE void store_partial(__global volatile T *partial, int slot, const T *sum, int regs)
{
    __global volatile T *own = partial + (size_t)slot * regs * THREADS;
#pragma unroll
    for (int r = 0; r < regs; r++)
        own[r * THREADS] = sum[r];
}

/* sum[] becomes the sum of `count` slots at distance `apart`, always in the same order. The
 * group's own slot is read back, too, so that no sums stay in registers meanwhile: keeping them
 * took 255 registers instead of 162 in tiles of 64 x 64 in double precision, and spilled in 128 x
 * 256 in single. */
static INLINE void sum_partials(__global volatile T *partial, int slot, int apart, int count,
                                T *sum, int regs)
{
    __global volatile T *part = partial + (size_t)slot * regs * THREADS;
#pragma unroll
    for (int r = 0; r < regs; r++)
        sum[r] = part[r * THREADS];
    for (int p = 1; p < count; p++) {
        part += (size_t)apart * regs * THREADS;
#pragma unroll
        for (int r = 0; r < regs; r++)
            sum[r] += part[r * THREADS];
    }
}

/* Reduce the partials of a split tile as a tree, REDUCE_FANIN at a time: the last-arriving of
 * REDUCE_FANIN groups adds their partials and enters the next level with the sum. No group waits.
 * Returns true in the group that has the total. With 10 parts and REDUCE_FANIN 4:
 *
 *     level 0    0 1 2 3    4 5 6 7    8 9        counters 0, 4 and 8
 *     level 1    0          4          8          counter 1
 *
 * The sum of a level is in the slot of its first part. Each counter has the number of groups that
 * have stored their sums; it is 0 before and after. */
static int splitk_reduce(struct tile_work w, T *sum, int regs, __global volatile T *partial,
                         __global volatile uint *counter, __local uint *arrived, int thread)
{
    partial += (size_t)w.shared * w.parts * regs * THREADS + thread;
    counter += w.shared * w.parts;
    AWAIT(0); /* unread copies may still be in flight to `arrived` */
    for (int apart = 1, level = 0; apart < w.parts; apart *= REDUCE_FANIN, level++) {
        const int first = w.part / (apart * REDUCE_FANIN) * (apart * REDUCE_FANIN),
                  own = (w.part - first) / apart;
        const int count = min(REDUCE_FANIN, (w.parts - first + apart - 1) / apart);
        if (count > 1) {
            store_partial(partial, first + own * apart, sum, regs);
            barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
            if (thread == 0)
                *arrived = last_group_arrive(counter + first + level);
            barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
            if (*arrived != (uint)count - 1)
                return 0;
            if (thread == 0)
                counter[first + level] = 0;
            sum_partials(partial, first, apart, count, sum, regs);
        }
    }
    return 1;
}

/* ---- Sliced K. ------------------------------------------------------------------------------- */

#define QUAD (16 / SIZE) /* numbers that an item reads or writes at a time */

/* Numbers of an item that are exchanged at a time, in the memory of the slices. */
#define EXCHANGE_MAX (STAGES * BK * (BM + BN) / THREADS / QUAD * QUAD)

/* Warp sets at distance `apart` exchange halves of their sums through local memory. Each set adds
 * what it receives to the `keep` sums that it keeps, which are then the first ones. */
static INLINE void exchange_sums(T *sum, int keep, int apart, __local T *exchange, int set,
                                 int thread)
{
    const int upper = set & apart, other = thread ^ (apart * (THREADS / K_GROUPS));
#pragma unroll
    for (int from = 0; from < keep; from += EXCHANGE_MAX) {
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int r = 0; r < EXCHANGE_MAX; r++)
            if (from + r < keep) {
                const T low = sum[from + r], high = sum[keep + from + r];
                sum[from + r] = upper ? high : low;
                exchange[(r / QUAD * THREADS + other) * QUAD + r % QUAD] = upper ? low : high;
            }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int r = 0; r < EXCHANGE_MAX; r++)
            if (from + r < keep)
                sum[from + r] += exchange[(r / QUAD * THREADS + thread) * QUAD + r % QUAD];
    }
}

/* Reduce the sums of the warp sets: each of `regs` sums becomes complete in one set, the first regs
 * / K_GROUPS of sum[] in set 0, the next ones in set 1 and so on. With four sets and regs = 8:
 *
 *     set 0   0 1 2 3 4 5 6 7      set 0   0 1 2 3 of 0 + 2      set 0   0 1 of (0 + 2) + (1 + 3)
 *     set 1   0 1 2 3 4 5 6 7      set 1   0 1 2 3 of 1 + 3      set 1   2 3
 *     set 2   0 1 2 3 4 5 6 7      set 2   4 5 6 7 of 2 + 0      set 2   4 5
 *     set 3   0 1 2 3 4 5 6 7      set 3   4 5 6 7 of 3 + 1      set 3   6 7 */
static INLINE void reduce_k_groups(T *sum, int regs, __local T *exchange, int set, int thread)
{
#if K_GROUPS > 1
    AWAIT(0); /* unread copies may still be in flight to this memory */
    exchange_sums(sum, regs / 2, K_GROUPS / 2, exchange, set, thread);
#endif
#if K_GROUPS > 2
    exchange_sums(sum, regs / 4, 1, exchange, set, thread);
#endif
}

/* ---- From registers to C. -------------------------------------------------------------------- */

/* Elements of an item that are side by side in C. */
#ifndef RUN
#define RUN 4
#endif
typedef CAT(T, RUN) run_t;

/* C = alpha v + beta C in the first `exist` elements of a run. With beta 0 C is not read. */
static void store_run(__global T *to, run_t v, T alpha, T beta, int exist)
{
    v *= alpha;
    if (WIDE_C && exist >= RUN) {
        if (beta != 0)
            v = fma((run_t)(beta), *(__global run_t *)to, v);
        *(__global run_t *)to = v;
    } else {
#pragma unroll
        for (int e = 0; e < RUN; e++)
            if (e < exist)
                to[e] = beta == 0 ? ((T *)&v)[e] : fma(beta, to[e], ((T *)&v)[e]);
    }
}

/* Where rows of C are unaligned, runs are stored element by element, and the runs of a warp are in
 * many lines of memory. So a warp stages 8 rows of its part of the tile in local memory, a piece,
 * and stores them row by row. PIECES: 1 if the pieces fit in the memory of the slices. */
#define PIECE_ROW (WN + 8) /* stride of rows of a piece, for different banks */
#define PIECE (8 * PIECE_ROW)
#define PIECES (!WIDE_C && THREADS / 32 * PIECE <= STAGES * BK * (BM + BN))

/* C = alpha piece + beta C, `across` elements of each of the 8 rows, which are `apart` rows apart
 * in C. rows and cols: rows and columns of C that exist from `to` on. */
static INLINE void store_piece(__global T *to, int ldc, __local const T *piece, int across,
                               int apart, int rows, int cols, T alpha, T beta, int lane)
{
#pragma unroll
    for (int e = 0; e < 8 * across; e += 32) {
        const int y = (e + lane) / across, x = (e + lane) % across;
        if (y * apart < rows && x < cols) {
            __global T *at = to + (size_t)(y * apart) * ldc + x;
            const T v = alpha * piece[y * PIECE_ROW + x];
            *at = beta == 0 ? v : fma(beta, *at, v);
        }
    }
}

/* ---- Split tiles. ---------------------------------------------------------------------------- */

#if SPLIT_K == 2

/* A split tile's partial is stored unscaled, after the partials before it: a tile of BM x BN. */
#define STORE_PARTIAL()                                                                            \
    if (work.parts > 1) {                                                                          \
        c = partial + partial0 + ((size_t)work.shared * work.parts + work.part) * BM * BN;         \
        c0 = 0, ldc = BN, m = BM, n = BN, row = 0, col = 0, alpha = 1, beta = 0;                   \
    }

/* C = alpha (sum of all partials, in order) + beta C, of the tiles from `whole` on. An item has a
 * run of a tile. */
__kernel void matmul_splitk_reduce(int m, int n, T alpha, T beta, __global T *c, ulong c0, int ldc,
                                   int whole, int parts, __global const T *partial, ulong partial0)
{
    const int runs = BM * BN / RUN, shared = (int)(get_global_id(0) / runs),
              run = (int)(get_global_id(0) % runs);
    const int2 corner = tile_corner(whole + shared, m, n);
    const int y = corner.x + run / (BN / RUN), x = corner.y + run % (BN / RUN) * RUN;
    if (y >= m || x >= n)
        return;
    __global const run_t *from =
        (__global const run_t *)(partial + partial0 + (size_t)shared * parts * BM * BN) + run;
    run_t sum = (run_t)(0);
    for (int first = 0; first < parts; first += PARTS_IN_FLIGHT) {
        run_t part[PARTS_IN_FLIGHT];
#pragma unroll
        for (int p = 0; p < PARTS_IN_FLIGHT; p++)
            part[p] = first + p < parts ? from[(size_t)(first + p) * runs] : (run_t)(0);
#pragma unroll
        for (int p = 0; p < PARTS_IN_FLIGHT; p++)
            sum += part[p];
    }
    store_run(c + c0 + (size_t)y * ldc + x, sum, alpha, beta, n - x);
}
#endif

#endif
