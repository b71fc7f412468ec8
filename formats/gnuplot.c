/* gnuplot.c - figures drawn by gnuplot from a script that contains the data.
 * SPDX-License-Identifier: MIT
 */
#include "formats/gnuplot.h"

#include "core/outfile.h"
#include "formats/figure_metadata.h"
#include "formats/filter.h"
#include "formats/number.h"
#include "formats/suffix.h"
#include "stdcl.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double USUAL_RATIO = 0.625, WIDTH_INCHES = 6.4;

int gnuplot_check(const char *file)
{
    if (!suffix_is_in(suffix_of(file), ".svg .png .pdf"))
        return clerror_set(EINVAL,
                           "%s: unknown suffix '%s'; figures are drawn as .svg, .png or .pdf", file,
                           suffix_of(file));
    return filter_there("gnuplot")
               ? 0
               : clerror_set(ENOTSUP,
                             "%s: needs the program gnuplot, which is not in $PATH: install it "
                             "(Debian: gnuplot-nox)",
                             file);
}

/* ---- The script. ----------------------------------------------------------------------------- */

void gnuplot_put_text(FILE *fp, const char *text)
{
    putc('\'', fp);
    for (; *text; text++) {
        if (*text == '\'')
            putc('\'', fp);
        putc((unsigned char)*text < ' ' ? ' ' : *text, fp);
    }
    putc('\'', fp);
}

/* Paul Tol's bright colours, brown, and four more at least as far apart in CIELAB. */
const char *gnuplot_colour(size_t number)
{
    static const char *const colours[GNUPLOT_COLOURS] = {
        "#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377",
        "#999999", "#bb5500", "#9966ff", "#332288", "#661100", "#009988"};
    return colours[number % GNUPLOT_COLOURS];
}

static void put_terminal(FILE *fp, const char *suffix, const struct gnuplot_page *page)
{
    const double ratio = page->ratio > 0 ? page->ratio : USUAL_RATIO;
    const int height = (int)(GNUPLOT_WIDTH * ratio + 0.5);
    const char *paper = page->black ? "black" : "white";
    if (suffix_is_in(suffix, ".png"))
        fprintf(fp, "set terminal pngcairo size %d,%d font 'sans,12' background rgb '%s'\n",
                GNUPLOT_WIDTH, height, paper);
    else if (suffix_is_in(suffix, ".svg"))
        fprintf(fp, "set terminal svg size %d,%d font 'sans,15' background '%s'\n", GNUPLOT_WIDTH,
                height, paper);
    else
        fprintf(fp, "set terminal pdfcairo size %g,%g font 'sans,11' background rgb '%s'\n",
                WIDTH_INCHES, WIDTH_INCHES * ratio, paper);
}

void gnuplot_put_label(FILE *fp, const struct gnuplot_page *page, const char *what,
                       const char *text)
{
    if (!text)
        return;
    fprintf(fp, "set %s ", what);
    gnuplot_put_text(fp, text);
    fprintf(fp, " noenhanced textcolor rgb '%s'\n", page->black ? "#dddddd" : "#000000");
}

static void put_page(FILE *fp, const char *suffix, const struct gnuplot_page *page)
{
    const char *ink = page->black ? "#dddddd" : "#000000";
    put_terminal(fp, suffix, page);
    /* A minus is as wide as a plus. The usual format puts a blank before positive numbers, which
     * moves them off their ticks. */
    fputs("set encoding utf8\nset minussign\nset format xy '%h'\n", fp);
    gnuplot_put_label(fp, page, "title", page->title);
    gnuplot_put_label(fp, page, "xlabel", page->x_label);
    gnuplot_put_label(fp, page, "ylabel", page->y_label);
    fprintf(fp,
            "set border lc rgb '%s'\nset tics textcolor rgb '%s'\n"
            "set key outside right noenhanced Left reverse samplen 2 textcolor rgb '%s'\n"
            "set datafile missing 'nan'\n",
            ink, ink, ink);
}

