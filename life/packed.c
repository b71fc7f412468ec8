/* packed.c - the engine "packed": one bit a cell, on one device or several (see packed.h):
 * partitions, kernels, memory, the host's rows, counting.
 * SPDX-License-Identifier: MIT
 */
#include "life/persistent.h"
#include "life/cells.h"
#include "life/counting.h"

#include "core/embedded.h"
#include "core/round.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EMBEDDED(rows_file, "life/rows.cl", life_rows_cl);
EMBEDDED(tile_file, "life/tile.cl", life_tile_cl);
EMBEDDED(mix_text, "life/mix.h", life_mix_h);
EMBEDDED(count_file, "life/count.cl", life_count_cl);

/* ---- Partitions. ----------------------------------------------------------------------------- */

/* Relative speed of a device: compute units x clock; a GPU's unit counts as four of a CPU. */
static double device_weight(const struct cldev_info *info)
{
    const double kind = info->dev_type & CL_DEVICE_TYPE_CPU ? 16 : 64;
    return kind * info->dev_max_core * (info->dev_max_freq ? info->dev_max_freq : 1000);
}

/* Choose this rank's rows, in proportion to the speed of the devices of all ranks, or of all in a
 * row of blocks. The limits of a launch are the least of all ranks'. */
static int packed_divide_rows(life *lf, struct packed *p, const struct cldev_info *info)
{
    struct rank_shape {
        double weight;
        int32_t generations, devices, across, exchange;
    } own = {0, p->generations, (int32_t)p->n, p->part[0].shape.across, p->part[0].shape.exchange};
    const size_t ranks = (size_t)world_size(lf->world), rank = (size_t)world_rank(lf->world);
    struct rank_shape *of_rank = calloc(ranks, sizeof *of_rank);
    int status = world_reduce_status(
        lf->world, of_rank ? 0 : clerror_set(ENOMEM, "life: out of memory for a list of ranks"));
    if (status != 0)
        return free(of_rank), -1;
    for (size_t i = 0; i < p->n; i++)
        own.weight += device_weight(&info[i]);
    own.weight = lf->weight > 0 ? lf->weight : own.weight;
    status = world_gather(lf->world, &own, sizeof own, of_rank);
    double total = 0, sum = 0;
    size_t devices = 1;
    for (size_t r = 0; r < ranks; r++) {
        total += of_rank[r].weight;
        p->generations =
            of_rank[r].generations < p->generations ? of_rank[r].generations : p->generations;
        devices = (size_t)of_rank[r].devices > devices ? (size_t)of_rank[r].devices : devices;
    }
    if (status == 0)
        status = packed_arrange(lf, p, devices, (size_t)of_rank[0].across, of_rank[0].exchange);
    if (p->across > 1 && p->generations > 64)
        p->generations = 64; /* the cells beside a block */
    const size_t least = (size_t)p->generations;
    if (status == 0 && lf->height < p->down * least)
        status = clerror_set(
            EINVAL, "life: %zu rows are too few for %zu ranks, which need %zu each; start fewer",
            lf->height, p->down, least);
    for (size_t r = 0, first = 0; r < p->down && status == 0; r++) {
        const size_t from = first + least, to = lf->height - (p->down - 1 - r) * least;
        for (size_t k = 0; k < p->across; k++)
            sum += of_rank[r * p->across + k].weight;
        size_t end =
            r == p->down - 1 ? lf->height : (size_t)((double)lf->height * (sum / total) + 0.5);
        end = end < from ? from : end > to ? to : end;
        if (r == rank / p->across) {
            lf->first = first;
            lf->rows = end - first;
        }
        first = end;
    }
    free(of_rank);
    return status;
}

/* Cut the rows into partitions with a row for each generation of a launch at least, so that an
 * edge comes from one neighbour only. With too few rows for that, use fewer devices. */
