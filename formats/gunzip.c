/* gunzip.c - see gunzip.h. By zlib. */
/* SPDX-License-Identifier: MIT */
#include "formats/gunzip.h"

#include "stdcl.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool gunzip_is(const void *data, size_t size)
{
    return size >= 2 && memcmp(data, "\037\213", 2) == 0;
}

#ifdef STDCL_HAVE_ZLIB

#include <zlib.h>

enum { GZIP_HEADER = 15 + 16, NO_HEADER = -15 }; /* windowBits of inflateInit2 */

struct gunzip_output {
    const char *name;
    double most; /* bytes */
    char *data;
    size_t length, room;
};

/* Grow the buffer by doubling. */
static int gunzip_grow(struct gunzip_output *out)
{
    size_t wanted = out->room ? 2 * out->room : 1 << 16;
    if ((double)wanted > out->most)
        wanted = (size_t)out->most;
    char *more = wanted > out->room ? realloc(out->data, wanted) : NULL;
    if (!more)
        return clerror_set(
            ENOMEM, "%s: unpacks to more than %zu bytes, more than the memory that may be used",
            out->name, out->room);
    out->data = more;
    out->room = wanted;
    return 0;
}

/* Append one compressed stream to the output. The input ends at `end`. */
static int inflate_stream(z_stream *z, const unsigned char *end, struct gunzip_output *out)
{
    for (;;) {
        if (out->length == out->room && gunzip_grow(out) < 0)
            return -1;
        const size_t left = (size_t)(end - z->next_in), space = out->room - out->length;
        z->avail_in = left < UINT_MAX ? (uInt)left : UINT_MAX;
        z->avail_out = space < UINT_MAX ? (uInt)space : UINT_MAX;
        z->next_out = (Bytef *)out->data + out->length;
        const uInt before = z->avail_out;
        const int status = inflate(z, Z_NO_FLUSH);
        out->length += before - z->avail_out;
        if (status == Z_STREAM_END)
            return 0;
        if (status != Z_OK && status != Z_BUF_ERROR)
            return clerror_set(EINVAL, "%s: is compressed, and broken: %s", out->name,
                               z->msg ? z->msg : "it does not unpack");
        if (z->avail_in == 0 && z->avail_out > 0)
            return clerror_set(EINVAL, "%s: is compressed, and ends too early", out->name);
    }
}

/* Return 1 if a further member of a gzip file follows, 0 at the end of the file. Zeros may pad the
 * file, as in gzip. */
static int find_next_member(const char *name, const unsigned char *p, const unsigned char *end)
{
    if (gunzip_is(p, (size_t)(end - p)))
        return 1;
    while (p < end && *p == 0)
        p++;
    if (p == end)
        return 0;
    return clerror_set(EINVAL, "%s: is compressed, and other data follow the compressed data",
                       name);
}

/* Append all members of a gzip file (RFC 1952, 2.2) to the output. */
static int inflate_members(z_stream *z, const unsigned char *end, struct gunzip_output *out)
{
    for (;;) {
        if (inflate_stream(z, end, out) < 0)
            return -1;
        const int more = find_next_member(out->name, z->next_in, end);
        if (more <= 0)
            return more;
        inflateReset(z);
    }
}

/* `bits`: GZIP_HEADER or NO_HEADER. */
static int gunzip_by(int bits, const char *name, const void *data, size_t size, double most,
                     char **out, size_t *length)
{
    const unsigned char *end = (const unsigned char *)data + size;
    struct gunzip_output to = {.name = name, .most = most};
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data};
    *out = NULL;
    *length = 0;
    if (inflateInit2(&z, bits) != Z_OK)
        return clerror_set(ENOMEM, "%s: out of memory: cannot unpack it", name);
    const int status = (bits == GZIP_HEADER ? inflate_members : inflate_stream)(&z, end, &to);
    inflateEnd(&z);
    if (status < 0) {
        free(to.data);
        return -1;
    }
    *out = to.data;
    *length = to.length;
    return 0;
}

int gunzip(const char *name, const void *data, size_t size, double most, char **out, size_t *length)
{
    return gunzip_by(GZIP_HEADER, name, data, size, most, out, length);
}

int gunzip_deflated(const char *name, const void *data, size_t size, double most, char **out,
                    size_t *length)
{
    return gunzip_by(NO_HEADER, name, data, size, most, out, length);
}

#else

static int gunzip_absent(const char *name, char **out, size_t *length)
{
    *out = NULL;
    *length = 0;
    return clerror_set(ENOTSUP, "%s: is compressed, and this build has no zlib; unpack it first",
                       name);
}

int gunzip(const char *name, const void *data, size_t size, double most, char **out, size_t *length)
{
    (void)data, (void)size, (void)most;
    return gunzip_absent(name, out, length);
}

int gunzip_deflated(const char *name, const void *data, size_t size, double most, char **out,
                    size_t *length)
{
    (void)data, (void)size, (void)most;
    return gunzip_absent(name, out, length);
}

#endif
