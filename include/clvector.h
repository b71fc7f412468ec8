/* clvector.h - std::vector in memory that devices share, as in the library of 2009-2015.
 *
 *   clvector<float> x(n);
 *   x.clmattach(stddev);
 *   x.clmsync(stddev, 0, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
 *   x.clarg_set_global(stddev, krn, 0);
 *
 * All of std::vector, and the calls below, each as the function of its name in stdcl.h. A vector
 * that has grown has another block; it is attached like the one before. No call may come while the
 * devices work on the vector and it grows, shrinks or ends. C++11. Expressions of whole vectors
 * (CLETE) are not here: docs/legacy.md.
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
