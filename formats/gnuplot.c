/* gnuplot.c - figures over time, drawn by gnuplot from a script that contains the data.
 * SPDX-License-Identifier: MIT
 */
#include "formats/gnuplot.h"

#include "core/outfile.h"
#include "formats/filter.h"
#include "formats/number.h"
#include "formats/suffix.h"
#include "stdcl.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int gnuplot_check(const char *file)
{
    if (!suffix_is_in(suffix_of(file), ".svg .png"))
        return clerror_set(EINVAL, "%s: unknown suffix '%s'; figures are drawn as .svg or .png",
                           file, suffix_of(file));
    return filter_there("gnuplot")
               ? 0
               : clerror_set(ENOTSUP,
                             "%s: needs the program gnuplot, which is not in $PATH: install it "
                             "(Debian: gnuplot-nox)",
                             file);
}

static void gnuplot_put_line(FILE *fp, const struct gnuplot *plot, const struct gnuplot_line *line,
                             size_t number)
{
    char x[NUMBER_SIZE], y[NUMBER_SIZE];
    fprintf(fp, "$line%zu << END\n", number);
    for (size_t i = 0; i < plot->n; i++) {
        const double at = line->x[i * line->stride], value = line->y[i * line->stride];
        if (!isfinite(at) || !isfinite(value) || (plot->logarithmic && !(value > 0)))
            continue;
        number_print(x, at);
        number_print(y, value);
        fprintf(fp, "%s %s\n", x, y);
    }
    fputs("END\n", fp);
}

/* Paul Tol's colours, distinguishable for colour-blind readers. */
static void put_script(FILE *fp, const struct gnuplot *plot, bool png)
{
    static const char *const colours[] = {"#4477aa", "#ee6677", "#228833", "#ccbb44",
                                          "#66ccee", "#aa3377", "#777777", "#000000"};
    fprintf(fp, "set terminal %s\n",
            png ? "pngcairo size 960,600 font 'sans,11'"
                : "svg size 960,600 font 'sans,14' background 'white'");
    fprintf(
        fp,
        "set title \"%s\" noenhanced\nset xlabel \"%s\" noenhanced\nset ylabel \"%s\" noenhanced\n",
        plot->title, plot->x_label, plot->y_label);
    fputs(
        "set key outside right noenhanced\nset grid\nset format y \"%g\"\nset datafile missing \"nan\"\n",
        fp);
    if (plot->logarithmic)
        fputs("set logscale y\n", fp);
    for (size_t l = 0; l < plot->lines; l++)
        gnuplot_put_line(fp, plot, &plot->line[l], l);
    fputs("plot ", fp);
    for (size_t l = 0; l < plot->lines; l++)
        fprintf(fp, "%s$line%zu using 1:2 with lines lw 2 lc rgb \"%s\" title \"%s\"",
                l ? ", " : "", l, colours[l % (sizeof colours / sizeof *colours)],
                plot->line[l].name);
    putc('\n', fp);
}

int gnuplot_write(const char *file, const struct gnuplot *plot)
{
    static const char *const argv[] = {"gnuplot", NULL};
    struct outfile out;
    if (gnuplot_check(file) < 0 || outfile_open(&out, file) < 0)
        return -1;
    int status = 0;
    FILE *script = tmpfile();
    if (!script)
        status = clerror_set(errno, "%s: no temporary file can be made: %s", file, strerror(errno));
    if (script)
        put_script(script, plot, suffix_is_in(suffix_of(file), ".png"));
    if (script && (fflush(script) != 0 || !filter_run(argv, fileno(script), out.fd)))
        status = clerror_set(ENOTSUP, "%s: gnuplot could not draw it; ask for an .svg file", file);
    if (script)
        fclose(script);
    if (status == 0)
        return outfile_commit(&out);
    outfile_discard(&out);
    return -1;
}
