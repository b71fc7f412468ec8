/* matmul_report.c - reports of `stdcl matmul`: of one engine, of all, of a sweep; tables and
 * plots as files. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "files.h"
#include "device.h"
#include "interrupt.h"
#include "json.h"
#include "alloc.h"
#include "message.h"
#include "ranks.h"
#include "report.h"
#include "text.h"
#include "matmul_job.h"

#include "formats/csv.h"
#include "formats/plot.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Text of values. ------------------------------------------------------------------------- */

/* Name of the devices, or of the host's CPU. The caller frees it. */
static char *outcome_device(const struct matmul_job *job, enum matmul_kind kind)
{
    if (!matmul_kind_is_host(kind))
        return cli_devices_name(job->context);
    char *name = stdcpu ? cli_devices_name(stdcpu) : NULL;
    if (name)
        return name;
    name = cli_alloc(5, 1);
    memcpy(name, "host", 5);
    return name;
}

static size_t total_nan(const struct matmul_job *job)
{
    return job->nan[0] + job->nan[1] + (job->beta != 0 ? job->nan[2] : 0);
}

/* ---- JSON. ----------------------------------------------------------------------------------- */

static json_t *outcome_json(const struct matmul_job *job, const struct matmul_outcome *o)
{
    char *device = outcome_device(job, o->kind);
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:s, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "program", "matmul",
        "device", device, "engine", matmul_kind_name(o->kind), "precision",
        matmul_precision_names[job->precision], "m", (json_int_t)job->m, "n", (json_int_t)job->n,
        "k", (json_int_t)job->k, "seconds", cli_json_real(*o->why ? NAN : o->seconds), "gflops",
        cli_json_real(o->gflops), "peak_percent", cli_json_real(o->peak_percent), "error",
        cli_json_real(o->error), "nan",
        job->out_of_core && !job->outcomes /* the files are not read */
            ? json_null()
            : json_integer((json_int_t)total_nan(job)));
    if (job->sweep && o->block)
        json_object_set_new(object, "block", json_integer((json_int_t)o->block));
    if (*o->why)
        json_object_set_new(object, "why", json_string(o->why));
    free(device);
    return object;
}

static json_t *all_outcomes_json(const struct matmul_job *job)
{
    json_t *results = json_array();
    for (size_t i = 0; i < job->outcomes; i++)
        json_array_append_new(results, outcome_json(job, &job->outcome[i]));
    return json_pack("{s:s, s:o}", "program", "matmul", "results", results);
}

/* A run may be interrupted before its engine has an outcome: null stands for the results. */
static json_t *matmul_json(const struct matmul_job *job, bool interrupted)
{
    const struct matmul_outcome none = {
        .kind = job->kinds[0], .seconds = NAN, .gflops = NAN, .peak_percent = NAN, .error = NAN};
    json_t *report = job->compare || job->sweep
                         ? all_outcomes_json(job)
                         : outcome_json(job, job->outcomes ? &job->outcome[0] : &none);
    json_object_set_new(report, "interrupted", json_boolean(interrupted));
    return report;
}

void matmul_job_prepare_report(struct matmul_job *job)
{
    char *const before = job->last_words;
    json_t *report = job->common.json ? matmul_json(job, true) : NULL;
    job->last_words = cli_json_text(report);
    cli_interrupt_last_words(job->last_words);
    json_decref(report);
    free(before);
}

static int matmul_report_json(const struct matmul_job *job)
{
    json_t *report = matmul_json(job, job->interrupted);
    cli_interrupt_last_words(NULL);
    const int status = cli_json_print(report);
    json_decref(report);
    return status;
}

/* ---- Text. ----------------------------------------------------------------------------------- */

static void report_product(const struct matmul_job *job, FILE *out)
{
    fprintf(out, "%-14s%zu x %zu times %zu x %zu, %s, %s precision", "product", job->m, job->k,
            job->k, job->n, matmul_trans_names[job->trans], matmul_precision_names[job->precision]);
    if (job->alpha != 1 || job->beta != 0)
        fprintf(out, ", alpha %g, beta %g", job->alpha, job->beta);
    putc('\n', out);
}

/* Report NaN in the files; every element of C that depends on one is NaN. */
static void report_nan(const struct matmul_job *job, FILE *out)
{
    if (total_nan(job) == 0)
        return;
    fprintf(out, "%-14s%zu in A, %zu in B", "NaN", job->nan[0], job->nan[1]);
    if (job->beta != 0)
        fprintf(out, ", %zu in C", job->nan[2]);
    fprintf(out, "; elements of the result that depend on one are NaN\n");
}

