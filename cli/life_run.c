/* life_run.c - the main loop of `stdcl life`.
 *
 * The device runs in batches of generations. Between two batches the host checks for Ctrl-C,
 * draws the progress, and writes a frame if due. A batch ends where the next frame is due. For a
 * table of populations, and for --until-stable, the engine samples every generation.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "interrupt.h"
#include "message.h"
#include "progress.h"
#include "ranks.h"
#include "life_grid.h"
#include "life_output.h"
#include "life_plane.h"
#include "life_run.h"

#include "core/clock.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

static const double VISIT_SECONDS = 0.1;
enum { FIRST_BATCH = 64, TRACED = 64 };

/* Generation of the next frame. */
static uint64_t next_frame_generation(const struct life_job *job)
{
    return cli_outputs_due(&job->outputs, job->outputs.frames_done, job->generations);
}

static void begin_phase(struct life_job *job, uint64_t generations)
{
    job->doing.from = (double)life_job_done(job);
    job->doing.to = job->doing.from + (double)generations;
    job->doing.began = seconds_now();
}

static int write_due_frames(struct life_job *job)
{
    while (job->outputs.frames_done < job->outputs.frames &&
           next_frame_generation(job) <= life_job_done(job)) {
        const int status = life_output_frame(job);
        if (status != CLI_DONE)
            return status;
    }
    return CLI_DONE;
}

struct watcher {
    struct life_job *job;
    int status;
};

static int sample_row(void *arg, const struct life_sample *sample)
{
    struct watcher *w = arg;
    w->status = life_output_row(w->job, sample);
    if (sample->generation == life_generation(w->job->engine_of_run)) /* last sample of a batch */
        begin_phase(w->job, TRACED);
    return w->status != CLI_DONE;
}

/* Step until the state repeats, at most n generations. */
static int step_until_stable(struct life_job *job, uint64_t n)
{
    struct watcher w = {job, CLI_DONE};
    if (life_until_stable(job->engine_of_run, n, &job->period, &job->period_generation, sample_row,
                          &w) < 0 &&
        !life_job_stopped())
        return w.status == CLI_DONE ? cli_failed_call(NULL) : w.status;
    return w.status;
}

/* Step n generations and write each to the table. */
static int step_traced(struct life_job *job, uint64_t n)
{
    struct life_sample sample[TRACED];
    while (n && !cli_ranks_interrupted(false)) {
        const uint64_t now = n > TRACED ? TRACED : n, before = life_generation(job->engine_of_run);
        begin_phase(job, now);
        if (life_trace(job->engine_of_run, (size_t)now, sample) < 0 && !life_job_stopped())
            return cli_failed_call(NULL);
        const uint64_t done = life_generation(job->engine_of_run) - before;
        for (uint64_t i = 0; i < done; i++) {
            const int status = life_output_row(job, &sample[i]);
            if (status != CLI_DONE)
                return status;
        }
        n -= now;
    }
    return CLI_DONE;
}

static int step_plain(struct life_job *job, uint64_t n)
{
    return life_step(job->engine_of_run, n) == 0 || life_job_stopped() ? CLI_DONE
                                                                       : cli_failed_call(NULL);
}

/* Step n generations, fewer if cancelled, and write their populations if there is a table. */
static int step_timed(struct life_job *job, uint64_t n)
{
    int (*const by)(struct life_job *, uint64_t) =
        job->until_stable                                   ? step_until_stable
        : cli_outputs_have(&job->outputs, CLI_OUTPUT_TABLE) ? step_traced
                                                            : step_plain;
    const double began = seconds_now();
    begin_phase(job, job->until_stable && n > TRACED ? TRACED : n);
    const int status = by(job, n);
    job->seconds += seconds_now() - began;
    return status;
}

/* Length of the next batch, from the duration of n generations and the time until the next
 * visit; at most doubles. */
static uint64_t next_batch_length(uint64_t batch, uint64_t n, double took, double visit)
{
    if (n == batch && took < visit / 2)
        return batch < (uint64_t)1 << 40 ? 2 * batch : batch;
    const double fitting = (double)n * visit / took;
    return took <= 1.2 * visit ? batch : fitting < 1 ? 1 : (uint64_t)fitting;
}