static void packed_cut(const life *lf, struct packed *p, const struct cldev_info *info)
{
    const size_t least_rows = (size_t)p->generations;
    size_t n = p->n;
    while (n > 1 && lf->rows / n < least_rows)
        n--;
    double total = 0, sum = 0;
    for (size_t i = 0; i < n; i++)
        total += device_weight(&info[i]);
    const size_t last = lf->first + lf->rows;
    size_t first = lf->first;
    for (size_t i = 0; i < n; i++) {
        const size_t least = first + least_rows, most = last - (n - 1 - i) * least_rows;
        sum += device_weight(&info[i]);
        size_t end = lf->first + (size_t)((double)lf->rows * (sum / total) + 0.5);
        end = n == 1 || i == n - 1 ? last : end < least ? least : end > most ? most : end;
        p->part[i].first = first;
        p->part[i].rows = end - first;
        first = end;
    }
    p->n = n;
}

static void reduce_min(void *a, const void *b, void *arg)
{
    (void)arg;
    *(uint64_t *)a = *(const uint64_t *)b < *(uint64_t *)a ? *(const uint64_t *)b : *(uint64_t *)a;
}

/* Choose the halo. More halo rows mean fewer exchanges but more redundant work: take the rows for
 * `exchange` launches, limited to a hundredth of a partition, but no fewer than the rows for one
 * launch. */
static int packed_set_halo(const life *lf, struct packed *p)
{
    enum { SHARE = 100 };
    size_t rows = lf->rows, launches = 0;
    for (size_t i = 0; i < p->n; i++) {
        const size_t asked = (size_t)p->part[i].shape.exchange;
        rows = p->part[i].rows < rows ? p->part[i].rows : rows;
        launches = !i || asked < launches ? asked : launches;
    }
    const size_t each = (size_t)p->generations, beside = 64 / each;
    size_t most = rows / SHARE / each;
    if (p->across > 1 && most > beside)
        most = beside;
    uint64_t halo = packed_is_divided(lf, p) ? each * (launches < most ? launches
                                                       : most          ? most
                                                                       : 1)
                                             : UINT64_MAX;
    if (world_reduce(lf->world, &halo, sizeof halo, reduce_min, NULL) != 0)
        return -1;
    p->halo = packed_is_divided(lf, p) ? (size_t)halo : 0;
    p->halo_max = halo < UINT64_MAX ? (size_t)halo : each * beside; /* equal on all ranks */
    for (size_t i = 0; i < p->n; i++) {
        p->part[i].above = packed_has_above(lf, p, i) ? p->halo : 0;
        p->part[i].below = packed_has_below(lf, p, i) ? p->halo : 0;
    }
    return 0;
}

/* Choose the passes of a launch: enough for about most_cells cells, some tens of
 * milliseconds. */
static void packed_set_passes(const life *lf, struct packed *p)
{
    const double most_cells = 5e9, pass = (double)lf->width * (double)lf->height * p->generations;
    const bool alone =
        clgetndev(lf->ctx) == 1 &&
        world_size(lf->world) == 1; /* a program is built for all devices of the context */
    p->passes = alone ? (int)fmin(p->part[0].shape.passes, 1 + most_cells / pass) : 1;
}

static void packed_set_tiling(struct life_partition *s, const life *lf,
                              const struct cldev_info *info)
{
    const struct packed *p = lf->state;
    struct tiling *t = &s->tiling;
    const struct life_shape *shape = &s->shape;
    const size_t rows = packed_rows(s);
    s->units = info->dev_max_core ? info->dev_max_core : 1;
    if (shape->tile) {
        const size_t words = 2 * p->words, across = (size_t)shape->items * (size_t)shape->words;
        t->whole = lf->bounds == LIFE_TORUS && 32 * across % p->width == 0;
        t->own_words = (int)(t->whole ? across : across - 2);
        t->columns = divide_up(words, (size_t)t->own_words);
        t->own_rows = life_tile_rows(shape) - 2 * shape->generations;
    } else {
        const size_t span = (size_t)shape->span;
        t->own_words = (int)(p->words <= span ? p->words : span - 2);
        t->columns = divide_up(p->words, (size_t)t->own_words);
        t->stride = life_rows_stride(shape, p->words <= span ? p->words : span);
        t->local = life_rows_local(shape, t->stride, shape->generations);
        /* A band is no shorter than its redundant halo, unless units would idle. */
        size_t bands = divide_up(s->units * (size_t)shape->bands, t->columns);
        const size_t useful = rows / (size_t)shape->generations;
        bands = bands > useful ? useful : bands;
        t->own_rows = (int)divide_up(rows, bands ? bands : 1);
    }
    t->bands = divide_up(rows, (size_t)t->own_rows);
    t->own_rows = (int)divide_up(rows, t->bands); /* equal heights */
    t->bands = divide_up(rows, (size_t)t->own_rows);
}

