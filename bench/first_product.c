/* first_product.c - the first products of a process, including the creation of the engine;
 * bench/first_product.sh runs it alternately with its peer.
 *
 *   first_product tuned|openblas single|double N
 *
 * Print one line: milliseconds of the first product with matmul_create, of the next three, and the
 * error. The device's context and the matrices exist before, with all pages written.
 * SPDX-License-Identifier: MIT
 */
#include "bench/common.h"
#include "core/clock.h"

#include <stdcl/matmul.h>

#include <stdio.h>
#include <stdlib.h>

enum { PRODUCTS = 4 };

static void *make_first_matrix(enum matmul_precision precision, size_t n, uint32_t which)
{
    void *x = aligned_alloc(4096, (n * n * sizeof(double) + 4095) / 4096 * 4096);
    if (!x)
        die("memory");
    matmul_random(precision, 7, which, n, n, x, n);
    return x;
}

int main(int argc, char **argv)
{
    const size_t n = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
    if (n == 0 || n > 20000) {
        fprintf(stderr, "usage: first_product tuned|openblas single|double N\n");
        return 2;
    }
    const enum matmul_precision precision =
        strcmp(argv[2], "double") == 0 ? MATMUL_DOUBLE : MATMUL_SINGLE;
    CLCONTEXT *cpu = bench_open("cpu", 1);
    if (!cpu)
        die("no CPU device");
    void *a = make_first_matrix(precision, n, 1), *b = make_first_matrix(precision, n, 2),
         *c = make_first_matrix(precision, n, 3);
    double start = seconds_now();
    matmul *mm = matmul_create(&(struct matmul_options){
        .ctx = cpu,
        .precision = precision,
        .kind = strcmp(argv[1], "openblas") == 0 ? MATMUL_OPENBLAS : MATMUL_TUNED});
    for (int i = 0; mm && i < PRODUCTS; i++) {
        if (matmul_multiply(mm, MATMUL_NN, n, n, n, 1, a, n, b, n, 0, c, n) != 0)
            die("product");
        const double now = seconds_now();
        printf("%s%.3f", i ? " " : "", 1e3 * (now - start));
        start = now;
    }
    if (!mm)
        die("engine");
    const double error =
        matmul_error(precision, MATMUL_NN, n, n, n, 1, a, n, b, n, 0, NULL, c, n, 16);
    printf(" %.2g\n", error);
    if (!(error <= matmul_tolerance(precision, n, 1))) {
        fprintf(stderr, "first_product: the result is wrong\n");
        return 1;
    }
    matmul_free(mm);
    free(a);
    free(b);
    free(c);
    clcontext_destroy(cpu);
    return 0;
}
