/* reference.c - random matrices, and the error of a product against a reference in higher
 * precision.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include <float.h>
#include <math.h>

#include "core/parallel_for.h"
#include "stdcl/philox.h"

/* ---- Random matrices. ------------------------------------------------------------------------ */

/* Draw elements (i, 2 pair) and (i, 2 pair + 1) from Philox counter (pair, i): one block of random
 * bits gives two numbers. */
static void random_pair(uint64_t seed, uint32_t matrix, size_t i, size_t pair, double out[2])
{
    const philox4 counter = {(uint32_t)pair, (uint32_t)((uint64_t)pair >> 32), (uint32_t)i,
                             matrix << 24 | (uint32_t)((uint64_t)i >> 32)};
    const philox4 r = philox4x32_10(counter, (uint32_t)seed, (uint32_t)(seed >> 32));
    out[0] = 2 * philox_double(r.x, r.y) - 1;
    out[1] = 2 * philox_double(r.z, r.w) - 1;
}

void matmul_random(enum matmul_precision precision, uint64_t seed, uint32_t matrix, size_t rows,
                   size_t cols, void *x, size_t ld)
{
    matmul_random_rows(precision, seed, matrix, 0, rows, cols, x, ld);
}

void matmul_random_rows(enum matmul_precision precision, uint64_t seed, uint32_t matrix,
                        size_t first, size_t rows, size_t cols, void *x, size_t ld)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j += 2) {
            double v[2];
            random_pair(seed, matrix, first + i, j / 2, v);
            for (size_t e = 0; e < 2 && j + e < cols; e++)
                if (precision == MATMUL_DOUBLE)
                    ((double *)x)[i * (ld ? ld : cols) + j + e] = v[e];
                else
                    ((float *)x)[i * (ld ? ld : cols) + j + e] = (float)v[e];
        }
}

/* ---- Reference product. ---------------------------------------------------------------------- */

/* A chunk of the compared rows, for one thread. */
enum { CHUNKS_MAX = 256 };
struct chunk {
    void *factor, *sum,
        *absolute; /* of one row: op(A), op(A) op(B), |op(A)| |op(B)|; double or long double */
    long double error, norm; /* sums of squares over the rows */
};

/* A comparison of C with R = alpha op(A) op(B) + beta C, row by row. The error is relative to the
 * size of R, the same sum with the absolute value of every number, since rounding errors are
 * proportional to the terms and not to what remains after cancellation. All numbers are in units
 * of 2^unit, so that squares neither overflow nor underflow: elements of A are scaled by 2^-of_ab,
 * which brings op(A) op(B) near 1, and alpha and beta by the remaining exponent. */
struct comparison {
    const struct host_product *p;
    const void *before; /* C before the product; NULL: not read */
    bool single;
    int unit, of_ab, of_before; /* exponents of the result, op(A) op(B), C before */
    double alpha, beta;         /* rounded as in the engine, in these units */
    size_t rows, chunks;        /* compared rows, in `chunks` chunks */
    struct chunk chunk[CHUNKS_MAX];
};

static double element_value(const struct comparison *q, const void *x, size_t at)
{
    return q->single ? (double)((const float *)x)[at] : ((const double *)x)[at];
}

/* Return the larger magnitude of two numbers; infinities and NaN are ignored. */
static double larger_magnitude(double most, double x)
{
    const double size = fabs(x);
    return size > most && isfinite(size) ? size : most;
}

enum { EXPONENT_OF_0 = -5000 }; /* below any product of two doubles */
static int exponent_of(double x)
{
    return isfinite(x) && x != 0 ? ilogb(x) : EXPONENT_OF_0;
}

/* Compute row i of op(A) op(B) and of |op(A)| |op(B)|. B is read along its rows, however it is
 * stored, TERMS_AT_ONCE rows at a time: loading and storing a long double takes longer than
 * computing it. */
enum { TERMS_AT_ONCE = 4 };
#define ADD_TERMS(T, WIDE, count)                                                                  \
    for (size_t j = 0; j < p->n; j++) {                                                            \
        WIDE s = sum[j], z = size[j];                                                              \
        for (size_t e = 0; e < (count); e++) {                                                     \
            const WIDE term = f[x + e] * (WIDE)b[(x + e) * p->ldb + j];                            \
            s += term;                                                                             \
            z += term < 0 ? -term : term;                                                          \
        }                                                                                          \
        sum[j] = s;                                                                                \
        size[j] = z;                                                                               \
    }
