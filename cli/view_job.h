/* view_job.h - what the files of `stdcl view` share.
 *
 *   cmd_view.c       the options, which kind of file it is, and the order in which things happen
 *   view_play.c      playing: pace, steps, and what viewers ask
 *   view_page.c      --record and -o: a recording, a page without a server
 *   view_recorded.c  recordings
 *   view_bodies.c    files of bodies, a series
 *   view_cells.c     patterns of Life
 *   view_tables.c    velocities as speeds in bins; the table of a sweep
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_VIEW_JOB_H
#define STDCL_CLI_VIEW_JOB_H

#include "window.h"

#include "formats/life.h"

struct view_job {
    /* From the command line. */
    struct cli_strings file;
    struct cli_window window;
    const char *page;
    bool quiet;

    size_t frames, frame;
    /* Hands picture job->frame to job->window.view; an exit status. */
    int (*show)(void *job, int last);
    struct view_options about;

    /* Of each kind of file. */
    view_recording *recording;
    struct life_pattern pattern;
    struct {
        uint32_t n;
        double top;
        uint64_t *count;
        double *expected;
    } bars;
    struct {
        size_t rows, columns;
        float *value;
    } table;
    char *text[2];      /* titles and the like, to free */
    const char **names; /* of rows of a table, to free */
    const char **heads;
};

/* Each reads what there is, and fills `about`, `frames` and `show`; an exit status, after saying
 * what is wrong. */
int view_recorded_open(struct view_job *job);
int view_bodies_open(struct view_job *job);
int view_cells_open(struct view_job *job);
int view_speeds_open(struct view_job *job);
int view_sweep_open(struct view_job *job);

int view_play(struct view_job *job);
int view_record(struct view_job *job, const char *file); /* all pictures, one after the other */
int view_page(struct view_job *job);

#endif
