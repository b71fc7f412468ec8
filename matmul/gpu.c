/* gpu.c - TUNED on GPUs, by tiles (fma.cl, mma.cl): the kernel's variant and the number of groups.
 *
 * Kernels copy 16 bytes at a time if rows start at multiples of 16 bytes. An unaligned operand is
 * first packed into aligned rows, if the product is large enough to repay the copy. plan.c decides
 * on split-K and on edges that skinny.cl computes.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"
#include "matmul/plan.h"
#include "matmul/program.h"
#include "matmul/start.h"

enum {
    LD_MAX = 1 << 22, /* offsets inside a tile are ints */
    /* Work-items of a group of matmul_splitk_reduce; a divisor of the smallest tile's runs. */
    REDUCE_ITEMS = 128,
};
static const size_t PACKED_BYTES_MAX = (size_t)2 << 30; /* of packed operands, in bytes */

/* An operand as stored: rows x cols elements. */
struct gpu_operand {
    struct operand x;
    size_t rows, cols, step, extra; /* of a batch: stride, and offset of the last matrix */
    bool copy16, only16;            /* copies of 16 bytes; rows at 16-byte multiples only */
};

/* ---- Alignment. ------------------------------------------------------------------------------ */

/* True if all rows start at multiples of `bytes` bytes. */
static bool rows_aligned_to(const struct matmul *mm, const struct gpu_operand *s, size_t bytes)
{
    const size_t step = bytes / mm->real;
    return s->x.offset % step == 0 && s->x.ld % step == 0 && s->step % step == 0 &&
           s->x.skew % bytes == 0;
}

/* True if rows can be copied 16 bytes at a time without a read past the end of the allocation. */
static bool rows_copy_16_bytes(const struct matmul *mm, const struct gpu_operand *s)
{
    const size_t step = 16 / mm->real;
    if (!rows_aligned_to(mm, s, 16))
        return false;
    if (s->cols % step == 0 || !s->x.block)
        return s->cols % step == 0;
    return (s->x.offset + s->extra + (s->rows - 1) * s->x.ld + round_up(s->cols, step)) *
               mm->real <=
           clsizeofmem(s->x.block);
}

static struct gpu_operand gpu_operand_a(const struct matmul *mm, const struct product *x)
{
    struct gpu_operand a = {
        x->a, x->trans_a ? x->k : x->m, x->trans_a ? x->m : x->k, x->step_a, 0, false, false};
    a.extra = x->count ? (x->count - 1) * x->step_a : 0;
    a.copy16 = rows_copy_16_bytes(mm, &a);
    a.only16 = a.copy16 && !rows_aligned_to(mm, &a, 32);
    return a;
}

static struct gpu_operand gpu_operand_b(const struct matmul *mm, const struct product *x)
{
    struct gpu_operand b = {
        x->b, x->trans_b ? x->n : x->k, x->trans_b ? x->k : x->n, x->step_b, 0, false, false};
    b.extra = x->count ? (x->count - 1) * x->step_b : 0;
    b.copy16 = rows_copy_16_bytes(mm, &b);
    b.only16 = b.copy16 && !rows_aligned_to(mm, &b, 32);
    return b;
}

static enum alignment alignment_of(const struct matmul *mm, const struct gpu_operand *a,
                                   const struct gpu_operand *b)
{
    if (!a->copy16 || !b->copy16)
        return UNALIGNED;
    return mm->precision == MATMUL_DOUBLE && a->only16 && b->only16 ? ALIGN_16 : ALIGN_32;
}

enum alignment matmul_gpu_alignment(const struct matmul *mm, const struct product *x)
{
    const struct gpu_operand a = gpu_operand_a(mm, x), b = gpu_operand_b(mm, x);
    return alignment_of(mm, &a, &b);
}

/* ---- Packing. -------------------------------------------------------------------------------- */

/* Dimensions of a packed copy. k is rounded up to a multiple of bk, so that all slices are whole.
 */
static void gpu_packed_size(const struct matmul_shape *shape, const struct gpu_operand *s,
                            bool k_along_rows, size_t *rows, size_t *ld)
{
    const size_t bk = (size_t)shape->bk;
    *rows = k_along_rows ? s->rows : round_up(s->rows, bk);
    *ld = round_up(s->cols, k_along_rows && bk > 16 ? bk : 16);
}

