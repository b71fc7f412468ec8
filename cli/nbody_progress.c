/* nbody_progress.c - what the engine of `stdcl nbody` tells while it works: drawn as progress, and
 * answered with whether to stop. Steps, energies and forces all come by here.
 * SPDX-License-Identifier: MIT
 */
#include "nbody_job.h"

#include <errno.h>

void nbody_job_begin(struct nbody_job *job, const char *name, double from, double to)
{
    job->doing.name = name;
    job->doing.from = from;
    job->doing.to = to;
    job->doing.began = seconds_now();
}

static const char *note(const struct nbody_job *job, double fraction, char text[64])
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

int nbody_job_tell(void *arg, double fraction)
{
    struct nbody_job *job = arg;
    char text[64];
    if (job->engine && job->progress.unit) {
        if (job->doing.runs > 0)
            cli_progress_estimate(&job->progress, fraction / job->doing.runs);
        cli_progress_update(&job->progress,
                            job->doing.from + fraction * (job->doing.to - job->doing.from),
                            note(job, fraction, text));
    }
    cli_window_listen(&job->window);
    return cli_interrupted();
}

bool nbody_job_stopped(void)
{
    return clerrno == ECANCELED && cli_ranks_interrupted(false);
}
