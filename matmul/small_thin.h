/* small_thin.h - template, a part of small_kernel.h: products with few columns, or of little depth,
 * for which packing and micro tiles cost more than the multiply-adds.
 *
 *   dots    at most SMALL_DOT_COLS columns: dot products along k, where rows of op(A) are
 *           contiguous
 *   wide    at most SMALL_THIN rows, SMALL_THIN deep: A in registers, B and C read once
 *   flat    at most SMALL_THIN columns, SMALL_THIN deep, rows of A and C without gaps: a vector
 *           holds several rows of C; a permutation brings A's numbers to their lanes
 *   pairs   at most half a vector of columns: a vector holds two steps along k
 *
 * flat and pairs need PERMUTE2(a, index, b), which picks lanes of two vectors, and pairs also
 * PAIR(p), a vector of the two elements at p, repeated. Sets of instructions without these macros
 * have neither.
 * SPDX-License-Identifier: MIT
 */
/* ---- A few columns: dot products. ------------------------------------------------------------ */

/* A block of the depth of `rows` rows. B is packed as [column][SMALL_DOT_DEPTH], 0 past the end. */
struct NAME(dot_job) {
    const T *a, *b;
    T *c;
    size_t a_row, c_row, c_col, depth;
    T alpha, beta;
};

INLINE T NAME(sum_lanes)(NAME(vec) v)
{
    T sum[LANES];
    NAME(store)(sum, v);
#pragma GCC unroll 4
    for (int half = LANES / 2; half > 0; half /= 2)
#pragma GCC unroll 8
        for (int i = 0; i < half; i++)
            sum[i] += sum[i + half];
    return sum[0];
}

INLINE void NAME(dot)(const int rows, const int cols, const struct NAME(dot_job) * t)
{
    const size_t whole = t->depth / LANES * LANES, a_row = t->a_row;
    const MASK_TYPE mask = MASK(t->depth % LANES);
    const T *const a = t->a, *const b = t->b, alpha = t->alpha, beta = t->beta;
    NAME(vec) sum[DOT_ROWS][SMALL_DOT_COLS];
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int j = 0; j < cols; j++)
            sum[r][j] = (NAME(vec)){0};
    for (size_t x = 0; x < whole; x += LANES)
#pragma GCC unroll 8
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
            for (int j = 0; j < cols; j++)
                sum[r][j] = (NAME(vec))FMAS(NAME(load)(a + (size_t)r * a_row + x),
                                            NAME(load)(b + j * SMALL_DOT_DEPTH + x), sum[r][j]);
#pragma GCC unroll 8
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int j = 0; j < cols; j++) {
            T *to = t->c + (size_t)r * t->c_row + (size_t)j * t->c_col;
            if (whole < t->depth)
                sum[r][j] = (NAME(vec))FMAS(LOAD_PART(a + (size_t)r * a_row + whole, mask),
                                            NAME(load)(b + j * SMALL_DOT_DEPTH + whole), sum[r][j]);
            *to = alpha * NAME(sum_lanes)(sum[r][j]) + (beta == 0 ? 0 : beta * *to);
        }
}

