/* host_state.c - numbers of few bodies on the host, and their copies on the devices.
 *
 *   devices                                    host
 *   posm, state  --- nbody_few_download ---->  x, planes     if they differ
 *                                              steps         (host_steps.c)
 *   posm, state  <--- nbody_host_flush ------  x, planes     before a query that devices answer
 *
 * The planes are the planes of nbody_device.state, so that a saved engine holds all that the next
 * step needs. Calls of one step each thus cost no transfer.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/host_state.h"

#include "core/round.h"

#include <math.h>

static const double NO_SOFTENING = 0x1p-500; /* square: keeps r^-3 of bodies at one place finite */

/* ---- Memory. --------------------------------------------------------------------------------- */

void nbody_few_free(struct nbody *nb)
{
    if (nb->integration.few) {
        free(nb->integration.few->plane);
        free(nb->integration.few->added.x);
    }
    free(nb->integration.few);
}

/* Positions are in STATE_POS if the integrator predicts, else after the planes. */
int nbody_few_open(struct nbody *nb)
{
    const size_t stride = round_up(nb->n, HOST_LANES), own_x = integrator_predicts(nb) ? 0 : 3,
                 changing = (nb->planes + own_x) * stride,
                 all = 2 * changing + (3 + nb->integrator->few->scratch) * stride;
    struct few_state *h = nb->integration.few = calloc(1, sizeof *h);
    double *const p = h ? aligned_alloc(64, round_up(all * sizeof *p, 64)) : NULL;
    if (!p)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host for %zu bodies", nb->n);
    memset(p, 0, all * sizeof *p);
    double *const gm = p + 2 * changing, *const e2 = gm + stride;
    *h = (struct few_state){.b = {.n = nb->n,
                                  .stride = stride,
                                  .x = p + (own_x ? nb->planes : STATE_POS) * stride,
                                  .v = p + STATE_VEL * stride,
                                  .a = p + STATE_ACC * stride,
                                  .gm = gm,
                                  .e2 = e2,
                                  .fields = nb->force.fields,
                                  .nfields = nb->nfields,
                                  .work = e2 + stride,
                                  .planes = p,
                                  .scratch = e2 + 2 * stride,
                                  .whfast = &nb->whfast,
                                  .megno = nb->megno,
                                  .eta = nb->eta},
                            .plane = p,
                            .old = p + changing,
                            .changing = changing};
    return 0;
}

/* ---- Copies between devices and host. -------------------------------------------------------- */

void nbody_host_set_softening(const struct nbody *nb, double *e2, size_t stride)
{
    for (size_t i = 0; i < stride; i++) {
        const double eps = nb->particles.own_eps && i < nb->n ? nb->particles.own_eps[i] : nb->eps,
                     scaled = eps * nbody_units_factor(&nb->units, -1, 0);
        e2[i] = i < nb->n ? fmax(scaled * scaled, NO_SOFTENING) / 2 : 1;
    }
}

static int host_download_device(struct nbody *nb, struct nbody_device *p, struct few_state *h)
{
    const size_t m = h->b.stride, four = 4 * sizeof(double);
    double *const posm = nb->particles.posm, *const gm = (double *)h->b.gm;
    if (nbody_device_download(nb, p, posm + 4 * p->first, p->count * four) != 0 ||
        nbody_device_download(nb, p, p->state, nb->planes * p->rows * sizeof(double)) != 0)
        return -1;
    for (size_t k = 0; k < nb->planes; k++)
        memcpy(h->plane + k * m + p->first, (double *)p->state + k * p->rows,
               p->count * sizeof(double));
    for (size_t i = p->first; i < p->first + p->count; i++) {
        for (size_t c = 0; c < 3; c++)
            h->b.x[c * m + i] = posm[4 * i + c];
        gm[i] = posm[4 * i + 3];
    }
    return 0;
}

void nbody_few_set_time(struct nbody *nb, double time)
{
    struct host_added *const added = &nb->integration.few->added;
    added->time = time * nbody_units_factor(&nb->units, 0, -1);
    added->lag = 0;
}

/* Pass forces of the caller to the scheme, if there are any. */
static int host_open_added(struct nbody *nb, struct few_state *h)
{
    h->b.added = NULL;
    if (!nbody_added_apply(nb))
        return 0;
    if (!h->added.x && !(h->added.x = calloc(3 * nb->n, sizeof *h->added.x)))
        return clerror_set(ENOMEM, "nbody_step: out of memory on the host for %zu bodies", nb->n);
    h->added.nb = nb;
    h->added.v = h->added.x + nb->n;
    h->added.a = h->added.v + nb->n;
    h->b.added = &h->added;
    nbody_few_set_time(nb, nbody_engine_time(nb));
    nbody_added_begin(nb);
    return 0;
}