/* Pack A, B or both into the workspace. An operand that is not packed has 0 rows there. */
static int gpu_pack(struct matmul *mm, struct matmul_device *p, struct gpu_operand *a, bool pack_a,
                    bool a_along, struct gpu_operand *b, bool pack_b, bool b_along)
{
    size_t rows_a = 0, ld_a = 16, rows_b = 0, ld_b = 16;
    if (pack_a)
        gpu_packed_size(&p->shape, a, a_along, &rows_a, &ld_a);
    if (pack_b)
        gpu_packed_size(&p->shape, b, b_along, &rows_b, &ld_b);
    void *to = matmul_workspace(mm, p, WORKSPACE_PACK, (rows_a * ld_a + rows_b * ld_b) * mm->real);
    cl_kernel kernel = to ? matmul_kernel(mm, SOURCE_PACK, "", "matmul_pack") : NULL;
    const size_t group = min_size(256, p->info.dev_max_wg_sz);
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
    if (!kernel ||
        matmul_launch(mm, p, kernel, &ndr, 0,
                      ARGS(groups_a, operand_arg(&a->x), a0, lda, ra, ca, to_a, tra, tla,
                           operand_arg(&b->x), b0, ldb, rb, cb, to_b, trb, tlb, to)) != 0)
        return -1;
    if (pack_a)
        a->x = (struct operand){.block = to, .offset = 0, .ld = ld_a}, a->copy16 = true,
        a->only16 = false;
    if (pack_b)
        b->x = (struct operand){.block = to, .offset = to_b, .ld = ld_b}, b->copy16 = true,
        b->only16 = false;
    return 0;
}

/* ---- The launch. ----------------------------------------------------------------------------- */

static void gpu_kernel_options(const struct matmul_device *p, const struct matmul_shape *s,
                               const struct product *x, const struct gpu_operand *a,
                               const struct gpu_operand *b, enum alignment alignment, bool wide_c,
                               bool tail, int split, bool edge, char *text, size_t size)
{
    snprintf(
        text, size,
        "-D BM=%d -D BN=%d -D BK=%d -D WM=%d -D WN=%d -D K_GROUPS=%d -D K_LANES_MIN=%d -D ORDER=%d -D COPY_FIRST=%d -D STAGES=%d -D PREFETCH=%d -D LANE_LAYOUT=%d -D SWIZZLE=%d "
        "-D PTX=%d -D ASYNC=%d -D TRANS_A=%d -D TRANS_B=%d -D WIDE_A=%d -D WIDE_B=%d -D WIDE_C=%d -D TAIL=%d -D SPLIT_K=%d%s%s%s%s%s%s",
        s->bm, s->bn, s->bk, s->wm, s->wn, s->k_groups, s->k_lanes, s->order, s->copy_first,
        s->stages, s->prefetch, s->lane_layout, s->swizzle, p->capability, s->async, x->trans_a,
        x->trans_b, a->copy16, b->copy16, wide_c, tail, split,
        s->mma && !x->count && alignment == ALIGN_16 ? " -D ALIGN_16=1" : "",
        s->mma ? " -D RUN=2" : "", s->mma && tail && x->k % 2 == 0 ? " -D PARTIAL=0" : "",
        edge ? " -D EDGE=1" : "", x->m % (size_t)s->bm || x->n % (size_t)s->bn ? "" : " -D EDGES=0",
        x->count ? " -D BATCH=1" : "");
}

/* Reduce the split-K partials of shared tiles, which are in the workspace. */
static int gpu_splitk_reduce(struct matmul *mm, struct matmul_device *p, const struct product *x,
                             const struct tile_plan *plan, const char *options)
{
    const struct matmul_shape *s = &p->shape;
    const size_t run = s->mma ? 2 : 4, items = min_size(REDUCE_ITEMS, p->info.dev_max_wg_sz);
    cl_kernel kernel =
        matmul_kernel(mm, s->mma ? SOURCE_MMA : SOURCE_FMA, options, "matmul_splitk_reduce");
    const cl_int m = (cl_int)x->m, n = (cl_int)x->n, ldc = (cl_int)x->c.ld,
                 whole = (cl_int)plan->whole, parts = (cl_int)plan->splits;
    const cl_ulong c0 = x->c.offset, sums0 = SPLITK_PARTS_MAX * sizeof(cl_uint) / mm->real;
    clndrange_t ndr = clndrange_init1d(
        0, (plan->tiles - plan->whole) * (size_t)s->bm * (size_t)s->bn / run, items);
    return kernel ? matmul_launch(mm, p, kernel, &ndr, 0,
                                  ARGS(m, n, REAL(mm, x->alpha), REAL(mm, x->beta),
                                       operand_arg(&x->c), c0, ldc, whole, parts,
                                       p->workspace[WORKSPACE_SPLIT_K].block, sums0))
                  : -1;
}

