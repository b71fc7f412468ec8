/* block_steps.c - block time steps (individual, or shared and adaptive) within a step of the
 * engine: host part.
 *
 * The device decides which bodies' steps end next and how long their next steps are
 * (block_steps.cl). The host enqueues many blocks without waiting, then downloads the clock: the
 * time reached, and the number of bodies per level. A single device is used, since most blocks have
 * few bodies.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/integrator/block_steps.h"

#include "core/round.h"

#include <limits.h>
#include <math.h>

EMBEDDED(root, "nbody/force/root.cl", nbody_force_root_cl);
EMBEDDED(pairs, "nbody/force/pairs.cl", nbody_force_pairs_cl);
EMBEDDED(step, "nbody/integrator/step.cl", nbody_integrator_step_cl);
EMBEDDED(field, "nbody/force/external_field.cl", nbody_force_external_field_cl);
EMBEDDED(levels, "nbody/integrator/block_levels.cl", nbody_integrator_block_levels_cl);
EMBEDDED(block_steps, "nbody/integrator/block_steps.cl", nbody_integrator_block_steps_cl);
EMBEDDED(block_forces, "nbody/force/block_forces.cl", nbody_force_block_forces_cl);

static const char *const kernel_name[BLOCK_KERNELS] = {[LEVELS] = "block_levels",
                                                       [PREDICT] = "block_predict",
                                                       [CORRECT] = "block_correct",
                                                       [BLOCK_FORCES] = "block_forces"};

enum {
    PIECE = 32, /* as in block_forces.cl */
    MAX_CHUNKS = 64,
    MAX_LANES = 16,
    LOCAL_BYTES = 32 << 10,
    GROUPS_PER_UNIT = 16, /* more than fit at a time */
    MAX_BLOCKS = 256
};
static const double BATCH_SECONDS = 0.1; /* target time between downloads of the clock */

/* ---- Making. --------------------------------------------------------------------------------- */

/* Chunks are whole pieces, and there are enough of them to occupy a large device with ten active
 * bodies. */
static void block_steps_choose_chunks(const struct nbody *nb, struct blocks *b)
{
    size_t wanted = nb->n / (PIECE * MAX_LANES);
    wanted = wanted < 1 ? 1 : wanted < MAX_CHUNKS ? wanted : MAX_CHUNKS;
    b->chunk = round_up(divide_up(nb->n, wanted), PIECE);
    b->chunks = divide_up(nb->n, b->chunk);
    const size_t filling =
                     (size_t)b->device->shape.groups_per_unit * b->device->compute_units * b->width,
                 most = ((size_t)1 << 22) / b->chunks;
    b->max_partial = filling < most ? filling : most;
    b->max_partial = b->max_partial < b->device->rows ? b->max_partial : b->device->rows;
}

/* Maximum number of items that share a body. */
static int block_steps_max_lanes(const struct nbody *nb, const struct nbody_shape *s)
{
    int lanes = (size_t)(9 * s->group * s->width) * nb->real > LOCAL_BYTES ? 1 : MAX_LANES;
    while (s->group % lanes)
        lanes /= 2;
    return lanes;
}

/* Open block_forces.cl, whose tiles and blocks are pieces. */
static void *block_steps_open_forces(const struct nbody *nb, const struct nbody_device *p)
{
    const struct embedded *const before[] = {&root, &pairs};
    struct nbody_device pieces = *p;
    pieces.shape.tile = pieces.shape.block = PIECE;
    pieces.shape.items = pieces.shape.j_split = 1;
    pieces.shape.local = pieces.shape.prefetch = 0;
    char options[512];
    nbody_shape_options(nb, &pieces, nbody_has_doubles(nb), options, sizeof options);
    const size_t used = strlen(options);
    snprintf(options + used, sizeof options - used, " -D LANES=%d",
             block_steps_max_lanes(nb, &p->shape));
    return embedded_open(nb->ctx, options, &block_forces, 2, before);
}

static int block_steps_open_kernels(struct nbody *nb, struct blocks *b)
{
    const struct embedded *const before[] = {&step, &levels, &field};
    const char *const options = nbody_has_doubles(nb) ? "-D DOUBLE" : "";
    b->program[0] = embedded_open(nb->ctx, options, &block_steps, 3, before);
    b->program[1] = b->program[0] ? block_steps_open_forces(nb, b->device) : NULL;
    if (!b->program[1])
        return -1;
    for (int k = 0; k < BLOCK_KERNELS; k++)
        if (!(b->kernel[k] = clsym(nb->ctx, b->program[k == BLOCK_FORCES], kernel_name[k], 0)))
            return -1;
    return 0;
}

