/* beside.c - the second queue of a device, which takes the commands with CL_EVENT_BESIDE.
 *
 * CPUs have none: their commands keep every core busy, and PoCL 5 ends a program two of whose queues run the same kernel. In a
 * context that is observed all commands stand in one line, so that a profile can tell how long each took.
 * SPDX-License-Identifier: MIT
 */
#include "core/internal.h"

static bool has_none(const struct command *c)
{
    return !(c->cp->dev[c->dev].type & CL_DEVICE_TYPE_GPU) || context_observed(c->cp);
}

/* The second queue, made at its first use; NULL where it cannot be made. */
static cl_command_queue second(struct device *d)
{
    pthread_mutex_lock(&d->lock);
    if (!d->beside)
        d->beside = clCreateCommandQueue(d->context, d->id, 0, NULL);
    const cl_command_queue queue = d->beside;
    pthread_mutex_unlock(&d->lock);
    return queue;
}

/* What is enqueued from now on waits for what the other queue was told so far; where it cannot be told to, the host waits. */
static void follow(cl_command_queue queue, cl_command_queue other)
{
    cl_event before = NULL;
    if (clEnqueueMarkerWithWaitList(other, 0, NULL, &before) != CL_SUCCESS || clFlush(other) != CL_SUCCESS ||
        clEnqueueBarrierWithWaitList(queue, 1, &before, NULL) != CL_SUCCESS)
        clFinish(other);
    if (before)
        clReleaseEvent(before);
}

cl_command_queue queue_for(const struct command *c, struct note *note, int flags)
{
    struct device *d = &c->cp->dev[c->dev];
    const cl_command_queue first = command_queue(c, note);
    if (!(flags & (CL_EVENT_BESIDE | CL_EVENT_AFTER)) || has_none(c))
        return first;
    const cl_command_queue beside = second(d);
    if (!beside)
        return first;
    const cl_command_queue queue = flags & CL_EVENT_BESIDE ? beside : first;
    if (flags & CL_EVENT_AFTER)
        follow(queue, queue == beside ? first : beside);
    return queue;
}

void device_flush_beside(struct device *d)
{
    if (d->beside)
        clFlush(d->beside);
}

void device_drain(struct device *d)
{
    clFinish(d->queue);
    if (d->beside)
        clFinish(d->beside);
}

void beside_close(struct device *d)
{
    if (d->beside)
        clReleaseCommandQueue(d->beside);
}
