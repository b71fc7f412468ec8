/* integrators.c - the table of integrators (integrator/scheme.h).
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#define X(constant, name) [constant] = &nbody_integrate_##name,
static const struct integrator *const table[] = {INTEGRATORS(X)};
#undef X

const struct integrator *nbody_integrator_find(enum nbody_integrator integrator)
{
    return (unsigned)integrator < COUNT_OF(table) ? table[integrator] : NULL;
}

const struct nbody_integrator_info *nbody_integrator_describe(enum nbody_integrator integrator)
{
    const struct integrator *row = nbody_integrator_find(integrator);
    return row ? &row->info : NULL;
}
