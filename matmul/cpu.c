/* cpu.c - TUNED on CPUs, by panels (cpu.cl): packing of B, and load balance among cores.
 *
 * B is packed one block of columns and depth at a time, so that the packed block stays in the
 * last-level cache. For a few rows of A, B is read in place. A work-group runs on one core without
 * a break. Each core gets a few work-groups of equal size, which keeps all cores busy to the end.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"
#include "matmul/program.h"
#include "matmul/start.h"

static const size_t PACKED_BYTES_MAX = (size_t)64 << 20; /* of B, in bytes */
enum {
    GROUPS_PER_CORE = 2,
    DIRECT_TILES_MAX = 8, /* micro tiles down, up to which packing B does not pay */
};

/* ---- Load balance. --------------------------------------------------------------------------- */

/* The grid of work-groups. It divides micro tiles down and panels across as equally as possible. */
struct work_grid {
    size_t down, across;
};

/* Height of a micro tile. Few rows are divided into tiles of equal height: 17 rows as 9 + 9, not
 * 13 + 4. */
static size_t cpu_tile_rows(const struct matmul_shape *s, size_t m)
{
    const size_t most = (size_t)s->rows, tiles = divide_up(m, most);
    return tiles < 16 ? divide_up(m, tiles) : most;
}

/* Predicted time of the core with the most work, in micro tiles, where each core has consecutive
 * groups, numbered by columns. A group also packs its rows of A, which costs PACKED panels, and
 * fetches panels of B, which costs COMING rows. */
static double cpu_critical_path(const struct work_grid *d, size_t tiles, size_t panels,
                                size_t cores)
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

/* Choose the grid of least predicted time: at least as many rows of groups as the second-level
 * cache needs, and a few groups for each core. */
static struct work_grid cpu_balance(const struct matmul_device *p, size_t high, size_t tiles,
                                    size_t panels)
{
    const size_t cores = matmul_compute_units(p), least = divide_up(tiles, high);
    struct work_grid best = {0, 0};
    double best_time = 0;
    for (size_t down = least; down <= tiles && down < least + 2 * GROUPS_PER_CORE * cores; down++)
        for (size_t each = GROUPS_PER_CORE; each <= 2 * GROUPS_PER_CORE; each++) {
            const struct work_grid d = {down, min_size(panels, divide_up(each * cores, down))};
            const double time = cpu_critical_path(&d, tiles, panels, cores);
            if (!best.down || time < best_time)
                best = d, best_time = time;
        }
    return best;
}

/* ---- Launches. ------------------------------------------------------------------------------- */

/* The kernels for a micro tile of this height. pack is NULL if B is read in place. */
struct cpu_variant {
    /* padding: elements past a block of A that packing overwrites. */
    size_t rows, cols, depth, high, padding;
    cl_kernel pack, multiply;
};

static int cpu_choose_variant(struct matmul *mm, const struct matmul_device *p,
                              const struct product *x, bool direct, struct cpu_variant *v)
{
    const struct matmul_shape *s = &p->shape;
    char options[256];
    int n;
    v->rows = cpu_tile_rows(s, x->m);
    v->cols = (size_t)s->width * (size_t)s->vectors;
    v->depth = (size_t)s->depth;
    v->padding = (size_t)s->width;
    const size_t room = (p->info.dev_local_mem_sz / mm->real - v->padding) / (v->rows * v->depth);
    v->high = min_size((size_t)s->block_tiles, room ? room : 1);
    /* One program with only the options that its kernels depend on, so that few programs are
     * compiled: PoCL takes 20 ms for a program that is not in the disk cache (CLLD_CACHE). */
    n = snprintf(options, sizeof options, "-D WIDTH=%d -D VECTORS=%d -D DEPTH=%d ", s->width,
                 s->vectors, s->depth);
    n += x->count ? snprintf(options + n, sizeof options - (size_t)n, "-D BATCH=1 -D TRANS_B=%d ",
                             x->trans_b)
                  : 0;
    snprintf(options + n, sizeof options - (size_t)n,
             "-D ROWS=%zu -D UNROLL=%d -D TRANS_A=%d -D DIRECT=%d", v->rows, s->unroll, x->trans_a,
             direct);
    const bool packs = !direct && !x->count; /* a batch packs B in the product's kernel */
    const char *pack = x->trans_b ? "matmul_pack_b_transposed" : "matmul_pack_b";
    v->pack = packs ? matmul_kernel(mm, SOURCE_CPU, options, pack) : NULL;
    v->multiply = packs && !v->pack ? NULL
                                    : matmul_kernel(mm, SOURCE_CPU, options,
                                                    x->count ? "matmul_cpu_batch" : "matmul_cpu");
    return v->multiply ? 0 : -1;
}

