/* view_recorded.c - recordings for `stdcl view`.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "message.h"
#include "view_job.h"

#include <stdcl.h>
#include <stddef.h>

static int show_recorded(void *arg, int last)
{
    struct view_job *job = arg;
    (void)last;
    return view_show_recorded(job->window.view, job->recording, job->frame) < 0
               ? cli_failed_call(NULL)
               : CLI_DONE;
}

int view_recorded_open(struct view_job *job)
{
    job->recording = view_recording_open(job->file.item[0]);
    if (!job->recording)
        return cli_failed_call(NULL);
    job->frames = view_recording_frames(job->recording);
    job->show = show_recorded;
    job->about = (struct view_options){.title = view_recording_title(job->recording),
                                       .replay = job->recording};
    return CLI_DONE;
}
