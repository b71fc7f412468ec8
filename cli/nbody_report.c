/* nbody_report.c - the report of `stdcl nbody`. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "files.h"
#include "device.h"
#include "interrupt.h"
#include "json.h"
#include "message.h"
#include "report.h"
#include "text.h"
#include "nbody_bodies.h"
#include "nbody_checkpoint.h"
#include "nbody_fields.h"
#include "nbody_history.h"
#include "nbody_options.h"
#include "nbody_output.h"
#include "nbody_run.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static const double UNPHYSICAL = 0.01; /* relative energy error that causes a warning */

/* |E - E0| / |E0|; NAN if E0 is 0. */
static double energy_error(const struct nbody_job *job)
{
    const double start = job->start.total;
    return start != 0 ? fabs(job->end.total + job->energy_lost - start) / fabs(start) : NAN;
}

/* True if the energy should be constant: forces of --external may do work. */
static bool keeps_energy(const struct nbody_job *job)
{
    return !*job->fields.forces;
}

/* True if the energy changed by more than the initial kinetic and potential energy: the results
 * are meaningless. */
static bool is_meaningless(const struct nbody_job *job)
{
    return keeps_energy(job) && fabs(job->end.total + job->energy_lost - job->start.total) >
                                    fmax(job->start.kinetic, fabs(job->start.potential));
}

static double interactions_per_s(const struct nbody_job *job)
{
    return job->seconds > 0 ? (job->interactions + nbody_interactions(job->engine)) / job->seconds
                            : 0;
}

/* Bodies per second, the unit of speed for the tree, which does not compute all interactions. */
static double bodies_per_s(const struct nbody_job *job)
{
    return job->seconds > 0 ? (double)job->n * (double)nbody_steps(job->engine) / job->seconds : 0;
}

static bool has_tree(const struct nbody_job *job)
{
    return nbody_method(job->engine) == NBODY_TREE;
}

static const char *nbody_speed_text(struct cli_text *text, const struct nbody_job *job)
{
    return has_tree(job) ? cli_text_rate(text, bodies_per_s(job), "bodies/s")
                         : cli_text_rate(text, interactions_per_s(job), "interactions/s");
}

static json_t *errors_json(const struct nbody_job *job)
{
    const struct nbody_force_errors *e = &job->errors;
    if (!job->check)
        return json_null();
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:I}", "bodies", (json_int_t)e->bodies,
                     "median", cli_json_real(e->median), "p90", cli_json_real(e->p90), "p99",
                     cli_json_real(e->p99), "p999", cli_json_real(e->p999), "max",
                     cli_json_real(e->most), "worst_body", (json_int_t)e->worst + 1);
}

/* Add the counts of block and adaptive steps. */
static void blocks_json(const struct nbody_job *job, json_t *report)
{
    double blocks, steps;
    nbody_block_counts(job->engine, &blocks, &steps);
    if (job->stepping == NBODY_FIXED)
        return;
    json_object_set_new(report, "stepping", json_string(nbody_stepping_names[job->stepping]));
    json_object_set_new(report, "eta", cli_json_real(nbody_eta(job->engine)));
    json_object_set_new(report, "blocks", cli_json_real(blocks));
    json_object_set_new(report, "body_steps", cli_json_real(steps));
}

static void blocks_text(const struct nbody_job *job, FILE *fp)
{
    double blocks, steps;
    nbody_block_counts(job->engine, &blocks, &steps);
    if (job->stepping != NBODY_FIXED)
        fprintf(fp, "%-14s%s, eta %g: %.0f sub-steps, with %.1f active bodies on average\n",
                "stepping", nbody_stepping_names[job->stepping], nbody_eta(job->engine), blocks,
                blocks > 0 ? steps / blocks : 0);
}

static void chaos_json(const struct nbody_job *job, json_t *report)
{
    struct nbody_chaos c;
    if (!job->megno || nbody_find_chaos(job->engine, &c) < 0)
        return;
    json_object_set_new(report, "megno", cli_json_real(c.megno));
    json_object_set_new(report, "megno_now", cli_json_real(c.megno_now));
    json_object_set_new(report, "lyapunov", cli_json_real(c.lyapunov));
}

static void chaos_text(const struct nbody_job *job, FILE *fp)
{
    struct nbody_chaos c;
    if (job->megno && nbody_find_chaos(job->engine, &c) == 0)
        fprintf(fp, "%-14sMEGNO %.4f on average, %.4f at the end; Lyapunov exponent %.3g\n",
                "chaos", c.megno, c.megno_now, c.lyapunov);
}

static void errors_text(const struct nbody_job *job, FILE *fp)
{
    const struct nbody_force_errors *e = &job->errors;
    if (!job->check)
        return;
    fprintf(
        fp,
        "%-14s50 %% below %.2g, 90 %% below %.2g, 99 %% below %.2g, 99.9 %% below %.2g, all below %.2g (body %zu), of "
        "%zu bodies\n",
        "force errors", e->median, e->p90, e->p99, e->p999, e->most, e->worst + 1, e->bodies);
    if (has_tree(job))
        fprintf(fp, "%-14s99 %% below %g: %s\n", "requested", nbody_job_accuracy(job),
                e->p99 <= nbody_job_accuracy(job) ? "reached" : "not reached");
}

