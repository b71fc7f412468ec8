/* scheme.h - the table of integrators.
 *
 *   a batch:   begin,  sum over pairs, update,  sum over pairs, update,  ...    synchronize (when
 *                                                                               state is read)
 *
 * To add an integrator, write integrate_NAME.c, which defines nbody_integrate_NAME, with kernels in
 * integrate_NAME.cl; add a line to INTEGRATORS; and add its constant with its formulas to
 * stdcl/nbody.h. The command, its help, the tests and the benchmark read this table. Entries are
 * written with designated initialisers, so a new member does not touch the other integrators.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_SCHEME_H
#define STDCL_NBODY_SCHEME_H

#include "core/args.h"
#include "core/embedded.h"
#include "nbody/force/sums.h"
#include "nbody/reference/nbody_ref.h"

struct nbody_device;
struct contact_paths;
struct host_bodies;

enum { UPDATE_KERNELS = 4 }; /* maximum per integrator */

/* Constant and name of each integrator, in the order of enum nbody_integrator. */
#define INTEGRATORS(X)                                                                             \
    X(NBODY_LEAPFROG, leapfrog)                                                                    \
    X(NBODY_HERMITE4, hermite4)                                                                    \
    X(NBODY_TAYLOR, taylor)                                                                        \
    X(NBODY_YOSHIDA4, yoshida4)                                                                    \
    X(NBODY_IAS15, ias15)                                                                          \
    X(NBODY_HERMITE6, hermite6)                                                                    \
    X(NBODY_WHFAST, whfast)                                                                        \
    X(NBODY_TRACE, trace)

/* Phases of an update, executed in this order; as in step.cl. */
enum {
    REDUCE = 1,     /* add the partial sums and store the total in `state` */
    KICK_CLOSE = 2, /* end of a step: closing half kick or corrector */
    KICK_DRIFT = 4, /* begin of the next: opening half kick and drift, or predictor */
    FUSED = 8       /* evaluate the sum over pairs first, in the same launch (nbody_forces_step) */
};

/* What an update does. */
struct update {
    cl_uint phases;
    int step;           /* number of the step in the batch, from 1 */
    int stage;          /* index of the sum within its step */
    size_t fused_steps; /* with FUSED: steps of the launch */
    cl_uint barriers;   /* with FUSED: grid barriers that the batch has passed */
};

/* Outcome of a step on the host. CONTACT: bodies touch, and watch->reached is set. STOPPED: the
 * caller cancelled the step, or memory is short. */
enum host_end { HOST_DONE, HOST_CONTACT, HOST_VANISHES, HOST_NOT_FINITE, HOST_STOPPED };

/* A step on the host as the engine watches it between the integrator's inner steps. */
struct host_watch {
    struct nbody *nb;
    size_t step;      /* index of the step in the call */
    double reached;   /* time at which a contact ended the step, from its begin */
    size_t vanishing; /* body that needed the shortest step, after HOST_VANISHES */
    /* Numbers in the engine of the bodies of an integrator that is called for part of them. It
     * records all contacts and does not stop at the first. NULL: it is called for all bodies. */
    const size_t *body;
    double span;      /* time that it is called for, up to the end of the step; with `body` only */
    bool events_only; /* a copy of the bodies: look for events alone, from the caller's `time` on */
    double time;
};

/* Report progress within a step; part: the fraction done. Call this about once a millisecond. True
 * if the caller cancels: return HOST_STOPPED. watch may be NULL. */
bool nbody_host_stops(const struct host_watch *watch, double part);

/* Look for contacts and events along an inner step, like nbody_watch_paths, up to the first contact
 * or the first event that stops. done: time before the inner step. */
int nbody_host_contact(const struct host_watch *watch, double done,
                       const struct contact_paths *paths, double *h);

/* True if positions, velocities and memory have room for a tangent vector after the bodies. */
bool nbody_host_has_tangent(const struct host_watch *watch);

/* True if contacts or events are looked for. */
bool nbody_host_watches(const struct host_watch *watch);

