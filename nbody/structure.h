/* structure.h - what finding a cluster's structure on the host (structure.c) and on a device
 * (structure_device.c) have in common.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_STRUCTURE_H
#define STDCL_NBODY_STRUCTURE_H

#include "stdcl/nbody.h"

#include <stdbool.h>

/* EINVAL for no mass, and for fractions that make no sense. */
int structure_check(size_t n, double total, size_t shells, const struct nbody_shell *shell);

/* All but the radius, from sums over its bodies: masses, and weighted with these the radial
 * velocity, its square, and that across. */
void structure_shell(struct nbody_shell *shell, size_t bodies, double mass, double radial,
                     double radial2, double across2);

/* At the half-mass radius r; gm: G times all mass. */
double structure_relaxation(size_t n, double gm, double r);

/* Whether i < k, each the other's nearest, are a binary; third: the square of the distance of the
 * next body. add, sort: puts it among those that were found, and these in order. */
bool structure_binary(double G, const double *mass, const double (*pos)[3], const double (*vel)[3],
                      size_t i, size_t k, double third, struct nbody_binary *binary);
int structure_add(struct nbody_structure *s, const struct nbody_binary *one);
void structure_sort(struct nbody_structure *s);

#endif
