/* exchange.c - which device owns which bodies; how all devices get all positions.
 *
 * Every device holds the positions of all bodies, and moves those of its own share: a run of rows that begins
 * and ends where a work-group may. After a step the shares travel by way of the host: each device sends its
 * own (nbody_exchange_begin), computes with it meanwhile, and gets those of the others
 * (nbody_exchange_finish). The commands of a device run in order, so nothing else is needed there. But the
 * host's copy of a share must not be overwritten before all other devices have fetched it: that is why
 * `incoming` is waited for.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include <math.h>

/* ---- Positions to all devices. ---------------------------------------------------------------- */

static size_t share_bytes(const struct nbody *nb, const struct share *p)
{
    return p->rows * 4 * nb->real;
}

static void *rows_of(const struct nbody *nb, void *array, const struct share *p)
{
    return (char *)array + p->first * 4 * nb->real;
}

/* Copies the rows of `owner` between the host and device `dev`; the event is that of the last copy. */
static int copy_share(struct nbody *nb, const struct share *owner, cl_uint dev, int direction, cl_event *ev)
{
    void *const arrays[] = {nb->posm, nb->velo};
    for (int a = 0; a < 2 && arrays[a]; a++) {
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

static bool alone(const struct nbody *nb, const struct share *p)
{
    return p->rows == nb->padded;
}

int nbody_exchange_begin(struct nbody *nb)
{
    for (struct share *p = nb->share; p < nb->share + nb->ndev; p++)
        if (await(nb, p->dev, &p->incoming) != 0)
            return -1;
    for (struct share *p = nb->share; p < nb->share + nb->ndev; p++)
        if (p->rows && !alone(nb, p) &&
            (copy_share(nb, p, p->dev, CL_MEM_HOST, &p->outgoing) != 0 || clflush(nb->ctx, p->dev, 0) != 0))
            return -1;
    return 0;
}

int nbody_exchange_finish(struct nbody *nb)
{
    struct share *const end = nb->share + nb->ndev;
    for (struct share *p = nb->share; p < end; p++)
        if (await(nb, p->dev, &p->outgoing) != 0)
            return -1;
    for (struct share *p = nb->share; p < end; p++)
        for (struct share *q = nb->share; p->rows && q < end; q++)
            if (q != p && q->rows && copy_share(nb, q, p->dev, CL_MEM_DEVICE, &p->incoming) != 0)
                return -1;
    return 0;
}

/* ---- Which device owns which bodies. ---------------------------------------------------------- */

/* A share is a whole number of these: work-groups and tiles of any device begin and end there, and blocks of energies. */
static size_t grain(const struct nbody *nb)
{
    size_t g = SUM_BLOCK;
    for (cl_uint d = 0; d < nb->ndev; d++) {
        g = common_multiple(g, nbody_shape_rows(&nb->share[d].shape));
        g = common_multiple(g, (size_t)nb->share[d].shape.tile);
    }
    return g;
}

void nbody_exchange_divide(struct nbody *nb, const double *weight)
{
    const size_t g = grain(nb), grains = (nb->n + g - 1) / g;
    double all = 0, below = 0;
    size_t first = 0;
    for (cl_uint d = 0; d < nb->ndev; d++)
        all += weight[d];
    for (cl_uint d = 0; d < nb->ndev; d++) {
        struct share *p = &nb->share[d];
        below += weight[d];
        size_t end = d + 1 == nb->ndev ? grains : (size_t)floor((double)grains * (below / all) + 0.5);
        end = end > grains ? grains : end;
        p->first = first * g;
        p->rows = (end - first) * g;
        p->count = nb->n < p->first ? 0 : nb->n - p->first < p->rows ? nb->n - p->first : p->rows;
        first = end;
    }
    nb->padded = grains * g;
}
