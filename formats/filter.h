/* filter.h - other programs, which read one file and write another. Private to formats/.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_FILTER_H
#define FORMATS_FILTER_H

#include <stdbool.h>

/* Runs a program of $PATH that reads one descriptor, from its beginning, and writes the other,
 * which is emptied before; true when it was found and succeeded. What it has to say is not passed
 * on. */
bool filter_run(const char *const *argv, int from, int to);

/* Whether $PATH has such a program. */
bool filter_there(const char *program);

#endif
