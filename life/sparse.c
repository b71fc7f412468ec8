/* sparse.c - the engine "sparse": an unbounded plane on a device; only active tiles are
 * computed (sparse.cl): options, kernels, generations.
 *
 * Passes are enqueued in batches, and the host waits once a batch, then reads the outcome from
 * `control`. On a CPU a batch is one launch of one item while few tiles are active, since a
 * launch for each pass would take longer than the pass.
 * SPDX-License-Identifier: MIT
 */
#include "life/sparse.h"
#include "life/cells.h"

#include "core/embedded.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EMBEDDED(ternary_text, "life/ternary.h", life_ternary_h);
EMBEDDED(tiles_text, "life/sparse_tiles.h", life_sparse_tiles_h);
EMBEDDED(sparse_file, "life/sparse.cl", life_sparse_cl);

static const size_t LEAST_MEMORY = (size_t)1 << 20,
                    MOST_TILES = (size_t)1 << 27; /* kernels number rows and neighbours in ints */
enum {
    TILE_GROUP = 64,        /* items that compute a tile on a GPU */
    GROUPS_A_UNIT = 32,     /* groups per compute unit */
    PARTS_A_UNIT = 4,       /* parts of a list per compute unit of a CPU */
    COUNTERS = 64,          /* items in a group of other kernels; a group a unit */
    SINGLE_ITEM_MAX = 1024, /* up to this many tiles, one item of a CPU makes all passes */
    BACKLOG = 64            /* passes enqueued before the host waits */
};

/* ---- Create and free. ------------------------------------------------------------------------ */

/* Set the greatest number of tiles. */
static void sparse_set_capacity(struct sparse *s, size_t memory, const struct cldev_info *info)
{
    const double half = fmin(life_host_memory(), (double)info->dev_global_mem_sz) / 2;
    const size_t of_buffer =
        (size_t)(info->dev_max_mem_alloc_sz / (SPARSE_SIDE * sizeof(uint64_t)));
    s->memory = memory ? memory : (size_t)half;
    s->max_tiles = s->memory / sparse_tile_bytes();
    s->max_tiles = s->max_tiles < of_buffer ? s->max_tiles : of_buffer;
    s->max_tiles = s->max_tiles < MOST_TILES ? s->max_tiles : MOST_TILES;
}

