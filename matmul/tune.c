/* tune.c - kernels for the search of tuning entries: the values to try, a problem, its check and
 * its time.
 *
 * The problem is a square product of random matrices in the memory of the tuned device: tiles on
 * GPUs, panels on CPUs. For a few vectors it is two products, with the vectors as columns and as
 * rows of C: one entry serves both.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include "core/device_info.h"

/* clang-format off */
static const struct cltune_knob tiles[] = {
    CLTUNE_KNOB("bm", 32, 64, 128, 256),
    CLTUNE_KNOB("bn", 32, 64, 128, 256),
    CLTUNE_KNOB("bk", 8, 16, 32),
    CLTUNE_KNOB("wm", 32, 64),
    CLTUNE_KNOB("wn", 16, 32, 64),
    CLTUNE_KNOB("k_groups", 1, 2),
    CLTUNE_KNOB("k_lanes", 2, 8),
    CLTUNE_KNOB("stages", 2, 3, 4, 6),
    CLTUNE_KNOB("prefetch", 0, 1),
    CLTUNE_KNOB("lane_layout", 0, 1, 2),
    CLTUNE_KNOB("swizzle", 4, 8, 16),
    CLTUNE_KNOB("mma", 0, 1),
    CLTUNE_KNOB("async", 0, 1),
    CLTUNE_KNOB("pack", 256),
    CLTUNE_KNOB("groups_per_unit", 1, 2, 3, 4),
    CLTUNE_KNOB("split_k_min", 0, 128, 512),
};
static const struct cltune_knob panels[] = {
    CLTUNE_KNOB("width", 2, 4, 8, 16),
    CLTUNE_KNOB("rows", 4, 6, 8, 12, 13, 14),
    CLTUNE_KNOB("vectors", 1, 2, 3),
    CLTUNE_KNOB("depth", 128, 256, 384, 512),
    CLTUNE_KNOB("block_tiles", 8, 16, 20, 24, 40),
    CLTUNE_KNOB("unroll", 1, 2, 4),
};
static const struct cltune_knob skinny[] = {
    CLTUNE_KNOB("items", 64, 128, 256, 512),
    CLTUNE_KNOB("line_bytes", 64, 128, 256, 512, 1024),
    CLTUNE_KNOB("rows_per_item", 1, 2, 4),
    CLTUNE_KNOB("items_across", 8, 16, 32, 64, 128),
    CLTUNE_KNOB("steps", 1, 2, 4, 8),
    CLTUNE_KNOB("groups", 128, 264, 528, 1056),
    CLTUNE_KNOB("split_k_min", 128, 256, 512),
};
/* clang-format on */
static const size_t sizes[] = {512, 1024, 4096}, batch_sizes[] = {16, 32, 64, 128},
                    vectors[] = {1, 2, 4, 8};
enum {
    BATCH_ELEMENTS = 1 << 24, /* of all matrices of a batch's operand */
    SKINNY_SIDE = 4096
}; /* rows and columns of the matrix of a skinny product */

/* Variants of the tuned kernels. */
struct variant {
    enum matmul_precision precision;
    enum matmul_path path;
    bool batch;
};

struct problem {
    CLCONTEXT *ctx; /* of the tuned device */
    struct matmul_options options;
    /* n: size, or number of vectors; side: of a matrix; count: products of a batch, else 0. */
    size_t n, count, side, real;
    char *a, *b, *c;
    matmul *mm; /* the engine with the last shape */
    char shape[512];
    enum matmul_path path;
};

static void matmul_problem_close(void *problem)
{
    struct problem *p = problem;
    matmul_free(p->mm);
    clfree(p->a);
    clfree(p->b);
    clfree(p->c);
    free(p);
}

