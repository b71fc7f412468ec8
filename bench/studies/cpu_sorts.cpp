/* cpu_sorts.cpp - sorts of the host beside libstdc++'s parallel sort and Boost's spreadsort. By
 * hand, from the repository:
 *
 *   gcc -O3 -I include -I . -c arrays/sort_host.c
 *   g++ -O3 -march=native -fopenmp -I include -I . -o cpu_sorts bench/studies/cpu_sorts.cpp *.o
 *
 * Usage: taskset -c 0,1 cpu_sorts [RUNS [LOG2...]]. For each number of elements, sizes of keys, and
 * with and without 32-bit values: the same random keys by each sort, alternately, RUNS (11) rounds;
 * a line with the medians of the seconds of a call and of the seconds of all processors, and the
 * medians of the rounds' ratios: the faster peer's by ours. Peers sort pairs for keys with values.
 * Results are checked. Scans: cpu_scans.c.
 * SPDX-License-Identifier: MIT
 */
#include <boost/sort/spreadsort/integer_sort.hpp>
#include <parallel/algorithm>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <random>
#include <vector>

extern "C" {
#include "arrays/sort_host.h"
}

using std::vector;

/* Seconds since some time, and of all processors that the process has used. */
struct moment {
    double wall, processors;
    moment operator-(moment b) const
    {
        return {wall - b.wall, processors - b.processors};
    }
};

static moment now()
{
    timespec w, p;
    clock_gettime(CLOCK_MONOTONIC, &w);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &p);
    return {(double)w.tv_sec + 1e-9 * (double)w.tv_nsec,
            (double)p.tv_sec + 1e-9 * (double)p.tv_nsec};
}

/* Times of the rounds of one program. */
struct times {
    vector<double> wall, processors;
    void add(moment m)
    {
        wall.push_back(m.wall), processors.push_back(m.processors);
    }
};

static double median(vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

static void die(const char *what)
{
    fprintf(stderr, "cpu_sorts: %s\n", what);
    exit(1);
}

static thread_pool *pool;

template <class Key> struct pair_of {
    Key key;
    uint32_t value;
    bool operator<(const pair_of &other) const
    {
        return key < other.key;
    }
};

/* The key's bits from `shift` on, for spreadsort. */
struct right_shift {
    template <class Key> Key operator()(const pair_of<Key> &p, unsigned shift) const
    {
        return p.key >> shift;
    }
    template <class Key> Key operator()(Key key, unsigned shift) const
    {
        return key >> shift;
    }
};

template <class T, class Sort>
static moment time_of(vector<T> &work, const vector<T> &first, Sort sort)
{
    std::copy(first.begin(), first.end(), work.begin());
    const moment start = now();
    sort(work);
    return now() - start;
}

template <class Key, class T>
static void sorts(const char *name, int bytes, size_t n, int runs, Key *keys, uint32_t *values)
{
    std::mt19937_64 random(n + bytes);
    vector<T> first(n), work(n);
    vector<Key> first_keys(n);
    for (size_t i = 0; i < n; i++) {
        first_keys[i] = (Key)random();
        if constexpr (sizeof(T) > sizeof(Key))
            first[i] = T{first_keys[i], (uint32_t)i};
        else
            first[i] = first_keys[i];
    }
    sort_host job{};
    job.keys = keys;
    job.values = values;
    job.key_bytes = bytes;
    job.value_bytes = values ? sizeof *values : 0;
    job.n = n;
    job.bits = 8 * bytes;
    void *space = aligned_alloc(4096, (arrays_sort_host_workspace(&job) + 4095) / 4096 * 4096);
    times host, parallel, spread;
    vector<double> ratio, ratio_processors;
    for (int run = -1; run < runs; run++) {
        memcpy(keys, first_keys.data(), n * sizeof(Key));
        for (size_t i = 0; values && i < n; i++)
            values[i] = (uint32_t)i;
        const moment start = now();
        arrays_sort_host(&job, &pool, space);
        const moment h = now() - start;
        if (!std::is_sorted(keys, keys + n))
            die("not sorted");
        const moment p =
            time_of(work, first, [](vector<T> &v) { __gnu_parallel::sort(v.begin(), v.end()); });
        const moment b = time_of(work, first, [](vector<T> &v) {
            boost::sort::spreadsort::integer_sort(v.begin(), v.end(), right_shift(),
                                                  std::less<T>());
        });
        if (run < 0)
            continue;
        host.add(h), parallel.add(p), spread.add(b);
        ratio.push_back(std::min(p.wall, b.wall) / h.wall);
        ratio_processors.push_back(std::min(p.processors, b.processors) / h.processors);
    }
    printf(
        "{\"case\": \"%s\", \"n\": %zu, \"s\": %.3g, \"parallel_sort_s\": %.3g, \"spreadsort_s\": %.3g, \"of_faster_peer\": %.2f, "
        "\"processors_s\": [%.3g, %.3g, %.3g], \"processors_of_faster_peer\": %.2f},\n",
        name, n, median(host.wall), median(parallel.wall), median(spread.wall), median(ratio),
        median(host.processors), median(parallel.processors), median(spread.processors),
        median(ratio_processors));
    fflush(stdout);
    free(space);
}

int main(int argc, char **argv)
{
    const int runs = argc > 1 ? atoi(argv[1]) : 11;
    vector<int> logs;
    for (int i = 2; i < argc; i++)
        logs.push_back(atoi(argv[i]));
    if (logs.empty())
        logs = {20, 24};
    for (int log : logs) {
        const size_t n = (size_t)1 << log;
        void *keys = aligned_alloc(4096, 8 * n), *more = aligned_alloc(4096, 8 * n);
        if (!keys || !more)
            die("out of memory");
        sorts<uint32_t, uint32_t>("sort.32.keys", 4, n, runs, (uint32_t *)keys, nullptr);
        sorts<uint32_t, pair_of<uint32_t>>("sort.32.pairs", 4, n, runs, (uint32_t *)keys,
                                           (uint32_t *)more);
        sorts<uint64_t, uint64_t>("sort.64.keys", 8, n, runs, (uint64_t *)keys, nullptr);
        sorts<uint64_t, pair_of<uint64_t>>("sort.64.pairs", 8, n, runs, (uint64_t *)keys,
                                           (uint32_t *)more);
        free(keys);
        free(more);
    }
    return 0;
}
