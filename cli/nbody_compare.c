/* nbody_compare.c - `stdcl nbody --compare`: the kernels of nbody/baseline.cl and the tuned one,
 * side by side.
 *
 * Every kernel sums the forces on the same bodies. First its sums are compared with plain C in
 * double precision, on at most SAMPLE bodies spread over all; then it is timed, the median of
 * several runs, each of so many sums that a run is not too short for the clock. The limit is
 * nbody_peak_rate's, the same for all kernels, so that their shares compare as their times do. The
 * tree, with its accuracy when nothing is said, is one more.
 * SPDX-License-Identifier: MIT
 */
#include "nbody_job.h"

#include "core/device_info.h"
#include "nbody/nbody_ref.h"

#include <jansson.h>
#include <math.h>

enum { SAMPLE = 512, RUNS = 5, RUNS_LONG = 3, STAGES = 1 + RUNS };
static const double RUN_SECONDS = 0.05, LONG_SECONDS = 2;

/* From the simplest to the fastest; the tree comes last, which does not sum over all pairs. */
static const enum nbody_kernel kernels[] = {NBODY_NAIVE, NBODY_BRANCHLESS, NBODY_TILED,
                                            NBODY_TUNED};
enum { TREE = sizeof kernels / sizeof *kernels, RUNGS };
static const double TREE_ACCURACY = 1e-3; /* what is wished for when nothing is said */

struct rung {
    double seconds; /* of one sum */
    double error;   /* rms of the errors over rms of the accelerations */
    double tolerance;
};

struct comparison {
    size_t samples;
    double (*right)[3]; /* by plain C, of the sample */
    double (*found)[3]; /* of all bodies */
    double limit;       /* interactions per second; 0: not known */
    struct rung rung[RUNGS];
};

/* Enough bodies for the fastest kernel to fill the device, and few enough for the slowest to end
 * soon. */
static const size_t BODIES_CPU = 4096, BODIES_GPU = 32768;

/* ---- Right or wrong. ------------------------------------------------------------------------- */

static size_t sampled(const struct nbody_job *job, const struct comparison *c, size_t k)
{
    return (size_t)((double)k * (double)job->n / (double)c->samples);
}

/* What plain C finds for the bodies as the engine has them: rounded, in single precision. */
static int compute_right(struct nbody_job *job, struct comparison *c)
{
    struct particles *b = &job->bodies;
    if (nbody_state(job->engine, b->pos, NULL) < 0)
        return cli_failed_call(NULL);
    for (size_t k = 0; k < c->samples && !cli_interrupted(); k++)
        nbody_ref_force(b->n, job->G, job->eps, b->mass, (const double(*)[3])b->pos,
                        sampled(job, c, k), c->right[k], NULL);
    return CLI_DONE;
}

static double error_of(const struct nbody_job *job, const struct comparison *c)
{
    double square = 0, size = 0;
    for (size_t k = 0; k < c->samples; k++)
        for (int x = 0; x < 3; x++) {
            const double right = c->right[k][x], e = c->found[sampled(job, c, k)][x] - right;
            square += e * e;
            size += right * right;
        }
    return sqrt(square) / (size > 0 ? sqrt(size) : 1);
}

static const char *name_of(int k)
{
    return k == TREE ? nbody_method_names[NBODY_TREE] : nbody_kernel_names[kernels[k]];
}

/* What rounding may do: some units in the last place in each pull, and a walk of N of them in a sum
 * that is carried in one number. The tree may do what was wished for besides. */
static double tolerance_of(const struct nbody_job *job, int k)
{
    const double unit = job->precision == NBODY_DOUBLE ? DBL_EPSILON : (double)FLT_EPSILON;
    return unit * (8 + sqrt((double)job->n) / 2) + (k == TREE ? TREE_ACCURACY : 0);
}

/* ---- Time. ----------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Begins one of the stages of kernel k: the sums that are checked, then the runs that are timed. */
static void begin_stage(struct nbody_job *job, int k, int stage)
{
    nbody_job_begin(job, name_of(k), k + (double)stage / STAGES, k + (stage + 1.0) / STAGES);
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
    for (int r = times == 1; r < runs && !cli_interrupted(); r++) { /* one sum was a run already */
        begin_stage(job, k, 1 + r);
        if (nbody_time_forces(job->engine, times, &run[r]) < 0)
            return failed_or_stopped();
        run[r] /= (double)times;
    }
    if (cli_interrupted())
        return cli_interrupt_status(CLI_FAILED);
    qsort(run, (size_t)runs, sizeof *run, ascending);
    rung->seconds = run[runs / 2];
    return CLI_DONE;
}

/* ---- Every kernel in turn. ------------------------------------------------------------------- */

static int climb(struct nbody_job *job, struct comparison *c, int k)
{
    job->method = k == TREE ? NBODY_TREE : NBODY_DIRECT;
    c->rung[k].tolerance = tolerance_of(job, k);
    int status = nbody_job_engine(job, k == TREE ? NBODY_TUNED : kernels[k]);
    if (status == CLI_DONE && k == 0) {
        c->limit = nbody_peak_rate(job->engine);
        status = compute_right(job, c);
    }
    begin_stage(job, k, 0);
    if (status == CLI_DONE && nbody_forces(job->engine, c->found, NULL) < 0)
        status = failed_or_stopped();
    if (status == CLI_DONE) {
        c->rung[k].error = error_of(job, c);
        status = time_kernel(job, k, &c->rung[k]);
    }
    if (status == CLI_DONE && k == TREE - 1)
        cli_explain(&job->common, job->context, 0, nbody_explain(job->engine, 0),
                    nbody_shape(job->engine, 0));
    nbody_free(job->engine);
    job->engine = NULL;
    return status;
}

