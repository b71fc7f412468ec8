/* cmd_nbody.c - `stdcl nbody`: gravity between bodies from a file or a model. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "common.h"
#include "device.h"
#include "interrupt.h"
#include "message.h"
#include "progress.h"
#include "ranks.h"
#include "nbody_bodies.h"
#include "nbody_checkpoint.h"
#include "nbody_fields.h"
#include "nbody_history.h"
#include "nbody_options.h"
#include "nbody_output.h"
#include "nbody_run.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- The steps of a run. --------------------------------------------------------------------- */

static int check_input_files(struct nbody_job *job)
{
    const int status = cli_ranks_same_file(job->input);
    return status == CLI_DONE ? cli_ranks_same_file(job->resume) : status;
}

static int open_nbody_devices(struct nbody_job *job)
{
    return cli_devices_open(&job->common.device, &job->context);
}

/* Opening devices takes seconds with some drivers, and fails where there are none. */
static int open_needed_devices(struct nbody_job *job)
{
    return nbody_job_needs_devices(job) ? open_nbody_devices(job) : CLI_DONE;
}

/* Show progress from here on, also of compilers. */
static int begin_progress(struct nbody_job *job)
{
    cli_progress_start(&job->progress, "steps", 0, job->common.quiet);
    return CLI_DONE;
}

/* The checks before this step read the slice; afterwards only outputs do, which fetch it again. */
static int release_slice(struct nbody_job *job)
{
    nbody_bodies_release(job);
    return CLI_DONE;
}

static int start_nbody_profile(struct nbody_job *job)
{
    return cli_profile_start(&job->common, job->context);
}

static int explain_simulation(struct nbody_job *job)
{
    for (unsigned dev = 0; dev < clgetndev(job->context); dev++)
        if (nbody_device_bodies(job->engine, dev) > 0)
            cli_explain(&job->common, job->context, dev, nbody_explain(job->engine, dev),
                        nbody_shape(job->engine, dev));
    if (job->common.explain && cli_ranks_first())
        fprintf(stderr, "%s\n", nbody_explain_method(job->engine));
    return CLI_DONE;
}

static int catch_signals(struct nbody_job *job)
{
    (void)job;
    cli_interrupt_catch();
    return CLI_DONE;
}

static int write_final_output(struct nbody_job *job)
{
    clprofile_begin(job->context, "final output");
    const int status = nbody_output_finish(job);
    clprofile_end(job->context);
    return status;
}

/* If a device is lost, tables and films end there. */
static int run_and_write_bodies(struct nbody_job *job)
{
    int status = nbody_job_run(job);
    if (status == CLI_DONE)
        status = nbody_view_end(job);
    if (status == CLI_DONE)
        status = write_final_output(job);
    if (status != CLI_DONE)
        nbody_output_cut_short(job);
    return status;
}

/* Run the force check, unless the run was interrupted. */
static int run_force_check(struct nbody_job *job)
{
    job->check = job->interrupted ? 0 : job->check;
    if (!job->check || nbody_check_forces(job->engine, job->check, job->seed, &job->errors) == 0)
        return CLI_DONE;
    if (clerrno != ECANCELED)
        return cli_failed_call(NULL);
    job->interrupted = true;
    job->check = 0;
    return CLI_DONE;
}

static int report_nbody_profile(struct nbody_job *job)
{
    return cli_profile_report(&job->common, job->context);
}

/* Open the view. A wait for a viewer that is interrupted ends the run before its first step; --json
 * reports such a run, too. */
static int open_nbody_view(struct nbody_job *job)
{
    const int status = nbody_view_open(job);
    if (status == CLI_DONE || !job->common.json || !cli_interrupted())
        return status;
    job->interrupted = true;
    job->check = 0;
    job->start = job->end = nbody_not_diagnosed(nbody_time(job->engine));
    return cli_first_failure(status, nbody_job_report(job));
}

static int end_with_status(struct nbody_job *job)
{
    const int status = job->interrupted ? cli_interrupt_status(CLI_DONE) : CLI_DONE;
    return cli_first_failure(job->outputs.status, status);
}

/* A profile is reported even if a kernel is wrong or the run was interrupted. */
static int compare_with_profile(struct nbody_job *job)
{
    return cli_first_failure(nbody_job_compare(job), report_nbody_profile(job));
}

static int ensemble_with_profile(struct nbody_job *job)
{
    return cli_first_failure(nbody_job_ensemble(job), report_nbody_profile(job));
}

