/* cmd_life.c - `stdcl life`: Conway's Life and other rules of its family. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "common.h"
#include "data_files.h"
#include "device.h"
#include "interrupt.h"
#include "message.h"
#include "progress.h"
#include "ranks.h"
#include "usage.h"
#include "life_grid.h"
#include "life_output.h"
#include "life_plane.h"
#include "life_run.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Values of this command. ------------------------------------------------------- */

static bool read_size(const char *text, void *to, char *why, size_t size)
{
    struct life_size *s = to;
    size_t side[2];
    if (!cli_read_sides(text, 1, SIZE_MAX, side)) {
        snprintf(why, size,
                 "'%s' is not a size; give WIDTHxHEIGHT or one number for both, at least 1", text);
        return false;
    }
    *s = (struct life_size){side[0], side[1]};
    return true;
}

static bool read_position(const char *text, void *to, char *why, size_t size)
{
    struct life_place *p = to;
    char *end, *last;
    errno = 0;
    p->x = strtoll(text, &end, 10);
    p->y = *end == ',' ? strtoll(end + 1, &last, 10) : 0;
    p->given = true;
    const long long most = 1LL << 60; /* no overflow in sums */
    if (end != text && *end == ',' && last != end + 1 && !*last && !errno && llabs(p->x) < most &&
        llabs(p->y) < most)
        return true;
    snprintf(
        why, size,
        "'%s' is not a position; give X,Y, the column and row of the pattern's top left corner",
        text);
    return false;
}

/* Parse --soup and --soup=0.3. */
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
             "'%s' is not a density; give the fraction of live cells, above 0 and at most 1", text);
    return false;
}

/* Parse --watch and --watch=braille. */
static bool read_watch(const char *text, void *to, char *why, size_t size)
{
    struct life_job *job = to;
    job->watch = true;
    job->braille = text && strcmp(text, "braille") == 0;
    if (!text || job->braille || strcmp(text, "blocks") == 0)
        return true;
    snprintf(why, size, "'%s' is not a style; give blocks or braille", text);
    return false;
}

/* Parse --memory: 500M, 2G, 64MiB. */
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

/* ---- Options that go together. --------------------------------------------------------------- */

static const struct cli_combination life_combinations[] = {
    CLI_ALLOWS_ONLY(
        "census",
        "soups size rule soup seed generations symmetry root haul output csv " CLI_COMMON_NAMES,
        NULL),
    CLI_ALLOWS_ONLY("identify", "pattern rule at generations memory threads json quiet alone share",
                    NULL),
    CLI_ALLOWS_ONLY("sweep", "soups soup seed generations csv " CLI_COMMON_NAMES, NULL),
    CLI_REQUIRES("soups", "census sweep", "stdcl life census --soups N"),
    CLI_REQUIRES("symmetry root haul", "census", "stdcl life census --symmetry C2_1"),
    CLI_EXCLUDES("root", "size soup seed",
                 "soups of a root have 16 x 16 cells, which the root determines"),
    CLI_REQUIRES("haul", "root", "a haul names its soups by their root"),
    CLI_EXCLUDES("compare",
                 "watch until-stable output csv every-minutes frames figure view view-wait record",
                 NULL),
    CLI_EXCLUDES("compare", "engine", "a comparison runs all engines; omit --engine"),
    CLI_EXCLUDES("watch", "until-stable every-minutes frames json view view-wait record", NULL),
    CLI_EXCLUDES("watch compare sweep identify engine=hashlife engine=sparse", "ranks",
                 "start one rank only"),
    CLI_EXCLUDES("json watch", "output=- csv=- haul=-",
                 "both would write to standard output; give a file name"),
    CLI_REQUIRES("zoom frames caption", "picture", NULL),
    CLI_REQUIRES("grid-lines", "picture figure", NULL),
    CLI_REQUIRES("paper", "figure", NULL),
    CLI_REQUIRES("every-minutes", "cells", NULL),
    CLI_REQUIRES("at", "pattern", NULL),
    CLI_REQUIRES("pattern+seed", "soup", "only soups are random"),
    CLI_EXCLUDES("frames", "until-stable", "frames need a known last generation"),
    CLI_WINDOW_COMBINATIONS,
    {NULL},
};

