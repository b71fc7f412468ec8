/* life_progress.c - the engines' callback of `stdcl life` on a grid: progress, viewers' commands,
 * Ctrl-C.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "interrupt.h"
#include "progress.h"
#include "text.h"
#include "life_run.h"

#include "core/clock.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stdio.h>

static double grid_cells(const struct life_job *job)
{
    return (double)job->size.width * (double)job->size.height;
}

int life_job_progress(void *arg, double fraction)
{
    struct life_job *job = arg;
    const double done = job->doing.from + fraction * (job->doing.to - job->doing.from);
    const double seconds = job->seconds + seconds_now() - job->doing.began;
    struct cli_text rate;
    char filling[32];
    snprintf(filling, sizeof filling, "filling, %.0f %%", 100 * fraction);
    if (job->progress.unit)
        cli_progress_update(
            &job->progress, done,
            job->doing.filling ? filling
                               : cli_text_rate(&rate, done * grid_cells(job) / seconds, "cells/s"));
    cli_window_listen(&job->window);
    return cli_interrupted();
}
