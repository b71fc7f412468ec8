/* life_choice.c - `stdcl life --engine auto`: a grid on devices, or a plane without edges.
 *
 * A soup fills a grid, and so does what has edges in its file or on the command line. A pattern
 * without edges lives on a plane that has none, by HashLife or sparse, whichever is faster
 * (life_race.c), unless an option asks for what only a grid has. Then the grid has edges that the
 * pattern may meet, and life_edge.c says when.
 * SPDX-License-Identifier: MIT
 */
#include "life_job.h"

/* An option that decides, and why. */
struct reason {
    const char *option, *why;
};

/* Options that only a grid has. */
static const struct reason of_grids[] = {
    {"size", "--size is of a grid"},
    {"bounds", "--bounds is of a grid"},
    {"soup", "random cells fill a grid"},
    {"seed", "random cells fill a grid"},
    {"compare", "--compare runs the engines of grids"},
    {"shape", "--shape is of kernels"},
    {"until-stable", "--until-stable looks at every generation"},
    {"every-minutes", "--every-minutes is of a grid"},
    {"frames", "--frames is of a grid"},
};

/* Options that HashLife does not have, since it uses no device. */
static const struct reason of_devices[] = {
    {"device", "--device asks for a device"},
    {"profile", "--profile measures devices"},
    {"trace", "--trace measures devices"},
};

/* Why the options need a grid; NULL: they do not. */
static const char *by_options(const struct life_job *job, const struct cli_option *options)
{
    for (size_t i = 0; i < sizeof of_grids / sizeof *of_grids && options; i++)
        if (cli_given(options, of_grids[i].option))
            return of_grids[i].why;
    for (size_t i = 0; i < job->outputs.names.n; i++)
        if (cli_output_kind(job->outputs.names.item[i]) == CLI_OUTPUT_FILM)
            return "a film is of a grid";
    return !job->input                                     ? "random cells fill a grid"
           : job->rule_text && strchr(job->rule_text, ':') ? "--rule has a grid"
           : world_size(cli_world) > 1                     ? "several ranks divide a grid"
                                                           : NULL;
}

/* Golly's T0, T0,0, P0 and P0,0: both sides are infinite, which is no grid. */
static bool is_endless(const char *bounds)
{
    if (!*bounds || !strchr("TtPp", *bounds))
        return false;
    const char *comma = strchr(bounds, ',');
    const size_t width = strspn(bounds + 1, "0"), height = comma ? strspn(comma + 1, "0") : 0;
    return width && (comma ? bounds + 1 + width == comma && height && !comma[1 + height]
                           : !bounds[1 + width]);
}

static void drop_endless(char *bounds)
{
    if (is_endless(bounds))
        bounds[0] = '\0';
}

/* The rule without such a grid. */
static const char *without_endless(struct life_job *job, const char *rule)
{
    const char *colon = strrchr(rule, ':');
    if (!colon || !is_endless(colon + 1))
        return rule;
    job->rule_copy = cli_alloc((size_t)(colon - rule) + 1, 1);
    memcpy(job->rule_copy, rule, (size_t)(colon - rule));
    job->rule_copy[colon - rule] = '\0';
    return job->rule_copy;
}

void life_choice_begin(struct life_job *job, const struct cli_option *options)
{
    if (job->rule_text)
        job->rule_text = without_endless(job, job->rule_text);
    job->choice = job->engine == LIFE_AUTO ? by_options(job, options) : "--engine says so";
    if (job->engine == LIFE_AUTO && job->choice)
        job->engine = LIFE_PACKED;
    for (size_t i = 0; i < sizeof of_devices / sizeof *of_devices && options &&
                       job->engine == LIFE_AUTO && !job->on_device;
         i++)
        if (cli_given(options, of_devices[i].option))
            job->on_device = of_devices[i].why;
}

static int read_input(struct life_job *job)
{
    const bool plane =
        job->engine == LIFE_AUTO || job->engine == LIFE_HASHLIFE || job->engine == LIFE_SPARSE;
    if ((plane ? life_plane_read(job->input, &job->plane)
               : life_pattern_read(job->input, &job->pattern)) < 0)
        return cli_failed_call(NULL);
    drop_endless(job->plane.squares.bounds);
    drop_endless(job->plane.p.bounds);
    drop_endless(job->pattern.bounds);
    job->started = job->plane.squares.n ? job->plane.squares.generation
                   : plane              ? job->plane.p.generation
                                        : job->pattern.generation;
    return CLI_DONE;
}

static const char *rule_of(const struct life_job *job)
{
    return job->rule_text         ? job->rule_text
           : job->plane.squares.n ? job->plane.squares.rule
                                  : job->plane.p.rule;
}

/* Of Larger than Life, with B0. */
static bool is_born_of_nothing(const char *rule)
{
    char normal[LIFE_RULE_TEXT];
    return life_rule_normal(rule, normal) == 0 && strstr(normal, ",B0..") != NULL;
}

/* A grid after all, with the pattern as grids have it. */
static int take_grid(struct life_job *job, const char *why)
{
    job->choice = why;
    job->engine = LIFE_PACKED;
    life_plane_free(&job->plane);
    if (life_pattern_read(job->input, &job->pattern) < 0)
        return cli_failed_call(NULL);
    drop_endless(job->pattern.bounds);
    return CLI_DONE;
}

static int take_large(struct life_job *job)
{
    if (is_born_of_nothing(rule_of(job)))
        return cli_wrong(
            "under the rule %s all of an empty plane becomes alive, which a plane without edges cannot be; give it a grid, by --size",
            rule_of(job));
    return take_grid(job, "the rule is Larger than Life, and HashLife has the nearest neighbours");
}

static bool sparse_has_rule(const struct life_job *job)
{
    const char *rule = rule_of(job);
    return life_sparse_has_rule(rule[0] ? rule : NULL) == 0;
}

/* A macrocell file is a tree, as HashLife has it; and --threads are of HashLife. */
static void take_plane(struct life_job *job)
{
    const bool both = sparse_has_rule(job) && !job->plane.squares.n && !job->threads;
    job->race.open = both && !job->on_device;
    job->engine = job->on_device ? LIFE_SPARSE : LIFE_HASHLIFE;
    job->choice =
        job->on_device ? job->on_device
        : both
            ? "the pattern has no grid, so it lives on a plane without edges; sparse is tried, too, if this takes long"
            : "the pattern has no grid, so it lives on a plane without edges";
}

int life_choice_end(struct life_job *job)
{
    int status = CLI_DONE;
    if (job->input && read_input(job) != CLI_DONE)
        return CLI_FAILED;
    if (job->lines.wanted && job->lines.last != UINT64_MAX)
        job->generations = job->lines.last > job->started ? job->lines.last - job->started : 0;
    if (job->engine == LIFE_AUTO && job->plane.p.bounds[0] && !job->rule_text) {
        job->choice = "the pattern's file has a grid";
        job->engine = LIFE_PACKED;
        job->pattern = job->plane.p;
        job->plane.p = (struct life_pattern){.width = 0};
    } else if (job->engine == LIFE_AUTO && life_job_rule_is_large(rule_of(job))) {
        status = take_large(job);
    } else if (job->engine == LIFE_AUTO && job->on_device && !sparse_has_rule(job)) {
        status = take_grid(job, job->on_device);
    } else if (job->engine == LIFE_AUTO) {
        take_plane(job);
    }
    if (status == CLI_DONE && job->common.explain && cli_ranks_first())
        fprintf(stderr, "engine %s: %s\n", life_engine_names[job->engine], job->choice);
    return status;
}
