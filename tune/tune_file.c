/* tune_file.c - files of launch shapes: where the user's file is, reading and replacing it.
 *
 * A file is JSON: {"format": "stdcl-tuning-1", "rows": [{"kernel", "device", "driver", "size",
 * "shape", "rate", "unit"}]}, one entry a line; see tuning/README.md. Any file may be given, so it
 * is accepted as a whole or not at all. A new file replaces the old one atomically, and a lock file
 * keeps concurrent processes from losing entries.
 * SPDX-License-Identifier: MIT
 */
#include "core/outfile.h"
#include "tune/tune.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_BYTES = 16 << 20, PATH_ROOM = CACHE_PATH };

bool tune_path(char *path, size_t size, const char *suffix)
{
    char name[64];
    snprintf(name, sizeof name, "tune.json%s", suffix);
    return cache_path(path, size, name);
}

/* ---- Reading. ---- */

bool tune_is_shape(const char *text)
{
    if (strlen(text) >= sizeof((struct cltune_row *)0)->shape || !*text)
        return false;
    while (*text) {
        const char *word = text;
        while (isalnum((unsigned char)*text) || *text == '_')
            text++;
        if (text == word || *text++ != '=')
            return false;
        text += *text == '-';
        if (!isdigit((unsigned char)*text))
            return false;
        text += strspn(text, "0123456789");
        if (*text && *text++ != ' ')
            return false;
    }
    return text[-1] != ' ';
}

static const char *tune_json_text(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

/* The fault of an entry, or NULL. */
static const char *tune_row_fault(const json_t *row)
{
    const json_t *size = json_object_get(row, "size");
    if (!*tune_json_text(row, "kernel") || !*tune_json_text(row, "device"))
        return "names no kernel or no device";
    if (!json_is_integer(size) || json_integer_value(size) < 0)
        return "has no size";
    return tune_is_shape(tune_json_text(row, "shape")) ? NULL : "has no shape of words KEY=NUMBER";
}

json_t *tune_parse(const char *text, size_t size, char *why, size_t room)
{
    json_error_t error;
    size_t i;
    json_t *row, *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    const char *fault;
    json_t *rows = json_object_get(root, "rows");
    *why = '\0';
    if (!root)
        snprintf(why, room, "line %d: %s", error.line, error.text);
    else if (strcmp(tune_json_text(root, "format"), TUNE_FORMAT) != 0)
        snprintf(why, room, "it is not a file of format " TUNE_FORMAT);
    else if (!json_is_array(rows))
        snprintf(why, room, "it has no list of rows");
    else
        json_array_foreach(rows, i, row) if (!*why && (fault = tune_row_fault(row)))
            snprintf(why, room, "row %zu %s", i + 1, fault);
    for (char *p = why; *p; p++) /* jansson's message quotes the file */
        *p = (unsigned char)*p < ' ' || *p == 127 ? '?' : *p;
    rows = *why ? NULL : json_incref(rows);
    json_decref(root);
    return rows;
}

/* Read a whole file; the caller frees it. NULL with why[]. */
static char *tune_file_read_all(int fd, size_t *size, char *why, size_t room)
{
    struct stat status;
    char *text = NULL;
    ssize_t n = 1;
    *size = 0;
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode))
        snprintf(why, room, "it is not a file");
    else if (status.st_size > MOST_BYTES)
        snprintf(why, room, "it has %lld bytes, more than any file of rows",
                 (long long)status.st_size);
    else if (!(text = malloc((size_t)status.st_size + 1)))
        snprintf(why, room, "out of memory for it");
    while (text && n > 0 && *size < (size_t)status.st_size) {
        do
            n = read(fd, text + *size, (size_t)status.st_size - *size);
        while (n < 0 && errno == EINTR);
        *size += n > 0 ? (size_t)n : 0;
    }
    if (text && n < 0) {
        snprintf(why, room, "%s", strerror(errno));
        free(text);
        text = NULL;
    }
    return text;
}

