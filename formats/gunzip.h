/* gunzip.h - decompression of gzip files in memory. Private to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_GUNZIP_H
#define FORMATS_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>

/* True if the bytes begin with gzip's signature. */
bool gunzip_is(const void *data, size_t size);

/* Decompress all members of a gzip file into *out, of *length bytes, which the caller frees. -1
 * with clerrno and a message that begins with `name`: EINVAL for damaged data, and for
 * bytes other than zeros after the last member; ENOMEM for more than `most` bytes; ENOTSUP if built
 * without zlib. */
int gunzip(const char *name, const void *data, size_t size, double most, char **out,
           size_t *length);

/* As gunzip, for data without a header, as in zip archives. */
int gunzip_deflated(const char *name, const void *data, size_t size, double most, char **out,
                    size_t *length);

#endif
