/* bench_matmul.c - matrix products in device memory, by size and shape, with their peers.
 *
 *   bench_matmul --device H200 --precision double --size 1024,4096,8192
 *   bench_matmul --device H200 --precision double --size 4096 --shape "bm=128 bn=64"
 *                --shape "stages=4 bk=8"
 *   bench_matmul --device H200 --precision single --size 4096
 *                --sweep "swizzle=4,8,16 stages=2,3"
 *   bench_matmul --device H200 --devices 2 --precision double --size 32768     C on both
 *   bench_matmul --device H200 --precision double --size 16,64 --batch 10000     by one call
 *
 * Each case is verified before it is timed: some rows against the host in higher precision. The
 * peers' products are verified too, and errors are printed side by side. A time is that of
 * products queued back to back for about --seconds, the median of several runs. Runs alternate
 * with the peers', since a device that warms up slows down; the best is printed too. Every run
 * begins with an equal number of untimed products: a GPU at its power limit takes some 0.15 s to
 * settle at the clock that a kernel's power allows, and would otherwise charge one program for the
 * other. Output: one line per case of KEY=VALUE words. Sizes: N or MxNxK. --tight: leading
 * dimensions as short as the rows, so that odd sizes are unaligned; this is the default. --padded
 * rounds them up to 128 bytes. One CPU multiplies host arrays by matmul_multiply, other devices
 * multiply by matmul_enqueue. Peers, if installed: OpenBLAS and CLBlast on CPUs, cuBLAS on NVIDIA
 * GPUs.
 * SPDX-License-Identifier: MIT
 */
#include "bench/common.h"
#include "core/clock.h"

#include <stdcl/matmul.h>

#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>

enum { RUNS = 5, MAX_SHAPES = 256, MAX_RACERS = 4 };

struct options {
    const char *device, *size, *sweep;
    const char *shape[MAX_SHAPES];
    size_t shapes;
    unsigned devices;
    double seconds;
    size_t batch; /* 0: a product a call */
    bool peer, padded;
    bool host; /* one CPU, which multiplies host arrays, as OpenBLAS does */
    enum matmul_trans trans;
    struct matmul_options engine;
};

/* A timed program: run(arg, count) computes the product `count` times and waits. */
struct racer {
    const char *name;
    void (*run)(void *arg, size_t count);
    void *arg;
    size_t count;
    double times[RUNS]; /* seconds a product, ascending */
    double error;       /* of its product, against the host's in higher precision */
};

/* One size of problem. */
struct problem {
    const struct options *o;
    CLCONTEXT *ctx;
    size_t m, n, k, lda, ldb, ldc, stride_a, stride_b, stride_c, real;
    void *a, *b, *c;
    double limit;                    /* operations a second that the device can do */
    struct racer racers[MAX_RACERS]; /* ours, followed by the peers */
    size_t peers;
};

/* ---- Problems. ------------------------------------------------------------------------------- */

/* Random rows; those of large matrices repeat, which saves time and affects no result. */
static void *make_matrix(struct problem *p, uint32_t which, size_t rows, size_t cols, size_t ld)
{
    const size_t fresh = rows < 509 ? rows : 509, line = ld * p->real;
    char *x = clmalloc(p->ctx, rows * line, p->o->devices > 1 ? 0 : CL_MEM_ZEROCOPY);
    if (!x)
        die("matrix");
    matmul_random(p->o->engine.precision, 1, which, fresh, cols, x, ld);
    for (size_t i = fresh; i < rows; i++)
        memcpy(x + i * line, x + i % fresh * line, line);
    return x;
}

static size_t leading(const struct problem *p, size_t cols)
{
    const size_t step = 128 / p->real;
    return p->o->padded ? (cols + step - 1) / step * step : cols;
}

static bool bench_transposes_a(const struct problem *p)
{
    return p->o->trans == MATMUL_TN || p->o->trans == MATMUL_TT;
}
static bool bench_transposes_b(const struct problem *p)
{
    return p->o->trans == MATMUL_NT || p->o->trans == MATMUL_TT;
}

