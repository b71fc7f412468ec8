/* ensemble_sample.c - systems of an ensemble on the host, for a query: all of them, or a few, which
 * each device gathers first (ensemble_gather.cl).
 *
 *   part of a device     | 0 | 1 | 2 | 3 | 4 | 5 | ...       systems 0, 4 and 3 are queried
 *                          |       ___/   /
 *   sample               | 0 | 4 | 3 | <-'                   copied to the host
 *
 * A sample is laid out as a part. States are computed from slots in the sample.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/ensemble/ensemble.h"

#include "core/args.h"
#include "core/embedded.h"

#include <errno.h>
#include <stdlib.h>

EMBEDDED(source, "nbody/ensemble/ensemble_gather.cl", nbody_ensemble_ensemble_gather_cl);

/* ---- Memory. --------------------------------------------------------------------------------- */

static void sample_free(struct sample *s)
{
    clfree(s->part.state);
    clfree(s->part.gm);
    clfree(s->part.slots);
    clfree(s->part.record);
    clfree(s->index);
    free(s->system);
    *s = (struct sample){.room = 0};
}

void ensemble_sample_free(nbody_ensemble *e)
{
    for (cl_uint d = 0; e->sample && d < e->ndev; d++)
        sample_free(&e->sample[d]);
    free(e->sample);
    free(e->place);
    if (e->gather_program)
        clclose(e->ctx, e->gather_program);
}

static int sample_no_memory(size_t n)
{
    return clerror_set(ENOMEM, "out of memory on the host for a query of %zu systems", n);
}

static double *sample_allocate(const nbody_ensemble *e, size_t components, size_t room)
{
    return clmalloc(e->ctx, components * room * sizeof(double), CL_MEM_ZEROCOPY);
}

/* Make room for n systems in the sample of a device. */
static int sample_reserve(const nbody_ensemble *e, struct sample *s, size_t n)
{
    struct part *const p = &s->part;
    if (n <= s->room && (p->record || !e->watched))
        return 0;
    sample_free(s);
    p->state = sample_allocate(e, ensemble_state_numbers(e), n);
    p->gm = sample_allocate(e, e->bodies, n);
    p->slots = ensemble_has_slots(e) ? sample_allocate(e, ensemble_slots(e), n) : NULL;
    p->record = e->watched ? sample_allocate(e, ensemble_record_size(e), n) : NULL;
    s->index = clmalloc(e->ctx, n * sizeof *s->index, CL_MEM_ZEROCOPY);
    p->system = s->system = malloc(n * sizeof *s->system);
    if (!s->system)
        sample_no_memory(n);
    if (!p->state || !p->gm || !s->index || !s->system || (ensemble_has_slots(e) && !p->slots) ||
        (e->watched && !p->record)) {
        sample_free(s);
        return -1;
    }
    s->room = n;
    return 0;
}

static int sample_open(nbody_ensemble *e, size_t n)
{
    if (!e->sample)
        e->sample = calloc(e->ndev, sizeof *e->sample);
    if (!e->sample)
        return sample_no_memory(n);
    if (e->gather)
        return 0;
    e->gather_program = embedded_open(e->ctx, "", &source, 0, NULL);
    e->gather = e->gather_program ? clsym(e->ctx, e->gather_program, "ensemble_gather", 0) : NULL;
    return e->gather ? 0 : -1;
}

/* ---- Which systems. -------------------------------------------------------------------------- */

static size_t query_system(const struct ensemble_query *q, size_t k)
{
    return q->which ? q->which[k] : k;
}

static cl_uint device_of_system(const nbody_ensemble *e, size_t system)
{
    cl_uint d = 0;
    while (system >= e->part[d].first + e->part[d].n)
        d++;
    return d;
}

/* List the systems of each device, and in e->place where each has its place. */
static int sample_distribute(nbody_ensemble *e, const struct ensemble_query *q)
{
    size_t *const place = realloc(e->place, q->n * sizeof *place);
    if (!place)
        return sample_no_memory(q->n);
    e->place = place;
    for (cl_uint d = 0; d < e->ndev; d++)
        e->sample[d].part.n = 0;
    for (size_t k = 0; k < q->n; k++)
        place[k] = e->sample[device_of_system(e, query_system(q, k))].part.n++;
    for (cl_uint d = 0; d < e->ndev; d++) {
        const size_t n = e->sample[d].part.n;
        if (sample_reserve(e, &e->sample[d], n) != 0)
            return -1;
        e->sample[d].part.n = n;
    }
    for (size_t k = 0; k < q->n; k++) {
        const size_t system = query_system(q, k);
        const cl_uint d = device_of_system(e, system);
        e->sample[d].index[place[k]] = (cl_uint)(system - e->part[d].first);
        e->sample[d].system[place[k]] = system;
    }
    return 0;
}

