/* gpu.c - TUNED by tiles (fma.cl, mma.cl): which variant of the kernel, and how many groups.
 *
 * The kernels copy 16 bytes at a time where rows start at multiples of 16 bytes. An operand whose
 * rows do not is first copied to one whose rows do, when the product is large enough to repay that.
 * How groups share the depth, and when skinny.cl computes the last rows and columns, see plan.c.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

enum {
    MOST_LD = 1 << 22, /* offsets inside a tile are ints */
    JOINERS = 128, /* work-items of a group that adds up parts: a divisor of what the smallest tile
                      has to do */
};
static const size_t MOST_PACKED = (size_t)2 << 30; /* bytes of scratch memory for copies */

/* An operand as stored: rows x cols elements, and whether 16 bytes of a row can be copied at
 * once. */
struct side {
    struct operand x;
    size_t rows, cols, step, extra; /* of a batch: from one matrix to the next, and to the last */
    bool wide, beside; /* beside: but rows start at multiples of 32 bytes in part only (mma.cl) */
};

/* ---- Alignment. ------------------------------------------------------------------------------ */

/* Do all rows start at multiples of so many bytes? */
static bool rows_start_at(const struct matmul *mm, const struct side *s, size_t bytes)
{
    const size_t step = bytes / mm->real;
    return s->x.offset % step == 0 && s->x.ld % step == 0 && s->step % step == 0 &&
           s->x.skew % bytes == 0;
}

/* Can 16 bytes be copied at once, without reading beyond the end of the allocation? */
static bool is_wide(const struct matmul *mm, const struct side *s)
{
    const size_t step = 16 / mm->real;
    if (!rows_start_at(mm, s, 16))
        return false;
    if (s->cols % step == 0 || !s->x.block)
        return s->cols % step == 0;
    return (s->x.offset + s->extra + (s->rows - 1) * s->x.ld + round_up(s->cols, step)) *
               mm->real <=
           clsizeofmem(s->x.block);
}

static struct side side_a(const struct matmul *mm, const struct product *x)
{
    struct side a = {x->a, x->trans_a ? x->k : x->m, x->trans_a ? x->m : x->k, x->step_a, 0, false,
                     false};
    a.extra = x->count ? (x->count - 1) * x->step_a : 0;
    a.wide = is_wide(mm, &a);
    a.beside = a.wide && !rows_start_at(mm, &a, 32);
    return a;
}

static struct side side_b(const struct matmul *mm, const struct product *x)
{
    struct side b = {x->b, x->trans_b ? x->n : x->k, x->trans_b ? x->k : x->n, x->step_b, 0, false,
                     false};
    b.extra = x->count ? (x->count - 1) * x->step_b : 0;
    b.wide = is_wide(mm, &b);
    b.beside = b.wide && !rows_start_at(mm, &b, 32);
    return b;
}

static enum lie lie_of(const struct matmul *mm, const struct side *a, const struct side *b)
{
    if (!a->wide || !b->wide)
        return LIE_ANYWHERE;
    return mm->precision == MATMUL_DOUBLE && a->beside && b->beside ? LIE_BESIDE : LIE_WELL;
}

enum lie matmul_gpu_lie(const struct matmul *mm, const struct product *x)
{
    const struct side a = side_a(mm, x), b = side_b(mm, x);
    return lie_of(mm, &a, &b);
}

/* ---- Copies. --------------------------------------------------------------------------------- */

/* The dimensions of a packed copy: k is rounded up to a multiple of bk, so that all slices are
 * whole. */
static void packed_size(const struct matmul_shape *shape, const struct side *s, bool k_along_rows,
                        size_t *rows, size_t *ld)
{
    const size_t bk = (size_t)shape->bk;
    *rows = k_along_rows ? s->rows : round_up(s->rows, bk);
    *ld = round_up(s->cols, k_along_rows && bk > 16 ? bk : 16);
}

