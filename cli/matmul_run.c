/* matmul_run.c - run one engine of `stdcl matmul`: timed, and its result checked.
 *
 * Matrices that fit stay on the devices, and the time is that of the product alone. Larger ones
 * are streamed during the product, and the time includes the transfers. The host and CPU devices
 * use the host's arrays in place.
 * SPDX-License-Identifier: MIT
 */
#include "balance.h"
#include "command.h"
#include "common.h"
#include "interrupt.h"
#include "alloc.h"
#include "message.h"
#include "progress.h"
#include "ranks.h"
#include "matmul_job.h"

#include "core/clock.h"
#include "core/device_info.h"
#include "profile/profile.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double ENOUGH = 0.5; /* seconds of timed runs, unless --repeat is given */
static const double LONG = 5;     /* runs longer than this dwarf compile times */
enum { MOST_RUNS = 1000 };

/* An engine and its matrices. */
struct runner {
    struct matmul_job *job;
    matmul *mm;
    bool resident;
    struct cli_balance shares; /* load balancing between ranks */
    double began, work, busy;  /* start; work and busy time at the last check */
    size_t products;           /* products since then */
};

/* True if the current run would exceed the time limit, measured from its first progress: compile
 * time before it does not count. Runs of less than half a second are judged when they are done. */
static bool is_too_long(struct matmul_job *job, double fraction)
{
    const double now = seconds_now();
    if (job->begun < 0 || fraction < job->begun || (job->begun <= 0 && fraction > 0)) {
        job->begun = fraction;
        job->begun_at = now;
    }
    const double elapsed = now - job->begun_at, done = fraction - job->begun,
                 part = done > 0 ? done / (1 - job->begun) : 1;
    return job->limit > 0 && elapsed > 0.5 && elapsed > job->limit * part;
}

/* Callback of the engine: draw the progress, and cancel after Ctrl-C or at the time limit. */
static int matmul_progress(void *arg, double fraction)
{
    struct matmul_job *job = arg;
    const double runs =
        job->repeat ? 1 + (double)job->repeat : 2; /* a long product is timed once */
    cli_progress_update(&job->progress, 100 * fmin(((double)job->runs + fraction) / runs, 1), NULL);
    job->timed_out |= is_too_long(job, fraction);
    cli_window_listen(&job->window);
    return job->timed_out || cli_interrupted();
}

/* Restore the input C, if the product adds to it. */
static int restore_c(struct runner *r)
{
    struct matmul_job *job = r->job;
    if (job->beta == 0)
        return 0;
    memcpy(job->c, job->before, job->slab[2].rows * job->n * job->real);
    return r->resident ? matmul_load_result(r->mm, job->c, job->n) : 0;
}

/* Compute the product once. A kernel may be compiled during the first run, so a first run that
 * seems too long is tried twice. */
static int multiply_once(struct runner *r)
{
    struct matmul_job *job = r->job;
    int status = -1;
    for (int tries = job->runs == 0 && world_size(cli_world) == 1 ? 2 : 1; tries > 0; tries--) {
        job->begun = -1;
        job->timed_out = false;
        status = r->resident ? matmul_compute(r->mm, job->alpha, job->beta)
                             : matmul_multiply(r->mm, job->stored, job->m, job->n, job->k,
                                               job->alpha, job->a, job->lda, job->b, job->ldb,
                                               job->beta, job->c, job->n);
        if (!job->timed_out || cli_interrupted() || (tries > 1 && restore_c(r) != 0))
            break;
    }
    job->runs += status == 0;
    return status;
}

/* True in *all if all devices are GPUs. -1 after clerror_set. */
static int are_all_gpus(const struct matmul_job *job, bool *all)
{
    *all = clgetndev(job->context) > 0;
    for (cl_uint d = 0; d < clgetndev(job->context); d++) {
        cl_device_type type = 0;
        if (device_ask(job->context, d, CL_DEVICE_TYPE, sizeof type, &type, "matmul") != 0)
            return -1;
        *all = *all && !(type & CL_DEVICE_TYPE_CPU);
    }
    return 0;
}

