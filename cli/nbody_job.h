/* nbody_job.h - what the files of `stdcl nbody` share.
 *
 *   cmd_nbody.c      the options, and the order in which things happen
 *   nbody_names.c    names of models, integrators, precisions, kernels and methods
 *   nbody_bodies.c   the bodies: read or made; softening and step where none were asked for
 *   nbody_fields.c   the fields of --external
 *   nbody_places.c   whether bodies lie at one place
 *   nbody_collide.c  what becomes of bodies that touch
 *   nbody_run.c      the loop: bursts of steps between visits to the outputs
 *   nbody_shares.c   how many bodies each rank moves
 *   nbody_progress.c what the engine tells while it works: progress, and whether to stop
 *   nbody_output.c   snapshots, pictures, films, the table of energies
 *   nbody_view.c     what the window shows
 *   nbody_steps.c    whether the step suits
 *   nbody_report.c   the report as text or JSON
 *   nbody_ensemble.c many planetary systems at once
 *   nbody_compare.c  the kernels side by side
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_JOB_H
#define STDCL_CLI_NBODY_JOB_H

#include "outputs.h"
#include "window.h"

#include "formats/csv.h"
#include "formats/particles.h"
#include "formats/picture.h"
#include "formats/series.h"
#include "stdcl/nbody.h"

/* The names of the enumerations in stdcl/nbody.h, in their order, ended by NULL. */
extern const char *const nbody_model_names[];
extern const char *const nbody_precision_names[];
const char *const *nbody_integrator_names(void);
extern const char *const nbody_kernel_names[];
extern const char *const nbody_method_names[];
extern const char *const nbody_stepping_names[];

enum { NOT_GIVEN = -1 };

/* Whether the command line has an option whose default cannot be told from a value. */
struct nbody_given {
    bool G, integrator, method, stepping;
};

/* A row of the table of energies. */
enum { NBODY_COLUMNS = 11 };
struct nbody_row {
    double value[NBODY_COLUMNS];
};

/* From where pictures are taken; in degrees. */
struct nbody_camera {
    double azimuth, elevation, zoom;
    int follow;
};
extern const char *const nbody_follow_names[];
extern const char *const nbody_colour_by_names[];

/* Bodies of one colour, in the order of the bodies. */
struct nbody_groups {
    size_t n;
    size_t size[PICTURE_GROUPS];
};

/* The fractions of the mass whose radii --structure tells. */
enum { NBODY_FRACTIONS = 32 };
struct nbody_fractions {
    size_t n;
    double value[NBODY_FRACTIONS];
};

/* The fields of force that bodies move in. */
enum { NBODY_MOST_FIELDS = 64 };
struct nbody_fields {
    size_t n;
    struct nbody_field field[NBODY_MOST_FIELDS];
};

/* Two bodies that touched, by their names in files. */
struct nbody_event {
    double time;
    uint64_t first, second;
};
extern const char *const nbody_collide_names[];

/* What the system was like so far, see nbody_history.c. */
struct nbody_history {
    size_t columns, n;
    double *value; /* n rows of `columns` numbers */
    char *text;    /* a line a row, `bytes` in all */
    size_t bytes;
};

struct nbody_job {
    /* From the command line; NAN, 0 or NOT_GIVEN where it is still to be chosen. */
    struct cli_common common;
    int argc; /* the command line itself */
    char **argv;
    struct nbody_given given;
    const char *input; /* NULL: a model */
    int model;
    size_t n, steps, burst;
    uint64_t seed;
    double G, eps, dt, until;
    bool own_eps; /* bodies have softenings of their own, of the file, and eps is 0 */
    int integrator, precision, kernel, method;
    bool if_direct;       /* precision is that only if forces are sums over all pairs */
    bool precision_noted; /* the precision is the input file's */
    struct cli_strings external;
    struct nbody_fields fields;
    int collide;
    bool looked, bends; /* for contacts, at bodies as they are now; and paths bent more than that
                           sees, which was told */
    double radius;      /* of all bodies; NAN: not given */
    double accuracy;    /* 0: not given */
    int stepping;
    double eta;   /* 0: not given */
    size_t check; /* bodies whose forces are checked at the end */
    bool compare, check_step, direct_energies;
    bool many_steps;      /* dt is chosen so short that there are many */
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
    double heaviest; /* of the bodies that pictures show; NAN: not given */
    struct nbody_camera camera;
    int colour_by; /* enum picture_colour_by */
    struct nbody_groups groups;
    size_t trails; /* points of a path that are drawn */

