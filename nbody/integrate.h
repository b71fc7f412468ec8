/* integrate.h - the integrators: a table.
 *
 *   a burst:   begin,  sum over pairs, visit,  sum over pairs, visit,  ...           (end, when it
 *              is needed)
 *
 * To add an integrator: integrate_NAME.c, which defines its row nbody_integrate_NAME, with its
 * kernels in integrate_NAME.cl; a line of INTEGRATORS; and its constant, with its formulas, in
 * stdcl/nbody.h. The command, its help, the tests and the benchmark list this table. A row is set
 * by member names, so that a member which only some integrators need (several sums a step, blocks
 * of bodies) can be added without touching the others.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_INTEGRATE_H
#define STDCL_NBODY_INTEGRATE_H

#include "nbody/engine.h"
#include "nbody/nbody_ref.h"

/* Constant and name of each, in the order of enum nbody_integrator. */
#define INTEGRATORS(X)                                                                             \
    X(NBODY_LEAPFROG, leapfrog)                                                                    \
    X(NBODY_HERMITE4, hermite4)                                                                    \
    X(NBODY_TAYLOR, taylor)                                                                        \
    X(NBODY_YOSHIDA4, yoshida4)                                                                    \
    X(NBODY_IAS15, ias15)                                                                          \
    X(NBODY_HERMITE6, hermite6)

/* What a visit does, in this order; as in step.cl. */
enum {
    SUM = 1,    /* joins the partial sums into `state` */
    FINISH = 2, /* the end of a step */
    BEGIN = 4,  /* the beginning of the next; nothing where `begin` is NULL */
    PULL = 8    /* first of all, the sum over pairs: all in one launch, from posm to moved
                   (nbody_forces_step) */
};

/* How a step on the host ends. */
enum host_end { HOST_DONE, HOST_VANISHES, HOST_NOT_FINITE };

struct integrator {
    struct nbody_integrator_info info;
    const struct embedded *source; /* integrate_NAME.cl, which is built behind step.cl */
    const char
        *kernels[OWN_KERNELS]; /* those of its kernels that are launched; share->own holds them */
    enum kernel sum;           /* over all pairs, what a step needs: FORCES, JERKS, SNAPS */
    int stages;                /* sums a step; 0: one. nb->stage counts them, from 0, in visits */
    cl_uint planes;            /* numbers a body in `state`: 6, or more; see STATE_ACC */
    bool pulls;       /* visits can do all in one launch, PULL: its file has STEP, see direct.cl */
    bool keeps_sums;  /* visits need the last sums, in `state`, beside the new ones */
    bool block_steps; /* bodies may choose steps (block_steps.c), of which plane 12 of `state` has
                         the next */
    bool late;        /* visits can be of few rows only, those of share->late */
    bool rungs;       /* and with the tree (rungs.c) */

    /* Before the first sum of a burst: what a step does before its sum over pairs. NULL:
     * nothing. */
    int (*begin)(struct nbody *nb);

    /* After a sum over pairs: starts what the phases say for the first `count` bodies of a device,
     * and has the kernel note `step` in share->bad if a number is no longer finite. Does not
     * block. */
    int (*visit)(struct nbody *nb, struct nbody_device *p, cl_uint count, cl_uint phases, int step);

    /* For an integrator that predicts, so that posm and velo are not the results, which stand in
     * `state`: starts copying those to posm and velo. NULL: posm is the result. */
    int (*end)(struct nbody *nb, struct nbody_device *p);

    /* For an integrator that steps on the host (host.c), without begin and end: one step of dt for
     * positions x and velocities v, 3n numbers each, in the engine's units; `memory` has room for
     * 3n * host_planes numbers; adds what it evaluated. Visits then only join sums. NULL: steps are
     * made on devices. */
    enum host_end (*host)(const struct nbody_ref_system *s, double dt, double *x, double *v,
                          double *memory, double *evaluations);
    int host_planes;

    /* The same in plain C: `steps` steps of dt for positions x and velocities v, 3n numbers each.
     * `work` has room for as many planes as `state`. */
    void (*twin)(const struct nbody_ref_system *s, double dt, size_t steps, double *x, double *v,
                 double *work);
};

#define X(constant, name) extern const struct integrator nbody_integrate_##name;
INTEGRATORS(X)
#undef X

/* The deepest level of steps of dt / 2^level; a step of the engine is TICKS ticks. */
enum { DEEPEST = 40 };
#define TICKS ((cl_ulong)1 << DEEPEST)

/* The row of an integrator; NULL when there is none. */
const struct integrator *nbody_integrate_row(enum nbody_integrator integrator);

/* Sums over pairs that a step takes. */
static inline int stages(const struct nbody *nb)
{
    return nb->integrator->stages ? nb->integrator->stages : 1;
}

/* A visit of leapfrog's kernel, at the end of a step of one length and the beginning of one of
 * another, in the engine's units. */
int nbody_leapfrog_visit(struct nbody *nb, struct nbody_device *p, cl_uint count, cl_uint phases,
                         int step, double closing_dt, double opening_dt);

/* nbody_step of such an integrator; EINVAL for more bodies than it takes. */
int nbody_host_step(struct nbody *nb, size_t steps);
int nbody_host_check(const struct nbody *nb);

/* The two bodies that are nearest to each other. */
void nbody_host_closest(size_t n, const double *x, size_t *a, size_t *b);

/* A burst of steps: the first bad one of them, beyond `steps` + 1 when all are good; -1 after an
 * error. */
int nbody_integrate_burst(struct nbody *nb, size_t steps);

/* EINVAL for steps other than fixed ones with what has none. */
int nbody_stepping_check(const struct nbody *nb);

/* nbody_step with steps that all bodies share, of an integrator that needs forces alone. */
int nbody_adaptive_step(struct nbody *nb, size_t steps);

/* Steps that bodies choose, with an integrator that has them. open, free: what there is for them on
 * a device, or nothing; step: as nbody_step. */
int nbody_blocks_open(struct nbody *nb);
int nbody_blocks_step(struct nbody *nb, size_t steps);
void nbody_blocks_free(struct nbody *nb);

/* The same with the tree. */
int nbody_rungs_open(struct nbody *nb);
int nbody_rungs_step(struct nbody *nb, size_t steps);
void nbody_rungs_free(struct nbody *nb);

/* A `begin`: brings the sums of the current positions into `state`, then visits with BEGIN. */
int nbody_integrate_begin(struct nbody *nb);

/* Whether posm holds predictions, and `state` the positions. */
static inline bool predicts(const struct nbody *nb)
{
    return nb->integrator->end != NULL;
}

#endif
