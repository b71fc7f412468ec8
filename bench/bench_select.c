/* bench_select.c - throughput of compaction, sums of runs and segments, and histograms.
 *
 *   bench_select [--device cpu|gpu|NAME] [--counts N,N,...] [--only select.32]
 *                [--shape "KEY=NUMBER ..."] [--sweep "KEY=V,V,... KEY=V,..."] [--runs K] [--json]
 *
 * For 2^20, 2^24 and 2^28 elements (--counts takes others): selections by random flags, half of
 * which are set; first elements of runs and sums by key of runs of 1 to 15 elements; sums of
 * segments of 64; histograms of bytes, and of 32-bit integers in 256 and 4096 bins. Every result is
 * compared with a loop in plain C before it is timed. The median of K (10) runs counts: `seconds`
 * is a whole call on device memory, device_seconds the total time of its kernels by the device's
 * clock. The bytes are the minimum traffic: each input read once, each result written once. Peers,
 * in the same run: the loop in plain C (once), and on NVIDIA's GPUs CUB, if
 * studies/cub_select.cu was built into this program's folder.
 * SPDX-License-Identifier: MIT
 */
#include "bench/figures.h"
#include "core/clock.h"
#include "stdcl/arrays.h"

#include <libgen.h>
#include <limits.h>
#include <unistd.h>

enum { SEGMENT = 64, RUN = 8, LOWEST = -1000000, HIGHEST = 1000000 };

/* Arrays of a case: `most` elements each, of 8 bytes. `right`: the results of the plain loop. */
static struct {
    void *x, *values, *out, *sums, *right, *right_sums;
    cl_uchar *flags;
    cl_uint *number, *offsets;
    cl_uint right_number;
    arrays_sorter *sorter;
} on;

/* ---- Data. ----------------------------------------------------------------------------------- */

static uint64_t random_bits(size_t i)
{
    uint64_t z = (uint64_t)(i + 1) * 0x9E3779B97F4A7C15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* Ascending keys: runs of 1 to 15 elements, 8 in the mean. */
static cl_uint run_key(size_t i)
{
    return (cl_uint)((i + random_bits(i / RUN) % RUN) / RUN);
}

static void fill_random_32(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ((cl_uint *)on.x)[i] = (cl_uint)random_bits(i);
        on.flags[i] = (cl_uchar)(random_bits(i) >> 40 & 1);
    }
}

static void fill_random_64(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ((cl_ulong *)on.x)[i] = random_bits(i);
        on.flags[i] = (cl_uchar)(random_bits(i) >> 40 & 1);
    }
}

/* Sums of the values, small whole numbers, are exact in every order. */
static void fill_runs(size_t n)
{
    for (size_t i = 0; i < n; i++) {
        ((cl_uint *)on.x)[i] = run_key(i);
        ((float *)on.values)[i] = (float)(random_bits(i) % 100);
        if (i % SEGMENT == 0)
            on.offsets[i / SEGMENT] = (cl_uint)i;
    }
    on.offsets[(n + SEGMENT - 1) / SEGMENT] = (cl_uint)n;
}

static void fill_bytes(size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((cl_uchar *)on.x)[i] = (cl_uchar)random_bits(i);
}

static void fill_range(size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((cl_int *)on.x)[i] = (cl_int)(random_bits(i) % (HIGHEST - LOWEST)) + LOWEST;
}

/* ---- Jobs, and the same in plain C. ---------------------------------------------------------- */

static int run_select(size_t n, int bytes, bool unique)
{
    const struct arrays_select_job job = {.x = on.x,
                                          .flags = on.flags,
                                          .out = on.out,
                                          .selected = on.number,
                                          .bytes = bytes,
                                          .most = n};
    return unique ? arrays_unique(on.sorter, &job) : arrays_select(on.sorter, &job);
}

static int run_select_32(size_t n)
{
    return run_select(n, 4, false);
}

static int run_select_64(size_t n)
{
    return run_select(n, 8, false);
}

static int run_unique(size_t n)
{
    return run_select(n, 4, true);
}

