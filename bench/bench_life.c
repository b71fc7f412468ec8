/* bench_life.c - cells per second of the Life engines.
 *
 *   bench_life [--device cpu|gpu|NAME] [--devices K] [--size W[xH],W[xH],...]
 *              [--generations N] [--engine NAME,NAME] [--rule RULE] [--plane]
 *              [--shape "KEY=NUMBER ..."] [--sweep "KEY=V,V,... KEY=V,..."]
 *              [--runs N] [--seconds S] [--no-check] [--golly]
 *
 * For every size, engine and shape: start a soup of density 1/2; compare windows in the corners,
 * at the edges and inside with plain C after some generations; then time N generations (1024),
 * reduced to about S seconds (2). Print best and median of the runs (5). The limit counts the
 * logic of the bit-sliced kernel for B3/S23: 10 operations for a word of cells, 64 words of 32 a
 * clock on each of an NVIDIA GPU's multiprocessors, or two vectors of 512 a clock on a CPU core.
 * With AVX2 it is 26 operations (6 for neighbours, 5 for sums in a row, 8 for three rows, 7 for
 * the rule) on vectors of 256, four a clock, at the driver's clock rate. Gcells_per_cpu_s is per
 * second of this process's CPU time, for CPU devices on a shared machine. --golly also times
 * Golly's bgolly (QuickLife) on the same soup and number of generations. QuickLife skips quiet
 * parts of the grid; the engines' time is equal for all cells. --sweep tries all combinations of
 * numbers. Output: one line per case of "key=value" words, for grep; after a sweep, the best shape
 * again.
 * SPDX-License-Identifier: MIT
 */
#include "bench/common.h"
#include "core/clock.h"
#include "core/device_info.h"
#include "formats/life.h"
#include "life/internal.h"
#include "stdcl/life.h"

#include <stdbool.h>
#include <unistd.h>

enum { MAX_RUNS = 25, LINE = 1024 };

struct options {
    const char *device, *size, *engine, *rule, *shape, *sweep;
    unsigned devices, runs;
    unsigned long long generations;
    double seconds;
    bool plane, check, golly;
};

/* CPU seconds of this process on all cores: the measure on a shared machine. */
static double worked(void)
{
    return 1e-9 * (double)ns_of_clock(CLOCK_PROCESS_CPUTIME_ID);
}

/* ---- Timing. --------------------------------------------------------------------------------- */

static double life_rate_limit(CLCONTEXT *cp, unsigned n)
{
    struct cldev_info info[64];
    if (n > 64 || clgetdevinfo(cp, info) < 0)
        return 0;
    double sum = 0;
    for (unsigned i = 0; i < n; i++) {
        const double clock = 1e6 * info[i].dev_max_freq * info[i].dev_max_core;
        if (vendor_is_nvidia(info[i].dev_vendor))
            sum += clock * 64 * 32 / 10;
        else if (info[i].dev_type & CL_DEVICE_TYPE_CPU && info[i].dev_pref_vec_float >= 16)
            sum += clock * 2 * 512 / 10;
        else if (info[i].dev_type & CL_DEVICE_TYPE_CPU && info[i].dev_pref_vec_float >= 8)
            sum += clock * 4 * 256 / 26;
    }
    return sum;
}

static void print_device(CLCONTEXT *cp)
{
    struct cldev_info info[64];
    if (clgetndev(cp) > 64 || clgetdevinfo(cp, info) < 0)
        die("devices");
    printf("device=\"%s\" devices=%u driver=\"%s\" commit=%s\n", info[0].dev_name, clgetndev(cp),
           info[0].dev_drv_version, STDCL_COMMIT);
}

/* True if the engine agrees with plain C. */
static bool check_life_result(life *lf)
{
    if (life_verify(lf) == 0)
        return true;
    if (clerrno != EDOM)
        die("checking");
    return false;
}

/* Run one case. Return the best rate; print why and return 0 if the shape is not possible.
 * *generations receives the number of timed generations. */