static size_t product_count(const struct problem *p)
{
    return p->o->batch ? p->o->batch : 1;
}

static void make_problem(struct problem *p)
{
    const size_t ra = bench_transposes_a(p) ? p->k : p->m, ca = bench_transposes_a(p) ? p->m : p->k;
    const size_t rb = bench_transposes_b(p) ? p->n : p->k, cb = bench_transposes_b(p) ? p->k : p->n;
    p->lda = leading(p, ca);
    p->ldb = leading(p, cb);
    p->ldc = leading(p, p->n);
    p->a = make_matrix(p, 0, ra * product_count(p), ca, p->lda);
    p->b = make_matrix(p, 1, rb * product_count(p), cb, p->ldb);
    p->c = make_matrix(p, 2, p->m * product_count(p), p->n, p->ldc);
    p->stride_a = ra * p->lda, p->stride_b = rb * p->ldb, p->stride_c = p->m * p->ldc;
    for (int i = 0; i < 3 && p->o->devices == 1; i++)
        if (clmsync(p->ctx, 0, i == 0 ? p->a : i == 1 ? p->b : p->c, CL_MEM_DEVICE) == (cl_event)-1)
            die("matrices");
}

static void free_problem(struct problem *p)
{
    clfree(p->a);
    clfree(p->b);
    clfree(p->c);
}

/* ---- Timing. --------------------------------------------------------------------------------- */

/* Return the number of products that take about `seconds`. */
static size_t calibrate_products(const struct racer *r, double seconds)
{
    r->run(r->arg, 1);
    for (size_t count = 1;; count *= 2) {
        const double start = seconds_now();
        r->run(r->arg, count);
        const double took = seconds_now() - start;
        if (took > seconds / 3)
            return (size_t)fmax(1, (double)count * seconds / took);
    }
}

/* Time each for about `seconds` in all, alternately. */
static void race_engines(struct racer *racers, size_t n, double seconds)
{
    for (size_t i = 0; i < n; i++)
        racers[i].count = calibrate_products(&racers[i], seconds / RUNS);
    for (int turn = 0; turn < RUNS; turn++)
        for (size_t i = 0; i < n; i++) {
            struct racer *r = &racers[i];
            r->run(r->arg, r->count);
            const double start = seconds_now();
            r->run(r->arg, r->count);
            r->times[turn] = (seconds_now() - start) / (double)r->count;
        }
    for (size_t i = 0; i < n; i++)
        sort_up(racers[i].times, RUNS);
}

struct job {
    struct problem *p;
    matmul *mm;
};

/* True if an engine's operands are loaded once, and its C is fetched. */
static bool is_loaded(const struct options *o)
{
    return o->devices > 1 || matmul_kind_is_host(o->engine.kind);
}

static void run_matmul_engine(void *arg, size_t count)
{
    const struct job *j = arg;
    const struct problem *p = j->p;
    for (size_t i = 0; i < count; i++)
        if (p->o->batch ? matmul_batch(j->mm, 0, p->o->trans, p->m, p->n, p->k, 1, p->a, p->lda,
                                       p->stride_a, p->b, p->ldb, p->stride_b, 0, p->c, p->ldc,
                                       p->stride_c, p->o->batch)
            : is_loaded(p->o) ? matmul_compute(j->mm, 1, 0)
            : p->o->host ? matmul_multiply(j->mm, p->o->trans, p->m, p->n, p->k, 1, p->a, p->lda,
                                           p->b, p->ldb, 0, p->c, p->ldc)
                         : matmul_enqueue(j->mm, 0, p->o->trans, p->m, p->n, p->k, 1, p->a, p->lda,
                                          p->b, p->ldb, 0, p->c, p->ldc))
            die("product");
    if (clwait(p->ctx, 0, CL_KERNEL_EVENT) == (cl_event)-1)
        die("product");
}

static double flops(const struct problem *p)
{
    return 2.0 * (double)p->m * (double)p->n * (double)p->k * (double)product_count(p);
}

