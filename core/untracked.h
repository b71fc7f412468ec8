/* untracked.h - launches without an event, for engines that start many short kernels and ask about
 * none of them.
 *
 *   clforkv(ctx, dev, kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED | CL_EVENT_BARE, n, args)
 *
 * Between two kernels NVIDIA's driver takes 2 us for an event. Such a launch returns 0, or
 * (cl_event)-1 where it was refused. clwait waits for it as for any other kernel, by a marker
 * behind all that was started; and a command that has an event has such a marker before it, so that
 * whoever waits for that command is told what failed. Launches that are profiled, that wait, or
 * whose caller takes the event have one nonetheless.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CORE_BARE_H
#define STDCL_CORE_BARE_H

#include "core/device_info.h"
#include "stdcl.h"

#define CL_EVENT_BARE 0x400000 /* no other flag's bit */

/* That flag for NVIDIA's devices, whose driver tells by a marker behind a kernel that it failed;
 * for others, of which that is not known, none. */
static inline int bare_on(CLCONTEXT *cp, cl_uint dev)
{
    cl_uint capability = 0;
    return device_compute_capability(clgetdevice(cp, dev), &capability) == CL_SUCCESS
               ? CL_EVENT_BARE
               : 0;
}

#endif
