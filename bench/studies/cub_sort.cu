/* cub_sort.cu - the peer of bench_sort on NVIDIA's GPUs: CUB's radix sort, which comes with CUDA. By hand:
 *
 *   nvcc -O3 -std=c++17 -arch=native -o BUILD/bench/cub_sort bench/studies/cub_sort.cu
 *
 * bench_sort finds it beside itself. Usage: cub_sort 64|32 pairs|keys|scan COUNT BITS RUNS; prints the median seconds of a sort
 * of random keys or of an exclusive sum, on memory of the device, by the host's clock from the call until the device is done, and
 * by events on the device. It may change
 * buffers (DoubleBuffer), which saves CUB a copy at the end. The order is checked first.
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
            fprintf(stderr, "cub_sort: %s: %s\n", #call, cudaGetErrorString(error));         \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

/* As bench_sort has them: splitmix64 of the place. */
template <class Key> __global__ void fill(Key *keys, uint32_t *values, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x) {
        uint64_t z = (uint64_t)(i + 1) * 0x9E3779B97F4A7C15u;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
        z = (z ^ z >> 27) * 0x94D049BB133111EBu;
        keys[i] = (Key)(z ^ z >> 31);
        values[i] = (uint32_t)i;
    }
}

/* *wrong: neighbours that are not in order, or of equal keys not in the order they had. */
template <class Key> __global__ void look(const Key *keys, const uint32_t *values, size_t n, int bits, int *wrong)
{
    const Key all = bits == 8 * (int)sizeof(Key) ? ~(Key)0 : ((Key)1 << bits) - 1;
    for (size_t i = 1 + blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x) {
        const Key a = keys[i - 1] & all, b = keys[i] & all;
        if (a > b || (values && a == b && values[i - 1] > values[i]))
            *wrong = 1;
    }
}

enum work { PAIRS, KEYS, SCAN };

template <class Key> static void sort(enum work what, size_t n, int bits, int runs)
{
    Key *keys[2];
    uint32_t *values[2];
    int *wrong, found = 0;
    void *work = nullptr;
    size_t size = 0;
    for (int k = 0; k < 2; k++) {
        CHECK(cudaMalloc(&keys[k], n * sizeof(Key)));
        CHECK(cudaMalloc(&values[k], n * sizeof(uint32_t)));
    }
    CHECK(cudaMalloc(&wrong, sizeof *wrong));
    CHECK(cudaMemset(wrong, 0, sizeof *wrong));
    std::vector<double> took, took_there;
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));
    for (int run = -1; run < runs; run++) {
        cub::DoubleBuffer<Key> k(keys[0], keys[1]);
        cub::DoubleBuffer<uint32_t> v(values[0], values[1]);
        auto start = [&] {
            return what == SCAN    ? cub::DeviceScan::ExclusiveSum(work, size, keys[0], keys[1], n)
                   : what == PAIRS ? cub::DeviceRadixSort::SortPairs(work, size, k, v, n, 0, bits)
                                   : cub::DeviceRadixSort::SortKeys(work, size, k, n, 0, bits);
        };
        if (!work) {
            CHECK(start());
            CHECK(cudaMalloc(&work, size));
        }
        fill<<<1024, 256>>>(keys[0], values[0], n);
        CHECK(cudaDeviceSynchronize());
        const auto from = std::chrono::steady_clock::now();
        CHECK(start());
        CHECK(cudaDeviceSynchronize());
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - from;
        if (what == SCAN) {
            float milliseconds = 0;
            CHECK(cudaEventRecord(begin));
            CHECK(start());
            CHECK(cudaEventRecord(end));
            CHECK(cudaDeviceSynchronize());
            CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
            took_there.push_back(1e-3 * milliseconds);
        }
        if (run < 0 && what != SCAN)
            look<<<1024, 256>>>(k.Current(), what == PAIRS ? v.Current() : nullptr, n, bits, wrong);
        else if (run >= 0)
            took.push_back(seconds.count());
    }
    CHECK(cudaMemcpy(&found, wrong, sizeof found, cudaMemcpyDeviceToHost));
    if (found) {
        fprintf(stderr, "cub_sort: not sorted\n");
        exit(1);
    }
    std::sort(took.begin(), took.end());
    std::sort(took_there.begin(), took_there.end());
    printf("%.9g %.9g\n", took[took.size() / 2], took_there.empty() ? 0. : took_there[took_there.size() / 2]);
}

int main(int argc, char **argv)
{
    const int runs = argc == 6 ? atoi(argv[5]) : 0;
    if (runs < 1) {
        fprintf(stderr, "usage: cub_sort 64|32 pairs|keys|scan COUNT BITS RUNS\n");
        return 2;
    }
    const enum work what = strcmp(argv[2], "scan") == 0 ? SCAN : strcmp(argv[2], "pairs") == 0 ? PAIRS : KEYS;
    const size_t n = strtoull(argv[3], nullptr, 10);
    if (strcmp(argv[1], "64") == 0)
        sort<uint64_t>(what, n, atoi(argv[4]), runs);
    else
        sort<uint32_t>(what, n, atoi(argv[4]), runs);
    return 0;
}
