/* nbody_job.h - types and functions of `stdcl nbody`.
 *
 *   cmd_nbody.c        options and order of events
 *   nbody_names.c      names of models, integrators, precisions, kernels and methods
 *   nbody_bodies.c     bodies: read or generated; default softening and time step
 *   nbody_fields.c     external fields (--external)
 *   nbody_places.c     coincident bodies without softening
 *   nbody_collide.c    collisions (--collide)
 *   nbody_run.c        main loop: batches of steps between visits to the outputs
 *   nbody_balance.c    load balancing between ranks
 *   nbody_progress.c   callback of the engine: progress and cancellation
 *   nbody_output.c     snapshots, pictures, films, the table of energies
 *   nbody_series.c     numbered snapshots
 *   nbody_history.c    structure over time: --structure, --plot, --elements
 *   nbody_camera.c     projection, groups and paths of pictures
 *   nbody_checkpoint.c checkpoints; nbody_resume.c reads them
 *   nbody_stop.c       stop conditions
 *   nbody_view.c       the view in a browser
 *   nbody_steps.c      accuracy of the time step (--check-step)
 *   nbody_report.c     report as text or JSON
 *   nbody_ensemble.c   many planetary systems at once
 *   nbody_compare.c    kernels side by side
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_JOB_H
#define STDCL_CLI_NBODY_JOB_H

#include "balance.h"
#include "common.h"
#include "progress.h"
#include "outputs.h"
#include "window.h"

#include "formats/csv.h"
#include "formats/particles.h"
#include "formats/picture.h"
#include "formats/series.h"
#include "stdcl/nbody.h"

#include <stdbool.h>
#include <stdcl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Names of the enumerations in stdcl/nbody.h, in their order, ended by NULL. */
extern const char *const nbody_model_names[];
extern const char *const nbody_precision_names[];
const char *const *nbody_integrator_names(void);
extern const char *const nbody_kernel_names[];
extern const char *const nbody_method_names[];
extern const char *const nbody_stepping_names[];

enum { NOT_GIVEN = -1 };
struct cli_stored; /* usage.h */

/* True for each option given whose default could also be a value. */
struct nbody_given {
    bool G, integrator, method, stepping;
};

/* One line of the table of energies. */
enum { NBODY_COLUMNS = 11 };
struct nbody_row {
    double value[NBODY_COLUMNS];
};

/* View direction of pictures; angles in degrees. */
struct nbody_camera {
    double azimuth, elevation, zoom;
    int follow;
};
extern const char *const nbody_follow_names[];
extern const char *const nbody_colour_by_names[];

/* Bodies per colour; groups are contiguous in the order of the bodies. */
struct nbody_groups {
    size_t n;
    size_t size[PICTURE_GROUPS];
};

/* Mass fractions of the Lagrangian radii of --structure. */
enum { NBODY_FRACTIONS = 32 };
struct nbody_fractions {
    size_t n;
    double value[NBODY_FRACTIONS];
};

/* External force fields. */
enum { NBODY_MOST_FIELDS = 64 };
struct nbody_fields {
    size_t n;
    struct nbody_field field[NBODY_MOST_FIELDS];
};

/* A collision of two bodies, by their identifiers in files. */
struct nbody_event {
    double time;
    uint64_t first, second;
};
extern const char *const nbody_collide_names[];

/* Structure of the system over time, see nbody_history.c. */
struct nbody_history {
    size_t columns, n;
    double *value; /* n rows of `columns` numbers */
    char *text;    /* one line per row; `bytes` in all */
    size_t bytes;
};

