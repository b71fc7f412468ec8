/* Arrays on chosen devices: results that stay in device memory, places of extremes, arrays that
 * start at any element, one device of several. Expected values are loops in plain C, the scalar
 * reference, and closed forms.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "deep.h"

#include <math.h>

#include "arrays/arrays_ref.h"
#include "stdcl/philox.h"

enum { MOST = 100001, AT = 40 };
static const size_t sizes[] = {1, 2, 63, 2049, 32768, 32769, 65537, 98304, MOST - AT};
enum { SIZES = sizeof sizes / sizeof *sizes };

static CLCONTEXT *cp;
static bool doubles_here;
static char *x, *y, *zero_copy; /* MOST elements of 8 bytes, and 4096 more bytes in zero_copy */
static char *result;            /* 64 bytes */

static size_t bytes_of(enum arrays_type type)
{
    return type == ARRAYS_FLOAT || type == ARRAYS_INT ? 4 : 8;
}

/* Elements of mixed size and sign; few equal ones among numbers of 64 bits. */
static void fill(enum arrays_type type, void *array, uint32_t key)
{
    for (uint32_t i = 0; i < MOST; i++) {
        const philox4 r = philox4x32_10((philox4){i, 0, 0, 0}, key, 7);
        if (type == ARRAYS_FLOAT)
            ((float *)array)[i] = philox_normal_float4(r).x;
        else if (type == ARRAYS_DOUBLE)
            ((double *)array)[i] = philox_normal_double2(r).x;
        else if (type == ARRAYS_INT)
            ((int32_t *)array)[i] = philox_int(r, -30000, 30000);
        else
            ((int64_t *)array)[i] = philox_long(r, -((int64_t)1 << 50), (int64_t)1 << 50);
    }
}

static arrays *open_arrays(enum arrays_type type, enum arrays_accumulator accumulator, cl_uint dev,
                           cl_uint devices)
{
    arrays *a = arrays_create(&(struct arrays_options){.ctx = cp,
                                                       .type = type,
                                                       .accumulator = accumulator,
                                                       .first_device = dev,
                                                       .devices = devices});
    ready(a);
    return a;
}

/* True if the devices have a type, and it is not left to `make test-deep`: each type and alignment
 * is a kernel to build. */
static bool has_type(enum arrays_type type)
{
    return (type != ARRAYS_DOUBLE || doubles_here) && sampled(type, 3);
}

/* ---- Results on the device. ------------------------------------------------------------------ */

/* The result in the device's image, whose place `at` is a multiple of 8 bytes. */
static double read_result(enum arrays_type type, cl_uint dev, size_t at)
{
    done(clmsync(cp, dev, result, CL_MEM_HOST | CL_EVENT_WAIT));
    if (type >= ARRAYS_INT)
        return (double)*(int64_t *)(result + at);
    return doubles_here ? *(double *)(result + at) : (double)*(float *)(result + at);
}

#define agree(a, b) check_bits((a), (b), n, __LINE__)
static void check_bits(double a, double b, size_t n, int line)
{
    if (memcmp(&a, &b, sizeof a) != 0) {
        print_error("line %d, n = %zu: %.17g is not %.17g\n", line, n, a, b);
        _fail(__FILE__, line);
    }
}

static void compare_results(enum arrays_type type, enum arrays_accumulator accumulator, cl_uint dev)
{
    arrays *a = open_arrays(type, accumulator, dev, 1);
    fill(type, x, 1);
    fill(type, y, 2);
    for (size_t k = 0; k < SIZES; k++) {
        const size_t n = sizes[k], at = k % 8 * 8;
        double expected;
        works(arrays_upload(a, x, n));
        works(arrays_upload(a, y, n));
        works(arrays_sum_start(a, x, n, result + at));
        const double sum = read_result(type, dev, at);
        works(arrays_sum(a, x, n, &expected));
        agree(sum, expected);
        works(arrays_max_start(a, x, n, result + at));
        const double max = read_result(type, dev, at);
        works(arrays_max(a, x, n, &expected));
        agree(max, expected);
        works(arrays_min_start(a, x, n, result + at));
        const double min = read_result(type, dev, at);
        works(arrays_min(a, x, n, &expected));
        agree(min, expected);
        if (type >= ARRAYS_INT)
            continue;
        works(arrays_dot_start(a, x, y, n, result + at));
        const double dot = read_result(type, dev, at);
        works(arrays_dot(a, x, y, n, &expected));
        agree(dot, expected);
    }
    works(arrays_sum_start(a, NULL, 0, result));
    assert_true(read_result(type, dev, 0) == 0);
    arrays_free(a);
}

