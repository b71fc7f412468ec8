/* engine_bytes.c - the engine "packed" with a byte a cell, on the context's first device: Larger
 * than Life (larger_than_life.cl), rules of a file, and Generations on topologies other than the
 * torus (rule_table.cl).
 * SPDX-License-Identifier: MIT
 */
#include "life/transitions.h"
#include "life/cells.h"
#include "life/counting.h"
#include "life/engine.h"
#include "life/generation.h"

#include "core/embedded.h"
#include "core/round.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EMBEDDED(large_file, "life/larger_than_life.cl", life_larger_than_life_cl);
EMBEDDED(topology_text, "life/topology.h", life_topology_h);
EMBEDDED(mix_text, "life/mix.h", life_mix_h);
EMBEDDED(count_text, "life/count_bytes.h", life_count_bytes_h);
EMBEDDED(rule_table_file, "life/rule_table.cl", life_rule_table_cl);

enum { DEVICE = 0 };

/* Launch shape by kind of device: columns of a work-item; items across and bands down in a group;
 * items that sum a row or count. */
struct shape {
    int columns, across, down, items;
};
static const struct shape shape_cpu = {16, 8, 1, 1}, shape_gpu = {4, 32, 4, 64};

struct bytes {
    struct shape shape;
    int rows;                 /* of a band */
    size_t pitch, stride;     /* bytes of a row of cells; entries of a row of sums */
    unsigned char *grid[2];   /* [0] has the host's copy, [1] is scratch memory of the device */
    unsigned short *row_sums; /* larger_than_life.cl: prefix sums of rows */
    uint32_t *branch;         /* rule_table.cl: the transition tree */
    int current;
    struct life_cells image; /* packed rows for the caller, plane after plane */
    uint64_t *sums;
    size_t counters;
    struct pace pace; /* in cells */
    void *program;
    cl_kernel sum_rows, step, count;
    char explain[120];
};

static int bytes_failed(cl_event event)
{
    return event == (cl_event)-1 ? -1 : 0;
}

/* ---- Create and free. ------------------------------------------------------------------------ */

static void bytes_engine_free(life *lf)
{
    struct bytes *p = lf->state;
    if (!p)
        return;
    clfree(p->grid[0]);
    clfree(p->grid[1]);
    clfree(p->row_sums);
    clfree(p->branch);
    clfree(p->sums);
    if (p->program)
        clclose(lf->ctx, p->program);
    life_cells_free(&p->image);
    free(p);
    lf->state = NULL;
}

/* Append to `text`, which is large enough. */
#define APPEND(...) (used += snprintf(text + used, sizeof text - (size_t)used, __VA_ARGS__))

static void *bytes_open_larger_than_life(life *lf, const struct bytes *p)
{
    const struct embedded *const front[] = {&mix_text, &count_text};
    const struct life_large *l = &lf->rule.large;
    char text[400 + 4 * (LIFE_RANGE_MAX + 1)];
    int used = 0;
    APPEND("-D RANGE=%u -D STATES=%u -D MIDDLE=%u -D COLUMNS=%d -D ROWS=%d -D ITEMS=%d\n", l->range,
           lf->rule.states, l->middle, p->shape.columns, p->rows, p->shape.items);
    APPEND("#define BIRTH %u, %u\n#define SURVIVAL %u, %u\n", l->birth[0], l->birth[1],
           l->survival[0], l->survival[1]);
    if (l->shape != 'M') {
        APPEND("#define HALF ");
        for (unsigned dy = 0; dy <= l->range; dy++)
            APPEND("%u%s", life_large_half(l, dy), dy < l->range ? "," : "\n");
    }
    return embedded_open(lf->ctx, text, &large_file, 2, front);
}

