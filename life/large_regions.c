/* large_regions.c - the regions of an unbounded plane of Larger than Life.
 *
 * A new region leaves room for several generations around its nonzero cells, and a fourth of their
 * extent more on each side, unless memory is short. When the cells reach the edge of their region,
 * they move to a new one; both are in memory then.
 *
 * Two regions become one if their cells come within reach. A new or joined region also takes in
 * each region whose common rectangle with it needs no more memory than both. A region without room
 * is divided at an empty band of rows or columns if that halves its memory, so cells far apart cost
 * only the rectangles around them.
 * SPDX-License-Identifier: MIT
 */
#include "life/large_plane.h"
#include "stdcl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- Boxes. ---------------------------------------------------------------------------------- */

static struct plane_box plane_box_widen(struct plane_box b, long long columns, long long rows)
{
    return (struct plane_box){b.left - columns, b.top - rows, b.right + columns, b.bottom + rows};
}

static bool plane_box_has(struct plane_box a, struct plane_box b)
{
    return b.left >= a.left && b.top >= a.top && b.right <= a.right && b.bottom <= a.bottom;
}

/* True if a cell is within reach of cells in both boxes, or the boxes would touch after a
 * generation. */
static bool boxes_are_near(const struct large_plane *p, struct plane_box a, struct plane_box b)
{
    const long long columns = 2 * (long long)p->rule.columns, rows = 2 * (long long)p->rule.reach;
    return a.left <= b.right + columns && b.left <= a.right + columns && a.top <= b.bottom + rows &&
           b.top <= a.bottom + rows;
}

/* ---- Memory. --------------------------------------------------------------------------------- */

/* Room on either side of a length. */
static long long room_of_length(long long length, size_t reach)
{
    return length / 4 + 4 * (long long)reach + LARGE_BLOCK;
}

/* The rectangle of a new region around a box. */
static struct plane_box box_with_room(const struct large_plane *p, struct plane_box b)
{
    return plane_box_widen(b, room_of_length(b.right - b.left, p->rule.columns),
                           room_of_length(b.bottom - b.top, p->rule.reach));
}

static double bytes_of_rectangle(const struct large_field *f, struct plane_box b)
{
    return large_field_bytes(f, (size_t)(b.right - b.left), (size_t)(b.bottom - b.top));
}

static double bytes_with_room(const struct large_plane *p, struct plane_box b)
{
    return bytes_of_rectangle(&p->rule, box_with_room(p, b));
}

double large_regions_bytes(const struct large_plane *p)
{
    double bytes = 0;
    for (size_t i = 0; i < p->n; i++) {
        const struct large_field *f = &p->region[i]->field;
        bytes += large_field_bytes(f, f->width, f->height);
    }
    return bytes;
}

/* True if one region for two boxes takes no more memory than two. */
static bool boxes_share_well(const struct large_plane *p, struct plane_box a, struct plane_box b)
{
    return bytes_with_room(p, plane_box_join(a, b)) <=
           bytes_with_room(p, a) + bytes_with_room(p, b);
}

/* ---- One region. ----------------------------------------------------------------------------- */

static void large_region_free(struct large_region *r)
{
    if (!r)
        return;
    large_field_free_cells(&r->field);
    free(r);
}

/* The nonzero cells of row y of the field from column `first` to end - 1; 0, 0: none. */
static struct large_extent cells_of_row(const struct large_field *f, size_t y, size_t first,
                                        size_t end)
{
    struct large_extent e = f->gen[f->now].extent[y];
    const unsigned char *row = large_field_row(f, f->now, y);
    e.first = e.first > first ? e.first : first;
    e.end = e.end < end ? e.end : end;
    while (e.first < e.end && !row[e.first])
        e.first++;
    while (e.first < e.end && !row[e.end - 1])
        e.end--;
    return e.first < e.end ? e : (struct large_extent){0, 0};
}

/* The box of the nonzero cells of a region that are in `within`. */
static struct plane_box region_box_within(const struct large_region *r, struct plane_box within)
{
    const struct large_cells *g = &r->field.gen[r->field.now];
    struct plane_box box = {0, 0, 0, 0};
    for (size_t y = g->top; y < g->bottom; y++) {
        const long long row = r->y + (long long)y;
        if (row < within.top || row >= within.bottom)
            continue;
        const struct large_extent e =
            cells_of_row(&r->field, y, (size_t)(within.left - r->x), (size_t)(within.right - r->x));
        if (e.first < e.end)
            box = plane_box_join(box, (struct plane_box){r->x + (long long)e.first, row,
                                                         r->x + (long long)e.end, row + 1});
    }
    return box;
}

