/* unzip.h - the only pattern of a zip archive in memory. Private to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_UNZIP_H
#define FORMATS_UNZIP_H

#include <stdbool.h>
#include <stddef.h>

/* True if the bytes begin with a zip archive's signature. */
bool unzip_is(const void *data, size_t size);

/* Unpack the only file of an archive into *out, of *length bytes, which the caller frees. Folders,
 * and files that are not patterns by their suffix (.txt .rule .lua .py ...), do not count. -1 with
 * clerrno and a message that begins with `name`: EINVAL for damaged archives, wrong checksums, none
 * or several files, and methods other than stored and deflated; ENOMEM for more than `most` bytes;
 * ENOTSUP if built without zlib. */
int unzip(const char *name, const void *data, size_t size, double most, char **out, size_t *length);

#endif
