/* sums.c - sums of arrays: checks, kernels built at first use, results.
 *
 * Each operation is a program of its own, sum.cl with another OP. The tree of the tutorial has groups where
 * the others have blocks; the rest is the same.
 * SPDX-License-Identifier: MIT
 */
#include "gas/engine.h"

#include <math.h>

struct gas_sums {
    CLCONTEXT *ctx;
    cl_uint ndev;
    enum gas_type type;
    enum gas_accumulator accumulator;
    enum gas_method method;
    bool doubles; /* all devices have double precision */
    char *shape;  /* the caller's words, or NULL */
    struct kernels kernels[OPS];
    void **partial;
};

static const char *const type_names[] = {"float", "double", "int", "long"};
static const char *const wide_names[] = {"float", "double", "int", "long"};
static const char *const op_names[] = {"sum", "dot", "energy"};

static bool is_integer(const gas_sums *s)
{
    return s->type == GAS_INT || s->type == GAS_LONG;
}

/* ---- Making. ---------------------------------------------------------------------------------- */

CLCONTEXT *gas_sums_context(CLCONTEXT *ctx)
{
    if (!ctx)
        ctx = stdgpu ? stdgpu : stdcpu;
    if (!ctx || clgetndev(ctx) == 0) {
        clerror_set(ENODEV, "gas: there is no OpenCL device");
        return NULL;
    }
    return ctx;
}

static bool have_doubles(CLCONTEXT *ctx)
{
    struct cldev_info *info = calloc(clgetndev(ctx), sizeof *info);
    bool all = info && clgetdevinfo(ctx, info) == 0;
    for (cl_uint dev = 0; all && dev < clgetndev(ctx); dev++)
        all = info[dev].dev_pref_vec_double > 0;
    free(info);
    return all;
}

gas_sums *gas_sums_create(const struct gas_sums_options *o)
{
    CLCONTEXT *ctx = gas_sums_context(o->ctx);
    if (!ctx)
        return NULL;
    if ((unsigned)o->type > GAS_LONG || (unsigned)o->accumulator > GAS_COMPENSATED ||
        (unsigned)o->method > GAS_TREE) {
        clerror_set(EINVAL, "gas_sums_create: type %d, accumulator %d, method %d: there is no such thing",
                    (int)o->type, (int)o->accumulator, (int)o->method);
        return NULL;
    }
    const bool doubles = have_doubles(ctx);
    if (o->type == GAS_DOUBLE && !doubles) {
        clerror_set(ENOTSUP, "gas_sums_create: a device has no double precision; use GAS_FLOAT");
        return NULL;
    }
    gas_sums *s = calloc(1, sizeof *s);
    const cl_uint ndev = clgetndev(ctx);
    if (s) {
        *s = (gas_sums){.ctx = ctx,
                        .ndev = ndev,
                        .type = o->type,
                        .accumulator = o->accumulator,
                        .method = o->method,
                        .doubles = doubles};
        s->partial = calloc(ndev, sizeof *s->partial);
        s->shape = o->shape ? strdup(o->shape) : NULL;
    }
    if (!s || !s->partial || (o->shape && !s->shape)) {
        clerror_set(ENOMEM, "gas_sums_create: no memory");
        gas_sums_free(s);
        return NULL;
    }
    return s;
}

void gas_sums_free(gas_sums *s)
{
    if (!s)
        return;
    for (int op = 0; op < OPS; op++)
        gas_kernels_close(&s->kernels[op]);
    for (cl_uint dev = 0; s->partial && dev < s->ndev; dev++)
        if (s->partial[dev])
            clfree(s->partial[dev]);
    free(s->partial);
    free(s->shape);
    free(s);
}

/* ---- Kernels. --------------------------------------------------------------------------------- */

static bool uses_tree(const gas_sums *s, enum sums_op op)
{
    return s->method == GAS_TREE && op <= OP_ENERGY;
}

