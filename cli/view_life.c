/* view_life.c - patterns of Life for `stdcl view`: a run of `stdcl life`. To be watched it has no
 * end, begins with its first viewer and goes at the pace that viewers set. For a page or a
 * recording it has `generations`, each of them a frame.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "interrupt.h"
#include "life_run.h"
#include "view_job.h"

#include <stdcl.h>

static const uint64_t WITHOUT_END = (uint64_t)1 << 62, /* generations */
    RECORDED = 500;

/* Run the pattern of the job's file with this window. */
static int run_pattern(const struct view_job *job, const struct cli_window *window,
                       uint64_t generations)
{
    struct life_job run = {.engine = LIFE_AUTO,
                           .bounds = LIFE_NOT_GIVEN,
                           .generations = generations,
                           .seed = 1,
                           .input = job->file.item[0],
                           .common = {.quiet = true},
                           .window = *window};
    if (run.window.budget <= 0)
        run.window.budget = 100; /* nothing else uses the time */
    life_choice_begin(&run, NULL);
    return life_job_close(&run, life_job_work(&run));
}

static int record_pattern(struct view_job *job, const char *file)
{
    struct cli_window window = job->window;
    window.record = file;
    window.pace.speed = 0;
    window.rate = VIEW_RECORDED_RATE;
    window.every = true;
    return run_pattern(job, &window, job->generations ? job->generations : RECORDED);
}

int view_life_open(struct view_job *job)
{
    job->record = record_pattern;
    return CLI_DONE;
}

int view_life_play(const struct view_job *job)
{
    struct cli_window window = job->window;
    window.wanted = window.wait = window.plays = true;
    const int status = run_pattern(job, &window, WITHOUT_END);
    return cli_interrupted() ? CLI_DONE : status; /* Ctrl-C is the only end */
}
