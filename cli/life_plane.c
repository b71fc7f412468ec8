/* life_plane.c - `stdcl life --engine hashlife` and `--engine sparse`: a pattern on a plane without
 * edges, from its file to the report.
 *
 * There is no grid here: with HashLife a macrocell file goes square by square into its tree and
 * comes out of it so (life_squares.c), and a universe may be larger than any memory. Other formats,
 * and pictures, have the rectangle that holds all live cells.
 * SPDX-License-Identifier: MIT
 */
#include "life_job.h"

#include "core/outfile.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>

enum {
    ROWS = 100,
    EVERY = 4096,
    FIRST_BURST = 256
}; /* of the table, if --step does not say: so many, and up to this each generation */
static const size_t WIDEST_PICTURE = 1 << 14;
static const double TREE_SECONDS = 1,
                    SPARSE_SECONDS =
                        0.1; /* between looks at the window: a tree goes faster in long steps */
static const char NO_DEVICE[] = "none: plain C";

struct plane {
    struct life_job *job;
    struct life_endless *e; /* job->endless */
    uint64_t end, burst;    /* generations between looks at the window */
};

static const char *decimal(struct hashlife_number n)
{
    static _Thread_local char text[4][48];
    static _Thread_local unsigned next;
    return hashlife_number_string(n, text[next++ % 4]);
}

/* ---- Before. --------------------------------------------------------------------------------- */

int life_plane_check(const struct life_job *job, const struct cli_option *options)
{
    static const char *const of_grids[] = {"size",  "bounds",       "soup",          "seed",
                                           "shape", "until-stable", "every-minutes", "frames"};
    static const char *const of_devices[] = {"device", "profile", "trace"};
    const char *engine = life_engine_names[job->engine];
    for (size_t i = 0; i < sizeof of_grids / sizeof *of_grids; i++)
        if (cli_given(options, of_grids[i]))
            return cli_wrong(
                "--engine %s has a plane without edges, and looks at it only at the end of a step; leave %s out",
                engine, cli_typed(options, of_grids[i]));
    for (size_t i = 0; i < sizeof of_devices / sizeof *of_devices && job->engine == LIFE_HASHLIFE;
         i++)
        if (cli_given(options, of_devices[i]))
            return cli_wrong(
                "--engine hashlife computes on the host and uses no device; leave %s out",
                cli_typed(options, of_devices[i]));
    if (job->engine == LIFE_SPARSE && cli_given(options, "threads"))
        return cli_wrong("--threads is for --engine hashlife; sparse computes on a device");
    if (!job->input)
        return cli_wrong("--engine %s is for patterns; add --pattern FILE", engine);
    for (size_t i = 0; i < job->outputs.names.n && job->watch; i++)
        if (cli_output_kind(job->outputs.names.item[i]) == CLI_OUTPUT_TABLE)
            return cli_wrong("--watch writes no table of a plane without edges; leave '%s' out",
                             job->outputs.names.item[i]);
    if (job->watch && (job->csv || job->step))
        return cli_wrong(
            "--watch of a plane without edges has steps of its own and writes no table; leave %s out",
            cli_typed(options, job->csv ? "csv" : "step"));
    for (size_t i = 0; i < job->outputs.names.n; i++)
        if (cli_output_kind(job->outputs.names.item[i]) == CLI_OUTPUT_FILM)
            return cli_wrong(
                "'%s' would be a film, which --engine %s does not make; a picture is FILE.png",
                job->outputs.names.item[i], engine);
    return CLI_DONE;
}

/* A rule without a grid; `where` it stands. */
static int take_rule(struct life_job *job, const char *rule, const char *bounds, const char *where)
{
    const char *colon = strchr(rule, ':');
    if (colon || bounds[0])
        return cli_wrong(
            "%s: ':%s' is a grid with edges, and %s has none; leave --engine out, or give --rule without a grid",
            where, colon ? colon + 1 : bounds,
            job->engine == LIFE_SPARSE ? "--engine sparse" : "HashLife");
    return life_job_rule(job, rule[0] ? rule : "B3/S23", where);
}

