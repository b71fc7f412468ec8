/* engine.h - the N-body engine: what is constant after its creation, its devices and five objects.
 *
 *   particles    positions, velocities, accelerations; their order in memory; softening; units
 *   domain       which device of which rank owns which bodies; exchange of positions
 *   force        sums over pairs: direct sums or the tree
 *   integrator   table of integrators; steps as sums and updates
 *   simulation   the public calls, progress, saving, diagnostics
 *
 * An object is a folder with a header. Only files of its folder write its members of struct nbody
 * and struct nbody_device, and include its private headers (tests/house/owners.sh); others read
 * members and call its functions.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_ENGINE_H
#define STDCL_NBODY_ENGINE_H

#include "nbody/device/device.h"
#include "nbody/device/progress.h"
#include "nbody/domain/domain.h"
#include "nbody/force/force.h"
#include "nbody/integrator/integrator.h"
#include "nbody/particles/particles.h"
#include "nbody/simulation/simulation.h"

struct nbody {
    /* Constant after creation. */
    CLCONTEXT *ctx; /* NULL: the host computes all, and `device` is an entry for its memory */
    stdcl_world *world;
    const struct integrator *integrator;
    enum nbody_precision precision;
    enum nbody_kernel kernel;
    enum nbody_method method; /* NBODY_DIRECT or NBODY_TREE */
    enum nbody_stepping stepping;
    bool on_host; /* steps run on the host (host_steps.c); false for ias15 (host.c) */
    struct nbody_whfast_options whfast; /* options of NBODY_WHFAST */
    bool megno;                         /* nbody_options.megno */
    struct nbody_trace_options trace;   /* options of NBODY_TRACE */
    char method_text[256];              /* why this method was chosen; a sentence for the user */
    double eta, accuracy;
    double G, eps; /* in the caller's units */
    struct units units;
    double centre[3];    /* initial centre of mass, in engine units: origin of NBODY_MIXED */
    int first_number;    /* of body 0 in messages */
    double mass;         /* power of two below G times the total mass, in the caller's units */
    bool uniform;        /* all bodies have equal mass */
    bool shares_given;   /* by the caller */
    bool fused_disabled; /* multi-step launches failed their start-up test */
    size_t real;         /* bytes of a number of the state: 4 or 8 */
    size_t n, padded;    /* bodies; with padding */
    size_t nfields;      /* external fields */
    size_t nforces;      /* forces of options */
    cl_uint planes;      /* numbers per body in `state` */
    int moments;         /* highest order of the cells' multipole moments, 2 or 4 */
    size_t batch;        /* maximum steps per batch */
    cl_uint ndev;
    struct nbody_device *device; /* ndev of them */

    int flags; /* CL_EVENT_ flags of launches */
    struct task task;
    struct particles particles;
    struct domain domain;
    struct force force;
    struct integration integration;
    struct simulation simulation;
};

/* Number of body i in messages. */
static inline size_t nbody_number(const struct nbody *nb, size_t i)
{
    return i + (size_t)nb->first_number;
}

/* First body and number of bodies of this rank's slice: 0 and n without slices. */
static inline size_t nbody_slices_first(const struct nbody *nb)
{
    return nb->domain.slice ? nb->domain.slice[world_rank(nb->world)] : 0;
}
static inline size_t nbody_slices_count(const struct nbody *nb)
{
    const size_t *first = nb->domain.slice;
    const int rank = world_rank(nb->world);
    return first ? first[rank + 1] - first[rank] : nb->n;
}

/* Positions and masses on a device, and the index of the device's first row among them. A device
 * holds all bodies, or with domains of the tree its own rows. */
static inline void *nbody_posm(const struct nbody *nb, const struct nbody_device *p)
{
    return p->posm ? p->posm : nb->particles.posm;
}
static inline cl_uint nbody_posm_first(const struct nbody_device *p)
{
    return p->posm ? 0 : (cl_uint)p->first;
}

/* Return the time step in engine units. */
static inline double nbody_engine_dt(const struct nbody *nb)
{
    return nb->integration.dt * nbody_units_factor(&nb->units, 0, -1);
}

/* True if steps need the sum CRITERION. */
static inline bool nbody_stepping_needs_criterion(const struct nbody *nb)
{
    return nb->stepping == NBODY_ADAPTIVE && !nb->integrator->block_steps;
}

/* Return the current time in the caller's units, within a step after a contact. */
static inline double nbody_engine_time(const struct nbody *nb)
{
    const struct integration *const i = &nb->integration;
    return i->base_time + i->dt * (double)(i->steps - i->base_steps) + i->elapsed;
}

/* True if the last partial sum of a body is the sum of external fields and added forces. */
static inline bool nbody_has_outer_sum(const struct nbody *nb)
{
    return nb->nfields > 0 || nb->nforces > 0;
}

/* Sums over pairs per step. */
static inline int integrator_stages(const struct nbody *nb)
{
    return nb->integrator->stages ? nb->integrator->stages : 1;
}

/* True if steps and queries run on the host; kernels are then built when one is needed. */
static inline bool nbody_runs_on_host(const struct nbody *nb)
{
    return nb->on_host || nb->integrator->host;
}

/* ENODEV unless the engine has devices, for calls that need kernels. */
static inline int nbody_need_device(const struct nbody *nb, const char *call)
{
    return nb->ctx ? 0
                   : clerror_set(ENODEV,
                                 "%s: this engine computes on the host, without a device; create "
                                 "it with a context in nbody_options.ctx",
                                 call);
}

/* True if posm holds predictions and `state` the positions. */
static inline bool integrator_predicts(const struct nbody *nb)
{
    return nb->integrator->synchronize != NULL;
}

/* True if the state is in doubles. */
static inline bool nbody_has_doubles(const struct nbody *nb)
{
    return nb->precision != NBODY_SINGLE;
}

/* True if direct sums run over bodies sorted along a curve (CLUSTER in direct_mixed.cl). */
static inline bool nbody_is_clustered(const struct nbody *nb)
{
    return nb->particles.sorted && nb->method == NBODY_DIRECT;
}

/* Get and set number k of an array in the engine's precision. */
static inline double nbody_real_get(const struct nbody *nb, const void *array, size_t k)
{
    return nb->real == sizeof(float) ? (double)((const float *)array)[k]
                                     : ((const double *)array)[k];
}
static inline void nbody_real_put(const struct nbody *nb, void *array, size_t k, double value)
{
    if (nb->real == sizeof(float))
        ((float *)array)[k] = (float)value;
    else
        ((double *)array)[k] = value;
}

static inline size_t least_common_multiple(size_t a, size_t b)
{
    size_t x = a, y = b;
    while (y) {
        size_t r = x % y;
        x = y;
        y = r;
    }
    return a / x * b;
}

/* Work-items per group in tree walks. */
static inline int nbody_tree_items(const struct nbody_shape *shape)
{
    return shape->group > 1 ? 32 : 1;
}

/* True if the accuracy requires moments up to fourth order. */
static inline bool nbody_tree_needs_order_4(const struct nbody *nb)
{
    return nb->accuracy < 4e-4;
}

#endif
