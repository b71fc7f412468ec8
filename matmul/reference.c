/* reference.c - matrices to multiply, and the right answer.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include <float.h>
#include <math.h>

#include "stdcl/philox.h"

/* ---- Random matrices. ------------------------------------------------------------------------- */

/* Element (i, j) from the counter (j / 2, i): a block of random bits makes two numbers. */
static void random_pair(uint64_t seed, uint32_t matrix, size_t i, size_t pair, double out[2])
{
    const philox4 counter = {(uint32_t)pair, (uint32_t)((uint64_t)pair >> 32), (uint32_t)i,
                             matrix << 24 | (uint32_t)((uint64_t)i >> 32)};
    const philox4 r = philox4x32_10(counter, (uint32_t)seed, (uint32_t)(seed >> 32));
    out[0] = 2 * philox_double(r.x, r.y) - 1;
    out[1] = 2 * philox_double(r.z, r.w) - 1;
}

void matmul_random(enum matmul_precision precision, uint64_t seed, uint32_t matrix, size_t rows, size_t cols,
                   void *x, size_t ld)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j += 2) {
            double v[2];
            random_pair(seed, matrix, i, j / 2, v);
            for (size_t e = 0; e < 2 && j + e < cols; e++)
                if (precision == MATMUL_DOUBLE)
                    ((double *)x)[i * (ld ? ld : cols) + j + e] = v[e];
                else
                    ((float *)x)[i * (ld ? ld : cols) + j + e] = (float)v[e];
        }
}

/* ---- The right answer. ------------------------------------------------------------------------ */

/* A row of alpha op(A) op(B) + beta C in a wider type. B is read as it lies, so that either way of storing it
 * is read along its rows. */
#define REFERENCE_ROW(T, WIDE)                                                                                    \
    static void row_##T(const struct host_product *p, const T *before, size_t i, WIDE *sum)                       \
    {                                                                                                             \
        const bool ta = trans_a(p->trans), tb = trans_b(p->trans), zero = p->alpha == 0;                          \
        const T *a = p->a, *b = p->b;                                                                             \
        for (size_t j = 0; j < p->n; j++)                                                                         \
            sum[j] = 0;                                                                                           \
        for (size_t x = 0; !tb && !zero && x < p->k; x++) {                                                       \
            const WIDE f = a[place_of(ta, p->lda, i, x)];                                                         \
            for (size_t j = 0; j < p->n; j++)                                                                     \
                sum[j] += f * (WIDE)b[x * p->ldb + j];                                                            \
        }                                                                                                         \
        for (size_t j = 0; tb && !zero && j < p->n; j++)                                                          \
            for (size_t x = 0; x < p->k; x++)                                                                     \
                sum[j] += (WIDE)a[place_of(ta, p->lda, i, x)] * (WIDE)b[j * p->ldb + x];                          \
        for (size_t j = 0; j < p->n; j++) {                                                                       \
            sum[j] = zero ? 0 : (WIDE)(T)p->alpha * sum[j];                                                       \
            if (p->beta != 0 && before)                                                                           \
                sum[j] += (WIDE)(T)p->beta * (WIDE)before[i * p->ldc + j];                                        \
        }                                                                                                         \
    }                                                                                                             \
    static void add_row_##T(const struct host_product *p, size_t i, const WIDE *right, double *error, double *size) \
    {                                                                                                             \
        const T *c = (const T *)p->c + i * p->ldc;                                                                \
        for (size_t j = 0; j < p->n; j++) {                                                                       \
            const double e = (double)((WIDE)c[j] - right[j]), r = (double)right[j];                               \
            const bool both = isnan(r) && isnan((double)c[j]);                                                    \
            *error += both ? 0 : e * e;                                                                           \
            *size += both ? 0 : r * r;                                                                            \
        }                                                                                                         \
    }
REFERENCE_ROW(float, double)
typedef long double long_double;
REFERENCE_ROW(double, long_double)

double matmul_error(enum matmul_precision precision, enum matmul_trans trans, size_t m, size_t n, size_t k,
                    double alpha, const void *a, size_t lda, const void *b, size_t ldb, double beta,
                    const void *before, const void *c, size_t ldc, size_t sample)
{
    const bool ta = trans_a(trans), tb = trans_b(trans);
    const struct host_product p = {trans, m, n, k, alpha, beta, a, b, (void *)(uintptr_t)c,
                                   lda ? lda : ta ? m : k, ldb ? ldb : tb ? k : n, ldc ? ldc : n};
    const double work = (double)n * (double)(k + 1);
    const size_t affordable = (size_t)(5e8 / work) + 1, rows = smaller(m, sample ? sample : affordable);
    long double *right = malloc((n + 1) * sizeof *right);
    double error = 0, size = 0;
    for (size_t r = 0; right && r < rows; r++) {
        const size_t i = rows > 1 ? r * (m - 1) / (rows - 1) : m / 2; /* the first and the last among them */
        if (precision == MATMUL_DOUBLE) {
            row_double(&p, before, i, right);
            add_row_double(&p, i, right, &error, &size);
        } else {
            row_float(&p, before, i, (double *)right);
            add_row_float(&p, i, (const double *)right, &error, &size);
        }
    }
    if (!right)
        return NAN;
    free(right);
    return size > 0 ? sqrt(error / size) : sqrt(error);
}

/* Rounding errors of k products add up as a random walk does: sqrt(k) units of the last place, of which a
 * norm of many elements sees about a third; and some more for other orders of summation. */
double matmul_tolerance(enum matmul_precision precision, size_t k)
{
    const double eps = precision == MATMUL_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;
    return eps * (2 + sqrt((double)k));
}
