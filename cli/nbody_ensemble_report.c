/* nbody_ensemble_report.c - the report of `stdcl nbody --ensemble`. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "files.h"
#include "device.h"
#include "alloc.h"
#include "interrupt.h"
#include "json.h"
#include "message.h"
#include "report.h"
#include "text.h"
#include "nbody_bodies.h"
#include "nbody_checkpoint.h"
#include "nbody_ensemble.h"
#include "nbody_history.h"
#include "nbody_output.h"

#include <jansson.h>
#include <math.h>
#include <stdcl.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPORTED = 10 }; /* events in the report */

/* ---- Energies. ------------------------------------------------------------------------------- */

static int compare_errors(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Compute the relative energy errors, without the energy that mergers removed; systems without a
 * finite error count as wrong. */
static int find_energy_errors(struct ensemble *e)
{
    double *sorted = malloc(e->systems * sizeof *sorted);
    size_t n = 0;
    if (!sorted)
        return cli_failed("out of memory for the energies of %zu systems", e->systems);
    for (size_t s = 0; s < e->systems; s++) {
        e->after[s] = fabs((e->after[s] + e->all[s].energy_lost) / e->before[s] - 1);
        if (isfinite(e->after[s]))
            sorted[n++] = e->after[s];
        e->worst =
            !(e->after[s] <= e->after[e->worst]) && isfinite(e->after[e->worst]) ? s : e->worst;
    }
    e->wrong = e->systems - n;
    qsort(sorted, n, sizeof *sorted, compare_errors);
    e->median = n ? sorted[n / 2] : NAN;
    free(sorted);
    return CLI_DONE;
}

/* Count the chaotic systems. */
static int find_chaotic(struct ensemble *e)
{
    struct nbody_chaos *chaos = cli_alloc(e->systems, sizeof *chaos);
    const int called = nbody_ensemble_find_chaos(e->engine, e->systems, NULL, chaos);
    for (size_t s = 0; called == 0 && s < e->systems; s++)
        e->chaotic += chaos[s].megno > 4;
    free(chaos);
    return called < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

int ensemble_judge(struct ensemble *e)
{
    if (nbody_ensemble_energies(e->engine, e->after) < 0 ||
        nbody_ensemble_systems(e->engine, e->systems, NULL, e->all) < 0 ||
        nbody_ensemble_events(e->engine, e->systems, NULL, &e->event, &e->events) < 0)
        return cli_failed_call(NULL);
    const int status = e->job->megno ? find_chaotic(e) : CLI_DONE;
    return status == CLI_DONE ? find_energy_errors(e) : status;
}

/* ---- Systems that ended, and mergers. -------------------------------------------------------- */

/* Number of systems with a status. */
static size_t count_systems(const struct ensemble *e, enum nbody_system_status status)
{
    size_t n = 0;
    for (size_t s = 0; s < e->systems; s++)
        n += e->all[s].status == status;
    return n;
}

static bool is_watched(const struct nbody_job *job)
{
    return job->collide || job->stop_distance > 0;
}

/* What an event is: both bodies, or one that is beyond --stop-distance. */
static const char *event_kind(const struct ensemble *e, const struct nbody_system_event *event)
{
    return event->first == event->second  ? "escape"
           : nbody_collide_merges(e->job) ? "merger"
                                          : "contact";
}

static json_t *events_json(const struct ensemble *e)
{
    json_t *events = json_array();
    for (size_t k = 0; k < e->events; k++) {
        const struct nbody_system_event *event = &e->event[k];
        json_array_append_new(
            events, json_pack("{s:I, s:o, s:s, s:I, s:I}", "system", (json_int_t)event->system + 1,
                              "time", cli_json_real(e->job->time_start + event->time), "kind",
                              event_kind(e, event), "first", (json_int_t)event->first + 1, "second",
                              (json_int_t)event->second + 1));
    }
    return events;
}

/* Add what ended systems and merged bodies; null if nothing was watched. */
static void add_events_json(const struct ensemble *e, json_t *report)
{
    const bool watched = is_watched(e->job);
    json_object_set_new(
        report, "ended",
        watched
            ? json_pack("{s:I, s:I}", "escape", (json_int_t)count_systems(e, NBODY_SYSTEM_ESCAPE),
                        "contact", (json_int_t)count_systems(e, NBODY_SYSTEM_CONTACT))
            : json_null());
    json_object_set_new(report, "events", watched ? events_json(e) : json_null());
    json_object_set_new(report, "stopped",
                        *e->job->stopped ? json_string(e->job->stopped) : json_null());
}

static void event_text(const struct ensemble *e, const struct nbody_system_event *event, FILE *fp)
{
    fprintf(fp, "%-14ssystem %zu, time %g: body %zu ", "", event->system + 1,
            e->job->time_start + event->time, event->first + 1);
    if (event->first == event->second)
        fprintf(fp, "is beyond --stop-distance %g\n", e->job->stop_distance);
    else if (nbody_collide_merges(e->job))
        fprintf(fp, "absorbs body %zu\n", event->second + 1);
    else
        fprintf(fp, "touches body %zu\n", event->second + 1);
}

static void events_text(const struct ensemble *e, FILE *fp)
{
    const struct nbody_job *job = e->job;
    if (!is_watched(job))
        return;
    const size_t escapes = count_systems(e, NBODY_SYSTEM_ESCAPE),
                 contacts = count_systems(e, NBODY_SYSTEM_CONTACT);
    fprintf(fp, "%-14s", "events");
    if (job->stop_distance > 0)
        fprintf(fp, "%zu systems ended by --stop-distance%s", escapes, job->collide ? ", " : "");
    if (nbody_collide_merges(job))
        fprintf(fp, "%zu mergers", e->events - escapes);
    else if (job->collide)
        fprintf(fp, "%zu systems ended by --collide stop", contacts);
    fputc('\n', fp);
    for (size_t k = 0; k < e->events && k < REPORTED; k++)
        event_text(e, &e->event[k], fp);
    if (e->events > REPORTED)
        fprintf(fp, "%-14s... (--json lists all)\n", "");
}

/* ---- The report. ----------------------------------------------------------------------------- */

static double ensemble_rate(const struct nbody_job *job, const struct ensemble *e)
{
    return job->seconds > 0
               ? (double)e->systems * (double)nbody_ensemble_steps(e->engine) / job->seconds
               : 0;
}

static int ensemble_report_json(const struct nbody_job *job, const struct ensemble *e,
                                const char *device)
{
    json_t *report = json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:I, s:s, s:b}",
        "program", "nbody", "device", device, "systems", (json_int_t)e->systems, "bodies",
        (json_int_t)e->bodies, "steps", (json_int_t)nbody_ensemble_steps(e->engine), "dt",
        cli_json_real(job->dt), "seconds", cli_json_real(job->seconds), "system_steps_per_s",
        cli_json_real(ensemble_rate(job, e)), "energy_error_median", cli_json_real(e->median),
        "energy_error_max", cli_json_real(e->after[e->worst]), "worst_system",
        (json_int_t)e->worst + 1, "wrong_systems", (json_int_t)e->wrong, "G", cli_json_real(job->G),
        "time", cli_json_real(e->bodies_out.time), "spread", cli_json_real(job->spread), "seed",
        (json_int_t)job->seed, "version", STDCL_VERSION, "interrupted", job->interrupted);
    add_events_json(e, report);
    if (e->chaos)
        json_object_set_new(report, "chaotic_systems", json_integer((json_int_t)e->chaotic));
    nbody_report_units(job, report);
    const int status = cli_json_print(report);
    json_decref(report);
    return status;
}

