/* nbody_run.c - the main loop of `stdcl nbody`.
 *
 * The device steps in batches. Between two batches the host checks for Ctrl-C, draws the
 * progress, and writes a frame or a row of the table if due. A batch ends where the next output
 * is due.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "message.h"
#include "progress.h"
#include "ranks.h"
#include "nbody_bodies.h"
#include "nbody_checkpoint.h"
#include "nbody_history.h"
#include "nbody_output.h"
#include "nbody_path.h"
#include "nbody_run.h"

#include "core/clock.h"

#include <errno.h>
#include <math.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdio.h>

static const double VISIT_SECONDS = 0.1; /* between visits, unless --batch is given */
static const size_t FIRST_BATCH = 8;

/* Step of the next frame. If a resumed run ends earlier than before, frames may be overdue. */
static size_t next_frame_step(const struct nbody_job *job)
{
    return (size_t)cli_outputs_due(&job->outputs, job->outputs.frames_done, job->total);
}

/* Status of an engine's call; a cancelled call is no failure. */
static int engine_status(int called)
{
    return called == 0 || nbody_job_stopped() ? CLI_DONE : cli_failed_call(NULL);
}

/* True if an output needs energies. A run without steps may only convert bodies: there the sum over
 * all pairs would take longer than all other work. */
static bool needs_energies(const struct nbody_job *job)
{
    return job->total > 0 || job->outputs.n == 0 || job->common.json || job->direct_energies ||
           job->window.open || nbody_history_wanted(job) ||
           cli_outputs_have(&job->outputs, CLI_OUTPUT_TABLE);
}

struct nbody_diagnostics nbody_not_diagnosed(double time)
{
    return (struct nbody_diagnostics){time, NAN, NAN, NAN, {NAN, NAN, NAN}, {NAN, NAN, NAN}, NAN};
}

/* Compute the current energies and momenta; NAN if cancelled or not needed. */
static int diagnose_now(struct nbody_job *job, const char *name, struct nbody_diagnostics *d)
{
    const double at = (double)nbody_steps(job->engine);
    const bool needed = needs_energies(job);
    nbody_job_begin(job, name, at, at);
    const int called = needed ? nbody_job_energies(job, d) : 0;
    job->doing.name = NULL;
    if (called != 0 || !needed)
        *d = nbody_not_diagnosed(nbody_time(job->engine));
    else
        nbody_view_row(job, d);
    return engine_status(called);
}

/* ---- The loop. ------------------------------------------------------------------------------- */

static bool row_is_due(const struct nbody_job *job, size_t step)
{
    return job->every && step % job->every == 0 && step > 0 && step < job->total;
}

static int add_current_row(struct nbody_job *job)
{
    struct nbody_diagnostics d;
    const int status = diagnose_now(job, "energy", &d);
    return status == CLI_DONE ? nbody_output_row(job, &d) : status;
}

/* Add the row of the first step of a resumed run. The checkpoint lacks this row if the run ended
 * there, or if the sum of energies was interrupted. */
static int add_resumed_row(struct nbody_job *job)
{
    const bool due =
        row_is_due(job, nbody_steps(job->engine)) && !(fabs(nbody_elapsed(job->engine)) > 0);
    return due && nbody_output_lacks_row(job) ? add_current_row(job) : CLI_DONE;
}

static int write_due_outputs(struct nbody_job *job, size_t step)
{
    int status;
    if ((step == 0 ? nbody_path_next(job, 0) != SIZE_MAX
                   : nbody_path_next(job, step - 1) == step) &&
        (status = nbody_path_add(job)) != CLI_DONE)
        return status;
    /* An interruption before the first step keeps older files (nbody_output_finish). */
    if (step == 0 && cli_ranks_interrupted(false))
        return CLI_DONE;
    while (job->outputs.frames_done < job->outputs.frames && step >= next_frame_step(job))
        if ((status = nbody_output_frame(job)) != CLI_DONE)
            return status;
    if (row_is_due(job, step) && (status = add_current_row(job)) != CLI_DONE)
        return status;
    if (step != nbody_series_next(job))
        return CLI_DONE;
    status = nbody_series_write(job);
    nbody_bodies_release(job);
    return status;
}

static int visit_outputs(struct nbody_job *job, size_t step)
{
    clprofile_begin(job->context, "output");
    const int status = write_due_outputs(job, step);
    clprofile_end(job->context);
    return status;
}

/* Number of steps from `step`: `wanted`, limited by the next output. A shortened last step is a
 * batch of its own. */
static size_t batch_from(const struct nbody_job *job, size_t step, size_t wanted)
{
    size_t end = job->total - step > wanted ? step + wanted : job->total;
    if (job->collide && !job->watched)
        end = step + 1;
    if (job->last_dt != job->dt && step < job->total - 1 && end == job->total)
        end--;
    if (job->outputs.frames_done < job->outputs.frames && next_frame_step(job) > step &&
        next_frame_step(job) < end)
        end = next_frame_step(job);
    if (nbody_series_next(job) < end)
        end = nbody_series_next(job);
    if (nbody_checkpoint_next(job, step) < end)
        end = nbody_checkpoint_next(job, step);
    if (nbody_path_next(job, step) < end)
        end = nbody_path_next(job, step);
    if (nbody_stop_next(job, step) < end)
        end = nbody_stop_next(job, step);
    if (job->every && (end - step > job->every - step % job->every))
        end = step + (job->every - step % job->every);
    return end - step;
}

/* Length of the next batch from the duration of `done` steps of the last one: at most doubles,
 * shrinks at once. */