static void report_one(const struct matmul_job *job, const struct matmul_outcome *o, FILE *out)
{
    struct cli_text text, second;
    char *device = outcome_device(job, o->kind);
    fprintf(out, "%-14s%s\n", "device", device);
    fprintf(out, "%-14s%s, %s\n", "engine", matmul_kind_name(o->kind),
            matmul_kind_summary(o->kind));
    report_product(job, out);
    report_nan(job, out);
    fprintf(out, "%-14s%s%s", "duration", cli_text_time(&text, o->seconds),
            job->out_of_core ? ", from and to files"
            : o->streamed    ? ", including transfers of the operands"
                             : "");
    if (o->device_seconds > 0)
        fprintf(out, ", %s by the device's clock", cli_text_time(&second, o->device_seconds));
    fprintf(out, "\n%-14s%s", "speed", cli_text_rate(&text, 1e9 * o->gflops, "FLOP/s"));
    if (!isnan(o->peak_percent))
        fprintf(out, ", %s %% of the peak", cli_text_number(&text, 3, o->peak_percent));
    fprintf(out, "\n%-14s%s of |A| |B|, against a product in higher precision\n", "error",
            cli_text_number(&text, 2, o->error));
    if (job->output_done)
        fprintf(out, "%-14s%s\n", "written", job->output);
    free(device);
}

/* The lines before a table, wrapped. */
static void report_head(const struct matmul_job *job, FILE *out)
{
    struct cli_report report;
    FILE *fp = cli_report_begin(&report, out, REPORT_INDENT);
    report_product(job, fp);
    report_nan(job, fp);
    cli_report_end(&report, fp);
}

static void report_compare(const struct matmul_job *job, FILE *out)
{
    struct text_table *table =
        text_table_create("engine|~3device|>time|>GFLOP/s|>1% of peak|>2error");
    struct cli_text text;
    report_head(job, out);
    for (size_t i = 0; i < job->outcomes; i++) {
        const struct matmul_outcome *o = &job->outcome[i];
        char *device = *o->why ? NULL : outcome_device(job, o->kind);
        text_table_add(table, "%s", matmul_kind_name(o->kind));
        text_table_add(table, "%s", device ? device : "");
        text_table_add(table, "%s", *o->why ? "-" : cli_text_time(&text, o->seconds));
        text_table_add(table, "%s", cli_text_number(&text, 3, o->gflops));
        text_table_add(table, "%s", cli_text_number(&text, 3, o->peak_percent));
        text_table_add(table, "%s", cli_text_number(&text, 2, o->error));
        free(device);
    }
    cli_table_end(table, out, terminal_columns(out));
    for (size_t i = 0; i < job->outcomes; i++)
        if (*job->outcome[i].why)
            cli_named_line(out, matmul_kind_name(job->outcome[i].kind), job->outcome[i].why);
}

/* Outcome of an engine with a block size, or NULL. */
static const struct matmul_outcome *find_outcome(const struct matmul_job *job,
                                                 enum matmul_kind kind, size_t block)
{
    for (size_t i = 0; i < job->outcomes; i++)
        if (job->outcome[i].kind == kind && job->outcome[i].block == block && !*job->outcome[i].why)
            return &job->outcome[i];
    return NULL;
}

/* Report the block sizes of an engine that are missing from the table. */
static void report_left_out(const struct matmul_job *job, enum matmul_kind kind, FILE *out)
{
    for (size_t i = 0; i < job->outcomes; i++)
        if (job->outcome[i].kind == kind && *job->outcome[i].why)
            fprintf(out, "%s, block %zu: %s\n", matmul_kind_name(kind), job->outcome[i].block,
                    job->outcome[i].why);
    if (kind != MATMUL_BLOCKED || job->interrupted)
        return;
    const size_t most = matmul_block_limit(job->context, (enum matmul_precision)job->precision);
    if (most < 1024)
        fprintf(out, "blocked: the device supports blocks of at most %zu x %zu\n", most, most);
}

/* Table of times: one row per block size, one column per engine, as in the tutorial. */
static void report_sweep(const struct matmul_job *job, FILE *out)
{
    char columns[512] = ">block";
    struct cli_text text;
    for (size_t i = 0; i < job->nkinds; i++)
        cli_text_append(columns, sizeof columns, "|>1%s|>2GFLOP/s",
                        matmul_kind_name(job->kinds[i]));
    struct text_table *table = text_table_create(columns);
    report_head(job, out);
    for (size_t block = 0; block <= 1024; block = block ? 2 * block : 1) {
        bool any = false;
        for (size_t i = 0; i < job->nkinds; i++)
            any |= find_outcome(job, job->kinds[i], block) != NULL;
        if (!any)
            continue;
        text_table_add(table, block ? "%zu" : "-", block);
        for (size_t i = 0; i < job->nkinds; i++) {
            const struct matmul_outcome *o = find_outcome(job, job->kinds[i], block);
            text_table_add(table, "%s", o ? cli_text_time(&text, o->seconds) : "-");
            text_table_add(table, "%s", cli_text_number(&text, 3, o ? o->gflops : NAN));
        }
    }
    cli_table_end(table, out, terminal_columns(out));
    for (size_t i = 0; i < job->nkinds; i++)
        report_left_out(job, job->kinds[i], out);
}

