/* reference.c - matrices to multiply, and the right answer.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include <float.h>
#include <math.h>

#include "core/parallel_for.h"
#include "stdcl/philox.h"

/* ---- Random matrices. ------------------------------------------------------------------------ */

/* Element (i, j) from the counter (j / 2, i): a block of random bits makes two numbers. */
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

/* ---- The right answer. ----------------------------------------------------------------------- */

/* Some of the rows that are compared, one after the other. */
enum { MOST_PARTS = 256 };
struct part {
    void *factor, *sum, *absolute; /* of the row at hand: of op(A), op(A) op(B), |op(A)| |op(B)|, in
                                      double or long double */
    long double error, norm;       /* sums of squares, over the rows so far */
};

/* A comparison of C with R = alpha op(A) op(B) + beta C, row by row. Next to R stands its size,
 * what the same sum gives with the absolute value of every number, since rounding errors are as
 * large as the terms, not as what is left of them. All are counted in units of 2^unit, so that
 * their squares neither overflow nor vanish: elements of A are multiplied by 2^-of_ab on the way,
 * which brings op(A) op(B) near 1, and alpha and beta by what is still missing. */
struct comparison {
    const struct host_product *p;
    const void *before; /* C as it was; NULL: not read */
    bool single;
    int unit, of_ab, of_before; /* exponents: of the result, of op(A) op(B), of C as it was */
    double alpha, beta;         /* as the engine rounds them, in these units */
    size_t rows, parts;         /* how many are compared, in so many parts */
    struct part part[MOST_PARTS];
};

static double number(const struct comparison *q, const void *x, size_t at)
{
    return q->single ? (double)((const float *)x)[at] : ((const double *)x)[at];
}

/* The larger size of two numbers; those that are not finite have none. */
static double larger(double most, double x)
{
    const double size = fabs(x);
    return size > most && isfinite(size) ? size : most;
}

enum { EXPONENT_OF_0 = -5000 }; /* below any product of two doubles */
static int exponent(double x)
{
    return isfinite(x) && x != 0 ? ilogb(x) : EXPONENT_OF_0;
}

/* Row i of op(A) op(B), and of its size. B is read as it lies, so that either way of storing it is
 * read along its rows: AT_ONCE of them, since to load and store a long double takes longer than to
 * compute it. */