static int climb_all(struct nbody_job *job, struct comparison *c)
{
    int status = CLI_DONE;
    cli_progress_start(&job->progress, "kernels", RUNGS, job->common.quiet);
    for (int k = 0; k < RUNGS && status == CLI_DONE; k++) {
        cli_progress_update(&job->progress, k, name_of(k));
        status = climb(job, c, k);
    }
    cli_progress_end(&job->progress);
    return status;
}

/* ---- The report. ----------------------------------------------------------------------------- */

/* NAN for the tree, which computes few of the interactions. */
static double rate_of(const struct nbody_job *job, const struct comparison *c, const struct rung *r)
{
    return r == &c->rung[TREE] ? NAN : (double)job->n * (double)job->n / r->seconds;
}

/* NAN when it is not known: then, too, when the device was busy while its peak was measured, so
 * that a kernel exceeds what should be the limit. */
static double share_of(const struct nbody_job *job, const struct comparison *c,
                       const struct rung *r)
{
    const double share = rate_of(job, c, r) / c->limit;
    return share <= 1 ? share : NAN;
}

static bool agrees(const struct rung *r)
{
    return r->error <= r->tolerance; /* false for NaN */
}

static int report_json(const struct nbody_job *job, const struct comparison *c, const char *device)
{
    json_t *rungs = json_array();
    for (int k = 0; k < RUNGS; k++) {
        const struct rung *r = &c->rung[k];
        json_array_append_new(
            rungs, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:b}", "kernel", name_of(k), "seconds",
                             cli_json_real(r->seconds), "interactions_per_s",
                             cli_json_real(rate_of(job, c, r)), "speedup",
                             cli_json_real(c->rung[0].seconds / r->seconds), "limit_share",
                             cli_json_real(share_of(job, c, r)), "error_rms_rel",
                             cli_json_real(r->error), "agrees", agrees(r)));
    }
    json_t *report =
        json_pack("{s:s, s:s, s:I, s:o, s:s, s:I, s:o, s:o, s:o}", "program", "nbody", "device",
                  device, "n", (json_int_t)job->n, "eps", cli_json_real(job->eps), "precision",
                  nbody_precision_names[job->precision], "bodies_checked", (json_int_t)c->samples,
                  "error_limit", cli_json_real(c->rung[0].tolerance), "limit_interactions_per_s",
                  cli_json_real(c->limit > 0 ? c->limit : NAN), "kernels", rungs);
    const int status = cli_json_print(report);
    json_decref(report);
    return status;
}

static void report_text(const struct nbody_job *job, const struct comparison *c, const char *device)
{
    struct cli_text text;
    struct cli_table *table =
        cli_table_create("kernel|>time|>interactions/s|>speed-up|>of the limit|>rms error");
    printf("%-14s%s\n", "device", device);
    printf("%-14s%zu, from %s, %s precision, softening %g\n", "bodies", job->n,
           job->input ? job->input : nbody_model_names[job->model],
           nbody_precision_names[job->precision], job->eps);
    printf("%-14s%s\n", "limit",
           c->limit > 0 ? cli_text_rate(&text, c->limit, "interactions/s") : "not known");
    printf("%-14s%zu bodies against plain C; up to %.1e is rounding\n\n", "checked", c->samples,
           c->rung[0].tolerance);
    for (int k = 0; k < RUNGS; k++) {
        const struct rung *r = &c->rung[k];
        cli_table_add(table, "%s", name_of(k));
        cli_table_add(table, "%.3f ms", 1e3 * r->seconds);
        cli_table_add(table, "%s", k == TREE ? "-" : cli_text_rate(&text, rate_of(job, c, r), ""));
        cli_table_add(table, "%.1f", c->rung[0].seconds / r->seconds);
        if (isfinite(share_of(job, c, r)))
            cli_table_add(table, "%.2g %%", 100 * share_of(job, c, r));
        else
            cli_table_add(table, "-");
        cli_table_add(table, "%.1e%s", r->error, agrees(r) ? "" : " WRONG");
    }
    cli_table_print(table, stdout);
    cli_table_free(table);
}

static int report(const struct nbody_job *job, const struct comparison *c)
{
    char *device = cli_devices_name(job->context);
    int status = CLI_DONE;
    if (job->common.json)
        status = report_json(job, c, device);
    else if (!job->common.quiet)
        report_text(job, c, device);
    free(device);
    for (int k = 0; k < RUNGS; k++)
        if (!agrees(&c->rung[k]))
            status = cli_failed(
                "the kernel '%s' is wrong: its forces differ from plain C by %.2g, and "
                "%s explains up to %.2g",
                name_of(k), c->rung[k].error, k == TREE ? "the accuracy of the tree" : "rounding",
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
            "--compare: the kernels are compared on one device, and %u are chosen; pick one with "
            "--device",
            clgetndev(job->context));
    if (!job->n && !job->input && !(job->n = default_bodies(job)))
        return cli_failed_call(NULL);
    int status = nbody_job_bodies(job);
    if (status == CLI_DONE)
        status = cli_memory_for(job->n, 3 * sizeof(double), "forces");
    if (status == CLI_DONE)
        status = nbody_job_choose(job);
    if (status != CLI_DONE)
        return status;
    c.samples = job->n < SAMPLE ? job->n : SAMPLE;
    c.right = cli_alloc(c.samples, sizeof *c.right);
    c.found = cli_alloc(job->n, sizeof *c.found);
    status = climb_all(job, &c);
    if (status == CLI_DONE)
        status = report(job, &c);
    free(c.right);
    free(c.found);
    return status;
}
