/* rungs.c - block time steps with the tree, kick-drift-kick: host part (rungs.cl).
 *
 * A block drifts all bodies to the next time at which any step ends, builds the tree of all bodies,
 * and walks it for the active bodies (their steps end), 64 at a time in the tree's order. Their
 * number follows from the number of bodies per level, which is all that the host downloads. A
 * single device is used. (GADGET: Springel 2005, MNRAS 364, 1105; step lengths by its eq. 34.)
 * SPDX-License-Identifier: MIT
 */
#include "nbody/force/tree.h"

#include "nbody/integrator/stepping.h"

#include <limits.h>
#include <math.h>

EMBEDDED(step, "nbody/integrator/step.cl", nbody_integrator_step_cl);
EMBEDDED(field, "nbody/force/external_field.cl", nbody_force_external_field_cl);
EMBEDDED(levels, "nbody/integrator/block_levels.cl", nbody_integrator_block_levels_cl);
EMBEDDED(rungs, "nbody/integrator/rungs.cl", nbody_integrator_rungs_cl);

/* As in rungs.cl. */
struct rung_clock {
    cl_int first_bad, bad;
    cl_uint count[DEEPEST + 1];
};

enum rung_kernel { LEVELS, DRIFT, MARK, GATHER, KICK, RUNG_KERNELS };
static const char *const kernel_name[RUNG_KERNELS] = {[LEVELS] = "rung_levels",
                                                      [DRIFT] = "rung_drift",
                                                      [MARK] = "rung_mark",
                                                      [GATHER] = "rung_gather",
                                                      [KICK] = "rung_kick"};

struct rungs {
    struct nbody_device *device;
    void *program;
    cl_kernel kernel[RUNG_KERNELS];
    void *level, *mark, *row, *target;
    void *target_a_old; /* |a| of the targets in the last sum */
    void *saved_a_old;  /* |a| of all bodies before the step, for a rollback */
    struct rung_clock *clock;
};

/* Progress is measured by time within the step; the operations of sums are negligible beside this.
 */
static const double STEP_WORK = 1e30;

/* ---- Making. --------------------------------------------------------------------------------- */

static int rungs_allocate(struct nbody *nb, struct rungs *r)
{
    struct {
        void **block;
        size_t size;
        int flags;
    } const each[] = {
        {&r->level, r->device->rows * sizeof(cl_uint), CL_MEM_DEVONLY},
        {&r->mark, nb->n * sizeof(cl_uint), CL_MEM_DEVONLY},
        {&r->row, nb->n * sizeof(cl_uint), CL_MEM_DEVONLY},
        {&r->target, nb->n * 4 * nb->real, CL_MEM_DEVONLY},
        {&r->target_a_old, nb->n * nb->real, CL_MEM_DEVONLY},
        {&r->saved_a_old, nb->n * nb->real, CL_MEM_DEVONLY},
        {(void **)&r->clock, sizeof *r->clock, CL_MEM_ZEROCOPY},
    };
    for (size_t b = 0; b < COUNT_OF(each); b++)
        if (!(*each[b].block = nbody_device_alloc(nb, r->device, each[b].size, each[b].flags)))
            return -1;
    return 0;
}

static int rungs_open(struct nbody *nb)
{
    const struct embedded *const before[] = {&step, &levels, &field};
    struct rungs *r = nb->integration.rungs = calloc(1, sizeof *r);
    if (!r)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    r->device = nb->device;
    while (!r->device->rows)
        r->device++;
    r->program = embedded_open(nb->ctx, nbody_has_doubles(nb) ? "-D DOUBLE" : "", &rungs,
                               COUNT_OF(before), before);
    for (int k = 0; r->program && k < RUNG_KERNELS; k++)
        if (!(r->kernel[k] = clsym(nb->ctx, r->program, kernel_name[k], 0)))
            return -1;
    return r->program ? rungs_allocate(nb, r) : -1;
}

static void rungs_free(struct nbody *nb)
{
    struct rungs *r = nb->integration.rungs;
    if (!r)
        return;
    if (r->program)
        clclose(nb->ctx, r->program);
    void *const blocks[] = {r->level,        r->mark,        r->row,  r->target,
                            r->target_a_old, r->saved_a_old, r->clock};
    for (size_t b = 0; b < COUNT_OF(blocks); b++)
        clfree(blocks[b]);
    free(r);
}