enum { AT_ONCE = 4 };
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
    static void sum_row_##T(const struct comparison *q, struct part *part, size_t i)               \
    {                                                                                              \
        const struct host_product *p = q->p;                                                       \
        const bool ta = trans_a(p->trans), tb = trans_b(p->trans);                                 \
        const T *a = p->a, *b = p->b;                                                              \
        WIDE *restrict f = part->factor, *restrict sum = part->sum,                                \
                       *restrict size = part->absolute;                                            \
        size_t x = 0;                                                                              \
        for (size_t y = 0; y < p->k; y++)                                                          \
            f[y] = (WIDE)ldexpl((long double)a[place_of(ta, p->lda, i, y)], -q->of_ab);            \
        for (size_t j = 0; j < p->n; j++)                                                          \
            sum[j] = size[j] = 0;                                                                  \
        for (; !tb && x + AT_ONCE <= p->k; x += AT_ONCE)                                           \
            ADD_TERMS(T, WIDE, AT_ONCE)                                                            \
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

/* One element: what it is, what it should be, and the size of that. Where a sum is too large for
 * the engine's type, an infinity or a NaN is right, since the order of the terms decides which; and
 * the engine may take what is below the least normal number for 0, in every term. */
static void compare_element(const struct comparison *q, struct part *part, double c,
                            long double right, long double size)
{
    const double most = q->single ? (double)FLT_MAX : DBL_MAX,
                 least = q->single ? (double)FLT_MIN : DBL_MIN;
    if (isnan(right) ? isnan(c) : !isfinite(c) && ldexpl(size, q->unit) > (long double)most)
        return;
    const long double vanishes =
        size > 0 ? ldexpl((long double)least * (long double)(q->p->k + 2), -q->unit) : 0;
    const long double error = fabsl(ldexpl((long double)c, -q->unit) - right) - vanishes;
    part->error += error <= 0 ? 0 : error * error; /* a NaN counts */
    part->norm += size * size;
}

static void compare_elements(const struct comparison *q, struct part *part, size_t i)
{
    const struct host_product *p = q->p;
    for (size_t j = 0; j < p->n; j++) {
        long double right = 0, size = 0;
        if (p->alpha != 0) {
            right =
                q->single ? (long double)((double *)part->sum)[j] : ((long double *)part->sum)[j];
            size = q->single ? (long double)((double *)part->absolute)[j]
                             : ((long double *)part->absolute)[j];
            right *= (long double)q->alpha;
            size *= fabsl((long double)q->alpha);
        }
        if (q->before) {
            const long double old =
                ldexpl((long double)number(q, q->before, i * p->ldc + j), -q->of_before);
            right += (long double)q->beta * old;
            size += fabsl((long double)q->beta * old);
        }
        compare_element(q, part, number(q, p->c, i * p->ldc + j), right, size);
    }
}

/* Which of `rows` sampled rows of C is the r-th: the first and the last are among them. */
static size_t sampled(const struct host_product *p, size_t r, size_t rows)
{
    return rows > 1 ? r * (p->m - 1) / (rows - 1) : p->m / 2;
}

static size_t first_of(const struct comparison *q, size_t part)
{
    return part * (q->rows / q->parts) + smaller(part, q->rows % q->parts);
}

/* The work of a crew: one part. */
static void compare_part(void *comparison, size_t at)
{
    struct comparison *q = comparison;
    const struct host_product *p = q->p;
    struct part *part = &q->part[at];
    part->factor = malloc((p->k + 1) * sizeof(long double));
    part->sum = malloc((p->n + 1) * sizeof(long double));
    part->absolute = malloc((p->n + 1) * sizeof(long double));
    const bool ready = part->factor && part->sum && part->absolute;
    for (size_t r = first_of(q, at); ready && r < first_of(q, at + 1); r++) {
        const size_t i = sampled(p, r, q->rows);
        if (p->alpha != 0)
            (q->single ? sum_row_float : sum_row_double)(q, part, i);
        compare_elements(q, part, i);
    }
    if (!ready)
        part->error = (long double)NAN;
    free(part->factor);
    free(part->sum);
    free(part->absolute);
}

/* Chooses the units by the largest numbers there are: of all of B, of A and C in the rows that are
 * compared. */
static void choose_units(struct comparison *q)
{
    const struct host_product *p = q->p;
    const bool ta = trans_a(p->trans), tb = trans_b(p->trans), product = p->alpha != 0;
    const double alpha = q->single ? (double)(float)p->alpha : p->alpha,
                 beta = q->single ? (double)(float)p->beta : p->beta;
    double most_a = 0, most_b = 0, most_before = 0;
    for (size_t r = 0; r < q->rows; r++) {
        const size_t i = sampled(p, r, q->rows);
        for (size_t x = 0; product && x < p->k; x++)
            most_a = larger(most_a, number(q, p->a, place_of(ta, p->lda, i, x)));
        for (size_t j = 0; q->before && j < p->n; j++)
            most_before = larger(most_before, number(q, q->before, i * p->ldc + j));
    }
    for (size_t r = 0; product && r < (tb ? p->n : p->k); r++)
        for (size_t s = 0; s < (tb ? p->k : p->n); s++)
            most_b = larger(most_b, number(q, p->b, r * p->ldb + s));
    q->of_ab = most_a > 0 && most_b > 0 ? exponent(most_a) + exponent(most_b) : 0;
    q->of_before = most_before > 0 ? exponent(most_before) : 0;
    q->unit = exponent(alpha) + q->of_ab;
    if (q->before && exponent(beta) + q->of_before > q->unit)
        q->unit = exponent(beta) + q->of_before;
    q->alpha = ldexp(alpha, q->of_ab - q->unit);
    q->beta = ldexp(beta, q->of_before - q->unit);
}

double matmul_error(enum matmul_precision precision, enum matmul_trans trans, size_t m, size_t n,
                    size_t k, double alpha, const void *a, size_t lda, const void *b, size_t ldb,
                    double beta, const void *before, const void *c, size_t ldc, size_t sample)
{
    const bool ta = trans_a(trans), tb = trans_b(trans);
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
                           .rows = smaller(m, sample ? sample : affordable)};
    long double error = 0, norm = 0;
    q.parts = smaller(q.rows, MOST_PARTS);
    choose_units(&q);
    parallel_for(q.parts, compare_part, &q);
    for (size_t i = 0; i < q.parts; i++) { /* in one order, whoever did them */
        error += q.part[i].error;
        norm += q.part[i].norm;
    }
    return error == 0 ? 0 : norm == 0 ? HUGE_VAL : (double)sqrtl(error / norm);
}

/* Any matrices: N. Higham, "Accuracy and Stability of Numerical Algorithms" (2002), section 3.5: k
 * roundings of eps / 2, in any order of the sum, and a few more for alpha, beta and parts of the
 * depth. Random ones: the errors of the k terms cancel as the terms do; up to 0.3 eps is seen,
 * whatever k is. */
double matmul_tolerance(enum matmul_precision precision, size_t k, int random)
{
    const double eps = precision == MATMUL_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;
    return random ? 2 * eps : eps * (4 + (double)k / 2);
}
