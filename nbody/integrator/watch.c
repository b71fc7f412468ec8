/* watch.c - contacts within steps: nbody_step ends at the first one.
 *
 * Only integrators that choose their steps look for contacts, along the path of each inner step. A
 * contact interrupts a step of dt; the next call completes the step. A reported pair is not
 * reported again before its bodies have been apart.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/stepping.h"
#include "nbody/structure/contacts.h"

#include "core/handle.h"

#include <math.h>

static int watch_check(const struct nbody *nb, const double *radius)
{
    if (!nbody_watch_is_possible(nb))
        return clerror_set(
            ENOTSUP,
            "nbody_watch_contacts: only ias15, trace and adaptive steps look for contacts within a step; call "
            "nbody_find_contacts after each step");
    for (size_t i = 0; radius && i < nb->n; i++)
        if (!(isfinite(radius[i]) && radius[i] >= 0))
            return clerror_set(
                EINVAL,
                "nbody_watch_contacts: body %zu has the radius %g; it must be a number >= 0",
                nbody_number(nb, i), radius[i]);
    return 0;
}

void nbody_watch_free(struct nbody *nb)
{
    struct contact_watch *w = &nb->integration.watch;
    free(w->radius);
    free(w->contact);
    free(w->held);
    *w = (struct contact_watch){.radius = NULL};
}

int nbody_watch_contacts(nbody *nb, const double *radius)
{
    if (no_handle(nb, __func__) || watch_check(nb, radius) != 0)
        return -1;
    nbody_watch_free(nb);
    if (!radius)
        return 0;
    double *const own = nb->integration.watch.radius = malloc(nb->n * sizeof *own);
    if (!own)
        return clerror_set(ENOMEM, "nbody_watch_contacts: out of memory for %zu bodies", nb->n);
    for (size_t i = 0; i < nb->n; i++)
        own[i] = radius[i] * nbody_units_factor(&nb->units, -1, 0);
    return 0;
}

const struct nbody_contact *nbody_contacts(const nbody *nb, size_t *contacts)
{
    const bool none = no_handle(nb, __func__);
    if (contacts)
        *contacts = none ? 0 : nb->integration.watch.n;
    return none ? NULL : nb->integration.watch.contact;
}

void nbody_watch_begin(struct nbody *nb)
{
    free(nb->integration.watch.contact);
    nb->integration.watch.contact = NULL;
    nb->integration.watch.n = 0;
}

static bool watch_is_held(const struct contact_watch *w, const struct nbody_contact *c)
{
    for (size_t k = 0; k < w->nheld; k++)
        if (w->held[k].first == c->first && w->held[k].second == c->second)
            return true;
    return false;
}

/* Keep the contacts that are not later than the state, which is `after` before the end of the path,
 * and convert times to the caller's units. Return the number of contacts. */
static size_t watch_keep_until(const struct nbody *nb, struct nbody_contact *contact, size_t n,
                               double after)
{
    const double back = nbody_units_factor(&nb->units, 0, -1);
    size_t kept = 0;
    for (size_t k = 0; k < n; k++)
        if (contact[k].before >= after) {
            contact[kept] = contact[k];
            contact[kept++].before = (contact[k].before - after) / back;
        }
    return kept;
}

/* Forget held pairs that are apart at h. */
static void watch_release(struct contact_watch *w, const struct contact_paths *paths, double h)
{
    size_t kept = 0;
    for (size_t k = 0; k < w->nheld; k++) {
        const size_t i = w->held[k].first, j = w->held[k].second;
        if (contacts_distance(paths, i, j, h) <= w->radius[i] + w->radius[j])
            w->held[kept++] = w->held[k];
    }
    w->nheld = kept;
}

/* Hold the reported pairs. */
static int watch_hold(struct contact_watch *w)
{
    struct nbody_contact *held = realloc(w->held, (w->nheld + w->n) * sizeof *held);
    if (!held)
        return clerror_set(ENOMEM, "nbody_step: out of memory for %zu contacts", w->n);
    memcpy(held + w->nheld, w->contact, w->n * sizeof *held);
    w->held = held;
    w->nheld += w->n;
    return 0;
}

int nbody_watch_paths(struct nbody *nb, const struct contact_paths *paths, bool to_first, double *h)
{
    struct contact_watch *w = &nb->integration.watch;
    struct nbody_contact *contact;
    size_t n, fresh = 0;
    *h = 1;
    if (!w->radius)
        return 0;
    if (contacts_find("nbody_step", paths, w->radius, &contact, &n) != 0)
        return -1;
    for (size_t k = 0; k < n; k++)
        if (!watch_is_held(w, &contact[k]))
            contact[fresh++] = contact[k];
    if (fresh && to_first)
        *h = 1 - contact[0].before / fabs(paths->span);
    watch_release(w, paths, *h);
    w->contact = contact;
    w->n = fresh ? watch_keep_until(nb, contact, fresh, to_first ? contact[0].before : 0) : 0;
    return w->n == 0 ? nbody_watch_begin(nb), 0 : watch_hold(w) == 0 ? 1 : -1;
}

/* ---- Steps of parts of the bodies. ----------------------------------------------------------- */

int nbody_watch_add(struct nbody *nb, const struct nbody_contact *contact, size_t n)
{
    struct contact_watch *w = &nb->integration.watch;
    if (n == 0)
        return 0;
    struct nbody_contact *all = realloc(w->contact, (w->n + n) * sizeof *all);
    if (!all)
        return clerror_set(ENOMEM, "nbody_step: out of memory for %zu contacts", w->n + n);
    memcpy(all + w->n, contact, n * sizeof *all);
    w->contact = all;
    w->n += n;
    return 0;
}

int nbody_watch_part(struct nbody *nb, const struct contact_paths *paths, const size_t *body,
                     double left)
{
    struct nbody_contact *contact;
    size_t n;
    double *const radius = malloc(paths->n * sizeof *radius);
    if (!radius)
        return clerror_set(ENOMEM, "nbody_step: out of memory for %zu bodies", paths->n);
    for (size_t i = 0; i < paths->n; i++)
        radius[i] = nb->integration.watch.radius[body[i]];
    int status = contacts_find("nbody_step", paths, radius, &contact, &n);
    free(radius);
    for (size_t k = 0; k < n; k++) {
        const size_t i = body[contact[k].first], j = body[contact[k].second];
        contact[k] = (struct nbody_contact){i < j ? i : j, i < j ? j : i, contact[k].before + left};
    }
    status = status == 0 ? nbody_watch_add(nb, contact, n) : status;
    free(contact);
    return status;
}

static bool watch_comes_earlier(const struct contact_watch *w, size_t k)
{
    for (size_t l = 0; l < k; l++)
        if (w->contact[l].first == w->contact[k].first &&
            w->contact[l].second == w->contact[k].second)
            return true;
    return false;
}

int nbody_watch_settle(struct nbody *nb, const struct contact_paths *paths)
{
    struct contact_watch *w = &nb->integration.watch;
    size_t fresh = 0;
    if (w->n)
        contacts_sort(w->contact, w->n);
    for (size_t k = 0; k < w->n; k++)
        if (!watch_is_held(w, &w->contact[k]) && !watch_comes_earlier(w, k))
            w->contact[fresh++] = w->contact[k];
    watch_release(w, paths, 1);
    w->n = watch_keep_until(nb, w->contact, fresh, 0);
    return w->n == 0 ? nbody_watch_begin(nb), 0 : watch_hold(w);
}
