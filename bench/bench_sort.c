/* bench_sort.c - throughput of prefix sums and sorts.
 *
 *   bench_sort [--device cpu|gpu|NAME] [--counts N,N,...] [--only sort.64.pairs]
 *              [--shape "KEY=NUMBER ..."] [--sweep "KEY=V,V,... KEY=V,..."]
 *              [--runs K] [--json]
 *
 * For 2^20, 2^24 and 2^28 elements (--counts takes others): pairs of random 64-bit keys, with 63
 * significant bits, and 32-bit values; pairs of 32-bit keys; keys alone; and scans. Every result
 * is checked completely before it is timed. The median of K (10) runs counts: `seconds` is a whole
 * call, on device memory; count_s, scan_s and scatter_s are the total times by the device's clock
 * of the kernels that count, scan or clear the table, and move keys. The bytes of a sort are the
 * minimum traffic of its passes without look-back: keys read twice and values once, both written
 * once. --only takes one case, --sweep all combinations
 * of shapes. Peers, in the same run: the device's copy bandwidth (clpeak); on CPUs a radix sort in
 * plain C by one thread, and qsort for the smallest; on NVIDIA's GPUs CUB, if studies/cub_sort.cu
 * was built into this program's folder. Output: a line per case of KEY=VALUE words, or with --json
 * an object per line.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/arrays_ref.h"
#include "bench/figures.h"
#include "core/clock.h"

#include <libgen.h>
#include <limits.h>
#include <unistd.h>

/* ---- Data. ----------------------------------------------------------------------------------- */

static uint64_t random_key(size_t i)
{
    uint64_t z = (uint64_t)(i + 1) * 0x9E3779B97F4A7C15u; /* splitmix64: a bijection */
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static uint64_t bench_key_get(int bytes, const void *keys, size_t i)
{
    return bytes == 4 ? ((const uint32_t *)keys)[i] : ((const uint64_t *)keys)[i];
}

static void fill_bench_keys(int bytes, void *keys, cl_uint *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (bytes == 4)
            ((uint32_t *)keys)[i] = (uint32_t)random_key(i);
        else
            ((uint64_t *)keys)[i] = random_key(i);
        values[i] = (cl_uint)i;
    }
}

/* True if keys are in order, equal keys in their original order, and each key beside its value.
 * Then none is missing, since values are unique. */
static bool sorted(int bytes, int bits, const void *keys, const cl_uint *values, size_t n)
{
    const uint64_t all = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1,
                   whole = bytes == 4 ? UINT32_MAX : UINT64_MAX;
    for (size_t i = 0; i < n; i++) {
        const uint64_t key = bench_key_get(bytes, keys, i) & all,
                       before = i ? bench_key_get(bytes, keys, i - 1) & all : 0;
        if (key < before ||
            (values && (bench_key_get(bytes, keys, i) != (random_key(values[i]) & whole) ||
                        (i && key == before && values[i] < values[i - 1]))))
            return false;
    }
    return true;
}

/* ---- Runs. ----------------------------------------------------------------------------------- */

static struct {
    void *keys, *first_keys;
    cl_uint *values, *first_values;
    arrays_sorter *sorter;
} on;

/* The median time of `runs` runs, each on the original data. */
static double median_time(int runs, int (*restore)(void *), int (*run)(void *), void *arg)
{
    double *took = calloc((size_t)runs, sizeof *took);
    for (int k = 0; took && k < runs; k++) {
        if (restore(arg) != 0)
            die("restoring");
        const double start = seconds_now();
        if (run(arg) != 0)
            die("a run");
        took[k] = seconds_now() - start;
    }
    if (!took || runs < 1)
        die("no runs");
    const double middle = bench_median(took, (size_t)runs);
    free(took);
    return middle;
}

/* Total time per run of all kernels whose name ends with `name`. */
static double kernel_seconds(const char *name, int runs)
{
    struct clprofile_row row[16];
    const size_t n = clprofile_rows(cp, row, 16);
    for (size_t i = 0; i < n && i < 16; i++)
        if (strcmp(row[i].name, name) == 0)
            return row[i].total / runs;
    return 0;
}

