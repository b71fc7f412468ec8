/* nbody_engine.h - helpers shared by tests of N-body engines: arrays, equal shares, total
 * energy, the difference of two systems, support of doubles, devices of one model.
 * SPDX-License-Identifier: MIT
 */
#ifndef NBODY_ENGINE_H
#define NBODY_ENGINE_H

#include "check.h"

#include "stdcl/nbody.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

typedef const double (*rows)[3];

/* Shares for tests that compare engines bit by bit: measured shares of unlike devices may differ
 * between engines, and the last bits with them. For up to 64 devices. */
#define EIGHT_SHARES 1, 1, 1, 1, 1, 1, 1, 1
static const double equal_shares[64] = {EIGHT_SHARES, EIGHT_SHARES, EIGHT_SHARES, EIGHT_SHARES,
                                        EIGHT_SHARES, EIGHT_SHARES, EIGHT_SHARES, EIGHT_SHARES};

static inline double total_energy(nbody *nb)
{
    struct nbody_diagnostics d;
    works(nbody_diagnose(nb, &d));
    return d.total;
}

/* Return the largest difference of a coordinate. */
static inline double largest_difference(size_t n, double (*a)[3], double (*b)[3])
{
    double worst = 0;
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            worst = fmax(worst, fabs(a[i][c] - b[i][c]));
    return worst;
}

/* True if all devices of stddev support doubles, so that any precision works. */
static inline bool context_has_doubles(void)
{
    struct cldev_info info[64];
    bool all = clgetndev(stddev) <= 64 && clgetdevinfo(stddev, info) == 0;
    for (cl_uint d = 0; all && d < clgetndev(stddev); d++)
        all = info[d].dev_pref_vec_double > 0;
    return all;
}

/* True if all devices of stddev are of one model. Unlike devices round differently, so bits depend
 * on the division of the bodies over them. */
static inline bool devices_are_alike(void)
{
    struct cldev_info info[64];
    bool all = clgetndev(stddev) <= 64 && clgetdevinfo(stddev, info) == 0;
    for (cl_uint d = 1; all && d < clgetndev(stddev); d++)
        all = strcmp(info[d].dev_name, info[0].dev_name) == 0;
    return all;
}

/* True for the integrators of planets, which need doubles, a star, and no softening. */
static inline bool integrates_planets(enum nbody_integrator i)
{
    return i == NBODY_WHFAST || i == NBODY_TRACE;
}

#endif /* NBODY_ENGINE_H */