/* identify PATTERN, or identify and --pattern. */
static int take_identify(struct life_job *job)
{
    if (job->words.n > 2 || (job->words.n == 2 && job->input))
        return cli_wrong("unexpected argument '%s'; one pattern is identified",
                         job->words.item[job->words.n - 1]);
    if (job->words.n == 2)
        job->input = job->words.item[1];
    if (!job->input)
        return cli_wrong("give the pattern to identify, as in 'stdcl life identify FILE'");
    job->words.n = 0;
    job->identify = true;
    return CLI_DONE;
}

/* sweep, or sweep RULES. */
static int take_sweep(struct life_job *job)
{
    if (job->words.n > 2)
        return cli_wrong("unexpected argument '%s'; a sweep reads one file of rules",
                         job->words.item[2]);
    job->rules = job->words.n == 2 ? job->words.item[1] : NULL;
    job->words.n = 0;
    job->sweep = true;
    return CLI_DONE;
}

/* The operand is census or a pattern, as with --pattern; or identify precedes the pattern, sweep a
 * file of rules. */
static int take_operand(struct life_job *job)
{
    if (job->words.n && strcmp(job->words.item[0], "sweep") == 0)
        return take_sweep(job);
    if (job->words.n && strcmp(job->words.item[0], "identify") == 0)
        return take_identify(job);
    if (job->words.n > 1)
        return cli_wrong(
            "unexpected argument '%s'; the only operand is census, identify, sweep or one pattern",
            job->words.item[1]);
    if (!job->words.n || strcmp(job->words.item[0], "census") == 0)
        return CLI_DONE;
    if (job->input)
        return cli_wrong("unexpected argument '%s'; --pattern is given, too, and a run has one",
                         job->words.item[0]);
    job->input = job->words.item[0];
    job->words.n = 0;
    return CLI_DONE;
}

/* Refuse a word that is neither a file nor the name of a shipped pattern. An operand may also be
 * census, identify or sweep. */
static int refuse_pattern_name(const char *word, bool operand)
{
    char best[NAME_MAX + 1];
    struct cli_guess guess = {.word = word};
    if (operand) {
        cli_guess_offer(&guess, "census");
        cli_guess_offer(&guess, "identify");
        cli_guess_offer(&guess, "sweep");
    }
    cli_data_guess(&guess, ".rle", best);
    if (guess.best)
        return cli_failed("%s: no such file or pattern; did you mean '%s'?", word, guess.best);
    return cli_failed(
        "%s: no such file or pattern; 'stdcl life --pattern list' prints the patterns", word);
}

/* Replace the name of a shipped pattern by its path, unless a file has this name. False after
 * --pattern list, or if there is no such pattern. */
static bool find_named_pattern(struct life_job *job, bool operand, int *status)
{
    const char *const name = job->input;
    if (!name || access(name, F_OK) == 0)
        return true;
    const bool a_word = errno == ENOENT && strcmp(name, "-") != 0 && !strpbrk(name, "./") &&
                        !life_pattern_is_named(name);
    if (strcmp(name, "list") == 0) {
        *status = cli_data_list(stdout, ".rle", "#C ");
        return false;
    }
    const char *path = cli_data_file(name, ".rle");
    if (!path && a_word) {
        *status = refuse_pattern_name(name, operand);
        return false;
    }
    job->input = path ? path : name;
    return true;
}

