/* packed_raster.c - the engine "packed": windows of cells, and counts of squares, computed on the
 * devices, so that only the pixels of a picture are copied.
 * SPDX-License-Identifier: MIT
 */
#include "life/persistent.h"

#include "core/embedded.h"
#include "core/round.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

EMBEDDED(raster_file, "life/raster.cl", life_raster_cl);

enum { ITEMS = 1 << 16 }; /* work-items that keep a device busy */

struct packed_raster {
    void *program;
    cl_kernel window, squares;
    size_t bytes;
    void *out; /* result of one device */
};

void packed_raster_free(life *lf)
{
    struct packed *p = lf->state;
    if (!p->raster)
        return;
    if (p->raster->program)
        clclose(lf->ctx, p->raster->program);
    clfree(p->raster->out);
    free(p->raster);
    p->raster = NULL;
}

static int packed_raster_open(life *lf, size_t bytes)
{
    struct packed *p = lf->state;
    struct packed_raster *l = p->raster ? p->raster : (p->raster = calloc(1, sizeof *l));
    if (!l)
        return clerror_set(ENOMEM, "life: out of memory for a picture");
    if (!l->program && (!(l->program = embedded_open(lf->ctx, "", &raster_file, 0, NULL)) ||
                        !(l->window = clsym(lf->ctx, l->program, "life_window", 0)) ||
                        !(l->squares = clsym(lf->ctx, l->program, "life_squares", 0)))) {
        packed_raster_free(lf);
        return -1;
    }
    if (l->bytes >= bytes)
        return 0;
    clfree(l->out);
    l->out = clmalloc(lf->ctx, bytes, CL_MEM_ZEROCOPY);
    l->bytes = l->out ? bytes : 0;
    return l->out ? 0 : -1;
}

/* n rounded up to a multiple of the group size. */
static size_t packed_round_to_groups(const struct life_partition *s, size_t n)
{
    return round_up(n, (size_t)s->shape.group);
}

static int packed_raster_download(life *lf, size_t i, size_t bytes)
{
    struct packed *p = lf->state;
    if (life_event_status(
            clmsyncn(lf->ctx, (cl_uint)i, p->raster->out, bytes, CL_MEM_HOST | UNWAITED)))
        return -1;
    if (packed_wait(lf) < 0)
        return -1;
    return 0;
}

/* ---- Bits. ----------------------------------------------------------------------------------- */

static int start_window(life *lf, size_t i, cl_uint x, cl_uint y, cl_uint across, size_t words,
                        size_t lines)
{
    struct packed *p = lf->state;
    struct life_partition *s = &p->part[i];
    clndrange_t ndr =
        clndrange_init2d(0, packed_round_to_groups(s, words), (size_t)s->shape.group, 0, lines, 1);
    lf->launches++;
    return life_event_status(clforka(
        lf->ctx, (cl_uint)i, p->raster->window, &ndr, UNWAITED, s->grid[s->current],
        (cl_uint)lf->words, (cl_uint)s->above, (cl_uint)s->first, (cl_uint)s->rows,
        (cl_uint)lf->width, (cl_uint)lf->height, x, y, across, (cl_uint)words, p->raster->out));
}

/* Copy the rectangle's lines that lie in a partition. */
static void take_lines(const life *lf, const struct life_partition *s, size_t y, size_t words,
                       struct life_cells *cells, const uint64_t *out)
{
    for (size_t line = 0; line < cells->height; line++)
        if ((y + line) % lf->height - s->first < s->rows)
            memcpy(cells->word + line * cells->stride, out + line * words, words * sizeof *out);
}

int packed_window(life *lf, size_t x, size_t y, struct life_cells *cells)
{
    struct packed *p = lf->state;
    const size_t words = (cells->width + 63) / 64, bytes = words * cells->height * sizeof(uint64_t);
    if (packed_raster_open(lf, bytes) < 0)
        return -1;
    for (size_t i = 0; i < p->n; i++) {
        if (p->part[i].rows == 0)
            continue;
        if (start_window(lf, i, (cl_uint)x, (cl_uint)y, (cl_uint)cells->width, words,
                         cells->height) < 0 ||
            packed_raster_download(lf, i, bytes) < 0)
            return -1;
        take_lines(lf, &p->part[i], y, words, cells, p->raster->out);
    }
    return 0;
}

/* ---- Squares. -------------------------------------------------------------------------------- */

static int start_squares(life *lf, size_t i, const struct life_raster *q)
{
    struct packed *p = lf->state;
    struct life_partition *s = &p->part[i];
    const size_t side = (size_t)1 << q->zoom, wanted = ITEMS / (q->width * q->height) + 1;
    clndrange_t ndr =
        clndrange_init3d(0, packed_round_to_groups(s, q->width), (size_t)s->shape.group, 0,
                         q->height, 1, 0, wanted < side ? wanted : side, 1);
    lf->launches++;
    return life_event_status(clforka(
        lf->ctx, (cl_uint)i, p->raster->squares, &ndr, UNWAITED, s->grid[s->current],
        (cl_uint)lf->words, (cl_uint)s->above, (cl_uint)s->first, (cl_uint)s->rows,
        (cl_uint)lf->width, (cl_uint)lf->height, (cl_uint)q->x, (cl_uint)q->y, (cl_uint)q->across,
        (cl_uint)q->down, (cl_uint)q->zoom, (cl_uint)q->width, p->raster->out));
}

int packed_squares(life *lf, const struct life_raster *q, uint64_t *count)
{
    struct packed *p = lf->state;
    const size_t n = q->width * q->height, bytes = n * sizeof(uint32_t);
    if (packed_raster_open(lf, bytes) < 0)
        return -1;
    for (size_t i = 0; i < p->n; i++) {
        if (p->part[i].rows == 0)
            continue;
        memset(p->raster->out, 0, bytes);
        if (life_event_status(
                clmsyncn(lf->ctx, (cl_uint)i, p->raster->out, bytes, CL_MEM_DEVICE | UNWAITED)) ||
            start_squares(lf, i, q) < 0 || packed_raster_download(lf, i, bytes) < 0)
            return -1;
        for (size_t k = 0; k < n; k++)
            count[k] += ((const uint32_t *)p->raster->out)[k];
    }
    return 0;
}