/* ---- Kernels. -------------------------------------------------------------------------------- */

static void *packed_open_step(life *lf, const struct life_partition *s)
{
    char line[512];
    life_shape_options(&s->shape, lf, line, sizeof line);
    return packed_open_rule(lf, line, s->shape.ternary, s->shape.tile ? &tile_file : &rows_file,
                            s->shape.tile ? 2 : 1);
}

/* Open the kernels of partition i, or share the kernels of an earlier partition with the same
 * shape. */
static int packed_open_kernels(life *lf, struct packed *p, size_t i)
{
    const struct embedded *const front[] = {&mix_text};
    struct life_partition *s = &p->part[i];
    char group[64];
    for (size_t j = 0; j < i; j++)
        if (strcmp(p->part[j].row.shape, s->row.shape) == 0) {
            s->step = p->part[j].step;
            s->count = p->part[j].count;
            s->copy = p->part[j].copy;
            s->columns = p->part[j].columns;
            return 0;
        }
    snprintf(group, sizeof group, "-D GROUP=%d", s->shape.group);
    s->program = packed_open_step(lf, s);
    if (s->program)
        s->counter = embedded_open_as(CLLD_CACHE, lf->ctx, group, &count_file, 1, front);
    if (!s->program || !s->counter)
        return -1;
    s->step = clsym(lf->ctx, s->program,
                    s->shape.tile   ? "life_tile"
                    : p->passes > 1 ? "life_rows_passes"
                                    : "life_rows",
                    0);
    s->count =
        clsym(lf->ctx, s->counter, p->across > 1 ? "life_count_block" : "life_count_packed", 0);
    s->copy = clsym(lf->ctx, s->counter, "life_copy", 0);
    s->columns = clsym(lf->ctx, s->counter, "life_columns", 0);
    if (!s->step || !s->count || !s->copy || !s->columns)
        return -1;
    return clprofile_work(s->count, 0, 8. * (double)packed_rows(s) * (double)p->words,
                          CLPROF_SINGLE);
}

/* ---- Memory. --------------------------------------------------------------------------------- */

static int packed_check_memory(const life *lf, const struct life_partition *s,
                               const struct cldev_info *info)
{
    const size_t words = ((const struct packed *)lf->state)->words;
    const unsigned long long one = (unsigned long long)packed_rows(s) * words * 8;
    const double host = 8. * (double)lf->rows * (double)words;
    if (host > life_host_memory())
        return clerror_set(ENOMEM,
                           "life: %zu x %zu cells need %.4g MB on the host, which has %.4g MB",
                           lf->width, lf->height, host / 1e6, life_host_memory() / 1e6);
    if (one <= info->dev_max_mem_alloc_sz && 2 * one <= info->dev_global_mem_sz)
        return 0;
    return clerror_set(ENOMEM,
                       "life: %zu x %zu cells need two buffers of %llu bytes on %s, which has %llu "
                       "bytes of memory and buffers of at most %llu",
                       lf->width, s->rows, one, info->dev_name,
                       (unsigned long long)info->dev_global_mem_sz,
                       (unsigned long long)info->dev_max_mem_alloc_sz);
}

