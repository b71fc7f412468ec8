/* force.c - sums by the method of an engine.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/force/methods.h"

int nbody_method_prepare(struct nbody *nb)
{
    return nb->force.method->prepare ? nb->force.method->prepare(nb) : 0;
}

int nbody_method_open(struct nbody *nb)
{
    return nb->force.method->open ? nb->force.method->open(nb) : 0;
}

void nbody_method_free(struct nbody *nb)
{
    if (nb->force.method && nb->force.method->free)
        nb->force.method->free(nb);
}

int nbody_forces_evaluate(struct nbody *nb, enum sum_kind sum, int index)
{
    nb->force.index = index;
    if (nb->force.method->evaluate(nb, sum) != 0)
        return -1;
    if (sum == CRITERION)
        return 0; /* timestep_criterion_max adds the fields */
    return nbody_field_start(nb, sum) == 0 ? nbody_added_start(nb, sum) : -1;
}

double nbody_forces_work(const struct nbody *nb, enum sum_kind sum)
{
    return nb->force.method->work(nb, sum);
}
