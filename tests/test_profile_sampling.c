/* test_profile_sampling.c - profiles that time a sample of the commands: counts and estimated
 * totals.
 *
 * The reference is the test's own record. The test provides the device's time stamps, so that
 * sums are exact and a busy machine does not lengthen a command. The environment turns on
 * sampling; where time stamps are cheap, a second queue collects them.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include <jansson.h>
#include <math.h>
#include <pthread.h>

enum { N = 64, FIRST = 64, MAX_ROWS = 32 };

static CLCONTEXT *cp;
static void *basic;
static struct clprofile_row row[MAX_ROWS];
static size_t rows;

/* ---- The device's clock (the linker's --wrap): a kernel ends `takes` ns after its start. ---- */

enum { SLOTS = 1 << 16 };
static struct {
    cl_event event;
    uint64_t ns;
} slot[SLOTS]; /* by the event's address, which a later event may reuse */
static uint64_t takes = 1000;
static pthread_mutex_t slot_lock = PTHREAD_MUTEX_INITIALIZER;

static uint64_t *sampled_time_of(cl_event ev)
{
    size_t i = ((uintptr_t)ev >> 4) * 2654435761u % SLOTS;
    while (slot[i].event && slot[i].event != ev)
        i = (i + 1) % SLOTS;
    slot[i].event = ev;
    return &slot[i].ns;
}

cl_int __real_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dim,
                                     const size_t *offset, const size_t *global,
                                     const size_t *local, cl_uint n, const cl_event *list,
                                     cl_event *ev);
cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dim,
                                     const size_t *offset, const size_t *global,
                                     const size_t *local, cl_uint n, const cl_event *list,
                                     cl_event *ev);
cl_int __real_clGetEventProfilingInfo(cl_event ev, cl_profiling_info what, size_t size, void *value,
                                      size_t *got);
cl_int __wrap_clGetEventProfilingInfo(cl_event ev, cl_profiling_info what, size_t size, void *value,
                                      size_t *got);

cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dim,
                                     const size_t *offset, const size_t *global,
                                     const size_t *local, cl_uint n, const cl_event *list,
                                     cl_event *ev)
{
    const cl_int err = __real_clEnqueueNDRangeKernel(q, k, dim, offset, global, local, n, list, ev);
    pthread_mutex_lock(&slot_lock);
    if (err == CL_SUCCESS && ev)
        *sampled_time_of(*ev) = takes;
    pthread_mutex_unlock(&slot_lock);
    return err;
}

cl_int __wrap_clGetEventProfilingInfo(cl_event ev, cl_profiling_info what, size_t size, void *value,
                                      size_t *got)
{
    if (what != CL_PROFILING_COMMAND_END)
        return __real_clGetEventProfilingInfo(ev, what, size, value, got);
    const cl_int err =
        __real_clGetEventProfilingInfo(ev, CL_PROFILING_COMMAND_START, size, value, got);
    pthread_mutex_lock(&slot_lock);
    if (err == CL_SUCCESS)
        *(cl_ulong *)value += *sampled_time_of(ev);
    pthread_mutex_unlock(&slot_lock);
    return err;
}

/* ---- Profiled commands. ---- */

static void open_sampled(const char *n)
{
    setenv("STDCL_PROFILE_SAMPLE", n, 1);
    cp = clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 1, NULL, 0);
    ready(cp);
    basic = clopen(cp, BASIC_CL, CLLD_NOW);
    ready(basic);
    works(clprofile(cp, 1));
    unsetenv("STDCL_PROFILE_SAMPLE");
}

static const struct clprofile_row *sampled_line(const char *name)
{
    rows = clprofile_rows(cp, row, MAX_ROWS);
    assert_in_range(rows, 1, MAX_ROWS);
    for (size_t i = 0; i < rows; i++)
        if (strcmp(row[i].name, name) == 0)
            return &row[i];
    fail_msg("no line %s", name);
    return NULL;
}

static cl_kernel sampled_kernel(const char *name)
{
    cl_kernel k = clsym(cp, basic, name, 0);
    ready(k);
    return k;
}

