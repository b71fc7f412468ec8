/* integrate.c - steps, by any of the integrators in the table (integrate.h).
 *
 * Most integrators keep the acceleration between steps, so that a step is one evaluation of all forces and
 * one launch that ends it and begins the next. A burst is a number of steps that the host starts without
 * waiting for results (several devices wait for each other's positions); after it the host looks whether any
 * number stopped being finite. A step that takes long is a burst of its own.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include <limits.h>
#include <math.h>

static const double STOP_SECONDS = 1; /* that steps may go on when the caller wants to stop */

/* ---- Bursts. ---------------------------------------------------------------------------------- */

/* One sum of a step, whose positions are where forces are wanted, and what follows it. An integrator with a `begin` moves
 * bodies there, so not when no other sum follows; one without moves them at the end of every step. */
static int stage(struct nbody *nb, int number, bool last)
{
    const bool begins = nb->integrator->begin != NULL;
    if (nbody_forces_evaluate(nb, nb->integrator->sum) != 0 ||
        nbody_visit_all(nb, last || !begins ? SUM | FINISH : SUM | FINISH | BEGIN, number) != 0)
        return -1;
    nb->evaluations++;
    if (!last || !begins)
        nb->current = false;
    return 0;
}

/* The sums of a burst from number `from` on, and what follows each. */
static int stages_from(struct nbody *nb, size_t from, size_t steps)
{
    const size_t each = (size_t)stages(nb), all = steps * each;
    int status = 0;
    nb->in_burst = true;
    for (nb->sum = from; status == 0 && nb->sum < all; nb->sum++) {
        nb->stage = (int)(nb->sum % each);
        status = stage(nb, (int)(nb->sum / each) + 1, nb->sum + 1 == all);
    }
    nb->in_burst = false;
    return status;
}

/* Clears (CL_MEM_DEVICE) or fetches (CL_MEM_HOST) the number of the first bad step from every device. Returns
 * the smallest, INT_MAX when there is none, -1 after an error, or below that where a tree had no room (tree.cl). Fetching waits for all that was started. */
static int bad_steps(struct nbody *nb, int direction)
{
    int first = INT_MAX;
    for (struct share *p = nb->share; p < nb->share + nb->ndev; p++) {
        if (!p->rows)
            continue;
        if (direction == CL_MEM_DEVICE)
            *p->bad = INT_MAX;
        if (direction == CL_MEM_HOST ? nbody_device_fetch(nb, p, p->bad, sizeof *p->bad) != 0
                                     : clmsync(nb->ctx, p->dev, p->bad, direction) == (cl_event)-1)
            return -1;
        first = *p->bad < first ? *p->bad : first;
    }
    return first;
}

/* A tree had no room, and nothing was done since then: more room, and on from there. */
static int burst_on(struct nbody *nb, size_t steps, size_t from)
{
    nb->evaluations -= (double)(steps * (size_t)stages(nb) - from);
    if (nbody_tree_check(nb) < 0 || bad_steps(nb, CL_MEM_DEVICE) < 0 || stages_from(nb, from, steps) != 0)
        return -1;
    return bad_steps(nb, CL_MEM_HOST);
}

int nbody_integrate_burst(struct nbody *nb, size_t steps)
{
    const struct integrator *integrator = nb->integrator;
    if (bad_steps(nb, CL_MEM_DEVICE) < 0 || (integrator->begin && integrator->begin(nb) != 0))
        return -1;
    nb->primed = integrator->begin != NULL;
    nb->settled = false;
    int bad = stages_from(nb, 0, steps) == 0 ? bad_steps(nb, CL_MEM_HOST) : -1;
    while (bad < -1)
        bad = burst_on(nb, steps, (size_t)(bad - INT_MIN));
    return bad;
}

static double step_seconds(const struct nbody *nb)
{
    double longest = 0;
    for (const struct share *p = nb->share; p < nb->share + nb->ndev; p++) {
        const double part = (double)p->rows / (double)nb->padded;
        longest = fmax(longest, pace_time(&p->pace, part * nbody_forces_work(nb, nb->integrator->sum)));
    }
    return longest * stages(nb);
}

/* How many steps to start at once: with somebody who may stop them, so many as end soon. A step that takes long is
 * alone and may be stopped in its middle, if there is memory to keep what it changes. Negative after an error. */
static ptrdiff_t prepare(struct nbody *nb, size_t steps)
{
    const size_t most = steps < nb->burst ? steps : nb->burst;
    const double seconds = step_seconds(nb);
    nb->task.stoppable = false;
    if (!nb->progress || (double)most * seconds < STOP_SECONDS)
        return (ptrdiff_t)most;
    if (seconds < STOP_SECONDS)
        return (ptrdiff_t)(STOP_SECONDS / seconds);
    if (nb->method == NBODY_TREE) /* which is not stopped in the middle of a sum */
        return 1;
    const int saved = nbody_task_save(nb);
    nb->task.stoppable = saved == 0;
    return saved < 0 ? -1 : 1;
}

int nbody_step(nbody *nb, size_t steps)
{
    if (nb->integrator->host)
        return nbody_host_step(nb, steps);
    if (nb->blocks)
        return nbody_blocks_step(nb, steps);
    if (nb->stepping == NBODY_ADAPTIVE)
        return nbody_adaptive_step(nb, steps);
    nbody_task_begin(nb, "nbody_step", (double)steps * stages(nb) * nbody_forces_work(nb, nb->integrator->sum));
    while (steps > 0) {
        const ptrdiff_t ready = prepare(nb, steps);
        const size_t now = ready > 0 ? (size_t)ready : 0;
        const int bad = now ? nbody_integrate_burst(nb, now) : -1;
        if (bad < 0 && nb->task.stopped && nbody_task_restore(nb) == 0)
            return clerror_set(ECANCELED, "nbody_step: stopped after step %zu", nb->steps);
        if (bad < 0)
            return -1;
        nb->steps += now;
        if (nb->method == NBODY_TREE && nbody_tree_check(nb) < 0) /* more room for the next, in time */
            return -1;
        if (bad <= (int)now + 1)
            return clerror_set(EDOM,
                               "nbody_step: a position or velocity became NaN or infinite in step %zu "
                               "(time %g); a smaller time step or a larger softening may help",
                               nb->steps - now + (size_t)bad,
                               nb->base_time +
                                   nb->dt * (double)(nb->steps - now + (size_t)bad - nb->base_steps));
        steps -= now;
        nb->task.stoppable = steps > 0;
        if (nbody_task_tell(nb) != 0)
            return -1;
    }
    return 0;
}

int nbody_set_dt(nbody *nb, double dt)
{
    if (!(dt < 0 || dt > 0) || dt - dt != 0)
        return clerror_set(EINVAL, "nbody_set_dt: a time step of %g; it must be a finite number other than 0", dt);
    nb->base_time = nbody_time(nb);
    nb->base_steps = nb->steps;
    nb->dt = dt;
    return 0;
}
