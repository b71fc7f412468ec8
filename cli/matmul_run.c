/* matmul_run.c - one engine of `stdcl matmul`: timed, and its result checked.
 *
 * Matrices that fit stay on the devices, and the time is that of the product alone. Others travel
 * while the product is computed, and the time includes that. The host and CPU devices use the
 * host's arrays in place.
 * SPDX-License-Identifier: MIT
 */
#include "matmul_job.h"

#include "core/device_info.h"
#include "profile/profile.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const double ENOUGH = 0.5; /* seconds of timed runs, unless --repeat says otherwise */
static const double LONG = 5;     /* seconds of a run beside which those of a compiler are few */
enum { MOST_RUNS = 1000 };

/* One way to compute the product once. */
struct runner {
    struct matmul_job *job;
    matmul *mm;
    bool resident;
    struct cli_shares shares; /* of ranks */
    double began, work, busy; /* when, and what the engine had done when it was looked at */
    size_t products;          /* since then */
};

/* Whether the run at hand would take longer than it may, from when something was done: what comes
 * before, such as compiling, is not the product's time. */
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

/* Called by the engine: draws the progress, and stops the engine after Ctrl-C or when it takes too
 * long. */
static int tell(void *arg, double fraction)
{
    struct matmul_job *job = arg;
    const double runs =
        job->repeat ? 1 + (double)job->repeat : 2; /* a long product is timed once */
    cli_progress_update(&job->progress, 100 * fmin(((double)job->runs + fraction) / runs, 1), NULL);
    job->timed_out |= is_too_long(job, fraction);
    cli_window_listen(&job->window);
    return job->timed_out || cli_interrupted();
}

/* C as it was, when the product adds to it. */
static int reset(struct runner *r)
{
    struct matmul_job *job = r->job;
    if (job->beta == 0)
        return 0;
    memcpy(job->c, job->before, job->slab[2].rows * job->n * job->real);
    return r->resident ? matmul_load_result(r->mm, job->c, job->n) : 0;
}

/* The first time a kernel may be compiled in the middle: what seems to take too long then has a
 * second try. */
static int run_once(struct runner *r)
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
        if (!job->timed_out || cli_interrupted() || (tries > 1 && reset(r) != 0))
            break;
    }
    job->runs++;
    return status;
}

/* -1 after clerror_set. */
static int all_gpus(const struct matmul_job *job, bool *all)
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

/* Ranks go on or end by one clock, that of rank 0, and when any of them was interrupted. */
static int by_one_clock(double *seconds, bool *interrupted)
{
    *interrupted = cli_ranks_interrupted(false);
    return world_broadcast(cli_world, 0, seconds, sizeof *seconds);
}

/* ---- Shares of ranks. ------------------------------------------------------------------------ */

static void begin_shares(struct runner *r)
{
    r->began = seconds_now();
    cli_shares_begin(&r->shares, 0);
}

static int load(struct runner *r)
{
    const struct matmul_job *job = r->job;
    r->resident = matmul_load(r->mm, job->stored, job->m, job->n, job->k, job->a, job->lda, job->b,
                              job->ldb) == 0;
    return r->resident || clerrno == ENOMEM ? 0 : -1;
}

/* Between products, of which so many are to come: whether ranks are unlike fast. Results do not
 * change. */
static int look_at_shares(struct runner *r, size_t left)
{
    double work, weight, seconds = seconds_now() - r->began;
    const double looked = r->shares.seconds, busy = matmul_busy_time(r->mm, &work);
    const struct cli_work own = {work - r->work, busy - r->busy};
    if (world_size(cli_world) == 1)
        return 0;
    r->products++;
    if (cli_shares_look(&r->shares, own, seconds, (double)left / (double)r->products,
                        r->job->common.explain ? "multiply-adds" : NULL, &weight) != 0)
        return -1;
    if (r->shares.seconds == looked) /* not yet */
        return 0;
    r->products = 0;
    r->work = work;
    r->busy = busy;
    if (weight <= 0)
        return 0;
    r->work = r->busy = 0;
    return matmul_set_weight(r->mm, weight) == 0 && r->resident ? load(r) : 0;
}

/* ---- Time. ----------------------------------------------------------------------------------- */

/* The time of the shortest run. The first run of all, which builds kernels, is not among them. */
static int measure(struct runner *r, double *seconds)
{
    struct matmul_job *job = r->job;
    double spent = 0;
    *seconds = INFINITY;
    for (size_t run = 0; run < (job->repeat ? job->repeat : MOST_RUNS); run++) {
        if (look_at_shares(r, job->repeat ? job->repeat - run : 1) != 0 || reset(r) != 0)
            return -1;
        const double start = seconds_now();
        if (run_once(r) != 0)
            return -1;
        double took = seconds_now() - start;
        bool interrupted;
        if (by_one_clock(&took, &interrupted) != 0)
            return -1;
        *seconds = took < *seconds ? took : *seconds;
        spent += took;
        if (interrupted || (!job->repeat && spent >= seconds_timed(ENOUGH)))
            break;
    }
    return 0;
}

/* Seconds of kernels in the profile, of the device that had most of them. */
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

