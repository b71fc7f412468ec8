/* engine_bytes.c - the engine "packed" where a cell is a byte, on the context's first device:
 * Larger than Life (larger_than_life.cl), rules that a file lists, and Generations on grids whose
 * edges are joined otherwise than a torus's (rule_table.cl). SPDX-License-Identifier: MIT
 */
#include "life/transitions.h"

#include "core/embedded.h"
#include "core/round.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EMBEDDED(large_file, "life/larger_than_life.cl", life_larger_than_life_cl);
EMBEDDED(joined_text, "life/topology.h", life_topology_h);
EMBEDDED(mix_text, "life/mix.h", life_mix_h);
EMBEDDED(count_text, "life/count_bytes.h", life_count_bytes_h);
EMBEDDED(near_file, "life/rule_table.cl", life_rule_table_cl);

enum { DEVICE = 0 };

/* How kernels are launched, by kind of device: cells of a work-item side by side, bands in a group,
 * and items that add up a row, or count. */
struct shape {
    int columns, across, down, items;
};
static const struct shape shape_cpu = {16, 8, 1, 1}, shape_gpu = {4, 32, 4, 64};

struct bytes {
    struct shape shape;
    int rows;                 /* of a band */
    size_t pitch, stride;     /* bytes of a row of cells; entries of one of sums */
    unsigned char *grid[2];   /* [0] has the host's copy, [1] is scratch memory of the device */
    unsigned short *row_sums; /* of larger_than_life.cl */
    uint32_t *branch;         /* of a tree, for rule_table.cl */
    int now;
    struct life_cells image; /* the packed rows that the front reads and writes, of one bit plane
                                behind the other */
    uint64_t *sums;
    size_t counters;
    struct pace pace; /* in cells */
    void *program;
    cl_kernel add, step, count;
    char explain[120];
};

static int failed(cl_event event)
{
    return event == (cl_event)-1 ? -1 : 0;
}

/* ---- Making and freeing. --------------------------------------------------------------------- */

static void bytes_free(life *lf)
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

/* Adds to a text of options, which has room for it. */
#define APPEND(...) (used += snprintf(text + used, sizeof text - (size_t)used, __VA_ARGS__))

static void *open_large(life *lf, const struct bytes *p)
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

static void *open_near(life *lf)
{
    const struct embedded *const front[] = {&joined_text, &mix_text, &count_text};
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
    return embedded_open(lf->ctx, text, &near_file, 3, front);
}

static int open_kernels(life *lf, struct bytes *p)
{
    const bool large = lf->rule.large.range > 0;
    p->program = large ? open_large(lf, p) : open_near(lf);
    p->add = large && p->program ? clsym(lf->ctx, p->program, "life_large_sums", 0) : NULL;
    p->step = p->program ? clsym(lf->ctx, p->program, large ? "life_large" : "life_near", 0) : NULL;
    p->count = p->step ? clsym(lf->ctx, p->program, "life_count_bytes", 0) : NULL;
    return p->count && (p->add || !large) ? 0 : -1;
}

/* The tree of a rule that a file lists; others have one entry. */
static int allocate_tree(life *lf, struct bytes *p)
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
    return failed(clmsync(lf->ctx, DEVICE, p->branch, CL_MEM_DEVICE));
}

static int allocate(life *lf, struct bytes *p, const struct cldev_info *info)
{
    const bool large = lf->rule.large.range > 0;
    p->pitch = round_up(lf->width, (size_t)p->shape.columns);
    p->stride = round_up(p->pitch + 2 * (size_t)lf->rule.large.range + 2,
                         16); /* as many as life_large_sums writes at a time */
    const double cells = (double)p->pitch * (double)lf->height,
                 entries = large ? (double)p->stride * (double)lf->height * sizeof *p->row_sums : 0;
    const double most = entries > cells ? entries : cells;
    if (most > (double)info->dev_max_mem_alloc_sz ||
        2 * cells + entries > (double)info->dev_global_mem_sz)
        return clerror_set(
            ENOMEM,
            "life: %zu x %zu cells under the rule %s need %.4g MB, a buffer of %.4g MB among it, and %s has %.4g MB of memory",
            lf->width, lf->height, lf->rule.text, (2 * cells + entries) / 1e6, most / 1e6,
            info->dev_name, (double)info->dev_global_mem_sz / 1e6);
    p->counters = (size_t)p->shape.items * (info->dev_max_core ? info->dev_max_core : 1);
    p->grid[0] = clmalloc(lf->ctx, (size_t)cells, CL_MEM_ZEROCOPY);
    p->grid[1] = clmalloc(lf->ctx, (size_t)cells, CL_MEM_DEVONLY);
    p->row_sums = large ? clmalloc(lf->ctx, (size_t)entries, CL_MEM_DEVONLY) : NULL;
    p->sums = clmalloc(lf->ctx, LIFE_SLOTS * p->counters * 2 * sizeof(uint64_t), 0);
    lf->device_bytes = (size_t)(2 * cells + entries);
    if (!p->grid[0] || !p->grid[1] || (large && !p->row_sums) || !p->sums ||
        allocate_tree(lf, p) < 0)
        return -1;
    return life_cells_alloc(&p->image, lf->width, lf->height * life_planes_of(lf));
}

/* A band begins with a sum over all rows of the range, so the larger the range the longer the
 * band. */