static double run_life_case(const struct options *o, CLCONTEXT *cp, enum life_engine engine,
                            size_t width, size_t height, const char *shape,
                            unsigned long long *generations)
{
    double seconds[MAX_RUNS], cpu = 0;
    const double cells = (double)width * (double)height;
    life *lf = life_create(&(struct life_options){.ctx = cp,
                                                  .engine = engine,
                                                  .width = width,
                                                  .height = height,
                                                  .bounds = o->plane ? LIFE_PLANE : LIFE_TORUS,
                                                  .rule = o->rule,
                                                  .shape = shape});
    if (!lf) {
        printf("engine=%s size=%zux%zu shape=\"%s\" refused=\"%s\"\n", life_engine_name(engine),
               width, height, shape ? shape : "", clerror());
        return 0;
    }
    if (life_soup(lf, 0.5, 1) < 0)
        die("soup");
    const bool right = !o->check || check_life_result(lf);
    if (life_step(lf, 1) < 0)
        die("stepping");
    /* The number of generations that fits the time, by a first measurement. */
    unsigned long long n = o->generations, trial = n < 64 ? n : 64;
    double start, each;
    for (;; trial = trial < n / 8 ? 8 * trial
                                  : n) { /* long enough that the overhead of a call is negligible */
        start = seconds_now();
        if (life_step(lf, trial) < 0)
            die("stepping");
        each = (seconds_now() - start) / (double)trial;
        if (trial == n || each * (double)trial > 0.05 * o->seconds)
            break;
    }
    if (each * (double)n > o->seconds)
        n = o->seconds / each > (double)trial ? (unsigned long long)(o->seconds / each) : trial;
    *generations = n;
    const uint64_t launches = life_launches(lf);
    for (unsigned r = 0; r < o->runs; r++) {
        const double before = worked();
        start = seconds_now();
        if (life_step(lf, n) < 0)
            die("stepping");
        seconds[r] = seconds_now() - start;
        if (r == 0 || worked() - before < cpu)
            cpu = worked() - before;
    }
    sort_up(seconds, o->runs);
    const double best = cells * (double)n / seconds[0],
                 middle = cells * (double)n / seconds[o->runs / 2];
    const double limit = engine == LIFE_PACKED ? life_rate_limit(cp, life_devices(lf)) : 0;
    printf(
        "engine=%s size=%zux%zu bounds=%s rule=%s generations=%llu best_Gcells_per_s=%.2f median_Gcells_per_s=%.2f "
        "Gcells_per_cpu_s=%.2f us_per_generation=%.3f launches=%llu bytes_per_cell=%.4f limit_percent=%.1f check=%s devices=%u shape=\"%s\"\n",
        life_engine_name(engine), width, height, o->plane ? "plane" : "torus", o->rule, n,
        best / 1e9, middle / 1e9, cells * (double)n / cpu / 1e9, 1e6 * seconds[0] / (double)n,
        (unsigned long long)((life_launches(lf) - launches) / o->runs),
        (double)life_device_bytes(lf) * life_devices(lf) / cells,
        limit > 0 ? 100 * best / limit : 0, right ? o->check ? "right" : "none" : "WRONG",
        life_devices(lf), life_shape(lf, 0));
    fflush(stdout);
    life_free(lf);
    return right ? best : 0.0;
}

/* Seconds of n generations of a file by Golly's QuickLife, including reading the file; -1 if it
 * fails. */
static double time_golly(const char *file, unsigned long long n)
{
    char command[200];
    snprintf(command, sizeof command, "bgolly -q -q -m %llu '%s' >/dev/null 2>&1", n, file);
    const double start = seconds_now();
    return system(command) == 0 ? seconds_now() - start : -1;
}

/* Write the soup of run_life_case to a file. */
static void write_soup(const struct options *o, size_t width, size_t height, const char *file)
{
    life *lf =
        life_create(&(struct life_options){.width = width, .height = height, .rule = o->rule});
    struct life_cells c;
    if (!lf || life_soup(lf, 0.5, 1) < 0 || life_cells_alloc(&c, width, height) < 0 ||
        life_get(lf, 0, 0, &c) < 0)
        die("a soup for bgolly");
    struct life_pattern p = {.width = width,
                             .height = height,
                             .columns = width,
                             .rows = height,
                             .stride = c.stride,
                             .word = c.word};
    const struct life_rule rule = life_rule_of(lf);
    life_rule_string(&rule, p.rule);
    snprintf(p.bounds, sizeof p.bounds, "%c%zu,%zu", o->plane ? 'P' : 'T', width, height);
    if (life_pattern_write(file, &p, "rle") < 0)
        die("a file for bgolly");
    life_cells_free(&c);
    life_free(lf);
}

/* The same soup by Golly, from a file: the time of n generations minus the time of none. */
static void run_golly(const struct options *o, size_t width, size_t height, unsigned long long n)
{
    char file[] = "/tmp/bench_life_XXXXXX.rle";
    const int fd = mkstemps(file, 4);
    if (fd < 0)
        die("a file for bgolly");
    close(fd);
    write_soup(o, width, height, file);
    const double none = time_golly(file, 0), all = none < 0 ? -1 : time_golly(file, n);
    if (none < 0 || all <= none)
        printf("engine=bgolly size=%zux%zu refused=\"%s\"\n", width, height,
               none < 0 || all < 0 ? "bgolly failed; is it installed?"
                                   : "too short a run for its clock; ask for more");
    else
        printf(
            "engine=bgolly size=%zux%zu bounds=%s rule=%s generations=%llu best_Gcells_per_s=%.3f\n",
            width, height, o->plane ? "plane" : "torus", o->rule, n,
            (double)width * (double)height * (double)n / (all - none) / 1e9);
    fflush(stdout);
    unlink(file);
}