/* Name of the model; for a file its metadata's. */
static json_t *model_json(const struct nbody_job *job)
{
    const char *said = job->bodies.note[NOTE_model];
    return !job->input ? json_string(nbody_model_names[job->model])
           : said      ? json_string(said)
                       : json_null();
}

static json_t *seed_json(const struct nbody_job *job)
{
    const char *said = job->bodies.note[NOTE_seed];
    const uint64_t seed = !job->input ? job->seed : said ? strtoull(said, NULL, 10) : 0;
    return !job->input || said ? json_integer((json_int_t)seed) : json_null();
}

static json_t *fields_json(const struct nbody_job *job)
{
    char *text = nbody_fields_text(&job->fields);
    json_t *fields = *text ? json_string(text) : json_null();
    free(text);
    return fields;
}

/* Names of units in sums and products: of --units, else of the dimensions. */
static struct units named_units(const struct nbody_job *job)
{
    return *job->units.length ? job->units
                              : (struct units){.length = "length", .time = "time", .mass = "mass"};
}

void nbody_report_units(const struct nbody_job *job, json_t *report)
{
    enum { ROOM = 120 };
    const struct units u = named_units(job);
    char speed[ROOM], energy[ROOM], momentum[2 * ROOM], angular[3 * ROOM], G[3 * ROOM], rate[ROOM];
    units_speed(&u, speed, sizeof speed);
    units_energy(&u, energy, sizeof energy);
    snprintf(momentum, sizeof momentum, "%s %s", u.mass, speed);
    snprintf(angular, sizeof angular, "%s %s %s", u.mass, u.length, speed);
    snprintf(G, sizeof G, "%s (%s)^2/%s", u.length, speed, u.mass);
    snprintf(rate, sizeof rate, "1/(%s)", u.time);
    const struct cli_json_unit unit[] = {{"dt", u.time},
                                         {"time", u.time},
                                         {"eps", u.length},
                                         {"energy_start", energy},
                                         {"energy_end", energy},
                                         {"momentum", momentum},
                                         {"angular_momentum", angular},
                                         {"G", G},
                                         {"lyapunov", rate},
                                         {"step_errors", u.length}};
    cli_json_add_units(report, unit, sizeof unit / sizeof *unit);
    if (json_is_object(json_object_get(report, "collisions")))
        json_object_set_new(json_object_get(report, "units"), "energy_lost", json_string(energy));
}

static int nbody_report_json(const struct nbody_job *job, const char *device)
{
    json_t *report = json_pack(
        "{s:s, s:s, s:I, s:I, s:o, s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, "
        "s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:o, s:o, s:o}",
        "program", "nbody", "device", device, "n", (json_int_t)job->n, "steps",
        (json_int_t)nbody_steps(job->engine), "dt", cli_json_real(job->dt), "eps",
        cli_json_real(job->own_eps ? NAN : job->eps), "integrator",
        nbody_integrator_names()[job->integrator], "precision",
        nbody_precision_names[job->precision], "kernel", nbody_kernel_names[job->kernel], "seconds",
        cli_json_real(job->seconds), "interactions_per_s",
        cli_json_real(has_tree(job) ? NAN : interactions_per_s(job)), "energy_start",
        cli_json_real(job->start.total), "energy_end", cli_json_real(job->end.total),
        "energy_error_rel", cli_json_real(energy_error(job)), "momentum",
        cli_json_reals(job->end.momentum, 3), "angular_momentum",
        cli_json_reals(job->end.angular_momentum, 3), "virial_ratio",
        cli_json_real(job->end.virial_ratio), "method",
        nbody_method_names[nbody_method(job->engine)], "accuracy",
        has_tree(job) ? cli_json_real(nbody_job_accuracy(job)) : json_null(), "bodies_per_s",
        cli_json_real(bodies_per_s(job)), "force_errors", errors_json(job), "G",
        cli_json_real(job->G), "time", cli_json_real(nbody_time(job->engine)), "model",
        model_json(job), "seed", seed_json(job), "version", STDCL_VERSION, "interrupted",
        job->interrupted, "stopped", *job->stopped ? json_string(job->stopped) : json_null(),
        "external", fields_json(job), "collisions", nbody_collide_json(job));
    json_t *step_errors = nbody_steps_json(job);
    json_object_set_new(report, "host", json_boolean(nbody_place(job->engine) == NBODY_ON_HOST));
    blocks_json(job, report);
    chaos_json(job, report);
    if (job->bodies.origin)
        json_object_set_new(report, "file_has", json_string(job->bodies.origin));
    if (step_errors)
        json_object_set_new(report, "step_errors", step_errors);
    nbody_report_units(job, report);
    const int status = cli_json_print(report);
    json_decref(report);
    return status;
}

