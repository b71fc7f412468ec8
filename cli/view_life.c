/* view_life.c - patterns of Life for `stdcl view`: a run of `stdcl life` without end, which begins
 * with its first viewer and goes at the pace that viewers set.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "interrupt.h"
#include "life_run.h"
#include "view_job.h"

#include <stdcl.h>

static const uint64_t WITHOUT_END = (uint64_t)1 << 62; /* generations */

int view_life_play(const struct view_job *job)
{
    struct life_job run = {.engine = LIFE_AUTO,
                           .bounds = LIFE_NOT_GIVEN,
                           .generations = WITHOUT_END,
                           .seed = 1,
                           .input = job->file.item[0],
                           .common = {.quiet = true},
                           .window = job->window};
    run.window.wanted = run.window.wait = run.window.plays = true;
    if (run.window.budget <= 0)
        run.window.budget = 100; /* nothing else uses the time */
    life_choice_begin(&run, NULL);
    const int status = life_job_close(&run, life_job_work(&run));
    return cli_interrupted() ? CLI_DONE : status; /* Ctrl-C is the only end */
}
