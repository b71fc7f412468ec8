/* life_job.h - the state of a run of `stdcl life`.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_LIFE_JOB_H
#define STDCL_CLI_LIFE_JOB_H

#include "balance.h"
#include "common.h"
#include "figures.h"
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
    bool identify;            /* stdcl life identify PATTERN */
    bool sweep;               /* stdcl life sweep RULES */
    const char *rules;        /* file of a sweep's rules; NULL: all without B0 */
    uint64_t soups;
    struct life_size size;
    const char *rule_text, *input, *csv, *shape;
    const char *symmetry, *root, *haul; /* of a census */
    char *rule_copy;                    /* rule_text without an infinite grid; or NULL */
    int engine, bounds;
    bool soup, watch, compare, until_stable, braille;
    double density; /* 0: the C library's rand() */
    uint64_t seed, generations;
    uint64_t step, memory, threads; /* of unbounded planes; 0: the engine's default */
    struct life_place at;
    struct life_lines lines;
    const char *rules_folder; /* additional directory of rule files */
    size_t zoom;
    bool grid_lines, caption; /* of pictures */
    struct cli_figures figures;
    double every_minutes; /* minutes between writes of -o patterns; 0: only at the end */
    struct cli_outputs outputs;
    struct cli_window window;
    struct cli_sums sums;                 /* population, for the view */
    double named;                         /* time when objects were named for the view */
    struct life_states_kept *states_kept; /* life_edit.c; NULL: none */

    /* Results and state of the run. */
    const char *choice;            /* reason for the engine */
    bool any_engine;               /* no option selects an engine or a device */
    const char *on_device;         /* reason for an engine on devices; NULL: none */
    bool host_plane;               /* the engine is `reference`, and its plane unbounded */
    char rule[LIFE_RULE_TEXT];     /* B3/S23 */
    int states;                    /* states of a cell under the rule */
    life_transitions *transitions; /* transition table, for a rule file */
    char grid[LIFE_GRID_TEXT];     /* K30*,20, if bounds are LIFE_JOINED */
    bool rule_has_grid;            /* the rule of the option or file names bounds */
    bool size_of_rule;             /* and the size is theirs, not --size */
    /* infinite sides (horizontal, vertical), replaced by sides with room for the pattern */
    bool infinite[2];
    struct life_plane plane;     /* the pattern, for an unbounded plane */
    struct life_pattern pattern; /* the pattern, for grids */
    CLCONTEXT *context;
    life *engine_of_run;
    struct {
        bool open;              /* undecided which engine is faster */
        double until;           /* time at which a step is cancelled; 0: never */
        enum life_engine clock; /* the clock of `until` is this engine's, life_race_clock */
        /* seconds of the current engine since it started or the other was tried; limit at which
         * the other is tried */
        double spent, limit;
        uint64_t chunk; /* generations of HashLife's next step */
        uint64_t asked; /* generation of the last trial of the other engine */
    } race;
    /* The pattern's file is of generation epoch + started. Engines count from `started`, in 64
     * bits; epoch is 0 or a multiple of 2^62. */
    life_generation_t epoch;
    uint64_t started;
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

/* True for the engines that have only unbounded planes. */
static inline bool life_job_plane_engine(int engine)
{
    return engine == LIFE_HASHLIFE || engine == LIFE_SPARSE;
}

#endif
