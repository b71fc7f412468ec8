/* bench_layer.c - overhead of the layer over raw OpenCL, both measured in the same run.
 *
 *   usage: bench_layer [--device cpu|gpu|PATTERN] [--launches N] [--mib N] [--json]
 *
 * Launches: an empty kernel launched and waited for, without arguments and with four new ones, raw
 * and through clfork, alternately, so that other load affects both; a launch alone; 50 launches
 * with four arguments, raw, through clforka, and as the replay of a recording; and the memory of
 * the process over many launches. Copies: clmsync against a raw copy from and to pinned memory,
 * and of a zero-copy block. Each answer is checked before it is timed; figures are medians.
 * SPDX-License-Identifier: MIT
 */
#include "bench/common.h"
#include "core/clock.h"

#include <stdcl.h>

#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

enum { ROUNDS = 201, BATCH = 50, COPIES = 15 };

static const char source[] =
    "__kernel void nothing(void) {}\n"
    "__kernel void four(__global int *x, __global int *y, int a, float b)\n"
    "{ if (a < 0) x[0] = y[0] + a * (int)b; }\n"
    "__kernel void add(__global int *x, int a) { x[get_global_id(0)] += a; }\n";

/* The same device and kernels through raw OpenCL. */
struct raw {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    cl_program program;
    cl_kernel nothing, four;
    cl_mem x, y;
};

struct layer {
    CLCONTEXT *cp;
    void *program;
    cl_kernel nothing, four, add;
    int *x, *y;
};

static struct raw raw;
static struct layer layer;
static clndrange_t one = clndrange_init1d(0, 1, 1);

static void must_succeed(cl_int err, const char *what)
{
    if (err != CL_SUCCESS) {
        fprintf(stderr, "bench_layer: %s: %s\n", what, oclerror_str(err));
        exit(1);
    }
}

static double resident_mib(void)
{
    long pages = 0, total = 0;
    FILE *fp = fopen("/proc/self/statm", "r");
    if (!fp || fscanf(fp, "%ld %ld", &total, &pages) != 2)
        pages = 0;
    if (fp)
        fclose(fp);
    return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1048576;
}

/* ---- Set-up. --------------------------------------------------------------------------------- */

static void open_layer(const char *pattern)
{
    layer.cp = bench_open(pattern, 1);
    if (!layer.cp)
        die("no such device");
    layer.program = clsopen(layer.cp, source, CLLD_NOW);
    layer.nothing = clsym(layer.cp, layer.program, "nothing", 0);
    layer.four = clsym(layer.cp, layer.program, "four", 0);
    layer.add = clsym(layer.cp, layer.program, "add", 0);
    layer.x = clmalloc(layer.cp, 4096, 0);
    layer.y = clmalloc(layer.cp, 4096, 0);
    if (!layer.nothing || !layer.four || !layer.add || !layer.x || !layer.y)
        die("cannot begin");
}

static void open_raw(void)
{
    const char *text = source;
    cl_int err;
    raw.device = clgetdevice(layer.cp, 0);
    raw.context = clCreateContext(NULL, 1, &raw.device, NULL, NULL, &err);
    must_succeed(err, "clCreateContext");
    raw.queue = clCreateCommandQueue(raw.context, raw.device, 0, &err);
    must_succeed(err, "clCreateCommandQueue");
    raw.program = clCreateProgramWithSource(raw.context, 1, &text, NULL, &err);
    must_succeed(err, "clCreateProgramWithSource");
    must_succeed(clBuildProgram(raw.program, 1, &raw.device, "", NULL, NULL), "clBuildProgram");
    raw.nothing = clCreateKernel(raw.program, "nothing", &err);
    must_succeed(err, "clCreateKernel");
    raw.four = clCreateKernel(raw.program, "four", &err);
    must_succeed(err, "clCreateKernel");
    raw.x = clCreateBuffer(raw.context, CL_MEM_READ_WRITE, 4096, NULL, &err);
    must_succeed(err, "clCreateBuffer");
    raw.y = clCreateBuffer(raw.context, CL_MEM_READ_WRITE, 4096, NULL, &err);
    must_succeed(err, "clCreateBuffer");
}

/* ---- Launches. ------------------------------------------------------------------------------- */

static const size_t single = 1;

