/* nbody_profile.c - distributions of the bodies at the end: density by radius, bodies by speed.
 *
 * Shells about the density centre have equal ratios of radii between the tenth body from the centre
 * and the tenth from outside. The innermost shell is a ball, and the outermost ends at the last
 * body, so that the shells together hold all mass. Equal radii give one ball. Speeds have bins of
 * one width, up to the fastest body or to five times the root mean square speed, whichever is less.
 * A value is the mean over its bin, hence lines are drawn as steps. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "alloc.h"
#include "figures.h"
#include "files.h"
#include "message.h"
#include "nbody_job.h"
#include "nbody_page.h"
#include "nbody_profile.h"

#include "formats/csv.h"
#include "formats/gnuplot.h"
#include "formats/units.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/view.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

enum { PROFILE_BINS = 32, EDGE_BODIES = 10 };
static const double FASTEST_SHOWN = 5; /* root mean square speeds */

struct distribution {
    size_t bins;
    double edge[PROFILE_BINS + 1]; /* radii or speeds, ascending */
    double bodies[PROFILE_BINS], mass[PROFILE_BINS];
    double value[PROFILE_BINS]; /* mass per volume, or fraction of the bodies per unit of speed */
};

struct profile_body {
    double at, mass; /* radius or speed */
};

int nbody_profile_check(const char *file)
{
    if (cli_has_suffix(file, ".csv"))
        return cli_check_output(file);
    if (!cli_has_suffix(file, ".svg") && !cli_has_suffix(file, ".png") &&
        !cli_has_suffix(file, ".pdf"))
        return cli_wrong("--plot: '%s' must end in .svg, .png, .pdf or, for a table, .csv", file);
    return cli_figure_check(file);
}

/* ---- Bins. ----------------------------------------------------------------------------------- */

static int compare_profile_bodies(const void *a, const void *b)
{
    const double x = ((const struct profile_body *)a)->at, y = ((const struct profile_body *)b)->at;
    return (x > y) - (x < y);
}

/* True if a shell of these radii has a volume in spite of rounding. */
static bool radii_differ(double inner, double outer)
{
    return outer > inner * (1 + 1e-6);
}

static void set_shells(struct distribution *p, size_t n, const struct profile_body *body)
{
    const size_t most = n / (2 * EDGE_BODIES),
                 between = most < PROFILE_BINS - 2 ? most : PROFILE_BINS - 2;
    const double last = body[n - 1].at, low = between ? body[EDGE_BODIES - 1].at : 0,
                 high = between ? body[n - EDGE_BODIES].at : 0;
    p->edge[0] = 0;
    p->bins = 1;
    if (low > 0 && radii_differ(low, high)) {
        for (size_t k = 0; k <= between; k++)
            p->edge[k + 1] = low * pow(high / low, (double)k / (double)between);
        p->bins = between + (radii_differ(high, last) ? 2 : 1);
    }
    p->edge[p->bins] = last;
}

static void set_speed_bins(struct distribution *p, size_t n, const struct profile_body *body)
{
    double squares = 0;
    for (size_t i = 0; i < n; i++)
        squares += body[i].at * body[i].at;
    const double top = fmin(body[n - 1].at, FASTEST_SHOWN * sqrt(squares / (double)n));
    p->bins = PROFILE_BINS;
    for (size_t k = 0; k <= PROFILE_BINS; k++)
        p->edge[k] = top * (double)k / PROFILE_BINS;
}

/* Count sorted bodies: a bin holds its upper edge. */
static void count_profile_bodies(struct distribution *p, size_t n, const struct profile_body *body)
{
    size_t k = 0;
    for (size_t i = 0; i < n; i++) {
        while (k < p->bins && body[i].at > p->edge[k + 1])
            k++;
        if (k == p->bins)
            return;
        p->bodies[k] += 1;
        p->mass[k] += body[i].mass;
    }
}

static void find_density(struct distribution *p, size_t n, struct profile_body *body)
{
    set_shells(p, n, body);
    count_profile_bodies(p, n, body);
    for (size_t k = 0; k < p->bins; k++)
        p->value[k] =
            p->mass[k] / (4 * acos(-1) / 3 * (pow(p->edge[k + 1], 3) - pow(p->edge[k], 3)));
}

