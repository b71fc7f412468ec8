/* kepler.h - motion of bodies along conics, and compensated kicks, in lanes.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_KEPLER_H
#define STDCL_NBODY_KEPLER_H

#include <stddef.h>

/* Relative positions and velocities of `n` bodies, each about a mass: planes of `stride` numbers,
 * which is a multiple of HOST_LANES. lost_x and lost_v hold the rounding errors of x and v. */
struct kepler_orbits {
    size_t n, stride;
    const double *gm; /* G times the mass in the focus; 0: the body moves in a straight line */
    double *x, *v, *lost_x, *lost_v;
    double *tx, *tv; /* tangent vectors; NULL: none */
};

/* Move all bodies, and tangent vectors with them, along their conics for the time dt, of either
 * sign. An orbit that passes through
 * its focus becomes NaN. */
void nbody_kepler_drift(const struct kepler_orbits *o, double dt);

/* v += dt a. */
void nbody_kepler_kick(const struct kepler_orbits *o, double dt, const double *a);

#endif
