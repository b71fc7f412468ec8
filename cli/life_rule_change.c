/* life_rule_change.c - another rule for a paused run, as a viewer asks: a new engine with the cells
 * and the generation of the old one.
 *
 * The window shows two states, and the grid keeps its size and edges. Other rules, and those in
 * files, need a new run.
 * SPDX-License-Identifier: MIT
 */
#include "life_grid.h"
#include "life_output.h"
#include "life_plane.h"
#include "life_run.h"

#include <errno.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Write out a rule of two states without a grid. */
static int normal_rule(const char *text, char normal[LIFE_RULE_TEXT])
{
    if (strchr(text, ':'))
        return clerror_set(EINVAL,
                           "'%s': the grid keeps its size and edges; omit ':' and what "
                           "follows",
                           text);
    if (life_rule_normal(text, normal) < 0)
        return -1;
    const int states = life_rule_states(normal);
    return states == 2 ? 0
                       : clerror_set(EINVAL,
                                     "%s has cells of %d states, but this window shows two: begin "
                                     "a run with --rule",
                                     normal, states);
}

static int copy_grid_cells(life *from, life *to)
{
    struct life_cells cells;
    if (life_cells_alloc(&cells, life_width(from), life_height(from)) < 0)
        return -1;
    const int status = life_get(from, 0, 0, &cells) < 0 ? -1 : life_put(to, 0, 0, &cells);
    life_cells_free(&cells);
    return status < 0 ? -1 : life_set_generation(to, life_generation(from));
}

static int copy_plane_cells(life *from, life *to)
{
    if (life_engine_of(from) == LIFE_HASHLIFE)
        return life_squares_copy_tree(from, to);
    return life_squares_copy(from, to) < 0 ? -1 : life_set_generation(to, life_generation(from));
}

/* The engine of the run under the job's rule, with the cells of `from`; NULL with clerror(). */
static life *engine_with_cells(struct life_job *job, life *from)
{
    const enum life_engine engine = (enum life_engine)job->engine;
    const bool unbounded = life_job_unbounded(job);
    life *to = unbounded ? life_start_make(job, engine) : life_job_create(job, engine);
    if (to && (unbounded ? copy_plane_cells(from, to) : copy_grid_cells(from, to)) == 0)
        return to;
    life_free(to);
    return NULL;
}

int life_rule_change(struct life_job *job, const char *text, char *why, size_t size)
{
    char before[LIFE_RULE_TEXT], rule[LIFE_RULE_TEXT];
    life_transitions *const transitions = job->transitions;
    life *to = NULL;
    memcpy(before, job->rule, sizeof before);
    if (normal_rule(text, rule) == 0) {
        memcpy(job->rule, rule, sizeof job->rule);
        job->transitions = NULL;
        to = engine_with_cells(job, job->engine_of_run);
    }
    if (!to) {
        memcpy(job->rule, before, sizeof before);
        job->transitions = transitions;
        snprintf(why, size, "%s", clerror());
        return -1;
    }
    life_free(job->engine_of_run);
    life_transitions_free(transitions);
    job->engine_of_run = to;
    job->edge.next = 0; /* look at the edges soon: the new rule may reach farther */
    life_race_changed(job);
    return 0;
}
