/* events.c - encounters, apsides, transits and escapes, at their times within steps.
 *
 * A quantity g of two bodies' relative position d and velocity w changes sign at an event: d w at
 * an apsis or the closest approach, a coordinate of d at a transit, |d| - limit at an escape. Its
 * sign at the end of the previous path is kept, so that no event falls between two paths, or into
 * both. Where the sign changes, bisection finds the time.
 *
 * ias15 has its polynomials as paths. Steps of other integrators have cubics, which serve to see
 * that an event occurs; ias15 then repeats the step for its time (events_repeat.c).
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/stepping.h"
#include "nbody/structure/contacts.h"

#include "core/handle.h"

#include <math.h>

enum { BISECTIONS = 60, MOST_REPEATED = 4096 };
static const double AT_EVENT = 1e-12; /* g that a start at an event has by rounding */

/* The bodies of a rule, one after another. */
struct event_bodies {
    const struct nbody_event_rule *rule;
    size_t n, i, j, k; /* bodies in all; body, other body; index of last[] */
    bool origin;       /* j is the origin */
};

static bool event_is_of_all(const struct nbody_event_rule *r)
{
    return r->body == r->other;
}

static size_t event_count_bodies(size_t n, const struct nbody_event_rule *r)
{
    if (!event_is_of_all(r))
        return 1;
    return r->kind == NBODY_ENCOUNTER ? n * (n - 1) / 2 : n;
}

static struct event_bodies event_first(size_t n, const struct nbody_event_rule *r, size_t k)
{
    struct event_bodies b = {r, n, r->body, r->other, k, false};
    if (!event_is_of_all(r))
        return b;
    b.i = r->kind == NBODY_ENCOUNTER;
    b.j = r->kind == NBODY_ENCOUNTER ? 0 : r->other;
    b.origin = r->kind == NBODY_ESCAPE;
    return b;
}

/* True if there are further bodies. */
static bool event_next(struct event_bodies *b)
{
    b->k++;
    if (!event_is_of_all(b->rule))
        return false;
    if (b->rule->kind != NBODY_ENCOUNTER)
        return ++b->i < b->n;
    if (++b->j == b->i) {
        b->i++;
        b->j = 0;
    }
    return b->i < b->n;
}

/* ---- Quantities along a path. ---------------------------------------------------------------- */

/* Relative position d and its derivative w by h. */
static void event_at(const struct contact_paths *paths, const struct event_bodies *b, double h,
                     double d[3], double w[3])
{
    for (size_t c = 0; c < 3; c++) {
        d[c] = w[c] = 0;
        for (int k = paths->terms - 1; k >= 0; k--) {
            const double *const plane = paths->c[k],
                                more = plane[3 * b->i + c] - (b->origin ? 0 : plane[3 * b->j + c]);
            w[c] = w[c] * h + d[c];
            d[c] = d[c] * h + more;
        }
    }
}

static double event_dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + (a[1] * b[1] + a[2] * b[2]);
}

static double event_value(const struct nbody_event_rule *r, double limit, const double d[3],
                          const double w[3])
{
    if (r->kind == NBODY_TRANSIT)
        return d[(r->axis + 1) % 3];
    return r->kind == NBODY_ESCAPE ? sqrt(event_dot(d, d)) - limit : event_dot(d, w);
}

/* Sign of g at the start of the first path; 0 if the path starts at an event. */
static double event_start(const struct contact_paths *paths, const struct event_bodies *b,
                          double limit)
{
    double d[3], w[3];
    event_at(paths, b, 0, d, w);
    const double g = event_value(b->rule, limit, d, w), length = sqrt(event_dot(d, d)),
                 scale = b->rule->kind == NBODY_TRANSIT || b->rule->kind == NBODY_ESCAPE
                             ? length
                             : length * sqrt(event_dot(w, w));
    return fabs(g) <= AT_EVENT * scale ? 0 : g < 0 ? -1 : 1;
}

/* True if a change of sign, to `after`, is an event of the rule. */
static bool event_counts(const struct nbody_event_rule *r, double limit, double after,
                         const double d[3])
{
    switch (r->kind) {
    case NBODY_ENCOUNTER:
        return after > 0 && event_dot(d, d) < limit * limit;
    case NBODY_APOCENTRE:
        return after < 0;
    case NBODY_TRANSIT:
        return d[r->axis] > 0 && (!(limit > 0) || fabs(d[(r->axis + 2) % 3]) <= limit);
    default:
        return after > 0;
    }
}

/* Return where g changes from the sign -after to `after` between 0 and `end`. */
static double event_find(const struct contact_paths *paths, const struct event_bodies *b,
                         double limit, double after, double end, double d[3], double w[3])
{
    double low = 0, high = end;
    for (int k = 0; k < BISECTIONS; k++) {
        const double middle = (low + high) / 2;
        event_at(paths, b, middle, d, w);
        const bool changed = (event_value(b->rule, limit, d, w) < 0) == (after < 0);
        high = changed ? middle : high;
        low = changed ? low : middle;
    }
    event_at(paths, b, high, d, w);
    return high;
}

