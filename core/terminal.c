/* terminal.c - text for people: the width of a terminal and of text on it, and numbers.
 *
 * UTF-8 is decoded here because the C library's answer depends on the locale.
 * SPDX-License-Identifier: MIT
 */
#include "core/terminal.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- The terminal. --------------------------------------------------------------------------- */

enum { MOST_COLUMNS = 10000 };

/* POSIX: $COLUMNS takes precedence over the terminal's width. 0: not set, or no such number. */
static size_t columns_wanted(void)
{
    const char *text = getenv("COLUMNS");
    char *end;
    const long columns = text ? strtol(text, &end, 10) : 0;
    return text && *text && !*end && columns > 0 && columns <= MOST_COLUMNS ? (size_t)columns : 0;
}

size_t terminal_columns(FILE *fp)
{
    struct winsize size;
    const int fd = fileno(fp);
    if (fd < 0 || !isatty(fd))
        return 0;
    if (columns_wanted())
        return columns_wanted();
    /* A terminal without a size is a program's: mpirun gives one to its ranks. */
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* ---- Width of text. -------------------------------------------------------------------------- */

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

size_t text_width(const char *text)
{
    size_t width = 0;
    uint32_t code;
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        s += decode(s, &code);
        width += character_width(code);
    }
    return width;
}

size_t text_fitting(const char *text, size_t columns)
{
    size_t width = 0, bytes = 0;
    uint32_t code;
    while (text[bytes]) {
        const size_t length = decode((const unsigned char *)text + bytes, &code);
        width += character_width(code);
        if (width > columns)
            break;
        bytes += length;
    }
    return bytes;
}

void text_wrap(FILE *fp, const char *text, size_t indent, size_t columns)
{
    size_t column = indent;
    while (*text) {
        const size_t length = strcspn(text, " ");
        size_t wide = 0;
        uint32_t code;
        for (size_t at = 0; at < length; wide += character_width(code))
            at += decode((const unsigned char *)text + at, &code);
        if (columns && column > indent && column + 1 + wide > columns) {
            fprintf(fp, "\n%*s", (int)indent, "");
            column = indent;
        }
        column += (size_t)fprintf(fp, "%s", column > indent ? " " : "");
        fwrite(text, 1, length, fp);
        column += wide;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', fp);
}

/* ---- Numbers. -------------------------------------------------------------------------------- */

void text_number(char text[32], int digits, double value)
{
    char rounded[32];
    snprintf(rounded, sizeof rounded, "%.*e", digits - 1, value);
    const char *e = strchr(rounded, 'e');
    const int power = e ? atoi(e + 1) : 0;
    if (isnan(value))
        snprintf(text, 32, "-");
    else if (!isfinite(value) || value == 0)
        snprintf(text, 32, "%g", value);
    else if (power >= -3 && power < 6)
        snprintf(text, 32, "%.*f", power < digits ? digits - 1 - power : 0, value);
    else
        snprintf(text, 32, "%.*se%d", (int)(e - rounded), rounded, power);
}
