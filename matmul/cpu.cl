/* cpu.cl - C = alpha op(A) op(B) + beta C for CPUs: SIMD vectors, cache blocking, no barriers.
 *
 *   After K. Goto and R. van de Geijn, "Anatomy of high-performance matrix multiplication", ACM
 *   TOMS 34 (2008). A work-group is one item, which runs on one core:
 *
 *     micro tile  ROWS x COLS of C (COLS = VECTORS x WIDTH) in registers. A step along k takes
 *                 VECTORS vectors of B and ROWS numbers of A, each broadcast to a vector.
 *     panel of B  DEPTH x COLS. Stays in the first-level cache while all micro tiles of a column
 *                 use it.
 *     block of A  up to `high` x ROWS rows x DEPTH. Stays in the second-level cache, for all panels
 *                 of B. The group copies it there, into local memory, once for each block of the
 *                 depth.
 *
 *            COLS                          k ->   COLS
 *        +-----+-----+-----+         +---------+-----+    One group:
 *   ROWS |tile |     |     |    ROWS |         |     |    for each block of the depth
 *        +-----+-----+-----+   =     +---------+panel|        pack a block of A
 *        |     |     |     |         | block   |of B |        for each panel of B
 *        +-----+-----+-----+         | of A    |DEPTH|            for each tile down
 *                                    +---------+rows |                tile += A B
 *
 *   matmul_pack_b packs B in advance, for all groups, as [panel][k][COLS], with zeros past the last
 *   column. With few rows of A packing does not pay. B is then read in place (DIRECT), whole panels
 *   only. A's block is [tile][k][ROWS], so that a micro tile reads both operands sequentially. Rows
 *   past the last one repeat it and are never stored.
 *
 *   A micro tile prefetches a line or two at a time: B for STEPS steps later and, near its end, the
 *   rows of C that it adds to, into the first-level cache; the next panel of B into the
 *   second-level cache.
 * SPDX-License-Identifier: MIT
 */
#ifdef DOUBLES
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define T double
#else
#define T float
#endif
#if defined(DOUBLES) ? defined(FP_FAST_FMA) : defined(FP_FAST_FMAF)
#define HAS_FMA 1
#else
#define HAS_FMA 0
#endif
#ifndef WIDTH
#define WIDTH 8 /* elements of a vector: 4, 8 or 16 */
#endif
#ifndef ROWS
#define ROWS 6
#endif
#ifndef VECTORS
#define VECTORS 2
#endif
#ifndef DEPTH
#define DEPTH 256 /* a multiple of WIDTH */
#endif
#ifndef UNROLL
#define UNROLL 1
#endif
#ifndef TRANS_A
#define TRANS_A 0 /* 1: A is stored K x M */
#endif
#ifndef TRANS_B
#define TRANS_B 0 /* 1: B of a batch is stored N x K */
#endif
#ifndef DIRECT
/* 1: matmul_cpu reads B in place, not transposed; n is a multiple of COLS. */
#define DIRECT 0
#endif

#ifndef BATCH
#define BATCH 0 /* 1: many products */
#endif

#define COLS (VECTORS * WIDTH)
#define STEPS 8 /* along k, between two prefetched lines */
#define LINE (64 / (int)sizeof(T))
/* Lines of a panel of B, for a prefetch every STEPS steps. */
#define PREFETCH_LINES ((STEPS * COLS + LINE - 1) / LINE)
#define GROUPS_OF_ROWS ((ROWS + WIDTH - 1) / WIDTH)
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
typedef CAT(T, WIDTH) vec;
#define LOAD(p) CAT(vload, WIDTH)(0, p)
#define STORE(v, p) CAT(vstore, WIDTH)(v, 0, p)
#if DIRECT
#define LOAD_B(p) LOAD(p)
#define STEP_B ldb
#else
#define LOAD_B(p) *(__global const vec *)(p)
#define STEP_B COLS
#endif
#define UNROLLED _Pragma("unroll")

/* Without hardware support fma() is a slow function. */
#if HAS_FMA
#define MULTIPLY_ADD(a, b, c) fma(a, b, c)
#else
#define MULTIPLY_ADD(a, b, c) ((a) * (b) + (c))
#endif

/* Prefetch hints: into the first-level cache, to write or to read, or into the second-level cache.
 * An address outside memory has no effect. PoCL ignores OpenCL's prefetch(), so these are clang's
 * builtin, and only where the kernel is compiled for a CPU (PoCL): a driver with an intermediate
 * form (rusticl, Oclgrind) rejects the builtin. */