#define SUM_ROW(T, WIDE)                                                                           \
    static void sum_row_##T(const struct comparison *q, struct chunk *chunk, size_t i)             \
    {                                                                                              \
        const struct host_product *p = q->p;                                                       \
        const bool ta = is_trans_a(p->trans), tb = is_trans_b(p->trans);                           \
        const T *a = p->a, *b = p->b;                                                              \
        WIDE *restrict f = chunk->factor, *restrict sum = chunk->sum,                              \
                       *restrict size = chunk->absolute;                                           \
        size_t x = 0;                                                                              \
        for (size_t y = 0; y < p->k; y++)                                                          \
            f[y] = (WIDE)ldexpl((long double)a[element_offset(ta, p->lda, i, y)], -q->of_ab);      \
        for (size_t j = 0; j < p->n; j++)                                                          \
            sum[j] = size[j] = 0;                                                                  \
        for (; !tb && x + TERMS_AT_ONCE <= p->k; x += TERMS_AT_ONCE)                               \
            ADD_TERMS(T, WIDE, TERMS_AT_ONCE)                                                      \
        for (; !tb && x < p->k; x++)                                                               \
            ADD_TERMS(T, WIDE, 1)                                                                  \
        for (size_t j = 0; tb && j < p->n; j++)                                                    \
            for (size_t y = 0; y < p->k; y++) {                                                    \
                const WIDE term = f[y] * (WIDE)b[j * p->ldb + y];                                  \
                sum[j] += term;                                                                    \
                size[j] += term < 0 ? -term : term;                                                \
            }                                                                                      \
    }
typedef long double long_double;
SUM_ROW(float, double)
SUM_ROW(double, long_double)

/* Add the error and the size of one element. Where a sum overflows the engine's type, an infinity
 * or a NaN is right: the order of the terms decides which. The engine may flush subnormal terms to
 * 0. */
static void compare_element(const struct comparison *q, struct chunk *chunk, double c,
                            long double right, long double size)
{
    const double most = q->single ? (double)FLT_MAX : DBL_MAX,
                 least = q->single ? (double)FLT_MIN : DBL_MIN;
    if (isnan(right) ? isnan(c) : !isfinite(c) && ldexpl(size, q->unit) > (long double)most)
        return;
    const long double vanishes =
        size > 0 ? ldexpl((long double)least * (long double)(q->p->k + 2), -q->unit) : 0;
    const long double error = fabsl(ldexpl((long double)c, -q->unit) - right) - vanishes;
    chunk->error += error <= 0 ? 0 : error * error; /* a NaN counts */
    chunk->norm += size * size;
}

static void compare_elements(const struct comparison *q, struct chunk *chunk, size_t i)
{
    const struct host_product *p = q->p;
    for (size_t j = 0; j < p->n; j++) {
        long double right = 0, size = 0;
        if (p->alpha != 0) {
            right =
                q->single ? (long double)((double *)chunk->sum)[j] : ((long double *)chunk->sum)[j];
            size = q->single ? (long double)((double *)chunk->absolute)[j]
                             : ((long double *)chunk->absolute)[j];
            right *= (long double)q->alpha;
            size *= fabsl((long double)q->alpha);
        }
        if (q->before) {
            const long double old =
                ldexpl((long double)element_value(q, q->before, i * p->ldc + j), -q->of_before);
            right += (long double)q->beta * old;
            size += fabsl((long double)q->beta * old);
        }
        compare_element(q, chunk, element_value(q, p->c, i * p->ldc + j), right, size);
    }
}

/* Return the r-th of `rows` sampled rows of C. The first and the last row are among them. */
static size_t sampled_row(const struct host_product *p, size_t r, size_t rows)
{
    return rows > 1 ? r * (p->m - 1) / (rows - 1) : p->m / 2;
}

static size_t chunk_first_row(const struct comparison *q, size_t part)
{
    return part * (q->rows / q->chunks) + min_size(part, q->rows % q->chunks);
}

