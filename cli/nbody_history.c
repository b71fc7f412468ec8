/* nbody_history.c - structure of the system over time: --structure and the figures of --plot.
 *
 * A row holds energies, density centre, core radius, half-mass radius, relaxation time, escapers
 * and binaries, then five numbers per Lagrangian shell. Orbits of binaries appear only in JSON
 * ("orbits"). Rows stay in memory until the end and are saved in checkpoints. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "figures.h"
#include "files.h"
#include "interrupt.h"
#include "json.h"
#include "alloc.h"
#include "message.h"
#include "options.h"
#include "nbody_bodies.h"
#include "nbody_fields.h"
#include "nbody_page.h"
#include "nbody_history.h"
#include "nbody_profile.h"
#include "nbody_run.h"

#include "core/outfile.h"
#include "core/device_info.h"
#include "formats/gnuplot.h"
#include "formats/units.h"
#include "formats/number.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const column_names[] = {"time",
                                           "kinetic",
                                           "potential",
                                           "total",
                                           "virial_ratio",
                                           "centre_x",
                                           "centre_y",
                                           "centre_z",
                                           "velocity_x",
                                           "velocity_y",
                                           "velocity_z",
                                           "core_radius",
                                           "half_mass_radius",
                                           "relaxation_time",
                                           "escapers",
                                           "binaries",
                                           "momentum_x",
                                           "momentum_y",
                                           "momentum_z",
                                           "angular_momentum_x",
                                           "angular_momentum_y",
                                           "angular_momentum_z"};
enum { FIXED_COLUMNS = sizeof column_names / sizeof *column_names, TOTAL = 3, PER_SHELL = 5 };
static const char *const shell_names[PER_SHELL] = {"radius", "mean_mass", "dispersion_radial",
                                                   "dispersion_tangential", "anisotropy"};
static const double default_fractions[] = {0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9};

/* ---- Options. -------------------------------------------------------------------------------- */

bool nbody_read_fractions(const char *text, void *to, char *why, size_t size)
{
    struct nbody_fractions *f = to;
    for (f->n = 0; f->n < NBODY_FRACTIONS; f->n++) {
        const size_t length = strcspn(text, ",");
        double *value = &f->value[f->n];
        if (number_read(text, length, value) != NUMBER_OK ||
            !(*value > (f->n ? value[-1] : 0) && *value <= 1))
            break;
        text += length;
        if (!*text++)
            return f->n++, true;
    }
    snprintf(why, size,
             "give up to %d ascending numbers above 0 and at most 1, such as 0.1,0.5,0.9",
             NBODY_FRACTIONS);
    return false;
}

static bool name_begins(const char *file, const char *word)
{
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    return strncmp(name, word, strlen(word)) == 0;
}

/* True if a plot is of the bodies at the end of the run; else it needs rows over time. */
static bool plots_the_end(const char *file)
{
    return name_begins(file, "profile") || name_begins(file, "speeds");
}

static int check_plot(const char *file)
{
    if (plots_the_end(file))
        return nbody_profile_check(file);
    if (!name_begins(file, "energy") && !name_begins(file, "energies") &&
        !name_begins(file, "lagrange"))
        return cli_wrong(
            "--plot: the name '%s' must begin with energy (its error), energies, lagrange, profile or speeds, which selects the figure: energy.svg",
            file);
    return cli_figure_check(file);
}

