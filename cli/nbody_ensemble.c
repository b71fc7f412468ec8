/* nbody_ensemble.c - `stdcl nbody --ensemble`: many planetary systems at once, perturbed copies
 * of one or read from a list of files. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "interrupt.h"
#include "message.h"
#include "progress.h"
#include "nbody_bodies.h"
#include "nbody_checkpoint.h"
#include "nbody_ensemble.h"
#include "nbody_run.h"

#include "core/clock.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double STEPS_PER_PERIOD = 20; /* default step: this fraction of the shortest period */
enum { STEPS = 1000 };                     /* default */

/* ---- The plan. ------------------------------------------------------------------------------- */

static int choose_ensemble_step(struct nbody_job *job, const struct ensemble *e)
{
    double shortest = INFINITY;
    for (size_t b = 1; b < e->bodies; b++) {
        double x[3], v[3];
        for (int k = 0; k < 3; k++) {
            x[k] = e->bodies_out.pos[b][k] - e->bodies_out.pos[0][k];
            v[k] = e->bodies_out.vel[b][k] - e->bodies_out.vel[0][k];
        }
        shortest =
            fmin(shortest,
                 nbody_find_elements(job->G * (e->bodies_out.mass[0] + e->bodies_out.mass[b]), x, v)
                     .period);
    }
    if (isnan(job->dt))
        job->dt = job->integrator == NBODY_IAS15
                      ? shortest
                      : shortest / STEPS_PER_PERIOD; /* ias15 chooses steps within this */
    return isfinite(job->dt) && job->dt != 0
               ? CLI_DONE
               : cli_failed("no planet has a period from which to choose the step; give --dt");
}

/* ---- The run. -------------------------------------------------------------------------------- */

static int ensemble_progress(void *arg, double fraction)
{
    const struct ensemble *e = arg;
    (void)fraction;
    cli_progress_update(&e->job->progress, e->engine ? (double)nbody_ensemble_steps(e->engine) : 0,
                        "");
    cli_window_listen(&e->job->window);
    return cli_interrupted() || nbody_checkpoint_late(e->job) || nbody_job_late(e->job);
}

static void write_ensemble_checkpoint(const struct ensemble *e)
{
    struct nbody_job *job = e->job;
    const struct ensemble_state kept = {.size = sizeof kept,
                                        .systems = e->systems,
                                        .bodies = e->bodies,
                                        .engine = nbody_ensemble_save_bytes(e->engine),
                                        .kept = ensemble_kept_bytes(e),
                                        .seed = job->seed,
                                        .G = job->G,
                                        .dt = job->dt,
                                        .spread = job->spread,
                                        .time_start = job->time_start,
                                        .seconds = job->seconds,
                                        .integrator = job->integrator};
    const size_t energies = e->systems * sizeof *e->before,
                 masses = e->systems * e->bodies * sizeof *e->mass,
                 size = sizeof kept + energies + masses + kept.engine + kept.kept;
    char *bytes = malloc(size);
    if (!bytes) {
        clerror_set(ENOMEM, "out of memory for a checkpoint of %zu systems", e->systems);
    } else {
        memcpy(bytes, &kept, sizeof kept);
        memcpy(bytes + sizeof kept, e->before, energies);
        memcpy(bytes + sizeof kept + energies, e->mass, masses);
        ensemble_kept_save(e, bytes + size - kept.kept);
    }
    if (bytes && nbody_ensemble_save(e->engine, bytes + sizeof kept + energies + masses) < 0) {
        free(bytes);
        bytes = NULL;
    }
    nbody_checkpoint_put(job, bytes, size, nbody_ensemble_steps(e->engine),
                         job->time_start + nbody_ensemble_time(e->engine));
}

/* Restore the initial energies and the engine from the checkpoint. The systems of the command
 * line must equal the checkpoint's. */
