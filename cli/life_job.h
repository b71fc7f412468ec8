/* life_job.h - what the files of `stdcl life` share.
 *
 *   cmd_life.c      the options, and the order in which things happen
 *   life_names.c    names of engines and bounds
 *   life_rule.c     the rule, written out or listed in a file
 *   life_choice.c   --engine auto: a grid, or a plane without edges
 *   life_grid.c     the grid: its size, its rule, and what lives on it at the start
 *   life_run.c      the loop: bursts of generations between visits to the outputs
 *   life_lines.c    populations line by line, as bgolly prints them
 *   life_edge.c     when a pattern meets an edge that its file does not have
 *   life_output.c   patterns, pictures, films, the table of populations
 *   life_plane.c    --engine hashlife and sparse: all of it, on a plane without edges
 *   life_endless.c  what these two have in common
 *   life_start.c    makes one of them, with the pattern
 *   life_race.c     --engine auto: which of them is faster
 *   life_squares.c  macrocell files of such a plane
 *   life_view.c     --view: the grid in a browser
 *   life_watch.c    --watch: the grid in the terminal
 *   life_compare.c  --compare: all engines on the same soup
 *   life_census.c   census: the whole of it
 *   life_report.c   the report as text or JSON
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_LIFE_JOB_H
#define STDCL_CLI_LIFE_JOB_H

#include "outputs.h"
#include "window.h"

#include "formats/csv.h"
#include "formats/life.h"
#include "stdcl/hashlife.h"
#include "stdcl/life.h"
#include "stdcl/sparse.h"

#include <errno.h>

/* In the order of enum life_engine, and then those that have no grid; and of enum life_bounds;
 * ended by NULL. */
extern const char *const life_engine_names[];
extern const char *const life_bounds_names[];

enum { LIFE_NOT_GIVEN = -1, LIFE_HASHLIFE = LIFE_ENGINES, LIFE_SPARSE, LIFE_AUTO };

/* A plane without edges; both are NULL where there is a grid. */
struct life_endless {
    hashlife *tree;
    life_sparse *sparse;
    uint64_t started; /* the generation that sparse counts from */
};

/* WIDTHxHEIGHT; 0 when it was not given. */
struct life_size {
    size_t width, height;
};

/* Where a pattern's top left corner goes. */
struct life_place {
    bool given;
    long long x, y;
};

/* Populations line by line, for `stdcl bgolly`. */
struct life_lines {
    bool wanted, doubling, stamps;
    unsigned quiet;      /* 1: generations only; 2: nothing */
    uint64_t step, last; /* 0: none given; UINT64_MAX: without end */
    double seconds;      /* after which no step begins; 0: none */
    double began;        /* when the first line was due */
    uint64_t due; /* the generation of the next line; that of the last one if there is none */
};

struct life_job {
    /* From the command line; NOT_GIVEN, NULL or 0 where it is still to be chosen. */
    struct cli_common common;
    struct cli_strings words; /* census, or none */
    uint64_t soups;
    struct life_size size;
    const char *rule_text, *input, *csv, *shape;
    char *rule_copy; /* of rule_text, without a grid that has no edges; or NULL */
    int engine, bounds;
    bool soup, watch, compare, until_stable, braille;
    double density; /* 0: the C library's rand() */
    uint64_t seed, generations;
    uint64_t step, memory, threads; /* of planes without edges; 0: their own choice */
    struct life_place at;
    struct life_lines lines;
    const char *rules_folder; /* where files of rules are looked for, too */
    size_t zoom;
    double every_minutes; /* patterns of -o are written so often meanwhile; 0: only at the end */
    struct cli_outputs outputs;
    struct cli_window window;
    struct cli_sums sums; /* of all live cells, for the window */

