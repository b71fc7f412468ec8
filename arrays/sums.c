/* sums.c - sums of arrays: kernels built on first use, results.
 *
 * Each operation is its own program, sum.cl with another OP. ARRAYS_TREE has work-groups in place
 * of blocks.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/internal.h"

#include "core/handle.h"

EMBEDDED(tree_file, "arrays/tree.clt", arrays_tree_clt);

static const struct arrays_mean no_mean = {0, 0};
const char *const arrays_type_names[] = {"float", "double", "int", "long"};
static const char *const wide_names[] = {"float", "double", "int", "long"};
static const char *const op_names[] = {"sum", "dot", "squares"};

static bool has_integers(const arrays *a)
{
    return a->type == ARRAYS_INT || a->type == ARRAYS_LONG;
}

/* ---- Kernels. -------------------------------------------------------------------------------- */

static bool uses_tree(const arrays *a, enum reduce_op op)
{
    return a->method == ARRAYS_TREE && op <= OP_SQUARES;
}

struct arrays_partial arrays_partial_of(const arrays *a, enum reduce_op op)
{
    return arrays_reduce_kind(a->type, a->accumulator, a->doubles, op);
}

static int tree_choose_shape(arrays *a, struct kernels *k, enum reduce_op op)
{
    if (arrays_partial_of(a, op).join != JOIN_ADD)
        return clerror_set(EINVAL, "arrays: ARRAYS_TREE sums only plain %s; use ARRAYS_TUNED",
                           a->type == ARRAYS_LONG ? "32-bit integers" : "doubles");
    if (k->unaligned)
        return clerror_set(EINVAL, "arrays: ARRAYS_TREE sums only arrays that begin at a multiple "
                                   "of 128 bytes of their block; use ARRAYS_TUNED");
    if (arrays_kernels_shape(k, a->ctx, "arrays.tree", 0, a->shape) != 0)
        return -1;
    for (cl_uint dev = 1; dev < k->ndev; dev++) /* one order for all devices */
        if (strcmp(k->device[dev].row.shape, k->device[0].row.shape) != 0) {
            const bool cpu = k->device[dev].cpu;
            k->device[dev] = k->device[0];
            k->device[dev].cpu = cpu;
        }
    return 0;
}

static int tree_open_kernel(arrays *a, struct kernels *k, enum reduce_op op)
{
    const clvalue_t values[] = {clvalue("work", k->device[0].shape.group),
                                clvalue("groups", k->device[0].shape.groups),
                                clvalue("op", op_names[op]),
                                clvalue("element", arrays_type_names[a->type]),
                                clvalue("wide", wide_names[arrays_partial_of(a, op).wide]),
                                CLVALUE_END};
    return arrays_kernels_open(k, "tree", "", &tree_file, 0, NULL, values);
}

/* Return 1 if an array of the input starts where a device cannot start a buffer, -1 on failure. */
static int input_is_unaligned(const arrays *a, const struct reduce_input *in)
{
    const int x = arrays_is_unaligned(a, "arrays", in->x),
              y = in->y == in->x ? 0 : arrays_is_unaligned(a, "arrays", in->y),
              z = in->z == in->x ? 0 : arrays_is_unaligned(a, "arrays", in->z);
    return x < 0 || y < 0 || z < 0 ? -1 : x || y || z;
}

struct kernels *arrays_op_kernels(arrays *a, enum reduce_op op, const struct reduce_input *in)
{
    const int unaligned = input_is_unaligned(a, in);
    if (unaligned < 0)
        return NULL;
    struct kernels *k = &a->kernels[unaligned][op];
    if (k->device)
        return k;
    char row[64];
    arrays_reduce_row(a->type, op, row);
    *k = (struct kernels){.first_dev = a->first_dev, .ndev = a->ndev, .unaligned = unaligned != 0};
    const int status = uses_tree(a, op) ? tree_choose_shape(a, k, op)
                                        : arrays_kernels_shape(k, a->ctx, row, 0, a->shape);
    if (status == 0)
        return k;
    arrays_kernels_close(k);
    return NULL;
}

