/* life_grid.c - the grid of `stdcl life`: size, rule, bounds, and what lives on it at the start.
 *
 * Each is taken from the command line, else from the pattern's file; else the grid has 1,024 x
 * 1,024 cells, or so many that the pattern has room on all sides.
 * SPDX-License-Identifier: MIT
 */
#include "life_job.h"

#include <ctype.h>
#include <limits.h>

static const size_t SIDE = 1024, SMALLEST = 256;
static const uint64_t GENERATIONS = 1024, COMPARED_GENERATIONS = 64, MOST_CELLS = 1 << 28;

/* ---- What was asked. ------------------------------------------------------------------------- */

/* Twice the pattern's size and some more, in whole words. */
static size_t room_for(size_t side)
{
    const size_t wanted = side > SIZE_MAX / 4 ? side : 2 * side + 64;
    return wanted < SMALLEST ? SMALLEST : (wanted + 63) / 64 * 64;
}

/* So many cells of an infinite side that nothing reaches its ends in the run, if the grid does not
 * become too large by that; `other` is its other side. */
static size_t room_without_end(const struct life_job *job, const char *rule, size_t side,
                               const char *other)
{
    const uint64_t generations = job->generations == UINT64_MAX ? GENERATIONS : job->generations;
    const size_t least = room_for(side);
    char *end;
    const unsigned long long across = strtoull(other, &end, 10);
    const double wanted = (double)side + 2. * life_job_rule_reach(rule) * (double)generations + 64,
                 most = across ? (double)(MOST_CELLS / across) : (double)MOST_CELLS;
    const double room = wanted < most ? wanted : most;
    return room < (double)least ? least : ((size_t)room + 63) / 64 * 64;
}

/* Copies a rule to `copy`; a side of 0 of its torus or plane, which is infinite, becomes one where
 * the pattern has room. */
static int copy_rule(struct life_job *job, const char *text, const char *where, char *copy,
                     size_t size)
{
    const char *colon = strrchr(text, ':'), *p = colon ? colon + 1 : "", *comma = strchr(p, ',');
    const size_t width = strspn(p + (*p != '\0'), "0"), height = comma ? strspn(comma + 1, "0") : 0;
    const bool of_torus = *p && strchr("TtPp", *p) && !strpbrk(p, "+-*");
    char rule[LIFE_RULE_TEXT];
    job->infinite[0] = of_torus && width && !isdigit((unsigned char)p[1 + width]);
    job->infinite[1] = of_torus && comma && height && !isdigit((unsigned char)comma[1 + height]);
    if (!job->infinite[0] && !job->infinite[1]) {
        const int n = snprintf(copy, size, "%s", text);
        return (size_t)n < size
                   ? CLI_DONE
                   : cli_wrong("%s: %zu characters are too many for a rule", where, strlen(text));
    }
    if (!job->input || job->soup)
        return cli_wrong(
            "%s: the grid ':%.60s' has an infinite side, which only a pattern can have, and random cells cannot",
            where, p);
    if (job->size.width)
        return cli_wrong("%s: the grid ':%.60s' and --size cannot be combined", where, p);
    snprintf(rule, sizeof rule, "%.*s", (int)(colon - text), text);
    const int n =
        job->infinite[0]
            ? snprintf(copy, size, "%.*s%zu%s", (int)(p + 1 - text), text,
                       room_without_end(job, rule, job->pattern.width, comma ? comma + 1 : ""),
                       p + 1 + width)
            : snprintf(copy, size, "%.*s%zu%s", (int)(comma + 1 - text), text,
                       room_without_end(job, rule, job->pattern.height, p + 1), comma + 1 + height);
    return (size_t)n < size
               ? CLI_DONE
               : cli_wrong("%s: %zu characters are too many for a rule", where, strlen(text));
}

/* A rule, which may have bounds and a size behind a colon; `where` names it in a message. */
static int take_rule(struct life_job *job, const char *text, const char *where)
{
    char copy[LIFE_RULE_TEXT + LIFE_GRID_TEXT], grid[LIFE_GRID_TEXT];
    enum life_bounds bounds;
    struct life_size size;
    if (copy_rule(job, text, where, copy, sizeof copy) != CLI_DONE)
        return CLI_WRONG;
    if (life_grid_split(copy, grid, &bounds, &size.width, &size.height) < 0)
        return cli_wrong("%s: %s", where, clerror());
    const int status = life_job_rule(job, copy, where);
    if (status != CLI_DONE)
        return status;
    if (bounds == LIFE_JOINED && (job->size.width || job->bounds != LIFE_NOT_GIVEN))
        return cli_wrong("%s: the grid :%s and %s cannot be combined", where, grid,
                         job->size.width ? "--size" : "--bounds");
    if (bounds == LIFE_JOINED)
        snprintf(job->grid, sizeof job->grid, "%s", grid);
    if (size.width && !job->size.width)
        job->size = size;
    if (size.width && job->bounds == LIFE_NOT_GIVEN)
        job->bounds = (int)bounds;
    job->rule_has_grid = size.width > 0;
    return CLI_DONE;
}

