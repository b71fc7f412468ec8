/* nbody_compare.c - `stdcl nbody --compare`: the baseline kernels of nbody/force/baseline.cl, the
 * tuned kernel and the tree, side by side.
 *
 * Every kernel sums the forces on the same bodies. Its sums are compared with plain C in double
 * precision on at most SAMPLE bodies, spread evenly; then it is timed: the median of several
 * runs, each with enough sums for the clock's resolution. The limit is that of nbody_peak_rate
 * for every kernel, so that fractions of the limit compare as the times do. The tree runs at its
 * default accuracy.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "common.h"
#include "device.h"
#include "interrupt.h"
#include "json.h"
#include "alloc.h"
#include "message.h"
#include "progress.h"
#include "report.h"
#include "text.h"
#include "nbody_bodies.h"
#include "nbody_options.h"
#include "nbody_output.h"
#include "nbody_run.h"

#include "core/clock.h"
#include "core/device_info.h"
#include "nbody/reference/nbody_ref.h"

#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SAMPLE = 512, RUNS = 5, RUNS_LONG = 3, STAGES = 1 + RUNS };
static const double RUN_SECONDS = 0.05, LONG_SECONDS = 2;

/* From the simplest to the fastest. The tree, which is no direct sum, follows. */
static const enum nbody_kernel kernels[] = {NBODY_NAIVE, NBODY_BRANCHLESS, NBODY_TILED,
                                            NBODY_TUNED};
enum { TREE = sizeof kernels / sizeof *kernels, RUNGS };
static const double TREE_ACCURACY = 1e-3; /* default of --accuracy */

struct rung {
    double seconds; /* of one force sum; NaN: not timed because of an interruption */
    double error;   /* rms of the errors over rms of the accelerations */
    bool checked;   /* the error is known */
    double tolerance;
};

struct comparison {
    size_t samples;
    double (*right)[3]; /* reference forces of the sample */
    double (*found)[3]; /* the kernel's forces, of all bodies */
    double limit;       /* interactions per second; 0: unknown */
    struct rung rung[RUNGS];
};

/* Enough bodies for the fastest kernel to fill the device, few enough for the slowest to finish
 * soon. */
static const size_t BODIES_CPU = 4096, BODIES_GPU = 32768;

/* ---- Accuracy. ------------------------------------------------------------------------------- */

static size_t sample_index(const struct nbody_job *job, const struct comparison *c, size_t k)
{
    return (size_t)((double)k * (double)job->n / (double)c->samples);
}

/* Compute the reference forces for the engine's bodies, rounded to its precision. */
static int compute_reference(struct nbody_job *job, struct comparison *c)
{
    struct particles *b = &job->bodies;
    if (nbody_state(job->engine, b->pos, NULL) < 0)
        return cli_failed_call(NULL);
    for (size_t k = 0; k < c->samples && !cli_interrupted(); k++)
        nbody_ref_force(b->n, job->G, job->eps, b->mass, (const double(*)[3])b->pos,
                        sample_index(job, c, k), c->right[k], NULL);
    return cli_interrupt_status(CLI_DONE);
}

static double rms_error(const struct nbody_job *job, const struct comparison *c)
{
    double square = 0, size = 0;
    for (size_t k = 0; k < c->samples; k++)
        for (int x = 0; x < 3; x++) {
            const double right = c->right[k][x], e = c->found[sample_index(job, c, k)][x] - right;
            square += e * e;
            size += right * right;
        }
    return sqrt(square) / (size > 0 ? sqrt(size) : 1);
}

static const char *rung_name(int k)
{
    return k == TREE ? nbody_method_names[NBODY_TREE] : nbody_kernel_names[kernels[k]];
}

/* Rounding error: some units in the last place per interaction, and a random walk of N units in
 * a running sum. The tree may add its accuracy. */
static double tolerance_of(const struct nbody_job *job, int k)
{
    const double unit = job->precision == NBODY_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;
    return unit * (8 + sqrt((double)job->n) / 2) + (k == TREE ? TREE_ACCURACY : 0);
}

/* ---- Time. ----------------------------------------------------------------------------------- */