static int take_rule_of(struct life_job *job)
{
    const struct life_plane *plane = &job->plane;
    if (job->rule_text)
        return take_rule(job, job->rule_text, "", "--rule");
    return plane->squares.n ? take_rule(job, plane->squares.rule, plane->squares.bounds, job->input)
                            : take_rule(job, plane->p.rule, plane->p.bounds, job->input);
}

/* Cells of several states are read as a rectangle, in place of tiles of bits. */
static int read_states(struct life_job *job)
{
    life_plane_free(&job->plane);
    return life_pattern_read(job->input, &job->pattern) < 0
               ? cli_failed_call(NULL)
               : life_job_check_states(job, job->pattern.states);
}

static int plan(struct plane *p)
{
    struct life_job *job = p->job;
    const bool squares = job->plane.squares.n > 0;
    if (squares && job->at.given)
        return cli_wrong(
            "%s: is a macrocell file, whose middle is that of the plane; leave --at out",
            job->input);
    const int status = take_rule_of(job);
    if (status != CLI_DONE)
        return status;
    return life_job_has_states(job) && job->plane.p.states > 2
               ? read_states(job)
               : life_job_check_states(job,
                                       squares ? job->plane.squares.states : job->plane.p.states);
}

static int open_plane(struct plane *p)
{
    struct life_job *job = p->job;
    int status = life_start_open(job);
    if (status == CLI_DONE && job->generations > UINT64_MAX - job->started)
        return cli_wrong("--generations: from generation %" PRIu64 " on there are %" PRIu64
                         " at most",
                         job->started, UINT64_MAX - job->started);
    p->end = job->started + job->generations;
    return status;
}

/* ---- The run. -------------------------------------------------------------------------------- */

