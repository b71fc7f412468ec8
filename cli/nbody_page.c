/* nbody_page.c - what all figures of `stdcl nbody` have: --paper, --units, the command line. */
/* SPDX-License-Identifier: MIT */
#include "command.h"
#include "figures.h"
#include "message.h"
#include "nbody_job.h"
#include "nbody_page.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

static const double DIFFERENT = 1e-3; /* relative, of two values of G */

int nbody_units_plan(struct nbody_job *job)
{
    if (!job->units.G)
        return CLI_DONE;
    if (job->given.G && fabs(job->G / job->units.G - 1) > DIFFERENT)
        return cli_wrong(
            "--units: the constant of gravity is %.9g in %s, %s and %s, but -G gives %.9g; omit -G",
            job->units.G, job->units.length, job->units.time, job->units.mass, job->G);
    if (!job->given.G)
        job->G = job->units.G;
    job->given.G = true;
    return CLI_DONE;
}

int nbody_units_match(const struct nbody_job *job)
{
    const double G = particles_number(&job->bodies, NOTE_G);
    if (!job->units.G || isnan(G) || fabs(G / job->units.G - 1) <= DIFFERENT)
        return CLI_DONE;
    return cli_failed(
        "%s: its G is %.9g, but --units %s, %s and %s have %.9g; give the units of the file",
        job->input, G, job->units.length, job->units.time, job->units.mass, job->units.G);
}

struct gnuplot_page nbody_figure_page(const struct nbody_job *job, const char *title)
{
    const struct cli_figures figures = {.paper = job->paper, .argc = job->argc, .argv = job->argv};
    return cli_figure_page(&figures, title);
}
