/* nbody_output.c - the files that `stdcl nbody` makes.
 *
 * A name tells by its suffix what is wanted. Names are sorted and tried before anything is computed;
 * every file appears as a whole or not at all (core/outfile.h).
 * SPDX-License-Identifier: MIT
 */
#include "nbody_job.h"

static const size_t FILM_FRAMES = 100, TABLE_ROWS = 100;

static const char *const columns[] = {
    "time", "kinetic", "potential", "total", "momentum_x", "momentum_y", "momentum_z",
    "angular_momentum_x", "angular_momentum_y", "angular_momentum_z", "virial_ratio",
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* The units are those of the bodies and of G: whatever its masses, lengths and times are in. */
static const char *const force_columns[] = {
    "mass [mass]",
    "force_x [mass length/time^2]", "force_y [mass length/time^2]", "force_z [mass length/time^2]",
    "acceleration_x [length/time^2]", "acceleration_y [length/time^2]", "acceleration_z [length/time^2]",
    "potential [length^2/time^2]",
};
enum { FORCE_COLUMNS = sizeof force_columns / sizeof *force_columns };

/* ---- Before. --------------------------------------------------------------------------------- */

bool nbody_output_has(const struct nbody_job *job, enum output_kind kind)
{
    for (size_t i = 0; i < job->outputs; i++)
        if (job->output[i].kind == kind)
            return true;
    return false;
}

static enum output_kind kind_of(const char *file)
{
    return cli_has_suffix(file, ".png")   ? OUTPUT_PICTURE
           : cli_has_suffix(file, ".csv") ? OUTPUT_TABLE
           : picture_is_film(file)        ? OUTPUT_FILM
                                          : OUTPUT_SNAPSHOT;
}

bool nbody_output_draws(const struct nbody_job *job)
{
    for (size_t i = 0; i < job->output_names.n; i++) {
        const enum output_kind kind = kind_of(job->output_names.item[i]);
        if (kind == OUTPUT_PICTURE || kind == OUTPUT_FILM)
            return true;
    }
    return false;
}

static int add_output(struct nbody_job *job, const char *file, enum output_kind kind)
{
    for (size_t i = 0; i < job->outputs; i++)
        if (!strcmp(job->output[i].file, file))
            return cli_wrong("'%s' is given twice as output", file);
    if (kind == OUTPUT_TABLE && nbody_output_has(job, OUTPUT_TABLE))
        return cli_wrong("'%s' would be a second table of energies; one is possible", file);
    if (job->common.json && !strcmp(file, "-"))
        return cli_wrong("-o - or --forces - and --json would both write to the standard output; name a file");
    if (kind == OUTPUT_SNAPSHOT && !particles_format_of(file))
        return cli_wrong("%s, picture (.png), film (.mp4 .gif), table of energies (.csv)", clerror());
    job->output[job->outputs++] = (struct output){kind, file};
    return CLI_DONE;
}

/* What pictures need: libpng when this program was built, which a pixel into nothing shows, and for a
 * film ffmpeg. */
static int try_kind(const struct output *o)
{
    static const uint8_t pixel[3];
    const bool film = o->kind == OUTPUT_FILM;
    if (film && !picture_can_join())
        return cli_failed("'%s' needs the program ffmpeg, which is not in $PATH: install it, or ask for "
                          "numbered pictures with -o FILE.png --frames N", o->file);
    if ((film || o->kind == OUTPUT_PICTURE) && picture_write_png("/dev/null", 1, 1, pixel) < 0)
        return cli_failed_call(NULL);
    return CLI_DONE;
}

/* Tries the name, or that of the first frame of a series. */
static int try_output(const struct nbody_job *job, const struct output *o)
{
    int status = try_kind(o);
    if (status != CLI_DONE)
        return status;
    if (o->kind != OUTPUT_PICTURE || !job->frames)
        status = cli_check_output(o->file);
    if (status == CLI_DONE && job->frames && (o->kind == OUTPUT_PICTURE || o->kind == OUTPUT_FILM)) {
        char *first = picture_frame_name(o->file, 1);
        status = first ? cli_check_output(first) : cli_failed_call(NULL);
        free(first);
    }
    return status;
}

int nbody_output_plan(struct nbody_job *job)
{
    int status = CLI_DONE;
    job->output = cli_alloc(job->output_names.n + 2, sizeof *job->output);
    for (size_t i = 0; i < job->output_names.n && status == CLI_DONE; i++)
        status = add_output(job, job->output_names.item[i], kind_of(job->output_names.item[i]));
    if (status == CLI_DONE && job->csv)
        status = add_output(job, job->csv, OUTPUT_TABLE);
    if (status == CLI_DONE && job->forces)
        status = add_output(job, job->forces, OUTPUT_FORCES);
    if (status != CLI_DONE)
        return status;
    const bool film = nbody_output_has(job, OUTPUT_FILM);
    if (job->frames && !film && !nbody_output_has(job, OUTPUT_PICTURE))
        return cli_wrong("--frames needs to know where to: add -o FILE.png, FILE.mp4 or FILE.gif");
    if (job->every && !nbody_output_has(job, OUTPUT_TABLE))
        return cli_wrong("--every needs a table to add rows to: add --csv FILE");
    if (film && !job->frames)
        job->frames = FILM_FRAMES;
    for (size_t i = 0; i < job->outputs && status == CLI_DONE; i++)
        status = try_output(job, &job->output[i]);
    return status;
}

int nbody_output_open(struct nbody_job *job)
{
    const bool table = nbody_output_has(job, OUTPUT_TABLE);
    if (!table)
        return CLI_DONE;
    if (!job->every)
        job->every = job->total / TABLE_ROWS + 1;
    for (size_t i = 0; i < job->outputs; i++)
        if (job->output[i].kind == OUTPUT_TABLE &&
            csv_open(&job->table, job->output[i].file, COLUMNS, columns) < 0)
            return cli_failed_call(NULL);
    return CLI_DONE;
}

/* ---- During. --------------------------------------------------------------------------------- */

int nbody_output_row(struct nbody_job *job, const struct nbody_diagnostics *d)
{
    if (!nbody_output_has(job, OUTPUT_TABLE))
        return CLI_DONE;
    const double row[COLUMNS] = {
        job->time_start + d->time, d->kinetic, d->potential, d->total,
        d->momentum[0], d->momentum[1], d->momentum[2],
        d->angular_momentum[0], d->angular_momentum[1], d->angular_momentum[2], d->virial_ratio,
    };
    return csv_row(&job->table, row) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

static int write_picture(struct nbody_job *job, const char *file)
{
    const struct particles *b = &job->bodies;
    if (picture_density(&job->picture, b->n, b->mass, (const double(*)[3])b->pos, file) < 0)
        return cli_failed_call(NULL);
    return CLI_DONE;
}

/* A picture and a film may share the frames of one series; they are drawn once. */
static bool is_drawn(const struct nbody_job *job, size_t output, const char *frame)
{
    bool drawn = false;
    for (size_t i = 0; i < output && !drawn; i++) {
        char *other = picture_frame_name(job->output[i].file, job->frames_done + 1);
        drawn = other && !strcmp(other, frame) &&
                (job->output[i].kind == OUTPUT_PICTURE || job->output[i].kind == OUTPUT_FILM);
        free(other);
    }
    return drawn;
}

int nbody_output_frame(struct nbody_job *job)
{
    struct particles *b = &job->bodies;
    int status = CLI_DONE;
    if (nbody_state(job->engine, b->pos, NULL) < 0)
        return cli_failed_call(NULL);
    if (job->frames_done == 0 &&
        picture_fit(&job->picture, b->n, b->mass, (const double(*)[3])b->pos) < 0)
        return cli_failed_call(NULL); /* one scale for the whole series */
    for (size_t i = 0; i < job->outputs && status == CLI_DONE; i++) {
        if (job->output[i].kind != OUTPUT_PICTURE && job->output[i].kind != OUTPUT_FILM)
            continue;
        char *frame = picture_frame_name(job->output[i].file, job->frames_done + 1);
        if (!frame)
            return cli_failed_call(NULL);
        if (!is_drawn(job, i, frame))
            status = write_picture(job, frame);
        free(frame);
    }
    job->frames_done++;
    return status;
}

/* ---- After. ---------------------------------------------------------------------------------- */

static int write_force_rows(struct csv *csv, const struct particles *b, const double (*acc)[3],
                            const double *potential)
{
    for (size_t i = 0; i < b->n; i++) {
        const double m = b->mass[i], *a = acc[i];
        const double row[FORCE_COLUMNS] = {m, m * a[0], m * a[1], m * a[2], a[0], a[1], a[2], potential[i]};
        if (csv_row(csv, row) < 0)
            return -1;
    }
    return 0;
}

static int write_forces(const struct nbody_job *job, const char *file)
{
    struct csv csv = {.columns = 0};
    int status = cli_memory_for(job->n, 4 * sizeof(double), "forces");
    if (status != CLI_DONE)
        return status;
    double(*acc)[3] = malloc(job->n * sizeof *acc), *potential = malloc(job->n * sizeof *potential);
    if (!acc || !potential)
        status = cli_failed("not enough memory for the forces on %zu bodies", job->n);
    else if (nbody_forces(job->engine, acc, potential) < 0 ||
             csv_open(&csv, file, FORCE_COLUMNS, force_columns) < 0 ||
             write_force_rows(&csv, &job->bodies, (const double(*)[3])acc, potential) < 0 || csv_close(&csv) < 0)
        status = cli_failed_call(NULL);
    csv_discard(&csv);
    free(acc);
    free(potential);
    return status;
}

static int finish_output(struct nbody_job *job, const struct output *o)
{
    switch (o->kind) {
    case OUTPUT_SNAPSHOT:
        job->bodies.time = job->time_start + nbody_time(job->engine);
        if (particles_write(o->file, &job->bodies, NULL) < 0)
            return cli_failed_call(NULL);
        break;
    case OUTPUT_PICTURE:
        return job->frames ? CLI_DONE : write_picture(job, o->file);
    case OUTPUT_FILM:
        if (picture_join(o->file, job->frames_done, 0) < 0)
            return cli_failed_call(NULL);
        break;
    case OUTPUT_TABLE:
        if (csv_close(&job->table) < 0)
            return cli_failed_call(NULL);
        break;
    case OUTPUT_FORCES:
        return write_forces(job, o->file);
    }
    return CLI_DONE;
}

int nbody_output_finish(struct nbody_job *job)
{
    int status = CLI_DONE;
    if (job->outputs && nbody_state(job->engine, job->bodies.pos, job->bodies.vel) < 0)
        return cli_failed_call(NULL);
    if (job->interrupted && job->frames_done < job->frames)
        status = nbody_output_frame(job); /* where it was stopped */
    for (size_t i = 0; i < job->outputs && status == CLI_DONE; i++)
        status = finish_output(job, &job->output[i]);
    return status;
}

void nbody_output_discard(struct nbody_job *job)
{
    csv_discard(&job->table);
}
