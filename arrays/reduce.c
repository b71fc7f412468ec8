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
                       enum reduce_op op)
{
    static const char *const names[] = {"float", "double", "int", "long"};
    const struct embedded *const front = &fixed_reduce_text;
    char options[256];
    snprintf(options, sizeof options,
             "-D OP=%d -D ELEMENT=%s -D WIDE=%s -D PAIRED=%d -D HALVES=%d -D FILL=%s%s", (int)op,
             names[type], names[kind.wide],
             kind.join == JOIN_PAIRS    ? 1
             : kind.join == JOIN_HALVES ? 2
                                        : 0,
             type == ARRAYS_LONG && kind.wide == WIDE_DOUBLE, fill_value(type, op),
             op == OP_MIN   ? " -D KEEP_MIN"
             : op == OP_MAX ? " -D KEEP_MAX"
                            : "");
    return arrays_kernels_open(k, "reduce", options, &sum_file, 1, &front, NULL);
}

int arrays_reduce_part(struct reduce_job *job, const void *x, const void *y, const void *z,
                       struct arrays_mean mean, struct reduce_forest *part)
{
    const float c_single = (float)mean.high,
                d_single = (float)(mean.high - (double)c_single + mean.low);
    const int c_int = 0;
    const cl_long c_long = 0;
    struct stdcl_arg c = ARG_AT(mean.high), d = ARG_AT(mean.low);
    if (job->kind.wide == WIDE_FLOAT) {
        c = ARG_AT(c_single);
        d = ARG_AT(d_single);
    } else if (job->kind.wide == WIDE_INT) {
        c = d = ARG_AT(c_int);
    } else if (job->kind.wide == WIDE_LONG) {
        c = d = ARG_AT(c_long);
    }
    const struct stdcl_arg rest[] = {ARG(x), ARG(y), ARG(z), ARG(c), ARG(d)};
    job->nrest = 5;
    job->rest = rest;
    job->blocks = block_count(job->n);
    const int status = arrays_fixed_reduce_part(job, part);
    job->rest = NULL;
    return status;
}
