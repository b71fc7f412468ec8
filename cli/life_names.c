/* life_names.c - names of engines and bounds.
 * SPDX-License-Identifier: MIT
 */
#include "life_job.h"

#include <stddef.h>

const char *const life_bounds_names[] = {"torus", "plane", NULL};

const char *life_job_engine_name(int engine)
{
    switch (engine) {
    case LIFE_HASHLIFE:
        return "hashlife";
    case LIFE_SPARSE:
        return "sparse";
    case LIFE_AUTO:
        return "auto";
    default:
        return life_engine_name((enum life_engine)engine);
    }
}

void life_job_engine_names(const char *names[LIFE_JOB_ENGINES + 1])
{
    for (int engine = 0; engine < LIFE_JOB_ENGINES; engine++)
        names[engine] = life_job_engine_name(engine);
    names[LIFE_JOB_ENGINES] = NULL;
}
