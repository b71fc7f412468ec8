/* progress.c - progress of a call, and its cancellation.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include "core/progress.h"

void nbody_progress_begin(struct nbody *nb, const char *call, double work)
{
    const bool alone = world_size(nb->world) == 1; /* ranks stop together, between batches */
    nb->task = (struct task){.progress = nb->task.progress,
                             .arg = nb->task.arg,
                             .call = call,
                             .work = work,
                             .stoppable = alone};
}

void nbody_progress_set_done(struct nbody *nb, double done)
{
    nb->task.done = done;
}

void nbody_progress_add(struct nbody *nb, double work)
{
    nb->task.done += work;
}

void nbody_progress_set_stoppable(struct nbody *nb, bool stoppable)
{
    nb->task.stoppable = stoppable;
}

void nbody_progress_cancel(struct nbody *nb, bool cancel)
{
    nb->task.cancel_requested = cancel;
}

int nbody_progress_report(struct nbody *nb)
{
    struct task *t = &nb->task;
    if (!t->cancel_requested)
        t->cancel_requested = progress_cancels(t->progress, t->arg, t->done, t->work);
    if (!t->cancel_requested || !t->stoppable)
        return 0;
    t->stopped = true;
    return progress_cancelled(t->call);
}
