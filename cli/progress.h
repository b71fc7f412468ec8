/* progress.h - the progress line on a terminal: fraction done, rate, time left.
 *
 * Silent unless stderr is a terminal. Not thread-safe; at most one line at a time. Messages appear
 * above it.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_PROGRESS_H
#define STDCL_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

/* Work done at a time: speeds are measured from the first report, when kernels are compiled. */
struct cli_progress_mark {
    double at, done;
};

struct cli_progress {
    const char *unit; /* "steps" */
    double total;     /* 0: unknown */
    double started, drawn;
    struct cli_progress_mark first, estimate; /* first calls of update and estimate with work */
    bool visible, quiet;
    bool partial; /* set after the start: total is a part of the run */
    bool growing; /* set after the start: the speed grows, so no time left is known */
};
/* False: the speed will change, so print no time left and no duration of the run. True: the speed
 * is constant from now on, and is measured again. The beginning of a run is steady. */
void cli_progress_steady(bool steady);
void cli_progress_start(struct cli_progress *progress, const char *unit, double total, bool quiet);

/* Redraw the line, at most ten times a second. `note` is appended, such as "10.2 G interactions/s";
 * NULL: nothing. */
void cli_progress_update(struct cli_progress *progress, double done, const char *note);

/* Erase the line. */
void cli_progress_end(struct cli_progress *progress);

/* Print the expected duration of the run once, on a terminal, if it exceeds ten seconds. `done`:
 * fraction of the whole run done since the progress started, 0 to 1. cli_progress_update calls it
 * if the total is known. */
void cli_progress_estimate(struct cli_progress *progress, double done);

/* Columns of the terminal that a line may take. */
size_t cli_line_columns(void);

/* Draw a line cut at the terminal's width; erase it before anything else is printed. */
void cli_line_draw(const char *line);
void cli_line_wipe(void);

#endif