static int matmul_tune_fill(struct problem *p)
{
    const size_t rows = p->side * (p->count ? p->count : 1),
                 cols = p->path == PATH_SKINNY ? 2 * p->n : p->side;
    p->a = clmalloc(p->ctx, rows * p->side * p->real, CL_MEM_ZEROCOPY);
    p->b = clmalloc(p->ctx, rows * cols * p->real, CL_MEM_ZEROCOPY);
    p->c = clmalloc(p->ctx, rows * cols * p->real, CL_MEM_ZEROCOPY);
    if (!p->a || !p->b || !p->c)
        return -1;
    matmul_random(p->options.precision, 1, 0, rows, p->side, p->a, p->side);
    matmul_random(p->options.precision, 1, 1, rows, cols, p->b, cols);
    if (clmsync(p->ctx, 0, p->a, CL_MEM_DEVICE) == (cl_event)-1)
        return -1;
    return clmsync(p->ctx, 0, p->b, CL_MEM_DEVICE) == (cl_event)-1 ? -1 : 0;
}

static void *matmul_problem_open(const struct cltune_kernel *kernel, CLCONTEXT *cp, size_t n)
{
    const struct variant *v = kernel->arg;
    cl_device_type type = 0;
    if (device_ask(cp, 0, CL_DEVICE_TYPE, sizeof type, &type, "matmul") != 0)
        return NULL;
    if ((v->path == PATH_PANELS) != !!(type & CL_DEVICE_TYPE_CPU))
        return clerror_set(ENOTSUP, "matmul: panels are for CPUs, tiles and few vectors for GPUs"),
               NULL;
    struct problem *p = calloc(1, sizeof *p);
    if (!p)
        return clerror_set(ENOMEM, "matmul: out of memory on the host"), NULL;
    p->n = n;
    p->side = v->path == PATH_SKINNY ? SKINNY_SIDE : n;
    p->count = v->batch ? BATCH_ELEMENTS / (n * n) + 1 : 0;
    p->real = v->precision == MATMUL_DOUBLE ? sizeof(double) : sizeof(float);
    p->path = v->path;
    p->ctx = cp;
    p->options =
        (struct matmul_options){.ctx = p->ctx, .precision = v->precision, .shape = p->shape};
    if (matmul_tune_fill(p) == 0)
        return p;
    matmul_problem_close(p);
    return NULL;
}

/* Create the engine for a shape, unless the last one had the same shape. */
static int matmul_tune_use(struct problem *p, const char *shape)
{
    char words[sizeof p->shape];
    /* Without the peak_percent of the start entry, which is for other tiles. */
    snprintf(words, sizeof words, "path=%d %s%s", (int)p->path, shape,
             p->path == PATH_TILES ? " peak_percent=0" : "");
    if (p->mm && strcmp(words, p->shape) == 0)
        return 0;
    matmul_free(p->mm);
    memcpy(p->shape, words, sizeof words);
    p->mm = matmul_create(&p->options); /* checks the shape */
    return p->mm ? 0 : -1;
}

static int matmul_tune_allowed(void *problem, const char *shape)
{
    struct problem *p = problem;
    if (matmul_tune_use(p, shape) != 0)
        return -1;
    return cltune_value(shape, "mma", 0) && p->mm->device[0].capability == 0 ? -1 : 0;
}

/* Start one problem. The vectors are columns of C, then those after B's are rows of C. */
static int matmul_tune_product(struct problem *p)
{
    const size_t n = p->n, side = p->side, half = side * n * p->real;
    if (p->count)
        return matmul_batch(p->mm, 0, MATMUL_NN, n, n, n, 1, p->a, n, n * n, p->b, n, n * n, 0,
                            p->c, n, n * n, p->count);
    if (matmul_enqueue(p->mm, 0, MATMUL_NN, side, n, side, 1, p->a, side, p->b, n, 0, p->c, n) != 0)
        return -1;
    return p->path != PATH_SKINNY
               ? 0
               : matmul_enqueue(p->mm, 0, MATMUL_NN, n, side, side, 1, p->b + half, side, p->a,
                                side, 0, p->c + half, side);
}

