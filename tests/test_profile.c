/* test_profile.c - the entries of a profile: counts, totals, output.
 *
 * The reference is the test's own record: number of commands, bytes, time by the host's clock.
 * With arguments the program is the child of its own test: it runs a few kernels under the
 * environment's profile settings. With STDCL_TEST_AGAIN in the environment it leaves out the
 * tests of output controlled by the environment or in another locale, which depend neither on
 * sampling nor on the number of devices.
 * SPDX-License-Identifier: MIT
 */
#include "child.h"
#include "decimal_comma.h"
#include "files.h"
#include "deep.h"

#include <dlfcn.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>

enum { N = 4096, MAX_ROWS = 64 };

static CLCONTEXT *cp;
static void *basic; /* its program */
static struct clprofile_row row[MAX_ROWS];
static size_t rows;

static int open_profile_context(void **unused)
{
    (void)unused;
    cp = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0);
    basic = clopen(cp, BASIC_CL, CLLD_NOW);
    return setup_done(basic && clprofile(cp, 1) == 0);
}

static int close_profile_context(void **unused)
{
    (void)unused;
    return clcontext_destroy(cp);
}

static cl_kernel profile_kernel(const char *name)
{
    cl_kernel k = clsym(cp, basic, name, 0);
    ready(k);
    return k;
}

static void read_profile_rows(void)
{
    rows = clprofile_rows(cp, row, MAX_ROWS);
    assert_in_range(rows, 0, MAX_ROWS);
}

/* Return the entry of a name on a device, or NULL. */
static const struct clprofile_row *profile_line(cl_uint dev, const char *name)
{
    for (size_t i = 0; i < rows; i++)
        if (row[i].device == dev && strcmp(row[i].name, name) == 0)
            return &row[i];
    return NULL;
}

/* With sampling, the queue as a whole is not profiled. */
static bool is_sampled(void)
{
    struct cldev_info info[16];
    const char *n = getenv("STDCL_PROFILE_SAMPLE");
    works(clgetdevinfo(cp, info));
    return clgetndev(cp) == 1 &&
           ((n && strcmp(n, "1") != 0) || !(info[0].dev_type & CL_DEVICE_TYPE_CPU));
}

static void check_profile_line(cl_uint dev, const char *name, int kind, size_t count, double bytes)
{
    const struct clprofile_row *r = profile_line(dev, name);
    ready(r);
    assert_int_equal(r->kind, kind);
    assert_int_equal(r->count, count);
    assert_true(r->bytes == bytes);
    assert_true(0 <= r->minimum && r->minimum <= r->maximum);
    assert_true(r->timed <= r->count && (r->timed == r->count || is_sampled()));
    assert_true((double)count * r->minimum <= r->total * 1.0001);
    assert_true(r->total <= (double)count * r->maximum * 1.0001);
}

static void run_profiled(cl_uint dev, const char *name, int *x, int times, int flags)
{
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    for (int i = 0; i < times; i++)
        assert_ptr_not_equal(clforka(cp, dev, profile_kernel(name), &ndr, flags, x, 1), NO_EVENT);
}

static int *new_profile_block(void)
{
    int *x = clmalloc(cp, N * sizeof *x, 0);
    ready(x);
    return x;
}

/* ---- Lines. ---- */

static int refusals; /* number of timing queries to refuse from now on */

cl_int clGetEventProfilingInfo(cl_event ev, cl_profiling_info what, size_t size, void *value,
                               size_t *got)
{
    cl_int (*real)(cl_event, cl_profiling_info, size_t, void *, size_t *);
    *(void **)&real = dlsym(RTLD_NEXT, "clGetEventProfilingInfo");
    if (refusals > 0)
        return refusals--, CL_OUT_OF_RESOURCES;
    return real(ev, what, size, value, got);
}

static void profile_counts_untimed_commands(void **unused)
{
    (void)unused;
    int *x = new_profile_block();
    run_profiled(0, "add", x, 1, CL_EVENT_WAIT);
    refusals = 2;
    run_profiled(0, "add", x, 2, CL_EVENT_WAIT);
    refusals = 0;
    read_profile_rows();
    ready(profile_line(0, "add"));
    assert_int_equal(profile_line(0, "add")->count, 3);
    works(clfree(x));
}

