/* test_matmul.c - every kind of engine against a plain product in higher precision, element by
 * element.
 *
 * The reference is three loops in long double in this file. Sizes, transposes, alpha, beta and
 * leading dimensions are random with a fixed seed. The padding between rows, and C if beta is 0,
 * hold NaN.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "deep.h"

#include <float.h>
#include <math.h>
#include <sys/mman.h>

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

static bool case_transposes_a(const struct test_case *t)
{
    return t->trans == MATMUL_TN || t->trans == MATMUL_TT;
}
static bool case_transposes_b(const struct test_case *t)
{
    return t->trans == MATMUL_NT || t->trans == MATMUL_TT;
}

static struct test_case case_of(size_t m, size_t n, size_t k, enum matmul_trans trans, size_t pad)
{
    static const double factors[] = {1, 0, -1, 0.5};
    struct test_case t = {.trans = trans, .m = m, .n = n, .k = k};
    t.lda = (case_transposes_a(&t) ? m : k) + below(pad + 1);
    t.ldb = (case_transposes_b(&t) ? k : n) + below(pad + 1);
    t.ldc = n + below(pad + 1);
    t.alpha = factors[below(4)];
    t.beta = factors[below(4)];
    return t;
}

/* ---- Arrays of either precision. ------------------------------------------------------------- */

static double get_element(enum matmul_precision precision, const void *x, size_t i)
{
    return precision == MATMUL_DOUBLE ? ((const double *)x)[i] : (double)((const float *)x)[i];
}

static void put_element(enum matmul_precision precision, void *x, size_t i, double value)
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
static void *make_test_matrix(CLCONTEXT *cp, enum matmul_precision precision, size_t rows,
                              size_t cols, size_t ld, double inside)
{
    void *x = cp ? clmalloc(cp, (rows * ld + 1) * real_of(precision), CL_MEM_ZEROCOPY)
                 : malloc((rows * ld + 1) * real_of(precision));
    ready(x);
    for (size_t i = 0; i < rows * ld; i++)
        put_element(precision, x, i,
                    i % ld >= cols  ? NAN
                    : isnan(inside) ? NAN
                                    : (double)below(2000001) * 1e-6 - 1);
    return x;
}

static void free_test_matrix(CLCONTEXT *cp, void *x)
{
    if (cp)
        clfree(x);
    else
        free(x);
}

/* ---- The judge. ------------------------------------------------------------------------------ */

/* Check element by element; `a` and `b` may hold NaN if alpha is 0. */
static void judge_product(const char *what, enum matmul_precision precision,
                          const struct test_case *t, const void *a, const void *b,
                          const void *before, const void *c)
{
    const double eps = precision == MATMUL_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;
    for (size_t i = 0; i < t->m; i++)
        for (size_t j = 0; j < t->ldc; j++) {
            const double got = get_element(precision, c, i * t->ldc + j);
            if (j >= t->n) {
                if (!isnan(got))
                    fail_msg("%s: padding was written", what);
                continue;
            }
            long double sum = 0, size = 0;
            for (size_t x = 0; t->alpha != 0 && x < t->k; x++) {
                const double ax = get_element(
                    precision, a, case_transposes_a(t) ? x * t->lda + i : i * t->lda + x);
                const double bx = get_element(
                    precision, b, case_transposes_b(t) ? j * t->ldb + x : x * t->ldb + j);
                sum += (long double)ax * bx;
                size += fabsl((long double)ax * bx);
            }
            sum *= (long double)t->alpha;
            if (t->beta != 0) {
                sum += (long double)t->beta * get_element(precision, before, i * t->ldc + j);
                size += fabsl((long double)get_element(precision, before, i * t->ldc + j));
            }
            if (!(fabs(got - (double)sum) <= eps * (double)(size + 1) * (2 + sqrt((double)t->k))))
                fail_msg(
                    "%s: %zu x %zu x %zu trans %d alpha %g beta %g ld %zu %zu %zu: C[%zu][%zu] is %.17g, not %.17g",
                    what, t->m, t->n, t->k, (int)t->trans, t->alpha, t->beta, t->lda, t->ldb,
                    t->ldc, i, j, got, (double)sum);
        }
}

/* Try one case with host arrays; with `inside` in device memory too. */
static void try_matmul_case(matmul *mm, CLCONTEXT *cp, enum matmul_precision precision,
                            const struct test_case *t, const char *what, bool device)
{
    const size_t ra = case_transposes_a(t) ? t->k : t->m, ca = case_transposes_a(t) ? t->m : t->k;
    const size_t rb = case_transposes_b(t) ? t->n : t->k, cb = case_transposes_b(t) ? t->k : t->n;
    void *a = make_test_matrix(cp, precision, ra, ca, t->lda, t->alpha == 0 ? NAN : 0);
    void *b = make_test_matrix(cp, precision, rb, cb, t->ldb, t->alpha == 0 ? NAN : 0);
    void *c = make_test_matrix(cp, precision, t->m, t->n, t->ldc, t->beta == 0 ? NAN : 0);
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
    judge_product(what, precision, t, a, b, before, c);
    free(before);
    free_test_matrix(cp, a);
    free_test_matrix(cp, b);
    free_test_matrix(cp, c);
}

/* Random sizes up to `most`, transposes in turn. The tuned engine's rows are many or few: on
 * CPUs each height of a micro tile is a kernel whose compilation takes longer than the rest. */
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
        try_matmul_case(mm, cp, o.precision, &t, what, cp && i % 2);
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

