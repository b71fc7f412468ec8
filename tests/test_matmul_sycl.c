/* test_matmul_sycl.c - the source of the SYCL engine, compiled against the stubs in tests/sycl
 * instead of a SYCL compiler: every transpose, odd sizes, long rows, NaN in C if beta is 0.
 * SPDX-License-Identifier: MIT
 */
#include "check.h"

#include <math.h>

#include "matmul/sycl.h"

static double next(void) /* in [-1, 1) */
{
    static unsigned state = 12345;
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / 8388608. - 1;
}

/* Try one product of doubles, and of equal floats; the padding of C's rows holds NaN. */
static void try_product(int ta, int tb, size_t m, size_t n, size_t k, double beta, size_t block)
{
    enum { PAD = 3, MOST = 24 * 27 };
    const size_t lda = (ta ? m : k) + PAD, ldb = (tb ? k : n) + PAD, ldc = n + PAD;
    double a[MOST], b[MOST], c[MOST];
    float af[MOST], bf[MOST], cf[MOST];
    char why[200];
    for (size_t i = 0; i < MOST; i++) {
        af[i] = (float)(a[i] = next());
        bf[i] = (float)(b[i] = next());
        cf[i] = (float)(c[i] = i % ldc >= n || beta == 0 ? (double)NAN : 1);
    }
    assert_int_equal(matmul_sycl_run(1, ta, tb, m, n, k, 0.5, a, lda, b, ldb, beta, c, ldc, block,
                                     why, sizeof why),
                     0);
    assert_int_equal(matmul_sycl_run(0, ta, tb, m, n, k, 0.5, af, lda, bf, ldb, beta, cf, ldc,
                                     block, why, sizeof why),
                     0);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = beta;
            for (size_t x = 0; x < k; x++)
                sum += 0.5 * a[ta ? x * lda + i : i * lda + x] * b[tb ? j * ldb + x : x * ldb + j];
            assert_true(fabs(c[i * ldc + j] - sum) < 1e-14 * (double)(k + 1));
            assert_true(fabs((double)cf[i * ldc + j] - sum) < 5e-7 * (double)(k + 1));
        }
    for (size_t i = 0; i < MOST; i++)
        if (i % ldc >= n)
            assert_true(isnan(c[i]) && isnan(cf[i]));
}

static void matmul_sycl_source_matches_reference(void **unused)
{
    (void)unused;
    static const size_t sizes[][4] = {
        {1, 1, 1, 1}, {4, 4, 4, 4}, {5, 3, 7, 2}, {9, 20, 13, 8}, {24, 17, 1, 5}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int trans = 0; trans < 4; trans++)
            try_product(trans / 2, trans % 2, sizes[s][0], sizes[s][1], sizes[s][2],
                        trans == 1 ? 0 : -1, sizes[s][3]);
}

static void matmul_sycl_reports_group_limit(void **unused)
{
    (void)unused;
    double x = 1, c = 0;
    char why[200];
    assert_int_equal(
        matmul_sycl_run(1, 0, 0, 1, 1, 1, 1, &x, 1, &x, 1, 0, &c, 1, 9, why, sizeof why), -1);
    contains(why, "9 x 9; groups have at most 64");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(matmul_sycl_source_matches_reference),
                                       cmocka_unit_test(matmul_sycl_reports_group_limit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
