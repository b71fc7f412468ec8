/* arrays.c - sums of arrays of a few elements, for run.sh; the answers are compared with plain C.
 *   usage: oclgrind_arrays "" N...        every operation, type and accumulator
 *          oclgrind_arrays SHAPE N...     in a shape: sums of floats and long integers, and the
 *          pairs of a dot product
 * SPDX-License-Identifier: MIT
 */
#include "arrays/arrays_ref.h"

#include <math.h>

static CLCONTEXT *cp;
static int bad;

static void check_oclgrind_sum(const char *what, enum arrays_type type, size_t n, int status,
                               const double *got, double right)
{
    if (status == 0 && memcmp(got, &right, sizeof right) == 0)
        return;
    fprintf(stderr, "arrays: %s of %zu elements of type %d: %s, %.17g instead of %.17g\n", what, n,
            type, status ? clerror() : "wrong", *got, right);
    bad = 1;
}

static void fill_oclgrind_array(enum arrays_type type, void *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        switch (type) {
        case ARRAYS_FLOAT:
            ((float *)x)[i] = (float)i * 0.37F - 3;
            break;
        case ARRAYS_DOUBLE:
            ((double *)x)[i] = (double)i * 0.37 - 3;
            break;
        case ARRAYS_INT:
            ((int32_t *)x)[i] = (int32_t)i * 12345 - 700;
            break;
        case ARRAYS_LONG:
            ((int64_t *)x)[i] = (int64_t)i * 123456789012 - 7;
            break;
        }
}

static double oclgrind_extreme(enum arrays_type type, const void *x, size_t n, int sign)
{
    double best = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const double v = type == ARRAYS_FLOAT    ? ((const float *)x)[i]
                         : type == ARRAYS_DOUBLE ? ((const double *)x)[i]
                         : type == ARRAYS_INT    ? ((const int32_t *)x)[i]
                                                 : (double)((const int64_t *)x)[i];
        best = sign * v > best ? sign * v : best;
    }
    return sign * best;
}

static void sums_of(enum arrays_type type, enum arrays_accumulator how, size_t n)
{
    arrays *a =
        arrays_create(&(struct arrays_options){.ctx = cp, .type = type, .accumulator = how});
    void *x = clmalloc(cp, n * 8, 0);
    double r = 0, mean = 0;
    if (!a || !x || (fill_oclgrind_array(type, x, n), arrays_upload(a, x, n)) != 0) {
        check_oclgrind_sum("making", type, n, -1, &r, 0);
        return;
    }
    check_oclgrind_sum("sum", type, n, arrays_sum(a, x, n, &r), &r,
                       arrays_ref_sum(type, how, x, n));
    check_oclgrind_sum("min", type, n, arrays_min(a, x, n, &r), &r,
                       oclgrind_extreme(type, x, n, -1));
    check_oclgrind_sum("max", type, n, arrays_max(a, x, n, &r), &r,
                       oclgrind_extreme(type, x, n, 1));
    if (type == ARRAYS_FLOAT || type == ARRAYS_DOUBLE) {
        check_oclgrind_sum("dot", type, n, arrays_dot(a, x, x, n, &r), &r,
                           arrays_ref_dot(type, how, x, x, n));
        check_oclgrind_sum("squares", type, n, arrays_sum_squares(a, x, x, x, n, &r), &r,
                           arrays_ref_squares(type, how, x, x, x, n));
    }
    if (n > 1) {
        const int status = arrays_variance(a, x, n, &mean, &r);
        check_oclgrind_sum("variance", type, n, status, &r,
                           arrays_ref_deviations(type, how, x, n, mean) / (double)(n - 1));
    }
    clfree(x);
    arrays_free(a);
}

static void of_a_shape(const char *shape, size_t n)
{
    static const enum arrays_type types[] = {ARRAYS_FLOAT, ARRAYS_LONG, ARRAYS_DOUBLE};
    for (int i = 0; i < 3; i++) {
        const enum arrays_type type = types[i];
        const enum arrays_accumulator how =
            type == ARRAYS_DOUBLE ? ARRAYS_COMPENSATED : ARRAYS_WIDE;
        arrays *a = arrays_create(
            &(struct arrays_options){.ctx = cp, .type = type, .accumulator = how, .shape = shape});
        void *x = clmalloc(cp, n * 8, 0);
        double r = 0;
        if (!a || !x || (fill_oclgrind_array(type, x, n), arrays_upload(a, x, n)) != 0)
            check_oclgrind_sum("making", type, n, -1, &r, 0);
        else if (type == ARRAYS_DOUBLE)
            check_oclgrind_sum("dot", type, n, arrays_dot(a, x, x, n, &r), &r,
                               arrays_ref_dot(type, how, x, x, n));
        else
            check_oclgrind_sum("sum", type, n, arrays_sum(a, x, n, &r), &r,
                               arrays_ref_sum(type, how, x, n));
        clfree(x);
        arrays_free(a);
    }
}

/* The tree has its own order; integers in doubles give equal sums in every order. */
static void tree_of(size_t n)
{
    arrays *a = arrays_create(
        &(struct arrays_options){.ctx = cp, .type = ARRAYS_DOUBLE, .method = ARRAYS_TREE});
    double *x = clmalloc(cp, n * sizeof *x, 0), r = 0, right = 0;
    if (!a && clerrno == ENOTSUP) /* without Lua there is none */
        return;
    for (size_t i = 0; x && i < n; i++)
        right += x[i] = (double)(i * i % 1000);
    const int status = a && x && arrays_upload(a, x, n) == 0 ? arrays_sum(a, x, n, &r) : -1;
    check_oclgrind_sum("tree", ARRAYS_DOUBLE, n, status, &r, right);
    clfree(x);
    arrays_free(a);
}

int main(int argc, char **argv)
{
    if (argc < 3 || !(cp = stddev)) {
        fprintf(stderr, "usage: oclgrind_arrays SHAPE N..., on a machine with a device\n");
        return 2;
    }
    const char *shape = *argv[1] ? argv[1] : NULL;
    for (int i = 2; i < argc; i++) {
        const size_t n = strtoul(argv[i], NULL, 10);
        if (shape) {
            of_a_shape(shape, n);
            continue;
        }
        for (int type = ARRAYS_FLOAT; type <= ARRAYS_LONG; type++)
            sums_of((enum arrays_type)type, ARRAYS_WIDE, n);
        sums_of(ARRAYS_FLOAT, ARRAYS_COMPENSATED, n);
        sums_of(ARRAYS_DOUBLE, ARRAYS_COMPENSATED, n);
        tree_of(n);
    }
    return bad;
}
