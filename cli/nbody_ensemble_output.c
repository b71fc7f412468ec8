/* nbody_ensemble_output.c - outputs of `stdcl nbody --ensemble`, of all systems or those of
 * --systems: tables over time, snapshots, and the bodies at the end.
 *
 * A system that ends early has its last rows at the next visit, with its own time, and its bodies
 * then rest in the snapshots.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "alloc.h"
#include "files.h"
#include "message.h"
#include "nbody_bodies.h"
#include "nbody_ensemble.h"
#include "nbody_output.h"

#include <math.h>
#include <stdcl.h>
#include <stdlib.h>
#include <string.h>

/* Columns of each table with --megno, and the last of these, which other runs lack. */
enum { ENERGY_COLUMNS = 15, ENERGY_CHAOS = 3, ORBIT_COLUMNS = 13, ORBIT_CHAOS = 2 };

/* ---- Plan. ----------------------------------------------------------------------------------- */

int ensemble_output_plan(struct ensemble *e)
{
    struct nbody_job *job = e->job;
    int status;
    for (size_t i = 0; i < job->outputs.names.n; i++) {
        const enum cli_output_kind kind = cli_output_kind(job->outputs.names.item[i]);
        if (kind == CLI_OUTPUT_PICTURE || kind == CLI_OUTPUT_FILM)
            return cli_wrong(
                "-o %s: --ensemble writes only bodies, as %s, and a table of energies (.csv)",
                job->outputs.names.item[i], particles_formats());
    }
    if ((status = nbody_output_plan(job)) != CLI_DONE)
        return status;
    if (!job->elements)
        return CLI_DONE;
    if ((status = cli_check_table("--elements", job->elements)) != CLI_DONE)
        return status;
    return cli_check_output(job->elements);
}

static const char *energies_file(const struct nbody_job *job)
{
    for (size_t i = 0; i < job->outputs.n; i++)
        if (job->outputs.item[i].kind == CLI_OUTPUT_TABLE)
            return job->outputs.item[i].file;
    return NULL;
}

/* ---- Metadata of files of bodies. ------------------------------------------------------------ */

