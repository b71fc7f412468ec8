/* skinny.c - TUNED on GPUs: a matrix times a few vectors (skinny.cl).
 *
 * Of a product with few rows or columns the large operand is read once, where it is. How its depth
 * is shared by groups follows from sizes and the row alone, never from the device, so that all
 * devices with one row give the same bits.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

enum {
    MOST_SIDE = 1 << 30,    /* of rows and depth in a launch, whose kernels count them by int */
    MOST_PARTS = 64,        /* of a depth */
    NEAR_BYTES = 16 * 1024, /* of vectors in local memory */
};

/* X, of `rows` rows and depth k, times `vectors` vectors Y, which are columns of C or rows of
 * it. */
struct thin {
    size_t rows, vectors, k;
    struct operand x, y, c;
    bool along; /* the depth of X is what lies side by side */
    size_t y_step_v, y_step_x, c_step_r, c_step_v;
};

/* How skinny.cl is built and launched for it. */
struct thin_launch {
    bool wide;
    size_t vectors, items, team, each, chunk, stride; /* as in skinny.cl; stride: STRIDE */
    size_t blocks, parts, span;
};

static struct thin thin_of(const struct product *x)
{
    const bool tall = x->n <= x->m; /* the vectors are columns of op(B), else rows of op(A) */
    if (tall)
        return (struct thin){.rows = x->m,
                             .vectors = x->n,
                             .k = x->k,
                             .x = x->a,
                             .y = x->b,
                             .c = x->c,
                             .along = !x->trans_a,
                             .y_step_v = x->trans_b ? x->b.ld : 1,
                             .y_step_x = x->trans_b ? 1 : x->b.ld,
                             .c_step_r = x->c.ld,
                             .c_step_v = 1};
    return (struct thin){.rows = x->n,
                         .vectors = x->m,
                         .k = x->k,
                         .x = x->b,
                         .y = x->a,
                         .c = x->c,
                         .along = x->trans_b,
                         .y_step_v = x->trans_a ? 1 : x->a.ld,
                         .y_step_x = x->trans_a ? x->a.ld : 1,
                         .c_step_r = 1,
                         .c_step_v = x->c.ld};
}

static struct thin_launch launch_of(const struct matmul *mm, const struct matmul_shape *s,
                                    const struct thin *t)
{
    const size_t step = 16 / mm->real;
    struct thin_launch l = {.vectors = matmul_thin_vectors(t->vectors), .items = (size_t)s->items};
    l.wide = t->x.offset % step == 0 && t->x.ld % step == 0 && t->x.skew % 16 == 0;
    const size_t w = l.wide ? step : 1, beside = smaller((size_t)s->beside, l.items),
                 steps = (size_t)s->steps;
    const size_t line =
        smaller(divide_up(matmul_thin_line(s, t->k * mm->real), w * mm->real), l.items);
    l.team = t->along ? line : l.items / beside;
    l.each = t->along ? (size_t)s->each : w;
    l.stride = t->along ? l.team * w * steps : l.team * steps;
    l.chunk = NEAR_BYTES / (l.vectors * mm->real) / l.stride * l.stride;
    l.chunk = l.chunk ? l.chunk : l.stride;
    l.blocks = divide_up(t->rows, l.items / l.team * l.each);
    const size_t wanted = s->part ? smaller(divide_up((size_t)s->groups, l.blocks),
                                            smaller(t->k / (size_t)s->part, MOST_PARTS))
                                  : 1;
    const size_t parts = wanted && l.blocks <= PLAN_SHARED ? wanted : 1;
    l.span = round_up(divide_up(t->k, parts), l.stride);
    l.parts = divide_up(t->k, l.span);
    return l;
}