static void raw_enqueue(cl_kernel krn, cl_event *ev)
{
    must_succeed((clEnqueueNDRangeKernel)(raw.queue, krn, 1, NULL, &single, &single, 0, NULL, ev),
                 "clEnqueueNDRangeKernel");
}

static void raw_wait(cl_kernel krn)
{
    cl_event ev;
    raw_enqueue(krn, &ev);
    must_succeed(clWaitForEvents(1, &ev), "clWaitForEvents");
    clReleaseEvent(ev);
}

static void raw_launch_and_wait(void)
{
    raw_wait(raw.nothing);
}

static void raw_set_four(void)
{
    cl_int a = 1;
    cl_float b = 2;
    (clSetKernelArg)(raw.four, 0, sizeof raw.x, &raw.x);
    (clSetKernelArg)(raw.four, 1, sizeof raw.y, &raw.y);
    (clSetKernelArg)(raw.four, 2, sizeof a, &a);
    (clSetKernelArg)(raw.four, 3, sizeof b, &b);
}

static void raw_four_arguments(void)
{
    raw_set_four();
    raw_wait(raw.four);
}

static void raw_four_alone(void)
{
    cl_event ev;
    raw_set_four();
    raw_enqueue(raw.four, &ev);
    clReleaseEvent(ev);
}

static void raw_launch_alone(void)
{
    cl_event ev;
    raw_enqueue(raw.nothing, &ev);
    clReleaseEvent(ev);
}

static void layer_launch_and_wait(void)
{
    clfork(layer.cp, 0, layer.nothing, &one, CL_EVENT_NOWAIT);
    clwait(layer.cp, 0, CL_ALL_EVENT);
}

static void layer_four_arguments(void)
{
    clforka(layer.cp, 0, layer.four, &one, CL_EVENT_NOWAIT, layer.x, layer.y, 1, 2.0f);
    clwait(layer.cp, 0, CL_ALL_EVENT);
}

static void layer_four_alone(void)
{
    clforka(layer.cp, 0, layer.four, &one, CL_EVENT_NOWAIT, layer.x, layer.y, 1, 2.0f);
}

static void layer_launch_alone(void)
{
    clfork(layer.cp, 0, layer.nothing, &one, CL_EVENT_NOWAIT);
}

/* Seconds per call, raw and through the layer, and the layer's overhead. */
struct pair {
    double raw, layer, added;
};

static double time_batch(void (*call)(void), void (*end)(void))
{
    double start = seconds_now();
    for (int i = 0; i < BATCH; i++)
        call();
    double seconds = (seconds_now() - start) / BATCH;
    end();
    return seconds;
}

static void no_end(void)
{
}

static void drain_both(void)
{
    clFinish(raw.queue);
    clwait(layer.cp, 0, CL_ALL_EVENT);
}

static struct pair compare_launches(void (*by_raw)(void), void (*by_layer)(void), void (*end)(void))
{
    static double r[ROUNDS], l[ROUNDS], d[ROUNDS];
    for (int i = -10; i < ROUNDS; i++) { /* the first ten warm up */
        bool raw_first = i & 1;
        double a = raw_first ? time_batch(by_raw, end) : 0;
        double b = time_batch(by_layer, end);
        if (!raw_first)
            a = time_batch(by_raw, end);
        if (i < 0)
            continue;
        r[i] = a;
        l[i] = b;
        d[i] = b - a;
    }
    return (struct pair){bench_median(r, ROUNDS), bench_median(l, ROUNDS), bench_median(d, ROUNDS)};
}

/* Seconds per launch of 50 with four arguments: raw, through clforka, and as a replay. */
struct replays {
    double raw, layer, replay;
};

static void *record_fours(void)
{
    clrecord_begin(layer.cp, 0);
    for (int i = 0; i < BATCH; i++)
        layer_four_alone();
    void *recording = clrecord_end(layer.cp, 0);
    if (!recording)
        die("cannot record");
    return recording;
}

static double time_replay(void *recording)
{
    const double start = seconds_now();
    if (clrecord_replay(layer.cp, recording, CL_EVENT_NOWAIT) == (cl_event)-1)
        die("cannot replay");
    const double seconds = (seconds_now() - start) / BATCH;
    drain_both();
    return seconds;
}

