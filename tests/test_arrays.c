/* Sums of arrays: equal bits to plain C in the same order, for every type, size, shape and
 * number of devices; exact where exactness is promised; and close to the exact value, computed
 * by 128-bit integers.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "deep.h"

#include <float.h>
#include <math.h>

#include "arrays/arrays_ref.h"
#include "stdcl/philox.h"

__extension__ typedef __int128 wide;

enum { MOST = 300001 };
static const size_t sizes[] = {1,    2,    3,    15,    16,    17,    63,    64,     65,
                               2047, 2048, 2049, 32767, 32768, 32769, 65537, 196609, MOST};
enum { SIZES = sizeof sizes / sizeof *sizes };

static CLCONTEXT *cp;
static bool doubles_here; /* every device has them */
static void *x, *y;       /* MOST elements of 8 bytes */

static uint32_t arrays_random_word(size_t i, uint32_t key)
{
    return philox4x32_10((philox4){(uint32_t)i, 0, 0, 0}, key, 0).x;
}

/* Elements of mixed size and sign. */
static double arrays_random_number(size_t i, uint32_t key)
{
    const uint32_t w = arrays_random_word(i, key);
    return ldexp((double)w - 2147483648.0, (int)(w % 40) - 50);
}

static void fill_array(enum arrays_type type, void *array, uint32_t key)
{
    for (size_t i = 0; i < MOST; i++)
        switch (type) {
        case ARRAYS_FLOAT:
            ((float *)array)[i] = (float)arrays_random_number(i, key);
            break;
        case ARRAYS_DOUBLE:
            ((double *)array)[i] =
                arrays_random_number(i, key) * (1 + (double)arrays_random_word(i, key + 9) / 3e18);
            break;
        case ARRAYS_INT:
            ((int32_t *)array)[i] = (int32_t)arrays_random_word(i, key);
            break;
        case ARRAYS_LONG:
            ((int64_t *)array)[i] = (int64_t)arrays_random_word(i, key)
                                        << (arrays_random_word(i, key + 1) % 12) ^
                                    -(int64_t)(i % 3);
            break;
        }
}

static arrays *make_array_sums(enum arrays_type type, enum arrays_accumulator accumulator,
                               enum arrays_method method, const char *shape)
{
    arrays *s = arrays_create(&(struct arrays_options){
        .ctx = cp, .type = type, .accumulator = accumulator, .method = method, .shape = shape});
    ready(s);
    return s;
}

/* The accumulator that stands for doubles on a device without them: pairs of floats. */
static enum arrays_accumulator exact_float_sum(enum arrays_type type,
                                               enum arrays_accumulator wished)
{
    return type == ARRAYS_FLOAT && !doubles_here ? (enum arrays_accumulator)ARRAYS_REF_FLOAT_PAIRS
                                                 : wished;
}

/* A device's share depends on n, so every n needs its own offset. */
static void offset_in_array(arrays *s, size_t n)
{
    works(arrays_upload(s, x, n));
    works(arrays_upload(s, y, n));
}

#define same(a, b) check_sum_bits((a), (b), n, __LINE__)
static void check_sum_bits(double a, double b, size_t n, int line)
{
    if (memcmp(&a, &b, sizeof a) != 0) {
        print_error("n = %zu: %.17g is not %.17g\n", n, a, b);
        _fail(__FILE__, line);
    }
}

/* ---- The same bits as plain C. --------------------------------------------------------------- */

static void compare_sums_with_reference(enum arrays_type type, enum arrays_accumulator accumulator,
                                        const char *shape)
{
    arrays *s = make_array_sums(type, accumulator, ARRAYS_TUNED, shape);
    accumulator = exact_float_sum(type, accumulator);
    fill_array(type, x, 1);
    fill_array(type, y, 2);
    for (size_t k = 0; k < SIZES; k++) {
        const size_t n = sizes[k];
        double r, mean;
        offset_in_array(s, n);
        works(arrays_sum(s, x, n, &r));
        same(r, arrays_ref_sum(type, accumulator, x, n));
        if (type <= ARRAYS_DOUBLE) {
            works(arrays_dot(s, x, y, n, &r));
            same(r, arrays_ref_dot(type, accumulator, x, y, n));
            works(arrays_sum_squares(s, x, y, x, n, &r));
            same(r, arrays_ref_squares(type, accumulator, x, y, x, n));
        }
        if (n > 1) {
            works(arrays_variance(s, x, n, &mean, &r));
            same(mean, arrays_ref_sum(type, accumulator, x, n) / (double)n);
            same(r, arrays_ref_deviations(type, accumulator, x, n, mean) / (double)(n - 1));
        }
    }
    arrays_free(s);
}

