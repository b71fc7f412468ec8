/* tune.c - kernels for the search of tuning entries: the values to try, a problem, its check and
 * its time.
 *
 * Problems are arrays of small integers: their sums are exact in any order. No shape may change a
 * single bit.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/internal.h"
#include "arrays/sorter.h"

/* clang-format off */
static const struct cltune_knob knobs[] = {
    CLTUNE_KNOB("group", 1, 32, 64, 128, 256, 512),
    CLTUNE_KNOB("width", 1, 2, 4, 8, 16),
    CLTUNE_KNOB("unroll", 1, 2, 4, 8, 16, 32),
};
/* clang-format on */
static const size_t sizes[] = {1 << 26};

/* Variants of the tuned kernels. */
enum what { SUM, DOT, SQUARES };
struct variant {
    enum what what;
    enum arrays_type type;
};

struct problem {
    CLCONTEXT *ctx; /* of the tuned device */
    struct cldev_info info;
    enum what what;
    enum arrays_type type;
    size_t n;
    void *x;
    double right;
    char shape[512];
    arrays *arrays; /* with that shape */
};

static void arrays_problem_close(void *problem)
{
    struct problem *p = problem;
    arrays_free(p->arrays);
    if (p->x)
        clfree(p->x);
    free(p);
}

static double tune_put_element(const struct problem *p, size_t i)
{
    const unsigned v = (unsigned)(i * 2654435761u) >> 24;
    if (p->type == ARRAYS_FLOAT)
        ((float *)p->x)[i] = (float)v;
    else
        ((double *)p->x)[i] = v;
    return p->what == SUM ? v : v * v * (p->what == SQUARES ? 3. : 1.);
}

static int arrays_problem_init(struct problem *p)
{
    if (clgetdevinfo(p->ctx, &p->info) != 0)
        return -1;
    if (p->type == ARRAYS_DOUBLE && !p->info.dev_pref_vec_double)
        return clerror_set(ENOTSUP, "arrays: %s has no double precision", p->info.dev_name);
    p->x = clmalloc(p->ctx, p->n * type_bytes(p->type), CL_MEM_ZEROCOPY);
    for (size_t i = 0; p->x && i < p->n; i++)
        p->right += tune_put_element(p, i);
    return p->x && clmsync(p->ctx, 0, p->x, CL_MEM_DEVICE) != (cl_event)-1 ? 0 : -1;
}

static void *arrays_problem_open(const struct cltune_kernel *kernel, CLCONTEXT *cp, size_t n)
{
    const struct variant *v = kernel->arg;
    struct problem *p = calloc(1, sizeof *p);
    if (!p) {
        clerror_set(ENOMEM, "arrays: out of memory: cannot tune");
        return NULL;
    }
    *p = (struct problem){.ctx = cp, .what = v->what, .type = v->type, .n = n};
    if (arrays_problem_init(p) == 0)
        return p;
    arrays_problem_close(p);
    return NULL;
}

/* Create the object for a shape, unless the last one had the same shape. */
static int arrays_tune_use(struct problem *p, const char *shape)
{
    if (p->arrays && strcmp(shape, p->shape) == 0)
        return 0;
    arrays_free(p->arrays);
    char words[sizeof p->shape + 16]; /* host=0: kernels, however small the problem is */
    snprintf(p->shape, sizeof p->shape, "%s", shape);
    snprintf(words, sizeof words, "%s host=0", shape);
    p->arrays =
        arrays_create(&(struct arrays_options){.ctx = p->ctx, .type = p->type, .shape = words});
    return p->arrays ? 0 : -1;
}

static int arrays_tune_run(struct problem *p, double *result)
{
    switch (p->what) {
    case SUM:
        return arrays_sum(p->arrays, p->x, p->n, result);
    case DOT:
        return arrays_dot(p->arrays, p->x, p->x, p->n, result);
    default:
        return arrays_sum_squares(p->arrays, p->x, p->x, p->x, p->n, result);
    }
}

/* ---- Interface of the search. ---------------------------------------------------------------- */

static int arrays_tune_allowed(void *problem, const char *shape)
{
    return arrays_shape_suits(shape, &((struct problem *)problem)->info) ? 0 : -1;
}

static int arrays_tune_verify(void *problem, const char *shape)
{
    struct problem *p = problem;
    double result;
    if (arrays_tune_use(p, shape) != 0 || arrays_tune_run(p, &result) != 0)
        return -1;
    if (result != p->right)
        return clerror_set(EDOM, "arrays: shape %s: %.17g instead of %.17g", shape, result,
                           p->right);
    return 0;
}

static int arrays_tune_sums(void *problem, size_t n)
{
    double result;
    for (size_t i = 0; i < n; i++)
        if (arrays_tune_run(problem, &result) != 0)
            return -1;
    return 0;
}

static int arrays_tune_measure(void *problem, const char *shape, double *seconds, double *work)
{
    struct problem *p = problem;
    *work = (double)p->n;
    return arrays_tune_use(p, shape) == 0 ? cltune_time(arrays_tune_sums, p, seconds) : -1;
}

/* ---- The list. ------------------------------------------------------------------------------- */

/* clang-format off */
#define KERNEL(its_name, ...) \
    {.name = its_name, .unit = "elements/s", .knob = knobs, .nknobs = sizeof knobs / sizeof *knobs, \
     .sizes = sizes, .nsizes = sizeof sizes / sizeof *sizes, .open = arrays_problem_open, .close = arrays_problem_close, \
     .allowed = arrays_tune_allowed, .verify = arrays_tune_verify, .measure = arrays_tune_measure, .arg = &(const struct variant){__VA_ARGS__}}
#define SORTER_KERNEL(its_name, ...) \
    {.name = its_name, .unit = "elements/s", .knob = sorter_knobs, .nknobs = SORTER_KNOBS, .sizes = sorter_sizes, \
     .nsizes = SORTER_SIZES, .open = sorter_problem_open, .close = sorter_problem_close, .allowed = sorter_allowed, \
     .verify = sorter_verify, .measure = sorter_measure, .arg = &(const struct sorter_variant){__VA_ARGS__}}
static const struct cltune_kernel kernels[] = {
    KERNEL("arrays.sum.single", SUM, ARRAYS_FLOAT),
    KERNEL("arrays.sum.double", SUM, ARRAYS_DOUBLE),
    KERNEL("arrays.dot.single", DOT, ARRAYS_FLOAT),
    KERNEL("arrays.dot.double", DOT, ARRAYS_DOUBLE),
    KERNEL("arrays.squares.single", SQUARES, ARRAYS_FLOAT),
    KERNEL("arrays.squares.double", SQUARES, ARRAYS_DOUBLE),
    SORTER_KERNEL("arrays.scan.32", false, false, 4),
    SORTER_KERNEL("arrays.scan.64", false, false, 8),
    SORTER_KERNEL("arrays.sort.32", true, true, 4),
    SORTER_KERNEL("arrays.sort.64", true, true, 8),
    SORTER_KERNEL("arrays.sort.32.keys", true, false, 4),
    SORTER_KERNEL("arrays.sort.64.keys", true, false, 8),
};
/* clang-format on */

const struct cltune_kernel *arrays_tune_kernels(size_t *count)
{
    *count = sizeof kernels / sizeof *kernels;
    return kernels;
}
