/* life_report.c - the report of `stdcl life`. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "files.h"
#include "device.h"
#include "interrupt.h"
#include "json.h"
#include "message.h"
#include "report.h"
#include "text.h"
#include "life_output.h"
#include "life_plane.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static double updates_per_s(const struct life_job *job)
{
    const double done = (double)life_job_done(job);
    return job->seconds > 0
               ? done * (double)job->size.width * (double)job->size.height / job->seconds
               : 0;
}

static int life_report_json(const struct life_job *job, const char *device, uint64_t population)
{
    char text[LIFE_GENERATION_TEXT];
    json_t *report = json_pack(
        "{s:s, s:s, s:s, s:s, s:I, s:I, s:s, s:I, s:I, s:o, s:o, s:o, s:o, s:b}", "program", "life",
        "device", device, "engine", life_engine_name((enum life_engine)job->engine), "rule",
        job->rule, "width", (json_int_t)job->size.width, "height", (json_int_t)job->size.height,
        "bounds", life_job_bounds(job), "generations", (json_int_t)life_job_done(job), "population",
        (json_int_t)population, "seconds", cli_json_real(job->seconds), "cell_updates_per_s",
        cli_json_real(updates_per_s(job)), "period",
        job->period ? json_integer((json_int_t)job->period) : json_null(), "edge_generation",
        job->edge.was_met
            ? cli_json_digits(life_job_generation_text(job, job->started + job->edge.met, text))
            : json_null(),
        "interrupted", job->interrupted);
    const int status = cli_json_print(report);
    json_decref(report);
    return status;
}

static void report_period(const struct life_job *job, FILE *fp)
{
    char at[LIFE_GENERATION_TEXT];
    life_job_generation_text(job, job->period_generation, at);
    if (job->period == 1)
        fprintf(fp, "%-14sno change from generation %s\n", "stable", at);
    else if (job->period)
        fprintf(fp, "%-14sfrom generation %s, with period %llu\n", "stable", at,
                (unsigned long long)job->period);
    else if (job->until_stable)
        fprintf(fp, "%-14sno state has repeated within 64 generations\n", "not stable");
}

/* True if the run has a planned last generation. */
static bool has_known_end(const struct life_job *job)
{
    return !job->watch && job->generations != UINT64_MAX;
}

static void life_report_text(const struct life_job *job, const char *device, uint64_t population,
                             FILE *fp)
{
    struct cli_text text;
    char from[LIFE_GENERATION_TEXT], to[LIFE_GENERATION_TEXT];
    const double cells = (double)job->size.width * (double)job->size.height;
    fprintf(fp, "%-14s%s\n", "device", device);
    fprintf(fp, "%-14s%zu x %zu cells, %s, %s", "grid", job->size.width, job->size.height,
            life_job_bounds(job), job->rule);
    if (job->input)
        fprintf(fp, ", from %s", job->input);
    if (job->soup)
        fprintf(fp, "%s soup with seed %llu", job->input ? " over a" : ",",
                (unsigned long long)job->seed);
    fputc('\n', fp);
    fprintf(fp, "%-14s%llu", "generations", (unsigned long long)life_job_done(job));
    if (job->started || job->epoch)
        fprintf(fp, ", from %s to %s", life_job_generation_text(job, job->started, from),
                life_job_generation_text(job, life_job_generation(job), to));
    fprintf(fp, ", engine %s\n", life_engine_name((enum life_engine)job->engine));
    fprintf(fp, "%-14s%llu, %s %% of the cells\n", "population", (unsigned long long)population,
            cli_text_number(&text, 3, 100 * (double)population / cells));
    report_period(job, fp);
    fprintf(fp, "%-14s%s\n", "duration", cli_text_time(&text, job->seconds));
    fprintf(fp, "%-14s%s\n", "speed", cli_text_rate(&text, updates_per_s(job), "cells/s"));
    cli_outputs_report(&job->outputs, fp);
    cli_figures_report(&job->figures, REPORT_INDENT, fp);
    if (job->interrupted)
        cli_interrupt_report(life_job_done(job), has_known_end(job) ? job->generations : 0,
                             "generations", fp);
}

static void life_report_lines(const struct life_job *job, const char *device, uint64_t population,
                              FILE *to)
{
    struct cli_report report;
    FILE *fp = cli_report_begin(&report, to, REPORT_INDENT);
    life_report_text(job, device, population, fp);
    cli_report_end(&report, fp);
}

int life_job_report(struct life_job *job)
{
    uint64_t population;
    if (life_population(job->engine_of_run, &population) < 0)
        return cli_failed_call(NULL);
    char *device = job->context ? cli_devices_name(job->context) : NULL;
    int status = CLI_DONE;
    const char *name = device ? device : "none: plain C";
    if (job->common.json)
        status = life_report_json(job, name, population);
    else if (!job->common.quiet && !job->lines.wanted)
        life_report_lines(job, name, population, cli_stdout_is_taken() ? stderr : stdout);
    free(device);
    return status;
}
