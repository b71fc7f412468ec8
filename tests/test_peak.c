/* test_peak.c - clpeak: the rates against which a profile compares kernels, checked with kernels
 * of this test.
 *
 * Their operations and bytes are counted by hand, and they are measured as clpeak measures: an
 * operation counted twice, or a copy's bytes once, is a factor of two. On a CPU device both are
 * measured in processor time of this process (the linker's --wrap=clock_gettime), so the load of
 * the machine does not matter; the sizes of launches show that all processors are used. A rate
 * lowered by other load is measured again, alternately: ours here, clpeak's in a process of its
 * own, since a process measures once.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "child.h"

#include <math.h>
#include <pthread.h>

static bool by_work; /* time is that which this process worked */
static size_t launches, least_items = SIZE_MAX;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
cl_int __real_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dim,
                                     const size_t *offset, const size_t *global,
                                     const size_t *local, cl_uint n, const cl_event *list,
                                     cl_event *ev);
cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dim,
                                     const size_t *offset, const size_t *global,
                                     const size_t *local, cl_uint n, const cl_event *list,
                                     cl_event *ev);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    return __real_clock_gettime(
        by_work && clock == CLOCK_MONOTONIC ? CLOCK_PROCESS_CPUTIME_ID : clock, t);
}

cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dim,
                                     const size_t *offset, const size_t *global,
                                     const size_t *local, cl_uint n, const cl_event *list,
                                     cl_event *ev)
{
    launches++;
    least_items = *global < least_items ? *global : least_items;
    return __real_clEnqueueNDRangeKernel(q, k, dim, offset, global, local, n, list, ev);
}

static CLCONTEXT *cp;

static int open_peak_devices(void **unused)
{
    (void)unused;
    cp = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0);
    return setup_done(cp);
}

static int close_all(void **unused)
{
    (void)unused;
    return clcontext_destroy(cp);
}

/* ---- The test's own kernels. ---- */

/* Eight numbers of the device's native width, each changed by a multiplication and an addition a
 * round. */
static const char own_source[] =
    "#ifdef DOUBLES\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "#endif\n"
    "#define STEP(s) s = fma(s, x, y);\n" /* by a name, since PoCL 7.1 does not join s * x + y */
    "__kernel void steps(__global V *out, int rounds, __global const V *in)\n"
    "{\n"
    "    const V x = in[0], y = in[1];\n"
    "    V a = y, b = y + 1, c = y + 2, d = y + 3, e = y + 4, f = y + 5, g = y + 6, h = y + 7;\n"
    "    for (int i = 0; i < rounds; i++) {\n"
    "        STEP(a) STEP(b) STEP(c) STEP(d) STEP(e) STEP(f) STEP(g) STEP(h)\n"
    "    }\n"
    "    out[get_global_id(0)] = a + b + c + d + e + f + g + h;\n"
    "}\n"
    "__kernel void move(__global const float4 *from, __global float4 *to, ulong n)\n"
    "{\n"
    "    for (ulong i = get_global_id(0) * n; i < (get_global_id(0) + 1) * n; i++)\n"
    "        to[i] = from[i];\n"
    "}\n";

static bool is_host(cl_uint dev)
{
    cl_device_type type = 0;
    clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_TYPE, sizeof type, &type, NULL);
    return type & CL_DEVICE_TYPE_CPU;
}

static cl_uint units_of(cl_uint dev)
{
    cl_uint units = 1;
    clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    return units;
}

static size_t width_of(cl_uint dev, bool doubles)
{
    cl_uint width = 1;
    clGetDeviceInfo(clgetdevice(cp, dev),
                    doubles ? CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE
                            : CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT,
                    sizeof width, &width, NULL);
    return is_host(dev) && width > 1 ? width : 1;
}

/* Return the least seconds of a few launches whose arguments are set. */
static double least_time(cl_uint dev, cl_kernel k, size_t items, size_t group)
{
    clndrange_t ndr = clndrange_init1d(0, items, group);
    double least = HUGE_VAL;
    for (int run = 0; run < 8; run++) {
        const double start = seconds_now();
        done(clfork(cp, dev, k, &ndr, CL_EVENT_WAIT));
        least = run ? fmin(least, seconds_now() - start) : least;
    }
    return least;
}

