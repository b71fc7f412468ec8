/* sycl.hpp - stubs of the SYCL 2020 names used by matmul/sycl.cpp, on threads of the host, for
 * tests.
 *
 * Not a SYCL implementation: with it the tests run the engine's source, its index arithmetic and
 * its barriers, without a SYCL compiler. Every work-item of a group is a thread; groups run
 * sequentially. Accesses are checked against the size of the buffer. Errors that only a SYCL
 * compiler detects are not detected.
 * SPDX-License-Identifier: MIT
 */
#ifndef TESTS_SYCL_HPP
#define TESTS_SYCL_HPP

#include <pthread.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace sycl
{

enum class access_mode { read, read_write };

template <int D> struct range {
    std::size_t size[2];
    explicit range(std::size_t a, std::size_t b = 1) : size{a, b}
    {
    }
    std::size_t operator[](int i) const
    {
        return size[i];
    }
};

template <int D> struct nd_range {
    range<D> global, local;
    nd_range(range<D> g, range<D> l) : global(g), local(l)
    {
    }
};

/* ---- Kernel interface. ----------------------------------------------------------------------- */

struct group {
    pthread_barrier_t *barrier;
};

inline void group_barrier(group g)
{
    pthread_barrier_wait(g.barrier);
}

template <int D> struct nd_item {
    std::size_t global[2], local[2];
    pthread_barrier_t *barrier;
    std::size_t get_global_id(int i) const
    {
        return global[i];
    }
    std::size_t get_local_id(int i) const
    {
        return local[i];
    }
    group get_group() const
    {
        return {barrier};
    }
};

/* ---- Memory: copied when a buffer is made, and back when it ends. ---------------------------- */

template <typename T, int D> class buffer
{
  public:
    buffer(const T *from, range<1> n) : content(from, from + n[0]), home(nullptr)
    {
    }
    buffer(T *from, range<1> n) : content(from, from + n[0]), home(from)
    {
    }
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;
    ~buffer()
    {
        for (std::size_t i = 0; home && i < content.size(); i++)
            home[i] = content[i];
    }
    std::vector<T> content;

  private:
    T *home;
};

class handler
{
  public:
    template <typename F> void parallel_for(nd_range<2> r, F kernel)
    {
        const std::size_t rows = r.local[0], cols = r.local[1];
        if (r.global[0] % rows || r.global[1] % cols)
            throw std::runtime_error("the groups do not divide the range");
        pthread_barrier_t barrier;
        pthread_barrier_init(&barrier, nullptr, static_cast<unsigned>(rows * cols));
        std::vector<std::thread> items;
        for (std::size_t y = 0; y < rows; y++)
            for (std::size_t x = 0; x < cols; x++)
                items.emplace_back([=, &barrier] {
                    for (std::size_t i = y; i < r.global[0]; i += rows)
                        for (std::size_t j = x; j < r.global[1]; j += cols) {
                            kernel(nd_item<2>{{i, j}, {y, x}, &barrier});
                            pthread_barrier_wait(&barrier); /* then the next group */
                        }
                });
        for (std::thread &t : items)
            t.join();
        pthread_barrier_destroy(&barrier);
    }
};

template <typename T> T &checked(std::vector<T> &v, std::size_t i)
{
    if (i >= v.size())
        std::terminate();
    return v[i];
}

template <typename T, int D, access_mode mode> class accessor
{
  public:
    accessor(buffer<T, D> &b, handler &) : content(&b.content)
    {
    }
    T &operator[](std::size_t i) const
    {
        return checked(*content, i);
    }

  private:
    std::vector<T> *content;
};

template <typename T, int D> class accessor<T, D, access_mode::read>
{
  public:
    accessor(buffer<T, D> &b, handler &) : content(&b.content)
    {
    }
    const T &operator[](std::size_t i) const
    {
        return checked(*content, i);
    }

  private:
    std::vector<T> *content;
};

template <typename T, int D> class local_accessor
{
  public:
    local_accessor(range<1> n, handler &) : content(std::make_shared<std::vector<T>>(n[0]))
    {
    }
    T &operator[](std::size_t i) const
    {
        return checked(*content, i);
    }

  private:
    std::shared_ptr<std::vector<T>> content;
};

/* ---- Where it runs. -------------------------------------------------------------------------- */

namespace info
{
namespace device
{
struct max_work_group_size {
};
} // namespace device
} // namespace info

struct device {
    template <typename What> std::size_t get_info() const
    {
        return 64;
    }
};

struct queue {
    device get_device() const
    {
        return {};
    }
    template <typename F> void submit(F commands)
    {
        handler h;
        commands(h);
    }
    void wait_and_throw()
    {
    }
};

} // namespace sycl
#endif
