/* small_kernel.h - template: a part of C = alpha op(A) op(B) + beta C on the host, in one
 * precision.
 *
 * small_kernel.c includes it once for each precision, with these macros:
 *   NAME(x)             prefixes x with the precision
 *   T                   the type of elements
 *   LANES               elements of a vector
 *   FMAS(a, b, c)       a b + c of vectors, rounded once; default: rounded twice
 *   MASK_TYPE, MASK(count), LOAD_PART(p, mask), STORE_PART(p, mask, v)
 *                       loads and stores of the first `count` lanes; other lanes are loaded as 0;
 *                       default: loops
 *
 *          COLS             k ->      COLS         micro tile   ROWS x COLS of C in registers
 *        +-----+---      +------    +-----+---     panel of B   DEPTH x COLS, in place where rows
 *   ROWS |tile |    ROWS | A      k | B   |                     are contiguous, or packed
 *        +-----+---  =   +------  | |panel|        A            in place, broadcast
 *        |     |         |        v |     |
 *
 * The blocks of cpu.cl without its copy of A: a small A is in the second-level cache. An element is
 * summed along k in one order, which depends on the sizes of the product only: in blocks of DEPTH,
 * each block by one chain of multiply-adds, or by two or four that alternate in tiles with too few
 * sums to hide the latency of a multiply-add.
 * SPDX-License-Identifier: MIT
 */
#define COLS (SMALL_VECTORS * LANES)
#ifndef FMAS
#define FMAS(a, b, c) ((a) * (b) + (c))
#define MASK_TYPE size_t
#define MASK(count) (count)
#define LOAD_PART(p, mask) NAME(load_part)(p, mask)
#define STORE_PART(p, mask, v) NAME(store_part)(p, mask, v)
#endif
/* Lanes from i on of two vectors, alternately. */
#if LANES == 2
#define INTERLEAVE(a, b, i) a[i], b[i]
#elif LANES == 4
#define INTERLEAVE(a, b, i) a[i], b[i], a[(i) + 1], b[(i) + 1]
#elif LANES == 8
#define INTERLEAVE(a, b, i)                                                                        \
    a[i], b[i], a[(i) + 1], b[(i) + 1], a[(i) + 2], b[(i) + 2], a[(i) + 3], b[(i) + 3]
#else
#define INTERLEAVE(a, b, i)                                                                        \
    a[i], b[i], a[(i) + 1], b[(i) + 1], a[(i) + 2], b[(i) + 2], a[(i) + 3], b[(i) + 3],            \
        a[(i) + 4], b[(i) + 4], a[(i) + 5], b[(i) + 5], a[(i) + 6], b[(i) + 6], a[(i) + 7],        \
        b[(i) + 7]
#endif

typedef T NAME(vec) __attribute__((vector_size(VECTOR_BYTES)));
/* A vector in an array: aligned like one element, and aliasing any type. */
typedef T NAME(stored) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T)), may_alias));

/* One micro tile and one block of the depth. */
struct NAME(tile_job) {
    const T *a, *b;
    T *c;
    size_t a_row, a_col, b_row, ldc, depth;
    T alpha, beta;
    MASK_TYPE mask; /* lanes of the last vector that exist */
};

INLINE NAME(vec) NAME(load)(const T *p)
{
    return (NAME(vec)) * (const NAME(stored) *)(const void *)p;
}

INLINE void NAME(store)(T *p, NAME(vec) v)
{
    *(NAME(stored) *)(void *)p = (NAME(stored))v;
}

INLINE NAME(vec) NAME(load_part)(const T *p, size_t count)
{
    NAME(vec) v = {0};
    for (size_t i = 0; i < count; i++)
        v[i] = p[i];
    return v;
}

INLINE void NAME(store_part)(T *p, size_t count, NAME(vec) v)
{
    for (size_t i = 0; i < count; i++)
        p[i] = v[i];
}

/* One step along k. Row r of A starts at a[r / 3] + r % 3 rows: few pointers address many rows. */
INLINE void NAME(step)(const int rows, const int vectors, const bool part, const MASK_TYPE mask,
                       NAME(vec) sum[SMALL_ROWS][SMALL_VECTORS], const T *const *a, size_t a_row,
                       const T *b)
{
    NAME(vec) bv[SMALL_VECTORS];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++)
        bv[v] =
            part && v == vectors - 1 ? LOAD_PART(b + v * LANES, mask) : NAME(load)(b + v * LANES);
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        const NAME(vec) av = a[r / 3][(size_t)(r % 3) * a_row] - (NAME(vec)){0};
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            sum[r][v] = (NAME(vec))FMAS(av, bv[v], sum[r][v]);
    }
}

