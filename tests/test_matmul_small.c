/* test_matmul_small.c - small products on CPUs (matmul/small.c), for each set of instructions of
 * this processor, against sums in long double.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"
#include "matmul/engine.h"
#include "matmul/small.h"

#include <float.h>
#include <math.h>
#include <sched.h>

/* ---- Arrays of either precision. ------------------------------------------------------------- */

struct small_case {
    enum matmul_precision precision;
    enum matmul_trans trans;
    size_t m, n, k, lda, ldb, ldc;
    double alpha, beta;
};

static double element(const struct small_case *t, const void *x, size_t i)
{
    return t->precision == MATMUL_DOUBLE ? ((const double *)x)[i] : (double)((const float *)x)[i];
}

static void *small_matrix(const struct small_case *t, uint32_t which, size_t rows, size_t cols,
                          size_t ld)
{
    const size_t real = t->precision == MATMUL_DOUBLE ? 8 : 4;
    void *x = malloc(rows * ld * real);
    ready(x);
    memset(x, 0xff, rows * ld * real); /* NaN in the padding */
    matmul_random(t->precision, 7, which, rows, cols, x, ld);
    return x;
}

/* ---- Against the definition. ----------------------------------------------------------------- */

static void judge_small(const struct small_case *t, const void *a, const void *b,
                        const void *before, const void *c)
{
    const double eps = t->precision == MATMUL_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;
    const bool ta = is_trans_a(t->trans), tb = is_trans_b(t->trans);
    for (size_t i = 0; i < t->m; i++)
        for (size_t j = 0; j < t->ldc; j++) {
            const double got = element(t, c, i * t->ldc + j);
            if (j >= t->n) {
                assert_true(isnan(got)); /* the padding is not written */
                continue;
            }
            long double sum = 0, size = 0;
            for (size_t x = 0; x < t->k; x++) {
                const long double term =
                    (long double)element(t, a, ta ? x * t->lda + i : i * t->lda + x) *
                    element(t, b, tb ? j * t->ldb + x : x * t->ldb + j);
                sum += term;
                size += fabsl(term);
            }
            const long double old = t->beta == 0 ? 0 : t->beta * element(t, before, i * t->ldc + j);
            sum = t->alpha * sum + old;
            size = fabs(t->alpha) * size + fabsl(old);
            if (!(fabsl(got - sum) <= eps * size * (2 + sqrt((double)t->k))))
                fail_msg("%zu x %zu x %zu trans %d precision %d alpha %g beta %g: C[%zu][%zu] is "
                         "%.17g, not %.17Lg",
                         t->m, t->n, t->k, (int)t->trans, (int)t->precision, t->alpha, t->beta, i,
                         j, got, sum);
        }
}

/* Sizes and factors are given; leading dimensions are `pad` longer than rows. */
static void try_small(matmul *mm, struct small_case t, size_t pad)
{
    const bool ta = is_trans_a(t.trans), tb = is_trans_b(t.trans);
    const size_t ra = ta ? t.k : t.m, ca = ta ? t.m : t.k, rb = tb ? t.n : t.k, cb = tb ? t.k : t.n;
    t.lda = ca + pad, t.ldb = cb + pad, t.ldc = t.n + pad;
    void *a = small_matrix(&t, 0, ra, ca, t.lda), *b = small_matrix(&t, 1, rb, cb, t.ldb),
         *before = small_matrix(&t, 2, t.m, t.n, t.ldc),
         *c = small_matrix(&t, 2, t.m, t.beta == 0 ? 0 : t.n, t.ldc);
    works(
        matmul_multiply(mm, t.trans, t.m, t.n, t.k, t.alpha, a, t.lda, b, t.ldb, t.beta, c, t.ldc));
    judge_small(&t, a, b, before, c);
    free(a), free(b), free(before), free(c);
}

