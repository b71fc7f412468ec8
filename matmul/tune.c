/* tune.c - what a search for better shapes needs: knobs, a problem with its right answer, a stop watch.
 *
 * The problem is a square product of random matrices in the memory of the one device that is tuned. GPUs search
 * tiles, CPUs panels.
 * SPDX-License-Identifier: MIT
 */
#include "matmul/engine.h"

#include "core/clock.h"


/* clang-format off */
#define VALUES(name, ...) static const int name##_values[] = {__VA_ARGS__};
VALUES(bm, 32, 64, 128, 256)
VALUES(bn, 32, 64, 128, 256)
VALUES(bk, 8, 16, 32)
VALUES(wm, 32, 64)
VALUES(wn, 16, 32, 64)
VALUES(stages, 2, 3, 4, 6)
VALUES(ahead, 0, 1)
VALUES(lanes, 0, 1, 2)
VALUES(raster, 4, 8, 16)
VALUES(mma, 0, 1)
VALUES(async, 0, 1)
VALUES(pack, 256)
VALUES(fill, 1, 2, 3, 4)
VALUES(span, 0, 128, 512)
VALUES(width, 2, 4, 8, 16)
VALUES(rows, 4, 6, 8, 12, 13, 14)
VALUES(vectors, 1, 2, 3)
VALUES(depth, 128, 256, 384, 512)
VALUES(high, 8, 16, 20, 24, 40)
VALUES(unroll, 1, 2, 4)

#define KNOB(name) {#name, name##_values, sizeof name##_values / sizeof(int)}
static const struct cltune_knob tiles[] = {
    KNOB(bm), KNOB(bn), KNOB(bk), KNOB(wm), KNOB(wn), KNOB(stages), KNOB(ahead), KNOB(lanes), KNOB(raster), KNOB(mma),
    KNOB(async), KNOB(pack), KNOB(fill), KNOB(span),
};
static const struct cltune_knob panels[] = {
    KNOB(width), KNOB(rows), KNOB(vectors), KNOB(depth), KNOB(high), KNOB(unroll),
};
/* clang-format on */
static const size_t sizes[] = {512, 1024, 4096};

struct problem {
    CLCONTEXT *ctx; /* of the one device */
    struct matmul_options options;
    size_t n, real;
    char *a, *b, *c;
    matmul *mm; /* the engine of the last shape */
    char shape[512];
    bool tiles;
};

static void problem_close(void *problem)
{
    struct problem *p = problem;
    matmul_free(p->mm);
    clfree(p->a);
    clfree(p->b);
    clfree(p->c);
    if (p->ctx)
        clcontext_destroy(p->ctx);
    free(p);
}

static int fill(struct problem *p)
{
    const size_t bytes = p->n * p->n * p->real;
    p->a = clmalloc(p->ctx, bytes, CL_MEM_ZEROCOPY);
    p->b = clmalloc(p->ctx, bytes, CL_MEM_ZEROCOPY);
    p->c = clmalloc(p->ctx, bytes, CL_MEM_ZEROCOPY);
    if (!p->a || !p->b || !p->c)
        return -1;
    matmul_random(p->options.precision, 1, 0, p->n, p->n, p->a, p->n);
    matmul_random(p->options.precision, 1, 1, p->n, p->n, p->b, p->n);
    return clmsync(p->ctx, 0, p->a, CL_MEM_DEVICE) == (cl_event)-1 ||
                   clmsync(p->ctx, 0, p->b, CL_MEM_DEVICE) == (cl_event)-1
               ? -1
               : 0;
}

