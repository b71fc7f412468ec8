/* small.c - small products on CPUs: choice, division among threads, dot products.
 *
 * A kernel launch takes longer than a small product, and a kernel for another height of micro tiles
 * has to be compiled. So if all devices are CPUs, the host computes products of at most
 * SMALL_WORK_MAX multiply-adds itself (small_kernel.c), with threads from PART_WORK on. Threads
 * divide C; they change no bits.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"
#include "matmul/small.h"

#include "core/thread_pool.h"

static const double SMALL_WORK_MAX = 1 << 24; /* multiply-adds: a cube of 256 */
/* Multiply-adds of a part: some microseconds. WAKE_WORK: worth waking threads. */
static const double PART_WORK = 3e5, WAKE_WORK = 3e6;
/* Multiply-adds from which on threads divide each product of a batch. */
static const double DIVIDE_WORK = 4e6;
enum {
    PARTS_MAX = 4 * THREAD_POOL_MOST,
    PACK_ROWS_MIN = 100, /* fewest rows of A for which packing B pays */
    DOT_DEPTH_MIN = 32,  /* shallower dot products are mostly sums of lanes */
    DOT_ROWS_MIN = 8,    /* fewest rows of A for which packing columns of B pays */
    WIDE_COLS_MIN = 64,  /* fewest columns for which few rows of A pay in registers */
    FLAT_ROWS_MIN = 256, /* fewest rows for which the patterns of permutations pay */
    PAIR_ROWS_MIN = 4,   /* fewest rows that hide the latency of a multiply-add */
};

const struct small_kernels *matmul_small_kernels(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return &matmul_small_avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &matmul_small_avx2;
#endif
    return &matmul_small_any;
}

bool matmul_small_usable(const struct matmul *mm)
{
    bool cpus = mm->ndev > 0;
    for (cl_uint d = 0; d < mm->ndev; d++)
        cpus = cpus && mm->device[d].is_cpu;
    return cpus && mm->kind == MATMUL_TUNED && !mm->shape_words && !mm->memory && !mm->world;
}

bool matmul_small_fits(const struct matmul *mm, size_t m, size_t n, size_t k)
{
    return mm->small && (double)m * (double)n * (double)k <= SMALL_WORK_MAX;
}

/* ---- The kernel for a product. --------------------------------------------------------------- */

/* Set the members one by one: a copied struct is read in wider pieces than it was written, which
 * stalls the processor. */
static void small_product_set(struct small_product *p, const struct host_product *h)
{
    const bool ta = is_trans_a(h->trans), tb = is_trans_b(h->trans);
    p->m = h->m;
    p->n = h->n;
    p->k = h->k;
    p->a_row = ta ? 1 : h->lda;
    p->a_col = ta ? h->lda : 1;
    p->b_row = tb ? 1 : h->ldb;
    p->b_col = tb ? h->ldb : 1;
    p->c_row = h->ldc;
    p->c_col = 1;
    p->alpha = h->alpha;
    p->beta = h->beta;
    p->a = h->a;
    p->b = h->b;
    p->c = h->c;
    p->tile_rows = 0;
    p->packs = false;
}

/* Transpose: C^T = op(B)^T op(A)^T. */
static struct small_product small_transposed(const struct small_product *p)
{
    struct small_product t = *p;
    t.m = p->n, t.n = p->m;
    t.a = p->b, t.a_row = p->b_col, t.a_col = p->b_row;
    t.b = p->a, t.b_row = p->a_col, t.b_col = p->a_row;
    t.c_row = p->c_col, t.c_col = p->c_row;
    return t;
}

/* ---- Threads. -------------------------------------------------------------------------------- */

/* C is divided into `down` x `across` parts of whole micro tiles of tile_rows x tile_cols. */
struct small_parts {
    const struct small_product *p;
    void (*work)(const struct small_product *p, const struct small_area *area);
    size_t tile_rows, tile_cols, down, across;
};

/* Cut `whole` into parts of whole tiles. Set the start and the length of part i. */
static void small_cut(size_t whole, size_t tile, size_t i, size_t parts, size_t *first,
                      size_t *count)
{
    const size_t tiles = divide_up(whole, tile), end = tiles * (i + 1) / parts * tile;
    *first = tiles * i / parts * tile;
    *count = min_size(end, whole) - *first;
}

