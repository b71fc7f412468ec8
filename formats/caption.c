/* caption.c - captions of a picture: the time, a scale bar, and the meaning of colours.
 *
 * The font has the characters of numbers and units, 5 x 7 dots, one row of five bits after another
 * from the top.
 * SPDX-License-Identifier: MIT
 */
#include "formats/caption.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDE = 5, HIGH = 7, STEP = 6, NUMBER = 7 /* characters of a number of the bar */ };

static const char letters[] = "0123456789.-+= abcdefghijklmnopqrstuvwxyzGM/()[]^,:<>";
static const uint8_t dots[][HIGH] = {
    {14, 17, 19, 21, 25, 17, 14}, {4, 12, 4, 4, 4, 4, 14},      {14, 17, 1, 2, 4, 8, 31},
    {31, 2, 4, 2, 1, 17, 14},     {2, 6, 10, 18, 31, 2, 2},     {31, 16, 30, 1, 1, 17, 14},
    {6, 8, 16, 30, 17, 17, 14},   {31, 1, 2, 4, 8, 8, 8},       {14, 17, 17, 14, 17, 17, 14},
    {14, 17, 17, 15, 1, 2, 12},   {0, 0, 0, 0, 0, 12, 12},      {0, 0, 0, 31, 0, 0, 0},
    {0, 4, 4, 31, 4, 4, 0},       {0, 0, 31, 0, 31, 0, 0},      {0, 0, 0, 0, 0, 0, 0},
    {0, 0, 14, 1, 15, 17, 15},    {16, 16, 30, 17, 17, 17, 30}, {0, 0, 14, 16, 16, 16, 14},
    {1, 1, 15, 17, 17, 17, 15},   {0, 0, 14, 17, 31, 16, 14},   {6, 8, 30, 8, 8, 8, 8},
    {0, 0, 15, 17, 15, 1, 14},    {16, 16, 30, 17, 17, 17, 17}, {4, 0, 12, 4, 4, 4, 14},
    {2, 0, 6, 2, 2, 18, 12},      {16, 16, 18, 20, 24, 20, 18}, {12, 4, 4, 4, 4, 4, 14},
    {0, 0, 26, 21, 21, 21, 21},   {0, 0, 30, 17, 17, 17, 17},   {0, 0, 14, 17, 17, 17, 14},
    {0, 0, 30, 17, 30, 16, 16},   {0, 0, 15, 17, 15, 1, 1},     {0, 0, 22, 24, 16, 16, 16},
    {0, 0, 15, 16, 14, 1, 30},    {8, 8, 30, 8, 8, 9, 6},       {0, 0, 17, 17, 17, 19, 13},
    {0, 0, 17, 17, 17, 10, 4},    {0, 0, 17, 21, 21, 21, 10},   {0, 0, 17, 10, 4, 10, 17},
    {0, 0, 17, 17, 15, 1, 14},    {0, 0, 31, 2, 4, 8, 31},      {14, 17, 16, 23, 17, 17, 14},
    {17, 27, 21, 21, 17, 17, 17}, {1, 1, 2, 4, 8, 16, 16},      {2, 4, 8, 8, 8, 4, 2},
    {8, 4, 2, 2, 2, 4, 8},        {14, 8, 8, 8, 8, 8, 14},      {14, 2, 2, 2, 2, 2, 14},
    {4, 10, 17, 0, 0, 0, 0},      {0, 0, 0, 0, 12, 4, 8},       {0, 12, 12, 0, 12, 12, 0},
    {2, 4, 8, 16, 8, 4, 2},       {16, 8, 4, 2, 4, 8, 16},
};

struct page {
    unsigned width, height, dot; /* pixels; dot: pixels of a dot of a letter */
    uint8_t *rgb;
};

static unsigned dot_of(unsigned width, unsigned height)
{
    return (width < height ? width : height) / 360 + 1;
}

static unsigned text_pixels(const struct page *p, const char *text)
{
    return (unsigned)strlen(text) * STEP * p->dot;
}

/* Fill a box, clipped to the picture. */
static void caption_fill(const struct page *p, unsigned x, unsigned y, unsigned width,
                         unsigned height, const uint8_t colour[3])
{
    for (unsigned v = y; v < y + height && v < p->height; v++)
        for (unsigned u = x; u < x + width && u < p->width; u++)
            memcpy(p->rgb + 3 * ((size_t)v * p->width + u), colour, 3);
}

static const uint8_t ink[3] = {200, 200, 200};

static void caption_write_text(const struct page *p, unsigned x, unsigned y, const char *text)
{
    for (; *text; text++, x += STEP * p->dot) {
        const char *letter = strchr(letters, *text);
        for (unsigned row = 0; letter && row < HIGH; row++)
            for (unsigned column = 0; column < WIDE; column++)
                if (dots[letter - letters][row] >> (WIDE - 1 - column) & 1)
                    caption_fill(p, x + column * p->dot, y + row * p->dot, p->dot, p->dot, ink);
    }
}

struct caption_margins caption_margins(unsigned width, unsigned height, bool beside)
{
    const unsigned dot = dot_of(width, height), line = (HIGH + 6) * dot,
                   right = beside ? (10 + NUMBER * STEP) * dot : 0;
    if (height < 6 * line || width < 2 * right || width < 20 * STEP * dot)
        return (struct caption_margins){0};
    return (struct caption_margins){.top = line, .bottom = line, .right = right};
}

/* ---- Time and lengths. ----------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten. */
static double round_length(double most)
{
    const double ten = pow(10, floor(log10(most)));
    return most >= 5 * ten ? 5 * ten : most >= 2 * ten ? 2 * ten : ten;
}

