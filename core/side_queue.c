/* side_queue.c - auxiliary queues of a device for commands with CL_EVENT_SIDE_QUEUE: one for copies
 * to the device, one for all others.
 *
 * CPU devices have none: their commands keep every core busy, and PoCL 5 crashes when two queues
 * run the same kernel. In an observed context all commands use the main queue, so that a profile
 * can attribute the time of each.
 * SPDX-License-Identifier: MIT
 */
#include "core/context.h"

static bool has_none(const struct command *c)
{
    return !(c->cp->dev[c->dev].type & CL_DEVICE_TYPE_GPU) || context_observed(c->cp);
}

/* Copies to the device have their own queue, so that they overlap copies from it. */
static int side_queue_index(const struct command *c)
{
    return c->kind == HOST_TO_DEVICE;
}

/* Let later commands of `queue` wait for all earlier commands of the other queue; if the driver
 * refuses, the host waits. */
static void queue_wait_for(cl_command_queue queue, cl_command_queue other)
{
    cl_event before = NULL;
    if (clEnqueueMarkerWithWaitList(other, 0, NULL, &before) != CL_SUCCESS ||
        clFlush(other) != CL_SUCCESS ||
        clEnqueueBarrierWithWaitList(queue, 1, &before, NULL) != CL_SUCCESS)
        clFinish(other);
    if (before)
        clReleaseEvent(before);
}

cl_command_queue queue_for(const struct command *c, struct command_record *note, int flags)
{
    struct device *d = &c->cp->dev[c->dev];
    event_add_marker(d, flags);
    const cl_command_queue first = command_queue(c, note);
    if (!(flags & (CL_EVENT_SIDE_QUEUE | CL_EVENT_BARRIER)) || has_none(c))
        return first;
    const cl_command_queue queue =
        flags & CL_EVENT_SIDE_QUEUE ? device_side_queue(d, side_queue_index(c), true) : first;
    if (!queue)
        return first;
    if (flags & CL_EVENT_BARRIER && queue != first)
        queue_wait_for(queue, first);
    for (int k = 0; k < 2 && flags & CL_EVENT_BARRIER && queue == first; k++) {
        const cl_command_queue other = device_side_queue(d, k, false);
        if (other)
            queue_wait_for(first, other);
    }
    return queue;
}

void side_queues_close(struct device *d)
{
    for (int k = 0; k < 2; k++)
        if (d->side_queue[k])
            clReleaseCommandQueue(d->side_queue[k]);
}
