/* galaxy.h - a disk galaxy in equilibrium: disk, bulge and dark halo.
 *
 * Units: G = 1, mass and scale length of the disk 1. For the Milky Way, with 5e10 solar masses in a
 * disk of 3.5 kpc, the units of time and velocity are 14 million years and 250 km/s.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_GALAXY_H
#define STDCL_NBODY_GALAXY_H

#include <stddef.h>
#include <stdint.h>

struct nbody_galaxy;

/* Make the tables for nbody_galaxy_body; free with free(). NULL: out of memory. */
struct nbody_galaxy *nbody_galaxy_create(void);

/* Make body i of n. Disk stars come first; the disk rotates about the z axis. Then come bulge
 * stars of the same mass, then the heavier bodies of the halo. `which` distinguishes galaxies of
 * one seed. */
void nbody_galaxy_body(const struct nbody_galaxy *galaxy, size_t n, uint64_t seed, uint32_t which,
                       size_t i, double *mass, double pos[3], double vel[3]);

/* Total mass of a galaxy, for any number of bodies. */
double nbody_galaxy_mass(void);

#endif