static void profile_counts_launches_and_bytes(void **unused)
{
    (void)unused;
    int *x = new_profile_block(), *y = new_profile_block();
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        for (int i = 0; i < 3; i++)
            started(clmsync(cp, dev, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
        done(clmcopy(cp, dev, x, y, CL_EVENT_WAIT));
        run_profiled(dev, "add", x, 7 + (int)dev, CL_EVENT_NOWAIT);
        run_profiled(dev, "fill", x, 2, CL_EVENT_WAIT);
        started(clmsyncn(cp, dev, x + 16, 100, CL_MEM_HOST | CL_EVENT_NOWAIT));
        done(clmsync(cp, dev, x, CL_MEM_HOST | CL_EVENT_WAIT));
    }
    for (int again = 0; again < 2; again++) { /* reading changes nothing */
        read_profile_rows();
        assert_int_equal(rows, 5 * clgetndev(cp));
        for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
            check_profile_line(dev, "host to device", CL_MEM_EVENT, 3, 3. * N * sizeof *x);
            check_profile_line(dev, "device to host", CL_MEM_EVENT, 2, 100. + N * sizeof *x);
            check_profile_line(dev, "copy on device", CL_MEM_EVENT, 1, 2. * N * sizeof *x);
            check_profile_line(dev, "add", CL_KERNEL_EVENT, 7 + dev, 0);
            check_profile_line(dev, "fill", CL_KERNEL_EVENT, 2, 0);
        }
    }
    works(clfree(x));
    works(clfree(y));
}

/* A command counts once, whether and however its event is collected. */
static void profile_counts_once(void **unused)
{
    (void)unused;
    int *x = new_profile_block();
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    cl_kernel add = profile_kernel("add");
    cl_event event[5];
    for (int i = 0; i < 5; i++)
        event[i] = started(clforka(cp, 0, add, &ndr, CL_EVENT_NOWAIT, x, i));
    started(clwaitev(cp, 0, event[2], 0));
    read_profile_rows();
    check_profile_line(0, "add", CL_KERNEL_EVENT, 5, 0);
    started(clwaitev(cp, 0, event[4], CL_EVENT_NORELEASE));
    done(clwait(cp, 0, CL_KERNEL_EVENT | CL_EVENT_NORELEASE));
    done(clwait(cp, 0, CL_ALL_EVENT));
    cl_event own = started(clforka(cp, 0, add, &ndr, CL_EVENT_WAIT | CL_EVENT_NORELEASE, x, 1));
    cl_event later = started(clforka(cp, 0, add, &ndr, CL_EVENT_NOWAIT | CL_EVENT_OWN, x, 1));
    started(clwaitev(cp, 0, later, 0));
    clReleaseEvent(own);
    clReleaseEvent(later);
    done(clforka(cp, 0, add, &ndr, CL_EVENT_WAIT, x, 1));
    read_profile_rows();
    check_profile_line(0, "add", CL_KERNEL_EVENT, 8, 0);
    works(clfree(x));
}

/* A kernel takes at most the time that the host waits for it, and at least the processor time
 * used meanwhile: on a CPU device, for its one work-item; on another, to wait. Other load
 * lengthens the wait only. */
static void profile_agrees_with_host_clock(void **unused)
{
    (void)unused;
    cl_uint *x = clmalloc(cp, sizeof *x, 0);
    clndrange_t ndr = clndrange_init1d(0, 1, 1);
    cl_kernel slow = profile_kernel("slow");
    done(clforka(cp, 0, slow, &ndr, CL_EVENT_WAIT, x, 1)); /* built */
    works(clprofile_reset(cp));
    double wall = seconds_now(), worked = seconds_worked();
    for (int i = 0; i < 3; i++)
        done(clforka(cp, 0, slow, &ndr, CL_EVENT_WAIT, x, 30000000));
    wall = seconds_now() - wall;
    worked = seconds_worked() - worked;
    read_profile_rows();
    const struct clprofile_row *r = profile_line(0, "slow");
    ready(r);
    if (r->total > wall || r->total < 0.5 * worked)
        fail_msg("%g s by the device, %g s by the host, which worked %g s", r->total, wall, worked);
    works(clfree(x));
}

/* For each device, the longest first. */
static void profile_sorts_by_device_and_total(void **unused)
{
    (void)unused;
    int *x = clmalloc(cp, N * sizeof *x, CL_MEM_PER_DEVICE); /* no copies but ours */
    ready(x);
    cl_uint last = clgetndev(cp) - 1;
    for (cl_uint dev = 0; dev <= last; dev++) {
        run_profiled(dev, "fill", x, 1, CL_EVENT_NOWAIT);
        run_profiled(dev, "add", x, 40, CL_EVENT_NOWAIT);
        started(clmsync(cp, dev, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
    }
    read_profile_rows();
    assert_int_equal(rows, 3 * (last + 1));
    for (size_t i = 1; i < rows; i++) {
        assert_true(row[i - 1].device <= row[i].device);
        if (row[i - 1].device == row[i].device)
            assert_true(row[i - 1].total >= row[i].total);
    }
    struct clprofile_row few[2] = {{.count = 0}, {.count = 77}};
    assert_int_equal(clprofile_rows(cp, few, 1), rows); /* no more than there is room for */
    assert_memory_equal(&few[0], &row[0], sizeof few[0]);
    assert_int_equal(few[1].count, 77);
    assert_int_equal(clprofile_rows(cp, NULL, 0), rows);
    works(clfree(x));
}

static void profile_zero_copy_moves_no_bytes(void **unused)
{
    (void)unused;
    struct cldev_info info[16];
    assert_in_range(clgetndev(cp), 1, 16);
    works(clgetdevinfo(cp, info));
    int *x = clmalloc(cp, N * sizeof *x, CL_MEM_ZEROCOPY);
    ready(x);
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++)
        done(clmsync(cp, dev, x, CL_MEM_DEVICE | CL_EVENT_WAIT));
    read_profile_rows();
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        const struct clprofile_row *r = profile_line(dev, "host to device");
        assert_true((r ? r->bytes : 0) ==
                    (info[dev].dev_type & CL_DEVICE_TYPE_CPU ? 0 : N * sizeof *x));
    }
    works(clfree(x));
}