static CLCONTEXT *matmul_device(void)
{
    static CLCONTEXT *cp;
    const cl_device_id first = clgetdevice(stddev, 0);
    if (!cp)
        cp = clcontext_create_from(&first, 1);
    ready(cp);
    return cp;
}

/* ---- Engines. -------------------------------------------------------------------------------- */

static void matmul_tuned_matches_reference(void **unused)
{
    (void)unused;
    try_random((struct matmul_options){.ctx = matmul_device()}, matmul_device(), 130, 8, "tuned");
}

/* The GPU kernels, in shapes small enough for any device; shared tiles, copies of operands, odd
 * sizes. */
static void matmul_tiles_match_reference(void **unused)
{
    (void)unused;
    static const struct {
        enum matmul_precision precision;
        const char *shape;
    } cases[] = {
        {MATMUL_DOUBLE,
         "path=1 k_groups=1 bm=32 bn=32 bk=8 wm=32 wn=16 stages=3 prefetch=1 lane_layout=1 swizzle=8 mma=0 async=1 pack=16 "
         "groups_per_unit=1 split_k_min=16"},
        {MATMUL_SINGLE,
         "path=1 bm=64 bn=64 bk=16 wm=32 wn=64 k_groups=2 k_lanes=2 order=2 copy_first=1 stages=2 prefetch=1 lane_layout=2 swizzle=3 mma=0 async=1 pack=32 "
         "groups_per_unit=9 split_k_min=8"},
        {MATMUL_DOUBLE,
         "path=1 k_groups=1 bm=32 bn=32 bk=16 wm=32 wn=16 stages=2 prefetch=1 lane_layout=0 swizzle=2 mma=1 async=0 pack=16 "
         "groups_per_unit=2 split_k_min=32"},
        {MATMUL_DOUBLE,
         "path=1 k_groups=1 bm=32 bn=64 bk=16 wm=32 wn=16 stages=4 prefetch=1 lane_layout=0 swizzle=8 mma=1 async=1 pack=0 "
         "groups_per_unit=1 split_k_min=0"},
        {MATMUL_DOUBLE,
         "path=1 bm=32 bn=32 bk=32 wm=32 wn=16 k_groups=4 stages=2 prefetch=1 lane_layout=0 swizzle=2 mma=1 async=1 pack=0 "
         "groups_per_unit=4 split_k_min=32"},
        {MATMUL_SINGLE,
         "path=1 bm=64 bn=64 bk=16 wm=64 wn=32 k_groups=4 order=1 stages=2 prefetch=0 lane_layout=1 swizzle=8 mma=0 async=1 pack=0 "
         "groups_per_unit=4 split_k_min=16"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (sampled(i, 5))
            try_precision((struct matmul_options){.ctx = matmul_device(),
                                                  .precision = cases[i].precision,
                                                  .shape = cases[i].shape},
                          matmul_device(), i == 2 || i == 4 ? 50 : 100, 2 * (i % 2), 2,
                          cases[i].shape);
}

/* A caller's C has any alignment, above all a rank's block of one: its rows have the length of
 * rows written 16 bytes at a time, at an offset of 8 bytes. */
static void matmul_unaligned_c_matches_reference(void **unused)
{
    (void)unused;
    enum { N = 32, BESIDE = 2 };
    const struct test_case t = {MATMUL_NN, N, N, N, N, N, N, 1, 0.5};
    matmul *mm = matmul_create(&(struct matmul_options){
        .ctx = matmul_device(),
        .shape =
            "path=1 k_groups=1 bm=32 bn=32 bk=8 wm=32 wn=16 stages=2 prefetch=0 lane_layout=0 mma=0 async=0 split_k_min=0"});
    float *a = make_test_matrix(NULL, MATMUL_SINGLE, N, N, N, 0),
          *b = make_test_matrix(NULL, MATMUL_SINGLE, N, N, N, 0);
    float *random = make_test_matrix(NULL, MATMUL_SINGLE, N, N, N, 0),
          *c = aligned_alloc(64, (N + 2) * N * sizeof *c);
    ready(mm);
    ready(c);
    memcpy(c + BESIDE, random, N * N * sizeof *c);
    works(matmul_multiply(mm, t.trans, N, N, N, t.alpha, a, N, b, N, t.beta, c + BESIDE, N));
    judge_product("beside", MATMUL_SINGLE, &t, a, b, random, c + BESIDE);
    matmul_free(mm);
    free(a);
    free(b);
    free(random);
    free(c);
}

/* Skinny products: a matrix times a few vectors, on both sides, all transposes, aligned and
 * unaligned rows, one group and several per depth. */
static void matmul_skinny_products_match_reference(void **unused)
{
    (void)unused;
    static const struct {
        size_t m, n, k;
        bool aligned;
    } cases[] = {{300, 1, 515, false}, {1, 516, 600, true}, {3, 130, 700, false},
                 {204, 16, 264, true}, {68, 5, 64, true},   {2, 129, 1, false},
                 {19, 19, 300, false}, {264, 8, 1040, true}};
    static const char *const shapes[] = {
        "path=3",
        "path=3 items=64 line_bytes=64 rows_per_item=3 items_across=8 steps=2 groups=9 split_k_min=40"};
    for (size_t i = 0; i < 16; i++) {
        if (!sampled(i, 5)) /* both precisions and shapes */
            continue;
        const enum matmul_precision precision = i / 2 % 2 ? MATMUL_DOUBLE : MATMUL_SINGLE;
        const struct matmul_options o = {
            .ctx = matmul_device(), .precision = precision, .shape = shapes[i / 8]};
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
            try_matmul_case(mm, matmul_device(), precision, &t, o.shape, (i + (size_t)trans) % 2);
            try_matmul_case(mm, matmul_device(), precision, &t, o.shape,
                            (i + (size_t)trans) % 2); /* the previous product's scratch memory */
        }
        matmul_free(mm);
    }
}

/* How groups share a depth does not depend on the device or on the number of groups running at
 * once: the bits of a row of C do not depend on the other vectors. */
static void matmul_skinny_bits_are_equal(void **unused)
{
    (void)unused;
    enum { M = 100, K = 900 };
    matmul *mm = matmul_create(&(struct matmul_options){.ctx = matmul_device(), .shape = "path=3"});
    float *a = make_test_matrix(NULL, MATMUL_SINGLE, M, K, K, 0),
          *b = make_test_matrix(NULL, MATMUL_SINGLE, K, 4, 4, 0);
    float *four = make_test_matrix(NULL, MATMUL_SINGLE, M, 4, 4, NAN),
          *again = make_test_matrix(NULL, MATMUL_SINGLE, M, 4, 4, NAN);
    float *three = make_test_matrix(NULL, MATMUL_SINGLE, M, 3, 3, NAN);
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

static void matmul_panels_match_reference(void **unused)
{
    (void)unused;
    static const char *const shapes[] = {
        "path=2 width=4 rows=6 vectors=2 depth=8 block_tiles=1 unroll=1",
        "path=2 width=8 rows=5 vectors=1 depth=16 block_tiles=2 unroll=3",
        "path=2 width=2 rows=3 vectors=3 depth=64 block_tiles=30 unroll=4",
    };
    static const enum matmul_precision precisions[] = {MATMUL_SINGLE, MATMUL_DOUBLE, MATMUL_SINGLE};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (sampled(i, 3))
            try_precision((struct matmul_options){.ctx = matmul_device(),
                                                  .shape = shapes[i],
                                                  .precision = precisions[i]},
                          matmul_device(), 130, 0, 4, shapes[i]);
}

/* Try a batch and check each of its products alone; the memory between the matrices is
 * unchanged. `shared`: all products use the same A. */
static void try_batch(matmul *mm, enum matmul_precision precision, const struct test_case *t,
                      size_t count, bool shared, const char *what)
{
    CLCONTEXT *cp = matmul_device();
    const size_t real = real_of(precision), gap = below(3) * 4;
    const size_t ra = case_transposes_a(t) ? t->k : t->m, ca = case_transposes_a(t) ? t->m : t->k;
    const size_t rb = case_transposes_b(t) ? t->n : t->k, cb = case_transposes_b(t) ? t->k : t->n;
    const size_t step_a = shared ? 0 : ra * t->lda, step_b = rb * t->ldb,
                 step_c = t->m * t->ldc + gap;
    char *a = make_test_matrix(cp, precision, shared ? ra : ra * count, ca, t->lda,
                               t->alpha == 0 ? NAN : 0);
    char *b = make_test_matrix(cp, precision, rb * count, cb, t->ldb, t->alpha == 0 ? NAN : 0);
    char *c = make_test_matrix(cp, precision, 1, 0, step_c * count, 0),
         *before = malloc(step_c * count * real);
    ready(before);
    for (size_t i = 0; i < step_c * count; i++)
        if (i % step_c < t->m * t->ldc && i % step_c % t->ldc < t->n && t->beta != 0)
            put_element(precision, c, i, (double)below(2000001) * 1e-6 - 1);
    memcpy(before, c, step_c * count * real);
    for (int i = 0; i < 3; i++)
        done(clmsync(cp, 0, i == 0 ? a : i == 1 ? b : c, CL_MEM_DEVICE));
    works(matmul_batch(mm, 0, t->trans, t->m, t->n, t->k, t->alpha, a, t->lda, step_a, b, t->ldb,
                       step_b, t->beta, c, t->ldc, step_c, count));
    done(clwait(cp, 0, CL_KERNEL_EVENT));
    done(clmsync(cp, 0, c, CL_MEM_HOST));
    for (size_t i = 0; i < count; i++) {
        judge_product(what, precision, t, a + i * step_a * real, b + i * step_b * real,
                      before + i * step_c * real, c + i * step_c * real);
        for (size_t j = t->m * t->ldc; j < step_c; j++)
            assert_true(isnan(get_element(precision, c, i * step_c + j)));
    }
    free(before);
    free_test_matrix(cp, a);
    free_test_matrix(cp, b);
    free_test_matrix(cp, c);
}

static void try_batches(enum matmul_precision precision, const char *shape, size_t most,
                        size_t cases)
{
    matmul *mm = matmul_create(
        &(struct matmul_options){.ctx = matmul_device(), .precision = precision, .shape = shape});
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

static void matmul_batches_match_reference(void **unused)
{
    (void)unused;
    try_batches(MATMUL_DOUBLE, NULL, 24, 6); /* on CPUs by the host */
    try_batches(MATMUL_SINGLE, NULL, 120, 4);
    try_batches(MATMUL_SINGLE, "path=2 width=4 rows=6 vectors=2 depth=8 block_tiles=1 unroll=1", 40,
                4);
    try_batches(
        MATMUL_SINGLE,
        "path=1 k_groups=1 bm=32 bn=32 bk=8 wm=32 wn=16 stages=2 prefetch=0 lane_layout=0 mma=0",
        40, 3);
    try_batches(
        MATMUL_DOUBLE,
        "path=1 k_groups=1 bm=32 bn=32 bk=8 wm=32 wn=16 stages=2 prefetch=1 lane_layout=0 mma=1",
        40, 2);
}

/* A product has equal bits alone and anywhere in a batch. */
static void matmul_batch_bits_equal_single(void **unused)
{
    (void)unused;
    enum { N = 20, COUNT = 50 };
    CLCONTEXT *cp = matmul_device();
    matmul *mm = matmul_create(&(struct matmul_options){.ctx = cp, .precision = MATMUL_SINGLE});
    ready(mm);
    float *a = make_test_matrix(cp, MATMUL_SINGLE, N, N, N, 0),
          *b = make_test_matrix(cp, MATMUL_SINGLE, N, N, N, 0);
    float *c = make_test_matrix(cp, MATMUL_SINGLE, N * (COUNT + 1), N, N, 0);
    for (int i = 0; i < 3; i++)
        done(clmsync(cp, 0, i == 0 ? a : i == 1 ? b : c, CL_MEM_DEVICE));
    works(matmul_batch(mm, 0, MATMUL_NN, N, N, N, 1, a, N, 0, b, N, 0, 0, c, N, N * N, COUNT));
    works(matmul_batch(mm, 0, MATMUL_NN, N, N, N, 1, a, N, 0, b, N, 0, 0, c + N * N * COUNT, N,
                       N * N, 1));
    done(clwait(cp, 0, CL_KERNEL_EVENT));
    done(clmsync(cp, 0, c, CL_MEM_HOST));
    for (size_t i = 0; i < COUNT; i++)
        assert_memory_equal(c + i * N * N, c + (size_t)N * N * COUNT, N * N * sizeof *c);
    /* Rejected calls: results that overlap each other or the operands; too little memory; a
     * device that does not exist. */
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
    free_test_matrix(cp, a);
    free_test_matrix(cp, b);
    free_test_matrix(cp, c);
    matmul_free(mm);
}

static void matmul_baseline_kernels_match_reference(void **unused)
{
    (void)unused;
    static const size_t blocks[] = {1, 3, 8, 16};
    try_random((struct matmul_options){.ctx = matmul_device(), .kind = MATMUL_NAIVE},
               matmul_device(), 130, 8, "naive");
    for (size_t i = 0; i < 4; i++)
        try_random((struct matmul_options){.ctx = matmul_device(),
                                           .kind = MATMUL_BLOCKED,
                                           .block = blocks[i]},
                   matmul_device(), 60, 8, "blocked");
    try_random((struct matmul_options){.kind = MATMUL_CPU_NAIVE}, NULL, 130, 12, "cpu-naive");
    for (size_t i = 0; i < 4; i++)
        try_random((struct matmul_options){.kind = MATMUL_CPU_BLOCKED, .block = blocks[i]}, NULL,
                   130, 8, "cpu-blocked");
}

static void matmul_openblas_matches_reference(void **unused)
{
    (void)unused;
    if (matmul_kind_missing(MATMUL_OPENBLAS))
        skip();
    try_random((struct matmul_options){.kind = MATMUL_OPENBLAS}, NULL, 130, 12, "openblas");
}

/* CLBlast compiles for some 10 s for each precision; test_cli_matmul has one product by it. */
static void matmul_clblast_single_matches_reference(void **unused)
{
    (void)unused;
    if (matmul_kind_missing(MATMUL_CLBLAST))
        skip();
    try_random((struct matmul_options){.ctx = matmul_device(), .kind = MATMUL_CLBLAST},
               matmul_device(), 60, 4, "clblast");
}

static void matmul_sycl_matches_reference(void **unused)
{
    (void)unused;
    if (matmul_kind_missing(MATMUL_SYCL)) {
        fails_null(ENOTSUP, matmul_create(&(struct matmul_options){.kind = MATMUL_SYCL}));
        skip();
    }
    try_random((struct matmul_options){.kind = MATMUL_SYCL, .block = 8}, NULL, 60, 8, "sycl");
}

/* Sizes at the edges: one, panels and tiles exactly full, one more, one less, long and narrow.
 * Every height of a micro tile is a kernel to compile, so only some run in double precision too. */
static void matmul_edge_sizes_match_reference(void **unused)
{
    (void)unused;
    static const size_t sizes[][3] = {{1, 1, 1},        {1, 500, 1},   {500, 1, 1},
                                      {1, 1, 1000},     {13, 32, 512}, {25, 301, 70},
                                      {26, 64, 513},    {27, 65, 511}, {17, 500, 300},
                                      {257, 129, 1025}, {14, 33, 16}};
    for (int precision = MATMUL_SINGLE; precision <= MATMUL_DOUBLE; precision++) {
        matmul *mm = matmul_create(&(struct matmul_options){
            .ctx = matmul_device(), .precision = (enum matmul_precision)precision});
        ready(mm);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes;
             i += precision == MATMUL_DOUBLE ? 3 : 1) {
            const size_t *s = sizes[i];
            const struct test_case t =
                case_of(s[0], s[1], s[2], (enum matmul_trans)((i + (size_t)precision) % 4), 3);
            try_matmul_case(mm, matmul_device(), (enum matmul_precision)precision, &t, "odd sizes",
                            (i / 2) % 2);
        }
        matmul_free(mm);
    }
}

/* ---- Several devices, little memory, matrices that stay. ------------------------------------- */

static void matmul_all_devices_match_reference(void **unused)
{
    (void)unused;
    try_random((struct matmul_options){.ctx = stddev}, NULL, 130, 4, "all devices");
    try_random((struct matmul_options){.ctx = stddev, .kind = MATMUL_NAIVE}, NULL, 130, 8,
               "all devices");
}

/* The memory limit forces C to be computed in many blocks from many panels. */
static void matmul_out_of_core_matches_reference(void **unused)
{
    (void)unused;
    static const size_t limits[] = {20000, 60000, 400000};
    for (size_t i = 0; i < 3;
         i++) /* most by kernels that have no variants, which would take long to compile */
        try_random((struct matmul_options){.ctx = stddev,
                                           .memory = limits[i],
                                           .kind = i < 2 ? MATMUL_NAIVE : MATMUL_TUNED},
                   NULL, 130, i < 2 ? 8 : 4, "streamed");
    matmul *mm = matmul_create(&(struct matmul_options){.ctx = matmul_device(), .memory = 100});
    const float ones[4] = {1, 1, 1, 1};
    float c[4];
    ready(mm);
    for (size_t n = 1; n <= 2; n++)
        fails(ENOMEM, matmul_multiply(mm, MATMUL_NN, n, n, 2, 1, ones, 2, ones, 2, 0, c, 2));
    matmul_free(mm);
}

static void matmul_loaded_operands_stay(void **unused)
{
    (void)unused;
    enum { M = 70, N = 50, K = 30 };
    static const enum matmul_kind kinds[] = {MATMUL_TUNED, MATMUL_BLOCKED, MATMUL_CPU_BLOCKED};
    for (size_t i = 0; i < 6; i++) {
        matmul *mm = matmul_create(&(struct matmul_options){.ctx = stddev,
                                                            .kind = kinds[i % 3],
                                                            .precision = MATMUL_DOUBLE,
                                                            .memory = i < 3 ? 0 : 1 << 20});
        double *a = make_test_matrix(NULL, MATMUL_DOUBLE, M, K, K, 0),
               *b = make_test_matrix(NULL, MATMUL_DOUBLE, K, N, N, 0);
        double *c = make_test_matrix(NULL, MATMUL_DOUBLE, M, N, N + 3, 0), before[M * (N + 3)];
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
        judge_product("loaded", MATMUL_DOUBLE, &first, a, b, before, c);
        works(matmul_compute(mm, 1, 0)); /* again, C not read */
        works(matmul_result(mm, c, N + 3));
        const struct test_case second = {MATMUL_NN, M, N, K, K, N, N + 3, 1, 0};
        judge_product("loaded", MATMUL_DOUBLE, &second, a, b, before, c);
        matmul_free(mm);
        free(a);
        free(b);
        free(c);
    }
}

static int count_matmul_calls(void *arg, double share)
{
    int *calls = arg;
    assert_true(share > 0 && share <= 1.0000001);
    return ++*calls >= 3;
}

struct watch {
    double stop_at, last;
    int calls;
};

static int watch_matmul(void *arg, double share)
{
    struct watch *w = arg;
    w->last = share;
    w->calls++;
    return share >= w->stop_at;
}

/* A product with launches of minimal length, as on a slow device, gives equal bits, from arrays
 * that stay on the device and from arrays that are streamed; and it can be cancelled in its
 * middle. */
static void check_matmul_slices(struct matmul_options o, size_t m, size_t n, size_t k)
{
    struct watch whole = {2, 0, 0}, stopping = {0.3, 0, 0};
    float *a = make_test_matrix(NULL, MATMUL_SINGLE, m, k, k, 0),
          *b = make_test_matrix(NULL, MATMUL_SINGLE, k, n, n, 0),
          *c = make_test_matrix(NULL, MATMUL_SINGLE, m, n, n, NAN),
          *d = make_test_matrix(NULL, MATMUL_SINGLE, m, n, n, NAN);
    o.ctx = matmul_device();
    matmul *uncut = matmul_create(&o);
    assert_int_equal(setenv("STDCL_SLICE", "1e-12", 1), 0);
    o.progress = watch_matmul;
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
static void matmul_slices_give_equal_bits(void **unused)
{
    struct cldev_info info;
    (void)unused;
    works(clgetdevinfo(matmul_device(), &info));
    const size_t s = info.dev_type & CL_DEVICE_TYPE_GPU ? 6 : 1;
    check_matmul_slices((struct matmul_options){.kind = MATMUL_TUNED}, 600 * s, 500 * s, 300);
    check_matmul_slices(
        (struct matmul_options){
            .kind = MATMUL_TUNED,
            .shape =
                "path=1 k_groups=1 bm=32 bn=32 bk=8 wm=32 wn=16 stages=2 prefetch=0 lane_layout=0 swizzle=2 "
                "mma=0 async=0 pack=0 groups_per_unit=1 split_k_min=0"},
        300 * s, 300 * s, 200);
    check_matmul_slices(
        (struct matmul_options){.kind = MATMUL_TUNED, .shape = "path=3 groups=300 split_k_min=32"},
        500 * s, 3, 900);
    check_matmul_slices((struct matmul_options){.kind = MATMUL_NAIVE}, 200 * s, 300 * s, 200);
    check_matmul_slices((struct matmul_options){.kind = MATMUL_BLOCKED}, 200 * s, 300 * s, 200);
}

static void matmul_reports_progress(void **unused)
{
    (void)unused;
    int calls = 0;
    float *a = make_test_matrix(NULL, MATMUL_SINGLE, 300, 300, 300, 0),
          *c = calloc(300 * 300, sizeof *c);
    matmul *mm = matmul_create(&(struct matmul_options){
        .ctx = matmul_device(), .memory = 100000, .progress = count_matmul_calls, .arg = &calls});
    ready(mm);
    fails(ECANCELED, matmul_multiply(mm, MATMUL_NN, 300, 300, 300, 1, a, 300, a, 300, 0, c, 300));
    assert_int_equal(calls, 3);
    matmul_free(mm);
    free(a);
    free(c);
}

static void matmul_one_call_multiplies(void **unused)
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

static void matmul_rejects_overlap(void **unused)
{
    (void)unused;
    double x[100];
    matmul *mm =
        matmul_create(&(struct matmul_options){.ctx = matmul_device(), .precision = MATMUL_DOUBLE});
    ready(mm);
    for (int i = 0; i < 100; i++)
        x[i] = 1;
    fails(EINVAL, matmul_multiply(mm, MATMUL_NN, 3, 3, 3, 1, x, 10, x + 50, 10, 0, x, 10));
    fails(EINVAL, matmul_multiply(mm, MATMUL_NN, 3, 3, 3, 1, x, 10, x + 50, 10, 0, x + 22, 10));
    fails(EINVAL, matmul_multiply(mm, MATMUL_NN, 3, 3, 3, 1, x, 10, x + 50, 10, 0, x + 52, 10));
    fails(EINVAL, matmul_multiply(mm, MATMUL_NN, 3, 3, 3, 1, x, 10, x + 50, 10, 0, x + 8, 4));
    fails(EINVAL, matmul_multiply(mm, MATMUL_NN, 3, 3, 3, 1, x, 10, x + 50, 10, 0, x + 29, 10));
    /* C may be beside A in the same rows, or the corner of a larger matrix. */
    works(matmul_multiply(mm, MATMUL_NN, 3, 3, 3, 1, x, 10, x + 50, 10, 0, x + 3, 10));
    assert_true(x[3] == 3 && x[25] == 3 && x[2] == 1 && x[6] == 1);
    works(matmul_multiply(mm, MATMUL_NN, 3, 3, 2, 1, x, 10, x + 50, 10, 0, x + 23, 10));
    /* A may be B. */
    works(matmul_multiply(mm, MATMUL_NN, 3, 3, 3, 1, x, 10, x, 10, 0, x + 60, 10));
    matmul_free(mm);
}

static void matmul_zero_sizes_scale_c(void **unused)
{
    (void)unused;
    float c[4] = {NAN, 1, 2, NAN};
    static const enum matmul_kind kinds[] = {MATMUL_TUNED, MATMUL_NAIVE, MATMUL_CPU_NAIVE};
    for (size_t i = 0; i < 3; i++) {
        matmul *mm =
            matmul_create(&(struct matmul_options){.ctx = matmul_device(), .kind = kinds[i]});
        float *x = clmalloc(matmul_device(), 16, CL_MEM_ZEROCOPY);
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
            done(clmsync(matmul_device(), 0, x, CL_MEM_DEVICE));
            works(matmul_enqueue(mm, 0, MATMUL_NN, 1, 2, 0, 1, NULL, 0, NULL, 0, -1, x + 1, 2));
            done(clwait(matmul_device(), 0, CL_KERNEL_EVENT));
            done(clmsync(matmul_device(), 0, x, CL_MEM_HOST));
            assert_true(isnan(x[0]) && x[1] == -1 && x[2] == -2 && isnan(x[3]));
        }
        works(matmul_load(mm, MATMUL_NN, 0, 3, 3, NULL, 0, NULL, 0));
        works(matmul_compute(mm, 1, 0));
        works(matmul_result(mm, NULL, 0));
        clfree(x);
        matmul_free(mm);
    }
}

/* The first device has written A; the last one multiplies. The host's A is not read. */
static void matmul_reads_image_of_device_that_wrote(void **unused)
{
    (void)unused;
    CLCONTEXT *cp = stddev;
    const cl_uint dev = clgetndev(cp) - 1;
    float *a = clmalloc(cp, 16 * sizeof *a, CL_MEM_PER_DEVICE), *c = clmalloc(cp, 64, 0);
    matmul *mm = matmul_create(&(struct matmul_options){.ctx = cp});
    ready(mm);
    ready(a);
    ready(c);
    assert_true(matmul_enqueue(mm, dev, MATMUL_NN, 4, 4, 4, 1, a, 4, a, 4, 0, c, 4) == -1);
    contains(clerror(), "matmul_enqueue: device ");
    for (size_t i = 0; i < 16; i++)
        a[i] = 1;
    done(clmsync(cp, 0, a, CL_MEM_DEVICE));
    memset(a, 0, 64);
    works(matmul_enqueue(mm, dev, MATMUL_NN, 4, 4, 4, 1, a, 4, a, 4, 0, c, 4));
    done(clwait(cp, dev, CL_KERNEL_EVENT));
    done(clmsync(cp, dev, c, CL_MEM_HOST));
    for (size_t i = 0; i < 16; i++)
        assert_true(c[i] == 4);
    matmul_free(mm);
    works(clfree(a));
    works(clfree(c));
}

/* Rows that are 2^31 + 5 elements apart, in memory of which only the rows exist. */
enum { FAR_ROWS = 3 };
static const size_t far_ld = ((size_t)1 << 31) + 5;

static double *far_matrix(size_t rows, size_t cols)
{
    const size_t bytes = ((rows - 1) * far_ld + cols) * sizeof(double);
    double *x = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_true(x != MAP_FAILED);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < cols; j++)
            x[i * far_ld + j] = (double)(1 + 3 * i + j);
    return x;
}

static void far_free(double *x, size_t rows, size_t cols)
{
    munmap(x, ((rows - 1) * far_ld + cols) * sizeof(double));
}

/* No buffer of a CPU is as large as these arrays, from their first to their last element. */
static void matmul_multiplies_arrays_larger_than_buffers(void **unused)
{
    (void)unused;
    if (!have_doubles(matmul_device()))
        skip();
    struct cldev_info info;
    works(clgetdevinfo(matmul_device(), &info));
    matmul *mm = matmul_create(&(struct matmul_options){
        .ctx = matmul_device(),
        .precision = MATMUL_DOUBLE,
        .shape = info.dev_type & CL_DEVICE_TYPE_CPU ? "path=2" : NULL}); /* not on the host */
    ready(mm);
    enum { M = 2, N = 3, K = FAR_ROWS };
    double *a = far_matrix(K, K), *b = far_matrix(K, N), *c = far_matrix(M, N), near[M * N];
    for (int trans = MATMUL_NN; trans <= MATMUL_TN; trans += MATMUL_TN - MATMUL_NN) {
        for (size_t i = 0; i < M * N; i++)
            c[i / N * far_ld + i % N] = (double)i;
        works(matmul_multiply(mm, (enum matmul_trans)trans, M, N, K, 2, a, far_ld, b, far_ld, -1, c,
                              far_ld));
        works(matmul_load(mm, (enum matmul_trans)trans, M, N, K, a, far_ld, b, far_ld));
        works(matmul_compute(mm, 1, 0));
        works(matmul_result(mm, near, N));
        for (size_t i = 0; i < M; i++)
            for (size_t j = 0; j < N; j++) {
                double sum = 0;
                for (size_t k = 0; k < K; k++)
                    sum +=
                        a[trans == MATMUL_NN ? i * far_ld + k : k * far_ld + i] * b[k * far_ld + j];
                assert_true(near[i * N + j] == sum);
                assert_true(c[i * far_ld + j] == 2 * sum - (double)(i * N + j));
            }
    }
    works(matmul_double(MATMUL_NN, M, N, K, 1, a, far_ld, b, far_ld, 0, c, far_ld));
    assert_true(c[0] == a[0] * b[0] + a[1] * b[far_ld] + a[2] * b[2 * far_ld]);
    matmul_free(mm);
    far_free(a, K, K);
    far_free(b, K, N);
    far_free(c, M, N);
}

/* alpha A overflows, and so does alpha B; the product does not. */
static void matmul_alpha_multiplies_sums(void **unused)
{
    (void)unused;
    static const enum matmul_kind kinds[] = {MATMUL_CPU_NAIVE, MATMUL_CPU_BLOCKED};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const float a[4] = {1e30f, 2e30f, 3e30f, 4e30f}, b[4] = {1e-35f, 0, 0, 1e-35f};
        float c[4];
        matmul *mm = matmul_create(&(struct matmul_options){.kind = kinds[i]});
        ready(mm);
        works(matmul_multiply(mm, MATMUL_NN, 2, 2, 2, 1e20, a, 2, b, 2, 0, c, 2));
        for (size_t j = 0; j < 4; j++)
            assert_true(fabsf(c[j] / ((float)(j + 1) * 1e15f) - 1) < 1e-5f);
        matmul_free(mm);
    }
}

