/* large_plane.c - the engine "reference" under rules of Larger than Life, on unbounded planes:
 * plain C (large_field.h) in a field around the nonzero cells, which moves and grows with them.
 *
 * Before each generation the field has room for the neighbourhood's reach around the nonzero cells.
 * A new field leaves room for several generations, and a fourth of its size more on each side,
 * unless memory is short. While cells move to a new field, both fields are in memory.
 * SPDX-License-Identifier: MIT
 */
#include "life/cells.h"
#include "life/engine.h"
#include "life/large_field.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 plane_wide; /* coordinates in cells of squares of any zoom */

struct large_plane {
    struct large_field field;
    long long x, y; /* of the field's cell 0,0 */
    double memory;  /* limit of bytes, also while cells move */
};

/* Columns left ... right - 1 and rows top ... bottom - 1; empty if left = right. */
struct plane_box {
    long long left, top, right, bottom;
};

static const long long FARTHEST = 1LL << 61; /* sums of coordinates and sizes fit in 63 bits */

/* ---- The field. ------------------------------------------------------------------------------ */

static struct plane_box plane_box_join(struct plane_box a, struct plane_box b)
{
    if (a.left == a.right)
        return b;
    if (b.left == b.right)
        return a;
    return (struct plane_box){a.left < b.left ? a.left : b.left, a.top < b.top ? a.top : b.top,
                              a.right > b.right ? a.right : b.right,
                              a.bottom > b.bottom ? a.bottom : b.bottom};
}

/* The nonzero cells of row y of the field; 0, 0: none. */
static struct large_extent cells_of_row(const struct large_field *f, size_t y)
{
    struct large_extent e = f->gen[f->now].extent[y];
    const unsigned char *row = large_field_row(f, f->now, y);
    while (e.first < e.end && !row[e.first])
        e.first++;
    while (e.first < e.end && !row[e.end - 1])
        e.end--;
    return e.first < e.end ? e : (struct large_extent){0, 0};
}

/* The box of all nonzero cells. */
static struct plane_box plane_box_of_cells(const struct large_plane *p)
{
    const struct large_field *f = &p->field;
    const struct large_cells *g = &f->gen[f->now];
    struct plane_box box = {0, 0, 0, 0};
    for (size_t y = g->top; y < g->bottom; y++) {
        const struct large_extent e = cells_of_row(f, y);
        const long long row = p->y + (long long)y;
        if (e.first < e.end)
            box = plane_box_join(box, (struct plane_box){p->x + (long long)e.first, row,
                                                         p->x + (long long)e.end, row + 1});
    }
    return box;
}

static bool plane_box_is_inside(const struct large_plane *p, struct plane_box b)
{
    const struct large_field *f = &p->field;
    return b.left >= p->x && b.top >= p->y && b.right <= p->x + (long long)f->width &&
           b.bottom <= p->y + (long long)f->height;
}

/* Copy all nonzero rows to another field, dx columns to the right and dy rows down, which may be
 * negative. */
static void copy_rows(const struct large_field *from, struct large_field *to, long long dx,
                      long long dy)
{
    const struct large_cells *g = &from->gen[from->now];
    for (size_t y = g->top; y < g->bottom; y++) {
        const struct large_extent e = cells_of_row(from, y);
        if (e.first == e.end)
            continue;
        const size_t row = (size_t)((long long)y + dy), first = (size_t)((long long)e.first + dx);
        memcpy(large_field_row(to, to->now, row) + first,
               large_field_row(from, from->now, y) + e.first, e.end - e.first);
        large_field_written(to, row);
    }
}

/* Room on either side of a length. */
static long long room_of_length(long long length, size_t reach)
{
    return length / 4 + 4 * (long long)reach + LARGE_BLOCK;
}

/* Bytes of the present field and of a field around a box, both allocated while cells move. */
static double bytes_of_move(const struct large_field *f, struct plane_box b, long long across,
                            long long down)
{
    return large_field_bytes(f, (size_t)(b.right - b.left + 2 * across),
                             (size_t)(b.bottom - b.top + 2 * down)) +
           (f->gen[0].state ? large_field_bytes(f, f->width, f->height) : 0);
}

