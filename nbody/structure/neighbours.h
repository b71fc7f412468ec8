/* neighbours.h - nearest neighbours of each body, by a k-d tree on the host.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_NEIGHBOURS_H
#define STDCL_NBODY_NEIGHBOURS_H

#include <stddef.h>

enum { NEIGHBOURS = 6 };

/* The nearest neighbours of one body, nearest first; fewer than NEIGHBOURS if there are few
 * bodies. */
struct neighbours {
    int n;
    size_t body[NEIGHBOURS];
    double square[NEIGHBOURS]; /* squared distance */
};

/* Find the nearest neighbours of n bodies; to: array of n. Return -1 with ENOMEM. */
int neighbours_find(size_t n, const double (*pos)[3], struct neighbours *to);

#endif
