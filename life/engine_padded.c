/* engine_padded.c - the engines "global" and "local": an int per cell, on a grid padded with ghost
 * cells.
 *
 * A generation is up to three launches: ghost rows, ghost columns (both only on a torus), cells.
 * global.cl and local.cl explain the layout and the kernels. Both engines run on the context's
 * first device.
 * SPDX-License-Identifier: MIT
 */
#include "life/counting.h"
#include "life/engine.h"
#include "life/generation.h"

#include "core/embedded.h"
#include "core/round.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EMBEDDED(global_file, "life/global.cl", life_global_cl);
EMBEDDED(local_file, "life/local.cl", life_local_cl);
EMBEDDED(topology_text, "life/topology.h", life_topology_h);
EMBEDDED(edges_file, "life/edges.cl", life_edges_cl);
EMBEDDED(mix_text, "life/mix.h", life_mix_h);
EMBEDDED(count_file, "life/count.cl", life_count_cl);

enum { DEVICE = 0 };

/* Launch shape by kind of device. */
struct shape {
    int group_x, group_y; /* cells of a work-group */
    int ghosts;           /* work-items in a group of the ghost kernels */
    int count, counts;    /* items in a group of the counting kernel, groups per compute unit */
};
static const struct shape shape_cpu = {64, 16, 64, 1, 4}, shape_gpu = {32, 8, 128, 128, 8};

struct padded {
    struct shape shape;
    char text[120];
    int *grid[2]; /* [0] has the host's copy, [1] is scratch memory of the device */
    int current;
    struct life_cells image; /* packed rows for the caller */
    uint64_t *sums;
    size_t groups;
    struct pace pace;                       /* in cells */
    void *global, *local, *counter, *edges; /* programs */
    cl_kernel rows, columns, topology, cells, count;
};

static size_t pitch_of(const life *lf)
{
    return lf->width + 2;
}

static int padded_failed(cl_event event)
{
    return event == (cl_event)-1 ? -1 : 0;
}

/* ---- Create and free. ------------------------------------------------------------------------ */

static void padded_free(life *lf)
{
    struct padded *p = lf->state;
    if (!p)
        return;
    clfree(p->grid[0]);
    clfree(p->grid[1]);
    clfree(p->sums);
    void *const programs[] = {p->global, p->local, p->counter, p->edges};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (programs[i])
            clclose(lf->ctx, programs[i]);
    life_cells_free(&p->image);
    free(p);
    lf->state = NULL;
}

static int padded_open_kernels(life *lf, struct padded *p)
{
    const struct embedded *const front[] = {&topology_text}, *const count_front[] = {&mix_text};
    char options[600], group[64];
    int used = snprintf(
        options, sizeof options, "-D BIRTH=%u -D SURVIVAL=%u -D GROUP_X=%d -D GROUP_Y=%d\n",
        lf->rule.rule.birth, lf->rule.rule.survival, p->shape.group_x, p->shape.group_y);
    if (!lf->rule.counts) {
        used += snprintf(options + used, sizeof options - (size_t)used, "#define TABLE {");
        for (int i = 0; i < 16; i++)
            used += snprintf(options + used, sizeof options - (size_t)used, "0x%08xu%s",
                             (unsigned)(lf->rule.table.on[i / 2] >> 32 * (i % 2)),
                             i < 15 ? "," : "}\n");
    }
    snprintf(group, sizeof group, "-D GROUP=%d", p->shape.count);
    p->global = embedded_open(lf->ctx, options, &global_file, 0, NULL);
    p->counter = embedded_open(lf->ctx, group, &count_file, 1, count_front);
    if (!p->global || !p->counter)
        return -1;
    if (lf->engine == LIFE_LOCAL &&
        !(p->local = embedded_open(lf->ctx, options, &local_file, 0, NULL)))
        return -1;
    if (lf->bounds == LIFE_JOINED &&
        (!(p->edges = embedded_open(lf->ctx, "", &edges_file, 1, front)) ||
         !(p->topology = clsym(lf->ctx, p->edges, "life_ghosts_topology", 0))))
        return -1;
    p->rows = clsym(lf->ctx, p->global, "life_ghost_rows", 0);
    p->columns = clsym(lf->ctx, p->global, "life_ghost_columns", 0);
    p->cells = lf->engine == LIFE_LOCAL ? clsym(lf->ctx, p->local, "life_local", 0)
                                        : clsym(lf->ctx, p->global, "life_global", 0);
    p->count = clsym(lf->ctx, p->counter, "life_count_padded", 0);
    return p->rows && p->columns && p->cells && p->count ? 0 : -1;
}