static int packed_allocate_part(life *lf, size_t i, const struct cldev_info *info)
{
    struct packed *p = lf->state;
    struct life_partition *s = &p->part[i];
    const size_t bytes = packed_rows(s) * p->words * sizeof(uint64_t);
    if (packed_check_memory(lf, s, info) < 0)
        return -1;
    s->groups = (size_t)s->shape.groups * s->units;
    s->grid[0] = clmalloc(lf->ctx, bytes, CL_MEM_ZEROCOPY);
    s->grid[1] = clmalloc(lf->ctx, bytes, CL_MEM_DEVONLY);
    s->sums = clmalloc(lf->ctx, LIFE_SLOTS * s->groups * 2 * sizeof(uint64_t), 0);
    const size_t turns =
        (32 + 16 * s->tiling.columns * s->tiling.bands) * sizeof *s->pass_state; /* see rows.cl */
    s->pass_state = p->passes > 1 ? clmalloc(lf->ctx, turns, 0) : NULL;
    if (!s->grid[0] || !s->grid[1] || !s->sums || (!s->pass_state && p->passes > 1))
        return -1;
    if (s->pass_state)
        memset(s->pass_state, 0, turns);
    if (s->pass_state && life_event_status(clmsync(lf->ctx, (cl_uint)i, s->pass_state,
                                                   CL_MEM_DEVICE | CL_EVENT_WAIT)))
        return -1;
    if (2 * bytes > lf->device_bytes)
        lf->device_bytes = 2 * bytes;
    return 0;
}

/* Add a halo transfer. Tags tell the two directions apart, since on a torus two ranks may be
 * neighbours twice. */
static int add_halo_transfer(life *lf, struct packed *p, int from, int to, int rank, bool up)
{
    const size_t bytes = p->halo * p->words * sizeof(uint64_t);
    struct halo_transfer *h = &p->transfer[p->transfers++];
    *h = (struct halo_transfer){.from = from, .to = to, .rank = rank, .tag = up, .up = up};
    for (int parity = 0; parity < 2; parity++)
        if (!(h->edge[parity] = clmalloc(lf->ctx, bytes, 0)))
            return -1;
    return 0;
}

/* Add transfers in both directions between neighbouring partitions, and to the ranks that have the
 * partitions above and below. */
static int add_halo_transfers(life *lf, struct packed *p)
{
    const int last = (int)p->n - 1, before = packed_rank_below(lf, p, p->down - 1),
              after = packed_rank_below(lf, p, 1);
    for (int i = 0; i <= last; i++) {
        const int next = i < last ? i + 1 : p->down > 1 ? OTHER_RANK : 0;
        if (packed_has_below(lf, p, (size_t)i) &&
            (add_halo_transfer(lf, p, i, next, after, false) ||
             add_halo_transfer(lf, p, next, i, after, true)))
            return -1;
    }
    if (p->down == 1 || !packed_has_above(lf, p, 0))
        return 0;
    if (add_halo_transfer(lf, p, 0, OTHER_RANK, before, true))
        return -1;
    return add_halo_transfer(lf, p, OTHER_RANK, 0, before, false);
}

static int packed_allocate_edges(life *lf, struct packed *p)
{
    if (!packed_is_divided(lf, p))
        return 0;
    p->transfer = calloc(2 * (p->n + 1), sizeof *p->transfer);
    if (!p->transfer)
        return clerror_set(ENOMEM, "life: out of memory for the list of edges");
    if (add_halo_transfers(lf, p) != 0)
        return -1;
    lf->device_bytes +=
        8 * p->halo * p->words * sizeof(uint64_t); /* two boundaries, two buffers, two directions */
    return 0;
}

static void packed_free(life *lf)
{
    struct packed *p = lf->state;
    if (!p)
        return;
    for (size_t i = 0; i < p->n && p->part; i++) {
        struct life_partition *s = &p->part[i];
        clfree(s->grid[0]);
        clfree(s->grid[1]);
        clfree(s->sums);
        clfree(s->pass_state);
        if (s->program)
            clclose(lf->ctx, s->program);
        if (s->counter)
            clclose(lf->ctx, s->counter);
    }
    for (size_t h = 0; h < p->transfers; h++) {
        if (p->transfer[h].ev_download)
            clReleaseEvent(p->transfer[h].ev_download);
        for (int parity = 0; parity < 2; parity++) {
            world_wait(lf->world, &p->transfer[h].request[parity],
                       p->transfer[h].request[parity] != NULL);
            clfree(p->transfer[h].edge[parity]);
        }
    }
    packed_persistent_free(lf);
    packed_raster_free(lf);
    packed_free_columns(p);
    free(p->transfer);
    free(p->part);
    free(p);
    lf->state = NULL;
}

