/* clmalloc_allocator.h - an allocator for C++ containers in memory shared with devices; historic
 * name (2010).
 *
 *   std::vector<float, clmalloc_allocator<float>> x(n);
 *   clmattach(stddev, x.data());                           now usable as any block of clmalloc
 *
 * Blocks are allocated with CL_MEM_DETACHED. A container that grows has a new block, which must be
 * attached again; clvector and clmulti_array do this themselves. Throws std::bad_alloc if clmalloc
 * returns NULL. C++11.
 * SPDX-License-Identifier: MIT
 */
#ifndef CLMALLOC_ALLOCATOR_H
#define CLMALLOC_ALLOCATOR_H

#include "stdcl.h"

#include <cstddef>
#include <limits>
#include <new>

template <typename T> struct clmalloc_allocator {
    typedef T value_type;

    clmalloc_allocator() noexcept
    {
    }
    template <typename U> clmalloc_allocator(const clmalloc_allocator<U> &) noexcept
    {
    }

    T *allocate(std::size_t n)
    {
        void *p = n <= std::numeric_limits<std::size_t>::max() / sizeof(T)
                      ? clmalloc(NULL, n * sizeof(T), CL_MEM_DETACHED)
                      : NULL;
        if (!p)
            throw std::bad_alloc();
        return static_cast<T *>(p);
    }
    void deallocate(T *p, std::size_t) noexcept
    {
        clfree(p);
    }
};

template <typename T, typename U>
bool operator==(const clmalloc_allocator<T> &, const clmalloc_allocator<U> &) noexcept
{
    return true;
}
template <typename T, typename U>
bool operator!=(const clmalloc_allocator<T> &, const clmalloc_allocator<U> &) noexcept
{
    return false;
}

/* Member functions of containers in shared memory, each as the function of its name in stdcl.h.
 * Container has data(). */
template <class Container> class clmalloc_block
{
  public:
    clmalloc_block() : context_(NULL)
    {
    }

    /* Attach the container's block to a context; later blocks of the container are attached at
     * first use. */
    int clmattach(CLCONTEXT *cp)
    {
        context_ = cp;
        return is_detached() ? ::clmattach(cp, block()) : 0;
    }
    int clmdetach()
    {
        context_ = NULL;
        return block() && !is_detached() ? ::clmdetach(block()) : 0;
    }
    cl_event clmsync(CLCONTEXT *cp, unsigned int dev, int flags = 0)
    {
        return ::clmsync(cp, dev, get_ptr(), flags);
    }
    size_t clarg_set_global(CLCONTEXT *cp, cl_kernel krn, unsigned int argnum)
    {
        return ::clarg_set_global(cp, krn, argnum, get_ptr());
    }

    /* Return the block's address, for clforka and clmctl, after attaching it if the previous block
     * was attached; NULL without a block. */
    void *get_ptr()
    {
        if (context_ && is_detached())
            ::clmattach(context_, block());
        return block();
    }

  private:
    void *block()
    {
        return static_cast<Container *>(this)->data();
    }
    bool is_detached()
    {
        const int status = block() ? clmctl(block(), CL_MCTL_GET_STATUS) : 0;
        return status > 0 && (status & CL_MEM_DETACHED);
    }
    CLCONTEXT *context_;
};

#endif
