/* nbody_output.c - the output files of `stdcl nbody`.
 *
 * The suffix of a name selects its kind. Names are checked before the run. Every file appears
 * complete or not at all (core/outfile.h).
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "figures.h"
#include "files.h"
#include "alloc.h"
#include "message.h"
#include "options.h"
#include "ranks.h"
#include "ranks_file.h"
#include "nbody_bodies.h"
#include "nbody_camera.h"
#include "nbody_figure.h"
#include "nbody_history.h"
#include "nbody_output.h"
#include "nbody_run.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const size_t TABLE_ROWS = 100;

static const char *const columns[NBODY_COLUMNS] = {
    "time",
    "kinetic",
    "potential",
    "total",
    "momentum_x",
    "momentum_y",
    "momentum_z",
    "angular_momentum_x",
    "angular_momentum_y",
    "angular_momentum_z",
    "virial_ratio",
    "megno",
    "megno_now",
    "lyapunov",
};

/* Units follow from the bodies and G. */
static const char *const force_columns[] = {
    "mass [mass]",
    "force_x [mass length/time^2]",
    "force_y [mass length/time^2]",
    "force_z [mass length/time^2]",
    "acceleration_x [length/time^2]",
    "acceleration_y [length/time^2]",
    "acceleration_z [length/time^2]",
    "potential [length^2/time^2]",
};
enum { FORCE_COLUMNS = sizeof force_columns / sizeof *force_columns };

/* ---- Plan. --------------------------------------------------------------------------------- */

/* Check the name of the first file on behalf of the series. */
static int add_series(struct nbody_job *job, const char *pattern)
{
    int status = nbody_series_add(job, pattern);
    if (status != CLI_DONE)
        return status;
    char *first = series_name(pattern, 0);
    status = first ? cli_ranks_check_output(first) : cli_failed_call(NULL);
    free(first);
    return status;
}

static int add_nbody_output(struct nbody_job *job, const char *file, enum cli_output_kind kind)
{
    if (series_is_wrong(file))
        return cli_wrong("'%s': the name of a series needs exactly one number field, such as %%04d",
                         file);
    if (series_is(file) && kind != CLI_OUTPUT_STATE)
        return cli_wrong("'%s': only files of bodies form such a series; --frames numbers pictures",
                         file);
    if (kind == CLI_OUTPUT_TABLE && cli_outputs_have(&job->outputs, CLI_OUTPUT_TABLE))
        return cli_wrong("'%s' would be a second table of energies; only one can be written", file);
    if (kind == CLI_OUTPUT_TABLE && cli_has_suffix(file, ".json"))
        return cli_wrong(
            "'%s' would be a table of text; give a name that ends in .csv, or use --structure FILE.json, which includes energies",
            file);
    if ((file == job->csv && cli_check_table("--csv", file) != CLI_DONE) ||
        (file == job->forces && cli_check_table("--forces", file) != CLI_DONE))
        return CLI_WRONG;
    if (kind == CLI_OUTPUT_STATE && !particles_format_of(file))
        return cli_wrong("%s, picture (.png), film (.mp4 .webm .gif), table of energies (.csv)",
                         clerror());
    if (kind == CLI_OUTPUT_STATE && particles_can_write(file) < 0)
        return cli_failed("'%s' cannot be written: %s", file, clerror());
    if (series_is(file))
        kind = CLI_OUTPUT_SERIES;
    cli_outputs_add(&job->outputs, file, kind);
    return kind == CLI_OUTPUT_SERIES ? add_series(job, file) : CLI_DONE;
}

static bool has_rows(const struct nbody_job *job)
{
    return cli_outputs_have(&job->outputs, CLI_OUTPUT_TABLE) || nbody_history_wanted(job) ||
           (job->elements && job->diag > 0);
}