/* ---- Verifying. ------------------------------------------------------------------------------ */

static void spoil_result(const struct problem *p)
{
    memset(p->c, 0xff, product_count(p) * p->stride_c * p->real); /* NaN */
}

/* The largest error of some rows of the C in host memory. */
static double product_error(const struct problem *p)
{
    const struct options *o = p->o;
    const size_t rows = p->m * p->n * p->k > (size_t)1 << 36 ? 3 : 17;
    double worst = 0;
    for (size_t i = 0; i < product_count(p);
         i = i + 1 < product_count(p) && i + 97 >= product_count(p) ? product_count(p) - 1
                                                                    : i + 97) {
        const double error =
            matmul_error(o->engine.precision, o->trans, p->m, p->n, p->k, 1,
                         (const char *)p->a + i * p->stride_a * p->real, p->lda,
                         (const char *)p->b + i * p->stride_b * p->real, p->ldb, 0, NULL,
                         (const char *)p->c + i * p->stride_c * p->real, p->ldc, rows);
        worst = error <= worst ? worst : error; /* NaN is the worst */
    }
    return worst;
}

static double verify_product(struct job *j)
{
    const struct problem *p = j->p;
    const struct options *o = p->o;
    spoil_result(p);
    if (is_loaded(o)
            ? matmul_load(j->mm, o->trans, p->m, p->n, p->k, p->a, p->lda, p->b, p->ldb) != 0
            : clmsync(p->ctx, 0, p->c, CL_MEM_DEVICE) == (cl_event)-1)
        die("load");
    run_matmul_engine(j, 2); /* the second product shows state left by the first */
    if (is_loaded(o) ? matmul_result(j->mm, p->c, p->ldc) != 0
                     : clmsync(p->ctx, 0, p->c, CL_MEM_HOST) == (cl_event)-1)
        die("C");
    return product_error(p);
}

/* ---- Peers. ---------------------------------------------------------------------------------- */

/* cuBLAS by dlopen: its handle, and the required functions of it and of the CUDA runtime. */
struct cublas {
    void *handle, *a, *b, *c;
    size_t m, n, k, lda, ldb, ldc, batch;
    int ta, tb;
    int (*dgemm)(void *, int, int, int, int, int, const double *, const void *, int, const void *,
                 int, const double *, void *, int);
    int (*sgemm)(void *, int, int, int, int, int, const float *, const void *, int, const void *,
                 int, const float *, void *, int);
    int (*dbatch)(void *, int, int, int, int, int, const double *, const void *, int, long long,
                  const void *, int, long long, const double *, void *, int, long long, int);
    int (*sbatch)(void *, int, int, int, int, int, const float *, const void *, int, long long,
                  const void *, int, long long, const float *, void *, int, long long, int);
    int (*synchronize)(void), (*destroy)(void *), (*release)(void *),
        (*copy)(void *, const void *, size_t, int);
    bool doubles;
};

static void *open_any(const char *const *names)
{
    void *library = NULL;
    for (; *names && !library; names++)
        library = dlopen(*names, RTLD_NOW | RTLD_GLOBAL);
    return library;
}

static bool find_symbol(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
    return found != NULL;
}

static int run_cublas_batch(const struct cublas *q)
{
    const double one = 1, zero = 0;
    const float onef = 1, zerof = 0;
    const int m = (int)q->m, n = (int)q->n, k = (int)q->k, lda = (int)q->lda, ldb = (int)q->ldb,
              ldc = (int)q->ldc;
    const long long sa = (long long)(q->ta ? q->k * q->lda : q->m * q->lda),
                    sc = (long long)(q->m * q->ldc),
                    sb = (long long)(q->tb ? q->n * q->ldb : q->k * q->ldb);
    return q->doubles ? q->dbatch(q->handle, q->tb, q->ta, n, m, k, &one, q->b, ldb, sb, q->a, lda,
                                  sa, &zero, q->c, ldc, sc, (int)q->batch)
                      : q->sbatch(q->handle, q->tb, q->ta, n, m, k, &onef, q->b, ldb, sb, q->a, lda,
                                  sa, &zerof, q->c, ldc, sc, (int)q->batch);
}

