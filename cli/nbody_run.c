/* nbody_run.c - the loop of `stdcl nbody`.
 *
 * The device steps in bursts. Between two bursts the host looks whether Ctrl-C was pressed, draws the
 * progress, and where the plan has one adds a frame or a row of the table; a burst ends where the next
 * of these is due.
 * SPDX-License-Identifier: MIT
 */
#include "nbody_job.h"

static const double VISIT_SECONDS = 0.1; /* between looks, unless --burst says otherwise */
static const size_t FIRST_BURST = 8;

/* The step at which the next frame is due. */
static size_t next_frame(const struct nbody_job *job)
{
    return (size_t)cli_outputs_due(&job->outputs, job->outputs.frames_done, job->total);
}

static int visit(struct nbody_job *job, size_t step)
{
    int status = CLI_DONE;
    clprofile_begin(job->context, "output");
    if (job->outputs.frames_done < job->outputs.frames && step == next_frame(job))
        status = nbody_output_frame(job);
    if (status == CLI_DONE && job->every && step % job->every == 0 && step > 0 && step < job->total) {
        struct nbody_diagnostics d;
        status = nbody_diagnose(job->engine, &d) < 0 ? cli_failed_call(NULL)
                                                     : nbody_output_row(job, &d);
    }
    clprofile_end(job->context);
    return status;
}

/* How many steps to go from `step`: `wanted`, but not past what is due next. The last step is alone
 * when it is shorter than the others. */
static size_t burst_from(const struct nbody_job *job, size_t step, size_t wanted)
{
    size_t end = job->total - step > wanted ? step + wanted : job->total;
    if (job->last_dt != job->dt && step < job->total - 1 && end == job->total)
        end--;
    if (job->outputs.frames_done < job->outputs.frames && next_frame(job) < end)
        end = next_frame(job);
    if (job->every && (end - step > job->every - step % job->every))
        end = step + (job->every - step % job->every);
    return end - step;
}

/* The next burst from how long the last one took: grows by doubling, shrinks at once. */
static size_t next_burst(const struct nbody_job *job, size_t burst, double seconds)
{
    if (job->burst)
        return job->burst;
    const double fitting = seconds > 0 ? (double)burst * VISIT_SECONDS / seconds : 1e9;
    if (fitting > 2. * (double)burst)
        return burst < (size_t)1 << 40 ? 2 * burst : burst;
    return fitting < 1 ? 1 : (size_t)fitting;
}

static int step_engine(struct nbody_job *job, size_t step, size_t burst, double *seconds)
{
    if (step + burst == job->total && job->last_dt != job->dt &&
        nbody_set_dt(job->engine, job->last_dt) < 0)
        return cli_failed_call(NULL);
    const double start = seconds_now();
    clprofile_begin(job->context, "steps");
    const int failed = nbody_step(job->engine, burst);
    clprofile_end(job->context);
    *seconds = seconds_now() - start;
    job->seconds += *seconds;
    return failed < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

static int loop(struct nbody_job *job, struct cli_progress *progress)
{
    size_t wanted = job->burst ? job->burst : FIRST_BURST;
    int status = visit(job, 0);
    for (size_t step = 0; status == CLI_DONE && step < job->total && !cli_interrupted();) {
        double seconds = 0;
        struct cli_text rate;
        const size_t burst = burst_from(job, step, wanted);
        status = step_engine(job, step, burst, &seconds);
        step += burst;
        if (status == CLI_DONE)
            status = visit(job, step);
        cli_progress_update(progress, (double)step,
                            cli_text_rate(&rate, nbody_interactions(job->engine) / job->seconds,
                                          "interactions/s"));
        if (burst == wanted)
            wanted = next_burst(job, burst, seconds);
    }
    return status;
}

int nbody_job_run(struct nbody_job *job)
{
    struct cli_progress progress;
    if (nbody_diagnose(job->engine, &job->start) < 0)
        return cli_failed_call(NULL);
    int status = nbody_output_row(job, &job->start);
    cli_progress_start(&progress, "steps", (double)job->total, job->common.quiet);
    if (status == CLI_DONE)
        status = loop(job, &progress);
    cli_progress_end(&progress);
    if (status != CLI_DONE)
        return status;
    job->interrupted = cli_interrupted() && nbody_steps(job->engine) < job->total;
    if (nbody_diagnose(job->engine, &job->end) < 0)
        return cli_failed_call(NULL);
    return nbody_steps(job->engine) > 0 ? nbody_output_row(job, &job->end) : CLI_DONE;
}
