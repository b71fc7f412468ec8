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

#include "core/args.h"
#include "core/embedded.h"
#include "nbody/force/force.h"
#include "nbody/reference/nbody_ref.h"

struct nbody_device;

enum { MAX_BATCH = 256, UPDATE_KERNELS = 4 };

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

/* Rows of a device: list[from .. from + n - 1], relative to its first. */
struct row_list {
    void *list;
    cl_uint from, n;
};

/* What an update does. */
struct update {
    cl_uint phases;
    int step;                    /* number of the step in the batch, from 1 */
    int stage;                   /* index of the sum within its step */
    size_t fused_steps;          /* with FUSED: steps of the launch */
    cl_uint barriers;            /* with FUSED: grid barriers that the batch has passed */
    const struct row_list *rows; /* limits the update to these bodies; NULL: all */
};

/* Outcome of a step on the host. */
enum host_end { HOST_DONE, HOST_VANISHES, HOST_NOT_FINITE };

struct integrator {
    struct nbody_integrator_info info;
    const struct embedded *source;       /* integrate_NAME.cl, compiled after step.cl */
    const char *kernels[UPDATE_KERNELS]; /* kernels of nbody_device.update */
    enum sum_kind sum; /* sum over pairs that a step needs: FORCES, JERKS, SNAPS */
    int stages;        /* sums per step; 0: one */
    cl_uint planes;    /* numbers per body in `state`: 6 or more; see STATE_ACC */
    bool fuses;        /* its file defines UPDATE, so that direct.cl can fuse sum and update */
    bool keeps_sums;   /* updates need the previous sums in `state` beside the new ones */
    bool block_steps;  /* supports block steps (block_steps.c); plane 12 of `state` is the step */
    bool late;         /* updates can be limited to a list of rows (struct update) */
    bool rungs;        /* supports block steps with the tree (rungs.c) */

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

/* Enqueue leapfrog's update between a step of length closing_dt and one of opening_dt, in engine
 * units. */
int nbody_leapfrog_update(struct nbody *nb, struct nbody_device *p, cl_uint count,
                          const struct update *u, double closing_dt, double opening_dt);

/* EINVAL if there are more bodies than steps on the host support. */
int nbody_host_check(const struct nbody *nb);

/* Find the closest pair a < b of n positions. */
void nbody_host_closest(size_t n, const double *x, size_t *a, size_t *b);

/* Run a batch of steps. Return the number (from 1) of the first bad one, more than `steps` + 1 if
 * all are good, or -1 on error. */
int nbody_integrate_batch(struct nbody *nb, size_t steps);

/* True if steps need the sum CRITERION. */
bool nbody_stepping_needs_criterion(const struct nbody *nb);

/* EINVAL if the engine does not support its kind of time steps. */
int nbody_stepping_check(const struct nbody *nb);

/* A kind of time steps. The first of `steppers` (clock.c) that applies to an engine makes its steps. */
struct stepper {
    bool (*applies)(const struct nbody *nb);
    int (*open)(struct nbody *nb);              /* kernels and memory; NULL: none */
    int (*run)(struct nbody *nb, size_t steps); /* nbody_step */
    void (*free)(struct nbody *nb);             /* of open; NULL: nothing to do */
};
extern const struct stepper nbody_stepper_host;  /* steps on the host, of any length */
extern const struct stepper nbody_stepper_block, /* individual steps with direct sums */
    nbody_stepper_rungs;                         /* and with the tree */
extern const struct stepper nbody_stepper_adaptive, nbody_stepper_fixed;
int nbody_stepper_open(struct nbody *nb);
void nbody_stepper_free(struct nbody *nb);

/* The usual `begin`: evaluate initial forces if needed, then update with KICK_DRIFT. */
int nbody_integrate_begin(struct nbody *nb);

/* Members of struct nbody. */
struct integration {
    const struct stepper *stepper;
    double dt; /* in the caller's units */
    size_t steps;
    size_t base_steps; /* time = base_time + (steps - base_steps) dt */
    double base_time;
    double evaluations; /* of all forces */
    struct sum_validity {
        bool forces_valid; /* `state` holds the sums that the next step begins with */
        bool synchronized; /* posm and velo are of the current time, not predictions */
    } valid, saved;        /* saved belongs to device_integration.saved */
    void *program;
    cl_kernel update[UPDATE_KERNELS]; /* the integrator's kernels */
    cl_kernel reduce;                 /* adds partial sums */
    struct blocks *blocks;            /* block_steps.h; NULL with fixed steps */
    void *criterion_program;          /* adaptive.cl; NULL without adaptive steps */
    cl_kernel criterion_max;
    struct rungs *rungs; /* rungs.c; NULL except for block steps with the tree */
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

/* ---- update.c ---------------------------------------------------------------------------------- */

/* Enqueue an update on every device with bodies. */
int nbody_update_all(struct nbody *nb, const struct update *u);

/* Evaluate the forces at the current positions into nbody_device.state, unless they are valid.
 * Blocks as nbody_forces_evaluate does. */
int nbody_integrate_init_forces(struct nbody *nb);

/* Launch the kernels of a step once, over no bodies, and wait, so that the driver's compilation
 * does not count as part of the first step. Tests multi-step launches. */
int nbody_integrate_warm_up(struct nbody *nb);

/* Write positions and velocities of the current time to posm and velo, if these hold predictions.
 * Does not block. */
int nbody_integrate_synchronize(struct nbody *nb);

/* ---- rollback.c -------------------------------------------------------------------------------- */

/* Memory of a device that a step changes; each region has an image on the host. */
enum { CHANGES = 4 };
struct changes {
    void *at[CHANGES];
    size_t bytes[CHANGES];
};
struct changes nbody_rollback_changes(const struct nbody *nb, const struct nbody_device *p);

/* save: copy the regions that a step changes to the host; 1 if out of memory. restore: write them
 * back to the devices. */
int nbody_rollback_save(struct nbody *nb);
int nbody_rollback_restore(struct nbody *nb);

/* Run a step of the engine, the call's step number `done`. If it is cancelled or fails with EDOM,
 * restore the state before it, provided there was memory to save it. */
int nbody_rollback_run(struct nbody *nb, int (*step)(struct nbody *nb, double done), double done);

#endif
