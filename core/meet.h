/* meet.h - launches whose work-groups meet, so that one launch makes many steps (meet.cl): what a
 * host needs of it.
 *
 *   const char *words = meet_options(ctx, dev, &info);      NULL: this device's compiler cannot
 *   EMBEDDED(meeting, "core/meet.cl", core_meet_cl);        put in front of the kernel file;
 *   stdcl_kernels(... core/meet.cl)
 *
 * The kernel takes `place`, a number on the device that is 0 before a launch. Before such a launch
 * is relied on it is tried: the same kernel with as many groups, which do nothing but meet, with
 * meet_patience. Where *place has MEET_LOST afterwards, they did not: then steps are launches. In a
 * launch that does something that is an error, since some groups have done more than others.
 * SPDX-License-Identifier: MIT
 */
#ifndef CORE_MEET_H
#define CORE_MEET_H

#include "stdcl.h"

#include <CL/cl_ext.h>
#include <string.h>

#define MEET_LOST 0x80000000u /* as in meet.cl */

/* Build options that meet.cl needs on a device, "" for none; NULL where groups cannot meet: without
 * orders of memory across them. */
static inline const char *meet_options(CLCONTEXT *cp, cl_uint dev, const struct cldev_info *info)
{
    const cl_bitfield needed = CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_SCOPE_DEVICE;
    cl_bitfield orders = 0;
    cl_uint capability = 0;
    if (strstr(info->dev_vendor, "NVIDIA"))
        return clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV,
                               sizeof capability, &capability, NULL) == CL_SUCCESS &&
                       capability >= 7
                   ? ""
                   : NULL;
    if (clGetDeviceInfo(clgetdevice(cp, dev), CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES, sizeof orders,
                        &orders, NULL) != CL_SUCCESS)
        return NULL;
    return (orders & needed) == needed ? " -cl-std=CL3.0" : NULL;
}

/* Looks at `place` that a group waits for: a second or two. Some 0.7 us each on a GPU, a few ns on
 * a CPU. */
static inline cl_uint meet_patience(const struct cldev_info *info)
{
    return info->dev_type & CL_DEVICE_TYPE_CPU ? 1u << 28 : 1u << 21;
}

#endif
