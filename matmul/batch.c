/* batch.c - many products of one size by one launch: matmul_batch.
 *
 * A launch takes longer than a small product. On GPUs the groups of all products stand one behind
 * the other (tile.cl); on CPUs a group computes some products after each other (cpu.cl). Large
 * products are launched one by one.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include "core/handle.h"

enum {
    LARGE_ON_GPU = 2048, /* products of cubes of this side are launched one by one */
    LARGE_ON_CPU = 512,
    MOST_ELEMENTS = 1 << 30, /* of C in one launch: kernels number their groups by int */
};

/* Whether any memory between the first and the last element is in both. */
static bool meet(const struct matmul *mm, const struct matrices *s, const struct matrices *t)
{
    const char *x = s->x, *y = t->x;
    return x < y + matmul_extent(t) * mm->real && y < x + matmul_extent(s) * mm->real;
}

/* The products from number `first` on; one alone is no batch. */
static struct product products_from(const struct product *x, size_t first, size_t count, bool alone)
{
    struct product y = *x;
    y.count = alone ? 0 : count;
    y.a.offset += first * x->step_a;
    y.b.offset += first * x->step_b;
    y.c.offset += first * x->step_c;
    return y;
}

/* How many products a launch takes. */
static int launch_size(struct matmul *mm, struct share *p, const struct product *x, size_t *most)
{
    const double large = p->is_cpu ? LARGE_ON_CPU : LARGE_ON_GPU,
                 work = (double)x->m * (double)x->n * (double)x->k;
    *most = 1;
    if (mm->kind != MATMUL_TUNED || work == 0 || x->alpha == 0 || work >= large * large * large ||
        x->m * x->n > MOST_ELEMENTS / 2)
        return 0;
    if (cltune_value(mm->words, "path", 0) == PATH_THIN)
        return 0; /* skinny.cl has no batches */
    *most = MOST_ELEMENTS / (x->m * x->n);
    return matmul_shape_choose_batch(mm, p, x->m, x->n, x->k);
}

static int start_all(struct matmul *mm, struct share *p, const struct product *x)
{
    size_t most;
    int status = launch_size(mm, p, x, &most);
    for (size_t first = 0; status == 0 && first < x->count; first += most) {
        const struct product y =
            products_from(x, first, smaller(most, x->count - first), most == 1);
        status = most == 1                      ? matmul_start(mm, p, &y)
                 : p->shape.path == PATH_PANELS ? matmul_cpu_batch(mm, p, &y)
                                                : matmul_gpu_batch(mm, p, &y);
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
    const bool ta = trans_a(trans), tb = trans_b(trans);
    if (mm->ndev == 0)
        return clerror_set(ENOTSUP, "matmul_batch: engine \"%s\" computes on the host",
                           matmul_kind_name(mm->kind));
    if (dev >= mm->ndev)
        return clerror_set(EINVAL, "matmul_batch: there is no device %u; the context has %u", dev,
                           mm->ndev);
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
                           "matmul_batch: matrices C are %zu elements apart, but each has %zu",
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
    if (matmul_operand(mm, &sc, &x.c) != 0 ||
        (reads && (matmul_operand(mm, &sa, &x.a) != 0 || matmul_operand(mm, &sb, &x.b) != 0)))
        return -1;
    if (reads && (meet(mm, &sa, &sc) || meet(mm, &sb, &sc)))
        return clerror_set(
            EINVAL,
            "matmul_batch: the matrices C and %s are among each other; give the results memory of "
            "their own",
            meet(mm, &sa, &sc) ? "A" : "B");
    return start_all(mm, &mm->share[dev], &x);
}
