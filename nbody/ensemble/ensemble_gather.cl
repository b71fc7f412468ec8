/* ensemble_gather.cl - copy components of a few systems of an ensemble, so that a query downloads
 * only these systems.
 *
 *   from[c * systems + i]    component c of system i
 *   to[c * n + k]            component c of system index[k], for `count` components from `first` on
 *
 * SPDX-License-Identifier: MIT
 */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

kernel void ensemble_gather(global const double *from, global const uint *index, global double *to,
                            uint systems, uint first, uint count, uint n)
{
    const size_t k = get_global_id(0);
    if (k >= n)
        return;
    for (size_t c = first; c < first + count; c++)
        to[c * n + k] = from[c * systems + index[k]];
}
