/* close_pairs.h - bodies that are close to each other compared with their distance from the origin,
 * for tests of ias15: positions of the last body relative to the last but one.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_TESTS_CLOSE_PAIRS_H
#define STDCL_TESTS_CLOSE_PAIRS_H

#include "nbody/reference/nbody_ref.h"

#include <math.h>
#include <string.h>

/* Bodies {mass, position, velocity}, in units with G = 1. */
static const double low_moon[3][7] = {{1}, {1e-6, 1, 0, 0, 0, 1, 0}, {0, 1.0001, 0, 0, 0, 1.1, 0}};
/* Sun, Mars and Phobos in au, solar masses and years / 2 pi: Phobos is 6.27e-5 au from Mars. */
static const double phobos[3][7] = {
    {1}, {3.227e-7, 1.5237, 0, 0, 0, 0.8101, 0}, {0, 1.5237627, 0, 0, 0, 0.8101, 0.0717}};
/* A star and a planet far from the origin, and flying away from it. */
static const double distant[2][7] = {{1, 1e4, 1e4, 0, 3, 0, 0}, {1e-3, 1e4 + 1, 1e4, 0, 3, 1, 0}};
/* Two planetesimals that pass each other at 1e-6 au. */
static const double planetesimals[3][7] = {
    {1}, {1e-10, 1, 0, 0, 0, 1, 0}, {1e-11, 1, -1e-3, 2e-6, 0, 1.01, 0}};
/* A star between two equal planets: all forces on it cancel. */
static const double opposite[3][7] = {{1}, {1e-3, 1, 0, 0, 0, 1, 0}, {1e-3, -1, 0, 0, 0, -1, 0}};
/* A satellite that a planet has captured on an orbit of eccentricity 0.9999. */
static const double grazing[3][7] = {{1}, {1e-6, 1, 0, 0, 0, 1, 0}, {0, 1.0001, 0, 0, 0, 1.001, 0}};
/* A body that passes the point between two equal masses where their forces cancel. */
static const double saddle[3][7] = {
    {1, -1, 0, 0, 0, -0.5, 0}, {1, 1, 0, 0, 0, 0.5, 0}, {0, 0, -0.25, 0, 0, 1, 0}};

/* Copy the bodies of a case. */
static inline void close_pair_bodies(size_t n, const double (*body)[7], double *m, double (*x)[3],
                                     double (*v)[3])
{
    for (size_t i = 0; i < n; i++) {
        m[i] = body[i][0];
        memcpy(x[i], body[i] + 1, sizeof x[i]);
        memcpy(v[i], body[i] + 4, sizeof v[i]);
    }
}

/* Compute the position after `time` by extrapolation in long double, with the last but one body at
 * the origin and at rest, where rounding is least. 0, or -1 as nbody_ref_exact. */
static inline int close_pair_exact(size_t n, const double (*body)[7], double time, double right[3])
{
    double m[3], x[3][3], v[3][3];
    close_pair_bodies(n, body, m, x, v);
    for (int c = 0; c < 3; c++) {
        const double x0 = x[n - 2][c], v0 = v[n - 2][c];
        for (size_t i = 0; i < n; i++) {
            x[i][c] -= x0;
            v[i][c] -= v0;
        }
    }
    if (nbody_ref_exact(n, 1, 0, time, 1e-17, m, x, v) != 0)
        return -1;
    for (int c = 0; c < 3; c++)
        right[c] = x[n - 1][c] - x[n - 2][c];
    return 0;
}

/* Return the error of positions x relative to the distance of the last two bodies. */
static inline double close_pair_error(size_t n, const double (*x)[3], const double right[3])
{
    double off = 0, r = 0;
    for (int c = 0; c < 3; c++) {
        off = fmax(off, fabs(x[n - 1][c] - x[n - 2][c] - right[c]));
        r = fmax(r, fabs(right[c]));
    }
    return off / r;
}

#endif
