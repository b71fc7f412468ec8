/* topology.c - the engine "packed" on grids whose edges are joined otherwise than a torus's.
 *
 * The cells lie in the middle of a plane of the engine packed, on one device, with a margin all
 * around (edges.cl has the drawing). The margin becomes copies of the cells that it stands for;
 * then so many generations are right, inside, as the margin has cells. Where surfaces are flat,
 * tori and Klein bottles, it has 32. The corners of a cross-surface and of a sphere are points
 * about which a turn is less than a whole one, so that there is no plane that they could be
 * unrolled to; their margin has one cell, and is made anew for every generation.
 * SPDX-License-Identifier: MIT
 */
#include "life/packed.h"

#include "core/embedded.h"
#include "core/progress.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

EMBEDDED(joined_text, "life/topology.h", life_topology_h);
EMBEDDED(edges_file, "life/edges.cl", life_edges_cl);

enum { FLAT_MARGIN = 32, GROUP = 64, BACKLOG = 64 };

struct joined {
    life inner;     /* the plane */
    CLCONTEXT *own; /* of the first device, if there are several */
    struct life_cells image;
    size_t margin, words, left, right, items; /* the kernels' arguments */
    uint64_t *copies;
    void *program;
    cl_kernel read, write;
    unsigned backlog; /* margins that were started since something was waited for */
};

static void joined_free(life *lf)
{
    struct joined *j = lf->state;
    if (!j)
        return;
    clfree(j->copies);
    if (j->program)
        clclose(j->inner.ctx, j->program);
    if (j->inner.state)
        j->inner.backend->free(&j->inner);
    life_cells_free(&j->image);
    if (j->own)
        clcontext_destroy(j->own);
    free(j);
    lf->state = NULL;
}

static int make_inner(life *lf, struct joined *j, const struct life_options *options)
{
    const cl_device_id first = clgetdevice(lf->ctx, 0);
    if (clgetndev(lf->ctx) > 1 && !(j->own = clcontext_create_from(&first, 1)))
        return -1;
    j->margin = lf->grid.how == LIFE_CROSS || lf->grid.how == LIFE_SPHERE ? 1 : FLAT_MARGIN;
    const size_t width = lf->width + 2 * j->margin, height = lf->height + 2 * j->margin;
    j->inner = (life){.backend = &life_packed_backend,
                      .engine = LIFE_PACKED,
                      .width = width,
                      .height = height,
                      .words = (width + 63) / 64,
                      .own = (width + 63) / 64,
                      .rows = height,
                      .bounds = LIFE_PLANE,
                      .rule = lf->rule,
                      .ctx = j->own ? j->own : lf->ctx};
    return life_cells_alloc(&j->image, lf->width, lf->height) < 0
               ? -1
               : j->inner.backend->create(&j->inner, options);
}

static int make_margin(life *lf, struct joined *j)
{
    const struct embedded *const front[] = {&joined_text};
    j->words = j->inner.words;
    j->left = (j->margin + 63) / 64;
    j->right = (j->margin + lf->width) / 64;
    if (j->right <
        j->left) /* the left margin and the right one are in one word, which one item has */
        j->right = j->left;
    j->items = 2 * j->margin * j->words + lf->height * (j->left + j->words - j->right);
    j->copies = clmalloc(j->inner.ctx, j->items * sizeof *j->copies, CL_MEM_DEVONLY);
    j->program = j->copies ? embedded_open(j->inner.ctx, "", &edges_file, 1, front) : NULL;
    j->read = j->program ? clsym(j->inner.ctx, j->program, "life_margin_read", 0) : NULL;
    j->write = j->read ? clsym(j->inner.ctx, j->program, "life_margin_write", 0) : NULL;
    lf->device_bytes = j->inner.device_bytes + j->items * sizeof *j->copies;
    return j->write ? 0 : -1;
}

static int joined_create(life *lf, const struct life_options *options)
{
    struct joined *j = calloc(1, sizeof *j);
    lf->state = j;
    if (!j)
        return clerror_set(ENOMEM, "life: no memory for an engine");
    if (make_inner(lf, j, options) == 0 && make_margin(lf, j) == 0)
        return 0;
    joined_free(lf);
    return -1;
}

/* ---- The host's rows. ------------------------------------------------------------------------ */

static uint64_t *joined_row(life *lf, size_t y)
{
    struct joined *j = lf->state;
    return j->image.word + y * j->image.stride;
}

