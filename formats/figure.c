/* figure.c - figures of bodies and cells for publication, drawn by gnuplot.
 *
 * A picture is embedded as pixels between the axes. Its colour bar is a palette of gnuplot, to
 * which no data refers, so that bar and pixels have equal colours to the bit.
 * SPDX-License-Identifier: MIT
 */
#include "formats/figure.h"

#include "formats/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- The colour bar. ------------------------------------------------------------------------- */

/* Place of a value on the bar, from 0 to 1. */
static double bar_place(const struct figure_bar *bar, double value)
{
    return bar->logarithmic ? log1p(value / bar->low) / log1p(bar->high / bar->low)
                            : (value - bar->low) / (bar->high - bar->low);
}

/* Powers of ten have labels, and their multiples short ticks. Within less than a power of ten
 * 1, 2 and 5 have labels. */
static void put_logarithmic_ticks(FILE *fp, const struct figure_bar *bar)
{
    const int first = (int)floor(log10(bar->low)), last = (int)floor(log10(bar->high));
    const bool short_range = bar->high / bar->low < 20;
    const char *comma = "";
    fputs("set cbtics (", fp);
    for (int power = first; power <= last; power++)
        for (int digit = 1; digit < 10; digit++) {
            const double value = digit * pow(10, power);
            if (value < bar->low || value > bar->high)
                continue;
            fputs(comma, fp);
            if (digit == 1 && abs(power) > 3)
                fprintf(fp, "'10^{%d}'", power);
            else if (digit == 1 || (short_range && (digit == 2 || digit == 5)))
                fprintf(fp, "'%g'", value);
            else
                fputs("''", fp);
            fprintf(fp, " %.6g%s", bar_place(bar, value), digit == 1 ? "" : " 1");
            comma = ", ";
        }
    fputs(")\n", fp);
}

static void put_bar(FILE *fp, const struct figure *figure)
{
    const struct figure_bar *bar = &figure->bar;
    if (!bar->label) {
        fputs("unset colorbox\n", fp);
        return;
    }
    fputs("set palette defined (", fp);
    for (int i = 0; i < PICTURE_RAMP; i++)
        fprintf(fp, "%s%d '#%02x%02x%02x'", i ? ", " : "", i, bar->colour[i][0], bar->colour[i][1],
                bar->colour[i][2]);
    fprintf(fp, ")\nset palette maxcolors %d\nset colorbox\nset cblabel ", PICTURE_RAMP);
    gnuplot_put_text(fp, bar->label);
    fprintf(fp, " noenhanced textcolor rgb '%s'\n", figure->page.black ? "#dddddd" : "#000000");
    if (bar->logarithmic) {
        fputs("set cbrange [0:1]\n", fp);
        put_logarithmic_ticks(fp, bar);
    } else {
        fprintf(fp, "set cbrange [%.9g:%.9g]\nset format cb '%%.3g'\n", bar->low, bar->high);
    }
}

/* ---- Data. ----------------------------------------------------------------------------------- */

static void put_set(FILE *fp, const struct figure_set *set, size_t number)
{
    char x[NUMBER_SIZE], y[NUMBER_SIZE];
    fprintf(fp, "$set%zu << END\n", number);
    for (size_t i = 0; i < set->n; i++) {
        const double at = set->x[i * set->stride], up = set->y[i * set->stride];
        if (!isfinite(at) || !isfinite(up)) {
            putc('\n', fp); /* a path is interrupted */
            continue;
        }
        number_print(x, at);
        number_print(y, up);
        fprintf(fp, "%s %s %.6g\n", x, y, set->value ? set->value[i] : 0.);
    }
    fputs("END\n", fp);
}

static void put_set_style(FILE *fp, const struct figure_set *set, size_t number)
{
    fprintf(fp, "$set%zu using 1:2%s with %s", number, set->value ? ":3" : "",
            set->path ? "lines lw 1" : "points pt 7 ps 0.6");
    if (set->value)
        fputs(" lc palette", fp);
    else
        fprintf(fp, " lc rgb '%s'", set->colour);
    fputs(set->name ? " title " : " notitle", fp);
    if (set->name)
        gnuplot_put_text(fp, set->name);
}

static void put_axes(FILE *fp, const struct figure *figure)
{
    fprintf(fp, "set size ratio -1\nset xrange [%.12g:%.12g]\nset yrange [%.12g:%.12g]\n",
            figure->x[0], figure->x[1], figure->y[0], figure->y[1]);
    fputs("set tics out nomirror\nset key outside right top\n", fp);
}

/* gnuplot places the first row of pixels at the origin, which is the top if rows count downwards;
 * else flipy makes it the last row. The picture's bytes follow the command. The colour bar appears
 * if a plot has the palette: NaN is a plot without points. */
static void put_plots(FILE *fp, const struct figure *figure)
{
    const double dx = (figure->x[1] - figure->x[0]) / fmax(figure->width, 1),
                 dy = (figure->y[1] - figure->y[0]) / fmax(figure->height, 1);
    const char *comma = "";
    fputs("plot ", fp);
    if (figure->width) {
        fprintf(fp,
                "'-' binary array=(%u,%u) format='%%uchar' dx=%.12g dy=%.12g "
                "origin=(%.12g,%.12g)%s with rgbimage notitle",
                figure->width, figure->height, dx, fabs(dy), figure->x[0] + dx / 2,
                fmin(figure->y[0], figure->y[1]) + fabs(dy) / 2, dy > 0 ? " flipy" : "");
        comma = ", ";
    }
    for (size_t i = 0; i < figure->sets; i++) {
        fputs(comma, fp);
        put_set_style(fp, &figure->set[i], i);
        comma = ", ";
    }
    if (figure->bar.label)
        fprintf(fp, "%sNaN with points palette notitle", comma);
    putc('\n', fp);
    if (figure->width)
        fwrite(figure->rgb, 3, (size_t)figure->width * figure->height, fp);
}

/* Height of the page by its width, so that the axes fill it: margins, labels and bar take a fixed
 * part. */
static double page_ratio(const struct figure *figure)
{
    const double shape = fabs(figure->y[1] - figure->y[0]) / (figure->x[1] - figure->x[0]);
    const double beside = figure->bar.label || figure->sets > 1 ? 0.24 : 0.1;
    return fmin(2, fmax(0.3, (1 - beside) * shape + 0.13));
}

int figure_write(const char *file, const struct figure *figure)
{
    struct gnuplot_script script;
    struct gnuplot_page page = figure->page;
    page.ratio = page_ratio(figure);
    if (gnuplot_begin(&script, file, &page) < 0)
        return -1;
    put_axes(script.fp, figure);
    put_bar(script.fp, figure);
    for (size_t i = 0; i < figure->sets; i++)
        put_set(script.fp, &figure->set[i], i);
    put_plots(script.fp, figure);
    return gnuplot_end(&script);
}
