/* bench_gas.c - how fast arrays are summed, and gases are drawn and summed.
 *
 *   bench_gas [--device NAME] [--bytes B,B,...] [--molecules N] [--shape "KEY=NUMBER ..."] [--runs K] [--json]
 *
 * For arrays of 2^20, 2^24 and 2^28 bytes (--bytes takes others, also as 2^30): the sum of floats and of doubles,
 * plain and compensated, of 32-bit integers, the tutorial's tree, a dot product of floats. Then the energy of a
 * gas, stored (a quarter of the last size in molecules) and fused (--molecules, 1e8). Every result is compared
 * with plain C before it is timed. Of K (20) runs the fastest: `seconds` is a whole call, as a program sees it,
 * `device_seconds` what the device's own clock says of the kernel.
 * Peers, in the same run: the device's copy bandwidth (clpeak), and on CPUs a hand-written OpenMP sum, added up in
 * doubles too, in whatever order; the two take turns, and of_peer is the ratio of their median times.
 * Output: a line a case of KEY=VALUE words, or with --json an object a line.
 * SPDX-License-Identifier: MIT
 */
#include "core/clock.h"
#include "gas/gas_ref.h"

#include <math.h>
#include <stdbool.h>
#include <time.h>

#ifndef STDCL_COMMIT
#define STDCL_COMMIT "unknown"
#endif

static struct {
    const char *device, *shape, *bytes;
    uint64_t molecules;
    int runs;
    bool json;
} option = {.device = NULL, .bytes = "2^20,2^24,2^28", .molecules = 100000000, .runs = 20};

static CLCONTEXT *cp;
static struct cldev_info info;
static struct clpeak_info peak;

static _Noreturn void die(const char *what)
{
    const char *why = clerror();
    fprintf(stderr, "bench_gas: %s%s%s\n", what, why ? ": " : "", why ? why : "");
    exit(1);
}

/* ---- Output. ---------------------------------------------------------------------------------- */

struct figure {
    const char *name;
    uint64_t n;
    double bytes, seconds, device_seconds;
    const char *shape;
};

static void print_figure(const struct figure *f)
{
    const double best = f->device_seconds > 0 ? f->device_seconds : f->seconds;
    if (option.json)
        printf(
            "{\"program\": \"bench_gas\", \"device\": \"%s\", \"commit\": \"%s\", \"case\": \"%s\", \"n\": %llu, "
            "\"bytes\": %.0f, \"seconds\": %.9g, \"device_seconds\": %.9g, \"bytes_per_s\": %.6g, "
            "\"device_bytes_per_s\": %.6g, \"elements_per_s\": %.6g, \"copy_bytes_per_s\": %.6g, \"shape\": \"%s\"}\n",
            info.dev_name, STDCL_COMMIT, f->name, (unsigned long long)f->n, f->bytes, f->seconds,
            f->device_seconds, f->bytes / f->seconds, f->bytes / best, (double)f->n / f->seconds,
            peak.bytes_per_s, f->shape);
    else
        printf("%-22s n=%-11llu seconds=%.3e device_seconds=%.3e gelements_per_s=%-8.4g gbytes_per_s=%-7.4g "
               "device_gbytes_per_s=%-7.4g of_copy=%.3f %s\n",
               f->name, (unsigned long long)f->n, f->seconds, f->device_seconds,
               1e-9 * (double)f->n / f->seconds, 1e-9 * f->bytes / f->seconds, 1e-9 * f->bytes / best,
               f->bytes / best / peak.bytes_per_s, f->shape);
    fflush(stdout);
}

/* ---- Timing. ---------------------------------------------------------------------------------- */

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

static struct figure time_runs(struct figure f, const char *kernel, int (*run)(void *arg), void *arg)
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
    /* Again with the device's time stamps, which cost the calls above something. */
    if (kernel && clprofile(cp, CLPROF_EVERY) == 0 && clprofile_reset(cp) == 0) {
        for (int k = 0; k < option.runs; k++)
            if (run(arg) != 0)
                die(f.name);
        f.device_seconds = device_seconds(kernel);
        clprofile(cp, 0);
    }
    return f;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *took)
{
    qsort(took, (size_t)option.runs, sizeof *took, by_size);
    return took[option.runs / 2];
}

/* Runs two in turn, a few calls each. Their medians become f->seconds and peer->seconds. OpenMP's threads go on
 * looking for work for some milliseconds, on the processors that the other needs: hence the nap. */
