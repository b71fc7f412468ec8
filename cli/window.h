/* window.h - what commands that run something share about the window onto it: --view, --record.
 *
 *   CLI_WINDOW_OPTIONS(&job->window),                          rows of the table of options
 *   cli_window_check(&job->window, options)                    right after parsing
 *   cli_window_open(&job->window, &about)                      prints the link; waits if that was
 *                                                              asked
 *   cli_window_visit(&job->window, step, fraction, show, job)  between two bursts: shows what is
 *   due, obeys, waits while paused
 *   cli_window_end(&job->window, sentence)                     the last picture stays while
 *                                                              somebody looks
 *   cli_window_close(&job->window)
 *
 * Without these options nothing is opened, and a visit costs one comparison. Of several ranks the
 * first has the view, and says on each visit what all do: opening, visits, cli_window_says, `show`
 * and the end are collective.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_WINDOW_H
#define STDCL_CLI_WINDOW_H

#include "cli.h"

#include <stdcl/view.h>

struct cli_window {
    /* From the command line. */
    bool wanted, wait, guest;
    const char *address; /* NULL: a free port */
    double rate, budget; /* 0: not given */
    const char *record;

    bool open;
    view *view; /* of the first rank; NULL: none */
    struct cli_pace {
        bool paused;
        double stop;  /* where it stands while it is paused: at this step or behind it */
        double speed; /* steps a second; 0: as fast as it can */
    } pace, agreed;   /* as viewers want it now; at the last visit, the same on all ranks */
    double step;      /* of the last visit */
    double interval;  /* seconds from the last picture to the next, as that was due then */
    size_t bodies;    /* when it was opened */
    uint64_t frame;   /* of a replay */
    double seek;      /* the frame that a viewer wants; below 0: none */
    struct {
        double time, step;
    } from, since; /* of the pace; of the rate that is told */
    double steps;  /* a second, lately */
};

cli_reader cli_read_window; /* for the table */
#define CLI_WINDOW_OPTIONS(window)                                                                         \
    CLI_GROUP("Looking at it"),                                                                            \
        CLI_PARSED_OPTIONAL(                                                                               \
            0, "view", "PORT|unix:PATH", (window), cli_read_window,                                        \
            "show the run in a browser: prints a link for this machine, and how to reach it from another " \
            "(default: a free port)"),                                                                     \
        CLI_FLAG(0, "view-wait", &(window)->wait, "begin when somebody looks"),                            \
        CLI_FLAG(0, "view-guest", &(window)->guest,                                                        \
                 "print a second link, with which one may only look"),                                     \
        CLI_REAL(0, "view-rate", "N", &(window)->rate, 0.1, 240,                                           \
                 "pictures a second at most (default 30)"),                                                \
        CLI_REAL(0, "view-budget", "PERCENT", &(window)->budget, 0.01, 100,                                \
                 "of the run's time for showing it, at most (default 1)"),                                 \
        CLI_STRING(0, "record", "FILE.view", &(window)->record,                                            \
                   "keep what is shown, for 'stdcl view FILE.view'")

/* All return an exit status, after printing what is wrong. */

/* Sums over all there is, for plots: they may take a quarter of the budget, and pictures half.
 * Whether they are due on the first rank; asked before them, and told after. */
struct cli_sums {
    double at, seconds[3]; /* when they were made last, and how long the last ones took */
};
bool cli_window_sums_due(const struct cli_window *window, const struct cli_sums *sums);
void cli_window_sums_made(struct cli_sums *sums, double began);

/* A number as the page writes them: "1,000,000". */
const char *cli_window_number(char text[32], uint64_t number);

/* A file's name without its folders, as titles have it. */
const char *cli_window_name(const char *file);

int cli_window_check(const struct cli_window *window, const struct cli_option *options);

/* Opens what was asked for, if anything. `about` is what there is to see; the rest of it is filled
 * in. */
int cli_window_open(struct cli_window *window, struct view_options *about);

/* What the first rank says, on all; false when that did not come. Alone: what it is given. */
bool cli_window_says(const struct cli_window *window, bool word);

/* `show` hands the picture of now to the view; `last` of the run. */
int cli_window_visit(struct cli_window *window, uint64_t step, double fraction,
                     int (*show)(void *job, int last), void *job);

/* While a burst lasts: so that who wants to end the run need not wait for it. */
void cli_window_listen(struct cli_window *window);

/* How many steps there may be from `step` until the next visit, and how many seconds they should
 * take; `wanted` and `seconds` without viewers. */
uint64_t cli_window_burst(const struct cli_window *window, uint64_t step, uint64_t wanted);
double cli_window_seconds(const struct cli_window *window, double seconds);

void cli_window_end(struct cli_window *window, const char *sentence);
int cli_window_close(struct cli_window *window);

#endif
