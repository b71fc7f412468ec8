/* nbody_run.c - the loop of `stdcl nbody`.
 *
 * The device steps in bursts. Between two bursts the host looks whether Ctrl-C was pressed, draws
 * the progress, and where the plan has one adds a frame or a row of the table; a burst ends where
 * the next of these is due.
 * SPDX-License-Identifier: MIT
 */
#include "nbody_job.h"

#include <errno.h>
#include <math.h>

static const double VISIT_SECONDS = 0.1; /* between looks, unless --burst says otherwise */
static const size_t FIRST_BURST = 8;

/* The step at which the next frame is due. */
static size_t next_frame(const struct nbody_job *job)
{
    return (size_t)cli_outputs_due(&job->outputs, job->outputs.frames_done, job->total);
}

/* What an engine's call came to: one that was stopped is no failure. */
static int outcome(int called)
{
    return called == 0 || nbody_job_stopped() ? CLI_DONE : cli_failed_call(NULL);
}

/* The energies and momenta now; NAN when that was stopped. */
static int diagnose(struct nbody_job *job, const char *name, struct nbody_diagnostics *d)
{
    const double at = (double)nbody_steps(job->engine);
    nbody_job_begin(job, name, at, at);
    const int called = nbody_job_energies(job, d);
    job->doing.name = NULL;
    if (called != 0)
        *d = (struct nbody_diagnostics){nbody_time(job->engine), NAN, NAN, NAN, {NAN, NAN, NAN},
                                        {NAN, NAN, NAN},         NAN};
    else
        nbody_view_row(job, d);
    return outcome(called);
}

/* ---- The loop. ------------------------------------------------------------------------------- */

static int visit(struct nbody_job *job, size_t step)
{
    int status = CLI_DONE;
    clprofile_begin(job->context, "output");
    if (step == 0 ? nbody_camera_next(job, 0) != SIZE_MAX
                  : nbody_camera_next(job, step - 1) == step)
        status = nbody_camera_point(job);
    if (status == CLI_DONE && job->outputs.frames_done < job->outputs.frames &&
        step == next_frame(job))
        status = nbody_output_frame(job);
    if (status == CLI_DONE && job->every && step % job->every == 0 && step > 0 &&
        step < job->total) {
        struct nbody_diagnostics d;
        status = diagnose(job, "energy", &d);
        if (status == CLI_DONE)
            status = nbody_output_row(job, &d);
    }
    if (status == CLI_DONE && step == nbody_series_next(job))
        status = nbody_series_write(job);
    clprofile_end(job->context);
    return status;
}

/* How many steps to go from `step`: `wanted`, but not past what is due next. The last step is alone
 * when it is shorter than the others. */
static size_t burst_from(const struct nbody_job *job, size_t step, size_t wanted)
{
    size_t end = job->total - step > wanted ? step + wanted : job->total;
    if (job->collide)
        end = step + 1;
    if (job->last_dt != job->dt && step < job->total - 1 && end == job->total)
        end--;
    if (job->outputs.frames_done < job->outputs.frames && next_frame(job) < end)
        end = next_frame(job);
    if (nbody_series_next(job) < end)
        end = nbody_series_next(job);
    if (nbody_checkpoint_next(job, step) < end)
        end = nbody_checkpoint_next(job, step);
    if (nbody_camera_next(job, step) < end)
        end = nbody_camera_next(job, step);
    if (nbody_stop_next(job, step) < end)
        end = nbody_stop_next(job, step);
    if (job->every && (end - step > job->every - step % job->every))
        end = step + (job->every - step % job->every);
    return end - step;
}

/* The next burst from how long the last one took: grows by doubling, shrinks at once. */
static size_t next_burst(const struct nbody_job *job, size_t burst, double seconds)
{
    if (job->burst)
        return job->burst;
    const double visit = cli_window_seconds(&job->window, VISIT_SECONDS),
                 fitting = seconds > 0 ? (double)burst * visit / seconds : 1e9;
    if (fitting > 2. * (double)burst)
        return burst < (size_t)1 << 40 ? 2 * burst : burst;
    return fitting < 1 ? 1 : (size_t)fitting;
}

