/* life_job.h - types and functions of `stdcl life`.
 *
 *   cmd_life.c        options and order of events
 *   life_names.c      names of engines and bounds; the reason for an engine
 *   life_rule.c       rule, written out or from a file
 *   life_choice.c     --engine auto: bounded grid or unbounded plane
 *   life_grid.c       bounded grid: size, rule and initial cells
 *   life_run.c        main loop: batches of generations between visits to the outputs
 *   life_balance.c    load balancing between ranks
 *   life_lines.c      populations line by line, as printed by bgolly
 *   life_edge.c       detects when an unbounded pattern reaches the edges of a grid
 *   life_output.c     patterns, pictures, films, the table of populations
 *   life_plane.c      runs of --engine hashlife and sparse on an unbounded plane
 *   life_start.c      creates one of these engines with the pattern
 *   life_race.c       --engine auto: switches to the faster of the two
 *   life_squares.c    macrocell files of a plane
 *   life_view.c       --view: the grid in a browser
 *   life_watch.c      --watch: the grid in the terminal
 *   life_compare.c    --compare: all engines on the same soup
 *   life_census.c     census of soups
 *   life_report.c     report as text or JSON
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_LIFE_JOB_H
#define STDCL_CLI_LIFE_JOB_H

#include "balance.h"
#include "common.h"
#include "progress.h"
#include "ranks.h"
#include "outputs.h"
#include "window.h"

#include "formats/csv.h"
#include "formats/life.h"
#include "stdcl/life.h"

#include <errno.h>
#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>

enum { LIFE_NOT_GIVEN = -1 };

struct life_job;

/* Names in the order of enum life_bounds, ended by NULL. */
extern const char *const life_bounds_names[];

/* With --explain, print the engine's reason for the choice. Store the names of the engines, ended
 * by NULL. */
void life_job_explain(const struct life_job *job, const life *lf);
void life_job_engine_names(const char *names[LIFE_ENGINES + 1]);

/* WIDTHxHEIGHT; 0: not given. */
struct life_size {
    size_t width, height;
};

/* Position of a pattern's top left corner. */
struct life_place {
    bool given;
    long long x, y;
};

/* Populations line by line, for `stdcl bgolly`. */
struct life_lines {
    bool wanted, doubling, stamps;
    unsigned quiet;      /* 1: generations only; 2: nothing */
    uint64_t step, last; /* 0: not given; UINT64_MAX: no end */
    double seconds;      /* time limit, checked between steps; 0: none */
    double began;        /* time of the first line */
    /* generation of the next line; of the last one if there is none */
    uint64_t due;
};

struct life_job {
    /* From the command line; NOT_GIVEN, NULL or 0: to be chosen. */
    struct cli_common common;
    struct cli_strings words; /* census, or none */
    uint64_t soups;
    struct life_size size;
    const char *rule_text, *input, *csv, *shape;
    char *rule_copy; /* rule_text without an infinite grid; or NULL */
    int engine, bounds;
    bool soup, watch, compare, until_stable, braille;
    double density; /* 0: the C library's rand() */
    uint64_t seed, generations;
    uint64_t step, memory, threads; /* of unbounded planes; 0: the engine's default */
    struct life_place at;
    struct life_lines lines;
    const char *rules_folder; /* additional directory of rule files */
    size_t zoom;
    double every_minutes; /* minutes between writes of -o patterns; 0: only at the end */
    struct cli_outputs outputs;
    struct cli_window window;
    struct cli_sums sums; /* population, for the view */

    /* Results and state of the run. */
    const char *choice;            /* reason for the engine */
    const char *on_device;         /* reason for an engine on devices; NULL: none */
    char rule[LIFE_RULE_TEXT];     /* B3/S23 */
    int states;                    /* states of a cell under the rule */
    life_transitions *transitions; /* transition table, for a rule file */
    char grid[LIFE_GRID_TEXT];     /* K30*,20, if bounds are LIFE_JOINED */
    bool rule_has_grid;            /* the rule of the option or file names bounds */
    /* infinite sides (horizontal, vertical), replaced by sides with room for the pattern */
    bool infinite[2];
    struct life_plane plane;     /* the pattern, for an unbounded plane */
    struct life_pattern pattern; /* the pattern, for grids */
    CLCONTEXT *context;
    life *engine_of_run;
    struct {
        bool open;    /* undecided which engine is faster */
        double until; /* time at which a step is cancelled; 0: never */
        /* seconds of the current engine since it started or the other was tried; limit at which
         * the other is tried */
        double spent, limit;
        uint64_t chunk; /* generations of HashLife's next step */
        uint64_t asked; /* generation of the last trial of the other engine */
    } race;
    uint64_t started; /* generation of the pattern's file */
    struct csv table;
    double seconds; /* time spent stepping */
    struct cli_progress progress;
    struct {
        bool filling; /* filling the grid; otherwise stepping: */
        double from, to;
        double began;
    } doing;
    uint64_t period, period_generation;
    struct {
        bool watched, was_met;
        uint64_t next,
            /* earliest generation at which a cell can reach an edge; generation at which one did */
            met;
        unsigned looks;
    } edge;
    bool interrupted;
    double kept; /* time of the last pattern write, or of the start */
    struct {     /* load balancing since the last check */
        struct cli_balance clock;
        uint64_t generation;
    } balance;
};

/* Functions that return int return an exit status, after printing a message. */

/* cmd_life.c. work: the whole run, once the options are known. close: free the job and return
 * the exit status. */
int life_job_work(struct life_job *job);
int life_job_close(struct life_job *job, int status);

