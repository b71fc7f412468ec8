/* stdcl.hpp - RAII wrappers and exceptions for C++17 and C++20.
 *
 *   stdcl::context ctx = stdcl::context::gpu_or_cpu();
 *   stdcl::array<float> x(ctx, 1000);                  memory shared by host and devices
 *   stdcl::program program(ctx, "__kernel void scale(...) { ... }");
 *   std::fill(x.begin(), x.end(), 1.0f);
 *   x.to_device();
 *   program["scale"](x.size(), x, 2.0f);               launch and wait; start() does not wait
 *   x.to_host();
 *
 * Owners are movable and not copyable; a moved-from owner may only be destroyed or assigned to. A
 * call that fails throws stdcl::error with the library's message; destructors do not throw. A
 * context must outlive the objects made from it. Calls block unless their comment says otherwise.
 * The engines need their libraries: -lstdcl_nbody and so on.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_HPP
#define STDCL_HPP

#include "stdcl.h"
#include "stdcl/gas.h"
#include "stdcl/life.h"
#include "stdcl/matmul.h"
#include "stdcl/nbody.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <type_traits>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace stdcl
{

/* ---- Errors. --------------------------------------------------------------------------------- */

/* A failed call: code() is the errno value, what() begins with the message, opencl() is OpenCL's
 * code or 0. */
class error : public std::system_error
{
  public:
    error(int code, int opencl, const std::string &sentence)
        : std::system_error(code, std::generic_category(), sentence), opencl_(opencl)
    {
    }
    int opencl() const noexcept
    {
        return opencl_;
    }

  private:
    int opencl_;
};

[[noreturn]] inline void fail()
{
    const int code = clerrno, opencl = oclerrno;
    const char *sentence = clerror();
    throw error(code, opencl, sentence ? sentence : "an error without a sentence");
}

/* Check the result of a call of stdcl.h; throw stdcl::error on failure. */
inline void check(int result)
{
    if (result < 0)
        fail();
}
inline cl_event check_event(cl_event event)
{
    if (event == reinterpret_cast<cl_event>(static_cast<std::intptr_t>(-1)))
        fail();
    return event;
}
template <class T> T *check(T *pointer)
{
    if (!pointer)
        fail();
    return pointer;
}

/* ---- Contexts. ------------------------------------------------------------------------------- */

/* A list of devices. The standard contexts are owned by the library and never destroyed. */
class context
{
  public:
    /* Select devices by platform, name or vendor; see clcontext_create. */
    explicit context(const char *platforms, int devtype = static_cast<int>(CL_DEVICE_TYPE_ALL),
                     std::size_t most = 0)
        : handle_(check(clcontext_create(platforms, devtype, most, nullptr, 0)), {true})
    {
    }
    static context gpu()
    {
        return context(stdgpu, "GPU");
    }
    static context cpu()
    {
        return context(stdcpu, "CPU with OpenCL");
    }
    static context all()
    {
        return context(stddev, "OpenCL device");
    }
    static context gpu_or_cpu()
    {
        return context(stdgpu ? stdgpu : stdcpu, "OpenCL device");
    }

    /* Use an OpenCL context and in-order queues of the program, which keeps them; see
     * clcontext_adopt. */
    static context adopt(cl_context own, std::size_t n, const cl_command_queue *queues)
    {
        return context(clcontext_adopt(own, n, queues), destroy{true});
    }

    CLCONTEXT *get() const noexcept
    {
        return handle_.get();
    }
    cl_uint size() const
    {
        return clgetndev(get());
    }

    /* Wait for all commands of a device; throw if any failed. */
    void wait(cl_uint device = 0) const
    {
        check_event(clwait(get(), device, CL_ALL_EVENT));
    }

  private:
    struct destroy {
        bool owned;
        void operator()(CLCONTEXT *cp) const noexcept
        {
            if (owned)
                clcontext_destroy(cp);
        }
    };
    /* NULL without an error means that there is no such device. */
    context(CLCONTEXT *standard, const char *kind) : handle_(standard, {false})
    {
        const char *sentence = standard ? nullptr : clerror();
        if (!standard)
            throw error(ENODEV, 0,
                        sentence ? std::string(sentence)
                                 : std::string("stdcl::context: this machine has no ") + kind +
                                       "; `stdcl devices` lists its devices");
    }
    context(CLCONTEXT *created, destroy owned) : handle_(check(created), owned)
    {
    }
    std::unique_ptr<CLCONTEXT, destroy> handle_;
};

