/* nbody_view.c - what the window shows of `stdcl nbody`: bodies, a fair sample where there are many, and energies as plots.
 * SPDX-License-Identifier: MIT
 */
#include "nbody_job.h"

#include <math.h>
#include <string.h>

static const char *const columns[] = {"time", "", "kinetic energy", "", "potential energy", "", "total energy", "",
                                      "virial ratio", "", NULL};

/* TIPSY's kinds of bodies, as groups. */
static uint8_t *kinds_of(const struct particles *b)
{
    uint8_t *group = b->gas || b->star ? cli_alloc(b->n, 1) : NULL;
    for (size_t i = 0; group && i < b->n; i++)
        group[i] = (uint8_t)(i < b->gas ? 0 : i >= b->n - b->star ? 2 : 1);
    return group;
}

static bool masses_differ(const struct particles *b)
{
    for (size_t i = 1; i < b->n; i++)
        if (b->mass[i] < b->mass[0] || b->mass[i] > b->mass[0])
            return true;
    return false;
}

int nbody_view_open(struct nbody_job *job)
{
    const struct particles *b = &job->bodies;
    char title[256], bodies[32];
    if (!job->window.wanted && !job->window.record)
        return CLI_DONE;
    char *device = cli_devices_name(job->context);
    uint8_t *group = kinds_of(b);
    snprintf(bodies, sizeof bodies, "%zu", b->n);
    const char *const facts[] = {"bodies", bodies, "device", device, "method", nbody_method_names[nbody_method(job->engine)],
                                 "integrator", nbody_integrator_describe((enum nbody_integrator)job->integrator)->name,
                                 "precision", nbody_precision_names[job->precision], NULL};
    snprintf(title, sizeof title, "%s: %zu bodies", job->input ? job->input : nbody_model_names[job->model], b->n);
    struct view_options about = {
        .program = "nbody", .title = title, .can = VIEW_CAN_PAUSE | VIEW_CAN_STEP | VIEW_CAN_SPEED | VIEW_CAN_QUIT, .facts = facts,
        .rows = columns,
        .points = {.total = b->n, .mass = job->collide || !masses_differ(b) ? NULL : b->mass, .group = job->collide ? NULL : group, .moving = 1}};
    job->window.bodies = b->n;
    const int status = cli_window_open(&job->window, &about);
    free(group);
    free(device);
    return status;
}

/* Bodies that have merged are no more: the order without their numbers. */
static size_t order_of(const struct nbody_job *job, size_t wanted, uint32_t *which)
{
    const uint32_t *order = view_order(job->window.view);
    const size_t n = nbody_bodies(job->engine);
    size_t count = 0;
    for (size_t k = 0; order && k < job->window.bodies && count < wanted; k++)
        if (order[k] < n)
            which[count++] = order[k];
    return count;
}

static int show(void *arg, int last)
{
    struct nbody_job *job = arg;
    const size_t wanted = view_bodies_wanted(job->window.view);
    uint32_t *which = cli_alloc(wanted + 1, sizeof *which);
    float(*pos)[3] = cli_alloc(wanted + 1, sizeof *pos), (*vel)[3] = cli_alloc(wanted + 1, sizeof *vel);
    const size_t count = order_of(job, wanted, which);
    int status = nbody_positions(job->engine, count, which, pos, vel) < 0 ? cli_failed_call(NULL) : CLI_DONE;
    const struct view_points points = {{nbody_time(job->engine), nbody_steps(job->engine), last}, count, (const float(*)[3])pos,
                                       (const float(*)[3])vel};
    if (status == CLI_DONE && view_show_points(job->window.view, &points) < 0)
        status = cli_failed_call(NULL);
    free(which);
    free(pos);
    free(vel);
    return status;
}

/* Energies, as often as a hundredth of the time allows. */
static int show_energies(struct nbody_job *job)
{
    struct nbody_diagnostics d;
    const double start = seconds_now();
    if ((!view_watched(job->window.view) && !job->window.record) || start < job->looked + fmax(1, 100 * job->looking))
        return CLI_DONE;
    if (nbody_diagnose(job->engine, &d) < 0)
        return nbody_job_stopped() ? CLI_DONE : cli_failed_call(NULL);
    nbody_view_row(job, &d);
    job->looked = seconds_now();
    job->looking = job->looked - start;
    return CLI_DONE;
}

int nbody_view_visit(struct nbody_job *job)
{
    const uint64_t step = nbody_steps(job->engine);
    const double done = job->total ? (double)step / (double)job->total : NAN;
    if (!job->window.view)
        return CLI_DONE;
    const int status = show_energies(job);
    return status == CLI_DONE ? cli_window_visit(&job->window, step, done, show, job) : status;
}

void nbody_view_row(struct nbody_job *job, const struct nbody_diagnostics *d)
{
    const double value[] = {d->time, d->kinetic, d->potential, d->total, d->virial_ratio};
    view_add_row(job->window.view, value);
}

int nbody_view_end(struct nbody_job *job)
{
    char sentence[96];
    if (!job->window.view)
        return CLI_DONE;
    snprintf(sentence, sizeof sentence, "%zu steps done, at time %g", nbody_steps(job->engine), nbody_time(job->engine));
    const int status = show(job, 1);
    cli_window_end(&job->window, sentence);
    return status;
}
