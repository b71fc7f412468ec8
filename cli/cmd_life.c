/* cmd_life.c - `stdcl life`: Conway's Life and other rules of its family. */
/* SPDX-License-Identifier: MIT */
#include "life_job.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>

/* ---- Values that only this command has. ------------------------------------------------------ */

/* One side: the first `length` characters. */
static bool read_side(const char *text, size_t length, size_t *side)
{
    uint64_t value;
    char digits[24];
    if (length >= sizeof digits)
        return false;
    memcpy(digits, text, length);
    digits[length] = 0;
    if (cli_read_natural(digits, &value) || value < 1 || value > SIZE_MAX)
        return false;
    *side = (size_t)value;
    return true;
}

static bool read_size(const char *text, void *to, char *why, size_t size)
{
    struct life_size *s = to;
    const size_t length = strcspn(text, "xX");
    const char *second = text[length] ? text + length + 1 : text;
    if (read_side(text, length, &s->width) && read_side(second, strlen(second), &s->height))
        return true;
    snprintf(why, size, "'%s' is not a size; give WIDTHxHEIGHT or one number for both, at least 1",
             text);
    return false;
}

static bool read_place(const char *text, void *to, char *why, size_t size)
{
    struct life_place *p = to;
    char *end, *last;
    errno = 0;
    p->x = strtoll(text, &end, 10);
    p->y = *end == ',' ? strtoll(end + 1, &last, 10) : 0;
    p->given = true;
    const long long most = 1LL << 60; /* sums with it are still numbers */
    if (end != text && *end == ',' && last != end + 1 && !*last && !errno && llabs(p->x) < most &&
        llabs(p->y) < most)
        return true;
    snprintf(why, size,
             "'%s' is not a place; give X,Y, the column and row of the pattern's top left corner",
             text);
    return false;
}

/* --soup, --soup=0.3. */
static bool read_density(const char *text, void *to, char *why, size_t size)
{
    struct life_job *job = to;
    char *end;
    job->soup = true;
    job->density = 0;
    if (!text)
        return true;
    job->density = strtod(text, &end);
    if (end != text && !*end && job->density > 0 && job->density <= 1)
        return true;
    snprintf(why, size,
             "'%s' is not a density; give the share of live cells, above 0 and at most 1", text);
    return false;
}

/* --watch, --watch=braille. */
static bool read_watch(const char *text, void *to, char *why, size_t size)
{
    struct life_job *job = to;
    job->watch = true;
    job->braille = text && strcmp(text, "braille") == 0;
    if (!text || job->braille || strcmp(text, "blocks") == 0)
        return true;
    snprintf(why, size, "'%s' is not a way to draw; give blocks or braille", text);
    return false;
}

/* --memory: 500M, 2G, 64MiB. */
static bool read_memory(const char *text, void *to, char *why, size_t size)
{
    static const char units[] = "KMGT";
    char *end;
    const double value = strtod(text, &end);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    const double bytes = unit ? ldexp(value, 10 * (int)(unit - units + 1)) : value;
    end += unit != NULL;
    if (end != text && (!*end || (unit && (!strcmp(end, "iB") || !strcmp(end, "B")))) &&
        bytes >= 1 && bytes < 0x1p62) {
        *(uint64_t *)to = (uint64_t)bytes;
        return true;
    }
    snprintf(why, size, "'%s' is not a size of memory; give a number and K, M, G or T, such as 2G",
             text);
    return false;
}

/* ---- The command line. ----------------------------------------------------------------------- */