static int padded_allocate(life *lf, struct padded *p, const struct cldev_info *info)
{
    const unsigned long long bytes =
        (unsigned long long)pitch_of(lf) * (lf->height + 2) * sizeof(int);
    if (bytes > info->dev_max_mem_alloc_sz || 2 * bytes > info->dev_global_mem_sz)
        return clerror_set(
            ENOMEM,
            "life: the engine %s needs two buffers of %llu bytes for %zu x %zu cells, "
            "and %s has %llu bytes of memory; the engine packed needs a 32nd of that",
            life_engine_name(lf->engine), bytes, lf->width, lf->height, info->dev_name,
            (unsigned long long)info->dev_global_mem_sz);
    p->groups = (size_t)p->shape.counts * (info->dev_max_core ? info->dev_max_core : 1);
    p->grid[0] = clmalloc(lf->ctx, (size_t)bytes, CL_MEM_ZEROCOPY);
    p->grid[1] =
        clmalloc(lf->ctx, (size_t)bytes, CL_MEM_ZEROCOPY); /* on a plane its ghosts stay 0 */
    p->sums = clmalloc(lf->ctx, LIFE_SLOTS * p->groups * 2 * sizeof(uint64_t), 0);
    lf->device_bytes = 2 * (size_t)bytes;
    return p->grid[0] && p->grid[1] && p->sums ? life_cells_alloc(&p->image, lf->width, lf->height)
                                               : -1;
}

static int padded_create(life *lf, const struct life_options *options)
{
    (void)options;
    struct padded *p = calloc(1, sizeof *p);
    struct cldev_info *info = calloc(clgetndev(lf->ctx), sizeof *info);
    lf->state = p;
    int status = -1;
    if (!p || !info) {
        clerror_set(ENOMEM, "life: out of memory for an engine");
    } else if (clgetdevinfo(lf->ctx, info) == 0) {
        p->pace = pace_of(2e7);
        p->shape = info[DEVICE].dev_type & CL_DEVICE_TYPE_CPU ? shape_cpu : shape_gpu;
        snprintf(p->text, sizeof p->text, "group_x=%d group_y=%d ghosts=%d count=%d counts=%d",
                 p->shape.group_x, p->shape.group_y, p->shape.ghosts, p->shape.count,
                 p->shape.counts);
        status = padded_allocate(lf, p, &info[DEVICE]);
        if (status == 0)
            status = padded_open_kernels(lf, p);
    }
    free(info);
    if (status < 0)
        padded_free(lf);
    return status;
}

/* ---- The host's rows. ------------------------------------------------------------------------ */

static uint64_t *padded_row(life *lf, size_t y)
{
    struct padded *p = lf->state;
    return p->image.word + y * p->image.stride;
}

static int padded_upload(life *lf)
{
    struct padded *p = lf->state;
    for (size_t y = 0; y < lf->height; y++) {
        int *row = p->grid[0] + (y + 1) * pitch_of(lf) + 1;
        for (size_t x = 0; x < lf->width; x++)
            row[x] = life_cells_at(&p->image, x, y);
    }
    p->current = 0;
    if (padded_failed(clmsync(lf->ctx, DEVICE, p->grid[0], CL_MEM_DEVICE)))
        return -1;
    if (padded_failed(clmsync(lf->ctx, DEVICE, p->grid[1], CL_MEM_DEVICE)))
        return -1;
    return 0;
}

static int padded_download(life *lf)
{
    struct padded *p = lf->state;
    const int *grid = p->grid[p->current];
    if (padded_failed(clmsync(lf->ctx, DEVICE, p->grid[p->current], CL_MEM_HOST)))
        return -1;
    for (size_t y = 0; y < lf->height; y++) {
        const int *from = grid + (y + 1) * pitch_of(lf) + 1;
        uint64_t *row = padded_row(lf, y);
        memset(row, 0, lf->words * sizeof *row);
        for (size_t x = 0; x < lf->width; x++)
            row[x / 64] |= (uint64_t)(from[x] != 0) << x % 64;
    }
    return 0;
}

/* ---- Stepping. ------------------------------------------------------------------------------- */

static int padded_fill_ghosts(life *lf)
{
    struct padded *p = lf->state;
    const size_t group = (size_t)p->shape.ghosts;
    clndrange_t across = clndrange_init1d(0, round_up(lf->width, group), group);
    clndrange_t down = clndrange_init1d(0, round_up(lf->height + 2, group), group);
    lf->launches += 2;
    if (padded_failed(clforka(lf->ctx, DEVICE, p->rows, &across, UNWAITED, p->grid[p->current],
                              (cl_int)lf->width, (cl_int)lf->height)))
        return -1;
    if (padded_failed(clforka(lf->ctx, DEVICE, p->columns, &down, UNWAITED, p->grid[p->current],
                              (cl_int)lf->width, (cl_int)lf->height)))
        return -1;
    return 0;
}