static int packed_choose_shapes(const life *lf, struct packed *p,
                                const struct life_options *options, const struct cldev_info *info)
{
    for (size_t i = 0; i < p->n; i++) {
        struct life_shape *shape = &p->part[i].shape;
        if (life_shape_choose(shape, lf, (unsigned)i, &info[i], options->shape, &p->part[i].row) <
            0)
            return -1;
        if (!i || shape->generations < p->generations)
            p->generations = shape->generations;
    }
    return 0;
}

static int packed_create_parts(life *lf, struct packed *p, const struct cldev_info *info)
{
    if (world_size(lf->world) > 1 && packed_divide_rows(lf, p, info) < 0)
        return -1;
    packed_set_columns(lf, p);
    packed_cut(lf, p, info);
    if (!packed_is_divided(lf, p) && p->across == 1)
        p->generations = p->part[0].shape.generations;
    if (packed_set_halo(lf, p) < 0)
        return -1;
    packed_set_passes(lf, p);
    for (size_t i = 0; i < p->n; i++) {
        struct life_partition *s = &p->part[i];
        s->shape.generations = p->generations;
        s->shape.passes = p->passes;
        s->shape.across = (int)p->across;
        s->pace = pace_of(2e9);
        life_shape_print(&s->shape, s->row.shape, sizeof s->row.shape);
        packed_set_tiling(s, lf, &info[i]);
        if (packed_allocate_part(lf, i, &info[i]) < 0 || packed_open_kernels(lf, p, i) < 0)
            return -1;
    }
    if (packed_allocate_edges(lf, p) < 0)
        return -1;
    if (packed_allocate_columns(lf, p) < 0)
        return -1;
    if (packed_persistent_open(lf, info) < 0)
        return -1;
    return packed_warm(lf);
}

static int packed_create(life *lf, const struct life_options *options)
{
    struct packed *p = calloc(1, sizeof *p);
    lf->state = p;
    const size_t n = clgetndev(lf->ctx);
    struct cldev_info *info = calloc(n, sizeof *info);
    int status = 0;
    if (p) {
        p->n = n;
        p->poll_every = 1;
        p->across = p->down = 1;
        p->part = calloc(n, sizeof *p->part);
    }
    if (!p || !p->part || !info)
        status = clerror_set(ENOMEM, "life: out of memory for the list of devices");
    if (status == 0)
        status = clgetdevinfo(lf->ctx, info);
    if (status == 0)
        status = packed_choose_shapes(lf, p, options, info);
    status = world_reduce_status(lf->world, status);
    if (status == 0)
        status = packed_create_parts(lf, p, info);
    free(info);
    if (status < 0)
        packed_free(lf);
    return status;
}

/* ---- The host's rows. ------------------------------------------------------------------------ */

static uint64_t *packed_row(life *lf, size_t y)
{
    struct packed *p = lf->state;
    size_t i = 0;
    while (y >= p->part[i].first + p->part[i].rows) /* y is a row of this rank */
        i++;
    return p->part[i].grid[0] + (p->part[i].above + y - p->part[i].first) * p->words + p->side[0];
}

static int packed_upload(life *lf)
{
    struct packed *p = lf->state;
    p->halo_valid = 0;
    if (packed_discard_edges(lf) < 0)
        return -1;
    for (size_t i = 0; i < p->n; i++) {
        p->part[i].current = 0;
        if (life_event_status(
                clmsync(lf->ctx, (cl_uint)i, p->part[i].grid[0], CL_MEM_DEVICE | UNWAITED)))
            return -1;
    }
    return packed_wait(lf);
}

