/* gzip.h - output files that are compressed while they are written, if their names end in .gz.
 * Private to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_GZIP_H
#define FORMATS_GZIP_H

#include "core/outfile.h"

/* True if the name ends in .gz. */
bool gzip_is_wanted(const char *name);

/* Compress all further output to out->fp, if its name ends in .gz. Return its previous
 * stream, for gzip_end; NULL with a message: ENOMEM, ENOTSUP if built without zlib. */
FILE *gzip_begin(struct outfile *out);

/* Write the remainder and restore the stream, before outfile_commit or outfile_discard. -1: a
 * write failed, which outfile_commit reports too. */
int gzip_end(struct outfile *out, FILE *plain);

#endif
