/* points.c - frames of bodies: 16 bits per coordinate in a bounding box, and a byte of colour.
 *
 * Floats from the run are quantised here, in the server's thread. The box holds all bodies and
 * stays until they leave it or fill little of it, so that a frame can be encoded as differences
 * from the two before: for a body in uniform motion the second difference is near 0 and takes one
 * byte.
 * SPDX-License-Identifier: MIT
 */
#include "view/frame.h"

#include <float.h>
#include <math.h>

enum { ESCAPE = -128 };

void quantised_drop(struct quantised *q)
{
    if (!q || --q->users > 0)
        return;
    free(q->at);
    free(q->shade);
    free(q);
}

static const float *points_row(const struct bytes *b, size_t i)
{
    return (const float *)(const void *)b->at + 3 * i;
}

/* ---- The box. -------------------------------------------------------------------------------- */

enum { LANES = 24 }; /* numbers per vector; lane k is component k % 3 */

static void points_extent(const struct shown *s, double box[6])
{
    const float *x = points_row(&s->first, 0);
    float least[LANES], most[LANES];
    for (int k = 0; k < LANES; k++) {
        least[k] = FLT_MAX;
        most[k] = -FLT_MAX;
    }
    for (size_t i = 0; i < 3 * s->n; i += LANES)
        for (size_t k = 0; k < LANES && (i + LANES <= 3 * s->n || i + k < 3 * s->n); k++) {
            least[k] = x[i + k] < least[k] ? x[i + k] : least[k];
            most[k] = x[i + k] > most[k] ? x[i + k] : most[k];
        }
    for (int k = 3; k < LANES; k++) {
        least[k % 3] = fminf(least[k % 3], least[k]);
        most[k % 3] = fmaxf(most[k % 3], most[k]);
    }
    for (int c = 0; c < 3; c++) {
        box[c] = least[c] <= most[c] ? (double)least[c] : 0;
        box[c + 3] = least[c] <= most[c] ? (double)most[c] : 0;
    }
}

/* True if the box holds the bodies and is not much larger in all directions. */
static bool points_fits(const double box[6], const double now[6])
{
    bool fills = false;
    for (int c = 0; c < 3; c++) {
        if (now[c] < box[c] || now[c + 3] > box[c + 3])
            return false;
        fills |= now[c + 3] - now[c] > 0.25 * (box[c + 3] - box[c]);
    }
    return fills;
}

static void settle_box(struct frame_box *box, const struct shown *s)
{
    double now[6], widest = 0;
    points_extent(s, now);
    if (box->set && points_fits(box->box, now))
        return;
    for (int c = 0; c < 3; c++)
        widest = fmax(widest, now[c + 3] - now[c]);
    for (int c = 0; c < 3; c++) { /* a margin, and no side of length 0 */
        const double side = now[c + 3] - now[c],
                     margin = fmax(0.125 * side, fmax(1e-3 * widest, 1e-6 * (1 + fabs(now[c]))));
        box->box[c] = now[c] - margin;
        box->box[c + 3] = now[c + 3] + margin;
    }
    box->set = true;
}

/* ---- Colour. --------------------------------------------------------------------------------- */

