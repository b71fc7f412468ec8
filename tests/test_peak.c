/* test_peak.c - clpeak: the rates at which a profile measures kernels, against plain C on the same CPU.
 *
 * One thread of plain C, for any x86-64 or ARM, reaches less than the device and more than a sixty-fourth of
 * what one of its cores does. Other programs may be using the machine, so the bounds are wide: they tell a
 * factor of a thousand, an operation counted twice per lane, or a rate of one core for all of them.
 */
#include "check.h"

#include <pthread.h>

static CLCONTEXT *cp;

static int open_all(void **unused)
{
    (void)unused;
    cp = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0);
    return cp ? 0 : -1;
}

static int close_all(void **unused)
{
    (void)unused;
    return clcontext_destroy(cp);
}

/* ---- Plain C. ---- */

typedef float four __attribute__((vector_size(16)));

/* Operations a second of one thread: eight independent chains of multiply and add, four lanes each. */
static double plain_flops(void)
{
    enum { CHAINS = 8, ROUNDS = 20000000 };
    four s[CHAINS], a = {0.5f, 0.5f, 0.5f, 0.5f}, sum = {0};
    double best = 0;
    for (int run = 0; run < 3; run++) {
        for (int k = 0; k < CHAINS; k++)
            s[k] = a + (float)k;
        double t = seconds_now();
        for (int i = 0; i < ROUNDS / 4; i++) {
            for (int k = 0; k < CHAINS; k++)
                s[k] = s[k] * a + a;
            __asm__ volatile("" : "+m"(s)); /* no round may be left out */
        }
        t = seconds_now() - t;
        for (int k = 0; k < CHAINS; k++)
            sum += s[k];
        double rate = 2.0 * 4 * CHAINS * (ROUNDS / 4) / t;
        best = rate > best ? rate : best;
    }
    return sum[0] > -1 ? best : 0;
}

/* Bytes read plus bytes written a second by memcpy, of more than caches hold. */
static double plain_copy(void)
{
    const size_t bytes = (size_t)128 << 20;
    char *from = malloc(bytes), *to = malloc(bytes);
    double best = 0;
    assert_true(from && to);
    memset(from, 1, bytes);
    for (int run = 0; run < 4; run++) {
        double t = seconds_now();
        memcpy(to, from, bytes);
        t = seconds_now() - t;
        assert_int_equal(to[run * 1000], 1);
        double rate = 2.0 * (double)bytes / t;
        best = rate > best ? rate : best;
    }
    free(from);
    free(to);
    return best;
}

static void between(const char *what, double value, double least, double most)
{
    if (!(value >= least && value <= most))
        fail_msg("%s: %g is not between %g and %g", what, value, least, most);
}

/* ---- The device. ---- */

static void agrees_with_plain_c(void **unused)
{
    (void)unused;
    struct cldev_info info[16];
    assert_in_range(clgetndev(cp), 1, 16);
    works(clgetdevinfo(cp, info));
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        struct clpeak_info peak;
        works(clpeak(cp, dev, &peak));
        print_message("%s: %.3g and %.3g FLOP/s, %.3g B/s\n", info[dev].dev_name, peak.flops_single,
                      peak.flops_double, peak.bytes_per_s);
        assert_true((peak.flops_double > 0) == (info[dev].dev_pref_vec_double > 0));
        assert_true(peak.flops_single > 0 && peak.bytes_per_s > 0);
        if (!(info[dev].dev_type & CL_DEVICE_TYPE_CPU))
            continue;
        double flops = plain_flops(), copy = plain_copy(), cores = info[dev].dev_max_core;
        print_message("plain C: %.3g FLOP/s, %.3g B/s\n", flops, copy);
        if (!SANITIZED) { /* whose plain C is not plain */
            between("single precision", peak.flops_single, 0.5 * flops, 64 * cores * flops);
            between("copy", peak.bytes_per_s, 0.25 * copy, 16 * cores * copy);
        }
        if (peak.flops_double > 0)
            between("double per single", peak.flops_double / peak.flops_single, 0.2, 1.2);
    }
}

static void remembers(void **unused)
{
    (void)unused;
    struct clpeak_info first, again;
    works(clpeak(cp, 0, &first));
    double t = seconds_now();
    for (int i = 0; i < 1000; i++)
        works(clpeak(cp, 0, &again));
    assert_true(seconds_now() - t < 0.1);
    assert_memory_equal(&first, &again, sizeof first);
    cl_device_id id = clgetdevice(cp, 0);
    CLCONTEXT *other = clcontext_create_from(&id, 1); /* the device is known, whatever the context */
    ready(other);
    t = seconds_now();
    works(clpeak(other, 0, &again));
    assert_true(seconds_now() - t < 0.01);
    assert_memory_equal(&first, &again, sizeof first);
    works(clcontext_destroy(other));
}

static void *ask(void *peak)
{
    return (void *)(intptr_t)clpeak(cp, clgetndev(cp) - 1, peak);
}

static void is_measured_once_by_many_threads(void **unused)
{
    (void)unused;
    pthread_t thread[4];
    struct clpeak_info peak[4];
    void *status;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, ask, &peak[i]), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(thread[i], &status), 0);
        assert_null(status);
    }
    for (int i = 1; i < 4; i++)
        assert_memory_equal(&peak[0], &peak[i], sizeof peak[0]);
}

static void stays_out_of_the_profile(void **unused)
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

static void says_what_is_wrong(void **unused)
{
    (void)unused;
    struct clpeak_info peak;
    fails(EINVAL, clpeak(NULL, 0, &peak));
    fails(EINVAL, clpeak(cp, clgetndev(cp), &peak));
    fails(EINVAL, clpeak(cp, 0, NULL));
}

int main(void)
{
    unsetenv("STDCL_PROFILE");
    unsetenv("STDCL_TRACE");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_measured_once_by_many_threads),
        cmocka_unit_test(stays_out_of_the_profile),
        cmocka_unit_test(agrees_with_plain_c),
        cmocka_unit_test(remembers),
        cmocka_unit_test(says_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
