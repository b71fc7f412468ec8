/* cpu_selections.c - selections, sums by key and histograms of the host beside plain loops and
 * OpenMP's. By hand, from the repository:
 *
 *   gcc -O3 -march=native -fopenmp -ffp-contract=off -D_GNU_SOURCE -I include -I . \
 *       -o cpu_selections bench/studies/cpu_selections.c arrays/select_host.c \
 *       arrays/segments_host.c -lpthread
 *
 * Usage: taskset -c 0 cpu_selections [ROUNDS [LOG2...]]. Data as in bench_select. Results are
 * compared with the plain loop; then, alternately, the three are timed. A line for each case with
 * the median times in microseconds, of the processor if there is only one. Set OMP_NUM_THREADS, and
 * OMP_WAIT_POLICY=passive: idle threads of OpenMP else occupy the processors. OpenMP: parts
 * of the array are counted and then written, without a branch that depends on the flags; histograms
 * are counted in an array for each thread.
 * SPDX-License-Identifier: MIT
 */
#include "arrays/segments_host.h"
#include "arrays/select_host.h"
#include "core/thread_pool.h"

#include <omp.h>
#include <stdio.h>
#include <time.h>

enum { LOWEST = -1000000, HIGHEST = 1000000, BINS = 256, RUN = 8, ROUNDS_MAX = 1001 };
enum { SELECT, UNIQUE, BY_KEY, BYTES, INTEGERS, CASES };
enum { PLAIN, OPENMP, HOST, WAYS };

static size_t n, number[WAYS];
static uint32_t *x, *out[WAYS];
static int32_t *range;
static float *values, *sums[WAYS];
static uint8_t *flags, *bytes;
static cl_uint bins[WAYS][BINS];
static struct thread_pool *pool;

static uint64_t draw_bits(size_t i)
{
    uint64_t z = (uint64_t)(i + 1) * 0x9E3779B97F4A7C15u; /* splitmix64 */
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static bool kept(int which, size_t i)
{
    return which == SELECT ? flags[i] != 0 : i == 0 || x[i] != x[i - 1];
}

static void plain_select(int which)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        if (kept(which, i))
            out[PLAIN][k++] = x[i];
    number[PLAIN] = k;
}

static void openmp_select(int which)
{
    size_t first[64] = {0};
#pragma omp parallel
    {
        const size_t t = (size_t)omp_get_thread_num(), threads = (size_t)omp_get_num_threads(),
                     from = n / threads * t, end = t + 1 < threads ? from + n / threads : n;
        size_t count = 0;
        for (size_t i = from; i < end; i++)
            count += kept(which, i);
        first[t + 1] = count;
#pragma omp barrier
        size_t k = 0;
        for (size_t i = 0; i <= t; i++)
            k += first[i];
        const size_t last = k + count;
        for (size_t i = from; i < end && k < last; i++) {
            out[OPENMP][k] = x[i];
            k += kept(which, i);
        }
#pragma omp single
        for (size_t i = 0, all = number[OPENMP] = 0; i < threads; i++)
            number[OPENMP] = all += first[i + 1];
    }
}

static void loop_by_key(int which)
{
    size_t runs = 0;
    (void)which;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || x[i] != x[i - 1]) {
            out[PLAIN][runs] = x[i];
            sums[PLAIN][runs++] = 0;
        }
        sums[PLAIN][runs - 1] += values[i];
    }
    number[PLAIN] = runs;
}

static size_t even_bin(int which, size_t i)
{
    return which == BYTES ? bytes[i]
                          : (uint64_t)(range[i] - LOWEST) * BINS / (uint64_t)(HIGHEST - LOWEST);
}

static void plain_histogram(int which)
{
    memset(bins[PLAIN], 0, sizeof bins[PLAIN]);
    for (size_t i = 0; i < n; i++)
        bins[PLAIN][even_bin(which, i)]++;
}

static void openmp_histogram(int which)
{
    memset(bins[OPENMP], 0, sizeof bins[OPENMP]);
#pragma omp parallel
    {
        cl_uint own[BINS] = {0};
#pragma omp for
        for (size_t i = 0; i < n; i++)
            own[even_bin(which, i)]++;
#pragma omp critical
        for (size_t b = 0; b < BINS; b++)
            bins[OPENMP][b] += own[b];
    }
}