static size_t next_batch(const struct nbody_job *job, size_t batch, size_t done, double seconds)
{
    if (job->batch)
        return job->batch;
    const double visit_outputs = cli_window_seconds(&job->window, VISIT_SECONDS),
                 fitting = seconds > 0 ? (double)done * visit_outputs / seconds : 1e9;
    if (fitting > 2. * (double)batch)
        return batch < (size_t)1 << 40 ? 2 * batch : batch;
    return fitting < 1 ? 1 : (size_t)fitting;
}

/* A vanishing step ends the run like a stop condition, with the state before the step as output.
 * Only engines that choose steps keep that state. */
static int end_by_failure(struct nbody_job *job)
{
    snprintf(job->stopped, sizeof job->stopped, "%s", cli_reason());
    job->failed = true;
    return CLI_DONE;
}

/* Shorten the last step, which begins now, to end at --until. The last checkpoint precedes it. */
static int shorten_last_step(struct nbody_job *job)
{
    if (job->checkpoint)
        nbody_checkpoint_write(job);
    if (nbody_set_dt(job->engine, job->last_dt) < 0)
        return cli_failed_call(NULL);
    job->shortened = true;
    return CLI_DONE;
}

static int step_engine(struct nbody_job *job, size_t step, size_t batch)
{
    if (step + batch == job->total && job->last_dt != job->dt) {
        const int status = shorten_last_step(job);
        if (status != CLI_DONE)
            return status;
    }
    nbody_job_begin(job, NULL, (double)step, (double)(step + batch));
    clprofile_begin(job->context, "steps");
    job->doing.limited = true;
    const int called = nbody_step(job->engine, batch);
    job->doing.limited = false;
    clprofile_end(job->context);
    job->seconds += seconds_now() - job->doing.began;
    job->advanced |= called == 0;
    if (called < 0 && clerrno == ECANCELED && job->time_limit > 0)
        return CLI_DONE; /* nbody_stop_visit follows */
    if (called < 0 && clerrno == EDOM && nbody_job_chooses_steps(job))
        return end_by_failure(job);
    return engine_status(called);
}

/* Step one batch, and visit what is due after it. */
static int step_and_visit(struct nbody_job *job, size_t step, size_t batch)
{
    int status = step_engine(job, step, batch);
    if (status != CLI_DONE)
        return status;
    nbody_events_visit(job);
    const bool whole = nbody_steps(job->engine) == step + batch;
    if ((status = nbody_collide_visit(job, whole)) != CLI_DONE)
        return status;
    if (whole && (status = visit_outputs(job, step + batch)) != CLI_DONE)
        return status;
    if ((status = nbody_stop_visit(job, step, nbody_steps(job->engine))) != CLI_DONE)
        return status;
    if ((status = nbody_checkpoint_visit(job, step, nbody_steps(job->engine))) != CLI_DONE)
        return status;
    if ((status = nbody_balance_visit(job)) != CLI_DONE)
        return status;
    return nbody_view_visit(job);
}

static int step_to_end(struct nbody_job *job)
{
    size_t wanted = job->batch ? job->batch : FIRST_BATCH;
    int status = nbody_view_visit(job);
    if (status != CLI_DONE)
        return status;
    if ((status = job->resumed ? add_resumed_row(job) : visit_outputs(job, 0)) != CLI_DONE)
        return status;
    if ((status = nbody_checkpoint_begin(job)) != CLI_DONE)
        return status;
    if ((status = nbody_collide_begin(job)) != CLI_DONE)
        return status;
    if ((status = nbody_events_begin_run(job)) != CLI_DONE)
        return status;
    nbody_balance_begin(job);
    while (nbody_steps(job->engine) < job->total && !cli_ranks_interrupted(false) &&
           !*job->stopped) {
        const size_t step = nbody_steps(job->engine),
                     most = cli_window_batch(&job->window, step, wanted),
                     piece = nbody_view_piece(job, most), batch = batch_from(job, step, piece);
        const double before = job->seconds;
        if ((status = step_and_visit(job, step, batch)) != CLI_DONE)
            return status;
        if (most == wanted && batch == piece)
            wanted = next_batch(job, wanted, batch, job->seconds - before);
        /* rank 0's clock decides for all */
        if (world_broadcast(cli_world, 0, &wanted, sizeof wanted) != 0)
            return cli_failed_call(NULL);
    }
    return CLI_DONE;
}

static int diagnose_start(struct nbody_job *job)
{
    const int status = diagnose_now(job, "initial energy", &job->start);
    return status == CLI_DONE ? nbody_output_row(job, &job->start) : status;
}

static int run_to_end(struct nbody_job *job)
{
    const int status = step_to_end(job);
    if (status != CLI_DONE)
        return status;
    nbody_checkpoint_end(job);
    return diagnose_now(job, "final energy", &job->end);
}

int nbody_job_run(struct nbody_job *job)
{
    const double sums =
        (double)job->total + 2 + (job->every ? (double)(job->total / job->every) : 0);
    cli_progress_start(&job->progress, "steps", (double)job->total, job->common.quiet);
    job->doing.runs = sums;
    job->began = seconds_now();
    int status = job->resumed ? nbody_resume_outputs(job) : diagnose_start(job);
    job->doing.runs = 0;
    cli_progress_start(&job->progress, "steps", (double)job->total, job->common.quiet);
    if (status == CLI_DONE)
        status = run_to_end(job);
    cli_progress_end(&job->progress);
    job->interrupted |= cli_ranks_interrupted(status != CLI_DONE) && job->engine &&
                        (nbody_steps(job->engine) < job->total || isnan(job->end.total));
    const bool moved = nbody_steps(job->engine) > 0 || fabs(nbody_elapsed(job->engine)) > 0;
    return status == CLI_DONE && moved ? nbody_output_row(job, &job->end) : status;
}
