/* softening.c - softening lengths of single bodies: for a pair the mean of both squares stands in
 * place of eps^2, so that pulls stay equal and opposite, and one length for all is the usual sum.
 *
 * Kernels have half the square of each body. None is so small that two of them would be as good as
 * nothing, and bodies at one place have the very sum of two such; see nbody_forces_softening.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include <math.h>

int nbody_soften_check(const struct nbody *nb)
{
    const char *what = nb->method == NBODY_TREE       ? "the tree has"
                       : nb->precision == NBODY_MIXED ? "mixed precision has"
                       : nb->kernel != NBODY_TUNED    ? "the kernels of the ladder have"
                       : nb->stepping != NBODY_FIXED  ? "steps that bodies choose have"
                       : nb->integrator->sum > JERKS  ? "this integrator has"
                                                      : NULL;
    if (!nb->own_eps || !what)
        return 0;
    return clerror_set(
        EINVAL,
        "nbody_create: %s one softening for all bodies; softenings of single bodies are for sums over all "
        "pairs by the tuned kernel, in single or double precision, with fixed steps",
        what);
}

int nbody_soften_copy(struct nbody *nb, const double *softening)
{
    if (!softening)
        return 0;
    for (size_t i = 0; i < nb->n; i++)
        if (!isfinite(softening[i]) || softening[i] < 0)
            return clerror_set(
                EINVAL,
                "nbody_create: body %zu has a softening length of %g; it must be a number >= 0", i,
                softening[i]);
    nb->own_eps = malloc(nb->n * sizeof *nb->own_eps);
    if (!nb->own_eps)
        return clerror_set(ENOMEM, "nbody_create: no memory on the host for %zu softenings", nb->n);
    memcpy(nb->own_eps, softening, nb->n * sizeof *softening);
    return 0;
}

int nbody_soften_place(struct nbody *nb)
{
    bool none;
    if (!nb->own_eps)
        return 0;
    if (!nb->soft && !(nb->soft = clmalloc(nb->ctx, nb->padded * nb->real, CL_MEM_ZEROCOPY)))
        return -1;
    nb->eps = 0; /* whose square is the least there is */
    const double least = nbody_forces_softening(nb, FORCES, &none) / 2,
                 length = nbody_units_factor(&nb->units, -1, 0);
    for (size_t i = 0; i < nb->padded; i++) {
        const double eps = i < nb->n ? length * nb->own_eps[i] : 0;
        real_put(nb, nb->soft, i, fmax(eps * eps / 2, least));
    }
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->rows && clmsync(nb->ctx, p->dev, nb->soft, CL_MEM_DEVICE) == (cl_event)-1)
            return -1;
    return 0;
}

void nbody_soften_free(struct nbody *nb)
{
    clfree(nb->soft);
    free(nb->own_eps);
}
