/* ensemble_state.c - copies of an ensemble's systems between host and devices, and in the caller's
 * frame: states and energies.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/ensemble/ensemble.h"

#include "core/args.h"
#include "core/handle.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* ---- Copies. --------------------------------------------------------------------------------- */

int ensemble_upload(const nbody_ensemble *e, cl_uint dev)
{
    const struct part *p = &e->part[dev];
    if (!p->n)
        return 0;
    if (clmsync(e->ctx, dev, p->state, CL_MEM_DEVICE) == (cl_event)-1 ||
        clmsync(e->ctx, dev, p->gm, CL_MEM_DEVICE) == (cl_event)-1)
        return -1;
    if (p->slots && clmsync(e->ctx, dev, p->slots, CL_MEM_DEVICE) == (cl_event)-1)
        return -1;
    return p->record && clmsync(e->ctx, dev, p->record, CL_MEM_DEVICE) == (cl_event)-1 ? -1 : 0;
}

int ensemble_wait_all(nbody_ensemble *e)
{
    int status = 0;
    for (cl_uint d = 0; d < e->ndev; d++)
        if (e->part[d].n) {
            if (clwait(e->ctx, d, CL_ALL_EVENT) == (cl_event)-1)
                status = -1;
            pace_waited(&e->part[d].pace);
        }
    return status;
}

int ensemble_begin_slots(nbody_ensemble *e, cl_uint started, double ahead)
{
    for (cl_uint d = 0; d < e->ndev; d++) {
        const struct part *p = &e->part[d];
        clndrange_t ndr = ensemble_range(e, p);
        if (p->n && clforkv(e->ctx, d, e->begin, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED,
                            ARGS(p->state, p->slots, p->gm, (cl_uint)p->n, e->dt, started,
                                 ahead)) == (cl_event)-1)
            return -1;
    }
    return 0;
}

int ensemble_synchronize(nbody_ensemble *e)
{
    for (cl_uint d = 0; d < e->ndev && !e->current; d++) {
        const struct part *p = &e->part[d];
        clndrange_t ndr = ensemble_range(e, p);
        if (p->n && clforkv(e->ctx, d, e->synchronize, &ndr, CL_EVENT_NOWAIT | CL_EVENT_CHECKED,
                            ARGS(p->state, p->slots, p->gm, (cl_uint)p->n, e->dt)) == (cl_event)-1)
            return -1;
    }
    e->current = true;
    return 0;
}

static int ensemble_download_part(nbody_ensemble *e, cl_uint d)
{
    const struct part *p = &e->part[d];
    if (!p->n)
        return 0;
    if (clmsync(e->ctx, d, p->state, CL_MEM_HOST) == (cl_event)-1)
        return -1;
    if (!e->watched)
        return 0;
    return clmsync(e->ctx, d, p->gm, CL_MEM_HOST) == (cl_event)-1 ||
                   clmsync(e->ctx, d, p->record, CL_MEM_HOST) == (cl_event)-1
               ? -1
               : 0;
}

int ensemble_download(nbody_ensemble *e)
{
    if (ensemble_synchronize(e) != 0)
        return -1;
    for (cl_uint d = 0; d < e->ndev; d++)
        if (ensemble_download_part(e, d) != 0)
            return -1;
    return ensemble_wait_all(e);
}

int ensemble_download_own(nbody_ensemble *e)
{
    if (!ensemble_has_slots(e))
        return ensemble_download(e);
    for (cl_uint d = 0; d < e->ndev; d++)
        if (e->part[d].n && clmsync(e->ctx, d, e->part[d].slots, CL_MEM_HOST) == (cl_event)-1)
            return -1;
    return ensemble_wait_all(e);
}

/* ---- One system. ----------------------------------------------------------------------------- */

/* Convert a system with its star to the caller's frame. */
static void ensemble_read_bodies(const nbody_ensemble *e, const struct part *p, size_t i,
                                 double (*pos)[3], double (*vel)[3])
{
    const double *centre = e->centre[p->first + i], t = ensemble_system_time(e, p, i);
    for (size_t b = 0; b < e->bodies; b++)
        for (size_t c = 0; c < 3; c++) {
            const double *at = ensemble_component(e, p, i, b, c);
            pos[b][c] = centre[c] + t * centre[3 + c] + at[0];
            vel[b][c] = centre[3 + c] + at[3 * p->n];
        }
}

/* Convert a system to the caller's frame. The star follows from the centre of mass and the
 * planets. */
static void ensemble_read_planets(const nbody_ensemble *e, const struct part *p, size_t i,
                                  double (*pos)[3], double (*vel)[3])
{
    const double *gm = p->gm + i, *centre = e->centre[p->first + i],
                 t = ensemble_system_time(e, p, i);
    double all = 0;
    for (size_t b = 0; b < e->bodies; b++)
        all += gm[b * p->n];
    for (size_t c = 0; c < 3; c++) {
        double x = 0, v = 0;
        for (size_t b = 1; b < e->bodies; b++) {
            const double *at = ensemble_component(e, p, i, b, c);
            x += gm[b * p->n] * at[0];
            v += gm[b * p->n] * at[3 * p->n];
        }
        pos[0][c] = centre[c] + t * centre[3 + c] - x / all;
        vel[0][c] = centre[3 + c] - v / gm[0];
        for (size_t b = 1; b < e->bodies; b++) {
            const double *at = ensemble_component(e, p, i, b, c);
            pos[b][c] = pos[0][c] + at[0];
            vel[b][c] = centre[3 + c] + at[3 * p->n];
        }
    }
}

