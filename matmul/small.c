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

static struct small_product small_product_of(const struct host_product *h)
{
    const bool ta = is_trans_a(h->trans), tb = is_trans_b(h->trans);
    return (struct small_product){.m = h->m,
                                  .n = h->n,
                                  .k = h->k,
                                  .a_row = ta ? 1 : h->lda,
                                  .a_col = ta ? h->lda : 1,
                                  .b_row = tb ? 1 : h->ldb,
                                  .b_col = tb ? h->ldb : 1,
                                  .c_row = h->ldc,
                                  .c_col = 1,
                                  .alpha = h->alpha,
                                  .beta = h->beta,
                                  .a = h->a,
                                  .b = h->b,
                                  .c = h->c};
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

/* True if dot products suit a product: few columns, and rows of op(A) that are contiguous. */
static bool small_suits_dots(const struct small_product *p)
{
    return p->n <= SMALL_DOT_COLS && p->k >= DOT_DEPTH_MIN && p->a_col == 1 &&
           (p->b_row == 1 || p->m >= DOT_ROWS_MIN);
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

static struct small_parts small_dots(const struct matmul *mm, const struct small_product *p)
{
    return (struct small_parts){p,
                                mm->precision == MATMUL_DOUBLE ? mm->small->dots_double
                                                               : mm->small->dots_single,
                                mm->small->dot_rows,
                                p->n,
                                1,
                                1};
}

static struct small_parts small_tiles(const struct matmul *mm, struct small_product *p)
{
    const struct small_kernels *kernels = mm->small;
    /* Tiles of equal height: 17 rows as 9 + 8, not 13 + 4. */
    p->tile_rows = divide_up(p->m, divide_up(p->m, kernels->rows_max));
    p->packs = p->m >= PACK_ROWS_MIN;
    return (struct small_parts){p,
                                mm->precision == MATMUL_DOUBLE ? kernels->tiles_double
                                                               : kernels->tiles_single,
                                p->tile_rows,
                                SMALL_VECTORS * kernels->vector_bytes / mm->real,
                                1,
                                1};
}

/* Choose the kernel of a product, which becomes *p. */
static struct small_parts small_parts_of(const struct matmul *mm, const struct host_product *h,
                                         struct small_product *p)
{
    *p = small_product_of(h);
    const struct small_product t = small_transposed(p);
    if (small_suits_dots(p))
        return small_dots(mm, p);
    if (small_suits_dots(&t)) {
        *p = t;
        return small_dots(mm, p);
    }
    if (p->n == 1 && p->c_row == 1 && p->a_row == 1) /* op(A) has contiguous columns */
        *p = t;
    return small_tiles(mm, p);
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
