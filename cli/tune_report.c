/* tune_report.c - output of `stdcl tune`: the list of kernels, each result, and all results as
 * JSON. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "json.h"
#include "text.h"
#include "tune_job.h"

#include <jansson.h>
#include <math.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>

/* ---- The list. ------------------------------------------------------------------------------- */

static json_t *json_knobs(const struct cltune_kernel *kernel)
{
    json_t *knobs = json_object();
    for (size_t i = 0; i < kernel->nknobs; i++) {
        json_t *values = json_array();
        for (size_t v = 0; v < kernel->knob[i].count; v++)
            json_array_append_new(values, json_integer(kernel->knob[i].values[v]));
        json_object_set_new(knobs, kernel->knob[i].key, values);
    }
    return knobs;
}

static int list_json(const struct tune_job *job)
{
    json_t *rows = json_array();
    for (const struct tune_search *s = job->search; s < job->search + job->searches; s++)
        json_array_append_new(rows, json_pack("{s:s, s:s, s:I, s:s, s:s, s:s, s:o}", "kernel",
                                              s->kernel->name, "device", job->info[s->dev].dev_name,
                                              "size", (json_int_t)s->size, "unit", s->kernel->unit,
                                              "shape", s->before.shape, "source", s->before.source,
                                              "knobs", json_knobs(s->kernel)));
    json_t *report = json_pack("{s:s, s:o}", "program", "tune", "kernels", rows);
    const int status = cli_json_print(report);
    json_decref(report);
    return status;
}

int tune_report_list(const struct tune_job *job)
{
    if (job->common.json)
        return list_json(job);
    for (const struct tune_search *s = job->search; s < job->search + job->searches; s++) {
        if (s == job->search || s->dev != s[-1].dev)
            printf("%s\n", job->info[s->dev].dev_name);
        printf("  %s\n      %s\n", s->before.source,
               *s->before.shape ? s->before.shape : "(empty shape)");
    }
    return CLI_DONE;
}

/* ---- Results. -------------------------------------------------------------------------------- */

static double search_gain(const struct tune_search *s)
{
    return s->rate_before > 0 ? s->rate_after / s->rate_before - 1 : NAN;
}

void tune_report_result(const struct tune_job *job, const struct tune_search *s)
{
    struct cli_text before, after, duration;
    if (job->common.json || job->common.quiet)
        return;
    printf("%s, size %zu, on %s\n", s->kernel->name, s->size, job->info[s->dev].dev_name);
    if (s->outcome == TUNE_IMPOSSIBLE) {
        printf("  not tuned: %s\n", s->why);
    } else {
        printf("  before  %s\n", s->rate_before > 0
                                     ? cli_text_rate(&before, s->rate_before, s->kernel->unit)
                                     : "did not run");
        printf("  after   %s", cli_text_rate(&after, s->rate_after, s->kernel->unit));
        if (!isnan(search_gain(s)))
            printf(search_gain(s) > 0 ? " (+%.1f %%)" : " (unchanged)", 100 * search_gain(s));
        printf("\n  shape   %s\n", s->after.shape);
    }
    printf("  tried   %zu shapes in %s; %zu more cannot be launched, %zu gave wrong results\n",
           s->tried - s->refused, cli_text_duration(&duration, s->seconds), s->refused, s->wrong);
    fflush(stdout);
}

static json_t *json_result(const struct tune_job *job, const struct tune_search *s)
{
    json_t *result =
        json_pack("{s:s, s:s, s:s, s:I, s:s, s:I, s:I, s:I, s:o}", "kernel", s->kernel->name,
                  "device", job->info[s->dev].dev_name, "driver", job->info[s->dev].dev_drv_version,
                  "size", (json_int_t)s->size, "unit", s->kernel->unit, "shapes_run",
                  (json_int_t)(s->tried - s->refused), "shapes_refused", (json_int_t)s->refused,
                  "shapes_wrong", (json_int_t)s->wrong, "seconds", cli_json_real(s->seconds));
    if (s->outcome == TUNE_IMPOSSIBLE) {
        json_object_set_new(result, "error", json_string(s->why));
        return result;
    }
    json_object_set_new(result, "shape_before", json_string(s->before.shape));
    json_object_set_new(result, "source_before", json_string(s->before.source));
    json_object_set_new(result, "rate_before",
                        cli_json_real(s->rate_before > 0 ? s->rate_before : NAN));
    json_object_set_new(result, "shape", json_string(s->after.shape));
    json_object_set_new(result, "rate", cli_json_real(s->rate_after));
    return result;
}

int tune_report_end(const struct tune_job *job)
{
    const char *file = job->stored ? cltune_file() : NULL;
    if (!job->common.json) {
        if (file && !job->common.quiet)
            printf("stored in %s\n", file);
        if (job->export_file && !job->common.quiet)
            printf("written to %s\n", job->export_file);
        if (job->interrupted && !job->common.quiet)
            printf("interrupted; the results so far are stored\n");
        return CLI_DONE;
    }
    json_t *results = json_array();
    for (const struct tune_search *s = job->search; s < job->search + job->searches; s++)
        if (s->outcome != TUNE_WAITING)
            json_array_append_new(results, json_result(job, s));
    json_t *report = json_pack("{s:s, s:o, s:s?, s:b}", "program", "tune", "results", results,
                               "kept_in", file, "interrupted", job->interrupted);
    const int status = cli_json_print(report);
    json_decref(report);
    return status;
}
