/* integrate.h - the table of integrators.
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
#ifndef STDCL_NBODY_INTEGRATE_H
#define STDCL_NBODY_INTEGRATE_H

#include "nbody/engine.h"
#include "nbody/reference/nbody_ref.h"

/* Constant and name of each integrator, in the order of enum nbody_integrator. */
#define INTEGRATORS(X)                                                                             \
    X(NBODY_LEAPFROG, leapfrog)                                                                    \
    X(NBODY_HERMITE4, hermite4)                                                                    \
    X(NBODY_TAYLOR, taylor)                                                                        \
    X(NBODY_YOSHIDA4, yoshida4)                                                                    \
    X(NBODY_IAS15, ias15)                                                                          \
    X(NBODY_HERMITE6, hermite6)

/* Phases of an update, executed in this order; as in step.cl. */
enum {
    REDUCE = 1,     /* add the partial sums and store the total in `state` */
    KICK_CLOSE = 2, /* end of a step: closing half kick or corrector */
    KICK_DRIFT = 4, /* begin of the next: opening half kick and drift, or predictor */
    FUSED = 8       /* evaluate the sum over pairs first, in the same launch (nbody_forces_step) */
};

/* Outcome of a step on the host. */
enum host_end { HOST_DONE, HOST_VANISHES, HOST_NOT_FINITE };

struct integrator {
    struct nbody_integrator_info info;
    const struct embedded *source;       /* integrate_NAME.cl, compiled after step.cl */
    const char *kernels[UPDATE_KERNELS]; /* kernels of nbody_device.update */
    enum kernel sum;  /* sum over pairs that a step needs: FORCES, JERKS, SNAPS */
    int stages;       /* sums per step; 0: one. nb->stage counts them from 0 */
    cl_uint planes;   /* numbers per body in `state`: 6 or more; see STATE_ACC */
    bool fuses;       /* its file defines UPDATE, so that direct.cl can fuse sum and update */
    bool keeps_sums;  /* updates need the previous sums in `state` beside the new ones */
    bool block_steps; /* supports block steps (block_steps.c); plane 12 of `state` is the step */
    bool late;        /* updates can be limited to the bodies of nbody_device.late */
    bool rungs;       /* supports block steps with the tree (rungs.c) */

    /* Do the part of a step that precedes its sum over pairs. Called before the first sum of a
     * batch. NULL: nothing to do. */
    int (*begin)(struct nbody *nb);

    /* Enqueue the phases for the first `count` bodies of a device, after a sum over pairs. The
     * kernel stores `step` in nbody_device.bad if a number is no longer finite. Does not block. */
    int (*update)(struct nbody *nb, struct nbody_device *p, cl_uint count, cl_uint phases,
                  int step);

    /* Enqueue a copy of positions and velocities from `state` to posm and velo, for an integrator
     * that predicts. NULL: posm holds the positions. */
    int (*synchronize)(struct nbody *nb, struct nbody_device *p);

    /* Advance positions x and velocities v, 3n numbers each in engine units, by dt on the host
     * (host.c). `memory` has room for 3n * host_planes numbers. Adds the number of force
     * evaluations to *evaluations. Such an integrator has no begin and end, and its updates only
     * reduce sums. NULL: steps run on devices. */
    enum host_end (*host)(const struct nbody_ref_system *s, double dt, double *x, double *v,
                          double *memory, double *evaluations);
    int host_planes;

    /* Scalar reference: advance x and v, 3n numbers each, by `steps` steps of dt. `work` has room
     * for n numbers per plane of `state`. */
    void (*reference)(const struct nbody_ref_system *s, double dt, size_t steps, double *x,
                      double *v, double *work);
};

#define X(constant, name) extern const struct integrator nbody_integrate_##name;
INTEGRATORS(X)
#undef X

/* Maximum level of steps of dt / 2^level. A step of the engine has TICKS ticks. */
enum { DEEPEST = 40 };
#define TICKS ((cl_ulong)1 << DEEPEST)

/* Return the entry of an integrator; NULL if there is none. */
const struct integrator *nbody_integrator_find(enum nbody_integrator integrator);

/* Sums over pairs per step. */
static inline int integrator_stages(const struct nbody *nb)
{
    return nb->integrator->stages ? nb->integrator->stages : 1;
}

/* Enqueue leapfrog's update between a step of length closing_dt and one of opening_dt, in engine
 * units. */
int nbody_leapfrog_update(struct nbody *nb, struct nbody_device *p, cl_uint count, cl_uint phases,
                          int step, double closing_dt, double opening_dt);

/* nbody_step for an integrator with `host`. nbody_host_check: EINVAL if there are more bodies than
 * it supports. */
int nbody_host_step(struct nbody *nb, size_t steps);
int nbody_host_check(const struct nbody *nb);

/* Find the closest pair a < b of n positions. */
void nbody_host_closest(size_t n, const double *x, size_t *a, size_t *b);

/* Run a batch of steps. Return the number (from 1) of the first bad one, more than `steps` + 1 if
 * all are good, or -1 on error. */
int nbody_integrate_batch(struct nbody *nb, size_t steps);

/* EINVAL if the engine does not support its kind of time steps. */
int nbody_stepping_check(const struct nbody *nb);

/* nbody_step with adaptive steps shared by all bodies, for integrators that need only forces. */
int nbody_adaptive_step(struct nbody *nb, size_t steps);

/* Block steps of hermite4. open: build kernels and allocate, if the engine uses them; run: as
 * nbody_step. */
int nbody_block_steps_open(struct nbody *nb);
int nbody_block_steps_run(struct nbody *nb, size_t steps);
void nbody_block_steps_free(struct nbody *nb);

/* Block steps of leapfrog with the tree. */
int nbody_rungs_open(struct nbody *nb);
int nbody_rungs_run(struct nbody *nb, size_t steps);
void nbody_rungs_free(struct nbody *nb);

/* The usual `begin`: evaluate initial forces if needed, then update with KICK_DRIFT. */
int nbody_integrate_begin(struct nbody *nb);

/* True if posm holds predictions and `state` the positions. */
static inline bool integrator_predicts(const struct nbody *nb)
{
    return nb->integrator->synchronize != NULL;
}

#endif
