/* Compaction, sums of runs and segments, histograms: against loops in plain C. Arrays start at odd
 * elements, and elements beyond the results keep their values.
 * SPDX-License-Identifier: MIT
 */
#include "builds_once.h"
#include "check.h"
#include "deep.h"

#include <math.h>

#include "stdcl/arrays.h"
#include "stdcl/philox.h"

enum { MOST = 140000, BLOCKS = 6 }; /* on CPUs the host takes threads for 2^17 elements */
static const size_t sizes[] = {0, 1, 2, 255, 256, 257, 5000, 65536, MOST - 100};
enum { SIZES = sizeof sizes / sizeof *sizes };

static CLCONTEXT *cp;
static cl_uint dev;
/* In the device's shape (on CPUs: by the host), by kernels in nearly this shape, in groups of 64
 * items, and with look-back, also where groups do not wait for others. */
enum { SORTERS = 5 };
static arrays_sorter *sorter, *sorters[SORTERS];
static char *block[BLOCKS]; /* MOST elements of 8 bytes */
static cl_uint *number;     /* 16 numbers */
static bool doubles_here;

static philox4 draw(size_t i, uint32_t key)
{
    return philox4x32_10((philox4){(uint32_t)i, 0, 0, 0}, key, 3);
}

static void copy_all(int direction)
{
    for (int b = 0; b < BLOCKS; b++)
        done(clmsync(cp, dev, block[b], direction | CL_EVENT_WAIT));
    done(clmsync(cp, dev, number, direction | CL_EVENT_WAIT));
}

static uint64_t get(const void *x, int bytes, size_t i)
{
    return bytes == 4 ? ((const uint32_t *)x)[i] : ((const uint64_t *)x)[i];
}

static void put(void *x, int bytes, size_t i, uint64_t v)
{
    if (bytes == 4)
        ((uint32_t *)x)[i] = (uint32_t)v;
    else
        ((uint64_t *)x)[i] = v;
}

/* ---- Compaction. ----------------------------------------------------------------------------- */

static void compare_selection(int bytes, size_t n, bool flags, bool counted)
{
    const size_t shift = 3 * (size_t)bytes;
    void *x = block[0] + shift, *out = block[1] + 5 * shift;
    cl_uchar *flag = (cl_uchar *)block[2] + 1;
    for (size_t i = 0; i < n + 9; i++) {
        put(x, bytes, i, draw(i / 3, 1).x % 5 * 0x100000001u);
        flag[i] = (cl_uchar)(draw(i, 2).x % 3 ? 0 : 1 + i % 255);
        put(out, bytes, i, 99);
    }
    number[3] = (cl_uint)n;
    const struct arrays_select_job job = {.x = x,
                                          .flags = flags ? flag : NULL,
                                          .out = out,
                                          .selected = number + 5,
                                          .bytes = bytes,
                                          .most = counted ? n + 7 : n,
                                          .count = counted ? number + 3 : NULL};
    copy_all(CL_MEM_DEVICE);
    works(flags ? arrays_select(sorter, &job) : arrays_unique(sorter, &job));
    copy_all(CL_MEM_HOST);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (flags ? flag[i] != 0 : i == 0 || get(x, bytes, i) != get(x, bytes, i - 1))
            assert_true(get(out, bytes, kept++) == get(x, bytes, i));
    assert_int_equal(number[5], kept);
    assert_true(get(out, bytes, kept) == 99);
}

static void select_and_unique_match_loops(void **state)
{
    (void)state;
    for (int bytes = 4; bytes <= 8; bytes += 4)
        for (size_t k = 0; k < SIZES; k++)
            for (int kind = 0; kind < 4; kind++) {
                sorter = sorters[(bytes / 4 + (int)k + kind / 2 * 2) % SORTERS];
                compare_selection(bytes, sizes[k], kind % 2, kind / 2);
            }
}

/* ---- Sums of segments. ----------------------------------------------------------------------- */

static double select_value(enum arrays_type type, const void *x, size_t i)
{
    return type == ARRAYS_FLOAT    ? (double)((const float *)x)[i]
           : type == ARRAYS_DOUBLE ? ((const double *)x)[i]
           : type == ARRAYS_INT    ? ((const int32_t *)x)[i]
                                   : (double)((const int64_t *)x)[i];
}

