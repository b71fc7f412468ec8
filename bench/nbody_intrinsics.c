/* nbody_intrinsics.c - CPU peer of direct sums: accelerations in double precision by hand-written
 * SIMD.
 *
 * Bodies i in registers, some vectors of each coordinate, bodies j broadcast from memory. r^-3 as
 * in the engine (root.cl): the hardware's estimate, with a series in its residue. AVX2 has no
 * estimate for doubles and uses a root and a division. The best numbers of vectors are 4 for
 * AVX-512, 2 for AVX2.
 * SPDX-License-Identifier: MIT
 */
#include "bench/nbody_intrinsics.h"

#if defined __x86_64__ && defined __GNUC__
#include <immintrin.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define UNROLLED _Pragma("GCC unroll 8")
enum { VECTORS_512 = 4, VECTORS_256 = 2, ROWS = 32 }; /* ROWS: a multiple of both */

/* One call: bodies are handed out ROWS at a time. */
struct call {
    size_t n, padded;
    double eps2;
    const double (*posm)[4];
    double *x, *a; /* three planes each */
    void (*rows)(const struct call *c, size_t i);
    atomic_size_t next;
};

__attribute__((target("avx512f"))) static void rows_512(const struct call *c, size_t first)
{
    enum { V = VECTORS_512 };
    const __m512d eps2 = _mm512_set1_pd(c->eps2), one = _mm512_set1_pd(1);
    const __m512d c1 = _mm512_set1_pd(3. / 2), c2 = _mm512_set1_pd(15. / 8),
                  c3 = _mm512_set1_pd(35. / 16);
    for (size_t i = first; i < first + ROWS; i += 8 * V) {
        __m512d x[3][V], a[3][V];
        UNROLLED for (size_t k = 0; k < V; k++) UNROLLED for (size_t d = 0; d < 3; d++)
        {
            x[d][k] = _mm512_loadu_pd(c->x + d * c->padded + i + 8 * k);
            a[d][k] = _mm512_setzero_pd();
        }
        for (size_t j = 0; j < c->n; j++) {
            const double *b = c->posm[j];
            const __m512d bx = _mm512_set1_pd(b[0]), by = _mm512_set1_pd(b[1]),
                          bz = _mm512_set1_pd(b[2]), m = _mm512_set1_pd(b[3]);
            UNROLLED for (size_t k = 0; k < V; k++)
            {
                const __m512d dx = _mm512_sub_pd(bx, x[0][k]), dy = _mm512_sub_pd(by, x[1][k]),
                              dz = _mm512_sub_pd(bz, x[2][k]);
                const __m512d r2 =
                    _mm512_fmadd_pd(dx, dx, _mm512_fmadd_pd(dy, dy, _mm512_fmadd_pd(dz, dz, eps2)));
                const __m512d y = _mm512_rsqrt14_pd(r2), yy = _mm512_mul_pd(y, y),
                              e = _mm512_fnmadd_pd(r2, yy, one);
                const __m512d q =
                    _mm512_fmadd_pd(_mm512_fmadd_pd(_mm512_fmadd_pd(c3, e, c2), e, c1), e, one);
                const __m512d s = _mm512_mul_pd(_mm512_mul_pd(_mm512_mul_pd(m, y), yy), q);
                a[0][k] = _mm512_fmadd_pd(s, dx, a[0][k]);
                a[1][k] = _mm512_fmadd_pd(s, dy, a[1][k]);
                a[2][k] = _mm512_fmadd_pd(s, dz, a[2][k]);
            }
        }
        UNROLLED for (size_t k = 0; k < V; k++) UNROLLED for (size_t d = 0; d < 3; d++)
            _mm512_storeu_pd(c->a + d * c->padded + i + 8 * k, a[d][k]);
    }
}