static int compare_times(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Announce a stage of kernel k: the checked sum, then the timed runs. */
static void begin_stage(struct nbody_job *job, int k, int stage)
{
    nbody_job_begin(job, rung_name(k), k + (double)stage / STAGES, k + (stage + 1.0) / STAGES);
}

static int failed_or_stopped(void)
{
    return nbody_job_stopped() ? cli_interrupt_status(CLI_FAILED) : cli_failed_call(NULL);
}

static int time_kernel(struct nbody_job *job, int k, struct rung *rung)
{
    double run[RUNS];
    begin_stage(job, k, 1);
    if (nbody_time_forces(job->engine, 1, &run[0]) < 0)
        return failed_or_stopped();
    const double enough = seconds_timed(RUN_SECONDS);
    const size_t times = run[0] < enough ? (size_t)fmin(1000, enough / fmax(run[0], 1e-6)) : 1;
    const int runs = run[0] > LONG_SECONDS ? RUNS_LONG : RUNS;
    for (int r = times == 1; r < runs && !cli_interrupted();
         r++) { /* with one sum per run, the first sum was run 0 */
        begin_stage(job, k, 1 + r);
        if (nbody_time_forces(job->engine, times, &run[r]) < 0)
            return failed_or_stopped();
        run[r] /= (double)times;
    }
    if (cli_interrupted())
        return cli_interrupt_status(CLI_FAILED);
    qsort(run, (size_t)runs, sizeof *run, compare_times);
    rung->seconds = run[runs / 2];
    return CLI_DONE;
}

/* ---- All kernels. --------------------------------------------------------------------------- */

static int measure_engine(struct nbody_job *job, struct comparison *c, int k)
{
    int status;
    if (k == 0)
        c->limit = nbody_peak_rate(job->engine);
    if (k == 0 && (status = compute_reference(job, c)) != CLI_DONE)
        return status;
    begin_stage(job, k, 0);
    if (nbody_forces(job->engine, c->found, NULL) < 0)
        return failed_or_stopped();
    c->rung[k].error = rms_error(job, c);
    c->rung[k].checked = true;
    if ((status = time_kernel(job, k, &c->rung[k])) != CLI_DONE)
        return status;
    if (k == TREE - 1)
        cli_explain(&job->common, job->context, 0, nbody_explain(job->engine, 0),
                    nbody_shape(job->engine, 0));
    return CLI_DONE;
}

static int measure_rung(struct nbody_job *job, struct comparison *c, int k)
{
    job->method = k == TREE ? NBODY_TREE : NBODY_DIRECT;
    int status = nbody_job_engine(job, k == TREE ? NBODY_TUNED : kernels[k]);
    if (status == CLI_DONE)
        status = measure_engine(job, c, k);
    nbody_free(job->engine);
    job->engine = NULL;
    return status;
}

/* After an interruption, the remaining kernels are neither checked nor timed. */
static int measure_all_rungs(struct nbody_job *job, struct comparison *c)
{
    int status = CLI_DONE;
    for (int k = 0; k < RUNGS; k++)
        c->rung[k] = (struct rung){.seconds = NAN, .error = NAN, .tolerance = tolerance_of(job, k)};
    cli_progress_start(&job->progress, "kernels", RUNGS, job->common.quiet);
    for (int k = 0; k < RUNGS && status == CLI_DONE; k++) {
        cli_progress_update(&job->progress, k, rung_name(k));
        status = measure_rung(job, c, k);
    }
    cli_progress_end(&job->progress);
    return cli_interrupted() ? CLI_DONE : status;
}

/* ---- The report. ----------------------------------------------------------------------------- */

/* Interactions per second; NAN for the tree, which does not compute all of them. */
static double rung_rate(const struct nbody_job *job, const struct comparison *c,
                        const struct rung *r)
{
    return r == &c->rung[TREE] ? NAN : (double)job->n * (double)job->n / r->seconds;
}

/* Fraction of the limit; NAN if unknown, or if above 1 because the device was busy while its
 * peak was measured. */
static double fraction_of_limit(const struct nbody_job *job, const struct comparison *c,
                                const struct rung *r)
{
    const double share = rung_rate(job, c, r) / c->limit;
    return share <= 1 ? share : NAN;
}

static bool rung_agrees(const struct rung *r)
{
    return r->error <= r->tolerance; /* false for NaN */
}

static int compare_report_json(const struct nbody_job *job, const struct comparison *c,
                               const char *device)
{
    json_t *rungs = json_array();
    for (int k = 0; k < RUNGS; k++) {
        const struct rung *r = &c->rung[k];
        json_array_append_new(rungs,
                              json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "kernel",
                                        rung_name(k), "seconds", cli_json_real(r->seconds),
                                        "interactions_per_s", cli_json_real(rung_rate(job, c, r)),
                                        "speedup", cli_json_real(c->rung[0].seconds / r->seconds),
                                        "limit_share", cli_json_real(fraction_of_limit(job, c, r)),
                                        "error_rms_rel", cli_json_real(r->error), "agrees",
                                        r->checked ? json_boolean(rung_agrees(r)) : json_null()));
    }
    json_t *compare_report =
        json_pack("{s:s, s:s, s:I, s:o, s:s, s:I, s:o, s:o, s:o, s:b}", "program", "nbody",
                  "device", device, "n", (json_int_t)job->n, "eps", cli_json_real(job->eps),
                  "precision", nbody_precision_names[job->precision], "bodies_checked",
                  (json_int_t)c->samples, "error_limit", cli_json_real(c->rung[0].tolerance),
                  "limit_interactions_per_s", cli_json_real(c->limit > 0 ? c->limit : NAN),
                  "kernels", rungs, "interrupted", cli_interrupted());
    nbody_report_units(job, compare_report);
    const int status = cli_json_print(compare_report);
    json_decref(compare_report);
    return status;
}