static void arrays_floats_in_doubles_match_reference(void **state)
{
    (void)state;
    compare_sums_with_reference(ARRAYS_FLOAT, ARRAYS_WIDE, NULL);
}
static void arrays_compensated_floats_match_reference(void **state)
{
    (void)state;
    compare_sums_with_reference(ARRAYS_FLOAT, ARRAYS_COMPENSATED, NULL);
}
static void arrays_doubles_match_reference(void **state)
{
    (void)state;
    if (!doubles_here)
        skip();
    compare_sums_with_reference(ARRAYS_DOUBLE, ARRAYS_WIDE, NULL);
}
static void arrays_compensated_doubles_match_reference(void **state)
{
    (void)state;
    if (!doubles_here)
        skip();
    compare_sums_with_reference(ARRAYS_DOUBLE, ARRAYS_COMPENSATED, NULL);
}

/* Every group size and width gives equal sums for all rounded accumulators, of one array and of
 * two alternately, since each is a kernel to compile. If not deep, with one or two group sizes
 * for each width. */
static bool is_deep;

static void arrays_shapes_give_equal_bits(void **state)
{
    (void)state;
    const size_t n = MOST;
    static const int widths[] = {1, 2, 4, 8, 16}, groups[] = {1, 2, 8, 32, 64, 256};
    fill_array(ARRAYS_FLOAT, x, 1);
    fill_array(ARRAYS_FLOAT, y, 2);
    const enum arrays_accumulator how = exact_float_sum(ARRAYS_FLOAT, ARRAYS_WIDE);
    const double sum = arrays_ref_sum(ARRAYS_FLOAT, how, x, n),
                 dot = arrays_ref_dot(ARRAYS_FLOAT, how, x, y, n);
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        for (size_t g = w % 2; g < sizeof groups / sizeof *groups; g += 2) {
            if (groups[g] > 1024 / widths[w] || (!is_deep && g != w && g != (w + 3) % 5))
                continue;
            char shape[64];
            double r;
            snprintf(shape, sizeof shape, "width=%d group=%d unroll=%d", widths[w], groups[g],
                     1 << (g % 4));
            arrays *s = make_array_sums(ARRAYS_FLOAT, ARRAYS_WIDE, ARRAYS_TUNED, shape);
            offset_in_array(s, n);
            if ((w + g / 2) % 2) {
                works(arrays_sum(s, x, n, &r));
                same(r, sum);
            } else {
                works(arrays_dot(s, x, y, n, &r));
                same(r, dot);
            }
            contains(arrays_shape(s, 0), shape[6] == '1' ? "width=1" : "width=");
            arrays_free(s);
        }
}

/* The number of blocks makes the host join them in bunches. */
static int end_sum_after(void *told, uint64_t done)
{
    *(uint64_t *)told = done;
    return done > 100 * 32768;
}

/* Check launches of one block each, as on a slow device, and a cancelled sum. */
static void check_sum_in_slices(const float *f, size_t n, double right)
{
    uint64_t done = 0;
    double r;
    assert_int_equal(setenv("STDCL_SLICE", "1e-12", 1), 0);
    arrays *s = make_array_sums(ARRAYS_FLOAT, ARRAYS_WIDE, ARRAYS_TUNED, NULL);
    arrays *stopped = arrays_create(&(struct arrays_options){
        .ctx = cp, .type = ARRAYS_FLOAT, .progress = end_sum_after, .arg = &done});
    ready(stopped);
    works(arrays_sum(s, f, n, &r));
    same(r, right);
    fails(ECANCELED, arrays_sum(stopped, f, n, &r));
    assert_true(done > 100 * 32768 && done <= 104 * 32768);
    assert_int_equal(unsetenv("STDCL_SLICE"), 0);
    arrays_free(stopped);
    arrays_free(s);
}