/* Name the bodies, except merged ones. Names longer than PARTICLES_NAMES_MOST are left out. */
static int set_names(struct ensemble *e)
{
    struct particles *b = &e->bodies_out;
    char *text = e->names ? cli_alloc(PARTICLES_NAMES_MOST + PARTICLES_NAME_SIZE, 2) : NULL;
    size_t used = 0;
    for (size_t i = 0; text && i < b->n && used <= PARTICLES_NAMES_MOST; i++) {
        char name[PARTICLES_NAME_SIZE];
        const bool has = !ensemble_is_merged(e, i) &&
                         ensemble_body_name(e, e->chosen[i / e->bodies], i % e->bodies, name);
        used += (size_t)sprintf(text + used, "%s%s", i ? " " : "", has ? name : "-");
    }
    const int set =
        particles_set_note(b, NOTE_names, used <= PARTICLES_NAMES_MOST && used ? text : NULL);
    free(text);
    return set < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

static bool writes_bodies(const struct nbody_job *job)
{
    bool any = job->snapshots > 0;
    for (size_t i = 0; i < job->outputs.n; i++)
        any |= job->outputs.item[i].kind == CLI_OUTPUT_STATE;
    return any;
}

static int set_notes(struct ensemble *e)
{
    int status = nbody_metadata_set_ensemble(e->job, &e->bodies_out);
    if (status != CLI_DONE)
        return status;
    if ((status = set_names(e)) != CLI_DONE)
        return status;
    if (e->names && !e->bodies_out.note[NOTE_names] && writes_bodies(e->job) &&
        !e->job->common.quiet)
        cli_warn("%zu systems have names of more than %d bytes, which files of bodies do not hold; "
                 "choose fewer by --systems",
                 e->chosen_n, PARTICLES_NAMES_MOST);
    return CLI_DONE;
}

/* ---- Tables. --------------------------------------------------------------------------------- */

int ensemble_output_open(struct ensemble *e)
{
    static const char *const energies[] = {"system",
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
                                           "lyapunov"};
    static const char *const orbits[] = {
        "system", "body",       "semi_major",   "eccentricity", "inclination",
        "node",   "pericentre", "mean_anomaly", "period",       "energy_error",
        "time",   "megno",      "lyapunov"};
    const char *columns[ORBIT_COLUMNS + 1];
    struct nbody_job *job = e->job;
    const char *file = energies_file(job);
    e->last_row = SIZE_MAX;
    job->n = e->bodies_out.n;
    job->bodies.also = e->bodies_out.also;
    job->every = file || (job->elements && job->diag > 0) ? nbody_output_interval(job) : 0;
    const size_t energies_n = ENERGY_COLUMNS - (e->chaos ? 0 : ENERGY_CHAOS),
                 orbits_n = ORBIT_COLUMNS - (e->chaos ? 0 : ORBIT_CHAOS);
    memcpy(columns, orbits, sizeof orbits);
    columns[orbits_n] = "name";
    e->orbits.named = job->elements && e->names;
    if ((file && csv_open(&e->energies.csv, file, energies_n, energies) < 0) ||
        (job->elements &&
         csv_open(&e->orbits.csv, job->elements, orbits_n + e->orbits.named, columns) < 0))
        return cli_failed_call(NULL);
    const int status = set_notes(e);
    return status == CLI_DONE ? nbody_series_plan(job) : status;
}

/* ---- Rows. ----------------------------------------------------------------------------------- */

static struct nbody_diagnostics diagnose_system(const struct ensemble *e, size_t k)
{
    const struct particles *b = &e->bodies_out;
    const size_t star = k * e->bodies;
    struct nbody_diagnostics d = {.kinetic = 0};
    for (size_t i = star; i < star + e->bodies; i++) {
        const double m = b->mass[i], *x = b->pos[i], *v = b->vel[i];
        d.kinetic += m / 2 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        for (int c = 0; c < 3; c++) {
            const int y = (c + 1) % 3, z = (c + 2) % 3;
            d.momentum[c] += m * v[c];
            d.angular_momentum[c] += m * (x[y] * v[z] - x[z] * v[y]);
        }
        for (size_t j = star; j < i && m > 0; j++) {
            const double *o = b->pos[j], dx = x[0] - o[0], dy = x[1] - o[1], dz = x[2] - o[2];
            if (b->mass[j] > 0)
                d.potential -= e->job->G * m * b->mass[j] / sqrt(dx * dx + dy * dy + dz * dz);
        }
    }
    d.total = d.kinetic + d.potential;
    d.virial_ratio = d.potential < 0 ? -2 * d.kinetic / d.potential : 0;
    return d;
}

/* Time of the state of the chosen system k. */
static double time_of_system(const struct ensemble *e, size_t k)
{
    return e->job->time_start + e->system[k].time;
}

/* Indicators of chaos of the chosen system k; 0 without --megno, when tables lack these columns. */
static struct nbody_chaos chaos_of_system(const struct ensemble *e, size_t k)
{
    return e->chaos ? e->chaos[k] : (struct nbody_chaos){.time = 0};
}

static int write_energy_row(struct ensemble *e, size_t k, const struct nbody_diagnostics *d)
{
    const struct nbody_chaos chaos = chaos_of_system(e, k);
    const double row[ENERGY_COLUMNS] = {(double)e->chosen[k] + 1,
                                        time_of_system(e, k),
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
                                        chaos.lyapunov};
    return ensemble_table_add(e, &e->energies, row);
}

/* Orbits of the planets of the chosen system k about its star. */
static int write_orbit_rows(struct ensemble *e, size_t k, const struct nbody_diagnostics *d)
{
    const struct particles *b = &e->bodies_out;
    const size_t star = k * e->bodies, system = e->chosen[k];
    const double lost = e->system[k].energy_lost,
                 error = fabs((d->total + lost) / e->before[system] - 1);
    const struct nbody_chaos chaos = chaos_of_system(e, k);
    for (size_t i = star + 1; i < star + e->bodies; i++) {
        double x[3], v[3];
        for (int c = 0; c < 3; c++) {
            x[c] = b->pos[i][c] - b->pos[star][c];
            v[c] = b->vel[i][c] - b->vel[star][c];
        }
        const struct nbody_elements o =
            nbody_find_elements(e->job->G * (b->mass[star] + b->mass[i]), x, v);
        const double row[ORBIT_COLUMNS] = {(double)system + 1,
                                           (double)(i - star) + 1,
                                           o.semi_major,
                                           o.eccentricity,
                                           o.inclination,
                                           o.node,
                                           o.pericentre,
                                           o.mean_anomaly,
                                           o.period,
                                           error,
                                           time_of_system(e, k),
                                           chaos.megno,
                                           chaos.lyapunov};
        const int status =
            ensemble_is_merged(e, i) ? CLI_DONE : ensemble_table_add(e, &e->orbits, row);
        if (status != CLI_DONE)
            return status;
    }
    return CLI_DONE;
}

/* Write rows of the chosen system k to each table of `rows` that lacks its last rows; and, at the
 * end of a run without --diag, to the table of orbits. */
static int write_system_rows(struct ensemble *e, size_t k, int rows, bool end_orbits)
{
    const int wanted = rows & ~e->ended[k];
    const struct nbody_diagnostics d = diagnose_system(e, k);
    const int status = wanted & ROW_OF_ENERGIES ? write_energy_row(e, k, &d) : CLI_DONE;
    if (e->system[k].status != NBODY_SYSTEM_RUNS)
        e->ended[k] |= (uint8_t)rows;
    return status == CLI_DONE && (wanted & ROW_OF_ORBITS || end_orbits) ? write_orbit_rows(e, k, &d)
                                                                        : status;
}

/* Without --diag, orbits are those at the end only, of all chosen systems. */
static int write_rows(struct ensemble *e, size_t step, bool end)
{
    const bool orbits = e->job->elements && e->job->diag > 0;
    const int rows = (energies_file(e->job) ? ROW_OF_ENERGIES : 0) | (orbits ? ROW_OF_ORBITS : 0);
    for (size_t k = 0; k < e->chosen_n; k++) {
        const int status = write_system_rows(e, k, rows, e->job->elements && !orbits && end);
        if (status != CLI_DONE)
            return status;
    }
    e->last_row = step;
    return CLI_DONE;
}

/* ---- In the run. ----------------------------------------------------------------------------- */

static bool rows_are_due(const struct ensemble *e, size_t step, bool end)
{
    const struct nbody_job *job = e->job;
    const bool row = job->every && (end || step % job->every == 0) && e->last_row != step;
    return row || (end && job->elements && !(job->diag > 0));
}

size_t ensemble_output_next(const struct ensemble *e, size_t step)
{
    const struct nbody_job *job = e->job;
    const size_t row = job->every ? step + (job->every - step % job->every) : SIZE_MAX,
                 snapshot = nbody_series_next(job);
    return row < snapshot ? row : snapshot;
}

int ensemble_output_visit(struct ensemble *e, bool end)
{
    struct nbody_job *job = e->job;
    const size_t step = nbody_ensemble_steps(e->engine);
    const bool rows = rows_are_due(e, step, end),
               snapshot = end ? nbody_series_lacks(job, step) : nbody_series_next(job) == step;
    int status;
    if (!rows && !snapshot && !end)
        return CLI_DONE;
    if ((status = ensemble_fetch(e)) != CLI_DONE)
        return status;
    if ((status = set_names(e)) != CLI_DONE)
        return status;
    if (rows && (status = write_rows(e, step, end)) != CLI_DONE)
        return status;
    if (snapshot)
        nbody_series_write_bodies(job, &e->bodies_out, step);
    return CLI_DONE;
}

/* ---- At the end. ----------------------------------------------------------------------------- */

void ensemble_output_finish(struct ensemble *e)
{
    struct nbody_job *job = e->job;
    for (size_t i = 0; i < job->outputs.n; i++) {
        struct cli_output *o = &job->outputs.item[i];
        int status = CLI_DONE;
        if (o->kind == CLI_OUTPUT_STATE)
            status = nbody_bodies_write(job, &e->bodies_out, nbody_ensemble_steps(e->engine), o);
        else if (o->kind == CLI_OUTPUT_TABLE && csv_close(&e->energies.csv) < 0)
            status = cli_failed_call(NULL);
        cli_outputs_keep_status(&job->outputs, o, status);
    }
    const bool failed = job->elements && csv_close(&e->orbits.csv) < 0;
    cli_outputs_keep_status(&job->outputs, NULL, failed ? cli_failed_call(NULL) : CLI_DONE);
}

void ensemble_output_cut_short(struct ensemble *e)
{
    if (!e->job->advanced)
        return;
    cli_outputs_cut_short(&e->job->outputs, &e->energies.csv);
    if (e->job->diag > 0 && csv_close(&e->orbits.csv) < 0)
        (void)cli_failed_call(NULL);
}

void ensemble_output_discard(struct ensemble *e)
{
    csv_discard(&e->energies.csv);
    csv_discard(&e->orbits.csv);
    free(e->energies.row);
    free(e->orbits.row);
}