/* Return the largest error of sampled rows of sampled products. */
static double matmul_tune_error(const struct problem *p)
{
    const enum matmul_precision precision = p->options.precision;
    const size_t n = p->n, side = p->side, bytes = side * n * p->real,
                 count = p->count ? p->count : 1;
    double error = 0;
    for (size_t i = 0; i < count && error <= matmul_tolerance(precision, side, 1);
         i += count / 8 + 1)
        error =
            matmul_error(precision, MATMUL_NN, side, n, side, 1, p->a + i * side * side * p->real,
                         side, p->b + i * bytes, n, 0, NULL, p->c + i * bytes, n, 8);
    if (p->path == PATH_SKINNY && error <= matmul_tolerance(precision, side, 1))
        error = matmul_error(precision, MATMUL_NN, n, side, side, 1, p->b + bytes, side, p->a, side,
                             0, NULL, p->c + bytes, side, 1);
    return error;
}

static int matmul_tune_verify(void *problem, const char *shape)
{
    struct problem *p = problem;
    if (matmul_tune_use(p, shape) != 0 || matmul_tune_product(p) != 0 ||
        clwait(p->ctx, 0, CL_KERNEL_EVENT) == (cl_event)-1 ||
        clmsync(p->ctx, 0, p->c, CL_MEM_HOST) == (cl_event)-1)
        return -1;
    const double error = matmul_tune_error(p);
    if (error <= matmul_tolerance(p->options.precision, p->side, 1))
        return 0;
    return clerror_set(EDOM, "matmul: shape %s: the product is off by %.1e", shape, error);
}

static int matmul_tune_products(void *problem, size_t n)
{
    struct problem *p = problem;
    for (size_t i = 0; i < n; i++)
        if (matmul_tune_product(p) != 0)
            return -1;
    return clwait(p->ctx, 0, CL_KERNEL_EVENT) == (cl_event)-1 ? -1 : 0;
}

static int matmul_tune_measure(void *problem, const char *shape, double *seconds, double *work)
{
    struct problem *p = problem;
    *work = 2 * (double)p->side * (double)p->n * (double)p->side *
            (p->path == PATH_SKINNY ? 2.
             : p->count             ? (double)p->count
                                    : 1.);
    return matmul_tune_use(p, shape) == 0 ? cltune_time(matmul_tune_products, p, seconds) : -1;
}

/* clang-format off */
#define KERNEL(its_name, knobs, its_sizes, ...) \
    {.name = its_name, .unit = "FLOP/s", .knob = knobs, .nknobs = sizeof knobs / sizeof *knobs, \
     .sizes = its_sizes, .nsizes = sizeof its_sizes / sizeof *its_sizes, .open = matmul_problem_open, .close = matmul_problem_close, \
     .allowed = matmul_tune_allowed, .verify = matmul_tune_verify, .measure = matmul_tune_measure, .arg = &(const struct variant){__VA_ARGS__}}
static const struct cltune_kernel kernels[] = {
    KERNEL("matmul.tiles.single", tiles, sizes, MATMUL_SINGLE, PATH_TILES, false),
    KERNEL("matmul.tiles.double", tiles, sizes, MATMUL_DOUBLE, PATH_TILES, false),
    KERNEL("matmul.batch.single", tiles, batch_sizes, MATMUL_SINGLE, PATH_TILES, true),
    KERNEL("matmul.batch.double", tiles, batch_sizes, MATMUL_DOUBLE, PATH_TILES, true),
    KERNEL("matmul.skinny.single", skinny, vectors, MATMUL_SINGLE, PATH_SKINNY, false),
    KERNEL("matmul.skinny.double", skinny, vectors, MATMUL_DOUBLE, PATH_SKINNY, false),
    KERNEL("matmul.panels.single", panels, sizes, MATMUL_SINGLE, PATH_PANELS, false),
    KERNEL("matmul.panels.double", panels, sizes, MATMUL_DOUBLE, PATH_PANELS, false),
};
/* clang-format on */

const struct cltune_kernel *matmul_tune_kernels(size_t *count)
{
    *count = sizeof kernels / sizeof *kernels;
    return kernels;
}