static void arrays_sum_many_blocks_exactly(void **state)
{
    (void)state;
    const size_t n = 300 * 32768 + 77;
    double r;
    float *f = clmalloc(cp, n * sizeof *f, CL_MEM_ZEROCOPY);
    ready(f);
    for (size_t i = 0; i < n; i++)
        f[i] = (float)(uint32_t)(i * 2654435761u) * 1.7e-5f;
    arrays *s = make_array_sums(ARRAYS_FLOAT, ARRAYS_WIDE, ARRAYS_TUNED, NULL);
    works(arrays_upload(s, f, n));
    works(arrays_sum(s, f, n, &r));
    const double right =
        arrays_ref_sum(ARRAYS_FLOAT, exact_float_sum(ARRAYS_FLOAT, ARRAYS_WIDE), f, n);
    same(r, right);
    arrays_free(s);
    check_sum_in_slices(f, n, right);
    works(clfree(f));
}

/* ---- Exact sums. ----------------------------------------------------------------------------- */

static void arrays_integer_sums_are_exact(void **state)
{
    (void)state;
    for (enum arrays_type type = ARRAYS_INT; type <= ARRAYS_LONG; type++) {
        arrays *s = make_array_sums(type, ARRAYS_WIDE, ARRAYS_TUNED, NULL);
        fill_array(type, x, 3);
        for (size_t k = 0; k < SIZES; k++) {
            const size_t n = sizes[k];
            offset_in_array(s, n);
            wide sum = 0;
            double least = INFINITY, greatest = -INFINITY, r;
            int64_t got;
            for (size_t i = 0; i < n; i++) {
                const int64_t v = type == ARRAYS_INT ? ((int32_t *)x)[i] : ((int64_t *)x)[i];
                sum += v;
                least = fmin(least, (double)v);
                greatest = fmax(greatest, (double)v);
            }
            works(arrays_sum_integer(s, x, n, &got));
            assert_true(got == (int64_t)sum);
            works(arrays_sum(s, x, n, &r));
            same(r, (double)sum);
            works(arrays_min(s, x, n, &r));
            same(r, least);
            works(arrays_max(s, x, n, &r));
            same(r, greatest);
        }
        arrays_free(s);
    }
}

static void arrays_integer_overflow_is_rejected(void **state)
{
    (void)state;
    arrays *s = make_array_sums(ARRAYS_LONG, ARRAYS_WIDE, ARRAYS_TUNED, NULL);
    int64_t *l = x, sum;
    double r;
    for (size_t i = 0; i < 5; i++)
        l[i] = i % 2 ? INT64_MIN : INT64_MAX;
    works(arrays_upload(s, x, 5));
    works(arrays_sum_integer(s, x, 5,
                             &sum)); /* three positive and two negative extremes: the sum fits */
    assert_true(sum == INT64_MAX - 2);
    l[1] = l[3] = INT64_MAX;
    works(arrays_upload(s, x, 5));
    fails(ERANGE, arrays_sum_integer(s, x, 5, &sum));
    works(arrays_sum(s, x, 5, &r));
    assert_true(r == 5 * 9223372036854775807.0);
    arrays_free(s);
}

/* The sum and the dot product that lose everything without compensation, wherever the terms
 * stand. */
static void arrays_compensation_survives_cancellation(void **state)
{
    (void)state;
    if (!doubles_here)
        skip();
    static const double terms[] = {1, 1e100, 1, -1e100};
    static const size_t apart[] = {1, 7, 64, 2048, 32768, 70000};
    double *d = x, *e = y, r;
    arrays *s = make_array_sums(ARRAYS_DOUBLE, ARRAYS_COMPENSATED, ARRAYS_TUNED, NULL);
    for (size_t a = 0; a < sizeof apart / sizeof *apart; a++)
        for (int turn = 0; turn < 4; turn++) {
            memset(d, 0, MOST * sizeof *d);
            memset(e, 0, MOST * sizeof *e);
            for (size_t k = 0; k < 4; k++) {
                d[k * apart[a]] = terms[(k + (size_t)turn) % 4];
                e[k * apart[a]] = terms[(k + (size_t)turn) % 4] < 0 ? -1 : 1;
            }
            offset_in_array(s, 3 * apart[a] + 1);
            works(arrays_sum(s, x, 3 * apart[a] + 1, &r));
            assert_true(r == 2);
            for (size_t k = 0; k < 4; k++)
                d[k * apart[a]] *= e[k * apart[a]];
            offset_in_array(s, 3 * apart[a] + 1);
            works(arrays_dot(s, x, y, 3 * apart[a] + 1, &r));
            assert_true(r == 2);
        }
    arrays_free(s);
    float *f = x;
    const float single[] = {1, 1e30f, 1, -1e30f};
    memcpy(f, single, sizeof single);
    s = make_array_sums(ARRAYS_FLOAT, ARRAYS_COMPENSATED, ARRAYS_TUNED, NULL);
    offset_in_array(s, 4);
    works(arrays_sum(s, x, 4, &r));
    assert_true(r == 2);
    arrays_free(s);
    memcpy(d, terms, sizeof terms); /* the documented limit of plain doubles */
    s = make_array_sums(ARRAYS_DOUBLE, ARRAYS_WIDE, ARRAYS_TUNED, NULL);
    offset_in_array(s, 4);
    works(arrays_sum(s, x, 4, &r));
    assert_true(r == 0);
    arrays_free(s);
}