/* ---- Work. ---- */

static void profile_accumulates_work(void **unused)
{
    (void)unused;
    int *x = new_profile_block();
    cl_kernel add = profile_kernel("add");
    run_profiled(0, "add", x, 2, CL_EVENT_NOWAIT); /* not yet collected */
    works(clprofile_work(add, 1e6, 3e6, CLPROF_SINGLE));
    run_profiled(0, "add", x, 5, CL_EVENT_NOWAIT);
    works(clprofile_work(add, 0, 1, CLPROF_SINGLE));
    run_profiled(0, "add", x, 1, CL_EVENT_NOWAIT);
    works(clprofile_work(add, 0, 0, CLPROF_SINGLE));
    run_profiled(0, "add", x, 4, CL_EVENT_NOWAIT);
    read_profile_rows();
    check_profile_line(0, "add", CL_KERNEL_EVENT, 12, 15e6 + 1);
    assert_true(profile_line(0, "add")->flops == 5e6);
    works(clfree(x));
}

static void profile_prints_percent_of_peak(void **unused)
{
    (void)unused;
    int *x = new_profile_block();
    struct clpeak_info peak;
    works(clpeak(cp, 0, &peak));
    const struct {
        double flops, bytes;
    } told[] = {{1e2, 0}, {0, 3e2},  {1, 5e2},
                {6e3, 1}, {1e30, 1}, {0, 1e30}}; /* the last are more than there can be */
    for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
        works(clprofile_work(profile_kernel("add"), told[i].flops, told[i].bytes, CLPROF_SINGLE));
        works(clprofile_reset(cp));
        run_profiled(0, "add", x, 3, CL_EVENT_NOWAIT);
        read_profile_rows();
        const struct clprofile_row *r = profile_line(0, "add");
        double flops = 3 * told[i].flops / r->total / peak.flops_single;
        double bytes = 3 * told[i].bytes / r->total / peak.bytes_per_s;
        assert_true(fabs(r->peak_percent - 100 * fmin(fmax(flops, bytes), 1)) <=
                    1e-9 * r->peak_percent);
        assert_true(r->peak_percent > 0);
        assert_true(i + 2 < sizeof told / sizeof *told || r->peak_percent == 100);
    }
    works(clprofile_work(profile_kernel("add"), 0, 0, CLPROF_SINGLE));
    works(clfree(x));
}

static void profile_separates_precisions(void **unused)
{
    (void)unused;
    int *x = new_profile_block();
    struct clpeak_info peak;
    works(clpeak(cp, 0, &peak));
    if (peak.flops_double == 0) {
        print_message("device 0 has no double precision\n");
        skip();
    }
    cl_kernel fill = profile_kernel("fill");
    works(clprofile_work(fill, 1e3, 0, CLPROF_SINGLE));
    run_profiled(0, "fill", x, 2, CL_EVENT_WAIT);
    works(clprofile_work(fill, 1e3, 0, CLPROF_DOUBLE));
    run_profiled(0, "fill", x, 3, CL_EVENT_WAIT);
    works(clprofile_work(fill, 1e3, 0, CLPROF_TENSOR));
    run_profiled(0, "fill", x, 4, CL_EVENT_WAIT);
    read_profile_rows();
    assert_int_equal(rows, 3);
    for (size_t i = 0; i < 3; i++) {
        const double tensor = peak.flops_tensor > 0 ? peak.flops_tensor : peak.flops_double;
        double limit = row[i].count == 2   ? peak.flops_single
                       : row[i].count == 3 ? peak.flops_double
                                           : tensor;
        assert_true(fabs(row[i].peak_percent - 100 * fmin(row[i].flops / row[i].total / limit, 1)) <
                    1e-9 * row[i].peak_percent);
    }
    assert_int_equal(row[0].count + row[1].count + row[2].count, 9);
    works(clprofile_work(fill, 0, 0, CLPROF_SINGLE));
    works(clfree(x));
}

static void profile_rejects_bad_work(void **unused)
{
    (void)unused;
    cl_kernel add = profile_kernel("add");
    fails(EINVAL, clprofile_work(NULL, 1, 1, CLPROF_SINGLE));
    fails(EINVAL, clprofile_work(add, -1, 0, CLPROF_SINGLE));
    fails(EINVAL, clprofile_work(add, 0, -1, CLPROF_SINGLE));
    fails(EINVAL, clprofile_work(add, NAN, 0, CLPROF_SINGLE));
    fails(EINVAL, clprofile_work(add, 0, INFINITY, CLPROF_SINGLE));
    fails(EINVAL, clprofile_work(add, 1, 1, 7));
    contains((clprofile_work(add, -1, 0, CLPROF_SINGLE), clerror()), "add");
}