static void matmul_rejects_bad_calls(void **unused)
{
    (void)unused;
    float x[64] = {0}, *d = clmalloc(matmul_device(), sizeof x, 0);
    const size_t most = matmul_block_limit(matmul_device(), MATMUL_SINGLE);
    matmul *mm = matmul_create(&(struct matmul_options){.ctx = matmul_device()});
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
    struct matmul_options grown = {.ctx = matmul_device()};
    refuses_reserved(grown, matmul_create(&grown));
    struct matmul *plain = matmul_create(NULL);
    ready(plain);
    matmul_free(plain);
    fails_null(EINVAL, matmul_create(
                           &(struct matmul_options){.ctx = matmul_device(), .shape = "colour=3"}));
    fails_null(EINVAL,
               matmul_create(&(struct matmul_options){.ctx = matmul_device(), .shape = "rows=x"}));
    check_forget();
    assert_null(matmul_create(&(struct matmul_options){
        .ctx = matmul_device(), .kind = MATMUL_BLOCKED, .block = most + 1}));
    contains(clerror(), "the maximum is");
    check_forget();
    assert_int_equal(matmul_kind_by_name("fast"), -1);
    contains(clerror(), "tuned, naive, blocked");
    for (int k = 0; k < MATMUL_KINDS; k++)
        assert_int_equal(matmul_kind_by_name(matmul_kind_name((enum matmul_kind)k)), k);
    clfree(d);
}

