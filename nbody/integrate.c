/* integrate.c - steps, by any of the integrators in the table (integrate.h).
 *
 * Most integrators keep the acceleration between steps, so that a step is one evaluation of all
 * forces and one launch that ends it and begins the next. A burst is a number of steps that the
 * host starts without waiting for results (several devices wait for each other's positions); after
 * it the host looks whether any number stopped being finite. A step that takes long is a burst of
 * its own.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"
#include "core/handle.h"
#include "nbody/ranks.h"

#include <math.h>

static const double STOP_SECONDS = 1; /* that steps may go on when the caller wants to stop */

static double step_seconds(const struct nbody *nb)
{
    double longest = 0;
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        const double part = (double)p->rows / (double)nb->padded;
        longest =
            fmax(longest, pace_time(&p->pace, part * nbody_forces_work(nb, nb->integrator->sum)));
    }
    return longest * stages(nb);
}

/* How many steps to start at once: with somebody who may stop them, so many as end soon. A step
 * that takes long is alone and may be stopped in its middle, if there is memory to keep what it
 * changes. Negative after an error. */
static ptrdiff_t prepare(struct nbody *nb, size_t steps)
{
    const size_t left = nbody_hilbert_left(nb), some = steps < left ? steps : left,
                 most = some < nb->batch ? some : nb->batch;
    const double seconds = step_seconds(nb);
    nb->task.stoppable = false;
    if (!nb->progress || (double)most * seconds < STOP_SECONDS)
        return (ptrdiff_t)most;
    if (seconds < STOP_SECONDS)
        return (ptrdiff_t)(STOP_SECONDS / seconds);
    if (nb->method == NBODY_TREE || nb->ranks) /* which are not stopped in the middle of a sum */
        return 1;
    const int saved = nbody_task_save(nb);
    nb->task.stoppable = saved == 0;
    return saved < 0 ? -1 : 1;
}

/* With ranks all make as many steps as the slowest would. */
static ptrdiff_t prepare_all(struct nbody *nb, size_t steps)
{
    struct nbody_asked asked = {.steps = prepare(nb, steps)};
    return nbody_ranks_ask(nb, &asked) == 0 ? (ptrdiff_t)asked.steps : -1;
}

/* The first bad step of any rank; and whether one of them is to stop, after which all are. */
static int ask_all(struct nbody *nb, int bad)
{
    if (!nb->ranks)
        return bad;
    nbody_task_tell(nb);
    struct nbody_asked asked = {.bad = bad, .stop = nb->task.asked};
    if (nbody_ranks_ask(nb, &asked) != 0)
        return -1;
    nb->task.asked = asked.stop;
    return (int)asked.bad;
}

int nbody_step(nbody *nb, size_t steps)
{
    if (no_handle(nb, __func__))
        return -1;
    if (nb->integrator->host)
        return nbody_host_step(nb, steps);
    if (nb->blocks)
        return nbody_blocks_step(nb, steps);
    if (nb->rungs)
        return nbody_rungs_step(nb, steps);
    if (nb->stepping == NBODY_ADAPTIVE)
        return nbody_adaptive_step(nb, steps);
    nbody_task_begin(nb, "nbody_step",
                     (double)steps * stages(nb) * nbody_forces_work(nb, nb->integrator->sum));
    while (steps > 0) {
        if (nbody_hilbert_due(nb) && nbody_hilbert_sort_rows(nb) != 0)
            return -1;
        const ptrdiff_t ready = prepare_all(nb, steps);
        const size_t now = ready > 0 ? (size_t)ready : 0;
        int bad = now ? nbody_integrate_burst(nb, now) : -1;
        if (bad >= 0)
            bad = ask_all(nb, bad);
        if (bad < 0 && nb->task.stopped && nbody_task_restore(nb) == 0)
            return clerror_set(ECANCELED, "nbody_step: stopped after step %zu", nb->steps);
        if (bad < 0)
            return -1;
        nb->steps += now;
        if (nb->method == NBODY_TREE &&
            (nbody_hilbert_repartition(nb) != 0 ||
             nbody_tree_check(nb) < 0)) /* more room for the next, in time */
            return -1;
        if (bad <= (int)now + 1)
            return clerror_set(
                EDOM,
                "nbody_step: a position or velocity became NaN or infinite in step %zu "
                "(time %g); a smaller time step or a larger softening may help",
                nb->steps - now + (size_t)bad,
                nb->base_time + nb->dt * (double)(nb->steps - now + (size_t)bad - nb->base_steps));
        steps -= now;
        nb->task.stoppable = steps > 0 && (!nb->ranks || nb->task.asked);
        if (nbody_task_tell(nb) != 0)
            return -1;
    }
    return 0;
}

void nbody_set_clock(nbody *nb, double time, size_t steps)
{
    if (no_handle(nb, __func__))
        return;
    nb->base_time = time;
    nb->base_steps = nb->steps = steps;
}

int nbody_set_dt(nbody *nb, double dt)
{
    if (no_handle(nb, __func__))
        return -1;
    if (!(dt < 0 || dt > 0) || dt - dt != 0)
        return clerror_set(
            EINVAL, "nbody_set_dt: a time step of %g; it must be a finite number other than 0", dt);
    nb->base_time = nbody_time(nb);
    nb->base_steps = nb->steps;
    nb->dt = dt;
    return 0;
}
