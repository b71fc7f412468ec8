/* gas_output.c - the histogram of speeds, as a table and as a plot. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "files.h"
#include "interrupt.h"
#include "alloc.h"
#include "message.h"
#include "ranks.h"
#include "gas_bins.h"
#include "gas_figure.h"
#include "gas_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/csv.h"
#include "core/outfile.h"

/* upper end in thermal speeds sqrt(k_B T / m); one molecule in 10^7 is faster */
static const double TOP = 6;

int gas_output_plan(const struct gas_job *job)
{
    for (size_t i = 0; i < job->histogram.n; i++) {
        const char *file = job->histogram.item[i];
        if (!cli_has_suffix(file, ".csv") && !cli_has_suffix(file, ".svg"))
            return cli_wrong("--histogram: '%s' must end in .csv for a table or .svg for a plot",
                             file);
        const int status = cli_check_output(file);
        if (status != CLI_DONE)
            return status;
    }
    return cli_figures_check(&job->figures.names);
}

/* ---- A table. -------------------------------------------------------------------------------- */

/* Write the table; its last row holds speeds above the bins. */
static int write_speed_table(const struct gas_bins *b, const char *file)
{
    static const char *const names[] = {"speed_from",     "speed_to", "count",
                                        "expected_count", "density",  "expected_density"};
    enum { COLUMNS = sizeof names / sizeof *names };
    struct csv csv = {0};
    int failed = csv_open(&csv, file, COLUMNS, names);
    for (int i = 0; i <= b->n && !failed; i++) {
        const bool last = i == b->n;
        const double row[COLUMNS] = {i * b->width,
                                     last ? INFINITY : (i + 1) * b->width,
                                     (double)b->count[i],
                                     gas_bins_fraction(b, i) * (double)b->job->n,
                                     last ? 0 : gas_bins_density(b, i),
                                     last ? 0 : gas_bins_fraction(b, i) / b->width};
        failed = csv_row(&csv, row);
    }
    if (!failed)
        failed = csv_close(&csv);
    if (failed) {
        cli_failed_call(NULL); /* before csv_discard overwrites the error */
        csv_discard(&csv);
        return CLI_FAILED;
    }
    return CLI_DONE;
}

/* ---- A plot. --------------------------------------------------------------------------------- */

enum { LEFT = 70, TOP_EDGE = 40, WIDE = 640, HIGH = 360 };

/* Tick distance of 1, 2 or 5 times a power of ten, for at most eight ticks up to `end`. */
static double tick_distance(double end)
{
    static const double steps[] = {1, 2, 5, 10};
    const double power = pow(10, floor(log10(end / 8)));
    int k = 0;
    while (k < 3 && steps[k] * power * 8 < end)
        k++;
    return steps[k] * power;
}

static void draw_speed_axes(FILE *fp, const struct gas_bins *b, double most)
{
    const double end = b->n * b->width, tick = tick_distance(end);
    const struct gas_job *job = b->job;
    const bool si = job->species >= 0;
    fprintf(fp, "<path d=\"M%d %dV%dH%d\" fill=\"none\" stroke=\"#333\"/>\n", LEFT, TOP_EDGE,
            TOP_EDGE + HIGH, LEFT + WIDE);
    for (int k = 0; k * tick <= end * 1.0001; k++) {
        const double x = LEFT + WIDE * (k * tick) / end;
        fprintf(
            fp,
            "<path d=\"M%.1f %dv6\" stroke=\"#333\"/><text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n",
            x, TOP_EDGE + HIGH, x, TOP_EDGE + HIGH + 22, k * tick);
    }
    const double step = tick_distance(most);
    for (int k = 1; k * step <= most; k++) {
        const double y = TOP_EDGE + HIGH * (1 - k * step / most);
        fprintf(
            fp,
            "<path d=\"M%d %.1fh-6\" stroke=\"#333\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
            LEFT, y, LEFT - 10, y + 4, k * step);
    }
    fprintf(fp, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">speed%s</text>\n", LEFT + WIDE / 2,
            TOP_EDGE + HIGH + 46, si ? " (m/s)" : "");
    fprintf(
        fp,
        "<text x=\"%d\" y=\"24\" text-anchor=\"middle\">%llu molecules%s%s at T = %g%s, and Maxwell's "
        "distribution</text>\n",
        LEFT + WIDE / 2, (unsigned long long)job->n, si ? " of " : "",
        si ? gas_species_list()[job->species].formula : "", job->temperature, si ? " K" : "");
}