/* Row-major products are column-major ones with A and B exchanged. */
static void run_cublas(void *arg, size_t count)
{
    struct cublas *q = arg;
    const double one = 1, zero = 0;
    const float onef = 1, zerof = 0;
    for (size_t i = 0; i < count; i++)
        if (q->batch ? run_cublas_batch(q)
            : q->doubles
                ? q->dgemm(q->handle, q->tb, q->ta, (int)q->n, (int)q->m, (int)q->k, &one, q->b,
                           (int)q->ldb, q->a, (int)q->lda, &zero, q->c, (int)q->ldc)
                : q->sgemm(q->handle, q->tb, q->ta, (int)q->n, (int)q->m, (int)q->k, &onef, q->b,
                           (int)q->ldb, q->a, (int)q->lda, &zerof, q->c, (int)q->ldc))
            die("cuBLAS");
    if (q->synchronize())
        die("cuBLAS");
}

/* False: it is not installed, or out of memory. */
static bool open_cublas(struct cublas *q, const struct problem *p)
{
    static const char *const runtime_names[] = {"libcudart.so.13", "libcudart.so.12",
                                                "libcudart.so", NULL};
    static const char *const blas_names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so",
                                             NULL};
    static void *runtime, *blas;
    int (*create)(void **), (*allocate)(void **, size_t);
    *q = (struct cublas){.m = p->m,
                         .n = p->n,
                         .k = p->k,
                         .lda = p->lda,
                         .ldb = p->ldb,
                         .ldc = p->ldc,
                         .ta = bench_transposes_a(p),
                         .tb = bench_transposes_b(p),
                         .doubles = p->real == sizeof(double),
                         .batch = p->o->batch};
    runtime = runtime ? runtime : open_any(runtime_names);
    blas = runtime && !blas ? open_any(blas_names) : blas;
    if (!blas || !find_symbol(blas, "cublasCreate_v2", &create) ||
        !find_symbol(blas, "cublasDestroy_v2", &q->destroy) ||
        !find_symbol(blas, "cublasDgemm_v2", &q->dgemm) ||
        !find_symbol(blas, "cublasSgemm_v2", &q->sgemm) ||
        !find_symbol(blas, "cublasDgemmStridedBatched", &q->dbatch) ||
        !find_symbol(blas, "cublasSgemmStridedBatched", &q->sbatch) ||
        !find_symbol(runtime, "cudaMalloc", &allocate) ||
        !find_symbol(runtime, "cudaFree", &q->release) ||
        !find_symbol(runtime, "cudaMemcpy", &q->copy) ||
        !find_symbol(runtime, "cudaDeviceSynchronize", &q->synchronize))
        return false;
    const size_t ba = product_count(p) * p->stride_a * p->real,
                 bb = product_count(p) * p->stride_b * p->real,
                 bc = product_count(p) * p->stride_c * p->real;
    return !create(&q->handle) && !allocate(&q->a, ba) && !allocate(&q->b, bb) &&
           !allocate(&q->c, bc) && !q->copy(q->a, p->a, ba, 1) && !q->copy(q->b, p->b, bb, 1);
}

static double cublas_error(struct cublas *q, const struct problem *p)
{
    spoil_result(p);
    run_cublas(q, 1);
    if (q->copy(p->c, q->c, product_count(p) * p->stride_c * p->real, 2))
        die("cuBLAS");
    return product_error(p);
}

static void close_cublas(struct cublas *q)
{
    if (!q->handle)
        return;
    q->release(q->a);
    q->release(q->b);
    q->release(q->c);
    q->destroy(q->handle);
}

/* OpenBLAS or CLBlast, through an engine of ours; `mm` NULL: not installed. */
struct library {
    struct problem p;
    struct options o;
    struct job job;
};

