/* cpu.c - TUNED by panels (cpu.cl): how B is packed, and how C is divided among cores.
 *
 * B is packed for one block of columns and depth at a time, so that the packed block stays in the
 * last-level cache. For a few rows of A it is not packed but read where it is. A work-group is the
 * work that one core does without a break. Each core gets a few of them, all of equal size, so that
 * no core waits long for another.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

static const size_t MOST_PACKED = (size_t)64 << 20; /* bytes */
enum {
    GROUPS_A_CORE = 2,
    THIN = 8, /* with at most so many micro tiles down, B is not packed: to copy it would cost more
                 than it saves */
};

/* ---- Division. ------------------------------------------------------------------------------- */

/* Rows and columns of work-groups, which share micro tiles down and panels across as equally as may
 * be. */
struct division {
    size_t down, across;
};

/* Few rows are held in micro tiles of equal height: 17 rows as 9 + 9, not 13 + 4. */
static size_t rows_of_tile(const struct matmul_shape *s, size_t m)
{
    const size_t most = (size_t)s->rows, tiles = divide_up(m, most);
    return tiles < 16 ? divide_up(m, tiles) : most;
}

/* About how long the core takes that has most to do, in micro tiles, if each has groups that follow
 * each other, column by column. A group also packs its rows of A, which takes as long as PACKED
 * panels, and panels of B come to it, as if there were COMING rows more. */
static double longest(const struct division *d, size_t tiles, size_t panels, size_t cores)
{
    static const double PACKED = 0.8, COMING = 0.3;
    const size_t each = divide_up(d->down * d->across, cores), high = divide_up(tiles, d->down),
                 wide = divide_up(panels, d->across);
    const size_t work = each % d->down == 0
                            ? tiles * divide_up(panels * (each / d->down), d->across)
                        : each < d->down ? divide_up(tiles * each, d->down) * wide
                                         : each * high * wide;
    return (double)work + (double)each * (PACKED * (double)high + COMING * (double)wide);
}

/* At least as many rows of groups as the second-level cache needs, and so many groups in all that
 * each core gets a few; of such divisions the one that keeps no core waiting long for another. */
static struct division divide(const struct share *p, size_t high, size_t tiles, size_t panels)
{
    const size_t cores = matmul_units(p), least = divide_up(tiles, high);
    struct division best = {0, 0};
    double best_time = 0;
    for (size_t down = least; down <= tiles && down < least + 2 * GROUPS_A_CORE * cores; down++)
        for (size_t each = GROUPS_A_CORE; each <= 2 * GROUPS_A_CORE; each++) {
            const struct division d = {down, smaller(panels, divide_up(each * cores, down))};
            const double time = longest(&d, tiles, panels, cores);
            if (!best.down || time < best_time)
                best = d, best_time = time;
        }
    return best;
}

/* ---- Launches. ------------------------------------------------------------------------------- */

/* The kernels for a micro tile of this height; `pack` is NULL where B is read where it is. */
struct variant {
    size_t rows, cols, depth, high,
        behind; /* elements behind a block of A, which packing overwrites */
    cl_kernel pack, multiply;
};

static int choose(struct matmul *mm, const struct share *p, const struct product *x, bool direct,
                  struct variant *v)
{
    const struct matmul_shape *s = &p->shape;
    char options[256];
    int n;
    v->rows = rows_of_tile(s, x->m);
    v->cols = (size_t)s->width * (size_t)s->vectors;
    v->depth = (size_t)s->depth;
    v->behind = (size_t)s->width;
    const size_t room = (p->info.dev_local_mem_sz / mm->real - v->behind) / (v->rows * v->depth);
    v->high = smaller((size_t)s->high, room ? room : 1);
    /* One program, which is told what its kernels depend on, no more, so that few are compiled:
     * PoCL takes 20 ms for one that is not on disk (CLLD_CACHE). */
    n = snprintf(options, sizeof options, "-D WIDTH=%d -D VECTORS=%d -D DEPTH=%d ", s->width,
                 s->vectors, s->depth);
    n += x->count ? snprintf(options + n, sizeof options - (size_t)n, "-D BATCH=1 -D TRANS_B=%d ",
                             x->trans_b)
                  : 0;
    snprintf(options + n, sizeof options - (size_t)n,
             "-D ROWS=%zu -D UNROLL=%d -D TRANS_A=%d -D DIRECT=%d", v->rows, s->unroll, x->trans_a,
             direct);
    const bool packs = !direct && !x->count; /* a batch packs in the kernel that multiplies */
    const char *pack = x->trans_b ? "matmul_pack_b_transposed" : "matmul_pack_b";
    v->pack = packs ? matmul_kernel(mm, SOURCE_CPU, options, pack) : NULL;
    v->multiply = packs && !v->pack ? NULL
                                    : matmul_kernel(mm, SOURCE_CPU, options,
                                                    x->count ? "matmul_cpu_batch" : "matmul_cpu");
    return v->multiply ? 0 : -1;
}

