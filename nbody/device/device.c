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

void nbody_device_count_launches(struct nbody *nb, bool count)
{
    nb->flags = CL_EVENT_NOWAIT | (count ? 0 : CL_EVENT_UNCOUNTED);
}

int nbody_device_write_bad(struct nbody *nb, struct nbody_device *p, int first)
{
    *p->bad = first;
    p->bad[BARRIER_WORD] = 0;
    return nbody_device_upload(nb, p, p->bad, 0);
}

void nbody_device_mark_idle(struct nbody *nb, struct nbody_device *p, double waited)
{
    if (p->pace.queued > 0) /* devices' threads wait for copies */
        nbody_progress_add(nb, p->pace.queued);
    pace_waited_after(&p->pace, waited);
}

/* Wait for all commands of a device; the host waits for it since `began`. */
static int wait_since(struct nbody *nb, struct nbody_device *p, double began)
{
    const cl_event ev = nb->ctx ? clwait(nb->ctx, p->dev, CL_ALL_EVENT) : NULL;
    nbody_device_mark_idle(nb, p, seconds_now() - began);
    p->ev_upload = p->ev_download = NULL; /* released by the wait */
    return ev == (cl_event)-1 ? -1 : 0;
}

int nbody_device_wait(struct nbody *nb, struct nbody_device *p)
{
    return wait_since(nb, p, seconds_now());
}

int nbody_device_wait_all(struct nbody *nb)
{
    int status = 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && nbody_device_wait(nb, p) != 0)
            status = -1;
    return status == 0 ? nbody_progress_report(nb) : -1;
}

int nbody_device_upload(const struct nbody *nb, const struct nbody_device *p, void *from,
                        size_t size)
{
    if (!nb->ctx)
        return 0;
    const cl_event ev = size ? clmsyncn(nb->ctx, p->dev, from, size, CL_MEM_DEVICE)
                             : clmsync(nb->ctx, p->dev, from, CL_MEM_DEVICE);
    return ev == (cl_event)-1 ? -1 : 0;
}

int nbody_device_download(struct nbody *nb, struct nbody_device *p, void *from, size_t size)
{
    const double began = seconds_now();
    if (!nb->ctx)
        return 0;
    if (clmsyncn(nb->ctx, p->dev, from, size, CL_MEM_HOST) == (cl_event)-1)
        return -1;
    return wait_since(nb, p, began);
}

const struct nbody_device *nbody_device_twin(const struct nbody *nb, const struct nbody_device *p)
{
    for (const struct nbody_device *q = nb->device; q < p; q++)
        if (q->rows && q->force.all_chunks == p->force.all_chunks &&
            strcmp(q->tuning.shape, p->tuning.shape) == 0)
            return q;
    return NULL;
}

void nbody_device_add_bytes(struct nbody_device *p, size_t bytes)
{
    p->bytes += bytes;
}

void nbody_device_drop_bytes(struct nbody_device *p, size_t bytes)
{
    p->bytes -= bytes;
}

void *nbody_device_memory(const struct nbody *nb, size_t size, int flags)
{
    return clmalloc(nb->ctx, size, nb->ctx ? flags : flags | CL_MEM_DETACHED);
}

void *nbody_device_alloc(struct nbody *nb, struct nbody_device *p, size_t size, int flags)
{
    void *block = nbody_device_memory(nb, size, flags);
    if (!nb->ctx)
        return block;
    if (!block || !clgetbuffer(nb->ctx, p->dev, block))
        return clfree(block), NULL;
    nbody_device_add_bytes(p, size);
    return block;
}

int nbody_device_allocate(struct nbody *nb, struct nbody_device *p)
{
    p->bad = nbody_device_alloc(nb, p, BAD_WORDS * sizeof *p->bad, CL_MEM_ZEROCOPY);
    return p->bad ? 0 : -1;
}

void nbody_device_free(struct nbody *nb)
{
    for (cl_uint d = 0; nb->device && d < nb->ndev; d++)
        clfree(nb->device[d].bad);
    free(nb->device);
}
