/* life_plane.c - `stdcl life --engine hashlife` and `--engine sparse`: a run on an unbounded
 * plane, from the file to the report.
 *
 * HashLife reads and writes macrocell files node by node (life_squares.c), so a universe may
 * exceed any memory. Other formats are written run by run; pictures show the bounding box of the
 * live cells.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "files.h"
#include "common.h"
#include "device.h"
#include "interrupt.h"
#include "json.h"
#include "alloc.h"
#include "message.h"
#include "progress.h"
#include "report.h"
#include "text.h"
#include "usage.h"
#include "life_grid.h"
#include "life_output.h"
#include "life_picture.h"
#include "life_plane.h"
#include "life_run.h"

#include "core/clock.h"
#include "core/outfile.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 100,
    EVERY = 4096,
    FIRST_BATCH = 256
    /* table without --step: ROWS rows, or every generation up to EVERY */
};
static const size_t WIDEST_PICTURE = 1 << 14;
static const double TREE_SECONDS = 1,
                    SPARSE_SECONDS =
                        /* seconds between visits to the view: a tree is faster in long steps */
                    0.1;
static const char NO_DEVICE[] = "none: plain C";

struct plane {
    struct life_job *job;
    uint64_t end, batch; /* batch: generations between visits to the view */
};

static const char *decimal(struct life_number n)
{
    static _Thread_local char text[4][48];
    static _Thread_local unsigned next;
    return life_number_string(n, text[next++ % 4]);
}

static struct life_number number_plus(struct life_number n, int more)
{
    const uint64_t before = n.low;
    n.low += (uint64_t)(int64_t)more;
    n.high += more < 0 ? -(n.low > before) : n.low < before;
    return n;
}

static struct life_number number_minus(struct life_number a, struct life_number b)
{
    return (struct life_number){a.low - b.low, a.high - b.high - (a.low < b.low)};
}

/* True if -2^bits < n < 2^bits, bits < 64. */
static bool number_fits(struct life_number n, unsigned bits)
{
    const uint64_t size = n.high < 0 ? -n.low : n.low;
    return (n.high == 0 || (n.high == -1 && n.low)) && size < (uint64_t)1 << bits;
}

/* ---- Plan. --------------------------------------------------------------------------------- */

int life_plane_check(const struct life_job *job, const struct cli_option *options)
{
    static const char *const grid_only[] = {"size",  "bounds",       "soup",          "seed",
                                            "shape", "until-stable", "every-minutes", "frames"};
    static const char *const device_only[] = {"device", "profile", "trace"};
    const char *engine = life_engine_name((enum life_engine)job->engine);
    for (size_t i = 0; i < sizeof grid_only / sizeof *grid_only; i++)
        if (cli_given(options, grid_only[i]))
            return cli_wrong(
                "--engine %s computes on an unbounded plane and samples it only at the end of a step; omit %s",
                engine, cli_typed(options, grid_only[i]));
    for (size_t i = 0; i < sizeof device_only / sizeof *device_only && job->engine == LIFE_HASHLIFE;
         i++)
        if (cli_given(options, device_only[i]))
            return cli_wrong("--engine hashlife computes on the host; omit %s",
                             cli_typed(options, device_only[i]));
    if (job->engine == LIFE_SPARSE && cli_given(options, "threads"))
        return cli_wrong(
            "--threads applies only to --engine hashlife; sparse computes on a device");
    if (!job->input)
        return cli_wrong("--engine %s needs --pattern FILE", engine);
    for (size_t i = 0; i < job->outputs.names.n && job->watch; i++)
        if (cli_output_kind(job->outputs.names.item[i]) == CLI_OUTPUT_TABLE)
            return cli_wrong("--watch writes no table on an unbounded plane; omit '%s'",
                             job->outputs.names.item[i]);
    if (job->watch && (job->csv || job->step))
        return cli_wrong(
            "--watch on an unbounded plane chooses its own steps and writes no table; omit %s",
            cli_typed(options, job->csv ? "csv" : "step"));
    for (size_t i = 0; i < job->outputs.names.n; i++)
        if (cli_output_kind(job->outputs.names.item[i]) == CLI_OUTPUT_FILM)
            return cli_wrong(
                "'%s' would be a film, which --engine %s cannot write; use FILE.png for a picture",
                job->outputs.names.item[i], engine);
    return CLI_DONE;
}