/* What an operation's partial sums are. */
static struct gas_partial partial_of(const gas_sums *s, enum sums_op op)
{
    static const enum gas_wide own[] = {WIDE_FLOAT, WIDE_DOUBLE, WIDE_INT, WIDE_LONG};
    if (op == OP_LEAST || op == OP_GREATEST)
        return (struct gas_partial){own[s->type], op == OP_LEAST ? JOIN_LEAST : JOIN_GREATEST};
    if (op == OP_SUM && s->type == GAS_INT)
        return (struct gas_partial){WIDE_LONG, JOIN_ADD};
    if (op == OP_SUM && s->type == GAS_LONG)
        return (struct gas_partial){WIDE_LONG, JOIN_HALVES};
    if (!is_integer(s) && s->accumulator == GAS_COMPENSATED)
        return (struct gas_partial){own[s->type], JOIN_PAIRS};
    return s->doubles ? (struct gas_partial){WIDE_DOUBLE, JOIN_ADD}
                      : (struct gas_partial){WIDE_FLOAT, JOIN_PAIRS};
}

/* What stands for the elements that a vector has beyond the last. */
static const char *filling(const gas_sums *s, enum sums_op op)
{
    static const char *const most[] = {"INFINITY", "INFINITY", "INT_MAX", "LONG_MAX"};
    static const char *const least[] = {"-INFINITY", "-INFINITY", "INT_MIN", "LONG_MIN"};
    return op == OP_LEAST ? most[s->type] : op == OP_GREATEST ? least[s->type] : "0";
}

static int open_tree(gas_sums *s, enum sums_op op)
{
    struct kernels *k = &s->kernels[op];
    const struct gas_partial kind = partial_of(s, op);
    if (kind.joining != JOIN_ADD)
        return clerror_set(EINVAL, "gas: GAS_TREE adds up plain %s only; use GAS_TUNED",
                           s->type == GAS_LONG ? "32-bit integers" : "doubles");
    if (gas_kernels_shape(k, s->ctx, "gas.tree", 0, s->shape) != 0)
        return -1;
    for (cl_uint dev = 1; dev < k->ndev; dev++) /* one order for all */
        if (strcmp(k->on[dev].label, k->on[0].label) != 0) {
            const bool cpu = k->on[dev].cpu;
            k->on[dev] = k->on[0];
            k->on[dev].cpu = cpu;
        }
    const clvalue_t values[] = {clvalue("work", k->on[0].shape.group),
                                clvalue("groups", k->on[0].shape.groups),
                                clvalue("op", op_names[op]),
                                clvalue("element", type_names[s->type]),
                                clvalue("wide", wide_names[kind.wide]),
                                CLVALUE_END};
    return gas_kernels_open(k, "tree", SOURCE_TREE, "", values);
}

static int open_op(gas_sums *s, enum sums_op op)
{
    struct kernels *k = &s->kernels[op];
    if (k->on)
        return 0;
    const struct gas_partial kind = partial_of(s, op);
    const bool single = type_bytes(s->type) == 4;
    char row[64], options[256];
    snprintf(row, sizeof row, "gas.%s.%s",
             op == OP_ENERGY ? "energy"
             : op == OP_DOT  ? "dot"
                             : "sum",
             single ? "single" : "double");
    snprintf(options, sizeof options, "-D OP=%d -D ELEMENT=%s -D WIDE=%s -D PAIRED=%d -D FILL=%s%s", (int)op,
             type_names[s->type], wide_names[kind.wide],
             kind.joining == JOIN_PAIRS    ? 1
             : kind.joining == JOIN_HALVES ? 2
                                           : 0,
             filling(s, op),
             op == OP_LEAST      ? " -D KEEP_LEAST"
             : op == OP_GREATEST ? " -D KEEP_GREATEST"
                                 : "");
    int status = uses_tree(s, op) ? open_tree(s, op) : gas_kernels_shape(k, s->ctx, row, 0, s->shape);
    if (status == 0 && !uses_tree(s, op))
        status = gas_kernels_open(k, "reduce", SOURCE_ORDER | SOURCE_SUM, options, NULL);
    if (status != 0)
        gas_kernels_close(k);
    return status;
}

