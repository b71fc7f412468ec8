/* exchange.c - how all devices get all positions.
 *
 * Every device holds the positions of all bodies, and moves those of its own share: a run of rows
 * that begins and ends where a work-group may. After a step the shares travel by way of the host:
 * each device sends its own (nbody_exchange_begin), computes with it meanwhile, and gets those of
 * the others (nbody_exchange_finish). The commands of a device run in order, so nothing else is
 * needed there. But the host's copy of a share must not be overwritten before all other devices
 * have fetched it: that is why `incoming` is waited for.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/ranks.h"

/* ---- Positions to all devices. --------------------------------------------------------------- */

/* Of other ranks only rows are known. */
static size_t share_bytes(const struct nbody *nb, const struct nbody_device *p)
{
    return (p->count ? p->count : p->rows) * 4 * nb->real;
}

static void *rows_of(const struct nbody *nb, void *array, const struct nbody_device *p)
{
    return (char *)array + p->first * 4 * nb->real;
}

/* Copies the rows of `owner` between the host and device `dev`; the event is that of the last
 * copy. */
static int copy_share(struct nbody *nb, const struct nbody_device *owner, cl_uint dev,
                      int direction, cl_event *ev)
{
    void *const arrays[] = {nb->posm, nb->velo, nb->acce};
    for (int a = 0; a < 3 && arrays[a]; a++) {
        *ev = clmsyncn(nb->ctx, dev, rows_of(nb, arrays[a], owner), share_bytes(nb, owner),
                       direction | CL_EVENT_NOWAIT | CL_EVENT_CHECKED);
        if (*ev == (cl_event)-1)
            return *ev = NULL, -1;
    }
    return 0;
}

static int await(struct nbody *nb, cl_uint dev, cl_event *ev)
{
    cl_event waited = *ev;
    *ev = NULL;
    return waited && clwaitev(nb->ctx, dev, waited, 0) == (cl_event)-1 ? -1 : 0;
}

static bool alone(const struct nbody *nb, const struct nbody_device *p)
{
    return p->rows == nb->padded && p->count == nb->n;
}

int nbody_exchange_begin(struct nbody *nb)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (await(nb, p->dev, &p->incoming) != 0)
            return -1;
    if (nbody_ranks_receive(nb) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && !alone(nb, p) &&
            (copy_share(nb, p, p->dev, CL_MEM_HOST, &p->outgoing) != 0 ||
             clflush(nb->ctx, p->dev, 0) != 0))
            return -1;
    return 0;
}

/* What other ranks have sent. */
static int bring_others(struct nbody *nb)
{
    struct nbody_device others[2];
    const size_t n = nbody_ranks_others(nb, others);
    if (n && nbody_ranks_finish(nb) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        for (size_t k = 0; p->rows && k < n; k++)
            if (others[k].rows &&
                copy_share(nb, &others[k], p->dev, CL_MEM_DEVICE, &p->incoming) != 0)
                return -1;
    return 0;
}

int nbody_exchange_finish(struct nbody *nb)
{
    struct nbody_device *const end = nb->device + nb->ndev;
    for (struct nbody_device *p = nb->device; p < end; p++)
        if (await(nb, p->dev, &p->outgoing) != 0)
            return -1;
    if (nbody_ranks_send(nb) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < end; p++)
        for (struct nbody_device *q = nb->device; p->rows && q < end; q++)
            if (q != p && q->rows && copy_share(nb, q, p->dev, CL_MEM_DEVICE, &p->incoming) != 0)
                return -1;
    return bring_others(nb);
}
