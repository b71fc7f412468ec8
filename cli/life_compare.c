/* life_compare.c - `stdcl life --compare`: all engines on the same cells.
 *
 * Every engine computes the same number of generations, and its cells are compared with the
 * first engine's. Then its speed is measured for half a second.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "common.h"
#include "device.h"
#include "interrupt.h"
#include "json.h"
#include "message.h"
#include "report.h"
#include "text.h"
#include "life_grid.h"
#include "life_run.h"

#include "core/clock.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double TIMED_SECONDS = 0.5;

struct result {
    bool run, equal;
    double seconds; /* time of `generations` generations */
    uint64_t generations, population;
    char *reason; /* reason for not running, or NULL */
};

static int cells_equal(const struct life_cells *a, const struct life_cells *b)
{
    return memcmp(a->word, b->word, a->stride * a->height * sizeof *a->word) == 0;
}

/* Double the number of generations until they take long enough. */
static int time_engine(life *lf, struct result *r)
{
    for (r->generations = 1;; r->generations *= 2) {
        const double start = seconds_now();
        if (life_step(lf, r->generations) < 0)
            return -1;
        r->seconds = seconds_now() - start;
        if (r->seconds >= seconds_timed(TIMED_SECONDS) || cli_interrupted())
            return 0;
    }
}

/* Run and time an engine. `first` holds the cells of the first engine, or is empty. */
static int run_filled(struct life_job *job, life *lf, struct life_cells *first,
                      struct life_cells *cells, struct result *r)
{
    const int status = life_job_fill(job, lf);
    if (status != CLI_DONE)
        return cli_interrupted() ? CLI_DONE : status;
    if (life_step(lf, job->generations) < 0 || life_population(lf, &r->population) < 0 ||
        life_cells_alloc(cells, job->size.width, job->size.height) < 0 ||
        life_get(lf, 0, 0, cells) < 0 || time_engine(lf, r) < 0)
        return life_job_stopped() ? CLI_DONE : cli_failed_call(NULL);
    r->run = true;
    r->equal = !first->word || cells_equal(first, cells);
    if (!first->word) {
        *first = *cells;
        cells->word = NULL;
    }
    return CLI_DONE;
}

static int compare_engine(struct life_job *job, enum life_engine engine, struct life_cells *first,
                          struct result *r)
{
    struct life_cells cells = {0};
    life *lf = life_job_create(job, engine);
    if (!lf) { /* too large for this engine, most likely */
        r->reason = cli_interrupted() ? NULL : strdup(cli_reason());
        return CLI_DONE;
    }
    const int status = run_filled(job, lf, first, &cells, r);
    life_cells_free(&cells);
    life_free(lf);
    return status;
}

static double result_rate(const struct life_job *job, const struct result *r)
{
    return (double)job->size.width * (double)job->size.height * (double)r->generations / r->seconds;
}

static int engines_report_json(const struct life_job *job, const char *device,
                               const struct result results[])
{
    json_t *engines = json_array();
    for (int e = LIFE_PACKED; e <= LIFE_REFERENCE; e++) {
        const struct result *r = &results[e];
        json_array_append_new(
            engines,
            r->run
                ? json_pack("{s:s, s:o, s:b, s:I}", "engine", life_engine_name((enum life_engine)e),
                            "cell_updates_per_s", cli_json_real(result_rate(job, r)), "equal",
                            r->equal, "population", (json_int_t)r->population)
                : json_pack("{s:s, s:n, s:s}", "engine", life_engine_name((enum life_engine)e),
                            "cell_updates_per_s", "reason", r->reason ? r->reason : "interrupted"));
    }
    json_t *report = json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:s, s:I, s:o, s:b}", "program", "life", "device", device,
        "rule", job->rule, "width", (json_int_t)job->size.width, "height",
        (json_int_t)job->size.height, "bounds", life_job_bounds(job), "generations",
        (json_int_t)job->generations, "engines", engines, "interrupted", cli_interrupted());
    const int status = cli_json_print(report);
    json_decref(report);
    return status;
}

static void engines_report_text(const struct life_job *job, const char *device,
                                const struct result results[])
{
    struct cli_text text;
    const struct result *base = &results[LIFE_GLOBAL];
    struct text_table *table = text_table_create("engine|>speed|>times global|>1population|cells");
    printf("%s: %zu x %zu cells, %s, %s, compared after %llu generations\n", device,
           job->size.width, job->size.height, life_job_bounds(job), job->rule,
           (unsigned long long)job->generations);
    for (int e = LIFE_PACKED; e <= LIFE_REFERENCE; e++) {
        const struct result *r = &results[e];
        text_table_add(table, "%s", life_engine_name((enum life_engine)e));
        text_table_add(table, "%s",
                       r->run ? cli_text_rate(&text, result_rate(job, r), "cells/s") : "-");
        if (r->run && base->run)
            text_table_add(table, "%.3g", result_rate(job, r) / result_rate(job, base));
        else
            text_table_add(table, "-");
        if (r->run)
            text_table_add(table, "%llu", (unsigned long long)r->population);
        else
            text_table_add(table, "-");
        text_table_add(table, "%s",
                       r->run      ? r->equal ? "equal" : "DIFFERENT"
                       : r->reason ? "see below"
                                   : "interrupted");
    }
    cli_table_end(table, stdout, terminal_columns(stdout));
    for (int e = LIFE_PACKED; e <= LIFE_REFERENCE; e++)
        if (results[e].reason)
            cli_named_line(stdout, life_engine_name((enum life_engine)e), results[e].reason);
}

static int report_engines(const struct life_job *job, const struct result results[])
{
    char *device = cli_devices_name(job->context);
    int status = CLI_DONE;
    if (job->common.json)
        status = engines_report_json(job, device, results);
    else if (!job->common.quiet)
        engines_report_text(job, device, results);
    free(device);
    for (int e = 0; e < LIFE_ENGINES && status == CLI_DONE; e++)
        if (results[e].run && !results[e].equal)
            status = cli_failed(
                "the engines disagree; please report this with the command and the device");
    return status;
}

int life_job_compare(struct life_job *job)
{
    struct result results[LIFE_ENGINES] = {0};
    struct life_cells first = {0};
    int status = CLI_DONE;
    cli_interrupt_catch();
    for (int e = 0; e < LIFE_ENGINES && status == CLI_DONE && !cli_interrupted(); e++)
        status = compare_engine(job, (enum life_engine)e, &first, &results[e]);
    if (status == CLI_DONE)
        status = report_engines(job, results);
    for (int e = LIFE_PACKED; e <= LIFE_REFERENCE; e++)
        free(results[e].reason);
    life_cells_free(&first);
    if (status != CLI_DONE)
        return status;
    if ((status = cli_profile_report(&job->common, job->context)) != CLI_DONE)
        return status;
    return cli_interrupt_status(CLI_DONE);
}