static void host_work(int which)
{
    const struct select_host_job job = {x, which == SELECT ? flags : NULL, out[HOST], 4, n};
    const struct by_key_host_job runs = {x, values, out[HOST], sums[HOST], 4, n, ARRAYS_FLOAT};
    const struct bin_bounds b = {
        .whole = {which == BYTES ? 0 : LOWEST, which == BYTES ? 256 : HIGHEST}};
    const struct histogram_host_job histogram = {which == BYTES ? (void *)bytes : range,
                                                 bins[HOST],
                                                 ARRAYS_INT,
                                                 which == BYTES,
                                                 &b,
                                                 BINS,
                                                 n};
    if (which <= UNIQUE)
        number[HOST] = arrays_select_host(&pool, &job);
    else if (which == BY_KEY)
        number[HOST] = arrays_by_key_host(&pool, &runs);
    else
        arrays_histogram_host(&pool, &histogram);
}

static double seconds_since_start(void)
{
    struct timespec t;
    clock_gettime(pool && pool->threads ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static int faster_run(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static void check_selection(int which, int way)
{
    const bool right =
        which >= BYTES
            ? memcmp(bins[way], bins[PLAIN], sizeof bins[PLAIN]) == 0
            : number[way] == number[PLAIN] && memcmp(out[way], out[PLAIN], 4 * number[way]) == 0 &&
                  (which < BY_KEY || memcmp(sums[way], sums[PLAIN], 4 * number[way]) == 0);
    if (right)
        return;
    fprintf(stderr, "cpu_selections: a wrong result in case %d, way %d\n", which, way);
    exit(1);
}

static void bench_case(int which, int rounds)
{
    static const char *const names[] = {"select.32", "unique.32", "by_key.32", "histogram.bytes",
                                        "histogram.256"};
    void (*const ways[WAYS])(int) = {which < BY_KEY    ? plain_select
                                     : which == BY_KEY ? loop_by_key
                                                       : plain_histogram,
                                     which < BY_KEY    ? openmp_select
                                     : which == BY_KEY ? NULL
                                                       : openmp_histogram,
                                     host_work};
    static double t[WAYS][ROUNDS_MAX];
    for (int way = 0; way < WAYS; way++)
        if (ways[way]) {
            ways[way](which);
            check_selection(which, way);
        }
    for (int r = 0; r < rounds; r++)
        for (int way = 0; way < WAYS; way++) {
            const double start = seconds_since_start();
            if (ways[way])
                ways[way](which);
            t[way][r] = seconds_since_start() - start;
        }
    for (int way = 0; way < WAYS; way++)
        qsort(t[way], (size_t)rounds, sizeof t[way][0], faster_run);
    printf("{\"case\": \"%s\", \"n\": %zu, \"plain_us\": %.4g, ", names[which], n,
           t[PLAIN][rounds / 2]);
    if (ways[OPENMP])
        printf("\"openmp_us\": %.4g, ", t[OPENMP][rounds / 2]);
    printf("\"us\": %.4g},\n", t[HOST][rounds / 2]);
    fflush(stdout);
}

static void *array_of(size_t width)
{
    void *memory = aligned_alloc(4096, (n * width + 4095) / 4096 * 4096);
    if (!memory)
        exit(1);
    memset(memory, 0, n * width);
    return memory;
}

int main(int argc, char **argv)
{
    const int given = argc > 1 ? atoi(argv[1]) : 21,
              rounds = given < 1 || given > ROUNDS_MAX ? ROUNDS_MAX : given;
    for (int a = 2; a < argc || a == 2; a++) {
        n = (size_t)1 << (argc > 2 ? atoi(argv[a]) : 24);
        x = array_of(4), range = array_of(4), values = array_of(4);
        flags = array_of(1), bytes = array_of(1);
        for (int way = 0; way < WAYS; way++)
            out[way] = array_of(4), sums[way] = array_of(4);
        for (size_t i = 0; i < n; i++) {
            const uint64_t r = draw_bits(i);
            x[i] = (uint32_t)((i + draw_bits(i / RUN) % RUN) / RUN);
            values[i] = (float)(r % 100);
            flags[i] = r >> 40 & 1;
            bytes[i] = (uint8_t)r;
            range[i] = (int32_t)(r % (HIGHEST - LOWEST)) + LOWEST;
        }
        for (int which = 0; which < CASES; which++)
            bench_case(which, rounds);
    }
    thread_pool_free(pool);
    return 0;
}