/* ---- On, off, reset. ---- */

static bool profile_queue_has_flag(cl_uint dev)
{
    cl_command_queue_properties flags = 0;
    clGetCommandQueueInfo(clgetqueue(cp, dev), CL_QUEUE_PROPERTIES, sizeof flags, &flags, NULL);
    return flags & CL_QUEUE_PROFILING_ENABLE;
}

static void profile_turns_on_and_off(void **unused)
{
    (void)unused;
    cl_uint last = clgetndev(cp) - 1;
    int *x = new_profile_block();
    done(clmsync(cp, last, x, CL_MEM_DEVICE | CL_EVENT_WAIT));
    works(clprofile_reset(cp));
    run_profiled(last, "add", x, 2, CL_EVENT_NOWAIT); /* in flight while it is turned off */
    works(clprofile(cp, 0));
    assert_false(profile_queue_has_flag(last));
    run_profiled(last, "add", x, 5, CL_EVENT_NOWAIT);
    started(clmsync(cp, last, x, CL_MEM_HOST | CL_EVENT_NOWAIT));
    read_profile_rows(); /* records so far stay */
    assert_int_equal(rows, 1);
    check_profile_line(last, "add", CL_KERNEL_EVENT, 2, 0);
    works(clprofile(cp, 1));
    assert_true(profile_queue_has_flag(last) || is_sampled());
    cl_command_queue queue = clgetqueue(cp, last);
    works(clprofile(cp, 1)); /* already: nothing changes */
    assert_ptr_equal(clgetqueue(cp, last), queue);
    run_profiled(last, "add", x, 3, CL_EVENT_NOWAIT);
    read_profile_rows();
    check_profile_line(last, "add", CL_KERNEL_EVENT, 5, 0);
    done(clmsync(cp, last, x, CL_MEM_HOST | CL_EVENT_WAIT)); /* and all of it was computed */
    assert_int_equal(x[N - 1], 10);
    works(clfree(x));
}

static void profile_resets(void **unused)
{
    (void)unused;
    int *x = new_profile_block();
    run_profiled(0, "add", x, 9, CL_EVENT_NOWAIT); /* in flight */
    works(clprofile_reset(cp));
    read_profile_rows();
    assert_int_equal(rows, 0);
    run_profiled(0, "add", x, 4, CL_EVENT_NOWAIT);
    run_profiled(0, "add", x, 2, CL_EVENT_NOWAIT | CL_EVENT_UNCOUNTED);
    run_profiled(0, "fill", x, 1, CL_EVENT_WAIT | CL_EVENT_UNCOUNTED);
    read_profile_rows();
    assert_int_equal(rows, 1);
    check_profile_line(0, "add", CL_KERNEL_EVENT, 4, 0);
    works(clfree(x));
}

static void profile_never_on_is_free(void **unused)
{
    (void)unused;
    CLCONTEXT *profiled = cp;
    void *its = basic;
    cp = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 1, NULL, 0);
    basic = clopen(cp, BASIC_CL, CLLD_NOW);
    ready(basic);
    assert_false(profile_queue_has_flag(0));
    works(clprofile(cp, 0));
    works(clprofile_reset(cp));
    int *x = new_profile_block();
    run_profiled(0, "add", x, 3, CL_EVENT_NOWAIT);
    clprofile_begin(cp, "phase");
    clprofile_end(cp);
    assert_int_equal(clprofile_rows(cp, row, MAX_ROWS), 0);
    fails(EINVAL, clprofile_report(cp, stderr, CLPROF_TABLE));
    contains((clprofile_report(cp, stderr, CLPROF_TABLE), clerror()), "never on");
    fails(EINVAL, clprofile_trace(cp, "/dev/null"));
    works(clcontext_destroy(cp));
    cp = profiled;
    basic = its;
}

static void profile_off_is_reported(void **unused)
{
    (void)unused;
    fails(EINVAL, clprofile(NULL, 1));
    fails(EINVAL, clprofile_reset(NULL));
    assert_int_equal(clprofile_rows(NULL, row, MAX_ROWS), 0);
    fails(EINVAL, clprofile_report(NULL, stderr, CLPROF_TABLE));
    fails(EINVAL, clprofile_report(cp, NULL, CLPROF_TABLE));
    fails(EINVAL, clprofile_report(cp, stderr, 3));
    FILE *full = fopen("/dev/full", "w");
    if (full) {
        fails(EIO, clprofile_report(cp, full, CLPROF_CSV));
        fclose(full);
    }
}

/* A context may be destroyed with commands that were never collected. */
static void profile_context_ends_with_commands_in_flight(void **unused)
{
    (void)unused;
    CLCONTEXT *other = cp;
    void *its = basic;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(open_profile_context(NULL), 0);
        run_profiled(0, "add", new_profile_block(), 20, CL_EVENT_NOWAIT);
        works(clcontext_destroy(cp));
    }
    cp = other;
    basic = its;
}

