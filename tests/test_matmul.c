/* test_matmul.c - every kind of engine against a plain product in higher precision, element by
 * element.
 *
 * The reference is this file's own: three loops in long double. Sizes, transposes, alpha, beta and
 * leading dimensions are drawn at random from a fixed seed. What lies between rows, and C when beta
 * is 0, holds NaN.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "deep.h"

#include <float.h>
#include <math.h>

#include "stdcl/matmul.h"

/* ---- Random cases. --------------------------------------------------------------------------- */

static uint64_t state = 88172645463325252ULL;

static size_t below(size_t n) /* xorshift64, Marsaglia 2003 */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (size_t)(state >> 11) % n;
}

struct test_case {
    enum matmul_trans trans;
    size_t m, n, k, lda, ldb, ldc;
    double alpha, beta;
};

static bool trans_a(const struct test_case *t)
{
    return t->trans == MATMUL_TN || t->trans == MATMUL_TT;
}
static bool trans_b(const struct test_case *t)
{
    return t->trans == MATMUL_NT || t->trans == MATMUL_TT;
}

static struct test_case case_of(size_t m, size_t n, size_t k, enum matmul_trans trans, size_t pad)
{
    static const double factors[] = {1, 0, -1, 0.5};
    struct test_case t = {.trans = trans, .m = m, .n = n, .k = k};
    t.lda = (trans_a(&t) ? m : k) + below(pad + 1);
    t.ldb = (trans_b(&t) ? k : n) + below(pad + 1);
    t.ldc = n + below(pad + 1);
    t.alpha = factors[below(4)];
    t.beta = factors[below(4)];
    return t;
}

/* ---- Arrays of either precision. ------------------------------------------------------------- */

static double get(enum matmul_precision precision, const void *x, size_t i)
{
    return precision == MATMUL_DOUBLE ? ((const double *)x)[i] : (double)((const float *)x)[i];
}

static void put(enum matmul_precision precision, void *x, size_t i, double value)
{
    if (precision == MATMUL_DOUBLE)
        ((double *)x)[i] = value;
    else
        ((float *)x)[i] = (float)value;
}

static size_t real_of(enum matmul_precision precision)
{
    return precision == MATMUL_DOUBLE ? 8 : 4;
}

/* rows x ld numbers in memory of the context (or of the host), random inside, NaN between rows. */
static void *matrix(CLCONTEXT *cp, enum matmul_precision precision, size_t rows, size_t cols,
                    size_t ld, double inside)
{
    void *x = cp ? clmalloc(cp, (rows * ld + 1) * real_of(precision), CL_MEM_ZEROCOPY)
                 : malloc((rows * ld + 1) * real_of(precision));
    ready(x);
    for (size_t i = 0; i < rows * ld; i++)
        put(precision, x, i,
            i % ld >= cols  ? NAN
            : isnan(inside) ? NAN
                            : (double)below(2000001) * 1e-6 - 1);
    return x;
}

static void release(CLCONTEXT *cp, void *x)
{
    if (cp)
        clfree(x);
    else
        free(x);
}

/* ---- The judge. ------------------------------------------------------------------------------ */

/* Element by element; `a` and `b` may hold NaN when alpha is 0. */
static void judge(const char *what, enum matmul_precision precision, const struct test_case *t,
                  const void *a, const void *b, const void *before, const void *c)
{
    const double eps = precision == MATMUL_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;
    for (size_t i = 0; i < t->m; i++)
        for (size_t j = 0; j < t->ldc; j++) {
            const double got = get(precision, c, i * t->ldc + j);
            if (j >= t->n) {
                if (!isnan(got))
                    fail_msg("%s: padding was written", what);
                continue;
            }
            long double sum = 0, size = 0;
            for (size_t x = 0; t->alpha != 0 && x < t->k; x++) {
                const double ax = get(precision, a, trans_a(t) ? x * t->lda + i : i * t->lda + x);
                const double bx = get(precision, b, trans_b(t) ? j * t->ldb + x : x * t->ldb + j);
                sum += (long double)ax * bx;
                size += fabsl((long double)ax * bx);
            }
            sum *= (long double)t->alpha;
            if (t->beta != 0) {
                sum += (long double)t->beta * get(precision, before, i * t->ldc + j);
                size += fabsl((long double)get(precision, before, i * t->ldc + j));
            }
            if (!(fabs(got - (double)sum) <= eps * (double)(size + 1) * (2 + sqrt((double)t->k))))
                fail_msg(
                    "%s: %zu x %zu x %zu trans %d alpha %g beta %g ld %zu %zu %zu: C[%zu][%zu] is %.17g, not %.17g",
                    what, t->m, t->n, t->k, (int)t->trans, t->alpha, t->beta, t->lda, t->ldb,
                    t->ldc, i, j, got, (double)sum);
        }
}

/* One case by host arrays; with `inside` by device memory too. */
static void try_case(matmul *mm, CLCONTEXT *cp, enum matmul_precision precision,
                     const struct test_case *t, const char *what, bool device)
{
    const size_t ra = trans_a(t) ? t->k : t->m, ca = trans_a(t) ? t->m : t->k;
    const size_t rb = trans_b(t) ? t->n : t->k, cb = trans_b(t) ? t->k : t->n;
    void *a = matrix(cp, precision, ra, ca, t->lda, t->alpha == 0 ? NAN : 0);
    void *b = matrix(cp, precision, rb, cb, t->ldb, t->alpha == 0 ? NAN : 0);
    void *c = matrix(cp, precision, t->m, t->n, t->ldc, t->beta == 0 ? NAN : 0);
    const size_t bytes = t->m * t->ldc * real_of(precision);
    void *before = malloc(bytes + 1);
    ready(before);
    memcpy(before, c, bytes);
    if (device) {
        for (int i = 0; i < 3; i++)
            done(clmsync(cp, 0, i == 0 ? a : i == 1 ? b : c, CL_MEM_DEVICE));
        works(matmul_enqueue(mm, 0, t->trans, t->m, t->n, t->k, t->alpha, a, t->lda, b, t->ldb,
                             t->beta, c, t->ldc));
        done(clwait(cp, 0, CL_KERNEL_EVENT));
        done(clmsync(cp, 0, c, CL_MEM_HOST));
    } else {
        works(matmul_multiply(mm, t->trans, t->m, t->n, t->k, t->alpha, a, t->lda, b, t->ldb,
                              t->beta, c, t->ldc));
    }
    judge(what, precision, t, a, b, before, c);
    free(before);
    release(cp, a);
    release(cp, b);
    release(cp, c);
}

