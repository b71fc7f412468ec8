/* heliocentric_slots.h - one coordinate of democratic heliocentric coordinates (Duncan, Levison &
 * Lee 1998, AJ 116, 2067): positions from the star, body 0, and velocities from the centre of mass.
 * C and OpenCL C compile this file; the includer defines WH_NUMBER, the number of a body.
 *
 *   slots of a plane     0: body 1 ... n - 2: body n - 1, n - 1: centre of mass
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_HELIOCENTRIC_SLOTS_H
#define STDCL_NBODY_HELIOCENTRIC_SLOTS_H

/* Sum of G m times the slots of all planets. */
static WH_NUMBER heliocentric_sum(size_t n, const WH_NUMBER *gm, const WH_NUMBER *slot)
{
    WH_NUMBER sum = gm[1] * slot[0];
    for (size_t i = 2; i < n; i++)
        sum += gm[i] * slot[i - 1];
    return sum;
}

/* Transform `own` of n bodies to their slots; total: sum of gm. */
static void heliocentric_from_inertial(size_t n, const WH_NUMBER *gm, WH_NUMBER total,
                                       const WH_NUMBER *own, bool position, WH_NUMBER *slot)
{
    WH_NUMBER centre = gm[0] * own[0];
    for (size_t i = 1; i < n; i++)
        centre += gm[i] * own[i];
    centre /= total;
    for (size_t i = 1; i < n; i++)
        slot[i - 1] = own[i] - (position ? own[0] : centre);
    slot[n - 1] = centre;
}

static void inertial_from_heliocentric(size_t n, const WH_NUMBER *gm, WH_NUMBER total,
                                       const WH_NUMBER *slot, bool position, WH_NUMBER *own)
{
    const WH_NUMBER centre = slot[n - 1], sum = heliocentric_sum(n, gm, slot);
    own[0] = centre - sum / (position ? total : gm[0]);
    for (size_t i = 1; i < n; i++)
        own[i] = slot[i - 1] + (position ? own[0] : centre);
}

#endif
