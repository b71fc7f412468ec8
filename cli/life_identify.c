/* life_identify.c - `stdcl life identify`: what a pattern is.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "common.h"
#include "interrupt.h"
#include "json.h"
#include "message.h"
#include "progress.h"
#include "text.h"
#include "report.h"
#include "life_run.h"

#include "stdcl/identify.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long long common_divisor(unsigned long long a, unsigned long long b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* Write a speed as c/4 diagonal, 2c/5 orthogonal or (2,1)c/6, in lowest terms. */
static void speed_text(long long dx, long long dy, unsigned long long period, char *text,
                       size_t size)
{
    unsigned long long x = (unsigned long long)llabs(dx), y = (unsigned long long)llabs(dy),
                       most = x > y ? x : y, least = x > y ? y : x;
    const unsigned long long divisor = common_divisor(common_divisor(most, least), period);
    most /= divisor;
    least /= divisor;
    period /= divisor;
    const int used = least && least != most ? snprintf(text, size, "(%llu,%llu)c", most, least)
                     : most > 1             ? snprintf(text, size, "%lluc", most)
                                            : snprintf(text, size, "c");
    char of[24] = "";
    if (period > 1)
        snprintf(of, sizeof of, "/%llu", period);
    snprintf(text + used, size - (size_t)used, "%s%s", of,
             !least          ? " orthogonal"
             : least == most ? " diagonal"
                             : "");
}

static bool has_heat(const struct life_identity *id)
{
    return id->period && id->kind != LIFE_OBJECTS;
}

static json_t *json_objects(const struct life_job *job, const struct life_identity *id)
{
    json_t *list = json_array();
    for (size_t i = 0; i < id->objects; i++) {
        const struct life_object *o = &id->object[i];
        json_array_append_new(list, json_pack("{s:s, s:s?, s:I, s:I, s:I, s:I}", "object", o->code,
                                              "name", life_object_name(job, o->code), "period",
                                              (json_int_t)o->period, "dx", (json_int_t)o->dx, "dy",
                                              (json_int_t)o->dy, "count", (json_int_t)o->count));
    }
    return list;
}

static int identify_report_json(const struct life_job *job, const struct life_identity *id)
{
    char speed[80] = "";
    if (id->dx || id->dy)
        speed_text(id->dx, id->dy, id->period, speed, sizeof speed);
    json_t *report = json_pack(
        "{s:s, s:s, s:s, s:I, s:o, s:I, s:I, s:s?, s:I, s:I, s:I, s:o, s:o, s:s?, s:s?, s:o, s:b}",
        "program", "life", "rule", job->rule, "kind", life_kind_name(id->kind), "generation",
        (json_int_t)id->generation, "period",
        id->period ? json_integer((json_int_t)id->period) : json_null(), "dx", (json_int_t)id->dx,
        "dy", (json_int_t)id->dy, "speed", *speed ? speed : NULL, "growth", (json_int_t)id->growth,
        "population_least", (json_int_t)id->least, "population_most", (json_int_t)id->most,
        "population_mean", cli_json_real(id->mean), "heat",
        has_heat(id) ? cli_json_real(id->heat) : json_null(), "symmetry",
        *id->symmetry ? id->symmetry : NULL, "apgcode", id->code, "objects", json_objects(job, id),
        "interrupted", 0);
    const int status = cli_json_print(report);
    json_decref(report);
    return status;
}

static void print_separate(const struct life_job *job, const struct life_identity *id, FILE *fp)
{
    struct text_table *table =
        text_table_create(id->growth ? "~emitted|name|>period|speed|>in a period"
                                     : "~object|name|>period|speed|>count");
    fprintf(fp, "\n");
    for (size_t i = 0; i < id->objects; i++) {
        const struct life_object *o = &id->object[i];
        const char *name = life_object_name(job, o->code);
        text_table_add(table, "%s", o->code);
        text_table_add(table, "%s", name ? name : "");
        char speed[80] = "";
        if (o->dx || o->dy)
            speed_text(o->dx, o->dy, o->period, speed, sizeof speed);
        text_table_add(table, "%u", o->period);
        text_table_add(table, "%s", speed);
        text_table_add(table, "%" PRIu64, o->count);
    }
    cli_table_end(table, fp, terminal_columns(fp));
}