/* Copies A, B or both into scratch memory; what is not copied has rows 0. */
static int pack(struct matmul *mm, struct share *p, struct side *a, bool pack_a, bool a_along,
                struct side *b, bool pack_b, bool b_along)
{
    size_t rows_a = 0, ld_a = 16, rows_b = 0, ld_b = 16;
    if (pack_a)
        packed_size(&p->shape, a, a_along, &rows_a, &ld_a);
    if (pack_b)
        packed_size(&p->shape, b, b_along, &rows_b, &ld_b);
    void *to = matmul_scratch(mm, p, SCRATCH_PACK, (rows_a * ld_a + rows_b * ld_b) * mm->real);
    cl_kernel kernel = to ? matmul_kernel(mm, SOURCE_PACK, "", "matmul_pack") : NULL;
    const size_t group = smaller(256, p->info.dev_max_wg_sz);
    const size_t count_a = divide_up(ld_a, group) * divide_up(rows_a, 4);
    const size_t count_b = divide_up(ld_b, group) * divide_up(rows_b, 4);
    const cl_int groups_a = (cl_int)count_a;
    const cl_int ra = (cl_int)a->rows, ca = (cl_int)a->cols, tra = (cl_int)rows_a,
                 tla = (cl_int)ld_a;
    const cl_int rb = (cl_int)b->rows, cb = (cl_int)b->cols, trb = (cl_int)rows_b,
                 tlb = (cl_int)ld_b;
    const cl_ulong a0 = a->x.offset, lda = a->x.ld, b0 = b->x.offset, ldb = b->x.ld, to_a = 0,
                   to_b = rows_a * ld_a;
    clndrange_t ndr = clndrange_init1d(0, (count_a + count_b) * group, group);
    if (!kernel || matmul_fork(mm, p, kernel, &ndr, 0,
                               ARGS(groups_a, operand_arg(&a->x), a0, lda, ra, ca, to_a, tra, tla,
                                    operand_arg(&b->x), b0, ldb, rb, cb, to_b, trb, tlb, to)) != 0)
        return -1;
    if (pack_a)
        a->x = (struct operand){.block = to, .offset = 0, .ld = ld_a}, a->wide = true,
        a->beside = false;
    if (pack_b)
        b->x = (struct operand){.block = to, .offset = to_b, .ld = ld_b}, b->wide = true,
        b->beside = false;
    return 0;
}

/* ---- The launch. ----------------------------------------------------------------------------- */

static void options_of(const struct share *p, const struct matmul_shape *s, const struct product *x,
                       const struct side *a, const struct side *b, enum lie lie, bool wide_c,
                       bool tail, int split, bool edge, char *text, size_t size)
{
    snprintf(
        text, size,
        "-D BM=%d -D BN=%d -D BK=%d -D WM=%d -D WN=%d -D SETS=%d -D K_LEAST=%d -D ORDER=%d -D EARLY=%d -D STAGES=%d -D AHEAD=%d -D LANES=%d -D RASTER=%d "
        "-D PTX=%d -D ASYNC=%d -D TRANS_A=%d -D TRANS_B=%d -D WIDE_A=%d -D WIDE_B=%d -D WIDE_C=%d -D TAIL=%d -D SPLIT=%d%s%s%s%s%s%s",
        s->bm, s->bn, s->bk, s->wm, s->wn, s->sets, s->along, s->order, s->early, s->stages,
        s->ahead, s->lanes, s->raster, p->capability, s->async, x->trans_a, x->trans_b, a->wide,
        b->wide, wide_c, tail, split,
        s->mma && !x->count && lie == LIE_BESIDE ? " -D BESIDE=1" : "", s->mma ? " -D RUN=2" : "",
        s->mma && tail && x->k % 2 == 0 ? " -D PARTIAL=0" : "", edge ? " -D EDGE=1" : "",
        x->m % (size_t)s->bm || x->n % (size_t)s->bn ? "" : " -D EDGES=0",
        x->count ? " -D BATCH=1" : "");
}

/* Adds up the parts of shared tiles, which are in scratch memory. */
static int join(struct matmul *mm, struct share *p, const struct product *x,
                const struct tile_plan *plan, const char *options)
{
    const struct matmul_shape *s = &p->shape;
    const size_t run = s->mma ? 2 : 4, items = smaller(JOINERS, p->info.dev_max_wg_sz);
    cl_kernel kernel = matmul_kernel(mm, s->mma ? SOURCE_MMA : SOURCE_FMA, options, "matmul_join");
    const cl_int m = (cl_int)x->m, n = (cl_int)x->n, ldc = (cl_int)x->c.ld,
                 whole = (cl_int)plan->whole, parts = (cl_int)plan->splits;
    const cl_ulong c0 = x->c.offset, sums0 = PLAN_SHARED * sizeof(cl_uint) / mm->real;
    clndrange_t ndr = clndrange_init1d(
        0, (plan->tiles - plan->whole) * (size_t)s->bm * (size_t)s->bn / run, items);
    return kernel
               ? matmul_fork(mm, p, kernel, &ndr, 0,
                             ARGS(m, n, REAL(mm, x->alpha), REAL(mm, x->beta), operand_arg(&x->c),
                                  c0, ldc, whole, parts, p->scratch[SCRATCH_SPLIT].block, sums0))
               : -1;
}

