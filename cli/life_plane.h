/* life_plane.h - runs of `stdcl life` on an unbounded plane.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_LIFE_PLANE_H
#define STDCL_CLI_LIFE_PLANE_H

#include "life_job.h"

#include "core/clock.h"

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* Functions that return int return an exit status, after printing a message. */

/* life_plane.c: check the options for an unbounded plane; run it, including the report. */
int life_plane_check(const struct life_job *job, const struct cli_option *options);
int life_plane_run(struct life_job *job);

/* life_squares.c: fill a plane from a macrocell file; save the plane as a macrocell file; copy all
 * cells of a plane to an empty one. -1 with clerror(). */
int life_squares_copy(life *from, life *to);
int life_squares_copy_tree(life *from, life *to); /* HashLife to an empty HashLife */
int life_squares_fill(const struct life_job *job, life *plane);
int life_squares_save(struct life_job *job, const char *file);

/* HashLife's tree with the cells of the run: the engine of the run, or a temporary one;
 * NULL with clerror(). Free it by the second function. */
life *life_squares_tree(struct life_job *job);
void life_squares_tree_free(const struct life_job *job, life *tree);

/* life_start.c: create the plane of the run with its cells. make: create one of the engines;
 * NULL with clerror(). fill: put the pattern there; `done` frees the pattern. device: open the
 * device when the first engine needs one; an exit status. */
int life_start_open(struct life_job *job);
int life_start_device(struct life_job *job);
life *life_start_make(struct life_job *job, enum life_engine engine);
int life_start_fill(const struct life_job *job, life *plane);
void life_start_done(struct life_job *job);

/* life_race.c: step the plane of the run; with --engine auto, find the faster engine. -1 with
 * clerror(). */
int life_race_step(struct life_job *job, uint64_t generations);
/* The cells or the rule were changed: sparse can no longer catch up from the pattern. */
void life_race_changed(struct life_job *job);

/* Seconds by the clock of an engine: HashLife's are processor time of the calling thread, which
 * always computes, so that a busy machine does not change the choice; sparse's thread waits for a
 * device, and its seconds are those of the clock. */
static inline double life_race_clock(enum life_engine engine)
{
    struct timespec t;
    if (engine == LIFE_HASHLIFE && clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0)
        return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    return seconds_now();
}

/* Current generation, without the epoch. */
static inline uint64_t life_job_generation(const struct life_job *job)
{
    return life_generation(job->engine_of_run);
}

/* Generations of the run up to now. */
static inline uint64_t life_job_done(const struct life_job *job)
{
    return life_generation(job->engine_of_run) - job->started;
}

/* Current generation, counted from 0; and a generation of the run in decimal. */
static inline life_generation_t life_job_absolute(const struct life_job *job)
{
    return job->epoch + life_job_generation(job);
}
static inline char *life_job_generation_text(const struct life_job *job, uint64_t generation,
                                             char text[LIFE_GENERATION_TEXT])
{
    return life_generation_text(job->epoch + generation, text);
}

#endif