static void choose_shape(struct bytes *p, const struct life_large *l, const struct cldev_info *info)
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
        clerror_set(ENOMEM, "life: no memory for an engine");
    } else if (clgetdevinfo(lf->ctx, info) == 0) {
        choose_shape(p, &lf->rule.large, &info[DEVICE]);
        p->pace = pace_of(2e7);
        status = allocate(lf, p, &info[DEVICE]) < 0 ? -1 : open_kernels(lf, p);
    }
    free(info);
    if (status < 0)
        bytes_free(lf);
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
    p->now = 0;
    return failed(clmsync(lf->ctx, DEVICE, p->grid[0], CL_MEM_DEVICE));
}

static int bytes_download(life *lf)
{
    struct bytes *p = lf->state;
    if (p->now && failed(clmcopy(lf->ctx, DEVICE, p->grid[1], p->grid[0], UNWAITED)))
        return -1;
    p->now = 0;
    if (failed(clmsync(lf->ctx, DEVICE, p->grid[0], CL_MEM_HOST)))
        return -1;
    for (size_t y = 0; y < lf->height; y++)
        life_states_to_planes(lf, 0, y, lf->width, p->grid[0] + y * p->pitch);
    return 0;
}

/* ---- Stepping. ------------------------------------------------------------------------------- */

static int wait_all(life *lf)
{
    struct bytes *p = lf->state;
    return life_rows_wait(lf, &p->pace);
}

static int add_rows(life *lf)
{
    struct bytes *p = lf->state;
    const size_t items = (size_t)p->shape.items;
    clndrange_t ndr = clndrange_init1d(0, lf->height * items, items);
    lf->launches++;
    return failed(clforka(lf->ctx, DEVICE, p->add, &ndr, UNWAITED, p->grid[p->now], p->row_sums,
                          (cl_int)lf->width, (cl_ulong)p->pitch, (cl_ulong)p->stride,
                          (cl_int)(lf->bounds == LIFE_TORUS)));
}

/* Starts rows y ... y + rows - 1. */
static int start_rows(life *lf, size_t y, size_t rows)
{
    struct bytes *p = lf->state;
    const size_t across = (size_t)p->shape.across, down = (size_t)p->shape.down,
                 bands = (rows + (size_t)p->rows - 1) / (size_t)p->rows;
    clndrange_t ndr = clndrange_init2d(0, round_up(p->pitch / (size_t)p->shape.columns, across),
                                       across, 0, round_up(bands, down), down);
    if (!lf->rule.large.range)
        return failed(clforka(lf->ctx, DEVICE, p->step, &ndr, UNWAITED, p->grid[p->now],
                              p->grid[!p->now], p->branch, (cl_int)y, (cl_int)lf->width,
                              (cl_int)lf->height, (cl_ulong)p->pitch, (cl_int)lf->grid.how,
                              (cl_long)lf->grid.shift));
    return failed(clforka(lf->ctx, DEVICE, p->step, &ndr, UNWAITED, p->grid[p->now],
                          p->grid[!p->now], p->row_sums, (cl_int)y, (cl_int)lf->width,
                          (cl_int)lf->height, (cl_ulong)p->pitch, (cl_ulong)p->stride,
                          (cl_int)(lf->bounds == LIFE_TORUS)));
}

/* A slice more or less computes rows twice, with the same result. */
static int generation(life *lf)
{
    struct bytes *p = lf->state;
    if ((p->add && add_rows(lf) < 0) ||
        life_rows_generation(lf, &p->pace, (size_t)p->rows, start_rows) < 0)
        return -1;
    p->now = !p->now;
    return 0;
}

static int advance(life *lf, uint64_t generations)
{
    struct bytes *p = lf->state;
    return life_rows_advance(lf, &p->pace, generations, generation);
}

static int bytes_step(life *lf, uint64_t generations)
{
    const int status = advance(lf, generations);
    return wait_all(lf) < 0 ? -1 : status;
}

/* ---- Counting. ------------------------------------------------------------------------------- */

static int count(life *lf, size_t slot)
{
    struct bytes *p = lf->state;
    clndrange_t ndr = clndrange_init1d(0, p->counters, (size_t)p->shape.items);
    lf->launches++;
    return failed(clforka(lf->ctx, DEVICE, p->count, &ndr, UNWAITED, p->grid[p->now],
                          (cl_ulong)(p->pitch * lf->height), p->sums,
                          (cl_ulong)(slot * p->counters)));
}

static int collect(life *lf, size_t slots, struct life_sample *sample)
{
    struct bytes *p = lf->state;
    if (failed(clmsync(lf->ctx, DEVICE, p->sums, CL_MEM_HOST | UNWAITED)) || wait_all(lf) < 0)
        return -1;
    for (size_t slot = 0; slot < slots; slot++) {
        sample[slot].population = sample[slot].hash = 0;
        life_sample_add(&sample[slot], p->sums + 2 * slot * p->counters, p->counters);
    }
    return 0;
}

static int bytes_trace(life *lf, size_t n, struct life_sample *sample)
{
    static const struct life_counting by = {advance, count, collect};
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
    .free = bytes_free,
    .row = bytes_row,
    .plane = bytes_plane,
    .upload = bytes_upload,
    .download = bytes_download,
    .step = bytes_step,
    .trace = bytes_trace,
    .devices = bytes_devices,
    .explain = bytes_explain,
};