/* Options that contradict each other. */
static int check(const struct life_job *job, const struct cli_option *options)
{
    if (job->words.n > 1 || (job->words.n && strcmp(job->words.item[0], "census")))
        return cli_wrong("unexpected argument '%s'; the only word that may stand here is census",
                         job->words.item[job->words.n - 1]);
    if (job->words.n)
        return life_census_check(job, options);
    if (cli_given(options, "soups"))
        return cli_wrong("--soups is for a census: stdcl life census --soups %" PRIu64, job->soups);
    static const char *const of_runs[] = {"watch",         "until-stable", "output", "csv",
                                          "every-minutes", "frames",       "view",   "record"};
    static const char *const not_watched[] = {"until-stable", "every-minutes", "frames", "json"};
    for (size_t i = 0; job->compare && i < sizeof of_runs / sizeof *of_runs; i++)
        if (cli_given(options, of_runs[i]))
            return cli_wrong("--compare only measures; leave %s out",
                             cli_typed(options, of_runs[i]));
    if (job->compare && cli_given(options, "engine"))
        return cli_wrong("--compare runs all engines; leave --engine out");
    for (size_t i = 0; job->watch && i < sizeof not_watched / sizeof *not_watched; i++)
        if (cli_given(options, not_watched[i]))
            return cli_wrong("--watch and --%s cannot be combined", not_watched[i]);
    if (job->watch && (job->window.wanted || job->window.record))
        return cli_wrong("--watch and --%s cannot be combined",
                         job->window.wanted ? "view" : "record");
    if (job->zoom && !cli_outputs_will_draw(&job->outputs))
        return cli_wrong(
            "--zoom is for pictures: add -o FILE.png, or a film: FILE.mp4, FILE.webm or FILE.gif");
    if (job->engine == LIFE_HASHLIFE || job->engine == LIFE_SPARSE)
        return life_plane_check(job, options);
    static const char *const of_planes[] = {"memory", "threads", "step"};
    for (size_t i = 0; i < sizeof of_planes / sizeof *of_planes && job->engine != LIFE_AUTO; i++)
        if (cli_given(options, of_planes[i]))
            return cli_wrong("%s is for --engine hashlife%s, and this is %s: %s",
                             cli_typed(options, of_planes[i]), i == 1 ? "" : " or sparse",
                             life_engine_names[job->engine], job->choice);
    if (job->every_minutes > 0 && !life_output_has_cells(job))
        return cli_wrong("--every-minutes is for files of cells: add -o FILE.mc or FILE.rle");
    if (job->at.given && !job->input)
        return cli_wrong("--at says where a pattern goes: add --pattern FILE");
    if (cli_given(options, "seed") && job->input && !job->soup)
        return cli_wrong("--seed is for soups: add --soup, or leave --pattern out");
    if (job->until_stable && job->outputs.frames)
        return cli_wrong(
            "--frames needs a last generation, which is not known with --until-stable");
    return CLI_DONE;
}