/* ---- As it is printed. ---- */

static char *profile_text(int format)
{
    char *text = NULL;
    size_t size;
    FILE *fp = open_memstream(&text, &size);
    works(clprofile_report(cp, fp, format));
    fclose(fp);
    return text;
}

/* Run one command of each kind, with declared work. */
static void run_some(int *x)
{
    works(clprofile_work(profile_kernel("add"), 12345, 67890, CLPROF_SINGLE));
    for (cl_uint dev = 0; dev < clgetndev(cp); dev++) {
        started(clmsync(cp, dev, x, CL_MEM_DEVICE | CL_EVENT_NOWAIT));
        run_profiled(dev, "add", x, 3, CL_EVENT_NOWAIT);
        run_profiled(dev, "fill", x, 2, CL_EVENT_NOWAIT);
    }
    works(clprofile_work(profile_kernel("add"), 0, 0, CLPROF_SINGLE));
    read_profile_rows();
}

static void check_same_profile(double printed, double right, double tolerance)
{
    if (fabs(printed - right) > tolerance * fabs(right))
        fail_msg("%.17g is printed for %.17g", printed, right);
}

static void profile_prints_table(void **unused)
{
    (void)unused;
    int *x = new_profile_block(), found = 0;
    run_some(x);
    char *text = profile_text(CLPROF_TABLE), *save = NULL;
    long dev = -1;
    for (char *l = strtok_r(text, "\n", &save); l; l = strtok_r(NULL, "\n", &save)) {
        char name[64];
        size_t count;
        double total, mean, least, most;
        if (sscanf(l, "device %ld:", &dev) == 1)
            continue;
        if (sscanf(l, "%63[a-z ] %zu %lf %lf %lf %lf", name, &count, &total, &mean, &least,
                   &most) != 6)
            continue;
        for (size_t end = strlen(name); end && name[end - 1] == ' ';)
            name[--end] = 0;
        const struct clprofile_row *r = profile_line((cl_uint)dev, name);
        ready(r);
        assert_int_equal(count, r->count);
        check_same_profile(total, 1e3 * r->total, 0.0051); /* three digits */
        check_same_profile(mean, 1e6 * r->total / (double)count, 0.0051);
        check_same_profile(least, 1e6 * r->minimum, 0.0051);
        check_same_profile(most, 1e6 * r->maximum, 0.0051);
        found++;
    }
    assert_int_equal(found, rows);
    free(text);
    text = profile_text(CLPROF_TABLE);
    struct cldev_info info[16];
    works(clgetdevinfo(cp, info));
    contains(text, info[0].dev_name);
    contains(text, "GB/s");
    contains(text, "TFLOP/s");
    assert_true((strstr(text, "at once") != NULL) == (clgetndev(cp) > 1));
    free(text);
    works(clfree(x));
}

/* Split a line of CSV by RFC 4180, in place. */
static size_t split_csv(char *text, char *field[], size_t most)
{
    size_t n = 0;
    for (char *from = text, *to; n < most; from++) {
        bool quoted = *from == '"';
        field[n++] = to = from += quoted;
        for (; *from && (quoted || *from != ','); from++) {
            if (*from == '"' && quoted && *++from != '"')
                quoted = false, from--;
            else
                *to++ = *from;
        }
        bool last = !*from;
        *to = 0;
        if (last)
            break;
    }
    return n;
}

static void profile_prints_csv(void **unused)
{
    (void)unused;
    int *x = new_profile_block();
    run_some(x);
    struct cldev_info info[16];
    works(clgetdevinfo(cp, info));
    char *text = profile_text(CLPROF_CSV), *save = NULL, *field[32];
    size_t n = 0;
    char *l = strtok_r(text, "\n", &save);
    assert_string_equal(
        l, "device,device_name,kind,name,count,timed,total_s,mean_s,min_s,max_s,share,bytes,"
           "bytes_per_s,flops,flops_per_s,peak_percent");
    for (l = strtok_r(NULL, "\n", &save); l; l = strtok_r(NULL, "\n", &save), n++) {
        assert_int_equal(split_csv(l, field, 32), 16);
        const struct clprofile_row *r = &row[n];
        assert_int_equal(strtoul(field[0], NULL, 10), r->device);
        assert_string_equal(field[1], info[r->device].dev_name);
        assert_string_equal(field[2], r->kind == CL_KERNEL_EVENT ? "kernel" : "transfer");
        assert_string_equal(field[3], r->name);
        const double right[12] = {(double)r->count,
                                  (double)r->timed,
                                  r->total,
                                  r->total / (double)r->count,
                                  r->minimum,
                                  r->maximum,
                                  -1,
                                  r->bytes,
                                  r->bytes / r->total,
                                  r->flops,
                                  r->flops / r->total,
                                  r->peak_percent};
        for (int k = 0; k < 12; k++)
            if (k != 6)
                check_same_profile(strtod(field[4 + k], NULL), right[k], k == 11 ? 1e-3 : 1e-5);
    }
    assert_int_equal(n, rows);
    free(text);
    works(clfree(x));
}

