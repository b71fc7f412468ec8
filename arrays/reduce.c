/* reduce.c - the kernel of sums and extremes (sum.cl): its build, and its run over blocks. Arrays
 * use it, and the gas for stored velocities.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/reduce.h"

EMBEDDED(sum_file, "arrays/sum.cl", arrays_sum_cl);

static bool type_is_integer(enum arrays_type type)
{
    return type == ARRAYS_INT || type == ARRAYS_LONG;
}

struct arrays_partial arrays_reduce_kind(enum arrays_type type, enum arrays_accumulator accumulator,
                                         bool doubles, enum reduce_op op)
{
    static const enum arrays_wide own[] = {WIDE_FLOAT, WIDE_DOUBLE, WIDE_INT, WIDE_LONG};
    if (op == OP_MIN || op == OP_MAX)
        return (struct arrays_partial){own[type], op == OP_MIN ? JOIN_MIN : JOIN_MAX};
    if (op == OP_SUM && type == ARRAYS_INT)
        return (struct arrays_partial){WIDE_LONG, JOIN_ADD};
    if (op == OP_SUM && type == ARRAYS_LONG)
        return (struct arrays_partial){WIDE_LONG, JOIN_HALVES};
    if (!type_is_integer(type) && accumulator == ARRAYS_COMPENSATED) /* products may underflow */
        return (struct arrays_partial){op != OP_SUM && doubles ? WIDE_DOUBLE : own[type],
                                       JOIN_PAIRS};
    return doubles ? (struct arrays_partial){WIDE_DOUBLE, JOIN_ADD}
                   : (struct arrays_partial){WIDE_FLOAT, JOIN_PAIRS};
}

void arrays_reduce_row(enum arrays_type type, enum reduce_op op, char row[64])
{
    snprintf(row, 64, "arrays.%s.%s",
             op == OP_SQUARES ? "squares"
             : op == OP_DOT   ? "dot"
                              : "sum",
             type_bytes(type) == 4 ? "single" : "double");
}

/* Return the value that replaces elements past the end in a vector. */
static const char *fill_value(enum arrays_type type, enum reduce_op op)
{
    static const char *const most[] = {"INFINITY", "INFINITY", "INT_MAX", "LONG_MAX"};
    static const char *const least[] = {"-INFINITY", "-INFINITY", "INT_MIN", "LONG_MIN"};
    return op == OP_MIN ? most[type] : op == OP_MAX ? least[type] : "0";
}

int arrays_reduce_open(struct kernels *k, enum arrays_type type, struct arrays_partial kind,
                       bool doubles, enum reduce_op op)
{
    static const char *const names[] = {"float", "double", "int", "long"};
    const struct embedded *const front = &fixed_reduce_text;
    char options[256];
    /* Integers are left on the device as such, sums of floats in doubles if there are any. */
    const char *result = type_is_integer(type)                 ? "long"
                         : kind.wide == WIDE_DOUBLE || doubles ? "double"
                                                               : "float";
    snprintf(options, sizeof options,
             "-D OP=%d -D ELEMENT=%s -D WIDE=%s -D RESULT=%s -D UNALIGNED=%d -D PAIRED=%d "
             "-D HALVES=%d -D FILL=%s%s",
             (int)op, names[type], names[kind.wide], result, (int)k->unaligned,
             kind.join == JOIN_PAIRS    ? 1
             : kind.join == JOIN_HALVES ? 2
                                        : 0,
             type == ARRAYS_LONG && kind.wide == WIDE_DOUBLE, fill_value(type, op),
             op == OP_MIN   ? " -D KEEP_MIN"
             : op == OP_MAX ? " -D KEEP_MAX"
                            : "");
    return arrays_kernels_open(k, "reduce", options, &sum_file, 1, &front, NULL);
}

/* ---- Arguments. ------------------------------------------------------------------------------ */

/* Return the start of an array; its own address if all arrays of the kernels are aligned. */
static struct array_start start_in(const struct kernels *k, const void *x, size_t bytes)
{
    return k->unaligned ? arrays_start_of(k->ctx, x, bytes) : (struct array_start){x, 0};
}

/* The arguments of kernel `reduce` after partial, first and n. */
enum { REDUCE_ARGS = 6 };
struct reduce_args {
    struct array_start x, y, z;
    cl_uint4 start;
    float c_single, d_single;
    int zero_int;
    cl_long zero_long;
    struct stdcl_arg list[REDUCE_ARGS];
};