/* Store a vector of C = alpha sum + beta C. */
INLINE void NAME(put)(const bool part, const MASK_TYPE mask, T *to, NAME(vec) alpha, NAME(vec) beta,
                      const bool reads, NAME(vec) sum)
{
    NAME(vec) old = {0};
    if (reads)
        old = beta * (part ? LOAD_PART(to, mask) : NAME(load)(to));
    const NAME(vec) new = (NAME(vec))FMAS(alpha, sum, old);
    if (part)
        STORE_PART(to, mask, new);
    else
        NAME(store)(to, new);
}

/* Store the sums of a micro tile. C is not read if beta is 0. */
INLINE void NAME(finish)(const int rows, const int vectors, const bool part,
                         const struct NAME(tile_job) * t, const bool reads,
                         NAME(vec) sum[SMALL_ROWS][SMALL_VECTORS])
{
    const NAME(vec) none = {0}, alpha = t->alpha - none, beta = t->beta - none;
    const MASK_TYPE mask = t->mask;
    const size_t ldc = t->ldc;
    T *c = t->c;
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++, c += ldc)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            NAME(put)(part && v == vectors - 1, mask, c + v * LANES, alpha, beta, reads, sum[r][v]);
}

/* A micro tile of `rows` x `vectors` vectors, the last one of them partial if `part`: constants,
 * for each of which the compiler makes a copy of this function. */
INLINE void NAME(tile)(const int rows, const int vectors, const bool part,
                       const struct NAME(tile_job) * t)
{
    enum { POINTERS = (SMALL_ROWS + 2) / 3, CHAINS_MAX = 4 };
    const int sums = rows * vectors, chains = sums >= 8 ? 1 : sums >= 4 ? 2 : CHAINS_MAX;
    const size_t a_row = t->a_row, a_col = t->a_col, b_row = t->b_row;
    const MASK_TYPE mask = t->mask;
    NAME(vec) sum[CHAINS_MAX][SMALL_ROWS][SMALL_VECTORS];
    const T *a[POINTERS], *b = t->b;
#pragma GCC unroll 16
    for (int i = 0; i < POINTERS; i++)
        a[i] = t->a + (3 * i < rows ? 3 * (size_t)i * a_row : 0);
#pragma GCC unroll 4
    for (int q = 0; q < chains; q++)
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++)
                sum[q][r][v] = (NAME(vec)){0};
    size_t left = t->depth;
    for (; left >= (size_t)chains; left -= (size_t)chains)
#pragma GCC unroll 4
        for (int q = 0; q < chains; q++) {
            NAME(step)(rows, vectors, part, mask, sum[q], a, a_row, b);
            b += b_row;
#pragma GCC unroll 16
            for (int i = 0; 3 * i < rows; i++)
                a[i] += a_col;
        }
    for (; chains > 1 && left > 0; left--, b += b_row) {
        NAME(step)(rows, vectors, part, mask, sum[0], a, a_row, b);
#pragma GCC unroll 16
        for (int i = 0; 3 * i < rows; i++)
            a[i] += a_col;
    }
#pragma GCC unroll 4
    for (int q = chains / 2; q > 0; q /= 2)
#pragma GCC unroll 4
        for (int i = 0; i < q; i++)
#pragma GCC unroll 16
            for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
                for (int v = 0; v < vectors; v++)
                    sum[i][r][v] += sum[i + q][r][v];
    if (t->beta == 0)
        NAME(finish)(rows, vectors, part, t, false, sum[0]);
    else
        NAME(finish)(rows, vectors, part, t, true, sum[0]);
}

