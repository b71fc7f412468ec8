/* png.c - RGB pictures as PNG files, by libpng.
 *
 * SPDX-License-Identifier: MIT
 */
#include "formats/picture.h"

#include "core/outfile.h"
#include "stdcl.h"

#include <errno.h>

#ifdef STDCL_HAVE_PNG

#include <png.h>
#include <setjmp.h>

/* libpng must not print; outfile_check reports disk errors. */
static void picture_png_error(png_structp png, png_const_charp message)
{
    snprintf(png_get_error_ptr(png), 100, "%s", message);
    longjmp(png_jmpbuf(png), 1);
}

static void picture_png_warning(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

/* Runs between libpng's setjmp and its longjmp. */
static int picture_png_rows(png_structp png, png_infop info, FILE *fp, unsigned width,
                            unsigned height, const uint8_t *rgb)
{
    if (setjmp(png_jmpbuf(png)))
        return -1;
    png_init_io(png, fp);
    png_set_user_limits(png, 0x7fffffff, 0x7fffffff);
    png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_set_compression_level(
        png, 1); /* a third of the time of the default level 6, for a tenth more bytes */
    png_set_filter(png, 0, PNG_FILTER_UP);
    png_write_info(png, info);
    for (unsigned y = 0; y < height; y++)
        png_write_row(png, rgb + (size_t)3 * width * y);
    png_write_end(png, NULL);
    return 0;
}

static int picture_png_write(struct outfile *out, unsigned width, unsigned height,
                             const uint8_t *rgb)
{
    char text[100] = "out of memory";
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, text, picture_png_error,
                                              picture_png_warning);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    int status = info ? picture_png_rows(png, info, out->fp, width, height, rgb) : -1;
    if (status < 0 && outfile_check(out) == 0)
        clerror_set(EINVAL, "%s: cannot be written as PNG: %s", out->name, text);
    png_destroy_write_struct(&png, &info);
    return status;
}

int picture_write_png(const char *file, unsigned width, unsigned height, const uint8_t *rgb)
{
    struct outfile out;
    if (outfile_open(&out, file) < 0)
        return -1;
    out.nosync = true; /* pictures can be made again, and a film has many */
    if (picture_png_write(&out, width, height, rgb) == 0)
        return outfile_commit(&out);
    outfile_discard(&out);
    return -1;
}

#else

int picture_write_png(const char *file, unsigned width, unsigned height, const uint8_t *rgb)
{
    (void)width, (void)height, (void)rgb;
    return clerror_set(
        ENOTSUP,
        "%s: this build has no libpng and writes no pictures; install libpng-dev and build again",
        file);
}

#endif