static struct replays compare_replays(void)
{
    static double r[ROUNDS], l[ROUNDS], p[ROUNDS];
    void *recording = record_fours();
    for (int i = -10; i < ROUNDS; i++) { /* the first ten warm up */
        const double a = time_batch(raw_four_alone, drain_both);
        const double b = time_batch(layer_four_alone, drain_both);
        const double c = time_replay(recording);
        if (i < 0)
            continue;
        r[i] = a;
        l[i] = b;
        p[i] = c;
    }
    clrecord_free(layer.cp, recording);
    return (struct replays){bench_median(r, ROUNDS), bench_median(l, ROUNDS),
                            bench_median(p, ROUNDS)};
}

/* Return the growth of the process in MiB over n launches, after the first tenth of them. */
static double memory_growth(void (*call)(void), int n, double *seconds)
{
    double before = 0, start = seconds_now();
    for (int i = 0; i < n; i++) {
        if (i == n / 10)
            before = resident_mib();
        call();
    }
    *seconds = (seconds_now() - start) / n;
    double grown = resident_mib() - before;
    clwait(layer.cp, 0, CL_ALL_EVENT);
    return grown;
}

static void check_launches(void)
{
    layer.x[0] = 40;
    clmsync(layer.cp, 0, layer.x, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    clforka(layer.cp, 0, layer.add, &one, CL_EVENT_NOWAIT, layer.x, 2);
    clmsync(layer.cp, 0, layer.x, CL_MEM_HOST | CL_EVENT_NOWAIT);
    clwait(layer.cp, 0, CL_ALL_EVENT);
    if (layer.x[0] != 42)
        die("40 + 2 is not 42 on this device");
}

/* ---- Copies. --------------------------------------------------------------------------------- */

/* A device buffer and pinned host memory, by raw OpenCL. */
struct raw_copy {
    cl_mem pinned, buffer;
    void *host;
};

static struct raw_copy raw_copy_open(size_t size)
{
    struct raw_copy c;
    cl_int err;
    c.pinned =
        clCreateBuffer(raw.context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size, NULL, &err);
    must_succeed(err, "pinned memory");
    c.buffer = clCreateBuffer(raw.context, CL_MEM_READ_WRITE, size, NULL, &err);
    must_succeed(err, "a device buffer");
    c.host = clEnqueueMapBuffer(raw.queue, c.pinned, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, size,
                                0, NULL, NULL, &err);
    must_succeed(err, "clEnqueueMapBuffer");
    return c;
}

static void raw_copy_close(struct raw_copy *c)
{
    clEnqueueUnmapMemObject(raw.queue, c->pinned, c->host, 0, NULL, NULL);
    clFinish(raw.queue);
    clReleaseMemObject(c->pinned);
    clReleaseMemObject(c->buffer);
}

static void fill_copy_block(uint32_t *x, size_t size, uint32_t salt)
{
    for (size_t i = 0; i < size / sizeof *x; i++)
        x[i] = (uint32_t)i * 2654435761u ^ salt;
}

static void check_copy(const uint32_t *x, size_t size, uint32_t salt, const char *what)
{
    for (size_t i = 0; i < size / sizeof *x; i++)
        if (x[i] != ((uint32_t)i * 2654435761u ^ salt))
            die(what);
}

static double time_raw_copy(const struct raw_copy *c, size_t size, int direction)
{
    double start = seconds_now();
    if (direction == CL_MEM_DEVICE)
        must_succeed(
            clEnqueueWriteBuffer(raw.queue, c->buffer, CL_TRUE, 0, size, c->host, 0, NULL, NULL),
            "clEnqueueWriteBuffer");
    else
        must_succeed(
            clEnqueueReadBuffer(raw.queue, c->buffer, CL_TRUE, 0, size, c->host, 0, NULL, NULL),
            "clEnqueueReadBuffer");
    return seconds_now() - start;
}

static double time_layer_copy(void *x, int direction)
{
    double start = seconds_now();
    if (clmsync(layer.cp, 0, x, direction | CL_EVENT_WAIT) != NULL)
        die("clmsync");
    return seconds_now() - start;
}

/* Seconds for `size` bytes in one direction, CL_MEM_DEVICE or CL_MEM_HOST. */
static struct pair compare_copies(const struct raw_copy *c, void *x, size_t size, int direction)
{
    double r[COPIES], l[COPIES], d[COPIES];
    for (int i = -2; i < COPIES; i++) { /* the first two warm up */
        bool raw_first = i & 1;
        double a = raw_first ? time_raw_copy(c, size, direction) : 0;
        double b = time_layer_copy(x, direction);
        if (!raw_first)
            a = time_raw_copy(c, size, direction);
        if (i < 0)
            continue;
        r[i] = a;
        l[i] = b;
        d[i] = b - a;
    }
    return (struct pair){bench_median(r, COPIES), bench_median(l, COPIES), bench_median(d, COPIES)};
}

static void copies(size_t size, struct pair *to_device, struct pair *to_host)
{
    struct raw_copy c = raw_copy_open(size);
    uint32_t *x = clmalloc(layer.cp, size, 0);
    if (!x)
        die("out of memory for the copies");
    fill_copy_block(c.host, size, 1);
    fill_copy_block(x, size, 2);
    clmsync(layer.cp, 0, x, CL_MEM_DEVICE);
    memset(x, 0, size);
    clmsync(layer.cp, 0, x, CL_MEM_HOST);
    check_copy(x, size, 2, "what came back differs from what was sent");
    *to_device = compare_copies(&c, x, size, CL_MEM_DEVICE);
    *to_host = compare_copies(&c, x, size, CL_MEM_HOST);
    check_copy(x, size, 2, "the copies changed something");
    check_copy(c.host, size, 1, "the raw copies changed something");
    clfree(x);
    raw_copy_close(&c);
}

/* Seconds of a sync of a zero-copy block, both directions together; a kernel uses the block. */
static double zero_copy(size_t size)
{
    double t[COPIES];
    int *x = clmalloc(layer.cp, size, CL_MEM_ZEROCOPY);
    if (!x)
        die("out of memory for the zero-copy block");
    clndrange_t all = clndrange_init1d(0, size / sizeof *x, 0);
    for (int i = 0; i < COPIES; i++) {
        double start = seconds_now();
        clmsync(layer.cp, 0, x, CL_MEM_DEVICE);
        t[i] = seconds_now() - start;
        clforka(layer.cp, 0, layer.add, &all, CL_EVENT_WAIT, x, 1);
        start = seconds_now();
        clmsync(layer.cp, 0, x, CL_MEM_HOST);
        t[i] += seconds_now() - start;
        if (x[0] != i + 1 || x[size / sizeof *x - 1] != i + 1)
            die("a zero-copy block has the wrong contents");
    }
    clfree(x);
    return bench_median(t, COPIES);
}

/* ---- The report. ----------------------------------------------------------------------------- */

struct figures {
    struct pair wait, args, alone, to_device, to_host;
    struct replays fifty;
    double waiting_growth, waiting_s, never_growth, never_s, zero_copy;
    int launches;
    size_t size;
};

static void print_pair(const char *what, struct pair p)
{
    printf("%-40s %9.2f us %9.2f us %+9.2f us\n", what, 1e6 * p.raw, 1e6 * p.layer, 1e6 * p.added);
}

static void print_copy(const char *what, struct pair p, size_t size)
{
    printf("%-40s %9.2f GB/s %7.2f GB/s %7.1f %%\n", what, 1e-9 * (double)size / p.raw,
           1e-9 * (double)size / p.layer, 100 * p.raw / p.layer);
}

static void print_layer_table(const char *device, const char *driver, const struct figures *f)
{
    printf("%s, driver %s, commit %s\n\n", device, driver, STDCL_COMMIT);
    printf("%-40s %12s %12s %12s\n", "per launch of an empty kernel", "raw", "layer", "added");
    print_pair("launch and wait", f->wait);
    print_pair("4 arguments, launch and wait", f->args);
    print_pair("launch alone", f->alone);
    printf("\n%d launches with 4 arguments, each: raw %.2f us, clforka %.2f us, replay of a "
           "recording %.2f us\n",
           BATCH, 1e6 * f->fifty.raw, 1e6 * f->fifty.layer, 1e6 * f->fifty.replay);
    printf("\n%d launches, each waited for: %.2f us each, process grew by %.2f MiB\n", f->launches,
           1e6 * f->waiting_s, f->waiting_growth);
    printf("%d launches, none waited for: %.2f us each, process grew by %.2f MiB\n\n", f->launches,
           1e6 * f->never_s, f->never_growth);
    printf("%-40s %14s %12s %9s\n", "copies", "raw, pinned", "clmsync", "share");
    print_copy("host to device", f->to_device, f->size);
    print_copy("device to host", f->to_host, f->size);
    printf("\nzero-copy block of %zu MiB, synced both ways: %.2f us%s\n", f->size >> 20,
           1e6 * f->zero_copy, f->zero_copy < 1e-3 ? " (no bytes are moved)" : "");
}

static void print_text(const char *key, const char *text)
{
    printf("\"%s\": \"", key);
    for (; *text; text++)
        printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text < ' ' ? ' ' : *text);
    printf("\", ");
}