static bool parse(struct life_job *job, int argc, char **argv, int *status)
{
    char outputs[512];
    snprintf(
        outputs, sizeof outputs,
        "by its suffix: the last generation as %s; a film (.mp4 .webm .gif); the population of every generation "
        "(.csv); may be repeated",
        life_formats());
    struct cli_option options[] = {
        CLI_GROUP("The grid"),
        CLI_PARSED(
            0, "size", "WxH", &job->size, read_size,
            "cells across and down, or one number for both (default 1024, or what suits the pattern)"),
        CLI_STRING(
            0, "rule", "RULE", &job->rule_text,
            "such as B36/S23, 23/36, highlife, B2-a/S12, B2/S34H, B2/S013V, of more states 345/2/4, or R5,C0,M1,S34..58,B34..45,NM of Larger than Life, or NAME.rule, a file of Golly's RuleLoader; ':T100,50' after it is a torus of that size, ':P100,50' "
            "a plane, and so on, as Golly's bounded grids (default: the pattern's, else B3/S23)"),
        CLI_CHOICE(0, "bounds", "NAME", &job->bounds, life_bounds_names,
                   "what lies beyond the edge: {} (default torus)"),
        CLI_GROUP("The cells at the start"),
        CLI_PARSED_OPTIONAL(
            0, "soup", "DENSITY", job, read_density,
            "random cells; without DENSITY half of them, from the C library's rand() % 2 (default "
            "unless there is a pattern)"),
        CLI_U64(0, "seed", "SEED", &job->seed, 0, UINT64_MAX,
                "of the random cells; the same seed makes the same cells on every machine"),
        CLI_STRING(
            'p', "pattern", "FILE", &job->input,
            "RLE, .cells, macrocell, .lif, .mcl, also compressed by gzip, recognised by content; '-' reads standard input; or an "
            "apgcode such as xq4_153"),
        CLI_PARSED(
            0, "at", "X,Y", &job->at, read_place,
            "where the pattern's top left corner goes (default: the middle, or where the file says)"),
        CLI_GROUP("The run"),
        CLI_U64('n', "generations", "N", &job->generations, 0, (uint64_t)1 << 62,
                "number of generations (default 1024; with --watch until q; with --compare 64)"),
        CLI_FLAG(
            0, "until-stable", &job->until_stable,
            "stop when the cells repeat one of the last 64 generations, and report the period"),
        CLI_CHOICE(
            0, "engine", "NAME", &job->engine, life_engine_names,
            "what computes the generations: {}; hashlife and sparse have a plane without edges; auto takes one of them for a pattern whose file "
            "has no grid, unless an option asks for one, and packed else"),
        CLI_STRING(
            0, "shape", "WORDS", &job->shape,
            "words KEY=NUMBER that change how packed kernels are launched (default: the device's row of 'stdcl tune')"),
        CLI_PARSED(
            0, "memory", "SIZE", &job->memory, read_memory,
            "hashlife: memory for its tree, sparse: for its tiles, such as 500M or 2G (default: half of the machine's)"),
        CLI_U64(0, "threads", "N", &job->threads, 1, 64,
                "hashlife: threads that compute (default: one a processor)"),
        CLI_U64(
            0, "step", "N", &job->step, 1, UINT64_MAX,
            "hashlife, sparse: generations from one row of the table to the next (default: every one up to 4,096, else such that there are 100)"),
        CLI_FLAG(0, "compare", &job->compare,
                 "run all engines on the same cells, and check that they agree"),
        CLI_GROUP("A census"),
        CLI_U64(0, "soups", "N", &job->soups, 1, (uint64_t)1 << 53,
                "census: number of soups, of 16x16 cells if there is no --size (default 10000)"),
        CLI_GROUP("Output"),
        CLI_STRINGS('o', "output", "FILE", &job->outputs.names, outputs),
        CLI_REAL(
            0, "every-minutes", "MINUTES", &job->every_minutes, CLI_ABOVE_0, DBL_MAX,
            "write the cells meanwhile, too, so often; a run that was killed goes on from them with --pattern"),
        CLI_SIZE(
            0, "frames", "N", &job->outputs.frames, 1, 1000000,
            "number of pictures from start to end, FILE-0001.png and so on (default 100 for a film)"),
        CLI_SIZE(0, "zoom", "N", &job->zoom, 1, 256,
                 "width of a cell in pictures, in pixels (default 1)"),
        CLI_STRING(0, "csv", "FILE", &job->csv, "generation and population, as -o FILE.csv does"),
        CLI_PARSED_OPTIONAL(
            0, "watch", "blocks|braille", job, read_watch,
            "draw in the terminal: space pauses, s steps, + and - change the speed, arrows move, "
            "z and Z zoom, q ends"),
        CLI_WINDOW_OPTIONS(&job->window),
        CLI_COMMON_OPTIONS(&job->common),
        CLI_END,
    };
    const struct cli_usage usage = {
        .synopsis = "[options]\n       stdcl life census [--soups N] [options]",
        .about =
            "Runs Conway's Life, or another rule of its family, on a torus or a plane of any size, and "
            "reports the speed. A census runs many small soups on a plane without edges until they come to rest, and counts "
            "the objects that they leave.",
        .examples =
            "  stdcl life --size 65536 --generations 1024\n"
            "  stdcl life --pattern gun.rle --watch\n"
            "  stdcl life --size 512 --seed 7 --until-stable --csv population.csv -o ash.rle\n"
            "  stdcl life --pattern gun.rle --generations 2^40 -o later.mc\n"
            "  stdcl life census --soups 1e6 --seed 7 --csv objects.csv\n"
            "  stdcl life --rule B36/S23:P300,200 --soup=0.2 --generations 300 -o highlife.mp4\n",
        .options = options,
        .reads = "pattern rule",
        .writes = "output csv trace record",
        .operands = &job->words,
        .operand = "census",
    };
    if (!cli_parse(&usage, argc, argv, status))
        return false;
    life_choice_begin(job, options);
    *status = check(job, options);
    if (*status == CLI_DONE)
        *status = cli_window_check(&job->window, options);
    return *status == CLI_DONE;
}

