/* contacts.c - pairs of bodies with given radii that touch, by a sweep along x on the host.
 *
 * Paths are polynomials of the time: lines over a step of fixed length, cubics or the integrator's
 * own polynomials over steps that follow the forces. The interval in x that a body covers,
 * including its radius, is sorted by its start; only pairs with overlapping intervals are tested.
 *
 * A pair's relative path d(h) deviates from its chord between two times by at most an eighth of the
 * squared interval times the largest |d''|. Bisection, the earlier half first, discards intervals
 * with chords that stay farther away than this, until the deviation is rounding: no contact is
 * missed.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/structure/contacts.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static const double STRAIGHT = 1e-14; /* deviation from a chord, relative to the radii */

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

void contacts_sort(struct nbody_contact *contact, size_t contacts)
{
    qsort(contact, contacts, sizeof *contact, contacts_by_time);
}

/* ---- A pair. --------------------------------------------------------------------------------- */

/* Relative path of a pair; bend: upper limit of |d''|. */
struct relative {
    int terms;
    double c[PATH_TERMS][3], R, bend;
};

static double contacts_norm(const double d[3])
{
    return sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
}

static void contacts_at(const struct relative *p, double h, double d[3])
{
    for (int a = 0; a < 3; a++) {
        d[a] = 0;
        for (int k = p->terms - 1; k >= 0; k--)
            d[a] = d[a] * h + p->c[k][a];
    }
}

static double contacts_bend(int terms, const double (*c)[3])
{
    double bend = 0;
    for (int k = 2; k < terms; k++)
        bend += k * (k - 1) * contacts_norm(c[k]);
    return bend;
}

/* Return the distance of a chord to the origin. *s: the first place on the chord, 0 to 1, where the
 * distance is at most R; else 2. */
static double contacts_chord(const double from[3], const double to[3], double R, double *s)
{
    double vv = 0, xv = 0, xx = 0;
    for (int a = 0; a < 3; a++) {
        const double v = to[a] - from[a];
        vv += v * v;
        xv += from[a] * v;
        xx += from[a] * from[a];
    }
    const double at = vv > 0 ? fmax(0, fmin(1, -xv / vv)) : 0,
                 least = fmax(0, xx + at * (2 * xv + at * vv));
    *s = 2;
    if (xx <= R * R)
        *s = 0;
    else if (vv > 0 && least <= R * R)
        *s = fmax(0, fmin(at, (-xv - sqrt(fmax(xv * xv - vv * (xx - R * R), 0))) / vv));
    return sqrt(least);
}

/* Find the first time from `a` to `b` at which |d| <= R; 2 if there is none. */
static double contacts_first(const struct relative *p, double a, double b)
{
    double from[3], to[3], s;
    const double off = p->bend * (b - a) * (b - a) / 8, middle = (a + b) / 2;
    contacts_at(p, a, from);
    contacts_at(p, b, to);
    const double least = contacts_chord(from, to, p->R, &s);
    if (least > p->R + off)
        return 2;
    if (!(off > STRAIGHT * p->R) || !(middle > a && middle < b) || !(s > 0))
        return s <= 1 ? a + s * (b - a) : 2;
    const double early = contacts_first(p, a, middle);
    return early <= 1 ? early : contacts_first(p, middle, b);
}

static struct relative contacts_pair(const struct contact_paths *paths, size_t i, size_t j)
{
    struct relative p = {.terms = paths->terms};
    for (int k = 0; k < p.terms; k++)
        for (size_t a = 0; a < 3; a++)
            p.c[k][a] = paths->c[k][3 * j + a] - paths->c[k][3 * i + a];
    p.bend = contacts_bend(p.terms, (const double(*)[3])p.c);
    return p;
}

double contacts_distance(const struct contact_paths *paths, size_t i, size_t j, double h)
{
    const struct relative p = contacts_pair(paths, i, j);
    double d[3];
    contacts_at(&p, h, d);
    return contacts_norm(d);
}

/* ---- All pairs. ------------------------------------------------------------------------------ */

struct search {
    const char *call;
    const struct contact_paths *paths;
    const double *radius;
    struct nbody_contact *contact;
    size_t n;
};