/* Random sizes up to `most`, transposes in turn. The tuned engine's rows are many or few: on CPUs
 * each height of a micro tile is a kernel of its own, whose compilation takes longer than all the
 * rest. */
static void try_precision(struct matmul_options o, CLCONTEXT *cp, size_t most, size_t first,
                          size_t count, const char *what)
{
    matmul *mm = matmul_create(&o);
    ready(mm);
    for (size_t i = first; i < first + count; i++) {
        const size_t many_or_few = (i / 2 + i / 4) % 2 ? most - 3 : 9;
        const size_t rows = o.kind == MATMUL_TUNED ? many_or_few : 1 + below(most);
        const struct test_case t = case_of(rows, 1 + below(most), 1 + below(most),
                                           (enum matmul_trans)(i % 4), i % 3 ? 5 : 0);
        try_case(mm, cp, o.precision, &t, what, cp && i % 2);
    }
    matmul_free(mm);
}

static void try_random(struct matmul_options o, CLCONTEXT *cp, size_t most, size_t count,
                       const char *what)
{
    o.precision = MATMUL_SINGLE;
    try_precision(o, cp, most, 0, count, what);
    o.precision = MATMUL_DOUBLE;
    try_precision(o, cp, most, 0, count, what);
}

static CLCONTEXT *one_device(void)
{
    static CLCONTEXT *cp;
    const cl_device_id first = clgetdevice(stddev, 0);
    if (!cp)
        cp = clcontext_create_from(&first, 1);
    ready(cp);
    return cp;
}

/* ---- Engines. -------------------------------------------------------------------------------- */

static void tuned(void **unused)
{
    (void)unused;
    try_random((struct matmul_options){.ctx = one_device()}, one_device(), 130, 8, "tuned");
}

/* The kernels of GPUs, in shapes small enough for any device; shared tiles, copies of operands, odd
 * sizes. */
