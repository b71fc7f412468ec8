/* structure.h - common part of structure.c (host) and structure_device.c.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_STRUCTURE_H
#define STDCL_NBODY_STRUCTURE_H

#include "stdcl/nbody.h"

#include <stdbool.h>

/* EINVAL without mass, and for fractions that do not ascend within 0 .. 1. */
int structure_check(size_t n, double total, size_t shells, const struct nbody_shell *shell);

/* Fill in a shell, except its radius, from sums over its bodies: mass, and mass-weighted radial
 * velocity, its square, and the square of the tangential velocity. */
void structure_shell(struct nbody_shell *shell, size_t bodies, double mass, double radial,
                     double radial2, double across2);

/* Relaxation time at the half-mass radius r; gm: G times the total mass. */
double structure_relaxation(size_t n, double gm, double r);

/* True if i < k, mutual nearest neighbours, are a binary; third: squared distance of the
 * next body. add: append a binary to the list; ENOMEM. sort: sort the list. */
bool structure_binary(double G, const double *mass, const double (*pos)[3], const double (*vel)[3],
                      size_t i, size_t k, double third, struct nbody_binary *binary);
int structure_add(struct nbody_structure *s, const struct nbody_binary *one);
void structure_sort(struct nbody_structure *s);

#endif