static void find_speed_distribution(struct distribution *p, size_t n, struct profile_body *body)
{
    set_speed_bins(p, n, body);
    count_profile_bodies(p, n, body);
    for (size_t k = 0; k < p->bins; k++)
        p->value[k] = p->bodies[k] / ((double)n * (p->edge[k + 1] - p->edge[k]));
}

/* The bodies' radii about `centre`, or speeds, sorted. Free the result; NULL after a message. */
static struct profile_body *sort_profile_bodies(const struct particles *b, double (*vector)[3],
                                                const double centre[3])
{
    if (cli_memory_for(b->n, sizeof(struct profile_body), "bodies") != CLI_DONE)
        return NULL;
    struct profile_body *body = cli_alloc(b->n, sizeof *body);
    for (size_t i = 0; i < b->n; i++) {
        const double *v = vector[i];
        const double at = hypot(hypot(v[0] - centre[0], v[1] - centre[1]), v[2] - centre[2]);
        body[i] = (struct profile_body){at, b->mass[i]};
    }
    qsort(body, b->n, sizeof *body, compare_profile_bodies);
    return body;
}

/* ---- Files. ---------------------------------------------------------------------------------- */

static int write_profile_table(const struct distribution *p, bool density, const char *file)
{
    const char *const columns[][5] = {{"speed_low", "speed_high", "bodies", "mass", "distribution"},
                                      {"radius_low", "radius_high", "bodies", "mass", "density"}};
    struct csv csv = {.columns = 0};
    int failed = csv_open(&csv, file, 5, columns[density]);
    for (size_t k = 0; k < p->bins && !failed; k++) {
        const double row[] = {p->edge[k], p->edge[k + 1], p->bodies[k], p->mass[k], p->value[k]};
        failed = csv_row(&csv, row);
    }
    if (!failed)
        failed = csv_close(&csv);
    csv_discard(&csv);
    return failed ? cli_failed_call(NULL) : CLI_DONE;
}

/* Bodies that all lie at the centre, or rest, have no distribution: widths of bins are 0. */
static int check_bin_widths(const struct distribution *p, bool density, const char *file)
{
    for (size_t k = 0; k < p->bins; k++)
        if (!isfinite(p->value[k]))
            return cli_failed(
                "%s: the largest %s is %g, which gives no distribution; omit this plot", file,
                density ? "radius about the density centre" : "speed", p->edge[p->bins]);
    return CLI_DONE;
}

/* The labels of the axes. */
static void name_profile_axes(const struct units *units, bool density, char x[128], char y[128])
{
    char unit[64], per[72] = "";
    if (density) {
        units_mass_density(units, unit, sizeof unit);
        units_label(x, 128, "radius about the density centre", units->length);
        units_label(y, 128, "mass density", unit);
        return;
    }
    units_speed(units, unit, sizeof unit);
    units_label(x, 128, "speed", unit);
    if (*unit)
        snprintf(per, sizeof per, "1/(%s)", unit);
    units_label(y, 128, "fraction of the bodies per unit of speed", per);
}

static int draw_profile(const struct nbody_job *job, const struct distribution *p, bool density,
                        const char *file)
{
    double x[2 * PROFILE_BINS], y[2 * PROFILE_BINS];
    char title[96], time[48], x_label[128], y_label[128];
    for (size_t k = 0; k < p->bins; k++) {
        x[2 * k] = p->edge[k];
        x[2 * k + 1] = p->edge[k + 1];
        y[2 * k] = y[2 * k + 1] = p->value[k];
    }
    if (density) /* a logarithmic axis has no 0 */
        x[0] = x[1] / 2;
    snprintf(title, sizeof title, "%s of %zu bodies, t = %s", density ? "Density" : "Speeds",
             job->bodies.n, units_value(time, sizeof time, job->bodies.time, job->units.time));
    name_profile_axes(&job->units, density, x_label, y_label);
    const struct gnuplot_line line = {title, x, y, 2 * p->bins, 1};
    struct gnuplot plot = {
        .lines = 1, .line = &line, .logarithmic = density, .logarithmic_x = density};
    plot.page = nbody_figure_page(job, title);
    plot.page.x_label = x_label;
    plot.page.y_label = y_label;
    const int failed = gnuplot_write(file, &plot) < 0;
    free((char *)(uintptr_t)plot.page.command);
    return failed ? cli_failed_call(NULL) : CLI_DONE;
}

