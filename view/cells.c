/* cells.c - frames of cells: bits, or bytes with the share of live cells in a square.
 * SPDX-License-Identifier: MIT
 */
#include "view/frame.h"

#include <math.h>

size_t view_cells_bytes(const struct view_region *r, unsigned states)
{
    return r->zoom || states > 2 ? (size_t)r->width * r->height
                                 : ((size_t)r->width + 7) / 8 * r->height;
}

uint8_t view_cells_shade(uint64_t live, uint32_t zoom)
{
    const double most = ldexp(1, 2 * (int)zoom) - 1;
    return (uint8_t)(live == 0 ? 0 : zoom == 0 ? 255 : 1 + (double)(live - 1) * 254. / most);
}

/* ---- Rectangles. --------------------------------------------------------------------------- */

/* Clip a side of `n` squares from *at on to a grid `size` cells wide. */
static bool clip_side(uint64_t size, bool around, uint32_t zoom, int64_t *at, uint32_t *n)
{
    const int64_t cells = (int64_t)size, square = (int64_t)1 << zoom;
    int64_t end = *at + (int64_t)*n * square;
    if (around) {
        *at = (*at % cells + cells) % cells;
        const int64_t most = (cells + square - 1) / square;
        *n = *n < most ? *n : (uint32_t)most;
        return true;
    }
    end = end < cells ? end : cells;
    *at = *at < 0 ? 0 : *at;
    *n = end > *at ? (uint32_t)((end - *at + square - 1) / square) : 0;
    return *n > 0;
}

bool region_clip(const struct view_field *field, struct view_region *region)
{
    if (field->width == 0) { /* an unbounded plane: its tree clips the squares */
        region->x &= -((int64_t)1 << region->zoom);
        region->y &= -((int64_t)1 << region->zoom);
        return true;
    }
    const bool around = field->bounds && strcmp(field->bounds, "torus") == 0;
    return clip_side(field->width, around, region->zoom, &region->x, &region->width) &&
           clip_side(field->height, around, region->zoom, &region->y, &region->height);
}

struct view_region region_whole(const struct view_field *field, uint32_t zoom)
{
    enum { SIDE = 1024 };
    struct view_region r = {0, 0, SIDE, SIDE, zoom};
    if (field->width == 0)
        r.x = r.y = -((int64_t)(SIDE / 2) << zoom);
    while (r.zoom < MOST_ZOOM && (field->width >> r.zoom > SIDE || field->height >> r.zoom > SIDE))
        r.zoom++;
    region_clip(field, &r);
    return r;
}

bool region_touches_edge(const struct view_region *r, unsigned states, const unsigned char *body)
{
    const bool bytes = r->zoom || states > 2;
    const size_t row = view_cells_bytes(r, states) / r->height,
                 last = bytes ? row - 1 : (r->width - 1) / 8;
    const unsigned char left = bytes ? 255 : 1,
                        right = (unsigned char)(bytes ? 255 : 1 << (r->width - 1) % 8);
    for (size_t k = 0; k < row; k++)
        if (body[k] || body[(r->height - 1) * row + k])
            return true;
    for (size_t j = 0; j < r->height; j++)
        if ((body[j * row] & left) || (body[j * row + last] & right))
            return true;
    return false;
}

bool region_same(const struct view_region *a, const struct view_region *b)
{
    return a->x == b->x && a->y == b->y && a->width == b->width && a->height == b->height &&
           a->zoom == b->zoom;
}

int cells_find(const struct shown *shown, const struct view_region *region)
{
    for (size_t i = 0; i < shown->n; i++)
        if (region_same(&shown->region[i], region))
            return (int)i;
    return -1;
}

/* ---- Frames. ------------------------------------------------------------------------------- */

static void cells_put_head(struct bytes *to, const struct shown *shown, const struct view_region *r)
{
    frame_head(to, CELLS, REGION, shown);
    bytes_u(to, (uint64_t)r->x, 8);
    bytes_u(to, (uint64_t)r->y, 8);
    bytes_u(to, r->width, 4);
    bytes_u(to, r->height, 4);
    bytes_u(to, r->zoom, 1);
    bytes_u(to, shown->states > 2 ? shown->states - 1 : 0, 3);
    bytes_u(to, 0, 4); /* base1 */
    bytes_u(to, shown->population, 8);
}

/* Append with the smallest of the codings; the frame has its head already. */
static enum coding put_smallest(struct bytes *to, const unsigned char *body, size_t size,
                                const struct previous_cells *last)
{
    const size_t start = to->used;
    struct bytes changes = {0}, packed = {0};
    enum coding coding = RAW;
    if (pack(&packed, body, size) && packed.used < size)
        coding = PACKED;
    unsigned char *x = last && last->body.used == size ? bytes_more(&changes, size) : NULL;
    for (size_t i = 0; x && i < size; i++)
        x[i] = body[i] ^ last->body.at[i];
    if (x && pack(to, x, size) && to->used - start < (coding == PACKED ? packed.used : size))
        coding = DIFFERENCES_PACKED;
    else
        to->used = start;
    if (coding == PACKED)
        bytes_put(to, packed.at, packed.used);
    else if (coding == RAW)
        bytes_put(to, body, size);
    bytes_free(&changes);
    bytes_free(&packed);
    return coding;
}

static void cells_remember(struct previous_cells *last, const struct shown *shown,
                           const struct view_region *region, const unsigned char *body, size_t size)
{
    last->body.used = 0;
    bytes_put(&last->body, body, size);
    last->region = *region;
    last->sequence = shown->sequence;
}

bool frame_cells(struct bytes *to, const struct shown *shown, int i, int wanted,
                 struct previous_cells *last)
{
    const size_t start = to->used;
    const unsigned char *body = shown->first.at;
    for (int k = 0; k < i; k++)
        body += view_cells_bytes(&shown->region[k], shown->states);
    const struct view_region *r = &shown->region[i];
    const size_t size = view_cells_bytes(r, shown->states);
    cells_put_head(to, shown, r);
    const bool builds = last->body.used && region_same(&last->region, r);
    enum coding coding = RAW;
    if (wanted == DIFFERENCES_PACKED)
        coding = put_smallest(to, body, size, builds ? last : NULL);
    else
        bytes_put(to, body, size);
    if (to->failed)
        return false;
    to->at[start + 1] = (unsigned char)coding;
    bytes_at(to->at + start + 52, coding == DIFFERENCES_PACKED ? last->sequence : 0, 4);
    if (wanted == DIFFERENCES_PACKED)
        cells_remember(last, shown, r, body, size);
    return true;
}
