/* parallel.h - work on parts of a picture or a matrix by all processors. Private to formats/ and
 * the command.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_PARALLEL_H
#define FORMATS_PARALLEL_H

#include <stddef.h>

/* Calls work(job, from, to) for ranges that make up 0 .. n - 1, each at least `least` long but the
 * last, at once on as many threads as this process may use processors, 16 at most. Returns when all
 * are done. Cannot fail: what no thread can be had for is done here. */
void parallel_ranges(size_t n, size_t least, void (*work)(void *job, size_t from, size_t to),
                     void *job);

#endif