static void *bytes_open_rule_table(life *lf)
{
    const struct embedded *const front[] = {&topology_text, &mix_text, &count_text};
    const struct life_transitions *t = lf->rule.transitions;
    static const unsigned char none[9] = {0};
    char text[1000];
    int used = 0;
    APPEND("-D STATES=%u -D BOUNDS=%d\n", lf->rule.states, (int)lf->bounds);
    if (t) {
        APPEND("#define EMPTY %d\n#define ROOT %u\n#define PLACES", life_transit(t, none), t->root);
        for (int i = 0; i < t->places; i++)
            APPEND("%s%d", i ? "," : " ", t->place[i]);
    } else {
        APPEND("#define EMPTY %u\n#define TABLE", life_table_next(&lf->rule.table, 0));
        for (int i = 0; i < 16; i++)
            APPEND("%s0x%08xu", i ? "," : " ",
                   (unsigned)(lf->rule.table.on[i / 2] >> 32 * (i % 2)));
    }
    APPEND("\n");
    return embedded_open(lf->ctx, text, &rule_table_file, 3, front);
}

static int bytes_open_kernels(life *lf, struct bytes *p)
{
    const bool large = lf->rule.large.range > 0;
    p->program = large ? bytes_open_larger_than_life(lf, p) : bytes_open_rule_table(lf);
    p->sum_rows = large && p->program ? clsym(lf->ctx, p->program, "life_large_sums", 0) : NULL;
    p->step =
        p->program ? clsym(lf->ctx, p->program, large ? "life_large" : "life_rule_table", 0) : NULL;
    p->count = p->step ? clsym(lf->ctx, p->program, "life_count_bytes", 0) : NULL;
    return p->count && (p->sum_rows || !large) ? 0 : -1;
}

/* Upload the transition tree of a rule file; a single unused entry for Generations. */
static int bytes_upload_tree(life *lf, struct bytes *p)
{
    const struct life_transitions *t = lf->rule.transitions;
    const size_t n = t ? t->nodes * t->states : 1;
    if (lf->rule.large.range)
        return 0;
    p->branch = clmalloc(lf->ctx, n * sizeof *p->branch, 0);
    if (!p->branch)
        return -1;
    memset(p->branch, 0, n * sizeof *p->branch);
    if (t)
        memcpy(p->branch, t->branch, n * sizeof *p->branch);
    return bytes_failed(clmsync(lf->ctx, DEVICE, p->branch, CL_MEM_DEVICE));
}

static int bytes_allocate(life *lf, struct bytes *p, const struct cldev_info *info)
{
    const bool large = lf->rule.large.range > 0;
    p->pitch = round_up(lf->width, (size_t)p->shape.columns);
    p->stride = round_up(p->pitch + 2 * (size_t)lf->rule.large.range + 2,
                         16); /* life_large_sums writes 16 entries at a time */
    const double cells = (double)p->pitch * (double)lf->height,
                 entries = large ? (double)p->stride * (double)lf->height * sizeof *p->row_sums : 0;
    const double most = entries > cells ? entries : cells;
    if (most > (double)info->dev_max_mem_alloc_sz ||
        2 * cells + entries > (double)info->dev_global_mem_sz)
        return clerror_set(
            ENOMEM,
            "life: %zu x %zu cells under the rule %s need %.4g MB, including a buffer of %.4g MB; %s has %.4g MB of memory",
            lf->width, lf->height, lf->rule.text, (2 * cells + entries) / 1e6, most / 1e6,
            info->dev_name, (double)info->dev_global_mem_sz / 1e6);
    p->counters = (size_t)p->shape.items * (info->dev_max_core ? info->dev_max_core : 1);
    p->grid[0] = clmalloc(lf->ctx, (size_t)cells, CL_MEM_ZEROCOPY);
    p->grid[1] = clmalloc(lf->ctx, (size_t)cells, CL_MEM_DEVONLY);
    p->row_sums = large ? clmalloc(lf->ctx, (size_t)entries, CL_MEM_DEVONLY) : NULL;
    p->sums = clmalloc(lf->ctx, LIFE_SLOTS * p->counters * 2 * sizeof(uint64_t), 0);
    lf->device_bytes = (size_t)(2 * cells + entries);
    if (!p->grid[0] || !p->grid[1] || (large && !p->row_sums) || !p->sums ||
        bytes_upload_tree(lf, p) < 0)
        return -1;
    return life_cells_alloc(&p->image, lf->width, lf->height * life_planes_of(lf));
}

