/* life_output.c - the output files of `stdcl life`.
 *
 * The suffix of a name selects its kind. All names are checked before the run. Every file
 * appears complete or not at all (core/outfile.h).
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "files.h"
#include "interrupt.h"
#include "alloc.h"
#include "message.h"
#include "options.h"
#include "ranks.h"
#include "life_output.h"
#include "life_picture.h"
#include "life_plane.h"

#include "core/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {"generation", "population"};

/* ---- Plan. --------------------------------------------------------------------------------- */

static int add_life_output(struct life_job *job, const char *file, enum cli_output_kind kind)
{
    if (kind == CLI_OUTPUT_TABLE && cli_outputs_have(&job->outputs, CLI_OUTPUT_TABLE))
        return cli_wrong("'%s' would be a second table of populations; give only one", file);
    if (kind == CLI_OUTPUT_STATE && !life_format_of(file))
        return cli_wrong("%s, film (.mp4 .webm .gif), table of populations (.csv)", clerror());
    cli_outputs_add(&job->outputs, file, kind);
    return CLI_DONE;
}

int life_output_plan(struct life_job *job)
{
    const struct cli_strings *names = &job->outputs.names;
    int status;
    for (size_t i = 0; i < names->n; i++) {
        status = add_life_output(job, names->item[i], cli_output_kind(names->item[i]));
        if (status != CLI_DONE)
            return status;
    }
    if (job->csv && (status = cli_check_table("--csv", job->csv)) != CLI_DONE)
        return status;
    if (job->csv && (status = add_life_output(job, job->csv, CLI_OUTPUT_TABLE)) != CLI_DONE)
        return status;
    if (cli_outputs_have(&job->outputs, CLI_OUTPUT_FILM) && (job->until_stable || job->watch))
        return cli_wrong("a film needs a last generation: omit %s, and give --generations N",
                         job->watch ? "--watch" : "--until-stable");
    if ((status = life_picture_plan(job)) != CLI_DONE)
        return status;
    return cli_outputs_prepare(&job->outputs);
}

int life_output_open(struct life_job *job)
{
    const int status = cli_outputs_check_frames(&job->outputs, job->generations, "generations");
    if (status != CLI_DONE)
        return status;
    for (size_t i = 0; i < job->outputs.n && cli_ranks_first(); i++)
        if (job->outputs.item[i].kind == CLI_OUTPUT_TABLE &&
            csv_open(&job->table, job->outputs.item[i].file, 2, columns) < 0)
            return cli_failed_call(NULL);
    return CLI_DONE;
}

/* ---- In the run. ----------------------------------------------------------------------------- */

int life_output_row(struct life_job *job, const struct life_sample *sample)
{
    if (!cli_outputs_have(&job->outputs, CLI_OUTPUT_TABLE) || !cli_ranks_first())
        return CLI_DONE;
    const double row[2] = {(double)(job->epoch + sample->generation), (double)sample->population};
    csv_row(&job->table, row); /* csv_close reports a failure */
    return CLI_DONE;
}

/* Describe the grid, without its cells. */
static struct life_pattern describe_grid(const struct life_job *job)
{
    life *lf = job->engine_of_run;
    const size_t width = life_width(lf), height = life_height(lf);
    struct life_pattern p = {.width = width,
                             .height = height,
                             .columns = width,
                             .rows = height,
                             .stride = (width + 63) / 64,
                             .placed = true,
                             .x = -(long long)(width / 2),
                             .y = -(long long)(height / 2),
                             .generation = life_job_absolute(job)};
    snprintf(p.rule, sizeof p.rule, "%s", job->rule);
    life_grid_text(lf, p.bounds);
    return p;
}

/* True if a cell needs more than a bit. */
static bool needs_states(const struct life_job *job)
{
    return life_states(job->engine_of_run) > 2 || job->transitions;
}

/* Get the states of some rows, and the bits of nonzero states. */
static int get_state_rows(life *lf, struct life_cells *cells, size_t y, size_t rows,
                          unsigned char *state)
{
    if (life_get_states(lf, 0, (long long)y, cells->width, rows, state) < 0)
        return cli_failed_call(NULL);
    for (size_t end = y + rows; y < end; y++, state += cells->width)
        for (size_t x = 0; x < cells->width; x++)
            cells->word[y * cells->stride + x / 64] |= (uint64_t)(state[x] != 0) << x % 64;
    return CLI_DONE;
}

