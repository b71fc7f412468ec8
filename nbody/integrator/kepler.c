/* kepler.c - motion along conics and kicks of the planes of kepler.h, a vector of bodies at a time.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/kepler.h"
#include "nbody/integrator/host_lanes.h"
#include "nbody/integrator/kepler_solver.h"

INLINE void drift_lanes(const struct kepler_orbits *o, size_t i, double dt)
{
    const size_t m = o->stride;
    const lanes gm = LOAD(o->gm + i);
    lanes x[3], v[3], dx[3], dv[3];
    struct orbit_lanes k;
    struct stumpff_lanes g;
    struct kepler_factors f;
    for (size_t c = 0; c < 3; c++) {
        x[c] = LOAD(o->x + c * m + i);
        v[c] = LOAD(o->v + c * m + i);
    }
    kepler_follow(&gm, dt, x, v, &k, &g);
    kepler_find_factors(&gm, &k, &g, &f);
    kepler_change(&f, x, v, dx, dv);
    for (size_t c = 0; c < 3; c++) {
        lanes_add_compensated(o->x + c * m + i, o->lost_x + c * m + i, &dx[c]);
        lanes_add_compensated(o->v + c * m + i, o->lost_v + c * m + i, &dv[c]);
    }
    for (size_t c = 0; o->tx && c < 3; c++) {
        dx[c] = LOAD(o->tx + c * m + i);
        dv[c] = LOAD(o->tv + c * m + i);
    }
    if (o->tx)
        kepler_tangent(&gm, dt, &k, &g, &f, x, v, dx, dv);
    for (size_t c = 0; o->tx && c < 3; c++) {
        STORE(o->tx + c * m + i, dx[c]);
        STORE(o->tv + c * m + i, dv[c]);
    }
}

CLONES void nbody_kepler_drift(const struct kepler_orbits *o, double dt)
{
    for (size_t i = 0; i < o->n; i += HOST_LANES)
        drift_lanes(o, i, dt);
}

CLONES void nbody_kepler_kick(const struct kepler_orbits *o, double dt, const double *a)
{
    for (size_t k = 0; k < 3 * o->stride; k += HOST_LANES) {
        const lanes change = dt * LOAD(a + k);
        lanes_add_compensated(o->v + k, o->lost_v + k, &change);
    }
}
