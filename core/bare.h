/* bare.h - launches without an event, for engines that start many short kernels and ask about none of them.
 *
 *   clforkv(ctx, dev, kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED | CL_EVENT_BARE, n, args)
 *
 * Between two kernels NVIDIA's driver takes 2 us for an event. Such a launch returns 0, or (cl_event)-1 where it was refused. clwait
 * waits for it as for any other kernel, by a marker behind all that was started. Profiles have their events nonetheless.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CORE_BARE_H
#define STDCL_CORE_BARE_H

#define CL_EVENT_BARE 0x10000

#endif
