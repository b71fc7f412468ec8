/* test_stdcl_hpp.cpp - stdcl.hpp: results, ownership, exceptions.
 * SPDX-License-Identifier: MIT
 */
#include <stdcl.hpp>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <numeric>

namespace
{

int failures;

#define CHECK(what)                                                                                \
    do {                                                                                           \
        if (!(what)) {                                                                             \
            std::fprintf(stderr, "line %d: not so: %s\n", __LINE__, #what);                        \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

const char source[] =
    "__kernel void saxpy(float a, __global const float *x, __global float *y)\n"
    "{ size_t i = get_global_id(0); y[i] = fma(a, x[i], y[i]); }\n"
    "__kernel void reverse(__global int *x, __local int *tile)\n"
    "{ tile[get_local_id(0)] = x[get_global_id(0)]; barrier(CLK_LOCAL_MEM_FENCE);\n"
    "  x[get_global_id(0)] = tile[get_local_size(0) - 1 - get_local_id(0)]; }\n";

template <class F> std::string thrown(F call)
{
    try {
        call();
    } catch (const stdcl::error &failed) {
        CHECK(failed.code().value() != 0);
        return failed.what();
    }
    return "";
}

bool has_text(const std::string &text, const char *words)
{
    return text.find(words) != std::string::npos;
}

void computes(const stdcl::context &ctx)
{
    stdcl::array<float> x(ctx, 1000), y(ctx, 1000);
    std::iota(x.begin(), x.end(), 0.0f);
    x.to_device();
    y.to_device();
    stdcl::program program(ctx, source);
    const stdcl::kernel saxpy = program["saxpy"];
    saxpy(x.size(), 2.0f, x, y);
    saxpy.start(0, x.size(), 0.5f, x, y);
    ctx.wait();
    y.to_host();
    for (std::size_t i = 0; i < y.size(); i++)
        CHECK(y[i] == 2.5f * static_cast<float>(i));
    stdcl::array<int> z(ctx, 64);
    std::iota(z.begin(), z.end(), 0);
    z.to_device();
    program["reverse"]({64, 16}, z, stdcl::local(16 * sizeof(int)));
    z.to_host();
    CHECK(z[0] == 15 && z[15] == 0 && z[16] == 31);
#if __cplusplus >= 202002L
    CHECK(z.span().size() == 64);
#endif
}

/* y += a x and y to the host, with a = 2 and 3, and with another x. */
void records(const stdcl::context &ctx)
{
    stdcl::array<float> x(ctx, 100), y(ctx, 100);
    std::iota(x.begin(), x.end(), 1.0f);
    x.to_device();
    y.to_device();
    stdcl::program program(ctx, source);
    const stdcl::kernel saxpy = program["saxpy"];
    const stdcl::recording recording(ctx, 0, [&] {
        saxpy.start(0, x.size(), 2.0f, x, y);
        y.start_to_host();
    });
    CHECK(y[9] == 0);
    recording.replay();
    CHECK(y[9] == 20);
    recording.set(0, 0, 3.0f);
    recording.set(0, 1, y);
    recording.start();
    ctx.wait();
    CHECK(y[9] == 80);
    CHECK(has_text(thrown([&] { recording.set(0, 0, 3); }), "float"));
    CHECK(has_text(thrown([&] { stdcl::recording(ctx, 0, [&] { x.to_device(); }); }), "NOWAIT"));
    CHECK(has_text(thrown([&] { stdcl::recording(ctx, 0, [] {}); }), "no command"));
}

/* Each channel of the mean of four pixels, read between them. */
void samples_images(const stdcl::context &ctx)
{
    const cl_image_format rgba = {CL_RGBA, CL_FLOAT}, r = {CL_R, CL_FLOAT};
    const std::array<std::size_t, 3> extent{{4, 3, 1}};
    stdcl::image<cl_float4> image(ctx, CL_MEM_OBJECT_IMAGE2D, extent, rgba);
    const stdcl::sampler linear(ctx, false, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR);
    for (std::size_t i = 0; i < image.size(); i++)
        for (std::size_t c = 0; c < 4; c++)
            image[i].s[c] = static_cast<float>(10 * i + c);
    image.to_device();
    stdcl::array<cl_float4> out(ctx, 1);
    stdcl::program program(ctx, "kernel void mean(read_only image2d_t image, sampler_t s,"
                                " global float4 *out) {"
                                " *out = read_imagef(image, s, (float2)(1, 1)); }");
    program["mean"](1, image, linear, out);
    out.to_host();
    for (std::size_t c = 0; c < 4; c++) /* of pixels 0, 1, 4 and 5 */
        CHECK(out[0].s[c] == 25 + static_cast<float>(c));
    CHECK(has_text(thrown([&] { stdcl::image<cl_float4>(ctx, CL_MEM_OBJECT_IMAGE2D, extent, r); }),
                   "4 bytes"));
    const std::array<std::size_t, 3> lines{{5, 2, 1}};
    stdcl::image<float> array(ctx, CL_MEM_OBJECT_IMAGE1D_ARRAY, lines, r);
    CHECK(array.size() == 10);
    array.to_device();
}

void moves_and_frees(const stdcl::context &ctx)
{
    stdcl::array<double> x(ctx, 10);
    double *const address = x.data();
    stdcl::array<double> y = std::move(x);
    CHECK(y.data() == address && y.size() == 10 && x.size() == 0 &&
          !x.data()); // NOLINT: moved from on purpose
    y = stdcl::array<double>(ctx, 5);
    CHECK(clsizeofmem(address) == 0 && y.size() == 5);
    stdcl::context own("");
    stdcl::context moved = std::move(own);
    CHECK(moved.size() >= 1);
}

/* The objects of another context stand for the program's own. */
void adopts(const stdcl::context &ctx)
{
    const cl_command_queue queue = clgetqueue(ctx.get(), 0);
    const stdcl::context own = stdcl::context::adopt(clgetclcontext(ctx.get(), 0), 1, &queue);
    CHECK(own.get() != ctx.get() && clgetqueue(own.get(), 0) == queue);
    stdcl::array<float> x(own, 1000), y(own, 1000);
    std::iota(x.begin(), x.end(), 0.0f);
    x.to_device();
    y.to_device();
    stdcl::program program(own, source);
    program["saxpy"](x.size(), 2.0f, x, y);
    y.to_host();
    CHECK(y[999] == 2.0f * 999);
    CHECK(has_text(thrown([] { stdcl::context::adopt(nullptr, 0, nullptr); }), "is NULL"));
}

void throws(const stdcl::context &ctx)
{
    CHECK(has_text(thrown([&] { stdcl::program(ctx, "__kernel void broken( {"); }), "error"));
    stdcl::program program(ctx, source);
    CHECK(has_text(thrown([&] { program["absent"]; }), "there are"));
    stdcl::array<float> x(ctx, 100);
    CHECK(has_text(thrown([&] { program["saxpy"](100, 2.0, x, x); }), "double"));
    CHECK(has_text(thrown([&] { program["saxpy"]({100, 64}, 2.0f, x, x); }), "multiple"));
    CHECK(has_text(thrown([&] { stdcl::context("no such platform"); }), "no such platform"));
    CHECK(stdgpu || has_text(thrown([] { stdcl::context::gpu(); }), "has no GPU"));
    const std::size_t half = ~std::size_t(0) / 2 + 1; /* times 2 is 0 */
    CHECK(has_text(thrown([&] { stdcl::array<short>(ctx, half); }), "more than memory can hold"));
    CHECK(has_text(thrown([&] {
                       stdcl::image<cl_float4>(ctx, CL_MEM_OBJECT_IMAGE2D, {{half, 2, 1}},
                                               {CL_RGBA, CL_FLOAT});
                   }),
                   "more than memory can hold"));
    life_options wrong{};
    wrong.width = wrong.height = 10;
    wrong.rule = "B9";
    CHECK(has_text(thrown([&] { stdcl::life l(wrong); }), "B9"));
}

void check_engines()
{
    life_options grid{};
    grid.width = grid.height = 64;
    stdcl::life life(grid);
    life.soup(0.5, 1);
    life.step(10);
    CHECK(life.population() > 0);
    gas_options molecules{};
    molecules.n = 100000;
    const double mean = stdcl::gas(molecules).measure().mean_energy;
    CHECK(mean > 1.4 && mean < 1.6);
    const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    float c[4];
    stdcl::matmul(matmul_options{}).multiply(MATMUL_NN, 2, 2, 2, 1, a, 2, b, 2, 0, c, 2);
    CHECK(c[0] == 19 && c[1] == 22 && c[2] == 43 && c[3] == 50);
    const double mass[2] = {0.5, 0.5}, pos[2][3] = {{0.5, 0, 0}, {-0.5, 0, 0}},
                 vel[2][3] = {{0, 0.5, 0}, {0, -0.5, 0}};
    nbody_options options{};
    options.dt = 0.001;
    options.precision = NBODY_DOUBLE;
    stdcl::nbody run(options, 2, mass, pos, vel);
    const double start = run.diagnose().total;
    run.step(100);
    CHECK(run.time() > 0.0999 && run.diagnose().total - start < 1e-6);
}

} // namespace

int main()
{
    try {
        const stdcl::context ctx = stdcl::context::gpu_or_cpu();
        computes(ctx);
        records(ctx);
        samples_images(ctx);
        moves_and_frees(ctx);
        adopts(ctx);
        throws(ctx);
        check_engines();
    } catch (const std::exception &failed) {
        std::fprintf(stderr, "thrown: %s\n", failed.what());
        return 1;
    }
    return failures != 0;
}