    /* Results, and what is needed meanwhile. */
    struct particles bodies; /* positions and velocities are those of the last visit */
    double time_start;
    double last_dt; /* of the last step, when --until asks for a shorter one; else dt */
    size_t total;   /* steps to do */
    CLCONTEXT *context;
    nbody *engine;
    struct csv table;
    size_t every; /* steps between rows; 0: no table */
    struct {
        size_t n;
        struct nbody_row *row;
    } rows; /* of the table so far, for checkpoints */
    struct nbody_history history;
    struct {
        size_t n;
        struct nbody_event *event;
    } events;
    double energy_lost;  /* by them */
    double interactions; /* of engines before this one */
    size_t n_start;      /* bodies at the start */
    bool fitted;         /* the picture's frame and scale are those of the run */
    struct {
        size_t n;
        double (*pos)[3];
    } path; /* of few bodies that are drawn: where they were, a point after another */
    struct checkpoint *saver; /* nbody_checkpoint.c; NULL without checkpoints */
    struct resumed *resumed;  /* nbody_resume.c; NULL in a run of its own */
    struct series *series;    /* of --snapshots; a file of each is written at the same time */
    size_t series_n;
    double seconds; /* of stepping */
    struct {        /* of ranks, since they were looked at last */
        struct cli_shares clock;
        size_t step;
        const char *shape; /* what the engine was made with; not owned */
    } shares;
    struct cli_progress progress;
    struct {
        const char *name; /* of what the engine does; NULL: steps */
        double from, to;  /* steps before and after it */
        double runs;      /* how often what is done now would fit in the whole run */
        double began;
    } doing;
    bool interrupted;
    uint32_t *shown; /* in the window: bodies that pictures show, window.bodies of them */
    struct nbody_sample {
        uint32_t *which;
        float (*pos)[3], (*vel)[3];
        size_t n, wanted,
            bodies; /* how many there are, of so many wanted, when there were so many bodies */
    } sample;       /* of these, in the order in which the window wants them */
    struct cli_sums sums; /* energies, for the window */
    double began;         /* the first step, by seconds_now */
    char stopped[300];    /* by which condition; "" by none */
    bool failed;          /* that was no good end */
    struct nbody_diagnostics start, end;
    struct nbody_force_errors errors;
    struct step_check *step_check; /* nbody_steps.c; NULL without --check-step */
};

/* Whether bodies' motion says how long steps are, up to --dt. */
static inline bool nbody_job_chooses_steps(const struct nbody_job *job)
{
    return job->stepping != NBODY_FIXED || job->integrator == NBODY_IAS15;
}

/* What is asked of the tree, also where it was not given. */
static inline double nbody_job_accuracy(const struct nbody_job *job)
{
    return job->accuracy > 0 ? job->accuracy : 1e-3;
}

/* All return an exit status, after printing what is wrong. */

/* nbody_bodies.c */
int nbody_job_bodies(struct nbody_job *job); /* reads or makes job->bodies */
int nbody_job_choose(struct nbody_job *job); /* softening, step, precision, if not given */
struct nbody_options nbody_job_options(struct nbody_job *job); /* of the engine */
int nbody_job_energies_check(
    const struct nbody_job *job); /* of --direct-energies: are there too many bodies? */
int nbody_job_energies(
    struct nbody_job *job,
    struct nbody_diagnostics *d); /* as nbody_diagnose, but for --direct-energies */
int nbody_job_engine(struct nbody_job *job, enum nbody_kernel kernel); /* makes job->engine */
int nbody_job_plan(struct nbody_job *job); /* both, and counts the steps */

