/* reader.h - a buffered source of bytes: a file, a pipe or a piece of memory. Private to formats/.
 *
 * The bytes not read yet are begin .. end of its buffer.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_SOURCE_H
#define FORMATS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

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

/* Makes at least `size` <= SOURCE_ROOM bytes available if there are that many; -1 on an error in
 * reading. */
int source_need(struct source *s, size_t size);

/* The number of bytes available now. */
static inline size_t source_ready(const struct source *s)
{
    return (size_t)(s->end - s->begin);
}

void source_close(struct source *s);

#endif
