/* text.c - text in buffers, its width on a terminal, and numbers for people.
 *
 * Width is in columns of a terminal. UTF-8 is decoded here because the C library's answer
 * depends on the locale. Nothing here prints: messages, progress and tables all use it.
 * SPDX-License-Identifier: MIT
 */
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

void cli_text_append(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list ap;
    va_start(ap, format);
    vsnprintf(text + used, size - used, format, ap);
    va_end(ap);
}

/* ---- Width. ---------------------------------------------------------------------------------- */

/* Decode one character of UTF-8 and return its length. An invalid byte stands for itself. */
static size_t decode(const unsigned char *s, uint32_t *code)
{
    const size_t length = *s < 0x80       ? 1
                          : *s >> 5 == 6  ? 2
                          : *s >> 4 == 14 ? 3
                          : *s >> 3 == 30 ? 4
                                          : 0;
    if (length <= 1) {
        *code = *s;
        return 1;
    }
    uint32_t value = *s & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (s[i] >> 6 != 2) {
            *code = *s;
            return 1;
        }
        value = value << 6 | (s[i] & 0x3fu);
    }
    *code = value;
    return length;
}

/* Columns of one character: 0 for combining marks, 2 for wide characters of East Asia and
 * pictograms (the large blocks of Unicode Standard Annex 11), else 1. */
static size_t character_width(uint32_t c)
{
    static const struct {
        uint32_t first, last;
        size_t width;
    } block[] = {
        {0x0300, 0x036f, 0},   {0x1100, 0x115f, 2},   {0x200b, 0x200f, 0}, {0x2e80, 0x303e, 2},
        {0x3041, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},   {0xf900, 0xfaff, 2}, {0xfe00, 0xfe0f, 0},
        {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},   {0xffe0, 0xffe6, 2}, {0x1f300, 0x1f64f, 2},
        {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2},
    };
    for (size_t i = 0; i < sizeof block / sizeof *block; i++)
        if (c >= block[i].first && c <= block[i].last)
            return block[i].width;
    return 1;
}

size_t cli_text_width(const char *text)
{
    size_t width = 0;
    uint32_t code;
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        s += decode(s, &code);
        width += character_width(code);
    }
    return width;
}

/* ---- Numbers for people. --------------------------------------------------------------------- */

/* Three significant digits, as in 1.23, 12.3 and 123. */
static int decimals(double value)
{
    return fabs(value) < 9.995 ? 2 : fabs(value) < 99.95 ? 1 : 0;
}

const char *cli_text_bytes(struct cli_text *text, double bytes)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t i = 0;
    for (; bytes >= 1023.5 && i + 1 < sizeof unit / sizeof *unit; i++)
        bytes /= 1024;
    const bool whole = i == 0 || fabs(bytes - round(bytes)) < 0.05;
    snprintf(text->s, sizeof text->s, "%.*f %s", whole ? 0 : 1, bytes, unit[i]);
    return text->s;
}

const char *cli_text_rate(struct cli_text *text, double value, const char *unit)
{
    static const char *const prefix[] = {"", "k", "M", "G", "T", "P", "E"};
    size_t i = 0;
    for (; fabs(value) >= 999.5 && i + 1 < sizeof prefix / sizeof *prefix; i++)
        value /= 1000;
    const bool word = strcspn(unit, "/") > 4;
    snprintf(text->s, sizeof text->s, "%.*f %s%s%s", decimals(value), value, prefix[i],
             word && i ? " " : "", unit);
    return text->s;
}

const char *cli_text_duration(struct cli_text *text, double seconds)
{
    if (seconds < 59.95) {
        snprintf(text->s, sizeof text->s, "%.*f s", seconds < 9.995 ? 2 : 1, seconds);
        return text->s;
    }
    const double minutes = floor((seconds + 0.5) / 60), hours = floor((seconds + 30) / 3600);
    if (seconds < 3599.5)
        snprintf(text->s, sizeof text->s, "%.0f min %02.0f s", minutes,
                 floor(seconds + 0.5 - minutes * 60));
    else if (seconds < 1e9)
        snprintf(text->s, sizeof text->s, "%.0f h %02.0f min", hours,
                 floor((seconds + 30 - hours * 3600) / 60));
    else
        snprintf(text->s, sizeof text->s, "%.3g years", seconds / 31557600);
    return text->s;
}
