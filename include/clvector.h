/* clvector.h - std::vector in memory shared with devices, as in the library of 2009-2015.
 *
 *   clvector<float> x(n);
 *   x.clmattach(stddev);
 *   x.clmsync(stddev, 0, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
 *   x.clarg_set_global(stddev, krn, 0);
 *
 * All of std::vector, and the calls below, each as the function of its name in stdcl.h. A vector
 * that has grown has a new block, attached as its previous block was. Do not grow, shrink or
 * destroy a vector while devices use it. C++11. Expressions of whole vectors (CLETE) are not
 * supported: docs/legacy.md.
 * SPDX-License-Identifier: MIT
 */
#ifndef CLVECTOR_H
#define CLVECTOR_H

#include "clmalloc_allocator.h"

#include <initializer_list>
#include <vector>

template <typename T>
class clvector : public std::vector<T, clmalloc_allocator<T>>, public clmalloc_block<clvector<T>>
{
    typedef std::vector<T, clmalloc_allocator<T>> base;

  public:
    using base::base;
    clvector()
    {
    }
};

#endif
