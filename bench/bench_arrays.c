/* bench_arrays.c - throughput of array sums.
 *
 *   bench_arrays [--device cpu|gpu|NAME] [--devices K] [--bytes B,B,...]
 *                [--shape "KEY=NUMBER ..."] [--runs K] [--json]
 *
 * For arrays of 2^20, 2^24 and 2^28 bytes (--bytes sets other sizes, also as 2^30): the sum of
 * floats and of doubles, plain and compensated, of 32-bit integers, the tutorial's tree, a dot
 * product of floats. Every result is compared with plain C before it is timed. The fastest of K
 * (20) runs counts: `seconds` is a whole call, `device_seconds` the kernel's time by the device's
 * clock. Peers, in the same run: the device's copy bandwidth (clpeak), and on CPUs a hand-written
 * OpenMP sum in doubles, in any order. The two alternate, five calls each. of_peer is the ratio of
 * their median times. of_peer_burst is the ratio of the median times of bursts: five calls in a
 * row, of them the first wakes threads. Output: a line per case of KEY=VALUE words, or with --json
 * an object per line.
 * SPDX-License-Identifier: MIT
 */
#include "bench/figures.h"
#include "core/clock.h"
#include "stdcl/arrays.h"

#include <time.h>

/* ---- Two in turn. ---------------------------------------------------------------------------- */

enum { CALLS = 5 };

/* Return the median time of a burst, given the times of runs in chronological order.
 */
static double median_burst(const double *took)
{
    const size_t bursts = (size_t)(option.runs + CALLS - 1) / CALLS;
    double *burst = calloc(bursts, sizeof *burst);
    if (!burst)
        die("out of memory");
    for (size_t k = 0; k < (size_t)option.runs; k++)
        burst[k / CALLS] += took[k];
    const double seconds = bench_median(burst, bursts);
    free(burst);
    return seconds;
}

/* Run a few calls in a row, after a pause: idle threads of both programs spin for some
 * milliseconds on processors that the other needs, and a processor that wakes up is slow at first.
 */
static void burst_of(int (*run)(void *), void *arg, const char *name, double *took, int calls)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    for (int i = 0; i < calls; i++) {
        const double start = seconds_now();
        if (run(arg) != 0)
            die(name);
        took[i] = seconds_now() - start;
    }
}

/* Time two programs alternately, a burst of calls each. The medians become f->seconds and
 * peer->seconds. Return the ratio of the peer's burst time to ours. */
static double time_arrays_alternately(struct figure *f, int (*run)(void *), void *arg,
                                      struct figure *peer, int (*run_it)(void *), void *its)
{
    double *took = calloc(2 * (size_t)option.runs, sizeof *took), *its_took = took + option.runs;
    if (!took || option.runs < 1)
        die("no runs");
    for (int k = 0; k < option.runs; k += CALLS) {
        const int calls = option.runs - k < CALLS ? option.runs - k : CALLS;
        burst_of(run, arg, f->name, took + k, calls);
        burst_of(run_it, its, peer->name, its_took + k, calls);
    }
    const double burst = median_burst(its_took) / median_burst(took);
    f->seconds = bench_median(took, (size_t)option.runs);
    peer->seconds = bench_median(its_took, (size_t)option.runs);
    free(took);
    return burst;
}

/* ---- Arrays. --------------------------------------------------------------------------------- */

struct sum_case {
    const char *name;
    enum arrays_type type;
    enum arrays_accumulator accumulator;
    enum arrays_method method;
    bool dot;
};
static const struct sum_case cases[] = {
    {"sum.single", ARRAYS_FLOAT, ARRAYS_WIDE, ARRAYS_TUNED, false},
    {"sum.single.compensated", ARRAYS_FLOAT, ARRAYS_COMPENSATED, ARRAYS_TUNED, false},
    {"sum.double", ARRAYS_DOUBLE, ARRAYS_WIDE, ARRAYS_TUNED, false},
    {"sum.double.compensated", ARRAYS_DOUBLE, ARRAYS_COMPENSATED, ARRAYS_TUNED, false},
    {"sum.int", ARRAYS_INT, ARRAYS_WIDE, ARRAYS_TUNED, false},
    {"tree.single", ARRAYS_FLOAT, ARRAYS_WIDE, ARRAYS_TREE, false},
    {"tree.double", ARRAYS_DOUBLE, ARRAYS_WIDE, ARRAYS_TREE, false},
    {"dot.single", ARRAYS_FLOAT, ARRAYS_WIDE, ARRAYS_TUNED, true},
};

struct sum_run {
    arrays *arrays;
    const void *x, *y;
    size_t n;
    bool dot;
    double result;
};

static int run_sum(void *arg)
{
    struct sum_run *r = arg;
    return r->dot ? arrays_dot(r->arrays, r->x, r->y, r->n, &r->result)
                  : arrays_sum(r->arrays, r->x, r->n, &r->result);
}

