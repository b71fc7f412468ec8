/* life_race.c - `stdcl life --engine auto` on a plane without edges: which of its two engines is
 * faster is found out.
 *
 * HashLife begins, since it needs no device, and a pattern that is small or regular is done in no
 * time. If it is still at work after PACE_SECONDS, sparse begins with the same pattern; if it comes
 * to the same generation in a part of that time, it goes on, and HashLife is dropped; if it comes
 * half as far, it may try again later. When sparse has worked for four times as long, HashLife gets
 * the plane as it is then, which may have become regular, for a part of that time; if it comes
 * further it goes on, else it is asked again after four times as long. So no more than about a
 * quarter of a long run is spent on the engine that is not the faster one. Cells are the same
 * whichever it is.
 * SPDX-License-Identifier: MIT
 */
#include "life_job.h"

#include "core/pace.h"

#include <errno.h>
#include <inttypes.h>

static const double PART = 2. / 3, LATER = 4;
enum {
    CHUNK = 256
}; /* HashLife's first step; each is twice the one before, since of a step that is ended early
      nothing remains */

static double now_or_soon(double seconds)
{
    return seconds_now() + seconds;
}

/* A step of an engine, with an end to its time. Returns 0 done, 1 the time is over, -1 failed, or
 * stopped by the user. */
static int step_until(struct life_job *job, struct life_endless *e, uint64_t generations,
                      double seconds)
{
    job->race.until = now_or_soon(seconds > 0 ? seconds : 1e-3);
    const int status = endless_step(e, generations);
    job->race.until = 0;
    return status == 0 ? 0 : clerrno == ECANCELED && !cli_interrupted() ? 1 : -1;
}

static void choose(struct life_job *job, struct life_endless *winner, int engine, const char *why)
{
    endless_free(&job->endless);
    job->endless = *winner;
    job->engine = engine;
    if (job->common.explain && cli_ranks_first())
        fprintf(stderr, "engine %s from generation %" PRIu64 " on: %s\n", life_engine_names[engine],
                endless_generation(&job->endless), why);
}

static int unless_stopped(void)
{
    return cli_interrupted() ? clerror_set(ECANCELED, "stopped before the end") : 0;
}

/* After HashLife's time: sparse may show what it can. Whatever it fails in, HashLife goes on. */
static int try_sparse(struct life_job *job)
{
    struct life_endless other = {.tree = NULL};
    const uint64_t at = endless_generation(&job->endless);
    job->race.open = false;
    int status = (stdgpu || stdcpu) && life_start_device(job) == CLI_DONE
                     ? life_start_make(job, LIFE_SPARSE, &other)
                     : 1;
    if (status == 0)
        status = life_start_fill(job, &other);
    if (status == 0)
        status = step_until(job, &other, at - job->started, PART * job->race.spent);
    if (status == 0) {
        choose(job, &other, LIFE_SPARSE, "it took less time than HashLife to come here");
        job->race.open = true;
        job->race.spent = 0;
        job->race.asked = at;
    } else {
        job->race.open = status == 1 && other.sparse &&
                         2 * (endless_generation(&other) - job->started) > at - job->started;
        endless_free(&other);
    }
    job->race.limit *= LATER;
    if (!job->race.open || job->endless.sparse)
        life_start_done(job);
    return unless_stopped();
}

static int step_tree(struct life_job *job, uint64_t end)
{
    int status = 0;
    while (status == 0 && job->race.open && endless_generation(&job->endless) < end) {
        const uint64_t left = end - endless_generation(&job->endless),
                       now = left < job->race.chunk ? left : job->race.chunk;
        const double began = seconds_now();
        status = step_until(job, &job->endless, now, job->race.limit - job->race.spent);
        job->race.spent += seconds_now() - began;
        job->race.chunk *= status == 0 && now == job->race.chunk ? 2 : 1;
        if (status >= 0 && job->race.spent >= job->race.limit)
            status = try_sparse(job);
        if (status == 0 && job->endless.sparse)
            break;
    }
    return status < 0 ? -1 : 0;
}

/* After much time of sparse: HashLife on the plane as it is, up to the end of the step at most. */
static int try_tree(struct life_job *job, uint64_t end)
{
    struct life_endless other;
    const uint64_t at = endless_generation(&job->endless), came = at - job->race.asked;
    const double began = seconds_now(), time = PART * job->race.spent;
    int status = life_start_make(job, LIFE_HASHLIFE, &other) < 0 ||
                         hashlife_set_square(other.tree, 0, at) < 0
                     ? -1
                     : endless_plant(job->endless.sparse, other.tree);
    for (uint64_t chunk = CHUNK;
         status == 0 && endless_generation(&other) < end && seconds_now() - began < time;
         chunk *= 2) {
        const uint64_t left = end - endless_generation(&other);
        status =
            step_until(job, &other, left < chunk ? left : chunk, time - (seconds_now() - began));
    }
    const uint64_t reached = status >= 0 ? endless_generation(&other) : at;
    job->race.limit *= LATER;
    job->race.spent = 0;
    job->race.asked = at;
    if (reached == end || reached - at > came) {
        choose(job, &other, LIFE_HASHLIFE, "it has become faster than sparse");
        job->race.open = false;
    } else {
        endless_free(&other);
    }
    return unless_stopped();
}

/* When sparse cannot go on, for what is on the plane has become too much or too wide, HashLife
 * may. */
static int fall_back(struct life_job *job)
{
    struct life_endless other;
    if (life_start_make(job, LIFE_HASHLIFE, &other) < 0 ||
        hashlife_set_square(other.tree, 0, endless_generation(&job->endless)) < 0 ||
        endless_plant(job->endless.sparse, other.tree) < 0) {
        endless_free(&other);
        return -1;
    }
    choose(job, &other, LIFE_HASHLIFE, "the plane is too large for sparse");
    job->race.open = false;
    return 0;
}

static int step_sparse(struct life_job *job, uint64_t end)
{
    int status = 0;
    while (status == 0 && job->race.open && endless_generation(&job->endless) < end) {
        const double began = seconds_now();
        status = step_until(job, &job->endless, end - endless_generation(&job->endless),
                            job->race.limit - job->race.spent);
        job->race.spent += seconds_now() - began;
        if (status == 1)
            status = try_tree(job, end);
        else if (status < 0 && (clerrno == ENOMEM || clerrno == ERANGE))
            status = fall_back(job);
    }
    return status < 0 ? -1 : 0;
}

int life_race_step(struct life_job *job, uint64_t generations)
{
    const uint64_t end = endless_generation(&job->endless) + generations;
    int status = 0;
    if (job->race.open && !job->race.chunk) {
        job->race.chunk = CHUNK;
        job->race.limit = pace_of(1).seconds;
    }
    if (job->race.open && job->endless.tree)
        status = step_tree(job, end);
    if (status == 0 && job->race.open && job->endless.sparse)
        status = step_sparse(job, end);
    const uint64_t at = endless_generation(&job->endless);
    return status < 0 ? -1 : at < end ? endless_step(&job->endless, end - at) : 0;
}