/* Replace the field by one around a box, which has all nonzero cells. */
static int plane_move(struct large_plane *p, struct plane_box b)
{
    struct large_field *f = &p->field, next = *f;
    long long across = room_of_length(b.right - b.left, f->columns),
              down = room_of_length(b.bottom - b.top, f->reach);
    if (b.left < -FARTHEST || b.top < -FARTHEST || b.right > FARTHEST || b.bottom > FARTHEST)
        return clerror_set(ERANGE, "life: live cells are more than 2^61 from the middle of the "
                                   "plane");
    if (b.left < b.right && bytes_of_move(f, b, across, down) > p->memory)
        across = down = 0;
    const double bytes = bytes_of_move(f, b, across, down);
    if (bytes > p->memory && b.left == b.right)
        return clerror_set(ENOMEM,
                           "life: under Larger than Life an empty plane needs %.4g MB, and the "
                           "limit is %.4g MB",
                           bytes / 1e6, p->memory / 1e6);
    if (bytes > p->memory)
        return clerror_set(ENOMEM,
                           "life: under Larger than Life a plane has memory for the rectangle "
                           "around all live cells, here %lld x %lld; this needs %.4g MB, and the "
                           "limit is %.4g MB",
                           b.right - b.left, b.bottom - b.top, bytes / 1e6, p->memory / 1e6);
    memset(next.gen, 0, sizeof next.gen);
    next.no_cells = NULL;
    next.reached = NULL;
    next.work = NULL;
    next.works = 0;
    /* row y here is row y + 1 of a file, where triangles at even sums have their edge above */
    next.parity = (unsigned)(b.left - across + b.top - down + 1) & 1;
    if (large_field_allocate(&next, (size_t)(b.right - b.left + 2 * across),
                             (size_t)(b.bottom - b.top + 2 * down), false) < 0) {
        large_field_free_cells(&next);
        free(next.work);
        return -1;
    }
    copy_rows(f, &next, p->x - (b.left - across), p->y - (b.top - down));
    large_field_free_cells(f);
    free(f->work);
    *f = next;
    p->x = b.left - across;
    p->y = b.top - down;
    return 0;
}

/* Make room for a box besides the nonzero cells. */
static int plane_make_room(struct large_plane *p, struct plane_box b)
{
    return b.left == b.right || plane_box_is_inside(p, b)
               ? 0
               : plane_move(p, plane_box_join(plane_box_of_cells(p), b));
}

/* Make room for the next generation. In most generations the rows' blocks show that there is room,
 * which takes less time than their cells. */
static int plane_prepare(struct large_plane *p)
{
    const struct large_field *f = &p->field;
    const struct large_cells *g = &f->gen[f->now];
    bool fits = g->top >= f->reach && f->height - g->bottom >= f->reach;
    for (size_t y = g->top; y < g->bottom && fits; y++)
        fits = g->extent[y].first == g->extent[y].end ||
               (g->extent[y].first >= f->columns && g->extent[y].end + f->columns <= f->width);
    if (fits)
        return 0;
    struct plane_box b = plane_box_of_cells(p);
    const long long columns = (long long)f->columns, reach = (long long)f->reach;
    if (b.left == b.right)
        return 0;
    b = (struct plane_box){b.left - columns, b.top - reach, b.right + columns, b.bottom + reach};
    return plane_box_is_inside(p, b) ? 0 : plane_move(p, b);
}

/* ---- Create and free. ------------------------------------------------------------------------ */

static void large_plane_free(life *lf)
{
    struct large_plane *p = lf->state;
    if (!p)
        return;
    large_field_close(&p->field);
    free(p);
    lf->state = NULL;
}

static int large_plane_create(life *lf, const struct life_options *o)
{
    struct large_plane *p = lf->state = calloc(1, sizeof *p);
    if (!p)
        return clerror_set(ENOMEM, "life: out of memory for an engine");
    p->memory = o->memory ? (double)o->memory : life_host_memory() / 2;
    int status = large_field_open(&p->field, lf->rule.text, o->threads);
    if (status == 0)
        status = plane_move(p, (struct plane_box){0, 0, 0, 0});
    if (status < 0)
        large_plane_free(lf);
    return status;
}

