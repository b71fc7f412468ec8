/* adaptive.c - adaptive time steps shared by all bodies, for all integrators except hermite4.
 *
 * Before each step the greatest frequency w of any body is computed from positions alone
 * (timestep_criterion.cl). The step is the longest dt / 2^k that does not exceed eta^1/2 / w and
 * begins at a multiple of its length within the engine's step dt. It depends only on the current
 * positions, and all steps end together with dt, so that bits do not depend on where calls end. For
 * hermite4 see block_steps.c.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/integrator.h"

#include <limits.h>
#include <math.h>

static int adaptive_start_max(struct nbody *nb, struct nbody_device *p)
{
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, count = (cl_uint)p->count,
                  npartial = p->npartial - (nb->nfields > 0), nfields = (cl_uint)nb->nfields;
    void *const fields = nb->nfields ? nb->field_table : nb->posm;
    return nbody_device_launch_1d(
        nb, p, p->kernel[CRITERION_MAX], p->count, 1,
        ARGS(nb->posm, p->phi, first, rows, count, npartial, fields, nfields, p->bad));
}

/* Return the square of the greatest frequency; negative on error. The kernel stores it as the bits
 * of a float. */
static double adaptive_max_frequency2(struct nbody *nb)
{
    double most = 0;
    if (nbody_integrate_synchronize(nb) != 0 || nbody_forces_evaluate(nb, CRITERION) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        if (!p->count)
            continue;
        *p->bad = 0;
        if (clmsync(nb->ctx, p->dev, p->bad, CL_MEM_DEVICE) == (cl_event)-1 ||
            adaptive_start_max(nb, p) != 0 || clflush(nb->ctx, p->dev, 0) != 0)
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

/* Return the level of the step that begins at `now`, above DEEPEST if its length vanishes;
 * negative on error. */
static int adaptive_level_at(struct nbody *nb, cl_ulong now)
{
    const double w2 = adaptive_max_frequency2(nb),
                 dt = fabs(nb->dt * nbody_units_factor(&nb->units, 0, -1));
    int level = 0;
    if (w2 < 0)
        return -1;
    while (level <= DEEPEST && !(ldexp(dt, -level) * ldexp(dt, -level) * w2 <= nb->eta))
        level++;
    while (level <= DEEPEST && now & ((TICKS >> level) - 1))
        level++;
    return level;
}

static int adaptive_vanished(struct nbody *nb)
{
    double(*pos)[3] = malloc(nb->n * sizeof *pos);
    size_t a = 0, b = 0;
    if (!pos || nbody_state(nb, pos, NULL) != 0)
        return free(pos),
               clerror_set(ENOMEM, "nbody_step: out of memory on the host for %zu bodies", nb->n);
    nbody_host_closest(nb->n, pos[0], &a, &b);
    free(pos);
    return clerror_set(
        EDOM,
        "nbody_step: in step %zu, after time %g, bodies %zu and %zu (from 0 on) come so close that the time "
        "step vanishes; add a softening length",
        nb->steps + 1, nbody_time(nb), a, b);
}

/* Make the steps within a step of the engine; `done` steps of the call precede it. */
static int adaptive_run_step(struct nbody *nb, double done)
{
    const double dt = nb->dt;
    cl_ulong now = 0;
    while (now < TICKS) {
        const int level = adaptive_level_at(nb, now);
        if (level < 0 || level > DEEPEST)
            return level < 0 ? -1 : adaptive_vanished(nb);
        nb->dt = ldexp(dt, -level);
        const int bad = nbody_integrate_batch(nb, 1);
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
        if (now < TICKS && nbody_progress_report(nb) != 0)
            return -1;
    }
    return 0;
}

int nbody_adaptive_step(struct nbody *nb, size_t steps)
{
    nbody_progress_begin(nb, "nbody_step", (double)steps);
    for (size_t k = 0; k < steps; k++) {
        nb->task.stoppable = k > 0;
        if (nbody_progress_report(nb) != 0 ||
            nbody_rollback_run(nb, adaptive_run_step, (double)k) != 0)
            return nb->task.stopped
                       ? clerror_set(ECANCELED, "nbody_step: stopped after step %zu", nb->steps)
                       : -1;
        nb->steps++;
    }
    return 0;
}