/* Get the states of all cells. */
static int get_all_states(const struct life_job *job, struct life_cells *cells,
                          struct life_pattern *p)
{
    life *lf = job->engine_of_run;
    const size_t some = ((size_t)1 << 22) / cells->width + 1;
    if (cli_memory_for(cells->height, cells->width, "rows of cells") != CLI_DONE)
        return CLI_FAILED;
    p->states = life_states(lf);
    p->colours = job->transitions ? life_transitions_colour(job->transitions, 0) : NULL;
    p->state = cli_alloc(cells->width, cells->height);
    for (size_t y = 0; y < cells->height; y += some) {
        if (y && cli_interrupt_deadline_passed()) {
            clerror_set(ECANCELED, "the time limit for writing the cells has passed");
            return cli_failed_call(NULL);
        }
        const size_t rows = cells->height - y < some ? cells->height - y : some;
        const int status = get_state_rows(lf, cells, y, rows, p->state + y * cells->width);
        if (status != CLI_DONE)
            return status;
    }
    return CLI_DONE;
}

/* Free the pattern of get_whole_grid. */
static void free_whole_grid(struct life_cells *cells, struct life_pattern *p)
{
    life_cells_free(cells);
    free(p->state);
    p->state = NULL;
}

/* Get the whole grid as a pattern, on rank 0. Free it with free_whole_grid. */
static int get_whole_grid(const struct life_job *job, struct life_cells *cells,
                          struct life_pattern *p)
{
    life *lf = job->engine_of_run;
    *cells = (struct life_cells){
        .width = life_width(lf), .height = life_height(lf), .stride = (life_width(lf) + 63) / 64};
    if (cli_ranks_first() && life_cells_alloc(cells, life_width(lf), life_height(lf)) < 0)
        return cli_failed_call(NULL);
    if (life_get(lf, 0, 0, cells) < 0) {
        life_cells_free(cells);
        return cli_failed_call(NULL);
    }
    *p = describe_grid(job);
    p->word = cells->word;
    const int status = needs_states(job) ? get_all_states(job, cells, p) : CLI_DONE;
    if (status != CLI_DONE)
        free_whole_grid(cells, p);
    return status;
}

struct drawn {
    const struct life_job *job;
    struct life_pattern pattern;
};