static size_t bytes_of(enum arrays_type type)
{
    return type == ARRAYS_FLOAT || type == ARRAYS_INT ? 4 : 8;
}

static void fill(enum arrays_type type, void *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (type == ARRAYS_FLOAT)
            ((float *)x)[i] = philox_normal_float4(draw(i, 4)).x;
        else if (type == ARRAYS_DOUBLE)
            ((double *)x)[i] = philox_normal_double2(draw(i, 4)).x;
        else if (type == ARRAYS_INT)
            ((int32_t *)x)[i] = philox_int(draw(i, 4), INT32_MIN, INT32_MAX);
        else
            ((int64_t *)x)[i] = philox_long(draw(i, 4), INT64_MIN, INT64_MAX);
}

/* The documented order: 64 lanes, joined pairwise. */
static double real_sum(enum arrays_type type, const void *x, size_t begin, size_t end)
{
    double lane[64] = {0};
    for (size_t i = begin; i < end; i++)
        lane[(i - begin) % 64] += select_value(type, x, i);
    for (size_t apart = 1; apart < 64; apart *= 2)
        for (size_t l = 0; l < 64; l += 2 * apart)
            lane[l] += lane[l + apart];
    return type == ARRAYS_FLOAT ? (double)(float)lane[0] : lane[0];
}

static void check_sum(enum arrays_type type, const void *sums, size_t s, const void *x,
                      size_t begin, size_t end)
{
    uint64_t sum = 0;
    for (size_t i = begin; type >= ARRAYS_INT && i < end; i++)
        sum += get(x, (int)bytes_of(type), i);
    if (type >= ARRAYS_INT)
        assert_true(get(sums, (int)bytes_of(type), s) ==
                    (type == ARRAYS_INT ? (uint32_t)sum : sum));
    else if (doubles_here)
        assert_true(select_value(type, sums, s) == real_sum(type, x, begin, end));
    else
        assert_true(fabs(select_value(type, sums, s) - real_sum(type, x, begin, end)) < 1e-2);
}

static bool has_type(enum arrays_type type)
{
    return (type != ARRAYS_DOUBLE || doubles_here) && sampled(type, 3);
}

/* Lengths of segments: many short ones, empty ones, and some of many lanes. */
static size_t length_of(size_t i)
{
    return i % 11 == 0 ? 0 : i % 97 == 0 ? 3000 : draw(i, 5).x % (i % 7 ? 4 : 200);
}

static void compare_segments(enum arrays_type type, size_t segments)
{
    const size_t bytes = bytes_of(type);
    void *x = block[0] + 5 * bytes, *sums = block[1] + bytes;
    cl_uint *offsets = (cl_uint *)block[2] + 1;
    size_t n = 0;
    for (size_t i = 0; i <= segments; i++) {
        offsets[i] = (cl_uint)n;
        n = n + length_of(i) < MOST - 100 ? n + length_of(i) : n;
    }
    n = offsets[segments];
    fill(type, x, MOST - 10);
    put(sums, (int)bytes, segments, 99);
    const struct arrays_segments_job job = {
        .x = x, .offsets = offsets, .sums = sums, .type = type, .most = n, .segments = segments};
    copy_all(CL_MEM_DEVICE);
    works(arrays_segmented_sum(sorter, &job));
    copy_all(CL_MEM_HOST);
    for (size_t i = 0; i < segments; i++)
        check_sum(type, sums, i, x, offsets[i], offsets[i + 1]);
    assert_true(get(sums, (int)bytes, segments) == 99);
}

static void segmented_sums_match_loops(void **state)
{
    static const size_t counts[] = {0, 1, 5, 2000};
    (void)state;
    for (enum arrays_type type = ARRAYS_FLOAT; type <= ARRAYS_LONG; type++)
        for (size_t k = 0; k < 8 && has_type(type); k++) {
            sorter = sorters[k % SORTERS];
            compare_segments(type, counts[k / 2]);
        }
}

