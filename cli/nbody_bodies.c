/* nbody_bodies.c - the bodies of `stdcl nbody`, and the default softening, time step and
 * precision.
 *
 * A model has its own softening, step and end time. For a file they are estimated: for many
 * bodies from the mean distance and speed, for few from the fastest pair.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "alloc.h"
#include "files.h"
#include "message.h"
#include "progress.h"
#include "ranks.h"
#include "nbody_bodies.h"
#include "nbody_camera.h"
#include "nbody_options.h"
#include "nbody_checkpoint.h"
#include "nbody_output.h"
#include "nbody_run.h"

#include "core/device_info.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* ---- Made or read. --------------------------------------------------------------------------- */

struct recipe {
    size_t n;
    double eps;
    /* without and with force derivatives: a predictor needs shorter steps in close encounters */
    double dt[2];
    double until;
    enum nbody_precision precision; /* NBODY_MIXED: by usual_precision */
    bool dark;                      /* the heaviest bodies are dark matter, hidden in pictures */
};

/* Units as in stdcl/nbody.h. The galaxies run until bridge and tails have formed, in 1,000
 * steps; the figure eight for one period; the Pythagorean problem past its second close
 * encounter. */
static const struct recipe recipes[] = {
    [NBODY_PLUMMER] = {16384, 0.02, {1. / 256, 1. / 256}, 2, NBODY_MIXED, false},
    [NBODY_UNIFORM] = {16384, 0.02, {1. / 256, 1. / 256}, 2, NBODY_MIXED, false},
    [NBODY_COLD] = {16384, 0.05, {1. / 256, 1. / 256}, 2, NBODY_MIXED, false},
    [NBODY_COLLISION] = {16384, 0.05, {0.025, 0.025}, 20, NBODY_MIXED, true},
    [NBODY_FIGURE8] = {3, 0, {1e-3, 1e-3}, 6.32591398, NBODY_DOUBLE, false},
    [NBODY_PYTHAGOREAN] = {3, 0, {1e-4, 2e-5}, 10, NBODY_DOUBLE, false},
    [NBODY_HERNQUIST] = {16384, 0.02, {1. / 256, 1. / 256}, 2, NBODY_MIXED, false},
    [NBODY_GALAXY] = {16384, 0.05, {0.025, 0.025}, 10, NBODY_MIXED, true},
};

/* Show a line on the terminal; cli_progress_end erases it. */
static void show_message(struct cli_progress *progress, const struct nbody_job *job,
                         const char *what)
{
    cli_progress_start(progress, "bodies", 0, job->common.quiet);
    if (progress->visible)
        cli_line_draw(what);
}

/* True if an option needs all bodies on one host. */
static bool needs_whole_bodies(const struct nbody_job *job)
{
    return job->check || job->check_step || job->direct_energies || job->collide ||
           job->event_rules.n || job->stop_rules.n || job->stop_distance > 0 || job->structure ||
           job->elements || job->forces || job->plots.n || job->figures.n || job->window.wanted ||
           job->window.record || *job->fields.forces || job->megno || !isnan(job->heaviest);
}

/* True if each rank may hold a slice of the bodies. Rank 0 looks at the files. */
static bool may_divide_bodies(const struct nbody_job *job)
{
    bool may = world_size(cli_world) > 1 && !needs_whole_bodies(job);
    for (size_t i = 0; i < job->outputs.n && may; i++) {
        const struct cli_output *o = &job->outputs.item[i];
        may = o->kind == CLI_OUTPUT_SERIES || o->kind == CLI_OUTPUT_TABLE ||
              (o->kind == CLI_OUTPUT_STATE && cli_output_is_regular(o->file));
    }
    return world_broadcast(cli_world, 0, &may, sizeof may) == 0 && may;
}