/* Draw the counts as steps, and the expected density as a curve through the middles of the bins. */
static void draw_speed_curves(FILE *fp, const struct gas_bins *b, double most)
{
    fprintf(fp, "<path d=\"M%d %d", LEFT, TOP_EDGE + HIGH);
    for (int i = 0; i < b->n; i++)
        fprintf(fp, "V%.2fH%.2f", TOP_EDGE + HIGH * (1 - gas_bins_density(b, i) / most),
                LEFT + (double)WIDE * (i + 1) / b->n);
    fprintf(fp, "V%dZ\" fill=\"#9ecae1\" stroke=\"#4292c6\" stroke-width=\"0.5\"/>\n<path d=\"",
            TOP_EDGE + HIGH);
    for (int i = 0; i < b->n; i++)
        fprintf(fp, "%c%.2f %.2f", i ? 'L' : 'M', LEFT + WIDE * (i + 0.5) / b->n,
                TOP_EDGE + HIGH * (1 - gas_bins_fraction(b, i) / b->width / most));
    fprintf(fp, "\" fill=\"none\" stroke=\"#cb181d\" stroke-width=\"1.5\"/>\n");
}

static int write_speed_plot(const struct gas_bins *b, const char *file)
{
    struct outfile out = {0};
    double most = 0;
    for (int i = 0; i < b->n; i++)
        most = fmax(most, 1.05 * fmax(gas_bins_density(b, i), gas_bins_fraction(b, i) / b->width));
    if (outfile_open(&out, file) < 0)
        return cli_failed_call(NULL);
    fprintf(
        out.fp,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" "
        "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
        LEFT + WIDE + 30, TOP_EDGE + HIGH + 60);
    draw_speed_curves(out.fp, b, most);
    draw_speed_axes(out.fp, b, most);
    fprintf(out.fp, "</svg>\n");
    return outfile_commit(&out) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

static int write_histogram(void *bins, const char *file)
{
    return cli_has_suffix(file, ".csv") ? write_speed_table(bins, file)
                                        : write_speed_plot(bins, file);
}

static int draw_gas_figure(void *bins, const char *file)
{
    return gas_figure_draw(bins, file);
}

/* Write files on rank 0. Return the status of all ranks. */
static int write_by_rank_0(struct cli_strings *names, int (*write)(void *, const char *),
                           struct gas_bins *bins)
{
    return cli_ranks_file_status(cli_ranks_first() ? cli_figures_draw(names, write, bins)
                                                   : CLI_DONE);
}

int gas_output_finish(struct gas_job *job)
{
    int status = CLI_DONE;
    if (!job->histogram.n && !job->figures.names.n)
        return CLI_DONE;
    const double top = TOP * sqrt(job->boltzmann * job->temperature / job->mass);
    uint64_t *count = cli_alloc((size_t)job->bins + 1, sizeof *count);
    struct gas_bins bins = {job, job->bins, top / job->bins, count};
    if (gas_histogram(job->gas, top, (unsigned)job->bins, count) != 0)
        status = gas_job_stopped() ? cli_interrupt_status(CLI_FAILED) : cli_failed_call(NULL);
    if (status == CLI_DONE) {
        const int tables = write_by_rank_0(&job->histogram, write_histogram, &bins),
                  figures = write_by_rank_0(&job->figures.names, draw_gas_figure, &bins);
        job->unwritten = cli_first_failure(tables, figures);
    }
    free(count);
    return status;
}