/* Offsets beyond the array, and descending ones, read nothing outside it. */
static void segmented_sums_stay_in_array(void **state)
{
    cl_uint *offsets = (cl_uint *)block[2];
    int32_t *x = (int32_t *)block[0], *sums = (int32_t *)block[1];
    const cl_uint bad[] = {0, 3, 2, UINT32_MAX, 900, UINT32_MAX};
    (void)state;
    memcpy(offsets, bad, sizeof bad);
    for (int i = 0; i < 100; i++)
        x[i] = i < 10 ? 1 : 1000;
    copy_all(CL_MEM_DEVICE);
    works(arrays_segmented_sum(sorter, &(const struct arrays_segments_job){.x = x,
                                                                           .offsets = offsets,
                                                                           .sums = sums,
                                                                           .type = ARRAYS_INT,
                                                                           .most = 10,
                                                                           .segments = 5}));
    copy_all(CL_MEM_HOST);
    assert_int_equal(sums[0], 3);
    assert_int_equal(sums[1], 0);
    assert_int_equal(sums[2], 8);
    assert_int_equal(sums[3], 0);
    assert_int_equal(sums[4], 0);
}

static void check_runs(int bytes, enum arrays_type type, size_t n)
{
    const size_t width = bytes_of(type);
    void *keys = block[0] + bytes, *values = block[1] + 3 * width, *unique = block[2] + bytes,
         *sums = block[3] + 7 * width;
    size_t key = 0, left = 0;
    for (size_t i = 0; i < n; i++, left--) {
        if (left == 0)
            left = 1 + length_of(++key);
        put(keys, bytes, i, key % 5 * 0x300000001u);
    }
    fill(type, values, n);
    copy_all(CL_MEM_DEVICE);
    works(arrays_reduce_by_key(sorter, &(const struct arrays_by_key_job){.keys = keys,
                                                                         .values = values,
                                                                         .unique = unique,
                                                                         .sums = sums,
                                                                         .runs = number + 1,
                                                                         .bytes = bytes,
                                                                         .type = type,
                                                                         .most = n}));
    copy_all(CL_MEM_HOST);
    size_t runs = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && get(keys, bytes, end) == get(keys, bytes, i); end++)
            ;
        assert_true(get(unique, bytes, runs) == get(keys, bytes, i));
        check_sum(type, sums, runs++, values, i, end);
    }
    assert_int_equal(number[1], runs);
}

static void sums_by_key_match_loops(void **state)
{
    (void)state;
    for (enum arrays_type type = ARRAYS_FLOAT; type <= ARRAYS_LONG; type++)
        for (size_t k = 0; k < 2 * SIZES && has_type(type); k++) {
            sorter = sorters[k % SORTERS];
            check_runs(type % 2 ? 8 : 4, type, sizes[k / 2]);
        }
}

/* Tiles have fewer runs than items. Optimised, since PoCL 3.1 goes wrong only in optimised code. */
static void sums_by_key_match_loops_optimised(void **state)
{
    static const size_t counts[] = {1, 31, 64, 65, 129, 5000};
    (void)state;
    builds_unoptimised = false;
    sorter = arrays_sorter_create(&(struct arrays_sorter_options){
        .ctx = cp, .dev = dev, .shape = "group=64 items=2 look_back=1"});
    assert_non_null(sorter);
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        check_runs(4, ARRAYS_INT, counts[k]);
    arrays_sorter_free(sorter);
    sorter = sorters[0];
    builds_unoptimised = true;
}

/* ---- Histograms. ----------------------------------------------------------------------------- */

static void compare_bins(const struct arrays_histogram_job *job, const uint32_t *expected)
{
    for (cl_uint b = 0; b <= job->nbins; b++)
        job->bins[b] = 77;
    copy_all(CL_MEM_DEVICE);
    works(arrays_histogram(sorter, job));
    copy_all(CL_MEM_HOST);
    for (cl_uint b = 0; b < job->nbins; b++)
        assert_int_equal(job->bins[b], expected[b]);
    assert_int_equal(job->bins[job->nbins], 77);
}