/* ---- Random matrices and the error. ---------------------------------------------------------- */

static void matmul_random_matrices_are_equal(void **unused)
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

/* An injected error is found, with its size. */
static void matmul_error_check_finds_error(void **unused)
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

/* Numbers whose squares overflow or vanish, sums that cancel or overflow, NaN. */
static void matmul_error_check_survives_overflow(void **unused)
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
    /* All terms are below the smallest number: only 0 is right. */
    const double small[2] = {1.1e-200, 1e-200}, large[2] = {1.1e160, 1e160},
                 signs[2] = {1e160, -1e160};
    assert_true(error_of_dot(2, small, small, 0) == 0);
    assert_true(error_of_dot(2, small, small, 1e-200) > 1e100);
    assert_true(error_of_dot(2, small, small, 1e-300) > 1);
    /* All terms are above the largest: an infinity is right, and so is the NaN of the sum of two
     * infinities. */
    assert_true(error_of_dot(2, large, large, INFINITY) == 0);
    assert_true(error_of_dot(2, large, signs, NAN) == 0);
    assert_true(fabs(error_of_dot(2, large, large, 1e160) - 1) < 1e-9);
    assert_true(error_of_dot(2, ab, ab, INFINITY) == INFINITY);
    /* Terms that cancel: the remainder has few correct digits and is right. */
    const double terms[3] = {1e10, 1.0 / 3, -1e10}, ones[3] = {1, 1, 1};
    assert_true(error_of_dot(3, terms, ones, (1e10 + 1.0 / 3) - 1e10) <=
                matmul_tolerance(MATMUL_DOUBLE, 3, 0));
    assert_true(error_of_dot(3, terms, ones, 1) > matmul_tolerance(MATMUL_DOUBLE, 3, 0));
    /* NaN where expected, where unexpected, and missing. */
    const double with_nan[2] = {NAN, 1}, zero[2] = {0, 0};
    assert_true(error_of_dot(2, with_nan, ab, NAN) == 0);
    assert_true(isnan(error_of_dot(2, with_nan, ab, 1)));
    assert_true(isnan(error_of_dot(2, ab, ab, NAN)));
    assert_true(error_of_dot(2, zero, ab, 0) == 0 && error_of_dot(2, zero, ab, 1e-300) == INFINITY);
}