static void identify_report_text(const struct life_job *job, const struct life_identity *id,
                                 FILE *fp)
{
    char speed[80];
    fprintf(fp, "%-14s%s\n%-14s%s\n", "pattern", life_kind_name(id->kind), "rule", job->rule);
    if (id->kind == LIFE_UNSETTLED && id->growth)
        fprintf(fp, "%-14sa single object that becomes larger\n", "");
    else if (id->kind == LIFE_UNSETTLED && id->generation < job->generations)
        fprintf(fp, "%-14stoo many cells after generation %" PRIu64 "\n", "", id->generation);
    else if (id->kind == LIFE_UNSETTLED)
        fprintf(fp, "%-14swithin %" PRIu64 " generations; --generations N searches longer\n", "",
                id->generation);
    if (id->period)
        fprintf(fp, "%-14s%" PRIu64 "%s\n", "period", id->period,
                id->kind == LIFE_OBJECTS ? ", least common multiple of the objects' periods" : "");
    if (id->dx || id->dy) {
        speed_text(id->dx, id->dy, id->period, speed, sizeof speed);
        fprintf(fp, "%-14s%s; %lld column%s and %lld row%s in a period\n", "speed", speed, id->dx,
                llabs(id->dx) == 1 ? "" : "s", id->dy, llabs(id->dy) == 1 ? "" : "s");
    }
    if (id->growth)
        fprintf(fp, "%-14s%" PRIu64 " cells in a period\n", "growth", id->growth);
    if (id->most > id->least)
        fprintf(fp, "%-14s%" PRIu64 " to %" PRIu64 " cells, mean %.6g\n", "population", id->least,
                id->most, id->mean);
    else
        fprintf(fp, "%-14s%" PRIu64 " cells\n", "population", id->most);
    if (has_heat(id))
        fprintf(fp, "%-14s%.6g cells change in a generation\n", "heat", id->heat);
    if (*id->symmetry)
        fprintf(fp, "%-14s%s\n", "symmetry", id->symmetry);
    if (id->code)
        fprintf(fp, "%-14s%s\n", "apgcode", id->code);
    if (id->kind != LIFE_UNSETTLED)
        fprintf(fp, "%-14sby generation %" PRIu64 "\n",
                id->kind == LIFE_QUADRATIC ? "seen" : "settled", id->generation);
    if (id->objects)
        print_separate(job, id, fp);
}

/* Report an interrupted search, which has no results. */
static int identify_interrupted(struct life_job *job)
{
    const uint64_t done = life_generation(job->engine_of_run) - job->started;
    int status = CLI_DONE;
    job->interrupted = true;
    if (job->common.json) {
        json_t *report = json_pack(
            "{s:s, s:s, s:n, s:I, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, s:n, "
            "s:[], s:b}",
            "program", "life", "rule", job->rule, "kind", "generation", (json_int_t)done, "period",
            "dx", "dy", "speed", "growth", "population_least", "population_most", "population_mean",
            "heat", "symmetry", "apgcode", "objects", "interrupted", 1);
        status = cli_json_print(report);
        json_decref(report);
    } else if (!job->common.quiet) {
        printf("%-14s%s\n", "rule", job->rule);
        /* looks for quadratic growth go beyond the limit */
        cli_interrupt_report(done, done <= job->generations ? job->generations : 0, "generations",
                             stdout);
    }
    return cli_first_failure(status, cli_interrupt_status(CLI_DONE));
}

int life_identify_job(struct life_job *job)
{
    if (job->generations == 0)
        return cli_wrong("identify needs at least one generation; give --generations 1 or more");
    cli_progress_start(&job->progress, "generations", (double)job->generations, job->common.quiet);
    struct life_identity *id = life_identify(job->engine_of_run, job->generations);
    cli_progress_end(&job->progress);
    if (!id && clerrno == ECANCELED)
        return identify_interrupted(job);
    if (!id)
        return cli_failed_call(NULL);
    int status = CLI_DONE;
    if (job->common.json)
        status = identify_report_json(job, id);
    else if (!job->common.quiet)
        identify_report_text(job, id, stdout);
    life_identity_free(id);
    return status;
}
