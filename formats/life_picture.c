/* life_picture.c - pictures of cells with grid lines and a caption.
 * SPDX-License-Identifier: MIT
 */
#include "formats/life_picture.h"

#include "core/host_memory.h"
#include "formats/caption.h"
#include "formats/picture.h"
#include "stdcl.h"

#include <errno.h>
#include <string.h>

/* ---- Cells. ---------------------------------------------------------------------------------- */

/* State of cell (x, y) of the whole pattern. */
static unsigned state_at(const struct life_pattern *p, size_t x, size_t y)
{
    const size_t c = x - p->left, r = y - p->top;
    if (x < p->left || y < p->top || c >= p->columns || r >= p->rows)
        return 0;
    if (p->state)
        return p->state[r * p->columns + c];
    return (unsigned)(p->word[r * p->stride + c / 64] >> c % 64 & 1);
}

/* Colours of all states. */
static void picture_colours(const struct life_pattern *p, const struct life_picture *picture,
                            unsigned char rgb[256][3])
{
    life_pattern_colours(p->states > 2 ? p->states : 2, p->colours, rgb);
    if (!picture->light)
        return;
    memset(rgb[0], 255, sizeof *rgb);
    if (!p->colours)
        memset(rgb[1], 0, sizeof *rgb);
}

/* Fill pixels of a row with one colour. */
static void fill_pixels(uint8_t *row, size_t from, size_t to, const uint8_t colour[3])
{
    for (size_t x = from; x < to; x++)
        memcpy(row + 3 * x, colour, 3);
}

/* A line is the first row or column of a cell's pixels. */
static const uint8_t *line_colour(const struct life_picture *picture, size_t cell)
{
    static const uint8_t shades[2][2][3] = {{{48, 48, 48}, {112, 112, 112}},
                                            {{216, 216, 216}, {144, 144, 144}}};
    return shades[picture->light][cell % 10 == 0];
}

static void draw_cell_row(const struct life_pattern *p, const struct life_picture *picture,
                          const unsigned char colour[256][3], size_t y, uint8_t *row)
{
    const unsigned zoom = picture->zoom;
    for (size_t x = 0; x < p->width; x++) {
        fill_pixels(row, x * zoom, (x + 1) * zoom, colour[state_at(p, x, y)]);
        if (picture->grid_lines)
            fill_pixels(row, x * zoom, x * zoom + 1, line_colour(picture, x));
    }
}

void life_picture_draw(const struct life_pattern *p, const struct life_picture *picture,
                       uint8_t *rgb)
{
    unsigned char colour[256][3];
    const size_t wide = p->width * picture->zoom;
    picture_colours(p, picture, colour);
    for (size_t y = 0; y < p->height; y++) {
        uint8_t *first = rgb + 3 * wide * y * picture->zoom;
        draw_cell_row(p, picture, (const unsigned char(*)[3])colour, y, first);
        for (size_t i = 1; i < picture->zoom; i++)
            memcpy(first + 3 * wide * i, first, 3 * wide);
        if (picture->grid_lines)
            fill_pixels(first, 0, wide, line_colour(picture, y));
        for (size_t x = 0; x < p->width && picture->grid_lines && y % 10; x += 10)
            memcpy(first + 3 * x * picture->zoom, line_colour(picture, 0), 3);
    }
}

/* ---- Shares of live cells. ------------------------------------------------------------------- */

size_t life_picture_squares(size_t cells, size_t side)
{
    return (cells + side - 1) / side;
}

/* Live cells of columns from <= x < to of row y. */
static size_t live_in_row(const struct life_pattern *p, size_t y, size_t from, size_t to)
{
    if (y < p->top || y >= p->top + p->rows)
        return 0;
    const uint64_t *word = p->word + (y - p->top) * p->stride;
    size_t live = 0, first = from > p->left ? from - p->left : 0,
           end = to > p->left ? to - p->left : 0;
    end = end < p->columns ? end : p->columns;
    while (first < end) {
        const size_t bit = first % 64, bits = end - first < 64 - bit ? end - first : 64 - bit;
        const uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
        live += (size_t)__builtin_popcountll(word[first / 64] >> bit & mask);
        first += bits;
    }
    return live;
}

/* Share of live cells of the square with its top left cell at (x, y); at the edges of the part that
 * is in the pattern. */
static double live_share(const struct life_pattern *p, size_t x, size_t y, size_t side)
{
    const size_t right = x + side < p->width ? x + side : p->width,
                 bottom = y + side < p->height ? y + side : p->height;
    size_t live = 0;
    for (size_t v = y; v < bottom; v++)
        live += live_in_row(p, v, x, right);
    return (double)live / (double)((right - x) * (bottom - y));
}

