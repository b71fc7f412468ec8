/* block_steps.c - steps that bodies choose, each its own or all the same, within a step of the
 * engine: the host's part.
 *
 * The device decides whose steps end when, and how long the next ones are (block_steps.cl). The
 * host starts blocks without waiting, many at a time, and then reads one line: the time they came
 * to, and how many bodies have which step. One device does it all, since most blocks are of few
 * bodies.
 * SPDX-License-Identifier: MIT
 */
#include "nbody/block_steps.h"

#include "core/round.h"

#include <limits.h>
#include <math.h>

EMBEDDED(root, "nbody/root.cl", nbody_root_cl);
EMBEDDED(step, "nbody/step.cl", nbody_step_cl);
EMBEDDED(field, "nbody/external_field.cl", nbody_external_field_cl);
EMBEDDED(levels, "nbody/levels.cl", nbody_levels_cl);
EMBEDDED(block_steps, "nbody/block_steps.cl", nbody_block_steps_cl);
EMBEDDED(block_pulls, "nbody/block_pulls.cl", nbody_block_pulls_cl);

static const char *const kernel_name[BLOCK_KERNELS] = {
    [LEVELS] = "levels", [PREDICT] = "predict", [CORRECT] = "correct", [PULLS] = "pulls"};

enum {
    PIECE = 32,     /* as in block_pulls.cl */
    STRETCHES = 64, /* at most */
    MOST_LANES = 16,
    LOCAL_BYTES = 32 << 10,
    GROUPS_OF_UNIT = 16, /* more than a compute unit runs at a time */
    MOST_BATCH = 256
};
static const double BATCH_SECONDS = 0.1; /* between looks at the clock */

/* ---- Making. --------------------------------------------------------------------------------- */

/* Stretches are whole pieces, and there are enough of them that ten bodies are work for a large
 * device. */
static void divide(const struct nbody *nb, struct blocks *b)
{
    size_t wanted = nb->n / (PIECE * MOST_LANES);
    wanted = wanted < 1 ? 1 : wanted < STRETCHES ? wanted : STRETCHES;
    b->stretch = round_up(divide_up(nb->n, wanted), PIECE);
    b->stretches = divide_up(nb->n, b->stretch);
    const size_t filling = (size_t)b->share->shape.fill * b->share->units * b->width,
                 most = ((size_t)1 << 22) / b->stretches;
    b->room = filling < most ? filling : most;
    b->room = b->room < b->share->rows ? b->room : b->share->rows;
}

/* The most items that may share a row. */
static int lanes_of(const struct nbody *nb, const struct nbody_shape *s)
{
    int lanes = (size_t)(9 * s->group * s->width) * nb->real > LOCAL_BYTES ? 1 : MOST_LANES;
    while (s->group % lanes)
        lanes /= 2;
    return lanes;
}

static int open_kernels(struct nbody *nb, struct blocks *b)
{
    const struct embedded *const before_steps[] = {&step, &levels, &field}, *const before_pulls =
                                                                                &root;
    char options[512];
    nbody_shape_options(nb, b->share, nbody_has_doubles(nb), options, sizeof options);
    const size_t used = strlen(options);
    snprintf(options + used, sizeof options - used, " -D LANES=%d", lanes_of(nb, &b->share->shape));
    b->program[0] = embedded_open(nb->ctx, nbody_has_doubles(nb) ? "-D DOUBLE" : "", &block_steps,
                                  3, before_steps);
    b->program[1] =
        b->program[0] ? embedded_open(nb->ctx, options, &block_pulls, 1, &before_pulls) : NULL;
    if (!b->program[1])
        return -1;
    for (int k = 0; k < BLOCK_KERNELS; k++)
        if (!(b->kernel[k] = clsym(nb->ctx, b->program[k == PULLS], kernel_name[k], 0)))
            return -1;
    return 0;
}

static int place(struct nbody *nb, struct blocks *b)
{
    struct nbody_device *p = b->share;
    const size_t slots = p->rows > b->room * b->stretches ? p->rows : b->room * b->stretches;
    b->level = nbody_device_alloc(nb, p, p->rows * sizeof(cl_uint), CL_MEM_DEVONLY);
    b->list = nbody_device_alloc(nb, p, p->rows * sizeof(cl_uint), CL_MEM_DEVONLY);
    b->partial = nbody_device_alloc(nb, p, 6 * slots * nb->real, CL_MEM_DEVONLY);
    b->clock = nbody_device_alloc(nb, p, sizeof *b->clock, CL_MEM_ZEROCOPY);
    return b->level && b->list && b->partial && b->clock ? 0 : -1;
}

int nbody_blocks_open(struct nbody *nb)
{
    if (nb->stepping == NBODY_FIXED || !nb->integrator->block_steps)
        return 0;
    struct blocks *b = nb->blocks = calloc(1, sizeof *b);
    if (!b)
        return clerror_set(ENOMEM, "nbody_create: no memory on the host");
    b->share = nb->device;
    while (!b->share->rows)
        b->share++;
    b->width = (size_t)(b->share->shape.group * b->share->shape.width);
    b->batch = b->last = 8;
    divide(nb, b);
    return open_kernels(nb, b) != 0 || place(nb, b) != 0 ? -1 : 0;
}