static void try_small_sizes(matmul *mm, enum matmul_precision precision)
{
    static const size_t cols[] = {1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 48},
                        depths[] = {1, 2, 5, 8, 33};
    static const size_t others[][3] = {{9, 1, 700},   {1, 9, 700},    {700, 1, 9},   {11, 3, 1100},
                                       {3, 11, 1100}, {3, 3, 2049},   {1, 1, 1500},  {2, 40, 300},
                                       {40, 2, 300},  {120, 70, 300}, {150, 150, 20}};
    static const double factors[] = {1, -0.5, 2};
    size_t next = 0;
    for (size_t m = 1; m <= 27; m++)
        for (size_t i = 0; i < sizeof cols / sizeof *cols; i++, next++) {
            const struct small_case t = {.precision = precision,
                                         .trans = (enum matmul_trans)((next / 5) % 4),
                                         .m = m,
                                         .n = cols[i],
                                         .k = depths[next % 5],
                                         .alpha = factors[next % 3],
                                         .beta = next % 2 ? factors[next / 2 % 3] : 0};
            try_small(mm, t, next % 3);
        }
    for (size_t i = 0; i < 4 * sizeof others / sizeof *others; i++) {
        const size_t *s = others[i / 4];
        const struct small_case t = {.precision = precision,
                                     .trans = (enum matmul_trans)(i % 4),
                                     .m = s[0],
                                     .n = s[1],
                                     .k = s[2],
                                     .alpha = 1,
                                     .beta = i / 4 % 2 ? 0.5 : 0};
        try_small(mm, t, i % 2);
    }
}

/* Few rows or columns of little depth, at most half a vector of columns, and sizes near the fewest
 * that have kernels of their own; with and without gaps between rows. */
static void try_thin_sizes(matmul *mm, enum matmul_precision precision)
{
    size_t next = 0;
    for (size_t few = 1; few <= 5; few++)
        for (size_t deep = 1; deep <= 5; deep++)
            for (size_t many = 255; many <= 311; many += 28, next++) {
                struct small_case t = {.precision = precision,
                                       .m = many,
                                       .n = few,
                                       .k = deep,
                                       .alpha = next % 3 ? 1 : -0.5,
                                       .beta = next % 2 ? 2 : 0};
                try_small(mm, t, next % 4 == 3);
                t.m = few, t.n = many;
                t.trans = next % 5 ? MATMUL_NN : MATMUL_TN;
                try_small(mm, t, next % 2);
            }
    for (size_t n = 2; n <= 9; n++)
        for (size_t m = 3; m <= 31; m += 4) {
            const struct small_case t = {.precision = precision,
                                         .m = m,
                                         .n = n,
                                         .k = 60 + m % 8 + n,
                                         .alpha = m % 3 ? 1 : -0.5,
                                         .beta = n % 2 ? 2 : 0};
            try_small(mm, t, m % 3);
        }
}

/* A column of op(A) is infinite or NaN, and all other elements are 1: each sum is `value`. */
static void try_special_column(matmul *mm, const struct small_case *t, size_t column, double value)
{
    enum { MOST = 32 * 32 };
    static double reals[3][MOST];
    static float singles[3][MOST];
    const bool is_double = t->precision == MATMUL_DOUBLE;
    for (size_t i = 0; i < MOST; i++)
        reals[0][i] = reals[1][i] = singles[0][i] = singles[1][i] = 1;
    for (size_t i = 0; i < t->m; i++) {
        const size_t at = is_trans_a(t->trans) ? column * t->lda + i : i * t->lda + column;
        reals[0][at] = value;
        singles[0][at] = (float)value;
    }
    void *x[3];
    for (int i = 0; i < 3; i++)
        x[i] = is_double ? (void *)reals[i] : (void *)singles[i];
    works(matmul_multiply(mm, t->trans, t->m, t->n, t->k, 1, x[0], t->lda, x[1], t->ldb, 0, x[2],
                          t->ldc));
    for (size_t i = 0; i < t->m * t->n; i++) {
        const double got = element(t, x[2], i);
        if (got != value && !(isnan(got) && isnan(value)))
            fail_msg("%zu x %zu x %zu trans %d precision %d, column %zu of A is %g: C[%zu] is %g",
                     t->m, t->n, t->k, (int)t->trans, (int)t->precision, column, value, i, got);
    }
}