struct nbody_job {
    /* From the command line; NAN, 0 or NOT_GIVEN: to be chosen. */
    struct cli_common common;
    int argc; /* the command line itself */
    char **argv;
    struct nbody_given given;
    const char *input; /* NULL: a model */
    int model;
    size_t n, steps, batch;
    uint64_t seed;
    double G, eps, dt, until;
    bool own_eps; /* per-body softenings from the file; eps is 0 */
    int integrator, precision, kernel, method;
    bool if_direct;       /* precision applies only to direct sums */
    bool precision_noted; /* precision comes from the input file */
    struct cli_strings external;
    struct nbody_fields fields;
    int collide;
    bool positions_known, bends; /* bodies are known at the last step; warned about curved paths */
    double radius;               /* of every body; NAN: not given */
    double accuracy;             /* 0: not given */
    int stepping;
    double eta;   /* 0: not given */
    size_t check; /* number of bodies in the force check */
    bool compare, check_step, direct_energies;
    bool many_steps;      /* choose dt so that the run has many steps */
    const char *ensemble; /* NULL: one system */
    double spread;
    double snapshots; /* time between them; 0: none */
    double diag;      /* time between rows of the table; 0: not given */
    double stop_distance, stop_energy, time_limit; /* 0: none */
    const char *checkpoint, *resume;
    bool resume_anyway;
    double checkpoint_time, checkpoint_minutes; /* between checkpoints; 0: not given */
    struct cli_outputs outputs;
    struct cli_window window;
    const char *csv, *forces, *structure, *elements;
    struct cli_strings plots;
    struct nbody_fractions fractions;
    struct picture_options picture;
    double heaviest; /* upper mass limit of pictures; NAN: not given */
    struct nbody_camera camera;
    int colour_by; /* enum picture_colour_by */
    struct nbody_groups groups;
    size_t trails; /* points of a path drawn */