/* Steps that vanish end the run as a condition does: the state is that before the step, and is
 * written. Only engines that choose steps keep it; of others it is lost. */
static int end_by_failure(struct nbody_job *job)
{
    snprintf(job->stopped, sizeof job->stopped, "%s", cli_reason());
    job->failed = true;
    return CLI_DONE;
}

static int step_engine(struct nbody_job *job, size_t step, size_t burst)
{
    if (step + burst == job->total && job->last_dt != job->dt &&
        nbody_set_dt(job->engine, job->last_dt) < 0)
        return cli_failed_call(NULL);
    nbody_job_begin(job, NULL, (double)step, (double)(step + burst));
    clprofile_begin(job->context, "steps");
    const int called = nbody_step(job->engine, burst);
    clprofile_end(job->context);
    job->seconds += seconds_now() - job->doing.began;
    if (called < 0 && clerrno == EDOM && nbody_job_chooses_steps(job))
        return end_by_failure(job);
    return outcome(called);
}

static int loop(struct nbody_job *job)
{
    size_t wanted = job->burst ? job->burst : FIRST_BURST;
    int status = job->resumed ? CLI_DONE : visit(job, 0);
    if (status == CLI_DONE)
        status = nbody_checkpoint_begin(job);
    if (status == CLI_DONE)
        status = nbody_view_visit(job);
    nbody_shares_begin(job);
    while (status == CLI_DONE && nbody_steps(job->engine) < job->total &&
           !cli_ranks_interrupted(false) && !*job->stopped) {
        const size_t step = nbody_steps(job->engine),
                     burst = burst_from(job, step, cli_window_burst(&job->window, step, wanted));
        const double before = job->seconds;
        status = step_engine(job, step, burst);
        if (status == CLI_DONE && nbody_steps(job->engine) == step + burst)
            status = nbody_collide_visit(job);
        if (status == CLI_DONE && nbody_steps(job->engine) == step + burst)
            status = visit(job, step + burst);
        if (status == CLI_DONE)
            status = nbody_stop_visit(job, step, nbody_steps(job->engine));
        if (status == CLI_DONE)
            status = nbody_checkpoint_visit(job, step, nbody_steps(job->engine));
        if (status == CLI_DONE)
            status = nbody_shares_visit(job);
        if (status == CLI_DONE)
            status = nbody_view_visit(job);
        if (burst == wanted)
            wanted = next_burst(job, burst, job->seconds - before);
        if (status == CLI_DONE &&
            world_broadcast(cli_world, 0, &wanted, sizeof wanted) != 0) /* by one clock */
            status = cli_failed_call(NULL);
    }
    return status;
}

static int start(struct nbody_job *job)
{
    const int status = diagnose(job, "energy at the start", &job->start);
    return status == CLI_DONE ? nbody_output_row(job, &job->start) : status;
}

int nbody_job_run(struct nbody_job *job)
{
    const double sums =
        (double)job->total + 2 + (job->every ? (double)(job->total / job->every) : 0);
    cli_progress_start(&job->progress, "steps", (double)job->total, job->common.quiet);
    job->doing.runs = sums;
    job->began = seconds_now();
    int status = job->resumed ? nbody_resume_outputs(job) : start(job);
    job->doing.runs = 0;
    cli_progress_start(&job->progress, "steps", (double)job->total, job->common.quiet);
    if (status == CLI_DONE)
        status = loop(job);
    if (status == CLI_DONE)
        status = nbody_checkpoint_end(job);
    if (status == CLI_DONE)
        status = diagnose(job, "energy at the end", &job->end);
    cli_progress_end(&job->progress);
    job->interrupted |= cli_ranks_interrupted(status != CLI_DONE) && job->engine &&
                        (nbody_steps(job->engine) < job->total || isnan(job->end.total));
    return status == CLI_DONE && nbody_steps(job->engine) > 0 ? nbody_output_row(job, &job->end)
                                                              : status;
}
