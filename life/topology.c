/* topology.c - the engine "packed" on topologies other than the torus.
 *
 * The cells lie in the middle of a plane of the packed engine, on one device, surrounded by a
 * margin (edges.cl has the drawing). The margin is filled with copies of the cells it stands for,
 * and each generation invalidates one cell of its width. On flat surfaces, tori and Klein bottles,
 * the margin has 32 cells. The corners of a cross-surface and of a sphere are points where the
 * angles add up to less than a full turn, so these surfaces cannot be unrolled to a plane. Their
 * margin has one cell, and is filled for every generation.
 * SPDX-License-Identifier: MIT
 */
#include "life/persistent.h"
#include "life/cells.h"

#include "core/embedded.h"
#include "core/progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

EMBEDDED(topology_text, "life/topology.h", life_topology_h);
EMBEDDED(edges_file, "life/edges.cl", life_edges_cl);

enum { FLAT_MARGIN = 32, GROUP = 64, BACKLOG = 64 };

struct topology {
    life inner;     /* the packed engine's plane */
    CLCONTEXT *own; /* context of the first device, if there are several */
    struct life_cells image;
    size_t margin, words, left, right, items; /* arguments of the kernels */
    uint64_t *copies;
    void *program;
    cl_kernel read, write;
    unsigned backlog; /* margins enqueued since the last wait */
};

static void topology_free(life *lf)
{
    struct topology *t = lf->state;
    if (!t)
        return;
    clfree(t->copies);
    if (t->program)
        clclose(t->inner.ctx, t->program);
    if (t->inner.state)
        t->inner.backend->free(&t->inner);
    life_cells_free(&t->image);
    if (t->own)
        clcontext_destroy(t->own);
    free(t);
    lf->state = NULL;
}

static int topology_create_plane(life *lf, struct topology *t, const struct life_options *options)
{
    const cl_device_id first = clgetdevice(lf->ctx, 0);
    if (clgetndev(lf->ctx) > 1 && !(t->own = clcontext_create_from(&first, 1)))
        return -1;
    t->margin =
        lf->grid.topology == LIFE_CROSS || lf->grid.topology == LIFE_SPHERE ? 1 : FLAT_MARGIN;
    const size_t width = lf->width + 2 * t->margin, height = lf->height + 2 * t->margin;
    t->inner = (life){.backend = &life_packed_backend,
                      .engine = LIFE_PACKED,
                      .width = width,
                      .height = height,
                      .words = (width + 63) / 64,
                      .own = (width + 63) / 64,
                      .rows = height,
                      .bounds = LIFE_PLANE,
                      .rule = lf->rule,
                      .ctx = t->own ? t->own : lf->ctx};
    return life_cells_alloc(&t->image, lf->width, lf->height) < 0
               ? -1
               : t->inner.backend->create(&t->inner, options);
}

static int topology_create_margin(life *lf, struct topology *t)
{
    const struct embedded *const front[] = {&topology_text};
    t->words = t->inner.words;
    t->left = (t->margin + 63) / 64;
    t->right = (t->margin + lf->width) / 64;
    if (t->right < t->left) /* both margins are in one word, which one work-item has */
        t->right = t->left;
    t->items = 2 * t->margin * t->words + lf->height * (t->left + t->words - t->right);
    t->copies = clmalloc(t->inner.ctx, t->items * sizeof *t->copies, CL_MEM_DEVONLY);
    t->program = t->copies ? embedded_open(t->inner.ctx, "", &edges_file, 1, front) : NULL;
    t->read = t->program ? clsym(t->inner.ctx, t->program, "life_margin_read", 0) : NULL;
    t->write = t->read ? clsym(t->inner.ctx, t->program, "life_margin_write", 0) : NULL;
    lf->device_bytes = t->inner.device_bytes + t->items * sizeof *t->copies;
    return t->write ? 0 : -1;
}

static int topology_create(life *lf, const struct life_options *options)
{
    struct topology *t = calloc(1, sizeof *t);
    lf->state = t;
    if (!t)
        return clerror_set(ENOMEM, "life: out of memory for an engine");
    if (topology_create_plane(lf, t, options) == 0 && topology_create_margin(lf, t) == 0)
        return 0;
    topology_free(lf);
    return -1;
}

/* ---- The host's rows. ------------------------------------------------------------------------ */

static uint64_t *topology_row(life *lf, size_t y)
{
    struct topology *t = lf->state;
    return t->image.word + y * t->image.stride;
}