static int block_steps_allocate(struct nbody *nb, struct blocks *b)
{
    struct nbody_device *p = b->device;
    const size_t npartial =
        p->rows > b->max_partial * b->chunks ? p->rows : b->max_partial * b->chunks;
    b->level = nbody_device_alloc(nb, p, p->rows * sizeof(cl_uint), CL_MEM_DEVONLY);
    b->list = nbody_device_alloc(nb, p, p->rows * sizeof(cl_uint), CL_MEM_DEVONLY);
    b->partial = nbody_device_alloc(nb, p, 6 * npartial * nb->real, CL_MEM_DEVONLY);
    b->clock = nbody_device_alloc(nb, p, sizeof *b->clock, CL_MEM_ZEROCOPY);
    return b->level && b->list && b->partial && b->clock ? 0 : -1;
}

static int block_steps_open(struct nbody *nb)
{
    struct blocks *b = nb->integration.blocks = calloc(1, sizeof *b);
    if (!b)
        return clerror_set(ENOMEM, "nbody_create: out of memory on the host");
    b->device = nb->device;
    while (!b->device->rows)
        b->device++;
    b->width = (size_t)(b->device->shape.group * b->device->shape.width);
    b->batch = b->last = 8;
    block_steps_choose_chunks(nb, b);
    if (block_steps_open_kernels(nb, b) != 0)
        return -1;
    return block_steps_allocate(nb, b) != 0 ? -1 : 0;
}

static void block_steps_free(struct nbody *nb)
{
    struct blocks *b = nb->integration.blocks;
    if (!b)
        return;
    for (int i = 0; i < 2; i++)
        if (b->program[i])
            clclose(nb->ctx, b->program[i]);
    clfree(b->level);
    clfree(b->list);
    clfree(b->partial);
    clfree(b->clock);
    free(b);
}

/* ---- Launches. ------------------------------------------------------------------------------- */

static int block_steps_start_levels(struct nbody *nb, struct blocks *b)
{
    struct nbody_device *p = b->device;
    const cl_uint rows = (cl_uint)p->rows, count = (cl_uint)p->count;
    return nbody_device_launch_1d(nb, p, b->kernel[LEVELS], p->count, 1,
                                  ARGS(p->state, b->level, b->clock, rows, count,
                                       REAL(nb, nbody_engine_dt(nb)), REAL(nb, sqrt(nb->eta))));
}

static int block_steps_start_predict(struct nbody *nb, struct blocks *b, double tick_length,
                                     cl_uint turn)
{
    struct nbody_device *p = b->device;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, count = (cl_uint)p->count,
                  shared = nb->stepping == NBODY_ADAPTIVE;
    return nbody_device_launch_1d(nb, p, b->kernel[PREDICT], p->count, 1,
                                  ARGS(nb->particles.posm, nb->particles.velo, p->state, b->level,
                                       b->list, b->clock, first, rows, count, REAL(nb, tick_length),
                                       turn, shared));
}

static int block_steps_start_forces(struct nbody *nb, struct blocks *b, cl_uint turn, cl_uint part,
                                    cl_uint parts)
{
    struct nbody_device *p = b->device;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows,
                  max_partial = (cl_uint)b->max_partial, chunk = (cl_uint)b->chunk,
                  chunks = (cl_uint)b->chunks, end = (cl_uint)round_up(nb->n, PIECE);
    const size_t group = (size_t)p->shape.group,
                 groups = GROUPS_PER_UNIT * (size_t)p->compute_units,
                 most = divide_up(p->count, b->width) * b->chunks * MAX_LANES;
    clndrange_t ndr = clndrange_init1d(0, group * (groups < most ? groups : most), group);
    bool none;
    const double eps2 = nbody_forces_softening(nb, JERKS, &none);
    return clforkv(nb->ctx, p->dev, b->kernel[BLOCK_FORCES], &ndr, nb->flags | CL_EVENT_CHECKED,
                   ARGS(nb->particles.posm, nb->particles.velo, b->partial, b->list, b->clock,
                        first, rows, max_partial, chunk, chunks, end, REAL(nb, eps2),
                        REAL(nb, none ? eps2 : -1), turn, part, parts)) == (cl_event)-1
               ? -1
               : 0;
}

