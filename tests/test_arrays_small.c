/* Small arrays summed by the host: equal bits to plain C in the same order, and to kernels, for
 * every operation, type, length and offset; with every instruction set of this processor; and
 * without a kernel.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include <math.h>
#include <sys/stat.h>

#include "arrays/arrays_ref.h"
#include "arrays/internal.h"
#include "core/thread_pool.h"
#include "files.h"
#include "stdcl/philox.h"

enum {
    MOST = 200001,
    AT = 96
}; /* AT: elements in front of a place inside an array, for arrays of any type 128 bytes and more */
static const size_t sizes[] = {1,    2,    7,    63,    64,    65,    127,   2047,
                               2048, 2049, 2113, 32767, 32768, 32769, 65537, MOST - AT};
enum { SIZES = sizeof sizes / sizeof *sizes };

static CLCONTEXT *cp;
static bool shared; /* all devices share the host's memory, and have doubles */
static char *x, *y; /* MOST elements of 8 bytes */

static uint32_t small_random_word(size_t i, uint32_t key)
{
    return philox4x32_10((philox4){(uint32_t)i, 0, 0, 0}, key, 0).x;
}

/* Elements of mixed size and sign. */
static void fill_small_array(enum arrays_type type, void *array, uint32_t key)
{
    for (size_t i = 0; i < MOST; i++) {
        const uint32_t w = small_random_word(i, key);
        const double d = ldexp((double)w - 2147483648.0, (int)(w % 40) - 50);
        if (type == ARRAYS_FLOAT)
            ((float *)array)[i] = (float)d;
        else if (type == ARRAYS_DOUBLE)
            ((double *)array)[i] = d * (1 + (double)small_random_word(i, key + 9) / 3e18);
        else if (type == ARRAYS_INT)
            ((int32_t *)array)[i] = (int32_t)w;
        else
            ((int64_t *)array)[i] =
                (int64_t)((uint64_t)w << (w % 13)) - (int64_t)small_random_word(i, key + 1);
    }
}

#define same(a, b) check_small_sum_bits((a), (b), n, __LINE__)
static void check_small_sum_bits(double a, double b, size_t n, int line)
{
    if (memcmp(&a, &b, sizeof a) != 0) {
        print_error("n = %zu: %.17g is not %.17g\n", n, a, b);
        _fail(__FILE__, line);
    }
}

static arrays *make_small_sums(enum arrays_type type, enum arrays_accumulator accumulator,
                               const char *shape)
{
    arrays *s = arrays_create(&(struct arrays_options){
        .ctx = cp, .type = type, .accumulator = accumulator, .shape = shape});
    ready(s);
    return s;
}

/* Devices with memory of their own sum the array themselves: they read the copy. */
static void offset_in_small_array(arrays *s, const void *a, size_t n)
{
    works(arrays_upload(s, a, n));
}

/* ---- As plain C does it. --------------------------------------------------------------------- */

static double extreme_of_small_array(enum arrays_type type, const void *a, size_t n, bool greatest)
{
    double found = NAN;
    for (size_t i = 0; i < n; i++) {
        const double v = type == ARRAYS_FLOAT    ? (double)((const float *)a)[i]
                         : type == ARRAYS_DOUBLE ? ((const double *)a)[i]
                         : type == ARRAYS_INT    ? ((const int32_t *)a)[i]
                                                 : (double)((const int64_t *)a)[i];
        found = i == 0 || (greatest ? v > found : v < found) ? v : found;
    }
    return found;
}

/* Integers are exact. */
static double right_sum(enum arrays_type type, enum arrays_accumulator accumulator, const void *a,
                        size_t n)
{
    arrays_integer sum = 0;
    for (size_t i = 0; type == ARRAYS_LONG && i < n; i++)
        sum += ((const int64_t *)a)[i];
    return type == ARRAYS_LONG ? (double)sum : arrays_ref_sum(type, accumulator, a, n);
}