int nbody_history_plan(struct nbody_job *job)
{
    int status = CLI_DONE;
    if (!job->fractions.n) {
        job->fractions.n = sizeof default_fractions / sizeof *default_fractions;
        memcpy(job->fractions.value, default_fractions, sizeof default_fractions);
    }
    job->history.columns = FIXED_COLUMNS + PER_SHELL * job->fractions.n;
    if (job->structure && !cli_has_suffix(job->structure, ".csv") &&
        !cli_has_suffix(job->structure, ".json"))
        return cli_wrong("--structure: '%s' must end in .csv or .json", job->structure);
    if (job->event_file && cli_check_table("--events", job->event_file) != CLI_DONE)
        return CLI_WRONG;
    if (job->event_file && (status = cli_check_output(job->event_file)) != CLI_DONE)
        return status;
    if (job->elements && cli_check_table("--elements", job->elements) != CLI_DONE)
        return CLI_WRONG;
    if (job->structure && (status = cli_check_output(job->structure)) != CLI_DONE)
        return status;
    for (size_t i = 0; i < job->plots.n; i++)
        if ((status = check_plot(job->plots.item[i])) != CLI_DONE)
            return status;
    return job->elements ? cli_check_output(job->elements) : CLI_DONE;
}

bool nbody_history_wanted(const struct nbody_job *job)
{
    bool plot = false;
    for (size_t i = 0; i < job->plots.n; i++)
        plot |= !plots_the_end(job->plots.item[i]);
    return job->structure || plot;
}

/* ---- Rows. ----------------------------------------------------------------------------------- */

static json_t *orbit_json(const struct nbody_elements *o)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "semi_major",
                     cli_json_real(o->semi_major), "eccentricity", cli_json_real(o->eccentricity),
                     "inclination", cli_json_real(o->inclination), "node", cli_json_real(o->node),
                     "pericentre", cli_json_real(o->pericentre), "mean_anomaly",
                     cli_json_real(o->mean_anomaly), "period", cli_json_real(o->period));
}

/* Append the binaries of a row as a line of JSON. */
static void add_binaries(struct nbody_job *job, const struct nbody_structure *s)
{
    json_t *all = json_array();
    for (size_t i = 0; i < s->binaries; i++) {
        json_t *one = orbit_json(&s->binary[i].orbit);
        json_object_set_new(one, "first", json_integer((json_int_t)s->binary[i].first + 1));
        json_object_set_new(one, "second", json_integer((json_int_t)s->binary[i].second + 1));
        json_array_append_new(all, one);
    }
    char *line = json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(17));
    const size_t length = line ? strlen(line) : 0;
    job->history.text = cli_realloc(job->history.text, job->history.bytes + length + 1, 1);
    if (line)
        memcpy(job->history.text + job->history.bytes, line, length);
    job->history.bytes += length;
    job->history.text[job->history.bytes++] = '\n';
    free(line);
    json_decref(all);
}

static void add_numbers(struct nbody_job *job, const struct nbody_diagnostics *d,
                        const struct nbody_structure *s, const struct nbody_shell *shell)
{
    struct nbody_history *h = &job->history;
    h->value = cli_realloc(h->value, (h->n + 1) * h->columns, sizeof *h->value);
    double *row = h->value + h->columns * h->n++;
    const double before[FIXED_COLUMNS] = {d->time,
                                          d->kinetic,
                                          d->potential,
                                          d->total,
                                          d->virial_ratio,
                                          s->centre[0],
                                          s->centre[1],
                                          s->centre[2],
                                          s->velocity[0],
                                          s->velocity[1],
                                          s->velocity[2],
                                          s->core_radius,
                                          s->half_mass_radius,
                                          s->relaxation_time,
                                          (double)s->escapers,
                                          (double)s->binaries,
                                          d->momentum[0],
                                          d->momentum[1],
                                          d->momentum[2],
                                          d->angular_momentum[0],
                                          d->angular_momentum[1],
                                          d->angular_momentum[2]};
    memcpy(row, before, sizeof before);
    for (size_t k = 0; k < job->fractions.n; k++) {
        const double five[PER_SHELL] = {shell[k].radius, shell[k].mean_mass, shell[k].radial,
                                        shell[k].tangential, shell[k].anisotropy};
        memcpy(row + FIXED_COLUMNS + PER_SHELL * k, five, sizeof five);
    }
}

/* True if the structure is found on the first device: it is no CPU, which gains nothing over the
 * host, and all devices have double precision. */
