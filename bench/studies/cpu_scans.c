/* cpu_scans.c - prefix sums of the host beside copies by the same threads. By hand, from the
 * repository (scan_host.c once for each set of instructions, as arrays/CMakeLists.txt compiles it):
 *
 *   gcc -O3 -I include -I . -c arrays/scan_host_threads.c ...
 *   gcc -O3 -I include -I . -o cpu_scans bench/studies/cpu_scans.c *.o -lpthread
 *
 * Usage: taskset -c 0,1 cpu_scans [ROUNDS [LOG2...]]. For each number of elements and each type,
 * alternately: two copies, by memcpy and by non-temporal stores (AVX-512, AVX2 or SSE2, as
 * compiled); a scan beside its input; an update of each element in place; a scan in place. A line
 * with the shortest times and with the medians in microseconds, of the processor if there is only
 * one, and the ratios: of_copy, the faster copy's time by the scan's; of_update, the update's by
 * the scan's in place. Arrays are aligned to 4096 bytes. Results are checked.
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "arrays/scan_host_threads.h"
#include "core/thread_pool.h"

#include <immintrin.h>
#include <stdio.h>
#include <time.h>

enum { COPY, STREAM, SCAN, UPDATE, SCAN_IN_PLACE, WORKS, ROUNDS_MAX = 1001 };

static struct thread_pool *pool;
static char *from, *to;
static size_t bytes_of_all, parts;

static size_t part_begin(size_t part)
{
    return bytes_of_all / 64 * part / parts * 64;
}

static void copy_part(void *arg, size_t part)
{
    (void)arg;
    const size_t a = part_begin(part), b = part_begin(part + 1);
    memcpy(to + a, from + a, b - a);
}

static void stream_part(void *arg, size_t part)
{
    (void)arg;
    for (size_t i = part_begin(part), end = part_begin(part + 1); i < end; i += 64) {
#if defined(__AVX512F__)
        _mm512_stream_si512((__m512i *)(to + i), _mm512_loadu_si512(from + i));
#elif defined(__AVX2__)
        _mm256_stream_si256((__m256i *)(to + i), _mm256_loadu_si256((__m256i *)(from + i)));
        _mm256_stream_si256((__m256i *)(to + i + 32),
                            _mm256_loadu_si256((__m256i *)(from + i + 32)));
#else
        for (size_t k = i; k < i + 64; k += 16)
            _mm_stream_si128((__m128i *)(to + k), _mm_loadu_si128((__m128i *)(from + k)));
#endif
    }
    _mm_sfence();
}

static void update_part(void *arg, size_t part)
{
    (void)arg;
    uint64_t *x = (uint64_t *)to;
    for (size_t i = part_begin(part) / 8, end = part_begin(part + 1) / 8; i < end; i++)
        x[i] += 3;
}

static void scan_bench_work(int work, int kind)
{
    struct scan_host_job job = {.kind = kind,
                                .sums = to,
                                .x = work == SCAN ? from : to,
                                .n = bytes_of_all / (kind % 2 ? 8 : 4)};
    void (*const loops[])(void *, size_t) = {
        [COPY] = copy_part, [STREAM] = stream_part, [UPDATE] = update_part};
    if (work == SCAN || work == SCAN_IN_PLACE)
        arrays_scan_host_threads(arrays_scan_host(), &pool, &job);
    else if (parts > 1)
        thread_pool_for(pool, parts, true, loops[work], NULL);
    else
        loops[work](NULL, 0);
}

static double scan_bench_now(void)
{
    struct timespec t;
    clock_gettime(parts > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int less(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static void scan_bench_fill(int kind, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (kind == SCAN_HOST_FLOAT)
            ((float *)from)[i] = (float)(i % 3);
        else if (kind == SCAN_HOST_DOUBLE)
            ((double *)from)[i] = (double)(i % 3);
        else if (kind == SCAN_HOST_32)
            ((uint32_t *)from)[i] = (uint32_t)(i * 2654435761u);
        else
            ((uint64_t *)from)[i] = i * 2654435761u;
}

static void scan_bench_check(int kind, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        const int right = kind == SCAN_HOST_FLOAT ? ((float *)to)[i] == (float)sum || sum > 1 << 24
                          : kind == SCAN_HOST_DOUBLE ? ((double *)to)[i] == (double)sum
                          : kind == SCAN_HOST_32     ? ((uint32_t *)to)[i] == (uint32_t)sum
                                                     : ((uint64_t *)to)[i] == sum;
        if (!right) {
            fprintf(stderr, "cpu_scans: a wrong sum before element %zu\n", i);
            exit(1);
        }
        sum += kind == SCAN_HOST_FLOAT || kind == SCAN_HOST_DOUBLE ? i % 3
               : kind == SCAN_HOST_32                              ? (uint32_t)(i * 2654435761u)
                                                                   : i * 2654435761u;
    }
}

static void scan_bench(int kind, size_t n, int rounds)
{
    static const char *const names[] = {"scan.32", "scan.64", "scan.float", "scan.double"};
    static double t[WORKS][ROUNDS_MAX];
    bytes_of_all = n * (kind % 2 ? 8 : 4);
    scan_bench_fill(kind, n);
    scan_bench_work(SCAN, kind);
    scan_bench_check(kind, n);
    scan_bench_work(COPY, kind);
    scan_bench_work(SCAN_IN_PLACE, kind);
    scan_bench_check(kind, n);
    for (int r = 0; r < rounds; r++)
        for (int w = 0; w < WORKS; w++) {
            const double start = scan_bench_now();
            scan_bench_work(w, kind);
            t[w][r] = scan_bench_now() - start;
        }
    for (int w = 0; w < WORKS; w++)
        qsort(t[w], (size_t)rounds, sizeof t[w][0], less);
    printf("{\"case\": \"%s\", \"n\": %zu, \"threads\": %zu", names[kind], n, parts);
    for (int last = 0, m = rounds / 2; last < 2; last++) {
        const int r = last ? m : 0;
        const double copy = t[COPY][r] < t[STREAM][r] ? t[COPY][r] : t[STREAM][r];
        printf(", \"%s_us\": {\"memcpy\": %.4g, \"stream\": %.4g, \"scan\": %.4g, \"update\": "
               "%.4g, \"in_place\": %.4g, \"of_copy\": %.2f, \"of_update\": %.2f}",
               last ? "median" : "least", t[COPY][r], t[STREAM][r], t[SCAN][r], t[UPDATE][r],
               t[SCAN_IN_PLACE][r], copy / t[SCAN][r], t[UPDATE][r] / t[SCAN_IN_PLACE][r]);
    }
    puts("},");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const int given = argc > 1 ? atoi(argv[1]) : 101, rounds = given < 1            ? 1
                                                               : given > ROUNDS_MAX ? ROUNDS_MAX
                                                                                    : given;
    pool = thread_pool_create(THREAD_POOL_MOST);
    if (!pool)
        return 1;
    parts = pool->threads + 1;
    for (int i = 2; i < argc || i == 2; i++) {
        const size_t n = (size_t)1 << (argc > 2 ? atoi(argv[i]) : 24);
        from = aligned_alloc(4096, 8 * n);
        to = aligned_alloc(4096, 8 * n);
        if (!from || !to)
            return 1;
        for (int kind = 0; kind < SCAN_HOST_KINDS; kind++)
            scan_bench(kind, n, rounds);
        free(from);
        free(to);
    }
    thread_pool_free(pool);
    return 0;
}