/* ---- Sorting. -------------------------------------------------------------------------------- */

struct sort_case {
    const char *name, *cub;
    int bytes, bits;
    bool values;
};
static const struct sort_case sorts[] = {
    {"sort.64.pairs", "64 pairs", 8, 63, true},
    {"sort.32.pairs", "32 pairs", 4, 32, true},
    {"sort.64.keys", "64 keys", 8, 63, false},
    {"sort.32.keys", "32 keys", 4, 32, false},
};

static int restore_all(void *arg)
{
    (void)arg;
    return clmcopy(cp, 0, on.first_keys, on.keys, 0) == (cl_event)-1 ||
                   clmcopy(cp, 0, on.first_values, on.values, 0) == (cl_event)-1
               ? -1
               : 0;
}

static int run_sort(void *job)
{
    return arrays_sort(on.sorter, job);
}

/* Minimum traffic of the passes, in bytes. */
static double sort_bytes(const struct sort_case *c, size_t n)
{
    return (double)((c->bits + 7) / 8) * (double)n * (3 * c->bytes + (c->values ? 8 : 0));
}

static void check_sort(const struct sort_case *c, struct arrays_sort_job *job)
{
    if (restore_all(NULL) != 0 || run_sort(job) != 0 ||
        clmsync(cp, 0, on.keys, CL_MEM_HOST) == (cl_event)-1 ||
        clmsync(cp, 0, on.values, CL_MEM_HOST) == (cl_event)-1)
        die(c->name);
    if (!sorted(c->bytes, c->bits, on.keys, c->values ? on.values : NULL, job->most))
        die("not sorted");
}

struct sort_run {
    const struct sort_case *c;
    size_t n;
};

/* Sort with one shape. A sweep leaves out shapes that the device rejects. */
static void bench_sort(void *arg, const char *shape)
{
    const struct sort_case *c = ((const struct sort_run *)arg)->c;
    const size_t n = ((const struct sort_run *)arg)->n;
    struct arrays_sort_job job = {.keys = on.keys,
                                  .values = c->values ? on.values : NULL,
                                  .bytes = c->bytes,
                                  .bits = c->bits,
                                  .most = n};
    on.sorter = arrays_sorter_create(&(struct arrays_sorter_options){.ctx = cp, .shape = shape});
    if (on.sorter && arrays_sort_workspace(on.sorter, &job) == 0 && option.sweep) {
        printf("# %s\n", clerror());
        arrays_sorter_free(on.sorter);
        return;
    }
    if (!on.sorter)
        die("a sorter");
    char text[600];
    check_sort(c, &job);
    struct figure f = {.name = c->name, .n = n, .bytes = sort_bytes(c, n), .shape = text};
    f.seconds = median_time(option.runs, restore_all, run_sort, &job);
    double part[3] = {0};
    if (clprofile(cp, CLPROF_EVERY) == 0 && clprofile_reset(cp) == 0) {
        median_time(option.runs, restore_all, run_sort, &job);
        static const char *const names[3][2] = {{"sort_count", "sort_digits"},
                                                {"sort_scan", "lookback_clear"},
                                                {"sort_scatter", "sort_sweep"}};
        for (int k = 0; k < 3; k++)
            f.device_seconds += part[k] =
                kernel_seconds(names[k][0], option.runs) + kernel_seconds(names[k][1], option.runs);
        clprofile(cp, 0);
    }
    snprintf(text, sizeof text, "count_s=%.3e scan_s=%.3e scatter_s=%.3e %s", part[0], part[1],
             part[2], arrays_sorter_shape(on.sorter));
    print_figure(&f);
    arrays_sorter_free(on.sorter);
}

/* ---- Scans. ---------------------------------------------------------------------------------- */

static int restore_nothing(void *arg)
{
    (void)arg;
    return 0;
}

static int run_scan(void *job)
{
    return arrays_scan(on.sorter, job);
}

struct scan_run {
    int bytes;
    size_t n;
    const void *right;
};