static bool uses_device(const struct nbody_job *job)
{
    cl_device_type type = 0;
    bool doubles = clgetndev(job->context) > 0;
    for (unsigned dev = 0; doubles && dev < clgetndev(job->context); dev++) {
        cl_uint width = 0;
        doubles = device_ask(job->context, dev, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE,
                             sizeof width, &width, "nbody") == 0 &&
                  width > 0;
    }
    return doubles &&
           device_ask(job->context, 0, CL_DEVICE_TYPE, sizeof type, &type, "nbody") == 0 &&
           !(type & CL_DEVICE_TYPE_CPU);
}

int nbody_structure_find(const struct nbody_job *job, const double *potential, size_t shells,
                         struct nbody_shell *shell, struct nbody_structure *s)
{
    const struct particles *b = &job->bodies;
    const double(*pos)[3] = (const double(*)[3])b->pos, (*vel)[3] = (const double(*)[3])b->vel;
    if (uses_device(job)) {
        const int status = nbody_find_structure_device(job->context, 0, b->n, job->G, b->mass, pos,
                                                       vel, potential, shells, shell, s);
        if (status == 0 || clerrno != ENOMEM)
            return status;
    }
    return nbody_find_structure(b->n, job->G, b->mass, pos, vel, potential, shells, shell, s);
}

/* with more bodies, a row takes longer than a user waits after Ctrl-C */
enum { QUICK = 1 << 18 };

bool nbody_history_lacks_row(const struct nbody_job *job, double time)
{
    const struct nbody_history *h = &job->history;
    return nbody_history_wanted(job) && (h->n == 0 || h->value[(h->n - 1) * h->columns] != time);
}

int nbody_history_row(struct nbody_job *job, const struct nbody_diagnostics *d)
{
    struct particles *b = &job->bodies;
    struct nbody_structure s;
    struct nbody_shell shell[NBODY_FRACTIONS] = {{0}};
    if (!nbody_history_lacks_row(job, d->time) || isnan(d->total) ||
        (b->n > QUICK && cli_interrupted()))
        return CLI_DONE;
    for (size_t k = 0; k < job->fractions.n; k++)
        shell[k].fraction = job->fractions.value[k];
    double *phi = malloc(b->n * sizeof *phi);
    if (!phi)
        return cli_failed("out of memory for the potentials of %zu bodies", b->n);
    const int failed = nbody_forces(job->engine, NULL, phi) < 0 ||
                       nbody_state(job->engine, b->pos, b->vel) < 0 ||
                       nbody_structure_find(job, nbody_fields_bind(&job->fields) ? NULL : phi,
                                            job->fractions.n, shell, &s) < 0;
    free(phi);
    if (failed)
        return nbody_job_stopped() ? CLI_DONE : cli_failed_call(NULL);
    add_numbers(job, d, &s, shell);
    add_binaries(job, &s);
    free(s.binary);
    return CLI_DONE;
}

/* ---- Final output. --------------------------------------------------------------------------- */

static void column_name(const struct nbody_job *job, size_t column, char text[64])
{
    const size_t shell = column < FIXED_COLUMNS ? 0 : (column - FIXED_COLUMNS) / PER_SHELL;
    if (column < FIXED_COLUMNS)
        snprintf(text, 64, "%s", column_names[column]);
    else
        snprintf(text, 64, "%s_%g", shell_names[(column - FIXED_COLUMNS) % PER_SHELL],
                 job->fractions.value[shell]);
}

static int write_structure_csv(const struct nbody_job *job)
{
    const struct nbody_history *h = &job->history;
    const char *column[FIXED_COLUMNS + PER_SHELL * NBODY_FRACTIONS];
    char text[FIXED_COLUMNS + PER_SHELL * NBODY_FRACTIONS][64];
    struct csv csv = {.columns = 0};
    for (size_t c = 0; c < h->columns; c++) {
        column_name(job, c, text[c]);
        column[c] = text[c];
    }
    int failed = csv_open(&csv, job->structure, h->columns, column);
    for (size_t i = 0; i < h->n && !failed; i++)
        failed = csv_row(&csv, h->value + i * h->columns);
    if (!failed)
        failed = csv_close(&csv);
    csv_discard(&csv);
    return failed ? cli_failed_call(NULL) : CLI_DONE;
}

