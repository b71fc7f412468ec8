/* life_start.c - create the engine of an unbounded plane and fill in the pattern.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "common.h"
#include "device.h"
#include "interrupt.h"
#include "message.h"
#include "progress.h"
#include "life_grid.h"
#include "life_plane.h"

#include "core/clock.h"

#include <errno.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdlib.h>

/* Callback of the engines: cancels a step on Ctrl-C or at its time limit. */
static int plane_progress(void *arg, double fraction)
{
    struct life_job *job = arg;
    (void)fraction; /* progress of the call, which the plane's generation implies */
    if (job->progress.unit)
        cli_progress_update(&job->progress,
                            (double)(life_generation(job->engine_of_run) - job->started), NULL);
    cli_window_listen(&job->window);
    return cli_interrupted() ||
           (job->race.until > 0 && life_race_clock(job->race.clock) >= job->race.until);
}

/* Open the device; of several the first. */
int life_start_device(struct life_job *job)
{
    if (job->context)
        return CLI_DONE;
    const int status = cli_devices_open(&job->common.device, &job->context);
    char *names =
        status == CLI_DONE && clgetndev(job->context) > 1 ? cli_devices_name(job->context) : NULL;
    if (names && job->common.device.n)
        cli_warn("--engine sparse uses one device, the first of %s", names);
    free(names);
    if (status != CLI_DONE)
        return status;
    return cli_profile_start(&job->common, job->context);
}

life *life_start_make(struct life_job *job, enum life_engine engine)
{
    life *plane = life_create(&(struct life_options){.ctx = job->context,
                                                     .engine = engine,
                                                     .bounds = LIFE_UNBOUNDED,
                                                     .rule = job->transitions ? NULL : job->rule,
                                                     .transitions = job->transitions,
                                                     .memory = (size_t)job->memory,
                                                     .threads = (unsigned)job->threads,
                                                     .progress = plane_progress,
                                                     .arg = job});
    if (!plane)
        return NULL;
    life_job_explain(job, plane);
    life_set_generation(plane, job->started);
    for (unsigned dev = 0; dev < life_devices(plane); dev++)
        cli_explain(&job->common, job->context, dev, life_explain(plane, dev),
                    life_shape(plane, dev));
    return plane;
}

/* Position by --at; else the file's; else centred, so that triangles keep the orientation that they
 * have in the file. */
static void plane_corner(const struct life_job *job, long long *x, long long *y)
{
    const struct life_pattern *p = &job->plane.p;
    *x = job->at.given ? job->at.x : p->placed ? p->x : -(long long)(p->width / 2);
    *y = job->at.given ? job->at.y : p->placed ? p->y : -(long long)(p->height / 2);
    if (!job->at.given && !p->placed && life_job_has_triangles(job))
        *x -= (*x + *y) & 1;
}

/* Put the cells in tiles, or in one rectangle if --rule has removed the file's grid. */
static int put_pattern(const struct life_job *job, life *e)
{
    const struct life_plane *plane = &job->plane;
    const struct life_pattern *pattern = &plane->p;
    long long x, y;
    plane_corner(job, &x, &y);
    y--; /* in files the middle of the plane is 0,1 */
    int status = 0;
    for (size_t i = 0; i < plane->tiles && status == 0; i++) {
        struct life_tile *t = &plane->tile[i];
        status = t->state
                     ? life_put_states(e, x + t->x, y + t->y, 64, 64, t->state)
                     : life_put(e, x + t->x, y + t->y, &(struct life_cells){64, 64, 1, t->row});
    }
    const long long left = x + (long long)pattern->left, top = y + (long long)pattern->top;
    if (pattern->state)
        return life_put_states(e, left, top, pattern->columns, pattern->rows, pattern->state);
    if (pattern->word)
        status = life_put(
            e, left, top,
            &(struct life_cells){pattern->columns, pattern->rows, pattern->stride, pattern->word});
    return status;
}

int life_start_fill(const struct life_job *job, life *plane)
{
    return life_squares_fill(job, plane) < 0 ? -1 : put_pattern(job, plane);
}

int life_start_open(struct life_job *job)
{
    const int status = job->engine == LIFE_SPARSE ? life_start_device(job) : CLI_DONE;
    if (status != CLI_DONE)
        return status;
    job->engine_of_run = life_start_make(job, (enum life_engine)job->engine);
    if (!job->engine_of_run && clerrno == ENOTSUP && job->identify)
        return cli_wrong("identify uses the engine hashlife, which does not compute the rule %s; "
                         "give a rule of the nearest neighbours without B0",
                         job->rule);
    if (!job->engine_of_run)
        return clerrno == ENOTSUP ? cli_wrong("%s", cli_reason()) : cli_refused_call();
    if (life_start_fill(job, job->engine_of_run) < 0)
        return cli_failed_call(job->input);
    if (!job->race.open)
        life_start_done(job);
    return CLI_DONE;
}

void life_start_done(struct life_job *job)
{
    life_plane_free(&job->plane);
    life_pattern_free(&job->pattern);
}
