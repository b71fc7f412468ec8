/* plot.h - lines on logarithmic axes, in SVG, or in PNG or PDF if gnuplot or rsvg-convert is
 * installed.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_PLOT_H
#define FORMATS_PLOT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One line of n points, all > 0, ascending in x. Nothing is owned. */
struct plot_line {
    const char *name;
    size_t n;
    const double *x, *y;
};

/* Both axes are logarithmic: x to base 2, y to base 10. `command`, the command line, is stored in
 * files of gnuplot; NULL: none. */
struct plot {
    const char *title, *x_label, *y_label, *command;
    size_t lines; /* at most 8 lines have distinct colours */
    const struct plot_line *line;
};

/* Write an .svg, .png or .pdf file, whole or not at all. EINVAL: no points, or another suffix;
 * ENOTSUP: no program that draws .png or .pdf (the message says what to install). */
int plot_write(const char *file, const struct plot *plot);

/* Check whether plot_write can write this file, before there is anything to plot. Leaves no
 * file. */
int plot_check(const char *file);

#ifdef __cplusplus
}
#endif
#endif
