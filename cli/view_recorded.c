/* view_recorded.c - recordings for `stdcl view`.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "message.h"
#include "view_job.h"

#include <stdcl.h>
#include <stddef.h>
#include <string.h>

static int show_recorded(void *arg, int last)
{
    struct view_job *job = arg;
    (void)last;
    return view_show_recorded(job->window.view, job->recording, job->frame) < 0
               ? cli_failed_call(NULL)
               : CLI_DONE;
}

/* Overlay the plots of both recordings, which are called by their files. */
static int overlay_plots(struct view_job *job)
{
    const char *const *file = job->file.item;
    const char *name[2] = {cli_window_name(file[0]), cli_window_name(file[1])};
    if (strcmp(name[0], name[1]) == 0)
        memcpy(name, file, sizeof name);
    job->other = view_recording_open(file[1]);
    if (!job->other || view_recording_overlay(job->recording, job->other, name) < 0)
        return cli_failed_call(NULL);
    return CLI_DONE;
}

int view_recorded_open(struct view_job *job)
{
    job->recording = view_recording_open(job->file.item[0]);
    if (!job->recording)
        return cli_failed_call(NULL);
    if (job->file.n == 2 && overlay_plots(job) != CLI_DONE)
        return CLI_FAILED;
    job->frames = view_recording_frames(job->recording);
    job->show = show_recorded;
    job->about = (struct view_options){.title = view_recording_title(job->recording),
                                       .replay = job->recording};
    return CLI_DONE;
}
