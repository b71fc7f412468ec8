/* parallel.h - parallel loops over ranges of a picture or a matrix. Private to formats/ and the
 * command.
 * SPDX-License-Identifier: MIT
 */
#ifndef FORMATS_PARALLEL_H
#define FORMATS_PARALLEL_H

#include <stddef.h>

/* Call work(job, from, to) for ranges that cover 0 .. n - 1, each at least `least` long except the
 * last, on up to 16 threads, at most one per processor. Blocks until all are done. Cannot fail:
 * ranges without a thread run in the caller. */
void parallel_ranges(size_t n, size_t least, void (*work)(void *job, size_t from, size_t to),
                     void *job);

#endif