static void try_special_columns(matmul *mm, enum matmul_precision precision)
{
    static const size_t rows[] = {1, 3, 4, 5, 13, 20}, depths[] = {1, 2, 3, 4, 5, 9, 31};
    static const double values[] = {INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < 4 * 6 * 7 * 9; i++) {
        struct small_case t = {.precision = precision,
                               .trans = (enum matmul_trans)(i % 4),
                               .m = rows[i / 4 % 6],
                               .n = i / 4 / 6 / 7 + 1,
                               .k = depths[i / 4 / 6 % 7]};
        t.lda = is_trans_a(t.trans) ? t.m : t.k;
        t.ldb = is_trans_b(t.trans) ? t.k : t.n;
        t.ldc = t.n;
        for (size_t column = 0; column < t.k; column++)
            try_special_column(mm, &t, column, values[(i + column) % 3]);
    }
}

static void try_kernels(const struct small_kernels *kernels)
{
    for (int precision = MATMUL_SINGLE; precision <= MATMUL_DOUBLE; precision++) {
        matmul *mm = matmul_create(
            &(struct matmul_options){.ctx = stdcpu, .precision = (enum matmul_precision)precision});
        ready(mm);
        assert_non_null(mm->small);
        mm->small = kernels;
        try_small_sizes(mm, (enum matmul_precision)precision);
        try_thin_sizes(mm, (enum matmul_precision)precision);
        try_special_columns(mm, (enum matmul_precision)precision);
        assert_null(mm->programs); /* nothing was compiled */
        matmul_free(mm);
    }
}

static void small_any_matches_reference(void **unused)
{
    (void)unused;
    try_kernels(&matmul_small_any);
}

static void small_avx2_matches_reference(void **unused)
{
    (void)unused;
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        try_kernels(&matmul_small_avx2);
#endif
}

static void small_avx512_matches_reference(void **unused)
{
    (void)unused;
    const struct small_kernels *best = matmul_small_kernels();
    if (best != &matmul_small_any)
        try_kernels(best); /* AVX-512, or AVX2 again */
}

/* ---- Bits, compilation, limits. -------------------------------------------------------------- */

/* 40 sizes of up to 150 compile no program. */
static void small_random_sizes_compile_nothing(void **unused)
{
    (void)unused;
    uint32_t seed = 45;
    matmul *mm = matmul_create(&(struct matmul_options){.ctx = stdcpu});
    ready(mm);
    for (int i = 0; i < 40; i++) {
        size_t size[3];
        for (int d = 0; d < 3; d++) {
            seed = seed * 1664525 + 1013904223;
            size[d] = 1 + (seed >> 8) % 150;
        }
        const struct small_case t = {.trans = (enum matmul_trans)(i % 4),
                                     .m = size[0],
                                     .n = size[1],
                                     .k = size[2],
                                     .alpha = 1};
        try_small(mm, t, 0);
    }
    assert_null(mm->programs);
    matmul_free(mm);
}

/* Multiply by an engine with as many threads as processors in `set`. */
static void small_product_on(const cpu_set_t *set, const size_t size[3], const float *a,
                             const float *b, float *c)
{
    cpu_set_t before;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(sched_setaffinity(0, sizeof *set, set), 0);
    matmul *mm = matmul_create(&(struct matmul_options){.ctx = stdcpu});
    ready(mm);
    works(matmul_multiply(mm, MATMUL_NN, size[0], size[1], size[2], 1, a, 0, b, 0, 0, c, 0));
    assert_non_null(mm->team);
    matmul_free(mm);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}

