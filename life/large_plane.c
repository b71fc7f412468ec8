/* large_plane.c - the engine "reference" under rules of Larger than Life, on unbounded planes:
 * plain C in regions around the nonzero cells (large_regions.c).
 * SPDX-License-Identifier: MIT
 */
#include "life/cells.h"
#include "life/engine.h"
#include "life/large_plane.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 plane_wide; /* coordinates in cells of squares of any zoom */

/* ---- Create and free. ------------------------------------------------------------------------ */

static void large_plane_free(life *lf)
{
    struct large_plane *p = lf->state;
    if (!p)
        return;
    large_regions_free(p);
    large_field_close(&p->rule);
    free(p);
    lf->state = NULL;
}

static int large_plane_create(life *lf, const struct life_options *o)
{
    struct large_plane *p = lf->state = calloc(1, sizeof *p);
    if (!p)
        return clerror_set(ENOMEM, "life: out of memory for an engine");
    p->memory = o->memory ? (double)o->memory : life_host_memory() / 2;
    if (large_field_open(&p->rule, lf->rule.text, o->threads) == 0)
        return 0;
    large_plane_free(lf);
    return -1;
}

static size_t large_plane_bytes(const life *lf)
{
    return (size_t)large_regions_bytes(lf->state);
}

/* ---- Cells in and out. ----------------------------------------------------------------------- */

static unsigned char window_state(const struct life_window *w, size_t x, size_t y)
{
    return w->state ? w->state[y * w->width + x] : (unsigned char)life_cells_at(w->cells, x, y);
}

/* The box of a window's nonzero cells. */
static struct plane_box plane_box_of_window(const struct life_window *w)
{
    struct plane_box box = {0, 0, 0, 0};
    for (size_t y = 0; y < w->height; y++)
        for (size_t x = 0; x < w->width; x++)
            if (window_state(w, x, y)) {
                const long long column = w->x + (long long)x, row = w->y + (long long)y;
                box = plane_box_join(box, (struct plane_box){column, row, column + 1, row + 1});
            }
    return box;
}

/* The part of a window in a region, as columns and rows of the window. */
static struct plane_box window_in_region(const struct large_region *r, const struct life_window *w)
{
    const long long x = r->x - w->x, y = r->y - w->y, right = x + (long long)r->field.width,
                    bottom = y + (long long)r->field.height, width = (long long)w->width,
                    height = (long long)w->height;
    const struct plane_box b = {x > 0 ? x : 0, y > 0 ? y : 0, right < width ? right : width,
                                bottom < height ? bottom : height};
    return b.left < b.right && b.top < b.bottom ? b : (struct plane_box){0, 0, 0, 0};
}

/* Refuse a window if its coordinates would overflow. */
static int window_check(const struct life_window *w)
{
    return w->x >= -PLANE_FARTHEST && w->y >= -PLANE_FARTHEST && w->x <= PLANE_FARTHEST &&
                   w->y <= PLANE_FARTHEST && w->width <= (size_t)PLANE_FARTHEST &&
                   w->height <= (size_t)PLANE_FARTHEST
               ? 0
               : clerror_set(ERANGE,
                             "life: a rectangle at %lld,%lld is more than 2^61 cells from "
                             "the middle of the plane",
                             w->x, w->y);
}

/* Write a window's cells to a region; if `dead`, kill the region's cells there. */
static void region_put(struct large_region *r, const struct life_window *w, bool dead)
{
    struct large_field *f = &r->field;
    const struct plane_box b = window_in_region(r, w);
    for (long long y = b.top; y < b.bottom; y++) {
        const size_t row = (size_t)(w->y + y - r->y);
        unsigned char *to = large_field_row(f, f->now, row) + (w->x - r->x);
        for (long long x = b.left; x < b.right; x++)
            to[x] = dead ? 0 : window_state(w, (size_t)x, (size_t)y);
        large_field_written(f, row);
    }
}

static int large_plane_put(life *lf, const struct life_window *w)
{
    struct large_plane *p = lf->state;
    if (window_check(w) < 0)
        return -1;
    const struct plane_box box = plane_box_of_window(w);
    struct large_region *to = plane_box_is_empty(box) ? NULL : large_regions_cover(p, box);
    if (!to && !plane_box_is_empty(box))
        return -1;
    for (size_t i = 0; i < p->n; i++)
        region_put(p->region[i], w, p->region[i] != to);
    return 0;
}

