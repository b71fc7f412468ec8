/* life_choice.c - `stdcl life --engine auto`: a bounded grid on devices, or an unbounded plane.
 *
 * A soup fills a grid, and so does a pattern with edges in its file or on the command line. A
 * pattern without edges runs on an unbounded plane, by HashLife or sparse, whichever is faster
 * (life_race.c), unless an option needs a grid. Then life_edge.c detects when the pattern
 * reaches the grid's edges.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "alloc.h"
#include "message.h"
#include "ranks.h"
#include "usage.h"
#include "life_grid.h"
#include "life_run.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* An option that decides, and the reason. */
struct reason {
    const char *option, *why;
};

/* Options that apply only to grids. */
static const struct reason grid_options[] = {
    {"size", "--size applies only to bounded grids"},
    {"bounds", "--bounds applies only to bounded grids"},
    {"soup", "random cells fill a grid"},
    {"seed", "random cells fill a grid"},
    {"compare", "--compare runs the engines of bounded grids"},
    {"shape", "--shape applies only to kernels of bounded grids"},
    {"until-stable", "--until-stable compares every generation"},
    {"every-minutes", "--every-minutes applies only to bounded grids"},
    {"frames", "--frames applies only to bounded grids"},
};

/* Options that HashLife does not support, because it uses no device. */
static const struct reason device_options[] = {
    {"device", "--device selects a device"},
    {"profile", "--profile applies only to devices"},
    {"trace", "--trace applies only to devices"},
};

/* Reason for which the options need a grid; NULL: none. */
static const char *grid_reason(const struct life_job *job, const struct cli_option *options)
{
    for (size_t i = 0; i < sizeof grid_options / sizeof *grid_options && options; i++)
        if (cli_given(options, grid_options[i].option))
            return grid_options[i].why;
    for (size_t i = 0; i < job->outputs.names.n; i++)
        if (cli_output_kind(job->outputs.names.item[i]) == CLI_OUTPUT_FILM)
            return "a film needs a bounded grid";
    return !job->input                                     ? "random cells fill a grid"
           : job->rule_text && strchr(job->rule_text, ':') ? "--rule names a bounded grid"
           : world_size(cli_world) > 1                     ? "several ranks divide a grid"
                                                           : NULL;
}

/* True if an option needs a device, or the packed kernels. */
static bool given_for_devices(const struct cli_option *options)
{
    static const char *const names[] = {"device", "profile", "trace", "shape", "compare"};
    for (size_t i = 0; i < sizeof names / sizeof *names && options; i++)
        if (cli_given(options, names[i]))
            return true;
    return false;
}

/* True for Golly's T0, T0,0, P0 and P0,0: with both sides infinite, there is no grid. */
static bool is_infinite_grid(const char *bounds)
{
    if (!*bounds || !strchr("TtPp", *bounds))
        return false;
    const char *comma = strchr(bounds, ',');
    const size_t width = strspn(bounds + 1, "0"), height = comma ? strspn(comma + 1, "0") : 0;
    return width && (comma ? bounds + 1 + width == comma && height && !comma[1 + height]
                           : !bounds[1 + width]);
}

static void drop_infinite_grid(char *bounds)
{
    if (is_infinite_grid(bounds))
        bounds[0] = '\0';
}

/* The rule without an infinite grid. */
static const char *rule_without_infinite_grid(struct life_job *job, const char *rule)
{
    const char *colon = strrchr(rule, ':');
    if (!colon || !is_infinite_grid(colon + 1))
        return rule;
    job->rule_copy = cli_alloc((size_t)(colon - rule) + 1, 1);
    memcpy(job->rule_copy, rule, (size_t)(colon - rule));
    job->rule_copy[colon - rule] = '\0';
    return job->rule_copy;
}

