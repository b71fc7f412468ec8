/* device_grid.c - grids on the context's first device: memory, launches in slices, counting.
 * SPDX-License-Identifier: MIT
 */
#include "life/device_grid.h"
#include "life/cells.h"
#include "life/counting.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BACKLOG = 256 }; /* generations enqueued before the host waits */

/* ---- Create and free. ------------------------------------------------------------------------ */

void device_grid_free(life *lf)
{
    struct device_grid *g = lf->state;
    if (!g)
        return;
    if (g->image.word != g->grid[0])
        life_cells_free(&g->image);
    clfree(g->grid[0]);
    clfree(g->grid[1]);
    clfree(g->extra);
    clfree(g->sums);
    for (int i = 0; i < DEVICE_PROGRAMS; i++)
        if (g->program[i])
            clclose(lf->ctx, g->program[i]);
    free(g);
    lf->state = NULL;
}

int device_grid_create(life *lf, size_t bytes, const struct device_grid_how *how,
                       int (*open)(life *lf, const struct cldev_info *info))
{
    struct device_grid *g = lf->state = calloc(1, bytes);
    struct cldev_info *info = calloc(clgetndev(lf->ctx), sizeof *info);
    int status = -1;
    if (!g || !info) {
        clerror_set(ENOMEM, "life: out of memory for an engine");
    } else if (clgetdevinfo(lf->ctx, info) == 0) {
        g->how = how;
        status = open(lf, &info[DEVICE]);
    }
    free(info);
    if (status < 0)
        device_grid_free(lf);
    return status;
}

int device_grid_open_kernels(life *lf, const char *name, const char *counter,
                             void *(*open)(life *lf, const struct life_family *rule))
{
    struct device_grid *g = lf->state;
    const int programs = lf->rule.row->form == LIFE_FORM_PAIR ? 2 : 1;
    for (int odd = 0; odd < programs; odd++) {
        const struct life_family half = life_family_half(&lf->rule, odd);
        g->program[odd] = open(lf, &half);
        g->step_of[odd] = g->program[odd] ? clsym(lf->ctx, g->program[odd], name, 0) : NULL;
        if (!g->step_of[odd])
            return -1;
    }
    if (programs == 1)
        g->step_of[1] = g->step_of[0];
    g->counter = clsym(lf->ctx, g->program[0], counter, 0);
    return g->counter ? 0 : -1;
}

void device_grid_count(struct device_grid *g, const struct cldev_info *info, size_t group,
                       size_t groups, bool by_group)
{
    const size_t n = groups * (info->dev_max_core ? info->dev_max_core : 1);
    g->group = group;
    g->items = n * group;
    g->pairs = by_group ? n : g->items;
}

int device_grid_allocate(life *lf, const struct cldev_info *info, double bytes, double extra,
                         bool packed)
{
    struct device_grid *g = lf->state;
    const double most = extra > bytes ? extra : bytes, all = 2 * bytes + extra;
    if (most > (double)info->dev_max_mem_alloc_sz || all > (double)info->dev_global_mem_sz)
        return clerror_set(
            ENOMEM,
            "life: %zu x %zu cells under the rule %s by the engine %s need %.4g MB, including a "
            "buffer of %.4g MB; %s has %.4g MB of memory",
            lf->width, lf->height, lf->rule.text, life_engine_name(lf->engine), all / 1e6,
            most / 1e6, info->dev_name, (double)info->dev_global_mem_sz / 1e6);
    g->grid[0] = clmalloc(lf->ctx, (size_t)bytes, CL_MEM_ZEROCOPY);
    g->grid[1] = clmalloc(lf->ctx, (size_t)bytes, g->both ? CL_MEM_ZEROCOPY : CL_MEM_DEVONLY);
    g->extra = extra > 0 ? clmalloc(lf->ctx, (size_t)extra, g->extra_flags) : NULL;
    g->sums = clmalloc(lf->ctx, LIFE_SLOTS * g->pairs * 2 * sizeof(uint64_t), 0);
    lf->device_bytes = (size_t)all;
    if (!g->grid[0] || !g->grid[1] || (extra > 0 && !g->extra) || !g->sums)
        return -1;
    if (!packed)
        return life_cells_alloc(&g->image, lf->width, lf->height * life_planes_of(lf));
    g->image = (struct life_cells){lf->width, lf->height, lf->words, g->grid[0]};
    return 0;
}

/* ---- The host's rows. ------------------------------------------------------------------------ */

uint64_t *device_grid_plane(life *lf, unsigned plane, size_t y)
{
    const struct device_grid *g = lf->state;
    return g->image.word + (plane * lf->height + y) * g->image.stride;
}

uint64_t *device_grid_row(life *lf, size_t y)
{
    return device_grid_plane(lf, 0, y);
}

