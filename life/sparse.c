/* sparse.c - the engine "sparse": a plane without edges on a device, of which only tiles with
 * something going on are computed (sparse.cl).
 *
 * Here: options, kernels, generations. A burst of passes is started at once, and waited for once;
 * what happened the host reads in `control`. On a CPU a burst is one launch of one item as long as
 * few tiles are awake, since a launch for each pass would take longer than the pass.
 * SPDX-License-Identifier: MIT
 */
#include "life/sparse.h"

#include "core/embedded.h"
#include "core/handle.h"
#include "core/progress.h"
#include "core/reserved.h"

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
    TILE_GROUP = 64,    /* items that compute a tile on a GPU */
    GROUPS_A_UNIT = 32, /* of them */
    PARTS_A_UNIT = 4,   /* a CPU's compute unit takes so many parts of a list */
    COUNTERS = 64,      /* items in a group of the other kernels; a group a unit */
    ALONE = 1024,       /* up to so many tiles an item of a CPU makes passes alone */
    BACKLOG = 64        /* passes that are started before the first of them is waited for */
};

/* ---- Making and freeing. --------------------------------------------------------------------- */

static int check_rule(const char *text, struct life_family *rule)
{
    if (life_family_take(text, NULL, rule) < 0)
        return -1;
    if (rule->large.range || rule->states > 2)
        return clerror_set(
            EINVAL,
            "life_sparse: the rule %s is %s, and this engine has two states and the nearest neighbours",
            rule->text, rule->large.range ? "Larger than Life" : "of more than two states");
    if (life_table_next(&rule->table, 0))
        return clerror_set(
            EINVAL,
            "life_sparse: under the rule %s all of an empty plane becomes alive, and this engine computes where cells live; HashLife has such rules",
            rule->text);
    return 0;
}

int life_sparse_has_rule(const char *rule)
{
    struct life_family family;
    return check_rule(rule, &family);
}

static int check(const struct life_sparse_options *o, struct life_family *rule)
{
    if (check_rule(o->rule, rule) < 0)
        return -1;
    if (o->memory && o->memory < LEAST_MEMORY)
        return clerror_set(EINVAL,
                           "life_sparse_create: %zu bytes of memory are too few; give %zu or more",
                           o->memory, LEAST_MEMORY);
    return 0;
}

/* How many tiles there may be. */
static void set_room(life_sparse *s, size_t memory, const struct cldev_info *info)
{
    const double half = fmin(life_host_memory(), (double)info->dev_global_mem_sz) / 2;
    const size_t of_buffer =
        (size_t)(info->dev_max_mem_alloc_sz / (SPARSE_SIDE * sizeof(uint64_t)));
    s->memory = memory ? memory : (size_t)half;
    s->most = s->memory / sparse_tile_bytes();
    s->most = s->most < of_buffer ? s->most : of_buffer;
    s->most = s->most < MOST_TILES ? s->most : MOST_TILES;
}