void life_choice_begin(struct life_job *job, const struct cli_option *options)
{
    if (job->rule_text)
        job->rule_text = rule_without_infinite_grid(job, job->rule_text);
    job->any_engine = job->engine == LIFE_AUTO && !given_for_devices(options);
    job->choice = job->engine == LIFE_AUTO ? grid_reason(job, options) : "selected by --engine";
    if (job->engine == LIFE_AUTO && job->choice)
        job->engine = LIFE_PACKED;
    for (size_t i = 0; i < sizeof device_options / sizeof *device_options && options &&
                       job->engine == LIFE_AUTO && !job->on_device;
         i++)
        if (cli_given(options, device_options[i].option))
            job->on_device = device_options[i].why;
}

enum { LEAST_MEMORY = 1 << 20 }; /* for a pattern, whatever --memory */

/* Divide the file's generation into the part that engines count and the rest, which is even as
 * rules with B0 need it. */
static void set_start(struct life_job *job, life_generation_t generation)
{
    const uint64_t epochs = (uint64_t)1 << 62;
    job->started = (uint64_t)(generation < 2 * epochs ? generation : generation % epochs);
    job->epoch = generation - job->started;
}

static int read_pattern(struct life_job *job)
{
    life_pattern_limit = job->memory && job->memory < LEAST_MEMORY ? LEAST_MEMORY : job->memory;
    const bool plane = job->engine == LIFE_AUTO || life_job_plane_engine(job->engine);
    if ((plane ? life_plane_read(job->input, &job->plane)
               : life_pattern_read(job->input, &job->pattern)) < 0)
        return cli_failed_call(NULL);
    drop_infinite_grid(job->plane.squares.bounds);
    drop_infinite_grid(job->plane.p.bounds);
    drop_infinite_grid(job->pattern.bounds);
    set_start(job, job->plane.squares.n ? job->plane.squares.generation
                   : plane              ? job->plane.p.generation
                                        : job->pattern.generation);
    return CLI_DONE;
}

static const char *chosen_rule(const struct life_job *job)
{
    return job->rule_text         ? job->rule_text
           : job->plane.squares.n ? job->plane.squares.rule
                                  : job->plane.p.rule;
}

/* True if an engine has an unbounded plane under the rule; LIFE_AUTO: any. Else clerror() says why
 * not. A rule of a file, which is not known yet, counts as one that hashlife has. */
static bool plane_has_rule(const struct life_job *job, enum life_engine engine)
{
    const char *rule = chosen_rule(job);
    char normal[LIFE_RULE_TEXT];
    if (rule[0] && life_rule_normal(rule, normal) < 0)
        return engine != LIFE_SPARSE;
    return life_choose(&(struct life_options){.engine = engine,
                                              .bounds = LIFE_UNBOUNDED,
                                              .rule = rule[0] ? rule : NULL},
                       NULL) >= 0;
}

/* Fall back to a grid, and read the pattern again as grids need it. */
static int choose_grid(struct life_job *job, const char *why)
{
    job->choice = why;
    job->engine = LIFE_PACKED;
    life_plane_free(&job->plane);
    if (life_pattern_read(job->input, &job->pattern) < 0)
        return cli_failed_call(NULL);
    drop_infinite_grid(job->pattern.bounds);
    return CLI_DONE;
}

/* A rule that no engine has on a plane runs on a grid with room, unless it has B0. */
static int choose_grid_for_rule(struct life_job *job)
{
    const char *why = cli_reason(); /* once: reading the message clears it */
    if (strstr(why, "(B0)"))
        return cli_wrong("%s; give a grid with --size", why);
    return choose_grid(job, "no engine has an unbounded plane under this rule");
}

/* Choose plain C under Larger than Life, else HashLife or sparse. Sparse has neither macrocell
 * files nor --threads. */
static void choose_plane(struct life_job *job)
{
    if (!plane_has_rule(job, LIFE_HASHLIFE)) {
        job->engine = LIFE_REFERENCE;
        job->host_plane = true;
        job->choice = "the pattern has no grid and runs on an unbounded plane in plain C";
        return;
    }
    const bool both = plane_has_rule(job, LIFE_SPARSE) && !job->plane.squares.n && !job->threads;
    job->race.open = both && !job->on_device;
    job->engine = job->on_device ? LIFE_SPARSE : LIFE_HASHLIFE;
    job->choice =
        job->on_device ? job->on_device
        : both
            ? "the pattern has no grid and runs on an unbounded plane; a long run also tries sparse"
            : "the pattern has no grid and runs on an unbounded plane";
}