static float points_length(const float v[3])
{
    return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* The scale of speeds stays for the run unless it is far off. */
static void settle_speeds(struct frame_box *box, const struct shown *s)
{
    float least = FLT_MAX, most = 0;
    for (size_t i = 0; i < s->n && s->second.used; i++) {
        const float v = points_length(points_row(&s->second, i));
        if (v > 0 && v < least)
            least = v;
        if (v > most && v <= FLT_MAX)
            most = v;
    }
    if (most <= 0)
        least = most = 1;
    least = fmaxf(least, most / 1000); /* three decades, however slow the slowest body is */
    if (box->speeds && most <= 2 * box->hi && most >= box->hi / 2)
        return;
    box->lo = least;
    box->hi = most;
    box->speeds = true;
}

/* The binary logarithm of a number from 1 up, within 1.5e-4: t + t (1 - t) (a + b t + c t^2) for a
 * mantissa 1 + t, by least squares. */
static float points_logarithm(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const float exponent = (float)(int)(bits >> 23) - 127;
    bits = (bits & 0x7fffff) | 0x3f800000;
    memcpy(&x, &bits, sizeof x);
    const float t = x - 1;
    return exponent + t + t * (1 - t) * (0.43807325F + t * (0.0803073F * t - 0.23669342F));
}

/* Map a value between lo and hi to a byte, logarithmically. */
static uint8_t shade_of(float value, float lo, float scale)
{
    const float ratio = value / lo, place = ratio > 1 ? points_logarithm(ratio) * scale : 0;
    return (uint8_t)(place < 254.5F ? place + 0.5F : 255);
}

static float shade_scale(float lo, float hi)
{
    return hi > lo ? 255 / log2f(hi / lo) : 0;
}

static enum colour colour_had(const struct shown *s, const struct about *about, enum colour wanted)
{
    const bool has[COLOURS] = {
        [BY_SPEED] = s->second.used > 0, [BY_MASS] = about->mass, [BY_GROUP] = about->group};
    return has[wanted] ? wanted : NO_COLOUR;
}

static void shade(struct quantised *q, size_t k, const struct shown *s, const struct about *about,
                  size_t i, float scale)
{
    if (q->colour == BY_SPEED)
        q->shade[k] = shade_of(points_length(points_row(&s->second, i)), q->lo, scale);
    else if (q->colour == BY_MASS)
        q->shade[k] = shade_of(about->mass[i], q->lo, scale);
    else if (q->colour == BY_GROUP)
        q->shade[k] = about->group[i];
}

/* ---- Quantising. ----------------------------------------------------------------------------- */

struct grid {
    float lo[3], scale[3];
};

static struct grid grid_of(const double box[6])
{
    struct grid g;
    for (int c = 0; c < 3; c++) {
        g.lo[c] = (float)box[c];
        g.scale[c] = (float)(65536 / (box[c + 3] - box[c]));
    }
    return g;
}

/* 0 to 65535; NaN counts as 0. */
static uint16_t quantum(float x, float lo, float scale)
{
    const float q = (x - lo) * scale;
    return q >= 0 ? (uint16_t)(q < 65535 ? q : 65535) : 0;
}

static bool points_inside(const float at[3], const double box[6])
{
    for (int c = 0; c < 3; c++)
        if (!((double)at[c] >= box[c] && (double)at[c] <= box[c + 3]))
            return false;
    return true;
}

static struct quantised *quantised_make(size_t n, bool coloured)
{
    struct quantised *q = calloc(1, sizeof *q);
    if (!q)
        return NULL;
    q->users = 1;
    q->at = malloc((3 * n + 1) * sizeof *q->at);
    q->shade = coloured ? malloc(n + 1) : NULL;
    if (q->at && (q->shade || !coloured))
        return q;
    quantised_drop(q);
    return NULL;
}

/* Quantise the first n bodies. */
static void fill_all(struct quantised *q, size_t n, const struct shown *s,
                     const struct about *about)
{
    const struct grid g = grid_of(q->box);
    const float scale = shade_scale(q->lo, q->hi), *at = points_row(&s->first, 0);
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 3; c++)
            q->at[c * n + i] = quantum(at[3 * i + c], g.lo[c], g.scale[c]);
    for (size_t i = 0; i < n && q->shade; i++)
        shade(q, i, s, about, i, scale);
    q->count = n;
}

/* Quantise the bodies in the box, in their order, then compact the planes. */
static void fill_inside(struct quantised *q, size_t n, const struct shown *s,
                        const struct about *about)
{
    const struct grid g = grid_of(q->box);
    const float scale = shade_scale(q->lo, q->hi);
    size_t k = 0;
    for (size_t i = 0; i < s->n && k < n; i++) {
        const float *at = points_row(&s->first, i);
        if (!points_inside(at, q->box))
            continue;
        for (size_t c = 0; c < 3; c++)
            q->at[c * n + k] = quantum(at[c], g.lo[c], g.scale[c]);
        shade(q, k++, s, about, i, scale);
    }
    q->count = k;
    for (size_t c = 1; c < 3 && k < n; c++)
        memmove(q->at + c * k, q->at + c * n, k * sizeof *q->at);
}

static struct quantised *quantise(const struct shown *s, const struct about *about,
                                  const struct want *want, struct frame_box *box)
{
    const enum colour colour = colour_had(s, about, want->colour);
    const size_t n = want->count < s->n ? want->count : s->n;
    struct quantised *q = quantised_make(n, colour != NO_COLOUR);
    if (!q)
        return NULL;
    settle_box(box, s);
    if (colour == BY_SPEED)
        settle_speeds(box, s);
    memcpy(q->box, want->inside ? want->box : box->box, sizeof q->box);
    q->sequence = s->sequence;
    q->colour = colour;
    q->lo = colour == BY_SPEED ? box->lo : colour == BY_MASS ? about->least_mass : 0;
    q->hi = colour == BY_SPEED ? box->hi : colour == BY_MASS ? about->most_mass : 0;
    (want->inside ? fill_inside : fill_all)(q, n, s, about);
    return q;
}

/* ---- Bodies of frames. ----------------------------------------------------------------------- */

static size_t raw_bytes(const struct quantised *q)
{
    return q->count * (q->colour == NO_COLOUR ? 6 : 7);
}

