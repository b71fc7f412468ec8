/* ensemble.h - an ensemble of planetary systems: the systems of each device, and the functions
 * that its files share.
 *
 *   ensemble.c          creation, steps, saved states
 *   ensemble_state.c    copies to and from devices
 *   ensemble_sample.c   the systems of a query
 *   ensemble_read.c     systems in the caller's frame
 *   ensemble_watch.c    contacts and distant bodies
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_ENSEMBLE_H
#define STDCL_NBODY_ENSEMBLE_H

#include "nbody/integrator/integrator.h"
#include "stdcl/nbody.h"

#include "core/pace.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAX_BODIES_PER_SYSTEM = 16, GROUP = 64 };

/* The systems of a device, or a sample of these. */
struct part {
    size_t first, n;
    const size_t *system; /* of a sample; NULL: from `first` on */
    double *state, *gm;   /* layout: ensemble.cl, ensemble_ias15.cl, ensemble_whfast.cl */
    double *slots;        /* of whfast, not in safe mode; ias15's tangent vector; else NULL */
    double *record;       /* layout: ensemble_watch.cl; NULL unless watched */
    struct pace pace;
};

/* Systems of a device that a query has gathered. */
struct sample {
    struct part part;
    size_t room;    /* systems that fit */
    cl_uint *index; /* of each in the device's part */
    size_t *system; /* of each in the ensemble */
};

struct nbody_ensemble {
    CLCONTEXT *ctx;
    size_t systems, bodies, steps;
    size_t base_steps;                /* whole steps at the last change of dt */
    enum nbody_integrator integrator; /* 0: Wisdom and Holman */
    struct nbody_whfast_options whfast;
    bool megno;                     /* slots have a tangent vector */
    size_t width;                   /* systems of a work-item */
    bool current;                   /* the slots, if any, have the state */
    bool downloaded;                /* the host has the state, G m and the record */
    bool watched, contacts, merges; /* for distances or contacts; bodies have radii; they merge */
    double G, distance;             /* from the centre of mass, at which a system ends; 0: none */
    double dt, first_dt, base_time; /* time step now and at creation; time after base_steps */
    double (*centre)[6];            /* initial centre of mass, and its velocity */
    void *program;
    cl_kernel kernel, begin, synchronize; /* the last two with slots */
    cl_uint ndev;
    struct part *part;
    struct sample *sample; /* NULL before a query of some systems */
    size_t *place;         /* of each system of a query in its sample */
    void *gather_program;
    cl_kernel gather;
    int (*progress)(void *arg, double fraction);
    void *arg;
};

enum { EVENT_NUMBERS = 3 };

/* Components of a record, as in ensemble_watch.cl. */
enum ensemble_record { RECORD_STATUS, RECORD_ENDED, RECORD_LOST, RECORD_EVENTS, RECORD_RADII };

/* First body that the device stores. */
static inline size_t ensemble_first_body(const nbody_ensemble *e)
{
    return e->integrator ? 0 : 1;
}

/* First sum of a tangent vector in the slots; numbers of a system in the slots. */
static inline size_t ensemble_sums(const nbody_ensemble *e)
{
    return (e->integrator == NBODY_IAS15 ? 6 : e->megno ? 18 : 12) * e->bodies;
}
static inline size_t ensemble_slots(const nbody_ensemble *e)
{
    return ensemble_sums(e) + (e->megno ? NBODY_TANGENT_PLANES - 6 : 0);
}

/* True if steps change the slots, from which states follow. */
static inline bool ensemble_steps_slots(const nbody_ensemble *e)
{
    return e->integrator == NBODY_WHFAST && !e->whfast.safe;
}

static inline bool ensemble_has_slots(const nbody_ensemble *e)
{
    return ensemble_steps_slots(e) || e->megno;
}

/* Numbers of a system in the state. */
static inline size_t ensemble_state_numbers(const nbody_ensemble *e)
{
    return 6 * (e->bodies - ensemble_first_body(e));
}

