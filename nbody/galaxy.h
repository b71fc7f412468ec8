/* galaxy.h - a disk galaxy in equilibrium, made of bodies: a disk, a bulge and a dark halo.
 *
 * Units: G = 1, mass and scale length of the disk 1. For a galaxy like ours, with 5e10 solar masses
 * in a disk of 3.5 kpc, that is 14 million years and 250 km/s.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_GALAXY_H
#define STDCL_NBODY_GALAXY_H

#include <stddef.h>
#include <stdint.h>

struct nbody_galaxy;

/* Makes the tables that bodies are drawn from, to be freed by free(). NULL: no memory. */
struct nbody_galaxy *nbody_galaxy_create(void);

/* Body i of n. The first are stars of the disk, which turns about the z axis, then come stars of
 * the bulge, which are as heavy, then the halo's bodies, which are heavier. `which` tells galaxies
 * of one seed apart. */
void nbody_galaxy_body(const struct nbody_galaxy *galaxy, size_t n, uint64_t seed, uint32_t which,
                       size_t i, double *mass, double pos[3], double vel[3]);

/* The mass of a galaxy of any number of bodies. */
double nbody_galaxy_mass(void);

#endif
