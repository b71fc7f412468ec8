/* adaptive.c - adaptive time steps shared by all bodies, for all integrators except hermite4.
 *
 * Before each step the greatest frequency w of any body is computed from positions alone
 * (timestep_criterion.cl). The step is the longest dt / 2^k that does not exceed eta^1/2 / w and
 * begins at a multiple of its length within the engine's step dt. It depends only on the current
 * positions, and all steps end together with dt, so that bits do not depend on where calls end. For
 * hermite4 see block_steps.c.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/stepping.h"

#include <limits.h>
#include <math.h>

EMBEDDED(step, "nbody/integrator/step.cl", nbody_integrator_step_cl);
EMBEDDED(field, "nbody/force/external_field.cl", nbody_force_external_field_cl);
EMBEDDED(adaptive, "nbody/integrator/adaptive.cl", nbody_integrator_adaptive_cl);

static bool adaptive_applies(const struct nbody *nb)
{
    return nbody_stepping_needs_criterion(nb);
}

static int adaptive_open(struct nbody *nb)
{
    const struct embedded *const before[] = {&step, &field};
    void *const program = nb->integration.criterion_program = embedded_open(
        nb->ctx, nbody_has_doubles(nb) ? "-D DOUBLE" : "", &adaptive, COUNT_OF(before), before);
    nb->integration.criterion_max =
        program ? clsym(nb->ctx, program, "timestep_criterion_max", 0) : NULL;
    return nb->integration.criterion_max ? 0 : -1;
}

static void adaptive_free(struct nbody *nb)
{
    if (nb->integration.criterion_program)
        clclose(nb->ctx, nb->integration.criterion_program);
}

static int adaptive_start_max(struct nbody *nb, struct nbody_device *p)
{
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, count = (cl_uint)p->count,
                  npartial = p->force.npartial - (nb->nfields > 0), nfields = (cl_uint)nb->nfields;
    void *const fields = nb->nfields ? nb->force.field_table : nb->particles.posm;
    return nbody_device_launch_1d(nb, p, nb->integration.criterion_max, p->count, 1,
                                  ARGS(nb->particles.posm, p->force.phi, first, rows, count,
                                       npartial, fields, nfields, p->bad));
}

/* Return the square of the greatest frequency; negative on error. The kernel stores it as the bits
 * of a float. */
static double adaptive_max_frequency2(struct nbody *nb)
{
    double most = 0;
    if (nbody_integrate_synchronize(nb) != 0 || nbody_forces_evaluate(nb, CRITERION, -1) != 0)
        return -1;
    for (struct nbody_device *p = nb->device; p < nb->device + nb->ndev; p++) {
        if (!p->count)
            continue;
        if (nbody_device_write_bad(nb, p, 0) != 0 || adaptive_start_max(nb, p) != 0 ||
            clflush(nb->ctx, p->dev, 0) != 0)
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

int nbody_adaptive_align(int level, cl_ulong now)
{
    while (level <= DEEPEST && now & ((TICKS >> level) - 1))
        level++;
    return level;
}

int nbody_adaptive_level(const struct nbody *nb, double w2, cl_ulong now)
{
    const double dt = fabs(nbody_engine_dt(nb));
    int level = 0;
    while (level <= DEEPEST && !(ldexp(dt, -level) * ldexp(dt, -level) * w2 <= nb->eta))
        level++;
    return nbody_adaptive_align(level, now);
}

static int adaptive_vanished(struct nbody *nb)
{
    double(*pos)[3] = malloc(nb->n * sizeof *pos);
    if (!pos || nbody_state(nb, pos, NULL) != 0)
        return free(pos),
               clerror_set(ENOMEM, "nbody_step: out of memory on the host for %zu bodies", nb->n);
    const int status = nbody_step_vanished(nb, pos[0]);
    free(pos);
    return status;
}

/* Make the inner steps of a step of the engine from *tick on, up to a contact; `done` steps of the
 * call precede it. */
static int adaptive_run_inner(struct nbody *nb, struct watch_path *path, double done,
                              cl_ulong *tick)
{
    const double dt = nb->integration.dt;
    int contact = 0;
    cl_ulong now = *tick;
    while (now < TICKS && !contact) {
        const double w2 = adaptive_max_frequency2(nb);
        if (w2 < 0)
            return -1;
        const int level = nbody_adaptive_level(nb, w2, now);
        if (level > DEEPEST)
            return adaptive_vanished(nb);
        nb->integration.dt = ldexp(dt, -level);
        const int bad = nbody_integrate_batch(nb, 1);
        nb->integration.dt = dt;
        if (bad < 0)
            return -1;
        if (bad <= 2)
            return nbody_step_not_finite(nb, "eta");
        now += TICKS >> level;
        nb->integration.counts.blocks++;
        nb->integration.counts.steps += (double)nb->n;
        nbody_progress_set_done(nb, done + (double)now / (double)TICKS);
        contact = nbody_watch_inner_step(nb, path, ldexp(nbody_engine_dt(nb), -level));
        if (contact < 0 || (now < TICKS && !contact && nbody_progress_report(nb) != 0))
            return -1;
    }
    *tick = now;
    return 0;
}

/* Make a step of the engine, or complete it, up to a contact. */
static int adaptive_run_step(struct nbody *nb, double done)
{
    struct watch_path path;
    cl_ulong tick = nbody_watch_tick(nb);
    int status = nbody_watch_open(nb, &path, NULL);
    if (status == 0)
        status = adaptive_run_inner(nb, &path, done, &tick);
    if (status == 0)
        nbody_watch_set_tick(nb, tick);
    nbody_watch_close(&path);
    return status;
}

static int adaptive_run(struct nbody *nb, size_t steps)
{
    nbody_progress_begin(nb, "nbody_step", (double)steps);
    for (size_t k = 0; k < steps && !nbody_watch_ends(nb); k++) {
        nbody_progress_set_stoppable(nb, k > 0);
        if (nbody_progress_report(nb) != 0 ||
            nbody_rollback_run(nb, adaptive_run_step, (double)k) != 0)
            return nb->task.stopped ? clerror_set(ECANCELED, "nbody_step: stopped after step %zu",
                                                  nb->integration.steps)
                                    : -1;
    }
    return 0;
}

const struct stepper nbody_stepper_adaptive = {
    .applies = adaptive_applies,
    .open = adaptive_open,
    .run = adaptive_run,
    .watches = adaptive_applies,
    .free = adaptive_free,
};
