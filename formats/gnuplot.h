/* gnuplot.h - figures over time, drawn by the program gnuplot, as SVG or PNG.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_GNUPLOT_H
#define FORMATS_GNUPLOT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One line: n points; those that are not finite are left out. Nothing is owned. */
struct gnuplot_line {
    const char *name;
    const double *x, *y;
    size_t stride; /* numbers from one point to the next, in both */
};

struct gnuplot {
    const char *title, *x_label, *y_label;
    bool logarithmic; /* y, of which only numbers > 0 are shown then */
    size_t n, lines;
    const struct gnuplot_line *line;
};

/* Draws into an .svg or .png file, whole or not at all. EINVAL: another suffix; ENOTSUP: gnuplot is
 * not there, or draws no PNG. */
int gnuplot_write(const char *file, const struct gnuplot *plot);

/* Whether it could, before there is anything to draw. */
int gnuplot_check(const char *file);

#ifdef __cplusplus
}
#endif
#endif
