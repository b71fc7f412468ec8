/* filter.h - runs external programs as filters between two files. Private to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_FILTER_H
#define FORMATS_FILTER_H

#include <stdbool.h>

/* Run a program of $PATH that reads one descriptor from its start and writes the other, which is
 * truncated first. True if it was found and succeeded. Its messages are discarded. */
bool filter_run(const char *const *argv, int from, int to);

/* True if $PATH has the program. */
bool filter_there(const char *program);

#endif