/* ---- Launches. ------------------------------------------------------------------------------- */

/* dt, and 2 eta eps, in engine units. */
struct lengths {
    double dt, want2;
};

static struct lengths rungs_lengths(const struct nbody *nb)
{
    return (struct lengths){nbody_engine_dt(nb),
                            2 * nb->eta * nb->eps * nbody_units_factor(&nb->units, -1, 0)};
}

static int rungs_start_levels(struct nbody *nb, struct rungs *r)
{
    struct nbody_device *p = r->device;
    const cl_uint rows = (cl_uint)p->rows, count = (cl_uint)p->count;
    const struct lengths l = rungs_lengths(nb);
    return nbody_device_launch_1d(
        nb, p, r->kernel[LEVELS], p->count, 1,
        ARGS(p->state, r->level, r->clock, rows, count, REAL(nb, l.dt), REAL(nb, l.want2)));
}

static int rungs_start_drift(struct nbody *nb, struct rungs *r, cl_ulong now, cl_ulong next)
{
    struct nbody_device *p = r->device;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, count = (cl_uint)p->count;
    return nbody_device_launch_1d(nb, p, r->kernel[DRIFT], p->count, 3,
                                  ARGS(nb->particles.posm, p->state, r->level, r->clock, first,
                                       rows, count, now, next, REAL(nb, rungs_lengths(nb).dt)));
}

/* Gather the active bodies in the tree's order. */
static int rungs_start_gather(struct nbody *nb, struct rungs *r, cl_ulong next)
{
    struct nbody_device *p = r->device;
    const struct tree *t = p->force.tree;
    const cl_uint first = (cl_uint)p->first, n = (cl_uint)nb->n;
    const struct arrays_scan_job scan = {.x = r->mark, .sums = r->mark, .bytes = 4, .most = nb->n};
    if (nbody_device_launch_1d(nb, p, r->kernel[MARK], nb->n, 1,
                               ARGS(t->order, r->level, first, n, next, r->mark)) != 0 ||
        arrays_scan_start(t->sorter, &scan) != 0)
        return -1;
    return nbody_device_launch_1d(nb, p, r->kernel[GATHER], nb->n, 1,
                                  ARGS(t->order, r->level, t->body, t->a_old_sorted, first, n, next,
                                       r->mark, r->target, r->target_a_old, r->row));
}

static int rungs_start_kick(struct nbody *nb, struct rungs *r, cl_uint active, cl_ulong next)
{
    struct nbody_device *p = r->device;
    const struct tree *t = p->force.tree;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows,
                  nfields = (cl_uint)nb->nfields;
    const struct lengths l = rungs_lengths(nb);
    void *const fields = nfields ? nb->force.field_table : nb->particles.posm;
    nbody_tree_walks_ended(p);
    return nbody_device_launch_1d(nb, p, r->kernel[KICK], active, 1,
                                  ARGS(nb->particles.posm, p->state,
                                       r->device->force.tree->forces_sorted, r->row, active,
                                       r->level, r->clock, t->a_old, t->deferred, first, rows, next,
                                       REAL(nb, l.dt), REAL(nb, l.want2), fields, nfields));
}

/* ---- A step of the engine. ------------------------------------------------------------------- */

static int rungs_read_clock(struct nbody *nb, struct rungs *r)
{
    return nbody_device_download(nb, r->device, r->clock, sizeof *r->clock);
}

static int rungs_begin(struct nbody *nb, struct rungs *r)
{
    struct nbody_device *p = r->device;
    *r->clock = (struct rung_clock){.first_bad = INT_MAX, .bad = INT_MAX};
    if (clmsync(nb->ctx, p->dev, r->clock, CL_MEM_DEVICE) == (cl_event)-1 ||
        nbody_device_write_bad(nb, p, INT_MAX) != 0 || rungs_start_levels(nb, r) != 0)
        return -1;
    return rungs_read_clock(nb, r);
}

/* Return the next time at which a step ends; *active: the number of bodies with such a step. */
static cl_ulong rungs_next_time(const struct rung_clock *c, cl_ulong now, cl_uint *active)
{
    int deepest = DEEPEST;
    while (deepest > 0 && c->count[deepest] == 0)
        deepest--;
    const cl_ulong next = now + (TICKS >> deepest);
    *active = 0;
    for (int level = 0; level <= DEEPEST; level++)
        *active += next & ((TICKS >> level) - 1) ? 0 : c->count[level];
    return next;
}