/* Say how many engines are done, or products of the only engine. */
static void report_interruption(const struct matmul_job *job, FILE *out)
{
    const size_t wanted = job->repeat ? 1 + job->repeat : 0; /* the first product warms up */
    if (job->compare)
        cli_interrupt_report(job->outcomes, job->nkinds, "engines", out);
    else if (job->sweep)
        cli_interrupt_report(job->outcomes, 0, "block sizes", out);
    else
        cli_interrupt_report(wanted && job->runs > wanted ? wanted : job->runs, wanted, "products",
                             out);
}

static void report_text(const struct matmul_job *job, FILE *out)
{
    struct cli_report report;
    if (job->compare) {
        report_compare(job, out);
    } else if (job->sweep) {
        report_sweep(job, out);
    } else {
        FILE *fp = cli_report_begin(&report, out, REPORT_INDENT);
        report_one(job, &job->outcome[0], fp);
        cli_report_end(&report, fp);
    }
}

int matmul_job_report(const struct matmul_job *job)
{
    FILE *out = cli_stdout_is_taken() ? stderr : stdout;
    if (job->common.json)
        return matmul_report_json(job);
    if (job->common.quiet)
        return CLI_DONE;
    if (job->outcomes) {
        report_text(job, out);
        cli_figures_report(&job->figures, REPORT_INDENT, out);
    }
    if (job->interrupted)
        report_interruption(job, out);
    return CLI_DONE;
}

/* ---- Files. ---------------------------------------------------------------------------------- */

static int write_sweep_csv(const struct matmul_job *job)
{
    struct csv csv;
    const char *names[MATMUL_KINDS + 1] = {"block"};
    char words[MATMUL_KINDS][64];
    for (size_t i = 0; i < job->nkinds; i++) {
        snprintf(words[i], sizeof words[i], "%s_seconds", matmul_kind_name(job->kinds[i]));
        names[i + 1] = words[i];
    }
    if (csv_open(&csv, job->csv, job->nkinds + 1, names) < 0)
        return cli_failed_call(NULL);
    for (size_t block = 1; block <= 1024; block *= 2) {
        double row[MATMUL_KINDS + 1] = {(double)block};
        bool any = false;
        for (size_t i = 0; i < job->nkinds; i++) {
            const struct matmul_outcome *o = find_outcome(job, job->kinds[i], block);
            row[i + 1] = o ? o->seconds : NAN;
            any |= o != NULL;
        }
        if (any && csv_row(&csv, row) < 0)
            break; /* csv_close reports the error */
    }
    return csv_close(&csv) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

static int write_sweep_plot(const struct matmul_job *job)
{
    double x[MATMUL_KINDS][16], y[MATMUL_KINDS][16];
    struct plot_line lines[MATMUL_KINDS];
    char title[128];
    size_t count = 0;
    for (size_t i = 0; i < job->nkinds; i++) {
        size_t n = 0;
        for (size_t block = 1; block <= 1024; block *= 2) {
            const struct matmul_outcome *o = find_outcome(job, job->kinds[i], block);
            if (o) {
                x[count][n] = (double)block;
                y[count][n++] = o->seconds;
            }
        }
        if (n)
            lines[count++] = (struct plot_line){matmul_kind_name(job->kinds[i]), n, x[i], y[i]};
        if (n)
            lines[count - 1].x = x[count - 1], lines[count - 1].y = y[count - 1];
    }
    snprintf(title, sizeof title, "Matrix product, %zu x %zu x %zu, %s precision", job->m, job->n,
             job->k, matmul_precision_names[job->precision]);
    const struct plot plot = {.title = title,
                              .x_label = "block size",
                              .y_label = "time [s]",
                              .lines = count,
                              .line = lines};
    return plot_write(job->plot, &plot) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

int matmul_job_files(const struct matmul_job *job)
{
    const int table = job->csv ? cli_ranks_file_status(write_sweep_csv(job)) : CLI_DONE,
              plot = job->plot ? cli_ranks_file_status(write_sweep_plot(job)) : CLI_DONE;
    return cli_first_failure(table, plot);
}