static int write_profile(const struct nbody_job *job, const struct distribution *p, bool density,
                         const char *file)
{
    if (check_bin_widths(p, density, file) != CLI_DONE)
        return CLI_FAILED;
    return cli_has_suffix(file, ".csv") ? write_profile_table(p, density, file)
                                        : draw_profile(job, p, density, file);
}

int nbody_profile_write(const struct nbody_job *job, const double centre[3], const char *file)
{
    struct distribution p = {.bins = 0};
    struct profile_body *body = sort_profile_bodies(&job->bodies, job->bodies.pos, centre);
    if (!body)
        return CLI_FAILED;
    find_density(&p, job->bodies.n, body);
    free(body);
    return write_profile(job, &p, true, file);
}

int nbody_speeds_write(const struct nbody_job *job, const char *file)
{
    struct distribution p = {.bins = 0};
    struct profile_body *body =
        sort_profile_bodies(&job->bodies, job->bodies.vel, (const double[3]){0});
    if (!body)
        return CLI_FAILED;
    find_speed_distribution(&p, job->bodies.n, body);
    free(body);
    return write_profile(job, &p, false, file);
}

/* ---- The window. ----------------------------------------------------------------------------- */

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void find_median(size_t n, const float (*pos)[3], double median[3])
{
    float *line = cli_alloc(n, sizeof *line);
    for (int c = 0; c < 3; c++) {
        for (size_t i = 0; i < n; i++)
            line[i] = pos[i][c];
        qsort(line, n, sizeof *line, compare_floats);
        median[c] = (double)line[n / 2];
    }
    free(line);
}

/* Radii about `centre`, or speeds, of a sample; the sample has the mass of all visible bodies. */
static struct profile_body *sort_sample(const struct nbody_job *job, size_t n,
                                        const uint32_t *which, const float (*vector)[3],
                                        const double centre[3])
{
    struct profile_body *body = cli_alloc(n, sizeof *body);
    for (size_t i = 0; i < n; i++) {
        const double x = (double)vector[i][0] - centre[0], y = (double)vector[i][1] - centre[1],
                     z = (double)vector[i][2] - centre[2];
        body[i] = (struct profile_body){hypot(hypot(x, y), z), job->bodies.mass[which[i]] *
                                                                   (double)job->window.bodies /
                                                                   (double)n};
    }
    qsort(body, n, sizeof *body, compare_profile_bodies);
    return body;
}

void nbody_profiles_show(const struct nbody_job *job, size_t n, const uint32_t *which,
                         const float (*pos)[3], const float (*vel)[3])
{
    struct distribution p[2] = {{.bins = 0}};
    char unit[2][64], title[2][128];
    double centre[3];
    find_median(n, pos, centre);
    struct profile_body *body = sort_sample(job, n, which, pos, centre);
    find_density(&p[0], n, body);
    free(body);
    body = sort_sample(job, n, which, vel, (const double[3]){0});
    find_speed_distribution(&p[1], n, body);
    free(body);
    units_mass_density(&job->units, unit[0], sizeof unit[0]);
    units_label(title[0], sizeof title[0], "Mass density", unit[0]);
    units_speed(&job->units, unit[1], sizeof unit[1]);
    snprintf(title[1], sizeof title[1], "Distribution of speeds");
    const struct view_profile shown[2] = {{.title = title[0],
                                           .x = "radius about the median",
                                           .unit = job->units.length,
                                           .logarithmic = 1,
                                           .bins = p[0].bins,
                                           .edge = p[0].edge,
                                           .value = p[0].value},
                                          {.title = title[1],
                                           .x = "speed",
                                           .unit = unit[1],
                                           .bins = p[1].bins,
                                           .edge = p[1].edge,
                                           .value = p[1].value}};
    view_show_profiles(job->window.view, nbody_time(job->engine), 2, shown);
}