/* Ranks stop together: by rank 0's clock, and if any rank was interrupted. */
static int agree_on_time(double *seconds, bool *interrupted)
{
    *interrupted = cli_ranks_interrupted(false);
    return world_broadcast(cli_world, 0, seconds, sizeof *seconds);
}

/* ---- Load balancing. ----------------------------------------------------------------------- */

static void begin_balance(struct runner *r)
{
    r->began = seconds_now();
    cli_balance_begin(&r->shares, 0);
}

static int load_operands(struct runner *r)
{
    const struct matmul_job *job = r->job;
    r->resident = matmul_load(r->mm, job->stored, job->m, job->n, job->k, job->a, job->lda, job->b,
                              job->ldb) == 0;
    return r->resident || clerrno == ENOMEM ? 0 : -1;
}

/* Between products, `left` to come: rebalance the ranks. Results do not change. */
static int rebalance(struct runner *r, size_t left)
{
    double work, weight, seconds = seconds_now() - r->began;
    const double looked = r->shares.seconds, busy = matmul_busy_time(r->mm, &work);
    const struct cli_work own = {work - r->work, busy - r->busy};
    if (world_size(cli_world) == 1)
        return 0;
    r->products++;
    if (cli_balance_update(&r->shares, own, seconds, (double)left / (double)r->products,
                           r->job->common.explain ? "multiply-adds" : NULL, &weight) != 0)
        return -1;
    if (r->shares.seconds == looked) /* no check was due */
        return 0;
    r->products = 0;
    r->work = work;
    r->busy = busy;
    if (weight <= 0)
        return 0;
    r->work = r->busy = 0;
    return matmul_set_weight(r->mm, weight) == 0 && r->resident ? load_operands(r) : 0;
}

/* ---- Time. ----------------------------------------------------------------------------------- */

/* Time of the shortest run, without the very first, which builds kernels. */
static int find_shortest_run(struct runner *r, double *seconds)
{
    struct matmul_job *job = r->job;
    double spent = 0;
    *seconds = INFINITY;
    for (size_t run = 0; run < (job->repeat ? job->repeat : MOST_RUNS); run++) {
        if (rebalance(r, job->repeat ? job->repeat - run : 1) != 0 || restore_c(r) != 0)
            return -1;
        const double start = seconds_now();
        if (multiply_once(r) != 0)
            return -1;
        double took = seconds_now() - start;
        bool interrupted;
        if (agree_on_time(&took, &interrupted) != 0)
            return -1;
        *seconds = took < *seconds ? took : *seconds;
        spent += took;
        if (interrupted || (!job->repeat && spent >= seconds_timed(ENOUGH)))
            break;
    }
    return 0;
}

/* Kernel seconds in the profile, of the device with most. */
static double longest_of_devices(CLCONTEXT *cp)
{
    struct clprofile_row rows[64];
    double sum[64] = {0}, longest = 0;
    const size_t count = clprofile_rows(cp, rows, 64);
    for (size_t i = 0; i < count && i < 64; i++)
        if (rows[i].kind == CL_KERNEL_EVENT && rows[i].device < 64)
            sum[rows[i].device] += rows[i].total;
    for (int d = 0; d < 64; d++)
        longest = sum[d] > longest ? sum[d] : longest;
    return longest;
}

/* Kernel time of one product on the slowest device; 0 with a user's profile, which must not
 * contain these runs. */
static int measure_devices(struct runner *r, double *seconds)
{
    CLCONTEXT *cp = r->job->context;
    const size_t most = r->job->repeat ? r->job->repeat : MOST_RUNS;
    int status = 0;
    *seconds = 0;
    if (!cp || r->job->common.profile.wanted || r->job->common.trace || profile_wanted() ||
        clprofile(cp, CLPROF_EVERY) != 0)
        return 0;
    const double start = seconds_now();
    for (size_t run = 0; run < most && !cli_interrupted() &&
                         (run == 0 || seconds_now() - start < seconds_timed(ENOUGH / 2));
         run++) {
        clprofile_reset(cp);
        status = restore_c(r) == 0 ? multiply_once(r) : -1;
        if (status != 0)
            break;
        const double took = longest_of_devices(cp);
        *seconds = run == 0 || took < *seconds ? took : *seconds;
    }
    clprofile_reset(cp);
    clprofile(cp, 0);
    return status;
}