/* Add a region's cells to a window. */
static void region_get(const struct large_region *r, const struct life_window *w)
{
    const struct large_field *f = &r->field;
    const struct plane_box b = window_in_region(r, w);
    const long long dx = w->x - r->x;
    for (long long y = b.top; y < b.bottom; y++) {
        const unsigned char *from = large_field_row(f, f->now, (size_t)(w->y + y - r->y));
        uint64_t *word = w->state ? NULL : w->cells->word + (size_t)y * w->cells->stride;
        for (long long x = b.left; x < b.right; x++)
            if (w->state)
                w->state[(size_t)y * w->width + (size_t)x] |= from[x + dx];
            else
                word[x / 64] |= (uint64_t)(from[x + dx] == 1) << x % 64;
    }
}

static int large_plane_get(life *lf, const struct life_window *w)
{
    const struct large_plane *p = lf->state;
    if (window_check(w) < 0)
        return -1;
    if (w->state)
        memset(w->state, 0, w->width * w->height);
    for (size_t y = 0; y < w->height && !w->state; y++)
        memset(w->cells->word + y * w->cells->stride, 0, (w->width + 63) / 64 * sizeof(uint64_t));
    for (size_t i = 0; i < p->n; i++)
        region_get(p->region[i], w);
    return 0;
}

static int large_plane_clear(life *lf)
{
    large_regions_free(lf->state);
    lf->generation = 0;
    return 0;
}

/* ---- Generations. ---------------------------------------------------------------------------- */

/* Progress of the regions in a generation; cells since the last report between regions. */
struct plane_progress {
    life *lf;
    size_t done, n, cells;
};

static int large_plane_tell(void *progress, double done)
{
    const struct plane_progress *r = progress;
    return life_call_tell(r->lf, ((double)r->done + done) / (double)r->n);
}

/* Report before a region if LARGE_CELLS_A_REPORT cells have been computed since the last report. */
static int region_begins(struct plane_progress *r, const struct large_field *f)
{
    const bool due = r->cells >= LARGE_CELLS_A_REPORT;
    r->cells = r->cells % LARGE_CELLS_A_REPORT + large_field_cells(f);
    return due ? large_plane_tell(r, 0) : 0;
}

/* Compute a generation of all regions. Once cancelled, all have the present one. */
static int plane_generation(struct plane_progress *r)
{
    const life *lf = r->lf;
    struct large_plane *p = lf->state;
    int status = 0;
    r->n = p->n;
    for (r->done = 0; r->done < p->n && status == 0; r->done++) {
        struct large_field *f = &p->region[r->done]->field;
        status = region_begins(r, f);
        if (status < 0)
            continue;
        f->pool = p->rule.pool;
        status = large_field_step(f, lf->generation & 1, large_plane_tell, r);
        p->rule.pool = f->pool;
    }
    for (size_t i = 0; i + 1 < r->done && status < 0; i++)
        large_field_undo(&p->region[i]->field);
    return status;
}

static int large_plane_step(life *lf, uint64_t generations)
{
    struct large_plane *p = lf->state;
    struct plane_progress progress = {.lf = lf};
    for (uint64_t g = 0; g < generations; g++) {
        if (large_regions_prepare(p) < 0)
            return -1;
        if (!p->n) { /* an empty plane is stored as an empty one */
            lf->generation += generations - g;
            return 0;
        }
        if (plane_generation(&progress) < 0)
            return -1;
        lf->generation++;
        lf->call.done++;
    }
    return 0;
}

/* ---- Queries. -------------------------------------------------------------------------------- */

typedef int plane_run(void *arg, long long x, long long y, uint64_t n, unsigned state);

/* Walk a row of a region. */
static int region_runs(const struct large_region *r, long long row, plane_run *run, void *arg)
{
    const struct large_field *f = &r->field;
    const size_t y = (size_t)(row - r->y);
    const unsigned char *cell = large_field_row(f, f->now, y);
    const struct large_extent e = f->gen[f->now].extent[y];
    for (size_t x = e.first, end; x < e.end; x = end) {
        for (end = x + 1; end < e.end && cell[end] == cell[x];)
            end++;
        if (cell[x] && run(arg, r->x + (long long)x, row, end - x, cell[x]) != 0)
            return -1;
    }
    return 0;
}

/* Call `run` for each run of equal nonzero states in a row; stop at a nonzero result. The regions'
 * cells do not overlap: in a row, each has the columns of its box. */