static void histograms_of_integers_match_loops(void **state)
{
    static const struct {
        double lower, upper;
        cl_uint nbins;
    } cases[] = {{-1000, 1000, 7},    {0, 1, 1},
                 {-7, 4096, 4103},    {-2147483648.0, 2147483648.0, 10},
                 {-900, 5000, 70001}, {-3e9, 3e9, 9973}};
    static uint32_t expected[70001];
    int32_t *x = (int32_t *)block[0] + 1;
    (void)state;
    for (size_t i = 0; i < MOST - 5; i++)
        x[i] = philox_int(draw(i, 6), -1200, 5000) * (i % 4 ? 1 : 100000);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t k = 0; k < SIZES; k += 4) {
            sorter = sorters[(c + k / 4) % SORTERS];
            const int64_t lower = (int64_t)cases[c].lower, upper = (int64_t)cases[c].upper;
            memset(expected, 0, sizeof expected);
            for (size_t i = 0; i < sizes[k]; i++)
                if (x[i] >= lower && x[i] < upper)
                    expected[(x[i] - lower) * cases[c].nbins / (upper - lower)]++;
            compare_bins(&(const struct arrays_histogram_job){.x = x,
                                                              .bins = (cl_uint *)block[1] + 3,
                                                              .type = ARRAYS_INT,
                                                              .lower = cases[c].lower,
                                                              .upper = cases[c].upper,
                                                              .nbins = cases[c].nbins,
                                                              .most = sizes[k]},
                         expected);
        }
}

static void histograms_of_bytes_and_floats_match_loops(void **state)
{
    static uint32_t bytes[256], bins[64];
    unsigned char *x = (unsigned char *)block[0] + 1;
    float *f = (float *)block[2] + 1;
    (void)state;
    for (size_t i = 0; i < MOST - 5; i++) {
        x[i] = (unsigned char)(draw(i, 7).x >> 24);
        f[i] = i % 100 == 3   ? NAN
               : i % 100 == 4 ? INFINITY
               : i % 100 == 5 ? -4
               : i % 100 == 6 ? 4
               : i % 100 == 7 ? nextafterf(4, 0)
                              : philox_normal_float4(draw(i, 8)).y * 3;
        bytes[x[i]]++;
        if (f[i] >= -4 && f[i] < 4) /* the width, 1/8, is a power of two: exact but for the ends */
            bins[f[i] == nextafterf(4, 0) ? 63 : (int)floorf((f[i] + 4) * 8)]++;
    }
    for (int i = 0; i < SORTERS; i++) {
        sorter = sorters[i];
        compare_bins(&(const struct arrays_histogram_job){.x = x,
                                                          .bins = (cl_uint *)block[1],
                                                          .of_bytes = 1,
                                                          .upper = 256,
                                                          .nbins = 256,
                                                          .most = MOST - 5},
                     bytes);
    }
    /* bytes in wider bins, from another place on, and not all of them */
    for (cl_uint from = 0; from < 9; from++) {
        uint32_t few[8] = {0};
        for (size_t i = 0; i < 20 * from; i++)
            if (x[from + i] >= 16 && x[from + i] < 240)
                few[(x[from + i] - 16) * 7 / 224]++;
        sorter = sorters[from % SORTERS];
        compare_bins(&(const struct arrays_histogram_job){.x = x + from,
                                                          .bins = (cl_uint *)block[1] + from,
                                                          .of_bytes = 1,
                                                          .lower = 16,
                                                          .upper = 240,
                                                          .nbins = 7,
                                                          .most = 20 * (size_t)from},
                     few);
    }
    for (int i = 0; i < SORTERS; i++) {
        sorter = sorters[i];
        compare_bins(&(const struct arrays_histogram_job){.x = f,
                                                          .bins = (cl_uint *)block[1],
                                                          .lower = -4,
                                                          .upper = 4,
                                                          .nbins = 64,
                                                          .most = MOST - 5},
                     bins);
    }
}

/* Elements in the middle of their bins, which are subnormally narrow, wider than the largest
 * number, or neither; the ends are counted as numbers of the elements' type. */