/* ---- Running. --------------------------------------------------------------------------------- */

int gas_sums_run(gas_sums *s, enum sums_op op, const void *x, const void *y, const void *z, size_t n,
                 double mean, struct gas_total *total, struct gas_partial *kind)
{
    *kind = partial_of(s, op);
    *total = (struct gas_total){0, 0, 0};
    if (n == 0)
        return 0;
    if (open_op(s, op) != 0)
        return -1;
    const float c_single = (float)mean, d_single = (float)(mean - (double)c_single);
    const double zero = 0;
    const int c_int = 0;
    const cl_long c_long = 0;
    struct stdcl_arg c = VALUE_ARG(mean), d = VALUE_ARG(zero);
    if (kind->wide == WIDE_FLOAT) {
        c = (struct stdcl_arg)VALUE_ARG(c_single);
        d = (struct stdcl_arg)VALUE_ARG(d_single);
    } else if (kind->wide == WIDE_INT) {
        c = d = (struct stdcl_arg)VALUE_ARG(c_int);
    } else if (kind->wide == WIDE_LONG) {
        c = d = (struct stdcl_arg)VALUE_ARG(c_long);
    }
    const struct stdcl_arg rest[] = {BLOCK_ARG(x), BLOCK_ARG(y), BLOCK_ARG(z), c, d};
    const bool tree = uses_tree(s, op);
    const struct order_job job = {.kernels = &s->kernels[op],
                                  .kind = *kind,
                                  .n = n,
                                  .partial = s->partial,
                                  .nrest = tree ? 3 : 5,
                                  .rest = rest,
                                  .blocks =
                                      tree ? (uint64_t)s->kernels[op].on[0].shape.groups : blocks_of(n)};
    return gas_order_run(&job, total);
}

void gas_sums_share(const gas_sums *s, size_t n, cl_uint dev, size_t *first, size_t *count)
{
    const uint64_t blocks = blocks_of(n);
    size_t a = 0, b = n;
    if (s->method != GAS_TREE && dev < s->ndev) {
        a = (size_t)share_start(blocks, dev, s->ndev) * BLOCK;
        b = (size_t)share_start(blocks, dev + 1, s->ndev) * BLOCK;
    }
    *first = a < n ? a : n;
    *count = (b < n ? b : n) - *first;
}

int gas_sums_place(gas_sums *s, const void *x, size_t n)
{
    const size_t size = type_bytes(s->type);
    int status = 0;
    for (cl_uint dev = 0; dev < s->ndev; dev++) {
        size_t first, count;
        gas_sums_share(s, n, dev, &first, &count);
        if (count && clmsyncn(s->ctx, dev, (char *)(uintptr_t)x + first * size, count * size,
                              CL_MEM_DEVICE | CL_EVENT_NOWAIT) == (cl_event)-1)
            status = -1;
    }
    for (cl_uint dev = 0; dev < s->ndev; dev++)
        if (clwait(s->ctx, dev, CL_MEM_EVENT) == (cl_event)-1)
            status = -1;
    return status;
}

/* ---- What callers call. ----------------------------------------------------------------------- */

static int check(const gas_sums *s, const char *call, const void *x, size_t n, size_t least)
{
    if (n < least)
        return clerror_set(EINVAL, "%s: of %zu elements there is none; it takes at least %zu", call, n,
                           least);
    void *base = n ? clmemptr(s->ctx, (void *)(uintptr_t)x) : NULL;
    if (n && !base)
        return clerror_set(EFAULT, "%s: %p is not in memory from clmalloc of this context", call, x);
    const size_t room = n ? clsizeofmem(base) - (size_t)((const char *)x - (const char *)base) : 0;
    if (n > room / type_bytes(s->type) && n)
        return clerror_set(EINVAL, "%s: %zu elements of %zu bytes, but there are %zu bytes from there on",
                           call, n, type_bytes(s->type), room);
    return 0;
}