/* Numbers in [0, 1) of eight bits: their sum is exact in any order. */
static void fill_bench_array(enum arrays_type type, void *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const unsigned v = (unsigned)(i * 2654435761u) >> 24;
        if (type == ARRAYS_FLOAT)
            ((float *)x)[i] = (float)v / 256;
        else if (type == ARRAYS_DOUBLE)
            ((double *)x)[i] = (double)v / 256;
        else
            ((int32_t *)x)[i] = (int32_t)v;
    }
}

static double expected_array_sum(enum arrays_type type, size_t n, bool dot)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t v = (unsigned)(i * 2654435761u) >> 24;
        sum += dot ? v * v : v;
    }
    return (double)sum / (type == ARRAYS_INT ? 1 : dot ? 65536 : 256);
}

/* ---- The peer: a hand-written OpenMP loop. --------------------------------------------------- */

struct peer_run {
    const float *f;
    const double *d;
    size_t n;
    double result;
};

static int run_array_peer(void *arg)
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

/* Time the sum and the peer's alternately. */
static void bench_peer(const struct sum_case *c, struct sum_run *ours, const void *x, size_t bytes)
{
    const bool single = c->type == ARRAYS_FLOAT;
    struct peer_run r = {.f = single ? x : NULL, .d = x, .n = ours->n};
    struct figure f = {.name = c->name, .n = r.n, .bytes = (double)bytes, .shape = ""}, peer = f;
    peer.name = single ? "peer.openmp.single" : "peer.openmp.double";
    if (run_array_peer(&r) != 0 || r.result != expected_array_sum(c->type, r.n, false))
        die("a wrong sum of the peer");
    const double burst = time_arrays_alternately(&f, run_sum, ours, &peer, run_array_peer, &r);
    char ratio[64];
    snprintf(ratio, sizeof ratio, "of_peer=%.3f of_peer_burst=%.3f", peer.seconds / f.seconds,
             burst);
    peer.shape = ratio;
    print_figure(&peer);
}

static void bench_sum(const struct sum_case *c, void *x, void *y, size_t bytes)
{
    const size_t size = c->type == ARRAYS_DOUBLE ? 8 : 4, n = bytes / size / (c->dot ? 2 : 1);
    struct sum_run r = {.n = n, .x = x, .y = y, .dot = c->dot};
    r.arrays = arrays_create(
        &(struct arrays_options){.ctx = cp,
                                 .type = c->type,
                                 .accumulator = c->accumulator,
                                 .method = c->method,
                                 .shape = c->method == ARRAYS_TREE ? NULL : option.shape});
    if (!r.arrays || arrays_upload(r.arrays, x, n) != 0 ||
        (c->dot && arrays_upload(r.arrays, y, n) != 0) || run_sum(&r))
        die(c->name);
    if (r.result != expected_array_sum(c->type, n, c->dot))
        die("a wrong sum");
    struct figure f = {
        .name = c->name, .n = n, .bytes = (double)bytes, .shape = arrays_shape(r.arrays, 0)};
    f = time_runs(f, c->method == ARRAYS_TREE ? "tree" : "reduce", run_sum, &r);
    print_figure(&f);
    if (info.dev_type & CL_DEVICE_TYPE_CPU && c->method == ARRAYS_TUNED &&
        c->accumulator == ARRAYS_WIDE && !c->dot && c->type != ARRAYS_INT)
        bench_peer(c, &r, x, bytes);
    arrays_free(r.arrays);
}

static void bench_arrays(size_t bytes)
{
    void *x = clmalloc(cp, bytes, CL_MEM_ZEROCOPY), *y = clmalloc(cp, bytes / 2, CL_MEM_ZEROCOPY);
    if (!x || !y)
        die("memory");
    for (enum arrays_type type = ARRAYS_FLOAT; type <= ARRAYS_INT; type++) {
        if (type == ARRAYS_DOUBLE && !info.dev_pref_vec_double)
            continue;
        fill_bench_array(type, x, bytes / (type == ARRAYS_DOUBLE ? 8 : 4));
        fill_bench_array(type, y, bytes / 2 / (type == ARRAYS_DOUBLE ? 8 : 4));
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
            if (cases[c].type == type)
                bench_sum(&cases[c], x, y, bytes);
    }
    clfree(x);
    clfree(y);
}

int main(int argc, char **argv)
{
    bench_begin(
        &(struct bench_option){.program = "bench_arrays", .bytes = "2^20,2^24,2^28", .runs = 20},
        argc, argv);
    for (const char *b = option.bytes; *b; b += strcspn(b, ","), b += *b == ',')
        bench_arrays((size_t)bench_number(b));
    return clcontext_destroy(cp) == 0 ? 0 : 1;
}