int nbody_output_plan(struct nbody_job *job)
{
    const struct cli_strings *names = &job->outputs.names;
    int status;
    job->outputs.keep_frames = job->checkpoint || job->resumed;
    job->outputs.together = true;
    for (size_t i = 0; i < names->n; i++) {
        status = add_nbody_output(job, names->item[i], cli_output_kind(names->item[i]));
        if (status != CLI_DONE)
            return status;
    }
    if (job->csv && (status = add_nbody_output(job, job->csv, CLI_OUTPUT_TABLE)) != CLI_DONE)
        return status;
    if (job->forces && (status = add_nbody_output(job, job->forces, CLI_OUTPUT_OTHER)) != CLI_DONE)
        return status;
    if ((status = cli_figures_check(&job->figures)) != CLI_DONE)
        return status;
    if ((status = nbody_history_plan(job)) != CLI_DONE)
        return status;
    return cli_outputs_prepare(&job->outputs);
}

size_t nbody_output_interval(const struct nbody_job *job)
{
    const double steps = floor(job->diag / fabs(job->dt) + 0.5);
    if (!(job->diag > 0))
        return job->total / TABLE_ROWS + 1;
    return steps < 1 ? 1 : steps < 0x1p53 ? (size_t)steps : SIZE_MAX;
}

int nbody_output_open(struct nbody_job *job)
{
    if (!has_rows(job))
        return CLI_DONE;
    job->every = nbody_output_interval(job);
    for (size_t i = 0; i < job->outputs.n; i++)
        if (job->outputs.item[i].kind == CLI_OUTPUT_TABLE &&
            csv_open(&job->table, job->outputs.item[i].file,
                     job->megno ? NBODY_COLUMNS : NBODY_ENERGY_COLUMNS, columns) < 0)
            return cli_failed_call(NULL);
    return CLI_DONE;
}

/* ---- In the run. ----------------------------------------------------------------------------- */

static bool table_lacks_row(const struct nbody_job *job, double time)
{
    return cli_outputs_have(&job->outputs, CLI_OUTPUT_TABLE) &&
           (!job->table_begun || job->table_time != time);
}

bool nbody_output_lacks_row(const struct nbody_job *job)
{
    const double time = nbody_time(job->engine);
    return table_lacks_row(job, time) || nbody_history_lacks_row(job, time) ||
           nbody_orbits_lack_row(job, time);
}

/* A stop condition may end the run where a row was due: no table has two rows of one time. */
int nbody_output_row(struct nbody_job *job, const struct nbody_diagnostics *d)
{
    int status = nbody_orbits_row(job);
    if (status == CLI_DONE)
        status = nbody_history_row(job, d);
    if (status != CLI_DONE || !table_lacks_row(job, d->time) || isnan(d->total))
        return status;
    struct nbody_chaos chaos = {.time = 0};
    if (job->megno && nbody_find_chaos(job->engine, &chaos) < 0)
        return cli_failed_call(NULL);
    const struct nbody_row row = {{
        d->time,
        d->kinetic,
        d->potential,
        d->total,
        d->momentum[0],
        d->momentum[1],
        d->momentum[2],
        d->angular_momentum[0],
        d->angular_momentum[1],
        d->angular_momentum[2],
        d->virial_ratio,
        chaos.megno,
        chaos.megno_now,
        chaos.lyapunov,
    }};
    return nbody_output_again(job, &row);
}

int nbody_output_again(struct nbody_job *job, const struct nbody_row *row)
{
    if (job->checkpoint) {
        job->rows.row = cli_realloc(job->rows.row, job->rows.n + 1, sizeof *job->rows.row);
        job->rows.row[job->rows.n++] = *row;
    }
    job->table_begun = true;
    job->table_time = row->value[0];
    csv_row(&job->table, row->value); /* csv_close reports a failure */
    return CLI_DONE;
}

static int draw_current_bodies(void *job, const char *file)
{
    return nbody_camera_draw(job, file);
}

int nbody_output_frame(struct nbody_job *job)
{
    if (nbody_state(job->engine, job->bodies.pos,
                    job->colour_by == PICTURE_BY_VALUE || job->osculating ? job->bodies.vel
                                                                          : NULL) < 0)
        return cli_failed_call(NULL);
    cli_outputs_frame(&job->outputs, draw_current_bodies, job);
    return CLI_DONE;
}

/* ---- At the end. ----------------------------------------------------------------------------- */