/* Operations a second. */
static double own_flops(cl_uint dev, bool doubles)
{
    const size_t width = width_of(dev, doubles), items = (is_host(dev) ? 1 : 2048) * units_of(dev);
    const int rounds = is_host(dev) ? 1000000 : 100000;
    char options[64], text[24] = "";
    if (width > 1)
        snprintf(text, sizeof text, "%zu", width);
    snprintf(options, sizeof options, "-D V=%s%s%s", doubles ? "double" : "float", text,
             doubles ? " -D DOUBLES" : "");
    void *program =
        clopen_named(cp, "own.cl", own_source, sizeof own_source - 1, options, CLLD_NOW);
    ready(program);
    void *out = clmalloc(cp, items * width * 8, 0);
    float *in = clmalloc(cp, 2 * width * 8, 0);
    ready(out && in ? in : NULL);
    memset(in, 0, 2 * width * 8);
    done(clmsync(cp, dev, in, CL_MEM_DEVICE));
    cl_kernel steps = clsym(cp, program, "steps", 0);
    ready(steps);
    works(clarg_set(steps, 1, rounds));
    assert_int_equal(clarg_set_global(steps, 0, out), 0);
    assert_int_equal(clarg_set_global(steps, 2, (void *)in), 0);
    const double seconds = least_time(dev, steps, items, is_host(dev) ? 1 : 256);
    works(clclose(cp, program));
    works(clfree(out));
    works(clfree(in));
    return 2.0 * 8 * rounds * (double)(width * items) / seconds;
}

/* Bytes read and written a second, by the whole device. */
static double own_copy(cl_uint dev)
{
    enum { BYTES = 1 << 28 };
    void *program =
        clopen_named(cp, "own.cl", own_source, sizeof own_source - 1, "-D V=float", CLLD_NOW);
    void *from = clmalloc(cp, BYTES, CL_MEM_DEVONLY), *to = clmalloc(cp, BYTES, CL_MEM_DEVONLY);
    ready(program);
    ready(from && to ? to : NULL);
    cl_kernel move = clsym(cp, program, "move", 0);
    ready(move);
    const size_t items = is_host(dev) ? 16 * units_of(dev) : BYTES / 16;
    const cl_ulong each = BYTES / 16 / items;
    assert_int_equal(clarg_set_global(move, 0, from), 0);
    assert_int_equal(clarg_set_global(move, 1, to), 0);
    works(clarg_set(move, 2, each));
    const double seconds = least_time(dev, move, items, is_host(dev) ? 1 : 256);
    works(clclose(cp, program));
    works(clfree(from));
    works(clfree(to));
    return 2.0 * 16 * (double)(each * items) / seconds;
}

/* ---- The device. ---- */

static double own_single(cl_uint dev)
{
    return own_flops(dev, false);
}
static double own_double(cl_uint dev)
{
    return own_flops(dev, true);
}

enum figure { SINGLE, DOUBLE, COPY };

/* Child process that prints all rates. */
static int print_peak(cl_uint dev)
{
    struct clpeak_info peak;
    if (open_peak_devices(NULL) != 0)
        return 1;
    by_work = is_host(dev);
    if (clpeak(cp, dev, &peak) != 0)
        return 1;
    printf("%.17g %.17g %.17g\n", peak.flops_single, peak.flops_double, peak.bytes_per_s);
    return 0;
}

static double measured_again(cl_uint dev, enum figure which)
{
    double figure[3];
    char number[16];
    snprintf(number, sizeof number, "%u", dev);
    assert_int_equal(sscanf(answer_of(with_nothing, "tell", number), "%lf %lf %lf", figure,
                            figure + 1, figure + 2),
                     3);
    return figure[which];
}

/* Other load lowers a rate, so each is the largest of up to 40. A shared machine at times copies
 * at a third of its rate, for seconds; and its processor clock may count half of the work. So a
 * rate of clpeak that ours do not approach in ten runs is measured again. */
static void check_peak_agrees(enum figure which, double theirs, double (*own)(cl_uint dev),
                              cl_uint dev)
{
    static const char *const names[] = {"single precision", "double precision", "copy"};
    const char *what = names[which];
    double ours = 0;
    for (int run = 0; run < 40 && !(theirs > 0.7 * ours && theirs < 1.5 * ours); run++)
        if (theirs > 0.7 * ours && run % 11 == 10)
            theirs = measured_again(dev, which);
        else if (theirs > 0.7 * ours)
            ours = fmax(ours, own(dev));
        else
            theirs = fmax(theirs, measured_again(dev, which));
    print_message("%s: %.3g, by our kernel %.3g\n", what, theirs, ours);
    if (!(theirs > 0.7 * ours && theirs < 1.5 * ours))
        fail_msg("%s: %g, but our kernel reaches %g", what, theirs, ours);
}