static void launch_sampled(cl_kernel k, size_t items, int *x, int value, int flags)
{
    clndrange_t ndr = clndrange_init1d(0, items, 0);
    assert_ptr_not_equal(clforka(cp, 0, k, &ndr, flags, x, value), NO_EVENT);
}

/* All commands are counted, with their work; the first ones are timed, and about one in n of the
 * remainder. */
static void sampling_counts_all_and_times_some(void **unused)
{
    (void)unused;
    enum { LAUNCHES = 1200, PERIOD = 8 };
    open_sampled("8");
    int *x = clmalloc(cp, N * sizeof *x, 0);
    cl_kernel add = sampled_kernel("add");
    works(clprofile_work(add, 10, 20, CLPROF_SINGLE));
    for (int i = 0; i < LAUNCHES; i++)
        launch_sampled(add, N, x, 1, i % 7 ? CL_EVENT_NOWAIT : CL_EVENT_WAIT);
    const struct clprofile_row *r = sampled_line("add");
    const size_t sample = (LAUNCHES - FIRST) / PERIOD;
    assert_int_equal(r->count, LAUNCHES);
    assert_in_range(r->timed, FIRST + sample / 2, FIRST + 2 * sample);
    assert_true(r->flops == 10. * LAUNCHES && r->bytes == 20. * LAUNCHES);
    assert_true(r->minimum > 0 && r->minimum * LAUNCHES <= r->total &&
                r->total <= r->maximum * LAUNCHES);

    works(clprofile_reset(cp)); /* and again from the beginning */
    for (int i = 0; i < FIRST; i++)
        launch_sampled(add, N, x, 1, CL_EVENT_NOWAIT);
    r = sampled_line("add");
    assert_int_equal(r->count, FIRST);
    assert_int_equal(r->timed, FIRST);
    works(clcontext_destroy(cp));
}

/* A command runs after those launched before it and before those after it, whichever queue it
 * goes to. */
static void sampling_keeps_queue_order(void **unused)
{
    (void)unused;
    enum { ROUNDS = 400 };
    open_sampled("2");
    int *x = clmalloc(cp, N * sizeof *x, 0), *y = clmalloc(cp, N * sizeof *y, 0);
    cl_kernel add = sampled_kernel("add"), fill = sampled_kernel("fill"),
              copy = sampled_kernel("copy");
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    ready(x && y ? x : NULL);
    for (int i = 0; i < ROUNDS; i++) {
        launch_sampled(fill, N, x, 3 * i, CL_EVENT_NOWAIT);
        launch_sampled(add, N, x, i, CL_EVENT_NOWAIT);
        assert_ptr_not_equal(clforka(cp, 0, copy, &ndr, CL_EVENT_NOWAIT, x, y), NO_EVENT);
        launch_sampled(add, N, y, 1, CL_EVENT_NOWAIT);
        assert_ptr_not_equal(clmcopy(cp, 0, y, x, CL_EVENT_NOWAIT), NO_EVENT);
        assert_ptr_not_equal(clmsync(cp, 0, x, CL_MEM_HOST | CL_EVENT_NOWAIT), NO_EVENT);
        assert_ptr_not_equal(clwait(cp, 0, i % 2 ? CL_MEM_EVENT : CL_ALL_EVENT), NO_EVENT);
        for (int k = 0; k < N; k++)
            assert_int_equal(x[k], 4 * i + 1);
    }
    const size_t expected[] = {ROUNDS, 2 * ROUNDS, ROUNDS};
    static const char *const names[] = {"fill", "add", "copy on device"};
    for (int i = 0; i < 3; i++) {
        const struct clprofile_row *r = sampled_line(names[i]);
        assert_int_equal(r->count, expected[i]);
        assert_true(r->timed < r->count);
    }
    assert_true(sampled_line("copy on device")->bytes == 2. * ROUNDS * N * sizeof *x);
    works(clcontext_destroy(cp));
}

/* Launches of one kernel with sizes that differ by 400, the long ones among the first: each size is
 * estimated from its own samples. */
