/* gas_figure.c - the figure of `stdcl gas`.
 *
 *   +--------------------------+
 *   |      __                  |  counted density as a histogram, and Maxwell's distribution
 *   |    _/  \__               |
 *   +--------------------------+
 *   | - '. - . ' -  . - ' -  - |  counts less their mean, in standard deviations
 *   +--------------------------+
 *
 * Bars of error in the upper part would be shorter than the line is thick from some 10^5 molecules
 * on; the lower part shows them at any number.
 */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "message.h"
#include "gas_figure.h"
#include "gas_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Columns: middle of the bin, counted density, expected density, residual. */
static void put_bins(FILE *fp, const struct gas_bins *b)
{
    fputs("$bins << END\n", fp);
    for (int i = 0; i < b->n; i++) {
        const double residual = gas_bins_residual(b, i);
        fprintf(fp, "%.9g %.9g %.9g ", (i + 0.5) * b->width, gas_bins_density(b, i),
                gas_bins_fraction(b, i) / b->width);
        fprintf(fp, isnan(residual) ? "nan\n" : "%.6g\n", residual);
    }
    fputs("END\n", fp);
}

/* Half the height of the lower part. */
static double residual_range(const struct gas_bins *b)
{
    double most = 3;
    for (int i = 0; i < b->n; i++)
        most = fmax(most, fabs(gas_bins_residual(b, i))); /* NAN is ignored */
    return ceil(1.1 * most);
}

static void put_upper(FILE *fp, const struct gas_bins *b, const struct gnuplot_page *page)
{
    const bool si = b->job->species >= 0;
    fputs("set tmargin at screen 0.91\nset bmargin at screen 0.38\nset yrange [0:*]\n"
          "set format x ''\n",
          fp);
    gnuplot_put_label(fp, page, "ylabel", si ? "probability density [s/m]" : "probability density");
    fprintf(fp,
            "set boxwidth %.9g\nset style fill solid noborder\n"
            "plot $bins using 1:2 with boxes lc rgb '%s' title 'counted', "
            "$bins using 1:3 with lines lw 2 lc rgb '%s' title 'Maxwell'\n",
            b->width, page->black ? "#345878" : "#a9c3dc", gnuplot_colour(1));
}

static void put_lower(FILE *fp, const struct gas_bins *b, const struct gnuplot_page *page)
{
    const double range = residual_range(b);
    fprintf(fp,
            "unset title\nset tmargin at screen 0.34\nset bmargin at screen 0.12\n"
            "set yrange [-%g:%g]\nset format x '%%g'\nset grid ytics lc rgb '%s'\n",
            range, range, page->black ? "#444444" : "#dddddd");
    gnuplot_put_label(fp, page, "xlabel", b->job->species >= 0 ? "speed [m/s]" : "speed");
    gnuplot_put_label(fp, page, "ylabel", "deviation [σ]");
    fprintf(fp,
            "plot 0 with lines lw 1 lc rgb '%s' notitle, "
            "$bins using 1:4 with points pt 7 ps 0.4 lc rgb '%s' notitle\n",
            gnuplot_colour(1), gnuplot_colour(0));
}

static void put_panels(FILE *fp, const struct gas_bins *b, const struct gnuplot_page *page)
{
    fprintf(fp,
            "set xrange [0:%.9g]\nset lmargin at screen 0.12\nset rmargin at screen 0.97\n"
            "set key inside right top\nset tics out nomirror\nset multiplot\n",
            b->n * b->width);
    put_upper(fp, b, page);
    put_lower(fp, b, page);
    fputs("unset multiplot\n", fp);
}

static void figure_title(const struct gas_bins *b, char *title, size_t size)
{
    const struct gas_job *job = b->job;
    const bool si = job->species >= 0;
    int freedom, n;
    const double chi_squared = gas_bins_chi_squared(b, &freedom);
    n = snprintf(title, size, "%llu molecules%s%s, T = %.6g%s", (unsigned long long)job->n,
                 si ? " of " : "", si ? gas_species_list()[job->species].formula : "",
                 job->temperature, si ? " K" : "");
    if (freedom > 0 && n > 0 && (size_t)n < size)
        snprintf(title + n, size - (size_t)n, ": χ² = %.1f, %d degrees of freedom", chi_squared,
                 freedom);
}

int gas_figure_draw(const struct gas_bins *b, const char *file)
{
    char title[200];
    struct gnuplot_script script;
    figure_title(b, title, sizeof title);
    struct gnuplot_page page = cli_figure_page(&b->job->figures, title);
    page.ratio = 0.75;
    int status = gnuplot_begin(&script, file, &page);
    if (status == 0) {
        put_bins(script.fp, b);
        put_panels(script.fp, b, &page);
        status = gnuplot_end(&script);
    }
    free((char *)(uintptr_t)page.command);
    return status < 0 ? cli_failed_call(NULL) : CLI_DONE;
}
