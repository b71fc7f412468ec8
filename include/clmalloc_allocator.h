/* clmalloc_allocator.h - an allocator for C++ containers, whose memory devices can share; the name is of 2010.
 *
 *   std::vector<float, clmalloc_allocator<float>> x(n);
 *   clmattach(stddev, x.data());                           from now on as any block of clmalloc
 *
 * Blocks are made with CL_MEM_DETACHED. A container that grows has a new block, which has to be attached again;
 * clvector and clmulti_array do that themselves. std::bad_alloc where clmalloc gives NULL. C++11.
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

    clmalloc_allocator() noexcept {}
    template <typename U> clmalloc_allocator(const clmalloc_allocator<U> &) noexcept {}

    T *allocate(std::size_t n)
    {
        void *p = n <= std::numeric_limits<std::size_t>::max() / sizeof(T)
                      ? clmalloc(NULL, n * sizeof(T), CL_MEM_DETACHED)
                      : NULL;
        if (!p)
            throw std::bad_alloc();
        return static_cast<T *>(p);
    }
    void deallocate(T *p, std::size_t) noexcept { clfree(p); }
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

/* What containers in such memory have in common: their block, attached to the context that the program gave. */
class clmalloc_block {
public:
    clmalloc_block() : context_(NULL) {}

protected:
    /* Gives the block at `p` to a context, and each later one of this container at its first use. */
    int attach(CLCONTEXT *cp, void *p)
    {
        context_ = cp;
        return is_detached(p) ? ::clmattach(cp, p) : 0;
    }
    int detach(void *p)
    {
        context_ = NULL;
        return p && !is_detached(p) ? ::clmdetach(p) : 0;
    }
    /* The block, attached if the container's former one was. */
    void *current(void *p) const
    {
        if (context_ && is_detached(p))
            ::clmattach(context_, p);
        return p;
    }

private:
    static bool is_detached(void *p)
    {
        const int status = p ? clmctl(p, CL_MCTL_GET_STATUS) : 0;
        return status > 0 && (status & CL_MEM_DETACHED);
    }
    CLCONTEXT *context_;
};

#endif