static int pack(struct matmul *mm, struct share *p, const struct product *x,
                const struct variant *v, void *to)
{
    const cl_int n = (cl_int)x->n, k = (cl_int)x->k;
    const cl_ulong b0 = x->b.offset, ldb = x->b.ld;
    clndrange_t ndr =
        clndrange_init2d(0, divide_up(x->n, v->cols), 1, 0, divide_up(x->k, v->depth), 1);
    return matmul_fork(mm, p, v->pack, &ndr, 0, ARGS(n, k, operand_arg(&x->b), b0, ldb, to));
}

/* x->b is B packed, or B itself when the variant reads it so. */
static int multiply(struct matmul *mm, struct share *p, const struct product *x,
                    const struct variant *v)
{
    const size_t tiles = divide_up(x->m, v->rows);
    const struct division d = divide(p, v->high, tiles, divide_up(x->n, v->cols));
    const cl_int m = (cl_int)x->m, n = (cl_int)x->n, k = (cl_int)x->k, down = (cl_int)d.down,
                 across = (cl_int)d.across;
    const cl_ulong a0 = x->a.offset, lda = x->a.ld, b0 = x->b.offset, ldb = x->b.ld,
                   c0 = x->c.offset, ldc = x->c.ld;
    const stdcl_local_t block = {(divide_up(tiles, d.down) * v->rows * v->depth + v->behind) *
                                 mm->real};
    clndrange_t ndr = clndrange_init2d(0, d.down, 1, 0, d.across, 1);
    clprofile_work(v->multiply, 2.0 * (double)x->m * (double)x->n * (double)x->k, 0,
                   mm->precision == MATMUL_DOUBLE ? CLPROF_DOUBLE : CLPROF_SINGLE);
    return matmul_fork(mm, p, v->multiply, &ndr, (double)x->m * (double)x->n * (double)x->k,
                       ARGS(m, n, k, down, across, REAL(mm, x->alpha), operand_arg(&x->a), a0, lda,
                            operand_arg(&x->b), b0, ldb, REAL(mm, x->beta), operand_arg(&x->c), c0,
                            ldc, block));
}

static int run_packed(struct matmul *mm, struct share *p, const struct product *x)
{
    struct variant v;
    if (choose(mm, p, x, false, &v) != 0)
        return -1;
    const size_t most = MOST_PACKED / mm->real; /* elements of B that are packed at a time */
    const size_t depth = smaller(x->k, divide_up(most / v.cols, v.depth) * v.depth);
    const size_t wide = smaller(round_up(x->n, v.cols),
                                most / depth < v.cols ? v.cols : most / depth / v.cols * v.cols);
    void *packed = matmul_scratch(mm, p, SCRATCH_PACK, depth * wide * mm->real);
    struct product y = *x;
    int status = packed ? 0 : -1;
    for (size_t j = 0; status == 0 && j < x->n; j += wide)
        for (size_t k0 = 0; status == 0 && k0 < x->k; k0 += depth) {
            y.n = smaller(wide, x->n - j);
            y.k = smaller(depth, x->k - k0);
            y.a.offset = x->a.offset + place_of(x->trans_a, x->a.ld, 0, k0);
            y.b = x->b;
            y.b.offset += place_of(x->trans_b, x->b.ld, k0, j);
            y.c.offset = x->c.offset + j;
            y.beta = k0 ? 1 : x->beta;
            status = pack(mm, p, &y, &v, packed);
            y.b = (struct operand){.block = packed};
            if (status == 0)
                status = multiply(mm, p, &y, &v);
        }
    return status;
}