static void plain_select_32(size_t n)
{
    cl_uint kept = 0;
    for (size_t i = 0; i < n; i++)
        if (on.flags[i])
            ((cl_uint *)on.right)[kept++] = ((const cl_uint *)on.x)[i];
    on.right_number = kept;
}

static void plain_select_64(size_t n)
{
    cl_uint kept = 0;
    for (size_t i = 0; i < n; i++)
        if (on.flags[i])
            ((cl_ulong *)on.right)[kept++] = ((const cl_ulong *)on.x)[i];
    on.right_number = kept;
}

static void plain_unique(size_t n)
{
    const cl_uint *x = on.x;
    cl_uint kept = 0;
    for (size_t i = 0; i < n; i++)
        if (i == 0 || x[i] != x[i - 1])
            ((cl_uint *)on.right)[kept++] = x[i];
    on.right_number = kept;
}

static int run_by_key(size_t n)
{
    return arrays_reduce_by_key(on.sorter, &(const struct arrays_by_key_job){.keys = on.x,
                                                                             .values = on.values,
                                                                             .unique = on.out,
                                                                             .sums = on.sums,
                                                                             .runs = on.number,
                                                                             .bytes = 4,
                                                                             .type = ARRAYS_FLOAT,
                                                                             .most = n});
}

static void plain_by_key(size_t n)
{
    const cl_uint *x = on.x;
    cl_uint runs = 0;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || x[i] != x[i - 1]) {
            ((cl_uint *)on.right)[runs] = x[i];
            ((float *)on.right_sums)[runs++] = 0;
        }
        ((float *)on.right_sums)[runs - 1] += ((const float *)on.values)[i];
    }
    on.right_number = runs;
}

static int run_segments(size_t n)
{
    return arrays_segmented_sum(
        on.sorter, &(const struct arrays_segments_job){.x = on.values,
                                                       .offsets = on.offsets,
                                                       .sums = on.out,
                                                       .type = ARRAYS_FLOAT,
                                                       .most = n,
                                                       .segments = (n + SEGMENT - 1) / SEGMENT});
}

static void plain_segments(size_t n)
{
    const size_t segments = (n + SEGMENT - 1) / SEGMENT;
    for (size_t s = 0; s < segments; s++) {
        float sum = 0;
        for (size_t i = on.offsets[s]; i < on.offsets[s + 1]; i++)
            sum += ((const float *)on.values)[i];
        ((float *)on.right)[s] = sum;
    }
    on.right_number = (cl_uint)segments;
}

static int run_bytes(size_t n)
{
    return arrays_histogram(
        on.sorter,
        &(const struct arrays_histogram_job){
            .x = on.x, .bins = on.out, .of_bytes = 1, .upper = 256, .nbins = 256, .most = n});
}

static void plain_bytes(size_t n)
{
    memset(on.right, 0, 256 * sizeof(cl_uint));
    for (size_t i = 0; i < n; i++)
        ((cl_uint *)on.right)[((const cl_uchar *)on.x)[i]]++;
    on.right_number = 256;
}

static int run_bins(size_t n, cl_uint nbins)
{
    return arrays_histogram(on.sorter, &(const struct arrays_histogram_job){.x = on.x,
                                                                            .bins = on.out,
                                                                            .type = ARRAYS_INT,
                                                                            .lower = LOWEST,
                                                                            .upper = HIGHEST,
                                                                            .nbins = nbins,
                                                                            .most = n});
}

static void plain_bins(size_t n, cl_uint nbins)
{
    const cl_int *x = on.x;
    cl_uint *bins = on.right;
    memset(bins, 0, nbins * sizeof *bins);
    for (size_t i = 0; i < n; i++)
        bins[(uint64_t)(x[i] - LOWEST) * nbins / (HIGHEST - LOWEST)]++;
    on.right_number = nbins;
}

static int run_256_bins(size_t n)
{
    return run_bins(n, 256);
}

static void plain_256_bins(size_t n)
{
    plain_bins(n, 256);
}

static int run_4096_bins(size_t n)
{
    return run_bins(n, 4096);
}

static void plain_4096_bins(size_t n)
{
    plain_bins(n, 4096);
}

/* A case. results: its number is the results of `out` and `sums`, of `bytes` bytes. read: bytes of
 * input for each element. */
