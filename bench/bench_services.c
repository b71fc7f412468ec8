/* bench_services.c - cost of the layer's services: profiling, argument checks, phases, lookups.
 *
 *   usage: bench_services [--device cpu|gpu|PATTERN] [--microseconds US] [--rounds N] [--json]
 *
 * Launches of a kernel of about US (50) microseconds, in batches with one wait and one by one: raw
 * OpenCL, the layer, the layer with its profile on, and with every launch timed (on a CPU the
 * same). The four alternate within each of N rounds, so that other load affects all; figures are
 * medians, of times and of differences within a round. A batch is long enough for a sample of its
 * launches to be timed. Before anything is timed, the profile's counts are compared with the
 * launches made.
 * SPDX-License-Identifier: MIT
 */
#include "bench/common.h"
#include "core/kernel.h"
#include "core/clock.h"

#include <math.h>

enum { BATCH = 256, MAX_ROUNDS = 2000, CALLS = 1000000 };

static const char source[] = "__kernel void slow(__global uint *x, int rounds)\n"
                             "{ uint v = x[get_global_id(0)];\n"
                             "  for (int r = 0; r < rounds; r++) v = v * 1664525u + 1013904223u;\n"
                             "  x[get_global_id(0)] = v; }\n";

/* Median of a[i] - b[i]. */
static double median_difference(const double *a, const double *b, size_t n)
{
    static double d[MAX_ROUNDS];
    for (size_t i = 0; i < n; i++)
        d[i] = a[i] - b[i];
    return bench_median(d, n);
}

/* ---- Launches. ---- */

/* A context with its kernel, profiled or not; raw calls use the objects of the unprofiled one. */
struct way {
    CLCONTEXT *cp;
    cl_kernel kernel;
    cl_uint *x;
};
static struct way off, on, every;
static clndrange_t one = clndrange_init1d(0, 1, 1);

static void open_way(struct way *w, cl_device_id device, int profiled)
{
    w->cp = clcontext_create_from(&device, 1);
    if (!w->cp || clprofile(w->cp, profiled) != 0)
        die("the context");
    void *program = clsopen(w->cp, source, CLLD_NOW);
    w->kernel = program ? clsym(w->cp, program, "slow", 0) : NULL;
    w->x = clmalloc(w->cp, sizeof *w->x, 0);
    if (!w->kernel || !w->x || clmsync(w->cp, 0, w->x, CL_MEM_DEVICE) == CL_FAILED)
        die("the kernel");
}

static void launch_layer(const struct way *w, int flags)
{
    if (clfork(w->cp, 0, w->kernel, &one, flags) == CL_FAILED)
        die("clfork");
}

static void batch_layer(const struct way *w)
{
    for (int i = 0; i < BATCH; i++)
        launch_layer(w, CL_EVENT_NOWAIT);
    clwait(w->cp, 0, CL_KERNEL_EVENT);
}

static void singles_layer(const struct way *w)
{
    for (int i = 0; i < BATCH; i++)
        launch_layer(w, CL_EVENT_WAIT);
}

/* The layer has set the arguments. Events are created and released, as in any program. */
static void run_raw(bool each)
{
    static const size_t size = 1;
    cl_command_queue queue = clgetqueue(off.cp, 0);
    cl_event ev;
    for (int i = 0; i < BATCH; i++) {
        if (clEnqueueNDRangeKernel(queue, off.kernel, 1, NULL, &size, &size, 0, NULL, &ev) !=
            CL_SUCCESS)
            die("clEnqueueNDRangeKernel");
        if (each)
            clWaitForEvents(1, &ev);
        clReleaseEvent(ev);
    }
    clFinish(queue);
}

/* Set the rounds so that a launch takes about `seconds` by the device's clock. */
static double calibrate_launches(double seconds)
{
    cl_int rounds = 1000;
    double took = 0;
    for (int i = 0; i < 4; i++) {
        struct clprofile_row row;
        if (clarg_set_global(on.kernel, 0, on.x) != 0 || clarg_set(on.kernel, 1, rounds) != 0)
            die("clarg_set");
        batch_layer(&on);
        clprofile_reset(on.cp);
        batch_layer(&on);
        if (clprofile_rows(on.cp, &row, 1) != 1 || row.count != BATCH)
            die("the profile did not count the launches");
        took = row.minimum;
        rounds = (cl_int)fmin(1e9, fmax(1, (double)rounds * seconds / took));
    }
    clarg_set(on.kernel, 1, rounds);
    for (int i = 0; i < 2; i++) {
        const struct way *w = i ? &every : &off;
        clarg_set_global(w->kernel, 0, w->x);
        clarg_set(w->kernel, 1, rounds);
        batch_layer(w); /* binds the arguments, so that raw launches find them */
    }
    return took;
}