static int contacts_append(struct search *y, struct nbody_contact one)
{
    struct nbody_contact *grown =
        y->n & (y->n - 1) ? y->contact : realloc(y->contact, (y->n ? 2 * y->n : 1) * sizeof one);
    if (!grown)
        return clerror_set(ENOMEM, "%s: out of memory for %zu contacts", y->call, y->n + 1);
    y->contact = grown;
    grown[y->n++] = one;
    return 0;
}

static int contacts_test_pair(struct search *y, size_t a, size_t b)
{
    const size_t i = a < b ? a : b, j = a < b ? b : a;
    struct relative p = contacts_pair(y->paths, i, j);
    p.R = y->radius[i] + y->radius[j];
    const double h = p.R > 0 ? contacts_first(&p, 0, 1) : 2;
    return h > 1 ? 0
                 : contacts_append(y, (struct nbody_contact){i, j, (1 - h) * fabs(y->paths->span)});
}

/* Interval in x that a body covers. */
static struct interval contacts_interval(const struct contact_paths *paths, const double *radius,
                                         size_t i)
{
    double c[PATH_TERMS][3], end = 0;
    for (int k = 0; k < paths->terms; k++) {
        memcpy(c[k], paths->c[k] + 3 * i, sizeof c[k]);
        end += c[k][0];
    }
    const double beyond = contacts_bend(paths->terms, (const double(*)[3])c) / 8 + radius[i];
    return (struct interval){fmin(c[0][0], end) - beyond, fmax(c[0][0], end) + beyond, i};
}

int contacts_find(const char *call, const struct contact_paths *paths, const double *radius,
                  struct nbody_contact **contact, size_t *contacts)
{
    const size_t n = paths->n;
    struct search y = {call, paths, radius, NULL, 0};
    struct interval *all = malloc(n * sizeof *all);
    int status = all ? 0 : clerror_set(ENOMEM, "%s: out of memory for %zu bodies", call, n);
    for (size_t i = 0; all && i < n; i++)
        all[i] = contacts_interval(paths, radius, i);
    if (all)
        qsort(all, n, sizeof *all, contacts_by_start);
    for (size_t i = 0; i < n && status == 0; i++)
        for (size_t j = i + 1; j < n && status == 0 && all[j].from <= all[i].to; j++)
            status = contacts_test_pair(&y, all[i].body, all[j].body);
    free(all);
    if (status != 0) {
        free(y.contact);
        y.contact = NULL;
        y.n = 0;
    }
    if (y.n)
        contacts_sort(y.contact, y.n);
    *contact = y.contact;
    *contacts = y.n;
    return status;
}

struct contact_paths contacts_cubic(size_t n, double span, const double *x0, const double *v0,
                                    const double *x1, const double *v1, double *memory)
{
    const size_t m = 3 * n;
    double *const one = memory, *const two = one + m, *const three = two + m;
    for (size_t i = 0; i < m; i++) {
        const double way = x1[i] - x0[i], begin = v0[i] * span, end = v1[i] * span;
        one[i] = begin;
        two[i] = 3 * way - 2 * begin - end;
        three[i] = begin + end - 2 * way;
    }
    return (struct contact_paths){n, 4, span, {x0, one, two, three}};
}

int nbody_find_contacts(size_t n, const double *radius, const double (*pos)[3],
                        const double (*vel)[3], double dt, struct nbody_contact **contact,
                        size_t *contacts)
{
    double *const begin = malloc(6 * n * sizeof *begin), *const way = begin + 3 * n;
    *contact = NULL;
    *contacts = 0;
    if (!begin)
        return clerror_set(ENOMEM, "nbody_find_contacts: out of memory for %zu bodies", n);
    for (size_t i = 0; i < 3 * n; i++) {
        way[i] = vel[i / 3][i % 3] * dt;
        begin[i] = pos[i / 3][i % 3] - way[i];
    }
    const struct contact_paths lines = {n, 2, dt, {begin, way}};
    const int status = contacts_find("nbody_find_contacts", &lines, radius, contact, contacts);
    free(begin);
    return status;
}