#if defined(__clang__) &&                                                                          \
    (defined(__x86_64__) || defined(__aarch64__) || defined(__powerpc64__) || defined(__riscv))
#define FETCH_TO_WRITE(p) __builtin_prefetch((const void *)(size_t)(p), 1, 3)
#define FETCH_SOON(p) __builtin_prefetch((const void *)(size_t)(p), 0, 3)
#define FETCH_LATER(p) __builtin_prefetch((const void *)(size_t)(p), 0, 2)
#else
#define FETCH_TO_WRITE(p)
#define FETCH_SOON(p)
#define FETCH_LATER(p)
#endif

/* ---- Packing. -------------------------------------------------------------------------------- */

/* Pack rows k0 ... k1 - 1 of the panel of B that starts with column `col`. trans: B is stored N x
 * K. `to` holds k x COLS for each panel. */
static void pack_panel(bool trans, int n, int k, int col, int k0, int k1,
                       __global const T *restrict b, ulong ldb, __global T *restrict to)
{
    const int exist = min(COLS, n - col);
    const ulong step = trans ? 1 : ldb,
                apart = trans ? ldb : 1; /* strides of rows and of columns */
    to += (size_t)col * k;
    b += (ulong)col * apart;
    for (int x = k0; x < k1; x++)
        if (!trans && exist == COLS) {
            UNROLLED for (int v = 0; v < VECTORS; v++)
                STORE(LOAD(b + x * ldb + v * WIDTH), to + (size_t)x * COLS + v * WIDTH);
        } else {
            for (int j = 0; j < COLS; j++)
                to[(size_t)x * COLS + j] = j < exist ? b[j * apart + x * step] : (T)0;
        }
}

/* A group packs DEPTH rows of one panel. */
__kernel void matmul_pack_b(int n, int k, __global const T *restrict b, ulong b0, ulong ldb,
                            __global T *restrict to)
{
    const int col = (int)get_group_id(0) * COLS, k0 = (int)get_group_id(1) * DEPTH;
    pack_panel(false, n, k, col, k0, min(k, k0 + DEPTH), b + b0, ldb, to);
}

/* matmul_pack_b for a B that is stored N x K. */
__kernel void matmul_pack_b_transposed(int n, int k, __global const T *restrict b, ulong b0,
                                       ulong ldb, __global T *restrict to)
{
    const int col = (int)get_group_id(0) * COLS, k0 = (int)get_group_id(1) * DEPTH;
    pack_panel(true, n, k, col, k0, min(k, k0 + DEPTH), b + b0, ldb, to);
}

#if !TRANS_A
/* Transpose: row i of v becomes its column i. Each round halves the length of a row and doubles
 * the number of rows side by side. */
static void transpose(vec v[WIDTH])
{
    UNROLLED for (int round = 1; round < WIDTH; round *= 2)
    {
        vec w[WIDTH];
        UNROLLED for (int i = 0; i < WIDTH / 2; i++)
        {
            w[2 * i].even = v[i].lo, w[2 * i].odd = v[i + WIDTH / 2].lo;
            w[2 * i + 1].even = v[i].hi, w[2 * i + 1].odd = v[i + WIDTH / 2].hi;
        }
        UNROLLED for (int i = 0; i < WIDTH; i++) v[i] = w[i];
    }
}
#endif

/* Pack the rows of A of one micro tile, for a depth that starts at `a`; `exist` of the rows exist.
 * Whole vectors are stored: up to WIDTH - 1 elements past the tile are overwritten. */
static void pack_a(__local T *to, __global const T *a, ulong lda, int exist, int depth)
{
    int x = 0;
#if TRANS_A
    for (; x < depth; x++, to += ROWS)
        for (int r = 0; r < ROWS; r++)
            to[r] = a[x * lda + min(r, exist - 1)];
#else
    for (; x + WIDTH <= depth; x += WIDTH, to += WIDTH * ROWS) {
        vec v[GROUPS_OF_ROWS][WIDTH];
        UNROLLED for (int g = 0; g < GROUPS_OF_ROWS; g++)
        {
            UNROLLED for (int i = 0; i < WIDTH; i++) v[g][i] =
                LOAD(a + min(min(g * WIDTH + i, ROWS - 1), exist - 1) * lda + x);
            transpose(v[g]);
        }
        UNROLLED for (int e = 0; e < WIDTH; e++) UNROLLED for (int g = 0; g < GROUPS_OF_ROWS; g++)
            STORE(v[g][e], to + e * ROWS + g * WIDTH);
    }
    for (; x < depth; x++, to += ROWS)
        for (int r = 0; r < ROWS; r++)
            to[r] = a[min(r, exist - 1) * lda + x];
#endif
}

