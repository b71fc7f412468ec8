/* gnuplot.h - figures drawn by the program gnuplot, as SVG, PNG or PDF.
 *
 * A figure is a script, which contains its data. gnuplot_begin opens it, the caller prints
 * commands, and gnuplot_end runs it. The file receives the command line that made it as metadata.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_GNUPLOT_H
#define FORMATS_GNUPLOT_H

#include "core/outfile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GNUPLOT_WIDTH = 960 }; /* of the page, in pixels */

/* What all figures have. Strings are not owned; NULL: none. */
struct gnuplot_page {
    const char *title, *x_label, *y_label;
    const char *command; /* stored in the file: PNG iTXt "Comment", SVG desc, PDF last line */
    bool black;          /* paper; else white */
    double ratio;        /* height of the page by its width; 0: 0.625 */
};

struct gnuplot_script {
    FILE *fp; /* commands and data */
    struct outfile out;
    struct gnuplot_page page;
};

/* Begin a figure for an .svg, .png or .pdf file: the output, paper, fonts, title and labels are
 * set. -1: EINVAL, another suffix; ENOTSUP, gnuplot is not installed. */
int gnuplot_begin(struct gnuplot_script *script, const char *file, const struct gnuplot_page *page);

/* Draw the figure; the file appears whole or not at all. -1: ENOTSUP, gnuplot failed. */
int gnuplot_end(struct gnuplot_script *script);

/* Print a text as a string of gnuplot. */
void gnuplot_put_text(FILE *fp, const char *text);

/* Set a label, such as "xlabel", in the colour of the page's ink. NULL text: none. */
void gnuplot_put_label(FILE *fp, const struct gnuplot_page *page, const char *what,
                       const char *text);

/* A colour for line `number`, "#rrggbb", distinguishable for colour-blind readers. They repeat
 * after GNUPLOT_COLOURS. */
enum { GNUPLOT_COLOURS = 12 };
const char *gnuplot_colour(size_t number);

/* One line of n points; points that are not finite are left out. Nothing is owned. */
struct gnuplot_line {
    const char *name;
    const double *x, *y;
    size_t n, stride; /* stride: elements from one point to the next, in both arrays */
};

struct gnuplot {
    struct gnuplot_page page;
    bool logarithmic;   /* y axis; only values > 0 are shown. Without any the axis is linear */
    bool logarithmic_x; /* all x are > 0 */
    bool doubling;      /* x axis: logarithmic to base 2, with a mark at each point */
    size_t lines;
    const struct gnuplot_line *line;
};

/* Draw lines into a file, as above. */
int gnuplot_write(const char *file, const struct gnuplot *plot);

/* Check, before there is anything to draw, whether a file can be drawn. */
int gnuplot_check(const char *file);

#ifdef __cplusplus
}
#endif
#endif