/* ---- Records. -------------------------------------------------------------------------------- */

int nbody_events_append(struct nbody *nb, const struct nbody_event_record *one)
{
    struct event_watch *e = &nb->integration.events;
    struct nbody_event_record *grown =
        e->n & (e->n - 1) ? e->record : realloc(e->record, (e->n ? 2 * e->n : 1) * sizeof *one);
    if (!grown)
        return clerror_set(ENOMEM, "nbody_step: out of memory for %zu events", e->n + 1);
    e->record = grown;
    grown[e->n++] = *one;
    return 0;
}

static struct nbody_event_record event_record(const struct nbody *nb, const struct event_bodies *b,
                                              double time, double span, const double d[3],
                                              const double w[3])
{
    struct nbody_event_record one = {.rule = (size_t)(b->rule - nb->integration.events.rule),
                                     .body = b->i,
                                     .other = b->origin ? b->i : b->j,
                                     .time = time};
    for (size_t c = 0; c < 3; c++) {
        one.pos[c] = d[c] * nbody_units_factor(&nb->units, 1, 0);
        one.vel[c] = w[c] / span * nbody_units_factor(&nb->units, 1, -1);
    }
    return one;
}

static int event_by_time(const void *a_, const void *b_)
{
    const struct nbody_event_record *a = a_, *b = b_;
    if (a->time > b->time || a->time < b->time)
        return a->time > b->time ? 1 : -1;
    return a->rule != b->rule   ? (a->rule > b->rule) - (a->rule < b->rule)
           : a->body != b->body ? (a->body > b->body) - (a->body < b->body)
                                : (a->other > b->other) - (a->other < b->other);
}

void nbody_events_sort(struct nbody *nb, size_t from, bool backward)
{
    struct event_watch *e = &nb->integration.events;
    const size_t n = e->n - from;
    if (n < 2)
        return;
    qsort(e->record + from, n, sizeof *e->record, event_by_time);
    for (size_t k = 0; backward && k < n / 2; k++) {
        const struct nbody_event_record one = e->record[from + k];
        e->record[from + k] = e->record[from + n - 1 - k];
        e->record[from + n - 1 - k] = one;
    }
}

/* ---- Search. --------------------------------------------------------------------------------- */

/* Look at one pair, up to the fraction `end` of the path, which begins at the caller's time `time`.
 * *stop: the first event of a rule that stops. */
static int event_look(struct nbody *nb, const struct contact_paths *paths,
                      const struct event_bodies *b, double time, double end, double *stop)
{
    struct event_watch *e = &nb->integration.events;
    const double limit = b->rule->limit * nbody_units_factor(&nb->units, -1, 0);
    double d[3], w[3], *const last = &e->last[b->k];
    if (!e->known)
        *last = event_start(paths, b, limit);
    event_at(paths, b, end, d, w);
    const double before = *last, after = event_value(b->rule, limit, d, w) < 0 ? -1 : 1;
    *last = after;
    if (before * after >= 0)
        return 0;
    const double h = event_find(paths, b, limit, after, end, d, w);
    if (!event_counts(b->rule, limit, after, d))
        return 0;
    if (b->rule->stop)
        *stop = fmin(*stop, h);
    const struct nbody_event_record one = event_record(
        nb, b, time + h * paths->span / nbody_units_factor(&nb->units, 0, -1), paths->span, d, w);
    return nbody_events_append(nb, &one);
}

/* Look at all rules. Return -1 with ENOMEM. */
static int event_look_all(struct nbody *nb, const struct contact_paths *paths, double time,
                          double end, double *stop)
{
    struct event_watch *e = &nb->integration.events;
    size_t k = 0;
    for (size_t r = 0; r < e->rules; r++) {
        struct event_bodies b = event_first(paths->n, &e->rule[r], k);
        bool more = true;
        while (more) {
            if ((b.i != b.j || b.origin) && event_look(nb, paths, &b, time, end, stop) != 0)
                return -1;
            more = event_next(&b);
        }
        k = b.k;
    }
    e->known = true;
    return 0;
}