static int rungs_check(struct nbody *nb, const struct rungs *r)
{
    if (r->clock->bad != INT_MAX)
        return nbody_step_not_finite(nb, "eta");
    if (r->clock->first_bad != INT_MAX)
        return clerror_set(
            EDOM,
            "nbody_step: in step %zu, after time %g, the time step of body %zu (from %d on) vanishes because its "
            "acceleration is too large; increase the softening length",
            nb->integration.steps + 1, nbody_time(nb),
            nbody_number(nb, nb->particles.body[r->clock->first_bad]), nb->first_number);
    return 0;
}

static int rungs_block_step(struct nbody *nb, struct rungs *r, cl_ulong now, cl_ulong next,
                            cl_uint active)
{
    if (rungs_start_drift(nb, r, now, next) != 0)
        return -1;
    nbody_particles_moved(nb);
    if (nbody_tree_build_now(nb) != 0 || rungs_start_gather(nb, r, next) != 0 ||
        nbody_tree_walk_some(nb, r->device, r->target, r->target_a_old, active) != 0 ||
        rungs_start_kick(nb, r, active, next) != 0 || rungs_read_clock(nb, r) != 0)
        return -1;
    nb->integration.counts.blocks++;
    nb->integration.counts.steps += active;
    nb->integration.evaluations += (double)active / (double)nb->n;
    return rungs_check(nb, r);
}

static int rungs_run_step(struct nbody *nb, double done)
{
    struct rungs *r = nb->integration.rungs;
    cl_uint active;
    if (rungs_begin(nb, r) != 0 || rungs_check(nb, r) != 0)
        return -1;
    for (cl_ulong now = 0, next; now < TICKS; now = next) {
        next = rungs_next_time(r->clock, now, &active);
        if (rungs_block_step(nb, r, now, next, active) != 0)
            return -1;
        nbody_progress_set_done(nb, STEP_WORK * (done + (double)next / (double)TICKS));
        if (next < TICKS && nbody_progress_report(nb) != 0)
            return -1;
    }
    return 0;
}

/* Prepare a step and save |a| of all bodies, by which the tree opens cells, for a rollback. */
static int rungs_prepare(struct nbody *nb, struct rungs *r)
{
    if ((nbody_hilbert_due(nb) && nbody_hilbert_sort_rows(nb) != 0) ||
        nbody_integrate_init_forces(nb) != 0)
        return -1;
    return clmcopy(nb->ctx, r->device->dev, r->device->force.tree->a_old, r->saved_a_old,
                   CL_EVENT_NOWAIT) == (cl_event)-1
               ? -1
               : 0;
}

static int rungs_restore(struct nbody *nb, struct rungs *r)
{
    char *sentence = strdup(clerror());
    const int code = clerrno;
    if (clmcopy(nb->ctx, r->device->dev, r->saved_a_old, r->device->force.tree->a_old, 0) !=
            (cl_event)-1 &&
        sentence)
        clerror_set(code, "%s", sentence);
    free(sentence);
    return nb->task.stopped
               ? clerror_set(ECANCELED, "nbody_step: stopped after step %zu", nb->integration.steps)
               : -1;
}

static int rungs_run(struct nbody *nb, size_t steps)
{
    nbody_progress_begin(nb, "nbody_step", STEP_WORK * (double)steps);
    for (size_t k = 0; k < steps; k++) {
        nbody_progress_set_stoppable(nb, k > 0);
        if (nbody_progress_report(nb) != 0)
            return nb->task.stopped ? clerror_set(ECANCELED, "nbody_step: stopped after step %zu",
                                                  nb->integration.steps)
                                    : -1;
        if (rungs_prepare(nb, nb->integration.rungs) != 0)
            return -1;
        if (nbody_rollback_run(nb, rungs_run_step, (double)k) != 0)
            return rungs_restore(nb, nb->integration.rungs);
        nb->integration.steps++;
    }
    return 0;
}

static bool rungs_apply(const struct nbody *nb)
{
    return nb->stepping == NBODY_BLOCK && nb->method == NBODY_TREE;
}

const struct stepper nbody_stepper_rungs = {
    .applies = rungs_apply,
    .open = rungs_open,
    .run = rungs_run,
    .free = rungs_free,
};