static int draw_grid(void *drawn, const char *file)
{
    const struct drawn *d = drawn;
    if (!cli_ranks_first())
        return CLI_DONE;
    return life_picture_save(d->job, &d->pattern, file) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

int life_output_frame(struct life_job *job)
{
    struct life_cells cells;
    struct drawn drawn = {.job = job};
    const int status = get_whole_grid(job, &cells, &drawn.pattern);
    if (status != CLI_DONE)
        return status;
    cli_outputs_frame(&job->outputs, draw_grid, &drawn);
    free_whole_grid(&cells, &drawn.pattern);
    return CLI_DONE;
}

/* ---- At the end. ----------------------------------------------------------------------------- */

/* Two-state grids pass through rank 0 in bands of rows, because most formats are sequential and
 * files may be of any length. Rank 0 broadcasts which rows come next. */
struct rows {
    life *lf;
    size_t stride;
};

static int get_band(const struct rows *r, uint64_t first, uint64_t count, uint64_t *word)
{
    struct life_cells cells = {
        .width = life_width(r->lf), .height = (size_t)count, .stride = r->stride, .word = word};
    return life_get(r->lf, 0, (long long)first, &cells);
}

static int load_band(void *rows, size_t first, size_t count, uint64_t *word)
{
    uint64_t next[2] = {first, count};
    return world_broadcast(cli_world, 0, next, sizeof next) == 0
               ? get_band(rows, first, count, word)
               : -1;
}

/* Serve rows until rank 0 needs no more. */
static int serve_bands(const struct rows *r)
{
    uint64_t next[2] = {0, 1};
    while (world_broadcast(cli_world, 0, next, sizeof next) == 0)
        if (next[1] == 0)
            return 0;
        else if (get_band(r, next[0], next[1], NULL) != 0)
            return -1;
    return -1;
}

static int write_state(const struct life_job *job, const struct cli_output *o,
                       const struct life_pattern *p)
{
    return o->kind == CLI_OUTPUT_STATE ? life_pattern_write(o->file, p, NULL)
                                       : life_picture_save(job, p, o->file);
}

/* Write a pattern or a picture in bands of rows. */
static int write_in_bands(struct life_job *job, struct cli_output *o)
{
    enum { BYTES = 1 << 26 };
    struct life_pattern p = describe_grid(job);
    struct rows rows = {job->engine_of_run, p.stride};
    const size_t row = p.stride * sizeof(uint64_t),
                 some = BYTES / row > LIFE_BAND_ROWS ? BYTES / row : LIFE_BAND_ROWS;
    struct life_band band = {
        .load = load_band, .arg = &rows, .rows = some < p.rows ? some : p.rows};
    if (!cli_ranks_first())
        return serve_bands(&rows) == 0 ? CLI_DONE : cli_failed_call(NULL);
    uint64_t none[2] = {0, 0}; /* ends serve_bands */
    if (cli_memory_for(band.rows, row, "rows of cells") != CLI_DONE) {
        (void)world_broadcast(cli_world, 0, none, sizeof none);
        return CLI_FAILED;
    }
    band.word = cli_alloc(band.rows, row);
    p.band = &band;
    const int failed = write_state(job, o, &p),
              status = cli_output_end(o, failed, &job->interrupted);
    free(band.word);
    return world_broadcast(cli_world, 0, none, sizeof none) == 0 ? status : cli_failed_call(NULL);
}

static bool is_of_cells(const struct cli_output *o)
{
    return o->kind == CLI_OUTPUT_STATE || o->single;
}

static int finish_life_output(struct life_job *job, struct cli_output *o,
                              const struct life_pattern *p)
{
    const bool whole = p->state || (o->kind == CLI_OUTPUT_PICTURE && life_picture_is_dressed(job));
    if (is_of_cells(o) && !whole)
        return write_in_bands(job, o);
    if (!cli_ranks_first())
        return CLI_DONE;
    if (is_of_cells(o))
        return cli_output_end(o, write_state(job, o, p), &job->interrupted);
    if (o->kind == CLI_OUTPUT_FILM)
        return cli_outputs_join(&job->outputs, o);
    return o->kind == CLI_OUTPUT_TABLE && csv_close(&job->table) < 0 ? cli_failed_call(NULL)
                                                                     : CLI_DONE;
}

bool life_output_has_cells(const struct life_job *job)
{
    for (size_t i = 0; i < job->outputs.names.n; i++)
        if (cli_output_kind(job->outputs.names.item[i]) == CLI_OUTPUT_STATE)
            return true;
    return false;
}

bool life_output_is_due(const struct life_job *job)
{
    return job->every_minutes > 0 && seconds_now() - job->kept > 60 * job->every_minutes;
}

int life_output_keep(struct life_job *job)
{
    struct life_cells cells = {0};
    struct life_pattern p = {0};
    int status = needs_states(job) ? get_whole_grid(job, &cells, &p) : CLI_DONE;
    for (size_t i = 0; i < job->outputs.n && status == CLI_DONE; i++) {
        struct cli_output *o = &job->outputs.item[i];
        if (o->kind == CLI_OUTPUT_STATE && !o->left_out) /* tried again next time if it fails */
            cli_outputs_keep_status(&job->outputs, NULL, finish_life_output(job, o, &p));
    }
    free_whole_grid(&cells, &p);
    job->kept = seconds_now();
    return status;
}

/* A failed output keeps its status in job->outputs, and the remaining outputs follow. */
int life_output_finish(struct life_job *job)
{
    struct life_cells cells = {0};
    struct life_pattern p = {0};
    int status = CLI_DONE;
    const bool at_start = job->interrupted && life_job_generation(job) == job->started;
    if (at_start && job->outputs.frames && !job->outputs.frames_done) {
        cli_outputs_keep_older_frames(&job->outputs);
        status = life_output_frame(job);
    } else if (job->interrupted && !at_start && job->outputs.frames_done < job->outputs.frames) {
        status = life_output_frame(job); /* the state at the stop */
        cli_outputs_remove_stale(&job->outputs);
    }
    const bool drawn = life_picture_is_dressed(job) || job->figures.names.n;
    if (status == CLI_DONE && (drawn || (job->outputs.n && needs_states(job))))
        status = get_whole_grid(job, &cells, &p);
    for (size_t i = 0; i < job->outputs.n && status == CLI_DONE; i++) {
        struct cli_output *o = &job->outputs.item[i];
        if (!o->left_out && !cli_output_keeps_older(o, at_start))
            cli_outputs_keep_status(&job->outputs, o, finish_life_output(job, o, &p));
    }
    cli_outputs_keep_older(&job->figures.names, at_start);
    if (status == CLI_DONE)
        cli_outputs_keep_status(&job->outputs, NULL,
                                cli_ranks_first() ? life_figures_draw(job, &p) : CLI_DONE);
    free_whole_grid(&cells, &p);
    return status;
}

void life_output_cut_short(struct life_job *job)
{
    if (life_job_generation(job) != job->started)
        cli_outputs_cut_short(&job->outputs, &job->table);
}

void life_output_discard(struct life_job *job)
{
    csv_discard(&job->table);
}