static double peak_rate(const struct matmul_job *job, enum matmul_kind kind)
{
    double sum = 0;
    CLCONTEXT *cp = matmul_kind_is_host(kind) ? stdcpu : job->context;
    for (cl_uint d = 0; d < clgetndev(cp) && (d == 0 || !matmul_kind_is_host(kind)); d++)
        sum += matmul_peak(cp, d, (enum matmul_precision)job->precision);
    double *all = cli_alloc((size_t)world_size(cli_world), sizeof *all);
    if (world_gather(cli_world, &sum, sizeof sum, all) != 0)
        all[0] = 0;
    sum = 0;
    for (int r = 0; r < world_size(cli_world); r++)
        sum += all[r];
    free(all);
    return sum;
}

/* Run until all kernels are built. PoCL rebuilds a kernel at its first launch over the full
 * range. */
static int warm_up(struct runner *r, struct matmul_outcome *o, bool *interrupted)
{
    for (int run = 0; run < 2; run++) {
        const double start = seconds_now();
        if (restore_c(r) != 0 || multiply_once(r) != 0)
            return -1;
        o->seconds = seconds_now() - start;
        if (agree_on_time(&o->seconds, interrupted) != 0)
            return -1;
        if (*interrupted || matmul_kind_is_host(o->kind) || o->seconds < ENOUGH / 5 ||
            o->seconds > LONG)
            break;
    }
    return 0;
}

/* Warm up, then time the runs. */
static int run_and_measure(struct runner *r, struct matmul_outcome *o)
{
    struct matmul_job *job = r->job;
    if (job->beta == 0)
        memset(job->c, 0xff,
               job->slab[2].rows * job->n *
                   job->real); /* NaN remains where an engine writes nothing */
    begin_balance(r);
    bool interrupted;
    if (warm_up(r, o, &interrupted) != 0)
        return -1;
    if (interrupted || (matmul_kind_is_host(o->kind) && o->seconds > ENOUGH && !job->repeat))
        return 0;
    if (find_shortest_run(r, &o->seconds) != 0)
        return -1;
    if (world_size(cli_world) == 1 && !matmul_kind_is_host(o->kind) && o->kind != MATMUL_CLBLAST &&
        o->seconds < 5)
        return measure_devices(r, &o->device_seconds);
    return 0;
}

/* Run and check the output C of the last run. */
static int run_and_check(struct runner *r, struct matmul_outcome *o)
{
    struct matmul_job *job = r->job;
    if (run_and_measure(r, o) != 0)
        return -1;
    job->timed_out = job->limit > 0 && o->seconds > job->limit;
    if (job->timed_out)
        return clerror_set(ECANCELED, "the product takes %g s", o->seconds);
    if (r->resident && matmul_result(r->mm, job->c, job->n) != 0)
        return -1;
    if (world_size(cli_world) > 1)
        return matmul_job_error(job, &o->error);
    o->error = matmul_error((enum matmul_precision)job->precision, job->stored, job->m, job->n,
                            job->k, job->alpha, job->a, job->lda, job->b, job->ldb, job->beta,
                            job->before, job->c, job->n, 0);
    return 0;
}

/* Keep matrices that fit on GPUs; all ranks load them, or none. */
static int place_operands(struct runner *r, struct matmul_outcome *o)
{
    struct matmul_job *job = r->job;
    bool resident = false;
    int status = world_reduce_status(
        cli_world, matmul_kind_is_host(o->kind) ? 0 : are_all_gpus(job, &resident));
    uint64_t unlike = !resident;
    if (status == 0)
        status = world_add(cli_world, &unlike, 1);
    resident = unlike == 0 && (world_size(cli_world) == 1 || job->memory == 0);
    o->streamed = world_size(cli_world) > 1;
    if (status == 0 && resident) {
        status = load_operands(r);
        o->streamed = !r->resident;
    }
    o->streamed |= job->memory > 0 && !matmul_kind_is_host(o->kind);
    return status;
}

