/* nbody_view.c - the view of `stdcl nbody`: bodies, a random sample if there are many, and plots
 * of energies.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "device.h"
#include "alloc.h"
#include "message.h"
#include "ranks.h"
#include "nbody_camera.h"
#include "nbody_options.h"
#include "nbody_output.h"
#include "nbody_profile.h"
#include "nbody_run.h"

#include "core/clock.h"

#include <math.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/world.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const columns[] = {
    "time", "",  "kinetic energy", "", "potential energy", "", "total energy", "", "virial ratio",
    "",     NULL};

static const double SHOWN_STEPS = 100;
enum {
    MOST_PLACES = 512,      /* positions of a path between two frames, of all bodies */
    UNASKED_BODIES = 200000 /* in a frame without viewers; their usual number */
};

/* Bodies shown, with their masses and groups. */
struct shown {
    double *mass;
    uint8_t *group;
    bool masses_differ, groups_differ;
};

static struct shown choose_visible(struct nbody_job *job)
{
    const struct particles *b = &job->bodies;
    struct nbody_groups groups = job->groups;
    struct shown s = {cli_alloc(b->n, sizeof *s.mass), cli_alloc(b->n, 1), false, false};
    if (groups.n < 2)
        nbody_natural_groups(job, &groups);
    job->shown = cli_alloc(b->n, sizeof *job->shown);
    job->window.bodies = 0;
    for (size_t i = 0; i < b->n; i++) {
        const size_t k = job->window.bodies;
        if (b->mass[i] > job->heaviest && b->n > 1)
            continue;
        job->shown[k] = (uint32_t)i;
        s.mass[k] = b->mass[i];
        s.group[k] = groups.n > 1 ? nbody_group_of(&groups, i) : 0;
        s.masses_differ |= s.mass[k] < s.mass[0] || s.mass[k] > s.mass[0];
        s.groups_differ |= s.group[k] != s.group[0];
        job->window.bodies++;
    }
    return s;
}

/* The names of few visible bodies, to be freed; NULL: none has a name. */
static char (*visible_names(const struct nbody_job *job))[PARTICLES_NAME_SIZE]
{
    char(*name)[PARTICLES_NAME_SIZE] = cli_alloc(VIEW_NAMED, sizeof *name);
    bool any = false;
    for (size_t k = 0; k < job->window.bodies && k < VIEW_NAMED; k++)
        any |= particles_name(&job->bodies, job->shown[k], name[k]);
    if (any)
        return name;
    free(name);
    return NULL;
}

/* Few bodies begin with about SHOWN_STEPS steps a second, a round time a second: their steps are
 * chosen so that orbits are smooth. */
static double round_speed(const struct nbody_job *job)
{
    const double time = SHOWN_STEPS * fabs(job->dt), power = pow(10, floor(log10(time))),
                 part = time / power;
    return power * (part < 2 ? 1 : part < 5 ? 2 : 5) / fabs(job->dt);
}

static void clear_path(struct nbody_trail *p)
{
    p->n = p->seen = 0;
    p->every = 1;
}

/* Prepare the paths of few bodies between frames. bodies: 0 if there are none. */
static void open_path(struct nbody_trail *p, size_t bodies)
{
    p->bodies = bodies;
    p->most = bodies * VIEW_INSTANTS > MOST_PLACES ? MOST_PLACES / bodies : VIEW_INSTANTS;
    p->pos = cli_alloc(p->most * bodies + 1, sizeof *p->pos);
    clear_path(p);
}