static size_t large_plane_bytes(const life *lf)
{
    const struct large_plane *p = lf->state;
    return (size_t)large_field_bytes(&p->field, p->field.width, p->field.height);
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

/* The part of a window in the field, as columns and rows of the window. */
static struct plane_box window_in_field(const struct large_plane *p, const struct life_window *w)
{
    const long long x = p->x - w->x, y = p->y - w->y, right = x + (long long)p->field.width,
                    bottom = y + (long long)p->field.height, width = (long long)w->width,
                    height = (long long)w->height;
    const struct plane_box b = {x > 0 ? x : 0, y > 0 ? y : 0, right < width ? right : width,
                                bottom < height ? bottom : height};
    return b.left < b.right && b.top < b.bottom ? b : (struct plane_box){0, 0, 0, 0};
}

/* Refuse a window if its coordinates would overflow. */
static int window_check(const struct life_window *w)
{
    return w->x >= -FARTHEST && w->y >= -FARTHEST && w->x <= FARTHEST && w->y <= FARTHEST &&
                   w->width <= (size_t)FARTHEST && w->height <= (size_t)FARTHEST
               ? 0
               : clerror_set(ERANGE,
                             "life: a rectangle at %lld,%lld is more than 2^61 cells from "
                             "the middle of the plane",
                             w->x, w->y);
}

static int large_plane_put(life *lf, const struct life_window *w)
{
    struct large_plane *p = lf->state;
    struct large_field *f = &p->field;
    if (window_check(w) < 0 || plane_make_room(p, plane_box_of_window(w)) < 0)
        return -1;
    const struct plane_box b = window_in_field(p, w);
    for (long long y = b.top; y < b.bottom; y++) {
        const size_t row = (size_t)(w->y + y - p->y);
        unsigned char *to = large_field_row(f, f->now, row);
        for (long long x = b.left; x < b.right; x++)
            to[w->x - p->x + x] = window_state(w, (size_t)x, (size_t)y);
        large_field_written(f, row);
    }
    return 0;
}

static int large_plane_get(life *lf, const struct life_window *w)
{
    const struct large_plane *p = lf->state;
    const struct large_field *f = &p->field;
    if (window_check(w) < 0)
        return -1;
    if (w->state)
        memset(w->state, 0, w->width * w->height);
    for (size_t y = 0; y < w->height && !w->state; y++)
        memset(w->cells->word + y * w->cells->stride, 0, (w->width + 63) / 64 * sizeof(uint64_t));
    const struct plane_box b = window_in_field(p, w);
    for (long long y = b.top; y < b.bottom; y++) {
        const unsigned char *from = large_field_row(f, f->now, (size_t)(w->y + y - p->y));
        const long long dx = w->x - p->x;
        uint64_t *word = w->state ? NULL : w->cells->word + (size_t)y * w->cells->stride;
        for (long long x = b.left; x < b.right; x++)
            if (w->state)
                w->state[(size_t)y * w->width + (size_t)x] = from[x + dx];
            else
                word[x / 64] |= (uint64_t)(from[x + dx] == 1) << x % 64;
    }
    return 0;
}

static int large_plane_clear(life *lf)
{
    struct large_plane *p = lf->state;
    large_field_clear(&p->field);
    lf->generation = 0;
    return 0;
}

/* ---- Generations. ---------------------------------------------------------------------------- */

static int large_plane_tell(void *lf, double done)
{
    return life_call_tell(lf, done);
}

static int large_plane_step(life *lf, uint64_t generations)
{
    struct large_plane *p = lf->state;
    struct large_field *f = &p->field;
    size_t cells = 0;
    for (uint64_t g = 0; g < generations; g++) {
        const struct large_cells *now = &f->gen[f->now];
        if (now->top == now->bottom) { /* an empty plane is stored as an empty one */
            lf->generation += generations - g;
            return 0;
        }
        if (plane_prepare(p) < 0 ||
            large_field_step(f, lf->generation & 1, large_plane_tell, lf) < 0)
            return -1;
        lf->generation++;
        lf->call.done++;
        cells += large_field_cells(f);
        if (cells >= LARGE_CELLS_A_REPORT && g + 1 < generations && life_call_tell(lf, 0) < 0)
            return -1;
        cells %= LARGE_CELLS_A_REPORT;
    }
    return 0;
}

/* ---- Queries. -------------------------------------------------------------------------------- */

/* Call `run` for each run of equal nonzero states in a row; stop at a nonzero result. */
static int large_plane_runs(life *lf,
                            int (*run)(void *arg, long long x, long long y, uint64_t n,
                                       unsigned state),
                            void *arg)
{
    const struct large_plane *p = lf->state;
    const struct large_field *f = &p->field;
    const struct large_cells *g = &f->gen[f->now];
    for (size_t y = g->top; y < g->bottom; y++) {
        const unsigned char *row = large_field_row(f, f->now, y);
        const struct large_extent e = g->extent[y];
        for (size_t x = e.first, end; x < e.end; x = end) {
            for (end = x + 1; end < e.end && row[end] == row[x];)
                end++;
            if (row[x] && run(arg, p->x + (long long)x, p->y + (long long)y, end - x, row[x]) != 0)
                return -1;
        }
    }
    return 0;
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
    const struct plane_box b = plane_box_of_cells(lf->state);
    if (b.left == b.right)
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
