/* fixed_steps.c - steps of one length, in batches.
 *
 * Most integrators keep the acceleration between steps, so that a step is one evaluation of all
 * forces and one update, which ends a step and begins the next. Steps are enqueued in batches
 * without waiting for results; several devices exchange positions in each step. After a batch the
 * host checks for numbers that are not finite. A step that takes long is a batch of its own.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/stepping.h"

#include <math.h>

static const double STOP_SECONDS = 1; /* maximum delay of a cancellation */

static double integrate_step_seconds(const struct nbody *nb)
{
    double longest = 0;
    for (const struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        const double part = (double)p->rows / (double)nb->padded;
        longest =
            fmax(longest, pace_time(&p->pace, part * nbody_forces_work(nb, nb->integrator->sum)));
    }
    return longest * integrator_stages(nb);
}

/* Return the number of steps to enqueue at once. With a progress function, limit a batch to
 * STOP_SECONDS. A longer step is a batch of its own and may be cancelled in its middle, if there
 * is memory to save the state. Negative on error. */
static ptrdiff_t integrate_batch_size(struct nbody *nb, size_t steps)
{
    const size_t left = nbody_hilbert_left(nb), some = steps < left ? steps : left,
                 most = some < nb->batch ? some : nb->batch;
    const double seconds = integrate_step_seconds(nb);
    nbody_progress_set_stoppable(nb, false);
    if (!nb->task.progress || (double)most * seconds < STOP_SECONDS)
        return (ptrdiff_t)most;
    if (seconds < STOP_SECONDS)
        return (ptrdiff_t)(STOP_SECONDS / seconds);
    if (nb->method == NBODY_TREE || world_size(nb->world) > 1) /* these sums cannot be cancelled */
        return 1;
    const int saved = nbody_rollback_save(nb);
    nbody_progress_set_stoppable(nb, saved == 0);
    return saved < 0 ? -1 : 1;
}

/* Return the smallest batch size of all ranks. */
static ptrdiff_t integrate_agree_batch_size(struct nbody *nb, size_t steps)
{
    int64_t size = integrate_batch_size(nb, steps);
    return nbody_ranks_min(nb, &size, 1) == 0 ? (ptrdiff_t)size : -1;
}

/* Return the first bad step of all ranks. If any rank requests cancellation, all do from then on.
 */
static int integrate_agree_bad_step(struct nbody *nb, int bad)
{
    if (world_size(nb->world) == 1)
        return bad;
    nbody_progress_report(nb);
    int64_t all[2] = {bad, !nb->task.cancel_requested};
    if (nbody_ranks_min(nb, all, 2) != 0)
        return -1;
    nbody_progress_cancel(nb, !all[1]);
    return (int)all[0];
}

static int fixed_steps_run(struct nbody *nb, size_t steps)
{
    nbody_progress_begin(nb, "nbody_step",
                         (double)steps * integrator_stages(nb) *
                             nbody_forces_work(nb, nb->integrator->sum));
    while (steps > 0) {
        if (nbody_hilbert_due(nb) && nbody_hilbert_sort_rows(nb) != 0)
            return -1;
        const ptrdiff_t ready = integrate_agree_batch_size(nb, steps);
        const size_t now = ready > 0 ? (size_t)ready : 0;
        int bad = now ? nbody_integrate_batch(nb, now) : -1;
        if (bad >= 0)
            bad = integrate_agree_bad_step(nb, bad);
        if (bad < 0 && nb->task.stopped && nbody_rollback_restore(nb) == 0)
            return clerror_set(ECANCELED, "nbody_step: stopped after step %zu",
                               nb->integration.steps);
        if (bad < 0)
            return -1;
        nb->integration.steps += now;
        if (nb->method == NBODY_TREE &&
            (nbody_domain_repartition(nb) != 0 ||
             nbody_tree_check(nb) < 0)) /* grow buffers before they overflow */
            return -1;
        if (bad <= (int)now + 1)
            return clerror_set(
                EDOM,
                "nbody_step: a position or velocity became NaN or infinite in step %zu "
                "(time %g); %s",
                nb->integration.steps - now + (size_t)bad,
                nb->integration.base_time +
                    nb->integration.dt * (double)(nb->integration.steps - now + (size_t)bad -
                                                  nb->integration.base_steps),
                nbody_forces_range_advice(nb,
                                          "a smaller time step or a larger softening may help"));
        steps -= now;
        nbody_progress_set_stoppable(
            nb, steps > 0 && (world_size(nb->world) == 1 || nb->task.cancel_requested));
        if (nbody_progress_report(nb) != 0)
            return -1;
    }
    return 0;
}

static bool fixed_steps_apply(const struct nbody *nb)
{
    (void)nb;
    return true;
}

const struct stepper nbody_stepper_fixed = {
    .applies = fixed_steps_apply,
    .run = fixed_steps_run,
};