static void ensemble_report_text(const struct nbody_job *job, const struct ensemble *e,
                                 const char *device, FILE *fp)
{
    struct cli_text text, largest;
    fprintf(fp, "%-14s%s\n", "device", device);
    fprintf(fp, "%-14s%zu of %zu bodies, from %s\n", "systems", e->systems, e->bodies, job->input);
    fprintf(fp, "%-14s%zu of %g to time %g\n", "steps", nbody_ensemble_steps(e->engine), job->dt,
            e->bodies_out.time);
    fprintf(fp, "%-14s%s\n", "duration", cli_text_time(&text, job->seconds));
    fprintf(fp, "%-14s%s\n", "speed",
            cli_text_rate(&text, ensemble_rate(job, e), "system steps/s"));
    fprintf(fp, "%-14shalf below %s, the largest %s (system %zu)\n", "energy error",
            cli_text_number(&text, 2, e->median), cli_text_number(&largest, 2, e->after[e->worst]),
            e->worst + 1);
    if (e->chaos)
        fprintf(fp, "%-14s%zu systems with a MEGNO above 4\n", "chaotic", e->chaotic);
    if (e->wrong)
        fprintf(fp, "%-14s%zu systems without a finite energy\n", "failed", e->wrong);
    events_text(e, fp);
    nbody_series_report(job, fp);
    nbody_history_report(job, fp);
    nbody_checkpoint_report(job, fp);
    cli_outputs_report(&job->outputs, fp);
    if (*job->stopped)
        fprintf(fp, "%-14safter %zu of %zu steps: %s\n", "stopped", nbody_ensemble_steps(e->engine),
                job->total, job->stopped);
    if (job->interrupted)
        cli_interrupt_report(nbody_ensemble_steps(e->engine), job->total, "steps", fp);
}

static void ensemble_report_lines(const struct ensemble *e, const char *device)
{
    struct cli_report report;
    FILE *to = cli_stdout_is_taken() ? stderr : stdout,
         *fp = cli_report_begin(&report, to, REPORT_INDENT);
    ensemble_report_text(e->job, e, device, fp);
    cli_report_end(&report, fp);
}

int ensemble_report(const struct ensemble *e)
{
    const struct nbody_job *job = e->job;
    char *device = cli_devices_name(job->context);
    int status = CLI_DONE;
    if (job->common.json)
        status = ensemble_report_json(job, e, device);
    else if (!job->common.quiet)
        ensemble_report_lines(e, device);
    free(device);
    return status;
}
