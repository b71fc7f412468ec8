/* life_grid.c - the bounded grid of `stdcl life`: size, rule, bounds and initial cells.
 *
 * Each comes from the command line, else from the pattern's file. The default size is 1,024 x
 * 1,024 cells, or leaves room on all sides of the pattern.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "alloc.h"
#include "interrupt.h"
#include "message.h"
#include "ranks.h"
#include "life_grid.h"
#include "life_run.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t SIDE = 1024, SMALLEST = 256;
static const uint64_t GENERATIONS = 1024, COMPARED_GENERATIONS = 64, MOST_CELLS = 1 << 28;

/* ---- The plan. --------------------------------------------------------------------------- */

/* Twice the pattern's size plus a margin, in whole words. */
static size_t side_with_room(size_t side)
{
    const size_t wanted = side > SIZE_MAX / 4 ? side : 2 * side + 64;
    return wanted < SMALLEST ? SMALLEST : (wanted + 63) / 64 * 64;
}

/* Length that replaces an infinite side: nothing reaches its ends during the run, unless the
 * grid would become too large. `other`: the other side. */
static size_t side_for_infinite(const struct life_job *job, const char *rule, size_t side,
                                const char *other)
{
    const uint64_t generations = job->generations == UINT64_MAX ? GENERATIONS : job->generations;
    const size_t least = side_with_room(side);
    char *end;
    const unsigned long long across = strtoull(other, &end, 10);
    const int range = life_rule_range(rule), reach = range < 1 ? 1 : range;
    const double wanted = (double)side + 2. * reach * (double)generations + 64,
                 most = across ? (double)(MOST_CELLS / across) : (double)MOST_CELLS;
    const double room = wanted < most ? wanted : most;
    return room < (double)least ? least : ((size_t)room + 63) / 64 * 64;
}

/* Copy a rule; an infinite side (0) of its torus or plane is replaced by one with room for the
 * pattern. */
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
                   : cli_wrong("%s: a rule of %zu characters is too long", where, strlen(text));
    }
    if (!job->input || job->soup)
        return cli_wrong(
            "%s: the grid ':%.60s' has an infinite side, which random cells cannot fill; give a pattern or a finite grid",
            where, p);
    if (job->size.width)
        return cli_wrong("%s: the grid ':%.60s' and --size cannot be combined", where, p);
    snprintf(rule, sizeof rule, "%.*s", (int)(colon - text), text);
    const int n =
        job->infinite[0]
            ? snprintf(copy, size, "%.*s%zu%s", (int)(p + 1 - text), text,
                       side_for_infinite(job, rule, job->pattern.width, comma ? comma + 1 : ""),
                       p + 1 + width)
            : snprintf(copy, size, "%.*s%zu%s", (int)(comma + 1 - text), text,
                       side_for_infinite(job, rule, job->pattern.height, p + 1),
                       comma + 1 + height);
    return (size_t)n < size
               ? CLI_DONE
               : cli_wrong("%s: a rule of %zu characters is too long", where, strlen(text));
}

/* Check that --size and --bounds do not contradict the grid of --rule. */
static int check_one_grid(const struct life_job *job, enum life_bounds bounds,
                          struct life_size size)
{
    const char *grid = strrchr(job->rule_text, ':');
    if (!size.width)
        return CLI_DONE;
    if (job->size.width && (job->size.width != size.width || job->size.height != size.height))
        return cli_wrong(
            "--rule: the grid '%.60s' has %zu x %zu cells, and --size %zu x %zu; omit one of the two",
            grid, size.width, size.height, job->size.width, job->size.height);
    if (job->bounds != LIFE_NOT_GIVEN && job->bounds != (int)bounds)
        return cli_wrong("--rule: the grid '%.60s' is a %s, and --bounds a %s; omit one of the two",
                         grid, life_bounds_names[bounds], life_bounds_names[job->bounds]);
    return CLI_DONE;
}

/* Take a rule, with optional bounds and size after a colon. `where` names its origin in
 * messages. */
