/* clmulti_array.h - boost::multi_array in memory shared with devices, as in the library of
 * 2009-2015.
 *
 *   clmulti_array<float, 2> a(boost::extents[n][n]);        rows of n, contiguous
 *   a.clmattach(stddev);
 *   a.clmsync(stddev, 0, CL_MEM_DEVICE | CL_EVENT_NOWAIT);
 *   a.clarg_set_global(stddev, krn, 0);
 *
 * All of boost::multi_array, and the calls below, each as the function of its name in stdcl.h. A
 * resized array has a new block, attached as its previous block was. Needs Boost's headers
 * (libboost-dev), as it did then. C++11. Expressions and intervals of whole arrays (CLETE) are not
 * supported: docs/legacy.md.
 * SPDX-License-Identifier: MIT
 */
#ifndef CLMULTI_ARRAY_H
#define CLMULTI_ARRAY_H

#include "clmalloc_allocator.h"

#include <boost/multi_array.hpp>

template <typename T, std::size_t D>
class clmulti_array : public boost::multi_array<T, D, clmalloc_allocator<T>>,
                      public clmalloc_block<clmulti_array<T, D>>
{
    typedef boost::multi_array<T, D, clmalloc_allocator<T>> base;

  public:
    clmulti_array()
    {
    }
    template <class Extents> explicit clmulti_array(const Extents &extents) : base(extents)
    {
    }
    using base::operator=;
};

#endif
