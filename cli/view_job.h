/* view_job.h - types and functions of `stdcl view`.
 *
 *   cmd_view.c       options, kinds of files, order of events
 *   view_play.c      playing: pace, steps, commands of viewers
 *   view_page.c      --record and -o: a recording, a page without a server
 *   view_recorded.c  recordings
 *   view_bodies.c    files of bodies, a series
 *   view_life.c      patterns of Life
 *   view_tables.c    velocities as a histogram of speeds; the table of a sweep
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_VIEW_JOB_H
#define STDCL_CLI_VIEW_JOB_H

#include "options.h"
#include "window.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>

/* Frames a second while files are recorded, the most of view_options.rate. */
enum { VIEW_RECORDED_RATE = 240 };

struct view_job {
    /* From the command line. */
    struct cli_strings file;
    struct cli_window window;
    const char *page;
    uint64_t generations; /* of a pattern, in a page or a recording; 0: not given */
    bool quiet;

    size_t frames, frame;
    /* Send frame job->frame to job->window.view; return an exit status. */
    int (*show)(void *job, int last);
    /* Record all frames in order. */
    int (*record)(struct view_job *job, const char *file);
    struct view_options about;

    /* One member per kind of file. */
    view_recording *recording, *other; /* other: overlaid; NULL: none */
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
    char *text[2];      /* titles, to free */
    const char **names; /* row names of a table, to free */
    const char **heads;
};

/* Read the files and set `about`, `frames` and `show`; for a pattern of Life, set `record`. Return
 * an exit status, after printing a message. */
int view_recorded_open(struct view_job *job);
int view_bodies_open(struct view_job *job);
int view_life_open(struct view_job *job);
int view_speeds_open(struct view_job *job);
int view_sweep_open(struct view_job *job);

int view_play(struct view_job *job);
int view_life_play(const struct view_job *job);          /* a pattern, as a run that goes on */
int view_record(struct view_job *job, const char *file); /* a `record` by `show` */
int view_page(struct view_job *job);

#endif