static int resume_ensemble(struct ensemble *e)
{
    struct nbody_job *job = e->job;
    struct ensemble_state k = {.size = 0};
    size_t size;
    const char *from = nbody_resume_ensemble(job, &size);
    if (from && size >= sizeof k)
        memcpy(&k, from, sizeof k);
    const size_t energies = e->systems * sizeof *e->before,
                 masses = e->systems * e->bodies * sizeof *e->mass,
                 before = sizeof k + energies + masses;
    if (!from)
        return cli_failed("--resume: %s is not a checkpoint of an ensemble", job->resume);
    if (size < sizeof k)
        return cli_failed("--resume: %s is damaged: it ends within the state of the ensemble",
                          job->resume);
    if (k.size != sizeof k)
        return cli_failed(
            "--resume: %s was written by a version whose ensembles version " STDCL_VERSION
            " cannot resume",
            job->resume);
    if (k.systems != e->systems || k.bodies != e->bodies || k.seed != job->seed || k.G != job->G ||
        k.spread != job->spread || k.integrator != job->integrator ||
        k.time_start != job->time_start || size < before ||
        k.engine != nbody_ensemble_save_bytes(e->engine) || size - before < k.engine ||
        size - before - k.engine != k.kept ||
        memcmp(from + sizeof k + energies, e->mass, masses) != 0)
        return cli_wrong(
            "--resume: the run of %s had different systems, -G, --seed, --spread, --integrator, --collide or --stop-distance; start a new run for these",
            job->resume);
    if (k.dt != job->dt)
        return cli_wrong("--resume: the run of %s has steps of %.17g, but this --dt gives %.17g",
                         job->resume, k.dt, job->dt);
    memcpy(e->before, from + sizeof k, energies);
    job->seconds = k.seconds;
    if (nbody_ensemble_load(e->engine, from + before, k.engine) < 0)
        return cli_failed_call(NULL);
    const int status = ensemble_kept_restore(e, from + before + k.engine, k.kept);
    if (status != CLI_DONE)
        return status;
    const size_t step = nbody_ensemble_steps(e->engine);
    if (step < job->total || (step == job->total && job->last_dt == job->dt))
        return CLI_DONE;
    return cli_wrong(
        "--resume: %s is at step %zu, but the run ends %s step %zu; give a later --until or more --steps",
        job->resume, step, job->last_dt == job->dt ? "at" : "within", job->total);
}

/* Step of the next checkpoint, output or visit of the view. A shortened last step is a batch of its
 * own. */
static size_t next_visit(struct ensemble *e, size_t step)
{
    const size_t due = nbody_checkpoint_next(e->job, step), output = ensemble_output_next(e, step),
                 first = due < output ? due : output, batch = ensemble_view_batch(e, step),
                 end = first < e->job->total ? first : e->job->total;
    if (end - step > batch)
        return step + batch;
    return e->job->last_dt != e->job->dt && end == e->job->total && step + 1 < end ? end - 1 : end;
}

/* Shorten the last step, which begins now, to end at --until. The last checkpoint precedes it. */
static int shorten_last_step(const struct ensemble *e)
{
    struct nbody_job *job = e->job;
    if (job->checkpoint)
        write_ensemble_checkpoint(e);
    if (nbody_ensemble_set_dt(e->engine, job->last_dt) < 0)
        return cli_failed_call(NULL);
    job->shortened = true;
    return CLI_DONE;
}

static int step_to_visit(struct ensemble *e, size_t end)
{
    struct nbody_job *job = e->job;
    if (end == job->total && job->last_dt != job->dt) {
        const int status = shorten_last_step(e);
        if (status != CLI_DONE)
            return status;
    }
    const double start = seconds_now();
    const int called = nbody_ensemble_step(e->engine, end - nbody_ensemble_steps(e->engine));
    e->took = seconds_now() - start;
    job->seconds += e->took;
    job->advanced |= called == 0;
    if (called < 0 && clerrno != ECANCELED)
        return cli_failed_call(NULL);
    const bool early = nbody_ensemble_steps(e->engine) < job->total;
    job->interrupted = cli_interrupted() && early;
    if (nbody_job_late(job) && early)
        snprintf(job->stopped, sizeof job->stopped, "the --time-limit of %.3g s has passed",
                 job->time_limit);
    return CLI_DONE;
}

/* Step to the next visit, or as far as the clock allows; then write the outputs that are due. */
static int run_to_visit(struct ensemble *e)
{
    const struct nbody_job *job = e->job;
    const size_t step = nbody_ensemble_steps(e->engine), due = nbody_checkpoint_next(job, step);
    int status = step_to_visit(e, next_visit(e, step));
    if (status != CLI_DONE)
        return status;
    if ((status = ensemble_output_visit(e, false)) != CLI_DONE)
        return status;
    if ((status = ensemble_view_visit(e)) != CLI_DONE)
        return status;
    const size_t now = nbody_ensemble_steps(e->engine);
    const bool saves = job->checkpoint && !job->interrupted && !*job->stopped && !job->shortened &&
                       !nbody_checkpoint_precedes_last(job, now) &&
                       (now == due || now == job->total || nbody_checkpoint_late(job));
    if (saves)
        write_ensemble_checkpoint(e);
    return CLI_DONE;
}

