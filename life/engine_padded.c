/* engine_padded.c - the engines "global" and "local": an int per cell, on a grid padded with ghost
 * cells.
 *
 * A generation is up to three launches: ghost rows, ghost columns (both only on a torus), cells.
 * global.cl and local.cl explain the layout and the kernels. Both engines run on the context's
 * first device.
 * SPDX-License-Identifier: MIT
 */
#include "life/device_grid.h"

#include "core/embedded.h"
#include "core/round.h"

#include <stdio.h>
#include <string.h>

EMBEDDED(global_file, "life/global.cl", life_global_cl);
EMBEDDED(local_file, "life/local.cl", life_local_cl);
EMBEDDED(topology_text, "life/topology.h", life_topology_h);
EMBEDDED(edges_file, "life/edges.cl", life_edges_cl);
EMBEDDED(mix_text, "life/mix.h", life_mix_h);
EMBEDDED(count_file, "life/count.cl", life_count_cl);

/* Launch shape by kind of device. */
struct shape {
    int group_x, group_y; /* cells of a work-group */
    int ghosts;           /* work-items in a group of the ghost kernels */
    int count, counts;    /* items in a group of the counting kernel, groups per compute unit */
};
static const struct shape shape_cpu = {64, 16, 64, 1, 4}, shape_gpu = {32, 8, 128, 128, 8};

struct padded {
    struct device_grid g;
    struct shape shape;
    cl_kernel rows, columns, topology;
};

static size_t pitch_of(const life *lf)
{
    return lf->width + 2;
}

/* ---- Create. --------------------------------------------------------------------------------- */

static int padded_open_kernels(life *lf, struct padded *p)
{
    const struct embedded *const front[] = {&topology_text}, *const count_front[] = {&mix_text};
    char options[400], table[LIFE_TABLE_TEXT], group[64];
    snprintf(options, sizeof options,
             "-D BIRTH=%u -D SURVIVAL=%u -D GROUP_X=%d -D GROUP_Y=%d\n%s%s%s", lf->rule.rule.birth,
             lf->rule.rule.survival, p->shape.group_x, p->shape.group_y,
             lf->rule.counts ? "" : "#define TABLE {",
             lf->rule.counts ? "" : life_table_text(&lf->rule.table, table),
             lf->rule.counts ? "" : "}\n");
    snprintf(group, sizeof group, "-D GROUP=%d", p->shape.count);
    p->g.program[0] = embedded_open(lf->ctx, options, &global_file, 0, NULL);
    p->g.program[1] = embedded_open(lf->ctx, group, &count_file, 1, count_front);
    if (!p->g.program[0] || !p->g.program[1])
        return -1;
    if (lf->engine == LIFE_LOCAL &&
        !(p->g.program[2] = embedded_open(lf->ctx, options, &local_file, 0, NULL)))
        return -1;
    if (lf->bounds == LIFE_JOINED &&
        (!(p->g.program[3] = embedded_open(lf->ctx, "", &edges_file, 1, front)) ||
         !(p->topology = clsym(lf->ctx, p->g.program[3], "life_ghosts_topology", 0))))
        return -1;
    p->rows = clsym(lf->ctx, p->g.program[0], "life_ghost_rows", 0);
    p->columns = clsym(lf->ctx, p->g.program[0], "life_ghost_columns", 0);
    p->g.step = lf->engine == LIFE_LOCAL ? clsym(lf->ctx, p->g.program[2], "life_local", 0)
                                         : clsym(lf->ctx, p->g.program[0], "life_global", 0);
    p->g.counter = clsym(lf->ctx, p->g.program[1], "life_count_padded", 0);
    return p->rows && p->columns && p->g.step && p->g.counter ? 0 : -1;
}

static int padded_open(life *lf, const struct cldev_info *info)
{
    struct padded *p = lf->state;
    struct shape *s = &p->shape;
    *s = info->dev_type & CL_DEVICE_TYPE_CPU ? shape_cpu : shape_gpu;
    p->g.pace = pace_of(2e7);
    p->g.slice = (size_t)s->group_y;
    p->g.both = true;
    snprintf(p->g.shape, sizeof p->g.shape, "group_x=%d group_y=%d ghosts=%d count=%d counts=%d",
             s->group_x, s->group_y, s->ghosts, s->count, s->counts);
    snprintf(p->g.explain, sizeof p->g.explain, "fixed, for teaching");
    device_grid_count(&p->g, info, (size_t)s->count, (size_t)s->counts, true);
    if (device_grid_allocate(
            lf, info, (double)pitch_of(lf) * (double)(lf->height + 2) * sizeof(int), 0, false) < 0)
        return -1;
    return padded_open_kernels(lf, p);
}

