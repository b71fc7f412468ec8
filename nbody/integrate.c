/* integrate.c - steps.
 *
 * Leapfrog and Hermite keep the acceleration between steps, so that a step is one evaluation of all
 * forces and one launch that ends it and begins the next. A burst of steps is handed to the devices
 * without waiting (several devices: but for the exchange of positions); at its end the host looks
 * whether any step went bad.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/engine.h"

#include <limits.h>

/* What a launch of leapfrog or hermite does, as in step.cl. */
enum { SUM = 1, FINISH = 2, BEGIN = 4 };

/* ---- The launches that follow a sum over pairs. ----------------------------------------------- */

static int visit_leapfrog(const struct nbody *nb, struct part *p, cl_uint count, cl_uint phases, int step)
{
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows;
    REAL_NUMBER(dt, nb->dt * nbody_units_factor(&nb->units, 0, -1));
    const struct stdcl_arg args[] = {BLOCK_ARG(nb->posm),  BLOCK_ARG(p->state), BLOCK_ARG(p->partial),
                                     VALUE_ARG(first),     VALUE_ARG(rows),     VALUE_ARG(count),
                                     VALUE_ARG(p->splits), VALUE_ARG(phases),   REAL_ARG(nb, dt),
                                     BLOCK_ARG(p->bad),    VALUE_ARG(step)};
    return nbody_device_visit(nb, p, LEAPFROG, p->count, 3, COUNT_OF(args), args);
}

static int visit_taylor(const struct nbody *nb, struct part *p, cl_uint count, int step)
{
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows;
    REAL_NUMBER(dt, nb->dt * nbody_units_factor(&nb->units, 0, -1));
    const struct stdcl_arg args[] = {
        BLOCK_ARG(nb->posm), BLOCK_ARG(p->state),  BLOCK_ARG(p->partial), VALUE_ARG(first),  VALUE_ARG(rows),
        VALUE_ARG(count),    VALUE_ARG(p->splits), REAL_ARG(nb, dt),      BLOCK_ARG(p->bad), VALUE_ARG(step)};
    return nbody_device_visit(nb, p, TAYLOR, p->count, 3, COUNT_OF(args), args);
}

static int visit_hermite(const struct nbody *nb, struct part *p, cl_uint count, cl_uint phases, int step)
{
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows;
    REAL_NUMBER(dt, nb->dt * nbody_units_factor(&nb->units, 0, -1));
    const struct stdcl_arg args[] = {BLOCK_ARG(nb->posm),   BLOCK_ARG(nb->velo),  BLOCK_ARG(p->state),
                                     BLOCK_ARG(p->partial), VALUE_ARG(first),     VALUE_ARG(rows),
                                     VALUE_ARG(count),      VALUE_ARG(p->splits), VALUE_ARG(phases),
                                     REAL_ARG(nb, dt),      BLOCK_ARG(p->bad),    VALUE_ARG(step)};
    return nbody_device_visit(nb, p, HERMITE, p->count, 3, COUNT_OF(args), args);
}

/* Starts one of these for the first `count` of a device's bodies. */
static int visit(struct nbody *nb, struct part *p, size_t count, cl_uint phases, int step)
{
    switch (nb->integrator) {
    case NBODY_LEAPFROG:
        return visit_leapfrog(nb, p, (cl_uint)count, phases, step);
    case NBODY_HERMITE4:
        return visit_hermite(nb, p, (cl_uint)count, phases, step);
    case NBODY_TAYLOR:
        break;
    }
    return visit_taylor(nb, p, (cl_uint)count, step);
}

/* On every device that has bodies. */
static int visit_all(struct nbody *nb, cl_uint phases, int step)
{
    for (struct part *p = nb->part; p < nb->part + nb->ndev; p++)
        if (p->count && (visit(nb, p, p->count, phases, step) != 0 || clflush(nb->ctx, p->dev, 0) != 0))
            return -1;
    return 0;
}

/* The launches do nothing: no bodies attract, and none is moved. They go to all devices before any is waited
 * for, since it is compilers that take the time. */
int nbody_integrate_warm(struct nbody *nb)
{
    int status = 0;
    nb->flags = CL_EVENT_NOWAIT | CL_EVENT_UNCOUNTED;
    for (struct part *p = nb->part; status == 0 && p < nb->part + nb->ndev; p++)
        if (p->count && ((nb->kernel == NBODY_TUNED && nbody_forces_warm(nb, p) != 0) || visit(nb, p, 0, 0, 0) != 0 ||
                         clflush(nb->ctx, p->dev, 0) != 0))
            status = -1;
    nb->flags = CL_EVENT_NOWAIT;
    for (struct part *p = nb->part; p < nb->part + nb->ndev; p++)
        if (p->count && clwait(nb->ctx, p->dev, CL_KERNEL_EVENT) == (cl_event)-1)
            status = -1;
    return status;
}