static void arrays_results_on_device_match_results_on_host(void **state)
{
    (void)state;
    for (enum arrays_type type = ARRAYS_FLOAT; type <= ARRAYS_LONG; type++)
        if (has_type(type))
            compare_results(type, ARRAYS_WIDE, type % clgetndev(cp));
    compare_results(ARRAYS_FLOAT, ARRAYS_COMPENSATED, 0);
    if (doubles_here)
        compare_results(ARRAYS_DOUBLE, ARRAYS_COMPENSATED, 0);
}

/* A kernel that is launched later reads the result: no wait in between. Numbers of blocks that are
 * no powers of two make the tree's last subtrees small. */
static void arrays_results_feed_kernels(void **state)
{
    static const char source[] = "kernel void scale(global float *x, global const double *sum)\n"
                                 "{ x[get_global_id(0)] = 3 / (float)*sum; }\n";
    enum { N = 7 * 32768 + 5 };
    (void)state;
    if (!doubles_here)
        skip();
    void *program = clsopen(cp, source, CLLD_NOW);
    ready(program);
    cl_kernel scale = clsym(cp, program, "scale", 0);
    float *f = clmalloc(cp, N * sizeof *f, 0);
    ready(f);
    for (int i = 0; i < N; i++)
        f[i] = 3;
    arrays *a = open_arrays(ARRAYS_FLOAT, ARRAYS_WIDE, 0, 1);
    works(arrays_upload(a, f, N));
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    for (int round = 0; round < 3; round++) { /* 3, then 1 / N, then 3, ... */
        works(arrays_sum_start(a, f, N, result));
        started(clforka(cp, 0, scale, &ndr, CL_EVENT_NOWAIT, f, result));
    }
    started(clmsync(cp, 0, f, CL_MEM_HOST | CL_EVENT_NOWAIT));
    done(clwait(cp, 0, CL_ALL_EVENT));
    assert_true(f[0] == 3 / (float)(3.0 * N) || fabsf(f[0] * N - 1) < 1e-6f);
    assert_true(f[N - 1] == f[0]);
    arrays_free(a);
    works(clclose(cp, program));
    works(clfree(f));
}

/* ---- Places of extremes. --------------------------------------------------------------------- */

static double element(enum arrays_type type, const void *array, size_t i)
{
    return type == ARRAYS_FLOAT    ? (double)((const float *)array)[i]
           : type == ARRAYS_DOUBLE ? ((const double *)array)[i]
           : type == ARRAYS_INT    ? ((const int32_t *)array)[i]
                                   : (double)((const int64_t *)array)[i];
}

static size_t first_extreme(enum arrays_type type, const void *array, size_t n, int sign)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if (type == ARRAYS_LONG) { /* exact beyond the digits of a double */
            const int64_t *l = array;
            best = sign < 0 ? (l[i] < l[best] ? i : best) : (l[i] > l[best] ? i : best);
        } else if (sign * element(type, array, i) > sign * element(type, array, best))
            best = i;
    return best;
}

static void compare_places(enum arrays_type type, char *array)
{
    arrays *a = open_arrays(type, ARRAYS_WIDE, 0, 0);
    for (size_t k = 0; k < 2 * SIZES; k++) {
        const size_t n = sizes[k / 2], shift = k % 2 ? AT - k : 0;
        size_t least = SIZE_MAX, most = SIZE_MAX;
        void *start = array + shift * bytes_of(type);
        works(arrays_upload(a, start, n));
        works(arrays_argmin(a, start, n, &least));
        works(arrays_argmax(a, start, n, &most));
        assert_int_equal(least, first_extreme(type, start, n, -1));
        assert_int_equal(most, first_extreme(type, start, n, 1));
    }
    arrays_free(a);
}

static void arrays_find_first_extreme(void **state)
{
    (void)state;
    for (enum arrays_type type = ARRAYS_FLOAT; type <= ARRAYS_LONG; type++)
        for (int memory = has_type(type) ? 0 : 1; memory < 2; memory++) {
            char *array = memory ? zero_copy : x;
            fill(type, array, 3);
            if (type != ARRAYS_DOUBLE || doubles_here)
                compare_places(type, array);
        }
}