/* ---- Memory. --------------------------------------------------------------------------------- */

namespace detail
{
/* The product of two sizes; throws if it is larger than any size. */
inline std::size_t product(std::size_t n, std::size_t m)
{
    if (m && n > static_cast<std::size_t>(-1) / m)
        throw error(ENOMEM, 0,
                    "stdcl::array: " + std::to_string(n) + " times " + std::to_string(m) +
                        " is more than memory can hold");
    return n * m;
}
} // namespace detail

/* An array of `n` elements shared by host and devices, initially zero. Host and devices hold
 * separate images, which to_device and to_host copy. */
template <class T> class array
{
    static_assert(std::is_trivially_copyable<T>::value,
                  "devices can only share what may be copied byte by byte");

  public:
    using value_type = T;
    array() = default;
    array(const context &ctx, std::size_t n, int flags = 0)
        : data_(static_cast<T *>(check(clmalloc(ctx.get(), detail::product(n, sizeof(T)), flags))),
                {ctx.get(), n})
    {
    }

    T *data() const noexcept
    {
        return data_.get();
    }
    std::size_t size() const noexcept
    {
        return data_ ? data_.get_deleter().n : 0;
    }
    T *begin() const noexcept
    {
        return data();
    }
    T *end() const noexcept
    {
        return data() + size();
    }
    T &operator[](std::size_t i) const noexcept
    {
        return data()[i];
    }
#if __cplusplus >= 202002L
    std::span<T> span() const noexcept
    {
        return {data(), size()};
    }
#endif

    void to_device(cl_uint device = 0) const
    {
        sync(device, CL_MEM_DEVICE);
    }
    void to_host(cl_uint device = 0) const
    {
        sync(device, CL_MEM_HOST);
    }

    /* Copy without waiting; context::wait waits. */
    void start_to_device(cl_uint device = 0) const
    {
        sync(device, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
    }
    void start_to_host(cl_uint device = 0) const
    {
        sync(device, CL_MEM_HOST | CL_EVENT_NOWAIT);
    }

  private:
    void sync(cl_uint device, int how) const
    {
        check_event(clmsync(data_.get_deleter().cp, device, data(), how));
    }
    struct memory {
        CLCONTEXT *cp = nullptr;
        std::size_t n = 0;
        void operator()(T *p) const noexcept
        {
            clfree(p);
        }
    };
    std::unique_ptr<T, memory> data_;
};

/* An image whose pixels are of type T (cl_float4, unsigned char, ...), initially zero: an argument
 * for image1d_t, image2d_t, image3d_t, image1d_array_t or image2d_array_t, as `type` says, such as
 * CL_MEM_OBJECT_IMAGE2D. Extents that the type does not have are 1; the last extent of an array is
 * its number of elements. The host holds the pixels row by row. Throws if a pixel of `format`
 * has another size than T. */
template <class T> class image : public array<T>
{
  public:
    image(const context &ctx, cl_mem_object_type type, const std::array<std::size_t, 3> &extent,
          const cl_image_format &format)
        : array<T>(ctx, detail::product(detail::product(extent[0], extent[1]), extent[2]),
                   CL_MEM_IMAGE)
    {
        const bool lines = type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
        cl_image_desc shape{};
        shape.image_type = type;
        shape.image_width = extent[0];
        shape.image_height = extent[1];
        shape.image_depth = extent[2];
        shape.image_array_size = lines ? extent[1] : extent[2];
        check(clmctl(this->data(), CL_MCTL_SET_IMAGE, &shape, &format));
        std::size_t pixel = 0;
        clGetImageInfo(check(clgetbuffer(ctx.get(), 0, this->data())), CL_IMAGE_ELEMENT_SIZE,
                       sizeof pixel, &pixel, nullptr);
        if (pixel != sizeof(T))
            throw error(EINVAL, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR,
                        "stdcl::image: a pixel of the format has " + std::to_string(pixel) +
                            " bytes, one of the host " + std::to_string(sizeof(T)));
    }
};

/* A sampler for kernels' sampler_t arguments; see CL_MCTL_SET_SAMPLER. */
class sampler : public array<char>
{
  public:
    explicit sampler(const context &ctx, bool normalized = false,
                     int addressing = CL_ADDRESS_CLAMP_TO_EDGE, int filter = CL_FILTER_NEAREST)
        : array<char>(ctx, 0, CL_MEM_SAMPLER)
    {
        check(
            clmctl(data(), CL_MCTL_SET_SAMPLER, static_cast<int>(normalized), addressing, filter));
    }
};

namespace detail
{
/* A kernel's argument as C has it. */
template <class T> T *plain(const array<T> &x)
{
    return x.data();
}
template <class T> T *plain(const image<T> &x)
{
    return x.data();
}
inline char *plain(const sampler &x)
{
    return x.data();
}
template <class T> const T &plain(const T &x)
{
    return x;
}
} // namespace detail

/* ---- Kernels. -------------------------------------------------------------------------------- */

/* Global size in one to three dimensions, and work-group size (0: the runtime chooses). */
struct range {
    clndrange_t value{};
    range(std::size_t global, std::size_t local = 0)
        : range(std::array<std::size_t, 1>{{global}}, {{local}})
    {
    }
    template <std::size_t D>
    range(const std::array<std::size_t, D> &global, const std::array<std::size_t, D> &local = {})
    {
        static_assert(D >= 1 && D <= 3, "devices have up to three dimensions");
        value.dim = D;
        for (std::size_t d = 0; d < D; d++) {
            value.gtid[d] = global[d];
            value.ltid[d] = local[d];
        }
    }
};

/* Local memory as a kernel argument. */
inline stdcl_local_t local(std::size_t bytes)
{
    return {bytes};
}

/* A kernel: a plain handle, owned by its program. */
class kernel
{
  public:
    kernel(CLCONTEXT *cp, cl_kernel handle) : cp_(cp), handle_(handle)
    {
    }
    cl_kernel get() const noexcept
    {
        return handle_;
    }

    /* Set the arguments, launch the kernel on a device and wait. start does not wait: context::wait
     * does, and throws if the kernel failed. */
    template <class... Args> void operator()(const range &items, const Args &...args) const
    {
        run(0, items, CL_EVENT_WAIT, detail::plain(args)...);
    }
    template <class... Args>
    cl_event start(cl_uint device, const range &items, const Args &...args) const
    {
        return run(device, items, CL_EVENT_NOWAIT, detail::plain(args)...);
    }

  private:
    template <class... Args>
    cl_event run(cl_uint device, const range &items, int flags, const Args &...args) const
    {
        const std::array<stdcl_arg, sizeof...(Args) + 1> list{
            {stdcl_cxx::arg<Args>::make(args)..., stdcl_arg{}}};
        clndrange_t work = items.value;
        return check_event(
            clforkv(cp_, device, handle_, &work, flags, sizeof...(Args), list.data()));
    }
    CLCONTEXT *cp_;
    cl_kernel handle_;
};

/* Commands that `commands()` starts on a device, by kernel::start, array::start_to_device and
 * start_to_host, recorded instead of started: see clrecord_begin. Blocks and programs must outlive
 * the replays, and the recording must not outlive its context. */
class recording
{
  public:
    template <class F>
    recording(const context &ctx, cl_uint device, F &&commands)
        : handle_(record(ctx.get(), device, commands), {ctx.get()})
    {
    }

    /* Start the commands again; replay waits for them, and start does not. */
    void replay() const
    {
        check_event(clrecord_replay(cp(), handle_.get(), CL_EVENT_WAIT));
    }
    cl_event start() const
    {
        return check_event(clrecord_replay(cp(), handle_.get(), CL_EVENT_NOWAIT));
    }

    /* Set argument i of a recorded launch for later replays. */
    template <class T> void set(cl_uint command, cl_uint i, const T &value) const
    {
        const auto plain = detail::plain(value);
        const stdcl_arg argument =
            stdcl_cxx::arg<typename std::remove_const<decltype(plain)>::type>::make(plain);
        check(clrecord_setv(cp(), handle_.get(), command, i, &argument));
    }

  private:
    template <class F> static void *record(CLCONTEXT *cp, cl_uint device, F &commands)
    {
        check(clrecord_begin(cp, device));
        try {
            commands();
        } catch (...) {
            clrecord_free(cp, clrecord_end(cp, device));
            throw;
        }
        return check(clrecord_end(cp, device));
    }
    CLCONTEXT *cp() const noexcept
    {
        return handle_.get_deleter().cp;
    }
    struct release {
        CLCONTEXT *cp;
        void operator()(void *handle) const noexcept
        {
            clrecord_free(cp, handle);
        }
    };
    std::unique_ptr<void, release> handle_;
};

/* Kernels built from OpenCL C, or from a file. */
class program
{
  public:
    program(const context &ctx, const std::string &source, const char *options = nullptr)
        : handle_(check(clopen_named(ctx.get(), "<source>", source.data(), source.size(), options,
                                     CLLD_NOW)),
                  {ctx.get()})
    {
    }
    static program file(const context &ctx, const std::string &path)
    {
        return program(ctx.get(), check(clopen(ctx.get(), path.c_str(), CLLD_NOW)));
    }
    kernel operator[](const char *name) const
    {
        CLCONTEXT *cp = handle_.get_deleter().cp;
        return kernel(cp, check(clsym(cp, handle_.get(), name, CLLD_NOW)));
    }

  private:
    struct close {
        CLCONTEXT *cp;
        void operator()(void *handle) const noexcept
        {
            clclose(cp, handle);
        }
    };
    program(CLCONTEXT *cp, void *handle) : handle_(handle, {cp})
    {
    }
    std::unique_ptr<void, close> handle_;
};

/* ---- Engines: owners of C objects, which get() passes to their functions. -------------------- */

template <class T, auto Free> class engine
{
  public:
    T *get() const noexcept
    {
        return handle_.get();
    }

  protected:
    explicit engine(T *made) : handle_(check(made))
    {
    }

  private:
    struct release {
        void operator()(T *object) const noexcept
        {
            Free(object);
        }
    };
    std::unique_ptr<T, release> handle_;
};

using vec3 = double[3];

/* N-body gravity: options as in stdcl/nbody.h; n masses, positions and velocities are copied. */
class nbody : public engine<::nbody, nbody_free>
{
  public:
    nbody(const nbody_options &options, std::size_t n, const double *mass, const vec3 *pos,
          const vec3 *vel)
        : engine(nbody_create(&options, n, mass, pos, vel))
    {
    }
    void step(std::size_t steps = 1)
    {
        check(nbody_step(get(), steps));
    }
    void state(vec3 *pos, vec3 *vel) const
    {
        check(nbody_state(get(), pos, vel));
    }
    double time() const
    {
        return nbody_time(get());
    }
    nbody_diagnostics diagnose() const
    {
        nbody_diagnostics d;
        check(nbody_diagnose(get(), &d));
        return d;
    }
};

/* Life and its relatives: options as in stdcl/life.h. */
class life : public engine<::life, life_free>
{
  public:
    explicit life(const life_options &options) : engine(life_create(&options))
    {
    }
    void soup(double density, std::uint64_t seed)
    {
        check(life_soup(get(), density, seed));
    }
    void step(std::uint64_t generations = 1)
    {
        check(life_step(get(), generations));
    }
    std::uint64_t population() const
    {
        std::uint64_t n;
        check(life_population(get(), &n));
        return n;
    }
};

/* A gas: options as in stdcl/gas.h. */
class gas : public engine<::gas, gas_free>
{
  public:
    explicit gas(const gas_options &options) : engine(gas_create(&options))
    {
    }
    gas_energy measure() const
    {
        gas_energy energy;
        check(gas_measure(get(), &energy));
        return energy;
    }
};

/* Matrix products: options as in stdcl/matmul.h. */
class matmul : public engine<::matmul, matmul_free>
{
  public:
    explicit matmul(const matmul_options &options) : engine(matmul_create(&options))
    {
    }
    void multiply(matmul_trans trans, std::size_t m, std::size_t n, std::size_t k, double alpha,
                  const void *a, std::size_t lda, const void *b, std::size_t ldb, double beta,
                  void *c, std::size_t ldc)
    {
        check(matmul_multiply(get(), trans, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc));
    }
};

} // namespace stdcl

#endif