static int packed_download(life *lf)
{
    struct packed *p = lf->state;
    for (size_t i = 0; i < p->n; i++) {
        struct life_partition *s = &p->part[i];
        if (s->current &&
            life_event_status(clmcopy(lf->ctx, (cl_uint)i, s->grid[1], s->grid[0], UNWAITED)))
            return -1;
        s->current = 0;
        if (life_event_status(clmsync(lf->ctx, (cl_uint)i, s->grid[0], CL_MEM_HOST | UNWAITED)))
            return -1;
    }
    return packed_wait(lf);
}

static int packed_step(life *lf, uint64_t generations)
{
    int status = packed_advance(lf, generations);
    return packed_wait(lf) < 0 ? -1 : status;
}

/* ---- Counting. ------------------------------------------------------------------------------- */

static int packed_count(life *lf, size_t slot)
{
    struct packed *p = lf->state;
    for (size_t i = 0; i < p->n; i++) {
        struct life_partition *s = &p->part[i];
        clndrange_t ndr =
            clndrange_init1d(0, s->groups * (size_t)s->shape.group, (size_t)s->shape.group);
        const cl_ulong start = s->above * p->words + p->side[0],
                       place = s->first * lf->words + lf->from, sums = slot * s->groups;
        const cl_event counted =
            p->across > 1
                ? clforka(lf->ctx, (cl_uint)i, s->count, &ndr, UNWAITED, s->grid[s->current], start,
                          (cl_ulong)s->rows, (cl_ulong)p->words, (cl_ulong)lf->own, place,
                          (cl_ulong)lf->words, s->sums, sums)
                : clforka(lf->ctx, (cl_uint)i, s->count, &ndr, UNWAITED, s->grid[s->current], start,
                          (cl_ulong)(s->rows * lf->words), place, s->sums, sums);
        if (life_event_status(counted))
            return -1;
        lf->launches++;
    }
    return 0;
}

static int packed_collect(life *lf, size_t slots, struct life_sample *sample)
{
    struct packed *p = lf->state;
    for (size_t i = 0; i < p->n; i++) {
        struct life_partition *s = &p->part[i];
        if (life_event_status(clmsyncn(lf->ctx, (cl_uint)i, s->sums,
                                       slots * s->groups * 2 * sizeof(uint64_t),
                                       CL_MEM_HOST | UNWAITED)))
            return -1;
    }
    if (packed_wait(lf) < 0)
        return -1;
    uint64_t sums[LIFE_SLOTS][2];
    for (size_t slot = 0; slot < slots; slot++) {
        struct life_sample here = {0, 0, 0};
        for (size_t i = 0; i < p->n; i++) {
            const struct life_partition *s = &p->part[i];
            life_sample_add(&here, s->sums + 2 * slot * s->groups, s->groups);
        }
        sums[slot][0] = here.population;
        sums[slot][1] = here.hash;
    }
    if (world_add(lf->world, sums[0], 2 * slots) != 0)
        return -1;
    for (size_t slot = 0; slot < slots; slot++) {
        sample[slot].population = sums[slot][0];
        sample[slot].hash = sums[slot][1];
    }
    return 0;
}

static int packed_trace(life *lf, size_t n, struct life_sample *sample)
{
    static const struct life_counting by = {packed_advance, packed_count, packed_collect};
    return life_trace_slots(lf, &by, n, sample);
}

static unsigned packed_devices(const life *lf)
{
    const struct packed *p = lf->state;
    return (unsigned)p->n;
}

static const char *packed_shape(const life *lf, unsigned dev)
{
    const struct packed *p = lf->state;
    return dev < p->n ? p->part[dev].row.shape : "";
}

static const char *packed_explain(const life *lf, unsigned dev)
{
    const struct packed *p = lf->state;
    return dev < p->n ? p->part[dev].row.source : "";
}

const struct life_backend life_packed_backend = {
    .create = packed_create,
    .free = packed_free,
    .row = packed_row,
    .upload = packed_upload,
    .download = packed_download,
    .step = packed_step,
    .trace = packed_trace,
    .window = packed_window,
    .squares = packed_squares,
    .devices = packed_devices,
    .shape = packed_shape,
    .explain = packed_explain,
};
