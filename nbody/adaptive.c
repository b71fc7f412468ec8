/* adaptive.c - steps that all bodies share and that follow the motion, for all integrators but
 * hermite4.
 *
 * Before each step the greatest frequency w of any body is found, by positions alone
 * (timestep_criterion.cl); the step is the longest of dt / 2^k that is no longer than eta^1/2 / w
 * and begins at a multiple of itself within the engine's step dt. So it depends on the bodies'
 * positions and on nothing else, and all ends together with dt: bits do not depend on where calls
 * end. That of hermite4 is block_steps.c. SPDX-License-Identifier: MIT
 */
#include "nbody/integrate.h"

#include <limits.h>
#include <math.h>

static int start_largest(struct nbody *nb, struct nbody_device *p)
{
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, count = (cl_uint)p->count,
                  slots = p->slots - (nb->nfields > 0), nfields = (cl_uint)nb->nfields;
    void *const fields = nb->nfields ? nb->field_table : nb->posm;
    return nbody_device_launch_1d(
        nb, p, p->kernel[LARGEST], p->count, 1,
        ARGS(nb->posm, p->phi, first, rows, count, slots, fields, nfields, p->bad));
}

/* The square of the greatest frequency; negative after an error. The kernel leaves it as the bits
 * of a float. */
static double greatest(struct nbody *nb)
{
    double most = 0;
    if (nbody_integrate_synchronize(nb) != 0 || nbody_forces_evaluate(nb, TIDES) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        if (!p->count)
            continue;
        *p->bad = 0;
        if (clmsync(nb->ctx, p->dev, p->bad, CL_MEM_DEVICE) == (cl_event)-1 ||
            start_largest(nb, p) != 0 || clflush(nb->ctx, p->dev, 0) != 0)
            return -1;
    }
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        float found;
        if (!p->count)
            continue;
        if (nbody_device_download(nb, p, p->bad, sizeof *p->bad) != 0)
            return -1;
        memcpy(&found, p->bad, sizeof found);
        most = fmax(most, (double)found);
    }
    return most;
}

/* The level of the step at `now`, above DEEPEST when it vanishes; negative after an error. */
static int level_at(struct nbody *nb, cl_ulong now)
{
    const double w2 = greatest(nb), dt = fabs(nb->dt * nbody_units_factor(&nb->units, 0, -1));
    int level = 0;
    if (w2 < 0)
        return -1;
    while (level <= DEEPEST && !(ldexp(dt, -level) * ldexp(dt, -level) * w2 <= nb->eta))
        level++;
    while (level <= DEEPEST && now & ((TICKS >> level) - 1))
        level++;
    return level;
}

static int vanished(struct nbody *nb)
{
    double(*pos)[3] = malloc(nb->n * sizeof *pos);
    size_t a = 0, b = 0;
    if (!pos || nbody_state(nb, pos, NULL) != 0)
        return free(pos),
               clerror_set(ENOMEM, "nbody_step: no memory on the host for %zu bodies", nb->n);
    nbody_host_closest(nb->n, pos[0], &a, &b);
    free(pos);
    return clerror_set(
        EDOM,
        "nbody_step: in step %zu, after time %g, bodies %zu and %zu (from 0 on) come so close that steps "
        "vanish; a softening helps",
        nb->steps + 1, nbody_time(nb), a, b);
}

/* Steps until the engine's step ends, at `done` of the call. */
static int run(struct nbody *nb, double done)
{
    const double dt = nb->dt;
    cl_ulong now = 0;
    while (now < TICKS) {
        const int level = level_at(nb, now);
        if (level < 0 || level > DEEPEST)
            return level < 0 ? -1 : vanished(nb);
        nb->dt = ldexp(dt, -level);
        const int bad = nbody_integrate_burst(nb, 1);
        nb->dt = dt;
        if (bad < 0)
            return -1;
        if (bad <= 2)
            return clerror_set(
                EDOM,
                "nbody_step: a position or velocity became NaN or infinite in step %zu (time %g); a smaller eta or a "
                "larger softening may help",
                nb->steps + 1, nbody_time(nb) + nb->dt);
        now += TICKS >> level;
        nb->counts.blocks++;
        nb->counts.steps += (double)nb->n;
        nb->task.done = done + (double)now / (double)TICKS;
        if (now < TICKS && nbody_task_tell(nb) != 0)
            return -1;
    }
    return 0;
}

int nbody_adaptive_step(struct nbody *nb, size_t steps)
{
    nbody_task_begin(nb, "nbody_step", (double)steps);
    for (size_t k = 0; k < steps; k++) {
        nb->task.stoppable = k > 0;
        if (nbody_task_tell(nb) != 0 || nbody_task_whole(nb, run, (double)k) != 0)
            return nb->task.stopped
                       ? clerror_set(ECANCELED, "nbody_step: stopped after step %zu", nb->steps)
                       : -1;
        nb->steps++;
    }
    return 0;
}
