/* life_plane.h - runs of `stdcl life` on an unbounded plane.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_LIFE_PLANE_H
#define STDCL_CLI_LIFE_PLANE_H

#include "life_job.h"

#include <stddef.h>
#include <stdint.h>

/* Functions that return int return an exit status, after printing a message. */

/* life_plane.c: check the options for an unbounded plane; run it, including the report. */
int life_plane_check(const struct life_job *job, const struct cli_option *options);
int life_plane_run(struct life_job *job);

/* life_squares.c: fill a plane from a macrocell file; save the plane as a macrocell file. -1
 * with clerror(). */
int life_squares_fill(const struct life_job *job, struct life_unbounded *e);
int life_squares_save(struct life_job *job, const char *file);

/* life_unbounded.c: the functions of stdcl/hashlife.h, for either engine. */
void unbounded_free(struct life_unbounded *e);
int unbounded_put(struct life_unbounded *e, long long x, long long y,
                  const struct life_cells *cells);
int unbounded_get(struct life_unbounded *e, long long x, long long y, struct life_cells *cells);
int unbounded_density(struct life_unbounded *e, long long x, long long y, size_t width,
                      size_t height, unsigned zoom, uint64_t *live);
int unbounded_get_zoomed(struct life_unbounded *e, unsigned zoom, long long x, long long y,
                         struct life_cells *cells);
int unbounded_step(struct life_unbounded *e, uint64_t generations);
int unbounded_population(struct life_unbounded *e, struct hashlife_number *population);
int unbounded_bounding_box(struct life_unbounded *e, struct hashlife_box *box);
uint64_t unbounded_generation(const struct life_unbounded *e);

/* Copy all cells of `sparse` to the empty `tree`. */
int unbounded_copy_to_tree(life_sparse *sparse, hashlife *tree);

/* life_start.c: create the plane of the run with its cells. make: create one of the engines; 0,
 * or -1 with clerror(). fill: put the pattern there; `done` frees the pattern. device: open the
 * device when the first engine needs one; an exit status. */
int life_start_open(struct life_job *job);
int life_start_device(struct life_job *job);
int life_start_make(struct life_job *job, int engine, struct life_unbounded *e);
int life_start_fill(const struct life_job *job, struct life_unbounded *e);
void life_start_done(struct life_job *job);

/* life_race.c: step the plane of the run; with --engine auto, find the faster engine. -1 with
 * clerror(). */
int life_race_step(struct life_job *job, uint64_t generations);

/* Current generation, counted from that of the pattern's file. */
static inline uint64_t life_job_generation(const struct life_job *job)
{
    return life_job_unbounded(job) ? unbounded_generation(&job->unbounded)
                                   : job->started + life_generation(job->engine_of_run);
}

#endif