static void print_layer_json(const char *device, const char *driver, const struct figures *f)
{
    printf("{");
    print_text("program", "bench_layer");
    print_text("device", device);
    print_text("driver", driver);
    print_text("commit", STDCL_COMMIT);
    printf(
        "\"launch_wait_raw_s\": %.4g, \"launch_wait_layer_s\": %.4g, \"launch_wait_added_s\": %.4g, ",
        f->wait.raw, f->wait.layer, f->wait.added);
    printf("\"args_launch_wait_raw_s\": %.4g, \"args_launch_wait_layer_s\": %.4g, "
           "\"args_launch_wait_added_s\": %.4g, ",
           f->args.raw, f->args.layer, f->args.added);
    printf("\"launch_raw_s\": %.4g, \"launch_layer_s\": %.4g, \"launch_added_s\": %.4g, ",
           f->alone.raw, f->alone.layer, f->alone.added);
    printf("\"args_launch_raw_s\": %.4g, \"args_launch_layer_s\": %.4g, "
           "\"args_launch_replay_s\": %.4g, ",
           f->fifty.raw, f->fifty.layer, f->fifty.replay);
    printf(
        "\"launches\": %d, \"waiting_growth_bytes\": %.0f, \"never_waiting_growth_bytes\": %.0f, ",
        f->launches, 1048576 * f->waiting_growth, 1048576 * f->never_growth);
    printf(
        "\"copy_bytes\": %zu, \"to_device_raw_bytes_per_s\": %.5g, \"to_device_layer_bytes_per_s\": "
        "%.5g, ",
        f->size, (double)f->size / f->to_device.raw, (double)f->size / f->to_device.layer);
    printf("\"to_host_raw_bytes_per_s\": %.5g, \"to_host_layer_bytes_per_s\": %.5g, ",
           (double)f->size / f->to_host.raw, (double)f->size / f->to_host.layer);
    printf("\"zero_copy_sync_s\": %.4g}\n", f->zero_copy);
}

