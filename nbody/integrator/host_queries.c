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

/* The bodies in engine units, as planes and as rows; sums of added forces in a and phi. */
struct query {
    struct host_bodies b;
    double (*x)[3], (*v)[3], (*a)[3], *phi;
};

/* Copy the current numbers of all bodies. The caller frees q->x. Returns -1 on error. */
static int query_open(struct nbody *nb, const char *call, struct query *q)
{
    const size_t n = nb->n, m = round_up(n, HOST_LANES);
    const double length = nbody_units_factor(&nb->units, -1, 0),
                 speed = nbody_units_factor(&nb->units, -1, 1);
    double(*const rows)[3] = calloc(10 * n + 12 * m, sizeof(double));
    if (!rows)
        return clerror_set(ENOMEM, "%s: out of memory on the host for %zu bodies", call, n);
    double *const phi = (double *)(rows + 3 * n), *const plane = phi + n;
    *q = (struct query){.b = {.n = n,
                              .stride = m,
                              .x = plane,
                              .v = plane + 3 * m,
                              .a = plane + 6 * m,
                              .gm = plane + 9 * m,
                              .e2 = plane + 10 * m,
                              .work = plane + 11 * m,
                              .fields = nb->force.fields,
                              .nfields = nb->nfields},
                        .x = rows,
                        .v = rows + n,
                        .a = rows + 2 * n,
                        .phi = phi};
    if (nbody_state(nb, q->x, q->v) != 0) {
        free(rows);
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < 3; c++) {
            q->b.x[c * m + i] = q->x[i][c] *= length;
            q->b.v[c * m + i] = q->v[i][c] *= speed;
        }
        plane[9 * m + i] = nbody_real_get(nb, nb->particles.posm, 4 * i + 3);
    }
    nbody_host_set_softening(nb, plane + 10 * m, m);
    return 0;
}

static double query_time(const struct nbody *nb)
{
    return nbody_time(nb) * nbody_units_factor(&nb->units, 0, -1);
}

/* Evaluate added forces into q->a. A failure leaves the state of the engine valid. */
static int query_add_forces(struct nbody *nb, struct query *q)
{
    if (!nbody_added_apply(nb))
        return 0;
    nbody_added_begin(nb);
    const int status = nbody_added_evaluate(nb, query_time(nb), (const double(*)[3])q->x,
                                            (const double(*)[3])q->v, q->a);
    nbody_added_begin(nb);
    return status;
}

static int query_accelerations(struct nbody *nb, struct query *q, double (*acc)[3])
{
    const double factor = nbody_units_factor(&nb->units, 1, -2);
    nbody_host_accelerate(&q->b);
    if (query_add_forces(nb, q) != 0)
        return -1;
    for (size_t i = 0; i < nb->n; i++)
        for (size_t c = 0; c < 3; c++)
            acc[i][c] = factor * (q->b.a[c * q->b.stride + i] + q->a[i][c]);
    return 0;
}

/* Add up the potentials of pairs in q->b.work, and of added forces in q->phi, with their
 * accelerations in q->a. */
static int query_potentials(struct nbody *nb, struct query *q)
{
    nbody_host_potentials(&q->b);
    memset(q->a, 0, nb->n * sizeof *q->a);
    return nbody_added_potentials(nb, query_time(nb), (const double(*)[3])q->x,
                                  (const double(*)[3])q->v, q->phi, q->a);
}

int nbody_host_forces(struct nbody *nb, double (*acc)[3], double *potential)
{
    struct query q;
    double virial;
    if (nbody_host_flush(nb) != 0 || query_open(nb, "nbody_forces", &q) != 0)
        return -1;
    int status = acc ? query_accelerations(nb, &q, acc) : 0;
    if (status == 0 && potential)
        status = query_potentials(nb, &q);
    for (size_t i = 0; status == 0 && potential && i < nb->n; i++)
        potential[i] = nbody_units_factor(&nb->units, 2, -2) *
                       (q.b.work[i] + (nbody_host_field_potential(&q.b, i, &virial) + q.phi[i]));
    free(q.x);
    return status;
}

/* The order is that of diagnose.cl. */
static void query_add_body(const struct query *q, size_t i, double *sum)
{
    const double gm = q->b.gm[i], pairs = q->b.work[i] / 2, *const x = q->x[i], *const v = q->v[i],
                 *const a = q->a[i];
    double virial;
    const double field = nbody_host_field_potential(&q->b, i, &virial);
    sum[0] += gm * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) / 2;
    sum[1] += gm * (pairs + (field + q->phi[i]));
    for (size_t c = 0; c < 3; c++) {
        const size_t next = (c + 1) % 3, last = (c + 2) % 3;
        sum[2 + c] += gm * v[c];
        sum[5 + c] += gm * (x[next] * v[last] - x[last] * v[next]);
    }
    sum[8] += gm * (pairs + (virial + (x[0] * a[0] + x[1] * a[1] + x[2] * a[2])));
}

int nbody_host_sums(struct nbody *nb, double *sum)
{
    struct query q;
    if (query_open(nb, "nbody_diagnose", &q) != 0)
        return -1;
    const int status = query_potentials(nb, &q);
    for (size_t i = 0; status == 0 && i < nb->n; i++)
        query_add_body(&q, i, sum);
    free(q.x);
    return status;
}
