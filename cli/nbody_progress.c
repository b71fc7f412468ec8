/* nbody_progress.c - the engine's callback, called during steps, energies and forces: draws
 * progress and cancels on an interruption or after the time limit.
 * SPDX-License-Identifier: MIT
 */
#include "interrupt.h"
#include "progress.h"
#include "ranks.h"
#include "text.h"
#include "nbody_run.h"

#include "core/clock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stdio.h>

void nbody_job_begin(struct nbody_job *job, const char *name, double from, double to)
{
    job->doing.name = name;
    job->doing.from = from;
    job->doing.to = to;
    job->doing.began = seconds_now();
}

static const char *progress_note(const struct nbody_job *job, double fraction, char text[64])
{
    const double steps = fraction * (job->doing.to - job->doing.from), n = (double)job->n;
    const double seconds = job->seconds + seconds_now() - job->doing.began;
    struct cli_text rate;
    if (job->doing.name)
        snprintf(text, 64, "%s, %.0f %%", job->doing.name, 100 * fraction);
    else if (nbody_method(job->engine) == NBODY_TREE)
        snprintf(text, 64, "%s",
                 cli_text_rate(&rate, n * (job->doing.from + steps) / seconds, "bodies/s"));
    else
        snprintf(text, 64, "%s",
                 cli_text_rate(&rate, (nbody_interactions(job->engine) + steps * n * n) / seconds,
                               "interactions/s"));
    return text;
}

bool nbody_job_late(const struct nbody_job *job)
{
    return job->time_limit > 0 && cli_ranks_first() && seconds_now() - job->began > job->time_limit;
}

int nbody_job_progress(void *arg, double fraction)
{
    struct nbody_job *job = arg;
    char text[64];
    if (job->engine && job->progress.unit) {
        /* the tree compiles kernels between the first reports of its energy */
        if (job->doing.runs > 0 && nbody_method(job->engine) != NBODY_TREE)
            cli_progress_estimate(&job->progress, fraction / job->doing.runs);
        cli_progress_update(&job->progress,
                            job->doing.from + fraction * (job->doing.to - job->doing.from),
                            progress_note(job, fraction, text));
    }
    cli_window_listen(&job->window);
    return cli_interrupted() || (job->doing.limited && nbody_job_late(job));
}

bool nbody_job_stopped(void)
{
    return clerrno == ECANCELED && cli_ranks_interrupted(false);
}