static bool cpu_has_ternary(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

static int open_kernels(life_sparse *s, bool cpu)
{
    const struct embedded *const front[] = {&ternary_text, &tiles_text};
    enum { OPTIONS = 128 };
    char text[OPTIONS + LIFE_CIRCUIT_TEXT];
    struct life_circuit circuit;
    const bool ternary = !cpu || cpu_has_ternary();
    snprintf(text, OPTIONS, "-D GROUP=%d -D TERNARY=%d\n", cpu ? 1 : TILE_GROUP, cpu && ternary);
    if (s->rule.counts) {
        life_rule_macros(&s->rule.rule, ternary, text + strlen(text));
    } else {
        life_circuit_find(&s->rule.table, &circuit);
        life_circuit_text(&circuit, text + strlen(text));
    }
    s->program = embedded_open(s->ctx, text, &sparse_file, 2, front);
    s->pass = s->program ? clsym(s->ctx, s->program, "life_sparse_pass", 0) : NULL;
    s->settle = s->pass ? clsym(s->ctx, s->program, "life_sparse_settle", 0) : NULL;
    s->wake = s->settle ? clsym(s->ctx, s->program, "life_sparse_wake", 0) : NULL;
    s->count = s->wake ? clsym(s->ctx, s->program, "life_sparse_count", 0) : NULL;
    s->passes = s->count && cpu ? clsym(s->ctx, s->program, "life_sparse_passes", 0) : NULL;
    return s->count && (s->passes || !cpu) ? 0 : -1;
}

static int make(life_sparse *s, const struct life_sparse_options *o)
{
    const size_t n = clgetndev(s->ctx);
    struct cldev_info *info = calloc(n ? n : 1, sizeof *info);
    if (!info)
        return clerror_set(ENOMEM, "life_sparse_create: no memory");
    int status = n ? clgetdevinfo(s->ctx, info)
                   : clerror_set(ENODEV, "life_sparse: the context has no device");
    if (status == 0) {
        const bool cpu = info[SPARSE_DEVICE].dev_type & CL_DEVICE_TYPE_CPU;
        const size_t units =
            info[SPARSE_DEVICE].dev_max_core ? info[SPARSE_DEVICE].dev_max_core : 1;
        set_room(s, o->memory, &info[SPARSE_DEVICE]);
        s->pace = pace_of(1e5);
        s->group = cpu ? 1 : TILE_GROUP;
        s->items = units * (cpu ? PARTS_A_UNIT : GROUPS_A_UNIT * TILE_GROUP);
        s->counters = units * COUNTERS;
        s->sums = clmalloc(s->ctx, s->counters * sizeof *s->sums, 0);
        status = s->sums && sparse_pool_make(s) == 0 ? open_kernels(s, cpu) : -1;
    }
    free(info);
    return status;
}

/* ---- Launches. ------------------------------------------------------------------------------- */

/* Starts a kernel that has the pool's arrays, and what follows. */
#define START(s, kernel, ndr, ...)                                                                 \
    ((s)->launches++,                                                                              \
     sparse_status(clforka((s)->ctx, SPARSE_DEVICE, kernel, ndr, UNWAITED, (s)->pool.cells[0],     \
                           (s)->pool.cells[1], (s)->pool.near, (s)->pool.place, (s)->pool.mark,    \
                           (s)->pool.list, (s)->pool.want, (s)->pool.missing, (s)->pool.table,     \
                           (s)->pool.control, (cl_int)(s)->pool.capacity,                          \
                           (cl_uint)(s)->pool.mask __VA_ARGS__)))

static int start_settle(life_sparse *s, cl_int pass)
{
    clndrange_t one = clndrange_init1d(0, 1, 1);
    return START(s, s->settle, &one, , pass);
}

/* Waits for what was started, and gets what it says of itself. */
static int look_at_control(life_sparse *s)
{
    return sparse_status(clmsync(s->ctx, SPARSE_DEVICE, s->pool.control, CL_MEM_HOST | UNWAITED)) <
                       0 ||
                   sparse_status(clwait(s->ctx, SPARSE_DEVICE, CL_ALL_EVENT)) < 0
               ? -1
               : 0;
}

/* Numbers that the device adds to begin at 0, and nothing stops it. */
static int reset_control(life_sparse *s)
{
    int *control = s->pool.control;
    control[SPARSE_PASSES] = control[SPARSE_WORK] = 0;
    control[SPARSE_STOP] = SPARSE_GO;
    return sparse_status(clmsync(s->ctx, SPARSE_DEVICE, control, CL_MEM_DEVICE | UNWAITED));
}

/* After a stop: room for the tiles that are wanted. */
static int go_on(life_sparse *s)
{
    while (s->pool.control[SPARSE_STOP]) {
        if (s->pool.control[SPARSE_STOP] == SPARSE_FAR)
            return clerror_set(
                ERANGE,
                "life_sparse_step: at generation %llu something has come to the edge of the plane, %lld cells from its middle",
                (unsigned long long)s->generation, (long long)SPARSE_FARTHEST * SPARSE_SIDE);
        if (sparse_make_room(s) < 0)
            return -1;
        s->pool.control[SPARSE_STOP] = SPARSE_GO;
        sparse_settle(&s->pool, s->pool.control[SPARSE_TURN]);
    }
    return 0;
}

/* All tiles on the list, and those that are missing beside live cells. */
static int wake_all(life_sparse *s)
{
    clndrange_t all = clndrange_init1d(0, s->counters, COUNTERS);
    if (sparse_to_device(s) < 0 || reset_control(s) < 0 || START(s, s->wake, &all, ) < 0 ||
        start_settle(s, 0) < 0 || look_at_control(s) < 0)
        return -1;
    s->newer = SPARSE_DEVICE_NEWER;
    return go_on(s);
}

/* Starts at most so many passes, about as many as a slice holds. */
static int start_passes(life_sparse *s, cl_int generations, uint64_t most)
{
    const int awake = s->pool.control[SPARSE_COUNT + s->pool.control[SPARSE_TURN]];
    const double slice = pace_slice(&s->pace);
    clndrange_t one = clndrange_init1d(0, 1, 1), all = clndrange_init1d(0, s->items, s->group);
    if (s->passes && awake <= ALONE)
        return START(s, s->passes, &one, , generations, (cl_int)(most < INT_MAX ? most : INT_MAX),
                     (cl_int)(slice < 1e9 ? slice + 1 : 1e9));
    const double fit = fmin(slice, 5e8) / (awake + 1.); /* tiles computed are counted in an int */
    most = most < BACKLOG ? most : BACKLOG;
    most = (double)most < fit ? most : fit < 1 ? 1 : (uint64_t)fit;
    for (uint64_t i = 0; i < most; i++)
        if (START(s, s->pass, &all, , generations) < 0 || start_settle(s, 1) < 0)
            return -1;
    return 0;
}

/* Starts every kernel once, on an empty plane, and waits: drivers compile at the first launch,
 * which would otherwise be part of the first generations. */
static int warm(life_sparse *s)
{
    uint64_t none;
    clndrange_t one = clndrange_init1d(0, 1, 1), all = clndrange_init1d(0, s->items, s->group);
    if (sparse_to_device(s) < 0 || START(s, s->pass, &all, , (cl_int)1) < 0 ||
        (s->passes && START(s, s->passes, &one, , (cl_int)1, (cl_int)1, (cl_int)1) < 0))
        return -1;
    return wake_all(s) < 0 || life_sparse_population(s, &none) < 0 ? -1 : 0;
}

life_sparse *life_sparse_create(const struct life_sparse_options *options)
{
    struct life_family rule;
    const struct life_sparse_options none = {.rule = NULL}, *o = options ? options : &none;
    if (reserved_check("life_sparse_create", o->reserved) < 0 || check(o, &rule) < 0)
        return NULL;
    life_sparse *s = calloc(1, sizeof *s);
    if (!s) {
        clerror_set(ENOMEM, "life_sparse_create: no memory");
        return NULL;
    }
    s->rule = rule;
    s->progress = o->progress;
    s->arg = o->arg;
    s->awake = true;
    s->ctx = o->ctx ? o->ctx : stdgpu ? stdgpu : stdcpu;
    if (!s->ctx)
        clerror_set(
            ENODEV,
            "life_sparse: there is no OpenCL device; install PoCL (pocl-opencl-icd), or take HashLife");
    if (s->ctx && make(s, o) == 0 && warm(s) == 0)
        return s;
    life_sparse_free(s);
    return NULL;
}

void life_sparse_free(life_sparse *s)
{
    if (!s)
        return;
    sparse_pool_free(s);
    clfree(s->sums);
    if (s->program)
        clclose(s->ctx, s->program);
    free(s);
}

/* ---- Generations. ---------------------------------------------------------------------------- */

/* A burst; *passes are left after it. */
static int burst(life_sparse *s, unsigned generations, uint64_t *passes)
{
    int *control = s->pool.control;
    if (sparse_to_device(s) < 0 || reset_control(s) < 0)
        return -1;
    pace_started(&s->pace, 1);
    if (start_passes(s, (cl_int)generations, *passes) < 0 || look_at_control(s) < 0)
        return -1;
    s->pace.queued = control[SPARSE_WORK] + 1;
    pace_waited(&s->pace);
    s->newer = SPARSE_DEVICE_NEWER;
    s->computed += (uint64_t)control[SPARSE_WORK];
    s->generation += (uint64_t)control[SPARSE_PASSES] * generations;
    *passes -= (uint64_t)control[SPARSE_PASSES];
    return go_on(s);
}

static int tell(life_sparse *s, uint64_t began, uint64_t all)
{
    return progress_cancels(s->progress, s->arg, (double)(s->generation - began), (double)all)
               ? progress_cancelled("life_sparse_step")
               : 0;
}

/* So many passes of so many generations, 1 to 8. Tiles that sleep stay as they are only if those
 * are a multiple of what they were until now. */
static int advance(life_sparse *s, unsigned generations, uint64_t passes, uint64_t began,
                   uint64_t all)
{
    const bool every = s->awake || generations % s->rest != 0;
    if (!passes)
        return 0;
    if (every && wake_all(s) < 0)
        return -1;
    s->awake = false;
    s->rest = generations;
    while (passes) {
        if (burst(s, generations, &passes) < 0)
            return -1;
        if (!s->pool.control[SPARSE_COUNT + s->pool.control[SPARSE_TURN]]) {
            s->generation += passes * generations;
            passes = 0;
        }
        if (passes && tell(s, began, all) < 0)
            return -1;
    }
    return 0;
}

int life_sparse_step(life_sparse *s, uint64_t generations)
{
    if (no_handle(s, __func__))
        return -1;
    const uint64_t began = s->generation;
    if (generations > UINT64_MAX - s->generation)
        return clerror_set(ERANGE, "life_sparse_step: generations are counted up to 2^64 - 1");
    if (go_on(s) < 0 || advance(s, SPARSE_HALO, generations / SPARSE_HALO, began, generations) < 0)
        return -1;
    return advance(s, (unsigned)(generations % SPARSE_HALO), generations % SPARSE_HALO != 0, began,
                   generations);
}

int life_sparse_population(life_sparse *s, uint64_t *population)
{
    if (no_handle(s, __func__))
        return -1;
    clndrange_t all = clndrange_init1d(0, s->counters, COUNTERS);
    if (sparse_to_device(s) < 0)
        return -1;
    s->launches++;
    if (sparse_status(clforka(s->ctx, SPARSE_DEVICE, s->count, &all, UNWAITED, s->pool.cells[0],
                              s->pool.cells[1], s->pool.control, s->sums)) < 0 ||
        sparse_status(clmsync(s->ctx, SPARSE_DEVICE, s->sums, CL_MEM_HOST | UNWAITED)) < 0 ||
        sparse_status(clwait(s->ctx, SPARSE_DEVICE, CL_ALL_EVENT)) < 0)
        return -1;
    *population = 0;
    for (size_t i = 0; i < s->counters; i++)
        *population += s->sums[i];
    return 0;
}

/* ---- Questions. ------------------------------------------------------------------------------ */

uint64_t life_sparse_generation(const life_sparse *s)
{
    if (no_handle(s, __func__))
        return 0;
    return s->generation;
}

const char *life_sparse_rule(const life_sparse *s)
{
    if (no_handle(s, __func__))
        return "";
    return s->rule.text;
}

size_t life_sparse_tiles(const life_sparse *s)
{
    if (no_handle(s, __func__))
        return 0;
    return (size_t)s->pool.control[SPARSE_USED] - 1;
}

size_t life_sparse_bytes(const life_sparse *s)
{
    if (no_handle(s, __func__))
        return 0;
    return (size_t)s->pool.capacity * sparse_tile_bytes();
}

uint64_t life_sparse_launches(const life_sparse *s)
{
    if (no_handle(s, __func__))
        return 0;
    return s->launches;
}

uint64_t life_sparse_computed(const life_sparse *s)
{
    if (no_handle(s, __func__))
        return 0;
    return s->computed;
}

const char *life_sparse_shape(const life_sparse *s)
{
    if (no_handle(s, __func__))
        return "";
    return s->passes ? "tile=48 generations=8 group=1" : "tile=48 generations=8 group=64";
}

const char *life_sparse_explain(const life_sparse *s)
{
    if (no_handle(s, __func__))
        return "";
    return s->passes
               ? "fixed: tiles of 48 x 48 cells, vectors of eight rows; few tiles are taken by one item in launches of many passes"
               : "fixed: tiles of 48 x 48 cells, an item a row";
}