static int block_steps_start_correct(struct nbody *nb, struct blocks *b, double tick_length,
                                     cl_uint turn)
{
    struct nbody_device *p = b->device;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows,
                  max_partial = (cl_uint)b->max_partial, npartial = (cl_uint)b->chunks,
                  shared = nb->stepping == NBODY_ADAPTIVE, nfields = (cl_uint)nb->nfields;
    const int number = 1;
    void *const fields = nfields ? nb->force.field_table : nb->particles.posm;
    return nbody_device_launch_1d(
        nb, p, b->kernel[CORRECT], p->count, 1,
        ARGS(nb->particles.posm, nb->particles.velo, p->state, b->partial, b->level, b->list,
             b->clock, first, rows, REAL(nb, tick_length), max_partial, npartial, REAL(nb, nb->eta),
             turn, shared, fields, nfields, p->bad, number));
}

/* Number of launches of block_forces in a block. Only the device knows how many bodies are active,
 * and a sum for all bodies may take long; the list is cut so that even then no launch exceeds a
 * slice of time. */
static cl_uint block_steps_force_launches(const struct nbody *nb, const struct blocks *b)
{
    const double work = nbody_forces_sum_of(JERKS)->flops * (double)nb->n * (double)nb->n,
                 rate = fmax(b->rate, b->device->pace.rate),
                 packs = ceil((double)nb->n / (double)b->width);
    return (cl_uint)fmax(1, fmin(ceil(work / (rate * b->device->pace.seconds)), packs));
}

static int block_steps_start_block(struct nbody *nb, struct blocks *b, cl_uint turn, cl_uint parts)
{
    const double tick = ldexp(nbody_engine_dt(nb), -DEEPEST);
    if (block_steps_start_predict(nb, b, tick, turn) != 0)
        return -1;
    for (cl_uint part = 0; part < parts; part++)
        if (block_steps_start_forces(nb, b, turn, part, parts) != 0)
            return -1;
    return block_steps_start_correct(nb, b, tick, turn);
}

/* ---- A step of the engine. ------------------------------------------------------------------- */

static int block_steps_begin(struct nbody *nb, struct blocks *b)
{
    struct nbody_device *p = b->device;
    *b->clock = (struct block_clock){.now = {nbody_watch_tick(nb)}, .first_bad = INT_MAX};
    if (clmsync(nb->ctx, p->dev, b->clock, CL_MEM_DEVICE) == (cl_event)-1 ||
        nbody_device_write_bad(nb, p, INT_MAX) != 0 || nbody_integrate_init_forces(nb) != 0 ||
        block_steps_start_levels(nb, b) != 0)
        return -1;
    nb->integration.valid.synchronized = false;
    nbody_particles_moved(nb);
    return 0;
}

/* Upper bound of the remaining blocks, if no body's step becomes shorter. Before the first
 * download, the number of blocks of the previous step. */
static size_t block_steps_remaining(const struct blocks *b, cl_ulong now)
{
    const struct block_clock *c = b->clock;
    int deepest = DEEPEST;
    if (c->blocks == 0)
        return b->last;
    while (deepest > 0 && c->count[deepest] == 0)
        deepest--;
    const cl_ulong blocks = (TICKS - now) >> (DEEPEST - deepest);
    return blocks < MAX_BLOCKS ? (size_t)blocks + 1 : MAX_BLOCKS;
}

/* Enqueue some blocks, wait and download the clock. *turn is the clock's half of the next block. */
static int block_steps_run_batch(struct nbody *nb, struct blocks *b, cl_uint *turn)
{
    const double since = seconds_now(), pulled = (double)b->clock->pulled;
    const size_t most = nb->integration.watch.radius
                            ? 1 /* contacts are looked for after each block */
                            : block_steps_remaining(b, b->clock->now[*turn]),
                 blocks = b->batch < most ? b->batch : most;
    const cl_uint parts = block_steps_force_launches(nb, b);
    for (size_t k = 0; k < blocks; k++, *turn = !*turn)
        if (block_steps_start_block(nb, b, *turn, parts) != 0)
            return -1;
    if (nbody_device_download(nb, b->device, b->clock, sizeof *b->clock) != 0)
        return -1;
    const double took = seconds_now() - since, done = (double)b->clock->pulled - pulled;
    b->rate = fmax(b->rate, done * (double)nb->n * nbody_forces_sum_of(JERKS)->flops / took);
    nb->integration.evaluations += done / (double)nb->n;
    if (blocks == b->batch)
        b->batch = took < BATCH_SECONDS / 2               ? 2 * b->batch
                   : took > BATCH_SECONDS && b->batch > 1 ? b->batch / 2
                                                          : b->batch;
    b->batch = b->batch < MAX_BLOCKS ? b->batch : MAX_BLOCKS;
    return 0;
}