static int take_grid_rule(struct life_job *job, const char *text, const char *where)
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
    if (text == job->rule_text && check_one_grid(job, bounds, size) != CLI_DONE)
        return CLI_WRONG;
    if (bounds == LIFE_JOINED)
        snprintf(job->grid, sizeof job->grid, "%s", grid);
    job->size_of_rule = size.width && !job->size.width;
    if (job->size_of_rule)
        job->size = size;
    if (size.width && job->bounds == LIFE_NOT_GIVEN)
        job->bounds = (int)bounds;
    job->rule_has_grid = size.width > 0;
    return CLI_DONE;
}

static int take_pattern_rule(struct life_job *job)
{
    if (job->rule_text || !job->pattern.rule[0])
        return CLI_DONE;
    char text[LIFE_RULE_TEXT + 100];
    snprintf(text, sizeof text, "%s%s%s", job->pattern.rule, job->pattern.bounds[0] ? ":" : "",
             job->pattern.bounds);
    return take_grid_rule(job, text, job->input);
}

/* Check that the pattern lies inside the grid; on a torus it may cross the edges. */
static int check_position(const struct life_job *job)
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
        "%s: its live cells, %zu x %zu at %lld,%lld, extend beyond the grid of %zu x %zu; give a different --at or a larger --size",
        job->input, p->columns, p->rows, x, y, job->size.width, job->size.height);
}

static uint64_t count_live(const struct life_pattern *p)
{
    uint64_t n = 0;
    for (size_t i = 0; i < p->rows * p->stride; i++)
        n += (uint64_t)__builtin_popcountll(p->word[i]);
    return n;
}

/* Copy the cells of `from` within the box of `to`, a part of the box of `from`. */
static void copy_box(const struct life_pattern *from, struct life_pattern *to)
{
    to->stride = (to->columns + 63) / 64;
    to->word = cli_alloc(to->rows * to->stride + 1, sizeof *to->word);
    to->state = from->state ? cli_alloc(to->rows * to->columns + 1, 1) : NULL;
    for (size_t y = 0; y < to->rows; y++)
        for (size_t x = 0; x < to->columns; x++) {
            const size_t row = y + to->top - from->top, column = x + to->left - from->left;
            to->word[y * to->stride + x / 64] |=
                (from->word[row * from->stride + column / 64] >> column % 64 & 1) << x % 64;
            if (to->state)
                to->state[y * to->columns + x] = from->state[row * from->columns + column];
        }
}

static long long clamp_cell(long long x, size_t side)
{
    return x < 0 ? 0 : x > (long long)side ? (long long)side : x;
}

/* Leave out cells outside the grid that the file or --rule names, as Golly does, also on a torus.
 * --at may place a pattern across the edges of a torus. */
static void clip_pattern(struct life_job *job)
{
    struct life_pattern *p = &job->pattern, inside = *p;
    long long x, y;
    if (!job->size_of_rule || !p->word || job->at.given)
        return;
    life_job_corner(job, &x, &y);
    const long long left = clamp_cell(x + (long long)p->left, job->size.width),
                    right = clamp_cell(x + (long long)(p->left + p->columns), job->size.width),
                    top = clamp_cell(y + (long long)p->top, job->size.height),
                    bottom = clamp_cell(y + (long long)(p->top + p->rows), job->size.height);
    inside.left = (size_t)(left - x);
    inside.top = (size_t)(top - y);
    inside.columns = (size_t)(right - left);
    inside.rows = (size_t)(bottom - top);
    if (inside.columns == p->columns && inside.rows == p->rows)
        return;
    const uint64_t before = count_live(p);
    copy_box(p, &inside);
    if (!inside.columns || !inside.rows) { /* as a pattern without live cells */
        free(inside.word);
        free(inside.state);
        inside.word = NULL;
        inside.state = NULL;
        inside.columns = inside.rows = 0;
    }
    free(p->word);
    free(p->state);
    *p = inside;
    if (!job->common.quiet)
        cli_warn("%s: %" PRIu64 " of its %" PRIu64
                 " live cells lie outside the grid of %zu x %zu and are left out",
                 job->input, before - count_live(p), before, job->size.width, job->size.height);
}

