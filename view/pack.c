/* pack.c - compression by zlib for browsers: frames as raw deflate at the fastest level, files of
 * the page once as gzip.
 * SPDX-License-Identifier: MIT
 */
#include "view/frame.h"

#ifdef STDCL_HAVE_ZLIB
#include <limits.h>
#include <zlib.h>

bool can_pack(void)
{
    return true;
}

static bool deflate_all(struct bytes *to, const unsigned char *from, size_t size, int level,
                        int window)
{
    z_stream z = {0};
    if (size > UINT_MAX ||
        deflateInit2(&z, level, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    const size_t room = deflateBound(&z, (uLong)size), before = to->used;
    unsigned char *out = bytes_more(to, room);
    z.next_in = (unsigned char *)(uintptr_t)from; /* zlib does not write to it */
    z.avail_in = (uInt)size;
    z.next_out = out;
    z.avail_out = (uInt)room;
    const bool whole = out && deflate(&z, Z_FINISH) == Z_STREAM_END;
    if (out)
        to->used = before + (whole ? z.total_out : 0);
    deflateEnd(&z);
    return whole;
}

bool pack(struct bytes *to, const unsigned char *from, size_t size)
{
    return deflate_all(to, from, size, 1, -MAX_WBITS);
}

bool pack_gzip(struct bytes *to, const unsigned char *from, size_t size)
{
    return deflate_all(to, from, size, 9, MAX_WBITS + 16);
}

bool unpack(unsigned char *to, size_t size, const unsigned char *from, size_t packed)
{
    z_stream z = {0};
    unsigned char none;
    if (size > UINT_MAX || packed > UINT_MAX || inflateInit2(&z, -MAX_WBITS) != Z_OK)
        return false;
    z.next_in = (unsigned char *)(uintptr_t)from;
    z.avail_in = (uInt)packed;
    z.next_out = size ? to : &none;
    z.avail_out = (uInt)size;
    const int end = inflate(&z, Z_FINISH);
    const bool whole = end == Z_STREAM_END && z.total_out == size;
    inflateEnd(&z);
    return whole;
}

#else

bool can_pack(void)
{
    return false;
}

bool pack(struct bytes *to, const unsigned char *from, size_t size)
{
    (void)to, (void)from, (void)size;
    return false;
}

bool pack_gzip(struct bytes *to, const unsigned char *from, size_t size)
{
    return pack(to, from, size);
}

bool unpack(unsigned char *to, size_t size, const unsigned char *from, size_t packed)
{
    (void)to, (void)size, (void)from, (void)packed;
    return false;
}

#endif