static double profile_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_number(value))
        fail_msg("no number \"%s\"", key);
    return json_number_value(value);
}

static void profile_prints_json(void **unused)
{
    (void)unused;
    int *x = new_profile_block();
    run_some(x);
    char *text = profile_text(CLPROF_JSON);
    json_error_t error;
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error), *device, *r;
    if (!root)
        fail_msg("%s: %s", error.text, text);
    size_t n = 0, d, i;
    json_t *devices = json_object_get(root, "devices");
    assert_int_equal(json_array_size(devices), clgetndev(cp));
    json_array_foreach(devices, d, device)
    {
        double share = 0;
        json_array_foreach(json_object_get(device, "rows"), i, r)
        {
            const struct clprofile_row *right = &row[n++];
            assert_int_equal(right->device, d);
            assert_string_equal(json_string_value(json_object_get(r, "name")), right->name);
            assert_true(profile_number(r, "count") == (double)right->count &&
                        profile_number(r, "bytes") == right->bytes);
            assert_true(profile_number(r, "flops") == right->flops &&
                        profile_number(r, "timed") == (double)right->timed);
            check_same_profile(profile_number(r, "total_s"), right->total, 1e-9);
            check_same_profile(profile_number(r, "min_s"), right->minimum, 1e-9);
            check_same_profile(profile_number(r, "max_s"), right->maximum, 1e-9);
            check_same_profile(profile_number(r, "flops_per_s"), right->flops / right->total, 1e-9);
            check_same_profile(profile_number(r, "peak_percent"), right->peak_percent, 1e-9);
            share += profile_number(r, "share");
        }
        check_same_profile(share, 1, 1e-6);
    }
    assert_int_equal(n, rows);
    assert_true(profile_number(root, "overlap_s") <= profile_number(root, "busy_s"));
    assert_true(profile_number(root, "spans_not_kept") == 0);
    json_decref(root);
    free(text);
    works(clfree(x));
}

/* A program with a decimal comma locale gets numbers with points nevertheless. */
static void profile_ignores_decimal_comma_locale(void **unused)
{
    (void)unused;
    char *text;
    int *x = new_profile_block();
    if (!enter_decimal_commas())
        skip();
    run_some(x);
    text = profile_text(CLPROF_CSV);
    assert_string_equal(localeconv()->decimal_point, ","); /* still the program's choice */
    setlocale(LC_NUMERIC, "C");
    char *save = NULL, *field[32], *l = strtok_r(text, "\n", &save);
    l = strtok_r(NULL, "\n", &save);
    assert_int_equal(split_csv(l, field, 32), 16);
    check_same_profile(strtod(field[6], NULL), row[0].total, 1e-6);
    free(text);
    works(clfree(x));
}

/* ---- Threads. ---- */

enum { THREADS = 4, LAUNCHES = 500 };

static void *launch_many_profiled(void *unused)
{
    (void)unused;
    clndrange_t ndr = clndrange_init1d(0, 64, 0);
    cl_kernel add = clsym(cp, basic, "add", 0);
    int *x = clmalloc(cp, 64 * sizeof *x, 0);
    long bad = !add || !x;
    for (int i = 0; i < LAUNCHES; i++) {
        clprofile_begin(cp, "launch");
        bad += clforka(cp, 0, add, &ndr, CL_EVENT_NOWAIT, x, 1) == NO_EVENT;
        clprofile_end(cp);
        if (i % 100 == 99)
            bad += clwait(cp, 0, CL_KERNEL_EVENT) == NO_EVENT;
    }
    bad += clmsync(cp, 0, x, CL_MEM_HOST) == NO_EVENT;
    bad += clfree(x) != 0;
    return (void *)(intptr_t)bad;
}

/* Concurrent reports neither lose a launch nor count it twice. */
static void profile_counts_all_threads(void **unused)
{
    (void)unused;
    pthread_t thread[THREADS];
    struct clprofile_row some[MAX_ROWS];
    void *bad;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, launch_many_profiled, NULL), 0);
    size_t before = 0;
    for (int i = 0; i < 50; i++) {
        size_t n = clprofile_rows(cp, some, MAX_ROWS), count = 0;
        for (size_t k = 0; k < n; k++)
            count += some[k].kind == CL_KERNEL_EVENT ? some[k].count : 0;
        assert_true(count >= before);
        before = count;
    }
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], &bad), 0);
        assert_null(bad);
    }
    read_profile_rows();
    check_profile_line(0, "add", CL_KERNEL_EVENT, THREADS * LAUNCHES, 0);
    check_profile_line(0, "device to host", CL_MEM_EVENT, THREADS, THREADS * 64 * sizeof(int));
}

