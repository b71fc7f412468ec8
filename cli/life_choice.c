/* life_choice.c - `stdcl life --engine auto`: a grid on devices, or a plane without edges.
 *
 * A soup fills a grid, and so does what has edges in its file or on the command line. A pattern without edges lives on a plane that
 * has none, by HashLife, unless an option asks for what only a grid has. Then the grid has edges that the pattern may meet,
 * and life_edge.c says when.
 * SPDX-License-Identifier: MIT
 */
#include "life_job.h"

/* Options that only a grid has, and why. */
static const struct {
    const char *option, *why;
} of_grids[] = {
    {"size", "--size is of a grid"},
    {"bounds", "--bounds is of a grid"},
    {"soup", "random cells fill a grid"},
    {"seed", "random cells fill a grid"},
    {"compare", "--compare runs the engines of grids"},
    {"shape", "--shape is of kernels"},
    {"device", "--device asks for a device, and HashLife uses none"},
    {"profile", "--profile measures devices, and HashLife uses none"},
    {"trace", "--trace measures devices, and HashLife uses none"},
    {"until-stable", "--until-stable looks at every generation"},
    {"frames", "--frames is of a grid"},
};

/* Why the options need a grid; NULL: they do not. */
static const char *by_options(const struct life_job *job, const struct cli_option *options)
{
    for (size_t i = 0; i < sizeof of_grids / sizeof *of_grids; i++)
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

void life_choice_begin(struct life_job *job, const struct cli_option *options)
{
    job->choice = job->engine == LIFE_AUTO ? by_options(job, options) : "--engine says so";
    if (job->engine == LIFE_AUTO && job->choice)
        job->engine = LIFE_PACKED;
}

static int read_input(struct life_job *job)
{
    const bool plane = job->engine == LIFE_AUTO || job->engine == LIFE_HASHLIFE;
    if ((plane ? life_plane_read(job->input, &job->plane) : life_pattern_read(job->input, &job->pattern)) < 0)
        return cli_failed_call(NULL);
    job->started = job->plane.squares.n ? job->plane.squares.generation : plane ? job->plane.p.generation : job->pattern.generation;
    return CLI_DONE;
}

static bool is_large(const struct life_job *job)
{
    const char *rule = job->rule_text ? job->rule_text : job->plane.squares.n ? job->plane.squares.rule : job->plane.p.rule;
    return rule[0] && life_job_rule_is_large(rule);
}

int life_choice_end(struct life_job *job)
{
    if (job->input && read_input(job) != CLI_DONE)
        return CLI_FAILED;
    if (job->engine == LIFE_AUTO && job->plane.p.bounds[0] && !job->rule_text) {
        job->choice = "the pattern's file has a grid";
        job->engine = LIFE_PACKED;
        job->pattern = job->plane.p;
        job->plane.p = (struct life_pattern){.width = 0};
    } else if (job->engine == LIFE_AUTO && is_large(job)) {
        job->choice = "the rule is Larger than Life, and HashLife has the nearest neighbours";
        job->engine = LIFE_PACKED;
        life_plane_free(&job->plane);
        if (life_pattern_read(job->input, &job->pattern) < 0)
            return cli_failed_call(NULL);
    } else if (job->engine == LIFE_AUTO) {
        job->choice = "the pattern has no grid, so it lives on a plane without edges";
        job->engine = LIFE_HASHLIFE;
    }
    if (job->common.explain && cli_ranks_first())
        fprintf(stderr, "engine %s: %s\n", life_engine_names[job->engine], job->choice);
    return CLI_DONE;
}
