/* tune.c - what a search for better shapes needs: the values to try, a problem, its right answer,
 * its time.
 *
 * The problem is a square product of random matrices in the memory of the one device that is tuned.
 * On GPUs tiles are searched, on CPUs panels. For few vectors it is two products, in which they are
 * columns and rows of C: a row serves both.
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
    CLTUNE_KNOB("sets", 1, 2),
    CLTUNE_KNOB("along", 2, 8),
    CLTUNE_KNOB("stages", 2, 3, 4, 6),
    CLTUNE_KNOB("ahead", 0, 1),
    CLTUNE_KNOB("lanes", 0, 1, 2),
    CLTUNE_KNOB("raster", 4, 8, 16),
    CLTUNE_KNOB("mma", 0, 1),
    CLTUNE_KNOB("async", 0, 1),
    CLTUNE_KNOB("pack", 256),
    CLTUNE_KNOB("fill", 1, 2, 3, 4),
    CLTUNE_KNOB("span", 0, 128, 512),
};
static const struct cltune_knob panels[] = {
    CLTUNE_KNOB("width", 2, 4, 8, 16),
    CLTUNE_KNOB("rows", 4, 6, 8, 12, 13, 14),
    CLTUNE_KNOB("vectors", 1, 2, 3),
    CLTUNE_KNOB("depth", 128, 256, 384, 512),
    CLTUNE_KNOB("high", 8, 16, 20, 24, 40),
    CLTUNE_KNOB("unroll", 1, 2, 4),
};
static const struct cltune_knob thin[] = {
    CLTUNE_KNOB("items", 64, 128, 256, 512),
    CLTUNE_KNOB("line", 64, 128, 256, 512, 1024),
    CLTUNE_KNOB("each", 1, 2, 4),
    CLTUNE_KNOB("beside", 8, 16, 32, 64, 128),
    CLTUNE_KNOB("steps", 1, 2, 4, 8),
    CLTUNE_KNOB("groups", 128, 264, 528, 1056),
    CLTUNE_KNOB("part", 128, 256, 512),
};
/* clang-format on */
static const size_t sizes[] = {512, 1024, 4096}, batch_sizes[] = {16, 32, 64, 128},
                    vectors[] = {1, 2, 4, 8};
enum {
    BATCH_ELEMENTS = 1 << 24, /* of each operand of a batch, all its matrices together */
    THIN_SIDE = 4096
}; /* rows and columns of the matrix that few vectors are multiplied by */

/* What the kernels differ by. */
struct variant {
    enum matmul_precision precision;
    enum matmul_path path;
    bool batch;
};

struct problem {
    CLCONTEXT *ctx; /* of the one device */
    struct matmul_options options;
    size_t n, count, side, real; /* n: the size, of few vectors how many; side: of a matrix; count:
                                    products of a batch, else 0 */
    char *a, *b, *c;
    matmul *mm; /* the engine of the last shape */
    char shape[512];
    enum matmul_path path;
};

static void problem_close(void *problem)
{
    struct problem *p = problem;
    matmul_free(p->mm);
    clfree(p->a);
    clfree(p->b);
    clfree(p->c);
    free(p);
}

static int fill(struct problem *p)
{
    const size_t rows = p->side * (p->count ? p->count : 1),
                 cols = p->path == PATH_THIN ? 2 * p->n : p->side;
    p->a = clmalloc(p->ctx, rows * p->side * p->real, CL_MEM_ZEROCOPY);
    p->b = clmalloc(p->ctx, rows * cols * p->real, CL_MEM_ZEROCOPY);
    p->c = clmalloc(p->ctx, rows * cols * p->real, CL_MEM_ZEROCOPY);
    if (!p->a || !p->b || !p->c)
        return -1;
    matmul_random(p->options.precision, 1, 0, rows, p->side, p->a, p->side);
    matmul_random(p->options.precision, 1, 1, rows, cols, p->b, cols);
    return clmsync(p->ctx, 0, p->a, CL_MEM_DEVICE) == (cl_event)-1 ||
                   clmsync(p->ctx, 0, p->b, CL_MEM_DEVICE) == (cl_event)-1
               ? -1
               : 0;
}

static void *problem_open(const struct cltune_kernel *kernel, CLCONTEXT *cp, size_t n)
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
        return clerror_set(ENOMEM, "matmul: no memory on the host"), NULL;
    p->n = n;
    p->side = v->path == PATH_THIN ? THIN_SIDE : n;
    p->count = v->batch ? BATCH_ELEMENTS / (n * n) + 1 : 0;
    p->real = v->precision == MATMUL_DOUBLE ? sizeof(double) : sizeof(float);
    p->path = v->path;
    p->ctx = cp;
    p->options =
        (struct matmul_options){.ctx = p->ctx, .precision = v->precision, .shape = p->shape};
    if (fill(p) == 0)
        return p;
    problem_close(p);
    return NULL;
}

