/* galaxy.h - a disk galaxy in approximate equilibrium, made of bodies.
 *
 * Units: G = 1, mass of the galaxy 1, scale length of the disk 1. For a galaxy like ours that is
 * 9e10 solar masses, 3.5 kpc, and so 10 million years and 330 km/s.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_GALAXY_H
#define STDCL_NBODY_GALAXY_H

#include <stddef.h>
#include <stdint.h>

/* Makes n >= 1 bodies: a rotating exponential disk about the z axis, then a Hernquist spheroid that
 * stands for bulge and inner halo, with total mass 1, centred at rest at the origin. `which` tells
 * galaxies of one seed apart. -1 when there is no memory, else 0. */
int nbody_galaxy_make(size_t n, uint64_t seed, uint32_t which, double *mass, double (*pos)[3],
                      double (*vel)[3]);

/* Moves the bodies so that their centre of mass is at rest at the origin. */
void nbody_galaxy_centre(size_t n, const double *mass, double (*pos)[3], double (*vel)[3]);

#endif
