/* reader.c - a buffered source of bytes: a file, a pipe or a piece of memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "formats/reader.h"

#include "stdcl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int reader_explain(const char *name, int code)
{
    switch (code) {
    case ENOENT:
        return clerror_set(code, "%s: no such file", name);
    case EACCES:
        return clerror_set(code, "%s: no permission to read it", name);
    case EISDIR:
        return clerror_set(code, "%s: is a folder, not a file of bodies", name);
    default:
        return clerror_set(code, "%s: cannot be read: %s", name, strerror(code));
    }
}

static int examine(struct reader *s)
{
    struct stat info;
    if (fstat(s->fd, &info) < 0)
        return reader_explain(s->name, errno);
    if (S_ISDIR(info.st_mode))
        return reader_explain(s->name, EISDIR);
    /* Files of /proc have content but size 0; a redirected input may be positioned in the middle.
     */
    off_t at = S_ISREG(info.st_mode) ? lseek(s->fd, 0, SEEK_CUR) : -1;
    s->size = at >= 0 && info.st_size > at ? (long long)(info.st_size - at) : -1;
    s->buffer = malloc(READER_ROOM);
    if (!s->buffer)
        return clerror_set(ENOMEM, "%s: out of memory for a buffer of %d bytes", s->name,
                           READER_ROOM);
    s->begin = s->end = s->buffer;
    return 0;
}

int reader_open(struct reader *s, const char *file)
{
    bool standard = strcmp(file, "-") == 0;
    memset(s, 0, sizeof *s);
    s->name = standard ? "standard input" : file;
    s->fd = standard ? dup(STDIN_FILENO) : open(file, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0)
        return reader_explain(s->name, errno);
    if (examine(s) == 0)
        return 0;
    reader_close(s);
    return -1;
}

void reader_open_memory(struct reader *s, const char *name, const void *data, size_t size)
{
    *s = (struct reader){.name = name, .size = (long long)size, .fd = -1, .ended = true};
    s->begin = data;
    s->end = s->begin + size;
}

int reader_need(struct reader *s, size_t size)
{
    if (reader_ready(s) >= size || s->ended)
        return 0;
    size_t kept = reader_ready(s);
    memmove(s->buffer, s->begin, kept);
    while (kept < size) {
        ssize_t got = read(s->fd, s->buffer + kept, READER_ROOM - kept);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return reader_explain(s->name, errno);
        s->ended = got == 0;
        if (got == 0)
            break;
        kept += (size_t)got;
    }
    s->begin = s->buffer;
    s->end = s->buffer + kept;
    return 0;
}

int reader_seek(struct reader *s, long long at)
{
    if (lseek(s->fd, (off_t)at, SEEK_SET) < 0)
        return reader_explain(s->name, errno);
    s->begin = s->end = s->buffer;
    s->ended = false;
    return 0;
}

void reader_close(struct reader *s)
{
    if (s->fd >= 0)
        close(s->fd);
    free(s->buffer);
    memset(s, 0, sizeof *s);
    s->fd = -1;
}