static int cpu_pack_b(struct matmul *mm, struct matmul_device *p, const struct product *x,
                      const struct cpu_variant *v, void *to)
{
    const cl_int n = (cl_int)x->n, k = (cl_int)x->k;
    const cl_ulong b0 = x->b.offset, ldb = x->b.ld;
    clndrange_t ndr =
        clndrange_init2d(0, divide_up(x->n, v->cols), 1, 0, divide_up(x->k, v->depth), 1);
    return matmul_launch(mm, p, v->pack, &ndr, 0, ARGS(n, k, operand_arg(&x->b), b0, ldb, to));
}

/* Launch the product. x->b is the packed B, or B itself if the variant reads it in place. */
static int cpu_multiply(struct matmul *mm, struct matmul_device *p, const struct product *x,
                        const struct cpu_variant *v)
{
    const size_t tiles = divide_up(x->m, v->rows);
    const struct work_grid d = cpu_balance(p, v->high, tiles, divide_up(x->n, v->cols));
    const cl_int m = (cl_int)x->m, n = (cl_int)x->n, k = (cl_int)x->k, down = (cl_int)d.down,
                 across = (cl_int)d.across;
    const cl_ulong a0 = x->a.offset, lda = x->a.ld, b0 = x->b.offset, ldb = x->b.ld,
                   c0 = x->c.offset, ldc = x->c.ld;
    const stdcl_local_t block = {(divide_up(tiles, d.down) * v->rows * v->depth + v->padding) *
                                 mm->real};
    clndrange_t ndr = clndrange_init2d(0, d.down, 1, 0, d.across, 1);
    clprofile_work(v->multiply, 2.0 * (double)x->m * (double)x->n * (double)x->k, 0,
                   mm->precision == MATMUL_DOUBLE ? CLPROF_DOUBLE : CLPROF_SINGLE);
    return matmul_launch(mm, p, v->multiply, &ndr, (double)x->m * (double)x->n * (double)x->k,
                         ARGS(m, n, k, down, across, REAL(mm, x->alpha), operand_arg(&x->a), a0,
                              lda, operand_arg(&x->b), b0, ldb, REAL(mm, x->beta),
                              operand_arg(&x->c), c0, ldc, block));
}

static int cpu_run_packed(struct matmul *mm, struct matmul_device *p, const struct product *x)
{
    struct cpu_variant v;
    if (cpu_choose_variant(mm, p, x, false, &v) != 0)
        return -1;
    const size_t most = PACKED_BYTES_MAX / mm->real; /* elements of B in one packed block */
    const size_t depth = min_size(x->k, divide_up(most / v.cols, v.depth) * v.depth);
    const size_t wide = min_size(round_up(x->n, v.cols),
                                 most / depth < v.cols ? v.cols : most / depth / v.cols * v.cols);
    void *packed = matmul_workspace(mm, p, WORKSPACE_PACK, depth * wide * mm->real);
    struct product y = *x;
    int status = packed ? 0 : -1;
    for (size_t j = 0; status == 0 && j < x->n; j += wide)
        for (size_t k0 = 0; status == 0 && k0 < x->k; k0 += depth) {
            y.n = min_size(wide, x->n - j);
            y.k = min_size(depth, x->k - k0);
            y.a.offset = x->a.offset + element_offset(x->trans_a, x->a.ld, 0, k0);
            y.b = x->b;
            y.b.offset += element_offset(x->trans_b, x->b.ld, k0, j);
            y.c.offset = x->c.offset + j;
            y.beta = k0 ? 1 : x->beta;
            status = cpu_pack_b(mm, p, &y, &v, packed);
            y.b = (struct operand){.block = packed};
            if (status == 0)
                status = cpu_multiply(mm, p, &y, &v);
        }
    return status;
}