static int row(struct plane *p)
{
    struct hashlife_number n;
    if (!cli_outputs_have(&p->job->outputs, CLI_OUTPUT_TABLE) && !p->job->lines.wanted)
        return CLI_DONE;
    if (endless_population(p->e, &n) < 0)
        return cli_failed_call(NULL);
    if (p->job->lines.wanted)
        return life_lines_visit(p->job, decimal(n));
    const double values[2] = {(double)endless_generation(p->e), hashlife_number_double(n)};
    return csv_row(&p->job->table, values) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

static uint64_t step_of(const struct life_job *job)
{
    if (job->step)
        return job->step;
    if (!cli_outputs_have(&job->outputs, CLI_OUTPUT_TABLE))
        return job->generations;
    return job->generations <= EVERY ? 1 : job->generations / ROWS;
}

/* The generations until the next row, or fewer where there is a window, or somebody steps there. */
static uint64_t burst_from(const struct plane *p, uint64_t next)
{
    const struct life_job *job = p->job;
    const uint64_t at = endless_generation(p->e),
                   most = job->window.open && !job->step && p->burst < next - at ? p->burst
                                                                                 : next - at;
    return cli_window_burst(&job->window, at - job->started, most);
}

/* The next burst, from how long this one of n generations took. */
static void adapt(struct plane *p, uint64_t n, double took)
{
    const double visit =
        p->e->sparse ? cli_window_seconds(&p->job->window, SPARSE_SECONDS) : TREE_SECONDS;
    if (n == p->burst && took < visit / 2 && n <= UINT64_MAX / 4)
        p->burst *= 2;
    else if (took > 2 * visit && p->burst > 1)
        p->burst /= 2;
}

/* The generation of the row, or line, behind that of `at`. */
static uint64_t next_after(const struct plane *p, uint64_t at)
{
    const uint64_t step = step_of(p->job);
    return p->job->lines.wanted ? p->job->lines.due
                                : at + (step < p->end - at ? step : p->end - at);
}

static int run(struct plane *p)
{
    struct life_job *job = p->job;
    uint64_t next = job->started; /* where the next row is due */
    int status = row(p);
    if (status == CLI_DONE)
        status = life_view_visit(job);
    cli_progress_start(&job->progress, "generations", (double)job->generations,
                       job->common.quiet || job->lines.wanted);
    while (status == CLI_DONE &&
           endless_generation(p->e) < (job->lines.wanted ? job->lines.due : p->end) &&
           !cli_interrupted()) {
        if (next == endless_generation(p->e))
            next = next_after(p, next);
        const uint64_t n = burst_from(p, next);
        const double start = seconds_now();
        if (life_race_step(job, n) < 0 && clerrno != ECANCELED)
            status = cli_failed_call(NULL);
        job->seconds += seconds_now() - start;
        adapt(p, n, seconds_now() - start);
        cli_progress_update(&job->progress, (double)(endless_generation(p->e) - job->started),
                            NULL); /* short steps tell of none */
        if (status == CLI_DONE && (endless_generation(p->e) == next || cli_interrupted()))
            status = row(p);
        if (status == CLI_DONE)
            status = life_view_visit(job);
    }
    cli_progress_end(&job->progress);
    job->interrupted = cli_interrupted();
    return status;
}

/* ---- After. ---------------------------------------------------------------------------------- */

static bool is_far(struct hashlife_number n)
{
    return fabs(hashlife_number_double(n)) > 0x1p62;
}

/* The states of the rectangle's cells. */
static int present_states(const struct plane *p, struct life_pattern *pattern)
{
    if (cli_memory_for(pattern->columns, pattern->rows, "cells of several states") != CLI_DONE)
        return CLI_FAILED;
    pattern->states = hashlife_states(p->e->tree);
    pattern->colours = p->job->transitions ? life_transitions_colour(p->job->transitions, 0) : NULL;
    pattern->state = cli_alloc(pattern->columns, pattern->rows);
    return hashlife_get_states(p->e->tree, pattern->x, pattern->y - 1, pattern->columns,
                               pattern->rows, pattern->state) < 0
               ? cli_failed_call(NULL)
               : CLI_DONE;
}

/* What is written of two states is asked for some rows at a time. */
struct rows {
    struct life_endless *e;
    const struct life_pattern *pattern;
};

static int load(void *rows, size_t first, size_t count, uint64_t *word)
{
    const struct rows *r = rows;
    return endless_get(r->e, r->pattern->x, r->pattern->y - 1 + (long long)first,
                       &(struct life_cells){r->pattern->columns, count, r->pattern->stride, word});
}

/* The rectangle of live cells as a pattern, with some of its rows, or all if `whole`, in `cells`,
 * which the caller frees. */
static int present(const struct plane *p, const char *file, size_t most, bool whole,
                   struct life_cells *cells, struct life_pattern *pattern)
{
    enum { WORDS = 1 << 23 }; /* of some rows */
    struct hashlife_box box = {.left = {0, 0}};
    const int any = endless_bounding_box(p->e, &box);
    if (any < 0)
        return cli_failed_call(NULL);
    const double width = hashlife_number_double(box.right) - hashlife_number_double(box.left),
                 height = hashlife_number_double(box.bottom) - hashlife_number_double(box.top);
    if (width > (double)most || height > (double)most)
        return cli_failed(
            "%s: the live cells span %.4g x %.4g, more than %zu, which is the most here; write a macrocell file, .mc",
            file, width, height, most);
    if (any && (is_far(box.left) || is_far(box.top)))
        return cli_failed(
            "%s: the live cells are more than 2^62 from the middle of the plane, which only a macrocell file, .mc, can say",
            file);
    const size_t columns = any ? (size_t)width : 1, rows = any ? (size_t)height : 1;
    const size_t words = (columns + 63) / 64,
                 few = WORDS / words > LIFE_BAND_ROWS ? WORDS / words : LIFE_BAND_ROWS;
    if (cli_memory_for(words * (whole || rows < few ? rows : few), 8, "words of 64 cells") !=
        CLI_DONE)
        return CLI_FAILED;
    if (life_cells_alloc(cells, columns, whole || rows < few ? rows : few) < 0)
        return cli_failed_call(NULL);
    const long long x = (long long)box.left.low, y = (long long)box.top.low;
    if (whole && endless_get(p->e, x, y, cells) < 0)
        return cli_failed_call(NULL);
    *pattern = (struct life_pattern){.width = columns,
                                     .height = rows,
                                     .columns = columns,
                                     .rows = rows,
                                     .stride = cells->stride,
                                     .word = whole ? cells->word : NULL,
                                     .placed = true,
                                     .x = x,
                                     .y = y + 1, /* in files the middle of the plane is 0,1 */
                                     .generation = endless_generation(p->e)};
    snprintf(pattern->rule, sizeof pattern->rule, "%s", p->job->rule);
    return life_job_has_states(p->job) ? present_states(p, pattern) : CLI_DONE;
}

static int finish_output(const struct plane *p, struct cli_output *o)
{
    struct life_cells cells = {0};
    struct life_pattern pattern = {.width = 0};
    const bool picture = o->kind == CLI_OUTPUT_PICTURE;
    if (o->kind == CLI_OUTPUT_TABLE)
        return csv_close(&p->job->table) < 0 ? cli_failed_call(NULL) : CLI_DONE;
    if (!picture && strcmp(life_format_of(o->file), "macrocell") == 0)
        return cli_output_end(o, life_squares_save(p->job, o->file), &p->job->interrupted);
    const size_t most = picture ? WIDEST_PICTURE / p->job->zoom : (size_t)1 << 40;
    const bool whole = life_job_has_states(p->job);
    int status = present(p, o->file, most, whole, &cells, &pattern);
    struct rows rows = {p->e, &pattern};
    struct life_band band = {.load = load, .arg = &rows, .word = cells.word, .rows = cells.height};
    pattern.band = whole ? NULL : &band;
    if (status == CLI_DONE)
        status = cli_output_end(
            o,
            picture ? life_pattern_write_png(o->file, &pattern, (unsigned)p->job->zoom)
                    : life_pattern_write(o->file, &pattern, NULL),
            &p->job->interrupted);
    life_cells_free(&cells);
    free(pattern.state);
    return status;
}

static json_t *json_number(struct hashlife_number n)
{
    return (n.high == 0 && n.low <= INT64_MAX) || (n.high == -1 && n.low > INT64_MAX)
               ? json_integer((json_int_t)n.low)
               : json_string(decimal(n));
}

static json_t *json_count(uint64_t n)
{
    return json_number((struct hashlife_number){n, 0});
}

/* What the engine alone has to tell. */
static json_t *json_of_engine(const struct life_endless *e)
{
    return e->tree ? json_pack("{s:I, s:I}", "tree_bytes", (json_int_t)hashlife_bytes(e->tree),
                               "collections", (json_int_t)hashlife_collections(e->tree))
                   : json_pack("{s:I, s:I, s:o}", "tile_bytes",
                               (json_int_t)life_sparse_bytes(e->sparse), "tiles",
                               (json_int_t)life_sparse_tiles(e->sparse), "tiles_computed",
                               json_count(life_sparse_computed(e->sparse)));
}

static int report_json(const struct plane *p, const char *device, struct hashlife_number population,
                       const struct hashlife_box *box)
{
    const struct life_job *job = p->job;
    const uint64_t generation = endless_generation(p->e);
    json_t *report =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:n, s:n, s:o, s:o, s:o, s:o, s:o, s:n, s:n, s:b}",
                  "program", "life", "device", device, "engine", life_engine_names[job->engine],
                  "rule", job->rule, "bounds", "none", "width", "height", "generations",
                  json_integer((json_int_t)(generation - job->started)), "generation",
                  json_count(generation), "population", json_number(population), "box",
                  box ? json_pack("[o, o, o, o]", json_number(box->left), json_number(box->top),
                                  json_number(box->right), json_number(box->bottom))
                      : json_null(),
                  "seconds", cli_json_real(job->seconds), "cell_updates_per_s", "period",
                  "interrupted", job->interrupted);
    json_object_update_new(report, json_of_engine(p->e));
    const int status = cli_json_print(report);
    json_decref(report);
    return status;
}