/* ---- Sweeps. --------------------------------------------------------------------------------- */

/* The shapes of one size, and the best of them. */
struct trial {
    const struct options *o;
    CLCONTEXT *cp;
    size_t width, height;
    unsigned long long generations;
    double best;
    char best_shape[LINE];
};

static void try_shape(void *arg, const char *shape)
{
    struct trial *t = arg;
    const double rate =
        run_life_case(t->o, t->cp, LIFE_PACKED, t->width, t->height, shape, &t->generations);
    if (rate > t->best) {
        t->best = rate;
        snprintf(t->best_shape, sizeof t->best_shape, "%s", shape);
    }
}

/* Return the number of generations timed. */
static unsigned long long run_sweep(const struct options *o, CLCONTEXT *cp, size_t width,
                                    size_t height)
{
    struct trial t = {o, cp, width, height, o->generations, 0, ""};
    sweep_shapes(o->shape, o->sweep, try_shape, &t);
    if (o->sweep)
        printf("best size=%zux%zu best_Gcells_per_s=%.2f shape=\"%s\"\n", width, height,
               t.best / 1e9, t.best_shape);
    return t.generations;
}

/* ---- The command line. ----------------------------------------------------------------------- */

static bool is_bench_option(const char *arg, const char *name, char **next, const char **value)
{
    if (strcmp(arg, name) != 0)
        return false;
    if (!*next) {
        fprintf(stderr, "bench_life: %s needs a value\n", name);
        exit(2);
    }
    *value = *next;
    return true;
}

static struct options parse_life_options(char **argv)
{
    struct options o = {.size = "1024",
                        .engine = "packed",
                        .rule = "B3/S23",
                        .runs = 5,
                        .generations = 1024,
                        .seconds = 2,
                        .check = true};
    for (char **a = argv + 1; *a; a++) {
        const char *v = NULL;
        if (is_bench_option(*a, "--device", a + 1, &o.device) ||
            is_bench_option(*a, "--size", a + 1, &o.size) ||
            is_bench_option(*a, "--engine", a + 1, &o.engine) ||
            is_bench_option(*a, "--rule", a + 1, &o.rule) ||
            is_bench_option(*a, "--shape", a + 1, &o.shape) ||
            is_bench_option(*a, "--sweep", a + 1, &o.sweep))
            a++;
        else if (is_bench_option(*a, "--devices", a + 1, &v))
            o.devices = (unsigned)atoi(v), a++;
        else if (is_bench_option(*a, "--runs", a + 1, &v))
            o.runs = (unsigned)atoi(v), a++;
        else if (is_bench_option(*a, "--generations", a + 1, &v))
            o.generations = strtoull(v, NULL, 10), a++;
        else if (is_bench_option(*a, "--seconds", a + 1, &v))
            o.seconds = atof(v), a++;
        else if (strcmp(*a, "--plane") == 0)
            o.plane = true;
        else if (strcmp(*a, "--no-check") == 0)
            o.check = false;
        else if (strcmp(*a, "--golly") == 0)
            o.golly = true;
        else
            fprintf(stderr, "bench_life: unknown option %s\n", *a), exit(2);
    }
    if (o.runs < 1 || o.runs > MAX_RUNS || !o.generations)
        die("--runs is 1 to 25, --generations at least 1");
    return o;
}

static void run_size(const struct options *o, CLCONTEXT *cp, size_t width, size_t height)
{
    char engines[LINE], *rest;
    unsigned long long generations = o->generations, others;
    snprintf(engines, sizeof engines, "%s", o->engine);
    for (char *name = strtok_r(engines, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        const int engine = life_engine_by_name(name);
        if (engine < 0)
            die("--engine");
        if (engine == LIFE_PACKED)
            generations = run_sweep(o, cp, width, height);
        else
            run_life_case(o, cp, (enum life_engine)engine, width, height, NULL, &others);
    }
    if (o->golly)
        run_golly(o, width, height, generations);
}

int main(int argc, char **argv)
{
    (void)argc;
    const struct options o = parse_life_options(argv);
    CLCONTEXT *cp = bench_open(o.device ? o.device : stdgpu ? "gpu" : "cpu", o.devices);
    if (!cp)
        die("no device");
    print_device(cp);
    char sizes[LINE], *rest;
    snprintf(sizes, sizeof sizes, "%s", o.size);
    for (char *size = strtok_r(sizes, ",", &rest); size; size = strtok_r(NULL, ",", &rest)) {
        char *end;
        const size_t width = strtoull(size, &end, 10),
                     height = *end == 'x' ? strtoull(end + 1, NULL, 10) : width;
        run_size(&o, cp, width, height);
    }
    return 0;
}