/* ---- The host's rows. ------------------------------------------------------------------------ */

static int *padded_row(life *lf, size_t y)
{
    const struct device_grid *g = lf->state;
    return (int *)g->grid[0] + (y + 1) * pitch_of(lf) + 1;
}

static void padded_pack(life *lf, size_t y)
{
    const struct device_grid *g = lf->state;
    int *row = padded_row(lf, y);
    for (size_t x = 0; x < lf->width; x++)
        row[x] = life_cells_at(&g->image, x, y);
}

static void padded_unpack(life *lf, size_t y)
{
    const int *from = padded_row(lf, y);
    uint64_t *row = device_grid_row(lf, y);
    memset(row, 0, lf->words * sizeof *row);
    for (size_t x = 0; x < lf->width; x++)
        row[x / 64] |= (uint64_t)(from[x] != 0) << x % 64;
}

/* ---- Stepping. ------------------------------------------------------------------------------- */

/* Enqueue a kernel for ghosts of a torus. */
static int padded_fill(life *lf, cl_kernel kernel, size_t ghosts)
{
    const struct padded *p = lf->state;
    const size_t group = (size_t)p->shape.ghosts;
    clndrange_t ndr = clndrange_init1d(0, round_up(ghosts, group), group);
    lf->launches++;
    return life_event_status(clforka(lf->ctx, DEVICE, kernel, &ndr, UNWAITED,
                                     p->g.grid[p->g.current], (cl_int)lf->width,
                                     (cl_int)lf->height));
}

/* Fill the ghosts on a topology other than the torus. */
static int padded_fill_topology(life *lf)
{
    const struct padded *p = lf->state;
    const size_t group = (size_t)p->shape.ghosts;
    clndrange_t ndr = clndrange_init1d(0, round_up(2 * (pitch_of(lf) + lf->height), group), group);
    lf->launches++;
    return life_event_status(clforka(lf->ctx, DEVICE, p->topology, &ndr, UNWAITED,
                                     p->g.grid[p->g.current], (cl_int)lf->width, (cl_int)lf->height,
                                     (cl_int)lf->grid.topology, (cl_long)lf->grid.shift));
}

static int padded_before(life *lf)
{
    const struct padded *p = lf->state;
    if (lf->bounds == LIFE_JOINED)
        return padded_fill_topology(lf);
    if (lf->bounds == LIFE_PLANE)
        return 0;
    if (padded_fill(lf, p->rows, lf->width) < 0)
        return -1;
    return padded_fill(lf, p->columns, lf->height + 2);
}

static cl_event padded_start(life *lf, size_t y, size_t rows)
{
    const struct padded *p = lf->state;
    const size_t group_x = (size_t)p->shape.group_x, group_y = (size_t)p->shape.group_y;
    clndrange_t ndr = clndrange_init2d(0, round_up(lf->width, group_x), group_x, y,
                                       round_up(rows, group_y), group_y);
    return clforka(lf->ctx, DEVICE, p->g.step, &ndr, UNWAITED, p->g.grid[p->g.current],
                   p->g.grid[!p->g.current], (cl_int)lf->width, (cl_int)lf->height);
}

static cl_event padded_count(life *lf, clndrange_t *ndr, cl_ulong at)
{
    const struct device_grid *g = lf->state;
    return clforka(lf->ctx, DEVICE, g->counter, ndr, UNWAITED, g->grid[g->current],
                   (cl_int)lf->width, (cl_int)lf->height, g->sums, at);
}

static int padded_create(life *lf, const struct life_options *options)
{
    static const struct device_grid_how how = {.pack = padded_pack,
                                               .unpack = padded_unpack,
                                               .before = padded_before,
                                               .start = padded_start,
                                               .count = padded_count};
    (void)options;
    return device_grid_create(lf, sizeof(struct padded), &how, padded_open);
}

const struct life_backend life_padded_backend = DEVICE_GRID_BACKEND(padded_create);