/* Engine generation at which the run ends, or the next line is due. */
static uint64_t stop_generation(const struct life_job *job)
{
    return job->lines.wanted ? job->lines.due - job->started : job->generations;
}

static int print_population_line(struct life_job *job)
{
    char digits[24];
    uint64_t population;
    if (life_population(job->engine_of_run, &population) < 0)
        return cli_failed_call(NULL);
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)population);
    return life_lines_visit(job, digits);
}

/* Agree on the next batch by rank 0's clock; before it, write patterns if due. */
static int agree_on_batch(struct life_job *job, uint64_t *batch)
{
    uint64_t next[2] = {*batch, life_output_is_due(job)};
    if (world_broadcast(cli_world, 0, next, sizeof next) != 0)
        return cli_failed_call(NULL);
    *batch = next[0];
    const int status = next[1] ? life_output_keep(job) : CLI_DONE;
    if (next[1])
        life_balance_begin(job); /* the time rank 0 spent writing is not its speed */
    return status;
}

/* Visit what is due after a batch, which ended at generation `at`. */
static int visit_after_batch(struct life_job *job, uint64_t at)
{
    int status = life_edge_look(job);
    if (status != CLI_DONE)
        return status;
    if (job->lines.wanted && at == stop_generation(job) &&
        (status = print_population_line(job)) != CLI_DONE)
        return status;
    if ((status = write_due_frames(job)) != CLI_DONE)
        return status;
    if (!job->period && (status = life_balance_visit(job)) != CLI_DONE)
        return status;
    return life_view_visit(job);
}

static int run_generations(struct life_job *job)
{
    uint64_t batch = FIRST_BATCH, at = 0;
    int status = life_view_visit(job);
    if (status != CLI_DONE)
        return status;
    /* An interruption before the first generation keeps older pictures (life_output_finish). */
    if (!cli_ranks_interrupted(false) && (status = write_due_frames(job)) != CLI_DONE)
        return status;
    life_balance_begin(job);
    while (at < stop_generation(job) && !job->period && !cli_ranks_interrupted(false)) {
        uint64_t n =
            cli_window_batch(&job->window, at,
                             stop_generation(job) - at < batch ? stop_generation(job) - at : batch);
        n = life_edge_batch(job, n);
        if (job->outputs.frames_done < job->outputs.frames && next_frame_generation(job) - at < n)
            n = next_frame_generation(job) - at;
        const double start = seconds_now();
        status = step_timed(job, n);
        const double took = seconds_now() - start;
        at = life_job_done(job);
        if (status == CLI_DONE)
            status = visit_after_batch(job, at);
        at = life_job_done(job); /* a viewer may have gone back */
        begin_phase(job, 0);
        life_job_progress(job, 0);
        batch = next_batch_length(batch, n, took, cli_window_seconds(&job->window, VISIT_SECONDS));
        if (status != CLI_DONE)
            return status;
        if ((status = agree_on_batch(job, &batch)) != CLI_DONE)
            return status;
    }
    return CLI_DONE;
}

static int print_line_and_run(struct life_job *job)
{
    const int status = job->lines.wanted ? print_population_line(job) : CLI_DONE;
    return status == CLI_DONE ? run_generations(job) : status;
}

int life_job_run(struct life_job *job)
{
    struct life_sample first;
    int status;
    const bool known = !job->until_stable && job->generations != UINT64_MAX;
    const bool table = cli_outputs_have(&job->outputs, CLI_OUTPUT_TABLE);
    if (table && life_measure(job->engine_of_run, &first) < 0)
        return cli_failed_call(NULL);
    if (table && (status = life_output_row(job, &first)) != CLI_DONE)
        return status;
    /* Upload the cells and run each kernel once before timing. */
    uint64_t population;
    if (life_population(job->engine_of_run, &population) < 0)
        return cli_failed_call(NULL);
    job->kept = seconds_now();
    cli_progress_start(&job->progress, "generations", known ? (double)job->generations : 0,
                       job->common.quiet || job->lines.wanted);
    status = print_line_and_run(job);
    cli_progress_end(&job->progress);
    job->interrupted = cli_ranks_interrupted(status != CLI_DONE);
    return status;
}
