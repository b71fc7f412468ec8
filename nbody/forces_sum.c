/* forces_sum.c - what is summed over all pairs: names, planes, operations, softening.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include <math.h>

double nbody_forces_softening(const struct nbody *nb, bool *none)
{
    const double tiny = ldexp(1.0, nb->precision == NBODY_DOUBLE ? -500 : -80);
    const double eps = nb->eps * nbody_units_factor(&nb->units, -1, 0);
    *none = eps * eps <= tiny;
    return *none ? tiny : eps * eps;
}

static const struct sum sums[SUMS] = {
    [FORCES] = {.name = {"nbody.direct.single", "nbody.direct.double"},
                .planes = 3,
                .flops = 19,
                .instructions = {13, 16},
                .multiplications = 9},
    [JERKS] = {.name = {"nbody.hermite.single", "nbody.hermite.double"},
               .planes = 6,
               .velocities = true,
               .flops = 41,
               .instructions = {27, 32},
               .multiplications = 20},
    [POTENTIALS] = {.planes = 1, .flops = 12},
};

const struct sum *nbody_forces_sum_of(enum kernel sum)
{
    return &sums[sum];
}

const struct sum *nbody_forces_sum(const struct nbody *nb)
{
    return nbody_forces_sum_of(nb->integrator->sum);
}