void nbody_blocks_free(struct nbody *nb)
{
    struct blocks *b = nb->blocks;
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

static int start_levels(struct nbody *nb, struct blocks *b)
{
    struct nbody_device *p = b->share;
    const cl_uint rows = (cl_uint)p->rows, count = (cl_uint)p->count;
    return nbody_device_launch_1d(nb, p, b->kernel[LEVELS], p->count, 1,
                                  ARGS(p->state, b->level, b->clock, rows, count,
                                       REAL(nb, nb->dt * nbody_units_factor(&nb->units, 0, -1)),
                                       REAL(nb, sqrt(nb->eta))));
}

static int start_predict(struct nbody *nb, struct blocks *b, double tick_length, cl_uint turn)
{
    struct nbody_device *p = b->share;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, count = (cl_uint)p->count,
                  shared = nb->stepping == NBODY_ADAPTIVE;
    return nbody_device_launch_1d(nb, p, b->kernel[PREDICT], p->count, 1,
                                  ARGS(nb->posm, nb->velo, p->state, b->level, b->list, b->clock,
                                       first, rows, count, REAL(nb, tick_length), turn, shared));
}

static int start_pulls(struct nbody *nb, struct blocks *b, cl_uint turn, cl_uint part,
                       cl_uint parts)
{
    struct nbody_device *p = b->share;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, room = (cl_uint)b->room,
                  stretch = (cl_uint)b->stretch, stretches = (cl_uint)b->stretches,
                  end = (cl_uint)round_up(nb->n, PIECE);
    const size_t group = (size_t)p->shape.group, groups = GROUPS_OF_UNIT * (size_t)p->units,
                 most = divide_up(p->count, b->width) * b->stretches * MOST_LANES;
    clndrange_t ndr = clndrange_init1d(0, group * (groups < most ? groups : most), group);
    bool none;
    const double eps2 = nbody_forces_softening(nb, JERKS, &none);
    return clforkv(nb->ctx, p->dev, b->kernel[PULLS], &ndr, nb->flags | CL_EVENT_CHECKED,
                   ARGS(nb->posm, nb->velo, b->partial, b->list, b->clock, first, rows, room,
                        stretch, stretches, end, REAL(nb, eps2), REAL(nb, none ? eps2 : -1), turn,
                        part, parts)) == (cl_event)-1
               ? -1
               : 0;
}

static int start_correct(struct nbody *nb, struct blocks *b, double tick_length, cl_uint turn)
{
    struct nbody_device *p = b->share;
    const cl_uint first = (cl_uint)p->first, rows = (cl_uint)p->rows, room = (cl_uint)b->room,
                  slots = (cl_uint)b->stretches, shared = nb->stepping == NBODY_ADAPTIVE,
                  nfields = (cl_uint)nb->nfields;
    const int number = 1;
    void *const fields = nfields ? nb->field_table : nb->posm;
    return nbody_device_launch_1d(nb, p, b->kernel[CORRECT], p->count, 1,
                                  ARGS(nb->posm, nb->velo, p->state, b->partial, b->level, b->list,
                                       b->clock, first, rows, REAL(nb, tick_length), room, slots,
                                       REAL(nb, nb->eta), turn, shared, fields, nfields, p->bad,
                                       number));
}

/* A sum for all bodies may take long, and only the device knows for how many it is: so the list is
 * cut in parts, each of which takes no longer than a launch should. */
static cl_uint parts_of(const struct nbody *nb, const struct blocks *b)
{
    const double work = nbody_forces_sum_of(JERKS)->flops * (double)nb->n * (double)nb->n,
                 rate = fmax(b->rate, b->share->pace.rate),
                 heaps = ceil((double)nb->n / (double)b->width);
    return (cl_uint)fmax(1, fmin(ceil(work / (rate * b->share->pace.seconds)), heaps));
}

static int start_block(struct nbody *nb, struct blocks *b, cl_uint turn, cl_uint parts)
{
    const double tick = ldexp(nb->dt * nbody_units_factor(&nb->units, 0, -1), -DEEPEST);
    if (start_predict(nb, b, tick, turn) != 0)
        return -1;
    for (cl_uint part = 0; part < parts; part++)
        if (start_pulls(nb, b, turn, part, parts) != 0)
            return -1;
    return start_correct(nb, b, tick, turn);
}

/* ---- A step of the engine. ------------------------------------------------------------------- */

static int begin(struct nbody *nb, struct blocks *b)
{
    struct nbody_device *p = b->share;
    *b->clock = (struct block_clock){.first_bad = INT_MAX};
    *p->bad = INT_MAX;
    if (clmsync(nb->ctx, p->dev, b->clock, CL_MEM_DEVICE) == (cl_event)-1 ||
        clmsync(nb->ctx, p->dev, p->bad, CL_MEM_DEVICE) == (cl_event)-1 ||
        nbody_integrate_init_forces(nb) != 0 || start_levels(nb, b) != 0)
        return -1;
    nb->synchronized = nb->tree_valid = false;
    return 0;
}

/* How many blocks are left at most, if no body's step becomes shorter. At first the host does not
 * know, and takes it for as many as the last step had. */
static size_t left(const struct blocks *b, cl_ulong now)
{
    const struct block_clock *c = b->clock;
    int deepest = DEEPEST;
    if (c->blocks == 0)
        return b->last;
    while (deepest > 0 && c->count[deepest] == 0)
        deepest--;
    const cl_ulong blocks = (TICKS - now) >> (DEEPEST - deepest);
    return blocks < MOST_BATCH ? (size_t)blocks + 1 : MOST_BATCH;
}

/* Starts some blocks, waits for them and reads the clock; *turn is that of the next. */
static int run_batch(struct nbody *nb, struct blocks *b, cl_uint *turn)
{
    const double since = seconds_now(), pulled = (double)b->clock->pulled;
    const size_t most = left(b, b->clock->now[*turn]), blocks = b->batch < most ? b->batch : most;
    const cl_uint parts = parts_of(nb, b);
    for (size_t k = 0; k < blocks; k++, *turn = !*turn)
        if (start_block(nb, b, *turn, parts) != 0)
            return -1;
    if (nbody_device_download(nb, b->share, b->clock, sizeof *b->clock) != 0)
        return -1;
    const double took = seconds_now() - since, done = (double)b->clock->pulled - pulled;
    b->rate = fmax(b->rate, done * (double)nb->n * nbody_forces_sum_of(JERKS)->flops / took);
    nb->evaluations += done / (double)nb->n;
    if (blocks == b->batch)
        b->batch = took < BATCH_SECONDS / 2               ? 2 * b->batch
                   : took > BATCH_SECONDS && b->batch > 1 ? b->batch / 2
                                                          : b->batch;
    b->batch = b->batch < MOST_BATCH ? b->batch : MOST_BATCH;
    return 0;
}

/* The body that is nearest to body i, as they are now. */
static size_t nearest(const struct nbody *nb, const struct nbody_device *p, size_t i)
{
    double least = INFINITY;
    size_t found = i;
    for (size_t j = 0; j < p->count; j++) {
        double r2 = 0;
        for (size_t c = 0; c < 3; c++) {
            const double d = real_at(nb, p->state, (STATE_POS + c) * p->rows + j) -
                             real_at(nb, p->state, (STATE_POS + c) * p->rows + i);
            r2 += d * d;
        }
        if (j != i && r2 < least) {
            least = r2;
            found = j;
        }
    }
    return found;
}

/* Whether all is well; else the sentence. */
static int check(struct nbody *nb, const struct blocks *b)
{
    struct nbody_device *p = b->share;
    if (nbody_device_download(nb, p, p->bad, sizeof *p->bad) != 0)
        return -1;
    if (*p->bad != INT_MAX)
        return clerror_set(
            EDOM,
            "nbody_step: a position or velocity became NaN or infinite in step %zu (time %g); a smaller eta or a "
            "larger softening may help",
            nb->steps + 1, nbody_time(nb) + nb->dt);
    if (b->clock->first_bad == INT_MAX)
        return 0;
    const size_t i = (size_t)b->clock->first_bad, plane = p->rows * nb->real;
    if (nbody_device_download(nb, p, (char *)p->state + STATE_POS * plane, 3 * plane) != 0)
        return -1;
    const size_t j = nearest(nb, p, i);
    return clerror_set(
        EDOM,
        "nbody_step: in step %zu, after time %g, bodies %zu and %zu (from 0 on) come so close that steps "
        "vanish; a softening helps",
        nb->steps + 1, nbody_time(nb), i < j ? i : j, i < j ? j : i);
}

/* Blocks until the step's end. */
static int run_blocks(struct nbody *nb, struct blocks *b, double done)
{
    cl_uint turn = 0;
    while (b->clock->now[turn] < TICKS) {
        if (run_batch(nb, b, &turn) != 0 || check(nb, b) != 0)
            return -1;
        nb->task.done = done + (double)b->clock->now[turn] / (double)TICKS;
        if (nbody_task_tell(nb) != 0)
            return -1;
    }
    b->last = b->clock->blocks;
    nb->counts.blocks += b->clock->blocks;
    nb->counts.steps += (double)b->clock->pulled;
    return 0;
}

static int one_step(struct nbody *nb, double done)
{
    return begin(nb, nb->blocks) == 0 ? run_blocks(nb, nb->blocks, done) : -1;
}

int nbody_blocks_step(struct nbody *nb, size_t steps)
{
    nbody_task_begin(nb, "nbody_step", (double)steps);
    for (size_t k = 0; k < steps; k++) {
        nb->task.stoppable = k > 0;
        if (nbody_task_tell(nb) != 0 || nbody_task_whole(nb, one_step, (double)k) != 0)
            return nb->task.stopped
                       ? clerror_set(ECANCELED, "nbody_step: stopped after step %zu", nb->steps)
                       : -1;
        nb->steps++;
    }
    return 0;
}