static bool sparse_cpu_has_ternary(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

static int sparse_open_kernels(struct sparse *s, bool cpu)
{
    const struct embedded *const front[] = {&ternary_text, &tiles_text};
    enum { OPTIONS = 128 };
    char text[OPTIONS + LIFE_FAMILY_MACROS];
    const bool ternary = !cpu || sparse_cpu_has_ternary();
    snprintf(text, OPTIONS, "-D GROUP=%d -D TERNARY=%d\n", cpu ? 1 : TILE_GROUP, cpu && ternary);
    life_family_macros(&s->lf->rule, ternary, text + strlen(text));
    s->program = embedded_open(s->lf->ctx, text, &sparse_file, 2, front);
    s->pass = s->program ? clsym(s->lf->ctx, s->program, "life_sparse_pass", 0) : NULL;
    s->create = s->pass ? clsym(s->lf->ctx, s->program, "life_sparse_create_requested", 0) : NULL;
    s->activate = s->create ? clsym(s->lf->ctx, s->program, "life_sparse_activate", 0) : NULL;
    s->count = s->activate ? clsym(s->lf->ctx, s->program, "life_sparse_count", 0) : NULL;
    s->passes = s->count && cpu ? clsym(s->lf->ctx, s->program, "life_sparse_passes", 0) : NULL;
    return s->count && (s->passes || !cpu) ? 0 : -1;
}

static int sparse_open(struct sparse *s, size_t memory)
{
    struct cldev_info *info = calloc(clgetndev(s->lf->ctx), sizeof *info);
    if (!info)
        return clerror_set(ENOMEM, "life: out of memory for an engine");
    int status = clgetdevinfo(s->lf->ctx, info);
    if (status == 0) {
        const bool cpu = info[SPARSE_DEVICE].dev_type & CL_DEVICE_TYPE_CPU;
        const size_t units =
            info[SPARSE_DEVICE].dev_max_core ? info[SPARSE_DEVICE].dev_max_core : 1;
        sparse_set_capacity(s, memory, &info[SPARSE_DEVICE]);
        s->pace = pace_of(1e5);
        s->group = cpu ? 1 : TILE_GROUP;
        s->items = units * (cpu ? PARTS_A_UNIT : GROUPS_A_UNIT * TILE_GROUP);
        s->counters = units * COUNTERS;
        s->sums = clmalloc(s->lf->ctx, s->counters * sizeof *s->sums, 0);
        status = s->sums && sparse_pool_make(s) == 0 ? sparse_open_kernels(s, cpu) : -1;
    }
    free(info);
    return status;
}

/* ---- Launches. ------------------------------------------------------------------------------- */

/* Enqueue a kernel with the pool's arrays as first arguments. */
#define SPARSE_START(s, kernel, ndr, ...)                                                          \
    ((s)->lf->launches++,                                                                          \
     life_event_status(clforka((s)->lf->ctx, SPARSE_DEVICE, kernel, ndr, UNWAITED,                 \
                               (s)->pool.cells[0], (s)->pool.cells[1], (s)->pool.neighbour,        \
                               (s)->pool.place, (s)->pool.mark, (s)->pool.list, (s)->pool.request, \
                               (s)->pool.missing, (s)->pool.table, (s)->pool.control,              \
                               (cl_int)(s)->pool.capacity, (cl_uint)(s)->pool.mask __VA_ARGS__)))

static int sparse_start_create(struct sparse *s, cl_int pass)
{
    clndrange_t one = clndrange_init1d(0, 1, 1);
    return SPARSE_START(s, s->create, &one, , pass);
}

/* Block until the device is idle, and download `control`. */
static int sparse_download_control(struct sparse *s)
{
    if (life_event_status(
            clmsync(s->lf->ctx, SPARSE_DEVICE, s->pool.control, CL_MEM_HOST | UNWAITED)) < 0)
        return -1;
    if (life_event_status(clwait(s->lf->ctx, SPARSE_DEVICE, CL_ALL_EVENT)) < 0)
        return -1;
    return 0;
}

/* Reset the counters and the stop reason. */
static int sparse_reset_control(struct sparse *s)
{
    int *control = s->pool.control;
    control[SPARSE_PASSES] = control[SPARSE_WORK] = 0;
    control[SPARSE_STOP] = SPARSE_GO;
    return life_event_status(clmsync(s->lf->ctx, SPARSE_DEVICE, control, CL_MEM_DEVICE | UNWAITED));
}

/* Resume after a stop: make room for the requested tiles. */
static int sparse_resume(struct sparse *s)
{
    while (s->pool.control[SPARSE_STOP]) {
        if (s->pool.control[SPARSE_STOP] == SPARSE_FAR)
            return clerror_set(
                ERANGE,
                "life: at generation %llu live cells have reached the edge of the plane, %lld cells from its middle",
                (unsigned long long)s->lf->generation, (long long)SPARSE_FARTHEST * SPARSE_SIDE);
        if (sparse_make_room(s) < 0)
            return -1;
        s->pool.control[SPARSE_STOP] = SPARSE_GO;
        sparse_create_requested(&s->pool, s->pool.control[SPARSE_CURRENT]);
    }
    return 0;
}

/* Put all tiles on the list, and create missing tiles next to live cells. */
static int sparse_activate_all(struct sparse *s)
{
    clndrange_t all = clndrange_init1d(0, s->counters, COUNTERS);
    if (sparse_to_device(s) < 0 || sparse_reset_control(s) < 0 ||
        SPARSE_START(s, s->activate, &all, ) < 0 || sparse_start_create(s, 0) < 0 ||
        sparse_download_control(s) < 0)
        return -1;
    s->newer = SPARSE_DEVICE_NEWER;
    return sparse_resume(s);
}

/* Enqueue up to `most` passes, limited to a slice. */
static int sparse_start_passes(struct sparse *s, cl_int generations, uint64_t most)
{
    const int awake = s->pool.control[SPARSE_COUNT + s->pool.control[SPARSE_CURRENT]];
    const double slice = pace_slice(&s->pace);
    clndrange_t one = clndrange_init1d(0, 1, 1), all = clndrange_init1d(0, s->items, s->group);
    if (s->passes && awake <= SINGLE_ITEM_MAX)
        return SPARSE_START(s, s->passes, &one, , generations,
                            (cl_int)(most < INT_MAX ? most : INT_MAX),
                            (cl_int)(slice < 1e9 ? slice + 1 : 1e9));
    const double fit = fmin(slice, 5e8) / (awake + 1.); /* computed tiles are counted in an int */
    most = most < BACKLOG ? most : BACKLOG;
    most = (double)most < fit ? most : fit < 1 ? 1 : (uint64_t)fit;
    for (uint64_t i = 0; i < most; i++)
        if (SPARSE_START(s, s->pass, &all, , generations) < 0 || sparse_start_create(s, 1) < 0)
            return -1;
    return 0;
}

static int sparse_population(life *lf, struct life_tally *population)
{
    struct sparse *s = lf->state;
    clndrange_t all = clndrange_init1d(0, s->counters, COUNTERS);
    if (sparse_to_device(s) < 0)
        return -1;
    lf->launches++;
    if (life_event_status(clforka(lf->ctx, SPARSE_DEVICE, s->count, &all, UNWAITED,
                                  s->pool.cells[0], s->pool.cells[1], s->pool.control, s->sums)) <
            0 ||
        life_event_status(clmsync(lf->ctx, SPARSE_DEVICE, s->sums, CL_MEM_HOST | UNWAITED)) < 0 ||
        life_event_status(clwait(lf->ctx, SPARSE_DEVICE, CL_ALL_EVENT)) < 0)
        return -1;
    *population = (struct life_tally){0, 0};
    for (size_t i = 0; i < s->counters; i++)
        population->low += s->sums[i];
    return 0;
}

/* Launch every kernel once on an empty plane, and block until all are done. Drivers compile at the
 * first launch, which would otherwise delay the first generations. */
static int sparse_warm_up(struct sparse *s)
{
    struct life_tally none;
    clndrange_t one = clndrange_init1d(0, 1, 1), all = clndrange_init1d(0, s->items, s->group);
    if (sparse_to_device(s) < 0 || SPARSE_START(s, s->pass, &all, , (cl_int)1) < 0 ||
        (s->passes && SPARSE_START(s, s->passes, &one, , (cl_int)1, (cl_int)1, (cl_int)1) < 0))
        return -1;
    if (sparse_activate_all(s) < 0)
        return -1;
    if (sparse_population(s->lf, &none) < 0)
        return -1;
    return 0;
}

static void sparse_free(life *lf)
{
    struct sparse *s = lf->state;
    if (!s)
        return;
    sparse_pool_free(s);
    clfree(s->sums);
    if (s->program)
        clclose(lf->ctx, s->program);
    free(s);
    lf->state = NULL;
}

static int sparse_create(life *lf, const struct life_options *o)
{
    if (o->memory && o->memory < LEAST_MEMORY)
        return clerror_set(EINVAL, "life: %zu bytes of memory are too few; give %zu or more",
                           o->memory, LEAST_MEMORY);
    struct sparse *s = lf->state = calloc(1, sizeof *s);
    if (!s)
        return clerror_set(ENOMEM, "life: out of memory for an engine");
    s->lf = lf;
    if (sparse_open(s, o->memory) == 0 && sparse_warm_up(s) == 0)
        return 0;
    sparse_free(lf);
    return -1;
}

/* ---- Generations. ---------------------------------------------------------------------------- */

/* Run a batch; subtract its passes from *passes. */
static int sparse_run_batch(struct sparse *s, unsigned generations, uint64_t *passes)
{
    int *control = s->pool.control;
    if (sparse_to_device(s) < 0 || sparse_reset_control(s) < 0)
        return -1;
    pace_started(&s->pace, 1);
    if (sparse_start_passes(s, (cl_int)generations, *passes) < 0 || sparse_download_control(s) < 0)
        return -1;
    s->pace.queued = control[SPARSE_WORK] + 1;
    pace_waited(&s->pace);
    s->newer = SPARSE_DEVICE_NEWER;
    s->computed += (uint64_t)control[SPARSE_WORK];
    s->lf->generation += (uint64_t)control[SPARSE_PASSES] * generations;
    *passes -= (uint64_t)control[SPARSE_PASSES];
    return sparse_resume(s);
}

/* Make `passes` passes of 1 to 8 generations. Sleeping tiles may stay asleep only if `generations`
 * is a multiple of the previous number. */
static int sparse_advance(struct sparse *s, unsigned generations, uint64_t passes)
{
    const bool every = s->all_active || generations % s->period != 0;
    if (!passes)
        return 0;
    if (every && sparse_activate_all(s) < 0)
        return -1;
    s->all_active = false;
    s->period = generations;
    while (passes) {
        if (sparse_run_batch(s, generations, &passes) < 0)
            return -1;
        if (!s->pool.control[SPARSE_COUNT + s->pool.control[SPARSE_CURRENT]]) {
            s->lf->generation += passes * generations;
            passes = 0;
        }
        s->lf->call.done = (double)(s->lf->generation - s->began);
        if (passes && life_call_tell(s->lf, 0) < 0)
            return -1;
    }
    return 0;
}

static int sparse_step(life *lf, uint64_t generations)
{
    struct sparse *s = lf->state;
    s->began = lf->generation;
    if (sparse_resume(s) < 0 || sparse_advance(s, SPARSE_HALO, generations / SPARSE_HALO) < 0)
        return -1;
    return sparse_advance(s, (unsigned)(generations % SPARSE_HALO), generations % SPARSE_HALO != 0);
}

static int sparse_clear(life *lf)
{
    sparse_pool_clear(lf->state);
    lf->generation = 0;
    return 0;
}

/* ---- Queries. ------------------------------------------------------------------------------ */

static struct life_statistics sparse_statistics(const life *lf)
{
    const struct sparse *s = lf->state;
    return (struct life_statistics){.tiles = (uint64_t)s->pool.control[SPARSE_USED] - 1,
                                    .tiles_computed = s->computed};
}

static size_t sparse_bytes(const life *lf)
{
    return (size_t)((const struct sparse *)lf->state)->pool.capacity * sparse_tile_bytes();
}

static unsigned sparse_devices(const life *lf)
{
    (void)lf;
    return 1;
}

static const char *sparse_shape(const life *lf, unsigned dev)
{
    const struct sparse *s = lf->state;
    return dev         ? ""
           : s->passes ? "tile=48 generations=8 group=1"
                       : "tile=48 generations=8 group=64";
}

static const char *sparse_explain(const life *lf, unsigned dev)
{
    const struct sparse *s = lf->state;
    return dev ? ""
           : s->passes
               ? "fixed: tiles of 48 x 48 cells, vectors of eight rows; one item makes many passes over few tiles"
               : "fixed: tiles of 48 x 48 cells, an item a row";
}

const struct life_backend life_sparse_backend = {
    .create = sparse_create,
    .free = sparse_free,
    .step = sparse_step,
    .devices = sparse_devices,
    .shape = sparse_shape,
    .explain = sparse_explain,
    .clear = sparse_clear,
    .put = sparse_put,
    .get = sparse_get,
    .zoomed = sparse_zoomed,
    .density = sparse_density,
    .population = sparse_population,
    .bounding_box = sparse_bounding_box,
    .bytes = sparse_bytes,
    .statistics = sparse_statistics,
};
