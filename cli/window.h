/* window.h - the view of a run in a browser, common to all commands: --view and --record.
 *
 *   CLI_WINDOW_OPTIONS(&job->window),                           in the table of options
 *   cli_window_check(&job->window, quiet)                       after parsing
 *   cli_window_open(&job->window, &about)                       print the link, wait for a viewer
 *   cli_window_visit(&job->window, step, fraction, show, job)   between batches: send a frame if
 *                                                               due, obey commands, block if paused
 *   cli_window_end(&job->window, sentence, show, job)           deliver the last state
 *   cli_window_stay(&job->window, show, job)                    after the report: serve viewers
 *   cli_window_close(&job->window)
 *
 * On a terminal the window is interactive: it opens the browser, waits up to 30 s for the first
 * viewer, begins the run slowly, and stays after the run until Ctrl-C, or until it has had no
 * viewer for a minute. With --quiet, or with standard error elsewhere, the run does not wait.
 *
 * Without these options nothing is opened, and a visit costs one comparison. Rank 0 owns the view
 * and broadcasts its decisions: open, visit, decide, `show`, end and stay are collective.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_WINDOW_H
#define STDCL_CLI_WINDOW_H

#include "options.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stdcl/view.h>
#include <stddef.h>
#include <stdint.h>

/* Carry out VIEW_PUT, VIEW_RULE or a step back, VIEW_STEP with a negative value; set *at to the
 * step of the state afterwards. Return an exit status. */
typedef int cli_window_edit(void *job, const struct view_command *command, uint64_t *at);

struct cli_window {
    /* From the command line. */
    bool wanted, wait, guest, no_browser;
    const char *address; /* NULL: a free port */
    double rate, budget; /* 0: not given */
    const char *record;
    bool quiet; /* --quiet */

    bool interactive;      /* a person at a terminal asked for the view; on rank 0 */
    bool again;            /* a viewer asked for the run once more, after its end */
    bool every;            /* each step is a frame, however long it waits */
    bool plays;            /* stdcl view, which writes no files */
    cli_window_edit *edit; /* carries out viewers' changes of a paused run; NULL: none is offered */
    bool open, ended;      /* ended: the run came to its end, which a failed run does not */
    view *view;            /* on rank 0; NULL: none */
    struct cli_pace {
        bool paused;
        double stop;    /* while paused: stop at the first step >= stop */
        double speed;   /* steps per second; 0: unlimited */
    } pace, agreed;     /* requested by viewers; agreed at the last visit by all ranks */
    double start_speed; /* steps a second at the start of an interactive run; 0: slow beginning */
    bool automatic;     /* the pace was set by the interactive beginning, not by a viewer */
    bool commanded;     /* a viewer has set the pace */
    double seen;        /* time of the last look at which there was a viewer */
    double slow_from;   /* start of the slow beginning of an interactive run; 0: none */
    double patient;     /* end of a wait after the run */
    double greet_to; /* until then the run waits at its first step for the viewers' first frame */
    double step;     /* of the last visit */
    double interval; /* seconds between the last frame and the next */
    size_t bodies;   /* at opening */
    uint64_t frame;  /* of a replay */
    uint64_t frames; /* of a replay; 0: a run */
    bool waited;     /* the last visit waited for the pace */
    bool changing;   /* a viewer's change is being carried out; its steps obey no commands */
    double seek;     /* frame requested by a viewer; below 0: none */
    struct {
        double time, step;
    } from, since, shown; /* start of the pace; start of the measured rate; last frame */
    double steps;         /* recent steps per second */
};

