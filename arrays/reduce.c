/* reduce.c - the kernel of sums and extremes (sum.cl): how it is built, and run over blocks.
 *
 * Arrays and the gas, which has velocities in memory, use it alike.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/blocks.h"

EMBEDDED(sum_file, "arrays/sum.cl", arrays_sum_cl);

static bool is_integer(enum arrays_type type)
{
    return type == ARRAYS_INT || type == ARRAYS_LONG;
}

struct arrays_partial arrays_reduce_kind(enum arrays_type type, enum arrays_accumulator accumulator,
                                         bool doubles, enum sums_op op)
{
    static const enum arrays_wide own[] = {WIDE_FLOAT, WIDE_DOUBLE, WIDE_INT, WIDE_LONG};
    if (op == OP_LEAST || op == OP_GREATEST)
        return (struct arrays_partial){own[type], op == OP_LEAST ? JOIN_LEAST : JOIN_GREATEST};
    if (op == OP_SUM && type == ARRAYS_INT)
        return (struct arrays_partial){WIDE_LONG, JOIN_ADD};
    if (op == OP_SUM && type == ARRAYS_LONG)
        return (struct arrays_partial){WIDE_LONG, JOIN_HALVES};
    if (!is_integer(type) && accumulator == ARRAYS_COMPENSATED)
        return (struct arrays_partial){own[type], JOIN_PAIRS};
    return doubles ? (struct arrays_partial){WIDE_DOUBLE, JOIN_ADD}
                   : (struct arrays_partial){WIDE_FLOAT, JOIN_PAIRS};
}

void arrays_reduce_row(enum arrays_type type, enum sums_op op, char row[64])
{
    snprintf(row, 64, "arrays.%s.%s",
             op == OP_SQUARES ? "squares"
             : op == OP_DOT   ? "dot"
                              : "sum",
             type_bytes(type) == 4 ? "single" : "double");
}

/* What stands for the elements that a vector has beyond the last. */
static const char *filling(enum arrays_type type, enum sums_op op)
{
    static const char *const most[] = {"INFINITY", "INFINITY", "INT_MAX", "LONG_MAX"};
    static const char *const least[] = {"-INFINITY", "-INFINITY", "INT_MIN", "LONG_MIN"};
    return op == OP_LEAST ? most[type] : op == OP_GREATEST ? least[type] : "0";
}

int arrays_reduce_open(struct kernels *k, enum arrays_type type, struct arrays_partial kind,
                       enum sums_op op)
{
    static const char *const names[] = {"float", "double", "int", "long"};
    const struct embedded *const front = &order_text;
    char options[256];
    snprintf(options, sizeof options, "-D OP=%d -D ELEMENT=%s -D WIDE=%s -D PAIRED=%d -D FILL=%s%s",
             (int)op, names[type], names[kind.wide],
             kind.joining == JOIN_PAIRS    ? 1
             : kind.joining == JOIN_HALVES ? 2
                                           : 0,
             filling(type, op),
             op == OP_LEAST      ? " -D KEEP_LEAST"
             : op == OP_GREATEST ? " -D KEEP_GREATEST"
                                 : "");
    return arrays_kernels_open(k, "reduce", options, &sum_file, 1, &front, NULL);
}

int arrays_reduce_part(struct order_job *job, const void *x, const void *y, const void *z,
                       double mean, struct order_forest *part)
{
    const float c_single = (float)mean, d_single = (float)(mean - (double)c_single);
    const double zero = 0;
    const int c_int = 0;
    const cl_long c_long = 0;
    struct stdcl_arg c = ARG_AT(mean), d = ARG_AT(zero);
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
    job->blocks = blocks_of(job->n);
    const int status = arrays_order_part(job, part);
    job->rest = NULL;
    return status;
}
