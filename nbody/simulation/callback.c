/* callback.c - the caller's function for forces, and which engines support it.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "core/handle.h"

static int callback_check(const struct nbody *nb, enum nbody_force_kind kind)
{
    const char *const name = nb->integrator->info.name;
    if ((unsigned)kind > NBODY_FORCE_OF_VELOCITY)
        return clerror_set(EINVAL, "nbody_set_force_callback: there is no kind %d of forces",
                           (int)kind);
    if (nbody_place(nb) != NBODY_ON_HOST)
        return clerror_set(ENOTSUP, "nbody_set_force_callback: steps run on devices, which cannot "
                                    "call a function; use NBODY_IAS15 or NBODY_ON_HOST");
    if (nb->stepping != NBODY_FIXED)
        return clerror_set(ENOTSUP, "nbody_set_force_callback: adaptive steps do not know how fast "
                                    "the force changes; use NBODY_IAS15 or NBODY_FIXED");
    if (nb->integrator->added == ADDED_NONE)
        return clerror_set(ENOTSUP,
                           "nbody_set_force_callback: the integrator %s %s; use NBODY_LEAPFROG or "
                           "NBODY_IAS15",
                           name,
                           nb->integrator->info.derivatives > 0
                               ? "needs derivatives of forces"
                               : "supports no forces beside gravity");
    if (nb->integrator->added < ADDED_OF_VELOCITY && kind == NBODY_FORCE_OF_VELOCITY)
        return clerror_set(ENOTSUP,
                           "nbody_set_force_callback: with forces that depend on velocities the "
                           "integrator %s loses its order; use NBODY_LEAPFROG or NBODY_IAS15",
                           name);
    if (nb->megno)
        return clerror_set(ENOTSUP,
                           "nbody_set_force_callback: MEGNO supports no forces beside gravity");
    if (nb->integrator->few_only && nb->whfast.coordinates != NBODY_JACOBI)
        return clerror_set(ENOTSUP,
                           "nbody_set_force_callback: the integrator %s has added forces "
                           "only with NBODY_JACOBI",
                           name);
    return 0;
}

int nbody_set_force_callback(nbody *nb, force_function *force, void *arg,
                             enum nbody_force_kind kind)
{
    if (no_handle(nb, __func__))
        return -1;
    if (force && callback_check(nb, kind) != 0)
        return -1;
    if (!force && !nbody_added_apply(nb))
        return 0;
    return nbody_integrate_restart(nb) == 0 ? nbody_added_set(nb, force, arg, kind) : -1;
}