/* Choose the rows of a band. A band begins with a sum over all rows in range, so its length grows
 * with the range. */
static void bytes_choose_shape(struct bytes *p, const struct life_large *l,
                               const struct cldev_info *info)
{
    const bool square = l->shape == 'M';
    p->shape = info->dev_type & CL_DEVICE_TYPE_CPU ? shape_cpu : shape_gpu;
    if (!l->range) {
        p->shape.columns = p->rows = 1;
        snprintf(p->explain, sizeof p->explain,
                 "fixed: a cell an item, a byte a cell, a generation a launch");
        return;
    }
    p->rows = !square ? 4 : l->range < 8 ? 16 : l->range < 64 ? 32 : 128;
    snprintf(p->explain, sizeof p->explain,
             "fixed: %d columns and %d rows an item, by sums of rows%s", p->shape.columns, p->rows,
             square ? ", one in and one out" : "");
}

static int bytes_create(life *lf, const struct life_options *options)
{
    (void)options;
    struct bytes *p = calloc(1, sizeof *p);
    struct cldev_info *info = calloc(clgetndev(lf->ctx), sizeof *info);
    lf->state = p;
    int status = -1;
    if (!p || !info) {
        clerror_set(ENOMEM, "life: out of memory for an engine");
    } else if (clgetdevinfo(lf->ctx, info) == 0) {
        bytes_choose_shape(p, &lf->rule.large, &info[DEVICE]);
        p->pace = pace_of(2e7);
        status = bytes_allocate(lf, p, &info[DEVICE]) < 0 ? -1 : bytes_open_kernels(lf, p);
    }
    free(info);
    if (status < 0)
        bytes_engine_free(lf);
    return status;
}

/* ---- The host's rows. ------------------------------------------------------------------------ */

static uint64_t *bytes_plane(life *lf, unsigned plane, size_t y)
{
    struct bytes *p = lf->state;
    return p->image.word + (plane * lf->height + y) * p->image.stride;
}

static uint64_t *bytes_row(life *lf, size_t y)
{
    return bytes_plane(lf, 0, y);
}

static int bytes_upload(life *lf)
{
    struct bytes *p = lf->state;
    memset(p->grid[0], 0, p->pitch * lf->height);
    for (size_t y = 0; y < lf->height; y++)
        life_states_of_planes(lf, 0, y, lf->width, p->grid[0] + y * p->pitch);
    p->current = 0;
    return bytes_failed(clmsync(lf->ctx, DEVICE, p->grid[0], CL_MEM_DEVICE));
}

static int bytes_download(life *lf)
{
    struct bytes *p = lf->state;
    if (p->current && bytes_failed(clmcopy(lf->ctx, DEVICE, p->grid[1], p->grid[0], UNWAITED)))
        return -1;
    p->current = 0;
    if (bytes_failed(clmsync(lf->ctx, DEVICE, p->grid[0], CL_MEM_HOST)))
        return -1;
    for (size_t y = 0; y < lf->height; y++)
        life_states_to_planes(lf, 0, y, lf->width, p->grid[0] + y * p->pitch);
    return 0;
}

/* ---- Stepping. ------------------------------------------------------------------------------- */

static int bytes_wait(life *lf)
{
    struct bytes *p = lf->state;
    return life_rows_wait(lf, &p->pace);
}

static int bytes_sum_rows(life *lf)
{
    struct bytes *p = lf->state;
    const size_t items = (size_t)p->shape.items;
    clndrange_t ndr = clndrange_init1d(0, lf->height * items, items);
    lf->launches++;
    return bytes_failed(clforka(lf->ctx, DEVICE, p->sum_rows, &ndr, UNWAITED, p->grid[p->current],
                                p->row_sums, (cl_int)lf->width, (cl_ulong)p->pitch,
                                (cl_ulong)p->stride, (cl_int)(lf->bounds == LIFE_TORUS)));
}

