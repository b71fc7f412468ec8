/* unzip.c - see unzip.h. The layout follows APPNOTE.TXT 6.3 (PKWARE): files with a local header
 * each, then a directory of entries, then its end record.
 * SPDX-License-Identifier: MIT
 */
#include "formats/unzip.h"

#include "formats/crc32.h"
#include "formats/gunzip.h"
#include "stdcl.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { LOCAL = 30, ENTRY = 46, END = 22, COMMENT_MOST = 65535, STORED = 0, DEFLATED = 8 };

struct zip {
    const char *name;
    const unsigned char *data;
    size_t size;
};

struct zip_entry {
    unsigned method, flags;
    uint32_t crc;         /* of the unpacked bytes */
    size_t packed, local; /* bytes; place of the local header */
    const char *name;
    size_t name_length;
};

static size_t zip_number(const unsigned char *p, int bytes)
{
    size_t n = 0;
    for (int i = bytes - 1; i >= 0; i--)
        n = n << 8 | p[i];
    return n;
}

bool unzip_is(const void *data, size_t size)
{
    return size >= 4 && memcmp(data, "PK\003\004", 4) == 0;
}

static int zip_broken(const struct zip *z)
{
    return clerror_set(EINVAL, "%s: is a zip archive, and broken", z->name);
}

/* The end record, before a comment; NULL if there is none. */
static const unsigned char *zip_end(const struct zip *z)
{
    for (size_t i = END; i <= z->size && i <= END + COMMENT_MOST; i++)
        if (memcmp(z->data + z->size - i, "PK\005\006", 4) == 0)
            return z->data + z->size - i;
    return NULL;
}

/* True if a file's name is not that of a pattern. */
static bool zip_skips(const struct zip_entry *e)
{
    static const char *const suffixes[] = {"/",       ".txt",  ".rule", ".lua", ".py",
                                           ".pl",     ".html", ".htm",  ".md",  ".icons",
                                           ".colors", ".tree", ".table"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        const size_t n = strlen(suffixes[i]);
        if (e->name_length >= n && strncasecmp(e->name + e->name_length - n, suffixes[i], n) == 0)
            return true;
    }
    return false;
}

/* Read the entry at *at, and move *at to the next one. */
static int zip_read_entry(const struct zip *z, size_t *at, struct zip_entry *e)
{
    const unsigned char *p = z->data + *at;
    if (*at > z->size || z->size - *at < ENTRY || memcmp(p, "PK\001\002", 4) != 0)
        return zip_broken(z);
    e->flags = (unsigned)zip_number(p + 8, 2);
    e->method = (unsigned)zip_number(p + 10, 2);
    e->crc = (uint32_t)zip_number(p + 16, 4);
    e->packed = zip_number(p + 20, 4);
    e->name_length = zip_number(p + 28, 2);
    e->local = zip_number(p + 42, 4);
    e->name = (const char *)p + ENTRY;
    const size_t length = ENTRY + e->name_length + zip_number(p + 30, 2) + zip_number(p + 32, 2);
    if (length > z->size - *at)
        return zip_broken(z);
    *at += length;
    return 0;
}

/* Find the only pattern. */
static int zip_find(const struct zip *z, struct zip_entry *found)
{
    const unsigned char *end = zip_end(z);
    size_t patterns = 0;
    if (!end)
        return zip_broken(z);
    size_t at = zip_number(end + 16, 4);
    for (size_t i = 0, n = zip_number(end + 10, 2); i < n; i++) {
        struct zip_entry e;
        if (zip_read_entry(z, &at, &e) < 0)
            return -1;
        if (zip_skips(&e))
            continue;
        if (patterns++ == 0)
            *found = e;
    }
    return patterns == 1 ? 0
                         : clerror_set(EINVAL,
                                       "%s: is a zip archive of %zu patterns; unpack it, and give "
                                       "one of its files",
                                       z->name, patterns);
}

/* Copy an entry that is stored without compression. */
static int zip_copy(const struct zip *z, const unsigned char *from, size_t n, double most,
                    char **out, size_t *length)
{
    *out = (double)n <= most ? malloc(n + 1) : NULL;
    if (!*out)
        return clerror_set(
            ENOMEM, "%s: unpacks to %zu bytes, more than the memory that may be used", z->name, n);
    memcpy(*out, from, n);
    *length = n;
    return 0;
}

/* Refuse an unpacked entry if its checksum is not the one in the archive. */
static int zip_check(const struct zip *z, const struct zip_entry *e, char **out, size_t *length)
{
    if (crc32_of((const unsigned char *)*out, *length) == e->crc)
        return 0;
    free(*out);
    *out = NULL;
    *length = 0;
    return clerror_set(
        EINVAL, "%s: is a zip archive, and broken: the checksum of its pattern is wrong", z->name);
}

int unzip(const char *name, const void *data, size_t size, double most, char **out, size_t *length)
{
    const struct zip z = {name, data, size};
    struct zip_entry e = {.name = NULL};
    *out = NULL;
    *length = 0;
    if (zip_find(&z, &e) < 0)
        return -1;
    if (e.local > size || size - e.local < LOCAL || !unzip_is(z.data + e.local, 4))
        return zip_broken(&z);
    const unsigned char *p = z.data + e.local;
    const size_t head = LOCAL + zip_number(p + 26, 2) + zip_number(p + 28, 2);
    if (head > size - e.local || e.packed > size - e.local - head)
        return zip_broken(&z);
    if ((e.flags & 1) || (e.method != STORED && e.method != DEFLATED))
        return clerror_set(EINVAL,
                           "%s: is a zip archive, encrypted or packed by method %u; unpack it, and "
                           "give its file",
                           name, e.method);
    const int status = e.method == DEFLATED
                           ? gunzip_deflated(name, p + head, e.packed, most, out, length)
                           : zip_copy(&z, p + head, e.packed, most, out, length);
    return status < 0 ? -1 : zip_check(&z, &e, out, length);
}