/* True if a rule of Larger than Life has the square as its neighbourhood. */
static bool rule_has_square(const char *rule)
{
    const char *shape = strpbrk(rule, "Nn");
    return !shape || toupper((unsigned char)shape[1]) == 'M';
}

/* Nanoseconds of processor time for a cell and generation in plain C. */
static double host_ns(const struct life_job *job)
{
    const int range = job->transitions ? 1 : life_rule_range(job->rule);
    if (range <= 1 && (job->transitions || job->bounds == LIFE_JOINED))
        return 20;
    if (range <= 1)
        return 2;
    const double bytes = range < 8 ? 1 : range < 128 ? 2 : 4; /* of a count */
    return bytes * (rule_has_square(job->rule) ? 0.2 : 0.06 * (2 * range + 1));
}

/* Seconds of processor time of a small run. Opening a device takes longer, and compiling a kernel
 * 2 to 3 s. */
static const double SMALL_SECONDS = 0.25;

/* Choose plain C. */
static void choose_host(struct life_job *job, const char *why)
{
    job->engine = LIFE_REFERENCE;
    if (job->common.explain && cli_ranks_first())
        fprintf(stderr, "engine %s: %s\n", life_engine_name(LIFE_REFERENCE), why);
}

/* True if plain C computes the run sooner than a device is opened and a kernel compiled. */
static bool run_is_small(const struct life_job *job)
{
    const double seconds = 1e-9 * host_ns(job) * (double)job->size.width *
                           (double)job->size.height * (double)job->generations;
    return !job->watch && !job->until_stable && !job->window.wanted && !job->window.record &&
           world_size(cli_world) == 1 && seconds <= SMALL_SECONDS;
}

/* True if plain C, with vectors and threads, computes the rule faster than a kernel on CPUs. */
static bool host_is_faster(const struct life_job *job)
{
    return !job->transitions && life_rule_range(job->rule) > 1 && !stdgpu &&
           world_size(cli_world) == 1 && life_job_has_engine(job, LIFE_REFERENCE);
}

void life_choice_small(struct life_job *job)
{
    if (!job->any_engine || job->engine != LIFE_PACKED)
        return;
    if (!life_job_has_engine(job, LIFE_PACKED) && life_job_has_engine(job, LIFE_REFERENCE))
        choose_host(job, "no kernel has the rule");
    else if (run_is_small(job))
        choose_host(job, "few cells and generations: compiling a kernel takes longer");
    else if (host_is_faster(job))
        choose_host(job, "plain C is faster than a kernel on CPUs under Larger than Life");
}

int life_choice_end(struct life_job *job)
{
    int status = CLI_DONE;
    if (job->input && read_pattern(job) != CLI_DONE)
        return CLI_FAILED;
    if (job->epoch && job->lines.last != UINT64_MAX)
        job->lines.last = job->started; /* the file's generation is later than any last one */
    if (job->lines.wanted && job->lines.last != UINT64_MAX)
        job->generations = job->lines.last > job->started ? job->lines.last - job->started : 0;
    if (job->engine == LIFE_AUTO && job->plane.p.bounds[0] && !job->rule_text) {
        job->choice = "the pattern's file names a grid";
        job->engine = LIFE_PACKED;
        job->pattern = job->plane.p;
        job->plane.p = (struct life_pattern){.width = 0};
    } else if (job->engine == LIFE_AUTO && !plane_has_rule(job, LIFE_AUTO)) {
        status = choose_grid_for_rule(job);
    } else if (job->engine == LIFE_AUTO && job->on_device && !plane_has_rule(job, LIFE_SPARSE)) {
        status = choose_grid(job, job->on_device);
    } else if (job->engine == LIFE_AUTO) {
        choose_plane(job);
    }
    if (status == CLI_DONE && job->common.explain && cli_ranks_first())
        fprintf(stderr, "engine %s: %s\n", life_engine_name((enum life_engine)job->engine),
                job->choice);
    return status;
}