/* ---- The lists of steps. --------------------------------------------------------------------- */

/* Lists end with NULL. A failure ends the run. */
typedef int run_step(struct nbody_job *job);

static run_step *const simulation[] = {
    /* Checks come before computing, the cheapest first. */
    check_input_files,
    nbody_resume_options,
    nbody_output_plan,
    nbody_checkpoint_plan,
    nbody_job_bodies,
    nbody_fields_plan,
    nbody_job_energies_check,
    nbody_collide_plan,
    nbody_events_plan,
    open_needed_devices,
    nbody_resume_devices,
    begin_progress,
    nbody_job_plan,
    nbody_steps_begin,
    release_slice,
    start_nbody_profile,
    explain_simulation,
    /* From here on there are results to save. */
    catch_signals,
    nbody_output_open,
    open_nbody_view,
    run_and_write_bodies,
    run_force_check,
    nbody_steps_check,
    nbody_job_report,
    report_nbody_profile,
    nbody_view_stay,
    end_with_status,
    NULL,
};

static run_step *const comparison[] = {
    check_input_files, open_nbody_devices,   start_nbody_profile,
    catch_signals,     compare_with_profile, NULL,
};

static run_step *const ensemble[] = {
    check_input_files, open_nbody_devices,    start_nbody_profile,
    catch_signals,     ensemble_with_profile, NULL,
};

static int run_steps(struct nbody_job *job, run_step *const *step)
{
    int status;
    for (; *step; step++)
        if ((status = (*step)(job)) != CLI_DONE)
            return status;
    return CLI_DONE;
}

/* ---- The command. ---------------------------------------------------------------------------- */

static struct nbody_job default_job(int argc, char **argv)
{
    return (struct nbody_job){
        .model = NBODY_PLUMMER,
        .steps = SIZE_MAX,
        .G = 1,
        .eps = NAN,
        .dt = NAN,
        .until = NAN,
        .heaviest = NAN,
        .integrator = NBODY_LEAPFROG,
        .precision = NOT_GIVEN,
        .camera = {.elevation = 90, .zoom = 1, .approach = 1},
        .trails = 1000,
        .spread = 1e-6,
        .radius = NAN,
        .argc = argc,
        .argv = argv,
    };
}

/* With --resume: parse the options of the checkpoint's run, then those of this command line. */
static bool reparse(struct nbody_job *job, int argc, char **argv, int *status)
{
    struct nbody_job whole = default_job(argc, argv);
    whole.resume = job->resume;
    whole.resume_anyway = job->resume_anyway;
    cli_outputs_free(&job->outputs);
    cli_common_free(&job->common);
    cli_strings_free(&job->plots);
    cli_strings_free(&job->figures);
    cli_strings_free(&job->external);
    cli_strings_free(&job->event_rules);
    cli_strings_free(&job->stop_rules);
    *job = whole;
    *status = nbody_resume_open(job, argc, argv);
    return *status == CLI_DONE && nbody_options_parse(job, job->argc, job->argv, status);
}

/* Close the view, discard incomplete outputs and free the job. Return the exit status. */
static int close_job(struct nbody_job *job, int status)
{
    status = cli_first_failure(status, cli_window_close(&job->window));
    free(job->shown);
    nbody_view_free(job);
    nbody_output_discard(job);
    nbody_series_free(job);
    nbody_checkpoint_free(job);
    nbody_history_free(job);
    nbody_steps_free(job);
    free(job->events.event);
    free(job->orbits.row);
    free(job->found.row);
    free(job->rules.rule);
    cli_strings_free(&job->event_rules);
    cli_strings_free(&job->stop_rules);
    cli_strings_free(&job->external);
    cli_ranks_fail(status);
    nbody_free(job->engine);
    if (job->context)
        clcontext_destroy(job->context);
    nbody_resume_free(job);
    particles_free(&job->bodies);
    cli_outputs_free(&job->outputs);
    cli_common_free(&job->common);
    return status;
}

static int cmd_nbody_run(int argc, char **argv)
{
    struct nbody_job job = default_job(argc, argv);
    int status;
    if (nbody_options_parse(&job, argc, argv, &status) &&
        (!job.resume || reparse(&job, argc, argv, &status)))
        status = run_steps(&job, job.compare ? comparison : job.ensemble ? ensemble : simulation);
    return close_job(&job, status);
}

const struct cli_command cmd_nbody = {"nbody", "simulate gravity between bodies", cmd_nbody_run,
                                      CLI_RANKS_COLLECTIVE};