static int joined_upload(life *lf)
{
    struct joined *j = lf->state;
    life *in = &j->inner;
    for (size_t y = 0; y < in->height; y++) {
        uint64_t *row = in->backend->row(in, y);
        memset(row, 0, in->words * sizeof *row);
        if (y >= j->margin && y < j->margin + lf->height)
            life_bits_copy(row, j->margin, joined_row(lf, y - j->margin), 0, lf->width);
    }
    return in->backend->upload(in);
}

static int joined_download(life *lf)
{
    struct joined *j = lf->state;
    life *in = &j->inner;
    if (in->backend->download(in) < 0)
        return -1;
    for (size_t y = 0; y < lf->height; y++) {
        uint64_t *row = joined_row(lf, y);
        memset(row, 0, lf->words * sizeof *row);
        life_bits_copy(row, 0, in->backend->row(in, y + j->margin), j->margin, lf->width);
    }
    return 0;
}

/* ---- Stepping. ------------------------------------------------------------------------------- */

static int wait_all(life *lf)
{
    struct joined *j = lf->state;
    j->backlog = 0;
    return packed_wait(&j->inner);
}

/* Copies cells into the margin, or kills it. */
static int fill_margin(life *lf, bool dead)
{
    struct joined *j = lf->state;
    const struct packed *p = j->inner.state;
    uint64_t *plane = p->share[0].grid[p->share[0].now];
    clndrange_t ndr = clndrange_init1d(0, (j->items + GROUP - 1) / GROUP * GROUP, GROUP);
    if (!dead &&
        packed_status(clforka(j->inner.ctx, 0, j->read, &ndr, UNWAITED, plane, j->copies,
                              (cl_ulong)j->items, (cl_ulong)j->words, (cl_ulong)j->margin,
                              (cl_ulong)lf->width, (cl_ulong)lf->height, (cl_ulong)j->left,
                              (cl_ulong)j->right, (cl_int)lf->grid.how, (cl_long)lf->grid.shift)))
        return -1;
    lf->launches += dead ? 1 : 2;
    return packed_status(clforka(j->inner.ctx, 0, j->write, &ndr, UNWAITED, plane, j->copies,
                                 (cl_ulong)j->items, (cl_ulong)j->words, (cl_ulong)j->margin,
                                 (cl_ulong)lf->width, (cl_ulong)lf->height, (cl_ulong)j->left,
                                 (cl_ulong)j->right, (cl_int)dead));
}

/* As many generations as the margin allows. */
static int advance_some(life *lf, uint64_t generations)
{
    struct joined *j = lf->state;
    const uint64_t before = j->inner.launches;
    if (fill_margin(lf, false) < 0 || packed_advance(&j->inner, generations) < 0)
        return -1;
    lf->launches += j->inner.launches - before;
    lf->call.done += (double)generations;
    if (++j->backlog < BACKLOG)
        return 0;
    return wait_all(lf) < 0 ? -1 : life_call_tell(lf, 0);
}

/* Between calls the margin is dead, so that only cells count. */
static int joined_step(life *lf, uint64_t generations)
{
    struct joined *j = lf->state;
    int status = 0;
    while (generations && status == 0) {
        const uint64_t now = generations < j->margin ? generations : j->margin;
        status = advance_some(lf, now);
        generations -= now;
    }
    const bool stopped = status < 0 && clerrno == ECANCELED;
    if ((status == 0 || stopped) && fill_margin(lf, true) < 0)
        return -1;
    if (wait_all(lf) < 0)
        return -1;
    return stopped ? progress_cancelled("life") : status;
}

static int joined_trace(life *lf, size_t n, struct life_sample *sample)
{
    struct joined *j = lf->state;
    for (size_t i = 0; i < (n ? n : 1); i++)
        if ((n && joined_step(lf, 1) < 0) || j->inner.backend->trace(&j->inner, 0, &sample[i]) < 0)
            return -1;
    return 0;
}

static unsigned joined_devices(const life *lf)
{
    (void)lf;
    return 1;
}

static const char *joined_shape(const life *lf, unsigned dev)
{
    const life *in = &((const struct joined *)lf->state)->inner;
    return in->backend->shape(in, dev);
}

static const char *joined_explain(const life *lf, unsigned dev)
{
    const life *in = &((const struct joined *)lf->state)->inner;
    return in->backend->explain(in, dev);
}

const struct life_backend life_joined_backend = {
    .create = joined_create,
    .free = joined_free,
    .row = joined_row,
    .upload = joined_upload,
    .download = joined_download,
    .step = joined_step,
    .trace = joined_trace,
    .devices = joined_devices,
    .shape = joined_shape,
    .explain = joined_explain,
};
