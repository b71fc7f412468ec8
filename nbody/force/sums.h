/* sums.h - the sums over pairs and their properties (sums.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_SUMS_H
#define STDCL_NBODY_SUMS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/embedded.h"
#include "stdcl/nbody.h"

/* Sums over all pairs; their properties: `sums` in sums.c. */
enum sum_kind { FORCES, JERKS, SNAPS, POTENTIALS, CRITERION, SUMS };

/* Properties of a sum over all pairs. */
struct sum {
    const char *name[3];           /* in the tuning store, by precision; NULL: no such sum */
    const struct embedded *source; /* file of its kernel, after root.cl and pairs.cl */
    const char *kernel;
    cl_uint planes;      /* components of its partial sums, accelerations first */
    bool velocities;     /* reads velo */
    bool accelerations;  /* reads acce */
    double flops;        /* operations per pair, counting a fused multiply-add as two */
    int instructions[3]; /* minimum per pair, by precision; double: with a corrected root */
    int multiplications; /* of these, multiplications and multiply-adds, with a root free */
};

/* Return the properties of a sum; nbody_forces_sum: of the sum that the engine's steps need. */
const struct sum *nbody_forces_sum_of(enum sum_kind sum);
const struct sum *nbody_forces_sum(const struct nbody *nb);

/* Cut the source bodies into chunks; sets force.chunk and force.chunks, which depend on n only.
 * `tiles` is a common multiple of the tiles of all devices. */
void nbody_forces_chunk(struct nbody *nb, size_t tiles);

/* Return the square of the softening in engine units. A negligible softening (*none) is replaced
 * by a number that keeps the self-interaction finite and changes no interaction of bodies at least
 * 5e-9 apart, in units where the largest coordinate is about 1 (double precision: 1e-67; mixed:
 * 3e-16). */
double nbody_forces_softening(const struct nbody *nb, enum sum_kind sum, bool *none);

/* Return advice to the user, the end of a message about a number that became NaN or infinite:
 * `usual`, unless the cube of the softening overflows in single precision. */
const char *nbody_forces_range_advice(const struct nbody *nb, const char *usual);

/* True if a launch may combine the sum over pairs with the update; can_fuse_steps: if a launch may
 * make several such steps. */
bool nbody_forces_can_fuse(const struct nbody *nb);
bool nbody_forces_can_fuse_steps(const struct nbody *nb);

/* True if a sum is computed in doubles. */
bool nbody_forces_in_doubles(const struct nbody *nb, enum sum_kind sum);

#endif
