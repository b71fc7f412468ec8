/* bare.h - launches without an event, for engines that start many short kernels and ask about none of them.
 *
 *   clforkv(ctx, dev, kernel, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED | CL_EVENT_BARE, n, args)
 *
 * Between two kernels NVIDIA's driver takes 2 us for an event. Such a launch returns 0, or (cl_event)-1 where it was refused. clwait
 * waits for it as for any other kernel, by a marker behind all that was started; and a command that has an event has such a marker before
 * it, so that whoever waits for that command is told what failed. Launches that are profiled, that wait, or whose caller takes the
 * event have one nonetheless.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CORE_BARE_H
#define STDCL_CORE_BARE_H

#define CL_EVENT_BARE 0x400000 /* no other flag's bit */

#endif
