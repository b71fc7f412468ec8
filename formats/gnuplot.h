/* gnuplot.h - figures over time, drawn by gnuplot as SVG or PNG.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_GNUPLOT_H
#define FORMATS_GNUPLOT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One line of n points; points that are not finite are left out. Nothing is owned. */
struct gnuplot_line {
    const char *name;
    const double *x, *y;
    size_t stride; /* elements from one point to the next, in both arrays */
};

struct gnuplot {
    const char *title, *x_label, *y_label;
    bool logarithmic; /* y axis; only values > 0 are shown */
    size_t n, lines;
    const struct gnuplot_line *line;
};

/* Draw into an .svg or .png file, whole or not at all. EINVAL: another suffix; ENOTSUP: gnuplot is
 * not installed, or draws no PNG. */
int gnuplot_write(const char *file, const struct gnuplot *plot);

/* Check, before there is anything to draw, whether gnuplot_write can succeed. */
int gnuplot_check(const char *file);

#ifdef __cplusplus
}
#endif
#endif
