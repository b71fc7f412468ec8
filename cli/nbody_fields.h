/* nbody_fields.h - external force fields (--external).
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_FIELDS_H
#define STDCL_CLI_NBODY_FIELDS_H

#include "stdcl/nbody.h"

#include <stdbool.h>
#include <stddef.h>

struct nbody_job;

/* External force fields, and other forces, one a line: as given, with names of bodies or numbers
 * from 1 on, and as texts of nbody_options.forces, with numbers of the current bodies from 0 on. */
enum { NBODY_MOST_FIELDS = 64, NBODY_FORCES_SIZE = 4096 };
struct nbody_fields {
    size_t n;
    struct nbody_field field[NBODY_MOST_FIELDS];
    char forces[NBODY_FORCES_SIZE], engine[2 * NBODY_FORCES_SIZE];
};

/* Functions that return int return an exit status, after printing a message. read: parse
 * --external; take: parse a file's metadata; plan: find the bodies of the forces; restore: take the
 * engine's texts from a checkpoint; merge: follow the n bodies when body i has merged into is[i],
 * or not if is[i] = i; text: format as given, and text_now: with the current numbers of bodies,
 * both from malloc; bind: True if no body can escape; have_files: True if a force is from a
 * file. */
int nbody_fields_read(struct nbody_job *job);
int nbody_fields_take(struct nbody_job *job, const char *text);
int nbody_fields_plan(struct nbody_job *job);
void nbody_fields_restore(struct nbody_fields *fields, const char *engine);
void nbody_fields_merge(struct nbody_fields *fields, size_t n, const size_t *is);
char *nbody_fields_text(const struct nbody_fields *fields);
char *nbody_fields_text_now(const struct nbody_fields *fields);
bool nbody_fields_bind(const struct nbody_fields *fields);
bool nbody_fields_have_files(const struct nbody_fields *fields);

#endif