#define DOT(cols)                                                                                  \
    static void NAME(dot_one_##cols)(const struct NAME(dot_job) * t)                               \
    {                                                                                              \
        NAME(dot)(1, cols, t);                                                                     \
    }                                                                                              \
    static void NAME(dot_all_##cols)(const struct NAME(dot_job) * t)                               \
    {                                                                                              \
        NAME(dot)(DOT_ROWS, cols, t);                                                              \
    }
DOT(1)
DOT(2)
DOT(3)

static void NAME(pack_columns)(T *to, const struct small_product *p, size_t k0, size_t depth)
{
    for (size_t j = 0; j < p->n; j++) {
        const T *b = (const T *)p->b + k0 * p->b_row + j * p->b_col;
        T *own = to + j * SMALL_DOT_DEPTH;
        for (size_t x = 0; x < depth; x++)
            own[x] = b[x * p->b_row];
        for (size_t x = depth; x % LANES; x++)
            own[x] = 0;
    }
}

/* Compute rows of a C of at most SMALL_DOT_COLS columns, where rows of op(A) are contiguous. */
static void NAME(dots)(const struct small_product *p, const struct small_area *area)
{
    static void (*const all[])(
        const struct NAME(dot_job) *) = {NAME(dot_all_1), NAME(dot_all_2), NAME(dot_all_3)},
                                   (*const one[])(const struct NAME(dot_job) *) = {
                                       NAME(dot_one_1), NAME(dot_one_2), NAME(dot_one_3)};
    _Alignas(VECTOR_BYTES) T packed[SMALL_DOT_COLS * SMALL_DOT_DEPTH];
    struct NAME(dot_job) t = {
        .b = packed, .a_row = p->a_row, .c_row = p->c_row, .c_col = p->c_col, .alpha = (T)p->alpha};
    for (size_t k0 = 0; k0 < p->k; k0 += SMALL_DOT_DEPTH) {
        t.depth = p->k - k0 < SMALL_DOT_DEPTH ? p->k - k0 : SMALL_DOT_DEPTH;
        t.beta = k0 ? 1 : (T)p->beta;
        NAME(pack_columns)(packed, p, k0, t.depth);
        for (size_t i = area->row, end = i + area->rows; i < end;) {
            const bool whole = end - i >= DOT_ROWS;
            t.a = (const T *)p->a + i * p->a_row + k0;
            t.c = (T *)p->c + i * p->c_row;
            (whole ? all[p->n - 1] : one[p->n - 1])(&t);
            i += whole ? DOT_ROWS : 1;
        }
    }
}

/* ---- Few rows of little depth. --------------------------------------------------------------- */

INLINE void NAME(wide)(const int rows, const int depth, const bool reads,
                       const struct small_product *p, const struct small_area *area)
{
    const NAME(vec) none = {0}, alpha = (T)p->alpha - none, beta = (T)p->beta - none;
    const size_t whole = area->cols / LANES * LANES, a_row = p->a_row, a_col = p->a_col,
                 b_row = p->b_row, c_row = p->c_row;
    const MASK_TYPE mask = MASK(area->cols % LANES);
    const T *b = (const T *)p->b + area->col;
    T *c = (T *)p->c + area->col;
    NAME(vec) a[SMALL_THIN][SMALL_THIN];
#pragma GCC unroll 4
    for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
        for (int x = 0; x < depth; x++)
            a[r][x] = ((const T *)p->a)[(size_t)r * a_row + (size_t)x * a_col] - none;
    for (size_t j = 0; j < area->cols; j += LANES) {
        const bool part = j == whole;
        NAME(vec) bv[SMALL_THIN];
#pragma GCC unroll 4
        for (int x = 0; x < depth; x++)
            bv[x] = part ? LOAD_PART(b + (size_t)x * b_row + j, mask)
                         : NAME(load)(b + (size_t)x * b_row + j);
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++) {
            NAME(vec) sum = none;
#pragma GCC unroll 4
            for (int x = 0; x < depth; x++)
                sum = (NAME(vec))FMAS(a[r][x], bv[x], sum);
            NAME(put)(part, mask, c + (size_t)r * c_row + j, alpha, beta, reads, sum);
        }
    }
}

#define WIDE(rows, depth)                                                                          \
    static void NAME(wide_##rows##_##depth)(const struct small_product *p,                         \
                                            const struct small_area *area)                         \
    {                                                                                              \
        if (p->beta == 0)                                                                          \
            NAME(wide)(rows, depth, false, p, area);                                               \
        else                                                                                       \
            NAME(wide)(rows, depth, true, p, area);                                                \
    }
#define EACH_DEPTH(X, n) X(n, 1) X(n, 2) X(n, 3) X(n, 4)
EACH_DEPTH(WIDE, 1)
EACH_DEPTH(WIDE, 2)
EACH_DEPTH(WIDE, 3)
EACH_DEPTH(WIDE, 4)
#define NAME_OF_WIDE(rows, depth) NAME(wide_##rows##_##depth),

/* Compute all rows of some columns: m and k are at most SMALL_THIN, b_col is 1. */
static void NAME(wides)(const struct small_product *p, const struct small_area *area)
{
    static small_part *const kernels[SMALL_THIN][SMALL_THIN] = {{EACH_DEPTH(NAME_OF_WIDE, 1)},
                                                                {EACH_DEPTH(NAME_OF_WIDE, 2)},
                                                                {EACH_DEPTH(NAME_OF_WIDE, 3)},
                                                                {EACH_DEPTH(NAME_OF_WIDE, 4)}};
    kernels[p->m - 1][p->k - 1](p, area);
}

#ifdef PERMUTE2
/* ---- Few columns of little depth, without gaps. ---------------------------------------------- */

/* Vector v of a block of LANES rows of C holds the elements from v LANES on. Lane l belongs to
 * some row and column of the block; it needs A from that row, which is `index` lanes after the
 * first row of the vector, and B from that column. */
struct NAME(pattern) {
    _Alignas(VECTOR_BYTES) INDEX index[SMALL_THIN][SMALL_THIN][LANES];
    _Alignas(VECTOR_BYTES) T b[SMALL_THIN][SMALL_THIN][LANES];
};

INLINE void NAME(fill_pattern)(const size_t n, const size_t k, struct NAME(pattern) * pattern,
                               const struct small_product *p)
{
    for (size_t v = 0; v < n; v++)
        for (size_t l = 0; l < LANES; l++) {
            const size_t element = v * LANES + l, after = element / n - v * LANES / n;
            for (size_t x = 0; x < k; x++) {
                pattern->index[v][x][l] = (INDEX)(after * k + x);
                pattern->b[v][x][l] = ((const T *)p->b)[x * p->b_row + element % n * p->b_col];
            }
        }
}

/* Compute LANES rows from row i on. Reads up to 3 LANES rows of A. */
INLINE void NAME(flat_block)(const int n, const int k, const bool reads,
                             const struct small_product *p, const struct NAME(pattern) * pattern,
                             size_t i)
{
    const NAME(vec) none = {0}, alpha = (T)p->alpha - none, beta = (T)p->beta - none;
    const T *a = (const T *)p->a + i * (size_t)k;
    T *c = (T *)p->c + i * (size_t)n;
#pragma GCC unroll 4
    for (int v = 0; v < n; v++) {
        const T *from = a + v * LANES / n * k;
        const NAME(vec) first = NAME(load)(from), second = NAME(load)(from + LANES);
        NAME(vec) sum = none;
#pragma GCC unroll 4
        for (int x = 0; x < k; x++)
            sum = (NAME(vec))FMAS(PERMUTE2(first, pattern->index[v][x], second),
                                  NAME(load)(pattern->b[v][x]), sum);
        NAME(put)(false, 0, c + v * LANES, alpha, beta, reads, sum);
    }
}

/* Compute rows from `first` to before `end` one element after the other. */
static void NAME(flat_rest)(const struct small_product *p, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        for (size_t j = 0; j < p->n; j++) {
            T sum = 0, *to = (T *)p->c + i * p->c_row + j;
            for (size_t x = 0; x < p->k; x++)
                sum = FMA(((const T *)p->a)[i * p->a_row + x],
                          ((const T *)p->b)[x * p->b_row + j * p->b_col], sum);
            *to = FMA((T)p->alpha, sum, p->beta == 0 ? 0 : (T)p->beta * *to);
        }
}

INLINE void NAME(flat)(const int n, const int k, const struct small_product *p,
                       const struct small_area *area)
{
    struct NAME(pattern) pattern;
    NAME(fill_pattern)((size_t)n, (size_t)k, &pattern, p);
    const size_t end = area->row + area->rows;
    size_t i = area->row;
    for (; p->beta == 0 && i < end && i + 3 * LANES <= p->m; i += LANES)
        NAME(flat_block)(n, k, false, p, &pattern, i);
    for (; p->beta != 0 && i < end && i + 3 * LANES <= p->m; i += LANES)
        NAME(flat_block)(n, k, true, p, &pattern, i);
    NAME(flat_rest)(p, i, end);
}

#define FLAT(n, k)                                                                                 \
    static void NAME(flat_##n##_##k)(const struct small_product *p, const struct small_area *area) \
    {                                                                                              \
        NAME(flat)(n, k, p, area);                                                                 \
    }
EACH_DEPTH(FLAT, 2)
EACH_DEPTH(FLAT, 3)
EACH_DEPTH(FLAT, 4)
#define NAME_OF_FLAT(n, k) NAME(flat_##n##_##k),

/* Compute rows of a C of 2 to SMALL_THIN columns: k is at most SMALL_THIN, a_col and c_col are 1,
 * and a_row is k, c_row is n. area->row is a multiple of LANES, and so is area->rows except at the
 * end. */
static void NAME(flats)(const struct small_product *p, const struct small_area *area)
{
    static small_part *const kernels[SMALL_THIN - 1][SMALL_THIN] = {{EACH_DEPTH(NAME_OF_FLAT, 2)},
                                                                    {EACH_DEPTH(NAME_OF_FLAT, 3)},
                                                                    {EACH_DEPTH(NAME_OF_FLAT, 4)}};
    kernels[p->n - 2][p->k - 1](p, area);
}
#endif

#ifdef PAIR
/* ---- At most half a vector of columns. ------------------------------------------------------- */

/* Lanes 2 j and 2 j + 1 hold column j: of two rows of B, and of two sums, which are added in the
 * end. */
INLINE void NAME(pair_tile)(const int rows, const struct NAME(tile_job) * t)
{
    enum { POINTERS = (SMALL_ROWS + 2) / 3 };
    static const _Alignas(VECTOR_BYTES) INDEX both[LANES] = {PAIR_BOTH}, even[LANES] = {PAIR_EVEN},
                                              odd[LANES] = {PAIR_ODD};
    const NAME(vec) none = {0}, alpha = t->alpha - none, beta = t->beta - none;
    const MASK_TYPE mask = t->mask;
    const size_t a_row = t->a_row, b_row = t->b_row;
    NAME(vec) sum[SMALL_ROWS];
    const T *a[POINTERS], *b = t->b;
#pragma GCC unroll 16
    for (int i = 0; i < POINTERS; i++)
        a[i] = t->a + (3 * i < rows ? 3 * (size_t)i * a_row : 0);
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++)
        sum[r] = none;
    for (size_t left = t->depth / 2; left > 0; left--, b += 2 * b_row) {
        const NAME(vec) bv = PERMUTE2(LOAD_PART(b, mask), both, LOAD_PART(b + b_row, mask));
#pragma GCC unroll 16
        for (int r = 0; r < rows; r++)
            sum[r] = (NAME(vec))FMAS(PAIR(a[r / 3] + (size_t)(r % 3) * a_row), bv, sum[r]);
#pragma GCC unroll 16
        for (int i = 0; 3 * i < rows; i++)
            a[i] += 2;
    }
    const NAME(vec) last = t->depth % 2 ? LOAD_PART(b, mask) : none;
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
        sum[r] = PERMUTE2(sum[r], even, none) + PERMUTE2(sum[r], odd, none);
        if (t->depth % 2) /* after the pairs are joined: no lane multiplies an infinite A by 0 */
            sum[r] = (NAME(vec))FMAS(a[r / 3][(size_t)(r % 3) * a_row] - none, last, sum[r]);
        NAME(put)(true, mask, t->c + (size_t)r * t->ldc, alpha, beta, t->beta != 0, sum[r]);
    }
}

