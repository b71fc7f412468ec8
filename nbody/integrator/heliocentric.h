/* heliocentric.h - democratic heliocentric coordinates (Duncan, Levison & Lee 1998, AJ 116, 2067):
 * positions from the star, body 0, and velocities from the centre of mass.
 *
 *   slots of a plane     0: body 1 ... n - 2: body n - 1, n - 1: centre of mass
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_HELIOCENTRIC_H
#define STDCL_NBODY_HELIOCENTRIC_H

#include "nbody/integrator/kepler.h"

/* Planes of `orbits.stride` numbers. */
struct heliocentric {
    struct kepler_orbits orbits; /* of slots; orbits.n is the number of bodies */
    const double *gm;            /* of bodies */
    const double *slot_gm, *e2;  /* of slots: G m; half the square of the softening */
    double total;                /* sum of gm */
    double *force;               /* 3 planes: accelerations of slots */
};

/* Transform positions and velocities, 3 planes each, between bodies and slots. from: rounding
 * errors become 0. */
void nbody_heliocentric_from(const struct heliocentric *h, const double *x, const double *v);
void nbody_heliocentric_to(const struct heliocentric *h, double *x, double *v);

/* Compute the forces of the pairs of planets. */
void nbody_heliocentric_force(const struct heliocentric *h);

/* Move the planets by the star's recoil during dt. */
void nbody_heliocentric_jump(const struct heliocentric *h, double dt);

#endif