struct kernels *arrays_op_open(arrays *a, enum reduce_op op, const struct reduce_input *in)
{
    struct kernels *k = arrays_op_kernels(a, op, in);
    if (!k || k->device[k->ndev - 1].kernel)
        return k;
    const int status =
        uses_tree(a, op) ? tree_open_kernel(a, k, op)
                         : arrays_reduce_open(k, a->type, arrays_partial_of(a, op), a->doubles, op);
    if (status == 0)
        return k;
    arrays_kernels_close(k);
    return NULL;
}

/* ---- Reduction. ------------------------------------------------------------------------------ */

static int tree_reduce(const struct kernels *k, struct reduce_job *job,
                       const struct reduce_input *in, struct arrays_total *total)
{
    const struct stdcl_arg rest[] = {ARG(in->x), ARG(in->y), ARG(in->z)};
    job->nrest = 3;
    job->rest = rest;
    job->blocks = (uint64_t)k->device[0].shape.groups;
    job->uncut = true;
    return arrays_fixed_reduce(job, total);
}

int arrays_op_reduce(arrays *a, enum reduce_op op, const struct reduce_input *in,
                     struct arrays_total *total)
{
    const struct arrays_partial kind = arrays_partial_of(a, op);
    struct kernels *k = arrays_op_kernels(a, op, in);
    *total = (struct arrays_total){0, 0, 0};
    if (!k)
        return -1;
    const bool tree = uses_tree(a, op);
    if (!tree && arrays_small_fits(a, k, kind, in))
        return arrays_small_sum(a, k, op, in, total);
    if (!arrays_op_open(a, op, in))
        return -1;
    struct reduce_job job = {.kernels = k,
                             .type = a->type,
                             .kind = kind,
                             .n = in->n,
                             .partial = a->partial,
                             .progress = a->progress,
                             .arg = a->arg,
                             .caller = "arrays",
                             .elements = "elements"};
    if (tree)
        return tree_reduce(k, &job, in, total);
    struct reduce_forest whole;
    if (arrays_reduce_part(&job, in, &whole) != 0)
        return -1;
    *total = arrays_fixed_reduce_total(kind, &whole);
    return 0;
}

/* Run an operation on arrays x, y, z of n elements; unused ones repeat x. */
static int sums_reduce(arrays *a, enum reduce_op op, const void *x, const void *y, const void *z,
                       size_t n, struct arrays_mean mean, struct arrays_total *total,
                       struct arrays_partial *kind)
{
    *kind = arrays_partial_of(a, op);
    *total = (struct arrays_total){0, 0, 0};
    return n == 0 ? 0
                  : arrays_op_reduce(a, op, &(const struct reduce_input){x, y, z, n, mean}, total);
}

/* ---- Public functions. ----------------------------------------------------------------------- */

int arrays_check_handles(const arrays *a, const char *call, const void *result)
{
    if (no_handle(a, call))
        return -1;
    return result ? 0 : clerror_set(EINVAL, "%s: the address of the result is NULL", call);
}

static int sums_run(arrays *a, const char *call, enum reduce_op op, const void *x, const void *y,
                    size_t n, size_t least, struct arrays_mean mean, double *result)
{
    struct arrays_total total;
    struct arrays_partial kind;
    if (arrays_check_handles(a, call, result) != 0 || arrays_check(a, call, x, n, least) != 0 ||
        arrays_check(a, call, y, n, least) != 0 ||
        sums_reduce(a, op, x, y, x, n, mean, &total, &kind) != 0)
        return -1;
    *result = arrays_total_value(kind, &total);
    return 0;
}

int arrays_sum(arrays *a, const void *x, size_t n, double *sum)
{
    return sums_run(a, "arrays_sum", OP_SUM, x, x, n, 0, no_mean, sum);
}

int arrays_sum_integer(arrays *a, const void *x, size_t n, int64_t *sum)
{
    struct arrays_total total;
    struct arrays_partial kind;
    if (arrays_check_handles(a, "arrays_sum_integer", sum) != 0)
        return -1;
    if (!has_integers(a))
        return clerror_set(EINVAL, "arrays_sum_integer: the elements are %ss; use arrays_sum",
                           arrays_type_names[a->type]);
    if (arrays_check(a, "arrays_sum_integer", x, n, 0) != 0 ||
        sums_reduce(a, OP_SUM, x, x, x, n, no_mean, &total, &kind) != 0)
        return -1;
    if (total.integer > INT64_MAX || total.integer < INT64_MIN)
        return clerror_set(ERANGE, "arrays_sum_integer: the sum, about %g, does not fit in 64 bits",
                           (double)total.integer);
    *sum = (int64_t)total.integer;
    return 0;
}

