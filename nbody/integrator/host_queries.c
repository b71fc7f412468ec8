/* host_queries.c - forces, potentials and energies of few bodies whose steps run on the host.
 *
 * A run that needs no kernel builds none: on a GPU, building takes longer than most runs of three
 * bodies. Sums are in double precision, of positions and velocities in the engine's.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "core/round.h"
#include "nbody/integrator/host.h"

#include <math.h>
#include <string.h>

/* Copy the current numbers of all bodies to b, in engine units, into memory that the caller frees
 * by free(b->x). Returns -1 on error. */
static int query_open(struct nbody *nb, const char *call, struct host_bodies *b)
{
    const size_t n = nb->n, m = round_up(n, HOST_LANES);
    const double length = nbody_units_factor(&nb->units, -1, 0),
                 speed = nbody_units_factor(&nb->units, -1, 1);
    double(*pos)[3] = malloc(2 * n * sizeof *pos), *const x = calloc(12 * m, sizeof *x);
    *b = (struct host_bodies){.n = n,
                              .stride = m,
                              .x = x,
                              .v = x + 3 * m,
                              .a = x + 6 * m,
                              .gm = x + 9 * m,
                              .e2 = x + 10 * m,
                              .work = x + 11 * m,
                              .fields = nb->force.fields,
                              .nfields = nb->nfields};
    int status =
        pos && x ? 0 : clerror_set(ENOMEM, "%s: out of memory on the host for %zu bodies", call, n);
    if (status == 0)
        status = nbody_state(nb, pos, pos + n);
    for (size_t i = 0; status == 0 && i < n; i++)
        for (size_t c = 0; c < 3; c++) {
            b->x[c * m + i] = length * pos[i][c];
            b->v[c * m + i] = speed * pos[n + i][c];
            x[9 * m + i] = nbody_real_get(nb, nb->particles.posm, 4 * i + 3);
        }
    free(pos);
    if (status == 0)
        nbody_host_set_softening(nb, x + 10 * m, m);
    else
        free(x);
    return status;
}

int nbody_host_forces(struct nbody *nb, double (*acc)[3], double *potential)
{
    struct host_bodies b;
    if (nbody_host_flush(nb) != 0 || query_open(nb, "nbody_forces", &b) != 0)
        return -1;
    const double a = nbody_units_factor(&nb->units, 1, -2),
                 phi = nbody_units_factor(&nb->units, 2, -2);
    if (acc)
        nbody_host_accelerate(&b);
    for (size_t k = 0; acc && k < 3 * b.n; k++)
        acc[k / 3][k % 3] = a * b.a[k % 3 * b.stride + k / 3];
    if (potential)
        nbody_host_potentials(&b);
    for (size_t i = 0; potential && i < b.n; i++) {
        double virial;
        potential[i] = phi * (b.work[i] + nbody_host_field_potential(&b, i, &virial));
    }
    free(b.x);
    return 0;
}

/* The order is that of diagnose.cl. */
static void query_add_body(const struct host_bodies *b, size_t i, double *sum)
{
    const size_t m = b->stride;
    const double gm = b->gm[i], pairs = b->work[i] / 2, *const x = b->x + i, *const v = b->v + i;
    double virial;
    const double field = nbody_host_field_potential(b, i, &virial);
    sum[0] += gm * (v[0] * v[0] + v[m] * v[m] + v[2 * m] * v[2 * m]) / 2;
    sum[1] += gm * (pairs + field);
    for (size_t c = 0; c < 3; c++) {
        const size_t next = (c + 1) % 3 * m, last = (c + 2) % 3 * m;
        sum[2 + c] += gm * v[c * m];
        sum[5 + c] += gm * (x[next] * v[last] - x[last] * v[next]);
    }
    sum[8] += gm * (pairs + virial);
}

int nbody_host_sums(struct nbody *nb, double *sum)
{
    struct host_bodies b;
    if (query_open(nb, "nbody_diagnose", &b) != 0)
        return -1;
    nbody_host_potentials(&b);
    for (size_t i = 0; i < b.n; i++)
        query_add_body(&b, i, sum);
    free(b.x);
    return 0;
}
