/* host.c - products on the host: three loops, blocks, OpenBLAS, SYCL.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"
#include "matmul/start.h"
#include "matmul/sycl.h"

#include <dlfcn.h>
#include <limits.h>

/* ---- CPU_NAIVE and CPU_BLOCKED. -------------------------------------------------------------- */

/* Element (i, x) of op(A) is a[i * a_row + x * a_col], and (x, j) of op(B) is b[x * b_row + j *
 * b_col]. */
struct strides {
    size_t a_row, a_col, b_row, b_col;
};

static struct strides host_strides(const struct host_product *p)
{
    const bool ta = is_trans_a(p->trans), tb = is_trans_b(p->trans);
    return (struct strides){ta ? 1 : p->lda, ta ? p->lda : 1, tb ? 1 : p->ldb, tb ? p->ldb : 1};
}

/* The blocked product sums products of blocks of A and B. It reads a strip of a block of B row by
 * row: the innermost loop is contiguous unless B is transposed. alpha multiplies sums: alpha A may
 * overflow where the product does not. */
enum { STRIP = 64 };
#define HOST_LOOPS(T)                                                                              \
    static void naive_##T(const struct host_product *p)                                            \
    {                                                                                              \
        const struct strides s = host_strides(p);                                                  \
        const T *a = p->a, *b = p->b, alpha = (T)p->alpha, beta = (T)p->beta;                      \
        T *c = p->c;                                                                               \
        for (size_t i = 0; i < p->m; i++)                                                          \
            for (size_t j = 0; j < p->n; j++) {                                                    \
                T sum = 0;                                                                         \
                for (size_t x = 0; x < p->k; x++)                                                  \
                    sum += a[i * s.a_row + x * s.a_col] * b[x * s.b_row + j * s.b_col];            \
                T *to = &c[i * p->ldc + j];                                                        \
                *to = beta == 0 ? alpha * sum : alpha * sum + beta * *to;                          \
            }                                                                                      \
    }                                                                                              \
    static void block_##T(const struct host_product *p, const struct strides *s, size_t i0,        \
                          size_t j0, size_t x0, size_t block)                                      \
    {                                                                                              \
        const size_t i1 = min_size(i0 + block, p->m), j1 = min_size(j0 + block, p->n),             \
                     x1 = min_size(x0 + block, p->k), b_col = s->b_col;                            \
        const T alpha = (T)p->alpha;                                                               \
        for (size_t i = i0; i < i1; i++)                                                           \
            for (size_t j = j0; j < j1; j += STRIP) {                                              \
                const size_t n = min_size(STRIP, j1 - j);                                          \
                T sum[STRIP] = {0}, *c = (T *)p->c + i * p->ldc + j;                               \
                for (size_t x = x0; x < x1; x++) {                                                 \
                    const T f = ((const T *)p->a)[i * s->a_row + x * s->a_col];                    \
                    const T *b = (const T *)p->b + x * s->b_row + j * b_col;                       \
                    for (size_t y = 0; y < n; y++)                                                 \
                        sum[y] += f * b[y * b_col];                                                \
                }                                                                                  \
                for (size_t y = 0; y < n; y++)                                                     \
                    c[y] += alpha * sum[y];                                                        \
            }                                                                                      \
    }                                                                                              \
    static void blocked_##T(const struct host_product *p, size_t block)                            \
    {                                                                                              \
        const struct strides s = host_strides(p);                                                  \
        const T beta = (T)p->beta;                                                                 \
        for (size_t i = 0; i < p->m; i++)                                                          \
            for (size_t j = 0; j < p->n; j++) {                                                    \
                T *to = (T *)p->c + i * p->ldc + j;                                                \
                *to = beta == 0 ? 0 : beta * *to;                                                  \
            }                                                                                      \
        for (size_t i = 0; i < p->m; i += block)                                                   \
            for (size_t j = 0; j < p->n; j += block)                                               \
                for (size_t x = 0; x < p->k; x += block)                                           \
                    block_##T(p, &s, i, j, x, block);                                              \
    }
HOST_LOOPS(float)
HOST_LOOPS(double)