static void tiles(void **unused)
{
    (void)unused;
    static const struct {
        enum matmul_precision precision;
        const char *shape;
    } cases[] = {
        {MATMUL_DOUBLE,
         "path=1 sets=1 bm=32 bn=32 bk=8 wm=32 wn=16 stages=3 ahead=1 lanes=1 raster=8 mma=0 async=1 pack=16 "
         "fill=1 span=16"},
        {MATMUL_SINGLE,
         "path=1 bm=64 bn=64 bk=16 wm=32 wn=64 sets=2 along=2 order=2 early=1 stages=2 ahead=1 lanes=2 raster=3 mma=0 async=1 pack=32 "
         "fill=9 span=8"},
        {MATMUL_DOUBLE,
         "path=1 sets=1 bm=32 bn=32 bk=16 wm=32 wn=16 stages=2 ahead=1 lanes=0 raster=2 mma=1 async=0 pack=16 "
         "fill=2 span=32"},
        {MATMUL_DOUBLE,
         "path=1 sets=1 bm=32 bn=64 bk=16 wm=32 wn=16 stages=4 ahead=1 lanes=0 raster=8 mma=1 async=1 pack=0 "
         "fill=1 span=0"},
        {MATMUL_DOUBLE,
         "path=1 bm=32 bn=32 bk=32 wm=32 wn=16 sets=4 stages=2 ahead=1 lanes=0 raster=2 mma=1 async=1 pack=0 "
         "fill=4 span=32"},
        {MATMUL_SINGLE,
         "path=1 bm=64 bn=64 bk=16 wm=64 wn=32 sets=4 order=1 stages=2 ahead=0 lanes=1 raster=8 mma=0 async=1 pack=0 "
         "fill=4 span=16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (sampled(i, 5))
            try_precision(
                (struct matmul_options){
                    .ctx = one_device(), .precision = cases[i].precision, .shape = cases[i].shape},
                one_device(), i == 2 || i == 4 ? 50 : 100, 2 * (i % 2), 2, cases[i].shape);
}

/* A caller's C begins where it likes, above all a rank's block of one: its rows are as long as
 * those that are written 16 bytes at a time, and lie 8 bytes beside them. */
static void c_lies_anywhere(void **unused)
{
    (void)unused;
    enum { N = 32, BESIDE = 2 };
    const struct test_case t = {MATMUL_NN, N, N, N, N, N, N, 1, 0.5};
    matmul *mm = matmul_create(&(struct matmul_options){
        .ctx = one_device(),
        .shape =
            "path=1 sets=1 bm=32 bn=32 bk=8 wm=32 wn=16 stages=2 ahead=0 lanes=0 mma=0 async=0 span=0"});
    float *a = matrix(NULL, MATMUL_SINGLE, N, N, N, 0),
          *b = matrix(NULL, MATMUL_SINGLE, N, N, N, 0);
    float *random = matrix(NULL, MATMUL_SINGLE, N, N, N, 0),
          *c = aligned_alloc(64, (N + 2) * N * sizeof *c);
    ready(mm);
    ready(c);
    memcpy(c + BESIDE, random, N * N * sizeof *c);
    works(matmul_multiply(mm, t.trans, N, N, N, t.alpha, a, N, b, N, t.beta, c + BESIDE, N));
    judge("beside", MATMUL_SINGLE, &t, a, b, random, c + BESIDE);
    matmul_free(mm);
    free(a);
    free(b);
    free(random);
    free(c);
}

/* A matrix times a few vectors: both sides, all transposes, rows that are aligned and that are not,
 * one group and several to a depth. */
static void thin(void **unused)
{
    (void)unused;
    static const struct {
        size_t m, n, k;
        bool aligned;
    } cases[] = {{300, 1, 515, false}, {1, 516, 600, true}, {3, 130, 700, false},
                 {204, 16, 264, true}, {68, 5, 64, true},   {2, 129, 1, false},
                 {19, 19, 300, false}, {264, 8, 1040, true}};
    static const char *const shapes[] = {
        "path=3", "path=3 items=64 line=64 each=3 beside=8 steps=2 groups=9 part=40"};
    for (size_t i = 0; i < 16; i++) {
        if (!sampled(i, 5)) /* both precisions and shapes */
            continue;
        const enum matmul_precision precision = i / 2 % 2 ? MATMUL_DOUBLE : MATMUL_SINGLE;
        const struct matmul_options o = {
            .ctx = one_device(), .precision = precision, .shape = shapes[i / 8]};
        matmul *mm = matmul_create(&o);
        ready(mm);
        for (int trans = MATMUL_NN; trans <= MATMUL_TT; trans++) {
            struct test_case t = case_of(cases[i % 8].m, cases[i % 8].n, cases[i % 8].k,
                                         (enum matmul_trans)trans, 3);
            if (cases[i % 8].aligned) {
                t.lda = (t.lda + 3) / 4 * 4;
                t.ldb = (t.ldb + 3) / 4 * 4;
            }
            t.alpha = t.alpha == 0 ? 2 : t.alpha;
            try_case(mm, one_device(), precision, &t, o.shape, (i + (size_t)trans) % 2);
            try_case(mm, one_device(), precision, &t, o.shape,
                     (i + (size_t)trans) % 2); /* what the first one left in scratch memory */
        }
        matmul_free(mm);
    }
}

/* How groups share a depth does not depend on the device, nor on how many of them run at a time:
 * bits of a row of C are those that it has when the vectors beside it are others. */
static void thin_has_one_result(void **unused)
{
    (void)unused;
    enum { M = 100, K = 900 };
    matmul *mm = matmul_create(&(struct matmul_options){.ctx = one_device(), .shape = "path=3"});
    float *a = matrix(NULL, MATMUL_SINGLE, M, K, K, 0),
          *b = matrix(NULL, MATMUL_SINGLE, K, 4, 4, 0);
    float *four = matrix(NULL, MATMUL_SINGLE, M, 4, 4, NAN),
          *again = matrix(NULL, MATMUL_SINGLE, M, 4, 4, NAN);
    float *three = matrix(NULL, MATMUL_SINGLE, M, 3, 3, NAN);
    ready(mm);
    works(matmul_multiply(mm, MATMUL_NN, M, 4, K, 1, a, K, b, 4, 0, four, 4));
    works(matmul_multiply(mm, MATMUL_NN, M, 3, K, 1, a, K, b, 4, 0, three, 3));
    for (int i = 0; i < 5; i++) {
        works(matmul_multiply(mm, MATMUL_NN, M, 4, K, 1, a, K, b, 4, 0, again, 4));
        assert_memory_equal(four, again, sizeof *four * M * 4);
    }
    for (size_t i = 0; i < M; i++)
        assert_memory_equal(four + 4 * i, three + 3 * i, 3 * sizeof *four);
    matmul_free(mm);
    free(a), free(b), free(four), free(again), free(three);
}

static void panels(void **unused)
{
    (void)unused;
    static const char *const shapes[] = {
        "path=2 width=4 rows=6 vectors=2 depth=8 high=1 unroll=1",
        "path=2 width=8 rows=5 vectors=1 depth=16 high=2 unroll=3",
        "path=2 width=2 rows=3 vectors=3 depth=64 high=30 unroll=4",
    };
    static const enum matmul_precision precisions[] = {MATMUL_SINGLE, MATMUL_DOUBLE, MATMUL_SINGLE};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (sampled(i, 3))
            try_precision((struct matmul_options){.ctx = one_device(),
                                                  .shape = shapes[i],
                                                  .precision = precisions[i]},
                          one_device(), 130, 0, 4, shapes[i]);
}

/* A batch, each product of it judged alone; what lies between the matrices stays. `shared`: all
 * take the same A. */
static void try_batch(matmul *mm, enum matmul_precision precision, const struct test_case *t,
                      size_t count, bool shared, const char *what)
{
    CLCONTEXT *cp = one_device();
    const size_t real = real_of(precision), gap = below(3) * 4;
    const size_t ra = trans_a(t) ? t->k : t->m, ca = trans_a(t) ? t->m : t->k;
    const size_t rb = trans_b(t) ? t->n : t->k, cb = trans_b(t) ? t->k : t->n;
    const size_t step_a = shared ? 0 : ra * t->lda, step_b = rb * t->ldb,
                 step_c = t->m * t->ldc + gap;
    char *a = matrix(cp, precision, shared ? ra : ra * count, ca, t->lda, t->alpha == 0 ? NAN : 0);
    char *b = matrix(cp, precision, rb * count, cb, t->ldb, t->alpha == 0 ? NAN : 0);
    char *c = matrix(cp, precision, 1, 0, step_c * count, 0),
         *before = malloc(step_c * count * real);
    ready(before);
    for (size_t i = 0; i < step_c * count; i++)
        if (i % step_c < t->m * t->ldc && i % step_c % t->ldc < t->n && t->beta != 0)
            put(precision, c, i, (double)below(2000001) * 1e-6 - 1);
    memcpy(before, c, step_c * count * real);
    for (int i = 0; i < 3; i++)
        done(clmsync(cp, 0, i == 0 ? a : i == 1 ? b : c, CL_MEM_DEVICE));
    works(matmul_batch(mm, 0, t->trans, t->m, t->n, t->k, t->alpha, a, t->lda, step_a, b, t->ldb,
                       step_b, t->beta, c, t->ldc, step_c, count));
    done(clwait(cp, 0, CL_KERNEL_EVENT));
    done(clmsync(cp, 0, c, CL_MEM_HOST));
    for (size_t i = 0; i < count; i++) {
        judge(what, precision, t, a + i * step_a * real, b + i * step_b * real,
              before + i * step_c * real, c + i * step_c * real);
        for (size_t j = t->m * t->ldc; j < step_c; j++)
            assert_true(isnan(get(precision, c, i * step_c + j)));
    }
    free(before);
    release(cp, a);
    release(cp, b);
    release(cp, c);
}

static void try_batches(enum matmul_precision precision, const char *shape, size_t most,
                        size_t cases)
{
    matmul *mm = matmul_create(
        &(struct matmul_options){.ctx = one_device(), .precision = precision, .shape = shape});
    ready(mm);
    for (size_t i = 0; i < cases; i++) {
        const size_t m = 1 + below(most), n = i % 2 ? 32 : 1 + below(most),
                     k = i == 2 ? 0 : 1 + below(most);
        const struct test_case t = case_of(m, n, k, (enum matmul_trans)(i % 4), i % 3 ? 5 : 0);
        try_batch(mm, precision, &t, i == 1 ? 1 : 2 + below(20), i % 3 == 2,
                  shape ? shape : "batch");
    }
    matmul_free(mm);
}

static void batches(void **unused)
{
    (void)unused;
    try_batches(MATMUL_DOUBLE, NULL, 24, 1);
    try_batches(MATMUL_SINGLE, "path=2 width=4 rows=6 vectors=2 depth=8 high=1 unroll=1", 40, 4);
    try_batches(MATMUL_SINGLE,
                "path=1 sets=1 bm=32 bn=32 bk=8 wm=32 wn=16 stages=2 ahead=0 lanes=0 mma=0", 40, 3);
    try_batches(MATMUL_DOUBLE,
                "path=1 sets=1 bm=32 bn=32 bk=8 wm=32 wn=16 stages=2 ahead=1 lanes=0 mma=1", 40, 2);
}

/* A product has the bits that it has alone, wherever it stands in a batch. */
static void batch_has_one_result(void **unused)
{
    (void)unused;
    enum { N = 20, COUNT = 50 };
    CLCONTEXT *cp = one_device();
    matmul *mm = matmul_create(&(struct matmul_options){.ctx = cp, .precision = MATMUL_SINGLE});
    ready(mm);
    float *a = matrix(cp, MATMUL_SINGLE, N, N, N, 0), *b = matrix(cp, MATMUL_SINGLE, N, N, N, 0);
    float *c = matrix(cp, MATMUL_SINGLE, N * (COUNT + 1), N, N, 0);
    for (int i = 0; i < 3; i++)
        done(clmsync(cp, 0, i == 0 ? a : i == 1 ? b : c, CL_MEM_DEVICE));
    works(matmul_batch(mm, 0, MATMUL_NN, N, N, N, 1, a, N, 0, b, N, 0, 0, c, N, N * N, COUNT));
    works(matmul_batch(mm, 0, MATMUL_NN, N, N, N, 1, a, N, 0, b, N, 0, 0, c + N * N * COUNT, N,
                       N * N, 1));
    done(clwait(cp, 0, CL_KERNEL_EVENT));
    done(clmsync(cp, 0, c, CL_MEM_HOST));
    for (size_t i = 0; i < COUNT; i++)
        assert_memory_equal(c + i * N * N, c + (size_t)N * N * COUNT, N * N * sizeof *c);
    /* What makes no sense: results that meet, or lie among operands; too little memory; a device
     * that is not there. */
    fails(EINVAL,
          matmul_batch(mm, 0, MATMUL_NN, N, N, N, 1, a, N, 0, b, N, 0, 0, c, N, N * N - 1, 2));
    fails(EINVAL, matmul_batch(mm, 0, MATMUL_NN, N, N, N, 1, c + N * N, N, 0, b, N, 0, 0, c, N,
                               2 * N * N, 3));
    fails(EINVAL,
          matmul_batch(mm, 0, MATMUL_NN, N, N, N, 1, a, N, N * N, b, N, 0, 0, c, N, N * N, 2));
    fails(EINVAL, matmul_batch(mm, 0, MATMUL_NN, N, N, N, 1, a, N, SIZE_MAX / 8, b, N, 0, 0, c, N,
                               N * N, 9));
    fails(EINVAL, matmul_batch(mm, 7, MATMUL_NN, N, N, N, 1, a, N, 0, b, N, 0, 0, c, N, N * N, 2));
    works(matmul_batch(mm, 0, MATMUL_NN, N, N, N, 1, a, N, 0, b, N, 0, 0, c, N, 0, 0));
    release(cp, a);
    release(cp, b);
    release(cp, c);
    matmul_free(mm);
}

static void ladder(void **unused)
{
    (void)unused;
    static const size_t blocks[] = {1, 3, 8, 16};
    try_random((struct matmul_options){.ctx = one_device(), .kind = MATMUL_NAIVE}, one_device(),
               130, 8, "naive");
    for (size_t i = 0; i < 4; i++)
        try_random((struct matmul_options){.ctx = one_device(),
                                           .kind = MATMUL_BLOCKED,
                                           .block = blocks[i]},
                   one_device(), 60, 8, "blocked");
    try_random((struct matmul_options){.kind = MATMUL_CPU_NAIVE}, NULL, 130, 12, "cpu-naive");
    for (size_t i = 0; i < 4; i++)
        try_random((struct matmul_options){.kind = MATMUL_CPU_BLOCKED, .block = blocks[i]}, NULL,
                   130, 8, "cpu-blocked");
}

static void libraries(void **unused)
{
    (void)unused;
    if (matmul_kind_missing(MATMUL_OPENBLAS))
        skip();
    try_random((struct matmul_options){.kind = MATMUL_OPENBLAS}, NULL, 130, 12, "openblas");
}

/* CLBlast compiles for some 10 s for each precision; test_cli_matmul has one product by it. */
static void clblast(void **unused)
{
    (void)unused;
    if (matmul_kind_missing(MATMUL_CLBLAST))
        skip();
    try_random((struct matmul_options){.ctx = one_device(), .kind = MATMUL_CLBLAST}, one_device(),
               60, 4, "clblast");
}

static void sycl(void **unused)
{
    (void)unused;
    if (matmul_kind_missing(MATMUL_SYCL)) {
        fails_null(ENOTSUP, matmul_create(&(struct matmul_options){.kind = MATMUL_SYCL}));
        skip();
    }
    try_random((struct matmul_options){.kind = MATMUL_SYCL, .block = 8}, NULL, 60, 8, "sycl");
}

/* Sizes at which something changes: one, panels and tiles exactly full, one more, one less, long
 * and thin. Every height of a micro tile is a kernel to compile, so that only some are in double
 * precision too. */
static void odd_sizes(void **unused)
{
    (void)unused;
    static const size_t sizes[][3] = {{1, 1, 1},        {1, 500, 1},   {500, 1, 1},
                                      {1, 1, 1000},     {13, 32, 512}, {25, 301, 70},
                                      {26, 64, 513},    {27, 65, 511}, {17, 500, 300},
                                      {257, 129, 1025}, {14, 33, 16}};
    for (int precision = MATMUL_SINGLE; precision <= MATMUL_DOUBLE; precision++) {
        matmul *mm = matmul_create(&(struct matmul_options){
            .ctx = one_device(), .precision = (enum matmul_precision)precision});
        ready(mm);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes;
             i += precision == MATMUL_DOUBLE ? 3 : 1) {
            const size_t *s = sizes[i];
            const struct test_case t =
                case_of(s[0], s[1], s[2], (enum matmul_trans)((i + (size_t)precision) % 4), 3);
            try_case(mm, one_device(), (enum matmul_precision)precision, &t, "odd sizes",
                     (i / 2) % 2);
        }
        matmul_free(mm);
    }
}

/* ---- Several devices, little memory, matrices that stay. ------------------------------------- */

static void all_devices(void **unused)
{
    (void)unused;
    try_random((struct matmul_options){.ctx = stddev}, NULL, 130, 4, "all devices");
    try_random((struct matmul_options){.ctx = stddev, .kind = MATMUL_NAIVE}, NULL, 130, 8,
               "all devices");
}

/* The device's memory is limited so much that C is computed in many blocks from many panels. */
static void streams(void **unused)
{
    (void)unused;
    static const size_t limits[] = {20000, 60000, 400000};
    for (size_t i = 0; i < 3;
         i++) /* most by kernels that have no variants, which would take long to compile */
        try_random((struct matmul_options){.ctx = stddev,
                                           .memory = limits[i],
                                           .kind = i < 2 ? MATMUL_NAIVE : MATMUL_TUNED},
                   NULL, 130, i < 2 ? 8 : 4, "streamed");
    matmul *mm = matmul_create(&(struct matmul_options){.ctx = one_device(), .memory = 100});
    const float ones[4] = {1, 1, 1, 1};
    float c[4];
    ready(mm);
    for (size_t n = 1; n <= 2; n++)
        fails(ENOMEM, matmul_multiply(mm, MATMUL_NN, n, n, 2, 1, ones, 2, ones, 2, 0, c, 2));
    matmul_free(mm);
}

static void stays(void **unused)
{
    (void)unused;
    enum { M = 70, N = 50, K = 30 };
    static const enum matmul_kind kinds[] = {MATMUL_TUNED, MATMUL_BLOCKED, MATMUL_CPU_BLOCKED};
    for (size_t i = 0; i < 6; i++) {
        matmul *mm = matmul_create(&(struct matmul_options){.ctx = stddev,
                                                            .kind = kinds[i % 3],
                                                            .precision = MATMUL_DOUBLE,
                                                            .memory = i < 3 ? 0 : 1 << 20});
        double *a = matrix(NULL, MATMUL_DOUBLE, M, K, K, 0),
               *b = matrix(NULL, MATMUL_DOUBLE, K, N, N, 0);
        double *c = matrix(NULL, MATMUL_DOUBLE, M, N, N + 3, 0), before[M * (N + 3)];
        const struct test_case first = {MATMUL_NN, M, N, K, K, N, N + 3, 0.5, -1};
        ready(mm);
        memcpy(before, c, sizeof before);
        fails(EINVAL, matmul_compute(mm, 1, 0));
        works(matmul_load(mm, MATMUL_NN, M, N, K, a, K, b, N));
        fails(EINVAL, matmul_result(mm, c, N + 3));
        fails(EINVAL, matmul_compute(mm, 1, 1));
        works(matmul_load_result(mm, c, N + 3));
        works(matmul_compute(mm, 0.5, -1));
        works(matmul_result(mm, c, N + 3));
        judge("loaded", MATMUL_DOUBLE, &first, a, b, before, c);
        works(matmul_compute(mm, 1, 0)); /* again, C not read */
        works(matmul_result(mm, c, N + 3));
        const struct test_case second = {MATMUL_NN, M, N, K, K, N, N + 3, 1, 0};
        judge("loaded", MATMUL_DOUBLE, &second, a, b, before, c);
        matmul_free(mm);
        free(a);
        free(b);
        free(c);
    }
}

static int count_calls(void *arg, double share)
{
    int *calls = arg;
    assert_true(share > 0 && share <= 1.0000001);
    return ++*calls >= 3;
}

struct watch {
    double stop_at, last;
    int calls;
};

static int watch(void *arg, double share)
{
    struct watch *w = arg;
    w->last = share;
    w->calls++;
    return share >= w->stop_at;
}

/* A product whose launches are as short as they can be, as on a device where each would take long,
 * gives the same bits, from arrays that stay and from arrays that travel; and it can be stopped in
 * its middle. */
static void check_pieces(struct matmul_options o, size_t m, size_t n, size_t k)
{
    struct watch whole = {2, 0, 0}, stopping = {0.3, 0, 0};
    float *a = matrix(NULL, MATMUL_SINGLE, m, k, k, 0),
          *b = matrix(NULL, MATMUL_SINGLE, k, n, n, 0),
          *c = matrix(NULL, MATMUL_SINGLE, m, n, n, NAN),
          *d = matrix(NULL, MATMUL_SINGLE, m, n, n, NAN);
    o.ctx = one_device();
    matmul *uncut = matmul_create(&o);
    assert_int_equal(setenv("STDCL_SLICE", "1e-12", 1), 0);
    o.progress = watch;
    o.arg = &whole;
    matmul *cut = matmul_create(&o);
    assert_int_equal(unsetenv("STDCL_SLICE"), 0);
    ready(uncut);
    ready(cut);
    works(matmul_multiply(uncut, MATMUL_NN, m, n, k, 1, a, k, b, n, 0, c, n));
    works(matmul_multiply(cut, MATMUL_NN, m, n, k, 1, a, k, b, n, 0, d, n));
    assert_true(whole.calls >= 2 && whole.last > 0.9);
    assert_memory_equal(c, d, m * n * sizeof *c);
    memset(d, 0, m * n * sizeof *d);
    works(matmul_load(uncut, MATMUL_NN, m, n, k, a, k, b, n));
    works(matmul_load(cut, MATMUL_NN, m, n, k, a, k, b, n));
    works(matmul_compute(uncut, 1, 0));
    works(matmul_compute(cut, 1, 0));
    works(matmul_result(uncut, c, n));
    works(matmul_result(cut, d, n));
    assert_memory_equal(c, d, m * n * sizeof *c);
    whole = stopping;
    fails(ECANCELED, matmul_compute(cut, 1, 0));
    assert_true(whole.last >= 0.3 && whole.last < 1);
    whole = stopping;
    fails(ECANCELED, matmul_multiply(cut, MATMUL_NN, m, n, k, 1, a, k, b, n, 0, d, n));
    whole = (struct watch){2, 0, 0};
    memset(d, 0, m * n * sizeof *d);
    works(matmul_multiply(cut, MATMUL_NN, m, n, k, 1, a, k, b, n, 0, d,
                          n)); /* groups that never came are not waited for */
    assert_memory_equal(c, d, m * n * sizeof *c);
    matmul_free(uncut);
    matmul_free(cut);
    free(a), free(b), free(c), free(d);
}

/* Large enough for a GPU of a hundred units to take several launches. */
static void pieces(void **unused)
{
    struct cldev_info info;
    (void)unused;
    works(clgetdevinfo(one_device(), &info));
    const size_t s = info.dev_type & CL_DEVICE_TYPE_GPU ? 6 : 1;
    check_pieces((struct matmul_options){.kind = MATMUL_TUNED}, 600 * s, 500 * s, 300);
    check_pieces(
        (struct matmul_options){
            .kind = MATMUL_TUNED,
            .shape = "path=1 sets=1 bm=32 bn=32 bk=8 wm=32 wn=16 stages=2 ahead=0 lanes=0 raster=2 "
                     "mma=0 async=0 pack=0 fill=1 span=0"},
        300 * s, 300 * s, 200);
    check_pieces(
        (struct matmul_options){.kind = MATMUL_TUNED, .shape = "path=3 groups=300 part=32"},
        500 * s, 3, 900);
    check_pieces((struct matmul_options){.kind = MATMUL_NAIVE}, 200 * s, 300 * s, 200);
    check_pieces((struct matmul_options){.kind = MATMUL_BLOCKED}, 200 * s, 300 * s, 200);
}

static void tells_progress(void **unused)
{
    (void)unused;
    int calls = 0;
    float *a = matrix(NULL, MATMUL_SINGLE, 300, 300, 300, 0), *c = calloc(300 * 300, sizeof *c);
    matmul *mm = matmul_create(&(struct matmul_options){
        .ctx = one_device(), .memory = 100000, .progress = count_calls, .arg = &calls});
    ready(mm);
    fails(ECANCELED, matmul_multiply(mm, MATMUL_NN, 300, 300, 300, 1, a, 300, a, 300, 0, c, 300));
    assert_int_equal(calls, 3);
    matmul_free(mm);
    free(a);
    free(c);
}

static void one_call(void **unused)
{
    (void)unused;
    const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    const double ad[4] = {1, 2, 3, 4}, bd[4] = {5, 6, 7, 8};
    float c[4];
    double cd[4] = {1, 1, 1, 1};
    works(matmul_single(MATMUL_NN, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2));
    assert_true(c[0] == 19 && c[1] == 22 && c[2] == 43 && c[3] == 50);
    works(matmul_double(MATMUL_TN, 2, 2, 2, 1, ad, 2, bd, 2, 10, cd, 2));
    assert_true(cd[0] == 36 && cd[1] == 40 && cd[2] == 48 && cd[3] == 54);
}

/* ---- What must not be. ----------------------------------------------------------------------- */

static void refuses_overlap(void **unused)
{
    (void)unused;
    double x[100];
    matmul *mm =
        matmul_create(&(struct matmul_options){.ctx = one_device(), .precision = MATMUL_DOUBLE});
    ready(mm);
    for (int i = 0; i < 100; i++)
        x[i] = 1;
    fails(EINVAL, matmul_multiply(mm, MATMUL_NN, 3, 3, 3, 1, x, 10, x + 50, 10, 0, x, 10));
    fails(EINVAL, matmul_multiply(mm, MATMUL_NN, 3, 3, 3, 1, x, 10, x + 50, 10, 0, x + 22, 10));
    fails(EINVAL, matmul_multiply(mm, MATMUL_NN, 3, 3, 3, 1, x, 10, x + 50, 10, 0, x + 52, 10));
    fails(EINVAL, matmul_multiply(mm, MATMUL_NN, 3, 3, 3, 1, x, 10, x + 50, 10, 0, x + 8, 4));
    fails(EINVAL, matmul_multiply(mm, MATMUL_NN, 3, 3, 3, 1, x, 10, x + 50, 10, 0, x + 29, 10));
    /* Beside A in the same rows, and the corner of a larger matrix. */
    works(matmul_multiply(mm, MATMUL_NN, 3, 3, 3, 1, x, 10, x + 50, 10, 0, x + 3, 10));
    assert_true(x[3] == 3 && x[25] == 3 && x[2] == 1 && x[6] == 1);
    works(matmul_multiply(mm, MATMUL_NN, 3, 3, 2, 1, x, 10, x + 50, 10, 0, x + 23, 10));
    /* A may be B. */
    works(matmul_multiply(mm, MATMUL_NN, 3, 3, 3, 1, x, 10, x, 10, 0, x + 60, 10));
    matmul_free(mm);
}

static void zero_sizes(void **unused)
{
    (void)unused;
    float c[4] = {NAN, 1, 2, NAN};
    static const enum matmul_kind kinds[] = {MATMUL_TUNED, MATMUL_NAIVE, MATMUL_CPU_NAIVE};
    for (size_t i = 0; i < 3; i++) {
        matmul *mm = matmul_create(&(struct matmul_options){.ctx = one_device(), .kind = kinds[i]});
        float *x = clmalloc(one_device(), 16, CL_MEM_ZEROCOPY);
        ready(mm);
        works(matmul_multiply(mm, MATMUL_NN, 0, 5, 5, 1, NULL, 0, NULL, 0, 0, NULL, 0));
        works(matmul_multiply(mm, MATMUL_NN, 5, 0, 5, 1, NULL, 0, NULL, 0, 0, NULL, 0));
        memcpy(c, (float[]){NAN, 1, 2, NAN}, sizeof c);
        works(matmul_multiply(mm, MATMUL_NN, 2, 1, 0, 1, NULL, 0, NULL, 0, 3, c + 1, 1));
        assert_true(isnan(c[0]) && c[1] == 3 && c[2] == 6 && isnan(c[3]));
        works(matmul_multiply(mm, MATMUL_NN, 2, 1, 0, 1, NULL, 0, NULL, 0, 0, c,
                              2)); /* NaN does not stay */
        assert_true(c[0] == 0 && c[1] == 3 && c[2] == 0);
        if (kinds[i] != MATMUL_CPU_NAIVE) {
            memcpy(x, (float[]){NAN, 1, 2, NAN}, 16);
            done(clmsync(one_device(), 0, x, CL_MEM_DEVICE));
            works(matmul_enqueue(mm, 0, MATMUL_NN, 1, 2, 0, 1, NULL, 0, NULL, 0, -1, x + 1, 2));
            done(clwait(one_device(), 0, CL_KERNEL_EVENT));
            done(clmsync(one_device(), 0, x, CL_MEM_HOST));
            assert_true(isnan(x[0]) && x[1] == -1 && x[2] == -2 && isnan(x[3]));
        }
        works(matmul_load(mm, MATMUL_NN, 0, 3, 3, NULL, 0, NULL, 0));
        works(matmul_compute(mm, 1, 0));
        works(matmul_result(mm, NULL, 0));
        clfree(x);
        matmul_free(mm);
    }
}

static void tells_what_is_wrong(void **unused)
{
    (void)unused;
    float x[64] = {0}, *d = clmalloc(one_device(), sizeof x, 0);
    const size_t most = matmul_block_limit(one_device(), MATMUL_SINGLE);
    matmul *mm = matmul_create(&(struct matmul_options){.ctx = one_device()});
    ready(mm);
    fails(EINVAL, matmul_multiply(mm, MATMUL_NN, 4, 4, 4, 1, x, 3, x, 4, 0, x + 32, 4));
    fails(EINVAL, matmul_multiply(mm, MATMUL_NN, 4, 4, 4, 1, x, 4, x, 4, 0, x + 32, 3));
    fails(EINVAL, matmul_multiply(mm, MATMUL_NN, 4, 4, 4, 1, NULL, 4, x, 4, 0, x + 32, 4));
    fails(EINVAL, matmul_multiply(mm, MATMUL_NN, 4, 4, 4, 1, x, 4, x, 4, 0, NULL, 4));
    fails(EINVAL, matmul_multiply(mm, MATMUL_NN, SIZE_MAX, 4, 4, 1, x, 4, x, 4, 0, x + 32, 4));
    fails(EINVAL, matmul_multiply(mm, (enum matmul_trans)7, 4, 4, 4, 1, x, 4, x, 4, 0, x + 32, 4));
    fails(EFAULT, matmul_enqueue(mm, 0, MATMUL_NN, 4, 4, 4, 1, x, 4, x, 4, 0, x + 32, 4));
    fails(EINVAL, matmul_enqueue(mm, 0, MATMUL_NN, 4, 4, 4, 1, d, 4, d + 16, 4, 0, d + 52, 4));
    fails(EINVAL, matmul_enqueue(mm, 9, MATMUL_NN, 4, 4, 4, 1, d, 4, d + 16, 4, 0, d + 32, 4));
    matmul_free(mm);
    struct matmul_options grown = {.ctx = one_device()};
    refuses_reserved(grown, matmul_create(&grown));
    struct matmul *plain = matmul_create(NULL);
    ready(plain);
    matmul_free(plain);
    fails_null(EINVAL,
               matmul_create(&(struct matmul_options){.ctx = one_device(), .shape = "colour=3"}));
    fails_null(EINVAL,
               matmul_create(&(struct matmul_options){.ctx = one_device(), .shape = "rows=x"}));
    check_forget();
    assert_null(matmul_create(
        &(struct matmul_options){.ctx = one_device(), .kind = MATMUL_BLOCKED, .block = most + 1}));
    contains(clerror(), "at most");
    check_forget();
    assert_int_equal(matmul_kind_by_name("fast"), -1);
    contains(clerror(), "tuned, naive, blocked");
    for (int k = 0; k < MATMUL_KINDS; k++)
        assert_int_equal(matmul_kind_by_name(matmul_kind_name((enum matmul_kind)k)), k);
    clfree(d);
}

/* ---- Random matrices and the error. ---------------------------------------------------------- */

static void random_is_the_same_everywhere(void **unused)
{
    (void)unused;
    enum { SIDE = 200 };
    static double z[SIDE * SIDE];
    double x[3 * 7], y[5 * 8];
    float f[3 * 7];
    matmul_random(MATMUL_DOUBLE, 1, 0, 3, 5, x, 7);
    matmul_random(MATMUL_DOUBLE, 1, 0, 5, 8, y, 8);
    matmul_random(MATMUL_SINGLE, 1, 0, 3, 5, f, 7);
    matmul_random_rows(MATMUL_DOUBLE, 1, 0, 1, 2, 5, z, 6);
    for (size_t j = 0; j < 5; j++)
        assert_true(z[j] == x[7 + j] && z[6 + j] == x[14 + j]);
    for (size_t i = 0; i < 3; i++)
        for (size_t j = 0; j < 5; j++) {
            assert_true(x[7 * i + j] == y[8 * i + j] && f[7 * i + j] == (float)x[7 * i + j]);
            assert_true(x[7 * i + j] > -1 && x[7 * i + j] < 1);
        }
    double sum = 0, squares = 0;
    matmul_random(MATMUL_DOUBLE, 7, 1, SIDE, SIDE, z, 0);
    for (size_t i = 0; i < SIDE * SIDE; i++)
        sum += z[i], squares += z[i] * z[i];
    assert_true(fabs(sum / (SIDE * SIDE)) < 0.015);
    assert_true(fabs(squares / (SIDE * SIDE) - 1. / 3) < 0.008);
}

/* An error that is put in is found, and as large as it is. */
static void error_is_found(void **unused)
{
    (void)unused;
    enum { N = 40 };
    double a[N * N], b[N * N], c[N * N], norm = 0;
    matmul *mm = matmul_create(
        &(struct matmul_options){.kind = MATMUL_CPU_NAIVE, .precision = MATMUL_DOUBLE});
    matmul_random(MATMUL_DOUBLE, 1, 0, N, N, a, N);
    matmul_random(MATMUL_DOUBLE, 1, 1, N, N, b, N);
    works(matmul_multiply(mm, MATMUL_NT, N, N, N, 1, a, N, b, N, 0, c, N));
    const double tolerance = matmul_tolerance(MATMUL_DOUBLE, N, 1);
    assert_true(matmul_error(MATMUL_DOUBLE, MATMUL_NT, N, N, N, 1, a, N, b, N, 0, NULL, c, N, 0) <
                tolerance);
    assert_true(matmul_error(MATMUL_DOUBLE, MATMUL_NN, N, N, N, 1, a, N, b, N, 0, NULL, c, N, 0) >
                0.1);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double size = 0;
            for (size_t x = 0; x < N; x++)
                size += fabs(a[i * N + x] * b[j * N + x]);
            norm += size * size;
        }
    c[N * N - 1] += 1e-3 * sqrt(norm);
    const double error =
        matmul_error(MATMUL_DOUBLE, MATMUL_NT, N, N, N, 1, a, N, b, N, 0, NULL, c, N, N);
    assert_true(fabs(error - 1e-3) < 1e-6);
    c[0] = NAN;
    assert_true(
        isnan(matmul_error(MATMUL_DOUBLE, MATMUL_NT, N, N, N, 1, a, N, b, N, 0, NULL, c, N, 0)));
    matmul_free(mm);
}

