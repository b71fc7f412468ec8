/* decode.c - decodes recorded frames to coding 0. Files may come from anywhere: every length is
 * checked before it is used.
 * SPDX-License-Identifier: MIT
 */
#include "view/recording.h"

enum {
    MOST_BODIES = 1 << 22,
    DEFLATED_MOST = 1040
}; /* deflate compresses by a factor of at most 1032 */

static uint64_t decode_at(const struct span *s, size_t place, int n)
{
    return bytes_read(s->at + place, n);
}

/* Return `size` bytes, decompressed if necessary; NULL: the data does not give as many. The caller
 * frees *own. */
static const unsigned char *body(const struct span *frame, size_t head, bool packed, size_t size,
                                 unsigned char **own)
{
    const size_t given = frame->size - head;
    *own = NULL;
    if (!packed)
        return given == size ? frame->at + head : NULL;
    if (size / DEFLATED_MOST > given)
        return NULL;
    *own = malloc(size + 1);
    return *own && unpack(*own, size, frame->at + head, given) ? *own : NULL;
}

/* ---- Bodies. --------------------------------------------------------------------------------- */

struct head {
    size_t count, escapes, shades;
    enum coding coding;
};

static bool decode_read_head(const struct span *f, struct head *h)
{
    if (f->size < POINTS_HEAD)
        return false;
    *h = (struct head){decode_at(f, 76, 4), decode_at(f, 100, 4), 0, (enum coding)f->at[1]};
    h->shades = f->at[80] ? h->count : 0;
    return f->at[1] <= PACKED && f->at[80] < COLOURS && h->count <= MOST_BODIES &&
           h->escapes <= 3 * h->count;
}

/* Bytes of a decoded frame of points. */
static size_t decoded_points_bytes(size_t count, unsigned char colour)
{
    return POINTS_HEAD + (colour ? 7 : 6) * count;
}

/* True for a decoded frame of the same bodies in the same box. A frame of another kind may have the
 * same bytes there, and fewer in all. */
static bool decode_fits(const struct bytes *was, const struct span *f, size_t count)
{
    return was->used >= POINTS_HEAD && was->at[0] == POINTS && was->at[1] == RAW &&
           was->used == decoded_points_bytes(count, was->at[80]) &&
           memcmp(was->at + 24, f->at + 24, 48) == 0 && memcmp(was->at + 76, f->at + 76, 4) == 0;
}

static uint64_t coordinate(const struct bytes *frame, size_t i)
{
    return bytes_read(frame->at + POINTS_HEAD + 2 * i, 2);
}

static bool decode_add_up(struct bytes *out, const struct span *f, const struct head *h,
                          const unsigned char *from, const struct bytes *a, const struct bytes *b)
{
    const size_t n = 3 * h->count;
    const unsigned char *escape = from + n + h->shades, *const end = escape + 2 * h->escapes;
    unsigned char *to = bytes_more(out, 2 * n + h->shades);
    const bool same_colour = f->at[80] == a->at[80];
    if (!to)
        return false;
    for (size_t i = 0; i < n; i++) {
        const int d = (signed char)from[i];
        if (d == -128 && escape == end)
            return false;
        bytes_at(to + 2 * i,
                 d == -128 ? bytes_read(escape, 2)
                           : 2 * coordinate(a, i) - coordinate(b, i) + (uint64_t)d,
                 2);
        escape += d == -128 ? 2 : 0;
    }
    for (size_t i = 0; i < h->shades; i++)
        to[2 * n + i] =
            (unsigned char)(from[n + i] + (same_colour ? a->at[POINTS_HEAD + 2 * n + i] : 0));
    return escape == end;
}