static void peak_agrees_with_own_kernels(void **unused)
{
    (void)unused;
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        struct clpeak_info peak;
        struct cldev_info info[16];
        assert_in_range(clgetndev(cp), 1, 16);
        works(clgetdevinfo(cp, info));
        by_work = is_host(dev);
        least_items = SIZE_MAX;
        works(clpeak(cp, dev, &peak));
        if (dev + 1 < clgetndev(cp)) /* the last one was measured before */
            assert_true(least_items >= units_of(dev));
        assert_true((peak.flops_double > 0) == (info[dev].dev_pref_vec_double > 0));
        check_peak_agrees(SINGLE, peak.flops_single, own_single, dev);
        if (peak.flops_double > 0)
            check_peak_agrees(DOUBLE, peak.flops_double, own_double, dev);
        assert_true(peak.flops_tensor == 0 || peak.flops_tensor == 2 * peak.flops_double);
        if (is_host(dev))
            assert_true(peak.flops_tensor == 0);
        check_peak_agrees(COPY, peak.bytes_per_s, own_copy, dev);
        by_work = false;
    }
}

static void peak_is_measured_once(void **unused)
{
    (void)unused;
    struct clpeak_info first, again;
    works(clpeak(cp, 0, &first));
    const size_t before = launches;
    works(clpeak(cp, 0, &again));
    assert_memory_equal(&first, &again, sizeof first);
    cl_device_id id = clgetdevice(cp, 0);
    CLCONTEXT *other = clcontext_create_from(&id, 1); /* the device is recognised in any context */
    ready(other);
    works(clpeak(other, 0, &again));
    assert_memory_equal(&first, &again, sizeof first);
    assert_int_equal(launches, before); /* nothing was measured */
    works(clcontext_destroy(other));
}

static double alone; /* single precision of the last device, measured before the rest */

/* Rates that are not requested are not measured, and measured rates are not measured again. */
static void peak_measures_requested_rates_only(void **unused)
{
    (void)unused;
    const cl_uint last = clgetndev(cp) - 1;
    by_work = is_host(last);
    alone = clpeak_flops(cp, last, CLPROF_SINGLE);
    by_work = false;
    assert_true(alone > 0);
    const size_t before = launches;
    assert_true(before > 0 && least_items >= units_of(last));
    assert_true(clpeak_flops(cp, last, CLPROF_SINGLE) == alone);
    assert_int_equal(launches, before);
}

static void *ask_peak(void *peak)
{
    return (void *)(intptr_t)clpeak(cp, clgetndev(cp) - 1, peak);
}

static void peak_is_measured_once_by_threads(void **unused)
{
    (void)unused;
    pthread_t thread[4];
    struct clpeak_info peak[4];
    void *status;
    const cl_uint last = clgetndev(cp) - 1;
    by_work = is_host(last);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, ask_peak, &peak[i]), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(thread[i], &status), 0);
        assert_null(status);
    }
    by_work = false;
    assert_true(least_items >= units_of(last));
    assert_true(peak[0].flops_single == alone && peak[0].bytes_per_s > 0);
    for (int i = 1; i < 4; i++)
        assert_memory_equal(&peak[0], &peak[i], sizeof peak[0]);
    const size_t before = launches;
    assert_true(clpeak_flops(cp, last, CLPROF_DOUBLE) == peak[0].flops_double);
    assert_true(clpeak_flops(cp, last, CLPROF_TENSOR) ==
                fmax(peak[0].flops_double, peak[0].flops_tensor));
    assert_int_equal(launches, before);
}

static void peak_stays_out_of_profile(void **unused)
{
    (void)unused;
    struct clstat_info before, after;
    struct clpeak_info peak;
    works(clprofile(cp, 1));
    works(clstat(cp, &before));
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++)
        works(clpeak(cp, dev, &peak));
    works(clstat(cp, &after));
    assert_int_equal(clprofile_rows(cp, NULL, 0), 0);
    assert_int_equal(before.nprg, after.nprg);
    works(clprofile(cp, 0));
}

static void peak_rejects_bad_calls(void **unused)
{
    (void)unused;
    struct clpeak_info peak;
    fails(EINVAL, clpeak(NULL, 0, &peak));
    fails(EINVAL, clpeak(cp, clgetndev(cp), &peak));
    fails(EINVAL, clpeak(cp, 0, NULL));
    fails_0(EINVAL, clpeak_flops(cp, 0, CLPROF_TENSOR + 1));
    fails_0(EINVAL, clpeak_flops(NULL, 0, CLPROF_SINGLE));
}

int main(int argc, char **argv)
{
    unsetenv("STDCL_PROFILE");
    unsetenv("STDCL_TRACE");
    if (argc > 2 && strcmp(argv[1], "tell") == 0)
        return print_peak((cl_uint)atoi(argv[2]));
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peak_measures_requested_rates_only),
        cmocka_unit_test(peak_is_measured_once_by_threads),
        cmocka_unit_test(peak_agrees_with_own_kernels),
        cmocka_unit_test(peak_stays_out_of_profile),
        cmocka_unit_test(peak_is_measured_once),
        cmocka_unit_test(peak_rejects_bad_calls),
    };
    return cmocka_run_group_tests(tests, open_peak_devices, close_all);
}