static void compare_small_sums_with_reference(enum arrays_type type,
                                              enum arrays_accumulator accumulator)
{
    arrays *s = make_small_sums(type, accumulator, NULL);
    const size_t bytes = type == ARRAYS_FLOAT || type == ARRAYS_INT ? 4 : 8;
    double r, mean;
    fill_small_array(type, x, 1);
    fill_small_array(type, y, 2);
    for (size_t k = 0; k < 2 * SIZES; k++) {
        const size_t n = sizes[k / 2];
        const void *a = x + k % 2 * AT * bytes, *b = y + (k + 1) % 2 * AT * bytes;
        offset_in_small_array(s, a, n);
        offset_in_small_array(s, b, n);
        works(arrays_sum(s, a, n, &r));
        same(r, right_sum(type, accumulator, a, n));
        if (type <= ARRAYS_DOUBLE) {
            works(arrays_dot(s, a, b, n, &r));
            same(r, arrays_ref_dot(type, accumulator, a, b, n));
            works(arrays_sum_squares(s, b, a, b, n, &r));
            same(r, arrays_ref_squares(type, accumulator, b, a, b, n));
        }
        if (n > 1) {
            works(arrays_variance(s, a, n, &mean, &r));
            same(r, arrays_ref_deviations(type, accumulator, a, n, mean) / (double)(n - 1));
        }
        works(arrays_min(s, a, n, &r));
        same(r, extreme_of_small_array(type, a, n, false));
        works(arrays_max(s, a, n, &r));
        same(r, extreme_of_small_array(type, a, n, true));
    }
    arrays_free(s);
}

static void small_arrays_match_reference(void **state)
{
    (void)state;
    for (int type = ARRAYS_FLOAT; shared && type <= ARRAYS_LONG; type++)
        for (int how = ARRAYS_WIDE;
             how <= (type <= ARRAYS_DOUBLE ? ARRAYS_COMPENSATED : ARRAYS_WIDE); how++)
            compare_small_sums_with_reference((enum arrays_type)type, (enum arrays_accumulator)how);
}

/* ---- As kernels do it. ----------------------------------------------------------------------- */

static void small_arrays_match_kernels(void **state)
{
    (void)state;
    static const struct {
        enum arrays_type type;
        enum arrays_accumulator how;
    } some[] = {{ARRAYS_FLOAT, ARRAYS_WIDE},
                {ARRAYS_DOUBLE, ARRAYS_COMPENSATED},
                {ARRAYS_LONG, ARRAYS_WIDE}};
    for (size_t c = 0; shared && c < sizeof some / sizeof *some; c++) {
        arrays *host = make_small_sums(some[c].type, some[c].how, "host=20"),
               *device = make_small_sums(some[c].type, some[c].how, "host=0");
        fill_small_array(some[c].type, x, 5);
        for (size_t k = 0; k < SIZES; k++) {
            const size_t n = sizes[k];
            double a, b;
            works(arrays_sum(host, x, n, &a));
            works(arrays_sum(device, x, n, &b));
            same(a, b);
        }
        arrays_free(host);
        arrays_free(device);
    }
}

/* Infinities and NaN reach the result from every position. */
static void small_arrays_propagate_nan_and_infinity(void **state)
{
    (void)state;
    double *d = (double *)(void *)x, r;
    static const size_t places[] = {0, 63, 64, 2047, 2048, 5000, 5001};
    for (int how = ARRAYS_WIDE; shared && how <= ARRAYS_COMPENSATED; how++) {
        arrays *s = make_small_sums(ARRAYS_DOUBLE, (enum arrays_accumulator)how, NULL);
        for (size_t k = 0; k < sizeof places / sizeof *places; k++) {
            for (size_t i = 0; i < 5002; i++)
                d[i] = (double)i;
            d[places[k]] = -INFINITY;
            works(arrays_sum(s, d, 5002, &r));
            assert_true(r == -INFINITY);
            works(arrays_min(s, d, 5002, &r));
            assert_true(r == -INFINITY);
            d[places[k]] = NAN;
            works(arrays_sum(s, d, 5002, &r));
            assert_true(isnan(r));
            works(arrays_min(s, d, 5002, &r));
            assert_true(isnan(r));
            works(arrays_max(s, d, 5002, &r));
            assert_true(isnan(r));
        }
        arrays_free(s);
    }
}

/* ---- By all instructions. -------------------------------------------------------------------- */