static int run(gas_sums *s, const char *call, enum sums_op op, const void *x, const void *y, size_t n,
               size_t least, double mean, double *result)
{
    struct gas_total total;
    struct gas_partial kind;
    if (check(s, call, x, n, least) != 0 || check(s, call, y, n, least) != 0 ||
        gas_sums_run(s, op, x, y, x, n, mean, &total, &kind) != 0)
        return -1;
    *result = gas_total_value(kind, &total);
    return 0;
}

int gas_sum(gas_sums *s, const void *x, size_t n, double *sum)
{
    return run(s, "gas_sum", OP_SUM, x, x, n, 0, 0, sum);
}

int gas_sum_integer(gas_sums *s, const void *x, size_t n, int64_t *sum)
{
    struct gas_total total;
    struct gas_partial kind;
    if (!is_integer(s))
        return clerror_set(EINVAL, "gas_sum_integer: the elements are %ss; use gas_sum", type_names[s->type]);
    if (check(s, "gas_sum_integer", x, n, 0) != 0 ||
        gas_sums_run(s, OP_SUM, x, x, x, n, 0, &total, &kind) != 0)
        return -1;
    if (total.integer > INT64_MAX || total.integer < INT64_MIN)
        return clerror_set(ERANGE, "gas_sum_integer: the sum, about %g, does not fit 64 bits",
                           (double)total.integer);
    *sum = (int64_t)total.integer;
    return 0;
}

int gas_dot(gas_sums *s, const void *x, const void *y, size_t n, double *dot)
{
    if (is_integer(s))
        return clerror_set(EINVAL, "gas_dot: takes floats and doubles, the elements are %ss",
                           type_names[s->type]);
    return run(s, "gas_dot", OP_DOT, x, y, n, 0, 0, dot);
}

int gas_min(gas_sums *s, const void *x, size_t n, double *min)
{
    return run(s, "gas_min", OP_LEAST, x, x, n, 1, 0, min);
}

int gas_max(gas_sums *s, const void *x, size_t n, double *max)
{
    return run(s, "gas_max", OP_GREATEST, x, x, n, 1, 0, max);
}

int gas_mean(gas_sums *s, const void *x, size_t n, double *mean)
{
    double sum;
    if (run(s, "gas_mean", OP_SUM, x, x, n, 1, 0, &sum) != 0)
        return -1;
    *mean = sum / (double)n;
    return 0;
}

int gas_variance(gas_sums *s, const void *x, size_t n, double *mean, double *variance)
{
    double middle, squares;
    if (n < 2)
        return clerror_set(EINVAL, "gas_variance: of %zu elements there is none; it takes at least 2", n);
    if (gas_mean(s, x, n, &middle) != 0 ||
        run(s, "gas_variance", OP_DEVIATE, x, x, n, 2, middle, &squares) != 0)
        return -1;
    if (mean)
        *mean = middle;
    *variance = squares / (double)(n - 1);
    return 0;
}

static const struct kernels_on *explained(const gas_sums *s, cl_uint dev)
{
    for (int op = 0; op < OPS; op++)
        if (s->kernels[op].on && dev < s->ndev)
            return &s->kernels[op].on[dev];
    return NULL;
}

const char *gas_sums_shape(const gas_sums *s, cl_uint dev)
{
    const struct kernels_on *on = explained(s, dev);
    return on ? on->label : "";
}

const char *gas_sums_explain(const gas_sums *s, cl_uint dev)
{
    const struct kernels_on *on = explained(s, dev);
    return on ? on->reason : "no kernel has been used yet";
}
