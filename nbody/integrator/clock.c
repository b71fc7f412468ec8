/* clock.c - the time, steps and evaluations so far, and failures of the current step.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/stepping.h"

#include "core/handle.h"

#include <math.h>

/* Time of the last whole step. */
static double clock_whole_steps(const struct nbody *nb)
{
    return nb->integration.base_time +
           nb->integration.dt * (double)(nb->integration.steps - nb->integration.base_steps);
}

double nbody_time(const nbody *nb)
{
    if (no_handle(nb, __func__))
        return 0;
    return nbody_engine_time(nb);
}

double nbody_elapsed(const nbody *nb)
{
    return no_handle(nb, __func__) ? 0 : nb->integration.elapsed;
}

int nbody_set_elapsed(nbody *nb, double elapsed)
{
    if (no_handle(nb, __func__))
        return -1;
    if (!(elapsed / nb->integration.dt >= 0 && elapsed / nb->integration.dt <= 1))
        return clerror_set(EINVAL, "nbody_set_elapsed: %g is not within a step of %g", elapsed,
                           nb->integration.dt);
    if (elapsed / nb->integration.dt > 0 && !nbody_watch_is_possible(nb))
        return clerror_set(
            ENOTSUP,
            "nbody_set_elapsed: only steps of ias15, trace and adaptive steps can be completed");
    nb->integration.elapsed = elapsed;
    return 0;
}

size_t nbody_steps(const nbody *nb)
{
    if (no_handle(nb, __func__))
        return 0;
    return nb->integration.steps;
}

double nbody_interactions(const nbody *nb)
{
    if (no_handle(nb, __func__))
        return 0;
    return nb->method == NBODY_TREE ? 0
                                    : nb->integration.evaluations * (double)nb->n * (double)nb->n;
}

void nbody_block_counts(const nbody *nb, double *blocks, double *steps)
{
    const bool none = no_handle(nb, __func__);
    if (blocks)
        *blocks = none ? 0 : nb->integration.counts.blocks;
    if (steps)
        *steps = none ? 0 : nb->integration.counts.steps;
}

/* True if a new time changes forces that depend on it by more than rounding. */
static bool clock_differs(const struct nbody *nb, double time)
{
    return fabs(time - nbody_engine_time(nb)) > 1e-9 * fabs(nb->integration.dt);
}

void nbody_set_clock(nbody *nb, double time, size_t steps)
{
    if (no_handle(nb, __func__))
        return;
    if (nbody_added_apply(nb) && clock_differs(nb, time) && nbody_integrate_restart(nb) != 0)
        nb->integration.valid = (struct sum_validity){.synchronized = true};
    nb->integration.base_time = time;
    nb->integration.elapsed = 0;
    nb->integration.base_steps = nb->integration.steps = steps;
}

int nbody_set_dt(nbody *nb, double dt)
{
    if (no_handle(nb, __func__))
        return -1;
    if (!(dt < 0 || dt > 0) || dt - dt != 0)
        return clerror_set(
            EINVAL, "nbody_set_dt: a time step of %g; it must be a finite number other than 0", dt);
    if (nb->integration.elapsed / dt > 1 || nb->integration.elapsed / dt < 0)
        return clerror_set(EINVAL, "nbody_set_dt: a time step of %g, of which %g has passed", dt,
                           nb->integration.elapsed);
    nb->integration.base_time = clock_whole_steps(nb);
    nb->integration.base_steps = nb->integration.steps;
    if (nb->integrator->few && nb->integrator->few->synchronize) {
        if (nbody_host_flush(nb) != 0)
            return -1;
        nb->integration.valid.host = false; /* that state is of the previous dt */
    }
    if ((dt < 0) != (nb->integration.dt < 0))
        nb->integration.events.known = false; /* signs of events follow the direction */
    nb->integration.dt = dt;
    return 0;
}

void nbody_integration_load(struct nbody *nb, const struct integration *from)
{
    nb->integration.dt = from->dt;
    nb->integration.elapsed = from->elapsed;
    nb->integration.steps = from->steps;
    nb->integration.base_steps = from->base_steps;
    nb->integration.base_time = from->base_time;
    nb->integration.evaluations = from->evaluations;
    nb->integration.counts = from->counts;
    nb->integration.valid = from->valid;
}

/* ---- Failures of a step. ---- */

/* Find the closest pair a < b of n positions. */
static void clock_closest(size_t n, const double *x, size_t *a, size_t *b)
{
    double least = INFINITY;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const double d = hypot(hypot(x[3 * i] - x[3 * j], x[3 * i + 1] - x[3 * j + 1]),
                                   x[3 * i + 2] - x[3 * j + 2]);
            if (d < least) {
                least = d;
                *a = j;
                *b = i;
            }
        }
}

int nbody_step_vanished_between(const struct nbody *nb, size_t a, size_t b)
{
    if (nb->n == 1)
        return clerror_set(
            EDOM,
            "nbody_step: in step %zu, after time %g, the time step vanishes: a field is infinite where the body is",
            nb->integration.steps + 1, nbody_time(nb));
    return clerror_set(
        EDOM,
        "nbody_step: in step %zu, after time %g, %sbodies %zu and %zu (from %d on) come so close that the time "
        "step vanishes; add a softening length",
        nb->integration.steps + 1, nbody_time(nb),
        nbody_has_outer_sum(nb) ? "a field is infinite where a body is, or " : "",
        nbody_number(nb, a), nbody_number(nb, b), nb->first_number);
}

int nbody_step_vanished(const struct nbody *nb, const double *x)
{
    size_t a = 0, b = 0;
    clock_closest(nb->n, x, &a, &b);
    return nbody_step_vanished_between(nb, a, b);
}

int nbody_step_vanished_at(const struct nbody *nb, size_t body, const double *x)
{
    const double length = nbody_units_factor(&nb->units, 1, 0);
    if (!nbody_has_outer_sum(nb) && !nbody_added_apply(nb))
        return nbody_step_vanished(nb, x);
    x += 3 * body;
    return clerror_set(
        EDOM,
        "nbody_step: in step %zu, after time %g, the time step of body %zu (from %d on) vanishes at %g %g %g: a "
        "field or force is infinite or jumps there, or another body is too close",
        nb->integration.steps + 1, nbody_time(nb), nbody_number(nb, body), nb->first_number,
        x[0] * length, x[1] * length, x[2] * length);
}

int nbody_step_not_finite(const struct nbody *nb, const char *smaller)
{
    char usual[128];
    snprintf(usual, sizeof usual, "a smaller %s or a larger softening may help", smaller);
    return clerror_set(
        EDOM, "nbody_step: a position or velocity became NaN or infinite in step %zu (time %g); %s",
        nb->integration.steps + 1, nbody_time(nb) + nb->integration.dt,
        nbody_forces_range_advice(nb, usual));
}