static bool decode_points(struct bytes *out, const struct span *f, const struct bytes was[2])
{
    struct head h;
    unsigned char *own = NULL;
    if (!decode_read_head(f, &h))
        return false;
    const bool builds = h.coding == DIFFERENCES || h.coding == DIFFERENCES_PACKED;
    const size_t size = (builds ? 3 : 6) * h.count + h.shades + (builds ? 2 * h.escapes : 0);
    const struct bytes *a = &was[0], *b = decode_at(f, 96, 4) == decode_at(f, 92, 4) ? a : &was[1];
    if (builds && (!decode_fits(a, f, h.count) || !decode_fits(b, f, h.count)))
        return false;
    const unsigned char *from =
        body(f, POINTS_HEAD, h.coding == PACKED || h.coding == DIFFERENCES_PACKED, size, &own);
    bytes_put(out, f->at, POINTS_HEAD);
    bool ok = from != NULL;
    if (ok && builds)
        ok = decode_add_up(out, f, &h, from, a, b);
    else if (ok)
        bytes_put(out, from, size);
    free(own);
    if (!ok || out->failed)
        return false;
    memset(out->at + 92, 0, 12);
    bytes_at(out->at + 104, out->used - POINTS_HEAD, 8);
    return true;
}

/* ---- Cells. ---------------------------------------------------------------------------------- */

static bool decode_cells(struct bytes *out, const struct span *f, const struct bytes *was)
{
    unsigned char *own = NULL;
    if (f->size < CELLS_HEAD)
        return false;
    const struct view_region r = {0, 0, (uint32_t)decode_at(f, 40, 4),
                                  (uint32_t)decode_at(f, 44, 4), f->at[48]};
    if ((f->at[1] != RAW && f->at[1] != DIFFERENCES_PACKED && f->at[1] != PACKED) ||
        r.zoom > MOST_ZOOM || (uint64_t)r.width * r.height > MOST_SQUARES)
        return false;
    const size_t size = view_cells_bytes(&r, f->at[49] + 1u);
    const bool builds = f->at[1] == DIFFERENCES_PACKED;
    if (builds && (was->used != CELLS_HEAD + size || was->at[0] != CELLS || was->at[1] != RAW ||
                   memcmp(was->at + 24, f->at + 24, 28) != 0))
        return false;
    const unsigned char *from = body(f, CELLS_HEAD, f->at[1] != RAW, size, &own);
    bytes_put(out, f->at, CELLS_HEAD);
    if (from)
        bytes_put(out, from, size);
    for (size_t i = 0; from && builds && !out->failed && i < size; i++)
        out->at[CELLS_HEAD + i] ^= was->at[CELLS_HEAD + i];
    free(own);
    if (!from || out->failed)
        return false;
    memset(out->at + 52, 0, 4);
    return true;
}

/* ---- All. ------------------------------------------------------------------------------------ */

bool frame_is_difference(const struct span *f)
{
    return (f->at[0] == POINTS || f->at[0] == CELLS) &&
           (f->at[1] == DIFFERENCES || f->at[1] == DIFFERENCES_PACKED);
}

/* True if bars and grids have the size that their head gives. */
static bool decode_other_fits(const struct span *f)
{
    const bool bars = f->at[0] == BARS;
    const size_t head = bars ? 40 : 32;
    if ((!bars && f->at[0] != GRID) || f->at[1] != RAW || f->size < head)
        return false;
    const uint64_t across = decode_at(f, 24, 4), down = decode_at(f, 28, 4), body = f->size - head;
    if (bars)
        return body == 16 * (across + 1);
    return body % 4 == 0 && (across ? body / 4 % across == 0 && body / 4 / across == down : !body);
}

bool frame_decode(struct bytes *out, const struct span *f, const struct bytes was[2])
{
    bool ok = f->size >= FRAME_HEAD;
    out->used = 0;
    out->failed = false;
    if (ok && f->at[0] == POINTS)
        ok = decode_points(out, f, was);
    else if (ok && f->at[0] == CELLS)
        ok = decode_cells(out, f, &was[0]);
    else if (ok && (ok = decode_other_fits(f)))
        bytes_put(out, f->at, f->size);
    if (ok && !out->failed)
        out->at[1] = RAW;
    return ok && !out->failed;
}