static int topology_upload(life *lf)
{
    struct topology *t = lf->state;
    life *in = &t->inner;
    for (size_t y = 0; y < in->height; y++) {
        uint64_t *row = in->backend->row(in, y);
        memset(row, 0, in->words * sizeof *row);
        if (y >= t->margin && y < t->margin + lf->height)
            life_bits_copy(row, t->margin, topology_row(lf, y - t->margin), 0, lf->width);
    }
    return in->backend->upload(in);
}

static int topology_download(life *lf)
{
    struct topology *t = lf->state;
    life *in = &t->inner;
    if (in->backend->download(in) < 0)
        return -1;
    for (size_t y = 0; y < lf->height; y++) {
        uint64_t *row = topology_row(lf, y);
        memset(row, 0, lf->words * sizeof *row);
        life_bits_copy(row, 0, in->backend->row(in, y + t->margin), t->margin, lf->width);
    }
    return 0;
}

/* ---- Stepping. ------------------------------------------------------------------------------- */

static int topology_wait(life *lf)
{
    struct topology *t = lf->state;
    t->backlog = 0;
    return packed_wait(&t->inner);
}

/* Fill the margin with copies of cells, or with dead cells. */
static int topology_fill_margin(life *lf, bool dead)
{
    struct topology *t = lf->state;
    const struct packed *p = t->inner.state;
    uint64_t *plane = p->part[0].grid[p->part[0].current];
    clndrange_t ndr = clndrange_init1d(0, (t->items + GROUP - 1) / GROUP * GROUP, GROUP);
    if (!dead && life_event_status(clforka(
                     t->inner.ctx, 0, t->read, &ndr, UNWAITED, plane, t->copies, (cl_ulong)t->items,
                     (cl_ulong)t->words, (cl_ulong)t->margin, (cl_ulong)lf->width,
                     (cl_ulong)lf->height, (cl_ulong)t->left, (cl_ulong)t->right,
                     (cl_int)lf->grid.topology, (cl_long)lf->grid.shift)))
        return -1;
    lf->launches += dead ? 1 : 2;
    return life_event_status(clforka(t->inner.ctx, 0, t->write, &ndr, UNWAITED, plane, t->copies,
                                     (cl_ulong)t->items, (cl_ulong)t->words, (cl_ulong)t->margin,
                                     (cl_ulong)lf->width, (cl_ulong)lf->height, (cl_ulong)t->left,
                                     (cl_ulong)t->right, (cl_int)dead));
}

/* Advance; `generations` must not exceed the margin. */
static int topology_advance(life *lf, uint64_t generations)
{
    struct topology *t = lf->state;
    const uint64_t before = t->inner.launches;
    if (topology_fill_margin(lf, false) < 0 || packed_advance(&t->inner, generations) < 0)
        return -1;
    lf->launches += t->inner.launches - before;
    lf->call.done += (double)generations;
    if (++t->backlog < BACKLOG)
        return 0;
    return topology_wait(lf) < 0 ? -1 : life_call_tell(lf, 0);
}

/* Between calls the margin is dead, so that counting sees the grid's cells only. */
static int topology_step(life *lf, uint64_t generations)
{
    struct topology *t = lf->state;
    int status = 0;
    while (generations && status == 0) {
        const uint64_t now = generations < t->margin ? generations : t->margin;
        status = topology_advance(lf, now);
        generations -= now;
    }
    const bool stopped = status < 0 && clerrno == ECANCELED;
    if ((status == 0 || stopped) && topology_fill_margin(lf, true) < 0)
        return -1;
    if (topology_wait(lf) < 0)
        return -1;
    return stopped ? progress_cancelled("life") : status;
}

static int topology_trace(life *lf, size_t n, struct life_sample *sample)
{
    struct topology *t = lf->state;
    for (size_t i = 0; i < (n ? n : 1); i++)
        if ((n && topology_step(lf, 1) < 0) ||
            t->inner.backend->trace(&t->inner, 0, &sample[i]) < 0)
            return -1;
    return 0;
}

static unsigned topology_devices(const life *lf)
{
    (void)lf;
    return 1;
}

static const char *topology_shape(const life *lf, unsigned dev)
{
    const life *in = &((const struct topology *)lf->state)->inner;
    return in->backend->shape(in, dev);
}

static const char *topology_explain(const life *lf, unsigned dev)
{
    const life *in = &((const struct topology *)lf->state)->inner;
    return in->backend->explain(in, dev);
}

const struct life_backend life_topology_backend = {
    .create = topology_create,
    .free = topology_free,
    .row = topology_row,
    .upload = topology_upload,
    .download = topology_download,
    .step = topology_step,
    .trace = topology_trace,
    .devices = topology_devices,
    .shape = topology_shape,
    .explain = topology_explain,
};
