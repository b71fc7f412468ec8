/* life_output.c - the files that `stdcl life` makes.
 *
 * The suffix of a name says what is to be written. All names are checked before anything is computed; every
 * file appears as a whole or not at all (core/outfile.h).
 * SPDX-License-Identifier: MIT
 */
#include "life_job.h"

static const size_t FILM_FRAMES = 100;

static const char *const columns[] = {"generation", "population"};

/* ---- Before. --------------------------------------------------------------------------------- */

bool life_output_has(const struct life_job *job, enum life_output_kind kind)
{
    for (size_t i = 0; i < job->outputs; i++)
        if (job->output[i].kind == kind)
            return true;
    return false;
}

static bool is_drawn_in_frames(const struct life_output *o)
{
    return o->kind == LIFE_OUTPUT_PICTURE || o->kind == LIFE_OUTPUT_FILM;
}

static enum life_output_kind kind_of(const char *file)
{
    return cli_has_suffix(file, ".png")   ? LIFE_OUTPUT_PICTURE
           : cli_has_suffix(file, ".csv") ? LIFE_OUTPUT_TABLE
           : picture_is_film(file)        ? LIFE_OUTPUT_FILM
                                          : LIFE_OUTPUT_PATTERN;
}

static int add_output(struct life_job *job, const char *file, enum life_output_kind kind)
{
    for (size_t i = 0; i < job->outputs; i++)
        if (!strcmp(job->output[i].file, file))
            return cli_wrong("'%s' is given twice as output", file);
    if (kind == LIFE_OUTPUT_TABLE && life_output_has(job, LIFE_OUTPUT_TABLE))
        return cli_wrong("'%s' would be a second table of populations; one is possible", file);
    if (!strcmp(file, "-") && (job->common.json || job->watch))
        return cli_wrong("-o - and %s would both write to the standard output; name a file",
                         job->watch ? "--watch" : "--json");
    if (kind == LIFE_OUTPUT_PATTERN && !life_format_of(file))
        return cli_wrong("%s, film (.mp4 .gif), table of populations (.csv)", clerror());
    job->output[job->outputs++] = (struct life_output){kind, file};
    return CLI_DONE;
}

/* Pictures need libpng when this program is built, so a picture of one cell is written to nowhere to see. Films need
 * ffmpeg. */
static int try_kind(const struct life_output *o)
{
    const struct life_pattern cell = {.width = 1, .height = 1};
    if (o->kind == LIFE_OUTPUT_FILM && !picture_can_join())
        return cli_failed("'%s' needs the program ffmpeg, which is not in $PATH: install it, or ask for "
                          "numbered pictures with -o FILE.png --frames N",
                          o->file);
    if (is_drawn_in_frames(o) && life_pattern_write_png("/dev/null", &cell, 1) < 0)
        return cli_failed_call(NULL);
    return CLI_DONE;
}

/* Tries the name, or that of the first frame of a series. */
static int try_output(const struct life_job *job, const struct life_output *o)
{
    int status = try_kind(o);
    if (status != CLI_DONE)
        return status;
    if (o->kind != LIFE_OUTPUT_PICTURE || !job->frames)
        status = cli_check_output(o->file);
    if (status == CLI_DONE && job->frames && is_drawn_in_frames(o)) {
        char *first = picture_frame_name(o->file, 1);
        status = first ? cli_check_output(first) : cli_failed_call(NULL);
        free(first);
    }
    return status;
}

int life_output_plan(struct life_job *job)
{
    int status = CLI_DONE;
    job->output = cli_alloc(job->output_names.n + 1, sizeof *job->output);
    for (size_t i = 0; i < job->output_names.n && status == CLI_DONE; i++)
        status = add_output(job, job->output_names.item[i], kind_of(job->output_names.item[i]));
    if (status == CLI_DONE && job->csv)
        status = add_output(job, job->csv, LIFE_OUTPUT_TABLE);
    if (status != CLI_DONE)
        return status;
    const bool film = life_output_has(job, LIFE_OUTPUT_FILM);
    if (film && (job->until_stable || job->watch))
        return cli_wrong(
            "a film needs to know the last generation: leave %s out, or say --generations N only",
            job->watch ? "--watch" : "--until-stable");
    if (job->frames && !film && !life_output_has(job, LIFE_OUTPUT_PICTURE))
        return cli_wrong("--frames needs to know where to: add -o FILE.png, FILE.mp4 or FILE.gif");
    if (film && !job->frames)
        job->frames = FILM_FRAMES;
    for (size_t i = 0; i < job->outputs && status == CLI_DONE; i++)
        status = try_output(job, &job->output[i]);
    return status;
}

