/* softening.c - softening lengths of single bodies.
 *
 * A pair uses the mean of both squares in place of eps^2, so that forces stay equal and opposite,
 * and equal lengths make the usual sum. Kernels get half the square of each body. It has a lower
 * bound, at which two bodies have exactly the minimum softening of nbody_forces_softening.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include <math.h>

int nbody_softening_check(const struct nbody *nb)
{
    const char *what = nb->method == NBODY_TREE       ? "the tree has"
                       : nb->precision == NBODY_MIXED ? "mixed precision has"
                       : nb->kernel != NBODY_TUNED    ? "a baseline kernel has"
                       : nb->stepping != NBODY_FIXED  ? "adaptive or block stepping has"
                       : nb->integrator->sum > JERKS  ? "this integrator has"
                                                      : NULL;
    if (!nb->particles.own_eps || !what)
        return 0;
    return clerror_set(
        EINVAL,
        "nbody_create: %s one softening for all bodies; softenings of single bodies are for sums over all "
        "pairs by the tuned kernel, in single or double precision, with fixed steps",
        what);
}

int nbody_softening_copy(struct nbody *nb, const double *softening)
{
    if (!softening)
        return 0;
    for (size_t i = 0; i < nb->n; i++)
        if (!isfinite(softening[i]) || softening[i] < 0)
            return clerror_set(
                EINVAL,
                "nbody_create: body %zu has a softening length of %g; it must be a number >= 0",
                nbody_number(nb, i), softening[i]);
    nb->particles.own_eps = malloc(nb->n * sizeof *nb->particles.own_eps);
    if (!nb->particles.own_eps)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host for %zu softenings",
                           nb->n);
    memcpy(nb->particles.own_eps, softening, nb->n * sizeof *softening);
    return 0;
}

int nbody_softening_upload(struct nbody *nb)
{
    bool none;
    if (!nb->particles.own_eps)
        return 0;
    if (!nb->particles.soft &&
        !(nb->particles.soft = nbody_device_memory(nb, nb->padded * nb->real, CL_MEM_ZEROCOPY)))
        return -1;
    nb->eps = 0; /* for the minimum softening */
    const double least = nbody_forces_softening(nb, FORCES, &none) / 2,
                 length = nbody_units_factor(&nb->units, -1, 0);
    for (size_t i = 0; i < nb->padded; i++) {
        const double eps = i < nb->n ? length * nb->particles.own_eps[i] : 0;
        nbody_real_put(nb, nb->particles.soft, i, fmax(eps * eps / 2, least));
    }
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && nbody_device_upload(nb, p, nb->particles.soft, 0) != 0)
            return -1;
    return 0;
}

void nbody_softening_free(struct nbody *nb)
{
    clfree(nb->particles.soft);
    free(nb->particles.own_eps);
}