static int gpu_launch(struct matmul *mm, struct matmul_device *p, const struct product *x,
                      const struct gpu_operand *a, const struct gpu_operand *b, bool tail)
{
    const struct matmul_shape *s = &p->shape;
    const size_t threads = (size_t)(s->bm / s->wm * (s->bn / s->wn) * 32 * s->k_groups);
    /* With several ranks, bits must not depend on where blocks of C end, so K is not split. */
    const struct problem_size extent = {
        x->m, x->n, x->k, mm->real, alignment_of(mm, a, b), !x->count && !mm->shape_mnk[0]};
    const struct tile_plan plan = matmul_plan(s, matmul_compute_units(p), &extent);
    const struct gpu_operand c = {.x = x->c, .rows = x->m, .cols = x->n};
    const size_t run = s->mma ? 2 : 4;
    const size_t bm = (size_t)s->bm, bn = (size_t)s->bn;
    const bool edge = s->mma && !x->count && (x->m <= bm || x->n <= bn) &&
                      (x->m % bm || x->n % bn); /* much of a tile does not exist */
    const bool wide_c = x->c.offset % run == 0 && x->c.ld % run == 0 && x->step_c % run == 0 &&
                        x->c.skew % (run * mm->real) == 0;
    char options[512];
    void *shared =
        plan.splits > 1
            ? matmul_splitk_workspace(mm, p, plan.splits * (plan.tiles - plan.whole) * bm * bn)
            : NULL;
    gpu_kernel_options(p, s, x, a, b, extent.alignment, wide_c, tail || edge,
                       plan.splitk_reduce ? 2 : plan.splits > 1, edge, options, sizeof options);
    cl_kernel kernel = matmul_kernel(mm, s->mma ? SOURCE_MMA : SOURCE_FMA, options,
                                     s->mma ? "matmul_mma" : "matmul_fma");
    if (!kernel || (plan.splits > 1 && !shared))
        return -1;
    const cl_int m = (cl_int)x->m, n = (cl_int)x->n, k = (cl_int)x->k, lda = (cl_int)a->x.ld,
                 ldb = (cl_int)b->x.ld, ldc = (cl_int)x->c.ld, whole = (cl_int)plan.whole,
                 splits = (cl_int)plan.splits;
    const cl_ulong step_a = x->step_a, step_b = x->step_b, step_c = x->step_c;
    const cl_ulong a0 = a->x.offset, b0 = b->x.offset, c0 = x->c.offset,
                   sums0 = SPLITK_PARTS_MAX * sizeof(cl_uint) / mm->real;
    const struct operand workspace = shared ? (struct operand){.block = shared}
                                            : x->c; /* any buffer: the kernel does not use it */
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
                                     ARG(operand_arg(&workspace)),
                                     ARG(sums0),
                                     ARG(operand_arg(&workspace)),
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
    if (matmul_launch(mm, p, kernel, &ndr, work, (cl_uint)nargs, args) != 0)
        return -1;
    return plan.splitk_reduce ? gpu_splitk_reduce(mm, p, x, &plan, options) : 0;
}