/* Compare the rows of one chunk (parallel_for). */
static void compare_chunk(void *comparison, size_t at)
{
    struct comparison *q = comparison;
    const struct host_product *p = q->p;
    struct chunk *chunk = &q->chunk[at];
    chunk->factor = malloc((p->k + 1) * sizeof(long double));
    chunk->sum = malloc((p->n + 1) * sizeof(long double));
    chunk->absolute = malloc((p->n + 1) * sizeof(long double));
    const bool ready = chunk->factor && chunk->sum && chunk->absolute;
    for (size_t r = chunk_first_row(q, at); ready && r < chunk_first_row(q, at + 1); r++) {
        const size_t i = sampled_row(p, r, q->rows);
        if (p->alpha != 0)
            (q->single ? sum_row_float : sum_row_double)(q, chunk, i);
        compare_elements(q, chunk, i);
    }
    if (!ready)
        chunk->error = (long double)NAN;
    free(chunk->factor);
    free(chunk->sum);
    free(chunk->absolute);
}

/* Choose the units by the largest magnitudes: of all of B, and of A and C in the compared rows. */
static void choose_units(struct comparison *q)
{
    const struct host_product *p = q->p;
    const bool ta = is_trans_a(p->trans), tb = is_trans_b(p->trans), product = p->alpha != 0;
    const double alpha = q->single ? (double)(float)p->alpha : p->alpha,
                 beta = q->single ? (double)(float)p->beta : p->beta;
    double most_a = 0, most_b = 0, most_before = 0;
    for (size_t r = 0; r < q->rows; r++) {
        const size_t i = sampled_row(p, r, q->rows);
        for (size_t x = 0; product && x < p->k; x++)
            most_a =
                larger_magnitude(most_a, element_value(q, p->a, element_offset(ta, p->lda, i, x)));
        for (size_t j = 0; q->before && j < p->n; j++)
            most_before =
                larger_magnitude(most_before, element_value(q, q->before, i * p->ldc + j));
    }
    for (size_t r = 0; product && r < (tb ? p->n : p->k); r++)
        for (size_t s = 0; s < (tb ? p->k : p->n); s++)
            most_b = larger_magnitude(most_b, element_value(q, p->b, r * p->ldb + s));
    q->of_ab = most_a > 0 && most_b > 0 ? exponent_of(most_a) + exponent_of(most_b) : 0;
    q->of_before = most_before > 0 ? exponent_of(most_before) : 0;
    q->unit = exponent_of(alpha) + q->of_ab;
    if (q->before && exponent_of(beta) + q->of_before > q->unit)
        q->unit = exponent_of(beta) + q->of_before;
    q->alpha = ldexp(alpha, q->of_ab - q->unit);
    q->beta = ldexp(beta, q->of_before - q->unit);
}

double matmul_error(enum matmul_precision precision, enum matmul_trans trans, size_t m, size_t n,
                    size_t k, double alpha, const void *a, size_t lda, const void *b, size_t ldb,
                    double beta, const void *before, const void *c, size_t ldc, size_t sample)
{
    const bool ta = is_trans_a(trans), tb = is_trans_b(trans);
    const struct host_product p = {trans,
                                   m,
                                   n,
                                   k,
                                   alpha,
                                   beta,
                                   a,
                                   b,
                                   (void *)(uintptr_t)c,
                                   lda  ? lda
                                   : ta ? m
                                        : k,
                                   ldb  ? ldb
                                   : tb ? k
                                        : n,
                                   ldc ? ldc : n};
    const double work = (double)n * (double)(k + 1);
    const size_t affordable = (size_t)(3e8 / work) + 1;
    struct comparison q = {.p = &p,
                           .before = beta != 0 ? before : NULL,
                           .single = precision == MATMUL_SINGLE,
                           .rows = min_size(m, sample ? sample : affordable)};
    long double error = 0, norm = 0;
    q.chunks = min_size(q.rows, CHUNKS_MAX);
    choose_units(&q);
    parallel_for(q.chunks, compare_chunk, &q);
    for (size_t i = 0; i < q.chunks; i++) { /* in one order, so that the result is reproducible */
        error += q.chunk[i].error;
        norm += q.chunk[i].norm;
    }
    return error == 0 ? 0 : norm == 0 ? HUGE_VAL : (double)sqrtl(error / norm);
}

/* Tolerance for any matrices: N. Higham, "Accuracy and Stability of Numerical Algorithms" (2002),
 * section 3.5: k roundings of eps / 2, in any order of the sum, and a few more for alpha, beta and
 * split-K. For random matrices the errors of the k terms cancel as the terms do; up to 0.3 eps
 * occurs, whatever k is. */
double matmul_tolerance(enum matmul_precision precision, size_t k, int random)
{
    const double eps = precision == MATMUL_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;
    return random ? 2 * eps : eps * (4 + (double)k / 2);
}