static int run_kind(struct matmul_job *job, struct matmul_outcome *o)
{
    const struct matmul_options options = {.ctx = job->context,
                                           .kind = o->kind,
                                           .precision = (enum matmul_precision)job->precision,
                                           .block = o->block,
                                           .shape = job->shape,
                                           .memory = job->memory,
                                           .progress = matmul_progress,
                                           .arg = job,
                                           .world = cli_world};
    struct runner r = {.job = job, .mm = matmul_create(&options)};
    int status = world_reduce_status(cli_world, r.mm ? 0 : -1);
    if (status == 0 && !job->out_of_core)
        status = place_operands(&r, o);
    for (cl_uint d = 0; status == 0 && o->kind == MATMUL_TUNED && d < clgetndev(job->context); d++)
        cli_explain(&job->common, job->context, d, matmul_explain(r.mm, d, job->m, job->n, job->k),
                    matmul_shape(r.mm, d, job->m, job->n, job->k));
    if (status == 0)
        status = job->out_of_core ? matmul_out_of_core_run(job, r.mm, o) : run_and_check(&r, o);
    if (status != 0) {
        const int code = clerrno, ocl = oclerrno;
        o->ended = code == ECANCELED || cli_interrupt_broke_build();
        const char *missing = matmul_kind_missing(o->kind);
        snprintf(o->why, sizeof o->why, "%s", missing ? missing : cli_reason());
        if (job->timed_out)
            snprintf(o->why, sizeof o->why, "would take more than %g s; use --all to run it",
                     job->limit);
        o->wrong = code == EINVAL && ocl == CL_SUCCESS && !missing && !job->timed_out;
        o->failed = !missing && !job->timed_out && !o->wrong && code != ENOTSUP;
    }
    matmul_free(r.mm);
    return status;
}

int matmul_job_run(struct matmul_job *job, enum matmul_kind kind, size_t block)
{
    struct matmul_outcome o = {
        .kind = kind, .block = block, .error = NAN, .gflops = NAN, .peak_percent = NAN};
    job->timed_out = false;
    job->runs = 0;
    matmul_job_prepare_report(job);
    cli_progress_start(&job->progress, "%", 100, job->common.quiet);
    const int status = run_kind(job, &o);
    cli_progress_end(&job->progress);
    if (status == 0 && o.seconds > 0) {
        const bool told =
            job->common.json || !job->common.quiet; /* measuring the peak takes time */
        cli_progress_start(&job->progress, "%", 0, job->common.quiet); /* kernels are compiled */
        const double peak = told ? peak_rate(job, kind) : 0;
        cli_progress_end(&job->progress);
        o.gflops = 2e-9 * (double)job->m * (double)job->n * (double)job->k / o.seconds;
        const double percent = peak > 0 ? 1e11 * o.gflops / peak : NAN;
        o.peak_percent =
            percent <= 100 ? percent : NAN; /* above 100 %: busy while the peak was measured */
    }
    job->interrupted |= cli_ranks_interrupted(status != 0 && !o.ended);
    if (status != 0 && !job->interrupted && !job->compare && !job->sweep)
        return matmul_kind_missing(kind) ? cli_failed("no engine '%s': %s", matmul_kind_name(kind),
                                                      matmul_kind_missing(kind))
               : o.wrong                 ? cli_wrong("%s", o.why)
                                         : cli_failed("%s", o.why);
    if (o.failed && !job->interrupted) {
        job->failed = true;
        cli_failed("engine '%s': %s", matmul_kind_name(kind), o.why);
    }
    if (!(status != 0 && job->interrupted)) {
        job->outcome = cli_realloc(job->outcome, job->outcomes + 1, sizeof *job->outcome);
        job->outcome[job->outcomes++] = o;
    }
    const int random = !job->file_a && !job->file_b && !job->file_c;
    const double most = matmul_tolerance((enum matmul_precision)job->precision, job->k, random);
    if (status == 0 && !(o.error <= most))
        return cli_failed(
            "engine '%s' gives a wrong result: its error is %.2g, but rounding explains at most %.2g",
            matmul_kind_name(kind), o.error, most);
    return CLI_DONE;
}