static struct plane_box region_rectangle(const struct large_region *r)
{
    return (struct plane_box){r->x, r->y, r->x + (long long)r->field.width,
                              r->y + (long long)r->field.height};
}

struct plane_box large_region_box(const struct large_region *r)
{
    return region_box_within(r, region_rectangle(r));
}

/* A box of whole blocks of cells, which takes less time than their box; its right side may be
 * beyond the region. */
static struct plane_box region_block_box(const struct large_region *r)
{
    const struct large_cells *g = &r->field.gen[r->field.now];
    struct large_extent all = {SIZE_MAX, 0};
    for (size_t y = g->top; y < g->bottom; y++) {
        const struct large_extent e = g->extent[y];
        all.first = e.first < e.end && e.first < all.first ? e.first : all.first;
        all.end = e.end > all.end ? e.end : all.end;
    }
    return (struct plane_box){r->x + (long long)(all.end ? all.first : 0), r->y + (long long)g->top,
                              r->x + (long long)all.end, r->y + (long long)g->bottom};
}

/* Copy the cells of a region that are in a box to another region. */
static void copy_cells(const struct large_region *from, struct plane_box box,
                       struct large_region *to)
{
    for (long long row = box.top; row < box.bottom; row++) {
        const size_t y = (size_t)(row - from->y), down = (size_t)(row - to->y);
        const struct large_extent e = cells_of_row(&from->field, y, (size_t)(box.left - from->x),
                                                   (size_t)(box.right - from->x));
        if (e.first == e.end)
            continue;
        memcpy(large_field_row(&to->field, to->field.now, down) +
                   (from->x - to->x + (long long)e.first),
               large_field_row(&from->field, from->field.now, y) + e.first, e.end - e.first);
        large_field_written(&to->field, down);
    }
}

static void no_memory_for(const struct large_plane *p, struct plane_box b, double bytes)
{
    clerror_set(ENOMEM,
                "life: under Larger than Life a plane has memory for rectangles around cells that "
                "are near each other, here %lld x %lld; this needs %.4g MB, and the limit is "
                "%.4g MB",
                b.right - b.left, b.bottom - b.top, bytes / 1e6, p->memory / 1e6);
}

/* Choose the rectangle of a new region: with room and the sums of all threads, with room and the
 * sums of one thread, or without room. Return -1 if none fits. */
static int choose_rectangle(const struct large_plane *p, struct large_field *f,
                            struct plane_box box, struct plane_box *rectangle)
{
    const double taken = large_regions_bytes(p);
    *rectangle = box_with_room(p, box);
    if (taken + bytes_of_rectangle(f, *rectangle) <= p->memory)
        return 0;
    f->most_bands = 1;
    if (taken + bytes_of_rectangle(f, *rectangle) <= p->memory)
        return 0;
    *rectangle = box;
    const double bytes = taken + bytes_of_rectangle(f, box);
    if (bytes <= p->memory)
        return 0;
    no_memory_for(p, box, bytes);
    return -1;
}

static int region_allocate(const struct large_plane *p, struct large_region *r,
                           struct plane_box box)
{
    struct plane_box b;
    r->field = p->rule;
    if (choose_rectangle(p, &r->field, box, &b) < 0)
        return -1;
    r->x = b.left;
    r->y = b.top;
    /* row y here is row y + 1 of a file, where triangles at even sums have their edge above */
    r->field.parity = (unsigned)(b.left + b.top + 1) & 1;
    return large_field_allocate(&r->field, (size_t)(b.right - b.left), (size_t)(b.bottom - b.top),
                                false);
}

/* Add a region of dead cells around a box; NULL: ENOMEM or ERANGE. */
static struct large_region *region_add(struct large_plane *p, struct plane_box box)
{
    if (box.left < -PLANE_FARTHEST || box.top < -PLANE_FARTHEST || box.right > PLANE_FARTHEST ||
        box.bottom > PLANE_FARTHEST) {
        clerror_set(ERANGE, "life: live cells are more than 2^61 from the middle of the plane");
        return NULL;
    }
    if (p->n == p->room) {
        const size_t room = 2 * p->room + 4;
        struct large_region **more = realloc(p->region, room * sizeof(struct large_region *));
        if (!more) {
            clerror_set(ENOMEM, "life: out of memory for the regions of a plane");
            return NULL;
        }
        p->region = more;
        p->room = room;
    }
    struct large_region *r = calloc(1, sizeof *r);
    if (r && region_allocate(p, r, box) == 0)
        return p->region[p->n++] = r;
    if (!r)
        clerror_set(ENOMEM, "life: out of memory for the regions of a plane");
    large_region_free(r);
    return NULL;
}