/* ---- OpenBLAS, through its CBLAS interface. -------------------------------------------------- */

enum { ROW_MAJOR = 101, NOT_TRANSPOSED = 111, TRANSPOSED = 112 };

typedef void gemm_single(int order, int trans_a, int trans_b, int m, int n, int k, float alpha,
                         const float *a, int lda, const float *b, int ldb, float beta, float *c,
                         int ldc);
typedef void gemm_double(int order, int trans_a, int trans_b, int m, int n, int k, double alpha,
                         const double *a, int lda, const double *b, int ldb, double beta, double *c,
                         int ldc);

static int host_run_openblas(const struct host_product *p, bool doubles)
{
    void *found = dlsym(matmul_openblas(), doubles ? "cblas_dgemm" : "cblas_sgemm");
    const int ta = is_trans_a(p->trans) ? TRANSPOSED : NOT_TRANSPOSED,
              tb = is_trans_b(p->trans) ? TRANSPOSED : NOT_TRANSPOSED;
    gemm_single *sgemm;
    gemm_double *dgemm;
    memcpy(&sgemm, &found, sizeof found);
    memcpy(&dgemm, &found, sizeof found);
    if (!found)
        return clerror_set(ENOTSUP, "matmul: this OpenBLAS does not export the matrix product");
    if (p->lda > INT_MAX || p->ldb > INT_MAX || p->ldc > INT_MAX)
        return clerror_set(
            EINVAL, "matmul: the leading dimensions are too large for OpenBLAS; the maximum is %d",
            INT_MAX);
    if (doubles)
        dgemm(ROW_MAJOR, ta, tb, (int)p->m, (int)p->n, (int)p->k, p->alpha, p->a, (int)p->lda, p->b,
              (int)p->ldb, p->beta, p->c, (int)p->ldc);
    else
        sgemm(ROW_MAJOR, ta, tb, (int)p->m, (int)p->n, (int)p->k, (float)p->alpha, p->a,
              (int)p->lda, p->b, (int)p->ldb, (float)p->beta, p->c, (int)p->ldc);
    return 0;
}

/* ---- By kind. -------------------------------------------------------------------------------- */

#ifdef STDCL_HAVE_SYCL
static int host_run_sycl(const struct matmul *mm, const struct host_product *p)
{
    char why[512];
    if (matmul_sycl_run(mm->precision == MATMUL_DOUBLE, is_trans_a(p->trans), is_trans_b(p->trans),
                        p->m, p->n, p->k, p->alpha, p->a, p->lda, p->b, p->ldb, p->beta, p->c,
                        p->ldc, mm->block, why, sizeof why) == 0)
        return 0;
    return clerror_set(EIO, "matmul: SYCL: %s", why);
}
#else
static int host_run_sycl(const struct matmul *mm, const struct host_product *p)
{
    (void)mm, (void)p;
    return clerror_set(ENOTSUP, "matmul: %s", matmul_kind_missing(MATMUL_SYCL));
}
#endif

void matmul_host_scale(const struct matmul *mm, const struct host_product *p)
{
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++)
            if (mm->precision == MATMUL_DOUBLE) {
                double *c = (double *)p->c + i * p->ldc + j;
                *c = p->beta == 0 ? 0 : p->beta * *c;
            } else {
                float *c = (float *)p->c + i * p->ldc + j;
                *c = p->beta == 0 ? 0 : (float)p->beta * *c;
            }
}

int matmul_host_run(struct matmul *mm, const struct host_product *p)
{
    const bool doubles = mm->precision == MATMUL_DOUBLE;
    if (p->k == 0 || p->alpha == 0)
        return matmul_host_scale(mm, p), 0;
    switch (mm->kind) {
    case MATMUL_CPU_NAIVE:
        return doubles ? naive_double(p) : naive_float(p), 0;
    case MATMUL_CPU_BLOCKED:
        return doubles ? blocked_double(p, mm->block) : blocked_float(p, mm->block), 0;
    case MATMUL_OPENBLAS:
        return host_run_openblas(p, doubles);
    default:
        return host_run_sycl(mm, p);
    }
}