/* Write a row as an object on one line; `line` holds its binaries. */
static void write_row_json(FILE *fp, const struct nbody_job *job, size_t i, const char *line,
                           size_t length)
{
    const struct nbody_history *h = &job->history;
    char name[64], number[NUMBER_SIZE];
    fputs(i ? ",\n {" : " {", fp);
    for (size_t c = 0; c < h->columns; c++) {
        const double value = h->value[i * h->columns + c];
        column_name(job, c, name);
        number_print(number, value);
        fprintf(fp, "\"%s\": %s, ", name, isfinite(value) ? number : "null");
    }
    fprintf(fp, "\"orbits\": %.*s}", (int)length, line);
}

static int write_structure_json(const struct nbody_job *job)
{
    const struct nbody_history *h = &job->history;
    const char *line = h->text;
    struct outfile out;
    if (outfile_open(&out, job->structure) < 0)
        return cli_failed_call(NULL);
    fputs("[\n", out.fp);
    for (size_t i = 0; i < h->n; i++) {
        const size_t length =
            (size_t)((const char *)memchr(line, '\n', h->bytes - (size_t)(line - h->text)) - line);
        write_row_json(out.fp, job, i, line, length);
        line += length + 1;
    }
    fputs("\n]\n", out.fp);
    return outfile_commit(&out) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

/* Draw lines with the time as x; `title`, the label of y and its unit. */
static int draw_lines(const struct nbody_job *job, const char *file, struct gnuplot *plot,
                      const char *title, const char *y_label, const char *y_unit)
{
    char x[64], y[128];
    units_label(x, sizeof x, "time", job->units.time);
    units_label(y, sizeof y, y_label, y_unit);
    plot->page = nbody_figure_page(job, title);
    plot->page.x_label = x;
    plot->page.y_label = y;
    const int failed = gnuplot_write(file, plot) < 0;
    free((char *)(uintptr_t)plot->page.command);
    return failed ? cli_failed_call(NULL) : CLI_DONE;
}

/* Kinetic, potential and total energy. */
static int draw_energies(const struct nbody_job *job, const char *file)
{
    const struct nbody_history *h = &job->history;
    struct gnuplot_line line[3];
    char unit[64];
    for (size_t k = 0; k < 3; k++)
        line[k] = (struct gnuplot_line){column_names[k + 1], h->value, h->value + k + 1, h->n,
                                        h->columns};
    units_energy(&job->units, unit, sizeof unit);
    return draw_lines(job, file, &(struct gnuplot){.lines = 3, .line = line}, "Energies", "energy",
                      unit);
}

/* |E - E0| / |E0| on a logarithmic axis; |E - E0| if E0 is 0. */
static int draw_energy_error(const struct nbody_job *job, const char *file)
{
    const struct nbody_history *h = &job->history;
    double *error = cli_alloc(h->n, sizeof *error), *time = cli_alloc(h->n, sizeof *time);
    const double start = h->n ? h->value[TOTAL] : 0;
    for (size_t i = 0; i < h->n; i++) {
        time[i] = h->value[i * h->columns];
        error[i] = fabs(h->value[i * h->columns + TOTAL] - start) / (start != 0 ? fabs(start) : 1);
    }
    const struct gnuplot_line line = {"|E - E0| / |E0|", time, error, h->n, 1};
    const int status =
        draw_lines(job, file, &(struct gnuplot){.lines = 1, .line = &line, .logarithmic = true},
                   "Energy error", start != 0 ? "relative energy error" : "energy error", NULL);
    free(error);
    free(time);
    return status;
}

static int draw_radii(const struct nbody_job *job, const char *file)
{
    const struct nbody_history *h = &job->history;
    struct gnuplot_line line[NBODY_FRACTIONS];
    char text[NBODY_FRACTIONS][64];
    for (size_t k = 0; k < job->fractions.n; k++) {
        snprintf(text[k], sizeof text[k], "%g %% of the mass", 100 * job->fractions.value[k]);
        line[k] = (struct gnuplot_line){text[k], h->value, h->value + FIXED_COLUMNS + PER_SHELL * k,
                                        h->n, h->columns};
    }
    return draw_lines(
        job, file, &(struct gnuplot){.lines = job->fractions.n, .line = line, .logarithmic = true},
        "Lagrangian radii", "radius about the density centre", job->units.length);
}

static int write_density_profile(const struct nbody_job *job, const char *file)
{
    struct nbody_structure s;
    if (nbody_structure_find(job, NULL, 0, NULL, &s) < 0)
        return cli_failed_call(NULL);
    free(s.binary);
    return nbody_profile_write(job, s.centre, file);
}

static int draw_plot(void *of, const char *file)
{
    struct nbody_job *job = of;
    if (name_begins(file, "profile"))
        return write_density_profile(job, file);
    if (name_begins(file, "speeds"))
        return nbody_speeds_write(job, file);
    if (name_begins(file, "energies"))
        return draw_energies(job, file);
    return name_begins(file, "energy") ? draw_energy_error(job, file) : draw_radii(job, file);
}

static int write_structure(struct nbody_job *job)
{
    return cli_has_suffix(job->structure, ".json") ? write_structure_json(job)
                                                   : write_structure_csv(job);
}

/* Write a file, if wanted. If it fails, or an older file is kept, the name becomes NULL and is not
 * reported. */
static void end_file(struct nbody_job *job, const char **name, bool at_start,
                     int (*write)(struct nbody_job *))
{
    struct cli_strings names = {.n = *name ? 1 : 0, .item = name};
    cli_outputs_keep_older(&names, at_start);
    *name = names.n ? *name : NULL;
    const int status = *name ? write(job) : CLI_DONE;
    if (status != CLI_DONE)
        *name = NULL;
    cli_outputs_keep_status(&job->outputs, NULL, status);
}

void nbody_history_finish(struct nbody_job *job, bool at_start)
{
    end_file(job, &job->structure, at_start, write_structure);
    cli_outputs_keep_older(&job->plots, at_start);
    cli_outputs_keep_status(&job->outputs, NULL, cli_figures_draw(&job->plots, draw_plot, job));
    end_file(job, &job->event_file, at_start, nbody_events_write);
    end_file(job, &job->elements, at_start, nbody_orbits_write);
}

void nbody_history_cut_short(struct nbody_job *job)
{
    if (job->structure && job->history.n)
        (void)write_structure(job);
    if (job->event_file)
        (void)nbody_events_write(job);
    if (job->elements && job->orbits.n)
        (void)nbody_orbits_write(job);
}

void nbody_history_report(const struct nbody_job *job, FILE *fp)
{
    const char *const files[] = {job->structure, job->elements, job->event_file};
    static const char *const names[] = {"structure", "elements", "events"};
    for (int i = 0; i < 3; i++)
        if (files[i])
            fprintf(fp, "%-14s%s\n", names[i], files[i]);
    for (size_t i = 0; i < job->plots.n; i++)
        fprintf(fp, "%-14s%s\n", "figure", job->plots.item[i]);
    for (size_t i = 0; i < job->figures.n; i++)
        fprintf(fp, "%-14s%s\n", "figure", job->figures.item[i]);
}

void nbody_history_free(struct nbody_job *job)
{
    free(job->history.value);
    free(job->history.text);
    cli_strings_free(&job->plots);
    cli_strings_free(&job->figures);
}
