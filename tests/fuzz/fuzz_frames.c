/* fuzz_frames.c - arbitrary frames with consistent heads as a recording; for libFuzzer or for
 * driver.c.
 *
 * The input is a program: eight bytes make a frame, whose body has the size that its head gives,
 * compressed where the coding is. So mutations reach the decoder, which fuzz_record.c, whose inputs
 * are recordings, reaches rarely. Each picture is decoded, in order and then backwards, or rejected
 * with a message; a decoded picture has the size that its head gives.
 * SPDX-License-Identifier: MIT
 */
#include "fuzz.h"
#include "view/recording.h"

enum { STEP = 8, MOST_FRAMES = 64 };

/* Append `size` bytes that depend on `seed`, compressed if `packed`. */
static void put_body(struct bytes *to, size_t size, uint8_t seed, bool packed)
{
    unsigned char *body = exact_copy(NULL, 0);
    body = realloc(body, size + 1);
    promise(body);
    for (size_t i = 0; i < size; i++)
        body[i] = (unsigned char)(seed & 1 ? (i * seed) >> 3 : seed == 2 && i % 7 == 0 ? 128 : 0);
    if (!packed || !pack(to, body, size))
        bytes_put(to, body, size);
    free(body);
}

static void put_u32(struct bytes *frame, size_t at, uint32_t value)
{
    bytes_at(frame->at + at, value, 4);
}

/* The fields of a step: kind and coding, colour or states or zoom, two sizes, escapes, seed, and
 * whether the sizes lie. */
static void make_points(struct bytes *frame, const uint8_t step[STEP])
{
    const unsigned coding = step[1] % 5, colour = step[2] % 6,
                   count = step[3] % 64u * (step[3] & 128 ? 61 : 1);
    const size_t shades = colour ? count : 0, escapes = step[5] % 4;
    const bool builds = coding == DIFFERENCES || coding == DIFFERENCES_PACKED;
    memset(bytes_more(frame, POINTS_HEAD), 0, POINTS_HEAD);
    frame->at[0] = POINTS;
    frame->at[1] = (unsigned char)coding;
    frame->at[40] = step[4] % 4; /* another box */
    frame->at[80] = (unsigned char)colour;
    put_u32(frame, 76, count);
    put_u32(frame, 92, 2);
    put_u32(frame, 96, step[7] & 1 ? 2 : 1);
    put_u32(frame, 100, (uint32_t)escapes);
    put_body(frame, (builds ? 3 : 6) * count + shades + (builds ? 2 * escapes : 0) + (step[7] >> 6),
             step[6], coding >= DIFFERENCES_PACKED);
}

static void make_cells(struct bytes *frame, const uint8_t step[STEP])
{
    const struct view_region r = {0, 0, step[3], step[4], step[2] % 3u};
    const unsigned coding = step[1] % 5, states = step[5] % 4u;
    memset(bytes_more(frame, CELLS_HEAD), 0, CELLS_HEAD);
    frame->at[0] = CELLS;
    frame->at[1] = (unsigned char)coding;
    put_u32(frame, 40, r.width);
    put_u32(frame, 44, r.height);
    frame->at[48] = (unsigned char)r.zoom;
    frame->at[49] = (unsigned char)states;
    put_body(frame, view_cells_bytes(&r, states + 1) + (step[7] >> 6), step[6], coding != RAW);
    if (step[7] & 2 && frame->used >= 80) { /* looks like bodies */
        put_u32(frame, 72, step[3]);
        put_u32(frame, 76, step[3] % 64u);
    }
}

static void make_other(struct bytes *frame, const uint8_t step[STEP])
{
    const size_t size = step[0] & 1 ? 40 + 16 * (step[3] + 1u) : 32 + 4u * step[3] * step[4];
    memset(bytes_more(frame, size), 0, size);
    frame->at[0] = step[0] & 1 ? BARS : GRID;
    put_u32(frame, 24, step[3]);
    put_u32(frame, 28, step[7] & 1 ? 1u << 31 : step[4]);
}

static void make_frame(struct bytes *all, const uint8_t step[STEP])
{
    struct bytes frame = {0};
    const unsigned kind = step[0] >> 5;
    if (kind < 4)
        make_points(&frame, step);
    else if (kind < 7)
        make_cells(&frame, step);
    else
        make_other(&frame, step);
    promise(!frame.failed);
    bytes_u(all, frame.used, 4);
    bytes_put(all, frame.at, frame.used);
    bytes_free(&frame);
}

/* Bytes of a decoded picture by its head. */
static size_t picture_bytes(const struct bytes *p)
{
    const uint32_t a = (uint32_t)bytes_read(p->at + 24, 4), b = (uint32_t)bytes_read(p->at + 28, 4);
    const size_t count = p->at[0] == POINTS ? bytes_read(p->at + 76, 4) : 0;
    if (p->at[0] == POINTS)
        return POINTS_HEAD + (p->at[80] ? 7 : 6) * count;
    if (p->at[0] == BARS)
        return 40 + 16 * ((size_t)a + 1);
    if (p->at[0] == GRID)
        return 32 + 4 * (size_t)a * b;
    const struct view_region r = {0, 0, (uint32_t)bytes_read(p->at + 40, 4),
                                  (uint32_t)bytes_read(p->at + 44, 4), p->at[48]};
    return CELLS_HEAD + view_cells_bytes(&r, p->at[49] + 1u);
}

static void check_picture(view_recording *r, size_t k)
{
    const struct bytes *p = recording_picture(r, k);
    promise(p ? p->at[1] == RAW && p->used == picture_bytes(p) : strlen(clerror()) > 10);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes all = {0};
    bytes_put(&all, "STDCLVW1\2\0\0\0{}", 14);
    for (size_t i = 0; i < size / STEP && i < MOST_FRAMES; i++)
        make_frame(&all, data + i * STEP);
    promise(!all.failed);
    void *exact = exact_copy(all.at, all.used);
    view_recording *r = recording_read(exact, all.used);
    promise(r || size < STEP);
    const size_t n = view_recording_frames(r);
    for (size_t k = 0; k < n; k++)
        check_picture(r, k);
    for (size_t k = n; k-- > 0;)
        check_picture(r, k);
    view_recording_close(r);
    free(exact);
    bytes_free(&all);
    return 0;
}