/* The error is undefined without energy, as for one body at rest. */
static void energy_text(const struct nbody_job *job, FILE *fp)
{
    struct cli_text error;
    if (isnan(job->end.total))
        fprintf(fp, "%-14s%s\n", "energy",
                job->interrupted ? "not computed at the end: interrupted"
                                 : "not computed: no steps; --csv or --json asks for it");
    else if (isfinite(energy_error(job)))
        fprintf(fp, "%-14s%s (%.6g -> %.6g)\n", "energy error",
                cli_text_number(&error, 2, energy_error(job)), job->start.total, job->end.total);
    else
        fprintf(fp, "%-14s%.6g -> %.6g\n", "energy", job->start.total, job->end.total);
}

static void vector_text(const char *name, const double v[3], FILE *fp)
{
    struct cli_text x, y, z;
    fprintf(fp, "%-14s%s %s %s\n", name, cli_text_number(&x, 3, v[0]), cli_text_number(&y, 3, v[1]),
            cli_text_number(&z, 3, v[2]));
}

static void nbody_report_text(const struct nbody_job *job, const char *device, FILE *fp)
{
    struct cli_text text;
    fprintf(fp, "%-14s%s\n", "device", device);
    if (nbody_place(job->engine) == NBODY_ON_HOST)
        fprintf(fp, "%-14son the host, by one thread\n", "place");
    fprintf(fp, "%-14s%zu, from %s\n", "bodies", job->n_start,
            job->input ? job->input : nbody_model_names[job->model]);
    if (job->bodies.origin)
        fprintf(fp, "%-14s%s\n", "file has", job->bodies.origin);
    if (job->units.G)
        fprintf(fp, "%-14s%s, %s and %s: G is %.9g\n", "units", job->units.length, job->units.time,
                job->units.mass, job->G);
    char *fields = nbody_fields_text(&job->fields);
    if (*fields)
        fprintf(fp, "%-14s%s\n", "external", fields);
    free(fields);
    fprintf(fp, "%-14s%zu of %g to time %g, %s, %s precision, softening ", "steps",
            nbody_steps(job->engine), job->dt, nbody_time(job->engine),
            nbody_integrator_names()[job->integrator], nbody_precision_names[job->precision]);
    if (job->own_eps)
        fputs("per body\n", fp);
    else
        fprintf(fp, "%g\n", job->eps);
    blocks_text(job, fp);
    if (job->kernel != NBODY_TUNED)
        fprintf(fp, "%-14s%s\n", "kernel", nbody_kernel_names[job->kernel]);
    fprintf(fp, "%-14s%s\n", "duration", cli_text_time(&text, job->seconds));
    if (has_tree(job))
        fprintf(fp, "%-14stree, accuracy %g\n", "method", nbody_job_accuracy(job));
    fprintf(fp, "%-14s%s\n", "speed", nbody_speed_text(&text, job));
    energy_text(job, fp);
    if (!isnan(job->end.total)) {
        vector_text("momentum", job->end.momentum, fp);
        vector_text("ang. momentum", job->end.angular_momentum, fp);
        fprintf(fp, "%-14s%s\n", "virial ratio", cli_text_number(&text, 3, job->end.virial_ratio));
    }
    chaos_text(job, fp);
    nbody_collide_text(job, fp);
    errors_text(job, fp);
    nbody_steps_text(job, fp);
    nbody_series_report(job, fp);
    nbody_history_report(job, fp);
    nbody_checkpoint_report(job, fp);
    cli_outputs_report(&job->outputs, fp);
    if (*job->stopped)
        fprintf(fp, "%-14safter %zu of %zu steps: %s\n", "stopped", nbody_steps(job->engine),
                job->total, job->stopped);
    if (job->interrupted)
        cli_interrupt_report(nbody_steps(job->engine), job->total, "steps", fp);
}

static void nbody_report_lines(const struct nbody_job *job, const char *device, FILE *to)
{
    struct cli_report report;
    FILE *fp = cli_report_begin(&report, to, REPORT_INDENT);
    nbody_report_text(job, device, fp);
    cli_report_end(&report, fp);
}

int nbody_job_report(struct nbody_job *job)
{
    char *device = cli_devices_name(job->context);
    int status = CLI_DONE;
    if (job->common.json)
        status = nbody_report_json(job, device);
    else if (!job->common.quiet)
        nbody_report_lines(job, device, cli_stdout_is_taken() ? stderr : stdout);
    free(device);
    if (status != CLI_DONE)
        return status;
    if (job->failed)
        return cli_failed("stopped after %zu of %zu steps: %s", nbody_steps(job->engine),
                          job->total, job->stopped);
    if (is_meaningless(job))
        return cli_failed(
            "the energy changed from %.4g to %.4g: the trajectories are meaningless; use a smaller --dt or a larger --eps",
            job->start.total, job->end.total);
    if (!job->common.quiet && keeps_energy(job) && energy_error(job) > UNPHYSICAL)
        cli_warn(
            "the energy changed by %.2g %%: the trajectories are inaccurate; use a smaller --dt or a larger --eps",
            100 * energy_error(job));
    return status;
}