/* Every frame has the decimals that give the time of the last frame four digits. */
static void write_time(const struct caption *c, const struct page *p)
{
    char text[96], last[40];
    const double end = fabs(c->last);
    if (end >= 1e-6 && end < 1e9) {
        const int decimals = (int)fmax(0, 3 - floor(log10(end)));
        const int width = snprintf(last, sizeof last, "%.*f", decimals, c->last);
        snprintf(text, sizeof text, "t = %*.*f %s", width, decimals, c->time, c->time_unit);
    } else {
        snprintf(text, sizeof text, "t = %.4g %s", c->time, c->time_unit);
    }
    caption_write_text(p, 3 * p->dot, 3 * p->dot, text);
}

static void draw_length(const struct caption *c, const struct page *p,
                        const struct caption_margins *m)
{
    char text[64];
    const double length =
        fmax(round_length((p->width - m->right) / 4.0 / c->pixels), c->least_length);
    const unsigned pixels = (unsigned)(length * c->pixels + 0.5);
    const unsigned y = p->height - m->bottom + 3 * p->dot;
    if (!isfinite(length))
        return;
    snprintf(text, sizeof text, "%g %s", length, c->length_unit);
    caption_fill(p, 3 * p->dot, y + (HIGH / 2) * p->dot, pixels, p->dot, ink);
    caption_write_text(p, 3 * p->dot + pixels + STEP * p->dot, y, text);
}

/* ---- Colours. -------------------------------------------------------------------------------- */

/* Place of a value on the bar, from 0 at the bottom to 1. */
static double caption_place(const struct caption *c, double value)
{
    return c->logarithmic ? log1p(value / c->low) / log1p(c->high / c->low)
                          : (value - c->low) / (c->high - c->low);
}

/* Geometry of the colour bar, in pixels. */
struct bar {
    unsigned left, top, wide, high;
};

static void draw_tick(const struct caption *c, const struct page *p, const struct bar *b,
                      double value, unsigned long_tick)
{
    char text[32];
    const double place = caption_place(c, value);
    const unsigned y = b->top + (unsigned)((1 - place) * (b->high - 1) + 0.5);
    if (!(place >= 0 && place <= 1))
        return;
    caption_fill(p, b->left + b->wide, y, (long_tick ? 3 : 1) * p->dot, p->dot, ink);
    snprintf(text, sizeof text, "%.3g", value);
    if (long_tick)
        caption_write_text(p, b->left + b->wide + 4 * p->dot,
                           y >= HIGH / 2 * p->dot ? y - HIGH / 2 * p->dot : 0, text);
}

/* Powers of ten have numbers; within less than two of them 2 and 5, too. */
static void draw_logarithmic_ticks(const struct caption *c, const struct page *p,
                                   const struct bar *b)
{
    const bool few = c->high / c->low < 100;
    for (int power = (int)floor(log10(c->low)); power <= (int)floor(log10(c->high)); power++)
        for (int digit = 1; digit < 10; digit++)
            draw_tick(c, p, b, digit * pow(10, power),
                      digit == 1 || (few && (digit == 2 || digit == 5)));
}

static void draw_linear_ticks(const struct caption *c, const struct page *p, const struct bar *b)
{
    const double step = round_length((c->high - c->low) / 3);
    for (double k = ceil(c->low / step); step > 0 && k * step <= c->high; k++)
        draw_tick(c, p, b, k * step, true);
}

static void draw_bar(const struct caption *c, const struct page *p, const struct caption_margins *m)
{
    const struct bar b = {p->width - m->right + 2 * p->dot, m->top + HIGH * p->dot, 5 * p->dot,
                          p->height - m->top - m->bottom - 2 * HIGH * p->dot};
    for (unsigned y = 0; y < b.high; y++)
        caption_fill(p, b.left, b.top + y, b.wide, 1,
                     c->colour[(CAPTION_COLOURS - 1) * (b.high - 1 - y) / (b.high - 1)]);
    if (!(c->low < c->high && isfinite(c->high)))
        return;
    if (c->logarithmic)
        draw_logarithmic_ticks(c, p, &b);
    else
        draw_linear_ticks(c, p, &b);
}

static void draw_groups(const struct caption *c, const struct page *p,
                        const struct caption_margins *m)
{
    char text[16];
    for (unsigned k = 0; k < c->groups; k++) {
        const unsigned x = p->width - m->right + 2 * p->dot,
                       y = m->top + (1 + k * (HIGH + 4)) * p->dot;
        if (y + HIGH * p->dot > p->height - m->bottom)
            return;
        snprintf(text, sizeof text, "%u", k + 1);
        caption_fill(p, x, y, HIGH * p->dot, HIGH * p->dot, c->group[k]);
        caption_write_text(p, x + (HIGH + 3) * p->dot, y, text);
    }
}

/* Right-aligned in the top line, unless it would reach into the time. */
static void write_quantity(const struct caption *c, const struct page *p)
{
    const unsigned wide = text_pixels(p, c->quantity) + 2 * p->dot;
    if (wide + 16 * STEP * p->dot < p->width)
        caption_write_text(p, p->width - wide, 3 * p->dot, c->quantity);
}

void caption_draw(const struct caption *c, const struct caption_margins *m, uint8_t *rgb)
{
    const struct page p = {c->width, c->height, dot_of(c->width, c->height), rgb};
    if (!m->top)
        return;
    if (c->text)
        caption_write_text(&p, 3 * p.dot, 3 * p.dot, c->text);
    else
        write_time(c, &p);
    draw_length(c, &p, m);
    write_quantity(c, &p);
    if (c->colour)
        draw_bar(c, &p, m);
    draw_groups(c, &p, m);
}