static size_t sets_here(reduce_host_block **work, enum arrays_type type, struct arrays_partial kind)
{
    size_t n = 0;
    work[n++] = arrays_reduce_host_any(type, kind);
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        work[n++] = arrays_reduce_host_avx2(type, kind);
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        work[n++] = arrays_reduce_host_avx512(type, kind);
#endif
    return n;
}

static void blocks_of_kind(enum arrays_type type, struct arrays_partial kind, enum reduce_op op)
{
    enum { BLOCKS = 2, N = BLOCK + 2048 + 64 + 5 };
    double right[2 * BLOCKS], found[2 * BLOCKS];
    reduce_host_block *work[3];
    const size_t sets = sets_here(work, type, kind);
    for (size_t set = 0; set < sets; set++) {
        double *partial = set ? found : right;
        ready(work[set]);
        memset(partial, 0, sizeof right);
        const struct reduce_host_job job = {op, x, y, y, N, {1e-3, 1e-20}, partial};
        for (size_t b = 0; b < BLOCKS; b++)
            work[set](&job, b);
        assert_true(set == 0 || memcmp(right, found, sizeof right) == 0);
    }
}

static void small_arrays_instruction_sets_agree(void **state)
{
    (void)state;
    static const enum arrays_wide own[] = {WIDE_FLOAT, WIDE_DOUBLE, WIDE_INT, WIDE_LONG};
    for (int t = ARRAYS_FLOAT; t <= ARRAYS_LONG; t++) {
        const enum arrays_type type = (enum arrays_type)t;
        fill_small_array(type, x, 7);
        fill_small_array(type, y, 8);
        blocks_of_kind(type, (struct arrays_partial){own[t], JOIN_MIN}, OP_MIN);
        blocks_of_kind(type, (struct arrays_partial){own[t], JOIN_MAX}, OP_MAX);
        blocks_of_kind(type, (struct arrays_partial){WIDE_DOUBLE, JOIN_ADD}, OP_DEVIATIONS);
        blocks_of_kind(type, (struct arrays_partial){WIDE_DOUBLE, JOIN_ADD}, OP_OFFSETS);
        for (enum reduce_op op = OP_SUM; type <= ARRAYS_DOUBLE && op <= OP_DEVIATIONS; op++) {
            blocks_of_kind(type, (struct arrays_partial){WIDE_DOUBLE, JOIN_ADD}, op);
            blocks_of_kind(type, (struct arrays_partial){own[t], JOIN_PAIRS}, op);
            if (op != OP_SUM)
                blocks_of_kind(type, (struct arrays_partial){WIDE_DOUBLE, JOIN_PAIRS}, op);
        }
    }
    fill_small_array(ARRAYS_INT, x, 7);
    blocks_of_kind(ARRAYS_INT, (struct arrays_partial){WIDE_LONG, JOIN_ADD}, OP_SUM);
    fill_small_array(ARRAYS_LONG, x, 7);
    blocks_of_kind(ARRAYS_LONG, (struct arrays_partial){WIDE_LONG, JOIN_HALVES}, OP_SUM);
}

/* ---- Choice of path. ------------------------------------------------------------------------- */

static int sum_error_of(void *count, uint64_t done)
{
    *(uint64_t *)count = done;
    return 0;
}

/* With kernels that do not compile: small arrays need none; larger arrays and memory that is not
 * shared do. */
static void small_arrays_need_no_kernel(void **state)
{
    (void)state;
    double r;
    uint64_t done = 0;
    void *apart = clmalloc(cp, 8, 0);
    ready(apart);
    assert_int_equal(mkdir(in_folder("arrays"), 0755), 0);
    put_text(in_folder("arrays/sum.cl"), "#error this is not to be compiled\n");
    put_text(in_folder("arrays/fixed_reduce.h"), "\n");
    setenv("STDCL_KERNEL_PATH", files_folder, 1);
    arrays *s = arrays_create(&(struct arrays_options){
        .ctx = cp, .type = ARRAYS_INT, .shape = "host=16", .progress = sum_error_of, .arg = &done});
    ready(s);
    fill_small_array(ARRAYS_INT, x, 3);
    if (shared) {
        works(arrays_sum(s, x, 1 << 16, &r));
        assert_true(r == arrays_ref_sum(ARRAYS_INT, ARRAYS_WIDE, x, 1 << 16));
        assert_true(done == 1 << 16);
    }
    assert_int_equal(arrays_sum(s, x, (1 << 16) + 1, &r), -1);
    assert_int_equal(arrays_sum(s, apart, 1, &r), -1);
    unsetenv("STDCL_KERNEL_PATH");
    works(arrays_sum(s, apart, 0, &r));
    arrays_free(s);
    works(clfree(apart));
}