static void take_turns(struct figure *f, int (*run)(void *), void *arg, struct figure *peer, int (*run_it)(void *),
                       void *its)
{
    enum { CALLS = 5 };
    double *took = calloc(2 * (size_t)option.runs, sizeof *took);
    if (!took || option.runs < 1)
        die("no runs");
    for (int k = 0; k < option.runs; k++) {
        for (int i = k; k % CALLS == 0 && i < option.runs && i < k + CALLS; i++) {
            const double start = seconds_now();
            if (run(arg) != 0)
                die(f->name);
            took[i] = seconds_now() - start;
        }
        const double start = seconds_now();
        if (run_it(its) != 0)
            die(peer->name);
        took[option.runs + k] = seconds_now() - start;
        if (k % CALLS == CALLS - 1)
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    f->seconds = median(took);
    peer->seconds = median(took + option.runs);
    free(took);
}

/* ---- Arrays. ---------------------------------------------------------------------------------- */

struct sum_case {
    const char *name;
    enum gas_type type;
    enum gas_accumulator accumulator;
    enum gas_method method;
    bool dot;
};
static const struct sum_case cases[] = {
    {"sum.single", GAS_FLOAT, GAS_WIDE, GAS_TUNED, false},
    {"sum.single.compensated", GAS_FLOAT, GAS_COMPENSATED, GAS_TUNED, false},
    {"sum.double", GAS_DOUBLE, GAS_WIDE, GAS_TUNED, false},
    {"sum.double.compensated", GAS_DOUBLE, GAS_COMPENSATED, GAS_TUNED, false},
    {"sum.int", GAS_INT, GAS_WIDE, GAS_TUNED, false},
    {"tree.single", GAS_FLOAT, GAS_WIDE, GAS_TREE, false},
    {"tree.double", GAS_DOUBLE, GAS_WIDE, GAS_TREE, false},
    {"dot.single", GAS_FLOAT, GAS_WIDE, GAS_TUNED, true},
};

struct sum_run {
    gas_sums *sums;
    const void *x, *y;
    size_t n;
    bool dot;
    double result;
};

static int run_sum(void *arg)
{
    struct sum_run *r = arg;
    return r->dot ? gas_dot(r->sums, r->x, r->y, r->n, &r->result) : gas_sum(r->sums, r->x, r->n, &r->result);
}

/* Numbers in [0, 1) of eight bits, whose sum is exact however it is formed. */
static void fill(enum gas_type type, void *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const unsigned v = (unsigned)(i * 2654435761u) >> 24;
        if (type == GAS_FLOAT)
            ((float *)x)[i] = (float)v / 256;
        else if (type == GAS_DOUBLE)
            ((double *)x)[i] = (double)v / 256;
        else
            ((int32_t *)x)[i] = (int32_t)v;
    }
}

static double right_answer(enum gas_type type, size_t n, bool dot)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t v = (unsigned)(i * 2654435761u) >> 24;
        sum += dot ? v * v : v;
    }
    return (double)sum / (type == GAS_INT ? 1 : dot ? 65536 : 256);
}

/* ---- The peer: what one would write by hand on a CPU. ----------------------------------------- */

struct peer_run {
    const float *f;
    const double *d;
    size_t n;
    double result;
};

static int run_peer(void *arg)
{
    struct peer_run *r = arg;
    double sum = 0;
    const float *f = r->f;
    const double *d = r->d;
    const long n = (long)r->n;
    if (f) {
#pragma omp parallel for reduction(+ : sum)
        for (long i = 0; i < n; i++)
            sum += (double)f[i];
    } else {
#pragma omp parallel for reduction(+ : sum)
        for (long i = 0; i < n; i++)
            sum += d[i];
    }
    r->result = sum;
    return 0;
}

/* The sum and the peer's, in turn. */
static void bench_peer(const struct sum_case *c, struct sum_run *ours, const void *x, size_t bytes)
{
    const bool single = c->type == GAS_FLOAT;
    struct peer_run r = {.f = single ? x : NULL, .d = x, .n = ours->n};
    struct figure f = {.name = c->name, .n = r.n, .bytes = (double)bytes, .shape = ""}, peer = f;
    peer.name = single ? "peer.openmp.single" : "peer.openmp.double";
    if (run_peer(&r) != 0 || r.result != right_answer(c->type, r.n, false))
        die("a wrong sum of the peer");
    take_turns(&f, run_sum, ours, &peer, run_peer, &r);
    char ratio[64];
    snprintf(ratio, sizeof ratio, "of_peer=%.3f", peer.seconds / f.seconds);
    peer.shape = ratio;
    print_figure(&peer);
}