static void small_run_part(void *parts_, size_t i)
{
    const struct small_parts *s = parts_;
    struct small_area area;
    small_cut(s->p->m, s->tile_rows, i % s->down, s->down, &area.row, &area.rows);
    small_cut(s->p->n, s->tile_cols, i / s->down, s->across, &area.col, &area.cols);
    s->work(s->p, &area);
}

/* Divide columns first: parts side by side read different panels of B, which may be packed. */
static void small_divide(struct small_parts *s, double work)
{
    const size_t tiles = divide_up(s->p->m, s->tile_rows),
                 panels = divide_up(s->p->n, s->tile_cols), wanted = (size_t)(work / PART_WORK);
    const size_t parts = wanted < 1 ? 1 : min_size(wanted, PARTS_MAX);
    s->across = min_size(panels, parts);
    s->down = min_size(tiles, parts / s->across);
}

static void small_run_parts(struct matmul *mm, struct small_parts *s)
{
    const double work = (double)s->p->m * (double)s->p->n * (double)s->p->k;
    const struct small_area all = {0, s->p->m, 0, s->p->n};
    if (work < 2 * PART_WORK) {
        s->work(s->p, &all);
        return;
    }
    small_divide(s, work);
    const size_t parts = s->down * s->across;
    if (parts > 1 && !mm->team)
        mm->team = thread_pool_create(THREAD_POOL_MOST);
    if (parts > 1 && mm->team)
        thread_pool_for(mm->team, parts, work >= WAKE_WORK, small_run_part, s);
    else
        for (size_t i = 0; i < parts; i++)
            small_run_part(s, i);
}

/* ---- The product. ---------------------------------------------------------------------------- */

/* Compute a product by micro tiles. Tiles have equal heights: 17 rows are 9 + 8, not 13 + 4. */
static struct small_parts small_tiles(const struct matmul *mm, struct small_product *p)
{
    const size_t high = mm->small->rows_max;
    const struct small_precision *kernels = &mm->small->of[mm->precision];
    p->tile_rows = p->m <= high ? p->m : divide_up(p->m, divide_up(p->m, high));
    p->packs = p->m >= PACK_ROWS_MIN;
    return (struct small_parts){p, kernels->tiles, p->tile_rows, SMALL_VECTORS * kernels->lanes, 1,
                                1};
}

/* True if dot products suit a product: few columns, and rows of op(A) that are contiguous. */
static bool small_suits_dots(const struct small_product *p)
{
    return p->n <= SMALL_DOT_COLS && p->k >= DOT_DEPTH_MIN && p->a_col == 1 &&
           (p->b_row == 1 || p->m >= DOT_ROWS_MIN);
}

static bool small_suits_wide(const struct small_product *p)
{
    return p->m <= SMALL_THIN && p->k <= SMALL_THIN && p->b_col == 1 && p->n >= WIDE_COLS_MIN;
}

static bool small_suits_flat(const struct small_product *p)
{
    return p->n >= 2 && p->n <= SMALL_THIN && p->k <= SMALL_THIN && p->m >= FLAT_ROWS_MIN &&
           p->a_col == 1 && p->a_row == p->k && p->c_row == p->n;
}

static bool small_suits_pairs(const struct small_product *p, size_t lanes)
{
    return p->n <= lanes / 2 && p->m >= PAIR_ROWS_MIN && p->a_col == 1 && p->b_col == 1;
}

/* Choose the kernel of a product, which becomes *p. */
static struct small_parts small_parts_of(const struct matmul *mm, const struct host_product *h,
                                         struct small_product *p)
{
    const struct small_precision *kernels = &mm->small->of[mm->precision];
    small_product_set(p, h);
    if (small_suits_dots(p))
        return (struct small_parts){p, kernels->dots, mm->small->dot_rows, p->n, 1, 1};
    if (p->m <= SMALL_DOT_COLS || p->n == 1) {
        const struct small_product t = small_transposed(p);
        const bool dots = small_suits_dots(&t);
        if (dots ||
            (p->n == 1 && p->c_row == 1 && p->a_row == 1)) /* op(A) has contiguous columns */
            *p = t;
        if (dots)
            return (struct small_parts){p, kernels->dots, mm->small->dot_rows, p->n, 1, 1};
    }
    struct small_parts s = small_tiles(mm, p);
    if (small_suits_wide(p))
        return (struct small_parts){p, kernels->wide, p->m, kernels->lanes, 1, 1};
    if (kernels->flat && small_suits_flat(p))
        return (struct small_parts){p, kernels->flat, kernels->lanes, p->n, 1, 1};
    if (kernels->pairs && small_suits_pairs(p, kernels->lanes))
        s.work = kernels->pairs;
    return s;
}

