/* matmul_figure.c - the figure of `stdcl matmul --compare`.
 *
 *    naive |########            12.3 GFLOP/s, 4.1 % of the peak
 *    tuned |##################  207 GFLOP/s, 68 % of the peak
 *          +---|--------|-----
 *             10       100     speed [GFLOP/s], logarithmic
 *
 * Engines stand in the order of the comparison, the first on top. Colours distinguish devices from
 * the host. Engines without a result are named in the label of the axis.
 */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "message.h"
#include "text.h"
#include "matmul_figure.h"
#include "matmul_job.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static bool has_speed(const struct matmul_outcome *o)
{
    return !*o->why && o->gflops > 0 && isfinite(o->gflops);
}

/* The largest and smallest speed, and the number of engines with one. */
static size_t find_speeds(const struct matmul_job *job, double *least, double *most)
{
    size_t n = 0;
    *least = INFINITY;
    *most = 0;
    for (size_t i = 0; i < job->outcomes; i++) {
        if (!has_speed(&job->outcome[i]))
            continue;
        *least = fmin(*least, job->outcome[i].gflops);
        *most = fmax(*most, job->outcome[i].gflops);
        n++;
    }
    return n;
}

/* Columns: speed, place from the bottom, label. */
static void put_speeds(FILE *fp, const struct matmul_job *job, bool host, size_t n)
{
    struct cli_text text;
    fprintf(fp, "$%s << END\n", host ? "host" : "device");
    for (size_t i = 0; i < job->outcomes; i++) {
        const struct matmul_outcome *o = &job->outcome[i];
        if (!has_speed(o))
            continue;
        n--;
        if (matmul_kind_is_host(o->kind) != host)
            continue;
        fprintf(fp, "%.9g %zu \"%s", o->gflops, n, cli_text_rate(&text, 1e9 * o->gflops, "FLOP/s"));
        if (!isnan(o->peak_percent))
            fprintf(fp, ", %s %% of the peak", cli_text_number(&text, 3, o->peak_percent));
        fputs("\"\n", fp);
    }
    fputs("END\n", fp);
}

static void put_names(FILE *fp, const struct matmul_job *job, size_t n)
{
    const char *comma = "";
    fputs("set ytics (", fp);
    for (size_t i = 0; i < job->outcomes; i++) {
        if (!has_speed(&job->outcome[i]))
            continue;
        fprintf(fp, "%s'%s' %zu", comma, matmul_kind_name(job->outcome[i].kind), --n);
        comma = ", ";
    }
    fputs(")\n", fp);
}

static void put_bars(FILE *fp, const char *data, const char *colour, double left, const char *title)
{
    fprintf(fp,
            "$%s using (%.9g):2:(%.9g):1:($2-0.36):($2+0.36) with boxxyerror fs solid 1 noborder "
            "lc rgb '%s' title ",
            data, left, left, colour);
    gnuplot_put_text(fp, title);
}

/* True if an engine with a speed runs on the host, or on devices. */
static bool has_engines(const struct matmul_job *job, bool host)
{
    for (size_t i = 0; i < job->outcomes; i++)
        if (has_speed(&job->outcome[i]) && matmul_kind_is_host(job->outcome[i].kind) == host)
            return true;
    return false;
}

/* Labels begin at the end of a bar. The axis has room for one after the longest bar. */
static void put_figure(FILE *fp, const struct matmul_job *job, size_t n, double least, double most)
{
    static const char *const data[] = {"device", "host"}, *const title[] = {"OpenCL", "host"};
    const char *ink = job->figures.paper ? "#dddddd" : "#000000", *comma = "plot ";
    const double left = pow(10, floor(log10(least * 0.7))), right = most * pow(most / left, 0.6);
    fprintf(fp,
            "set logscale x\nset format x '%%g'\nset xrange [%.9g:%.9g]\nset yrange [-0.6:%g]\n"
            "set tics out nomirror\nset grid xtics lc rgb '%s'\nset key outside top right "
            "horizontal\nset border 3\n",
            left, right, (double)n - 0.4, job->figures.paper ? "#444444" : "#dddddd");
    put_names(fp, job, n);
    for (int host = 0; host < 2; host++)
        put_speeds(fp, job, host, n);
    for (int host = 0; host < 2; host++) {
        if (!has_engines(job, host))
            continue;
        fputs(comma, fp);
        put_bars(fp, data[host], gnuplot_colour((size_t)host), left, title[host]);
        fprintf(fp,
                ", $%s using 1:2:3 with labels left offset 0.5,0 noenhanced tc rgb '%s' notitle",
                data[host], ink);
        comma = ", ";
    }
    putc('\n', fp);
}

/* "speed [GFLOP/s]", and the engines without a result. */
static void name_axis(const struct matmul_job *job, char *label, size_t size)
{
    const char *separator = "; no result: ";
    snprintf(label, size, "speed [GFLOP/s]");
    for (size_t i = 0; i < job->outcomes; i++) {
        if (has_speed(&job->outcome[i]))
            continue;
        cli_text_append(label, size, "%s%s", separator, matmul_kind_name(job->outcome[i].kind));
        separator = ", ";
    }
}

static int draw_matmul_figure(void *of, const char *file)
{
    const struct matmul_job *job = of;
    char title[160], label[256];
    double least, most;
    struct gnuplot_script script;
    const size_t n = find_speeds(job, &least, &most);
    if (n == 0)
        return cli_failed("%s: no engine has a result, and there is nothing to draw", file);
    snprintf(title, sizeof title, "Product of %zu x %zu and %zu x %zu, %s precision", job->m,
             job->k, job->k, job->n, matmul_precision_names[job->precision]);
    name_axis(job, label, sizeof label);
    struct gnuplot_page page = cli_figure_page(&job->figures, title);
    page.x_label = label;
    page.ratio = 0.2 + 0.05 * (double)n;
    int status = gnuplot_begin(&script, file, &page);
    if (status == 0) {
        put_figure(script.fp, job, n, least, most);
        status = gnuplot_end(&script);
    }
    free((char *)(uintptr_t)page.command);
    return status < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

int matmul_figures_draw(struct matmul_job *job)
{
    return cli_figures_draw(&job->figures.names, draw_matmul_figure, job);
}