/* ---- The micro tile. ------------------------------------------------------------------------- */

/* One step along k: `b` holds VECTORS vectors, `a` one number of each of ROWS rows. `soon`: the
 * address read STEPS steps later. */
static void step_along_k(vec sum[ROWS][VECTORS], __local const T *a, __global const T *b,
                         __global const T *soon)
{
    vec bv[VECTORS];
    UNROLLED for (int v = 0; v < VECTORS; v++) bv[v] = LOAD_B(b + v * WIDTH);
    UNROLLED for (int j = 0; j < COLS; j += LINE) FETCH_SOON(soon + j);
    UNROLLED for (int r = 0; r < ROWS; r++)
    {
        const vec av = (vec)(a[r]);
        UNROLLED for (int v = 0; v < VECTORS; v++) sum[r][v] = MULTIPLY_ADD(av, bv[v], sum[r][v]);
    }
}

static void fetch_row(__global const T *c)
{
    UNROLLED for (int j = 0; j < COLS; j += LINE) FETCH_TO_WRITE(c + j);
    FETCH_TO_WRITE(c + COLS - 1);
}

/* C = alpha A B + beta C for one micro tile, over `depth` of k. rows and cols: the part of the
 * tile that exists. Prefetches `fetch_lines` times depth / STEPS lines of the next panel of B,
 * from `next` on. */
static void tile(__local const T *a, __global const T *b, ulong ldb, int depth, T alpha, T beta,
                 __global T *c, ulong ldc, int rows, int cols, __global const T *next,
                 int fetch_lines)
{
    vec sum[ROWS][VECTORS];
    UNROLLED for (int r = 0; r < ROWS; r++) UNROLLED for (int v = 0; v < VECTORS; v++) sum[r][v] =
        (vec)(0);
    int steps = depth / STEPS;
    const int apart = steps * LINE;
    /* Rows of C left to prefetch: one every STEPS steps at the end, those without a step in
     * advance. */
    int left = rows;
    for (; left > steps; left--)
        fetch_row(c + (left - 1) * ldc);
    for (; steps > 0; steps--, a += STEPS * ROWS, b += STEPS * STEP_B, next += LINE) {
        if (left == steps) {
            left--;
            fetch_row(c + left * ldc);
        }
        for (int s = 0; s < fetch_lines; s++)
            FETCH_LATER(next + s * apart);
#pragma unroll UNROLL
        for (int e = 0; e < STEPS; e++)
            step_along_k(sum, a + e * ROWS, b + e * STEP_B, b + (e + STEPS) * STEP_B);
    }
    for (int e = 0; e < depth % STEPS; e++)
        step_along_k(sum, a + e * ROWS, b + e * STEP_B, b);
    UNROLLED for (int r = 0; r < ROWS; r++)
    {
        __global T *to = c + r * ldc;
        if (r < rows && cols == COLS) {
            UNROLLED for (int v = 0; v < VECTORS; v++)
            {
                const vec old = beta == 0 ? (vec)(0) : (vec)(beta)*LOAD(to + v * WIDTH);
                STORE(MULTIPLY_ADD((vec)(alpha), sum[r][v], old), to + v * WIDTH);
            }
        } else if (r < rows) {
            T line[COLS];
            UNROLLED for (int v = 0; v < VECTORS; v++) STORE(sum[r][v], line + v * WIDTH);
            for (int j = 0; j < cols;
                 j++) { /* rounded as above: bits do not depend on where C ends */
                const T old = beta == 0 ? (T)0 : beta * to[j];
                to[j] = MULTIPLY_ADD(alpha, line[j], old);
            }
        }
    }
}

/* ---- The product. ---------------------------------------------------------------------------- */

/* Compute rows row0 ... row1 - 1 and columns col0 ... col1 - 1 of C. `b` is packed by
 * matmul_pack_b or, with DIRECT, B itself. `block` holds these rows, rounded up to a multiple of
 * ROWS, of depth DEPTH, and WIDTH elements more. */