/* Floats summed in doubles: the exact value is known in units of 2^-50. */
static void arrays_float_sums_are_near_exact(void **state)
{
    (void)state;
    const size_t n = MOST;
    wide exact = 0;
    double absolute = 0, r;
    fill_array(ARRAYS_FLOAT, x, 5);
    for (size_t i = 0; i < n; i++) {
        const double v = (double)((float *)x)[i];
        exact += (wide)ldexp(v, 74); /* at least 2^-50 with 24 bits: an integer */
        absolute += fabs(v);
    }
    arrays *s = make_array_sums(ARRAYS_FLOAT, ARRAYS_WIDE, ARRAYS_TUNED, NULL);
    offset_in_array(s, n);
    works(arrays_sum(s, x, n, &r));
    assert_true(fabs(r - ldexp((double)exact, -74)) <= 1e-15 * absolute);
    arrays_free(s);
}

/* Exact sample variance of base + step k[i], by integers: (n sum k^2 - (sum k)^2) step^2 / (n (n -
 * 1)). */
static double exact_variance(const int32_t *k, size_t n, double step)
{
    wide sum = 0, squares = 0;
    for (size_t i = 0; i < n; i++) {
        sum += k[i];
        squares += (wide)k[i] * k[i];
    }
    return step * step * (double)((wide)n * squares - sum * sum) / ((double)n * (double)(n - 1));
}

/* x[i] = base + step k[i], each exact in the type. */
static void fill_offsets(enum arrays_type type, void *array, const int32_t *k, size_t n,
                         double base, double step)
{
    for (size_t i = 0; i < n; i++)
        if (type == ARRAYS_FLOAT)
            ((float *)array)[i] = (float)(base + step * k[i]);
        else if (type == ARRAYS_DOUBLE)
            ((double *)array)[i] = base + step * k[i];
        else if (type == ARRAYS_INT)
            ((int32_t *)array)[i] = (int32_t)base + k[i];
        else
            ((int64_t *)array)[i] = (int64_t)base + k[i];
}

/* The spread is some units in the last place of the numbers; at the end all are equal. */
static void arrays_variance_of_large_numbers_is_exact(void **state)
{
    (void)state;
    static const struct {
        enum arrays_type type;
        double base, step;
    } cases[] = {{ARRAYS_DOUBLE, 1e16, 2},    {ARRAYS_DOUBLE, -1e15, 0.125},
                 {ARRAYS_FLOAT, 16777216, 2}, {ARRAYS_INT, 2e9, 1},
                 {ARRAYS_LONG, 1e18, 1},      {ARRAYS_LONG, -9.2e18, 1},
                 {ARRAYS_LONG, -3, 1},        {ARRAYS_LONG, -40000, 1}};
    static const size_t counts[] = {2, 3, 5, 1000, 100003};
    static int32_t k[100003];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int how = ARRAYS_WIDE; how <= ARRAYS_COMPENSATED; how++) {
            if (cases[c].type != ARRAYS_FLOAT && !doubles_here)
                continue;
            arrays *s =
                make_array_sums(cases[c].type, (enum arrays_accumulator)how, ARRAYS_TUNED, NULL);
            for (size_t j = 0; j < 2 * sizeof counts / sizeof *counts; j++) {
                const size_t n = counts[j / 2];
                double mean, r;
                for (size_t i = 0; i < n; i++)
                    k[i] = j % 2 ? 7 : (int32_t)(arrays_random_word(i, 11) % 7);
                fill_offsets(cases[c].type, x, k, n, cases[c].base, cases[c].step);
                works(arrays_upload(s, x, n));
                works(arrays_variance(s, x, n, &mean, &r));
                const double right = exact_variance(k, n, cases[c].step);
                if (!(fabs(r - right) <= (doubles_here ? 1e-13 : 4e-7) * right))
                    fail_msg("case %zu, accumulator %d, n = %zu: %.17g, not %.17g", c, how, n, r,
                             right);
            }
            arrays_free(s);
        }
}

