/* nbody_bodies.h - bodies of `stdcl nbody`: read, generated, in fields, colliding.
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_BODIES_H
#define STDCL_CLI_NBODY_BODIES_H

#include "nbody_job.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A collision of two bodies, by their identifiers in files. */
struct nbody_event {
    double time;
    uint64_t first, second;
};
extern const char *const nbody_collide_names[];

/* Functions that return int return an exit status, after printing a message. */

/* nbody_ic.c. Take --ic: the file of solar becomes the input, list is printed. Return true to
 * continue; false to exit with *status. */
bool nbody_bodies_named(struct nbody_job *job, int *status);

/* nbody_bodies.c */
int nbody_job_bodies(struct nbody_job *job); /* read or generate job->bodies */
int nbody_job_choose(
    struct nbody_job *job); /* choose softening, step and precision, if not given */
bool nbody_job_needs_devices(const struct nbody_job *job);     /* before the engine is created */
struct nbody_options nbody_job_options(struct nbody_job *job); /* options of the engine */
struct nbody_whfast_options nbody_job_whfast(const struct nbody_job *job); /* of whfast */
int nbody_job_energies_check(
    struct nbody_job *job); /* check the number of bodies for --direct-energies */
int nbody_job_energies(struct nbody_job *job,
                       struct nbody_diagnostics *d); /* nbody_diagnose; honours --direct-energies */
int nbody_job_engine(struct nbody_job *job, enum nbody_kernel kernel); /* create job->engine */
int nbody_job_plan(struct nbody_job *job); /* choose, create the engine and count the steps */
/* Convert --until, or --steps, to a number of steps and the length of the last one; without both:
 * `steps`. */
int nbody_job_plan_steps(struct nbody_job *job, size_t steps);

/* nbody_names.c. Find a body by its name, which may be in double quotes, or its number from 1 on;
 * false: there is none, or several bodies have the name, which `why` says ("": there is none).
 * word_length: up to a comma outside quotes, or the end. */
enum { NBODY_WHY = 160 };
bool nbody_find_body(const struct particles *b, const char *word, size_t length, size_t *body,
                     char why[NBODY_WHY]);
size_t nbody_word_length(const char *text, const char *end);
/* Replace constants of stdcl/nbody.h in the sentence of a failed call by options of the command. */
void nbody_name_options(void);

/* nbody_metadata.c */
int nbody_metadata_take(
    struct nbody_job *job); /* apply the input file's metadata where no option overrides it */
int nbody_metadata_set(struct nbody_job *job); /* set the metadata of output files */
int nbody_metadata_set_ensemble(const struct nbody_job *job,
                                struct particles *b); /* of --ensemble */

/* nbody_orbits.c. Place bodies that a file gives by orbital elements, about the centre of mass at
 * rest in the origin. No other bodies are changed. */
int nbody_orbits_place(struct particles *b, const char *file, double G);

/* An orbit at a time: time, body and elements, in the order of the columns of --elements. */
enum { NBODY_ORBIT_NUMBERS = 9 };
struct nbody_orbit {
    double value[NBODY_ORBIT_NUMBERS];
    char name[PARTICLES_NAME_SIZE];
};
bool nbody_orbits_lack_row(const struct nbody_job *job,
                           double time);       /* with --diag: true if the last row is older */
int nbody_orbits_row(struct nbody_job *job);   /* with --diag: add the current orbits once */
int nbody_orbits_write(struct nbody_job *job); /* write the table of --elements */

/* An event at a time: the values of the columns of --events, and enum nbody_event_kind. */
enum { NBODY_FOUND_NUMBERS = 10 };
struct nbody_found {
    double value[NBODY_FOUND_NUMBERS];
    enum nbody_event_kind kind;
};

/* nbody_events.c. plan: parse --event and --stop-event. begin_run: let the engine look for their
 * events. visit: after a batch. */
int nbody_events_plan(struct nbody_job *job);
int nbody_events_begin_run(struct nbody_job *job);
void nbody_events_visit(struct nbody_job *job);
int nbody_events_write(struct nbody_job *job); /* write the table of --events */

/* nbody_places.c: CLI_FAILED for coincident bodies without softening */
int nbody_places_check(const struct nbody_job *job);

/* nbody_collide.c */
int nbody_collide_plan(struct nbody_job *job);
bool nbody_collide_merges(const struct nbody_job *job); /* true for --collide merge */
int nbody_collide_begin(struct nbody_job *job);         /* before the first step */
int nbody_collide_visit(struct nbody_job *job,
                        bool whole); /* after a batch; whole: it was completed */
void nbody_collide_text(const struct nbody_job *job, FILE *fp);
struct json_t *nbody_collide_json(const struct nbody_job *job);

#endif