/* Read a system in the caller's frame; merged bodies are NAN. */
static void ensemble_read_system(const nbody_ensemble *e, const struct part *p, size_t i,
                                 double (*pos)[3], double (*vel)[3])
{
    if (e->integrator)
        ensemble_read_bodies(e, p, i, pos, vel);
    else
        ensemble_read_planets(e, p, i, pos, vel);
    for (size_t b = 0; b < e->bodies; b++)
        for (size_t c = 0; ensemble_has_merged(e, p, i, b) && c < 3; c++)
            pos[b][c] = vel[b][c] = NAN;
}

static double ensemble_system_energy(const nbody_ensemble *e, const struct part *p, size_t i,
                                     double (*x)[3], double (*v)[3])
{
    double energy = 0;
    for (size_t b = 0; b < e->bodies; b++) {
        const double gm = p->gm[b * p->n + i];
        if (ensemble_has_merged(e, p, i, b))
            continue;
        energy += gm / 2 * (v[b][0] * v[b][0] + v[b][1] * v[b][1] + v[b][2] * v[b][2]);
        for (size_t c = 0; c < b; c++) {
            const double d[3] = {x[b][0] - x[c][0], x[b][1] - x[c][1], x[b][2] - x[c][2]};
            if (!ensemble_has_merged(e, p, i, c))
                energy -= gm * p->gm[c * p->n + i] / sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
        }
    }
    return energy / e->G;
}

/* ---- All systems. ---------------------------------------------------------------------------- */

/* The part that holds a system. */
static const struct part *ensemble_part_of(const nbody_ensemble *e, size_t system)
{
    const struct part *p = e->part;
    while (system >= p->first + p->n)
        p++;
    return p;
}

int nbody_ensemble_read(nbody_ensemble *e, size_t n, const size_t *which, double *mass,
                        double (*pos)[3], double (*vel)[3])
{
    if (no_handle(e, __func__))
        return -1;
    for (size_t k = 0; which && k < n; k++)
        if (which[k] >= e->systems)
            return clerror_set(EINVAL, "nbody_ensemble_read: system %zu; there are %zu", which[k],
                               e->systems);
    if (!which && n > e->systems)
        return clerror_set(EINVAL, "nbody_ensemble_read: %zu systems; there are %zu", n,
                           e->systems);
    if (ensemble_download(e) != 0)
        return -1;
    for (size_t k = 0; k < n; k++) {
        double x[MAX_BODIES_PER_SYSTEM][3], v[MAX_BODIES_PER_SYSTEM][3];
        const size_t system = which ? which[k] : k, to = k * e->bodies;
        const struct part *p = ensemble_part_of(e, system);
        ensemble_read_system(e, p, system - p->first, x, v);
        for (size_t b = 0; mass && b < e->bodies; b++)
            mass[to + b] = p->gm[b * p->n + system - p->first] / e->G;
        if (pos)
            memcpy(pos + to, x, e->bodies * sizeof *x);
        if (vel)
            memcpy(vel + to, v, e->bodies * sizeof *v);
    }
    return 0;
}

int nbody_ensemble_state(nbody_ensemble *e, double (*pos)[3], double (*vel)[3])
{
    if (no_handle(e, __func__))
        return -1;
    return nbody_ensemble_read(e, e->systems, NULL, NULL, pos, vel);
}

int nbody_ensemble_energies(nbody_ensemble *e, double *energy)
{
    if (no_handle(e, __func__))
        return -1;
    if (ensemble_download(e) != 0)
        return -1;
    for (cl_uint d = 0; d < e->ndev; d++)
        for (size_t i = 0; i < e->part[d].n; i++) {
            double x[MAX_BODIES_PER_SYSTEM][3], v[MAX_BODIES_PER_SYSTEM][3];
            ensemble_read_system(e, &e->part[d], i, x, v);
            energy[e->part[d].first + i] = ensemble_system_energy(e, &e->part[d], i, x, v);
        }
    return 0;
}

int nbody_ensemble_find_chaos(nbody_ensemble *e, struct nbody_chaos *chaos)
{
    if (no_handle(e, __func__))
        return -1;
    if (!e->megno)
        return clerror_set(EINVAL,
                           "nbody_ensemble_find_chaos: the ensemble has no tangent vectors; "
                           "create it with nbody_ensemble_options.megno");
    if (ensemble_download_own(e) != 0)
        return -1;
    for (cl_uint d = 0; d < e->ndev; d++) {
        const struct part *p = &e->part[d];
        for (size_t i = 0; i < p->n; i++)
            chaos[p->first + i] = nbody_whfast_chaos(p->slots + ensemble_sums(e) * p->n + i, p->n);
    }
    return 0;
}