static void put_raw(struct bytes *to, const struct quantised *q)
{
    unsigned char *out = bytes_more(to, raw_bytes(q));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (out)
        memcpy(out, q->at, 6 * q->count);
#else
    for (size_t i = 0; out && i < 3 * q->count; i++)
        bytes_at(out + 2 * i, q->at[i], 2);
#endif
    if (out && q->colour != NO_COLOUR)
        memcpy(out + 6 * q->count, q->shade, q->count);
}

static bool may_build_on(const struct quantised *q, const struct quantised *was)
{
    return was && was->count == q->count && memcmp(was->box, q->box, sizeof q->box) == 0;
}

/* Append differences from the prediction p = 2 a - b; return the number of escapes. */
static size_t put_differences(struct bytes *to, const struct quantised *q,
                              const struct quantised *a, const struct quantised *b)
{
    struct bytes escapes = {0};
    signed char *out = (signed char *)bytes_more(to, 3 * q->count);
    for (size_t i = 0; out && i < 3 * q->count; i++) {
        const int d = (int16_t)(uint16_t)(q->at[i] - (2 * a->at[i] - b->at[i]));
        out[i] = (signed char)(d > ESCAPE && d < 128 ? d : ESCAPE);
        if (out[i] == ESCAPE)
            bytes_u(&escapes, q->at[i], 2);
    }
    unsigned char *shades = q->colour == NO_COLOUR ? NULL : bytes_more(to, q->count);
    for (size_t i = 0; shades && i < q->count; i++)
        shades[i] = (unsigned char)(q->shade[i] - (a->colour == q->colour ? a->shade[i] : 0));
    const size_t n = escapes.used / 2;
    bytes_put(to, escapes.at, escapes.used);
    to->failed |= escapes.failed;
    bytes_free(&escapes);
    return n;
}

static void points_put_head(struct bytes *to, const struct quantised *q, const struct shown *s,
                            const struct about *about, bool region)
{
    const int flags = (q->count < about->options.points.total ? SAMPLE : 0) | (region ? REGION : 0);
    frame_head(to, POINTS, flags, s);
    for (int c = 0; c < 6; c++)
        bytes_f64(to, q->box[c]);
    bytes_u(to, about->options.points.total, 4);
    bytes_u(to, q->count, 4);
    bytes_u(to, q->colour, 4);
    bytes_f32(to, q->lo);
    bytes_f32(to, q->hi);
    bytes_more(to, 20); /* filled in by put_body */
}

/* Append the body in a coding, and complete the head. */
static void put_body(struct bytes *to, size_t start, const struct quantised *q, enum coding coding,
                     struct quantised *const was[2])
{
    const struct quantised *a = was[0], *b = was[1] && may_build_on(q, was[1]) ? was[1] : a;
    struct bytes plain = {0};
    const bool builds = coding == DIFFERENCES || coding == DIFFERENCES_PACKED;
    struct bytes *body = coding == RAW || coding == DIFFERENCES ? to : &plain;
    const size_t from = body->used;
    size_t escapes = 0;
    if (builds)
        escapes = put_differences(body, q, a, b);
    else
        put_raw(body, q);
    const size_t size = body->used - from;
    if (body == &plain && !pack(to, plain.at, plain.used))
        to->failed = true;
    to->failed |= body->failed;
    bytes_free(&plain);
    if (to->failed)
        return;
    unsigned char *head = to->at + start;
    head[1] = (unsigned char)coding;
    bytes_at(head + 92, builds ? a->sequence : 0, 4);
    bytes_at(head + 96, builds ? b->sequence : 0, 4);
    bytes_at(head + 100, escapes, 4);
    bytes_at(head + 104, size, 8);
}

static enum coding coding_for(const struct want *want, const struct quantised *q,
                              const struct quantised *was)
{
    const bool packs = want->coding == DIFFERENCES_PACKED && can_pack();
    if (want->coding == RAW)
        return RAW;
    if (want->inside || !may_build_on(q, was))
        return packs ? PACKED : RAW;
    return packs ? DIFFERENCES_PACKED : DIFFERENCES;
}

bool frame_points(struct bytes *to, const struct shown *shown, const struct about *about,
                  const struct want *want, struct frame_box *box, struct quantised *was[2])
{
    struct quantised *q = quantise(shown, about, want, box);
    const size_t start = to->used;
    if (!q)
        return false;
    points_put_head(to, q, shown, about, want->inside);
    put_body(to, start, q, coding_for(want, q, was[0]), was);
    if (want->coding == RAW) {
        quantised_drop(q);
        q = NULL;
        quantised_drop(was[0]);
        was[0] = NULL;
    }
    quantised_drop(was[1]);
    was[1] = was[0];
    was[0] = q;
    return !to->failed;
}