static int take_pattern(struct life_job *job)
{
    if (job->rule_text || !job->pattern.rule[0])
        return CLI_DONE;
    char text[LIFE_RULE_TEXT + 100];
    snprintf(text, sizeof text, "%s%s%s", job->pattern.rule, job->pattern.bounds[0] ? ":" : "",
             job->pattern.bounds);
    return take_rule(job, text, job->input);
}

/* On a torus any place will do. */
static int check_place(const struct life_job *job)
{
    const struct life_pattern *p = &job->pattern;
    long long x, y;
    if (!p->word || job->bounds == LIFE_TORUS)
        return CLI_DONE;
    life_job_corner(job, &x, &y);
    x += (long long)p->left;
    y += (long long)p->top;
    if (x >= 0 && y >= 0 && x <= (long long)(job->size.width - p->columns) &&
        y <= (long long)(job->size.height - p->rows))
        return CLI_DONE;
    return cli_wrong(
        "%s: its live cells, %zu x %zu from %lld,%lld on, reach beyond the edge of the grid of %zu x "
        "%zu; choose another --at or a larger --size",
        job->input, p->columns, p->rows, x, y, job->size.width, job->size.height);
}

static int check_size(const struct life_job *job)
{
    const struct life_pattern *p = &job->pattern;
    if (job->input && (p->columns > job->size.width || p->rows > job->size.height))
        return cli_wrong(
            "%s: the pattern has live cells across %zu x %zu, which is larger than the grid of "
            "%zu x %zu; choose a larger --size",
            job->input, p->columns, p->rows, job->size.width, job->size.height);
    if (check_place(job) != CLI_DONE)
        return CLI_WRONG;
    if (job->size.width > SIZE_MAX / job->size.height)
        return cli_wrong("--size: %zu x %zu cells are too many", job->size.width, job->size.height);
    /* A bit a cell on the hosts; the engine asks the devices. */
    return cli_memory_for((job->size.width + 63) / 64 *
                              (job->size.height / (size_t)world_size(cli_world)),
                          8, "words of 64 cells");
}

int life_job_plan(struct life_job *job)
{
    int status = CLI_DONE;
    snprintf(job->rule, sizeof job->rule, "B3/S23");
    job->states = 2;
    if (job->rule_text)
        status = take_rule(job, job->rule_text, "--rule");
    if (status == CLI_DONE && job->input)
        status = take_pattern(job);
    if (status == CLI_DONE)
        status = life_job_check_states(job, job->pattern.states);
    if (status != CLI_DONE)
        return status;
    if (!job->size.width && job->input)
        job->size = (struct life_size){room_for(job->pattern.width), room_for(job->pattern.height)};
    if (!job->size.width)
        job->size = (struct life_size){SIDE, SIDE};
    if (job->bounds == LIFE_NOT_GIVEN)
        job->bounds = LIFE_TORUS;
    if (!job->input)
        job->soup = true;
    if (job->soup && job->density == 0 && job->seed > UINT_MAX)
        return cli_wrong(
            "--seed: srand() takes seeds up to %u, not %llu; with --soup=DENSITY any will do",
            UINT_MAX, (unsigned long long)job->seed);
    if (job->generations == UINT64_MAX && !job->watch && !job->until_stable)
        job->generations = job->compare ? COMPARED_GENERATIONS : GENERATIONS;
    if (!job->zoom)
        job->zoom = 1;
    return check_size(job);
}

/* ---- The engine. ----------------------------------------------------------------------------- */

life *life_job_create(struct life_job *job, enum life_engine engine)
{
    const bool joined = job->bounds == LIFE_JOINED;
    const struct life_options options = {.ctx = job->context,
                                         .engine = engine,
                                         .width = joined ? 0 : job->size.width,
                                         .height = joined ? 0 : job->size.height,
                                         .bounds =
                                             joined ? LIFE_TORUS : (enum life_bounds)job->bounds,
                                         .grid = joined ? job->grid : NULL,
                                         .rule = job->transitions ? NULL : job->rule,
                                         .transitions = job->transitions,
                                         .progress = life_job_tell,
                                         .arg = job,
                                         .shape = job->shape,
                                         .world = cli_world};
    return life_create(&options);
}

int life_job_fill(const struct life_job *job, life *lf)
{
    const struct life_pattern *p = &job->pattern;
    long long x, y;
    if (job->soup && life_soup(lf, job->density, job->seed) < 0)
        return cli_failed_call(NULL);
    if (!p->word)
        return CLI_DONE;
    life_job_corner(job, &x, &y);
    const struct life_cells cells = {p->columns, p->rows, p->stride, p->word};
    if (p->state ? life_put_states(lf, x + (long long)p->left, y + (long long)p->top, p->columns,
                                   p->rows, p->state) < 0
                 : life_put(lf, x + (long long)p->left, y + (long long)p->top, &cells) < 0)
        return cli_failed_call(job->input);
    return CLI_DONE;
}
