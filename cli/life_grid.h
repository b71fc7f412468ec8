/* life_grid.h - rule, bounded grid and initial cells of `stdcl life`; first contact with an edge.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_LIFE_GRID_H
#define STDCL_CLI_LIFE_GRID_H

#include "life_job.h"

#include <stdbool.h>
#include <stdint.h>

/* Functions that return int return an exit status, after printing a message. */

/* life_rule.c. rule: take a rule without a grid; `where` names its origin in messages.
 * check_states: check the states of a pattern against the rule. */
int life_job_rule(struct life_job *job, const char *text, const char *where);
int life_job_check_states(const struct life_job *job, unsigned states);

/* life_grid.c: choose size, rule and bounds; true if an engine has them; create the engine; fill in
 * the initial cells. */
int life_job_plan(struct life_job *job);
bool life_job_has_engine(const struct life_job *job, enum life_engine engine);
life *life_job_create(struct life_job *job, enum life_engine engine);
int life_job_fill(const struct life_job *job, life *lf);

/* life_edge.c: position of the pattern's cell 0,0. has_triangles: true if the cells are triangles:
 * one whose column and row in the file have an odd sum is upside down. */
void life_job_corner(const struct life_job *job, long long *x, long long *y);
bool life_job_has_triangles(const struct life_job *job);

/* Detect the first contact of a pattern with an edge. open: start; look: check if due, and warn;
 * batch: limit n generations to the next check; end: print a deferred warning. */
int life_edge_open(struct life_job *job);
int life_edge_look(struct life_job *job);
uint64_t life_edge_batch(const struct life_job *job, uint64_t n);
void life_edge_end(struct life_job *job);

#endif
