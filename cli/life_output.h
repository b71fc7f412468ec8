/* life_output.h - outputs of `stdcl life`: files, lines, the view, the animation, the report.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_LIFE_OUTPUT_H
#define STDCL_CLI_LIFE_OUTPUT_H

#include "life_job.h"

#include <stdbool.h>
#include <stddef.h>

/* Functions that return int return an exit status, after printing a message. */

/* life_output.c. plan: classify and check the names; open: open the table; row, frame: add a row
 * or a frame; finish: write the final outputs; cut_short: after a failure in the run, complete the
 * table and films, unless no generation was made; discard: drop incomplete ones. For
 * --every-minutes: has_cells: True if -o names a pattern; is_due: True if it is time; keep:
 * write the patterns. */
int life_output_plan(struct life_job *job);
int life_output_open(struct life_job *job);
int life_output_row(struct life_job *job, const struct life_sample *sample);
int life_output_frame(struct life_job *job);
int life_output_finish(struct life_job *job);
bool life_output_has_cells(const struct life_job *job);
bool life_output_is_due(const struct life_job *job);
int life_output_keep(struct life_job *job);
void life_output_cut_short(struct life_job *job);
void life_output_discard(struct life_job *job);

/* life_report.c */
int life_job_report(struct life_job *job);

/* life_lines.c: print the line of this generation and schedule the next one. */
int life_lines_visit(struct life_job *job, const char *population);

/* life_view.c. open: open the view, if wanted; visit: between batches; end: the last frame. */
int life_view_open(struct life_job *job);
int life_view_visit(struct life_job *job);

/* life_objects.c: name the objects among up to 2,000 cells for viewers, at most twice a second
 * while the run is not paused. */
void life_objects_show(struct life_job *job, uint64_t population);
int life_view_end(struct life_job *job);
int life_view_stay(struct life_job *job);

/* life_edit.c: viewers' changes of a paused run. open: the abilities of the run, VIEW_CAN_...;
 * visit: keep the state, if steps back are possible. */
unsigned life_edit_open(struct life_job *job);
int life_edit_visit(struct life_job *job);
int life_edit(void *job, const struct view_command *command, uint64_t *at);

/* life_rule_change.c: replace the engine of the run by an equal one under another rule of two
 * states, with the same cells. -1: nothing has changed, and `why` says why not. */
int life_rule_change(struct life_job *job, const char *text, char *why, size_t size);
void life_edit_free(struct life_job *job);

/* Number of states shown; states of a rectangle with its corner in the grid, a byte each. */
unsigned life_job_states(const struct life_job *job);
int life_job_get_states(struct life_job *job, long long x, long long y, size_t width, size_t height,
                        unsigned char *state);

/* life_watch.c: animation in the terminal, for grids and planes. */
int life_job_watch(struct life_job *job);

#endif
