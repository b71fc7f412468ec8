/* life_png.c - patterns as PNG pictures by libpng: one bit per pixel, live cells white. With more
 * states one byte per pixel: dying cells go from yellow over red to black.
 * SPDX-License-Identifier: MIT
 */
#include "formats/life_format.h"

#include "formats/picture.h"
#include "stdcl.h"

#include <errno.h>

#ifdef STDCL_HAVE_PNG

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

static void life_png_on_error(png_structp png, png_const_charp message)
{
    snprintf(png_get_error_ptr(png), 100, "%s", message);
    longjmp(png_jmpbuf(png), 1);
}

static void life_png_on_warning(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

/* Bytes per row. */
static size_t life_png_bytes_of(const struct life_pattern *p, unsigned zoom)
{
    return p->state ? p->width * zoom : (p->width * zoom + 7) / 8;
}

static void set_palette(png_structp png, png_infop info, unsigned states,
                        const unsigned char *colours)
{
    png_color colour[256];
    unsigned char rgb[256][3];
    life_pattern_colours(states, colours, rgb);
    for (unsigned i = 0; i < states; i++)
        colour[i] = (png_color){rgb[i][0], rgb[i][1], rgb[i][2]};
    png_set_PLTE(png, info, colour, (int)states);
}

/* Row y of the picture, leftmost pixel in the highest bit, or a byte each. */
static void draw_row(const struct life_pattern *p, size_t y, unsigned zoom, unsigned char *bytes)
{
    memset(bytes, 0, life_png_bytes_of(p, zoom));
    if (y < p->top || y >= p->top + p->rows)
        return;
    for (size_t c = 0; c < p->columns && p->state; c++)
        memset(bytes + (p->left + c) * zoom, p->state[(y - p->top) * p->columns + c], zoom);
    if (p->state)
        return;
    const uint64_t *row = life_pattern_row(p, y - p->top);
    for (size_t c = 0; c < p->columns; c++)
        if (row[c / 64] >> c % 64 & 1)
            for (size_t x = (p->left + c) * zoom, end = x + zoom; x < end; x++)
                bytes[x / 8] |= (unsigned char)(0x80u >> x % 8);
}

/* Runs between libpng's setjmp and its longjmp. */
static int life_png_write_rows(png_structp png, png_infop info, FILE *fp,
                               const struct life_pattern *p, unsigned zoom, unsigned char *bytes)
{
    if (setjmp(png_jmpbuf(png)))
        return -1;
    png_init_io(png, fp);
    png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
    png_set_IHDR(png, info, (png_uint_32)(p->width * zoom), (png_uint_32)(p->height * zoom),
                 p->state ? 8 : 1, p->state ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_GRAY,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (p->state)
        set_palette(png, info, p->states, p->colours);
    png_write_info(png, info);
    for (size_t y = 0; y < p->height; y++) {
        draw_row(p, y, zoom, bytes);
        for (unsigned i = 0; i < zoom; i++)
            png_write_row(png, bytes);
    }
    png_write_end(png, NULL);
    return 0;
}

static int life_png_write_to(struct outfile *out, const struct life_pattern *p, unsigned zoom)
{
    char text[100] = "out of memory";
    unsigned char *bytes = malloc(life_png_bytes_of(p, zoom) + 1);
    png_structp png = bytes ? png_create_write_struct(PNG_LIBPNG_VER_STRING, text,
                                                      life_png_on_error, life_png_on_warning)
                            : NULL;
    png_infop info = png ? png_create_info_struct(png) : NULL;
    int status = info ? life_png_write_rows(png, info, out->fp, p, zoom, bytes) : -1;
    if (status < 0 && outfile_check(out) == 0)
        clerror_set(EINVAL, "%s: cannot be written as PNG: %s", out->name, text);
    png_destroy_write_struct(&png, &info);
    free(bytes);
    return status;
}

/* Check that each side has 1 to 2^31 - 1 pixels. */
static int life_png_check(const char *name, const struct life_pattern *p, unsigned zoom)
{
    if (!zoom || p->width > 0x7fffffff / zoom || p->height > 0x7fffffff / zoom || !p->width ||
        !p->height)
        return clerror_set(
            EINVAL,
            "%s: a picture of %zu x %zu cells with %u pixels a cell: a side has from 1 to "
            "2^31 - 1 pixels",
            name, p->width, p->height, zoom);
    return 0;
}

/* No fsync: pictures can be made again, and a film has many. */
static int write_picture(struct outfile *out, const struct life_pattern *p, unsigned zoom)
{
    out->nosync = true;
    return life_png_check(out->name, p, zoom) < 0 ? -1 : life_png_write_to(out, p, zoom);
}

#else

static int write_picture(struct outfile *out, const struct life_pattern *p, unsigned zoom)
{
    (void)p, (void)zoom;
    return clerror_set(
        ENOTSUP,
        "%s: this build has no libpng and writes no pictures; install libpng-dev and build again",
        out->name);
}

#endif

int life_pattern_write_png(const char *file, const struct life_pattern *p, unsigned zoom)
{
    struct outfile out;
    if (outfile_open(&out, file) < 0)
        return -1;
    if (write_picture(&out, p, zoom) == 0 && !(p->band && p->band->failed))
        return outfile_commit(&out);
    outfile_discard(&out);
    return -1;
}

static int life_png_write_png(struct outfile *out, const struct life_pattern *p)
{
    return write_picture(out, p, 1);
}

const struct life_format life_png = {
    .label = {.name = "png", .title = "PNG picture", .suffixes = ".png"},
    .write = life_png_write_png,
};
