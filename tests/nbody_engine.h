/* nbody_engine.h - what tests of engines share: rows of the arrays, the energy, how far two systems
 * are from each other, whether devices have doubles.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_ENGINE_H
#define NBODY_ENGINE_H

#include "check.h"

#include "stdcl/nbody.h"

#include <math.h>
#include <stdbool.h>

typedef const double (*rows)[3];

static inline double energy(nbody *nb)
{
    struct nbody_diagnostics d;
    works(nbody_diagnose(nb, &d));
    return d.total;
}

/* The largest difference of a coordinate. */
static inline double apart(size_t n, double (*a)[3], double (*b)[3])
{
    double worst = 0;
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            worst = fmax(worst, fabs(a[i][c] - b[i][c]));
    return worst;
}

/* All of stddev, so that an engine on them may have any precision. */
static inline bool has_doubles(void)
{
    struct cldev_info info[64];
    bool all = clgetndev(stddev) <= 64 && clgetdevinfo(stddev, info) == 0;
    for (cl_uint d = 0; all && d < clgetndev(stddev); d++)
        all = info[d].dev_pref_vec_double > 0;
    return all;
}

#endif /* NBODY_ENGINE_H */
