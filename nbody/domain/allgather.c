/* allgather.c - allgather of positions among all devices, for direct sums.
 *
 * Every device holds the positions of all bodies and integrates a range of rows that begins and
 * ends at work-group boundaries. After a step the positions pass through the host: each device
 * downloads its own (nbody_allgather_begin), computes meanwhile, and uploads the rows of all other
 * devices (nbody_allgather_finish). The in-order queues synchronise the devices' commands. One
 * hazard remains: the host image of a range must not be overwritten before all other devices have
 * read it. Therefore `incoming` is waited for.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/domain/ranks.h"

/* ---- Positions to all devices. --------------------------------------------------------------- */

/* Bytes of a device's positions. For other ranks only `rows` is set. */
static size_t device_row_bytes(const struct nbody *nb, const struct nbody_device *p)
{
    return (p->count ? p->count : p->rows) * 4 * nb->real;
}

static void *device_rows(const struct nbody *nb, void *array, const struct nbody_device *p)
{
    return (char *)array + p->first * 4 * nb->real;
}

/* Copy the rows of `owner` between the host and device `dev`; *ev: event of the last copy. */
static int copy_device_rows(struct nbody *nb, const struct nbody_device *owner, cl_uint dev,
                            int direction, cl_event *ev)
{
    void *const arrays[] = {nb->particles.posm, nb->particles.velo, nb->particles.acce};
    for (int a = 0; a < 3 && arrays[a]; a++) {
        *ev = clmsyncn(nb->ctx, dev, device_rows(nb, arrays[a], owner), device_row_bytes(nb, owner),
                       direction | CL_EVENT_NOWAIT | CL_EVENT_CHECKED);
        if (*ev == (cl_event)-1)
            return *ev = NULL, -1;
    }
    return 0;
}

static int allgather_wait_event(struct nbody *nb, cl_uint dev, cl_event *ev)
{
    cl_event waited = *ev;
    *ev = NULL;
    return waited && clwaitev(nb->ctx, dev, waited, 0) == (cl_event)-1 ? -1 : 0;
}

static bool owns_all_bodies(const struct nbody *nb, const struct nbody_device *p)
{
    return p->rows == nb->padded && p->count == nb->n;
}

int nbody_allgather_begin(struct nbody *nb)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (allgather_wait_event(nb, p->dev, &p->ev_upload) != 0)
            return -1;
    if (nbody_ranks_receive(nb) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && !owns_all_bodies(nb, p) &&
            (copy_device_rows(nb, p, p->dev, CL_MEM_HOST, &p->ev_download) != 0 ||
             clflush(nb->ctx, p->dev, 0) != 0))
            return -1;
    return 0;
}

/* Upload the positions received from other ranks. */
static int upload_other_ranks(struct nbody *nb)
{
    struct nbody_device others[2];
    const size_t n = nbody_ranks_others(nb, others);
    if (n && nbody_ranks_finish(nb) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        for (size_t k = 0; p->rows && k < n; k++)
            if (others[k].rows &&
                copy_device_rows(nb, &others[k], p->dev, CL_MEM_DEVICE, &p->ev_upload) != 0)
                return -1;
    return 0;
}

int nbody_allgather_finish(struct nbody *nb)
{
    struct nbody_device *const end = nb->device + nb->ndev;
    for (struct nbody_device *p = nb->device; p < end; p++)
        if (allgather_wait_event(nb, p->dev, &p->ev_download) != 0)
            return -1;
    if (nbody_ranks_send(nb) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < end; p++)
        for (struct nbody_device *q = nb->device; p->rows && q < end; q++)
            if (q != p && q->rows &&
                copy_device_rows(nb, q, p->dev, CL_MEM_DEVICE, &p->ev_upload) != 0)
                return -1;
    return upload_other_ranks(nb);
}

bool nbody_domain_is_shared(const struct nbody *nb)
{
    return nb->domain.shared_version == nb->particles.version;
}

void nbody_domain_set_shared(struct nbody *nb)
{
    nb->domain.shared_version = nb->particles.version;
}