static void histograms_of_extreme_ranges_match_closed_form(void **state)
{
    static const struct {
        double lower, upper;
    } floats[] = {{0, 1e-36},        {-1e-36, 1e-36},   {1e-37, 3e-36},      {-3.2e38, 3.2e38},
                  {0, 3.4e38},       {-1e300, 1e300},   {-1e38, 1e40},       {0, 0x1p-64},
                  {-0x1p64, 0x1p64}, {-1e-30, 0x1p100}, {0x1p-130, 0x1p-120}};
    static const struct {
        double lower, upper;
    } doubles[] = {{0, 1e-306},  {-1e-300, 1e-300},      {-1.6e308, 1.6e308},
                   {0, 1.7e308}, {0x1p-1060, 0x1p-1000}, {-1e-150, 1e-150}};
    static const cl_uint bin_counts[] = {1, 10, 4096, 65535};
    static uint32_t expected[65536];
    float *f = (float *)block[0];
    double *d = (double *)block[0];
    (void)state;
    const size_t nfloats = sizeof floats / sizeof *floats,
                 ndoubles = doubles_here ? sizeof doubles / sizeof *doubles : 0;
    for (size_t i = 0; i < 4 * (nfloats + ndoubles); i++) {
        const bool is_double = i / 4 >= nfloats;
        const cl_uint nbins = bin_counts[i % 4];
        const double lower = is_double ? doubles[i / 4 - nfloats].lower : floats[i / 4].lower,
                     upper = is_double ? doubles[i / 4 - nfloats].upper : floats[i / 4].upper;
        size_t n = 0;
        memset(expected, 0, sizeof expected);
        for (cl_uint bin = 0; bin < nbins; bin += nbins / 7 + 1) {
            const double part = (bin + 0.5) / nbins, v = lower * (1 - part) + upper * part;
            if (!is_double && !isfinite((float)v))
                continue;
            if (is_double)
                d[n++] = v;
            else
                f[n++] = (float)v;
            expected[bin]++;
        }
        compare_bins(
            &(const struct arrays_histogram_job){.x = f,
                                                 .bins = (cl_uint *)block[1],
                                                 .type = is_double ? ARRAYS_DOUBLE : ARRAYS_FLOAT,
                                                 .lower = lower,
                                                 .upper = upper,
                                                 .nbins = nbins,
                                                 .most = n},
            expected);
    }
    f[0] = 0.7f, f[1] = 0.1f, f[2] = nextafterf(0.1f, 0), f[3] = nextafterf(0.7f, 1);
    expected[0] = 1, expected[1] = 0, expected[2] = 1; /* 0.7f < 0.7, 0.1f > 0.1 */
    compare_bins(
        &(const struct arrays_histogram_job){
            .x = f, .bins = (cl_uint *)block[1], .lower = 0.1, .upper = 0.7, .nbins = 3, .most = 4},
        expected);
    /* lower as a float is more than a bin below it: the place of the last float is beyond all */
    f[0] = nextafterf(277.0536f, 0);
    memset(expected, 0, 118 * sizeof *expected);
    expected[117] = 1;
    for (int i = 0; i < SORTERS; i++) {
        sorter = sorters[i];
        compare_bins(&(const struct arrays_histogram_job){.x = f,
                                                          .bins = (cl_uint *)block[1],
                                                          .lower = 277.0522,
                                                          .upper = f[0] + 1e-9,
                                                          .nbins = 118,
                                                          .most = 1},
                     expected);
    }
    sorter = sorters[0];
}

/* Elements on the edges of bins and one number below them: where w and its multiples are whole, the
 * bin of an edge is exact. nbins bins of width w from `lower` on. */
