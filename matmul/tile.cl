/* tile.cl - what fma.cl and mma.cl share: C in tiles, operands in slices.
 *
 *   C is cut into tiles of BM x BN, one for each work-group. A group is warps of 32 items, and a
 *   warp computes WM x WN of the tile:
 *
 *               BN                           op(A) and op(B) are cut along the depth into slices of
 *                                            BK. Local memory has
 *         +-----------+                      STAGES slots, each for a slice of both:
 *         | WN  |     |
 *         |WM 0 |  1  |                          time -->      s            s + 1        s + 2
 *     BM  |-----+-----|                          slot 0        multiplied   copied into  copied
 *         into
 *         |  2  |  3  |                          slot 1        arriving     multiplied   copied
 *            into
 *         |     |     |                          slot 2        arriving     arriving     multiplied
 *         +-----------+
 *
 *   A slot is filled again as soon as all warps have read its slice for the last time. With
 *   cp.async (ASYNC) a warp only asks for the bytes and goes on multiplying while they arrive.
 *
 *   When the tiles do not fill the device evenly, the last ones are shared: `splits` groups
 *   multiply a part of the depth each and leave their sums in `partial`. Those that come last add
 *   them up, or a kernel behind this one, always in the same order.
 *
 * Host code puts this file, behind last_group.cl, before the other two; read from a folder, they
 * include it.
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
#define WIDE_A                                                                                     \
    0 /* 1: rows of A start at multiples of 16 bytes, so that 16 can be copied at once             \
       */
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
#ifndef AHEAD
#define AHEAD 1 /* 1: registers of the next step are filled during this one; 0: fewer registers */
#endif
#ifndef RASTER
#define RASTER 8 /* rows of tiles that are walked together, for the sake of the cache */
#endif
#ifndef SPLIT
#define SPLIT                                                                                      \
    1 /* 1: groups that share a tile add up its parts; 2: matmul_join does; 0: every tile is one   \
         group's, which leaves more registers */
#endif
#ifndef EDGES
#define EDGES 1 /* 0: M is a multiple of BM, and N of BN */
#endif
#ifndef BATCH
#define BATCH 0 /* 1: many products, whose groups stand one behind the other */
#endif
#if !defined(ASYNC) || !PTX
#undef ASYNC
#define ASYNC 0 /* 1: cp.async, by PTX, from compute capability 8 on */
#endif

#ifndef SETS
#define SETS                                                                                       \
    1 /* 2 or 4: a group has so many times as many warps, and each set of them multiplies its part \
         of every slice */
#endif
#define DEEP (BK / SETS) /* of a slice that a set of warps multiplies */

#define THREADS ((BM / WM) * (BN / WN) * 32 * SETS)
#define INLINE                                                                                     \
    __attribute__((always_inline)) /* what their pointers point to are registers then              \
                                    */
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)

/* ---- From memory to local memory. ------------------------------------------------------------ */

/* Copies `step` elements, of which `valid` exist; the others become 0. */
static void copy(__local T *to, __global const T *from, int step, int valid)
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

/* The same address, of which the compiler knows nothing more: what is a constant apart from it
 * costs no instruction. Left alone it adds up each address anew. */
static __local T *kept_place(__local T *p)
{
#if PTX
    uint place = (uint)(size_t)p;
    __asm volatile("mov.b32 %0, %0;" : "+r"(place));
    return (__local T *)(size_t)place;
#else
    return p;
#endif
}

/* `by` elements further on, in a pair of registers of its own. */
static __global const T *further(__global const T *p, size_t by)
{
#if PTX
    ulong address = (ulong)p, bytes = by * SIZE;
    __asm volatile("add.s64 %0, %0, %1;" : "+l"(address) : "l"(bytes));
    return (__global const T *)address;
#else
    return p + by;
#endif
}

/* COMMIT ends a batch of copies; AWAIT returns when all but the last n batches are there. */
#if ASYNC
#define COMMIT() __asm volatile("cp.async.commit_group;" ::: "memory")
#define AWAIT(n) __asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")
#else
#define COMMIT()
#define AWAIT(n)
#endif

/* Which row of A, or column of B, a copy for number i of a tile brings: steps of `step`, of which
 * the first `exist` exist. What is brought for others is never stored. It is that of the tile
 * before, if there is one: if all repeated the last one, all groups at an edge would ask for one
 * address, and 577 took twice as long as 600. */
static int brought(int i, int step, int span, int exist, int before)
{
    const int last = (exist - 1) / step * step;
#if EDGES
    return i <= last ? i : before ? i - span : last;
#else
    return min(i, last); /* which it is; without this NVIDIA's compiler makes another loop */
#endif
}

/* ---- Which tile, and which part of the depth. ------------------------------------------------ */

