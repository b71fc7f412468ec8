/* host_state.h - numbers of few bodies on the host (host_state.c), for their steps (host_steps.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_HOST_STATE_H
#define STDCL_NBODY_HOST_STATE_H

#include "nbody/integrator/host.h"
#include "nbody/integrator/stepping.h"

struct few_state {
    struct host_bodies b;
    struct host_added added; /* b.added if there are such forces */
    double *plane;           /* [nb->planes][stride] */
    double *old;             /* copy of all numbers that steps change */
    size_t changing;
    uint64_t version; /* particles.version that these numbers belong to */
    bool ahead;       /* steps have made them later than the devices' */
    bool x_current;   /* x and v are current, if the scheme computes them from its state */
};

/* Allocate and free nb->integration.few. */
int nbody_few_open(struct nbody *nb);
void nbody_few_free(struct nbody *nb);

/* Copy the numbers of the devices to the host and begin a step, unless the host has the current
 * ones. Blocks. */
int nbody_few_download(struct nbody *nb);

/* Set the time of the bodies, in the caller's units, for forces that depend on it. */
void nbody_few_set_time(struct nbody *nb, double time);

/* Record that steps have changed the numbers of the host. */
void nbody_few_stepped(struct nbody *nb);

#endif
