/* neighbours.h - the nearest bodies of each, by a k-d tree on the host.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_NEIGHBOURS_H
#define STDCL_NBODY_NEIGHBOURS_H

#include <stddef.h>

enum { NEIGHBOURS = 6 };

/* The nearest of one body, nearest first; fewer where there are no more bodies. */
struct neighbours {
    int n;
    size_t body[NEIGHBOURS];
    double square[NEIGHBOURS]; /* of the distance */
};

/* Finds those of all bodies, n of them into *to; -1 with ENOMEM. */
int neighbours_find(size_t n, const double (*pos)[3], struct neighbours *to);

#endif
