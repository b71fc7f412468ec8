/* rungs.c - kick-drift-kick by the tree with a step of its own for each body: the host's part
 * (rungs.cl).
 *
 * A block step drifts all bodies to the next time at which any step ends, makes the tree of all of
 * them, and walks it for those whose steps end, 64 at a time in the tree's order. How many these
 * are follows from how many bodies have which step: that line is all the host reads. One device
 * does it all. (GADGET: Springel 2005, MNRAS 364, 1105; steps as its eq. 34.)
 * SPDX-License-Identifier: MIT
 */
#include "nbody/tree.h"

#include "nbody/integrate.h"

#include <limits.h>
#include <math.h>

EMBEDDED(step, "nbody/step.cl", nbody_step_cl);
EMBEDDED(field, "nbody/external_field.cl", nbody_external_field_cl);
EMBEDDED(levels, "nbody/levels.cl", nbody_levels_cl);
EMBEDDED(rungs, "nbody/rungs.cl", nbody_rungs_cl);

/* As rungs.cl has it. */
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
    struct nbody_device *share; /* the device's */
    void *program;
    cl_kernel kernel[RUNG_KERNELS];
    void *level, *mark, *row, *target, *feel,
        *felt; /* felt: the tree's, as it was before the step */
    struct rung_clock *clock;
};

/* How far a step of the engine is, its own time tells: beside this the operations of its sums are
 * nothing. */
static const double STEP_WORK = 1e30;

/* ---- Making. --------------------------------------------------------------------------------- */

static int place(struct nbody *nb, struct rungs *r)
{
    struct {
        void **block;
        size_t size;
        int flags;
    } const each[] = {
        {&r->level, r->share->rows * sizeof(cl_uint), CL_MEM_DEVONLY},
        {&r->mark, nb->n * sizeof(cl_uint), CL_MEM_DEVONLY},
        {&r->row, nb->n * sizeof(cl_uint), CL_MEM_DEVONLY},
        {&r->target, nb->n * 4 * nb->real, CL_MEM_DEVONLY},
        {&r->feel, nb->n * nb->real, CL_MEM_DEVONLY},
        {&r->felt, nb->n * nb->real, CL_MEM_DEVONLY},
        {(void **)&r->clock, sizeof *r->clock, CL_MEM_ZEROCOPY},
    };
    for (size_t b = 0; b < COUNT_OF(each); b++)
        if (!(*each[b].block = nbody_device_alloc(nb, r->share, each[b].size, each[b].flags)))
            return -1;
    return 0;
}

int nbody_rungs_open(struct nbody *nb)
{
    const struct embedded *const before[] = {&step, &levels, &field};
    if (nb->stepping != NBODY_BLOCK || nb->method != NBODY_TREE)
        return 0;
    struct rungs *r = nb->rungs = calloc(1, sizeof *r);
    if (!r)
        return clerror_set(ENOMEM, "nbody_create: no memory on the host");
    r->share = nb->device;
    while (!r->share->rows)
        r->share++;
    r->program = embedded_open(nb->ctx, nbody_has_doubles(nb) ? "-D DOUBLE" : "", &rungs,
                               COUNT_OF(before), before);
    for (int k = 0; r->program && k < RUNG_KERNELS; k++)
        if (!(r->kernel[k] = clsym(nb->ctx, r->program, kernel_name[k], 0)))
            return -1;
    return r->program ? place(nb, r) : -1;
}

void nbody_rungs_free(struct nbody *nb)
{
    struct rungs *r = nb->rungs;
    if (!r)
        return;
    if (r->program)
        clclose(nb->ctx, r->program);
    void *const blocks[] = {r->level, r->mark, r->row, r->target, r->feel, r->felt, r->clock};
    for (size_t b = 0; b < COUNT_OF(blocks); b++)
        clfree(blocks[b]);
    free(r);
}

/* ---- Launches. ------------------------------------------------------------------------------- */

/* In the engine's units: dt, and 2 eta eps. */
struct lengths {
    double dt, want2;
};

static struct lengths lengths_of(const struct nbody *nb)
{
    return (struct lengths){nb->dt * nbody_units_factor(&nb->units, 0, -1),
                            2 * nb->eta * nb->eps * nbody_units_factor(&nb->units, -1, 0)};
}

static int start_levels(struct nbody *nb, struct rungs *r)
{
    struct nbody_device *p = r->share;
    const cl_uint rows = (cl_uint)p->rows, count = (cl_uint)p->count;
    const struct lengths l = lengths_of(nb);
    return nbody_device_launch_1d(
        nb, p, r->kernel[LEVELS], p->count, 1,
        ARGS(p->state, r->level, r->clock, rows, count, REAL(nb, l.dt), REAL(nb, l.want2)));
}

static int start_drift(struct nbody *nb, struct rungs *r, cl_ulong now, cl_ulong next)
{
    struct nbody_device *p = r->share;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, count = (cl_uint)p->count;
    return nbody_device_launch_1d(nb, p, r->kernel[DRIFT], p->count, 3,
                                  ARGS(nb->posm, p->state, r->level, r->clock, first, rows, count,
                                       now, next, REAL(nb, lengths_of(nb).dt)));
}

/* The bodies whose steps end, from the tree's order. */
static int start_gather(struct nbody *nb, struct rungs *r, cl_ulong next)
{
    struct nbody_device *p = r->share;
    const struct tree *t = p->tree;
    const cl_uint first = (cl_uint)p->first, n = (cl_uint)nb->n;
    const struct arrays_scan_job scan = {.x = r->mark, .sums = r->mark, .bytes = 4, .most = nb->n};
    return nbody_device_launch_1d(nb, p, r->kernel[MARK], nb->n, 1,
                                  ARGS(t->order, r->level, first, n, next, r->mark)) != 0 ||
                   arrays_scan_start(t->sorter, &scan) != 0
               ? -1
               : nbody_device_launch_1d(nb, p, r->kernel[GATHER], nb->n, 1,
                                        ARGS(t->order, r->level, t->body, t->feel, first, n, next,
                                             r->mark, r->target, r->feel, r->row));
}

