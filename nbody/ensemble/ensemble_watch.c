/* ensemble_watch.c - what ends or changes a system of an ensemble: contacts of bodies, and bodies
 * far from the centre of mass. The kernels look for both in each step (ensemble_watch.cl).
 * SPDX-License-Identifier: MIT
 */
#include "nbody/ensemble/ensemble.h"

#include "core/handle.h"
#include "core/reserved.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- Watch. ---------------------------------------------------------------------------------- */

static int ensemble_check_watch(const nbody_ensemble *e,
                                const struct nbody_ensemble_watch_options *o)
{
    if (e->steps > 0 || e->watched)
        return clerror_set(
            EINVAL, "nbody_ensemble_watch: call it once, after nbody_ensemble_create and before "
                    "the first step");
    if (e->integrator == NBODY_WHFAST && o->radius && o->merge)
        return clerror_set(ENOTSUP,
                           "nbody_ensemble_watch: NBODY_WHFAST does not merge bodies; end systems "
                           "at contacts, or use the integrator 0 or NBODY_IAS15");
    if (e->megno && o->radius)
        return clerror_set(ENOTSUP,
                           "nbody_ensemble_watch: tangent vectors do not support contacts; "
                           "create the ensemble without megno");
    if (!isfinite(o->stop_distance) || o->stop_distance < 0)
        return clerror_set(EINVAL,
                           "nbody_ensemble_watch: a stop_distance of %g; it must be a number >= 0",
                           o->stop_distance);
    for (size_t i = 0; o->radius && i < e->systems * e->bodies; i++)
        if (!isfinite(o->radius[i]) || o->radius[i] < 0)
            return clerror_set(EINVAL,
                               "nbody_ensemble_watch: system %zu: body %zu has the radius %g; it "
                               "must be a number >= 0",
                               i / e->bodies, i % e->bodies, o->radius[i]);
    return reserved_check("nbody_ensemble_watch", o->reserved);
}

static int ensemble_allocate_record(const nbody_ensemble *e, struct part *p, const double *radius)
{
    if (p->n == 0)
        return 0;
    const size_t bytes = ensemble_record_size(e) * p->n * sizeof *p->record;
    p->record = clmalloc(e->ctx, bytes, CL_MEM_ZEROCOPY);
    if (!p->record)
        return -1;
    memset(p->record, 0, bytes);
    for (size_t i = 0; radius && i < p->n * e->bodies; i++)
        *ensemble_record(p, i / e->bodies, RECORD_RADII + i % e->bodies) =
            radius[p->first * e->bodies + i];
    return 0;
}

int nbody_ensemble_watch(nbody_ensemble *e, const struct nbody_ensemble_watch_options *o)
{
    if (no_handle(e, __func__))
        return -1;
    if (!o)
        return clerror_set(EINVAL, "nbody_ensemble_watch: the options are NULL");
    if (ensemble_check_watch(e, o) != 0)
        return -1;
    if (!o->radius && !(o->stop_distance > 0))
        return 0;
    e->watched = true;
    e->distance = o->stop_distance;
    e->contacts = o->radius != NULL;
    e->merges = o->radius && o->merge;
    e->downloaded = false;
    for (cl_uint d = 0; d < e->ndev; d++)
        if (ensemble_allocate_record(e, &e->part[d], o->radius) != 0 ||
            ensemble_upload_record(e, d) != 0)
            return -1;
    return ensemble_watch_kernel(e);
}

/* ---- Results. -------------------------------------------------------------------------------- */

static struct nbody_system ensemble_describe_system(const nbody_ensemble *e, const struct part *p,
                                                    size_t i)
{
    struct nbody_system s = {.status = ensemble_status_of(p, i),
                             .bodies = e->bodies,
                             .time = ensemble_system_time(e, p, i)};
    for (size_t b = 0; b < e->bodies; b++)
        s.bodies -= ensemble_has_merged(e, p, i, b);
    if (isnan(*ensemble_component(e, p, i, e->bodies - 1, 0)) &&
        !ensemble_has_merged(e, p, i, e->bodies - 1))
        s.status = NBODY_SYSTEM_FAILED;
    if (p->record)
        s.energy_lost = *ensemble_record(p, i, RECORD_LOST) / e->G;
    return s;
}

int nbody_ensemble_systems(nbody_ensemble *e, size_t n, const size_t *which,
                           struct nbody_system *system)
{
    struct ensemble_query q = {.n = n, .which = which};
    if (no_handle(e, __func__) || ensemble_query(e, __func__, &q, NEED_STATES) != 0)
        return -1;
    for (size_t k = 0; k < n; k++) {
        size_t i;
        const struct part *p = ensemble_find(e, &q, k, &i);
        system[k] = ensemble_describe_system(e, p, i);
    }
    return 0;
}

/* Copy the events of a query's systems to `to`, unless NULL. Return their number. */
static size_t ensemble_copy_events(const nbody_ensemble *e, const struct ensemble_query *q,
                                   struct nbody_system_event *to)
{
    size_t count = 0;
    for (size_t k = 0; k < q->n; k++) {
        size_t i;
        const struct part *p = ensemble_find(e, q, k, &i);
        const size_t events = (size_t)*ensemble_record(p, i, RECORD_EVENTS);
        for (size_t j = 0; j < events; j++, count++) {
            const double *at = ensemble_record(p, i, RECORD_RADII + e->bodies + EVENT_NUMBERS * j);
            if (to)
                to[count] = (struct nbody_system_event){ensemble_system(p, i), (size_t)at[p->n],
                                                        (size_t)at[2 * p->n], at[0]};
        }
    }
    return count;
}

int nbody_ensemble_events(nbody_ensemble *e, size_t n, const size_t *which,
                          struct nbody_system_event **event, size_t *events)
{
    struct ensemble_query q = {.n = n, .which = which};
    if (no_handle(e, __func__))
        return -1;
    *event = NULL;
    *events = 0;
    if (!e->watched)
        return 0;
    if (ensemble_query(e, __func__, &q, NEED_STATES) != 0)
        return -1;
    const size_t all = ensemble_copy_events(e, &q, NULL);
    if (!all)
        return 0;
    *event = malloc(all * sizeof **event);
    if (!*event)
        return clerror_set(ENOMEM, "nbody_ensemble_events: out of memory for %zu events", all);
    *events = ensemble_copy_events(e, &q, *event);
    return 0;
}