static int layer_usage(void)
{
    fprintf(stderr,
            "usage: bench_layer [--device cpu|gpu|PATTERN] [--launches N] [--mib N] [--json]\n");
    return 2;
}

int main(int argc, char **argv)
{
    const char *pattern = "";
    struct figures f = {.launches = 100000, .size = (size_t)256 << 20};
    bool json = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            json = true;
        else if (strcmp(argv[i], "--device") == 0 && i + 1 < argc)
            pattern = argv[++i];
        else if (strcmp(argv[i], "--launches") == 0 && i + 1 < argc && atoi(argv[i + 1]) >= 10)
            f.launches = atoi(argv[++i]);
        else if (strcmp(argv[i], "--mib") == 0 && i + 1 < argc && atoi(argv[i + 1]) >= 1)
            f.size = (size_t)atoi(argv[++i]) << 20;
        else
            return layer_usage();
    }

    open_layer(pattern);
    open_raw();
    check_launches();
    f.wait = compare_launches(raw_launch_and_wait, layer_launch_and_wait, no_end);
    f.args = compare_launches(raw_four_arguments, layer_four_arguments, no_end);
    f.alone = compare_launches(raw_launch_alone, layer_launch_alone, drain_both);
    f.fifty = compare_replays();
    f.waiting_growth = memory_growth(layer_launch_and_wait, f.launches, &f.waiting_s);
    f.never_growth = memory_growth(layer_launch_alone, f.launches, &f.never_s);
    copies(f.size, &f.to_device, &f.to_host);
    f.zero_copy = zero_copy(f.size);

    struct cldev_info *info = calloc(clgetndev(layer.cp), sizeof *info);
    if (!info || clgetdevinfo(layer.cp, info) != 0)
        die("clgetdevinfo");
    (json ? print_layer_json : print_layer_table)(info->dev_name, info->dev_drv_version, &f);
    free(info);
    return 0;
}
