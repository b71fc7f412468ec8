/* life_names.c - names of engines and bounds; the reason for an engine.
 * SPDX-License-Identifier: MIT
 */
#include "life_job.h"

#include <stddef.h>
#include <stdio.h>

const char *const life_bounds_names[] = {"torus", "plane", NULL};

void life_job_engine_names(const char *names[LIFE_ENGINES + 1])
{
    for (int engine = 0; engine < LIFE_ENGINES; engine++)
        names[engine] = life_engine_name((enum life_engine)engine);
    names[LIFE_ENGINES] = NULL;
}

void life_job_explain(const struct life_job *job, const life *lf)
{
    if (!job->common.explain || !cli_ranks_first())
        return;
    cli_line_wipe();
    fprintf(stderr, "engine %s: %s\n", life_engine_name(life_engine_of(lf)), life_choice(lf));
}