static int start_kick(struct nbody *nb, struct rungs *r, cl_uint active, cl_ulong next)
{
    struct nbody_device *p = r->share;
    struct tree *t = p->tree;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows,
                  nfields = (cl_uint)nb->nfields;
    const struct lengths l = lengths_of(nb);
    void *const fields = nfields ? nb->field_table : nb->posm;
    t->walking = false;
    t->gathered = false; /* what bodies felt is not what they feel now */
    return nbody_device_launch_1d(nb, p, r->kernel[KICK], active, 1,
                                  ARGS(nb->posm, p->state, nb->forces_sorted, r->row, active,
                                       r->level, r->clock, t->felt, t->again, first, rows, next,
                                       REAL(nb, l.dt), REAL(nb, l.want2), fields, nfields));
}

/* ---- A step of the engine. ------------------------------------------------------------------- */

static int read_clock(struct nbody *nb, struct rungs *r)
{
    return nbody_device_download(nb, r->share, r->clock, sizeof *r->clock);
}

static int begin(struct nbody *nb, struct rungs *r)
{
    struct nbody_device *p = r->share;
    *r->clock = (struct rung_clock){.first_bad = INT_MAX, .bad = INT_MAX};
    *p->bad = INT_MAX;
    if (clmsync(nb->ctx, p->dev, r->clock, CL_MEM_DEVICE) == (cl_event)-1 ||
        clmsync(nb->ctx, p->dev, p->bad, CL_MEM_DEVICE) == (cl_event)-1 || start_levels(nb, r) != 0)
        return -1;
    return read_clock(nb, r);
}

/* When the next steps end, and of how many bodies. */
static cl_ulong next_end(const struct rung_clock *c, cl_ulong now, cl_uint *active)
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

static int check(struct nbody *nb, const struct rungs *r)
{
    if (r->clock->bad != INT_MAX)
        return clerror_set(
            EDOM,
            "nbody_step: a position or velocity became NaN or infinite in step %zu (time %g); a smaller eta or a "
            "larger softening may help",
            nb->steps + 1, nbody_time(nb) + nb->dt);
    if (r->clock->first_bad != INT_MAX)
        return clerror_set(
            EDOM,
            "nbody_step: in step %zu, after time %g, the steps of body %u (from 0 on) vanish, so strong is its "
            "acceleration; a larger softening helps",
            nb->steps + 1, nbody_time(nb), nb->body[r->clock->first_bad]);
    return 0;
}

static int block_step(struct nbody *nb, struct rungs *r, cl_ulong now, cl_ulong next,
                      cl_uint active)
{
    if (start_drift(nb, r, now, next) != 0 || nbody_tree_build_now(nb) != 0 ||
        start_gather(nb, r, next) != 0 ||
        nbody_tree_walk_some(nb, r->share, r->target, r->feel, active) != 0 ||
        start_kick(nb, r, active, next) != 0 || read_clock(nb, r) != 0)
        return -1;
    nb->counts.blocks++;
    nb->counts.steps += active;
    nb->evaluations += (double)active / (double)nb->n;
    return check(nb, r);
}

static int run(struct nbody *nb, double done)
{
    struct rungs *r = nb->rungs;
    cl_uint active;
    if (begin(nb, r) != 0 || check(nb, r) != 0)
        return -1;
    for (cl_ulong now = 0, next; now < TICKS; now = next) {
        next = next_end(r->clock, now, &active);
        if (block_step(nb, r, now, next, active) != 0)
            return -1;
        nb->task.done = STEP_WORK * (done + (double)next / (double)TICKS);
        if (next < TICKS && nbody_task_tell(nb) != 0)
            return -1;
    }
    return 0;
}

/* What a step begins with, and goes back to when it is stopped: the tree opens cells by what bodies
 * felt. */
static int prepare(struct nbody *nb, struct rungs *r)
{
    if ((nbody_hilbert_due(nb) && nbody_hilbert_sort_rows(nb) != 0) ||
        nbody_integrate_init_forces(nb) != 0)
        return -1;
    return clmcopy(nb->ctx, r->share->dev, r->share->tree->felt, r->felt, CL_EVENT_NOWAIT) ==
                   (cl_event)-1
               ? -1
               : 0;
}

static int go_back(struct nbody *nb, struct rungs *r)
{
    char *sentence = strdup(clerror());
    const int code = clerrno;
    if (clmcopy(nb->ctx, r->share->dev, r->felt, r->share->tree->felt, 0) != (cl_event)-1 &&
        sentence)
        clerror_set(code, "%s", sentence);
    free(sentence);
    return nb->task.stopped
               ? clerror_set(ECANCELED, "nbody_step: stopped after step %zu", nb->steps)
               : -1;
}

int nbody_rungs_step(struct nbody *nb, size_t steps)
{
    nbody_task_begin(nb, "nbody_step", STEP_WORK * (double)steps);
    for (size_t k = 0; k < steps; k++) {
        nb->task.stoppable = k > 0;
        if (nbody_task_tell(nb) != 0)
            return nb->task.stopped
                       ? clerror_set(ECANCELED, "nbody_step: stopped after step %zu", nb->steps)
                       : -1;
        if (prepare(nb, nb->rungs) != 0)
            return -1;
        if (nbody_task_whole(nb, run, (double)k) != 0)
            return go_back(nb, nb->rungs);
        nb->steps++;
    }
    return 0;
}
