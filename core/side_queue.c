/* side_queue.c - further queues of a device, which take the commands with CL_EVENT_SIDE_QUEUE: one
 * copies to it, one all others.
 *
 * CPUs have none: their commands keep every core busy, and PoCL 5 ends a program two of whose
 * queues run the same kernel. In a context that is observed all commands stand in one line, so that
 * a profile can tell how long each took.
 * SPDX-License-Identifier: MIT
 */
#include "core/internal.h"

static bool has_none(const struct command *c)
{
    return !(c->cp->dev[c->dev].type & CL_DEVICE_TYPE_GPU) || context_observed(c->cp);
}

/* Copies to the device have one of their own, so that they run beside those from it. */
static int which(const struct command *c)
{
    return c->kind == HOST_TO_DEVICE;
}

/* What is enqueued from now on waits for what the other queue was told so far; where it cannot be
 * told to, the host waits. */
static void follow(cl_command_queue queue, cl_command_queue other)
{
    cl_event before = NULL;
    if (clEnqueueMarkerWithWaitList(other, 0, NULL, &before) != CL_SUCCESS ||
        clFlush(other) != CL_SUCCESS ||
        clEnqueueBarrierWithWaitList(queue, 1, &before, NULL) != CL_SUCCESS)
        clFinish(other);
    if (before)
        clReleaseEvent(before);
}

cl_command_queue queue_for(const struct command *c, struct note *note, int flags)
{
    struct device *d = &c->cp->dev[c->dev];
    event_mark(d, flags);
    const cl_command_queue first = command_queue(c, note);
    if (!(flags & (CL_EVENT_SIDE_QUEUE | CL_EVENT_BARRIER)) || has_none(c))
        return first;
    const cl_command_queue queue =
        flags & CL_EVENT_SIDE_QUEUE ? device_side_queue(d, which(c), true) : first;
    if (!queue)
        return first;
    if (flags & CL_EVENT_BARRIER && queue != first)
        follow(queue, first);
    for (int k = 0; k < 2 && flags & CL_EVENT_BARRIER && queue == first; k++) {
        const cl_command_queue other = device_side_queue(d, k, false);
        if (other)
            follow(first, other);
    }
    return queue;
}

void side_queues_close(struct device *d)
{
    for (int k = 0; k < 2; k++)
        if (d->beside[k])
            clReleaseCommandQueue(d->beside[k]);
}