/* Return the body nearest to body i. */
static size_t block_steps_nearest(const struct nbody *nb, const struct nbody_device *p, size_t i)
{
    double least = INFINITY;
    size_t found = i;
    for (size_t j = 0; j < p->count; j++) {
        double r2 = 0;
        for (size_t c = 0; c < 3; c++) {
            const double d = nbody_real_get(nb, p->state, (STATE_POS + c) * p->rows + j) -
                             nbody_real_get(nb, p->state, (STATE_POS + c) * p->rows + i);
            r2 += d * d;
        }
        if (j != i && r2 < least) {
            least = r2;
            found = j;
        }
    }
    return found;
}

/* EDOM if a number is not finite or a step vanishes. */
static int block_steps_check(struct nbody *nb, const struct blocks *b)
{
    struct nbody_device *p = b->device;
    if (nbody_device_download(nb, p, p->bad, sizeof *p->bad) != 0)
        return -1;
    if (*p->bad != INT_MAX)
        return nbody_step_not_finite(nb, "eta");
    if (b->clock->first_bad == INT_MAX)
        return 0;
    const size_t i = (size_t)b->clock->first_bad, plane = p->rows * nb->real;
    if (nbody_device_download(nb, p, (char *)p->state + STATE_POS * plane, 3 * plane) != 0)
        return -1;
    const size_t j = block_steps_nearest(nb, p, i);
    return nbody_step_vanished_between(nb, i < j ? i : j, i < j ? j : i);
}

/* Look for contacts in the last block, `ticks` long, like nbody_watch_inner_step. */
static int block_steps_find_contacts(struct nbody *nb, struct watch_path *path, cl_ulong ticks)
{
    const int contact =
        nbody_watch_inner_step(nb, path, ldexp(nbody_engine_dt(nb), -DEEPEST) * (double)ticks);
    if (path->old_x)
        nb->integration.valid.synchronized = false; /* the next block predicts */
    return contact;
}

/* Run blocks to the end of the engine's step, or to a contact. */
static int block_steps_run_blocks(struct nbody *nb, struct blocks *b, struct watch_path *path,
                                  double done)
{
    cl_uint turn = 0;
    int contact = 0;
    while (b->clock->now[turn] < TICKS && !contact) {
        const cl_ulong before = b->clock->now[turn];
        if (block_steps_run_batch(nb, b, &turn) != 0 || block_steps_check(nb, b) != 0)
            return -1;
        const cl_ulong now = b->clock->now[turn];
        contact = block_steps_find_contacts(nb, path, now - before);
        nbody_progress_set_done(nb, done + (double)now / (double)TICKS);
        if (contact < 0 || (!contact && nbody_progress_report(nb) != 0))
            return -1;
    }
    nbody_watch_set_tick(nb, b->clock->now[turn]);
    b->last = b->clock->blocks;
    nb->integration.counts.blocks += b->clock->blocks;
    nb->integration.counts.steps += (double)b->clock->pulled;
    return 0;
}

static int block_steps_one_step(struct nbody *nb, double done)
{
    struct watch_path path;
    const int opened = nbody_watch_open(nb, &path, NULL),
              status = opened == 0 && block_steps_begin(nb, nb->integration.blocks) == 0
                           ? block_steps_run_blocks(nb, nb->integration.blocks, &path, done)
                           : -1;
    nbody_watch_close(&path);
    return status;
}

static int block_steps_run(struct nbody *nb, size_t steps)
{
    nbody_progress_begin(nb, "nbody_step", (double)steps);
    for (size_t k = 0; k < steps && !nbody_watch_ends(nb); k++) {
        nbody_progress_set_stoppable(nb, k > 0);
        if (nbody_progress_report(nb) != 0 ||
            nbody_rollback_run(nb, block_steps_one_step, (double)k) != 0)
            return nb->task.stopped ? clerror_set(ECANCELED, "nbody_step: stopped after step %zu",
                                                  nb->integration.steps)
                                    : -1;
    }
    return 0;
}

static bool block_steps_apply(const struct nbody *nb)
{
    return nb->stepping != NBODY_FIXED && nb->integrator->block_steps;
}

/* With individual steps, bodies are at different times after a block. */
static bool block_steps_are_shared(const struct nbody *nb)
{
    return nb->stepping == NBODY_ADAPTIVE;
}

const struct stepper nbody_stepper_block = {
    .applies = block_steps_apply,
    .watches = block_steps_are_shared,
    .open = block_steps_open,
    .run = block_steps_run,
    .free = block_steps_free,
};
