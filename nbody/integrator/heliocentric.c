/* heliocentric.c - democratic heliocentric coordinates: transformations, forces and recoil.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/heliocentric.h"
#include "nbody/integrator/host_lanes.h"

#include <stdbool.h>

/* Sum of G m times the slots of all planets, of one coordinate. */
static double heliocentric_sum(const struct heliocentric *h, const double *slot)
{
    double sum = 0;
    for (size_t i = 1; i < h->orbits.n; i++)
        sum += h->gm[i] * slot[i - 1];
    return sum;
}

/* Transform one coordinate: `own` of bodies, `slot` of slots. */
static void heliocentric_from_inertial(const struct heliocentric *h, const double *own,
                                       bool position, double *slot)
{
    const size_t n = h->orbits.n;
    double centre = h->gm[0] * own[0];
    for (size_t i = 1; i < n; i++)
        centre += h->gm[i] * own[i];
    centre /= h->total;
    for (size_t i = 1; i < n; i++)
        slot[i - 1] = own[i] - (position ? own[0] : centre);
    slot[n - 1] = centre;
}

static void inertial_from_heliocentric(const struct heliocentric *h, const double *slot,
                                       bool position, double *own)
{
    const size_t n = h->orbits.n;
    const double centre = slot[n - 1], sum = heliocentric_sum(h, slot);
    own[0] = centre - sum / (position ? h->total : h->gm[0]);
    for (size_t i = 1; i < n; i++)
        own[i] = slot[i - 1] + (position ? own[0] : centre);
}

void nbody_heliocentric_from(const struct heliocentric *h, const double *x, const double *v)
{
    const size_t m = h->orbits.stride;
    memset(h->orbits.lost_x, 0, 3 * m * sizeof(double));
    memset(h->orbits.lost_v, 0, 3 * m * sizeof(double));
    for (size_t c = 0; c < 3; c++) {
        heliocentric_from_inertial(h, x + c * m, true, h->orbits.x + c * m);
        heliocentric_from_inertial(h, v + c * m, false, h->orbits.v + c * m);
    }
}

void nbody_heliocentric_to(const struct heliocentric *h, double *x, double *v)
{
    const size_t m = h->orbits.stride;
    for (size_t c = 0; c < 3; c++) {
        inertial_from_heliocentric(h, h->orbits.x + c * m, true, x + c * m);
        inertial_from_heliocentric(h, h->orbits.v + c * m, false, v + c * m);
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
        const lanes step = (lanes){0} + dt * (heliocentric_sum(h, h->orbits.v + c * m) / h->gm[0]);
        const double centre = x[last], centre_lost = lost[last];
        for (size_t i = 0; i <= last; i += HOST_LANES)
            lanes_add_compensated(x + i, lost + i, &step);
        x[last] = centre;
        lost[last] = centre_lost;
    }
}
