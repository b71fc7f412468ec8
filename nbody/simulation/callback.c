/* callback.c - the caller's function for forces: which engines support it; its accelerations for
 * nbody_forces.
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
                           "nbody_set_force_callback: the integrator %s needs derivatives of "
                           "forces; use NBODY_LEAPFROG or NBODY_IAS15",
                           name);
    if (nb->integrator->added < ADDED_OF_VELOCITY && kind == NBODY_FORCE_OF_VELOCITY)
        return clerror_set(ENOTSUP,
                           "nbody_set_force_callback: with forces that depend on velocities the "
                           "integrator %s loses its order; use NBODY_LEAPFROG or NBODY_IAS15",
                           name);
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

int nbody_callback_collect(struct nbody *nb, double (*acc)[3])
{
    double(*const x)[3] = calloc(3 * nb->n, sizeof *x);
    if (!x)
        return clerror_set(ENOMEM, "nbody_forces: out of memory for %zu bodies", nb->n);
    double(*const v)[3] = x + nb->n, (*const a)[3] = v + nb->n;
    const double length = nbody_units_factor(&nb->units, -1, 0),
                 speed = nbody_units_factor(&nb->units, -1, 1),
                 factor = nbody_units_factor(&nb->units, 1, -2);
    int status = nbody_state(nb, x, v);
    for (size_t k = 0; k < 3 * nb->n; k++) {
        x[k / 3][k % 3] *= length;
        v[k / 3][k % 3] *= speed;
    }
    nbody_added_begin(nb);
    if (status == 0)
        status = nbody_added_evaluate(nb, nbody_time(nb) * nbody_units_factor(&nb->units, 0, -1),
                                      (const double(*)[3])x, (const double(*)[3])v, true, a);
    for (size_t k = 0; status == 0 && k < 3 * nb->n; k++)
        acc[k / 3][k % 3] += factor * a[k / 3][k % 3];
    nbody_added_begin(nb); /* a failure leaves the state valid */
    free(x);
    return status;
}