double life_picture_shares(const struct life_pattern *p, size_t side, double *share)
{
    const size_t wide = life_picture_squares(p->width, side),
                 high = life_picture_squares(p->height, side);
    double most = 0;
    for (size_t i = 0; i < wide * high; i++) {
        share[i] = live_share(p, i % wide * side, i / wide * side, side);
        most = share[i] > most ? share[i] : most;
    }
    return most;
}

/* ---- The caption. ---------------------------------------------------------------------------- */

/* Pixels of the whole, and of the cells' top left corner in it. */
struct canvas {
    size_t width, height, left, top;
    struct caption_margins margins;
};

static size_t larger_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* A small picture gets room for its caption on all sides. The size of the letters depends on the
 * size of the whole. */
static struct canvas find_canvas(const struct life_pattern *p, const struct life_picture *picture)
{
    enum { LETTER = 6, LEAST_WIDTH = 160, LEAST_HEIGHT = 80 }; /* pixels */
    const size_t wide = p->width * picture->zoom, high = p->height * picture->zoom;
    struct canvas c = {.width = wide, .height = high};
    if (!picture->caption)
        return c;
    c.width = larger_size(wide, LEAST_WIDTH);
    for (int pass = 0; pass < 4; pass++) {
        c.height = larger_size(high + c.margins.top + c.margins.bottom, LEAST_HEIGHT);
        c.margins = caption_margins((unsigned)c.width, (unsigned)c.height, false);
        c.height = larger_size(high + c.margins.top + c.margins.bottom, LEAST_HEIGHT);
        const unsigned dot = c.margins.top / 13 ? c.margins.top / 13 : 1;
        c.width = larger_size(c.width, (strlen(picture->caption) + 1) * LETTER * dot);
    }
    c.left = (c.width - wide) / 2;
    c.top = c.margins.top + (c.height - c.margins.top - c.margins.bottom - high) / 2;
    return c;
}

static int check_canvas(const char *file, const struct canvas *c)
{
    enum { MOST_SIDE = 1 << 16 };
    const double bytes = 2 * 3.0 * (double)c->width * (double)c->height; /* cells and whole */
    if (c->width > MOST_SIDE || c->height > MOST_SIDE)
        return clerror_set(EINVAL,
                           "%s: a picture of %zu x %zu pixels: with grid lines or a caption a side "
                           "has at most %d pixels",
                           file, c->width, c->height, MOST_SIDE);
    if (bytes > host_memory_left())
        return clerror_set(ENOMEM,
                           "%s: a picture of %zu x %zu pixels with grid lines or a caption needs "
                           "%.3g GB of memory, more than there is",
                           file, c->width, c->height, bytes / 1e9);
    return 0;
}

/* Put the cells into the canvas. */
static void place_cells(const struct life_pattern *p, const struct life_picture *picture,
                        const struct canvas *c, const uint8_t *cells, uint8_t *rgb)
{
    const size_t row = 3 * p->width * picture->zoom;
    for (size_t y = 0; y < p->height * picture->zoom; y++)
        memcpy(rgb + 3 * ((c->top + y) * c->width + c->left), cells + y * row, row);
}

static void draw_life_caption(const struct life_picture *picture, const struct canvas *c,
                              uint8_t *rgb)
{
    const bool one = (double)c->width / 4 / picture->zoom < 2; /* the scale bar's length */
    const struct caption caption = {.width = (unsigned)c->width,
                                    .height = (unsigned)c->height,
                                    .text = picture->caption,
                                    .pixels = picture->zoom,
                                    .least_length = 1,
                                    .time_unit = "",
                                    .length_unit = one ? "cell" : "cells",
                                    .quantity = ""};
    caption_draw(&caption, &c->margins, rgb);
}

static int write_dressed(const char *file, const struct life_pattern *p,
                         const struct life_picture *picture)
{
    const struct canvas c = find_canvas(p, picture);
    if (check_canvas(file, &c) < 0)
        return -1;
    uint8_t *rgb = calloc(c.width * c.height, 3),
            *cells = malloc(3 * p->width * p->height * picture->zoom * picture->zoom);
    int status = rgb && cells ? 0
                              : clerror_set(ENOMEM, "%s: out of memory for %zu x %zu pixels", file,
                                            c.width, c.height);
    if (status == 0) {
        life_picture_draw(p, picture, cells);
        place_cells(p, picture, &c, cells, rgb);
        if (picture->caption)
            draw_life_caption(picture, &c, rgb);
        status = picture_write_png(file, (unsigned)c.width, (unsigned)c.height, rgb);
    }
    free(rgb);
    free(cells);
    return status;
}

int life_picture_write(const char *file, const struct life_pattern *p,
                       const struct life_picture *picture)
{
    if (picture->caption || picture->grid_lines)
        return write_dressed(file, p, picture);
    return life_pattern_write_png(file, p, picture->zoom);
}