static int make_engine(struct life_job *job)
{
    job->engine_of_run = life_job_create(job, (enum life_engine)job->engine);
    if (!job->engine_of_run)
        return cli_refused_call();
    for (unsigned dev = 0; dev < life_devices(job->engine_of_run); dev++)
        cli_explain(&job->common, job->context, dev, life_explain(job->engine_of_run, dev),
                    life_shape(job->engine_of_run, dev));
    if (!job->watch)
        cli_progress_start(&job->progress, "generations", 0, job->common.quiet);
    job->doing.filling = true;
    const int status = life_job_fill(job, job->engine_of_run);
    job->doing.filling = false;
    cli_progress_end(&job->progress);
    return status;
}

/* Before computing begins, everything that can be wrong is checked in this order, the cheapest
 * first. */
int life_job_work(struct life_job *job)
{
    if (world_size(cli_world) > 1 && !job->words.n &&
        (job->watch || job->compare || job->engine == LIFE_HASHLIFE || job->engine == LIFE_SPARSE))
        return cli_wrong("--watch, --compare and the engines hashlife and sparse are for one rank");
    if (job->words.n)
        return life_census_run_job(job);
    int status = job->input ? cli_ranks_same_file(job->input) : CLI_DONE;
    if (status == CLI_DONE)
        status = life_output_plan(job);
    if (status == CLI_DONE)
        status = life_choice_end(job);
    if (status == CLI_DONE && (job->engine == LIFE_HASHLIFE || job->engine == LIFE_SPARSE))
        return life_plane_run(job);
    if (status == CLI_DONE)
        status = life_job_plan(job);
    if (status == CLI_DONE && (job->engine != LIFE_REFERENCE || job->compare))
        status = cli_devices_open(&job->common.device, &job->context);
    if (status == CLI_DONE && job->context)
        status = cli_profile_start(&job->common, job->context);
    if (status == CLI_DONE && job->compare)
        return life_job_compare(job);
    if (status == CLI_DONE)
        status = make_engine(job);
    cli_interrupt_catch(); /* from here on there is something to save */
    if (status == CLI_DONE)
        status = life_output_open(job);
    if (status == CLI_DONE)
        status = life_view_open(job);
    if (status == CLI_DONE)
        status = life_edge_open(job);
    if (status == CLI_DONE)
        status = job->watch ? life_job_watch(job) : life_job_run(job);
    if (status == CLI_DONE)
        life_edge_end(job);
    if (status == CLI_DONE)
        status = life_view_end(job);
    if (status == CLI_DONE)
        status = life_output_finish(job);
    if (status == CLI_DONE)
        status = life_job_report(job);
    if (status == CLI_DONE && job->context)
        status = cli_profile_report(&job->common, job->context);
    if (status == CLI_DONE && job->interrupted)
        status = cli_interrupt_status(CLI_DONE);
    return status;
}

int life_job_close(struct life_job *job, int status)
{
    const int closed = cli_window_close(&job->window);
    status = status == CLI_DONE ? closed : status;
    life_output_discard(job);
    cli_ranks_fail(status);
    life_free(job->engine_of_run);
    if (job->context)
        clcontext_destroy(job->context);
    life_pattern_free(&job->pattern);
    life_plane_free(&job->plane);
    life_transitions_free(job->transitions);
    cli_outputs_free(&job->outputs);
    cli_strings_free(&job->words);
    free(job->rule_copy);
    cli_common_free(&job->common);
    return status;
}

static int run(int argc, char **argv)
{
    struct life_job job = {
        .engine = LIFE_AUTO, .bounds = LIFE_NOT_GIVEN, .generations = UINT64_MAX, .seed = 1};
    int status;
    if (parse(&job, argc, argv, &status))
        status = life_job_work(&job);
    return life_job_close(&job, status);
}

const struct cli_command cmd_life = {"life", "run Conway's Life and its relatives", run,
                                     CLI_RANKS_TOGETHER};
