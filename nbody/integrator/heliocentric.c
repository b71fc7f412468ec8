/* heliocentric.c - democratic heliocentric coordinates: transformations, forces and recoil.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/heliocentric.h"
#include "nbody/integrator/host_lanes.h"

#include <stdbool.h>

#define WH_NUMBER double
#include "nbody/integrator/heliocentric_slots.h"

void nbody_heliocentric_from(const struct heliocentric *h, const double *x, const double *v)
{
    const size_t m = h->orbits.stride;
    memset(h->orbits.lost_x, 0, 3 * m * sizeof(double));
    memset(h->orbits.lost_v, 0, 3 * m * sizeof(double));
    for (size_t c = 0; c < 3; c++) {
        heliocentric_from_inertial(h->orbits.n, h->gm, h->total, x + c * m, true,
                                   h->orbits.x + c * m);
        heliocentric_from_inertial(h->orbits.n, h->gm, h->total, v + c * m, false,
                                   h->orbits.v + c * m);
    }
}

void nbody_heliocentric_to(const struct heliocentric *h, double *x, double *v)
{
    const size_t m = h->orbits.stride;
    for (size_t c = 0; c < 3; c++) {
        inertial_from_heliocentric(h->orbits.n, h->gm, h->total, h->orbits.x + c * m, true,
                                   x + c * m);
        inertial_from_heliocentric(h->orbits.n, h->gm, h->total, h->orbits.v + c * m, false,
                                   v + c * m);
    }
}

void nbody_heliocentric_force(const struct heliocentric *h)
{
    const struct host_bodies planets = {.n = h->orbits.n - 1,
                                        .stride = h->orbits.stride,
                                        .x = h->orbits.x,
                                        .gm = h->slot_gm,
                                        .e2 = h->e2};
    memset(h->force, 0, 3 * planets.stride * sizeof *h->force);
    nbody_host_add_pairs(&planets, 1, h->force);
}

void nbody_heliocentric_jump(const struct heliocentric *h, double dt)
{
    const size_t m = h->orbits.stride, last = h->orbits.n - 1;
    for (size_t c = 0; c < 3; c++) {
        double *const x = h->orbits.x + c * m, *const lost = h->orbits.lost_x + c * m;
        const double recoil = heliocentric_sum(h->orbits.n, h->gm, h->orbits.v + c * m) / h->gm[0];
        const lanes step = (lanes){0} + dt * recoil;
        const double centre = x[last], centre_lost = lost[last];
        for (size_t i = 0; i <= last; i += HOST_LANES)
            lanes_add_compensated(x + i, lost + i, &step);
        x[last] = centre;
        lost[last] = centre_lost;
    }
}
