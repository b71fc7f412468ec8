/* life_run.c - the loop of `stdcl life`.
 *
 * The device runs in bursts of generations. Between two bursts the host looks whether Ctrl-C was
 * pressed, shows the progress, and adds a frame if one is due; a burst ends where the next frame is
 * due. With a table of populations, and with --until-stable, the engine looks at every generation.
 * SPDX-License-Identifier: MIT
 */
#include "life_job.h"

static const double VISIT_SECONDS = 0.1;
enum { FIRST_BURST = 64, TRACED = 64 };

/* The generation at which the next frame is due. */
static uint64_t next_frame(const struct life_job *job)
{
    return cli_outputs_due(&job->outputs, job->outputs.frames_done, job->generations);
}

static double cells_of(const struct life_job *job)
{
    return (double)job->size.width * (double)job->size.height;
}

int life_job_tell(void *arg, double fraction)
{
    struct life_job *job = arg;
    const double done = job->doing.from + fraction * (job->doing.to - job->doing.from);
    const double seconds = job->seconds + seconds_now() - job->doing.began;
    struct cli_text rate;
    char filling[32];
    snprintf(filling, sizeof filling, "filling, %.0f %%", 100 * fraction);
    if (job->progress.unit)
        cli_progress_update(&job->progress, done,
                            job->doing.filling
                                ? filling
                                : cli_text_rate(&rate, done * cells_of(job) / seconds, "cells/s"));
    cli_window_listen(&job->window);
    return cli_interrupted();
}

static void begin(struct life_job *job, uint64_t generations)
{
    job->doing.from = (double)life_generation(job->engine_of_run);
    job->doing.to = job->doing.from + (double)generations;
    job->doing.began = seconds_now();
}

static int due_frames(struct life_job *job)
{
    int status = CLI_DONE;
    while (status == CLI_DONE && job->outputs.frames_done < job->outputs.frames &&
           next_frame(job) <= life_generation(job->engine_of_run))
        status = life_output_frame(job);
    return status;
}

struct watcher {
    struct life_job *job;
    int status;
};

static int watch(void *arg, const struct life_sample *sample)
{
    struct watcher *w = arg;
    w->status = life_output_row(w->job, sample);
    if (sample->generation ==
        life_generation(w->job->engine_of_run)) /* the last of those that were looked at together */
        begin(w->job, TRACED);
    return w->status != CLI_DONE;
}

/* Until the state repeats, at most n generations. */
static int step_until_stable(struct life_job *job, uint64_t n)
{
    struct watcher w = {job, CLI_DONE};
    if (life_until_stable(job->engine_of_run, n, &job->period, &job->period_generation, watch, &w) <
            0 &&
        !life_job_stopped())
        return w.status == CLI_DONE ? cli_failed_call(NULL) : w.status;
    return w.status;
}

/* The same of n generations, of which the table has each. */
static int step_traced(struct life_job *job, uint64_t n)
{
    struct life_sample sample[TRACED];
    int status = CLI_DONE;
    while (n && status == CLI_DONE && !cli_ranks_interrupted(false)) {
        const uint64_t now = n > TRACED ? TRACED : n, before = life_generation(job->engine_of_run);
        begin(job, now);
        if (life_trace(job->engine_of_run, (size_t)now, sample) < 0 && !life_job_stopped())
            return cli_failed_call(NULL);
        const uint64_t done = life_generation(job->engine_of_run) - before;
        for (uint64_t i = 0; i < done && status == CLI_DONE; i++)
            status = life_output_row(job, &sample[i]);
        n -= now;
    }
    return status;
}

static int step_plain(struct life_job *job, uint64_t n)
{
    return life_step(job->engine_of_run, n) == 0 || life_job_stopped() ? CLI_DONE
                                                                       : cli_failed_call(NULL);
}

/* Steps n generations, or fewer when it is stopped, and writes their populations when there is a
 * table. */
static int step(struct life_job *job, uint64_t n)
{
    int (*const by)(struct life_job *, uint64_t) =
        job->until_stable                                   ? step_until_stable
        : cli_outputs_have(&job->outputs, CLI_OUTPUT_TABLE) ? step_traced
                                                            : step_plain;
    const double began = seconds_now();
    begin(job, job->until_stable && n > TRACED ? TRACED : n);
    const int status = by(job, n);
    job->seconds += seconds_now() - began;
    return status;
}