__attribute__((target("avx2,fma"))) static void rows_256(const struct call *c, size_t first)
{
    enum { V = VECTORS_256 };
    const __m256d eps2 = _mm256_set1_pd(c->eps2);
    for (size_t i = first; i < first + ROWS; i += 4 * V) {
        __m256d x[3][V], a[3][V];
        UNROLLED for (size_t k = 0; k < V; k++) UNROLLED for (size_t d = 0; d < 3; d++)
        {
            x[d][k] = _mm256_loadu_pd(c->x + d * c->padded + i + 4 * k);
            a[d][k] = _mm256_setzero_pd();
        }
        for (size_t j = 0; j < c->n; j++) {
            const double *b = c->posm[j];
            const __m256d bx = _mm256_set1_pd(b[0]), by = _mm256_set1_pd(b[1]),
                          bz = _mm256_set1_pd(b[2]), m = _mm256_set1_pd(b[3]);
            UNROLLED for (size_t k = 0; k < V; k++)
            {
                const __m256d dx = _mm256_sub_pd(bx, x[0][k]), dy = _mm256_sub_pd(by, x[1][k]),
                              dz = _mm256_sub_pd(bz, x[2][k]);
                const __m256d r2 =
                    _mm256_fmadd_pd(dx, dx, _mm256_fmadd_pd(dy, dy, _mm256_fmadd_pd(dz, dz, eps2)));
                const __m256d s = _mm256_div_pd(m, _mm256_mul_pd(r2, _mm256_sqrt_pd(r2)));
                a[0][k] = _mm256_fmadd_pd(s, dx, a[0][k]);
                a[1][k] = _mm256_fmadd_pd(s, dy, a[1][k]);
                a[2][k] = _mm256_fmadd_pd(s, dz, a[2][k]);
            }
        }
        UNROLLED for (size_t k = 0; k < V; k++) UNROLLED for (size_t d = 0; d < 3; d++)
            _mm256_storeu_pd(c->a + d * c->padded + i + 4 * k, a[d][k]);
    }
}

static void *intrinsics_work(void *arg)
{
    struct call *c = arg;
    for (size_t i; (i = atomic_fetch_add(&c->next, ROWS)) < c->padded;)
        c->rows(c, i);
    return NULL;
}

const char *intrinsics_called(void)
{
    return __builtin_cpu_supports("avx512f")                                 ? "AVX-512"
           : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? "AVX2"
                                                                             : NULL;
}

int intrinsics_forces(size_t n, double eps, const double (*posm)[4], double (*acc)[3],
                      unsigned threads)
{
    struct call c = {.n = n,
                     .padded = (n + ROWS - 1) / ROWS * ROWS,
                     .eps2 = eps * eps,
                     .posm = posm,
                     .rows = __builtin_cpu_supports("avx512f") ? rows_512 : rows_256};
    pthread_t *thread = calloc(threads, sizeof *thread);
    unsigned started = 0;
    c.x = calloc(6 * c.padded, sizeof *c.x);
    if (thread && c.x) {
        c.a = c.x + 3 * c.padded;
        for (size_t i = 0; i < n; i++)
            for (size_t d = 0; d < 3; d++)
                c.x[d * c.padded + i] = posm[i][d];
        while (started < threads &&
               pthread_create(&thread[started], NULL, intrinsics_work, &c) == 0)
            started++;
        for (unsigned t = 0; t < started; t++)
            pthread_join(thread[t], NULL);
        for (size_t i = 0; i < n; i++)
            for (size_t d = 0; d < 3; d++)
                acc[i][d] = c.a[d * c.padded + i];
    }
    free(thread);
    free(c.x);
    return threads > 0 && started == threads ? 0 : -1;
}

#else
const char *intrinsics_called(void)
{
    return NULL;
}

int intrinsics_forces(size_t n, double eps, const double (*posm)[4], double (*acc)[3],
                      unsigned threads)
{
    (void)n, (void)eps, (void)posm, (void)acc, (void)threads;
    return -1;
}
#endif