static const struct select_case {
    const char *name;
    void (*fill)(size_t n);
    int (*run)(size_t n);
    void (*plain)(size_t n);
    size_t bytes;
    bool counted, sums;
    double read;
} cases[] = {
    {"select.32", fill_random_32, run_select_32, plain_select_32, 4, true, false, 5},
    {"select.64", fill_random_64, run_select_64, plain_select_64, 8, true, false, 9},
    {"unique.32", fill_runs, run_unique, plain_unique, 4, true, false, 4},
    {"by_key.32", fill_runs, run_by_key, plain_by_key, 4, true, true, 8},
    {"segments.32", fill_runs, run_segments, plain_segments, 4, false, false, 4},
    {"histogram.bytes", fill_bytes, run_bytes, plain_bytes, 4, false, false, 1},
    {"histogram.256", fill_range, run_256_bins, plain_256_bins, 4, false, false, 4},
    {"histogram.4096", fill_range, run_4096_bins, plain_4096_bins, 4, false, false, 4},
};

/* ---- Runs. ----------------------------------------------------------------------------------- */

static void sync_one(void *block, int direction)
{
    if (clmsync(cp, 0, block, direction | CL_EVENT_WAIT) == (cl_event)-1)
        die("a copy");
}

static void sync_inputs(int direction)
{
    sync_one(on.x, direction);
    sync_one(on.values, direction);
    sync_one(on.flags, direction);
    sync_one(on.offsets, direction);
}

/* Run once. False: the device rejects the shape. */
static bool check_select(const struct select_case *c, size_t n)
{
    const int status = c->run(n);
    if (status != 0 && option.sweep) {
        printf("# %s\n", clerror());
        return false;
    }
    if (status != 0)
        die(c->name);
    sync_one(on.out, CL_MEM_HOST);
    sync_one(on.sums, CL_MEM_HOST);
    sync_one(on.number, CL_MEM_HOST);
    const size_t size = on.right_number * c->bytes;
    if ((c->counted && *on.number != on.right_number) || memcmp(on.out, on.right, size) != 0 ||
        (c->sums && memcmp(on.sums, on.right_sums, size) != 0))
        die("a wrong result");
    return true;
}

static double median_of_runs(const struct select_case *c, size_t n)
{
    double *took = calloc((size_t)option.runs, sizeof *took);
    for (int k = 0; took && k < option.runs; k++) {
        const double start = seconds_now();
        if (c->run(n) != 0)
            die(c->name);
        took[k] = seconds_now() - start;
    }
    if (!took || option.runs < 1)
        die("no runs");
    const double middle = bench_median(took, (size_t)option.runs);
    free(took);
    return middle;
}

/* Seconds of all kernels of a run by the device's clock. */
static double all_kernel_seconds(const struct select_case *c, size_t n)
{
    struct clprofile_row row[16];
    double total = 0;
    if (clprofile(cp, CLPROF_EVERY) != 0 || clprofile_reset(cp) != 0)
        return 0;
    median_of_runs(c, n);
    const size_t rows = clprofile_rows(cp, row, 16);
    for (size_t i = 0; i < rows && i < 16; i++)
        total += row[i].total;
    clprofile(cp, 0);
    return total / option.runs;
}

static double select_bytes(const struct select_case *c, size_t n)
{
    return c->read * (double)n + (c->sums ? 2. : 1.) * (double)c->bytes * on.right_number;
}

struct select_run {
    const struct select_case *c;
    size_t n;
};

static void bench_select(void *run_, const char *shape)
{
    const struct select_run *run = run_;
    on.sorter = arrays_sorter_create(&(struct arrays_sorter_options){.ctx = cp, .shape = shape});
    if (!on.sorter)
        die("a sorter");
    if (!check_select(run->c, run->n)) {
        arrays_sorter_free(on.sorter);
        return;
    }
    struct figure f = {
        .name = run->c->name, .n = run->n, .bytes = select_bytes(run->c, run->n), .shape = ""};
    f.seconds = median_of_runs(run->c, run->n);
    f.device_seconds = all_kernel_seconds(run->c, run->n);
    f.shape = arrays_sorter_shape(on.sorter);
    print_figure(&f);
    arrays_sorter_free(on.sorter);
}