static int check_grid_size(const struct life_job *job)
{
    const struct life_pattern *p = &job->pattern;
    if (job->input && (p->columns > job->size.width || p->rows > job->size.height))
        return cli_wrong(
            "%s: the live cells extend over %zu x %zu, but the grid has %zu x %zu; give a larger --size",
            job->input, p->columns, p->rows, job->size.width, job->size.height);
    if (check_position(job) != CLI_DONE)
        return CLI_WRONG;
    if (job->size.width > SIZE_MAX / job->size.height)
        return cli_wrong("--size: %zu x %zu cells are too many", job->size.width, job->size.height);
    /* one bit per cell on the hosts; the engine checks the devices */
    return cli_memory_for((job->size.width + 63) / 64 *
                              (job->size.height / (size_t)world_size(cli_world)),
                          8, "words of 64 cells");
}

int life_job_plan(struct life_job *job)
{
    int status;
    snprintf(job->rule, sizeof job->rule, "B3/S23");
    job->states = 2;
    if (job->rule_text && (status = take_grid_rule(job, job->rule_text, "--rule")) != CLI_DONE)
        return status;
    if (job->input && (status = take_pattern_rule(job)) != CLI_DONE)
        return status;
    if ((status = life_job_check_states(job, job->pattern.states)) != CLI_DONE)
        return status;
    if (!job->size.width && job->input)
        job->size = (struct life_size){side_with_room(job->pattern.width),
                                       side_with_room(job->pattern.height)};
    if (!job->size.width)
        job->size = (struct life_size){SIDE, SIDE};
    if (job->bounds == LIFE_NOT_GIVEN)
        job->bounds = LIFE_TORUS;
    if (!job->input)
        job->soup = true;
    if (job->soup && job->density == 0 && job->seed > UINT_MAX)
        return cli_wrong(
            "--seed: srand() accepts seeds up to %u, not %llu; --soup=DENSITY accepts any",
            UINT_MAX, (unsigned long long)job->seed);
    if (job->generations == UINT64_MAX && !job->watch && !job->until_stable)
        job->generations = job->compare ? COMPARED_GENERATIONS : GENERATIONS;
    if (!job->zoom)
        job->zoom = 1;
    clip_pattern(job);
    return check_grid_size(job);
}

/* ---- The engine. ----------------------------------------------------------------------------- */

static struct life_options grid_engine_options(const struct life_job *job, enum life_engine engine)
{
    const bool joined = job->bounds == LIFE_JOINED;
    return (struct life_options){.ctx = job->context,
                                 .engine = engine,
                                 .width = joined ? 0 : job->size.width,
                                 .height = joined ? 0 : job->size.height,
                                 .bounds = joined ? LIFE_TORUS : (enum life_bounds)job->bounds,
                                 .grid = joined ? job->grid : NULL,
                                 .rule = job->transitions ? NULL : job->rule,
                                 .transitions = job->transitions,
                                 .shape = job->shape,
                                 .threads = (unsigned)job->threads,
                                 .world = cli_world};
}

bool life_job_has_engine(const struct life_job *job, enum life_engine engine)
{
    const struct life_options options = grid_engine_options(job, engine);
    return life_choose(&options, NULL) >= 0;
}

life *life_job_create(struct life_job *job, enum life_engine engine)
{
    struct life_options options = grid_engine_options(job, engine);
    options.progress = life_job_progress;
    options.arg = job;
    return life_create(&options);
}

int life_job_fill(const struct life_job *job, life *lf)
{
    const struct life_pattern *p = &job->pattern;
    long long x, y;
    if (job->soup && life_soup(lf, job->density, job->seed) < 0)
        return life_job_stopped() ? cli_interrupt_status(CLI_FAILED) : cli_failed_call(NULL);
    life_set_generation(lf, job->started); /* a soup has reset it */
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
