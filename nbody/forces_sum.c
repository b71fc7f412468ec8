/* forces_sum.c - what is summed over all pairs: names, planes, operations, softening; and in which
 * order.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include "core/round.h"

#include <math.h>

bool nbody_forces_in_doubles(const struct nbody *nb, enum kernel sum)
{
    return nb->precision == NBODY_DOUBLE || (nb->precision == NBODY_MIXED && sum != FORCES);
}

double nbody_forces_softening(const struct nbody *nb, enum kernel sum, bool *none)
{
    const double tiny = ldexp(1.0, nbody_forces_in_doubles(nb, sum) ? -500 : -80);
    const double eps = nb->eps * nbody_units_factor(&nb->units, -1, 0);
    *none = eps * eps <= tiny;
    return *none ? tiny : eps * eps;
}

bool nbody_forces_can_fuse(const struct nbody *nb)
{
    return nb->integrator->pulls && world_size(nb->world) == 1 && nb->kernel == NBODY_TUNED &&
           nb->method == NBODY_DIRECT && nb->nfields == 0 && !nb->own_eps;
}

bool nbody_forces_can_fuse_steps(const struct nbody *nb)
{
    return nbody_forces_can_fuse(nb) && nb->ndev == 1 && stages(nb) == 1 &&
           nb->stepping == NBODY_FIXED;
}

/* Enough stretches to keep a large device busy with few bodies, and no more than their sums have
 * room for with many: at most 64, of at least 256 bodies, and 2^24 rows of sums, so that also what
 * one of several devices does before positions arrive is many groups; but none of much over 2^20
 * bodies, so that rounding errors stay small. 128: the largest tile in use; a larger one changes
 * where stretches begin. */
void nbody_forces_chunk(struct nbody *nb, size_t tiles)
{
    const size_t n = nb->n, room = ((size_t)1 << 24) / n, long_ones = n >> 20;
    size_t wanted = n / 256 < 64 ? n / 256 : 64, grain = common_multiple(128, tiles);
    wanted = wanted < room ? wanted : room;
    wanted = wanted > long_ones ? wanted : long_ones;
    wanted = wanted > 0 ? wanted : 1;
    nb->chunk = round_up(divide_up(n, wanted), grain);
    nb->chunks = divide_up(n, nb->chunk);
}

static const struct sum sums[SUMS] = {
    [FORCES] = {.name = {"nbody.direct.single", "nbody.direct.double", "nbody.direct.mixed"},
                .planes = 3,
                .flops = 19,
                .instructions = {13, 16, 19},
                .multiplications = 9},
    [JERKS] = {.name = {"nbody.hermite.single", "nbody.hermite.double"},
               .planes = 6,
               .velocities = true,
               .flops = 41,
               .instructions = {27, 32},
               .multiplications = 20},
    [SNAPS] = {.name = {"nbody.hermite.single", "nbody.hermite.double"},
               .planes = 9,
               .velocities = true,
               .accelerations = true,
               .flops = 71,
               .instructions = {47, 52},
               .multiplications = 36},
    [POTENTIALS] = {.planes = 1, .flops = 12},
    [TIDES] = {.planes = 1, .flops = 15},
};

const struct sum *nbody_forces_sum_of(enum kernel sum)
{
    return &sums[sum];
}

const struct sum *nbody_forces_sum(const struct nbody *nb)
{
    return nbody_forces_sum_of(nb->integrator->sum);
}