/* The first row and column of a tile. Tiles are numbered down the columns of bands that are RASTER
 * tiles high, so that groups which run at the same time share rows of A and columns of B. With
 * RASTER 2, and 3 x 3 tiles:
 *
 *     0  2  4     tile 3 is in band 0, column 3 / 2 = 1, row 3 % 2 = 1
 *     1  3  5
 *     6  7  8     the last band is as high as what is left
 */
static int2 tile_corner(int tile, int m, int n)
{
    const int tiles_m = (m + BM - 1) / BM, tiles_n = (n + BN - 1) / BN;
    const int band = tile / (RASTER * tiles_n) * RASTER;
    const int high = min(RASTER, tiles_m - band), rest = tile - band * tiles_n;
    return (int2)((band + rest % high) * BM, rest / high * BN);
}

/* In a batch operand X of product p begins step_x elements behind that of product p - 1. */
#if BATCH
#define STEP_ARGS , ulong step_a, ulong step_b, ulong step_c
#else
#define STEP_ARGS
#endif

/* Of a group's number in a batch, which product it works for; the number becomes the one that it
 * has there. */
static ulong enter_product(int *group, int m, int n)
{
    const int tiles = (m + BM - 1) / BM * ((n + BN - 1) / BN), product = *group / tiles;
    *group -= product * tiles;
    return (ulong)product;
}

/* A group's work: its tile, which of `parts` parts of the depth, and from where to where that
 * goes. */
struct work {
    int tile, shared; /* shared: its number among the tiles that are, or -1 */
    int part, parts, k0, k1;
};

/* The first `whole` groups have a tile each, the others a part of one. With k = 4096, BK = 8, whole
 * = 128 and splits = 4, for example, group 133 has part (133 - 128) % 4 = 1 of tile 128 + 5 / 4 =
 * 129: its depth is 1024 to 2048. */