cli_reader cli_read_window; /* for the table */
#define CLI_WINDOW_OPTIONS(window)                                                                                                     \
    CLI_GROUP("View"),                                                                                                                 \
        CLI_PARSED_OPTIONAL(                                                                                                           \
            0, "view", "PORT|unix:PATH", (window), cli_read_window,                                                                    \
            "live view in a browser; prints a link for this machine and the command to reach it from elsewhere "                       \
            "(default: a free port)"),                                                                                                 \
        CLI_FLAG(                                                                                                                      \
            0, "view-wait", &(window)->wait,                                                                                           \
            "live view; start the run when the first viewer connects (default: after 30 s at most on a terminal, at once elsewhere)"), \
        CLI_FLAG(0, "no-browser", &(window)->no_browser,                                                                               \
                 "print the link only (default: on a terminal also open it, except in ssh)"),                                          \
        CLI_FLAG(0, "view-guest", &(window)->guest,                                                                                    \
                 "second link for viewers without control of the run"),                                                                \
        CLI_REAL(0, "view-rate", "N", &(window)->rate, 0.1, 240,                                                                       \
                 "maximum frames per second (default 30)"),                                                                            \
        CLI_REAL(0, "view-budget", "PERCENT", &(window)->budget, 0.01, 100,                                                            \
                 "maximum share of the run time spent on the view (default 1)"),                                                       \
        CLI_STRING(0, "record", "FILE.view", &(window)->record,                                                                        \
                   "recording of the view, for 'stdcl view FILE.view'")
#define CLI_WINDOW_COMBINATIONS                                                                    \
    CLI_REQUIRES("view-guest no-browser", "view view-wait", NULL),                                 \
        CLI_REQUIRES("view-rate view-budget", "view view-wait record", NULL)

/* Functions that return int return an exit status, after printing a message. */

/* Sums over the whole state, for plots. They may take a quarter of the budget, frames half.
 * Ask cli_window_sums_due on rank 0 before computing them, and call cli_window_sums_made after. */
struct cli_sums {
    double at, seconds[3]; /* time of the last sums; durations of the last three */
};
bool cli_window_sums_due(const struct cli_window *window, const struct cli_sums *sums);
void cli_window_sums_made(struct cli_sums *sums, double began);

/* A number as the page writes them: "1,000,000". */
const char *cli_window_number(char text[32], uint64_t number);

/* File name without its directories, for titles. */
const char *cli_window_name(const char *file);

/* Check the name of the recording. quiet: --quiet was given. */
int cli_window_check(struct cli_window *window, bool quiet);

/* Open the view and the recording, if requested. `about` describes the picture; the options fill
 * in the rest. */
int cli_window_open(struct cli_window *window, struct view_options *about);

/* Broadcast rank 0's `word`; false if the broadcast failed. Without ranks: `word`. */
bool cli_window_decide(const struct cli_window *window, bool word);

/* Send the current frame; `last`: the final one. Return an exit status. */
typedef int cli_window_show(void *job, int last);

/* Visit the view between two batches. */
int cli_window_visit(struct cli_window *window, uint64_t step, double fraction,
                     cli_window_show *show, void *job);

/* Report progress during a batch to viewers. */
void cli_window_progress(struct cli_window *window, double fraction);

/* Poll viewers' commands during a batch, so that a viewer can stop the run early. */
void cli_window_listen(struct cli_window *window);

/* Steps until the next visit, from `step`, and the seconds they should take; `wanted` and
 * `seconds` without viewers. */
uint64_t cli_window_batch(const struct cli_window *window, uint64_t step, uint64_t wanted);
double cli_window_seconds(const struct cli_window *window, double seconds);

/* Send the final frame and the sentence, and wait up to two seconds until all viewers have both. */
int cli_window_end(struct cli_window *window, const char *sentence, cli_window_show *show,
                   void *job);

/* If the window is interactive: serve the final state until Ctrl-C, or until there has been no
 * viewer for a minute. Call it when all files are written. Returns at once otherwise. */
int cli_window_stay(struct cli_window *window, cli_window_show *show, void *job);
int cli_window_close(struct cli_window *window);

/* True if a viewer asked for the run once more. If so, main calls cli_window_run_again after all
 * else: replace this process by one with the same command line; its view has the same link.
 * Returns only on failure, with an exit status. */
bool cli_window_runs_again(void);
int cli_window_run_again(char **argv);

#endif
