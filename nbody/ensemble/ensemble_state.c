/* ensemble_state.c - copies of an ensemble's systems between host and devices.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/ensemble/ensemble.h"

#include "core/args.h"

/* ---- Copies. --------------------------------------------------------------------------------- */

int ensemble_upload_record(const nbody_ensemble *e, cl_uint dev)
{
    const struct part *p = &e->part[dev];
    return p->record && clmsync(e->ctx, dev, p->record, CL_MEM_DEVICE) == (cl_event)-1 ? -1 : 0;
}

int ensemble_upload(const nbody_ensemble *e, cl_uint dev)
{
    const struct part *p = &e->part[dev];
    if (!p->n)
        return 0;
    if (clmsync(e->ctx, dev, p->state, CL_MEM_DEVICE) == (cl_event)-1 ||
        clmsync(e->ctx, dev, p->gm, CL_MEM_DEVICE) == (cl_event)-1)
        return -1;
    if (p->slots && clmsync(e->ctx, dev, p->slots, CL_MEM_DEVICE) == (cl_event)-1)
        return -1;
    return ensemble_upload_record(e, dev);
}

int ensemble_wait_all(nbody_ensemble *e)
{
    int status = 0;
    for (cl_uint d = 0; d < e->ndev; d++)
        if (e->part[d].n) {
            const double began = seconds_now();
            if (clwait(e->ctx, d, CL_ALL_EVENT) == (cl_event)-1)
                status = -1;
            pace_waited_after(&e->part[d].pace, seconds_now() - began);
        }
    return status;
}

int ensemble_begin_slots(nbody_ensemble *e, cl_uint started, double ahead)
{
    for (cl_uint d = 0; d < e->ndev; d++) {
        const struct part *p = &e->part[d];
        clndrange_t ndr = ensemble_range(e, p);
        if (p->n && clforkv(e->ctx, d, e->begin, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED,
                            ARGS(p->state, p->slots, p->gm, (cl_uint)p->n, e->dt, started,
                                 ahead)) == (cl_event)-1)
            return -1;
    }
    return 0;
}

int ensemble_synchronize_part(const nbody_ensemble *e, cl_uint dev, const struct part *p)
{
    clndrange_t ndr = ensemble_range(e, p);
    return p->n && clforkv(e->ctx, dev, e->synchronize, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED,
                           ARGS(p->state, p->slots, p->gm, (cl_uint)p->n, e->dt)) == (cl_event)-1
               ? -1
               : 0;
}

int ensemble_synchronize(nbody_ensemble *e)
{
    for (cl_uint d = 0; d < e->ndev && !e->current; d++)
        if (ensemble_synchronize_part(e, d, &e->part[d]) != 0)
            return -1;
    e->current = true;
    return 0;
}

static int ensemble_download_part(nbody_ensemble *e, cl_uint d)
{
    const struct part *p = &e->part[d];
    if (!p->n)
        return 0;
    if (clmsync(e->ctx, d, p->state, CL_MEM_HOST) == (cl_event)-1)
        return -1;
    if (!e->watched)
        return 0;
    return clmsync(e->ctx, d, p->gm, CL_MEM_HOST) == (cl_event)-1 ||
                   clmsync(e->ctx, d, p->record, CL_MEM_HOST) == (cl_event)-1
               ? -1
               : 0;
}

int ensemble_download(nbody_ensemble *e)
{
    if (ensemble_synchronize(e) != 0)
        return -1;
    for (cl_uint d = 0; d < e->ndev; d++)
        if (ensemble_download_part(e, d) != 0)
            return -1;
    e->downloaded = ensemble_wait_all(e) == 0;
    return e->downloaded ? 0 : -1;
}

int ensemble_download_sums(nbody_ensemble *e)
{
    const size_t first = ensemble_sums(e), count = ensemble_slots(e) - first;
    for (cl_uint d = 0; d < e->ndev; d++) {
        const struct part *p = &e->part[d];
        if (p->n && clmsyncn(e->ctx, d, p->slots + first * p->n, count * p->n * sizeof *p->slots,
                             CL_MEM_HOST) == (cl_event)-1)
            return -1;
    }
    return ensemble_wait_all(e);
}

static int ensemble_download_slots(const nbody_ensemble *e, cl_uint dev)
{
    const struct part *p = &e->part[dev];
    if (!p->n)
        return 0;
    if (clmsync(e->ctx, dev, p->slots, CL_MEM_HOST) == (cl_event)-1)
        return -1;
    return p->record && clmsync(e->ctx, dev, p->record, CL_MEM_HOST) == (cl_event)-1 ? -1 : 0;
}

int ensemble_download_own(nbody_ensemble *e)
{
    if (!ensemble_steps_slots(e) && ensemble_download(e) != 0)
        return -1;
    if (!ensemble_has_slots(e))
        return 0;
    for (cl_uint d = 0; d < e->ndev; d++)
        if (ensemble_download_slots(e, d) != 0)
            return -1;
    return ensemble_wait_all(e);
}