/* The host waits for pending writes of devices. */
static void small_arrays_wait_for_running_kernels(void **state)
{
    (void)state;
    enum { N = 1 << 16 };
    void *program = clsopen(
        cp, "__kernel void ones(__global int *a, int v) { a[get_global_id(0)] = v; }", CLLD_NOW);
    ready(program);
    cl_kernel ones = clsym(cp, program, "ones", CLLD_NOW);
    ready(ones);
    arrays *s = make_small_sums(ARRAYS_INT, ARRAYS_WIDE, NULL);
    for (int v = 1; shared && v <= 20; v++) {
        clndrange_t ndr = clndrange_init1d(0, N, 64);
        double r;
        clarg_set_global(cp, ones, 0, x);
        clarg_set(cp, ones, 1, v);
        for (cl_uint dev = 0; dev < clgetndev(cp); dev++)
            assert_true(clfork(cp, dev, ones, &ndr, CL_EVENT_NOWAIT) != (cl_event)-1);
        works(arrays_sum(s, x, N, &r));
        assert_true(r == (double)v * N);
    }
    arrays_free(s);
    works(clclose(cp, program));
}

/* Each part runs once, and before thread_pool_for returns, on threads that are awake or asleep. */
enum { PARTS = 40 };

static void count_pool_part(void *counts, size_t part)
{
    ((int *)counts)[part]++;
}

static void thread_pool_runs_each_part_once(void **state)
{
    (void)state;
    struct thread_pool *team = thread_pool_create(4);
    ready(team);
    for (size_t round = 0; round < 3000; round++) {
        int counts[PARTS] = {0};
        const size_t parts = round % (PARTS + 1);
        if (round % 100 == 99)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        thread_pool_for(team, parts, round % 3 == 0, count_pool_part, counts);
        for (size_t i = 0; i < PARTS; i++)
            assert_int_equal(counts[i], i < parts);
    }
    for (size_t i = 0; i < team->threads && team->avoided >= 0;
         i++) { /* woken threads stay off the caller's processor */
        cpu_set_t set;
        assert_int_equal(pthread_getaffinity_np(team->thread[i], sizeof set, &set), 0);
        assert_true(CPU_COUNT(&set) > 0);
        assert_false(CPU_ISSET((size_t)team->avoided, &set));
    }
    thread_pool_free(team);
    thread_pool_free(NULL);
}

/* ---- All of it. ------------------------------------------------------------------------------ */

static int open_small_context(void **state)
{
    cp = stddev;
    shared = have_doubles(cp);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        cl_device_type type = 0;
        char name[256] = "";
        clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_TYPE, sizeof type, &type, NULL);
        clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_NAME, sizeof name, name, NULL);
        shared = shared && type & CL_DEVICE_TYPE_CPU && !strstr(name, "Oclgrind");
    }
    x = clmalloc(cp, MOST * 8, CL_MEM_ZEROCOPY);
    y = clmalloc(cp, MOST * 8, CL_MEM_ZEROCOPY);
    return files_create(state) || setup_done(x && y);
}

static int close_small_context(void **state)
{
    return files_remove(state) || clfree(x) || clfree(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_arrays_match_reference),
        cmocka_unit_test(small_arrays_match_kernels),
        cmocka_unit_test(small_arrays_propagate_nan_and_infinity),
        cmocka_unit_test(small_arrays_instruction_sets_agree),
        cmocka_unit_test(small_arrays_need_no_kernel),
        cmocka_unit_test(small_arrays_wait_for_running_kernels),
        cmocka_unit_test(thread_pool_runs_each_part_once),
    };
    return cmocka_run_group_tests_name("arrays_small", tests, open_small_context,
                                       close_small_context);
}
