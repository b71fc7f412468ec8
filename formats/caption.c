/* caption.c - captions of a picture: the time, a scale bar and the colour scale.
 *
 * The font has the characters that numbers need, 5 x 7 dots, one row of five bits after another
 * from the top.
 * SPDX-License-Identifier: MIT
 */
#include "formats/caption.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDE = 5, HIGH = 7, STEP = 6 };

static const char letters[] = "0123456789.-+et= ";
static const uint8_t dots[][HIGH] = {
    {14, 17, 19, 21, 25, 17, 14}, {4, 12, 4, 4, 4, 4, 14},    {14, 17, 1, 2, 4, 8, 31},
    {31, 2, 4, 2, 1, 17, 14},     {2, 6, 10, 18, 31, 2, 2},   {31, 16, 30, 1, 1, 17, 14},
    {6, 8, 16, 30, 17, 17, 14},   {31, 1, 2, 4, 8, 8, 8},     {14, 17, 17, 14, 17, 17, 14},
    {14, 17, 17, 15, 1, 2, 12},   {0, 0, 0, 0, 0, 12, 12},    {0, 0, 0, 31, 0, 0, 0},
    {0, 4, 4, 31, 4, 4, 0},       {0, 0, 14, 17, 31, 16, 14}, {8, 8, 28, 8, 8, 9, 6},
    {0, 0, 31, 0, 31, 0, 0},      {0, 0, 0, 0, 0, 0, 0},
};

struct page {
    unsigned width, height, dot; /* pixels; dot: pixels of a dot of a letter */
    uint8_t *rgb;
};

/* Fill a light grey box, clipped to the picture. */
static void caption_fill(const struct page *p, unsigned x, unsigned y, unsigned width,
                         unsigned height)
{
    for (unsigned v = y; v < y + height && v < p->height; v++)
        for (unsigned u = x; u < x + width && u < p->width; u++)
            memset(p->rgb + 3 * ((size_t)v * p->width + u), 200, 3);
}

static void caption_write_text(const struct page *p, unsigned x, unsigned y, const char *text)
{
    for (; *text; text++, x += STEP * p->dot) {
        const char *letter = strchr(letters, *text);
        for (unsigned row = 0; letter && row < HIGH; row++)
            for (unsigned column = 0; column < WIDE; column++)
                if (dots[letter - letters][row] >> (WIDE - 1 - column) & 1)
                    caption_fill(p, x + column * p->dot, y + row * p->dot, p->dot, p->dot);
    }
}

/* 1, 2 or 5 times a power of ten. */
static double round_length(double most)
{
    const double ten = pow(10, floor(log10(most)));
    return most >= 5 * ten ? 5 * ten : most >= 2 * ten ? 2 * ten : ten;
}

void caption_draw(unsigned width, unsigned height, uint8_t *rgb, double time, double pixels)
{
    char text[32];
    const unsigned shorter = width < height ? width : height;
    const struct page p = {width, height, shorter / 360 + 1, rgb};
    const unsigned edge = 4 * p.dot;
    const double length = round_length(width / 4.0 / pixels);
    snprintf(text, sizeof text, "t = %.4g", time);
    caption_write_text(&p, edge, edge, text);
    snprintf(text, sizeof text, "%g", length);
    if (height > 2 * edge + (HIGH + 4) * p.dot && isfinite(length)) {
        const unsigned y = height - edge - 2 * p.dot;
        caption_fill(&p, edge, y, (unsigned)(length * pixels + 0.5), p.dot + 1);
        caption_write_text(&p, edge, y - (HIGH + 2) * p.dot, text);
    }
}

/* Right-aligned. */
static void write_right(const struct page *p, unsigned edge, unsigned y, double number)
{
    char text[32];
    snprintf(text, sizeof text, "%.3g", number);
    const unsigned wide = (unsigned)strlen(text) * STEP * p->dot;
    if (wide + edge < p->width)
        caption_write_text(p, p->width - edge - wide, y, text);
}

void caption_scale(unsigned width, unsigned height, uint8_t *rgb, const uint8_t *colours,
                   double low, double high)
{
    const unsigned shorter = width < height ? width : height, wide = shorter / 50 + 1,
                   high_pixels = shorter / 3;
    const struct page p = {width, height, shorter / 360 + 1, rgb};
    const unsigned edge = 4 * p.dot, line = (HIGH + 2) * p.dot, top = (height - high_pixels) / 2;
    if (shorter < 8 * line)
        return;
    for (unsigned y = 0; y < high_pixels; y++)
        for (unsigned x = 0; x < wide; x++)
            memcpy(rgb + 3 * ((size_t)(top + y) * width + width - edge - wide + x),
                   colours +
                       3 * ((CAPTION_COLOURS - 1) * (high_pixels - 1 - y) / (high_pixels - 1)),
                   3);
    write_right(&p, edge, top - line, high);
    write_right(&p, edge, top + high_pixels + 2 * p.dot, low);
}
