/* gzip.h - files that are compressed as they are written, if their names end in .gz. Private to
 * formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_GZIP_H
#define FORMATS_GZIP_H

#include "core/outfile.h"

/* Whether a name says so. */
bool gzip_is_wanted(const char *name);

/* From now on what is written to out->fp is compressed, if its name says so. Returns the stream
 * that it had, for gzip_end; NULL with a sentence: ENOMEM, ENOTSUP where the build has no zlib. */
FILE *gzip_begin(struct outfile *out);

/* Writes what is left, and puts the stream back, before outfile_commit or outfile_discard. -1: it
 * could not be written, which outfile_commit says, too. */
int gzip_end(struct outfile *out, FILE *plain);

#endif
