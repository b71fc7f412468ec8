/* contacts.h - contacts of bodies along curved paths (contacts.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_CONTACTS_H
#define STDCL_NBODY_CONTACTS_H

#include "stdcl/nbody.h"

enum { PATH_TERMS = 10 }; /* coefficients of a path at most */

/* Paths of n bodies over the time `span`. Coordinate i of 3 n is the sum of c[k][i] h^k over k from
 * 0 to terms - 1, with h from 0 to 1. */
struct contact_paths {
    size_t n;
    int terms;
    double span;
    const double *c[PATH_TERMS];
};

/* Find the first contact of each pair: *contacts entries, earliest first, with the time since the
 * contact at h = 1. The caller calls free(*contact); NULL: none. ENOMEM, for `call`. */
int contacts_find(const char *call, const struct contact_paths *paths, const double *radius,
                  struct nbody_contact **contact, size_t *contacts);

/* Sort by time, earliest first; then by the numbers of the bodies. */
void contacts_sort(struct nbody_contact *contact, size_t contacts);

/* Distance of two bodies at h. */
double contacts_distance(const struct contact_paths *paths, size_t i, size_t j, double h);

/* Cubic paths through positions and velocities at both ends. memory: 9 n numbers; x0 is not
 * copied. */
struct contact_paths contacts_cubic(size_t n, double span, const double *x0, const double *v0,
                                    const double *x1, const double *v1, double *memory);

#endif
