/* untracked.h - launches without an event, for engines that start many short kernels and query
 * none.
 *
 *   clforkv(ctx, dev, kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED | CL_EVENT_UNTRACKED,
 *           n, args)
 *
 * An event costs 2 us between two kernels with NVIDIA's driver. An untracked launch returns 0, or
 * (cl_event)-1 if it was refused. clwait waits for it through a marker after the last launch, and a
 * tracked command has such a marker before it, so that a wait for the tracked command also
 * reports the error of an untracked launch. Launches that are profiled, that wait, or that return
 * their event are tracked.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CORE_UNTRACKED_H
#define STDCL_CORE_UNTRACKED_H

#include "core/device_info.h"
#include "stdcl.h"

#define CL_EVENT_UNTRACKED 0x400000 /* distinct from all public flags */

/* CL_EVENT_UNTRACKED on NVIDIA's devices: the driver reports a kernel's failure through a later
 * marker. 0 on devices without this guarantee. */
static inline int untracked_flag(CLCONTEXT *cp, cl_uint dev)
{
    cl_uint capability = 0;
    return device_compute_capability(clgetdevice(cp, dev), &capability) == CL_SUCCESS
               ? CL_EVENT_UNTRACKED
               : 0;
}

#endif