static void *problem_open(CLCONTEXT *cp, cl_uint dev, size_t n, enum matmul_precision precision, bool of_tiles)
{
    const cl_device_id id = clgetdevice(cp, dev);
    cl_device_type type = 0;
    if (!id)
        return NULL;
    clGetDeviceInfo(id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    if (of_tiles == !!(type & CL_DEVICE_TYPE_CPU))
        return clerror_set(ENOTSUP, "matmul: tiles are for GPUs, panels for CPUs"), NULL;
    struct problem *p = calloc(1, sizeof *p);
    if (!p)
        return clerror_set(ENOMEM, "matmul: no memory on the host"), NULL;
    p->n = n;
    p->real = precision == MATMUL_DOUBLE ? sizeof(double) : sizeof(float);
    p->tiles = of_tiles;
    p->ctx = clcontext_create_from(&id, 1);
    p->options = (struct matmul_options){.ctx = p->ctx, .precision = precision, .shape = p->shape};
    if (p->ctx && fill(p) == 0)
        return p;
    problem_close(p);
    return NULL;
}

/* The engine of a shape, kept until another shape comes. */
static int use(struct problem *p, const char *shape)
{
    char words[sizeof p->shape];
    snprintf(words, sizeof words, "path=%d %s", p->tiles ? 1 : 2, shape);
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
    return cltune_value(shape, "mma", 0) && p->mm->part[0].capability == 0 ? -1 : 0;
}

static int product(struct problem *p)
{
    return matmul_enqueue(p->mm, 0, MATMUL_NN, p->n, p->n, p->n, 1, p->a, p->n, p->b, p->n, 0, p->c, p->n);
}

static int verify(void *problem, const char *shape)
{
    struct problem *p = problem;
    if (use(p, shape) != 0 || product(p) != 0 || clmsync(p->ctx, 0, p->c, CL_MEM_HOST) == (cl_event)-1)
        return -1;
    const double error = matmul_error(p->options.precision, MATMUL_NN, p->n, p->n, p->n, 1, p->a, p->n, p->b, p->n, 0, NULL,
                                      p->c, p->n, 8);
    if (error <= matmul_tolerance(p->options.precision, p->n))
        return 0;
    return clerror_set(EDOM, "matmul: shape %s: the product is off by %.1e", shape, error);
}

/* Enough products in a row for 50 ms. */
static int measure(void *problem, const char *shape, double *seconds, double *work)
{
    struct problem *p = problem;
    if (use(p, shape) != 0 || product(p) != 0 || clwait(p->ctx, 0, CL_KERNEL_EVENT) == (cl_event)-1)
        return -1;
    double took = 0;
    for (size_t count = 1; took < 0.05; count *= 2) {
        const double start = seconds_now();
        for (size_t i = 0; i < count; i++)
            if (product(p) != 0)
                return -1;
        if (clwait(p->ctx, 0, CL_KERNEL_EVENT) == (cl_event)-1)
            return -1;
        took = seconds_now() - start;
        *seconds = took / (double)count;
    }
    *work = 2 * (double)p->n * (double)p->n * (double)p->n;
    return 0;
}

#define OPEN(name, precision, of_tiles)                       \
    static void *name(CLCONTEXT *cp, cl_uint dev, size_t n)   \
    {                                                         \
        return problem_open(cp, dev, n, precision, of_tiles); \
    }
OPEN(open_tiles_single, MATMUL_SINGLE, true)
OPEN(open_tiles_double, MATMUL_DOUBLE, true)
OPEN(open_panels_single, MATMUL_SINGLE, false)
OPEN(open_panels_double, MATMUL_DOUBLE, false)

#define KERNEL(name, knobs, opening)                                                                                \
    {                                                                                                               \
        name, "FLOP/s", knobs, sizeof knobs / sizeof *knobs, sizes, sizeof sizes / sizeof *sizes, opening,          \
            problem_close, allowed, verify, measure                                                                 \
    }
static const struct cltune_kernel kernels[] = {
    KERNEL("matmul.tiles.single", tiles, open_tiles_single),
    KERNEL("matmul.tiles.double", tiles, open_tiles_double),
    KERNEL("matmul.panels.single", panels, open_panels_single),
    KERNEL("matmul.panels.double", panels, open_panels_double),
};

const struct cltune_kernel *matmul_tune_kernels(size_t *count)
{
    *count = sizeof kernels / sizeof *kernels;
    return kernels;
}
