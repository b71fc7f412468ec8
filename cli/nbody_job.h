/* nbody_job.h - the state of a run of `stdcl nbody`.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_JOB_H
#define STDCL_CLI_NBODY_JOB_H

#include "balance.h"
#include "common.h"
#include "progress.h"
#include "outputs.h"
#include "window.h"
#include "nbody_camera.h"
#include "nbody_fields.h"
#include "nbody_history.h"

#include "formats/csv.h"
#include "formats/particles.h"
#include "formats/picture.h"
#include "formats/series.h"
#include "formats/units.h"
#include "stdcl/nbody.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>

enum { NOT_GIVEN = -1 };
struct cli_stored; /* usage.h */

/* True for each option given whose default could also be a value. */
struct nbody_given {
    bool G, integrator, method, stepping, device;
};

/* Numbers of systems, from 1, as ascending ranges. */
enum { NBODY_SYSTEM_RANGES = 64 };
struct nbody_system_list {
    size_t n, first[NBODY_SYSTEM_RANGES], last[NBODY_SYSTEM_RANGES];
};

struct nbody_job {
    /* From the command line; NAN, 0 or NOT_GIVEN: to be chosen. */
    struct cli_common common;
    int argc; /* the command line itself */
    char **argv;
    struct nbody_given given;
    const char *input; /* NULL: a model */
    bool isolated;     /* ignore the kind of space of the input */
    int model;
    size_t n, steps, batch;
    uint64_t seed;
    double G, eps, dt, until;
    bool own_eps; /* per-body softenings from the file; eps is 0 */
    int integrator, precision, kernel, method;
    int coordinates, corrector; /* of whfast; nbody_corrector_order */
    bool safe_mode, megno;
    double hill;          /* critical distance of trace; 0: not given */
    bool if_direct;       /* precision applies only to direct sums */
    bool precision_noted; /* precision comes from the input file */
    struct cli_strings external;
    struct nbody_fields fields;
    int collide;
    bool watched;                /* the engine looks for contacts within steps */
    bool positions_known, bends; /* bodies are known at the last step; warned about curved paths */
    double radius;               /* of every body; NAN: not given */
    double accuracy;             /* 0: not given */
    int stepping;
    double eta;   /* 0: not given */
    size_t check; /* number of bodies in the force check */
    bool compare, check_step, direct_energies;
    const char *ensemble;            /* NULL: one system */
    struct nbody_system_list chosen; /* of its systems, for outputs; none: all */
    double spread;
    double snapshots;                           /* time between them; 0: none */
    double diag;                                /* time between rows of the table; 0: not given */
    struct cli_strings event_rules, stop_rules; /* --event, --stop-event */
    const char *event_file;                     /* --events */
    double stop_distance, stop_energy, time_limit; /* 0: none */
    const char *checkpoint, *resume;
    bool resume_anyway;
    double checkpoint_time, checkpoint_minutes; /* between checkpoints; 0: not given */
    struct cli_outputs outputs;
    struct cli_window window;
    const char *csv, *forces, *structure, *elements;
    struct cli_strings plots, figures;
    int paper;          /* of both: white or black */
    struct units units; /* names are empty: not given */
    struct nbody_fractions fractions;
    struct picture_options picture;
    double heaviest; /* upper mass limit of pictures; NAN: not given */
    struct nbody_camera camera;
    int colour_by; /* enum picture_colour_by */
    struct nbody_groups groups;
    size_t trails;   /* points of a path drawn */
    bool osculating; /* draw osculating orbits instead of paths */

    /* Results and state of the run. */
    /* Positions and velocities as of the last visit. With several ranks each may hold a slice of
     * them (bodies.all > 0, nbody_bodies.c); `n` counts all. */
    struct particles bodies;
    double time_start;
    double last_dt; /* last step, shortened for --until; else dt */
    bool shortened; /* the engine has that shorter step: no checkpoint may hold its state */
    size_t total;   /* steps to do */
    bool advanced;  /* this run has made a step */
    CLCONTEXT *context;
    nbody *engine;
    struct {
        bool step, integrator, precision;
    } by_default; /* true for a choice that neither the command line nor the input gave */
    struct csv table;
    bool table_begun;  /* it has a row */
    double table_time; /* of its last row */
    size_t every;      /* steps between rows; 0: no table */
    struct {
        size_t n;
        struct nbody_row *row;
    } rows; /* table so far, for checkpoints */
    struct nbody_history history;
    struct {
        size_t n;
        struct nbody_event *event;
    } events;
    struct {
        size_t n;
        struct nbody_orbit *row;
    } orbits; /* of --elements so far */
    struct {
        size_t n;
        struct nbody_found *row;
    } found; /* of --events so far */
    struct {
        size_t n;
        struct nbody_event_rule *rule;
    } rules;             /* of --event and --stop-event */
    double energy_lost;  /* by collisions */
    double interactions; /* of previous engines */
    size_t n_start;      /* bodies at the start */
    bool fitted;         /* frame and scale of pictures are fixed */
    bool extent_given;   /* by --extent: the frame never widens */
    struct {
        size_t n;
        double (*pos)[3];
        size_t bodies; /* with velocities at the last point; 0: none */
        double vel[64][3], time;
    } path;                   /* path points of few bodies, oldest first */
    struct checkpoint *saver; /* nbody_checkpoint.c; NULL without checkpoints */
    struct resumed *resumed;  /* nbody_resume.c; NULL unless resumed */
    struct series *series;    /* of --snapshots; all are due at the same times, a failed one ends */
    size_t series_n;
    double series_due; /* snapshots that were due so far, in this run and those it resumes */
    double seconds;    /* time spent stepping */
    struct {           /* load balancing since the last check */
        struct cli_balance clock;
        size_t step;
        const char *shape; /* shape given to the engine; not owned */
    } balance;
    struct cli_progress progress;
    struct {
        const char *name; /* current phase of the engine; NULL: steps */
        double from, to;  /* steps before and after the phase */
        double runs;      /* fractions of the run that this phase is 1/runs of; 0: none */
        double began;
        bool limited; /* --time-limit may end the phase */
    } doing;
    bool interrupted;
    uint32_t *shown; /* view: bodies shown, window.bodies of them */
    struct nbody_sample {
        uint32_t *which;
        float (*pos)[3], (*vel)[3];
        size_t n, wanted, bodies; /* n bodies sampled; the numbers wanted and present then */
    } sample;                     /* of `shown`, in the view's sample order */
    struct nbody_trail {
        float (*pos)[3]; /* `n` times the bodies of `sample` */
        double time[VIEW_INSTANTS];
        size_t n, bodies, most; /* most: instants between two frames */
        size_t every, seen;     /* one in `every` visits is kept; visits since the frame */
        double seconds;         /* to read the bodies, the last time */
    } trail;                    /* view: few bodies at the visits since the last frame */
    struct cli_sums sums;       /* energies, for the view */
    double began;               /* time of the first step */
    char stopped[300];          /* stop condition that ended the run; "": none */
    bool failed;                /* the stop condition is a failure */
    struct nbody_diagnostics start, end;
    struct nbody_force_errors errors;
    struct step_check *step_check; /* nbody_steps.c; NULL without --check-step */
};

/* True if the integrator chooses its steps, up to --dt. */
static inline bool nbody_job_chooses_steps(const struct nbody_job *job)
{
    return job->stepping != NBODY_FIXED || job->integrator == NBODY_IAS15;
}

/* Accuracy of the tree, with its default. */
static inline double nbody_job_accuracy(const struct nbody_job *job)
{
    return job->accuracy > 0 ? job->accuracy : 1e-3;
}

#endif