/* Take a rule without a grid; `where` names its origin in messages. */
static int take_plane_rule(struct life_job *job, const char *rule, const char *bounds,
                           const char *where)
{
    const char *colon = strchr(rule, ':');
    if (colon || bounds[0])
        return cli_wrong(
            "%s: ':%s' is a bounded grid, but %s is unbounded; %sgive --rule without a grid", where,
            colon ? colon + 1 : bounds,
            job->identify                ? "the plane that identify uses"
            : job->engine == LIFE_SPARSE ? "--engine sparse"
                                         : "HashLife",
            job->identify ? "" : "omit --engine, or ");
    return life_job_rule(job, rule[0] ? rule : "B3/S23", where);
}

static int choose_plane_rule(struct life_job *job)
{
    const struct life_plane *plane = &job->plane;
    if (job->rule_text)
        return take_plane_rule(job, job->rule_text, "", "--rule");
    return plane->squares.n
               ? take_plane_rule(job, plane->squares.rule, plane->squares.bounds, job->input)
               : take_plane_rule(job, plane->p.rule, plane->p.bounds, job->input);
}

static int plan_plane(struct plane *p)
{
    struct life_job *job = p->job;
    const bool squares = job->plane.squares.n > 0;
    if (squares && job->at.given)
        return cli_wrong("%s: a macrocell file is always centred; omit --at", job->input);
    const int status = choose_plane_rule(job);
    if (status != CLI_DONE)
        return status;
    return life_job_check_states(job, squares ? job->plane.squares.states : job->plane.p.states);
}

static int open_plane(struct plane *p)
{
    struct life_job *job = p->job;
    const int status = life_start_open(job);
    if (status != CLI_DONE)
        return status;
    if (job->generations > UINT64_MAX - job->started)
        return cli_wrong("--generations: after generation %" PRIu64 " at most %" PRIu64
                         " more are possible",
                         job->started, UINT64_MAX - job->started);
    p->end = job->started + job->generations;
    return CLI_DONE;
}

/* ---- The run. -------------------------------------------------------------------------------- */

