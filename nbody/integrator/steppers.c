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
    nbody_events_free(nb);
    if (nb->integration.stepper && nb->integration.stepper->free)
        nb->integration.stepper->free(nb);
}

/* Make steps one by one, and look for events along cubics. */
static int steps_with_events(struct nbody *nb, size_t steps)
{
    struct watch_path path;
    int status = nbody_watch_open(nb, &path, NULL);
    path.events_only = true;
    for (size_t k = 0; k < steps && status == 0 && !nbody_watch_ends(nb); k++) {
        path.time = nbody_time(nb);
        status = nb->integration.stepper->run(nb, 1);
        if (status == 0 && nbody_watch_inner_step(nb, &path, nbody_engine_dt(nb)) < 0)
            status = -1;
    }
    nbody_watch_close(&path);
    return status;
}

/* True if the integrator itself looks for events in its inner steps. */
static bool stepper_finds_events(const struct nbody *nb)
{
    return nb->stepping == NBODY_ADAPTIVE || nb->integrator->host_adapts;
}

int nbody_step(nbody *nb, size_t steps)
{
    if (no_handle(nb, __func__))
        return -1;
    nbody_watch_begin(nb);
    nbody_events_begin(nb);
    const int status = nb->integration.events.rule && !stepper_finds_events(nb)
                           ? steps_with_events(nb, steps)
                           : nb->integration.stepper->run(nb, steps);
    if (status != 0)
        nbody_events_undo(nb);
    return status;
}