static struct work work_of(int group, int k, int whole, int splits)
{
    struct work w = {group, -1, 0, 1, 0, k};
    if (SPLIT && group >= whole) {
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

#ifndef FAN
#define FAN 4 /* parts that one group adds up at a time, at least 4 */
#endif
#define NEAR 8 /* parts of a sum that are on their way to an item of matmul_join together */

/* Leaves a group's sums, or the sum of a level, as number `slot` of a tile's. Sums lie as
 * [slot][register][item]. */
static INLINE void leave_sums(__global volatile T *partial, int slot, const T *sum, int regs)
{
    __global volatile T *own = partial + (size_t)slot * regs * THREADS;
#pragma unroll
    for (int r = 0; r < regs; r++)
        own[r * THREADS] = sum[r];
}

/* sum[] becomes the sum of `count` slots that are `apart` from each other, always in the same
 * order. It is the group's own slot that is read, too, so that nothing is kept in registers
 * meanwhile: with what was kept, tiles of 64 x 64 in double precision took 255 registers in place
 * of 162, and those of 128 x 256 in single spilled 1,080 bytes. */
static INLINE void add_slots(__global volatile T *partial, int slot, int apart, int count, T *sum,
                             int regs)
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

/* Adds up the parts of a shared tile as a tree, FAN at a time: of so many groups the one that comes
 * last adds up what they left, and goes on with that to the next level. Nobody waits. Returns true
 * in the group that has the whole. With 10 parts and FAN 4:
 *
 *     level 0    0 1 2 3    4 5 6 7    8 9        counters 0, 4 and 8
 *     level 1    0          4          8          counter 1
 *
 * A sum of a level stands in the slot of its first part. Each counter says how many have left their
 * sums there; it is 0 before and after. */
static int join_parts(struct work w, T *sum, int regs, __global volatile T *partial,
                      __global volatile uint *counter, __local uint *arrived, int thread)
{
    partial += (size_t)w.shared * w.parts * regs * THREADS + thread;
    counter += w.shared * w.parts;
    AWAIT(0); /* `arrived` lies where copies that nobody reads may still be going */
    for (int apart = 1, level = 0; apart < w.parts; apart *= FAN, level++) {
        const int first = w.part / (apart * FAN) * (apart * FAN), own = (w.part - first) / apart;
        const int count = min(FAN, (w.parts - first + apart - 1) / apart);
        if (count > 1) {
            leave_sums(partial, first + own * apart, sum, regs);
            barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
            if (thread == 0)
                *arrived = last_group_arrive(counter + first + level);
            barrier(CLK_GLOBAL_MEM_FENCE | CLK_LOCAL_MEM_FENCE);
            if (*arrived != (uint)count - 1)
                return 0;
            if (thread == 0)
                counter[first + level] = 0;
            add_slots(partial, first, apart, count, sum, regs);
        }
    }
    return 1;
}

/* ---- Sets of warps. -------------------------------------------------------------------------- */

#define QUAD (16 / SIZE) /* numbers that an item reads and writes at a time */

#define MOST                                                                                       \
    (STAGES * BK * (BM + BN) / THREADS / QUAD *                                                    \
     QUAD) /* numbers of an item that go at a time, where slices were */

/* Sets that are `apart` from each other exchange halves of their sums by way of local memory, and
 * each adds what it gets to the `keep` sums that it keeps; they then stand in front. */
static INLINE void exchange_sums(T *sum, int keep, int apart, __local T *exchange, int set,
                                 int thread)
{
    const int upper = set & apart, other = thread ^ (apart * (THREADS / SETS));
#pragma unroll
    for (int from = 0; from < keep; from += MOST) {
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int r = 0; r < MOST; r++)
            if (from + r < keep) {
                const T low = sum[from + r], high = sum[keep + from + r];
                sum[from + r] = upper ? high : low;
                exchange[(r / QUAD * THREADS + other) * QUAD + r % QUAD] = upper ? low : high;
            }
        barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
        for (int r = 0; r < MOST; r++)
            if (from + r < keep)
                sum[from + r] += exchange[(r / QUAD * THREADS + thread) * QUAD + r % QUAD];
    }
}

/* Adds up what the sets have: each of `regs` sums becomes the whole in one set, the first regs /
 * SETS of sum[] in set 0, the next ones in set 1 and so on. With four sets and regs = 8:
 *
 *     set 0    0 1 2 3 4 5 6 7        set 0    0 1 2 3 of sets 0 + 2        set 0    0 1 of (0 + 2)
 *              + (1 + 3)
 *     set 1    0 1 2 3 4 5 6 7        set 1    0 1 2 3 of sets 1 + 3        set 1    2 3
 *     set 2    0 1 2 3 4 5 6 7        set 2    4 5 6 7 of sets 2 + 0        set 2    4 5
 *     set 3    0 1 2 3 4 5 6 7        set 3    4 5 6 7 of sets 3 + 1        set 3    6 7 */
static INLINE void join_sets(T *sum, int regs, __local T *exchange, int set, int thread)
{
#if SETS > 1
    AWAIT(0); /* copies that nobody reads may still be going there */
    exchange_sums(sum, regs / 2, SETS / 2, exchange, set, thread);
#endif
#if SETS > 2
    exchange_sums(sum, regs / 4, 1, exchange, set, thread);
#endif
}

/* ---- From registers to C. -------------------------------------------------------------------- */

/* How many elements of an item stand side by side in C. */
#ifndef RUN
#define RUN 4
#endif
typedef CAT(T, RUN) run_t;

/* C = alpha v + beta C in the first `exist` elements of a run; with beta 0 C is not read. */
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

/* Where rows of C begin anywhere, runs go one element at a time, and those of a warp lie in many
 * lines of memory. So a warp leaves 8 rows of its part of the tile in local memory, a piece, and
 * stores them row by row. PIECES: whether there is room where slices were. */
#define PIECE_ROW (WN + 8) /* from one row of a piece to the next, which begins in other banks */
#define PIECE (8 * PIECE_ROW)
#define PIECES (!WIDE_C && THREADS / 32 * PIECE <= STAGES * BK * (BM + BN))

/* C = alpha piece + beta C, `across` elements of each of the 8 rows, which are `apart` rows from
 * each other in C. `rows` and `cols`: how many of C exist from `to` on. */
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

/* ---- Shared tiles. --------------------------------------------------------------------------- */

#if SPLIT == 2

/* A shared tile's part is stored as it is, behind the parts before it: a tile of BM x BN. */
#define STORE_PART()                                                                               \
    if (work.parts > 1) {                                                                          \
        c = partial + partial0 + ((size_t)work.shared * work.parts + work.part) * BM * BN;         \
        c0 = 0, ldc = BN, m = BM, n = BN, row = 0, col = 0, alpha = 1, beta = 0;                   \
    }

/* C = alpha times the sum of all parts, in their order, + beta C, of the tiles behind the first
 * `whole`. An item has a run of a tile. */
__kernel void matmul_join(int m, int n, T alpha, T beta, __global T *c, ulong c0, int ldc,
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
    for (int first = 0; first < parts; first += NEAR) {
        run_t part[NEAR];
#pragma unroll
        for (int p = 0; p < NEAR; p++)
            part[p] = first + p < parts ? from[(size_t)(first + p) * runs] : (run_t)(0);
#pragma unroll
        for (int p = 0; p < NEAR; p++)
            sum += part[p];
    }
    store_run(c + c0 + (size_t)y * ldc + x, sum, alpha, beta, n - x);
}
#endif

#endif