static void report_engine(const struct life_endless *e, FILE *fp)
{
    struct cli_text text;
    if (e->sparse) {
        fprintf(fp,
                "%-14s%zu, and %" PRIu64 " were computed, eight generations or fewer each; %s\n",
                "tiles", life_sparse_tiles(e->sparse), life_sparse_computed(e->sparse),
                cli_text_bytes(&text, (double)life_sparse_bytes(e->sparse)));
        return;
    }
    fprintf(fp, "%-14s%s", "tree", cli_text_bytes(&text, (double)hashlife_bytes(e->tree)));
    if (hashlife_collections(e->tree))
        fprintf(fp, ", thrown away and made anew %" PRIu64 " times", hashlife_collections(e->tree));
    fprintf(fp, "\n");
}

static void report_text(const struct plane *p, const char *device,
                        struct hashlife_number population, const struct hashlife_box *box, FILE *fp)
{
    const struct life_job *job = p->job;
    struct cli_text text;
    fprintf(fp, "%-14s%s\n", "device", device);
    fprintf(fp, "%-14swithout edges, %s, from %s\n", "plane", job->rule, job->input);
    fprintf(fp, "%-14s%" PRIu64 ", from %" PRIu64 " to %" PRIu64 ", engine %s\n", "generations",
            endless_generation(p->e) - job->started, job->started, endless_generation(p->e),
            life_engine_names[job->engine]);
    fprintf(fp, "%-14s%s\n", "population", decimal(population));
    if (box)
        fprintf(fp, "%-14scolumns %s to %s, rows %s to %s\n", "live cells", decimal(box->left),
                decimal(box->right), decimal(box->top), decimal(box->bottom));
    fprintf(fp, "%-14s%s\n", "duration", cli_text_duration(&text, job->seconds));
    report_engine(p->e, fp);
    cli_outputs_report(&job->outputs, fp);
    if (job->interrupted)
        cli_interrupt_report(endless_generation(p->e) - job->started,
                             job->watch ? 0 : job->generations, "generations", fp);
}

