/* packed_look.c - the engine "packed": rectangles of bits, and counts of squares, made on the
 * devices, so that only what a picture shows is copied.
 * SPDX-License-Identifier: MIT
 */
#include "life/packed.h"

#include "core/embedded.h"
#include "core/round.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

EMBEDDED(look_file, "life/look.cl", life_look_cl);

enum { ITEMS = 1 << 16 }; /* that keep a device busy */

struct packed_look {
    void *program;
    cl_kernel window, squares;
    size_t bytes;
    void *out; /* what came of one device */
};

void packed_look_free(life *lf)
{
    struct packed *p = lf->state;
    if (!p->look)
        return;
    if (p->look->program)
        clclose(lf->ctx, p->look->program);
    clfree(p->look->out);
    free(p->look);
    p->look = NULL;
}

static int open_look(life *lf, size_t bytes)
{
    struct packed *p = lf->state;
    struct packed_look *l = p->look ? p->look : (p->look = calloc(1, sizeof *l));
    if (!l)
        return clerror_set(ENOMEM, "life: no memory for a picture");
    if (!l->program && (!(l->program = embedded_open(lf->ctx, "", &look_file, 0, NULL)) ||
                        !(l->window = clsym(lf->ctx, l->program, "life_window", 0)) ||
                        !(l->squares = clsym(lf->ctx, l->program, "life_squares", 0)))) {
        packed_look_free(lf);
        return -1;
    }
    if (l->bytes >= bytes)
        return 0;
    clfree(l->out);
    l->out = clmalloc(lf->ctx, bytes, CL_MEM_ZEROCOPY);
    l->bytes = l->out ? bytes : 0;
    return l->out ? 0 : -1;
}

/* n items across, in groups of the device's. */
static size_t groups_of(const struct share *s, size_t n)
{
    return round_up(n, (size_t)s->shape.group);
}

static int fetch(life *lf, size_t i, size_t bytes)
{
    struct packed *p = lf->state;
    return packed_status(
               clmsyncn(lf->ctx, (cl_uint)i, p->look->out, bytes, CL_MEM_HOST | UNWAITED)) ||
                   packed_wait(lf) < 0
               ? -1
               : 0;
}

/* ---- Bits. ----------------------------------------------------------------------------------- */

static int start_window(life *lf, size_t i, cl_uint x, cl_uint y, cl_uint across, size_t words,
                        size_t lines)
{
    struct packed *p = lf->state;
    struct share *s = &p->share[i];
    clndrange_t ndr = clndrange_init2d(0, groups_of(s, words), (size_t)s->shape.group, 0, lines, 1);
    lf->launches++;
    return packed_status(clforka(lf->ctx, (cl_uint)i, p->look->window, &ndr, UNWAITED,
                                 s->grid[s->now], (cl_uint)lf->words, (cl_uint)s->above,
                                 (cl_uint)s->first, (cl_uint)s->rows, (cl_uint)lf->width,
                                 (cl_uint)lf->height, x, y, across, (cl_uint)words, p->look->out));
}

/* The rectangle's lines that lie in a share. */
static void take_lines(const life *lf, const struct share *s, size_t y, size_t words,
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
    if (open_look(lf, bytes) < 0)
        return -1;
    for (size_t i = 0; i < p->n; i++) {
        if (p->share[i].rows == 0)
            continue;
        if (start_window(lf, i, (cl_uint)x, (cl_uint)y, (cl_uint)cells->width, words,
                         cells->height) < 0 ||
            fetch(lf, i, bytes) < 0)
            return -1;
        take_lines(lf, &p->share[i], y, words, cells, p->look->out);
    }
    return 0;
}

/* ---- Squares. -------------------------------------------------------------------------------- */

static int start_squares(life *lf, size_t i, const struct life_raster *q)
{
    struct packed *p = lf->state;
    struct share *s = &p->share[i];
    const size_t side = (size_t)1 << q->zoom, wanted = ITEMS / (q->width * q->height) + 1;
    clndrange_t ndr = clndrange_init3d(0, groups_of(s, q->width), (size_t)s->shape.group, 0,
                                       q->height, 1, 0, wanted < side ? wanted : side, 1);
    lf->launches++;
    return packed_status(clforka(
        lf->ctx, (cl_uint)i, p->look->squares, &ndr, UNWAITED, s->grid[s->now], (cl_uint)lf->words,
        (cl_uint)s->above, (cl_uint)s->first, (cl_uint)s->rows, (cl_uint)lf->width,
        (cl_uint)lf->height, (cl_uint)q->x, (cl_uint)q->y, (cl_uint)q->across, (cl_uint)q->down,
        (cl_uint)q->zoom, (cl_uint)q->width, p->look->out));
}

int packed_squares(life *lf, const struct life_raster *q, uint32_t *count)
{
    struct packed *p = lf->state;
    const size_t n = q->width * q->height, bytes = n * sizeof *count;
    if (open_look(lf, bytes) < 0)
        return -1;
    for (size_t i = 0; i < p->n; i++) {
        if (p->share[i].rows == 0)
            continue;
        memset(p->look->out, 0, bytes);
        if (packed_status(
                clmsyncn(lf->ctx, (cl_uint)i, p->look->out, bytes, CL_MEM_DEVICE | UNWAITED)) ||
            start_squares(lf, i, q) < 0 || fetch(lf, i, bytes) < 0)
            return -1;
        for (size_t k = 0; k < n; k++)
            count[k] += ((const uint32_t *)p->look->out)[k];
    }
    return 0;
}