static double error_of_dot(size_t k, const double *a, const double *b, double c)
{
    return matmul_error(MATMUL_DOUBLE, MATMUL_NN, 1, 1, k, 1, a, 0, b, 0, 0, NULL, &c, 0, 0);
}

/* Of numbers whose squares overflow or vanish, of sums that cancel or are too large, of NaN. */
static void error_of_any_size(void **unused)
{
    (void)unused;
    static const double scales[] = {1, 1e-100, 1e-150, 1e130, 1e153};
    const double ab[2] = {1.1, -2.3}, tolerance = matmul_tolerance(MATMUL_DOUBLE, 2, 0);
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        const double x[2] = {ab[0] * scales[i], ab[1] * scales[i]},
                     right = x[0] * x[0] + x[1] * x[1];
        assert_true(error_of_dot(2, x, x, right) <= tolerance);
        assert_true(fabs(error_of_dot(2, x, x, right * 1.001) - 1e-3) < 1e-6);
        assert_true(fabs(error_of_dot(2, x, x, 0) - 1) < 1e-6);
    }
    /* All is below the smallest number: 0 is right. Anything else is not. */
    const double small[2] = {1.1e-200, 1e-200}, large[2] = {1.1e160, 1e160},
                 signs[2] = {1e160, -1e160};
    assert_true(error_of_dot(2, small, small, 0) == 0);
    assert_true(error_of_dot(2, small, small, 1e-200) > 1e100);
    assert_true(error_of_dot(2, small, small, 1e-300) > 1);
    /* All is above the largest: an infinity is right, and so is the NaN of a sum of two of them. */
    assert_true(error_of_dot(2, large, large, INFINITY) == 0);
    assert_true(error_of_dot(2, large, signs, NAN) == 0);
    assert_true(fabs(error_of_dot(2, large, large, 1e160) - 1) < 1e-9);
    assert_true(error_of_dot(2, ab, ab, INFINITY) == INFINITY);
    /* Terms that cancel: what is left has few right digits, and is right. */
    const double terms[3] = {1e10, 1.0 / 3, -1e10}, ones[3] = {1, 1, 1};
    assert_true(error_of_dot(3, terms, ones, (1e10 + 1.0 / 3) - 1e10) <=
                matmul_tolerance(MATMUL_DOUBLE, 3, 0));
    assert_true(error_of_dot(3, terms, ones, 1) > matmul_tolerance(MATMUL_DOUBLE, 3, 0));
    /* NaN where there should be one, where there should be none, and none where there should be
     * one. */
    const double with_nan[2] = {NAN, 1}, zero[2] = {0, 0};
    assert_true(error_of_dot(2, with_nan, ab, NAN) == 0);
    assert_true(isnan(error_of_dot(2, with_nan, ab, 1)));
    assert_true(isnan(error_of_dot(2, ab, ab, NAN)));
    assert_true(error_of_dot(2, zero, ab, 0) == 0 && error_of_dot(2, zero, ab, 1e-300) == INFINITY);
}