static void sampling_separates_launch_sizes(void **unused)
{
    (void)unused;
    enum { SHORT = 1000, LONG = 400000, FEW = 30, MANY = 1200 };
    static const char *const samples[] = {"1", "8"};
    for (size_t s = 0; s < 2; s++) {
        open_sampled(samples[s]);
        cl_kernel add = sampled_kernel("add");
        int *x = clmalloc(cp, sizeof *x, 0);
        for (int i = 0; i < MANY; i++) {
            takes = i < 2 * FEW && i % 2 ? LONG : SHORT;
            works(clprofile_work(add, (double)takes, 0, CLPROF_SINGLE));
            launch_sampled(add, 1, x, 1, CL_EVENT_NOWAIT);
        }
        takes = 1000;
        const struct clprofile_row r = *sampled_line("add");
        const double ns = (double)FEW * LONG + (double)(MANY - FEW) * SHORT;
        assert_int_equal(r.count, MANY);
        assert_true((r.timed == MANY) == (s == 0));
        assert_true(r.flops == ns);
        assert_true(fabs(r.total - 1e-9 * ns) < 1e-6 * r.total);
        works(clcontext_destroy(cp));
    }
}

static void sampling_times_all_long_commands(void **unused)
{
    (void)unused;
    open_sampled("1000");
    cl_kernel add = sampled_kernel("add");
    int *x = clmalloc(cp, sizeof *x, 0);
    takes = 2000000;
    for (int i = 0; i < 120; i++)
        launch_sampled(add, 1, x, 1, CL_EVENT_WAIT);
    takes = 1000;
    const struct clprofile_row *r = sampled_line("add");
    assert_int_equal(r->count, 120);
    assert_int_equal(r->timed, 120);
    works(clcontext_destroy(cp));
}

static char *sampled_report(int format)
{
    static char *text;
    static size_t size;
    FILE *fp = open_memstream(&text, &size);
    works(clprofile_report(cp, fp, format));
    fclose(fp);
    return text;
}

static void sampling_report_names_count(void **unused)
{
    (void)unused;
    open_sampled("50");
    int *x = clmalloc(cp, N * sizeof *x, 0);
    cl_kernel add = sampled_kernel("add");
    launch_sampled(add, N, x, 1, CL_EVENT_WAIT);
    char *text = sampled_report(CLPROF_TABLE);
    assert_null(strstr(text, "timed")); /* all of them */
    free(text);
    for (int i = 1; i < 500; i++)
        launch_sampled(add, N, x, 1, CL_EVENT_NOWAIT);
    const size_t timed = sampled_line("add")->timed;
    assert_in_range(timed, FIRST, 150);

    text = sampled_report(CLPROF_TABLE);
    size_t count = 0, told = 0;
    const char *heading = strstr(text, " count ");
    assert_non_null(heading);
    assert_non_null(strstr(heading, " timed"));
    const char *line = strstr(text, "\nadd ");
    assert_non_null(line);
    assert_int_equal(sscanf(line, " add %zu %zu", &count, &told), 2);
    assert_int_equal(count, 500);
    assert_int_equal(told, timed);
    free(text);

    char expected[64];
    snprintf(expected, sizeof expected, "\"add\",500,%zu,", timed);
    text = sampled_report(CLPROF_CSV);
    assert_non_null(strstr(text, ",name,count,timed,total_s,"));
    assert_non_null(strstr(text, expected));
    free(text);

    text = sampled_report(CLPROF_JSON);
    json_t *root = json_loads(text, 0, NULL);
    json_t *r = json_array_get(
        json_object_get(json_array_get(json_object_get(root, "devices"), 0), "rows"), 0);
    assert_int_equal(json_integer_value(json_object_get(r, "count")), 500);
    assert_int_equal(json_integer_value(json_object_get(r, "timed")), timed);
    json_decref(root);
    free(text);
    works(clcontext_destroy(cp));
}

