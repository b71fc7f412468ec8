/* skinny.c - TUNED on GPUs: a matrix times a few vectors (skinny.cl).
 *
 * The large operand of a product with few rows or columns is read once, in place. The split of K
 * follows from sizes and the tuning entry alone, not from the device: all devices with one entry
 * give the same bits.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"
#include "matmul/plan.h"
#include "matmul/program.h"
#include "matmul/start.h"

enum {
    SIDE_MAX = 1 << 30,      /* rows and depth of a launch: kernels count by int */
    SPLITS_MAX = 64,         /* of the depth */
    LOCAL_BYTES = 16 * 1024, /* of the vectors in local memory */
};

/* X, of `rows` rows and depth k, times `vectors` vectors Y, which are columns or rows of C. */
struct skinny_problem {
    size_t rows, vectors, k;
    struct operand x, y, c;
    bool x_along_k; /* the depth of X is contiguous */
    size_t y_step_v, y_step_x, c_step_r, c_step_v;
};

/* Build options and launch parameters of skinny.cl for a problem. */
struct skinny_config {
    bool wide;
    size_t vectors, items, team, rows_per_item, chunk, stride; /* as in skinny.cl */
    size_t blocks, parts, part_depth;
};

static struct skinny_problem skinny_problem_of(const struct product *x)
{
    const bool tall = x->n <= x->m; /* vectors are columns of op(B), else rows of op(A) */
    if (tall)
        return (struct skinny_problem){.rows = x->m,
                                       .vectors = x->n,
                                       .k = x->k,
                                       .x = x->a,
                                       .y = x->b,
                                       .c = x->c,
                                       .x_along_k = !x->trans_a,
                                       .y_step_v = x->trans_b ? x->b.ld : 1,
                                       .y_step_x = x->trans_b ? 1 : x->b.ld,
                                       .c_step_r = x->c.ld,
                                       .c_step_v = 1};
    return (struct skinny_problem){.rows = x->n,
                                   .vectors = x->m,
                                   .k = x->k,
                                   .x = x->b,
                                   .y = x->a,
                                   .c = x->c,
                                   .x_along_k = x->trans_b,
                                   .y_step_v = x->trans_a ? 1 : x->a.ld,
                                   .y_step_x = x->trans_a ? x->a.ld : 1,
                                   .c_step_r = 1,
                                   .c_step_v = x->c.ld};
}

static struct skinny_config skinny_plan(const struct matmul *mm, const struct matmul_shape *s,
                                        const struct skinny_problem *t)
{
    const size_t step = 16 / mm->real;
    struct skinny_config l = {.vectors = matmul_skinny_vectors(t->vectors),
                              .items = (size_t)s->items};
    l.wide = t->x.offset % step == 0 && t->x.ld % step == 0 && t->x.skew % 16 == 0;
    const size_t w = l.wide ? step : 1, beside = min_size((size_t)s->items_across, l.items),
                 steps = (size_t)s->steps;
    const size_t line =
        min_size(divide_up(matmul_skinny_line(s, t->k * mm->real), w * mm->real), l.items);
    l.team = t->x_along_k ? line : l.items / beside;
    l.rows_per_item = t->x_along_k ? (size_t)s->rows_per_item : w;
    l.stride = t->x_along_k ? l.team * w * steps : l.team * steps;
    l.chunk = LOCAL_BYTES / (l.vectors * mm->real) / l.stride * l.stride;
    l.chunk = l.chunk ? l.chunk : l.stride;
    l.blocks = divide_up(t->rows, l.items / l.team * l.rows_per_item);
    const size_t wanted = s->split_k_min
                              ? min_size(divide_up((size_t)s->groups, l.blocks),
                                         min_size(t->k / (size_t)s->split_k_min, SPLITS_MAX))
                              : 1;
    const size_t parts = wanted && l.blocks <= SPLITK_PARTS_MAX ? wanted : 1;
    l.part_depth = round_up(divide_up(t->k, parts), l.stride);
    l.parts = divide_up(t->k, l.part_depth);
    return l;
}