/* The next burst from how long n generations took: as long as the next visit is away; grows by
 * doubling. */
static uint64_t next_burst(uint64_t burst, uint64_t n, double took, double visit)
{
    if (n == burst && took < visit / 2)
        return burst < (uint64_t)1 << 40 ? 2 * burst : burst;
    const double fitting = (double)n * visit / took;
    return took <= 1.2 * visit ? burst : fitting < 1 ? 1 : (uint64_t)fitting;
}

/* The generation of the engine at which the run ends, or prints a line. */
static uint64_t end_of(const struct life_job *job)
{
    return job->lines.wanted ? job->lines.due - job->started : job->generations;
}

static int print_line(struct life_job *job)
{
    char digits[24];
    uint64_t population;
    if (life_population(job->engine_of_run, &population) < 0)
        return cli_failed_call(NULL);
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)population);
    return life_lines_visit(job, digits);
}

/* What comes next, by one clock: the burst, and before it the files of cells if they are due. */
static int agree(struct life_job *job, uint64_t *burst)
{
    uint64_t next[2] = {*burst, life_output_is_due(job)};
    if (world_broadcast(cli_world, 0, next, sizeof next) != 0)
        return cli_failed_call(NULL);
    *burst = next[0];
    const int status = next[1] ? life_output_keep(job) : CLI_DONE;
    if (next[1])
        life_shares_begin(job); /* the first rank was not slow, it wrote */
    return status;
}

static int run_generations(struct life_job *job)
{
    uint64_t burst = FIRST_BURST, at = 0;
    int status = due_frames(job);
    if (status == CLI_DONE)
        status = life_view_visit(job);
    life_shares_begin(job);
    while (status == CLI_DONE && at < end_of(job) && !job->period &&
           !cli_ranks_interrupted(false)) {
        uint64_t n =
            cli_window_burst(&job->window, at, end_of(job) - at < burst ? end_of(job) - at : burst);
        n = life_edge_burst(job, n);
        if (job->outputs.frames_done < job->outputs.frames && next_frame(job) - at < n)
            n = next_frame(job) - at;
        const double start = seconds_now();
        status = step(job, n);
        const double took = seconds_now() - start;
        at = life_generation(job->engine_of_run);
        if (status == CLI_DONE)
            status = life_edge_look(job);
        if (status == CLI_DONE && job->lines.wanted && at == end_of(job))
            status = print_line(job);
        if (status == CLI_DONE)
            status = due_frames(job);
        if (status == CLI_DONE && !job->period)
            status = life_shares_visit(job);
        if (status == CLI_DONE)
            status = life_view_visit(job);
        begin(job, 0);
        life_job_tell(job, 0);
        burst = next_burst(burst, n, took, cli_window_seconds(&job->window, VISIT_SECONDS));
        if (status == CLI_DONE)
            status = agree(job, &burst);
    }
    return status;
}

int life_job_run(struct life_job *job)
{
    struct life_sample first;
    int status = CLI_DONE;
    const bool known = !job->until_stable && job->generations != UINT64_MAX;
    if (cli_outputs_have(&job->outputs, CLI_OUTPUT_TABLE)) {
        if (life_measure(job->engine_of_run, &first) < 0)
            return cli_failed_call(NULL);
        status = life_output_row(job, &first);
    }
    /* Cells go to the device, and kernels run for the first time, outside what is timed. */
    uint64_t population;
    if (life_population(job->engine_of_run, &population) < 0)
        return cli_failed_call(NULL);
    job->kept = seconds_now();
    cli_progress_start(&job->progress, "generations", known ? (double)job->generations : 0,
                       job->common.quiet || job->lines.wanted);
    if (status == CLI_DONE && job->lines.wanted)
        status = print_line(job);
    if (status == CLI_DONE)
        status = run_generations(job);
    cli_progress_end(&job->progress);
    job->interrupted = cli_ranks_interrupted(status != CLI_DONE);
    return status;
}