/* Index of the i-th system of a part. */
static inline size_t ensemble_system(const struct part *p, size_t i)
{
    return p->system ? p->system[i] : p->first + i;
}

/* A work-group has GROUP systems. */
static inline clndrange_t ensemble_range(const nbody_ensemble *e, const struct part *p)
{
    const size_t local = GROUP / e->width;
    return (clndrange_t)clndrange_init1d(0, (p->n + GROUP - 1) / GROUP * local, local);
}

/* Component c of body b of the i-th system of a part; its velocity is 3 n numbers further. */
static inline double *ensemble_component(const nbody_ensemble *e, const struct part *p, size_t i,
                                         size_t b, size_t c)
{
    return p->state + (6 * (b - ensemble_first_body(e)) + c) * p->n + i;
}

/* Component c of the record of the i-th system of a part. */
static inline double *ensemble_record(const struct part *p, size_t i, size_t c)
{
    return p->record + c * p->n + i;
}

static inline double ensemble_time(const nbody_ensemble *e)
{
    return e->base_time + e->dt * (double)(e->steps - e->base_steps);
}

/* Components of a record; 0 unless watched. A system has one event that ends it, or at most one
 * merger for each planet. */
static inline size_t ensemble_record_size(const nbody_ensemble *e)
{
    const size_t events = e->merges ? e->bodies - 1 : 1;
    return e->watched ? RECORD_RADII + e->bodies + EVENT_NUMBERS * events : 0;
}

/* True if a body has merged into another one. */
static inline bool ensemble_has_merged(const nbody_ensemble *e, const struct part *p, size_t i,
                                       size_t b)
{
    return e->merges && *ensemble_record(p, i, RECORD_RADII + b) < 0;
}

static inline enum nbody_system_status ensemble_status_of(const struct part *p, size_t i)
{
    return p->record ? (enum nbody_system_status) * ensemble_record(p, i, RECORD_STATUS)
                     : NBODY_SYSTEM_RUNS;
}

/* Time of a system's state. */
static inline double ensemble_system_time(const nbody_ensemble *e, const struct part *p, size_t i)
{
    return ensemble_status_of(p, i) == NBODY_SYSTEM_RUNS ? ensemble_time(e)
                                                         : *ensemble_record(p, i, RECORD_ENDED);
}

/* ensemble_state.c. Copy the systems of a device to it, and all systems to the host; wait for all
 * devices. -1 with an error. */
int ensemble_upload(const nbody_ensemble *e, cl_uint dev);
int ensemble_upload_record(const nbody_ensemble *e, cl_uint dev);
int ensemble_download(nbody_ensemble *e);
int ensemble_download_sums(nbody_ensemble *e); /* of tangent vectors */
int ensemble_download_own(nbody_ensemble *e);  /* the numbers that steps change */
int ensemble_synchronize(nbody_ensemble *e);   /* states from the slots, if any */
int ensemble_synchronize_part(const nbody_ensemble *e, cl_uint dev, const struct part *p);
int ensemble_wait_all(nbody_ensemble *e);

/* Compute the slots from the states. started: keep tangent vectors, which are `ahead` of states. */
int ensemble_begin_slots(nbody_ensemble *e, cl_uint started, double ahead);

/* ensemble_sample.c. A query of n systems, `which` or, if NULL, the first n. Check their numbers,
 * and copy these systems to the host: states with G m and records, or sums of tangent vectors. */
enum ensemble_need { NEED_STATES, NEED_SUMS };
struct ensemble_query {
    size_t n;
    const size_t *which;
    bool sampled;
};
int ensemble_query(nbody_ensemble *e, const char *function, struct ensemble_query *q,
                   enum ensemble_need need);
/* Where system k of the query is: in the part returned, the *i-th. */
const struct part *ensemble_find(const nbody_ensemble *e, const struct ensemble_query *q, size_t k,
                                 size_t *i);
void ensemble_sample_free(nbody_ensemble *e);

/* ensemble.c. Open the kernel that the members `watched`, `contacts` and `merges` select. -1 with
 * an error. */
int ensemble_watch_kernel(nbody_ensemble *e);

#endif