/* One launch. */
static int launch(struct matmul *mm, struct share *p, const struct matmul_shape *s,
                  const struct thin *t, double alpha_, double beta_)
{
    const struct thin_launch l = launch_of(mm, s, t);
    const size_t sums = l.blocks * l.parts * (l.items / l.team) * l.each * l.vectors;
    void *shared = l.parts > 1 ? matmul_partials(mm, p, sums) : NULL;
    char options[256];
    snprintf(
        options, sizeof options,
        "-D ALONG=%d -D Y_ALONG=%d -D WIDE=%d -D VECTORS=%zu -D ITEMS=%zu -D TEAM=%zu -D ROWS_EACH=%zu "
        "-D STEPS=%d -D CHUNK=%zu -D PTX=%d",
        t->along, t->y_step_x == 1, l.wide, l.vectors, l.items, l.team, l.each, s->steps, l.chunk,
        p->capability);
    cl_kernel kernel = matmul_kernel(mm, SOURCE_THIN, options, "matmul_thin");
    if (!kernel || (l.parts > 1 && !shared))
        return -1;
    const cl_int rows = (cl_int)t->rows, vectors = (cl_int)t->vectors, k = (cl_int)t->k,
                 parts = (cl_int)l.parts, span = (cl_int)l.span;
    const cl_ulong x0 = t->x.offset, ldx = t->x.ld, y0 = t->y.offset, y_step_v = t->y_step_v,
                   y_step_x = t->y_step_x, c0 = t->c.offset, c_step_r = t->c_step_r,
                   c_step_v = t->c_step_v, sums0 = PLAN_SHARED * sizeof(cl_uint) / mm->real;
    const struct operand scratch =
        shared ? (struct operand){.block = shared} : t->c; /* any, when unused */
    const double work = (double)t->rows * (double)t->vectors * (double)t->k;
    clndrange_t ndr = clndrange_init1d(0, l.blocks * l.parts * l.items, l.items);
    clprofile_work(kernel, 2.0 * work, (double)t->rows * (double)t->k * (double)mm->real,
                   mm->precision == MATMUL_DOUBLE ? CLPROF_DOUBLE : CLPROF_SINGLE);
    return matmul_fork(mm, p, kernel, &ndr, work,
                       ARGS(rows, vectors, k, REAL(mm, alpha_), operand_arg(&t->x), x0, ldx,
                            operand_arg(&t->y), y0, y_step_v, y_step_x, REAL(mm, beta_),
                            operand_arg(&t->c), c0, c_step_r, c_step_v, parts, span,
                            operand_arg(&scratch), sums0, operand_arg(&scratch)));
}

/* All the depth of some rows and vectors. */
static int start_deep(struct matmul *mm, struct share *p, const struct matmul_shape *s,
                      const struct thin *t, double alpha, double beta)
{
    struct thin y = *t;
    for (size_t k0 = 0; k0 < t->k; k0 += MOST_SIDE) {
        y.k = smaller(MOST_SIDE, t->k - k0);
        y.x.offset = t->x.offset + k0 * (t->along ? 1 : t->x.ld);
        y.y.offset = t->y.offset + k0 * t->y_step_x;
        if (launch(mm, p, s, &y, alpha, k0 ? 1 : beta) != 0)
            return -1;
    }
    return 0;
}

/* With more vectors than a launch takes, which only the caller's words bring here, X is read so
 * many times. */
int matmul_thin_start(struct matmul *mm, struct share *p, const struct matmul_shape *s,
                      const struct product *x)
{
    const struct thin all = thin_of(x);
    struct thin t = all;
    for (size_t i = 0; i < all.rows; i += MOST_SIDE)
        for (size_t v = 0; v < all.vectors; v += THIN_VECTORS) {
            t.rows = smaller(MOST_SIDE, all.rows - i);
            t.vectors = smaller(THIN_VECTORS, all.vectors - v);
            t.x.offset = all.x.offset + i * (all.along ? all.x.ld : 1);
            t.y.offset = all.y.offset + v * all.y_step_v;
            t.c.offset = all.c.offset + i * all.c_step_r + v * all.c_step_v;
            if (start_deep(mm, p, s, &t, x->alpha, x->beta) != 0)
                return -1;
        }
    return 0;
}
