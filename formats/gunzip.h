/* gunzip.h - what gzip has compressed, unpacked in memory. Private to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_GUNZIP_H
#define FORMATS_GUNZIP_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the bytes begin as gzip's do. */
bool gunzip_is(const void *data, size_t size);

/* Unpacks all members of a gzip file into *out, of *length bytes, for the caller to free. -1 with
 * clerrno and a sentence that begins with `name`: EINVAL for broken bytes, ENOMEM for more than
 * `most`, ENOTSUP where the build has no zlib. */
int gunzip(const char *name, const void *data, size_t size, double most, char **out,
           size_t *length);

#endif