/* alpha and beta scale the tolerance as the matrices do, rounded in single precision. */
static void matmul_error_check_includes_beta(void **unused)
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

/* With the argument `several` only tests that depend on the number of devices, with `clblast`
 * the slow ones. */
int main(int argc, char **argv)
{
    const struct CMUnitTest deep[] = {cmocka_unit_test(matmul_clblast_single_matches_reference)};
    const struct CMUnitTest several[] = {
        cmocka_unit_test(matmul_all_devices_match_reference),
        cmocka_unit_test(matmul_out_of_core_matches_reference),
        cmocka_unit_test(matmul_loaded_operands_stay),
        cmocka_unit_test(matmul_one_call_multiplies),
        cmocka_unit_test(matmul_reports_progress),
        cmocka_unit_test(matmul_zero_sizes_scale_c),
        cmocka_unit_test(matmul_reads_image_of_device_that_wrote),
    };
    struct CMUnitTest tests[] = {
        cmocka_unit_test(matmul_tiles_match_reference),
        cmocka_unit_test(matmul_openblas_matches_reference),
        cmocka_unit_test(matmul_sycl_matches_reference),
        cmocka_unit_test(matmul_rejects_overlap),
        cmocka_unit_test(matmul_zero_sizes_scale_c),
        cmocka_unit_test(matmul_rejects_bad_calls),
        cmocka_unit_test(matmul_reads_image_of_device_that_wrote),
        cmocka_unit_test(matmul_multiplies_arrays_larger_than_buffers),
        cmocka_unit_test(matmul_alpha_multiplies_sums),
        cmocka_unit_test(matmul_error_check_finds_error),
        cmocka_unit_test(matmul_error_check_survives_overflow),
        cmocka_unit_test(matmul_error_check_includes_beta),
        cmocka_unit_test(matmul_random_matrices_are_equal),
        cmocka_unit_test(matmul_unaligned_c_matches_reference),
        /* Of the following, every n-th runs. */
        cmocka_unit_test(matmul_tuned_matches_reference),
        cmocka_unit_test(matmul_edge_sizes_match_reference),
        cmocka_unit_test(matmul_slices_give_equal_bits),
        cmocka_unit_test(matmul_batches_match_reference),
        cmocka_unit_test(matmul_panels_match_reference),
        cmocka_unit_test(matmul_baseline_kernels_match_reference),
        cmocka_unit_test(matmul_one_call_multiplies),
        cmocka_unit_test(matmul_out_of_core_matches_reference),
        cmocka_unit_test(matmul_loaded_operands_stay),
        cmocka_unit_test(matmul_reports_progress),
        cmocka_unit_test(matmul_all_devices_match_reference),
        cmocka_unit_test(matmul_batch_bits_equal_single),
        cmocka_unit_test(matmul_skinny_products_match_reference),
        cmocka_unit_test(matmul_skinny_bits_are_equal),
    };
    if (argc < 2) {
        return sampled_run("products", tests, 14, 3, NULL, NULL);
    }
    return strcmp(argv[1], "clblast") == 0 ? cmocka_run_group_tests(deep, NULL, NULL)
                                           : cmocka_run_group_tests(several, NULL, NULL);
}