/* Ties, in one block and in several; NaN; neighbours that are one double. */
static void arrays_find_first_of_equal_extremes(void **state)
{
    (void)state;
    for (int memory = 0; memory < 2; memory++) {
        char *array = memory ? zero_copy : x;
        float *f = (float *)array;
        int64_t *l = (int64_t *)array;
        size_t i;
        arrays *a = open_arrays(ARRAYS_FLOAT, ARRAYS_WIDE, 0, 0);
        for (size_t k = 0; k < MOST; k++)
            f[k] = k % 1000 == 77 ? -0.0f : k % 1000 == 300 ? 0.0f : 5;
        works(arrays_upload(a, f, MOST));
        works(arrays_argmin(a, f, MOST, &i));
        assert_int_equal(i, 77);
        works(arrays_argmax(a, f, MOST, &i));
        assert_int_equal(i, 0);
        f[70000] = f[70003] = f[99999] = NAN;
        works(arrays_upload(a, f, MOST));
        works(arrays_argmin(a, f, MOST, &i));
        assert_int_equal(i, 70000);
        works(arrays_argmax(a, f, MOST, &i));
        assert_int_equal(i, 70000);
        works(arrays_argmax(a, f + 70001, 20, &i));
        assert_int_equal(i, 2);
        arrays_free(a);
        a = open_arrays(ARRAYS_LONG, ARRAYS_WIDE, 0, 0);
        for (size_t k = 0; k < MOST; k++)
            l[k] = ((int64_t)1 << 60) + (int64_t)(k % 7);
        l[40000] = ((int64_t)1 << 60) - 1;
        l[90001] = ((int64_t)1 << 60) + 9;
        works(arrays_upload(a, l, MOST));
        works(arrays_argmin(a, l, MOST, &i));
        assert_int_equal(i, 40000);
        works(arrays_argmax(a, l, MOST, &i));
        assert_int_equal(i, 90001);
        arrays_free(a);
    }
}

/* ---- Arrays that start at any element. ------------------------------------------------------- */

static double integer_sum(const int64_t *l, size_t n)
{
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += l[i];
    return (double)sum;
}

static void compare_shifted(enum arrays_type type, char *p, char *q)
{
    static const size_t shifts[][2] = {{1, 0}, {0, 3}, {5, 2}, {31, 33}, {AT, AT - 1}, {32, 16}};
    arrays *a = open_arrays(type, ARRAYS_WIDE, 0, 0);
    const enum arrays_accumulator how = type == ARRAYS_FLOAT && !doubles_here
                                            ? (enum arrays_accumulator)ARRAYS_REF_FLOAT_PAIRS
                                            : ARRAYS_WIDE;
    fill(type, p, 4);
    fill(type, q, 5);
    for (size_t k = 0; k < SIZES; k++) {
        const size_t n = sizes[k], *shift = shifts[k % 6];
        char *s = p + shift[0] * bytes_of(type), *t = q + shift[1] * bytes_of(type);
        double r;
        works(arrays_upload(a, s, n));
        works(arrays_upload(a, t, n));
        works(arrays_sum(a, s, n, &r));
        agree(r, type == ARRAYS_LONG ? integer_sum((const int64_t *)s, n)
                                     : arrays_ref_sum(type, how, s, n));
        works(arrays_max(a, t, n, &r));
        agree(r, element(type, t, first_extreme(type, t, n, 1)));
        if (type >= ARRAYS_INT)
            continue;
        works(arrays_dot(a, s, t, n, &r));
        agree(r, arrays_ref_dot(type, how, s, t, n));
        works(arrays_sum_squares(a, s, t, s, n, &r));
        agree(r, arrays_ref_squares(type, how, s, t, s, n));
    }
    arrays_free(a);
}

static void arrays_start_at_any_element(void **state)
{
    (void)state;
    for (enum arrays_type type = ARRAYS_FLOAT; type <= ARRAYS_LONG; type++)
        if (has_type(type)) {
            compare_shifted(type, x, y);
            compare_shifted(type, zero_copy, zero_copy + 4096);
        }
}

/* ---- One device of several. ------------------------------------------------------------------ */

/* The last device alone: its image is summed, and no other device's. */
static void arrays_use_one_device(void **state)
{
    static const char source[] = "kernel void put(global float *x, float v)\n"
                                 "{ x[get_global_id(0)] = v; }\n";
    enum { N = 5 * 32768 };
    const cl_uint last = clgetndev(cp) - 1;
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    size_t first, count;
    double r;
    (void)state;
    void *program = clsopen(cp, source, CLLD_NOW);
    ready(program);
    cl_kernel put = clsym(cp, program, "put", 0);
    float *f = clmalloc(cp, N * sizeof *f, CL_MEM_PER_DEVICE);
    ready(f);
    for (cl_uint dev = 0; dev <= last; dev++)
        done(clforka(cp, dev, put, &ndr, CL_EVENT_WAIT, f, 1.0f + (float)dev));
    for (cl_uint dev = 0; dev <= last; dev++) {
        arrays *a = open_arrays(ARRAYS_FLOAT, ARRAYS_WIDE, dev, 1);
        arrays_partition(a, N, dev, &first, &count);
        assert_true(first == 0 && count == N);
        arrays_partition(a, N, dev + 1, &first, &count);
        assert_true(count == 0);
        works(arrays_sum(a, f, N, &r));
        assert_true(r == (1.0 + dev) * N);
        contains(arrays_shape(a, dev), "group=");
        assert_string_equal(arrays_shape(a, dev + 1), "");
        arrays_free(a);
    }
    works(clclose(cp, program));
    works(clfree(f));
}

