/* chaos.c - indicators of chaos of an engine, from the sums of its tangent vector.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "core/handle.h"

int nbody_find_chaos(nbody *nb, struct nbody_chaos *chaos)
{
    if (no_handle(nb, __func__))
        return -1;
    if (!nb->megno)
        return clerror_set(EINVAL,
                           "nbody_find_chaos: the engine has no tangent vector; create it with "
                           "nbody_options.megno");
    double own[NBODY_TANGENT_PLANES - 6];
    const double *sums = own;
    size_t stride = 1;
    if (nb->integration.few)
        sums = nbody_whfast_sums(nb, &stride);
    else if (nbody_host_tangent_sums(nb, own) != 0)
        sums = NULL;
    if (!sums)
        return -1;
    *chaos = nbody_whfast_chaos(sums, stride);
    chaos->time *= nbody_units_factor(&nb->units, 0, 1);
    chaos->lyapunov *= nbody_units_factor(&nb->units, 0, -1);
    return 0;
}
