/* view_clock.c - the command with timed calls of the viewer, for bench/view.py: the linker
 * puts these functions between the command's loops and nbody_view_visit and life_view_visit
 * (cmake: view_clock). At the end $STDCL_VIEW_CLOCK receives a line per call: begin and end in
 * seconds, the step, and the number of viewers.
 * SPDX-License-Identifier: MIT
 */
#include "cli/life_job.h"
#include "cli/life_plane.h"
#include "cli/nbody_job.h"
#include "core/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_VISITS = 1 << 22 };

static struct {
    double began, ended, step;
    int watched;
} visits[MOST_VISITS];
static size_t n;

static void write_visits(void)
{
    const char *name = getenv("STDCL_VIEW_CLOCK");
    FILE *file = name ? fopen(name, "w") : NULL;
    for (size_t i = 0; file && i < n; i++)
        fprintf(file, "%.6f %.6f %.0f %d\n", visits[i].began, visits[i].ended, visits[i].step,
                visits[i].watched);
    if (file)
        fclose(file);
}

static void keep_visit(double began, double step, const struct cli_window *window)
{
    if (n == 0)
        atexit(write_visits);
    if (n == MOST_VISITS)
        return;
    visits[n].began = began;
    visits[n].ended = seconds_now();
    visits[n].step = step;
    visits[n++].watched = view_viewers(window->view);
}

int __real_nbody_view_visit(struct nbody_job *job);
int __wrap_nbody_view_visit(struct nbody_job *job);
int __wrap_nbody_view_visit(struct nbody_job *job)
{
    const double began = seconds_now();
    const int status = __real_nbody_view_visit(job);
    keep_visit(began, (double)nbody_steps(job->engine), &job->window);
    return status;
}

int __real_life_view_visit(struct life_job *job);
int __wrap_life_view_visit(struct life_job *job);
int __wrap_life_view_visit(struct life_job *job)
{
    const double began = seconds_now();
    const int status = __real_life_view_visit(job);
    keep_visit(began, (double)life_job_generation(job), &job->window);
    return status;
}