static void reduce_args_fill(struct reduce_args *a, const struct kernels *k, enum arrays_type type,
                             enum arrays_wide wide, const struct reduce_input *in)
{
    const size_t bytes = type_bytes(type);
    const struct arrays_mean mean = in->mean;
    a->x = start_in(k, in->x, bytes);
    a->y = start_in(k, in->y, bytes);
    a->z = start_in(k, in->z, bytes);
    a->start = (cl_uint4){{a->x.first, a->y.first, a->z.first, 0}};
    a->c_single = (float)mean.high;
    a->d_single = (float)(mean.high - (double)a->c_single + mean.low);
    a->zero_int = 0;
    a->zero_long = 0;
    const struct stdcl_arg c = wide == WIDE_FLOAT  ? ARG_AT(a->c_single)
                               : wide == WIDE_INT  ? ARG_AT(a->zero_int)
                               : wide == WIDE_LONG ? ARG_AT(a->zero_long)
                                                   : ARG_AT(in->mean.high),
                           d = wide == WIDE_FLOAT    ? ARG_AT(a->d_single)
                               : wide == WIDE_DOUBLE ? ARG_AT(in->mean.low)
                                                     : c;
    const struct stdcl_arg list[REDUCE_ARGS] = {
        ARG_AT(a->x.base), ARG_AT(a->y.base), ARG_AT(a->z.base), ARG_AT(a->start), c, d};
    memcpy(a->list, list, sizeof list);
}

int arrays_reduce_part(struct reduce_job *job, const struct reduce_input *in,
                       struct reduce_forest *part)
{
    struct reduce_args args;
    reduce_args_fill(&args, job->kernels, job->type, job->kind.wide, in);
    job->nrest = REDUCE_ARGS;
    job->rest = args.list;
    job->blocks = block_count(job->n);
    const int status = arrays_fixed_reduce_part(job, part);
    job->rest = NULL;
    return status;
}

/* ---- Results on the device. ------------------------------------------------------------------ */

size_t arrays_reduce_tree_bytes(struct arrays_partial kind, uint64_t n)
{
    enum { LEVELS = 64, JOINED_MOST = 2 * sizeof(cl_double) };
    const size_t blocks = (size_t)block_count(n);
    return blocks * arrays_partial_bytes(kind) + (2 * blocks + LEVELS) * JOINED_MOST;
}

static int reduce_launch_one(const struct kernels *k, cl_uint dev, cl_kernel kernel, size_t groups,
                             cl_uint nargs, const struct stdcl_arg *args)
{
    const size_t group = (size_t)k->device[dev].shape.group;
    clndrange_t ndr = clndrange_init1d(0, groups * group, group);
    return clforkv(k->ctx, k->first_dev + dev, kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED,
                   nargs, args) == (cl_event)-1
               ? -1
               : 0;
}

int arrays_reduce_start(struct kernels *k, enum arrays_type type, struct arrays_partial kind,
                        const struct reduce_input *in, cl_kernel join, void *tree,
                        const void *result)
{
    const uint64_t blocks = block_count(in->n);
    struct reduce_args own;
    reduce_args_fill(&own, k, type, kind.wide, in);
    const cl_ulong first = 0, n = in->n;
    struct stdcl_arg args[3 + REDUCE_ARGS] = {ARG_AT(tree), ARG_AT(first), ARG_AT(n)};
    memcpy(args + 3, own.list, sizeof own.list);
    if (blocks > 0 &&
        reduce_launch_one(k, 0, k->device[0].kernel, (size_t)blocks, 3 + REDUCE_ARGS, args) != 0)
        return -1;
    const struct array_start to = arrays_start_of(k->ctx, result, sizeof(cl_double));
    return reduce_launch_one(k, 0, join, 1, ARGS(tree, (cl_ulong)blocks, to.base, to.first));
}

int arrays_reduce_find(struct kernels *k, cl_uint dev, enum arrays_type type, cl_kernel find,
                       const struct arrays_total *value, const struct reduce_input *in,
                       const void *place)
{
    const struct array_start x = start_in(k, in->x, type_bytes(type));
    const cl_ulong block = (cl_ulong)value->error, n = in->n;
    const float single = (float)value->value;
    const int integer = (int)value->integer;
    const cl_long wide = (cl_long)value->integer;
    const struct stdcl_arg sought = type == ARRAYS_FLOAT    ? ARG_AT(single)
                                    : type == ARRAYS_DOUBLE ? ARG_AT(value->value)
                                    : type == ARRAYS_INT    ? ARG_AT(integer)
                                                            : ARG_AT(wide);
    return reduce_launch_one(k, dev, find, 1, ARGS(place, block, n, x.base, x.first, sought));
}