/* alpha and beta count as the matrices do, in single precision as it rounds them. */
static void error_with_beta(void **unused)
{
    (void)unused;
    const float a = 3e-30F, b = 2e20F, before = 7e30F, alpha = 0.1F, beta = 1e-35F;
    const float right =
        (float)((double)alpha * (double)a * (double)b + (double)beta * (double)before);
    const float wrong = right * 1.01F, nan = NAN;
    const double tolerance = matmul_tolerance(MATMUL_SINGLE, 1, 0);
#define ERROR(alpha, beta, before, c)                                                              \
    matmul_error(MATMUL_SINGLE, MATMUL_NN, 1, 1, 1, alpha, &a, 0, &b, 0, beta, before, &(c), 0, 0)
    assert_true(ERROR((double)alpha, (double)beta, &before, right) <= tolerance);
    assert_true(fabs(ERROR((double)alpha, (double)beta, &before, wrong) - 0.01) < 1e-4);
    assert_true(ERROR(0, 1, &before, before) == 0 && ERROR(0, 1, &before, right) > 0.9);
    assert_true(ERROR(0, 1, &nan, nan) == 0);
#undef ERROR
}

/* With the argument `several` only what depends on how many devices there are, with `clblast` what
 * takes long. */
int main(int argc, char **argv)
{
    const struct CMUnitTest deep[] = {cmocka_unit_test(clblast)};
    const struct CMUnitTest several[] = {
        cmocka_unit_test(all_devices),    cmocka_unit_test(streams),
        cmocka_unit_test(stays),          cmocka_unit_test(one_call),
        cmocka_unit_test(tells_progress), cmocka_unit_test(zero_sizes),
    };
    struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles),
        cmocka_unit_test(libraries),
        cmocka_unit_test(sycl),
        cmocka_unit_test(refuses_overlap),
        cmocka_unit_test(zero_sizes),
        cmocka_unit_test(tells_what_is_wrong),
        cmocka_unit_test(error_is_found),
        cmocka_unit_test(error_of_any_size),
        cmocka_unit_test(error_with_beta),
        cmocka_unit_test(random_is_the_same_everywhere),
        cmocka_unit_test(c_lies_anywhere),
        /* Of these every n-th. */
        cmocka_unit_test(tuned),
        cmocka_unit_test(odd_sizes),
        cmocka_unit_test(pieces),
        cmocka_unit_test(batches),
        cmocka_unit_test(panels),
        cmocka_unit_test(ladder),
        cmocka_unit_test(one_call),
        cmocka_unit_test(streams),
        cmocka_unit_test(stays),
        cmocka_unit_test(tells_progress),
        cmocka_unit_test(all_devices),
        cmocka_unit_test(batch_has_one_result),
        cmocka_unit_test(thin),
        cmocka_unit_test(thin_has_one_result),
    };
    if (argc < 2) {
        return sampled_run("products", tests, 11, 3, NULL, NULL);
    }
    return strcmp(argv[1], "clblast") == 0 ? cmocka_run_group_tests(deep, NULL, NULL)
                                           : cmocka_run_group_tests(several, NULL, NULL);
}
