/* batch.c - products of small matrices by one launch, or one product alone, with consecutive rows
 * in memory; for run.sh. The answers are compared with plain C.
 *   usage: oclgrind_batch single|double M N K COUNT [SHAPE]
 * SPDX-License-Identifier: MIT
 */
#include "stdcl/matmul.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t m, n, k, count;
static bool in_double;

static double batch_element(const void *x, size_t i)
{
    return in_double ? ((const double *)x)[i] : (double)((const float *)x)[i];
}

/* Small integers, whose sums are exact. */
static void *filled(CLCONTEXT *cp, size_t elements)
{
    void *x = clmalloc(cp, elements * (in_double ? sizeof(double) : sizeof(float)), 0);
    for (size_t i = 0; x && i < elements; i++) {
        const double v = (double)(i * 7 % 11) - 5;
        if (in_double)
            ((double *)x)[i] = v;
        else
            ((float *)x)[i] = (float)v;
    }
    return x;
}

/* C = A B^T. */
static int wrong_elements(const void *a, const void *b, const void *c)
{
    for (size_t p = 0; p < count; p++)
        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j < n; j++) {
                double sum = 0;
                for (size_t l = 0; l < k; l++)
                    sum += batch_element(a, (p * m + i) * k + l) *
                           batch_element(b, (p * n + j) * k + l);
                const double got = batch_element(c, (p * m + i) * n + j);
                if (got != sum) {
                    fprintf(stderr,
                            "oclgrind_batch: element (%zu, %zu) of product %zu is %g, not %g\n", i,
                            j, p, got, sum);
                    return 1;
                }
            }
    return 0;
}

int main(int argc, char **argv)
{
    CLCONTEXT *cp = stddev;
    if (argc < 6 || argc > 7 || !cp) {
        fprintf(
            stderr,
            "usage: oclgrind_batch single|double M N K COUNT [SHAPE], on a machine with a device\n");
        return 2;
    }
    in_double = strcmp(argv[1], "double") == 0;
    m = strtoul(argv[2], NULL, 10);
    n = strtoul(argv[3], NULL, 10);
    k = strtoul(argv[4], NULL, 10);
    count = strtoul(argv[5], NULL, 10);
    matmul *mm = matmul_create(&(struct matmul_options){
        .ctx = cp, .precision = in_double ? MATMUL_DOUBLE : MATMUL_SINGLE, .shape = argv[6]});
    void *a = filled(cp, count * m * k), *b = filled(cp, count * n * k),
         *c = filled(cp, count * m * n);
    if (!mm || !a || !b || !c || clmsync(cp, 0, a, CL_MEM_DEVICE) ||
        clmsync(cp, 0, b, CL_MEM_DEVICE) || clmsync(cp, 0, c, CL_MEM_DEVICE) ||
        (count == 1 ? matmul_enqueue(mm, 0, MATMUL_NT, m, n, k, 1, a, 0, b, 0, 0, c, 0)
                    : matmul_batch(mm, 0, MATMUL_NT, m, n, k, 1, a, 0, m * k, b, 0, n * k, 0, c, 0,
                                   m * n, count)) ||
        clmsync(cp, 0, c, CL_MEM_HOST) || clwait(cp, 0, CL_ALL_EVENT)) {
        fprintf(stderr, "oclgrind_batch: %s\n", clerror());
        return 1;
    }
    const int bad = wrong_elements(a, b, c);
    clfree(a);
    clfree(b);
    clfree(c);
    matmul_free(mm);
    return bad;
}
