/* nbody_ic.c - the bodies that --ic names: models, and the solar system from a shipped file.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "data_files.h"
#include "message.h"
#include "nbody_bodies.h"
#include "nbody_options.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

const char *const nbody_ic_names[] = {"plummer", "uniform",     "cold",      "collision",
                                      "figure8", "pythagorean", "hernquist", "galaxy",
                                      "solar",   "list",        NULL};
static const char *const nbody_ic_about[NBODY_IC_LIST] = {
    [NBODY_PLUMMER] = "Plummer sphere in equilibrium, the standard cluster",
    [NBODY_UNIFORM] = "uniform sphere in virial equilibrium",
    [NBODY_COLD] = "uniform sphere at rest, which collapses",
    [NBODY_COLLISION] = "two disk galaxies on a parabolic encounter",
    [NBODY_FIGURE8] = "three bodies on a figure eight",
    [NBODY_PYTHAGOREAN] = "three bodies at rest in a right triangle, chaotic",
    [NBODY_HERNQUIST] = "Hernquist sphere in equilibrium, with a cusp",
    [NBODY_GALAXY] = "disk galaxy in equilibrium, with bulge and dark halo",
    [NBODY_IC_SOLAR] = "the Sun, its planets, the Moon and Pluto on 1 January 2000; au, days",
};

/* Default end of a run of the solar system: ten years of 365.25 days. */
static const double SOLAR_DAYS = 3652.5;

static void list_ic(void)
{
    for (int i = 0; i < NBODY_IC_LIST; i++)
        printf("%-12s %s\n", nbody_ic_names[i], nbody_ic_about[i]);
}

bool nbody_bodies_named(struct nbody_job *job, int *status)
{
    if (job->model == NBODY_IC_LIST)
        list_ic();
    if (job->model != NBODY_IC_SOLAR)
        return job->model != NBODY_IC_LIST;
    job->input = cli_data_file("solar", ".tab");
    job->model = NBODY_PLUMMER; /* unused, as with -i */
    if (!job->input)
        *status = cli_failed("--ic solar: cannot find share/stdcl/data/solar.tab of the "
                             "installation; install stdcl again, or give the file: -i solar.tab");
    if (isnan(job->until) && job->steps == SIZE_MAX)
        job->until = SOLAR_DAYS;
    return job->input != NULL;
}
