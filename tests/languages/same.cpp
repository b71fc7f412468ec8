/* same.cpp - see same.c.
 * SPDX-License-Identifier: MIT
 */
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <stdcl.hpp>
#include <vector>

template <class Bits, class T> Bits bits(const T &value)
{
    static_assert(sizeof(Bits) == sizeof(T), "as many bits");
    Bits b;
    std::memcpy(&b, &value, sizeof b);
    return b;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    const auto ctx = stdcl::context::gpu_or_cpu();
    const stdcl::array<float> x(ctx, 1000), y(ctx, 1000);
    for (std::size_t i = 0; i < x.size(); i++) {
        x[i] = 1.0f / static_cast<float>(i + 1);
        y[i] = static_cast<float>(i);
    }
    const auto program = stdcl::program::file(ctx, argv[1]);
    x.to_device();
    y.to_device();
    program["saxpy"](x.size(), 0.1f, x, y);
    y.to_host();
    for (float value : y)
        std::printf("%08" PRIx32 "\n", bits<std::uint32_t>(value));

    std::vector<double> mass(100);
    static double pos[100][3], vel[100][3];
    stdcl::check(nbody_initial(NBODY_PLUMMER, 100, 1, mass.data(), pos, vel));
    nbody_options options{};
    options.eps = 0.05;
    options.dt = 1.0 / 64;
    stdcl::nbody run(options, 100, mass.data(), pos, vel);
    run.step(10);
    run.state(pos, vel);
    for (auto &rows : {pos, vel})
        for (int i = 0; i < 100; i++)
            for (double value : rows[i])
                std::printf("%016" PRIx64 "\n", bits<std::uint64_t>(value));
}