static int cpu_run_direct(struct matmul *mm, struct matmul_device *p, const struct product *x)
{
    struct cpu_variant v;
    return cpu_choose_variant(mm, p, x, true, &v) == 0 ? cpu_multiply(mm, p, x, &v) : -1;
}

/* True if B fits in the second-level cache, where it may be twice as large as a block of A. One
 * launch less and no packing are then worth more than contiguous panels. */
static bool cpu_b_fits_cache(const struct matmul_shape *s, const struct product *x)
{
    const size_t held = (size_t)s->block_tiles * (size_t)s->rows * (size_t)s->depth;
    return x->k <= 2 * held / x->n && x->n % ((size_t)s->width * (size_t)s->vectors) == 0;
}

/* Read B in place if A has few rows or B is small, and pack only the columns past the last whole
 * panel. Otherwise pack all of B. */
int matmul_cpu_start(struct matmul *mm, struct matmul_device *p, const struct product *x)
{
    const size_t cols = (size_t)p->shape.width * (size_t)p->shape.vectors,
                 whole = x->n / cols * cols;
    const bool few_rows = divide_up(x->m, (size_t)p->shape.rows) <= DIRECT_TILES_MAX;
    struct product y = *x;
    if (x->trans_b || whole == 0 || !(few_rows || cpu_b_fits_cache(&p->shape, x)))
        return cpu_run_packed(mm, p, x);
    y.n = whole;
    if (cpu_run_direct(mm, p, &y) != 0)
        return -1;
    y.n = x->n - whole;
    y.b.offset += whole;
    y.c.offset += whole;
    return y.n ? cpu_run_packed(mm, p, &y) : 0;
}

/* Each core gets a few groups, each with several products. */
int matmul_cpu_start_batch(struct matmul *mm, struct matmul_device *p, const struct product *x)
{
    const size_t cols = (size_t)p->shape.width * (size_t)p->shape.vectors,
                 panels = divide_up(x->n, cols);
    const bool direct = !x->trans_b && x->n % cols == 0 &&
                        divide_up(x->m, (size_t)p->shape.rows) <= DIRECT_TILES_MAX;
    const size_t cores = matmul_compute_units(p);
    const size_t products = divide_up(x->count, min_size(x->count, GROUPS_PER_CORE * cores)),
                 groups = divide_up(x->count, products);
    struct cpu_variant v;
    if (cpu_choose_variant(mm, p, x, direct, &v) != 0)
        return -1;
    void *packed =
        direct ? NULL
               : matmul_workspace(mm, p, WORKSPACE_PACK, groups * panels * cols * x->k * mm->real);
    if (!direct && !packed)
        return -1;
    const struct operand room = packed ? (struct operand){.block = packed}
                                       : x->c; /* any buffer: the kernel does not use it */
    const size_t most_high = min_size(v.high, divide_up(x->m, v.rows)),
                 block_depth = min_size(v.depth, x->k);
    const stdcl_local_t block = {(most_high * v.rows * block_depth + v.padding) * mm->real};
    const cl_int m = (cl_int)x->m, n = (cl_int)x->n, k = (cl_int)x->k, high = (cl_int)most_high;
    const cl_ulong a0 = x->a.offset, lda = x->a.ld, step_a = x->step_a, b0 = x->b.offset,
                   ldb = x->b.ld, step_b = x->step_b, c0 = x->c.offset, ldc = x->c.ld,
                   step_c = x->step_c, count = x->count, each = products;
    const double work = (double)x->m * (double)x->n * (double)x->k * (double)x->count;
    clndrange_t ndr = clndrange_init1d(0, groups, 1);
    clprofile_work(v.multiply, 2.0 * work, 0,
                   mm->precision == MATMUL_DOUBLE ? CLPROF_DOUBLE : CLPROF_SINGLE);
    return matmul_launch(mm, p, v.multiply, &ndr, work,
                         ARGS(m, n, k, high, REAL(mm, x->alpha), operand_arg(&x->a), a0, lda,
                              step_a, operand_arg(&x->b), b0, ldb, step_b, REAL(mm, x->beta),
                              operand_arg(&x->c), c0, ldc, step_c, count, each, operand_arg(&room),
                              block));
}
