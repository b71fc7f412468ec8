/* nbody_fields.h - external force fields (--external).
 * SPDX-License-Identifier: MIT
 */
#ifndef STDCL_CLI_NBODY_FIELDS_H
#define STDCL_CLI_NBODY_FIELDS_H

#include "stdcl/nbody.h"

#include <stdbool.h>
#include <stddef.h>

struct nbody_job;

/* External force fields, and other forces: texts of nbody_options.forces, one a line. */
enum { NBODY_MOST_FIELDS = 64, NBODY_FORCES_SIZE = 4096 };
struct nbody_fields {
    size_t n;
    struct nbody_field field[NBODY_MOST_FIELDS];
    char forces[NBODY_FORCES_SIZE];
};

/* Functions that return int return an exit status, after printing a message. read: parse
 * --external; take: parse a file's metadata; text: format as metadata, from malloc; bind: True if
 * no body can escape; name_bodies: True if forces may name bodies by their numbers. */
int nbody_fields_read(struct nbody_job *job);
int nbody_fields_take(struct nbody_job *job, const char *text);
char *nbody_fields_text(const struct nbody_fields *fields);
bool nbody_fields_bind(const struct nbody_fields *fields);
bool nbody_fields_name_bodies(const struct nbody_fields *fields);

#endif