static int launch(struct matmul *mm, struct share *p, const struct product *x, const struct side *a,
                  const struct side *b, bool tail)
{
    const struct matmul_shape *s = &p->shape;
    const size_t threads = (size_t)(s->bm / s->wm * (s->bn / s->wn) * 32 * s->sets);
    /* Bits of ranks do not depend on where blocks of C end. */
    const struct extent extent = {
        x->m, x->n, x->k, mm->real, lie_of(mm, a, b), !x->count && !mm->as[0]};
    const struct tile_plan plan = matmul_plan(s, matmul_units(p), &extent);
    const struct side c = {.x = x->c, .rows = x->m, .cols = x->n};
    const size_t run = s->mma ? 2 : 4;
    const size_t bm = (size_t)s->bm, bn = (size_t)s->bn;
    const bool edge = s->mma && !x->count && (x->m <= bm || x->n <= bn) &&
                      (x->m % bm || x->n % bn); /* of few tiles much does not exist */
    const bool wide_c = x->c.offset % run == 0 && x->c.ld % run == 0 && x->step_c % run == 0 &&
                        x->c.skew % (run * mm->real) == 0;
    char options[512];
    void *shared = plan.splits > 1
                       ? matmul_partials(mm, p, plan.splits * (plan.tiles - plan.whole) * bm * bn)
                       : NULL;
    options_of(p, s, x, a, b, extent.lie, wide_c, tail || edge, plan.later ? 2 : plan.splits > 1,
               edge, options, sizeof options);
    cl_kernel kernel = matmul_kernel(mm, s->mma ? SOURCE_MMA : SOURCE_FMA, options,
                                     s->mma ? "matmul_mma" : "matmul_fma");
    if (!kernel || (plan.splits > 1 && !shared))
        return -1;
    const cl_int m = (cl_int)x->m, n = (cl_int)x->n, k = (cl_int)x->k, lda = (cl_int)a->x.ld,
                 ldb = (cl_int)b->x.ld, ldc = (cl_int)x->c.ld, whole = (cl_int)plan.whole,
                 splits = (cl_int)plan.splits;
    const cl_ulong step_a = x->step_a, step_b = x->step_b, step_c = x->step_c;
    const cl_ulong a0 = a->x.offset, b0 = b->x.offset, c0 = x->c.offset,
                   sums0 = PLAN_SHARED * sizeof(cl_uint) / mm->real;
    const struct operand scratch =
        shared ? (struct operand){.block = shared} : x->c; /* any, when unused */
    const struct stdcl_arg args[] = {ARG(m),
                                     ARG(n),
                                     ARG(k),
                                     ARG(REAL(mm, x->alpha)),
                                     ARG(operand_arg(&a->x)),
                                     ARG(a0),
                                     ARG(lda),
                                     ARG(operand_arg(&b->x)),
                                     ARG(b0),
                                     ARG(ldb),
                                     ARG(REAL(mm, x->beta)),
                                     ARG(operand_arg(&c.x)),
                                     ARG(c0),
                                     ARG(ldc),
                                     ARG(whole),
                                     ARG(splits),
                                     ARG(operand_arg(&scratch)),
                                     ARG(sums0),
                                     ARG(operand_arg(&scratch)),
                                     ARG(step_a),
                                     ARG(step_b),
                                     ARG(step_c)};
    const size_t count = x->count ? x->count : 1, nargs = COUNT_OF(args) - (x->count ? 0 : 3);
    const size_t groups = (plan.whole + (plan.tiles - plan.whole) * plan.splits) * count;
    const double work = (double)x->m * (double)x->n * (double)x->k * (double)count;
    clndrange_t ndr = clndrange_init1d(0, groups * threads, threads);
    clprofile_work(kernel, 2.0 * work, 0,
                   s->mma                           ? CLPROF_TENSOR
                   : mm->precision == MATMUL_DOUBLE ? CLPROF_DOUBLE
                                                    : CLPROF_SINGLE);
    if (matmul_fork(mm, p, kernel, &ndr, work, (cl_uint)nargs, args) != 0)
        return -1;
    return plan.later ? join(mm, p, x, &plan, options) : 0;
}

