/* figure_metadata.c - the command line that made a figure, stored in its file.
 *
 *   PNG: signature, 8 bytes; chunk IHDR, 25 bytes; our chunk; further chunks. A chunk is its
 *        length, its name, data, and the CRC of name and data, in big-endian order (PNG, 5.3).
 *   SVG: the command stands before the end of gnuplot's <desc>.
 *   PDF: comments begin with %. Readers look for the end of the file in its last 1,024 bytes, so
 *        that the comment is cut at 900.
 * SPDX-License-Identifier: MIT
 */
#include "formats/figure_metadata.h"

#include "formats/crc32.h"
#include "formats/suffix.h"
#include "stdcl.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PNG_HEAD = 33, PDF_MOST = 900 };

/* Copy at most `most` bytes. */
static void copy_bytes(FILE *from, FILE *to, size_t most)
{
    char block[4096];
    size_t n;
    while (most > 0 && (n = fread(block, 1, most < sizeof block ? most : sizeof block, from)) > 0) {
        fwrite(block, 1, n, to);
        most -= n;
    }
}

static void put_big_endian(FILE *to, uint32_t value)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        putc((int)(value >> shift & 255), to);
}

/* After the keyword: no compression, method 0, no language, no translated keyword. */
static int put_png_text(FILE *to, const char *command)
{
    static const char head[] = "iTXtComment\0\0\0\0";
    const size_t length = sizeof head + strlen(command);
    unsigned char *chunk = malloc(length);
    if (!chunk)
        return clerror_set(ENOMEM, "out of memory for the metadata of a figure");
    memcpy(chunk, head, sizeof head);
    memcpy(chunk + sizeof head, command, length - sizeof head);
    put_big_endian(to, (uint32_t)(length - 4));
    fwrite(chunk, 1, length, to);
    put_big_endian(to, crc32_of(chunk, length));
    free(chunk);
    return 0;
}

static int copy_png(FILE *from, FILE *to, const char *command)
{
    copy_bytes(from, to, PNG_HEAD);
    const int status = put_png_text(to, command);
    copy_bytes(from, to, SIZE_MAX);
    return status;
}

static void put_xml(FILE *to, const char *text)
{
    for (; *text; text++)
        if (*text == '<' || *text == '&')
            fputs(*text == '<' ? "&lt;" : "&amp;", to);
        else
            putc((unsigned char)*text < ' ' ? ' ' : *text, to);
}

static int copy_svg(FILE *from, FILE *to, const char *command)
{
    static const char mark[] = "</desc>";
    char *line = NULL;
    size_t room = 0;
    for (ssize_t n; (n = getline(&line, &room, from)) > 0;) {
        const char *end = command ? strstr(line, mark) : NULL;
        fwrite(line, 1, end ? (size_t)(end - line) : (size_t)n, to);
        if (!end)
            continue;
        put_xml(to, command);
        fputs(end, to);
        command = NULL;
    }
    free(line);
    return 0;
}

static int copy_pdf(FILE *from, FILE *to, const char *command)
{
    copy_bytes(from, to, SIZE_MAX);
    putc('%', to);
    for (size_t i = 0; command[i] && i < PDF_MOST; i++)
        putc((unsigned char)command[i] < ' ' ? ' ' : command[i], to);
    putc('\n', to);
    return 0;
}

int figure_metadata_copy(FILE *from, FILE *to, const char *suffix, const char *command)
{
    int status = 0;
    rewind(from);
    if (!command)
        copy_bytes(from, to, SIZE_MAX);
    else if (suffix_is_in(suffix, ".png"))
        status = copy_png(from, to, command);
    else if (suffix_is_in(suffix, ".svg"))
        status = copy_svg(from, to, command);
    else
        status = copy_pdf(from, to, command);
    if (ferror(from))
        return clerror_set(EIO, "a temporary file of a figure cannot be read");
    return status;
}