    /* Results and state of the run. */
    struct particles bodies; /* positions and velocities as of the last visit */
    double time_start;
    double last_dt; /* last step, shortened for --until; else dt */
    size_t total;   /* steps to do */
    CLCONTEXT *context;
    nbody *engine;
    struct csv table;
    size_t every; /* steps between rows; 0: no table */
    struct {
        size_t n;
        struct nbody_row *row;
    } rows; /* table so far, for checkpoints */
    struct nbody_history history;
    struct {
        size_t n;
        struct nbody_event *event;
    } events;
    double energy_lost;  /* by collisions */
    double interactions; /* of previous engines */
    size_t n_start;      /* bodies at the start */
    bool fitted;         /* frame and scale of pictures are fixed */
    struct {
        size_t n;
        double (*pos)[3];
    } path;                   /* path points of few bodies, oldest first */
    struct checkpoint *saver; /* nbody_checkpoint.c; NULL without checkpoints */
    struct resumed *resumed;  /* nbody_resume.c; NULL unless resumed */
    struct series *series;    /* of --snapshots; all series are written at the same times */
    size_t series_n;
    double seconds; /* time spent stepping */
    struct {        /* load balancing since the last check */
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
    } doing;
    bool interrupted;
    uint32_t *shown; /* view: bodies shown, window.bodies of them */
    struct nbody_sample {
        uint32_t *which;
        float (*pos)[3], (*vel)[3];
        size_t n, wanted, bodies; /* n bodies sampled; the numbers wanted and present then */
    } sample;                     /* of `shown`, in the view's sample order */
    struct cli_sums sums;         /* energies, for the view */
    double began;                 /* time of the first step */
    char stopped[300];            /* stop condition that ended the run; "": none */
    bool failed;                  /* the stop condition is a failure */
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

/* Functions that return int return an exit status, after printing a message. */

/* nbody_bodies.c */
int nbody_job_bodies(struct nbody_job *job); /* read or generate job->bodies */
int nbody_job_choose(
    struct nbody_job *job); /* choose softening, step and precision, if not given */
struct nbody_options nbody_job_options(struct nbody_job *job); /* options of the engine */
int nbody_job_energies_check(
    const struct nbody_job *job); /* check the number of bodies for --direct-energies */
int nbody_job_energies(struct nbody_job *job,
                       struct nbody_diagnostics *d); /* nbody_diagnose; honours --direct-energies */
int nbody_job_engine(struct nbody_job *job, enum nbody_kernel kernel); /* create job->engine */
int nbody_job_plan(struct nbody_job *job); /* choose, create the engine and count the steps */

/* nbody_metadata.c */
int nbody_metadata_take(
    struct nbody_job *job); /* apply the input file's metadata where no option overrides it */
int nbody_metadata_set(struct nbody_job *job); /* set the metadata of output files */

/* nbody_fields.c. read: parse --external; take: parse a file's metadata; text: format as
 * metadata, from malloc; bind: true if no body can escape. */
int nbody_fields_read(struct nbody_job *job);
int nbody_fields_take(struct nbody_job *job, const char *text);
char *nbody_fields_text(const struct nbody_fields *fields);
bool nbody_fields_bind(const struct nbody_fields *fields);

/* nbody_places.c: CLI_FAILED for coincident bodies without softening */
int nbody_places_check(const struct nbody_job *job);

/* nbody_collide.c */
int nbody_collide_plan(struct nbody_job *job);
int nbody_collide_visit(struct nbody_job *job); /* after a step */
void nbody_collide_text(const struct nbody_job *job, FILE *fp);
struct json_t *nbody_collide_json(const struct nbody_job *job);

/* nbody_series.c */
int nbody_bodies_fetch(
    struct nbody_job *job); /* download the current bodies to job->bodies, with metadata */
int nbody_bodies_write(struct nbody_job *job, struct cli_output *o);
int nbody_series_add(struct nbody_job *job,
                     const char *pattern); /* add a name of -o that is a series */
int nbody_series_plan(
    const struct nbody_job *job); /* check times and disk space, after nbody_job_choose */
size_t nbody_series_next(
    const struct nbody_job *job);              /* step of the next snapshot; SIZE_MAX: none */
int nbody_series_write(struct nbody_job *job); /* write a snapshot and the index */
int nbody_series_end(struct nbody_job *job);   /* write the last snapshot, if not yet written */
void nbody_series_report(const struct nbody_job *job, FILE *fp);
void nbody_series_free(struct nbody_job *job);

/* nbody_steps.c */
int nbody_steps_begin(
    struct nbody_job *job); /* warn about rounding; keep the bodies for --check-step */
int nbody_steps_check(struct nbody_job *job); /* rerun at half the step, with --check-step */
void nbody_steps_text(const struct nbody_job *job, FILE *fp); /* result as a line */
struct json_t *nbody_steps_json(const struct nbody_job *job); /* result as an object; NULL: none */
void nbody_steps_free(struct nbody_job *job);

/* nbody_run.c: the main loop. An interruption is no failure; it leaves the energy at the end
 * NAN. */
int nbody_job_run(struct nbody_job *job);

/* nbody_progress.c. begin: announce the engine's next phase; progress: the engine's callback. */
int nbody_job_progress(void *job, double fraction);
bool nbody_job_stopped(void); /* true if nbody_job_progress cancelled the failed call */
void nbody_job_begin(struct nbody_job *job, const char *name, double from, double to);

/* nbody_output.c */
int nbody_output_plan(struct nbody_job *job); /* classify and check the file names before the run */
int nbody_output_open(struct nbody_job *job); /* open the table */
int nbody_output_row(struct nbody_job *job,
                     const struct nbody_diagnostics *d); /* add a row to the table */
int nbody_output_frame(struct nbody_job *job);           /* draw the current bodies */
int nbody_output_finish(struct nbody_job *job);          /* write the final outputs */
void nbody_output_discard(struct nbody_job *job);        /* discard incomplete outputs */

int nbody_output_again(struct nbody_job *job,
                       const struct nbody_row *row); /* add a row of the resumed run */

/* nbody_view.c. open: open the view, if wanted; visit: between batches; end: the last picture;
 * row: pass on energies that are known anyway. */
int nbody_view_open(struct nbody_job *job);
int nbody_view_visit(struct nbody_job *job);
void nbody_view_row(struct nbody_job *job, const struct nbody_diagnostics *d);
int nbody_view_end(struct nbody_job *job);
void nbody_view_free(struct nbody_job *job);

/* nbody_stop.c */
size_t nbody_stop_next(const struct nbody_job *job,
                       size_t step); /* next step to check; SIZE_MAX: none */
int nbody_stop_visit(struct nbody_job *job, size_t before,
                     size_t step); /* after a batch: set job->stopped */

/* nbody_camera.c */
bool nbody_read_groups(const char *text, void *to, char *why, size_t size); /* parser of --groups */
void nbody_natural_groups(const struct nbody_job *job, struct nbody_groups *g); /* n = 0: none */
uint8_t nbody_group_of(const struct nbody_groups *g, size_t body);
int nbody_camera_prepare(struct nbody_job *job); /* determine the bodies' groups */
int nbody_camera_draw(struct nbody_job *job,
                      const char *file); /* draw a picture of the current bodies */
size_t nbody_camera_next(const struct nbody_job *job,
                         size_t step);         /* step of the next path point; SIZE_MAX: none */
int nbody_camera_point(struct nbody_job *job); /* add a path point */

/* nbody_history.c */
cli_reader nbody_read_fractions;
int nbody_history_plan(struct nbody_job *job); /* check the file names */
bool nbody_history_wanted(const struct nbody_job *job);
int nbody_structure_find(
    const struct nbody_job *job, const double *potential, size_t shells, struct nbody_shell *shell,
    struct nbody_structure *s); /* for the bodies fetched last; -1 with clerrno */
int nbody_history_row(struct nbody_job *job, const struct nbody_diagnostics *d);
int nbody_history_finish(struct nbody_job *job);
void nbody_history_report(const struct nbody_job *job, FILE *fp);
void nbody_history_free(struct nbody_job *job);

/* nbody_balance.c: load balancing between ranks; begin before the first batch, visit after each.
 * Collective. */
void nbody_balance_begin(struct nbody_job *job);
int nbody_balance_visit(struct nbody_job *job);

/* nbody_checkpoint.c */
int nbody_checkpoint_plan(struct nbody_job *job);
size_t nbody_checkpoint_next(const struct nbody_job *job,
                             size_t step); /* step of the next checkpoint; SIZE_MAX: none */
int nbody_checkpoint_visit(struct nbody_job *job, size_t before,
                           size_t step);           /* after a batch: write a checkpoint if due */
int nbody_checkpoint_begin(struct nbody_job *job); /* allocate room for the devices' state */
int nbody_checkpoint_write(struct nbody_job *job);
bool nbody_checkpoint_late(const struct nbody_job *job); /* a checkpoint is due by the clock */
int nbody_checkpoint_put(struct nbody_job *job, char *bytes, size_t size, size_t step,
                         double time); /* of an ensemble: write and free the bytes */
int nbody_checkpoint_done(
    const struct nbody_job *job); /* wait; CLI_FAILED if it could not be written */
void nbody_checkpoint_wait(const struct nbody_job *job); /* wait for the checkpoint being written */
int nbody_checkpoint_end(struct nbody_job *job); /* write the last checkpoint and wait for it */
void nbody_checkpoint_free(struct nbody_job *job);

/* nbody_resume.c. open: read job->resume and set job->argv to the saved command line followed by
 * this one. All others restore a part of the run. */
int nbody_resume_open(struct nbody_job *job, int argc, char **argv);
const struct cli_stored *nbody_resume_stored(
    const struct nbody_job *job); /* words of the saved command line; NULL: not resumed */
int nbody_resume_options(struct nbody_job *job);
int nbody_resume_bodies(struct nbody_job *job);
int nbody_resume_devices(const struct nbody_job *job);
void nbody_resume_engine(struct nbody_job *job, struct nbody_options *options);
int nbody_resume_state(struct nbody_job *job);
int nbody_resume_outputs(struct nbody_job *job);
void nbody_resume_free(struct nbody_job *job);

/* nbody_report.c */
int nbody_job_report(const struct nbody_job *job);

/* nbody_ensemble.c: run --ensemble; needs job->context. */
int nbody_job_ensemble(struct nbody_job *job);

/* nbody_compare.c: sum forces with every kernel and print the table; needs job->context.
 * CLI_FAILED if a kernel is wrong. */
int nbody_job_compare(struct nbody_job *job);

#endif