int nbody_events_search(struct nbody *nb, const struct contact_paths *paths, double time,
                        bool to_first, double *end)
{
    struct event_watch *e = &nb->integration.events;
    const size_t before = e->n;
    double stop = 2;
    if (!e->rule)
        return 0;
    if (to_first && e->stops) { /* find where the path ends before looking at the whole of it */
        const bool known = e->known;
        memcpy(e->saved, e->last, e->pairs * sizeof *e->last);
        if (event_look_all(nb, paths, time, *end, &stop) != 0)
            return -1;
        if (stop <= 1) {
            memcpy(e->last, e->saved, e->pairs * sizeof *e->last);
            e->known = known;
            e->n = before;
            *end = stop;
            stop = 2;
            if (event_look_all(nb, paths, time, *end, &stop) != 0)
                return -1;
        }
    } else if (event_look_all(nb, paths, time, *end, &stop) != 0)
        return -1;
    nbody_events_sort(nb, before, paths->span < 0);
    e->ended |= stop <= 1;
    return stop <= 1;
}

/* ---- The caller's. --------------------------------------------------------------------------- */

static int events_check_rule(const struct nbody *nb, size_t k, const struct nbody_event_rule *r)
{
    if ((unsigned)r->kind > NBODY_ESCAPE)
        return clerror_set(EINVAL, "nbody_watch_events: rule %zu: there is no kind %d", k,
                           (int)r->kind);
    if (r->body >= nb->n || r->other >= nb->n)
        return clerror_set(EINVAL, "nbody_watch_events: rule %zu: there is no body %zu of %zu", k,
                           r->body >= nb->n ? r->body : r->other, nb->n);
    const bool needs = r->kind == NBODY_ENCOUNTER || r->kind == NBODY_ESCAPE;
    if (!(r->limit >= 0 && isfinite(r->limit)) || (needs && !(r->limit > 0)))
        return clerror_set(EINVAL, "nbody_watch_events: rule %zu: %g is not a distance above 0", k,
                           r->limit);
    if (r->kind == NBODY_TRANSIT && (r->axis < 0 || r->axis > 2))
        return clerror_set(EINVAL,
                           "nbody_watch_events: rule %zu: there is no axis %d; x is 0, y 1, z 2", k,
                           r->axis);
    return 0;
}

void nbody_events_free(struct nbody *nb)
{
    struct event_watch *e = &nb->integration.events;
    free(e->rule);
    free(e->last);
    free(e->gm);
    free(e->record);
    *e = (struct event_watch){.rule = NULL};
}

void nbody_events_begin(struct nbody *nb)
{
    nb->integration.events.n = 0;
    nb->integration.events.ended = false;
}

void nbody_events_undo(struct nbody *nb)
{
    struct event_watch *e = &nb->integration.events;
    const double now = nbody_time(nb), forward = nb->integration.dt < 0 ? -1 : 1;
    size_t kept = 0;
    for (size_t k = 0; k < e->n; k++)
        if ((e->record[k].time - now) * forward <= 0)
            e->record[kept++] = e->record[k];
    e->n = kept;
    e->known = false;
}

static int events_open(struct nbody *nb, const struct nbody_event_rule *rule, size_t rules)
{
    struct event_watch *e = &nb->integration.events;
    for (size_t k = 0; k < rules; k++) {
        e->pairs += event_count_bodies(nb->n, &rule[k]);
        e->stops |= rule[k].stop != 0;
    }
    e->rule = malloc(rules * sizeof *rule);
    e->last = calloc(2 * e->pairs + 1, sizeof *e->last);
    /* the host has functions of files for its own steps only */
    const bool missing = nbody_added_from_files(nb) && !nbody_runs_on_host(nb),
               repeats = nb->n <= MOST_REPEATED && nb->method == NBODY_DIRECT && !missing;
    e->gm = repeats ? malloc(nb->n * sizeof *e->gm) : NULL;
    if (!e->rule || !e->last || (repeats && !e->gm))
        return clerror_set(ENOMEM, "nbody_watch_events: out of memory for %zu pairs", e->pairs);
    memcpy(e->rule, rule, rules * sizeof *rule);
    e->rules = rules;
    e->saved = e->last + e->pairs;
    return e->gm ? nbody_host_masses(nb, e->gm) : 0;
}

int nbody_watch_events(nbody *nb, size_t rules, const struct nbody_event_rule *rule)
{
    if (no_handle(nb, __func__))
        return -1;
    if (nb->stepping == NBODY_BLOCK || world_size(nb->world) > 1)
        return clerror_set(ENOTSUP, "nbody_watch_events: block steps and several ranks have no "
                                    "events; use NBODY_FIXED or NBODY_ADAPTIVE on one rank");
    for (size_t k = 0; k < rules; k++)
        if (events_check_rule(nb, k, &rule[k]) != 0)
            return -1;
    nbody_events_free(nb);
    if (rules == 0)
        return 0;
    const int status = events_open(nb, rule, rules);
    if (status != 0)
        nbody_events_free(nb);
    return status;
}

const struct nbody_event_record *nbody_events(const nbody *nb, size_t *events)
{
    const bool none = no_handle(nb, __func__);
    if (events)
        *events = none ? 0 : nb->integration.events.n;
    return none || nb->integration.events.n == 0 ? NULL : nb->integration.events.record;
}