static void small_bits_do_not_depend_on_threads(void **unused)
{
    (void)unused;
    /* Tiles; a few rows or columns of little depth; half a vector of columns. */
    static const size_t sizes[][3] = {
        {130, 253, 301}, {100003, 3, 3}, {3, 100003, 3}, {30001, 7, 33}};
    const struct small_case t = {.precision = MATMUL_SINGLE};
    cpu_set_t all, one;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t m = sizes[i][0], n = sizes[i][1], k = sizes[i][2];
        float *a = small_matrix(&t, 0, m, k, k), *b = small_matrix(&t, 1, k, n, n),
              *c = small_matrix(&t, 2, m, 0, n), *d = small_matrix(&t, 2, m, 0, n);
        small_product_on(&all, sizes[i], a, b, c);
        small_product_on(&one, sizes[i], a, b, d);
        assert_memory_equal(c, d, m * n * sizeof *c);
        free(a), free(b), free(c), free(d);
    }
}

/* matmul_enqueue on memory that host and device share, and matmul_compute, give the bits of
 * matmul_multiply. */
static void small_calls_give_equal_bits(void **unused)
{
    (void)unused;
    enum { N = 45, BYTES = N * N * sizeof(double) };
    matmul *mm = matmul_create(&(struct matmul_options){.ctx = stdcpu, .precision = MATMUL_DOUBLE});
    ready(mm);
    double *x[4];
    for (int i = 0; i < 4; i++) {
        x[i] = clmalloc(stdcpu, BYTES, CL_MEM_ZEROCOPY);
        ready(x[i]);
        matmul_random(MATMUL_DOUBLE, 1, (uint32_t)i, N, N, x[i], N);
    }
    works(matmul_multiply(mm, MATMUL_NT, N, N, N, 2, x[0], N, x[1], N, 0, x[2], N));
    works(matmul_enqueue(mm, 0, MATMUL_NT, N, N, N, 2, x[0], N, x[1], N, 0, x[3], N));
    done(clwait(stdcpu, 0, CL_KERNEL_EVENT));
    assert_memory_equal(x[2], x[3], BYTES);
    memset(x[3], 0xff, BYTES);
    works(matmul_load(mm, MATMUL_NT, N, N, N, x[0], N, x[1], N));
    works(matmul_compute(mm, 2, 0));
    works(matmul_result(mm, x[3], N));
    assert_memory_equal(x[2], x[3], BYTES);
    works(matmul_compute(mm, 1, 0.5)); /* adds to the C that is there */
    works(matmul_result(mm, x[3], N));
    for (size_t i = 0; i < N * N; i++)
        assert_true(x[3][i] == x[2][i]);
    assert_null(mm->programs);
    assert_non_null(strstr(matmul_explain(mm, 0, N, N, N), "by the host"));
    assert_string_equal(matmul_shape(mm, 0, N, N, N), "");
    for (int i = 0; i < 4; i++)
        clfree(x[i]);
    matmul_free(mm);
}

static int small_cancel(void *arg, double fraction)
{
    *(double *)arg = fraction;
    return 1;
}

/* The caller's shape, ranks and other kinds keep the kernels; a progress function does not. */
static void small_engines_are_tuned_ones(void **unused)
{
    (void)unused;
    double fraction = 0;
    const float a[4] = {1, 2, 3, 4};
    float c[4];
    const struct matmul_options options[] = {
        {.ctx = stdcpu, .kind = MATMUL_NAIVE},
        {.ctx = stdcpu, .shape = "rows=6"},
        {.ctx = stdcpu, .progress = small_cancel, .arg = &fraction},
    };
    for (size_t i = 0; i < 3; i++) {
        matmul *mm = matmul_create(&options[i]);
        ready(mm);
        assert_int_equal(mm->small != NULL, i == 2);
        assert_false(matmul_small_fits(mm, 257, 257, 257));
        if (i == 2)
            fails(ECANCELED, matmul_multiply(mm, MATMUL_NN, 2, 2, 2, 1, a, 2, a, 2, 0, c, 2));
        matmul_free(mm);
    }
    assert_true(fraction == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_any_matches_reference),
        cmocka_unit_test(small_avx2_matches_reference),
        cmocka_unit_test(small_avx512_matches_reference),
        cmocka_unit_test(small_random_sizes_compile_nothing),
        cmocka_unit_test(small_bits_do_not_depend_on_threads),
        cmocka_unit_test(small_calls_give_equal_bits),
        cmocka_unit_test(small_engines_are_tuned_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