void matmul_small_run(struct matmul *mm, const struct host_product *h)
{
    struct small_product p;
    struct small_parts s = small_parts_of(mm, h, &p);
    small_run_parts(mm, &s);
}

/* ---- Batches. -------------------------------------------------------------------------------- */

/* Products of one size, in parts of consecutive ones, which one thread computes. Steps in bytes. */
struct small_batch {
    const struct matmul *mm;
    const struct host_product *h;
    size_t step_a, step_b, step_c, count, parts;
};

static struct host_product small_batch_product(const struct small_batch *b, size_t i)
{
    struct host_product h = *b->h;
    h.a = (const char *)h.a + i * b->step_a;
    h.b = (const char *)h.b + i * b->step_b;
    h.c = (char *)h.c + i * b->step_c;
    return h;
}

static void small_run_products(void *batch_, size_t part)
{
    const struct small_batch *b = batch_;
    for (size_t i = b->count * part / b->parts; i < b->count * (part + 1) / b->parts; i++) {
        const struct host_product h = small_batch_product(b, i);
        struct small_product p;
        const struct small_parts s = small_parts_of(b->mm, &h, &p);
        const struct small_area all = {0, p.m, 0, p.n};
        s.work(&p, &all);
    }
}

/* Threads divide products if these are large enough, else the batch: the bits are equal. */
static void small_run_batch(struct matmul *mm, const struct host_product *h,
                            const struct product *x)
{
    const double one = (double)h->m * (double)h->n * (double)h->k,
                 wanted = one * (double)x->count / PART_WORK;
    struct small_batch b = {.mm = mm,
                            .h = h,
                            .step_a = x->step_a * mm->real,
                            .step_b = x->step_b * mm->real,
                            .step_c = x->step_c * mm->real,
                            .count = x->count};
    b.parts = wanted < 1 ? 1 : wanted < PARTS_MAX ? (size_t)wanted : PARTS_MAX;
    b.parts = min_size(b.parts, b.count);
    for (size_t i = 0; one >= DIVIDE_WORK && i < b.count; i++) {
        const struct host_product own = small_batch_product(&b, i);
        matmul_small_run(mm, &own);
    }
    if (one >= DIVIDE_WORK)
        return;
    if (b.parts > 1 && !mm->team)
        mm->team = thread_pool_create(THREAD_POOL_MOST);
    if (b.parts > 1 && mm->team)
        thread_pool_for(mm->team, b.parts, wanted * PART_WORK >= WAKE_WORK, small_run_products, &b);
    else
        for (size_t i = 0; i < b.parts; i++)
            small_run_products(&b, i);
}

/* ---- In the memory of devices. --------------------------------------------------------------- */

/* True if the host's addresses of all operands are the device's, too. */
static bool is_host_memory(const struct product *x)
{
    void *const blocks[] = {x->a.block, x->b.block, x->c.block};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        if (!(clmctl(blocks[i], CL_MCTL_GET_STATUS) & CL_MEM_ZEROCOPY))
            return false;
    return true;
}

bool matmul_small_fits_enqueued(const struct matmul *mm, const struct product *x)
{
    return x->k > 0 && x->alpha != 0 && matmul_small_fits(mm, x->m, x->n, x->k) &&
           is_host_memory(x);
}

int matmul_small_enqueued(struct matmul *mm, cl_uint dev, const char *call,
                          const struct host_product *h, const struct product *x)
{
    const cl_int err = clFinish(clgetqueue(mm->ctx, dev));
    if (err != CL_SUCCESS)
        return clerror_set(EIO, "%s: waiting for %s failed (%s)", call,
                           mm->device[dev].info.dev_name, oclerror_str(err));
    if (x->count)
        small_run_batch(mm, h, x);
    else
        matmul_small_run(mm, h);
    return 0;
}

void matmul_small_free(struct matmul *mm)
{
    thread_pool_free(mm->team);
}