/* Launch the kernel once. */
static int skinny_launch(struct matmul *mm, struct matmul_device *p, const struct matmul_shape *s,
                         const struct skinny_problem *t, double alpha_, double beta_)
{
    const struct skinny_config l = skinny_plan(mm, s, t);
    const size_t sums = l.blocks * l.parts * (l.items / l.team) * l.rows_per_item * l.vectors;
    void *shared = l.parts > 1 ? matmul_splitk_workspace(mm, p, sums) : NULL;
    char options[256];
    snprintf(
        options, sizeof options,
        "-D X_ALONG_K=%d -D Y_ALONG_K=%d -D WIDE=%d -D VECTORS=%zu -D ITEMS=%zu -D TEAM=%zu -D ROWS_PER_ITEM=%zu "
        "-D STEPS=%d -D CHUNK=%zu -D PTX=%d",
        t->x_along_k, t->y_step_x == 1, l.wide, l.vectors, l.items, l.team, l.rows_per_item,
        s->steps, l.chunk, p->capability);
    cl_kernel kernel = matmul_kernel(mm, SOURCE_SKINNY, options, "matmul_skinny");
    if (!kernel || (l.parts > 1 && !shared))
        return -1;
    const cl_int rows = (cl_int)t->rows, vectors = (cl_int)t->vectors, k = (cl_int)t->k,
                 parts = (cl_int)l.parts, part_depth = (cl_int)l.part_depth;
    const cl_ulong x0 = t->x.offset, ldx = t->x.ld, y0 = t->y.offset, y_step_v = t->y_step_v,
                   y_step_x = t->y_step_x, c0 = t->c.offset, c_step_r = t->c_step_r,
                   c_step_v = t->c_step_v, sums0 = SPLITK_PARTS_MAX * sizeof(cl_uint) / mm->real;
    const struct operand workspace = shared ? (struct operand){.block = shared}
                                            : t->c; /* any buffer: the kernel does not use it */
    const double work = (double)t->rows * (double)t->vectors * (double)t->k;
    clndrange_t ndr = clndrange_init1d(0, l.blocks * l.parts * l.items, l.items);
    clprofile_work(kernel, 2.0 * work, (double)t->rows * (double)t->k * (double)mm->real,
                   mm->precision == MATMUL_DOUBLE ? CLPROF_DOUBLE : CLPROF_SINGLE);
    return matmul_launch(mm, p, kernel, &ndr, work,
                         ARGS(rows, vectors, k, REAL(mm, alpha_), operand_arg(&t->x), x0, ldx,
                              operand_arg(&t->y), y0, y_step_v, y_step_x, REAL(mm, beta_),
                              operand_arg(&t->c), c0, c_step_r, c_step_v, parts, part_depth,
                              operand_arg(&workspace), sums0, operand_arg(&workspace)));
}

/* Compute the whole depth of some rows and vectors. */
static int skinny_start_full_depth(struct matmul *mm, struct matmul_device *p,
                                   const struct matmul_shape *s, const struct skinny_problem *t,
                                   double alpha, double beta)
{
    struct skinny_problem y = *t;
    for (size_t k0 = 0; k0 < t->k; k0 += SIDE_MAX) {
        y.k = min_size(SIDE_MAX, t->k - k0);
        y.x.offset = t->x.offset + k0 * (t->x_along_k ? 1 : t->x.ld);
        y.y.offset = t->y.offset + k0 * t->y_step_x;
        if (skinny_launch(mm, p, s, &y, alpha, k0 ? 1 : beta) != 0)
            return -1;
    }
    return 0;
}

/* Start a skinny product. With more vectors than a launch takes, which only the caller's words
 * allow, X is read several times. */
int matmul_skinny_start(struct matmul *mm, struct matmul_device *p, const struct matmul_shape *s,
                        const struct product *x)
{
    const struct skinny_problem all = skinny_problem_of(x);
    struct skinny_problem t = all;
    for (size_t i = 0; i < all.rows; i += SIDE_MAX)
        for (size_t v = 0; v < all.vectors; v += SKINNY_VECTORS_MAX) {
            t.rows = min_size(SIDE_MAX, all.rows - i);
            t.vectors = min_size(SKINNY_VECTORS_MAX, all.vectors - v);
            t.x.offset = all.x.offset + i * (all.x_along_k ? all.x.ld : 1);
            t.y.offset = all.y.offset + v * all.y_step_v;
            t.c.offset = all.c.offset + i * all.c_step_r + v * all.c_step_v;
            if (skinny_start_full_depth(mm, p, s, &t, x->alpha, x->beta) != 0)
                return -1;
        }
    return 0;
}