static void bench_sum(const struct sum_case *c, void *x, void *y, size_t bytes)
{
    const size_t size = c->type == GAS_DOUBLE ? 8 : 4, n = bytes / size / (c->dot ? 2 : 1);
    struct sum_run r = {.n = n, .x = x, .y = y, .dot = c->dot};
    r.sums =
        gas_sums_create(&(struct gas_sums_options){.ctx = cp,
                                                   .type = c->type,
                                                   .accumulator = c->accumulator,
                                                   .method = c->method,
                                                   .shape = c->method == GAS_TREE ? NULL : option.shape});
    if (!r.sums || gas_sums_place(r.sums, x, n) != 0 || (c->dot && gas_sums_place(r.sums, y, n) != 0) ||
        run_sum(&r))
        die(c->name);
    if (r.result != right_answer(c->type, n, c->dot))
        die("a wrong sum");
    struct figure f = {.name = c->name, .n = n, .bytes = (double)bytes, .shape = gas_sums_shape(r.sums, 0)};
    f = time_runs(f, c->method == GAS_TREE ? "tree" : "reduce", run_sum, &r);
    print_figure(&f);
    if (info.dev_type & CL_DEVICE_TYPE_CPU && c->method == GAS_TUNED && c->accumulator == GAS_WIDE && !c->dot &&
        c->type != GAS_INT)
        bench_peer(c, &r, x, bytes);
    gas_sums_free(r.sums);
}

static void bench_arrays(size_t bytes)
{
    void *x = clmalloc(cp, bytes, CL_MEM_ZEROCOPY), *y = clmalloc(cp, bytes / 2, CL_MEM_ZEROCOPY);
    if (!x || !y)
        die("memory");
    for (enum gas_type type = GAS_FLOAT; type <= GAS_INT; type++) {
        if (type == GAS_DOUBLE && !info.dev_pref_vec_double)
            continue;
        fill(type, x, bytes / (type == GAS_DOUBLE ? 8 : 4));
        fill(type, y, bytes / 2 / (type == GAS_DOUBLE ? 8 : 4));
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
            if (cases[c].type == type)
                bench_sum(&cases[c], x, y, bytes);
    }
    clfree(x);
    clfree(y);
}

/* ---- Gases. ----------------------------------------------------------------------------------- */

static int run_gas(void *arg)
{
    struct gas_energy e;
    return gas_measure(arg, &e);
}

static void bench_gas(const char *name, uint64_t n, enum gas_storage storage, enum gas_type type, int runs)
{
    const int asked = option.runs;
    const struct gas_options options = {
        .ctx = cp, .n = n, .storage = storage, .type = type, .shape = option.shape};
    gas *g = gas_create(&options);
    struct gas_energy e;
    if (!g || gas_measure(g, &e) != 0)
        die(name);
    if (fabs(e.sigmas) > 5)
        die("an unlikely energy");
    struct figure f = {.name = name, .n = n, .bytes = gas_bytes(g), .shape = gas_shape(g, 0)};
    option.runs = runs;
    f = time_runs(f, storage == GAS_STORED ? "reduce" : NULL, run_gas, g);
    option.runs = asked;
    print_figure(&f);
    gas_free(g);
}

/* ---- The command line. ------------------------------------------------------------------------ */

/* 1048576, 1e6 or 2^20. */
static double number(const char *text)
{
    char *end;
    const double base = strtod(text, &end);
    return *end == '^' ? pow(base, strtod(end + 1, NULL)) : base;
}

int main(int argc, char **argv)
{
    size_t bytes = 0;
    for (int i = 1; i < argc; i++) {
        const bool more = i + 1 < argc;
        if (strcmp(argv[i], "--json") == 0)
            option.json = true;
        else if (strcmp(argv[i], "--device") == 0 && more)
            option.device = argv[++i];
        else if (strcmp(argv[i], "--bytes") == 0 && more)
            option.bytes = argv[++i];
        else if (strcmp(argv[i], "--molecules") == 0 && more)
            option.molecules = (uint64_t)number(argv[++i]);
        else if (strcmp(argv[i], "--shape") == 0 && more)
            option.shape = argv[++i];
        else if (strcmp(argv[i], "--runs") == 0 && more)
            option.runs = atoi(argv[++i]);
        else
            die(argv[i]);
    }
    cp = clcontext_create(option.device, (int)CL_DEVICE_TYPE_ALL, 1, NULL, 0);
    if (!cp || clgetdevinfo(cp, &info) != 0 || clpeak(cp, 0, &peak) != 0)
        die("no device");
    if (!option.json)
        printf("# device \"%s\", driver %s, commit %s, copy %.1f GB/s\n", info.dev_name, info.dev_drv_version,
               STDCL_COMMIT, 1e-9 * peak.bytes_per_s);
    for (const char *b = option.bytes; *b; b += strcspn(b, ","), b += *b == ',')
        bench_arrays(bytes = (size_t)number(b));
    bench_gas("gas.stored.single", bytes / 12, GAS_STORED, GAS_FLOAT, option.runs);
    if (info.dev_pref_vec_double)
        bench_gas("gas.stored.double", bytes / 24, GAS_STORED, GAS_DOUBLE, option.runs);
    bench_gas("gas.fused", option.molecules, GAS_FUSED, GAS_FLOAT, 3);
    return clcontext_destroy(cp) == 0 ? 0 : 1;
}
