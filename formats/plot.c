/* plot.c - lines on logarithmic axes: SVG is written here; gnuplot draws PNG and PDF, or else
 * rsvg-convert or magick converts the SVG.
 *
 * SPDX-License-Identifier: MIT
 */
#include "formats/plot.h"

#include "core/outfile.h"
#include "formats/filter.h"
#include "formats/gnuplot.h"
#include "formats/suffix.h"
#include "stdcl.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { WIDTH = 720, HEIGHT = 480, LEFT = 80, RIGHT = 150, TOP = 50, BOTTOM = 60 };

/* Paul Tol's colours, distinguishable for colour-blind readers. */
static const char *const colours[8] = {"#4477aa", "#ee6677", "#228833", "#ccbb44",
                                       "#66ccee", "#aa3377", "#777777", "#000000"};

/* Powers of the axes' ends. */
struct range {
    int x0, x1, y0, y1;
};

static double place_x(const struct range *r, double x)
{
    return LEFT + (log2(x) - r->x0) / (r->x1 - r->x0) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct range *r, double y)
{
    return HEIGHT - BOTTOM - (log10(y) - r->y0) / (r->y1 - r->y0) * (HEIGHT - TOP - BOTTOM);
}

static int plot_fit(const struct plot *plot, struct range *r)
{
    double x0 = INFINITY, x1 = 0, y0 = INFINITY, y1 = 0;
    for (size_t l = 0; l < plot->lines; l++)
        for (size_t i = 0; i < plot->line[l].n; i++) {
            x0 = fmin(x0, plot->line[l].x[i]);
            x1 = fmax(x1, plot->line[l].x[i]);
            y0 = fmin(y0, plot->line[l].y[i]);
            y1 = fmax(y1, plot->line[l].y[i]);
        }
    if (!(x0 > 0 && y0 > 0 && x1 < INFINITY && y1 < INFINITY))
        return -1;
    *r = (struct range){(int)floor(log2(x0)), (int)ceil(log2(x1)), (int)floor(log10(y0)),
                        (int)ceil(log10(y1))};
    r->x1 += r->x1 == r->x0;
    r->y1 += r->y1 == r->y0;
    return 0;
}