int nbody_host_masses(struct nbody *nb, double *gm)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        void *const own = (char *)nb->particles.posm + p->first * 4 * nb->real;
        if (p->count && nbody_device_download(nb, p, own, p->count * 4 * nb->real) != 0)
            return -1;
    }
    for (size_t i = 0; i < nb->n; i++)
        gm[i] = nbody_real_get(nb, nb->particles.posm, 4 * i + 3);
    return 0;
}

int nbody_few_download(struct nbody *nb)
{
    struct few_state *const h = nb->integration.few;
    const bool begun = nb->integration.valid.host;
    if (host_open_added(nb, h) != 0)
        return -1;
    if (begun && h->version == nb->particles.version)
        return 0;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count && host_download_device(nb, p, h) != 0)
            return -1;
    nbody_host_set_softening(nb, (double *)h->b.e2, h->b.stride);
    if (nb->integrator->few->prepare)
        nb->integrator->few->prepare(&h->b);
    if (!begun) {
        nb->integrator->few->begin(&h->b, nbody_engine_dt(nb));
        nb->integration.evaluations++;
    }
    if (!nbody_added_failed(nb))
        return 0;
    nbody_added_begin(nb);
    return -1;
}

void nbody_few_stepped(struct nbody *nb)
{
    struct few_state *const h = nb->integration.few;
    h->ahead = true;
    h->x_current = false;
    h->version = nb->particles.version;
    nb->integration.valid = (struct sum_validity){
        .forces_valid = !nb->integrator->few->synchronize, .synchronized = true, .host = true};
}

static int host_upload_device(struct nbody *nb, struct nbody_device *p, const struct few_state *h)
{
    for (size_t k = 0; k < nb->planes; k++)
        memcpy((double *)p->state + k * p->rows, h->plane + k * h->b.stride + p->first,
               p->count * sizeof(double));
    void *const blocks[] = {nb->particles.posm, p->state, nb->particles.velo, nb->particles.acce};
    for (size_t k = 0; k < COUNT_OF(blocks); k++)
        if (blocks[k] && nbody_device_upload(nb, p, blocks[k], 0) != 0)
            return -1;
    return 0;
}

/* Write a coordinate array to an array of four numbers per body; NULL: none. */
static void host_put_four(const struct few_state *h, double *four, const double *from)
{
    for (size_t k = 0; four && k < 3 * h->b.n; k++)
        four[4 * (k / 3) + k % 3] = from[k % 3 * h->b.stride + k / 3];
}

/* A device that shares the host's memory may still copy it for a snapshot, so wait first. */
static int host_steps_upload(struct nbody *nb, const struct few_state *h)
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count && nbody_device_wait(nb, p) != 0)
            return -1;
    host_put_four(h, nb->particles.posm, h->b.x);
    host_put_four(h, nb->particles.velo, h->b.v);
    host_put_four(h, nb->particles.acce, h->b.a);
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++)
        if (p->count && host_upload_device(nb, p, h) != 0)
            return -1;
    return 0;
}

/* Return the numbers of the host if they are later than the devices', with x and v; else NULL. */
static struct few_state *host_ahead(struct nbody *nb)
{
    struct few_state *const h = nb->integration.few;
    if (!h || !h->ahead || h->version != nb->particles.version)
        return NULL;
    if (nb->integrator->few->synchronize && !h->x_current) {
        nbody_added_begin(nb);
        nbody_few_set_time(nb, nbody_engine_time(nb));
        nb->integrator->few->synchronize(&h->b, nbody_engine_dt(nb));
    }
    h->x_current = !nbody_added_failed(nb);
    return h;
}

int nbody_host_flush(struct nbody *nb)
{
    struct few_state *const h = host_ahead(nb);
    if (!h)
        return 0;
    if (nbody_added_failed(nb) || host_steps_upload(nb, h) != 0)
        return -1;
    nbody_particles_moved(nb);
    nbody_domain_set_shared(nb);
    h->version = nb->particles.version;
    h->ahead = false;
    return 0;
}

bool nbody_host_state(struct nbody *nb, double (*pos)[3], double (*vel)[3])
{
    const struct few_state *const h = host_ahead(nb);
    const double length = nbody_units_factor(&nb->units, 1, 0),
                 speed = nbody_units_factor(&nb->units, 1, -1);
    for (size_t k = 0; h && k < 3 * nb->n; k++) {
        const size_t from = k % 3 * h->b.stride + k / 3;
        if (pos)
            pos[k / 3][k % 3] = length * h->b.x[from];
        if (vel)
            vel[k / 3][k % 3] = speed * h->b.v[from];
    }
    return h != NULL;
}