/* nbody_notes.c */
int nbody_notes_take(
    struct nbody_job *job); /* what the input file says and the command line does not */
int nbody_notes_set(struct nbody_job *job); /* what files are to remember */

/* nbody_fields.c: read: the words of --external; take: what a file says; text: both as a file says
 * it, from malloc; bind: whether no body escapes. */
int nbody_fields_read(struct nbody_job *job);
int nbody_fields_take(struct nbody_job *job, const char *text);
char *nbody_fields_text(const struct nbody_fields *fields);
bool nbody_fields_bind(const struct nbody_fields *fields);

/* nbody_places.c: CLI_FAILED for bodies at one place without softening */
int nbody_places_check(const struct nbody_job *job);

/* nbody_collide.c */
int nbody_collide_plan(struct nbody_job *job);
int nbody_collide_visit(struct nbody_job *job); /* after a step */
void nbody_collide_text(const struct nbody_job *job, FILE *fp);
struct json_t *nbody_collide_json(const struct nbody_job *job);

/* nbody_series.c */
int nbody_bodies_fetch(
    struct nbody_job *job); /* brings the bodies as they are now to job->bodies, with notes */
int nbody_bodies_write(struct nbody_job *job, struct cli_output *o);
int nbody_series_add(struct nbody_job *job,
                     const char *pattern);          /* a name of -o, if it is one of a series */
int nbody_series_plan(const struct nbody_job *job); /* checks times and room, when all is chosen */
size_t nbody_series_next(
    const struct nbody_job *job);              /* the step of the next snapshot; SIZE_MAX: none */
int nbody_series_write(struct nbody_job *job); /* writes it, and the index */
int nbody_series_end(struct nbody_job *job);   /* the last, unless it is written */
void nbody_series_report(const struct nbody_job *job, FILE *fp);
void nbody_series_free(struct nbody_job *job);

/* nbody_steps.c */
int nbody_steps_begin(struct nbody_job *job); /* warns of rounding; keeps the bodies for a check */
int nbody_steps_check(struct nbody_job *job); /* runs again at half the step, if that was asked */
void nbody_steps_text(const struct nbody_job *job, FILE *fp); /* what was found, as a line */
struct json_t *nbody_steps_json(const struct nbody_job *job); /* and as an object; NULL: nothing */
void nbody_steps_free(struct nbody_job *job);

/* nbody_run.c: from energy_start to energy_end, which is NAN when it was interrupted. Interruption
 * is no failure here. */
int nbody_job_run(struct nbody_job *job);

/* nbody_progress.c: begin: what the engine is about to do, for the progress; tell: what the engine
 * calls meanwhile. */
int nbody_job_tell(void *job, double fraction);
bool nbody_job_stopped(
    void); /* whether a call of the engine failed because nbody_job_tell stopped it */
void nbody_job_begin(struct nbody_job *job, const char *name, double from, double to);

/* nbody_output.c */
int nbody_output_plan(
    struct nbody_job *job); /* sorts and checks the names, before anything is computed */
int nbody_output_open(struct nbody_job *job); /* opens the table */
int nbody_output_row(struct nbody_job *job,
                     const struct nbody_diagnostics *d); /* adds a row to the table */
int nbody_output_frame(struct nbody_job *job);           /* draws the bodies as they are now */
int nbody_output_finish(struct nbody_job *job);          /* writes what is written at the end */
void nbody_output_discard(struct nbody_job *job);        /* drops what is not finished */

int nbody_output_again(struct nbody_job *job,
                       const struct nbody_row *row); /* adds a row of the run that is resumed */

/* nbody_view.c: opens the window, if one is wanted; between bursts; the last picture. row: energies
 * as they are known anyway. */
int nbody_view_open(struct nbody_job *job);
int nbody_view_visit(struct nbody_job *job);
void nbody_view_row(struct nbody_job *job, const struct nbody_diagnostics *d);
int nbody_view_end(struct nbody_job *job);
void nbody_view_free(struct nbody_job *job);