int nbody_integrate_settle(struct nbody *nb)
{
    if (!uses_jerks(nb) || nb->settled)
        return 0;
    for (struct part *p = nb->part; p < nb->part + nb->ndev; p++) {
        const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, count = (cl_uint)p->count;
        const struct stdcl_arg args[] = {BLOCK_ARG(nb->posm), BLOCK_ARG(nb->velo), BLOCK_ARG(p->state),
                                         VALUE_ARG(first),    VALUE_ARG(rows),     VALUE_ARG(count)};
        if (p->count && nbody_device_visit(nb, p, SETTLE, p->count, 3, COUNT_OF(args), args) != 0)
            return -1;
    }
    nb->settled = true;
    nb->current = false;
    return 0;
}

/* Joins the partial sums into `state` and nothing else. */
static int keep_sums(struct nbody *nb)
{
    const cl_uint planes = uses_jerks(nb) ? 6 : 3;
    if (uses_jerks(nb))
        return visit_all(nb, SUM, 0);
    for (struct part *p = nb->part; p < nb->part + nb->ndev; p++) {
        const cl_uint rows = (cl_uint)p->rows;
        const struct stdcl_arg args[] = {BLOCK_ARG(p->partial), BLOCK_ARG(p->state), VALUE_ARG(rows),
                                         VALUE_ARG(p->splits)};
        if (p->count && p->partial != p->state &&
            nbody_device_visit(nb, p, JOIN, p->rows, planes, COUNT_OF(args), args) != 0)
            return -1;
    }
    return 0;
}

int nbody_integrate_prime(struct nbody *nb)
{
    if (nb->primed)
        return 0;
    if (nbody_integrate_settle(nb) != 0 || nbody_forces_evaluate(nb, uses_jerks(nb) ? JERKS : FORCES) != 0 ||
        keep_sums(nb) != 0)
        return -1;
    nb->primed = true;
    return 0;
}

/* ---- Bursts. ---------------------------------------------------------------------------------- */

/* One step from positions where forces are wanted: leapfrog and Hermite have begun it already. */
static int step(struct nbody *nb, int number, bool last)
{
    const enum kernel sum = uses_jerks(nb) ? JERKS : FORCES;
    if (nbody_forces_evaluate(nb, sum) != 0 ||
        visit_all(nb, last ? SUM | FINISH : SUM | FINISH | BEGIN, number) != 0)
        return -1;
    nb->evaluations++;
    if (nb->integrator == NBODY_TAYLOR || !last)
        nb->current = false;
    return 0;
}

/* Clears or fetches every device's note of a bad step; returns the first, INT_MAX when there is none, or
 * -1 after an error. Fetching waits for all that was started. */
static int bad_steps(struct nbody *nb, int direction)
{
    int first = INT_MAX;
    for (struct part *p = nb->part; p < nb->part + nb->ndev; p++) {
        if (!p->rows)
            continue;
        if (direction == CL_MEM_DEVICE)
            *p->bad = INT_MAX;
        if (clmsync(nb->ctx, p->dev, p->bad, direction) == (cl_event)-1 ||
            (direction == CL_MEM_HOST && clwait(nb->ctx, p->dev, CL_ALL_EVENT) == (cl_event)-1))
            return -1;
        if (direction == CL_MEM_HOST)
            p->incoming = NULL; /* waited for, and forgotten */
        first = *p->bad < first ? *p->bad : first;
    }
    return first;
}

static int burst(struct nbody *nb, size_t steps)
{
    const bool begins = nb->integrator != NBODY_TAYLOR;
    if (bad_steps(nb, CL_MEM_DEVICE) < 0 || (begins && nbody_integrate_prime(nb) != 0))
        return -1;
    if (begins) {
        if (visit_all(nb, BEGIN, 0) != 0)
            return -1;
        nb->current = false;
    }
    nb->primed = begins;
    nb->settled = false;
    for (size_t s = 1; s <= steps; s++)
        if (step(nb, (int)s, s == steps) != 0)
            return -1;
    return 0;
}

int nbody_step(nbody *nb, size_t steps)
{
    while (steps > 0) {
        const size_t now = steps < nb->burst ? steps : nb->burst;
        const int bad = burst(nb, now) == 0 ? bad_steps(nb, CL_MEM_HOST) : -1;
        if (bad < 0)
            return -1;
        nb->steps += now;
        if (bad <= (int)now + 1)
            return clerror_set(EDOM,
                               "nbody_step: a position or velocity became NaN or infinite in step %zu "
                               "(time %g); a smaller time step or a larger softening may help",
                               nb->steps - now + (size_t)bad,
                               nb->base_time +
                                   nb->dt * (double)(nb->steps - now + (size_t)bad - nb->base_steps));
        steps -= now;
    }
    return 0;
}

int nbody_set_dt(nbody *nb, double dt)
{
    if (!(dt < 0 || dt > 0) || dt - dt != 0)
        return clerror_set(EINVAL, "nbody_set_dt: a time step of %g", dt);
    nb->base_time = nbody_time(nb);
    nb->base_steps = nb->steps;
    nb->dt = dt;
    return 0;
}
