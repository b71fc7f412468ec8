/* clmalloc_allocator.h - an allocator for C++ containers, whose memory devices can share; the name
 * is of 2010.
 *
 *   std::vector<float, clmalloc_allocator<float>> x(n);
 *   clmattach(stddev, x.data());                           from now on as any block of clmalloc
 *
 * Blocks are made with CL_MEM_DETACHED. A container that grows has a new block, which has to be
 * attached again; clvector and clmulti_array do that themselves. std::bad_alloc where clmalloc
 * gives NULL. C++11.
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

/* The calls that containers in such memory have, each as the function of its name in stdcl.h.
 * Container has data(). */
template <class Container> class clmalloc_block
{
  public:
    clmalloc_block() : context_(NULL)
    {
    }

    /* Gives the block to a context, and each later one of this container at its first use. */
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

    /* The block's address, for clforka and clmctl, attached if the container's former one was; NULL
     * while there is none. */
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
