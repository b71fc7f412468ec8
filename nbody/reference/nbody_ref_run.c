/* nbody_ref_run.c - steps by the scalar reference of any integrator of the table (scheme.h).
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

int nbody_ref_run_in(const struct nbody_ref_system *s, enum nbody_integrator integrator, double dt,
                     size_t steps, double (*pos)[3], double (*vel)[3])
{
    const struct integrator *row = nbody_integrator_find(integrator);
    double *work = row ? malloc(row->planes * s->n * sizeof *work) : NULL;
    if (!work)
        return -1;
    row->reference(s, dt, steps, pos[0], vel[0], work);
    free(work);
    return 0;
}

int nbody_ref_run(enum nbody_integrator integrator, size_t n, double G, double eps, double dt,
                  size_t steps, const double *mass, double (*pos)[3], double (*vel)[3])
{
    return nbody_ref_run_in(&(struct nbody_ref_system){n, G, eps, mass, NULL, 0, NULL, NULL},
                            integrator, dt, steps, pos, vel);
}