/* Check a census, a sweep or an unbounded plane; on a grid, reject options of planes. */
static int check_life_kind(struct life_job *job, const struct cli_option *options)
{
    if (job->sweep)
        return life_sweep_check(job);
    if (job->words.n)
        return life_census_check(job);
    if (life_job_plane_engine(job->engine))
        return life_plane_check(job, options);
    static const char *const plane_options[] = {"memory", "step"};
    for (size_t i = 0; i < 2 && job->engine != LIFE_AUTO; i++)
        if (cli_given(options, plane_options[i]))
            return cli_wrong("%s applies only to --engine hashlife or sparse%s, but the engine is "
                             "%s: %s",
                             cli_typed(options, plane_options[i]),
                             i ? "" : ", or to Larger than Life without a grid",
                             life_engine_name((enum life_engine)job->engine), job->choice);
    return CLI_DONE;
}

/* ---- The command line. ----------------------------------------------------------------------- */

static bool parse_life_options(struct life_job *job, int argc, char **argv, int *status)
{
    char outputs[512];
    snprintf(
        outputs, sizeof outputs,
        "output file, repeatable; the suffix selects its kind: last generation as %s; film (.mp4 .webm .gif); population of every generation (.csv)",
        life_formats());
    const char *engines[LIFE_ENGINES + 1];
    life_job_engine_names(engines);
    struct cli_option options[] = {
        CLI_GROUP("Grid"),
        CLI_PARSED(
            0, "size", "WxH", &job->size, read_size,
            "size in cells, or one number for both sides (default 1024, or fitting the pattern)"),
        CLI_STRING(
            0, "rule", "RULE", &job->rule_text,
            "rule, such as B36/S23, 23/36, highlife, B2-a/S12, B2/S34H, B2/S013V, 345/2/4 (Generations), B3/S23|B2/S (alternating), R5,C0,M1,S34..58,B34..45,NM or R3,C2,S2,7-12,B8,N2 (Larger than Life), or NAME.rule, a file of Golly's RuleLoader; a suffix selects a bounded grid as in Golly: ':T100,50' is a torus of that size, ':P100,50' a plane (default: the pattern's, else B3/S23)"),
        CLI_CHOICE(0, "bounds", "NAME", &job->bounds, life_bounds_names,
                   "boundary conditions: {} (default torus)"),
        CLI_GROUP("Initial cells"),
        CLI_PARSED_OPTIONAL(
            0, "soup", "DENSITY", job, read_density,
            "random cells with the given density; without DENSITY from the C library's rand() % 2 (default without a pattern)"),
        CLI_U64(0, "seed", "SEED", &job->seed, 0, UINT64_MAX,
                "seed of the random cells; equal seeds give equal cells on every machine"),
        CLI_STRING(
            'p', "pattern", "FILE", &job->input,
            "pattern file, recognised by content, also gzipped: RLE, .cells, macrocell, .lif, .mcl; '-' reads standard input; or an apgcode such as xq4_153; or a shipped pattern's name, such as gun: 'list' prints all"),
        CLI_PARSED(0, "at", "X,Y", &job->at, read_position,
                   "position of the pattern's top left corner (default: centred, or the file's)"),
        CLI_GROUP("Run"),
        CLI_U64('n', "generations", "N", &job->generations, 0, (uint64_t)1 << 62,
                "number of generations (default 1024; with --watch until q; with --compare 64)"),
        CLI_FLAG(0, "until-stable", &job->until_stable,
                 "stop when the cells repeat one of the last 64 generations; report the period"),
        CLI_CHOICE(
            0, "engine", "NAME", &job->engine, engines,
            "engine: {}; hashlife and sparse compute on an unbounded plane; auto selects one of these two for a pattern without a grid, or reference under Larger than Life, unless an option needs a grid; otherwise packed"),
        CLI_STRING(
            0, "shape", "WORDS", &job->shape,
            "launch shape of the packed kernels, as words KEY=NUMBER (default: the device's entry of 'stdcl tune')"),
        CLI_PARSED(
            0, "memory", "SIZE", &job->memory, read_memory,
            "memory limit of hashlife's tree, sparse's tiles or a plane of Larger than Life, such as 500M or 2G (default: half of the machine's memory)"),
        CLI_U64(
            0, "threads", "N", &job->threads, 1, 64,
            "threads of hashlife, or of Larger than Life in plain C (default: one per processor, of Larger than Life at most 16)"),
        CLI_U64(
            0, "step", "N", &job->step, 1, UINT64_MAX,
            "unbounded planes: generations between rows of the table (default: 1 for up to 4,096 generations, else 100 rows)"),
        CLI_FLAG(0, "compare", &job->compare, "comparison of all engines on the same cells"),
        CLI_GROUP("Census and sweep"),
        CLI_U64(
            0, "soups", "N", &job->soups, 1, (uint64_t)1 << 53,
            "number of soups of a census, of 16x16 cells without --size (default 10000); of each rule of a sweep, of 64x64 cells (default 4)"),
        CLI_STRING(
            0, "symmetry", "NAME", &job->symmetry,
            "symmetry of the soups as in Catagolue: C1, C2_1, C2_2, C2_4, C4_1, C4_4, D2_+1, D2_+2, D2_x, D4_+1, D4_+2, D4_+4, D4_x1, D4_x4, D8_1 or D8_4 (default C1, none); --size is the size of the random cells, without their images"),
        CLI_STRING(
            0, "root", "ROOT", &job->root,
            "soups of apgsearch with this root: soup N is the SHA-256 digest of ROOT followed by N"),
        CLI_STRING(0, "haul", "FILE", &job->haul,
                   "counts and first soups of the objects in the format of apgsearch's hauls"),
        CLI_GROUP("Output"),
        CLI_STRINGS('o', "output", "FILE", &job->outputs.names, outputs),
        CLI_REAL(
            0, "every-minutes", "MINUTES", &job->every_minutes, CLI_ABOVE_0, DBL_MAX,
            "minutes between additional writes of the cells, from which --pattern resumes a killed run"),
        CLI_SIZE(
            0, "frames", "N", &job->outputs.frames, 1, 1000000,
            "number of pictures from start to end, FILE-0001.png and so on (default for a film: 100, or one per generation if the run has fewer)"),
        CLI_SIZE(0, "zoom", "N", &job->zoom, 1, 256, "pixels per cell in pictures (default 1)"),
        CLI_FLAG(0, "grid-lines", &job->grid_lines,
                 "lines between cells in pictures (--zoom 4 or more) and figures"),
        CLI_FLAG(0, "caption", &job->caption,
                 "generation above pictures and films, and a scale bar in cells below"),
        CLI_FIGURE_OPTIONS(
            &job->figures,
            "figure of the last cells with axes, generation and population, drawn by gnuplot, repeatable, as .svg, .png or .pdf"),
        CLI_STRING(0, "csv", "FILE", &job->csv,
                   "table of generation and population, as -o FILE.csv"),
        CLI_PARSED_OPTIONAL(
            0, "watch", "blocks|braille", job, read_watch,
            "animation in the terminal: space pauses, s steps, + and - change the speed, arrows move, z and Z zoom, q quits"),
        CLI_WINDOW_OPTIONS(&job->window),
        CLI_COMMON_OPTIONS(&job->common),
        CLI_END,
    };
    struct cli_condition conditions[] = {
        {"census", .text = "census"},
        {"identify", .text = "identify"},
        {"sweep", .text = "sweep"},
        {"picture", .text = CLI_OUTPUTS_PICTURE},
        {"cells", .text = "a pattern to write (-o FILE.mc or FILE.rle)"},
        {"ranks", "several ranks", .holds = world_size(cli_world) > 1},
        {NULL},
    };
    const struct cli_usage usage = {
        .synopsis =
            "[options] [PATTERN]\n       stdcl life census [--soups N] [options]\n       stdcl life identify [options] PATTERN\n       stdcl life sweep [options] [RULES]",
        .about =
            "Runs Conway's Life and related rules on a torus or a plane of any size, and reports the speed. A census runs many small soups on an unbounded plane until they stabilise, and counts the objects that remain. To identify a pattern finds its period, motion, growth and objects. A sweep runs soups under each rule of a file, or under all of the B/S family without B0, and says which of them die, settle or stay active.",
        .examples =
            "  stdcl life --size 65536 --generations 1024\n"
            "  stdcl life gun --watch\n"
            "  stdcl life --size 512 --seed 7 --until-stable --csv population.csv -o ash.rle\n"
            "  stdcl life gun --generations 2^40 -o later.mc\n"
            "  stdcl life census --soups 1e6 --seed 7 --csv objects.csv\n"
            "  stdcl life identify gun\n"
            "  stdcl life sweep --csv rules.csv\n"
            "  stdcl life --rule B36/S23:P300,200 --soup=0.2 -n 300 -o highlife.mp4\n"
            "  stdcl life gun --generations 60 --figure gun.pdf --grid-lines\n",
        .options = options,
        .combinations = life_combinations,
        .conditions = conditions,
        .reads = "pattern rule",
        .writes = "output haul csv figure trace record",
        .operands = &job->words,
        .operand = "PATTERN",
    };
    if (!cli_parse(&usage, argc, argv, status))
        return false;
    if ((*status = take_operand(job)) != CLI_DONE)
        return false;
    if (!find_named_pattern(job, !cli_given(options, "pattern"), status))
        return false;
    if ((*status = cli_check_files(&usage)) != CLI_DONE)
        return false;
    if (job->identify)
        job->engine = LIFE_HASHLIFE;
    life_choice_begin(job, options);
    cli_condition_set(&usage, "census", job->words.n > 0);
    cli_condition_set(&usage, "identify", job->identify);
    cli_condition_set(&usage, "sweep", job->sweep);
    cli_condition_set(&usage, "picture", cli_outputs_will_draw(&job->outputs));
    cli_condition_set(&usage, "cells", life_output_has_cells(job));
    if ((*status = cli_combinations_check(&usage)) != CLI_DONE)
        return false;
    if ((*status = check_life_kind(job, options)) != CLI_DONE)
        return false;
    return (*status = cli_window_check(&job->window, job->common.quiet)) == CLI_DONE;
}

