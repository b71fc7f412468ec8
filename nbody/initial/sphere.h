/* sphere.h - a spherical component of a model, with isotropic velocities in equilibrium with its
 * total mass.
 *
 * Its density is Hernquist's, 1 / (r (r + a)^3) (1990, ApJ 356, 359), or that times 1 / cosh(r /
 * edge) (McMillan & Dehnen 2007, MNRAS 378, 541). Velocities are drawn from the distribution
 * function that Eddington's formula (1916, MNRAS 76, 572) gives for this density in the total
 * potential. Units: G = 1.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_SPHERE_H
#define STDCL_NBODY_SPHERE_H

#include "nbody/initial/draw.h"

/* Tables over radii r = (x / (1 - x))^2 with x = 0, 1/SPHERE_NODES, ... 1; the last is infinite. */
enum { SPHERE_NODES = 1024, SPHERE_ENERGIES = 1024 };

struct sphere_density {
    double mass; /* total */
    double scale;
    double edge; /* 0: none */
};

struct sphere {
    double inside[SPHERE_NODES + 1];     /* its own mass inside r */
    double potential[SPHERE_NODES + 1];  /* total potential, negated */
    double peak[SPHERE_NODES + 1];       /* maximum of v^2 f(energy) at r */
    double density[SPHERE_ENERGIES + 1]; /* f w^5, but for a factor, where energy = (1 - w^2)
                                            potential[0] and w = 0, 1/SPHERE_ENERGIES, ... */
};

/* Radius at x, 0 to 1. sphere_at: interpolate a table at a radius. */
double sphere_radius(double x);
double sphere_at(const double *table, double radius);

/* Fill in the component's mass inside each node. */
void sphere_mass(const struct sphere_density *d, double inside[SPHERE_NODES + 1]);

/* Fill in *s, for a component of a model; total: the model's mass inside each node. */
void sphere_make(struct sphere *s, const struct sphere_density *d,
                 const double total[SPHERE_NODES + 1]);

/* Draw a body from the inner fraction `share` of the mass. */
void sphere_body(const struct sphere *s, double share, struct stream *stream, double pos[3],
                 double vel[3]);

#endif