static void arrays_refuse_devices_and_places(void **state)
{
    const cl_uint all = clgetndev(cp);
    size_t i;
    (void)state;
    fails_null(EINVAL, arrays_create(&(struct arrays_options){.ctx = cp, .first_device = all}));
    fails_null(EINVAL, arrays_create(&(struct arrays_options){.ctx = cp, .devices = all + 1}));
    fails_null(EINVAL, arrays_create(&(struct arrays_options){
                           .ctx = cp, .first_device = all - 1, .devices = UINT32_MAX}));
    assert_null(arrays_create(&(struct arrays_options){.ctx = cp, .first_device = all}));
    contains(clerror(), "arrays_create: first_device = ");
    arrays *a = open_arrays(ARRAYS_FLOAT, ARRAYS_WIDE, 0, 1);
    double on_stack;
    works(arrays_upload(a, x, 4));
    fails(EFAULT, arrays_sum_start(a, x, 4, &on_stack));
    fails(EFAULT, arrays_sum_start(a, x, 4, NULL));
    fails(EINVAL, arrays_sum_start(a, x, 4, result + 4));
    assert_true(arrays_sum_start(a, x, 4, result + 4) == -1);
    contains(clerror(), "it must be a multiple of 8 bytes");
    fails(EINVAL, arrays_sum_start(a, x + 2, 4, result));
    assert_true(arrays_sum(a, x + 2, 4, &on_stack) == -1);
    contains(clerror(), "arrays_sum: the array begins 2 bytes after its block's begin");
    fails(EINVAL, arrays_min_start(a, x, 0, result));
    fails(EINVAL, arrays_argmin(a, x, 0, &i));
    fails(EINVAL, arrays_argmin(a, x, 4, NULL));
    fails(EINVAL, arrays_argmin(a, x + 8 * (MOST - 1), 3, &i));
    fails(EINVAL, arrays_sum_start(NULL, x, 4, result));
    fails(EINVAL, arrays_argmax(NULL, x, 4, &i));
    fails(EFAULT, arrays_argmax(a, &on_stack, 1, &i));
    arrays_free(a);
    a = open_arrays(ARRAYS_INT, ARRAYS_WIDE, 0, 1);
    fails(EINVAL, arrays_dot_start(a, x, y, 4, result));
    arrays_free(a);
    a = arrays_create(&(struct arrays_options){.ctx = cp, .method = ARRAYS_TREE, .devices = 1});
    ready(a);
    fails(EINVAL, arrays_sum_start(a, x, 4, result));
    arrays_free(a);
    if (all == 1)
        return;
    a = open_arrays(ARRAYS_FLOAT, ARRAYS_WIDE, 0, 0);
    assert_true(arrays_sum_start(a, x, 4, result) == -1);
    contains(clerror(), "set devices = 1 in the options");
    arrays_free(a);
}

static int open_device_context(void **state)
{
    (void)state;
    cp = stddev;
    doubles_here = have_doubles(cp);
    x = clmalloc(cp, MOST * 8, 0);
    y = clmalloc(cp, MOST * 8, 0);
    zero_copy = clmalloc(cp, MOST * 8 + 4096, CL_MEM_ZEROCOPY);
    result = clmalloc(cp, 64, 0);
    return setup_done(x && y && zero_copy && result);
}

static int close_device_context(void **state)
{
    (void)state;
    return clfree(x) || clfree(y) || clfree(zero_copy) || clfree(result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_results_on_device_match_results_on_host),
        cmocka_unit_test(arrays_results_feed_kernels),
        cmocka_unit_test(arrays_find_first_extreme),
        cmocka_unit_test(arrays_find_first_of_equal_extremes),
        cmocka_unit_test(arrays_start_at_any_element),
        cmocka_unit_test(arrays_use_one_device),
        cmocka_unit_test(arrays_refuse_devices_and_places),
    };
    return cmocka_run_group_tests_name("arrays on devices", tests, open_device_context,
                                       close_device_context);
}