/* Reject --threads on a grid unless plain C has threads: under Larger than Life, whose canonical
 * rules begin with R. */
static int check_grid_threads(const struct life_job *job)
{
    if (!job->threads || (job->engine == LIFE_REFERENCE && !job->transitions && *job->rule == 'R'))
        return CLI_DONE;
    return cli_wrong("--threads applies only to --engine hashlife, or to Larger than Life in plain "
                     "C, but %s runs on a grid with the engine %s",
                     job->transitions ? "the rule" : job->rule,
                     life_engine_name((enum life_engine)job->engine));
}

static int create_grid_engine(struct life_job *job)
{
    if (!job->watch)
        cli_progress_start(&job->progress, "generations", 0, job->common.quiet);
    job->engine_of_run = life_job_create(job, (enum life_engine)job->engine);
    if (!job->engine_of_run)
        return cli_refused_call();
    life_job_explain(job, job->engine_of_run);
    for (unsigned dev = 0; dev < life_devices(job->engine_of_run); dev++)
        cli_explain(&job->common, job->context, dev, life_explain(job->engine_of_run, dev),
                    life_shape(job->engine_of_run, dev));
    job->doing.filling = true;
    const int status = life_job_fill(job, job->engine_of_run);
    job->doing.filling = false;
    cli_progress_end(&job->progress);
    return status;
}