/* Create the engine, which copies all systems. */
static int create_engine(struct ensemble *e)
{
    struct nbody_job *job = e->job;
    const struct nbody_ensemble_options options = {
        .ctx = job->context,
        .G = job->G,
        .dt = job->dt,
        .integrator = (enum nbody_integrator)job->integrator, /* leapfrog is 0 */
        .whfast = nbody_job_whfast(job),
        .megno = job->megno,
        .progress = ensemble_progress,
        .arg = e};
    const struct nbody_ensemble_watch_options watch = {.stop_distance = job->stop_distance,
                                                       .radius = e->radius,
                                                       .merge = nbody_collide_merges(job)};
    const struct particles *b = &e->bodies_out;
    e->engine = nbody_ensemble_create(&options, e->systems, e->bodies, b->mass,
                                      (const double(*)[3])b->pos, (const double(*)[3])b->vel);
    return e->engine && nbody_ensemble_watch(e->engine, &watch) == 0 &&
                   nbody_ensemble_energies(e->engine, e->before) == 0
               ? CLI_DONE
               : cli_failed_call(NULL);
}

static int step_systems(struct ensemble *e)
{
    struct nbody_job *job = e->job;
    int status = job->resumed ? resume_ensemble(e) : ensemble_output_visit(e, false);
    if (status == CLI_DONE)
        status = ensemble_view_visit(e);
    job->began = seconds_now();
    cli_progress_start(&job->progress, "steps", (double)job->total, job->common.quiet);
    while (status == CLI_DONE && nbody_ensemble_steps(e->engine) < job->total &&
           !job->interrupted && !*job->stopped)
        status = run_to_visit(e);
    cli_progress_end(&job->progress);
    if (status != CLI_DONE)
        return status;
    const bool early = job->interrupted || *job->stopped;
    if (early && job->checkpoint)
        write_ensemble_checkpoint(e);
    nbody_checkpoint_done(job);
    return CLI_DONE;
}

/* Open the view. A wait for a viewer that is interrupted ends the run before its first step; --json
 * reports such a run, too. */
static int open_ensemble_view(struct ensemble *e)
{
    const int status = ensemble_view_open(e);
    if (status == CLI_DONE || !e->job->common.json || !cli_interrupted())
        return status;
    e->job->interrupted = true;
    e->median = e->after[e->worst] = NAN;
    if (nbody_ensemble_systems(e->engine, e->systems, NULL, e->all) < 0)
        return cli_failed_call(NULL);
    return cli_first_failure(status, ensemble_report(e));
}

static int run_systems(struct ensemble *e)
{
    int status = create_engine(e);
    if (status != CLI_DONE)
        return status;
    if ((status = ensemble_choose(e)) != CLI_DONE)
        return status;
    if ((status = ensemble_output_open(e)) != CLI_DONE)
        return status;
    if ((status = open_ensemble_view(e)) != CLI_DONE)
        return status;
    status = step_systems(e);
    if (status == CLI_DONE)
        status = ensemble_output_visit(e, true);
    if (status == CLI_DONE)
        status = ensemble_view_end(e);
    if (status == CLI_DONE)
        status = ensemble_judge(e);
    if (status != CLI_DONE)
        ensemble_output_cut_short(e);
    return status;
}

static int run_and_report(struct ensemble *e)
{
    struct nbody_job *job = e->job;
    struct resumed *const resumed = job->resumed;
    int status = ensemble_output_plan(e);
    if (status != CLI_DONE)
        return status;
    if ((status = nbody_checkpoint_plan(job)) != CLI_DONE)
        return status;
    if ((status = nbody_resume_devices(job)) != CLI_DONE)
        return status;
    job->resumed = NULL; /* read bodies from files, not from the checkpoint */
    status = ensemble_create(e);
    job->resumed = resumed;
    if (status != CLI_DONE)
        return status;
    if ((status = choose_ensemble_step(job, e)) != CLI_DONE)
        return status;
    if ((status = nbody_job_plan_steps(job, STEPS)) != CLI_DONE)
        return status;
    if ((status = run_systems(e)) != CLI_DONE)
        return status;
    ensemble_output_finish(e);
    if ((status = ensemble_report(e)) != CLI_DONE)
        return status;
    return ensemble_view_stay(e);
}

int nbody_job_ensemble(struct nbody_job *job)
{
    struct ensemble e = {.job = job};
    int status = run_and_report(&e);
    ensemble_output_discard(&e);
    nbody_checkpoint_wait(job);
    nbody_ensemble_free(e.engine);
    particles_free(&e.bodies_out);
    void *const own[] = {e.mass,   e.radius, e.before, e.after, e.event,
                         e.chosen, e.ended,  e.system, e.all};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        free(own[i]);
    free(e.chaos);
    for (size_t i = 0; e.names && i < e.files; i++)
        free(e.names[i]);
    free(e.names);
    status = cli_first_failure(status, job->outputs.status);
    return status == CLI_DONE && job->interrupted ? cli_interrupt_status(CLI_DONE) : status;
}
