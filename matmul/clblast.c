/* clblast.c - the kind CLBLAST, for comparison, if the library is installed.
 *
 * Its C interface (clblast_c.h) is called through dlsym. The numbers below are its enumerations.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"
#include "matmul/start.h"

#include <dlfcn.h>

enum { ROW_MAJOR = 101, NOT_TRANSPOSED = 111, TRANSPOSED = 112 };

typedef int gemm_single(int layout, int trans_a, int trans_b, size_t m, size_t n, size_t k,
                        float alpha, cl_mem a, size_t a0, size_t lda, cl_mem b, size_t b0,
                        size_t ldb, float beta, cl_mem c, size_t c0, size_t ldc,
                        cl_command_queue *queue, cl_event *event);
typedef int gemm_double(int layout, int trans_a, int trans_b, size_t m, size_t n, size_t k,
                        double alpha, cl_mem a, size_t a0, size_t lda, cl_mem b, size_t b0,
                        size_t ldb, double beta, cl_mem c, size_t c0, size_t ldc,
                        cl_command_queue *queue, cl_event *event);

static cl_mem clblast_buffer(struct matmul *mm, const struct matmul_device *p,
                             const struct operand *o)
{
    return o->block ? clgetbuffer(mm->ctx, p->dev, o->block) : o->buffer;
}

/* Wait for the product: the context does not track what CLBlast enqueues. */
int matmul_clblast_start(struct matmul *mm, struct matmul_device *p, const struct product *x)
{
    const int ta = x->trans_a ? TRANSPOSED : NOT_TRANSPOSED,
              tb = x->trans_b ? TRANSPOSED : NOT_TRANSPOSED;
    const bool doubles = mm->precision == MATMUL_DOUBLE;
    void *found = dlsym(matmul_clblast(), doubles ? "CLBlastDgemm" : "CLBlastSgemm");
    cl_mem a = clblast_buffer(mm, p, &x->a), b = clblast_buffer(mm, p, &x->b),
           c = clblast_buffer(mm, p, &x->c);
    cl_command_queue queue = clgetqueue(mm->ctx, p->dev);
    gemm_single *sgemm;
    gemm_double *dgemm;
    memcpy(&sgemm, &found, sizeof found);
    memcpy(&dgemm, &found, sizeof found);
    if (!found)
        return clerror_set(ENOTSUP, "matmul: this CLBlast has no matrix product");
    if (!a || !b || !c || !queue)
        return -1;
    const int status =
        doubles
            ? dgemm(ROW_MAJOR, ta, tb, x->m, x->n, x->k, x->alpha, a, x->a.offset, x->a.ld, b,
                    x->b.offset, x->b.ld, x->beta, c, x->c.offset, x->c.ld, &queue, NULL)
            : sgemm(ROW_MAJOR, ta, tb, x->m, x->n, x->k, (float)x->alpha, a, x->a.offset, x->a.ld,
                    b, x->b.offset, x->b.ld, (float)x->beta, c, x->c.offset, x->c.ld, &queue, NULL);
    if (status != 0 || clFinish(queue) != CL_SUCCESS)
        return clerror_set(EIO, "matmul: CLBlast cannot multiply on %s (its status is %d)",
                           p->info.dev_name, status);
    return 0;
}

void matmul_clblast_clear_cache(void)
{
    void *found = dlsym(matmul_clblast(), "CLBlastClearCache");
    int (*clear)(void);
    memcpy(&clear, &found, sizeof found);
    if (found)
        clear();
}
