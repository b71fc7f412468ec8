/* progress.c - progress of a call, and its cancellation.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "core/progress.h"

void nbody_progress_begin(struct nbody *nb, const char *call, double work)
{
    nb->simulation.task = (struct task){
        .call = call,
        .work = work,
        .stoppable = !nb->domain.ranks}; /* all ranks stop together, between batches */
}

int nbody_progress_report(struct nbody *nb)
{
    struct task *t = &nb->simulation.task;
    if (!t->cancel_requested)
        t->cancel_requested =
            progress_cancels(nb->simulation.progress, nb->simulation.arg, t->done, t->work);
    if (!t->cancel_requested || !t->stoppable)
        return 0;
    t->stopped = true;
    return progress_cancelled(t->call);
}