static void plot_text(FILE *fp, double x, double y, const char *anchor, const char *words)
{
    fprintf(fp, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
    for (; *words; words++)
        fprintf(fp, *words == '<' ? "&lt;" : *words == '&' ? "&amp;" : "%c", *words);
    fputs("</text>\n", fp);
}

static void plot_draw_axes(FILE *fp, const struct plot *plot, const struct range *r)
{
    char words[32];
    for (int e = r->x0; e <= r->x1; e++) {
        const double x = place_x(r, ldexp(1, e));
        fprintf(fp, "<path d=\"M%.1f %d V%d\" stroke=\"#ddd\"/>\n", x, TOP, HEIGHT - BOTTOM);
        snprintf(words, sizeof words, "%g", ldexp(1, e));
        plot_text(fp, x, HEIGHT - BOTTOM + 18, "middle", words);
    }
    for (int e = r->y0; e <= r->y1; e++) {
        const double y = place_y(r, pow(10, e));
        fprintf(fp, "<path d=\"M%d %.1f H%d\" stroke=\"#ddd\"/>\n", LEFT, y, WIDTH - RIGHT);
        snprintf(words, sizeof words, "%g", pow(10, e));
        plot_text(fp, LEFT - 6, y + 4, "end", words);
    }
    fprintf(fp,
            "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#333\"/>\n",
            LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM);
    plot_text(fp, (LEFT + WIDTH - RIGHT) / 2., TOP - 20, "middle", plot->title);
    plot_text(fp, (LEFT + WIDTH - RIGHT) / 2., HEIGHT - 15, "middle", plot->x_label);
    fprintf(fp, "<g transform=\"rotate(-90 20 %d)\">", HEIGHT / 2);
    plot_text(fp, 20, HEIGHT / 2., "middle", plot->y_label);
    fputs("</g>\n", fp);
}

static void draw_line(FILE *fp, const struct plot_line *line, const struct range *r, size_t number)
{
    const char *colour = colours[number % 8];
    const double y = TOP + 12 + 20 * (double)number;
    fprintf(fp, "<g fill=\"none\" stroke=\"%s\" stroke-width=\"2\">\n<path d=\"", colour);
    for (size_t i = 0; i < line->n; i++)
        fprintf(fp, "%c%.1f %.1f ", i ? 'L' : 'M', place_x(r, line->x[i]), place_y(r, line->y[i]));
    fputs("\"/>\n", fp);
    for (size_t i = 0; i < line->n; i++)
        fprintf(fp, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", place_x(r, line->x[i]),
                place_y(r, line->y[i]));
    fprintf(fp, "<path d=\"M%d %.1f h20\"/>\n</g>\n", WIDTH - RIGHT + 10, y);
    plot_text(fp, WIDTH - RIGHT + 36, y + 4, "start", line->name);
}

static void draw_svg(FILE *fp, const struct plot *plot, const struct range *r)
{
    fprintf(
        fp,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
        "font-size=\"13\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
        WIDTH, HEIGHT);
    plot_draw_axes(fp, plot, r);
    for (size_t l = 0; l < plot->lines; l++)
        draw_line(fp, &plot->line[l], r, l);
    fputs("</svg>\n", fp);
}

/* ---- PNG and PDF, by another program. ------------------------------------------------------- */

static int plot_by_gnuplot(const char *file, const struct plot *plot, bool trial)
{
    struct gnuplot_line line[8];
    const size_t lines = plot->lines < 8 ? plot->lines : 8;
    for (size_t l = 0; l < lines; l++)
        line[l] = (struct gnuplot_line){.name = plot->line[l].name,
                                        .x = plot->line[l].x,
                                        .y = plot->line[l].y,
                                        .n = plot->line[l].n,
                                        .stride = 1};
    const struct gnuplot figure = {.page = {.title = plot->title,
                                            .x_label = plot->x_label,
                                            .y_label = plot->y_label,
                                            .command = plot->command},
                                   .logarithmic = true,
                                   .doubling = true,
                                   .lines = lines,
                                   .line = line};
    return trial ? gnuplot_check(file) : gnuplot_write(file, &figure);
}

static bool convert(int svg, int to, bool png)
{
    const char *const rsvg[] = {"rsvg-convert", "-f", png ? "png" : "pdf", NULL},
                      *const magick[] = {"magick", "svg:-", png ? "png:-" : "pdf:-", NULL};
    return filter_run(rsvg, svg, to) || filter_run(magick, svg, to);
}

static int plot_convert(struct outfile *out, const struct plot *plot, const struct range *r)
{
    FILE *svg = tmpfile();
    if (!svg)
        return clerror_set(errno, "%s: no temporary file can be made: %s", out->name,
                           strerror(errno));
    draw_svg(svg, plot, r);
    int status = 0;
    if (fflush(svg) != 0)
        status = clerror_set(errno, "%s: the temporary file cannot be written: %s", out->name,
                             strerror(errno));
    else if (!convert(fileno(svg), out->fd, suffix_is_in(suffix_of(out->name), ".png")))
        status = clerror_set(
            ENOTSUP,
            "%s: no program here draws such files; install gnuplot (Debian: gnuplot-nox) or "
            "rsvg-convert (librsvg2-bin), or ask for an .svg file",
            out->name);
    fclose(svg);
    return status;
}

/* A trial draws but leaves no file. */
static int plot_draw(const char *file, const struct plot *plot, bool trial)
{
    struct range r;
    struct outfile out;
    const char *suffix = suffix_of(file);
    const bool svg = suffix_is_in(suffix, ".svg");
    if (plot_fit(plot, &r) < 0)
        return clerror_set(EINVAL, "%s: there is nothing to plot", file);
    if (!svg && !suffix_is_in(suffix, ".png .pdf"))
        return clerror_set(EINVAL,
                           "%s: unknown suffix '%s'; plots are written as .svg, .png or .pdf", file,
                           suffix);
    if (!svg && filter_there("gnuplot"))
        return plot_by_gnuplot(file, plot, trial);
    if (outfile_open(&out, file) < 0)
        return -1;
    if (!svg && plot_convert(&out, plot, &r) < 0) {
        outfile_discard(&out);
        return -1;
    }
    if (svg)
        draw_svg(out.fp, plot, &r);
    if (!trial)
        return outfile_commit(&out);
    outfile_discard(&out);
    return 0;
}

int plot_write(const char *file, const struct plot *plot)
{
    return plot_draw(file, plot, false);
}

int plot_check(const char *file)
{
    const double one = 1;
    const struct plot_line line = {"", 1, &one, &one};
    return plot_draw(file, &(struct plot){"", "", "", NULL, 1, &line}, true);
}