static void region_remove(struct large_plane *p, size_t i)
{
    large_region_free(p->region[i]);
    p->region[i] = p->region[--p->n];
}

/* ---- Joining. -------------------------------------------------------------------------------- */

/* Move the cells of all regions in `joined`, true for each region, to a new region around a box
 * that has them. */
static struct large_region *regions_move(struct large_plane *p, const bool *joined,
                                         struct plane_box box)
{
    const size_t n = p->n;
    struct large_region *to = region_add(p, box);
    for (size_t i = 0; i < n && to; i++)
        if (joined[i])
            copy_cells(p->region[i], large_region_box(p->region[i]), to);
    for (size_t i = n; i-- > 0 && to;) /* the last region, `to`, takes a removed one's place */
        if (joined[i])
            region_remove(p, i);
    return to;
}

/* Extend a box by the regions that are near it, or share memory well with it. Return their
 * number. */
static size_t box_join_regions(const struct large_plane *p, struct plane_box *box, bool *joined)
{
    size_t n = 0;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < p->n; i++) {
            const struct plane_box b = p->region[i]->box;
            if (joined[i] || (!boxes_are_near(p, *box, b) && !boxes_share_well(p, *box, b)))
                continue;
            *box = plane_box_join(*box, b);
            joined[i] = more = true;
            n++;
        }
    }
    return n;
}

/* Find a region that contains a box and is the only one near it; NULL: none. */
static struct large_region *region_taking(const struct large_plane *p, struct plane_box box)
{
    for (size_t i = 0; i < p->n; i++) {
        if (!plane_box_has(region_rectangle(p->region[i]), box))
            continue;
        const struct plane_box all = plane_box_join(region_block_box(p->region[i]), box);
        bool takes = true;
        for (size_t k = 0; k < p->n && takes; k++) {
            const struct plane_box b = region_block_box(p->region[k]);
            takes = k == i || plane_box_is_empty(b) || !boxes_are_near(p, all, b);
        }
        if (takes)
            return p->region[i];
    }
    return NULL;
}

struct large_region *large_regions_cover(struct large_plane *p, struct plane_box box)
{
    struct large_region *to = region_taking(p, box);
    if (to)
        return to;
    bool *joined = calloc(p->n + 1, sizeof *joined);
    if (!joined) {
        clerror_set(ENOMEM, "life: out of memory for the regions of a plane");
        return NULL;
    }
    for (size_t i = 0; i < p->n; i++)
        p->region[i]->box = large_region_box(p->region[i]);
    const size_t n = box_join_regions(p, &box, joined);
    for (size_t i = 0; i < p->n && n == 1; i++)
        if (joined[i] && plane_box_has(region_rectangle(p->region[i]), box))
            to = p->region[i];
    if (!to)
        to = regions_move(p, joined, box);
    free(joined);
    return to;
}

static int compare_regions(const void *a, const void *b)
{
    const struct large_region *x = *(struct large_region *const *)a,
                              *y = *(struct large_region *const *)b;
    return (x->box.top > y->box.top) - (x->box.top < y->box.top);
}

/* Measure the regions by their cells or by blocks of cells, remove empty ones, and sort the
 * regions by the first row. */
static void regions_measure(struct large_plane *p,
                            struct plane_box (*box)(const struct large_region *))
{
    for (size_t i = p->n; i-- > 0;) {
        p->region[i]->box = box(p->region[i]);
        if (plane_box_is_empty(p->region[i]->box))
            region_remove(p, i);
    }
    if (p->n > 1)
        qsort(p->region, p->n, sizeof(struct large_region *), compare_regions);
}

void large_regions_measure(struct large_plane *p)
{
    regions_measure(p, large_region_box);
}

/* Join a region with those below it that are near, by their boxes of blocks and then by their
 * cells. Return 1 if there was one, 0 if not. */
static int join_below(struct large_plane *p, size_t i)
{
    struct large_region *a = p->region[i];
    const long long rows = 2 * (long long)p->rule.reach;
    for (size_t k = i + 1; k < p->n && p->region[k]->box.top <= a->box.bottom + rows; k++) {
        struct large_region *b = p->region[k];
        if (!boxes_are_near(p, a->box, b->box))
            continue;
        a->box = large_region_box(a);
        const struct plane_box cells = large_region_box(b);
        if (boxes_are_near(p, a->box, cells))
            return large_regions_cover(p, cells) ? 1 : -1;
    }
    return 0;
}

static int join_near_regions(struct large_plane *p)
{
    int joined;
    do {
        joined = 0;
        regions_measure(p, region_block_box);
        for (size_t i = 0; i + 1 < p->n && joined == 0; i++)
            joined = join_below(p, i);
    } while (joined > 0);
    return joined;
}