/* Number of kernels that were timed before the run ended or was interrupted. */
static int rungs_timed(const struct comparison *c)
{
    int timed = 0;
    while (timed < RUNGS && isfinite(c->rung[timed].seconds))
        timed++;
    return timed;
}

static void compare_report_text(const struct nbody_job *job, const struct comparison *c,
                                const char *device)
{
    struct cli_text text;
    struct text_table *table =
        text_table_create("~kernel|>time|>interactions/s|>speed-up|>2of the limit|>1rms error");
    struct cli_report report;
    FILE *fp = cli_report_begin(&report, stdout, 14);
    fprintf(fp, "%-14s%s\n", "device", device);
    fprintf(fp, "%-14s%zu, from %s, %s precision, softening %g\n", "bodies", job->n,
            job->input ? job->input : nbody_model_names[job->model],
            nbody_precision_names[job->precision], job->eps);
    fprintf(fp, "%-14s%s\n", "limit",
            c->limit > 0 ? cli_text_rate(&text, c->limit, "interactions/s") : "unknown");
    fprintf(fp, "%-14s%zu bodies against plain C; rounding error up to %s\n", "checked", c->samples,
            cli_text_number(&text, 2, c->rung[0].tolerance));
    cli_report_end(&report, fp);
    printf("\n");
    for (int k = 0; k < rungs_timed(c); k++) {
        const struct rung *r = &c->rung[k];
        text_table_add(table, "%s", rung_name(k));
        text_table_add(table, "%s", cli_text_time(&text, r->seconds));
        text_table_add(table, "%s",
                       k == TREE ? "-" : cli_text_rate(&text, rung_rate(job, c, r), ""));
        text_table_add(table, "%s", cli_text_number(&text, 3, c->rung[0].seconds / r->seconds));
        if (isfinite(fraction_of_limit(job, c, r)))
            text_table_add(table, "%s %%",
                           cli_text_number(&text, 3, 100 * fraction_of_limit(job, c, r)));
        else
            text_table_add(table, "-");
        text_table_add(table, "%s%s", cli_text_number(&text, 2, r->error),
                       rung_agrees(r) ? "" : " WRONG");
    }
    cli_table_end(table, stdout, terminal_columns(stdout));
    if (cli_interrupted())
        cli_interrupt_report((uint64_t)rungs_timed(c), RUNGS, "kernels", stdout);
}

static int compare_report(const struct nbody_job *job, const struct comparison *c)
{
    char *device = cli_devices_name(job->context);
    int status = CLI_DONE;
    if (job->common.json)
        status = compare_report_json(job, c, device);
    else if (!job->common.quiet)
        compare_report_text(job, c, device);
    free(device);
    for (int k = 0; k < RUNGS; k++)
        if (c->rung[k].checked && !rung_agrees(&c->rung[k]))
            status = cli_failed(
                "kernel '%s' is wrong: its forces differ from plain C by %.2g, but %s explains at most %.2g",
                rung_name(k), c->rung[k].error, k == TREE ? "the accuracy of the tree" : "rounding",
                c->rung[k].tolerance);
    return status;
}

/* 0 after clerror_set. */
static size_t default_bodies(const struct nbody_job *job)
{
    const size_t fixed = nbody_model_bodies((enum nbody_model)job->model);
    cl_device_type type = 0;
    if (device_ask(job->context, 0, CL_DEVICE_TYPE, sizeof type, &type, "nbody") != 0)
        return 0;
    return fixed ? fixed : type & CL_DEVICE_TYPE_CPU ? BODIES_CPU : BODIES_GPU;
}

int nbody_job_compare(struct nbody_job *job)
{
    struct comparison c = {.samples = 0};
    if (clgetndev(job->context) > 1)
        return cli_wrong(
            "--compare runs on one device, but %u are selected; select one with --device",
            clgetndev(job->context));
    if (!job->n && !job->input && !(job->n = default_bodies(job)))
        return cli_failed_call(NULL);
    int status = nbody_job_bodies(job);
    if (status != CLI_DONE)
        return status;
    if ((status = cli_memory_for(job->n, 3 * sizeof(double), "forces")) != CLI_DONE)
        return status;
    if ((status = nbody_job_choose(job)) != CLI_DONE)
        return status;
    c.samples = job->n < SAMPLE ? job->n : SAMPLE;
    c.right = cli_alloc(c.samples, sizeof *c.right);
    c.found = cli_alloc(job->n, sizeof *c.found);
    status = measure_all_rungs(job, &c);
    if (status == CLI_DONE)
        status = compare_report(job, &c);
    if (status == CLI_DONE)
        status = cli_interrupt_status(CLI_DONE);
    free(c.right);
    free(c.found);
    return status;
}