/* Products that are too small for a float. */
static void arrays_compensated_products_do_not_underflow(void **state)
{
    (void)state;
    float *f = x, *g = y;
    double r;
    if (!doubles_here)
        skip();
    arrays *s = make_array_sums(ARRAYS_FLOAT, ARRAYS_COMPENSATED, ARRAYS_TUNED, NULL);
    for (size_t i = 0; i < 3000; i++) {
        f[i] = 0x1p-80f;
        g[i] = 0x1p-70f;
    }
    offset_in_array(s, 3000);
    works(arrays_dot(s, f, g, 3000, &r));
    assert_true(r == 3000 * 0x1p-150);
    works(arrays_sum_squares(s, f, g, g, 3000, &r));
    assert_true(r == 3000 * (0x1p-160 + 0x1p-139));
    for (size_t i = 0; i < 3000; i++)
        f[i] = i % 2 ? 0x1p-80f : 0x1p-80f * 3;
    offset_in_array(s, 3000);
    works(arrays_variance(s, f, 3000, NULL, &r));
    assert_true(fabs(r * 0x1p160 - 3000.0 / 2999) < 1e-14);
    arrays_free(s);
}

/* ---- Images of several devices. -------------------------------------------------------------- */

enum { FILLED = 5 * 32768 };

/* Fill a block by a kernel on device 0 only. */
static void fill_on_first_device(float *f, float value)
{
    static const char source[] =
        "kernel void fill(global float *x, float v) { x[get_global_id(0)] = v; }\n";
    clndrange_t ndr = clndrange_init1d(0, FILLED, 64);
    void *program = clsopen(cp, source, CLLD_NOW);
    ready(program);
    cl_kernel fill = clsym(cp, program, "fill", 0);
    ready(fill);
    done(clforka(cp, 0, fill, &ndr, CL_EVENT_WAIT, f, value));
    works(clclose(cp, program));
}

static float *filled_on_first_device(int flags)
{
    float *f = clmalloc(cp, FILLED * sizeof *f, flags);
    ready(f);
    fill_on_first_device(f, 1);
    return f;
}

/* Every call reads the image of the device that wrote the block, on any number of devices. */
static void arrays_read_block_that_one_device_wrote(void **state)
{
    (void)state;
    static const int flags[] = {0, CL_MEM_DEVONLY, CL_MEM_PER_DEVICE, CL_MEM_ZEROCOPY};
    arrays *s = make_array_sums(ARRAYS_FLOAT, ARRAYS_WIDE, ARRAYS_TUNED, NULL);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        double r;
        float *f = filled_on_first_device(flags[i]), *g = filled_on_first_device(flags[i]),
              *h = filled_on_first_device(flags[i]);
        works(arrays_sum(s, f, FILLED, &r));
        assert_true(r == FILLED);
        works(arrays_dot(s, f, g, FILLED, &r));
        assert_true(r == FILLED);
        works(arrays_sum_squares(s, f, g, h, FILLED, &r));
        assert_true(r == 3.0 * FILLED);
        works(arrays_min(s, h, FILLED, &r));
        assert_true(r == 1);
        fill_on_first_device(f, 3); /* copies on other devices are outdated */
        works(arrays_sum(s, f, FILLED, &r));
        assert_true(r == 3.0 * FILLED);
        works(clfree(f));
        works(clfree(g));
        works(clfree(h));
    }
    arrays_free(s);
}

/* The sum on one device of a zero-copy block waits for a slow kernel on another. */
static void arrays_wait_for_writer_of_zero_copy_block(void **state)
{
    (void)state;
    enum { ITEMS = 200000 };
    const char *source = "__kernel void slow_ones(__global float *x) {\n"
                         "    const uint i = get_global_id(0);\n"
                         "    float v = i;\n"
                         "    for (int j = 0; j < 200; j++)\n"
                         "        v = sin(v) + 1.5f;\n"
                         "    x[i] = 1 + (v > 1e9f);\n"
                         "}\n";
    if (clgetndev(cp) < 2)
        skip();
    void *program = clsopen(cp, source, CLLD_NOW);
    ready(program);
    cl_kernel ones = clsym(cp, program, "slow_ones", 0);
    ready(ones);
    clndrange_t ndr = clndrange_init1d(0, ITEMS, 0);
    arrays *on_last = arrays_create(&(struct arrays_options){
        .ctx = cp, .type = ARRAYS_FLOAT, .first_device = clgetndev(cp) - 1, .devices = 1});
    ready(on_last);
    for (int i = 0; i < 5; i++) {
        double r;
        float *f = clmalloc(cp, ITEMS * sizeof *f, CL_MEM_ZEROCOPY);
        ready(f);
        started(clforka(cp, 0, ones, &ndr, CL_EVENT_NOWAIT, f));
        works(arrays_sum(on_last, f, ITEMS, &r));
        clwait(cp, 0, CL_ALL_EVENT);
        assert_true(r == ITEMS);
        works(clfree(f));
    }
    arrays_free(on_last);
    works(clclose(cp, program));
}