#define PAIR_TILE(rows)                                                                            \
    static void NAME(pair_tile_##rows)(const struct NAME(tile_job) * t)                            \
    {                                                                                              \
        NAME(pair_tile)(rows, t);                                                                  \
    }
EACH_ROWS(PAIR_TILE)
#define NAME_OF_PAIR(rows) NAME(pair_tile_##rows),

/* Compute rows of a C of at most LANES / 2 columns: a_col and b_col are 1. */
static void NAME(pairs)(const struct small_product *p, const struct small_area *area)
{
    static NAME(tile_function) *const tiles[] = {EACH_ROWS(NAME_OF_PAIR)};
    struct NAME(tile_job) t = {.b = p->b,
                               .a_row = p->a_row,
                               .b_row = p->b_row,
                               .ldc = p->c_row,
                               .depth = p->k,
                               .alpha = (T)p->alpha,
                               .beta = (T)p->beta,
                               .mask = MASK(p->n)};
    for (size_t i = area->row, end = i + area->rows, rows; i < end; i += rows) {
        rows = end - i < p->tile_rows ? end - i : p->tile_rows;
        t.a = (const T *)p->a + i * p->a_row;
        t.c = (T *)p->c + i * p->c_row;
        tiles[rows - 1](&t);
    }
}
#endif

#undef DOT
#undef WIDE
#undef EACH_DEPTH
#undef NAME_OF_WIDE
#undef FLAT
#undef NAME_OF_FLAT
#undef PAIR_TILE
#undef NAME_OF_PAIR
