/* progress.c - progress of a call, and its cancellation.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/integrator.h"

#include "core/progress.h"

void nbody_progress_begin(struct nbody *nb, const char *call, double work)
{
    nb->task =
        (struct task){.call = call,
                      .work = work,
                      .stoppable = !nb->ranks}; /* all ranks stop together, between batches */
}

int nbody_progress_report(struct nbody *nb)
{
    struct task *t = &nb->task;
    if (!t->cancel_requested)
        t->cancel_requested = progress_cancels(nb->progress, nb->arg, t->done, t->work);
    if (!t->cancel_requested || !t->stoppable)
        return 0;
    t->stopped = true;
    return progress_cancelled(t->call);
}