/* Fill the ghosts on a topology other than the torus. */
static int padded_fill_topology_ghosts(life *lf)
{
    struct padded *p = lf->state;
    const size_t group = (size_t)p->shape.ghosts;
    clndrange_t ndr = clndrange_init1d(0, round_up(2 * (pitch_of(lf) + lf->height), group), group);
    lf->launches++;
    return padded_failed(clforka(lf->ctx, DEVICE, p->topology, &ndr, UNWAITED, p->grid[p->current],
                                 (cl_int)lf->width, (cl_int)lf->height, (cl_int)lf->grid.topology,
                                 (cl_long)lf->grid.shift));
}

static int padded_wait(life *lf)
{
    struct padded *p = lf->state;
    return life_rows_wait(lf, &p->pace);
}

/* Enqueue the cells of rows y ... y + rows - 1, y a multiple of the group's height. */
static int padded_start_cells(life *lf, size_t y, size_t rows)
{
    struct padded *p = lf->state;
    const struct shape *s = &p->shape;
    clndrange_t ndr =
        clndrange_init2d(0, round_up(lf->width, (size_t)s->group_x), (size_t)s->group_x, y,
                         round_up(rows, (size_t)s->group_y), (size_t)s->group_y);
    return padded_failed(clforka(lf->ctx, DEVICE, p->cells, &ndr, UNWAITED, p->grid[p->current],
                                 p->grid[!p->current], (cl_int)lf->width, (cl_int)lf->height));
}

static int padded_generation(life *lf)
{
    struct padded *p = lf->state;
    if ((lf->bounds == LIFE_TORUS && padded_fill_ghosts(lf) < 0) ||
        (lf->bounds == LIFE_JOINED && padded_fill_topology_ghosts(lf) < 0) ||
        life_rows_generation(lf, &p->pace, (size_t)p->shape.group_y, padded_start_cells) < 0)
        return -1;
    p->current = !p->current;
    return 0;
}

static int padded_advance(life *lf, uint64_t generations)
{
    struct padded *p = lf->state;
    return life_rows_advance(lf, &p->pace, generations, padded_generation);
}

static int padded_step(life *lf, uint64_t generations)
{
    const int status = padded_advance(lf, generations);
    return padded_wait(lf) < 0 ? -1 : status;
}

/* ---- Counting. ------------------------------------------------------------------------------- */

static int padded_count(life *lf, size_t slot)
{
    struct padded *p = lf->state;
    clndrange_t ndr =
        clndrange_init1d(0, p->groups * (size_t)p->shape.count, (size_t)p->shape.count);
    lf->launches++;
    return padded_failed(clforka(lf->ctx, DEVICE, p->count, &ndr, UNWAITED, p->grid[p->current],
                                 (cl_int)lf->width, (cl_int)lf->height, p->sums,
                                 (cl_ulong)(slot * p->groups)));
}

static int padded_collect(life *lf, size_t slots, struct life_sample *sample)
{
    struct padded *p = lf->state;
    /* The wait reports kernels that failed before the copy. */
    if (padded_failed(clmsync(lf->ctx, DEVICE, p->sums, CL_MEM_HOST | UNWAITED)) ||
        padded_failed(clwait(lf->ctx, DEVICE, CL_ALL_EVENT)))
        return -1;
    for (size_t slot = 0; slot < slots; slot++) {
        sample[slot].population = sample[slot].hash = 0;
        life_sample_add(&sample[slot], p->sums + 2 * slot * p->groups, p->groups);
    }
    return 0;
}

static int padded_trace(life *lf, size_t n, struct life_sample *sample)
{
    static const struct life_counting by = {padded_advance, padded_count, padded_collect};
    return life_trace_slots(lf, &by, n, sample);
}

static unsigned padded_devices(const life *lf)
{
    (void)lf;
    return 1;
}

static const char *padded_shape(const life *lf, unsigned dev)
{
    const struct padded *p = lf->state;
    return dev == 0 ? p->text : "";
}

static const char *padded_explain(const life *lf, unsigned dev)
{
    (void)lf;
    return dev == 0 ? "fixed, for teaching" : "";
}

const struct life_backend life_padded_backend = {
    .create = padded_create,
    .free = padded_free,
    .row = padded_row,
    .upload = padded_upload,
    .download = padded_download,
    .step = padded_step,
    .trace = padded_trace,
    .devices = padded_devices,
    .shape = padded_shape,
    .explain = padded_explain,
};
