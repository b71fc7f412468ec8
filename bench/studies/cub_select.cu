/* cub_select.cu - the peer of bench_select on NVIDIA's GPUs: CUB's selections, sums by key and of segments, and histograms, which
 * come with CUDA. By hand:
 *
 *   nvcc -O3 -std=c++17 -arch=native -o BUILD/bench/cub_select bench/studies/cub_select.cu
 *
 * bench_select finds it beside itself. Usage: cub_select CASE COUNT RUNS, with a case of bench_select; prints the median seconds of
 * a call on memory of the device, by the host's clock from the call until the device is done, and by events on the device. The data
 * are those of bench_select, which checks its own results.
 * SPDX-License-Identifier: MIT
 */
#include <cub/cub.cuh>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                          \
    do {                                                                                     \
        const cudaError_t error = (call);                                                    \
        if (error != cudaSuccess) {                                                          \
            fprintf(stderr, "cub_select: %s: %s\n", #call, cudaGetErrorString(error));       \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

enum { SEGMENT = 64, RUN = 8, LOWEST = -1000000, HIGHEST = 1000000 }; /* as bench_select */

__device__ uint64_t random_bits(size_t i)
{
    uint64_t z = (uint64_t)(i + 1) * 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* Arrays on the device. */
struct arrays {
    uint64_t *random_64;
    uint32_t *random, *runs, *offsets, *out, *bins, *number;
    uint64_t *out_64;
    float *values, *sums;
    uint8_t *flags, *bytes;
    int32_t *range;
};

__global__ void fill(arrays a, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x) {
        const uint64_t r = random_bits(i);
        a.random_64[i] = r;
        a.random[i] = (uint32_t)r;
        a.flags[i] = r >> 40 & 1;
        a.bytes[i] = (uint8_t)r;
        a.runs[i] = (uint32_t)((i + random_bits(i / RUN) % RUN) / RUN);
        a.values[i] = (float)(r % 100);
        a.range[i] = (int32_t)(r % (HIGHEST - LOWEST)) + LOWEST;
        if (i % SEGMENT == 0)
            a.offsets[i / SEGMENT] = (uint32_t)i;
        if (i == 0)
            a.offsets[(n + SEGMENT - 1) / SEGMENT] = (uint32_t)n;
    }
}

template <class T> static T *make(size_t n)
{
    T *memory;
    CHECK(cudaMalloc(&memory, n * sizeof(T)));
    return memory;
}

struct sum {
    __host__ __device__ float operator()(float a, float b) const
    {
        return a + b;
    }
};

static cudaError_t start(const char *what, const arrays &a, void *work, size_t &size, int n)
{
    if (!strcmp(what, "select.32"))
        return cub::DeviceSelect::Flagged(work, size, a.random, a.flags, a.out, a.number, n);
    if (!strcmp(what, "select.64"))
        return cub::DeviceSelect::Flagged(work, size, a.random_64, a.flags, a.out_64, a.number, n);
    if (!strcmp(what, "unique.32"))
        return cub::DeviceSelect::Unique(work, size, a.runs, a.out, a.number, n);
    if (!strcmp(what, "by_key.32"))
        return cub::DeviceReduce::ReduceByKey(work, size, a.runs, a.out, a.values, a.sums, a.number, sum(), n);
    if (!strcmp(what, "segments.32"))
        return cub::DeviceSegmentedReduce::Sum(work, size, a.values, a.sums, (n + SEGMENT - 1) / SEGMENT, a.offsets, a.offsets + 1);
    if (!strcmp(what, "histogram.bytes"))
        return cub::DeviceHistogram::HistogramEven(work, size, a.bytes, a.bins, 257, 0, 256, n);
    if (!strcmp(what, "histogram.256") || !strcmp(what, "histogram.4096"))
        return cub::DeviceHistogram::HistogramEven(work, size, a.range, a.bins, atoi(what + 10) + 1, (int)LOWEST, (int)HIGHEST, n);
    fprintf(stderr, "cub_select: there is no case %s\n", what);
    exit(2);
}

int main(int argc, char **argv)
{
    const int runs = argc == 4 ? atoi(argv[3]) : 0;
    if (runs < 1) {
        fprintf(stderr, "usage: cub_select CASE COUNT RUNS\n");
        return 2;
    }
    const size_t n = strtoull(argv[2], nullptr, 10);
    arrays a = {make<uint64_t>(n), make<uint32_t>(n), make<uint32_t>(n), make<uint32_t>(n / SEGMENT + 2), make<uint32_t>(n),
                make<uint32_t>(4096), make<uint32_t>(1), make<uint64_t>(n), make<float>(n), make<float>(n), make<uint8_t>(n),
                make<uint8_t>(n), make<int32_t>(n)};
    fill<<<1024, 256>>>(a, n);
    void *work = nullptr;
    size_t size = 0;
    CHECK(start(argv[1], a, work, size, (int)n));
    CHECK(cudaMalloc(&work, size ? size : 1));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    std::vector<double> took, took_there;
    for (int run = -1; run < runs; run++) {
        CHECK(cudaDeviceSynchronize());
        const auto from = std::chrono::steady_clock::now();
        CHECK(start(argv[1], a, work, size, (int)n));
        CHECK(cudaDeviceSynchronize());
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - from;
        float milliseconds = 0;
        CHECK(cudaEventRecord(begin));
        CHECK(start(argv[1], a, work, size, (int)n));
        CHECK(cudaEventRecord(end));
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
        if (run >= 0) {
            took.push_back(seconds.count());
            took_there.push_back(1e-3 * milliseconds);
        }
    }
    std::sort(took.begin(), took.end());
    std::sort(took_there.begin(), took_there.end());
    printf("%.9g %.9g\n", took[took.size() / 2], took_there[took_there.size() / 2]);
    return 0;
}