/* Seconds per launch: raw, layer, with profile, all timed; the overhead of the layer, and of the
 * profile. */
struct launches {
    double raw, off, on, every, layer_adds, profile_adds, every_adds;
};

/* Seconds per launch, by the layer or raw in the same context. The first launch of another context
 * is not timed: it waits some 0.15 ms for the context switch of a GPU, which a program with one
 * context does not pay. */
static double time_of_way(const struct way *w, bool as_raw, bool each)
{
    launch_layer(w, CL_EVENT_WAIT);
    const double start = seconds_now();
    if (as_raw)
        run_raw(each);
    else
        (each ? singles_layer : batch_layer)(w);
    return (seconds_now() - start) / BATCH;
}

static struct launches compare_ways(bool each, size_t rounds)
{
    static double raw[MAX_ROUNDS], layer[MAX_ROUNDS], profiled[MAX_ROUNDS], timed[MAX_ROUNDS];
    for (size_t i = 0; i < 3 + rounds; i++) { /* the first ones warm up */
        const size_t at = i < 3 ? 0 : i - 3;
        raw[at] = time_of_way(&off, true, each);
        layer[at] = time_of_way(&off, false, each);
        profiled[at] = time_of_way(&on, false, each);
        timed[at] = time_of_way(&every, false, each);
    }
    struct launches l = {.layer_adds = median_difference(layer, raw, rounds),
                         .profile_adds = median_difference(profiled, layer, rounds),
                         .every_adds = median_difference(timed, layer, rounds)};
    l.raw = bench_median(raw, rounds);
    l.off = bench_median(layer, rounds);
    l.on = bench_median(profiled, rounds);
    l.every = bench_median(timed, rounds);
    return l;
}

/* ---- Calls. ---- */

/* Seconds per call, the best of a few runs. */
#define TIME_CALLS(calls, statement)                                                               \
    __extension__({                                                                                \
        double best_ = HUGE_VAL;                                                                   \
        for (int run_ = 0; run_ < 7; run_++) {                                                     \
            double t_ = seconds_now();                                                             \
            for (int i_ = 0; i_ < (calls); i_++) {                                                 \
                statement;                                                                         \
                __asm__ volatile("" ::: "memory");                                                 \
            }                                                                                      \
            best_ = fmin(best_, (seconds_now() - t_) / (calls));                                   \
        }                                                                                          \
        best_;                                                                                     \
    })

struct calls {
    double check_value, check_pointer, arg_set, raw_arg_set, phase_on, phase_off, find;
};

static struct calls time_calls(void)
{
    struct calls c;
    struct parameter parameters[2] = {
        {.kind = ARG_GLOBAL, .type = "uint*", .name = "x"},
        {.kind = ARG_VALUE, .type = "int", .name = "rounds", .size = 4}};
    const struct kernel declared = {.parameters = parameters, .nargs = 2};
    struct cltune_row row;
    cl_int value = 1;
    c.check_value =
        TIME_CALLS(CALLS, if (check_arg(&declared, 1, ARG_VALUE, 4, "int", "")) die("check_arg"));
    c.check_pointer =
        TIME_CALLS(CALLS, if (check_arg(&declared, 0, ARG_GLOBAL, sizeof(void *), "pointer", ""))
                              die("check_arg"));
    c.arg_set = TIME_CALLS(CALLS / 10, value++; clarg_set(on.kernel, 1, value));
    c.raw_arg_set =
        TIME_CALLS(CALLS / 10, value++; (clSetKernelArg)(off.kernel, 1, sizeof value, &value));
    c.phase_on = TIME_CALLS(CALLS / 100, clprofile_begin(on.cp, "phase"); clprofile_end(on.cp));
    c.phase_off = TIME_CALLS(CALLS, clprofile_begin(off.cp, "phase"); clprofile_end(off.cp));
    c.find = TIME_CALLS(1000, cltune_find(off.cp, 0, "nbody.direct.single", 65536, &row));
    return c;
}

/* ---- What is said. ---- */

static void print_launches(const char *what, const struct launches *l)
{
    printf("%-28s %9.2f %9.2f %9.2f %9.2f us", what, 1e6 * l->raw, 1e6 * l->off, 1e6 * l->on,
           1e6 * l->every);
    const double adds[] = {l->layer_adds, l->profile_adds, l->every_adds};
    for (int i = 0; i < 3; i++)
        printf(" %+8.2f us (%+5.2f %%)", 1e6 * adds[i], 100 * adds[i] / (i ? l->off : l->raw));
    printf("\n");
}