/* life_lines.c: print the line of this generation and schedule the next one. */
int life_lines_visit(struct life_job *job, const char *population);

/* life_choice.c. begin: choose the engine by the options (NULL: not options of `stdcl life`).
 * end: read the pattern and complete the choice. */
void life_choice_begin(struct life_job *job, const struct cli_option *options);
int life_choice_end(struct life_job *job);

/* life_rule.c. rule: take a rule without a grid; `where` names its origin in messages.
 * check_states: check the states of a pattern against the rule. */
int life_job_rule(struct life_job *job, const char *text, const char *where);
int life_job_check_states(const struct life_job *job, unsigned states);

/* life_grid.c: choose size, rule and bounds; create the engine; fill in the initial cells. */
int life_job_plan(struct life_job *job);
life *life_job_create(struct life_job *job, enum life_engine engine);
int life_job_fill(const struct life_job *job, life *lf);

/* life_run.c: the main loop. An interruption is no failure. progress: the engine's callback.
 * stopped: True if the callback cancelled the failed call. */
int life_job_run(struct life_job *job);
int life_job_progress(void *job, double fraction);
static inline bool life_job_stopped(void)
{
    return clerrno == ECANCELED && cli_ranks_interrupted(false);
}

/* life_edge.c: position of the pattern's cell 0,0. */
void life_job_corner(const struct life_job *job, long long *x, long long *y);

/* Detect the first contact of a pattern with an edge. open: start; look: check if due, and warn;
 * batch: limit n generations to the next check; end: print a deferred warning. */
int life_edge_open(struct life_job *job);
int life_edge_look(struct life_job *job);
uint64_t life_edge_batch(const struct life_job *job, uint64_t n);
void life_edge_end(struct life_job *job);

/* life_plane.c: check the options for an unbounded plane; run it, including the report. */
int life_plane_check(const struct life_job *job, const struct cli_option *options);
int life_plane_run(struct life_job *job);

/* life_squares.c: fill a plane from a macrocell file; save the plane as a macrocell file; copy all
 * cells of `sparse` to the empty `tree`. -1 with clerror(). */
int life_squares_copy(life *sparse, life *tree);
int life_squares_fill(const struct life_job *job, life *plane);
int life_squares_save(struct life_job *job, const char *file);

/* life_start.c: create the plane of the run with its cells. make: create one of the engines;
 * NULL with clerror(). fill: put the pattern there; `done` frees the pattern. device: open the
 * device when the first engine needs one; an exit status. */
int life_start_open(struct life_job *job);
int life_start_device(struct life_job *job);
life *life_start_make(struct life_job *job, enum life_engine engine);
int life_start_fill(const struct life_job *job, life *plane);
void life_start_done(struct life_job *job);

/* life_race.c: step the plane of the run; with --engine auto, find the faster engine. -1 with
 * clerror(). */
int life_race_step(struct life_job *job, uint64_t generations);

/* life_balance.c: load balancing between ranks; begin before the first batch, visit after each.
 * Collective. */
void life_balance_begin(struct life_job *job);
int life_balance_visit(struct life_job *job);

/* life_view.c. open: open the view, if wanted; visit: between batches; end: the last picture. */
int life_view_open(struct life_job *job);
int life_view_visit(struct life_job *job);
int life_view_end(struct life_job *job);

/* Number of states shown; states of a rectangle with its corner in the grid, a byte each. */
unsigned life_job_states(const struct life_job *job);
int life_job_get_states(struct life_job *job, long long x, long long y, size_t width, size_t height,
                        unsigned char *state);

/* life_watch.c: animation in the terminal, for grids and planes. */
int life_job_watch(struct life_job *job);

/* life_census.c: check the options of a census; run it, including the report. */
int life_census_check(const struct life_job *job, const struct cli_option *options);
int life_census_run_job(struct life_job *job);

/* life_compare.c: run --compare, including the report. */
int life_job_compare(struct life_job *job);

/* life_output.c. plan: classify and check the names; open: open the table; row, frame: add a row
 * or a frame; finish: write the final outputs; discard: drop incomplete ones. For
 * --every-minutes: has_cells: True if -o names a pattern; is_due: True if it is time; keep:
 * write the patterns. */
int life_output_plan(struct life_job *job);
int life_output_open(struct life_job *job);
int life_output_row(struct life_job *job, const struct life_sample *sample);
int life_output_frame(struct life_job *job);
int life_output_finish(struct life_job *job);
bool life_output_has_cells(const struct life_job *job);
bool life_output_is_due(const struct life_job *job);
int life_output_keep(struct life_job *job);
void life_output_discard(struct life_job *job);

/* life_report.c */
int life_job_report(struct life_job *job);

/* Name of the bounds. */
static inline const char *life_job_bounds(const struct life_job *job)
{
    return job->bounds == LIFE_JOINED ? job->grid : life_bounds_names[job->bounds];
}

/* True for an unbounded plane. */
static inline bool life_job_unbounded(const struct life_job *job)
{
    return job->engine_of_run && life_bounds_of(job->engine_of_run) == LIFE_UNBOUNDED;
}

/* True for more than two states, or for a rule file. */
static inline bool life_job_has_states(const struct life_job *job)
{
    return job->states > 2 || job->transitions;
}

/* True for the engines of unbounded planes. */
static inline bool life_job_plane_engine(int engine)
{
    return engine == LIFE_HASHLIFE || engine == LIFE_SPARSE;
}

/* Current generation, counted from that of the pattern's file. */
static inline uint64_t life_job_generation(const struct life_job *job)
{
    return (life_job_unbounded(job) ? 0 : job->started) + life_generation(job->engine_of_run);
}

#endif