int gnuplot_begin(struct gnuplot_script *s, const char *file, const struct gnuplot_page *page)
{
    *s = (struct gnuplot_script){.page = *page};
    if (gnuplot_check(file) < 0 || outfile_open(&s->out, file) < 0)
        return -1;
    s->fp = tmpfile();
    if (!s->fp) {
        clerror_set(errno, "%s: no temporary file can be made: %s", file, strerror(errno));
        outfile_discard(&s->out);
        return -1;
    }
    put_page(s->fp, suffix_of(file), page);
    return 0;
}

/* Run the script. Its output is copied, with metadata, from `drawn` to the file. */
static int gnuplot_run(struct gnuplot_script *s, FILE *drawn)
{
    static const char *const argv[] = {"gnuplot", NULL};
    if (!drawn || fflush(s->fp) != 0)
        return clerror_set(errno, "%s: no temporary file can be written: %s", s->out.name,
                           strerror(errno));
    if (!filter_run(argv, fileno(s->fp), fileno(drawn)) || fseek(drawn, 0, SEEK_END) != 0 ||
        ftell(drawn) == 0)
        return clerror_set(ENOTSUP, "%s: gnuplot could not draw it%s", s->out.name,
                           suffix_is_in(suffix_of(s->out.name), ".svg")
                               ? ""
                               : "; does it draw such files? Ask for an .svg file");
    return figure_metadata_copy(drawn, s->out.fp, suffix_of(s->out.name), s->page.command);
}

int gnuplot_end(struct gnuplot_script *s)
{
    FILE *drawn = tmpfile();
    const int status = gnuplot_run(s, drawn);
    if (drawn)
        fclose(drawn);
    fclose(s->fp);
    if (status == 0)
        return outfile_commit(&s->out);
    outfile_discard(&s->out);
    return -1;
}

/* ---- Lines. ---------------------------------------------------------------------------------- */

static bool has_positive(const struct gnuplot *plot)
{
    for (size_t l = 0; l < plot->lines; l++)
        for (size_t i = 0; i < plot->line[l].n; i++)
            if (plot->line[l].y[i * plot->line[l].stride] > 0)
                return true;
    return false;
}

static void put_line(FILE *fp, const struct gnuplot_line *line, size_t number, bool positive)
{
    char x[NUMBER_SIZE], y[NUMBER_SIZE];
    fprintf(fp, "$line%zu << END\n", number);
    for (size_t i = 0; i < line->n; i++) {
        const double at = line->x[i * line->stride], value = line->y[i * line->stride];
        if (!isfinite(at) || !isfinite(value) || (positive && !(value > 0)))
            continue;
        number_print(x, at);
        number_print(y, value);
        fprintf(fp, "%s %s\n", x, y);
    }
    fputs("END\n", fp);
}

static void put_lines(FILE *fp, const struct gnuplot *plot)
{
    const bool logarithmic = plot->logarithmic && has_positive(plot);
    fprintf(fp, "set grid lt 1 lc rgb '%s'\n", plot->page.black ? "#444444" : "#dddddd");
    fputs(logarithmic ? "set logscale y\nset format y '10^{%L}'\n" : "set format y '%g'\n", fp);
    if (plot->logarithmic_x)
        fputs("set logscale x\nset format x '10^{%L}'\n", fp);
    if (plot->doubling)
        fputs("set logscale x 2\nset format x '%g'\n", fp);
    if (plot->lines == 1)
        fputs("unset key\n", fp);
    for (size_t l = 0; l < plot->lines; l++)
        put_line(fp, &plot->line[l], l, logarithmic);
    fputs("plot ", fp);
    for (size_t l = 0; l < plot->lines; l++) {
        fprintf(fp, "%s$line%zu using 1:2 with %s lw 2 pt 7 lc rgb '%s' title ", l ? ", " : "", l,
                plot->doubling ? "linespoints" : "lines", gnuplot_colour(l));
        gnuplot_put_text(fp, plot->line[l].name);
    }
    putc('\n', fp);
}

int gnuplot_write(const char *file, const struct gnuplot *plot)
{
    struct gnuplot_script script;
    if (gnuplot_begin(&script, file, &plot->page) < 0)
        return -1;
    put_lines(script.fp, plot);
    return gnuplot_end(&script);
}