/* Start skinny.cl for the edges of C: the rows below the interior and the columns beside it. */
static int gpu_start_edges(struct matmul *mm, struct matmul_device *p, const struct product *x,
                           const struct product *inner, const struct gpu_operand *a,
                           const struct gpu_operand *b)
{
    const size_t rows = x->m - inner->m, cols = x->n - inner->n;
    struct product below = *x, beside = *inner;
    below.a = beside.a = a->x;
    below.b = beside.b = b->x;
    below.m = rows;
    below.a.offset += element_offset(x->trans_a, a->x.ld, inner->m, 0);
    below.c.offset += inner->m * x->c.ld;
    beside.n = cols;
    beside.b.offset += element_offset(x->trans_b, b->x.ld, 0, inner->n);
    beside.c.offset += inner->n;
    if (rows && matmul_skinny_start(mm, p, &matmul_shape_skinny(mm, p, rows)->shape, &below) != 0)
        return -1;
    return cols ? matmul_skinny_start(mm, p, &matmul_shape_skinny(mm, p, cols)->shape, &beside) : 0;
}

/* Pack unaligned operands, launch the tiles of the interior, and start the edges. */
static int gpu_start_slice(struct matmul *mm, struct matmul_device *p, const struct product *x)
{
    const size_t worth = p->shape.pack ? (size_t)p->shape.pack : SIZE_MAX, bk = (size_t)p->shape.bk;
    struct gpu_operand a = gpu_operand_a(mm, x), b = gpu_operand_b(mm, x);
    struct product inner = *x;
    const bool pack_a = a.x.ld > LD_MAX || (!a.copy16 && x->n >= worth);
    const bool pack_b = b.x.ld > LD_MAX || (!b.copy16 && x->m >= worth);
    inner.m -= p->edge_rows;
    inner.n -= p->edge_cols;
    if ((pack_a || pack_b) && gpu_pack(mm, p, &a, pack_a, !x->trans_a, &b, pack_b, x->trans_b) != 0)
        return -1;
    if (gpu_launch(mm, p, &inner, &a, &b, x->k % bk != 0 && !(pack_a && pack_b)) != 0)
        return -1;
    return gpu_start_edges(mm, p, x, &inner, &a, &b);
}

/* Maximum depth of a launch, so that packed copies of both operands fit in the workspace. */
static size_t gpu_launch_depth(const struct matmul *mm, const struct matmul_device *p, size_t m,
                               size_t n)
{
    m = mm->shape_mnk[0] ? mm->shape_mnk[0] : m;
    n = mm->shape_mnk[0] ? mm->shape_mnk[1] : n;
    const size_t depth = min_size(PACKED_BYTES_MAX / mm->real / (m + n), TILES_SIDE_MAX);
    return depth >= (size_t)p->shape.bk ? depth / (size_t)p->shape.bk * (size_t)p->shape.bk
                                        : (size_t)p->shape.bk;
}

/* Compute the whole depth of a block of C. */
static int gpu_start_full_depth(struct matmul *mm, struct matmul_device *p, const struct product *x)
{
    const size_t depth = gpu_launch_depth(mm, p, x->m, x->n);
    struct product y = *x;
    for (size_t k0 = 0; k0 < x->k; k0 += depth) {
        y.k = min_size(depth, x->k - k0);
        y.a.offset = x->a.offset + element_offset(x->trans_a, x->a.ld, 0, k0);
        y.b.offset = x->b.offset + element_offset(x->trans_b, x->b.ld, k0, 0);
        y.beta = k0 ? 1 : x->beta;
        if (gpu_start_slice(mm, p, &y) != 0)
            return -1;
    }
    return 0;
}

int matmul_gpu_start(struct matmul *mm, struct matmul_device *p, const struct product *x)
{
    struct product y = *x;
    for (size_t i = 0; i < x->m; i += TILES_SIDE_MAX)
        for (size_t j = 0; j < x->n; j += TILES_SIDE_MAX) {
            y.m = min_size(TILES_SIDE_MAX, x->m - i);
            y.n = min_size(TILES_SIDE_MAX, x->n - j);
            y.a.offset = x->a.offset + element_offset(x->trans_a, x->a.ld, i, 0);
            y.b.offset = x->b.offset + element_offset(x->trans_b, x->b.ld, 0, j);
            y.c.offset = x->c.offset + i * x->c.ld + j;
            if (gpu_start_full_depth(mm, p, &y) != 0)
                return -1;
        }
    return 0;
}

int matmul_gpu_start_batch(struct matmul *mm, struct matmul_device *p, const struct product *x)
{
    const struct gpu_operand a = gpu_operand_a(mm, x), b = gpu_operand_b(mm, x);
    return gpu_launch(mm, p, x, &a, &b, x->k % (size_t)p->shape.bk != 0);
}