static void arrays_refuse_block_that_no_device_holds(void **state)
{
    (void)state;
    double r;
    float *f = clmalloc(cp, FILLED * sizeof *f, CL_MEM_PER_DEVICE);
    ready(f);
    arrays *s = make_array_sums(ARRAYS_FLOAT, ARRAYS_WIDE, ARRAYS_TUNED, NULL);
    fails(EINVAL, arrays_sum(s, f, FILLED, &r));
    assert_true(arrays_sum(s, f, FILLED, &r) == -1);
    const char *sentence = clerror();
    contains(sentence, "arrays_sum: device 0, ");
    contains(sentence, "holds no data");
    if (clgetndev(cp) > 1) { /* device 0 holds a part, which the library does not pass on */
        started(clmsyncn(cp, 0, f, 4096, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
        assert_true(arrays_max(s, f, FILLED, &r) == -1);
        contains(clerror(), "arrays_max: device 1, ");
    }
    works(arrays_upload(s, f, FILLED));
    works(arrays_sum(s, f, FILLED, &r));
    assert_true(r == 0);
    arrays_free(s);
    works(clfree(f));
}

/* arrays_sum over the output of a refused launch reports the launch's error, once. The output has
 * no data, or those of an earlier launch. */
static void arrays_sum_reports_earlier_refused_launch(void **state)
{
    (void)state;
    static const char fill[] = "__kernel void fill_with(__global float *x, float value)\n"
                               "{\n"
                               "    x[get_global_id(0)] = value;\n"
                               "}\n";
    double r;
    const cl_uint dev = 0;
    float *f = clmalloc(cp, FILLED * sizeof *f, CL_MEM_PER_DEVICE);
    arrays *s = arrays_create(&(struct arrays_options){
        .ctx = cp, .type = ARRAYS_FLOAT, .first_device = dev, .devices = 1});
    void *program = clsopen(cp, fill, CLLD_NOW);
    ready(f);
    ready(s);
    ready(program);
    for (int filled = 0; filled < 2; filled++) {
        if (filled) {
            started(clexec(cp, dev, clrange1(FILLED), fill_with, f, 1.0f));
            works(arrays_sum(s, f, FILLED, &r));
            assert_true(r == FILLED);
        }
        assert_true(clexec(cp, dev, clrange1(FILLED), fill_with, f, 2) == (cl_event)-1);
        assert_true(arrays_sum(s, f, FILLED, &r) == -1);
        contains(clerror(), "clexec: argument 1 of kernel fill_with");
        done(clwait(cp, dev, CL_ALL_EVENT)); /* reported once */
    }
    /* A launch that blocks reports its own refusal. The program may have dropped that. */
    float *g = clmalloc(cp, FILLED * sizeof *g, CL_MEM_PER_DEVICE);
    ready(g);
    clndrange_t ndr = clndrange_init1d(0, FILLED, 0);
    cl_kernel k = clsym(cp, program, "fill_with", 0);
    assert_true(clforka(cp, dev, k, &ndr, CL_EVENT_WAIT, g, 2) == (cl_event)-1);
    assert_true(arrays_sum(s, g, FILLED, &r) == -1);
    const char *sentence = clerror();
    contains(sentence, "holds no data");
    contains(sentence, "; before, clforka: argument 1 of kernel fill_with");
    arrays_free(s);
    works(clclose(cp, program));
    works(clfree(g));
    works(clfree(f));
}

/* ---- Extremes, small sizes, refusals. -------------------------------------------------------- */

static void arrays_min_and_max_match_reference(void **state)
{
    (void)state;
    float *f = x;
    double r;
    arrays *s = make_array_sums(ARRAYS_FLOAT, ARRAYS_WIDE, ARRAYS_TUNED, NULL);
    for (size_t k = 0; k < SIZES; k++) {
        const size_t n = sizes[k];
        for (size_t where = 0; where < n; where += n / 3 + 1) {
            for (size_t i = 0; i < MOST; i++)
                f[i] = i < n ? (float)(i % 1000) : 1e9f;
            f[where] = -7.5f;
            f[n - 1 - where] = n - 1 == 2 * where ? -7.5f : 4096.25f;
            offset_in_array(s, n);
            works(arrays_min(s, x, n, &r));
            same(r, -7.5);
            works(arrays_max(s, x, n, &r));
            if (n - 1 != 2 * where)
                same(r, 4096.25);
        }
        f[n / 2] = NAN;
        offset_in_array(s, n);
        works(arrays_min(s, x, n, &r));
        assert_true(isnan(r));
        works(arrays_max(s, x, n, &r));
        assert_true(isnan(r));
    }
    arrays_free(s);
}

/* Integers are added without rounding, so the tree agrees exactly; doubles nearly. */
static void arrays_tree_template_agrees(void **state)
{
    (void)state;
    double r;
    char *without = cltemplate(NULL, "", 0, NULL);
    if (!doubles_here || (!without && clerrno == ENOTSUP))
        skip();
    free(without);
    arrays *s = make_array_sums(ARRAYS_INT, ARRAYS_WIDE, ARRAYS_TREE, NULL);
    fill_array(ARRAYS_INT, x, 3);
    offset_in_array(s, MOST);
    for (size_t k = 0; k < SIZES; k++) {
        const size_t n = sizes[k];
        works(arrays_sum(s, x, n, &r));
        same(r, arrays_ref_sum(ARRAYS_INT, ARRAYS_WIDE, x, n));
    }
    arrays_free(s);
    s = make_array_sums(ARRAYS_DOUBLE, ARRAYS_WIDE, ARRAYS_TREE, "group=16 groups=5");
    fill_array(ARRAYS_DOUBLE, x, 1);
    fill_array(ARRAYS_DOUBLE, y, 2);
    offset_in_array(s, MOST);
    const double dot = arrays_ref_dot(ARRAYS_DOUBLE, ARRAYS_COMPENSATED, x, y, MOST);
    double first = NAN, absolute = 0;
    for (size_t i = 0; i < MOST; i++)
        absolute += fabs(((double *)x)[i] * ((double *)y)[i]);
    for (int run = 0; run < 3; run++) {
        works(arrays_dot(s, x, y, MOST, &r));
        assert_true(fabs(r - dot) <= 1e-14 * absolute);
        assert_true(run == 0 || r == first);
        first = r;
    }
    arrays_free(s);
    ready(s = arrays_create(NULL));
    fails(EFAULT, arrays_sum(s, &r, 1, &r));
    assert_true(arrays_sum(s, &r, 1, &r) == -1); /* the user named no context */
    contains(clerror(), stdgpu ? "this context, stdgpu, the default of .ctx"
                               : "this context, stdcpu, the default of .ctx without a GPU");
    arrays_free(s);
    s = make_array_sums(ARRAYS_LONG, ARRAYS_WIDE, ARRAYS_TREE, NULL);
    fails(EINVAL, arrays_sum(s, x, 1, &r));
    arrays_free(s);
}

static void arrays_rejects_bad_calls(void **state)
{
    (void)state;
    double r;
    int64_t i;
    float on_the_stack[4] = {0};
    arrays *s = make_array_sums(ARRAYS_FLOAT, ARRAYS_WIDE, ARRAYS_TUNED, NULL);
    works(arrays_sum(s, x, 0, &r));
    assert_true(r == 0);
    fails(EINVAL, arrays_min(s, x, 0, &r));
    fails(EINVAL, arrays_sum(s, x, 4, NULL));
    fails(EINVAL, arrays_dot(s, x, y, 4, NULL));
    fails(EINVAL, arrays_sum_squares(s, x, y, x, 4, NULL));
    fails(EINVAL, arrays_min(s, x, 4, NULL));
    fails(EINVAL, arrays_max(s, x, 4, NULL));
    fails(EINVAL, arrays_mean(s, x, 4, NULL));
    fails(EINVAL, arrays_variance(s, x, 4, &r, NULL));
    fails(EINVAL, arrays_sum(NULL, x, 4, &r));
    fails(EINVAL, arrays_sum_integer(NULL, x, 4, &i));
    fails(EINVAL, arrays_dot(NULL, x, y, 4, &r));
    fails(EINVAL, arrays_sum_squares(NULL, x, y, x, 4, &r));
    fails(EINVAL, arrays_variance(NULL, x, 4, &r, &r));
    offset_in_array(s, 4);
    fails(EINVAL, arrays_sum(s, (char *)x + 1, 4, &r));
    assert_true(arrays_sum(s, (char *)x + 1, 4, &r) == -1);
    contains(clerror(), "arrays_sum: the array begins 1 bytes after its block's begin");
    fails(EINVAL, arrays_mean(s, x, 0, &r));
    fails(EINVAL, arrays_variance(s, x, 1, NULL, &r));
    fails(EINVAL, arrays_sum(s, x, 2 * MOST + 1, &r));
    fails(EINVAL, arrays_sum_integer(s, x, 1, &i));
    fails(EINVAL, arrays_sum_squares(s, x, y, x, 2 * MOST + 1, &r));
    fails(EFAULT, arrays_sum_squares(s, x, y, on_the_stack, 4, &r));
    fails(EFAULT, arrays_sum(s, on_the_stack, 4, &r));
    arrays_free(s);
    arrays_free(NULL);
    s = make_array_sums(ARRAYS_INT, ARRAYS_WIDE, ARRAYS_TUNED, NULL);
    fails(EINVAL, arrays_dot(s, x, y, 1, &r));
    fails(EINVAL, arrays_sum_integer(s, x, 1, NULL));
    fails(EINVAL, arrays_sum_squares(s, x, y, x, 1, &r));
    arrays_free(s);
    struct arrays_options grown = {.ctx = cp};
    refuses_reserved(grown, arrays_create(&grown));
    fails_null(EINVAL,
               arrays_create(&(struct arrays_options){.ctx = cp, .type = (enum arrays_type)9}));
    static const char *const wrong[] = {"group=3", "width=32",   "colour=1",
                                        "group",   "group=2048", "unroll=64"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        s = make_array_sums(ARRAYS_FLOAT, ARRAYS_WIDE, ARRAYS_TUNED, wrong[k]);
        fails(EINVAL, arrays_sum(s, x, 1, &r));
        arrays_free(s);
    }
}

static int open_array_context(void **state)
{
    (void)state;
    cp = stddev;
    doubles_here = have_doubles(cp);
    x = clmalloc(cp, MOST * 8, 0);
    y = clmalloc(cp, MOST * 8, 0);
    return setup_done(x && y);
}

static int close_array_context(void **state)
{
    (void)state;
    return clfree(x) || clfree(y);
}

/* test_arrays [shapes] */
int main(int argc, char **argv)
{
    const struct CMUnitTest deep[] = {cmocka_unit_test(arrays_shapes_give_equal_bits)};
    is_deep = argc > 1 && strcmp(argv[1], "shapes") == 0;
    if (is_deep)
        return cmocka_run_group_tests_name("shapes", deep, open_array_context, close_array_context);
    struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_sum_many_blocks_exactly),
        cmocka_unit_test(arrays_integer_overflow_is_rejected),
        cmocka_unit_test(arrays_compensation_survives_cancellation),
        cmocka_unit_test(arrays_float_sums_are_near_exact),
        cmocka_unit_test(arrays_variance_of_large_numbers_is_exact),
        cmocka_unit_test(arrays_compensated_products_do_not_underflow),
        cmocka_unit_test(arrays_min_and_max_match_reference),
        cmocka_unit_test(arrays_tree_template_agrees),
        cmocka_unit_test(arrays_rejects_bad_calls),
        cmocka_unit_test(arrays_read_block_that_one_device_wrote),
        cmocka_unit_test(arrays_wait_for_writer_of_zero_copy_block),
        cmocka_unit_test(arrays_refuse_block_that_no_device_holds),
        cmocka_unit_test(arrays_sum_reports_earlier_refused_launch),
        /* Of the following, every n-th runs. */
        cmocka_unit_test(arrays_shapes_give_equal_bits),
        cmocka_unit_test(arrays_floats_in_doubles_match_reference),
        cmocka_unit_test(arrays_integer_sums_are_exact),
        cmocka_unit_test(arrays_compensated_floats_match_reference),
        cmocka_unit_test(arrays_doubles_match_reference),
        cmocka_unit_test(arrays_compensated_doubles_match_reference),
    };
    return sampled_run("arrays", tests, 13, 3, open_array_context, close_array_context);
}
