/* nbody_ensemble_view.c - the view of `stdcl nbody --ensemble`: the bodies of the chosen systems in
 * one picture, with a hue for each system.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "device.h"
#include "alloc.h"
#include "message.h"
#include "nbody_ensemble.h"

#include <math.h>
#include <stdcl.h>
#include <stdio.h>
#include <stdlib.h>

enum { HUES = 8 };                       /* of the view's page */
static const double BATCH_SECONDS = 0.1; /* between visits */

int ensemble_view_open(struct ensemble *e)
{
    struct nbody_job *job = e->job;
    const size_t n = e->bodies_out.n;
    char title[256], systems[32], bodies[32];
    if (!job->window.wanted && !job->window.record)
        return CLI_DONE;
    char *device = cli_devices_name(job->context);
    uint8_t *group = cli_alloc(n, sizeof *group);
    for (size_t i = 0; i < n; i++)
        group[i] = (uint8_t)(i / e->bodies % HUES);
    cli_window_number(systems, e->chosen_n);
    cli_window_number(bodies, n);
    const char *const facts[] = {"systems", systems, "bodies", bodies, "device", device, NULL};
    snprintf(title, sizeof title, "%s: %s systems", cli_window_name(job->input), systems);
    struct view_options about = {
        .program = "nbody",
        .title = title,
        .can = VIEW_CAN_PAUSE | VIEW_CAN_STEP | VIEW_CAN_SPEED | VIEW_CAN_QUIT,
        .facts = facts,
        .points = {.total = n, .group = e->chosen_n > 1 ? group : NULL, .moving = 1}};
    const int status = cli_window_open(&job->window, &about);
    free(group);
    free(device);
    return status;
}

static int show_systems(void *arg, int last)
{
    struct ensemble *e = arg;
    view *v = e->job->window.view;
    const struct particles *b = &e->bodies_out;
    const uint32_t *order = view_sample_order(v);
    const size_t wanted = view_bodies_wanted(v), n = wanted < b->n ? wanted : b->n;
    int status = order ? ensemble_fetch(e) : cli_failed_call(NULL);
    if (status != CLI_DONE)
        return status;
    float(*pos)[3] = cli_alloc(2 * n + 1, sizeof *pos), (*vel)[3] = pos + n;
    for (size_t k = 0; k < n; k++)
        for (int c = 0; c < 3; c++) {
            pos[k][c] = (float)b->pos[order[k]][c];
            vel[k][c] = (float)b->vel[order[k]][c];
        }
    const struct view_points points = {.at = {b->time, nbody_ensemble_steps(e->engine), last},
                                       .count = n,
                                       .pos = (const float(*)[3])pos,
                                       .vel = (const float(*)[3])vel};
    status = view_show_points(v, &points) < 0 ? cli_failed_call(NULL) : CLI_DONE;
    free(pos);
    return status;
}

size_t ensemble_view_batch(struct ensemble *e, size_t step)
{
    const struct cli_window *w = &e->job->window;
    if (!w->open)
        return SIZE_MAX;
    const double time = cli_window_seconds(w, BATCH_SECONDS),
                 fit = e->took > 0 ? (double)e->batch * time / e->took : 0;
    e->batch = fit < 1 ? 1 : fit > 2. * (double)e->batch ? 2 * e->batch + 1 : (size_t)fit;
    return (size_t)cli_window_batch(w, step, e->batch);
}

int ensemble_view_visit(struct ensemble *e)
{
    const struct nbody_job *job = e->job;
    const size_t step = nbody_ensemble_steps(e->engine);
    const double done = job->total ? (double)step / (double)job->total : NAN;
    return cli_window_visit(&e->job->window, step, done, show_systems, e);
}

int ensemble_view_end(struct ensemble *e)
{
    char sentence[96];
    if (!e->job->window.open)
        return CLI_DONE;
    snprintf(sentence, sizeof sentence, "%zu steps done, at time %g",
             nbody_ensemble_steps(e->engine), e->bodies_out.time);
    return cli_window_end(&e->job->window, sentence, show_systems, e);
}

int ensemble_view_stay(struct ensemble *e)
{
    return cli_window_stay(&e->job->window, show_systems, e);
}