/* ---- Dividing. ------------------------------------------------------------------------------- */

/* The widest empty band of a box: cells before `end` and from `begin` on have cells between. */
struct plane_gap {
    long long end, begin;
};

/* Find the widest run of false among n flags, whose first and last are true. */
static struct plane_gap widest_gap(const bool *lives, size_t n)
{
    struct plane_gap gap = {0, 0};
    size_t last = 0;
    for (size_t i = 1; i < n; i++) {
        if (!lives[i])
            continue;
        if ((long long)(i - last - 1) > gap.begin - gap.end)
            gap = (struct plane_gap){(long long)last + 1, (long long)i};
        last = i;
    }
    return gap;
}

/* Find the rows and columns of a box that have nonzero cells. */
static void mark_lines(const struct large_region *r, struct plane_box b, bool *rows, bool *columns)
{
    for (long long y = b.top; y < b.bottom; y++) {
        const size_t row = (size_t)(y - r->y);
        const struct large_extent e =
            cells_of_row(&r->field, row, (size_t)(b.left - r->x), (size_t)(b.right - r->x));
        const unsigned char *cell = large_field_row(&r->field, r->field.now, row);
        rows[y - b.top] = e.first < e.end;
        for (size_t x = e.first; x < e.end; x++)
            columns[(long long)x + r->x - b.left] |= cell[x] != 0;
    }
}

/* Divide a box of nonzero cells at its widest empty band; false if there is none, or if memory
 * would not halve. Returns both parts' boxes. */
static bool box_divide(const struct large_plane *p, const struct large_region *r,
                       struct plane_box b, struct plane_box part[2])
{
    const size_t height = (size_t)(b.bottom - b.top), width = (size_t)(b.right - b.left);
    bool *rows = calloc(height + width, sizeof *rows);
    if (!rows)
        return false; /* one region, then */
    mark_lines(r, b, rows, rows + height);
    const struct plane_gap down = widest_gap(rows, height),
                           across = widest_gap(rows + height, width);
    free(rows);
    part[0] = part[1] = b;
    if (across.begin - across.end > down.begin - down.end) {
        part[0].right = b.left + across.end;
        part[1].left = b.left + across.begin;
    } else {
        part[0].bottom = b.top + down.end;
        part[1].top = b.top + down.begin;
    }
    if (down.begin == down.end && across.begin == across.end)
        return false;
    for (int i = 0; i < 2; i++)
        part[i] = region_box_within(r, part[i]);
    return !boxes_are_near(p, part[0], part[1]) &&
           bytes_with_room(p, part[0]) + bytes_with_room(p, part[1]) <= bytes_with_room(p, b) / 2;
}

/* Copy the cells of a box to one or more new regions. */
static int region_divide(struct large_plane *p, const struct large_region *r, struct plane_box b)
{
    struct plane_box part[2];
    if (box_divide(p, r, b, part))
        return region_divide(p, r, part[0]) < 0 ? -1 : region_divide(p, r, part[1]);
    struct large_region *to =
        region_add(p, plane_box_widen(b, (long long)p->rule.columns, (long long)p->rule.reach));
    if (!to)
        return -1;
    copy_cells(r, b, to);
    to->box = b;
    return 0;
}

/* Replace region number i by new ones with room. After a failure the plane is as before. */
static int region_renew(struct large_plane *p, size_t i)
{
    const size_t n = p->n;
    if (region_divide(p, p->region[i], large_region_box(p->region[i])) == 0) {
        region_remove(p, i);
        return 0;
    }
    while (p->n > n)
        region_remove(p, p->n - 1);
    return -1;
}

/* True if the neighbourhood's reach around the cells is inside the region. In most generations the
 * blocks show it. */
static bool region_has_room(const struct large_plane *p, const struct large_region *r)
{
    const long long columns = (long long)p->rule.columns, rows = (long long)p->rule.reach;
    return plane_box_has(region_rectangle(r), plane_box_widen(r->box, columns, rows)) ||
           plane_box_has(region_rectangle(r), plane_box_widen(large_region_box(r), columns, rows));
}

int large_regions_prepare(struct large_plane *p)
{
    if (join_near_regions(p) < 0)
        return -1;
    for (size_t i = p->n; i-- > 0;) /* new regions have room */
        if (!region_has_room(p, p->region[i]) && region_renew(p, i) < 0)
            return -1;
    return 0;
}

void large_regions_free(struct large_plane *p)
{
    while (p->n)
        region_remove(p, p->n - 1);
    free(p->region);
    p->region = NULL;
    p->room = 0;
}