static void compare_edges(bool is_double, int lower, int w, cl_uint nbins)
{
    static uint32_t expected[1001];
    float *f = (float *)block[0] + 1;
    double *d = (double *)block[0] + 1;
    const int upper = lower + w * (int)nbins;
    memset(expected, 0, sizeof expected);
    for (cl_uint i = 0; i <= nbins; i++) {
        const int edge = lower + w * (int)i;
        if (is_double)
            d[2 * i] = edge, d[2 * i + 1] = nextafter(edge, -INFINITY);
        else
            f[2 * i] = (float)edge, f[2 * i + 1] = nextafterf((float)edge, -INFINITY);
        if (i < nbins)
            expected[i]++;
        if (i > 0)
            expected[i - 1]++;
    }
    compare_bins(
        &(const struct arrays_histogram_job){.x = is_double ? (void *)d : f,
                                             .bins = (cl_uint *)block[1],
                                             .type = is_double ? ARRAYS_DOUBLE : ARRAYS_FLOAT,
                                             .lower = lower,
                                             .upper = upper,
                                             .nbins = nbins,
                                             .most = 2 * nbins + 2},
        expected);
}

static void histograms_count_edges_in_upper_bin(void **state)
{
    static const cl_uint counts[] = {2, 7, 103, 1000};
    (void)state;
    for (int w = 1; w <= 200; w++)
        for (int is_double = 0; is_double <= doubles_here; is_double++) {
            sorter = sorters[(w + is_double) % SORTERS];
            compare_edges(is_double, 0, w, counts[w % 4]);
            sorter = sorters[w % 2 ? 0 : 1 + w / 2 % (SORTERS - 1)];
            compare_edges(is_double, 1 - w * w, w, counts[(w + 1) % 4]);
        }
    sorter = sorters[0];
}

/* ---- Refusals. ------------------------------------------------------------------------------- */

static void select_rejects_bad_jobs(void **state)
{
    (void)state;
    const struct arrays_select_job good = {.x = block[0],
                                           .flags = (cl_uchar *)block[2],
                                           .out = block[1],
                                           .selected = number,
                                           .bytes = 4,
                                           .most = 100};
    struct arrays_select_job job = good;
    uint64_t own[4] = {0};
    copy_all(CL_MEM_DEVICE);
#define refuse(code, ...)                                                                          \
    do {                                                                                           \
        job = good;                                                                                \
        __VA_ARGS__;                                                                               \
        fails(code, arrays_select(sorter, &job));                                                  \
        fails(code, arrays_select_start(sorter, &job));                                            \
    } while (0)
    refuse(EINVAL, job.bytes = 2);
    refuse(EINVAL, job.most = MOST * 2 + 1);
    refuse(EINVAL, job.out = block[0] + 4);
    refuse(EINVAL, job.x = block[0] + 1);
    refuse(EINVAL, job.reserved[7] = 1);
    refuse(EINVAL, job.selected = (cl_uint *)block[1]);
    refuse(EFAULT, job.flags = NULL);
    refuse(EFAULT, job.selected = NULL);
    refuse(EFAULT, job.x = own);
    fails(EINVAL, arrays_select(NULL, &good));
    fails(EINVAL, arrays_unique(NULL, &good));
#undef refuse
    const struct arrays_histogram_job bins = {
        .x = block[0], .bins = (cl_uint *)block[1], .upper = 1, .nbins = 4, .most = 9};
    struct arrays_histogram_job h;
#define refuse(...)                                                                                \
    do {                                                                                           \
        h = bins;                                                                                  \
        __VA_ARGS__;                                                                               \
        fails(EINVAL, arrays_histogram(sorter, &h));                                               \
    } while (0)
    refuse(h.upper = 0);
    refuse(h.most = ((size_t)1 << 31) + 1);
    refuse(h.most = MOST * 4); /* beyond the block */
    refuse(h.upper = NAN);
    refuse(h.upper = INFINITY);
    refuse(h.nbins = 0);
    refuse(h.nbins = 2 * MOST + 1);
    refuse(h.type = (enum arrays_type)7);
    refuse(h.type = ARRAYS_INT, h.upper = 1.5);
    refuse(h.type = ARRAYS_LONG, h.upper = 0x1p53, h.nbins = 100000);
    assert_true(arrays_histogram(sorter, &h) == -1);
    contains(clerror(), "take at most 1024 bins");
    refuse(h.bins = (cl_uint *)block[0]);
    refuse(h.lower = 1, h.upper = 1 + 1e-12); /* one float */
#undef refuse
    struct arrays_segments_job s = {.x = block[0],
                                    .offsets = (cl_uint *)block[1],
                                    .sums = block[2],
                                    .segments = MOST * 2,
                                    .most = 3};
    fails(EINVAL, arrays_segmented_sum(sorter, &s));
    s.segments = 3;
    s.sums = block[1] + 8;
    assert_true(arrays_segmented_sum(sorter, &s) == -1);
    contains(clerror(), "arrays_segmented_sum: offsets, 16 bytes, and sums, 12 bytes, overlap");
    fails(EINVAL, arrays_segmented_sum(NULL, &s));
    fails(EINVAL, arrays_scan(sorter, NULL));
    fails(EINVAL, arrays_scan_start(sorter, NULL));
    fails(EINVAL, arrays_sort(sorter, NULL));
    fails(EINVAL, arrays_select(sorter, NULL));
    fails(EINVAL, arrays_unique_start(sorter, NULL));
    fails(EINVAL, arrays_reduce_by_key(sorter, NULL));
    fails(EINVAL, arrays_segmented_sum(sorter, NULL));
    fails(EINVAL, arrays_histogram(sorter, NULL));
    assert_int_equal(arrays_sort_workspace(sorter, NULL), 0);
    contains(clerror(), "arrays_sort_workspace: the job is NULL");
    const struct arrays_by_key_job k = {.keys = block[0],
                                        .values = block[1],
                                        .unique = block[0],
                                        .sums = block[3],
                                        .runs = number,
                                        .bytes = 4,
                                        .most = 3};
    fails(EINVAL, arrays_reduce_by_key(sorter, &k));
    fails(EINVAL, arrays_reduce_by_key(NULL, &k));
}

