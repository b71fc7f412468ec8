/* steppers.c - nbody_step, by the kind of time steps that the engine needs.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/stepping.h"

#include "core/handle.h"

static const struct stepper *const steppers[] = {&nbody_stepper_host,     &nbody_stepper_few,
                                                 &nbody_stepper_block,    &nbody_stepper_rungs,
                                                 &nbody_stepper_adaptive, &nbody_stepper_fixed};

int nbody_stepper_open(struct nbody *nb)
{
    const struct stepper *const *s = steppers;
    while (!(*s)->applies(nb))
        s++;
    nb->integration.stepper = *s;
    return (*s)->open ? (*s)->open(nb) : 0;
}

void nbody_stepper_free(struct nbody *nb)
{
    nbody_watch_free(nb);
    if (nb->integration.stepper && nb->integration.stepper->free)
        nb->integration.stepper->free(nb);
}

int nbody_step(nbody *nb, size_t steps)
{
    if (no_handle(nb, __func__))
        return -1;
    nbody_watch_begin(nb);
    return nb->integration.stepper->run(nb, steps);
}
