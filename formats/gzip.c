/* gzip.c - see gzip.h. By zlib.
 * SPDX-License-Identifier: MIT
 */
#include "formats/gzip.h"

#include "formats/suffix.h"
#include "stdcl.h"

#include <errno.h>
#include <stdlib.h>

bool gzip_is_wanted(const char *name)
{
    return suffix_is_in(suffix_of(name), ".gz");
}

#ifdef STDCL_HAVE_ZLIB

#include <zlib.h>

struct gzip {
    FILE *to;
    z_stream z;
    unsigned char out[1 << 15];
};

/* Compress the stream's buffer, to its end if `flush` says so; false: a write failed. */
static bool compress_on(struct gzip *g, int flush)
{
    do {
        g->z.next_out = g->out;
        g->z.avail_out = sizeof g->out;
        deflate(&g->z, flush);
        const size_t n = sizeof g->out - g->z.avail_out;
        if (fwrite(g->out, 1, n, g->to) != n)
            return false;
    } while (g->z.avail_out == 0);
    return true;
}

static ssize_t gzip_write(void *cookie, const char *data, size_t size)
{
    struct gzip *g = cookie;
    g->z.next_in = (Bytef *)(uintptr_t)data;
    g->z.avail_in = (uInt)size; /* a buffer of stdio's */
    return compress_on(g, Z_NO_FLUSH) ? (ssize_t)size : 0;
}

static int gzip_close(void *cookie)
{
    struct gzip *g = cookie;
    const bool done = compress_on(g, Z_FINISH);
    deflateEnd(&g->z);
    free(g);
    return done ? 0 : -1;
}

FILE *gzip_begin(struct outfile *out)
{
    static const cookie_io_functions_t functions = {.write = gzip_write, .close = gzip_close};
    FILE *const plain = out->fp;
    if (!gzip_is_wanted(out->name))
        return plain;
    struct gzip *g = calloc(1, sizeof *g);
    if (g && deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8,
                          Z_DEFAULT_STRATEGY) == Z_OK) { /* gzip's header */
        g->to = plain;
        out->fp = fopencookie(g, "w", functions);
        if (out->fp)
            return plain;
        out->fp = plain;
        deflateEnd(&g->z);
    }
    free(g);
    clerror_set(ENOMEM, "%s: out of memory: cannot compress it", out->name);
    return NULL;
}

#else

FILE *gzip_begin(struct outfile *out)
{
    if (!gzip_is_wanted(out->name))
        return out->fp;
    clerror_set(ENOTSUP,
                "%s: this build has no zlib, and writes nothing that is compressed; leave .gz out",
                out->name);
    return NULL;
}

#endif

int gzip_end(struct outfile *out, FILE *plain)
{
    int status = 0;
    if (out->fp != plain)
        status = fclose(out->fp);
    out->fp = plain;
    return status == 0 ? 0 : -1;
}
