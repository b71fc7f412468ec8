/* task.c - how far a call is, and whether it is to stop.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include "core/progress.h"

void nbody_task_begin(struct nbody *nb, const char *call, double work)
{
    nb->task = (struct task){.call = call,
                             .work = work,
                             .stoppable = !nb->ranks}; /* ranks end together, between bursts */
}

int nbody_task_tell(struct nbody *nb)
{
    struct task *t = &nb->task;
    if (!t->asked)
        t->asked = progress_cancels(nb->progress, nb->arg, t->done, t->work);
    if (!t->asked || !t->stoppable)
        return 0;
    t->stopped = true;
    return progress_cancelled(t->call);
}