static void sampling_can_time_all(void **unused)
{
    (void)unused;
    static const struct {
        const char *sample, *trace;
        int on;
        bool all;
    } cases[] = {{"5", NULL, 1, false},
                 {"1", NULL, 1, true},
                 {"5", NULL, CLPROF_EVERY, true},
                 {"5", "/dev/null", 1, true}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        open_sampled(cases[c].sample);
        setenv("STDCL_PROFILE_SAMPLE", cases[c].sample, 1);
        works(clprofile(cp, 0));
        if (cases[c].trace)
            setenv("STDCL_TRACE", cases[c].trace, 1);
        works(clprofile(cp, cases[c].on));
        unsetenv("STDCL_TRACE");
        int *x = clmalloc(cp, N * sizeof *x, 0);
        for (int i = 0; i < 300; i++)
            launch_sampled(sampled_kernel("add"), N, x, 1, CL_EVENT_NOWAIT);
        assert_int_equal(sampled_line("add")->count, 300);
        assert_true((sampled_line("add")->timed == 300) == cases[c].all);
        works(clprofile(cp, 1 + cases[c].all)); /* from one mode to the other, or none */
        works(clcontext_destroy(cp));
    }
    unsetenv("STDCL_PROFILE_SAMPLE");
}

static void sampling_rejects_bad_numbers(void **unused)
{
    (void)unused;
    static const char *const wrong[] = {"0", "-3", "x", "4x", "1e9", "99999999999999999999", " "};
    open_sampled("5");
    works(clprofile(cp, 0));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        setenv("STDCL_PROFILE_SAMPLE", wrong[i], 1);
        fails(EINVAL, clprofile(cp, 1));
        contains((clprofile(cp, 1), clerror()), wrong[i]);
    }
    setenv("STDCL_PROFILE", "1", 1);
    assert_null(clcontext_create(NULL, (int)CL_DEVICE_TYPE_ALL, 1, NULL, 0));
    contains(clerror(), "STDCL_PROFILE_SAMPLE");
    unsetenv("STDCL_PROFILE");
    unsetenv("STDCL_PROFILE_SAMPLE");
    works(clprofile(cp, 1));
    works(clcontext_destroy(cp));
}

enum { THREADS = 4, LAUNCHES = 600 };

static void *launch_many_sampled(void *unused)
{
    (void)unused;
    clndrange_t ndr = clndrange_init1d(0, N, 0);
    cl_kernel add = clsym(cp, basic, "add", 0);
    int *x = clmalloc(cp, N * sizeof *x, 0);
    long bad = !add || !x;
    for (int k = 0; k < N; k++)
        x[k] = 0;
    bad += clmsync(cp, 0, x, CL_MEM_DEVICE) == NO_EVENT;
    for (int i = 0; i < LAUNCHES; i++)
        bad += clforka(cp, 0, add, &ndr, CL_EVENT_NOWAIT, x, 1) == NO_EVENT;
    bad += clmsync(cp, 0, x, CL_MEM_HOST) == NO_EVENT;
    for (int k = 0; k < N; k++)
        bad += x[k] != LAUNCHES;
    bad += clfree(x) != 0;
    return (void *)(intptr_t)bad;
}

static void sampling_threads_lose_nothing(void **unused)
{
    (void)unused;
    pthread_t thread[THREADS];
    void *bad;
    open_sampled("3");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, launch_many_sampled, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], &bad), 0);
        assert_null(bad);
    }
    assert_int_equal(sampled_line("add")->count, THREADS * LAUNCHES);
    assert_true(sampled_line("add")->timed < THREADS * LAUNCHES);
    works(clcontext_destroy(cp));
}

int main(void)
{
    unsetenv("STDCL_PROFILE");
    unsetenv("STDCL_TRACE");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sampling_counts_all_and_times_some),
        cmocka_unit_test(sampling_keeps_queue_order),
        cmocka_unit_test(sampling_separates_launch_sizes),
        cmocka_unit_test(sampling_times_all_long_commands),
        cmocka_unit_test(sampling_report_names_count),
        cmocka_unit_test(sampling_can_time_all),
        cmocka_unit_test(sampling_rejects_bad_numbers),
        cmocka_unit_test(sampling_threads_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