static void open_blas_library(struct library *l, const struct problem *p, enum matmul_kind kind)
{
    l->o = *p->o;
    l->o.engine.kind = kind;
    l->o.engine.shape = NULL;
    l->p = *p;
    l->p.o = &l->o;
    l->job = (struct job){&l->p, matmul_create(&l->o.engine)};
}

/* All peers of one size of problem. */
struct peers {
    struct cublas cublas;
    struct library library[2];
};

/* Open the available peers: p->peers racers. */
static void open_peers(struct peers *peers, struct problem *p)
{
    static const enum matmul_kind kinds[] = {MATMUL_OPENBLAS, MATMUL_CLBLAST};
    struct cldev_info info[64];
    struct racer *racers = p->racers + 1;
    size_t n = 0;
    if (clgetdevinfo(p->ctx, info) != 0)
        die("devices");
    if (info[0].dev_type & CL_DEVICE_TYPE_CPU) {
        for (int i = 0; i < 2 && !p->o->batch; i++) {
            open_blas_library(&peers->library[i], p, kinds[i]);
            struct job *job = &peers->library[i].job;
            if (job->mm)
                racers[n++] =
                    (struct racer){matmul_kind_name(kinds[i]), run_matmul_engine, job, 0, {0},
                                   verify_product(job)};
        }
    } else if (open_cublas(&peers->cublas, p)) {
        racers[n++] = (struct racer){"cublas", run_cublas, &peers->cublas,
                                     0,        {0},        cublas_error(&peers->cublas, p)};
    }
    if (n == 0)
        printf("# no peer that does this is installed\n");
    p->peers = n;
}

static void close_peers(struct peers *peers)
{
    close_cublas(&peers->cublas);
    for (int i = 0; i < 2; i++)
        matmul_free(peers->library[i].job.mm);
}

static void print_peer(const struct problem *p, const struct racer *r)
{
    printf("m=%zu n=%zu k=%zu peer=%s gflops=%.1f best=%.1f error=%.2g\n", p->m, p->n, p->k,
           r->name, 1e-9 * flops(p) / r->times[RUNS / 2], 1e-9 * flops(p) / r->times[0], r->error);
}

/* ---- Cases. ---------------------------------------------------------------------------------- */

/* Time one shape and its peers. */
static void bench_matmul_case(void *arg, const char *shape)
{
    struct problem *p = arg;
    struct matmul_options engine = p->o->engine;
    engine.shape = shape;
    struct job j = {p, matmul_create(&engine)};
    if (!j.mm) {
        const char *why = clerror();
        printf("# shape \"%s\": %s\n", shape, why ? why : "?");
        return;
    }
    char label[512];
    const double error = verify_product(&j);
    snprintf(label, sizeof label, "%s",
             p->o->batch ? shape : matmul_shape(j.mm, 0, p->m, p->n, p->k));
    const bool right = error <= matmul_tolerance(p->o->engine.precision, p->k, 1);
    if (right) {
        p->racers[0] = (struct racer){"ours", run_matmul_engine, &j, 0, {0}, error};
        race_engines(p->racers, 1 + p->peers, p->o->seconds);
        for (size_t i = 1; i <= p->peers; i++)
            print_peer(p, &p->racers[i]);
    }
    printf("m=%zu n=%zu k=%zu trans=%s precision=%s engine=%s ", p->m, p->n, p->k,
           (const char *const[]){"NN", "NT", "TN", "TT"}[p->o->trans],
           p->real == 8 ? "double" : "single", matmul_kind_name(engine.kind));
    if (right)
        printf("gflops=%.1f best=%.1f limit_percent=%.1f ",
               1e-9 * flops(p) / p->racers->times[RUNS / 2], 1e-9 * flops(p) / p->racers->times[0],
               100 * flops(p) / p->racers->times[RUNS / 2] / p->limit);
    if (p->o->batch)
        printf("batch=%zu ", p->o->batch);
    printf("error=%.2g%s %s\n", error, right ? "" : " WRONG", label);
    fflush(stdout);
    matmul_free(j.mm);
}

