/* figures.c - options, timing and output of bench_arrays, bench_sort and bench_gas.
 * SPDX-License-Identifier: MIT
 */
#include "bench/figures.h"

#include "core/clock.h"

#include <math.h>

struct bench_option option;
CLCONTEXT *cp;
struct cldev_info info;
struct clpeak_info peak;

/* ---- Output. --------------------------------------------------------------------------------- */

void print_figure(const struct figure *f)
{
    const double best = f->device_seconds > 0 ? f->device_seconds : f->seconds;
    if (option.json)
        printf(
            "{\"program\": \"%s\", \"device\": \"%s\", \"commit\": \"%s\", \"case\": \"%s\", \"n\": %llu, "
            "\"bytes\": %.0f, \"seconds\": %.9g, \"device_seconds\": %.9g, \"bytes_per_s\": %.6g, "
            "\"device_bytes_per_s\": %.6g, \"elements_per_s\": %.6g, \"copy_bytes_per_s\": %.6g, \"shape\": \"%s\"}\n",
            option.program, info.dev_name, STDCL_COMMIT, f->name, (unsigned long long)f->n,
            f->bytes, f->seconds, f->device_seconds, f->bytes / f->seconds, f->bytes / best,
            (double)f->n / f->seconds, peak.bytes_per_s, f->shape);
    else
        printf(
            "%-22s n=%-11llu seconds=%.3e device_seconds=%.3e gelements_per_s=%-8.4g gbytes_per_s=%-7.4g "
            "device_gbytes_per_s=%-7.4g of_copy=%.3f devices=%u %s\n",
            f->name, (unsigned long long)f->n, f->seconds, f->device_seconds,
            1e-9 * (double)f->n / f->seconds, 1e-9 * f->bytes / f->seconds, 1e-9 * f->bytes / best,
            f->bytes / best / peak.bytes_per_s / clgetndev(cp), clgetndev(cp), f->shape);
    fflush(stdout);
}

/* ---- Timing. --------------------------------------------------------------------------------- */

/* The shortest run of kernel `name` by the device's clock since the last reset. */
static double device_seconds(const char *name)
{
    struct clprofile_row row[16];
    const size_t n = clprofile_rows(cp, row, 16);
    for (size_t i = 0; i < n && i < 16; i++)
        if (strcmp(row[i].name, name) == 0)
            return row[i].minimum;
    return 0;
}

struct figure time_runs(struct figure f, const char *kernel, int (*run)(void *arg), void *arg)
{
    f.seconds = INFINITY;
    if (run(arg) != 0)
        die(f.name);
    for (int k = 0; k < option.runs; k++) {
        const double start = seconds_now();
        if (run(arg) != 0)
            die(f.name);
        f.seconds = fmin(f.seconds, seconds_now() - start);
    }
    /* Again with the device's time stamps, which would slow the calls above. For one device only,
     * since each device has its own clock. */
    if (kernel && clgetndev(cp) == 1 && clprofile(cp, CLPROF_EVERY) == 0 &&
        clprofile_reset(cp) == 0) {
        for (int k = 0; k < option.runs; k++)
            if (run(arg) != 0)
                die(f.name);
        f.device_seconds = device_seconds(kernel);
        clprofile(cp, 0);
    }
    return f;
}

/* ---- The command line. ----------------------------------------------------------------------- */

double bench_number(const char *text)
{
    char *end;
    const double base = strtod(text, &end);
    return *end == '^' ? pow(base, strtod(end + 1, NULL)) : base;
}

void bench_begin(const struct bench_option *defaults, int argc, char **argv)
{
    option = *defaults;
    for (int i = 1; i < argc; i++) {
        const bool more = i + 1 < argc;
        if (strcmp(argv[i], "--json") == 0)
            option.json = true;
        else if (strcmp(argv[i], "--device") == 0 && more)
            option.device = argv[++i];
        else if (strcmp(argv[i], "--bytes") == 0 && more)
            option.bytes = argv[++i];
        else if (strcmp(argv[i], "--counts") == 0 && more)
            option.counts = argv[++i];
        else if (strcmp(argv[i], "--only") == 0 && more)
            option.only = argv[++i];
        else if (strcmp(argv[i], "--sweep") == 0 && more)
            option.sweep = argv[++i];
        else if (strcmp(argv[i], "--molecules") == 0 && more)
            option.molecules = (uint64_t)bench_number(argv[++i]);
        else if (strcmp(argv[i], "--shape") == 0 && more)
            option.shape = argv[++i];
        else if (strcmp(argv[i], "--devices") == 0 && more)
            option.devices = (unsigned)atoi(argv[++i]);
        else if (strcmp(argv[i], "--runs") == 0 && more)
            option.runs = atoi(argv[++i]);
        else
            die(argv[i]);
    }
    cp = bench_open(option.device, option.devices);
    struct cldev_info *all = cp ? calloc(clgetndev(cp), sizeof *all) : NULL;
    if (!all || clgetdevinfo(cp, all) != 0 || clpeak(cp, 0, &peak) != 0)
        die("no device");
    info = all[0];
    free(all);
    if (!option.json)
        printf("# device \"%s\", driver %s, commit %s, copy %.1f GB/s\n", info.dev_name,
               info.dev_drv_version, STDCL_COMMIT, 1e-9 * peak.bytes_per_s);
}