/* Open the view. A wait for a viewer that is interrupted ends the run before its first step; --json
 * reports such a run, too. */
static int open_life_view(struct life_job *job)
{
    const int status = life_view_open(job);
    if (status == CLI_DONE || !job->common.json || !cli_interrupted())
        return status;
    job->interrupted = true;
    return cli_first_failure(status, life_job_report(job));
}

/* If a device is lost, the table and films end there. */
static int run_and_write_cells(struct life_job *job)
{
    int status = job->watch ? life_job_watch(job) : life_job_run(job);
    if (status == CLI_DONE) {
        life_edge_end(job);
        status = life_view_end(job);
    }
    if (status == CLI_DONE)
        status = life_output_finish(job);
    if (status != CLI_DONE)
        life_output_cut_short(job);
    return status;
}

/* Checks come before computing, the cheapest first. */
int life_job_work(struct life_job *job)
{
    int status;
    if (job->sweep)
        return life_sweep_job(job);
    if (job->words.n)
        return life_census_run_job(job);
    if ((status = cli_ranks_same_file(job->input)) != CLI_DONE)
        return status;
    if ((status = life_output_plan(job)) != CLI_DONE)
        return status;
    if ((status = life_choice_end(job)) != CLI_DONE)
        return status;
    if (life_job_plane_engine(job->engine) || job->host_plane)
        return life_plane_run(job);
    if ((status = life_job_plan(job)) != CLI_DONE)
        return status;
    life_choice_small(job);
    if ((status = check_grid_threads(job)) != CLI_DONE)
        return status;
    if ((job->engine != LIFE_REFERENCE || job->compare) &&
        (status = cli_devices_open(&job->common.device, &job->context)) != CLI_DONE)
        return status;
    if ((status = cli_profile_start(&job->common, job->context)) != CLI_DONE)
        return status;
    if (job->compare)
        return life_job_compare(job);
    if ((status = create_grid_engine(job)) != CLI_DONE)
        return status;
    cli_interrupt_catch(); /* from here on there are results to save */
    if ((status = life_output_open(job)) != CLI_DONE)
        return status;
    if ((status = open_life_view(job)) != CLI_DONE)
        return status;
    if ((status = life_edge_open(job)) != CLI_DONE)
        return status;
    if ((status = run_and_write_cells(job)) != CLI_DONE)
        return status;
    if ((status = life_job_report(job)) != CLI_DONE)
        return status;
    if ((status = cli_profile_report(&job->common, job->context)) != CLI_DONE)
        return status;
    if ((status = life_view_stay(job)) != CLI_DONE)
        return status;
    return cli_first_failure(job->outputs.status,
                             job->interrupted ? cli_interrupt_status(CLI_DONE) : CLI_DONE);
}

int life_job_close(struct life_job *job, int status)
{
    status = cli_first_failure(status, cli_window_close(&job->window));
    life_output_discard(job);
    life_edit_free(job);
    cli_ranks_fail(status);
    life_free(job->engine_of_run);
    if (job->context)
        clcontext_destroy(job->context);
    life_pattern_free(&job->pattern);
    life_plane_free(&job->plane);
    life_transitions_free(job->transitions);
    cli_outputs_free(&job->outputs);
    cli_strings_free(&job->figures.names);
    cli_strings_free(&job->words);
    free(job->rule_copy);
    cli_common_free(&job->common);
    return status;
}

static int cmd_life_run(int argc, char **argv)
{
    struct life_job job = {.engine = LIFE_AUTO,
                           .bounds = LIFE_NOT_GIVEN,
                           .generations = UINT64_MAX,
                           .seed = 1,
                           .figures = {.argc = argc, .argv = argv}};
    int status;
    if (parse_life_options(&job, argc, argv, &status))
        status = life_job_work(&job);
    return life_job_close(&job, status);
}

const struct cli_command cmd_life = {"life", "run Conway's Life and its relatives", cmd_life_run,
                                     CLI_RANKS_COLLECTIVE};
