/* life_race.c - `stdcl life --engine auto` on an unbounded plane: find the faster of the two
 * engines.
 *
 * HashLife starts, because it needs no device and finishes small or regular patterns at once. If
 * it is still running after PACE_SECONDS of its thread's processor time, sparse starts with the
 * same pattern. If sparse reaches the same generation in a fraction PART of that time, it
 * replaces HashLife; if it gets at least half as far, it may try again later. After
 * sparse has run LATER times as long, HashLife gets the current plane, which may have become
 * regular, for a fraction of that time. If HashLife gets further, it takes over; otherwise it tries
 * again after LATER times as long. So at most about a quarter of a long run is spent on the slower
 * engine. Both engines give equal cells.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "interrupt.h"
#include "ranks.h"
#include "life_plane.h"

#include "core/clock.h"
#include "core/pace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

static const double PART = 2. / 3, LATER = 4;
enum {
    CHUNK = 256
    /* HashLife's first step. Steps double, because a cancelled step leaves no result */
};

static bool plane_is_sparse(const struct life_job *job)
{
    return life_engine_of(job->engine_of_run) == LIFE_SPARSE;
}

/* Create HashLife with the cells of sparse; NULL with clerror(). */
static life *tree_of_tiles(struct life_job *job)
{
    life *tree = life_start_make(job, LIFE_HASHLIFE);
    if (tree && life_set_generation(tree, life_generation(job->engine_of_run)) == 0 &&
        life_squares_copy(job->engine_of_run, tree) == 0)
        return tree;
    life_free(tree);
    return NULL;
}

/* Step an engine with a time limit. Return 0 when done, 1 if the time is over, -1 on failure or
 * cancellation by the user. */
static int step_until(struct life_job *job, life *plane, uint64_t generations, double seconds)
{
    job->race.clock = life_engine_of(plane);
    job->race.until = life_race_clock(job->race.clock) + (seconds > 0 ? seconds : 1e-3);
    const int status = life_step(plane, generations);
    job->race.until = 0;
    return status == 0 ? 0 : clerrno == ECANCELED && !cli_interrupted() ? 1 : -1;
}

static void switch_engine(struct life_job *job, life *winner, const char *why)
{
    life_free(job->engine_of_run);
    job->engine_of_run = winner;
    job->engine = (int)life_engine_of(winner);
    char text[LIFE_GENERATION_TEXT];
    if (job->common.explain && cli_ranks_first())
        fprintf(stderr, "engine %s from generation %s: %s\n",
                life_engine_name(life_engine_of(winner)),
                life_job_generation_text(job, life_job_generation(job), text), why);
}

static int cancelled_or_0(void)
{
    return cli_interrupted() ? clerror_set(ECANCELED, "cancelled") : 0;
}

/* Try sparse after HashLife's time. If it fails in any way, HashLife continues. */
static int try_sparse(struct life_job *job)
{
    life *other = NULL;
    const uint64_t at = life_generation(job->engine_of_run);
    job->race.open = false;
    int status = (stdgpu || stdcpu) && life_start_device(job) == CLI_DONE &&
                         (other = life_start_make(job, LIFE_SPARSE))
                     ? 0
                     : 1;
    if (status == 0)
        status = life_start_fill(job, other);
    if (status == 0)
        status = step_until(job, other, at - job->started, PART * job->race.spent);
    if (status == 0) {
        switch_engine(job, other, "it was faster than HashLife so far");
        job->race.open = true;
        job->race.spent = 0;
        job->race.asked = at;
    } else {
        job->race.open =
            status == 1 && other && 2 * (life_generation(other) - job->started) > at - job->started;
        life_free(other);
    }
    job->race.limit *= LATER;
    if (!job->race.open || plane_is_sparse(job))
        life_start_done(job);
    return cancelled_or_0();
}

static int step_tree(struct life_job *job, uint64_t end)
{
    int status = 0;
    while (status == 0 && job->race.open && life_generation(job->engine_of_run) < end) {
        const uint64_t left = end - life_generation(job->engine_of_run),
                       now = left < job->race.chunk ? left : job->race.chunk;
        const double began = life_race_clock(LIFE_HASHLIFE);
        status = step_until(job, job->engine_of_run, now, job->race.limit - job->race.spent);
        job->race.spent += life_race_clock(LIFE_HASHLIFE) - began;
        job->race.chunk *= status == 0 && now == job->race.chunk ? 2 : 1;
        if (status >= 0 && job->race.spent >= job->race.limit)
            status = try_sparse(job);
        if (status == 0 && plane_is_sparse(job))
            break;
    }
    return status < 0 ? -1 : 0;
}

/* Try HashLife on the current plane after a long run of sparse, at most to the end of the step. */
static int try_tree(struct life_job *job, uint64_t end)
{
    const uint64_t at = life_generation(job->engine_of_run), came = at - job->race.asked;
    const double began = life_race_clock(LIFE_HASHLIFE), time = PART * job->race.spent;
    double used = 0;
    life *other = tree_of_tiles(job);
    int status = other ? 0 : -1;
    for (uint64_t chunk = CHUNK; status == 0 && life_generation(other) < end && used < time;
         chunk *= 2) {
        const uint64_t left = end - life_generation(other);
        status = step_until(job, other, left < chunk ? left : chunk, time - used);
        used = life_race_clock(LIFE_HASHLIFE) - began;
    }
    const uint64_t reached = status >= 0 ? life_generation(other) : at;
    job->race.limit *= LATER;
    job->race.spent = 0;
    job->race.asked = at;
    if (reached == end || reached - at > came) {
        switch_engine(job, other, "it has become faster than sparse");
        job->race.open = false;
    } else {
        life_free(other);
    }
    return cancelled_or_0();
}

/* Switch to HashLife when the plane has become too large for sparse. */
static int fall_back_to_tree(struct life_job *job)
{
    life *other = tree_of_tiles(job);
    if (!other)
        return -1;
    switch_engine(job, other, "the plane is too large for sparse");
    job->race.open = false;
    return 0;
}

static int step_sparse(struct life_job *job, uint64_t end)
{
    int status = 0;
    while (status == 0 && job->race.open && life_generation(job->engine_of_run) < end) {
        const double began = seconds_now();
        status = step_until(job, job->engine_of_run, end - life_generation(job->engine_of_run),
                            job->race.limit - job->race.spent);
        job->race.spent += seconds_now() - began;
        if (status == 1)
            status = try_tree(job, end);
        else if (status < 0 && (clerrno == ENOMEM || clerrno == ERANGE))
            status = fall_back_to_tree(job);
    }
    return status < 0 ? -1 : 0;
}

void life_race_changed(struct life_job *job)
{
    if (!job->race.open || plane_is_sparse(job))
        return;
    job->race.open = false;
    life_start_done(job);
}

int life_race_step(struct life_job *job, uint64_t generations)
{
    const uint64_t end = life_generation(job->engine_of_run) + generations;
    int status = 0;
    if (job->race.open && !job->race.chunk) {
        job->race.chunk = CHUNK;
        job->race.limit = pace_of(1).seconds;
    }
    if (job->race.open && !plane_is_sparse(job))
        status = step_tree(job, end);
    if (status == 0 && job->race.open && plane_is_sparse(job))
        status = step_sparse(job, end);
    const uint64_t at = life_generation(job->engine_of_run);
    return status < 0 ? -1 : at < end ? life_step(job->engine_of_run, end - at) : 0;
}