static int write_force_rows(const char *file, const struct particles *b, const double (*acc)[3],
                            const double *potential)
{
    struct csv csv = {.columns = 0};
    int failed = csv_open(&csv, file, FORCE_COLUMNS, force_columns);
    for (size_t i = 0; i < b->n && !failed; i++) {
        const double m = b->mass[i], *a = acc[i];
        const double row[FORCE_COLUMNS] = {m,    m * a[0], m * a[1], m * a[2],
                                           a[0], a[1],     a[2],     potential[i]};
        failed = csv_row(&csv, row);
    }
    if (!failed)
        failed = csv_close(&csv);
    csv_discard(&csv);
    return failed;
}

static int write_forces(struct nbody_job *job, struct cli_output *o)
{
    int status = cli_memory_for(job->n, 4 * sizeof(double), "forces");
    if (world_reduce_status(cli_world, status == CLI_DONE ? 0 : -1) != 0)
        return CLI_FAILED;
    double(*acc)[3] = malloc(job->n * sizeof *acc), *potential = malloc(job->n * sizeof *potential);
    const bool room = world_reduce_status(cli_world, acc && potential ? 0 : -1) == 0;
    const bool summed = room && nbody_forces(job->engine, acc, potential) == 0;
    if (!room)
        status = cli_failed("out of memory for the forces on %zu bodies", job->n);
    else if (!summed && nbody_job_stopped())
        o->left_out = job->interrupted = true;
    else if (!summed)
        status = cli_failed_call(NULL);
    else
        status = cli_output_end(
            o, write_force_rows(o->file, &job->bodies, (const double(*)[3])acc, potential),
            &job->interrupted);
    free(acc);
    free(potential);
    return status;
}

static int finish_nbody_output(struct nbody_job *job, struct cli_output *o, bool at_start)
{
    switch (o->kind) {
    case CLI_OUTPUT_STATE:
        return nbody_bodies_write(job, &job->bodies, nbody_steps(job->engine), o);
    case CLI_OUTPUT_SERIES:
        return nbody_series_end(job, at_start);
    case CLI_OUTPUT_PICTURE:
        return o->single ? draw_current_bodies(job, o->file) : CLI_DONE;
    case CLI_OUTPUT_FILM:
        return cli_outputs_join(&job->outputs, o);
    case CLI_OUTPUT_TABLE:
        if (csv_close(&job->table) < 0)
            return cli_failed_call(NULL);
        break;
    case CLI_OUTPUT_OTHER:
        return write_forces(job, o);
    }
    return CLI_DONE;
}

/* A failed output keeps its status in job->outputs, and the remaining outputs follow. */
int nbody_output_finish(struct nbody_job *job)
{
    int status;
    if ((job->outputs.n || job->figures.n || job->plots.n) &&
        (status = nbody_bodies_fetch(job)) != CLI_DONE)
        return status;
    const bool at_start = job->interrupted && job->total > 0 && nbody_steps(job->engine) == 0;
    if (at_start && job->outputs.frames && !job->outputs.frames_done) {
        cli_outputs_keep_older_frames(&job->outputs);
        if ((status = nbody_output_frame(job)) != CLI_DONE)
            return status;
    } else if ((job->interrupted || *job->stopped) && !at_start &&
               job->outputs.frames_done < job->outputs.frames) {
        status = nbody_output_frame(job); /* the state at the stop */
        cli_outputs_remove_stale(&job->outputs);
        if (status != CLI_DONE)
            return status;
    }
    for (size_t i = 0; i < job->outputs.n; i++) {
        struct cli_output *o = &job->outputs.item[i];
        if (o->left_out || cli_output_keeps_older(o, at_start))
            continue;
        cli_outputs_keep_status(&job->outputs, o, finish_nbody_output(job, o, at_start));
    }
    cli_outputs_keep_older(&job->figures, at_start);
    cli_outputs_keep_status(&job->outputs, NULL, nbody_figures_draw(job));
    nbody_history_finish(job, at_start);
    return CLI_DONE;
}

void nbody_output_cut_short(struct nbody_job *job)
{
    if (!job->advanced)
        return;
    cli_outputs_cut_short(&job->outputs, &job->table);
    nbody_history_cut_short(job);
}

void nbody_output_discard(struct nbody_job *job)
{
    csv_discard(&job->table);
}
