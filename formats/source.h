/* source.h - what the readers of bodies share: a buffered source of bytes, and room for bodies.
 *
 * A source is a file, a pipe or a piece of memory; the unread bytes are begin .. end of its buffer. Private
 * to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_SOURCE_H
#define FORMATS_SOURCE_H

#include "formats/particles.h"

#include <stdbool.h>

enum { SOURCE_ROOM = 1 << 20 }; /* the longest line, and as much as is read at once */

struct source {
    const char *name; /* for messages; not owned */
    long long size;   /* bytes in all, -1 when only the end will tell */
    const char *begin, *end;
    int fd;       /* -1: memory, all of it between begin and end */
    bool ended;   /* nothing follows `end` */
    char *buffer; /* SOURCE_ROOM bytes; NULL for memory */
};

/* Opens a file, or the standard input for "-"; -1 with a sentence in clerror(). */
int source_open(struct source *s, const char *file);

/* Reads from memory, which the caller keeps. */
void source_open_memory(struct source *s, const char *name, const void *data, size_t size);

/* Makes at least `size` <= SOURCE_ROOM bytes available if there are that many; -1 on an error in reading. */
int source_need(struct source *s, size_t size);

/* The number of bytes available now. */
static inline size_t source_ready(const struct source *s)
{
    return (size_t)(s->end - s->begin);
}

void source_close(struct source *s);

/* The readers proper, from the start of the content. On failure *p, which was empty, is for the caller to
 * free. */
int particles_read_text(struct source *s, struct particles *p);
int particles_read_tipsy(struct source *s, struct particles *p);

/* Their counterparts. Errors of the disk also come later, from outfile_commit. */
struct outfile;
int particles_write_text(struct outfile *out, const struct particles *p);
int particles_write_tipsy(struct outfile *out, const struct particles *p, enum particles_format format);

/* Gives the arrays of *p room for `room` bodies, keeping the first p->n. */
int particles_reserve(struct particles *p, size_t room, const char *name);

/* "mass", "x" .. "vz": the columns, 0 .. 6, and the value of body i in each. */
extern const char *const particles_columns[7];
double particles_value(const struct particles *p, size_t i, int column);

#endif
