/* sums.c - properties of the sums over pairs: names, planes, operations, softening, chunks.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "core/round.h"

#include <float.h>
#include <math.h>

bool nbody_forces_in_doubles(const struct nbody *nb, enum sum_kind sum)
{
    return nb->precision == NBODY_DOUBLE || (nb->precision == NBODY_MIXED && sum != FORCES);
}

double nbody_forces_softening(const struct nbody *nb, enum sum_kind sum, bool *none)
{
    const double tiny = ldexp(1.0, nbody_forces_in_doubles(nb, sum) ? -500 : -80);
    const double eps = nb->eps * nbody_units_factor(&nb->units, -1, 0);
    *none = eps * eps <= tiny;
    return *none ? tiny : eps * eps;
}

const char *nbody_forces_range_advice(const struct nbody *nb, const char *usual)
{
    bool none;
    const double eps2 = nbody_forces_softening(nb, FORCES, &none);
    return !nbody_forces_in_doubles(nb, FORCES) && eps2 * sqrt(eps2) > (double)FLT_MAX
               ? "the softening is too large for single precision and bodies this close together: "
                 "use a smaller softening or double precision"
               : usual;
}

bool nbody_forces_can_fuse(const struct nbody *nb)
{
    return nb->integrator->fuses && !nb->on_host && world_size(nb->world) == 1 &&
           nb->kernel == NBODY_TUNED && nb->method == NBODY_DIRECT && !nbody_has_outer_sum(nb) &&
           !nb->particles.own_eps;
}

bool nbody_forces_can_fuse_steps(const struct nbody *nb)
{
    return nbody_forces_can_fuse(nb) && nb->ndev == 1 && integrator_stages(nb) == 1 &&
           nb->stepping == NBODY_FIXED;
}

/* With few bodies, use enough chunks to occupy a large device, including the sum over a device's
 * own chunks before other positions arrive: up to 64, of at least 256 bodies. With many bodies,
 * limit the memory of partial sums to 2^24 per component, but keep chunks near 2^20 bodies at
 * most, which bounds rounding errors. 128 is the largest tile in use; a larger tile changes where
 * chunks begin. */
void nbody_forces_chunk(struct nbody *nb, size_t tiles)
{
    const size_t n = nb->n, room = ((size_t)1 << 24) / n, long_ones = n >> 20;
    size_t wanted = n / 256 < 64 ? n / 256 : 64, grain = least_common_multiple(128, tiles);
    wanted = wanted < room ? wanted : room;
    wanted = wanted > long_ones ? wanted : long_ones;
    wanted = wanted > 0 ? wanted : 1;
    nb->force.chunk = round_up(divide_up(n, wanted), grain);
    nb->force.chunks = divide_up(n, nb->force.chunk);
}

EMBEDDED(direct, "nbody/force/direct.cl", nbody_force_direct_cl);
EMBEDDED(snaps, "nbody/force/direct_snaps.cl", nbody_force_direct_snaps_cl);
EMBEDDED(criterion, "nbody/force/timestep_criterion.cl", nbody_force_timestep_criterion_cl);

static const struct sum sums[SUMS] = {
    [FORCES] = {.name = {"nbody.direct.single", "nbody.direct.double", "nbody.direct.mixed"},
                .source = &direct,
                .kernel = "forces",
                .planes = 3,
                .flops = 19,
                .instructions = {13, 16, 19},
                .multiplications = 9},
    [JERKS] = {.name = {"nbody.hermite.single", "nbody.hermite.double"},
               .source = &direct,
               .kernel = "jerks",
               .planes = 6,
               .velocities = true,
               .flops = 41,
               .instructions = {27, 32},
               .multiplications = 20},
    [SNAPS] = {.name = {"nbody.hermite.single", "nbody.hermite.double"},
               .source = &snaps,
               .kernel = "snaps",
               .planes = 9,
               .velocities = true,
               .accelerations = true,
               .flops = 71,
               .instructions = {47, 52},
               .multiplications = 36},
    [POTENTIALS] = {.source = &direct, .kernel = "potentials", .planes = 1, .flops = 12},
    [CRITERION] = {.source = &criterion, .kernel = "timestep_criterion", .planes = 1, .flops = 15},
};

const struct sum *nbody_forces_sum_of(enum sum_kind sum)
{
    return &sums[sum];
}

const struct sum *nbody_forces_sum(const struct nbody *nb)
{
    return nbody_forces_sum_of(nb->integrator->sum);
}
