/* nbody_job.h - what the files of `stdcl nbody` share.
 *
 *   cmd_nbody.c     the options, and the order in which things happen
 *   nbody_names.c   names of models, integrators, precisions and kernels
 *   nbody_bodies.c  the bodies: read or made; softening and step where none were asked for
 *   nbody_run.c     the loop: bursts of steps between visits to the outputs
 *   nbody_output.c  snapshots, pictures, films, the table of energies
 *   nbody_report.c  the report as text or JSON
 *   nbody_compare.c the kernels side by side
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_JOB_H
#define STDCL_CLI_NBODY_JOB_H

#include "outputs.h"

#include "formats/csv.h"
#include "formats/particles.h"
#include "formats/picture.h"
#include "stdcl/nbody.h"

/* The names of the enumerations in stdcl/nbody.h, in their order, ended by NULL. */
extern const char *const nbody_model_names[];
extern const char *const nbody_precision_names[];
const char *const *nbody_integrator_names(void);
extern const char *const nbody_kernel_names[];

enum { NOT_GIVEN = -1 };

struct nbody_job {
    /* What was asked; NAN, 0 or NOT_GIVEN where it is still to be chosen. */
    struct cli_common common;
    const char *input; /* NULL: a model */
    int model;
    size_t n, steps, burst, every;
    uint64_t seed;
    double G, eps, dt, until;
    int integrator, precision, kernel;
    bool compare;
    struct cli_outputs outputs;
    const char *csv, *forces;
    struct picture_options picture;

    /* What came of it. */
    struct particles bodies; /* positions and velocities are those of the last visit */
    double time_start;
    double last_dt; /* of the last step, when --until asks for a shorter one; else dt */
    size_t total;   /* steps to do */
    CLCONTEXT *context;
    nbody *engine;
    struct csv table;
    double seconds; /* of stepping */
    bool interrupted;
    struct nbody_diagnostics start, end;
};

/* All return an exit status, after printing what is wrong. */

/* nbody_bodies.c: fills job->bodies; chooses softening, step and precision where they were left open; makes
 * an engine; does the two latter and counts the steps. */
int nbody_job_bodies(struct nbody_job *job);
void nbody_job_choose(struct nbody_job *job);
int nbody_job_engine(struct nbody_job *job, enum nbody_kernel kernel);
int nbody_job_plan(struct nbody_job *job);

/* nbody_run.c: from energy_start to energy_end. Interruption is no failure here. */
int nbody_job_run(struct nbody_job *job);

/* nbody_output.c: sorts and checks the names before anything is computed; opens the table; adds a row
 * to it, or a frame to the series, of the present time; writes what is due at the end; drops it. */
int nbody_output_plan(struct nbody_job *job);
int nbody_output_open(struct nbody_job *job);
int nbody_output_row(struct nbody_job *job, const struct nbody_diagnostics *d);
int nbody_output_frame(struct nbody_job *job);
int nbody_output_finish(struct nbody_job *job);
void nbody_output_discard(struct nbody_job *job);

/* nbody_report.c */
int nbody_job_report(const struct nbody_job *job);

/* nbody_compare.c: with a context only; gets bodies, sums with every kernel and prints the table. CLI_FAILED when one is wrong. */
int nbody_job_compare(struct nbody_job *job);

#endif