int arrays_dot(arrays *a, const void *x, const void *y, size_t n, double *dot)
{
    if (arrays_check_handles(a, "arrays_dot", dot) != 0)
        return -1;
    if (has_integers(a))
        return clerror_set(
            EINVAL, "arrays_dot: the elements are %ss; only floats and doubles are supported",
            arrays_type_names[a->type]);
    return sums_run(a, "arrays_dot", OP_DOT, x, y, n, 0, no_mean, dot);
}

int arrays_sum_squares(arrays *a, const void *x, const void *y, const void *z, size_t n,
                       double *squares)
{
    struct arrays_total total;
    struct arrays_partial kind;
    if (arrays_check_handles(a, "arrays_sum_squares", squares) != 0)
        return -1;
    if (has_integers(a))
        return clerror_set(
            EINVAL,
            "arrays_sum_squares: the elements are %ss; only floats and doubles are supported",
            arrays_type_names[a->type]);
    if (arrays_check(a, "arrays_sum_squares", x, n, 0) != 0 ||
        arrays_check(a, "arrays_sum_squares", y, n, 0) != 0 ||
        arrays_check(a, "arrays_sum_squares", z, n, 0) != 0 ||
        sums_reduce(a, OP_SQUARES, x, y, z, n, no_mean, &total, &kind) != 0)
        return -1;
    *squares = arrays_total_value(kind, &total);
    return 0;
}

int arrays_min(arrays *a, const void *x, size_t n, double *min)
{
    return sums_run(a, "arrays_min", OP_MIN, x, x, n, 1, no_mean, min);
}

int arrays_max(arrays *a, const void *x, size_t n, double *max)
{
    return sums_run(a, "arrays_max", OP_MAX, x, x, n, 1, no_mean, max);
}

int arrays_mean(arrays *a, const void *x, size_t n, double *mean)
{
    double sum;
    if (arrays_check_handles(a, "arrays_mean", mean) != 0 ||
        sums_run(a, "arrays_mean", OP_SUM, x, x, n, 1, no_mean, &sum) != 0)
        return -1;
    *mean = sum / (double)n;
    return 0;
}

/* True if the rounding error of the mean may change the sum of squared deviations. The error of a
 * sum is at most some 80 rounding errors of the sum of |x|, and (sum of |x| / n)^2 is at most the
 * mean square. */
static bool mean_is_too_coarse(const arrays *a, size_t n, double mean, double squares)
{
    const double rounding =
        arrays_partial_of(a, OP_DEVIATIONS).wide == WIDE_FLOAT ? 0x1p-42 : 0x1p-46;
    const double error = rounding * rounding * (mean * mean + squares / (double)n);
    return error * (double)n > 0x1p-54 * squares;
}

/* Two passes (mean, deviations), and two more where the rounded mean is too coarse: the mean of the
 * offsets from it is its remainder. */
int arrays_variance(arrays *a, const void *x, size_t n, double *mean, double *variance)
{
    const char *const call = "arrays_variance";
    struct arrays_mean middle = no_mean;
    double squares, offsets;
    if (arrays_check_handles(a, call, variance) != 0)
        return -1;
    if (n < 2)
        return clerror_set(EINVAL, "%s: %zu elements are too few; the minimum is 2", call, n);
    if (arrays_mean(a, x, n, &middle.high) != 0 ||
        sums_run(a, call, OP_DEVIATIONS, x, x, n, 2, middle, &squares) != 0)
        return -1;
    if (mean_is_too_coarse(a, n, middle.high, squares)) {
        if (sums_run(a, call, OP_OFFSETS, x, x, n, 2, middle, &offsets) != 0)
            return -1;
        middle.low = offsets / (double)n;
        if (sums_run(a, call, OP_DEVIATIONS, x, x, n, 2, middle, &squares) != 0)
            return -1;
    }
    if (mean)
        *mean = middle.high + middle.low;
    *variance = squares / (double)(n - 1);
    return 0;
}