/* After the other tests: on CPUs the first sorter has launched nothing. */
static void host_of_cpu_used_no_kernel(void **state)
{
    cl_device_type type = 0;
    (void)state;
    clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_TYPE, sizeof type, &type, NULL);
    if (type & CL_DEVICE_TYPE_CPU && doubles_here)
        assert_string_equal(arrays_sorter_shape(sorters[0]), "");
}

static int open_select(void **state)
{
    (void)state;
    cp = stddev;
    dev = clgetndev(cp) - 1;
    builds_unoptimised = true;
    doubles_here = have_doubles(cp);
    bool all = true;
    for (int b = 0; b < BLOCKS; b++)
        all = (block[b] = clmalloc(cp, MOST * 8, CL_MEM_ZEROCOPY)) && all;
    number = clmalloc(cp, 64, CL_MEM_ZEROCOPY);
    static const char *const shapes[] = {NULL, "groups_per_unit=3", "group=64 items=4",
                                         "group=64 items=7 look_back=1",
                                         "group=32 items=5 look_back=1 polls=0"};
    for (int i = 0; i < SORTERS; i++)
        all = (sorters[i] = arrays_sorter_create(
                   &(struct arrays_sorter_options){.ctx = cp, .dev = dev, .shape = shapes[i]})) &&
              all;
    sorter = sorters[0];
    return setup_done(all && number);
}

static int close_select(void **state)
{
    (void)state;
    for (int i = 0; i < SORTERS; i++)
        arrays_sorter_free(sorters[i]);
    for (int b = 0; b < BLOCKS; b++)
        if (clfree(block[b]) != 0)
            return -1;
    return clfree(number);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(select_and_unique_match_loops),
        cmocka_unit_test(segmented_sums_match_loops),
        cmocka_unit_test(segmented_sums_stay_in_array),
        cmocka_unit_test(sums_by_key_match_loops),
        cmocka_unit_test(sums_by_key_match_loops_optimised),
        cmocka_unit_test(histograms_of_integers_match_loops),
        cmocka_unit_test(histograms_of_bytes_and_floats_match_loops),
        cmocka_unit_test(histograms_of_extreme_ranges_match_closed_form),
        cmocka_unit_test(histograms_count_edges_in_upper_bin),
        cmocka_unit_test(select_rejects_bad_jobs),
        cmocka_unit_test(host_of_cpu_used_no_kernel),
    };
    return cmocka_run_group_tests_name("select", tests, open_select, close_select);
}
