/* gunzip.c - see gunzip.h. By zlib. */
/* SPDX-License-Identifier: MIT */
#include "formats/gunzip.h"

#include "stdcl.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool gunzip_is(const void *data, size_t size)
{
    return size >= 2 && memcmp(data, "\037\213", 2) == 0;
}

#ifdef STDCL_HAVE_ZLIB

#include <zlib.h>

/* Grow the buffer by doubling. */
static int gunzip_grow(const char *name, double most, char **out, size_t *room)
{
    size_t wanted = *room ? 2 * *room : 1 << 16;
    if ((double)wanted > most)
        wanted = (size_t)most;
    char *more = wanted > *room ? realloc(*out, wanted) : NULL;
    if (!more)
        return clerror_set(
            ENOMEM, "%s: unpacks to more than %zu bytes, more than the memory that may be used",
            name, *room);
    *out = more;
    *room = wanted;
    return 0;
}

static int inflate_all(z_stream *z, const char *name, size_t size, double most, char **out,
                       size_t *length)
{
    size_t room = 0;
    for (int status = Z_OK;;) {
        const size_t left = size - (size_t)z->total_in;
        if (*length == room && gunzip_grow(name, most, out, &room) < 0)
            return -1;
        const size_t space = room - *length;
        z->avail_in = left < UINT_MAX ? (uInt)left : UINT_MAX;
        z->avail_out = space < UINT_MAX ? (uInt)space : UINT_MAX;
        z->next_out = (Bytef *)*out + *length;
        const uInt before = z->avail_out;
        status = inflate(z, Z_NO_FLUSH);
        *length += before - z->avail_out;
        if (status == Z_STREAM_END)
            return 0;
        if (status != Z_OK && status != Z_BUF_ERROR)
            return clerror_set(EINVAL, "%s: is compressed, and broken: %s", name,
                               z->msg ? z->msg : "it does not unpack");
        if (z->avail_in == 0 && z->avail_out > 0)
            return clerror_set(EINVAL, "%s: is compressed, and ends too early", name);
    }
}

/* `bits` as for inflateInit2: the size of the window, and the kind of header. */
static int gunzip_by(int bits, const char *name, const void *data, size_t size, double most,
                     char **out, size_t *length)
{
    z_stream z = {.next_in = (Bytef *)(uintptr_t)data};
    *out = NULL;
    *length = 0;
    if (inflateInit2(&z, bits) != Z_OK)
        return clerror_set(ENOMEM, "%s: out of memory: cannot unpack it", name);
    const int status = inflate_all(&z, name, size, most, out, length);
    inflateEnd(&z);
    if (status < 0) {
        free(*out);
        *out = NULL;
    }
    return status;
}

int gunzip(const char *name, const void *data, size_t size, double most, char **out, size_t *length)
{
    return gunzip_by(15 + 16, name, data, size, most, out, length); /* gzip's header */
}

int gunzip_deflated(const char *name, const void *data, size_t size, double most, char **out,
                    size_t *length)
{
    return gunzip_by(-15, name, data, size, most, out, length); /* no header */
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