/* Enqueue rows y ... y + rows - 1, rounded up to whole groups: the next launch writes the surplus
 * rows again, with equal values. */
static int bytes_start_rows(life *lf, size_t y, size_t rows)
{
    struct bytes *p = lf->state;
    const size_t across = (size_t)p->shape.across, down = (size_t)p->shape.down,
                 bands = (rows + (size_t)p->rows - 1) / (size_t)p->rows;
    clndrange_t ndr = clndrange_init2d(0, round_up(p->pitch / (size_t)p->shape.columns, across),
                                       across, 0, round_up(bands, down), down);
    if (!lf->rule.large.range)
        return bytes_failed(clforka(lf->ctx, DEVICE, p->step, &ndr, UNWAITED, p->grid[p->current],
                                    p->grid[!p->current], p->branch, (cl_int)y, (cl_int)lf->width,
                                    (cl_int)lf->height, (cl_ulong)p->pitch,
                                    (cl_int)lf->grid.topology, (cl_long)lf->grid.shift));
    return bytes_failed(clforka(lf->ctx, DEVICE, p->step, &ndr, UNWAITED, p->grid[p->current],
                                p->grid[!p->current], p->row_sums, (cl_int)y, (cl_int)lf->width,
                                (cl_int)lf->height, (cl_ulong)p->pitch, (cl_ulong)p->stride,
                                (cl_int)(lf->bounds == LIFE_TORUS)));
}

static int bytes_generation(life *lf)
{
    struct bytes *p = lf->state;
    if ((p->sum_rows && bytes_sum_rows(lf) < 0) ||
        life_rows_generation(lf, &p->pace, (size_t)p->rows, bytes_start_rows) < 0)
        return -1;
    p->current = !p->current;
    return 0;
}

static int bytes_advance(life *lf, uint64_t generations)
{
    struct bytes *p = lf->state;
    return life_rows_advance(lf, &p->pace, generations, bytes_generation);
}

static int bytes_step(life *lf, uint64_t generations)
{
    const int status = bytes_advance(lf, generations);
    return bytes_wait(lf) < 0 ? -1 : status;
}

/* ---- Counting. ------------------------------------------------------------------------------- */

static int bytes_count(life *lf, size_t slot)
{
    struct bytes *p = lf->state;
    clndrange_t ndr = clndrange_init1d(0, p->counters, (size_t)p->shape.items);
    lf->launches++;
    return bytes_failed(clforka(lf->ctx, DEVICE, p->count, &ndr, UNWAITED, p->grid[p->current],
                                (cl_ulong)(p->pitch * lf->height), p->sums,
                                (cl_ulong)(slot * p->counters)));
}

static int bytes_collect(life *lf, size_t slots, struct life_sample *sample)
{
    struct bytes *p = lf->state;
    if (bytes_failed(clmsync(lf->ctx, DEVICE, p->sums, CL_MEM_HOST | UNWAITED)) ||
        bytes_wait(lf) < 0)
        return -1;
    for (size_t slot = 0; slot < slots; slot++) {
        sample[slot].population = sample[slot].hash = 0;
        life_sample_add(&sample[slot], p->sums + 2 * slot * p->counters, p->counters);
    }
    return 0;
}

static int bytes_trace(life *lf, size_t n, struct life_sample *sample)
{
    static const struct life_counting by = {bytes_advance, bytes_count, bytes_collect};
    return life_trace_slots(lf, &by, n, sample);
}

static unsigned bytes_devices(const life *lf)
{
    (void)lf;
    return 1;
}

static const char *bytes_explain(const life *lf, unsigned dev)
{
    const struct bytes *p = lf->state;
    return dev == 0 ? p->explain : "";
}

const struct life_backend life_bytes_backend = {
    .create = bytes_create,
    .free = bytes_engine_free,
    .row = bytes_row,
    .plane = bytes_plane,
    .upload = bytes_upload,
    .download = bytes_download,
    .step = bytes_step,
    .trace = bytes_trace,
    .devices = bytes_devices,
    .explain = bytes_explain,
};