static int run_direct(struct matmul *mm, struct share *p, const struct product *x)
{
    struct variant v;
    return choose(mm, p, x, true, &v) == 0 ? multiply(mm, p, x, &v) : -1;
}

/* Whether second-level caches may hold all of B: they hold a block of A, and here it may be twice
 * as large. Then a launch less and no packing are worth more than panels that lie in one piece. */
static bool is_small(const struct matmul_shape *s, const struct product *x)
{
    const size_t held = (size_t)s->high * (size_t)s->rows * (size_t)s->depth;
    return x->k <= 2 * held / x->n && x->n % ((size_t)s->width * (size_t)s->vectors) == 0;
}

/* With few rows, and if it is small, B is read where it is, as far as it has whole panels, and only
 * the columns that remain are packed. Otherwise all of B is packed. */
int matmul_cpu_start(struct matmul *mm, struct share *p, const struct product *x)
{
    const size_t cols = (size_t)p->shape.width * (size_t)p->shape.vectors,
                 whole = x->n / cols * cols;
    const bool thin = divide_up(x->m, (size_t)p->shape.rows) <= THIN;
    struct product y = *x;
    if (x->trans_b || whole == 0 || !(thin || is_small(&p->shape, x)))
        return run_packed(mm, p, x);
    y.n = whole;
    if (run_direct(mm, p, &y) != 0)
        return -1;
    y.n = x->n - whole;
    y.b.offset += whole;
    y.c.offset += whole;
    return y.n ? run_packed(mm, p, &y) : 0;
}

/* Each core gets a few groups, each with some products. */
int matmul_cpu_batch(struct matmul *mm, struct share *p, const struct product *x)
{
    const size_t cols = (size_t)p->shape.width * (size_t)p->shape.vectors,
                 panels = divide_up(x->n, cols);
    const bool direct =
        !x->trans_b && x->n % cols == 0 && divide_up(x->m, (size_t)p->shape.rows) <= THIN;
    const size_t cores = matmul_units(p);
    const size_t products = divide_up(x->count, smaller(x->count, GROUPS_A_CORE * cores)),
                 groups = divide_up(x->count, products);
    struct variant v;
    if (choose(mm, p, x, direct, &v) != 0)
        return -1;
    void *packed =
        direct ? NULL
               : matmul_scratch(mm, p, SCRATCH_PACK, groups * panels * cols * x->k * mm->real);
    if (!direct && !packed)
        return -1;
    const struct operand room =
        packed ? (struct operand){.block = packed} : x->c; /* any, when unused */
    const size_t most_high = smaller(v.high, divide_up(x->m, v.rows)),
                 deep = smaller(v.depth, x->k);
    const stdcl_local_t block = {(most_high * v.rows * deep + v.behind) * mm->real};
    const cl_int m = (cl_int)x->m, n = (cl_int)x->n, k = (cl_int)x->k, high = (cl_int)most_high;
    const cl_ulong a0 = x->a.offset, lda = x->a.ld, step_a = x->step_a, b0 = x->b.offset,
                   ldb = x->b.ld, step_b = x->step_b, c0 = x->c.offset, ldc = x->c.ld,
                   step_c = x->step_c, count = x->count, each = products;
    const double work = (double)x->m * (double)x->n * (double)x->k * (double)x->count;
    clndrange_t ndr = clndrange_init1d(0, groups, 1);
    clprofile_work(v.multiply, 2.0 * work, 0,
                   mm->precision == MATMUL_DOUBLE ? CLPROF_DOUBLE : CLPROF_SINGLE);
    return matmul_fork(mm, p, v.multiply, &ndr, work,
                       ARGS(m, n, k, high, REAL(mm, x->alpha), operand_arg(&x->a), a0, lda, step_a,
                            operand_arg(&x->b), b0, ldb, step_b, REAL(mm, x->beta),
                            operand_arg(&x->c), c0, ldc, step_c, count, each, operand_arg(&room),
                            block));
}
