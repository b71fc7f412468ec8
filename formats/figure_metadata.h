/* figure_metadata.h - the command line that made a figure, stored in its file. Private to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_FIGURE_METADATA_H
#define FORMATS_FIGURE_METADATA_H

#include <stdio.h>

/* Copy a drawn figure and add the command line (NULL: none): to .png as a chunk iTXt with the
 * keyword "Comment", to .svg in its <desc>, to .pdf as a comment on the last line. -1: EIO, a file
 * cannot be read or written. */
int figure_metadata_copy(FILE *from, FILE *to, const char *suffix, const char *command);

#endif