/* Steps of few bodies on the host. Lengths of steps are in engine units. */
struct host_scheme {
    size_t scratch; /* numbers per body in host_bodies.scratch */
    /* Compute constants from masses to the scratch memory; NULL: none. */
    void (*prepare)(const struct host_bodies *b);
    /* Make x and v the beginning of a step of dt: evaluate forces, or transform. */
    void (*begin)(const struct host_bodies *b, double dt);
    /* Advance by `steps` steps of dt. */
    void (*steps)(const struct host_bodies *b, double dt, size_t steps);
    /* Compute x and v from the planes after them, which hold the state; NULL: x and v are the
     * state. */
    void (*synchronize)(const struct host_bodies *b, double dt);
    /* Return the length of the next adaptive step, at most `longest`, both > 0; 0 or NaN: it
     * vanishes. host_bodies.eta is the accuracy. NULL: by nbody_host_criterion. */
    double (*wanted)(const struct host_bodies *b, double longest);
    /* EINVAL if the scheme does not support the engine's options; NULL: it supports all. */
    int (*check)(const struct nbody *nb, double first_mass);
};

/* Forces of the caller with which an integrator keeps its order. */
enum added_support { ADDED_NONE, ADDED_OF_POSITION, ADDED_OF_VELOCITY };

struct integrator {
    struct nbody_integrator_info info;
    const struct embedded *source;       /* integrate_NAME.cl, compiled after step.cl */
    const char *kernels[UPDATE_KERNELS]; /* kernels of integration.update */
    enum sum_kind sum; /* sum over pairs that a step needs: FORCES, JERKS, SNAPS */
    int stages;        /* sums per step; 0: one */
    cl_uint planes;    /* numbers per body in `state`: 6 or more; see STATE_ACC */
    bool fuses;        /* its kernels can follow a sum in the same launch (integrate_leapfrog.cl) */
    bool
        keeps_sums; /* partial sums have memory beside `state`: updates need the old sums, too, or a
                         sum has more than three planes */
    bool block_steps; /* supports block steps (block_steps.c); plane 12 of `state` is the step */
    bool rungs;       /* supports block steps with the tree (rungs.c) */
    enum added_support added;
    const double *ends; /* times of a step's sums, as fractions of it; NULL: at its end */

    /* Do the part of a step that precedes its sum over pairs. Called before the first sum of a
     * batch. NULL: nothing to do. */
    int (*begin)(struct nbody *nb);

    /* Enqueue the phases of u for the first `count` bodies of a device, after a sum over pairs. The
     * kernel stores u->step in nbody_device.bad if a number is no longer finite. Does not block. */
    int (*update)(struct nbody *nb, struct nbody_device *p, cl_uint count, const struct update *u);

    /* Enqueue a copy of positions and velocities from `state` to posm and velo, for an integrator
     * that predicts. NULL: posm holds the positions. */
    int (*synchronize)(struct nbody *nb, struct nbody_device *p);

    /* Advance positions x and velocities v, 3n numbers each in engine units, by dt on the host
     * (host.c). With a tangent vector after the bodies x and v have 6n numbers. `memory` has room
     * for host_planes arrays of this size. Adds the number of force evaluations to *evaluations. An
     * integrator with inner steps calls nbody_host_stops with s->watch, and looks for contacts. It
     * has no begin and end, and its updates only reduce sums. NULL: steps run on devices. */
    enum host_end (*host)(const struct nbody_ref_system *s, double dt, double *x, double *v,
                          double *memory, double *evaluations);
    int host_planes;
    bool host_adapts; /* its steps within dt have any length */
    /* EINVAL if steps on the host do not support the engine's options; NULL: they support all. */
    int (*host_check)(const struct nbody *nb, double first_mass);

    /* Steps of few bodies on the host (host.h); NULL: none. */
    const struct host_scheme *few;
    bool few_only; /* no steps on devices */

    /* Scalar reference: advance x and v, 3n numbers each, by `steps` steps of dt. `work` has room
     * for n numbers per plane of `state`. */
    void (*reference)(const struct nbody_ref_system *s, double dt, size_t steps, double *x,
                      double *v, double *work);
};

/* True if the integrator has no steps on devices. */
static inline bool integrator_is_host_only(const struct integrator *i)
{
    return i->host || i->few_only;
}

struct stepper;
#define X(constant, name) extern const struct integrator nbody_integrate_##name;
INTEGRATORS(X)
#undef X

/* Return the entry of an integrator; NULL if there is none. */
const struct integrator *nbody_integrator_find(enum nbody_integrator integrator);

#endif
