/* tune.c - what a search for better shapes needs: knobs, a problem with its right answer, a stop watch.
 *
 * Problems are arrays of small integers, whose sums are exact in any order. No shape may change a single bit.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/internal.h"

#include "core/clock.h"


#define VALUES(name, ...) static const int name##_values[] = {__VA_ARGS__};
VALUES(group, 1, 32, 64, 128, 256, 512)
VALUES(width, 1, 2, 4, 8, 16)
VALUES(unroll, 1, 2, 4, 8, 16, 32)

#define KNOB(name)                                                                                           \
    {                                                                                                        \
#name, name##_values, sizeof name##_values / sizeof(int)                                             \
    }
static const struct cltune_knob knobs[] = {KNOB(group), KNOB(width), KNOB(unroll)};
static const size_t sizes[] = {1 << 26};

enum what { SUM, DOT, SQUARES };

struct problem {
    CLCONTEXT *ctx; /* of the one device */
    struct cldev_info info;
    enum what what;
    enum arrays_type type;
    size_t n;
    void *x;
    double right;
    char shape[512];
    arrays *arrays; /* of that shape */
};

static void problem_close(void *problem)
{
    struct problem *p = problem;
    arrays_free(p->arrays);
    if (p->x)
        clfree(p->x);
    if (p->ctx)
        clcontext_destroy(p->ctx);
    free(p);
}

static double put(const struct problem *p, size_t i)
{
    const unsigned v = (unsigned)(i * 2654435761u) >> 24;
    if (p->type == ARRAYS_FLOAT)
        ((float *)p->x)[i] = (float)v;
    else
        ((double *)p->x)[i] = v;
    return p->what == SUM ? v : v * v * (p->what == SQUARES ? 3. : 1.);
}

static int prepare(struct problem *p, CLCONTEXT *cp, cl_uint dev)
{
    const cl_device_id device = clgetdevice(cp, dev);
    p->ctx = clcontext_create_from(&device, 1);
    if (!p->ctx || clgetdevinfo(p->ctx, &p->info) != 0)
        return -1;
    if (p->type == ARRAYS_DOUBLE && !p->info.dev_pref_vec_double)
        return clerror_set(ENOTSUP, "arrays: %s has no double precision", p->info.dev_name);
    p->x = clmalloc(p->ctx, p->n * type_bytes(p->type), CL_MEM_ZEROCOPY);
    for (size_t i = 0; p->x && i < p->n; i++)
        p->right += put(p, i);
    return p->x && clmsync(p->ctx, 0, p->x, CL_MEM_DEVICE) != (cl_event)-1 ? 0 : -1;
}

static void *problem_open(CLCONTEXT *cp, cl_uint dev, size_t n, enum what what, enum arrays_type type)
{
    struct problem *p = calloc(1, sizeof *p);
    if (!p) {
        clerror_set(ENOMEM, "arrays: no memory to tune");
        return NULL;
    }
    *p = (struct problem){.what = what, .type = type, .n = n};
    if (prepare(p, cp, dev) == 0)
        return p;
    problem_close(p);
    return NULL;
}

/* The object of a shape; the last one is kept. */
static int use(struct problem *p, const char *shape)
{
    if (p->arrays && strcmp(shape, p->shape) == 0)
        return 0;
    arrays_free(p->arrays);
    snprintf(p->shape, sizeof p->shape, "%s", shape);
    p->arrays = arrays_create(&(struct arrays_options){.ctx = p->ctx, .type = p->type, .shape = p->shape});
    return p->arrays ? 0 : -1;
}

static int run(struct problem *p, double *result)
{
    switch (p->what) {
    case SUM:
        return arrays_sum(p->arrays, p->x, p->n, result);
    case DOT:
        return arrays_dot(p->arrays, p->x, p->x, p->n, result);
    default:
        return arrays_squares(p->arrays, p->x, p->x, p->x, p->n, result);
    }
}

/* ---- What the search calls. ------------------------------------------------------------------- */

/* Vectors suit CPUs and groups GPUs. */
static int allowed(void *problem, const char *shape)
{
    const struct problem *p = problem;
    const long group = cltune_value(shape, "group", 1), width = cltune_value(shape, "width", 1);
    if (group > BLOCK_STRIPS * BLOCK_LANES / width || (size_t)group > p->info.dev_max_wg_sz)
        return -1;
    if (p->info.dev_type & CL_DEVICE_TYPE_CPU)
        return group == 1 ? 0 : -1;
    return group >= 32 && width <= 4 ? 0 : -1;
}

static int verify(void *problem, const char *shape)
{
    struct problem *p = problem;
    double result;
    if (use(p, shape) != 0 || run(p, &result) != 0)
        return -1;
    if (result != p->right)
        return clerror_set(EDOM, "arrays: shape %s: %.17g instead of %.17g", shape, result, p->right);
    return 0;
}

/* A run is one sum; enough of them for 50 ms. */
static int measure(void *problem, const char *shape, double *seconds, double *work)
{
    struct problem *p = problem;
    double result, took = 0;
    if (use(p, shape) != 0 || run(p, &result) != 0)
        return -1;
    for (size_t runs = 1; took < 0.05; runs *= 2) {
        const double start = seconds_now();
        for (size_t k = 0; k < runs; k++)
            if (run(p, &result) != 0)
                return -1;
        took = seconds_now() - start;
        *seconds = took / (double)runs;
    }
    *work = (double)p->n;
    return 0;
}

/* ---- The list. -------------------------------------------------------------------------------- */

#define OPEN(name, what, type)                                                                               \
    static void *name(CLCONTEXT *cp, cl_uint dev, size_t n)                                                  \
    {                                                                                                        \
        return problem_open(cp, dev, n, what, type);                                                         \
    }
OPEN(open_sum_single, SUM, ARRAYS_FLOAT)
OPEN(open_sum_double, SUM, ARRAYS_DOUBLE)
OPEN(open_dot_single, DOT, ARRAYS_FLOAT)
OPEN(open_dot_double, DOT, ARRAYS_DOUBLE)
OPEN(open_squares_single, SQUARES, ARRAYS_FLOAT)
OPEN(open_squares_double, SQUARES, ARRAYS_DOUBLE)

#define KERNEL(name, unit, knobs, opening)                                                                   \
    {                                                                                                        \
        name, unit, knobs, sizeof knobs / sizeof *knobs, sizes, 1, opening, problem_close, allowed, verify,  \
            measure                                                                                          \
    }
static const struct cltune_kernel kernels[] = {
    KERNEL("arrays.sum.single", "elements/s", knobs, open_sum_single),
    KERNEL("arrays.sum.double", "elements/s", knobs, open_sum_double),
    KERNEL("arrays.dot.single", "elements/s", knobs, open_dot_single),
    KERNEL("arrays.dot.double", "elements/s", knobs, open_dot_double),
    KERNEL("arrays.squares.single", "elements/s", knobs, open_squares_single),
    KERNEL("arrays.squares.double", "elements/s", knobs, open_squares_double),
};

const struct cltune_kernel *arrays_tune_kernels(size_t *count)
{
    *count = sizeof kernels / sizeof *kernels;
    return kernels;
}
