/* ensemble_read.c - systems of an ensemble in the caller's frame: states, energies, chaos.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/ensemble/ensemble.h"

#include "core/handle.h"

#include <math.h>
#include <string.h>

/* ---- One system. ----------------------------------------------------------------------------- */

/* Convert a system with its star to the caller's frame. */
static void ensemble_read_bodies(const nbody_ensemble *e, const struct part *p, size_t i,
                                 double (*pos)[3], double (*vel)[3])
{
    const double *centre = e->centre[ensemble_system(p, i)], t = ensemble_system_time(e, p, i);
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
    const double *gm = p->gm + i, *centre = e->centre[ensemble_system(p, i)],
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

/* ---- Queries. -------------------------------------------------------------------------------- */

int nbody_ensemble_read(nbody_ensemble *e, size_t n, const size_t *which, double *mass,
                        double (*pos)[3], double (*vel)[3])
{
    struct ensemble_query q = {.n = n, .which = which};
    if (no_handle(e, __func__) || ensemble_query(e, __func__, &q, NEED_STATES) != 0)
        return -1;
    for (size_t k = 0; k < n; k++) {
        double x[MAX_BODIES_PER_SYSTEM][3], v[MAX_BODIES_PER_SYSTEM][3];
        size_t i;
        const size_t to = k * e->bodies;
        const struct part *p = ensemble_find(e, &q, k, &i);
        ensemble_read_system(e, p, i, x, v);
        for (size_t b = 0; mass && b < e->bodies; b++)
            mass[to + b] = p->gm[b * p->n + i] / e->G;
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
    struct ensemble_query q = {.n = e->systems};
    if (ensemble_query(e, __func__, &q, NEED_STATES) != 0)
        return -1;
    for (size_t k = 0; k < q.n; k++) {
        double x[MAX_BODIES_PER_SYSTEM][3], v[MAX_BODIES_PER_SYSTEM][3];
        size_t i;
        const struct part *p = ensemble_find(e, &q, k, &i);
        ensemble_read_system(e, p, i, x, v);
        energy[k] = ensemble_system_energy(e, p, i, x, v);
    }
    return 0;
}

int nbody_ensemble_find_chaos(nbody_ensemble *e, size_t n, const size_t *which,
                              struct nbody_chaos *chaos)
{
    struct ensemble_query q = {.n = n, .which = which};
    if (no_handle(e, __func__))
        return -1;
    if (!e->megno)
        return clerror_set(EINVAL,
                           "nbody_ensemble_find_chaos: the ensemble has no tangent vectors; "
                           "create it with nbody_ensemble_options.megno");
    if (ensemble_query(e, __func__, &q, NEED_SUMS) != 0)
        return -1;
    for (size_t k = 0; k < n; k++) {
        size_t i;
        const struct part *p = ensemble_find(e, &q, k, &i);
        chaos[k] = nbody_whfast_chaos(p->slots + ensemble_sums(e) * p->n + i, p->n);
    }
    return 0;
}