static void print_services_table(const struct cldev_info *info, double kernel,
                                 const struct launches *batch, const struct launches *each,
                                 const struct calls *c)
{
    printf("%s, driver %s, commit %s\na kernel of %.1f us\n\n", info->dev_name,
           info->dev_drv_version, STDCL_COMMIT, 1e6 * kernel);
    printf("%-28s %9s %9s %9s %9s    %21s %21s %21s\n", "per launch", "raw", "layer", "profiled",
           "all timed", "the layer adds", "the profile adds", "timing all adds");
    print_launches("started together, 256 a wait", batch);
    print_launches("each waited for", each);
    printf("\n%-52s %8.1f ns\n", "check of an argument, a value", 1e9 * c->check_value);
    printf("%-52s %8.1f ns\n", "check of an argument, a pointer", 1e9 * c->check_pointer);
    printf("%-52s %8.1f ns (clSetKernelArg: %.1f ns)\n",
           "clarg_set of another value, check included", 1e9 * c->arg_set, 1e9 * c->raw_arg_set);
    printf("%-52s %8.1f ns (profile off: %.1f ns)\n", "clprofile_begin and clprofile_end",
           1e9 * c->phase_on, 1e9 * c->phase_off);
    printf("%-52s %8.2f us\n", "cltune_find", 1e6 * c->find);
}

static void print_services_json(const struct cldev_info *info, double kernel,
                                const struct launches *batch, const struct launches *each,
                                const struct calls *c)
{
    printf(
        "{\"program\": \"bench_services\", \"device\": \"%s\", \"driver\": \"%s\", \"commit\": \"%s\", "
        "\"kernel_s\": %.4g, ",
        info->dev_name, info->dev_drv_version, STDCL_COMMIT, kernel);
    const struct launches *both[] = {batch, each};
    static const char *const names[] = {"launch", "launch_wait"};
    for (int i = 0; i < 2; i++)
        printf(
            "\"%s_raw_s\": %.5g, \"%s_layer_s\": %.5g, \"%s_profiled_s\": %.5g, \"%s_all_timed_s\": %.5g, "
            "\"%s_layer_adds_s\": %.4g, \"%s_profile_adds_s\": %.4g, \"%s_profile_share\": %.4g, "
            "\"%s_all_timed_share\": %.4g, ",
            names[i], both[i]->raw, names[i], both[i]->off, names[i], both[i]->on, names[i],
            both[i]->every, names[i], both[i]->layer_adds, names[i], both[i]->profile_adds,
            names[i], both[i]->profile_adds / both[i]->off, names[i],
            both[i]->every_adds / both[i]->off);
    printf(
        "\"check_value_s\": %.3g, \"check_pointer_s\": %.3g, \"arg_set_s\": %.3g, \"arg_set_raw_s\": %.3g, "
        "\"phase_s\": %.3g, \"phase_off_s\": %.3g, \"find_s\": %.3g}\n",
        c->check_value, c->check_pointer, c->arg_set, c->raw_arg_set, c->phase_on, c->phase_off,
        c->find);
}

static int services_usage(void)
{
    fprintf(
        stderr,
        "usage: bench_services [--device cpu|gpu|PATTERN] [--microseconds US] [--rounds N] [--json]\n");
    return 2;
}

int main(int argc, char **argv)
{
    const char *pattern = "";
    double microseconds = 50;
    size_t rounds = 61;
    bool json = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
            pattern = argv[++i];
        else if (strcmp(argv[i], "--microseconds") == 0 && i + 1 < argc && atof(argv[i + 1]) > 0)
            microseconds = atof(argv[++i]);
        else if (strcmp(argv[i], "--rounds") == 0 && i + 1 < argc && atoi(argv[i + 1]) > 0 &&
                 atoi(argv[i + 1]) <= MAX_ROUNDS)
            rounds = strtoul(argv[++i], NULL, 10);
        else
            return services_usage();
    }
    CLCONTEXT *cp = bench_open(pattern, 1);
    struct cldev_info info;
    if (!cp || clgetdevinfo(cp, &info) != 0)
        die("no device");
    open_way(&off, clgetdevice(cp, 0), 0);
    open_way(&on, clgetdevice(cp, 0), 1);
    open_way(&every, clgetdevice(cp, 0), CLPROF_EVERY);
    const double kernel = calibrate_launches(1e-6 * microseconds);
    const struct launches batch = compare_ways(false, rounds), each = compare_ways(true, rounds);
    const struct calls calls = time_calls();
    (json ? print_services_json : print_services_table)(&info, kernel, &batch, &each, &calls);
    clcontext_destroy(off.cp);
    clcontext_destroy(on.cp);
    clcontext_destroy(every.cp);
    return clcontext_destroy(cp);
}
