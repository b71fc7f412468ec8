/* state.c - download of positions and velocities; queries.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "core/handle.h"
#include "nbody/particles/body_blocks.h"

/* ---- Copying out. ---------------------------------------------------------------------------- */

/* Download positions and velocities. Positions are in `state` if posm holds predictions. */
static int state_download(struct nbody *nb, struct nbody_device *p, bool pos, bool vel)
{
    const size_t plane = p->rows * nb->real;
    char *state = p->state, *own = (char *)nbody_posm(nb, p) + nbody_posm_first(p) * 4 * nb->real;
    if (vel && nbody_device_download(nb, p, state + STATE_VEL * plane, 3 * plane) != 0)
        return -1;
    if (pos && integrator_predicts(nb))
        return nbody_device_download(nb, p, state + STATE_POS * plane, 3 * plane);
    return pos ? nbody_device_download(nb, p, own, p->count * 4 * nb->real) : 0;
}

/* pos and vel begin with row `base`, the first of this rank. */
struct copying {
    const struct nbody *nb;
    const struct nbody_device *p;
    size_t base;
    double (*pos)[3], (*vel)[3];
};

/* Convert a block of the device's bodies; called by several threads. */
static void state_copy_block(void *copying, size_t block, size_t first, size_t end)
{
    const struct copying *c = copying;
    const struct nbody *nb = c->nb;
    const struct nbody_device *p = c->p;
    const double length = nbody_units_factor(&nb->units, 1, 0),
                 speed = nbody_units_factor(&nb->units, 1, -1);
    (void)block;
    for (size_t row = first; row < end; row++)
        for (size_t k = 0; k < 3; k++) {
            const size_t at = p->first + row - c->base, i = nbody_posm_first(p) + row;
            if (c->pos && integrator_predicts(nb))
                c->pos[at][k] =
                    length * nbody_real_get(nb, p->state, (STATE_POS + k) * p->rows + row);
            else if (c->pos)
                c->pos[at][k] = length * nbody_real_get(nb, nbody_posm(nb, p), 4 * i + k);
            if (c->vel)
                c->vel[at][k] =
                    speed * nbody_real_get(nb, p->state, (STATE_VEL + k) * p->rows + row);
        }
}

/* Copy positions, or velocities, of this rank's rows to rows[][3]. */
static int state_copy_rows(struct nbody *nb, bool pos, double (*rows)[3])
{
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        struct copying copying = {nb, p, nbody_ranks_own_first(nb), pos ? rows : NULL,
                                  pos ? NULL : rows};
        if (p->count && state_download(nb, p, pos, !pos) != 0)
            return -1;
        nbody_each_block(p->count, state_copy_block, &copying);
    }
    return 0;
}

/* Collective. */
static int state_copy(struct nbody *nb, bool pos, double (*out)[3])
{
    double *const rows = nbody_particles_rows(nb, 3, *out);
    const int status = rows ? state_copy_rows(nb, pos, (double(*)[3])rows) : -1;
    return nbody_particles_return(nb, status, 3, rows, *out);
}

int nbody_state(nbody *nb, double (*pos)[3], double (*vel)[3])
{
    if (no_handle(nb, __func__))
        return -1;
    if (nbody_host_state(nb, pos, vel))
        return nbody_added_failed(nb) ? -1 : 0;
    if (pos && state_copy(nb, true, pos) != 0)
        return -1;
    return vel ? state_copy(nb, false, vel) : 0;
}

/* ---- Questions. ------------------------------------------------------------------------------ */

size_t nbody_bodies(const nbody *nb)
{
    if (no_handle(nb, __func__))
        return 0;
    return nb->n;
}

double nbody_eta(const nbody *nb)
{
    if (no_handle(nb, __func__))
        return 0;
    return nb->eta;
}

size_t nbody_device_bytes(const nbody *nb)
{
    if (no_handle(nb, __func__))
        return 0;
    size_t most = 0;
    for (cl_uint d = 0; d < nb->ndev; d++)
        most = nb->device[d].bytes > most ? nb->device[d].bytes : most;
    return most;
}

unsigned nbody_devices(const nbody *nb)
{
    if (no_handle(nb, __func__))
        return 0;
    unsigned owners = 0;
    for (cl_uint d = 0; nb->ctx && d < nb->ndev; d++)
        owners += nb->device[d].rows > 0;
    return owners;
}

size_t nbody_device_bodies(const nbody *nb, unsigned dev)
{
    if (no_handle(nb, __func__))
        return 0;
    return nb->ctx && dev < nb->ndev ? nb->device[dev].count : 0;
}

const char *nbody_shape(const nbody *nb, unsigned dev)
{
    if (no_handle(nb, __func__))
        return "";
    return dev < nb->ndev ? nb->device[dev].tuning.shape : "";
}

const char *nbody_explain(const nbody *nb, unsigned dev)
{
    if (no_handle(nb, __func__))
        return "";
    return dev < nb->ndev ? nb->device[dev].tuning.source : "";
}