static void bench_scan(void *arg, const char *shape)
{
    const struct scan_run *r = arg;
    const struct arrays_scan_job job = {
        .x = on.first_keys, .sums = on.keys, .bytes = r->bytes, .most = r->n};
    struct figure f = {.name = r->bytes == 4 ? "scan.32" : "scan.64",
                       .n = r->n,
                       .bytes = 3. * r->bytes * (double)r->n};
    on.sorter = arrays_sorter_create(&(struct arrays_sorter_options){.ctx = cp, .shape = shape});
    if (on.sorter && arrays_scan_workspace(on.sorter, &job) == 0 && option.sweep) {
        printf("# %s\n", clerror());
        arrays_sorter_free(on.sorter);
        return;
    }
    if (!on.sorter || arrays_scan(on.sorter, &job) != 0 ||
        clmsync(cp, 0, on.keys, CL_MEM_HOST) == (cl_event)-1)
        die("scan");
    if (memcmp(r->right, on.keys, r->n * (size_t)r->bytes) != 0)
        die("a wrong scan");
    f.seconds = median_time(option.runs, restore_nothing, run_scan, (void *)(uintptr_t)&job);
    if (clprofile(cp, CLPROF_EVERY) == 0 && clprofile_reset(cp) == 0) {
        median_time(option.runs, restore_nothing, run_scan, (void *)(uintptr_t)&job);
        static const char *const names[] = {"scan_sums", "scan_carry", "scan_write", "scan_few",
                                            "scan_once"};
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            f.device_seconds += kernel_seconds(names[k], option.runs);
        clprofile(cp, 0);
    }
    f.shape = arrays_sorter_shape(on.sorter);
    print_figure(&f);
    arrays_sorter_free(on.sorter);
}

/* ---- Peers. ---------------------------------------------------------------------------------- */

struct peer {
    int bytes, bits;
    size_t n;
    void *keys, *first, *work;
    cl_uint *values;
};

static int restore_peer(void *arg)
{
    const struct peer *p = arg;
    fill_bench_keys(p->bytes, p->keys, p->values, p->n);
    return 0;
}

static int run_plain(void *arg)
{
    const struct peer *p = arg;
    arrays_ref_sort(p->bytes, p->bits, p->keys, p->values, p->n, p->work);
    return 0;
}

struct pair {
    uint64_t key;
    cl_uint value;
};

static int compare_by_key(const void *a, const void *b)
{
    const uint64_t x = ((const struct pair *)a)->key, y = ((const struct pair *)b)->key;
    return (x > y) - (x < y);
}

static int restore_pairs(void *arg)
{
    const struct peer *p = arg;
    struct pair *pairs = p->work;
    for (size_t i = 0; i < p->n; i++)
        pairs[i] = (struct pair){random_key(i) >> 1, (cl_uint)i};
    return 0;
}

static int run_qsort(void *arg)
{
    const struct peer *p = arg;
    qsort(p->work, p->n, sizeof(struct pair), compare_by_key);
    return 0;
}

static void bench_peers(size_t n)
{
    struct peer p = {.bytes = 8,
                     .bits = 63,
                     .n = n,
                     .keys = malloc(n * 8),
                     .work = malloc(n * sizeof(struct pair))};
    p.values = malloc(n * sizeof *p.values);
    if (!p.keys || !p.work || !p.values)
        die("memory");
    const int runs = option.runs < 3 ? option.runs : 3;
    struct figure f = {
        .name = "peer.plain.64.pairs", .n = n, .bytes = sort_bytes(&sorts[0], n), .shape = ""};
    f.seconds = median_time(runs, restore_peer, run_plain, &p);
    print_figure(&f);
    if (n <= 1 << 20) {
        f.name = "peer.qsort.64.pairs";
        f.seconds = median_time(runs, restore_pairs, run_qsort, &p);
        print_figure(&f);
    }
    free(p.keys);
    free(p.values);
    free(p.work);
}

/* CUB's figures, from the program cub_sort in this folder, which prints seconds of a whole call
 * and by the device's clock. */