static int finish(struct plane *p)
{
    const struct life_job *job = p->job;
    struct hashlife_number population;
    struct hashlife_box box;
    for (size_t i = 0; i < job->outputs.n; i++) {
        const int status = finish_output(p, &job->outputs.item[i]);
        if (status != CLI_DONE)
            return status;
    }
    const int any = endless_bounding_box(p->e, &box);
    if (any < 0 || endless_population(p->e, &population) < 0)
        return cli_failed_call(NULL);
    char *device = p->e->sparse ? cli_devices_name(job->context) : NULL;
    int status = CLI_DONE;
    if (job->common.json)
        status = report_json(p, device ? device : NO_DEVICE, population, any ? &box : NULL);
    else if (!job->common.quiet && !job->lines.wanted)
        report_text(p, device ? device : NO_DEVICE, population, any ? &box : NULL,
                    cli_outputs_take_stdout(&job->outputs) ? stderr : stdout);
    free(device);
    return status;
}

int life_plane_run(struct life_job *job)
{
    struct plane p = {.job = job, .e = &job->endless, .burst = FIRST_BURST};
    if (job->generations == UINT64_MAX)
        job->generations = job->watch ? UINT64_MAX - job->started : 1024;
    if (!job->zoom)
        job->zoom = 1;
    int status = plan(&p);
    if (status == CLI_DONE)
        status = open_plane(&p);
    cli_interrupt_catch(); /* from here on there is something to save */
    if (status == CLI_DONE)
        status = life_output_open(job);
    if (status == CLI_DONE)
        status = life_view_open(job);
    if (status == CLI_DONE)
        status = job->watch ? life_job_watch(job) : run(&p);
    if (status == CLI_DONE)
        status = life_view_end(job);
    if (status == CLI_DONE)
        status = finish(&p);
    if (status == CLI_DONE && job->context)
        status = cli_profile_report(&job->common, job->context);
    if (status == CLI_DONE && job->interrupted)
        status = cli_interrupt_status(CLI_DONE);
    endless_free(p.e);
    life_start_done(job);
    return status;
}