int life_output_open(struct life_job *job)
{
    for (size_t i = 0; i < job->outputs; i++)
        if (job->output[i].kind == LIFE_OUTPUT_TABLE &&
            csv_open(&job->table, job->output[i].file, 2, columns) < 0)
            return cli_failed_call(NULL);
    return CLI_DONE;
}

/* ---- During. --------------------------------------------------------------------------------- */

int life_output_row(struct life_job *job, const struct life_sample *sample)
{
    if (!life_output_has(job, LIFE_OUTPUT_TABLE))
        return CLI_DONE;
    const double row[2] = {(double)(job->started + sample->generation), (double)sample->population};
    return csv_row(&job->table, row) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

/* The whole grid as a pattern, for a writer; its cells are the caller's to free. */
static int present(const struct life_job *job, struct life_cells *cells, struct life_pattern *p)
{
    life *lf = job->engine_of_run;
    if (life_cells_alloc(cells, life_width(lf), life_height(lf)) < 0)
        return cli_failed_call(NULL);
    if (life_get(lf, 0, 0, cells) < 0) {
        life_cells_free(cells);
        return cli_failed_call(NULL);
    }
    *p = (struct life_pattern){.width = cells->width,
                               .height = cells->height,
                               .columns = cells->width,
                               .rows = cells->height,
                               .stride = cells->stride,
                               .word = cells->word,
                               .placed = true,
                               .x = -(long long)(cells->width / 2),
                               .y = -(long long)(cells->height / 2),
                               .generation = life_job_generation(job)};
    snprintf(p->rule, sizeof p->rule, "%s", job->rule);
    snprintf(p->bounds, sizeof p->bounds, "%c%zu,%zu", job->bounds == LIFE_PLANE ? 'P' : 'T', cells->width,
             cells->height);
    return CLI_DONE;
}

static int write_frame(const struct life_job *job, const struct life_pattern *p, size_t output)
{
    char *frame = picture_frame_name(job->output[output].file, job->frames_done + 1);
    int status = frame ? CLI_DONE : cli_failed_call(NULL);
    bool drawn = false; /* a picture and a film may share the frames of one series */
    for (size_t i = 0; i < output && status == CLI_DONE && !drawn; i++) {
        char *other = picture_frame_name(job->output[i].file, job->frames_done + 1);
        drawn = other && is_drawn_in_frames(&job->output[i]) && !strcmp(other, frame);
        free(other);
    }
    if (status == CLI_DONE && !drawn && life_pattern_write_png(frame, p, (unsigned)job->zoom) < 0)
        status = cli_failed_call(NULL);
    free(frame);
    return status;
}

int life_output_frame(struct life_job *job)
{
    struct life_cells cells;
    struct life_pattern p;
    int status = present(job, &cells, &p);
    if (status != CLI_DONE)
        return status;
    for (size_t i = 0; i < job->outputs && status == CLI_DONE; i++)
        if (is_drawn_in_frames(&job->output[i]))
            status = write_frame(job, &p, i);
    job->frames_done++;
    life_cells_free(&cells);
    return status;
}

/* ---- After. ---------------------------------------------------------------------------------- */

static int finish_output(struct life_job *job, const struct life_output *o, const struct life_pattern *p)
{
    switch (o->kind) {
    case LIFE_OUTPUT_PATTERN:
        return life_pattern_write(o->file, p, NULL) < 0 ? cli_failed_call(NULL) : CLI_DONE;
    case LIFE_OUTPUT_PICTURE:
        return !job->frames && life_pattern_write_png(o->file, p, (unsigned)job->zoom) < 0
                   ? cli_failed_call(NULL)
                   : CLI_DONE;
    case LIFE_OUTPUT_FILM:
        return picture_join(o->file, job->frames_done, 0) < 0 ? cli_failed_call(NULL) : CLI_DONE;
    case LIFE_OUTPUT_TABLE:
        return csv_close(&job->table) < 0 ? cli_failed_call(NULL) : CLI_DONE;
    }
    return CLI_DONE;
}

int life_output_finish(struct life_job *job)
{
    struct life_cells cells = {0};
    struct life_pattern p = {0};
    int status = CLI_DONE;
    if (job->interrupted && job->frames_done < job->frames)
        status = life_output_frame(job); /* where it was stopped */
    if (status == CLI_DONE && job->outputs)
        status = present(job, &cells, &p);
    for (size_t i = 0; i < job->outputs && status == CLI_DONE; i++)
        status = finish_output(job, &job->output[i], &p);
    life_cells_free(&cells);
    return status;
}

void life_output_discard(struct life_job *job)
{
    csv_discard(&job->table);
}
