/* figure.h - figures of bodies and cells for publication: axes with units, a colour bar beside the
 * data, points and paths. Drawn by gnuplot.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_FIGURE_H
#define FORMATS_FIGURE_H

#include "formats/gnuplot.h"
#include "formats/picture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A colour bar from `low` to `high`. */
struct figure_bar {
    const char *label;          /* NULL: no bar */
    const uint8_t (*colour)[3]; /* PICTURE_RAMP colours; not owned */
    double low, high;
    bool logarithmic; /* colour number log(1 + v / low) as in pictures of density; else v */
};

/* Points, or the path of a body. Nothing is owned. */
struct figure_set {
    const char *name; /* in the legend; NULL: not in it */
    size_t n, stride; /* stride: numbers from one x or y to the next */
    const double *x, *y;
    const float *value; /* of points: numbers that choose colours of the bar; NULL: none */
    bool path;          /* joined by lines */
    const char *colour; /* "#rrggbb", unless there are values */
};

/* FIGURE_PIXELS: a picture of cells with at most this width and height loses no pixel in PNG. */
enum { FIGURE_PIXELS = 680, FIGURE_LONGEST = 12 };

struct figure {
    struct gnuplot_page page;
    double x[2], y[2];      /* ends of the axes, which have one scale: left, right; bottom, top */
    bool cells;             /* axes count cells: whole ticks, and two scales if one side is
                             * FIGURE_LONGEST times the other or more */
    unsigned width, height; /* pixels of the picture; 0: none */
    const uint8_t *rgb;     /* 3 width height, from the top, and over the whole range */
    struct figure_bar bar;
    size_t sets;
    const struct figure_set *set;
};

/* Draw a figure into an .svg, .png or .pdf file, whole or not at all. Errors as gnuplot_begin. */
int figure_write(const char *file, const struct figure *figure);

#ifdef __cplusplus
}
#endif
#endif