static int generate_bodies(struct nbody_job *job)
{
    struct cli_progress progress;
    char what[64];
    struct particles *b = &job->bodies;
    const size_t n = job->n ? job->n : recipes[job->model].n;
    if (isnan(job->eps))
        job->eps = recipes[job->model].eps;
    const bool divided = n >= (size_t)world_size(cli_world) && may_divide_bodies(job) &&
                         job->eps > 0 && !nbody_model_bodies((enum nbody_model)job->model);
    *b = (struct particles){.n = n};
    if (divided)
        particles_set_part(b, n, (size_t)world_rank(cli_world), (size_t)world_size(cli_world));
    const int status = cli_memory_for_ranks(cli_ranks_here(), b->n, 7 * sizeof(double), "bodies");
    if (status != CLI_DONE)
        return status;
    b->mass = malloc(b->n * sizeof *b->mass);
    b->pos = malloc(b->n * sizeof *b->pos);
    b->vel = malloc(b->n * sizeof *b->vel);
    if (!b->mass || !b->pos || !b->vel)
        return cli_failed("out of memory for %zu bodies of %zu bytes", b->n, 7 * sizeof(double));
    snprintf(what, sizeof what, "generating %zu bodies", n);
    show_message(&progress, job, what);
    const int made = nbody_initial_slice(divided ? cli_world : NULL, (enum nbody_model)job->model,
                                         n, job->seed, b->first, b->n, b->mass, b->pos, b->vel);
    cli_progress_end(&progress);
    return made < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

/* True if neither the command line nor the file has a softening above 0 and a step, which are
 * estimated from all bodies, or if the file's run had forces. */
static bool file_needs_whole_bodies(const struct nbody_job *job)
{
    const struct particles *b = &job->bodies;
    const double eps = isnan(job->eps) ? particles_number(b, NOTE_softening) : job->eps,
                 dt = isnan(job->dt) ? particles_number(b, NOTE_step) : job->dt;
    return !(eps > 0) || isnan(dt) || b->note[NOTE_external];
}

/* Read this rank's slice of a file. 1: all ranks need all of it; -1 with an error. */
static int read_slice(struct nbody_job *job)
{
    enum { BITS = 5, WHOLE = BITS };
    struct particles *b = &job->bodies;
    const int read = particles_read_part(job->input, (size_t)world_rank(cli_world),
                                         (size_t)world_size(cli_world), b);
    uint64_t ranks[BITS + 1]; /* ranks with a bit of particles_found; with need of all bodies */
    ranks[WHOLE] = read < 0 ? clerrno == ENOTSUP : file_needs_whole_bodies(job);
    const int own = read == 0 ? particles_found(b) : 0;
    for (int k = 0; k < BITS; k++)
        ranks[k] = own >> k & 1;
    if (world_add(cli_world, ranks, BITS + 1) != 0)
        return -1;
    if (ranks[WHOLE])
        return 1;
    if (world_reduce_status(cli_world, read) != 0)
        return -1;
    int found = 0;
    for (int k = 0; k < BITS; k++)
        found |= ranks[k] ? 1 << k : 0;
    return world_reduce_status(cli_world, particles_finish(b, found));
}

static int read_bodies(struct nbody_job *job)
{
    const int read = may_divide_bodies(job) ? read_slice(job) : 1;
    if (read <= 0)
        return read;
    particles_free(&job->bodies);
    return particles_read(job->input, &job->bodies);
}

static int read_input_bodies(struct nbody_job *job)
{
    struct cli_progress progress;
    show_message(&progress, job, "reading the bodies");
    const int read = read_bodies(job);
    cli_progress_end(&progress);
    job->precision_noted = job->precision == NOT_GIVEN;
    return read < 0 ? cli_failed_call(NULL) : nbody_metadata_take(job);
}

/* Return freed arrays to the system: by default glibc keeps up to 64 MiB of them, on each rank. */
static void return_freed_arrays(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

int nbody_job_bodies(struct nbody_job *job)
{
    int status = CLI_DONE;
    if (world_size(cli_world) > 1)
        return_freed_arrays();
    if (job->resumed)
        status = nbody_resume_bodies(job, job->n >= (size_t)world_size(cli_world) && job->eps > 0 &&
                                              may_divide_bodies(job));
    else if (!job->input)
        status = generate_bodies(job);
    else
        status = read_input_bodies(job);
    job->n = particles_all(&job->bodies);
    job->n_start = job->resumed ? job->n_start : job->n;
    job->time_start = job->bodies.time;
    return status;
}

/* ---- Estimated for a file. ------------------------------------------------------------------- */

enum { VERY_FEW = 16, LEAST_STEPS = 1000 }; /* see one_rank_uses_ias15 */
enum { FEW = 512 };                         /* up to this number bodies are examined pair by pair */

/* Mass and scales of many bodies, about their centre of mass. */
struct extent {
    double mass, speed; /* total; root mean square */
    /* radius of half of the bodies; resolves a galaxy even if its dark halo consists of few
     * heavy bodies */
    double radius;
};

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static struct extent measure_extent(const struct particles *b)
{
    double *radius = cli_alloc(b->n, sizeof *radius);
    double mass = 0, x[3] = {0}, v[3] = {0}, vv = 0;
    for (size_t i = 0; i < b->n; i++) {
        mass += b->mass[i];
        for (int k = 0; k < 3; k++) {
            x[k] += b->mass[i] * b->pos[i][k];
            v[k] += b->mass[i] * b->vel[i][k];
        }
    }
    for (size_t i = 0; i < b->n && mass > 0; i++) {
        double rr = 0;
        for (int k = 0; k < 3; k++) {
            const double dx = b->pos[i][k] - x[k] / mass, dv = b->vel[i][k] - v[k] / mass;
            rr += dx * dx;
            vv += b->mass[i] / mass * dv * dv;
        }
        radius[i] = sqrt(rr);
    }
    qsort(radius, b->n, sizeof *radius, compare_doubles);
    const struct extent extent = {mass, sqrt(vv), radius[b->n / 2]};
    free(radius);
    return extent;
}

/* Half the mean distance between neighbours in the inner half, where the errors of softening and
 * of discreteness about balance (Merritt 1996, AJ 111, 2462). */
static double estimate_eps(const struct particles *b)
{
    return b->n <= FEW ? 0 : measure_extent(b).radius / cbrt((double)b->n);
}

/* 1/50 of the shortest free-fall or passage time of a pair. */
static double estimate_dt_few(const struct particles *b, double G, double eps)
{
    double shortest = INFINITY;
    for (size_t i = 0; i < b->n; i++)
        for (size_t j = 0; j < i; j++) {
            double rr = eps * eps, vv = 0;
            for (int k = 0; k < 3; k++) {
                rr += (b->pos[i][k] - b->pos[j][k]) * (b->pos[i][k] - b->pos[j][k]);
                vv += (b->vel[i][k] - b->vel[j][k]) * (b->vel[i][k] - b->vel[j][k]);
            }
            const double fall = sqrt(rr * sqrt(rr) / (G * (b->mass[i] + b->mass[j])));
            const double pass = sqrt(rr / vv);
            if (rr > 0)
                shortest = fmin(shortest, fmin(fall, pass));
        }
    return shortest / 50;
}

/* 1/20 of the shortest passage of a pericentre, 2 pi over the angular speed there (Wisdom 2015, AJ
 * 150, 127), or for trace, which leaves pericentres to ias15, of the shortest period. INFINITY
 * without an orbit about the first body. */
static double estimate_dt_planets(const struct nbody_job *job)
{
    const struct particles *b = &job->bodies;
    double shortest = INFINITY;
    for (size_t i = 1; i < b->n; i++) {
        double x[3], v[3];
        for (int k = 0; k < 3; k++) {
            x[k] = b->pos[i][k] - b->pos[0][k];
            v[k] = b->vel[i][k] - b->vel[0][k];
        }
        const double gm = job->G * (b->mass[0] + b->mass[i]),
                     l[3] = {x[1] * v[2] - x[2] * v[1], x[2] * v[0] - x[0] * v[2],
                             x[0] * v[1] - x[1] * v[0]};
        const struct nbody_elements o = nbody_find_elements(gm, x, v);
        const double rim = 1 + o.eccentricity,
                     near = (l[0] * l[0] + l[1] * l[1] + l[2] * l[2]) / (gm * rim),
                     passage = 2 * acos(-1) * sqrt(near * near * near / (gm * rim)),
                     time = job->integrator == NBODY_TRACE ? o.period : passage;
        if (time > 0)
            shortest = fmin(shortest, time);
    }
    return shortest / 20;
}

/* 1/10 of the time in which a body crosses the softening length, at most 1/50 of the dynamical
 * time, which limits bodies at rest. */
static double estimate_dt_many(const struct particles *b, double G, double eps)
{
    const struct extent e = measure_extent(b);
    const double own = e.radius * sqrt(e.radius / (G * e.mass)) / 50;
    return eps > 0 ? fmin(own, eps / e.speed / 10) : own;
}

/* Maximum of chosen steps, where a fixed step would be dt. */
static double maximum_step(const struct nbody_job *job, double dt)
{
    return nbody_job_chooses_steps(job) ? 32 * dt : dt;
}

/* Smallest nonzero softening. */
static double least_softening(const struct particles *b)
{
    double least = INFINITY;
    for (size_t i = 0; i < b->n; i++)
        least = b->softening[i] > 0 ? fmin(least, b->softening[i]) : least;
    return least;
}

/* Round to two digits, which are easy to repeat on a command line. */
static double round_to_2_digits(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.1e", value);
    return isfinite(value) && value > 0 ? strtod(text, NULL) : value;
}

static void estimate_eps_and_dt(struct nbody_job *job)
{
    const struct particles *b = &job->bodies;
    if (isnan(job->eps))
        job->eps = round_to_2_digits(estimate_eps(b));
    const double eps = job->own_eps ? least_softening(b) : job->eps;
    const bool planets = job->integrator == NBODY_WHFAST || job->integrator == NBODY_TRACE;
    const double passage = planets ? estimate_dt_planets(job) : INFINITY;
    if (isnan(job->dt) && isfinite(passage))
        job->dt = round_to_2_digits(passage);
    if (isnan(job->dt))
        job->dt = round_to_2_digits(maximum_step(
            job, b->n <= FEW ? estimate_dt_few(b, job->G, eps) : estimate_dt_many(b, job->G, eps)));
    if (!(isfinite(job->dt) && job->dt != 0))
        job->dt = 1; /* nothing moves: one body, or all coincide */
}

/* ---- The plan. ------------------------------------------------------------------------------- */

static int all_have_doubles(CLCONTEXT *context, bool *all)
{
    *all = true;
    for (cl_uint i = 0; i < clgetndev(context); i++) {
        cl_uint width = 0;
        if (device_ask(context, i, CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, sizeof width, &width,
                       "nbody") != 0)
            return cli_failed_call(NULL);
        *all = *all && width > 0;
    }
    return CLI_DONE;
}

/* True if one rank may compute the steps of few bodies on the host: no option concerns devices. */
static bool one_rank_may_use_host(const struct nbody_job *job)
{
    return job->n <= NBODY_FEW && !job->given.device && job->method != NBODY_TREE &&
           job->kernel == NBODY_TUNED && job->stepping != NBODY_BLOCK && !job->compare;
}

static bool may_use_host(const struct nbody_job *job)
{
    return one_rank_may_use_host(job) && world_size(cli_world) == 1;
}

/* True if the engine needs devices: for its steps, a force from a file or a check of forces, or
 * because an option concerns them. */
bool nbody_job_needs_devices(const struct nbody_job *job)
{
    const bool only_host = job->integrator == NBODY_IAS15 || job->integrator == NBODY_WHFAST ||
                           job->integrator == NBODY_TRACE,
               doubles = job->precision == NOT_GIVEN || job->precision == NBODY_DOUBLE ||
                         (job->precision == NBODY_MIXED && job->precision_noted),
               host = job->resumed ? nbody_resume_uses_host(job)
                                   : only_host || (may_use_host(job) && doubles);
    return !host || job->given.device || job->check || job->common.profile.wanted ||
           job->common.trace || world_size(cli_world) > 1 || strstr(job->fields.forces, ".cl");
}

/* Default precision. Mixed precision supports only accelerations by the tuned kernel with one
 * softening. Double: integrators with force derivatives, for precise orbits; steps on the host;
 * and chosen steps, whose criterion divides rounding errors of positions by powers of a short step.
 * Single: the tree and the simple kernels. */
static enum nbody_precision usual_precision(const struct nbody_job *job,
                                            enum nbody_precision wanted)
{
    const bool precise =
        job->stepping != NBODY_FIXED || job->integrator == NBODY_IAS15 ||
        job->integrator == NBODY_WHFAST || job->integrator == NBODY_TRACE ||
        nbody_integrator_describe((enum nbody_integrator)job->integrator)->derivatives > 0;
    const bool tree = job->method == NBODY_TREE ||
                      (job->stepping == NBODY_BLOCK && job->integrator == NBODY_LEAPFROG);
    if (wanted == NBODY_DOUBLE || (precise && !tree) || may_use_host(job))
        return NBODY_DOUBLE;
    return !tree && job->kernel == NBODY_TUNED && !job->own_eps && !job->compare ? NBODY_MIXED
                                                                                 : NBODY_SINGLE;
}

static int choose_precision(struct nbody_job *job, enum nbody_precision wanted)
{
    bool doubles = true;
    if (job->precision != NOT_GIVEN)
        return CLI_DONE;
    wanted = usual_precision(job, wanted);
    if (wanted != NBODY_SINGLE && all_have_doubles(job->context, &doubles) != CLI_DONE)
        return CLI_FAILED;
    job->precision = doubles ? (int)wanted : NBODY_SINGLE;
    job->if_direct = job->method == NBODY_AUTO && job->precision == NBODY_MIXED;
    return CLI_DONE;
}

static int use_recipe(struct nbody_job *job)
{
    const struct recipe *r = &recipes[job->model];
    if (isnan(job->dt))
        job->dt = maximum_step(
            job,
            r->dt[nbody_integrator_describe((enum nbody_integrator)job->integrator)->derivatives >
                  0]);
    if (isnan(job->until) && job->steps == SIZE_MAX)
        job->until = copysign(r->until, job->dt);
    return choose_precision(job, r->precision);
}

/* Choose the bodies in pictures: all, except the heavy halo bodies of galaxies. */
static int choose_shown(struct nbody_job *job)
{
    const struct particles *b = &job->bodies;
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < b->n; i++) {
        least = fmin(least, b->mass[i]);
        most = fmax(most, b->mass[i]);
    }
    if (isnan(job->heaviest))
        job->heaviest =
            !job->input && recipes[job->model].dark && least < most / 2 ? most / 2 : INFINITY;
    if (job->heaviest < least)
        return cli_wrong("--heaviest: '%g' excludes all bodies; the lightest has a mass of %g",
                         job->heaviest, least);
    return nbody_camera_prepare(job);
}

/* Rounding error of the number of steps between two times. */
static double step_count_error(const struct nbody_job *job)
{
    return 1e-9 + 4 * DBL_EPSILON * (fabs(job->until) + fabs(job->time_start)) / fabs(job->dt);
}

/* The last step may be shorter. If it differs from the others by rounding only, it is a whole step,
 * so that a longer run makes equal steps. */
int nbody_job_plan_steps(struct nbody_job *job, size_t steps)
{
    job->last_dt = job->dt;
    job->total = job->steps == SIZE_MAX ? steps : job->steps;
    if (isnan(job->until))
        return CLI_DONE;
    const double span = job->until - job->time_start, error = step_count_error(job),
                 count = fmax(ceil(span / job->dt - error), 0);
    if (span / job->dt < 0)
        return cli_wrong(
            span < 0
                ? "--until: '%g' is before the initial time, %g; give a negative --dt to run backward"
                : "--until: '%g' is after the initial time, %g, but --dt is negative; give a positive --dt",
            job->until, job->time_start);
    if (!(count <= 0x1p53))
        return cli_wrong("--until: '%g' would take more than 2^53 steps of %g", job->until,
                         job->dt);
    job->total = (size_t)count;
    if (job->total > 0 && fabs(span / job->dt - count) > error)
        job->last_dt = span - (count - 1) * job->dt;
    return CLI_DONE;
}

/* Per-body softenings are supported only by direct sums with the tuned kernel. */
static int check_softenings(const struct nbody_job *job)
{
    const char *what = job->method == NBODY_TREE       ? "--method tree"
                       : job->precision == NBODY_MIXED ? "--precision mixed"
                       : job->kernel != NBODY_TUNED    ? "--kernel"
                       : job->compare                  ? "--compare"
                       : job->stepping != NBODY_FIXED  ? "--stepping"
                                                       : NULL;
    if (!job->own_eps || !what)
        return CLI_DONE;
    return cli_failed("%s has per-body softenings, but %s needs one for all bodies; give --eps",
                      job->input, what);
}

/* True if one rank uses ias15: up to VERY_FEW bodies default to it, unless an option or the file
 * concerns steps or sums. No fixed step suits a close encounter, and energy is insensitive to light
 * bodies. */
static bool one_rank_uses_ias15(const struct nbody_job *job)
{
    const bool open = !job->given.stepping && !job->given.integrator && !job->given.method &&
                      isnan(job->dt) && job->steps == SIZE_MAX && job->precision == NOT_GIVEN &&
                      !(job->accuracy > 0) && !(job->eta > 0);
    const bool plain = job->method == NBODY_DIRECT && job->kernel == NBODY_TUNED && !job->own_eps &&
                       !job->compare && !job->resumed;
    return open && plain && job->n <= VERY_FEW && job->n >= 2 && !job->bodies.note[NOTE_integrator];
}

/* Warn if one rank would compute the few bodies differently, so that results would differ, too. */
static void warn_of_few_bodies(const struct nbody_job *job, bool ias15)
{
    const bool host = one_rank_may_use_host(job) && !strstr(job->fields.forces, ".cl") &&
                      (job->by_default.precision || job->precision == NBODY_DOUBLE);
    if (world_size(cli_world) == 1 || job->resumed || job->common.quiet || (!ias15 && !host))
        return;
    cli_warn(
        "%zu bodies are few: one rank would use %s, with different results; to get these, start stdcl without mpirun",
        job->n, ias15 ? "ias15" : "the host and double precision");
}

/* Choose the step of ias15: 1 / LEAST_STEPS of the run, at most the time between outputs. The step
 * only limits when outputs are possible; ias15 divides it as needed. */
static void adjust_ias15_step(struct nbody_job *job)
{
    const double between[] = {job->diag, job->snapshots, job->checkpoint_time},
                 span = fabs(job->until - job->time_start);
    double dt = span > 0 ? span / LEAST_STEPS : fabs(job->dt);
    for (size_t i = 0; i < sizeof between / sizeof *between; i++)
        dt = between[i] > 0 ? fmin(dt, between[i]) : dt;
    job->dt = copysign(dt, job->dt);
}

static int choose_defaults(struct nbody_job *job)
{
    if (!job->input)
        return use_recipe(job);
    if ((job->fields.n || *job->fields.forces) && isnan(job->dt) && job->steps != 0 &&
        job->integrator != NBODY_IAS15)
        return cli_wrong("--external: no step can be estimated for a field; give --dt");
    estimate_eps_and_dt(job);
    if (job->precision_noted && job->precision == NBODY_MIXED &&
        usual_precision(job, NBODY_MIXED) != NBODY_MIXED)
        job->precision = NOT_GIVEN; /* not available with the command line's options */
    return choose_precision(job, NBODY_MIXED);
}

int nbody_job_choose(struct nbody_job *job)
{
    if (check_softenings(job) != CLI_DONE)
        return CLI_FAILED;
    job->by_default.step = isnan(job->dt);
    job->by_default.integrator = !job->given.integrator && !job->bodies.note[NOTE_integrator];
    job->by_default.precision = job->precision == NOT_GIVEN;
    const bool ias15 = one_rank_uses_ias15(job);
    if (ias15 && world_size(cli_world) == 1)
        job->integrator = NBODY_IAS15;
    warn_of_few_bodies(job, ias15);
    const bool adjust = isnan(job->dt) && job->integrator == NBODY_IAS15 && !job->resumed;
    const int status = choose_defaults(job);
    if (status == CLI_DONE && adjust)
        adjust_ias15_step(job);
    return status;
}

struct nbody_whfast_options nbody_job_whfast(const struct nbody_job *job)
{
    return (struct nbody_whfast_options){.coordinates = (enum nbody_coordinates)job->coordinates,
                                         .corrector = nbody_corrector_order(job->corrector),
                                         .safe = job->safe_mode};
}

struct nbody_options nbody_job_options(struct nbody_job *job)
{
    return (struct nbody_options){
        .ctx = job->context,
        .integrator = (enum nbody_integrator)job->integrator,
        .precision = (enum nbody_precision)job->precision,
        .kernel = (enum nbody_kernel)job->kernel,
        .G = job->G,
        .eps = job->eps,
        .dt = job->dt,
        .burst = job->batch,
        .progress = nbody_job_progress,
        .arg = job,
        .method = (enum nbody_method)job->method,
        .accuracy = job->accuracy,
        .softening = job->own_eps ? job->bodies.softening : NULL,
        .fields = job->fields.field,
        .nfields = job->fields.n,
        .forces = job->fields.engine,
        .whfast = nbody_job_whfast(job),
        .megno = job->megno,
        .trace = {.hill = job->hill},
        .stepping = (enum nbody_stepping)job->stepping,
        .eta = job->eta,
        .world = cli_world,
        .first_number = 1,
        .first = job->bodies.first,
        .count = job->bodies.all ? job->bodies.n : 0,
        .place = may_use_host(job) && job->precision == NBODY_DOUBLE ? NBODY_ON_FASTER
                                                                     : NBODY_ON_DEVICES,
    };
}

/* Create the engine. With --method auto, mixed precision applies only if auto selects direct
 * sums, which a first engine in single precision decides. */
static nbody *create_engine(struct nbody_job *job, struct nbody_options options)
{
    const struct particles *b = &job->bodies;
    if (job->if_direct) {
        options.precision = NBODY_SINGLE;
        nbody *nb = nbody_create(&options, job->n, b->mass, (const double(*)[3])b->pos,
                                 (const double(*)[3])b->vel);
        if (!nb || nbody_method(nb) == NBODY_TREE) {
            job->precision = NBODY_SINGLE;
            return nb;
        }
        nbody_free(nb);
        options.precision = NBODY_MIXED;
    }
    return nbody_create(&options, job->n, b->mass, (const double(*)[3])b->pos,
                        (const double(*)[3])b->vel);
}

int nbody_job_engine(struct nbody_job *job, enum nbody_kernel kernel)
{
    struct nbody_options options = nbody_job_options(job);
    options.kernel = kernel;
    if (job->resumed)
        nbody_resume_engine(job, &options);
    job->balance.shape = options.shape;
    job->engine = create_engine(job, options);
    job->if_direct = false;
    if (!job->engine)
        nbody_name_options();
    if (!job->engine)
        return *job->fields.forces ? cli_refused_call() : cli_failed_call(NULL);
    nbody_set_clock(job->engine, job->time_start, 0);
    return job->resumed ? nbody_resume_state(job) : CLI_DONE;
}

int nbody_job_plan(struct nbody_job *job)
{
    int status = nbody_job_choose(job);
    if (status != CLI_DONE)
        return status;
    if ((status = nbody_places_check(job)) != CLI_DONE)
        return status;
    if ((status = choose_shown(job)) != CLI_DONE)
        return status;
    if ((status = nbody_job_plan_steps(job, 100)) != CLI_DONE)
        return status;
    if (!job->resumed && (status = nbody_series_plan(job)) != CLI_DONE)
        return status;
    if ((status = cli_outputs_check_frames(&job->outputs, job->total, "steps")) != CLI_DONE)
        return status;
    if ((status = nbody_job_engine(job, (enum nbody_kernel)job->kernel)) != CLI_DONE)
        return status;
    /* the resumed engine knows the remaining steps */
    return job->resumed ? nbody_series_plan(job) : CLI_DONE;
}