int device_grid_upload(life *lf)
{
    struct device_grid *g = lf->state;
    for (size_t y = 0; y < lf->height && g->how->pack; y++)
        g->how->pack(lf, y);
    g->current = 0;
    if (life_event_status(clmsync(lf->ctx, DEVICE, g->grid[0], CL_MEM_DEVICE)) < 0)
        return -1;
    return g->both ? life_event_status(clmsync(lf->ctx, DEVICE, g->grid[1], CL_MEM_DEVICE)) : 0;
}

int device_grid_download(life *lf)
{
    struct device_grid *g = lf->state;
    if (g->current &&
        life_event_status(clmcopy(lf->ctx, DEVICE, g->grid[1], g->grid[0], UNWAITED)) < 0)
        return -1;
    g->current = 0;
    if (life_event_status(clmsync(lf->ctx, DEVICE, g->grid[0], CL_MEM_HOST)) < 0)
        return -1;
    for (size_t y = 0; y < lf->height && g->how->unpack; y++)
        g->how->unpack(lf, y);
    return 0;
}

/* ---- Stepping. ------------------------------------------------------------------------------- */

static int device_grid_wait(life *lf)
{
    struct device_grid *g = lf->state;
    if (life_event_status(clwait(lf->ctx, DEVICE, CL_ALL_EVENT)) < 0)
        return -1;
    pace_waited(&g->pace);
    return 0;
}

/* Rows of the next slice, of `left` rows. */
static size_t slice_rows(const life *lf, const struct device_grid *g, size_t left)
{
    const double fit = pace_slice(&g->pace) / (double)lf->width;
    const size_t whole = fit >= (double)left      ? left
                         : fit < (double)g->slice ? g->slice
                                                  : (size_t)fit / g->slice * g->slice;
    return whole < left ? whole : left;
}

/* Enqueue a generation. The result is valid once all slices are done. */
static int device_grid_generation(life *lf)
{
    struct device_grid *g = lf->state;
    if (g->step_of[0])
        g->step = g->step_of[life_now(lf) & 1];
    if (g->how->before && g->how->before(lf) < 0)
        return -1;
    for (size_t y = 0, rows; y < lf->height; y += rows) {
        rows = slice_rows(lf, g, lf->height - y);
        const double cells = (double)rows * (double)lf->width;
        if (!pace_has_room(&g->pace, cells) &&
            (device_grid_wait(lf) < 0 || life_call_tell(lf, (double)y / (double)lf->height) < 0))
            return -1;
        pace_started(&g->pace, cells);
        if (life_event_status(g->how->start(lf, y, rows)) < 0)
            return -1;
        lf->launches++;
    }
    lf->call.done++;
    g->current = !g->current;
    return 0;
}

static int device_grid_advance(life *lf, uint64_t generations)
{
    int status = 0;
    for (uint64_t i = 1; i <= generations && status == 0; i++) {
        status = device_grid_generation(lf);
        if (status == 0 && i % BACKLOG == 0)
            status = device_grid_wait(lf);
    }
    return status;
}

int device_grid_step(life *lf, uint64_t generations)
{
    const int status = device_grid_advance(lf, generations);
    return device_grid_wait(lf) < 0 ? -1 : status;
}

/* ---- Counting. ------------------------------------------------------------------------------- */

static int count_slot(life *lf, size_t slot)
{
    const struct device_grid *g = lf->state;
    clndrange_t ndr = clndrange_init1d(0, g->items, g->group);
    lf->launches++;
    return life_event_status(g->how->count(lf, &ndr, slot * g->pairs));
}

/* The wait reports kernels that failed before the copy. */
static int collect_slots(life *lf, size_t slots, struct life_sample *sample)
{
    const struct device_grid *g = lf->state;
    if (life_event_status(clmsync(lf->ctx, DEVICE, g->sums, CL_MEM_HOST | UNWAITED)) < 0 ||
        device_grid_wait(lf) < 0)
        return -1;
    for (size_t slot = 0; slot < slots; slot++) {
        sample[slot].population = sample[slot].hash = 0;
        life_sample_add(&sample[slot], g->sums + 2 * slot * g->pairs, g->pairs);
    }
    return 0;
}

int device_grid_trace(life *lf, size_t n, struct life_sample *sample)
{
    static const struct life_counting by = {device_grid_advance, count_slot, collect_slots};
    return life_trace_slots(lf, &by, n, sample);
}

unsigned device_grid_devices(const life *lf)
{
    (void)lf;
    return 1;
}

const char *device_grid_shape(const life *lf, unsigned dev)
{
    return dev == 0 ? ((const struct device_grid *)lf->state)->shape : "";
}

const char *device_grid_explain(const life *lf, unsigned dev)
{
    return dev == 0 ? ((const struct device_grid *)lf->state)->explain : "";
}