/* The engine of a shape, kept until another shape comes. */
static int use(struct problem *p, const char *shape)
{
    char words[sizeof p->shape];
    /* A stored row is used without the `rate` that the row of the start may have, which is of other
     * tiles. */
    snprintf(words, sizeof words, "path=%d %s%s", (int)p->path, shape,
             p->path == PATH_TILES ? " rate=0" : "");
    if (p->mm && strcmp(words, p->shape) == 0)
        return 0;
    matmul_free(p->mm);
    memcpy(p->shape, words, sizeof words);
    p->mm = matmul_create(&p->options); /* which checks the shape */
    return p->mm ? 0 : -1;
}

static int allowed(void *problem, const char *shape)
{
    struct problem *p = problem;
    if (use(p, shape) != 0)
        return -1;
    return cltune_value(shape, "mma", 0) && p->mm->share[0].capability == 0 ? -1 : 0;
}

/* Few vectors as columns of C, and behind those of B others as rows. */
static int product(struct problem *p)
{
    const size_t n = p->n, side = p->side, half = side * n * p->real;
    if (p->count)
        return matmul_batch(p->mm, 0, MATMUL_NN, n, n, n, 1, p->a, n, n * n, p->b, n, n * n, 0,
                            p->c, n, n * n, p->count);
    if (matmul_enqueue(p->mm, 0, MATMUL_NN, side, n, side, 1, p->a, side, p->b, n, 0, p->c, n) != 0)
        return -1;
    return p->path != PATH_THIN ? 0
                                : matmul_enqueue(p->mm, 0, MATMUL_NN, n, side, side, 1, p->b + half,
                                                 side, p->a, side, 0, p->c + half, side);
}

/* The largest error of some rows of some products. */
static double error_of(const struct problem *p)
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
    if (p->path == PATH_THIN && error <= matmul_tolerance(precision, side, 1))
        error = matmul_error(precision, MATMUL_NN, n, side, side, 1, p->b + bytes, side, p->a, side,
                             0, NULL, p->c + bytes, side, 1);
    return error;
}

static int verify(void *problem, const char *shape)
{
    struct problem *p = problem;
    if (use(p, shape) != 0 || product(p) != 0 ||
        clwait(p->ctx, 0, CL_KERNEL_EVENT) == (cl_event)-1 ||
        clmsync(p->ctx, 0, p->c, CL_MEM_HOST) == (cl_event)-1)
        return -1;
    const double error = error_of(p);
    if (error <= matmul_tolerance(p->options.precision, p->side, 1))
        return 0;
    return clerror_set(EDOM, "matmul: shape %s: the product is off by %.1e", shape, error);
}

static int products(void *problem, size_t n)
{
    struct problem *p = problem;
    for (size_t i = 0; i < n; i++)
        if (product(p) != 0)
            return -1;
    return clwait(p->ctx, 0, CL_KERNEL_EVENT) == (cl_event)-1 ? -1 : 0;
}

static int measure(void *problem, const char *shape, double *seconds, double *work)
{
    struct problem *p = problem;
    *work = 2 * (double)p->side * (double)p->n * (double)p->side *
            (p->path == PATH_THIN ? 2.
             : p->count           ? (double)p->count
                                  : 1.);
    return use(p, shape) == 0 ? cltune_time(products, p, seconds) : -1;
}

/* clang-format off */
#define KERNEL(its_name, knobs, its_sizes, ...) \
    {.name = its_name, .unit = "FLOP/s", .knob = knobs, .nknobs = sizeof knobs / sizeof *knobs, \
     .sizes = its_sizes, .nsizes = sizeof its_sizes / sizeof *its_sizes, .open = problem_open, .close = problem_close, \
     .allowed = allowed, .verify = verify, .measure = measure, .arg = &(const struct variant){__VA_ARGS__}}
static const struct cltune_kernel kernels[] = {
    KERNEL("matmul.tiles.single", tiles, sizes, MATMUL_SINGLE, PATH_TILES, false),
    KERNEL("matmul.tiles.double", tiles, sizes, MATMUL_DOUBLE, PATH_TILES, false),
    KERNEL("matmul.batch.single", tiles, batch_sizes, MATMUL_SINGLE, PATH_TILES, true),
    KERNEL("matmul.batch.double", tiles, batch_sizes, MATMUL_DOUBLE, PATH_TILES, true),
    KERNEL("matmul.thin.single", thin, vectors, MATMUL_SINGLE, PATH_THIN, false),
    KERNEL("matmul.thin.double", thin, vectors, MATMUL_DOUBLE, PATH_THIN, false),
    KERNEL("matmul.panels.single", panels, sizes, MATMUL_SINGLE, PATH_PANELS, false),
    KERNEL("matmul.panels.double", panels, sizes, MATMUL_DOUBLE, PATH_PANELS, false),
};
/* clang-format on */

const struct cltune_kernel *matmul_tune_kernels(size_t *count)
{
    *count = sizeof kernels / sizeof *kernels;
    return kernels;
}
