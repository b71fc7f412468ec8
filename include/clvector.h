/* clvector.h - std::vector in memory that devices share, as in the library of 2009-2015.
 *
 *   clvector<float> x(n);
 *   x.clmattach(stddev);
 *   x.clmsync(stddev, 0, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
 *   x.clarg_set_global(stddev, krn, 0);
 *
 * All of std::vector, and the calls below, each as the function of its name in stdcl.h. A vector that has grown has
 * another block; it is attached like the one before. No call may come while the devices work on the vector and it
 * grows, shrinks or ends. C++11. Expressions of whole vectors (CLETE) are not here: docs/legacy.md.
 * SPDX-License-Identifier: MIT
 */
#ifndef CLVECTOR_H
#define CLVECTOR_H

#include "clmalloc_allocator.h"

#include <initializer_list>
#include <vector>

template <typename T> class clvector : public std::vector<T, clmalloc_allocator<T> >, private clmalloc_block {
    typedef std::vector<T, clmalloc_allocator<T> > base;

public:
    using base::base;
    clvector() {}

    int clmattach(CLCONTEXT *cp) { return attach(cp, this->data()); }
    int clmdetach() { return detach(this->data()); }
    cl_event clmsync(CLCONTEXT *cp, unsigned int dev, int flags = 0) { return ::clmsync(cp, dev, get_ptr(), flags); }
    size_t clarg_set_global(CLCONTEXT *cp, cl_kernel krn, unsigned int argnum)
    {
        return (::clarg_set_global)(cp, krn, argnum, get_ptr());
    }

    /* The block's address, for clforka and clmctl; NULL while the vector has none. */
    void *get_ptr() { return current(this->data()); }
};

#endif
