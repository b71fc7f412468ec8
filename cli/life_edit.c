/* life_edit.c - changes of a paused run by viewers: cells that they draw, another rule, and steps
 * back through a ring of earlier states, to the start at last. Generations between two states of
 * the ring are computed again.
 *
 * States are kept at the visits of a run with viewers, of small grids only: a copy takes at most
 * 128 KiB and some 0.1 ms.
 * SPDX-License-Identifier: MIT
 */
#include "alloc.h"
#include "command.h"
#include "message.h"
#include "life_output.h"
#include "life_plane.h"
#include "life_run.h"

#include <stdbool.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { STATES = 128, MOST_CELLS = 1 << 20 };
static const double TO_START = -1e6; /* steps back to the first state */

struct state {
    uint64_t generation; /* of the engine */
    struct life_cells cells;
};

/* The start, and the last states in a ring: state k is state[k % STATES], from `first` to `end`. */
struct life_states_kept {
    struct state start, state[STATES];
    size_t first, end;
};

/* Two states on one rank; a search for cycles compares with generations that a change makes wrong.
 */
static bool life_edit_possible(const struct life_job *job)
{
    return world_size(cli_world) == 1 && life_states(job->engine_of_run) == 2 && !job->until_stable;
}

/* Outputs of a run are in the order of generations. */
static bool can_go_back(const struct life_job *job)
{
    return life_edit_possible(job) && !life_job_unbounded(job) &&
           (double)job->size.width * (double)job->size.height <= MOST_CELLS &&
           !cli_outputs_have(&job->outputs, CLI_OUTPUT_TABLE) && !job->outputs.frames &&
           !job->lines.wanted && !(job->every_minutes > 0);
}

unsigned life_edit_open(struct life_job *job)
{
    if (!life_edit_possible(job))
        return 0;
    job->window.edit = life_edit;
    if (!can_go_back(job))
        return VIEW_CAN_PUT | VIEW_CAN_RULE;
    job->states_kept = cli_alloc(1, sizeof *job->states_kept);
    return VIEW_CAN_PUT | VIEW_CAN_RULE | VIEW_CAN_BACK;
}

void life_edit_free(struct life_job *job)
{
    for (size_t k = 0; job->states_kept && k < STATES; k++)
        life_cells_free(&job->states_kept->state[k].cells);
    if (job->states_kept)
        life_cells_free(&job->states_kept->start.cells);
    free(job->states_kept);
    job->states_kept = NULL;
}

static int keep_state(const struct life_job *job, struct state *s)
{
    life *lf = job->engine_of_run;
    if (!s->cells.word && life_cells_alloc(&s->cells, life_width(lf), life_height(lf)) < 0)
        return -1;
    s->generation = life_generation(lf);
    return life_get(lf, 0, 0, &s->cells);
}

static int restore_state(const struct life_job *job, const struct state *s)
{
    life *lf = job->engine_of_run;
    return life_clear(lf) < 0 || life_put(lf, 0, 0, &s->cells) < 0
               ? -1
               : life_set_generation(lf, s->generation);
}

static int push_state(struct life_job *job)
{
    struct life_states_kept *r = job->states_kept;
    struct state *const s = &r->state[r->end % STATES];
    if (keep_state(job, s) < 0)
        return cli_failed_call(NULL);
    r->end++;
    r->first = r->end - r->first > STATES ? r->end - STATES : r->first;
    return CLI_DONE;
}

int life_edit_visit(struct life_job *job)
{
    struct life_states_kept *r = job->states_kept;
    if (!r || (r->start.cells.word && !view_viewers(job->window.view)))
        return CLI_DONE;
    if (!r->start.cells.word && keep_state(job, &r->start) < 0)
        return cli_failed_call(NULL);
    const bool known = r->end > r->first && r->state[(r->end - 1) % STATES].generation ==
                                                life_generation(job->engine_of_run);
    return known ? CLI_DONE : push_state(job);
}

/* Step from the restored state to `generation`, and keep the state there. */
static int compute_again(struct life_job *job, uint64_t generation)
{
    life *lf = job->engine_of_run;
    if (life_step(lf, generation - life_generation(lf)) < 0)
        return life_job_stopped() ? CLI_DONE : cli_failed_call(NULL);
    return push_state(job);
}

/* Go to the generation or change before the newest state; past the ring, to the start. */
static int go_back(struct life_job *job, bool to_start)
{
    struct life_states_kept *r = job->states_kept;
    if (!r || !r->start.cells.word)
        return CLI_DONE;
    const uint64_t at = life_generation(job->engine_of_run);
    if (to_start)
        r->end = r->first;
    else if (r->end > r->first && r->state[(r->end - 1) % STATES].generation == at)
        r->end--;
    const bool kept = r->end > r->first;
    const struct state *s = kept ? &r->state[(r->end - 1) % STATES] : &r->start;
    if (restore_state(job, s) < 0)
        return cli_failed_call(NULL);
    return kept && s->generation + 1 < at ? compute_again(job, at - 1) : CLI_DONE;
}

static int put_cells(struct life_job *job, const struct view_command *c)
{
    const struct view_region *r = &c->region;
    const size_t bytes = ((size_t)r->width + 7) / 8;
    struct life_cells cells;
    if (life_cells_alloc(&cells, r->width, r->height) < 0)
        return cli_failed_call(NULL);
    for (size_t y = 0; y < r->height; y++)
        for (size_t k = 0; k < bytes; k++)
            cells.word[y * cells.stride + k / 8] |= (uint64_t)c->bits[y * bytes + k] << 8 * (k % 8);
    const int called = life_put(job->engine_of_run, r->x, r->y, &cells);
    life_cells_free(&cells);
    if (called < 0)
        return cli_failed_call(NULL);
    life_race_changed(job);
    return job->states_kept ? push_state(job) : CLI_DONE;
}

/* Generations between the states kept so far cannot be computed again under the new rule: only the
 * start stays. */
static int forget_states(struct life_job *job)
{
    struct life_states_kept *r = job->states_kept;
    if (!r)
        return CLI_DONE;
    r->first = r->end;
    return push_state(job);
}

static int change_rule(struct life_job *job, const char *text)
{
    char why[VIEW_RULE_BYTES];
    if (life_rule_change(job, text, why, sizeof why) == 0) {
        view_set_rule(job->window.view, job->rule);
        return forget_states(job);
    }
    view_say(job->window.view, why);
    return CLI_DONE;
}

int life_edit(void *arg, const struct view_command *command, uint64_t *at)
{
    struct life_job *job = arg;
    const int status = command->ask == VIEW_PUT    ? put_cells(job, command)
                       : command->ask == VIEW_RULE ? change_rule(job, command->rule)
                                                   : go_back(job, command->value <= TO_START);
    *at = life_job_generation(job) - job->started;
    return status;
}