int nbody_view_open(struct nbody_job *job)
{
    const struct particles *b = &job->bodies;
    char title[256], bodies[32];
    if (!job->window.wanted && !job->window.record)
        return CLI_DONE;
    char *device = cli_devices_name(job->context);
    const struct shown s = choose_visible(job);
    const bool few = job->window.bodies <= VIEW_NAMED && !job->collide && fabs(job->dt) > 0;
    char(*const name)[PARTICLES_NAME_SIZE] = few ? visible_names(job) : NULL;
    const char *names[VIEW_NAMED + 1] = {NULL};
    for (size_t k = 0; name && k < job->window.bodies; k++)
        names[k] = name[k];
    job->window.start_speed = few ? round_speed(job) : 0;
    open_path(&job->trail, few && world_size(cli_world) == 1 ? job->window.bodies : 0);
    cli_window_number(bodies, b->n);
    const char *const facts[] = {
        "bodies",     bodies,
        "device",     device,
        "method",     nbody_method_names[nbody_method(job->engine)],
        "integrator", nbody_integrator_describe((enum nbody_integrator)job->integrator)->name,
        "precision",  nbody_precision_names[job->precision],
        NULL};
    snprintf(title, sizeof title, "%s: %s bodies",
             job->input ? cli_window_name(job->input) : nbody_model_names[job->model], bodies);
    struct view_options about = {
        .program = "nbody",
        .title = title,
        .can = VIEW_CAN_PAUSE | VIEW_CAN_STEP | VIEW_CAN_SPEED | VIEW_CAN_QUIT,
        .facts = facts,
        .rows = columns,
        .step_time = few ? fabs(job->dt) : 0,
        .points = {.total = job->window.bodies,
                   .mass = job->collide || !(s.masses_differ || few) ? NULL : s.mass,
                   .gravity = few ? job->G : 0,
                   .names = few && name ? names : NULL,
                   .group = job->collide || !s.groups_differ ? NULL : s.group,
                   .moving = 1}};
    const int status = cli_window_open(&job->window, &about);
    free(s.mass);
    free(s.group);
    free(name);
    free(device);
    return status;
}

/* Sample order without the numbers of bodies removed by mergers. */
static size_t current_sample(const struct nbody_job *job, size_t wanted, uint32_t *which)
{
    const uint32_t *order = view_sample_order(job->window.view);
    const size_t n = nbody_bodies(job->engine);
    size_t count = 0;
    for (size_t k = 0; order && k < job->window.bodies && count < wanted; k++)
        if (job->shown[order[k]] < n)
            which[count++] = job->shown[order[k]];
    return count;
}

static void free_sample(struct nbody_job *job)
{
    free(job->sample.which);
    free(job->sample.pos);
    free(job->sample.vel);
    job->sample = (struct nbody_sample){0};
}

void nbody_view_free(struct nbody_job *job)
{
    free_sample(job);
    free(job->trail.pos);
    job->trail = (struct nbody_trail){.pos = NULL};
}

/* Choose the bodies of the next picture. Rank 0's view decides; it broadcasts the indices only
 * when they change. */
static int choose_sample(struct nbody_job *job, size_t *count)
{
    struct nbody_sample *s = &job->sample;
    const size_t bodies = nbody_bodies(job->engine);
    uint64_t wanted = view_bodies_wanted(job->window.view), n;
    if (!wanted) /* the last frame waits for viewers to come */
        wanted = job->window.bodies < UNASKED_BODIES ? job->window.bodies : UNASKED_BODIES;
    if (world_broadcast(cli_world, 0, &wanted, sizeof wanted) != 0)
        return -1;
    if (wanted > s->wanted || bodies != s->bodies) {
        free_sample(job);
        s->which = cli_alloc((size_t)wanted + 1, sizeof *s->which);
        s->pos = cli_alloc((size_t)wanted + 1, sizeof *s->pos);
        s->vel = cli_alloc((size_t)wanted + 1, sizeof *s->vel);
        s->wanted = (size_t)wanted;
        s->bodies = bodies;
        n = cli_ranks_first() ? current_sample(job, s->wanted, s->which) : 0;
        if (world_broadcast(cli_world, 0, &n, sizeof n) != 0 ||
            world_broadcast(cli_world, 0, s->which, (size_t)n * sizeof *s->which) != 0)
            return -1;
        s->n = (size_t)n;
    }
    *count = wanted < s->n ? (size_t)wanted : s->n;
    return 0;
}

/* ---- Trails. --------------------------------------------------------------------------------- */

/* The share of the view's budget for the positions between two frames. */
static const double PATH_SHARE = 0.25;

static bool draws_trails(const struct nbody_job *job)
{
    return job->trail.bodies && view_viewers(job->window.view);
}

size_t nbody_view_piece(const struct nbody_job *job, size_t batch)
{
    const double budget = job->window.budget > 0 ? job->window.budget : 1,
                 room = PATH_SHARE * budget / 100 * job->window.interval;
    double pieces = (double)job->trail.most;
    if (!draws_trails(job))
        return batch;
    if (!job->window.waited && room < pieces * job->trail.seconds)
        pieces = fmax(1, room / job->trail.seconds);
    return (size_t)ceil((double)batch / pieces);
}

/* Keep every second instant of a path that is full. */
static void thin_path(struct nbody_trail *p)
{
    for (size_t i = 1; 2 * i < p->n; i++) {
        p->time[i] = p->time[2 * i];
        memcpy(p->pos + i * p->bodies, p->pos + 2 * i * p->bodies, p->bodies * sizeof *p->pos);
    }
    p->n = (p->n + 1) / 2;
    p->every *= 2;
}