/* Peak rate of all devices: multiply-adds, by tensor cores if available for this precision. */
static double matmul_rate_limit(CLCONTEXT *ctx, const struct options *o)
{
    double sum = 0;
    for (cl_uint d = 0; d < clgetndev(ctx); d++) {
        const double peak = matmul_peak(ctx, d, o->engine.precision);
        if (peak <= 0)
            die("peak");
        sum += peak;
    }
    return sum;
}

/* ---- The command line. ----------------------------------------------------------------------- */

static void parse_matmul_options(struct options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(name, "--no-peer") == 0) {
            o->peer = false;
            continue;
        }
        if (strcmp(name, "--padded") == 0 || strcmp(name, "--tight") == 0) {
            o->padded = name[2] == 'p';
            continue;
        }
        if (!value)
            die("an option lacks its value, or is unknown");
        i++;
        if (strcmp(name, "--device") == 0)
            o->device = value;
        else if (strcmp(name, "--devices") == 0)
            o->devices = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(name, "--size") == 0)
            o->size = value;
        else if (strcmp(name, "--shape") == 0 && o->shapes < MAX_SHAPES)
            o->shape[o->shapes++] = value;
        else if (strcmp(name, "--sweep") == 0)
            o->sweep = value;
        else if (strcmp(name, "--batch") == 0)
            o->batch = strtoul(value, NULL, 10);
        else if (strcmp(name, "--seconds") == 0)
            o->seconds = strtod(value, NULL);
        else if (strcmp(name, "--precision") == 0)
            o->engine.precision = *value == 'd' ? MATMUL_DOUBLE : MATMUL_SINGLE;
        else if (strcmp(name, "--trans") == 0)
            o->trans = (enum matmul_trans)((value[0] == 'T') * 2 + (value[1] == 'T'));
        else if (strcmp(name, "--engine") == 0)
            o->engine.kind = (enum matmul_kind)matmul_kind_by_name(value);
        else
            die(name);
    }
}

/* "4096" or "17x5000x300". */
static void parse_size(struct problem *p, const char *text)
{
    char *end;
    p->m = p->n = p->k = strtoul(text, &end, 10);
    if (*end == 'x')
        p->n = strtoul(end + 1, &end, 10);
    if (*end == 'x')
        p->k = strtoul(end + 1, &end, 10);
    if (!p->m || !p->n || !p->k || (*end && *end != ','))
        die("--size wants N or MxNxK, separated by commas");
}

int main(int argc, char **argv)
{
    struct options o = {.size = "1024,4096", .devices = 1, .seconds = 1, .peer = true};
    struct cldev_info info[64];
    parse_matmul_options(&o, argc, argv);
    if (o.shapes == 0)
        o.shape[o.shapes++] = "";
    CLCONTEXT *ctx = bench_open(o.device, o.devices);
    if (!ctx || clgetndev(ctx) > 64 || clgetdevinfo(ctx, info) != 0)
        die("devices");
    o.engine.ctx = ctx;
    o.host = clgetndev(ctx) == 1 && info[0].dev_type & CL_DEVICE_TYPE_CPU;
    const double limit = matmul_rate_limit(ctx, &o);
    printf("# device \"%s\" x %u, driver %s, limit %.1f gflops\n", info[0].dev_name, clgetndev(ctx),
           info[0].dev_drv_version, 1e-9 * limit);
    for (const char *text = o.size; *text; text += strcspn(text, ","), text += *text == ',') {
        struct problem p = {.o = &o,
                            .ctx = ctx,
                            .limit = limit,
                            .real = o.engine.precision == MATMUL_DOUBLE ? 8 : 4};
        parse_size(&p, text);
        make_problem(&p);
        struct peers peers = {0};
        if (o.peer)
            open_peers(&peers, &p);
        for (size_t s = 0; s < o.shapes; s++)
            sweep_shapes(o.shape[s], o.sweep, bench_matmul_case, &p);
        close_peers(&peers);
        free_problem(&p);
    }
    return 0;
}