static void bench_plain(const struct select_case *c, size_t n)
{
    char name[64];
    snprintf(name, sizeof name, "peer.plain.%s", c->name);
    struct figure f = {.name = name, .n = n, .shape = ""};
    c->plain(n); /* touches all pages */
    const double start = seconds_now();
    c->plain(n);
    f.seconds = seconds_now() - start;
    f.bytes = select_bytes(c, n);
    print_figure(&f);
}

/* CUB's figures, from the program cub_select in this folder, which prints seconds of a whole call
 * and by the device's clock. */
static void bench_cub(const char *folder, const struct select_case *c, size_t n)
{
    char command[PATH_MAX + 64], name[64];
    snprintf(command, sizeof command, "%s/cub_select", folder);
    if (access(command, X_OK) != 0)
        return;
    snprintf(command, sizeof command, "%s/cub_select %s %zu %d", folder, c->name, n, option.runs);
    snprintf(name, sizeof name, "peer.cub.%s", c->name);
    struct figure f = {.name = name, .n = n, .bytes = select_bytes(c, n), .shape = ""};
    FILE *pipe = popen(command, "r");
    const bool whole = pipe && fscanf(pipe, "%lf %lf", &f.seconds, &f.device_seconds) == 2;
    if (!pipe || pclose(pipe) != 0 || !whole)
        die(command);
    print_figure(&f);
}

/* ---- All of it. ------------------------------------------------------------------------------ */

static void open_blocks(size_t n)
{
    on.x = clmalloc(cp, n * 8, CL_MEM_ZEROCOPY);
    on.out = clmalloc(cp, n * 8, CL_MEM_ZEROCOPY);
    on.values = clmalloc(cp, n * 4, CL_MEM_ZEROCOPY);
    on.sums = clmalloc(cp, n * 4, CL_MEM_ZEROCOPY);
    on.flags = clmalloc(cp, n, CL_MEM_ZEROCOPY);
    on.offsets = clmalloc(cp, (n / SEGMENT + 2) * sizeof *on.offsets, CL_MEM_ZEROCOPY);
    on.number = clmalloc(cp, sizeof *on.number, CL_MEM_ZEROCOPY);
    on.right = malloc(n * 8 + 4096 * sizeof(cl_uint));
    on.right_sums = malloc(n * 4);
    if (!on.x || !on.out || !on.values || !on.sums || !on.flags || !on.offsets || !on.number ||
        !on.right || !on.right_sums)
        die("memory");
    sync_one(on.out, CL_MEM_DEVICE); /* images for results that a case does not write */
    sync_one(on.sums, CL_MEM_DEVICE);
    sync_one(on.number, CL_MEM_DEVICE);
}

static void close_blocks(void)
{
    void *const blocks[] = {on.x, on.out, on.values, on.sums, on.flags, on.offsets, on.number};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        clfree(blocks[i]);
    free(on.right);
    free(on.right_sums);
}

static void bench_all_cases(size_t n, const char *folder)
{
    open_blocks(n);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct select_case *c = &cases[k];
        if (option.only && strcmp(option.only, c->name) != 0)
            continue;
        c->fill(n);
        bench_plain(c, n);
        sync_inputs(CL_MEM_DEVICE);
        sweep_shapes(option.shape, option.sweep, bench_select, &(struct select_run){c, n});
        bench_cub(folder, c, n);
        sync_inputs(CL_MEM_HOST);
    }
    close_blocks();
}

int main(int argc, char **argv)
{
    char program[PATH_MAX];
    snprintf(program, sizeof program, "%s", argv[0]);
    bench_begin(
        &(struct bench_option){.program = "bench_select", .counts = "2^20,2^24,2^28", .runs = 10},
        argc, argv);
    const char *folder = dirname(program);
    for (const char *n = option.counts; *n; n += strcspn(n, ","), n += *n == ',')
        bench_all_cases((size_t)bench_number(n), folder);
    return clcontext_destroy(cp) == 0 ? 0 : 1;
}