#define TILE(rows, vectors, part)                                                                  \
    static void NAME(tile_##rows##_##vectors##_##part)(const struct NAME(tile_job) * t)            \
    {                                                                                              \
        NAME(tile)(rows, vectors, part, t);                                                        \
    }
#define TILES_OF(rows) TILE(rows, 1, 0) TILE(rows, 1, 1) TILE(rows, 2, 0) TILE(rows, 2, 1)
EACH_ROWS(TILES_OF)

/* By rows, vectors, and whether the last vector is partial. */
#define TILES_OF_ROWS(rows)                                                                        \
    {{NAME(tile_##rows##_1_0), NAME(tile_##rows##_1_1)},                                           \
     {NAME(tile_##rows##_2_0), NAME(tile_##rows##_2_1)}},
typedef void NAME(tile_function)(const struct NAME(tile_job) *);
static NAME(tile_function) *const
    NAME(tiles)[SMALL_ROWS][SMALL_VECTORS][2] = {EACH_ROWS(TILES_OF_ROWS)};

/* ---- Panels of B. ---------------------------------------------------------------------------- */

/* Transpose: row i of v becomes its column i. Each round interleaves the halves. */
INLINE void NAME(transpose)(NAME(vec) v[LANES])
{
#pragma GCC unroll 4
    for (int round = 1; round < LANES; round *= 2) {
        NAME(vec) w[LANES];
#pragma GCC unroll 16
        for (int i = 0; i < LANES / 2; i++) {
            const NAME(vec) a = v[i], b = v[i + LANES / 2];
            w[2 * i] = (NAME(vec)){INTERLEAVE(a, b, 0)};
            w[2 * i + 1] = (NAME(vec)){INTERLEAVE(a, b, LANES / 2)};
        }
#pragma GCC unroll 16
        for (int i = 0; i < LANES; i++)
            v[i] = w[i];
    }
}

/* Pack LANES columns of a B that is stored N x K, `exist` of which exist. */
static void NAME(pack_transposed)(T *to, size_t step, const T *b, size_t ld, size_t exist,
                                  size_t depth)
{
    size_t x = 0;
    for (; x + LANES <= depth; x += LANES) {
        NAME(vec) v[LANES];
#pragma GCC unroll 16
        for (size_t i = 0; i < LANES; i++)
            v[i] = NAME(load)(b + (i < exist ? i : 0) * ld + x);
        NAME(transpose)(v);
#pragma GCC unroll 16
        for (size_t i = 0; i < LANES; i++)
            NAME(store)(to + (x + i) * step, v[i]);
    }
    for (; x < depth; x++)
        for (size_t i = 0; i < LANES; i++)
            to[x * step + i] = b[(i < exist ? i : 0) * ld + x];
}

/* Pack `depth` rows of a panel with `cols` columns, as [row][COLS]. Elements past `cols` are of no
 * meaning: no tile stores their sums. */
static void NAME(pack_panel)(T *to, const struct small_product *p, const T *b, size_t cols,
                             size_t depth)
{
    const size_t whole = cols / LANES * LANES;
    for (size_t j = 0; j < cols && p->b_col != 1; j += LANES)
        NAME(pack_transposed)(to + j, COLS, b + j * p->b_col, p->b_col, cols - j, depth);
    for (size_t x = 0; x < depth && p->b_col == 1; x++) {
        for (size_t j = 0; j < whole; j += LANES)
            NAME(store)(to + x * COLS + j, NAME(load)(b + x * p->b_row + j));
        for (size_t j = whole; j < cols; j++)
            to[x * COLS + j] = b[x * p->b_row + j];
    }
}

/* ---- A part of C. ---------------------------------------------------------------------------- */

/* Compute the micro tiles of one panel of B, rows `area` of C. */
INLINE void NAME(column)(const struct small_product *p, const struct small_area *area,
                         struct NAME(tile_job) * t, size_t col, size_t k0)
{
    const size_t cols = area->col + area->cols - col < COLS ? area->col + area->cols - col : COLS,
                 vectors = (cols + LANES - 1) / LANES, rest = cols % LANES, high = p->tile_rows;
    const T *a = (const T *)p->a + k0 * p->a_col;
    t->mask = MASK(rest);
    for (size_t i = area->row; i < area->row + area->rows; i += high) {
        const size_t end = area->row + area->rows - i, rows = end < high ? end : high;
        t->a = a + i * p->a_row;
        t->c = (T *)p->c + i * p->c_row + col;
        NAME(tiles)[rows - 1][vectors - 1][rest != 0](t);
    }
}

static void NAME(part)(const struct small_product *p, const struct small_area *area)
{
    _Alignas(VECTOR_BYTES) T packed[SMALL_DEPTH * COLS];
    const bool packs = p->b_col != 1 || p->packs;
    struct NAME(tile_job) t = {.a_row = p->a_row,
                               .a_col = p->a_col,
                               .b_row = packs ? COLS : p->b_row,
                               .ldc = p->c_row,
                               .alpha = (T)p->alpha};
    for (size_t k0 = 0; k0 < p->k; k0 += SMALL_DEPTH) {
        t.depth = p->k - k0 < SMALL_DEPTH ? p->k - k0 : SMALL_DEPTH;
        t.beta = k0 ? 1 : (T)p->beta;
        for (size_t j = area->col; j < area->col + area->cols; j += COLS) {
            const T *b = (const T *)p->b + k0 * p->b_row + j * p->b_col;
            const size_t cols = area->col + area->cols - j;
            if (packs)
                NAME(pack_panel)(packed, p, b, cols < COLS ? cols : COLS, t.depth);
            t.b = packs ? packed : b;
            NAME(column)(p, area, &t, j, k0);
        }
    }
}

#include "matmul/small_thin.h"

#undef COLS
#undef INTERLEAVE
#undef TILE
#undef TILES_OF
#undef TILES_OF_ROWS
#undef NAME
#undef T
#undef LANES
#undef FMAS
#undef MASK
#undef MASK_TYPE
#undef LOAD_PART
#undef STORE_PART
#undef FMA
#undef INDEX
#undef PERMUTE2
#undef PAIR
#undef PAIR_BOTH
#undef PAIR_EVEN
#undef PAIR_ODD