json_t *tune_read(const char *path, char *why, size_t room)
{
    size_t size;
    int fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* O_NONBLOCK: opening a pipe would hang */
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return json_array();
    if (fd < 0) {
        snprintf(why, room, "%s", strerror(errno));
        return NULL;
    }
    char *text = tune_file_read_all(fd, &size, why, room);
    json_t *rows = text ? tune_parse(text, size, why, room) : NULL;
    free(text);
    close(fd);
    return rows;
}

/* ---- Writing. ---- */

static bool tune_file_write_rows(FILE *fp, const json_t *rows)
{
    size_t i;
    json_t *row;
    bool ok = fputs("{\"format\": \"" TUNE_FORMAT "\", \"rows\": [", fp) >= 0;
    json_array_foreach(rows, i, row) ok = ok && fputs(i ? ",\n " : "\n ", fp) >= 0 &&
                                          json_dumpf(row, fp, JSON_REAL_PRECISION(6)) == 0;
    return fputs("\n]}\n", fp) >= 0 && ok;
}

/* Sets errno on failure. */
static bool replace_file(const char *path, const json_t *rows)
{
    struct outfile out;
    if (access(path, F_OK) != 0)
        unlink(path); /* a dangling symbolic link */
    if (outfile_open(&out, path) < 0) {
        errno = clerrno;
        return false;
    }
    if (!tune_file_write_rows(out.fp, rows) &&
        outfile_check(&out) == 0) { /* not the disk: jansson is out of memory */
        outfile_discard(&out);
        errno = ENOMEM;
        return false;
    }
    const int status = outfile_commit(&out);
    errno = status == 0 ? 0 : clerrno;
    return status == 0;
}

int tune_bucket(size_t size)
{
    int power = 0;
    while (size >> power > 1)
        power++;
    return power > 0 && size >> (power - 1) & 1 ? power + 1 : power;
}

static bool tune_same_bucket(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"kernel", "device", "driver"};
    for (int i = 0; i < 3; i++)
        if (strcmp(tune_json_text(a, keys[i]), tune_json_text(b, keys[i])) != 0)
            return false;
    return tune_bucket((size_t)json_integer_value(json_object_get(a, "size"))) ==
           tune_bucket((size_t)json_integer_value(json_object_get(b, "size")));
}

/* Call with the lock file held. */
static bool tune_file_put_row(const char *path, json_t *row)
{
    char why[256], aside[PATH_ROOM];
    json_t *rows = tune_read(path, why, sizeof why);
    if (!rows) { /* not a tuning file, or damaged */
        snprintf(aside, sizeof aside, "%s.unreadable", path);
        if (rename(path, aside) != 0)
            return false;
        rows = json_array();
    }
    size_t place = 0;
    while (place < json_array_size(rows) && !tune_same_bucket(json_array_get(rows, place), row))
        place++;
    if (place < json_array_size(rows))
        json_array_set(rows, place, row);
    else
        json_array_append(rows, row);
    bool ok = replace_file(path, rows);
    int code = errno;
    json_decref(rows);
    errno = code;
    return ok;
}

/* Open and lock the lock file; -1 with errno. The kernel unlocks it when the descriptor is closed
 * or the process ends. */
static int take_lock(const char *path)
{
    char lock[PATH_ROOM];
    int status;
    snprintf(lock, sizeof lock, "%s.lock", path);
    int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    do
        status = fd < 0 ? -1 : flock(fd, LOCK_EX);
    while (status != 0 && fd >= 0 && errno == EINTR);
    if (fd >= 0 && status != 0) {
        int code = errno;
        close(fd);
        errno = code;
        return -1;
    }
    return fd;
}

int tune_put(const char *path, json_t *row)
{
    cache_folders(path);
    int fd = take_lock(path);
    bool ok = fd >= 0 && tune_file_put_row(path, row);
    int code = errno;
    if (fd >= 0)
        close(fd);
    if (ok)
        return 0;
    return fail(code ? code : EIO, 0,
                "cltune_store: the row cannot be kept in %s: %s; XDG_CACHE_HOME may name "
                "another folder",
                path, strerror(code ? code : EIO));
}