/* The kernels' time of one product, the longest of the devices'; 0 when the user asked for a
 * profile, since these runs must not be part of it. */
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
        status = reset(r) == 0 ? run_once(r) : -1;
        if (status != 0)
            break;
        const double took = longest_of_devices(cp);
        *seconds = run == 0 || took < *seconds ? took : *seconds;
    }
    clprofile_reset(cp);
    clprofile(cp, 0);
    return status;
}

static double peak_of(const struct matmul_job *job, enum matmul_kind kind)
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

/* Runs until kernels are built. PoCL builds one again when it is launched whole for the first time,
 * and not in pieces. */
static int warm_up(struct runner *r, struct matmul_outcome *o, bool *interrupted)
{
    for (int run = 0; run < 2; run++) {
        const double start = seconds_now();
        if (reset(r) != 0 || run_once(r) != 0)
            return -1;
        o->seconds = seconds_now() - start;
        if (by_one_clock(&o->seconds, interrupted) != 0)
            return -1;
        if (*interrupted || matmul_kind_is_host(o->kind) || o->seconds < ENOUGH / 5 ||
            o->seconds > LONG)
            break;
    }
    return 0;
}

/* Warm-up, then the timed runs. */
static int run_and_measure(struct runner *r, struct matmul_outcome *o)
{
    struct matmul_job *job = r->job;
    if (job->beta == 0)
        memset(job->c, 0xff,
               job->slab[2].rows * job->n *
                   job->real); /* NaN, which stays where an engine writes nothing */
    begin_shares(r);
    bool interrupted;
    if (warm_up(r, o, &interrupted) != 0)
        return -1;
    if (interrupted || (matmul_kind_is_host(o->kind) && o->seconds > ENOUGH && !job->repeat))
        return 0;
    if (measure(r, &o->seconds) != 0)
        return -1;
    if (world_size(cli_world) == 1 && !matmul_kind_is_host(o->kind) && o->kind != MATMUL_CLBLAST &&
        o->seconds < 5)
        return measure_devices(r, &o->device_seconds);
    return 0;
}

/* What is checked is what is written: the C of the last run. */
static int run_and_check(struct runner *r, struct matmul_outcome *o)
{
    struct matmul_job *job = r->job;
    if (run_and_measure(r, o) != 0 || (r->resident && matmul_result(r->mm, job->c, job->n) != 0))
        return -1;
    if (world_size(cli_world) > 1)
        return matmul_job_error(job, &o->error);
    o->error = matmul_error((enum matmul_precision)job->precision, job->stored, job->m, job->n,
                            job->k, job->alpha, job->a, job->lda, job->b, job->ldb, job->beta,
                            job->before, job->c, job->n, 0);
    return 0;
}

/* Matrices that fit stay on GPUs; ranks load them together or not at all. */
static int place(struct runner *r, struct matmul_outcome *o)
{
    struct matmul_job *job = r->job;
    bool resident = false;
    int status =
        world_reduce_status(cli_world, matmul_kind_is_host(o->kind) ? 0 : all_gpus(job, &resident));
    uint64_t unlike = !resident;
    if (status == 0)
        status = world_add(cli_world, &unlike, 1);
    resident = unlike == 0 && (world_size(cli_world) == 1 || job->memory == 0);
    o->streamed = world_size(cli_world) > 1;
    if (status == 0 && resident) {
        status = load(r);
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
                                           .progress = tell,
                                           .arg = job,
                                           .world = cli_world};
    struct runner r = {.job = job, .mm = matmul_create(&options)};
    int status = world_reduce_status(cli_world, r.mm ? 0 : -1);
    if (status == 0 && !job->out_of_core)
        status = place(&r, o);
    for (cl_uint d = 0; status == 0 && o->kind == MATMUL_TUNED && d < clgetndev(job->context); d++)
        cli_explain(&job->common, job->context, d, matmul_explain(r.mm, d, job->m, job->n, job->k),
                    matmul_shape(r.mm, d, job->m, job->n, job->k));
    if (status == 0)
        status = job->out_of_core ? matmul_disk_run(job, r.mm, o) : run_and_check(&r, o);
    if (status != 0) {
        const int code = clerrno, ocl = oclerrno;
        o->ended = code == ECANCELED || cli_interrupt_broke_build();
        const char *missing = matmul_kind_missing(o->kind);
        snprintf(o->why, sizeof o->why, "%s", missing ? missing : cli_reason());
        if (job->timed_out)
            snprintf(o->why, sizeof o->why, "would take more than %g s; --all runs it", job->limit);
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
    cli_progress_start(&job->progress, "%", 100, job->common.quiet);
    const int status = run_kind(job, &o);
    cli_progress_end(&job->progress);
    if (status == 0 && o.seconds > 0) {
        const bool told = job->common.json || !job->common.quiet; /* measuring it takes a moment */
        const double peak = told ? peak_of(job, kind) : 0;
        o.gflops = 2e-9 * (double)job->m * (double)job->n * (double)job->k / o.seconds;
        const double percent = peak > 0 ? 1e11 * o.gflops / peak : NAN;
        o.peak_percent =
            percent <= 100 ? percent : NAN; /* the device was busy while its peak was measured */
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
            "engine '%s' gives a wrong result: its error is %.2g, and rounding explains %.2g",
            matmul_kind_name(kind), o.error, most);
    return CLI_DONE;
}