/* A thread's commands are complete when its own clwait returns, and none is lost. */
static void *wait_for_own(void *keep)
{
    clndrange_t one = clndrange_init1d(0, 1, 1);
    cl_kernel nothing = clsym(cp, basic, "nothing", 0);
    long bad = 0;
    for (int i = 0; i < LAUNCHES; i++) {
        cl_event ev = clfork(cp, 0, nothing, &one, CL_EVENT_NOWAIT | CL_EVENT_OWN);
        bad += ev == NO_EVENT ||
               clwait(cp, 0, CL_KERNEL_EVENT | (keep ? CL_EVENT_NORELEASE : 0)) == NO_EVENT;
        bad += event_status(ev) != CL_COMPLETE;
        clReleaseEvent(ev);
    }
    return (void *)(intptr_t)bad;
}

static void profile_waits_for_each_thread(void **unused)
{
    (void)unused;
    enum { MANY = 6 };
    pthread_t thread[MANY];
    void *bad;
    for (int keep = 0; keep < 2; keep++) {
        works(clprofile_reset(cp));
        for (int i = 0; i < MANY; i++)
            assert_int_equal(pthread_create(&thread[i], NULL, wait_for_own, keep ? &thread : NULL),
                             0);
        for (int i = 0; i < MANY; i++) {
            assert_int_equal(pthread_join(thread[i], &bad), 0);
            assert_null(bad);
        }
        read_profile_rows();
        check_profile_line(0, "nothing", CL_KERNEL_EVENT, MANY * LAUNCHES, 0);
    }
}

/* ---- What the environment asks for. ---- */

/* The child: HOW is "exit" or "destroy", or "fork": another process ends before this one. */
static int run_profile_child(const char *how)
{
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    CLCONTEXT *context[2];
    for (int i = 0; i < 2; i++) {
        context[i] = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 1, NULL, 0);
        void *program = clopen(context[i], BASIC_CL, CLLD_NOW);
        int *x = clmalloc(context[i], N * sizeof *x, 0);
        cl_kernel add = clsym(context[i], program, "add", 0);
        clprofile_work(add, 1000, 1000, CLPROF_SINGLE);
        clprofile_begin(context[i], "launches");
        for (int k = 0; k < 3 + i; k++)
            if (!add || clforka(context[i], 0, add, &ndr, CL_EVENT_NOWAIT, x, k) == NO_EVENT)
                return 3;
        clwait(context[i], 0, CL_KERNEL_EVENT);
        clprofile_end(context[i]);
    }
    if (strcmp(how, "fork") == 0) {
        int status;
        pid_t other = fork();
        if (other == 0)
            exit(0);
        return waitpid(other, &status, 0) == other && status == 0 ? 0 : 4;
    }
    return strcmp(how, "destroy") == 0
               ? clcontext_destroy(context[0]) | clcontext_destroy(context[1])
               : 0;
}

/* Return a child's output; it must succeed. */
static char *said(const char *const *env, const char *how)
{
    const char *const words[] = {how, NULL};
    struct child c = start_child(env, words);
    char *text = NULL, chunk[4096];
    size_t size, n;
    FILE *fp = open_memstream(&text, &size);
    while ((n = fread(chunk, 1, sizeof chunk, c.out)) > 0)
        fwrite(chunk, 1, n, fp);
    fclose(fp);
    int status = end_child(&c);
    if (status != 0)
        fail_msg("the child ended with %d: %s", status, text);
    return text;
}

static size_t times_in(const char *text, const char *part)
{
    size_t n = 0;
    for (; (text = strstr(text, part)); text += strlen(part))
        n++;
    return n;
}

static void profile_environment_prints_table(void **unused)
{
    (void)unused;
    static const char *const hows[] = {"exit", "destroy", "fork"};
    for (int i = 0; i < 3; i++) {
        char *text = said(with("STDCL_PROFILE=1"), hows[i]);
        assert_int_equal(times_in(text, "kernel or transfer"), 2); /* one a context */
        assert_int_equal(times_in(text, "  add "), 2);
        char *add = strstr(text, "  add ");
        assert_int_equal(strtol(add + 6, NULL, 10), 3); /* in the order of creation */
        add[strcspn(add, "\n")] = 0;
        assert_int_equal(times_in(add, "%"),
                         2); /* the share, and of the peak, which was known in time */
        free(text);
    }
    char *text = said(with("STDCL_PROFILE=table"), "exit");
    assert_int_equal(times_in(text, "kernel or transfer"), 2);
    free(text);
}

static void profile_environment_prints_csv_and_json(void **unused)
{
    (void)unused;
    char *text = said(with("STDCL_PROFILE=csv"), "exit");
    assert_int_equal(times_in(text, "device,device_name"), 2);
    assert_int_equal(times_in(text, ",kernel,\"add\",3,3,"), 1);
    assert_int_equal(times_in(text, ",kernel,\"add\",4,4,"), 1);
    free(text);
    text = said(with("STDCL_PROFILE=json"), "destroy");
    json_error_t error;
    json_t *root = json_loads(text, JSON_DISABLE_EOF_CHECK, &error);
    if (!root)
        fail_msg("%s: %s", error.text, text);
    json_t *add = json_array_get(
        json_object_get(json_array_get(json_object_get(root, "devices"), 0), "rows"), 0);
    assert_true(profile_number(add, "count") == 3 && profile_number(add, "flops") == 3000);
    assert_true(profile_number(add, "peak_percent") > 0);
    json_decref(root);
    free(text);
}