/* ---- Gather. --------------------------------------------------------------------------------- */

/* Gather components first to first + count of one array. */
static int sample_gather(const nbody_ensemble *e, cl_uint d, double *from, double *to, size_t first,
                         size_t count)
{
    const struct sample *const s = &e->sample[d];
    clndrange_t ndr = clndrange_init1d(0, (s->part.n + GROUP - 1) / GROUP * GROUP, GROUP);
    return clforkv(e->ctx, d, e->gather, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED,
                   ARGS(from, s->index, to, (cl_uint)e->part[d].n, (cl_uint)first, (cl_uint)count,
                        (cl_uint)s->part.n)) == (cl_event)-1
               ? -1
               : 0;
}

static int sample_download(const nbody_ensemble *e, cl_uint d, double *numbers, size_t first,
                           size_t count)
{
    const size_t n = e->sample[d].part.n;
    return clmsyncn(e->ctx, d, numbers + first * n, count * n * sizeof *numbers, CL_MEM_HOST) ==
                   (cl_event)-1
               ? -1
               : 0;
}

/* Gather and download. */
static int sample_fetch(const nbody_ensemble *e, cl_uint d, double *from, double *to, size_t first,
                        size_t count)
{
    return sample_gather(e, d, from, to, first, count) == 0
               ? sample_download(e, d, to, first, count)
               : -1;
}

static int sample_fetch_states(const nbody_ensemble *e, cl_uint d)
{
    const struct part *const from = &e->part[d], *const to = &e->sample[d].part;
    const size_t numbers = ensemble_state_numbers(e);
    if (sample_fetch(e, d, from->gm, to->gm, 0, e->bodies) != 0)
        return -1;
    if (e->watched && sample_fetch(e, d, from->record, to->record, 0, ensemble_record_size(e)) != 0)
        return -1;
    if (e->current)
        return sample_fetch(e, d, from->state, to->state, 0, numbers);
    if (sample_gather(e, d, from->slots, to->slots, 0, ensemble_slots(e)) != 0)
        return -1;
    return ensemble_synchronize_part(e, d, to) == 0 ? sample_download(e, d, to->state, 0, numbers)
                                                    : -1;
}

static int sample_fetch_device(const nbody_ensemble *e, cl_uint d, enum ensemble_need need)
{
    const struct sample *const s = &e->sample[d];
    if (!s->part.n)
        return 0;
    if (clmsyncn(e->ctx, d, s->index, s->part.n * sizeof *s->index, CL_MEM_DEVICE) == (cl_event)-1)
        return -1;
    const size_t sums = ensemble_sums(e);
    return need == NEED_STATES ? sample_fetch_states(e, d)
                               : sample_fetch(e, d, e->part[d].slots, s->part.slots, sums,
                                              ensemble_slots(e) - sums);
}

/* ---- Queries. -------------------------------------------------------------------------------- */

static int query_check(const nbody_ensemble *e, const char *function,
                       const struct ensemble_query *q)
{
    for (size_t k = 0; q->which && k < q->n; k++)
        if (q->which[k] >= e->systems)
            return clerror_set(EINVAL, "%s: system %zu; there are %zu", function, q->which[k],
                               e->systems);
    return !q->which && q->n > e->systems
               ? clerror_set(EINVAL, "%s: %zu systems; there are %zu", function, q->n, e->systems)
               : 0;
}

static int sample_fetch_all(nbody_ensemble *e, const struct ensemble_query *q,
                            enum ensemble_need need)
{
    if (sample_open(e, q->n) != 0 || sample_distribute(e, q) != 0)
        return -1;
    for (cl_uint d = 0; d < e->ndev; d++)
        if (sample_fetch_device(e, d, need) != 0)
            return -1;
    return ensemble_wait_all(e);
}

int ensemble_query(nbody_ensemble *e, const char *function, struct ensemble_query *q,
                   enum ensemble_need need)
{
    if (query_check(e, function, q) != 0)
        return -1;
    const bool downloaded = need == NEED_STATES && e->downloaded;
    q->sampled = q->n < e->systems && !downloaded;
    if (q->n == 0 || downloaded)
        return 0;
    if (q->sampled)
        return sample_fetch_all(e, q, need);
    return need == NEED_STATES ? ensemble_download(e) : ensemble_download_sums(e);
}

const struct part *ensemble_find(const nbody_ensemble *e, const struct ensemble_query *q, size_t k,
                                 size_t *i)
{
    const size_t system = query_system(q, k);
    const cl_uint d = device_of_system(e, system);
    *i = q->sampled ? e->place[k] : system - e->part[d].first;
    return q->sampled ? &e->sample[d].part : &e->part[d];
}
