/* progress.h - progress of the call that runs, and its cancellation (progress.c).
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_NBODY_PROGRESS_H
#define STDCL_NBODY_PROGRESS_H

#include <stdbool.h>

#include "stdcl/nbody.h"

struct task {
    int (*progress)(void *arg, double fraction); /* the caller's function; NULL: none */
    void *arg;
    const char *call;      /* name of the call, for messages */
    double work, done;     /* operations: of the call, and completed */
    bool cancel_requested; /* by the caller's function */
    bool stoppable;        /* the call may stop now without losing state */
    bool stopped;
};

/* Start the progress of a call of `work` operations, which may be cancelled at any time. */
void nbody_progress_begin(struct nbody *nb, const char *call, double work);

/* set_done, add: operations completed. set_stoppable: the call may be cancelled now. cancel: stop
 * at the next report that may. */
void nbody_progress_set_done(struct nbody *nb, double done);
void nbody_progress_add(struct nbody *nb, double work);
void nbody_progress_set_stoppable(struct nbody *nb, bool stoppable);
void nbody_progress_cancel(struct nbody *nb, bool cancel);

/* Report progress to the caller. -1 with ECANCELED if the caller cancels and the call may stop. */
int nbody_progress_report(struct nbody *nb);

#endif
