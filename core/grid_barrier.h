/* grid_barrier.h - host part of a barrier between all work-groups of a launch (grid_barrier.cl),
 * with which one launch makes many steps.
 *
 *   const char *options = grid_barrier_options(ctx, dev, &info);      NULL: unsupported
 *   EMBEDDED(barrier, "core/grid_barrier.cl", core_grid_barrier_cl);  precedes the kernel file;
 *                                                                     list it in stdcl_kernels()
 *
 * The kernel takes `counter`, a word on the device that is 0 before a launch. Try a launch before
 * relying on it: run the same kernel with the same number of groups, which only call the barrier,
 * with grid_barrier_max_polls. If *counter has GRID_BARRIER_TIMEOUT afterwards, the groups were not
 * resident together: use one launch per step. After a launch that makes steps the flag is an error,
 * because some groups have made more steps than others.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_GRID_BARRIER_H
#define CORE_GRID_BARRIER_H

#include "core/device_info.h"
#include "stdcl.h"

#define GRID_BARRIER_TIMEOUT 0x80000000u /* as in grid_barrier.cl */

/* Return the build options that grid_barrier.cl needs on a device, "" for none; NULL where the
 * device has no acquire and release across work-groups. */
static inline const char *grid_barrier_options(CLCONTEXT *cp, cl_uint dev,
                                               const struct cldev_info *info)
{
    const cl_bitfield needed = CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_SCOPE_DEVICE;
    cl_bitfield orders = 0;
    cl_uint capability = 0;
    if (vendor_is_nvidia(info->dev_vendor))
        return device_compute_capability(clgetdevice(cp, dev), &capability) == CL_SUCCESS &&
                       capability >= 70
                   ? ""
                   : NULL;
    if (clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, sizeof orders,
                        &orders, NULL) != CL_SUCCESS)
        return NULL;
    return (orders & needed) == needed ? " -cl-std=CL3.0" : NULL;
}

/* Return how often a group reads the counter before it times out, after a second or two. A read
 * takes about 0.7 us on a GPU and a few ns on a CPU. */
static inline cl_uint grid_barrier_max_polls(const struct cldev_info *info)
{
    return info->dev_type & CL_DEVICE_TYPE_CPU ? 1u << 28 : 1u << 21;
}

#endif
