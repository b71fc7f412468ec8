/* contacts.c - pairs of bodies with given radii that touched in the last step, by a sweep along x
 * on the host.
 *
 * Bodies are assumed to move along lines during a step, so that fast ones do not pass through each
 * other undetected. The interval in x that a body covers, including its radius, is sorted by its
 * start; only pairs with overlapping intervals are tested.
 * SPDX-License-Identifier: MIT
 */
#include "stdcl/nbody.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct interval {
    double from, to;
    size_t body;
};

static int contacts_by_start(const void *a_, const void *b_)
{
    const struct interval *a = a_, *b = b_;
    return a->from > b->from   ? 1
           : a->from < b->from ? -1
                               : (a->body > b->body) - (a->body < b->body);
}

static int contacts_by_time(const void *a_, const void *b_)
{
    const struct nbody_contact *a = a_, *b = b_;
    if (a->before > b->before || a->before < b->before)
        return a->before < b->before ? 1 : -1;
    return a->first != b->first ? (a->first > b->first) - (a->first < b->first)
                                : (a->second > b->second) - (a->second < b->second);
}

/* True if |d| <= R at some time of the last step, where d is x now and changes by v; *before: how
 * long ago they first touched, as a fraction of dt. */
static bool contacts_touch(const double x[3], const double v[3], double dt, double R,
                           double *before)
{
    double vv = 0, xv = 0, xx = 0, start = 0;
    for (int k = 0; k < 3; k++) {
        const double then = x[k] - v[k] * dt;
        vv += v[k] * dt * v[k] * dt;
        xv += x[k] * v[k] * dt;
        xx += x[k] * x[k];
        start += then * then;
    }
    *before = 1;
    if (start <= R * R)
        return true;
    const double at = vv > 0 ? fmax(0, fmin(1, xv / vv)) : 0,
                 least = xx - at * (2 * xv - at * vv); /* at: time of the closest approach */
    if (!(vv > 0) || least > R * R)
        return false;
    const double root = sqrt(fmax(xv * xv - vv * (xx - R * R), 0));
    *before = fmax(at, fmin(1, (xv + root) / vv));
    return true;
}

static int contacts_append(struct nbody_contact **contact, size_t *n, struct nbody_contact one)
{
    struct nbody_contact *grown =
        *n & (*n - 1) ? *contact : realloc(*contact, (*n ? 2 * *n : 1) * sizeof one);
    if (!grown)
        return clerror_set(ENOMEM, "nbody_find_contacts: out of memory for %zu contacts", *n + 1);
    *contact = grown;
    grown[(*n)++] = one;
    return 0;
}

static int contacts_test_pair(const struct interval *a, const struct interval *b,
                              const double *radius, const double (*pos)[3], const double (*vel)[3],
                              double dt, struct nbody_contact **contact, size_t *n)
{
    const size_t i = a->body < b->body ? a->body : b->body,
                 j = a->body < b->body ? b->body : a->body;
    double x[3], v[3], before;
    for (int k = 0; k < 3; k++) {
        x[k] = pos[j][k] - pos[i][k];
        v[k] = vel[j][k] - vel[i][k];
    }
    if (!(radius[i] + radius[j] > 0) || !contacts_touch(x, v, dt, radius[i] + radius[j], &before))
        return 0;
    return contacts_append(contact, n, (struct nbody_contact){i, j, before * fabs(dt)});
}

int nbody_find_contacts(size_t n, const double *radius, const double (*pos)[3],
                        const double (*vel)[3], double dt, struct nbody_contact **contact,
                        size_t *contacts)
{
    struct interval *all = malloc(n * sizeof *all);
    int status =
        all ? 0 : clerror_set(ENOMEM, "nbody_find_contacts: out of memory for %zu bodies", n);
    *contact = NULL;
    *contacts = 0;
    for (size_t i = 0; all && i < n; i++) {
        const double old = pos[i][0] - vel[i][0] * dt;
        all[i] = (struct interval){fmin(old, pos[i][0]) - radius[i],
                                   fmax(old, pos[i][0]) + radius[i], i};
    }
    if (all)
        qsort(all, n, sizeof *all, contacts_by_start);
    for (size_t i = 0; i < n && status == 0; i++)
        for (size_t j = i + 1; j < n && status == 0 && all[j].from <= all[i].to; j++)
            status = contacts_test_pair(&all[i], &all[j], radius, pos, vel, dt, contact, contacts);
    free(all);
    if (status != 0) {
        free(*contact);
        *contact = NULL;
        *contacts = 0;
    }
    if (*contacts)
        qsort(*contact, *contacts, sizeof **contact, contacts_by_time);
    return status;
}
