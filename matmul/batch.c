/* batch.c - matmul_batch: many products of one size in one launch, since a launch takes longer than
 * a small product.
 *
 * On GPUs the groups of all products are numbered consecutively (tile.cl). On CPUs a group computes
 * several products in turn (cpu.cl); the host computes small products in memory of CL_MEM_ZEROCOPY
 * (small.c). Large products are launched one by one.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"
#include "matmul/small.h"
#include "matmul/start.h"

#include "core/handle.h"

enum {
    LARGE_ON_GPU = 2048, /* cubes of this side are launched one by one */
    LARGE_ON_CPU = 512,
    LAUNCH_ELEMENTS_MAX = 1 << 30, /* of C: kernels number groups by int */
};

/* True if the memory from the first to the last element of both overlaps. */
static bool matrices_overlap(const struct matmul *mm, const struct matrices *s,
                             const struct matrices *t)
{
    const char *x = s->x, *y = t->x;
    return x < y + matmul_footprint(t) * mm->real && y < x + matmul_footprint(s) * mm->real;
}

/* Return products first ... first + count - 1. With `alone` the product is not a batch. */
static struct product batch_slice(const struct product *x, size_t first, size_t count, bool alone)
{
    struct product y = *x;
    y.count = alone ? 0 : count;
    y.a.offset += first * x->step_a;
    y.b.offset += first * x->step_b;
    y.c.offset += first * x->step_c;
    return y;
}

/* Set *most to the number of products of a launch, and choose the batch's shape. */
static int batch_launch_size(struct matmul *mm, struct matmul_device *p, const struct product *x,
                             size_t *most)
{
    const double large = p->is_cpu ? LARGE_ON_CPU : LARGE_ON_GPU,
                 work = (double)x->m * (double)x->n * (double)x->k;
    *most = 1;
    if (mm->kind != MATMUL_TUNED || work == 0 || x->alpha == 0 || work >= large * large * large ||
        x->m * x->n > LAUNCH_ELEMENTS_MAX / 2)
        return 0;
    if (cltune_value(mm->shape_words, "path", 0) == PATH_SKINNY)
        return 0; /* skinny.cl has no batches */
    *most = LAUNCH_ELEMENTS_MAX / (x->m * x->n);
    return matmul_shape_choose_batch(mm, p, x->m, x->n, x->k);
}

static int batch_start(struct matmul *mm, struct matmul_device *p, const struct product *x)
{
    size_t most;
    int status = batch_launch_size(mm, p, x, &most);
    for (size_t first = 0; status == 0 && first < x->count; first += most) {
        const struct product y = batch_slice(x, first, min_size(most, x->count - first), most == 1);
        status = most == 1                      ? matmul_start(mm, p, &y)
                 : p->shape.path == PATH_PANELS ? matmul_cpu_start_batch(mm, p, &y)
                                                : matmul_gpu_start_batch(mm, p, &y);
    }
    return status;
}

int matmul_batch(matmul *mm, cl_uint dev, enum matmul_trans trans, size_t m, size_t n, size_t k,
                 double alpha, const void *a, size_t lda, size_t stride_a, const void *b,
                 size_t ldb, size_t stride_b, double beta, void *c, size_t ldc, size_t stride_c,
                 size_t count)
{
    if (no_handle(mm, __func__))
        return -1;
    struct host_product h = {trans, m, n, k, alpha, beta, a, b, c, lda, ldb, ldc};
    const bool ta = is_trans_a(trans), tb = is_trans_b(trans);
    if (mm->ndev == 0)
        return clerror_set(ENOTSUP, "matmul_batch: engine \"%s\" computes on the host",
                           matmul_kind_name(mm->kind));
    if (dev >= mm->ndev)
        return clerror_set(EINVAL, "matmul_batch: device %u does not exist; the context has %u",
                           dev, mm->ndev);
    if (matmul_check("matmul_batch", mm->real, &h) != 0)
        return -1;
    if (m == 0 || n == 0 || count == 0)
        return 0;
    const struct matrices sc = {"matmul_batch", "C", c, m, n, h.ldc, stride_c, count},
                          sa = {"matmul_batch", "A",   a,        ta ? k : m,
                                ta ? m : k,     h.lda, stride_a, count},
                          sb = {"matmul_batch", "B",   b,        tb ? n : k,
                                tb ? k : n,     h.ldb, stride_b, count};
    const bool reads = k > 0 && alpha != 0;
    if (count > 1 && stride_c < (m - 1) * h.ldc + n)
        return clerror_set(EINVAL,
                           "matmul_batch: the stride of C is %zu elements, but each matrix has %zu",
                           stride_c, (m - 1) * h.ldc + n);
    struct product x = {.trans_a = ta,
                        .trans_b = tb,
                        .m = m,
                        .n = n,
                        .k = k,
                        .alpha = alpha,
                        .beta = beta,
                        .count = count,
                        .step_a = stride_a,
                        .step_b = stride_b,
                        .step_c = stride_c};
    if (matmul_operands_of(mm, dev, &sa, &sb, &sc, &x) != 0)
        return -1;
    if (reads && (matrices_overlap(mm, &sa, &sc) || matrices_overlap(mm, &sb, &sc)))
        return clerror_set(
            EINVAL, "matmul_batch: the matrices C overlap %s; give the results memory of their own",
            matrices_overlap(mm, &sa, &sc) ? "A" : "B");
    if (matmul_small_fits_enqueued(mm, &x))
        return matmul_small_enqueued(mm, dev, "matmul_batch", &h, &x);
    return batch_start(mm, &mm->device[dev], &x);
}