static int write_plane_row(struct plane *p)
{
    char population[LIFE_POPULATION_TEXT];
    if (!cli_outputs_have(&p->job->outputs, CLI_OUTPUT_TABLE) && !p->job->lines.wanted)
        return CLI_DONE;
    if (life_population_text(p->job->engine_of_run, population) < 0)
        return cli_failed_call(NULL);
    if (p->job->lines.wanted)
        return life_lines_visit(p->job, population);
    const double values[2] = {(double)life_job_absolute(p->job), strtod(population, NULL)};
    return csv_row(&p->job->table, values) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

static uint64_t table_step(const struct life_job *job)
{
    if (job->step)
        return job->step;
    if (!cli_outputs_have(&job->outputs, CLI_OUTPUT_TABLE))
        return job->generations;
    return job->generations <= EVERY ? 1 : job->generations / ROWS;
}

/* Generations until the next row, fewer if the view needs a visit or a viewer steps. */
static uint64_t plane_batch(const struct plane *p, uint64_t next)
{
    const struct life_job *job = p->job;
    const uint64_t at = life_generation(p->job->engine_of_run),
                   most = job->window.open && !job->step && p->batch < next - at ? p->batch
                                                                                 : next - at;
    return cli_window_batch(&job->window, at - job->started, most);
}

/* HashLife doubles its steps while patterns repeat. */
static bool has_growing_steps(const struct life_job *job)
{
    return life_engine_of(job->engine_of_run) == LIFE_HASHLIFE && !job->step;
}

/* Adapt the length of the next batch to the duration of this one of n generations. */
static void adapt_batch(struct plane *p, uint64_t n, double took)
{
    const double visit = life_engine_of(p->job->engine_of_run) == LIFE_HASHLIFE
                             ? TREE_SECONDS
                             : cli_window_seconds(&p->job->window, SPARSE_SECONDS);
    if (n == p->batch && took < visit / 2 && n <= UINT64_MAX / 4)
        p->batch *= 2;
    else if (took > 2 * visit && p->batch > 1)
        p->batch /= 2;
}

/* Generation of the row or line after that of `at`. */
static uint64_t next_row_generation(const struct plane *p, uint64_t at)
{
    const uint64_t step = table_step(p->job);
    return p->job->lines.wanted ? p->job->lines.due
                                : at + (step < p->end - at ? step : p->end - at);
}

static int step_plane(struct plane *p)
{
    struct life_job *job = p->job;
    uint64_t next = job->started; /* generation of the next row */
    int status = write_plane_row(p);
    if (status == CLI_DONE)
        status = life_view_visit(job);
    cli_progress_start(&job->progress, "generations", (double)job->generations,
                       job->common.quiet || job->lines.wanted);
    while (status == CLI_DONE &&
           life_generation(p->job->engine_of_run) < (job->lines.wanted ? job->lines.due : p->end) &&
           !cli_interrupted()) {
        if (next == life_generation(p->job->engine_of_run))
            next = next_row_generation(p, next);
        const uint64_t n = plane_batch(p, next);
        job->progress.growing = has_growing_steps(job);
        const double start = seconds_now();
        if (life_race_step(job, n) < 0 && clerrno != ECANCELED)
            status = cli_failed_call(NULL);
        job->seconds += seconds_now() - start;
        adapt_batch(p, n, seconds_now() - start);
        cli_progress_update(&job->progress,
                            (double)(life_generation(p->job->engine_of_run) - job->started),
                            NULL); /* short steps do not call the callback */
        if (status == CLI_DONE &&
            (life_generation(p->job->engine_of_run) == next || cli_interrupted()))
            status = write_plane_row(p);
        if (status == CLI_DONE)
            status = life_view_visit(job);
    }
    cli_progress_end(&job->progress);
    job->interrupted = cli_interrupted();
    return status;
}

/* ---- At the end. ----------------------------------------------------------------------------- */

/* Bits of coordinates: of life_get, and of the numbers that the readers of files accept. */
enum { PICTURE_BITS = 62, FILE_BITS = 40 };

static bool is_within(const struct life_box *box, unsigned bits)
{
    return number_fits(box->left, bits) && number_fits(box->right, bits) &&
           number_fits(box->top, bits) && number_fits(number_plus(box->bottom, 1), bits);
}

/* Get the states of the rectangle's cells. */
static int get_box_states(const struct plane *p, struct life_pattern *pattern)
{
    if (cli_memory_for(pattern->rows, pattern->columns, "rows of cells") != CLI_DONE)
        return CLI_FAILED;
    pattern->states = life_states(p->job->engine_of_run);
    pattern->colours = p->job->transitions ? life_transitions_colour(p->job->transitions, 0) : NULL;
    pattern->state = cli_alloc(pattern->columns, pattern->rows);
    return life_get_states(p->job->engine_of_run, pattern->x, pattern->y - 1, pattern->columns,
                           pattern->rows, pattern->state) < 0
               ? cli_failed_call(NULL)
               : CLI_DONE;
}

/* The bounding box of the live cells as a pattern without cells; a dead cell if there are none. At
 * most `most` cells a side, and less than 2^bits from the middle of the plane. */
static int describe_box(const struct plane *p, const char *file, size_t most, unsigned bits,
                        struct life_pattern *pattern)
{
    struct life_box box = {.left = {0, 0}};
    const int any = life_bounding_box(p->job->engine_of_run, &box);
    if (any < 0)
        return cli_failed_call(NULL);
    const struct life_number width = number_minus(box.right, box.left),
                             height = number_minus(box.bottom, box.top);
    if (width.high || height.high || width.low > most || height.low > most)
        return cli_failed(
            "%s: the live cells span %.4g x %.4g, more than the limit of %zu; write a macrocell file, .mc",
            file, life_number_double(width), life_number_double(height), most);
    if (any && !is_within(&box, bits))
        return cli_failed(
            "%s: the live cells are 2^%u or more from the middle of the plane; write a macrocell file, .mc",
            file, bits);
    *pattern = (struct life_pattern){.width = any ? (size_t)width.low : 1,
                                     .height = any ? (size_t)height.low : 1,
                                     .placed = true,
                                     .states = life_states(p->job->engine_of_run),
                                     .x = (long long)box.left.low,
                                     .y = (long long)box.top.low + 1, /* of files, see above */
                                     .generation = life_job_absolute(p->job)};
    snprintf(pattern->rule, sizeof pattern->rule, "%s", p->job->rule);
    return CLI_DONE;
}

/* Get the cells of the bounding box, which a limit keeps small. Free them with free_box. */
static int get_box(const struct plane *p, const char *file, struct life_cells *cells,
                   struct life_pattern *pattern)
{
    *cells = (struct life_cells){.width = 0};
    int status = describe_box(p, file, WIDEST_PICTURE / p->job->zoom, PICTURE_BITS, pattern);
    if (status != CLI_DONE)
        return status;
    pattern->columns = pattern->width;
    pattern->rows = pattern->height;
    if (life_cells_alloc(cells, pattern->width, pattern->height) < 0 ||
        life_get(p->job->engine_of_run, pattern->x, pattern->y - 1, cells) < 0)
        return cli_failed_call(NULL);
    pattern->stride = cells->stride;
    pattern->word = cells->word;
    return life_job_has_states(p->job) ? get_box_states(p, pattern) : CLI_DONE;
}

static void free_box(struct life_cells *cells, struct life_pattern *pattern)
{
    life_cells_free(cells);
    free(pattern->state);
}

/* Write a picture of the bounding box. */
static int draw_plane(const struct plane *p, struct cli_output *o)
{
    struct life_cells cells;
    struct life_pattern pattern = {.width = 0};
    int status = get_box(p, o->file, &cells, &pattern);
    if (status == CLI_DONE)
        status =
            cli_output_end(o, life_picture_save(p->job, &pattern, o->file), &p->job->interrupted);
    free_box(&cells, &pattern);
    return status;
}

/* Draw figures of the bounding box. */
static int draw_plane_figures(const struct plane *p)
{
    struct life_cells cells;
    struct life_pattern pattern = {.width = 0};
    if (!p->job->figures.names.n)
        return CLI_DONE;
    int status = get_box(p, p->job->figures.names.item[0], &cells, &pattern);
    if (status == CLI_DONE)
        status = life_figures_draw(p->job, &pattern);
    else
        p->job->figures.names.n = 0; /* none is reported */
    free_box(&cells, &pattern);
    return status;
}

/* Live cells of the plane as runs of a pattern. */
struct plane_runs {
    life *tree;
    const struct life_pattern *pattern;
    life_run_f *run;
    void *to;
};

static int pass_run(void *arg, long long x, long long y, uint64_t n, unsigned state)
{
    const struct plane_runs *r = arg;
    return r->run(r->to, (size_t)(x - r->pattern->x), (size_t)(y + 1 - r->pattern->y), (size_t)n,
                  state);
}

static int walk_plane(void *arg, life_run_f *run, void *to)
{
    struct plane_runs *r = arg;
    r->run = run;
    r->to = to;
    return life_walk_runs(r->tree, pass_run, r);
}

static int write_plane_text(const struct plane *p, struct cli_output *o)
{
    struct life_pattern pattern;
    struct plane_runs source = {.pattern = &pattern};
    const struct life_runs runs = {walk_plane, &source};
    const int status = describe_box(p, o->file, ((size_t)1 << FILE_BITS) - 1, FILE_BITS, &pattern);
    if (status != CLI_DONE)
        return status;
    pattern.runs = &runs;
    source.tree = p->job->host_plane ? p->job->engine_of_run : life_squares_tree(p->job);
    const int written = source.tree ? life_pattern_write(o->file, &pattern, NULL) : -1;
    life_squares_tree_free(p->job, source.tree);
    return cli_output_end(o, written, &p->job->interrupted);
}

static int finish_plane_output(const struct plane *p, struct cli_output *o)
{
    if (o->kind == CLI_OUTPUT_TABLE)
        return csv_close(&p->job->table) < 0 ? cli_failed_call(NULL) : CLI_DONE;
    if (o->kind == CLI_OUTPUT_PICTURE)
        return draw_plane(p, o);
    return strcmp(life_format_of(o->file), "macrocell") == 0
               ? cli_output_end(o, life_squares_save(p->job, o->file), &p->job->interrupted)
               : write_plane_text(p, o);
}

static json_t *json_number(struct life_number n)
{
    return cli_json_digits(decimal(n));
}

static json_t *json_count(uint64_t n)
{
    return json_number((struct life_number){n, 0});
}

/* Figures of the engine. */
static json_t *json_of_engine(life *e)
{
    const struct life_statistics of = life_statistics_of(e);
    const json_int_t bytes = (json_int_t)life_device_bytes(e);
    return life_engine_of(e) == LIFE_HASHLIFE ? json_pack("{s:I, s:I}", "tree_bytes", bytes,
                                                          "collections", (json_int_t)of.collections)
           : life_engine_of(e) == LIFE_REFERENCE
               ? json_pack("{s:I}", "cell_bytes", bytes)
               : json_pack("{s:I, s:I, s:o}", "tile_bytes", bytes, "tiles", (json_int_t)of.tiles,
                           "tiles_computed", json_count(of.tiles_computed));
}

static int plane_report_json(const struct plane *p, const char *device, const char *population,
                             const struct life_box *box)
{
    const struct life_job *job = p->job;
    const uint64_t generation = life_job_generation(job);
    char text[LIFE_GENERATION_TEXT];
    json_t *report = json_pack(
        "{s:s, s:s, s:s, s:s, s:s, s:n, s:n, s:o, s:o, s:o, s:o, s:o, s:n, s:n, s:b}", "program",
        "life", "device", device, "engine", life_engine_name((enum life_engine)job->engine), "rule",
        job->rule, "bounds", "none", "width", "height", "generations",
        json_integer((json_int_t)(generation - job->started)), "generation",
        cli_json_digits(life_job_generation_text(job, generation, text)), "population",
        cli_json_digits(population), "box",
        box ? json_pack("[o, o, o, o]", json_number(box->left), json_number(box->top),
                        json_number(box->right), json_number(box->bottom))
            : json_null(),
        "seconds", cli_json_real(job->seconds), "cell_updates_per_s", "period", "interrupted",
        job->interrupted);
    json_object_update_new(report, json_of_engine(p->job->engine_of_run));
    const int status = cli_json_print(report);
    json_decref(report);
    return status;
}

static void report_engine(life *e, FILE *fp)
{
    const struct life_statistics of = life_statistics_of(e);
    struct cli_text text;
    const char *bytes = cli_text_bytes(&text, (double)life_device_bytes(e));
    if (life_engine_of(e) == LIFE_SPARSE)
        fprintf(fp, "%-14s%" PRIu64 ", %" PRIu64 " tile steps of up to eight generations; %s\n",
                "tiles", of.tiles, of.tiles_computed, bytes);
    else if (life_engine_of(e) == LIFE_REFERENCE)
        fprintf(fp, "%-14s%s\n", "cells", bytes);
    else if (of.collections)
        fprintf(fp, "%-14s%s, rebuilt %" PRIu64 " times\n", "tree", bytes, of.collections);
    else
        fprintf(fp, "%-14s%s\n", "tree", bytes);
}

static void plane_report_text(const struct plane *p, const char *device, const char *population,
                              const struct life_box *box, FILE *fp)
{
    const struct life_job *job = p->job;
    struct cli_text text;
    char from[LIFE_GENERATION_TEXT], to[LIFE_GENERATION_TEXT];
    fprintf(fp, "%-14s%s\n", "device", device);
    fprintf(fp, "%-14sunbounded, %s, from %s\n", "plane", job->rule, job->input);
    fprintf(fp, "%-14s%" PRIu64 ", from %s to %s, engine %s\n", "generations",
            life_job_generation(job) - job->started,
            life_job_generation_text(job, job->started, from),
            life_job_generation_text(job, life_job_generation(job), to),
            life_engine_name((enum life_engine)job->engine));
    fprintf(fp, "%-14s%s\n", "population", population);
    if (box)
        fprintf(fp, "%-14scolumns %s to %s, rows %s to %s\n", "live cells", decimal(box->left),
                decimal(number_plus(box->right, -1)), decimal(box->top),
                decimal(number_plus(box->bottom, -1)));
    fprintf(fp, "%-14s%s\n", "duration", cli_text_time(&text, job->seconds));
    report_engine(p->job->engine_of_run, fp);
    cli_outputs_report(&job->outputs, fp);
    cli_figures_report(&job->figures, REPORT_INDENT, fp);
    if (job->interrupted)
        cli_interrupt_report(life_generation(p->job->engine_of_run) - job->started,
                             job->watch ? 0 : job->generations, "generations", fp);
}

static void plane_report_lines(const struct plane *p, const char *device, const char *population,
                               const struct life_box *box)
{
    struct cli_report report;
    FILE *to = cli_stdout_is_taken() ? stderr : stdout,
         *fp = cli_report_begin(&report, to, REPORT_INDENT);
    plane_report_text(p, device, population, box, fp);
    cli_report_end(&report, fp);
}

/* A failed output keeps its status in job->outputs, and the remaining outputs follow. */
static void write_plane_outputs(struct plane *p)
{
    struct life_job *job = p->job;
    const bool at_start = job->interrupted && life_job_generation(job) == job->started;
    for (size_t i = 0; i < job->outputs.n; i++) {
        struct cli_output *const o = &job->outputs.item[i];
        const int status =
            cli_output_keeps_older(o, at_start) ? CLI_DONE : finish_plane_output(p, o);
        cli_outputs_keep_status(&job->outputs, o, status);
    }
    cli_outputs_keep_older(&job->figures.names, at_start);
    cli_outputs_keep_status(&job->outputs, NULL, draw_plane_figures(p));
}

static int report_plane(struct plane *p)
{
    const struct life_job *job = p->job;
    char population[LIFE_POPULATION_TEXT];
    struct life_box box;
    const int any = life_bounding_box(p->job->engine_of_run, &box);
    if (any < 0 || life_population_text(p->job->engine_of_run, population) < 0)
        return cli_failed_call(NULL);
    if (any) {
        box.top = number_plus(box.top, 1); /* in files the middle of the plane is 0,1 */
        box.bottom = number_plus(box.bottom, 1);
    }
    char *device = life_engine_of(p->job->engine_of_run) == LIFE_SPARSE
                       ? cli_devices_name(job->context)
                       : NULL;
    int status = CLI_DONE;
    if (job->common.json)
        status = plane_report_json(p, device ? device : NO_DEVICE, population, any ? &box : NULL);
    else if (!job->common.quiet && !job->lines.wanted)
        plane_report_lines(p, device ? device : NO_DEVICE, population, any ? &box : NULL);
    free(device);
    return status;
}

/* Open the view. A wait for a viewer that is interrupted ends the run before its first step; --json
 * reports such a run, too. */
static int open_plane_view(struct plane *p)
{
    const int status = life_view_open(p->job);
    if (status == CLI_DONE || !p->job->common.json || !cli_interrupted())
        return status;
    p->job->interrupted = true;
    return cli_first_failure(status, report_plane(p));
}

static int run_plane(struct plane *p)
{
    struct life_job *job = p->job;
    int status = life_output_open(job);
    if (status != CLI_DONE)
        return status;
    if ((status = open_plane_view(p)) != CLI_DONE)
        return status;
    status = job->watch ? life_job_watch(job) : step_plane(p);
    if (status == CLI_DONE)
        status = life_view_end(job);
    if (status != CLI_DONE) {
        life_output_cut_short(job);
        return status;
    }
    write_plane_outputs(p);
    if ((status = report_plane(p)) != CLI_DONE)
        return status;
    if (job->context && (status = cli_profile_report(&job->common, job->context)) != CLI_DONE)
        return status;
    if ((status = life_view_stay(job)) != CLI_DONE)
        return status;
    return cli_first_failure(job->outputs.status,
                             job->interrupted ? cli_interrupt_status(CLI_DONE) : CLI_DONE);
}

int life_plane_run(struct life_job *job)
{
    struct plane p = {.job = job, .batch = FIRST_BATCH};
    if (job->generations == UINT64_MAX)
        job->generations = job->identify ? IDENTIFY_GENERATIONS
                           : job->watch  ? UINT64_MAX - job->started
                                         : 1024;
    if (!job->zoom)
        job->zoom = 1;
    int status = plan_plane(&p);
    if (status == CLI_DONE)
        status = open_plane(&p);
    cli_interrupt_catch(); /* from here on there are results to save */
    if (status == CLI_DONE)
        status = job->identify ? life_identify_job(job) : run_plane(&p);
    life_start_done(job);
    return status;
}
