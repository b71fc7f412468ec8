/* simulation.h - the public calls (nbody.c, step.c, save.c, diagnose.c), and the progress of the
 * call that runs (progress.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_SIMULATION_H
#define STDCL_NBODY_SIMULATION_H

#include <stdbool.h>

#include "stdcl/nbody.h"

struct nbody_device;

/* Sums of energies and momenta, and bodies per block of them; as in diagnose.cl. */
enum { SUM_TERMS = 9, SUM_BLOCK = 64 };

struct device_diagnosis {
    void *program; /* NULL: the device's twin has it */
    cl_kernel kernel;
    void *sums; /* [blocks][SUM_TERMS] */
};

/* Progress of the call that runs. */
struct task {
    const char *call;      /* its name, for messages */
    double work, done;     /* operations: of the call, and completed */
    bool cancel_requested; /* by the caller's progress function */
    bool stoppable;        /* the call may stop now without losing state */
    bool stopped;
};

struct simulation {
    int (*progress)(void *arg, double fraction);
    void *arg;
    struct task task;
    struct snapshot *snapshot; /* save.c; NULL until first used */
};

/* Start the progress of a call of `work` operations, which may be cancelled at any time. */
void nbody_progress_begin(struct nbody *nb, const char *call, double work);

/* Report progress to the caller. -1 with ECANCELED if the caller cancels and the call may stop. */
int nbody_progress_report(struct nbody *nb);

void nbody_save_free(struct nbody *nb);

/* open: build the kernels of nbody_diagnose. allocate: a device's memory, once its rows are known;
 * bytes: of it. */
int nbody_diagnose_open(struct nbody *nb);
size_t nbody_diagnose_bytes(const struct nbody_device *p);
int nbody_diagnose_allocate(struct nbody *nb, struct nbody_device *p);
void nbody_diagnose_free(struct nbody *nb);

#endif