/* Add the bodies' present positions to the path since the last frame. */
static int extend_path(struct nbody_job *job)
{
    struct nbody_trail *p = &job->trail;
    const double began = seconds_now();
    size_t count;
    if (!draws_trails(job) || p->seen++ % p->every)
        return CLI_DONE;
    if (choose_sample(job, &count) != 0)
        return cli_failed_call(NULL);
    if (count != p->bodies)
        return CLI_DONE;
    if (p->n == p->most)
        thin_path(p);
    if (nbody_positions(job->engine, count, job->sample.which, p->pos + p->n * count, NULL) < 0)
        return cli_failed_call(NULL);
    p->time[p->n++] = nbody_time(job->engine);
    p->seconds = seconds_now() - began;
    return CLI_DONE;
}

/* ---- Frames. --------------------------------------------------------------------------------- */

static int show_sample(void *arg, int last)
{
    struct nbody_job *job = arg;
    size_t count;
    if (choose_sample(job, &count) != 0)
        return cli_failed_call(NULL);
    struct nbody_sample *s = &job->sample;
    if (nbody_positions(job->engine, count, s->which, s->pos, s->vel) < 0)
        return cli_failed_call(NULL);
    const struct view_points points = {{nbody_time(job->engine), nbody_steps(job->engine), last},
                                       count,
                                       (const float(*)[3])s->pos,
                                       (const float(*)[3])s->vel,
                                       count == job->trail.bodies ? job->trail.n : 0,
                                       job->trail.time,
                                       (const float(*)[3])job->trail.pos};
    clear_path(&job->trail);
    return view_show_points(job->window.view, &points) < 0 ? cli_failed_call(NULL) : CLI_DONE;
}

enum { PROFILED_MOST = 16384, PROFILED_LEAST = 200 }; /* bodies of distributions */

/* Distributions of a sample, which rank 0 computes from the positions and velocities. */
static int show_profiles(struct nbody_job *job)
{
    struct nbody_sample *s = &job->sample;
    size_t count;
    if (job->collide || job->window.bodies < PROFILED_LEAST)
        return CLI_DONE;
    if (choose_sample(job, &count) != 0)
        return cli_failed_call(NULL);
    count = count < PROFILED_MOST ? count : PROFILED_MOST;
    if (nbody_positions(job->engine, count, s->which, s->pos, s->vel) < 0)
        return cli_failed_call(NULL);
    if (job->window.view && count >= PROFILED_LEAST)
        nbody_profiles_show(job, count, s->which, (const float(*)[3])s->pos,
                            (const float(*)[3])s->vel);
    return CLI_DONE;
}

static int show_energies(struct nbody_job *job)
{
    const double began = seconds_now();
    struct nbody_diagnostics d;
    if (!cli_window_decide(&job->window, cli_window_sums_due(&job->window, &job->sums)))
        return CLI_DONE;
    if (nbody_diagnose(job->engine, &d) < 0)
        return nbody_job_stopped() ? CLI_DONE : cli_failed_call(NULL);
    nbody_view_row(job, &d);
    const int status = show_profiles(job);
    cli_window_sums_made(&job->sums, began);
    return status;
}

int nbody_view_visit(struct nbody_job *job)
{
    const uint64_t step = nbody_steps(job->engine);
    const double done = job->total ? (double)step / (double)job->total : NAN;
    if (!job->window.open)
        return CLI_DONE;
    int status = show_energies(job);
    if (status != CLI_DONE)
        return status;
    if ((status = extend_path(job)) != CLI_DONE)
        return status;
    return cli_window_visit(&job->window, step, done, show_sample, job);
}

void nbody_view_row(struct nbody_job *job, const struct nbody_diagnostics *d)
{
    const double value[] = {d->time, d->kinetic, d->potential, d->total, d->virial_ratio};
    view_add_row(job->window.view, value);
}

int nbody_view_end(struct nbody_job *job)
{
    char sentence[96];
    if (!job->window.open)
        return CLI_DONE;
    snprintf(sentence, sizeof sentence, "%zu steps done, at time %g", nbody_steps(job->engine),
             nbody_time(job->engine));
    return cli_window_end(&job->window, sentence, show_sample, job);
}

int nbody_view_stay(struct nbody_job *job)
{
    return cli_window_stay(&job->window, show_sample, job);
}