/* nbody_stop.c */
size_t nbody_stop_next(const struct nbody_job *job,
                       size_t step); /* the step of the next look; SIZE_MAX: none */
int nbody_stop_visit(struct nbody_job *job, size_t before,
                     size_t step); /* after a burst: sets job->stopped */

/* nbody_camera.c */
bool nbody_read_groups(const char *text, void *to, char *why, size_t size); /* of --groups */
void nbody_natural_groups(const struct nbody_job *job,
                          struct nbody_groups *g); /* none: n stays 0 */
uint8_t nbody_group_of(const struct nbody_groups *g, size_t body);
int nbody_camera_settle(
    struct nbody_job *job); /* which groups the bodies are of, once they are there */
int nbody_camera_draw(struct nbody_job *job,
                      const char *file); /* a picture of the bodies as they are */
size_t nbody_camera_next(const struct nbody_job *job,
                         size_t step); /* the step of the next point of paths; SIZE_MAX: none */
int nbody_camera_point(struct nbody_job *job); /* adds it */

/* nbody_history.c */
cli_reader nbody_read_fractions;
int nbody_history_plan(struct nbody_job *job); /* checks the names */
bool nbody_history_wanted(const struct nbody_job *job);
int nbody_structure_find(
    const struct nbody_job *job, const double *potential, size_t shells, struct nbody_shell *shell,
    struct nbody_structure *s); /* of the bodies that were fetched last; -1 with clerrno */
int nbody_history_row(struct nbody_job *job, const struct nbody_diagnostics *d);
int nbody_history_finish(struct nbody_job *job);
void nbody_history_report(const struct nbody_job *job, FILE *fp);
void nbody_history_free(struct nbody_job *job);

/* nbody_shares.c: how many bodies each rank moves; begin before the first burst, visit after each.
 * Collective. */
void nbody_shares_begin(struct nbody_job *job);
int nbody_shares_visit(struct nbody_job *job);

/* nbody_checkpoint.c */
int nbody_checkpoint_plan(struct nbody_job *job);
size_t nbody_checkpoint_next(const struct nbody_job *job,
                             size_t step); /* the step of the next; SIZE_MAX: none */
int nbody_checkpoint_visit(struct nbody_job *job, size_t before,
                           size_t step);           /* after a burst: writes one if it is due */
int nbody_checkpoint_begin(struct nbody_job *job); /* makes room for what devices keep */
int nbody_checkpoint_write(struct nbody_job *job);
bool nbody_checkpoint_late(const struct nbody_job *job); /* one is due by the clock */
int nbody_checkpoint_put(struct nbody_job *job, char *bytes, size_t size, size_t step,
                         double time); /* of an ensemble: writes and frees them */
int nbody_checkpoint_done(
    const struct nbody_job *job); /* waits; CLI_FAILED when it could not be written */
void nbody_checkpoint_wait(const struct nbody_job *job); /* for the one under way */
int nbody_checkpoint_end(struct nbody_job *job);         /* the last, and waits for it */
void nbody_checkpoint_free(struct nbody_job *job);

/* nbody_resume.c: open: reads job->resume, and makes job->argv the run's command line with the
 * words of this one behind; the others bring the pieces of the run to where it was. */
int nbody_resume_open(struct nbody_job *job, int argc, char **argv);
int nbody_resume_options(struct nbody_job *job);
int nbody_resume_bodies(struct nbody_job *job);
int nbody_resume_devices(const struct nbody_job *job);
void nbody_resume_engine(struct nbody_job *job, struct nbody_options *options);
int nbody_resume_state(struct nbody_job *job);
int nbody_resume_outputs(struct nbody_job *job);
void nbody_resume_free(struct nbody_job *job);

/* nbody_report.c */
int nbody_job_report(const struct nbody_job *job);

/* nbody_ensemble.c: all of --ensemble; needs job->context. */
int nbody_job_ensemble(struct nbody_job *job);

/* nbody_compare.c: gets bodies, sums with every kernel and prints the table; needs job->context.
 * CLI_FAILED when a kernel is wrong. */
int nbody_job_compare(struct nbody_job *job);

#endif