/* Fail if the text has a profile or an error; frees the text. (A leak sanitizer may print about
 * threads.) */
static void says_nothing(char *text)
{
    assert_int_equal(times_in(text, "stdcl") + times_in(text, "add") + times_in(text, "device"), 0);
    free(text);
}

static void profile_environment_turns_off(void **unused)
{
    (void)unused;
    char *text = said(with("STDCL_PROFILE=0", "STDCL_TRACE="), "exit");
    says_nothing(text);
    text = said(with("STDCL_PROFILE=", "STDCL_TRACE="), "destroy");
    says_nothing(text);
}

static void profile_environment_bad_value_is_rejected(void **unused)
{
    (void)unused;
    setenv("STDCL_PROFILE", "xml", 1);
    assert_null(clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 0, NULL, 0));
    assert_int_equal(clerrno, EINVAL);
    contains(clerror(), "STDCL_PROFILE is \"xml\"; allowed values: 0 1 table csv json");
    unsetenv("STDCL_PROFILE");
}

static void profile_environment_writes_timeline(void **unused)
{
    (void)unused;
    char setting[PATH_MAX + 20];
    static const char *const hows[] = {"exit", "destroy", "fork"};
    for (int h = 0; h < 3; h++) {
        const char *file = in_folder(hows[h]);
        snprintf(setting, sizeof setting, "STDCL_TRACE=%s", file);
        char *text = said(with(setting, "STDCL_PROFILE="), hows[h]);
        says_nothing(text);
        json_error_t error;
        json_t *root = json_load_file(file, JSON_REJECT_DUPLICATES, &error), *e;
        if (!root)
            fail_msg("%s", error.text);
        size_t i, kernels[4] = {0}, phases = 0;
        json_array_foreach(json_object_get(root, "traceEvents"), i, e)
        {
            const char *kind = json_string_value(json_object_get(e, "cat"));
            size_t pid = (size_t)profile_number(e, "pid");
            if (kind && strcmp(kind, "kernel") == 0 && pid < 4)
                kernels[pid]++;
            phases += kind && strcmp(kind, "host") == 0;
        }
        assert_int_equal(kernels[1], 3); /* each context's device is a process of its own */
        assert_int_equal(kernels[2], 4);
        assert_int_equal(phases, 2);
        json_decref(root);
    }
    char *text = said(with("STDCL_TRACE=/dev/null/trace.json", "STDCL_PROFILE="), "exit");
    contains(text, "clprofile_trace: /dev/null/trace.json: ");
    free(text);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return run_profile_child(argv[1]);
    unsetenv("STDCL_PROFILE");
    unsetenv("STDCL_TRACE");
#define PROFILED(test)                                                                             \
    cmocka_unit_test_setup_teardown(test, open_profile_context, close_profile_context)
    const struct CMUnitTest tests[] = {
        PROFILED(profile_counts_launches_and_bytes),
        PROFILED(profile_counts_once),
        PROFILED(profile_counts_untimed_commands),
        PROFILED(profile_agrees_with_host_clock),
        PROFILED(profile_sorts_by_device_and_total),
        PROFILED(profile_zero_copy_moves_no_bytes),
        PROFILED(profile_accumulates_work),
        PROFILED(profile_prints_percent_of_peak),
        PROFILED(profile_separates_precisions),
        PROFILED(profile_rejects_bad_work),
        PROFILED(profile_turns_on_and_off),
        PROFILED(profile_resets),
        PROFILED(profile_never_on_is_free),
        PROFILED(profile_off_is_reported),
        PROFILED(profile_context_ends_with_commands_in_flight),
        PROFILED(profile_prints_table),
        PROFILED(profile_prints_csv),
        PROFILED(profile_prints_json),
        PROFILED(profile_counts_all_threads),
        PROFILED(profile_waits_for_each_thread),
    };
    struct CMUnitTest printed[] = {
        cmocka_unit_test(profile_environment_turns_off),
        cmocka_unit_test(profile_environment_bad_value_is_rejected),
        cmocka_unit_test(profile_environment_writes_timeline),
        /* Of the following, every n-th runs. */
        cmocka_unit_test(profile_environment_prints_table),
        PROFILED(profile_ignores_decimal_comma_locale),
        cmocka_unit_test(profile_environment_prints_csv_and_json),
    };
    int failed = cmocka_run_group_tests(tests, files_create, files_remove);
    if (!getenv("STDCL_TEST_AGAIN"))
        failed += sampled_run("what is printed", printed, 2, 3, files_create, files_remove);
    return failed;
}