static void bench_cub(const char *folder, const char *what, const char *words, int bits,
                      double bytes, size_t n)
{
    char command[PATH_MAX + 64], name[64];
    snprintf(command, sizeof command, "%s/cub_sort", folder);
    if (access(command, X_OK) != 0)
        return;
    snprintf(command, sizeof command, "%s/cub_sort %s %zu %d %d", folder, words, n, bits,
             option.runs);
    snprintf(name, sizeof name, "peer.cub.%s", what);
    struct figure f = {.name = name, .n = n, .bytes = bytes, .shape = ""};
    FILE *pipe = popen(command, "r");
    const bool whole = pipe && fscanf(pipe, "%lf %lf", &f.seconds, &f.device_seconds) == 2;
    if (!pipe || pclose(pipe) != 0 || !whole)
        die(command);
    print_figure(&f);
}

/* Scan the result of the last sort. */
static void bench_scans(int bytes, size_t n, const char *folder)
{
    void *right = malloc(n * (size_t)bytes);
    if (!right || clmcopy(cp, 0, on.first_keys, on.keys, 0) == (cl_event)-1 ||
        clmsync(cp, 0, on.keys, CL_MEM_HOST) == (cl_event)-1)
        die("memory");
    arrays_ref_scan(bytes, on.keys, right, n);
    struct scan_run r = {.bytes = bytes, .n = n, .right = right};
    sweep_shapes(option.shape, option.sweep, bench_scan, &r);
    free(right);
    bench_cub(folder, bytes == 4 ? "scan.32" : "scan.64", bytes == 4 ? "32 scan" : "64 scan",
              8 * bytes, 3. * bytes * (double)n, n);
}

/* ---- All of it. ------------------------------------------------------------------------------ */

static bool is_bench_wanted(const char *name)
{
    return !option.only || strcmp(option.only, name) == 0;
}

static void to_device(const struct sort_case *c, size_t n)
{
    fill_bench_keys(c->bytes, on.keys, on.values, n);
    if (clmsync(cp, 0, on.keys, CL_MEM_DEVICE) == (cl_event)-1 ||
        clmsync(cp, 0, on.values, CL_MEM_DEVICE) == (cl_event)-1 ||
        clmcopy(cp, 0, on.keys, on.first_keys, 0) == (cl_event)-1 ||
        clmcopy(cp, 0, on.values, on.first_values, 0) == (cl_event)-1)
        die("to the device");
}

static void bench_count(size_t n, const char *folder)
{
    on.keys = clmalloc(cp, n * 8, CL_MEM_ZEROCOPY);
    on.values = clmalloc(cp, n * sizeof *on.values, CL_MEM_ZEROCOPY);
    on.first_keys = clmalloc(cp, n * 8, CL_MEM_DEVONLY);
    on.first_values = clmalloc(cp, n * sizeof *on.first_values, CL_MEM_DEVONLY);
    if (!on.keys || !on.values || !on.first_keys || !on.first_values)
        die("memory");
    for (size_t c = 0; c < sizeof sorts / sizeof *sorts; c++) {
        if (is_bench_wanted(sorts[c].name)) {
            to_device(&sorts[c], n);
            sweep_shapes(option.shape, option.sweep, bench_sort, &(struct sort_run){&sorts[c], n});
            bench_cub(folder, sorts[c].name, sorts[c].cub, sorts[c].bits, sort_bytes(&sorts[c], n),
                      n);
        }
    }
    to_device(&sorts[0], n);
    if (is_bench_wanted("scan.32"))
        bench_scans(4, n, folder);
    if (is_bench_wanted("scan.64"))
        bench_scans(8, n, folder);
    if (info.dev_type & CL_DEVICE_TYPE_CPU && is_bench_wanted(sorts[0].name))
        bench_peers(n);
    void *const blocks[] = {on.keys, on.values, on.first_keys, on.first_values};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        clfree(blocks[i]);
}

int main(int argc, char **argv)
{
    char program[PATH_MAX];
    snprintf(program, sizeof program, "%s", argv[0]);
    bench_begin(
        &(struct bench_option){.program = "bench_sort", .counts = "2^20,2^24,2^28", .runs = 10},
        argc, argv);
    const char *folder = dirname(program);
    for (const char *n = option.counts; *n; n += strcspn(n, ","), n += *n == ',')
        bench_count((size_t)bench_number(n), folder);
    return clcontext_destroy(cp) == 0 ? 0 : 1;
}
