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

/* Pixels of the margins around a picture of cells, and of its greatest height. */
enum { LEFT = 100, RIGHT = 40, RIGHT_OF_BAR = 170, TOP = 50, BOTTOM = 75, HIGHEST = 1700 };
enum { LABEL_TEXT = 256 };

/* The page, and the plot on it if its place is set. */
struct frame {
    double width, height; /* of the plot, in pixels */
    double ratio;         /* height of the page by its width */
};

/* ---- The colour bar. ------------------------------------------------------------------------- */

enum { BAR_LABEL_OFFSET = 2 }; /* characters: gnuplot reserves too few for the numbers */

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
    fprintf(fp, " noenhanced offset %d,0 textcolor rgb '%s'\n",
            bar->logarithmic ? 0 : BAR_LABEL_OFFSET, figure->page.black ? "#dddddd" : "#000000");
    if (bar->logarithmic) {
        fputs("set cbrange [0:1]\n", fp);
        put_logarithmic_ticks(fp, bar);
    } else {
        fprintf(fp, "set cbrange [%.9g:%.9g]\nset format cb '%%.3g'\n", bar->low, bar->high);
    }
}

/* ---- Data. ----------------------------------------------------------------------------------- */

static void put_set(FILE *fp, const struct figure_set *set, size_t number, const double offset[2])
{
    char x[NUMBER_SIZE], y[NUMBER_SIZE];
    fprintf(fp, "$set%zu << END\n", number);
    for (size_t i = 0; i < set->n; i++) {
        const double at = set->x[i * set->stride] - offset[0],
                     up = set->y[i * set->stride] - offset[1];
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
            set->path     ? "lines lw 1.5"
            : set->n == 1 ? "points pt 7 ps 0.9"
                          : "points pt 7 ps 0.6");
    if (set->value)
        fputs(" lc palette", fp);
    else
        fprintf(fp, " lc rgb '%s'", set->colour);
    fputs(set->name ? " title " : " notitle", fp);
    if (set->name)
        gnuplot_put_text(fp, set->name);
}

/* Smallest whole number 1, 2, 5, 10, 20 ... of cells between ticks that are `room` pixels apart. */
static double whole_step(double span, double pixels, double room)
{
    const double least = fmax(1, span * room / pixels), power = pow(10, floor(log10(least))),
                 first = least / power;
    return power * (first <= 1 ? 1 : first <= 2 ? 2 : first <= 5 ? 5 : 10);
}

/* Place the plot of cells on the page, and whole ticks. */
static void put_cell_axes(FILE *fp, const struct figure *figure, const struct frame *f)
{
    const double page = GNUPLOT_WIDTH * f->ratio,
                 digits = fmax(fabs(figure->x[0]), fabs(figure->x[1]));
    fprintf(fp,
            "set lmargin at screen %.9g\nset rmargin at screen %.9g\n"
            "set bmargin at screen %.9g\nset tmargin at screen %.9g\n",
            (double)LEFT / GNUPLOT_WIDTH, (LEFT + f->width) / GNUPLOT_WIDTH, BOTTOM / page,
            (BOTTOM + f->height) / page);
    fprintf(fp, "set format xy '%%.0f'\nset xtics %.9g\nset ytics %.9g\n",
            whole_step(figure->x[1] - figure->x[0], f->width, 10 * (4 + log10(1 + digits))),
            whole_step(fabs(figure->y[1] - figure->y[0]), f->height, 25));
    if (figure->bar.label && f->height < 200 && figure->bar.high > 1)
        fprintf(fp, "set cbtics %.9g\n", whole_step(figure->bar.high, f->height, 25));
}

static void put_axes(FILE *fp, const struct figure *figure, const struct frame *frame)
{
    fprintf(fp, "set size %s\nset xrange [%.12g:%.12g]\nset yrange [%.12g:%.12g]\n",
            figure->cells ? "noratio" : "ratio -1", figure->x[0], figure->x[1], figure->y[0],
            figure->y[1]);
    fputs("set tics out nomirror\nset key outside right top samplen 0.5\n", fp);
    if (figure->cells)
        put_cell_axes(fp, figure, frame);
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

/* ---- The page. ------------------------------------------------------------------------------- */

static double figure_shape(const struct figure *figure)
{
    return fabs(figure->y[1] - figure->y[0]) / (figure->x[1] - figure->x[0]);
}

/* Height of the page by its width, so that the axes fill it: margins, labels and bar take a fixed
 * part. */
static double page_ratio(const struct figure *figure)
{
    const double beside = figure->bar.label || figure->sets > 1 ? 0.24 : 0.1;
    return fmin(2, fmax(0.3, (1 - beside) * figure_shape(figure) + 0.13));
}

/* Plot and page of a picture of cells. */
static struct frame cell_frame(const struct figure *figure)
{
    const double shape = fmin(FIGURE_LONGEST, fmax(1. / FIGURE_LONGEST, figure_shape(figure)));
    struct frame f = {.width = GNUPLOT_WIDTH - LEFT - (figure->bar.label ? RIGHT_OF_BAR : RIGHT)};
    f.width = floor(fmin(f.width, HIGHEST / shape));
    f.height = floor(f.width * shape);
    f.ratio = (f.height + TOP + BOTTOM) / GNUPLOT_WIDTH;
    return f;
}

/* A round number near a range that is small beside its position; else 0. */
static double axis_offset(const double range[2])
{
    static const double FAR_RANGE = 1e4; /* gnuplot prints six digits of a tick */
    const double span = fabs(range[1] - range[0]), low = fmin(range[0], range[1]);
    if (!(span > 0 && fabs(low) > FAR_RANGE * span))
        return 0;
    const double unit = pow(10, ceil(log10(span)));
    return floor(low / unit) * unit;
}

/* Move the axis's range towards 0, and name the offset in the label, as "x - 1e15". */
static void move_axis(double range[2], const char **label, const char *axis, double offset,
                      char text[LABEL_TEXT])
{
    char number[NUMBER_SIZE];
    if (offset == 0)
        return;
    range[0] -= offset;
    range[1] -= offset;
    number_print(number, fabs(offset));
    snprintf(text, LABEL_TEXT, "%s %c %s", *label ? *label : axis, offset < 0 ? '+' : '-', number);
    *label = text;
}

int figure_write(const char *file, const struct figure *original)
{
    struct gnuplot_script script;
    struct figure moved = *original;
    char x_label[LABEL_TEXT], y_label[LABEL_TEXT];
    const double offset[2] = {axis_offset(original->x), axis_offset(original->y)};
    move_axis(moved.x, &moved.page.x_label, "x", offset[0], x_label);
    move_axis(moved.y, &moved.page.y_label, "y", offset[1], y_label);
    const struct frame frame =
        moved.cells ? cell_frame(&moved) : (struct frame){.ratio = page_ratio(&moved)};
    moved.page.ratio = frame.ratio;
    if (gnuplot_begin(&script, file, &moved.page) < 0)
        return -1;
    put_axes(script.fp, &moved, &frame);
    put_bar(script.fp, &moved);
    for (size_t i = 0; i < moved.sets; i++)
        put_set(script.fp, &moved.set[i], i, offset);
    put_plots(script.fp, &moved);
    return gnuplot_end(&script);
}
