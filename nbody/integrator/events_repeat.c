/* events_repeat.c - times of events in steps of other integrators: where the cubics of a step have
 * an event, ias15 repeats the step on a copy of the bodies, and its polynomials give the time.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/integrate_ias15.h"
#include "nbody/integrator/stepping.h"

/* Repeat the step by ias15 on a copy, to find the events of a cubic path at their times. */
static int event_repeat(struct nbody *nb, const double *x, const double *v, double time, double dt)
{
    const struct event_watch *e = &nb->integration.events;
    const size_t m = 3 * nb->n;
    double *const memory = malloc((3 + IAS15_PLANES) * m * sizeof *memory), evaluations = 0;
    struct host_watch watch = {.nb = nb, .events_only = true, .time = time};
    if (!memory)
        return clerror_set(ENOMEM, "nbody_step: out of memory for %zu bodies", nb->n);
    const double length = nbody_units_factor(&nb->units, -1, 0);
    double *const eps = memory + 2 * m;
    for (size_t i = 0; nb->particles.own_eps && i < nb->n; i++)
        eps[i] = nb->particles.own_eps[i] * length;
    const struct nbody_ref_system s = {.n = nb->n,
                                       .G = 1,
                                       .eps = nb->eps * length,
                                       .mass = e->gm,
                                       .fields = nb->force.fields,
                                       .nfields = nb->nfields,
                                       .softening = nb->particles.own_eps ? eps : NULL,
                                       .watch = &watch};
    memcpy(memory, x, m * sizeof *memory);
    memcpy(memory + m, v, m * sizeof *memory);
    (void)nbody_ias15_step(&s, dt, memory, memory + m, memory + 3 * m, &evaluations);
    free(memory);
    return 0;
}

static bool event_is_same(const struct nbody_event_record *a, const struct nbody_event_record *b)
{
    return a->rule == b->rule && a->body == b->body && a->other == b->other;
}

static bool event_is_among(const struct nbody_event_record *one,
                           const struct nbody_event_record *of, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (event_is_same(one, &of[k]))
            return true;
    return false;
}

/* Keep the records from `from` on whose rule and bodies the cubics have found too. Add each record
 * of the cubics that the repeated step lacks: its event is at the end of the step. */
static int event_merge(struct nbody *nb, size_t from, const struct nbody_event_record *cubic,
                       size_t found)
{
    struct event_watch *e = &nb->integration.events;
    size_t kept = from;
    for (size_t k = from; k < e->n; k++)
        if (event_is_among(&e->record[k], cubic, found))
            e->record[kept++] = e->record[k];
    e->n = kept;
    for (size_t k = 0; k < found; k++)
        if (!event_is_among(&cubic[k], e->record + from, kept - from) &&
            nbody_events_append(nb, &cubic[k]) != 0)
            return -1;
    return 0;
}

int nbody_events_cubic(struct nbody *nb, const struct contact_paths *paths, const double *v,
                       double time)
{
    struct event_watch *e = &nb->integration.events;
    const size_t before = e->n;
    double end = 1;
    const int stop = nbody_events_search(nb, paths, time, false, &end);
    const size_t found = stop < 0 ? 0 : e->n - before;
    if (found == 0 || !e->gm)
        return stop;
    struct nbody_event_record *const cubic = malloc(found * sizeof *cubic);
    if (!cubic)
        return clerror_set(ENOMEM, "nbody_step: out of memory for %zu events", found);
    memcpy(cubic, e->record + before, found * sizeof *cubic);
    memcpy(e->saved, e->last, e->pairs * sizeof *e->last);
    e->n = before;
    e->known = false; /* the copy starts with the signs of the step's begin */
    int status = event_repeat(nb, paths->c[0], v, time, paths->span);
    memcpy(e->last, e->saved, e->pairs * sizeof *e->last);
    e->known = true;
    if (status == 0)
        status = event_merge(nb, before, cubic, found);
    nbody_events_sort(nb, before, paths->span < 0);
    free(cubic);
    return status == 0 ? stop : -1;
}
