/* device.c - launches, waits and memory of a device.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "core/round.h"

int nbody_device_launch_1d(const struct nbody *nb, const struct nbody_device *p, cl_kernel kernel,
                           size_t rows, size_t components, cl_uint nargs,
                           const struct stdcl_arg *args)
{
    const size_t flat = (size_t)p->shape.group_1d;
    clndrange_t ndr = clndrange_init2d(0, round_up(rows, flat), flat, 0, components, 1);
    cl_event ev = clforkv(nb->ctx, p->dev, kernel, &ndr,
                          nb->flags | CL_EVENT_CHECKED | p->untracked, nargs, args);
    return ev == (cl_event)-1 ? -1 : 0;
}

void nbody_device_mark_idle(struct nbody *nb, struct nbody_device *p)
{
    nb->simulation.task.done += p->pace.queued;
    pace_waited(&p->pace);
}

int nbody_device_wait(struct nbody *nb, struct nbody_device *p)
{
    const cl_event ev = clwait(nb->ctx, p->dev, CL_ALL_EVENT);
    nbody_device_mark_idle(nb, p);
    p->domain.ev_upload = p->domain.ev_download = NULL; /* released by the wait */
    return ev == (cl_event)-1 ? -1 : 0;
}

int nbody_device_wait_all(struct nbody *nb)
{
    int status = 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && nbody_device_wait(nb, p) != 0)
            status = -1;
    return status == 0 ? nbody_progress_report(nb) : -1;
}

int nbody_device_download(struct nbody *nb, struct nbody_device *p, void *from, size_t size)
{
    if (clmsyncn(nb->ctx, p->dev, from, size, CL_MEM_HOST) == (cl_event)-1)
        return -1;
    return nbody_device_wait(nb, p);
}

const struct nbody_device *nbody_device_twin(const struct nbody *nb, const struct nbody_device *p)
{
    for (const struct nbody_device *q = nb->device; q < p; q++)
        if (q->rows && q->force.all_chunks == p->force.all_chunks &&
            strcmp(q->tuning.shape, p->tuning.shape) == 0)
            return q;
    return NULL;
}

void *nbody_device_alloc(struct nbody *nb, struct nbody_device *p, size_t size, int flags)
{
    void *block = clmalloc(nb->ctx, size, flags);
    if (!block || !clgetbuffer(nb->ctx, p->dev, block))
        return clfree(block), NULL;
    p->bytes += size;
    return block;
}
