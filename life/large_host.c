/* large_host.c - the engine "reference" under rules of Larger than Life, on tori and planes with
 * edges: plain C with vectors and threads (large_field.h).
 * SPDX-License-Identifier: MIT
 */
#include "life/cells.h"
#include "life/counting.h"
#include "life/engine.h"
#include "life/large_field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct large_host {
    struct large_field field;
    struct life_cells image;        /* packed rows for the caller, plane after plane */
    size_t image_top, image_bottom; /* rows of the image that are not 0 */
};

/* ---- Create and free. ------------------------------------------------------------------------ */

static void large_host_free(life *lf)
{
    struct large_host *h = lf->state;
    if (!h)
        return;
    large_field_close(&h->field);
    life_cells_free(&h->image);
    free(h);
    lf->state = NULL;
}

static int large_host_create(life *lf, const struct life_options *options)
{
    struct large_host *h = lf->state = calloc(1, sizeof *h);
    if (!h)
        return clerror_set(ENOMEM, "life: out of memory for an engine");
    int status = large_field_open(&h->field, lf->rule.text, options->threads);
    if (status == 0)
        status = large_field_allocate(&h->field, lf->width, lf->height, lf->bounds == LIFE_TORUS);
    if (status == 0)
        status = life_cells_alloc(&h->image, lf->width, lf->height * life_planes_of(lf));
    if (status < 0)
        large_host_free(lf);
    return status;
}

/* ---- Cells in and out. ----------------------------------------------------------------------- */

static uint64_t *large_host_plane(life *lf, unsigned plane, size_t y)
{
    struct large_host *h = lf->state;
    return h->image.word + (plane * lf->height + y) * h->image.stride;
}

static uint64_t *large_host_row(life *lf, size_t y)
{
    return large_host_plane(lf, 0, y);
}

static int large_host_upload(life *lf)
{
    struct large_host *h = lf->state;
    struct large_field *f = &h->field;
    large_field_clear(f);
    for (size_t y = 0; y < lf->height; y++) {
        uint64_t any = 0;
        for (unsigned k = 0; k < life_planes_of(lf); k++)
            for (size_t i = 0; i < lf->words; i++)
                any |= large_host_plane(lf, k, y)[i];
        if (!any)
            continue;
        life_states_of_planes(lf, 0, y, lf->width, large_field_row(f, f->now, y));
        large_field_written(f, y);
    }
    h->image_top = 0;
    h->image_bottom = lf->height;
    return 0;
}

static int large_host_download(life *lf)
{
    struct large_host *h = lf->state;
    const struct large_field *f = &h->field;
    const struct large_cells *g = &f->gen[f->now];
    for (unsigned k = 0; k < life_planes_of(lf); k++)
        for (size_t y = h->image_top; y < h->image_bottom; y++)
            memset(large_host_plane(lf, k, y), 0, lf->words * sizeof(uint64_t));
    for (size_t y = g->top; y < g->bottom; y++) {
        const size_t first = g->extent[y].first, most = g->extent[y].end,
                     end = most < lf->width ? most : lf->width;
        if (first < end)
            life_states_to_planes(lf, first, y, end - first, large_field_row(f, f->now, y) + first);
    }
    h->image_top = g->top;
    h->image_bottom = g->bottom;
    return 0;
}

/* ---- Generations. ---------------------------------------------------------------------------- */

static int large_host_tell(void *lf, double done)
{
    return life_call_tell(lf, done);
}

static int large_host_generation(life *lf)
{
    struct large_host *h = lf->state;
    if (large_field_step(&h->field, life_now(lf) & 1, large_host_tell, lf) < 0)
        return -1;
    lf->call.done++;
    return 0;
}

static int large_host_step(life *lf, uint64_t generations)
{
    const struct large_host *h = lf->state;
    size_t cells = 0;
    for (uint64_t g = 0; g < generations; g++) {
        if (large_host_generation(lf) < 0)
            return -1;
        cells += large_field_cells(&h->field);
        if (cells >= LARGE_CELLS_A_REPORT && g + 1 < generations && life_call_tell(lf, 0) < 0)
            return -1;
        cells %= LARGE_CELLS_A_REPORT;
    }
    return 0;
}

static void large_host_sample(const life *lf, struct life_sample *sample)
{
    const struct large_host *h = lf->state;
    const struct large_field *f = &h->field;
    const struct large_cells *g = &f->gen[f->now];
    sample->population = sample->hash = 0;
    for (size_t y = g->top; y < g->bottom; y++)
        for (size_t x = g->extent[y].first; x < g->extent[y].end; x++) {
            const unsigned char state = large_field_row(f, f->now, y)[x];
            const size_t i = y * lf->width + x;
            if (!state || x >= lf->width) /* the padding of a torus repeats cells */
                continue;
            sample->population++;
            sample->hash += life_mix(state + (i + 1) * 0x9e3779b97f4a7c15u);
        }
}

static int large_host_trace(life *lf, size_t n, struct life_sample *sample)
{
    if (n == 0)
        large_host_sample(lf, sample);
    for (size_t g = 0; g < n; g++) {
        if (large_host_generation(lf) < 0)
            return -1;
        large_host_sample(lf, &sample[g]);
    }
    return 0;
}

const struct life_backend life_large_host_backend = {
    .create = large_host_create,
    .free = large_host_free,
    .row = large_host_row,
    .plane = large_host_plane,
    .upload = large_host_upload,
    .download = large_host_download,
    .step = large_host_step,
    .trace = large_host_trace,
};
