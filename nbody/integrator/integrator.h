/* integrator.h - steps: the clock, and what others may ask. Schemes: scheme.h; kinds of time steps:
 * stepping.h.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_INTEGRATOR_H
#define STDCL_NBODY_INTEGRATOR_H

#include "nbody/integrator/scheme.h"
#include "stdcl/nbody.h"

#include <stdbool.h>

struct nbody_device;

enum { MAX_BATCH = 256 };

/* EINVAL if there are more bodies than steps on the host support. */
int nbody_host_check(const struct nbody *nb);

/* Write positions, velocities and state to the devices, if steps on the host have changed them.
 * Before devices, or their images on the host, are read. */
int nbody_host_flush(struct nbody *nb);

/* Copy positions and velocities, in the caller's units, if steps on the host have changed them;
 * false if the devices have the current ones. Either array may be NULL. */
bool nbody_host_state(struct nbody *nb, double (*pos)[3], double (*vel)[3]);

/* Set e2[0..stride-1] to half the squares of the softening in the engine's units, which a loaded
 * state may have changed; 1 after the bodies. */
void nbody_host_set_softening(const struct nbody *nb, double *e2, size_t stride);

/* Forces and potentials of an engine whose steps run on the host, as nbody_forces; and the sums of
 * nbody_diagnose, in engine units, added to `sum`. */
int nbody_host_forces(struct nbody *nb, double (*acc)[3], double *potential);
int nbody_host_sums(struct nbody *nb, double *sum);

/* True if all will be computed on the host, so that the engine needs no device; nbody_host_choose
 * then fails if the host does not support an option. Forces must have been copied. */
bool nbody_host_decided(const struct nbody *nb, const struct nbody_options *o);

/* Set nb->on_host; EINVAL if the host does not support an option and the caller asks for it. The
 * method must have been chosen. */
int nbody_host_choose(struct nbody *nb, const struct nbody_options *o, const double *mass);

/* EINVAL if the engine does not support its kind of time steps. */
int nbody_stepping_check(const struct nbody *nb);

/* Choose the kind of time steps, build its kernels and allocate its memory. */
int nbody_stepper_open(struct nbody *nb);
void nbody_stepper_free(struct nbody *nb);

/* Contacts within steps (watch.c). */
struct contact_watch {
    double *radius;                /* of each body, in engine units; NULL: contacts are ignored */
    struct nbody_contact *contact; /* n contacts that ended the last call */
    size_t n;
    struct nbody_contact *held; /* nheld pairs reported and not apart since */
    size_t nheld;
};
void nbody_watch_free(struct nbody *nb);

/* Events within steps (events.c). */
struct event_watch {
    struct nbody_event_rule *rule;     /* NULL: none */
    size_t rules, pairs;               /* pairs of bodies that the rules concern */
    double *last, *saved;              /* of each pair: sign at the end of the path; a copy */
    bool known;                        /* `last` is */
    bool stops, ended;                 /* a rule stops; such an event has ended the call */
    double *gm;                        /* G m of each body, in engine units; NULL: cubics only */
    struct nbody_event_record *record; /* n events of the last call */
    size_t n;
};
void nbody_events_free(struct nbody *nb);

/* Members of struct nbody. */
struct integration {
    const struct stepper *stepper;
    double dt;      /* in the caller's units */
    double elapsed; /* part of the current step that is done, in the caller's units */
    struct contact_watch watch;
    struct event_watch events;
    size_t steps;
    size_t base_steps; /* time = base_time + (steps - base_steps) dt */
    double base_time;
    double evaluations; /* of all forces */
    struct sum_validity {
        bool forces_valid; /* `state` holds the sums that the next step begins with */
        bool synchronized; /* posm and velo are of the current time, not predictions */
        bool host;         /* `state` is as steps on the host left it (host_steps.c) */
    } valid, saved;        /* saved belongs to device_integration.saved */
    void *program;
    cl_kernel update[UPDATE_KERNELS]; /* the integrator's kernels */
    cl_kernel reduce;                 /* adds partial sums */
    struct blocks *blocks;            /* block_steps.h; NULL with fixed steps */
    void *criterion_program;          /* adaptive.cl; NULL without adaptive steps */
    cl_kernel criterion_max;
    struct rungs *rungs;   /* rungs.c; NULL except for block steps with the tree */
    struct few_state *few; /* host_steps.c; NULL with steps on devices */
    struct {
        double blocks, steps;
    } counts; /* of block steps */
};

/* Build the kernels of updates. */
int nbody_integrator_open(struct nbody *nb);
void nbody_integrator_free(struct nbody *nb);

/* Take over the numbers of a saved engine: dt, clock, counts and what is valid. */
void nbody_integration_load(struct nbody *nb, const struct integration *from);

struct device_integration {
    void *saved; /* host copy of the state, see rollback.c; NULL until needed */
};

/* ---- integrate_whfast.c: what single runs and ensembles share. ------------------------------- */

/* Numbers per body of the tangent vector and its sums (whfast_steps.h), in planes. */
enum { NBODY_TANGENT_PLANES = 13 };

/* Return the entry of wh_correctors that the options choose; -1: none. */
int nbody_whfast_corrector(const struct nbody_whfast_options *o);

/* EINVAL if an option is invalid; the message begins with the public function's name. */
int nbody_whfast_check(const struct nbody_whfast_options *o, bool megno, const char *function);

/* Begin a tangent vector tx, tv at n bodies' x and v, 3n numbers each, and its sums; and record its
 * growth in a step of dt. */
struct tangent {
    size_t n;
    double *x, *v, *tx, *tv, *sums;
};
bool nbody_tangent_has_begun(const double *sums);
void nbody_tangent_begin(const struct tangent *t);
void nbody_tangent_record(const struct tangent *t, double dt);

/* Read the sums of ias15's tangent vector. Blocks. */
int nbody_host_tangent_sums(struct nbody *nb, double *sums);

/* Return the results of a tangent vector's sums, `stride` apart, in the units of the sums. */
struct nbody_chaos nbody_whfast_chaos(const double *sums, size_t stride);

/* Return the sums of whfast's tangent vector, and their stride; NULL on error. */
const double *nbody_whfast_sums(struct nbody *nb, size_t *stride);

/* ---- update.c -------------------------------------------------------------------------------- */

/* Evaluate the forces at the current positions into nbody_device.state, unless they are valid.
 * Blocks as nbody_forces_evaluate does. */
int nbody_integrate_init_forces(struct nbody *nb);

/* Launch the kernels of a step once, over no bodies, and wait, so that the driver's compilation
 * does not count as part of the first step. Tests multi-step launches. */
int nbody_integrate_warm_up(struct nbody *nb);

/* Forget the sums that the next step begins with, after forces have changed: it begins as the first
 * step of an engine with the current positions and velocities. */
int nbody_integrate_restart(struct nbody *nb);

/* Write positions and velocities of the current time to posm and velo, if these hold predictions.
 * Does not block. */
int nbody_integrate_synchronize(struct nbody *nb);

#endif