static int large_plane_runs(life *lf, plane_run *run, void *arg)
{
    struct large_plane *p = lf->state;
    large_regions_measure(p);
    const struct large_region **walked = calloc(p->n + 1, sizeof(const struct large_region *));
    size_t next = 0, n = 0; /* regions of a row, from the left */
    int status = walked ? 0 : clerror_set(ENOMEM, "life: out of memory for rows of a plane");
    for (long long row = 0; (n || next < p->n) && status == 0; row++) {
        row = n ? row : p->region[next]->box.top;
        for (; next < p->n && p->region[next]->box.top == row; next++) {
            size_t k = n++;
            for (; k && walked[k - 1]->box.left > p->region[next]->box.left; k--)
                walked[k] = walked[k - 1];
            walked[k] = p->region[next];
        }
        for (size_t i = 0; i < n && status == 0; i++)
            status = region_runs(walked[i], row, run, arg);
        size_t left = 0;
        for (size_t i = 0; i < n; i++)
            if (walked[i]->box.bottom > row + 1)
                walked[left++] = walked[i];
        n = left;
    }
    free(walked);
    return status;
}

static int add_population(void *tally, long long x, long long y, uint64_t n, unsigned state)
{
    (void)x;
    (void)y;
    (void)state;
    ((struct life_tally *)tally)->low += n;
    return 0;
}

static int large_plane_population(life *lf, struct life_tally *population)
{
    *population = (struct life_tally){0, 0};
    return large_plane_runs(lf, add_population, population);
}

static int large_plane_bounding_box(life *lf, struct life_box *box)
{
    const struct large_plane *p = lf->state;
    struct plane_box b = {0, 0, 0, 0};
    for (size_t i = 0; i < p->n; i++)
        b = plane_box_join(b, large_region_box(p->region[i]));
    if (plane_box_is_empty(b))
        return 0;
    *box = (struct life_box){life_number_of(b.left), life_number_of(b.top), life_number_of(b.right),
                             life_number_of(b.bottom)};
    return 1;
}

/* Squares of 2^zoom cells a side, the first at x, y: counts of nonzero cells, or bits. */
struct plane_squares {
    plane_wide x, y;
    size_t width, height;
    unsigned zoom;
    uint64_t *count;
    struct life_cells *cells; /* NULL: counts */
};

/* Index of the square that has a cell, `from` the first of n; n: none. */
static size_t square_of(long long cell, plane_wide from, unsigned zoom, size_t n)
{
    const plane_wide i = (cell - from) >> zoom;
    return i < 0 || i >= (plane_wide)n ? n : (size_t)i;
}

static int add_squares(void *to, long long x, long long y, uint64_t n, unsigned state)
{
    const struct plane_squares *s = to;
    const size_t row = square_of(y, s->y, s->zoom, s->height);
    (void)state;
    for (uint64_t k = 0; k < n && row < s->height; k++) {
        const size_t i = square_of(x + (long long)k, s->x, s->zoom, s->width);
        if (i < s->width && s->cells)
            s->cells->word[row * s->cells->stride + i / 64] |= (uint64_t)1 << i % 64;
        else if (i < s->width)
            s->count[row * s->width + i]++;
    }
    return 0;
}

static int large_plane_density(life *lf, long long x, long long y, size_t width, size_t height,
                               unsigned zoom, uint64_t *count)
{
    struct plane_squares s = {x, y, width, height, zoom, count, NULL};
    memset(count, 0, width * height * sizeof *count);
    return large_plane_runs(lf, add_squares, &s);
}

static int large_plane_zoomed(life *lf, unsigned zoom, long long x, long long y,
                              struct life_cells *cells)
{
    const long long side = 1LL << zoom;
    struct plane_squares s = {.x = (plane_wide)x * side,
                              .y = (plane_wide)y * side,
                              .width = cells->width,
                              .height = cells->height,
                              .zoom = zoom,
                              .cells = cells};
    for (size_t j = 0; j < cells->height; j++)
        memset(cells->word + j * cells->stride, 0, (cells->width + 63) / 64 * sizeof(uint64_t));
    return large_plane_runs(lf, add_squares, &s);
}

const struct life_backend life_large_plane_backend = {
    .create = large_plane_create,
    .free = large_plane_free,
    .step = large_plane_step,
    .clear = large_plane_clear,
    .put = large_plane_put,
    .get = large_plane_get,
    .zoomed = large_plane_zoomed,
    .density = large_plane_density,
    .population = large_plane_population,
    .bounding_box = large_plane_bounding_box,
    .runs = large_plane_runs,
    .bytes = large_plane_bytes,
};