static void multiply_area(int n, int k, int row0, int row1, int col0, int col1, T alpha,
                          __global const T *restrict a, ulong lda, __global const T *restrict b,
                          ulong ldb, T beta, __global T *restrict c, ulong ldc, __local T *block)
{
    const int tiles = (row1 - row0 + ROWS - 1) / ROWS;
    for (int k0 = 0; k0 < k; k0 += DEPTH) {
        const int depth = min(DEPTH, k - k0);
        for (int t = 0; t < tiles; t++) {
            const int i = row0 + t * ROWS;
            pack_a(block + (size_t)t * depth * ROWS,
                   a + (TRANS_A ? (ulong)k0 * lda + i : (ulong)i * lda + k0), lda, row1 - i, depth);
        }
        for (int j = col0; j < col1; j += COLS) {
            __global const T *bt =
                b + (DIRECT ? (size_t)k0 * ldb + j : (size_t)j * k + (size_t)k0 * COLS);
            __global const T *next = bt + (size_t)COLS * k;
            const bool fetches = !DIRECT && j + COLS < col1;
            for (int t = 0; t < tiles; t++) {
                const int i = row0 + t * ROWS, first = PREFETCH_LINES * t / tiles,
                          last = PREFETCH_LINES * (t + 1) / tiles;
                tile(block + (size_t)t * depth * ROWS, bt, ldb, depth, alpha, k0 ? (T)1 : beta,
                     c + (ulong)i * ldc + j, ldc, min(ROWS, row1 - i), min(COLS, n - j),
                     next + first * (depth / STEPS) * LINE, fetches ? last - first : 0);
            }
        }
    }
}

#if !BATCH
/* Start of part i of `parts` parts. */
static int part_start(int whole, ulong i, int parts)
{
    return (int)((ulong)whole * i / (ulong)parts);
}

/* The micro tiles of C are divided among `down` rows and `across` columns of groups, as equally as
 * possible. b0 is 0 for a packed B. */
__kernel void matmul_cpu(int m, int n, int k, int down, int across, T alpha,
                         __global const T *restrict a, ulong a0, ulong lda,
                         __global const T *restrict b, ulong b0, ulong ldb, T beta,
                         __global T *restrict c, ulong c0, ulong ldc, __local T *block)
{
    const int tiles = (m + ROWS - 1) / ROWS, panels = (n + COLS - 1) / COLS;
    const ulong x = get_global_id(0), y = get_global_id(1);
    const int row0 = part_start(tiles, x, down) * ROWS,
              row1 = min(m, part_start(tiles, x + 1, down) * ROWS);
    const int col0 = part_start(panels, y, across) * COLS,
              col1 = min(n, part_start(panels, y + 1, across) * COLS);
    multiply_area(n, k, row0, row1, col0, col1, alpha, a + a0, lda, b + b0, ldb, beta, c + c0, ldc,
                  block);
}
#else
/* A group computes `each` products of a batch of `count`, in turn. Operand X of product p starts
 * at x0 + p step_x. `packed` holds one B for each group. */
__kernel void matmul_cpu_batch(int m, int n, int k, int high, T alpha, __global const T *restrict a,
                               ulong a0, ulong lda, ulong step_a, __global const T *restrict b,
                               ulong b0, ulong ldb, ulong step_b, T beta, __global T *restrict c,
                               ulong c0, ulong ldc, ulong step_c, ulong count, ulong each,
                               __global T *restrict packed, __local T *block)
{
    const ulong first = get_global_id(0) * each, last = min(count, first + each);
#if !DIRECT
    packed += get_global_id(0) * (size_t)((n + COLS - 1) / COLS * COLS) * k;
#endif
    for (ulong p = first; p < last; p++) {
        __global const T *bp = b + b0 + p * step_b;
#if !DIRECT
        if (p == first || step_b)
            for (int col = 0; col < n; col += COLS)
                pack_panel(TRANS_B, n, k, col, 0, k, bp, ldb, packed);
        bp = packed;
#endif
        for (int row0 = 0; row0 < m; row0 += high * ROWS)
            multiply_area(n, k, row0, min(m, row0 + high * ROWS), 0, n, alpha, a + a0 + p * step_a,
                          lda, bp, ldb, beta, c + c0 + p * step_c, ldc, block);
    }
}
#endif
