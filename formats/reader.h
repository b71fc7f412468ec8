/* reader.h - buffered reader of a file, a pipe or memory. Private to formats/.
 *
 * The unread bytes are begin .. end of its buffer.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_READER_H
#define FORMATS_READER_H

#include <stdbool.h>
#include <stddef.h>

enum { READER_ROOM = 1 << 20 }; /* longest line, and size of a read */

struct reader {
    const char *name; /* for messages; not owned */
    long long size;   /* total bytes; -1: unknown until the end */
    const char *begin, *end;
    int fd;       /* -1: memory, all of it between begin and end */
    bool ended;   /* `end` is the end of the content */
    char *buffer; /* READER_ROOM bytes; NULL for memory */
};

/* Open a file, or standard input for "-"; -1 with a message. */
int reader_open(struct reader *s, const char *file);

/* Read from memory, which the caller keeps. */
void reader_open_memory(struct reader *s, const char *name, const void *data, size_t size);

/* Make at least `size` <= READER_ROOM bytes available, if the content has as many; -1 on a read
 * error. */
int reader_need(struct reader *s, size_t size);

/* Continue at byte `at` of a file, which is not a pipe; -1 with a message. */
int reader_seek(struct reader *s, long long at);

/* Number of bytes available. */
static inline size_t reader_ready(const struct reader *s)
{
    return (size_t)(s->end - s->begin);
}

void reader_close(struct reader *s);

#endif
