/* sycl.cpp - the blocked product of baseline.cl in SYCL 2020: the same tiles and barriers.
 *
 *   OpenCL                          SYCL
 *   clCreateBuffer, copies          buffer, which copies when it is created and destroyed
 *   kernel arguments                accessors, which also define dependencies
 *   __local memory from the host    local_accessor
 *   get_local_id, get_global_id     nd_item
 *   barrier                         group_barrier
 *
 * Built if CMake finds a SYCL compiler (acpp, icpx). The rest of the engine is C and does not need
 * it.
 * SPDX-License-Identifier: MIT
 */
#include "sycl.h"

#include <sycl/sycl.hpp>

#include <cstdio>
#include <exception>

namespace
{

/* An operand as stored: element (i, j) of op(X) is at i * row + j * col. */
struct strides {
    std::size_t row, col;
};

std::size_t round_up(std::size_t n, std::size_t to)
{
    return (n + to - 1) / to * to;
}

template <typename T>
void sycl_multiply(sycl::queue &queue, strides sa, strides sb, std::size_t extent_a,
                   std::size_t extent_b, std::size_t m, std::size_t n, std::size_t k, T alpha,
                   const T *a, const T *b, T beta, T *c, std::size_t ldc, std::size_t block)
{
    sycl::buffer<T, 1> buffer_a(a, sycl::range<1>(extent_a)), buffer_b(b, sycl::range<1>(extent_b));
    sycl::buffer<T, 1> buffer_c(c, sycl::range<1>((m - 1) * ldc + n));
    queue.submit([&](sycl::handler &h) {
        sycl::accessor<T, 1, sycl::access_mode::read> in_a(buffer_a, h);
        sycl::accessor<T, 1, sycl::access_mode::read> in_b(buffer_b, h);
        sycl::accessor<T, 1, sycl::access_mode::read_write> out(buffer_c, h);
        sycl::local_accessor<T, 1> at(sycl::range<1>(block * block), h),
            bt(sycl::range<1>(block * block), h);
        const sycl::range<2> items(round_up(m, block), round_up(n, block)), group(block, block);
        h.parallel_for(sycl::nd_range<2>(items, group), [=](sycl::nd_item<2> item) {
            const std::size_t i = item.get_global_id(0), j = item.get_global_id(1);
            const std::size_t y = item.get_local_id(0), x = item.get_local_id(1);
            T sum = 0;
            for (std::size_t s = 0; s < k; s += block) {
                at[y * block + x] = i < m && s + x < k ? in_a[i * sa.row + (s + x) * sa.col] : T(0);
                bt[x * block + y] = j < n && s + y < k ? in_b[(s + y) * sb.row + j * sb.col] : T(0);
                sycl::group_barrier(item.get_group()); /* both blocks are complete */
                for (std::size_t z = 0; z < block; z++)
                    sum += at[y * block + z] * bt[x * block + z];
                sycl::group_barrier(item.get_group()); /* all items have read them */
            }
            if (i < m && j < n)
                out[i * ldc + j] =
                    beta == T(0) ? alpha * sum : alpha * sum + beta * out[i * ldc + j];
        });
    });
    queue.wait_and_throw();
} /* destroying buffer_c copies C back to the host */

} // namespace

extern "C" int matmul_sycl_run(int doubles, int trans_a, int trans_b, std::size_t m, std::size_t n,
                               std::size_t k, double alpha, const void *a, std::size_t lda,
                               const void *b, std::size_t ldb, double beta, void *c,
                               std::size_t ldc, std::size_t block, char *why, std::size_t size)
{
    const strides sa = {trans_a ? 1 : lda, trans_a ? lda : 1},
                  sb = {trans_b ? 1 : ldb, trans_b ? ldb : 1};
    const std::size_t extent_a = trans_a ? (k - 1) * lda + m : (m - 1) * lda + k;
    const std::size_t extent_b = trans_b ? (n - 1) * ldb + k : (k - 1) * ldb + n;
    try {
        sycl::queue queue;
        const std::size_t most =
            queue.get_device().get_info<sycl::info::device::max_work_group_size>();
        if (block * block > most) {
            std::snprintf(why, size, "a block of %zu x %zu; groups have at most %zu items", block,
                          block, most);
            return -1;
        }
        if (doubles)
            sycl_multiply<double>(queue, sa, sb, extent_a, extent_b, m, n, k, alpha,
                                  static_cast<const double *>(a), static_cast<const double *>(b),
                                  beta, static_cast<double *>(c), ldc, block);
        else
            sycl_multiply<float>(queue, sa, sb, extent_a, extent_b, m, n, k,
                                 static_cast<float>(alpha), static_cast<const float *>(a),
                                 static_cast<const float *>(b), static_cast<float>(beta),
                                 static_cast<float *>(c), ldc, block);
        return 0;
    } catch (const std::exception &e) {
        std::snprintf(why, size, "%s", e.what());
        return -1;
    }
}
