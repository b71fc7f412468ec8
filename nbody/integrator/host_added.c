/* host_added.c - forces of the caller in steps of few bodies on the host: planes of coordinates to
 * rows of bodies, and back.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"
#include "nbody/integrator/host.h"

void nbody_host_added_gather(const struct host_bodies *b)
{
    struct host_added *const h = b->added;
    for (size_t i = 0; h && i < b->n; i++)
        for (size_t c = 0; c < 3; c++) {
            const size_t k = c * b->stride + i;
            h->x[i][c] = b->x[k];
            h->v[i][c] = h->lag != 0 ? b->v[k] + h->lag * b->a[k] : b->v[k];
        }
}

void nbody_host_added_add(const struct host_bodies *b)
{
    struct host_added *const h = b->added;
    if (!h)
        return;
    memset(h->a, 0, b->n * sizeof *h->a);
    (void)nbody_added_evaluate(h->nb, h->time, (const double(*)[3])h->x, (const double(*)[3])h->v,
                               false, h->a); /* a failure is kept: nbody_added_failed */
    for (size_t i = 0; i < b->n; i++)
        for (size_t c = 0; c < 3; c++)
            b->a[c * b->stride + i] += h->a[i][c];
}