    /* Results, and what is needed meanwhile. */
    const char *choice;        /* why this engine */
    const char *on_device;     /* why it must be one that computes on devices; NULL: it need not */
    char rule[LIFE_RULE_TEXT]; /* B3/S23 */
    int states;                /* of a cell under the rule */
    life_transitions *transitions; /* the rule, if a file lists it */
    char grid[LIFE_GRID_TEXT];     /* K30*,20, where bounds are LIFE_JOINED */
    bool rule_has_grid;            /* the rule that was given, or the file's, names bounds */
    bool infinite[2]; /* and these have no end to the sides, or up and down: so many columns or rows
                         are taken that the pattern has room */
    struct life_plane plane;     /* the pattern, for a plane without edges */
    struct life_pattern pattern; /* and for grids */
    CLCONTEXT *context;
    life *engine_of_run;
    struct life_endless endless; /* of --engine hashlife and sparse, instead */
    struct {
        bool open;           /* either engine may be the faster one */
        double until;        /* the clock at which a step is to end; 0: not at all */
        double spent, limit; /* seconds of the one at work since it began, or the other was tried;
                                after so many the other is tried */
        uint64_t chunk;      /* generations of HashLife's next step */
        uint64_t asked;      /* the generation at which the other was tried last */
    } race;
    uint64_t started; /* the generation that the pattern's file had */
    struct csv table;
    double seconds; /* of stepping */
    struct cli_progress progress;
    struct {
        bool filling; /* the grid, with cells; else generations: */
        double from, to;
        double began;
    } doing;
    uint64_t period, period_generation;
    struct {
        bool watched, was_met;
        uint64_t next,
            met; /* generations of the engine: until then nothing can meet an edge; something did */
        unsigned looks;
    } edge;
    bool interrupted;
    double kept; /* the clock when patterns were written last, or the run began */
    struct {     /* of ranks, since they were looked at last */
        struct cli_shares clock;
        uint64_t generation;
    } shares;
};

/* All return an exit status, after printing what is wrong. */

/* cmd_life.c: all of a run once its options are known; and what frees the job, after which the
 * result is the status of the program. */
int life_job_work(struct life_job *job);
int life_job_close(struct life_job *job, int status);

/* life_lines.c: prints a line of this generation, and settles when the next one is due. */
int life_lines_visit(struct life_job *job, const char *population);

/* life_choice.c: what options say of the engine, or NULL where there are none of `stdcl life`;
 * reads the pattern, and says the rest. */
void life_choice_begin(struct life_job *job, const struct cli_option *options);
int life_choice_end(struct life_job *job);

/* life_rule.c: takes a rule that stands somewhere, `where` in messages, without a grid; whether a
 * text is one of Larger than Life, and how far its cells see, 1 of all others; whether a pattern of
 * so many states is for the rule. */
int life_job_rule(struct life_job *job, const char *text, const char *where);
bool life_job_rule_is_large(const char *text);
unsigned life_job_rule_reach(const char *text);
int life_job_check_states(const struct life_job *job, unsigned states);

/* life_grid.c: settles size, rule and bounds; makes the engine; puts cells on it. */
int life_job_plan(struct life_job *job);
life *life_job_create(struct life_job *job, enum life_engine engine);
int life_job_fill(const struct life_job *job, life *lf);

/* life_run.c. Interruption is no failure here. tell: what an engine calls meanwhile. stopped:
 * whether a call of an engine failed because that ended it. */
int life_job_run(struct life_job *job);
int life_job_tell(void *job, double fraction);
static inline bool life_job_stopped(void)
{
    return clerrno == ECANCELED && cli_ranks_interrupted(false);
}

/* life_edge.c: where the pattern's cell 0,0 goes. */
void life_job_corner(const struct life_job *job, long long *x, long long *y);

/* Begins; looks, when it is time, whether a pattern has met an edge, and says so; how many of n
 * generations may go before that; says what is still to be said at the end. */
int life_edge_open(struct life_job *job);
int life_edge_look(struct life_job *job);
uint64_t life_edge_burst(const struct life_job *job, uint64_t n);
void life_edge_end(struct life_job *job);

/* life_plane.c: whether the options are for a plane without edges, and the whole of a run on it,
 * its report included. */
int life_plane_check(const struct life_job *job, const struct cli_option *options);
int life_plane_run(struct life_job *job);

