/* view_play.c - `stdcl view` plays the frames in order, until Ctrl-C.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "interrupt.h"
#include "view_job.h"

#include <math.h>
#include <stdcl.h>
#include <stddef.h>

/* Next frame: the one a viewer asked for, or the following one; after the last the first. */
static size_t play_next_frame(struct view_job *job)
{
    struct cli_window *w = &job->window;
    const size_t end = job->frames - 1;
    if (w->seek >= 0) {
        const double wanted = w->seek;
        w->seek = -1;
        return wanted < (double)end ? (size_t)wanted : end;
    }
    return job->frame < end ? job->frame + 1 : 0;
}

int view_play(struct view_job *job)
{
    struct cli_window *w = &job->window;
    struct view_options *o = &job->about;
    int status = CLI_DONE;
    w->wanted = true;
    w->plays = true;
    w->budget = w->budget > 0 ? w->budget : 100; /* nothing else uses the time */
    o->can = VIEW_CAN_PAUSE | VIEW_CAN_STEP | VIEW_CAN_SPEED | VIEW_CAN_SEEK;
    o->frames = job->frames;
    status = cli_window_open(w, o);
    while (status == CLI_DONE && !cli_interrupted()) {
        w->frame = job->frame;
        if (job->frame == job->frames - 1 && !w->pace.paused) {
            w->pace.paused = true;
            w->pace.stop = (double)job->frame;
        }
        status = cli_window_visit(w, job->frame, NAN, job->show, job);
        job->frame = play_next_frame(job);
    }
    return cli_interrupted() ? CLI_DONE : status; /* Ctrl-C is the only end */
}
