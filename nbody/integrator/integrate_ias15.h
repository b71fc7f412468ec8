/* integrate_ias15.h - steps of ias15 for part of the bodies, within the step of another integrator.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_INTEGRATE_IAS15_H
#define STDCL_NBODY_INTEGRATE_IAS15_H

#include "nbody/integrator/scheme.h"
#include "nbody/structure/contacts.h"

enum {
    IAS15_NODES = 7,
    IAS15_PLANES = 14 + 3 * IAS15_NODES + PATH_TERMS /* coordinate arrays of working memory */
};

/* Advance as integrator.host does. memory: 3n * IAS15_PLANES numbers. */
enum host_end nbody_ias15_step(const struct nbody_ref_system *s, double dt, double *x, double *v,
                               double *memory, double *evaluations);

#endif