/* life_squares.c: the squares of a macrocell file become a plane; the plane of the run becomes such
 * a file. -1 with clerror(). */
int life_squares_fill(const struct life_job *job, struct life_endless *e);
int life_squares_save(struct life_job *job, const char *file);

/* life_endless.c: as the functions of stdcl/hashlife.h of these names. */
void endless_free(struct life_endless *e);
int endless_put(struct life_endless *e, long long x, long long y, const struct life_cells *cells);
int endless_get(struct life_endless *e, long long x, long long y, struct life_cells *cells);
int endless_density(struct life_endless *e, long long x, long long y, size_t width, size_t height,
                    unsigned zoom, uint64_t *live);
int endless_look(struct life_endless *e, unsigned zoom, long long x, long long y,
                 struct life_cells *cells);
int endless_step(struct life_endless *e, uint64_t generations);
int endless_population(struct life_endless *e, struct hashlife_number *population);
int endless_bounding_box(struct life_endless *e, struct hashlife_box *box);
uint64_t endless_generation(const struct life_endless *e);

/* The cells of one as those of the other, which is empty. */
int endless_plant(life_sparse *sparse, hashlife *tree);

/* life_start.c: makes the plane of the run, with its cells. `make` makes one or the other and
 * returns 0, or -1 with clerror(); `fill` puts the pattern there, which is kept until `done`. The
 * device is opened for the first that needs one: an exit status. */
int life_start_open(struct life_job *job);
int life_start_device(struct life_job *job);
int life_start_make(struct life_job *job, int engine, struct life_endless *e);
int life_start_fill(const struct life_job *job, struct life_endless *e);
void life_start_done(struct life_job *job);

/* life_race.c: steps the plane of the run; if --engine auto has left open by which engine, this is
 * found out. -1 with clerror(). */
int life_race_step(struct life_job *job, uint64_t generations);

/* life_shares.c: how many rows each rank has; begin before the first burst, visit after each.
 * Collective. */
void life_shares_begin(struct life_job *job);
int life_shares_visit(struct life_job *job);

/* life_view.c: opens the window, if one is wanted; between bursts; the last picture. */
int life_view_open(struct life_job *job);
int life_view_visit(struct life_job *job);
int life_view_end(struct life_job *job);

/* How many states cells have that are shown; those of a rectangle, a byte each, whose corner lies
 * in the grid. */
unsigned life_job_states(const struct life_job *job);
int life_job_get_states(struct life_job *job, long long x, long long y, size_t width, size_t height,
                        unsigned char *state);

/* life_watch.c: the same in the terminal, also of a plane without edges. */
int life_job_watch(struct life_job *job);

/* life_census.c: whether the options are for a census, and the whole of it, its report included. */
int life_census_check(const struct life_job *job, const struct cli_option *options);
int life_census_run_job(struct life_job *job);

/* life_compare.c: the whole of --compare, its report included. */
int life_job_compare(struct life_job *job);

/* life_output.c: sorts and checks the names before anything is computed; opens the table; adds rows
 * to it, or a frame to the series; writes what is due at the end; drops the table. With
 * --every-minutes files of cells are due meanwhile, too, by the clock: whether there is such a
 * name; writes them. */
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

/* What lies beyond the edges, in a word. */
static inline const char *life_job_bounds(const struct life_job *job)
{
    return job->bounds == LIFE_JOINED ? job->grid : life_bounds_names[job->bounds];
}

/* Whether it is of a plane without edges. */
static inline bool life_job_endless(const struct life_job *job)
{
    return job->endless.tree || job->endless.sparse;
}

/* Whether its cells have more than two states, or are a file's. */
static inline bool life_job_has_states(const struct life_job *job)
{
    return job->states > 2 || job->transitions;
}

/* The generation as the user counts it. */
static inline uint64_t life_job_generation(const struct life_job *job)
{
    return life_job_endless(job) ? endless_generation(&job->endless)
                                 : job->started + life_generation(job->engine_of_run);
}

#endif
