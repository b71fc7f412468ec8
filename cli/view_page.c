/* view_page.c - `stdcl view FILE -o page.html`: a page that contains the recording. Files of
 * other kinds, and two recordings, are recorded first, as by `--record`.
 * SPDX-License-Identifier: MIT
 */
#include "command.h"
#include "interrupt.h"
#include "message.h"
#include "view_job.h"

#include "core/outfile.h"

#include <stdcl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static int write_page(const struct view_job *job, const char *recording)
{
    struct outfile out;
    view_recording *r = view_recording_open(recording);
    const size_t frames = r ? view_recording_frames(r) : 0;
    view_recording_close(r);
    if (!r || outfile_open(&out, job->page) < 0)
        return cli_failed_call(NULL);
    if (view_write_page(out.fp, recording) < 0) {
        (void)outfile_check(&out); /* the reason, if writing failed */
        const int status = cli_failed_call(NULL);
        outfile_discard(&out);
        return status;
    }
    if (outfile_commit(&out) < 0)
        return cli_failed_call(NULL);
    if (!job->quiet)
        printf("%s: a page with %zu frame%s\n", job->page, frames, frames == 1 ? "" : "s");
    return CLI_DONE;
}

int view_record(struct view_job *job, const char *file)
{
    job->about.frames = job->frames;
    job->window.record = file;
    job->window.rate = VIEW_RECORDED_RATE;
    job->window.budget = 100;
    int status = cli_window_open(&job->window, &job->about);
    for (job->frame = 0; status == CLI_DONE && job->frame < job->frames && !cli_interrupted();
         job->frame++) {
        while (!view_due(job->window.view) && !cli_interrupted())
            view_wait(job->window.view, 0.001);
        status = job->show(job, job->frame + 1 == job->frames);
    }
    return cli_first_failure(status, cli_window_close(&job->window));
}

int view_page(struct view_job *job)
{
    static const char *const within[] = {"frames.view", ".frames.view.0.tmp", NULL};
    char folder[512], file[600];
    if (job->recording && !job->other)
        return write_page(job, job->file.item[0]);
    if (outfile_folder(folder, sizeof folder, "view", within) < 0)
        return cli_failed_call(NULL);
    snprintf(file, sizeof file, "%s/%s", folder, within[0]);
    int status = job->record(job, file);
    if (status == CLI_DONE && cli_interrupted())
        status = cli_interrupt_status(CLI_FAILED);
    if (status == CLI_DONE)
        status = write_page(job, file);
    outfile_folder_remove(folder);
    return status;
}