/* The rows and columns of C behind the inner part, which tiles compute, by skinny.cl. */
static int start_rest(struct matmul *mm, struct share *p, const struct product *x,
                      const struct product *inner, const struct side *a, const struct side *b)
{
    const size_t rows = x->m - inner->m, cols = x->n - inner->n;
    struct product below = *x, beside = *inner;
    below.a = beside.a = a->x;
    below.b = beside.b = b->x;
    below.m = rows;
    below.a.offset += place_of(x->trans_a, a->x.ld, inner->m, 0);
    below.c.offset += inner->m * x->c.ld;
    beside.n = cols;
    beside.b.offset += place_of(x->trans_b, b->x.ld, 0, inner->n);
    beside.c.offset += inner->n;
    if (rows && matmul_thin_start(mm, p, &matmul_shape_thin(mm, p, rows)->shape, &below) != 0)
        return -1;
    return cols ? matmul_thin_start(mm, p, &matmul_shape_thin(mm, p, cols)->shape, &beside) : 0;
}

/* One launch, after copies of operands that lie badly; and what is left to skinny.cl. */
static int start(struct matmul *mm, struct share *p, const struct product *x)
{
    const size_t worth = p->shape.pack ? (size_t)p->shape.pack : SIZE_MAX, bk = (size_t)p->shape.bk;
    struct side a = side_a(mm, x), b = side_b(mm, x);
    struct product inner = *x;
    const bool pack_a = a.x.ld > MOST_LD || (!a.wide && x->n >= worth);
    const bool pack_b = b.x.ld > MOST_LD || (!b.wide && x->m >= worth);
    inner.m -= p->rest_rows;
    inner.n -= p->rest_cols;
    if ((pack_a || pack_b) && pack(mm, p, &a, pack_a, !x->trans_a, &b, pack_b, x->trans_b) != 0)
        return -1;
    if (launch(mm, p, &inner, &a, &b, x->k % bk != 0 && !(pack_a && pack_b)) != 0)
        return -1;
    return start_rest(mm, p, x, &inner, &a, &b);
}

/* How deep one launch may be, so that copies of both operands fit their scratch memory. */
static size_t depth_of_launch(const struct matmul *mm, const struct share *p, size_t m, size_t n)
{
    m = mm->as[0] ? mm->as[0] : m;
    n = mm->as[0] ? mm->as[1] : n;
    const size_t depth = smaller(MOST_PACKED / mm->real / (m + n), TILES_SIDE);
    return depth >= (size_t)p->shape.bk ? depth / (size_t)p->shape.bk * (size_t)p->shape.bk
                                        : (size_t)p->shape.bk;
}

/* The whole depth of a block of C. */
static int start_deep(struct matmul *mm, struct share *p, const struct product *x)
{
    const size_t depth = depth_of_launch(mm, p, x->m, x->n);
    struct product y = *x;
    for (size_t k0 = 0; k0 < x->k; k0 += depth) {
        y.k = smaller(depth, x->k - k0);
        y.a.offset = x->a.offset + place_of(x->trans_a, x->a.ld, 0, k0);
        y.b.offset = x->b.offset + place_of(x->trans_b, x->b.ld, k0, 0);
        y.beta = k0 ? 1 : x->beta;
        if (start(mm, p, &y) != 0)
            return -1;
    }
    return 0;
}

int matmul_gpu_start(struct matmul *mm, struct share *p, const struct product *x)
{
    struct product y = *x;
    for (size_t i = 0; i < x->m; i += TILES_SIDE)
        for (size_t j = 0; j < x->n; j += TILES_SIDE) {
            y.m = smaller(TILES_SIDE, x->m - i);
            y.n = smaller(TILES_SIDE, x->n - j);
            y.a.offset = x->a.offset + place_of(x->trans_a, x->a.ld, i, 0);
            y.b.offset = x->b.offset + place_of(x->trans_b, x->b.ld, 0, j);
            y.c.offset = x->c.offset + i * x->c.ld + j;
            if (start_deep(mm, p, &y) != 0)
                return -1;
        }
    return 0;
}

int matmul_gpu_batch(struct matmul *mm, struct share *p, const struct product *x)
{
    const struct side a = side_a(mm, x), b = side_b(mm, x);
    return launch(mm, p, x, &a, &b, x->k % (size_t)p->shape.bk != 0);
}
