/* task.c - how far a call is, and whether it is to stop.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include <math.h>

void nbody_task_begin(struct nbody *nb, const char *call, double work)
{
    nb->task = (struct task){.call = call,
                             .work = work,
                             .stoppable = !nb->ranks}; /* ranks end together, between bursts */
}

int nbody_task_tell(struct nbody *nb)
{
    struct task *t = &nb->task;
    if (nb->progress && !t->asked)
        t->asked = nb->progress(nb->arg, fmin(t->done / t->work, 1)) != 0;
    if (!t->asked || !t->stoppable)
        return 0;
    t->stopped = true;
    return clerror_set(ECANCELED, "%s: stopped before the end", t->call);
}
